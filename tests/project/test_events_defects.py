"""Faults that state files suffered elsewhere: by their numbers in the list of known defects and
by the complaints of users. Each of them is a case that comes out right here.
"""

import pytest

from fairlead.project.errors import (
    DerivedValue,
    NoBlocker,
    PlansOpen,
    SeveralBlockers,
    UnknownPhase,
)
from fairlead.project.state.documents import (
    Decision,
    RoadmapChange,
    add_blocker,
    add_decision,
    add_roadmap_change,
    read_state,
    resolve_blocker,
)
from fairlead.project.state.edits import (
    TaskOutcome,
    TaskResult,
    execution_started,
    phase_completed,
    plan_completed,
    plans_ready,
    synced,
    task_result,
)
from fairlead.project.state.metrics import Metric, Recorded, record_metric
from fairlead.project.state.session import Stop, paused, record_session, resumed
from fairlead.project.state.values import get_value, set_value
from fairlead.text.document import Document
from tests.support.positions import a_position, an_inventory
from tests.support.states import STATE, changed_lines, lost_lines
from tests.support.times import NOON

PHASES = (("1", "Core", 1, 2), ("2", "API", 0, 1), ("3", "UI", 0, 0))
STANDING = a_position(*PHASES)


def field(document: Document, name: str) -> str:
    line = document.field(name)
    assert line is not None
    return line.value


def body(text: str) -> str:
    return text.split("\n---\n", 1)[1]


# --- 5, #4551: blockers ---------------------------------------------------------------------


def test_defect_5_a_blocker_does_not_eat_the_word_none() -> None:
    text = "### Blockers\n\n- nonexistent api\n- none of the keys work\n"

    assert add_blocker(Document(text), "x", NOON).text == text + "- x\n"


@pytest.mark.parametrize("placeholder", ["None yet.", "None.", "None", "*None yet.*", "- None"])
def test_defect_5_a_placeholder_goes_as_a_whole_line(placeholder: str) -> None:
    after = add_blocker(Document(f"### Blockers\n\n{placeholder}\n"), "x", NOON)

    assert after.text == "### Blockers\n\n- x\n"


def test_issue_4551_prose_that_begins_with_none_stays() -> None:
    text = "### Blockers\n\nNone of this is urgent.\n"

    assert "None of this is urgent." in add_blocker(Document(text), "x", NOON).text


def test_resolving_removes_one_blocker_with_its_lines_and_nothing_else() -> None:
    text = "### Blockers\n\n- one\n  more of one\n- two\n\nProse.\n\n## Next\n"

    assert (
        resolve_blocker(Document(text), "ONE", NOON).text
        == "### Blockers\n\n- two\n\nProse.\n\n## Next\n"
    )


def test_resolving_the_last_blocker_leaves_a_placeholder() -> None:
    after = resolve_blocker(Document("### Blockers\n\n- one\n\n## Next\n"), "one", NOON)

    assert after.text == "### Blockers\n\nNone.\n\n## Next\n"


def test_resolving_refuses_several_matches_with_their_list() -> None:
    with pytest.raises(SeveralBlockers, match="no key; no keyboard"):
        resolve_blocker(Document("### Blockers\n\n- no key\n- no keyboard\n"), "no", NOON)


def test_resolving_removes_a_blocker_that_is_listed_twice_under_any_title() -> None:
    text = "### Active Blockers\n\n- one\n- two\n- One\n\n## Concerns of others\n\n- one\n"

    assert (
        resolve_blocker(Document(text), "one", NOON).text
        == "### Active Blockers\n\n- two\n\n## Concerns of others\n\nNone.\n"
    )


def test_resolving_takes_the_exact_text_before_a_part_of_another() -> None:
    after = resolve_blocker(Document("### Blockers\n\n- no key\n- no keyboard\n"), "no key", NOON)

    assert after.text == "### Blockers\n\n- no keyboard\n"


def test_of_two_blockers_the_open_one_is_resolved() -> None:
    text = "### Blockers\n\n- ~~no key for the host~~\n- no key yet\n"

    after = resolve_blocker(Document(text), "key", NOON)

    assert after.text == "### Blockers\n\n- ~~no key for the host~~\n"


