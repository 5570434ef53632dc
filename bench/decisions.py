"""Measures `decide` over very many plans, and a whole simulated run."""

import time
from collections.abc import Iterator

from fairlead.agents.budget import Caps, Cost
from fairlead.core.values import replace
from fairlead.execution.decide import decide
from fairlead.execution.model import Act, PlanFacts, Snapshot, TaskFacts
from fairlead.jobs.model import Job, JobStatus, Run, TaskGate
from fairlead.plans.model import TaskKind, task_id
from fairlead.project.state.gate_rules import Gate, GateEvent, advance

NOW = "2026-01-02T03:04:05Z"
RUNNING = 1000


def a_plan(number: int) -> PlanFacts:
    """A plan of one task and of its own file."""
    id_ = f"01-{number}"
    task = TaskFacts(task_id(id_, 1), 1, "Task 1: work", TaskKind.AUTO, digest="d")
    return PlanFacts(id_, (), (f"f{number}.txt",), (task,), Cost(1000, 0.01), True, False, False)


def a_snapshot(plans: int, slots: int) -> Snapshot:
    """A job of so many plans of one wave, none begun."""
    facts = tuple(map(a_plan, range(1, plans + 1)))
    job = Job(
        id="execute-01",
        phase="01",
        status=JobStatus.EXECUTING,
        started_at=NOW,
        agent="stub",
        target="main",
        base="b" * 40,
        is_git=True,
        slots=slots,
        plans=tuple(each.id for each in facts),
    )
    caps = Caps(run_tokens=0, run_usd=0, day_usd=0)
    return Snapshot(job, facts, (), (), (), NOW, Cost(), Cost(), caps)


def a_gate(plan: PlanFacts, events: tuple[GateEvent, ...]) -> TaskGate:
    """The gate of a plan's task after these events."""
    task, gate = plan.tasks[0], Gate()
    for event in events:
        gate = advance(gate, event, task=task.name)
    run = Run(
        1, 1, "b" * 40, f"fairlead/execute-01/{task.id}-r1", "s", NOW, commit="c" * 40, tree="t"
    )
    return TaskGate(
        task.id, plan.id, 1, task.name, gate=gate, runs=(run,), digest="d", started_at=NOW
    )


def decision_lines(plans: int, simulated: int) -> list[str]:
    """Figures for one decision, and for a run from the first plan to the last."""
    snapshot = a_snapshot(plans, RUNNING)
    begun = snapshot.plans[:RUNNING]
    gates = tuple(a_gate(plan, (GateEvent.START,)) for plan in begun)
    running = tuple(f"{Act.EXECUTE}:{plan.tasks[0].id}" for plan in begun)
    running = _keys(snapshot, RUNNING) or running
    busy = replace(snapshot, gates=gates, running=running)
    began = time.process_time()
    actions = decide(busy)
    seconds = time.process_time() - began
    lines = [
        (
            f"One `decide` over {plans:,} plans with {RUNNING:,} running: {seconds:.2f} CPU seconds, "
            f"{len(actions)} new actions."
        )
    ]
    began, count = time.process_time(), 0
    for count in _simulated(simulated, RUNNING):  # noqa: B007 - the last one counts
        pass
    spent = time.process_time() - began
    lines.append(
        f"A simulated run over {simulated:,} plans with {RUNNING:,} slots: {count:,} decisions, "
        f"{spent:.1f} CPU seconds, {spent / max(count, 1) * 1000:.1f} ms each."
    )
    return lines


def _keys(snapshot: Snapshot, count: int) -> tuple[str, ...]:
    return tuple(action.key for action in decide(snapshot)[:count])


def _simulated(plans: int, slots: int) -> Iterator[int]:
    """Decide again whenever a batch of actions has ended, until every plan is summarised."""
    snapshot = a_snapshot(plans, slots)
    facts = {plan.id: plan for plan in snapshot.plans}
    owner = {plan.tasks[0].id: plan.id for plan in snapshot.plans}
    gates: dict[str, TaskGate] = {}
    after = {
        Act.EXECUTE: (GateEvent.START, GateEvent.EXECUTOR_SUCCESS),
        Act.VERIFY: (GateEvent.START, GateEvent.EXECUTOR_SUCCESS, GateEvent.VERIFY_PASSED),
        Act.REVIEW: (
            GateEvent.START,
            GateEvent.EXECUTOR_SUCCESS,
            GateEvent.VERIFY_PASSED,
            GateEvent.APPROVED,
        ),
    }
    count = 0
    while True:
        state = replace(snapshot, plans=tuple(facts.values()), gates=tuple(gates.values()))
        actions = decide(state)
        count += 1
        yield count
        for action in actions:
            if action.act in after:
                plan = facts[owner[action.subject]]
                gates[plan.id] = a_gate(plan, after[action.act])
            elif action.act is Act.MERGE:
                facts[action.subject] = replace(facts[action.subject], is_merged=True)
            elif action.act is Act.SUMMARISE:
                facts[action.subject] = replace(facts[action.subject], is_summarised=True)
            else:
                return
