"""Where the work stopped: each completed step moves it, and a person's own words stay."""

from datetime import UTC, datetime

import pytest

from fairlead.project.state.activity import with_activity
from fairlead.text.document import Document

NOW = datetime(2026, 6, 1, tzinfo=UTC)
STATE = (
    "---\nstopped_at: {0}\n---\n\n## Current Position\n\nLast activity: 2026-05-30 — {1}\n\n"
    "## Session Continuity\n\nLast session: 2026-05-30\nStopped at: {0}\nResume file: None\n"
)


def after(stopped: str, event: str, last: str = "Plan 01-01 complete") -> list[str]:
    text = with_activity(Document(STATE.format(stopped, last)), event, NOW).text
    return [line.partition(": ")[2] for line in text.splitlines() if "topped" in line]


@pytest.mark.parametrize(
    "before",
    ["Project initialized", "Phase 1 context gathered", "Completed 01-01-PLAN.md", "Phase 1"],
)
@pytest.mark.parametrize("last", ["Plan 01-01 complete", "I wrote this"])
def test_a_step_that_is_completed_moves_it(before: str, last: str):
    event = "Plan 01-02 complete"

    assert after(before, event, last) == [event, event]


@pytest.mark.parametrize(
    "event",
    [
        "Phase 1 execution started",
        "Phase 1 planning started",
        "Paused",
        "Failed: Task 2",
        "Blocked: Task 2: the resumed one",
    ],
)
def test_a_start_or_a_failure_does_not_move_the_stop(event: str):
    assert after("Project initialized", event) == ["Project initialized"] * 2


def test_the_words_of_a_person_stay():
    mine = "in the middle of the parser, line 40"

    assert after(mine, "Plan 01-02 complete") == [mine, mine]
