"""Lines that name a milestone: its version, its phases, its state and its date.

Such a line is a heading, a bullet or the summary of a collapsed block in ROADMAP.md, or a heading
of MILESTONES.md. A version may lack the `v` if the line gives the range of its phases; a name may
be a word with hyphens, or the word for a milestone with a number.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from fairlead.core.errors import MalformedId
from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.project.roadmap.model import Milestone, PhaseRange, RoadmapMark
from fairlead.project.roadmap.row_status import says_done
from fairlead.text.document import Document
from fairlead.text.inline import plain_text
from fairlead.text.outline import Section
from fairlead.text.tables import Cell, Table

VERSION = lazy_pattern(r"\bv[0-9]+(?:\.[0-9]+)+\b", re.IGNORECASE)
_BARE_VERSION = lazy_pattern(r"(?<![\w.])[0-9]+(?:\.[0-9]+)+\b")
_WHOLE_VERSION = lazy_pattern(r"\bv[0-9]+\b", re.IGNORECASE)  # after the word, or beside a range
_WORD = r"(?:Milestone|里程碑|マイルストーン|마일스톤|Meilenstein|Hito|Marco|Jalon)"
_NUMBERED = lazy_pattern(rf"{_WORD}\s*[0-9]+\b", re.IGNORECASE)
_VERSIONED = lazy_pattern(rf"{_WORD}\s*(?P<name>v[0-9]+)\b", re.IGNORECASE)
_SLUG = lazy_pattern(r"[^\w]*(?P<name>[a-z0-9]+(?:-[a-z0-9]+)+)(?=[\s*:—–]|\Z)")
_CLOSED = lazy_pattern(r"\b(?:CLOSED|ARCHIVED|ABANDONED|SHIPPED|FAILED)\b|✅|🗄", re.IGNORECASE)
_DONE = lazy_pattern(r"\W*(?:completed?|done)\b", re.IGNORECASE)  # before the name
_OPEN = lazy_pattern(
    r"\b(?:STARTED|ACTIVE|WIP)\b|in progress|in flight|\(current\)|🚧|🔄", re.IGNORECASE
)
_CURRENT = lazy_pattern(r"\W*(?:current|active)(?: milestone)?\s*[:—–]", re.IGNORECASE)
_PLANNED = lazy_pattern(r"\b(?:PLANNED|PLANNING|NOT STARTED|UPCOMING)\b|📋|🔜|⏳", re.IGNORECASE)
_PARKED = lazy_pattern(r"\b(?:PARKED|ON HOLD|DEFERRED(?! to))\b|⏸", re.IGNORECASE)
_LINK_TARGET = lazy_pattern(r"\]\([^)]*\)|`[^`]*`")
_BRACKETED = lazy_pattern(r"\(([^()]*)\)")
_LONGEST_STATUS = 30
_DATE = lazy_pattern(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
_NUMBER = r"[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*"
_SPAN = rf"{_NUMBER}(?:\s*[-–—]\s*{_NUMBER})?"
# In "Phases 5-8, 16 plans" a noun follows the 16, so that it is a count; a state may follow a phase.
_STATE = r"(?i:and|in|on|not|shipped|complete|done|closed|planned|started|active|archived|parked)"
_COUNTED_NOUN = rf"(?!\s+(?!{_STATE})[^\W\d_])"
_SPANS = rf"{_SPAN}(?:\s*(?:[,+/&]|,?\s(?i:and)\s)\s*(?>{_SPAN}){_COUNTED_NOUN})*"
_RANGE = lazy_pattern(
    rf"(?:\b(?:Phases?|Фазы?|Fases?|Etapas?|Étapes?|Phasen)\s+|(?:阶段|階段|フェーズ|단계)\s*)(?P<spans>{_SPANS})",
    re.IGNORECASE,
)
_COUNTED_RANGE = lazy_pattern(rf"\bphases?\s+\((?P<spans>{_SPANS})\)", re.IGNORECASE)
_BARE_RANGE = lazy_pattern(rf"\s*{_SPANS}\s*\Z")
_TAIL = lazy_pattern(
    r"\s*\((?:Shipped|Phases?|In Progress|completed|current|active)[^)]*\).*\Z", re.IGNORECASE
)
_COUNT = lazy_pattern(r"\b([0-9]{1,4}) phases\b", re.IGNORECASE)
_TABLE_NAMES = ("milestone", "version", "release")
_TABLE_FACTS = ("phases", "status")
_TABLE_DATES = ("shipped", "date", "completed")
_LONGEST_NAME = 40
_STATUS_LINE = lazy_pattern(r"\s*\*\*(?:Status|Phases|Phases completed):?\*\*:?\s*(?P<value>.+)")


class EntryForm(StrEnum):
    """The way an entry is written."""

    HEADING = "heading"
    BULLET = "bullet"
    ROW = "row"
    SUMMARY = "summary"  # of a collapsed block
    LISTED = "listed"  # a row of a table of milestones


class MilestoneEntry(NamedTuple):
    """One place in the roadmap that names a milestone."""

    form: EntryForm
    version: str
    title: str  # without markup
    line: int  # from 1
    is_checked: bool | None = None
    section: Section | None = None
    status: Cell | None = None  # its cells in a table of milestones
    date: Cell | None = None

    @property
    def is_in_list(self) -> bool:
        """Whether it is part of a list of milestones."""
        return self.form in (EntryForm.BULLET, EntryForm.LISTED)

    @property
    def is_open(self) -> bool:
        """Whether the entry marks the milestone as in progress."""
        is_current = _CURRENT.match(self.title) and not _CLOSED.search(self.title)
        return bool(_OPEN.search(self.title) or is_current) and not self.is_checked

    @property
    def is_closed(self) -> bool:
        """Whether the entry marks the milestone as finished."""
        is_closed = bool(_CLOSED.search(self.title) or _DONE.match(self.title))
        is_closed = is_closed and not self.is_open
        return bool(self.is_checked) or (is_closed and not self._is_put_aside)

    @property
    def is_parked(self) -> bool:
        """Whether the entry marks the milestone as put aside."""
        return self._is_put_aside and not self.is_checked

    @property
    def _is_put_aside(self) -> bool:
        """Whether a word for a pause comes before any word for an end."""
        parked, closed = _PARKED.search(self._status), _CLOSED.search(self._status)
        return parked is not None and (closed is None or parked.start() < closed.start())

    @property
    def _status(self) -> str:
        """The parts beside the name: leading signs, the start of a bracket, a short ending."""
        title = _LINK_TARGET.sub("]", self.title)
        lead = re.match(r"[\W_]*", title)
        ending = re.split(r"\s[—–-]\s", title)[1:][-1:]  # a name alone is no status
        parts = [
            lead[0] if lead else "",
            *(each for each in ending if len(each) <= _LONGEST_STATUS),
        ]
        parts += [each[:_LONGEST_STATUS] for each in _BRACKETED.findall(title)]
        if self.version not in self.title:
            parts.append(title[:_LONGEST_STATUS])  # a line that states nothing but the status
        return " ".join(parts)

    @property
    def unfinished_mark(self) -> str:
        """`planned` or `in progress` if the entry says so beside the name of the milestone."""
        status = self._status
        if self.is_checked or _CLOSED.search(status) or _PARKED.search(status):
            return ""
        if _PLANNED.search(status):
            return "planned"
        return "in progress" if _OPEN.search(status) else ""


def name_in(title: str) -> str:
    """The name of the milestone that a line names; empty if it names none."""
    version = VERSION.search(title)
    if version:
        return version[0]
    label = _without_signs(title)
    numbered, versioned = _NUMBERED.match(label), _VERSIONED.match(label)
    if numbered or versioned:
        return versioned["name"] if versioned else numbered[0] if numbered else ""
    spans = _RANGE.search(title)
    if not spans:
        return ""
    whole = _WHOLE_VERSION.search(title)
    if whole:
        return whole[0]
    bare = _BARE_VERSION.search(title[: spans.start()] + title[spans.end() :])
    if bare:
        return bare[0]
    slug = _SLUG.match(title)
    return slug["name"] if slug else ""


def listed_name(title: str) -> str:
    """The name at the start of an entry in a list of milestones, where any form is a name."""
    text = _without_signs(title)
    match = _BARE_VERSION.match(text) or _SLUG.match(text)
    return match[0].strip("*: —–") if match else ""


def _without_signs(title: str) -> str:
    """The title without the signs and emoji before its first word."""
    return re.sub(r"\A[\W_]+", "", title)


def milestone_rows(table: Table) -> Iterator[tuple[int, MilestoneEntry]]:
    """The entries of a table of milestones, each with the number of its row from 0."""
    titles = [cell.text.strip("* ").casefold() for cell in table.header]
    at = {title: titles.index(title) for title in (*_TABLE_FACTS, *_TABLE_DATES) if title in titles}
    if not titles or titles[0] not in _TABLE_NAMES or not any(each in at for each in _TABLE_FACTS):
        return
    for number, row in enumerate(table.rows):
        if len(row) != len(titles):
            continue
        cells = {title: row[index] for title, index in at.items()}
        date = next((cells[title] for title in _TABLE_DATES if title in cells), None)
        ranges = cells["phases"].text if "phases" in cells else ""
        spans = f" — Phases {ranges}" if bare_ranges(ranges) else ""
        label = plain_text(_LINK_TARGET.sub("]", row[0].text).replace("[", "").replace("]", ""))
        name = name_in(f"{label}{spans}") or (
            label if spans and len(label) <= _LONGEST_NAME else ""
        )
        status = cells.get("status")
        words = status.text if status else ""
        day = _DATE.search(cells["shipped"].text) if "shipped" in cells else None
        if says_done(words) or (day and not words):
            words = f"shipped {date.text if date else ''}"
        if name:
            title = f"{label}{spans} ({words})"
            entry = MilestoneEntry(EntryForm.LISTED, name, title, 0, status=status, date=date)
            yield number, entry


def ranges_in(text: str) -> tuple[PhaseRange, ...]:
    """The phases that a line gives: `Phases 29-33, 36-40`."""
    match = _RANGE.search(text) or _COUNTED_RANGE.search(text)
    return _ranges(match["spans"]) if match else ()


def bare_ranges(text: str) -> tuple[PhaseRange, ...]:
    """The phases of a table cell that holds nothing else: `87-95`."""
    return _ranges(text) if _BARE_RANGE.match(text) else ()


def _ranges(spans: str) -> tuple[PhaseRange, ...]:
    ranges = []
    for span in re.findall(_SPAN, spans):
        numbers = [_id(number) for number in re.findall(_NUMBER, span)]
        first, last = numbers[0], numbers[-1]
        if first and last and first <= last:
            ranges.append(PhaseRange(first, last))
    return tuple(ranges)


def _id(text: str) -> PhaseId | None:
    try:
        return PhaseId.parse(text)
    except MalformedId:
        return None


def combined(entries: tuple[MilestoneEntry, ...]) -> tuple[Milestone, ...]:
    """The milestones, each from all places that name it, in the order of the list they are in."""
    places: dict[str, list[MilestoneEntry]] = {}
    for entry in entries:
        places.setdefault(key_of(entry.version), []).append(entry)
    # A list of milestones is kept up to date; a heading may be older.
    for found in places.values():
        found.sort(key=lambda each: (not each.is_in_list, each.line))
    return tuple(
        _milestone(each) for each in sorted(places.values(), key=lambda each: each[0].line)
    )


@lru_cache(4096)
def key_of(name: str) -> str:
    """The name without differences that do not matter: `v1.10` and `1.10` are one milestone."""
    name = name.casefold()
    return name[1:] if VERSION.match(name) else name


def _milestone(entries: list[MilestoneEntry]) -> Milestone:
    first = entries[0]
    is_closed = any(each.is_closed for each in entries)
    dates = [match[0] for each in entries if (match := _DATE.search(each.title)) and is_closed]
    # The ranges of the list come first; a later heading may be older than the list.
    ranges = next((found for each in entries if (found := ranges_in(each.title))), ())
    return Milestone(
        version=first.version,
        name=next((name for each in entries if (name := milestone_name(each))), ""),
        is_closed=is_closed,
        is_marked_open=any(each.is_open for each in entries),
        line=first.line,
        ranges=ranges,
        is_parked=any(each.is_parked for each in entries),
        shipped=dates[0] if dates else "",
        is_in_list=first.is_in_list,
        phase_count=next(
            (int(count[1]) for each in entries if (count := _COUNT.search(each.title))), 0
        ),
        marks=tuple(
            RoadmapMark(each.line, mark) for each in entries if (mark := each.unfinished_mark)
        ),
    )


def milestone_name(entry: MilestoneEntry) -> str:
    """The name of a milestone without its version, phases and status."""
    name = entry.title.partition(entry.version)[2].strip(" —–:-*|")
    spans = _RANGE.match(name)
    name = _TAIL.sub("", name[spans.end() :] if spans else name)
    return plain_text(name.split(" — ")[0].split(" - ")[0].strip(" ✅📋🚧🔄"))


def read_shipped(document: Document) -> tuple[Milestone, ...]:
    """The milestones of MILESTONES.md, with the phases that it gives them."""
    entries = tuple(_shipped_entries(document))
    return combined(entries)


def _shipped_entries(document: Document) -> Iterator[MilestoneEntry]:
    for section in document.sections:
        match = VERSION.search(section.title) or _BARE_VERSION.match(section.title.lstrip("✅ "))
        slug = _SLUG.match(section.title) if not match and _CLOSED.search(section.title) else None
        name = match[0] if match else slug["name"] if slug else ""
        if section.level != 2 or not name:
            continue
        title = section.title
        yield MilestoneEntry(EntryForm.HEADING, name, title, section.heading + 1, section=section)
        for at in range(section.first, min(section.first + 12, section.last)):
            line = document.lines[at]
            status = _STATUS_LINE.match(line.text) if line.is_prose else None
            if status:
                value = status["value"]
                label = "Phases " if bare_ranges(value) else ""
                yield MilestoneEntry(EntryForm.BULLET, name, f"{label}{value}", at + 1)
