"""Position, stop and shown gate while several plans of a phase run at once."""

import os
from pathlib import Path

import pytest

from fairlead.project.events import LandedPlan
from fairlead.project.state.gate import OpenTask, read_task
from fairlead.project.state.gate_rules import GateEvent
from fairlead.text.document import Document
from fairlead.text.errors import UnwritableValue
from tests.support.projects import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    for plan in (1, 2, 3):
        project.plan("1", plan)
    project.events.execution_started("1")
    return project


def line(project: Project, label: str) -> str:
    field = Document(project.state).field(label)
    assert field is not None
    return field.value


def finish(project: Project, plan: int, at: int) -> None:
    project.summary("1", plan)
    path = project.planning / f"phases/01-core/01-{plan:02d}-SUMMARY.md"
    os.utime(path, (at, at))


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize(
    ("order", "position"),
    [((2,), 1), ((1,), 2), ((3, 2), 1), ((3, 1), 2), ((2, 1), 3), ((1, 2), 3), ((3, 2, 1), 0)],
)
def test_the_current_plan_is_the_first_unfinished_one(
    project: Project, order: tuple[int, ...], position: int, is_named: bool
) -> None:
    for at, plan in enumerate(order):
        finish(project, plan, 1_000 + at)
        project.events.plan_completed("1", plan=str(plan) if is_named else "")

    if position:
        assert line(project, "Plan") == f"{position} of 3 in current phase"
        assert Document(project.state).value("current_plan") == str(position)
    assert line(project, "Stopped at") == f"Plan 01-{order[-1]:02d} complete"


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_a_run_stopped_at_the_plan_that_landed_last(
    project: Project, order: tuple[int, ...]
) -> None:
    for plan in order:
        path = f".planning/phases/01-core/01-{plan:02d}"
        names = (f"{path}-PLAN.md", f"{path}-SUMMARY.md")
        text = "# Summary\n\nDone.\n"
        landed = LandedPlan(*names, text, {names[1]: lambda _, text=text: text})  # type: ignore[misc]
        project.events.follow("1", landed)
    project.events.follow("1")

    assert line(project, "Stopped at") == f"Completed 01-{order[-1]:02d}-PLAN.md"


def step(project: Project, session: str, *events: str) -> None:
    for event in events:
        task = OpenTask(f"Task of {session}", "1", f"01-{session}", session)
        project.sessions.gate(GateEvent(event), task)


def shown(project: Project) -> tuple[str, str]:
    task = read_task(Document(project.state))
    return task.session if task else "", line(project, "Resume file")


COMMON, OWN = ".planning/.continue-here.md", ".planning/.continue-here-b.md"


def test_the_oldest_open_gate_is_shown_with_its_hand_over(project: Project) -> None:
    step(project, "a", "start")
    step(project, "b", "start")
    assert shown(project) == ("a", COMMON)

    step(project, "a", "executor-success", "verify-passed", "approved")

    assert shown(project) == ("b", OWN)


def test_a_gate_that_is_closed_leaves_the_next_open_one(project: Project) -> None:
    step(project, "a", "start")
    step(project, "b", "start", "executor-success")
    project.sessions.closed("a")

    assert shown(project) == ("b", OWN)


def test_a_blocked_gate_makes_way_for_an_open_one_and_comes_back(project: Project) -> None:
    step(project, "a", "start")
    step(project, "b", "start")
    step(project, "a", "executor-blocked")
    assert shown(project) == ("b", OWN)

    step(project, "b", "executor-success", "verify-passed", "approved")

    assert shown(project) == ("a", COMMON)


def test_the_last_gate_stays_shown_when_it_passes(project: Project) -> None:
    step(project, "a", "start", "executor-success", "verify-passed", "approved")

    assert shown(project) == ("a", COMMON)


@pytest.mark.parametrize("is_done", [False, True])
def test_a_phase_is_not_active_after_its_run(project: Project, is_done: bool) -> None:
    if is_done:
        finish(project, 1, 1_000)
    assert Document(project.state).value("active_phase") == "1"
    project.events.follow("1", ends=True)
    state = Document(project.state)

    assert (state.value("active_phase"), state.value("next_action")) == ("null", "execute-phase")
    assert project.events.sync().changes == ()


def test_the_end_of_a_run_leaves_another_active_phase(project: Project) -> None:
    project.plan("2", 1)
    project.events.execution_started("2")
    project.events.follow("1", ends=True)

    assert Document(project.state).value("active_phase") == "2"


def test_a_gate_needs_the_name_of_the_task_that_starts(project: Project) -> None:
    step(project, "a", "start", "executor-success", "verify-passed", "approved")
    with pytest.raises(UnwritableValue, match="the task"):
        project.sessions.gate(GateEvent.START, OpenTask("", "1", "01-a", "a"))
