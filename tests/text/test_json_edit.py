"""JSON edited in place, and everything a settings file may get wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.text.errors import JsonSyntax, UnsafeEdit
from fairlead.text.json_edit import Json, append_json, read_json, remove_json, set_json

SETTINGS = """\
{
    "b": [1, 2],
    "a": {"x": "é", "y": null},
    "deep": {
        "k": true
    }
}
"""


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("a", "x"), "z", SETTINGS.replace('"é"', '"z"')),
        (("a", "x"), "é", SETTINGS),
        (("deep", "k"), 1, SETTINGS.replace("true", "1")),
        (("deep", "n"), 2, SETTINGS.replace('"k": true', '"k": true,\n        "n": 2')),
        (("a", "z"), 1, SETTINGS.replace('"y": null', '"y": null, "z": 1')),
        (
            ("new", "q"),
            False,
            SETTINGS.replace("    }\n}", '    },\n    "new": {\n        "q": false\n    }\n}'),
        ),
    ],
)
def test_an_edit_leaves_every_other_byte_unchanged(
    path: tuple[str, ...], value: Json, expected: str
) -> None:
    assert set_json(SETTINGS, path, value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "a": 1\n}'),
        ("{}\n", '{\n  "a": 1\n}\n'),
        ('{"b": 2}', '{"b": 2, "a": 1}'),
        ("{ }", '{\n  "a": 1\n}'),
    ],
)
def test_a_new_key_gets_the_layout_of_the_file(text: str, expected: str) -> None:
    assert set_json(text, ("a",), 1) == expected


def test_crlf_and_tabs_survive() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    assert (
        set_json(text, ("b", "c"), 2) == '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n'
    )


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1, "a": 2}', 1, 10),
        ('{"a": NaN}', 1, 7),
        ('{"a": 1,}', 1, 8),
        ('{\n"a" 1}', 2, 5),
        ("{'a': 1}", 1, 2),
        ('{"a": "x\ny"}', 1, 7),
        ('{"a": 99999999999999999999}', 1, 7),
        ("[" * 70, 1, 66),
        ("", 1, 1),
        ("{} x", 1, 4),
        ('{"a": -Infinity}', 1, 7),
    ],
)
def test_invalid_json_is_refused_with_its_position(text: str, line: int, column: int) -> None:
    with pytest.raises(JsonSyntax) as refusal:
        read_json(text)
    assert (refusal.value.line, refusal.value.column) == (line, column)


def test_a_path_through_a_value_that_is_not_an_object_is_refused() -> None:
    with pytest.raises(UnsafeEdit):
        set_json('{"a": 1}', ("a", "b"), 2)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON, st.sampled_from([None, 2, "\t"]))
def test_it_reads_what_the_standard_library_writes(value: object, indent: object) -> None:
    assert read_json(json.dumps(value, indent=indent)).value == value  # type: ignore[arg-type]


@given(st.dictionaries(st.text(min_size=1), _JSON, min_size=1, max_size=5), st.data(), _JSON)
def test_setting_a_key_changes_only_that_value(
    settings: dict[str, object], data: st.DataObject, value: object
) -> None:
    key = data.draw(st.sampled_from(sorted(settings)))
    changed = set_json(json.dumps(settings, indent=2), (key,), value)  # type: ignore[arg-type]
    assert json.loads(changed) == {**settings, key: value}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": {"b": []}}', '{"a": {"b": [1]}}'),
        ('{"a": {"b": [0]}}', '{"a": {"b": [0, 1]}}'),
        ('{"a": {"b": [\r\n\t0\r\n]}}', '{"a": {"b": [\r\n\t0,\r\n\t1\r\n]}}'),
        ('{"a": {"c": 2}}', '{"a": {"c": 2, "b": [1]}}'),
    ],
)
def test_a_value_is_appended_to_an_array_in_its_layout(text: str, expected: str):
    assert append_json(text, ("a", "b"), 1) == expected


def test_appending_to_a_value_that_is_not_an_array_is_refused():
    with pytest.raises(UnsafeEdit):
        append_json('{"a": {}}', ("a",), 1)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ('{"a": 1}', ("a",), "{}"),
        ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
        ('{"a": 1,\n "b": 2\n}', ("b",), '{"a": 1\n}'),
        ('{"a": [1, 2, 3]}', ("a", 1), '{"a": [1, 3]}'),
        ('{"a": [ 1 ]}', ("a", 0), '{"a": []}'),
        ('{"a": [{"b": 1, "c": 2}]}', ("a", 0, "c"), '{"a": [{"b": 1}]}'),
        ('{"a": 1}', ("x", "y"), '{"a": 1}'),
    ],
)
def test_a_member_or_an_item_is_removed(text: str, path: tuple[str | int, ...], expected: str):
    assert remove_json(text, path) == expected


@given(st.lists(st.integers(0, 9), min_size=1), st.sampled_from([None, 1, 2, "\t"]))
def test_removing_an_appended_item_restores_the_text(items: list[int], indent: int | str | None):
    text = json.dumps({"a": items}, indent=indent)

    assert remove_json(append_json(text, ("a",), {"b": [1]}), ("a", len(items))) == text
