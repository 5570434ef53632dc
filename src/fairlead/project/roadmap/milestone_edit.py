"""Opening and closing a milestone in ROADMAP.md, and its record in MILESTONES.md.

Closing marks the milestone wherever it is named, collapses its checklist of phases and removes
their details, which the archive keeps word for word. A checklist that is interrupted by other
text cannot be collapsed and stays open.
"""

import re
from collections.abc import Iterator

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.roadmap.edit import checklist, section_end
from fairlead.project.roadmap.entries import (
    PhaseEntry,
    RoadmapEntries,
    parse_entries,
)
from fairlead.project.roadmap.milestone_lines import EntryForm, MilestoneEntry
from fairlead.project.roadmap.model import is_counted
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.text.lists import items_of
from fairlead.text.outline import Line, Section, Splice, block_after, line_after, spliced

_OPEN_SIGNS = lazy_pattern(r"[🚧🔄📋]\s*")
_OPEN_WORDS = lazy_pattern(
    r"\s*[-—–]?\s*\(?\b(?:in progress|started|active|wip|planned|planning)\b\)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Closing:
    """A milestone to be closed."""

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
        """The title of the collapsed list."""
        return f"✅ {self.title} ({self.span}) — SHIPPED {self.date}"

    @property
    def span(self) -> str:
        """`Phases 1-4`."""
        word = "Phase" if len(self.phases) == 1 else "Phases"
        return f"{word} {self.phase_range}"


def closed(document: Document, closing: Closing) -> Document:
    """The roadmap with this milestone marked as shipped and its phases collapsed."""
    document.require_writable()
    entries = parse_entries(document)
    phases = [
        entry
        for entry in entries.phases
        if entry.milestone in (closing.version, "") and is_counted(entry.id)
    ]
    milestones = [entry for entry in entries.milestones if entry.version == closing.version]
    splices = [splice for entry in milestones for splice in _shipped(document, entry, closing)]
    if not any(entry.is_in_list for entry in milestones):
        splices += _listed(
            entries,
            phases,
            f"- ✅ **{closing.title}** — {closing.span} (shipped {closing.date})",
        )
    splices += _without_details(entries, phases)
    is_grouped = any(not entry.is_in_list for entry in milestones)
    splices += _collapsed(entries, phases, closing, is_grouped=is_grouped)
    return document.replaced(spliced(document.text, splices))


def opened(document: Document, version: str, name: str) -> Document:
    """The roadmap with this milestone marked as in progress."""
    document.require_writable()
    entries = parse_entries(document)
    title = f"{version} {one_line(name, 'the name')}"
    milestones = [entry for entry in entries.milestones if entry.version == version]
    splices = [each for entry in milestones for each in _started(document, entry)]
    if not milestones:
        bullet = f"- 🚧 **{title}** - Phases TBD (in progress)"
        splices += _listed(entries, [], bullet, only_known=True)
    if not any(entry.form is EntryForm.HEADING for entry in milestones):
        splices.append(_opened_section(document, title))
    return document.replaced(spliced(document.text, splices))


def _shipped(document: Document, entry: MilestoneEntry, closing: Closing) -> Iterator[Splice]:
    """The line of a milestone with its signs and words for open replaced by those for shipped."""
    if entry.form in _ROWS:
        yield from _row_splices(entry, "Shipped", closing.date)
        return
    line = document.lines[entry.line - 1]
    before, name = _without_open_words(line.text, closing.version)
    if "✅" in before + name or re.search(r"shipped", before + name, re.IGNORECASE):
        return
    text = f"{before}✅ {name}".replace("- [ ] ✅", "- [x] ✅")
    text = text.replace("Phases TBD", closing.span, 1)
    if entry.form is EntryForm.BULLET:
        text = f"{text} (shipped {closing.date})"
    else:
        title, tag, rest = text.partition("</summary>")
        text = f"{title.rstrip(' —–-')} — SHIPPED {closing.date}{tag}{rest}"
    yield Splice(line.start, line.end, text)


def _started(document: Document, entry: MilestoneEntry) -> Iterator[Splice]:
    if entry.form in _ROWS:
        yield from _row_splices(entry, "In progress")
        return
    line = document.lines[entry.line - 1]
    if entry.form is EntryForm.SUMMARY or "🚧" in line.text:
        return
    before, name = _without_open_words(line.text, entry.version)
    yield Splice(line.start, line.end, f"{before}🚧 {name} (In Progress)")


_ROWS = (EntryForm.ROW, EntryForm.LISTED)


def _row_splices(entry: MilestoneEntry, status: str, date: str = "") -> Iterator[Splice]:
    """The cells of a row of milestones; a row of phases states nothing about a milestone."""
    for cell, text in ((entry.status, status), (entry.date, date)):
        if cell and text:
            yield Splice(cell.start, cell.end, text)


def _without_open_words(line: str, version: str) -> tuple[str, str]:
    """The text before a milestone's name and the rest, without signs and words for open."""
    text = _OPEN_WORDS.sub("", _OPEN_SIGNS.sub("", line)).rstrip()
    at = text.find(version)
    while at > 0 and text[at - 1] in "*[":
        at -= 1
    return text[:at], text[at:]


def _listed(
    entries: RoadmapEntries,
    phases: list[PhaseEntry],
    bullet: str,
    *,
    only_known: bool = False,
) -> Iterator[Splice]:
    """Add a bullet to the list of milestones, and create the list if needed."""
    document, ending = entries.document, entries.document.ending
    section = document.section("Milestones")
    if section:
        items = items_of(document.section_lines(section, own=True))
        if items:
            yield line_after(items[-1].last, bullet, ending)
        else:
            yield block_after(document.lines[section.heading], (bullet,), ending)
        return
    first = min((entry.line for entry in phases), default=0)
    above = [each for each in document.sections if each.level == 2 and each.heading < first]
    if above and not only_known:
        start = document.lines[above[-1].heading].start
        yield Splice(start, start, ending.join(("## Milestones", "", bullet, "", "")))


def _without_details(entries: RoadmapEntries, phases: list[PhaseEntry]) -> Iterator[Splice]:
    lines = entries.document.lines
    for entry in phases:
        if entry.section:
            last = lines[section_end(entries, entry) - 1]
            yield Splice(lines[entry.section.heading].start, last.next, "")


def _collapsed(
    entries: RoadmapEntries, phases: list[PhaseEntry], closing: Closing, *, is_grouped: bool
) -> Iterator[Splice]:
    """Collapse the checklist of the phases; write one if the roadmap has none.

    A checklist below a heading of its milestone, or already in a block, stays as it is.
    """
    document, ending = entries.document, entries.document.ending
    bullets = checklist(entries, phases)
    if bullets and is_grouped:
        return
    head = ending.join(("<details>", f"<summary>{closing.summary}</summary>", "", ""))
    if bullets and _is_one_piece(entries, bullets):
        first, last = document.lines[bullets[0].line - 1], bullets[-1].item
        assert last is not None
        yield Splice(first.start, first.start, head)
        yield line_after(last.last, f"{ending}</details>", ending)
    elif not bullets and phases:
        rows = [
            f"- [{'x' if is_done else ' '}] Phase {number}: {name}".rstrip(": ")
            for number, name, is_done in closing.phases
        ]
        block = head + ending.join((*rows, "", "</details>", "", ""))
        start = _start_of_first(entries, phases)
        yield Splice(start, start, block)


def _start_of_first(entries: RoadmapEntries, phases: list[PhaseEntry]) -> int:
    """The offset of the first entry; a table is kept together with the heading above it."""
    first = min(phases, key=lambda each: each.line)
    lines = entries.document.lines
    if first.section or first.item:
        return lines[first.line - 1].start
    above = [each for each in entries.document.sections if each.heading < first.line]
    return lines[above[-1].heading].start if above else lines[first.line - 1].start


def _is_one_piece(entries: RoadmapEntries, bullets: list[PhaseEntry]) -> bool:
    """Whether there is nothing but these bullets between the first and the last one."""
    lines = entries.document.lines
    own: set[int] = set()
    for entry in bullets:
        assert entry.item is not None
        at = entry.line - 1
        while at < len(lines) and lines[at].start <= entry.item.last.start:
            own.add(at)
            at += 1
    last = max(own)
    return all(
        at in own or not lines[at].text.strip() for at in range(bullets[0].line - 1, last + 1)
    )


def _opened_section(document: Document, title: str) -> Splice:
    """A heading for the milestone at the end of the phases, or at the end of the roadmap."""
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
    content = [line for line in lines if line.text.strip()]
    if content:
        return content[-1]
    return document.lines[section.heading] if section else None


_TITLE = "# Milestones"


@dataclass(frozen=True, slots=True)
class Shipped:
    """The record of a finished milestone."""

    version: str
    name: str
    date: str
    phases: str  # `1-4`
    phase_count: int
    plan_count: int
    task_count: int
    accomplishments: tuple[str, ...] = ()
    unverified: int = 0  # phases whose verification has not passed
    override: str = ""  # why it was closed with open phases; empty if none was

    @property
    def heading(self) -> str:
        """The heading of the record."""
        name = f" {one_line(self.name, 'the name')}" if self.name else ""
        return f"## {self.version}{name} (Shipped: {self.date})"

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines of the record."""
        counts = ", ".join(
            f"{count} {word}{'' if count == 1 else 's'}"
            for count, word in (
                (self.phase_count, "phase"),
                (self.plan_count, "plan"),
                (self.task_count, "task"),
            )
        )
        lines = [self.heading, "", f"**Phases completed:** {self.phases} ({counts})"]
        if self.accomplishments:
            lines += ["", "**Key accomplishments:**", ""]
            lines += [f"- {one_line(each, 'the accomplishment')}" for each in self.accomplishments]
        kind = "override_closeout" if self.override or self.unverified else "verified_closeout"
        lines += ["", f"**Closeout:** {kind}"]
        if self.unverified:
            lines.append(f"**Known verification overrides:** {self.unverified}")
        if self.override:
            lines += ["", "### Known Gaps", "", f"- {one_line(self.override, 'the reason')}"]
        return (*lines, "", "---")


def with_shipped(document: Document, shipped: Shipped) -> Document:
    """MILESTONES.md with this milestone above the older ones; an existing record stays."""
    document.require_writable()
    if is_recorded(document, shipped.version):
        return document
    ending = document.ending
    if not document.text.strip():
        return document.replaced(ending.join((_TITLE, "", *shipped.lines, "")))
    first = next((each for each in document.sections if each.level == 2), None)
    if first:
        start = document.lines[first.heading].start
        entry = Splice(start, start, ending.join((*shipped.lines, "", "")))
    else:
        last = [line for line in document.lines if line.text.strip()][-1]
        entry = block_after(last, shipped.lines, ending)
    return document.replaced(spliced(document.text, [entry]))


def is_recorded(document: Document, version: str) -> bool:
    """Whether MILESTONES.md has a record of this milestone."""
    word = version.casefold()
    return any(
        section.level == 2 and word in section.title.casefold().split()
        for section in document.sections
    )
