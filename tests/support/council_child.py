"""Whole council jobs in processes of their own, every voice in it: quick to start and to kill.

One interpreter is started and forks for every job: starting Python takes as long as half a job.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from fairlead.engine.site import Happening
from tests.support.council_table import Meetings
from tests.support.killing import PATIENCE_SECONDS
from tests.support.repositories import git

JOB = "j_20260601_0001"  # the first of the day that the clock of a meeting begins with
_END = "end\n"
_ROOT = Path(__file__).resolve().parents[2]


class _Told(list[Happening]):
    """Tells each happening to who started this process."""

    def append(self, happening: Happening) -> None:
        """One line."""
        os.write(1, f"{happening.kind} {happening.subject}\n".encode())


def main() -> None:
    """Carry the job of each project that is named to its end, one after the other."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os.environ["HOME"] = str(Path(line).parent)
            try:
                Meetings(Path(line.rstrip("\n")), happened=_Told()).run(may_execute=True)
            finally:
                os._exit(0)
        os.write(1, f"{child}\n".encode())
        os.waitpid(child, 0)
        os.write(1, _END.encode())


class Children:
    """Jobs that are killed from outside."""

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
        """A job that is killed after so many steps; how many it told."""
        assert self._parent.stdin
        assert self._parent.stdout
        self._parent.stdin.write(f"{project}\n")
        said = self._parent.stdout
        told, child = 0, 0
        while (line := said.readline()) != _END:
            if line[0].isdigit():
                child = int(line)
            else:
                told += 1
            if child and told >= steps:
                os.kill(child, signal.SIGKILL)  # not reaped before it is dead: it is this one
                child = 0
        return min(told, steps)


def killed_after(project: Path, steps: int) -> int:
    """One such job."""
    with Children() as children:
        return children.killed_after(project, steps)


def outcome_of(table: Meetings) -> tuple[object, ...]:
    """What a job came to: everything that a kill must not change."""
    [job] = (table.project / ".planning/jobs").glob("j_*")
    held = table.council.files_of(job.name).load()
    votes = sorted(
        (each.round, each.seat, str(each.vote), each.plan_sha256) for each in held.cumulative_votes
    )
    names = git(table.project, "ls-files", "--", ":!.planning").splitlines()
    merges = [
        line
        for line in git(table.project, "log", "--format=%s").splitlines()
        if line.startswith("merge(")
    ]
    phases = sorted(path.name for path in (table.project / ".planning/phases").iterdir())
    return str(held.status), tuple(votes), held.master_plan, names, sorted(merges), phases


if __name__ == "__main__":
    main()
