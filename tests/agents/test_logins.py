"""Logins: an agent that nobody is logged in to is named before the first call is paid."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairlead.agents import registry
from fairlead.agents.ask import Respondent
from fairlead.agents.errors import AgentRefused
from fairlead.agents.model import AgentCall, CallResult, EndKind
from fairlead.jobs.roster import Roster
from tests.support.execution import ExecutionTrial, FakeAgent, a_plan, a_project

ANSWERS = {
    "claude": ("auth status", '{ "loggedIn": false }'),
    "codex": ("login status", "Not logged in"),
}
COMMAND = "fairlead phase execute 1"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a PATH of its own, without any key."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    for name in ("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def install(machine: Path, name: str, code: int = 1) -> Respondent:
    """A program that answers the question about its login, and nothing else."""
    words, said = ANSWERS[name]
    program = machine / "bin" / name
    program.write_text(f"#!/bin/sh\n[ \"$*\" = '{words}' ] || exit 0\necho '{said}'\nexit {code}\n")
    program.chmod(0o755)
    return Respondent(registry.agent(name), "", "")


@pytest.mark.parametrize("name", ANSWERS)
def test_a_role_without_a_logged_in_agent_is_refused_with_the_login_command(name, machine) -> None:
    roster = Roster({"architect": (install(machine, name),)})
    with pytest.raises(AgentRefused, match=f"{name} cannot be used: it is not logged in") as caught:
        roster.require_logins(COMMAND)
    login = registry.driver_factories()[name]().login
    assert caught.value.hint == f"log in with: {login}; then: {COMMAND}"


@pytest.mark.parametrize("name", ANSWERS)
def test_an_agent_that_does_not_say_so_is_not_refused(name, machine) -> None:
    Roster({"architect": (install(machine, name, code=0),)}).require_logins(COMMAND)


def test_a_stand_in_that_is_logged_in_is_enough(machine) -> None:
    pair = install(machine, "claude"), install(machine, "codex", code=0)
    Roster({"architect": pair}).require_logins(COMMAND)


@pytest.mark.parametrize("way", ["a key", "a provider"])
def test_codex_needs_no_login_with(way, machine, monkeypatch) -> None:
    if way == "a key":
        monkeypatch.setenv("CODEX_API_KEY", "dummy")
    else:
        (machine / ".codex").mkdir()
        (machine / ".codex/config.toml").write_text('model_provider = "mine"\n')
    Roster({"architect": (install(machine, "codex"),)}).require_logins(COMMAND)


@dataclass(slots=True)
class LoggedOut(FakeAgent):
    """An agent that says that nobody is logged in."""

    is_logged_out: bool = True
    login: str = "fake login"


def test_an_execution_stops_before_its_job_begins(tmp_path: Path) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), LoggedOut())
    with pytest.raises(AgentRefused) as caught:
        trial.run()
    assert "log in with: fake login" in str(caught.value.hint)
    assert (trial.agent.orders, list(trial.jobs.all())) == ([], [])


def test_a_login_that_expires_during_a_run_is_named_in_the_question(tmp_path: Path) -> None:
    def expired(order: AgentCall, call: int) -> Mapping[str, object] | CallResult:
        return CallResult(EndKind.AUTH, error="Please run /login")

    agent = LoggedOut(expired, is_logged_out=False)
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), agent)
    (question,) = trial.run().questions
    assert question.text.endswith("Please run /login; log in with: fake login")
