"""YAML scalars: the values of quoted, folded and literal text.

A doubtful form raises ValueError with the reason, and the caller adds the position. No imports:
the status line and the hooks use this module.
"""


class Plain(str):
    """An unquoted scalar: text that a typed reader might take for a number or null."""

    __slots__ = ()


_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
_NULLS = ("", "~", "null", "Null", "NULL")


def is_null(value: object) -> bool:
    """Whether the value is absent or an unquoted null."""
    return value is None or (isinstance(value, Plain) and value in _NULLS)


def strip_comment(text: str) -> "tuple[str, bool]":
    """An unquoted text without its comment, and whether it had one."""
    cut = text.find(" #")
    if cut < 0:
        return text.rstrip(" "), False
    return text[:cut].rstrip(" "), True


def single_quoted(text: str) -> "tuple[str, int] | None":
    """The value up to the closing quote and the length used; None if the quote is not closed."""
    at = 0
    while True:
        at = text.find("'", at)
        if at < 0:
            return None
        if text[at + 1 : at + 2] != "'":
            break
        at += 2
    return _fold(text[:at]).replace("''", "'"), at + 1


def double_quoted(text: str) -> "tuple[str, int] | None":
    """The value up to the closing quote and the length used; None if the quote is not closed."""
    end = 0
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        return None
    return _unescape(text[:end]), end + 1


def folded_block(header: str, lines: "list[str]", at: int, indent: int) -> "tuple[str, int]":
    """The value of a `|` or `>` scalar from line `at` on, and the index of the line after it."""
    literal = header[0] == "|"
    chomp, explicit = _header(header[1:])
    width = max(indent, 0) + explicit if explicit else _content_indent(lines, at, indent)
    text: list[str] = []
    last_break = ""
    blanks = 0
    after_blank_start = False
    while at < len(lines):
        line = lines[at]
        if line.strip(" ") == "" and len(line) <= width:
            blanks += 1
            at += 1
            continue
        if len(line) - len(line.lstrip(" ")) < width:
            break
        content = line[width:]
        starts_blank = content[0] in " \t"
        if not literal and last_break and not starts_blank and not after_blank_start:
            text.append("\n" * blanks if blanks else " ")
        else:
            text.append(last_break + "\n" * blanks)
        text.append(content)
        after_blank_start = starts_blank
        last_break = "\n"
        blanks = 0
        at += 1
    if chomp != "-":
        text.append(last_break)
    if chomp == "+":
        text.append("\n" * blanks)
    return "".join(text), at - blanks


def _header(header: str) -> "tuple[str, int]":
    chomp, explicit = "", 0
    for mark in header:
        if mark in "+-" and not chomp:
            chomp = mark
        elif mark in "123456789" and not explicit:
            explicit = int(mark)
        else:
            raise ValueError(f"{mark} after | or >")
    return chomp, explicit


def _content_indent(lines: "list[str]", at: int, indent: int) -> int:
    most_blank = 0
    for line in lines[at:]:
        if line.strip(" "):
            width = len(line) - len(line.lstrip(" "))
            if width <= indent:
                break
            if most_blank > width or line[width] == "\t":
                raise ValueError("a blank line that is indented more than the text, or a tab")
            return width
        most_blank = max(most_blank, len(line))
    if most_blank > indent:
        raise ValueError("a block with only blank lines")
    return indent + 1


def _fold(text: str) -> str:
    """Join the lines of a quoted scalar: one break becomes a space, n breaks become n - 1."""
    if "\n" not in text:
        return text
    lines = text.split("\n")
    joined = lines[0].rstrip(" \t")
    breaks = 0
    for line in lines[1:-1]:
        content = line.strip(" \t")
        breaks += 1
        if content:
            joined += ("\n" * (breaks - 1) or " ") + content
            breaks = 0
    return joined + ("\n" * breaks or " ") + lines[-1].lstrip(" \t")


def _unescape(text: str) -> str:
    if "\\" not in text:
        return _fold(text)
    parts: list[str] = []
    at = 0
    while at < len(text):
        mark = text[at]
        if mark == "\\":
            part, at = _escape(text, at + 1)
        elif mark in " \t\n":
            part, at = _blanks(text, at)
        else:
            part, at = mark, at + 1
        parts.append(part)
    return "".join(parts)


def _escape(text: str, at: int) -> "tuple[str, int]":
    """The character of an escape and the position after it."""
    mark = text[at]
    if mark == "\n":
        return _breaks(text, at + 1)  # an escaped line break joins the lines without a space
    if mark in _ESCAPES:
        return _ESCAPES[mark], at + 1
    if mark not in _HEX_ESCAPES:
        raise ValueError(f"an unknown escape \\{mark}")
    end = at + 1 + _HEX_ESCAPES[mark]
    return _character(text[at + 1 : end], _HEX_ESCAPES[mark]), end


def _blanks(text: str, at: int) -> "tuple[str, int]":
    """Spaces stay, except around a line break, where they are folded."""
    end = at
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    if text[end : end + 1] != "\n":
        return text[at:end], end
    breaks, end = _breaks(text, end + 1)
    return breaks or " ", end


def _breaks(text: str, at: int) -> "tuple[str, int]":
    """The blank lines from here on, and the position after the next indentation."""
    breaks = ""
    while True:
        while text[at : at + 1] in (" ", "\t"):
            at += 1
        if text[at : at + 1] != "\n":
            return breaks, at
        breaks += "\n"
        at += 1


def _character(digits: str, length: int) -> str:
    if len(digits) != length or not all(mark in "0123456789abcdefABCDEF" for mark in digits):
        raise ValueError("an escape with too few digits")
    number = int(digits, 16)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise ValueError("an escape that is not a character")
    return chr(number)