@pytest.mark.parametrize(
    ("entries", "left"),
    [
        ("- [x] API key\n- API key is missing\n", "- API key is missing\n"),
        ("- [x] API key\n- API key\n", "- [x] API key\n"),
        ("- [x] the API key\n- ~~no host~~\n", "- ~~no host~~\n"),
    ],
)
def test_an_exact_match_wins_over_an_open_blocker_that_contains_the_text(
    entries: str, left: str
) -> None:
    after = resolve_blocker(Document(f"### Blockers\n\n{entries}"), "API key", NOON)

    assert after.text == f"### Blockers\n\n{left}"


def test_resolving_an_unknown_blocker_is_refused() -> None:
    with pytest.raises(NoBlocker):
        resolve_blocker(Document(STATE), "anything", NOON)


# --- 6, #4419, #4763, #944, #2567: sessions ----------------------------------------------------


SESSION = """\
## Current Position

Stopped at: in another section

## Session

**Last Date:** 2026-01-01
A person's note.

- and a list

## Archive

Stopped at: long ago
Resume file: old.md
"""


def test_defect_6_a_session_keeps_the_prose_of_its_section() -> None:
    after = record_session(Document(SESSION), Stop("Plan 2 complete"), NOON)

    assert lost_lines(SESSION, after.text) == ["**Last Date:** 2026-01-01"]
    assert changed_lines(SESSION, after.text) == [
        "**Last Date:** 2026-06-01T12:00:00.000Z",
        "**Stopped at:** Plan 2 complete",
        "**Resume file:** None",
    ]


def test_issue_4419_the_resume_file_stays_when_none_is_given() -> None:
    text = STATE.replace("Resume file: None", "Resume file: .planning/notes.md")
    after = record_session(Document(text), Stop("Plan 2"), NOON)

    assert "Resume file: .planning/notes.md" in after.text


def test_issue_2567_lines_of_an_archive_are_not_touched() -> None:
    after = record_session(Document(SESSION), Stop("x", "y.md"), NOON)

    assert "Stopped at: long ago\nResume file: old.md\n" in after.text
    assert "Stopped at: in another section" in after.text


def test_issue_944_a_document_without_a_session_section_gets_one() -> None:
    after = record_session(Document("# State\n"), Stop("x"), NOON)

    assert after.text == (
        "# State\n\n## Session Continuity\n\n"
        "Last session: 2026-06-01T12:00:00.000Z\nStopped at: x\nResume file: None\n"
    )


def test_a_session_section_of_prose_keeps_it_below_the_lines() -> None:
    after = record_session(Document("## Session\n\nProse.\n"), Stop("x"), NOON)

    assert after.text == (
        "## Session\n\nLast session: 2026-06-01T12:00:00.000Z\nStopped at: x\n"
        "Resume file: None\n\nProse.\n"
    )


# --- 7, #4210, #4129, #4213, #3583: one story --------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        lambda document: plans_ready(document, STANDING, "1", NOON),
        lambda document: execution_started(document, STANDING, "1", NOON),
        lambda document: plan_completed(document, STANDING, "1", NOON),
        lambda document: synced(document, STANDING, NOON),
        lambda document: task_result(
            document, TaskResult("T", TaskOutcome.SUCCESS), STANDING, NOON
        ),
    ],
    ids=["plans ready", "execution started", "plan completed", "sync", "task result"],
)
def test_defect_7_and_issue_4213_counters_percent_and_bar_are_written_together(event) -> None:
    text = STATE.replace("completed_phases: 0", "completed_phases: 2").replace(
        "percent: 0", "percent: 77"
    )
    after = event(Document(text))
    progress = STANDING.progress

    assert after.value("progress") == {
        "total_phases": str(progress.total_phases),
        "completed_phases": str(progress.completed_phases),
        "total_plans": str(progress.total_plans),
        "completed_plans": str(progress.completed_plans),
        "percent": str(progress.percent),
    }
    assert field(after, "Progress").endswith(f"{progress.percent}%")


def test_issue_4129_a_second_sync_changes_nothing() -> None:
    once = synced(Document(STATE), STANDING, NOON)

    assert synced(once, STANDING, NOON) is once


