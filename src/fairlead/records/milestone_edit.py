"""The milestones of ROADMAP.md: one is opened, one is closed.

Closing marks the milestone wherever it is named, folds its list of phases away and takes their
details out: those are kept, word for word, in the archive beside. A list that cannot be folded
away in one piece stays open, which is only longer.
"""

import re
from collections.abc import Iterator

from fairlead.records.roadmap_edit import checklist, section_end
from fairlead.records.roadmap_lines import Form, Marker, Mention, Sheet, read_sheet
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.text.lists import items_of
from fairlead.text.outline import Line, Section
from fairlead.text.splice import Splice, block_after, line_after, spliced
from fairlead.values import dataclass

_OPEN_SIGNS = re.compile(r"[🚧🔄📋]\s*")
_OPEN_WORDS = re.compile(
    r"\s*[-—–]?\s*\(?\b(?:in progress|started|active|wip|planned|planning)\b\)?", re.IGNORECASE
)
_SENTINELS = (0, 999)


@dataclass(frozen=True, slots=True)
class Closing:
    """A milestone that is to be closed."""

    version: str
    name: str
    date: str
    phases: tuple[tuple[str, str, bool], ...]  # number and name of each, and whether it is done
    phase_range: str  # `1-4`

    @property
    def title(self) -> str:
        """Version and name."""
        return f"{self.version} {one_line(self.name, 'the name')}" if self.name else self.version

    @property
    def summary(self) -> str:
        """What the folded list is called."""
        return f"✅ {self.title} ({self.span}) — SHIPPED {self.date}"

    @property
    def span(self) -> str:
        """`Phases 1-4`."""
        word = "Phase" if len(self.phases) == 1 else "Phases"
        return f"{word} {self.phase_range}"


def closed(document: Document, closing: Closing) -> Document:
    """The roadmap with a milestone closed."""
    document.require_writable()
    sheet = read_sheet(document)
    mine = [
        mention
        for mention in sheet.mentions
        if mention.milestone in (closing.version, "") and mention.id.number not in _SENTINELS
    ]
    markers = [marker for marker in sheet.markers if marker.version == closing.version]
    splices = [splice for marker in markers for splice in _shipped(document, marker, closing)]
    if not any(marker.form is Form.BULLET for marker in markers):
        told = f"{closing.span} (shipped {closing.date})"
        splices += _listed(sheet, mine, f"- ✅ **{closing.title}** — {told}")
    splices += _without_details(sheet, mine)
    is_grouped = any(marker.form is not Form.BULLET for marker in markers)
    splices += _folded(sheet, mine, closing, is_grouped=is_grouped)
    return document.replaced(spliced(document.text, splices))


def opened(document: Document, version: str, name: str) -> Document:
    """The roadmap with a milestone that is worked on now."""
    document.require_writable()
    sheet = read_sheet(document)
    title = f"{version} {one_line(name, 'the name')}"
    markers = [marker for marker in sheet.markers if marker.version == version]
    splices = [each for marker in markers for each in _started(document, marker)]
    if not markers:
        bullet = f"- 🚧 **{title}** - Phases TBD (in progress)"
        splices += _listed(sheet, [], bullet, only_known=True)
    if not any(marker.form is Form.HEADING for marker in markers):
        splices.append(_opened_section(document, title))
    return document.replaced(spliced(document.text, splices))


def _shipped(document: Document, marker: Marker, closing: Closing) -> Iterator[Splice]:
    """The line of a marker: its signs and words for open become those for shipped."""
    line = document.lines[marker.line - 1]
    before, name = _without_open_words(line.text, closing.version)
    if "✅" in before + name or re.search(r"shipped", before + name, re.IGNORECASE):
        return
    text = f"{before}✅ {name}".replace("- [ ] ✅", "- [x] ✅")
    text = text.replace("Phases TBD", closing.span, 1)
    if marker.form is Form.BULLET:
        text = f"{text} (shipped {closing.date})"
    else:
        told, tag, rest = text.partition("</summary>")
        text = f"{told.rstrip(' —–-')} — SHIPPED {closing.date}{tag}{rest}"
    yield Splice(line.start, line.end, text)


def _started(document: Document, marker: Marker) -> Iterator[Splice]:
    line = document.lines[marker.line - 1]
    if marker.form is Form.SUMMARY or "🚧" in line.text:
        return
    before, name = _without_open_words(line.text, marker.version)
    yield Splice(line.start, line.end, f"{before}🚧 {name} (In Progress)")


