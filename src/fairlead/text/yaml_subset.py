"""Reads the subset of YAML that planning files use, with the standard library only.

Doubtful text raises `FrontmatterSyntax` with its position instead of being guessed. Before an
edit, `frontmatter` parses the same text with PyYAML and refuses if the two results differ.

Every scalar is text. An unquoted one is `Plain`, so that callers can tell `null` from "null".
`re`, `typing` and `dataclasses` are not imported, because they are slow to load.
"""

from fairlead.text.lines import split_lines, without_ending
from fairlead.text.yaml_scalars import (
    Plain,
    double_quoted,
    folded_block,
    single_quoted,
    strip_comment,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MAX_DEPTH = 64
MAX_KEY = 256
MAX_QUOTED_LINES = 100

_NEVER_FIRST = ",[]{}#&*!|>'\"%@`"
_FLOW_MARKS = ("", " ", ",", "[", "]", "{", "}")

# A writer parses the same text several times: before, during and after an edit.
_RECENT = 8
_read: "dict[str, dict[str, object]]" = {}
_NOT_PRINTABLE = "\x7f\x85\u2028\u2029\ufeff\ufffe\uffff"


def read_tree(inner: str, first_line: int = 1) -> "dict[str, object]":
    """Read the inner text, or raise `FrontmatterSyntax` at the first doubtful character.

    Results are cached, so callers must not modify them.
    """
    tree = _read.get(inner)
    if tree is None:
        lines = [without_ending(line) for line in split_lines(inner)]
        _refuse_unprintable(inner, lines, first_line)
        tree = _BlockReader(lines, first_line).document()
        if len(_read) >= _RECENT:
            _read.clear()
        _read[inner] = tree
    return tree


def _refuse_unprintable(inner: str, lines: "list[str]", first_line: int) -> None:
    doubtful = {
        mark
        for mark in set(inner)
        if (mark < " " and mark not in "\t\n\r")
        or mark in _NOT_PRINTABLE
        or "\x80" <= mark < "\xa0"
        or "\ud800" <= mark <= "\udfff"
    }
    if not doubtful:
        return
    for number, line in enumerate(lines):
        for column, mark in enumerate(line):
            if mark in doubtful:
                from fairlead.text.errors import FrontmatterSyntax

                raise FrontmatterSyntax(
                    f"character U+{ord(mark):04X}", line=first_line + number, column=column + 1
                )


class Cursor:
    """A position in the lines, and the values that do not depend on block structure.

    `at` is the index of the current line. Lines have no endings.
    """

    def __init__(self, lines: "list[str]", first_line: int) -> None:
        self.lines = lines
        self.first_line = first_line
        self.at = 0
        self.depth = 0

    def refuse(self, why: str, column: int) -> "NoReturn":
        """Raise at a column of the current line."""
        from fairlead.text.errors import FrontmatterSyntax

        raise FrontmatterSyntax(why, line=self.first_line + self.at, column=column + 1)

    def indent(self) -> int:
        """The number of leading spaces of the current line."""
        line = self.lines[self.at]
        return len(line) - len(line.lstrip(" "))

    def enter(self) -> None:
        """Go one level deeper, up to the limit."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH}", 0)

    def quoted(
        self, line: str, column: int, *, indent: int = -1, keep_to_line: bool = False
    ) -> "tuple[str, int] | None":
        """A quoted scalar, which may span lines: its text and the column after it."""
        read = double_quoted if line[column] == '"' else single_quoted
        pieces = line[column + 1 :]
        first = self.at
        while True:
            try:
                found = read(pieces)
            except ValueError as problem:
                if keep_to_line:
                    return None
                self.refuse(str(problem), column)
            if found is not None:
                text, used = found
                if self.at == first:
                    return text, column + 1 + used
                # The column is on the last line of the scalar.
                return text, used - (len(pieces) - len(self.lines[self.at]))
            if keep_to_line:
                return None
            self.at += 1
            if self.at >= len(self.lines) or self.at - first > MAX_QUOTED_LINES:
                # Every added line is parsed again with the ones before it, so limit their number.
                self.at = first
                self.refuse("a quoted value that is not closed, or too long", column)
            below = self.lines[self.at]
            if below.strip(" ") and (self.indent() <= indent or below.lstrip(" ")[0] == "\t"):
                self.refuse("a quoted value that continues without indentation", 0)
            pieces += "\n" + below

    def flow(self, column: int, indent: int) -> "tuple[object, int]":
        """A value inside brackets and the column after it."""
        line = self.lines[self.at]
        first = line[column]
        if first == "[":
            return self.flow_sequence(column + 1, indent)
        if first == "{":
            return self.flow_mapping(column + 1, indent)
        if first in ("'", '"'):
            parsed = self.quoted(line, column, indent=indent)
            assert parsed is not None
            return parsed
        return self.flow_plain(column)

    def flow_plain(self, column: int) -> "tuple[Plain, int]":
        """An unquoted item inside brackets."""
        line = self.lines[self.at]
        lone_dash = line[column] == "-" and line[column + 1 : column + 2] in tuple(",[]{}")
        if not may_start(line, column) or line[column] in "?:" or lone_dash:
            self.refuse(f"an item that starts with {line[column]}", column)
        end = column
        while end < len(line) and line[end] not in ",[]{}":
            if line[end] == ":" and line[end + 1 : end + 2] in _FLOW_MARKS:
                break
            if line[end] == "\t" or (line[end] == "#" and line[end - 1] == " "):
                self.refuse("a tab or comment inside brackets", end)
            end += 1
        if line[end : end + 1] in ("[", "{"):
            self.refuse("a bracket inside an unquoted item", end)
        return Plain(line[column:end].rstrip(" ")), end

    def flow_space(self, column: int, indent: int) -> int:
        """Skip spaces and line breaks inside brackets; return the next column."""
        while True:
            line = self.lines[self.at]
            while line[column : column + 1] == " ":
                column += 1
            if column < len(line):
                if line[column] in "#\t":
                    self.refuse("a tab or comment inside brackets", column)
                return column
            self.at += 1
            if self.at >= len(self.lines):
                self.at -= 1
                self.refuse("unclosed bracket", 0)
            if self.lines[self.at].strip(" ") and self.indent() <= indent:
                self.refuse("brackets that continue without indentation", 0)
            column = 0

    def flow_sequence(self, column: int, indent: int) -> "tuple[list[object], int]":
        """The items up to `]` and the column after it."""
        self.enter()
        items: list[object] = []
        column = self.flow_space(column, indent)
        while self.lines[self.at][column] != "]":
            if self.lines[self.at][column] == ",":
                self.refuse("an empty item", column)
            item, column = self.flow(column, indent)
            items.append(item)
            column = self.flow_separator(column, indent, "]")
        self.depth -= 1
        return items, column + 1

    def flow_mapping(self, column: int, indent: int) -> "tuple[dict[str, object], int]":
        """The entries up to `}` and the column after it."""
        self.enter()
        tree: dict[str, object] = {}
        column = self.flow_space(column, indent)
        while self.lines[self.at][column] != "}":
            started = self.at
            if self.lines[self.at][column] in ",[{":
                self.refuse("a key that is not text", column)
            key, column = self.flow(column, indent)
            line = self.lines[self.at]
            if self.at != started or line[column : column + 2] not in (":", ": "):
                self.refuse("a key without a value", column)
            if str(key) in tree or len(str(key)) > MAX_KEY:
                self.refuse(f"key {str(key)[:40]!r} is a duplicate or too long", column)
            column = self.flow_space(column + 1, indent)
            if self.lines[self.at][column] in ",}":
                self.refuse("a key without a value", column)
            tree[str(key)], column = self.flow(column, indent)
            column = self.flow_separator(column, indent, "}")
        self.depth -= 1
        return tree, column + 1

    def flow_separator(self, column: int, indent: int, closing: str) -> int:
        """Skip a comma after an item; return the column of the next item or closing bracket."""
        column = self.flow_space(column, indent)
        mark = self.lines[self.at][column]
        if mark == ",":
            return self.flow_space(column + 1, indent)
        if mark != closing:
            self.refuse(f"expected a comma or {closing}, not {mark}", column)
        return column


def may_start(line: str, column: int) -> bool:
    """Whether an unquoted scalar may start with the character at this column."""
    first = line[column]
    if first in "-?:":
        return line[column + 1 : column + 2] not in ("", " ", "\t")
    return first not in _NEVER_FIRST and first != "\t"


class _BlockReader(Cursor):
    """Reads nested block maps and lists by their indentation."""

    def document(self) -> "dict[str, object]":
        for number, line in enumerate(self.lines):
            if line[:3] in ("---", "...") and line[3:4] in ("", " ", "\t"):
                self.at = number
                self.refuse("a document mark inside the frontmatter", 0)
        if not self.skip_blank():
            return {}
        indent = self.indent()
        if not self.key_at(indent):
            self.refuse("a line that is not `key: value`", indent)
        tree = self.mapping(indent)
        if self.skip_blank():
            self.refuse("a line indented less than the first", 0)
        return tree

    # -- lines ------------------------------------------------------------------------

    def skip_blank(self) -> bool:
        """Go to the next line with content; False at the end."""
        while self.at < len(self.lines):
            text = self.lines[self.at].lstrip(" ")
            if text and not text.startswith("#"):
                if text[0] == "\t":
                    self.refuse("a tab in the indentation", len(self.lines[self.at]) - len(text))
                return True
            self.at += 1
        return False

    # -- collections ------------------------------------------------------------------

    def mapping(self, indent: int) -> "dict[str, object]":
        self.enter()
        tree: dict[str, object] = {}
        while self.skip_blank() and self.indent() == indent:
            found = self.key_at(indent)
            if not found:
                self.refuse("a line that is not `key: value`", indent)
            key, after = found
            if key in tree:
                self.refuse(f"duplicate key {key!r}", indent)
            tree[key] = self.value(after, indent, under_key=True)
        if self.at < len(self.lines) and self.indent() > indent:
            self.refuse("indented more than the line it follows", self.indent())
        self.depth -= 1
        return tree

    def sequence(self, indent: int) -> "list[object]":
        self.enter()
        items: list[object] = []
        while self.skip_blank() and self.indent() == indent and self.dash_at(indent):
            line = self.lines[self.at]
            column = indent + 1
            while line[column : column + 1] == " ":
                column += 1
            if self.dash_at(column) or self.key_at(column):
                # A compact collection (`- key: value`): parse it as if the dash were a space.
                self.lines[self.at] = " " * column + line[column:]
                items.append(
                    self.sequence(column) if self.dash_at(column) else self.mapping(column)
                )
            else:
                items.append(self.value(column, indent, under_key=False))
        if self.at < len(self.lines) and self.indent() > indent:
            self.refuse("indented more than the line it follows", self.indent())
        self.depth -= 1
        return items

    def dash_at(self, column: int) -> bool:
        line = self.lines[self.at]
        return line[column : column + 1] == "-" and line[column + 1 : column + 2] in ("", " ")

    def key_at(self, column: int) -> "tuple[str, int] | None":
        """The key at this column and the column after its colon, or None."""
        line = self.lines[self.at]
        first = line[column : column + 1]
        if first in ("'", '"'):
            parsed = self.quoted(line, column, keep_to_line=True)
            if parsed is None:
                return None
            key, end = parsed
            while line[end : end + 1] == " ":
                end += 1
            if line[end : end + 1] != ":":
                return None
        else:
            if not first or not may_start(line, column):
                return None
            end = _colon_in(line, column)
            if end < 0:
                return None
            key = line[column:end].rstrip(" ")
        if line[end + 1 : end + 2] not in ("", " "):
            return None
        if len(key) > MAX_KEY or "\t" in line[column:end]:
            self.refuse("a key that is too long or contains a tab", column)
        return str(key), end + 1

    # -- values -----------------------------------------------------------------------

    def value(self, column: int, indent: int, *, under_key: bool) -> object:
        """The value at a column of the current line, for a parent at this indentation."""
        line = self.lines[self.at]
        while line[column : column + 1] == " ":
            column += 1
        first = line[column : column + 1]
        if first in ("", "#"):
            return self.value_below(indent, under_key=under_key)
        if first in ("|", ">"):
            return self.block_scalar(column, indent)
        if first in ("'", '"'):
            parsed = self.quoted(line, column, indent=indent)
            assert parsed is not None
            text, end = parsed
            self.end_of_line(end)
            return text
        if first in ("[", "{"):
            return self.flow_value(column, indent)
        return self.plain(column, indent)

    def value_below(self, indent: int, *, under_key: bool) -> object:
        self.at += 1
        if not self.skip_blank():
            return Plain("")
        below = self.indent()
        if self.dash_at(below) and (below > indent or (under_key and below == indent)):
            return self.sequence(below)
        if below <= indent:
            return Plain("")
        if self.key_at(below):
            return self.mapping(below)
        return self.value(below, indent, under_key=under_key)

    def plain(self, column: int, indent: int) -> Plain:
        line = self.lines[self.at]
        if not may_start(line, column):
            self.refuse(f"a value that starts with {line[column]}", column)
        text, commented = strip_comment(line[column:])
        self.check_plain(text, column)
        parts = [text]
        breaks = 0
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            text = line.strip(" ")
            if not text:
                breaks += 1
                self.at += 1
                continue
            below = self.indent()
            if below <= indent or text.startswith("#"):
                break
            if commented:
                self.refuse("a value that continues after a comment", below)
            text, commented = strip_comment(text)
            self.check_plain(text, below)
            parts.append("\n" * breaks if breaks else " ")
            parts.append(text)
            breaks = 0
            self.at += 1
        if breaks:
            # Blank lines after the value belong to the next entry.
            self.at -= breaks
        return Plain("".join(parts))

    def check_plain(self, text: str, column: int) -> None:
        if ": " in text or text.endswith(":"):
            self.refuse("an unquoted value that contains `: `", column + (text + " ").find(": "))
        if "\t" in text:
            self.refuse("a tab in an unquoted value", column + text.index("\t"))

    def end_of_line(self, end: int) -> None:
        """Go to the next line. Only a comment may follow on this one."""
        rest = self.lines[self.at][end:]
        if rest.strip(" ") and not rest.lstrip(" ").startswith("#"):
            self.refuse("text after the value", end)
        if rest.startswith("#"):
            self.refuse("a comment without a space before it", end)
        self.at += 1

    def block_scalar(self, column: int, indent: int) -> str:
        line = self.lines[self.at]
        header, _ = strip_comment(line[column:])
        self.at += 1
        start = self.at
        try:
            text, self.at = folded_block(header, self.lines, self.at, indent)
        except ValueError as problem:
            self.at = start - 1
            self.refuse(str(problem), column)
        return text

    def flow_value(self, column: int, indent: int) -> object:
        value, end = self.flow(column, indent)
        self.end_of_line(end)
        return value


def _colon_in(line: str, column: int) -> int:
    """The colon that ends an unquoted key, before any comment; -1 if there is none."""
    end = line.find(":", column)
    while end >= 0 and line[end + 1 : end + 2] not in ("", " "):
        end = line.find(":", end + 1)
    return -1 if end < 0 or " #" in line[column:end] else end
