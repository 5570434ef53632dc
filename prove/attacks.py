"""Every attack of the suite, and every planted weakness."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prove.frame import Tally, Trial
from tests.attacks.table import ATTACKS
from tests.attacks.trial import fault_of
from tests.attacks.weaknesses import WEAKNESSES
from tests.support.figures import PRODUCT


@dataclass(frozen=True, slots=True)
class AttackProof:
    """A claim about every attack; a case is one attack, alone or with a planted weakness."""

    name: str = "attacks"
    claim: str = (
        "every attack by an agent, a plan, a repository or the environment is detected or refused, "
        "and succeeds if its defence is switched off"
    )
    unit: str = "attacks"
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2

    def why_not(self) -> str:
        """Nothing is needed but git."""
        return ""

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """All attacks; the seed changes nothing."""
        del seed, scratch
        weak = [f"{each}|{name}" for name, found in WEAKNESSES.items() for each in found.attacks]
        return [*ATTACKS, *weak]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """A folder for this worker."""
        folder = scratch / f"attacks-{os.getpid()}"
        folder.mkdir()
        yield lambda case: _tried(case, folder)


def _tried(case: str, folder: Path) -> Tally:
    attack, _, weakness = case.partition("|")
    place = Path(tempfile.mkdtemp(dir=folder))
    fault = fault_of(attack, place / "arena", weakness)
    shutil.rmtree(place, ignore_errors=True)
    return Tally(1, (fault,) if fault else ())


ATTACK_PROOFS = (AttackProof(),)
