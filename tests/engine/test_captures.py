"""Captures: an idea has a file and a line from the same step on, and both go together."""

from pathlib import Path

import pytest

from fairlead.errors import NoTodo, SameTodo, UnknownPhase
from fairlead.records.todo import new_todo
from tests.support.projects import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_todo_has_a_file_and_a_line_in_the_state(project: Project) -> None:
    kept = project.captures.todo(new_todo("The login page forgets the language", phase="2"))
    text = (project.folder / kept.path).read_text("utf-8")
    assert kept.path.startswith(".planning/todos/pending/2026-")
    assert "title: The login page forgets the language" in text
    assert ("area: auth" in text, "resolves_phase:" in text, "## Problem" in text) == (True,) * 3
    assert f"[auth] The login page forgets the language ({kept.path.rpartition('/')[2]})" in (
        project.state
    )


def test_a_todo_that_says_the_same_is_refused_and_nothing_is_written(project: Project) -> None:
    project.captures.todo(new_todo("The login page forgets the language"))
    before = project.snapshot()
    with pytest.raises(SameTodo):
        project.captures.todo(new_todo("the login page forgets its language"))
    assert project.snapshot() == before


def test_another_todo_on_the_same_page_is_none_that_says_the_same(project: Project) -> None:
    project.captures.todo(new_todo("The login page forgets the language"))
    project.captures.todo(new_todo("The login page shows no errors"))
    assert len(project.captures.pending()) == 2


def test_a_todo_that_is_wanted_twice_gets_a_name_of_its_own(project: Project) -> None:
    first = project.captures.todo(new_todo("Same"))
    second = project.captures.todo(new_todo("Same"), again=True)
    assert second.path == first.path.replace(".md", "-2.md")


def test_a_todo_that_is_done_leaves_the_state_as_it_was_before(project: Project) -> None:
    project.captures.todo(new_todo("Keep this one"))
    before = project.state
    project.captures.todo(new_todo("A flaky test"))
    done = project.captures.done("flaky")
    assert done.path.startswith(".planning/todos/completed/")
    lines = [line for line in project.state.splitlines() if "last_updated" not in line]
    assert lines == [line for line in before.splitlines() if "last_updated" not in line]


def test_a_todo_for_a_phase_that_nobody_knows_is_refused(project: Project) -> None:
    before = project.snapshot()
    with pytest.raises(UnknownPhase, match="there is no phase 77"):
        project.captures.todo(new_todo("Retries never stop", phase="77"))
    assert project.snapshot() == before


def test_a_name_that_fits_two_todos_is_refused_with_both(project: Project) -> None:
    for text in ("Fix the reader", "Fix the writer"):
        project.captures.todo(new_todo(text))
    with pytest.raises(NoTodo, match="no single pending todo") as refused:
        project.captures.done("fix")
    assert "fix-the-reader" in refused.value.hint


def test_text_cannot_become_structure_of_the_file(project: Project) -> None:
    kept = project.captures.todo(new_todo("A\n---\nstatus: done\n\n# Title\n\n<b>x</b>"))
    text = (project.folder / kept.path).read_text("utf-8")
    assert [line for line in text.splitlines() if line == "---"] == ["---", "---"]
    assert "\n\\# Title\n" in text


def test_the_backlog_goes_on_counting_and_no_number_of_the_project_changes(
    project: Project,
) -> None:
    first = project.captures.backlog("Dark mode")
    second = project.captures.backlog("Light mode")
    assert [each.path.rpartition("/")[2] for each in (first, second)] == [
        "999.1-dark-mode",
        "999.2-light-mode",
    ]
    roadmap = (project.planning / "ROADMAP.md").read_text("utf-8")
    assert roadmap.index("Phase 999.1: Dark mode (BACKLOG)") < roadmap.index("Phase 999.2:")
    assert project.events.sync(dry_run=True).changes[0].new.count("total_phases: 3") <= 1


def test_a_note_changes_no_other_file(project: Project) -> None:
    before = project.snapshot()
    kept = project.captures.note("Remember the milk")
    after = project.snapshot()
    assert set(after) - set(before) == {kept.path}
    assert {path: after[path] for path in before} == before
