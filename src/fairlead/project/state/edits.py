"""Events as pure edits of STATE.md: a phase starts, a plan completes, a task returns a result.

Each event names its phase. Everything that follows from the files (counters, bar, position,
status, next step) is written in the same edit, so the document never contradicts itself. An event
that the files contradict is refused before anything changes; a repeated event changes nothing.
A task result never raises a count of plans: only a SUMMARY does.
"""

import re
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from fairlead.core.errors import UsageError
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.inventory import Completion, Phase, Plan
from fairlead.project.derive.position import Position, position_at
from fairlead.project.derive.scope import Certainty
from fairlead.project.errors import NoPlans, NotVerified, PhaseFinished, PlansOpen, UnknownPlan
from fairlead.project.state.activity import with_activity, with_focus
from fairlead.project.state.blockers import TaskOrigin, with_blocker_of, without_blockers_of
from fairlead.project.state.contradictions import contradicted_fields
from fairlead.project.state.digest import (
    active_phase,
    awaiting_verification,
    is_paused,
    live_plans_of,
    phase_in_scope,
    plan_fields,
    plan_line,
    plan_numbers,
    position_fields,
    recorded_phase,
    recorded_phase_id,
    recorded_plan,
    with_fields,
    with_next_step,
    with_progress,
    with_status,
)
from fairlead.project.state.documents import VERSION, stamped
from fairlead.project.state.recorded import body_field, plan_label, position_section
from fairlead.project.status_words import Status
from fairlead.text.document import Document
from fairlead.text.inline import one_line

# --- phases ------------------------------------------------------------------------------------


def discussion_started(
    document: Document, position: Position, phase: str, now: datetime
) -> Document:
    """The discussion of a phase has started."""
    here = _at_phase(position, phase, "Discussing", Status.DISCUSSING)
    return _started(document, here, position, "discussion", now)


def planning_started(document: Document, position: Position, phase: str, now: datetime) -> Document:
    """The planning of a phase has started."""
    here = _at_phase(position, phase, "Planning", Status.PLANNING)
    return _started(document, here, position, "planning", now)


def plans_ready(document: Document, position: Position, phase: str, now: datetime) -> Document:
    """The plans of a phase are written and it can be executed."""
    here = _at_phase(position, phase, "Ready to execute", Status.EXECUTING)
    _require_open_plans(here)
    event = f"Phase {_number(here)} planning complete — {len(live_plans_of(here))} plans ready"
    if _is_executing_another_phase(document, here):
        return _noted(document, position, event, now)
    return _moved(document, here, event, now)


def execution_started(
    document: Document, position: Position, phase: str, now: datetime
) -> Document:
    """The execution of a phase has started, or resumed if the phase was already in progress."""
    here = _at_phase(position, phase, "In progress", Status.EXECUTING)
    _require_open_plans(here)
    is_resumed = here.current is not None and active_phase(document) == here.current.id
    event = f"Phase {_number(here)} execution {'resumed' if is_resumed else 'started'}"
    document = _with_current_phase(document, here)
    return _moved(document, here, event, now, active=_number(here))


def verification_started(
    document: Document, position: Position, phase: str, now: datetime
) -> Document:
    """The verification of a finished phase has started; the position stays where the work is."""
    here = _at_phase(position, phase, "Verifying", Status.VERIFYING)
    _require_all_complete(here)
    event = f"Phase {_number(here)} verification started"
    verifying = replace(position, words=here.words, status=here.status)
    moved = _moved(document, verifying, event, now, active=_number(here))
    # A phase that is already verified cannot be shown as active, so the event is only noted.
    is_untrue = bool(contradicted_fields(moved, position))
    return _noted(document, position, event, now) if is_untrue else moved


