"""Councils with seats that fail: each subset, in each way, while planning or only when they vote."""

import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fairlead.council.seats import SEAT_NAMES
from prove.frame import Tally, Trial
from tests.support.council_runs import FAILURES, faults_of_council
from tests.support.figures import PRODUCT


@dataclass(frozen=True, slots=True)
class SeatsProof:
    """The claim about seats that do not answer, or answer with nothing."""

    name: str = "council-seats"
    claim: str = "each subset of failing seats, in each way, ends as it should and is said honestly"
    unit: str = "councils"
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2

    def why_not(self) -> str:
        """Nothing is needed but Python."""
        return ""

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """All of them; the seed changes nothing."""
        del seed, scratch
        subsets = [
            "+".join(each) for size in range(7) for each in itertools.combinations(SEAT_NAMES, size)
        ]
        return [
            f"{way}|{when}|{subset}"
            for way, when, subset in itertools.product(FAILURES, ("always", "voting"), subsets)
        ]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """Every council has a project of its own."""
        yield partial(_try_case, scratch)


def _try_case(scratch: Path, case: str) -> Tally:
    way, when, subset = case.split("|")
    folder = scratch / f"council-{os.getpid()}"
    failed = tuple(filter(None, subset.split("+")))
    try:
        wrong = faults_of_council(folder, failed, way, only_ballots=when == "voting")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Tally(1, tuple(f"{case}: {each}" for each in wrong))


COUNCILS = (SeatsProof(),)
