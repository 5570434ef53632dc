"""The lines of ROADMAP.md that name a phase or a milestone.

A phase entry is a heading, a bullet or a table row; a milestone entry is a heading, a bullet or
the summary of a collapsed block. Fences and comments are examples and do not count. Every entry
keeps its position, so that an edit can change it without touching anything else. To accept a new
way of writing a phase, extend the patterns below.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from fairlead.core.errors import MalformedId
from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.roadmap.milestone_lines import (
    VERSION,
    EntryForm,
    MilestoneEntry,
    bare_ranges,
    key_of,
    listed_name,
    milestone_rows,
    name_in,
)
from fairlead.text.document import Document
from fairlead.text.inline import plain_text
from fairlead.text.lists import ListItem, items_of
from fairlead.text.outline import Line, Section
from fairlead.text.tables import Cell, Table, tables_of

# Ranges are spelled out because `re` builds large tables for case-insensitive ranges at start-up.
_CODE = "(?-i:[A-Za-z][A-Za-z0-9_]*)"
# In `第3阶段` the word follows the number without a word boundary.
_COUNTER = "(?:阶段|階段|フェーズ|단계)"
_ID = (
    r"(?P<id>(?:" + _CODE + r"-)?[0-9]{1,6}(?-i:[A-Za-z]?)(?:\.[0-9]{1,6})*)"
    rf"(?:\s*{_COUNTER}|\b(?![-–—][0-9]))"
)
# `[CK.02] 03` is phase 3 of the second milestone, in projects that number by milestone.
WORD = (
    rf"(?:(?:Phase|Фаза|Этап|Fase|Etapa|Étape|Etap|Fáze)\s+|{_COUNTER}\s*"
    rf"|[第제]\s*(?=[0-9]{{1,6}}\s*{_COUNTER})"
    rf"|\[{_CODE}\.[0-9]{{1,4}}\]\s+)"
)
_HEADING = lazy_pattern(
    rf"(?:\[[^\]]*\]\s*)?(?P<strike>~~)?(?:\*\*)?\s*(?:[^\w\s~*]+\s*)?(?:\*\*)?{WORD}{_ID}"
    r"(?:\*\*)?(?:\s*\([^)]*\))?\s*(?:[:：—–]|\s-\s|-\s|\Z)\s*(?P<name>.*)\Z",
    re.IGNORECASE,
)
_BULLET = lazy_pattern(
    rf"(?:\[[^\]]\]\s+)?(?P<strike>~~)?\s*(?:[^\w\s~*\[]+\s*)?(?:\*\*)?(?P<inner>~~)?\[?(?:\*\*)?"
    rf"{WORD}{_ID}"
    r"\s*(?:\([^)]*\))?\s*(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_CELL = lazy_pattern(
    rf"(?:\*\*|~~|\[)*(?:{WORD})?{_ID}(?:[.:：)])?\s*(?:[-–—]\s+)?(?P<name>.*)\Z", re.IGNORECASE
)
_TABLE_WORD = lazy_pattern(
    r"(?:phase|фаза|этап|fase|etapa|étape|etap|fáze|阶段|階段|フェーズ|단계)\b"
)
_COLLAPSED = ("<details", "</details", "<summary")
_BULLET_NAME = lazy_pattern(r"(?:\*\*)?\s*(?:[:：—–]|\s-\s|-\s)\s*(?P<name>.*)\Z")
_LINK = lazy_pattern(r"(?:\[(?P<text>[^\[\]]*))?\]\([^)]*\)")
_ENCLOSED = lazy_pattern(r"\[([^\[\]]*)\]\Z")
_NAME_SUFFIX = lazy_pattern(
    r"\s*\((?:completed|shipped|done|[0-9]+/[0-9]+ plans?)[^)]*\)\s*\Z|\s*[✅✓✔☑]+\s*\Z",
    re.IGNORECASE,
)
_NAME_ENDS = (")", "✅", "✓", "✔", "☑")  # the last characters of such a suffix
_PLACEHOLDER = lazy_pattern(
    r"[*_(]*(?:no phases(?: yet)?|none(?: yet)?|tbd|to be planned)[.*_)]*", re.IGNORECASE
)
_BEFORE_NAME = lazy_pattern(
    r"[\W_]+|milestone|version|release|active|current|completed?|done|shipped|closed|planned|next"
    r"|parked|in progress",
    re.IGNORECASE,
)
_NUMBER_TITLES = ("#", "no", "no.", "nr", "nr.")
_DONE_TITLES = ("completed", "date", "completed on", "completion date")
_NAME_TITLES = ("name", "phase name")


class PhaseRow(NamedTuple):
    """A row of a table of phases."""

    titles: tuple[str, ...]
    cells: tuple[Cell, ...]
    table: Table

    def cell(self, kind: str) -> Cell | None:
        """The cell in the plans, status, completed, name or milestone column; None without one."""
        at = column(self.titles, kind)
        return self.cells[at] if at >= 0 else None


class PhaseEntry(NamedTuple):
    """One place in the roadmap that names a phase."""

    form: EntryForm
    id: PhaseId
    name: str
    milestone: str  # version of the milestone it belongs to; empty if none
    line: int  # from 1
    id_start: int  # offset of the number
    is_checked: bool | None = None  # None: there is no box
    is_retired: bool = False
    item: ListItem | None = None
    section: Section | None = None
    row: PhaseRow | None = None


@dataclass(frozen=True, slots=True)
class RoadmapEntries:
    """Every entry of one roadmap."""

    document: Document
    phases: tuple[PhaseEntry, ...]  # in document order, table rows last
    milestones: tuple[MilestoneEntry, ...]
    milestone_by_line: tuple[str, ...]  # the version of the milestone around each line
    bullets: Mapping[int, ListItem]  # by line number, from 1


def parse_entries(document: Document) -> RoadmapEntries:
    """Find every entry of a roadmap."""
    reader = _EntryParser(document)
    reader.run()
    return RoadmapEntries(
        document,
        tuple(_under_milestones(reader.phases, reader.milestones, reader.milestone_by_line)),
        tuple(reader.milestones),
        tuple(reader.milestone_by_line),
        reader.bullets,
    )


@lru_cache(64)
def column(titles: tuple[str, ...], kind: str) -> int:
    """The index of the column with this meaning; -1 if there is none."""
    for at, title in enumerate(titles):
        if kind == "plans" and title.startswith("plans"):
            return at
        if kind == "completed" and title in _DONE_TITLES:
            return at
        if kind == "name" and title in _NAME_TITLES:
            return at
        if kind in ("status", "milestone") and title == kind:
            return at
    if kind == "name" and titles[0] in _NUMBER_TITLES and len(titles) > 1:
        return 1
    return -1


def phase_titles(table: Table) -> tuple[str, ...]:
    """The column titles of a table of phases; empty for any other table."""
    titles = tuple(cell.text.strip("*").casefold() for cell in table.header)
    if len(titles) < 2:
        return ()
    is_numbered = titles[0] in _NUMBER_TITLES and bool(_TABLE_WORD.match(titles[1]))
    if not (_TABLE_WORD.match(titles[0]) or is_numbered):
        return ()
    is_known = any(column(titles, kind) >= 0 for kind in ("name", "plans", "status"))
    return titles if is_known else ()


class _EntryParser:
    """Walks through the lines once and remembers the milestone around them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.phases: list[PhaseEntry] = []
        self.milestones: list[MilestoneEntry] = []
        self.milestone_by_line: list[str] = []
        self.bullets: dict[int, ListItem] = {}
        self.milestone = ""
        self.level = 0  # of the heading that opened the milestone
        self.around: list[str] = []  # the milestone outside each open collapsed block
        self.lists_milestones = False  # the last heading is that of a list of milestones

    def run(self) -> None:
        lines = self.document.lines
        headings = {section.heading: section for section in self.document.sections}
        ends = [line.next for line in lines]
        self.bullets = {bisect_right(ends, item.start) + 1: item for item in items_of(lines)}
        tables = [(table, bisect_right(ends, table.header[0].start)) for table in tables_of(lines)]
        for table, at in tables:
            for number, entry in milestone_rows(table):
                self.milestones.append(entry._replace(line=at + 3 + number))
        for at, line in enumerate(lines):
            if line.is_prose:
                if at in headings:
                    self.heading(headings[at], line)
                elif at + 1 in self.bullets:
                    self.bullet(self.bullets[at + 1], at + 1)
                elif "<" in line.text and line.text.lstrip().lower().startswith(_COLLAPSED):
                    self.collapsed(line.text, at + 1)
            self.milestone_by_line.append(self.milestone)
        for table, at in tables:
            self.table(table, at)

    def known(self, name: str) -> str:
        """The name as it was first written; `1.10` and `v1.10` are one milestone."""
        same = (each.version for each in self.milestones if key_of(each.version) == key_of(name))
        return next(same, name) if name else ""

    def begun(self, title: str) -> str:
        """The known milestone, named by words, that a heading begins with; empty if none."""
        text = re.sub(r"\A[\W_]+", "", title)
        names = [each.version for each in self.milestones if each.is_in_list]
        same = [name for name in names if text.casefold().startswith(name.casefold())]
        name = max(same, key=len, default="")
        return name if not text[len(name) : len(name) + 1].isalnum() else ""

    def listed(self, cell: str) -> str:
        """The milestone with exactly the name in a cell; empty if none has it."""
        name = cell.strip("* ")
        return name if any(each.version == name for each in self.milestones) else ""

    def heading(self, section: Section, line: Line) -> None:
        match = _HEADING.match(section.title) if 2 <= section.level <= 5 else None
        if match:
            if phase := parsed_id(match["id"]):
                self.phases.append(
                    PhaseEntry(
                        EntryForm.HEADING,
                        phase,
                        clean_name(match["name"]),
                        self.milestone,
                        section.heading + 1,
                        line.start + line.text.find(section.title) + match.start("id"),
                        is_retired=bool(match["strike"]),
                        section=section,
                    )
                )
            return
        title = section.title
        name = (name_in(title) or self.begun(title)) if section.level <= 3 else ""
        self.lists_milestones = "milestone" in section.title.casefold() and not name
        if name:
            name = self.known(name)
            self.milestone, self.level = name, section.level
            title, number = section.title, section.heading + 1
            self.milestones.append(
                MilestoneEntry(EntryForm.HEADING, name, title, number, section=section)
            )
        elif section.level <= self.level:
            # `## Phases` or `## Progress` after a milestone belongs to all milestones.
            self.milestone, self.level = "", 0

    def collapsed(self, text: str, number: int) -> None:
        lowered = text.lower()
        if "<details" in lowered:
            self.around.append(self.milestone)
        if "<summary" in lowered:
            title = re.sub(r"<[^>]*>", "", text).strip()
            if name := self.known(name_in(title) or self.begun(title)):
                self.milestone = name
                self.milestones.append(MilestoneEntry(EntryForm.SUMMARY, name, title, number))
        if "</details" in lowered and self.around:
            self.milestone = self.around.pop()

    def bullet(self, item: ListItem, number: int) -> None:
        checked = item.is_checked if item.box >= 0 else None
        match = _BULLET.match(item.text)
        if match:
            name, phase = bullet_name(match["rest"]), parsed_id(match["id"])
            if name is not None and phase:
                self.phases.append(
                    PhaseEntry(
                        EntryForm.BULLET,
                        phase,
                        name,
                        self.milestone,
                        number,
                        item.start + match.start("id"),
                        is_checked=checked,
                        is_retired=bool(match["strike"] or match["inner"]),
                        item=item,
                    )
                )
            return
        title = item.text.replace("*", "")
        name = name_in(title)
        if not name and self.lists_milestones and "**" in item.text:
            name = listed_name(title)
        at = item.text.find(name) if name else -1
        # Outside a list of milestones, a bullet that begins with a version may be a remark.
        is_first = at >= 0 and not _BEFORE_NAME.sub("", item.text[:at])
        if is_first and ("**" in item.text[: at + 2] or self.lists_milestones):
            self.milestones.append(
                MilestoneEntry(EntryForm.BULLET, self.known(name), title, number, checked)
            )

    def table(self, table: Table, at: int) -> None:
        titles = phase_titles(table)
        for offset, cells in enumerate(table.rows) if titles else ():
            match = _CELL.match(cells[0].text) if len(cells) == len(titles) else None
            phase = parsed_id(match["id"]) if match else None
            if len(cells) != len(titles):
                continue
            row = PhaseRow(titles, cells, table)
            named, owner = row.cell("name"), row.cell("milestone")
            version = VERSION.search(owner.text) if owner else None
            column = self.known(version[0]) if version else self.listed(owner.text if owner else "")
            if column and bare_ranges(cells[0].text):
                title = f"Phases {cells[0].text}"
                self.milestones.append(
                    MilestoneEntry(EntryForm.ROW, column, title, at + 3 + offset)
                )
            if not match or not phase:
                continue
            self.phases.append(
                PhaseEntry(
                    EntryForm.ROW,
                    phase,
                    clean_name(named.text if named else match["name"]),
                    column,
                    at + 3 + offset,
                    cells[0].start + match.start("id"),
                    is_retired=cells[0].text.startswith("~~"),
                    row=row,
                )
            )


