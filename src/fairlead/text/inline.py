"""Makes values safe for one line of Markdown.

A value can never create a heading, a list item, a table cell, a fence or HTML: line breaks
become spaces, tags and images are escaped outside code spans, and control characters are refused.
"""

import re

from fairlead.core.patterns import lazy_pattern
from fairlead.text.errors import UnwritableValue
from fairlead.text.printable import is_unseen, visible

_JOINERS = "\u200c\u200d"  # part of ordinary words and emoji in many scripts, so not refused
_MARKS = lazy_pattern(
    r"\\.|`+|<(?=[!/?A-Za-z])|!\["
)  # an escaped character has no meaning of its own
_ESCAPED = {"<": "\\<", "|": "\\|", "`": "\\`", "![": "!\\["}
_SPACES = "\t\n\r\v\f\x85\u2028\u2029"


def one_line(value: str, what: str = "the value") -> str:
    """The value as one line of prose."""
    folded = " ".join(
        "".join(" " if mark in _SPACES else mark for mark in value).split(" ")
    ).strip()
    folded = " ".join(folded.split())
    if not folded:
        raise UnwritableValue(what, "is empty")
    for mark in folded:
        if is_unseen(mark) and mark not in _JOINERS:
            raise UnwritableValue(what, f"contains the control character U+{ord(mark):04X}")
    return _escape(folded)


def file_name(path: str) -> str:
    """A file name for a document; bytes that are not UTF-8 are escaped."""
    return visible(path, keep=_JOINERS)


def table_cell(value: str, what: str = "the value") -> str:
    """The value as one table cell."""
    return one_line(value, what).replace("\\|", "|").replace("|", "\\|")


def plain_text(written: str) -> str:
    """The value that `one_line` wrote: its reverse."""
    if "\\" not in written:
        return written
    for mark, escaped in _ESCAPED.items():
        written = written.replace(escaped, mark)
    return written


def _escape(text: str) -> str:
    """Escape the start of tags, comments and images outside code spans.

    An unmatched run of backticks is escaped too: it would turn the following text into code.
    """
    written, at = "", 0
    while found := _MARKS.search(text, at):
        mark, end = found[0], found.end()
        if mark[0] == "`":
            closing = re.compile(f"(?<!`){mark}(?!`)").search(text, end)
            end = closing.end() if closing else end
            mark = text[found.start() : end] if closing else "\\`" * len(mark)
        elif mark[0] != "\\":
            mark = _ESCAPED[mark]
        written += text[at : found.start()] + mark
        at = end
    return written + text[at:]
