"""STATE.md at a glance: quick on every text, and of one mind with the full reader."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.project.derive.headline import Headline, full_text
from fairlead.project.state.headline import headline_of
from fairlead.text.document import Document
from fairlead.text.fast_frontmatter import read_front
from fairlead.text.yaml_scalars import Plain, is_null
from tests.support.documents import generated, mutated

# As much as is ever read of a document, in shapes that make readers slow.
LARGE = {
    "keys": "---\n" + "".join(f"key{at}: {at}\n" for at in range(18_000)) + "---\n",
    "quoted keys": "---\n" + "".join(f"\"k{at}\": 'x'\n" for at in range(14_000)) + "---\n",
    "blanks in a value": "---\na: " + " " * 250_000 + "\n---\n",
    "one long line": "---\na: " + "x" * 250_000 + "\n---\n",
    "items in brackets": "---\na: [" + "1," * 120_000 + "1]\n---\n",
    "brackets in brackets": "---\na: " + "[" * 250_000 + "\n---\n",
    "text between quotes": '---\na: "' + "x\n  " * 60_000 + '"\n---\n',
    "a quote never closed": '---\na: "' + "x\n  " * 60_000 + "\n---\n",
    "a small quote never closed": '---\na: "' + "\n" * 8_000 + "\n---\n",
    "many quotes never closed": "---\n" + 'a: "x\n' * 40_000 + "---\n",
    "text on many lines": "---\na: b\n" + "  c\n" * 60_000 + "---\n",
    "a block": "---\na: |\n" + "  c\n" * 60_000 + "---\n",
    "blank lines": "---\n" + "\n" * 250_000 + "---\n",
    "almost fences": "---\n" + "---x\n" * 50_000,
    "old line ends": "---\r" + "a: b\r" * 50_000 + "---\r",
    "labels": "Phase: x\n" * 28_000,
    "labels with blanks": ("Phase: 1" + " " * 2_000 + "\n") * 120,
    "an open bracket": "Phase: 1 of 2 (" + "x\n" * 120_000,
}


def shown(headline: Headline) -> dict[str, object]:
    return {name: getattr(headline, name) for name in Headline.__slots__}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_a_large_document_is_read(text: str):
    # Milliseconds each; a reader that goes over the text again and again takes minutes.
    assert isinstance(headline_of(text), Headline)


@given(st.text())
def test_reading_never_fails(text: str):
    assert isinstance(headline_of(text), Headline)
    assert isinstance(headline_of(f"---\n{text}\n---\nPhase: {text}"), Headline)


@given(st.integers(0, 2**32))
def test_fields_say_what_the_full_reader_reads(seed: int):
    random = Random(seed)
    text = mutated(generated(random), random)
    headline, front = headline_of(text), Document(text).shown_front
    progress = front.get("progress")

    assert headline.milestone == meant(front.get("milestone"), headline.milestone)
    if meant(front.get("status"), ""):
        assert headline.status == meant(front.get("status"), headline.status)
    if isinstance(progress, dict) and isinstance(progress.get("percent"), Plain):
        digits = progress["percent"]
        assert headline.percent == digits or not digits.isdecimal() or not digits.isascii()


def meant(value: object, written: str) -> str:
    """What a field says; where it holds quotes, escapes, padding or a list, what is written."""
    if is_null(value) or value == "null":
        return ""
    if not isinstance(value, str) or set(value) & set("'\"\\"):
        return written
    if not isinstance(value, Plain) and not (value.isprintable() and value == value.strip()):
        return written
    return " ".join(line.strip("\r") for line in value.strip().split("\n"))


@given(st.integers(0, 2**32))
def test_the_body_does_not_affect_the_frontmatter_fields(seed: int):
    random = Random(seed)
    text = generated(random)
    if not read_front(text):
        return
    body = "\n" + random.choice(("", "---\n", "a: b\n---\n", "status: x\n")) * random.randint(0, 3)
    fields = ("milestone", "milestone_name", "next_phases", "percent")

    with_body, without = shown(headline_of(text + body)), shown(headline_of(text))

    assert {name: with_body[name] for name in fields} == {name: without[name] for name in fields}


def test_frontmatter_that_is_never_closed_says_nothing():
    assert headline_of("---\nmilestone: v2.0\n").milestone == ""
    assert headline_of("---\nmilestone: v2.0\n" + "x\n" * 20_000).milestone == ""


def test_frontmatter_of_any_size_is_read_line_by_line():
    filler = "".join(f"note{at}: text\n" for at in range(5_000))

    headline = headline_of(f"---\nmilestone: v2.0\nprogress:\n  percent: 30\n{filler}---\n")

    assert (headline.milestone, headline.percent) == ("v2.0", "30")


def test_endless_numbers_are_shown():
    headline = headline_of("---\nmilestone: v1\nprogress:\n  percent: " + "9" * 5_000 + "\n---\n")

    assert full_text(headline) == "v1 [██████████] 100%"


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\r"])
def test_other_line_ends_count_in_the_body(mark: str):
    headline = headline_of(f"x{mark}Phase: 2 of 3 (Hull)\nStatus: ready to plan{mark}executing")

    assert (headline.phase, headline.phase_name, headline.status) == ("2", "Hull", "planning")
