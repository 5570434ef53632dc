"""Where a job works: on the branch of the settings, on a detached head, and without git."""

import shlex
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.core.concurrency import OneTimeEvent
from fairlead.execution.commands import Shell
from fairlead.execution.errors import BranchGone, HeadDetached
from fairlead.jobs.context import JobSetup, RunOptions
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.ledger import check_ledgers
from fairlead.jobs.model import JobStatus
from fairlead.jobs.roster import execution_roster
from fairlead.plans.model import CommandResult
from fairlead.project.derive.scan import scan
from fairlead.store.reader import Reader
from fairlead.vcs.errors import BranchName, TreeDirty
from tests.support.execution import LOOK, ExecutionTrial, FakeAgent, a_plan, a_project, succeeds
from tests.support.repositories import git, written

PHASE = "gsd/phase-{phase}-{slug}"


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def on_a_branch(tmp_path: Path, template: str = PHASE, **more: object) -> ExecutionTrial:
    plans = (a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"]))
    return ExecutionTrial(a_project(tmp_path / "p", *plans), branching=template, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("template", "branch"),
    [(PHASE, "gsd/phase-01-work"), ("gsd/{milestone}-{slug}", "gsd/v1.0-milestone")],
)
def test_the_work_lands_on_the_branch_that_the_settings_name(tmp_path, template, branch) -> None:
    trial = on_a_branch(tmp_path, template)
    first = git(trial.project, "rev-parse", "main")
    report = trial.run()

    assert (report.job.status, report.job.target) == (JobStatus.DONE, branch)
    assert git(trial.project, "branch", "--show-current") == branch
    assert (
        git(trial.project, "rev-parse", "main")
        == first
        == git(trial.project, "merge-base", "main", branch)
    )
    assert git(trial.project, "ls-tree", "--name-only", branch, "a.txt", "b.txt") == "a.txt\nb.txt"


def test_a_preview_changes_no_branch(tmp_path: Path) -> None:
    trial = on_a_branch(tmp_path)

    assert trial.execution.preview("1").branch == "gsd/phase-01-work"
    assert git(trial.project, "branch", "--list").split() == ["*", "main"]


def test_a_job_resumes_on_its_branch(tmp_path: Path) -> None:
    stop = OneTimeEvent()

    def stops(order, call):
        stop.set()
        return succeeds(order, call)

    trial = on_a_branch(tmp_path, agent=FakeAgent(stops))
    left = trial.run(stop).job
    assert left.status is JobStatus.EXECUTING
    git(trial.project, "add", "--all")  # a person goes elsewhere in between
    git(trial.project, "commit", "-qm", "what there is")
    git(trial.project, "switch", "-q", "main")
    trial.agent = FakeAgent()
    done = trial.run()

    assert (done.job.id, done.job.status) == (left.id, JobStatus.DONE)
    assert git(trial.project, "branch", "--show-current") == left.target


def test_a_run_does_not_switch_branches_with_uncommitted_work(tmp_path: Path) -> None:
    trial = on_a_branch(tmp_path)
    written(trial.project / "README.md", "mine\n")
    with pytest.raises(TreeDirty, match=r"README\.md"):
        trial.run()
    assert git(trial.project, "branch", "--list").split() == ["*", "main"]


def test_the_hint_about_uncommitted_work_stashes_it(tmp_path: Path) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    written(trial.project / "README.md", "mine\n")
    written(trial.project / "new.txt", "mine, too\n")
    written(trial.project / ".planning/notes.md", "a document\n")
    with pytest.raises(TreeDirty) as caught:
        trial.run()
    git(trial.project, *shlex.split(caught.value.hint.partition(": ")[2])[1:])
    assert (trial.project / ".planning/notes.md").exists()
    assert trial.run().job.status is JobStatus.DONE


@pytest.mark.parametrize("template", ["-c", "a..b", "x y", "gsd/{phase}.lock"])
def test_an_invalid_branch_name_is_refused(tmp_path: Path, template: str) -> None:
    trial = on_a_branch(tmp_path, template)
    with pytest.raises(BranchName):
        trial.run()
    assert git(trial.project, "branch", "--list").split() == ["*", "main"]


def test_a_detached_head_is_refused(tmp_path: Path) -> None:
    trial = on_a_branch(tmp_path, "")
    git(trial.project, "switch", "-q", "--detach")
    with pytest.raises(HeadDetached) as refused:
        trial.run()
    assert "git switch" in str(refused.value.hint)


@pytest.mark.parametrize("gone", [("-m", "main", "trunk"), ("-D", "main")])
def test_a_job_without_its_branch_makes_no_call_and_resumes_once_the_branch_exists(
    tmp_path: Path, gone: tuple[str, ...]
) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt", extra=LOOK)))
    job = trial.run().job
    trial.answer("approved")
    calls, at = len(trial.agent.orders), git(trial.project, "rev-parse", "main")
    git(trial.project, "switch", "-q", "-c", "elsewhere")
    git(trial.project, "branch", *gone)
    with pytest.raises(BranchGone, match="branch main") as refused:
        trial.run()
    assert refused.value.exit_code == 4
    assert "git branch main COMMIT" in str(refused.value.hint)
    assert f"fairlead job cancel {job.id}" in str(refused.value.hint)
    git(trial.project, "branch", "main", at)
    assert trial.run().job.status is JobStatus.DONE
    assert len(trial.agent.orders) == calls
    assert git(trial.project, "show", "main:a.txt") == "made a.txt"


def test_a_job_without_its_branch_can_be_cancelled_and_keeps_its_work(tmp_path: Path) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt", extra=LOOK)))
    job = trial.run().job
    git(trial.project, "switch", "-q", "-c", "elsewhere")
    git(trial.project, "branch", "-D", "main")
    trial.cancel()
    assert trial.jobs.report(job.id).job.status is JobStatus.FAILED
    [kept] = git(trial.project, "branch", "--list", "fairlead/*").split()
    assert git(trial.project, "show", f"{kept}:a.txt") == "made a.txt"
    assert len(git(trial.project, "worktree", "list").splitlines()) == 1


# -- without git ---------------------------------------------------------------------------


def in_place(tmp_path: Path, agent: FakeAgent | None = None) -> ExecutionTrial:
    plans = (a_plan("01-01", "a.txt", "b.txt"), a_plan("01-02", "c.txt"))
    return ExecutionTrial(
        a_project(tmp_path / "p", *plans, is_git=False), agent or FakeAgent(), slots=4
    )


def test_without_git_plans_run_one_at_a_time_through_the_complete_gate(tmp_path: Path) -> None:
    folders: list[str] = []

    def busy(order, call):
        folders.append(order.folder)
        return succeeds(order, call)

    trial = in_place(tmp_path, FakeAgent(busy))
    report = trial.run()

    assert (report.job.status, report.job.is_git, report.job.slots) == (JobStatus.DONE, False, 1)
    assert set(folders) == {str(trial.project)}
    steps = [each for each in trial.happened if each.startswith("01-0")]
    assert [each for each in steps if "summarised" in each or each.endswith("executing")] == [
        "01-01-01 executing",
        "01-01-02 executing",
        "01-01 summarised",
        "01-02-01 executing",
        "01-02 summarised",
    ]
    assert [each for each in steps if "verify" in each or "approved" in each] == [
        f"{task} {what}"
        for task in ("01-01-01", "01-01-02", "01-02-01")
        for what in ("verify-passed", "approved")
    ]
    summary = (trial.project / ".planning/phases/01-work/01-01-SUMMARY.md").read_text()
    assert "a.txt" in summary
    assert "c.txt" not in summary
    assert "\n1. **Task 1: make a.txt** - `-`\n" in summary  # a state of the folder is no commit
    assert "commits: 0\n" in summary


def test_without_git_a_failed_verify_is_retried(tmp_path: Path) -> None:
    def late(order, call):
        if order.is_read_only or call > 1:
            return succeeds(order, call)
        return {"status": "success", "done_criteria_met": True, "evidence": "x", "error": None}

    trial = in_place(tmp_path, FakeAgent(late))
    assert trial.run().job.status is JobStatus.DONE
    assert "01-01-01 verify-failed" in trial.happened


def test_without_git_the_verdict_of_a_reviewer_that_writes_is_void(tmp_path: Path) -> None:
    def scribbles(order, call):
        if order.is_read_only and call == 1:
            written(Path(order.folder) / "README.md", "mine now\n")
        return succeeds(order, call)

    trial = in_place(tmp_path, FakeAgent(scribbles))
    trial.run()
    assert "01-01-01 malformed" in trial.happened


def test_without_git_an_agent_that_changes_the_records_stops_the_job(tmp_path: Path) -> None:
    def forges(order, call):
        for path in Path(order.folder).glob(".planning/jobs/*/gates/*.json"):
            path.write_text(path.read_text().replace("EXECUTING", "APPROVED"))
        return succeeds(order, call)

    trial = in_place(tmp_path, FakeAgent(forges))
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert "gates/01-01-01.json" in report.questions[0].text


# -- a rehearsal that goes wrong -----------------------------------------------------------


class Removing(Shell):
    """Removes the work of the agent just before the verify command."""

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
        source: object = None,
    ) -> CommandResult:
        for each in Path(folder).glob("*.txt"):
            each.unlink()
        return super().run(line, folder, limit, is_wanted)


