"""Running an execution: how the job loop looks, decides and performs for the plans of a phase.

Before the loop starts, the traces of a killed run are checked and STATE.md is brought up to date.
A step that changes nothing three times in a row ends the run: it would be repeated for ever.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from fairlead.core.values import replace
from fairlead.execution.decide import Decider
from fairlead.execution.errors import NothingCame
from fairlead.execution.landing import Landing
from fairlead.execution.model import Act, Action, Snapshot
from fairlead.execution.perform import Performer
from fairlead.execution.snapshot import SnapshotReader
from fairlead.jobs.loop import run_job
from fairlead.jobs.model import QuestionKind

if TYPE_CHECKING:
    from fairlead.execution.context import ExecutionContext

_CALLS = (Act.EXECUTE, Act.REVIEW)
_LANDINGS = (Act.MERGE, Act.SUMMARISE)
_ABOUT_TASKS = (
    QuestionKind.HUMAN_VERIFY,
    QuestionKind.DECISION,
    QuestionKind.HUMAN_ACTION,
    QuestionKind.ESCALATION,
    QuestionKind.ASKED,
    QuestionKind.BUDGET,
    QuestionKind.PATIENCE,
)
_WAIT_SECONDS = 10.0  # then look again: a person may have answered, the machine may have slept
_LANDING_DELAY_SECONDS = 0.3  # so long a landing lets calls that may begin go first
_MAX_REPEATS = 3  # of a step that leaves everything as it was


def run_execution(context: ExecutionContext) -> None:
    """Run the execution of a phase until it ends or waits."""
    landing = Landing(context)
    try:
        steps = _ExecutionSteps(context, landing)
        steps.check_killed_run()
        _void_outdated_questions(context)
        landing.show_gates_of_killed_run()
        run_job(steps, context.stop, context.over, context.is_cancelled)
    except BaseException:
        with suppress(Exception):  # raise the first problem, not one of the background worker
            landing.wait_for_documents()
            landing.leave_phase()
        raise
    landing.wait_for_documents()
    landing.leave_phase()


def _void_outdated_questions(context: ExecutionContext) -> None:
    """Close open questions about tasks whose text has changed since they were asked."""
    digests = {task.digest for plan in context.plans.values() for task in plan.tasks}
    for question in context.questions():
        is_outdated = question.kind in _ABOUT_TASKS and question.about not in ("", *digests)
        if is_outdated and not question.answer:
            voided = replace(
                question,
                answer="void: the task was changed",
                answered_at=context.now(),
                by="policy",
            )
            context.answers.remember(context.job.id, voided)
            context.folder.save_question(voided)


class _ExecutionSteps:
    def __init__(self, context: ExecutionContext, landing: Landing) -> None:
        self._snapshots = SnapshotReader(context)
        self._decider = Decider()
        self._performer = Performer(context, landing)
        self._context = context
        self._reported_until = ""
        self._last: Snapshot | None = None
        self._repeats = 0

    def check_killed_run(self) -> None:
        self._performer.check_killed_run()

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> tuple[Action, ...]:
        self._performer.settle_answers()
        snapshot = self._snapshots.look(running, is_stopping=is_stopping)
        self._context.events.looked(snapshot)
        actions = self._decider.decide(snapshot)
        self._require_effect(snapshot, actions)
        self._context.calling.expect(action.key for action in actions if action.act in _CALLS)
        return actions

    def _require_effect(self, snapshot: Snapshot, actions: tuple[Action, ...]) -> None:
        timeless = replace(snapshot, now="")
        is_step = bool(actions) and actions[0].act is not Act.WAIT
        self._repeats = self._repeats + 1 if is_step and timeless == self._last else 0
        self._last = timeless
        if self._repeats >= _MAX_REPEATS:
            raise NothingCame(actions[0].key, snapshot.job.id)

    def perform(self, action: Action) -> None:
        if action.act is Act.WAIT:
            self._wait(action)
            return
        # Agents take minutes and a landing seconds: start the agents first, land beside them.
        if action.act in _LANDINGS:
            self._context.calling.wait(_LANDING_DELAY_SECONDS)
        try:
            self._performer.perform(action)
        finally:
            self._context.calling.release(action.key)

    def is_long(self, action: Action) -> bool:
        return action.act is Act.VERIFY or action.act in (*_CALLS, *_LANDINGS)

    def _wait(self, action: Action) -> None:
        if action.until != self._reported_until:
            self._reported_until = action.until
            self._context.tell("waiting", action.subject, f"until {action.until}")
        left = datetime.fromisoformat(action.until) - self._context.clock.now()
        self._context.stop.wait(min(max(left.total_seconds(), 0.0), _WAIT_SECONDS))
