"""JSON read with places and edited in place; a settings file belongs to the person who wrote it.

Stricter than `json`: a key twice, NaN, nesting beyond 64 and numbers beyond 64 bits are refused
with their place. An edit changes its own value; indentation and order of everything else stay.
"""

import json
import re
from typing import NamedTuple, NoReturn

from fairlead.errors import JsonSyntax, UnsafeEdit
from fairlead.text.lines import common_ending, place_of

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

MAX_DEPTH = 64

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SPACE = re.compile(r"[ \t\r\n]*")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}


class JsonNode(NamedTuple):
    """One value, its span, and what it holds."""

    value: Json
    start: int
    end: int
    members: tuple[tuple[str, int, "JsonNode"], ...] = ()  # key, where the key starts, value
    items: tuple["JsonNode", ...] = ()  # of an array

    def child(self, key: str) -> "JsonNode | None":
        """The value of a key; None if there is none."""
        return next((node for name, _, node in self.members if name == key), None)


def read_json(text: str) -> JsonNode:
    """Read a whole JSON text, or raise `JsonSyntax` at the first fault."""
    reader = _Reader(text)
    node = reader.value(reader.space(1 if text.startswith("\ufeff") else 0), 0)
    end = reader.space(node.end)
    if end != len(text):
        reader.refuse("text after the end of the value", end)
    return node


def set_json(text: str, path: tuple[str, ...], value: Json) -> str:
    """Set a value at a path of keys, adding objects as needed."""
    node = read_json(text)
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


def append_json(text: str, path: tuple[str, ...], value: Json) -> str:
    """Add a value at the end of the array at a path, making it where there is none."""
    node = _at(read_json(text), path)
    if node is None:
        return set_json(text, path, [value])
    if not isinstance(node.value, list):
        line, column = place_of(text, node.start)
        raise UnsafeEdit(".".join(path), line=line, column=column)
    if not node.items:
        return text[: node.start] + _dump([value], text, node.start) + text[node.end :]
    last = node.items[-1]
    lead = _lead(text, last.start)
    written = _dump(value, text, last.start)
    return text[: last.end] + "," + (lead or " ") + written + text[last.end :]


def remove_json(text: str, path: tuple[str | int, ...]) -> str:
    """Take out a member or an item; what was added at the end goes as it came."""
    above = _at(read_json(text), path[:-1])
    if above is None:
        return text
    spans = [(start, node.end) for _, start, node in above.members]
    spans = spans or [(item.start, item.end) for item in above.items]
    names: list[str | int] = [name for name, _, _ in above.members]
    at = names.index(path[-1]) if names else int(path[-1])
    if len(spans) == 1:
        brackets = text[above.start] + text[above.end - 1]
        return text[: above.start] + brackets + text[above.end :]
    if at == 0:
        return text[: spans[0][0]] + text[spans[1][0] :]
    return text[: spans[at - 1][1]] + text[spans[at][1] :]


def _at(node: JsonNode, path: tuple[str | int, ...]) -> JsonNode | None:
    for part in path:
        child = node.items[part] if isinstance(part, int) else node.child(part)
        if child is None:
            return None
        node = child
    return node


def _same(one: Json, other: Json) -> bool:
    # Python takes 1, 1.0 and True for equal; a settings file does not.
    return json.dumps(one) == json.dumps(other)


def _add_member(text: str, node: JsonNode, key: str, value: Json) -> str:
    name = json.dumps(key, ensure_ascii=False)
    if node.members:
        _, key_start, last = node.members[-1]
        lead = _lead(text, key_start)
        written = f"{name}: {_dump(value, text, key_start)}"
        return text[: last.end] + "," + (lead or " ") + written + text[last.end :]
    ending = common_ending(text)
    outer = _indent_at(text, node.start)
    unit = _unit(text)
    written = f"{name}: {_dump(value, text, node.start, deeper=True)}"
    body = "{" + ending + outer + unit + written + ending + outer + "}"
    return text[: node.start] + body + text[node.end :]


def _lead(text: str, at: int) -> str:
    """The line break and indentation before this place, if it is first on its line."""
    start = len(text[:at].rstrip(" \t"))
    line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    if start > line:
        return ""
    ending = "\r\n" if text[max(line - 2, 0) : line] == "\r\n" else text[line - 1 : line]
    return ending + text[line:at]


def _dump(value: Json, text: str, at: int, *, deeper: bool = False) -> str:
    """A value laid out like the text around it."""
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
    """One step of indentation as the text uses it; two blanks where it uses none."""
    match = re.search(r"[\r\n]([ \t]+)\S", text)
    return match[1] if match else "  "


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def refuse(self, why: str, at: int) -> NoReturn:
        line, column = place_of(self.text, at)
        raise JsonSyntax(why, line=line, column=column)

    def space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
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
                "the end of the text" if not first else f"{first!r} where a value belongs", at
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
            self.refuse("a string that is never closed or holds a control character", at)
        return JsonNode(json.loads(match[0]), at, match.end())

    def array(self, at: int, depth: int) -> JsonNode:
        items: list[JsonNode] = []
        start, at = at, self.space(at + 1)
        while self.text[at : at + 1] != "]":
            items.append(self.value(at, depth + 1))
            at = self.separator(items[-1].end, "]")
        held = [item.value for item in items]
        return JsonNode(held, start, at + 1, items=tuple(items))

    def object(self, at: int, depth: int) -> JsonNode:
        members: list[tuple[str, int, JsonNode]] = []
        held: dict[str, Json] = {}
        start, at = at, self.space(at + 1)
        while self.text[at : at + 1] != "}":
            if self.text[at : at + 1] != '"':
                self.refuse("a key must be a string", at)
            key = self.string(at)
            name = str(key.value)
            if name in held:
                self.refuse(f"key {name!r} stands twice", at)
            colon = self.space(key.end)
            if self.text[colon : colon + 1] != ":":
                self.refuse("a key without a colon", colon)
            item = self.value(self.space(colon + 1), depth + 1)
            held[name] = item.value
            members.append((name, key.start, item))
            at = self.separator(item.end, "}")
        return JsonNode(held, start, at + 1, tuple(members))

    def separator(self, at: int, closing: str) -> int:
        at = self.space(at)
        mark = self.text[at : at + 1]
        if mark == closing:
            return at
        if mark != ",":
            self.refuse(f"a comma or {closing} is missing", at)
        following = self.space(at + 1)
        if self.text[following : following + 1] == closing:
            self.refuse(f"a comma before {closing}", at)
        return following
