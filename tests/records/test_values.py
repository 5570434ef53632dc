"""Fields by their names: any value comes back as itself and changes nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import UnknownField, UnwritableValue
from fairlead.records.values import get_value, set_value
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text
from tests.support.moments import NOON
from tests.support.states import STATE, changed_lines, lost_lines


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


def test_a_field_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownField) as refused:
        get_value(Document(STATE), "weather")

    assert "milestone" in refused.value.hint


@given(st.text(max_size=60))
@pytest.mark.parametrize("name", ["Status", "milestone_name", "Stopped at"])
def test_any_value_comes_back_as_itself_and_changes_nothing_else(name: str, value: str) -> None:
    held = Document(STATE)
    try:
        after = set_value(held, name, value, NOON)
    except UnwritableValue:
        return
    expected = value if name == "milestone_name" else plain_text(one_line(value))

    if not (name == "milestone_name" and value == "null"):
        assert get_value(after, name) == expected or str(get_value(after, name)) == expected
    assert len(changed_lines(STATE, after.text)) <= 3
    assert len(lost_lines(STATE, after.text)) <= 3


def test_the_twin_in_the_frontmatter_follows() -> None:
    after = set_value(Document(STATE), "Stopped at", "Plan 2", NOON)

    assert after.value("stopped_at") == "Plan 2"


def test_the_value_that_is_there_changes_nothing() -> None:
    held = Document(STATE)

    assert set_value(held, "Status", "Ready to plan", NOON) is held
