"""Reads JSON without `json`, whose import doubles the start-up time of the interpreter.

`read_fast_json` accepts exactly RFC 8259, up to 64 levels: no NaN, no comments, no trailing
comma. If a key occurs twice, the last value counts, as in other readers; `json_edit`, which
reads files that are going to be edited, refuses them. The status line and the hooks use this.
"""

from fairlead.text.lines import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MAX_DEPTH = 64

_BOM = "\ufeff"
_END = "\0"  # follows the text, so that reading the next character never runs over the end
_SPACE = " \t\r\n"
_DIGITS = "0123456789"
_NUMBER_MARKS = "0123456789+-.eE"
_LONGEST_NUMBER = 400  # int() refuses thousands of digits
_WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_UNSAFE = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def read_fast_json(text: str) -> object:
    """Read a JSON text, or raise `JsonSyntax` at the first fault."""
    reader = _FastParser(text)
    value = reader.value()
    reader.next_mark()
    if reader.at != len(text):
        reader.refuse("text after the end of the value")
    return value


class _FastParser:
    __slots__ = ("at", "depth", "text")

    def __init__(self, text: str) -> None:
        self.text = text + _END
        self.at = 1 if text.startswith(_BOM) else 0
        self.depth = 0

    def refuse(self, why: str) -> "NoReturn":
        line, column = place_of(self.text, self.at)
        from fairlead.text.errors import JsonSyntax

        raise JsonSyntax(why, line=line, column=column)

    def next_mark(self) -> str:
        """Skip white space and return the next character."""
        mark = self.text[self.at]
        while mark in _SPACE:
            self.at += 1
            mark = self.text[self.at]
        return mark

    def value(self) -> object:
        mark = self.next_mark()
        if mark == '"':
            return self.string()
        if mark == "{":
            return self.object()
        if mark == "[":
            return self.array()
        if mark in _WORDS:
            word, meaning = _WORDS[mark]
            if not self.text.startswith(word, self.at):
                self.refuse(f"expected a value, not {mark}")
            self.at += len(word)
            return meaning
        return self.number()

    def string(self) -> str:
        """A string. Most have no escapes and are one slice of the text."""
        start = self.at + 1
        end = self.text.find('"', start)
        if end < 0:
            self.refuse("unclosed string")
        piece = self.text[start:end]
        if "\\" in piece:
            return self.escaped(start)
        self.refuse_control(piece)
        self.at = end + 1
        return piece

    def refuse_control(self, piece: str) -> None:
        if not piece.isprintable() and min(piece) < " ":
            self.refuse("control character in a string")

    def escaped(self, start: int) -> str:
        text = self.text
        pieces: list[str] = []
        while True:
            end = text.find('"', start)
            if end < 0:
                self.refuse("unclosed string")
            cut = text.find("\\", start, end)
            piece = text[start : end if cut < 0 else cut]
            self.refuse_control(piece)
            pieces.append(piece)
            if cut < 0:
                self.at = end + 1
                return "".join(pieces)
            start = self.escape(cut, pieces)

    def escape(self, cut: int, pieces: "list[str]") -> int:
        """Add the character of an escape and return the position after it."""
        meaning = _ESCAPES.get(self.text[cut + 1])
        if meaning:
            pieces.append(meaning)
            return cut + 2
        number = self.unit(cut)
        if 0xD800 <= number < 0xDC00 and self.text.startswith("\\u", cut + 6):
            low = self.unit(cut + 6)
            if 0xDC00 <= low < 0xE000:
                pieces.append(chr(0x10000 + ((number - 0xD800) << 10) + low - 0xDC00))
                return cut + 12
        pieces.append(chr(number))
        return cut + 6

    def unit(self, cut: int) -> int:
        digits = self.text[cut + 2 : cut + 6]
        is_hex = len(digits) == 4 and all(mark in "0123456789abcdefABCDEF" for mark in digits)
        if self.text[cut + 1] != "u" or not is_hex:
            self.refuse("unknown escape in a string")
        return int(digits, 16)

    def number(self) -> "int | float":
        text = self.text
        end = self.at
        while text[end] in _NUMBER_MARKS:
            end += 1
        digits = text[self.at : end]
        if not digits.isdigit() or digits[0] == "0" or len(digits) > _LONGEST_NUMBER:
            return self.unusual_number(digits)
        self.at = end
        return int(digits)

    def unusual_number(self, digits: str) -> "int | float":
        if len(digits) > _LONGEST_NUMBER or not _is_number(digits):
            self.refuse("not a value, or a number that is too long")
        self.at += len(digits)
        is_whole = digits.removeprefix("-").isdigit()
        return int(digits) if is_whole else float(digits)

    def array(self) -> "list[object]":
        self.enter()
        items: list[object] = []
        while self.goes_on("]", is_first=not items):
            items.append(self.value())
        return items

    def object(self) -> "dict[str, object]":
        self.enter()
        members: dict[str, object] = {}
        while self.goes_on("}", is_first=not members):
            if self.next_mark() != '"':
                self.refuse("a key must be a string")
            key = self.string()
            if self.next_mark() != ":":
                self.refuse("missing colon after a key")
            self.at += 1
            members[key] = self.value()
        return members

    def enter(self) -> None:
        self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH}")

    def goes_on(self, closing: str, *, is_first: bool) -> bool:
        """Whether another member follows; False consumes the closing bracket."""
        mark = self.next_mark()
        if mark == closing:
            self.at += 1
            self.depth -= 1
            return False
        if is_first:
            return True
        if mark != ",":
            self.refuse(f"missing comma or {closing}")
        self.at += 1
        if self.next_mark() == closing:
            self.refuse(f"trailing comma before {closing}")
        return True


def _is_number(text: str) -> bool:
    """The grammar of a number: sign, digits without a leading zero, fraction, exponent."""
    text += _END
    at = 1 if text[0] == "-" else 0
    after = _skip_digits(text, at)
    if after == at or (text[at] == "0" and after > at + 1):
        return False
    if text[after] == ".":
        at, after = after + 1, _skip_digits(text, after + 1)
        if after == at:
            return False
    if text[after] in "eE":
        at = after + (2 if text[after + 1] in "+-" else 1)
        after = _skip_digits(text, at)
        if after == at:
            return False
    return text[after] == _END


def _skip_digits(text: str, at: int) -> int:
    while text[at] in _DIGITS:
        at += 1
    return at


def json_string(text: str) -> str:
    """A text as a JSON string. Only printable characters stay unescaped."""
    marks = [
        _UNSAFE.get(mark) or (mark if mark >= " " and mark.isprintable() else _unit(mark))
        for mark in text
    ]
    return '"' + "".join(marks) + '"'


def _unit(mark: str) -> str:
    number = ord(mark)
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"
