"""A council as a table: seats by round with their ballots, what was objected and how it was settled."""

from __future__ import annotations

from difflib import unified_diff
from itertools import pairwise
from typing import TYPE_CHECKING

from fairlead.core.values import dataclass
from fairlead.council.report import CouncilReport, plan_versions
from fairlead.council.seats import SEAT_NAMES

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.council.model import Ballot, Veto


@dataclass(frozen=True, slots=True)
class SeatBallots:
    """The ballots of one seat, one for each round; None: it has not voted."""

    seat: str
    planned: str  # the model that wrote its plan; empty: none
    ballots: tuple[Ballot | None, ...]


@dataclass(frozen=True, slots=True)
class Objection:
    """An item that seats objected to, and what became of it."""

    id: str
    category: str
    where: str
    why: str
    fix: str
    seats: tuple[str, ...]
    state: str  # open, settled or ruled
    outcome: str  # the answer of the plan, or the ruling of the person


@dataclass(frozen=True, slots=True)
class PlanChange:
    """The difference between two versions of the master plan."""

    old: int
    new: int
    diff: str


@dataclass(frozen=True, slots=True)
class BallotTable:
    """All votes of a council job."""

    rounds: tuple[int, ...]
    seats: tuple[SeatBallots, ...]
    objections: tuple[Objection, ...]
    veto: Veto | None
    plan: str  # the last version of the master plan
    changes: tuple[PlanChange, ...]


def council_table(app: App, report: CouncilReport) -> BallotTable:
    """The table of a council job."""
    job = report.job
    rounds = tuple(sorted({ballot.round for ballot in job.cumulative_votes}))
    final = {(each.seat, each.round): each for each in job.cumulative_votes if each.final}
    plans = plan_versions(app.jobs, job)
    return BallotTable(
        rounds=rounds,
        seats=tuple(
            SeatBallots(
                seat,
                job.council_plans[seat].model if seat in job.council_plans else "",
                tuple(final.get((seat, number)) for number in rounds),
            )
            for seat in SEAT_NAMES
        ),
        objections=_objections(report),
        veto=job.veto,
        plan=plans[-1] if plans else "",
        changes=tuple(
            PlanChange(number, number + 1, _diff(old, new, number))
            for number, (old, new) in enumerate(pairwise(plans), 1)
        ),
    )


def _objections(report: CouncilReport) -> tuple[Objection, ...]:
    answers = {answer.id: answer for answer in report.answers}
    rulings = {ruling.id: ruling.text for ruling in report.job.rulings}
    found = []
    for entry, state in [
        *((each, "open") for each in report.open),
        *((each, "settled") for each in report.settled),
    ]:
        item, answer = entry.item, answers.get(entry.item.id)
        said = (
            f"{'changed' if answer.is_changed else 'declined'}: {answer.reason}" if answer else ""
        )
        ruling = rulings.get(item.id, "")
        found.append(
            Objection(
                item.id,
                str(item.category),
                item.where,
                item.why,
                item.fix,
                tuple(entry.seats),
                "ruled" if ruling else state,
                ruling or said,
            )
        )
    return tuple(found)


def _diff(old: str, new: str, number: int) -> str:
    names = f"version {number}", f"version {number + 1}"
    return "\n".join(unified_diff(old.splitlines(), new.splitlines(), *names, lineterm="", n=2))