# --- 9, 17, #4053: numbers of phases -------------------------------------------------------------


def test_defect_9_phase_4_is_not_a_resumed_4_5() -> None:
    position = a_position(("4", "Four", 0, 1), ("4.5", "Half", 0, 1))
    document = execution_started(Document(STATE), position, "4.5", NOON)
    after = execution_started(document, position, "4", NOON)

    assert field(after, "Last activity") == "2026-06-01 — Phase 4 execution started"
    assert (after.value("current_phase"), after.value("active_phase")) == ("4", "4")
    assert field(after, "Phase") == "4 of 4 (Four)"


def test_issue_4053_phase_22_1_and_22_10_are_two_phases() -> None:
    position = a_position(("22.1", "One", 0, 1), ("22.10", "Ten", 0, 1))
    after = execution_started(Document(STATE), position, "22.10", NOON)

    assert 'current_phase: "22.10"' in after.text
    assert 'active_phase: "22.10"' in after.text


@pytest.mark.parametrize("spelling", ["5", "05", "005"])
def test_defect_17_a_phase_is_the_same_however_it_is_spelled(spelling: str) -> None:
    position = a_position(("05", "Five", 1, 1), ("06", "Six", 0, 0))
    text = STATE.replace("Phase: 1 of 3 (Core)", "Phase: 05 of 2 (Five)")
    after = phase_completed(Document(text), position, spelling, NOON)

    assert field(after, "Phase") == "6 of 6 (Six)"


def test_defect_17_a_phase_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownPhase):
        phase_completed(Document(STATE), STANDING, "7", NOON)


def test_defect_18_one_phase_done_is_not_the_project_done() -> None:
    position = a_position(("1", "A", 1, 1), ("2", "B", 0, 0), ("3", "C", 0, 0), ("4", "D", 0, 0))
    after = phase_completed(Document(STATE), position, "1", NOON)

    assert after.value("status") == "verifying"
    assert after.value("progress", "percent") == "25"


# --- 10, 14: values are values -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Save $& now", "$$", "$1 \\1 \\g<0>", "a (b) c"])
def test_defect_10_a_name_comes_back_as_itself(name: str) -> None:
    position = a_position(("1", "Core", 1, 1), ("2", name, 0, 1))
    after = execution_started(Document(STATE), position, "2", NOON)

    assert get_value(after, "Phase") == f"2 of 2 ({name})"
    assert after.value("current_phase_name") == name


HOSTILE = "x\nStatus: done\n## Heading\n| a | b |\n- [ ] y <!-- z"


def test_defect_14_a_line_break_injects_no_field() -> None:
    document = add_blocker(Document(STATE), HOSTILE, NOON)
    document = add_decision(document, Decision("1", HOSTILE), NOON)
    document = add_roadmap_change(document, RoadmapChange(HOSTILE, "1"), NOON)
    document = record_session(document, Stop(HOSTILE), NOON)
    document = task_result(
        document, TaskResult(HOSTILE, TaskOutcome.BLOCKED, reason=HOSTILE), STANDING, NOON
    )

    before = [section.title for section in Document(STATE).sections]
    after = [section.title for section in document.sections if section.title != "Roadmap Evolution"]
    assert after == before
    assert read_state(document).status == "In progress"


def test_defect_14_a_pipe_breaks_no_table() -> None:
    text = STATE
    metric = Metric("1", "1", "12m")
    document = record_metric(
        Document(text), metric, Recorded(STANDING, an_inventory(*PHASES)), NOON
    )
    named = a_position(("1", "a | b", 1, 2))
    again = record_metric(
        Document(text), metric, Recorded(named, an_inventory(("1", "a | b", 1, 2))), NOON
    )

    assert "| Phase 1 P01 | 12m | - | - |" in document.text
    assert "| 1. a \\| b | 1 | 12 min | 12 min |" in again.text


# --- 12, #2202, #3257: what is not ours ------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        lambda document: plans_ready(document, STANDING, "1", NOON),
        lambda document: execution_started(document, STANDING, "1", NOON),
        lambda document: phase_completed(document, a_position(("1", "Core", 2, 2)), "1", NOON),
        lambda document: paused(document, "here", NOON),
        lambda document: record_session(document, Stop("here"), NOON),
    ],
    ids=["plans ready", "execution started", "phase completed", "paused", "session"],
)
def test_defect_12_nested_values_flow_items_and_comments_survive(event) -> None:
    kept = '# a person\'s comment\ntags: [x, "y: z"]\nnested:\n  deep:\n    deeper: kept\n'

    assert kept in event(Document(STATE)).text


