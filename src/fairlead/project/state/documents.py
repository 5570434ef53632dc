"""STATE.md as a document: what it shows, and its lists of decisions, blockers and roadmap changes.

Reading accepts every generation of the format; writing changes one entry. A document with
conflict markers or malformed frontmatter is refused before anything is written.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass
from fairlead.project.errors import NoBlocker, SeveralBlockers
from fairlead.project.state.entries import (
    Titles,
    is_placeholder,
    is_resolved,
    is_row_resolved,
    outermost,
    with_entry,
    without_entry,
)
from fairlead.project.state.fields import BLOCKERS, DECISIONS, ROADMAP_CHANGES
from fairlead.project.state.recorded import body_field, progress_field
from fairlead.text.document import Document, conflict_line
from fairlead.text.inline import one_line, plain_text
from fairlead.text.lists import ListItem, items_of
from fairlead.text.outline import Section
from fairlead.text.tables import append_row, tables_of
from fairlead.text.yaml_scalars import is_null

VERSION = "gsd_state_version"
# Reading is more generous than writing: a section counts if its title contains one of these.
_DECISION_WORDS = ("decision", *DECISIONS)
_BLOCKER_WORDS = ("blocker", "concern", *BLOCKERS)


class Decision(NamedTuple):
    """One decision, as an entry of the list in STATE.md."""

    phase: str
    summary: str
    rationale: str = ""

    @property
    def entry(self) -> str:
        """The text of the entry, without its bullet."""
        why = f" — {one_line(self.rationale, 'the rationale')}" if self.rationale else ""
        return f"[Phase {self.phase}]: {one_line(self.summary, 'the summary')}{why}"


@dataclass(frozen=True, slots=True)
class RoadmapChange:
    """One change of the roadmap, as an entry of the list in STATE.md."""

    note: str
    phase: str = ""
    action: str = "changed"
    after: str = ""
    is_urgent: bool = False

    @property
    def entry(self) -> str:
        """`Phase 4.5 inserted after Phase 4: a note (URGENT)`."""
        note = one_line(self.note, "the note")
        urgent = " (URGENT)" if self.is_urgent else ""
        if not self.phase:
            return f"{note}{urgent}"
        after = f" after Phase {PhaseId.parse(self.after)}" if self.after else ""
        action = one_line(self.action, "the action")
        return f"Phase {PhaseId.parse(self.phase)} {action}{after}: {note}{urgent}"


class ShownState(NamedTuple):
    """What STATE.md says, as text for display; empty where it says nothing."""

    milestone: str
    milestone_name: str
    status: str
    phase: str
    plan: str
    progress: str
    last_activity: str
    decisions: tuple[str, ...]
    blockers: tuple[str, ...]  # the open ones
    resolved: tuple[str, ...]


def read_state(document: Document) -> ShownState:
    """Read STATE.md for display; a body line counts before the frontmatter."""
    bar = progress_field(document)
    blockers = tuple(_shown_entries(document, _BLOCKER_WORDS))
    return ShownState(
        milestone=_front(document, "milestone"),
        milestone_name=_front(document, "milestone_name"),
        status=_body(document, "Status") or _front(document, "status"),
        phase=_body(document, "Phase") or _front(document, "current_phase"),
        plan=_body(document, "Plan") or _front(document, "current_plan"),
        progress=bar.value if bar else "",
        last_activity=_body(document, "Last activity") or _front(document, "last_activity"),
        decisions=tuple(text for text, _ in _shown_entries(document, _DECISION_WORDS)),
        blockers=tuple(text for text, is_done in blockers if not is_done),
        resolved=tuple(text for text, is_done in blockers if is_done),
    )


def stamped(document: Document, now: datetime) -> Document:
    """The document with the time of this write, if it records one or has a schema version."""
    if not document.shown_front.keys() & {"last_updated", VERSION}:
        return document
    return document.set_front(("last_updated",), moment(now))


def moment(now: datetime) -> str:
    """A time in the form that the files use."""
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"


def with_milestone(document: Document, version: str, name: str) -> Document:
    """The document with another current milestone."""
    if document.block is None:
        return document
    document = document.set_front(("milestone",), version, after=VERSION)
    return document.set_front(("milestone_name",), name, after="milestone") if name else document


# --- lists -----------------------------------------------------------------------------------


def add_decision(document: Document, decision: Decision, now: datetime) -> Document:
    """Record a decision, unless the list has the same entry already."""
    return _with_new_entry(document, DECISIONS, decision.entry, now)


def with_key_decision(project: Document, decision: Decision, now: datetime) -> Document:
    """PROJECT.md with a row for a decision, if it has a table of them that lacks it."""
    section = project.section("Key Decisions", levels=range(1, 7))
    tables = tables_of(project.section_lines(section)) if section else ()
    table = next((each for each in tables if each.column("Decision") == 0), None)
    summary = one_line(decision.summary, "the summary")
    if table is None or conflict_line(project.text):
        return project
    if any(row and plain_text(row[0].text) == plain_text(summary) for row in table.rows):
        return project
    known = {
        "decision": summary,
        "rationale": decision.rationale and one_line(decision.rationale, "the rationale"),
        "outcome": "— Pending",
        "phase": decision.phase,
        "date": f"{now:%Y-%m-%d}",
    }
    cells = [known.get(cell.text.casefold(), "") or "—" for cell in table.header]
    return project.replaced(append_row(project.text, table, cells, project.ending))


def add_roadmap_change(document: Document, change: RoadmapChange, now: datetime) -> Document:
    """Record a change of the roadmap, unless the list has the same entry already."""
    return _with_new_entry(document, ROADMAP_CHANGES, change.entry, now)


def add_blocker(document: Document, text: str, now: datetime, *, phase: str = "") -> Document:
    """Record a blocker, with the phase it comes from if one is given."""
    origin = f"[Phase {PhaseId.parse(phase)}]: " if phase else ""
    return _with_new_entry(document, BLOCKERS, origin + one_line(text, "the blocker"), now)


def resolve_blocker(document: Document, text: str, now: datetime) -> Document:
    """Remove the blocker with this text from every list that has it.

    An entry equal to the text counts before one that contains it, and an open entry before one
    that is marked as resolved. If no entry matches, or several different ones do, the call fails.
    """
    document.require_writable()
    text_line = one_line(text, "the text of the blocker")
    lists = blocker_lists(document)
    still_open = tuple(item for item in lists if not is_resolved(document, item))
    matches = (
        _equal(still_open, text_line)
        or _equal(lists, text_line)
        or _containing(still_open, text_line)
        or _containing(lists, text_line)
    )
    if not matches:
        raise NoBlocker(text, tuple(plain_text(item.text) for item in lists))
    if len({plain_text(item.text).casefold() for item in matches}) > 1:
        raise SeveralBlockers(text, tuple(plain_text(item.text) for item in matches))
    for item in reversed(matches):  # from the end, so that earlier offsets stay valid
        document = without_entry(document, lists[item], item)
    return stamped(document, now)


def _with_new_entry(document: Document, titles: Titles, entry: str, now: datetime) -> Document:
    document.require_writable()
    changed = with_entry(document, titles, entry)
    return stamped(changed, now) if changed is not document else document


def blocker_lists(document: Document) -> dict[ListItem, Titles]:
    """Every blocker of the document, with the title of the section that lists it."""
    return {
        item: (section.title,)
        for section, items in _sections_about(document, _BLOCKER_WORDS)
        for item in items
    }


def _shown_entries(document: Document, words: Titles) -> Iterator[tuple[str, bool]]:
    """The entries of all sections about these words, and whether each is resolved.

    Projects keep such lists under many titles, as bullets or as tables, and none may be missed.
    """
    seen: dict[str, set[str]] = {}  # by section title: a repeated section shows an entry once
    for section, items in _sections_about(document, words):
        entries = [(plain_text(item.text), is_resolved(document, item)) for item in items]
        for table in tables_of(document.section_lines(section)):
            rows = ([cell.text for cell in row if cell.text] for row in table.rows)
            entries += [(" — ".join(row), is_row_resolved(row)) for row in rows]
        before = seen.setdefault(section.title.casefold(), set())
        yield from (
            entry for entry in entries if entry[0] not in before and not is_placeholder(entry[0])
        )
        before |= {text for text, _ in entries}


def _sections_about(
    document: Document, words: Titles
) -> Iterator[tuple[Section, tuple[ListItem, ...]]]:
    """The outermost sections whose title contains one of these words, with their entries."""
    covered = 0
    for section in document.sections:
        is_about = any(word.casefold() in section.title.casefold() for word in words)
        if section.level == 1 or not is_about or section.heading < covered:
            continue
        covered = section.last
        items = outermost(items_of(document.section_lines(section)))
        yield section, tuple(item for item in items if not is_placeholder(item.text))


def _equal(items: Iterable[ListItem], text: str) -> tuple[ListItem, ...]:
    folded = plain_text(text).casefold()
    return tuple(item for item in items if plain_text(item.text).casefold() == folded)


def _containing(items: Iterable[ListItem], text: str) -> tuple[ListItem, ...]:
    folded = plain_text(text).casefold()
    return tuple(item for item in items if folded in plain_text(item.text).casefold())


def _front(document: Document, key: str) -> str:
    value = document.value(key)
    return value if isinstance(value, str) and not is_null(value) else ""


def _body(document: Document, label: str) -> str:
    field = body_field(document, label)
    return field.value if field else ""
