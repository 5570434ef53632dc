"""The contestants on a small project and on large ones: ours, the reference tool's, and nobody's.

Projects are committed, as they are at home: the reference tool asks git about every verified phase.
The largest one is looked at without git, too, where it asks in vain and has its answer sooner.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from bench.measure import Contestant
from tests.support.big_project import big_project
from tests.support.programs import ROOT, fairlead, interpreter, run, scratch_environment

BARE = "python -I -S -c pass"
READ, UPDATE = "fairlead status --json", "fairlead state add-decision"
THEIR_READ, THEIR_UPDATE = "reference: state json", "reference: state add-decision"
SIZES = (10, 100, 1000)
WITHOUT_GIT = ", no git"
DECISION = ("state", "add-decision", "--phase", "1", "--summary")


def reference_tool() -> tuple[str, ...]:
    """The words that start the reference tool; none where it is not installed."""
    tool = str(ROOT / "tools" / "reference-tool")
    found = subprocess.run([tool], capture_output=True, check=False)
    return () if found.returncode else tuple(found.stdout.decode().split())


def on_a_small_project(scratch: Path) -> list[Contestant]:
    """Everybody on a new project, and what starting an interpreter costs."""
    world = scratch / "small"
    project = _folder(world)
    made = run(fairlead().command(project, "init", "Sample", "--yes"))
    if made.code:
        raise RuntimeError(made.describe())
    _commit(project, world)
    environment = scratch_environment(world)
    bare = (interpreter(), "-I", "-S", "-c", "pass")
    return [
        Contestant(BARE, bare, project, environment),
        Contestant("python -c pass", (sys.executable, "-c", "pass"), project, environment),
        *_pairs(project, world, ""),
    ]


def on_a_large_project(
    scratch: Path, phases: int, *, alone: bool = False, has_git: bool = True
) -> list[Contestant]:
    """Everybody, or only ours, on a project of so many phases with ten plans each."""
    where = f", {phases:,} phases" + ("" if has_git else WITHOUT_GIT)
    world = scratch / where.strip(", ")
    project = _folder(world)
    big_project(project, phases)
    if has_git:
        _commit(project, world)
    everybody = _pairs(project, world, where)
    return [each for each in everybody if not (alone and each.name.startswith("reference"))]


def _pairs(project: Path, world: Path, where: str) -> list[Contestant]:
    """Each side's status query and durable update, on copies of the same project."""
    environment = scratch_environment(world)
    ours, tool = fairlead().words, reference_tool()
    found = [
        Contestant(f"{READ}{where}", (*ours, "status", "--json"), project, environment),
        Contestant(f"{UPDATE}{where}", (*ours, *DECISION), project, environment, takes_tag=True),
    ]
    if tool:
        theirs = world / "theirs"
        shutil.copytree(project, theirs, ignore=shutil.ignore_patterns(".git"))
        if (project / ".git").exists():  # its own: the index of a copy knows none of its files
            _commit(theirs, world)
        found += [
            Contestant(f"{THEIR_READ}{where}", (*tool, "state", "json"), theirs, environment),
            Contestant(
                f"{THEIR_UPDATE}{where}", (*tool, *DECISION), theirs, environment, takes_tag=True
            ),
        ]
    return found


def _folder(world: Path) -> Path:
    (world / "home").mkdir(parents=True)
    project = world / "project"
    project.mkdir()
    return project


def _commit(project: Path, world: Path) -> None:
    """The project in a repository of its own."""
    git = shutil.which("git")
    if git is None:
        return
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    for words in (("init", "-q"), ("add", "--all"), (*who, "commit", "-q", "-m", "the project")):
        environment = scratch_environment(world)
        subprocess.run([git, *words], cwd=project, env=environment, check=True)
