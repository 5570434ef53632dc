"""What happened last and what is in focus: lines that commands write, and people too.

A command moves such a line only from one value of a command to another. A value that a person
wrote stays, except where the event itself is what the line is for; then `displaced` tells what
had to go, so that it can be kept elsewhere.
"""

import re
from datetime import datetime

from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Phase
from fairlead.model.standing import Standing
from fairlead.records.digest import is_name_of
from fairlead.records.recorded import phase_in, position_section
from fairlead.text.document import Document
from fairlead.text.fields import Field
from fairlead.text.inline import one_line

_DATE = r"\d{4}-\d{2}-\d{2}(?:T[0-9:.]+Z)?"
DATED = re.compile(rf"(?P<date>{_DATE})(?:\s+[—–-]{{1,2}}\s+(?P<told>.+))?\Z")
# What commands write behind the date, ours and those of the older tools.
_STEP = (
    r"Phase \S+ (?:(?:planning|discussion|verification) (?:started|stopped|complete)"
    r"|execution (?:started|resumed)|verification (?:found \d+ gaps?|waits for a person)"
    r"|context gathered|(?:research|patterns) complete|planned — the plans failed their check"
    r"|COMPLETE, verified|complete|marked complete|verified)"
    r"(?:, transitioned to (?:Phase )?\S+| \(wave continue\)| — \d+ plans ready)?"
    r"|Plan \S+ complete|Milestone \S+ (?:started|complete)|Project initiali[sz]ed|Paused|Resumed"
)
_BY_COMMAND = re.compile(rf"(?:Completed|Failed:|Blocked:|Skipped:) .+|{_STEP}")
# Behind a title nobody could tell where it ends and a person's words begin.
_BARE_STEP = re.compile(rf"Completed (?:quick task |Task )?\S+|{_STEP}")
_PLACE = re.compile(r"(?:Phase \S+|no phase)(?:, plan \S+)?")
# No step is over by that.
_BEGINS = re.compile(r"(?i:\b(?:started|resumed|paused|plans ready))\Z|\A(?:Failed|Blocked): ")
_PHASE_FORM = re.compile(
    r"(?:Phase )?[0-9][0-9A-Za-z.]*(?: of [0-9]+)?(?: \([^()]*\))?"
    r"(?: — (?:EXECUTING|COMPLETE|READY TO EXECUTE))?\Z|not started.{0,40}\Z|\Z"
    r"|milestone \S+ complete\Z|all phases complete\Z",
    re.IGNORECASE,
)
_PLAN_FORM = re.compile(
    r"[0-9]+ of (?:[0-9]+|\?)(?: in current phase| complete)?\Z"
    r"|not started\Z|all plans complete\Z|[—–-]?\Z|tbd\Z",
    re.IGNORECASE,
)
_LEAD = re.compile(r"Phase\s+\S+\s*(?:[—–:-]+|\()?\s*", re.IGNORECASE)
_EMPTY = ("", "-", "—", "none", "tbd", "roadmap", "not started")


def with_activity(
    document: Document, told: str, now: datetime, *, always: bool = False
) -> Document:
    """The document with the last activity, unless a person wrote the one that stands there."""
    document = with_stop(document, told)
    date = now.strftime("%Y-%m-%d")
    field = document_field(document, "Last activity")
    if field and not always and not is_by_command(field.value):
        return document
    if field:
        dash = "-" if always else "—"
        document = document.set_field(field, f"{date} {dash} {one_line(told)}")
    front = document.shown_front
    if "last_activity" in front:
        document = document.set_front(("last_activity",), date)
    if "last_activity_desc" in front:
        document = document.set_front(("last_activity_desc",), one_line(told))
    return document


