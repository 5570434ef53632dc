"""A phase carried out: every way through the gate, with real files and a real git."""

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fairlead.adapters.git import Git
from fairlead.engine.jobs import Jobs
from fairlead.engine.sessions import Sessions
from fairlead.errors import (
    DocumentError,
    GitFault,
    LockBusy,
    NoQuestion,
    NothingCame,
    PlansNotApproved,
    PlansUnfit,
    TreeDirty,
)
from fairlead.model.agent_events import Ending, EndKind
from fairlead.model.agent_orders import Order
from fairlead.model.budget import Caps
from fairlead.model.job import JobStatus, Share
from fairlead.records.gate import OpenTask
from fairlead.records.plan_sheet import read_plan
from fairlead.records.tasks import Outcome as TaskOutcome
from fairlead.records.tasks import TaskResult
from fairlead.store.files import Files, Outcome
from fairlead.store.jobs import JobFiles
from fairlead.values import replace
from fairlead.wiring import App
from tests.support.execution import (
    LOOK,
    PlanText,
    Told,
    Works,
    a_plan,
    a_project,
    commits_of,
    does_it,
)
from tests.support.repositories import git, written


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def works(tmp_path: Path, *plans: PlanText, agent: Told | None = None, **more: object) -> Works:
    return Works(a_project(tmp_path / "p", *plans), agent or Told(), **more)  # type: ignore[arg-type]


BOXES = "\n- [ ] Task 1: make a\n- [ ] Task 2: make b\n"


def test_two_waves_end_in_merged_and_verified_commits(tmp_path: Path) -> None:
    site = works(
        tmp_path, a_plan("01-01", "a.txt", "b.txt"), a_plan("01-02", "c.txt", depends_on=["01-01"])
    )
    report = site.run()
    assert (report.job.status, report.plans) == (JobStatus.DONE, (("01-01", True), ("01-02", True)))
    assert all((site.project / name).exists() for name in ("a.txt", "b.txt", "c.txt"))
    assert [each for each in commits_of(site.project) if "merge" in each] == [
        "merge(01-02): Make c.txt.",
        "merge(01-01): Make a.txt, b.txt.",
    ]
    assert git(site.project, "status", "--porcelain") == ""
    assert git(site.project, "branch", "--list", "fairlead/*") == ""


def test_a_limit_for_one_kind_of_agent_comes_from_the_settings_and_is_said(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), shares="told=1")
    assert site.run().job.status is JobStatus.DONE
    assert [each.rpartition(" ")[2] for each in site.happened[:2]] == ["started", "note"]
    written(site.project / ".planning/config.json", '{"fairlead": {"provider_slots": "codex=1"}}\n')
    terms = App(str(site.project)).terms(model="", slots=None, is_rehearsed=False)
    assert terms.shares == (Share("codex", 1),)


def test_a_failed_verify_is_tried_again_with_what_went_wrong(tmp_path: Path) -> None:
    def first_forgets(order, call):
        if call == 1 and not order.is_read_only:
            return {"status": "success", "done_criteria_met": True, "evidence": "x", "error": None}
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(first_forgets))
    assert site.run().job.status is JobStatus.DONE
    second = [order for order in site.agent.orders if not order.is_read_only][1]
    assert "VERIFY_FAILURE" in second.prompt
    assert second.prompt.index("VERIFY_FAILURE") < second.prompt.index("<task")


def test_a_success_that_tells_of_a_failed_verify_is_a_failed_verify(tmp_path: Path) -> None:
    def honest(order, call):
        done = does_it(order, call)
        if call == 1 and not order.is_read_only:
            return {**done, "verification": {"command": "test -f a.txt", "exit_code": 1}}
        return done

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(honest))
    assert site.run().job.status is JobStatus.DONE
    assert [each for each in site.happened if "verify" in each] == [
        "01-01-01 verify-failed",
        "01-01-01 verify-passed",
    ]
    second = [order for order in site.agent.orders if not order.is_read_only][1]
    assert "VERIFY_FAILURE" in second.prompt


