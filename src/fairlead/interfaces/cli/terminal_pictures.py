"""Small pictures made of characters: a sparkline, and the waves of a phase.

They carry no meaning in colours. Where the terminal cannot show their characters, plain ones are
used.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

from fairlead.interfaces.cli.output import Line, Styled, counted, table_lines
from fairlead.views.trends import TrendView

_BLOCKS, _PLAIN_BLOCKS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
_ARROW, _PLAIN_ARROW = "──▶", "-->"
_DONE, _PLAIN_DONE = "✓", "x"
_MOST_POINTS = 40
_WIDTH = 100


def is_showable(text: str, encoding: str | None = None) -> bool:
    """Whether standard output can show every character of a text."""
    try:
        text.encode(encoding or sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def sparkline(values: Sequence[float], *, plain: bool = False) -> str:
    """The last values as a row of bars; the highest value has the highest bar."""
    blocks = _PLAIN_BLOCKS if plain else _BLOCKS
    shown = [max(value, 0.0) for value in values[-_MOST_POINTS:]]
    top = max(shown, default=0.0)
    shares = (value / top if top else 0.0 for value in shown)
    return "".join(blocks[round(share * (len(blocks) - 1))] for share in shares)


def trend_lines(trends: TrendView) -> list[Line]:
    """Velocity and cost, each as a sparkline with its figures."""
    plain = not is_showable(_BLOCKS)
    minutes = [plan.minutes for plan in trends.plans]
    costs = [day.cost_usd for day in trends.days]
    rows: list[tuple[str, Sequence[float], str]] = []
    if minutes:
        mean, last = sum(minutes) / len(minutes), trends.plans[-1]
        figures = f"{counted(len(minutes), 'plan')}, {mean:.1f} min on average; last {last.minutes:.1f} min"
        rows.append(("velocity", minutes, figures))
    if costs:
        total, last_day = sum(costs), trends.days[-1]
        figures = f"${total:.2f} on {counted(len(costs), 'day')}; ${last_day.cost_usd:.2f} on {last_day.day}"
        rows.append(("cost", costs, figures))
    lines = table_lines(
        [
            (Styled(name, "dim"), sparkline(values, plain=plain), figures)
            for name, values, figures in rows
        ]
    )
    return lines or [(Styled("no plan duration and no cost is recorded yet", "dim"),)]


def wave_lines(
    waves: Sequence[Sequence[str]], done: Collection[str], width: int = _WIDTH
) -> list[Line]:
    """The waves of a phase: a column for each, or a row where the columns do not fit."""
    plain = not is_showable(_ARROW + _DONE)
    arrow, mark = (_PLAIN_ARROW, _PLAIN_DONE) if plain else (_ARROW, _DONE)
    names = [[f"{name} {mark}" if name in done else name for name in wave] for wave in waves]
    heads = [f"wave {number}" for number, _ in enumerate(waves, 1)]
    sizes = [max(map(len, [head, *wave])) for head, wave in zip(heads, names, strict=True)]
    if sum(sizes) + (len(arrow) + 4) * len(sizes) > width:
        return table_lines(
            [(f"  {head}", "  ".join(wave)) for head, wave in zip(heads, names, strict=True)]
        )
    rows: list[tuple[str, ...]] = []
    for at in range(max(map(len, names), default=0)):
        cells = [wave[at] if at < len(wave) else "" for wave in names]
        rows.append(tuple(_between(cells, arrow if at == 0 else "")))
    return table_lines([tuple(_between(heads, "")), *rows]) if rows else []


def _between(cells: Sequence[str], arrow: str) -> list[str]:
    """Cells of one row with an arrow, or nothing, between the columns."""
    found = [f"  {cells[0]}"]
    for cell in cells[1:]:
        found += [arrow, cell]
    return found
