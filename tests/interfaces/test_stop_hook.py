"""The stop hook: cases 33 to 37 and 40 of the specification, and reported problems."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead.agents import supervisor
from fairlead.interfaces.hooks.message import HookMessage
from fairlead.interfaces.hooks.stop import JOB, LISTED_ITEMS, stop_response
from fairlead.planphase.criteria import content_hash
from fairlead.planphase.documents import read_plan
from fairlead.planphase.stop_rule import MOST_BLOCKS, OPEN, OWNER_TIMEOUT_SECONDS
from tests.support.plan_files import (
    EXEC,
    MODULE,
    PLAN,
    PLAN_ID,
    exec_text,
    message,
    plan_text,
    put,
    stated,
)

REQUIREMENTS = "# Requirements\n\n## Functional Requirements\n\nIt works.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    put(folder, PLAN, plan_text())
    return folder


def asked(content: bytes, environment: dict[str, str] | None = None) -> tuple[dict[str, Any], str]:
    """The JSON members of the response, and the line on stderr."""
    response = stop_response(HookMessage(content), environment or {"HOME": "/nowhere"})
    return {key: json.loads(value) for key, value in response.members}, response.note


def stopped(folder: Path, **more: Any) -> tuple[dict[str, Any], str]:
    return asked(message(folder, **more), {"HOME": str(folder.parent)})


def is_held(folder: Path, **more: Any) -> bool:
    return stopped(folder, **more)[0].get("decision") == "block"


# --- case 33: a drafting plan holds the session in every folder --------------------------------------


def test_case_33_a_drafting_plan_holds_from_the_root(project: Path):
    response, note = stopped(project)

    assert response["decision"] == "block"
    assert note == ""


def test_case_33_a_drafting_plan_holds_from_a_folder_below(project: Path):
    below = project / "src" / "deep"
    below.mkdir(parents=True)

    assert is_held(below)


def test_case_33_the_folder_comes_from_the_message(
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


def test_further_criteria_are_counted(project: Path):
    put(project, PLAN, plan_text(criteria=tuple(f"Number {n}" for n in range(30))))

    reason = stopped(project)[0]["reason"]

    assert reason.count("next: ") == LISTED_ITEMS
    assert f"and {30 - LISTED_ITEMS} more" in reason


def test_texts_of_the_plan_are_cut_to_one_line(project: Path):
    put(project, PLAN, plan_text(criteria=("one\ntwo " + "x" * 5000,)))

    reason = stopped(project)[0]["reason"]

    assert "one two" in reason
    assert len(reason) < 1500


# --- case 34: the session may stop after the limit ----------------------------------------------------


def test_case_34_the_session_may_stop_after_the_limit_with_a_message(project: Path):
    is_blocked = [
        is_held(project, stop_hook_active=count > 0) for count in range(MOST_BLOCKS[OPEN])
    ]
    response, note = stopped(project, stop_hook_active=True)

    assert is_blocked == [True] * MOST_BLOCKS[OPEN]
    assert "decision" not in response
    assert "not complete" in response["systemMessage"]
    assert "not complete" in note


def test_case_34_the_session_may_also_stop_in_the_next_turn(project: Path):
    for _ in range(MOST_BLOCKS[OPEN]):
        stopped(project)

    assert not is_held(project, stop_hook_active=False)


def test_case_34_a_change_of_the_plan_resets_the_limit(project: Path):
    for _ in range(MOST_BLOCKS[OPEN]):
        stopped(project)
    put(project, PLAN, plan_text(modules=MODULE))

    assert is_held(project)


def test_the_hosts_flag_decides_when_blocks_cannot_be_counted(project: Path):
    put(project, ".claude/.fairlead", "in the way")

    assert is_held(project, stop_hook_active=False)
    assert not is_held(project, stop_hook_active=True)


# --- case 35: no response ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b" ", b"{", b"5", b"[]", b"null", b"\xff\xfe", b'"x"', b"{}" * 2]
)
def test_case_35_an_empty_message_gets_no_response(content: bytes):
    assert asked(content) == ({}, "")


@pytest.mark.parametrize("key", ["session_id", "cwd", "hook_event_name"])
@pytest.mark.parametrize("value", ["", None, 5, [], {}])
def test_case_35_a_message_without_a_required_key_holds_no_session(
    project: Path, key: str, value: object
):
    members = json.loads(message(project)) | {key: value}

    assert asked(json.dumps(members).encode()) == ({}, "")


@pytest.mark.parametrize(
    "more",
    [{"event": "SubagentStop"}, {"agent_id": "a1"}, {"event": "StopFailure"}, {"event": "Later"}],
)
def test_case_35_subagents_and_other_events_are_not_held(project: Path, more: dict[str, Any]):
    assert stopped(project, **more) == ({}, "")


def test_case_35_without_a_plan_there_is_no_response(tmp_path: Path):
    assert stopped(tmp_path) == ({}, "")


def test_case_35_an_approved_plan_gets_no_response(project: Path):
    put(project, PLAN, plan_text(status="approved", complete=True))
    stated(project, project.parent, "approved")

    assert stopped(project) == ({}, "")


@pytest.mark.parametrize(
    "text",
    [
        plan_text(status="approved", complete=True),
        plan_text(status="approved"),
        plan_text(complete=True),
        plan_text(status="approved", complete=True, section="complete", modules=MODULE),
        plan_text(complete=True, more='fairlead:\n  released: "2026-01-09"\n'),
        plan_text(more='fairlead:\n  released: "2026-01-09"\n'),
        plan_text().replace("exit_criteria:\n", "exit_criteria: []\nmore:\n"),
    ],
)
def test_a_plan_file_that_only_claims_to_be_approved_or_released_holds(project: Path, text: str):
    put(project, PLAN, text)
    put(project, "USER_REQUIREMENTS.md", REQUIREMENTS)

    assert is_held(project)


def test_a_forged_hash_is_no_approval(project: Path):
    put(project, PLAN, plan_text(status="approved", complete=True))
    plan = read_plan((project / PLAN).read_text())
    forged = f'fairlead:\n  approved_hash: "{content_hash(plan, None)}"\n'
    put(project, PLAN, plan_text(status="approved", complete=True, more=forged))

    assert "no approval of this plan by a person" in stopped(project)[0]["reason"]


def test_an_approval_of_another_content_does_not_release(project: Path):
    stated(project, project.parent, "approved")
    put(project, PLAN, plan_text(status="approved", complete=True, modules=MODULE))

    assert is_held(project)


@pytest.mark.parametrize("kind", ["folder", "full folder", "pipe", "link", "dangling", "binary"])
def test_the_count_works_whatever_is_in_its_place(project: Path, kind: str):
    place = project / ".claude/.fairlead/hold.json"
    outside = put(project, "outside.json", "kept")
    place.parent.mkdir()
    match kind:
        case "folder":
            place.mkdir()
        case "full folder":
            put(place, "more", "x")
        case "pipe":
            os.mkfifo(place)
        case "link":
            place.symlink_to(outside)
        case "dangling":
            place.symlink_to("nowhere")
        case "binary":
            place.write_bytes(b"\x00\xff" * 20_000)

    blocks = [is_held(project) for _ in range(MOST_BLOCKS[OPEN] + 2)]

    assert blocks == [True] * MOST_BLOCKS[OPEN] + [False] * 2
    assert outside.read_text() == "kept"


def test_an_approval_voided_by_an_edit_holds_the_session(project: Path):
    void = 'fairlead:\n  approved_hash: "sha256:00"\n'
    put(project, PLAN, plan_text(status="approved", complete=True, more=void))

    assert "changed after its approval" in stopped(project)[0]["reason"]


def test_a_void_approval_holds_the_session_without_a_criterion(project: Path):
    void = 'fairlead:\n  approved_hash: "sha256:00"\n'
    text = plan_text(status="approved", complete=True, criteria=(), more=void)
    put(project, PLAN, text.replace("exit_criteria:\n", "exit_criteria: []\n"))

    assert "reset --reopen" in stopped(project)[0]["reason"]


@pytest.mark.parametrize(
    "last", ["[Request interrupted by user]", "API Error: 500 overloaded", "  API Error"]
)
def test_an_interrupt_and_an_api_error_allow_the_stop(project: Path, last: str):
    response, _ = stopped(project, last_assistant_message=last)

    assert "decision" not in response
    assert response["systemMessage"]


def test_a_released_plan_holds_no_session_and_is_noted(project: Path):
    put(project, PLAN, plan_text(more='fairlead:\n  released: "2026-01-09T15:00:00Z"\n'))
    stated(project, project.parent, "released")

    response, note = stopped(project)

    assert response == {}
    assert "released" in note


def test_agents_carry_the_variable_that_the_hook_checks():
    assert JOB == supervisor.JOB


def test_agents_started_by_fairlead_are_not_held(project: Path):
    assert asked(message(project), {JOB: "1"}) == ({}, "")


# --- case 36: unreadable plans ----------------------------------------------------------

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
def test_case_36_an_unreadable_plan_is_reported_and_left_unchanged(project: Path, content: bytes):
    place = put(project, PLAN, content)

    response, note = stopped(project)

    assert response == {}
    assert "cannot be read" in note
    assert place.read_bytes() == content


_BREAKING = {
    "status": ('status: "drafting"', "status: complete"),
    "plan id": (PLAN_ID, "plan-2026-01"),
    "no frontmatter": ("---\nphase", "phase"),
    "modules": ("modules: []", "modules: done"),
}


@pytest.mark.parametrize(("old", "new"), _BREAKING.values(), ids=_BREAKING)
def test_an_edit_that_breaks_the_plan_does_not_release_the_session_that_it_held(
    project: Path, old: str, new: str
):
    assert is_held(project)
    put(project, PLAN, plan_text().replace(old, new, 1).encode())

    response, note = stopped(project)

    assert response["decision"] == "block"
    assert PLAN in response["reason"]
    assert "cannot be read" in response["reason"]
    assert note == ""


def test_a_broken_plan_gives_way_and_holds_no_other_session(project: Path):
    assert is_held(project)
    for at in range(MOST_BLOCKS[OPEN]):
        put(project, PLAN, plan_text(status=f"wild{at}").encode())
        assert is_held(project), at
        assert not is_held(project, session_id="another")

    response, note = stopped(project)

    assert "decision" not in response
    assert "nothing changed" in note


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_case_36_a_plan_that_is_not_a_file_is_reported(project: Path, kind: str):
    place = project / PLAN
    place.unlink()
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/etc/hostname")

    response, note = stopped(project)

    assert response == {}
    assert "cannot be read" in note


# --- case 37 and the real process ------------------------------------------------------------


def test_case_37_a_block_has_a_reason_and_only_keys_that_both_hosts_accept(project: Path):
    response, _ = stopped(project)

    assert set(response) == {"decision", "reason"}
    assert response["reason"].strip()


# --- case 40: after approval, the modules ---------------------------------------------------


def approved(project: Path, *statuses: str, counts: str = "") -> Path:
    put(project, PLAN, plan_text(status="approved", complete=True))
    put(project, EXEC, exec_text(*statuses, counts=counts))
    stated(project, project.parent, "approved")
    return project


def test_case_40_a_pending_module_holds_although_the_counts_are_complete(project: Path):
    counts = "modules_completed: 2\nmodules_total: 2\nall_modules_complete: true\n"
    approved(project, "complete", "pending", counts=counts)

    reason = stopped(project)[0]["reason"]

    assert "module-2" in reason
    assert "module-1" not in reason
    assert "fairlead exec complete module-2" in reason


@pytest.mark.parametrize("statuses", [(), ("complete",), ("complete", "complete")])
def test_complete_modules_hold_no_session(project: Path, statuses: tuple[str, ...]):
    assert stopped(approved(project, *statuses)) == ({}, "")


def test_blocked_modules_wait_for_a_person_and_hold_once(project: Path):
    approved(project, "blocked")

    assert [is_held(project), is_held(project)] == [True, False]


def test_modules_of_a_person_hold_once(project: Path):
    approved(project)
    text = exec_text("assigned").replace('"assigned"\n', '"assigned"\n    assigned_to: "ada"\n')
    people = 'registered_agents:\n  human_developers:\n    - github_username: "ada"\n'
    put(project, EXEC, text.replace("modules_status", people + "modules_status"))

    assert [is_held(project), is_held(project)] == [True, False]


def test_modules_also_hold_without_a_plan_file(project: Path):
    approved(project, "in-progress")
    (project / PLAN).unlink()

    assert is_held(project)


def test_modules_are_ignored_before_approval(project: Path):
    put(project, EXEC, b"broken")

    assert is_held(project)


# --- the owner of a plan ------------------------------------------------------------------------


def test_a_plan_that_waits_for_a_person_holds_once_with_a_request_to_ask(project: Path):
    put(project, PLAN, plan_text(status="reviewing", section="complete", modules=MODULE))
    put(project, "USER_REQUIREMENTS.md", REQUIREMENTS)

    response, _ = stopped(project)

    assert "Only a person" in response["reason"]
    assert "fairlead planning approve" in response["reason"]
    assert not is_held(project, stop_hook_active=True)


def test_a_second_session_is_never_held(project: Path):
    assert is_held(project, session="one")

    response, note = stopped(project, session="two")

    assert response == {}
    assert "another session" in note


def test_the_session_that_began_the_plan_owns_it(project: Path):
    put(project, PLAN, plan_text(more='fairlead:\n  session: "one"\n'))

    assert not is_held(project, session="two")
    assert is_held(project, session="one")


def test_an_owner_that_is_inactive_for_long_loses_the_plan(project: Path):
    stopped(project, session="one")
    hold = project / ".claude" / ".fairlead" / "hold.json"
    long_ago = time.time() - OWNER_TIMEOUT_SECONDS - 60
    os.utime(hold, (long_ago, long_ago))

    assert is_held(project, session="two")


def test_a_new_plan_has_a_new_owner(project: Path):
    stopped(project, session="one")
    put(project, PLAN, plan_text().replace(PLAN_ID, "plan-20260110-000000"))

    assert is_held(project, session="two")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"plan": 5}', b"\xff" * 20000])
def test_a_damaged_count_is_treated_as_new(project: Path, content: bytes):
    put(project, ".claude/.fairlead/hold.json", content)

    assert is_held(project)


def test_the_hook_changes_no_file_of_the_user(project: Path):
    before = (project / PLAN).read_bytes()
    stopped(project)

    assert (project / PLAN).read_bytes() == before
    names = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert names - {PLAN} == {".claude/.fairlead/.gitignore", ".claude/.fairlead/hold.json"}


def test_in_a_project_the_count_is_stored_in_its_staging_folder(project: Path):
    (project / ".planning").mkdir()
    stopped(project)

    assert (project / ".planning" / ".fairlead" / "hold.json").is_file()


def test_a_deleted_project_gets_no_response(project: Path):
    shutil.rmtree(project)

    assert stopped(project) == ({}, "")