def test_an_estimate_follows_what_calls_took_before(tmp_path: Path) -> None:
    plans = [a_plan(f"01-0{number}", f"{number}.txt") for number in (1, 2, 3, 4)]
    site = works(tmp_path, *plans)
    before = site.execution.preview("1").estimate
    assert before == site.run().job.estimate
    written(site.project / ".planning/phases/01-work/01-05-PLAN.md", a_plan("01-05", "5.txt").text)
    after = site.execution.preview("1")
    assert (after.spent[0].tokens, after.spent[1].tokens) == (0, 8 * 1100)
    assert after.estimate.tokens == pytest.approx(2 * 1100, rel=0.2)


def test_a_rejection_goes_back_to_the_executor_with_the_feedback(tmp_path: Path) -> None:
    def rejects_once(order, call):
        if order.is_read_only and call == 1:
            return {"verdict": "REJECTED", "feedback": "say hello in a.txt"}
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(rejects_once))
    assert site.run().job.status is JobStatus.DONE
    assert "say hello in a.txt" in [o for o in site.agent.orders if not o.is_read_only][1].prompt


def test_after_the_last_attempt_a_person_is_asked_and_the_answer_is_binding(tmp_path: Path) -> None:
    def needs_a_hint(order, call):
        if order.is_read_only or "use the blue one" in order.prompt:
            return does_it(order, call)
        return {"status": "failure", "done_criteria_met": False, "error": "which one?"}

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(needs_a_hint))
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert len(site.agent.orders) == 3
    site.answer("fix: use the blue one")
    assert site.run().job.status is JobStatus.DONE


def test_a_plan_that_was_skipped_in_part_is_not_complete(tmp_path: Path) -> None:
    def fails(order, call):
        if "a.txt" in order.prompt and "b.txt" not in order.prompt.partition("<task")[2]:
            return {"status": "failure", "done_criteria_met": False, "error": "no"}
        return does_it(order, call)

    plan = a_plan("01-01", "a.txt", "b.txt", extra=BOXES)
    site = works(tmp_path, plan, agent=Told(fails))
    site.run()
    site.answer("skip")
    ended = site.run()
    assert (ended.job.status, ended.plans) == (JobStatus.FAILED, (("01-01", False),))
    assert "01-01" in ended.job.note
    phase = site.project / ".planning/phases/01-work"
    summary = (phase / "01-01-SUMMARY.md").read_text()
    assert "Self-Check: FAILED" in summary
    assert "status: partial" in summary
    assert (site.project / "b.txt").exists()
    assert "- [ ] Task 1: make a\n- [x] Task 2: make b (completed 20" in (
        phase / "01-01-PLAN.md"
    ).read_text("utf-8")


def test_what_stands_on_a_plan_that_was_left_out_goes_on_and_is_warned_about(
    tmp_path: Path,
) -> None:
    first, *rest = (a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"]))
    site = works(tmp_path, first, *rest, a_plan("01-03", "c.txt", depends_on=["01-02"]))

    def fails(order: Order, call: int) -> object:
        is_first = "Write a.txt" in order.prompt and not order.is_read_only
        failed = {"status": "failure", "done_criteria_met": False, "error": "no"}
        return failed if is_first else does_it(order, call)

    site.agent.act = fails  # type: ignore[assignment]
    site.run()
    site.answer("skip")
    ended = site.run()
    assert ended.plans == (("01-01", False), ("01-02", True), ("01-03", True))
    assert "01-02-01 note" in site.happened
    assert site.happened.index("01-02-01 note") < site.happened.index("01-02-01 executing")
    assert ended.job.note.endswith("done without what it needs: 01-02, 01-03")
    journal = next((site.project / ".planning/jobs").glob("*/events.jsonl")).read_text()
    assert "01-03 needs what is not done, as its summary says: 01-01" in journal
    warnings = site.execution.preview("1").warnings
    assert [each for each in warnings if "needs" in each] == [
        f"01-0{number} needs what is not done, as its summary says: 01-01" for number in (2, 3)
    ]


def test_a_plan_that_is_not_done_by_its_own_summary_is_begun_again(tmp_path: Path) -> None:
    def fails_first(order, call):
        if call <= 3 and not order.is_read_only:
            return {"status": "failure", "done_criteria_met": False, "error": "no"}
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(fails_first))
    site.run()
    site.answer("skip")
    first = site.run()
    assert "self-check failed" in " ".join(site.execution.preview("1").warnings)
    again = site.run()
    assert again.job.id != first.job.id
    assert (again.job.status, again.plans) == (JobStatus.DONE, (("01-01", True),))
    assert (site.project / "a.txt").exists()
    kept = site.project / ".planning/.fairlead/removed"
    assert any("SUMMARY" in each.name for each in kept.iterdir())


