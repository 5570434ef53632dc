"""Checks: the commands of exit criteria, run as their own program would be from a terminal.

They get the person's whole environment, because the person allowed this very command; and a limit.
"""

import os
from datetime import timedelta

from fairlead.adapters.process import Ended, Limits, program, run
from fairlead.errors import NoAnswer

_LIMITS = Limits(wall=timedelta(minutes=10), output_bytes=16 << 20)


class ProcessChecker:
    """Runs checks as child processes."""

    def run(self, command: tuple[str, ...], folder: str) -> tuple[int, str]:
        """Run one to its end: its exit code, and the last line it said. Raises if it has no end."""
        name = command[0] if "/" in command[0] else program(command[0])
        done = run((name, *command[1:]), folder=folder, environment=os.environ, limits=_LIMITS)
        if done.ended is not Ended.EXITED:
            raise NoAnswer(command[0], done.ended.replace("-", " "))
        said = (done.errors.strip() or done.output.strip()).decode("utf-8", "replace")
        return done.code, said.rpartition("\n")[2]
