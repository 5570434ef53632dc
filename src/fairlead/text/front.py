"""Frontmatter read with PyYAML, and edited in place. The only module that imports yaml.

Before an edit, the quick reader has accepted the text (so size and nesting are bounded, which
the C loader needs: it dies on deep nesting), and PyYAML's reading must equal its own. After an
edit both read the new text again, and it must be the old tree with that one change. Whatever
does not come out so is refused: the text is never rewritten, only spliced.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from fairlead.errors import FrontmatterSyntax, UnsafeEdit
from fairlead.text import emit
from fairlead.text.emit import Value
from fairlead.text.lines import ending_of, place_of, split_lines, without_ending
from fairlead.text.nodes import Kind, Node
from fairlead.text.scalars import is_null
from fairlead.text.subset import read_tree
from fairlead.text.trees import Path, holds, same_tree, tree_of, value_at, with_value, without


def prepare() -> None:
    """Import what an edit needs, so that it does not happen while a lock is held."""
    import yaml  # noqa: F401


@lru_cache(maxsize=4)  # what an edit has made is what the next one begins with
def compose(inner: str, first_line: int = 1) -> Node:
    """Read the inner text with both readers; refuse what they do not read alike."""
    tree = read_tree(inner, first_line)
    import yaml  # costs 40 ms, so only who edits pays for it

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
        return Node(Kind.MAP, len(inner), len(inner), "block")
    root = _node_of(inner, composed, yaml.ScalarNode, yaml.SequenceNode)
    if not same_tree(root.tree(), tree):
        raise FrontmatterSyntax("can be read in two ways", line=first_line, column=1)
    return root


def set_value(inner: str, path: Path, value: Value, *, after: str = "", first_line: int = 1) -> str:
    """Set the value at a path, adding keys as needed; `after` names the key a new one follows."""
    root = compose(inner, first_line)
    editor = _Editor(inner, root, first_line)
    return editor.checked(
        editor.set(path, value, after), with_value(root.tree(), path, value, after), path
    )


def append_item(inner: str, path: Path, item: Value, *, first_line: int = 1) -> str:
    """Append an item to the list at a path; an absent, null or empty list becomes one."""
    root = compose(inner, first_line)
    held = value_at(root.tree(), path)
    items = [*held, tree_of(item)] if isinstance(held, list) else [tree_of(item)]
    editor = _Editor(inner, root, first_line)
    return editor.checked(editor.append(path, item), with_value(root.tree(), path, items, ""), path)


def remove(inner: str, path: Path, *, first_line: int = 1) -> str:
    """Remove a key or an item; what is not there changes nothing."""
    root = compose(inner, first_line)
    parent = _node_at(root, path[:-1])
    if parent is None or parent.child(path[-1]) is None:
        return inner
    editor = _Editor(inner, root, first_line)
    expected = without(root.tree(), path)
    return editor.checked(editor.remove(parent, path), expected, path)


class _Editor:
    """One edit of one inner text: finds the span, makes the new text, checks it."""

    def __init__(self, inner: str, root: Node, first_line: int) -> None:
        self.inner = inner
        self.root = root
        self.first_line = first_line
        self.lines = split_lines(inner) or [""]
        self.starts = [0, *accumulate(len(line) for line in self.lines[:-1])]

    def checked(self, text: str, expected: object, path: Path) -> str:
        """The new text, once both readers agree that it is what was asked."""
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
        if node.kind is Kind.MAP:
            return self.add_key(node, step, value, after if depth == 0 else "")
        if node.kind is Kind.SCALAR and is_null(node.tree()):
            return self.replace(node, {step: value}, path[:depth])
        raise self.unsafe(path, node.start)

    def replace(self, node: Node, value: Value, path: Path) -> str:
        if holds(node.tree(), value):
            return self.inner
        if node.kind is not Kind.SCALAR or node.style in ("|", ">"):
            self.refuse_comments(node, path)
        if (
            node.style == "|"
            and node.text.strip()
            and isinstance(value, str)
            and emit.fits_literal(value)
        ):
            return self.replace_literal(node, value)
        is_scalar = not isinstance(value, Mapping) and not emit.is_sequence(value)
        is_line = node.kind is Kind.SCALAR and node.style not in ("|", ">")
        if is_scalar and is_line and not self.is_in_brackets(path):
            old = node.text if not node.style and not is_null(node.tree()) else None
            text = emit.scalar_text(value, old=old, quote=node.style)  # type: ignore[arg-type]
            return self.splice(node.start, node.end, text, path)
        if self.is_in_brackets(path):
            quote = node.style if node.style in ("'", '"') else ""
            return self.splice(node.start, node.end, emit.flow_text(value, quote=quote), path)
        if is_scalar or node.style == "flow":
            return self.splice(node.start, node.end, emit.flow_or_scalar(value), path)
        return self.replace_with_lines(node, value, path)

    def replace_literal(self, node: Node, value: str) -> str:
        """Keep a `|` block a `|` block, at the indent that it has."""
        header, *content = split_lines(self.inner[node.start : node.end])
        first = next(line for line in content if line.strip())
        indent = len(first) - len(first.lstrip(" "))
        lines = emit.literal_lines(value, indent)
        return self.inner[: node.start] + ending_of(header).join(lines) + self.inner[node.end :]

    def replace_with_lines(self, node: Node, value: Value, path: Path) -> str:
        """Write a map or list below its key, in the old one's place and style."""
        start, indent = self.column_of_entry(path)
        if not isinstance(value, Mapping) and not any(isinstance(part, Mapping) for part in value):  # type: ignore[union-attr]
            if node.style != "block":
                return self.splice(node.start, node.end, emit.flow_text(value), path)
        if node.style == "block":
            indent = self.column(node.start) - 2
        head, end = self.beside_entry(start, node, path)
        if not value:
            return self.inner[:start] + " " + emit.flow_text(value) + head + self.inner[end:]
        lines = [head, *emit.block_lines(value, indent + 2)]
        ending = self.ending_at(node.start)
        return self.inner[:start] + ending.join(lines) + self.inner[end:]

    def add_key(self, node: Node, key: str, value: Value, after: str) -> str:
        if node.style == "flow":
            text = emit.flow_text({key: value})[1:-1]
            if not node.items:
                return self.splice(node.start + 1, node.start + 1, text, (key,))
            return self.splice(node.items[-1].end, node.items[-1].end, ", " + text, (key,))
        if not node.items:
            at, indent = len(self.inner), 0
        else:
            position = node.index_of(after) if after else -1
            at = self.line_after(node.items[position].end)
            indent = self.column(node.keys[0].start)
        return self.insert_lines(at, emit.block_lines({key: value}, indent))

    # -- lists ------------------------------------------------------------------------

    def append(self, path: Path, item: Value) -> str:
        node = _node_at(self.root, path)
        if node is None:
            return self.set(path, [item], "")
        if node.kind is Kind.LIST and node.items:
            last = node.items[-1]
            quotes = _quotes_of(last)
            if node.style == "flow":
                text = emit.flow_text(item, quote=quotes.get("", ""))
                return self.splice(last.end, last.end, ", " + text, path)
            at = self.line_after(last.end)
            return self.insert_lines(
                at, emit.item_lines(item, self.column(node.start), quotes=quotes)
            )
        if not is_null(node.tree()) and node.kind is not Kind.LIST:
            raise self.unsafe(path, node.start)
        if not isinstance(item, Mapping) or self.is_in_brackets(path):
            return self.splice(node.start, node.end, emit.flow_text([item]), path)
        return self.replace_with_lines(node, [item], path)

    def remove(self, parent: Node, path: Path) -> str:
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
            # The key shares its line with the dash of its item: the next key moves up.
            if at + 1 >= len(parent.keys) or "#" in self.inner[node.end : parent.keys[1].start]:
                raise self.unsafe(path, start)
            return self.inner[:start] + self.inner[parent.keys[at + 1].start :]
        return self.inner[:first] + self.inner[self.line_after(node.end) :]

    def remove_flow(self, parent: Node, at: int, start: int) -> str:
        if at + 1 < len(parent.items):
            following = parent.keys[at + 1] if parent.keys else parent.items[at + 1]
            return self.inner[:start] + self.inner[following.start :]
        before = parent.items[at - 1].end if at else parent.start + 1
        return self.inner[:before] + self.inner[parent.items[at].end :]

    def is_in_brackets(self, path: Path) -> bool:
        """Whether the value at a path stands inside `[]` or `{}`."""
        node: Node | None = self.root
        for step in path:
            if node is None or node.style == "flow":
                return True
            node = node.child(step)
        return False

    # -- places -----------------------------------------------------------------------

    def splice(self, start: int, end: int, text: str, path: Path) -> str:
        """Put text in a span, with the blank that YAML wants after a colon or dash."""
        if start and self.inner[start - 1] in ":-" and start == end:
            text = " " + text
        if "\n" in text:
            raise self.unsafe(path, start)
        return self.inner[:start] + text + self.inner[end:]

    def insert_lines(self, at: int, lines: Sequence[str]) -> str:
        ending = self.ending_at(max(at - 1, 0))
        return self.inner[:at] + "".join(line + ending for line in lines) + self.inner[at:]

    def column_of_entry(self, path: Path) -> tuple[int, int]:
        """Where the text after an entry's colon or dash begins, and the entry's indent."""
        parent = _node_at(self.root, path[:-1])
        assert parent is not None
        at = parent.index_of(path[-1])
        if parent.keys:
            key = parent.keys[at]
            return self.inner.index(":", key.end) + 1, self.column(key.start)
        dash, indent = parent.start, self.column(parent.start)
        if at:  # the next line with a dash: there may be one in a comment before or beside it
            following = range(self.line(parent.items[at - 1].end) + 1, len(self.lines))
            is_dashed = (line for line in following if self.lines[line].lstrip(" ")[:1] == "-")
            dash = self.starts[next(is_dashed)] + indent
        return dash + 1, indent

    def beside_entry(self, start: int, node: Node, path: Path) -> tuple[str, int]:
        """The comment beside an entry's colon or dash, which stays, and where its old value ends."""
        first = self.line_start(start) + len(without_ending(self.lines[self.line(start)]))
        if node.start <= first and node.end > first:
            return "", node.end
        comment = self.inner[max(start, node.end) if node.start <= first else start : first]
        if "#" in self.inner[first : node.start]:
            raise self.unsafe(path, node.start)
        return comment if "#" in comment else "", max(node.end, first if "#" in comment else start)

    def refuse_comments(self, node: Node, path: Path) -> None:
        """A comment inside a value would be lost with it."""
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
        """The index of the line on which this offset stands."""
        return bisect_right(self.starts, offset) - 1

    def column(self, offset: int) -> int:
        return offset - self.line_start(offset)

    def line_after(self, offset: int) -> int:
        """The start of the line after the one on which this offset stands."""
        at = self.line(offset)
        return self.starts[at] + len(self.lines[at])

    def ending_at(self, offset: int) -> str:
        return ending_of(self.lines[self.line(offset)]) or "\n"


