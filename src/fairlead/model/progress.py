"""Progress: how far the milestone has come, derived from the files alone.

A plan is complete when its summary proves it; a phase is complete when it has plans and all of
them are complete. Nothing here reads the disk or the recorded state, so every rule below can be
tested with a literal.
"""

from collections.abc import Iterable

from fairlead.model.inventory import Completion, Folder, Phase, Proof
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """The counts of a scope, and the one number shown to people."""

    total_phases: int
    completed_phases: int
    total_plans: int
    completed_plans: int
    total_tasks: int = 0
    completed_tasks: int = 0

    @property
    def percent(self) -> int:
        """The lesser of both ratios, rounded half up, and 100 only when all is done.

        Plans alone would show 100 while later phases are still unplanned, and plain rounding
        would show 100 with the last plan still open. Nothing of nothing is 0.
        """
        plans = _half_up(self.completed_plans, self.total_plans)
        phases = _half_up(self.completed_phases, self.total_phases)
        least = min(plans, phases)
        is_done = (
            0 < self.total_plans == self.completed_plans
            and 0 < self.total_phases == self.completed_phases
        )
        return 100 if is_done else min(least, 99)

    @property
    def plans_percent(self) -> int:
        """Plans alone, rounded down: the number of the ultraplan dialect."""
        return _floor(self.completed_plans, self.total_plans)

    @property
    def tasks_percent(self) -> int:
        """Tasks alone, rounded down."""
        return _floor(self.completed_tasks, self.total_tasks)


def completed_in(folders: Iterable[Folder]) -> int:
    """How many plans of these folders are complete."""
    return sum(folder.completed for folder in folders)


def progress_of(phases: tuple[Phase, ...], policy: Completion) -> Progress:
    """Count what the files say. The recorded state is never consulted."""
    folders = [phase.folder for phase in phases if phase.folder]
    plans = [plan for folder in folders for plan in folder.live_plans]
    return Progress(
        total_phases=len(phases),
        completed_phases=sum(phase.is_complete(policy) for phase in phases),
        total_plans=len(plans),
        completed_plans=completed_in(folders),
        total_tasks=sum([plan.tasks for plan in plans]),
        completed_tasks=sum([plan.tasks for plan in plans if plan.proof is Proof.COMPLETE]),
    )


def folder_counts(folder: Folder) -> tuple[int, int]:
    """Completed and live plans of one folder."""
    return folder.completed, len(folder.live_plans)


def bar(percent: int, *, cells: int = 10, full: str = "█", empty: str = "░") -> str:
    """The bar of a percentage; the last cell fills only at 100."""
    percent = max(0, min(percent, 100))
    filled = cells if percent == 100 else min((percent * cells + 50) // 100, cells - 1)
    return full * filled + empty * (cells - filled)


def bar_by_floor(percent: int, *, cells: int = 20, full: str = "#", empty: str = "░") -> str:
    """The bar of the ultraplan dialect: one cell for each whole step."""
    filled = max(0, min(percent, 100)) * cells // 100
    return full * filled + empty * (cells - filled)


def _half_up(done: int, total: int) -> int:
    return 0 if total <= 0 else min((200 * done + total) // (2 * total), 100)


def _floor(done: int, total: int) -> int:
    return 0 if total <= 0 else min(100 * done // total, 100)
