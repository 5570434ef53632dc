"""Sessions: the handover is there before anybody dies, and goes when it has done its duty."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.core.errors import MalformedId
from fairlead.project.errors import GateOpen, GateTransition, SeveralHandovers
from fairlead.project.service import ProjectSnapshot
from fairlead.project.state.gate import OpenTask
from fairlead.project.state.gate_rules import GateEvent
from fairlead.project.state.session import Stop
from fairlead.store.errors import SessionHeld
from fairlead.store.files import Files
from fairlead.store.staging import removed_path
from tests.support.projects import Project
from tests.support.times import NOON

HERE = ".planning/.continue-here.md"
ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys
from fairlead.store.lock import SessionLock
with SessionLock(sys.argv[1], sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.plan("1", 1)
    return project


def step(project: Project, event: str, task: str = "", session: str = "main") -> None:
    place = ("1", "01-01") if event == "start" else ("", "")
    project.sessions.gate(GateEvent(event), OpenTask(task, *place, session))


def start(project: Project, task: str = "Task 3", session: str = "main") -> None:
    step(project, "start", task, session)


def handovers(project: Project) -> list[str]:
    return [each.handover.path for each in project.sessions.offers()]


def test_the_hand_over_is_written_ahead_with_each_step(project: Project) -> None:
    start(project)
    assert "gate_status: EXECUTING" in (project.folder / HERE).read_text("utf-8")

    step(project, "executor-success")
    assert "gate_status: VERIFYING" in (project.folder / HERE).read_text("utf-8")
    assert f"Resume file: {HERE}" in project.state
    assert "gate_status: VERIFYING" in project.state


def test_an_event_that_the_gate_refuses_changes_nothing(project: Project) -> None:
    start(project)
    before = project.snapshot()
    with pytest.raises(GateTransition):
        step(project, "approved")

    assert project.snapshot() == before


def test_another_task_waits_for_the_gate_of_the_same_session(project: Project) -> None:
    start(project)
    with pytest.raises(GateOpen):
        start(project, "Task 4")


def test_a_blocked_gate_is_not_lost_by_another_task(project: Project) -> None:
    start(project, "Task 1: A")
    step(project, "executor-blocked")
    before = project.snapshot()
    with pytest.raises(GateOpen):
        start(project, "Task 2: B")
    assert project.snapshot() == before


def test_a_blocked_gate_continues_when_another_session_removes_the_block(
    project: Project,
) -> None:
    start(project, "Task 1: A")
    step(project, "executor-blocked")
    start(project, "Task 2: B", "two")
    for event in ("executor-success", "verify-passed", "approved"):
        step(project, event, session="two")
    step(project, "unblocked", "Task 1: A")
    task = project.sessions.task()
    assert task is not None
    assert (task.name, task.gate.status, task.gate.attempt) == ("Task 1: A", "EXECUTING", 1)


def test_the_task_that_is_being_worked_on_makes_its_phase_active(project: Project) -> None:
    start(project)

    assert 'active_phase: "1"\nnext_action: null\nnext_phases: null\n' in project.state


def test_two_sessions_keep_their_own_hand_overs(project: Project) -> None:
    start(project)
    start(project, "Task 9", "b")
    step(project, "executor-success")
    step(project, "executor-failure", session="b")

    assert handovers(project) == [".planning/.continue-here-b.md", HERE]
    assert "name: Task 3" in project.state
    assert "name: Task 9" not in project.state


def test_the_other_dialect_has_its_own_place(project: Project) -> None:
    (project.folder / ".ultraplan" / "state").mkdir(parents=True)
    start(project)
    start(project, "Task 9", "b")

    assert handovers(project) == [
        ".ultraplan/state/continue-b.md",
        ".ultraplan/state/continue.md",
    ]
    assert "Resume file: .ultraplan/state/continue.md" in project.state


def test_a_hand_over_of_another_program_is_left_alone(project: Project) -> None:
    theirs = b"---\nphase: 1\ntask: 2\n---\n<current_state>\n"
    (project.folder / HERE).write_bytes(theirs)
    start(project)

    assert (project.folder / HERE).read_bytes() == theirs
    assert ".planning/.continue-here-main.md" in handovers(project)


def test_resuming_keeps_the_hand_over_until_the_first_step_after_it(project: Project) -> None:
    start(project, session="a")
    step(project, "executor-success", session="a")
    resumed = project.sessions.resume(session="b")

    assert resumed.chosen is not None
    assert resumed.chosen.task.name == "Task 3"
    assert handovers(project) == [HERE]

    step(project, "verify-passed", session="b")
    offers = project.sessions.offers()
    assert [each.handover.session for each in offers] == ["b"]
    assert offers[0].handover.task.gate.status == "REVIEWING"
    assert "session: b" in project.state


def test_a_hand_over_with_its_own_name_goes_after_the_first_step(project: Project) -> None:
    start(project)
    start(project, "Task 9", "a")
    project.sessions.resume(file=".planning/.continue-here-a.md", session="c")
    assert len(handovers(project)) == 2

    step(project, "executor-success", session="c")
    assert handovers(project) == [".planning/.continue-here-c.md", HERE]


def test_resuming_the_same_attempt_uses_no_other(project: Project) -> None:
    start(project, session="a")
    step(project, "executor-failure", session="a")
    step(project, "retry", session="a")
    project.sessions.resume(session="b")
    step(project, "executor-success", session="b")

    task = project.sessions.task("b")
    assert task is not None
    assert task.gate.attempt == 2


def test_starting_fresh_moves_the_hand_over_aside_and_deletes_nothing(project: Project) -> None:
    start(project)
    text = (project.folder / HERE).read_bytes()
    project.sessions.resume(fresh=True)

    aside = list(project.planning.glob(".continue-here.md.*"))
    assert [path.read_bytes() for path in aside] == [text]
    assert handovers(project) == []
    assert "current_task" not in project.state
    assert "Resume file: None" in project.state


def test_starting_fresh_leaves_an_approved_task_alone(project: Project) -> None:
    start(project)
    for event in ("executor-success", "verify-passed", "approved"):
        step(project, event)
    project.sessions.resume(fresh=True)

    assert "gate_status: APPROVED" in project.state


def test_several_hand_overs_have_to_be_named(project: Project) -> None:
    start(project)
    start(project, "Task 9", "b")
    with pytest.raises(SeveralHandovers, match="continue-here-b"):
        project.sessions.resume(session="c")


def test_a_regular_end_of_a_session_removes_its_hand_over(project: Project) -> None:
    start(project)
    for event in ("executor-success", "verify-passed", "approved"):
        step(project, event)
    project.sessions.ended(Stop("Task 3 complete"))

    assert handovers(project) == []
    assert "Stopped at: Task 3 complete\nResume file: None" in project.state


def test_two_hand_overs_are_removed_while_the_clock_stands_still(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        project = ProjectSnapshot(Files(str(tmp_path)), NOON)
        names.append(project.stamp)
        removed = tmp_path / removed_path("HANDOFF.md", project.stamp)
        removed.parent.mkdir(parents=True, exist_ok=True)
        removed.touch()
    assert len(set(names)) == 3
    assert [name.partition("Z")[2] for name in names] == ["", ".2", ".3"]


def test_a_session_that_ends_with_an_open_task_points_to_its_hand_over(project: Project) -> None:
    start(project)
    project.sessions.ended(Stop("In the middle"))

    assert f"Stopped at: In the middle\nResume file: {HERE}" in project.state
    assert handovers(project) == [HERE]


def test_issue_4763_a_session_leaves_the_hand_over_of_another_alone(project: Project) -> None:
    start(project, session="a")
    before = (project.folder / HERE).read_bytes()
    project.sessions.ended(Stop("Mine"), session="b")

    assert (project.folder / HERE).read_bytes() == before


def test_resuming_ends_the_pause_and_the_waiting(project: Project) -> None:
    project.events.paused("Lunch")
    (project.planning / "WAITING.json").write_text("{}", "utf-8")
    project.sessions.resume()

    assert "paused_at" not in project.state
    assert not (project.planning / "WAITING.json").exists()


@pytest.mark.parametrize("session", ["", "../x", "a b", "-x", "x" * 121, "a/b"])
def test_a_session_s_name_is_a_plain_word(project: Project, session: str) -> None:
    with pytest.raises(MalformedId):
        project.sessions.hold(session)


def test_a_session_is_live_while_its_process_is_and_not_after_a_kill(project: Project) -> None:
    start(project, session="a")
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(project.folder), "a"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        assert child.stdout.readline() == b"held\n"
        assert [each.is_live for each in project.sessions.offers()] == [True]
        with pytest.raises(SessionHeld):
            project.sessions.resume(file=HERE, session="b")
        child.send_signal(signal.SIGKILL)
        child.wait(timeout=900)

    assert [each.is_live for each in project.sessions.offers()] == [False]
    assert project.sessions.resume(session="b").chosen is not None


def test_looking_at_hand_overs_changes_nothing(project: Project) -> None:
    start(project)
    before = project.snapshot()
    project.sessions.offers()

    assert project.snapshot() == before


def test_a_session_is_held_once(project: Project) -> None:
    with project.sessions.hold("a"), pytest.raises(SessionHeld), project.sessions.hold("a"):
        pass


def test_a_task_of_a_finished_phase_does_not_make_it_active_again(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.plan("1", 1)
    project.summary("1", 1)
    project.events.sync()
    project.sessions.gate(GateEvent("start"), OpenTask("Task 3", "1", "01-01"))

    assert "\nactive_phase: null\n" in project.state
