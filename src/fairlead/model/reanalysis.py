"""What a blocked task waits for, read from its own words.

A blocker names a task, or a file that another task is to make. If that task is still open, it
comes first: one more edge in the order, refused when it closes a circle. If it is approved and
the blocked one still misses it, the state is inconsistent and a person looks; so it is when the
words name nothing that is known.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from fairlead.errors import PlanCycle
from fairlead.model.plan import PlanSheet, task_id
from fairlead.model.waves import Node, normal_path, schedule
from fairlead.values import dataclass

_TASK_ID = re.compile(
    r"\b([0-9]{2,6}[A-Z]?(?:\.[0-9]+)*-[0-9]{2,4})(?:-|:task-|-task-)([0-9]{1,4})\b"
)
_TASK_NAME = re.compile(r"\btask\s+([0-9]{1,4})\b", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s`'\"(),;:<>]+")
_LONGEST = 10_000  # of a blocker that is looked at


@dataclass(frozen=True, slots=True)
class Waits:
    """The blocked task needs another one first."""

    on: str  # a task


@dataclass(frozen=True, slots=True)
class Unsolved:
    """A person has to look at it."""

    reason: str


def reanalysed(
    blocked: str,
    blocker: str,
    plans: Sequence[PlanSheet],
    approved: Collection[str],
    edges: Mapping[str, tuple[str, ...]],
) -> Waits | Unsolved:
    """What follows from a blocked task; `edges` are the tasks that each task waits for already."""
    order = [task_id(plan.id, task.number) for plan in plans for task in plan.tasks]
    found = _named(blocked, blocker[:_LONGEST], plans, order)
    if found is None:
        return Unsolved(
            f"{blocked} is blocked and names no task or file of a plan: {blocker[:200]}"
        )
    if found in approved:
        return Unsolved(f"state inconsistent: {blocked} misses what {found} made and had approved")
    nodes = [
        Node(name, (*edges.get(name, ()), *((found,) if name == blocked else ()))) for name in order
    ]
    try:
        schedule(nodes)
    except PlanCycle as circle:
        return Unsolved(circle.what)
    return Waits(found)


def task_edges(
    plans: Sequence[PlanSheet], needs: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Each task after the one before it; the first of a plan after the last of those it needs."""
    last = {plan.id: task_id(plan.id, plan.tasks[-1].number) for plan in plans if plan.tasks}
    edges: dict[str, tuple[str, ...]] = {}
    for plan in plans:
        before = tuple(last[name] for name in needs.get(plan.id, ()) if name in last)
        for task in plan.tasks:
            name = task_id(plan.id, task.number)
            edges[name] = before
            before = (name,)
    return edges


def _named(
    blocked: str, blocker: str, plans: Sequence[PlanSheet], order: Sequence[str]
) -> str | None:
    """The task that the words mean: by its id, by a file it declares, by its number in the plan."""
    for match in _TASK_ID.finditer(blocker):
        name = task_id(match[1], int(match[2]))
        if name in order and name != blocked:
            return name
    makers = {
        normal_path(path): task_id(plan.id, task.number)
        for plan in plans
        for task in plan.tasks
        for path in task.files
        if task_id(plan.id, task.number) != blocked
    }
    for word in _BETWEEN.split(blocker):
        maker = makers.get(normal_path(word.rstrip(".")))
        if maker:
            return maker
    for match in _TASK_NAME.finditer(blocker):
        name = task_id(blocked.rpartition("-")[0], int(match[1]))
        if name in order and name != blocked:
            return name
    return None