def test_defect_19_a_refused_event_changes_nothing() -> None:
    document = Document(STATE)
    with pytest.raises(PlansOpen):
        plan_completed(document, a_position(("1", "Core", 0, 2)), "1", NOON)

    assert document.text == STATE


def test_defect_23_and_issue_4862_setting_the_last_activity_keeps_its_description() -> None:
    text = STATE.replace(
        "last_activity: 2026-05-01", "last_activity: 2026-05-01\nlast_activity_desc: mine"
    )
    after = set_value(Document(text), "Last activity", "2026-06-01", NOON)

    assert "last_activity_desc: mine" in after.text
    assert after.value("last_activity") == "2026-06-01"


def test_issue_4010_setting_an_empty_field_takes_no_other_line() -> None:
    text = "## Current Position\n\nStatus:\nPhase: 1\n"

    assert (
        set_value(Document(text), "Status", "Waiting", NOON).text
        == "## Current Position\n\nStatus: Waiting\nPhase: 1\n"
    )


def test_issue_4243_a_label_inside_a_sentence_is_no_field() -> None:
    text = "## Current Position\n\nThe **Status:** of it is unclear.\nStatus: Planning\n"
    after = set_value(Document(text), "Status", "Waiting", NOON)

    assert "The **Status:** of it is unclear." in after.text


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("progress.percent", "sync"),
        ("progress.total_plans", "sync"),
        ("next_action", "sync"),
        ("Phase", "begin-phase"),
        ("Plan", "advance-plan"),
        ("current_phase", "begin-phase"),
    ],
)
def test_a_derived_value_cannot_be_set(name: str, command: str) -> None:
    document = Document(STATE.replace("status: planning", "current_phase: 1\nstatus: planning"))
    with pytest.raises(DerivedValue) as refused:
        set_value(document, name, "99", NOON)

    assert f"fairlead state {command}" in refused.value.hint


@pytest.mark.parametrize(
    ("name", "value", "key", "twin"),
    [
        ("Last activity", "I did things", "last_activity", "I did things"),
        ("Last activity", "2026-06-02 — Read it", "last_activity", "2026-06-02"),
        ("Last activity", "2026-06-02 — Read it", "last_activity_desc", "Read it"),
        ("Status", "Verifying with Bob", "status", "verifying"),
        ("Status", "Waiting for Bob", "status", "planning"),
    ],
)
def test_the_frontmatter_says_the_same_as_the_body(
    name: str, value: str, key: str, twin: str
) -> None:
    text = STATE.replace("stopped_at:", "last_activity_desc: old\nstopped_at:", 1)

    assert set_value(Document(text), name, value, NOON).value(key) == twin


def test_issue_4186_a_status_of_a_person_is_kept() -> None:
    text = STATE.replace("Status: Ready to plan", "Status: see .planning/ verifica di Bob")
    after = execution_started(Document(text), STANDING, "1", NOON)

    assert field(after, "Status") == "see .planning/ verifica di Bob"


def test_issue_3818_planned_phase_changes_its_own_fields_only() -> None:
    after = plans_ready(Document(STATE), STANDING, "1", NOON)

    assert changed_lines(body(STATE), body(after.text)) == [
        "Plan: 2 of 2 in current phase",
        "Status: Ready to execute",
        "Last activity: 2026-06-01 — Phase 1 planning complete — 2 plans ready",
    ]


def test_issue_3311_planning_ahead_leaves_the_position_of_the_running_phase() -> None:
    running = execution_started(Document(STATE), STANDING, "1", NOON)
    after = plans_ready(running, STANDING, "2", NOON)

    assert field(after, "Phase") == "1 of 3 (Core)"
    assert after.value("active_phase") == "1"


