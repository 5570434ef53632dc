"""Executing a phase: every path through the gate, with real files and git."""

import re
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fairlead.agents.budget import Caps
from fairlead.agents.model import AgentCall, CallResult, EndKind
from fairlead.app import App
from fairlead.core.errors import DocumentError
from fairlead.core.values import replace
from fairlead.execution.errors import NothingCame, PlansNotApproved, PlansUnfit
from fairlead.jobs.errors import NoQuestion
from fairlead.jobs.model import JobStatus, Share
from fairlead.plans.documents import read_plan
from fairlead.project.sessions import Sessions
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.gate import OpenTask
from fairlead.store.errors import LockBusy
from fairlead.store.files import Files, WriteOutcome
from fairlead.vcs.errors import GitFault, TreeDirty
from fairlead.vcs.git import Git
from tests.conftest import run_in_process
from tests.support.execution import (
    LOOK,
    ExecutionTrial,
    FakeAgent,
    PlanText,
    a_plan,
    a_project,
    commits_of,
    jobs_of,
    succeeds,
)
from tests.support.repositories import git, written


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def a_trial(
    tmp_path: Path, *plans: PlanText, agent: FakeAgent | None = None, **more: object
) -> ExecutionTrial:
    return ExecutionTrial(a_project(tmp_path / "p", *plans), agent or FakeAgent(), **more)  # type: ignore[arg-type]


BOXES = "\n- [ ] Task 1: make a\n- [ ] Task 2: make b\n"


def test_two_waves_end_in_merged_and_verified_commits(tmp_path: Path) -> None:
    trial = a_trial(
        tmp_path, a_plan("01-01", "a.txt", "b.txt"), a_plan("01-02", "c.txt", depends_on=["01-01"])
    )
    report = trial.run()
    assert (report.job.status, report.plans) == (JobStatus.DONE, (("01-01", True), ("01-02", True)))
    assert all((trial.project / name).exists() for name in ("a.txt", "b.txt", "c.txt"))
    assert [each for each in commits_of(trial.project) if "merge" in each] == [
        "merge(01-02): Make c.txt.",
        "merge(01-01): Make a.txt, b.txt.",
    ]
    assert git(trial.project, "status", "--porcelain") == ""
    assert git(trial.project, "branch", "--list", "fairlead/*") == ""


def test_a_limit_for_one_agent_comes_from_the_settings_and_is_reported(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), shares="fake=1")
    assert trial.run().job.status is JobStatus.DONE
    assert [each.rpartition(" ")[2] for each in trial.happened[:2]] == ["started", "note"]
    written(
        trial.project / ".planning/config.json", '{"fairlead": {"provider_slots": "codex=1"}}\n'
    )
    app = App(str(trial.project))
    options = app.execution_options(model="", slots=None, is_rehearsed=False)
    assert options.shares == (Share("codex", 1),)


def test_a_failed_verify_is_retried_with_its_output(tmp_path: Path) -> None:
    def first_forgets(order, call):
        if call == 1 and not order.is_read_only:
            return {"status": "success", "done_criteria_met": True, "evidence": "x", "error": None}
        return succeeds(order, call)

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(first_forgets))
    assert trial.run().job.status is JobStatus.DONE
    second = [order for order in trial.agent.orders if not order.is_read_only][1]
    assert "VERIFY_FAILURE" in second.prompt
    assert second.prompt.index("VERIFY_FAILURE") < second.prompt.index("<task")


def test_a_success_that_reports_a_failed_verify_counts_as_a_failed_verify(tmp_path: Path) -> None:
    def honest(order, call):
        done = succeeds(order, call)
        if call == 1 and not order.is_read_only:
            return {**done, "verification": {"command": "test -f a.txt", "exit_code": 1}}
        return done

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(honest))
    assert trial.run().job.status is JobStatus.DONE
    assert [each for each in trial.happened if "verify" in each] == [
        "01-01-01 verify-failed",
        "01-01-01 verify-passed",
    ]
    second = [order for order in trial.agent.orders if not order.is_read_only][1]
    assert "VERIFY_FAILURE" in second.prompt


def test_an_estimate_follows_the_cost_of_earlier_calls(tmp_path: Path) -> None:
    plans = [a_plan(f"01-0{number}", f"{number}.txt") for number in (1, 2, 3, 4)]
    trial = a_trial(tmp_path, *plans)
    before = trial.execution.preview("1").estimate
    assert before == trial.run().job.estimate
    written(trial.project / ".planning/phases/01-work/01-05-PLAN.md", a_plan("01-05", "5.txt").text)
    after = trial.execution.preview("1")
    assert (after.spent[0].tokens, after.spent[1].tokens) == (0, 8 * 1100)
    assert after.estimate.tokens == pytest.approx(2 * 1100, rel=0.2)


