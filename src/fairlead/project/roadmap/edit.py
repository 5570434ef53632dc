"""Adding a phase to ROADMAP.md and removing one, in the style of its neighbours.

A new phase is added to every form the roadmap uses: the checklist, the details and the progress
table. If none of them exists, the edit is refused and nothing is written.
"""

import re
from collections.abc import Iterable, Iterator

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.roadmap.entries import (
    PhaseEntry,
    PhaseRow,
    RoadmapEntries,
    column,
    is_placeholder,
    parse_entries,
    phase_titles,
)
from fairlead.project.roadmap.milestone_lines import EntryForm
from fairlead.project.roadmap.model import is_counted
from fairlead.text.document import Document
from fairlead.text.errors import NoPlace
from fairlead.text.inline import one_line, table_cell
from fairlead.text.outline import Line, Section, Splice, block_after, line_after, own_end, spliced
from fairlead.text.tables import tables_of

UNDECIDED = "Not decided yet."
_BOX = lazy_pattern(r"\s*[-*+]\s+\[.\]\s")  # also `[~]` and other marks people use
_RULE = lazy_pattern(r"\s*(?:</details>.*|-{3,}|\*{3,}|_{3,})\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NewPhase:
    """A phase to be added."""

    id: PhaseId
    name: str
    milestone: str = ""  # the one it belongs to; empty if the project has none
    goal: str = ""
    depends_on: str = "Nothing (first phase)"
    is_inserted: bool = False

    @property
    def title(self) -> str:
        """The name as it is written in the entries."""
        return one_line(self.name, "the name") + (" (INSERTED)" if self.is_inserted else "")

    @property
    def purpose(self) -> str:
        """The goal, or a placeholder for it."""
        return one_line(self.goal, "the goal") if self.goal else UNDECIDED


def with_phase(document: Document, phase: NewPhase) -> Document:
    """The roadmap with a new phase in its place among the others."""
    document.require_writable()
    entries = parse_entries(document)
    siblings = _siblings(entries, phase.milestone)
    splices = [
        *_new_bullet(entries, siblings, phase),
        *_new_details(entries, siblings, phase),
        *_new_row(entries, siblings, phase),
    ]
    if not splices:
        raise NoPlace(
            f"phase {phase.id.short}: no list, details or table of phases", line=_end(entries)
        )
    return document.replaced(spliced(document.text, splices))


def without_phase(document: Document, phase: PhaseId, milestone: str) -> Document:
    """The roadmap without the entries of a phase; references to it stay."""
    document.require_writable()
    entries = parse_entries(document)
    lines = document.lines
    splices = []
    for entry in entries.phases:
        if entry.id != phase or entry.milestone != milestone:
            continue
        first = lines[entry.line - 1]
        if entry.section:
            last = lines[section_end(entries, entry) - 1].next
        elif entry.item:
            last = entry.item.last.next
        else:
            last = first.next
        splices.append(Splice(first.start, last, ""))
    return document.replaced(spliced(document.text, splices))


def details_of(phase: NewPhase, level: int = 3, number: str = "") -> tuple[str, ...]:
    """The detail lines of a new phase; `number` is its number in the format of its neighbours."""
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


def section_end(entries: RoadmapEntries, entry: PhaseEntry) -> int:
    """The index after the last line of a phase's details and the blank lines behind them.

    A nested phase, a horizontal rule or the end of a collapsed block does not belong to them.
    """
    assert entry.section is not None
    last = _content_end(entries, entry)
    lines = entries.document.lines
    while last < entry.section.last and not lines[last].text.strip():
        last += 1
    return last


# -- the place of a new phase --------------------------------------------------------------


def _siblings(entries: RoadmapEntries, milestone: str) -> list[PhaseEntry]:
    return [
        entry
        for entry in entries.phases
        if entry.milestone == milestone and is_counted(entry.id) and not entry.is_retired
    ]


def _new_bullet(
    entries: RoadmapEntries, siblings: list[PhaseEntry], phase: NewPhase
) -> Iterator[Splice]:
    listed = checklist(entries, siblings)
    lines, ending = entries.document.lines, entries.document.ending
    if not listed:
        section = _list_section(entries, siblings, phase.milestone)
        if section:
            yield _into(
                entries, section, (f"- [ ] **Phase {phase.id}: {phase.title}** - {phase.purpose}",)
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


def _new_details(
    entries: RoadmapEntries, siblings: list[PhaseEntry], phase: NewPhase
) -> Iterator[Splice]:
    detailed = [each for each in siblings if each.form is EntryForm.HEADING]
    lines, ending = entries.document.lines, entries.document.ending
    if not detailed:
        section = entries.document.section("Phase Details", levels=range(2, 5))
        if section:
            yield _into(entries, section, details_of(phase, section.level + 1))
        return
    neighbour = _before(detailed, phase.id)
    like = neighbour or detailed[0]
    assert like.section is not None
    written = details_of(phase, like.section.level, _number_like(like.id, phase.id))
    if neighbour:
        yield block_after(lines[_content_end(entries, neighbour) - 1], written, ending)
    else:
        start = lines[like.section.heading].start
        yield Splice(start, start, ending.join((*written, "", "")))


def _new_row(
    entries: RoadmapEntries, siblings: list[PhaseEntry], phase: NewPhase
) -> Iterator[Splice]:
    rows = [each for each in siblings if each.form is EntryForm.ROW]
    lines, ending = entries.document.lines, entries.document.ending
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
    progress = entries.document.section("Progress", "Progress Table")
    tables = tables_of(entries.document.section_lines(progress)) if progress else ()
    table = next((each for each in tables if phase_titles(each)), None)
    if table:
        yield line_after(table.last, _row_text(phase_titles(table), f"{phase.id}.", phase), ending)


def checklist(entries: RoadmapEntries, phases: Iterable[PhaseEntry]) -> list[PhaseEntry]:
    """The checklist of phases: the largest group below one heading, with boxes if any has them."""
    bullets = [each for each in phases if each.item]
    boxed = [each for each in bullets if each.item and _BOX.match(_line_of(entries, each))]
    headings = [section.heading for section in entries.document.sections]
    groups: dict[int, list[PhaseEntry]] = {}
    at = 0
    for entry in boxed or bullets:
        while at < len(headings) and headings[at] < entry.line:
            at += 1
        groups.setdefault(at, []).append(entry)
    largest = max(groups.values(), key=len, default=[])
    least = min((each.item.indent for each in largest if each.item), default=0)
    return [each for each in largest if each.item and each.item.indent == least]


def _line_of(entries: RoadmapEntries, entry: PhaseEntry) -> str:
    return entries.document.lines[entry.line - 1].text


def _list_section(
    entries: RoadmapEntries, siblings: list[PhaseEntry], milestone: str
) -> Section | None:
    """The section for the first bullet of a roadmap that has no checklist yet."""
    if any(each.form is EntryForm.HEADING for each in siblings):
        return None  # this roadmap lists its phases as headings
    for entry in entries.milestones:
        if entry.version == milestone and entry.section and milestone:
            return entry.section
    section = entries.document.section("Phases")
    return None if milestone and entries.milestones and _has_other(entries, milestone) else section


def _has_other(entries: RoadmapEntries, milestone: str) -> bool:
    return any(entry.section and entry.version != milestone for entry in entries.milestones)


def _before(phases: list[PhaseEntry], phase: PhaseId) -> PhaseEntry | None:
    """The entry that a phase follows: the one with the greatest smaller number."""
    smaller = [each for each in phases if each.id < phase]
    return max(smaller, key=lambda each: (each.id, each.line), default=None)


def _into(entries: RoadmapEntries, section: Section, new: Iterable[str]) -> Splice:
    """Lines that replace the placeholder of a section, or follow its content."""
    document = entries.document
    own = document.lines[section.first : own_end(section, document.sections)]
    for line in own:
        if line.is_prose and is_placeholder(line.text):
            return Splice(line.start, line.end, document.ending.join(new))
    content = [line for line in own if line.text.strip() and not _RULE.match(line.text)]
    last = content[-1] if content else document.lines[section.heading]
    return block_after(last, new, document.ending)


def _content_end(entries: RoadmapEntries, entry: PhaseEntry) -> int:
    """The index after the last line of a phase's details that is not blank."""
    section = entry.section
    assert section is not None
    lines = entries.document.lines
    inner = [
        each.section.heading
        for each in entries.phases
        if each.section and section.heading < each.section.heading < section.last
    ]
    last = min(inner, default=section.last)
    last = next(
        (
            at
            for at in range(section.first, last)
            if lines[at].is_prose and _ends_block(lines, at, last)
        ),
        last,
    )
    while last > section.first and not lines[last - 1].text.strip():
        last -= 1
    return last


def _ends_block(lines: tuple[Line, ...], at: int, last: int) -> bool:
    """Whether a line ends the collapsed block around it, or is a rule above blank lines only."""
    text = lines[at].text.strip().lower()
    if text.startswith("</details"):
        opened = sum("<details" in line.text.lower() for line in lines[:at] if line.is_prose)
        closed = sum("</details" in line.text.lower() for line in lines[:at] if line.is_prose)
        return opened - closed <= 1
    return bool(_RULE.match(text)) and not any(line.text.strip() for line in lines[at + 1 : last])


# -- the text of a new phase ---------------------------------------------------------------


def _number_like(like: PhaseId, phase: PhaseId) -> str:
    """The number, with leading zeros if its neighbour has them."""
    return phase.padded if like.text.startswith("0") else phase.short


def _bullet_like(like: PhaseEntry, line: Line, phase: NewPhase) -> str:
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


def _row_like(row: PhaseRow, like: PhaseEntry, phase: NewPhase) -> str:
    first = row.cells[0].text
    at = like.id_start - row.cells[0].start
    after = first[at + len(like.id.text) :]
    lead = after[: len(after) - len(after.lstrip(".:) -–—"))].rstrip()
    number = f"{first[:at]}{_number_like(like.id, phase.id)}{lead}"
    text = _row_text(row.titles, number, phase)
    return text.replace("** ", " ", 1) if text.count("**") == 1 else text


def _row_text(titles: tuple[str, ...], number: str, phase: NewPhase) -> str:
    """A row for a phase that has not started; `number` is the beginning of the first cell."""
    values = ["-"] * len(titles)
    name_at = column(titles, "name")
    values[0] = number if name_at > 0 else f"{number} {table_cell(phase.title)}"
    if name_at > 0:
        values[name_at] = table_cell(phase.title)
        values[0] = number.rstrip(".") if number == f"{phase.id}." else number
    cells = {"plans": "0/TBD", "status": "Not started", "milestone": phase.milestone or "-"}
    for kind, value in cells.items():
        at = column(titles, kind)
        if at > 0:
            values[at] = value
    return f"| {' | '.join(values)} |"


def _end(entries: RoadmapEntries) -> int:
    return max(len(entries.document.lines), 1)
