"""The lines of ROADMAP.md that mean something: mentions of phases and of milestones.

A phase is mentioned by a heading, a bullet or a row of a table, a milestone by a heading, a
bullet or the summary of a collapsed block. What stands in a fence or a comment is an example.
Every mention has its place, so that it can be changed without touching anything else.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from fairlead.errors import MalformedId
from fairlead.model.ids import PhaseId
from fairlead.records.roadmap_names import bullet_name, clean_name
from fairlead.text.document import Document
from fairlead.text.lists import Item, items_of
from fairlead.text.outline import Line, Section
from fairlead.text.tables import Cell, Table, tables_of
from fairlead.values import dataclass

# Letters without regard to case are spelled out: over ranges `re` builds large tables at each start.
_CODE = "(?-i:[A-Za-z][A-Za-z0-9_]*)"
# `第3阶段` has its word after the number, and no boundary between them.
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
_HEADING = re.compile(
    rf"(?:\[[^\]]*\]\s*)?(?P<strike>~~)?(?:\*\*)?\s*(?:[^\w\s~*]+\s*)?(?:\*\*)?{WORD}{_ID}"
    r"(?:\*\*)?(?:\s*\([^)]*\))?\s*(?:[:：—–]|\s-\s|-\s|\Z)\s*(?P<name>.*)\Z",
    re.IGNORECASE,
)
_BULLET = re.compile(
    rf"(?:\[[^\]]\]\s+)?(?P<strike>~~)?\s*(?:[^\w\s~*\[]+\s*)?(?:\*\*)?(?P<inner>~~)?\[?(?:\*\*)?"
    rf"{WORD}{_ID}"
    r"\s*(?:\([^)]*\))?\s*(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_CELL = re.compile(
    rf"(?:\*\*|~~|\[)*(?:{WORD})?{_ID}(?:[.:：)])?\s*(?:[-–—]\s+)?(?P<name>.*)\Z", re.IGNORECASE
)
_TABLE_WORD = re.compile(
    r"(?:phase|фаза|этап|fase|etapa|étape|etap|fáze|阶段|階段|フェーズ|단계)\b"
)
_VERSION = re.compile(r"\bv[0-9]+(?:\.[0-9]+)+\b", re.IGNORECASE)
_CLOSED = re.compile(r"\b(CLOSED|ARCHIVED|ABANDONED|SHIPPED|FAILED)\b|✅|🗄", re.IGNORECASE)
_OPEN = re.compile(r"\b(STARTED|ACTIVE|WIP)\b|in progress|🚧|🔄", re.IGNORECASE)
_COLLAPSED = ("<details", "</details", "<summary")
_NUMBER_TITLES = ("#", "no", "no.", "nr", "nr.")
_DONE_TITLES = ("completed", "date", "completed on", "completion date")
_NAME_TITLES = ("name", "phase name")


class Form(StrEnum):
    """How something is mentioned."""

    HEADING = "heading"
    BULLET = "bullet"
    ROW = "row"
    SUMMARY = "summary"  # of a collapsed block


class Row(NamedTuple):
    """A row of a table about phases."""

    titles: tuple[str, ...]
    cells: tuple[Cell, ...]
    table: Table

    def cell(self, kind: str) -> Cell | None:
        """The cell of the plans, the status, the completed, the name or the milestone column."""
        at = column(self.titles, kind)
        return self.cells[at] if at >= 0 else None


class Mention(NamedTuple):
    """One place that names a phase."""

    form: Form
    id: PhaseId
    name: str
    milestone: str  # version of the milestone it belongs to; empty if none
    line: int  # from 1
    id_start: int  # where the number itself stands
    is_checked: bool | None = None  # None: there is no box
    is_retired: bool = False
    item: Item | None = None
    section: Section | None = None
    row: Row | None = None


class Marker(NamedTuple):
    """One place that names a milestone."""

    form: Form
    version: str
    title: str  # what the place says, without markup
    line: int  # from 1
    is_checked: bool | None = None
    section: Section | None = None

    @property
    def is_open(self) -> bool:
        """It says that the milestone is worked on."""
        return bool(_OPEN.search(self.title)) and not self.is_checked

    @property
    def is_closed(self) -> bool:
        """It says that the milestone is over."""
        return bool(self.is_checked) or (bool(_CLOSED.search(self.title)) and not self.is_open)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A roadmap as its mentions."""

    document: Document
    mentions: tuple[Mention, ...]  # in the order of the text, rows last
    markers: tuple[Marker, ...]
    homes: tuple[str, ...]  # for each line, the version of the milestone around it
    bullets: Mapping[int, Item]  # by the number of their line, from 1


