"""Frontmatter edited in place: every construct, and everything that must be refused."""

import sys
import textwrap
from types import ModuleType

import pytest

from fairlead.core.errors import DocumentError
from fairlead.text import frontmatter
from fairlead.text.document import Document
from fairlead.text.errors import FrontmatterSyntax, UnsafeEdit
from fairlead.text.yaml_emit import Value

PLAN = """\
phase: "planning"
goal: Build x # note
progress:
  total: 3
  # between
  done: 1
next_phases: ["4.5"]
modules: []
sections:
  - name: "Functional"
    status: 'pending'
    issue: null
  - name: "Architecture"
    status: 'pending'

# Completion
notes: |
  one

  two

empty:
date: 2026-01-01
"""


def changed_lines(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that went and the lines that came, between equal heads and tails."""
    before, after = old.splitlines(), new.splitlines()
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    return before, after


@pytest.mark.parametrize(
    ("path", "value", "went", "came"),
    [
        (("goal",), "a --- b", ["goal: Build x # note"], ["goal: a --- b # note"]),
        (("goal",), "a: b # c", ["goal: Build x # note"], ['goal: "a: b # c" # note']),
        (("phase",), 'say "hi"', ['phase: "planning"'], ['phase: "say \\"hi\\""']),
        (("progress", "done"), 2, ["  done: 1"], ["  done: 2"]),
        (("progress", "percent"), 56, [], ["  percent: 56"]),
        (
            ("next_phases",),
            ["4.5", "4.10"],
            ['next_phases: ["4.5"]'],
            ['next_phases: ["4.5", "4.10"]'],
        ),
        (("next_phases", 0), "4.10", ['next_phases: ["4.5"]'], ['next_phases: ["4.10"]']),
        (("empty",), "4.10", ["empty:"], ['empty: "4.10"']),
        (("empty",), "08", ["empty:"], ['empty: "08"']),
        (("empty", "inner"), 1, [], ["  inner: 1"]),
        (("date",), "2026-02-02", ["date: 2026-01-01"], ["date: 2026-02-02"]),
        (("sections", 1, "status"), "it's", ["    status: 'pending'"], ["    status: 'it''s'"]),
        (("sections", 0, "issue"), "#42", ["    issue: null"], ['    issue: "#42"']),
        (("notes",), "three\nfour\n", ["  one", "", "  two"], ["  three", "  four"]),
        (("notes",), "short", ["notes: |", "  one", "", "  two"], ["notes: |-", "  short"]),
        (("fresh",), "x\nstatus: approved", [], ['fresh: "x\\nstatus: approved"']),
        (("fresh",), None, [], ["fresh: null"]),
        (("fresh",), "null", [], ['fresh: "null"']),
    ],
)
def test_setting_a_value_changes_only_its_own_lines(
    path: tuple[str | int, ...], value: object, went: list[str], came: list[str]
) -> None:
    assert changed_lines(PLAN, frontmatter.set_value(PLAN, path, value)) == (went, came)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("phase",), "planning"),
        (("goal",), "Build x"),
        (("progress", "done"), 1),
        (("date",), "2026-01-01"),
        (("next_phases",), ["4.5"]),
        (("sections", 0, "issue"), None),
        (("notes",), "one\n\ntwo\n"),
        (("modules",), []),
    ],
)
def test_setting_the_current_value_changes_nothing(
    path: tuple[str | int, ...], value: object
) -> None:
    assert frontmatter.set_value(PLAN, path, value) == PLAN  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "item", "came"),
    [
        (("modules",), {"id": "a", "name": "A: b"}, ["modules:", "  - id: a", '    name: "A: b"']),
        (("next_phases",), "4.6", ['next_phases: ["4.5", "4.6"]']),
        (("sections",), {"name": "New", "status": "x"}, ['  - name: "New"', "    status: 'x'"]),
        (("fresh",), "a", ["fresh: [a]"]),
        (("empty",), {"k": "v"}, ["  - k: v"]),
    ],
)
def test_appending_follows_the_style_of_the_list(
    path: tuple[str | int, ...], item: object, came: list[str]
) -> None:
    assert changed_lines(PLAN, frontmatter.append_item(PLAN, path, item))[1] == came  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "went"),
    [
        (("goal",), ["goal: Build x # note"]),
        (("sections", 0), ['  - name: "Functional"', "    status: 'pending'", "    issue: null"]),
        (("progress", "total"), ["  total: 3"]),
        (("notes",), ["notes: |", "  one", "", "  two"]),
        (("absent",), []),
        (("absent", "deeper"), []),
    ],
)
def test_removing_a_key_removes_its_lines_and_keeps_comments(
    path: tuple[str | int, ...], went: list[str]
) -> None:
    removed = frontmatter.remove(PLAN, path)
    assert changed_lines(PLAN, removed)[0] == went
    assert "# Completion" in removed
    assert "# between" in removed


def test_removing_the_last_item_leaves_an_empty_list() -> None:
    assert frontmatter.remove("a:\n  - x\nb: 1\n", ("a", 0)) == "a: []\nb: 1\n"


@pytest.mark.parametrize(
    ("inner", "path", "value", "expected"),
    [
        ("a:  # c\n  - 1\n", ("a",), ["2"], 'a:  # c\n  - "2"\n'),
        ("a: # c\n  - 1\n", ("a",), [], "a: [] # c\n"),
        ("a: # c\n", ("a",), {"k": "v"}, "a: # c\n  k: v\n"),
        ("a: x # c\n", ("a",), {"k": "v"}, "a: # c\n  k: v\n"),
        ("a: # c\n  x\n", ("a",), [{"k": "v"}], "a: # c\n  - k: v\n"),
        ("- 1\n# - d\n- # a-b\n  id: x\n", (1,), {"id": "zz"}, "- 1\n# - d\n- # a-b\n  id: zz\n"),
    ],
)
def test_a_comment_beside_a_key_or_dash_stays_when_its_value_is_replaced(
    inner: str, path: tuple[str | int, ...], value: Value, expected: str
) -> None:
    inner, expected = (f"top:\n{textwrap.indent(text, '  ')}" for text in (inner, expected))
    assert frontmatter.set_value(inner, ("top", *path), value) == expected


def test_a_comment_beside_a_key_stays_when_its_last_item_is_removed() -> None:
    assert frontmatter.remove("a: # c\n  - 1\nb: 1\n", ("a", 0)) == "a: [] # c\nb: 1\n"


def test_a_comment_above_the_first_item_is_never_lost() -> None:
    with pytest.raises(UnsafeEdit) as refusal:
        frontmatter.remove("a:\n  # c\n  - 1\nb: 1\n", ("a", 0))
    assert (refusal.value.line, refusal.value.column) == (3, 3)


def test_replacing_a_block_that_contains_a_comment_is_refused() -> None:
    with pytest.raises(UnsafeEdit) as refusal:
        frontmatter.set_value(PLAN, ("progress",), None, first_line=2)
    assert (refusal.value.line, refusal.value.column) == (5, 3)


@pytest.mark.parametrize(
    ("inner", "line", "column"),
    [
        ("a: &x 1\n", 2, 4),
        ("a: *x\n", 2, 4),
        ("a: !t x\n", 2, 4),
        ("a: 1\na: 2\n", 3, 1),
        ("<<: {a: 1}\nb: *b\n", 3, 4),
        ("? a\n: b\n", 2, 1),
        ("a: b: c\n", 2, 5),
        ("a: abc:\n", 2, 7),
        ("a: [1, 2\n", 2, 1),
        ('a: "open\n', 2, 4),
        ("a:\n\tb: 1\n", 3, 1),
        ("a: x\n b: y\n", 3, 3),
        ("--- x\na: 1\n", 2, 1),
        ("a: \u2028x\n", 2, 4),
        ("a: x\x85\n", 2, 5),
        ("a: " + "[" * 65 + "]" * 65 + "\n", 2, 1),
        ("just text\n", 2, 1),
        ("<<<<<<< ours\na: 1\n", 2, 1),
    ],
)
def test_an_edit_that_cannot_be_exact_is_refused_with_its_position(
    inner: str, line: int, column: int
) -> None:
    text = f"---\n{inner}---\nbody\n"
    with pytest.raises(DocumentError) as refusal:
        Document(text).set_front(("new",), "x")
    assert (refusal.value.line, refusal.value.column) == (line, column)


def test_deep_nesting_is_refused_before_the_c_loader_crashes() -> None:
    with pytest.raises(FrontmatterSyntax):
        frontmatter.compose("a: " + "{" * 50_000 + "\n")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_new_lines_get_the_line_ending_of_their_neighbours(ending: str) -> None:
    text = ending.join(("---", "a: 1", "l:", "- x", "---", "body", ""))
    grown = Document(text).set_front(("b",), "2").append_front(("l",), "z").text
    assert grown == ending.join(("---", "a: 1", "l:", "- x", "- z", 'b: "2"', "---", "body", ""))


def test_a_byte_order_mark_is_kept_and_does_not_hide_the_frontmatter() -> None:
    document = Document("\ufeff---\na: 1\n---\nbody")
    assert document.value("a") == "1"
    assert document.set_front(("a",), 2).text == "\ufeff---\na: 2\n---\nbody"


def test_dashes_inside_a_value_or_the_body_are_not_a_fence() -> None:
    text = '---\ngoal: "a --- b"\nnotes: |\n  ---\n  x\n---\nbody\n\n---\n\nmore\n'
    document = Document(text)
    assert document.value("goal") == "a --- b"
    assert document.value("notes") == "---\nx\n"
    assert document.set_front(("goal",), "c").text == text.replace('"a --- b"', '"c"')


def test_a_new_key_is_inserted_after_the_given_key() -> None:
    assert frontmatter.set_value("a: 1\nb: 2\n", ("x",), 3, after="a") == "a: 1\nx: 3\nb: 2\n"


def test_a_yaml_library_that_cannot_be_read_is_an_import_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # After an error while it looks for the package, Python imports an empty one.
    monkeypatch.setitem(sys.modules, "yaml", ModuleType("yaml"))
    with pytest.raises(ImportError):
        frontmatter.compose("a: 1\nnew: 2\n")