def plan_completed(
    document: Document,
    position: Position,
    phase: str,
    now: datetime,
    *,
    plan: str = "",
    latest: Callable[[tuple[Plan, ...]], Plan] = lambda plans: plans[-1],
) -> Document:
    """A plan has its summary, and the position moves on; refused without a summary.

    Without a plan number this is the latest of the completed plans.
    """
    here = _at_phase(
        position, phase or recorded_phase(document, position), "In progress", Status.EXECUTING
    )
    if not (phase or plan or live_plans_of(here)) and _follows_a_plan(document):
        # Repeated: the position has already moved to a phase without plans.
        return synced(document, position, now)
    _require_plans(here)
    done = [_named_plan(here, plan)] if plan else [p for p in live_plans_of(here) if p.is_complete]
    if not all(finished.is_complete for finished in done):
        raise PlansOpen.of(_number(here), done)
    if not plan and len(done) < recorded_plan(document):
        raise PlansOpen.of(_number(here), _open_plans(here))
    event = f"Phase {_number(here)} execution started"
    if done:
        event = f"Plan {latest(tuple(done)).id} complete"
    if not _open_plans(here):
        return _moved(document, awaiting_verification(position), event, now)
    is_active = active_phase(document) is not None
    return _moved(document, here, event, now, active=_number(here) if is_active else "")


def phase_completed(document: Document, position: Position, phase: str, now: datetime) -> Document:
    """A phase is done and the position moves to the next one; refused while plans are open."""
    here = _at_phase(position, phase, position.words, position.status)
    _require_all_complete(here)
    assert here.current is not None
    if position.policy is Completion.VERIFIED and not here.current.is_complete(position.policy):
        raise NotVerified(_number(here))
    event = f"Phase {_number(here)} complete"
    is_here = recorded_phase_id(document) in (None, here.current.id)
    if is_here or active_phase(document) == here.current.id:
        return _moved(document, awaiting_verification(position), event, now, restart=is_here)
    if not _was_last_activity(document, here):
        return synced(document, position, now)  # the position is already elsewhere
    return _noted(document, position, event, now)


def phase_verified(document: Document, position: Position, phase: str, now: datetime) -> Document:
    """A phase passed its verification, whatever else is in progress."""
    here = _at_phase(position, phase, position.words, position.status)
    event = f"Phase {_number(here)} COMPLETE, verified"
    is_here = recorded_phase_id(document) in (None, here.current.id if here.current else None)
    moved = _moved(document, awaiting_verification(position), event, now, restart=is_here)
    # This line must say that the phase is complete; a person's text goes to the archive.
    return _signed(with_activity(moved, event, now, always=True), now)


def step_stopped(
    document: Document, position: Position, phase: str, now: datetime, *, event: str
) -> Document:
    """Work on a step of a phase has stopped; the next step is recommended again.

    If another phase is in progress, the event is only noted.
    """
    active = active_phase(document)
    if active is not None and active != phase_in_scope(position, phase).id:
        return _noted(document, position, event, now)
    return _moved(document, awaiting_verification(position), event, now)


def artefact_ready(document: Document, position: Position, event: str, now: datetime) -> Document:
    """A phase has one more document; work in progress stays in progress."""
    return _noted(document, position, event, now)


def synced(document: Document, position: Position, now: datetime) -> Document:
    """Correct every field that the files contradict.

    Where the documents claim work that left no files, the files contradict nothing.
    """
    document.require_writable()
    if position.scope.certainty is Certainty.UNVERIFIABLE:
        return document
    changed = with_progress(document, position)
    changed = with_fields(changed, contradicted_fields(document, position))
    return _signed(changed, now) if changed.text != document.text else document


# --- tasks -------------------------------------------------------------------------------------


class TaskOutcome(StrEnum):
    """How a task ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    BLOCKED = "blocked"


_OUTCOME_LEADS = {
    TaskOutcome.SUCCESS: "Completed ",
    TaskOutcome.FAILURE: "Failed: ",
    TaskOutcome.BLOCKED: "Blocked: ",
}


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One result of an executor."""

    task: str
    outcome: TaskOutcome
    phase: str = ""  # empty: the phase in progress
    reason: str = ""  # the error, or what is missing
    duration: str = ""  # what a success took; added to the time of the plan
    plan: str = ""  # empty: the plan in progress

    @property
    def activity(self) -> str:
        """The result as a last activity."""
        return _OUTCOME_LEADS[self.outcome] + one_line(self.task, "the task")


