"""`fairlead hook` as hosts start it: always exit 0, one JSON object or nothing."""

import fcntl
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Fairlead
from tests.support.plan_files import PLAN, message, plan_text, put


@pytest.fixture
def project(tmp_path: Path, fairlead: Fairlead) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    assert fairlead("init", "Sample", "--yes", cwd=folder).exit_code == 0
    return folder


def context_of(output: str) -> str:
    told: Any = json.loads(output)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    return str(told["additionalContext"])


def fast(fairlead: Fairlead, said: bytes) -> subprocess.CompletedProcess[bytes]:
    argv = json.loads(fairlead("hook", "stop", "--print-command").stdout)["argv"]
    return subprocess.run(argv, input=said, capture_output=True)


def test_both_ways_to_start_the_stop_hook_say_the_same(fairlead: Fairlead, tmp_path: Path):
    put(tmp_path, PLAN, plan_text())

    slow = fairlead("hook", "stop", input=message(tmp_path).decode())
    quick = fast(fairlead, message(tmp_path))

    assert (slow.exit_code, slow.stderr) == (0, "")
    assert (quick.returncode, quick.stderr) == (0, b"")
    assert quick.stdout.decode() == slow.stdout
    assert json.loads(slow.stdout)["decision"] == "block"


@pytest.mark.parametrize("name", ["stop", "session-start", "pre-compact", "session-end", "later"])
@pytest.mark.parametrize("said", ["", "[]", '{"hook_event_name": "Stop"}'])
def test_no_hook_ever_fails(fairlead: Fairlead, name: str, said: str):
    outcome = fairlead("hook", name, input=said)

    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert ("no hook" in outcome.stderr) == (name == "later")


def test_a_hook_that_was_left_behind_does_not_hold_its_host(fairlead: Fairlead, tmp_path: Path):
    argv = json.loads(fairlead("hook", "stop", "--print-command").stdout)["argv"]
    argv[-1] = str(tmp_path / "gone")

    done = subprocess.run(argv, input=message(tmp_path), capture_output=True)

    assert done.returncode == 1
    assert b"left behind" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_session_begins_with_position_blockers_and_the_open_plan(
    fairlead: Fairlead, project: Path
):
    put(project, PLAN, plan_text())
    fairlead("state", "add-blocker", "--text", "no key for the API", cwd=project)

    said = message(project / ".planning", event="SessionStart", source="startup").decode()
    outcome = fairlead("hook", "session-start", input=said)

    text = context_of(outcome.stdout)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert "Position: " in text
    assert "0/1 phases" in text
    assert "no key for the API" in text
    assert "plan-20260109-143022" in text
    assert "this session is held" in text
    assert len(text) < 2000


def test_a_session_is_offered_what_another_one_left(fairlead: Fairlead, project: Path):
    gate = ("state", "gate", "start", "--task", "Task 3", "--phase", "1")
    fairlead(*gate, cwd=project)

    said = message(project, event="SessionStart", source="startup").decode()
    text = context_of(fairlead("hook", "session-start", input=said).stdout)

    assert "Task 3" in text
    assert "fairlead state resume" in text


def test_the_session_that_started_first_owns_the_plan(fairlead: Fairlead, project: Path):
    put(project, PLAN, plan_text())
    start = message(project, session="one", event="SessionStart").decode()
    fairlead("hook", "session-start", input=start)

    other = fairlead("hook", "stop", input=message(project, session="two").decode())
    assert other.stdout == ""

    end = message(project, session="one", event="SessionEnd", reason="clear").decode()
    fairlead("hook", "session-end", input=end)
    after = fairlead("hook", "stop", input=message(project, session="two").decode())
    assert json.loads(after.stdout)["decision"] == "block"


@pytest.mark.parametrize(
    ("name", "event"), [("pre-compact", "PreCompact"), ("session-end", "SessionEnd")]
)
def test_the_end_of_a_session_is_recorded(fairlead: Fairlead, project: Path, name: str, event: str):
    state = project / ".planning" / "STATE.md"
    before = state.read_text("utf-8")
    now = {"FAIRLEAD_NOW": "2031-05-06T07:08:09Z"}

    outcome = fairlead("hook", name, input=message(project, event=event).decode(), env=now)

    assert outcome == (0, "", "")
    assert "2031-05-06" not in before
    assert "2031-05-06" in state.read_text("utf-8")


def test_a_busy_lock_is_given_up_with_one_line(fairlead: Fairlead, project: Path):
    state = project / ".planning" / "STATE.md"
    before = state.read_bytes()
    lock = os.open(project / ".planning" / ".fairlead" / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)

    said = message(project, event="SessionEnd").decode()
    outcome = fairlead("hook", "session-end", input=said)
    os.close(lock)

    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert outcome.stderr.count("\n") == 1
    assert state.read_bytes() == before


@pytest.mark.parametrize("name", ["session-start", "pre-compact", "session-end", "stop"])
def test_a_broken_project_costs_one_line(fairlead: Fairlead, tmp_path: Path, name: str):
    put(tmp_path, ".planning", "no folder")

    outcome = fairlead("hook", name, input=message(tmp_path).decode())

    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert outcome.stderr.count("\n") == 1
