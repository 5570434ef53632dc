"""64 concurrent writers, long-lived or one process per update, also in 8 PID namespaces."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prove.frame import Tally, Trial
from tests.support import strace
from tests.support.crowd import (
    Count,
    Updating,
    beside_a_stopped_holder,
    in_own_namespaces,
    looping_processes,
    one_process_an_update,
    tags_in,
    why_no_namespaces,
)
from tests.support.figures import PRODUCT
from tests.support.mixed import mixed_crowd, plan, prepared
from tests.support.programs import fairlead, run
from tests.support.strace import from_the_lock_on, trace
from tests.support.subjects import PROJECT, STATE, product_subjects

WRITERS = 64
PAUSES = 20
WAIT = "fairlead.lock_wait_seconds"

TryCrowd = Callable[[Updating, Path], Tally]


@dataclass(frozen=True, slots=True)
class CrowdProof:
    """A claim about many writers; a case is one crowd, which uses the whole machine."""

    name: str
    claim: str
    unit: str
    try_crowd: TryCrowd
    rounds: int = 1
    needs: Callable[[], str] = str  # by default nothing is needed
    covers: tuple[str, ...] = PRODUCT
    workers: int = 1

    def why_not(self) -> str:
        """Why it cannot run here; empty if it can."""
        return self.needs()

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """One case per round."""
        del seed, scratch
        return [f"round {number + 1}" for number in range(self.rounds)]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """A new project per case."""
        yield partial(_try_case, self.try_crowd, scratch / f"crowd-{os.getpid()}")


def _try_case(try_crowd: TryCrowd, scratch: Path, case: str) -> Tally:
    world = scratch / case.replace(" ", "-")
    product_subjects()["add-decision"].prepare(world)
    # Wait long for the lock: only lost updates count, not how busy this machine is.
    patient = fairlead().command(world / PROJECT, "config", "set", WAIT, "600")
    assert run(patient).code == 0
    words = ("state", "add-decision", "--phase", "1", "--summary")
    return try_crowd(Updating(fairlead(), words, STATE), world / PROJECT)


def _one_process_an_update(updating: Updating, project: Path) -> Tally:
    return _tally(one_process_an_update(updating, project, WRITERS, 10), WRITERS * 10)


def _in_namespaces(updating: Updating, project: Path) -> Tally:
    return _tally(in_own_namespaces(updating, project, 8, 8, 10), WRITERS * 10)


def _looping(updating: Updating, project: Path) -> Tally:
    del updating
    words = (sys.executable, "-m", "prove.looping", str(project), "100")
    tags = [f"w{number}" for number in range(WRITERS)]
    return _tally(looping_processes(words, project, STATE, tags), WRITERS * 100)


def _mixed(updating: Updating, project: Path, *, taking_back: bool = False) -> Tally:
    world = project.parent.parent / f"{project.parent.name}-mixed"
    planned = plan(WRITERS, 10, taking_back=taking_back)
    result = mixed_crowd(prepared(world), planned, updating.program)
    figures: dict[str, float] = {
        "acknowledged": result.acknowledged,
        "looks by readers": result.looks,
    }
    return Tally(result.steps, result.findings, figures)


def _beside_a_stopped_holder(updating: Updating, project: Path) -> Tally:
    wait = updating.program.command(project, "config", "set", WAIT, "1")
    assert run(wait).code == 0
    calls = from_the_lock_on(trace(updating.command(project, "zero")).calls)
    reads = next(call for call in calls if "STATE.md" in call.arguments)
    first, second, pid = beside_a_stopped_holder(updating, project, reads)
    findings = []
    if first.code != 0:
        findings.append(f"the stopped writer did not succeed: {first.describe()}")
    if second.code != 4 or str(pid) not in second.text:
        findings.append(f"the second writer did not learn who holds the lock: {second.describe()}")
    if tags_in(project / STATE, ["first", "second"]) != {"first": 1}:
        findings.append("an update was lost or made without the lock")
    return Tally(1, tuple(findings))


def _tally(count: Count, expected: int) -> Tally:
    findings = [f"refused: {why}" for why in count.refused[:5]]
    if count.lost:
        findings.append(f"{len(count.lost)} acknowledged updates are lost: {count.lost[:5]}")
    if count.doubled:
        findings.append(f"{len(count.doubled)} updates are there twice: {count.doubled[:5]}")
    if count.present != expected:
        findings.append(f"{count.present} of {expected} updates are there")
    figures = {"s in all": round(count.seconds, 1)}
    if count.slowest_seconds:
        figures["s the slowest"] = round(count.slowest_seconds, 1)
    return Tally(count.present, tuple(findings), figures)


CROWDS = (
    CrowdProof(
        "stopped-holder",
        "a stopped lock holder is never robbed, and named to who waits",
        "pauses",
        _beside_a_stopped_holder,
        PAUSES,
        strace.why_not,
    ),
    CrowdProof(
        "crowd-processes",
        "64 writers x 10 updates, one process an update: all present once",
        "updates",
        _one_process_an_update,
    ),
    CrowdProof(
        "crowd-namespaces",
        "the same from 8 PID namespaces: all present once",
        "updates",
        _in_namespaces,
        needs=why_no_namespaces,
    ),
    CrowdProof(
        "crowd-looping",
        "64 processes x 100 updates each: all present once",
        "updates",
        _looping,
    ),
    CrowdProof(
        "crowd-mixed",
        "64 writers of every verb beside doctor, sync and a status line at 2 Hz: nothing is lost, "
        "and no reader sees a torn file",
        "steps",
        _mixed,
    ),
    CrowdProof(
        "crowd-undoing",
        "the same with undo, phase remove and milestone complete: no more is gone than they took",
        "steps",
        partial(_mixed, taking_back=True),
    ),
)
