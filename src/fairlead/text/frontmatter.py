"""Edits frontmatter losslessly. The only module that imports PyYAML.

Before an edit `yaml_subset` must accept the text, and PyYAML must read the same tree. This also
bounds the nesting, which PyYAML's C loader needs: it crashes on deep nesting. After an edit both
read the new text, which must be the old tree with that one change. Otherwise the edit is refused.
The text is never rewritten, only spliced.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import accumulate

from fairlead.core.values import dataclass
from fairlead.text import yaml_emit
from fairlead.text.errors import FrontmatterSyntax, UnsafeEdit
from fairlead.text.frontmatter_values import (
    Path,
    has_value,
    same_tree,
    tree_of,
    value_at,
    with_value,
    without,
)
from fairlead.text.lines import ending_of, place_of, split_lines, without_ending
from fairlead.text.yaml_emit import Value
from fairlead.text.yaml_scalars import Plain, is_null
from fairlead.text.yaml_subset import read_tree


class NodeKind(Enum):
    """The kind of a YAML node."""

    SCALAR = "scalar"
    MAP = "map"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class YamlNode:
    """One value: its kind, its span in the inner text, and its content."""

    kind: NodeKind
    start: int
    end: int
    style: str  # scalars: "", ', ", | or >; collections: flow or block
    text: str = ""  # the value of a scalar
    keys: tuple["YamlNode", ...] = ()  # of a map, in order
    items: tuple["YamlNode", ...] = ()  # the values of a map, or the items of a list

    def child(self, step: str | int) -> "YamlNode | None":
        """The value of a key or the item at an index, or None."""
        if isinstance(step, int):
            in_range = self.kind is NodeKind.LIST and 0 <= step < len(self.items)
            return self.items[step] if in_range else None
        for key, item in zip(self.keys, self.items, strict=False):
            if key.text == step:
                return item
        return None

    def index_of(self, step: str | int) -> int:
        """The position of a child among its siblings; -1 if there is none."""
        if isinstance(step, int):
            return step if self.child(step) is not None else -1
        return next((at for at, key in enumerate(self.keys) if key.text == step), -1)

    def leaves(self) -> Iterator["YamlNode"]:
        """The scalars in text order, including keys."""
        if self.kind is NodeKind.SCALAR:
            yield self
            return
        for at, item in enumerate(self.items):
            if self.keys:
                yield self.keys[at]
            yield from item.leaves()

    def tree(self) -> object:
        """The value as `yaml_subset` would read it."""
        if self.kind is NodeKind.SCALAR:
            return Plain(self.text) if not self.style else self.text
        if self.kind is NodeKind.LIST:
            return [item.tree() for item in self.items]
        return {key.text: item.tree() for key, item in zip(self.keys, self.items, strict=True)}


def prepare() -> None:
    """Import PyYAML now, so that it is not imported while the lock is taken."""
    # A name of it, because Python imports a package that it cannot read as an empty one.
    from yaml import BaseLoader  # noqa: F401


@lru_cache(maxsize=4)  # the result of one edit is the input of the next
def compose(inner: str, first_line: int = 1) -> YamlNode:
    """Parse the inner text with both readers; refuse it if they differ."""
    tree = read_tree(inner, first_line)
    import yaml  # takes 40 ms, so only edits load it

    prepare()
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        composed = yaml.compose(inner, Loader=loader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        why = problem.problem or "not YAML"
        raise FrontmatterSyntax(why, line=first_line + line, column=column + 1) from None
    except yaml.YAMLError as problem:
        raise FrontmatterSyntax(str(problem), line=first_line, column=1) from None
    if composed is None:
        return YamlNode(NodeKind.MAP, len(inner), len(inner), "block")
    root = _node_of(inner, composed, yaml.ScalarNode, yaml.SequenceNode)
    if not same_tree(root.tree(), tree):
        raise FrontmatterSyntax("is ambiguous", line=first_line, column=1)
    return root


def set_value(inner: str, path: Path, value: Value, *, after: str = "", first_line: int = 1) -> str:
    """Set the value at a path, adding keys as needed; `after` names the key a new one follows."""
    root = compose(inner, first_line)
    editor = _Editor(inner, root, first_line)
    return editor.checked(
        editor.set(path, value, after), with_value(root.tree(), path, value, after), path
    )


def append_item(inner: str, path: Path, item: Value, *, first_line: int = 1) -> str:
    """Append an item to the list at a path. A missing or null value becomes a list."""
    root = compose(inner, first_line)
    current = value_at(root.tree(), path)
    items = [*current, tree_of(item)] if isinstance(current, list) else [tree_of(item)]
    editor = _Editor(inner, root, first_line)
    return editor.checked(editor.append(path, item), with_value(root.tree(), path, items, ""), path)


def remove(inner: str, path: Path, *, first_line: int = 1) -> str:
    """Remove a key or an item. A missing one changes nothing."""
    root = compose(inner, first_line)
    parent = _node_at(root, path[:-1])
    if parent is None or parent.child(path[-1]) is None:
        return inner
    editor = _Editor(inner, root, first_line)
    expected = without(root.tree(), path)
    return editor.checked(editor.remove(parent, path), expected, path)


class _Editor:
    """One edit of one inner text: finds the span, makes the new text and checks it."""

    def __init__(self, inner: str, root: YamlNode, first_line: int) -> None:
        self.inner = inner
        self.root = root
        self.first_line = first_line
        self.lines = split_lines(inner) or [""]
        self.starts = [0, *accumulate(len(line) for line in self.lines[:-1])]

    def checked(self, text: str, expected: object, path: Path) -> str:
        """The new text, if both readers find the expected tree in it."""
        if without_ending(text) == text != "":
            raise self.unsafe(path, 0)  # the closing fence would no longer be a line
        try:
            if same_tree(compose(text, self.first_line).tree(), expected):
                return text
        except FrontmatterSyntax:
            pass
        node = _nearest(self.root, path)
        raise self.unsafe(path, node.start)

    def unsafe(self, path: Path, offset: int) -> UnsafeEdit:
        line, column = place_of(self.inner, offset)
        name = ".".join(str(step) for step in path)
        return UnsafeEdit(name, line=self.first_line + line - 1, column=column)

    # -- setting ----------------------------------------------------------------------

    def set(self, path: Path, value: Value, after: str) -> str:
        node, depth = self.root, 0
        while depth < len(path):
            child = node.child(path[depth])
            if child is None:
                break
            node, depth = child, depth + 1
        for step in reversed(path[depth + 1 :]):
            if isinstance(step, int):
                raise self.unsafe(path, node.start)
            value = {step: value}
        if depth == len(path):
            return self.replace(node, value, path)
        step = path[depth]
        if isinstance(step, int):
            raise self.unsafe(path, node.start)
        if node.kind is NodeKind.MAP:
            return self.add_key(node, step, value, after if depth == 0 else "")
        if node.kind is NodeKind.SCALAR and is_null(node.tree()):
            return self.replace(node, {step: value}, path[:depth])
        raise self.unsafe(path, node.start)

    def replace(self, node: YamlNode, value: Value, path: Path) -> str:
        if has_value(node.tree(), value):
            return self.inner
        if node.kind is not NodeKind.SCALAR or node.style in ("|", ">"):
            self.refuse_comments(node, path)
        if (
            node.style == "|"
            and node.text.strip()
            and isinstance(value, str)
            and yaml_emit.fits_literal(value)
        ):
            return self.replace_literal(node, value)
        is_scalar = not isinstance(value, Mapping) and not yaml_emit.is_sequence(value)
        is_line = node.kind is NodeKind.SCALAR and node.style not in ("|", ">")
        if is_scalar and is_line and not self.is_in_brackets(path):
            old = node.text if not node.style and not is_null(node.tree()) else None
            text = yaml_emit.scalar_text(value, old=old, quote=node.style)  # type: ignore[arg-type]
            return self.splice(node.start, node.end, text, path)
        if self.is_in_brackets(path):
            quote = node.style if node.style in ("'", '"') else ""
            return self.splice(node.start, node.end, yaml_emit.flow_text(value, quote=quote), path)
        if is_scalar or node.style == "flow":
            return self.splice(node.start, node.end, yaml_emit.flow_or_scalar(value), path)
        return self.replace_with_lines(node, value, path)

    def replace_literal(self, node: YamlNode, value: str) -> str:
        """Replace a `|` block by a `|` block with the same indentation."""
        header, *content = split_lines(self.inner[node.start : node.end])
        first = next(line for line in content if line.strip())
        indent = len(first) - len(first.lstrip(" "))
        lines = yaml_emit.literal_lines(value, indent)
        return self.inner[: node.start] + ending_of(header).join(lines) + self.inner[node.end :]

    def replace_with_lines(self, node: YamlNode, value: Value, path: Path) -> str:
        """Write a map or list below its key, in the style of the old value."""
        start, indent = self.column_of_entry(path)
        if not isinstance(value, Mapping) and not any(isinstance(part, Mapping) for part in value):  # type: ignore[union-attr]
            if node.style != "block":
                return self.splice(node.start, node.end, yaml_emit.flow_text(value), path)
        if node.style == "block":
            indent = self.column(node.start) - 2
        head, end = self.beside_entry(start, node, path)
        if not value:
            return self.inner[:start] + " " + yaml_emit.flow_text(value) + head + self.inner[end:]
        lines = [head, *yaml_emit.block_lines(value, indent + 2)]
        ending = self.ending_at(node.start)
        return self.inner[:start] + ending.join(lines) + self.inner[end:]

    def add_key(self, node: YamlNode, key: str, value: Value, after: str) -> str:
        if node.style == "flow":
            text = yaml_emit.flow_text({key: value})[1:-1]
            if not node.items:
                return self.splice(node.start + 1, node.start + 1, text, (key,))
            return self.splice(node.items[-1].end, node.items[-1].end, ", " + text, (key,))
        if not node.items:
            at, indent = len(self.inner), 0
        else:
            position = node.index_of(after) if after else -1
            at = self.line_after(node.items[position].end)
            indent = self.column(node.keys[0].start)
        return self.insert_lines(at, yaml_emit.block_lines({key: value}, indent))

    # -- lists ------------------------------------------------------------------------

    def append(self, path: Path, item: Value) -> str:
        node = _node_at(self.root, path)
        if node is None:
            return self.set(path, [item], "")
        if node.kind is NodeKind.LIST and node.items:
            last = node.items[-1]
            quotes = _quotes_of(last)
            if node.style == "flow":
                text = yaml_emit.flow_text(item, quote=quotes.get("", ""))
                return self.splice(last.end, last.end, ", " + text, path)
            at = self.line_after(last.end)
            return self.insert_lines(
                at, yaml_emit.item_lines(item, self.column(node.start), quotes=quotes)
            )
        if not is_null(node.tree()) and node.kind is not NodeKind.LIST:
            raise self.unsafe(path, node.start)
        if not isinstance(item, Mapping) or self.is_in_brackets(path):
            return self.splice(node.start, node.end, yaml_emit.flow_text([item]), path)
        return self.replace_with_lines(node, [item], path)

    def remove(self, parent: YamlNode, path: Path) -> str:
        at = parent.index_of(path[-1])
        node = parent.items[at]
        start = parent.keys[at].start if parent.keys else node.start
        if parent.style == "flow":
            return self.remove_flow(parent, at, start)
        if len(parent.items) == 1 and parent is not self.root:
            self.refuse_comments(parent, path)
            return self.replace_with_lines(parent, {} if parent.keys else [], path[:-1])
        first = self.line_start(start)
        if parent.keys and self.inner[first:start].strip(" "):
            # The key is on the line of its item's dash, so the next key moves up.
            if at + 1 >= len(parent.keys) or "#" in self.inner[node.end : parent.keys[1].start]:
                raise self.unsafe(path, start)
            return self.inner[:start] + self.inner[parent.keys[at + 1].start :]
        return self.inner[:first] + self.inner[self.line_after(node.end) :]

    def remove_flow(self, parent: YamlNode, at: int, start: int) -> str:
        if at + 1 < len(parent.items):
            following = parent.keys[at + 1] if parent.keys else parent.items[at + 1]
            return self.inner[:start] + self.inner[following.start :]
        before = parent.items[at - 1].end if at else parent.start + 1
        return self.inner[:before] + self.inner[parent.items[at].end :]

    def is_in_brackets(self, path: Path) -> bool:
        """Whether the value at a path is inside `[]` or `{}`."""
        node: YamlNode | None = self.root
        for step in path:
            if node is None or node.style == "flow":
                return True
            node = node.child(step)
        return False

    # -- places -----------------------------------------------------------------------

    def splice(self, start: int, end: int, text: str, path: Path) -> str:
        """Replace a span, with the space that YAML needs after a colon or dash."""
        if start and self.inner[start - 1] in ":-" and start == end:
            text = " " + text
        if "\n" in text:
            raise self.unsafe(path, start)
        return self.inner[:start] + text + self.inner[end:]

    def insert_lines(self, at: int, lines: Sequence[str]) -> str:
        ending = self.ending_at(max(at - 1, 0))
        return self.inner[:at] + "".join(line + ending for line in lines) + self.inner[at:]

    def column_of_entry(self, path: Path) -> tuple[int, int]:
        """The offset after an entry's colon or dash, and the entry's indentation."""
        parent = _node_at(self.root, path[:-1])
        assert parent is not None
        at = parent.index_of(path[-1])
        if parent.keys:
            key = parent.keys[at]
            return self.inner.index(":", key.end) + 1, self.column(key.start)
        dash, indent = parent.start, self.column(parent.start)
        if at:  # find the line of the dash: a comment before or beside it may have one, too
            following = range(self.line(parent.items[at - 1].end) + 1, len(self.lines))
            is_dashed = (line for line in following if self.lines[line].lstrip(" ")[:1] == "-")
            dash = self.starts[next(is_dashed)] + indent
        return dash + 1, indent

    def beside_entry(self, start: int, node: YamlNode, path: Path) -> tuple[str, int]:
        """The comment after an entry's colon or dash, which stays, and the end of its old value."""
        first = self.line_start(start) + len(without_ending(self.lines[self.line(start)]))
        if node.start <= first and node.end > first:
            return "", node.end
        comment = self.inner[max(start, node.end) if node.start <= first else start : first]
        if "#" in self.inner[first : node.start]:
            raise self.unsafe(path, node.start)
        return comment if "#" in comment else "", max(node.end, first if "#" in comment else start)

    def refuse_comments(self, node: YamlNode, path: Path) -> None:
        """Refuse to replace a value that contains a comment: the comment would be lost."""
        at = node.start
        for leaf in node.leaves():
            if "#" in self.inner[at : leaf.start]:
                raise self.unsafe(path, node.start)
            at = leaf.end
        header = split_lines(self.inner[node.start : node.end] or "\n")[0]
        if node.style in ("|", ">") and "#" in header:
            raise self.unsafe(path, node.start)

    def line_start(self, offset: int) -> int:
        return self.starts[self.line(offset)]

    def line(self, offset: int) -> int:
        """The index of the line of an offset."""
        return bisect_right(self.starts, offset) - 1

    def column(self, offset: int) -> int:
        return offset - self.line_start(offset)

    def line_after(self, offset: int) -> int:
        """The start of the line after the line of an offset."""
        at = self.line(offset)
        return self.starts[at] + len(self.lines[at])

    def ending_at(self, offset: int) -> str:
        return ending_of(self.lines[self.line(offset)]) or "\n"


