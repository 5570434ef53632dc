"""The record of a council job and the status transitions it may take.

A ballot binds to the hash of one plan: `council_votes` are the ballots of the current round,
`cumulative_votes` all ballots ever cast, in the order in which each became final. The history is
evidence; only `tally` decides. Field names are stored keys.
"""

from enum import StrEnum

from fairlead.agents.budget import Cost
from fairlead.core.values import dataclass, field, replace
from fairlead.council.errors import JobTransition
from fairlead.jobs.model import COUNCIL, ENDED, JobStatus, cluster_words

MAX_ROUNDS = 3  # of review, with a revision between two of them
MAX_CYCLES = 2  # of research and verify by the PM


class TransitionGuard(StrEnum):
    """A condition for a transition; `decide` checks it, the transition only names it."""

    RUN_HELD = "run_held"  # no other process runs this job
    VERIFY_OK = "verify_ok"
    BRIEF_FROZEN = "brief_frozen"
    PLANS_ENOUGH = "plans_enough"
    PLAN_VALID = "plan_valid"
    REVISE = "revise"  # a seat asks for a change, there is no veto and no deadlock
    UNANIMOUS = "unanimous"  # on the hash of this plan
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


class FailureReason(StrEnum):
    """Why a job is FAILED; `exec.reason`."""

    EXIT_NONZERO = "exit_nonzero_with_summary"
    PARTIAL = "partial"
    TIMEOUT = "timeout"
    NO_SUMMARY = "no_summary"
    EXEC_FAILED = "exec_failed"
    CANCELLED = "cancelled"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class StatusTransition:
    """A transition from one status to another; any one of its guards allows it."""

    source: JobStatus
    target: JobStatus
    guards: tuple[str, ...]
    set_by: str
    is_extension: bool = False  # not in the diagram of the specification


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
TRANSITIONS = (
    StatusTransition(_J.NEW, _J.PM_RUNNING, (TransitionGuard.RUN_HELD,), "pm"),
    StatusTransition(_J.PM_RUNNING, _J.RESEARCH_DONE, (TransitionGuard.VERIFY_OK,), "pm verify"),
    StatusTransition(_J.PM_RUNNING, _J.BLOCKED, (Blocker.PM_VERIFY, *_ANY_STAGE), "pm verify"),
    StatusTransition(
        _J.RESEARCH_DONE, _J.COUNCIL_PLANNING, (TransitionGuard.BRIEF_FROZEN,), "council"
    ),
    StatusTransition(
        _J.COUNCIL_PLANNING, _J.SYNTHESIZING, (TransitionGuard.PLANS_ENOUGH,), "council"
    ),
    StatusTransition(
        _J.SYNTHESIZING, _J.COUNCIL_REVIEWING, (TransitionGuard.PLAN_VALID,), "synthesiser"
    ),
    StatusTransition(_J.COUNCIL_REVIEWING, _J.SYNTHESIZING, (TransitionGuard.REVISE,), "review"),
    StatusTransition(_J.COUNCIL_REVIEWING, _J.APPROVED, (TransitionGuard.UNANIMOUS,), "review"),
    StatusTransition(_J.COUNCIL_REVIEWING, _J.BLOCKED, (*_STUCK, *_ANY_STAGE), "review"),
    StatusTransition(_J.APPROVED, _J.EXECUTING, (TransitionGuard.PREFLIGHT_OK,), "execution"),
    StatusTransition(_J.EXECUTING, _J.DONE, (TransitionGuard.SUMMARIES_PROVE,), "classifier"),
    StatusTransition(_J.EXECUTING, _J.FAILED, tuple(FailureReason), "classifier"),
    StatusTransition(
        _J.COUNCIL_PLANNING, _J.BLOCKED, (Blocker.PLANNING_QUORUM, *_ANY_STAGE), "council", True
    ),
    StatusTransition(
        _J.SYNTHESIZING, _J.BLOCKED, (Blocker.SYNTHESIS_FAILED, *_ANY_STAGE), "synthesiser", True
    ),
    StatusTransition(_J.APPROVED, _J.BLOCKED, (Blocker.PREFLIGHT, *_ANY_STAGE), "execution", True),
    StatusTransition(_J.NEW, _J.BLOCKED, _PERSON, "a person", True),
    StatusTransition(_J.RESEARCH_DONE, _J.BLOCKED, _PERSON, "a person", True),
)
TERMINAL = (JobStatus.DONE, JobStatus.FAILED, JobStatus.BLOCKED)


class Vote(StrEnum):
    """A vote on the plan; a seat without a readable answer abstains, which is never a yes."""

    APPROVE = "APPROVE"
    REVISE = "REVISE"
    VETO = "VETO"
    ABSTAIN = "ABSTAIN"


