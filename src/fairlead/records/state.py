"""STATE.md: the digest of where a project stands.

Reading takes what is there, in every generation of the format; writing changes the one entry
that is meant. A document with a conflict or doubtful frontmatter is not written at all.
"""

from dataclasses import dataclass
from datetime import datetime

from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text
from fairlead.text.lists import Item, items_of
from fairlead.text.outline import Line, Section, insert_after
from fairlead.text.scalars import is_null
from fairlead.text.tables import tables_of

_DECISIONS = ("Decisions", "Decisions Made", "Accumulated Decisions", "Key Decisions")
_CONTEXT = "Accumulated Context"
_PLACEHOLDERS = ("none yet.", "none yet", "no decisions yet.", "no decisions yet", "none.", "none")


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision, as an entry of the list in STATE.md."""

    phase: str
    summary: str
    rationale: str = ""

    @property
    def entry(self) -> str:
        """The entry's text, without its bullet."""
        why = f" — {one_line(self.rationale, 'the rationale')}" if self.rationale else ""
        return f"[Phase {self.phase}]: {one_line(self.summary, 'the summary')}{why}"


@dataclass(frozen=True, slots=True)
class State:
    """What STATE.md says of itself, as text; empty where it says nothing."""

    milestone: str
    milestone_name: str
    status: str
    phase: str
    plan: str
    progress: str
    last_activity: str
    decisions: tuple[str, ...]
    blockers: tuple[str, ...]


def read_state(document: Document) -> State:
    """Read the recorded state for display."""
    position = document.section("Current Position")
    return State(
        milestone=_front(document, "milestone"),
        milestone_name=_front(document, "milestone_name"),
        status=_field(document, "Status", position) or _front(document, "status"),
        phase=_field(document, "Phase", position) or _front(document, "current_phase"),
        plan=_field(document, "Plan", position) or _front(document, "current_plan"),
        progress=_field(document, "Progress", position),
        last_activity=_field(document, "Last activity", position)
        or _front(document, "last_activity"),
        decisions=told_entries(document, "decision"),
        blockers=told_entries(document, "blocker", "concern"),
    )


def add_decision(document: Document, decision: Decision, now: datetime) -> Document:
    """Record a decision; one that stands there word for word already is not added again."""
    document.require_writable()
    entry = decision.entry
    items = _entries(document, *_DECISIONS)
    if any(item.text == entry for item in items):
        return document
    section = document.section(*_DECISIONS)
    if items:
        grown = insert_after(
            document.text, items[-1].last, f"{_bullet(items[-1])}{entry}", document.ending
        )
    elif section:
        grown = _first_entry(document, section, f"- {entry}")
    else:
        grown = _with_section(document, f"- {entry}")
    return stamped(document.replaced(grown), now)


def stamped(document: Document, now: datetime) -> Document:
    """The document with the time of this write, where it keeps one."""
    if "last_updated" not in document.shown_front:
        return document
    moment = now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"
    return document.set_front(("last_updated",), moment)


def told_entries(document: Document, *words: str) -> tuple[str, ...]:
    """Every entry of every section about these words: bullets, and rows of tables.

    Reading is generous where writing is exact: projects keep such lists under many titles, and
    none of their entries may be missed.
    """
    entries: list[str] = []
    covered = 0
    for section in document.sections:
        is_about = any(word in section.title.casefold() for word in words)
        if section.level == 1 or not is_about or section.heading < covered:
            continue
        covered = section.last
        lines = document.section_lines(section)
        entries += [plain_text(item.text) for item in _outermost(items_of(lines))]
        for table in tables_of(lines):
            entries += [" — ".join(filter(None, (cell.text for cell in row))) for row in table.rows]
    return tuple(entry for entry in entries if entry.strip(" *_").casefold() not in _PLACEHOLDERS)


def _outermost(items: tuple[Item, ...]) -> tuple[Item, ...]:
    least = min((item.indent for item in items), default=0)
    return tuple(item for item in items if item.indent == least)


def _entries(document: Document, *titles: str) -> tuple[Item, ...]:
    """The entries of the list in a section, without what is nested below them."""
    section = document.section(*titles)
    if not section:
        return ()
    return _outermost(items_of(document.section_lines(section)))


def _bullet(sibling: Item) -> str:
    mark = sibling.bullet if sibling.bullet in "-*+" else "-"
    return " " * sibling.indent + mark + " "


def _first_entry(document: Document, section: Section, entry: str) -> str:
    """Put the entry in the placeholder's place, or below what the section says so far."""
    lines = document.section_lines(section, own=True)
    for line in lines:
        if line.is_prose and line.text.strip(" *_").casefold() in _PLACEHOLDERS:
            return document.text[: line.start] + entry + document.text[line.end :]
    held = [line for line in lines if line.text.strip()]
    last = held[-1] if held else document.lines[section.heading]
    return _below(document, last, entry)


def _with_section(document: Document, entry: str) -> str:
    """A new section: inside the accumulated context where there is one, else at the end."""
    context = document.section(_CONTEXT)
    if context:
        held = [line for line in document.section_lines(context, own=True) if line.text.strip()]
        last = held[-1] if held else document.lines[context.heading]
        return _below(document, last, "#" * (context.level + 1) + " Decisions", entry)
    held = [line for line in document.lines if line.text.strip()]
    if not held:
        return document.text + document.ending.join(("## Decisions", "", entry, ""))
    return _below(document, held[-1], "## Decisions", entry)


def _below(document: Document, last: Line, *paragraphs: str) -> str:
    """Paragraphs below a line, with one blank line before each and before what follows."""
    text, at = document.text, last.next
    # The ending of the line above: another one could join it to a single CR LF.
    ending = text[last.end : last.next] or document.ending
    broken = "" if last.next > last.end else ending
    added = broken + "".join(ending + paragraph + ending for paragraph in paragraphs)
    following = next((line for line in document.lines if line.start >= at), None)
    if following and following.text.strip():
        added += ending
    return text[:at] + added + text[at:]


def _front(document: Document, key: str) -> str:
    value = document.value(key)
    return value if isinstance(value, str) and not is_null(value) else ""


def _field(document: Document, name: str, section: Section | None) -> str:
    field = document.field(name, section)
    return field.value if field else ""
