"""Events on disk: one step each, decided from the files as they are under the lock."""

import re
from pathlib import Path

import pytest

from fairlead.project.errors import DerivedValue, PlansOpen
from fairlead.project.events import LandedPlan
from fairlead.project.handoff import WaitingQuestion
from fairlead.project.health.check import compare_project
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.gate import OpenTask
from fairlead.project.state.gate_rules import GateEvent
from fairlead.project.state.metrics import Metric
from fairlead.store.errors import NoDocument
from fairlead.store.reader import Reader
from fairlead.text.errors import ConflictMarkers, UnwritableValue
from tests.support.projects import Project
from tests.support.states import STATE, changed_lines


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.plan("1", 1)
    project.plan("1", 2)
    return project


def test_a_phase_goes_from_its_plans_to_its_end(project: Project) -> None:
    project.events.plans_ready("1")
    project.events.execution_started("1")
    project.summary("1", 1)
    project.events.plan_completed()
    project.summary("1", 2)
    project.events.plan_completed()
    project.phases.complete("1")

    assert "Phase: 2 of 3 (API)" in project.state
    assert "completed_plans: 2" in project.state
    assert "- Total plans completed: 2" in project.state
    assert "percent: 33" in project.state
    assert "Progress: [███░░░░░░░] 33%" in project.state


DETAILS = """
## Phase Details

### Phase 1: Core

**Plans**: TBD

- [ ] 01-01-PLAN.md
- [ ] 01-02-PLAN.md

## Progress

| Phase | Plans Complete | Status | Completed |
|-------|----------------|--------|-----------|
| 1. Core | 0/TBD | Not started | - |
"""


def drift(project: Project) -> list[str]:
    findings = compare_project(Reader(str(project.folder))).drift
    return [f"{each.what}: {each.said}" for each in findings]


def test_no_event_leaves_documents_and_files_apart(project: Project) -> None:
    project.events.sync()
    assert drift(project) == []
    with (project.planning / "ROADMAP.md").open("a") as roadmap:
        roadmap.write(DETAILS)
    project.events.planning_started("1")
    project.events.plans_ready("1")
    assert drift(project) == []
    project.events.execution_started("1")
    assert drift(project) == []
    for plan in (1, 2):
        project.summary("1", plan)
        project.events.task_result(TaskResult("Task", TaskOutcome.SUCCESS))
        assert drift(project) == []
        project.events.plan_completed("1", plan=str(plan))
        assert drift(project) == []
        project.events.metric(Metric("1", str(plan), "5m"))
        assert drift(project) == []
    project.phases.complete("1")
    assert drift(project) == []


def test_plans_for_a_finished_phase_take_back_what_the_roadmap_says_of_it(project: Project) -> None:
    roadmap = project.planning / "ROADMAP.md"
    roadmap.write_text(roadmap.read_text("utf-8") + DETAILS, "utf-8")
    for plan in (1, 2):
        project.summary("1", plan)
    project.events.plan_completed("1")
    assert "(completed 2026-06-01)" in roadmap.read_text("utf-8")
    project.plan("1", 3)

    project.events.plans_ready("1")

    text = roadmap.read_text("utf-8")
    assert "- [ ] **Phase 1: Core** - first\n" in text
    assert "| 1. Core | 2/3 | In progress | - |" in text
    assert "**Plans**: 2/3 plans complete" in text
    assert compare_project(Reader(str(project.folder))).findings == ()


def test_a_plan_lands_with_its_summary_and_both_documents_in_one_step(project: Project) -> None:
    with (project.planning / "ROADMAP.md").open("a") as roadmap:
        roadmap.write(DETAILS)
    project.events.execution_started("1")
    home = ".planning/phases/01-core"
    path, text = f"{home}/01-01-SUMMARY.md", "# Summary\n\nDone.\n"
    landed = LandedPlan(f"{home}/01-01-PLAN.md", path, text, {path: lambda _: text})
    outcome = project.events.follow("1", landed)

    assert set(outcome.paths) == {path, ".planning/ROADMAP.md", ".planning/STATE.md"}
    assert drift(project) == []


def test_a_refused_event_leaves_every_byte(project: Project) -> None:
    before = project.snapshot()
    with pytest.raises(PlansOpen):
        project.events.plan_completed("1")

    assert project.snapshot() == before


def test_a_dry_run_reports_the_change_and_writes_nothing(project: Project) -> None:
    before = project.snapshot()
    outcome = project.events.execution_started("1", dry_run=True)

    assert project.snapshot() == before
    assert outcome.paths == (".planning/STATE.md",)


