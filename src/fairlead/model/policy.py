"""Rules of the gate: when a wave is halted, and what excuses a skipped verification."""

FAILED_TASKS_IN_A_WAVE = 3  # so many, and everything stops and is saved
SKIP_REASONS = ("command not available", "known false negative", "accept the risk")


def halts_wave(failed_tasks: int) -> bool:
    """Whether so many tasks of one wave have failed that nothing else begins."""
    return failed_tasks >= FAILED_TASKS_IN_A_WAVE


def is_skip_reason(reason: str) -> bool:
    """Whether a verification may be skipped for this reason; impatience is none."""
    return any(known in " ".join(reason.lower().split()) for known in SKIP_REASONS)
