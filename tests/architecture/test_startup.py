"""Short commands start fast: they load no package that they do not need, and nothing heavy.

`-X importtime` reports the imports, so a late import inside a function counts as well. `job list`
shows that the rules find something.
"""

import sys
from pathlib import Path

import pytest

from tests.support.imports import imported
from tests.support.programs import scratch_environment

SOURCES = Path(__file__).resolve().parents[2] / "src"
# Each takes about as long to import as a small command takes altogether.
HEAVY = {
    "asyncio", "dataclasses", "email", "hashlib", "http", "importlib.metadata", "logging", "rich",
    "subprocess", "tempfile", "urllib.request", "yaml",
}  # fmt: skip
# What a question about the project is made of. The sources say whether there are jobs or plans,
# and load the rest only if there are.
MEMORY = ("app", "core", "interfaces.cli", "project", "store", "text", "views")
SOURCES_OF_OVERVIEW = {
    "jobs", "jobs.overview_sources", "jobs.paths",
    "planphase", "planphase.overview_sources", "planphase.paths",
}  # fmt: skip
FOR_HELP = {
    "core", "core.errors", "interfaces", "interfaces.cli", "interfaces.cli.errors",
    "interfaces.cli.lazy_group", "interfaces.cli.main", "store", "store.errors",
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    planning = tmp_path / "work" / ".planning"
    planning.mkdir(parents=True)
    (planning / "STATE.md").write_text("---\nstatus: planning\n---\nPhase: 1 of 1\n", "utf-8")
    (planning / "ROADMAP.md").write_text("# Roadmap\n\n- [ ] Phase 1: Start\n", "utf-8")
    return planning.parent


def modules_of(project: Path, *words: str) -> set[str]:
    """The modules that a command imports."""
    environment = {**scratch_environment(project.parent), "PYTHONPATH": str(SOURCES)}
    return imported([sys.executable, "-m", "fairlead", *words], b"", environment, project)


def ours(modules: set[str]) -> set[str]:
    """The modules of the product, without its name."""
    return {name.removeprefix("fairlead.") for name in modules if name.startswith("fairlead.")}


def unexpected(modules: set[str]) -> set[str]:
    """Heavy modules, and modules of packages that a question about the project does not need."""
    others = {
        name
        for name in ours(modules) - SOURCES_OF_OVERVIEW - {"__main__", "interfaces"}
        if not any(f"{name}.".startswith(f"{package}.") for package in MEMORY)
    }
    return others | (modules & HEAVY)


@pytest.mark.parametrize("words", ["status", "status --json", "check"])
def test_a_question_about_the_project_loads_the_memory_only(project: Path, words: str):
    assert unexpected(modules_of(project, *words.split())) == set()


def test_a_list_of_jobs_loads_more(project: Path):
    assert {"hashlib", "jobs.ledger"} <= unexpected(modules_of(project, "job", "list"))


def test_the_help_loads_no_command(project: Path):
    modules = modules_of(project, "--help")

    assert modules & HEAVY == set()
    assert ours(modules) == FOR_HELP
