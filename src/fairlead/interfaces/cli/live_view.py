"""Following a job: a live table in a terminal, plain lines in a pipe, JSON lines for programs.

Texts of agents are made safe and cut to one line, without the blocks that are meant for Fairlead.
A table has one row per plan, seat or step, so it does not grow however long the job runs.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fairlead.agents.model import AgentEvent, UsageReported
from fairlead.core.values import dataclass
from fairlead.council.seats import SEAT_NAMES
from fairlead.interfaces.cli.output import OutputStream, first_line, warn
from fairlead.jobs.activity import activity_text, readable, short_line
from fairlead.plans.waves import PlanNode, schedule
from fairlead.store.errors import OutputFault
from fairlead.text.printable import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.table import Table

    from fairlead.council.decide import CouncilSnapshot
    from fairlead.execution.model import PlanFacts, Snapshot
    from fairlead.jobs.context import JobEvent

_LANDED = ("merged", "summarised")
_STEPS = {"EXECUTING": "execute", "VERIFYING": "verify", "REVIEWING": "review"}
_VERDICT_STYLES = {"APPROVE": "green", "REVISE": "yellow", "VETO": "red", "absent": "red"}


class _RunOutput(OutputStream):
    """The output of a run. When its reader closes, the run saves and ends, as after Ctrl+C."""

    def _write(self, text: str) -> None:
        try:
            super()._write(text)
        except OutputFault:
            self.reader_closed()

    def reader_closed(self) -> None:
        super().reader_closed()
        signal.raise_signal(signal.SIGINT)


class ProgressLines:
    """One line per event. The other views replace the methods they need."""

    def __init__(self) -> None:
        self._output = _RunOutput(sys.stdout)

    def report(self, event: JobEvent) -> None:
        """Show an event of the job."""
        text = f"  {first_line(event.text)}" if event.text else ""
        self._output.line(f"{time.strftime('%H:%M:%S')}  {event.subject:<14} {event.kind}{text}")

    def watch(self, subject: str, event: AgentEvent) -> None:
        """Show an event of the agent that works on a task or seat."""

    def looked(self, snapshot: Any) -> None:
        """Show the state of the job."""

    def ended(self, status: str) -> None:
        """Show the status with which the job ended."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the screen to a question."""
        yield

    def close(self) -> None:
        """Stop showing the job."""


class EventLines(ProgressLines):
    """One JSON document per line, for programs."""

    def report(self, event: JobEvent) -> None:
        """Print the event."""
        members = {
            "version": 1,
            "kind": event.kind,
            "subject": event.subject,
            "text": event.text,
            **event.facts,
        }
        self._output.raw(json.dumps(members, default=str) + "\n")


class SilentView(ProgressLines):
    """Prints nothing, because one JSON document follows at the end; notes long waits on stderr."""

    def report(self, event: JobEvent) -> None:
        """Note a wait, so that the user knows why nothing happens."""
        if event.kind == "waiting":
            warn(f"{event.subject} waits {event.text}")


@dataclass(slots=True)
class _PlanRow:
    step: str = "waits"
    last_text: str = ""
    last_at: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    call: tuple[int, float] = (0, 0.0)  # tokens and cost of the current call so far

    def add_usage(self, event: UsageReported) -> None:
        """Count reported usage. A total includes the steps reported before it."""
        tokens, cost = event.usage.tokens_in + event.usage.tokens_out, event.cost_usd or 0.0
        before = self.call
        self.call = (
            (tokens or before[0], cost or before[1])
            if event.is_total
            else (before[0] + tokens, before[1] + cost)
        )
        self.tokens += self.call[0] - before[0]
        self.cost += self.call[1] - before[1]


@dataclass(slots=True)
class _SeatRow:
    model: str = ""
    state: str = "waits"
    asked_at: float = 0.0  # 0: is not being asked now
    seconds: float = 0.0
    tokens: int = 0
    last_text: str = ""


Shown = TypeVar("Shown")


