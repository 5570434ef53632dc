"""A report page as one HTML file that loads nothing: no script, no font, no picture from elsewhere.

Every text comes from files or agents. It is filtered for secrets, escaped, and Markdown is rendered
without raw HTML and without images. The content security policy allows only the style sheet below.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

from fairlead.agents.secrets import without_secrets
from fairlead.core.patterns import lazy_pattern
from fairlead.report.formats import DARK_STYLE, STYLE, markup, svg
from fairlead.report.model import (
    Block,
    DocumentText,
    PageSection,
    PageTable,
    Paragraph,
    Picture,
    ProgramOutput,
    ReportPage,
)
from fairlead.text.printable import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_PAGE_STYLE = """\
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --line: #d1d9e0;
  --ground: #ffffff; --panel: #f6f8fa; --link: #0969da; --warn: #9a6700; --good: #1a7f37;
  --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --ground: #0d1117; --panel: #151b23; --link: #4493f8; --warn: #d29922; --good: #3fb950;
  --bad: #f85149; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 64rem; background: var(--ground);
  color: var(--text); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--line); }
a { color: var(--link); }
.status { display: inline-block; padding: .1rem .6rem; border-radius: 1rem; font-weight: 600;
  border: 1px solid currentColor; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 1rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 0 0 1.25rem; }
.scroll svg { max-width: 100%; min-width: 44rem; height: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.short { white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
td.good, td.bad, td.warn { font-weight: 600; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 1rem 0; padding: 0;
  list-style: none; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; padding: 0 1rem;
  background: var(--panel); }
summary { cursor: pointer; padding: .6rem 0; font-weight: 600; overflow-wrap: anywhere; }
pre { overflow-x: auto; font: .82rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em; }
.warning { color: var(--warn); font-weight: 600; }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
"""
_FIELD = lazy_pattern(r"[A-Z][\w /-]{0,40}:(?:\s|\Z)")
_SHORT = 20  # characters of a cell that is not broken into lines
# A colour is never the only sign: the words stand there too.
_OUTCOMES = {
    "good": frozenset({"DONE", "APPROVED", "APPROVE", "verify-passed", "approved", "complete"}),
    "bad": frozenset({"FAILED", "VETO", "verify-failed", "rejected"}),
    "warn": frozenset({"BLOCKED", "REVISE", "INTERRUPTED", "WAITING", "open"}),
}
SHEET = f"{_PAGE_STYLE}{STYLE}@media (prefers-color-scheme: dark) {{\n{DARK_STYLE}}}\n"


def html(page: ReportPage, made_at: str) -> str:
    """The page as one HTML document."""
    digest = base64.b64encode(hashlib.sha256(SHEET.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    facts = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in page.facts)
    links = "".join(
        f'<li><a href="#section-{at}">{_text(section.title)}</a></li>'
        for at, section in enumerate(page.sections, 1)
    )
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        "<!-- made by fairlead -->",
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_text(page.title)}</title>\n<style>{SHEET}</style>\n</head>\n<body>\n<main>",
        f"<h1>{_text(page.title)}</h1>",
        f'<p><span class="{_kinds("status", page.status)}">{_text(page.status)}</span></p>'
        if page.status
        else "",
        f"<dl>{facts}</dl>" if facts else "",
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>' if links else "",
        *(_section(section, at) for at, section in enumerate(page.sections, 1)),
        f"</main>\n<footer>Made by Fairlead on {_text(made_at)} from the files of the project.",
        "</footer>\n</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _section(section: PageSection, at: int) -> str:
    blocks = "\n".join(map(_block, section.blocks))
    return (
        f'<section aria-labelledby="section-{at}">\n'
        f'<h2 id="section-{at}">{_text(section.title)}</h2>\n{blocks}\n</section>'
    )


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            kind = ' class="warning"' if block.is_warning else ""
            return f"<p{kind}>{_text(block.text)}</p>"
        case PageTable():
            return _table(block)
        case DocumentText():
            return _folded(block.title, rendered(block.markdown))
        case ProgramOutput():
            return _folded(block.title, f"<pre>{_text(block.text)}</pre>")
        case Picture():
            name = _text(block.graph.title)
            return (
                f'<div class="scroll" role="region" tabindex="0" aria-label="{name}">'
                f"{svg(block.graph)}</div>"
            )


def _folded(title: str, content: str) -> str:
    return f"<details>\n<summary>{_text(title)}</summary>\n{content}\n</details>"


def _table(table: PageTable) -> str:
    def cell(tag: str, at: int, text: str, kinds: str, more: str = "") -> str:
        kinds = f"{kinds} number".strip() if at in table.numbers else kinds
        kind = f' class="{kinds}"' if kinds else ""
        return f"<{tag}{kind}{more}>{_text(text)}</{tag}>"

    head = "".join(cell("th", at, text, "", ' scope="col"') for at, text in enumerate(table.head))
    rows = "\n".join(
        "<tr>"
        + "".join(
            cell("td", at, text, _kinds("short" if len(text) <= _SHORT else "", text))
            for at, text in enumerate(row)
        )
        + "</tr>"
        for row in table.rows
    )
    name = _text(", ".join(table.head[:3]))
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="Table: {name}">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _kinds(name: str, text: str) -> str:
    """The classes of a text: its own, and that of the outcome it begins or ends with."""
    words = text.replace(":", " ").replace(",", " ").split()
    ends = {words[0], words[-1]} if words else set()
    found = next((kind for kind, known in _OUTCOMES.items() if ends & known), "")
    return f"{name} {found}".strip()


def rendered(markdown: str) -> str:
    """Markdown from a file as HTML: without raw HTML, images and frontmatter."""
    reader = _reader()
    tokens = reader.parse(visible(_body(without_secrets(markdown)[0]), keep="\n\t"))
    for token in tokens:
        token.attrs.pop("style", None)  # of aligned cells; the content security policy forbids it
        _keep_fields_apart(token.children or [])
    return str(reader.renderer.render(tokens, reader.options, {}))


def _keep_fields_apart(parts: list[Token]) -> None:
    """Break lines before fields such as `Status: done`, which Markdown joins to one paragraph."""
    for at, part in enumerate(parts):
        if part.type == "softbreak":
            line = "".join(each.content for each in parts[at + 1 : at + 5])
            if _FIELD.match(line):
                part.type = "hardbreak"


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "linkify": False})
    return reader.enable("table").disable(["image"])


def _body(markdown: str) -> str:
    lines = markdown.split("\n")
    if lines[0].rstrip("\r") != "---":
        return markdown
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip("\r") == "---"), 0)
    return "\n".join(lines[end + 1 :]) if end else markdown


def _text(text: str) -> str:
    return markup(without_secrets(text)[0])