def test_a_plan_that_was_ticked_before_is_carried_out(tmp_path: Path) -> None:
    boxes = "\n- [x] Task 1: make a (completed 2026-05-01)\n- [ ] Task 2: make b  \n"
    site = works(tmp_path, a_plan("01-01", "a.txt", "b.txt", extra=boxes))
    assert site.run().job.status is JobStatus.DONE


def test_the_boxes_of_a_plan_are_ticked_and_its_approval_stands(tmp_path: Path) -> None:
    plan = a_plan("01-01", "a.txt", "b.txt", extra=BOXES)
    site = works(tmp_path, plan, a_plan("01-02", "c.txt"))
    site.run()
    path = ".planning/phases/01-work/01-01-PLAN.md"
    ticked = (site.project / path).read_text("utf-8")
    assert ticked.count("[x] Task ") == 2
    assert git(site.project, "status", "--porcelain") == ""
    held = git(site.project, "log", "--format=%s", "-1", "--", path)
    assert held == "docs(01-01): complete plan: Make a.txt, b.txt."
    assert read_plan(path, ticked).digest == read_plan(path, plan.text).digest


def _fails_its_verify(order: Order, call: int) -> dict[str, object]:
    """An executor that says it is done and leaves something else than the command wants."""
    if not order.is_read_only:
        (Path(order.folder) / "other.txt").write_text("not what was asked")
    return {"status": "success", "done_criteria_met": True, "evidence": "see other.txt"}


def test_the_work_of_a_task_that_was_left_out_does_not_land(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(_fails_its_verify))
    site.run()
    site.answer("skip")
    report = site.run()
    assert not (site.project / "other.txt").exists()
    listed = git(site.project, "branch", "--list", "fairlead/*", "--format=%(refname:short)")
    assert list(report.kept_branches) == listed.split()


def test_a_verification_is_skipped_only_for_a_reason_that_counts(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(_fails_its_verify))
    site.run()
    with pytest.raises(NoQuestion, match="skip-verify: known false negative"):
        site.answer("skip-verify: it is too slow")
    site.answer("skip-verify: known false negative, see the log")
    asked = site.run()
    assert asked.job.status is JobStatus.BLOCKED  # nothing unverified lands on its own
    assert not (site.project / "other.txt").exists()
    site.answer("accept")
    assert site.run().job.status is JobStatus.DONE
    assert (site.project / "other.txt").exists()
    summary = (site.project / ".planning/phases/01-work/01-01-SUMMARY.md").read_text()
    assert "not verified, accepted by a person" in summary
    ledger = (site.project / ".planning/ledger/01-01.jsonl").read_text()
    assert '"verdict": "verify"' in ledger or '"verdict":"verify"' in ledger


def test_everything_is_overruled_only_with_the_typed_word(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(_fails_its_verify))
    site.run()
    for answer in ("override: please", "override: OVERRIDE", "override: override since I say so"):
        with pytest.raises(NoQuestion):
            site.answer(answer)
    site.answer("override: OVERRIDE the command is for another system")
    site.run()
    site.answer("accept")
    assert site.run().job.status is JobStatus.DONE
    summary = (site.project / ".planning/phases/01-work/01-01-SUMMARY.md").read_text()
    assert "forced by a person" in summary


