"""Rules of the gate: when so much has failed that nothing new begins."""

FAILED_TASKS_IN_A_WAVE = 3  # so many, and everything stops and is saved


def halts_wave(failed_tasks: int) -> bool:
    """Whether so many tasks of one wave have failed that nothing else begins."""
    return failed_tasks >= FAILED_TASKS_IN_A_WAVE