def read_sheet(document: Document) -> Sheet:
    """Find every mention."""
    reader = _Reader(document)
    reader.run()
    return Sheet(
        document,
        tuple(_at_home(reader.mentions, reader.markers, reader.homes)),
        tuple(reader.markers),
        tuple(reader.homes),
        reader.bullets,
    )


@lru_cache(64)
def column(titles: tuple[str, ...], kind: str) -> int:
    """The index of a column by its meaning; -1 if there is none."""
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
    """The titles of a table about phases; none if the table is about something else."""
    titles = tuple(cell.text.strip("*").casefold() for cell in table.header)
    if len(titles) < 2:
        return ()
    is_numbered = titles[0] in _NUMBER_TITLES and bool(_TABLE_WORD.match(titles[1]))
    if not (_TABLE_WORD.match(titles[0]) or is_numbered):
        return ()
    is_known = any(column(titles, kind) >= 0 for kind in ("name", "plans", "status"))
    return titles if is_known else ()


def line_index(lines: tuple[Line, ...], offset: int) -> int:
    """The index of the line that holds an offset."""
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high) // 2
        if lines[middle].next <= offset:
            low = middle + 1
        else:
            high = middle
    return low


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.mentions: list[Mention] = []
        self.markers: list[Marker] = []
        self.homes: list[str] = []
        self.bullets: dict[int, Item] = {}
        self.milestone = ""
        self.level = 0  # of the heading that opened the milestone
        self.around: list[str] = []  # the milestones around the collapsed blocks that are open

    def run(self) -> None:
        lines = self.document.lines
        headings = {section.heading: section for section in self.document.sections}
        ends = [line.next for line in lines]
        self.bullets = {bisect_right(ends, item.start) + 1: item for item in items_of(lines)}
        for at, line in enumerate(lines):
            if line.is_prose:
                if at in headings:
                    self.heading(headings[at], line)
                elif at + 1 in self.bullets:
                    self.bullet(self.bullets[at + 1], at + 1)
                elif "<" in line.text and line.text.lstrip().lower().startswith(_COLLAPSED):
                    self.collapsed(line.text, at + 1)
            self.homes.append(self.milestone)
        for table in tables_of(lines):
            self.table(table, line_index(lines, table.header[0].start))

    def heading(self, section: Section, line: Line) -> None:
        match = _HEADING.match(section.title) if 2 <= section.level <= 5 else None
        if match:
            place = line.start + line.text.find(section.title) + match.start("id")
            self.add(
                Form.HEADING,
                match["id"],
                clean_name(match["name"]),
                section.heading + 1,
                place,
                is_retired=bool(match["strike"]),
                section=section,
            )
            return
        version = _VERSION.search(section.title)
        if version and section.level <= 3:
            self.milestone, self.level = version[0], section.level
            title, number = section.title, section.heading + 1
            self.markers.append(Marker(Form.HEADING, version[0], title, number, section=section))
        elif section.level <= self.level:
            # `## Phases` or `## Progress` after a milestone belongs to all of them.
            self.milestone, self.level = "", 0

    def collapsed(self, text: str, number: int) -> None:
        lowered = text.lower()
        if "<details" in lowered:
            self.around.append(self.milestone)
        if "<summary" in lowered:
            title = re.sub(r"<[^>]*>", "", text).strip()
            version = _VERSION.search(title)
            if version:
                self.milestone = version[0]
                self.markers.append(Marker(Form.SUMMARY, version[0], title, number))
        if "</details" in lowered and self.around:
            self.milestone = self.around.pop()

    def bullet(self, item: Item, number: int) -> None:
        checked = item.is_checked if item.box >= 0 else None
        match = _BULLET.match(item.text)
        if match:
            name = bullet_name(match["rest"])
            place = item.start + match.start("id")
            if name is not None:
                self.add(
                    Form.BULLET,
                    match["id"],
                    name,
                    number,
                    place,
                    is_checked=checked,
                    is_retired=bool(match["strike"] or match["inner"]),
                    item=item,
                )
            return
        version = _VERSION.search(item.text[:80])
        if version and "**" in item.text[: version.start() + 2]:
            title = item.text.replace("*", "")
            self.markers.append(Marker(Form.BULLET, version[0], title, number, checked))

    def table(self, table: Table, at: int) -> None:
        titles = phase_titles(table)
        for offset, cells in enumerate(table.rows) if titles else ():
            match = _CELL.match(cells[0].text) if len(cells) == len(titles) else None
            if not match:
                continue
            row = Row(titles, cells, table)
            named, owner = row.cell("name"), row.cell("milestone")
            version = _VERSION.search(owner.text) if owner else None
            self.milestone = version[0] if version else ""
            self.add(
                Form.ROW,
                match["id"],
                clean_name(named.text if named else match["name"]),
                at + 3 + offset,
                cells[0].start + match.start("id"),
                is_retired=cells[0].text.startswith("~~"),
                row=row,
            )

    def add(
        self,
        form: Form,
        number: str,
        name: str,
        line: int,
        place: int,
        *,
        is_checked: bool | None = None,
        is_retired: bool = False,
        item: Item | None = None,
        section: Section | None = None,
        row: Row | None = None,
    ) -> None:
        try:
            phase = PhaseId.parse(number)
        except MalformedId:
            return
        self.mentions.append(
            Mention(
                form,
                phase,
                name,
                self.milestone,
                line,
                place,
                is_checked,
                is_retired,
                item,
                section,
                row,
            )
        )


