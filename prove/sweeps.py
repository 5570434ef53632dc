"""The complete sweeps: every call, every command, every fault. The quick tests try a sample.

A case is named `subject|fault|call|number|once`, so that it means the same call in each process
and in the next run.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from prove.frame import Tally, Trial
from tests.support import branching, strace
from tests.support.branches import Branches
from tests.support.crashstates import CrashStates, crash_states, put_state
from tests.support.durability import WATCHED
from tests.support.figures import PRODUCT
from tests.support.gaps import Gap, gaps, try_gap
from tests.support.mounts import FILE_SYSTEMS, PAGE, Loss, why_not_mount
from tests.support.power import after_success, in_the_middle, on_a_full_disk
from tests.support.strace import Call, NothingInjected
from tests.support.subjects import product_subjects
from tests.support.sweep import (
    NO_FILE_CALLS,
    Finding,
    Point,
    Rig,
    error_points,
    kill_points,
    sampled,
    try_point,
    write_points,
)

TRIES = 3  # the loader's calls before main vary a little between runs

# How often a command polls its child or allocates memory depends on the machine: if such a call
# did not happen this time, the point does not count.
VARYING = NO_FILE_CALLS | {"wait4", "waitid"}

PASSES = 7  # over all commands, so that a part of the cases covers each command; 8 kinds take turns

Cases = Callable[[Rig], Sequence[str]]
Try = Callable[[Rig, list[str]], list[Finding]]


@dataclass(frozen=True, slots=True)
class SweepProof:
    """A claim about every state-changing command, tried point by point."""

    name: str
    claim: str
    unit: str
    cases_of: Cases
    try_case: Try
    needs: Callable[[], str] = strace.why_not
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2
    in_order: bool = True  # command by command, because one trial prepares the next

    def why_not(self) -> str:
        """Why it cannot run here; empty if it can."""
        return self.needs()

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Every point of every command. The sweep is complete, so the seed does not matter."""
        del seed
        names: list[str] = []
        # A rig mostly waits for its children.
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda name: _rig(name, scratch), product_subjects()))
        cases_by_subject = {name: self.cases_of(_rig(name, scratch)) for name in product_subjects()}
        for first in range(PASSES):
            for name, cases in cases_by_subject.items():
                names += [f"{name}|{case}" for case in cases[first::PASSES]]
        return list(dict.fromkeys(names))

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """Forked workers inherit the rigs that `cases` made."""
        yield partial(_try_case, self.try_case, scratch)


def _try_case(try_case: Try, scratch: Path, case: str) -> Tally:
    name, *words = case.split("|")
    for attempt in range(TRIES):
        try:
            findings = try_case(_rig(name, scratch), words)
            return Tally(1, tuple(f"{name}: {finding}" for finding in findings))
        except NothingInjected as error:
            if VARYING.intersection(words):
                return Tally(0)
            if attempt == TRIES - 1:
                return Tally(1, (f"{name}: nothing happened at {case}: {error}",))
    raise AssertionError("unreachable")


@cache
def _rig(name: str, scratch: Path) -> Rig:
    folder = scratch / f"{name}-{os.getpid()}"
    folder.mkdir(parents=True)
    # Many faults leave the same bytes on disk: the follow-up is tried once for each.
    return Rig(product_subjects()[name], folder, remembers=True)


@cache
def _branches(name: str, scratch: Path, pid: int) -> Branches:
    """The copies that this process holds: only the process that started a command may trace it."""
    del pid
    return Branches(_rig(name, scratch))


def _branches_of(rig: Rig) -> Branches | None:
    if branching.why_not():
        return None
    return _branches(rig.subject.name, rig.scratch.parent, os.getpid())


@cache
def _changing_calls(rig: Rig) -> tuple[Call, ...]:
    """The calls from the first one that could change the disk; the lock is taken soon after."""
    branches = _branches_of(rig)
    if branches is None:
        return rig.calls_from_the_lock
    try:
        return branches.undisturbed()[1]
    finally:
        branches.close()


def _point_name(point: Point) -> str:
    call = point.call
    how = "onward" if point.onward else "once"
    talks = call.arguments[:2] if point.concerns_output else ""
    return f"{point.effect}|{call.name}|{call.number}|{how}|{talks}"


def _try_point(rig: Rig, words: list[str]) -> list[Finding]:
    effect, name, number, how, talks = words
    call = Call(name, int(number), talks, None, "")
    point, branches = Point(call, effect, how == "onward"), _branches_of(rig)
    return branches.try_point(point) if branches else try_point(rig, point)


def _try_start(rig: Rig, words: list[str]) -> list[Finding]:
    effect, name, number, *_ = words
    return try_point(rig, Point(Call(name, int(number), "", None, ""), effect))


