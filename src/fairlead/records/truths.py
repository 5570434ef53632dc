"""The words of STATE.md that cannot be true of the files, and what they should say.

One answer for all who ask: `check` shows it, `doctor` writes what was chosen of it and `state
sync` all of it. What a person wrote stays, unless it places the work in a phase that is finished
or not there; what says the same in other words, or may be true while somebody works, stays too.
"""

import re

from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Phase, Stage
from fairlead.model.standing import Standing, seen_from
from fairlead.model.status import Status, is_default, normalise, says_all_done
from fairlead.records.activity import focus_line, focus_of, is_last, is_position_form
from fairlead.records.digest import (
    Words,
    field_of,
    is_stage,
    lifecycle_of,
    position_words,
)
from fairlead.records.position import (
    active_phase,
    is_paused,
    may_be_active,
    plan_words,
    plans_of,
    recorded_id,
    settled,
    unproven_plans,
)
from fairlead.records.recorded import phase_in
from fairlead.text.document import Document
from fairlead.text.scalars import is_null

_NAMED = re.compile(r"phase\s+([0-9]\S*)", re.IGNORECASE)
_IN_THE_MAKING = (Status.DISCUSSING, Status.PLANNING, Status.PAUSED)
_UNDER_WAY = (Stage.PLANNED, Stage.PARTIAL)
_FINISHED = (Stage.COMPLETE, Stage.VERIFIED)
_AT_WORK = {Status.DISCUSSING, Status.PLANNING, Status.EXECUTING, Status.VERIFYING}


def untrue_words(document: Document, standing: Standing) -> Words:
    """Every place whose words cannot be true, and the words that are."""
    active, status = active_phase(document), str(document.value("status"))
    if active is not None and not may_be_active(active, status, standing):
        active = None
    words = _words(document, standing, active)
    # A status that has to go keeps no phase in flight.
    if active is not None and not may_be_active(active, str(words.get("status", status)), standing):
        words = _words(document, standing, None)
    return {
        name: value
        for name, value in words.items()
        if told(document, name) not in (None, shown(value))
    }


def _words(document: Document, standing: Standing, active: PhaseId | None) -> Words:
    """What the places should say while a phase is in flight, or none."""
    here = seen_from(standing, _here(document, standing, active))
    words = _position(document, here, standing)
    words |= _status(document, standing if standing.is_over else here, active)
    words |= _focus(document, here, str(words.get("status", document.value("status"))))
    if active is None:
        words |= _lifecycle(document, standing)
    return words


def told(document: Document, name: str) -> str | None:
    """What a place says; None where there is no such place."""
    if name.islower():
        front = document.shown_front
        return shown(front[name]) if name in front else None
    field = field_of(document, name)
    return field.value if field else None


