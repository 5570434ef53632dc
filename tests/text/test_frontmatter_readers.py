"""The two readers of frontmatter: they agree, and damage costs no more than it must."""

from random import Random

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairlead.text.errors import FrontmatterSyntax, UnclosedFrontmatter
from fairlead.text.fast_frontmatter import find_block, read_front
from fairlead.text.frontmatter_values import same_tree
from fairlead.text.yaml_scalars import Plain
from fairlead.text.yaml_subset import read_tree
from tests.support.documents import generated, mutated


def composed(inner: str) -> object:
    """PyYAML's own reading, in the quick reader's terms."""

    def tree(node: yaml.Node) -> object:
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.style else Plain(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [tree(item) for item in node.value]
        return {key.value: tree(item) for key, item in node.value}

    node = yaml.compose(inner, Loader=yaml.CBaseLoader)
    return {} if node is None else tree(node)


@pytest.mark.parametrize(
    "inner",
    [
        "a: |\n  x\n   y\n\n  z\n\nb: >-\n  q\n  w\n\n   e\n  r\nc: >+\n  k\n\nd: 1\n",
        "m:\n  - id: \"a\"\n    n: 'b'\n    g: null\n  - id: c\nx: {a: b, c: [d, 'e']}\n",
        'k: [a,\n  b, c]\nj: "a\n  b\n\n  c"\n',
        "a:\n- b\n- - c\n  - d\n- e:\n    f: g\n",
        "a: b\n  c\n\n  d\ne: 'x\n  y'\n",
        "url: http://x.y/z#frag\ntime: 12:30:45\nsemver: 1.10\noct: 012\n",
        'esc: "\\u00e9\\t\\x41\\/\\\\ \\"q\\""\n',
        "# only a comment\n",
        "",
    ],
)
def test_the_fast_reader_agrees_with_pyyaml(inner: str) -> None:
    assert same_tree(read_tree(inner), composed(inner))


@given(st.integers(min_value=0, max_value=2**32))
def test_pyyaml_agrees_on_every_text_that_the_fast_reader_accepts(seed: int) -> None:
    random = Random(seed)
    text = mutated(generated(random), random)
    try:
        block = find_block(text)
        inner = text[block.start : block.end] if block else ""
        tree = read_tree(inner)
    except (FrontmatterSyntax, UnclosedFrontmatter):
        return
    assert same_tree(tree, composed(inner))


@given(st.text())
def test_reading_for_display_never_fails(text: str) -> None:
    assert isinstance(read_front(f"---\n{text}\n---\n"), dict)
    assert isinstance(read_front(text), dict)


def test_identifiers_stay_text() -> None:
    tree = read_front("---\na: 4.10\nb: 08\nc: no\nd: 12:30:45\ne: 0x1f\n---\n")
    assert tree == {"a": "4.10", "b": "08", "c": "no", "d": "12:30:45", "e": "0x1f"}


def test_damaged_frontmatter_is_read_line_by_line() -> None:
    text = "---\nstatus: a: b\nprogress:\n  percent: 50\nnext: [a, 'b']\nlist:\n- x\n- y\n<<<<<<< h\n---\n"
    assert read_front(text) == {
        "status": "a: b",
        "progress": {"percent": "50"},
        "next": ["a", "b"],
        "list": ["x", "y"],
    }


def test_the_comparison_notices_a_different_reading() -> None:
    assert not same_tree({"a": Plain("null")}, {"a": "null"})
    assert not same_tree({"a": "1", "b": "2"}, {"b": "2", "a": "1"})


def test_frontmatter_must_be_at_the_top_of_the_file() -> None:
    assert find_block("\n---\na: 1\n---\n") is None
    assert find_block("--- \na: 1\n---\n") is None
    assert read_front("----\na: 1\n----\n") == {}


def test_the_line_of_a_fault_is_counted_from_the_top_of_the_file() -> None:
    with pytest.raises(FrontmatterSyntax) as refusal:
        read_tree("a: 1\nb: [\n", first_line=2)
    assert refusal.value.line == 3


def test_an_unclosed_quoted_value_is_refused_quickly() -> None:
    with pytest.raises(FrontmatterSyntax):
        read_tree('a: "' + '\n  x \\" y' * 20_000 + "\n")