def parsed_id(text: str) -> PhaseId | None:
    """The phase number in a text; None if it is not one."""
    try:
        return PhaseId.parse(text)
    except MalformedId:
        return None


def _under_milestones(
    phase_entries: list[PhaseEntry],
    milestone_entries: list[MilestoneEntry],
    milestone_by_line: list[str],
) -> Iterator[PhaseEntry]:
    """Each entry with the milestone it belongs to.

    An entry outside every milestone belongs to the milestone that has its phase. If several do,
    it is the one where the phase has the same name, else the open one, else the last one.
    """
    closed = {entry.version for entry in milestone_entries if entry.is_closed}
    milestones: dict[PhaseId, dict[str, str]] = {}
    for entry in phase_entries:
        if entry.milestone:
            versions = milestones.setdefault(entry.id, {})
            versions[entry.milestone] = versions.get(entry.milestone) or entry.name.casefold()
    outside_tables = {
        each.id for each in phase_entries if each.milestone and each.form is not EntryForm.ROW
    }
    for entry in phase_entries:
        versions = milestones.get(entry.id, {})
        # A phase listed only in tables belongs to the milestone around its table.
        home = milestone_by_line[entry.line - 1] if entry.form is EntryForm.ROW else ""
        if entry.milestone or not versions or (home and entry.id not in outside_tables):
            yield entry._replace(milestone=home) if home and not entry.milestone else entry
            continue
        name_of_entry = entry.name.casefold()
        same = [version for version, name in versions.items() if name and name == name_of_entry]
        still_open = [version for version in versions if version not in closed]
        chosen = same if len(same) == 1 else still_open if len(still_open) == 1 else [*versions]
        yield entry._replace(milestone=chosen[-1])


