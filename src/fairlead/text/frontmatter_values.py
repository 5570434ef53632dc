"""Frontmatter as a tree of dicts, lists and text, as `yaml_subset` reads it.

An edit computes the tree that it expects, and `frontmatter` compares it with what both readers
find in the new text. The second half reads typed values: users write a list on one line or on
many, and numbers with leading zeros. A value of another type than expected counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairlead.core.patterns import lazy_pattern
from fairlead.text.yaml_scalars import Plain, is_null

if TYPE_CHECKING:
    from fairlead.text.yaml_emit import Value

Path = tuple[str | int, ...]
_NOTE = lazy_pattern(r"(?<![ \t])[ \t]+\([^()\n]*\)")
_LONGEST = 18  # digits


def same_tree(one: object, other: object) -> bool:
    """Whether two trees have the same text in the same order, and the same nulls."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same_tree(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_tree, one, other))
    return isinstance(one, str) and one == other and is_null(one) == is_null(other)


def has_value(current: object, value: Value) -> bool:
    """Whether the current value in the tree equals a new value."""
    if value is None:
        return is_null(current) and isinstance(current, Plain)
    if isinstance(value, bool):
        return isinstance(current, Plain) and current.lower() == str(value).lower()
    if isinstance(value, int):
        return isinstance(current, Plain) and current == str(value)
    return same_tree(current, tree_of(value))


def tree_of(value: object) -> object:
    """The tree that a written value is read back as."""
    from fairlead.text.yaml_emit import is_sequence, scalar_text

    if isinstance(value, Mapping):
        return {key: tree_of(item) for key, item in value.items()}
    if is_sequence(value):
        return [tree_of(item) for item in value]
    if value is None or isinstance(value, bool | int):
        return Plain(scalar_text(value))
    return value


def value_at(tree: object, path: Path) -> object:
    """The value at a path, or None."""
    for step in path:
        if isinstance(tree, dict) and step in tree:
            tree = tree[step]
        elif isinstance(tree, list) and isinstance(step, int) and step < len(tree):
            tree = tree[step]
        else:
            return None
    return tree


def with_value(tree: object, path: Path, value: object, after: str) -> object:
    """The tree with one value set; a new key follows the key `after`."""
    if not path:
        return tree_of(value)
    step = path[0]
    if isinstance(tree, list) and isinstance(step, int):
        return [
            with_value(item, path[1:], value, "") if at == step else item
            for at, item in enumerate(tree)
        ]
    entries = tree if isinstance(tree, dict) else {}
    changed = with_value(entries.get(step), path[1:], value, "")
    if step in entries or after not in entries:
        return {**entries, step: changed}
    grown: dict[object, object] = {}
    for key, item in entries.items():
        grown[key] = item
        if key == after:
            grown[step] = changed
    return grown


def without(tree: object, path: Path) -> object:
    """The tree without one key or item."""
    step = path[0]
    if isinstance(tree, list):
        if len(path) == 1:
            return [item for at, item in enumerate(tree) if at != step]
        return [without(item, path[1:]) if at == step else item for at, item in enumerate(tree)]
    assert isinstance(tree, dict)
    if len(path) == 1:
        return {key: item for key, item in tree.items() if key != step}
    return {key: without(item, path[1:]) if key == step else item for key, item in tree.items()}


def text_of(tree: Mapping[str, object], key: str) -> str:
    """The text of a key; "" if it is missing or null."""
    value = tree.get(key)
    return value.strip() if isinstance(value, str) and not is_null(value) else ""


def list_of(tree: Mapping[str, object], *keys: str) -> tuple[str, ...]:
    """The list of the first of these keys that is set.

    A text is split at its commas. Of an item that is a map, its `path` counts.
    """
    value = next((tree[key] for key in keys if tree.get(key) is not None), None)
    if isinstance(value, str):
        return () if is_null(value) else comma_list(value)
    entries = value if isinstance(value, list) else []
    items = (text_of(item, "path") if isinstance(item, dict) else item for item in entries)
    return tuple(str(item).strip() for item in items if isinstance(item, str) and item.strip())


def whole_number(text: str) -> int | None:
    """A decimal integer, or None. `08` is eight."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def count_of_digits(digits: str) -> int:
    """The number of a run of digits. Only the first digits of an absurdly long one count."""
    return int(digits.lstrip("0")[:_LONGEST] or "0")


def without_notes(text: str) -> str:
    """The text without notes in parentheses after a word."""
    return _NOTE.sub("", text)


def comma_list(text: str) -> tuple[str, ...]:
    """Items separated by commas or line breaks, without bullets, quotes and notes."""
    items = dict.fromkeys(
        item.strip().removeprefix("- ").removeprefix("* ").strip().strip("`\"'")
        for item in re.split(r"[,\n]", without_notes(text))
    )
    return tuple(item for item in items if item and item.casefold() not in ("n/a", "none", "-"))
