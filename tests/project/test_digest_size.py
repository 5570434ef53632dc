"""STATE.md stays a digest: what an event makes too long goes to the archive in the same step."""

from pathlib import Path

import pytest

from fairlead.project.events import Events
from fairlead.project.memory import Memory
from fairlead.project.state.documents import Decision
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.store.files import Files
from tests.conftest import Fairlead
from tests.support.projects import Project, TickingClock
from tests.support.states import STATE


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def archive(project: Project) -> str:
    path = project.planning / "STATE-ARCHIVE.md"
    return path.read_text("utf-8") if path.exists() else ""


def decide(project: Project, count: int, lines: int = 100) -> None:
    memory = Memory(Files(str(project.folder)), TickingClock(), lines=lines)
    for at in range(count):
        memory.add_decision(Decision("1", f"Choice {at:03}"))


def test_no_decision_is_lost_and_the_document_stays_within_its_size(project: Project) -> None:
    decide(project, 60)
    everything = project.state + archive(project)

    assert len(project.state.splitlines()) <= 100
    assert [everything.count(f"Choice {at:03}\n") for at in range(60)] == [1] * 60
    assert "Choice 059" in project.state


def test_archive_and_document_are_one_step(project: Project) -> None:
    decide(project, 60)
    before = project.state, archive(project)
    outcome = Memory(Files(str(project.folder)), TickingClock(), lines=100).add_decision(
        Decision("1", "One more")
    )

    assert set(outcome.paths) == {".planning/STATE.md", ".planning/STATE-ARCHIVE.md"}
    Files(str(project.folder)).undo()
    assert (project.state, archive(project)) == before


def test_a_document_over_the_limit_is_not_cut_but_does_not_grow(project: Project) -> None:
    many = "\n".join(f"- [Phase 1]: Old {at}" for at in range(80))
    (project.planning / "STATE.md").write_text(STATE.replace("None yet.", many, 1), "utf-8")
    size = len(project.state.splitlines())
    decide(project, 2)

    assert len(project.state.splitlines()) == size
    assert archive(project).count("- [Phase 1]: Old") == 2


def test_every_event_keeps_the_constraints(project: Project) -> None:
    decide(project, 30)
    events = Events(Files(str(project.folder)), TickingClock(), lines=100)
    for at in range(10):
        events.blocker_added(f"Blocker {at}")

    assert len(project.state.splitlines()) <= 100
    assert [f"Blocker {at}" in project.state for at in range(10)] == [True] * 10


def test_without_a_size_nothing_is_moved(project: Project) -> None:
    decide(project, 60, lines=0)

    assert (archive(project), project.state.count("Choice")) == ("", 60)


def test_the_setting_selects_the_completion_policy(fairlead: Fairlead, project: Project) -> None:
    long = "\n".join(f"- [Phase 1]: Old {at}" for at in range(19))
    state = STATE.replace("None yet.", long, 1)
    (project.planning / "STATE.md").write_text(state, "utf-8")
    assert len(state.splitlines()) == 100
    fairlead("config", "set", "fairlead.state_lines", "0")
    fairlead("state", "add-decision", "--phase", "1", "--summary", "x")
    assert archive(project) == ""
    fairlead("config", "set", "fairlead.state_lines", "100")
    fairlead("state", "add-blocker", "--text", "a")
    fairlead("state", "add-blocker", "--text", "b")

    assert "Old 0" in archive(project)


def test_a_replaced_line_is_archived_even_if_its_words_occur_elsewhere(project: Project) -> None:
    """A person's line that an event replaces is kept, also when its words are part of another."""
    text = STATE.replace("Last activity: 2026-05-01", "Last activity: It works")
    (project.planning / "STATE.md").write_text(text, "utf-8")
    project.events.task_result(TaskResult("T", TaskOutcome.SUCCESS))

    assert "- Last activity: It works" in archive(project)
