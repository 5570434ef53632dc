"""Seed 002, one test per statement of statements.txt: the council job, artefacts and agents."""

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.council.model import TRANSITIONS, Blocker, CouncilJob, FailureReason
from fairlead.council.seats import MAX_PLAN_TOKENS, SEAT_NAMES, length_fault
from fairlead.jobs.context import RunOptions
from fairlead.jobs.model import JobStatus
from fairlead.jobs.role_models import model_of
from fairlead.plans.check import execution_faults
from fairlead.plans.documents import new_plan, read_plan
from fairlead.project.summary import Summary, new_summary
from fairlead.verification.documents import read_verification
from fairlead.verification.gaps import Gap, patch_plans
from fairlead.workflows.artefacts import faults_of, read_artefact, read_required
from fairlead.workflows.debug import DebugSearch
from fairlead.workflows.errors import ArtefactFault
from fairlead.workflows.plan_rules import (
    MAX_REVISIONS,
    PlanRound,
    PlanRoundFacts,
    PlanStep,
    next_step,
)
from fairlead.workflows.roles import role
from tests.council.test_service import revises
from tests.support.council_runs import CouncilProject, a_council, fails
from tests.support.execution import FakeAgent
from tests.support.repositories import git
from tests.support.verification import verified
from tests.verification.test_service import GOOD, RECORD, STUB
from tests.workflows import test_debug as debugging
from tests.workflows import test_seed_002 as whole_way
from tests.workflows.test_seed_002 import PHASE, Journey

WORK = ".planning/phases/01-work"
journey = whole_way.journey  # a project that went from an idea to its verification


@dataclass(frozen=True, slots=True)
class Council:
    """A council that agreed in its second round, and whose plan was executed."""

    project: CouncilProject
    job: CouncilJob

    @property
    def folder(self) -> Path:
        return self.project.project / ".planning/jobs" / self.job.id

    @property
    def path(self) -> list[str]:
        """The statuses that the job went through."""
        return [event.text.split()[-1] for event in self.project.events if event.kind == "moved"]


@pytest.fixture(scope="module")
def council(tmp_path_factory: pytest.TempPathFactory) -> Council:
    project = a_council(tmp_path_factory.mktemp("council"))
    return Council(project, project.run(may_execute=True))


def seed_next(status: JobStatus) -> set[str]:
    """The statuses that may follow according to the seed; ours adds ways to BLOCKED."""
    return {
        str(each.target) for each in TRANSITIONS if each.source is status and not each.is_extension
    }


def extensions() -> set[tuple[str, str]]:
    return {(str(each.source), str(each.target)) for each in TRANSITIONS if each.is_extension}


# --- plans and votes ---------------------------------------------------------------------------


def test_002_01_each_seat_has_one_plan(council: Council) -> None:
    assert {*council.job.council_plans} == {*SEAT_NAMES}
    assert len(SEAT_NAMES) == 6


def test_002_02_a_plan_has_at_most_8192_tokens() -> None:
    assert MAX_PLAN_TOKENS == 8192
    assert length_fault("word " * 20_000)
    assert not length_fault("word " * 1_000)


def test_002_03_each_plan_is_saved_to_the_raw_answers(council: Council) -> None:
    stored = {path.stem for path in (council.folder / "raw").glob("*/*.md")}
    assert {*SEAT_NAMES} <= stored


def test_002_04_votes_of_the_round_and_of_all_rounds_are_kept(council: Council) -> None:
    assert {vote.seat for vote in council.job.council_votes} == {*SEAT_NAMES}
    assert {*council.job.council_votes} <= {*council.job.cumulative_votes}


# --- the eleven statuses -----------------------------------------------------------------------


def test_002_05_new_is_a_job_that_has_not_started(tmp_path: Path) -> None:
    project = a_council(tmp_path)
    assert project.service.record(project.begin()).status is JobStatus.NEW
    assert seed_next(JobStatus.NEW) == {"PM_RUNNING"}


def test_002_06_pm_running_leads_to_research_done_or_blocked(council: Council) -> None:
    assert "PM_RUNNING" in council.path
    assert seed_next(JobStatus.PM_RUNNING) == {"RESEARCH_DONE", "BLOCKED"}


def test_002_07_research_done_leads_to_the_council(council: Council) -> None:
    assert "RESEARCH_DONE" in council.path
    assert seed_next(JobStatus.RESEARCH_DONE) == {"COUNCIL_PLANNING"}


