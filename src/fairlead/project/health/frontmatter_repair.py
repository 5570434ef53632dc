"""Repairing malformed frontmatter where only one reading is possible.

A repair is valid only if the YAML reader reads the result exactly as the line reader read the
damaged text. A merge conflict is never resolved here, because both sides may be right.
"""

from collections.abc import KeysView
from typing import NamedTuple

from fairlead.core.errors import DocumentError
from fairlead.text.document import Document
from fairlead.text.errors import FrontmatterSyntax, UnclosedFrontmatter
from fairlead.text.fast_frontmatter import BOM, FENCE, Block, find_block, read_lines
from fairlead.text.frontmatter_values import same_tree
from fairlead.text.lines import ending_of, split_lines, without_ending
from fairlead.text.yaml_emit import scalar_text
from fairlead.text.yaml_subset import read_tree

_FEWEST_KEYS = 2


class RepairedText(NamedTuple):
    """A repaired text, and the lines that were removed from it."""

    text: str
    removed: tuple[str, ...] = ()


def repaired_frontmatter(text: str) -> RepairedText | None:
    """The text with valid frontmatter; None if there is nothing to repair or it needs a guess."""
    result = RepairedText(text)
    for step in (_closed, _quoted, _single):
        after = step(result.text)
        if after is not None:
            result = RepairedText(after.text, result.removed + after.removed)
    if result.text == text:
        return None
    try:
        Document(result.text).require_writable()
    except DocumentError:
        return None
    return result


def second_block(text: str) -> int:
    """The line, from 1, of a second frontmatter directly below the first; 0 if there is none."""
    second = _second(text)
    return text.count("\n", 0, second.start) if second else 0


def _closed(text: str) -> RepairedText | None:
    """Close the frontmatter after its keys, if a blank line or a heading follows them."""
    try:
        find_block(text)
        return None
    except UnclosedFrontmatter:
        pass
    start = len(BOM) if text.startswith(BOM) else 0
    opening, *lines = split_lines(text[start:])
    end = next(
        (at for at, line in enumerate(lines) if not line.strip() or line.startswith("# ")),
        len(lines),
    )
    inner = "".join(lines[:end])
    names = _keys(inner)
    if names is None and _requoted(inner) is not None:
        names = read_lines(inner).keys()
    # A horizontal rule followed by a sentence is not frontmatter.
    if names is None or len(names) < _FEWEST_KEYS or not all(map(_is_key, names)):
        return None
    head = text[: start + len(opening)] + inner
    return RepairedText(head + FENCE + (ending_of(opening) or "\n") + text[len(head) :])


def _quoted(text: str) -> RepairedText | None:
    """Quote values that are not valid plain YAML scalars."""
    block = _block(text)
    if block is None or _keys(text[block.start : block.end]) is not None:
        return None
    changed = _requoted(text[block.start : block.end])
    if changed is None:
        return None
    return RepairedText(text[: block.start] + changed + text[block.end :])


def _requoted(inner: str) -> str | None:
    """The keys with every value that contains `: ` quoted; None if that changes the meaning."""
    lines = []
    for raw in split_lines(inner):
        line = without_ending(raw)
        key, colon, value = line.partition(": ")
        is_plain = value.strip() and value.strip()[0] not in "\"'[{|>&*!%@`#"
        if colon and is_plain and (": " in value or value.rstrip().endswith(":")):
            line = f"{key}: {scalar_text(value.strip(), quote=chr(34))}"
        lines.append(line + ending_of(raw))
    changed = "".join(lines)
    try:
        is_same = same_tree(read_tree(changed, 2), read_lines(inner))
    except FrontmatterSyntax:
        return None
    return changed if is_same else None


def _single(text: str) -> RepairedText | None:
    """Remove a second frontmatter that is an older copy: the first one has all of its keys."""
    first, second = _block(text), _second(text)
    if first is None or second is None:
        return None
    keys = _keys(text[first.start : first.end])
    older = _keys(text[second.start : second.end])
    if keys is None or older is None or not older <= keys:
        return None
    removed = tuple(without_ending(line) for line in split_lines(text[second.start : second.end]))
    return RepairedText(text[: first.body] + text[second.body :], removed)


def _second(text: str) -> Block | None:
    """The frontmatter directly below the first one; two rules around prose are none."""
    first = _block(text)
    if first is None:
        return None
    body = text[first.body :].lstrip("\r\n")
    second = _block(body)
    if second is None or not _keys(body[second.start : second.end]):
        return None
    shift = len(text) - len(body)
    return Block(second.start + shift, second.end + shift, second.body + shift)


def _block(text: str) -> Block | None:
    try:
        return find_block(text)
    except UnclosedFrontmatter:
        return None


def _keys(inner: str) -> KeysView[str] | None:
    """The keys of frontmatter; None if it is not valid YAML."""
    try:
        return read_tree(inner, 1).keys()
    except FrontmatterSyntax:
        return None


def _is_key(name: str) -> bool:
    return name.islower() and name.replace("_", "").replace("-", "").isalnum()