class AnswerStatus(StrEnum):
    """The result of asking a seat."""

    OK = "ok"
    REPAIRED = "repaired"  # readable after one more call
    ABSENT = "absent"  # no answer: crashed, timed out, refused
    DEGENERATE = "degenerate"  # not an answer: empty, a stub, an apology
    UNREADABLE = "unreadable"  # without a verdict
    BLIND = "blind"  # the answer shows that the plan was not read


class Category(StrEnum):
    """The subject of an item."""

    SECURITY = "security"
    CORRECTNESS = "correctness"
    SCOPE = "scope"
    AMBIGUITY = "ambiguity"
    PERFORMANCE = "performance"
    OPS = "ops"


@dataclass(frozen=True, slots=True)
class Item:
    """A problem that a seat sees in the plan; its id stays the same over the rounds."""

    id: str  # security-1: the seat that raised it first, and a number
    category: Category
    where: str
    why: str
    fix: str = ""
    severity: str = ""  # low, medium, high, critical; a veto needs one of the last two


@dataclass(frozen=True, slots=True)
class Ballot:
    """The ballot of one seat on one plan in one round."""

    round: int
    seat: str
    vote: Vote
    plan_sha256: str
    blocking: tuple[Item, ...] = ()
    advisory: tuple[Item, ...] = ()
    status: AnswerStatus = AnswerStatus.OK
    model: str = ""
    family: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    ms: int = 0
    retry: int = 0  # 1: the seat was asked a second time
    final: bool = True  # a seat's last ballot of a round is the one that counts
    raw: str = ""
    note: str = ""  # why it is not plainly OK: repaired, blind, failed attempts


@dataclass(frozen=True, slots=True)
class SeatPlan:
    """The plan of one seat."""

    text: str = ""
    raw: str = ""
    sha256: str = ""
    tokens: int = 0
    truncated: bool = False
    model: str = ""
    family: str = ""
    status: AnswerStatus = AnswerStatus.OK
    cost_usd: float = 0.0
    ms: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class BriefCheck:
    """The result of checking the brief."""

    ok: bool = False
    failed_checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PmRecord:
    """The documents of the PM; paths are relative to the job's folder."""

    cycle: int = 1
    refined: str = ""
    audit: str = ""
    research: str = ""
    verify: BriefCheck | None = None
    brief: str = ""
    sha256: str = ""  # of the brief, once it is frozen


@dataclass(frozen=True, slots=True)
class MasterPlanRecord:
    """The version of the master plan that is voted on."""

    path: str
    version: int
    sha256: str
    tokens: int
    model: str = ""
    family: str = ""
    letters: dict[str, str] = field(default_factory=dict)  # A to F: the seat that wrote the plan


@dataclass(frozen=True, slots=True)
class Veto:
    """The veto that stopped the job, with its evidence."""

    by: str  # a seat, or `operator`
    round: int
    where: str
    why: str
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A person's decision about an open item; the next synthesis must follow it."""

    id: str
    text: str
    at: str = ""
    about: str = ""  # the text of the item: readers of the ruling have not seen it


@dataclass(frozen=True, slots=True)
class ExecutionRecord:
    """The execution of the approved plan."""

    attempt: int = 0
    pid: int | None = None
    started_at: str | None = None
    deadline: str | None = None
    exit_code: int | None = None
    timed_out: bool = False
    plans: int = 0
    summaries: int = 0
    reason: str | None = None
    session_id: str | None = None
    job: str = ""  # the execution job; empty: the host executed the plan
    base: str = ""  # the commit of HEAD at the start
    earlier: tuple[str, ...] = ()  # earlier execution jobs of the same phase
    is_error: bool = False  # the host reports an error, or did nothing
    spent: Cost = field(default_factory=Cost)  # by the host; an execution job has its own ledger
    warning: str = ""
    stdout_tail: str = ""
    stderr_tail: str = ""


@dataclass(frozen=True, slots=True)
class CouncilUsage:
    """Tokens and cost of the job; a cap of None means no cap."""

    by_stage: dict[str, Cost] = field(default_factory=dict)
    by_seat: dict[str, Cost] = field(default_factory=dict)  # also pm, synthesiser and host
    total_tokens: int = 0
    total_cost_usd: float = 0.0
    cap_usd: float | None = None

    def with_spent(self, stage: str, spent: Cost) -> "CouncilUsage":
        """Return the usage with more spent by a stage."""
        stages = {**self.by_stage, stage: self.by_stage.get(stage, Cost()) + spent}
        total = sum(stages.values(), Cost())
        usd = round(total.usd, 6)
        return replace(self, by_stage=stages, total_tokens=total.tokens, total_cost_usd=usd)


