"""The body of a document taken apart for merging: sections, lists, tables, fields, prose.

Every line belongs to exactly one part, so the parts joined again are the body. What is not
understood becomes prose: a part that is merged line by line.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from fairlead.records.merge_derived import is_derived
from fairlead.records.merge_lines import Lines
from fairlead.records.merge_parts import DEEPEST, Kind, Part, part
from fairlead.text.document import Document
from fairlead.text.lists import Item, items_of
from fairlead.text.outline import Line
from fairlead.text.tables import cells_of, tables_of
from fairlead.values import replace

_LABEL = re.compile(
    r"\*\*(?P<bold>[^*:|]{1,60})(?::\*\*|\*\*:)|(?P<plain>[^\W_][^:*|`<>]{0,39}):(?=\s|\Z)"
)
_OPENING = re.compile(r" {0,3}<([A-Za-z][\w-]*)(?:\s[^<>]*)?>\s*\Z")
_CLOSING = re.compile(r" {0,3}</([A-Za-z][\w-]*)>\s*\Z")
_ONE_LINE = re.compile(r"\s*<([A-Za-z][\w-]*)(?:\s[^<>]*)?>(.*)</\1>\s*\Z")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *\Z")
_STRUCTURE = ("#", "|", ">", "```", "~~~", "---", "***", "<")


def read_body(document: Document) -> tuple[tuple[Part, ...], tuple[Part, ...], Lines]:
    """The parts before the first heading, the sections, and the blank lines at the end."""
    block = document.block
    first = sum(1 for line in document.lines if block and line.start < block.body)
    return _BodyReader(document).body(first, len(document.lines), 0)


def label_of(text: str) -> str:
    """The name of a field, `Name: value` or `**Name:** value`; empty if it is none."""
    found = _LABEL.match(text)
    return (found["bold"] or found["plain"]).strip() if found else ""


class _BodyReader:
    """Reads the lines of one document from above to below."""

    def __init__(self, document: Document) -> None:
        self.lines = document.lines
        self.headings = {section.heading: section for section in document.sections}
        self.closings = _closings(self.lines)

    def body(
        self, first: int, end: int, depth: int
    ) -> tuple[tuple[Part, ...], tuple[Part, ...], Lines]:
        """The parts and sections of a stretch, and the blank lines that are left over."""
        heads = self.outer_headings(first, end)
        parts, lead = self.blocks(first, heads[0] if heads else end, depth)
        sections: list[Part] = []
        at = 0
        while at < len(heads):
            heading = self.headings[heads[at]]
            following = at + 1
            while following < len(heads) and self.headings[heads[following]].level > heading.level:
                following += 1
            stop = heads[following] if following < len(heads) else end
            inner, below, left = self.body(heads[at] + 1, stop, depth)
            head = (self.lines[heads[at]].text,)
            sections.append(
                part(Kind.SECTION, heading.title, head, lead, parts=inner, sections=below)
            )
            lead, at = left, following
        return parts, tuple(sections), lead

    def outer_headings(self, first: int, end: int) -> list[int]:
        """The headings of a stretch that no element encloses."""
        found = []
        at = first
        while at < end:
            if at in self.headings:
                found.append(at)
            at = self.closings[at] + 1 if self.closings.get(at, end) < end else at + 1
        return found

    def blocks(self, first: int, end: int, depth: int) -> tuple[tuple[Part, ...], Lines]:
        """The parts of a stretch without headings, and the blank lines after the last."""
        parts: list[Part] = []
        lead: list[str] = []
        at = first
        while at < end:
            line = self.lines[at]
            if line.is_prose and not line.text.strip():
                lead.append(line.text)
                at += 1
                continue
            found, at = self.block(at, end, depth)
            parts += [_led(found[0], lead), *found[1:]]
            lead = []
        return tuple(parts), tuple(lead)

    def block(self, at: int, end: int, depth: int) -> tuple[list[Part], int]:
        """What begins at this line, and the line after it."""
        line = self.lines[at]
        if not line.is_prose:
            stop = self.stop(at, end, lambda below: not below.is_prose)
            return [part(Kind.VERBATIM, "", self.texts(at, stop))], stop
        if self.closings.get(at, end) < end and depth < DEEPEST:
            return [self.element(at, depth + 1)], self.closings[at] + 1
        if _RULE.match(line.text):
            return [part(Kind.PROSE, "", (line.text,))], at + 1
        if items_of((line,)):
            return self.bullets(at, end)
        if cells_of(line):
            stop = self.stop(at, end, lambda below: bool(cells_of(below)))
            return [_table(self.lines[at:stop])], stop
        stop = at + 1
        while stop < end and self.goes_on(stop, end):
            stop += 1
        return _fields(self.texts(at, stop)), stop

    def element(self, at: int, depth: int) -> Part:
        close = self.closings[at]
        parts, sections, left = self.body(at + 1, close, depth)
        found = _OPENING.match(self.lines[at].text)
        assert found is not None
        name = found[1]
        if parts and _ONE_LINE.match(parts[0].lines[0]):
            name += " " + parts[0].lines[0].strip()
        elif found[0].strip() != f"<{name}>":
            name += " " + found[0].strip()
        head, tail = (self.lines[at].text,), (*left, self.lines[close].text)
        return part(Kind.ELEMENT, name, head, parts=parts, sections=sections, tail=tail)

    def bullets(self, at: int, end: int) -> tuple[list[Part], int]:
        """A list with its items, over the blank lines between them."""
        rows: list[tuple[Item, list[str], list[str]]] = []  # the item, its lead, its lines
        outermost = _indent(self.lines[at].text)
        blanks: list[str] = []
        stop = at
        for index in range(at, end):
            line = self.lines[index]
            if line.is_prose and not line.text.strip():
                blanks.append(line.text)
                continue
            bullet = items_of((line,)) if not _RULE.match(line.text) else ()
            if bullet:
                rows.append((bullet[0], blanks, [line.text]))
            elif self.belongs(index, outermost, after_blank=bool(blanks)):
                rows[-1][2].extend([*blanks, line.text])
            else:
                break
            blanks = []
            stop = index + 1
        return [part(Kind.LIST, "", (), parts=_nested(rows, 0))], stop

    def belongs(self, index: int, outermost: int, *, after_blank: bool) -> bool:
        """Whether a line without a bullet is part of the item above it."""
        line = self.lines[index]
        if _indent(line.text) > outermost:
            return True
        above = self.lines[index - 1]
        if not line.is_prose:
            return not above.is_prose and not after_blank
        if after_blank or not above.is_prose:
            return False
        text = line.text.lstrip(" ")
        return not text.startswith(_STRUCTURE) and not _LABEL.match(text)

    def goes_on(self, index: int, end: int) -> bool:
        """Whether a paragraph reaches over this line."""
        line = self.lines[index]
        return (
            line.is_prose
            and bool(line.text.strip())
            and self.closings.get(index, end) >= end
            and not items_of((line,))
            and not cells_of(line)
            and not _RULE.match(line.text)
        )

    def stop(self, at: int, end: int, holds: Callable[[Line], bool]) -> int:
        while at < end and holds(self.lines[at]):
            at += 1
        return at

    def texts(self, first: int, end: int) -> Lines:
        return tuple(line.text for line in self.lines[first:end])


def _led(first: Part, lead: Iterable[str]) -> Part:
    return replace(first, lead=tuple(lead))


def _nested(rows: Sequence[tuple[Item, list[str], list[str]]], depth: int) -> list[Part]:
    """Items that are indented more than the one above belong to it."""
    items: list[Part] = []
    at = 0
    while at < len(rows):
        item, lead, lines = rows[at]
        end = at + 1
        while end < len(rows) and rows[end][0].indent > item.indent:
            end += 1
        below = rows[at + 1 : end]
        if depth < DEEPEST:
            parts = _nested(below, depth + 1)
        else:
            parts = []
            lines = [*lines, *(line for _, blanks, texts in below for line in (*blanks, *texts))]
        items.append(part(Kind.ITEM, item_name(item.text), lines, lead, parts=parts))
        at = end
    return items


def item_name(text: str) -> str:
    """An item is known by its text; one that holds a derived value, by its label."""
    label = label_of(text)
    return f"{label}:" if label and is_derived(label, ()) else text


def _table(lines: Sequence[Line]) -> Part:
    """Rows, below a header where there is one."""
    has_header = len(lines) > 1 and bool(tables_of(lines[:2]))
    head = 2 if has_header else 0
    rows = [part(Kind.ROW, cells_of(line)[0].text, (line.text,)) for line in lines[head:]]
    return part(Kind.TABLE, "", (line.text for line in lines[:head]), parts=rows)


def _fields(texts: Lines) -> list[Part]:
    """A paragraph: its fields, each with the lines that continue it, and the prose before them."""
    parts: list[Part] = []
    begun: list[str] = []
    for text in texts:
        if begun and _field_name(text):
            parts.append(_paragraph(begun))
            begun = []
        begun.append(text)
    return [*parts, _paragraph(begun)]


def _paragraph(texts: Sequence[str]) -> Part:
    name = _field_name(texts[0])
    return part(Kind.FIELD if name else Kind.PROSE, name, texts)


def _field_name(text: str) -> str:
    found = _ONE_LINE.match(text)
    return f"<{found[1]}>" if found else label_of(text)


def _closings(lines: Sequence[Line]) -> dict[int, int]:
    """For each line that opens an element, the line that closes it."""
    open_tags: list[tuple[str, int]] = []
    closings = {}
    for index, line in enumerate(lines):
        if not line.is_prose or "<" not in line.text:
            continue
        if opening := _OPENING.match(line.text):
            open_tags.append((opening[1], index))
        elif closing := _CLOSING.match(line.text):
            while open_tags and open_tags[-1][0] != closing[1]:
                open_tags.pop()
            if open_tags:
                closings[open_tags.pop()[1]] = index
    return closings


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))
