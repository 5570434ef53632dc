"""The measured commands: ours, the reference tool's and a bare interpreter's, by project size.

Projects are committed, as real ones are, because the reference tool asks git about every verified
phase. The largest one is also measured without git, where the reference tool is faster.
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
    """The words that start the reference tool; none if it is not installed."""
    tool = str(ROOT / "tools" / "reference-tool")
    done = subprocess.run([tool], capture_output=True, check=False)
    return () if done.returncode else tuple(done.stdout.decode().split())


def on_a_small_project(scratch: Path) -> list[Contestant]:
    """All commands on a new project, and the start of an interpreter."""
    world = scratch / "small"
    project = _folder(world)
    created = run(fairlead().command(project, "init", "Sample", "--yes"))
    if created.code:
        raise RuntimeError(created.describe())
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
    """All commands, or only ours, on a project with this many phases of ten plans."""
    where = f", {phases:,} phases" + ("" if has_git else WITHOUT_GIT)
    world = scratch / where.strip(", ")
    project = _folder(world)
    big_project(project, phases)
    if has_git:
        _commit(project, world)
    everybody = _pairs(project, world, where)
    return [each for each in everybody if not (alone and each.name.startswith("reference"))]


def _pairs(project: Path, world: Path, where: str) -> list[Contestant]:
    """The status query and durable update of both tools, on copies of the same project."""
    environment = scratch_environment(world)
    words, tool = fairlead().words, reference_tool()
    contestants = [
        Contestant(f"{READ}{where}", (*words, "status", "--json"), project, environment),
        Contestant(f"{UPDATE}{where}", (*words, *DECISION), project, environment, takes_tag=True),
    ]
    if tool:
        theirs = world / "theirs"
        shutil.copytree(project, theirs, ignore=shutil.ignore_patterns(".git"))
        if (project / ".git").exists():  # the index of a copied repository would be stale
            _commit(theirs, world)
        contestants += [
            Contestant(f"{THEIR_READ}{where}", (*tool, "state", "json"), theirs, environment),
            Contestant(
                f"{THEIR_UPDATE}{where}", (*tool, *DECISION), theirs, environment, takes_tag=True
            ),
        ]
    return contestants


def _folder(world: Path) -> Path:
    (world / "home").mkdir(parents=True)
    project = world / "project"
    project.mkdir()
    return project


def _commit(project: Path, world: Path) -> None:
    """Commit the project to a new repository."""
    git = shutil.which("git")
    if git is None:
        return
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    for words in (
        ("init", "-q"),
        ("add", "--all"),
        (*identity, "commit", "-q", "-m", "the project"),
    ):
        environment = scratch_environment(world)
        subprocess.run([git, *words], cwd=project, env=environment, check=True)
