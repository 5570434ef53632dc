"""The tamper check after an abnormal end: a run stopped at once, or killed during a call."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall, CallResult, EndKind
from fairlead.core.concurrency import OneTimeEvent
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import JobStatus, QuestionKind
from fairlead.project.state.gate_rules import FailureClass
from tests.support.daily import a_quick_project, plays, quick_plan
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    SteppingClock,
    a_plan,
    a_project,
    succeeds,
)
from tests.support.repositories import git, written
from tests.support.roles import Answer as Given

Answer = Mapping[str, object] | CallResult
Touch = Callable[[Path], object]
PHASE = ".planning/phases/01-work"
THIRD = a_plan("01-03", "c.txt").text
HOOK = ".git/hooks/post-checkout"


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


class Killed(BaseException):
    """The process ends here."""


def a_trial(tmp_path: Path, act: Callable[[AgentCall, int], Answer]) -> ExecutionTrial:
    plans = a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"])
    return ExecutionTrial(a_project(tmp_path / "p", *plans), FakeAgent(act), SteppingClock(60))


def killed_in_a_call(tmp_path: Path, touch: Touch, *, is_review: bool = False) -> ExecutionTrial:
    """A trial whose run died during a call; its agent behaves from now on."""

    def dies(order: AgentCall, call: int) -> Answer:
        if order.is_read_only is is_review:
            touch(trial.project)
            raise Killed
        return succeeds(order, call)

    trial = a_trial(tmp_path, dies)
    with pytest.raises(Killed):
        trial.run()
    trial.agent = FakeAgent()
    return trial


def sightings(trial: ExecutionTrial) -> Iterator[Path]:
    return Path(trial.state.folder).glob("runs/*/*/seen/*.json")


def forged_gate(project: Path) -> None:
    [gate] = project.glob(".planning/jobs/*/gates/01-01-01.json")
    text = gate.read_text().replace("01-01-01", "01-02-01").replace("EXECUTING", "APPROVED")
    written(gate.parent / "01-02-01.json", text)


# -- proofs --------------------------------------------------------------------------------------

OTHER = ".planning/phases/02-more"


def forging(tmp_path: Path, path: str) -> ExecutionTrial:
    """An agent that writes a summary into the main tree."""

    def forges(order: AgentCall, call: int) -> Answer:
        if not order.is_read_only:
            written(trial.project / path, "All done.\n")
        return succeeds(order, call)

    trial = ExecutionTrial(
        a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(forges), SteppingClock(60)
    )
    written(trial.project / OTHER / "02-01-PLAN.md", a_plan("02-01", "b.txt").text)
    roadmap = trial.project / ".planning/ROADMAP.md"
    listed = "- [ ] **Phase 1: Work**\n"
    written(roadmap, roadmap.read_text().replace(listed, f"{listed}- [ ] **Phase 2: More**\n"))
    git(trial.project, "add", "--all")
    git(trial.project, "commit", "-qm", "another phase")
    return trial


@pytest.mark.parametrize(
    "path",
    [f"{PHASE}/01-01-SUMMARY.md", f"{PHASE}/01-VERIFICATION.md", f"{OTHER}/02-01-SUMMARY.md"],
    ids=["summary", "verification", "of-another-phase"],
)
def test_a_summary_written_by_an_agent_does_not_end_a_job(tmp_path: Path, path: str) -> None:
    trial = forging(tmp_path, path)
    for _ in range(2):  # the next run does not believe it either
        report = trial.run()
        assert report.job.status is JobStatus.BLOCKED
        [question] = report.questions
        assert path in question.text
        assert "All done" not in git(trial.project, "log", "-p", "--all")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ["notes.", "old ", "aux", "a\\b", "caf\udce9.md", "README.md"])
def test_other_files_beside_the_phases_do_not_end_a_run(tmp_path: Path, name: str) -> None:
    trial = ExecutionTrial(
        a_project(tmp_path / "p", a_plan("01-01", "a.txt")), clock=SteppingClock(60)
    )
    written(trial.project / ".planning/phases" / name, "of somebody\n")
    assert trial.run().job.status is JobStatus.DONE


def test_a_forged_summary_is_put_aside_while_the_question_waits(tmp_path: Path) -> None:
    path = f"{PHASE}/01-01-SUMMARY.md"
    trial = forging(tmp_path, path)
    trial.run()
    assert not (trial.project / path).exists()


@pytest.mark.parametrize("path", [f"{PHASE}/01-01-SUMMARY.md", f"{OTHER}/02-01-SUMMARY.md"])
def test_after_reject_the_attempt_counts_as_failed_and_the_job_continues(
    tmp_path: Path, path: str
) -> None:
    trial = forging(tmp_path, path)
    trial.run()
    trial.answer("reject")
    trial.agent = FakeAgent()
    report = trial.run()
    assert report.job.status is JobStatus.DONE
    assert (trial.project / "a.txt").exists()
    assert (trial.project / path).exists() is (PHASE in path)
    gate = JobFolder(str(trial.project), report.job.id).load_gate("01-01-01")
    assert gate is not None
    assert [each.kind for each in gate.gate.failures] == [FailureClass.EXECUTION]


def test_an_accepted_summary_is_put_back(tmp_path: Path) -> None:
    path = f"{OTHER}/02-01-SUMMARY.md"
    trial = forging(tmp_path, path)
    trial.run()
    trial.answer("accept")
    assert (trial.project / path).read_text() == "All done.\n"
    trial.agent = FakeAgent()
    assert trial.run().job.status is JobStatus.DONE
    assert (trial.project / path).read_text() == "All done.\n"


def test_the_suggested_answer_accepts_nothing(tmp_path: Path) -> None:
    trial = forging(tmp_path, f"{PHASE}/01-01-SUMMARY.md")
    [question] = trial.run().questions
    assert question.command("job").endswith('"reject"')


def ended_by_abort(trial: ExecutionTrial) -> None:
    trial.run()
    trial.answer("abort")


def ended_by_cancel(trial: ExecutionTrial) -> None:
    trial.run()
    trial.cancel()


def ended_by_kill(trial: ExecutionTrial) -> None:
    act = trial.agent.act

    def dies(order: AgentCall, call: int) -> Answer:
        act(order, call)
        raise Killed

    trial.agent = FakeAgent(dies)
    with pytest.raises(Killed):
        trial.run()


def ended_by_kill_and_cancel(trial: ExecutionTrial) -> None:
    ended_by_kill(trial)
    trial.cancel()


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    "end", [ended_by_abort, ended_by_cancel, ended_by_kill, ended_by_kill_and_cancel]
)
@pytest.mark.parametrize(
    "path",
    [
        f"{PHASE}/01-01-SUMMARY.md",
        f"{PHASE}/01-VERIFICATION.md",
        f"{OTHER}/02-01-SUMMARY.md",
        ".planning/workstreams/side/phases/03-x/03-01-SUMMARY.md",
        ".planning/workstreams/side/phases/03-x/03-VERIFICATION.md",
    ],
)
def test_a_forged_proof_never_counts_however_the_job_ended(
    tmp_path: Path, path: str, end: Callable[[ExecutionTrial], None]
) -> None:
    trial = forging(tmp_path, path)
    end(trial)
    if end is not ended_by_kill:  # nothing can be done before the next command then
        assert not (trial.project / path).exists()
    trial.agent, trial.phase = FakeAgent(), "2"
    report = trial.run()
    assert (trial.project / "b.txt").exists()
    assert report.job.status is JobStatus.DONE
    assert "All done" not in git(trial.project, "log", "-p", "--all")


@pytest.mark.sweep(6)
@pytest.mark.parametrize("answer", ["reject", "abort"])
@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize(
    ("touch", "restored"),
    [
        (lambda project: written(project / HOOK, "#!/bin/sh\n"), HOOK),
        (lambda project: git(project, "config", "core.pager", "evil"), ".git/config"),
        (lambda project: written(project / ".planning/config.json", "{}"), ".planning/config.json"),
        (lambda project: (project / OTHER / "02-01-PLAN.md").unlink(), f"{OTHER}/02-01-PLAN.md"),
        (lambda project: written(project / OTHER / "02-01-PLAN.md", "x"), f"{OTHER}/02-01-PLAN.md"),
        (
            lambda project: written(project.parent / "home/.gitconfig", "[a]\n"),
            "../home/.gitconfig",
        ),
    ],
    ids=["hook", "git", "settings", "plan-deleted", "plan-changed", "person-git"],
)
def test_what_an_agent_touched_is_restored(
    tmp_path: Path, touch: Touch, restored: str, answer: str, is_killed: bool
) -> None:
    def touches(order: AgentCall, call: int) -> Answer:
        touch(trial.project)
        if is_killed:
            raise Killed
        return succeeds(order, call)

    trial = forging(tmp_path, "unused")
    path = trial.project / restored
    before = path.read_bytes() if path.exists() else None
    trial.agent = FakeAgent(touches)
    if is_killed:
        with pytest.raises(Killed):
            trial.run()
        trial.agent = FakeAgent()
    trial.run()
    trial.answer(answer)
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize("answer", ["reject", "abort"])
def test_branches_that_an_agent_moved_are_restored(tmp_path: Path, answer: str) -> None:
    def commits(order: AgentCall, call: int) -> Answer:
        written(trial.project / "evil.txt", "x\n")
        git(trial.project, "add", "evil.txt")
        git(trial.project, "commit", "-qm", "mine")
        git(trial.project, "tag", "v9")
        return succeeds(order, call)

    trial = forging(tmp_path, "unused")
    before = git(trial.project, "rev-parse", "main")
    trial.agent = FakeAgent(commits)
    trial.run()
    trial.answer(answer)
    assert "mine" not in git(trial.project, "log", "--format=%s", "main")
    assert git(trial.project, "merge-base", "main", before) == before
    assert git(trial.project, "tag") == ""
    assert not (trial.project / "evil.txt").exists()


def test_nothing_lands_on_a_branch_that_an_agent_moved(tmp_path: Path) -> None:
    landing = threading.Event()

    class Heard(list[str]):
        def append(self, each: str) -> None:
            super().append(each)
            if each.endswith((" question", " merged")):
                landing.set()

    def commits(order: AgentCall, call: int) -> Answer:
        if "a.txt" in order.prompt and not order.is_read_only:
            git(trial.project, "commit", "-q", "--allow-empty", "-m", "mine")
            assert landing.wait(900)
        return succeeds(order, call)

    plans = a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt")
    trial = ExecutionTrial(
        a_project(tmp_path / "p", *plans), FakeAgent(commits), SteppingClock(60), happened=Heard()
    )
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert not (trial.project / "b.txt").exists()


def test_an_approval_that_appeared_during_a_call_is_asked_about(tmp_path: Path) -> None:
    def approves(order: AgentCall, call: int) -> Answer:
        [approvals] = Path(trial.state.folder).glob("approved/*.txt")
        with approvals.open("a") as file:
            file.write("0" * 64 + "\n")
        return succeeds(order, call)

    trial = forging(tmp_path, "unused")
    trial.agent = FakeAgent(approves)
    [question] = trial.run().questions
    assert "approved/" in question.text
    trial.answer("reject")
    [approvals] = Path(trial.state.folder).glob("approved/*.txt")
    assert "0" * 64 not in approvals.read_text()


def test_a_quick_task_proves_no_plan_of_a_phase(tmp_path: Path) -> None:
    forged = f"{PHASE}/01-01-SUMMARY.md"
    usual = plays(quick_plan("hello.txt"))

    def forges(order: AgentCall, call: int) -> Given:
        written(workshop.stage.project / forged, "All done.\n")
        return usual["executor"](order, call)

    workshop = a_quick_project(tmp_path, {**usual, "executor": forges})
    quick = workshop.quick
    report = quick.carry_out(
        quick.new("Add a greeting"), workshop.stage.setup, workshop.execution()
    )
    assert report.job.status is JobStatus.BLOCKED
    assert any(forged in each.text for each in report.questions)


def test_a_run_whose_plans_were_removed_still_reports_its_end(tmp_path: Path) -> None:
    def removes(order: AgentCall, call: int) -> Answer:
        (trial.project / PHASE / "01-01-PLAN.md").unlink(missing_ok=True)
        return succeeds(order, call)

    trial = ExecutionTrial(
        a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(removes), SteppingClock(60)
    )
    report = trial.run()
    assert (report.job.status, report.plans) == (JobStatus.BLOCKED, (("01-01", False),))
    assert "01-01-PLAN.md" in report.questions[0].text


# -- stopped at once -----------------------------------------------------------------------------


@pytest.mark.parametrize("is_review", [False, True])
def test_tampering_is_asked_about_even_if_a_person_stopped_the_agent(
    tmp_path: Path, is_review: bool
) -> None:
    stop, over = OneTimeEvent(), OneTimeEvent()

    def stopped(order: AgentCall, call: int) -> Answer:
        if order.is_read_only is is_review:
            written(trial.project / HOOK, "#!/bin/sh\n")
            stop.set()
            over.set()
            return CallResult(EndKind.KILLED)
        return succeeds(order, call)

    trial = a_trial(tmp_path, stopped)
    trial.run(stop, over)
    trial.agent = FakeAgent()
    again = trial.run()
    assert again.job.status is JobStatus.BLOCKED
    assert [each.text for each in again.questions] == [
        f"while an agent worked on 01-01-01, this was changed: {HOOK}"
    ]
    assert trial.agent.orders == []


# -- killed --------------------------------------------------------------------------------------


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("touch", "named", "is_review"),
    [
        (lambda project: written(project / HOOK, "#!/bin/sh\n"), HOOK, False),
        (lambda project: written(project / HOOK, "#!/bin/sh\n"), HOOK, True),
        (lambda project: git(project, "config", "core.pager", "evil"), ".git/config", False),
        (lambda project: written(project / ".planning/config.json", "{}"), "config.json", True),
        (lambda project: written(project / PHASE / "01-03-PLAN.md", THIRD), "01-03-PLAN.md", False),
        (lambda project: written(project / PHASE / "02-SUMMARY.md", "x"), "02-SUMMARY.md", True),
        (lambda project: written(project.parent / "home/.gitconfig", "[a]\n"), ".gitconfig", True),
        (forged_gate, "01-02-01.json", False),
    ],
    ids=["hook", "hook-review", "git", "settings", "plan", "summary", "person-git", "gate"],
)
def test_tampering_is_asked_about_even_if_the_run_was_killed(
    tmp_path: Path, touch: Touch, named: str, is_review: bool
) -> None:
    trial = killed_in_a_call(tmp_path, touch, is_review=is_review)
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    [question] = report.questions
    assert question.kind is QuestionKind.TOUCHED
    assert named in question.text
    assert trial.agent.orders == []


def test_tampering_is_asked_about_once(tmp_path: Path) -> None:
    trial = killed_in_a_call(tmp_path, lambda project: written(project / HOOK, "#!/bin/sh\n"))
    trial.run()
    trial.answer("accept")
    assert trial.run().job.status is JobStatus.DONE


def test_changes_by_a_person_after_a_kill_are_not_tampering(tmp_path: Path) -> None:
    trial = killed_in_a_call(tmp_path, lambda _: None)
    written(trial.project / "README.md", "more\n")
    git(trial.project, "commit", "-qam", "by hand")
    git(trial.project, "branch", "mine")
    assert trial.run().job.status is JobStatus.DONE


def test_the_writes_of_a_killed_run_are_not_tampering(tmp_path: Path) -> None:
    landed = threading.Event()

    class Heard(list[str]):
        def append(self, each: str) -> None:
            super().append(each)
            if each == "01-02 summarised":
                landed.set()

    def dies(order: AgentCall, call: int) -> Answer:
        if "a.txt" in order.prompt:
            assert landed.wait(900)
            raise Killed
        return succeeds(order, call)

    plans = a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt")
    trial = ExecutionTrial(
        a_project(tmp_path / "p", *plans), FakeAgent(dies), SteppingClock(60), happened=Heard()
    )
    with pytest.raises(Killed):
        trial.run()
    trial.agent = FakeAgent()
    report = trial.run()
    assert (report.job.status, report.questions) == (JobStatus.DONE, ())


def test_a_killed_quick_task_is_checked_for_tampering(tmp_path: Path) -> None:
    usual = plays(quick_plan("hello.txt"))

    def dies(order: AgentCall, call: int) -> Given:
        written(workshop.stage.project / HOOK, "#!/bin/sh\n")
        raise Killed

    workshop = a_quick_project(tmp_path, {**usual, "executor": dies})
    quick = workshop.quick
    task = quick.new("Add a greeting")
    with pytest.raises(Killed):
        quick.carry_out(task, workshop.stage.setup, workshop.execution())
    workshop.stage.over = OneTimeEvent()
    again = workshop.quick
    report = again.carry_out(again.find(task.id), workshop.stage.setup, workshop.execution())
    assert report.job.status is JobStatus.BLOCKED
    assert [each.text.rpartition(": ")[2] for each in report.questions if not each.answer] == [HOOK]


# -- what is kept for it -------------------------------------------------------------------------


def test_a_baseline_is_private_and_removed_after_the_call(tmp_path: Path) -> None:
    def looks(order: AgentCall, call: int) -> Answer:
        [path] = sightings(trial)
        modes.append(path.stat().st_mode & 0o777)
        assert not path.is_relative_to(trial.project)
        return succeeds(order, call)

    modes: list[int] = []
    trial = a_trial(tmp_path, looks)
    assert trial.run().job.status is JobStatus.DONE
    assert modes == [0o600] * 4
    assert list(sightings(trial)) == []


@pytest.mark.sweep(2)
@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"plan": 1, "boot": 2, "digests": []}'])
def test_a_damaged_baseline_is_asked_about(tmp_path: Path, text: str) -> None:
    trial = killed_in_a_call(tmp_path, lambda _: None)
    [path] = sightings(trial)
    written(path, text)
    [question] = trial.run().questions
    assert question.text.endswith(str(path))


def test_after_a_power_loss_only_files_that_fairlead_never_writes_are_compared(
    tmp_path: Path,
) -> None:
    def touch(project: Path) -> None:
        written(project / HOOK, "#!/bin/sh\n")
        forged_gate(project)

    trial = killed_in_a_call(tmp_path, touch)
    [path] = sightings(trial)
    written(path, json.dumps({**json.loads(path.read_text()), "boot": "another"}))
    [question] = trial.run().questions
    assert question.text.endswith(f": {HOOK}")
