"""Whole council jobs: which models are asked, what is stored, how jobs end, rulings and stops."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.agents.budget import Caps, Cost
from fairlead.agents.errors import AgentRefused
from fairlead.agents.model import AgentCall, CallResult, EndKind, TokenUsage
from fairlead.agents.scripted.council import answer
from fairlead.core.concurrency import OneTimeEvent
from fairlead.council.context import CouncilOptions
from fairlead.council.errors import JobNotOver, JobTransition, NothingToRule, NotRetried
from fairlead.council.folder import leave_stop_request
from fairlead.council.model import CouncilJob, PmRecord
from fairlead.council.report import council_report
from fairlead.council.seats import SEAT_NAMES, SYNTHESISER
from fairlead.jobs.errors import RunBusy, UnknownJob
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.loop import the_only_run
from fairlead.jobs.model import Job, JobStatus, Question, QuestionKind
from fairlead.jobs.paths import run_lock
from fairlead.vcs.copies import ScratchFolders, workspace_of
from tests.support.council_runs import ScriptedModel, a_council, a_council_without_git, fails
from tests.support.execution import SteppingClock, succeeds
from tests.support.repositories import a_repository, git


def once(text: str, then=answer):
    """Answer with this text the first time, and like the scripted agent after that."""
    prompts = []

    def says(prompt: str):
        prompts.append(prompt)
        return text if len(prompts) == 1 else then(prompt)

    return says


def revises(prompt: str) -> str:
    """Vote REVISE in every round, always for the same reason."""
    script = answer(prompt)
    if "Vote on the master plan" not in prompt:
        return script
    nonce = script.rpartition("VERDICT ")[2].partition(":")[0]
    return f"- [scope] step 1: nobody asked for this file at all | leave it out\n\nVERDICT {nonce}: REVISE"


def why(job: CouncilJob) -> str:
    """Return the reason of a blocked job."""
    return job.blocker_reason or ""


def stopped_by(job: CouncilJob) -> str:
    """Return the seat that vetoed, or `operator`."""
    return job.veto.by if job.veto else ""


def plan_of(job: CouncilJob) -> str:
    """Return the hash of the master plan."""
    return job.master_plan.sha256 if job.master_plan else ""


def _approves(prompt: str) -> str:
    return answer(prompt).replace("step 1: the plan", "the plan").replace(": REVISE", ": APPROVE")


def test_an_approved_job_stores_every_answer(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.run()
    assert (job.status, job.review_round) == ("APPROVED", 2)
    assert [ballot.vote for ballot in job.council_votes] == ["APPROVE"] * 6
    assert len([ballot for ballot in job.cumulative_votes if ballot.final]) == 12
    assert {ballot.plan_sha256 for ballot in job.council_votes} == {plan_of(job)}
    folder = council.project / f".planning/jobs/{job.id}"
    raw = {str(path.relative_to(folder)) for path in folder.glob("raw/*/*.md")}
    assert raw == {f"raw/r{at}/{seat}.md" for at in range(3) for seat in SEAT_NAMES} | {
        "raw/synthesis/v1.md",
        "raw/synthesis/v2.md",
    }
    assert sorted(path.name for path in folder.glob("pm/*")) == [
        "audit.md",
        "refined.md",
        "research.md",
        "verify.md",
    ]


def test_a_second_run_of_an_approved_job_asks_no_model_again(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    first = council.run()
    asked = [who for who, _ in council.model.asked]
    assert len(asked) == 4 + 6 + 2 + 12
    assert set(asked) == {"pm", SYNTHESISER, *SEAT_NAMES}
    assert council.run(first.id) == first
    assert len(council.model.asked) == len(asked)


def test_seats_plan_and_vote_without_seeing_each_other(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    council.run()
    for who, prompt in council.model.asked:
        others = [seat for seat in SEAT_NAMES if seat != who and f"Seen by the {seat}" in prompt]
        assert not others or who == SYNTHESISER
    plans = next(prompt for who, prompt in council.model.asked if who == SYNTHESISER)
    assert [f"PLAN {letter}" in plans for letter in "ABCDEF"] == [True] * 6


def test_the_synthesiser_receives_every_plan_to_its_end(tmp_path: Path) -> None:
    def long(seat: str):
        end = f"\n{'x' * 90}" * 300 + f"\nthe last words of seat {seat}\n"
        return lambda prompt: answer(prompt) + ("" if "Vote on" in prompt else end)

    council = a_council(tmp_path, model=ScriptedModel({seat: long(seat) for seat in SEAT_NAMES}))
    assert council.run().status == "APPROVED"
    for who, prompt in council.model.asked:
        if who == SYNTHESISER:
            assert [seat for seat in SEAT_NAMES if f"last words of seat {seat}" not in prompt] == []


def test_changed_plan_files_do_not_change_what_is_voted_on(
    tmp_path: Path,
) -> None:
    council = a_council(tmp_path)
    folder = council.project / f".planning/jobs/{council.begin()}"

    def tampers(prompt: str) -> str:
        if "Vote on" in prompt:
            for name in ("master_plan.v1.md", "brief.md"):
                (folder / name).write_text((folder / name).read_text() + "\nand a hidden clause\n")
        return answer(prompt)

    council.model.says = {"builder": tampers}
    job = council.run(may_execute=True)
    assert not [who for who, prompt in council.model.asked if "hidden clause" in prompt]
    assert {ballot.plan_sha256 for ballot in job.council_votes} == {plan_of(job)}
    assert why(job) == "preflight: brief.md is not the brief that the plan was made for"


@pytest.mark.parametrize(
    ("fault", "seats"),
    [
        ("busy", ("builder",)),
        ("unpaid", ("security",)),
        ("garbled", ("architect", "builder", "skeptic")),
    ],
)
def test_a_seat_without_an_answer_never_counts_as_a_yes(tmp_path: Path, fault: str, seats) -> None:
    council = a_council(tmp_path, model=ScriptedModel(dict.fromkeys(seats, fails(fault))))
    job = council.run()
    assert job.status == "BLOCKED"
    code = why(job).partition(":")[0]
    is_short = "security" in seats or len(seats) > 2
    assert code == ("planning_quorum" if is_short else "review_quorum")
    assert all(seat in why(job) for seat in seats) or len(seats) > 2
    assert any("of 6 seats" in each for each in job.degraded)


def test_a_fallback_model_answers_for_a_failing_one(tmp_path: Path) -> None:
    council = a_council(
        tmp_path, model=ScriptedModel({"skeptic": fails("busy")}), stand_in=ScriptedModel()
    )
    job = council.run()
    assert job.status == "APPROVED"
    assert job.council_plans["skeptic"].family == "gemini"
    assert not job.degraded


def test_too_few_model_families_fail_the_quorum(tmp_path: Path) -> None:
    demanding = a_council(tmp_path / "a", options=CouncilOptions(min_families=3))
    assert why(demanding.run()).startswith("planning_quorum: the plans are of claude, gpt")


def test_an_unreadable_ballot_is_repaired_once(tmp_path: Path) -> None:
    council = a_council(tmp_path, model=ScriptedModel({"builder": _garbles_its_first_ballot()}))
    job = council.run()
    assert job.status == "APPROVED"
    repaired = [ballot for ballot in job.cumulative_votes if ballot.status == "repaired"]
    assert [ballot.seat for ballot in repaired] == ["builder"]


def _garbles_its_first_ballot():
    prompts = []

    def says(prompt: str) -> str:
        if "Vote on the master plan" in prompt:
            prompts.append(prompt)
            if len(prompts) == 1:
                return "I think that this is fine. VERDICT: probably APPROVE?"
        return answer(prompt)

    return says


def test_a_seat_sees_its_own_plan_and_ballot_that_counted(tmp_path: Path) -> None:
    ballots = _garbles_its_first_ballot()

    def says(prompt: str):
        if "Vote on" in prompt or "be shorter" in prompt:
            return ballots(prompt)
        return CallResult(
            EndKind.OK, "cut off " + answer(prompt), usage=TokenUsage(10, 0, 10), is_cut=True
        )

    council = a_council(tmp_path, model=ScriptedModel({"builder": says}))
    assert council.run().review_round == 2
    last = [prompt for who, prompt in council.model.asked if who == "builder"][-1]
    assert "cut off" not in last
    assert "probably APPROVE?" not in last


def test_a_truncated_plan_is_asked_for_again_in_a_shorter_form(tmp_path: Path) -> None:
    def cut(prompt: str):
        if "be shorter" in prompt or "Vote on" in prompt:
            return answer(prompt)
        return CallResult(EndKind.OK, answer(prompt), usage=TokenUsage(10, 0, 10), is_cut=True)

    council = a_council(tmp_path, model=ScriptedModel({"builder": cut}))
    job = council.run()
    assert job.status == "APPROVED"
    assert job.council_plans["builder"].raw == "raw/r0/builder.2.md"
    assert not job.council_plans["builder"].truncated


@pytest.mark.parametrize("who", [SYNTHESISER, "pm"])
def test_a_truncated_master_plan_or_brief_is_never_used(tmp_path: Path, who: str) -> None:
    def cut(prompt: str):
        return CallResult(EndKind.OK, answer(prompt), usage=TokenUsage(10, 0, 10), is_cut=True)

    council = a_council(tmp_path, model=ScriptedModel({who: cut}))
    job = council.run()
    assert "was cut off at its limit" in why(job)
    assert why(job).startswith("synthesis_failed" if who == SYNTHESISER else "pm_verify")
    assert [each for each, _ in council.model.asked].count(who) == (2 if who == SYNTHESISER else 6)


def _too_long(prompt: str) -> str:
    return answer(prompt) + "水" * 60_000 if "Vote on" not in prompt else answer(prompt)


def test_an_overlong_plan_is_asked_for_once_more_and_then_its_seat_is_absent(
    tmp_path: Path,
) -> None:
    council = a_council_without_git(tmp_path, model=ScriptedModel({"builder": _too_long}))
    job = council.run()
    plan = job.council_plans["builder"]
    assert (plan.status, plan.text) == ("absent", "")
    assert re.fullmatch("the plan has [0-9]+ tokens, more than 8192", plan.note)
    asked = [prompt for who, prompt in council.model.asked if who == "builder"]
    assert ["be shorter" in prompt for prompt in asked[:2]] == [False, True]
    assert "be shorter" not in "".join(asked[2:])
    raw = council.project / f".planning/jobs/{job.id}/raw/r0/builder.md"
    assert raw.read_text().count("水") == 60_000
    assert not [who for who, prompt in council.model.asked if "水" in prompt]
    assert "5 of 6 seats planned" in council.page(job)


def test_a_plan_that_is_short_the_second_time_counts(tmp_path: Path) -> None:
    def says(prompt: str) -> str:
        return answer(prompt) if "be shorter" in prompt else _too_long(prompt)

    job = a_council_without_git(tmp_path, model=ScriptedModel({"builder": says})).run()
    assert (job.status, job.council_plans["builder"].raw) == ("APPROVED", "raw/r0/builder.2.md")


@pytest.mark.parametrize(
    "audit",
    [
        "lorem ipsum " * 40,
        "## What exists\nNone\n",
        "## What exists\n- nowhere/at-all.py: great\n\n## Conflicts\nNone\n\n## Gaps\nNone\n",
    ],
)
def test_an_audit_that_is_none_fails_the_pm_whatever_the_model_says(
    tmp_path: Path, audit: str
) -> None:
    def says(prompt: str) -> str:
        return audit if "audit what" in prompt else answer(prompt)

    council = a_council_without_git(tmp_path, model=ScriptedModel({"pm": says}))
    assert why(council.run()).startswith("pm_verify: the answer to the audit pass is none: it ")
    assert len(council.model.asked) == 2


def test_a_faulty_master_plan_is_repaired_once_before_the_job_is_blocked(tmp_path: Path) -> None:
    broken = "# Notes\n\n## Goal\nNothing.\n"
    council = a_council(tmp_path / "a", model=ScriptedModel({SYNTHESISER: once(broken)}))
    assert council.run().status == "APPROVED"
    council = a_council(tmp_path / "b", model=ScriptedModel({SYNTHESISER: lambda _: broken}))
    job = council.run()
    assert why(job).startswith("synthesis_failed: the part 'Requirements' is missing")
    assert [who for who, _ in council.model.asked].count(SYNTHESISER) == 2


def test_an_unchanged_revision_is_a_deadlock_without_another_vote(tmp_path: Path) -> None:
    texts = []

    def stubborn(prompt: str) -> str:
        texts.append(answer(prompt))
        rows = "| builder-1 | declined | it was asked for in the request |\n| operator-1 | declined | no |\n"
        return f"{texts[0]}\n## Answers\n| id | answer | reason |\n|---|---|---|\n{rows}"

    council = a_council(tmp_path, model=ScriptedModel({SYNTHESISER: stubborn, "builder": revises}))
    job = council.run()
    assert why(job).startswith("deadlock_same_plan")
    assert "builder-1 step 1: nobody asked for this file at all" in why(job)
    assert "synthesiser: declined: it was asked for in the request" in why(job)
    assert council.service.rule(job.id, "builder-1", "It stays").about.startswith("step 1: nobody")
    assert len(council.model.asked) == 4 + 6 + 2 + 6


def test_a_ruling_ends_the_deadlock_of_a_seat_that_always_revises(
    tmp_path: Path,
) -> None:
    council = a_council(tmp_path, model=ScriptedModel({"builder": revises, "operator": _approves}))
    job = council.run()
    assert why(job).startswith("deadlock_stall")
    with pytest.raises(NothingToRule):
        council.service.rule(job.id, "builder-9", "no such thing")
    council.service.rule(job.id, "builder-1", "The file stays")
    child = council.service.retry(job.id)
    council.model.says = {}
    council.model.asked.clear()
    done = council.run(child)
    assert (done.status, done.parent_job_id) == ("APPROVED", job.id), why(done)
    asked = [who for who, _ in council.model.asked]
    assert asked[0] == SYNTHESISER  # the brief and the plans are those of the parent
    synthesis = next(prompt for who, prompt in council.model.asked if who == SYNTHESISER)
    assert "| builder-1: The file stays" in synthesis
    assert "| It was about: step 1: nobody asked for this file at all" in " ".join(
        synthesis.split()
    )


def test_a_retry_reuses_every_answer_to_an_unchanged_prompt(tmp_path: Path) -> None:
    council = a_council(tmp_path, model=ScriptedModel({"builder": revises}))
    job = council.run()
    assert job.status == "BLOCKED"
    council.model.asked.clear()
    again = council.run(council.service.retry(job.id))
    assert council.model.asked == []
    assert why(again) == why(job)
    assert again.usage.total_tokens == 0
    assert len(council.kinds("reused")) == len(
        [each for each in council.events if each.kind == "call"]
    )


def test_a_retry_repeats_the_calls_of_the_stage_that_failed(tmp_path: Path) -> None:
    broken = ScriptedModel({SYNTHESISER: lambda _: "# Notes\n\n## Goal\nNothing.\n"})
    council = a_council(tmp_path / "a", model=broken)
    job = council.run()
    assert why(job).startswith("synthesis_failed")
    council.model.says = {}
    assert council.run(council.service.retry(job.id)).status == "APPROVED"

    blind = ScriptedModel({"builder": _votes("- [scope] step 9: far too much | less", "REVISE")})
    council = a_council(tmp_path / "b", model=blind)
    job = council.run()
    assert why(job).startswith("review_quorum")
    council.model.says = {}
    assert council.run(council.service.retry(job.id)).status == "APPROVED"


def test_a_retry_of_a_degraded_approval_reaches_the_same_plan(
    tmp_path: Path,
) -> None:
    council = a_council(tmp_path, model=ScriptedModel({"builder": _plans_nothing}))
    job = council.run()
    assert (job.status, len(job.degraded)) == ("APPROVED", 1)
    stopped = council.service.stop(job.id, "cancel", "later")
    idle = council.service.stop(council.service.retry(stopped.id), "cancel", "later still")
    council.model.says = {}
    council.model.asked.clear()
    done = council.run(council.service.retry(idle.id))
    assert (done.status, plan_of(done)) == ("APPROVED", plan_of(job))
    assert council.model.asked == []


def _plans_nothing(prompt: str) -> str:
    return answer(prompt) if "Vote on" in prompt else "I am not sure."


def _votes(items: str, vote: str):
    """Vote in the same way in every round."""

    def says(prompt: str) -> str:
        script = answer(prompt)
        nonce = script.rpartition("VERDICT ")[2].partition(":")[0]
        return f"{items}\n\nVERDICT {nonce}: {vote}" if "Vote on" in prompt else script

    return says


def test_a_retry_with_another_request_reuses_nothing(tmp_path: Path) -> None:
    council = a_council(tmp_path, model=ScriptedModel({"builder": revises}))
    job = council.run()
    council.model.says = {}
    child = council.service.retry(job.id, "Lamps follow the moon")
    done = council.run(child)
    assert (done.status, done.request) == ("APPROVED", "Lamps follow the moon")
    assert not council.kinds("reused")


def test_a_veto_of_the_security_seat_blocks_the_job_with_its_evidence(tmp_path: Path) -> None:
    reason = "the file is written by anybody who can reach the share " * 3

    def vetoes(prompt: str) -> str:
        script = answer(prompt)
        nonce = script.rpartition("VERDICT ")[2].partition(":")[0]
        if "Vote on" not in prompt:
            return script
        return f"- [security, critical] step 1: {reason}| close it\n\nVERDICT {nonce}: VETO"

    job = a_council(tmp_path, model=ScriptedModel({"security": vetoes})).run()
    assert (job.status, stopped_by(job)) == ("BLOCKED", "security")
    assert why(job).startswith("veto: the security seat, step 1: the file is written")
    assert len(job.council_votes) == 6


def test_a_person_can_veto_a_job_before_its_execution(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.run()
    stopped = council.service.stop(job.id, "veto", "not this quarter")
    assert why(stopped) == "operator_veto: not this quarter"
    assert stopped_by(stopped) == "operator"
    assert council_report(stopped).next[0].commands == (f"fairlead job retry {job.id}",)
    with pytest.raises(JobTransition, match="cannot become"):
        council.service.stop(job.id, "cancel", "")


def test_a_veto_during_execution_is_ignored(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.begin()

    def late(order: AgentCall, call: int) -> Mapping[str, object]:
        leave_stop_request(council.service.folder(job), "veto", "too late")
        return succeeds(order, call)

    council.executor.act = late
    assert council.run(job, may_execute=True).status == "DONE"


def test_the_next_run_removes_the_scratch_copy_of_a_killed_run(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.run()
    place = min(council.model.folders)
    ScratchFolders(workspace_of(str(council.project))).make(
        place
    )  # killed as soon as all had approved
    council.run(job.id)
    assert not Path(place).exists()
    assert len(git(council.project, "worktree", "list").splitlines()) == 1


def test_a_seat_that_changes_protected_files_blocks_the_job(
    tmp_path: Path,
) -> None:
    council = a_council(tmp_path)

    hook = council.project / ".git/hooks/post-commit"

    def tampers(prompt: str) -> str:
        if not hook.exists():  # once: in a later round, others would see it half written
            hook.write_text("#!/bin/sh\n")
        return answer(prompt)

    council.model.says = {"advocate": tampers}
    job = council.run()
    assert why(job).startswith("internal: while ")
    assert why(job).endswith("was asked, this was changed: .git/hooks/post-commit")
    assert council.kinds("touched")
    assert council.run(council.service.retry(job.id)).status == "APPROVED"
    assert "advocate" in council.kinds("reused")


def test_the_running_process_obeys_a_cancel_request(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.begin()

    def cancels(prompt: str) -> str:
        leave_stop_request(council.service.folder(job), "cancel", "enough")
        return answer(prompt)

    council.model.says = {"builder": cancels}
    stopped = council.run(job)
    assert why(stopped) == "operator_cancel: enough"
    assert stopped.review_round == 0


def test_stopping_lets_running_calls_finish_and_starts_no_others(
    tmp_path: Path,
) -> None:
    stop = OneTimeEvent()

    def stops(prompt: str) -> str:
        stop.set()
        return answer(prompt)

    council = a_council(tmp_path, model=ScriptedModel({"security": stops}))
    stopped = council.run(stop=stop)
    assert (stopped.status, len(stopped.council_plans)) == ("COUNCIL_PLANNING", 6)
    assert len(council.model.asked) == 4 + 6
    assert council.run().status == "APPROVED"
    assert len(council.model.asked) == 4 + 6 + 2 + 12


def test_a_job_that_is_running_cannot_be_run_by_another_process(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.begin()
    assert council.begin() == job
    with the_only_run(str(council.project), "test", run_lock(job)), pytest.raises(RunBusy):
        council.run(job)


@pytest.mark.parametrize("name", ["j_20260101_0001", "../escape", "j_1/../../x", ""])
def test_an_unknown_job_id_never_becomes_a_path(tmp_path: Path, name: str) -> None:
    council = a_council(tmp_path)
    council.begin()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UnknownJob):
        council.service.stop(name, "cancel", "")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_unfinished_job_cannot_be_retried(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    with pytest.raises(JobNotOver):
        council.service.retry(council.begin())


def test_a_job_ends_before_a_stage_that_exceeds_the_budget(tmp_path: Path) -> None:
    council = a_council(tmp_path, caps=Caps(run_tokens=80_000))
    job = council.run()
    assert why(job).startswith("budget: this run would take")
    assert "limit is 80,000" in why(job)
    spent = job.usage.total_tokens
    assert 0 < spent < 80_000
    assert spent == sum(each.tokens for each in job.usage.by_stage.values())
    assert spent == sum(each.tokens for each in job.usage.by_seat.values())
    assert council.kinds("estimate")[:2] == ["PM_RUNNING", "COUNCIL_PLANNING"]


def test_the_budget_is_checked_for_all_passes_of_the_pm_at_once(tmp_path: Path) -> None:
    council = a_council(tmp_path, caps=Caps(run_tokens=50_000))
    assert why(council.run()).startswith("budget: this run would take 75,620 tokens")
    assert council.model.asked == []


def test_the_cost_of_stopped_calls_is_counted(tmp_path: Path) -> None:
    over = OneTimeEvent()

    def stopped(prompt: str):
        over.set()
        return CallResult(EndKind.KILLED, usage=TokenUsage(700, 0, 0), cost_usd=0.5)

    council = a_council(tmp_path, model=ScriptedModel({"builder": stopped}))
    job = council.run(over=over)
    assert job.council_plans.get("builder") is None
    assert job.usage.by_seat["builder"] == Cost(700, 0.5)
    council.model.says = {}
    done = council.run()
    assert done.status == "APPROVED"
    assert done.usage.by_seat["builder"].usd == pytest.approx(0.5 + 0.03)
    assert done.usage.by_stage["planning"].usd == pytest.approx(0.5 + 0.06)


def test_an_approved_plan_is_executed_and_proven_by_summaries(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.run(may_execute=True)
    assert (job.status, job.exec.plans, job.exec.summaries) == ("DONE", 2, 2)
    assert git(council.project, "status", "--short") == ""  # the record is kept with the work
    assert (council.project / "notes/goal.md").exists()
    [context] = (council.project / ".planning/phases").glob("02-*/02-CONTEXT.md")
    assert f"master_plan_sha256: {plan_of(job)}" in context.read_text()
    assert "## Dissent" in context.read_text()


def test_a_cancelled_execution_can_be_retried_with_the_same_plan(
    tmp_path: Path,
) -> None:
    council = a_council(tmp_path)
    council.executor.act = lambda order, _: (
        {"verdict": "APPROVED"} if order.is_read_only else {"status": "success", "error": None}
    )
    waiting = council.run(may_execute=True)
    assert waiting.status == "EXECUTING"
    stopped = council.service.stop(waiting.id, "cancel", "give up")
    assert (stopped.status, stopped.exec.reason) == ("FAILED", "cancelled")
    council.executor.act = succeeds
    done = council.run(council.service.retry(stopped.id), may_execute=True)
    assert (done.status, done.phase, done.exec.summaries) == ("DONE", stopped.phase, 2)
    assert plan_of(done) == plan_of(stopped)


def test_a_rehearsal_that_loses_its_output_fails(tmp_path: Path) -> None:
    council = a_council(tmp_path, is_rehearsed=True)

    def loses_it(order: AgentCall, call: int) -> Mapping[str, object]:
        result = succeeds(order, call)
        shutil.rmtree(Path(order.folder) / "notes", ignore_errors=True)
        return result

    council.executor.act = loses_it
    council.clock = SteppingClock(step_seconds=60)
    job = council.run(may_execute=True)
    assert (job.status, job.exec.reason, job.exec.summaries) == ("FAILED", "exec_failed", 0)


def test_a_ruling_answers_a_blocking_question(tmp_path: Path) -> None:
    asks = "## Open questions\n- Q1 [blocking]: which harbour is meant\n"

    def unsure(prompt: str) -> str:
        return answer(prompt).replace("## Open questions\nNone\n", asks)

    council = a_council(tmp_path, model=ScriptedModel({"pm": unsure}))
    job = council.run()
    assert why(job).startswith("pm_verify: Q1 blocks and is not answered")
    assert "which harbour is meant" in why(job)  # the person must know what to rule
    assert [who for who, _ in council.model.asked] == ["pm"] * 6  # a second cycle, and no more
    council.service.rule(job.id, "Q1", "The old one")
    done = council.run(council.service.retry(job.id))
    assert done.status == "APPROVED"
    assert any("| Q1: The old one" in prompt for who, prompt in council.model.asked if who == "pm")


def test_a_ruling_on_a_conflict_is_shown_on_the_job_page(tmp_path: Path) -> None:
    def finds_one(prompt: str) -> str:
        return answer(prompt).replace("## Conflicts\nNone\n", "## Conflicts\n- C1: no tide here\n")

    council = a_council(tmp_path, model=ScriptedModel({"pm": finds_one}))
    job = council.run()
    assert why(job) == "pm_verify: C1 contradicts the brief: no tide here"
    assert f"job rule {job.id} C1 " in council.page(job)
    with pytest.raises(NothingToRule):
        council.service.rule(job.id, "the", "Whatever")
    council.service.rule(job.id, "C1", "There is one")
    page = council.page(job)
    assert "C1: There is one" in page
    assert "job rule" not in page
    assert council.run(council.service.retry(job.id)).status == "APPROVED"


def test_a_pm_whose_agent_is_refused_stops_before_anything_is_paid(tmp_path: Path) -> None:
    council = a_council_without_git(tmp_path, model=ScriptedModel({"pm": fails("unpaid")}))
    with pytest.raises(AgentRefused, match="model cannot be used: credit balance") as caught:
        council.run()
    job = council.begin()
    assert caught.value.exit_code == 5
    assert f"then: fairlead run --job {job}" in str(caught.value.hint)
    assert council.service.record(job).status == "PM_RUNNING"
    council.model.says = {}
    assert council.run(job).status == "APPROVED"


def test_the_page_of_a_waiting_council_names_the_command_that_answers() -> None:
    asked = Question("q1", QuestionKind.DECISION, "t", "Which lamp?", ("left", "right"))
    job = CouncilJob("j_20260101_0001", "", "x", status=JobStatus.EXECUTING, phase="02")
    step, end = council_report(job, questions=[asked]).next
    assert step.commands == ('fairlead job answer j_20260101_0001 "left"', job.command)
    assert end.commands == ("fairlead job cancel j_20260101_0001",)


def test_the_page_of_an_executed_council_shows_the_cost_of_the_execution(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.run(may_execute=True)
    assert job.status == "DONE"
    council_only = job.usage.total_tokens
    line = next(line for line in council.page(job).splitlines() if line.startswith("  cost"))
    assert "execution $" in line
    total = int(line.partition(" tokens")[0].rpartition(" ")[2].replace(",", ""))
    assert total > council_only


def test_a_pm_without_answer_leads_to_the_doctor_and_not_to_a_ruling(tmp_path: Path) -> None:
    council = a_council(tmp_path, model=ScriptedModel({"pm": fails("slow")}))
    page = council.page(council.run())
    assert "fairlead doctor agents" in page
    assert "job rule" not in page


def test_a_secret_in_a_request_a_ruling_or_a_veto_is_not_stored(tmp_path: Path) -> None:
    key = "sk-ant-" + "a1B2" * 8
    council = a_council(tmp_path, caps=Caps(run_tokens=1000))
    job = council.begin(f"Use the key {key}")
    assert council.begin(f"Use the key {key}") == job
    child = council.service.retry(council.run(job).id, f"Use {key} again")
    assert council.service.stop(child, "veto", f"not with {key}").status == "BLOCKED"
    stored = [each for each in (council.project / ".planning").rglob("*") if each.is_file()]
    assert not any(key in each.read_text() for each in stored)
    assert JobFolder(str(council.project), child).load(CouncilJob).request.endswith(" again")


def test_the_scratch_copy_contains_no_earlier_jobs(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    assert council.run(may_execute=True).status == "DONE"
    assert ".planning/jobs/" in git(council.project, "ls-files")

    def looks(prompt: str) -> str:
        places = [Path(each) for each in council.model.folders]
        assert any((place / ".planning/ROADMAP.md").exists() for place in places)
        assert not any((place / ".planning/jobs").exists() for place in places)
        return answer(prompt)

    council.model.folders.clear()
    council.model.says = dict.fromkeys(SEAT_NAMES, looks)
    assert council.run(council.begin("Another goal")).status == "APPROVED"


def test_the_scratch_copy_does_not_follow_a_link_to_other_jobs(tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere/jobs/j_1/job.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    project = a_repository(tmp_path / "project", {"README.md": "a harbour\n"})
    (project / ".planning").symlink_to(tmp_path / "elsewhere")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "a link")
    ScratchFolders(workspace_of(str(project))).make(str(tmp_path / "copy"))
    assert kept.exists()


def test_the_scratch_copy_of_a_project_in_a_subfolder_has_no_other_jobs(tmp_path: Path) -> None:
    answer = "apps/one/.planning/jobs/j_1/raw/pm.md"
    top = a_repository(tmp_path / "r", {answer: "an answer\n", "apps/one/.planning/STATE.md": ""})
    copy = tmp_path / "copy"

    ScratchFolders(workspace_of(str(top / "apps/one"))).make(str(copy))

    assert (copy / "apps/one/.planning/STATE.md").exists()
    assert not (copy / answer).exists()


def test_a_damaged_record_of_another_job_does_not_stop_a_run(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    lost = council.project / ".planning/jobs/j_20200101_0001/job.json"
    lost.parent.mkdir(parents=True)
    lost.write_text('{"kind": "council", ')
    assert council.run(may_execute=True).status == "DONE"


def test_the_record_can_be_rebuilt_from_the_stored_answers(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.run()
    emptied = replace(job, council_votes=(), cumulative_votes=(), council_plans={}, pm=PmRecord())
    council.service.folder(job.id).save_record(emptied)
    assert replace(council.run(job.id), updated_at="") == replace(job, updated_at="")


@pytest.mark.parametrize(
    ("status", "answer", "command"),
    [
        (JobStatus.BLOCKED, "", 'fairlead job answer execute-01 "retry"'),
        (JobStatus.BLOCKED, "retry", "fairlead phase execute 01"),
        (JobStatus.FAILED, "", "fairlead phase execute 01"),
        (JobStatus.DONE, "retry", "fairlead next"),
    ],
)
def test_retrying_a_job_of_another_kind_names_the_command_it_needs(
    tmp_path: Path, status: JobStatus, answer: str, command: str
) -> None:
    council = a_council(tmp_path)
    files = JobFolder(str(council.project), "execute-01")
    files.save_record(Job("execute-01", "01", status, "2026-06-01T00:00:00Z", "note"))
    asked = Question("q", QuestionKind.ESCALATION, "t", "What now?", ("retry",), answer=answer)
    files.save_question(asked)
    with pytest.raises(NotRetried) as caught:
        council.service.retry("execute-01")
    assert caught.value.hint == f"next: {command}"
