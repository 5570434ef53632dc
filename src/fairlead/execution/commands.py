"""Verify commands: runs a line of an approved plan in a worktree, under a supervisor.

A line without shell syntax runs as an argument list. Any other line goes to the shell unchanged:
it comes from a plan whose exact text a person approved, and from nowhere else.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from itertools import dropwhile, takewhile

from fairlead.agents import supervisor
from fairlead.agents.model import CallLimits, CallSource, EndKind
from fairlead.agents.secrets import without_secrets
from fairlead.agents.supervision import Launch, SupervisorPool, supervise
from fairlead.core import process
from fairlead.core.errors import NotStarted
from fairlead.core.patterns import lazy_pattern
from fairlead.core.process import ProcessResult, environment_of, run, search_path
from fairlead.plans.model import CommandResult

_SHELL = "/bin/sh"
_SHELL_SYNTAX = frozenset(";&|$`()<>*?[]{}~#!\n\\=")
_BUILT_IN = frozenset(
    "test [ cd export set ! true false : for if while command echo printf".split()
)
_OPERATORS = ";&|()<>"  # separate words without blanks around them
_PLAIN = lazy_pattern(rf"""[^\s{_OPERATORS}$`*?\]{{}}~!/\\'"=]+""")
_ASSIGNMENT = lazy_pattern(r"(?!PATH=)[A-Za-z_]\w*=[^$`]*")
# No command begins like this: a code span, a shell prompt, a bold word, a quoted sentence.
_PROSE = lazy_pattern(
    r"""\s*(?=`|\$\s|\*|'[^'/\n]* [^'/\n]*'\s|"[^"/$`\n]* [^"/$`\n]*"\s)(?P<first>\S+)"""
)
# Lines whose syntax every shell accepts, so that none has to be started for them: words and plain
# quotes, redirections, and && || | ; between commands.
_TEXT = r"""(?:[\w./:@%+,=^\[\]-]++|'[^'\n]*+'|"[^"$`\\\n]*+"|\$\w++)++"""
_REDIRECTION = rf"[0-9]?(?:>>|>|<)(?:&[0-9]|[ \t]*+{_TEXT})"
_SIMPLE = rf"{_TEXT}(?:[ \t]++(?:{_REDIRECTION}|{_TEXT}))*+"
_SURE = lazy_pattern(rf"[ \t]*+(?!-){_SIMPLE}(?:[ \t]*+(?:&&|\|\||\||;)[ \t]*+{_SIMPLE})*+[ \t]*+")
_RESERVED = lazy_pattern(
    r"(?<![\w./-])(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|in|function|select|time"
    r"|coproc)(?![\w./-])|\[\["
)
_OTHER_SHELL_HINT = "a line for another shell begins with its name, such as bash -c"
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM", "USER", "XDG_CACHE_HOME")
_TAIL = 4000  # characters of the output in the ledger
_FILTERED = 64 << 10  # bytes that are filtered for it
_MAX_OUTPUT = 16 << 20  # bytes of each stream
_CHECK_LIMITS = process.ProcessLimits(wall=timedelta(minutes=1))
_KILLED = -9  # the exit code of a command whose supervisor died: the kernel kills it


# `phase verify` runs in the main tree, where bytecode would be an untracked file.
_SETTINGS = {"CI": "1", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class Shell:
    """Runs verify commands."""

    def __init__(self, supervisors: SupervisorPool | None = None) -> None:
        self._supervisors = supervisors or SupervisorPool()

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
        source: CallSource | None = None,
    ) -> CommandResult:
        """Run a command line unchanged, here; see `jobs.roster.Commands`."""
        began = time.monotonic()
        launch, output = self._launch(line, folder, limit), _Output()
        ended = supervise(launch, output, is_wanted, self._supervisors)
        seconds = time.monotonic() - began
        if ended.stopped is EndKind.SPAWN:
            problem = str(NotStarted(launch.words[0], ended.reason))
            return CommandResult(127, seconds, "", "", problem=problem)
        content = output.content
        is_killed = ended.stopped is EndKind.KILLED and not output.is_done
        killed_because = ended.reason if is_killed else ""
        problem = "it wrote more than 16 MB of output" if output.is_done else killed_because
        return CommandResult(
            exit_code=_KILLED if ended.code is None else ended.code,
            seconds=seconds,
            sha256=hashlib.sha256(content).hexdigest(),
            tail=_tail(content),
            is_timeout=ended.stopped is EndKind.TIMEOUT,
            is_stopped=is_killed and not is_wanted(),
            problem=problem,
        )

    def _launch(self, line: str, folder: str, limit: timedelta) -> Launch:
        call = str(uuid.uuid4())
        marks = {supervisor.JOB: self._supervisors.job or call, supervisor.CALL: call}
        return Launch(
            words=tuple(_words(line)),
            folder=folder,
            environment=_environment(**_SETTINGS, **marks),
            raw="",
            # A test run may print nothing until its end, so only the wall limit applies.
            limits=CallLimits(wall=limit, first_event=limit, idle=limit, after_end=timedelta(0)),
            call=call,
            is_private=False,
            is_brief=True,
        )


