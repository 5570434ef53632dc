"""The parts of a Markdown answer: what stands under each heading, and the entries of its lists.

An entry is `- R1 [mark]: text | key: value | key: value`, each piece optional but the text. What
stands in a fence or a comment is an example and no part of the answer, unless the whole answer
was put into one fence, which models often do.
"""

import re
from functools import cached_property

from fairlead.text.lists import items_of
from fairlead.text.outline import Line, Section, lines_of, sections_of
from fairlead.values import dataclass

_WRAPPED = re.compile(r"\A\s*(`{3,}|~{3,})(?:markdown|md)?[ \t]*\r?\n(.*)\r?\n\1\s*\Z", re.DOTALL)
ID = r"[A-Za-z][A-Za-z_]{0,14}-?[0-9]{1,3}(?:\.[0-9]{1,3})?"
_ENTRY = re.compile(
    rf"(?:[*_`]{{0,3}}(?P<id>{ID})[*_`]{{0,3}})?"
    r"\s*(?:\[(?P<mark>[\w ,-]{1,40})\])?\s*[*_`]{0,3}:\s*[*_`]{0,3}\s*"
)
_FIELD = re.compile(r"\s*([a-z][a-z ]{1,20}):\s*(.*)\Z", re.DOTALL)
_NONE = re.compile(  # "None of the routes is checked" is something
    r"\W*(?:(?:none|nothing|n/a)(?:\W*|\s*[.,:;(–—-].{0,80}|\s+(?:found|identified|known|open)\b.{0,40})"
    r"|no (?:\w+ )?(?:conflict|gap|risk|question|finding)s?\b.{0,40}|)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list."""

    text: str
    id: str = ""
    mark: str = ""
    more: tuple[str, ...] = ()  # what stands behind each further bar
    indent: int = 0
    source: str = ""  # all of it, as it stands there

    def field(self, name: str) -> str:
        """What stands behind a bar as `name: value`; empty if nothing does."""
        for piece in self.more:
            found = _FIELD.match(piece)
            if found and found[1] == name:
                return found[2].strip()
        return ""


class Parts:
    """An answer by its headings."""

    def __init__(self, text: str) -> None:
        self.text = unwrapped(text)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Every line of the answer."""
        return lines_of(self.text)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Every section of the answer."""
        return sections_of(self.lines)

    def section(self, title: str) -> Section | None:
        """A part by its title, whatever the case and the level up to the third."""
        wanted = title.casefold()
        for each in self.sections:
            if each.level <= 3 and each.title.strip("*_ :").casefold() == wanted:
                return each
        return None

    def under(self, title: str) -> tuple[Line, ...]:
        """The lines of a part."""
        found = self.section(title)
        return self.lines[found.first : found.last] if found else ()

    def prose(self, title: str) -> str:
        """The text of a part."""
        return "\n".join(line.text for line in self.under(title)).strip()

    def entries(self, title: str) -> tuple[Entry, ...]:
        """The entries of a part; `None` is none."""
        return entries_of(self.under(title))


def unwrapped(text: str) -> str:
    """An answer without the one fence around all of it."""
    found = _WRAPPED.match(text)
    is_whole = found is not None and not re.search(rf"^{found[1]}", found[2], re.MULTILINE)
    return found[2] if found and is_whole else text


def entries_of(lines: tuple[Line, ...]) -> tuple[Entry, ...]:
    """The bullets among these lines, each with its continuation, as entries."""
    items = items_of(lines)
    starts = {item.start for item in items}
    found = []
    for item in items:
        told = [item.text]
        for line in lines:
            if line.start <= item.start or line.start > item.last.start or not line.is_prose:
                continue
            if any(line.start <= start <= line.end for start in starts):
                break  # an entry inside this one, with a line of its own
            told.append(line.text.strip())
        text = " ".join(told).strip()
        if not _NONE.fullmatch(text):
            found.append(_entry(text, item.indent))
    return tuple(found)


def _entry(text: str, indent: int) -> Entry:
    head, *more = (piece.strip() for piece in re.split(r"(?<!\\)\s\|\s", text))
    found = _ENTRY.match(head)
    if found is None or not (found["id"] or found["mark"]):
        return Entry(head, more=tuple(more), indent=indent, source=text)
    said = head[found.end() :]
    return Entry(said, found["id"] or "", found["mark"] or "", tuple(more), indent, text)
