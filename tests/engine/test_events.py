"""Events on disk: one step each, decided from the files as they are under the lock."""

from pathlib import Path

import pytest

from fairlead.engine.events import Landed
from fairlead.engine.truth import truth_of
from fairlead.errors import ConflictMarkers, NoDocument, PlansOpen
from fairlead.records.metrics import Metric
from fairlead.records.tasks import Outcome, TaskResult
from fairlead.records.waiting import Question
from fairlead.store.load import Reader
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
    findings = truth_of(Reader(str(project.folder))).drift
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
        project.events.task_result(TaskResult("Task", Outcome.SUCCESS))
        assert drift(project) == []
        project.events.plan_completed("1", plan=str(plan))
        assert drift(project) == []
        project.events.metric(Metric("1", str(plan), "5m"))
        assert drift(project) == []
    project.phases.complete("1")
    assert drift(project) == []


def test_a_plan_lands_with_its_summary_and_both_documents_in_one_step(project: Project) -> None:
    with (project.planning / "ROADMAP.md").open("a") as roadmap:
        roadmap.write(DETAILS)
    project.events.execution_started("1")
    home = ".planning/phases/01-core"
    path, text = f"{home}/01-01-SUMMARY.md", "# Summary\n\nDone.\n"
    landed = Landed(f"{home}/01-01-PLAN.md", path, text, {path: lambda _: text})
    outcome = project.events.follow("1", landed)

    assert set(outcome.paths) == {path, ".planning/ROADMAP.md", ".planning/STATE.md"}
    assert drift(project) == []


def test_a_refused_event_leaves_every_byte(project: Project) -> None:
    before = project.snapshot()
    with pytest.raises(PlansOpen):
        project.events.plan_completed("1")

    assert project.snapshot() == before


def test_a_dry_run_leaves_every_byte_and_tells_the_change(project: Project) -> None:
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
    told = "Last activity: 2026-05-30 — Long talk with Bob"
    project = Project(tmp_path, STATE.replace("Last activity: 2026-05-01", told))
    project.plan("1", 1)
    project.events.task_result(TaskResult("Task 1", Outcome.SUCCESS, "1"))

    assert told not in project.state
    assert told in (project.planning / "STATE-ARCHIVE.md").read_text("utf-8")


def test_a_document_that_cannot_be_written_is_refused_with_its_place(tmp_path: Path) -> None:
    project = Project(tmp_path, STATE + "<<<<<<< a\n=======\n>>>>>>> b\n")
    with pytest.raises(ConflictMarkers, match=r"\.planning/STATE\.md:"):
        project.events.sync()


def test_a_missing_document_is_said_so(project: Project) -> None:
    (project.planning / "STATE.md").unlink()
    with pytest.raises(NoDocument):
        project.events.sync()


def test_a_question_is_asked_once_and_goes_when_it_is_answered(project: Project) -> None:
    waiting = project.planning / "WAITING.json"
    project.events.waiting(Question("Which database?", ("A", "B"), "1"))
    first = waiting.read_bytes()
    project.events.waiting(Question("Which database?"))
    assert waiting.read_bytes() == first

    project.events.answered()
    assert not waiting.exists()
    assert not project.events.answered().places.moves


def test_pruning_moves_entries_to_the_archive_in_one_step(tmp_path: Path) -> None:
    told = "\n".join(f"- [Phase 1]: decision {at}" for at in range(120))
    project = Project(
        tmp_path, STATE.replace("### Decisions\n\nNone yet.", f"### Decisions\n\n{told}")
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
