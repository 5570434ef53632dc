"""The graphs of a project: its roadmap, the waves of a phase, and the stages of a job.

Each function turns reports of the application into nodes and edges. The state of a node is what the
files prove; a person's text only labels it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from fairlead.core.patterns import lazy_pattern
from fairlead.council.model import CouncilJob
from fairlead.council.seats import SEAT_NAMES
from fairlead.jobs.model import Job, JobStatus, TaskGate
from fairlead.plans.roadmap_report import MilestoneReport, PhaseReport, RoadmapReport
from fairlead.plans.service import PlanEntry, PlanIndex
from fairlead.project.state.gate_rules import GateStatus
from fairlead.report.model import MOST_NODES, Graph, GraphNode, NodeState

_MOST_RANGES = 8  # of phases, in the graph of a long roadmap
_NUMBER = lazy_pattern(r"\d+(?:\.\d+)*")
_NOTHING = lazy_pattern(r"^\W*(?:nothing|none|n/?a|-|—)\b|^\W*$", re.IGNORECASE)


def roadmap_graph(report: RoadmapReport, indexes: Iterable[PlanIndex] = ()) -> Graph:
    """The phases of the current scope with their plans, in the order of their dependencies."""
    plans = {index.phase: index for index in indexes}
    nodes: list[GraphNode] = []
    edges: list[tuple[str, str]] = []
    ends: dict[str, list[str]] = {}  # phase -> the nodes that a later phase waits for
    needs = phase_needs(report.phases)
    for phase in report.phases:
        here = _phase_id(phase.number)
        nodes.append(_phase_node(phase, report.current_phase))
        index = plans.get(phase.number)
        entries = index.plans if index else ()
        known = {entry.id for entry in entries}
        nodes += [_plan_node(entry, index, group=here) for entry in entries if index]
        needed = {each for entry in entries for each in entry.depends_on}
        for entry in entries:
            before = [each for each in entry.depends_on if each in known]
            edges += [(each, entry.id) for each in before] or [(here, entry.id)]
        ends[phase.number] = [entry.id for entry in entries if entry.id not in needed] or [here]
        edges += [(end, here) for need in needs[phase.number] for end in ends.get(need, ())]
    if not nodes:  # an empty picture would look like a fault
        nodes.append(GraphNode("none", "No phases", report.scope))
    return Graph(f"Roadmap ({report.scope})", tuple(nodes), tuple(edges))


def milestones_graph(report: RoadmapReport, milestones: Sequence[MilestoneReport]) -> Graph:
    """A long roadmap: a node for each other milestone, and ranges of phases of the current one.

    The group of a range is the position of its first phase in the report.
    """
    nodes = [_milestone_node(each) for each in milestones if not each.is_current]
    count = len(report.phases)
    size = max(1, -(-count // _MOST_RANGES))
    for first in range(0, count, size):
        nodes.append(_range_node(report.phases[first : first + size], first, report.current_phase))
    edges = tuple((one.id, other.id) for one, other in pairwise(nodes))
    return Graph(f"Roadmap ({report.scope}), grouped", tuple(nodes), edges)


def _milestone_node(milestone: MilestoneReport) -> GraphNode:
    note = f"{milestone.phases} phases, {milestone.completed_plans}/{milestone.plans} plans"
    state = NodeState.DONE if milestone.is_closed else NodeState.WAITING
    title = f"{milestone.version} {milestone.name}".strip()
    return GraphNode(f"milestone {milestone.version}", title, note, state)


def _range_node(phases: Sequence[PhaseReport], first: int, current: str) -> GraphNode:
    done = sum(phase.is_complete for phase in phases)
    plans = sum(phase.plan_count for phase in phases)
    summaries = sum(phase.summary_count for phase in phases)
    state = NodeState.WAITING
    if done == len(phases):
        state = NodeState.DONE
    elif any(phase.number == current for phase in phases):
        state = NodeState.READY
    title = f"Phases {phases[0].number} to {phases[-1].number}"
    note = f"{done}/{len(phases)} phases, {summaries}/{plans} plans"
    return GraphNode(f"from {first}", title, note, state, group=str(first))


def shows_plans(report: RoadmapReport) -> bool:
    """Whether the graph of a roadmap includes plans; a large one shows phases only."""
    return report.phase_count + report.total_plans <= MOST_NODES


def phase_needs(phases: Sequence[PhaseReport]) -> Mapping[str, tuple[str, ...]]:
    """For each phase, the phases it depends on; without a statement, the one before it."""
    known = [phase.number for phase in phases]
    needs: dict[str, tuple[str, ...]] = {}
    for at, phase in enumerate(phases):
        named = tuple(
            dict.fromkeys(
                each
                for each in _NUMBER.findall(phase.depends_on)
                if each in known and each != phase.number
            )
        )
        if not named and at and not (phase.depends_on and _NOTHING.match(phase.depends_on)):
            named = (known[at - 1],)
        needs[phase.number] = named
    return needs


def waves_graph(index: PlanIndex, name: str = "") -> Graph:
    """The plans of a phase; its waves are the layers."""
    known = {entry.id for entry in index.plans}
    edges = [(need, entry.id) for entry in index.plans for need in entry.depends_on]
    title = f"Phase {index.phase}: {name}" if name else f"Phase {index.phase}"
    return Graph(
        f"{title}, plans in waves",
        tuple(_plan_node(entry, index) for entry in index.plans),
        tuple((a, b) for a, b in edges if a in known),
    )


_STAGES = (
    (JobStatus.PM_RUNNING, "PM brief"),
    (JobStatus.COUNCIL_PLANNING, "Plans of the seats"),
    (JobStatus.SYNTHESIZING, "Master plan"),
    (JobStatus.COUNCIL_REVIEWING, "Votes"),
    (JobStatus.APPROVED, "Approval"),
    (JobStatus.EXECUTING, "Execution"),
)
_ORDER = (
    JobStatus.NEW,
    JobStatus.PM_RUNNING,
    JobStatus.RESEARCH_DONE,
    JobStatus.COUNCIL_PLANNING,
    JobStatus.SYNTHESIZING,
    JobStatus.COUNCIL_REVIEWING,
    JobStatus.APPROVED,
    JobStatus.EXECUTING,
    JobStatus.DONE,
)


def council_graph(job: CouncilJob, *, is_running: bool) -> Graph:
    """The stages of a council, with one node for each seat."""
    reached = _reached(job)
    nodes = [GraphNode("request", "Request", job.request, NodeState.DONE)]
    edges: list[tuple[str, str]] = []
    before = ["request"]
    for status, title in _STAGES:
        state = _stage_state(job, status, reached, is_running=is_running)
        if status is JobStatus.COUNCIL_PLANNING:
            stage = [
                _seat_node(job, seat, state if not job.council_plans.get(seat) else None)
                for seat in SEAT_NAMES
            ]
        else:
            stage = [GraphNode(status.lower(), title, _stage_note(job, status), state)]
        nodes += stage
        edges += [(left, right.id) for left in before for right in stage]
        before = [node.id for node in stage]
    return Graph(f"Council {job.id}", tuple(nodes), tuple(edges))


def execution_graph(job: Job, index: PlanIndex, gates: Sequence[TaskGate]) -> Graph:
    """The plans of an execution, each with the state of its tasks."""
    wanted = [entry for entry in index.plans if not job.plans or entry.id in job.plans]
    known = {entry.id for entry in wanted}
    nodes = tuple(
        _gated_node(entry, index, [gate for gate in gates if gate.plan == entry.id], job)
        for entry in wanted
    )
    edges = tuple(
        (need, entry.id) for entry in wanted for need in entry.depends_on if need in known
    )
    return Graph(f"Job {job.id}", nodes, edges)


def _phase_id(number: str) -> str:
    return f"phase {number}"


def _phase_node(phase: PhaseReport, current: str) -> GraphNode:
    counts = f"{phase.summary_count}/{phase.plan_count} plans" if phase.plan_count else "no plans"
    note = f"{counts}, {phase.stage}"
    state = NodeState.WAITING
    if phase.is_complete:
        state = NodeState.DONE
    elif phase.number == current:
        state = NodeState.READY
    title = f"{phase.number} {phase.name}" if phase.name else f"Phase {phase.number}"
    return GraphNode(_phase_id(phase.number), title, note, state, document=phase.folder)


def _plan_node(entry: PlanEntry, index: PlanIndex, group: str = "") -> GraphNode:
    state = NodeState.WAITING
    if entry.halted:
        state = NodeState.FAILED
    elif entry.has_summary:
        state = NodeState.DONE
    elif entry.blocked_by or any(fault.severity == "error" for fault in entry.faults):
        state = NodeState.BLOCKED
    elif entry.id in index.runnable:
        state = NodeState.READY
    return GraphNode(entry.id, entry.id, _plan_note(entry), state, group, entry.path)


def _plan_note(entry: PlanEntry) -> str:
    tasks = f"{entry.task_count} task{'' if entry.task_count == 1 else 's'}"
    return f"{tasks}: {entry.objective}" if entry.objective.strip() else tasks


def _gated_node(
    entry: PlanEntry, index: PlanIndex, gates: Sequence[TaskGate], job: Job
) -> GraphNode:
    node = _plan_node(entry, index)
    if node.state is NodeState.DONE or not gates:
        return node
    passed = sum(gate.gate.status is GateStatus.APPROVED for gate in gates)
    latest = next((gate for gate in gates if gate.gate.is_open), gates[-1])
    note = f"{passed}/{entry.task_count} tasks, {latest.gate.status}"
    state = NodeState.RUNNING if job.is_open else NodeState.FAILED
    return GraphNode(node.id, node.title, note, state, node.group, node.document)


def _reached(job: CouncilJob) -> int:
    """How far the job came, as a position in the order of the stages."""
    if job.status in _ORDER:
        return _ORDER.index(job.status)
    if job.exec.started_at:
        return _ORDER.index(JobStatus.EXECUTING)
    if job.cumulative_votes:
        return _ORDER.index(JobStatus.COUNCIL_REVIEWING)
    if job.master_plan:
        return _ORDER.index(JobStatus.SYNTHESIZING)
    return _ORDER.index(JobStatus.COUNCIL_PLANNING if job.council_plans else JobStatus.PM_RUNNING)


def _stage_state(
    job: CouncilJob, status: JobStatus, reached: int, *, is_running: bool
) -> NodeState:
    at = _ORDER.index(status)
    if at < reached or job.status is JobStatus.DONE:
        return NodeState.DONE
    if at > reached:
        return NodeState.WAITING
    if job.status is JobStatus.FAILED:
        return NodeState.FAILED
    if job.status is JobStatus.BLOCKED or not is_running:
        return NodeState.BLOCKED
    return NodeState.RUNNING


def _stage_note(job: CouncilJob, status: JobStatus) -> str:
    if status is JobStatus.SYNTHESIZING and job.master_plan:
        return f"version {job.master_plan.version}"
    if status is JobStatus.COUNCIL_REVIEWING and job.council_votes:
        votes = [str(ballot.vote) for ballot in job.council_votes if ballot.final]
        counts = ", ".join(f"{votes.count(vote)} {vote}" for vote in dict.fromkeys(votes))
        return f"round {job.review_round}: {counts}"
    if status is JobStatus.EXECUTING and job.exec.plans:
        return f"{job.exec.summaries}/{job.exec.plans} plans"
    return ""


def _seat_node(job: CouncilJob, seat: str, state: NodeState | None) -> GraphNode:
    plan = job.council_plans.get(seat)
    if plan is None:
        return GraphNode(f"seat {seat}", seat, "", state or NodeState.WAITING)
    is_valid = plan.status == "ok"
    note = plan.model if is_valid else f"absent: {plan.status}"
    return GraphNode(f"seat {seat}", seat, note, NodeState.DONE if is_valid else NodeState.FAILED)