def own_lines(entries: RoadmapEntries, section: Section) -> Iterator[tuple[int, Line]]:
    """The lines of a section up to the next heading of any level, with their numbers from 1."""
    lines = entries.document.lines
    for at in range(section.first, section.last):
        line = lines[at]
        if "#" in line.text and line.is_prose:
            text = line.text.lstrip(" ")
            if text.startswith("#") and text.lstrip("#")[:1] in ("", " ", "\t"):
                return
        yield at + 1, line


# -- names of phases ------------------------------------------------------------------------


def is_placeholder(line: str) -> bool:
    """Whether a line says that there are no phases yet."""
    return bool(_PLACEHOLDER.fullmatch(line.strip()))


def bullet_name(rest: str) -> str | None:
    """The name in `: Name** - text` after `Phase 3`; None if it is a sentence about the phase."""
    match = _BULLET_NAME.match(rest)
    if not match:
        return "" if not rest.strip(" *~)]") else None
    name = match["name"]
    bold = name.find("**")
    return clean_name(name[:bold] if bold >= 0 else re.split(r"\s[-—–]\s", name, maxsplit=1)[0])


def clean_name(name: str) -> str:
    """A name without markup, links and progress; brackets inside it stay: `[WIP] Login`."""
    name = name.replace("~~", "").replace("**", "").strip()
    if "]" in name:
        name = _without_brackets(name)
    while name.rstrip().endswith(_NAME_ENDS) and (shorter := _NAME_SUFFIX.sub("", name)) != name:
        name = shorter
    return plain_text(name.removesuffix("(INSERTED)").strip())


def _without_brackets(name: str) -> str:
    """Links replaced by their text, without brackets around the whole name."""
    name = _LINK.sub(lambda link: link["text"] or "", name).strip()
    if enclosed := _ENCLOSED.match(name):
        return enclosed[1].strip()
    return name[:-1].rstrip() if name.endswith("]") and name.count("]") > name.count("[") else name
