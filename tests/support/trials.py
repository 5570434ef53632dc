"""Many trials, on as many processors as this run may use, with their findings in order."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tests.support.strace import NothingInjected
from tests.support.sweep import Finding

Case = TypeVar("Case")
TRIES = 3  # the loader's calls before main vary a little from run to run
MOST_MISSED = (
    100  # one case in so many, or one of fewer, may ask for a call that a run does not make
)


def findings_of(
    cases: Iterable[Case], trial: Callable[[Case], Sequence[Finding]]
) -> tuple[int, list[Finding]]:
    """Try every case; return how many were tried and what was found."""
    every = list(cases)
    missed: list[Finding] = []

    def tried(case: Case) -> Sequence[Finding]:
        for attempt in range(TRIES):
            try:
                return trial(case)
            except NothingInjected as error:
                if attempt == TRIES - 1:
                    missed.append(Finding(str(case), f"nothing struck: {error}"))
        return ()

    with ThreadPoolExecutor(_processors()) as pool:
        found = [finding for each in pool.map(tried, every) for finding in each]
    # The last call of a look at a busy machine may be one that no later run makes.
    is_rig_at_fault = len(missed) > max(1, len(every) // MOST_MISSED)
    return len(every) - len(missed), found + (missed if is_rig_at_fault else [])


def _processors() -> int:
    """One when pytest runs several processes already."""
    return 1 if "PYTEST_XDIST_WORKER" in os.environ else os.cpu_count() or 1
