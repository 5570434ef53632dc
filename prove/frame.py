"""Runs a proof in numbered cases on several processes; it can be stopped and resumed at any time.

A proof lists its cases as short texts. Finished cases are stored with a fingerprint of the source
they are about. The next call continues with the rest; a change of the source starts the proof anew,
because its figures would be about another program.
"""

import fcntl
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Protocol

from tests.support.figures import cache_folder, fingerprint, read_json, today, write_json

MOST_FINDINGS_KEPT = 50


@dataclass(frozen=True, slots=True)
class Tally:
    """The result of one case."""

    tried: int
    findings: tuple[str, ...] = ()
    figures: dict[str, float] = field(default_factory=dict)  # the largest value of each is kept


Trial = Callable[[str], Tally]


class Proof(Protocol):
    """One claim and its cases."""

    @property
    def name(self) -> str:
        """A short name."""

    @property
    def claim(self) -> str:
        """The claim in one sentence."""

    @property
    def unit(self) -> str:
        """The unit of the counts."""

    @property
    def covers(self) -> tuple[str, ...]:
        """The source that the claim is about."""

    @property
    def workers(self) -> int:
        """The number of concurrent processes."""

    def why_not(self) -> str:
        """Why it cannot run here; empty if it can."""

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Every case, by a name that means the same in every process."""

    def opened(self, scratch: Path) -> AbstractContextManager[Trial]:
        """The resources of a worker, opened once."""


class Progress:
    """The finished cases on disk. Two runs of different proofs may share it."""

    def __init__(self, seed: int, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder("prove")) / f"progress-{seed}.json"
        self.rows = read_json(self.path)
        self._mine: set[str] = set()

    def row(self, proof: Proof, *, again: bool = False) -> dict[str, object]:
        """The row of a proof; a new one if the source has changed."""
        source = fingerprint(proof.covers)
        row = self.rows.get(proof.name)
        if again or not isinstance(row, dict) or row.get("source") != source:
            row = {"source": source, "done": [], "tried": 0, "findings": [], "figures": {}}
            row |= {"seconds": 0.0, "cases": 0, "date": today()}
            self.rows[proof.name] = row
        self._mine.add(proof.name)
        return row

    def save(self) -> None:
        """Write our rows and keep those of other runs."""
        with self.path.with_name("lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            saved = read_json(self.path)
            write_json(self.path, saved | {name: self.rows[name] for name in self._mine})


def shares(proofs: Sequence[Proof], seconds: float) -> Iterator[tuple[Proof, float]]:
    """Each proof with its end time; all get an equal part of the remaining time."""
    limit = time.monotonic() + seconds
    for index, proof in enumerate(proofs):
        now = time.monotonic()
        yield proof, now + max(0.0, limit - now) / (len(proofs) - index)


def run_proof(
    proof: Proof,
    progress: Progress,
    seed: int,
    until: float,
    scratch: Path,
    say: Callable[[str], None],
) -> bool:
    """Try cases until all are done or the time is up; return whether all are done."""
    row = progress.row(proof)
    cases = list(proof.cases(seed, scratch))
    done = set(_texts(row["done"]))
    rest = [case for case in cases if case not in done]
    if not getattr(proof, "in_order", False):
        # Shuffled, so that a part of the cases is representative.
        random.Random(seed).shuffle(rest)  # noqa: S311  # no secret depends on it
    row["cases"] = len(cases)
    say(f"{proof.name}: {len(cases) - len(rest)} of {len(cases)} cases were done before")
    started_at = time.monotonic()
    spent_before = float(str(row["seconds"]))
    saved = started_at
    for case, tally in _tried(proof, rest, until, scratch):
        _add(row, case, tally)
        row["seconds"] = round(spent_before + time.monotonic() - started_at, 1)
        row["date"] = today()
        for finding in tally.findings:
            say(f"  FOUND {finding}")
        if time.monotonic() - saved > 1 or tally.findings:
            progress.save()
            saved = time.monotonic()
    progress.save()
    finished = len(_texts(row["done"]))
    say(f"{proof.name}: {finished} of {len(cases)} cases, {row['tried']:,} {proof.unit}")
    return finished >= len(cases)


def _tried(
    proof: Proof, cases: Sequence[str], until: float, scratch: Path
) -> Iterator[tuple[str, Tally]]:
    waiting = iter(cases)
    running: dict[Future[Tally], str] = {}
    with ProcessPoolExecutor(
        proof.workers, _processes(), initializer=_open, initargs=(proof, scratch)
    ) as pool:
        while True:
            free = proof.workers + 1 - len(running) if time.monotonic() < until else 0
            for case in islice(waiting, free):
                running[pool.submit(_try, case)] = case
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def _processes() -> BaseContext:
    # Forked workers inherit the prepared resources. Only Linux forks safely.
    return get_context("fork" if sys.platform == "linux" else "spawn")


# The resources of a worker process; each worker serves one proof.
_worker: dict[str, Trial] = {}


def _open(proof: Proof, scratch: Path) -> None:
    opened = proof.opened(scratch)  # the parent removes the scratch folder
    _worker["trial"] = opened.__enter__()
    # A context that nobody refers to is closed at once; this one ends with its process.
    Finalize(None, opened.__exit__, (None, None, None), exitpriority=10)


def _try(case: str) -> Tally:
    return _worker["trial"](case)


def _add(row: dict[str, object], case: str, tally: Tally) -> None:
    done, findings, figures = row["done"], row["findings"], row["figures"]
    assert isinstance(done, list)
    assert isinstance(findings, list)
    assert isinstance(figures, dict)
    done.append(case)
    findings += tally.findings[: MOST_FINDINGS_KEPT - len(findings)]
    row["tried"] = int(str(row["tried"])) + tally.tried
    for name, figure in tally.figures.items():
        figures[name] = max(figure, figures.get(name, figure))


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
