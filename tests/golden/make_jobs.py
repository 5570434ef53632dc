"""Make the stored jobs anew: `python -m tests.golden.make_jobs [KIND...]`.

The stored jobs are those of the tree before the packages were moved. Make one anew only when its
format on disk is meant to change.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.golden.kinds import KINDS, Kind
from tests.golden.worlds import JOBS, environment, pack, write_agent, write_settings

REHEARSED_PLAN = """\
---
phase: 01-work
plan: {number}
type: execute
wave: 1
depends_on: []
files_modified: [{file}]
autonomous: true
rehearsed: true
must_haves:
  truths: []
---

<objective>
Make {file}.
</objective>

<tasks>
<task type="auto">
  <name>Task 1: make {file}</name>
  <files>{file}</files>
  <action>Write {file}.</action>
  <verify>test -f {file}</verify>
  <done>{file} exists</done>
</task>
</tasks>
"""
PATIENCE_SECONDS = 60


def main(names: list[str]) -> int:
    """Make the named kinds, or all."""
    for name, kind in KINDS.items():
        if not names or name in names:
            with tempfile.TemporaryDirectory(prefix="golden-") as folder:
                make(Path(folder).resolve() / "world", kind)
                pack(Path(folder).resolve() / "world", JOBS / name)
    return 0


def make(world: Path, kind: Kind) -> None:
    """A project whose job is killed after some of its events."""
    project = world / "project"
    project.mkdir(parents=True)
    programs = world.parent / "bin"
    programs.mkdir()
    write_agent(programs)
    variables = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.environ["PYTHONPATH"],
        **dict(environment(world)),
    }

    def call(*words: str) -> None:
        subprocess.run(words, cwd=project, env=variables, check=True, stdout=subprocess.DEVNULL)

    fairlead = (sys.executable, "-m", "fairlead")
    call("git", "init", "-q", "-b", "main", "--template=")
    call("git", "config", "user.name", "Somebody")
    call("git", "config", "user.email", "somebody@example.org")
    (project / "README.md").write_text("a project\n")
    if kind.has_project:
        call(*fairlead, "init", "Harbour", "--yes", "--phase", "Work")
    for number in ("02", "03") if kind.has_plans else ():
        folder = project / ".planning/phases/01-work"
        folder.mkdir(parents=True, exist_ok=True)
        text = REHEARSED_PLAN.format(number=number, file=f"{number}.txt")
        (folder / f"01-{number}-PLAN.md").write_text(text)
    if kind.has_agent:
        write_settings(world)
    call("git", "add", "-A")
    call("git", "commit", "-qm", "first")
    words = (*fairlead, *kind.argv, "--events")
    with subprocess.Popen(words, cwd=project, env=variables, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        for _ in range(kind.events):
            assert run.stdout.readline(), "it ended too early"
        run.send_signal(signal.SIGKILL)
    wait_until_quiet(world)
    call("git", "gc", "-q", "--prune=now")
    shutil.rmtree(world / "cache", ignore_errors=True)


def wait_until_quiet(world: Path) -> None:
    """Wait for the agents of a killed run."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < limit:
        if not any(str(world) in place for place in folders_in_use()):
            return
        time.sleep(0.1)
    raise TimeoutError("an agent of the killed run is still there")


def folders_in_use() -> list[str]:
    """The working folders of all processes that can be seen."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            found.append(str((entry / "cwd").readlink()))
        except OSError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