def test_a_blocked_task_waits_for_the_plan_that_makes_what_it_needs(tmp_path: Path) -> None:
    def needs_b(order, call):
        if not order.is_read_only and "Write a.txt" in order.prompt:
            if not (Path(order.folder) / "b.txt").exists():
                return {
                    "status": "blocked",
                    "done_criteria_met": False,
                    "error": "b.txt is missing",
                }
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), agent=Told(needs_b))
    site.slots = 1
    assert site.run().job.status is JobStatus.DONE
    assert (site.project / "a.txt").exists()


def test_unapproved_plans_run_no_command(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    execution = site.execution
    with pytest.raises(PlansNotApproved):
        execution.require_ready(execution.preview("1"))


def test_a_plan_without_a_verify_command_is_refused_with_its_line(tmp_path: Path) -> None:
    site = works(tmp_path, PlanText("01-01", [("a.txt", "Look at it and see that it is good")]))
    with pytest.raises(PlansUnfit) as refused:
        site.run()
    assert "01-01-PLAN.md:" in str(refused.value)


def test_a_verify_command_that_the_shell_refuses_is_told_before_any_call(tmp_path: Path) -> None:
    site = works(tmp_path, PlanText("01-01", [("a.txt", "test -f a.txt &amp;&amp; (true")]))
    with pytest.raises(PlansUnfit, match=r"PLAN\.md:18: the verify command cannot be run: /bin/sh"):
        site.run()
    assert site.agent.orders == []


def test_work_that_is_not_committed_is_left_alone(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    written(site.project / "README.md", "being written\n")
    with pytest.raises(TreeDirty):
        site.run()


def _branches_with(project: Path, commit: str) -> str:
    return git(project, "for-each-ref", "--contains", commit, "refs/heads/")


def test_undeclared_deletions_stop_the_merge_of_that_plan_alone(tmp_path: Path) -> None:
    def deletes(order, call):
        if "Write a.txt" in order.prompt and not order.is_read_only:
            (Path(order.folder) / "README.md").unlink()
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), agent=Told(deletes))
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert dict(report.plans) == {"01-01": False, "01-02": True}
    assert (site.project / "README.md").exists()
    assert "README.md" in report.questions[0].text
    work = site.jobs.one("").gates[0].commit
    assert _branches_with(site.project, work)
    site.answer("abort")
    site.run()
    assert _branches_with(site.project, work)


def test_a_deletion_that_the_plan_declares_lands(tmp_path: Path) -> None:
    def deletes(order, call):
        if not order.is_read_only:
            (Path(order.folder) / "README.md").unlink()
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(deletes))
    path = site.project / ".planning/phases/01-work/01-01-PLAN.md"
    path.write_text(
        path.read_text().replace("autonomous", "files_deleted: [README.md]\nautonomous")
    )
    git(site.project, "commit", "-qam", "plan")
    assert site.run().job.status is JobStatus.DONE
    assert not (site.project / "README.md").exists()


def test_a_clash_is_reported_with_both_sides_and_nothing_is_lost(tmp_path: Path) -> None:
    def both_write(order, call):
        if not order.is_read_only:
            written(Path(order.folder) / "shared.txt", f"by {order.raw[-30:]}\n")
        return does_it(order, call)

    site = works(
        tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), agent=Told(both_write)
    )
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert sum(is_done for _, is_done in report.plans) == 1
    [question] = report.questions
    assert "shared.txt" in question.text
    assert {line[:4] for line in question.details} == {"--- ", "+++ ", "@@ -", "-by ", "+by "}
    wanted = question.text.partition("git merge ")[2].partition(",")[0]
    git(site.project, "merge", "-X", "ours", "-m", "settled", wanted)
    site.answer("accept")
    assert site.run().job.status is JobStatus.DONE


