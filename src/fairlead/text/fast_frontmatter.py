"""Reads frontmatter with the standard library only, for the status line and the hooks.

`read_front` never fails: it reads valid frontmatter as a tree and damaged frontmatter line by
line, so that a display can show as much as is safe. Only a line that is exactly `---` is a fence,
so a `---` inside a value or the body does not end the block.
"""

from fairlead.core.errors import DocumentError
from fairlead.text.lines import split_lines, without_ending
from fairlead.text.yaml_scalars import Plain
from fairlead.text.yaml_subset import read_tree

BOM = "\ufeff"
FENCE = "---"
_CLOSING = "\n---\n"


class Block:
    """The position of the frontmatter and of the body."""

    __slots__ = ("body", "end", "first_line", "start")

    def __init__(self, start: int, end: int, body: int) -> None:
        self.start = start  # after the opening fence line
        self.end = end  # before the closing fence line
        self.body = body  # after the closing fence line
        self.first_line = 2  # line number of the inner text, counted from 1


def find_block(text: str) -> "Block | None":
    """Find the frontmatter between two lines that are exactly `---`, the first at the very top."""
    start = len(BOM) if text.startswith(BOM) else 0
    if not text.startswith(FENCE, start):
        return None
    end = text.find(_CLOSING, start)
    if end >= 0 and text[start : start + 4] == f"{FENCE}\n" and "\r" not in text[:end]:
        return Block(start + 4, end + 1, end + len(_CLOSING))
    lines = split_lines(text[start:])
    if without_ending(lines[0]) != FENCE:
        return None
    inner = offset = start + len(lines[0])
    for line in lines[1:]:
        if without_ending(line) == FENCE:
            return Block(inner, offset, offset + len(line))
        offset += len(line)
    from fairlead.text.errors import UnclosedFrontmatter

    raise UnclosedFrontmatter(line=1)


def read_front(text: str) -> "dict[str, object]":
    """Read the frontmatter for display, line by line if it is damaged."""
    try:
        block = find_block(text)
    except DocumentError:  # it is never closed
        return {}
    if block is None:
        return {}
    inner = text[block.start : block.end]
    try:
        return read_tree(inner, block.first_line)
    except DocumentError:  # outside the subset of YAML that is read exactly
        return read_lines(inner)


def read_lines(inner: str) -> "dict[str, object]":
    """Read line by line: `key: value`, and one level of values below a key."""
    tree: dict[str, object] = {}
    key = ""
    for raw in split_lines(inner):
        line = without_ending(raw)
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        parent = tree.get(key)
        is_item = text.startswith("- ") and (parent == "" or isinstance(parent, list))
        if line[0] not in " \t" and not is_item:
            name, colon, value = line.partition(":")
            if not colon or not _is_word(name):
                key = ""
                continue
            key = name
            tree[key] = _loose_value(value.strip())
        elif key:
            _add_nested(tree, key, text)
    return tree


def _add_nested(tree: "dict[str, object]", key: str, text: str) -> None:
    parent = tree[key]
    if text == "-" or text.startswith("- "):
        if parent == "":
            parent = tree[key] = []
        if isinstance(parent, list):
            parent.append(_loose_value(text[1:].strip()))
        return
    name, colon, value = text.partition(":")
    if not colon or not _is_word(name):
        return
    if parent == "":
        parent = tree[key] = {}
    if isinstance(parent, dict):
        parent[name] = _loose_value(value.strip())


def _loose_value(text: str) -> object:
    if text.startswith("[") and text.endswith("]"):
        # One level only: nested brackets stay text, however deep they go.
        return [_loose_scalar(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return _loose_scalar(text)


def _loose_scalar(text: str) -> object:
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1:
        return text[1:-1]
    return Plain(text)


def _is_word(name: str) -> bool:
    return name.replace("_", "a").replace("-", "a").isalnum()