def test_an_event_that_has_happened_changes_nothing(project: Project) -> None:
    project.events.plans_ready("1")
    before = project.snapshot()

    assert project.events.plans_ready("1").changes == ()
    assert project.snapshot() == before


def test_a_person_s_last_activity_that_a_result_replaces_is_kept_in_the_archive(
    tmp_path: Path,
) -> None:
    line = "Last activity: 2026-05-30 — Long talk with Bob"
    project = Project(tmp_path, STATE.replace("Last activity: 2026-05-01", line))
    project.plan("1", 1)
    project.events.task_result(TaskResult("Task 1", TaskOutcome.SUCCESS, "1"))

    assert line not in project.state
    assert line in (project.planning / "STATE-ARCHIVE.md").read_text("utf-8")


def test_a_document_that_cannot_be_written_is_refused_with_its_place(tmp_path: Path) -> None:
    project = Project(tmp_path, STATE + "<<<<<<< a\n=======\n>>>>>>> b\n")
    with pytest.raises(ConflictMarkers, match=r"\.planning/STATE\.md:"):
        project.events.sync()


def test_a_missing_document_is_reported(project: Project) -> None:
    (project.planning / "STATE.md").unlink()
    with pytest.raises(NoDocument):
        project.events.sync()


def test_a_question_is_asked_once_and_goes_when_it_is_answered(project: Project) -> None:
    waiting = project.planning / "WAITING.json"
    project.events.waiting(WaitingQuestion("Which database?", ("A", "B"), "1"))
    first = waiting.read_bytes()
    project.events.waiting(WaitingQuestion("Which database?"))
    assert waiting.read_bytes() == first

    project.events.answered()
    assert not waiting.exists()
    assert not project.events.answered().places.moves


def test_pruning_moves_entries_to_the_archive_in_one_step(tmp_path: Path) -> None:
    decisions = "\n".join(f"- [Phase 1]: decision {at}" for at in range(120))
    project = Project(
        tmp_path, STATE.replace("### Decisions\n\nNone yet.", f"### Decisions\n\n{decisions}")
    )
    outcome = project.events.prune()
    archive = (project.planning / "STATE-ARCHIVE.md").read_text("utf-8")

    assert set(outcome.paths) == {".planning/STATE.md", ".planning/STATE-ARCHIVE.md"}
    assert len(project.state.splitlines()) <= 100
    for at in range(120):
        assert f"- [Phase 1]: decision {at}" in (project.state + archive).splitlines()
    assert project.events.prune().changes == ()


def test_a_blocker_changes_its_own_line_and_the_time(project: Project) -> None:
    project.events.blocker_added("No sandbox", phase="1")

    assert changed_lines(STATE, project.state) == [
        'last_updated: "2026-06-01T12:00:00.000Z"',
        "- [Phase 1]: No sandbox",
    ]