def test_a_rejection_goes_back_to_the_executor_with_the_feedback(tmp_path: Path) -> None:
    def rejects_once(order, call):
        if order.is_read_only and call == 1:
            return {"verdict": "REJECTED", "feedback": "say hello in a.txt"}
        return succeeds(order, call)

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(rejects_once))
    assert trial.run().job.status is JobStatus.DONE
    assert "say hello in a.txt" in [o for o in trial.agent.orders if not o.is_read_only][1].prompt


def test_after_the_last_attempt_a_person_is_asked_and_the_answer_is_binding(tmp_path: Path) -> None:
    def needs_a_hint(order, call):
        if order.is_read_only or "use the blue one" in order.prompt:
            return succeeds(order, call)
        return {"status": "failure", "done_criteria_met": False, "error": "which one?"}

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(needs_a_hint))
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert len(trial.agent.orders) == 3
    trial.answer("fix: use the blue one")
    assert trial.run().job.status is JobStatus.DONE


def test_a_plan_that_was_skipped_in_part_is_not_complete(tmp_path: Path) -> None:
    def fails(order, call):
        if "a.txt" in order.prompt and "b.txt" not in order.prompt.partition("<task")[2]:
            return {"status": "failure", "done_criteria_met": False, "error": "no"}
        return succeeds(order, call)

    plan = a_plan("01-01", "a.txt", "b.txt", extra=BOXES)
    trial = a_trial(tmp_path, plan, agent=FakeAgent(fails))
    trial.run()
    trial.answer("skip")
    ended = trial.run()
    assert (ended.job.status, ended.plans) == (JobStatus.FAILED, (("01-01", False),))
    assert "01-01" in ended.job.note
    phase = trial.project / ".planning/phases/01-work"
    summary = (phase / "01-01-SUMMARY.md").read_text()
    assert "Self-Check: FAILED" in summary
    assert "status: partial" in summary
    assert (trial.project / "b.txt").exists()
    assert "- [ ] Task 1: make a\n- [x] Task 2: make b (completed 20" in (
        phase / "01-01-PLAN.md"
    ).read_text("utf-8")


def test_a_plan_that_needs_a_skipped_plan_runs_with_a_warning(
    tmp_path: Path,
) -> None:
    first, *rest = (a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"]))
    trial = a_trial(tmp_path, first, *rest, a_plan("01-03", "c.txt", depends_on=["01-02"]))

    def fails(order: AgentCall, call: int) -> object:
        is_first = "Write a.txt" in order.prompt and not order.is_read_only
        failed = {"status": "failure", "done_criteria_met": False, "error": "no"}
        return failed if is_first else succeeds(order, call)

    trial.agent.act = fails  # type: ignore[assignment]
    trial.run()
    trial.answer("skip")
    ended = trial.run()
    assert ended.plans == (("01-01", False), ("01-02", True), ("01-03", True))
    assert "01-02-01 note" in trial.happened
    assert trial.happened.index("01-02-01 note") < trial.happened.index("01-02-01 executing")
    assert ended.job.note.endswith("done without what it needs: 01-02, 01-03")
    journal = next((trial.project / ".planning/jobs").glob("*/events.jsonl")).read_text()
    assert "01-03 needs what is not done, as its summary says: 01-01" in journal
    warnings = trial.execution.preview("1").warnings
    assert [each for each in warnings if "needs" in each] == [
        f"01-0{number} needs what is not done, as its summary says: 01-01" for number in (2, 3)
    ]


def test_a_plan_whose_summary_says_it_is_not_done_is_executed_again(tmp_path: Path) -> None:
    def fails_first(order, call):
        if call <= 3 and not order.is_read_only:
            return {"status": "failure", "done_criteria_met": False, "error": "no"}
        return succeeds(order, call)

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(fails_first))
    trial.run()
    trial.answer("skip")
    first = trial.run()
    assert "self-check failed" in " ".join(trial.execution.preview("1").warnings)
    again = trial.run()
    assert again.job.id != first.job.id
    assert (again.job.status, again.plans) == (JobStatus.DONE, (("01-01", True),))
    assert (trial.project / "a.txt").exists()
    kept = trial.project / ".planning/.fairlead/removed"
    assert any("SUMMARY" in each.name for each in kept.iterdir())


