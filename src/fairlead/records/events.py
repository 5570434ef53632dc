"""Events: what happens to a project, as pure edits of STATE.md.

Each event names the phase it is about; everything that follows from the files (counters,
percent, bar, position, status, lifecycle fields) is written in the same edit, so that the
document never tells two stories. An event that the files contradict is refused before anything
is changed; one that has happened already changes nothing.
"""

import re
from datetime import datetime

from fairlead.errors import NoPlans, NotVerified, PhaseFinished, PlansOpen, UnknownPlan
from fairlead.model.inventory import Completion, Plan
from fairlead.model.standing import Standing
from fairlead.model.status import Status
from fairlead.records.activity import document_field, with_activity, with_focus
from fairlead.records.digest import (
    plan_line,
    position_words,
    with_next,
    with_progress,
    with_status,
    with_words,
)
from fairlead.records.position import (
    active_phase,
    is_paused,
    phase_of,
    plan_numbers,
    plan_words,
    plans_of,
    recorded_id,
    recorded_phase,
    recorded_plan,
    settled,
)
from fairlead.records.recorded import position_section
from fairlead.records.state import VERSION, stamped
from fairlead.records.truths import untrue_words
from fairlead.text.document import Document
from fairlead.values import replace


def discussion_started(
    document: Document, standing: Standing, phase: str, now: datetime
) -> Document:
    """What a phase has to be is being discussed."""
    return _begun(document, _at(standing, phase, "Discussing", Status.DISCUSSING), standing, now)


def planning_started(document: Document, standing: Standing, phase: str, now: datetime) -> Document:
    """The plans of a phase are being made."""
    return _begun(document, _at(standing, phase, "Planning", Status.PLANNING), standing, now)


def plans_ready(document: Document, standing: Standing, phase: str, now: datetime) -> Document:
    """The plans of a phase are there, and it can be executed."""
    here = _at(standing, phase, "Ready to execute", Status.EXECUTING)
    _require_open(here)
    told = f"Phase {_number(here)} planning complete — {len(plans_of(here))} plans ready"
    if _is_elsewhere(document, here):
        return _noted(document, standing, told, now)
    return _moved(document, here, told, now)


def execution_started(
    document: Document, standing: Standing, phase: str, now: datetime
) -> Document:
    """The plans of a phase are being executed; the same phase again is resumed."""
    here = _at(standing, phase, "In progress", Status.EXECUTING)
    _require_open(here)
    resumed = active_phase(document) == here.current.id if here.current else False
    word = "resumed" if resumed else "started"
    document = _with_current(document, here)
    told = f"Phase {_number(here)} execution {word}"
    return _moved(document, here, told, now, active=_number(here))


def verification_started(
    document: Document, standing: Standing, phase: str, now: datetime
) -> Document:
    """A phase whose plans are done is being verified; the position stays where the work is."""
    here = _at(standing, phase, "Verifying", Status.VERIFYING)
    _require_plans(here)
    if _open(here):
        raise PlansOpen(_number(here), _open(here))
    told = f"Phase {_number(here)} verification started"
    there = replace(standing, words=here.words, status=here.status)
    moved = _moved(document, there, told, now, active=_number(here))
    # A phase that is verified already, or a document that cannot name it as active, only notes it.
    return _noted(document, standing, told, now) if untrue_words(moved, standing) else moved


def plan_completed(
    document: Document, standing: Standing, phase: str, now: datetime, *, plan: str = ""
) -> Document:
    """A plan has its summary, and the position follows; without one it is refused.

    The plan is the one that is named, else the one that the position says is being worked on.
    """
    named = phase or recorded_phase(document, standing)
    here = _at(standing, named, "In progress", Status.EXECUTING)
    if not (phase or plan or plans_of(here)) and _follows_a_plan(document):
        # Told again: the position has moved on to a phase that has no plans yet.
        return synced(document, standing, now)
    _require_plans(here)
    done = [each for each in plans_of(here) if each.is_complete]
    if plan:
        done = [_named_plan(here, plan)]
    if not all(each.is_complete for each in done):
        raise PlansOpen(_number(here), tuple(each.path.rpartition("/")[2] for each in done))
    if not plan and len(done) < recorded_plan(document):
        raise PlansOpen(_number(here), _open(here))
    told = f"Plan {done[-1].id} complete" if done else f"Phase {_number(here)} execution started"
    if not _open(here):
        return _moved(document, settled(standing), told, now)
    is_active = active_phase(document) is not None
    return _moved(document, here, told, now, active=_number(here) if is_active else "")


def phase_completed(document: Document, standing: Standing, phase: str, now: datetime) -> Document:
    """A phase is done, and the position moves on to the next; refused while plans are open."""
    here = _at(standing, phase, standing.words, standing.status)
    _require_plans(here)
    if _open(here):
        raise PlansOpen(_number(here), _open(here))
    assert here.current is not None
    if standing.policy is Completion.VERIFIED and not here.current.is_complete(standing.policy):
        raise NotVerified(_number(here))
    told = f"Phase {_number(here)} complete"
    is_here = recorded_id(document) in (None, here.current.id)
    if is_here or active_phase(document) == here.current.id:
        return _moved(document, settled(standing), told, now, is_reset=is_here)
    if not _was_last(document, here):
        return synced(document, standing, now)  # the position is elsewhere already
    return _noted(document, standing, told, now)


def step_left(
    document: Document, standing: Standing, phase: str, now: datetime, *, told: str
) -> Document:
    """Nobody works on the step of a phase any more: what is recommended holds, unless others work."""
    active = active_phase(document)
    if active is not None and active != phase_of(standing, phase).id:
        return _noted(document, standing, told, now)
    return _moved(document, settled(standing), told, now)


