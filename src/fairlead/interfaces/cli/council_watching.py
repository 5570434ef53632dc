"""Watching a council: who is asked, for how long, what it took, and what they say."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from fairlead.interfaces.cli.watching import Events, Lines, Silent, clock_text, short
from fairlead.model.agent_events import AgentEvent, Retried, Said, Spent, ToolStarted
from fairlead.model.seats import NAMES
from fairlead.text.visible import visible
from fairlead.values import dataclass

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fairlead.engine.site import Happening
    from fairlead.model.council_snapshot import CouncilSnapshot

_STYLES = {"APPROVE": "green", "REVISE": "yellow", "VETO": "red", "absent": "red"}


@dataclass(slots=True)
class _Seat:
    model: str = ""
    state: str = "waits"
    since: float = 0.0
    took: float = 0.0
    tokens: int = 0
    sign: str = ""


class LiveCouncil(Lines):
    """A table that follows a council: a line for the job, a row for everybody at the table."""

    def __init__(self) -> None:
        from rich import get_console
        from rich.live import Live

        super().__init__()
        self._seats: dict[str, _Seat] = {}
        self._snapshot: CouncilSnapshot | None = None
        self._last = ""
        self._began = time.monotonic()
        self._live = Live(get_renderable=self._page, console=get_console(), refresh_per_second=4)
        self._live.start()

    def report(self, happening: Happening) -> None:
        """What happens to a seat changes its row; the rest stands below the table."""
        facts = happening.facts
        row = self._seats.setdefault(happening.subject, _Seat()) if "role" in facts else None
        if row and happening.kind == "call":
            row.state, row.since, row.sign = f"is asked ({facts['role']})", time.monotonic(), ""
            row.model = str(facts.get("model", ""))
        elif row:
            row.state = str(facts.get("verdict") or happening.kind)
            row.took += time.monotonic() - row.since if row.since else 0
            row.since = 0.0
            row.model = str(facts.get("model") or row.model)
            row.tokens += int(str(facts.get("tokens", 0)))
        self._last = short(f"{happening.subject} {happening.kind} {happening.text}")

    def watch(self, task: str, event: AgentEvent) -> None:
        """A sign of life."""
        row = self._seats.setdefault(task, _Seat())
        match event:
            case Said(text=text):
                row.sign = short(text)
            case ToolStarted(tool=tool, subject=subject):
                row.sign = short(f"{tool} {subject}")
            case Retried(reason=reason):
                row.sign = short(f"asks again: {reason}")
            case Spent() | _:
                pass

    def seen(self, snapshot: CouncilSnapshot) -> None:
        """The job as it is now."""
        self._snapshot = snapshot

    def close(self) -> None:
        """Leave the last table on the screen."""
        self._live.stop()

    def _page(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        if self._snapshot is None:
            return Text("")
        job = self._snapshot.job
        parts = [str(job.status), clock_text(time.monotonic() - self._began)]
        if job.review_round:
            parts.append(f"round {job.review_round} of {job.max_review_rounds}")
        spent = self._snapshot.spent
        parts += [f"{spent.tokens:,} tokens", f"${spent.usd:.2f}"]
        parts += ["DEGRADED"] if job.degraded else []
        table = Table(expand=True, box=None, pad_edge=False, header_style="dim")
        for name in ("seat", "model", "now"):
            table.add_column(name, no_wrap=True)
        table.add_column("last sign of life", no_wrap=True, overflow="ellipsis", ratio=1)
        for name in ("time", "tokens"):
            table.add_column(name, no_wrap=True, justify="right")
        for name, row in sorted(self._seats.items(), key=lambda each: _place(each[0])):
            took = row.took + (time.monotonic() - row.since if row.since else 0)
            table.add_row(
                Text(visible(name), "bold"),
                Text(visible(row.model)),
                Text(visible(row.state), _STYLES.get(row.state, "")),
                Text(row.sign if row.since else "", "dim"),
                clock_text(took) if took else "",
                f"{row.tokens:,}" if row.tokens else "",
            )
        head, last = Text(" · ".join(map(visible, parts)), "bold"), Text(self._last, "dim")
        for line in (head, last):
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(head, table, last)


def _place(who: str) -> int:
    """The PM first, then the seats as they sit, then the synthesiser."""
    return (*("pm", *NAMES), who).index(who)


def council_view(*, as_events: bool, as_json: bool) -> Lines:
    """The way to look on that fits where the output goes."""
    if as_events:
        return Events()
    if as_json:
        return Silent()
    return LiveCouncil() if sys.stdout.isatty() else Lines()
