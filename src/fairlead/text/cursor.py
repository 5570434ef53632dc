"""A place in the lines of frontmatter, and what can be read there on its own.

Quoted and bracketed values do not depend on the indentation of blocks; they are read here,
blocks in `subset`. Doubtful forms are refused at their place. No `re`, `typing` or
`dataclasses`: hooks use this.
"""

from fairlead.faults import FrontmatterSyntax
from fairlead.text.scalars import Plain, double_quoted, single_quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MAX_DEPTH = 64
MAX_KEY = 256
MAX_QUOTED_LINES = 100

_NEVER_FIRST = ",[]{}#&*!|>'\"%@`"
_FLOW_MARKS = ("", " ", ",", "[", "]", "{", "}")


class Cursor:
    """The lines without their endings; `at` is the line that is read next."""

    def __init__(self, lines: "list[str]", first_line: int) -> None:
        self.lines = lines
        self.first_line = first_line
        self.at = 0
        self.depth = 0

    def refuse(self, why: str, column: int) -> "NoReturn":
        """Raise at a column of the line that is being read."""
        raise FrontmatterSyntax(why, line=self.first_line + self.at, column=column + 1)

    def indent(self) -> int:
        """How many blanks the line begins with."""
        line = self.lines[self.at]
        return len(line) - len(line.lstrip(" "))

    def enter(self) -> None:
        """Go one level deeper, within the limit."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH}", 0)

    def quoted(
        self, line: str, column: int, *, indent: int = -1, keep_to_line: bool = False
    ) -> "tuple[str, int] | None":
        """A quoted scalar; its text and the column after it. It may go on below."""
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
                # The column counts on the last line that the scalar reaches.
                return text, used - (len(pieces) - len(self.lines[self.at]))
            if keep_to_line:
                return None
            self.at += 1
            if self.at >= len(self.lines) or self.at - first > MAX_QUOTED_LINES:
                # Each line is read again with those before it, so their number has a limit.
                self.at = first
                self.refuse("a quoted value that is never closed, or too long", column)
            below = self.lines[self.at]
            if below.strip(" ") and (self.indent() <= indent or below.lstrip(" ")[0] == "\t"):
                self.refuse("a quoted value that goes on without indentation", 0)
            pieces += "\n" + below

    def flow(self, column: int, indent: int) -> "tuple[object, int]":
        """A value inside brackets, and the column after it."""
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
        """An unquoted item, up to the mark that ends it."""
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
        """The column of the next thing inside brackets, going to the next line as needed."""
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
                self.refuse("a bracket that is never closed", 0)
            if self.lines[self.at].strip(" ") and self.indent() <= indent:
                self.refuse("brackets go on without indentation", 0)
            column = 0

    def flow_sequence(self, column: int, indent: int) -> "tuple[list[object], int]":
        """The items up to `]`, and the column after it."""
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
        """The entries up to `}`, and the column after it."""
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
                self.refuse(f"key {str(key)[:40]!r} stands twice or is too long", column)
            column = self.flow_space(column + 1, indent)
            if self.lines[self.at][column] in ",}":
                self.refuse("a key without a value", column)
            tree[str(key)], column = self.flow(column, indent)
            column = self.flow_separator(column, indent, "}")
        self.depth -= 1
        return tree, column + 1

    def flow_separator(self, column: int, indent: int, closing: str) -> int:
        """The column of what follows an item: the next one, or the closing bracket."""
        column = self.flow_space(column, indent)
        mark = self.lines[self.at][column]
        if mark == ",":
            return self.flow_space(column + 1, indent)
        if mark != closing:
            self.refuse(f"{mark} where a comma or {closing} belongs", column)
        return column


def may_start(line: str, column: int) -> bool:
    """Whether an unquoted scalar may start with the character at this column."""
    first = line[column]
    if first in "-?:":
        return line[column + 1 : column + 2] not in ("", " ", "\t")
    return first not in _NEVER_FIRST and first != "\t"