def task_result(
    document: Document, result: TaskResult, position: Position, now: datetime
) -> Document:
    """Record a task result: status, last activity, blockers and everything derived."""
    document.require_writable()
    current = _phase_of_task(document, result, position)
    is_done = current is not None and current.is_complete(position.policy)
    here = position if current is None or is_done else position_at(position, current)
    here = awaiting_verification(here)
    if not is_done and current and current.folder and current.folder.live_plans:
        here = replace(here, words="In progress", status=Status.EXECUTING)
    changed = with_progress(document, here)
    if is_done:
        changed = with_focus(with_fields(changed, position_fields(changed, here)), here)
    changed = with_fields(changed, plan_fields(changed, here))
    if not is_paused(changed):
        changed = with_status(changed, here)
    active = active_phase(document)
    is_success = result.outcome is TaskOutcome.SUCCESS
    if is_done and is_success and current and active == current.id:
        active = None
    changed = with_next_step(changed, position, active=active.short if active else "")
    # The task may belong to another phase than the position, which must stay true as well.
    changed = with_fields(changed, contradicted_fields(changed, position))
    changed = with_task_result(changed, placed_result(document, result, position), now)
    return stamped(changed, now) if changed.text != document.text else document


def with_task_result(document: Document, result: TaskResult, now: datetime) -> Document:
    """The document with a result as last activity, and as a blocker unless the task succeeded."""
    origin = TaskOrigin(result.phase, result.plan, result.task)
    if result.outcome is TaskOutcome.SUCCESS:
        changed = without_blockers_of(document, origin)
    else:
        changed = with_blocker_of(document, origin, result.reason)
    return with_activity(changed, result.activity, now, always=True)


def placed_result(document: Document, result: TaskResult, position: Position) -> TaskResult:
    """The result with the phase and the plan in progress where it names none."""
    phase = _phase_of_task(document, result, position)
    if phase is None:
        return result
    plan = position_at(position, phase).plan
    return replace(result, phase=phase.id.short, plan=result.plan or (plan.id if plan else ""))


def reanalysis_entry(result: TaskResult, now: datetime) -> str:
    """A blocked task and what it needs, for the next ordering of the plans."""
    place = f"Phase {result.phase}, plan {plan_label(result.plan)}" if result.plan else result.phase
    needs = one_line(result.reason, "the reason") if result.reason else "something unnamed"
    return f"- {now:%Y-%m-%d} [{place or 'no phase'}] {one_line(result.task, 'the task')}: {needs}"


def _phase_of_task(document: Document, result: TaskResult, position: Position) -> Phase | None:
    """The named phase, otherwise the recorded one if the project still has it."""
    if result.phase:
        return phase_in_scope(position, result.phase)
    try:
        return phase_in_scope(position, recorded_phase(document, position))
    except UsageError:
        return None


# --- parts of an event -------------------------------------------------------------------------


def _started(
    document: Document, here: Position, position: Position, step: str, now: datetime
) -> Document:
    event = f"Phase {_number(here)} {step} started"
    is_complete = here.current is not None and here.current.is_complete(here.policy)
    if is_complete or _is_executing_another_phase(document, here):
        return _noted(document, position, event, now)
    return _moved(document, here, event, now, active=_number(here))


