"""Trials of supervision: a run with a misbehaving agent, killed at a moment that a number chooses."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from fairlead.adapters import keeper, supervision
from tests.support.programs import ROOT

WAYS = {
    "hang": "idle",
    "work_on": "timeout",
    "linger": "ok",
    "leave_a_daemon": "ok",
    "leave_a_quiet_daemon": "ok",
    "hang_with_daemons": "idle",
    "run_away": "idle",
    "kill_the_keeper": "killed",
    "bad_json": "invalid_output",
    "flood": "ok",
}
KILLED = ("nobody", "us", "keeper", "both")
_RUN = """
import json, sys
from pathlib import Path
from tests.support.agents import an_order, called, hostile
order = an_order(Path(sys.argv[1]))
print(order.job, flush=True)
limits = {} if len(sys.argv) > 3 else {"wall": 8, "first_event": 5, "idle": 5}
limits = {"wall": 500, "first_event": 500, **limits}
call = called(hostile(*sys.argv[2:]), order, **limits)
memory = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
print(json.dumps([call.ending.kind, memory]), flush=True)
"""


def run_of(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """A run of its own with one agent; its first line names the job."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    started = [sys.executable, "-c", _RUN, str(folder), *words]
    return subprocess.Popen(started, env=environment, stdout=subprocess.PIPE, text=True)


def try_agent(seed: int, number: int, folder: Path) -> str:
    """What is wrong after one run; empty when nothing is."""
    chance = random.Random(f"{seed}/{number}")
    way, killed = chance.choice(sorted(WAYS)), chance.choice(KILLED)
    run = run_of(folder, way)
    assert run.stdout
    job = run.stdout.readline().strip()
    if killed != "nobody":
        time.sleep(chance.uniform(0.0, 2.0))
        _kill(run, job, killed)
    said, _ = run.communicate(timeout=60)
    if killed in ("keeper", "both") or (killed == "us" and way == "kill_the_keeper"):
        supervision.reap(keeper.JOB, job)  # both are dead: the next run ends what is left
    left = _left(job)
    if left:
        supervision.reap(keeper.JOB, job)
        return f"{way}, {killed} killed: {len(left)} processes left"
    if killed == "nobody" and (not said or json.loads(said)[0] != WAYS[way]):
        return f"{way}: ended as {said.strip() or 'nothing'}, not as {WAYS[way]}"
    return ""


def _kill(run: "subprocess.Popen[str]", job: str, killed: str) -> None:
    mine = [
        mark
        for mark in list(keeper.below(run.pid))
        if mark in list(keeper.carrying(keeper.JOB, job))
    ]
    if killed in ("keeper", "both") and mine:
        keeper.signal_mark(min(mine, key=lambda mark: mark[1]), signal.SIGKILL)
    if killed in ("us", "both"):
        run.kill()


def _left(job: str) -> list[keeper.Mark]:
    """Who is still there after some seconds."""
    limit = time.monotonic() + 8
    while (left := list(keeper.carrying(keeper.JOB, job))) and time.monotonic() < limit:
        time.sleep(0.05)
    return left
