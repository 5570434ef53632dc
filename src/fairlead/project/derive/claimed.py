"""The counts of one reading of the scope: proven by files, or claimed by the documents.

A phase without plans and summaries may have been executed without them, or its folder was never
committed. Where the documents call such a phase finished, a reading may count it as they say.
"""

from typing import NamedTuple

from fairlead.project.derive.inventory import Inventory, Phase
from fairlead.project.derive.position import Position
from fairlead.project.derive.progress import Progress, progress_of
from fairlead.project.derive.scope import Certainty, ScopeReading, claimed_plans
from fairlead.project.derive.state_claims import StateClaims


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
        has_counts = claims.total_phases is not None or claims.total_plans is not None
        if has_counts or not reading.phases:
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
    claimed = _as_claimed(reading, position, inventory.claims)
    if claimed.completed_phases and not claimed.total_plans:  # no document counts the plans
        phases = claimed.completed_phases, claimed.total_phases
        return ReadingCounts(*phases, None, None, inventory.claims.percent)
    return _as_counts(claimed)


def _as_counts(progress: Progress) -> ReadingCounts:
    return ReadingCounts(
        progress.completed_phases,
        progress.total_phases,
        progress.completed_plans,
        progress.total_plans,
        progress.percent,
    )


def _as_claimed(reading: ScopeReading, position: Position, claims: StateClaims) -> Progress:
    done = plans_done = plans = 0
    for phase in reading.phases:
        proven = progress_of((phase,), position.policy)
        listed = None if proven.total_plans else phase.listed
        claimed = claimed_plans(listed) if listed else (0, 0)
        is_done = bool(proven.completed_phases) or (
            not proven.total_plans and (position.scope.is_closed or _is_called_done(phase, claims))
        )
        done += is_done
        plans_done += proven.completed_plans + claimed[0]
        plans += proven.total_plans + claimed[1]
    return Progress(len(reading.phases), done, plans, plans_done)


def _is_called_done(phase: Phase, claims: StateClaims) -> bool:
    if claims.is_phase_done and phase.id == claims.phase:
        return True
    return phase.listed is not None and phase.listed.is_called_done
