"""The table of STATE.md fields, and `state get` and `state set` on top of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.values import replace
from fairlead.merge.derived import FRONT, is_derived, is_settled
from fairlead.project.errors import DerivedValue, UnknownField
from fairlead.project.state import headline
from fairlead.project.state.digest import with_progress
from fairlead.project.state.fields import (
    POSITION,
    PROGRESS,
    STATE_FIELDS,
    FieldTable,
    MergeRule,
    Owner,
    Source,
    StateField,
)
from fairlead.project.state.recorded import RecordedState
from fairlead.project.state.values import get_value, set_value
from fairlead.project.templates import template
from fairlead.text.document import Document
from fairlead.text.errors import UnwritableValue
from fairlead.text.inline import one_line, plain_text
from tests.support.positions import a_position
from tests.support.states import STATE, changed_lines, lost_lines
from tests.support.times import NOON


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("status", "planning"),
        ("Status", "Ready to plan"),
        ("progress.total_phases", 3),
        ("nested.deep.deeper", "kept"),
        ("tags", ["x", "y: z"]),
        ("active_phase", None),
        ("milestone", "v1.0"),
        ("Stopped at", "Project initialized"),
        ("Current focus", "Phase 1 — Core"),
        ("Decisions", "None yet."),
    ],
)
def test_a_field_is_found_by_its_name(name: str, value: object) -> None:
    assert get_value(Document(STATE), name) == value


def test_an_unknown_field_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownField) as refused:
        get_value(Document(STATE), "weather")

    assert "milestone" in refused.value.hint


@given(st.text(max_size=60))
@pytest.mark.parametrize("name", ["Status", "milestone_name", "Stopped at"])
def test_any_value_comes_back_as_itself_and_changes_nothing_else(name: str, value: str) -> None:
    document = Document(STATE)
    try:
        after = set_value(document, name, value, NOON)
    except UnwritableValue:
        return
    expected = value if name == "milestone_name" else plain_text(one_line(value))

    if not (name == "milestone_name" and value == "null"):
        assert get_value(after, name) == expected or str(get_value(after, name)) == expected
    assert len(changed_lines(STATE, after.text)) <= 3
    assert len(lost_lines(STATE, after.text)) <= 3


def test_setting_a_body_line_also_sets_its_frontmatter_key() -> None:
    after = set_value(Document(STATE), "Stopped at", "Plan 2", NOON)

    assert after.value("stopped_at") == "Plan 2"


def test_setting_the_recorded_value_changes_nothing() -> None:
    document = Document(STATE)

    assert set_value(document, "Status", "Ready to plan", NOON) is document


# --- the table -------------------------------------------------------------------------------


def test_no_two_rows_share_a_name() -> None:
    names = [name for row in STATE_FIELDS.rows for name in set(row.names)]

    assert len(names) == len(set(names))


def test_the_status_line_reads_the_fields_that_the_table_says() -> None:
    counts = [f"{PROGRESS}.{name}" for name in headline.COUNT_KEYS]
    in_table = [row.key for row in STATE_FIELDS.rows if row.is_in_status_line]

    assert sorted((*headline.TEXT_KEYS, headline.LIST_KEY, *counts)) == sorted(in_table)


@pytest.mark.parametrize("dialect", ["gsd", "ultraplan"])
def test_every_field_of_a_new_document_is_in_the_table(dialect: str) -> None:
    document = Document(template(f"STATE.{dialect}.md"))
    keys = [key for key in document.shown_front if not key.startswith("{")]
    counters = document.value(PROGRESS)
    assert isinstance(counters, dict)
    keys += [f"{PROGRESS}.{name}" for name in counters]
    labels = [
        line.text.strip("-* ").split(":")[0]
        for line in document.lines
        if line.is_prose and ":" in line.text and not line.text.startswith("See:")
    ]
    headings = ("Velocity", "By Phase", "Recent Trend")

    assert [key for key in keys if STATE_FIELDS.find(key) is None] == []
    assert [
        label for label in labels if STATE_FIELDS.find(label) is None and label not in headings
    ] == []


def test_a_derived_field_says_how_it_is_computed_and_merged() -> None:
    for row in STATE_FIELDS.rows:
        if row.command and row.owner is Owner.DERIVED:
            assert row.source, row.name
            assert row.merge in (MergeRule.RECOMPUTE, MergeRule.RECOMPUTE_IN_SECTION), row.name


# --- one more row ----------------------------------------------------------------------------

WITH_TRAIN = STATE.replace("status: planning\n", "status: planning\nrelease_train: slow\n").replace(
    "Status: Ready to plan\n", "Status: Ready to plan\nRelease train: slow\n"
)
TRAIN = StateField(
    "release_train",
    ("Release train",),
    POSITION,
    merge=MergeRule.RECOMPUTE,
    values=("slow", "fast"),
)
TASKS = StateField(
    f"{PROGRESS}.total_tasks",
    owner=Owner.DERIVED,
    source=Source.COUNTS,
    command="fairlead state sync",
    merge=MergeRule.RECOMPUTE,
)
LARGER = FieldTable((*STATE_FIELDS.rows, TRAIN, TASKS))


def test_a_new_row_is_read_and_set_in_both_places() -> None:
    after = set_value(Document(WITH_TRAIN), "Release train", "fast", NOON, LARGER)

    assert get_value(after, "release_train", LARGER) == "fast"
    assert get_value(after, "Release train", LARGER) == "fast"
    back = set_value(after, "release_train", "slow", NOON, LARGER)
    assert get_value(back, "Release train", LARGER) == "slow"
    recorded = RecordedState(back, "STATE.md", LARGER).text("Release train")
    assert recorded is not None
    assert back.lines[recorded.line - 1].text == "Release train: slow"
    with pytest.raises(UnwritableValue):
        set_value(Document(WITH_TRAIN), "Release train", "steam", NOON, LARGER)


def test_a_new_derived_row_is_compared_written_and_never_set() -> None:
    document = Document(STATE).set_front((PROGRESS, "total_tasks"), 7)
    position = a_position(("1", "Core", 0, 1))
    position = replace(position, progress=replace(position.progress, total_tasks=3))

    assert RecordedState(document, "STATE.md", LARGER).counters["total_tasks"].value == 7
    assert "total_tasks" not in RecordedState(document, "STATE.md").counters
    assert with_progress(document, position, LARGER).value(PROGRESS, "total_tasks") == "3"
    with pytest.raises(DerivedValue):
        set_value(document, f"{PROGRESS}.total_tasks", "9", NOON, LARGER)


def test_a_new_row_merges_by_its_rule() -> None:
    assert is_derived("Release train", ("Current Position",), fields=LARGER)
    assert is_derived("release_train", (FRONT,), fields=LARGER)
    assert not is_derived("Release train", ("Current Position",))
    stepwise = FieldTable((*STATE_FIELDS.rows, replace(TRAIN, merge=MergeRule.STEP)))
    assert is_settled("Release train", "Completed 01-01", "Completed 01-02", fields=stepwise)
    assert not is_settled("Release train", "Completed 01-01", "Completed 01-02")
