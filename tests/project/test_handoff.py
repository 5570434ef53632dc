"""The handover: what it says comes back, whoever wrote it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.project.handoff import handover_text, is_stale, marked_resumed, read_handover
from fairlead.project.overview import Overview
from fairlead.project.state.gate import OpenTask, task_from_keys, task_keys
from fairlead.project.state.gate_rules import Failure, FailureClass, Gate, GateStatus, SkipKind
from fairlead.store.reader import Reader
from tests.support.positions import a_position
from tests.support.projects import Project
from tests.support.times import NOON

TASK = OpenTask(
    "Task 3: Create PlannerId",
    "3",
    "03-01",
    "5f0c",
    Gate(
        GateStatus.VERIFYING,
        2,
        "success",
        "running",
        attempt=2,
        failures=(Failure(1, None, "attempt 1: x"),),
    ),
    "2026-06-01T11:00:00.000Z",
)


def test_a_hand_over_says_where_the_task_is() -> None:
    text = handover_text(TASK, NOON)

    assert text.startswith('---\nversion: 1\nsession: "5f0c"\n')
    assert "## Last executed task\n\nTask 3: Create PlannerId (03-01)\n" in text
    assert "- executor: success\n- verify: running\n" in text
    assert "1. Run the verify command of Task 3: Create PlannerId again\n" in text


def test_a_hand_over_comes_back_as_it_was() -> None:
    found = read_handover("x.md", handover_text(TASK, NOON))

    assert found.task == TASK
    assert found.is_ours
    assert found.is_open


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (GateStatus.EXECUTING, "from step 1, as the same attempt"),
        (GateStatus.VERIFYING, "Run the verify command"),
        (GateStatus.REVIEWING, "Ask the architect"),
        (GateStatus.FAILED, "Retry"),
        (GateStatus.BLOCKED, "unblock"),
        (GateStatus.APPROVED, "Continue with the next task"),
    ],
)
def test_the_next_step_follows_from_the_gate(status: GateStatus, step: str) -> None:
    text = handover_text(OpenTask("T", gate=Gate(status)), NOON)

    assert step in text.split("## Next steps")[1]


def test_a_file_of_another_program_is_not_ours() -> None:
    found = read_handover(
        "x.md", "---\nphase: 3\ntask: 2\nstatus: in_progress\n---\n<current_state>\n"
    )

    assert not found.is_ours


def test_the_hand_over_names_the_resuming_session() -> None:
    found = read_handover("x.md", marked_resumed(handover_text(TASK, NOON), "abc", NOON))

    assert (found.resumed_by, found.session, found.task) == ("abc", "5f0c", TASK)


@pytest.mark.parametrize(
    "gate",
    [
        Gate(),
        TASK.gate,
        Gate(GateStatus.SKIPPED, 2, skip_kind=SkipKind.VERIFY),
        Gate(
            GateStatus.EXECUTING,
            1,
            "running",
            attempt=4,
            max_attempts=4,
            failures=(Failure(1, FailureClass.VERIFY, "1: failed"), Failure(2, None, "odd")),
            forgiven=1,
            interruptions=2,
        ),
    ],
)
def test_a_gate_survives_json(gate: Gate) -> None:
    keys = json.loads(json.dumps(task_keys(replace(TASK, gate=gate), NOON)))

    assert task_from_keys(keys).gate == gate


# --- stale handovers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "phases", "expected"),
    [
        (OpenTask("T", "1", "01-01"), (("1", "Core", 0, 2),), False),
        (OpenTask("T", "1", "01-01"), (("1", "Core", 1, 2),), True),
        (OpenTask("T", "1", "01-02"), (("1", "Core", 1, 2),), False),
        (OpenTask("T", "1", ""), (("1", "Core", 2, 2),), True),
        (OpenTask("T", "9", "09-01"), (("1", "Core", 2, 2),), False),
        (OpenTask("T", "", ""), (("1", "Core", 2, 2),), False),
        (OpenTask("T", "1", "1", gate=Gate(GateStatus.APPROVED)), (("1", "Core", 0, 2),), True),
    ],
)
def test_a_hand_over_is_stale_once_its_work_is_done(
    task: OpenTask, phases: tuple[tuple[str, str, int, int], ...], expected: bool
) -> None:
    handover = read_handover(".planning/.continue-here.md", handover_text(task, NOON))

    assert is_stale(handover, a_position(*phases)) is expected


def test_a_hand_over_of_a_shipped_milestone_or_of_done_work_beside_it_is_stale(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    roadmap = (
        "# Roadmap\n\n## Milestones\n\n- ✅ **v1.0 First** - Phases 1-2 (shipped 2026-01-01)\n"
        "- 🚧 **v1.1 Second** - Phase 3 (in progress)\n\n## Phases\n\n"
        "- [x] **Phase 1: Core** - one\n- [x] **Phase 2: API** - two\n- [ ] **Phase 3: UI** - next\n"
    )
    (project.planning / "ROADMAP.md").write_text(roadmap, "utf-8")
    for phase in ("01-core", "03-ui", "07-side"):
        (project.planning / "phases" / phase).mkdir(exist_ok=True)
        note = "---\ncontext: phase\ntask: 2\nstatus: in_progress\n---\n\nMore to do.\n"
        (project.planning / "phases" / phase / ".continue-here.md").write_text(note, "utf-8")
    project.plan("1", 1)  # its summary was lost, and the milestone has been shipped
    project.plan("3", 1)
    project.plan("7", 1)  # of no milestone, and done
    project.summary("7", 1)

    assert Overview(Reader(str(tmp_path))).status().continue_files == (
        ".planning/phases/03-ui/.continue-here.md",
    )
