"""Draw lines as the picture of a terminal, in SVG.

The format is that of rich without its remote fonts, so that viewing a page loads nothing from the
network. The terminal is dark, and light for readers who prefer light pages.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from fairlead.interfaces.cli.output import Line, Styled
from fairlead.text.printable import visible

_WIDTH = 104
_COLORS = (
    (60, 63, 72),
    (235, 110, 110),
    (130, 200, 130),
    (225, 190, 95),
    (110, 160, 235),
    (200, 130, 215),
    (100, 200, 215),
    (214, 216, 222),
)
# The same colors for readers who prefer light pages.
_LIGHT_COLORS = (
    (201, 204, 212),
    (186, 37, 37),
    (30, 122, 45),
    (140, 98, 0),
    (34, 92, 186),
    (142, 50, 160),
    (0, 116, 133),
    (36, 41, 47),
)
_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; \
font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 16px; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" \
height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture(name: str, title: str, lines: Iterable[Line]) -> str:
    """The lines as an SVG document. `name` makes the ids unique within a page."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    console = Console(
        record=True,
        width=_WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard",
        no_color=False,
        highlight=False,
        _environ={},  # the same picture in every terminal
    )
    for parts in lines:
        line = Text()
        for part in parts:
            styled = part if isinstance(part, Styled) else Styled(part, "")
            line.append(visible(styled.text), styled.style)
        console.print(line, soft_wrap=False)

    def drawn_with(theme: TerminalTheme) -> str:
        return console.export_svg(
            title=title, theme=theme, code_format=_FORMAT, unique_id=name, clear=False
        )

    drawn = drawn_with(TerminalTheme((30, 32, 38), (214, 216, 222), list(_COLORS)))
    light = drawn_with(TerminalTheme((250, 250, 252), (36, 41, 47), list(_LIGHT_COLORS)))
    rules = "\n".join(re.findall(rf"^\.{name}-r\d+ .*$", light, flags=re.MULTILINE))
    frame = "rect[rx] { fill: #fafafc; stroke: #d0d4dc }"
    title_rule = f".{name}-title {{ fill: #24292f }}"
    media = f"@media (prefers-color-scheme: light) {{\n{rules}\n{frame}\n{title_rule}\n}}\n</style>"
    return re.sub(r"[ \t]+$", "", drawn.replace("</style>", media, 1), flags=re.MULTILINE)
