"""Last activity, stop and focus: lines of STATE.md that both commands and people write.

A command replaces its own text only. A person's text stays, except where the event is exactly
what the line is for; `displaced_lines` then returns the lost lines so that the caller can archive
them.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.project.derive.position import Position
from fairlead.project.state.digest import is_name_of
from fairlead.project.state.recorded import body_field, phase_in, session_section
from fairlead.text.document import Document
from fairlead.text.fields import Field
from fairlead.text.inline import one_line, plain_text
from fairlead.text.yaml_scalars import is_null

_DATE = r"\d{4}-\d{2}-\d{2}(?:T[0-9:.]+Z)?"
DATED = lazy_pattern(rf"(?P<date>{_DATE})(?:\s+[—–-]{{1,2}}\s+(?P<text>.+))?\Z")
# What commands write after the date: ours, and those of the reference tool.
_STEP = (
    r"Phase \S+ (?:(?:planning|discussion|verification) (?:started|stopped|complete)"
    r"|execution (?:started|resumed)|verification (?:found \d+ gaps?|waits for a person)"
    r"|context gathered|(?:research|patterns) complete|planned — the plans failed their check"
    r"|COMPLETE, verified|complete|marked complete|verified)"
    r"(?:, transitioned to (?:Phase )?\S+| \(wave continue\)| — \d+ plans ready)?"
    r"|Plan \S+ complete|Milestone \S+ (?:started|complete)|Project initiali[sz]ed|Paused|Resumed"
)
_BY_COMMAND = lazy_pattern(rf"(?:Completed|Failed:|Blocked:|Skipped:) .+|{_STEP}")
# Without a free title: nothing shows where a title ends and a person's words begin.
_BARE_STEP = lazy_pattern(rf"Completed (?:quick task |Task )?\S+|{_STEP}")
_PLACE = lazy_pattern(r"(?:Phase \S+|no phase)(?:, plan \S+)?")
_NOT_A_STOP = lazy_pattern(
    r"(?i:\b(?:started|resumed|paused|plans ready))\Z|\A(?:Failed|Blocked): "
)
_PHASE_FORM = lazy_pattern(
    r"(?:Phase )?[0-9][0-9A-Za-z.]*(?: of [0-9]+)?(?: \([^()]*\))?"
    r"(?: — (?:EXECUTING|COMPLETE|READY TO EXECUTE))?\Z|not started.{0,40}\Z|\Z"
    r"|milestone \S+ complete\Z|all phases complete\Z",
    re.IGNORECASE,
)
_PLAN_FORM = lazy_pattern(
    r"[0-9]+ of (?:[0-9]+|\?)(?: in current phase| complete)?\Z"
    r"|not started\Z|all plans complete\Z|[—–-]?\Z|tbd\Z",
    re.IGNORECASE,
)
_LEAD = lazy_pattern(r"Phase\s+\S+\s*(?:[—–:-]+|\()?\s*", re.IGNORECASE)
_LONGEST_NAME = 5  # words of a phase
_NO_FOCUS = ("", "-", "—", "none", "tbd", "roadmap", "not started")
# What commands write when no phase is left.
_FOCUS_AFTER = lazy_pattern(
    r"(?i:planning (?:the )?next milestone|completing milestone \S+|all phases complete)"
)


# --- last activity and stop --------------------------------------------------------------------


def with_activity(
    document: Document, event: str, now: datetime, *, always: bool = False
) -> Document:
    """The document with this event as last activity, unless a person wrote the line.

    With `always`, a person's line is replaced too.
    """
    document = _with_recorded_stop(with_stop(document, event))
    date = now.strftime("%Y-%m-%d")
    field = body_field(document, "Last activity")
    front = document.shown_front
    if field and not always and not is_by_command(field.value):
        is_missing = bool(front) and "last_activity" not in front
        return document.set_front(("last_activity",), date) if is_missing else document
    if field:
        dash = "-" if always else "—"
        document = document.set_field(field, f"{date} {dash} {one_line(event)}")
    if front:
        document = document.set_front(("last_activity",), date, after="last_updated")
    if "last_activity_desc" in front:
        document = document.set_front(("last_activity_desc",), one_line(event))
    return document


def with_stop(document: Document, event: str) -> Document:
    """The document that stopped at this event, if the event ends something."""
    if _NOT_A_STOP.search(event):
        return document
    section = session_section(document)
    field = document.field("Stopped at", section) if section else None
    if field and not _is_stop_by_command(field.value):
        return document
    if field:
        document = document.set_field(field, one_line(event))
    front = document.shown_front
    recorded = front.get("stopped_at")
    if front and (is_null(recorded) or _is_stop_by_command(str(recorded))):
        document = document.set_front(("stopped_at",), one_line(event), after="last_activity")
    return document


def _with_recorded_stop(document: Document) -> Document:
    """The document whose frontmatter repeats the stop of the body, if it lacks one."""
    front, stop = document.shown_front, stop_of(document)
    if not front or "stopped_at" in front or not stop:
        return document
    return document.set_front(("stopped_at",), one_line(stop), after="last_activity")


def stop_of(document: Document) -> str:
    """Where the last session stopped; empty if the document does not say."""
    section = session_section(document)
    field = document.field("Stopped at", section) if section else None
    return field.value if field else str(document.value("stopped_at") or "")


def is_by_command(value: str) -> bool:
    """Whether a last activity is empty, a bare date, or written by a command."""
    if not value.strip():
        return True
    match = DATED.match(value.strip())
    return bool(match and (match["text"] is None or _BY_COMMAND.fullmatch(match["text"].strip())))


def is_bare_stop(value: str) -> bool:
    """Whether a command wrote a stop and no word of it can be a person's."""
    plain = value.strip()
    return bool(_BARE_STEP.fullmatch(plain) or _PLACE.fullmatch(plain))


