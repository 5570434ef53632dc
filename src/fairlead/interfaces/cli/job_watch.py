"""`fairlead job watch`: the live table of a job that another process runs.

The tables are those of the running command. They are fed from the journal of the job, which has
the time of every event, and from the file in which the job writes what its agents do.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fairlead.interfaces.cli.live_view import (
    CouncilTable,
    ExecutionTable,
    WorkflowTable,
)
from fairlead.interfaces.cli.output import OutputStream
from fairlead.jobs.activity import readable, short_line
from fairlead.jobs.context import JobEvent
from fairlead.jobs.ledger import paid_calls
from fairlead.jobs.model import COUNCIL, EXECUTE, Job, record_as

if TYPE_CHECKING:
    from rich.console import Console

    from fairlead.app import App
    from fairlead.jobs.model import JobRecord
    from fairlead.jobs.service import JournalEntry

_SUBJECT_WIDTH = 14


def watch(app: App, job: str, *, as_events: bool) -> None:
    """Show a job until it ends or waits for a person."""
    if as_events or not sys.stdout.isatty():
        output = OutputStream(sys.stdout)
        for entries in app.jobs.follow(job):
            for entry in entries:
                output.raw(f"{(_json_line if as_events else _line)(entry)}\n")
        return
    screen = WatchScreen(app, app.jobs.record(job))
    try:
        for entries in app.jobs.follow(job):
            screen.show(entries)
        screen.end(app.jobs.present(app.jobs.record(job)).status)
    finally:
        screen.close()


class WatchScreen:
    """The tables of a watched job: that of a council, then that of the execution of its plan."""

    def __init__(self, app: App, record: JobRecord, console: Console | None = None) -> None:
        self._app = app
        self._record = record
        self._console = console
        self._clock = _JournalClock()
        self._shown_job = record.id
        self._view = self._table(record)
        self._has_begun = False

    def show(self, entries: Sequence[JournalEntry]) -> None:
        """Show new entries of the journal, and what the agents do now."""
        for entry in entries:
            self._clock.event_time = _seconds(entry.at)
            if entry.job not in (self._shown_job, self._record.id):
                self._follow_part(entry.job)
            if entry.kind == "started" or not self._has_begun:
                self._view.begin()
                self._has_begun = True
            event = JobEvent(entry.kind, entry.subject, entry.text, entry.facts)
            self._view.report(event)
        self._clock.event_time = 0.0
        if entries:
            self._look()
        for activity in self._app.jobs.activities(self._shown_job):
            self._clock.event_time = activity.at
            self._view.active(activity.subject, short_line(activity.text))
        self._clock.event_time = 0.0

    def end(self, status: str) -> None:
        """Show how the job stands when nobody runs it any more."""
        self._clock.event_time = self._clock.last_event
        self._view.ended(status)

    def close(self) -> None:
        """Leave the last table on the screen."""
        self._view.close()

    def _follow_part(self, job: str) -> None:
        self._look()
        self._view.ended("APPROVED")
        self._view.close()
        self._shown_job, self._has_begun = job, False
        self._view = self._table(self._app.jobs.record(job))

    def _table(self, record: JobRecord) -> Any:
        if record.kind == COUNCIL:
            return CouncilTable(self._console, self._clock)
        if record.kind == EXECUTE:
            return ExecutionTable(self._console, self._clock)
        return WorkflowTable(self._console, self._clock)

    def _look(self) -> None:
        """Read what the table shows beside the events."""
        record = self._app.jobs.record(self._shown_job)
        job = record_as(Job, record)
        if job and job.kind == EXECUTE:
            execution = self._app.execution.within(job.workstream)
            self._view.looked(execution.observed(job.id))
            self._show_costs(job)
        elif record.kind == COUNCIL:
            from fairlead.council.model import CouncilJob
            from fairlead.council.snapshot import watched_council

            folder = self._app.jobs.folder(record.id)
            self._view.looked(watched_council(folder.load(CouncilJob)))

    def _show_costs(self, record: Job) -> None:
        costs = dict.fromkeys(record.plans, (0, 0.0))
        for call in paid_calls(self._app.jobs.files, record):
            plan = call.call.rpartition("-")[0]
            tokens, usd = costs.get(plan, (0, 0.0))
            costs[plan] = (tokens + call.tokens, usd + call.cost_usd)
        for plan in record.plans:
            self._view.spent(plan, *costs[plan])


class _JournalClock:
    """The time of the event that is being shown; between events the present time."""

    def __init__(self) -> None:
        self.event_time = 0.0
        self.last_event = 0.0

    def __call__(self) -> float:
        if self.event_time:
            self.last_event = max(self.last_event, self.event_time)
        return self.event_time or time.time()


def _seconds(at: str) -> float:
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0


def _line(entry: JournalEntry) -> str:
    """An entry for people, as in the output of the running command."""
    text = short_line(readable(entry.text))
    subject = short_line(entry.subject).ljust(_SUBJECT_WIDTH)
    return f"{short_line(entry.at[:19])}  {subject} {short_line(entry.kind)}  {text}".rstrip()


def _json_line(entry: JournalEntry) -> str:
    members = {"version": 1, "job": entry.job, "at": entry.at, "kind": entry.kind}
    members |= {"subject": entry.subject, "text": entry.text}
    return json.dumps({**entry.facts, **members}, default=str)
