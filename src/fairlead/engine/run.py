"""The loop: survey, decide, perform; again, until nothing is left to do.

It remembers nothing but which actions it has begun. Stopping asks it to begin nothing new; when
everything is to end now, the agents are stopped and their attempts will be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from fairlead.engine.decide import decide
from fairlead.engine.fanout import Fanout, Signal
from fairlead.engine.landing import Landing
from fairlead.engine.perform import Performer
from fairlead.engine.survey import Survey
from fairlead.errors import NothingCame
from fairlead.model.budget import Caps
from fairlead.model.job import QuestionKind
from fairlead.model.snapshot import Act, Action, Snapshot
from fairlead.records.state import moment
from fairlead.values import replace

if TYPE_CHECKING:
    from fairlead.engine.site import Site

_CALLS = (Act.EXECUTE, Act.REVIEW)
_LANDINGS = (Act.MERGE, Act.SUMMARISE)
_OF_TASKS = (
    QuestionKind.HUMAN_VERIFY,
    QuestionKind.DECISION,
    QuestionKind.HUMAN_ACTION,
    QuestionKind.ESCALATION,
    QuestionKind.BUDGET,
    QuestionKind.PATIENCE,
)
_LOOK_SECONDS = 0.2
_WAIT_SECONDS = 10.0
_PASSING_SECONDS = 0.3
_MOST_IN_VAIN = 3


class _Keyed(Protocol):
    @property
    def key(self) -> str: ...


Step = TypeVar("Step", bound=_Keyed)


class Work(Protocol[Step]):
    """A job as the loop sees it."""

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> Sequence[Step]:
        """Look at the disk, and say what may begin now."""
        ...

    def perform(self, action: Step) -> None:
        """Do one thing."""
        ...

    def is_long(self, action: Step) -> bool:
        """Whether it runs beside the loop."""
        ...


def carry_on(work: Work[Step], stop: Signal, over: Signal) -> None:
    """Carry any job on for as long as there is something to do."""
    beside = Fanout()
    try:
        while _goes_on(work, stop, over, beside):
            pass
    except BaseException:
        over.give()
        _drain(beside)
        raise


def run(site: Site, caps: Caps, stop: Signal, looked: Callable[[Snapshot], None]) -> None:
    """Carry the execution of a phase on."""
    landing = Landing(site)
    try:
        work = _Execution(site, landing, caps, stop, looked)
        work.look_back()
        _void(site)
        landing.catch_up()
        carry_on(work, stop, site.is_over)
    except BaseException:
        with suppress(Exception):  # the first problem is the one that is raised
            landing.settle()
        raise
    landing.settle()


def _void(site: Site) -> None:
    """What is asked about a task that reads otherwise now is nobody's to answer any more."""
    digests = {task.digest for sheet in site.sheets.values() for task in sheet.tasks}
    for each in site.questions():
        if each.kind in _OF_TASKS and each.about not in ("", *digests) and not each.answer:
            at = moment(site.clock.now())
            told = replace(each, answer="void: the task was changed", answered_at=at, by="policy")
            site.answers.remember(site.job.id, told)
            site.jobs.save_question(told)


class _Execution:
    def __init__(
        self,
        site: Site,
        landing: Landing,
        caps: Caps,
        stop: Signal,
        looked: Callable[[Snapshot], None],
    ) -> None:
        self._survey = Survey(site, caps)
        self._looked = looked
        self._performer = Performer(site, landing)
        self._site = site
        self._stop = stop
        self._said_until = ""
        self._last: Snapshot | None = None
        self._in_vain = 0

    def look_back(self) -> None:
        self._performer.look_back()

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> tuple[Action, ...]:
        snapshot = self._survey.look(running, is_stopping=is_stopping)
        self._looked(snapshot)
        actions = decide(snapshot)
        self._require_news(snapshot, actions)
        self._site.calling.announce(each.key for each in actions if each.act in _CALLS)
        return actions

    def _require_news(self, snapshot: Snapshot, actions: tuple[Action, ...]) -> None:
        """A step after which everything is as before would be taken for ever."""
        timeless = replace(snapshot, now="")
        is_step = bool(actions) and actions[0].act is not Act.WAIT
        self._in_vain = self._in_vain + 1 if is_step and timeless == self._last else 0
        self._last = timeless
        if self._in_vain >= _MOST_IN_VAIN:
            raise NothingCame(actions[0].key, snapshot.job.id)

    def perform(self, action: Action) -> None:
        if action.act is Act.WAIT:
            self._wait(action)
            return
        # An agent thinks for minutes, and lands nobody's work meanwhile.
        if action.act in _LANDINGS:
            self._site.calling.let_pass(_PASSING_SECONDS)
        try:
            self._performer.perform(action)
        finally:
            self._site.calling.passed(action.key)

    def is_long(self, action: Action) -> bool:
        return action.act is Act.VERIFY or action.act in (*_CALLS, *_LANDINGS)

    def _wait(self, action: Action) -> None:
        """Wait for a little while: somebody may answer meanwhile, and this machine may sleep."""
        if action.until != self._said_until:
            self._said_until = action.until
            self._site.tell("waiting", action.subject, f"until {action.until}")
        left = datetime.fromisoformat(action.until) - self._site.clock.now()
        self._stop.wait(min(max(left.total_seconds(), 0.0), _WAIT_SECONDS))


def _goes_on(work: Work[Step], stop: Signal, over: Signal, beside: Fanout) -> bool:
    """One look: begin what may begin, and wait for something to end. False: nothing is left."""
    is_stopping = stop.is_given or over.is_given
    actions = work.look(beside.running, is_stopping=is_stopping)
    for action in actions:
        _begin(beside, work, action)
    if not beside.running:
        return bool(actions) and not is_stopping
    while not beside.wait(_LOOK_SECONDS) and is_stopping == stop.is_given:
        pass
    return True


def _begin(beside: Fanout, work: Work[Step], action: Step) -> None:
    """Long work runs beside the loop; the rest is done at once."""
    if work.is_long(action):
        beside.start(action.key, lambda: work.perform(action))
    else:
        work.perform(action)


def _drain(beside: Fanout) -> None:
    while beside.running:
        try:
            beside.wait(_LOOK_SECONDS)
        except BaseException:  # noqa: BLE001, S112 - the first problem is the one that is raised
            continue