def _without_open_words(line: str, version: str) -> tuple[str, str]:
    """What stands before a milestone's name, and the rest, without signs and words for open."""
    text = _OPEN_WORDS.sub("", _OPEN_SIGNS.sub("", line)).rstrip()
    at = text.find(version)
    while at > 0 and text[at - 1] in "*[":
        at -= 1
    return text[:at], text[at:]


def _listed(
    sheet: Sheet, mine: list[Mention], bullet: str, *, only_known: bool = False
) -> Iterator[Splice]:
    """The bullet of a milestone in the list of milestones, which is made where there is none."""
    document, ending = sheet.document, sheet.document.ending
    section = document.section("Milestones")
    if section:
        items = items_of(document.section_lines(section, own=True))
        if items:
            yield line_after(items[-1].last, bullet, ending)
        else:
            yield block_after(document.lines[section.heading], (bullet,), ending)
        return
    first = min((mention.line for mention in mine), default=0)
    home = [each for each in document.sections if each.level == 2 and each.heading < first]
    if home and not only_known:
        start = document.lines[home[-1].heading].start
        yield Splice(start, start, ending.join(("## Milestones", "", bullet, "", "")))


def _without_details(sheet: Sheet, mine: list[Mention]) -> Iterator[Splice]:
    lines = sheet.document.lines
    for mention in mine:
        if mention.section:
            last = lines[section_end(sheet, mention) - 1]
            yield Splice(lines[mention.section.heading].start, last.next, "")


def _folded(
    sheet: Sheet, mine: list[Mention], closing: Closing, *, is_grouped: bool
) -> Iterator[Splice]:
    """The list of the phases in a collapsed block; a new list where the roadmap has none.

    A list that stands below a heading of its milestone, or in a block already, stays there.
    """
    document, ending = sheet.document, sheet.document.ending
    bullets = checklist(sheet, mine)
    if bullets and is_grouped:
        return
    head = ending.join(("<details>", f"<summary>{closing.summary}</summary>", "", ""))
    if bullets and _is_one_piece(sheet, bullets):
        first, last = document.lines[bullets[0].line - 1], bullets[-1].item
        assert last is not None
        yield Splice(first.start, first.start, head)
        yield line_after(last.last, f"{ending}</details>", ending)
    elif not bullets and mine:
        rows = [
            f"- [{'x' if is_done else ' '}] Phase {number}: {name}".rstrip(": ")
            for number, name, is_done in closing.phases
        ]
        block = head + ending.join((*rows, "", "</details>", "", ""))
        start = _start_of_first(sheet, mine)
        yield Splice(start, start, block)


def _start_of_first(sheet: Sheet, mine: list[Mention]) -> int:
    """Before the first entry; a table is kept together with the heading above it."""
    first = min(mine, key=lambda each: each.line)
    lines = sheet.document.lines
    if first.section or first.item:
        return lines[first.line - 1].start
    above = [each for each in sheet.document.sections if each.heading < first.line]
    return lines[above[-1].heading].start if above else lines[first.line - 1].start


def _is_one_piece(sheet: Sheet, bullets: list[Mention]) -> bool:
    """Whether nothing but these bullets stands between the first and the last."""
    lines = sheet.document.lines
    own: set[int] = set()
    for mention in bullets:
        assert mention.item is not None
        at = mention.line - 1
        while at < len(lines) and lines[at].start <= mention.item.last.start:
            own.add(at)
            at += 1
    last = max(own)
    return all(
        at in own or not lines[at].text.strip() for at in range(bullets[0].line - 1, last + 1)
    )


def _opened_section(document: Document, title: str) -> Splice:
    """A heading of its own at the end of the phases, or at the end of the roadmap."""
    ending = document.ending
    phases = document.section("Phases", levels=range(2, 3))
    level = 3 if phases else 2
    block = (f"{'#' * level} 🚧 {title} (In Progress)", "", "No phases yet.")
    last = _last_line(document, phases)
    if last is None:
        return Splice(len(document.text), len(document.text), ending.join((*block, "")))
    return block_after(last, block, ending)


def _last_line(document: Document, section: Section | None) -> Line | None:
    lines = document.section_lines(section) if section else document.lines
    held = [line for line in lines if line.text.strip()]
    if held:
        return held[-1]
    return document.lines[section.heading] if section else None
