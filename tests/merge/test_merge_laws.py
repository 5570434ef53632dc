"""Laws of merging: no line of any three texts is lost, and nothing is merged twice."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.errors import DocumentError
from fairlead.merge.diff import aligned, hunks_of
from fairlead.merge.three_way import merge_documents
from fairlead.merge.tree import joined, read_body, read_front
from fairlead.text.document import Document, conflict_line
from fairlead.text.errors import UnclosedFrontmatter
from tests.support.corpus import corpus_documents

FRAGMENTS = (
    "", "", "", "# State", "## Decisions", "### Todos", "### Todos", "- one", "- two", "  - inner", "  more",
    "* [ ] open", "- [x] done", "1. first", "2. second", "**Goal:** reach it", "Owner: nobody",
    "Some prose here.", "and its second line", "None yet.", "| Name | Value |", "|---|---|", "| a | b |",
    "| a | c |", "```", "~~~", "<!-- note", "-->", "<task>", "</task>", "<details>", "</details>",
    "<name>Build</name>", "---", "> quoted", "status: open", "tags: [a, b]", "tags:", "  - a", "- a: 1",
    "  key: value", "    deep: 1", "# comment", "\ttab", "text: |", "\u2028", "Progress: [###] 30%",
)  # fmt: skip

COMPUTED = "Progress"  # derived: the merge may drop one side's value
lines = st.lists(st.sampled_from(FRAGMENTS), max_size=14)
endings = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def edited(draw: st.DrawFn, base: list[str], side: str) -> tuple[list[str], list[str]]:
    """The base with random edits, and the words that only these edits contain."""
    text = list(base)
    added: list[str] = []
    for number in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["add", "add bullet", "change", "remove", "move"]))
        word = f"{side}{number}"
        if kind == "add":
            text.insert(at, draw(st.sampled_from(FRAGMENTS)))
        elif kind == "add bullet":
            text.insert(at, f"- {word}")
        elif at < len(text) and kind == "change" and not text[at].startswith(COMPUTED):
            text[at] += f" {word}"
        elif at < len(text):
            gone = text.pop(at)
            if kind == "move":
                text.insert(draw(st.integers(0, len(text))), gone)
    added = [word for n in range(5) if (word := f"{side}{n}") in " ".join(text).split()]
    return text, added


@st.composite
def merges(draw: st.DrawFn) -> tuple[str, str, str, list[str]]:
    base = draw(lines)
    if draw(st.booleans()):
        base = ["---", "status: open", "tags: [a]", "---", *base]
    ours, new_ours = draw(edited(base, "zo"))
    theirs, new_theirs = draw(edited(base, "zt"))
    texts = [
        ending.join(text) + draw(st.sampled_from([ending, ending, ""]))
        for text, ending in zip(
            (base, ours, theirs), draw(st.tuples(endings, endings, endings)), strict=True
        )
    ]
    return texts[0], texts[1], texts[2], new_ours + new_theirs


def is_writable(text: str) -> bool:
    try:
        Document(text).require_writable()
    except DocumentError:
        return False
    return True


@given(merges())
def test_the_merge_contains_the_additions_of_both_sides(
    case: tuple[str, str, str, list[str]],
) -> None:
    base, ours, theirs, added = case
    merged = merge_documents(base, ours, theirs)
    assert [word for word in added if word not in merged.text.split()] == []


@given(merges())
def test_every_conflict_marker_in_the_text_is_reported(
    case: tuple[str, str, str, list[str]],
) -> None:
    merged = merge_documents(*case[:3])
    assert merged.conflicts or not conflict_line(merged.text)


@given(merges())
def test_two_writable_documents_merge_into_a_writable_one(
    case: tuple[str, str, str, list[str]],
) -> None:
    _, ours, theirs, _ = case
    merged = merge_documents(*case[:3])
    if is_writable(ours) and is_writable(theirs) and not merged.conflicts:
        assert is_writable(merged.text)


@given(lines)
def test_the_joined_parts_of_a_document_are_the_document(text: list[str]) -> None:
    document = Document("".join(f"{line}\n" for line in text))
    try:
        front = read_front(document)
    except UnclosedFrontmatter:
        return
    parts, sections, tail = read_body(document)
    assert [*(front.lines if front else ()), *joined(parts), *joined(sections), *tail] == text


@given(lines, lines, lines)
def test_the_joined_hunks_of_three_texts_are_the_texts(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    hunks = list(hunks_of(base, ours, theirs))
    for text, side in ((base, "base"), (ours, "ours"), (theirs, "theirs")):
        assert [line for hunk in hunks for line in getattr(hunk, side)] == text


@given(
    st.lists(st.sampled_from("abcd"), max_size=20), st.lists(st.sampled_from("abcd"), max_size=20)
)
def test_aligned_positions_ascend_and_hold_equal_values(one: list[str], other: list[str]) -> None:
    pairs = aligned(one, other)
    assert all(one[at] == other[place] for at, place in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


def test_long_texts_with_many_equal_lines_are_aligned_quickly() -> None:
    base = [line for number in range(8000) for line in ("", f"- {number}")]
    side = [line for line in base if line != "- 4000"]
    assert len(aligned(base, side)) == len(side)


@pytest.mark.long
def test_merges_of_real_documents_lose_nothing() -> None:
    lost = []
    for path, text in corpus_documents():
        random = Random(text)
        base = text.split("\n")
        ours, theirs = (grown(base, random, side) for side in ("zo", "zt"))
        merged = merge_documents(text, "\n".join(ours), "\n".join(theirs)).text
        lost += [(path, word) for word in ("zo0", "zo1", "zt0", "zt1") if word not in merged]
    assert lost == []


def grown(lines: list[str], random: Random, side: str) -> list[str]:
    """A real document with one more entry and paragraph, and without some lines."""
    text = list(lines)
    bullets = [at for at, line in enumerate(text) if line.startswith("- ")]
    text.insert(random.choice(bullets) if bullets else len(text), f"- entry {side}0")
    blanks = [at for at, line in enumerate(text) if not line.strip()] or [len(text)]
    text[(at := random.choice(blanks)) : at] = ["", f"A paragraph {side}1."]
    for _ in range(3):
        at = random.randrange(len(text))
        if side not in text[at] and text[at].strip() not in ("---", "```"):
            del text[at]
    return text


def test_an_entry_below_a_derived_value_is_not_lost() -> None:
    base = "---\nstatus: open\n---\n\nProgress: [###] 30%\n"
    ours = "---\nstatus: open\nProgress: [###] 30%\n- ours\n---\n"
    theirs = "---\nstatus: open\nProgress: [###] 30%\n- theirs\n---\n"

    merged = merge_documents(base, ours, theirs).text.split()

    assert "ours" in merged
    assert "theirs" in merged
