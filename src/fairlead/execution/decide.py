"""Deciding: which actions may begin now, from a snapshot alone.

Nothing here touches disk, clock or network. Once an action is done, the next snapshot no longer
leads to it, so resuming after a crash means deciding again. The limits on waiting are here; how
often a failed task is retried is `RETRIES` in `project.state.gate_rules`.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from itertools import islice

from fairlead.agents.budget import Cost, may_spend
from fairlead.core.values import replace
from fairlead.execution.model import Act, Action, PlanFacts, Snapshot, TaskFacts
from fairlead.execution.plan_index import Rank, ReadinessIndex
from fairlead.jobs.model import (
    ABORT_ANSWER,
    FIX,
    OTHER,
    OVERRIDE,
    OVERRIDE_WORD,
    SKIP,
    SKIP_REASONS,
    SKIP_VERIFY,
    JobStatus,
    Question,
    QuestionKind,
    TaskGate,
    last_work,
    skip_kind,
)
from fairlead.plans.model import TaskKind
from fairlead.plans.waves import CountedClaims, transitive_needs, unfinished_needs_note
from fairlead.project.state.gate_rules import (
    Escalate,
    FailureClass,
    GateStatus,
    SkipKind,
    next_after_failure,
    next_after_interruption,
)

FAILED_TASKS_IN_A_WAVE = 3  # so many failures suggest a common cause: no new plan begins
# Services count usage in windows of five hours and in weeks: wait for the first, ask about more.
LONGEST_WAIT = timedelta(hours=6)
MAX_WAITS = 5  # refusals in a row after which a person is asked whether to continue
_FIRST_PAUSE = 60.0  # seconds, doubled with each refusal
_LAST_PAUSE = 366 * 86_400.0  # seconds, a year: no service can ask for more
_CALLS = (Act.EXECUTE, Act.REVIEW)  # cost money
_BUSY = (*_CALLS, Act.VERIFY)  # take a slot
_LANDING = (Act.MERGE, Act.SUMMARISE)  # one at a time

APPROVED, RETRY, ABORT, ACCEPT, REJECT = "approved", "retry", ABORT_ANSWER, "accept", "reject"
WAIT = "wait"
EXECUTOR_ASKS = ": the executor asks: "  # in a question, before the executor's own words


def decide(snapshot: Snapshot) -> tuple[Action, ...]:
    """The actions that may begin now, the most urgent first."""
    return Decider().decide(snapshot)


class Decider:
    """Decides again and again for one job: a decision costs what changed since the last one.

    What is kept is a cache: every decision equals that of `decide`, which follows from the snapshot
    alone. The next step of a plan that has begun is computed when its facts, its gates, its running
    actions or the questions change. While a service refuses calls or a cap is near, and for tasks
    that wait for time or for other plans, it is computed every time.
    """

    def __init__(self) -> None:
        self._index = ReadinessIndex()
        self._clear()
        self._questions: tuple[Question, ...] = ()
        self._running: frozenset[str] = frozenset()
        self._acts: Counter[str] = Counter()  # of what is running
        self._callers: tuple[object, ...] = ()
        self._was_calm = False

    def _clear(self) -> None:
        self._steps: dict[str, Action] = {}  # of plans that have begun
        self._groups: dict[_Group, list[Rank]] = {group: [] for group in _Group}
        self._starting: set[str] = set()  # unusual plans with a first step

    def decide(self, snapshot: Snapshot) -> tuple[Action, ...]:
        """The actions that may begin now, the most urgent first."""
        if snapshot.is_stopping or snapshot.job.status is not JobStatus.EXECUTING:
            return ()
        if self._index.update(snapshot):
            self._clear()
        view = _View(snapshot, self._index)
        self._refresh(view, snapshot)
        choice, groups = _Choice(view, snapshot, self._acts), self._groups
        choice.add_under_way({group: self._in(group) for group in _CHOSEN})
        first: Iterable[Action] = ()
        # No plan begins while more finished plans wait to land than there are slots.
        if len(groups[_Group.LANDING]) <= snapshot.job.slots:
            first = view.first_steps()
            if view.is_calm and not self._starting:
                choice.add_calls(first)
                first = ()
            else:
                first = tuple(first)
                choice.add_first(first)
        asks = [step for step in first if step.act is Act.ASK]
        questions = [*(step for _, step in self._in(_Group.ASKING)), *asks]
        actions = [*questions, *choice.actions]
        if actions or snapshot.running:
            return tuple(actions)
        waits = [*(step for _, step in self._in(_Group.WAITING)), *first]
        if untils := sorted(step.until for step in waits if step.act is Act.WAIT):
            return (Action(Act.WAIT, snapshot.job.id, until=untils[0]),)
        return (view.end(),)

    def _in(self, group: "_Group") -> Iterator[tuple[Rank, Action]]:
        """The steps of a group, the most urgent first."""
        plan_at, steps = self._index.plan_at, self._steps
        return ((rank, steps[plan_at(rank).id]) for rank in self._groups[group])

    def _refresh(self, view: "_View", snapshot: Snapshot) -> None:
        """Compute the steps that may have changed."""
        index, job = self._index, snapshot.job
        changed = index.take_changed() | index.restless
        for key in view.running ^ self._running:
            act, _, subject = key.partition(":")
            self._acts[act] += 1 if key in view.running else -1
            owner = index.plan_of(subject)
            changed.add(owner.id if owner else subject)
        callers = (job.agent, job.reviewer, job.is_git)
        is_same = callers == self._callers and snapshot.questions == self._questions
        if not (is_same and view.is_calm and self._was_calm):
            changed |= self._steps.keys() | index.begun.keys() | index.unusual
        self._running, self._questions = view.running, snapshot.questions
        self._callers, self._was_calm = callers, view.is_calm
        for name in changed:
            self._remove(name)
            if name in index.begun:
                self._add(name, view.step(index.by_id[name]), view.running)
            elif name in index.unusual and view.first_step(index.by_id[name]):
                self._starting.add(name)

    def _add(self, plan: str, step: Action | None, running: frozenset[str]) -> None:
        if step is None:
            return
        group = _GROUPS[step.act]
        if group is not _Group.LANDING and step.key in running:
            return
        self._steps[plan] = step
        insort(self._groups[group], self._index.rank_of(plan))

    def _remove(self, plan: str) -> None:
        self._starting.discard(plan)
        if step := self._steps.pop(plan, None):
            ranks, rank = self._groups[_GROUPS[step.act]], self._index.rank_of(plan)
            del ranks[bisect_left(ranks, rank)]


class _Group(StrEnum):
    """What is done with a step."""

    ASKING = "asking"
    WAITING = "waiting"
    BUSY = "busy"  # takes a slot
    LANDING = "landing"  # one at a time
    FREE = "free"  # always


_GROUPS = {
    Act.ASK: _Group.ASKING,
    Act.WAIT: _Group.WAITING,
    **dict.fromkeys(_BUSY, _Group.BUSY),
    **dict.fromkeys(_LANDING, _Group.LANDING),
    Act.SKIP: _Group.FREE,
}
_CHOSEN = (_Group.BUSY, _Group.LANDING, _Group.FREE)


class _Choice:
    """The steps for which there is a free slot, and budget beside the calls that are running."""

    def __init__(self, view: "_View", snapshot: Snapshot, running: Counter[str]) -> None:
        self.actions: list[Action] = []
        self._view, self._snapshot = view, snapshot
        job = snapshot.job
        self._callers = {Act.EXECUTE: job.agent, Act.REVIEW: job.reviewer}
        self._slots = job.slots - sum(running[act] for act in _BUSY)
        self._landings = 0 if any(running[act] for act in _LANDING) else 1
        self._free = {
            each.provider: each.slots
            - sum(running[act] for act in _CALLS if self._callers[act] == each.provider)
            for each in job.shares
        }

    @cached_property
    def _reserved(self) -> Cost:
        """The ledger has no cost yet of calls that are running or chosen."""
        keys = (*self._snapshot.running, *(action.key for action in self.actions))
        return sum(map(self._view.price, keys), Cost())

    @property
    def _is_full(self) -> bool:
        """Whether nothing can be added: without git all work happens in one folder."""
        return not self._snapshot.job.is_git and bool(self.actions or self._snapshot.running)

    def _has_slot(self, act: Act) -> bool:
        return min(self._slots, self._free.get(self._callers.get(act, ""), self._slots)) > 0

    def add_under_way(self, groups: Mapping[_Group, Iterator[tuple[Rank, Action]]]) -> None:
        """Choose among the steps of plans that have begun."""
        if self._is_full:
            return
        ranks: dict[str, Rank] = {}
        for rank, step in (*groups[_Group.FREE], *islice(groups[_Group.LANDING], 1)):
            if self._add(step):
                ranks[step.key] = rank
        for rank, step in groups[_Group.BUSY]:
            if self._slots <= 0:
                break
            if self._add(step):
                ranks[step.key] = rank
        self.actions.sort(key=lambda action: ranks[action.key])
        if not self._snapshot.job.is_git:
            del self.actions[1:]

    def add_calls(self, steps: Iterable[Action]) -> None:
        """Choose among first calls of plans, while there is a slot."""
        left = iter(steps)
        while self._has_slot(Act.EXECUTE) and not self._is_full and (step := next(left, None)):
            self._add(step)

    def add_first(self, steps: Iterable[Action]) -> None:
        """Choose among the first steps of plans."""
        for step in steps:
            if self._is_full:
                break
            self._add(step)

    def _add(self, step: Action) -> bool:
        if step.key in self._view.running:
            return False
        group = _GROUPS[step.act]
        if group is _Group.BUSY:
            if not self._has_slot(step.act) or not self._is_affordable(step):
                return False
            self._slots -= 1
            caller = self._callers.get(step.act, "")
            if caller in self._free:
                self._free[caller] -= 1
        elif group is _Group.LANDING and self._landings:
            self._landings -= 1
        elif group is not _Group.FREE:
            return False
        self.actions.append(step)
        return True

    def _is_affordable(self, step: Action) -> bool:
        if step.act not in _CALLS or self._view.is_cheap:
            return True
        # Running calls may turn out cheaper: a person is asked only after them.
        is_affordable = self._view.is_affordable(step, self._reserved)
        if is_affordable:
            self._reserved += self._view.price(step.key)
        return is_affordable


class _View:
    """A snapshot, and everything that is derived from it."""

    def __init__(self, snapshot: Snapshot, index: ReadinessIndex) -> None:
        self._snapshot = snapshot
        self._index = index
        self._gates = index.gates
        self._questions = {each.id: each for each in snapshot.questions}
        self._by_id = index.by_id
        self._passed = index.passed
        self.running = frozenset(snapshot.running)

    @cached_property
    def is_calm(self) -> bool:
        """Whether no service refuses calls, and no call of any plan exceeds a cap."""
        return not self._refusals and not self._budget_fault(self._index.dearest)

    @cached_property
    def is_cheap(self) -> bool:
        """Whether as many calls as can run at once stay within the caps, whatever they are."""
        calls = len(self._snapshot.running) + max(self._snapshot.job.slots, 0) + 2
        dearest = self._index.dearest
        return not self._budget_fault(Cost(dearest.tokens * calls, dearest.usd * calls))

    def price(self, key: str) -> Cost:
        """The estimated cost of an action, by its key."""
        act, _, task = key.partition(":")
        plan = self._index.plan_of(task) if act in _CALLS else None
        return plan.estimate if plan else Cost()

    def is_affordable(self, action: Action, reserved: Cost) -> bool:
        """Whether the caps allow a call beside the running ones, or a person allowed it."""
        question = self._questions.get(question_id(QuestionKind.BUDGET, action.subject))
        is_allowed = bool(question and question.answer)
        return is_allowed or not self._budget_fault(reserved + self.price(action.key))

    def _budget_fault(self, cost: Cost) -> str:
        snapshot = self._snapshot
        return may_spend(cost, snapshot.spent, snapshot.spent_today, snapshot.caps)

    def first_steps(self) -> Iterator[Action]:
        """The first steps of plans that may begin, the one with the most dependent work first.

        Slots limit actions, not plans: a plan that waits for a person takes no slot.
        """
        if self._is_halted:
            return
        claims = CountedClaims()
        for rank in self._index.ready:
            plan = self._index.plan_at(rank)
            if self._index.claims.has_any(plan.files) or claims.has_any(plan.files):
                continue
            claims.add(plan.files)
            if plan.is_chosen and (step := self.first_step(plan)):
                yield step

    @cached_property
    def _is_halted(self) -> bool:
        failed = sum(not each.answer for each in self._of_kind(QuestionKind.ESCALATION))
        return self._is_aborted or halts_wave(failed)

    @cached_property
    def _is_aborted(self) -> bool:
        return any(question.answer == ABORT for question in self._snapshot.questions)

    def _of_kind(self, kind: QuestionKind) -> list[Question]:
        return [question for question in self._snapshot.questions if question.kind is kind]

    @cached_property
    def _is_tampered(self) -> bool:
        """Whether a person has yet to look at what an agent changed: nothing continues then."""
        return any(not question.answer for question in self._of_kind(QuestionKind.TOUCHED))

    @cached_property
    def _unfinished_needs(self) -> dict[str, tuple[str, ...]]:
        """By plan, the plans it needs that are incomplete because a person skipped a task."""
        unsound = self._index.unsound
        return transitive_needs(self._index.order, unsound) if unsound else {}

    def first_step(self, plan: PlanFacts) -> Action | None:
        """The first step of a plan, with a note if a plan it needs is incomplete."""
        step, needs = self.step(plan), self._unfinished_needs.get(plan.id)
        if step and step.act is Act.EXECUTE and needs is not None:
            return replace(step, note=unfinished_needs_note(plan.id, needs))
        return step

    def step(self, plan: PlanFacts) -> Action | None:
        """The next step of a plan; None: it waits for a person or for another plan."""
        if self._is_aborted or self._is_tampered:
            return None
        if not plan.is_approved:
            return self._ask_once(
                QuestionKind.PLAN_CHANGED, plan.id, "the plan changed after it was approved"
            )
        for task in plan.tasks:
            gate = self._gates.get(task.id)
            if task.is_checkpoint and (gate is None or gate.is_passed):
                question = self._checkpoint(task, gate)
                if not question.answer:
                    is_asked = bool(question.asked_at)
                    ask = Action(Act.ASK, question.subject, question=question)
                    return None if is_asked else ask
                if task.kind is TaskKind.HUMAN_VERIFY and question.answer.startswith(FIX):
                    return self._within_budget(plan, task, Act.EXECUTE)
            elif task.id not in self._passed:
                return self._task_step(plan, task, gate)
        if plan.is_merged or not self._snapshot.job.is_git:
            return Action(Act.SUMMARISE, plan.id)
        merge = Action(Act.MERGE, plan.id)
        gates = [self._gates[task.id] for task in plan.tasks if task.id in self._gates]
        why, about = _unverified_work(plan, gates), last_work(gates)
        step = self._if_allowed(QuestionKind.UNVERIFIED, merge, why, about)
        return self._if_allowed(QuestionKind.CLASH, merge) if step is merge else step

    def end(self) -> Action:
        """How the job ends, once nothing is left to do."""
        chosen = [plan for plan in self._snapshot.plans if plan.is_chosen]
        # An agent may have written a summary: it proves nothing until a person has looked at it.
        if all(plan.is_summarised for plan in chosen) and not self._is_tampered:
            undone = ", ".join(plan.id for plan in chosen if not plan.is_sound)
            if not undone:
                return Action(Act.FINISH, JobStatus.DONE)
            note = f"not done, according to its summary: {undone}; a new run begins it again"
            dependent = ", ".join(each.id for each in chosen if each.id in self._unfinished_needs)
            note += f"; done without what it needs: {dependent}" if dependent else ""
            return Action(Act.FINISH, JobStatus.FAILED, note=note)
        if self._is_aborted:
            return Action(Act.FINISH, JobStatus.FAILED, note="a person ended it")
        unanswered = [question for question in self._snapshot.questions if not question.answer]
        failed = [each for each in unanswered if each.kind is QuestionKind.ESCALATION]
        if failed and self._snapshot.job.is_rehearsed:
            # A rehearsal asks no person: it shows how the run would have failed.
            return Action(Act.FINISH, JobStatus.FAILED, note=failed[0].text)
        left = ", ".join(plan.id for plan in chosen if not plan.is_summarised)
        note = unanswered[0].text if unanswered else f"nothing can begin: {left}"
        return Action(Act.FINISH, JobStatus.BLOCKED, note=note)

    # -- tasks -----------------------------------------------------------------------------

    def _task_step(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate | None) -> Action | None:
        status = gate.gate.status if gate else None
        if gate is None or status is None:
            return self._within_budget(plan, task, Act.EXECUTE)
        if not gate.is_of(task.digest):
            return self._after_wait(plan, task, gate, Act.EXECUTE)
        if status is GateStatus.EXECUTING:
            return self._interrupted(plan, task, gate)
        if status is GateStatus.VERIFYING:
            question = self._questions.get(undeclared_question_id(gate))
            is_open = question is not None and not question.answer
            return None if is_open else Action(Act.VERIFY, task.id)
        if status is GateStatus.REVIEWING:
            return self._after_wait(plan, task, gate, Act.REVIEW)
        if status is GateStatus.BLOCKED:
            return self._blocked(plan, task, gate)
        return self._failed(plan, task, gate)

    def _interrupted(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate) -> Action | None:
        if f"{Act.EXECUTE}:{task.id}" in self.running:
            return Action(Act.EXECUTE, task.id)
        verdict = next_after_interruption(gate.gate)
        if isinstance(verdict, Escalate) and not gate.was_refused:
            return self._escalated(plan, task, gate, verdict.reason)
        return self._after_wait(plan, task, gate, Act.EXECUTE)

    def _failed(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate) -> Action | None:
        verdict = next_after_failure(gate.gate)
        if isinstance(verdict, Escalate):
            return self._escalated(plan, task, gate, verdict.reason)
        return self._after_wait(plan, task, gate, Act.EXECUTE)

    def _blocked(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate) -> Action | None:
        if gate.question:
            return self._asked(plan, task, gate)
        if not all(self._is_available(task, plan) for task in gate.waits_for):
            return None
        if gate.waits_for:
            return self._within_budget(plan, task, Act.EXECUTE)
        return self._escalated(plan, task, gate, gate.note or "the task is blocked")

    def _asked(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate) -> Action | None:
        """Ask a person what the executor asks; without options any answer is accepted."""
        subject = f"{task.id}.{len(gate.runs)}"
        question = self._questions.get(question_id(QuestionKind.ASKED, subject))
        if question is None or not question.answer:
            options = (*gate.options, f"{OTHER} your answer", ABORT) if gate.options else ()
            text = f"{task.id} {task.name}{EXECUTOR_ASKS}{gate.question}"
            return self._ask_once(QuestionKind.ASKED, subject, text, options, task.digest)
        return self._within_budget(plan, task, Act.EXECUTE)

    def _escalated(
        self, plan: PlanFacts, task: TaskFacts, gate: TaskGate, reason: str
    ) -> Action | None:
        """Ask a person about a task that failed for good, or do what they answered."""
        text = f"{task.id} {task.name}: {reason}" + (f"; {gate.note}" if gate.note else "")
        subject = f"{task.id}.{len(gate.runs)}"
        is_verify = bool(gate.gate.counted) and gate.gate.counted[-1].kind is FailureClass.VERIFY
        skips = skip_options(has_work=bool(gate.commit), is_verify=is_verify)
        options = (RETRY, *skips, ABORT, f"{FIX} what to do")
        question = self._questions.get(question_id(QuestionKind.ESCALATION, subject))
        if question is None or not question.answer:
            return self._ask_once(QuestionKind.ESCALATION, subject, text, options, task.digest)
        if skip_kind(question.answer):
            return Action(Act.SKIP, task.id)
        return self._within_budget(plan, task, Act.EXECUTE)

    def _is_available(self, task: str, plan: PlanFacts) -> bool:
        """Whether a plan can build on a task: it has passed and, in another plan, landed."""
        gate = self._gates.get(task)
        if gate is None or task not in self._passed:
            return False
        return gate.plan == plan.id or self._by_id[gate.plan].is_merged

    def _after_wait(
        self, plan: PlanFacts, task: TaskFacts, gate: TaskGate, act: Act
    ) -> Action | None:
        """A call after the wait it needs; a person decides about a wait that is too long."""
        subject = f"{task.id}.{len(gate.runs)}.{gate.waits}"
        question = self._questions.get(question_id(QuestionKind.PATIENCE, subject))
        if question is None and gate.waits and is_too_long(self._wait_left(gate), gate.waits):
            text = f"{task.id} {gate.note}; the next call is at {gate.not_before}"
            options = (WAIT, RETRY, ABORT)
            return self._ask_once(QuestionKind.PATIENCE, subject, text, options, task.digest)
        if question and not question.answer:
            return None
        if gate.not_before > self._snapshot.now and not (question and question.answer == RETRY):
            return Action(Act.WAIT, gate.task, until=gate.not_before)
        return self._within_budget(plan, task, act)

    def _wait_left(self, gate: TaskGate) -> timedelta:
        now = datetime.fromisoformat(self._snapshot.now)
        return datetime.fromisoformat(gate.not_before) - now if gate.not_before else timedelta(0)

    @cached_property
    def _refusals(self) -> dict[str, TaskGate]:
        """By agent, the gate with the latest time until which its service refuses calls."""
        job, refusals = self._snapshot.job, {}
        callers = {GateStatus.EXECUTING: job.agent, GateStatus.REVIEWING: job.reviewer}
        waiting = (self._gates[task] for task in self._index.waiting)
        for gate in sorted(waiting, key=lambda each: each.not_before):
            if gate.gate.status in callers and gate.not_before > self._snapshot.now:
                refusals[callers[gate.gate.status]] = gate
        return refusals

    def _within_budget(self, plan: PlanFacts, task: TaskFacts, act: Act) -> Action | None:
        """A call, unless its service is refusing calls or a cap would be exceeded."""
        job, gate = self._snapshot.job, self._gates.get(task.id)
        refused = self._refusals.get(job.reviewer if act is Act.REVIEW else job.agent)
        if refused and not (gate and gate.waits):
            # The service would refuse this call too. A long wait is asked about at the other task.
            is_asked = is_too_long(self._wait_left(refused), 0)
            return None if is_asked else Action(Act.WAIT, task.id, until=refused.not_before)
        why, action = self._budget_fault(plan.estimate), Action(act, task.id)
        return self._if_allowed(QuestionKind.BUDGET, action, why, task.digest) if why else action

    # -- questions -------------------------------------------------------------------------

    def _checkpoint(self, task: TaskFacts, gate: TaskGate | None) -> Question:
        """The question of a checkpoint, with the answer if it was asked in these very words.

        A stored question with another text was not asked by this plan: an agent may have written it.
        """
        kind = QuestionKind(task.kind.value.partition(":")[2])
        text, subject = task.question or task.name, _checkpoint_subject(task.id, gate)
        id_, about, details = question_id(kind, subject), task.digest, task.details
        expected = Question(id_, kind, subject, text, task.options, about=about, details=details)
        stored = self._stored(id_, about) or expected
        return stored if (stored.text, stored.below) == (text, expected.below) else expected

    def _stored(self, id_: str, about: str) -> Question | None:
        """A question that was asked already; None if its subject has changed since."""
        question = self._questions.get(id_)
        is_current = question and (not about or question.about in ("", about))
        return question if is_current else None

    def _ask_once(
        self,
        kind: QuestionKind,
        subject: str,
        text: str,
        options: tuple[str, ...] = (),
        about: str = "",
    ) -> Action | None:
        """Ask, unless the question was asked already: the plan waits for its answer."""
        id_ = question_id(kind, subject)
        if self._stored(id_, about):
            return None
        question = Question(id_, kind, subject, text, options, about=about)
        return Action(Act.ASK, subject, question=question)

    def _if_allowed(
        self, kind: QuestionKind, action: Action, why: str = "", about: str = ""
    ) -> Action | None:
        """The action, unless a person has to allow it first; `why` is the reason to ask."""
        question = self._stored(question_id(kind, action.subject), about)
        if question is None:
            options = (ACCEPT, ABORT)
            return self._ask_once(kind, action.subject, why, options, about) if why else action
        return action if question.answer else None


def _unverified_work(plan: PlanFacts, gates: Iterable[TaskGate]) -> str:
    """Why a person has to allow the landing of a plan; empty: all its work was verified."""
    skipped = [gate for gate in gates if gate.gate.skip_kind and gate.work]
    tasks = ", ".join(f"{gate.task} ({gate.gate.skip_kind})" for gate in skipped)
    return tasks and f"{plan.id} holds work that was not verified: {tasks}"


def answer_about(gate: TaskGate, questions: Iterable[Question]) -> str:
    """What a person answered about the last run of a task: to an escalation or a checkpoint."""
    ids = (
        question_id(QuestionKind.ESCALATION, f"{gate.task}.{len(gate.runs)}"),
        question_id(QuestionKind.ASKED, f"{gate.task}.{len(gate.runs)}"),
        question_id(QuestionKind.HUMAN_VERIFY, _checkpoint_subject(gate.task, gate)),
    )
    return next((question.answer for question in questions if question.id in ids), "")


def _checkpoint_subject(task: str, gate: TaskGate | None) -> str:
    """The subject of a checkpoint: a new one after each correction of the work it is about."""
    return f"{task}.{len(gate.runs)}" if gate and gate.runs else task


def question_id(kind: QuestionKind, subject: str) -> str:
    """The id of a question: one kind asks about one subject once."""
    return f"{kind}-{subject}"


def undeclared_question_id(gate: TaskGate) -> str:
    """The id of the question about the undeclared files of the last run of a task."""
    return question_id(QuestionKind.UNDECLARED, f"{gate.task}.{len(gate.runs)}")


def halts_wave(failed_tasks: int) -> bool:
    """Whether so many tasks failed that no other plan begins."""
    return failed_tasks >= FAILED_TASKS_IN_A_WAVE


def skip_options(*, has_work: bool, is_verify: bool) -> tuple[str, ...]:
    """The ways to skip a failed task; accepting its work is offered only if there is any."""
    verify = tuple(f"{SKIP_VERIFY} {reason}" for reason in SKIP_REASONS)
    forced = (f"{OVERRIDE} {OVERRIDE_WORD} and why",)
    return (SKIP, *(verify if has_work and is_verify else ()), *(forced if has_work else ()))


def skip_text(kind: SkipKind) -> str:
    """What a skip did to a task, in a few words."""
    texts = {SkipKind.VERIFY: "not verified, accepted", SkipKind.FORCED: "forced"}
    return texts.get(kind, "left out")


def service_pause(retry_after: float | None, waits: int) -> timedelta:
    """How long to wait before the next call: as the service asks, longer after each refusal."""
    least = _FIRST_PAUSE * 2 ** min(waits - 1, MAX_WAITS) if waits else 0.0
    return timedelta(seconds=min(max(retry_after or _FIRST_PAUSE, least), _LAST_PAUSE))


def is_too_long(wait: timedelta, waits: int) -> bool:
    """Whether a person decides about a wait, because of its length or its repetition."""
    return wait > LONGEST_WAIT or waits > MAX_WAITS
