"""The record of a council job, under the names its readers know.

Ballots bind to the hash of one plan: `council_votes` are those of the round that runs, and
`cumulative_votes` every ballot ever cast, in the order in which each became final. History is
evidence; only `tally` decides. A raw answer is written once and named here, never changed.
"""

from enum import StrEnum

from fairlead.model.budget import Spent
from fairlead.model.council import MOST_ROUNDS, Blocker, transition
from fairlead.model.job import COUNCIL, JobStatus
from fairlead.values import dataclass, field, replace


class Vote(StrEnum):
    """What a seat says of the plan; a seat that says nothing abstains, which is never a yes."""

    APPROVE = "APPROVE"
    REVISE = "REVISE"
    VETO = "VETO"
    ABSTAIN = "ABSTAIN"


class AnswerStatus(StrEnum):
    """What became of a question to a seat."""

    OK = "ok"
    REPAIRED = "repaired"  # readable only after it was asked to say it properly
    ABSENT = "absent"  # nobody answered in the end: dead, slow, refused
    DEGENERATE = "degenerate"  # an answer that is none: empty, a stub, an apology
    UNREADABLE = "unreadable"  # no verdict could be read from it
    BLIND = "blind"  # it shows that the plan was not read


class Category(StrEnum):
    """What an item is about."""

    SECURITY = "security"
    CORRECTNESS = "correctness"
    SCOPE = "scope"
    AMBIGUITY = "ambiguity"
    PERFORMANCE = "performance"
    OPS = "ops"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a seat finds wrong with the plan; the id stays the same over rounds."""

    id: str  # security-1: who raised it first, and which of theirs it was
    category: Category
    where: str
    why: str
    fix: str = ""
    severity: str = ""  # low, medium, high, critical; a veto needs one of the last two


@dataclass(frozen=True, slots=True)
class Ballot:
    """What one seat says of one plan in one round."""

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
    retry: int = 0  # 1: the seat was asked again
    final: bool = True  # of several ballots of a seat in a round, the one that counts
    raw: str = ""
    note: str = ""  # why it is not what it could be: repaired, blind, who failed before


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
class Verify:
    """What the checks of the brief say."""

    ok: bool = False
    failed_checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pm:
    """What the PM made; the paths are inside the folder of the job."""

    cycle: int = 1
    refined: str = ""
    audit: str = ""
    research: str = ""
    verify: Verify | None = None
    brief: str = ""
    sha256: str = ""  # of the brief, once it is frozen


@dataclass(frozen=True, slots=True)
class MasterPlanRecord:
    """The plan that is voted on."""

    path: str
    version: int
    sha256: str
    tokens: int
    model: str = ""
    family: str = ""
    letters: dict[str, str] = field(default_factory=dict)  # A to F: which seat wrote that plan


@dataclass(frozen=True, slots=True)
class Veto:
    """Who stopped the job, and on what evidence."""

    by: str  # a seat, or `operator`
    round: int
    where: str
    why: str
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a person decided about an open item; the next synthesis takes it as given."""

    id: str
    text: str
    at: str = ""
    about: str = ""  # what was open: nobody who reads the ruling has seen the item


@dataclass(frozen=True, slots=True)
class Exec:
    """The carrying out of the approved plan."""

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
    job: str = ""  # our own engine's job; empty: the host carried it out
    base: str = ""  # where the branch was at the start
    earlier: tuple[str, ...] = ()  # jobs that carried the same phase out before this one
    is_error: bool = False  # the host's program says so itself, or did nothing at all
    spent: Spent = field(default_factory=Spent)  # by the host; our own engine has its ledger
    warning: str = ""
    stdout_tail: str = ""
    stderr_tail: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the job took, by stage; a cap of None is none."""

    by_stage: dict[str, Spent] = field(default_factory=dict)
    by_seat: dict[str, Spent] = field(default_factory=dict)  # and by pm and synthesiser
    total_tokens: int = 0
    total_cost_usd: float = 0.0
    cap_usd: float | None = None

    def with_spent(self, stage: str, spent: Spent) -> "Usage":
        """This and what a stage took in addition."""
        held = {**self.by_stage, stage: self.by_stage.get(stage, Spent()) + spent}
        total = sum(held.values(), Spent())
        return replace(
            self, by_stage=held, total_tokens=total.tokens, total_cost_usd=round(total.usd, 6)
        )


@dataclass(frozen=True, slots=True)
class CouncilJob:
    """One council job. It lies beside other jobs, and answers to the names a list of jobs needs."""

    job_id: str
    created_at: str
    request: str
    parent_job_id: str | None = None
    updated_at: str = ""
    status: JobStatus = JobStatus.NEW
    status_since: str = ""
    project_dir: str = "."
    phase: str = ""  # what the bridge made of the plan; empty: nothing yet
    pm: Pm = field(default_factory=Pm)
    council_plans: dict[str, SeatPlan] = field(default_factory=dict)
    master_plan: MasterPlanRecord | None = None
    review_round: int = 0
    max_review_rounds: int = MOST_ROUNDS
    council_votes: tuple[Ballot, ...] = ()
    cumulative_votes: tuple[Ballot, ...] = ()
    veto: Veto | None = None
    blocker_reason: str | None = None
    exec: Exec = field(default_factory=Exec)
    usage: Usage = field(default_factory=Usage)
    events: str = "events.jsonl"
    degraded: tuple[str, ...] = ()  # in which ways the council was less than it should be
    rulings: tuple[Ruling, ...] = ()
    voices: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by role, the main one first
    inputs: dict[str, str] = field(default_factory=dict)  # by stage, the hash of what went in
    allow_absent: int = 0
    is_rehearsed: bool = False
    kind: str = COUNCIL

    @property
    def id(self) -> str:
        """Its name, as any job has one."""
        return self.job_id

    @property
    def started_at(self) -> str:
        """When it was made."""
        return self.created_at

    @property
    def ended_at(self) -> str:
        """When it ended; empty while it can still move."""
        ended = (JobStatus.DONE, JobStatus.FAILED, JobStatus.BLOCKED)
        return self.status_since if self.status in ended else ""

    @property
    def voted_round(self) -> int:
        """The round of the last ballots: nobody is asked about a plan that changed nothing."""
        is_same = (self.blocker_reason or "").startswith(Blocker.DEADLOCK_SAME_PLAN)
        return self.review_round - is_same

    @property
    def command(self) -> str:
        """What goes on with it."""
        return f"fairlead run --job {self.job_id}"

    @property
    def note(self) -> str:
        """Why it ended as it did, in one line."""
        told = self.blocker_reason or self.exec.reason or ""
        return told.partition("\n")[0]


def moved(job: CouncilJob, target: JobStatus, guard: str, now: str, text: str = "") -> CouncilJob:
    """The job one status further; the only function that changes a status.

    Each review is a round of its own and begins without ballots; the earlier ones stay in the
    history.
    """
    transition(job.status, target, guard)
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
    """The job with one more ballot; one of a seat that was asked again makes the earlier not final."""
    votes = tuple(each for each in job.council_votes if each.seat != ballot.seat)
    history = tuple(
        replace(each, final=False) if _is_replaced(each, ballot) else each
        for each in job.cumulative_votes
    )
    return replace(
        job,
        council_votes=(*votes, ballot),
        cumulative_votes=(*history, ballot),
        updated_at=now,
    )


def _is_replaced(earlier: Ballot, later: Ballot) -> bool:
    return (earlier.round, earlier.seat, earlier.final) == (later.round, later.seat, True)