def test_a_plan_that_is_ticked_already_is_executed(tmp_path: Path) -> None:
    boxes = "\n- [x] Task 1: make a (completed 2026-05-01)\n- [ ] Task 2: make b  \n"
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt", "b.txt", extra=boxes))
    assert trial.run().job.status is JobStatus.DONE


def test_ticking_the_boxes_of_a_plan_keeps_its_approval(tmp_path: Path) -> None:
    plan = a_plan("01-01", "a.txt", "b.txt", extra=BOXES)
    trial = a_trial(tmp_path, plan, a_plan("01-02", "c.txt"))
    trial.run()
    path = ".planning/phases/01-work/01-01-PLAN.md"
    ticked = (trial.project / path).read_text("utf-8")
    assert ticked.count("[x] Task ") == 2
    assert git(trial.project, "status", "--porcelain") == ""
    subject = git(trial.project, "log", "--format=%s", "-1", "--", path)
    assert subject == "docs(01-01): complete plan: Make a.txt, b.txt."
    assert read_plan(path, ticked).digest == read_plan(path, plan.text).digest


def _fails_its_verify(order: AgentCall, call: int) -> dict[str, object]:
    """An executor that claims success, but whose work fails the verify command."""
    if not order.is_read_only:
        (Path(order.folder) / "other.txt").write_text("not what was asked")
    named = {"files_modified": ["other.txt"]}
    return {"status": "success", "done_criteria_met": True, "evidence": "see other.txt", **named}


def test_the_work_of_a_skipped_task_does_not_land(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(_fails_its_verify))
    trial.run()
    trial.answer("skip")
    report = trial.run()
    assert not (trial.project / "other.txt").exists()
    listed = git(trial.project, "branch", "--list", "fairlead/*", "--format=%(refname:short)")
    assert list(report.kept_branches) == listed.split()


def test_a_verification_is_skipped_only_for_a_valid_reason(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(_fails_its_verify))
    trial.run()
    with pytest.raises(NoQuestion, match="skip-verify: known false negative"):
        trial.answer("skip-verify: it is too slow")
    trial.answer("skip-verify: known false negative, see the log")
    asked = trial.run()
    assert asked.job.status is JobStatus.BLOCKED  # nothing unverified lands on its own
    assert not (trial.project / "other.txt").exists()
    trial.answer("accept")
    assert trial.run().job.status is JobStatus.DONE
    assert (trial.project / "other.txt").exists()
    summary = (trial.project / ".planning/phases/01-work/01-01-SUMMARY.md").read_text()
    assert "not verified, accepted by a person" in summary
    ledger = (trial.project / ".planning/ledger/01-01.jsonl").read_text()
    assert '"verdict": "verify"' in ledger or '"verdict":"verify"' in ledger


def test_an_override_needs_the_typed_word(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(_fails_its_verify))
    trial.run()
    for answer in ("override: please", "override: OVERRIDE", "override: override since I say so"):
        with pytest.raises(NoQuestion):
            trial.answer(answer)
    trial.answer("override: OVERRIDE the command is for another system")
    trial.run()
    trial.answer("accept")
    assert trial.run().job.status is JobStatus.DONE
    summary = (trial.project / ".planning/phases/01-work/01-01-SUMMARY.md").read_text()
    assert "forced by a person" in summary


def test_a_blocked_task_waits_for_the_plan_that_creates_its_file(tmp_path: Path) -> None:
    def needs_b(order, call):
        if not order.is_read_only and "Write a.txt" in order.prompt:
            if not (Path(order.folder) / "b.txt").exists():
                return {
                    "status": "blocked",
                    "done_criteria_met": False,
                    "error": "b.txt is missing",
                }
        return succeeds(order, call)

    trial = a_trial(
        tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), agent=FakeAgent(needs_b)
    )
    trial.slots = 1
    assert trial.run().job.status is JobStatus.DONE
    assert (trial.project / "a.txt").exists()


