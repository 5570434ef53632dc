"""Other numbers for phases: in ROADMAP.md, in REQUIREMENTS.md and in the names of files.

A number is changed where it names a phase: in headings, bullets, rows, `Phase 3`, `Phases 3-5`
and the names of plans. Numbers in fences, comments and other milestones stay.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from fairlead.errors import MalformedId
from fairlead.model.ids import PhaseId
from fairlead.records.roadmap_lines import WORD, Form, Sheet, read_sheet
from fairlead.text.document import Document
from fairlead.text.outline import Line
from fairlead.text.splice import Splice, spliced
from fairlead.text.tables import tables_of

Numbers = Mapping[PhaseId, PhaseId]

_NUMBER = r"(?:[A-Z][A-Z0-9_]*-)?[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*"
_NAMED = re.compile(
    rf"(?:{WORD}|Phases\s+)(?P<ids>{_NUMBER}(?:(?:\s*(?:[-–—,&+/]|to|and|und|et|y)\s*){_NUMBER}\b)*)",
    re.IGNORECASE,
)
_EACH = re.compile(_NUMBER)
_FILE = re.compile(
    r"(?<![\w.-])(?P<phase>[0-9]{1,6}[A-Z]?(?:\.[0-9]{1,6})*)(?=-[0-9]{1,4}(?:-[\w-]*)?(?:-(?:PLAN|SUMMARY)|[\w-]*:|\b))"
)
_FRONT = re.compile(
    r"(?P<code>[A-Z][A-Z0-9_]*-)?(?P<phase>[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)(?=[-_. ]|\Z)"
)


def renumbered_roadmap(
    document: Document, numbers: Numbers, milestones: Collection[str], *, removed: PhaseId
) -> Document:
    """The roadmap with other numbers for phases of these milestones.

    What still speaks of the removed one says so: its number belongs to another phase now.
    """
    document.require_writable()
    sheet = read_sheet(document)
    pads = any(mention.id.text.startswith("0") for mention in sheet.mentions)
    splices = [*_rows(sheet, numbers, milestones, pads=pads)]
    for at, line in enumerate(document.lines):
        if line.is_prose and sheet.homes[at] in (*milestones, ""):
            splices += _in_line(line, numbers, removed, pads=pads)
            if at + 1 in sheet.bullets:
                splices += _plan_names(line, numbers)
    return document.replaced(spliced(document.text, splices))


def lines_naming(
    document: Document, phase: PhaseId, milestones: Collection[str]
) -> tuple[tuple[int, str], ...]:
    """The lines of a roadmap that speak of a phase of these milestones, with their numbers."""
    homes = read_sheet(document).homes
    return tuple(
        (at + 1, line.text.strip())
        for at, line in enumerate(document.lines)
        if line.is_prose and homes[at] in (*milestones, "") and _names(line, phase)
    )


def renumbered_table(document: Document, numbers: Numbers, *, removed: PhaseId) -> Document:
    """A document with other numbers in the phase columns of its tables."""
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
    """A folder's or file's name with the other number; one without the number stays."""
    match = _FRONT.match(name)
    if not match or _parsed(match["phase"]) != old:
        return name
    head, tail = name[: match.start("phase")], name[match.end("phase") :]
    return head + _in_name(match["phase"], new) + tail


def _rows(
    sheet: Sheet, numbers: Numbers, milestones: Collection[str], *, pads: bool
) -> Iterator[Splice]:
    for mention in sheet.mentions:
        if mention.form is Form.ROW and mention.milestone in milestones:
            new = numbers.get(mention.id)
            if new:
                end = mention.id_start + len(mention.id.text)
                yield Splice(mention.id_start, end, _spelled(mention.id.text, new, pads=pads))


def _names(line: Line, phase: PhaseId) -> bool:
    named = (each["ids"] for each in _NAMED.finditer(line.text))
    return any(_parsed(number) == phase for ids in named for number in _EACH.findall(ids))


def _in_line(line: Line, numbers: Numbers, removed: PhaseId, *, pads: bool) -> Iterator[Splice]:
    for named in _NAMED.finditer(line.text):
        yield from _ids(line, named.start("ids"), named["ids"], numbers, removed, pads=pads)


def _ids(
    line: Line, at: int, text: str, numbers: Numbers, removed: PhaseId, *, pads: bool
) -> Iterator[Splice]:
    found = list(_EACH.finditer(text))
    if len(found) == 1 and _parsed(text) == removed:
        end = line.start + at + len(text)
        yield Splice(end, end, " (removed)")
    for each in found:
        new = _new(each[0], numbers)
        if new:
            start = line.start + at + each.start()
            yield Splice(start, start + len(each[0]), _spelled(each[0], new, pads=pads))


def _plan_names(line: Line, numbers: Numbers) -> Iterator[Splice]:
    for each in _FILE.finditer(line.text):
        new = _new(each["phase"], numbers)
        if new:
            start = line.start + each.start("phase")
            yield Splice(start, start + len(each["phase"]), _in_name(each["phase"], new))


def _new(text: str, numbers: Numbers) -> PhaseId | None:
    old = _parsed(text)
    return numbers.get(old) if old else None


def _parsed(text: str) -> PhaseId | None:
    try:
        return PhaseId.parse(text)
    except MalformedId:
        return None


def _spelled(old: str, new: PhaseId, *, pads: bool) -> str:
    """The new number with the code of the old one, and with leading zeros where others have them."""
    code, dash, digits = old.rpartition("-")
    return f"{code}{dash}{new.padded if pads or digits.startswith('0') else new.short}"


def _in_name(old: str, new: PhaseId) -> str:
    """In names numbers have two digits, unless the old one shows that they have not."""
    return new.short if len(old) == 1 or not old[:2].isdigit() else new.padded
