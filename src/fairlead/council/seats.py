"""The six seats of the council, the quorum of plans, and what counts as a plan at all.

A seat is a role with one point of view (its lens); which model answers for it is configuration.
The synthesiser holds no seat. A council that lacks something says so wherever it is shown: a
quorum of five seats is still five of six.
"""

import re
from collections.abc import Collection, Mapping
from math import ceil

from fairlead.agents.budget import CHARACTERS_A_TOKEN
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.council.model import AnswerStatus, Ballot, SeatPlan, Vote

MAX_PLAN_TOKENS = 8192  # of a seat's plan, the brief and the master plan
MIN_ANSWERS = 4  # seats that must plan, and that must vote
MIN_CHARACTERS = 200
_SHORT = 800  # an apology is short; a long plan may mention an unreadable file
_READABLE = (AnswerStatus.OK, AnswerStatus.REPAIRED)
_UNREAD = lazy_pattern(
    # Only the author: that a worker or a user cannot read something is a finding.
    r"(?:\b(?:i|we)(?: am| was| were|['’]m|['’]re)?|\A|[.!?]) ?(?:currently |still )?"
    r"(?:can(?:no|['’])t|could(?: no|n['’])t|unable to|not able to) "
    r"(?:\w+ ){0,2}?(?:access|see|open|read|find|view|locate) (?:\w+ ){0,3}?"
    r"(?:plan|file|document|brief|attachment)s?\b"
    # Only the plan itself: a missing plan for the rollback is a finding too.
    r"|no (?:master |such |actual )?(?:plan|file|document|brief|attachment) (?:was|is|has been) "
    r"(?:provided|attached|included|given|found|present)"
    r"|(?:please|could you) (?:provide|attach|share|paste|send) (?:me )?(?:the|your|a) "
    r"(?:master |actual |full )?(?:plan|file|document|brief)\b",
    re.IGNORECASE,
)
_PART = lazy_pattern(
    r"^[\W_\d]*(summary|approach|step|risk|test|open question)", re.IGNORECASE | re.MULTILINE
)
_MIN_PARTS = 2
_STUB = lazy_pattern(
    r"\A\W*(?:\(no (?:content|output|response)\)|no response requested\.?|credit balance is too low"
    r"|execution error|api error\b.*|(?:prompt|input) is too long|invalid api key\b.*"
    r"|\[?request interrupted(?: by user)?\]?|(?:i'm |i am )?sorry, (?:but )?i can(?:no|')t .*)\W*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Seat:
    """One of the six seats."""

    name: str
    lens: str
    has_veto: bool = False


ROSTER = (
    Seat("architect", "structure, boundaries, and the fit with the existing code"),
    Seat("builder", "whether it can be built as written; the smallest complete change"),
    Seat("skeptic", "hidden assumptions, edge cases, failure modes"),
    Seat("security", "least privilege, secrets, injection, loss of data", has_veto=True),
    Seat("operator", "rollout, rollback, observability, cost"),
    Seat("advocate", "what the person asked for: nothing missing, nothing extra"),
)
PM, SYNTHESISER, HOST = "pm", "synthesiser", "host"
SEAT, SYNTHESIS, BALLOT = "seat", "synthesis", "ballot"  # kinds of calls, besides the PM's
SEAT_NAMES = tuple(seat.name for seat in ROSTER)
FAMILY_FIX = "; log in to another agent, or: fairlead config set fairlead.council.seats.SEAT AGENT"
VETO_SEATS = tuple(seat.name for seat in ROSTER if seat.has_veto)


def tokens_of(text: str) -> int:
    """Estimate the length of a text in tokens."""
    return ceil(len(text) / CHARACTERS_A_TOKEN)


def says_nothing_to_read(text: str) -> bool:
    """Whether a short answer says that its author could not read the input."""
    return len(text) < _SHORT and _UNREAD.search(" ".join(text.split())) is not None


def plan_fault(text: str) -> str:
    """Say why an answer does not count as a plan; empty if it does."""
    bare = " ".join(text.split())
    if not bare:
        return "the answer is empty"
    if len(bare) < _SHORT and _STUB.match(bare):
        return "the answer is a message of the program, not of the model"
    if says_nothing_to_read(text):
        return "the answer says that there was nothing to read"
    if len(bare) < MIN_CHARACTERS:
        return f"the answer has {len(bare)} characters, fewer than {MIN_CHARACTERS}"
    if len({part.casefold() for part in _PART.findall(text)}) < _MIN_PARTS:
        return "the answer has none of the parts of a plan"
    return ""


def length_fault(text: str, limit: int = MAX_PLAN_TOKENS) -> str:
    """Say that a plan is longer than the limit; empty if it is not. No plan is cut to fit."""
    tokens = tokens_of(text)
    return f"the plan has {tokens} tokens, more than {limit}" if tokens > limit else ""


def valid_seats(plans: Mapping[str, SeatPlan]) -> tuple[str, ...]:
    """List the seats whose plan counts, in the order of the roster."""
    return tuple(name for name in SEAT_NAMES if name in plans and plans[name].status in _READABLE)


def families_of(answers: Collection[SeatPlan | Ballot]) -> tuple[str, ...]:
    """List the model families that gave a readable answer."""
    readable = [answer for answer in answers if answer.status in _READABLE]
    return tuple(sorted({answer.family for answer in readable if answer.family}))


def lacking_quorum(plans: Mapping[str, SeatPlan], min_families: int = 1) -> str:
    """Say what the plans lack for a quorum; empty if they are enough."""
    valid = valid_seats(plans)
    families = families_of(tuple(plans[name] for name in valid))
    lacking = []
    if len(valid) < MIN_ANSWERS:
        total = len(SEAT_NAMES)
        lacking.append(f"{len(valid)} of {total} seats planned, at least {MIN_ANSWERS} must")
    lacking += [f"the {name} seat has no plan" for name in VETO_SEATS if name not in valid]
    if len(families) < min_families:
        names = ", ".join(families) or "none"
        lacking.append(
            f"the plans are of {names}, at least {min_families} model families must plan"
        )
    return "; ".join(lacking)


def degradations(
    plans: Mapping[str, SeatPlan], ballots: Collection[Ballot] = ()
) -> tuple[str, ...]:
    """Say in which ways a council was less than six seats of several model families.

    A stage that is still running is not judged: a seat that has not answered yet is not missing.
    """
    total = len(SEAT_NAMES)
    plans = plans if len(plans) == total else {}
    ballots = ballots if len(ballots) == total else ()
    valid = valid_seats(plans)
    voted = tuple(ballot.seat for ballot in ballots if ballot.vote is not Vote.ABSTAIN)
    notes = []
    if plans and len(valid) < total:
        notes.append(f"{len(valid)} of {total} seats planned: no plan from {_others(valid)}")
    if ballots and len(voted) < total:
        notes.append(f"{len(voted)} of {total} seats voted: no vote from {_others(voted)}")
    valid_plans = tuple(plans[name] for name in valid)
    cast = tuple(ballot for ballot in ballots if ballot.seat in voted)
    for title, families, answers in (
        ("plans", families_of(valid_plans), valid_plans),
        ("ballots", families_of(cast), cast),
    ):
        if answers and len(families) < 2:
            family = "".join(families) or "unknown"
            notes.append(f"all {title} come from one model family: {family}{FAMILY_FIX}")
    return tuple(notes)


def _others(present: Collection[str]) -> str:
    return ", ".join(name for name in SEAT_NAMES if name not in present)
