"""The way of a council job: which status follows which, and what has to hold for it.

Seventeen edges and no others: the seed's twelve, three ways out for stages that can fail, and a
person's cancel from the two statuses that cannot fail by themselves. An edge names its guards;
whoever moves a job says which one holds. For an edge to BLOCKED or FAILED the guard is the code
that people read as the reason. A refusal changes nothing.
"""

from enum import StrEnum

from fairlead.errors import JobTransition
from fairlead.model.job import JobStatus
from fairlead.values import dataclass

MOST_ROUNDS = 3  # reviews; a revision stands between two of them
MOST_CYCLES = 2  # research and verify of the PM


class Guard(StrEnum):
    """What has to hold for a job to move on; the engine checks it, the table only names it."""

    RUN_HELD = "run_held"  # nobody else carries this job on
    VERIFY_OK = "verify_ok"
    BRIEF_FROZEN = "brief_frozen"
    PLANS_ENOUGH = "plans_enough"
    PLAN_VALID = "plan_valid"
    REVISE = "revise"  # somebody wants a change, nobody vetoes, the council is not stuck
    UNANIMOUS = "unanimous"  # on this hash and no other
    PREFLIGHT_OK = "preflight_ok"
    SUMMARIES_PROVE = "summaries_prove"


class Blocker(StrEnum):
    """Why a job is BLOCKED; `blocker_reason` is `code: text`."""

    PM_VERIFY = "pm_verify"
    PLANNING_QUORUM = "planning_quorum"
    SYNTHESIS_FAILED = "synthesis_failed"
    DEADLOCK_ROUNDS = "deadlock_rounds"
    DEADLOCK_STALL = "deadlock_stall"
    DEADLOCK_SAME_PLAN = "deadlock_same_plan"
    VETO = "veto"
    REVIEW_QUORUM = "review_quorum"
    BUDGET = "budget"
    PREFLIGHT = "preflight"
    OPERATOR_VETO = "operator_veto"
    OPERATOR_CANCEL = "operator_cancel"
    INTERNAL = "internal"


class Failed(StrEnum):
    """Why a job is FAILED; `exec.reason`."""

    EXIT_NONZERO = "exit_nonzero_with_summary"
    PARTIAL = "partial"
    TIMEOUT = "timeout"
    NO_SUMMARY = "no_summary"
    EXEC_FAILED = "exec_failed"
    CANCELLED = "cancelled"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Edge:
    """One way from a status to another; any one of its guards opens it."""

    source: JobStatus
    target: JobStatus
    guards: tuple[str, ...]
    set_by: str
    is_extension: bool = False  # not in the seed's diagram


_PERSON = (Blocker.OPERATOR_CANCEL, Blocker.OPERATOR_VETO)
_ANY_STAGE = (Blocker.BUDGET, Blocker.INTERNAL, *_PERSON)
_STUCK = (
    Blocker.VETO,
    Blocker.DEADLOCK_ROUNDS,
    Blocker.DEADLOCK_STALL,
    Blocker.DEADLOCK_SAME_PLAN,
    Blocker.REVIEW_QUORUM,
)
_J = JobStatus
EDGES = (
    Edge(_J.NEW, _J.PM_RUNNING, (Guard.RUN_HELD,), "pm"),
    Edge(_J.PM_RUNNING, _J.RESEARCH_DONE, (Guard.VERIFY_OK,), "pm verify"),
    Edge(_J.PM_RUNNING, _J.BLOCKED, (Blocker.PM_VERIFY, *_ANY_STAGE), "pm verify"),
    Edge(_J.RESEARCH_DONE, _J.COUNCIL_PLANNING, (Guard.BRIEF_FROZEN,), "council"),
    Edge(_J.COUNCIL_PLANNING, _J.SYNTHESIZING, (Guard.PLANS_ENOUGH,), "council"),
    Edge(_J.SYNTHESIZING, _J.COUNCIL_REVIEWING, (Guard.PLAN_VALID,), "synthesiser"),
    Edge(_J.COUNCIL_REVIEWING, _J.SYNTHESIZING, (Guard.REVISE,), "review"),
    Edge(_J.COUNCIL_REVIEWING, _J.APPROVED, (Guard.UNANIMOUS,), "review"),
    Edge(_J.COUNCIL_REVIEWING, _J.BLOCKED, (*_STUCK, *_ANY_STAGE), "review"),
    Edge(_J.APPROVED, _J.EXECUTING, (Guard.PREFLIGHT_OK,), "execution"),
    Edge(_J.EXECUTING, _J.DONE, (Guard.SUMMARIES_PROVE,), "classifier"),
    Edge(_J.EXECUTING, _J.FAILED, tuple(Failed), "classifier"),
    Edge(_J.COUNCIL_PLANNING, _J.BLOCKED, (Blocker.PLANNING_QUORUM, *_ANY_STAGE), "council", True),
    Edge(_J.SYNTHESIZING, _J.BLOCKED, (Blocker.SYNTHESIS_FAILED, *_ANY_STAGE), "synthesiser", True),
    Edge(_J.APPROVED, _J.BLOCKED, (Blocker.PREFLIGHT, *_ANY_STAGE), "execution", True),
    Edge(_J.NEW, _J.BLOCKED, _PERSON, "a person", True),
    Edge(_J.RESEARCH_DONE, _J.BLOCKED, _PERSON, "a person", True),
)
TERMINAL = (JobStatus.DONE, JobStatus.FAILED, JobStatus.BLOCKED)


def next_statuses(source: JobStatus) -> tuple[JobStatus, ...]:
    """Where a status leads; nowhere from a final one."""
    return tuple(edge.target for edge in EDGES if edge.source is source)


def transition(source: JobStatus, target: JobStatus, guard: str) -> Edge:
    """The edge between two statuses, if there is one and this guard opens it."""
    for edge in EDGES:
        if (edge.source, edge.target) == (source, target) and guard in edge.guards:
            return edge
    raise JobTransition(source, target, next_statuses(source), guard)