def shown(value: object) -> str:
    """A value as one text: phases beside each other, `null` for none."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "null"
    return "null" if is_null(value) else str(value)


def _here(document: Document, standing: Standing, active: PhaseId | None) -> Phase | None:
    """The phase that is worked on: what is recorded, if it can be; else what the files say."""
    phases = standing.scope.phases
    front = phase_in(str(document.value("current_phase")))
    for said in (active, recorded_id(document), front):
        for phase in phases:
            # The last phase of a finished milestone is a place to be.
            is_last = standing.is_over and phase is phases[-1]
            is_open = not phase.is_complete(standing.policy)
            if phase.id == said and (
                is_last or (is_open and (said == active or _is_place(document, standing, phase)))
            ):
                return phase
        if said is not None and said != active:
            break
    return standing.current


def _is_place(document: Document, standing: Standing, phase: Phase) -> bool:
    """Whether the work may be in an open phase, out of order too; something has to speak for it."""
    folder = phase.folder
    if folder and (folder.plans or folder.orphans or folder.has_context or folder.has_research):
        return True
    before = [each for each in standing.scope.phases if each.id < phase.id]
    if not any(each.stage in _UNDER_WAY for each in before):
        return True
    # Whoever finished the phase before it went on from there, whatever was left open further up.
    return before[-1].stage in _FINISHED or _is_begun(document)


def _is_begun(document: Document) -> bool:
    """Whether something goes on that left no file yet, where no field of the frontmatter tells it."""
    line = told(document, "Status") or ""
    is_settled = is_default(line) and normalise(line) not in _IN_THE_MAKING
    return "active_phase" not in document.shown_front and not (
        is_settled or "ready" in line.casefold()
    )


def _position(document: Document, here: Standing, standing: Standing) -> Words:
    line, plan = told(document, "Phase") or "", told(document, "Plan") or ""
    words, plans = position_words(document, here), plan_words(document, here)
    if not line or _is_kept(line, standing):
        words = {name: each for name, each in words.items() if name not in ("Phase", "Plan")}
        if line and unproven_plans(plan, plans_of(here)):
            del plans["Plan"]  # of which phase it speaks cannot be told
    return plans | words


def _is_kept(line: str, standing: Standing) -> bool:
    """Whether a position that names no phase of the project is left as it is."""
    is_named = phase_in(line) is not None
    if standing.scope.phases and (is_named or (says_all_done(line) and not standing.is_over)):
        return False
    if not is_position_form(line):
        return True
    if standing.scope.phases:
        return standing.is_complete and normalise(line) is Status.COMPLETED
    return not is_named and (
        normalise(line) is not Status.COMPLETED or standing.scope.milestone in line
    )


def _status(document: Document, standing: Standing, active: PhaseId | None) -> Words:
    """Each of both places by itself: a person's line in the body does not keep the other stale."""
    body, front = told(document, "Status") or "", told(document, "status") or "null"
    is_own = bool(body) and not is_default(body)
    if is_paused(document) or normalise(body) is Status.PAUSED:
        return {}
    right = settled(standing)
    words: Words = {}
    if body and not is_own and not _fits(body, standing, active):
        words["Status"] = right.words
    is_mirror = is_own and not standing.is_over and normalise(body) is normalise(front)
    if is_mirror and normalise(body) not in (Status.COMPLETED, Status.UNKNOWN):
        return words
    if front != "null" and is_stage(front) and (words or not _fits(front, standing, active)):
        words["status"] = str(right.status)
    return words


def _fits(text: str, standing: Standing, active: PhaseId | None) -> bool:
    """Whether a status may be true: of the files, or of work that goes on and left no file yet."""
    status = Status.COMPLETED if says_all_done(text) else normalise(text)
    match = _NAMED.search(text)
    named = phase_in(match[1]) if match else None
    if named is not None and status is Status.COMPLETED:
        return any(
            each.id == named and each.is_complete(standing.policy) for each in standing.scope.phases
        )
    if named is not None and not may_be_active(named, text, standing):
        return False
    if not standing.scope.phases:
        return status not in (Status.EXECUTING, Status.VERIFYING)
    if status is Status.UNKNOWN:
        return text.casefold() == "active" and not standing.is_over
    fitting = {standing.status, settled(standing).status}
    if standing.next.action == "verify-phase":
        fitting.add(Status.VERIFYING)
    # Plans that nobody carried out yet may still be in the making.
    if standing.words == "Ready to execute" and "ready" not in text.casefold():
        fitting.add(Status.PLANNING)
    if Status.PLANNING in fitting:
        fitting.add(Status.DISCUSSING)
    return status in (fitting | _AT_WORK if active else fitting)


def _focus(document: Document, here: Standing, status: str) -> Words:
    """The focus, where it is a phase that is finished or not there."""
    line = told(document, "Current focus") or ""
    named = focus_of(line, here)
    if named is None or named == (here.current.id if here.current else None):
        return {}
    if here.is_over and is_last(named, here):
        return {}
    if may_be_active(named, status, here):
        return {}
    return {"Current focus": focus_line(here.current)}


def _lifecycle(document: Document, standing: Standing) -> Words:
    """What is recommended; where nothing is recorded of it, nobody asked for it."""
    return {
        name: value
        for name, value in lifecycle_of(standing).items()
        if not _same(document.shown_front.get(name), value)
    }


def _same(held: object, value: str | list[str] | None) -> bool:
    """Whether both say the same; `03` and `3` are one phase."""
    if isinstance(held, list) and isinstance(value, list):
        return [phase_in(str(each)) for each in held] == [phase_in(each) for each in value]
    return shown(held) == shown(value)
