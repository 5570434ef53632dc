"""A plan that changes while its job waits: earlier gates do not prove its new text."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.jobs.model import JobStatus, TaskGate
from tests.support.execution import (
    LOOK,
    ExecutionTrial,
    FakeAgent,
    a_plan,
    a_project,
    succeeds,
    task_of,
)
from tests.support.repositories import git

PLAN = ".planning/phases/01-work/01-01-PLAN.md"
FRONT = (
    '<task type="auto">\n  <name>Task 1: make new.txt</name>\n  <files>new.txt</files>\n'
    "  <action>Write new.txt.</action>\n  <verify>test -f new.txt</verify>\n"
    "  <done>new.txt exists</done>\n</task>\n"
)
BOX = "  <action>Write a.txt.\n\n- [ ] Task 1: make a\n  </action>"


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def waiting(
    tmp_path: Path, *paths: str, agent: FakeAgent | None = None, box: str = ""
) -> ExecutionTrial:
    """A job that waits at the checkpoint after the tasks that create these files."""
    plan = a_plan("01-01", *paths, extra=LOOK)
    trial = ExecutionTrial(a_project(tmp_path / "p", plan), agent or FakeAgent(), slots=1)
    changed(trial, "  <action>Write a.txt.</action>", box or "  <action>Write a.txt.</action>")
    assert trial.run().job.status is JobStatus.BLOCKED
    trial.agent.orders.clear()
    return trial


def changed(trial: ExecutionTrial, old: str, new: str) -> None:
    path = trial.project / PLAN
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    git(trial.project, "commit", "-q", "--allow-empty", "-am", "the plan")


def executed(trial: ExecutionTrial) -> list[str]:
    return [task_of(order) for order in trial.agent.orders if not order.is_read_only]


def gates(trial: ExecutionTrial) -> tuple[TaskGate, ...]:
    return trial.jobs.report("").gates


def test_a_changed_verify_command_runs_before_the_plan_is_done(tmp_path: Path) -> None:
    trial = waiting(tmp_path, "a.txt")
    changed(trial, "<verify>test -f a.txt", "<verify>test -f never-made.txt")
    trial.answer("approved")
    report = trial.run()
    assert (report.job.status, report.plans) == (JobStatus.BLOCKED, (("01-01", False),))
    assert "test -f never-made.txt" in report.job.note
    assert not (trial.project / "a.txt").exists()


def test_a_task_inserted_at_the_front_is_executed_and_no_work_is_lost(
    tmp_path: Path,
) -> None:
    trial = waiting(tmp_path, "a.txt", "b.txt")
    changed(trial, '<task type="auto">', f'{FRONT}<task type="auto">')
    trial.answer("approved")
    asked = trial.run()
    assert asked.job.status is JobStatus.BLOCKED  # what was approved was another work
    assert executed(trial) == ["Task 1: make new.txt", "Task 1: make a.txt", "Task 2: make b.txt"]
    trial.answer("approved")
    report = trial.run()
    assert (report.job.status, report.kept_branches) == (JobStatus.DONE, ())
    assert all((trial.project / name).exists() for name in ("new.txt", "a.txt", "b.txt"))
    summary = (trial.project / PLAN.replace("PLAN", "SUMMARY")).read_text()
    assert "created: [a.txt, b.txt, new.txt]" in summary


def test_a_changed_task_and_its_successors_build_on_the_existing_work(tmp_path: Path) -> None:
    there: list[list[str]] = []

    def looks(order: AgentCall, call: int) -> object:
        if not order.is_read_only:
            there.append(sorted(each.name for each in Path(order.folder).glob("*.txt")))
        return succeeds(order, call)

    trial = waiting(tmp_path, "a.txt", "b.txt", "c.txt", agent=FakeAgent(looks))  # type: ignore[arg-type]
    there.clear()
    changed(trial, "<action>Write b.txt.", "<action>Write b.txt, and well.")
    trial.run()
    assert executed(trial) == ["Task 2: make b.txt", "Task 3: make c.txt"]
    assert there == [["a.txt", "b.txt", "c.txt"]] * 2
    first, second, third = gates(trial)
    assert (second.stands_on, third.runs[-1].base) == (third.runs[0].commit, second.work)
    assert len(first.runs) == 1
    trial.answer("approved")
    assert trial.run().job.status is JobStatus.DONE
    assert git(trial.project, "merge-base", "--is-ancestor", third.work, "main") == ""


def test_a_ticked_box_and_trailing_blanks_do_not_change_a_task(tmp_path: Path) -> None:
    trial = waiting(tmp_path, "a.txt", box=BOX)
    changed(trial, "- [ ] Task 1: make a\n", "- [x] Task 1: make a (completed 2026-06-01)  \n")
    trial.answer("approved")
    assert trial.run().job.status is JobStatus.DONE
    assert executed(trial) == []


def test_a_checkpoint_with_a_new_question_is_asked_again(tmp_path: Path) -> None:
    trial = waiting(tmp_path, "a.txt")
    changed(trial, "<how-to-verify>Open it", "<how-to-verify>Open it in the dark")
    trial.answer("approved")
    asked = trial.run()
    assert asked.job.status is JobStatus.BLOCKED
    assert [(each.answer, "in the dark" in each.text) for each in asked.questions] == [("", True)]
    trial.answer("approved")
    assert trial.run().job.status is JobStatus.DONE
    assert executed(trial) == []


def test_a_correction_survives_when_an_earlier_task_is_done_again(tmp_path: Path) -> None:
    def adds(order: AgentCall, call: int) -> object:
        if not order.is_read_only:
            path = Path(order.folder) / "a.txt"
            path.write_text(f"{path.read_text() if path.exists() else ''}{call}\n")
            return {"status": "success", "done_criteria_met": True, "evidence": "made"}
        return succeeds(order, call)

    trial = waiting(tmp_path, "a.txt", agent=FakeAgent(adds))  # type: ignore[arg-type]
    trial.answer("fix: once more")
    trial.run()
    changed(trial, "<done>a.txt exists", "<done>a.txt exists for good")
    trial.run()
    trial.answer("approved")
    assert trial.run().job.status is JobStatus.DONE
    assert len((trial.project / "a.txt").read_text().splitlines()) == 3


def test_a_question_about_a_task_is_void_once_the_task_changes(tmp_path: Path) -> None:
    def fails(order: AgentCall, call: int) -> object:
        if "in blue" not in order.prompt:
            return {"status": "failure", "done_criteria_met": False, "error": "which colour?"}
        return succeeds(order, call)

    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(fails))  # type: ignore[arg-type]
    assert trial.run().job.status is JobStatus.BLOCKED
    changed(trial, "<action>Write a.txt.", "<action>Write a.txt in blue.")
    report = trial.run()
    assert report.job.status is JobStatus.DONE
    assert [(each.answer, each.by) for each in report.questions] == [
        ("void: the task was changed", "policy")
    ]


def test_a_plan_ends_after_its_last_tasks_were_removed(
    tmp_path: Path,
) -> None:
    trial = waiting(tmp_path, "a.txt", "b.txt", "c.txt")
    text = (trial.project / PLAN).read_text()
    second, look = (
        text.index(f'<task type="{each}') for each in ('auto">\n  <name>Task 2', "check")
    )
    changed(trial, text[second:look], "")
    trial.run()
    trial.answer("approved")
    assert trial.run().job.status is JobStatus.DONE
    assert executed(trial) == []
    assert not (trial.project / "c.txt").exists()


def _older(project: Path) -> None:
    """Change the records to those of a version without task digests."""
    for path in (project / ".planning/jobs").glob("*/[gq]*/*.json"):
        stored = json.loads(path.read_text())
        stored.pop("digest", None)
        path.write_text(json.dumps({**stored, **({"about": ""} if "about" in stored else {})}))


def _same(_: Path) -> None:
    pass


@pytest.mark.parametrize(("records", "calls"), [(_older, 0), (_same, 1)])
def test_a_gate_without_a_digest_still_counts(
    tmp_path: Path, records: Callable[[Path], None], calls: int
) -> None:
    trial = waiting(tmp_path, "a.txt")
    trial.answer("approved")
    records(trial.project)
    changed(trial, "<done>a.txt exists", "<done>a.txt exists for good")
    report = trial.run()
    if records is _older:  # its answer stands in no record of the person's, and is asked for again
        trial.answer("approved")
        report = trial.run()
    assert (len(executed(trial)), report.job.status is JobStatus.DONE) == (calls, not calls)


def test_an_acceptance_holds_for_one_commit_only(tmp_path: Path) -> None:
    def deletes(order: AgentCall, call: int) -> object:
        if not order.is_read_only:
            gone = "README.md" if "also" not in order.prompt else "LICENSE"
            (Path(order.folder) / gone).unlink(missing_ok=True)
            return {**succeeds(order, call), "files_modified": ["README.md", "LICENSE"]}
        return succeeds(order, call)

    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    (project / "LICENSE").write_text("yours\n")
    git(project, "add", "--all")
    git(project, "commit", "-qm", "a licence")
    trial = ExecutionTrial(project, FakeAgent(deletes))  # type: ignore[arg-type]
    trial.run()
    trial.answer("accept")
    changed(trial, "<action>Write a.txt.", "<action>Write a.txt, also.")
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert "LICENSE, README.md" in report.questions[0].text
