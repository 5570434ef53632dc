"""The door of the status line: stdin to stdout, always exit 0, never a traceback, never a wait.

A host calls it several times a minute and shows nothing when it fails, so whatever goes wrong
costs as little of the line as possible. It can stand beside a line that the person had before:
that program gets the same message, and its output is put before or after ours.
"""

import os

from fairlead.interfaces.statusline.line import DIVIDER, line_of
from fairlead.store.message import read_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fairlead.interfaces.statusline.child import Child

BEFORE, AFTER = "--before", "--after"
NEIGHBOUR_SECONDS = 2.0


def main(arguments: "list[str]") -> None:
    """Show the line and end the process."""
    show(arguments)
    # Nothing is left to flush, and taking the interpreter down in order takes time.
    os._exit(0)


def show(arguments: "list[str]", folder: str = "") -> None:
    """Read one message and print one line; nothing when there is no message to read.

    The folder counts where the host names none; without it, the one we were started in.
    """
    line = _or_nothing(lambda: _whole_line(arguments, folder))
    content = line.encode("utf-8", "replace")
    try:
        while content:
            content = content[os.write(1, content) :]
    except OSError:
        pass


def start_command(python: str, arguments: "list[str]") -> "list[str]":
    """The fastest way to start: an isolated interpreter that searches no packages."""
    start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")
    return [python, "-I", "-S", "-B", "-X", "utf8", start, *arguments]


def _or_nothing(part: "Callable[[], str]") -> str:
    try:
        return part()
    except (Exception, KeyboardInterrupt):  # noqa: BLE001  # the one place: the host goes on
        return ""


def _whole_line(arguments: "list[str]", folder: str) -> str:
    message = read_message()
    if message is None:
        return ""
    neighbour = _neighbour(arguments, message)
    text = message.decode("utf-8", "replace")
    here = folder or _or_nothing(os.getcwd)  # it may be gone, and mostly it is not needed
    ours = _or_nothing(lambda: line_of(text, here, os.environ))
    if neighbour is None:
        return ours
    theirs = (neighbour.output() or "").strip("\r\n")
    both = (theirs, ours) if arguments[0] == BEFORE else (ours, theirs)
    return DIVIDER.join(line for line in both if line)


def _neighbour(arguments: "list[str]", message: bytes) -> "Child | None":
    """The program of the person's other line, started before ours is made."""
    if len(arguments) < 2 or arguments[0] not in (BEFORE, AFTER):
        return None
    from fairlead.interfaces.statusline.child import Child

    try:
        return Child(arguments[1:], limit_seconds=NEIGHBOUR_SECONDS, feed=message)
    except OSError:
        return None
