"""A council job at one moment: all that deciding may know of it, read from the disk.

What was said is here as what it means: checked passes, seats with or without a plan, the faults
of a synthesis, ballots. The texts themselves stay in raw memory.
"""

from enum import StrEnum

from fairlead.model.budget import Caps, Spent
from fairlead.model.council_job import CouncilJob, Verify
from fairlead.model.ending import Ended
from fairlead.model.tally import Review
from fairlead.values import dataclass, field

TOUCHED = "touched"  # the wish of the run itself, when somebody changed what is not theirs


@dataclass(frozen=True, slots=True)
class CallFacts:
    """A stored answer: whether there is one, and what stands against it."""

    is_ok: bool
    is_cut: bool = False
    faults: tuple[str, ...] = ()  # why it cannot be used as it is
    sha256: str = ""  # of what was made of it


@dataclass(frozen=True, slots=True)
class CouncilSnapshot:
    """All of it."""

    job: CouncilJob
    calls: dict[str, CallFacts]  # by key
    verified: tuple[Verify, ...] = ()  # of each cycle of the PM
    review: Review | None = None  # what is counted, once there is a plan to vote on
    spent: Spent = field(default_factory=Spent)
    spent_today: Spent = field(default_factory=Spent)
    estimates: dict[str, Spent] = field(default_factory=dict)  # of one call, by what it is for
    caps: Caps = field(default_factory=Caps)
    min_families: int = 1
    wish: tuple[str, str] = ("", "")  # what a person wants, and why
    preflight: tuple[str, ...] = ()  # what stands against executing
    may_execute: bool = False
    ended: Ended | None = None  # the execution, once it is over
    completion: str = "strict"
    running: tuple[str, ...] = ()
    is_stopping: bool = False


class CouncilAct(StrEnum):
    """What can be done next."""

    ASK = "ask"
    MOVE = "move"


@dataclass(frozen=True, slots=True)
class CouncilAction:
    """One thing that may be done now."""

    act: CouncilAct
    subject: str  # the key of a call, or the status to move to
    guard: str = ""
    note: str = ""

    @property
    def key(self) -> str:
        """What it is, in one word."""
        return f"{self.act}:{self.subject}"