def _tail(content: bytes) -> str:
    """The end of an output without secrets, filtered before it is cut: half a key has no sign."""
    text = content[-_FILTERED:].decode("utf-8", "replace")
    return without_secrets(text)[0][-_TAIL:]


class _Output:
    """The output of a command, up to the limit."""

    def __init__(self) -> None:
        self._output = bytearray()
        self._errors = bytearray()

    @property
    def is_done(self) -> bool:
        """Whether the limit is exceeded; `supervise` ends the command then."""
        return max(len(self._output), len(self._errors)) > _MAX_OUTPUT

    @property
    def content(self) -> bytes:
        return bytes(self._output[:_MAX_OUTPUT] + self._errors[:_MAX_OUTPUT])

    def on_output(self, data: bytes) -> bool:
        self._output += data[: _MAX_OUTPUT + 1 - len(self._output)]
        return True

    def on_errors(self, data: bytes) -> None:
        self._errors += data[: _MAX_OUTPUT + 1 - len(self._errors)]

    def on_sleep(self, seconds: float) -> None:
        """Nothing to do: the limits do not count time in which the machine slept."""


@lru_cache(1024)  # a phase is previewed several times before it begins
def command_fault(line: str) -> str:
    """Why a line cannot run here, if that is certain beforehand; empty: it may run."""
    is_sure = bool(_SURE.fullmatch(line)) and not _RESERVED.search(line)
    is_sure = is_sure and line.split(None, 1)[0] != "set"  # its options are checked by a shell
    if not is_sure and _words(line)[0] != _SHELL:
        return ""
    if prose := _PROSE.match(line):
        return f"there is no program {prose['first']!r} to verify with"
    first = line.split(None, 1)[0] if is_sure else ""
    command = [first] if _PLAIN.fullmatch(first) else _first_command(line)
    if command and "||" not in line and _is_missing(command[0], os.environ.get("PATH", "")):
        return f"there is no program {command[0]!r} to verify with"
    if is_sure:
        return ""
    done = _shell("-n", "-c", line)  # parses only: no person has approved the line yet
    if done.code == 0 and command[:1] == ["set"]:
        done = _shell("-c", shlex.join(command))  # `set` alone is safe and checks its options
    if done.code <= 0:
        return ""
    error = done.errors.decode("utf-8", "replace").partition("\n")[0]
    return f"the verify command cannot be run: {error}; {_OTHER_SHELL_HINT}"


def _first_command(line: str) -> list[str]:
    """The plain words at the start of a line; none if only the shell can interpret them."""
    reader = shlex.shlex(line.strip(), posix=True, punctuation_chars=f"{_OPERATORS}\n")
    reader.whitespace, reader.whitespace_split = " \t\r", True
    try:
        words = [*dropwhile(_ASSIGNMENT.fullmatch, reader)]
    except ValueError:
        return []
    after = "".join(words[1:2])
    is_number = words[:1] != [] and words[0].isdigit() and after[:1] in ("<", ">")
    is_function = after.startswith("(")
    return [] if is_function or is_number else [*takewhile(_PLAIN.fullmatch, words)]


@lru_cache(256)
def _is_missing(program: str, _path: str) -> bool:
    """Whether the shell finds no such program; remembered for one value of PATH."""
    return _shell("-c", 'command -v -- "$1"', _SHELL, program).code > 0


def _shell(*words: str) -> ProcessResult:
    return run([_SHELL, *words], folder="/", environment=_environment(), limits=_CHECK_LIMITS)


def _environment(**more: str) -> dict[str, str]:
    """The environment of a command: a relative folder on PATH would lead into the worktree."""
    return environment_of(_PASSED_ON, PATH=search_path(), **more)


def _words(line: str) -> list[str]:
    if _SHELL_SYNTAX.isdisjoint(line):
        try:
            words = shlex.split(line)
        except ValueError:
            words = []
        program = shutil.which(words[0], path=search_path()) if words else None
        if program and words[0] not in _BUILT_IN:
            return [program, *words[1:]]
    return [_SHELL, "-c", line]