@pytest.mark.parametrize(
    "touch",
    [
        lambda order: git(Path(order.folder), "branch", "mine"),
        lambda order: git(Path(order.folder), "config", "user.name", "Me"),
        lambda order: git(Path(order.folder), "update-ref", "refs/heads/main", "HEAD~0^{commit}"),
    ],
)
def test_an_agent_that_touches_what_is_not_its_own_stops_the_job(tmp_path: Path, touch) -> None:
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
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(touches))
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert "was changed" in report.questions[0].text
    assert not (site.project / "a.txt").exists()


def test_changes_below_planning_stay_on_the_branch(tmp_path: Path) -> None:
    def meddles(order, call):
        if not order.is_read_only:
            written(Path(order.folder) / ".planning/STATE.md", "all done, believe me\n")
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(meddles))
    assert site.run().job.status is JobStatus.DONE
    assert "believe me" not in (site.project / ".planning/STATE.md").read_text()
    [kept] = git(site.project, "branch", "--list", "--format=%(refname)", "fairlead/*").splitlines()
    assert "believe me" in git(site.project, "show", f"{kept}:.planning/STATE.md")


def test_a_branch_whose_work_landed_goes_although_the_agent_committed_itself(
    tmp_path: Path,
) -> None:
    def commits(order, call):
        answer = does_it(order, call)
        if not order.is_read_only:
            git(Path(order.folder), "add", "--all")
            git(Path(order.folder), "commit", "-q", "-m", "mine")
        return answer

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(commits))
    assert site.run().job.status is JobStatus.DONE
    assert git(site.project, "branch", "--list", "fairlead/*") == ""


def test_a_rate_limit_uses_no_attempt_and_says_until_when(tmp_path: Path) -> None:
    def limited(order, call):
        if call == 1 and not order.is_read_only:
            return Ending(EndKind.RATE_LIMITED, retry_after=0.01, error="later")
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt"), agent=Told(limited))
    report = site.run()
    assert report.job.status is JobStatus.DONE
    assert any("patience" in each for each in site.happened)