def test_002_08_council_planning_leads_to_the_synthesis(council: Council) -> None:
    assert "COUNCIL_PLANNING" in council.path
    assert seed_next(JobStatus.COUNCIL_PLANNING) == {"SYNTHESIZING"}


def test_002_09_the_synthesis_makes_the_master_plan_for_review(council: Council) -> None:
    assert (council.folder / "master_plan.md").is_file()
    assert seed_next(JobStatus.SYNTHESIZING) == {"COUNCIL_REVIEWING"}


def test_002_10_a_review_leads_to_a_revision_an_approval_or_a_block(council: Council) -> None:
    assert "COUNCIL_REVIEWING" in council.path
    expected = {"SYNTHESIZING", "APPROVED", "BLOCKED"}
    assert seed_next(JobStatus.COUNCIL_REVIEWING) == expected


def test_002_11_approved_needs_every_seat_and_leads_to_execution(council: Council) -> None:
    assert {str(vote.vote) for vote in council.job.council_votes} == {"APPROVE"}
    assert seed_next(JobStatus.APPROVED) == {"EXECUTING"}


def test_002_12_executing_leads_to_done_or_failed(council: Council) -> None:
    assert "EXECUTING" in council.path
    assert seed_next(JobStatus.EXECUTING) == {"DONE", "FAILED"}


def test_002_13_done_has_summaries_and_committed_files(council: Council) -> None:
    assert council.job.status is JobStatus.DONE
    assert council.job.exec.summaries == council.job.exec.plans > 0
    listed = git(council.project.project, "ls-tree", "-r", "--name-only", "HEAD")
    assert listed.count("-SUMMARY.md") >= council.job.exec.plans
    assert git(council.project.project, "status", "--porcelain") == ""
    assert seed_next(JobStatus.DONE) == set()


def test_002_14_failed_is_an_execution_without_summaries(tmp_path: Path) -> None:
    """Ruling "DONE / FAILED cells the seed leaves open": decided by the policy `strict`."""
    project = a_council(tmp_path, executor=FakeAgent(_gives_up))
    job = project.run(may_execute=True)
    project.service.stop(job.id, "cancel", "")
    assert project.service.record(job.id).status is JobStatus.FAILED
    assert {"timeout", "no_summary", "exec_failed"} <= {str(each) for each in FailureReason}
    assert seed_next(JobStatus.FAILED) == set()


def _gives_up(order: object, call: int) -> dict[str, object]:
    return {"status": "failure", "done_criteria_met": False, "evidence": "", "error": "no"}


def test_002_15_blocked_explains_its_reason(tmp_path: Path) -> None:
    project = a_council(tmp_path)
    project.model.says = {"pm": fails("garbled")}
    job = project.run()
    assert job.status is JobStatus.BLOCKED
    assert (job.blocker_reason or "").startswith(Blocker.PM_VERIFY)
    assert seed_next(JobStatus.BLOCKED) == set()


def test_002_16_there_are_eleven_statuses_and_fifteen_edges_with_two_of_a_person() -> None:
    """Ruling "Job transitions": the 15 edges, and a cancel from NEW and RESEARCH_DONE."""
    assert (len(JobStatus), len(TRANSITIONS)) == (11, 17)
    assert {("NEW", "BLOCKED"), ("RESEARCH_DONE", "BLOCKED")} <= extensions()


def test_002_17_a_verified_phase_is_marked_complete_in_the_state(tmp_path: Path) -> None:
    for name, done, is_marked in (("good", GOOD, True), ("stub", STUB, False)):
        report = verified(tmp_path / name, done)
        state = (tmp_path / name / ".planning/STATE.md").read_text("utf-8")
        assert (report.status == "passed") is is_marked
        assert ("Phase 1 COMPLETE" in state) is is_marked, state


# --- the eleven artefacts ----------------------------------------------------------------------


def _text(journey: Journey, kind: str) -> str:
    return journey.text(f"{PHASE}/01-{kind}.md")


def test_002_18_the_project_document_has_description_and_decisions(journey: Journey) -> None:
    text = journey.text(".planning/PROJECT.md")
    assert all(title in text for title in ("## Core Value", "## Constraints", "## Key Decisions"))
    assert journey.made_by(".planning/PROJECT.md") == "new"