def _node_of(inner: str, composed: object, scalar: type, sequence: type) -> YamlNode:
    start: int = composed.start_mark.index  # type: ignore[attr-defined]
    end: int = composed.end_mark.index  # type: ignore[attr-defined]
    if isinstance(composed, scalar):
        style: str = composed.style or ""  # type: ignore[attr-defined]
        if style in ("|", ">"):
            end = _block_scalar_end(inner, start, end)
        return YamlNode(NodeKind.SCALAR, start, end, style, text=composed.value)  # type: ignore[attr-defined]
    style = "flow" if composed.flow_style else "block"  # type: ignore[attr-defined]
    keys: list[YamlNode] = []
    items: list[YamlNode] = []
    for entry in composed.value:  # type: ignore[attr-defined]
        if isinstance(composed, sequence):
            items.append(_node_of(inner, entry, scalar, sequence))
        else:
            keys.append(_node_of(inner, entry[0], scalar, sequence))
            items.append(_node_of(inner, entry[1], scalar, sequence))
    if style == "block" and items:
        end = max(items[-1].end, keys[-1].end + 1 if keys else 0)
    kind = NodeKind.LIST if isinstance(composed, sequence) else NodeKind.MAP
    return YamlNode(kind, start, end, style, keys=tuple(keys), items=tuple(items))


def _block_scalar_end(inner: str, start: int, end: int) -> int:
    """The end without trailing blank lines, unless `+` makes them part of the value."""
    text = inner[start:end]
    header = split_lines(text)[0]
    return start + len(without_ending(text)) if "+" in header else start + len(text.rstrip())


def _node_at(node: YamlNode, path: Path) -> YamlNode | None:
    for step in path:
        child = node.child(step)
        if child is None:
            return None
        node = child
    return node


def _nearest(node: YamlNode, path: Path) -> YamlNode:
    for step in path:
        node = node.child(step) or node
    return node


def _quotes_of(sibling: YamlNode) -> dict[str, str]:
    """The quotes of a sibling's values by key; the key "" is the sibling itself."""
    if sibling.kind is NodeKind.SCALAR:
        return {"": sibling.style if sibling.style in ("'", '"') else ""}
    return {
        key.text: item.style
        for key, item in zip(sibling.keys, sibling.items, strict=False)
        if item.style in ("'", '"')
    }
