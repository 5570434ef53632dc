"""Hosts: our hooks and status line in the settings of a host agent, put in and taken out.

The settings and the receipt are one step on disk. What was written is read again, because a host
that cannot read its settings says nothing and runs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairlead.engine.ports import Clock
from fairlead.errors import Located, SettingsOverwritten
from fairlead.records.host_settings import (
    Handler,
    Wanted,
    has_ours,
    installed,
    is_ours,
    status_line_of,
    taken_out,
    was_there,
)
from fairlead.store import layout
from fairlead.store.files import Draft, Files, Outcome, looking_again
from fairlead.store.intent import Places
from fairlead.store.moves import Move
from fairlead.values import dataclass

CLAUDE, CODEX = "claude", "codex"
USER, PROJECT, LOCAL = "user", "project", "local"

# The settings file of each host and scope: in the host's own folder, or in the project's.
PLACES = {
    (CLAUDE, USER): layout.CLAUDE_SETTINGS,
    (CLAUDE, PROJECT): layout.CLAUDE_SETTINGS,
    (CLAUDE, LOCAL): layout.CLAUDE_LOCAL_SETTINGS,
    (CODEX, USER): layout.CODEX_HOOKS,
    (CODEX, PROJECT): layout.CODEX_HOOKS,
}

# The events that both hosts know, the hook that answers each, and how long it may take at most.
EVENTS = (
    ("Stop", "stop", 10),
    ("SessionStart", "session-start", 20),
    ("PreCompact", "pre-compact", 20),
    ("SessionEnd", "session-end", 5),  # Claude Code gives 1.5 seconds unless it is told more
)
_OWN_LINE = "your own status line is kept; compose with it by: fairlead install claude"


@dataclass(frozen=True, slots=True)
class Ways:
    """How our hooks and status line are started, as argument lists."""

    hooks: Mapping[str, tuple[str, ...]]
    status_line: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Installation:
    """What an install or uninstall did, and what a person should know about it."""

    host: str
    file: str
    outcome: Outcome
    notes: tuple[str, ...] = ()


class Host:
    """One settings file of one host agent."""

    def __init__(self, host: str, files: Files, path: str, clock: Clock) -> None:
        self.host = host
        self._files = files
        self._path = path
        self._clock = clock
        self._receipt = path + layout.RECEIPT

    @property
    def file(self) -> str:
        """The settings file, for people."""
        return f"{self._files.folder}/{self._path}"

    def install(
        self, ways: Ways, *, others: tuple[Host, ...] = (), dry_run: bool = False
    ) -> Installation:
        """Put ours in; a second time changes nothing."""
        has_other_line = any(other.has_own_line() for other in others)
        line = () if has_other_line or self.host == CODEX else ways.status_line
        wanted = Wanted(
            tuple(Handler(event, ways.hooks[name], most) for event, name, most in EVENTS),
            has_arguments=self.host == CLAUDE,
            status_line=line,
        )
        notes = [_OWN_LINE] if has_other_line and ways.status_line else []

        def decide() -> Draft:
            receipt = self._text(self._receipt)
            done = installed(self._text(self._path), receipt, wanted)
            notes[1:] = [done.keeps] if done.keeps else []
            if done.text == self._text(self._path):
                return Draft({})
            edits = {
                self._path: lambda text: installed(text or None, receipt, wanted).text,
                self._receipt: lambda _: done.receipt,
            }
            return Draft(edits, may_create=frozenset(edits))

        outcome = self._carry_out(decide, f"install {self.host}", dry_run=dry_run)
        with looking_again(outcome.paths):
            is_there = dry_run or has_ours(self._text(self._path) or "")
        if not is_there:
            raise SettingsOverwritten(self.file)
        return Installation(self.host, self.file, outcome, (*notes, *self._trust()))

    def uninstall(self, *, dry_run: bool = False) -> Installation:
        """Take ours out: byte for byte, or where others wrote meanwhile, only what is ours."""

        def decide() -> Draft:
            text, receipt = self._text(self._path), self._text(self._receipt)
            paths = [self._receipt] if receipt is not None else []
            rest = taken_out(text, receipt) if text and has_ours(text) else text
            if rest == "" and not was_there(receipt):
                paths.append(self._path)
            elif rest is not None and rest != text:
                return Draft({self._path: lambda now: taken_out(now, receipt)}, self._away(paths))
            return Draft({}, self._away(paths))

        outcome = self._carry_out(decide, f"uninstall {self.host}", dry_run=dry_run)
        return Installation(self.host, self.file, outcome)

    def has_own_line(self) -> bool:
        """Whether a person's own status line stands here."""
        command = status_line_of(self._text(self._path))
        return bool(command) and not is_ours(command)

    def _text(self, path: str) -> str | None:
        loaded = self._files.load_if_present(path)
        return loaded.text if loaded else None

    def _away(self, paths: list[str]) -> Places:
        now = self._clock.now()
        stamp = f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03d}Z"
        moves = [
            Move(path, layout.removed_path(path, stamp, layout.HOST_DESK))
            for path in paths
            if self._files.exists(path)
        ]
        return Places(moves=tuple(moves))

    def _carry_out(self, decide: Callable[[], Draft], command: str, *, dry_run: bool) -> Outcome:
        with Located(self.file):
            return self._files.carry_out(decide, command=command, may_create=True, dry_run=dry_run)

    def _trust(self) -> tuple[str, ...]:
        """Codex runs no hook that its user has not looked at, and says nothing about it."""
        if self.host != CODEX:
            return ()
        loaded = self._files.load_for_display(layout.CODEX_CONFIG)
        if loaded and f'"{self.file}:stop:' in loaded.text:
            return ()
        return (
            "Codex runs them once you have reviewed them: start codex and choose to trust them",
        )
