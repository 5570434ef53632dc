"""Counts the ballots of a round: approved, revise, ask again or blocked.

A plan is approved by six of six seats, each voting on the hash of exactly this plan; an absent
seat is not a yes. The veto rule is in this module alone: see `veto_evidence` and `veto_fault`. A
review always ends: after the last round, when the number of open items does not fall, or when a
revision changed nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.council.model import (
    MAX_ROUNDS,
    Ballot,
    Blocker,
    Item,
    TransitionGuard,
    Veto,
    Vote,
)
from fairlead.council.seats import MIN_ANSWERS, SEAT_NAMES, VETO_SEATS

EVIDENCE_WORDS = 20
GRAVE = ("high", "critical")
NO_REASON = "no reason given"
_STEP_NUMBER = lazy_pattern(r"\b[0-9]{1,3}[a-z]?\b")


class Outcome(StrEnum):
    """What a round of ballots leads to."""

    ASK_AGAIN = "ask_again"
    APPROVED = "approved"
    REVISE = "revise"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Review:
    """The input of a tally: the ballots of one round and the plan they are about."""

    ballots: tuple[Ballot, ...]
    round: int
    plan_sha256: str
    places: tuple[str, ...] = ()  # steps and parts of the plan that an item can point at
    max_rounds: int = MAX_ROUNDS
    open_before: int | None = None  # blocking items of the previous round; None: the first round
    last_sha256: str = ""  # of the plan that the previous round reviewed
    allow_absent: int = 0


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """The synthesiser's answer to a blocking item."""

    id: str
    is_changed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class OpenItem:
    """A blocking item of a round, the seats that raise it, and its age in rounds."""

    item: Item
    seats: tuple[str, ...]
    age: int


@dataclass(frozen=True, slots=True)
class VoteTally:
    """The outcome of a round and the count behind it."""

    outcome: Outcome
    guard: str  # of the transition that follows; empty: a seat is asked again
    approve: int = 0
    revise: int = 0
    absent: int = 0
    vetoes: int = 0
    reask: tuple[str, ...] = ()
    text: str = ""
    veto: Veto | None = None

    def __str__(self) -> str:
        counts = {
            "approve": self.approve,
            "revise": self.revise,
            "veto": self.vetoes,
            "absent": self.absent,
        }
        shown = [f"{count} {name}" for name, count in counts.items() if count]
        return ", ".join(shown) or "no ballots"


def tally(review: Review) -> VoteTally:
    """Count a round. The rules apply in the order in which they are written here."""
    if review.last_sha256 and review.last_sha256 == review.plan_sha256:
        text = "the revision is identical to the plan reviewed before; no seat was asked"
        return VoteTally(Outcome.BLOCKED, Blocker.DEADLOCK_SAME_PLAN, text=text)
    ballots = _ballots_on_this_plan(review)
    votes = {name: _counted_vote(ballots.get(name), review.places) for name in SEAT_NAMES}
    counts = [*votes.values()]
    result = VoteTally(
        Outcome.REVISE,
        TransitionGuard.REVISE,
        approve=counts.count(Vote.APPROVE),
        revise=counts.count(Vote.REVISE),
        absent=counts.count(Vote.ABSTAIN),
        vetoes=counts.count(Vote.VETO),
    )
    if result.vetoes:
        veto = _veto(ballots[_first(votes, Vote.VETO)], review.places)
        text = f"the {veto.by} seat, {veto.where}: {veto.why}"
        return _blocked(replace(result, veto=veto), Blocker.VETO, text)
    missing = [name for name, vote in votes.items() if vote is Vote.ABSTAIN]
    reask = tuple(name for name in missing if name not in ballots or not ballots[name].retry)
    if reask:
        return replace(result, outcome=Outcome.ASK_AGAIN, guard="", reask=reask)
    approved = replace(result, outcome=Outcome.APPROVED, guard=TransitionGuard.UNANIMOUS)
    if not missing and not result.revise:
        return approved
    # The setting allow_absent excuses one seat, never the one that could have vetoed.
    is_excused = len(missing) == 1 and missing[0] not in VETO_SEATS and not result.revise
    if review.allow_absent and is_excused:
        return replace(approved, text=f"without {missing[0]}, which did not vote")
    if not result.revise:
        text = f"{', '.join(missing)} did not vote, and an absent seat is not a yes"
        return _blocked(result, Blocker.REVIEW_QUORUM, text)
    if (voted := result.approve + result.revise) < MIN_ANSWERS:
        text = f"{voted} of {len(SEAT_NAMES)} seats voted, at least {MIN_ANSWERS} must"
        return _blocked(result, Blocker.REVIEW_QUORUM, text)
    deadlock = _deadlock(review)
    return _blocked(result, *deadlock) if deadlock else result


