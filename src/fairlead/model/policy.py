"""Limits of the gate as values: time, reasons for skipping, and when a wave is halted."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class StepLimit:
    """How long a step may take if nothing is said, and at most."""

    usual: timedelta
    most: timedelta

    def of(self, wanted: timedelta | None) -> timedelta:
        """What is wanted, within what is allowed."""
        return self.usual if wanted is None else max(timedelta(seconds=1), min(wanted, self.most))


EXECUTOR = StepLimit(timedelta(minutes=5), timedelta(minutes=15))
VERIFY = StepLimit(timedelta(minutes=2), timedelta(minutes=5))
ARCHITECT = StepLimit(timedelta(minutes=3), timedelta(minutes=10))
GATE = timedelta(minutes=30)
SPAWN_DELAYS = (timedelta(0), timedelta(seconds=2), timedelta(seconds=5))
FAILED_TASKS_IN_A_WAVE = 3  # so many, and everything stops and is saved
SKIP_REASONS = ("command not available", "known false negative", "accept the risk")


def halts_wave(failed_tasks: int) -> bool:
    """Whether so many tasks of one wave have failed that nothing else begins."""
    return failed_tasks >= FAILED_TASKS_IN_A_WAVE


def is_skip_reason(reason: str) -> bool:
    """Whether a verification may be skipped for this reason; impatience is none."""
    return any(known in " ".join(reason.lower().split()) for known in SKIP_REASONS)
