"""Real agent programs build small real packages, from two plans to a record that people read.

The model makes a mistake that the verify command finds, runs a command, asks a person, and leaves
files that its plan does not declare.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer
from tests.support.packages import NAMED, NPM, PYTHON, QUESTION, UNNAMED, Package
from tests.support.programs import fairlead
from tests.support.real_agents import MODELS, surroundings_of
from tests.support.repositories import git

pytestmark = pytest.mark.walk

PATIENCE_SECONDS = 400
PACKAGES = {"python": PYTHON, "npm": NPM}
SUMMARY = ".planning/phases/01-work/{}-SUMMARY.md"


def called(project: Path, environment: dict[str, str], *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [*fairlead().words, *words],
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    return done.returncode, done.stdout


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}")[2].partition("\n## ")[0]


@pytest.mark.parametrize("kind", PACKAGES)
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_real_agent_builds_a_package_in_two_plans(name: str, kind: str, tmp_path: Path) -> None:
    package: Package = PACKAGES[kind]
    node = shutil.which("npm")
    if kind == "npm" and not node:
        pytest.skip("npm is not installed")
    project = package.project(tmp_path / "p")
    with ModelServer(package.model) as server:
        environment = surroundings_of(tmp_path / "home", server, name)
        del environment["FAIRLEAD_NOW"]
        if node:
            environment["PATH"] += f"{os.pathsep}{Path(node).parent}"
        for key, value in package.settings.items():
            assert called(project, environment, "config", "set", key, value)[0] == 0
        git(project, "add", "--all")
        git(project, "commit", "-q", "--allow-empty", "-m", "settings")
        words = ("phase", "execute", "1", "--agent", name, "--model", MODELS[name], "--approve")
        code, shown = called(project, environment, *words)
        assert (code, QUESTION in shown) == (6, True), shown
        page = called(project, environment, "job", "show")[1]
        assert "fairlead job answer" in page
        job = page.split()[0]
        assert called(project, environment, "job", "answer", job, "upper")[0] == 0
        code, shown = called(project, environment, *words)
        assert code == 0, shown
        page = called(project, environment, "job", "show")[1]
        assert called(project, environment, "check", "--ledger")[0] == 0
    assert git(project, "status", "--porcelain") == ""
    for path in (*package.first, *package.second):
        assert (project / path).exists()
    assert [(project / path).exists() for path in (NAMED, UNNAMED)] == [True, False]
    assert UNNAMED in git(project, "ls-tree", "-r", "--name-only", kept_branch(project))
    _check_record(project, page, name)


def kept_branch(project: Path) -> str:
    """The branch of the second attempt, which has what did not land."""
    names = git(project, "for-each-ref", "--format=%(refname:short)", "refs/heads/fairlead")
    return next(each for each in names.splitlines() if each.endswith("01-01-01-r2"))


def _check_record(project: Path, page: str, name: str) -> None:
    """The record reads well: who did what, what it cost, what was decided and what is left."""
    first, second = ((project / SUMMARY.format(id_)).read_text() for id_ in ("01-01", "01-02"))
    assert "one function, because nothing else needs it" in section(first, "Decisions Made")
    assert f"{NAMED} was added" in section(first, "Deviations from Plan")
    concerns = section(first, "Concerns")
    assert "very long texts were not tried" in concerns
    assert UNNAMED in concerns
    assert f"{QUESTION} upper (a person's answer)" in section(second, "Decisions Made")
    lines = (project / ".planning/ledger/01-01.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert [(each["kind"], each["verdict"]) for each in entries] == [
        ("execute", "executor-success"),
        ("verify", "verify-failed"),
        ("execute", "executor-success"),
        ("verify", "verify-passed"),
        ("review", "approved"),
        ("verify", "verify-passed"),
        ("merge", "merged"),
    ]
    assert [each["claim_mismatch"] for each in entries[:2]] == [False, True]
    assert all(each["seconds"] > 0 for each in entries if each["kind"] != "merge")
    paid = [line.split() for line in page.partition("Cost of each call")[2].splitlines()]
    calls = [words[:4] for words in paid if len(words) > 4 and words[0].startswith("01-")]
    roles = ["execute", "execute", "review", "execute", "execute", "review"]
    assert [words[1] for words in calls] == roles
    assert {tuple(words[2:4]) for words in calls} == {(name, MODELS[name])}
