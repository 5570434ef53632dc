"""Proofs over numbered inputs, such as a million generated documents.

A row of `prove.table` needs only a function `(seed, number) -> fault or empty`. This module groups
many numbers into a case, so that the progress file stays small.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prove.frame import Tally, Trial
from tests.support.figures import PRODUCT

BATCH = 1000

TryNumber = Callable[[int, int], str]  # (seed, number) -> the fault; empty if there is none


@dataclass(frozen=True, slots=True)
class NumberedProof:
    """A claim about every input that a seed and a number generate."""

    name: str
    claim: str
    unit: str
    count: int
    try_number: TryNumber  # a module-level function, because it is sent to other processes
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2
    batch: int = BATCH  # numbers per case; fewer if each takes long

    def why_not(self) -> str:
        """Nothing is needed but Python."""
        return ""

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Batches of numbers."""
        del scratch
        starts = range(0, self.count, self.batch)
        return [f"{seed}|{start}|{min(start + self.batch, self.count)}" for start in starts]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """Nothing to prepare."""
        del scratch
        yield partial(try_batch, self.try_number)


def try_batch(try_number: TryNumber, case: str) -> Tally:
    """Try one batch; name each number with a fault."""
    seed, start, end = map(int, case.split("|"))
    findings = []
    for number in range(start, end):
        fault = try_number(seed, number)
        if fault:
            findings.append(f"seed {seed}, number {number}: {fault}")
    return Tally(end - start, tuple(findings))
