"""Every hostile text in every place of a project, shown by every command."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prove.frame import Tally, Trial
from tests.support.figures import PRODUCT
from tests.support.payloads import payloads
from tests.support.programs import fairlead
from tests.support.screens import PLACES, look_at
from tests.support.subjects import product_subjects


@dataclass(frozen=True, slots=True)
class ScreenProof:
    """A claim about the output to a terminal; a case is one text, planted in every place."""

    name: str = "terminal"
    claim: str = "no control character from a file reaches a terminal"
    unit: str = "outputs"
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2

    def why_not(self) -> str:
        """Nothing special is needed."""
        return ""

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """One case per text."""
        del seed, scratch
        return [str(number) for number in range(len(payloads()))]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """One prepared project, copied for each text."""
        folder = scratch / str(os.getpid())
        product_subjects()["add-decision"].prepare(folder / "source")
        yield partial(_try_text, folder)


def _try_text(folder: Path, case: str) -> Tally:
    number = int(case)
    planted = [(number, payloads()[number])] * PLACES
    look = look_at(fairlead(), folder / "source", folder, planted, thoroughly=True)
    findings = [f"{payloads()[number]}: {finding}" for finding in look.findings]
    return Tally(look.outputs, tuple(findings))


SCREENS = (ScreenProof(),)
