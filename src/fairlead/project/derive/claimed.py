"""The counts of one reading of the scope: proven by files, or claimed by the documents.

A phase without plans and summaries may have been executed without them, or its folder was never
committed. Where the documents call such a phase finished, a reading may count it as they say.
"""

import re
from typing import NamedTuple

from fairlead.project.derive.inventory import Inventory, Phase
from fairlead.project.derive.position import Position
from fairlead.project.derive.progress import Progress, progress_of
from fairlead.project.derive.scope import Certainty, ScopeReading
from fairlead.project.roadmap.row_status import says_done

_COUNTS = re.compile(r"\s*(?P<done>[0-9]{1,6})\s*/\s*(?P<total>[0-9]{1,6})")


class ReadingCounts(NamedTuple):
    """The counts of a reading; None where nothing says a number."""

    completed_phases: int | None
    total_phases: int | None
    completed_plans: int | None
    total_plans: int | None
    percent: int | None


def counts_of(reading: ScopeReading, position: Position, inventory: Inventory) -> ReadingCounts:
    """The counts of a reading."""
    is_claimed = reading.is_claimed
    if position.scope.certainty is Certainty.UNVERIFIABLE or reading.is_stated:
        claims = inventory.claims
        is_silent = not (inventory.has_roadmap or reading.phases)
        if claims.total_phases is not None or claims.total_plans is not None or is_silent:
            return ReadingCounts(
                claims.completed_phases,
                claims.total_phases,
                claims.completed_plans,
                claims.total_plans,
                claims.percent,
            )
        is_claimed = True
    if not is_claimed:
        return _as_counts(progress_of(reading.phases, position.policy))
    return _as_counts(_as_claimed(reading, position))


def _as_counts(progress: Progress) -> ReadingCounts:
    return ReadingCounts(
        progress.completed_phases,
        progress.total_phases,
        progress.completed_plans,
        progress.total_plans,
        progress.percent,
    )


def _as_claimed(reading: ScopeReading, position: Position) -> Progress:
    done = plans_done = plans = 0
    for phase in reading.phases:
        proven = progress_of((phase,), position.policy)
        claimed = _claimed_plans(phase) if not proven.total_plans else (0, 0)
        is_done = bool(proven.completed_phases) or (
            not proven.total_plans and (position.scope.is_closed or _is_called_done(phase))
        )
        done += is_done
        plans_done += proven.completed_plans + claimed[0]
        plans += proven.total_plans + claimed[1]
    return Progress(len(reading.phases), done, plans, plans_done)


def _is_called_done(phase: Phase) -> bool:
    return bool(phase.listed and (phase.listed.is_checked or says_done(phase.listed.status)))


def _claimed_plans(phase: Phase) -> tuple[int, int]:
    texts = (
        [phase.listed.plans_cell, *(each.text for each in phase.listed.counts)]
        if phase.listed
        else []
    )
    for text in texts:
        match = _COUNTS.match(text)
        if match:
            return int(match["done"]), int(match["total"])
    boxes = phase.listed.plan_boxes if phase.listed else ()
    return sum(box.is_checked for box in boxes), len(boxes)
