"""The program git, started in one way only.

Everything is switched off that a repository could use to run code of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta

from fairlead.adapters.process import Ended, Finished, Limits, program, run, surroundings
from fairlead.errors import GitFault

_SWITCHED_OFF = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "diff.external=",
    "protocol.ext.allow=never",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
_IDENTITY = ("user.name=Fairlead", "user.email=fairlead@localhost")
_LIMITS = Limits(wall=timedelta(minutes=2), output_bytes=64 << 20)
_PASSED_ON = tuple("PATH HOME XDG_CONFIG_HOME TMPDIR GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL".split())


class GitProgram:
    """Git, asked in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._program = program("git")
        self._identity: tuple[str, ...] = ()

    @property
    def uses_own_identity(self) -> bool:
        """Whether commits carry our name because nobody said theirs."""
        return bool(self._identity)

    def _choose_identity(self) -> None:
        told = self._text("config", "--get-regexp", r"^user\.(name|email)$", may_fail=True)
        found = dict(line.partition(" ")[::2] for line in told.splitlines())
        has_own = all(found.get(each, "").strip() for each in ("user.name", "user.email"))
        self._identity = () if has_own else _IDENTITY

    def _text(
        self,
        *words: str,
        at: str = "",
        may_fail: bool = False,
        stdin: bytes = b"",
        more: Mapping[str, str] | None = None,
    ) -> str:
        done = self._run(*words, at=at, may_fail=may_fail, stdin=stdin, more=more)
        return os.fsdecode(done.output).strip() if done.code == 0 else ""

    def _run(
        self,
        *words: str,
        at: str = "",
        may_fail: bool = False,
        stdin: bytes = b"",
        more: Mapping[str, str] | None = None,
    ) -> Finished:
        settings = [word for each in (*_SWITCHED_OFF, *self._identity) for word in ("-c", each)]
        environment = surroundings(
            _PASSED_ON,
            LC_ALL="C.UTF-8",
            GIT_TERMINAL_PROMPT="0",
            GIT_OPTIONAL_LOCKS="0",
            **(more or {}),
        )
        done = run(
            [self._program, *settings, *words],
            folder=at or self.folder,
            environment=environment,
            limits=_LIMITS,
            stdin=stdin,
        )
        if done.ended is not Ended.EXITED:
            raise GitFault(words[0], f"ended by its limits ({done.ended})")
        if done.code != 0 and not may_fail:
            raise GitFault(words[0], said(done))
        return done


def said(done: Finished) -> str:
    """What git had to say, in one line."""
    lines = (done.errors or done.output).decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else f"exit code {done.code}"
