"""ROADMAP.md with a phase more or less: written the way its neighbours are written.

A new phase goes into every form the roadmap uses for its phases: the list, the details, the
table. A roadmap in which no place can be found for it is refused with the line where one was
looked for, and nothing is written.
"""

import re
from collections.abc import Iterable, Iterator

from fairlead.errors import NoPlace
from fairlead.model.ids import PhaseId
from fairlead.records.roadmap_lines import (
    Form,
    Mention,
    Row,
    Sheet,
    column,
    phase_titles,
    read_sheet,
)
from fairlead.records.roadmap_names import is_placeholder
from fairlead.text.document import Document
from fairlead.text.inline import one_line, table_cell
from fairlead.text.outline import Line, Section, own_end
from fairlead.text.splice import Splice, block_after, line_after, spliced
from fairlead.text.tables import tables_of
from fairlead.values import dataclass

UNDECIDED = "Not decided yet."
_SENTINELS = (0, 999)
_BOX = re.compile(r"\s*[-*+]\s+\[.\]\s")  # also `[~]` and other marks of a person's own
_RULE = re.compile(r"\s*(?:</details>.*|-{3,}|\*{3,}|_{3,})\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NewPhase:
    """A phase that is to be written."""

    id: PhaseId
    name: str
    milestone: str = ""  # the one it belongs to; empty if the project has none
    goal: str = ""
    depends_on: str = "Nothing (first phase)"
    is_inserted: bool = False

    @property
    def title(self) -> str:
        """The name as its entries give it."""
        return one_line(self.name, "the name") + (" (INSERTED)" if self.is_inserted else "")

    @property
    def purpose(self) -> str:
        """The goal, or that there is none yet."""
        return one_line(self.goal, "the goal") if self.goal else UNDECIDED


def with_phase(document: Document, phase: NewPhase) -> Document:
    """Write a phase at its place among the others."""
    document.require_writable()
    sheet = read_sheet(document)
    siblings = _siblings(sheet, phase.milestone)
    splices = [
        *_new_bullet(sheet, siblings, phase),
        *_new_details(sheet, siblings, phase),
        *_new_row(sheet, siblings, phase),
    ]
    if not splices:
        raise NoPlace(
            f"phase {phase.id.short}: no list, details or table of phases", line=_end(sheet)
        )
    return document.replaced(spliced(document.text, splices))


def without_phase(document: Document, phase: PhaseId, milestone: str) -> Document:
    """Take every entry of a phase out; what others say about it stays."""
    document.require_writable()
    sheet = read_sheet(document)
    lines = document.lines
    splices = []
    for mention in sheet.mentions:
        if mention.id != phase or mention.milestone != milestone:
            continue
        first = lines[mention.line - 1]
        if mention.section:
            last = lines[section_end(sheet, mention) - 1].next
        elif mention.item:
            last = mention.item.last.next
        else:
            last = first.next
        splices.append(Splice(first.start, last, ""))
    return document.replaced(spliced(document.text, splices))


def details_of(phase: NewPhase, level: int = 3, number: str = "") -> tuple[str, ...]:
    """The details of a new phase, as lines; `number` is its number as its neighbours write it."""
    return (
        f"{'#' * level} Phase {number or phase.id.short}: {phase.title}",
        "",
        f"**Goal**: {phase.purpose}",
        f"**Depends on**: {phase.depends_on}",
        "**Requirements**: None yet.",
        "**Success Criteria** (what must be TRUE):",
        "",
        f"  1. {UNDECIDED}",
        "",
        "**Plans**: TBD",
    )


def section_end(sheet: Sheet, mention: Mention) -> int:
    """The index after the last line of a phase's details, blank lines after them included.

    A phase below it in the outline, a rule or the end of a collapsed block is not part of it.
    """
    assert mention.section is not None
    last = _content_end(sheet, mention)
    lines = sheet.document.lines
    while last < mention.section.last and not lines[last].text.strip():
        last += 1
    return last


# -- where a new phase goes ----------------------------------------------------------------


def _siblings(sheet: Sheet, milestone: str) -> list[Mention]:
    return [
        mention
        for mention in sheet.mentions
        if mention.milestone == milestone
        and mention.id.number not in _SENTINELS
        and not mention.is_retired
    ]


def _new_bullet(sheet: Sheet, siblings: list[Mention], phase: NewPhase) -> Iterator[Splice]:
    listed = checklist(sheet, siblings)
    lines, ending = sheet.document.lines, sheet.document.ending
    if not listed:
        home = _list_section(sheet, siblings, phase.milestone)
        if home:
            yield _into(
                sheet, home, (f"- [ ] **Phase {phase.id}: {phase.title}** - {phase.purpose}",)
            )
        return
    neighbour = _before(listed, phase.id)
    like = neighbour or listed[0]
    assert like.item is not None
    new = _bullet_like(like, lines[like.line - 1], phase)
    if neighbour:
        yield line_after(like.item.last, new, ending)
    else:
        yield Splice(lines[like.line - 1].start, lines[like.line - 1].start, new + ending)


def _new_details(sheet: Sheet, siblings: list[Mention], phase: NewPhase) -> Iterator[Splice]:
    detailed = [each for each in siblings if each.form is Form.HEADING]
    lines, ending = sheet.document.lines, sheet.document.ending
    if not detailed:
        home = sheet.document.section("Phase Details", levels=range(2, 5))
        if home:
            yield _into(sheet, home, details_of(phase, home.level + 1))
        return
    neighbour = _before(detailed, phase.id)
    like = neighbour or detailed[0]
    assert like.section is not None
    written = details_of(phase, like.section.level, _number_like(like.id, phase.id))
    if neighbour:
        yield block_after(lines[_content_end(sheet, neighbour) - 1], written, ending)
    else:
        start = lines[like.section.heading].start
        yield Splice(start, start, ending.join((*written, "", "")))


def _new_row(sheet: Sheet, siblings: list[Mention], phase: NewPhase) -> Iterator[Splice]:
    rows = [each for each in siblings if each.form is Form.ROW]
    lines, ending = sheet.document.lines, sheet.document.ending
    if rows:
        neighbour = _before(rows, phase.id)
        like = neighbour or rows[0]
        assert like.row is not None
        new = _row_like(like.row, like, phase)
        line = lines[like.line - 1]
        yield (
            line_after(line, new, ending)
            if neighbour
            else Splice(line.start, line.start, new + ending)
        )
        return
    progress = sheet.document.section("Progress", "Progress Table")
    tables = tables_of(sheet.document.section_lines(progress)) if progress else ()
    table = next((each for each in tables if phase_titles(each)), None)
    if table:
        yield line_after(table.last, _row_text(phase_titles(table), f"{phase.id}.", phase), ending)


def checklist(sheet: Sheet, mentions: Iterable[Mention]) -> list[Mention]:
    """The list of the phases: the largest group below one heading, with boxes if any has them."""
    bullets = [each for each in mentions if each.item]
    boxed = [each for each in bullets if each.item and _BOX.match(_line_of(sheet, each))]
    headings = [section.heading for section in sheet.document.sections]
    groups: dict[int, list[Mention]] = {}
    at = 0
    for mention in boxed or bullets:
        while at < len(headings) and headings[at] < mention.line:
            at += 1
        groups.setdefault(at, []).append(mention)
    largest = max(groups.values(), key=len, default=[])
    least = min((each.item.indent for each in largest if each.item), default=0)
    return [each for each in largest if each.item and each.item.indent == least]


def _line_of(sheet: Sheet, mention: Mention) -> str:
    return sheet.document.lines[mention.line - 1].text


def _list_section(sheet: Sheet, siblings: list[Mention], milestone: str) -> Section | None:
    """Where a list of phases begins that has none yet."""
    if any(each.form is Form.HEADING for each in siblings):
        return None  # the roadmap tells its phases by headings
    for marker in sheet.markers:
        if marker.version == milestone and marker.section and milestone:
            return marker.section
    section = sheet.document.section("Phases")
    return None if milestone and sheet.markers and _has_other(sheet, milestone) else section


def _has_other(sheet: Sheet, milestone: str) -> bool:
    return any(marker.section and marker.version != milestone for marker in sheet.markers)


def _before(mentions: list[Mention], phase: PhaseId) -> Mention | None:
    """The neighbour that a phase follows: the greatest one before it."""
    smaller = [each for each in mentions if each.id < phase]
    return max(smaller, key=lambda each: (each.id, each.line), default=None)


def _into(sheet: Sheet, section: Section, new: Iterable[str]) -> Splice:
    """Lines in the place of a section's placeholder, or below what it says."""
    document = sheet.document
    own = document.lines[section.first : own_end(section, document.sections)]
    for line in own:
        if line.is_prose and is_placeholder(line.text):
            return Splice(line.start, line.end, document.ending.join(new))
    held = [line for line in own if line.text.strip() and not _RULE.match(line.text)]
    last = held[-1] if held else document.lines[section.heading]
    return block_after(last, new, document.ending)


def _content_end(sheet: Sheet, mention: Mention) -> int:
    """The index after the last line of a phase's details that is not blank."""
    section = mention.section
    assert section is not None
    lines = sheet.document.lines
    inner = [
        each.section.heading
        for each in sheet.mentions
        if each.section and section.heading < each.section.heading < section.last
    ]
    last = min(inner, default=section.last)
    fenced_rule = next(
        (
            at
            for at in range(section.first, last)
            if lines[at].is_prose and _ends_block(lines, at, last)
        ),
        last,
    )
    last = fenced_rule
    while last > section.first and not lines[last - 1].text.strip():
        last -= 1
    return last


def _ends_block(lines: tuple[Line, ...], at: int, last: int) -> bool:
    """The end of the collapsed block around, or a rule with nothing but blank lines below."""
    text = lines[at].text.strip().lower()
    if text.startswith("</details"):
        opened = sum("<details" in line.text.lower() for line in lines[:at] if line.is_prose)
        closed = sum("</details" in line.text.lower() for line in lines[:at] if line.is_prose)
        return opened - closed <= 1
    return bool(_RULE.match(text)) and not any(line.text.strip() for line in lines[at + 1 : last])


# -- how a new phase is written ------------------------------------------------------------


def _number_like(like: PhaseId, phase: PhaseId) -> str:
    """The number with leading zeros where its neighbour has them."""
    return phase.padded if like.text.startswith("0") else phase.short


def _bullet_like(like: Mention, line: Line, phase: NewPhase) -> str:
    item = like.item
    assert item is not None
    mark = item.bullet if item.bullet in "-*+" else "-"
    box = "[ ] " if item.box >= 0 else ""
    bold = "**" if "**" in item.text[: like.id_start - item.start] else ""
    number = _number_like(like.id, phase.id)
    indent = line.text[: item.indent]
    dash = " — " if " — " in item.text else " - "
    name = f"{bold}Phase {number}: {phase.title}{bold}"
    return f"{indent}{mark} {box}{name}{dash}{phase.purpose}"


def _row_like(row: Row, like: Mention, phase: NewPhase) -> str:
    first = row.cells[0].text
    at = like.id_start - row.cells[0].start
    after = first[at + len(like.id.text) :]
    lead = after[: len(after) - len(after.lstrip(".:) -–—"))].rstrip()
    number = f"{first[:at]}{_number_like(like.id, phase.id)}{lead}"
    text = _row_text(row.titles, number, phase)
    return text.replace("** ", " ", 1) if text.count("**") == 1 else text


def _row_text(titles: tuple[str, ...], number: str, phase: NewPhase) -> str:
    """A row that says that nothing has begun; `number` is how the first cell begins."""
    values = ["-"] * len(titles)
    name_at = column(titles, "name")
    values[0] = number if name_at > 0 else f"{number} {table_cell(phase.title)}"
    if name_at > 0:
        values[name_at] = table_cell(phase.title)
        values[0] = number.rstrip(".") if number == f"{phase.id}." else number
    told = {"plans": "0/TBD", "status": "Not started", "milestone": phase.milestone or "-"}
    for kind, value in told.items():
        at = column(titles, kind)
        if at > 0:
            values[at] = value
    return f"| {' | '.join(values)} |"


def _end(sheet: Sheet) -> int:
    return max(len(sheet.document.lines), 1)
