"""Reads JSON with positions and edits it losslessly, for settings files that users write.

Stricter than `json`: duplicate keys, NaN, nesting deeper than 64 and integers beyond 64 bits are
refused with their position. An edit changes one value; the layout and order of the rest stay.
With `comments`, comments and trailing commas are accepted (JSONC) and stay where they are.
"""

import json
import re
from typing import NamedTuple, NoReturn

from fairlead.core.patterns import lazy_pattern
from fairlead.text.errors import JsonSyntax, UnsafeEdit
from fairlead.text.lines import common_ending, place_of

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

MAX_DEPTH = 64

_NUMBER = lazy_pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_STRING = lazy_pattern(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SPACE = lazy_pattern(r"[ \t\r\n]*")
_SPACE_OR_COMMENT = lazy_pattern(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
# A comma and comments after a value on the same line.
_REST_OF_LINE = lazy_pattern(r"[ \t]*(,?)((?:[ \t]*/\*[^\r\n]*?\*/)*(?:[ \t]*//[^\r\n]*)?)")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}


class JsonNode(NamedTuple):
    """One value with its span and its children."""

    value: Json
    start: int
    end: int
    members: tuple[tuple[str, int, "JsonNode"], ...] = ()  # key, where the key starts, value
    items: tuple["JsonNode", ...] = ()  # of an array

    def child(self, key: str) -> "JsonNode | None":
        """The value of a key, or None."""
        return next((node for name, _, node in self.members if name == key), None)


def read_json(text: str, *, comments: bool = False) -> JsonNode:
    """Read a JSON text, or raise `JsonSyntax` at the first fault."""
    reader = _JsonParser(text, comments=comments)
    node = reader.value(reader.space(1 if text.startswith("\ufeff") else 0), 0)
    end = reader.space(node.end)
    if end != len(text):
        reader.refuse("text after the end of the value", end)
    return node


def set_json(text: str, path: tuple[str, ...], value: Json, *, comments: bool = False) -> str:
    """Set the value at a path of keys, adding objects as needed."""
    node = read_json(text, comments=comments)
    depth = 0
    while depth < len(path) and (child := node.child(path[depth])):
        node, depth = child, depth + 1
    if depth == len(path):
        if _same(node.value, value):
            return text
        return text[: node.start] + _dump(value, text, node.start) + text[node.end :]
    if not isinstance(node.value, dict):
        line, column = place_of(text, node.start)
        raise UnsafeEdit(".".join(path), line=line, column=column)
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    return _add_member(text, node, path[depth], value)


def append_json(text: str, path: tuple[str, ...], value: Json, *, comments: bool = False) -> str:
    """Append a value to the array at a path, creating the array if needed."""
    node = _at(read_json(text, comments=comments), path)
    if node is None:
        return set_json(text, path, [value], comments=comments)
    if not isinstance(node.value, list):
        line, column = place_of(text, node.start)
        raise UnsafeEdit(".".join(path), line=line, column=column)
    if not node.items:
        if text[node.start + 1 : node.end - 1].strip():
            return _into_commented(text, node, _dump(value, text, node.start, deeper=True))
        return text[: node.start] + _dump([value], text, node.start) + text[node.end :]
    last = node.items[-1]
    return _after(text, last.start, last.end, _dump(value, text, last.start))


def remove_json(text: str, path: tuple[str | int, ...], *, comments: bool = False) -> str:
    """Remove a member or an item. This reverses an addition at the end exactly."""
    above = _at(read_json(text, comments=comments), path[:-1])
    if above is None:
        return text
    spans = [(start, node.end) for _, start, node in above.members]
    spans = spans or [(item.start, item.end) for item in above.items]
    names: list[str | int] = [name for name, _, _ in above.members]
    at = names.index(path[-1]) if names else int(path[-1])
    if len(spans) == 1:
        rest = _REST_OF_LINE.match(text, spans[0][1])
        end = rest.end(1) if rest else spans[0][1]
        before, after = text[above.start + 1 : spans[0][0]], text[end : above.end - 1]
        if before.strip() or after.strip():  # comments, which stay
            return text[: spans[0][0]] + text[end:]
        brackets = text[above.start] + text[above.end - 1]
        return text[: above.start] + brackets + text[above.end :]
    if comments and (gap := text[spans[max(at, 1) - 1][1] : spans[max(at, 1)][0]]).strip(
        ", \t\r\n"
    ):
        return _without_span(text, spans[at], spans[at - 1][1] if at else -1, gap)
    if at == 0:
        return text[: spans[0][0]] + text[spans[1][0] :]
    return text[: spans[at - 1][1]] + text[spans[at][1] :]


def _without_span(text: str, span: tuple[int, int], before: int, gap: str) -> str:
    """Remove one member with one comma, so that the comments around it stay."""
    start, end = span
    comma = _SPACE_OR_COMMENT.match(text, end)
    assert comma
    start = len(text[:start].rstrip(" \t\r\n"))
    if text[comma.end() : comma.end() + 1] == ",":
        return text[:start] + text[end : comma.end()] + text[comma.end() + 1 :]
    skipped = _SPACE_OR_COMMENT.match(gap)
    assert skipped
    at = before + skipped.end()
    return text[:at] + text[at + 1 : start] + text[end:]


def _at(node: JsonNode, path: tuple[str | int, ...]) -> JsonNode | None:
    for part in path:
        child = node.items[part] if isinstance(part, int) else node.child(part)
        if child is None:
            return None
        node = child
    return node


def _same(one: Json, other: Json) -> bool:
    # In Python 1, 1.0 and True are equal; in a settings file they are not.
    return json.dumps(one) == json.dumps(other)


def _add_member(text: str, node: JsonNode, key: str, value: Json) -> str:
    name = json.dumps(key, ensure_ascii=False)
    if node.members:
        _, key_start, last = node.members[-1]
        return _after(text, key_start, last.end, f"{name}: {_dump(value, text, key_start)}")
    if text[node.start + 1 : node.end - 1].strip():
        written = f"{name}: {_dump(value, text, node.start, deeper=True)}"
        return _into_commented(text, node, written)
    ending = common_ending(text)
    outer = _indent_at(text, node.start)
    unit = _unit(text)
    written = f"{name}: {_dump(value, text, node.start, deeper=True)}"
    body = "{" + ending + outer + unit + written + ending + outer + "}"
    return text[: node.start] + body + text[node.end :]


def _after(text: str, start: int, end: int, written: str) -> str:
    """The text with another member or item after the last one, below its comment if it has one."""
    lead = _lead(text, start)
    rest = _REST_OF_LINE.match(text, end)
    if rest is None or not rest[2].strip():
        return text[:end] + "," + (lead or " ") + written + text[end:]
    comma = rest[1]
    own_line = lead or common_ending(text) + _indent_at(text, start)
    head = text[:end] + ("" if comma else ",") + text[end : rest.end()]
    return head + own_line + written + comma + text[rest.end() :]


def _into_commented(text: str, node: JsonNode, written: str) -> str:
    """The text with a first member or item below the comments of an empty object or array."""
    outer, ending = _indent_at(text, node.start), common_ending(text)
    head = text[: node.end - 1].rstrip(" \t\r\n")
    lead = ending + outer + _unit(text)
    return head + lead + written + ending + outer + text[node.end - 1 :]


def _lead(text: str, at: int) -> str:
    """The line break and indentation before a position that is first on its line, else ""."""
    start = len(text[:at].rstrip(" \t"))
    line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    if start > line:
        return ""
    ending = "\r\n" if text[max(line - 2, 0) : line] == "\r\n" else text[line - 1 : line]
    return ending + text[line:at]


def _dump(value: Json, text: str, at: int, *, deeper: bool = False) -> str:
    """A value in the layout of the surrounding text."""
    unit = _unit(text)
    indent = _indent_at(text, at) + (unit if deeper else "")
    if "\n" not in text.strip() and "\r" not in text.strip():
        return json.dumps(value, ensure_ascii=False)
    dumped = json.dumps(value, ensure_ascii=False, indent=unit)
    return dumped.replace("\n", common_ending(text) + indent)


def _indent_at(text: str, at: int) -> str:
    line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    rest = text[line:at]
    return rest[: len(rest) - len(rest.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One level of indentation as in the text; two spaces if it has none."""
    match = re.search(r"[\r\n]([ \t]+)\S", text)
    return match[1] if match else "  "


class _JsonParser:
    def __init__(self, text: str, *, comments: bool) -> None:
        self.text = text
        self._comments = comments
        self._space = _SPACE_OR_COMMENT if comments else _SPACE

    def refuse(self, why: str, at: int) -> NoReturn:
        line, column = place_of(self.text, at)
        raise JsonSyntax(why, line=line, column=column)

    def space(self, at: int) -> int:
        match = self._space.match(self.text, at)
        return match.end() if match else at

    def value(self, at: int, depth: int) -> JsonNode:
        if depth > MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH}", at)
        first = self.text[at : at + 1]
        if first == "{":
            return self.object(at, depth)
        if first == "[":
            return self.array(at, depth)
        if first == '"':
            return self.string(at)
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, at):
                return JsonNode(meaning, at, at + len(word))
        match = _NUMBER.match(self.text, at)
        if not match:
            self.refuse(
                "unexpected end of the text" if not first else f"expected a value, not {first!r}",
                at,
            )
        return self.number(match[0], at)

    def number(self, digits: str, at: int) -> JsonNode:
        if len(digits) > 40:
            self.refuse("a number that is too long", at)
        number = json.loads(digits)
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            self.refuse("a number beyond 64 bits", at)
        return JsonNode(number, at, at + len(digits))

    def string(self, at: int) -> JsonNode:
        match = _STRING.match(self.text, at)
        if not match:
            self.refuse("unclosed string, or a control character in it", at)
        return JsonNode(json.loads(match[0]), at, match.end())

    def array(self, at: int, depth: int) -> JsonNode:
        items: list[JsonNode] = []
        start, at = at, self.space(at + 1)
        while self.text[at : at + 1] != "]":
            items.append(self.value(at, depth + 1))
            at = self.separator(items[-1].end, "]")
        values = [item.value for item in items]
        return JsonNode(values, start, at + 1, items=tuple(items))

    def object(self, at: int, depth: int) -> JsonNode:
        members: list[tuple[str, int, JsonNode]] = []
        values: dict[str, Json] = {}
        start, at = at, self.space(at + 1)
        while self.text[at : at + 1] != "}":
            if self.text[at : at + 1] != '"':
                self.refuse("a key must be a string", at)
            key = self.string(at)
            name = str(key.value)
            if name in values:
                self.refuse(f"duplicate key {name!r}", at)
            colon = self.space(key.end)
            if self.text[colon : colon + 1] != ":":
                self.refuse("missing colon after a key", colon)
            item = self.value(self.space(colon + 1), depth + 1)
            values[name] = item.value
            members.append((name, key.start, item))
            at = self.separator(item.end, "}")
        return JsonNode(values, start, at + 1, tuple(members))

    def separator(self, at: int, closing: str) -> int:
        at = self.space(at)
        mark = self.text[at : at + 1]
        if mark == closing:
            return at
        if mark != ",":
            self.refuse(f"missing comma or {closing}", at)
        following = self.space(at + 1)
        if self.text[following : following + 1] == closing and not self._comments:
            self.refuse(f"trailing comma before {closing}", at)
        return following