def test_002_19_the_requirements_have_ids_and_phases(journey: Journey) -> None:
    assert "| FIND-01 | Phase 2 | Pending |" in journey.text(".planning/REQUIREMENTS.md")
    assert journey.made_by(".planning/REQUIREMENTS.md") == "new"


def test_002_20_the_roadmap_has_criteria_dependencies_and_risks(journey: Journey) -> None:
    text = journey.text(".planning/ROADMAP.md")
    assert all(label in text for label in ("**Success Criteria**", "**Depends on**", "**Risk**"))


def test_002_21_the_state_has_position_progress_and_session(journey: Journey) -> None:
    text = journey.text(".planning/STATE.md")
    assert all(part in text for part in ("Phase: ", "percent: ", "## Session Continuity"))


def test_002_22_the_configuration_has_mode_models_and_branching(journey: Journey) -> None:
    text = journey.text(".planning/config.json")
    assert all(key in text for key in ('"mode"', '"model_profile"', '"branching_strategy"'))


def test_002_23_the_context_has_assumptions_and_decisions(journey: Journey) -> None:
    assert "*Assumed:*" in _text(journey, "CONTEXT")
    assert journey.made_by(f"{PHASE}/01-CONTEXT.md") == "discuss"


def test_002_24_the_research_has_libraries_patterns_and_pitfalls(journey: Journey) -> None:
    """Libraries, patterns, pitfalls and guidance each have a section that is asked for and read."""
    parts = ("Standard Stack", "Architecture Patterns", "Common Pitfalls", "Summary")
    [prompt] = journey.prompts("phase-researcher")
    for part in parts:
        assert f"    ## {part}\n" in prompt, part
        without = "".join(
            f"## {each}\n\nWhat is known of it.\n\n" for each in parts if each != part
        )
        faults = faults_of("RESEARCH", read_artefact("RESEARCH.md", f"# R\n\n{without}"))
        assert any(repr(part) in fault.what for fault in faults), part
    with pytest.raises(ArtefactFault):  # pitfalls that are missing are asked for again
        read_required("RESEARCH", "RESEARCH.md", "# R\n\n## Summary\n\nUse what is there.\n")
    text = _text(journey, "RESEARCH")
    assert read_artefact("RESEARCH.md", text).part("Common Pitfalls")
    assert all(text.strip() in prompt for prompt in _unframed(journey.prompts("planner")))
    assert journey.made_by(f"{PHASE}/01-RESEARCH.md") == "plan"


def _unframed(prompts: list[str]) -> list[str]:
    """Prompts without the marks before lines of documents."""
    assert prompts
    return [re.sub(r"^\| ?", "", prompt, flags=re.MULTILINE) for prompt in prompts]


def test_002_25_the_patterns_map_new_files_to_existing_ones(journey: Journey) -> None:
    """The mapper gives each new file its closest analog, and the planner receives the map."""
    [prompt] = journey.prompts("pattern-mapper")
    columns = re.search(r"^ +\| New/Modified File \|.*\| Closest Analog \|", prompt, re.MULTILINE)
    assert columns
    with pytest.raises(ArtefactFault):
        read_required("PATTERNS", "PATTERNS.md", "# P\n\n## Shared Patterns\n\nNone at all here.\n")
    text = _text(journey, "PATTERNS")
    assert read_artefact("PATTERNS.md", text).part("File Classification")
    assert all(text.strip() in prompt for prompt in _unframed(journey.prompts("planner")))
    assert journey.made_by(f"{PHASE}/01-PATTERNS.md") == "plan"


def test_002_26_a_plan_has_tasks_files_commands_and_a_wave(journey: Journey) -> None:
    text = _text(journey, "01-PLAN")
    assert all(part in text for part in ("<task", "<files>", "<verify>", "<done>", "wave: 1"))
    assert journey.made_by(f"{PHASE}/01-01-PLAN.md") == "plan"


def test_002_27_a_summary_has_decisions_files_and_deviations(journey: Journey) -> None:
    assert "thing1.txt" in _text(journey, "01-SUMMARY")
    decisions, deviations = ("Store UTC",), ("One file more", "The clock is slow")
    summary = Summary("01-p1", 1, "It", "2026-06-01", decisions=decisions, deviations=deviations)
    assert all(words in new_summary(summary) for words in (*decisions, *deviations))
    assert journey.made_by(f"{PHASE}/01-01-SUMMARY.md") == "execute"


