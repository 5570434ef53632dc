"""The status of a project in a terminal: one calm page, drawn with rich.

Texts of files pass through `visible` before rich sees them, and rich is told to read no markup
into them. Apart from `status`, because rich takes as long to import as the rest to answer.
"""

import shutil
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fairlead.engine.reports import PhaseReport, StatusReport
from fairlead.interfaces.cli.show import Part, in_stream
from fairlead.text.visible import visible

_MARKS = {
    "verified": ("✓", "green"),
    "complete": ("✓", "green"),
    "partial": ("◐", "yellow"),
    "planned": ("○", "cyan"),
}
_BAR = 12
_WIDE_BAR = 32
_BESIDE = 54  # what stands beside a phase's name
_SHORTEST = 12


def status_view(
    found: StatusReport,
    phases: Sequence[PhaseReport],
    where: str,
    remarks: Iterable[Sequence[Part]],
) -> RenderableType:
    """The whole page; the phases are those to be shown."""
    parts: list[RenderableType] = [_head(found), _progress(found), Text()]
    if phases:
        parts += [_phases(phases, found.phase), _more(found, phases), Text()]
    parts += [
        _joined(("▸ ", "cyan"), (where, "bold")),
        _joined(
            ("  next  ", "dim"), (found.next.command, "cyan"), (f"   {found.next.reason}", "dim")
        ),
    ]
    told = [_joined(*(_styled(part) for part in line)) for line in remarks]
    for line in told:
        line.no_wrap, line.overflow = True, "ellipsis"
    parts += [Text(), *told] if told else []
    return Padding(Group(*parts), (0, 1))


def _head(found: StatusReport) -> Text:
    named = f"{found.milestone} {found.milestone_name}".strip()
    stream = f"workstream {found.workstream}" if found.workstream else ""
    beside = "  ".join(part for part in (named, stream) if part)
    return _joined((found.title or "(no title)", "bold"), (f"  {beside}", "dim"))


def _progress(found: StatusReport) -> RenderableType:
    progress = found.progress
    counts = [
        f"{progress.completed_plans}/{progress.total_plans} plans",
        f"{progress.completed_phases}/{progress.total_phases} phases",
    ]
    if progress.total_tasks:
        counts.append(f"{progress.completed_tasks}/{progress.total_tasks} tasks")
    grid = Table.grid(padding=(0, 2))
    grid.add_row(
        _bar(progress.percent, 100, _WIDE_BAR),
        Text(f"{progress.percent}%", "bold"),
        Text(" · ".join(counts)),
    )
    return Group(grid, Text(visible(progress.scope), "dim"))


def _phases(phases: Sequence[PhaseReport], current: str) -> Table:
    grid = Table.grid(padding=(0, 2))
    room = max(shutil.get_terminal_size().columns - _BESIDE, _SHORTEST)
    for phase in phases:
        mark, style = _MARKS.get(phase.stage, ("·", "dim"))
        is_here = phase.number == current
        stage = phase.stage.replace("_", " ").replace("no directory", "not begun")
        is_told = phase.verification in ("", "passed")
        verified = "" if is_told else f", verification {phase.verification}"
        grid.add_row(
            Text(mark, style),
            Text(visible(phase.number), "bold" if is_here else ""),
            _cut(phase.name, room, "bold" if is_here else ""),
            _bar(phase.completed_plans, phase.total_plans, _BAR),
            Text(f"{phase.completed_plans}/{phase.total_plans}" if phase.total_plans else "-"),
            Text(visible(stage + verified), "dim"),
        )
    return grid


def _more(found: StatusReport, phases: Sequence[PhaseReport]) -> Text:
    hidden = len(found.phases) - len(phases)
    told = f"… and {hidden} more phases: {in_stream('fairlead status --all')}" if hidden else ""
    return Text(told, "dim", end="\n" if told else "")


def _bar(done: int, total: int, width: int) -> ProgressBar:
    # One that is full and one that is empty must not look alike when there is nothing to count.
    return ProgressBar(
        total=max(total, 1),
        completed=done,
        width=width,
        style="bright_black",
        complete_style="cyan",
        finished_style="green",
    )


def _cut(text: str, room: int, style: str) -> Text:
    cut = Text(visible(text), style)
    cut.truncate(room, overflow="ellipsis")
    cut.no_wrap = True
    return cut


def _styled(part: Part) -> tuple[str, str]:
    return (part, "") if isinstance(part, str) else (part.text, part.style)


def _joined(*parts: tuple[str, str]) -> Text:
    return Text.assemble(*((visible(text), style) for text, style in parts), overflow="fold")
