"""A council carried on: who is asked, what is stored, how it ends, and what a person can do."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.adapters.scratch import Scratch
from fairlead.adapters.scripted_council import answer
from fairlead.engine.council_report import council_report
from fairlead.engine.council_site import SYNTHESISER, CouncilTerms
from fairlead.engine.fanout import Signal
from fairlead.errors import (
    JobNotOver,
    JobTransition,
    NothingToRule,
    NotRetried,
    RunBusy,
    UnknownJob,
)
from fairlead.model.agent_events import Ending, EndKind, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.budget import Caps, Spent
from fairlead.model.council_job import CouncilJob
from fairlead.model.job import Job, JobStatus, Question, QuestionKind
from fairlead.model.seats import NAMES
from fairlead.store.council import CouncilFiles
from fairlead.store.jobs import JobFiles
from fairlead.wiring import workspace_of
from tests.support.council_table import Speaker, a_meeting, fails, who_of
from tests.support.execution import Ticking, does_it
from tests.support.repositories import a_repository, git


def once(text: str, then=answer):
    """Says one thing the first time, and what the script says after that."""
    said = []

    def says(prompt: str):
        said.append(prompt)
        return text if len(said) == 1 else then(prompt)

    return says


def revises(prompt: str) -> str:
    """A seat that is never content, always for the same reason."""
    script = answer(prompt)
    if "Vote on the master plan" not in prompt:
        return script
    nonce = script.rpartition("VERDICT ")[2].partition(":")[0]
    return f"- [scope] step 1: nobody asked for this file at all | leave it out\n\nVERDICT {nonce}: REVISE"


def why(job: CouncilJob) -> str:
    """Why a job is blocked."""
    return job.blocker_reason or ""


def stopped_by(job: CouncilJob) -> str:
    """Whose veto it was."""
    return job.veto.by if job.veto else ""


def plan_of(job: CouncilJob) -> str:
    """The hash of the plan."""
    return job.master_plan.sha256 if job.master_plan else ""


def _approves(prompt: str) -> str:
    return answer(prompt).replace("step 1: the plan", "the plan").replace(": REVISE", ": APPROVE")


def test_an_approved_job_has_every_answer_in_raw_memory(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    job = table.run()
    assert (job.status, job.review_round) == ("APPROVED", 2)
    assert [each.vote for each in job.council_votes] == ["APPROVE"] * 6
    assert len([each for each in job.cumulative_votes if each.final]) == 12
    assert {each.plan_sha256 for each in job.council_votes} == {plan_of(job)}
    folder = table.project / f".planning/jobs/{job.id}"
    raw = {str(path.relative_to(folder)) for path in folder.glob("raw/*/*.md")}
    assert raw == {f"raw/r{at}/{seat}.md" for at in range(3) for seat in NAMES} | {
        "raw/synthesis/v1.md",
        "raw/synthesis/v2.md",
    }
    assert sorted(path.name for path in folder.glob("pm/*")) == [
        "audit.md",
        "refined.md",
        "research.md",
        "verify.md",
    ]


def test_nobody_is_asked_twice_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    first = table.run()
    asked = len(table.speaker.asked)
    assert asked == 4 + 6 + 2 + 12
    assert table.run(first.id) == first
    assert len(table.speaker.asked) == asked


def test_seats_plan_and_vote_without_seeing_each_other(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    table.run()
    for who, prompt in table.speaker.asked:
        others = [seat for seat in NAMES if seat != who and f"Seen by the {seat}" in prompt]
        assert not others or who == SYNTHESISER
    plans = next(prompt for who, prompt in table.speaker.asked if who == SYNTHESISER)
    assert [f"PLAN {letter}" in plans for letter in "ABCDEF"] == [True] * 6


def test_the_synthesiser_receives_every_plan_to_its_end(tmp_path: Path) -> None:
    def long(seat: str):
        end = f"\n{'x' * 90}" * 300 + f"\nthe last words of seat {seat}\n"
        return lambda prompt: answer(prompt) + ("" if "Vote on" in prompt else end)

    table = a_meeting(tmp_path, speaker=Speaker({seat: long(seat) for seat in NAMES}))
    assert table.run().status == "APPROVED"
    for who, prompt in table.speaker.asked:
        if who == SYNTHESISER:
            assert [seat for seat in NAMES if f"last words of seat {seat}" not in prompt] == []


def test_what_is_voted_on_is_what_was_synthesised_whatever_becomes_of_its_files(
    tmp_path: Path,
) -> None:
    table = a_meeting(tmp_path)
    folder = table.project / f".planning/jobs/{table.begin()}"

    def meddles(prompt: str) -> str:
        if "Vote on" in prompt:
            for name in ("master_plan.v1.md", "brief.md"):
                (folder / name).write_text((folder / name).read_text() + "\nand a back door\n")
        return answer(prompt)

    table.speaker.says = {"builder": meddles}
    job = table.run(may_execute=True)
    assert not [who for who, prompt in table.speaker.asked if "back door" in prompt]
    assert {each.plan_sha256 for each in job.council_votes} == {plan_of(job)}
    assert why(job) == "preflight: brief.md is not the brief that the plan was made for"


@pytest.mark.parametrize("fault", ["busy", "slow", "unpaid", "garbled"])
@pytest.mark.parametrize(
    "seats", [("builder",), ("security",), ("architect", "builder", "skeptic")]
)
def test_seats_that_do_not_answer_are_never_a_yes(tmp_path: Path, fault: str, seats) -> None:
    table = a_meeting(tmp_path, speaker=Speaker(dict.fromkeys(seats, fails(fault))))
    job = table.run()
    assert job.status == "BLOCKED"
    code = why(job).partition(":")[0]
    is_short = "security" in seats or len(seats) > 2
    assert code == ("planning_quorum" if is_short else "review_quorum")
    assert all(seat in why(job) for seat in seats) or len(seats) > 2
    assert any("of 6 seats" in each for each in job.degraded)


def test_a_stand_in_takes_the_seat_of_one_who_is_gone(tmp_path: Path) -> None:
    table = a_meeting(tmp_path, speaker=Speaker({"skeptic": fails("busy")}), stand_in=Speaker())
    job = table.run()
    assert job.status == "APPROVED"
    assert job.council_plans["skeptic"].family == "gemini"
    assert not job.degraded


def test_one_family_is_enough_and_marked_and_two_can_be_demanded(tmp_path: Path) -> None:
    demanding = a_meeting(tmp_path / "a", terms=CouncilTerms(min_families=3))
    assert why(demanding.run()).startswith("planning_quorum: the plans are of claude, gpt")


def test_an_unreadable_ballot_is_put_right_once(tmp_path: Path) -> None:
    table = a_meeting(tmp_path, speaker=Speaker({"builder": _garbles_its_first_ballot()}))
    job = table.run()
    assert job.status == "APPROVED"
    repaired = [each for each in job.cumulative_votes if each.status == "repaired"]
    assert [each.seat for each in repaired] == ["builder"]


def _garbles_its_first_ballot():
    said = []

    def says(prompt: str) -> str:
        if "Vote on the master plan" in prompt:
            said.append(prompt)
            if len(said) == 1:
                return "I think that this is fine. VERDICT: probably APPROVE?"
        return answer(prompt)

    return says


def test_a_seat_votes_with_the_ballot_and_the_plan_of_its_own_that_counted(tmp_path: Path) -> None:
    ballots = _garbles_its_first_ballot()

    def says(prompt: str):
        if "Vote on" in prompt or "be shorter" in prompt:
            return ballots(prompt)
        return Ending(EndKind.OK, "cut off " + answer(prompt), usage=Usage(10, 0, 10), is_cut=True)

    table = a_meeting(tmp_path, speaker=Speaker({"builder": says}))
    assert table.run().review_round == 2
    last = [prompt for who, prompt in table.speaker.asked if who == "builder"][-1]
    assert "cut off" not in last
    assert "probably APPROVE?" not in last


def test_an_answer_that_was_cut_is_asked_for_once_more_and_shorter(tmp_path: Path) -> None:
    def cut(prompt: str):
        if "be shorter" in prompt or "Vote on" in prompt:
            return answer(prompt)
        return Ending(EndKind.OK, answer(prompt), usage=Usage(10, 0, 10), is_cut=True)

    table = a_meeting(tmp_path, speaker=Speaker({"builder": cut}))
    job = table.run()
    assert job.status == "APPROVED"
    assert job.council_plans["builder"].raw == "raw/r0/builder.2.md"
    assert not job.council_plans["builder"].truncated


@pytest.mark.parametrize("who", [SYNTHESISER, "pm"])
def test_a_plan_or_a_brief_that_was_cut_is_asked_for_once_more_and_never_used(
    tmp_path: Path, who: str
) -> None:
    def cut(prompt: str):
        return Ending(EndKind.OK, answer(prompt), usage=Usage(10, 0, 10), is_cut=True)

    table = a_meeting(tmp_path, speaker=Speaker({who: cut}))
    job = table.run()
    assert "was cut off at its limit" in why(job)
    assert why(job).startswith("synthesis_failed" if who == SYNTHESISER else "pm_verify")
    assert [each for each, _ in table.speaker.asked].count(who) == (2 if who == SYNTHESISER else 6)


def test_answers_beyond_all_measure_are_cut_and_the_record_still_holds_them(tmp_path: Path) -> None:
    def endless(prompt: str) -> str:
        return answer(prompt) + "水" * 500_000 if "Vote on" not in prompt else answer(prompt)

    job = a_meeting(tmp_path, speaker=Speaker(dict.fromkeys(NAMES, endless))).run()
    assert job.status == "APPROVED"
    assert all(plan.truncated for plan in job.council_plans.values())


def test_a_plan_with_faults_is_repaired_once_and_then_the_job_is_blocked(tmp_path: Path) -> None:
    broken = "# Notes\n\n## Goal\nNothing.\n"
    table = a_meeting(tmp_path / "a", speaker=Speaker({SYNTHESISER: once(broken)}))
    assert table.run().status == "APPROVED"
    table = a_meeting(tmp_path / "b", speaker=Speaker({SYNTHESISER: lambda _: broken}))
    job = table.run()
    assert why(job).startswith("synthesis_failed: the part 'Requirements' is missing")
    assert [who for who, _ in table.speaker.asked].count(SYNTHESISER) == 2


def test_a_revision_that_changes_nothing_is_a_deadlock_and_asks_nobody(tmp_path: Path) -> None:
    texts = []

    def stubborn(prompt: str) -> str:
        texts.append(answer(prompt))
        rows = "| builder-1 | declined | it was asked for in the request |\n| operator-1 | declined | no |\n"
        return f"{texts[0]}\n## Answers\n| id | answer | reason |\n|---|---|---|\n{rows}"

    table = a_meeting(tmp_path, speaker=Speaker({SYNTHESISER: stubborn, "builder": revises}))
    job = table.run()
    assert why(job).startswith("deadlock_same_plan")
    assert "builder-1 step 1: nobody asked for this file at all" in why(job)
    assert "synthesiser: declined: it was asked for in the request" in why(job)
    assert table.council.rule(job.id, "builder-1", "It stays").about.startswith("step 1: nobody")
    assert len(table.speaker.asked) == 4 + 6 + 2 + 6


def test_a_seat_that_is_never_content_stalls_the_council_and_a_ruling_ends_it(
    tmp_path: Path,
) -> None:
    table = a_meeting(tmp_path, speaker=Speaker({"builder": revises, "operator": _approves}))
    job = table.run()
    assert why(job).startswith("deadlock_stall")
    with pytest.raises(NothingToRule):
        table.council.rule(job.id, "builder-9", "no such thing")
    table.council.rule(job.id, "builder-1", "The file stays")
    child = table.council.retry(job.id)
    table.speaker.says = {}
    table.speaker.asked.clear()
    done = table.run(child)
    assert (done.status, done.parent_job_id) == ("APPROVED", job.id), why(done)
    asked = [who for who, _ in table.speaker.asked]
    assert asked[0] == SYNTHESISER  # the brief and the plans are those of the parent
    synthesis = next(prompt for who, prompt in table.speaker.asked if who == SYNTHESISER)
    assert "| builder-1: The file stays" in synthesis
    assert "| It was about: step 1: nobody asked for this file at all" in " ".join(
        synthesis.split()
    )


def test_a_retry_keeps_every_answer_whose_question_is_the_same(tmp_path: Path) -> None:
    table = a_meeting(tmp_path, speaker=Speaker({"builder": revises}))
    job = table.run()
    assert job.status == "BLOCKED"
    table.speaker.asked.clear()
    again = table.run(table.council.retry(job.id))
    assert table.speaker.asked == []
    assert why(again) == why(job)
    assert again.usage.total_tokens == 0
    assert len(table.kinds("reused")) == len(
        [each for each in table.happened if each.kind == "call"]
    )


def test_a_retry_asks_anew_for_what_has_led_to_nothing(tmp_path: Path) -> None:
    broken = Speaker({SYNTHESISER: lambda _: "# Notes\n\n## Goal\nNothing.\n"})
    table = a_meeting(tmp_path / "a", speaker=broken)
    job = table.run()
    assert why(job).startswith("synthesis_failed")
    table.speaker.says = {}
    assert table.run(table.council.retry(job.id)).status == "APPROVED"

    blind = Speaker({"builder": _votes("- [scope] step 9: far too much | less", "REVISE")})
    table = a_meeting(tmp_path / "b", speaker=blind)
    job = table.run()
    assert why(job).startswith("review_quorum")
    table.speaker.says = {}
    assert table.run(table.council.retry(job.id)).status == "APPROVED"


def test_a_retry_of_a_job_that_led_on_without_a_seat_comes_to_the_same_plan(
    tmp_path: Path,
) -> None:
    table = a_meeting(tmp_path, speaker=Speaker({"builder": _plans_nothing}))
    job = table.run()
    assert (job.status, len(job.degraded)) == ("APPROVED", 1)
    held = table.council.wish(job.id, "cancel", "later")
    idle = table.council.wish(table.council.retry(held.id), "cancel", "later still")
    table.speaker.says = {}
    table.speaker.asked.clear()
    done = table.run(table.council.retry(idle.id))
    assert (done.status, plan_of(done)) == ("APPROVED", plan_of(job))
    assert table.speaker.asked == []


def _plans_nothing(prompt: str) -> str:
    return answer(prompt) if "Vote on" in prompt else "I am not sure."


def _votes(items: str, vote: str):
    """Always votes like this."""

    def says(prompt: str) -> str:
        script = answer(prompt)
        nonce = script.rpartition("VERDICT ")[2].partition(":")[0]
        return f"{items}\n\nVERDICT {nonce}: {vote}" if "Vote on" in prompt else script

    return says


def test_a_changed_request_asks_everything_anew(tmp_path: Path) -> None:
    table = a_meeting(tmp_path, speaker=Speaker({"builder": revises}))
    job = table.run()
    table.speaker.says = {}
    child = table.council.retry(job.id, "Lamps follow the moon")
    done = table.run(child)
    assert (done.status, done.request) == ("APPROVED", "Lamps follow the moon")
    assert not table.kinds("reused")


def test_a_veto_of_the_security_seat_stops_the_job_with_its_evidence(tmp_path: Path) -> None:
    told = "the file is written by anybody who can reach the share " * 3

    def vetoes(prompt: str) -> str:
        script = answer(prompt)
        nonce = script.rpartition("VERDICT ")[2].partition(":")[0]
        if "Vote on" not in prompt:
            return script
        return f"- [security, critical] step 1: {told}| close it\n\nVERDICT {nonce}: VETO"

    job = a_meeting(tmp_path, speaker=Speaker({"security": vetoes})).run()
    assert (job.status, stopped_by(job)) == ("BLOCKED", "security")
    assert why(job).startswith("veto: the security seat, step 1: the file is written")
    assert len(job.council_votes) == 6


def test_a_person_can_veto_until_the_work_begins(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    job = table.run()
    held = table.council.wish(job.id, "veto", "not this quarter")
    assert why(held) == "operator_veto: not this quarter"
    assert stopped_by(held) == "operator"
    assert council_report(held).next[0].commands == (f"fairlead job retry {job.id}",)
    with pytest.raises(JobTransition, match="cannot become"):
        table.council.wish(job.id, "cancel", "")


def test_a_veto_that_comes_when_the_work_has_begun_does_not_hold_it_up(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    job = table.begin()

    def late(order: Order, call: int) -> Mapping[str, object]:
        CouncilFiles(str(table.project), job).leave_wish("veto", "too late")
        return does_it(order, call)

    table.hands.act = late
    assert table.run(job, may_execute=True).status == "DONE"


def test_a_copy_that_a_killed_run_left_is_gone_after_the_next_run(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    job = table.run()
    [place] = table.speaker.folders
    Scratch(workspace_of(str(table.project))).make(place)  # killed as soon as all had approved
    table.run(job.id)
    assert not Path(place).exists()
    assert len(git(table.project, "worktree", "list").splitlines()) == 1


def test_a_seat_that_changes_what_is_not_its_own_ends_the_job_and_a_retry_goes_on(
    tmp_path: Path,
) -> None:
    table = a_meeting(tmp_path)

    hook = table.project / ".git/hooks/post-commit"

    def meddles(prompt: str) -> str:
        if not hook.exists():  # once: in a later round, others would see it half written
            hook.write_text("#!/bin/sh\n")
        return answer(prompt)

    table.speaker.says = {"advocate": meddles}
    job = table.run()
    assert why(job).startswith("internal: while ")
    assert why(job).endswith("was asked, this was changed: .git/hooks/post-commit")
    assert table.kinds("touched")
    assert table.run(table.council.retry(job.id)).status == "APPROVED"
    assert "advocate" in table.kinds("reused")


def test_a_wish_is_heard_by_the_one_who_runs_the_job(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    job = table.begin()
    files = CouncilFiles(str(table.project), job)

    def cancels(prompt: str) -> str:
        files.leave_wish("cancel", "enough")
        return answer(prompt)

    table.speaker.says = {"builder": cancels}
    held = table.run(job)
    assert why(held) == "operator_cancel: enough"
    assert held.review_round == 0


def test_a_wish_to_stop_lets_those_who_are_asked_finish_and_asks_nobody_else(
    tmp_path: Path,
) -> None:
    stop = Signal()

    def stops(prompt: str) -> str:
        stop.give()
        return answer(prompt)

    table = a_meeting(tmp_path, speaker=Speaker({"security": stops}))
    held = table.run(stop=stop)
    assert (held.status, len(held.council_plans)) == ("COUNCIL_PLANNING", 6)
    assert len(table.speaker.asked) == 4 + 6
    assert table.run().status == "APPROVED"
    assert len(table.speaker.asked) == 4 + 6 + 2 + 12


def test_a_job_that_somebody_carries_on_is_not_carried_on_twice(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    job = table.begin()
    assert table.begin() == job
    with CouncilFiles(str(table.project), job).alone("test"), pytest.raises(RunBusy):
        table.run(job)


@pytest.mark.parametrize("name", ["j_20260101_0001", "../escape", "j_1/../../x", ""])
def test_a_name_that_no_job_has_never_becomes_a_path(tmp_path: Path, name: str) -> None:
    table = a_meeting(tmp_path)
    table.begin()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UnknownJob):
        table.council.wish(name, "cancel", "")
    assert sorted(tmp_path.rglob("*")) == before


def test_only_a_job_that_is_over_is_tried_again(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    with pytest.raises(JobNotOver):
        table.council.retry(table.begin())


def test_a_job_stops_before_the_stage_that_it_cannot_pay(tmp_path: Path) -> None:
    table = a_meeting(tmp_path, terms=CouncilTerms(caps=Caps(run_tokens=80_000)))
    job = table.run()
    assert why(job).startswith("budget: this run would take")
    assert "limit is 80,000" in why(job)
    spent = job.usage.total_tokens
    assert 0 < spent < 80_000
    assert spent == sum(each.tokens for each in job.usage.by_stage.values())
    assert spent == sum(each.tokens for each in job.usage.by_seat.values())
    assert table.kinds("estimate")[:2] == ["PM_RUNNING", "COUNCIL_PLANNING"]


def test_the_passes_of_the_pm_are_one_stage(tmp_path: Path) -> None:
    table = a_meeting(tmp_path, terms=CouncilTerms(caps=Caps(run_tokens=50_000)))
    assert why(table.run()).startswith("budget: this run would take 7")
    assert table.speaker.asked == []


def test_what_calls_took_that_a_person_stopped_is_counted(tmp_path: Path) -> None:
    over = Signal()

    def stopped(prompt: str):
        over.give()
        return Ending(EndKind.KILLED, usage=Usage(700, 0, 0), cost_usd=0.5)

    table = a_meeting(tmp_path, speaker=Speaker({"builder": stopped}))
    held = table.run(over=over)
    assert held.council_plans.get("builder") is None
    assert held.usage.by_seat["builder"] == Spent(700, 0.5)
    table.speaker.says = {}
    done = table.run()
    assert done.status == "APPROVED"
    assert done.usage.by_seat["builder"].usd == pytest.approx(0.5 + 0.03)
    assert done.usage.by_stage["planning"].usd == pytest.approx(0.5 + 0.06)


def test_the_approved_plan_is_carried_out_and_done_is_proven(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    job = table.run(may_execute=True)
    assert (job.status, job.exec.plans, job.exec.summaries) == ("DONE", 2, 2)
    assert git(table.project, "status", "--short") == ""  # the record is kept with the work
    assert (table.project / "notes/goal.md").exists()
    [context] = (table.project / ".planning/phases").glob("02-*/02-CONTEXT.md")
    assert f"master_plan_sha256: {plan_of(job)}" in context.read_text()
    assert "## Dissent" in context.read_text()


def test_work_that_fails_its_verify_waits_and_once_ended_a_retry_keeps_the_plan(
    tmp_path: Path,
) -> None:
    table = a_meeting(tmp_path)
    table.hands.act = lambda order, _: (
        {"verdict": "APPROVED"} if order.is_read_only else {"status": "success", "error": None}
    )
    waiting = table.run(may_execute=True)
    assert waiting.status == "EXECUTING"
    held = table.council.wish(waiting.id, "cancel", "give up")
    assert (held.status, held.exec.reason) == ("FAILED", "cancelled")
    table.hands.act = does_it
    done = table.run(table.council.retry(held.id), may_execute=True)
    assert (done.status, done.phase, done.exec.summaries) == ("DONE", held.phase, 2)
    assert plan_of(done) == plan_of(held)


def test_a_rehearsal_whose_output_is_lost_before_the_verify_step_has_failed(tmp_path: Path) -> None:
    table = a_meeting(tmp_path, terms=CouncilTerms(is_rehearsed=True))

    def loses_it(order: Order, call: int) -> Mapping[str, object]:
        said = does_it(order, call)
        shutil.rmtree(Path(order.folder) / "notes", ignore_errors=True)
        return said

    table.hands.act = loses_it
    table.clock = Ticking(step_seconds=60)
    job = table.run(may_execute=True)
    assert (job.status, job.exec.reason, job.exec.summaries) == ("FAILED", "exec_failed", 0)


def test_a_question_that_blocks_is_answered_by_a_ruling(tmp_path: Path) -> None:
    asks = "## Open questions\n- Q1 [blocking]: which harbour is meant\n"

    def unsure(prompt: str) -> str:
        return answer(prompt).replace("## Open questions\nNone\n", asks)

    table = a_meeting(tmp_path, speaker=Speaker({"pm": unsure}))
    job = table.run()
    assert why(job) == "pm_verify: Q1 blocks and is not answered"
    assert [who for who, _ in table.speaker.asked] == ["pm"] * 6  # a second cycle, and no more
    table.council.rule(job.id, "Q1", "The old one")
    done = table.run(table.council.retry(job.id))
    assert done.status == "APPROVED"
    assert any("| Q1: The old one" in prompt for who, prompt in table.speaker.asked if who == "pm")


def test_a_conflict_is_ruled_by_its_id_and_the_page_shows_the_ruling(tmp_path: Path) -> None:
    def finds_one(prompt: str) -> str:
        return answer(prompt).replace("## Conflicts\nNone\n", "## Conflicts\n- C1: no tide here\n")

    table = a_meeting(tmp_path, speaker=Speaker({"pm": finds_one}))
    job = table.run()
    assert why(job) == "pm_verify: C1 contradicts the brief: no tide here"
    assert f"job rule {job.id} C1 " in table.page(job)
    with pytest.raises(NothingToRule):
        table.council.rule(job.id, "the", "Whatever")
    table.council.rule(job.id, "C1", "There is one")
    page = table.page(job)
    assert "C1: There is one" in page
    assert "job rule" not in page
    assert table.run(table.council.retry(job.id)).status == "APPROVED"


def test_a_pm_that_nobody_answered_as_is_looked_for_and_not_ruled(tmp_path: Path) -> None:
    table = a_meeting(tmp_path, speaker=Speaker({"pm": fails("unpaid")}))
    page = table.page(table.run())
    assert "fairlead doctor agents" in page
    assert "job rule" not in page


def test_a_secret_in_a_request_a_ruling_or_a_veto_is_not_stored(tmp_path: Path) -> None:
    key = "sk-ant-" + "a1B2" * 8
    table = a_meeting(tmp_path, terms=CouncilTerms(caps=Caps(run_tokens=1000)))
    job = table.begin(f"Use the key {key}")
    assert table.begin(f"Use the key {key}") == job
    child = table.council.retry(table.run(job).id, f"Use {key} again")
    assert table.council.wish(child, "veto", f"not with {key}").status == "BLOCKED"
    stored = [each for each in (table.project / ".planning").rglob("*") if each.is_file()]
    assert not any(key in each.read_text() for each in stored)
    assert CouncilFiles(str(table.project), child).load().request.endswith(" again")


def test_nobody_who_is_asked_finds_what_others_said_in_an_earlier_job(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    assert table.run(may_execute=True).status == "DONE"
    assert ".planning/jobs/" in git(table.project, "ls-files")

    def looks(prompt: str) -> str:
        places = [Path(each) for each in table.speaker.folders]
        assert any((place / ".planning/ROADMAP.md").exists() for place in places)
        assert not any((place / ".planning/jobs").exists() for place in places)
        return answer(prompt)

    table.speaker.folders.clear()
    table.speaker.says = dict.fromkeys(NAMES, looks)
    assert table.run(table.begin("Another goal")).status == "APPROVED"


def test_a_copy_never_follows_a_link_to_the_jobs_of_others(tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere/jobs/j_1/job.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    project = a_repository(tmp_path / "project", {"README.md": "a harbour\n"})
    (project / ".planning").symlink_to(tmp_path / "elsewhere")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "a link")
    Scratch(workspace_of(str(project))).make(str(tmp_path / "copy"))
    assert kept.exists()


def test_a_damaged_record_of_another_job_stops_no_run(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    lost = table.project / ".planning/jobs/j_20200101_0001/job.json"
    lost.parent.mkdir(parents=True)
    lost.write_text('{"kind": "council", ')
    assert table.run(may_execute=True).status == "DONE"


def test_the_record_is_what_its_raw_memory_says(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    job = table.run()
    path = table.project / f".planning/jobs/{job.id}/job.json"
    held = json.loads(path.read_text())
    emptied = {**held, "council_votes": [], "cumulative_votes": [], "council_plans": {}, "pm": {}}
    path.write_text(json.dumps(emptied))
    assert replace(table.run(job.id), updated_at="") == replace(job, updated_at="")


def test_who_of_knows_everybody_at_the_table(tmp_path: Path) -> None:
    table = a_meeting(tmp_path)
    table.run()
    assert {who_of(prompt) for _, prompt in table.speaker.asked} == {"pm", SYNTHESISER, *NAMES}


@pytest.mark.parametrize(
    ("status", "answer", "command"),
    [
        (JobStatus.BLOCKED, "", 'fairlead job answer execute-01 "retry"'),
        (JobStatus.BLOCKED, "retry", "fairlead phase execute 01"),
        (JobStatus.FAILED, "", "fairlead phase execute 01"),
        (JobStatus.DONE, "retry", "fairlead next"),
    ],
)
def test_a_job_of_the_engine_is_not_made_anew_and_what_it_needs_is_said(
    tmp_path: Path, status: JobStatus, answer: str, command: str
) -> None:
    table = a_meeting(tmp_path)
    files = JobFiles(str(table.project), "execute-01")
    files.save_job(Job("execute-01", "01", status, "2026-06-01T00:00:00Z", "told"))
    asked = Question("q", QuestionKind.ESCALATION, "t", "What now?", ("retry",), answer=answer)
    files.save_question(asked)
    with pytest.raises(NotRetried) as caught:
        table.council.retry("execute-01")
    assert caught.value.hint == f"next: {command}"
