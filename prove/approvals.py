"""Approvals killed at every system call: exactly one issue per module in the end."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from prove.frame import Tally, Trial
from tests.support import strace
from tests.support.approval_sweep import ApprovalRig
from tests.support.figures import PRODUCT


@dataclass(frozen=True, slots=True)
class ApprovalProof:
    """The claim about `planning approve` with a scripted `gh`."""

    name: str = "kill-approve"
    claim: str = "kill -9 at any call of an approval leaves exactly one issue a module in the end"
    unit: str = "kills"
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2

    def why_not(self) -> str:
        """Why it cannot run here; empty if it can."""
        return strace.why_not()

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Every call from the lock on. The sweep is complete, so the seed does not matter."""
        del seed
        return [f"{call.name}|{call.number}" for call in _rig(scratch).calls]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """Forked workers inherit the rig that `cases` made."""
        yield partial(_try_case, scratch)


def _try_case(scratch: Path, case: str) -> Tally:
    name, number = case.split("|")
    killed = _rig(scratch).killed_at(name, int(number))
    return Tally(int(killed.has_struck), tuple(f"{case}: {each}" for each in killed.wrong))


@cache
def _rig(scratch: Path) -> ApprovalRig:
    folder = scratch / f"approval-{os.getpid()}"
    folder.mkdir(parents=True)
    return ApprovalRig(folder)


APPROVALS = (ApprovalProof(),)
