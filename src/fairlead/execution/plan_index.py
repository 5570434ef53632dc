"""What follows from the plans and gates of a snapshot, kept from one snapshot to the next.

A run asks what may begin after every action, and between two questions little changes. The index
takes over the differences, so a decision costs what changed and not what there is. It is a cache
and nothing else: an index that has seen other snapshots leads to the same decision as a new one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from fairlead.agents.budget import Cost
from fairlead.execution.model import PlanFacts, Snapshot, TaskFacts
from fairlead.jobs.model import TaskGate
from fairlead.plans.waves import CountedClaims, DependencyOrder, PlanNode, dependency_order
from fairlead.project.state.gate_rules import GateStatus

Rank = tuple[int, int]  # minus the dependent work, and the position in the phase: urgent is small
_CHUNK = 512  # values that are compared at once
Value = TypeVar("Value")


class ReadinessIndex:
    """The plans that may begin or have begun, and which of them changed since the last snapshot."""

    def __init__(self) -> None:
        self._plans: tuple[PlanFacts, ...] = ()
        self._gates: tuple[TaskGate, ...] = ()
        self._clear()

    def _clear(self) -> None:
        self.by_id: dict[str, PlanFacts] = {}
        self.gates: dict[str, TaskGate] = {}
        self.passed: set[str] = set()  # the tasks that passed with the text they have now
        self.waiting: set[str] = set()  # the tasks whose service refused their call
        self.ready: list[
            Rank
        ] = []  # plans that may begin, as far as others do not change its files
        self.unusual: set[str] = set()  # ready plans that do not simply begin with their first task
        self.begun: dict[str, Rank] = {}
        self.restless: set[str] = (
            set()
        )  # begun plans whose next step depends on time or other plans
        self.claims = CountedClaims()  # the files of begun plans
        self.unsound: set[str] = set()
        self.changed: set[str] = set()  # begun or unusual plans, until their step is computed
        self.order = DependencyOrder((), {}, {})
        self.dearest = Cost()  # no call of any plan is estimated higher
        self._owner: dict[str, str] = {}  # of a task: its plan
        self._rank: dict[str, Rank] = {}
        self._dependants: dict[str, list[str]] = {}
        self._missing: dict[str, int] = {}  # needs without a summary
        self._closed: set[str] = set()  # summarised, as is everything they need
        self._gates_of: dict[str, set[str]] = {}  # plan -> tasks

    def update(self, snapshot: Snapshot) -> bool:
        """Take over everything that differs from the last snapshot; True: all ranks are new."""
        old, new = self._plans, snapshot.plans
        is_rebuilt = self._is_rebuilt(old, new)
        if is_rebuilt:
            self._clear()
            self._build(new)
            self._gates = ()
        self._plans = new
        gates = snapshot.gates
        if gates is not self._gates:
            removed, added = differences(self._gates, gates)
            self._gates = gates
            for gate in removed:
                self._remove_gate(gate)
            for gate in added:
                self._add_gate(gate)
            touched = {gate.plan for gate in (*removed, *added)}
            touched |= {self._owner.get(gate.task, "") for gate in (*removed, *added)}
            for name in touched:
                self._classify(name)
            if len(self.gates) != len(gates):  # two of one task cannot be followed
                self._plans = ()
        return is_rebuilt

    def take_changed(self) -> set[str]:
        """The plans whose step may have changed since this was asked last."""
        changed, self.changed = self.changed, set()
        return changed

    def plan_at(self, rank: Rank) -> PlanFacts:
        """The plan of a rank."""
        return self._plans[rank[1]]

    def rank_of(self, plan: str) -> Rank:
        """The urgency of a plan."""
        return self._rank[plan]

    def plan_of(self, task: str) -> PlanFacts | None:
        """The plan of a task; None: no plan has it."""
        owner = self._owner.get(task)
        return self.by_id[owner] if owner else None

    # -- plans -----------------------------------------------------------------------------

    def _is_rebuilt(self, old: tuple[PlanFacts, ...], new: tuple[PlanFacts, ...]) -> bool:
        """Whether the index has to be built anew; otherwise it has taken over every change."""
        if old is new:
            return not self.by_id
        if len(old) != len(new) or not self.by_id:
            return True
        pairs = [(old[at], new[at]) for at in changed_positions(old, new)]
        if not all(map(self._can_follow, pairs)):
            return True
        self._plans = new
        for was, now in pairs:
            self._replace(was, now)
        return False

    def _can_follow(self, pair: tuple[PlanFacts, PlanFacts]) -> bool:
        """Whether a change of a plan leaves the order of all other plans as it is."""
        was, now = pair
        shape = (was.id, was.depends_on, was.files, was.tasks, was.estimate)
        if shape != (now.id, now.depends_on, now.files, now.tasks, now.estimate):
            return False
        if was.is_summarised == now.is_summarised:
            return True
        # Done work no longer counts for what it needs, which matters unless that is done as well.
        return now.is_summarised and self._closed.issuperset(self.order.needs[now.id])

    def _replace(self, was: PlanFacts, now: PlanFacts) -> None:
        self.by_id[now.id] = now
        (self.unsound.discard if now.is_sound else self.unsound.add)(now.id)
        if now.is_summarised and not was.is_summarised:
            self._closed.add(now.id)
            for name in self._dependants.get(now.id, ()):
                self._missing[name] -= 1
                self._classify(name)
        self._classify(now.id)

    def _build(self, plans: tuple[PlanFacts, ...]) -> None:
        order = self.order = dependency_order(
            [
                PlanNode(
                    each.id, each.depends_on, each.files, len(each.tasks) or 1, each.is_summarised
                )
                for each in plans
            ]
        )
        self.by_id = {plan.id: plan for plan in plans}
        priority = order.priority
        self._rank = {plan.id: (-priority[plan.id], at) for at, plan in enumerate(plans)}
        self._owner = {task.id: plan.id for plan in plans for task in plan.tasks}
        done = {plan.id for plan in plans if plan.is_summarised}
        for name in order.ids:
            needs = order.needs[name]
            for each in needs:
                self._dependants.setdefault(each, []).append(name)
            self._missing[name] = sum(each not in done for each in needs) if needs else 0
            if name in done and self._closed.issuperset(needs):
                self._closed.add(name)
        self.unsound = {plan.id for plan in plans if not plan.is_sound}
        costs = {plan.estimate for plan in plans}
        self.dearest = Cost(
            max((each.tokens for each in costs), default=0),
            max((each.usd for each in costs), default=0.0),
        )
        self.ready = sorted(self._rank[plan.id] for plan in plans if self._is_ready(plan))
        self.unusual = {
            plan.id for plan in plans if self._is_ready(plan) and not self._is_usual(plan)
        }
        self.changed |= self.unusual

    def _is_ready(self, plan: PlanFacts) -> bool:
        is_left = not plan.is_summarised and not self._missing[plan.id]
        return is_left and not self._gates_of.get(plan.id)

    def _is_usual(self, plan: PlanFacts) -> bool:
        """Whether a plan that has not begun begins with a call for its first task."""
        first = plan.tasks[0] if plan.tasks else None
        is_call = first is not None and not first.is_checkpoint and first.id not in self.gates
        return is_call and plan.is_approved

    def _classify(self, name: str) -> None:
        """File a plan under what it is now: ready, begun, or neither."""
        plan = self.by_id.get(name)
        if plan is None:
            return
        rank, is_ready = self._rank[name], self._is_ready(plan)
        at = bisect_left(self.ready, rank)
        was_ready = at < len(self.ready) and self.ready[at] == rank
        if is_ready and not was_ready:
            insort(self.ready, rank)
        elif was_ready and not is_ready:
            del self.ready[at]
        is_unusual = is_ready and not self._is_usual(plan)
        (self.unusual.add if is_unusual else self.unusual.discard)(name)
        own = self._gates_of.get(name, ())
        is_begun = bool(own) and not plan.is_summarised
        if is_begun and name not in self.begun:
            self.begun[name] = rank
            self.claims.add(plan.files)
        elif not is_begun and name in self.begun:
            del self.begun[name]
            self.claims.remove(plan.files)
        tasks = {*own, *(task.id for task in plan.tasks if task.id in self.gates)}
        is_restless = is_begun and any(_is_restless(self.gates[task]) for task in tasks)
        (self.restless.add if is_restless else self.restless.discard)(name)
        self.changed.add(name)

    # -- gates -----------------------------------------------------------------------------

    def _add_gate(self, gate: TaskGate) -> None:
        self.gates[gate.task] = gate
        self._gates_of.setdefault(gate.plan, set()).add(gate.task)
        if gate.passes(self._digest(gate.task)):
            self.passed.add(gate.task)
        if gate.waits:
            self.waiting.add(gate.task)

    def _remove_gate(self, gate: TaskGate) -> None:
        del self.gates[gate.task]
        self._gates_of[gate.plan].discard(gate.task)
        self.passed.discard(gate.task)
        self.waiting.discard(gate.task)

    def _digest(self, task: str) -> str:
        plan = self.plan_of(task)
        own: Iterable[TaskFacts] = plan.tasks if plan else ()
        return next((each.digest for each in own if each.id == task), "")


def _is_restless(gate: TaskGate) -> bool:
    return bool(gate.waits or gate.not_before) or gate.gate.status is GateStatus.BLOCKED


def changed_positions(old: Sequence[Value], new: Sequence[Value]) -> Iterator[int]:
    """The positions at which two sequences of the same length differ."""
    for start in range(0, len(new), _CHUNK):
        if old[start : start + _CHUNK] != new[start : start + _CHUNK]:
            positions = range(start, min(start + _CHUNK, len(new)))
            yield from (at for at in positions if old[at] is not new[at])


def differences(
    old: tuple[Value, ...], new: tuple[Value, ...]
) -> tuple[Sequence[Value], Sequence[Value]]:
    """What has to be removed from one sequence, and added to it, to have the values of another."""
    if len(old) == len(new):
        positions = tuple(changed_positions(old, new))
        return [old[at] for at in positions], [new[at] for at in positions]
    before = _common(old, new)
    stop = before - 1 if before else None  # of a slice that goes backwards
    after = _common(old[:stop:-1], new[:stop:-1])
    removed, added = old[before : len(old) - after], new[before : len(new) - after]
    kept = {*map(id, removed)}.intersection(map(id, added))
    return (
        [each for each in removed if id(each) not in kept],
        [each for each in added if id(each) not in kept],
    )


def _common(old: Sequence[Value], new: Sequence[Value]) -> int:
    """How many values are the same at the beginning."""
    least = min(len(old), len(new))
    for start in range(0, least, _CHUNK):
        end = min(start + _CHUNK, least)
        if old[start:end] != new[start:end]:
            return next(at for at in range(start, end) if old[at] != new[at])
    return least
