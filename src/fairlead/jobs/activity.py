"""What the agents of a running job do, for whoever watches the job from another process.

One small file in the private folder of the job has the last sentence of each agent. It is written
at most once a second and never synced: it is for people, and no decision reads it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from fairlead.agents.model import (
    AgentEvent,
    AgentText,
    FileChanged,
    ModelRetried,
    ToolStarted,
)
from fairlead.core.clock import Clock
from fairlead.core.concurrency import Mutex
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.text.printable import visible

_FILE = "activity.json"
_SECONDS = 1.0
_WIDTH = 160
_MOST_BYTES = 100_000
_FENCE = lazy_pattern(r"\s*(```|~~~)")
# A line of JSON, a tag or a verdict with its nonce: they are there for Fairlead.
_PROTOCOL = lazy_pattern(
    r"""\s*(?:[{}\[\]]|"[^"]*"\s*[:,]|"[^"]*"\s*$|</?[a-z_-]+(?:\s[^>]*)?>\s*$|VERDICT\b)"""
)


@dataclass(frozen=True, slots=True)
class Activity:
    """The last thing that an agent did."""

    subject: str  # the task, seat or step
    at: float  # in seconds since the epoch
    text: str


class ActivityLog:
    """Writes what the agents of one job do."""

    def __init__(self, private: str, clock: Clock) -> None:
        self._private = private
        self._clock = clock
        self._last: dict[str, tuple[float, str]] = {}
        self._written = 0.0
        self._turn = Mutex()

    def note(self, subject: str, event: AgentEvent) -> None:
        """Remember an event of an agent, and write if the last time is a second ago."""
        text, now = activity_text(event), self._clock.now().timestamp()
        if not text:
            return
        with self._turn:
            self._last[subject] = (now, text)
            if now - self._written >= _SECONDS:
                self._written = now
                self._write()

    def _write(self) -> None:
        path = os.path.join(self._private, _FILE)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with suppress(OSError):  # a full disk must not stop a job
            os.makedirs(self._private, mode=0o700, exist_ok=True)
            with open(os.open(f"{path}.new", flags, 0o600), "w", encoding="utf-8") as file:
                json.dump(self._last, file)
            os.replace(f"{path}.new", path)


def activities(private: str) -> tuple[Activity, ...]:
    """What the agents of a job did last, as far as it can be read."""
    try:
        with open(os.path.join(private, _FILE), encoding="utf-8") as file:
            rows = json.loads(file.read(_MOST_BYTES))
        return tuple(Activity(str(name), float(at), str(text)) for name, (at, text) in rows.items())
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return ()


def activity_text(event: AgentEvent) -> str:
    """What an agent does, in one line; empty for events that say nothing about it."""
    match event:
        case AgentText(text=text):
            return short_line(readable(text))
        case ToolStarted(tool=tool, subject=subject):
            return short_line(f"{tool} {subject}")
        case FileChanged(path=path):
            return short_line(f"wrote {path}")
        case ModelRetried(reason=reason):
            return short_line(f"retries: {reason}")
        case _:
            return ""


def readable(text: str) -> str:
    """What a text tells a person, on one line: without code blocks, JSON and tags."""
    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and not _PROTOCOL.match(line):
            lines.append(line)
    return " ".join(" ".join(lines).split())


def short_line(text: str) -> str:
    """A text on one short line, safe to show."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
