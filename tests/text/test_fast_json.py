"""JSON for the status line: it reads what `json` reads, and refuses what is no JSON."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.text.errors import JsonSyntax
from fairlead.text.fast_json import MAX_DEPTH, json_string, read_fast_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    # Lone surrogates too: hosts escape file names that are not UTF-8 like this.
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
PIECES = (
    *'{}[]:,"\\-+.eE0123456789 \t\n\r', "\\u", "\\ud83d", "\\ude00", "null", "true", "fals", "é",
    "\x00", "\x1f", "\x7f", "\u2028", "NaN", "//", "'", '"a"', "1e5", "-0", "01", "\ufeff",
)  # fmt: skip


def refused(text: str) -> JsonSyntax:
    with pytest.raises(JsonSyntax) as refusal:
        read_fast_json(text)
    return refusal.value


def typed(value: object) -> str:
    """A value with its types: Python takes 1, 1.0 and True for equal."""
    return repr(value)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_it_reads_what_the_standard_library_writes(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert typed(read_fast_json(text)) == typed(json.loads(text))


@given(VALUES, st.integers(0, 2**32))
def test_it_agrees_with_the_standard_library_on_damaged_texts(value, seed):
    random = Random(seed)
    text = json.dumps(value)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(PIECES) + text[at + random.randint(0, 2) :]
    try:
        found = read_fast_json(text)
    except JsonSyntax:
        # `json` is laxer in one thing: it knows numbers that JSON does not have.
        with pytest.raises(ValueError):
            json.loads(text, parse_constant=int)
        return
    assert typed(found) == typed(json.loads(text.removeprefix("\ufeff")))


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ('{"a": 1,}', 1, 9),
        ("[1 2]", 1, 4),
        ('{"a" 1}', 1, 6),
        ("{a: 1}", 1, 2),
        ('{"a":\n  nul}', 2, 3),
        ('"a\nb"', 1, 1),
        ('"never closed', 1, 1),
        ('"\\x"', 1, 1),
        ("NaN", 1, 1),
        ("01", 1, 1),
        ("1.", 1, 1),
        ("-", 1, 1),
        ("{} {}", 1, 4),
        ("{}\0", 1, 3),
        ("9" * 5000, 1, 1),
    ],
)
def test_invalid_json_is_refused_by_the_fast_reader_with_its_position(
    text: str, line: int, column: int
):
    refusal = refused(text)

    assert (refusal.line, refusal.column) == (line, column)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_deeper_than_64_is_refused(opening: str, closing: str):
    deepest = opening * MAX_DEPTH + "1" + closing * MAX_DEPTH

    assert typed(read_fast_json(deepest)) == typed(json.loads(deepest))
    assert "deeper than 64" in str(refused(opening + deepest + closing))
    assert "deeper than 64" in str(refused(opening * 100_000))


def test_the_last_value_of_a_duplicate_key_counts():
    assert read_fast_json('{"a": 1, "a": 2}') == {"a": 2}


def test_a_byte_order_mark_is_accepted():
    assert read_fast_json('\ufeff{"a": 1}') == {"a": 1}


@given(st.text(st.characters(exclude_categories=())))
def test_a_written_string_reads_back_everywhere(text: str):
    written = json_string(text)

    assert json.loads(written) == read_fast_json(written) == text
    assert written.isprintable()
