"""The tally: six ballots on one plan become one outcome. Code counts, never a model.

Six of six on the hash that is voted on, and an absent seat is not a yes. A veto holds only from
a seat that has one and with evidence; any other counts as REVISE. Loops end: after the last
round, when no fewer items are open than before, or when a revision changed nothing.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

from fairlead.model.council import MOST_ROUNDS, Blocker, Guard
from fairlead.model.council_job import Ballot, Item, Veto, Vote
from fairlead.model.seats import LEAST_PLANS, NAMES, VETO_SEATS
from fairlead.values import dataclass, replace

EVIDENCE_WORDS = 20
GRAVE = ("high", "critical")
NO_REASON = "no reason given"
_NUMBER = re.compile(r"\b[0-9]{1,3}[a-z]?\b")


class Outcome(StrEnum):
    """What a round of ballots leads to."""

    ASK_AGAIN = "ask_again"
    APPROVED = "approved"
    REVISE = "revise"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Review:
    """What is counted: the ballots of one round, after every seat was asked once."""

    ballots: tuple[Ballot, ...]
    round: int
    plan_sha256: str
    places: tuple[str, ...] = ()  # what an item can point at in the plan: its steps and parts
    max_rounds: int = MOST_ROUNDS
    open_before: int | None = None  # blocking items of the round before; None: there was none
    last_sha256: str = ""  # of the plan that was reviewed before this one
    allow_absent: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """What the synthesiser did about a blocking item."""

    id: str
    is_changed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class OpenItem:
    """A blocking item of the last round, who holds to it, and for how many rounds."""

    item: Item
    seats: tuple[str, ...]
    age: int


@dataclass(frozen=True, slots=True)
class Tally:
    """An outcome, and the count behind it."""

    outcome: Outcome
    guard: str  # what opens the edge of the job; empty: a seat is asked again
    approve: int = 0
    revise: int = 0
    absent: int = 0
    vetoes: int = 0
    reask: tuple[str, ...] = ()
    text: str = ""
    veto: Veto | None = None
    is_degraded: bool = False

    def __str__(self) -> str:
        counts = (
            (self.approve, "approve"),
            (self.revise, "revise"),
            (self.vetoes, "veto"),
            (self.absent, "absent"),
        )
        return ", ".join(f"{count} {word}" for count, word in counts if count) or "no ballots"


def tally(review: Review) -> Tally:
    """The outcome of a round; the rules stand in the order in which they apply."""
    if review.last_sha256 and review.last_sha256 == review.plan_sha256:
        text = "the revision is the plan that was reviewed before; nobody was asked"
        return Tally(Outcome.BLOCKED, Blocker.DEADLOCK_SAME_PLAN, text=text)
    ballots = _valid(review)
    counted = {name: _counted(ballots.get(name), review.places) for name in NAMES}
    votes = tuple(counted.values())
    found = Tally(
        Outcome.REVISE,
        Guard.REVISE,
        approve=votes.count(Vote.APPROVE),
        revise=votes.count(Vote.REVISE),
        absent=votes.count(Vote.ABSTAIN),
        vetoes=votes.count(Vote.VETO),
    )
    if found.vetoes:
        by = next(name for name, vote in counted.items() if vote is Vote.VETO)
        veto = _veto(ballots[by], review.places)
        found = replace(found, veto=veto)
        return _blocked(found, Blocker.VETO, f"the {veto.by} seat, {veto.where}: {veto.why}")
    missing = tuple(name for name, vote in counted.items() if vote is Vote.ABSTAIN)
    reask = tuple(name for name in missing if name not in ballots or not ballots[name].retry)
    if reask:
        return replace(found, outcome=Outcome.ASK_AGAIN, guard="", reask=reask)
    approved = replace(found, outcome=Outcome.APPROVED, guard=Guard.UNANIMOUS)
    if found.approve == len(NAMES):
        return approved
    is_bearable = len(missing) == 1 and missing[0] not in VETO_SEATS
    if review.allow_absent and found.approve == len(NAMES) - 1 and is_bearable:
        text = f"without {missing[0]}, which did not vote"
        return replace(approved, text=text, is_degraded=True)
    if not found.revise:
        text = f"{', '.join(missing)} did not vote, and an absent seat is not a yes"
        return _blocked(found, Blocker.REVIEW_QUORUM, text)
    if (voted := found.approve + found.revise) < LEAST_PLANS:
        text = f"{voted} of {len(NAMES)} seats voted, {LEAST_PLANS} are the least"
        return _blocked(found, Blocker.REVIEW_QUORUM, text)
    stuck = _deadlock(review)
    return _blocked(found, *stuck) if stuck else found


def has_evidence(ballot: Ballot, places: Collection[str]) -> Item | None:
    """The item that makes a veto one: grave, at a place of the plan, with a concrete reason."""
    for item in ballot.blocking:
        is_concrete = len(item.why.split()) >= EVIDENCE_WORDS
        if item.severity in GRAVE and is_concrete and is_place(item.where, places):
            return item
    return None


def is_place(where: str, places: Collection[str]) -> bool:
    """Whether these words point at a place of the plan: `step 4`, `Steps 2 and 4`, `Risks`."""
    known = {place.casefold() for place in places}
    if steps := steps_named(where):
        return not known.isdisjoint(steps)
    return " ".join(where.casefold().split()) in known


def steps_named(where: str) -> tuple[str, ...]:
    """The steps that these words name, if they begin with that: `Steps 2-4` names 2 and 4."""
    said = where.strip().casefold()
    return tuple(_NUMBER.findall(said)) if said.startswith("step") else ()


def blocking_count(ballots: Collection[Ballot]) -> int:
    """How many blocking items a round has reported; one that several seats name counts once."""
    return len({item.id for ballot in ballots if ballot.final for item in ballot.blocking})


def open_items(history: Sequence[Ballot], round_: int) -> tuple[OpenItem, ...]:
    """The blocking items of a round, with their age in rounds."""
    final = [ballot for ballot in history if ballot.final and ballot.round <= round_]
    found: dict[str, Item] = {}
    seats: dict[str, list[str]] = {}
    for ballot in (each for each in final if each.round == round_):
        for item in ballot.blocking:
            found.setdefault(item.id, item)
            seats.setdefault(item.id, []).append(ballot.seat)
    first = {
        item.id: ballot.round for ballot in reversed(final) for item in ballot.blocking
    }  # the earliest round comes last here, and stays
    return tuple(
        OpenItem(item, tuple(seats[name]), round_ - first[name] + 1) for name, item in found.items()
    )


def both_sides(items: Sequence[OpenItem], answers: Mapping[str, Answered]) -> str:
    """Each open item with what its seats say and what the synthesiser says, a line a side."""
    lines = []
    for each in items:
        item, answer = each.item, answers.get(each.item.id)
        said = "no answer yet"
        if answer is not None:
            said = f"{'changed' if answer.is_changed else 'declined'}: {answer.reason}"
        lines += [f"{item.id} {item.where}: {item.why}", f"  synthesiser: {said}"]
    return "\n".join(lines)


def _blocked(found: Tally, code: Blocker, text: str) -> Tally:
    return replace(found, outcome=Outcome.BLOCKED, guard=code, text=text)


def _valid(review: Review) -> dict[str, Ballot]:
    """The last ballot of each seat in this round on this plan; one on another plan is none."""
    bound = (review.round, review.plan_sha256)
    return {each.seat: each for each in review.ballots if (each.round, each.plan_sha256) == bound}


def _counted(ballot: Ballot | None, places: Collection[str]) -> Vote:
    if ballot is None:
        return Vote.ABSTAIN
    if ballot.vote is not Vote.VETO:
        return ballot.vote
    is_veto = ballot.seat in VETO_SEATS and has_evidence(ballot, places) is not None
    return Vote.VETO if is_veto else Vote.REVISE


def _veto(ballot: Ballot, places: Collection[str]) -> Veto:
    item = has_evidence(ballot, places)
    assert item is not None
    return Veto(ballot.seat, ballot.round, item.where, item.why, item.severity)


def _deadlock(review: Review) -> tuple[Blocker, str] | None:
    if review.round >= review.max_rounds:
        text = f"not unanimous after {review.max_rounds} rounds"
        return Blocker.DEADLOCK_ROUNDS, text
    now = blocking_count(review.ballots)
    if review.open_before is not None and now >= review.open_before:
        text = f"{now} items block the plan, {review.open_before} did in the round before"
        return Blocker.DEADLOCK_STALL, text
    return None
