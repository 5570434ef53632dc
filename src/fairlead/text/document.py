"""A Markdown document with frontmatter: the source text, and edits that return a new one.

`Document(text).text == text` for every text. What would lose something on writing (a conflict,
unclosed or doubtful frontmatter) raises before the first edit; reading for display never does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.errors import ConflictMarkers, EmptyDocument, NoPlace, UnclosedFrontmatter
from fairlead.text.conflicts import conflict_line
from fairlead.text.fields import Field, find_field, set_field
from fairlead.text.lines import common_ending
from fairlead.text.outline import Line, Section, lines_of, own_end, sections_of, title_of
from fairlead.text.quick import Block, find_block, read_front
from fairlead.text.subset import read_tree
from fairlead.text.trees import Path, value_at

if TYPE_CHECKING:
    from fairlead.text.emit import Value


SECTION_LEVELS = range(2, 4)  # of the headings that name a part of a document


class Document:
    """An immutable text with its parts found on demand."""

    __slots__ = ("_block", "_front", "_lines", "_sections", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._block: Block | bool | None = False  # False: not looked for yet
        self._front: dict[str, object] | None = None
        self._lines: tuple[Line, ...] | None = None
        self._sections: tuple[Section, ...] | None = None

    # -- reading ----------------------------------------------------------------------

    @property
    def block(self) -> Block | None:
        """Where the frontmatter stands; raises when it is never closed."""
        if isinstance(self._block, bool):
            self._block = find_block(self.text)
        return self._block

    @property
    def shown_front(self) -> dict[str, object]:
        """The frontmatter for display, as far as it can be read; nobody changes what it gives."""
        if self._front is None:
            self._front = read_front(self.text)
        return self._front

    def value(self, *path: str | int) -> object:
        """A frontmatter value for display; None if nothing stands there."""
        return value_at(self.shown_front, path)

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines; those of the frontmatter are not prose."""
        if self._lines is None:
            self._lines = lines_of(self.text, self._body)
        return self._lines

    @property
    def title(self) -> str:
        """The first heading of the first level; empty if there is none."""
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
        """The first section with one of these titles, without regard to case."""
        wanted = [title.casefold() for title in titles]
        for section in self.sections:
            if section.level in levels and section.title.casefold() in wanted:
                return section
        return None

    def section_lines(self, section: Section, *, own: bool = False) -> tuple[Line, ...]:
        """The lines of a section; with `own`, without the sections inside it."""
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
        """This document; one that somebody has emptied is not written to as if it were new."""
        if not self.text.strip():
            raise EmptyDocument
        return self

    def require_writable(self) -> None:
        """Raise if any edit of this document could lose or bury something."""
        line = conflict_line(self.text)
        if line:
            raise ConflictMarkers(line=line)
        block = self.block
        if block:
            read_tree(self.text[block.start : block.end], block.first_line)

    def set_front(self, path: Path, value: Value, *, after: str = "") -> Document:
        """Set a frontmatter value."""
        from fairlead.text import front  # what only edits need is not loaded for reading

        block = self._writable_block(path)
        inner = self.text[block.start : block.end]
        changed = front.set_value(inner, path, value, after=after, first_line=block.first_line)
        return self._with_inner(block, changed)

    def append_front(self, path: Path, item: Value) -> Document:
        """Append an item to a frontmatter list."""
        from fairlead.text import front

        block = self._writable_block(path)
        inner = self.text[block.start : block.end]
        return self._with_inner(
            block, front.append_item(inner, path, item, first_line=block.first_line)
        )

    def remove_front(self, path: Path) -> Document:
        """Remove a frontmatter key or item."""
        from fairlead.text import front

        block = self._writable_block(path)
        inner = self.text[block.start : block.end]
        return self._with_inner(block, front.remove(inner, path, first_line=block.first_line))

    def set_field(self, field: Field, value: str) -> Document:
        """Set the value of a field that was found in this document."""
        return self.replaced(set_field(self.text, field, value))

    def replaced(self, text: str) -> Document:
        """The document with another text; itself if the text is the same."""
        return self if text == self.text else Document(text)

    def _writable_block(self, path: Path) -> Block:
        self.require_writable()
        if self.block is None:
            raise NoPlace(f"{'.'.join(map(str, path))}: the document has no frontmatter")
        return self.block

    def _with_inner(self, block: Block, inner: str) -> Document:
        return self.replaced(self.text[: block.start] + inner + self.text[block.end :])