def test_issue_3578_finishing_a_phase_does_not_finish_the_milestone() -> None:
    position = a_position(("1", "Core", 2, 2), ("2", "API", 0, 0))
    after = task_result(Document(STATE), TaskResult("T", TaskOutcome.SUCCESS, "1"), position, NOON)

    assert after.value("status") != "completed"


def test_issue_2754_carriage_returns_stay_in_every_line() -> None:
    text = STATE.replace("\n", "\r\n")
    document = execution_started(Document(text), STANDING, "1", NOON)
    document = add_blocker(record_session(document, Stop("x"), NOON), "y", NOON)
    document = record_metric(
        document, Metric("1", "1", "5m"), Recorded(STANDING, an_inventory(*PHASES)), NOON
    )

    assert document.text.count("\n") == document.text.count("\r\n")


def test_issue_692_the_same_entry_is_recorded_once() -> None:
    document = add_decision(Document(STATE), Decision("1", "a"), NOON)
    document = add_blocker(document, "b", NOON)
    document = add_roadmap_change(document, RoadmapChange("c", "1"), NOON)

    assert add_decision(document, Decision("1", "a"), NOON) is document
    assert add_blocker(document, "b", NOON) is document
    assert add_roadmap_change(document, RoadmapChange("c", "1"), NOON) is document


# --- template defaults against values people wrote (seed 000) --------------------------------------


@pytest.mark.parametrize(
    "value",
    ["Waiting for Bob", "Executing Phase 1 with care", "Almost complete", "進行中", "not done"],
)
def test_a_status_that_a_person_wrote_is_kept(value: str) -> None:
    text = STATE.replace("Status: Ready to plan", f"Status: {value}")

    assert field(execution_started(Document(text), STANDING, "1", NOON), "Status") == value


@pytest.mark.parametrize(
    "value",
    ["2026-05-30 — Talked to Bob", "yesterday", "2026-05-30 -- Release cleanup completed"],
)
def test_a_last_activity_that_a_person_wrote_is_kept(value: str) -> None:
    text = STATE.replace("Last activity: 2026-05-01", f"Last activity: {value}")

    assert field(execution_started(Document(text), STANDING, "1", NOON), "Last activity") == value


@pytest.mark.parametrize(
    "value",
    ["", "2026-05-30", "2026-05-30 -- Phase 22 execution started", "2026-05-30 — Phase 2 complete"],
)
def test_a_last_activity_of_a_command_is_replaced(value: str) -> None:
    text = STATE.replace("Last activity: 2026-05-01", f"Last activity: {value}")
    after = execution_started(Document(text), STANDING, "1", NOON)

    assert field(after, "Last activity") == "2026-06-01 — Phase 1 execution started"


@pytest.mark.parametrize(
    ("value", "is_kept"),
    [
        ("Phase 1 — Core", False),
        ("Phase 1: Core", False),
        ("Phase 01", False),
        ("[which phase is active]", False),
        ("Phase 1: make the core robust", True),
        ("Ship it", True),
    ],
)
def test_a_focus_that_a_person_wrote_is_kept(value: str, is_kept: bool) -> None:
    text = STATE.replace("**Current focus:** Phase 1 — Core", f"**Current focus:** {value}")
    after = execution_started(Document(text), STANDING, "2", NOON)

    assert field(after, "Current focus") == (value if is_kept else "Phase 2 — API")


def test_a_pause_is_recorded_and_ends() -> None:
    document = paused(Document(STATE), "Before the migration", NOON)
    assert (document.value("paused_at"), document.value("status")) == (
        "Before the migration",
        "paused",
    )
    assert field(document, "Status") == "Paused"

    after = resumed(document, STANDING, NOON)
    assert (after.value("paused_at"), after.value("status")) == (None, "executing")
    assert field(after, "Status") == "In progress"


def test_a_paused_project_stays_paused_through_events() -> None:
    document = paused(Document(STATE), "Before the migration", NOON)

    assert synced(document, STANDING, NOON).value("status") == "paused"


def test_a_document_without_frontmatter_is_written_in_its_body() -> None:
    text = "# State\n\n## Current Position\n\nPhase: 1 of 3 (Core)\nStatus: Ready to plan\n"
    after = execution_started(Document(text), STANDING, "1", NOON)

    assert after.text == text.replace("Ready to plan", "In progress")
