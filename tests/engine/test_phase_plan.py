"""`phase plan`: rounds with a real project, and no way by which plans that failed are carried out."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fairlead.engine.execution import Execution
from fairlead.engine.phase_documents import PhaseDocuments
from fairlead.engine.phase_plan import PhasePlanning
from fairlead.engine.plan_asks import Wishes
from fairlead.engine.role_jobs import RoleReport
from fairlead.errors import ChangedMeanwhile, PlansThere, PlansUnfit
from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus
from fairlead.records.plan_sheet import read_plan
from fairlead.store.files import Files
from tests.support.execution import Works
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
    def play(order: Order, count: int) -> Answer:
        text = texts[min(count, len(texts)) - 1]
        written(Path(order.folder) / "fairlead-output" / "01-01-PLAN.md", text)
        return {"status": "done"}

    return play


def issue(severity: str = "blocker", what: str = "the goal is missed") -> dict[str, object]:
    return {"plan": "01-01", "severity": severity, "description": what, "fix_hint": "mend it"}


def checks(*rounds: list[dict[str, object]]) -> Play:
    def play(_: Order, count: int) -> Answer:
        found = rounds[min(count, len(rounds)) - 1]
        return {"verdict": "ISSUES" if found else "PASSED", "issues": found}

    return play


@dataclass
class Trial:
    """A project that is planned."""

    stage: Stage
    wishes: Wishes

    @property
    def planning(self) -> PhasePlanning:
        files = Files(str(self.stage.project))
        return PhasePlanning(self.stage.jobs, PhaseDocuments(files, self.stage.clock))

    def run(self) -> RoleReport:
        return self.planning.carry_out("1", self.wishes, self.stage.company)

    def text(self, path: str) -> str:
        return (self.stage.project / path).read_text("utf-8")

    @property
    def plan_text(self) -> str:
        return self.text(f"{PLANNING}/01-01-PLAN.md")

    @property
    def execution(self) -> Execution:
        return Works(self.stage.project).execution


def trial(
    tmp_path: Path,
    planner: Play,
    checker: Play | None = None,
    *,
    is_git: bool = False,
    **wishes: bool,
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
    return Trial(Stage(project, Player(plays)), Wishes(**wishes))


def test_a_phase_becomes_plans_and_every_document_follows(tmp_path: Path):
    held = trial(tmp_path, plans(plan()), is_git=True)

    report = held.run()

    assert report.job.status is JobStatus.DONE
    state = held.text(".planning/STATE.md")
    assert "next_action: execute-phase" in state
    assert 'next_phases: ["1"]' in state
    assert "active_phase: null" in state
    roadmap = held.text(".planning/ROADMAP.md")
    assert "**Plans**: 1 plan\n\nPlans:\n**Wave 1**\n- [ ] 01-01-PLAN.md — A thing.\n" in roadmap
    assert "| 1. Work | 0/1 | Not started | - |" in roadmap
    assert "wave: 1\n" in held.plan_text


def test_research_and_patterns_come_before_the_plans_and_reach_the_planner(tmp_path: Path):
    held = trial(tmp_path, plans(plan()))

    held.run()

    assert [each.role for each in held.stage.agent.orders] == [
        "phase-researcher",
        "pattern-mapper",
        "planner",
        "plan-checker",
    ]
    asked = held.stage.agent.asked("planner")[0].prompt
    assert "Use what is there." in asked
    assert "D-01" in asked
    assert "THING-02: another" in asked


def test_while_it_lasts_the_phase_is_the_active_one(tmp_path: Path):
    seen: list[str] = []
    held = trial(tmp_path, plans(plan()))

    def planner(order: Order, count: int) -> Answer:
        seen.append(held.text(".planning/STATE.md"))
        return plans(plan())(order, count)

    held.stage.agent.plays = {**held.stage.agent.plays, "planner": planner}
    held.run()

    assert 'active_phase: "1"' in seen[0] or "active_phase: 1" in seen[0]
    assert "status: planning" in seen[0]


def test_what_the_checker_finds_is_mended_in_the_next_round(tmp_path: Path):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, mended,")), checks([issue()], []))

    report = held.run()

    assert report.job.status is JobStatus.DONE
    assert "mended" in held.plan_text
    assert "the goal is missed" in held.stage.agent.asked("planner")[1].prompt


def test_faults_of_form_are_found_without_asking_the_checker(tmp_path: Path):
    held = trial(tmp_path, plans(plan(requirements="THING-01"), plan()))

    held.run()

    assert len(held.stage.agent.asked("plan-checker")) == 1
    assert "no plan has requirement THING-02" in held.stage.agent.asked("planner")[1].prompt


def test_a_decision_that_no_plan_carries_out_is_a_fault(tmp_path: Path):
    held = trial(tmp_path, plans(plan(more="nobody"), plan()))

    held.run()

    assert "no plan carries out D-01" in held.stage.agent.asked("planner")[1].prompt


def test_after_three_revisions_nobody_is_asked_again(tmp_path: Path):
    better = [[issue(what=f"fault {at}") for at in range(left)] for left in (9, 8, 7, 6, 5, 4)]
    held = trial(tmp_path, plans(*(plan(more=f"D-01, {at},") for at in range(9))), checks(*better))

    report = held.run()

    assert len(held.stage.agent.asked("planner")) == 4
    assert report.job.status is JobStatus.BLOCKED


def test_a_stall_ends_the_rounds_at_once(tmp_path: Path):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))

    held.run()

    assert len(held.stage.agent.asked("planner")) == 2


def test_plans_that_failed_are_written_with_a_mark_that_execution_refuses(tmp_path: Path):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))

    report = held.run()

    assert "plan_check: failed" in held.plan_text
    assert "cannot be executed" in report.job.note
    assert "next_action: plan-phase" in held.text(".planning/STATE.md")
    preview = held.execution.preview("1")
    with pytest.raises(PlansUnfit, match="failed its check"):
        held.execution.require_ready(preview)


def test_without_a_policy_nothing_is_written_until_a_person_has_answered(tmp_path: Path):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))
    held.stage.is_auto = False

    report = held.run()

    assert report.job.status is JobStatus.BLOCKED
    assert [each.subject for each in report.questions if not each.answer] == ["round-2"]
    assert not (held.stage.project / PLANNING / "01-01-PLAN.md").exists()
    assert "active_phase: null" in held.text(".planning/STATE.md")


@pytest.mark.parametrize(
    ("answer", "mark"), [("proceed", "plan_check: accepted"), ("keep", "plan_check: failed")]
)
def test_the_answer_of_a_person_goes_on_where_it_waited(tmp_path: Path, answer: str, mark: str):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))
    held.stage.is_auto = False
    held.run()
    held.stage.answers["choice-round-2"] = answer

    held.run()

    assert len(held.stage.agent.asked("planner")) == 2
    assert mark in held.plan_text


def test_guidance_of_a_person_reaches_the_planner(tmp_path: Path):
    texts = (plan(), plan(more="D-01, again,"), plan(more="D-01, guided,"))
    held = trial(tmp_path, plans(*texts), checks([issue()], [issue()], []))
    held.stage.is_auto = False
    held.stage.answers["choice-round-2"] = "fix: use one file"

    report = held.run()

    assert report.job.status is JobStatus.DONE
    assert "use one file" in held.stage.agent.asked("planner")[2].prompt


def test_abandoning_writes_nothing(tmp_path: Path):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, again,")), checks([issue()]))
    held.stage.is_auto = False
    held.stage.answers["choice-round-2"] = "abandon"

    report = held.run()

    assert report.job.status is JobStatus.FAILED
    assert not (held.stage.project / PLANNING / "01-01-PLAN.md").exists()


def test_open_plans_are_not_replaced_unasked(tmp_path: Path):
    held = trial(tmp_path, plans(plan()))
    held.run()

    with pytest.raises(PlansThere):
        held.planning.preview("1", held.wishes, {})


def test_planning_anew_replaces_open_plans_and_begins_a_job_of_its_own(tmp_path: Path):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, anew,")))
    held.run()
    held.wishes = Wishes(replan=True)
    held.stage.clock.now()

    held.planning.preview("1", held.wishes, {})
    held.run()

    assert "anew" in held.plan_text


def test_remarks_alone_cost_no_round(tmp_path: Path):
    held = trial(tmp_path, plans(plan()), checks([issue("warning", "a longer name")]))

    report = held.run()

    assert len(held.stage.agent.asked("planner")) == 1
    assert "2 remarks" in report.job.note


def test_without_the_checker_the_form_is_checked_still(tmp_path: Path):
    held = trial(tmp_path, plans(plan(requirements="THING-01"), plan()), check=False)

    report = held.run()

    assert report.job.status is JobStatus.DONE
    assert held.stage.agent.asked("plan-checker") == []
    assert len(held.stage.agent.asked("planner")) == 2


def test_a_planner_that_gives_nothing_ends_the_job_with_the_reason(tmp_path: Path):
    held = trial(tmp_path, lambda _order, _call: {"status": "blocked", "reason": "too large"})

    report = held.run()

    assert (report.job.status, report.job.note) == (JobStatus.BLOCKED, "planner: too large")


def test_what_a_killed_run_had_is_not_asked_again(tmp_path: Path):
    held = trial(tmp_path, plans(plan()))

    def dies(_: Order, __: int) -> Answer:
        raise KeyboardInterrupt

    held.stage.agent.plays = {**held.stage.agent.plays, "plan-checker": dies}
    with pytest.raises(KeyboardInterrupt):
        held.run()
    held.stage.agent.plays = {**held.stage.agent.plays, "plan-checker": checks([])}

    report = held.run()

    assert report.job.status is JobStatus.DONE
    assert len(held.stage.agent.asked("planner")) == 1
    assert len(held.stage.agent.asked("phase-researcher")) == 1


def test_plans_of_a_rehearsal_say_so_and_are_not_carried_out_in_earnest(tmp_path: Path):
    held = trial(tmp_path, plans(plan()))
    held.stage.is_rehearsed = True

    held.run()

    assert read_plan(f"{PLANNING}/01-01-PLAN.md", held.plan_text).is_rehearsed
    with pytest.raises(PlansUnfit, match="rehearsal"):
        held.execution.require_ready(held.execution.preview("1"))


def test_everything_that_was_written_is_in_git(tmp_path: Path):
    held = trial(tmp_path, plans(plan()), is_git=True)

    held.run()

    assert git(held.stage.project, "status", "--porcelain") == ""
    assert "docs(01): plans of phase 1" in git(held.stage.project, "log", "--format=%s")


def test_a_dry_look_asks_nobody_and_changes_nothing(tmp_path: Path):
    held = trial(tmp_path, plans(plan()), is_git=True)

    preview = held.planning.preview("1", held.wishes, {"planner": "opus"})

    assert [each.role for each in preview.receipts] == [
        "phase-researcher",
        "pattern-mapper",
        "planner",
        "plan-checker",
    ]
    assert held.stage.agent.orders == []
    assert git(held.stage.project, "status", "--porcelain") == ""


def test_planning_ahead_leaves_the_phase_that_is_executed_the_active_one(tmp_path: Path):
    held = trial(tmp_path, plans(plan()), checks([issue()]))
    second = ROADMAP.replace(
        "### Phase 1: Work", "### Phase 2: Else\n\n**Goal**: x\n\n### Phase 1: Work"
    )
    listed = "- [ ] **Phase 1: Work** - it works\n"
    written(
        held.stage.project / ".planning/ROADMAP.md",
        second.replace(listed, f"{listed}- [ ] **Phase 2: Else** - x\n"),
    )
    state = held.stage.project / ".planning/STATE.md"
    text = STATE.replace(
        "status: planning\nactive_phase: null", 'status: executing\nactive_phase: "2"'
    )
    written(state, text)

    held.run()

    assert 'active_phase: "2"' in state.read_text("utf-8")


def objects(*rounds: list[str]) -> Play:
    def play(_: Order, count: int) -> Answer:
        found = rounds[min(count, len(rounds)) - 1]
        objections = [
            {"severity": "blocker", "where": "01-01", "objection": each, "settled_by": "a test"}
            for each in found
        ]
        return {"verdict": "DOUBTFUL" if found else "SOUND", "objections": objections}

    return play


def test_a_critic_looks_at_plans_that_passed_and_is_heard(tmp_path: Path):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, mended,")), critic=True)
    held.stage.agent.plays = {**held.stage.agent.plays, "critic": objects(["no way back"], [])}

    report = held.run()

    assert report.job.status is JobStatus.DONE
    assert "no way back" in held.stage.agent.asked("planner")[1].prompt
    assert [each.role for each in held.stage.agent.orders[-2:]] == ["plan-checker", "critic"]


def test_what_a_verification_found_missing_is_what_the_next_plans_are_about(tmp_path: Path):
    def second(order: Order, _: int) -> Answer:
        text = plan(2, requirements="THING-01")
        written(Path(order.folder) / "fairlead-output" / "01-02-PLAN.md", text)
        return {"status": "done"}

    held = trial(tmp_path, second)
    listed = "**Plans**: 1/1 plans complete\n\nPlans:\n- [x] 01-01-PLAN.md — my own words"
    roadmap = ROADMAP.replace("**Plans**: TBD", listed)
    written(held.stage.project / ".planning/ROADMAP.md", roadmap)
    folder = held.stage.project / PLANNING
    written(folder / "01-01-PLAN.md", plan())
    written(folder / "01-01-SUMMARY.md", "---\nphase: 01-work\nplan: 1\n---\n\n# Done\n")
    written(folder / "01-VERIFICATION.md", "---\nstatus: gaps_found\n---\n\nno thing is there\n")

    report = held.run()

    assert report.job.status is JobStatus.DONE, report.job.note
    asked = held.stage.agent.asked("planner")[0].prompt
    assert "no thing is there" in asked
    assert "begin with 2" in asked
    assert "- [x] 01-01-PLAN.md — my own words" in held.text(".planning/ROADMAP.md")
    assert "**Plans**: 1/2 plans complete" in held.text(".planning/ROADMAP.md")


def test_who_took_plans_as_they_are_has_not_taken_others(tmp_path: Path):
    texts = (plan(), plan(more="D-01, again,"), plan(more="D-01, third,"), plan(more="D-01, 4th,"))
    held = trial(tmp_path, plans(*texts), checks([issue()]))
    held.stage.is_auto = False
    waits = held.run()
    (asked,) = (each for each in waits.questions if not each.answer)
    held.stage.person.answer(waits.job.id, "proceed", asked.id)
    written(held.stage.project / PLANNING / "01-CONTEXT.md", f"{CONTEXT}\nMore.\n")

    report = held.run()

    assert report.job.status is JobStatus.BLOCKED
    assert not (held.stage.project / PLANNING / "01-01-PLAN.md").exists()


def test_research_that_a_person_goes_without_is_not_paid_again(tmp_path: Path):
    held = trial(tmp_path, plans(plan()), checks([]))
    held.wishes = replace(held.wishes, research=True)
    plays = {**held.stage.agent.plays, "phase-researcher": lambda _order, _call: "no idea"}
    held.stage.agent.plays = plays
    held.stage.is_auto = False
    held.run()
    count = len(held.stage.agent.asked("phase-researcher"))
    (job,) = (held.stage.project / ".planning/jobs").iterdir()
    held.stage.person.answer(job.name, "continue", "choice-research")

    assert held.run().job.status is JobStatus.DONE
    assert len(held.stage.agent.asked("phase-researcher")) == count


def test_a_checker_that_fails_does_not_cost_the_plans(tmp_path: Path):
    def fails_first(order: Order, count: int) -> Answer:
        return "no verdict" if count < 3 else checks([])(order, count)

    held = trial(tmp_path, plans(plan()), fails_first)
    failed = held.run()

    done = held.run()

    assert (failed.job.status, done.job.status) == (JobStatus.FAILED, JobStatus.DONE)
    assert len(held.stage.agent.asked("planner")) == 1


def test_a_failed_workflow_can_be_ended_and_begun_anew(tmp_path: Path):
    held = trial(tmp_path, plans(plan()), lambda _order, _call: "no verdict")
    failed = held.run()
    held.stage.person.cancel(failed.job.id, held.stage.jobs.workspace, keeps_documents=True)

    assert held.planning.preview("1", held.wishes, {}).resumes == ""


def test_a_plan_that_is_replaced_is_kept(tmp_path: Path):
    held = trial(tmp_path, plans(plan(), plan(more="D-01, anew,")), replan=True)
    held.run()
    mine = held.plan_text + "\nMy own words.\n"
    written(held.stage.project / PLANNING / "01-01-PLAN.md", mine)

    report = held.run()

    kept = report.job.note.partition("before: ")[2]
    assert ("anew" in held.plan_text, held.text(kept)) == (True, mine)


def test_a_plan_that_somebody_writes_meanwhile_is_not_replaced(tmp_path: Path):
    held = trial(tmp_path, plans(plan()))
    usual = held.stage.agent.plays["planner"]

    def beside(order: Order, count: int) -> Answer:
        written(held.stage.project / PLANNING / "01-01-PLAN.md", plan(more="D-01, mine,"))
        return usual(order, count)

    held.stage.agent.plays = {**held.stage.agent.plays, "planner": beside}

    with pytest.raises(ChangedMeanwhile):
        held.run()
    assert "mine" in held.plan_text


def test_a_plan_that_was_given_up_keeps_its_place(tmp_path: Path):
    def second(order: Order, _: int) -> Answer:
        written(Path(order.folder) / "fairlead-output" / "01-02-PLAN.md", plan(2))
        return {"status": "done"}

    held = trial(tmp_path, second)
    old = plan().replace("---\n", "---\nstatus: superseded\n", 1)
    written(held.stage.project / PLANNING / "01-01-PLAN.md", old)

    assert held.run().job.status is JobStatus.DONE
    assert held.plan_text == old


def test_a_plan_without_a_number_is_no_obstacle(tmp_path: Path):
    held = trial(tmp_path, plans(plan()))
    written(held.stage.project / PLANNING / "PLAN.md", plan())
    written(held.stage.project / PLANNING / "SUMMARY.md", "# Done\n\nIt is made.\n")

    assert held.planning.preview("1", held.wishes, {}).phase == "1"