def test_unapproved_plans_run_no_command(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    execution = trial.execution
    with pytest.raises(PlansNotApproved):
        execution.require_ready(execution.preview("1"))


def test_a_plan_without_a_verify_command_is_refused_with_its_line(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, PlanText("01-01", [("a.txt", "Look at it and see that it is good")]))
    with pytest.raises(PlansUnfit) as refused:
        trial.run()
    assert "01-01-PLAN.md:" in str(refused.value)


def test_a_verify_command_with_a_syntax_error_is_refused_before_any_call(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, PlanText("01-01", [("a.txt", "test -f a.txt &amp;&amp; (true")]))
    with pytest.raises(PlansUnfit, match=r"PLAN\.md:18: the verify command cannot be run: /bin/sh"):
        trial.run()
    assert trial.agent.orders == []


def test_a_run_refuses_to_start_with_uncommitted_work(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    written(trial.project / "README.md", "being written\n")
    with pytest.raises(TreeDirty):
        trial.run()


def _branches_with(project: Path, commit: str) -> str:
    return git(project, "for-each-ref", "--contains", commit, "refs/heads/")


def test_undeclared_deletions_stop_the_merge_of_that_plan_alone(tmp_path: Path) -> None:
    def deletes(order, call):
        if "Write a.txt" in order.prompt and not order.is_read_only:
            (Path(order.folder) / "README.md").unlink()
            return {**succeeds(order, call), "files_modified": ["a.txt", "README.md"]}
        return succeeds(order, call)

    trial = a_trial(
        tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), agent=FakeAgent(deletes)
    )
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert dict(report.plans) == {"01-01": False, "01-02": True}
    assert (trial.project / "README.md").exists()
    assert "README.md" in report.questions[0].text
    work = trial.jobs.report("").gates[0].commit
    assert _branches_with(trial.project, work)
    trial.answer("abort")
    trial.run()
    assert _branches_with(trial.project, work)


def test_a_deletion_that_the_plan_declares_lands(tmp_path: Path) -> None:
    def deletes(order, call):
        if not order.is_read_only:
            (Path(order.folder) / "README.md").unlink()
        return succeeds(order, call)

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(deletes))
    path = trial.project / ".planning/phases/01-work/01-01-PLAN.md"
    path.write_text(
        path.read_text().replace("autonomous", "files_deleted: [README.md]\nautonomous")
    )
    git(trial.project, "commit", "-qam", "plan")
    assert trial.run().job.status is JobStatus.DONE
    assert not (trial.project / "README.md").exists()


def test_a_merge_conflict_is_reported_with_both_sides_and_nothing_is_lost(tmp_path: Path) -> None:
    def both_write(order, call):
        if not order.is_read_only:
            written(Path(order.folder) / "shared.txt", f"by {order.raw[-30:]}\n")
            return {**succeeds(order, call), "files_modified": ["shared.txt"]}
        return succeeds(order, call)

    trial = a_trial(
        tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), agent=FakeAgent(both_write)
    )
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert sum(is_done for _, is_done in report.plans) == 1
    [question] = report.questions
    assert "shared.txt" in question.text
    assert {line[:4] for line in question.details} == {"--- ", "+++ ", "@@ -", "-by ", "+by "}
    wanted = question.text.partition("git merge ")[2].partition(",")[0]
    git(trial.project, "merge", "-X", "ours", "-m", "settled", wanted)
    trial.answer("accept")
    assert trial.run().job.status is JobStatus.DONE


@pytest.mark.parametrize(
    "touch",
    [
        lambda order: git(Path(order.folder), "branch", "mine"),
        lambda order: git(Path(order.folder), "config", "user.name", "Me"),
        lambda order: git(Path(order.folder), "update-ref", "refs/heads/main", "HEAD~0^{commit}"),
    ],
)
def test_an_agent_that_changes_guarded_files_stops_the_job(tmp_path: Path, touch) -> None:
    def touches(order, call):
        if not order.is_read_only:
            written(Path(order.folder) / "x", "x")
            git(Path(order.folder), "add", "x")
            git(
                Path(order.folder),
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "-qm",
                "x",
            )
            touch(order)
        return succeeds(order, call)

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(touches))
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert "was changed" in report.questions[0].text
    assert not (trial.project / "a.txt").exists()


def test_changes_below_planning_stay_on_the_branch(tmp_path: Path) -> None:
    def meddles(order, call):
        if not order.is_read_only:
            written(Path(order.folder) / ".planning/STATE.md", "all done, believe me\n")
        return succeeds(order, call)

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(meddles))
    assert trial.run().job.status is JobStatus.DONE
    assert "believe me" not in (trial.project / ".planning/STATE.md").read_text()
    [kept] = git(
        trial.project, "branch", "--list", "--format=%(refname)", "fairlead/*"
    ).splitlines()
    assert "believe me" in git(trial.project, "show", f"{kept}:.planning/STATE.md")


