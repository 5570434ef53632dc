"""Parts: a document as a tree of what can be merged by itself.

Blank lines belong to the part that follows them, comments of the frontmatter to the key that
follows them; so a part that goes away or comes in takes them along.
"""

from collections.abc import Iterable, Sequence
from enum import Enum

from fairlead.records.merge_lines import Lines
from fairlead.values import dataclass

DEEPEST = 32  # what is nested deeper than this is merged as lines


class Kind(Enum):
    """What a part is."""

    FRONT = "frontmatter"
    KEY = "key"  # of the frontmatter
    ENTRY = "entry"  # of a frontmatter list
    SECTION = "section"
    ELEMENT = "element"  # `<task>` to `</task>`, each on a line of its own
    LIST = "list"
    ITEM = "item"
    TABLE = "table"
    ROW = "row"
    FIELD = "field"
    PROSE = "prose"
    VERBATIM = "verbatim"  # a fence or a comment


@dataclass(frozen=True, slots=True)
class Part:
    """One part with everything below it."""

    kind: Kind
    name: str  # what it is called on every side: a title, a label, an item's text
    head: Lines  # its own first lines
    lead: Lines = ()  # the blank lines before it
    parts: tuple["Part", ...] = ()
    sections: tuple["Part", ...] = ()  # below the parts
    tail: Lines = ()  # its own last lines
    lines: Lines = ()  # all of the above but the lead


def part(
    kind: Kind,
    name: str,
    head: Iterable[str],
    lead: Iterable[str] = (),
    *,
    parts: Sequence[Part] = (),
    sections: Sequence[Part] = (),
    tail: Iterable[str] = (),
) -> Part:
    """A part with its lines joined once: they are compared often."""
    head, tail = tuple(head), tuple(tail)
    lines = (*head, *joined(parts), *joined(sections), *tail)
    return Part(kind, name, head, tuple(lead), tuple(parts), tuple(sections), tail, lines)


def joined(parts: Iterable[Part]) -> Lines:
    """The lines of parts that follow each other."""
    return tuple(line for each in parts for line in (*each.lead, *each.lines))
