"""What reaches a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.text.printable import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("café 東京 █░ —", "café 東京 █░ —"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b2J", "\\x9b2J"),
        ("a\u202eb", "a\\u202eb"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("line\nbreak", "line\\x0abreak"),
        ("lone \udcff", "lone \\udcff"),
    ],
)
def test_characters_that_control_the_terminal_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_no_control_or_format_character_passes(text: str) -> None:
    passed = {unicodedata.category(mark) for mark in visible(text)}
    assert not passed & {"Cc", "Cs", "Zl", "Zp"}
    assert not any(
        unicodedata.bidirectional(mark)
        in ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI")
        for mark in visible(text)
    )