def _at_home(
    mentions: list[Mention], markers: list[Marker], homes_of_lines: list[str]
) -> Iterator[Mention]:
    """Each mention under the milestone it belongs to.

    One that stands under none belongs to the milestone that has its phase: if several have that
    number, to the one in which it has the same name, else to the open one, else to the last.
    """
    closed = {marker.version for marker in markers if marker.is_closed}
    homes: dict[PhaseId, dict[str, str]] = {}
    for mention in mentions:
        if mention.milestone:
            named = homes.setdefault(mention.id, {})
            named[mention.milestone] = named.get(mention.milestone) or mention.name.casefold()
    outside_tables = {each.id for each in mentions if each.milestone and each.form is not Form.ROW}
    for mention in mentions:
        named = homes.get(mention.id, {})
        # A phase that only tables list belongs to the milestone its table stands under.
        home = homes_of_lines[mention.line - 1] if mention.form is Form.ROW else ""
        if mention.milestone or not named or (home and mention.id not in outside_tables):
            yield mention._replace(milestone=home) if home and not mention.milestone else mention
            continue
        wanted = mention.name.casefold()
        same = [version for version, name in named.items() if name and name == wanted]
        still_open = [version for version in named if version not in closed]
        chosen = same if len(same) == 1 else still_open if len(still_open) == 1 else [*named]
        yield mention._replace(milestone=chosen[-1])


def own_lines(sheet: Sheet, section: Section) -> Iterator[tuple[int, Line]]:
    """The lines below a heading up to the next one of any level, with their numbers from 1."""
    lines = sheet.document.lines
    for at in range(section.first, section.last):
        line = lines[at]
        if "#" in line.text and line.is_prose:
            text = line.text.lstrip(" ")
            if text.startswith("#") and text.lstrip("#")[:1] in ("", " ", "\t"):
                return
        yield at + 1, line
