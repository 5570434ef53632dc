"""Writes docs/pictures from the pages themselves, or says with --check which are out of step.

A picture is the page of `job show` as a terminal shows it, drawn by rich from the scenes that
the tests hold, so that it cannot show what the program does not. The format is rich's own
without its fonts from the network: nothing that is looked at here is fetched from elsewhere.
"""

import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from fairlead.interfaces.cli.council_pages import council_changes, council_page
from fairlead.interfaces.cli.show import Part, Styled
from tests.support.council_scenes import ANSWERED, PLAN, SCENES

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
WIDTH = 104
THEME = TerminalTheme(
    (30, 32, 38),
    (214, 216, 222),
    [
        (60, 63, 72),
        (235, 110, 110),
        (130, 200, 130),
        (225, 190, 95),
        (110, 160, 235),
        (200, 130, 215),
        (100, 200, 215),
        (214, 216, 222),
    ],
)
FORMAT = """\
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


def pictures() -> Mapping[str, str]:
    """Every picture by its name."""
    found = {
        f"council-{name}": _picture(f"council-{name}", "fairlead job show", council_page(scene()))
        for name, scene in SCENES.items()
    }
    changes = council_changes((PLAN, ANSWERED))
    return {**found, "council-diff": _picture("council-diff", "fairlead job show --diff", changes)}


def stale(folder: Path) -> Iterator[str]:
    """The pictures that are not as the pages are."""
    wanted = {f"{name}.svg": text for name, text in pictures().items()}
    for name in sorted({*wanted, *(path.name for path in folder.glob("*.svg"))}):
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != wanted.get(name):
            yield name


def _picture(name: str, title: str, lines: Iterable[Sequence[Part]]) -> str:
    console = Console(
        record=True,
        width=WIDTH,
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
            line.append(styled.text, styled.style)
        console.print(line, soft_wrap=False)
    drawn = console.export_svg(title=title, theme=THEME, code_format=FORMAT, unique_id=name)
    return re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)


def main() -> int:
    """Write the pictures, or look whether they are in step."""
    if "--check" in sys.argv[1:]:
        found = list(stale(PICTURES))
        for name in found:
            print(f"docs/pictures/{name} is out of step; run: make docs")
        return 1 if found else 0
    PICTURES.mkdir(exist_ok=True)
    for name in stale(PICTURES):
        text = pictures().get(name.removesuffix(".svg"))
        path = PICTURES / name
        if text is None:
            path.unlink()
        else:
            path.write_text(text, "utf-8")
        print(f"wrote docs/pictures/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
