"""`status`, `next`, `job` and `resume` tell a running job from an interrupted or a waiting one."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fairlead.agents.model import AgentCall
from fairlead.app import App
from fairlead.core.concurrency import OneTimeEvent
from fairlead.core.values import replace
from fairlead.interfaces.cli.job_page import job_page
from fairlead.interfaces.cli.output import Styled
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.loop import the_only_run
from fairlead.jobs.model import Job, JobStatus
from fairlead.jobs.paths import RUN_LOCK, run_lock
from fairlead.project.overview import StatusReport
from fairlead.store.errors import SessionHeld
from fairlead.store.files import Files
from fairlead.store.gone_run import is_run_gone
from tests.conftest import Fairlead
from tests.support.execution import (
    LOOK,
    ExecutionTrial,
    FakeAgent,
    PlanText,
    a_plan,
    a_project,
    succeeds,
)
from tests.support.repositories import written


@pytest.fixture(autouse=True)
def _scratch_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def status_of(project: Path) -> StatusReport:
    return App(str(project)).overview.status()


def during_a_run(tmp_path: Path, look: Callable[[Path], object]) -> object:
    """What a look at the project finds while an executor of a run works."""
    found: list[object] = []

    def act(order: AgentCall, call: int) -> Mapping[str, object]:
        if not order.is_read_only and not found:
            found.append(look(tmp_path / "p"))
        result = succeeds(order, call)
        assert isinstance(result, Mapping)
        return result

    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    assert ExecutionTrial(project, FakeAgent(act)).run().job.status is JobStatus.DONE
    return found[0]


def waiting(tmp_path: Path) -> ExecutionTrial:
    """A run that ended with a question to a person."""
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt", extra=LOOK)))
    assert trial.run().job.status is JobStatus.BLOCKED
    return trial


def interrupted(tmp_path: Path, *plans: PlanText) -> ExecutionTrial:
    """A run that was stopped after its first call; it has written a file nobody judged."""
    stop = OneTimeEvent()

    def act(order: AgentCall, call: int) -> Mapping[str, object]:
        stop.set()
        result = succeeds(order, call)
        assert isinstance(result, Mapping)
        return result

    project = a_project(tmp_path / "p", *(plans or (a_plan("01-01", "a.txt", "b.txt"),)))
    trial = ExecutionTrial(project, FakeAgent(act), slots=1)
    assert trial.run(stop).job.status is JobStatus.EXECUTING
    trial.agent.act = succeeds
    return trial


# -- while a run is alive -----------------------------------------------------------------------


def test_status_during_a_run_has_the_job_the_active_phase_and_the_gate(tmp_path: Path) -> None:
    report = during_a_run(tmp_path, status_of)
    assert isinstance(report, StatusReport)
    [job] = report.jobs
    assert (job.status, job.state, job.is_running) == ("EXECUTING", "running", True)
    assert report.active_phase == "1"
    assert report.gate is not None
    assert (report.gate.name, report.gate.gate.status) == ("Task 1: make a.txt", "EXECUTING")


def test_next_during_a_run_is_a_command_that_is_not_refused(tmp_path: Path) -> None:
    report = during_a_run(tmp_path, status_of)
    assert isinstance(report, StatusReport)
    assert report.next.command == f"fairlead job watch {report.jobs[0].id}"


def test_the_hand_over_of_a_live_run_is_not_offered_for_resuming(tmp_path: Path) -> None:
    def look(project: Path) -> tuple[tuple[str, ...], str]:
        sessions = App(str(project)).sessions
        [offer] = sessions.offers()
        with pytest.raises(SessionHeld):
            sessions.resume(file=offer.handover.path)
        return status_of(project).continue_files, offer.handover.session

    assert during_a_run(tmp_path, look) == ((), "01-01")


def test_the_job_pages_during_a_run_name_the_command_that_follows_it(tmp_path: Path) -> None:
    def look(project: Path) -> tuple[str, str]:
        jobs = App(str(project)).jobs
        present = jobs.present(jobs.record(""))
        head, command, *_ = job_page(jobs.report(""), present)
        texts = (part.text if isinstance(part, Styled) else part for part in (*head, *command))
        return present.id, "".join(texts)

    found = during_a_run(tmp_path, look)
    assert isinstance(found, tuple)
    assert "EXECUTING" in found[1]
    assert f"fairlead job watch {found[0]}" in found[1]


def test_a_job_is_not_running_because_another_one_runs(tmp_path: Path) -> None:
    trial = interrupted(tmp_path)
    record = trial.jobs.record("")
    assert isinstance(record, Job)
    other = replace(record, id="execute-02-20260602-000000", phase="02")
    JobFolder(str(trial.project), other.id).save_record(other)
    locks = [
        the_only_run(str(trial.project), "test", name) for name in (RUN_LOCK, run_lock(other.id))
    ]
    with locks[0], locks[1]:
        first, second = (trial.jobs.present(each) for each in (record, other))
    assert (first.state, second.state) == ("interrupted", "running")


# -- after a run has ended ----------------------------------------------------------------------


def test_an_interrupted_job_is_shown_with_the_command_that_continues_it(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    project = interrupted(tmp_path).project
    command = "fairlead phase execute 01"
    listed = json.loads(fairlead("job", "list", "--json", cwd=project).stdout)["jobs"][0]
    shown = json.loads(fairlead("job", "show", "--json", cwd=project).stdout)
    status = json.loads(fairlead("status", "--json", cwd=project).stdout)
    for each in (listed, shown, status["jobs"][0]):
        found = [each[key] for key in ("status", "state", "is_running", "command")]
        assert found == ["INTERRUPTED", "interrupted", False, command]
    assert status["next"]["command"] == command
    assert json.loads(fairlead("next", "--json", cwd=project).stdout)["next"]["command"] == command
    for words in (
        ("job", "list"),
        ("job", "show"),
        ("status",),
        ("next",),
        ("resume", "--dry-run"),
    ):
        page = fairlead(*words, cwd=project).stdout
        assert "interrupted" in page.lower(), words
        assert command in page, words
        assert "EXECUTING " not in page, words


def test_a_run_is_gone_for_the_status_line_when_nothing_holds_its_lock(tmp_path: Path) -> None:
    project = str(interrupted(tmp_path).project)
    assert is_run_gone(project, "1")
    assert not is_run_gone(project, "2")
    assert not is_run_gone(project, "1", "other-workstream")
    assert not during_a_run(tmp_path / "alive", lambda alive: is_run_gone(str(alive), "1"))


def test_the_command_of_an_interrupted_job_continues_it(tmp_path: Path) -> None:
    trial = interrupted(tmp_path)
    job = trial.jobs.record("").id
    report = trial.run()
    assert (report.job.id, report.job.status) == (job, JobStatus.DONE)
    assert status_of(trial.project).jobs == ()


def test_a_job_that_waits_is_shown_with_its_question_and_the_command_that_answers_it(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    trial = waiting(tmp_path)
    job = trial.jobs.record("").id
    status = json.loads(fairlead("status", "--json", cwd=trial.project).stdout)
    assert (status["jobs"][0]["state"], status["jobs"][0]["status"]) == ("waits", "BLOCKED")
    assert status["next"]["command"].startswith(f"fairlead job answer {job} ")
    for words in (
        ("job", "list"),
        ("job", "show"),
        ("status",),
        ("next",),
        ("resume", "--dry-run"),
    ):
        assert f"fairlead job answer {job} " in fairlead(*words, cwd=trial.project).stdout, words


def test_an_answered_job_names_the_command_that_continues_it(tmp_path: Path) -> None:
    trial = waiting(tmp_path)
    trial.answer("approved")
    [job] = trial.jobs.open_jobs()
    assert (job.state, job.command) == ("open", "fairlead phase execute 01")


def test_a_damaged_question_hides_no_other_job(tmp_path: Path) -> None:
    trial = waiting(tmp_path)
    [question] = trial.project.glob(".planning/jobs/*/questions/*.json")
    written(question, "{")
    assert [job.status for job in trial.jobs.open_jobs()] == ["BLOCKED"]


def test_the_closing_report_of_a_stopped_run_does_not_say_executing(tmp_path: Path) -> None:
    trial = interrupted(tmp_path)
    assert trial.jobs.present(trial.execution.report(trial.jobs.record("").id).job).status == (
        "INTERRUPTED"
    )


def test_a_forged_summary_does_not_count_while_its_question_waits(tmp_path: Path) -> None:
    def act(order: AgentCall, call: int) -> Mapping[str, object]:
        for plan in ("01-01", "01-02"):
            summary = tmp_path / f"p/.planning/phases/01-work/{plan}-SUMMARY.md"
            written(summary, "# Summary\n\nDone.\n")
        result = succeeds(order, call)
        assert isinstance(result, Mapping)
        return result

    plans = (a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"))
    trial = ExecutionTrial(a_project(tmp_path / "p", *plans), FakeAgent(act), slots=1)
    assert trial.run().job.status is JobStatus.BLOCKED
    status = status_of(trial.project)
    assert [job.state for job in status.jobs] == ["waits"]
    assert (status.progress.completed_plans, status.progress.percent) == (0, 0)
    trial.cancel()
    assert status_of(trial.project).progress.completed_plans == 0


# -- STATE.md -----------------------------------------------------------------------------------


def front(project: Path) -> dict[str, Any]:
    from fairlead.text.document import Document

    return dict(Document(Files(str(project)).load(".planning/STATE.md").text).shown_front)


@pytest.mark.parametrize("left", [waiting, interrupted])
def test_no_phase_is_active_after_a_run_that_was_blocked_or_stopped(
    tmp_path: Path, left: Callable[[Path], ExecutionTrial]
) -> None:
    state = front(left(tmp_path).project)
    assert (state["active_phase"], state["next_action"]) == ("null", "execute-phase")


def test_no_phase_is_active_after_a_run_that_failed_with_an_error(tmp_path: Path) -> None:
    def act(order: AgentCall, call: int) -> Mapping[str, object]:
        raise RuntimeError("the agent is broken")

    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(act))
    with pytest.raises(RuntimeError, match="broken"):
        trial.run()
    assert front(trial.project)["active_phase"] == "null"
    assert trial.jobs.open_jobs()[0].state == "interrupted"


def test_no_phase_is_active_after_a_rehearsal_in_place(tmp_path: Path, fairlead: Fairlead) -> None:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    plan = project / ".planning/phases/01-work/01-01-PLAN.md"
    written(plan, plan.read_text().replace("type: execute", "type: execute\nrehearsed: true"))
    words = ("phase", "execute", "1", "--rehearse", "--here", "--approve", "--json")
    assert json.loads(fairlead(*words, cwd=project).stdout)["rehearsed"]
    assert front(project)["active_phase"] == "null"


def test_a_phase_that_is_verified_is_the_position(tmp_path: Path, fairlead: Fairlead) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    trial.run()
    fairlead("state", "begin-phase", "--phase", "1", "--step", "verify", cwd=trial.project)
    page = fairlead("status", cwd=trial.project).stdout
    assert "Phase 1 (Work): Verifying" in page
    assert "Every phase is complete" not in page


# -- resuming -----------------------------------------------------------------------------------


def test_resume_offers_to_continue_or_to_start_fresh_and_names_partial_work(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    trial = interrupted(tmp_path)
    job = trial.jobs.record("").id
    page = fairlead("resume", "--dry-run", cwd=trial.project).stdout
    for words in (
        "fairlead phase execute 01",
        "fairlead resume --fresh",
        f"fairlead/{job}/01-01-01-r1",
        "a.txt",
    ):
        assert words in page
    content = json.loads(fairlead("resume", "--dry-run", "--json", cwd=trial.project).stdout)
    [work] = content["partial"]
    assert (work["branch"], work["files"]) == (f"fairlead/{job}/01-01-01-r1", ["a.txt"])


def test_starting_fresh_ends_the_job_and_keeps_its_branch(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    trial = interrupted(tmp_path)
    job = trial.jobs.record("").id
    states = Path(os.environ["XDG_STATE_HOME"])  # of the same person as the run
    states.mkdir(parents=True)
    (states / "fairlead").symlink_to(trial.state.folder)
    done = json.loads(fairlead("resume", "--fresh", "--json", cwd=trial.project).stdout)
    assert done["given_up"] == [job]
    assert done["next"]["command"] == "fairlead phase execute 1"
    assert trial.jobs.record(job).status is JobStatus.FAILED
    branches = (trial.project / ".git/refs/heads/fairlead" / job).iterdir()
    assert [each.name for each in branches] == ["01-01-01-r1"]
    assert trial.run().job.id != job


# -- what a person reads ------------------------------------------------------------------------


def test_the_position_during_a_run_says_that_the_phase_is_executed(tmp_path: Path) -> None:
    report = during_a_run(tmp_path, status_of)
    assert isinstance(report, StatusReport)
    assert report.status_words == "Executing"
    assert status_of(tmp_path / "p").status_words != "Executing"


def test_a_pause_during_a_run_says_that_the_run_goes_on(tmp_path: Path, fairlead: Fairlead) -> None:
    said = during_a_run(tmp_path, lambda project: fairlead("pause", "lunch", cwd=project).stderr)
    job = App(str(tmp_path / "p")).jobs.record("").id
    assert f"fairlead job cancel {job}" in str(said)


def with_workstream(project: Path) -> None:
    """Add a workstream `api` with the documents and phases of the project."""
    planning = project / ".planning"
    shutil.copytree(planning / "phases", planning / "workstreams/api/phases")
    for name in ("ROADMAP.md", "STATE.md"):
        shutil.copy(planning / name, planning / "workstreams/api" / name)


def test_a_job_of_another_workstream_is_shown_and_continued_there(tmp_path: Path) -> None:
    trial = interrupted(tmp_path)
    with_workstream(trial.project)
    overview = App(str(trial.project)).overview
    ours, others = overview.status(), overview.status("api")
    [job] = ours.jobs
    assert [each.id for each in others.jobs] == [job.id]
    assert ours.next.command == job.command
    assert others.next.command == "fairlead phase execute 1 --ws api"


def test_a_run_in_another_workstream_does_not_execute_the_phase_of_this_one(
    tmp_path: Path,
) -> None:
    def look(project: Path) -> tuple[str, str]:
        with_workstream(project)
        overview = App(str(project)).overview
        return overview.status().status_words, overview.status("api").status_words

    assert during_a_run(tmp_path, look) == ("Executing", "Ready to execute")


def two_questions(tmp_path: Path) -> tuple[ExecutionTrial, str]:
    """A run that ended with two questions, and the id of its job."""
    plans = (a_plan("01-01", "a.txt", extra=LOOK), a_plan("01-02", "b.txt", extra=LOOK))
    trial = ExecutionTrial(a_project(tmp_path / "p", *plans))
    assert trial.run().job.status is JobStatus.BLOCKED
    return trial, trial.jobs.record("").id


def test_after_one_of_two_answers_the_next_command_answers_the_other(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    trial, job = two_questions(tmp_path)
    first, second = (question.id for _, question, _ in trial.jobs.waiting())
    commands = []
    for question in (first, second):
        words = ("job", "answer", job, "--question", question, "approved", "--json")
        commands.append(json.loads(fairlead(*words, cwd=trial.project).stdout)["next"])
    assert commands[0].startswith(f"fairlead job answer {job} ")
    assert commands[1] == "fairlead phase execute 01"


def test_a_job_whose_questions_are_answered_asks_nothing_any_more(tmp_path: Path) -> None:
    trial = waiting(tmp_path)
    record = trial.jobs.record("")
    asked = trial.jobs.present(record)
    assert asked.note
    trial.answer("approved")
    answered = trial.jobs.present(trial.jobs.record(""))
    assert answered.state == "open"
    assert asked.note not in answered.note
    head, *_ = job_page(trial.jobs.report(""), answered)
    assert not any(asked.note in str(part) for part in head)


def test_starting_fresh_names_the_branches_on_which_the_work_stays(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    trial = interrupted(tmp_path)
    [kept] = trial.execution.partial_work(trial.jobs.record("").id)
    done = json.loads(fairlead("resume", "--fresh", "--json", cwd=trial.project).stdout)
    assert [(each["branch"], each["files"]) for each in done["partial"]] == [
        (kept.branch, list(kept.files))
    ]


def test_a_damaged_record_is_the_next_thing_to_settle(tmp_path: Path, fairlead: Fairlead) -> None:
    trial = interrupted(tmp_path)
    job = trial.jobs.record("").id
    record = trial.project / f".planning/jobs/{job}/job.json"
    kept = record.read_text("utf-8")
    written(record, "{")
    status = status_of(trial.project)
    assert [(each.id, each.status) for each in status.jobs] == [(job, "DAMAGED")]
    assert fairlead("phase", "execute", "1", cwd=trial.project).exit_code == 3
    page = fairlead(*status.next.command.split()[1:], cwd=trial.project)
    assert page.exit_code == 0
    assert f"git restore .planning/jobs/{job}/job.json" in page.stdout
    written(record, kept)
    assert [each.state for each in status_of(trial.project).jobs] == ["interrupted"]
