"""The person's own file: which channels are on, and where the webhook is."""

from __future__ import annotations

import json
import os
import stat
from typing import Any
from urllib.parse import urlsplit

from fairlead.core.serialization import convert
from fairlead.core.user_folders import NOTIFY_SETTINGS
from fairlead.core.values import dataclass, names_of
from fairlead.jobs.notify.errors import NotifyFileOpen, NotifyFileRefused
from fairlead.jobs.notify.model import NotifyKind

_LARGEST = 64 * 1024
_SHORTEST_SECRET = 16
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EVENTS = tuple(kind for kind in NotifyKind if kind is not NotifyKind.TEST)


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that takes signed messages."""

    url: str
    secret: str

    @property
    def shown(self) -> str:
        """The address without its path, which is often a secret itself."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}/…"


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """The channels, and the events they report."""

    desktop: bool = False
    bell: bool = False
    webhook: Webhook | None = None
    events: tuple[NotifyKind, ...] = _EVENTS

    @property
    def is_on(self) -> bool:
        """Whether any channel is switched on."""
        return self.desktop or self.bell or self.webhook is not None


def load_settings(folder: str) -> NotifySettings:
    """The settings in the person's configuration folder; all off if there is no file."""
    path = os.path.join(folder, NOTIFY_SETTINGS)
    content = _content(path)
    if content is None:
        return NotifySettings()
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise NotifyFileRefused(path, (f"it is not JSON: {problem}",)) from problem
    settings, mismatches = convert(NotifySettings, value)
    problems = [str(each) for each in mismatches] + _unknown_keys(value)
    if settings is not None and settings.webhook is not None:
        problems += _webhook_problems(settings.webhook)
    if problems or settings is None:
        raise NotifyFileRefused(path, tuple(problems))
    return settings


def _content(path: str) -> bytes | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as problem:  # a link, among others
        raise NotifyFileOpen(path) from problem
    with os.fdopen(file, "rb") as stream:
        facts = os.fstat(file)
        is_own = stat.S_ISREG(facts.st_mode) and facts.st_uid == os.getuid()
        if not is_own or stat.S_IMODE(facts.st_mode) & 0o077:
            raise NotifyFileOpen(path)
        return stream.read(_LARGEST)


def _unknown_keys(value: Any) -> list[str]:
    """Misspelt keys would silently switch nothing on."""
    webhook = value.get("webhook") if isinstance(value, dict) else None
    places = ((value, NotifySettings), (webhook, Webhook))
    return [
        f"{key!r} is not a key; known: {', '.join(names_of(kind))}"
        for place, kind in places
        if isinstance(place, dict)
        for key in place
        if key not in names_of(kind)
    ]


def _webhook_problems(webhook: Webhook) -> list[str]:
    problems = []
    try:
        parts = urlsplit(webhook.url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return ["webhook.url: it is not an address"]
    is_private = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not (is_private and host):
        problems.append("webhook.url: expected https://…, or http:// on this machine")
    if parts.username is not None or not webhook.url.isprintable() or " " in webhook.url:
        problems.append("webhook.url: expected no user name and no blanks")
    if len(webhook.secret) < _SHORTEST_SECRET:
        problems.append(f"webhook.secret: expected at least {_SHORTEST_SECRET} characters")
    return problems
