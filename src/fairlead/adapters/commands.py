"""Verify commands: a line of an approved plan, run in an attempt's worktree.

A line without signs of the shell is an argument list. One with them is given to the shell as it
stands: it comes from a plan whose very text a person approved, and from nowhere else.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import time
from datetime import timedelta

from fairlead.adapters.process import Ended, Limits, run, surroundings
from fairlead.errors import AgentError
from fairlead.model.ran import Ran

_SHELL = "/bin/sh"
_SIGNS = frozenset(";&|$`()<>*?[]{}~#!\n\\=")
_BUILT_IN = frozenset(
    [
        "test",
        "[",
        "cd",
        "export",
        "set",
        "!",
        "true",
        "false",
        ":",
        "for",
        "if",
        "while",
        "command",
        "echo",
        "printf",
    ]
)
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM", "USER", "XDG_CACHE_HOME")
_TAIL = 4000


class Shell:
    """Runs verify commands."""

    def run(self, line: str, folder: str, limit: timedelta) -> Ran:
        """Run a command line as it stands in its plan."""
        began = time.monotonic()
        try:
            done = run(
                _words(line),
                folder=folder,
                environment=surroundings(_PASSED_ON, CI="1", NO_COLOR="1"),
                limits=Limits(wall=limit, output_bytes=16 << 20),
            )
        except AgentError as error:
            return Ran(127, time.monotonic() - began, "", "", problem=str(error))
        said = done.output + done.errors
        return Ran(
            exit_code=done.code,
            seconds=time.monotonic() - began,
            sha256=hashlib.sha256(said).hexdigest(),
            tail=said[-_TAIL:].decode("utf-8", "replace"),
            is_timeout=done.ended is Ended.TIMED_OUT,
            problem="it said more than 16 MB" if done.ended is Ended.TOO_MUCH else "",
        )


def unknown_program(line: str) -> str:
    """The program that a line begins with, if there is no such program: prose is not a command."""
    try:
        words = [word for word in shlex.split(line, comments=True) if "=" not in word]
    except ValueError:
        return line.split(maxsplit=1)[0] if line.split() else ""
    if not words:
        return ""
    first = words[0].lstrip("(!")
    is_known = first in _BUILT_IN or "/" in first or shutil.which(first) is not None
    return "" if is_known or not first else first


def _words(line: str) -> list[str]:
    if _SIGNS.isdisjoint(line):
        try:
            words = shlex.split(line)
        except ValueError:
            words = []
        if words and words[0] not in _BUILT_IN and shutil.which(words[0]):
            return [shutil.which(words[0]) or words[0], *words[1:]]
    return [_SHELL, "-c", line]