def artefact_ready(document: Document, standing: Standing, told: str, now: datetime) -> Document:
    """A phase has one more document to go by; whoever is at work there stays at work."""
    return _noted(document, standing, told, now)


def phase_verified(document: Document, standing: Standing, phase: str, now: datetime) -> Document:
    """A phase has passed its verification: it is complete, whatever else is being worked on."""
    here = _at(standing, phase, standing.words, standing.status)
    told = f"Phase {_number(here)} COMPLETE, verified"
    is_here = recorded_id(document) in (None, here.current.id if here.current else None)
    moved = _moved(document, settled(standing), told, now, is_reset=is_here)
    # Whatever a person wrote there goes to the archive: that a phase is complete must stand here.
    return _signed(with_activity(moved, told, now, always=True), now)


def synced(document: Document, standing: Standing, now: datetime) -> Document:
    """All that follows from the files, where it says something else; what is right stays as it is."""
    document.require_writable()
    changed = with_words(with_progress(document, standing), untrue_words(document, standing))
    return _signed(changed, now) if changed.text != document.text else document


# --- the parts of an event ---------------------------------------------------------------


def _begun(document: Document, here: Standing, standing: Standing, now: datetime) -> Document:
    told = f"Phase {_number(here)} {here.status} started".replace("discussing", "discussion")
    is_over = here.current is not None and here.current.is_complete(here.policy)
    if is_over or _is_elsewhere(document, here):  # nobody works where all is done
        return _noted(document, standing, told, now)
    return _moved(document, here, told, now, active=_number(here))


def _moved(
    document: Document,
    here: Standing,
    told: str,
    now: datetime,
    *,
    active: str = "",
    is_reset: bool = False,
) -> Document:
    document.require_writable()
    changed = _derived(document, here, active=active)
    if is_reset:
        changed = _reset_plan(changed, here)
    changed = _statused(changed, here)
    changed = with_focus(changed, here)
    if changed.text == document.text and not active:
        return document
    changed = with_activity(changed, told, now)
    return _signed(changed, now) if changed.text != document.text else document


def _is_elsewhere(document: Document, here: Standing) -> bool:
    """Whether another phase is being executed: planning ahead does not take its place."""
    active = active_phase(document)
    status = document.value("status")
    is_executing = isinstance(status, str) and status == str(Status.EXECUTING)
    return is_executing and here.current is not None and active not in (None, here.current.id)


def _was_last(document: Document, here: Standing) -> bool:
    """Whether the last thing that happened is a step of this phase, and that it is done is news."""
    field = document_field(document, "Last activity")
    line = field.value if field else ""
    steps = [f" Plan {plan.id} complete" for plan in plans_of(here)]
    steps += [f" Phase {_number(here)} {each}" for each in ("verification ", "execution ")]
    if any(step in f"{line} " for step in steps):
        return True
    # A task names no phase: it is one of the last phase that is done, if nobody works on another.
    done = [each for each in here.scope.phases if each.is_complete(here.policy)]
    is_task = " Completed " in line and active_phase(document) is None
    return is_task and done[-1:] == [here.current]


def _follows_a_plan(document: Document) -> bool:
    """Whether the last thing that happened is the end of a plan."""
    field = document_field(document, "Last activity")
    return field is not None and re.search(r"\bPlan \S+ complete$", field.value) is not None


def _noted(document: Document, standing: Standing, told: str, now: datetime) -> Document:
    changed = with_activity(synced(document, standing, now), told, now)
    return stamped(changed, now) if changed.text != document.text else document


def _signed(document: Document, now: datetime) -> Document:
    """Frontmatter that we derive has the version of its schema, and the time of the write."""
    if document.block is not None and VERSION not in document.shown_front:
        document = document.set_front((VERSION,), "1.0")
    return stamped(document, now)


def _derived(document: Document, here: Standing, *, active: str) -> Document:
    document = with_progress(document, here)
    document = with_words(document, position_words(document, here))
    document = with_words(document, plan_words(document, here))
    return with_next(document, here, active=active)


def _statused(document: Document, here: Standing) -> Document:
    return document if is_paused(document) else with_status(document, here)


def _reset_plan(document: Document, here: Standing) -> Document:
    """The next phase begins at its beginning, whatever the line said of the last one."""
    field = document.field("Plan", position_section(document))
    return document.set_field(field, plan_line(here)) if field else document


def _with_current(document: Document, here: Standing) -> Document:
    """The frontmatter's own position, which a project has from its first execution on."""
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


def _at(standing: Standing, phase: str, words: str, status: Status) -> Standing:
    """The same project, seen from one of its phases."""
    here = phase_of(standing, phase)
    return replace(standing, current=here, words=words, status=status)


def _open(here: Standing) -> tuple[str, ...]:
    return tuple(plan.path.rpartition("/")[2] for plan in plans_of(here) if not plan.is_complete)


def _named_plan(here: Standing, plan: str) -> Plan:
    """The plan of the phase with this id or number: 01-02, 02 and 2 are one."""
    last = plan.rpartition("-")[2].lstrip("0")
    for each in plans_of(here):
        if plan == each.id or last == each.id.rpartition("-")[2].lstrip("0"):
            return each
    raise UnknownPlan(plan)


def _require_plans(here: Standing) -> None:
    if not plans_of(here):
        raise NoPlans(_number(here))


def _require_open(here: Standing) -> None:
    _require_plans(here)
    if not _open(here):
        raise PhaseFinished(_number(here))


def _number(here: Standing) -> str:
    return here.current.id.short if here.current else ""