def test_a_landed_branch_is_removed_even_if_the_agent_made_commits(
    tmp_path: Path,
) -> None:
    def commits(order, call):
        answer = succeeds(order, call)
        if not order.is_read_only:
            git(Path(order.folder), "add", "--all")
            git(Path(order.folder), "commit", "-q", "-m", "mine")
        return answer

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(commits))
    assert trial.run().job.status is JobStatus.DONE
    assert git(trial.project, "branch", "--list", "fairlead/*") == ""


def test_a_rate_limit_uses_no_attempt_and_says_until_when(tmp_path: Path) -> None:
    def limited(order, call):
        if call == 1 and not order.is_read_only:
            return CallResult(EndKind.RATE_LIMITED, retry_after=0.01, error="later")
        return succeeds(order, call)

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(limited))
    report = trial.run()
    assert report.job.status is JobStatus.DONE
    assert any("patience" in each for each in trial.happened)


def test_a_call_that_would_exceed_the_budget_is_not_made(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), caps=Caps(run_tokens=100))
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert trial.agent.orders == []


def test_a_checkpoint_waits_for_its_answer_and_the_next_prompt_contains_it(tmp_path: Path) -> None:
    decision = (
        '<task type="checkpoint:decision" gate="blocking">\n<decision>Which colour?</decision>\n'
        '<context>c</context>\n<options>\n<option id="red"><name>Red</name><pros>p</pros>'
        "<cons>c</cons></option>\n</options>\n<resume-signal>Pick</resume-signal>\n</task>\n"
        '<task type="auto">\n<name>Task 3: paint</name>\n<files>b.txt</files>\n'
        "<action>Paint b.txt.</action>\n<verify>test -f b.txt</verify>\n<done>b</done>\n</task>\n"
    )
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt", extra=decision))
    assert trial.run().job.status is JobStatus.BLOCKED
    trial.answer("red")
    assert trial.run().job.status is JobStatus.DONE
    assert "Which colour?" in trial.agent.orders[-2].prompt
    assert ": red" in trial.agent.orders[-2].prompt


def test_work_rejected_at_a_checkpoint_is_corrected_and_shown_again(
    tmp_path: Path,
) -> None:
    def adds(order, call):
        if not order.is_read_only:
            path = Path(order.folder) / "a.txt"
            path.write_text(f"{path.read_text() if path.exists() else ''}{call}\n")
            return {"status": "success", "done_criteria_met": True, "evidence": "made"}
        return succeeds(order, call)

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt", extra=LOOK), agent=FakeAgent(adds))
    for answer in ("fix: make it blue", "fix: now red", "approved"):
        asked = trial.run()
        assert asked.job.status is JobStatus.BLOCKED
        assert not asked.questions[-1].answer
        trial.answer(answer)
    assert trial.run().job.status is JobStatus.DONE
    assert (trial.project / "a.txt").read_text() == "1\n2\n3\n"
    prompts = [order.prompt for order in trial.agent.orders if not order.is_read_only]
    assert [("make it blue" in each, "now red" in each) for each in prompts] == [
        (False, False),
        (True, False),
        (False, True),
    ]


def test_a_summary_with_another_file_name_proves_its_plan(tmp_path: Path) -> None:
    trial = a_trial(
        tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"])
    )
    written(trial.project / ".planning/phases/01-work/01-01-a-word-SUMMARY.md", "# Done\n")
    report = trial.run()
    assert (report.job.status, report.plans) == (JobStatus.DONE, (("01-02", True),))


