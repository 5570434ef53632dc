"""Quick tasks: small work stays small, and is report by the same gate as any other."""

from collections import Counter
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.core.concurrency import OneTimeEvent
from fairlead.jobs.model import JobStatus
from tests.support.daily import QuickProject, a_quick_project, plays, quick_plan
from tests.support.repositories import git
from tests.support.roles import Answer

TEXT = "Add a greeting"


@pytest.fixture
def workshop(tmp_path: Path) -> QuickProject:
    return a_quick_project(tmp_path, plays(quick_plan("hello.txt")))


def done(workshop: QuickProject, *, is_approved: bool = True) -> JobStatus:
    quick = workshop.quick
    execution = workshop.execution(is_approved=is_approved)
    return quick.carry_out(quick.new(TEXT), workshop.stage.setup, execution).job.status


def state(workshop: QuickProject) -> str:
    return (workshop.stage.project / ".planning/STATE.md").read_text("utf-8")


def test_a_quick_task_calls_planner_executor_and_reviewer_once(workshop: QuickProject) -> None:
    assert done(workshop) is JobStatus.DONE
    roles = Counter(str(order.role) for order in workshop.stage.agent.orders)
    assert roles == {"planner": 1, "executor": 1, "architect": 1}


def test_folder_row_and_commits_have_the_form_of_other_tools(workshop: QuickProject) -> None:
    done(workshop)
    (task,) = workshop.quick.all()
    folder = workshop.stage.project / task.folder
    assert sorted(each.name for each in folder.iterdir()) == [
        f"{task.id}-PLAN.md",
        f"{task.id}-SUMMARY.md",
    ]
    assert task.folder.endswith(f"{task.id}-add-a-greeting")
    assert "| # | Description | Date | Commit | Directory |" in state(workshop)
    assert f"| {task.id} | {TEXT} |" in state(workshop)
    assert git(workshop.stage.project, "status", "--porcelain") == ""
    assert "hello.txt" in git(workshop.stage.project, "ls-files")
    assert f"docs(quick-{task.id})" in git(workshop.stage.project, "log", "--format=%s")


def test_an_unapproved_command_waits_for_an_answer(
    workshop: QuickProject,
) -> None:
    quick = workshop.quick
    task = quick.new(TEXT)
    waits = quick.carry_out(task, workshop.stage.setup, workshop.execution(is_approved=False))
    assert (waits.job.status, len(waits.questions)) == (JobStatus.BLOCKED, 1)
    workshop.stage.person.answer(waits.job.id, "accept", "")
    again = workshop.quick
    ended = again.carry_out(
        again.find(task.id), workshop.stage.setup, workshop.execution(is_approved=False)
    )
    assert ended.job.status is JobStatus.DONE
    assert len(workshop.stage.agent.asked("planner")) == 1


def test_a_plan_with_two_tasks_is_refused(tmp_path: Path) -> None:
    workshop = a_quick_project(tmp_path, plays(quick_plan("a.txt", "b.txt")))
    assert done(workshop) is JobStatus.FAILED
    assert workshop.quick.all() == ()


def test_a_failed_verify_command_leaves_no_row(tmp_path: Path) -> None:
    workshop = a_quick_project(
        tmp_path, plays(quick_plan("hello.txt", verify="test -f missing.txt"))
    )
    assert done(workshop) is not JobStatus.DONE
    assert "Quick Tasks" not in state(workshop)
    (task,) = workshop.quick.all()
    again = workshop.quick
    report = again.carry_out(again.find(task.id), workshop.stage.setup, workshop.execution())
    assert report.job.status is JobStatus.BLOCKED, "its question is still open"
    assert len(list((workshop.stage.project / ".planning/jobs").iterdir())) == 1
    assert not (workshop.stage.project / "hello.txt").exists()


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("role", ["planner", "executor", "architect"])
def test_a_killed_task_resumes_and_asks_nothing_twice(tmp_path: Path, role: str) -> None:
    usual = plays(quick_plan("hello.txt"))

    def dies(order: AgentCall, call: int) -> Answer:
        if call == 1:
            raise Killed
        return usual[role](order, call)

    workshop = a_quick_project(tmp_path, {**usual, role: dies})
    quick = workshop.quick
    task = quick.new(TEXT)
    with pytest.raises(Killed):
        quick.carry_out(task, workshop.stage.setup, workshop.execution())
    workshop.stage.over = OneTimeEvent()
    again = workshop.quick
    ended = again.carry_out(again.find(task.id), workshop.stage.setup, workshop.execution())
    assert ended.job.status is JobStatus.DONE
    calls = Counter(str(order.role) for order in workshop.stage.agent.orders)
    assert calls == {"planner": 1, "executor": 1, "architect": 1, role: 2}
    assert state(workshop).count(f"| {task.id} |") == 1


def test_approval_holds_only_for_the_same_command(workshop: QuickProject) -> None:
    quick = workshop.quick
    task = quick.new(TEXT)
    waits = quick.carry_out(task, workshop.stage.setup, workshop.execution(is_approved=False))
    workshop.stage.person.answer(waits.job.id, "accept", "")
    path = workshop.stage.project / task.plan
    path.write_text(path.read_text("utf-8").replace("test -f hello.txt", "touch stolen"), "utf-8")

    again = workshop.quick
    report = again.carry_out(
        again.find(task.id), workshop.stage.setup, workshop.execution(is_approved=False)
    )

    assert report.job.status is JobStatus.BLOCKED
    assert "touch stolen" in report.questions[0].text


def test_a_verify_command_that_cannot_fail_is_refused(tmp_path: Path) -> None:
    workshop = a_quick_project(tmp_path, plays(quick_plan("hello.txt", verify="true")))
    assert done(workshop) is JobStatus.FAILED
    assert workshop.quick.all() == ()
