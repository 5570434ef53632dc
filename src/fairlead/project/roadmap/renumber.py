"""Renumbering phases in ROADMAP.md, in REQUIREMENTS.md and in file names.

A number changes only where it names a phase: in headings, bullets, rows, `Phase 3`, `Phases 3-5`
and plan names. Numbers in fences, comments and other milestones stay.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.project.roadmap.entries import (
    WORD,
    RoadmapEntries,
    parse_entries,
    parsed_id,
)
from fairlead.project.roadmap.milestone_lines import EntryForm
from fairlead.text.document import Document
from fairlead.text.outline import Line, Splice, spliced
from fairlead.text.tables import tables_of

Numbers = Mapping[PhaseId, PhaseId]

_NUMBER = r"(?:[A-Z][A-Z0-9_]*-)?[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*"
_NAMED = lazy_pattern(
    rf"(?:{WORD}|Phases\s+)(?P<ids>{_NUMBER}(?:(?:\s*(?:[-–—,&+/]|to|and|und|et|y)\s*){_NUMBER}\b)*)",
    re.IGNORECASE,
)
_EACH = lazy_pattern(_NUMBER)
_FILE = lazy_pattern(
    r"(?<![\w.-])(?P<phase>[0-9]{1,6}[A-Z]?(?:\.[0-9]{1,6})*)(?=-[0-9]{1,4}(?:-[\w-]*)?(?:-(?:PLAN|SUMMARY)|[\w-]*:|\b))"
)
_FRONT = lazy_pattern(
    r"(?P<code>[A-Z][A-Z0-9_]*-)?(?P<phase>[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)(?=[-_. ]|\Z)"
)


def renumbered_roadmap(
    document: Document, numbers: Numbers, milestones: Collection[str], *, removed: PhaseId
) -> Document:
    """The roadmap with new numbers for the phases of these milestones.

    References to the removed phase are marked, because its number now belongs to another phase.
    """
    document.require_writable()
    entries = parse_entries(document)
    pads = any(entry.id.text.startswith("0") for entry in entries.phases)
    splices = [*_rows(entries, numbers, milestones, pads=pads)]
    for at, line in enumerate(document.lines):
        if line.is_prose and entries.milestone_by_line[at] in (*milestones, ""):
            splices += _in_line(line, numbers, removed, pads=pads)
            if at + 1 in entries.bullets:
                splices += _plan_names(line, numbers)
    return document.replaced(spliced(document.text, splices))


def lines_naming(
    document: Document, phase: PhaseId, milestones: Collection[str]
) -> tuple[tuple[int, str], ...]:
    """The lines that name a phase of these milestones, with their line numbers."""
    milestones = parse_entries(document).milestone_by_line
    return tuple(
        (at + 1, line.text.strip())
        for at, line in enumerate(document.lines)
        if line.is_prose and milestones[at] in (*milestones, "") and _names(line, phase)
    )


def renumbered_table(document: Document, numbers: Numbers, *, removed: PhaseId) -> Document:
    """A document with new numbers in the phase columns of its tables."""
    document.require_writable()
    splices: list[Splice] = []
    for table in tables_of(document.lines):
        at = table.column("Phase")
        for cell in (row[at] for row in table.rows if 0 <= at < len(row)):
            line = Line(cell.start, cell.end, cell.end, cell.text, is_prose=True)
            if _EACH.fullmatch(cell.text):
                splices += _ids(line, 0, cell.text, numbers, removed, pads=False)
            else:
                splices += _in_line(line, numbers, removed, pads=False)
    return document.replaced(spliced(document.text, splices))


def renamed(name: str, old: PhaseId, new: PhaseId) -> str:
    """A folder or file name with the new number; a name without the old number stays."""
    match = _FRONT.match(name)
    if not match or parsed_id(match["phase"]) != old:
        return name
    head, tail = name[: match.start("phase")], name[match.end("phase") :]
    return head + _in_name(match["phase"], new) + tail


def _rows(
    entries: RoadmapEntries, numbers: Numbers, milestones: Collection[str], *, pads: bool
) -> Iterator[Splice]:
    for entry in entries.phases:
        if entry.form is EntryForm.ROW and entry.milestone in milestones:
            new = numbers.get(entry.id)
            if new:
                end = entry.id_start + len(entry.id.text)
                yield Splice(entry.id_start, end, _spelled(entry.id.text, new, pads=pads))


def _names(line: Line, phase: PhaseId) -> bool:
    named = (each["ids"] for each in _NAMED.finditer(line.text))
    return any(parsed_id(number) == phase for ids in named for number in _EACH.findall(ids))


def _in_line(line: Line, numbers: Numbers, removed: PhaseId, *, pads: bool) -> Iterator[Splice]:
    for named in _NAMED.finditer(line.text):
        yield from _ids(line, named.start("ids"), named["ids"], numbers, removed, pads=pads)


def _ids(
    line: Line, at: int, text: str, numbers: Numbers, removed: PhaseId, *, pads: bool
) -> Iterator[Splice]:
    numbers_in_text = list(_EACH.finditer(text))
    if len(numbers_in_text) == 1 and parsed_id(text) == removed:
        end = line.start + at + len(text)
        yield Splice(end, end, " (removed)")
    for number in numbers_in_text:
        new = _new(number[0], numbers)
        if new:
            start = line.start + at + number.start()
            yield Splice(start, start + len(number[0]), _spelled(number[0], new, pads=pads))


def _plan_names(line: Line, numbers: Numbers) -> Iterator[Splice]:
    for name in _FILE.finditer(line.text):
        new = _new(name["phase"], numbers)
        if new:
            start = line.start + name.start("phase")
            yield Splice(start, start + len(name["phase"]), _in_name(name["phase"], new))


def _new(text: str, numbers: Numbers) -> PhaseId | None:
    old = parsed_id(text)
    return numbers.get(old) if old else None


def _spelled(old: str, new: PhaseId, *, pads: bool) -> str:
    """The new number with the code of the old one, and with leading zeros if others have them."""
    code, dash, digits = old.rpartition("-")
    return f"{code}{dash}{new.padded if pads or digits.startswith('0') else new.short}"


def _in_name(old: str, new: PhaseId) -> str:
    """The number in a name: two digits, unless the old one had fewer."""
    return new.short if len(old) == 1 or not old[:2].isdigit() else new.padded
