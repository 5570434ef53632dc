"""The seats of the council: who they are, what counts as an answer, and how many plans are enough.

A seat is a role with one lens; which model speaks for it is configuration, and the synthesiser
holds none. What a council lacks is said in so many words wherever it is shown: a quorum that is
met with five seats is still five of six.
"""

import re
from collections.abc import Collection, Mapping
from math import ceil

from fairlead.model.budget import CHARACTERS_A_TOKEN
from fairlead.model.council_job import AnswerStatus, Ballot, SeatPlan, Vote
from fairlead.values import dataclass

PLAN_TOKENS = 8192  # the most that a seat's plan, the brief or the master plan may have
LEAST_PLANS = 4
LEAST_CHARACTERS = 200
_SHORT = 800  # an apology is short; a plan that mentions one is not
_READ = (AnswerStatus.OK, AnswerStatus.REPAIRED)
_UNREAD = re.compile(
    # The author speaks of themselves: what a worker or a user cannot read is a finding.
    r"(?:\b(?:i|we)(?: am| was| were|['’]m|['’]re)?|\A|[.!?]) ?(?:currently |still )?"
    r"(?:can(?:no|['’])t|could(?: no|n['’])t|unable to|not able to) "
    r"(?:\w+ ){0,2}?(?:access|see|open|read|find|view|locate) (?:\w+ ){0,3}?"
    r"(?:plan|file|document|brief|attachment)s?\b"
    # A plan for rollback that nobody wrote is a finding too: only the plan itself is meant.
    r"|no (?:master |such |actual )?(?:plan|file|document|brief|attachment) (?:was|is|has been) "
    r"(?:provided|attached|included|given|found|present)"
    r"|(?:please|could you) (?:provide|attach|share|paste|send) (?:me )?(?:the|your|a) "
    r"(?:master |actual |full )?(?:plan|file|document|brief)\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"^[\W_\d]*(summary|approach|step|risk|test|open question)", re.IGNORECASE | re.MULTILINE
)
_LEAST_PARTS = 2
_STUB = re.compile(
    r"\A\W*(?:\(no (?:content|output|response)\)|no response requested\.?|credit balance is too low"
    r"|execution error|api error\b.*|(?:prompt|input) is too long|invalid api key\b.*"
    r"|\[?request interrupted(?: by user)?\]?|(?:i'm |i am )?sorry, (?:but )?i can(?:no|')t .*)\W*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Seat:
    """One of the six."""

    name: str
    lens: str
    has_veto: bool = False


ROSTER = (
    Seat("architect", "structure, boundaries, and the fit with the code that is there"),
    Seat("builder", "whether it can be built as written; the smallest complete change"),
    Seat("skeptic", "hidden assumptions, edge cases, ways to fail"),
    Seat("security", "least privilege, secrets, injection, loss of data", has_veto=True),
    Seat("operator", "rollout, rollback, what can be observed, cost"),
    Seat("advocate", "what the person asked for: nothing missing, nothing extra"),
)
NAMES = tuple(seat.name for seat in ROSTER)
VETO_SEATS = tuple(seat.name for seat in ROSTER if seat.has_veto)


def tokens_of(text: str) -> int:
    """How long a text is for a model, where nobody counts it exactly."""
    return ceil(len(text) / CHARACTERS_A_TOKEN)


def says_unread(text: str) -> bool:
    """Whether a short answer says that its author had nothing to read."""
    return len(text) < _SHORT and _UNREAD.search(" ".join(text.split())) is not None


def degenerate(text: str) -> str:
    """Why an answer does not count as a plan; empty if it does."""
    bare = " ".join(text.split())
    if not bare:
        return "the answer is empty"
    if len(bare) < _SHORT and _STUB.match(bare):
        return "the answer is a message of the program, not of the model"
    if says_unread(text):
        return "the answer says that there was nothing to read"
    if len(bare) < LEAST_CHARACTERS:
        return f"the answer has {len(bare)} characters, {LEAST_CHARACTERS} are the least"
    if len({part.casefold() for part in _PART.findall(text)}) < _LEAST_PARTS:
        return "the answer has none of the parts of a plan"
    return ""


def valid_seats(plans: Mapping[str, SeatPlan]) -> tuple[str, ...]:
    """The seats whose plan counts, in the order of the roster."""
    return tuple(name for name in NAMES if name in plans and plans[name].status in _READ)


def families_of(answers: Collection[SeatPlan | Ballot]) -> tuple[str, ...]:
    """The model families that really answered."""
    return tuple(sorted({each.family for each in answers if each.status in _READ and each.family}))


def lacking_quorum(plans: Mapping[str, SeatPlan], least_families: int = 1) -> str:
    """What these plans lack to go on with; empty if they are enough."""
    valid = valid_seats(plans)
    families = families_of(tuple(plans[name] for name in valid))
    lacking = []
    if len(valid) < LEAST_PLANS:
        lacking.append(f"{len(valid)} of {len(NAMES)} seats planned, {LEAST_PLANS} are the least")
    lacking += [f"the {name} seat has no plan" for name in VETO_SEATS if name not in valid]
    if len(families) < least_families:
        told = ", ".join(families) or "none"
        lacking.append(f"the plans are of {told}, {least_families} model families are the least")
    return "; ".join(lacking)


def degraded(plans: Mapping[str, SeatPlan], ballots: Collection[Ballot] = ()) -> tuple[str, ...]:
    """In which ways a council was less than six seats of several model families.

    Only what is over is judged: a seat that was not heard yet is not missing.
    """
    told = []
    plans = plans if len(plans) == len(NAMES) else {}
    ballots = ballots if len(ballots) == len(NAMES) else ()
    valid = valid_seats(plans)
    if plans and len(valid) < len(NAMES):
        told.append(f"{len(valid)} of {len(NAMES)} seats planned: no plan from {_but(valid)}")
    voted = tuple(each.seat for each in ballots if each.vote is not Vote.ABSTAIN)
    if ballots and len(voted) < len(NAMES):
        told.append(f"{len(voted)} of {len(NAMES)} seats voted: no vote from {_but(voted)}")
    for what, answers in (
        ("plans", tuple(plans[name] for name in valid)),
        ("ballots", tuple(each for each in ballots if each.seat in voted)),
    ):
        families = families_of(answers)
        if answers and len(families) < 2:
            told.append(f"all {what} come from one model family: {''.join(families) or 'unknown'}")
    return tuple(told)


def _but(present: Collection[str]) -> str:
    return ", ".join(name for name in NAMES if name not in present)
