"""The fields of STATE.md that the files contradict, and the texts that would be right.

There is one answer for every caller: `check` shows it, `doctor` writes the part a person chose,
`state sync` writes all of it. A person's text stays unless it places the work in a phase that is
finished or does not exist. Other words for the same thing stay, and so does text that may be true
while somebody is working.
"""

import re

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.project.derive.inventory import Phase, Stage
from fairlead.project.derive.position import Position, position_at
from fairlead.project.state.activity import focus_line, focus_of, is_last_phase, is_position_form
from fairlead.project.state.digest import (
    FieldTexts,
    active_phase,
    awaiting_verification,
    is_paused,
    is_replaceable_status,
    live_plans_of,
    may_be_active,
    next_step_fields,
    plan_fields,
    position_fields,
    recorded_phase_id,
    unproven_plans,
)
from fairlead.project.state.documents import VERSION
from fairlead.project.state.recorded import body_field, phase_in
from fairlead.project.status_words import (
    Status,
    is_default,
    leading_stage,
    normalise,
    says_all_done,
)
from fairlead.text.document import Document
from fairlead.text.yaml_scalars import is_null

_NAMED_PHASE = lazy_pattern(r"phase\s+([0-9]\S*)", re.IGNORECASE)
_BEFORE_EXECUTION = (Status.DISCUSSING, Status.PLANNING, Status.PAUSED)
_AT_WORK = {Status.DISCUSSING, Status.PLANNING, Status.EXECUTING, Status.VERIFYING}
_STARTED = (Stage.PLANNED, Stage.PARTIAL)
_FINISHED = (Stage.COMPLETE, Stage.VERIFIED)


def contradicted_fields(document: Document, position: Position) -> FieldTexts:
    """Every field whose text cannot be true, with the text that is."""
    texts = _right_texts(document, position, _active_phase(document, position))
    return {
        name: value
        for name, value in texts.items()
        if recorded_text(document, name) not in (None, display_text(value))
    }


def placing_field(document: Document, position: Position) -> str:
    """The field that says where the work is, if the files alone would place it elsewhere.

    Other fields that name another phase contradict this one, and not the files.
    """
    active = _active_phase(document, position)
    here = _phase_in_progress(document, position, active)
    if here is None or here == position.current:
        return ""
    if here.id == active:
        return "active_phase"
    labels = (label for label in ("Phase", "Current Phase") if body_field(document, label))
    return next(labels, "current_phase")


def _active_phase(document: Document, position: Position) -> PhaseId | None:
    """The recorded active phase, if work can be there."""
    active, status = active_phase(document), str(document.value("status"))
    if active is None or not may_be_active(active, status, position):
        return None
    # If the status must change, it can no longer justify the active phase.
    right = str(_right_texts(document, position, active).get("status", status))
    return active if may_be_active(active, right, position) else None


def recorded_text(document: Document, name: str) -> str | None:
    """The text of a key (lower case) or a body label; None if the document has no such field."""
    if name.islower():
        front = document.shown_front
        # With the version of its schema a document says that it has a status.
        is_required = name == "status" and VERSION in front
        return display_text(front.get(name)) if name in front or is_required else None
    field = body_field(document, name)
    return field.value if field else None


