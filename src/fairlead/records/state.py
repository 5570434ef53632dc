"""STATE.md: the digest of where a project stands.

Reading takes what is there, in every generation of the format; writing changes the one entry
that is meant. A document with a conflict or doubtful frontmatter is not written at all.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from fairlead.records.entries import (
    BLOCKER_WORDS,
    DECISION_WORDS,
    DECISIONS_ABROAD,
    Listing,
    is_placeholder,
    is_resolved,
    is_row_resolved,
    outermost,
    with_entry,
)
from fairlead.records.recorded import position_section, progress_field
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text
from fairlead.text.lists import Item, items_of
from fairlead.text.outline import Section
from fairlead.text.scalars import is_null
from fairlead.text.tables import tables_of

DECISIONS = Listing(
    ("Decisions", "Decisions Made", "Accumulated Decisions", "Key Decisions", *DECISIONS_ABROAD),
    "Decisions",
)

VERSION = "gsd_state_version"


class Decision(NamedTuple):
    """One decision, as an entry of the list in STATE.md."""

    phase: str
    summary: str
    rationale: str = ""

    @property
    def entry(self) -> str:
        """The entry's text, without its bullet."""
        why = f" — {one_line(self.rationale, 'the rationale')}" if self.rationale else ""
        return f"[Phase {self.phase}]: {one_line(self.summary, 'the summary')}{why}"


class State(NamedTuple):
    """What STATE.md says of itself, as text; empty where it says nothing."""

    milestone: str
    milestone_name: str
    status: str
    phase: str
    plan: str
    progress: str
    last_activity: str
    decisions: tuple[str, ...]
    blockers: tuple[str, ...]  # those that are still open
    resolved: tuple[str, ...]


def read_state(document: Document) -> State:
    """Read the recorded state for display."""
    position = position_section(document)
    bar = progress_field(document)
    blockers = tuple(_told(document, *BLOCKER_WORDS))
    return State(
        milestone=_front(document, "milestone"),
        milestone_name=_front(document, "milestone_name"),
        status=_field(document, "Status", position) or _front(document, "status"),
        phase=_field(document, "Phase", position) or _front(document, "current_phase"),
        plan=_field(document, "Plan", position) or _front(document, "current_plan"),
        progress=bar.value if bar else "",
        last_activity=_field(document, "Last activity", position)
        or _front(document, "last_activity"),
        decisions=tuple(text for text, _ in _told(document, *DECISION_WORDS)),
        blockers=tuple(text for text, is_done in blockers if not is_done),
        resolved=tuple(text for text, is_done in blockers if is_done),
    )


def add_decision(document: Document, decision: Decision, now: datetime) -> Document:
    """Record a decision; one that stands there word for word already is not added again."""
    document.require_writable()
    changed = with_entry(document, DECISIONS, decision.entry)
    return stamped(changed, now) if changed is not document else document


def stamped(document: Document, now: datetime) -> Document:
    """The document with the time of this write, where it keeps one or has the schema's version."""
    if not document.shown_front.keys() & {"last_updated", VERSION}:
        return document
    return document.set_front(("last_updated",), moment(now))


def moment(now: datetime) -> str:
    """A time as the files write it."""
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"


def _told(document: Document, *words: str) -> Iterator[tuple[str, bool]]:
    """Every entry of every section about these words, bullets and rows, and whether it is resolved.

    Reading is generous where writing is exact: projects keep such lists under many titles, and
    none of their entries may be missed.
    """
    told: dict[str, set[str]] = {}  # by the title of their section
    for section, items in told_items(document, *words):
        found = [(plain_text(item.text), is_resolved(document, item)) for item in items]
        for table in tables_of(document.section_lines(section)):
            rows = ([cell.text for cell in row if cell.text] for row in table.rows)
            found += [(" — ".join(row), is_row_resolved(row)) for row in rows]
        # A section that stands there twice tells of one thing once.
        known = told.setdefault(section.title.casefold(), set())
        yield from (each for each in found if each[0] not in known and not is_placeholder(each[0]))
        known |= {text for text, _ in found}


def told_items(document: Document, *words: str) -> Iterator[tuple[Section, tuple[Item, ...]]]:
    """Every section about these words that is in no other, with its entries."""
    covered = 0
    for section in document.sections:
        is_about = any(word.casefold() in section.title.casefold() for word in words)
        if section.level == 1 or not is_about or section.heading < covered:
            continue
        covered = section.last
        items = outermost(items_of(document.section_lines(section)))
        yield section, tuple(item for item in items if not is_placeholder(item.text))


def _front(document: Document, key: str) -> str:
    value = document.value(key)
    return value if isinstance(value, str) and not is_null(value) else ""


def _field(document: Document, name: str, section: Section | None) -> str:
    field = document.field(name, section)
    return field.value if field else ""


def with_milestone(document: Document, version: str, name: str) -> Document:
    """The document with the milestone that is worked on; every other key stays."""
    if document.block is None:
        return document
    document = document.set_front(("milestone",), version, after=VERSION)
    return document.set_front(("milestone_name",), name, after="milestone") if name else document
