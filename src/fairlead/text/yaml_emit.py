"""Writes values as YAML that every reader reads back as intended.

Text that a typed reader would take for a number, a date, a boolean or null is quoted: `4.10` must
not become 4.1. A value that replaces another one keeps its kind of quotes.
"""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from fairlead.core.patterns import lazy_pattern
from fairlead.text.errors import UnwritableValue
from fairlead.text.yaml_scalars import Plain
from fairlead.text.yaml_subset import may_start

Scalar = str | int | bool | None
Value = Scalar | Sequence["Value"] | Mapping[str, "Value"]

_WORDS = frozenset("~ null true false yes no on off y n".split())
_INT = lazy_pattern(r"(0|[1-9][0-9]*)\Z")
_DATE = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_TIME = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9:]+)?\Z")
_NUMBER_LIKE = lazy_pattern(r"[-+.0-9]")
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def scalar_text(value: Scalar, *, old: str | None = None, quote: str = "") -> str:
    """A scalar on one line. `old` is the unquoted text that it replaces, `quote` its old quote."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Plain) and not quote and _fits_unquoted(value):
        return str(value)
    if quote == "'" and _fits_single(value):
        return "'" + value.replace("'", "''") + "'"
    if not quote and _fits_unquoted(value):
        kind = _kind(value)
        if kind == "text" or (
            old is not None and kind == _kind(old) and kind in ("int", "date", "time")
        ):
            return value
    return '"' + "".join(_escape(mark) for mark in value) + '"'


def key_text(key: str) -> str:
    """A key, quoted only if needed."""
    return key if _fits_unquoted(key) and _kind(key) == "text" else scalar_text(key, quote='"')


def flow_text(value: Value, *, quote: str = "") -> str:
    """A value on one line: `[a, b]`, `{k: v}` or a scalar."""
    if isinstance(value, Mapping):
        pairs = (f"{_flow_key(key)}: {flow_text(item, quote=quote)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if value is None or isinstance(value, str | int):
        text = scalar_text(value, quote=quote)
        has_marks = isinstance(value, str) and any(mark in text for mark in ",[]{}:")
        return scalar_text(value, quote='"') if has_marks and text[0] not in "\"'" else text
    return "[" + ", ".join(flow_text(item, quote=quote) for item in value) + "]"


def block_lines(value: Value, indent: int, *, quotes: Mapping[str, str] | None = None) -> list[str]:
    """A map or list as indented lines. `quotes` has the quote for the value of each key."""
    quotes = quotes or {}
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            lines += _entry_lines(
                " " * indent + key_text(key) + ":", item, indent, quotes.get(key, "")
            )
        return lines
    for item in value if is_sequence(value) else ():
        lines += item_lines(item, indent, quotes=quotes)
    return lines


def item_lines(item: Value, indent: int, *, quotes: Mapping[str, str] | None = None) -> list[str]:
    """One list item, starting with its dash."""
    dash = " " * indent + "-"
    if isinstance(item, Mapping) and item:
        lines = block_lines(item, indent + 2, quotes=quotes)
        return [dash + " " + lines[0].lstrip(" "), *lines[1:]]
    return _entry_lines(dash, item, indent, (quotes or {}).get("", ""))


def fits_literal(text: str) -> bool:
    """Whether a `|` block without an indentation digit can represent this text."""
    lines = text.removesuffix("\n").split("\n")
    plain = all(line.isprintable() and "\ufeff" not in line for line in lines)
    return plain and bool(lines[0]) and lines[0][0] != " " and bool(lines[-1].strip())


def literal_lines(text: str, indent: int) -> list[str]:
    """A text as a `|` block: the header and the lines, without a final line break."""
    header = "|" if text.endswith("\n") else "|-"
    lines = text.removesuffix("\n").split("\n")
    return [header, *(" " * indent + line if line else "" for line in lines)]


def _entry_lines(head: str, item: Value, indent: int, quote: str) -> list[str]:
    if isinstance(item, Mapping) and item:
        return [head, *block_lines(item, indent + 2)]
    if is_sequence(item) and any(isinstance(part, Mapping) or is_sequence(part) for part in item):
        return [head, *block_lines(item, indent + 2)]
    return [head + " " + flow_or_scalar(item, quote)]


def flow_or_scalar(value: Value, quote: str = "") -> str:
    """A value to write after `key: `."""
    if value is None or isinstance(value, str | int):
        return scalar_text(value, quote=quote)
    return flow_text(value, quote=quote)


def is_sequence(value: object) -> TypeGuard[Sequence[Value]]:
    """Whether a value is a list and not a text."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _flow_key(key: str) -> str:
    text = key_text(key)
    return scalar_text(key, quote='"') if any(mark in text for mark in ",[]{}:") else text


def _kind(text: str) -> str:
    """The type that a typed reader gives to an unquoted text."""
    if text.lower() in _WORDS or text in ("=", "<<"):
        return "null" if text.lower() in ("~", "null") else "bool"
    if _INT.match(text):
        return "int"
    if _DATE.match(text):
        return "date"
    if _TIME.match(text):
        return "time"
    return "other" if _NUMBER_LIKE.match(text) else "text"


def _fits_unquoted(text: str) -> bool:
    return (
        bool(text)
        and text == text.strip()
        and may_start(text, 0)
        and ": " not in text
        and " #" not in text
        and not text.endswith(":")
        and text.isprintable()
        and "\ufeff" not in text
    )


def _fits_single(text: str) -> bool:
    return text.isprintable() and "\ufeff" not in text


def _escape(mark: str) -> str:
    if mark in _ESCAPED:
        return _ESCAPED[mark]
    if "\ud800" <= mark <= "\udfff":
        raise UnwritableValue("the value", f"contains the lone surrogate U+{ord(mark):04X}")
    if mark.isprintable() and mark != "\ufeff":
        return mark
    number = ord(mark)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