def test_an_empty_summary_proves_nothing(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    summary = trial.project / ".planning/phases/01-work/01-01-SUMMARY.md"
    written(summary, "\n")
    assert trial.run().job.status is JobStatus.DONE
    assert (trial.project / "a.txt").exists()
    assert "Self-Check: PASSED" in summary.read_text()


def test_warnings_are_reported_before_anything_begins(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"))
    written(
        trial.project / ".planning/phases/01-work/01-01-SUMMARY.md", "---\nplan: 07\n---\n# It\n"
    )
    git(trial.project, "config", "--unset", "user.email")
    warnings = " ".join(trial.execution.preview("1").warnings)
    assert "commits are made as Fairlead" in warnings
    assert "01-01-SUMMARY.md belongs to plan 07, not to 01-01" in warnings


def test_following_a_job_that_is_not_running_ends(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    job = trial.run().job
    trial.jobs.folder(job.id).save_record(replace(job, status=JobStatus.EXECUTING))
    files = Files(str(trial.project))
    jobs = jobs_of(files, trial.state, trial.clock)
    assert list(jobs.follow(""))
    assert jobs.present(jobs.record("")).command == "fairlead phase execute 01"


def test_watching_a_job_whose_process_is_gone_ends_with_the_command_that_continues_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    job = trial.run().job
    trial.jobs.folder(job.id).save_record(replace(job, status=JobStatus.EXECUTING))
    (tmp_path / "states").mkdir()
    (tmp_path / "states/fairlead").symlink_to(trial.state.folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "states"))
    watched = run_in_process(("job", "watch"), trial.project, "", {})
    last = watched.stdout.rstrip().splitlines()[-1]
    assert last.endswith("fairlead phase execute 01"), watched
    assert watched.exit_code == 6


def test_the_state_shows_the_plan_at_which_the_work_stopped(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    path = trial.project / ".planning/STATE.md"
    path.write_text(f"{path.read_text()}\n## Session\n\nStopped at: Project initialized\n")
    git(trial.project, "commit", "-qam", "state")
    trial.run()
    assert "Stopped at: Completed 01-01-PLAN.md\n" in path.read_text()


STATED = (
    "---\ngsd_state_version: '1.0'\nstatus: planning\n---\n\n# State\n\n## Current Position\n\n"
    "Phase: 1 of 1 (Work)\nPlan: 1 of 1 in current phase\nStatus: Ready to plan\n"
    "Last activity: 2026-05-01 — Project initialized\n\n## Performance Metrics\n\n"
    "**Velocity:**\n- Total plans completed: 0\n- Average duration: -\n"
    "- Total execution time: 0 hours\n\n**By Phase:**\n\n| Phase | Plans | Total | Avg/Plan |\n"
    "|-------|-------|-------|----------|\n| - | - | - | - |\n\n## Accumulated Context\n\n"
    "### Blockers/Concerns\n\nNone yet.\n\n## Session Continuity\n\n"
    "Last session: 2026-05-01\nStopped at: Project initialized\nResume file: None\n"
)


def stated(tmp_path: Path, *plans: PlanText, agent: FakeAgent) -> tuple[ExecutionTrial, Path]:
    trial = a_trial(tmp_path, *plans, agent=agent)
    path = trial.project / ".planning/STATE.md"
    path.write_text(STATED)
    git(trial.project, "commit", "-qam", "state")
    return trial, path


def rejecting(*calls: int) -> FakeAgent:
    def rejects(order: AgentCall, call: int) -> object:
        if order.is_read_only and call in calls:
            return {"verdict": "REJECTED", "feedback": f"{'no' * call}, \x1b[31mnever"}
        return succeeds(order, call)

    return FakeAgent(rejects)  # type: ignore[arg-type]


def test_the_state_shows_a_gate_before_its_call_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, str]] = []
    show = Sessions.show

    def shows_late(*step: Any) -> object:
        time.sleep(0.3)
        return show(*step)

    monkeypatch.setattr(Sessions, "show", shows_late)

    def looks(order: AgentCall, call: int) -> object:
        gate = re.search(r"^  gate_status: (.*)$", path.read_text(), re.MULTILINE)
        shown.append((str(order.role), gate[1] if gate else "nothing"))
        return succeeds(order, call)

    trial, path = stated(tmp_path, a_plan("01-01", "a.txt", "b.txt"), agent=FakeAgent(looks))  # type: ignore[arg-type]
    assert trial.run().job.status is JobStatus.DONE
    assert shown == [("executor", "EXECUTING"), ("architect", "REVIEWING")] * 2


def test_a_damaged_state_ends_the_run_before_the_next_call(tmp_path: Path) -> None:
    called: list[str] = []

    def breaks(order: AgentCall, call: int) -> object:
        called.append(str(order.role))
        path.write_bytes(b"\xff\xfe")
        return succeeds(order, call)

    trial, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(breaks))  # type: ignore[arg-type]
    with pytest.raises(DocumentError):
        trial.run()
    assert called == ["executor"]
    assert path.read_bytes() == b"\xff\xfe"


def test_the_next_run_shows_a_task_that_a_killed_run_could_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = Sessions.show

    def shows(self: Sessions, task: OpenTask, result: TaskResult | None = None) -> WriteOutcome:
        if result and result.outcome is TaskOutcome.SUCCESS:
            raise LockBusy(10, "somebody")
        return show(self, task, result)

    plan = a_plan("01-01", "a.txt", "b.txt")
    trial, path = stated(tmp_path, plan, agent=rejecting(1))
    monkeypatch.setattr(Sessions, "show", shows)
    with pytest.raises(LockBusy):
        trial.run()
    assert (
        "- [Phase 1 P01]: Task 1: make a.txt" in path.read_text()
    )  # the concern of its first attempt
    monkeypatch.undo()

    assert ExecutionTrial(trial.project).run().job.status is JobStatus.DONE
    assert "- [Phase 1 P01]: Task 1: make a.txt" not in path.read_text()


