"""Watching a job: a live table in a terminal, plain lines when piped, JSON lines for programs.

What agents say is shown as it is safe to show, one line at a time; the table never holds more
than a row a plan, however long the job runs.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import TYPE_CHECKING, Protocol

from fairlead.errors import OutputFault
from fairlead.interfaces.cli.show import Screen, first_line, warn
from fairlead.model.agent_events import AgentEvent, FileChanged, Retried, Said, Spent, ToolStarted
from fairlead.model.waves import Node, schedule
from fairlead.text.visible import visible
from fairlead.values import dataclass

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from fairlead.engine.site import Happening
    from fairlead.model.council_snapshot import CouncilSnapshot
    from fairlead.model.snapshot import PlanFacts, Snapshot

_WIDE = 160
_LANDED = ("merged", "summarised")
_STEPS = {"EXECUTING": "execute", "VERIFYING": "verify", "REVIEWING": "review"}


class View(Protocol):
    """A way to look on."""

    def report(self, happening: Happening) -> None:
        """Something happened."""
        ...

    def watch(self, task: str, event: AgentEvent) -> None:
        """An agent gave a sign of life."""
        ...

    def looked(self, snapshot: Snapshot) -> None:
        """The job as it is now."""
        ...

    def close(self) -> None:
        """The job has come to its end."""
        ...


class _Output(Screen):
    """What a run writes: when its reader goes, the run saves and ends, as after ^C."""

    def _write(self, text: str) -> None:
        try:
            super()._write(text)
        except OutputFault:
            self.gone()

    def gone(self) -> None:
        super().gone()
        signal.raise_signal(signal.SIGINT)


class Lines:
    """One line for everything that happens to a gate or a plan."""

    def __init__(self) -> None:
        self._screen = _Output(sys.stdout)

    def report(self, happening: Happening) -> None:
        """One line."""
        told = f"  {first_line(happening.text)}" if happening.text else ""
        at = time.strftime("%H:%M:%S")
        self._screen.line(f"{at}  {happening.subject:<14} {happening.kind}{told}")

    def watch(self, task: str, event: AgentEvent) -> None:
        """Signs of life are for the live view."""

    def looked(self, snapshot: Snapshot) -> None:
        """Nothing changes in a line that was written."""

    def seen(self, snapshot: CouncilSnapshot) -> None:
        """The same for a council."""

    def close(self) -> None:
        """Nothing to put away."""


class Events(Lines):
    """One JSON document a line, for programs."""

    def report(self, happening: Happening) -> None:
        """One line."""
        held = {
            "version": 1,
            "kind": happening.kind,
            "subject": happening.subject,
            "text": happening.text,
            **happening.facts,
        }
        self._screen.raw(json.dumps(held, default=str) + "\n")


@dataclass(slots=True)
class _Row:
    step: str = "waits"
    sign: str = ""
    at: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    call: tuple[int, float] = (0, 0.0)  # what the call that runs has told of both

    def spend(self, told: Spent) -> None:
        """Count what a call tells; a total holds the steps that were told before."""
        tokens, cost = told.usage.tokens_in + told.usage.tokens_out, told.cost_usd or 0.0
        before = self.call
        self.call = (
            (tokens or before[0], cost or before[1])
            if told.is_total
            else (before[0] + tokens, before[1] + cost)
        )
        self.tokens += self.call[0] - before[0]
        self.cost += self.call[1] - before[1]


class Live:
    """A table that follows the job: a line for all of it, a row a plan, and what happened last."""

    def __init__(self, console: Console | None = None) -> None:
        from rich import get_console
        from rich.live import Live as Refreshing

        self._rows: dict[str, _Row] = {}
        self._snapshot: Snapshot | None = None
        self._wave: dict[str, int] = {}
        self._last = ""
        self._began = time.monotonic()
        self._passed_before = 0
        self._console = console or get_console()
        self._live = Refreshing(
            get_renderable=self._page, console=self._console, refresh_per_second=4, transient=False
        )
        self._live.start()

    def report(self, happening: Happening) -> None:
        """What happens to a gate changes its row; the rest stands below the table."""
        gate = str(happening.facts.get("gate", ""))
        if gate:
            task = happening.subject.rpartition("-")[2]
            attempt = happening.facts.get("attempt", 1)
            again = f", try {attempt}" if attempt != 1 else ""
            step = _STEPS.get(gate, gate.lower())
            row = self._row(happening.subject)
            row.step, row.call = f"{step} {task.lstrip('0')}{again}", (0, 0.0)
        elif happening.kind in _LANDED:
            self._row(happening.subject).step = happening.kind
        self._last = short(f"{happening.subject} {happening.kind} {happening.text}")

    def watch(self, task: str, event: AgentEvent) -> None:
        """A sign of life."""
        row = self._row(task)
        row.at = time.monotonic()
        match event:
            case Said(text=text):
                row.sign = short(text)
            case ToolStarted(tool=tool, subject=subject):
                row.sign = short(f"{tool} {subject}")
            case FileChanged(path=path):
                row.sign = short(f"wrote {path}")
            case Retried(reason=reason):
                row.sign = short(f"asks again: {reason}")
            case Spent():
                row.spend(event)
            case _:
                pass

    def looked(self, snapshot: Snapshot) -> None:
        """The job as it is now."""
        if self._snapshot is None:
            nodes = [Node(each.id, each.depends_on, each.files) for each in snapshot.plans]
            waves = enumerate(schedule(nodes).waves, 1)
            self._wave = {plan: number for number, wave in waves for plan in wave}
            self._passed_before = len(snapshot.passed)
        self._snapshot = snapshot

    def close(self) -> None:
        """Leave the last table on the screen."""
        self._live.stop()

    def _row(self, task: str) -> _Row:
        return self._rows.setdefault(
            task.rpartition("-")[0] if task.count("-") > 1 else task, _Row()
        )

    def _page(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        if self._snapshot is None:
            return Text("")
        lines = (self._head(self._snapshot), self._table(self._snapshot), Text(self._last, "dim"))
        for line in lines:
            if isinstance(line, Text):
                line.no_wrap, line.overflow = True, "ellipsis"
        return Group(*lines)

    def _head(self, snapshot: Snapshot) -> Text:
        from rich.text import Text

        passed = len(snapshot.passed)
        total = sum(len(plan.tasks) for plan in snapshot.plans if plan.is_chosen)
        done = sum(plan.is_summarised for plan in snapshot.plans)
        elapsed = time.monotonic() - self._began
        parts = [
            f"Phase {visible(snapshot.job.phase)}",
            f"{done}/{len(snapshot.plans)} plans",
            clock_text(elapsed),
            f"{snapshot.spent.tokens:,} tokens",
            f"${snapshot.spent.usd:.2f}",
        ]
        mine = passed - self._passed_before
        if mine > 0 and total > passed:
            parts.append(f"about {clock_text(elapsed / mine * (total - passed))} left")
        return Text(" · ".join(parts), "bold")

    def _table(self, snapshot: Snapshot) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table(expand=True, box=None, pad_edge=False, header_style="dim")
        for name in ("wave", "plan", "tasks", "step"):
            table.add_column(name, no_wrap=True)
        table.add_column("last sign of life", no_wrap=True, overflow="ellipsis", ratio=1)
        for name in ("ago", "tokens", "cost"):
            table.add_column(name, no_wrap=True, justify="right")
        passed = snapshot.passed
        for plan in self._shown(snapshot):
            row = self._rows.get(plan.id, _Row())
            done = sum(task.id in passed for task in plan.tasks)
            is_alive = row.at and not plan.is_summarised
            table.add_row(
                str(self._wave.get(plan.id, "")),
                Text(visible(plan.id), "bold"),
                f"{done}/{len(plan.tasks)}",
                Text("done", "green") if plan.is_summarised else Text(row.step),
                Text(row.sign if is_alive else "", "dim"),
                clock_text(time.monotonic() - row.at) if is_alive else "",
                f"{row.tokens:,}" if row.tokens else "",
                f"${row.cost:.2f}" if row.cost else "",
            )
        return table

    def _shown(self, snapshot: Snapshot) -> list[PlanFacts]:
        """The plans by wave; where the screen is too low, those under way and the next ones."""
        room = max(self._console.height - 4, 1)
        plans = sorted(snapshot.plans, key=lambda each: (self._wave.get(each.id, 0), each.id))
        if len(plans) > room:
            begun = {gate.plan for gate in snapshot.gates}
            urgency = {each.id: (each.is_summarised, each.id not in begun) for each in plans}
            chosen = {each.id for each in sorted(plans, key=lambda each: urgency[each.id])[:room]}
            plans = [each for each in plans if each.id in chosen]
        return plans


def view(*, as_events: bool, as_json: bool, may_ask: bool = False) -> View:
    """The way to look on that fits where the output goes; a live table leaves no room to ask."""
    if as_events:
        return Events()
    if as_json:
        return Silent()
    return Live() if sys.stdout.isatty() and not may_ask else Lines()


class Silent(Lines):
    """Nothing before the one document at the end; only a long wait is told beside it."""

    def report(self, happening: Happening) -> None:
        """A wait, which nobody would understand otherwise."""
        if happening.kind == "waiting":
            warn(f"{happening.subject} waits {happening.text}")


def clock_text(seconds: float) -> str:
    """A span of time: 42 s, 3:07 or 1:02:03."""
    whole = int(seconds)
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def short(text: str) -> str:
    """One line of what somebody said, safe to show."""
    line = " ".join(visible(text).split())
    return line if len(line) <= _WIDE else line[: _WIDE - 1] + "…"