def with_stop(document: Document, told: str) -> Document:
    """Where the work stopped: the last thing that was completed, unless a person says it better."""
    if _BEGINS.search(told):
        return document
    section = document.section("Session") or document.section("Session Continuity")
    field = document.field("Stopped at", section) if section else None
    if field and not _is_stop(field.value):
        return document
    if field:
        document = document.set_field(field, one_line(told))
    held = document.shown_front.get("stopped_at")
    if isinstance(held, str) and _is_stop(held):
        document = document.set_front(("stopped_at",), one_line(told))
    return document


def _is_stop(value: str) -> bool:
    """Whether an event or a pause without a note wrote it."""
    plain = value.strip()
    return not plain or bool(_BY_COMMAND.fullmatch(plain) or _PLACE.fullmatch(plain))


def is_bare_stop(value: str) -> bool:
    """Whether a command wrote it and no word in it can be a person's."""
    plain = value.strip()
    return bool(_BARE_STEP.fullmatch(plain) or _PLACE.fullmatch(plain))


def displaced(before: Document, after: Document) -> tuple[str, ...]:
    """The lines of the position that a person wrote and that are not there any more."""
    lost = []
    for name, is_plain in (
        ("Phase", _PHASE_FORM.match),
        ("Plan", _PLAN_FORM.match),
        ("Last activity", is_by_command),
    ):
        old, new = document_field(before, name), document_field(after, name)
        # The same words in another line do not keep this one.
        is_gone = old is not None and (new is None or new.value != old.value)
        if old and is_gone and not is_plain(old.value.strip()):
            lost.append(f"{name}: {old.value}")
    return tuple(lost)


def is_by_command(value: str) -> bool:
    """Whether a last activity is a bare date, or one that a command wrote."""
    if not value.strip():
        return True
    match = DATED.match(value.strip())
    return bool(match and (match["told"] is None or _BY_COMMAND.fullmatch(match["told"].strip())))


def with_focus(document: Document, standing: Standing) -> Document:
    """The document with the current phase in focus, unless a person wrote something else."""
    field = document.field("Current focus")
    if field is None or not _is_focus(field.value, standing):
        return document
    if standing.current is None and is_last(focus_of(field.value, standing), standing):
        return document
    return document.set_field(field, focus_line(standing.current))


def with_moved_focus(document: Document, before: Standing, after: Standing) -> Document:
    """The document with another focus, if it has a phase in focus that was there before."""
    field = document.field("Current focus")
    if field is None or not _is_focus(field.value, before) or _is_focus(field.value, after):
        return document
    return document.set_field(field, focus_line(after.current))


def document_field(document: Document, name: str) -> Field | None:
    """A field of the position, or where there is none in it, of the body."""
    position = position_section(document)
    return (document.field(name, position) if position else None) or document.field(name)


def focus_line(phase: Phase | None) -> str:
    """A phase in focus; the roadmap, where no phase is left."""
    if phase is None:
        return "Roadmap"
    return f"Phase {phase.id.short}" + (f" — {phase.name}" if phase.name else "")


def focus_of(value: str, standing: Standing) -> PhaseId | None:
    """The phase that is in focus, if no person says more of it than its name."""
    return phase_in(value.strip()) if _is_focus(value, standing) else None


def is_last(named: PhaseId | None, standing: Standing) -> bool:
    """Whether it is the last phase, which keeps the focus when all is done; or none at all."""
    return named in (None, *(each.id for each in standing.scope.phases[-1:]))


def is_position_form(value: str) -> bool:
    """Whether a position is in a form that commands write."""
    return bool(_PHASE_FORM.match(value.strip()))


def _is_focus(value: str, standing: Standing) -> bool:
    """Whether it names a phase and says nothing more than that phase's own name."""
    plain = value.strip()
    if plain.casefold() in _EMPTY or (plain.startswith("[") and plain.endswith("]")):
        return True
    named = phase_in(plain) if plain.casefold().startswith("phase ") else None
    if named is None:
        return False
    rest = _LEAD.sub("", plain, count=1).strip(" ()").casefold()
    phase = next((each for each in standing.scope.phases if each.id == named), None)
    return not rest or bool(phase and is_name_of(rest, phase))