def test_a_budget_that_would_be_passed_stops_before_the_call(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"), caps=Caps(run_tokens=100))
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert site.agent.orders == []


def test_a_checkpoint_waits_for_its_answer_and_the_next_task_knows_it(tmp_path: Path) -> None:
    decision = (
        '<task type="checkpoint:decision" gate="blocking">\n<decision>Which colour?</decision>\n'
        '<context>c</context>\n<options>\n<option id="red"><name>Red</name><pros>p</pros>'
        "<cons>c</cons></option>\n</options>\n<resume-signal>Pick</resume-signal>\n</task>\n"
        '<task type="auto">\n<name>Task 3: paint</name>\n<files>b.txt</files>\n'
        "<action>Paint b.txt.</action>\n<verify>test -f b.txt</verify>\n<done>b</done>\n</task>\n"
    )
    site = works(tmp_path, a_plan("01-01", "a.txt", extra=decision))
    assert site.run().job.status is JobStatus.BLOCKED
    site.answer("red")
    assert site.run().job.status is JobStatus.DONE
    assert "Which colour?" in site.agent.orders[-2].prompt
    assert ": red" in site.agent.orders[-2].prompt


def test_what_a_person_finds_wrong_at_a_checkpoint_is_mended_and_shown_again(
    tmp_path: Path,
) -> None:
    def adds(order, call):
        if not order.is_read_only:
            path = Path(order.folder) / "a.txt"
            path.write_text(f"{path.read_text() if path.exists() else ''}{call}\n")
            return {"status": "success", "done_criteria_met": True, "evidence": "made"}
        return does_it(order, call)

    site = works(tmp_path, a_plan("01-01", "a.txt", extra=LOOK), agent=Told(adds))
    for answer in ("fix: make it blue", "fix: now red", "approved"):
        asked = site.run()
        assert asked.job.status is JobStatus.BLOCKED
        assert not asked.questions[-1].answer
        site.answer(answer)
    assert site.run().job.status is JobStatus.DONE
    assert (site.project / "a.txt").read_text() == "1\n2\n3\n"
    prompts = [order.prompt for order in site.agent.orders if not order.is_read_only]
    assert [("make it blue" in each, "now red" in each) for each in prompts] == [
        (False, False),
        (True, False),
        (False, True),
    ]


def test_a_summary_of_another_name_proves_what_others_stand_on(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"]))
    written(site.project / ".planning/phases/01-work/01-01-a-word-SUMMARY.md", "# Done\n")
    report = site.run()
    assert (report.job.status, report.plans) == (JobStatus.DONE, (("01-02", True),))


def test_an_empty_summary_proves_nothing(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    summary = site.project / ".planning/phases/01-work/01-01-SUMMARY.md"
    written(summary, "\n")
    assert site.run().job.status is JobStatus.DONE
    assert (site.project / "a.txt").exists()
    assert "Self-Check: PASSED" in summary.read_text()


def test_what_a_person_should_know_is_said_before_anything_begins(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"))
    written(
        site.project / ".planning/phases/01-work/01-01-SUMMARY.md", "---\nplan: 07\n---\n# It\n"
    )
    git(site.project, "config", "--unset", "user.email")
    warnings = " ".join(site.execution.preview("1").warnings)
    assert "commits carry our name" in warnings
    assert "01-01-SUMMARY.md speaks of plan 07, not of 01-01" in warnings


def test_following_a_job_that_nobody_carries_on_comes_to_an_end(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    site.run()
    record = next((site.project / ".planning/jobs").glob("*/job.json"))
    written(record, record.read_text().replace('"DONE"', '"EXECUTING"'))
    files = Files(str(site.project))
    jobs = Jobs(files, site.state, site.clock, lambda: pytest.fail("it waits"))
    assert list(jobs.follow(""))[-1].endswith("go on with: fairlead phase execute 01")


def test_the_state_says_at_which_plan_the_work_stopped(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    path = site.project / ".planning/STATE.md"
    path.write_text(f"{path.read_text()}\n## Session\n\nStopped at: Project initialized\n")
    git(site.project, "commit", "-qam", "state")
    site.run()
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


def stated(tmp_path: Path, *plans: PlanText, agent: Told) -> tuple[Works, Path]:
    site = works(tmp_path, *plans, agent=agent)
    path = site.project / ".planning/STATE.md"
    path.write_text(STATED)
    git(site.project, "commit", "-qam", "state")
    return site, path


def rejecting(*calls: int) -> Told:
    def rejects(order: Order, call: int) -> object:
        if order.is_read_only and call in calls:
            return {"verdict": "REJECTED", "feedback": f"{'no' * call}, \x1b[31mnever"}
        return does_it(order, call)

    return Told(rejects)  # type: ignore[arg-type]


def test_no_call_is_paid_for_before_the_state_has_told_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    show = Sessions.show

    def shows_late(*step: Any) -> object:
        time.sleep(0.3)
        return show(*step)

    monkeypatch.setattr(Sessions, "show", shows_late)

    def looks(order: Order, call: int) -> object:
        gate = re.search(r"^  gate_status: (.*)$", path.read_text(), re.MULTILINE)
        told.append((str(order.role), gate[1] if gate else "nothing"))
        return does_it(order, call)

    site, path = stated(tmp_path, a_plan("01-01", "a.txt", "b.txt"), agent=Told(looks))  # type: ignore[arg-type]
    assert site.run().job.status is JobStatus.DONE
    assert told == [("executor", "EXECUTING"), ("architect", "REVIEWING")] * 2


def test_a_state_that_cannot_follow_ends_the_run_before_the_next_call(tmp_path: Path) -> None:
    called: list[str] = []

    def breaks(order: Order, call: int) -> object:
        called.append(str(order.role))
        path.write_bytes(b"\xff\xfe")
        return does_it(order, call)

    site, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=Told(breaks))  # type: ignore[arg-type]
    with pytest.raises(DocumentError):
        site.run()
    assert called == ["executor"]
    assert path.read_bytes() == b"\xff\xfe"


def test_what_a_run_could_not_tell_of_a_task_the_next_one_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = Sessions.show

    def shows(self: Sessions, task: OpenTask, result: TaskResult | None = None) -> Outcome:
        if result and result.outcome is TaskOutcome.SUCCESS:
            raise LockBusy(10, "somebody")
        return show(self, task, result)

    plan = a_plan("01-01", "a.txt", "b.txt")
    site, path = stated(tmp_path, plan, agent=rejecting(1))
    monkeypatch.setattr(Sessions, "show", shows)
    with pytest.raises(LockBusy):
        site.run()
    assert "\n- Task 1: make a.txt" in path.read_text()  # the concern of its first attempt
    monkeypatch.undo()

    assert Works(site.project).run().job.status is JobStatus.DONE
    assert "\n- Task 1: make a.txt" not in path.read_text()


def test_the_first_problem_of_a_run_is_the_one_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> Outcome:
        time.sleep(0.2)  # until the agent's folder could not be made
        raise LockBusy(10, "somebody")

    def fails(*_: object) -> None:
        raise GitFault("worktree", "no room")

    site = works(tmp_path, a_plan("01-01", "a.txt"))
    monkeypatch.setattr(Sessions, "show", busy)
    monkeypatch.setattr(Git, "prepare", fails)
    with pytest.raises(GitFault):
        site.run()


def test_a_failed_task_is_the_last_activity_and_a_concern(tmp_path: Path) -> None:
    site, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1, 2))
    assert site.run().job.status is JobStatus.BLOCKED
    said = path.read_text()
    assert "Status: In progress\nLast activity: 2026-06-01 - Failed: Task 1: make a.txt\n" in said
    assert "Stopped at: Project initialized\nResume file: .planning/.continue-here" in said
    assert said.count("- Task 1: make a.txt: ") == 1
    assert "- Task 1: make a.txt: nono, \\x1b[31mnever\n" in said
    assert "status: executing\n" in said


def test_what_a_killed_run_could_not_say_is_said_by_the_next(tmp_path: Path) -> None:
    site, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1, 2))
    places = (path, site.project / ".planning/.continue-here.md")
    before: dict[Path, str] = {}
    rejects = site.agent.act

    def looks(order: Order, call: int) -> object:
        before.update({each: each.read_text() for each in places})
        return rejects(order, call)

    site.agent.act = looks  # type: ignore[assignment]
    site.run()
    said = path.read_text()
    for place, text in before.items():
        place.write_text(text)
    site.run()
    assert "Failed:" in said
    assert path.read_text().partition("# State")[2] == said.partition("# State")[2]


def test_a_task_that_is_done_takes_its_concern_away_and_its_plan_has_its_time(
    tmp_path: Path,
) -> None:
    site, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1))
    assert site.run().job.status is JobStatus.DONE
    said = path.read_text()
    assert "Last activity: 2026-06-01 - Completed Task 1: make a.txt\n" in said
    assert "Blockers/Concerns\n\nNone." in said
    assert "Stopped at: Completed 01-01-PLAN.md\nResume file: None\n" in said
    assert "- Total plans completed: 1\n" in said
    assert "| Phase 1 P01 | 1 min | 1 tasks | 1 files |" in said
    assert "| 1. Work | 1 | 1 min | 1 min |" in said


