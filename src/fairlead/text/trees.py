"""Frontmatter trees: what an edit must come to, computed on plain values.

`front` compares these with what both readers say of the new text. A tree is made of dicts,
lists and text in the quick reader's terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairlead.text.scalars import Plain, is_null

if TYPE_CHECKING:
    from fairlead.text.emit import Value

Path = tuple[str | int, ...]


def same_tree(one: object, other: object) -> bool:
    """Whether two trees hold the same text in the same order, and null where the other has null."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same_tree(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_tree, one, other))
    return isinstance(one, str) and one == other and is_null(one) == is_null(other)


def holds(held: object, value: Value) -> bool:
    """Whether the value stands there already."""
    if value is None:
        return is_null(held) and isinstance(held, Plain)
    if isinstance(value, bool):
        return isinstance(held, Plain) and held.lower() == str(value).lower()
    if isinstance(value, int):
        return isinstance(held, Plain) and held == str(value)
    return same_tree(held, tree_of(value))


def tree_of(value: object) -> object:
    """A value as the tree that it reads back as."""
    from fairlead.text.emit import is_sequence, scalar_text

    if isinstance(value, Mapping):
        return {key: tree_of(item) for key, item in value.items()}
    if is_sequence(value):
        return [tree_of(item) for item in value]
    if value is None or isinstance(value, bool | int):
        return Plain(scalar_text(value))
    return value


def value_at(tree: object, path: Path) -> object:
    """The value at a path, None if nothing stands there."""
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
    held = tree if isinstance(tree, dict) else {}
    changed = with_value(held.get(step), path[1:], value, "")
    if step in held or after not in held:
        return {**held, step: changed}
    grown: dict[object, object] = {}
    for key, item in held.items():
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
