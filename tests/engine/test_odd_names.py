"""Files whose names are no text: they land like any other, and records show them in visible form."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus
from fairlead.store.jobs import JobFiles
from tests.support.execution import Told, Works, a_plan, a_project, does_it
from tests.support.repositories import git, written

ODD = os.fsdecode(b"caf\xe9.txt")
SHOWN = r"caf\udce9.txt"
SUMMARY = ".planning/phases/01-work/01-01-SUMMARY.md"


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def also(act: Callable[[Path], None]) -> Told:
    """An executor that does its task, and something besides."""

    def acts(order: Order, call: int) -> Mapping[str, object]:
        if not order.is_read_only:
            act(Path(order.folder))
        return does_it(order, call)

    return Told(acts)


def works(tmp_path: Path, agent: Told, *names: str, is_git: bool = True) -> Works:
    """A project that holds files of these names."""
    project = a_project(tmp_path / "p", a_plan("01-01", "f1.txt"), is_git=is_git)
    for name in names:
        written(project / name, "old\n")
    if names and is_git:
        git(project, "add", "--all")
        git(project, "commit", "-qm", "names")
    return Works(project, agent)


@pytest.mark.parametrize("is_git", [True, False])
@pytest.mark.parametrize("name", [ODD, "two\nlines.txt", "steer\x1b.txt"])
def test_a_file_of_such_a_name_is_made_and_the_records_show_it(
    tmp_path: Path, name: str, *, is_git: bool
) -> None:
    site = works(tmp_path, also(lambda place: written(place / name, "new\n")), is_git=is_git)
    report = site.run()
    assert report.job.status is JobStatus.DONE
    assert (site.project / name).read_text() == "new\n"
    shown = name.replace(ODD, SHOWN).replace("\n", r"\x0a").replace("\x1b", r"\x1b")
    gate = JobFiles(str(site.project), report.job.id).load_gate("01-01-01")
    assert gate is not None
    assert gate.concerns == (f"{shown} is not among the files of the task",)
    assert f"- `{shown}`\n" in (site.project / SUMMARY).read_text()
    assert len(site.agent.orders) == 2


@pytest.mark.parametrize("is_git", [True, False])
def test_a_file_of_such_a_name_that_was_there_is_changed(tmp_path: Path, *, is_git: bool) -> None:
    agent = also(lambda place: written(place / ODD, "new\n"))
    site = works(tmp_path, agent, ODD, is_git=is_git)
    assert site.run().job.status is JobStatus.DONE
    assert (site.project / ODD).read_text() == "new\n"


def test_a_deleted_file_of_such_a_name_is_asked_about(tmp_path: Path) -> None:
    site = works(tmp_path, also(lambda place: (place / ODD).unlink()), ODD)
    [question] = site.run().questions
    assert question.text == f"01-01 deletes files it did not declare: {SHOWN}"
    site.answer("accept")
    assert site.run().job.status is JobStatus.DONE
    assert not (site.project / ODD).exists()


def test_a_clash_in_a_file_of_such_a_name_is_asked_about(tmp_path: Path) -> None:
    plans = (a_plan("01-01", "f1.txt"), a_plan("01-02", "f2.txt"))
    agent = also(lambda place: written(place / ODD, f"{place.name}\n"))
    [question] = Works(a_project(tmp_path / "p", *plans), agent).run().questions
    assert f"{SHOWN} changed differently" in question.text
    assert any(SHOWN in each for each in question.details)


def test_a_file_of_such_a_name_in_the_way_is_asked_about(tmp_path: Path) -> None:
    project = tmp_path / "p"

    def both(place: Path) -> None:
        written(place / ODD, "theirs\n")
        written(project / ODD, "ours\n")

    [question] = works(tmp_path, also(both)).run().questions
    assert question.text.startswith("01-01 cannot land: ")


def test_a_repository_of_such_a_name_fails_its_attempt(tmp_path: Path) -> None:
    def nested(place: Path) -> None:
        inner = place / os.fsdecode(b"caf\xe9")
        written(inner / "a.txt", "made\n")
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "own"]):
            git(inner, "-c", "user.name=a", "-c", "user.email=a@b", *words)

    [question] = works(tmp_path, also(nested)).run().questions
    assert r"caf\udce9 became a repository of its own" in question.text


def test_a_hook_of_such_a_name_is_asked_about(tmp_path: Path) -> None:
    project = tmp_path / "p"
    agent = also(lambda _: written(project / ".git/hooks" / ODD, "true\n"))
    [question] = works(tmp_path, agent).run().questions
    assert f".git/hooks/{SHOWN}" in question.text
