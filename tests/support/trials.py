"""Many trials, on as many processors as this run may use, with their findings in order."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tests.support.strace import NothingInjected
from tests.support.sweep import Finding

Case = TypeVar("Case")
TRIES = 3  # the loader's calls before main vary a little from run to run


def findings_of(
    cases: Iterable[Case], trial: Callable[[Case], Sequence[Finding]]
) -> tuple[int, list[Finding]]:
    """Try every case; return how many there were and what was found."""
    every = list(cases)

    def tried(case: Case) -> Sequence[Finding]:
        for attempt in range(TRIES):
            try:
                return trial(case)
            except NothingInjected as error:
                if attempt == TRIES - 1:
                    return [Finding(str(case), f"nothing struck: {error}")]
        raise AssertionError("unreachable")

    with ThreadPoolExecutor(_processors()) as pool:
        return len(every), [finding for found in pool.map(tried, every) for finding in found]


def _processors() -> int:
    """One when pytest runs several processes already."""
    return 1 if "PYTEST_XDIST_WORKER" in os.environ else os.cpu_count() or 1
