"""A planning document as a tree of parts that can be merged separately.

Every line belongs to exactly one part, so the joined parts are the document again. Blank lines
belong to the part that follows them, and comments in the frontmatter to the following key: a part
that is added or removed takes them along. Text of an unknown form becomes prose, which is merged
line by line.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.merge.derived import is_derived
from fairlead.merge.diff import Lines
from fairlead.text.document import Document
from fairlead.text.lists import ListItem, items_of
from fairlead.text.outline import Line, lines_of
from fairlead.text.tables import cells_of, tables_of

_MAX_DEPTH = 32  # deeper nesting is merged as lines

_LABEL = lazy_pattern(
    r"\*\*(?P<bold>[^*:|]{1,60})(?::\*\*|\*\*:)|(?P<plain>[^\W_][^:*|`<>]{0,39}):(?=\s|\Z)"
)
_OPENING = lazy_pattern(r" {0,3}<([A-Za-z][\w-]*)(?:\s[^<>]*)?>\s*\Z")
_CLOSING = lazy_pattern(r" {0,3}</([A-Za-z][\w-]*)>\s*\Z")
_ONE_LINE = lazy_pattern(r"\s*<([A-Za-z][\w-]*)(?:\s[^<>]*)?>(.*)</\1>\s*\Z")
_RULE = lazy_pattern(r" {0,3}([-*_])(?: *\1){2,} *\Z")
_STRUCTURE = ("#", "|", ">", "```", "~~~", "---", "***", "<")
_KEY = lazy_pattern(r"""("[^"]*"|'[^']*'|[^\s#'"\-\[{][^#]*?)\s*:(?=\s|\Z)""")
_NAME_KEYS = ("id", "name")  # they identify a frontmatter list entry that is a map
_COMMENT = lazy_pattern(r"\s+#.*\Z")


class PartKind(Enum):
    """The kind of a part."""

    DOCUMENT = "document"
    FRONT = "frontmatter"
    KEY = "key"  # of the frontmatter
    ENTRY = "entry"  # of a frontmatter list
    SECTION = "section"
    ELEMENT = "element"  # from `<task>` to `</task>`, each on a line of its own
    LIST = "list"
    ITEM = "item"
    TABLE = "table"
    ROW = "row"
    FIELD = "field"
    PROSE = "prose"
    VERBATIM = "verbatim"  # a fence or a comment


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a document with everything nested in it."""

    kind: PartKind
    name: str  # identifies the part on every side: a title, a label, the text of an item
    head: Lines  # its own first lines
    lead: Lines = ()  # the blank lines before it
    parts: tuple["Part", ...] = ()
    sections: tuple["Part", ...] = ()  # below the parts
    tail: Lines = ()  # its own last lines
    lines: Lines = ()  # all of the above except the lead


def part(
    kind: PartKind,
    name: str,
    head: Iterable[str],
    lead: Iterable[str] = (),
    *,
    parts: Sequence[Part] = (),
    sections: Sequence[Part] = (),
    tail: Iterable[str] = (),
) -> Part:
    """A part whose lines are joined once, because they are compared often."""
    head, tail = tuple(head), tuple(tail)
    lines = (*head, *joined(parts), *joined(sections), *tail)
    return Part(kind, name, head, tuple(lead), tuple(parts), tuple(sections), tail, lines)


def joined(parts: Iterable[Part]) -> Lines:
    """The lines of consecutive parts."""
    return tuple(line for each in parts for line in (*each.lead, *each.lines))


def cell_texts(row: str) -> list[str]:
    """The cells of a table row."""
    return [cell.text for cell in cells_of(lines_of(row)[0])] if row else []


def label_of(text: str) -> str:
    """The name of a field, `Name: value` or `**Name:** value`; empty if the text is no field."""
    match = _LABEL.match(text)
    return (match["bold"] or match["plain"]).strip() if match else ""


def read_parts(document: Document) -> tuple[Part, Lines]:
    """The whole document as one part, and the blank lines at its end."""
    front = read_front(document)
    parts, sections, tail = read_body(document)
    parts = (front, *parts) if front else parts
    return part(PartKind.DOCUMENT, "", (), parts=parts, sections=sections), tail


# -- the body ------------------------------------------------------------------------------


def read_body(document: Document) -> tuple[tuple[Part, ...], tuple[Part, ...], Lines]:
    """The parts before the first heading, the sections, and the blank lines at the end."""
    block = document.block
    first = sum(1 for line in document.lines if block and line.start < block.body)
    return _BodyParser(document).body(first, len(document.lines), 0)


class _BodyParser:
    """Parses the lines of one document from top to bottom."""

    def __init__(self, document: Document) -> None:
        self.lines = document.lines
        self.headings = {section.heading: section for section in document.sections}
        self.closings = _closing_lines(self.lines)

    def body(
        self, first: int, end: int, depth: int
    ) -> tuple[tuple[Part, ...], tuple[Part, ...], Lines]:
        """The parts and sections of a range of lines, and the blank lines left at its end."""
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
                part(PartKind.SECTION, heading.title, head, lead, parts=inner, sections=below)
            )
            lead, at = left, following
        return parts, tuple(sections), lead

    def outer_headings(self, first: int, end: int) -> list[int]:
        """The headings of a range that are not inside an element."""
        headings = []
        at = first
        while at < end:
            if at in self.headings:
                headings.append(at)
            at = self.closings[at] + 1 if self.closings.get(at, end) < end else at + 1
        return headings

    def blocks(self, first: int, end: int, depth: int) -> tuple[tuple[Part, ...], Lines]:
        """The parts of a range without headings, and the blank lines after the last one."""
        parts: list[Part] = []
        lead: list[str] = []
        at = first
        while at < end:
            line = self.lines[at]
            if line.is_prose and not line.text.strip():
                lead.append(line.text)
                at += 1
                continue
            block, at = self.block(at, end, depth)
            parts += [replace(block[0], lead=tuple(lead)), *block[1:]]
            lead = []
        return tuple(parts), tuple(lead)

    def block(self, at: int, end: int, depth: int) -> tuple[list[Part], int]:
        """The parts that begin at this line, and the index of the line after them."""
        line = self.lines[at]
        if not line.is_prose:
            stop = self.end_of_run(at, end, lambda below: not below.is_prose)
            return [part(PartKind.VERBATIM, "", self.texts(at, stop))], stop
        if self.closings.get(at, end) < end and depth < _MAX_DEPTH:
            return [self.element(at, depth + 1)], self.closings[at] + 1
        if _RULE.match(line.text):
            return [part(PartKind.PROSE, "", (line.text,))], at + 1
        if items_of((line,)):
            return self.bullet_list(at, end)
        if cells_of(line):
            stop = self.end_of_run(at, end, lambda below: bool(cells_of(below)))
            return [_table(self.lines[at:stop])], stop
        stop = at + 1
        while stop < end and self.continues_paragraph(stop, end):
            stop += 1
        return _fields(self.texts(at, stop)), stop

    def element(self, at: int, depth: int) -> Part:
        """A tag, named with its first one-line child (`<name>`) or its attributes."""
        close = self.closings[at]
        parts, sections, left = self.body(at + 1, close, depth)
        opening = _OPENING.match(self.lines[at].text)
        assert opening is not None
        name = opening[1]
        if parts and _ONE_LINE.match(parts[0].lines[0]):
            name += " " + parts[0].lines[0].strip()
        elif opening[0].strip() != f"<{name}>":
            name += " " + opening[0].strip()
        head, tail = (self.lines[at].text,), (*left, self.lines[close].text)
        return part(PartKind.ELEMENT, name, head, parts=parts, sections=sections, tail=tail)

    def bullet_list(self, at: int, end: int) -> tuple[list[Part], int]:
        """A list with its items, across the blank lines between them."""
        rows: list[tuple[ListItem, list[str], list[str]]] = []  # the item, its lead, its lines
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
            elif self.continues_item(index, outermost, after_blank=bool(blanks)):
                rows[-1][2].extend([*blanks, line.text])
            else:
                break
            blanks = []
            stop = index + 1
        return [part(PartKind.LIST, "", (), parts=_nested_items(rows, 0))], stop

    def continues_item(self, index: int, outermost: int, *, after_blank: bool) -> bool:
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

    def continues_paragraph(self, index: int, end: int) -> bool:
        """Whether a line belongs to the paragraph above it."""
        line = self.lines[index]
        return (
            line.is_prose
            and bool(line.text.strip())
            and self.closings.get(index, end) >= end
            and not items_of((line,))
            and not cells_of(line)
            and not _RULE.match(line.text)
        )

    def end_of_run(self, at: int, end: int, holds: Callable[[Line], bool]) -> int:
        """The index of the first line for which the condition fails."""
        while at < end and holds(self.lines[at]):
            at += 1
        return at

    def texts(self, first: int, end: int) -> Lines:
        """The texts of a range of lines."""
        return tuple(line.text for line in self.lines[first:end])


def _nested_items(rows: Sequence[tuple[ListItem, list[str], list[str]]], depth: int) -> list[Part]:
    """Items; one with a deeper indentation is nested in the item above it."""
    items: list[Part] = []
    at = 0
    while at < len(rows):
        item, lead, lines = rows[at]
        end = at + 1
        while end < len(rows) and rows[end][0].indent > item.indent:
            end += 1
        below = rows[at + 1 : end]
        parts = _nested_items(below, depth + 1) if depth < _MAX_DEPTH else []
        if not parts:
            lines = [*lines, *(line for _, blanks, texts in below for line in (*blanks, *texts))]
        label = label_of(item.text)
        # An item with a derived value is identified by its label, any other one by its text.
        name = f"{label}:" if label and is_derived(label, ()) else item.text
        items.append(part(PartKind.ITEM, name, lines, lead, parts=parts))
        at = end
    return items


def _table(lines: Sequence[Line]) -> Part:
    head = 2 if len(lines) > 1 and tables_of(lines[:2]) else 0
    rows = [part(PartKind.ROW, cells_of(line)[0].text, (line.text,)) for line in lines[head:]]
    return part(PartKind.TABLE, "", (line.text for line in lines[:head]), parts=rows)


def _fields(texts: Lines) -> list[Part]:
    """A paragraph: each field with the lines that continue it, and the prose before them."""
    starts = [at for at, text in enumerate(texts) if at == 0 or _field_name(text)]
    parts = []
    for start, end in zip(starts, [*starts[1:], len(texts)], strict=True):
        name = _field_name(texts[start])
        parts.append(part(PartKind.FIELD if name else PartKind.PROSE, name, texts[start:end]))
    return parts


def _field_name(text: str) -> str:
    element = _ONE_LINE.match(text)
    return f"<{element[1]}>" if element else label_of(text)


def _closing_lines(lines: Sequence[Line]) -> dict[int, int]:
    """For each line that opens an element, the index of the line that closes it."""
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


# -- the frontmatter -----------------------------------------------------------------------
# It is parsed by indentation alone, so that frontmatter which is not valid YAML merges by key too.


def read_front(document: Document) -> Part | None:
    """The frontmatter with its fences; None if the document has none."""
    block = document.block
    if block is None:
        return None
    lines = [line.text for line in document.lines if line.start < block.body]
    keys, left = _keys(lines[1:-1], 0)
    return part(PartKind.FRONT, "", (lines[0],), parts=keys, tail=(*left, lines[-1]))


def value_of(key: Part) -> str:
    """The text after a key's colon, on its first line."""
    text = key.head[0].strip()
    match = _KEY.match(text)
    return text[match.end() :].strip() if match else text


def scalar_name(text: str) -> str:
    """A scalar without quotes and comment, which identifies it on the other sides."""
    plain = text.strip()
    if plain[:1] in ("'", '"'):
        end = plain.find(plain[0], 1)
        return plain[1:end] if end > 0 else plain
    return _COMMENT.sub("", plain)


def flow_list(key: Part) -> tuple[str, tuple[str, ...], str] | None:
    """A value such as `[a, b]` on one line: the text before its items, the items, the text after.

    None for any other value.
    """
    line = key.head[0]
    match = _KEY.match(line.lstrip(" "))
    if len(key.lines) != 1 or not match:
        return None
    start = len(line) - len(line.lstrip(" ")) + match.end()
    start += len(line[start:]) - len(line[start:].lstrip(" "))
    end = len(_COMMENT.sub("", line).rstrip()) - 1
    if end <= start or line[start] + line[end] != "[]":
        return None
    items = _flow_items(line[start + 1 : end])
    return None if items is None else (line[: start + 1], items, line[end:])


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


def _keys(lines: Sequence[str], depth: int) -> tuple[list[Part], Lines]:
    """The keys at the indentation of the first one, and the comments after the last one."""
    groups, left = _groups(lines, is_list=False)
    return [replace(_key(group, depth), lead=lead) for lead, group in groups], left


def _key(lines: Lines, depth: int) -> Part:
    text = lines[0].strip()
    match = _KEY.match(text)
    name = scalar_name(match[1]) if match else text
    value = text[match.end() :].strip() if match else text
    below = lines[1:]
    first = next((line for line in below if _is_content(line)), "")
    deep = _indent(first)
    is_even = all(_indent(line) >= deep for line in below if _is_content(line))
    is_nested = first and is_even and (deep > _indent(lines[0]) or _is_dash(first))
    if (value and not value.startswith("#")) or depth >= _MAX_DEPTH or not is_nested:
        return part(PartKind.KEY, name, lines)
    inner, left = _entries(below, depth + 1) if _is_dash(first) else _keys(below, depth + 1)
    return part(PartKind.KEY, name, lines[:1], parts=inner, tail=left)


def _entries(lines: Sequence[str], depth: int) -> tuple[list[Part], Lines]:
    groups, left = _groups(lines, is_list=True)
    return [replace(_entry(group, depth), lead=lead) for lead, group in groups], left


def _entry(lines: Lines, depth: int) -> Part:
    """A list entry; a map is a container of its keys, named by its id."""
    text = lines[0].strip()[1:].strip()
    if not _KEY.match(text):
        name = scalar_name(text) if len(lines) == 1 else "\n".join(lines)
        return part(PartKind.ENTRY, name, lines)
    keys, left = _keys(lines[1:], depth)
    first = part(PartKind.KEY, scalar_name(text.partition(":")[0]), (text,))
    names = {key.name: scalar_name(value_of(key)) for key in (first, *keys)}
    name = next((names[key] for key in _NAME_KEYS if names.get(key)), lines[0].strip())
    return part(PartKind.ENTRY, name, lines[:1], parts=keys, tail=left)


def _groups(lines: Sequence[str], *, is_list: bool) -> tuple[list[tuple[Lines, Lines]], Lines]:
    """Each key or entry with the comments before it, and the comments after the last one."""
    indent = next((_indent(line) for line in lines if _is_content(line)), 0)
    groups: list[tuple[Lines, Lines]] = []
    comments: Lines = ()
    for line in lines:
        if not _is_content(line):
            comments = (*comments, line)
            continue
        is_start = _indent(line) <= indent and (is_list or not _is_dash(line))
        if is_start or not groups:
            groups.append((comments, (line,)))
        else:
            groups[-1] = (groups[-1][0], (*groups[-1][1], *comments, line))
        comments = ()
    return groups, comments


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip(" ").startswith("#")


def _is_dash(line: str) -> bool:
    text = line.lstrip(" ")
    return text == "-" or text.startswith("- ")