def test_work_that_disappears_before_the_verify_fails_the_rehearsed_job(tmp_path: Path) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    execution = trial.execution
    execution.approve(execution.preview("1", is_rehearsed=True))
    report = execution.carry_out(
        execution.preview("1", is_rehearsed=True),
        JobSetup(
            execution_roster(trial.agent, trial.agent, Removing()), RunOptions(is_rehearsed=True)
        ),
    )

    assert report.job.status is JobStatus.FAILED
    gate = JobFolder(str(trial.project), report.job.id).load_gate("01-01-01")
    assert gate is not None
    assert gate.gate.status == "FAILED"
    assert not (trial.project / ".planning/phases/01-work/01-01-SUMMARY.md").exists()


def test_a_phase_of_a_workstream_uses_the_documents_of_the_workstream(tmp_path: Path) -> None:
    project = a_project(tmp_path / "p", a_plan("01-01", "root.txt"))
    planning = project / ".planning"
    home = planning / "workstreams" / "alpha"
    plan = "phases/01-work/01-01-PLAN.md"
    for name in ("STATE.md", "ROADMAP.md"):
        written(home / name, (planning / name).read_text("utf-8"))
    written(home / plan, a_plan("01-01", "a.txt").text)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "alpha")
    own = {name: (planning / name).read_bytes() for name in ("STATE.md", "ROADMAP.md", plan)}
    report = ExecutionTrial(project, workstream="alpha").run()

    assert (report.job.status, report.plans) == (JobStatus.DONE, (("01-01", True),))
    assert report.job.command == "fairlead phase execute 01 --ws alpha"
    assert {name: (planning / name).read_bytes() for name in own} == own
    assert "- [x] **Phase 1: Work**" in (home / "ROADMAP.md").read_text("utf-8")
    assert "status: completed" in (home / "STATE.md").read_text("utf-8")
    assert [each.name for each in (planning / "ledger").iterdir()] == ["alpha@01-01.jsonl"]
    assert check_ledgers(Reader(str(project)), scan(str(project), workstream="alpha")).is_clean
    assert git(project, "status", "--porcelain") == ""
    assert ExecutionTrial(project).execution.preview("1").left == ("01-01",)


def test_a_job_of_another_workstream_is_not_resumed(tmp_path: Path) -> None:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    home = project / ".planning" / "workstreams" / "alpha"
    shutil.copytree(project / ".planning" / "phases", home / "phases")
    asks = FakeAgent(lambda _order, _call: {"status": "blocked", "error": "no key", "evidence": ""})
    assert ExecutionTrial(project, asks).run().job.status is JobStatus.BLOCKED
    assert ExecutionTrial(project).execution.preview("1").resumes
    assert not ExecutionTrial(project, workstream="alpha").execution.preview("1").resumes