def _moved(
    document: Document,
    here: Position,
    event: str,
    now: datetime,
    *,
    active: str = "",
    restart: bool = False,
) -> Document:
    """The document at another position; with `restart` its plan line starts over."""
    document.require_writable()
    changed = with_progress(document, here)
    changed = with_fields(changed, position_fields(changed, here))
    changed = with_fields(changed, plan_fields(changed, here))
    changed = with_next_step(changed, here, active=active)
    field = changed.field("Plan", position_section(changed)) if restart else None
    if field:
        changed = changed.set_field(field, plan_line(here))
    if not is_paused(changed):
        changed = with_status(changed, here)
    changed = with_focus(changed, here)
    if changed.text == document.text and not active:
        return document
    changed = with_activity(changed, event, now)
    return _signed(changed, now) if changed.text != document.text else document


def _noted(document: Document, position: Position, event: str, now: datetime) -> Document:
    """The document with this event as last activity, at the same position."""
    changed = with_activity(synced(document, position, now), event, now)
    return stamped(changed, now) if changed.text != document.text else document


def _signed(document: Document, now: datetime) -> Document:
    """The document with the schema version and the time of this write in its frontmatter."""
    if document.block is not None and VERSION not in document.shown_front:
        document = document.set_front((VERSION,), "1.0")
    return stamped(document, now)


def _with_current_phase(document: Document, here: Position) -> Document:
    """The position in the frontmatter, which a project has from its first execution on."""
    if document.block is None or here.current is None:
        return document
    values = (
        ("current_phase", here.current.id.short),
        ("current_phase_name", here.current.name or None),
        ("current_plan", plan_numbers(here)[0] or None),
    )
    after = "progress" if "progress" in document.shown_front else "status"
    for key, value in values:
        document = document.set_front((key,), value, after=after)
        after = key
    return document


def _is_executing_another_phase(document: Document, here: Position) -> bool:
    """Whether another phase is being executed; planning ahead does not replace it."""
    is_executing = document.value("status") == str(Status.EXECUTING)
    current = here.current
    return is_executing and current is not None and active_phase(document) not in (None, current.id)


def _was_last_activity(document: Document, here: Position) -> bool:
    """Whether the last activity is a step of this phase, so that its completion is news."""
    field = body_field(document, "Last activity")
    line = field.value if field else ""
    steps = [f" Plan {plan.id} complete" for plan in live_plans_of(here)]
    steps += [f" Phase {_number(here)} {step}" for step in ("verification ", "execution ")]
    if any(step in f"{line} " for step in steps):
        return True
    # A task names no phase. It belongs to the last finished one if no other is in progress.
    done = [phase for phase in here.scope.phases if phase.is_complete(here.policy)]
    is_task = " Completed " in line and active_phase(document) is None
    return is_task and done[-1:] == [here.current]


def _follows_a_plan(document: Document) -> bool:
    """Whether the last activity is the completion of a plan."""
    field = body_field(document, "Last activity")
    return field is not None and re.search(r"\bPlan \S+ complete$", field.value) is not None


def _at_phase(position: Position, phase: str, words: str, status: Status) -> Position:
    """The same project with another current phase and status."""
    return replace(position, current=phase_in_scope(position, phase), words=words, status=status)


def _open_plans(here: Position) -> list[Plan]:
    return [plan for plan in live_plans_of(here) if not plan.is_complete]


def _named_plan(here: Position, name: str) -> Plan:
    """The plan of the phase with this id or number: 01-02, 02 and 2 are the same."""
    last = name.rpartition("-")[2].lstrip("0")
    for plan in live_plans_of(here):
        if name == plan.id or last == plan.id.rpartition("-")[2].lstrip("0"):
            return plan
    raise UnknownPlan(name)


def _require_plans(here: Position) -> None:
    if not live_plans_of(here):
        raise NoPlans(_number(here))


def _require_all_complete(here: Position) -> None:
    _require_plans(here)
    if _open_plans(here):
        raise PlansOpen.of(_number(here), _open_plans(here))


def _require_open_plans(here: Position) -> None:
    _require_plans(here)
    if not _open_plans(here):
        raise PhaseFinished(_number(here))


def _number(here: Position) -> str:
    return here.current.id.short if here.current else ""