def test_the_last_phase_keeps_the_focus_and_no_other_finished_one_does(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for phase in "123":
        project.plan(phase, 1)
        project.summary(phase, 1)
    project.phases.complete("1")
    project.phases.update_progress()
    assert "**Current focus:** Phase 3 — UI\n" in project.state
    assert drift(project) == []
    assert project.events.sync().changes == ()


def test_after_the_last_phase_the_focus_is_what_comes_next(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for phase in "123":
        project.plan(phase, 1)
        project.summary(phase, 1)
        folder = next(project.planning.glob(f"phases/0{phase}-*"))
        (folder / f"0{phase}-VERIFICATION.md").write_text("---\nstatus: passed\n---\n", "utf-8")
    project.phases.complete("3")
    project.phases.update_progress()
    assert "**Current focus:** Completing milestone v1.0\n" in project.state
    assert drift(project) == []

    project.phases.add("Reports")
    project.events.planning_started("4")
    assert "**Current focus:** Phase 4 — Reports\n" in project.state
    assert drift(project) == []


PLAIN = STATE.replace("next_action: plan-phase", "next_action: discuss-phase")
OWN = PLAIN.replace("Status: Ready to plan", "Status: Waiting for Bob")


def front(project: Project, *keys: str) -> tuple[object, ...]:
    return tuple(project.events.value(key) for key in keys)


@pytest.fixture
def own(tmp_path: Path) -> Project:
    """A project whose status in the body a person wrote; the frontmatter knows none."""
    project = Project(tmp_path, OWN.replace("status: planning", "status: unknown"))
    project.plan("1", 1)
    return project


def test_a_persons_status_line_stays_and_the_frontmatter_follows_each_step(own: Project) -> None:
    seen: list[object] = []
    own.events.planning_started("1")
    seen += front(own, "status")
    own.events.execution_started("1")
    seen += front(own, "status")
    own.summary("1", 1)
    own.events.plan_completed()
    own.events.verification_started("1")
    seen += front(own, "status", "active_phase")

    assert seen == ["planning", "executing", "verifying", "1"]
    assert "Status: Waiting for Bob" in own.state
    assert own.events.sync().changes == ()


@pytest.mark.parametrize("text", [PLAIN, OWN], ids=["a command's status", "a person's status"])
@pytest.mark.parametrize("by", ["resume", "set"])
def test_a_pause_that_ends_leaves_no_place_paused(tmp_path: Path, text: str, by: str) -> None:
    project = Project(tmp_path, text)
    project.events.paused("Before the migration")
    if by == "set":
        project.events.set_value("paused_at", "null")
    else:
        project.sessions.resume()

    assert front(project, "status") == ("planning",)
    assert "paused_at" not in project.state
    assert "Paused" not in project.state
    assert project.events.sync(dry_run=True).changes == ()


def test_a_status_left_over_from_a_pause_is_found_and_can_be_resumed(tmp_path: Path) -> None:
    project = Project(tmp_path, OWN.replace("status: planning", "status: paused"))

    assert drift(project) == ["status: paused"]
    project.sessions.resume()

    assert front(project, "status") == ("planning",)
    assert drift(project) == []


def test_the_task_that_ends_a_phase_ends_the_work_on_it(project: Project) -> None:
    project.events.execution_started("1")
    for plan in (1, 2):
        project.summary("1", plan)
    project.events.task_result(TaskResult("Task 2: B", TaskOutcome.SUCCESS))

    assert front(project, "active_phase", "next_action", "next_phases") == (
        None,
        "verify-phase",
        ["1"],
    )
    project.phases.complete("1")
    assert front(project, "Stopped at", "stopped_at") == ("Phase 1 complete",) * 2


def test_the_end_of_a_phase_is_recorded_after_its_verification_began(project: Project) -> None:
    project.events.execution_started("1")
    for plan in (1, 2):
        project.summary("1", plan)
        project.events.plan_completed()
    project.events.verification_started("1")
    verified = project.planning / "phases/01-core/01-VERIFICATION.md"
    verified.write_text("---\nstatus: passed\n---\n")
    project.phases.complete("1")

    assert str(*front(project, "Last activity")).endswith("— Phase 1 complete")
    assert front(project, "Stopped at", "active_phase") == ("Phase 1 complete", None)
    assert project.phases.complete("1").outcome.changes == ()


@pytest.mark.parametrize(
    ("said", "status"), [("In progress", "executing"), ("With Bob", "executing")]
)
def test_a_gate_on_a_document_without_frontmatter_says_what_the_body_says(
    tmp_path: Path, said: str, status: str
) -> None:
    body = f"# State\n\n## Current Position\n\nPhase: 1 of 3 (Core)\nStatus: {said}\n"
    project = Project(tmp_path, body)
    project.plan("1", 1)
    project.sessions.gate(GateEvent("start"), OpenTask("Task 1", "1", "01-01"))

    assert front(project, "status") == (status,)
    assert drift(project) == []


def test_a_verification_that_is_paused_is_no_finding_and_goes_on(project: Project) -> None:
    for plan in (1, 2):
        project.summary("1", plan)
    project.events.sync()
    project.events.verification_started("1")
    project.events.paused("at noon")

    assert drift(project) == []
    project.sessions.resume()
    assert front(project, "status", "active_phase") == ("verifying", "1")
    assert drift(project) == []


@pytest.mark.parametrize("outcome", TaskOutcome)
def test_a_task_of_a_phase_without_plans_or_without_open_ones_leaves_what_the_files_say(
    tmp_path: Path, outcome: TaskOutcome
) -> None:
    project = Project(tmp_path, PLAIN)
    project.events.task_result(TaskResult("Task", outcome, reason="it rains"))
    assert drift(project) == []

    project.plan("1", 1)
    project.summary("1", 1)
    project.events.task_result(TaskResult("Task", outcome, reason="it rains"))
    assert drift(project) == []
    assert front(project, "Current focus", "Phase") == ("Phase 2 — API", "2 of 3 (API)")


OLD = """\
# State

## Current Position

**Current Phase:** 1
**Current Phase Name:** Core
**Current Plan:** 1
**Total Plans in Phase:** 2
**Status:** Ready to execute
"""


def test_the_position_of_an_older_template_is_where_an_event_put_it(tmp_path: Path) -> None:
    project = Project(tmp_path, OLD)
    for phase in ("1", "3"):
        project.plan(phase, 1)

    project.events.execution_started("3")

    assert "**Current Phase:** 3\n**Current Phase Name:** UI\n" in project.state
    assert compare_project(Reader(str(tmp_path))).drift == ()


def test_a_plan_that_ends_adds_one_to_a_count_of_done_plans(tmp_path: Path) -> None:
    project = Project(tmp_path, re.sub(r"(?m)^Plan: .*", "Plan: 0 of 3 complete in phase", STATE))
    for number in (1, 2, 3):
        project.plan("1", number)
    project.events.sync()

    for number in (1, 2):
        project.summary("1", number)
        project.events.plan_completed("1")

        assert f"\nPlan: {number} of 3 complete in phase\n" in project.state


@pytest.mark.parametrize("text", [STATE, STATE.partition("---\n\n")[2]], ids=["front", "body"])
@pytest.mark.parametrize("is_verified", [True, False])
def test_verifying_a_finished_phase_while_another_is_planned_leaves_no_contradiction(
    tmp_path: Path, text: str, is_verified: bool
) -> None:
    project = Project(tmp_path, text)
    for phase in ("1", "2"):
        project.plan(phase, 1)
    project.summary("1", 1)
    if is_verified:
        passed = project.planning / "phases/01-core/01-VERIFICATION.md"
        passed.write_text("---\nstatus: passed\n---\n", "utf-8")
    project.events.sync()
    project.phases.complete("1")

    project.events.verification_started("1")

    assert compare_project(Reader(str(tmp_path))).drift == ()
    assert "— Phase 1 verification started" in project.state


@pytest.mark.parametrize("name", ["Status", "status"])
@pytest.mark.parametrize("value", ["Ready to execute", "Milestone complete", "Executing Phase 9"])
@pytest.mark.parametrize("text", [STATE, STATE.partition("---\n\n")[2]], ids=["front", "body"])
def test_a_status_that_the_files_contradict_is_refused(
    tmp_path: Path, text: str, name: str, value: str
) -> None:
    project = Project(tmp_path, text)
    before = project.snapshot()

    with pytest.raises((DerivedValue, UnwritableValue)):
        project.events.set_value(name, value)

    assert project.snapshot() == before


@pytest.mark.parametrize(
    ("line", "name", "value", "expected"),
    [
        ("Status: Ready to plan\n", "status", "paused", "Status: Paused\n"),
        ("Status: Ready to plan\n", "Status", "Paused", "Status: Paused\n"),
        ("Status: Waiting for Bob\n", "status", "paused", "Status: Waiting for Bob\n"),
        ("", "status", "paused", 'paused_at: "2026-06-01"\n'),
    ],
)
def test_a_pause_set_by_either_command_ends_in_every_place(
    tmp_path: Path, line: str, name: str, value: str, expected: str
) -> None:
    project = Project(tmp_path, re.sub(r"(?m)^Status: .*\n", line, STATE))
    project.events.sync()

    project.events.set_value(name, value)

    assert "\nstatus: paused\n" in project.state
    assert expected in project.state
    assert drift(project) == []
    project.sessions.resume()
    assert front(project, "status") == ("planning",)
    assert drift(project) == []


def test_a_persons_status_of_a_finished_project_leaves_the_frontmatter_true(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for phase in ("1", "2", "3"):
        project.plan(phase, 1)
        project.summary(phase, 1)
        project.phases.complete(phase)

    project.events.set_value("Status", "Planning what comes next with Bob")

    assert "Status: Planning what comes next with Bob" in project.state
    assert compare_project(Reader(str(tmp_path))).drift == ()


def test_the_first_finished_plan_of_a_later_phase_settles_the_phases_before_it(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    for phase in ("1", "2"):
        project.plan(phase, 1)
        project.plan(phase, 2)
    for number in (1, 2):
        project.summary("1", number)  # by somebody who recorded nothing
    project.events.sync()
    comparison = compare_project(Reader(str(tmp_path)))
    assert comparison.drift == ()  # the open box is right: it may wait for its verification

    project.summary("2", 1)
    project.events.plan_completed("2")

    assert "- [x] **Phase 1" in (tmp_path / ".planning/ROADMAP.md").read_text("utf-8")
    assert compare_project(Reader(str(tmp_path))).drift == ()
