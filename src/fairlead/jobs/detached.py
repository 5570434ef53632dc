"""Jobs in the background: the same command in a process of its own, which outlives its caller.

The process leaves the session of its caller, so that neither a closed terminal nor the end of a
host or a server reaches it. It reports once: the job that began, or the error that prevented it.
From then on the job is like any other: its files show it, its lock says whether it runs, and its
output is in its folder. Nobody can be asked there: a question waits for `fairlead job answer`, and
commands that are not approved are refused before the job begins.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from fairlead.core import process
from fairlead.core.errors import FairleadError, UsageError
from fairlead.core.values import dataclass
from fairlead.jobs.errors import BeginsSlowly, NotBegun
from fairlead.jobs.folder import JobFolder

# Making a private copy of a large project for a rehearsal takes minutes.
_START_LIMIT = timedelta(minutes=5)
_SHOWN_OUTPUT = 2000  # characters of a program that ended without a message
# The package of the caller, so that both are the same version; then no folder of it on the path.
_START = (
    "import sys; place = sys.argv.pop(1); sys.path.insert(0, place); import fairlead; "
    "sys.path.remove(place); from fairlead.interfaces.cli.detached import main; main()"
)
# The words of the command that begins each kind of job, before its subject.
_COMMANDS = {
    "run": ("run",),
    "new": ("new",),
    "quick": ("quick",),
    "discuss": ("phase", "discuss"),
    "plan": ("phase", "plan"),
    "execute": ("phase", "execute"),
}
RESUME = "resume"  # not offered to agents: a person continues a council
_FOR_PHASES = ("discuss", "plan", "execute")
_ANSWERED_BY_POLICY = ("new", "quick", "discuss", "plan")


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job that another program asks for: a kind, its subject, and the usual options."""

    kind: str  # one of `JOB_KINDS`
    subject: str  # the goal, the idea, the text, the number of the phase, or a council
    agent: str = ""
    is_auto: bool = False  # questions are answered by their policy
    is_approved: bool = False  # a person allowed the commands of its plans
    is_rehearsed: bool = False
    workstream: str = ""
    is_here: bool = False  # rehearse in this very folder, not in a copy

    def words(self) -> tuple[str, ...]:
        """The command line that begins the job."""
        if self.kind not in (*_COMMANDS, RESUME):
            raise UsageError.saying(
                f"{self.kind!r} is not a kind of job", f"kinds: {', '.join(_COMMANDS)}"
            )
        if not self.subject.strip():
            raise UsageError.saying(f"a job of kind {self.kind} needs a subject")
        if self.kind == RESUME:  # a council, by its id
            return ("run", f"--job={self.subject.strip()}")
        has_commands = self.kind in ("run", "quick", "execute")
        options = (
            (f"--agent={self.agent}", bool(self.agent)),
            ("--auto", self.is_auto and self.kind in _ANSWERED_BY_POLICY),
            ("--approve", self.is_approved and has_commands),
            ("--rehearse", self.is_rehearsed),
            ("--here", self.is_rehearsed and self.is_here),
            (f"--ws={self.workstream}", bool(self.workstream) and self.kind in _FOR_PHASES),
        )
        given = tuple(word for word, is_given in options if is_given)
        return (*_COMMANDS[self.kind], *given, "--", self.subject.strip())


JOB_KINDS = tuple(_COMMANDS)


@dataclass(frozen=True, slots=True)
class DetachedJob:
    """A job that has begun in the background."""

    job: str
    folder: str  # the project; of a rehearsal, its copy
    pid: int
    output: str  # a path below the folder


def start_detached(folder: str, words: Sequence[str]) -> DetachedJob:
    """Run a command of Fairlead in the background; return when its job has begun."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    arguments = json.dumps(["-C", folder, *words])
    started = process.start_in_background(
        [sys.executable, "-P", "-c", _START, package, arguments], folder
    )
    try:
        line = started.first_line(_START_LIMIT)
        if line is None:
            raise BeginsSlowly(_START_LIMIT // timedelta(minutes=1))
        message = json.loads(line or b"{}")
        if not message.keys() & {"job", "error"}:
            printed = started.printed().decode("utf-8", "replace").strip()
            raise NotBegun(printed[-_SHOWN_OUTPUT:] or "its process ended")
    finally:
        started.close()
    return _begun(message)


def _begun(message: dict[str, object]) -> DetachedJob:
    if "error" in message:
        error = UsageError.saying(str(message["error"]), str(message["hint"]))
        # The same error as in the foreground, for people and for scripts.
        error.code, error.exit_code = str(message["code"]), int(str(message["exit_code"]))
        raise error
    return DetachedJob(
        job=str(message["job"]),
        folder=str(message["folder"]),
        pid=int(str(message["pid"])),
        output=str(message["output"]),
    )


class Announcer:
    """The other end: the process in the background says once how its start went."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def begun(self, folder: str, job: str) -> None:
        """Report the job, and move the output of this process into its folder."""
        if self._pipe < 0:
            return  # a council begins the execution of its plan
        place = JobFolder(folder, job)
        with suppress(FairleadError):  # without a file the job runs just as well
            _redirect(place.open_output())
        output = place.output_path()
        self._send({"job": job, "folder": folder, "pid": os.getpid(), "output": output})

    def failed(self, error: FairleadError) -> None:
        """Report the error that prevented the job; later errors are in its output."""
        self._send(
            {
                "error": str(error),
                "hint": error.hint,
                "code": error.code,
                "exit_code": error.exit_code,
            }
        )

    def ended(self, code: int) -> None:
        """Report that the command has ended, if it began no job."""
        self._send({"exit_code": code})

    def _send(self, message: dict[str, object]) -> None:
        if self._pipe < 0:
            return
        pipe, self._pipe = self._pipe, -1
        with suppress(OSError):  # the caller is gone, and the job goes on
            os.write(pipe, json.dumps(message).encode() + b"\n")
        os.close(pipe)


def leave_caller() -> None:
    """Fork into a session of its own, whose parent is gone: nobody's terminal, nobody's child."""
    if os.fork():
        os._exit(0)
    os.setsid()


def _redirect(output: int) -> None:
    """Send both streams to a file, with what they carried so far."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = os.pread(1, os.fstat(1).st_size, 0)
    os.write(output, before)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