class _LiveTable(ProgressLines, Generic[Shown]):
    """A line about the job, a table, and the last event, redrawn four times a second."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        from rich import get_console

        super().__init__()
        self._clock = clock
        self._snapshot: Shown | None = None
        self._status = ""  # empty: as the snapshot says
        self._last_event = ""
        self._started = clock()
        self._seconds = 0.0  # how long the job took, once it has ended
        self._console = console or get_console()
        self._live = self._started_live()

    def _started_live(self) -> Live:
        from rich.live import Live

        live = Live(get_renderable=self._page, console=self._console, refresh_per_second=4)
        live.start()
        return live

    def looked(self, snapshot: Shown) -> None:
        """Show the state of the job."""
        self._snapshot = snapshot

    def begin(self) -> None:
        """Count the time from now on."""
        self._started, self._seconds = self._clock(), 0.0

    def active(self, subject: str, text: str) -> None:
        """Show what an agent does in its row."""
        raise NotImplementedError

    def ended(self, status: str) -> None:
        """Show the status with which the job ended, and how long it took."""
        self._status = status
        self._seconds = self._elapsed
        self._last_event = ""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Remove the table while a person is asked."""
        self._live.transient = True
        self._live.stop()
        try:
            yield
        except BaseException:
            self._console.line()  # behind ^C; the table of a job that stops here is not shown again
            raise
        # A new one: the old one would draw over as many lines as its table had.
        self._live = self._started_live()

    def close(self) -> None:
        """Leave the last table on the screen."""
        self._live.stop()

    @property
    def _elapsed(self) -> float:
        return self._seconds or self._clock() - self._started

    def _note(self, event: JobEvent) -> None:
        """Follow the status of the job, and remember the event for the last line."""
        if event.kind == "moved":
            self._status = event.text
        elif event.kind == "finished" and "status" in event.facts:
            self.ended(str(event.facts["status"]))
            return
        # The text of a call of a seat is the name of a file.
        text = event.facts.get("verdict", "") if "role" in event.facts else readable(event.text)
        kind = "is asked" if event.kind == "call" else event.kind.replace("-", " ")
        self._last_event = short_line(f"{event.subject} {kind} {text}")

    def _page(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        if self._snapshot is None:
            return Text("")
        head = Text(" · ".join(map(visible, self._head(self._snapshot))), "bold")
        last = Text(self._last_event, "dim")
        for line in (head, last):
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(head, self._table(self._snapshot), last)

    def _head(self, snapshot: Shown) -> list[str]:
        raise NotImplementedError

    def _table(self, snapshot: Shown) -> Table:
        raise NotImplementedError


class ExecutionTable(_LiveTable["Snapshot"]):
    """The live table of an execution: one row per plan."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rows: dict[str, _PlanRow] = {}
        self._waves: dict[str, int] = {}
        self._passed_at_start = 0
        super().__init__(console, clock)

    def report(self, event: JobEvent) -> None:
        """Show a step of a gate in the row of its plan, and every event below the table."""
        gate = str(event.facts.get("gate", ""))
        if gate:
            task = event.subject.rpartition("-")[2]
            attempt = event.facts.get("attempt", 1)
            retry = f", try {attempt}" if attempt != 1 else ""
            row = self._row(event.subject)
            row.step = f"{_STEPS.get(gate, gate.lower())} {task.lstrip('0')}{retry}"
            if reason := short_line(readable(event.text)):
                self.active(event.subject, reason)  # why it is tried again
            row.call = (0, 0.0)  # a new attempt is a new call, whose totals start at zero
        elif event.kind in _LANDED:
            self._row(event.subject).step = event.kind
        self._note(event)

    def watch(self, subject: str, event: AgentEvent) -> None:
        """Show what the agent does in the row of its plan."""
        if isinstance(event, UsageReported):
            self._row(subject).add_usage(event)
        self.active(subject, activity_text(event))

    def active(self, subject: str, text: str) -> None:
        """Show what the agent does in the row of its plan."""
        row = self._row(subject)
        row.last_at = self._clock()
        row.last_text = text or row.last_text

    def spent(self, plan: str, tokens: int, cost: float) -> None:
        """Show what the calls for a plan have cost so far."""
        row = self._row(plan)
        row.tokens, row.cost = tokens, cost

    def looked(self, snapshot: Snapshot) -> None:
        """Show the state of the job. The first snapshot gives the waves."""
        if self._snapshot is None:
            nodes = [PlanNode(plan.id, plan.depends_on, plan.files) for plan in snapshot.plans]
            waves = enumerate(schedule(nodes).waves, 1)
            self._waves = {plan: number for number, wave in waves for plan in wave}
            self._passed_at_start = len(snapshot.passed)
        super().looked(snapshot)

    def _row(self, subject: str) -> _PlanRow:
        plan = subject.rpartition("-")[0] if subject.count("-") > 1 else subject
        return self._rows.setdefault(plan, _PlanRow())

    def _head(self, snapshot: Snapshot) -> list[str]:
        passed = len(snapshot.passed)
        total = sum(len(plan.tasks) for plan in snapshot.plans if plan.is_chosen)
        done = sum(plan.is_summarised for plan in snapshot.plans)
        elapsed = self._elapsed
        parts = [
            self._status or str(snapshot.job.status),
            f"Phase {snapshot.job.phase}",
            f"{done}/{len(snapshot.plans)} plans",
            duration_text(elapsed),
            f"{snapshot.spent.tokens:,} tokens",
            f"${snapshot.spent.usd:.2f}",
        ]
        # Tasks that passed before a resume say nothing about the speed of this run.
        passed_here = passed - self._passed_at_start
        if passed_here > 0 and total > passed and not self._seconds:
            remaining = elapsed / passed_here * (total - passed)
            parts.append(f"about {duration_text(remaining)} left")
        return parts

    def _table(self, snapshot: Snapshot) -> Table:
        from rich.text import Text

        table = _empty_table(("wave", "plan", "tasks", "step"), ("ago", "tokens", "cost"))
        passed = snapshot.passed
        for plan in self._listed_plans(snapshot):
            row = self._rows.get(plan.id, _PlanRow())
            done = sum(task.id in passed for task in plan.tasks)
            is_active = row.last_at and not plan.is_summarised
            table.add_row(
                str(self._waves.get(plan.id, "")),
                Text(visible(plan.id), "bold"),
                f"{done}/{len(plan.tasks)}",
                Text("done", "green") if plan.is_summarised else Text(row.step),
                Text(row.last_text if is_active else "", "dim"),
                duration_text(self._clock() - row.last_at) if is_active else "",
                f"{row.tokens:,}" if row.tokens else "",
                f"${row.cost:.2f}" if row.cost else "",
            )
        return table

    def _listed_plans(self, snapshot: Snapshot) -> list[PlanFacts]:
        """The plans by wave. On a low screen only those in progress and the next ones."""
        height = max(self._console.height - 4, 1)
        plans = sorted(snapshot.plans, key=lambda plan: (self._waves.get(plan.id, 0), plan.id))
        if len(plans) > height:
            # Chosen by urgency, then shown in the order of the waves again.
            begun = {gate.plan for gate in snapshot.gates}
            by_urgency = sorted(plans, key=lambda plan: (plan.is_summarised, plan.id not in begun))
            chosen = {plan.id for plan in by_urgency[:height]}
            plans = [plan for plan in plans if plan.id in chosen]
        return plans


class CouncilTable(_LiveTable["CouncilSnapshot"]):
    """The live table of a council: one row per seat, PM and synthesiser."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rows: dict[str, _SeatRow] = {}
        super().__init__(console, clock)

    def report(self, event: JobEvent) -> None:
        """Show calls and verdicts in the row of the seat, and every event below the table."""
        facts = event.facts
        row = self._rows.setdefault(event.subject, _SeatRow()) if "role" in facts else None
        if row and event.kind == "call":
            row.state, row.asked_at = f"is asked ({facts['role']})", self._clock()
            row.last_text = ""
            row.model = str(facts.get("model", ""))
        elif row:
            row.state = str(facts.get("verdict") or event.kind)
            row.seconds += self._clock() - row.asked_at if row.asked_at else 0
            row.asked_at = 0.0
            row.model = str(facts.get("model") or row.model)
            row.tokens += int(str(facts.get("tokens", 0)))
        self._note(event)

    def watch(self, subject: str, event: AgentEvent) -> None:
        """Show what the agent of a seat does."""
        self.active(subject, activity_text(event))

    def active(self, subject: str, text: str) -> None:
        """Show what an agent does in its row."""
        row = self._rows.setdefault(subject, _SeatRow())
        if self._clock() >= row.asked_at:  # otherwise the text is from an earlier call
            row.last_text = text or row.last_text

    def _head(self, snapshot: CouncilSnapshot) -> list[str]:
        job, spent = snapshot.job, snapshot.spent
        parts = [self._status or str(job.status), duration_text(self._elapsed)]
        if job.review_round:
            parts.append(f"round {job.review_round} of {job.max_review_rounds}")
        parts += [f"{spent.tokens:,} tokens", f"${spent.usd:.2f}"]
        return [*parts, "DEGRADED"] if job.degraded else parts

    def _table(self, snapshot: CouncilSnapshot) -> Table:
        from rich.text import Text

        table = _empty_table(("seat", "model", "now"), ("time", "tokens"))
        for name, row in sorted(self._rows.items(), key=lambda item: _seat_order(item[0])):
            seconds = row.seconds + (self._clock() - row.asked_at if row.asked_at else 0)
            table.add_row(
                Text(visible(name), "bold"),
                Text(visible(row.model)),
                Text(visible(row.state), _VERDICT_STYLES.get(row.state, "")),
                Text(row.last_text if row.asked_at else "", "dim"),
                duration_text(seconds) if seconds else "",
                f"{row.tokens:,}" if row.tokens else "",
            )
        return table


class WorkflowTable(_LiveTable[str]):
    """The live table of `new`, `discuss`, `plan`, `quick` and `debug`: one row per call."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rows: dict[str, _SeatRow] = {}
        super().__init__(console, clock)
        self.looked("")  # these jobs have no snapshot: everything is in their events

    def report(self, event: JobEvent) -> None:
        """Show calls and gates in their rows, and every event below the table."""
        facts, row = event.facts, self._rows.get(event.subject)
        if event.kind == "started":
            self._snapshot = self._snapshot or event.text
            self._status = "RUNNING"
        elif event.kind == "call":
            row = self._rows.setdefault(event.subject, _SeatRow())
            row.state, row.asked_at = event.text.removesuffix(" begins"), self._clock()
            row.last_text = ""
        elif row is not None or facts.get("gate"):
            row = self._rows.setdefault(event.subject, _SeatRow())
            row.seconds += self._clock() - row.asked_at if row.asked_at else 0
            row.asked_at = 0.0
            row.state = "done" if facts.get("status") == "ok" else event.kind.replace("-", " ")
            row.tokens += int(str(facts.get("tokens", 0)))
        self._note(event)

    def watch(self, subject: str, event: AgentEvent) -> None:
        """Show what the agent of a call does."""
        self.active(subject, activity_text(event))

    def active(self, subject: str, text: str) -> None:
        """Show what an agent does in its row."""
        row = self._rows.setdefault(subject, _SeatRow())
        if self._clock() >= row.asked_at:  # otherwise the text is from an earlier call
            row.last_text = text or row.last_text

    def looked(self, snapshot: Any) -> None:
        """An execution inside the workflow looks too; its gates are in the events already."""
        if isinstance(snapshot, str):
            self._snapshot = snapshot

    def _head(self, snapshot: str) -> list[str]:
        tokens = sum(row.tokens for row in self._rows.values())
        parts = [self._status, snapshot, duration_text(self._elapsed), f"{tokens:,} tokens"]
        return [part for part in parts if part]

    def _table(self, snapshot: str) -> Table:
        from rich.text import Text

        table = _empty_table(("step", "now"), ("time", "tokens"))
        for name, row in list(self._rows.items())[-max(self._console.height - 4, 1) :]:
            seconds = row.seconds + (self._clock() - row.asked_at if row.asked_at else 0)
            is_done = row.state in ("done", "approved")
            table.add_row(
                Text(visible(name), "bold"),
                Text(visible(row.state), "green" if is_done else ""),
                Text(row.last_text if row.asked_at else "", "dim"),
                duration_text(seconds) if seconds else "",
                f"{row.tokens:,}" if row.tokens else "",
            )
        return table


def execution_view(*, as_events: bool, as_json: bool) -> ProgressLines:
    """The view of an execution that fits the output."""
    if sys.stdout.isatty() and not (as_events or as_json):
        return ExecutionTable()
    return _line_view(as_events=as_events, as_json=as_json)


def council_view(*, as_events: bool, as_json: bool) -> ProgressLines:
    """The view of a council that fits the output."""
    if sys.stdout.isatty() and not (as_events or as_json):
        return CouncilTable()
    return _line_view(as_events=as_events, as_json=as_json)


def role_view(*, as_events: bool, as_json: bool) -> ProgressLines:
    """The view of a workflow that fits the output."""
    if sys.stdout.isatty() and not (as_events or as_json):
        return WorkflowTable()
    return _line_view(as_events=as_events, as_json=as_json)


def _line_view(*, as_events: bool, as_json: bool) -> ProgressLines:
    return EventLines() if as_events else SilentView() if as_json else ProgressLines()


def _empty_table(columns: Sequence[str], numbers: Sequence[str]) -> Table:
    """A table with a wide column for the last activity between the columns."""
    from rich.table import Table

    table = Table(expand=True, box=None, pad_edge=False, header_style="dim")
    for name in columns:
        table.add_column(name, no_wrap=True)
    table.add_column("last activity", no_wrap=True, overflow="ellipsis", ratio=1)
    for name in numbers:
        table.add_column(name, no_wrap=True, justify="right")
    return table


def _seat_order(name: str) -> int:
    """The PM first, then the seats in their order, then the synthesiser."""
    return (*("pm", *SEAT_NAMES), name).index(name)


def duration_text(seconds: float) -> str:
    """A duration: 42 s, 3:07 or 1:02:03."""
    total = int(seconds)
    minutes, rest = divmod(total, 60)
    if not minutes:
        return f"{total} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