def test_002_28_a_verification_reports_criteria_and_gaps(journey: Journey, tmp_path: Path) -> None:
    """Criteria met and failed, the gaps with what closes them, and the sign-off of the phase."""
    text = _text(journey, "VERIFICATION")
    assert re.search(r"^status: (passed|gaps_found|human_needed)$", text, re.MULTILINE)
    good, stub = (verified(tmp_path / name, done) for name, done in (("g", GOOD), ("s", STUB)))
    met, failed = ((tmp_path / name / RECORD).read_text("utf-8") for name in ("g", "s"))
    assert (good.status, stub.status) == ("passed", "gaps_found")
    assert "✓ VERIFIED" in met
    assert "✗ FAILED" in failed
    signed, open_ = (read_verification(RECORD, each) for each in (met, failed))
    assert (signed.status, signed.gaps) == ("passed", ())
    assert open_.status == "gaps_found"
    assert open_.gaps
    assert all(gap.id and gap.reason for gap in open_.gaps)
    plans = [path.name for path in (tmp_path / "s" / WORK).glob("*-PLAN.md")]
    assert len(plans) == 2  # the gaps are addressed by a plan of their own


# --- the eleven agents -------------------------------------------------------------------------


def asked(journey: Journey, name: str) -> tuple[str, str]:
    """The command that asks a role and its output; the role was asked on the way."""
    assert journey.prompts(name), name
    return role(name).asked_by, role(name).output


def test_002_29_the_planner_makes_plans(journey: Journey) -> None:
    command, output = asked(journey, "planner")
    assert command == "phase plan"
    assert output.startswith("PLAN")


def test_002_30_the_plan_checker_reviews_plans(journey: Journey) -> None:
    assert asked(journey, "plan-checker") == ("phase plan", "")


def test_002_31_the_phase_researcher_makes_the_research(journey: Journey) -> None:
    command, output = asked(journey, "phase-researcher")
    assert command == "phase plan"
    assert output.startswith("RESEARCH")


def test_002_32_the_pattern_mapper_makes_the_patterns(journey: Journey) -> None:
    command, output = asked(journey, "pattern-mapper")
    assert command == "phase plan"
    assert output.startswith("PATTERNS")


def test_002_33_the_executor_implements_and_the_engine_lands(journey: Journey) -> None:
    """Ruling "Who commits (002: executor; 003: never)": the engine lands what agents propose."""
    assert role("executor").asked_by == "phase execute"
    assert role("executor").output.startswith("SUMMARY")
    assert (journey.project / "thing1.txt").is_file()


def test_002_34_the_verifier_makes_the_verification(journey: Journey) -> None:
    assert role("verifier").asked_by == "phase verify"
    assert role("verifier").output.startswith("VERIFICATION")
    assert _text(journey, "VERIFICATION")


def test_002_35_four_project_researchers_work_for_a_new_project(journey: Journey) -> None:
    command, output = asked(journey, "project-researcher")
    assert command == "new"
    assert output.startswith("research/")
    assert len(journey.prompts("project-researcher")) == 4


def test_002_36_the_roadmapper_makes_the_roadmap(journey: Journey) -> None:
    command, output = asked(journey, "roadmapper")
    assert command == "new"
    assert output.startswith("ROADMAP")


def test_002_37_the_assumptions_analyzer_works_for_the_context(journey: Journey) -> None:
    command, output = asked(journey, "assumptions-analyzer")
    assert command == "phase discuss"
    assert output.startswith("CONTEXT")


def test_002_38_the_advisor_researcher_works_for_the_context(journey: Journey) -> None:
    command, output = asked(journey, "advisor-researcher")
    assert command == "phase discuss"
    assert output.startswith("CONTEXT")


def test_002_39_the_debugger_makes_a_fix_and_a_log(tmp_path: Path) -> None:
    """Hypothesis, test, fix: the log has each round, the fix is landed, and a session goes on."""
    assert (role("debugger").asked_by, role("debugger").output) == ("debug", "debug file")
    rounds = (*(debugging.unsure(f"step {at}") for at in range(4)), debugging.CAUSE)
    workshop = debugging.a_search(tmp_path, *rounds)
    assert debugging.carried_out(workshop).job.status is JobStatus.BLOCKED  # a checkpoint
    log = debugging.text_of(workshop)
    assert log.count("- hypothesis: H1") == 4
    session = workshop.debugging.one("the-greeting-is-missing")
    search = DebugSearch(session.slug, session.trigger, goes_on=True)
    assert debugging.carried_out(workshop, search).job.status is JobStatus.DONE
    log = debugging.text_of(workshop, "resolved/the-greeting-is-missing.md")
    assert log.count("- hypothesis: H1") == 4
    assert all(part in log for part in ("H2", "no hello.txt", "root_cause: hello.txt is not made"))
    project = workshop.stage.project
    assert "hello.txt" in git(project, "ls-tree", "-r", "--name-only", "HEAD").split()


