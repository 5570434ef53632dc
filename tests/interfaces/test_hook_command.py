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
def fairlead(fairlead: Fairlead, installed: Fairlead) -> Fairlead:
    """The installed program for hooks, because a hook ends its process itself."""
    return lambda *words, **more: (installed if words[0] == "hook" else fairlead)(*words, **more)


@pytest.fixture
def project(tmp_path: Path, fairlead: Fairlead) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    assert fairlead("init", "Sample", "--yes", cwd=folder).exit_code == 0
    return folder


def context_of(output: str) -> str:
    answer: Any = json.loads(output)["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    return str(answer["additionalContext"])


def fast(fairlead: Fairlead, content: bytes) -> subprocess.CompletedProcess[bytes]:
    argv = json.loads(fairlead("hook", "stop", "--print-command").stdout)["argv"]
    return subprocess.run(argv, input=content, capture_output=True)


def test_both_ways_to_start_the_stop_hook_print_the_same(fairlead: Fairlead, tmp_path: Path):
    put(tmp_path, PLAN, plan_text())

    slow = fairlead("hook", "stop", input=message(tmp_path).decode())
    quick = fast(fairlead, message(tmp_path))

    assert (slow.exit_code, slow.stderr) == (0, "")
    assert (quick.returncode, quick.stderr) == (0, b"")
    assert quick.stdout.decode() == slow.stdout
    assert json.loads(slow.stdout)["decision"] == "block"


@pytest.mark.parametrize("name", ["stop", "session-start", "pre-compact", "session-end", "later"])
@pytest.mark.parametrize("content", ["", "[]", '{"hook_event_name": "Stop"}'])
def test_no_hook_ever_fails(fairlead: Fairlead, name: str, content: str):
    outcome = fairlead("hook", name, input=content)

    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert ("unknown hook" in outcome.stderr) == (name == "later")


def test_a_hook_left_behind_by_an_uninstall_does_not_block_its_host(
    fairlead: Fairlead, tmp_path: Path
):
    argv = json.loads(fairlead("hook", "stop", "--print-command").stdout)["argv"]
    argv[-1] = str(tmp_path / "gone")

    done = subprocess.run(argv, input=message(tmp_path), capture_output=True)

    assert done.returncode == 1
    assert b"left behind" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_session_starts_with_position_blockers_and_the_open_plan(
    fairlead: Fairlead, project: Path
):
    put(project, PLAN, plan_text())
    fairlead("state", "add-blocker", "--text", "no key for the API", cwd=project)

    content = message(project / ".planning", event="SessionStart", source="startup").decode()
    outcome = fairlead("hook", "session-start", input=content)

    text = context_of(outcome.stdout)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert "Position: " in text
    assert "0/1 phases" in text
    assert "no key for the API" in text
    assert "plan-20260109-143022" in text
    assert "this session is held" in text


def test_a_session_starts_with_the_next_step_questions_and_recent_decisions(
    fairlead: Fairlead, project: Path
):
    for number in range(1, 7):
        text = f"Choice {number}"
        fairlead("state", "add-decision", "--phase", "1", "--summary", text, cwd=project)
    put(project, ".planning/WAITING.json", json.dumps({"question": "Which licence?"}))

    content = message(project, event="SessionStart", source="startup").decode()
    text = context_of(fairlead("hook", "session-start", input=content).stdout)

    assert "Next: fairlead " in text
    assert "Open question: Which licence?" in text
    assert [number for number in range(1, 7) if f"Choice {number}" in text] == [3, 4, 5, 6]
    assert text.index("Choice 6") < text.index("Choice 5")


@pytest.mark.parametrize("word", ["word ", "日本語の文章", "🎉"])
def test_the_session_text_stays_below_1500_tokens(fairlead: Fairlead, project: Path, word: str):
    state = project / ".planning" / "STATE.md"
    entries = "".join(f"- [Phase 1]: {number} {word * 80}\n" for number in range(300))
    text = state.read_text("utf-8")
    for heading in ("### Decisions", "### Blockers/Concerns"):
        assert heading in text
        text = text.replace(heading, f"{heading}\n\n{entries}", 1)
    state.write_text(text, "utf-8")
    put(project, PLAN, plan_text())

    content = message(project, event="SessionStart", source="startup").decode()
    shown = context_of(fairlead("hook", "session-start", input=content).stdout)

    # No tokenizer makes more tokens than bytes; for text it makes at most one per character.
    plain = sum(character.isascii() for character in shown)
    assert plain / 3 + len(shown) - plain < 1500
    assert "Position: " in shown


def test_where_every_prompt_calls_the_hook_the_first_one_of_a_session_gets_the_facts(
    fairlead: Fairlead, project: Path
):
    content = message(project, event="BeforeAgent").decode()
    ending = message(project, event="SessionEnd").decode()
    names = ("session-start", "session-start", "session-end", "session-start")
    shown = [
        fairlead("hook", name, input=ending if name == "session-end" else content).stdout
        for name in names
    ]
    assert ["Position:" in text for text in shown] == [True, False, False, True]
    assert json.loads(shown[0])["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"


def test_a_session_is_offered_the_hand_over_of_another_one(fairlead: Fairlead, project: Path):
    gate = ("state", "gate", "start", "--task", "Task 3", "--phase", "1")
    fairlead(*gate, cwd=project)

    content = message(project, event="SessionStart", source="startup").decode()
    text = context_of(fairlead("hook", "session-start", input=content).stdout)

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
def test_a_session_in_which_something_happened_is_recorded(
    fairlead: Fairlead, project: Path, name: str, event: str
):
    state = project / ".planning" / "STATE.md"
    fairlead("hook", "session-start", input=message(project, event="SessionStart").decode())
    put(project, ".planning/phases/01-first/01-01-PLAN.md", "# A plan\n")
    before = state.read_text("utf-8")
    now = {"FAIRLEAD_NOW": "2031-05-06T07:08:09Z"}

    outcome = fairlead("hook", name, input=message(project, event=event).decode(), env=now)

    assert outcome == (0, "", "")
    assert "2031-05-06" not in before
    assert "2031-05-06" in state.read_text("utf-8")


@pytest.mark.parametrize("has_started", [True, False])
@pytest.mark.parametrize(
    ("name", "event"), [("pre-compact", "PreCompact"), ("session-end", "SessionEnd")]
)
def test_a_session_in_which_nothing_happened_changes_no_file(
    fairlead: Fairlead, project: Path, name: str, event: str, has_started: bool
):
    planning = project / ".planning"
    before = {path: path.read_bytes() for path in planning.rglob("*.md")}
    if has_started:
        start = message(project, event="SessionStart").decode()
        fairlead("hook", "session-start", input=start)
    outcome = fairlead("hook", name, input=message(project, event=event).decode())

    assert outcome == (0, "", "")
    assert {path: path.read_bytes() for path in planning.rglob("*.md")} == before


def test_a_new_commit_is_something_that_happened(fairlead: Fairlead, project: Path):
    put(project, ".git/HEAD", "ref: refs/heads/main\n")
    put(project, ".git/refs/heads/main", "1" * 40 + "\n")
    state = project / ".planning" / "STATE.md"
    fairlead("hook", "session-start", input=message(project, event="SessionStart").decode())
    before = state.read_bytes()
    put(project, ".git/refs/heads/main", "2" * 40 + "\n")

    fairlead("hook", "session-end", input=message(project, event="SessionEnd").decode())

    assert state.read_bytes() != before


def test_undo_does_not_take_back_what_a_hook_wrote(fairlead: Fairlead, project: Path):
    state = project / ".planning" / "STATE.md"
    todo = project / ".planning" / "todos"
    fairlead("hook", "session-start", input=message(project, event="SessionStart").decode())
    fairlead("capture", "--note", "An idea", cwd=project)
    now = {"FAIRLEAD_NOW": "2031-05-06T07:08:09Z"}
    end = message(project, event="SessionEnd").decode()
    fairlead("hook", "session-end", input=end, env=now)
    assert "2031-05-06" in state.read_text("utf-8")

    undone = fairlead("undo", cwd=project)

    assert undone.exit_code == 0, undone.stderr
    assert "Undone: capture" in undone.stdout
    assert "2031-05-06" in state.read_text("utf-8")
    assert not list(todo.rglob("*.md"))


def test_a_busy_lock_ends_the_hook_with_one_line(fairlead: Fairlead, project: Path):
    state = project / ".planning" / "STATE.md"
    before = state.read_bytes()
    fairlead("hook", "session-start", input=message(project, event="SessionStart").decode())
    put(project, ".planning/phases/01-first/01-01-PLAN.md", "# A plan\n")
    lock = os.open(project / ".planning" / ".fairlead" / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)

    content = message(project, event="SessionEnd").decode()
    outcome = fairlead("hook", "session-end", input=content)
    os.close(lock)

    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert outcome.stderr.count("\n") == 1
    assert state.read_bytes() == before


@pytest.mark.parametrize("name", ["session-start", "pre-compact", "session-end", "stop"])
def test_a_broken_project_is_reported_in_one_line(fairlead: Fairlead, tmp_path: Path, name: str):
    put(tmp_path, ".planning", "no folder")

    outcome = fairlead("hook", name, input=message(tmp_path).decode())

    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert outcome.stderr.count("\n") == 1
