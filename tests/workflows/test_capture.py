"""Captures: an idea has a file and a line from the same step on, and both go together."""

from pathlib import Path

import pytest

from fairlead.project.errors import UnknownPhase
from fairlead.project.todos import new_todo
from fairlead.workflows.errors import NoTodo, SameTodo
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
    assert f"[auth] The login page forgets the language ({kept.path})" in project.state


def test_a_todo_with_the_same_text_is_refused_and_nothing_is_written(project: Project) -> None:
    project.captures.todo(new_todo("The login page forgets the language"))
    before = project.snapshot()
    with pytest.raises(SameTodo):
        project.captures.todo(new_todo("the login page forgets its language"))
    assert project.snapshot() == before


def test_a_different_todo_about_the_same_page_is_accepted(project: Project) -> None:
    project.captures.todo(new_todo("The login page forgets the language"))
    project.captures.todo(new_todo("The login page shows no errors"))
    assert len(project.captures.pending()) == 2


def test_a_repeated_todo_gets_another_file_name(project: Project) -> None:
    first = project.captures.todo(new_todo("Same"))
    second = project.captures.todo(new_todo("Same"), again=True)
    assert second.path == first.path.replace(".md", "-2.md")


def test_completing_a_todo_removes_only_its_line(project: Project) -> None:
    project.captures.todo(new_todo("Keep this one"))
    before = project.state
    project.captures.todo(new_todo("A flaky test"))
    done = project.captures.done("flaky")
    assert done.path.startswith(".planning/todos/completed/")
    lines = [line for line in project.state.splitlines() if "last_updated" not in line]
    assert lines == [line for line in before.splitlines() if "last_updated" not in line]


def test_a_todo_for_an_unknown_phase_is_refused(project: Project) -> None:
    before = project.snapshot()
    with pytest.raises(UnknownPhase, match="there is no phase 77"):
        project.captures.todo(new_todo("Retries never stop", phase="77"))
    assert project.snapshot() == before


def test_an_ambiguous_todo_name_is_refused_with_the_candidates(project: Project) -> None:
    for text in ("Fix the reader", "Fix the writer"):
        project.captures.todo(new_todo(text))
    with pytest.raises(NoTodo, match="'fix'") as refused:
        project.captures.done("fix")
    assert "fix-the-reader" in refused.value.hint


def test_the_text_of_a_todo_cannot_become_structure(project: Project) -> None:
    kept = project.captures.todo(new_todo("A\n---\nstatus: done\n\n# Title\n\n<b>x</b>"))
    text = (project.folder / kept.path).read_text("utf-8")
    assert [line for line in text.splitlines() if line == "---"] == ["---", "---"]
    assert "\n\\# Title\n" in text


def test_backlog_entries_are_numbered_and_do_not_count_as_phases(
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
