"""Splices: several changes of one text, found together and made together.

All of them are found in the same version of the text, so no place moves while others are made.
"""

from collections.abc import Iterable
from typing import NamedTuple

from fairlead.text.outline import Line


class Splice(NamedTuple):
    """A span and what is to stand there; an empty span is an insertion."""

    start: int
    end: int
    new: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with every change made; of two that overlap only the first counts."""
    pieces = []
    at = 0
    for splice in sorted(splices, key=lambda each: (each.start, each.end)):
        if splice.start < at:
            continue
        pieces += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join((*pieces, text[at:]))


def line_after(line: Line, new: str, ending: str) -> Splice:
    """A new line below this one; a text without a last line break goes on without it."""
    if line.next == line.end:
        return Splice(line.end, line.end, ending + new)
    return Splice(line.next, line.next, new + ending)


def block_after(line: Line, new: Iterable[str], ending: str) -> Splice:
    """New lines below this one, with a blank line between."""
    return line_after(line, ending.join(("", *new)), ending)
