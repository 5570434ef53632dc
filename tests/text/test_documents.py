"""Documents by the thousand against the one oracle: quick here, a million in the long tier."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.text.document import Document, conflict_line
from fairlead.text.errors import ConflictMarkers, UnclosedFrontmatter
from fairlead.text.lines import common_ending, place_of, split_lines
from tests.conftest import Sample
from tests.support.corpus import corpus_documents
from tests.support.documents import Tally, examine, generated, mutated

BATCHES = 8
BATCH = 500


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(BATCHES))
def test_generated_and_mutated_documents_survive_reading_and_editing(seed: int) -> None:
    random = Random(seed)
    tally = Tally()
    for _ in range(BATCH):
        text = generated(random)
        tally.add(examine(mutated(text, random) if random.random() < 0.6 else text, random))
    assert tally.faults == []
    assert tally.edits > BATCH
    assert tally.trees > BATCH // 3


def test_the_oracle_finds_an_edit_that_touches_another_line() -> None:
    class Careless(Document):
        def set_front(self, path: object, value: object, *, after: str = "") -> Document:
            changed = super().set_front(path, value, after=after)  # type: ignore[arg-type]
            return Document(changed.text.rstrip("\n"))

    from tests.support import documents

    tally = Tally()
    text = "---\nstatus: a\n---\n\n# Title\n\ntext\n\n"
    documents._edit_front(Careless(text), Random(1), tally)
    assert tally.faults


@given(st.text(alphabet=st.sampled_from("ab \t\r\n\v\f\x85\u2028-#:")))
def test_the_lines_joined_are_the_text(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert len(lines) == len(
        text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    ) * bool(text)


@pytest.mark.parametrize(
    ("text", "ending"),
    [("a", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\nb\r\n", "\n")],
)
def test_the_common_ending_is_the_most_frequent_one(text: str, ending: str) -> None:
    assert common_ending(text) == ending


def test_lines_and_columns_count_from_one() -> None:
    assert place_of("ab\r\ncd\re", 0) == (1, 1)
    assert place_of("ab\r\ncd\re", 5) == (2, 2)
    assert place_of("ab\r\ncd\re", 7) == (2, 4)  # a lone CR ends no line, as in editors


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n", 2),
        ("a\r\n<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> x\r\n", 2),
        ("<<<<<<< a\n||||||| b\n=======\n>>>>>>> c\n", 1),
        ("text\n>>>>>>> left over\n", 2),
        ("```\n<<<<<<< HEAD\nan example\n```\n", 0),
        ("```\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n", 2),
        ("Title\n=======\n", 0),
        ("<<<<<<<<< not one\n", 0),
    ],
)
def test_an_unfinished_merge_is_found(text: str, line: int) -> None:
    assert conflict_line(text) == line


def test_a_document_with_a_conflict_can_be_read_but_not_edited() -> None:
    text = "---\nstatus: executing\n---\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
    document = Document(text)
    assert document.value("status") == "executing"
    with pytest.raises(ConflictMarkers) as refusal:
        document.set_front(("status",), "paused")
    assert refusal.value.line == 4


def test_a_document_with_unclosed_frontmatter_can_be_read_but_not_edited() -> None:
    document = Document("---\nstatus: x\n# Title\n")
    assert [section.title for section in document.sections] == ["Title"]
    with pytest.raises(UnclosedFrontmatter):
        document.require_writable()


def test_the_documents_of_the_corpus_survive_reading_and_editing(sample: Sample) -> None:
    random = Random(7)
    tally = Tally()
    every = list(corpus_documents())
    chosen = sample(every, len(every) // 5)
    for path, text in chosen:
        found = examine(text, random)
        found.faults[:] = [f"{path}: {fault[:300]}" for fault in found.faults]
        tally.add(found)
    assert tally.faults == []
    assert tally.edits > len(chosen)
