"""Hundreds of misbehaving agents, each run killed at a random time; and a gigabyte of output."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fairlead.agents.streams import Decoder, events_of
from prove.frame import Tally, Trial
from tests.agents.test_agent_corpus import RECORDED, recording
from tests.support.agent_trials import run_of, try_agent

COVERS = ("src/fairlead/agents",)
RUNS = 400
_MEMORY_KB = 64 << 10


@dataclass(frozen=True, slots=True)
class AgentProof:
    """A claim about runs with agents; a case is one run."""

    name: str = "agents"
    claim: str = (
        "whatever an agent does and whoever is killed, no process of it is left, the call ends as it "
        "should, and a gigabyte of output stays below 64 MB of memory"
    )
    unit: str = "runs"
    covers: tuple[str, ...] = COVERS
    workers: int = 2

    def why_not(self) -> str:
        """Processes are found through /proc."""
        return "" if Path("/proc/self/environ").exists() else "no /proc here"

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """The floods, every cut of every recording, and numbered runs."""
        del scratch
        cuts = [f"cut|{name}" for name, *_ in RECORDED]
        return ["flood|flood", "flood|one_line", *cuts, *(f"{seed}|{each}" for each in range(RUNS))]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """A private folder for each process."""
        folder = scratch / str(os.getpid())
        folder.mkdir(parents=True, mode=0o700)
        yield partial(_tried, folder)
        shutil.rmtree(folder)


def _tried(folder: Path, case: str) -> Tally:
    kind, _, rest = case.partition("|")
    if kind == "cut":
        return _cut(rest)
    if kind == "flood":
        return _flooded(folder, rest)
    fault = try_agent(int(kind), int(rest), folder)
    return Tally(1, (f"run {case}: {fault}",) if fault else ())


def _flooded(folder: Path, way: str) -> Tally:
    output, _ = run_of(folder, way, "1024").communicate(timeout=600)
    kind, memory = json.loads(output.splitlines()[-1])
    is_fine = kind == "ok" and memory < _MEMORY_KB
    findings = () if is_fine else (f"{way} of 1 GB: {kind}, {memory} KB",)
    return Tally(1, findings, {"KB of memory at 1 GB of output": memory})


def _cut(name: str) -> Tally:
    stream = next(row[1] for row in RECORDED if row[0] == name)
    data = recording(name)
    events = events_of(stream, data)
    findings = []
    for place in range(len(data)):
        decoder = Decoder(stream)
        if (*decoder.feed(data[:place]), *decoder.feed(data[place:]), *decoder.close()) != events:
            findings.append(f"{name} cut at {place} reads otherwise")
    return Tally(len(data), tuple(findings))


AGENTS = (AgentProof(),)
