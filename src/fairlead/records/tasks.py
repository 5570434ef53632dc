"""Results of tasks: what an executor returns, as it shows in STATE.md.

Counters follow from the files in every case: a task that succeeded raises no count of plans,
only a summary does. A blocker that a task left goes when the task succeeds.
"""

from datetime import datetime
from enum import StrEnum

from fairlead.errors import UsageError
from fairlead.model.inventory import Phase
from fairlead.model.standing import Standing, seen_from
from fairlead.model.status import Status
from fairlead.records.activity import with_activity, with_focus
from fairlead.records.blockers import BLOCKERS, without_task
from fairlead.records.digest import (
    position_words,
    with_next,
    with_progress,
    with_status,
    with_words,
)
from fairlead.records.entries import with_entry
from fairlead.records.position import (
    active_phase,
    is_paused,
    phase_of,
    plan_words,
    recorded_phase,
    settled,
)
from fairlead.records.state import stamped
from fairlead.records.truths import untrue_words
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.values import dataclass, replace


class Outcome(StrEnum):
    """How a task ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One result of an executor."""

    task: str
    outcome: Outcome
    phase: str = ""  # empty: the one that is worked on
    reason: str = ""  # the error, or what is missing
    duration: str = ""  # what a success took; it is added to the plan's time
    plan: str = ""  # of the duration; empty: the one that is worked on

    @property
    def told(self) -> str:
        """What the last activity says of it."""
        name = one_line(self.task, "the task")
        lead = {
            Outcome.SUCCESS: "Completed ",
            Outcome.FAILURE: "Failed: ",
            Outcome.BLOCKED: "Blocked: ",
        }
        return lead[self.outcome] + name


def task_result(
    document: Document, result: TaskResult, standing: Standing, now: datetime
) -> Document:
    """Record a result: status, last activity, blockers, and all that follows from the files."""
    document.require_writable()
    current = _phase(document, result, standing)
    is_done = current is not None and current.is_complete(standing.policy)
    here = settled(standing if current is None or is_done else seen_from(standing, current))
    if not is_done and current and current.folder and current.folder.live_plans:
        here = replace(here, words="In progress", status=Status.EXECUTING)
    changed = with_progress(document, here)
    if is_done:
        changed = with_focus(with_words(changed, position_words(changed, here)), here)
    changed = with_words(changed, plan_words(changed, here))
    if not is_paused(changed):
        changed = with_status(changed, here)
    active = active_phase(document)
    is_success = result.outcome is Outcome.SUCCESS
    if is_done and is_success and current and active == current.id:
        active = None  # nobody works on a phase that is done
    changed = with_next(changed, standing, active=active.short if active else "")
    # A task of another phase than the one that the position names does not make that untrue.
    changed = with_words(changed, untrue_words(changed, standing))
    changed = noted(changed, result, now)
    return stamped(changed, now) if changed.text != document.text else document


def noted(document: Document, result: TaskResult, now: datetime) -> Document:
    """What a result says of itself: the last activity, and what stands in the way of the task."""
    changed = without_task(document, result.task)
    if result.outcome is not Outcome.SUCCESS:
        reason = one_line(result.reason, "the reason")
        entry = f"{one_line(result.task, 'the task')}: {reason}"
        changed = with_entry(changed, BLOCKERS, entry)
    return with_activity(changed, result.told, now, always=True)


def _phase(document: Document, result: TaskResult, standing: Standing) -> Phase | None:
    """The phase of the task: as told, else as recorded, if the project still has it."""
    if result.phase:
        return phase_of(standing, result.phase)
    try:
        return phase_of(standing, recorded_phase(document, standing))
    except UsageError:
        return None
