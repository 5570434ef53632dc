"""The stop hook: cases 33 to 37 and 40 of the specification, and what people complained about."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead.adapters import keeper
from fairlead.interfaces.hooks.stop import JOB, MOST_NAMED, answer
from fairlead.interfaces.hooks.told import Told
from fairlead.model.stopping import GONE_SECONDS, MOST_BLOCKS, OPEN
from tests.support.plan_files import (
    EXEC,
    MODULE,
    PLAN,
    PLAN_ID,
    exec_text,
    message,
    plan_text,
    put,
)

REQUIREMENTS = "# Requirements\n\n## Functional Requirements\n\nIt works.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    put(folder, PLAN, plan_text())
    return folder


def asked(said: bytes, environment: dict[str, str] | None = None) -> tuple[dict[str, Any], str]:
    """What the host is told, as JSON, and the line on stderr."""
    told = answer(Told(said), environment or {"HOME": "/nowhere"})
    return {key: json.loads(value) for key, value in told.members}, told.note


def stopped(folder: Path, **more: Any) -> tuple[dict[str, Any], str]:
    return asked(message(folder, **more))


def is_held(folder: Path, **more: Any) -> bool:
    return stopped(folder, **more)[0].get("decision") == "block"


# --- case 33: a drafting plan holds, wherever one is --------------------------------------


def test_case_33_a_drafting_plan_holds_from_the_root(project: Path):
    said, note = stopped(project)

    assert said["decision"] == "block"
    assert note == ""


def test_case_33_a_drafting_plan_holds_from_a_folder_below(project: Path):
    below = project / "src" / "deep"
    below.mkdir(parents=True)

    assert is_held(below)


def test_case_33_the_place_is_the_hosts_and_not_where_the_hook_was_started(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    assert is_held(project)
    assert not is_held(elsewhere)


def test_case_33_each_unmet_criterion_is_named_with_its_command(project: Path):
    reason = stopped(project)[0]["reason"]

    assert "USER_REQUIREMENTS.md complete" in reason
    assert "fairlead planning add module" in reason
    assert "User approved the plan" in reason
    assert "fairlead planning release" in reason
    assert reason.count("next: ") == 4


def test_many_criteria_are_counted_and_not_all_listed(project: Path):
    put(project, PLAN, plan_text(criteria=tuple(f"Number {n}" for n in range(30))))

    reason = stopped(project)[0]["reason"]

    assert reason.count("next: ") == MOST_NAMED
    assert f"and {30 - MOST_NAMED} more" in reason


def test_words_of_the_plan_stay_on_their_line_and_are_cut(project: Path):
    put(project, PLAN, plan_text(criteria=("one\ntwo " + "x" * 5000,)))

    reason = stopped(project)[0]["reason"]

    assert "one two" in reason
    assert len(reason) < 1500


# --- case 34: it gives way, and says so ----------------------------------------------------


def test_case_34_it_gives_way_after_the_limit_with_a_message(project: Path):
    held = [is_held(project, stop_hook_active=count > 0) for count in range(MOST_BLOCKS[OPEN])]
    said, note = stopped(project, stop_hook_active=True)

    assert held == [True] * MOST_BLOCKS[OPEN]
    assert "decision" not in said
    assert "not complete" in said["systemMessage"]
    assert "not complete" in note


def test_case_34_it_goes_on_giving_way_in_the_next_turn(project: Path):
    for _ in range(MOST_BLOCKS[OPEN]):
        stopped(project)

    assert not is_held(project, stop_hook_active=False)


def test_case_34_a_change_of_the_plan_holds_again(project: Path):
    for _ in range(MOST_BLOCKS[OPEN]):
        stopped(project)
    put(project, PLAN, plan_text(modules=MODULE))

    assert is_held(project)


def test_where_blocks_cannot_be_counted_the_hosts_own_flag_decides(project: Path):
    put(project, ".claude/.fairlead", "in the way")

    assert is_held(project, stop_hook_active=False)
    assert not is_held(project, stop_hook_active=True)


# --- case 35: silence ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", [b"", b" ", b"{", b"5", b"[]", b"null", b"\xff\xfe", b'"x"', b"{}" * 2]
)
def test_case_35_a_message_that_says_nothing_is_answered_by_silence(said: bytes):
    assert asked(said) == ({}, "")


@pytest.mark.parametrize("key", ["session_id", "cwd", "hook_event_name"])
@pytest.mark.parametrize("value", ["", None, 5, [], {}])
def test_case_35_without_a_needed_key_nobody_is_held(project: Path, key: str, value: object):
    told = json.loads(message(project)) | {key: value}

    assert asked(json.dumps(told).encode()) == ({}, "")


@pytest.mark.parametrize(
    "more",
    [{"event": "SubagentStop"}, {"agent_id": "a1"}, {"event": "StopFailure"}, {"event": "Later"}],
)
def test_case_35_subagents_and_other_events_are_not_held(project: Path, more: dict[str, Any]):
    assert stopped(project, **more) == ({}, "")


def test_case_35_without_a_plan_it_is_silent(tmp_path: Path):
    assert stopped(tmp_path) == ({}, "")


@pytest.mark.parametrize(
    "text",
    [
        plan_text(status="approved", complete=True),
        plan_text(status="approved"),
        plan_text(complete=True),
    ],
)
def test_case_35_an_approved_plan_is_silent(project: Path, text: str):
    put(project, PLAN, text)

    assert stopped(project) == ({}, "")


def test_an_approval_that_was_voided_by_an_edit_holds(project: Path):
    void = 'fairlead:\n  approved_hash: "sha256:00"\n'
    put(project, PLAN, plan_text(status="approved", complete=True, more=void))

    assert "changed after its approval" in stopped(project)[0]["reason"]


def test_an_approval_that_is_void_holds_though_no_criterion_asks_for_it(project: Path):
    void = 'fairlead:\n  approved_hash: "sha256:00"\n'
    text = plan_text(status="approved", complete=True, criteria=(), more=void)
    put(project, PLAN, text.replace("exit_criteria:\n", "exit_criteria: []\n"))

    assert "reset --reopen" in stopped(project)[0]["reason"]


@pytest.mark.parametrize(
    "last", ["[Request interrupted by user]", "API Error: 500 overloaded", "  API Error"]
)
def test_an_interrupt_and_an_api_error_let_go_and_say_so(project: Path, last: str):
    said, _ = stopped(project, last_assistant_message=last)

    assert "decision" not in said
    assert said["systemMessage"]


def test_a_released_plan_holds_nobody_and_that_is_noted(project: Path):
    put(project, PLAN, plan_text(more='fairlead:\n  released: "2026-01-09T15:00:00Z"\n'))

    said, note = stopped(project)

    assert said == {}
    assert "released" in note


def test_the_mark_of_our_own_agents_is_the_one_that_they_carry():
    assert JOB == keeper.JOB


def test_agents_that_we_started_ourselves_are_not_held(project: Path):
    assert asked(message(project), {JOB: "1"}) == ({}, "")


# --- case 36: what cannot be read ----------------------------------------------------------

UNREADABLE = {
    "empty": b"",
    "no frontmatter": b"# Plan\n",
    "unclosed": b"---\nstatus: drafting\n",
    "a list": b"---\n- a\n---\n",
    "no text": b"\xff\xfe\x00",
    "a wrong kind": plan_text().replace("modules: []", "modules: x").encode(),
    "a wrong word": plan_text(status="wild").encode(),
    "too large": b"x" * (1024 * 1024 + 1),
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_case_36_a_plan_that_cannot_be_read_is_kept_and_said(project: Path, content: bytes):
    place = put(project, PLAN, content)

    said, note = stopped(project)

    assert said == {}
    assert "cannot be read" in note
    assert place.read_bytes() == content


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_case_36_a_plan_that_is_no_file_is_kept_and_said(project: Path, kind: str):
    place = project / PLAN
    place.unlink()
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/etc/hostname")

    said, note = stopped(project)

    assert said == {}
    assert "cannot be read" in note


# --- case 37 and the real process ------------------------------------------------------------


def test_case_37_a_block_has_a_reason_and_nothing_but_the_keys_that_both_hosts_take(project: Path):
    said, _ = stopped(project)

    assert set(said) == {"decision", "reason"}
    assert said["reason"].strip()


# --- case 40: after approval, the modules ---------------------------------------------------


def approved(project: Path, *statuses: str, counts: str = "") -> Path:
    put(project, PLAN, plan_text(status="approved", complete=True))
    put(project, EXEC, exec_text(*statuses, counts=counts))
    return project


def test_case_40_counts_say_done_and_a_module_is_pending(project: Path):
    counts = "modules_completed: 2\nmodules_total: 2\nall_modules_complete: true\n"
    approved(project, "complete", "pending", counts=counts)

    reason = stopped(project)[0]["reason"]

    assert "module-2" in reason
    assert "module-1" not in reason
    assert "fairlead exec complete module-2" in reason


@pytest.mark.parametrize("statuses", [(), ("complete",), ("complete", "complete")])
def test_modules_that_are_complete_hold_nobody(project: Path, statuses: tuple[str, ...]):
    assert stopped(approved(project, *statuses)) == ({}, "")


def test_blocked_modules_wait_for_a_person_and_hold_once(project: Path):
    approved(project, "blocked")

    assert [is_held(project), is_held(project)] == [True, False]


def test_modules_of_a_person_hold_once(project: Path):
    put(project, PLAN, plan_text(status="approved", complete=True))
    text = exec_text("assigned").replace('"assigned"\n', '"assigned"\n    assigned_to: "ada"\n')
    people = 'registered_agents:\n  human_developers:\n    - github_username: "ada"\n'
    put(project, EXEC, text.replace("modules_status", people + "modules_status"))

    assert [is_held(project), is_held(project)] == [True, False]


def test_modules_hold_without_a_plan_file_too(project: Path):
    approved(project, "in-progress")
    (project / PLAN).unlink()

    assert is_held(project)


def test_modules_are_not_looked_at_before_approval(project: Path):
    put(project, EXEC, b"broken")

    assert is_held(project)


# --- whose plan it is ------------------------------------------------------------------------


def test_a_plan_that_waits_for_a_person_alone_holds_once_and_tells_to_ask(project: Path):
    put(project, PLAN, plan_text(status="reviewing", section="complete", modules=MODULE))
    put(project, "USER_REQUIREMENTS.md", REQUIREMENTS)

    said, _ = stopped(project)

    assert "Only a person" in said["reason"]
    assert "fairlead planning approve" in said["reason"]
    assert not is_held(project, stop_hook_active=True)


def test_a_second_session_is_never_held(project: Path):
    assert is_held(project, session="one")

    said, note = stopped(project, session="two")

    assert said == {}
    assert "another session" in note


def test_the_session_that_began_the_plan_owns_it(project: Path):
    put(project, PLAN, plan_text(more='fairlead:\n  session: "one"\n'))

    assert not is_held(project, session="two")
    assert is_held(project, session="one")


def test_an_owner_that_was_not_met_for_long_is_gone(project: Path):
    stopped(project, session="one")
    hold = project / ".claude" / ".fairlead" / "hold.json"
    long_ago = time.time() - GONE_SECONDS - 60
    os.utime(hold, (long_ago, long_ago))

    assert is_held(project, session="two")


def test_another_plan_begins_with_another_owner(project: Path):
    stopped(project, session="one")
    put(project, PLAN, plan_text().replace(PLAN_ID, "plan-later"))

    assert is_held(project, session="two")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"plan": 5}', b"\xff" * 20000])
def test_a_damaged_count_holds_as_a_new_one(project: Path, content: bytes):
    put(project, ".claude/.fairlead/hold.json", content)

    assert is_held(project)


def test_the_hook_leaves_every_file_of_a_person_alone(project: Path):
    before = (project / PLAN).read_bytes()
    stopped(project)

    assert (project / PLAN).read_bytes() == before
    names = {each.relative_to(project).as_posix() for each in project.rglob("*") if each.is_file()}
    assert names - {PLAN} == {".claude/.fairlead/.gitignore", ".claude/.fairlead/hold.json"}


def test_beside_a_project_the_count_stands_on_the_projects_desk(project: Path):
    (project / ".planning").mkdir()
    stopped(project)

    assert (project / ".planning" / ".fairlead" / "hold.json").is_file()


def test_a_project_that_is_gone_is_silent(project: Path):
    shutil.rmtree(project)

    assert stopped(project) == ({}, "")
