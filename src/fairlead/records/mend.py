"""Malformed frontmatter, put in order where exactly one reading is possible.

A repair is offered only when the result is read, by the exact reader, as the damaged text was
read line by line; a merge conflict is never decided here, since both sides may be right.
"""

from typing import NamedTuple

from fairlead.errors import DocumentError, FrontmatterSyntax, UnclosedFrontmatter
from fairlead.text.document import Document
from fairlead.text.emit import scalar_text
from fairlead.text.lines import ending_of, split_lines, without_ending
from fairlead.text.quick import BOM, FENCE, Block, find_block, read_lines
from fairlead.text.subset import read_tree
from fairlead.text.trees import same_tree

_FEWEST_KEYS = 2


class Mended(NamedTuple):
    """A text in order, and the lines that were taken out of it."""

    text: str
    removed: tuple[str, ...] = ()


def mended(text: str) -> Mended | None:
    """The text with its frontmatter in order; None where that would need a guess."""
    result = Mended(text)
    for step in (_closed, _quoted, _single):
        after = step(result.text)
        if after is not None:
            result = Mended(after.text, result.removed + after.removed)
    if result.text == text:
        return None
    try:
        Document(result.text).require_writable()
    except DocumentError:
        return None
    return result


def second_block(text: str) -> int:
    """The line, from 1, on which a second frontmatter begins right below the first; 0 if none."""
    found = _second(text)
    return text.count("\n", 0, found.start) if found else 0


def _closed(text: str) -> Mended | None:
    """Close frontmatter at the end of its keys, if these are followed by a blank line or a heading."""
    try:
        find_block(text)
        return None
    except UnclosedFrontmatter:
        pass
    start = len(BOM) if text.startswith(BOM) else 0
    opening, *lines = split_lines(text[start:])
    keys: list[str] = []
    for line in lines:
        if not line.strip() or line.startswith("# "):
            break
        keys.append(line)
    inner = "".join(keys)
    try:
        names = read_tree(inner, 2).keys()
    except FrontmatterSyntax:
        if _requoted(inner) is None:
            return None
        names = read_lines(inner).keys()
    # A rule at the top with a sentence below it is no frontmatter.
    if len(names) < _FEWEST_KEYS or not all(_is_key(name) for name in names):
        return None
    head = text[: start + len(opening)] + inner
    return Mended(head + FENCE + (ending_of(opening) or "\n") + text[len(head) :])


def _quoted(text: str) -> Mended | None:
    """Quote values that are no plain text of YAML."""
    try:
        block = find_block(text)
    except UnclosedFrontmatter:
        return None
    if block is None:
        return None
    inner = text[block.start : block.end]
    try:
        read_tree(inner, block.first_line)
        return None
    except FrontmatterSyntax:
        pass
    changed = _requoted(inner)
    if changed is None:
        return None
    return Mended(text[: block.start] + changed + text[block.end :])


def _is_key(name: str) -> bool:
    return name.islower() and name.replace("_", "").replace("-", "").isalnum()


def _requoted(inner: str) -> str | None:
    """The keys with every value quoted that holds `: `; None if it then reads differently."""
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


def _single(text: str) -> Mended | None:
    """Without a second frontmatter whose keys the first one has all; it is an older copy."""
    found = _second(text)
    if found is None:
        return None
    first = find_block(text)
    assert first is not None
    try:
        keys = read_tree(text[first.start : first.end], first.first_line).keys()
        older = read_tree(text[found.start : found.end], 1).keys()
    except FrontmatterSyntax:
        return None
    if not older <= keys:
        return None
    removed = tuple(without_ending(line) for line in split_lines(text[found.start : found.end]))
    return Mended(text[: first.body] + text[found.body :], removed)


def _second(text: str) -> Block | None:
    try:
        first = find_block(text)
    except UnclosedFrontmatter:
        return None
    if first is None:
        return None
    body = text[first.body :]
    blank = len(body) - len(body.lstrip("\r\n"))
    try:
        found = find_block(body[blank:])
    except UnclosedFrontmatter:
        return None
    if found is None:
        return None
    try:
        keys = read_tree(body[blank:][found.start : found.end], 1)
    except FrontmatterSyntax:
        return None  # two rules with prose between them
    shift = first.body + blank
    return Block(found.start + shift, found.end + shift, found.body + shift) if keys else None
