"""Blockers are never lost: a result resolves its own blocker only, and what goes is archived."""

from pathlib import Path

import pytest

from fairlead.project.state.blockers import TaskOrigin
from fairlead.project.state.documents import read_state
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.gate import OpenTask
from fairlead.project.state.gate_rules import GateEvent
from fairlead.text.document import Document
from tests.support.projects import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def result(
    project: Project, outcome: str, task: str, plan: str = "", reason: str = "why", phase: str = "1"
) -> None:
    why = "" if outcome == "success" else reason
    project.events.task_result(TaskResult(task, TaskOutcome(outcome), phase, why, plan=plan))


def blockers(project: Project) -> tuple[str, ...]:
    return read_state(Document(project.state)).blockers


def archive(project: Project) -> str:
    path = project.planning / "STATE-ARCHIVE.md"
    return path.read_text("utf-8") if path.exists() else ""


def test_equal_task_names_of_two_plans_leave_two_blockers(project: Project) -> None:
    result(project, "failure", "Task 1", "1", "A")
    result(project, "failure", "Task 1", "2", "B")

    assert blockers(project) == ("[Phase 1 P01]: Task 1: A", "[Phase 1 P02]: Task 1: B")


def test_a_result_resolves_the_blocker_of_its_own_plan(project: Project) -> None:
    result(project, "failure", "Task 1", "1", "A")
    result(project, "blocked", "Task 1", "2", "B")
    result(project, "failure", "Task 1", "2", "C", phase="2")
    result(project, "success", "Task 1", "01-02")

    assert blockers(project) == ("[Phase 1 P01]: Task 1: A", "[Phase 2 P02]: Task 1: C")
    assert "- [Phase 1 P02]: Task 1: B" in archive(project)


@pytest.mark.parametrize(
    "typed",
    [
        "Task 1: supplier on strike",
        "[Phase 1]: Task 1: supplier on strike",
        "[Phase 1 P01] Task 1: supplier on strike",
        "Task 1",
    ],
)
def test_a_result_keeps_what_a_person_typed(project: Project, typed: str) -> None:
    project.events.blocker_added(typed)
    result(project, "failure", "Task 1", "1", "A")
    result(project, "success", "Task 1", "1")

    assert [each.replace("\\", "") for each in blockers(project)] == [typed]


def test_a_blocker_with_a_persons_lines_below_it_stays(project: Project) -> None:
    result(project, "failure", "Task 1", "1", "A")
    entry = "- [Phase 1 P01]: Task 1: A\n"
    state = project.planning / "STATE.md"
    state.write_text(project.state.replace(entry, f"{entry}  - asked Ann\n"), "utf-8")
    result(project, "success", "Task 1", "1")

    assert f"{entry}  - asked Ann\n" in project.state


def test_a_name_with_a_colon_is_another_task_than_its_first_part(project: Project) -> None:
    result(project, "failure", "Task 1: Write tests", "1", "A")
    result(project, "success", "Task 1", "1")

    assert blockers(project) == ("[Phase 1 P01]: Task 1: Write tests: A",)

    result(project, "success", "Task 1: Write tests", "1")

    assert blockers(project) == ()


def test_a_reason_with_a_colon_does_not_hide_where_the_name_ends(project: Project) -> None:
    result(project, "failure", "Task 1", "1", "Write tests: A")
    result(project, "success", "Task 1: Write tests", "1")

    assert blockers(project) == ("[Phase 1 P01]: **Task 1**: Write tests: A",)

    result(project, "success", "Task 1", "1")

    assert blockers(project) == ()


def test_a_new_reason_replaces_the_old_one_which_is_archived(project: Project) -> None:
    result(project, "failure", "Task 1", "1", "first")
    result(project, "failure", "Task 1", "1", "second")

    assert blockers(project) == ("[Phase 1 P01]: Task 1: second",)
    assert "- [Phase 1 P01]: Task 1: first" in archive(project)


def test_a_resolved_blocker_is_archived_with_all_its_lines(project: Project) -> None:
    project.events.blocker_added("waits for the sandbox")
    state = project.planning / "STATE.md"
    text = project.state.replace("- waits for the sandbox\n", "- waits for the sandbox\n  more\n")
    state.write_text(text, "utf-8")
    project.events.blocker_resolved("sandbox")

    assert blockers(project) == ()
    assert "- waits for the sandbox\n  more\n" in archive(project)


def test_a_result_without_a_plan_belongs_to_the_first_open_plan(project: Project) -> None:
    project.plan("1", 1)
    project.summary("1", 1)
    project.plan("1", 2)
    result(project, "failure", "Task 1")

    assert blockers(project) == ("[Phase 1 P02]: Task 1: why",)


def test_a_failed_gate_leaves_a_blocker_until_it_passes(project: Project) -> None:
    task = OpenTask("Task 1", "1", "01-01")
    project.sessions.gate(GateEvent.START, task)
    project.sessions.gate(GateEvent.EXECUTOR_FAILURE, task)

    assert blockers(project) == ("[Phase 1 P01]: Task 1: EXECUTION_FAILURE",)

    for event in ("retry", "executor-success", "verify-passed", "approved"):
        project.sessions.gate(GateEvent(event), task)

    assert blockers(project) == ()


@pytest.mark.parametrize("plan", ["3", "03", "02-03", "P3", "02-003"])
def test_every_spelling_of_a_plan_is_the_same_plan(plan: str) -> None:
    assert TaskOrigin("02", plan, "T").entry("x") == "[Phase 2 P03]: T: x"


@pytest.mark.parametrize(
    ("origin", "lead"),
    [
        (TaskOrigin("1", "", "T"), "[Phase 1 task]: T: "),
        (TaskOrigin("", "quick-7a", "T"), "[Plan quick-7a]: T: "),
        (TaskOrigin("", "", "T"), "[Task]: T: "),
        (TaskOrigin("4.5", "login", "T"), "[Phase 4.5 login]: T: "),
    ],
)
def test_a_task_without_a_numbered_plan_has_a_place_too(origin: TaskOrigin, lead: str) -> None:
    assert origin.entry("x") == f"{lead}x"