@pytest.mark.parametrize("way", ["cancel", "abort"])
def test_a_job_that_a_person_ends_leaves_no_open_task_and_nothing_that_is_not_committed(
    tmp_path: Path, way: str
) -> None:
    site, path = stated(
        tmp_path, a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"), agent=rejecting(1, 2)
    )
    site.run()
    assert "- Task 1: make b.txt: " in path.read_text()
    assert len([*path.parent.glob(".continue-here*")]) == 2
    if way == "cancel":
        site.cancel()
    else:
        asked = site.jobs.one("")
        site.jobs.answer(asked.job.id, "abort", asked.questions[0].id)
        site.run()
    assert site.jobs.one("").job.status is JobStatus.FAILED
    said = path.read_text()
    assert "current_task" not in said
    assert "Resume file: None\n" in said
    assert "Blockers/Concerns\n\nNone." in said
    assert [*path.parent.glob(".continue-here*")] == []
    assert git(site.project, "status", "--porcelain") == ""
    journal = next((site.project / ".planning/jobs").glob("*/events.jsonl")).read_text()
    assert '"finished"' in journal.splitlines()[-1]
    assert len(git(site.project, "worktree", "list").splitlines()) == 1
    kept = git(site.project, "branch", "--list", "fairlead/*").split()
    assert any(git(site.project, "ls-tree", "--name-only", each, "a.txt") for each in kept)