def _kill_cases(rig: Rig) -> list[str]:
    return [_point_name(point) for point in kill_points(_changing_calls(rig))]


def _start_cases(rig: Rig) -> list[str]:
    calls = rig.calls_of_the_process
    return [_point_name(point) for point in kill_points(calls[: -len(_changing_calls(rig))])]


def _sampled_error_cases(rig: Rig) -> list[str]:
    return [_point_name(point) for point in sampled(error_points(_changing_calls(rig)))]


def _error_cases(rig: Rig) -> list[str]:
    calls = _changing_calls(rig)
    points = error_points(calls) + write_points(calls)
    return [_point_name(point) for point in points]


def _gap_cases(rig: Rig) -> list[str]:
    if rig.subject.editing is None:
        return []
    branches = _branches_of(rig)
    edited = None if branches is None else branches.project / rig.subject.editing.path
    met = gaps(_changing_calls(rig), edited=edited)
    return [f"{gap.call.name}|{gap.call.number}|{gap.style}" for gap in met]


def _try_gap(rig: Rig, words: list[str]) -> list[Finding]:
    name, number, style = words
    return try_gap(rig, Gap(Call(name, int(number), "", None, ""), style), _branches_of(rig))


def _power_cases(rig: Rig) -> list[str]:
    moments = ["success|0"] + [
        f"{call.name}|{call.number}"
        for call in rig.calls_from_the_lock
        if call.name in WATCHED and (call.name != "openat" or "O_CREAT" in call.arguments)
    ]
    kinds = [kind.name for kind in FILE_SYSTEMS.values() if not kind.why_not()]
    return [f"{kind}|{loss.name}|{moment}" for kind in kinds for loss in Loss for moment in moments]


def _try_power(rig: Rig, words: list[str]) -> list[Finding]:
    kind, loss, name, number = words
    if name == "success":
        return after_success(rig, FILE_SYSTEMS[kind], Loss[loss])
    return in_the_middle(rig, FILE_SYSTEMS[kind], Loss[loss], Call(name, int(number), "", None, ""))


@cache
def _states_of(rig: Rig) -> CrashStates:
    return crash_states(rig)


def _state_cases(rig: Rig) -> list[str]:
    return [str(number) for number in range(len(_states_of(rig).states))]


def _try_state(rig: Rig, words: list[str]) -> list[Finding]:
    number = int(words[0])
    findings = list(_states_of(rig).findings) if number == 0 else []
    with tempfile.TemporaryDirectory(prefix="state-", dir=rig.scratch) as folder:
        world = put_state(_states_of(rig).states[number], Path(folder))
        broken = rig.afterwards(world).wrong
    return findings + [
        Finding(f"legal state {number} after a power loss", fault) for fault in broken
    ]


def _full_cases(rig: Rig) -> list[str]:
    if rig.subject.name != "add-decision":
        return []
    sizes = [PAGE * pages + extra for pages in (2, 3, 4, 5) for extra in (-6, -1, 0, 1)]
    return [f"{size}|{free}" for size in sizes for free in range(12)]


def _try_full(rig: Rig, words: list[str]) -> list[Finding]:
    return on_a_full_disk(rig, size=int(words[0]), free_pages=int(words[1]))


def _needs_mounts_and_strace() -> str:
    return why_not_mount() or strace.why_not()


SWEEPS = (
    SweepProof(
        "full-disk",
        "on a really full disk the document stays whole, and reading still works",
        "runs",
        _full_cases,
        _try_full,
        why_not_mount,
    ),
    SweepProof(
        "crash-states",
        "every state that a power loss may legally leave holds old or new, and is recovered",
        "states",
        _state_cases,
        _try_state,
    ),
    SweepProof(
        "power",
        "after a power loss every acknowledged update is there, and nothing is torn",
        "power losses",
        _power_cases,
        _try_power,
        _needs_mounts_and_strace,
    ),
    SweepProof(
        "gaps",
        "an edit by somebody else between any two system calls survives; one edit stands for all "
        "gaps between calls about other files",
        "edits",
        _gap_cases,
        _try_gap,
    ),
    SweepProof(
        "errors",
        "an error at any call of any command (the kinds take turns) leaves old or new, and success "
        "is never claimed falsely",
        "faults",
        _sampled_error_cases,
        _try_point,
    ),
    SweepProof(
        "errors-all",
        "the same with every kind of error and of short write at every call, once and for good",
        "faults",
        _error_cases,
        _try_point,
    ),
    SweepProof(
        "kill",
        "kill -9 before any call that could change the disk, and before the end, in every command, "
        "leaves old or new, and the next command works",
        "kills",
        _kill_cases,
        _try_point,
    ),
    SweepProof(
        "kill-start",
        "kill -9 before any call of a command's start, each in a process of its own, too",
        "kills",
        _start_cases,
        _try_start,
    ),
)
