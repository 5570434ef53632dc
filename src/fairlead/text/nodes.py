"""Frontmatter as nodes with places: what is edited, and where it stands.

The end of a node is the end of its own text: blank lines and comments that follow a block
belong to nobody, so that removing or replacing a node leaves them alone.
"""

from collections.abc import Iterator
from enum import Enum

from fairlead.text.scalars import Plain
from fairlead.values import dataclass


class Kind(Enum):
    """What a node is."""

    SCALAR = "scalar"
    MAP = "map"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Node:
    """One value: its kind, its span in the inner text, and what it holds."""

    kind: Kind
    start: int
    end: int
    style: str  # scalars: "", ', ", | or >; collections: flow or block
    text: str = ""  # the value of a scalar
    keys: tuple["Node", ...] = ()  # of a map, in order
    items: tuple["Node", ...] = ()  # the values of a map, or the items of a list

    def child(self, step: str | int) -> "Node | None":
        """The value of a key, or the item at an index; None if there is none."""
        if isinstance(step, int):
            in_range = self.kind is Kind.LIST and 0 <= step < len(self.items)
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

    def leaves(self) -> Iterator["Node"]:
        """The scalars in the order of the text, keys included."""
        if self.kind is Kind.SCALAR:
            yield self
            return
        for at, item in enumerate(self.items):
            if self.keys:
                yield self.keys[at]
            yield from item.leaves()

    def tree(self) -> object:
        """The value as dicts, lists and text, in the quick reader's terms."""
        if self.kind is Kind.SCALAR:
            return Plain(self.text) if not self.style else self.text
        if self.kind is Kind.LIST:
            return [item.tree() for item in self.items]
        return {key.text: item.tree() for key, item in zip(self.keys, self.items, strict=True)}