def displaced_lines(before: Document, after: Document) -> tuple[str, ...]:
    """The lines of the position that a person wrote and that the edit replaced."""
    lines = []
    for label, is_by_us in (
        ("Phase", _PHASE_FORM.match),
        ("Plan", _PLAN_FORM.match),
        ("Last activity", is_by_command),
        ("Core value", _is_placeholder),
        ("Current focus", _is_placeholder),
    ):
        old, new = body_field(before, label), body_field(after, label)
        is_replaced = old is not None and (new is None or new.value != old.value)
        if old and is_replaced and not is_by_us(old.value.strip()):
            lines.append(f"{label}: {old.value}")
    return tuple(lines)


def _is_placeholder(value: str) -> bool:
    return not value or value.startswith(("[", "Phase "))


def is_position_form(value: str) -> bool:
    """Whether a position line has a form that commands write."""
    return bool(_PHASE_FORM.match(value.strip()))


def _is_stop_by_command(value: str) -> bool:
    """Whether an event, or a pause without a note, wrote a stop."""
    plain = value.strip()
    return not plain or bool(_BY_COMMAND.fullmatch(plain) or _PLACE.fullmatch(plain))


# --- what PROJECT.md states --------------------------------------------------------------------

REPEATED = ("Core value", "Current focus")  # lines of STATE.md that PROJECT.md may state


def words_of(project: Document, label: str) -> str:
    """The line of PROJECT.md that STATE.md repeats; empty if it is missing or a placeholder."""
    section = project.section(label.title(), levels=range(1, 7))
    lines = project.section_lines(section, own=True) if section else ()
    first = next((line.text.strip() for line in lines if line.is_prose and line.text.strip()), "")
    field = None if section else project.field(label)
    words = field.value if field else first
    return "" if words.startswith(("[", "{{", "|", "-", "*Last")) else words


def differing_words(
    document: Document, project: Document, position: Position
) -> Iterator[tuple[str, Field, str]]:
    """The lines of STATE.md that differ from PROJECT.md, each with the words of PROJECT.md.

    A focus on a phase is compared with the position instead.
    """
    for label in REPEATED:
        field, value = body_field(document, label), words_of(project, label)
        is_on_phase = field is not None and label == REPEATED[1] and focus_of(field.value, position)
        if field and value and not is_on_phase and plain_text(field.value) not in plain_text(value):
            yield label, field, value


def with_project_words(document: Document, project: Document, position: Position) -> Document:
    """STATE.md with the core value and the focus that PROJECT.md states."""
    found = [*differing_words(document, project, position)]
    for _, field, value in sorted(found, key=lambda each: each[1].start, reverse=True):
        document = document.set_field(field, value)
    return document


# --- focus -------------------------------------------------------------------------------------


def with_focus(document: Document, position: Position) -> Document:
    """The document with the current phase as focus, unless a person wrote another focus."""
    field = document.field("Current focus")
    if field is None or not _is_focus_by_command(field.value, position):
        return document
    return document.set_field(field, focus_line(position))


def with_moved_focus(document: Document, before: Position, after: Position) -> Document:
    """The document with a new focus, if the old one named a phase that was removed or renamed."""
    field = document.field("Current focus")
    if field is None or not _is_focus_by_command(field.value, before):
        return document
    if _is_focus_by_command(field.value, after):
        return document
    return document.set_field(field, focus_line(after))


def focus_line(position: Position) -> str:
    """The focus on the current phase, on the last one until it is verified, or on what follows."""
    scope, ahead = position.scope, position.next
    phase = position.current
    if phase is None and ahead.action == "verify-phase":
        phase = next((each for each in scope.phases if each.id.short == ahead.phase), None)
    if phase is not None:
        return f"Phase {phase.id.short}" + (f" — {phase.name}" if phase.name else "")
    if not scope.phases:
        return "Roadmap"
    if ahead.action == "new-milestone":
        return "Planning the next milestone"
    return f"Completing milestone {scope.milestone}" if scope.milestone else "All phases complete"


def focus_of(value: str, position: Position) -> PhaseId | None:
    """The phase in focus; None if a person wrote more than the phase and its name."""
    return phase_in(value.strip()) if _is_focus_by_command(value, position) else None


def is_last_phase(phase: PhaseId | None, position: Position) -> bool:
    """Whether this is the last phase, which keeps the focus when all is done, or no phase."""
    return phase in (None, *(last.id for last in position.scope.phases[-1:]))


def _is_focus_by_command(value: str, position: Position) -> bool:
    """Whether a focus is empty, or names a phase and nothing but its name."""
    plain = value.strip()
    if (
        plain.casefold() in _NO_FOCUS
        or _FOCUS_AFTER.fullmatch(plain)
        or (plain.startswith("[") and plain.endswith("]"))
    ):
        return True
    number = phase_in(plain) if plain.casefold().startswith("phase ") else None
    if number is None:
        return False
    rest = _LEAD.sub("", plain, count=1).strip(" ()").casefold()
    phase = next((phase for phase in position.scope.phases if phase.id == number), None)
    if phase is None:  # a name that no phase has
        words = rest.replace("-", " ").split()
        return len(words) <= _LONGEST_NAME and all(map(str.isalpha, words))
    return not rest or is_name_of(rest, phase)
