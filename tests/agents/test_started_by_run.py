"""A command that an agent starts only reads, even if the agent cleared its environment."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents.supervision import SupervisorPool
from fairlead.execution.commands import Shell
from fairlead.jobs.paths import runs_path
from tests.support.execution import a_plan, a_project

SOURCE = Path(__file__).parents[2] / "src"


@pytest.mark.parametrize("way", ["", "setsid ", "exec "])
def test_an_agent_that_clears_its_environment_cannot_write_the_project(
    tmp_path: Path, way: str
) -> None:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    before = (project / ".planning/STATE.md").read_bytes()
    command = f"{sys.executable} -m fairlead state add-decision --phase 1 --summary forged"
    line = f"{way}env -i HOME={tmp_path} PYTHONPATH={SOURCE} {command}"
    pool = SupervisorPool()
    pool.job = runs_path(str(project), "execute-01")
    result = Shell(pool).run(line, str(project), timedelta(minutes=1))
    assert result.exit_code != 0
    assert (project / ".planning/STATE.md").read_bytes() == before


def test_a_run_of_another_project_does_not_matter(tmp_path: Path) -> None:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    command = f"{sys.executable} -m fairlead state add-decision --phase 1 --summary mine"
    line = f"env -i HOME={tmp_path} PYTHONPATH={SOURCE} {command}"
    pool = SupervisorPool()
    pool.job = runs_path(str(tmp_path / "other"), "execute-01")
    assert Shell(pool).run(line, str(project), timedelta(minutes=1)).exit_code == 0
