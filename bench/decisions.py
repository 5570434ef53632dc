"""Measures `decide` over very many plans, and whole simulated runs.

`python -m bench.decisions [PLANS [SIMULATED]]` prints the lines that `bench.cluster` puts on its page.
"""

import heapq
import sys
import time
from random import Random

from fairlead.agents.budget import Caps, Cost
from fairlead.core.values import replace
from fairlead.execution.decide import Decider
from fairlead.execution.model import Act, Action, PlanFacts, Snapshot, TaskFacts
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
    busy = replace(snapshot, gates=gates, running=running)
    decider = Decider()
    began = time.process_time()
    actions = decider.decide(busy)
    seconds = time.process_time() - began
    ended = replace(
        busy,
        gates=(a_gate(begun[0], _AFTER[Act.EXECUTE]), *gates[1:]),
        running=running[1:],
    )
    began = time.process_time()
    following = decider.decide(ended)
    again = time.process_time() - began
    assert (len(actions), [action.act for action in following]) == (0, [Act.VERIFY])
    lines = [
        (
            f"One `decide` over {plans:,} plans with {RUNNING:,} running: {seconds:.2f} CPU seconds. "
            f"The next one of the same run, after one call has ended: {again * 1000:.1f} ms."
        ),
        "",
        "Simulated runs from the first plan to the last, in which a decision follows each end of an action:",
        "",
        "| plans | slots | decisions | CPU seconds | ms for a decision | CPU ms for a plan |",
        "|---|---|---|---|---|---|",
    ]
    for count in (simulated // 20, simulated // 4, simulated):
        began, decisions = time.process_time(), simulated_decisions(count, RUNNING)
        spent = time.process_time() - began
        cells = (
            f"{count:,}",
            f"{RUNNING:,}",
            f"{decisions:,}",
            f"{spent:.1f}",
            f"{spent / max(decisions, 1) * 1000:.2f}",
            f"{spent / max(count, 1) * 1000:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


_AFTER = {
    Act.EXECUTE: (GateEvent.START, GateEvent.EXECUTOR_SUCCESS),
    Act.VERIFY: (GateEvent.START, GateEvent.EXECUTOR_SUCCESS, GateEvent.VERIFY_PASSED),
    Act.REVIEW: (
        GateEvent.START,
        GateEvent.EXECUTOR_SUCCESS,
        GateEvent.VERIFY_PASSED,
        GateEvent.APPROVED,
    ),
}
# Virtual seconds: agents take minutes, and landings keep up with them.
_TAKES = {
    Act.EXECUTE: 600.0,
    Act.VERIFY: 60.0,
    Act.REVIEW: 300.0,
    Act.MERGE: 0.4,
    Act.SUMMARISE: 0.1,
}


def simulated_decisions(plans: int, slots: int) -> int:
    """Run a job on a virtual clock until every plan is summarised; how often it was decided."""
    random = Random(1)  # noqa: S311 - repeatable
    decider, snapshot = Decider(), a_snapshot(plans, slots)
    facts, gates = list(snapshot.plans), dict[str, TaskGate]()
    position = {plan.id: at for at, plan in enumerate(facts)}
    owner = {plan.tasks[0].id: plan.id for plan in facts}
    running: dict[str, Action] = {}
    ends: list[tuple[float, str]] = []
    count, now, known = 0, 0.0, snapshot.plans
    while True:
        state = replace(snapshot, plans=known, gates=tuple(gates.values()), running=tuple(running))
        actions = decider.decide(state)
        count += 1
        if actions and actions[0].act is Act.FINISH:
            assert actions[0].subject == JobStatus.DONE
            return count
        for action in actions:
            running[action.key] = action
            length = _TAKES[action.act] * random.uniform(0.5, 1.5)
            heapq.heappush(ends, (now + length, action.key))
            if action.act is Act.EXECUTE:
                name = owner[action.subject]
                gates[name] = a_gate(facts[position[name]], (GateEvent.START,))
        now, key = heapq.heappop(ends)
        action = running.pop(key)
        if action.act in _AFTER:
            name = owner[action.subject]
            gates[name] = a_gate(facts[position[name]], _AFTER[action.act])
            continue
        at = position[action.subject]
        is_over = action.act is Act.SUMMARISE
        facts[at] = replace(facts[at], is_merged=True, is_summarised=is_over)
        known = tuple(facts)


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]] or [1_000_000, 20_000]
    sys.stdout.write("\n".join(decision_lines(numbers[0], numbers[-1])) + "\n")
