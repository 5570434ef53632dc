"""Two hundred thousand damaged documents of real projects, each given to a command."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prove.frame import Trial
from prove.numbered import NumberedProof, try_batch
from tests.support.figures import PRODUCT
from tests.support.mutations import private_home, sources, try_mutation

COUNT = 200_000


@dataclass(frozen=True, slots=True)
class MutationProof:
    """A claim about damaged input; a case is a batch of numbers, tried on copies of projects."""

    name: str = "mutations"
    claim: str = (
        "a damaged document gives a clear message and a true exit code, and nothing is rewritten "
        "that cannot be represented"
    )
    unit: str = "mutations"
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2

    def why_not(self) -> str:
        """Always possible: without a corpus a generated project is damaged."""
        return ""

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Batches of numbers."""
        numbers = NumberedProof(self.name, self.claim, self.unit, COUNT, lambda *_: "")
        return numbers.cases(seed, scratch)

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """Copies of the projects for this worker."""
        folder = scratch / f"mutations-{os.getpid()}"
        private_home(folder)
        yield partial(try_batch, partial(try_mutation, sources(folder)))


MUTATIONS = (MutationProof(),)
