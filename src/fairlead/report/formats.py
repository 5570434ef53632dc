"""A graph as SVG, Mermaid or dot. Texts come from files, so each format escapes them its own way.

The SVG uses classes and no inline style, so that a page with a strict content security policy can
include it. A standalone file carries its own style sheet, for light and dark surroundings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from unicodedata import east_asian_width

from fairlead.report.layout import BOX_HEIGHT, BOX_WIDTH, PlacedNode, Route, layout
from fairlead.report.model import Graph, GraphNode, NodeState
from fairlead.text.printable import visible

MARKS = {
    NodeState.DONE: "✓",
    NodeState.RUNNING: "▶",
    NodeState.READY: "○",
    NodeState.WAITING: "·",
    NodeState.BLOCKED: "■",
    NodeState.FAILED: "✗",
}
_TITLE_CELLS = 20
_NOTE_CELLS = 29
_FITTED_WIDTH = 1600  # a wider graph would be too small to read; it scrolls instead
STYLE = """\
.graph { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.graph .box { fill: #ffffff; stroke: #8b949e; stroke-width: 1.2; }
.graph .title { font-size: 13px; font-weight: 600; fill: #1f2328; }
.graph .note { font-size: 11px; fill: #59636e; }
.graph .mark { font-size: 13px; font-weight: 700; fill: #59636e; }
.graph .edge { fill: none; stroke: #8b949e; stroke-width: 1.4; }
.graph .arrow { fill: #8b949e; }
.graph .done .box { fill: #dafbe1; stroke: #1a7f37; }
.graph .done .mark { fill: #1a7f37; }
.graph .running .box { fill: #ddf4ff; stroke: #0969da; stroke-width: 2; }
.graph .running .mark { fill: #0969da; }
.graph .ready .box { stroke: #0969da; }
.graph .ready .mark { fill: #0969da; }
.graph .blocked .box { fill: #fff8c5; stroke: #9a6700; }
.graph .blocked .mark { fill: #9a6700; }
.graph .failed .box { fill: #ffebe9; stroke: #cf222e; }
.graph .failed .mark { fill: #cf222e; }
"""
DARK_STYLE = """\
.graph .box { fill: #161b22; stroke: #6e7681; }
.graph .title { fill: #e6edf3; }
.graph .note, .graph .mark { fill: #9198a1; }
.graph .edge { stroke: #6e7681; }
.graph .arrow { fill: #6e7681; }
.graph .done .box { fill: #12261e; stroke: #3fb950; }
.graph .done .mark { fill: #3fb950; }
.graph .running .box { fill: #0d2136; stroke: #4493f8; }
.graph .running .mark, .graph .ready .mark { fill: #4493f8; }
.graph .ready .box { stroke: #4493f8; }
.graph .blocked .box { fill: #272115; stroke: #d29922; }
.graph .blocked .mark { fill: #d29922; }
.graph .failed .box { fill: #25171c; stroke: #f85149; }
.graph .failed .mark { fill: #f85149; }
"""


def svg(
    graph: Graph, *, link: Callable[[GraphNode], str] = lambda _: "", is_standalone: bool = False
) -> str:
    """A graph as SVG; `link` gives the address that a node leads to, empty for none."""
    shown = graph.readable()
    drawing = layout(shown)
    label = markup(shown.title)
    size = f'width="{drawing.width}" height="{drawing.height}"'
    view = f'viewBox="0 0 {drawing.width} {drawing.height}" {size}'
    # A picture may not contain links; with links it is a group of them.
    role = "group" if any(link(node) for node in graph.nodes) else "img"
    # A page may scale a graph that fits to its own width.
    fits = "" if is_standalone or drawing.width > _FITTED_WIDTH else " fits"
    kind = f'xmlns="http://www.w3.org/2000/svg" class="graph{fits}" role="{role}"'
    lines = ["<!-- made by fairlead -->"] if is_standalone else []
    lines += [f'<svg {kind} aria-label="{label}" {view}>', f"<title>{label}</title>"]
    if is_standalone:
        dark = f"@media (prefers-color-scheme: dark) {{\n{DARK_STYLE}}}\n"
        lines.append(f"<style>\n{STYLE}{dark}</style>")
    lines += [_svg_edge(route) for route in drawing.routes]
    lines += [_svg_node(placed, link(placed.node)) for placed in drawing.nodes]
    return "\n".join([*lines, "</svg>"]) + "\n"


def mermaid(graph: Graph) -> str:
    """A graph as a Mermaid flowchart."""
    shown = graph.readable()
    names = _short_names(shown)
    lines = ["%% made by fairlead", "flowchart LR"]
    for node in shown.nodes:
        text = "<br/>".join(
            _mermaid_text(part) for part in (f"{MARKS[node.state]} {node.title}", node.note) if part
        )
        lines.append(f'    {names[node.id]}["{text}"]:::{node.state}')
    lines += [f"    {names[a]} --> {names[b]}" for a, b in shown.edges if a in names and b in names]
    lines += [
        "    classDef done stroke:#1a7f37,stroke-width:2px",
        "    classDef running stroke:#0969da,stroke-width:3px",
        "    classDef ready stroke:#0969da",
        "    classDef waiting stroke:#8b949e",
        "    classDef blocked stroke:#9a6700,stroke-width:2px",
        "    classDef failed stroke:#cf222e,stroke-width:2px",
    ]
    return "\n".join(lines) + "\n"


_DOT_COLORS = {
    NodeState.DONE: "#1a7f37",
    NodeState.RUNNING: "#0969da",
    NodeState.READY: "#0969da",
    NodeState.WAITING: "#8b949e",
    NodeState.BLOCKED: "#9a6700",
    NodeState.FAILED: "#cf222e",
}


def dot(graph: Graph) -> str:
    """A graph in the language of Graphviz."""
    shown = graph.readable()
    names = _short_names(shown)
    lines = [
        "// made by fairlead",
        "digraph fairlead {",
        f"    label={_dot_text(shown.title)};",
        '    rankdir=LR; node [shape=box, style=rounded, fontname="sans-serif"];',
    ]
    for node in shown.nodes:
        text = "\n".join(part for part in (f"{MARKS[node.state]} {node.title}", node.note) if part)
        color = _DOT_COLORS[node.state]
        lines.append(f'    {names[node.id]} [label={_dot_text(text)}, color="{color}"];')
    lines += [f"    {names[a]} -> {names[b]};" for a, b in shown.edges if a in names and b in names]
    return "\n".join([*lines, "}"]) + "\n"


FORMATS: Mapping[str, Callable[[Graph], str]] = {
    "svg": lambda graph: svg(graph, is_standalone=True),
    "mermaid": mermaid,
    "dot": dot,
}


def markup(text: str) -> str:
    """Text for XML and HTML, in content and in quoted attributes; hidden characters are shown."""
    return escape(visible(text, keep="\n"), quote=True)


def _svg_edge(route: Route) -> str:
    (x, y), *rest = route.points
    path = [f"M{x} {y}"]
    for at, (to_x, to_y) in enumerate(rest):
        if at % 2 == 0:  # between two columns
            middle = (x + to_x) // 2
            path.append(f"C{middle} {y} {middle} {to_y} {to_x} {to_y}")
        else:  # through a column
            path.append(f"L{to_x} {to_y}")
        x, y = to_x, to_y
    line = f'<path class="edge" d="{" ".join(path)}"/>'
    arrow = f"M{x} {y} l-7 -4 v8 z"
    return f'{line}<path class="arrow" d="{arrow}"/>'


def _svg_node(placed: PlacedNode, address: str) -> str:
    node = placed.node
    title, note = markup(_cut(node.title, _TITLE_CELLS)), _cut(node.note, _NOTE_CELLS)
    full = ": ".join(part for part in (node.title, node.note, str(node.state)) if part)
    title_y = 19 if note else 27
    parts = [
        f'<g class="node {node.state}" transform="translate({placed.x} {placed.y})">',
        f"<title>{markup(full)}</title>",
        f'<rect class="box" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>',
        f'<text class="mark" x="9" y="{title_y}">{MARKS[node.state]}</text>',
        f'<text class="title" x="26" y="{title_y}">{title}</text>',
    ]
    if note:
        parts.append(f'<text class="note" x="9" y="36">{markup(note)}</text>')
    group = "".join([*parts, "</g>"])
    return f'<a href="{markup(address)}">{group}</a>' if address else group


def _cut(text: str, cells: int) -> str:
    """The text in one line, cut to a width; wide characters count twice."""
    line = " ".join(text.split())
    width = 0
    for at, mark in enumerate(line):
        width += 2 if east_asian_width(mark) in "WF" else 1
        if width > cells:
            return line[: max(at - 1, 1)].rstrip() + "…"
    return line


def _short_names(graph: Graph) -> dict[str, str]:
    """Names that every graph language accepts; ids come from file names."""
    return {node.id: f"n{at}" for at, node in enumerate(graph.nodes, 1)}


def _mermaid_text(text: str) -> str:
    line = visible(" ".join(text.split()))
    # Mermaid reads `#number;` as a character; this keeps quotes, brackets and tags as text.
    return "".join(each if each.isalnum() or each in _PLAIN else f"#{ord(each)};" for each in line)


_PLAIN = frozenset(" .,:/-_()+%✓▶○·■✗—–…")


def _dot_text(text: str) -> str:
    quoted = visible(text, keep="\n").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'
