"""Watching a job: a live table in a terminal, plain lines when piped, JSON lines for programs.

What agents say is shown as it is safe to show, one line at a time; the table never holds more
than a row a plan, however long the job runs.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from fairlead.interfaces.cli.show import Screen
from fairlead.model.agent_events import AgentEvent, FileChanged, Retried, Said, Spent, ToolStarted
from fairlead.text.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fairlead.engine.site import Happening
    from fairlead.model.snapshot import Snapshot

_WIDE = 60
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


class Lines:
    """One line for everything that happens to a gate or a plan."""

    def __init__(self) -> None:
        self._screen = Screen(sys.stdout)

    def report(self, happening: Happening) -> None:
        """One line."""
        told = f"  {happening.text.partition(chr(10))[0]}" if happening.text else ""
        self._screen.line(f"{happening.subject:<14} {happening.kind}{told}")

    def watch(self, task: str, event: AgentEvent) -> None:
        """Signs of life are for the live view."""

    def looked(self, snapshot: Snapshot) -> None:
        """Nothing changes in a line that was written."""

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
    step: str = "waiting"
    sign: str = ""
    at: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    began: float = field(default_factory=time.monotonic)


class Live:
    """A table that follows the job."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as Refreshing

        self._rows: dict[str, _Row] = {}
        self._snapshot: Snapshot | None = None
        self._last = ""
        self._live = Refreshing(
            get_renderable=self._table, console=Console(), refresh_per_second=4, transient=False
        )
        self._live.start()

    def report(self, happening: Happening) -> None:
        """What happens to a gate changes its row; the rest stands below the table."""
        gate = str(happening.facts.get("gate", ""))
        if gate:
            row = self._row(happening.subject)
            attempt = happening.facts.get("attempt", 1)
            row.step = f"{_STEPS.get(gate, gate.lower())} · {happening.subject} · attempt {attempt}"
        self._last = _short(f"{happening.subject} {happening.kind} {happening.text}")

    def watch(self, task: str, event: AgentEvent) -> None:
        """A sign of life."""
        row = self._row(task)
        row.at = time.monotonic()
        match event:
            case Said(text=text):
                row.sign = _short(text)
            case ToolStarted(tool=tool, subject=subject):
                row.sign = _short(f"{tool} {subject}")
            case FileChanged(path=path):
                row.sign = _short(f"wrote {path}")
            case Retried(reason=reason):
                row.sign = _short(f"asks again: {reason}")
            case Spent(usage=usage, cost_usd=cost):
                row.tokens += usage.tokens_in + usage.tokens_out
                row.cost += cost or 0
            case _:
                pass

    def looked(self, snapshot: Snapshot) -> None:
        """The job as it is now."""
        self._snapshot = snapshot

    def close(self) -> None:
        """Leave the last table on the screen."""
        self._live.stop()

    def _row(self, task: str) -> _Row:
        return self._rows.setdefault(
            task.rpartition("-")[0] if task.count("-") > 1 else task, _Row()
        )

    def _table(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table(expand=True, box=None, pad_edge=False, caption=Text(self._last, "dim"))
        for name in ("plan", "tasks", "step", "last sign of life", "tokens", "cost"):
            table.add_column(name, justify="right" if name in ("tokens", "cost") else "left")
        snapshot = self._snapshot
        passed = {gate.task for gate in snapshot.gates if gate.is_passed} if snapshot else set()
        for plan in snapshot.plans if snapshot else ():
            row = self._rows.get(plan.id, _Row(step="merged" if plan.is_summarised else "waiting"))
            done = sum(task.id in passed for task in plan.tasks)
            step = "done" if plan.is_summarised else row.step
            ago = f" ({time.monotonic() - row.at:.0f} s ago)" if row.at else ""
            table.add_row(
                Text(plan.id, "bold"),
                f"{done}/{len(plan.tasks)}",
                Text(step, "green" if plan.is_summarised else ""),
                Text(row.sign + ago, "dim"),
                f"{row.tokens:,}" if row.tokens else "",
                f"${row.cost:.2f}" if row.cost else "",
            )
        return table


def view(*, as_events: bool, as_json: bool) -> View:
    """The way to look on that fits where the output goes."""
    if as_events:
        return Events()
    if as_json:
        return _Silent()
    return Live() if sys.stdout.isatty() else Lines()


class _Silent(Lines):
    """Nothing before the one document at the end."""

    def report(self, happening: Happening) -> None:
        """Nothing."""


def _short(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= _WIDE else line[: _WIDE - 1] + "…"
