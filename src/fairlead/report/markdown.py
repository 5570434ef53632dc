"""A report page as Markdown, short enough for the body of a pull request.

Texts of files and agents cannot mention people, embed images or add structure: prose is escaped, and
documents stand in fences that are longer than any fence inside them.
"""

from __future__ import annotations

from fairlead.agents.secrets import without_secrets
from fairlead.core.patterns import lazy_pattern
from fairlead.report.formats import mermaid
from fairlead.report.model import (
    Block,
    DocumentText,
    PageTable,
    Paragraph,
    Picture,
    ProgramOutput,
    ReportPage,
)
from fairlead.text.printable import visible

_LONGEST = 60_000  # characters; GitHub accepts 65,536 in the body of a pull request
_SPECIAL = lazy_pattern(r"([\\`*_{}\[\]<>#|~])")
_MENTION = lazy_pattern(r"@(?=\w)")
_FENCE = lazy_pattern(r"`{3,}")


def markdown(page: ReportPage) -> str:
    """The page as Markdown; documents that do not fit are left out by name."""
    parts = ["<!-- made by fairlead -->", f"# {_text(page.title)}", ""]
    if page.status:
        parts += [f"**{_text(page.status)}**", ""]
    parts += [f"- {_text(name)}: {_text(value)}" for name, value in page.facts]
    used = sum(map(len, parts))
    for section in page.sections:
        parts += ["", f"## {_text(section.title)}", ""]
        for block in section.blocks:
            text = _block(block)
            if used + len(text) > _LONGEST:
                text = f"*{_text(_name(block))} is left out here; see the HTML report.*"
            used += len(text)
            parts += [text, ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return f"> **Note:** {_text(block.text)}" if block.is_warning else _text(block.text)
        case PageTable():
            return _table(block)
        case DocumentText():
            return _folded(block.title, block.markdown, "markdown")
        case ProgramOutput():
            return _folded(block.title, block.text, "text")
        case Picture():
            return f"```mermaid\n{mermaid(block.graph)}```"


def _name(block: Block) -> str:
    match block:
        case DocumentText() | ProgramOutput():
            return block.title
        case Picture():
            return block.graph.title
        case PageTable():
            return f"A table of {len(block.rows)} rows"
        case Paragraph():
            return "A paragraph"


def _table(table: PageTable) -> str:
    marks = ("---:" if at in table.numbers else "---" for at, _ in enumerate(table.head))
    lines = [table.head, tuple(marks)]
    text = [f"| {' | '.join(_text(cell) for cell in lines[0])} |", f"| {' | '.join(lines[1])} |"]
    text += [f"| {' | '.join(_text(cell) for cell in row)} |" for row in table.rows]
    return "\n".join(text)


def _folded(title: str, text: str, language: str) -> str:
    shown = visible(without_secrets(text)[0], keep="\n\t").rstrip("\n")
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(shown))])
    return (
        f"<details><summary>{_text(title)}</summary>\n\n"
        f"{fence}{language}\n{shown}\n{fence}\n\n</details>"
    )


def _text(text: str) -> str:
    line = " ".join(visible(without_secrets(text)[0], keep="\n\t").split())
    return _MENTION.sub("@<!-- -->", _SPECIAL.sub(r"\\\1", line))
