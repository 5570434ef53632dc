"""Council jobs in child processes, models included: quick to start and to kill.

One interpreter forks for every job, because starting Python takes as long as half a job.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from fairlead.jobs.context import JobEvent
from tests.support.council_runs import CouncilProject
from tests.support.killing import PATIENCE_SECONDS
from tests.support.repositories import git

JOB = "j_20260601_0001"  # the first of the day that the clock of a meeting begins with
_END = "end\n"
_ROOT = Path(__file__).resolve().parents[2]


class _PrintedEvents(list[JobEvent]):
    """Prints each event for the parent process."""

    def append(self, event: JobEvent) -> None:
        """Print one line."""
        os.write(1, f"{event.kind} {event.subject}\n".encode())


def main() -> None:
    """Run the job of each project named on standard input, one after the other."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os.environ["HOME"] = str(Path(line).parent)
            try:
                CouncilProject(Path(line.rstrip("\n")), events=_PrintedEvents()).run(
                    may_execute=True
                )
            finally:
                os._exit(0)
        os.write(1, f"{child}\n".encode())
        os.waitpid(child, 0)
        os.write(1, _END.encode())


class Children:
    """Runs jobs in child processes and kills them."""

    def __enter__(self) -> Self:
        words = [sys.executable, "-m", "tests.support.council_child"]
        paths = os.pathsep.join((str(_ROOT / "src"), str(_ROOT)))
        self._parent = subprocess.Popen(
            words,
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate(timeout=PATIENCE_SECONDS)

    def killed_after(self, project: Path, steps: int) -> int:
        """Run a job and kill it after so many events; return their number."""
        assert self._parent.stdin
        assert self._parent.stdout
        self._parent.stdin.write(f"{project}\n")
        output = self._parent.stdout
        count, child = 0, 0
        while (line := output.readline()) != _END:
            if line[0].isdigit():
                child = int(line)
            else:
                count += 1
            if child and count >= steps:
                os.kill(
                    child, signal.SIGKILL
                )  # the child is not reaped yet, so the id is still its own
                child = 0
        return min(count, steps)


def killed_after(project: Path, steps: int) -> int:
    """Run one job and kill it; see `Children.killed_after`."""
    with Children() as children:
        return children.killed_after(project, steps)


def outcome_of(council: CouncilProject) -> tuple[object, ...]:
    """Return everything about the end of a job that a kill must not change."""
    [job] = (council.project / ".planning/jobs").glob("j_*")
    record = council.service.record(job.name)
    votes = sorted(
        (each.round, each.seat, str(each.vote), each.plan_sha256)
        for each in record.cumulative_votes
    )
    names = git(council.project, "ls-files", "--", ":!.planning").splitlines()
    merges = [
        line
        for line in git(council.project, "log", "--format=%s").splitlines()
        if line.startswith("merge(")
    ]
    phases = sorted(path.name for path in (council.project / ".planning/phases").iterdir())
    return str(record.status), tuple(votes), record.master_plan, names, sorted(merges), phases


if __name__ == "__main__":
    main()
