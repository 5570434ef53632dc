"""Frontmatter as parts, for merging: keys, nested keys and list entries with their lines.

It is taken apart by indentation alone, so frontmatter that no YAML reader accepts is merged by
key too. Comments and blank lines belong to the key that follows them.
"""

import re
from collections.abc import Sequence

from fairlead.records.merge_lines import Lines
from fairlead.records.merge_parts import DEEPEST, Kind, Part, part
from fairlead.text.document import Document
from fairlead.values import dataclass, replace

_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s#'"\-\[{][^#]*?)\s*:(?=\s|\Z)""")
_NAMED = ("id", "name")  # the keys by which an entry that is a map is known
_COMMENT = re.compile(r"\s+#.*\Z")


@dataclass(frozen=True, slots=True)
class Flow:
    """A list or map in brackets on one line, in pieces that joined again are the line."""

    before: str  # up to and with the opening bracket
    items: tuple[str, ...]
    after: str


def read_front(document: Document) -> Part | None:
    """The frontmatter with its fences, or None."""
    block = document.block
    if block is None:
        return None
    lines = [line.text for line in document.lines if line.start < block.body]
    keys, left = _keys(lines[1:-1], 0)
    return part(Kind.FRONT, "", (lines[0],), parts=keys, tail=(*left, lines[-1]))


def value_of(key: Part) -> str:
    """What stands after a key's colon, on its first line."""
    text = key.head[0].strip()
    found = _KEY.match(text)
    return text[found.end() :].strip() if found else text


def scalar_name(text: str) -> str:
    """A scalar without its quotes and comment: what makes it the same entry on another side."""
    plain = text.strip()
    if plain[:1] in ("'", '"'):
        end = plain.find(plain[0], 1)
        return plain[1:end] if end > 0 else plain
    return _COMMENT.sub("", plain)


def flow_of(key: Part, brackets: str = "[]") -> Flow | None:
    """A key whose value is a bracketed list of scalars on its line; None for any other."""
    line = key.head[0]
    start = len(line) - len(line.lstrip(" "))
    found = _KEY.match(line[start:])
    if len(key.lines) != 1 or not found:
        return None
    start += found.end()
    start += len(line[start:]) - len(line[start:].lstrip(" "))
    end = len(_COMMENT.sub("", line).rstrip()) - 1
    if end <= start or line[start] + line[end] != brackets:
        return None
    items = _flow_items(line[start + 1 : end])
    return None if items is None else Flow(line[: start + 1], items, line[end:])


def _flow_items(text: str) -> tuple[str, ...] | None:
    items = [""]
    quote = ""
    for mark in text:
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "[]{}":
            return None
        elif mark in "'\"" and not items[-1].strip():
            quote = mark
        elif mark == ",":
            items.append("")
            continue
        items[-1] += mark
    return None if quote else tuple(item.strip() for item in items if item.strip())


def undashed(entry: Part) -> tuple[Part, ...]:
    """The keys of an entry that is a map, as if the dash were a blank; none for a scalar."""
    first = entry.head[0]
    dash = _indent(first)
    content = first[dash + 1 :].lstrip(" ")
    if not _KEY.match(content):
        return ()
    blank = " " * (len(first) - len(content)) + content
    keys, left = _keys((blank, *entry.head[1:]), 0)
    return () if left else tuple(keys)


def _keys(lines: Sequence[str], depth: int) -> tuple[list[Part], Lines]:
    """The keys at the indent of the first one, and the comments and blanks after the last."""
    groups, left = _groups(lines, starts_with_dash=False)
    keys = [replace(_key(own, depth), lead=lead) for lead, own in groups]
    return keys, left


def _key(lines: Lines, depth: int) -> Part:
    text = lines[0].strip()
    found = _KEY.match(text)
    name = scalar_name(found[1]) if found else text
    below = lines[1:]
    value = text[found.end() :].strip() if found else text
    if (value and not value.startswith("#")) or depth >= DEEPEST:
        return part(Kind.KEY, name, lines)
    first = next((line for line in below if _is_content(line)), "")
    deep = _indent(first)
    is_even = all(_indent(line) >= deep for line in below if _is_content(line))
    if not first or not is_even or (deep <= _indent(lines[0]) and not _is_dash(first)):
        return part(Kind.KEY, name, lines)
    inner, left = _entries(below) if _is_dash(first) else _keys(below, depth + 1)
    return part(Kind.KEY, name, lines[:1], parts=inner, tail=left)


def _entries(lines: Sequence[str]) -> tuple[list[Part], Lines]:
    groups, left = _groups(lines, starts_with_dash=True)
    return [_entry(lead, own) for lead, own in groups], left


def _entry(lead: Lines, lines: Lines) -> Part:
    entry = part(Kind.ENTRY, scalar_name(lines[0].strip()[1:]), lines, lead)
    named = {key.name: scalar_name(value_of(key)) for key in undashed(entry)}
    if not named and len(lines) == 1:
        return entry
    # Without an id its first key tells a map from the others; any other text is its own name.
    whole = lines[0].strip() if named else "\n".join(lines)
    return replace(entry, name=next((named[key] for key in _NAMED if named.get(key)), whole))


def _groups(
    lines: Sequence[str], *, starts_with_dash: bool
) -> tuple[list[tuple[Lines, Lines]], Lines]:
    """Each key or entry with the comments before it, and the comments after the last."""
    indent = next((_indent(line) for line in lines if _is_content(line)), 0)
    groups: list[tuple[Lines, Lines]] = []
    lead: list[str] = []
    own: list[str] = []
    for line in lines:
        is_start = _is_content(line) and _indent(line) <= indent
        if is_start and (starts_with_dash or not _is_dash(line)):
            kept, left = _without_comments(own, indent)
            if kept:
                groups.append((tuple(lead), kept))
            lead, own = [*([] if kept else lead), *left], []
        own.append(line)
    kept, left = _without_comments(own, indent)
    if kept:
        groups.append((tuple(lead), kept))
    return groups, left if kept else (*lead, *left)


def _without_comments(lines: Sequence[str], indent: int) -> tuple[Lines, Lines]:
    """The lines up to the last that says something, and the blanks and comments after it."""
    end = len(lines)
    while end and not _is_content(lines[end - 1]):
        end -= 1
    while end and end < len(lines) and lines[end].strip() and _indent(lines[end]) > indent:
        end += 1  # a comment inside the value
    return tuple(lines[:end]), tuple(lines[end:])


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip(" ").startswith("#")


def _is_dash(line: str) -> bool:
    text = line.lstrip(" ")
    return text == "-" or text.startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
