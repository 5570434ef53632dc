"""A whole council job in a process of its own, every voice in it: quick to start and to kill."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from fairlead.engine.site import Happening
from tests.support.council_table import Meetings
from tests.support.killing import PATIENCE_SECONDS
from tests.support.repositories import git

JOB = "j_20260601_0001"  # the first of the day that the clock of a meeting begins with
_ROOT = Path(__file__).resolve().parents[2]


class _Told(list[Happening]):
    """Tells each happening to who started this process."""

    def append(self, happening: Happening) -> None:
        """One line."""
        os.write(1, f"{happening.kind} {happening.subject}\n".encode())


def main() -> None:
    """Carry the job of a project on to its end."""
    Meetings(Path(sys.argv[1]), happened=_Told()).run(may_execute=True)


def killed_after(project: Path, steps: int) -> int:
    """A job that is killed after so many steps; how many it told."""
    words = [sys.executable, "-m", "tests.support.council_child", str(project)]
    paths = os.pathsep.join((str(_ROOT / "src"), str(_ROOT)))
    with subprocess.Popen(
        words,
        env={**os.environ, "PYTHONPATH": paths, "HOME": str(project.parent)},
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        told = 0
        while told < steps and child.stdout.readline():
            told += 1
        child.send_signal(signal.SIGKILL)
        child.wait(PATIENCE_SECONDS)
    return told


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
