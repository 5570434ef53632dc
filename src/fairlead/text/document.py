"""A Markdown document with frontmatter, and edits that return a new document.

`Document(text).text == text` for every text. A text that an edit could damage (an unresolved
merge, unclosed or doubtful frontmatter) raises before the first edit. Reading for display never
raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.text.errors import ConflictMarkers, EmptyDocument, NoPlace, UnclosedFrontmatter
from fairlead.text.fast_frontmatter import Block, find_block, read_front
from fairlead.text.fields import Field, find_field, set_field
from fairlead.text.frontmatter_values import Path, value_at
from fairlead.text.lines import common_ending, split_lines, without_ending
from fairlead.text.outline import Line, Section, lines_of, own_end, sections_of, title_of
from fairlead.text.yaml_subset import read_tree

if TYPE_CHECKING:
    from fairlead.text.yaml_emit import Value


_OURS, _BASE, _THEIRS, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
SECTION_LEVELS = range(2, 4)  # heading levels of the parts of a document


class Document:
    """An immutable text. Its parts are parsed on demand."""

    __slots__ = ("_block", "_front", "_lines", "_sections", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._block: Block | bool | None = False  # False: not parsed yet
        self._front: dict[str, object] | None = None
        self._lines: tuple[Line, ...] | None = None
        self._sections: tuple[Section, ...] | None = None

    # -- reading ----------------------------------------------------------------------

    @property
    def block(self) -> Block | None:
        """The position of the frontmatter; raises if it is not closed."""
        if isinstance(self._block, bool):
            self._block = find_block(self.text)
        return self._block

    @property
    def shown_front(self) -> dict[str, object]:
        """The frontmatter for display, as far as it can be read. Do not modify the result."""
        if self._front is None:
            self._front = read_front(self.text)
        return self._front

    def value(self, *path: str | int) -> object:
        """A frontmatter value for display; None if there is none."""
        return value_at(self.shown_front, path)

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines. Lines of the frontmatter are not prose."""
        if self._lines is None:
            self._lines = lines_of(self.text, self._body)
        return self._lines

    @property
    def title(self) -> str:
        """The first heading of level 1; "" if there is none."""
        return title_of(self.text, self._body)

    @property
    def _body(self) -> int:
        try:
            block = self.block
        except UnclosedFrontmatter:
            block = None
        return block.body if block else 0

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections of the body."""
        if self._sections is None:
            self._sections = sections_of(self.lines)
        return self._sections

    def section(self, *titles: str, levels: range = SECTION_LEVELS) -> Section | None:
        """The first section with one of these titles, ignoring case."""
        folded = [title.casefold() for title in titles]
        for section in self.sections:
            if section.level in levels and section.title.casefold() in folded:
                return section
        return None

    def section_lines(self, section: Section, *, own: bool = False) -> tuple[Line, ...]:
        """The lines of a section; with `own`, without its subsections."""
        last = own_end(section, self.sections) if own else section.last
        return self.lines[section.first : last]

    def field(self, name: str, section: Section | None = None) -> Field | None:
        """A `Name: value` field of a section, or of the whole body."""
        return find_field(self.section_lines(section) if section else self.lines, name)

    @property
    def ending(self) -> str:
        """The line ending for new lines."""
        return common_ending(self.text)

    # -- editing ----------------------------------------------------------------------

    def require_text(self) -> Document:
        """This document. An emptied document is refused instead of being treated as new."""
        if not self.text.strip():
            raise EmptyDocument
        return self

    def require_writable(self) -> None:
        """Raise if an edit could damage this document."""
        line = conflict_line(self.text)
        if line:
            raise ConflictMarkers(line=line)
        block = self.block
        if block:
            read_tree(self.text[block.start : block.end], block.first_line)

    def set_front(self, path: Path, value: Value, *, after: str = "") -> Document:
        """Set a frontmatter value."""
        from fairlead.text import frontmatter  # loaded only for edits

        block = self._writable_block(path)
        inner = self.text[block.start : block.end]
        changed = frontmatter.set_value(
            inner, path, value, after=after, first_line=block.first_line
        )
        return self._with_inner(block, changed)

    def append_front(self, path: Path, item: Value) -> Document:
        """Append an item to a frontmatter list."""
        from fairlead.text import frontmatter

        block = self._writable_block(path)
        inner = self.text[block.start : block.end]
        return self._with_inner(
            block, frontmatter.append_item(inner, path, item, first_line=block.first_line)
        )

    def remove_front(self, path: Path) -> Document:
        """Remove a frontmatter key or item."""
        from fairlead.text import frontmatter

        block = self._writable_block(path)
        inner = self.text[block.start : block.end]
        return self._with_inner(block, frontmatter.remove(inner, path, first_line=block.first_line))

    def set_field(self, field: Field, value: str) -> Document:
        """Set the value of a field that was found in this document."""
        return self.replaced(set_field(self.text, field, value))

    def replaced(self, text: str) -> Document:
        """A document with another text; this one if the text is the same."""
        return self if text == self.text else Document(text)

    def _writable_block(self, path: Path) -> Block:
        self.require_writable()
        if self.block is None:
            raise NoPlace(f"{'.'.join(map(str, path))}: the document has no frontmatter")
        return self.block

    def _with_inner(self, block: Block, inner: str) -> Document:
        return self.replaced(self.text[: block.start] + inner + self.text[block.end :])


def conflict_line(text: str) -> int:
    """The line number of the first unresolved merge conflict; 0 if there is none."""
    # A single marker may be an example in a code fence. A marker outside a fence, or a complete
    # set of markers in order, is a merge that was never finished.
    if _OURS not in text and _END not in text:
        return 0
    start = 0
    middle = False
    fenced = False
    for number, raw in enumerate(split_lines(text), start=1):
        line = without_ending(raw)
        mark = line[:7]
        if line.lstrip(" ").startswith(("```", "~~~")):
            fenced = not fenced
        if mark not in (_OURS, _THEIRS, _END) or line[7:8] not in ("", " "):
            continue
        if mark == _OURS:
            if not fenced:
                return number
            start, middle = number, False
        elif mark == _THEIRS:
            middle = middle or bool(start)
        elif middle or not fenced:
            return start or number
    return 0
