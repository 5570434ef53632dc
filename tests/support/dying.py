"""Runs the command in a process that kills itself before the nth action after its first landing.

The reported steps of a run are far apart; this finds what is lost between two of them. An action is
a started program, or a file or folder that is made, renamed or removed. With n = 0 it survives.
"""

import os
import signal
import sys

_THINGS = {"subprocess.Popen", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "open"}
_MAKES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_LANDING = "merge-tree"


class _KillCounter:
    """Counts actions and kills the process at the chosen one."""

    def __init__(self, point: int, place: str) -> None:
        self._seen = 0
        self._point = point
        self._tally = os.open(place, os.O_WRONLY | os.O_CREAT)
        self._has_begun = False

    def __call__(self, event: str, given: tuple[object, ...]) -> None:
        """See `sys.addaudithook`."""
        if event not in _THINGS or (event == "open" and not _is_made(given)):
            return
        self._has_begun |= event == "subprocess.Popen" and _LANDING in repr(given)
        if not self._has_begun:
            return
        self._seen += 1
        os.pwrite(self._tally, str(self._seen).encode(), 0)  # the command exits without cleanup
        if self._seen == self._point:
            os.kill(os.getpid(), signal.SIGKILL)


def _is_made(given: tuple[object, ...]) -> bool:
    return len(given) > 2 and isinstance(given[2], int) and bool(given[2] & _MAKES)


def main() -> None:
    """`dying N FILE WORDS...`: run the command; FILE records the number of actions."""
    point, place, *words = sys.argv[1:]
    sys.argv = ["fairlead", *words]
    sys.addaudithook(_KillCounter(int(point), place))
    from fairlead.interfaces.cli.main import main as command

    command()


if __name__ == "__main__":
    main()