@dataclass(frozen=True, slots=True)
class CouncilJob:
    """The record of one council job. Its properties are those that every kind of job has."""

    job_id: str
    created_at: str
    request: str
    parent_job_id: str | None = None
    updated_at: str = ""
    status: JobStatus = JobStatus.NEW
    status_since: str = ""
    project_dir: str = "."
    phase: str = ""  # made from the approved plan; empty: not made yet
    pm: PmRecord = field(default_factory=PmRecord)
    council_plans: dict[str, SeatPlan] = field(default_factory=dict)
    master_plan: MasterPlanRecord | None = None
    review_round: int = 0
    max_review_rounds: int = MAX_ROUNDS
    council_votes: tuple[Ballot, ...] = ()
    cumulative_votes: tuple[Ballot, ...] = ()
    veto: Veto | None = None
    blocker_reason: str | None = None
    exec: ExecutionRecord = field(default_factory=ExecutionRecord)
    usage: CouncilUsage = field(default_factory=CouncilUsage)
    events: str = "events.jsonl"
    degraded: tuple[str, ...] = ()  # what the council lacked: seats, model families
    rulings: tuple[Ruling, ...] = ()
    voices: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # models by role, the main one first
    inputs: dict[str, str] = field(default_factory=dict)  # by stage, the hash of its prompts
    allow_absent: int = 0
    is_rehearsed: bool = False
    kind: str = COUNCIL
    is_on_cluster: bool = False  # a run made its calls on workers

    @classmethod
    def holds(cls, kind: str) -> bool:
        """Whether records of this kind of job are read into this class."""
        return kind == COUNCIL

    @property
    def is_open(self) -> bool:
        """Whether the job can still go on."""
        return not self.ended_at

    @property
    def carries_out(self) -> bool:
        """Always false: the plan is executed by a job of its own."""
        return False

    @property
    def workstream(self) -> str:
        """Always empty: its phase is one of the project itself."""
        return ""

    @property
    def id(self) -> str:
        """The id of the job."""
        return self.job_id

    @property
    def started_at(self) -> str:
        """When the job was created."""
        return self.created_at

    @property
    def ended_at(self) -> str:
        """When the job ended; empty while it can still go on."""
        return self.status_since if self.status in ENDED else ""

    @property
    def voted_round(self) -> int:
        """The last round with ballots."""
        # No seat votes on a revision that is identical to the plan before it.
        is_same = (self.blocker_reason or "").startswith(Blocker.DEADLOCK_SAME_PLAN)
        return self.review_round - is_same

    @property
    def command(self) -> str:
        """The command that resumes the job."""
        words = cluster_words(is_on_cluster=self.is_on_cluster)
        return f"fairlead run --job {self.job_id}{words}"

    @property
    def note(self) -> str:
        """The reason for the end of the job, in one line."""
        return (self.blocker_reason or self.exec.reason or "").partition("\n")[0]


def next_statuses(source: JobStatus) -> tuple[JobStatus, ...]:
    """List the statuses that may follow; none after a final one."""
    return tuple(transition.target for transition in TRANSITIONS if transition.source is source)


def transition_between(source: JobStatus, target: JobStatus, guard: str) -> StatusTransition:
    """Return the transition between two statuses, or raise if the guard does not allow it."""
    for transition in TRANSITIONS:
        if (transition.source, transition.target) == (
            source,
            target,
        ) and guard in transition.guards:
            return transition
    raise JobTransition(source, target, next_statuses(source), guard)


def with_status(
    job: CouncilJob, target: JobStatus, guard: str, now: str, text: str = ""
) -> CouncilJob:
    """Return the job in its next status. No other function changes a status.

    Each review is a new round and begins without ballots; earlier ballots stay in the history.
    """
    transition_between(job.status, target, guard)
    job = replace(job, status=target, status_since=now, updated_at=now)
    match target:
        case JobStatus.COUNCIL_REVIEWING:
            return replace(job, council_votes=(), review_round=job.review_round + 1)
        case JobStatus.BLOCKED:
            return replace(job, blocker_reason=f"{guard}: {text}" if text else str(guard))
        case JobStatus.FAILED:
            return replace(job, exec=replace(job.exec, reason=str(guard)))
        case _:
            return job


def with_ballot(job: CouncilJob, ballot: Ballot, now: str) -> CouncilJob:
    """Return the job with one more ballot, which replaces the seat's earlier one of this round."""
    votes = [other for other in job.council_votes if other.seat != ballot.seat]
    history = [
        replace(other, final=False)
        if (other.round, other.seat) == (ballot.round, ballot.seat)
        else other
        for other in job.cumulative_votes
    ]
    return replace(
        job,
        council_votes=(*votes, ballot),
        cumulative_votes=(*history, ballot),
        updated_at=now,
    )
