"""Tells the person about the jobs of one project, through the channels they switched on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property

from fairlead.core.clock import Clock
from fairlead.core.concurrency import Mutex
from fairlead.core.errors import FairleadError
from fairlead.core.user_folders import NOTIFY_SETTINGS
from fairlead.core.values import dataclass
from fairlead.jobs.model import COUNCIL, JobRecord
from fairlead.jobs.notify.errors import NotifyOff, NotSent
from fairlead.jobs.notify.model import TEST_JOB, Notification, NotifyKind, notify_kind
from fairlead.jobs.notify.settings import NotifySettings, load_settings
from fairlead.project.state.documents import moment


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a message in one channel."""

    channel: str
    ok: bool
    detail: str  # why it was not sent


@dataclass(frozen=True, slots=True)
class NotifyStatus:
    """What is switched on, without secrets."""

    file: str
    is_on: bool
    desktop: bool
    desktop_program: str
    bell: bool
    webhook: str
    events: tuple[str, ...]


class Notifier:
    """Sends messages about the jobs of one project."""

    def __init__(self, folder: str, project: str, clock: Clock) -> None:
        self._folder = folder  # the person's configuration
        self._project = project
        self._clock = clock
        self._council = ""  # the council of this process, which reports for its execution
        self._last: dict[str, NotifyKind] = {}
        self._turn = Mutex()

    @property
    def file(self) -> str:
        """The file with the settings."""
        return os.path.join(self._folder, NOTIFY_SETTINGS)

    @cached_property
    def settings(self) -> NotifySettings:
        """What the person's file says; raises what is wrong with it."""
        return load_settings(self._folder)

    def status(self) -> NotifyStatus:
        """What is switched on."""
        from fairlead.jobs.notify import channels

        settings = self.settings
        return NotifyStatus(
            file=self.file,
            is_on=settings.is_on,
            desktop=settings.desktop,
            desktop_program=channels.desktop_program(self._project),
            bell=settings.bell,
            webhook=settings.webhook.shown if settings.webhook else "",
            events=tuple(str(event) for event in settings.events),
        )

    def observe(
        self, job: JobRecord, event: str, facts: Mapping[str, object], *, may_run_commands: bool
    ) -> str:
        """Send a message if an event is worth one; return what could not be sent, and why."""
        if job.kind == COUNCIL:
            self._council = job.id
        kind = notify_kind(event, facts, may_run_commands=may_run_commands)
        if kind is None or job.is_rehearsed:
            return ""
        is_part = bool(self._council) and job.kind != COUNCIL
        if is_part and kind is not NotifyKind.WAITS:
            return ""  # the council says how it ended
        name = self._council or job.id
        with self._turn:  # tasks of a job run side by side
            is_repeated = self._last.get(name) is kind and event != "question"
            self._last[name] = kind
            if is_repeated:
                return ""  # a job that ends with an open question has said so
            try:
                if not self.settings.is_on or kind not in self.settings.events:
                    return ""
            except FairleadError as problem:
                return str(problem)
            deliveries = self._deliver(self._message(kind, name, job, facts))
        return "; ".join(f"{each.channel}: {each.detail}" for each in deliveries if not each.ok)

    def test_message(self) -> Notification:
        """The message of a test."""
        self._require_on()
        return self._made(NotifyKind.TEST, TEST_JOB, command="")

    def test(self) -> tuple[Delivery, ...]:
        """Send a test through every channel that is on; raise if one does not take it."""
        deliveries = self._deliver(self.test_message())
        failed = tuple(f"{each.channel}: {each.detail}" for each in deliveries if not each.ok)
        if failed:
            raise NotSent(failed)
        return deliveries

    def _require_on(self) -> None:
        if not self.settings.is_on:
            raise NotifyOff(self.file)

    def _message(
        self, kind: NotifyKind, name: str, job: JobRecord, facts: Mapping[str, object]
    ) -> Notification:
        status = str(facts.get("status", "")) or str(job.status)
        command = f"fairlead job show {name}"
        return self._made(kind, name, job.kind, job.phase, status, command)

    def _made(
        self,
        event: NotifyKind,
        job: str,
        kind: str = "",
        phase: str = "",
        status: str = "",
        command: str = "",
    ) -> Notification:
        project = os.path.basename(self._project)
        now = moment(self._clock.now())
        return Notification(event, job, kind, phase, status, project, now, command)

    def _deliver(self, message: Notification) -> tuple[Delivery, ...]:
        from fairlead.jobs.notify import channels  # loads the HTTP client: only when it is needed

        settings = self.settings
        sends: list[tuple[str, Callable[[], str]]] = []
        if settings.desktop:
            sends.append(("desktop", lambda: channels.show_on_desktop(message, self._project)))
        if settings.bell:
            sends.append(("bell", channels.ring_bell))
        if webhook := settings.webhook:
            sends.append(("webhook", lambda: channels.post(message, webhook)))
        results = [(name, send()) for name, send in sends]
        return tuple(Delivery(name, not fault, fault) for name, fault in results)
