"""Runs many trials on the available processors and returns their findings in order."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tests.support.strace import NothingInjected
from tests.support.sweep import Finding

Case = TypeVar("Case")
TRIES = 3  # the loader's calls before main vary a little between runs


def findings_of(
    cases: Iterable[Case], trial: Callable[[Case], Sequence[Finding]]
) -> tuple[int, list[Finding]]:
    """Try every case; return the number of cases and the findings."""
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
        return len(every), [finding for results in pool.map(tried, every) for finding in results]


def _processors() -> int:
    """One if pytest itself runs several processes."""
    return 1 if "PYTEST_XDIST_WORKER" in os.environ else os.cpu_count() or 1
