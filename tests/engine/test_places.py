"""Where a job works: on the branch that the settings name, on none, and without git at all."""

import shlex
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.adapters.commands import Shell
from fairlead.engine.evidence import check_ledgers
from fairlead.engine.fanout import Signal
from fairlead.engine.site import GateLimits
from fairlead.engine.undertaking import Crew, Terms, Watcher
from fairlead.errors import BranchGone, BranchName, HeadDetached, TreeDirty
from fairlead.model.budget import Caps
from fairlead.model.job import JobStatus
from fairlead.model.ran import Ran
from fairlead.store.jobs import JobFiles
from fairlead.store.load import Reader
from fairlead.store.scan import scan
from tests.support.execution import LOOK, Told, Works, a_plan, a_project, does_it
from tests.support.repositories import git, written

PHASE = "gsd/phase-{phase}-{slug}"


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def on_a_branch(tmp_path: Path, template: str = PHASE, **more: object) -> Works:
    plans = (a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"]))
    return Works(a_project(tmp_path / "p", *plans), branching=template, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("template", "branch"),
    [(PHASE, "gsd/phase-01-work"), ("gsd/{milestone}-{slug}", "gsd/v1.0-milestone")],
)
def test_the_work_lands_on_the_branch_that_the_settings_name(tmp_path, template, branch) -> None:
    site = on_a_branch(tmp_path, template)
    first = git(site.project, "rev-parse", "main")
    report = site.run()

    assert (report.job.status, report.job.target) == (JobStatus.DONE, branch)
    assert git(site.project, "branch", "--show-current") == branch
    assert (
        git(site.project, "rev-parse", "main")
        == first
        == git(site.project, "merge-base", "main", branch)
    )
    assert git(site.project, "ls-tree", "--name-only", branch, "a.txt", "b.txt") == "a.txt\nb.txt"


def test_a_look_changes_no_branch(tmp_path: Path) -> None:
    site = on_a_branch(tmp_path)

    assert site.execution.preview("1").branch == "gsd/phase-01-work"
    assert git(site.project, "branch", "--list").split() == ["*", "main"]


def test_a_job_goes_on_where_it_was_left_on_its_branch(tmp_path: Path) -> None:
    stop = Signal()

    def stops(order, call):
        stop.give()
        return does_it(order, call)

    site = on_a_branch(tmp_path, agent=Told(stops))
    left = site.run(stop).job
    assert left.status is JobStatus.EXECUTING
    git(site.project, "add", "--all")  # a person goes elsewhere in between
    git(site.project, "commit", "-qm", "what there is")
    git(site.project, "switch", "-q", "main")
    site.agent = Told()
    done = site.run()

    assert (done.job.id, done.job.status) == (left.id, JobStatus.DONE)
    assert git(site.project, "branch", "--show-current") == left.target


def test_a_branch_is_not_left_with_work_that_is_not_committed(tmp_path: Path) -> None:
    site = on_a_branch(tmp_path)
    written(site.project / "README.md", "mine\n")
    with pytest.raises(TreeDirty, match=r"README\.md"):
        site.run()
    assert git(site.project, "branch", "--list").split() == ["*", "main"]


def test_what_is_said_about_work_that_is_not_committed_puts_it_aside(tmp_path: Path) -> None:
    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    written(site.project / "README.md", "mine\n")
    written(site.project / "new.txt", "mine, too\n")
    written(site.project / ".planning/notes.md", "a document\n")
    with pytest.raises(TreeDirty) as caught:
        site.run()
    git(site.project, *shlex.split(caught.value.hint.partition(": ")[2])[1:])
    assert (site.project / ".planning/notes.md").exists()
    assert site.run().job.status is JobStatus.DONE


@pytest.mark.parametrize("template", ["-c", "a..b", "x y", "gsd/{phase}.lock"])
def test_a_name_that_git_does_not_take_is_refused(tmp_path: Path, template: str) -> None:
    site = on_a_branch(tmp_path, template)
    with pytest.raises(BranchName):
        site.run()
    assert git(site.project, "branch", "--list").split() == ["*", "main"]


def test_a_detached_head_is_refused(tmp_path: Path) -> None:
    site = on_a_branch(tmp_path, "")
    git(site.project, "switch", "-q", "--detach")
    with pytest.raises(HeadDetached) as told:
        site.run()
    assert "git switch" in str(told.value.hint)


@pytest.mark.parametrize("gone", [("-m", "main", "trunk"), ("-D", "main")])
def test_a_job_whose_branch_is_gone_calls_nobody_and_goes_on_when_it_is_there_again(
    tmp_path: Path, gone: tuple[str, ...]
) -> None:
    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt", extra=LOOK)))
    job = site.run().job
    site.answer("approved")
    calls, at = len(site.agent.orders), git(site.project, "rev-parse", "main")
    git(site.project, "switch", "-q", "-c", "elsewhere")
    git(site.project, "branch", *gone)
    with pytest.raises(BranchGone, match="branch main") as told:
        site.run()
    assert told.value.exit_code == 4
    assert "git branch main COMMIT" in str(told.value.hint)
    assert f"fairlead job cancel {job.id}" in str(told.value.hint)
    git(site.project, "branch", "main", at)
    assert site.run().job.status is JobStatus.DONE
    assert len(site.agent.orders) == calls
    assert git(site.project, "show", "main:a.txt") == "made a.txt"


def test_a_job_whose_branch_is_gone_can_be_ended_and_keeps_its_work(tmp_path: Path) -> None:
    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt", extra=LOOK)))
    job = site.run().job
    git(site.project, "switch", "-q", "-c", "elsewhere")
    git(site.project, "branch", "-D", "main")
    site.cancel()
    assert site.jobs.one(job.id).job.status is JobStatus.FAILED
    [kept] = git(site.project, "branch", "--list", "fairlead/*").split()
    assert git(site.project, "show", f"{kept}:a.txt") == "made a.txt"
    assert len(git(site.project, "worktree", "list").splitlines()) == 1


# -- without git ---------------------------------------------------------------------------


def in_place(tmp_path: Path, agent: Told | None = None) -> Works:
    plans = (a_plan("01-01", "a.txt", "b.txt"), a_plan("01-02", "c.txt"))
    return Works(a_project(tmp_path / "p", *plans, is_git=False), agent or Told(), slots=4)


def test_without_git_one_plan_at_a_time_goes_through_the_whole_gate(tmp_path: Path) -> None:
    folders: list[str] = []

    def busy(order, call):
        folders.append(order.folder)
        return does_it(order, call)

    site = in_place(tmp_path, Told(busy))
    report = site.run()

    assert (report.job.status, report.job.is_git, report.job.slots) == (JobStatus.DONE, False, 1)
    assert set(folders) == {str(site.project)}
    steps = [each for each in site.happened if each.startswith("01-0")]
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
    summary = (site.project / ".planning/phases/01-work/01-01-SUMMARY.md").read_text()
    assert "a.txt" in summary
    assert "c.txt" not in summary
    assert "\n1. **Task 1: make a.txt** - `-`\n" in summary  # a state of the folder is no commit
    assert "commits: 0\n" in summary


def test_without_git_a_failed_verify_is_tried_again(tmp_path: Path) -> None:
    def late(order, call):
        if order.is_read_only or call > 1:
            return does_it(order, call)
        return {"status": "success", "done_criteria_met": True, "evidence": "x", "error": None}

    site = in_place(tmp_path, Told(late))
    assert site.run().job.status is JobStatus.DONE
    assert "01-01-01 verify-failed" in site.happened


def test_without_git_a_reviewer_that_writes_is_not_believed(tmp_path: Path) -> None:
    def scribbles(order, call):
        if order.is_read_only and call == 1:
            written(Path(order.folder) / "README.md", "mine now\n")
        return does_it(order, call)

    site = in_place(tmp_path, Told(scribbles))
    site.run()
    assert "01-01-01 malformed" in site.happened


def test_without_git_an_agent_that_touches_the_records_stops_the_job(tmp_path: Path) -> None:
    def forges(order, call):
        for path in Path(order.folder).glob(".planning/jobs/*/gates/*.json"):
            path.write_text(path.read_text().replace("EXECUTING", "APPROVED"))
        return does_it(order, call)

    site = in_place(tmp_path, Told(forges))
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert "gates/01-01-01.json" in report.questions[0].text


# -- a rehearsal that goes wrong -----------------------------------------------------------


class Removing(Shell):
    """Takes away what the agent made, right before the verify command."""

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ran:
        for each in Path(folder).glob("*.txt"):
            each.unlink()
        return super().run(line, folder, limit, is_wanted)


def test_output_that_goes_before_the_verify_fails_the_rehearsed_job(tmp_path: Path) -> None:
    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    execution = site.execution
    execution.approve(execution.preview("1", is_rehearsed=True))
    report = execution.carry_out(
        execution.preview("1", is_rehearsed=True),
        Crew(site.agent, site.agent, Removing(), lambda _: 0),
        Terms(Caps(), GateLimits(), is_rehearsed=True),
        Watcher(),
        Signal(),
        Signal(),
    )

    assert report.job.status is JobStatus.FAILED
    gate = JobFiles(str(site.project), report.job.id).load_gate("01-01-01")
    assert gate is not None
    assert gate.gate.status == "FAILED"
    assert not (site.project / ".planning/phases/01-work/01-01-SUMMARY.md").exists()


def test_a_phase_of_a_workstream_is_carried_out_in_its_own_memory(tmp_path: Path) -> None:
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
    report = Works(project, workstream="alpha").run()

    assert (report.job.status, report.plans) == (JobStatus.DONE, (("01-01", True),))
    assert report.job.command == "fairlead phase execute 01 --ws alpha"
    assert {name: (planning / name).read_bytes() for name in own} == own
    assert "- [x] **Phase 1: Work**" in (home / "ROADMAP.md").read_text("utf-8")
    assert "status: completed" in (home / "STATE.md").read_text("utf-8")
    assert [each.name for each in (planning / "ledger").iterdir()] == ["alpha@01-01.jsonl"]
    assert check_ledgers(Reader(str(project)), scan(str(project), workstream="alpha")).is_clean
    assert git(project, "status", "--porcelain") == ""
    assert Works(project).execution.preview("1").left == ("01-01",)


def test_a_job_of_another_workstream_is_not_gone_on_with(tmp_path: Path) -> None:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    home = project / ".planning" / "workstreams" / "alpha"
    shutil.copytree(project / ".planning" / "phases", home / "phases")
    asks = Told(lambda _order, _call: {"status": "blocked", "error": "no key", "evidence": ""})
    assert Works(project, asks).run().job.status is JobStatus.BLOCKED
    assert Works(project).execution.preview("1").resumes
    assert not Works(project, workstream="alpha").execution.preview("1").resumes