def display_text(value: object) -> str:
    """A frontmatter value as one text: lists joined by commas, `null` for nothing."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "null"
    return "null" if is_null(value) else str(value)


def _right_texts(document: Document, position: Position, active: PhaseId | None) -> FieldTexts:
    here = position_at(position, _phase_in_progress(document, position, active))
    texts = _position(document, here, position)
    texts |= _status(document, position if position.is_over else here, active)
    status = str(texts.get("status", document.value("status")))
    texts |= _focus(document, here, status, has_line="Phase" in texts)
    if active is None:
        texts |= _next_step(document, position)
    return texts


# --- the phase in progress ---------------------------------------------------------------------


def _phase_in_progress(
    document: Document, position: Position, active: PhaseId | None
) -> Phase | None:
    """The recorded phase, if work can be there; otherwise the one that the files give."""
    phases = position.scope.phases
    in_front = phase_in(str(document.value("current_phase")))
    for recorded in (active, recorded_phase_id(document), in_front):
        for phase in [each for each in phases if each.id == recorded]:
            # The last phase of a finished milestone is a valid position.
            is_end = position.is_over and phase is phases[-1]
            is_open = not phase.is_complete(position.policy)
            is_plausible = recorded == active or _may_have_work(document, position, phase)
            is_end = is_end or (active is None and _is_executed(document, position, phase))
            if is_end or (is_open and is_plausible):
                return phase
        if recorded is not None and recorded != active:
            break
    return position.current


def _is_executed(document: Document, position: Position, phase: Phase) -> bool:
    """Whether a phase that is recorded as in execution only waits for its verification.

    The position stays there: the lines beside it are about the same phase.
    """
    line = recorded_text(document, "Phase") or ""
    is_next = position.next.action == "verify-phase" and position.next.phase == phase.id.short
    return is_next and line.endswith("EXECUTING")


def _may_have_work(document: Document, position: Position, phase: Phase) -> bool:
    """Whether work may be in an open phase, even out of order."""
    folder = phase.folder
    if folder and (folder.plans or folder.orphans or folder.has_context or folder.has_research):
        return True
    before = [earlier for earlier in position.scope.phases if earlier.id < phase.id]
    if not any(earlier.stage in _STARTED for earlier in before):
        return True
    # A finished predecessor means the work moved on from there, whatever is open further up.
    return before[-1].stage in _FINISHED or _has_unrecorded_work(document)


def _has_unrecorded_work(document: Document) -> bool:
    """Whether the body status suggests work that has left no file and no `active_phase` yet."""
    status = recorded_text(document, "Status") or ""
    is_settled = is_default(status) and normalise(status) not in _BEFORE_EXECUTION
    is_waiting = is_settled or "ready" in status.casefold()
    return "active_phase" not in document.shown_front and not is_waiting


# --- one group of fields each ------------------------------------------------------------------


def _position(document: Document, here: Position, position: Position) -> FieldTexts:
    line, plan = recorded_text(document, "Phase") or "", recorded_text(document, "Plan") or ""
    texts, plans = position_fields(document, here), plan_fields(document, here)
    if not line or _may_stay(line, position):
        texts = {name: text for name, text in texts.items() if name not in ("Phase", "Plan")}
        if line and unproven_plans(plan, live_plans_of(here)):
            del plans["Plan"]  # nothing says which phase it is about
    return plans | texts


def _may_stay(line: str, position: Position) -> bool:
    """Whether a position line that names no phase of the project may stay as it is."""
    is_named = phase_in(line) is not None
    if position.scope.phases and (is_named or (says_all_done(line) and not position.is_over)):
        return False
    if not is_position_form(line):
        return True
    if position.scope.phases:
        return position.is_complete and normalise(line) is Status.COMPLETED
    says_completed = normalise(line) is Status.COMPLETED
    return not is_named and (not says_completed or position.scope.milestone in line)


def _status(document: Document, position: Position, active: PhaseId | None) -> FieldTexts:
    """Body and frontmatter are judged apart: a person's line must not keep the other one stale."""
    body = recorded_text(document, "Status") or ""
    front = recorded_text(document, "status") or "null"
    is_own_words = bool(body) and not is_default(body)
    is_missing = front == "null" and VERSION in document.shown_front
    is_ours = is_missing or (front != "null" and is_replaceable_status(front))
    texts: FieldTexts = {}
    if is_paused(document) or leading_stage(body) is Status.PAUSED:
        if is_ours and normalise(front) is not Status.PAUSED:
            texts["status"] = str(Status.PAUSED)
        if body and not is_own_words and normalise(body) is not Status.PAUSED:
            texts["Status"] = "Paused"
        return texts
    if normalise(body) is Status.PAUSED:
        return texts
    right = awaiting_verification(position)
    if body and not is_own_words and not _may_be_true(body, position, active):
        texts["Status"] = right.words
    repeats_body = is_own_words and not position.is_over and normalise(body) is normalise(front)
    if is_missing:
        return texts | {"status": str(leading_stage(body) or right.status)}
    if repeats_body and normalise(body) not in (Status.COMPLETED, Status.UNKNOWN):
        return texts
    if is_ours and (texts or not _may_be_true(front, position, active)):
        texts["status"] = str(right.status)
    stage = leading_stage(body)
    is_known = normalise(front) not in (Status.UNKNOWN, Status.PAUSED)
    if is_own_words or not (is_ours and is_known):
        return texts
    if not texts and stage not in (None, normalise(front)):
        texts["status"] = str(stage)
    return texts


def _may_be_true(text: str, position: Position, active: PhaseId | None) -> bool:
    """Whether a status agrees with the files, or with work that has left no file yet."""
    status = Status.COMPLETED if says_all_done(text) else normalise(text)
    match = _NAMED_PHASE.search(text)
    named = phase_in(match[1]) if match else None
    if named is not None and status is Status.COMPLETED:
        return any(
            phase.id == named and phase.is_complete(position.policy)
            for phase in position.scope.phases
        )
    if named is not None and not may_be_active(named, text, position):
        return False
    if not position.scope.phases:
        return status not in (Status.EXECUTING, Status.VERIFYING)
    if status is Status.UNKNOWN:
        return text.casefold() == "active" and not position.is_over
    possible = {position.status, awaiting_verification(position).status}
    if position.next.action == "verify-phase":
        possible.add(Status.VERIFYING)
    # Plans without a summary may still be in preparation.
    if position.words == "Ready to execute" and "ready" not in text.casefold():
        possible.add(Status.PLANNING)
    if Status.PLANNING in possible:
        possible.add(Status.DISCUSSING)
    return status in (possible | _AT_WORK if active else possible)


def _focus(document: Document, here: Position, status: str, *, has_line: bool) -> FieldTexts:
    """A new focus, if the recorded one is finished, missing, or not where the position line is."""
    named = focus_of(recorded_text(document, "Current focus") or "", here)
    at = here.current.id if here.current else None
    if named is None or named == at:
        return {}
    if at is not None and has_line:
        return {"Current focus": focus_line(here)}
    if (here.is_over and is_last_phase(named, here)) or may_be_active(named, status, here):
        return {}
    return {"Current focus": focus_line(here)}


def _next_step(document: Document, position: Position) -> FieldTexts:
    return {
        name: value
        for name, value in next_step_fields(position).items()
        if not _is_same(document.shown_front.get(name), value)
    }


def _is_same(recorded: object, value: str | list[str] | None) -> bool:
    """Whether both mean the same; `03` and `3` are one phase."""
    if isinstance(recorded, list) and isinstance(value, list):
        return [phase_in(str(phase)) for phase in recorded] == [phase_in(phase) for phase in value]
    return display_text(recorded) == display_text(value)
