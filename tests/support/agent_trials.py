"""Trials of supervision: runs with a misbehaving agent, killed at a random but seeded time."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from fairlead.agents import supervision, supervisor
from tests.support.programs import ROOT

WAYS = {
    "hang": "idle",
    "work_on": "timeout",
    "linger": "ok",
    "leave_a_daemon": "ok",
    "leave_a_quiet_daemon": "ok",
    "hang_with_daemons": "idle",
    "run_away": "idle",
    "kill_the_supervisor": "killed",
    "bad_json": "invalid_output",
    "flood": "ok",
}
KILLED = ("nobody", "us", "supervisor", "both")
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
    """Start a process that runs one agent; its first output line is the job's name."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    started = [sys.executable, "-c", _RUN, str(folder), *words]
    return subprocess.Popen(started, env=environment, stdout=subprocess.PIPE, text=True)


def try_agent(seed: int, number: int, folder: Path) -> str:
    """Run one seeded trial; return what is wrong, or an empty string."""
    rng = random.Random(f"{seed}/{number}")
    way, killed = rng.choice(sorted(WAYS)), rng.choice(KILLED)
    run = run_of(folder, way)
    assert run.stdout
    job = run.stdout.readline().strip()
    if killed != "nobody":
        time.sleep(rng.uniform(0.0, 2.0))
        _kill(run, job, killed)
    output, _ = run.communicate(timeout=900)
    if killed in ("supervisor", "both") or (killed == "us" and way == "kill_the_supervisor"):
        supervision.reap(supervisor.JOB, job)  # both are dead: the next run ends the rest
    remaining = _left(job)
    if remaining:
        supervision.reap(supervisor.JOB, job)
        return f"{way}, {killed} killed: {len(remaining)} processes left"
    if killed == "nobody" and (not output or json.loads(output)[0] != WAYS[way]):
        return f"{way}: ended as {output.strip() or 'nothing'}, not as {WAYS[way]}"
    return ""


def _kill(run: "subprocess.Popen[str]", job: str, killed: str) -> None:
    marks = [
        mark
        for mark in list(supervisor.below(run.pid))
        if mark in list(supervisor.carrying(supervisor.JOB, job))
    ]
    if killed in ("supervisor", "both") and marks:
        supervisor.signal_mark(min(marks, key=lambda mark: mark[1]), signal.SIGKILL)
    if killed in ("us", "both"):
        run.kill()


def _left(job: str) -> list[supervisor.ProcessMark]:
    """The processes of the job that are still running after 15 seconds."""
    limit = time.monotonic() + 15
    while (left := list(supervisor.carrying(supervisor.JOB, job))) and time.monotonic() < limit:
        time.sleep(0.05)
    return left