def test_a_run_raises_its_first_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_failed = threading.Event()

    def busy(*_: object) -> WriteOutcome:
        has_failed.wait(600)
        time.sleep(0.2)  # the other thread only has to raise its error now
        raise LockBusy(10, "somebody")

    def fails(*_: object) -> None:
        has_failed.set()
        raise GitFault("worktree", "no space")

    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    monkeypatch.setattr(Sessions, "show", busy)
    monkeypatch.setattr(Git, "prepare", fails)
    with pytest.raises(GitFault):
        trial.run()


def test_a_failed_task_is_the_last_activity_and_a_concern(tmp_path: Path) -> None:
    trial, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1, 2))
    assert trial.run().job.status is JobStatus.BLOCKED
    said = path.read_text()
    assert "Status: In progress\nLast activity: 2026-06-01 - Failed: Task 1: make a.txt\n" in said
    assert "Stopped at: Project initialized\nResume file: .planning/.continue-here" in said
    assert said.count("- [Phase 1 P01]: Task 1: make a.txt: ") == 1
    assert "Task 1: make a.txt: nono, \\x1b[31mnever\n" in said
    assert "status: executing\n" in said


def test_the_next_run_updates_the_state_after_a_kill(tmp_path: Path) -> None:
    trial, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1, 2))
    places = (path, trial.project / ".planning/.continue-here.md")
    before: dict[Path, str] = {}
    rejects = trial.agent.act

    def looks(order: AgentCall, call: int) -> object:
        before.update({each: each.read_text() for each in places})
        return rejects(order, call)

    trial.agent.act = looks  # type: ignore[assignment]
    trial.run()
    said = path.read_text()
    for place, text in before.items():
        place.write_text(text)
    trial.run()
    assert "Failed:" in said
    assert path.read_text().partition("# State")[2] == said.partition("# State")[2]


def test_a_finished_task_removes_its_concern_and_its_plan_records_its_time(
    tmp_path: Path,
) -> None:
    trial, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1))
    assert trial.run().job.status is JobStatus.DONE
    said = path.read_text()
    assert "Last activity: 2026-06-01 - Completed Task 1: make a.txt\n" in said
    assert "Blockers/Concerns\n\nNone." in said
    assert "Stopped at: Completed 01-01-PLAN.md\nResume file: None\n" in said
    assert "- Total plans completed: 1\n" in said
    assert "| Phase 1 P01 | 1 min | 1 tasks | 1 files |" in said
    assert "| 1. Work | 1 | 1 min | 1 min |" in said


@pytest.mark.parametrize("way", ["cancel", "abort"])
def test_a_cancelled_job_leaves_no_open_task_and_no_uncommitted_document(
    tmp_path: Path, way: str
) -> None:
    trial, path = stated(
        tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), agent=rejecting(1, 2)
    )
    trial.run()
    assert "- [Phase 1 P02]: Task 1: make b.txt: " in path.read_text()
    assert len([*path.parent.glob(".continue-here*")]) == 2
    if way == "cancel":
        trial.cancel()
    else:
        asked = trial.jobs.report("")
        trial.jobs.answer(asked.job.id, "abort", asked.questions[0].id)
        trial.run()
    assert trial.jobs.report("").job.status is JobStatus.FAILED
    said = path.read_text()
    assert "current_task" not in said
    assert "Resume file: None\n" in said
    assert "Blockers/Concerns\n\nNone." in said
    assert [*path.parent.glob(".continue-here*")] == []
    assert git(trial.project, "status", "--porcelain") == ""
    journal = next((trial.project / ".planning/jobs").glob("*/events.jsonl")).read_text()
    assert '"finished"' in journal.splitlines()[-1]
    assert len(git(trial.project, "worktree", "list").splitlines()) == 1
    kept = git(trial.project, "branch", "--list", "fairlead/*").split()
    assert any(git(trial.project, "ls-tree", "--name-only", each, "a.txt") for each in kept)


