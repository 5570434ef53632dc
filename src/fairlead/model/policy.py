"""Rules of the gate: when nothing new begins, when one waits, and what a person may decide.

A verification is skipped for one of three reasons, and impatience is none of them. Everything is
overruled only with a word that nobody types by accident. Both are recorded and stay visible.
"""

from datetime import timedelta

from fairlead.model.lifecycle import SkipKind

FAILED_TASKS_IN_A_WAVE = 3  # so many, and everything stops and is saved
SKIP, SKIP_VERIFY, OVERRIDE = "skip", "skip-verify:", "override:"
SKIP_REASONS = ("command not available", "known false negative", "I accept the risk")
OVERRIDE_WORD = "OVERRIDE"
LONGEST_WAIT = timedelta(hours=6)  # services count in windows of five hours, and in weeks
MOST_WAITS = 5  # in a row; so often is a service asked again before a person is
_FIRST_PAUSE, _LAST_PAUSE = 60.0, 366 * 86_400.0  # seconds


def halts_wave(failed_tasks: int) -> bool:
    """Whether so many tasks of one wave have failed that nothing else begins."""
    return failed_tasks >= FAILED_TASKS_IN_A_WAVE


def skip_options(*, has_work: bool, is_verify: bool) -> tuple[str, ...]:
    """How a task that failed may be passed over: what is not there cannot be accepted."""
    verify = tuple(f"{SKIP_VERIFY} {reason}" for reason in SKIP_REASONS)
    forced = (f"{OVERRIDE} {OVERRIDE_WORD} and why",)
    return (SKIP, *(verify if has_work and is_verify else ()), *(forced if has_work else ()))


def skip_kind(answer: str) -> SkipKind | None:
    """What an answer passes over; None: nothing, or for no reason that counts."""
    told = " ".join(answer.split())
    if told.startswith(SKIP_VERIFY):
        reason = told.removeprefix(SKIP_VERIFY).strip().lower()
        known = any(reason.startswith(each.lower()) for each in SKIP_REASONS)
        return SkipKind.VERIFY if known else None
    if told.startswith(OVERRIDE):
        word, _, why = told.removeprefix(OVERRIDE).strip().partition(" ")
        return SkipKind.FORCED if word == OVERRIDE_WORD and why else None
    is_skip = told == SKIP or told.startswith(f"{SKIP}:")
    return SkipKind.TASK if is_skip else None


def passed_over(kind: SkipKind) -> str:
    """What happened to a task, in a word or two."""
    told = {SkipKind.VERIFY: "not verified, accepted", SkipKind.FORCED: "forced"}
    return told.get(kind, "left out")


def pause(told: float | None, waits: int) -> timedelta:
    """How long a service is left alone: as long as it says, and longer each time that it refuses."""
    least = _FIRST_PAUSE * 2 ** min(waits - 1, MOST_WAITS) if waits else 0.0
    return timedelta(seconds=min(max(told or _FIRST_PAUSE, least), _LAST_PAUSE))


def is_too_long(wait: timedelta, waits: int) -> bool:
    """Whether a person decides about a wait, because of its length or of those before it."""
    return wait > LONGEST_WAIT or waits > MOST_WAITS
