"""Deciding: what may be done now, from a snapshot alone.

Nothing here touches disk, clock or network. After an action is done, the next snapshot no longer
offers it; after a crash, deciding again is all that resuming needs.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cached_property

from fairlead.model.budget import Spent, may_spend
from fairlead.model.job import FIX, JobStatus, Question, QuestionKind, TaskGate, last_work
from fairlead.model.lifecycle import (
    Escalate,
    FailureClass,
    GateStatus,
    next_after_failure,
    next_after_interruption,
)
from fairlead.model.plan import TaskKind
from fairlead.model.policy import halts_wave, is_too_long, skip_kind, skip_options
from fairlead.model.snapshot import Act, Action, PlanFacts, Snapshot, TaskFacts
from fairlead.model.waves import Node, Schedule, Wip, lack_of, may_start, schedule, standing_on
from fairlead.values import replace

_CALLS = (Act.EXECUTE, Act.REVIEW)  # are paid for
_BUSY = (*_CALLS, Act.VERIFY)  # take a slot
_LANDING = (Act.MERGE, Act.SUMMARISE)  # one at a time

APPROVED, RETRY, ABORT, ACCEPT, WAIT = "approved", "retry", "abort", "accept", "wait"


def decide(snapshot: Snapshot) -> tuple[Action, ...]:
    """The actions that may begin now, the most urgent first."""
    if snapshot.is_stopping or snapshot.job.status is not JobStatus.EXECUTING:
        return ()
    view = _View(snapshot)
    wanted = [step for plan in view.under_way if (step := view.step(plan))]
    # Nothing new begins while finished work waits in a queue that is longer than the slots.
    if sum(each.act in _LANDING for each in wanted) <= snapshot.job.slots:
        wanted += [step for plan in view.fresh if (step := view.first_step(plan))]
    asked = [each for each in wanted if each.act is Act.ASK]
    actions = [*asked, *_within_limits(snapshot, wanted, view)]
    if actions or snapshot.running:
        return tuple(actions)
    waits = sorted(each.until for each in wanted if each.act is Act.WAIT)
    if waits:
        return (Action(Act.WAIT, snapshot.job.id, until=waits[0]),)
    return (view.end(),)


def _within_limits(snapshot: Snapshot, wanted: list[Action], view: "_View") -> list[Action]:
    running = [Act(key.partition(":")[0]) for key in snapshot.running]
    slots = snapshot.job.slots - sum(act in _BUSY for act in running)
    landings = 0 if any(act in _LANDING for act in running) else 1
    callers = {Act.EXECUTE: snapshot.job.agent, Act.REVIEW: snapshot.job.reviewer}
    called = [callers.get(act, "") for act in running]
    free = {each.provider: each.slots - called.count(each.provider) for each in snapshot.job.shares}
    beside = sum(map(view.price, snapshot.running), Spent())  # of calls nobody knows the end of
    chosen: list[Action] = []
    for each in wanted:
        if not snapshot.job.is_git and (chosen or snapshot.running):
            break  # in place there is room for one piece of work
        if each.key in snapshot.running:
            continue
        caller = callers.get(each.act, "")
        if each.act in _BUSY and min(slots, free.get(caller, slots)) > 0:
            if each.act in _CALLS and not view.is_affordable(each, beside):
                continue  # what is under way may turn out cheaper; only then somebody is asked
            beside += view.price(each.key)
            slots -= 1
            free[caller] = free.get(caller, slots + 1) - 1
            chosen.append(each)
        elif each.act in _LANDING and landings > 0:
            landings -= 1
            chosen.append(each)
        elif each.act is Act.SKIP:
            chosen.append(each)
    return chosen


class _View:
    """A snapshot with what follows from it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._gates = {each.task: each for each in snapshot.gates}
        self._questions = {each.id: each for each in snapshot.questions}
        self._open = {each.plan for each in snapshot.gates}
        self._by_id = {each.id: each for each in snapshot.plans}
        self._passed = snapshot.passed

    @cached_property
    def _order(self) -> Schedule:
        nodes = [
            Node(each.id, each.depends_on, each.files, max(len(each.tasks), 1), each.is_summarised)
            for each in self._snapshot.plans
        ]
        return schedule(nodes)

    @cached_property
    def _estimates(self) -> dict[str, Spent]:
        return {task.id: plan.estimate for plan in self._snapshot.plans for task in plan.tasks}

    def price(self, key: str) -> Spent:
        """What an action will probably take, by its key."""
        act, _, task = key.partition(":")
        return self._estimates.get(task, Spent()) if act in _CALLS else Spent()

    def is_affordable(self, action: Action, beside: Spent) -> bool:
        """Whether a call may be made beside others, by the limits or as a person has said."""
        held = self._snapshot
        asked = self._questions.get(question_id(QuestionKind.BUDGET, action.subject))
        planned = beside + self.price(action.key)
        why = may_spend(planned, held.spent, held.spent_today, held.caps)
        return not why or bool(asked and asked.answer)

    @cached_property
    def under_way(self) -> tuple[PlanFacts, ...]:
        """Plans that have begun, by what depends on them."""
        left = [each for each in self._snapshot.plans if not each.is_summarised]
        begun = [each for each in left if each.id in self._open]
        return tuple(sorted(begun, key=lambda each: -self._order.priority[each.id]))

    @cached_property
    def fresh(self) -> tuple[PlanFacts, ...]:
        """Plans that may begin, by what depends on them."""
        if self._is_halted:
            return ()
        begun = {each.id for each in self.under_way}
        # Slots are counted in actions, not in plans: a plan that waits for a person takes none.
        may = may_start(self._order, begun, (), Wip(total=len(self._snapshot.plans)))
        return tuple(self._by_id[name] for name in may if self._by_id[name].is_chosen)

    @cached_property
    def _is_halted(self) -> bool:
        needy = [each for each in self._snapshot.questions if each.kind is QuestionKind.ESCALATION]
        is_aborted = any(each.answer == ABORT for each in self._snapshot.questions)
        return is_aborted or halts_wave(sum(not each.answer for each in needy))

    @cached_property
    def _is_touched(self) -> bool:
        """Nothing goes on while nobody has looked at what an agent did to what is not its own."""
        kind = QuestionKind.TOUCHED
        return any(each.kind is kind and not each.answer for each in self._snapshot.questions)

    @cached_property
    def _lacks(self) -> dict[str, tuple[str, ...]]:
        """By plan, those it needs that are not done, since a person left out a task of theirs."""
        undone = [each.id for each in self._snapshot.plans if not each.is_sound]
        return standing_on(self._order, undone) if undone else {}

    def first_step(self, plan: PlanFacts) -> Action | None:
        """How a plan begins; if it stands on what is not done, that is said."""
        step = self.step(plan)
        if step and step.act is Act.EXECUTE and plan.id in self._lacks:
            return replace(step, note=lack_of(plan.id, self._lacks[plan.id]))
        return step

    def step(self, plan: PlanFacts) -> Action | None:
        """The next step of a plan; None: it waits for somebody."""
        snapshot = self._snapshot
        if any(each.answer == ABORT for each in snapshot.questions) or self._is_touched:
            return None
        if not plan.is_approved:
            return self._asked(
                QuestionKind.PLAN_CHANGED, plan.id, "its text is not the one that was approved"
            )
        for task in plan.tasks:
            gate = self._gates.get(task.id)
            if task.is_checkpoint and (gate is None or gate.is_passed):
                asked = self._checkpoint(task, gate)
                if not asked.answer:
                    # It has a time once it was asked; until then the plan waits for nobody.
                    return (
                        None if asked.asked_at else Action(Act.ASK, asked.subject, question=asked)
                    )
                if task.kind is TaskKind.HUMAN_VERIFY and asked.answer.startswith(FIX):
                    return self._paid(plan, task, Act.EXECUTE)
            elif task.id not in self._passed:
                return self._task_step(plan, task, gate)
        if plan.is_merged or not snapshot.job.is_git:
            return Action(Act.SUMMARISE, plan.id)
        merge = Action(Act.MERGE, plan.id)
        held = [self._gates[task.id] for task in plan.tasks if task.id in self._gates]
        why, about = _unverified(plan, held), last_work(held)
        step = self._unless_asked(QuestionKind.UNVERIFIED, merge, why, about)
        return self._unless_asked(QuestionKind.CLASH, merge) if step is merge else step

    def end(self) -> Action:
        """Nothing is left to do: how the job ends."""
        chosen = [each for each in self._snapshot.plans if each.is_chosen]
        # A summary that an agent wrote itself proves nothing before a person has looked at it.
        if all(each.is_summarised for each in chosen) and not self._is_touched:
            undone = ", ".join(each.id for each in chosen if not each.is_sound)
            if undone:
                note = f"not done, as its summary says: {undone}; a new run begins it again"
                shaky = [each.id for each in chosen if each.id in self._lacks]
                note += f"; done without what it needs: {', '.join(shaky)}" if shaky else ""
                return Action(Act.FINISH, JobStatus.FAILED, note=note)
            return Action(Act.FINISH, JobStatus.DONE)
        if any(each.answer == ABORT for each in self._snapshot.questions):
            return Action(Act.FINISH, JobStatus.FAILED, note="a person ended it")
        unanswered = [each for each in self._snapshot.questions if not each.answer]
        failed = [each for each in unanswered if each.kind is QuestionKind.ESCALATION]
        if failed and self._snapshot.job.is_rehearsed:
            # There is nobody to ask in a rehearsal: it shows how it would have gone wrong.
            return Action(Act.FINISH, JobStatus.FAILED, note=failed[0].text)
        left = ", ".join(each.id for each in chosen if not each.is_summarised)
        note = unanswered[0].text if unanswered else f"nothing can begin: {left}"
        return Action(Act.FINISH, JobStatus.BLOCKED, note=note)

    # -- tasks -----------------------------------------------------------------------------

    def _task_step(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate | None) -> Action | None:
        status = gate.gate.status if gate else None
        if gate is None or status is None:
            return self._paid(plan, task, Act.EXECUTE)
        if not gate.is_of(task.digest):
            return self._in_time(plan, task, gate, Act.EXECUTE)
        if status is GateStatus.EXECUTING:
            return self._interrupted(plan, task, gate)
        if status is GateStatus.VERIFYING:
            return Action(Act.VERIFY, task.id)
        if status is GateStatus.REVIEWING:
            return self._in_time(plan, task, gate, Act.REVIEW)
        if status is GateStatus.BLOCKED:
            return self._blocked(plan, task, gate)
        return self._failed(plan, task, gate)

    def _interrupted(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate) -> Action | None:
        if f"{Act.EXECUTE}:{task.id}" in self._snapshot.running:
            return Action(Act.EXECUTE, task.id)
        verdict = next_after_interruption(gate.gate)
        if isinstance(verdict, Escalate) and not gate.was_refused:
            return self._escalated(plan, task, gate, verdict.reason)
        return self._in_time(plan, task, gate, Act.EXECUTE)

    def _failed(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate) -> Action | None:
        verdict = next_after_failure(gate.gate)
        if isinstance(verdict, Escalate):
            return self._escalated(plan, task, gate, verdict.reason)
        return self._in_time(plan, task, gate, Act.EXECUTE)

    def _blocked(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate) -> Action | None:
        missing = [each for each in gate.waits_for if not self._is_there(each, plan)]
        if missing:
            return None
        if gate.waits_for:
            return self._paid(plan, task, Act.EXECUTE)
        return self._escalated(plan, task, gate, gate.note or "it is blocked")

    def _escalated(
        self, plan: PlanFacts, task: TaskFacts, gate: TaskGate, reason: str
    ) -> Action | None:
        text = f"{task.id} {task.name}: {reason}" + (f"; {gate.note}" if gate.note else "")
        round_ = f"{task.id}.{len(gate.runs)}"
        is_verify = bool(gate.gate.counted) and gate.gate.counted[-1].kind is FailureClass.VERIFY
        passing = skip_options(has_work=bool(gate.commit), is_verify=is_verify)
        options = (RETRY, *passing, ABORT, f"{FIX} what to do")
        question = self._questions.get(question_id(QuestionKind.ESCALATION, round_))
        if question is None or not question.answer:
            return self._asked(QuestionKind.ESCALATION, round_, text, options, task.digest)
        if skip_kind(question.answer):
            return Action(Act.SKIP, task.id)
        return self._paid(plan, task, Act.EXECUTE)

    def _is_there(self, task: str, plan: PlanFacts) -> bool:
        """Whether what a task makes can be built on: it has passed and, in another plan, landed."""
        gate = self._gates.get(task)
        if gate is None or task not in self._passed:
            return False
        return gate.plan == plan.id or self._by_id[gate.plan].is_merged

    def _in_time(self, plan: PlanFacts, task: TaskFacts, gate: TaskGate, act: Act) -> Action | None:
        """A call, after the wait that it needs; a person decides about one that is too long."""
        subject = f"{task.id}.{len(gate.runs)}.{gate.waits}"
        asked = self._questions.get(question_id(QuestionKind.PATIENCE, subject))
        if asked is None and gate.waits and is_too_long(self._left(gate), gate.waits):
            text = f"{task.id} {gate.note}; the next call is at {gate.not_before}"
            options = (WAIT, RETRY, ABORT)
            return self._asked(QuestionKind.PATIENCE, subject, text, options, task.digest)
        if asked and not asked.answer:
            return None
        if gate.not_before > self._snapshot.now and not (asked and asked.answer == RETRY):
            return Action(Act.WAIT, gate.task, until=gate.not_before)
        return self._paid(plan, task, act)

    def _left(self, gate: TaskGate) -> timedelta:
        now = datetime.fromisoformat(self._snapshot.now)
        return datetime.fromisoformat(gate.not_before) - now if gate.not_before else timedelta(0)

    @cached_property
    def _refusals(self) -> dict[str, TaskGate]:
        """By agent, the task whose call a service refused until the latest time from now."""
        job, found = self._snapshot.job, {}
        callers = {GateStatus.EXECUTING: job.agent, GateStatus.REVIEWING: job.reviewer}
        for gate in sorted(self._snapshot.gates, key=lambda each: each.not_before):
            if gate.waits and gate.gate.status in callers and gate.not_before > self._snapshot.now:
                found[callers[gate.gate.status]] = gate
        return found

    def _paid(self, plan: PlanFacts, task: TaskFacts, act: Act) -> Action | None:
        held = self._snapshot
        gate = self._gates.get(task.id)
        refused = self._refusals.get(held.job.reviewer if act is Act.REVIEW else held.job.agent)
        if refused and not (gate and gate.waits):
            # Its service would refuse this call as well; about a long wait somebody is asked there.
            is_asked = is_too_long(self._left(refused), 0)
            return None if is_asked else Action(Act.WAIT, task.id, until=refused.not_before)
        why = may_spend(plan.estimate, held.spent, held.spent_today, held.caps)
        action = Action(act, task.id)
        return self._unless_asked(QuestionKind.BUDGET, action, why, task.digest) if why else action

    # -- questions -------------------------------------------------------------------------

    def _checkpoint(self, task: TaskFacts, gate: TaskGate | None) -> Question:
        """What a person is asked at a checkpoint, with what they said to these very words.

        Any other words are not ours: nobody has answered the question of the plan yet.
        """
        kind = QuestionKind(task.kind.value.partition(":")[2])
        text, subject = task.question or task.name, _round(task.id, gate)
        id_, about, details = question_id(kind, subject), task.digest, task.details
        wanted = Question(id_, kind, subject, text, task.options, about=about, details=details)
        held = self._found(id_, about) or wanted
        return held if (held.text, held.below) == (text, wanted.below) else wanted

    def _found(self, id_: str, about: str) -> Question | None:
        """A question that was asked; one about what has changed since must be asked anew."""
        held = self._questions.get(id_)
        return held if held and (not about or held.about in ("", about)) else None

    def _asked(
        self,
        kind: QuestionKind,
        subject: str,
        text: str,
        options: tuple[str, ...] = (),
        about: str = "",
    ) -> Action | None:
        """Ask once; while there is no answer the plan waits."""
        id_ = question_id(kind, subject)
        if self._found(id_, about):
            return None
        question = Question(id_, kind, subject, text, options, about=about)
        return Action(Act.ASK, subject, question=question)

    def _unless_asked(
        self, kind: QuestionKind, action: Action, why: str = "", about: str = ""
    ) -> Action | None:
        """The action, unless a person has to allow it first; `why` begins such a question."""
        question = self._found(question_id(kind, action.subject), about)
        if question is None:
            options = (ACCEPT, ABORT)
            return self._asked(kind, action.subject, why, options, about) if why else action
        return action if question.answer else None


def _unverified(plan: PlanFacts, gates: Iterable[TaskGate]) -> str:
    """Why the work of a plan does not land on its own."""
    passed = [each for each in gates if each.gate.skip_kind and each.work]
    told = ", ".join(f"{each.task} ({each.gate.skip_kind})" for each in passed)
    return told and f"{plan.id} holds work that was not verified: {told}"


def said_of(held: TaskGate, questions: Iterable[Question]) -> str:
    """What a person said of the last run of a task: to its escalation, or at its checkpoint."""
    wanted = (
        question_id(QuestionKind.ESCALATION, f"{held.task}.{len(held.runs)}"),
        question_id(QuestionKind.HUMAN_VERIFY, _round(held.task, held)),
    )
    return next((each.answer for each in questions if each.id in wanted), "")


def _round(task: str, gate: TaskGate | None) -> str:
    """What a checkpoint asks about: anew after each mend of the work that it is about."""
    return f"{task}.{len(gate.runs)}" if gate and gate.runs else task


def question_id(kind: QuestionKind, subject: str) -> str:
    """The name of a question: one kind asks about one subject once."""
    return f"{kind}-{subject}"