def _node_of(inner: str, composed: object, scalar: type, sequence: type) -> Node:
    start: int = composed.start_mark.index  # type: ignore[attr-defined]
    end: int = composed.end_mark.index  # type: ignore[attr-defined]
    if isinstance(composed, scalar):
        style: str = composed.style or ""  # type: ignore[attr-defined]
        if style in ("|", ">"):
            end = _block_scalar_end(inner, start, end)
        return Node(Kind.SCALAR, start, end, style, text=composed.value)  # type: ignore[attr-defined]
    style = "flow" if composed.flow_style else "block"  # type: ignore[attr-defined]
    keys: list[Node] = []
    items: list[Node] = []
    for entry in composed.value:  # type: ignore[attr-defined]
        if isinstance(composed, sequence):
            items.append(_node_of(inner, entry, scalar, sequence))
        else:
            keys.append(_node_of(inner, entry[0], scalar, sequence))
            items.append(_node_of(inner, entry[1], scalar, sequence))
    if style == "block" and items:
        end = max(items[-1].end, keys[-1].end + 1 if keys else 0)
    kind = Kind.LIST if isinstance(composed, sequence) else Kind.MAP
    return Node(kind, start, end, style, keys=tuple(keys), items=tuple(items))


def _block_scalar_end(inner: str, start: int, end: int) -> int:
    """Without the blank lines after it, unless its `+` makes them part of the value."""
    text = inner[start:end]
    header = split_lines(text)[0]
    return start + len(without_ending(text)) if "+" in header else start + len(text.rstrip())


def _node_at(node: Node, path: Path) -> Node | None:
    for step in path:
        child = node.child(step)
        if child is None:
            return None
        node = child
    return node


def _nearest(node: Node, path: Path) -> Node:
    for step in path:
        node = node.child(step) or node
    return node


def _quotes_of(sibling: Node) -> dict[str, str]:
    """How a sibling quotes its values, by key; the empty key stands for the sibling itself."""
    if sibling.kind is Kind.SCALAR:
        return {"": sibling.style if sibling.style in ("'", '"') else ""}
    return {
        key.text: item.style
        for key, item in zip(sibling.keys, sibling.items, strict=False)
        if item.style in ("'", '"')
    }