@pytest.mark.parametrize("end", ["cancel", "done"])
def test_a_job_that_has_ended_takes_no_answer(tmp_path: Path, end: str) -> None:
    trial, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1, 2))
    asked = trial.run()
    if end == "cancel":
        trial.cancel()
    else:
        trial.jobs.folder(asked.job.id).save_record(replace(asked.job, status=JobStatus.DONE))
    before = path.parent.joinpath("jobs").rglob("*.json")
    contents = {each: each.read_bytes() for each in before}
    with pytest.raises(NoQuestion, match="has ended"):
        trial.jobs.answer(asked.job.id, "skip", asked.questions[0].id)
    assert contents == {each: each.read_bytes() for each in contents}


def test_a_job_can_be_cancelled_without_committing_documents(tmp_path: Path) -> None:
    trial, _ = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1, 2))
    trial.run()
    before = commits_of(trial.project)
    jobs_of(Files(str(trial.project)), trial.state, trial.clock, keeps_documents=False).cancel(
        trial.jobs.report("").job.id
    )
    assert commits_of(trial.project) == before


def test_a_blocked_task_is_the_last_activity_and_a_concern(tmp_path: Path) -> None:
    blocked = {"status": "blocked", "done_criteria_met": False, "error": "no key"}
    trial, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(lambda *_: blocked))
    assert trial.run().job.status is JobStatus.BLOCKED
    said = path.read_text()
    assert "Status: In progress\nLast activity: 2026-06-01 - Blocked: Task 1: make a.txt\n" in said
    assert "\n- [Phase 1 P01]: **Task 1: make a.txt**: " in said


def test_a_step_without_effect_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    monkeypatch.setattr(
        "fairlead.execution.landing.Landing.merge", lambda _, plan: taken.append(plan)
    )
    trial, _ = stated(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent())
    with pytest.raises(NothingCame, match="merge:01-01"):
        trial.run()
    assert 1 < len(taken) < 9


def does_nothing(order: AgentCall, call: int) -> Mapping[str, object]:
    """An agent that claims success and changes nothing."""
    return succeeds(replace(order, prompt=""), call)


def test_files_that_a_person_left_in_a_worktree_are_kept(tmp_path: Path) -> None:
    trial, _ = stated(tmp_path, a_plan("01-01", "a.txt"), agent=FakeAgent(does_nothing))
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    [place] = Path(trial.state.folder).glob("runs/*/*/worktrees/*")
    written(place / "b.txt", "by hand\n")
    trial.cancel()
    kept = git(trial.project, "branch", "--list", "fairlead/*").split()
    assert [git(trial.project, "show", f"{each}:b.txt") for each in kept] == ["by hand"]
    assert not place.exists()


def test_an_approved_task_without_a_change_keeps_its_branch_while_the_job_waits(
    tmp_path: Path,
) -> None:
    plan = PlanText("01-01", [("README.md", "test -f README.md")], extra=LOOK)
    trial, _ = stated(tmp_path, plan, agent=FakeAgent(does_nothing))
    assert trial.run().job.status is JobStatus.BLOCKED
    git(trial.project, "reflog", "expire", "--expire=now", "--all")
    git(trial.project, "gc", "-q", "--prune=now")
    trial.answer("approved")
    assert trial.run().job.status is JobStatus.DONE
    assert git(trial.project, "branch", "--list", "fairlead/*") == ""


def test_the_worktrees_of_landed_plans_do_not_pile_up(tmp_path: Path) -> None:
    plans = [a_plan(f"01-{number:02d}", f"f{number}.txt") for number in range(1, 13)]
    project = a_project(tmp_path / "project", *plans)
    most = 0

    def act(order: AgentCall, call: int) -> Mapping[str, object] | CallResult:
        nonlocal most
        most = max(most, len(list((project / ".git/worktrees").iterdir())))
        return succeeds(order, call)

    trial = ExecutionTrial(project, agent=FakeAgent(act), slots=1)
    assert trial.run().job.status is JobStatus.DONE
    assert most <= 10  # eight that have landed, one that lands and one that works
    assert git(project, "branch", "--list", "fairlead/*") == ""
    assert git(project, "status", "--porcelain") == ""


def test_the_commit_of_a_plan_has_no_gate_of_another_plan(tmp_path: Path) -> None:
    project = a_project(tmp_path / "project", a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"))
    trial = ExecutionTrial(project, slots=2)
    assert trial.run().job.status is JobStatus.DONE
    for plan, other in (("01-01", "01-02"), ("01-02", "01-01")):
        commit = git(project, "log", "--format=%H", f"--grep=^docs({plan})")
        names = git(project, "show", "--name-only", "--format=", commit)
        assert f"gates/{plan}-01.json" in names
        assert f"gates/{other}-01.json" not in names
    assert git(project, "status", "--porcelain") == ""
