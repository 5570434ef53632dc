"""File names that are not valid text: the files land, and records show the names escaped."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import JobStatus
from tests.support.execution import ExecutionTrial, FakeAgent, a_plan, a_project, succeeds
from tests.support.repositories import git, written

ODD = os.fsdecode(b"caf\xe9.txt")
SHOWN = r"caf\udce9.txt"
SUMMARY = ".planning/phases/01-work/01-01-SUMMARY.md"


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def also(act: Callable[[Path], None], name: str = ODD) -> FakeAgent:
    """An executor that does its task and one thing more, and names the file it touches."""

    def acts(order: AgentCall, call: int) -> Mapping[str, object]:
        if not order.is_read_only:
            act(Path(order.folder))
            return {**succeeds(order, call), "files_modified": [name]}
        return succeeds(order, call)

    return FakeAgent(acts)


def a_trial(tmp_path: Path, agent: FakeAgent, *names: str, is_git: bool = True) -> ExecutionTrial:
    """A project with files of these names."""
    project = a_project(tmp_path / "p", a_plan("01-01", "f1.txt"), is_git=is_git)
    for name in names:
        written(project / name, "old\n")
    if names and is_git:
        git(project, "add", "--all")
        git(project, "commit", "-qm", "names")
    return ExecutionTrial(project, agent)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("is_git", [True, False])
@pytest.mark.parametrize("name", [ODD, "two\nlines.txt", "steer\x1b.txt"])
def test_a_file_with_an_odd_name_is_created_and_recorded(
    tmp_path: Path, name: str, *, is_git: bool
) -> None:
    trial = a_trial(
        tmp_path, also(lambda place: written(place / name, "new\n"), name), is_git=is_git
    )
    report = trial.run()
    assert report.job.status is JobStatus.DONE
    assert (trial.project / name).read_text() == "new\n"
    shown = name.replace(ODD, SHOWN).replace("\n", r"\x0a").replace("\x1b", r"\x1b")
    gate = JobFolder(str(trial.project), report.job.id).load_gate("01-01-01")
    assert gate is not None
    assert (
        gate.concerns[0]
        == f"{shown}: not declared by the plan; it lands because the executor named it"
    )
    assert f"- `{shown}`\n" in (trial.project / SUMMARY).read_text()
    assert len(trial.agent.orders) == 2


@pytest.mark.parametrize("is_git", [True, False])
def test_an_existing_file_with_an_odd_name_is_changed(tmp_path: Path, *, is_git: bool) -> None:
    agent = also(lambda place: written(place / ODD, "new\n"))
    trial = a_trial(tmp_path, agent, ODD, is_git=is_git)
    assert trial.run().job.status is JobStatus.DONE
    assert (trial.project / ODD).read_text() == "new\n"


def test_a_deleted_file_with_an_odd_name_is_asked_about(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, also(lambda place: (place / ODD).unlink()), ODD)
    [question] = trial.run().questions
    assert question.text == f"01-01 deletes files it did not declare: {SHOWN}"
    trial.answer("accept")
    assert trial.run().job.status is JobStatus.DONE
    assert not (trial.project / ODD).exists()


def test_a_merge_conflict_in_a_file_with_an_odd_name_is_asked_about(tmp_path: Path) -> None:
    plans = (a_plan("01-01", "f1.txt"), a_plan("01-02", "f2.txt"))
    agent = also(lambda place: written(place / ODD, f"{place.name}\n"))
    [question] = ExecutionTrial(a_project(tmp_path / "p", *plans), agent).run().questions
    assert f"{SHOWN} changed differently" in question.text
    assert any(SHOWN in each for each in question.details)


def test_an_untracked_file_with_an_odd_name_that_blocks_a_landing_is_asked_about(
    tmp_path: Path,
) -> None:
    project = tmp_path / "p"

    def both(place: Path) -> None:
        written(place / ODD, "theirs\n")
        written(project / ODD, "ours\n")

    [question] = a_trial(tmp_path, also(both)).run().questions
    assert question.text.startswith("01-01 cannot land: ")


def test_a_nested_repository_with_an_odd_name_fails_its_attempt(tmp_path: Path) -> None:
    def nested(place: Path) -> None:
        inner = place / os.fsdecode(b"caf\xe9")
        written(inner / "a.txt", "made\n")
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "own"]):
            git(inner, "-c", "user.name=a", "-c", "user.email=a@b", *words)

    [question] = a_trial(tmp_path, also(nested)).run().questions
    assert r"caf\udce9 became a repository of its own" in question.text


def test_a_hook_with_an_odd_name_is_asked_about(tmp_path: Path) -> None:
    project = tmp_path / "p"
    agent = also(lambda _: written(project / ".git/hooks" / ODD, "true\n"))
    [question] = a_trial(tmp_path, agent).run().questions
    assert f".git/hooks/{SHOWN}" in question.text
