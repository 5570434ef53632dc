"""Values below the keys of a map that a person wrote: text, lists and whole numbers.

People write a list in one line or in many, a number with leading zeros, and nothing in several
ways. A value of another kind than the one asked for counts as absent.
"""

import re
from collections.abc import Mapping

from fairlead.text.scalars import is_null

_LONGEST = 18  # digits
_NOTE = re.compile(r"(?<![ \t])[ \t]+\([^()\n]*\)")


def text_of(held: Mapping[str, object], key: str) -> str:
    """The text of a key; empty for none and for null."""
    value = held.get(key)
    return value.strip() if isinstance(value, str) and not is_null(value) else ""


def list_of(held: Mapping[str, object], *keys: str) -> tuple[str, ...]:
    """A list of texts; a line of them is divided at its commas, an item that is a map names its path."""
    value = next((held[key] for key in keys if held.get(key) is not None), None)
    if isinstance(value, str):
        return () if is_null(value) else listed(value)
    given = value if isinstance(value, list) else []
    items = (text_of(each, "path") if isinstance(each, dict) else each for each in given)
    return tuple(str(each).strip() for each in items if isinstance(each, str) and each.strip())


def whole(text: str) -> int | None:
    """A whole number in decimal: `08` is eight."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def count(digits: str) -> int:
    """The number that digits say; of one longer than any count its beginning, which is as wrong."""
    return int(digits.lstrip("0")[:_LONGEST] or "0")


def without_notes(text: str) -> str:
    """Text without what is noted in parentheses behind a word."""
    return _NOTE.sub("", text)


def listed(text: str) -> tuple[str, ...]:
    """Paths that are divided by commas or lines, without marks and notes in parentheses."""
    found = dict.fromkeys(
        item.strip().removeprefix("- ").removeprefix("* ").strip().strip("`\"'")
        for item in re.split(r"[,\n]", without_notes(text))
    )
    return tuple(item for item in found if item and item.casefold() not in ("n/a", "none", "-"))
