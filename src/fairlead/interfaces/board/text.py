"""Text for the terminal: every character can be seen, and nothing is read as markup.

Pages come from the command line as lines of parts; a part is a string, or a string with a style.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from fairlead.text.printable import visible

PageLine = Sequence[str | tuple[str, str]]


def safe_text(text: str, style: str = "") -> Text:
    """A text without control characters, in one style; line breaks stay."""
    return Text(visible(text, keep="\n"), style=style, end="")


def one_row(text: str, style: str = "") -> Text:
    """The first line of a text, for a cell of a table."""
    return Text(visible(text.strip().partition("\n")[0]), style=style, no_wrap=True, end="")


def page_text(lines: Iterable[PageLine]) -> Text:
    """The lines of a page."""
    page = Text(end="")
    for number, line in enumerate(lines):
        page.append("\n" if number else "")
        for part in line:
            words, style = (part, "") if isinstance(part, str) else part
            page.append(visible(words), style)
    return page
