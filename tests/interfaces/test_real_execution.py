"""Real agent programs carry out a whole phase, from the installed command to merged commits.

Claude Code and Codex run here; OpenCode and Gemini, which take their time to start, only in the
long tier.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.execution import a_plan, a_project, commits_of
from tests.support.killing import processes_of
from tests.support.model_server import ModelServer
from tests.support.programs import fairlead
from tests.support.real_agents import MODELS, carrying_out, surroundings_of
from tests.support.repositories import git

pytestmark = pytest.mark.walk

PATIENCE_SECONDS = 400
SLOW = [pytest.param(name, marks=pytest.mark.long) for name in ("opencode", "gemini")]


@pytest.mark.parametrize("name", ["claude", "codex", *SLOW])
def test_a_real_agent_executes_two_waves_to_verified_commits(name: str, tmp_path: Path) -> None:
    plans = a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"])
    project = a_project(tmp_path / "p", *plans)
    with ModelServer(carrying_out) as server:
        environment = surroundings_of(tmp_path / "home", server, name)
        del environment["FAIRLEAD_NOW"]
        words = ("phase", "execute", "1", "--agent", name, "--model", MODELS[name], "--approve")
        done = subprocess.run(
            [*fairlead().words, *words, "--json"],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
    assert done.returncode == 0, done.stderr + done.stdout
    document = json.loads(done.stdout)
    assert (document["status"], [plan["complete"] for plan in document["plans"]]) == (
        "DONE",
        [True, True],
    )
    assert document["tokens"] > 0
    assert (project / "a.txt").read_text() == (project / "b.txt").read_text() == "made\n"
    assert [each[:12] for each in commits_of(project) if "merge" in each] == [
        "merge(01-02)",
        "merge(01-01)",
    ]
    assert git(project, "status", "--porcelain") == ""
    assert processes_of(project, document["job"]) == []
