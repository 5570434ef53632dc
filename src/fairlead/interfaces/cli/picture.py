"""Draw lines as the picture of a terminal, in SVG.

The format is that of rich without its remote fonts, so that viewing a page loads nothing from the
network.
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
    theme = TerminalTheme((30, 32, 38), (214, 216, 222), list(_COLORS))
    drawn = console.export_svg(title=title, theme=theme, code_format=_FORMAT, unique_id=name)
    return re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)