# -- the veto rule ---------------------------------------------------------------------------


def veto_evidence(ballot: Ballot, places: Collection[str]) -> Item | None:
    """Return the item that justifies a veto, if there is one.

    It must be of severity high or critical, point at a place of the plan, and give a reason of at
    least twenty words: a veto ends the job, so a phrase is not enough.
    """
    for item in ballot.blocking:
        is_concrete = len(item.why.split()) >= EVIDENCE_WORDS
        if item.severity in GRAVE and is_concrete and is_place(item.where, places):
            return item
    return None


def veto_fault(ballot: Ballot, places: Collection[str]) -> str:
    """Say why a VETO counts only as REVISE; empty: it is a veto, or the seat did not veto."""
    if ballot.vote is not Vote.VETO:
        return ""
    if ballot.seat not in VETO_SEATS:
        return "this seat has no veto, it counts as REVISE"
    if veto_evidence(ballot, places) is None:
        return "a veto without evidence counts as REVISE"
    return ""


def _counted_vote(ballot: Ballot | None, places: Collection[str]) -> Vote:
    if ballot is None:
        return Vote.ABSTAIN
    return Vote.REVISE if veto_fault(ballot, places) else ballot.vote


def _veto(ballot: Ballot, places: Collection[str]) -> Veto:
    item = veto_evidence(ballot, places)
    assert item is not None, "the vote was counted as a veto"
    return Veto(ballot.seat, ballot.round, item.where, item.why, item.severity)


def is_place(where: str, places: Collection[str]) -> bool:
    """Whether this text names a place of the plan: `step 4`, `Steps 2 and 4`, `Risks`."""
    names = {place.casefold() for place in places}
    if steps := steps_named(where):
        return not names.isdisjoint(steps)
    return " ".join(where.casefold().split()) in names


def steps_named(where: str) -> tuple[str, ...]:
    """Return the steps in a text that begins with "step": `Steps 2-4` names 2 and 4."""
    text = where.strip().casefold()
    return tuple(_STEP_NUMBER.findall(text)) if text.startswith("step") else ()


# -- items -----------------------------------------------------------------------------------


def blocking_count(ballots: Collection[Ballot]) -> int:
    """Count the blocking items of a round; an item that several seats raise counts once."""
    return len({item.id for ballot in ballots if ballot.final for item in ballot.blocking})


def open_items(history: Sequence[Ballot], round_: int) -> tuple[OpenItem, ...]:
    """List the blocking items of a round."""
    first_round: dict[str, int] = {}
    current: dict[str, tuple[Item, list[str]]] = {}
    for ballot in history:
        if not ballot.final or ballot.round > round_:
            continue
        for item in ballot.blocking:
            first_round.setdefault(item.id, ballot.round)
            if ballot.round == round_:
                current.setdefault(item.id, (item, []))[1].append(ballot.seat)
    return tuple(
        OpenItem(item, tuple(seats), round_ - first_round[name] + 1)
        for name, (item, seats) in current.items()
    )


def both_sides(items: Sequence[OpenItem], answers: Mapping[str, ItemAnswer]) -> str:
    """List each open item with the seats' reason and the synthesiser's answer."""
    lines = []
    for open_item in items:
        item, answer = open_item.item, answers.get(open_item.item.id)
        reply = "no answer yet"
        if answer is not None:
            reply = f"{'changed' if answer.is_changed else 'declined'}: {answer.reason}"
        lines += [f"{item.id} {item.where}: {item.why}", f"  synthesiser: {reply}"]
    return "\n".join(lines)


def _ballots_on_this_plan(review: Review) -> dict[str, Ballot]:
    """Map each seat to its last ballot of this round; a ballot on another hash is ignored."""
    expected = (review.round, review.plan_sha256)
    return {
        ballot.seat: ballot
        for ballot in review.ballots
        if (ballot.round, ballot.plan_sha256) == expected
    }


def _first(votes: Mapping[str, Vote], vote: Vote) -> str:
    return next(name for name, counted in votes.items() if counted is vote)


def _blocked(result: VoteTally, code: Blocker, text: str) -> VoteTally:
    return replace(result, outcome=Outcome.BLOCKED, guard=code, text=text)


def _deadlock(review: Review) -> tuple[Blocker, str] | None:
    if review.round >= review.max_rounds:
        return Blocker.DEADLOCK_ROUNDS, f"not unanimous after {review.max_rounds} rounds"
    count = blocking_count(review.ballots)
    if review.open_before is not None and count >= review.open_before:
        text = f"{count} items block the plan, {review.open_before} did in the round before"
        return Blocker.DEADLOCK_STALL, text
    return None