# --- further statements of the status and agent tables -------------------------------------------


def test_002_40_the_pm_refines_audits_and_researches(council: Council) -> None:
    asked_of_pm = [prompt for who, prompt in council.project.model.asked if who == "pm"]
    stored = {path.stem for path in (council.folder / "pm").glob("*.md")}
    assert len(asked_of_pm) == 4
    assert {"refined", "audit", "research"} <= stored, stored


def test_002_41_six_seats_plan_and_vote(council: Council) -> None:
    seats = [who for who, _ in council.project.model.asked if who in SEAT_NAMES]
    voted = [who for who, prompt in council.project.model.asked if "Vote on" in prompt]
    assert {*seats} == {*voted} == {*SEAT_NAMES}
    assert len(seats) - len(voted) == 6


def test_002_42_the_strongest_claude_model_synthesises() -> None:
    """Ruling "Synthesis "by Opus" (002)": the default is the strongest Claude model, by name."""
    assert model_of("synthesiser", {}, "claude") == "opus"
    assert model_of("synthesiser", {"model_overrides.synthesiser": "sonnet"}, "claude") == "sonnet"


def test_002_43_an_execution_is_limited_to_thirty_minutes() -> None:
    """Ruling "Time limits": the limit is that of one call of an executor, and can be set."""
    assert RunOptions().limits.executor == timedelta(minutes=30)
    assert "timeout" in {str(each) for each in FailureReason}


def test_002_44_a_deadlock_of_the_council_blocks_the_job(tmp_path: Path) -> None:
    project = a_council(tmp_path)
    project.model.says = {"builder": revises}
    job = project.run()
    assert job.status is JobStatus.BLOCKED
    assert (job.blocker_reason or "").startswith("deadlock")


def test_002_45_a_veto_blocks_the_job(tmp_path: Path) -> None:
    project = a_council(tmp_path)
    job = project.run()
    assert job.status is JobStatus.APPROVED
    stopped = project.service.stop(job.id, "veto", "not this quarter")
    assert stopped.status is JobStatus.BLOCKED
    assert "not this quarter" in (stopped.blocker_reason or "")


def test_002_46_a_plan_is_revised_at_most_three_times_and_not_without_progress() -> None:
    better = [PlanRound(0, blockers) for blockers in (9, 8, 7, 6)]
    assert MAX_REVISIONS == 3
    assert next_step(PlanRoundFacts(rounds=tuple(better[:3]))) is PlanStep.PLAN
    assert next_step(PlanRoundFacts(rounds=tuple(better))) is PlanStep.ASK
    stalled = (PlanRound(0, 2), PlanRound(0, 2))
    assert next_step(PlanRoundFacts(rounds=stalled)) is PlanStep.ASK


def test_002_47_gaps_become_patch_plans_that_can_be_executed() -> None:
    gap = Gap("G-01-1", "it works", "it does not", "calc.py", rule="verifier")
    (patch,) = patch_plans([gap], {}, "01-work", "01", 2)
    read = read_plan(f"{WORK}/01-02-PLAN.md", new_plan(patch))
    assert read.gap_closure
    assert [task.verify for task in read.tasks] == ["test -s calc.py"]
    assert execution_faults([read], lambda _: "", is_rehearsed=False)[0] == ()


def test_002_48_the_configuration_has_toggles_of_agents(journey: Journey) -> None:
    settings = json.loads(journey.text(".planning/config.json"))
    toggles = settings["workflow"]
    assert {"research", "plan_check", "verifier"} <= {*toggles}
    assert all(isinstance(toggles[each], bool) for each in ("research", "plan_check", "verifier"))


def test_002_49_a_summary_has_the_concerns() -> None:
    summary = Summary("01-p1", 1, "It", "2026-06-01", concerns=("The disk is nearly full",))
    assert "The disk is nearly full" in new_summary(summary)
