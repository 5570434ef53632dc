"""The subset of YAML that people's planning files use, read with the standard library only.

It reads nothing that it is not sure of: what is doubtful raises `FrontmatterSyntax` with its
place. `front` composes the same text with PyYAML before it edits, and refuses when the two
readings differ; so whatever is written was understood alike by two independent readers.

Every scalar is text; an unquoted one is `Plain`, so that a caller can tell `null` from "null".
No `re`, `typing` or `dataclasses`: each costs as much as starting the interpreter.
"""

from fairlead.faults import FrontmatterSyntax
from fairlead.text.cursor import MAX_KEY, Cursor, may_start
from fairlead.text.lines import split_lines, without_ending
from fairlead.text.scalars import Plain, folded_block, strip_comment

# A writer reads the text it has just checked again, and again before its next edit.
_RECENT = 8
_read: "dict[str, dict[str, object]]" = {}
_NOT_PRINTABLE = "\x7f\x85\u2028\u2029\ufeff\ufffe\uffff"


def read_tree(inner: str, first_line: int = 1) -> "dict[str, object]":
    """Read the inner text exactly, or raise `FrontmatterSyntax` at the first doubt.

    Nobody changes what it gives: who reads the same text soon after gets the same tree.
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
                raise FrontmatterSyntax(
                    f"character U+{ord(mark):04X}", line=first_line + number, column=column + 1
                )


class _BlockReader(Cursor):
    """Reads block maps and lists by their indentation, one inside the other."""

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
        """Go to the next line that holds something; False at the end."""
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
                self.refuse(f"key {key!r} stands twice", indent)
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
                # A compact collection: read it as if the dash were a space.
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
        """The key that starts here and the column after its colon, or None."""
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
            self.refuse("a key that is too long or holds a tab", column)
        return str(key), end + 1

    # -- values -----------------------------------------------------------------------

    def value(self, column: int, indent: int, *, under_key: bool) -> object:
        """The value that starts at this column of this line, for a parent at this indent."""
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
                self.refuse("a value goes on after a comment", below)
            text, commented = strip_comment(text)
            self.check_plain(text, below)
            parts.append("\n" * breaks if breaks else " ")
            parts.append(text)
            breaks = 0
            self.at += 1
        if breaks:
            # Blank lines after the value belong to what follows.
            self.at -= breaks
        return Plain("".join(parts))

    def check_plain(self, text: str, column: int) -> None:
        if ": " in text or text.endswith(":"):
            self.refuse("an unquoted value that holds `: `", column + (text + " ").find(": "))
        if "\t" in text:
            self.refuse("a tab in an unquoted value", column + text.index("\t"))

    def end_of_line(self, end: int) -> None:
        """Nothing but a comment may follow on this line; then go to the next."""
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
    """The first colon that ends an unquoted key, before any comment; -1 if there is none."""
    end = line.find(":", column)
    while end >= 0 and line[end + 1 : end + 2] not in ("", " "):
        end = line.find(":", end + 1)
    return -1 if end < 0 or " #" in line[column:end] else end
