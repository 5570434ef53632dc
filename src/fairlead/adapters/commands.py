"""Verify commands: a line of an approved plan, run in an attempt's worktree behind a keeper.

A line without signs of the shell is an argument list. One with them is given to the shell as it
stands: it comes from a plan whose very text a person approved, and from nowhere else.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from itertools import dropwhile, takewhile

from fairlead.adapters import keeper, process
from fairlead.adapters.process import Finished, run, surroundings
from fairlead.adapters.supervision import Keepers, Launch, supervise
from fairlead.errors import NotStarted
from fairlead.model.agent_events import EndKind
from fairlead.model.agent_orders import Limits
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
_BETWEEN = ";&|()<>"  # words need no blanks around these
_PLAIN = re.compile(rf"""[^\s{_BETWEEN}$`*?\]{{}}~!/\\'"=]+""")
_ASSIGNMENT = re.compile(r"(?!PATH=)[A-Za-z_]\w*=[^$`]*")
# What no command begins with: a quoted line, the mark of a prompt, a bold word, several words.
_PROSE = re.compile(
    r"""\s*(?=`|\$\s|\*|'[^'/\n]* [^'/\n]*'\s|"[^"/$`\n]* [^"/$`\n]*"\s)(?P<first>\S+)"""
)
_ANOTHER = "a line for another shell begins with its name, such as bash -c"
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM", "USER", "XDG_CACHE_HOME")
_TAIL = 4000
_MOST = 16 << 20  # bytes of each stream
_NOTHING = timedelta(0)
_BRIEF = process.Limits(wall=timedelta(minutes=1))
_KILLED = -9  # what is left of a command whose keeper has gone is ended so


class Shell:
    """Runs verify commands."""

    def __init__(self, keepers: Keepers | None = None) -> None:
        self._keepers = keepers or Keepers()

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ran:
        """Run a command line as it stands in its plan; see `engine.site.Commands`."""
        began = time.monotonic()
        launch, heard = self._launch(line, folder, limit), _Heard()
        ended = supervise(launch, heard, is_wanted, self._keepers)
        seconds = time.monotonic() - began
        if ended.stopped is EndKind.SPAWN:
            problem = str(NotStarted(launch.words[0], ended.reason))
            return Ran(127, seconds, "", "", problem=problem)
        said = heard.said
        is_killed = ended.stopped is EndKind.KILLED and not heard.is_done
        problem = "it said more than 16 MB" if heard.is_done else ended.reason * is_killed
        return Ran(
            exit_code=_KILLED if ended.code is None else ended.code,
            seconds=seconds,
            sha256=hashlib.sha256(said).hexdigest(),
            tail=said[-_TAIL:].decode("utf-8", "replace"),
            is_timeout=ended.stopped is EndKind.TIMEOUT,
            is_stopped=is_killed and not is_wanted(),
            problem=problem,
        )

    def _launch(self, line: str, folder: str, limit: timedelta) -> Launch:
        call = str(uuid.uuid4())
        marks = {keeper.JOB: self._keepers.job or call, keeper.CALL: call}
        return Launch(
            words=tuple(_words(line)),
            folder=folder,
            environment=surroundings(_PASSED_ON, CI="1", NO_COLOR="1", **marks),
            raw="",
            # It may be silent to the end, and has none but the wall limit.
            limits=Limits(wall=limit, first_event=limit, idle=limit, after_end=_NOTHING),
            call=call,
            is_private=False,
            is_brief=True,
        )


class _Heard:
    """What a command says, as far as the limit."""

    def __init__(self) -> None:
        self._output = bytearray()
        self._errors = bytearray()

    @property
    def is_done(self) -> bool:
        """Nothing is heard beyond the limit, so that it has said its last word there."""
        return max(len(self._output), len(self._errors)) > _MOST

    @property
    def said(self) -> bytes:
        return bytes(self._output[:_MOST] + self._errors[:_MOST])

    def hear(self, data: bytes) -> bool:
        self._output += data[: _MOST + 1 - len(self._output)]
        return True

    def overhear(self, data: bytes) -> None:
        self._errors += data[: _MOST + 1 - len(self._errors)]

    def slept(self, seconds: float) -> None:
        """Nobody is told."""


@lru_cache(1024)  # a phase is looked at several times before it begins
def command_fault(line: str) -> str:
    """Why a line cannot verify anything here, where that is certain before it is run."""
    if _words(line)[0] != _SHELL:
        return ""
    if prose := _PROSE.match(line):
        return f"there is no program {prose['first']!r} to verify with"
    command = _first_command(line)
    if command and "||" not in line and _is_missing(command[0]):
        return f"there is no program {command[0]!r} to verify with"
    done = _asked("-n", "-c", line)  # nothing of it is run: nobody has approved it yet
    if done.code == 0 and command[:1] == ["set"]:
        done = _asked("-c", shlex.join(command))  # these are options of the shell, and no more
    said = done.errors.decode("utf-8", "replace").partition("\n")[0]
    return f"the verify command cannot be run: {said}; {_ANOTHER}" if done.code > 0 else ""


def _first_command(line: str) -> list[str]:
    """The plain words that a line begins with; none, where only the shell can tell what it does."""
    reader = shlex.shlex(line.strip(), posix=True, punctuation_chars=f"{_BETWEEN}\n")
    reader.whitespace, reader.whitespace_split = " \t\r", True
    try:
        words = [*dropwhile(_ASSIGNMENT.fullmatch, reader)]
    except ValueError:
        return []
    after = "".join(words[1:2])
    is_number = words[:1] != [] and words[0].isdigit() and after[:1] in ("<", ">")
    is_function = after.startswith("(")
    return [] if is_function or is_number else [*takewhile(_PLAIN.fullmatch, words)]


def _is_missing(program: str) -> bool:
    return _asked("-c", 'command -v -- "$1"', _SHELL, program).code > 0


def _asked(*words: str) -> Finished:
    environment = surroundings(_PASSED_ON)
    return run([_SHELL, *words], folder="/", environment=environment, limits=_BRIEF)


def _words(line: str) -> list[str]:
    if _SIGNS.isdisjoint(line):
        try:
            words = shlex.split(line)
        except ValueError:
            words = []
        if words and words[0] not in _BUILT_IN and shutil.which(words[0]):
            return [shutil.which(words[0]) or words[0], *words[1:]]
    return [_SHELL, "-c", line]
