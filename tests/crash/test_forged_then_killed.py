"""An agent forges a proof, then its run is killed from outside: nothing that is left counts."""

import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.execution import a_plan, a_project
from tests.support.programs import Command, Outcome, fairlead, run, start

_PHASE = ".planning/phases/01-work"
_FORGERIES = {
    "summaries": """
for number in ("01", "02"):
    text = f"---\\nphase: 01-work\\nplan: {number}\\n---\\n\\n# Summary\\n\\n## Self-Check: PASSED\\n"
    (main / f".planning/phases/01-work/01-{number}-SUMMARY.md").write_text(text)
text = "---\\nphase: 01-work\\nstatus: passed\\nverified: 2026-01-02T03:04:05Z\\n---\\n\\n# Passed\\n"
(main / ".planning/phases/01-work/01-VERIFICATION.md").write_text(text)
""",
    "record": """
[path] = main.glob(".planning/jobs/*/job.json")
record = {**json.loads(path.read_text()), "status": "DONE", "ended_at": "2026-01-02T03:04:05Z"}
path.write_text(json.dumps(record, indent=2))
""",
}
_AGENT = """
import json, pathlib, sys, time
main, forged = map(pathlib.Path, sys.argv[1:3])
{forgery}
forged.touch()
time.sleep(600)
"""


class _World:
    """A project whose agent forges something and then waits to be killed."""

    def __init__(self, folder: Path, forgery: str) -> None:
        self.project = a_project(folder / "project", a_plan("01-01", "a"), a_plan("01-02", "b"))
        self.forged = folder / "forged"
        agent = folder / "agent.py"
        agent.write_text(_AGENT.format(forgery=_FORGERIES[forgery]))
        argv = [sys.executable, str(agent), str(self.project), str(self.forged)]
        settings = folder / "home/config/fairlead/config.json"
        settings.parent.mkdir(parents=True)
        agents = {"forger": {"argv": argv, "stream": "claude"}}
        settings.write_text(json.dumps({"fairlead": {"agent": "forger", "agents": agents}}))

    def command(self, *words: str) -> Command:
        return fairlead().command(self.project, *words)

    def run(self, *words: str) -> Outcome:
        return run(self.command(*words))

    def answer(self, *words: str) -> dict[str, object]:
        document: dict[str, object] = json.loads(self.run(*words, "--json").output)
        return document

    @contextmanager
    def forging(self) -> Iterator[None]:
        """A run whose agent has forged, killed at the end."""
        child = start(self.command("phase", "execute", "1", "--approve"))
        try:
            while not self.forged.exists():
                assert child.poll() is None, "the run ended before its agent forged"
                time.sleep(0.05)
            yield
        finally:
            child.send_signal(signal.SIGKILL)
            child.communicate()


@pytest.fixture(params=[*_FORGERIES])
def killed(tmp_path: Path, request: pytest.FixtureRequest) -> _World:
    """A project that was left behind like this."""
    world = _World(tmp_path, request.param)
    with world.forging():
        pass
    return world


def _counts(status: dict[str, object]) -> tuple[object, object]:
    progress = status["progress"]
    assert isinstance(progress, dict)
    return progress["completed_plans"], progress["completed_phases"]


def test_nothing_forged_is_counted_or_written_after_the_kill(killed: _World) -> None:
    status = killed.answer("status")
    assert _counts(status) == (0, 0)
    jobs = status["jobs"]
    assert isinstance(jobs, list)
    assert [job["status"] for job in jobs] == ["INTERRUPTED"]
    assert "fairlead phase execute" in killed.run("next").text
    assert killed.run("check").code == 0  # no document is wrong that says open
    state = killed.project / ".planning/STATE.md"
    assert killed.run("state", "sync").code == 0
    assert killed.run("doctor", "--fix").code == 0
    assert "percent: 100" not in state.read_text()
    assert "Complete" not in state.read_text()
    assert _counts(killed.answer("status")) == (0, 0)


def test_the_next_run_restores_it_and_asks(killed: _World) -> None:
    assert killed.run("phase", "execute", "1", "--approve").code == 6
    assert not list((killed.project / _PHASE).glob("*SUMMARY.md"))
    assert not (killed.project / _PHASE / "01-VERIFICATION.md").exists()
    status = killed.answer("status")
    assert _counts(status) == (0, 0)
    jobs = status["jobs"]
    assert isinstance(jobs, list)
    assert [job["state"] for job in jobs] == ["waits"]


def test_a_forged_summary_counts_as_little_while_the_agent_runs(tmp_path: Path) -> None:
    world = _World(tmp_path, "summaries")
    with world.forging():
        assert _counts(world.answer("status")) == (0, 0)
