"""Progress of a milestone, counted from the inventory alone.

A plan is complete when its summary proves it. A phase is complete when it has plans and all of
them are complete. Nothing here reads the disk or STATE.md, so every rule can be tested with literal
values.
"""

from collections.abc import Iterable

from fairlead.core.values import dataclass, replace
from fairlead.project.derive.inventory import Completion, Phase, PhaseFolder
from fairlead.project.roadmap.marks import PhaseProof, claimed_plans_of


@dataclass(frozen=True, slots=True)
class Progress:
    """The counts of a scope and its percentage."""

    total_phases: int
    completed_phases: int
    total_plans: int
    completed_plans: int
    total_tasks: int = 0
    completed_tasks: int = 0

    @property
    def percent(self) -> int:
        """The lesser of both ratios, rounded half up, and 100 only when everything is complete.

        Plans alone would give 100 while later phases have no plans yet, and plain rounding would
        give 100 with the last plan still open. 0 of 0 is 0.
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
        """Plans alone, rounded down, as the ultraplan dialect counts."""
        return _rounded_down(self.completed_plans, self.total_plans)

    @property
    def tasks_percent(self) -> int:
        """Tasks alone, rounded down."""
        return _rounded_down(self.completed_tasks, self.total_tasks)


def completed_in(folders: Iterable[PhaseFolder]) -> int:
    """The number of complete plans in these folders."""
    return sum(folder.completed for folder in folders)


def progress_of(phases: tuple[Phase, ...], policy: Completion) -> Progress:
    """The counts of these phases; STATE.md is never consulted."""
    folders = [phase.folder for phase in phases if phase.folder]
    return Progress(
        total_phases=len(phases),
        completed_phases=sum(phase.is_complete(policy) for phase in phases),
        total_plans=sum([len(folder.live_plans) for folder in folders]),
        completed_plans=completed_in(folders),
        total_tasks=sum([folder.tasks for folder in folders]),
        completed_tasks=sum([folder.completed_tasks for folder in folders]),
    )


def folder_counts(folder: PhaseFolder) -> tuple[int, int]:
    """Completed and live plans of one folder."""
    return folder.completed, len(folder.live_plans)


def bar(percent: int, *, cells: int = 10, full: str = "█", empty: str = "░") -> str:
    """A progress bar; the last cell is filled only at 100."""
    percent = max(0, min(percent, 100))
    filled = cells if percent == 100 else min((percent * cells + 50) // 100, cells - 1)
    return full * filled + empty * (cells - filled)


def bar_rounded_down(percent: int, *, cells: int = 20, full: str = "#", empty: str = "░") -> str:
    """A progress bar of the ultraplan dialect, rounded down."""
    filled = max(0, min(percent, 100)) * cells // 100
    return full * filled + empty * (cells - filled)


def ratios_of(counts: Iterable[tuple[int, int]]) -> set[int]:
    """The percentages of pairs of done and total, rounded down and half up."""
    return {each(*pair) for pair in counts for each in (_rounded_down, _half_up)}


def _half_up(done: int, total: int) -> int:
    return 0 if total <= 0 else min((200 * done + total) // (2 * total), 100)


def _rounded_down(done: int, total: int) -> int:
    return 0 if total <= 0 else min(100 * done // total, 100)


def proven_of(phase: Phase, policy: Completion) -> PhaseProof:
    """The progress of a phase that the files prove."""
    plans = phase.folder.live_plans if phase.folder else ()
    done, total = folder_counts(phase.folder) if phase.folder else (0, 0)
    return PhaseProof(
        id=phase.id,
        milestone=phase.listed.milestone if phase.listed else "",
        done=done,
        total=total,
        is_complete=phase.is_complete(policy) and done == total,
        plans=frozenset(plan.id for plan in plans if plan.is_complete),
    )


def reopened_of(phase: Phase, policy: Completion) -> PhaseProof:
    """The same for a phase that got new plans; it is reopened unless the roadmap claims more."""
    proof = proven_of(phase, policy)
    claimed = claimed_plans_of(phase.listed) if phase.listed else 0
    return replace(proof, is_reopened=0 < proof.done < proof.total and claimed <= proof.done)