@pytest.mark.parametrize("end", ["cancel", "done"])
def test_a_job_that_has_ended_takes_no_answer(tmp_path: Path, end: str) -> None:
    site, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1, 2))
    asked = site.run()
    if end == "cancel":
        site.cancel()
    else:
        JobFiles(str(site.project), asked.job.id).save_job(
            replace(asked.job, status=JobStatus.DONE)
        )
    before = path.parent.joinpath("jobs").rglob("*.json")
    held = {each: each.read_bytes() for each in before}
    with pytest.raises(NoQuestion, match="has ended"):
        site.jobs.answer(asked.job.id, "skip", asked.questions[0].id)
    assert held == {each: each.read_bytes() for each in held}


def test_a_job_can_be_ended_where_no_document_is_committed(tmp_path: Path) -> None:
    site, _ = stated(tmp_path, a_plan("01-01", "a.txt"), agent=rejecting(1, 2))
    site.run()
    before = commits_of(site.project)
    site.jobs.cancel(site.jobs.one("").job.id, Git(str(site.project)), keeps_documents=False)
    assert commits_of(site.project) == before


def test_a_blocked_task_is_the_last_activity_and_a_concern(tmp_path: Path) -> None:
    told = {"status": "blocked", "done_criteria_met": False, "error": "no key"}
    site, path = stated(tmp_path, a_plan("01-01", "a.txt"), agent=Told(lambda *_: told))
    assert site.run().job.status is JobStatus.BLOCKED
    said = path.read_text()
    assert "Status: In progress\nLast activity: 2026-06-01 - Blocked: Task 1: make a.txt\n" in said
    assert "\n- Task 1: make a.txt: " in said


def test_a_step_that_changes_nothing_is_not_taken_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    monkeypatch.setattr("fairlead.engine.landing.Landing.merge", lambda _, plan: taken.append(plan))
    site, _ = stated(tmp_path, a_plan("01-01", "a.txt"), agent=Told())
    with pytest.raises(NothingCame, match="merge:01-01"):
        site.run()
    assert 1 < len(taken) < 9


def does_nothing(order: Order, call: int) -> Mapping[str, object]:
    """An agent that says that it is done, and has changed nothing."""
    return does_it(replace(order, prompt=""), call)


def test_what_a_person_left_in_the_worktree_of_an_attempt_is_kept(tmp_path: Path) -> None:
    site, _ = stated(tmp_path, a_plan("01-01", "a.txt"), agent=Told(does_nothing))
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    [place] = Path(site.state.folder).glob("runs/*/*/worktrees/*")
    written(place / "b.txt", "by hand\n")
    site.cancel()
    kept = git(site.project, "branch", "--list", "fairlead/*").split()
    assert [git(site.project, "show", f"{each}:b.txt") for each in kept] == ["by hand"]
    assert not place.exists()


def test_an_approved_task_without_a_change_keeps_its_branch_while_the_job_waits(
    tmp_path: Path,
) -> None:
    plan = PlanText("01-01", [("README.md", "test -f README.md")], extra=LOOK)
    site, _ = stated(tmp_path, plan, agent=Told(does_nothing))
    assert site.run().job.status is JobStatus.BLOCKED
    git(site.project, "reflog", "expire", "--expire=now", "--all")
    git(site.project, "gc", "-q", "--prune=now")
    site.answer("approved")
    assert site.run().job.status is JobStatus.DONE
    assert git(site.project, "branch", "--list", "fairlead/*") == ""
