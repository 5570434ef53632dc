"""`phase plan`: rounds with a real project, and no way by which plans that failed are carried out."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fairlead.agents.errors import AgentRefused
from fairlead.agents.model import AgentCall, CallResult, EndKind
from fairlead.core.concurrency import OneTimeEvent
from fairlead.execution.errors import PlansUnfit
from fairlead.execution.service import Execution
from fairlead.jobs.model import JobStatus
from fairlead.plans.documents import read_plan
from fairlead.store.errors import ChangedMeanwhile
from fairlead.store.files import Files
from fairlead.workflows.errors import PlansThere
from fairlead.workflows.phase_documents import PhaseDocuments
from fairlead.workflows.plan import PhasePlanning, PlanOptions
from fairlead.workflows.service import WorkflowReport
from tests.support.execution import ExecutionTrial
from tests.support.repositories import a_repository, git, written
from tests.support.roles import Answer, Play, Player, Stage, writes

PLANNING = ".planning/phases/01-work"
STATE = (
    "---\ngsd_state_version: '1.0'\nmilestone: v1.0\nstatus: planning\nactive_phase: null\n"
    "next_action: null\nnext_phases: null\nprogress:\n  total_phases: 1\n  completed_phases: 0\n"
    "  total_plans: 0\n  completed_plans: 0\n  percent: 0\n---\n\n# Project State\n\n"
    "## Current Position\n\nPhase: 1 of 1 (Work)\nPlan: Not started\nStatus: Ready to plan\n"
    "Last activity: 2026-05-30 — made\n\n## Accumulated Context\n\n### Decisions\n\nNone yet.\n"
)
ROADMAP = (
    "# Roadmap: Thing\n\n## Phases\n\n- [ ] **Phase 1: Work** - it works\n\n## Phase Details\n\n"
    "### Phase 1: Work\n\n**Goal**: A user has a thing\n**Depends on**: Nothing (first phase)\n"
    "**Requirements**: [THING-01, THING-02]\n**Risk**: LOW - small\n"
    "**Success Criteria** (what must be TRUE):\n\n  1. There is a thing\n\n**Plans**: TBD\n\n"
    "## Progress\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n"
    "| 1. Work | 0/TBD | Not started | - |\n"
)
REQUIREMENTS = (
    "# Requirements: Thing\n\n## v1 Requirements\n\n### Thing\n\n- [ ] **THING-01**: a thing\n"
    "- [ ] **THING-02**: another\n\n## Traceability\n\n| Requirement | Phase | Status |\n"
    "|---|---|---|\n| THING-01 | Phase 1 | Pending |\n| THING-02 | Phase 1 | Pending |\n"
)
CONTEXT = (
    "# Phase 1: Work - Context\n\n<domain>\n## Phase Boundary\n\nA thing.\n\n</domain>\n\n"
    "<decisions>\n## Implementation Decisions\n\n### Form\n\n- **D-01:** one file a thing\n\n"
    "</decisions>\n"
)
RESEARCH = "# R\n\n## Summary\n\nUse what is there.\n\n## Common Pitfalls\n\nNone that one sees.\n"
PATTERNS = "# P\n\n## File Classification\n\nThere is nothing like it yet.\n"


def plan(number: int = 1, *, requirements: str = "THING-01, THING-02", more: str = "D-01") -> str:
    return (
        f"---\nphase: 01-work\nplan: {number}\ntype: execute\nwave: 7\ndepends_on: []\n"
        f"files_modified: [thing{number}.txt]\nautonomous: true\nrequirements: [{requirements}]\n"
        "must_haves:\n  truths:\n    - There is a thing\n---\n\n<objective>\nA thing.\n"
        '</objective>\n\n<tasks>\n<task type="auto">\n  <name>Task 1: Make it</name>\n'
        f"  <files>thing{number}.txt</files>\n  <action>Make it, as {more} says.</action>\n"
        f"  <verify>test -f thing{number}.txt</verify>\n  <done>There is a thing</done>\n</task>\n"
        "</tasks>\n"
    )


def plans(*texts: str) -> Play:
    def play(order: AgentCall, count: int) -> Answer:
        text = texts[min(count, len(texts)) - 1]
        written(Path(order.folder) / "fairlead-output" / "01-01-PLAN.md", text)
        return {"status": "done"}

    return play


def issue(severity: str = "blocker", what: str = "the goal is missed") -> dict[str, object]:
    return {"plan": "01-01", "severity": severity, "description": what, "fix_hint": "fix it"}


def checks(*rounds: list[dict[str, object]]) -> Play:
    def play(_: AgentCall, count: int) -> Answer:
        found = rounds[min(count, len(rounds)) - 1]
        return {"verdict": "ISSUES" if found else "PASSED", "issues": found}

    return play


@dataclass
class Trial:
    """A project that is planned."""

    stage: Stage
    options: PlanOptions

    @property
    def planning(self) -> PhasePlanning:
        files = Files(str(self.stage.project))
        return PhasePlanning(self.stage.jobs, PhaseDocuments(files, self.stage.clock))

    def run(self) -> WorkflowReport:
        return self.planning.carry_out("1", self.options, self.stage.setup)

    def text(self, path: str) -> str:
        return (self.stage.project / path).read_text("utf-8")

    @property
    def plan_text(self) -> str:
        return self.text(f"{PLANNING}/01-01-PLAN.md")

    @property
    def execution(self) -> Execution:
        return ExecutionTrial(self.stage.project).execution


def new_trial(
    tmp_path: Path,
    planner: Play,
    checker: Play | None = None,
    *,
    is_git: bool = False,
    **options: bool,
) -> Trial:
    files = {
        ".planning/STATE.md": STATE,
        ".planning/ROADMAP.md": ROADMAP,
        ".planning/REQUIREMENTS.md": REQUIREMENTS,
        f"{PLANNING}/01-CONTEXT.md": CONTEXT,
        "README.md": "a project\n",
    }
    project = tmp_path / "project"
    if is_git:
        a_repository(project, files)
    else:
        for name, text in files.items():
            written(project / name, text)
    plays = {
        "phase-researcher": writes("RESEARCH.md", RESEARCH),
        "pattern-mapper": writes("PATTERNS.md", PATTERNS),
        "planner": planner,
        "plan-checker": checker or checks([]),
    }
    return Trial(Stage(project, Player(plays)), PlanOptions(**options))


def test_planning_writes_plans_state_and_roadmap(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()), is_git=True)

    report = trial.run()

    assert report.job.status is JobStatus.DONE
    state = trial.text(".planning/STATE.md")
    assert "next_action: execute-phase" in state
    assert 'next_phases: ["1"]' in state
    assert "active_phase: null" in state
    roadmap = trial.text(".planning/ROADMAP.md")
    assert "**Plans**: 1 plan\n\nPlans:\n**Wave 1**\n- [ ] 01-01-PLAN.md — A thing.\n" in roadmap
    assert "| 1. Work | 0/1 | Not started | - |" in roadmap
    assert "wave: 1\n" in trial.plan_text


def test_research_and_patterns_come_before_the_plans_and_reach_the_planner(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()))

    trial.run()

    assert [each.role for each in trial.stage.agent.orders] == [
        "phase-researcher",
        "pattern-mapper",
        "planner",
        "plan-checker",
    ]
    asked = trial.stage.agent.asked("planner")[0].prompt
    assert "Use what is there." in asked
    assert "D-01" in asked
    assert "THING-02: another" in asked


def test_the_phase_is_active_while_it_is_planned(tmp_path: Path):
    seen: list[str] = []
    trial = new_trial(tmp_path, plans(plan()))

    def planner(order: AgentCall, count: int) -> Answer:
        seen.append(trial.text(".planning/STATE.md"))
        return plans(plan())(order, count)

    trial.stage.agent.plays = {**trial.stage.agent.plays, "planner": planner}
    trial.run()

    assert 'active_phase: "1"' in seen[0] or "active_phase: 1" in seen[0]
    assert "status: planning" in seen[0]


def test_issues_of_the_checker_are_fixed_in_the_next_round(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, fixed,")), checks([issue()], []))

    report = trial.run()

    assert report.job.status is JobStatus.DONE
    assert "fixed" in trial.plan_text
    assert "the goal is missed" in trial.stage.agent.asked("planner")[1].prompt


def test_faults_of_form_are_found_without_asking_the_checker(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(requirements="THING-01"), plan()))

    trial.run()

    assert len(trial.stage.agent.asked("plan-checker")) == 1
    assert "no plan has requirement THING-02" in trial.stage.agent.asked("planner")[1].prompt


def test_a_decision_that_no_plan_carries_out_is_a_fault(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(more="nobody"), plan()))

    trial.run()

    assert "no plan carries out D-01" in trial.stage.agent.asked("planner")[1].prompt


def test_planning_stops_after_three_revisions(tmp_path: Path):
    better = [[issue(what=f"fault {at}") for at in range(left)] for left in (9, 8, 7, 6, 5, 4)]
    trial = new_trial(
        tmp_path, plans(*(plan(more=f"D-01, {at},") for at in range(9))), checks(*better)
    )

    report = trial.run()

    assert len(trial.stage.agent.asked("planner")) == 4
    assert report.job.status is JobStatus.BLOCKED


def test_a_stall_ends_the_rounds_at_once(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))

    trial.run()

    assert len(trial.stage.agent.asked("planner")) == 2


def _in_a_circle(order: AgentCall, count: int) -> Answer:
    """Two plans that wait for each other, worded differently in each round."""
    for number, other in ((1, "01-02"), (2, "01-01")):
        text = plan(number, more=f"D-01, {count},")
        text = text.replace("depends_on: []", f"depends_on: [{other}]")
        assert other in text
        written(Path(order.folder) / f"fairlead-output/01-0{number}-PLAN.md", text)
    return {"status": "done"}


def test_plans_in_a_circle_go_back_to_the_planner_and_leave_no_job_stuck(tmp_path: Path):
    trial = new_trial(tmp_path, _in_a_circle)

    report = trial.run()

    circle = "plans depend on each other in a circle"
    assert report.job.status is JobStatus.FAILED
    assert report.job.note.startswith(f"{circle}: 01-02 -> 01-01 -> 01-02")
    assert circle in trial.stage.agent.asked("planner")[1].prompt
    assert not list((trial.stage.project / PLANNING).glob("*-PLAN.md"))
    trial.stage.agent.plays = {**trial.stage.agent.plays, "planner": plans(plan())}
    assert trial.run().job.status is JobStatus.DONE


@pytest.mark.parametrize("answer", ["keep", "proceed"])
def test_plans_without_a_verify_command_are_never_written(tmp_path: Path, answer: str):
    bare = plan().replace("test -f thing1.txt", "")
    trial = new_trial(tmp_path, plans(bare, bare.replace("D-01", "D-01 again")))
    trial.stage.is_auto, trial.stage.answers = False, {"choice-round-2": answer}

    report = trial.run()

    assert report.job.status is JobStatus.FAILED
    assert report.job.note.startswith("plan 01-01 has tasks without a verify command")
    assert "has no verify command" in trial.stage.agent.asked("planner")[1].prompt
    assert not list((trial.stage.project / PLANNING).glob("*-PLAN.md"))


def test_a_refused_login_ends_a_workflow_at_its_first_call(tmp_path: Path):
    refused = CallResult(EndKind.AUTH, error="Please run /login")
    trial = new_trial(tmp_path, lambda *_: refused)

    with pytest.raises(AgentRefused, match="Please run /login") as caught:
        trial.run()

    assert len(trial.stage.agent.asked("planner")) == 1
    assert "then: fairlead phase plan 1" in str(caught.value.hint)


def test_plans_that_failed_are_written_with_a_mark_that_execution_refuses(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))

    report = trial.run()

    assert "plan_check: failed" in trial.plan_text
    assert "cannot be executed" in report.job.note
    assert "next_action: plan-phase" in trial.text(".planning/STATE.md")
    preview = trial.execution.preview("1")
    with pytest.raises(PlansUnfit, match="failed its check"):
        trial.execution.require_ready(preview)


def test_without_a_policy_nothing_is_written_until_a_person_has_answered(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))
    trial.stage.is_auto = False

    report = trial.run()

    assert report.job.status is JobStatus.BLOCKED
    assert [each.subject for each in report.questions if not each.answer] == ["round-2"]
    assert not (trial.stage.project / PLANNING / "01-01-PLAN.md").exists()
    assert "active_phase: null" in trial.text(".planning/STATE.md")


@pytest.mark.parametrize(
    ("answer", "mark"), [("proceed", "plan_check: accepted"), ("keep", "plan_check: failed")]
)
def test_planning_continues_with_the_answer_of_a_person(tmp_path: Path, answer: str, mark: str):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))
    trial.stage.is_auto = False
    trial.run()
    trial.stage.answers["choice-round-2"] = answer

    trial.run()

    assert len(trial.stage.agent.asked("planner")) == 2
    assert mark in trial.plan_text


def test_guidance_of_a_person_reaches_the_planner(tmp_path: Path):
    texts = (plan(), plan(more="D-01, again,"), plan(more="D-01, guided,"))
    trial = new_trial(tmp_path, plans(*texts), checks([issue()], [issue()], []))
    trial.stage.is_auto = False
    trial.stage.answers["choice-round-2"] = "fix: use one file"

    report = trial.run()

    assert report.job.status is JobStatus.DONE
    assert "use one file" in trial.stage.agent.asked("planner")[2].prompt


def test_abandoning_writes_nothing(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))
    trial.stage.is_auto = False
    trial.stage.answers["choice-round-2"] = "abandon"

    report = trial.run()

    assert report.job.status is JobStatus.FAILED
    assert not (trial.stage.project / PLANNING / "01-01-PLAN.md").exists()


def test_open_plans_are_replaced_only_on_request(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()))
    trial.run()

    with pytest.raises(PlansThere):
        trial.planning.preview("1", trial.options, {})


def test_replanning_replaces_open_plans_in_a_new_job(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, anew,")))
    trial.run()
    trial.options = PlanOptions(replan=True)
    trial.stage.clock.now()

    trial.planning.preview("1", trial.options, {})
    trial.run()

    assert "anew" in trial.plan_text


def test_remarks_cause_no_further_round(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()), checks([issue("warning", "a longer name")]))

    report = trial.run()

    assert len(trial.stage.agent.asked("planner")) == 1
    assert "2 remarks" in report.job.note


def test_the_form_is_checked_without_the_checker(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(requirements="THING-01"), plan()), check=False)

    report = trial.run()

    assert report.job.status is JobStatus.DONE
    assert trial.stage.agent.asked("plan-checker") == []
    assert len(trial.stage.agent.asked("planner")) == 2


def test_a_blocked_planner_ends_the_job_with_its_reason(tmp_path: Path):
    trial = new_trial(tmp_path, lambda _order, _call: {"status": "blocked", "reason": "too large"})

    report = trial.run()

    assert (report.job.status, report.job.note) == (JobStatus.BLOCKED, "planner: too large")


def test_calls_of_a_killed_run_are_not_repeated(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()))

    def dies(_: AgentCall, __: int) -> Answer:
        raise KeyboardInterrupt

    trial.stage.agent.plays = {**trial.stage.agent.plays, "plan-checker": dies}
    with pytest.raises(KeyboardInterrupt):
        trial.run()
    trial.stage.over = OneTimeEvent()  # the next run is another process
    trial.stage.agent.plays = {**trial.stage.agent.plays, "plan-checker": checks([])}

    report = trial.run()

    assert report.job.status is JobStatus.DONE
    assert len(trial.stage.agent.asked("planner")) == 1
    assert len(trial.stage.agent.asked("phase-researcher")) == 1


def test_plans_of_a_rehearsal_are_marked_and_not_executed(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()))
    trial.stage.is_rehearsed = True

    trial.run()

    assert read_plan(f"{PLANNING}/01-01-PLAN.md", trial.plan_text).is_rehearsed
    with pytest.raises(PlansUnfit, match="rehearsal"):
        trial.execution.require_ready(trial.execution.preview("1"))


def test_all_written_documents_are_committed(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()), is_git=True)

    trial.run()

    assert git(trial.stage.project, "status", "--porcelain") == ""
    assert "docs(01): plans of phase 1" in git(trial.stage.project, "log", "--format=%s")


def test_a_preview_asks_no_role_and_changes_nothing(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()), is_git=True)

    preview = trial.planning.preview("1", trial.options, {"planner": "opus"})

    assert [each.role for each in preview.calls] == [
        "phase-researcher",
        "pattern-mapper",
        "planner",
        "plan-checker",
    ]
    assert trial.stage.agent.orders == []
    assert git(trial.stage.project, "status", "--porcelain") == ""


def test_planning_ahead_keeps_the_executing_phase_active(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()), checks([issue()]))
    second = ROADMAP.replace(
        "### Phase 1: Work", "### Phase 2: Else\n\n**Goal**: x\n\n### Phase 1: Work"
    )
    listed = "- [ ] **Phase 1: Work** - it works\n"
    written(
        trial.stage.project / ".planning/ROADMAP.md",
        second.replace(listed, f"{listed}- [ ] **Phase 2: Else** - x\n"),
    )
    state = trial.stage.project / ".planning/STATE.md"
    text = STATE.replace(
        "status: planning\nactive_phase: null", 'status: executing\nactive_phase: "2"'
    )
    written(state, text)

    trial.run()

    assert 'active_phase: "2"' in state.read_text("utf-8")


def objects(*rounds: list[str]) -> Play:
    def play(_: AgentCall, count: int) -> Answer:
        found = rounds[min(count, len(rounds)) - 1]
        objections = [
            {"severity": "blocker", "where": "01-01", "objection": each, "settled_by": "a test"}
            for each in found
        ]
        return {"verdict": "DOUBTFUL" if found else "SOUND", "objections": objections}

    return play


def test_a_critic_reviews_plans_that_passed(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, fixed,")), critic=True)
    trial.stage.agent.plays = {**trial.stage.agent.plays, "critic": objects(["no way back"], [])}

    report = trial.run()

    assert report.job.status is JobStatus.DONE
    assert "no way back" in trial.stage.agent.asked("planner")[1].prompt
    assert [each.role for each in trial.stage.agent.orders[-2:]] == ["plan-checker", "critic"]


def test_gaps_of_a_verification_reach_the_planner(tmp_path: Path):
    def second(order: AgentCall, _: int) -> Answer:
        text = plan(2, requirements="THING-01")
        written(Path(order.folder) / "fairlead-output" / "01-02-PLAN.md", text)
        return {"status": "done"}

    trial = new_trial(tmp_path, second)
    listed = "**Plans**: 1/1 plans complete\n\nPlans:\n- [x] 01-01-PLAN.md — my own words"
    roadmap = ROADMAP.replace("**Plans**: TBD", listed)
    written(trial.stage.project / ".planning/ROADMAP.md", roadmap)
    folder = trial.stage.project / PLANNING
    written(folder / "01-01-PLAN.md", plan())
    written(folder / "01-01-SUMMARY.md", "---\nphase: 01-work\nplan: 1\n---\n\n# Done\n")
    written(folder / "01-VERIFICATION.md", "---\nstatus: gaps_found\n---\n\nno thing is there\n")

    report = trial.run()

    assert report.job.status is JobStatus.DONE, report.job.note
    asked = trial.stage.agent.asked("planner")[0].prompt
    assert "no thing is there" in asked
    assert "begin with 2" in asked
    assert "- [x] 01-01-PLAN.md — my own words" in trial.text(".planning/ROADMAP.md")
    assert "**Plans**: 1/2 plans complete" in trial.text(".planning/ROADMAP.md")


def test_acceptance_holds_only_for_the_same_plans(tmp_path: Path):
    texts = (plan(), plan(more="D-01, again,"), plan(more="D-01, third,"), plan(more="D-01, 4th,"))
    trial = new_trial(tmp_path, plans(*texts), checks([issue()]))
    trial.stage.is_auto = False
    waits = trial.run()
    (asked,) = (each for each in waits.questions if not each.answer)
    trial.stage.person.answer(waits.job.id, "proceed", asked.id)
    written(trial.stage.project / PLANNING / "01-CONTEXT.md", f"{CONTEXT}\nMore.\n")

    report = trial.run()

    assert report.job.status is JobStatus.BLOCKED
    assert not (trial.stage.project / PLANNING / "01-01-PLAN.md").exists()


def test_skipped_research_is_not_paid_again(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()), checks([]))
    trial.options = replace(trial.options, research=True)
    plays = {**trial.stage.agent.plays, "phase-researcher": lambda _order, _call: "no idea"}
    trial.stage.agent.plays = plays
    trial.stage.is_auto = False
    trial.run()
    count = len(trial.stage.agent.asked("phase-researcher"))
    (job,) = (trial.stage.project / ".planning/jobs").iterdir()
    trial.stage.person.answer(job.name, "continue", "choice-research")

    assert trial.run().job.status is JobStatus.DONE
    assert len(trial.stage.agent.asked("phase-researcher")) == count


def test_plans_are_kept_if_the_checker_fails(tmp_path: Path):
    def fails_first(order: AgentCall, count: int) -> Answer:
        return "no verdict" if count < 3 else checks([])(order, count)

    trial = new_trial(tmp_path, plans(plan()), fails_first)
    failed = trial.run()

    done = trial.run()

    assert (failed.job.status, done.job.status) == (JobStatus.FAILED, JobStatus.DONE)
    assert len(trial.stage.agent.asked("planner")) == 1


def test_a_failed_workflow_can_be_cancelled_and_started_again(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()), lambda _order, _call: "no verdict")
    failed = trial.run()
    trial.stage.person.cancel(failed.job.id)

    assert trial.planning.preview("1", trial.options, {}).resumes == ""


def test_a_replaced_plan_is_kept(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan(), plan(more="D-01, anew,")), replan=True)
    trial.run()
    mine = trial.plan_text + "\nMy own words.\n"
    written(trial.stage.project / PLANNING / "01-01-PLAN.md", mine)

    report = trial.run()

    kept = report.job.note.partition("version: ")[2]
    assert ("anew" in trial.plan_text, trial.text(kept)) == (True, mine)


def test_a_plan_written_during_the_run_is_not_replaced(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()))
    usual = trial.stage.agent.plays["planner"]

    def beside(order: AgentCall, count: int) -> Answer:
        written(trial.stage.project / PLANNING / "01-01-PLAN.md", plan(more="D-01, mine,"))
        return usual(order, count)

    trial.stage.agent.plays = {**trial.stage.agent.plays, "planner": beside}

    with pytest.raises(ChangedMeanwhile):
        trial.run()
    assert "mine" in trial.plan_text


def test_a_superseded_plan_keeps_its_number(tmp_path: Path):
    def second(order: AgentCall, _: int) -> Answer:
        written(Path(order.folder) / "fairlead-output" / "01-02-PLAN.md", plan(2))
        return {"status": "done"}

    trial = new_trial(tmp_path, second)
    old = plan().replace("---\n", "---\nstatus: superseded\n", 1)
    written(trial.stage.project / PLANNING / "01-01-PLAN.md", old)

    assert trial.run().job.status is JobStatus.DONE
    assert trial.plan_text == old


def test_a_plan_without_a_number_is_accepted(tmp_path: Path):
    trial = new_trial(tmp_path, plans(plan()))
    written(trial.stage.project / PLANNING / "PLAN.md", plan())
    written(trial.stage.project / PLANNING / "SUMMARY.md", "# Done\n\nIt is made.\n")

    assert trial.planning.preview("1", trial.options, {}).phase == "1"
