"""The quick reader of frontmatter: standard library only, for the status line and the hooks.

`read_front` never fails: frontmatter that is exact is read as a tree, damaged frontmatter line
by line, so that a display says as much as it safely can. Only a line that is exactly `---` is
a fence: a `---` inside a value or the body never ends the block.
"""

from fairlead.faults import FrontmatterSyntax, UnclosedFrontmatter
from fairlead.text.lines import split_lines, without_ending
from fairlead.text.scalars import Plain
from fairlead.text.subset import read_tree

BOM = "\ufeff"
FENCE = "---"


class Block:
    """Where the frontmatter stands: its inner text, and where the body begins."""

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
    lines = split_lines(text[start:])
    if without_ending(lines[0]) != FENCE:
        return None
    inner = offset = start + len(lines[0])
    for line in lines[1:]:
        if without_ending(line) == FENCE:
            return Block(inner, offset, offset + len(line))
        offset += len(line)
    raise UnclosedFrontmatter(line=1)


def read_front(text: str) -> "dict[str, object]":
    """Read the frontmatter for display: as a tree, or line by line where it is damaged."""
    try:
        block = find_block(text)
    except UnclosedFrontmatter:
        return {}
    if block is None:
        return {}
    inner = text[block.start : block.end]
    try:
        return read_tree(inner, block.first_line)
    except FrontmatterSyntax:
        return read_lines(inner)


def read_lines(inner: str) -> "dict[str, object]":
    """Read what can be read line by line: `key: value`, and one level of what is below a key."""
    tree: dict[str, object] = {}
    key = ""
    for raw in split_lines(inner):
        line = without_ending(raw)
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        held = tree.get(key)
        is_item = text.startswith("- ") and (held == "" or isinstance(held, list))
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
    held = tree[key]
    if text == "-" or text.startswith("- "):
        if held == "":
            held = tree[key] = []
        if isinstance(held, list):
            held.append(_loose_value(text[1:].strip()))
        return
    name, colon, value = text.partition(":")
    if not colon or not _is_word(name):
        return
    if held == "":
        held = tree[key] = {}
    if isinstance(held, dict):
        held[name] = _loose_value(value.strip())


def _loose_value(text: str) -> object:
    if text.startswith("[") and text.endswith("]"):
        # One level: brackets in brackets stay text, however deep they go.
        return [_loose_scalar(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return _loose_scalar(text)


def _loose_scalar(text: str) -> object:
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1:
        return text[1:-1]
    return Plain(text)


def _is_word(name: str) -> bool:
    return name.replace("_", "a").replace("-", "a").isalnum()
