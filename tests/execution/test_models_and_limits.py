"""Models, time limits and permissions of executions: from the settings to every call."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents.model import CommandPermissions
from fairlead.app import App
from fairlead.execution.permissions import GIT_COMMANDS
from fairlead.jobs.context import RunOptions, TimeLimits
from fairlead.jobs.model import JobStatus
from fairlead.workflows.roles import role
from tests.support.execution import ExecutionTrial, FakeAgent, a_plan, a_project
from tests.support.repositories import written


def app_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: object) -> App:
    """A project with these settings, and a program called claude on PATH."""
    program = tmp_path / "bin/claude"
    written(program, "#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    written(project / ".planning/config.json", json.dumps(settings))
    return App(str(project))


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("settings", "named", "models"),
    [
        ({}, "", ("sonnet", "opus")),
        ({"models": {"execution": "opus", "verification": "haiku"}}, "", ("opus", "haiku")),
        ({"model_overrides": {"executor": "mine"}}, "", ("mine", "opus")),
        ({"model_overrides": {"gsd-executor": "mine"}}, "", ("mine", "opus")),
        ({"model_profile": "quality"}, "", ("opus", "opus")),
        ({"model_profile": "budget"}, "", ("haiku", "sonnet")),
        ({"model_profile": "inherit"}, "", ("", "")),
        ({"fairlead": {"model": "one"}}, "", ("one", "one")),
        ({"model_overrides": {"executor": "mine"}}, "asked", ("asked", "asked")),
    ],
)
def test_the_settings_choose_the_models_of_an_execution(
    settings, named, models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_with(tmp_path, monkeypatch, settings)
    roster = app.execution_roster("", "", model=named, is_rehearsed=False)
    assert tuple(roster.of(role)[0].model for role in ("executor", "architect")) == models


def test_every_call_of_an_execution_names_its_model_and_limits(tmp_path: Path) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    trial.models = ("small", "large")
    hours = timedelta(hours=8)
    trial.options = RunOptions(limits=TimeLimits(executor=hours, idle=timedelta(minutes=20)))
    trial.run()
    executor, architect = trial.agent.orders
    assert (executor.model, architect.model) == ("small", "large")
    assert (executor.limits.wall, executor.limits.first_event) == (hours, timedelta(minutes=20))
    assert (architect.limits.wall, architect.limits.idle) == (timedelta(minutes=15),) * 2


def test_time_limits_may_be_eight_hours_and_have_generous_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_with(tmp_path, monkeypatch, {"fairlead": {"verify_minutes": 480}})
    limits = app.execution_options(model="", slots=None, is_rehearsed=False).limits
    minutes = [each // timedelta(minutes=1) for each in (limits.executor, limits.verify)]
    assert minutes == [30, 480]
    assert (limits.architect, limits.idle) == (timedelta(minutes=15), timedelta(minutes=15))


# -- what an executor may run ----------------------------------------------------------------


def test_an_executor_may_run_the_verify_commands_and_those_of_the_project(tmp_path: Path) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt", "b.txt")))
    trial.options = RunOptions(commands=CommandPermissions(programs=("pytest", "git log")))
    trial.run()
    executors = [order for order in trial.agent.orders if not order.is_read_only]
    assert {order.commands.lines for order in executors} == {("test -f a.txt", "test -f b.txt")}
    assert {order.commands.programs for order in executors} == {("pytest", "git log")}
    assert "You may run the verify commands, pytest, reading git." in executors[0].prompt
    reviewers = [order.commands for order in trial.agent.orders if order.is_read_only]
    assert set(reviewers) == {CommandPermissions()}


@pytest.mark.parametrize(
    ("files", "settings", "expected"),
    [
        ((), {}, ()),
        (("Makefile", "go.mod"), {}, ("go test", "go build", "go vet", "gofmt", "make")),
        (("package.json",), {}, ("npm test", "npm run", "node --test")),
        (("Makefile",), {"execution": {"commands": ["just check"]}}, ("just check",)),
    ],
)
def test_the_commands_of_a_project_are_named_or_found(
    files, settings, expected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_with(tmp_path, monkeypatch, {"fairlead": settings})
    for name in files:
        written(tmp_path / "p" / name, "")
    commands = app.execution_options(model="", slots=None, is_rehearsed=False).commands
    assert commands.programs[: -len(GIT_COMMANDS)] == expected
    assert commands.programs[-len(GIT_COMMANDS) :] == GIT_COMMANDS
    assert not commands.is_unlimited


def test_permission_for_everything_is_said_before_each_start(tmp_path: Path) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    trial.options = RunOptions(commands=CommandPermissions(is_unlimited=True))
    report = trial.run()
    events = (trial.project / f".planning/jobs/{report.job.id}/events.jsonl").read_text()
    assert "executors may run every command (fairlead.execution.permissions: all)" in events
    assert trial.agent.orders[0].commands.is_unlimited


def test_the_debugger_may_run_the_commands_of_the_project_and_a_checker_none() -> None:
    assert (role("debugger").runs_commands, role("debugger").is_read_only) == (True, False)
    assert (role("plan-checker").runs_commands, role("plan-checker").is_read_only) == (False, True)


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_the_setting_limits_the_attempts_of_a_task(attempts: int, tmp_path: Path) -> None:
    def fails(*_: object) -> dict[str, object]:
        return {"status": "failure", "done_criteria_met": False, "error": "no"}

    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(fails))
    trial.options = RunOptions(attempts=attempts)
    assert trial.run().job.status is JobStatus.BLOCKED
    assert len(trial.agent.orders) == attempts


def test_the_attempts_of_a_task_come_from_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"fairlead": {"execution": {"attempts": 5}}}
    app = app_with(tmp_path, monkeypatch, settings)
    assert app.execution_options(model="", slots=None, is_rehearsed=False).attempts == 5
