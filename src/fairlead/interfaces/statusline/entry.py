"""Entry point of the status line: reads stdin, prints one line, always exits with 0.

The host shows nothing when the command fails, so a problem costs as little of the line as
possible. With `--before` or `--after` the user's own status line command is run with the same
input, and its output is placed before or after this line.
"""

import os

from fairlead.core.stdin_message import read_message
from fairlead.interfaces.statusline.line import DIVIDER, line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fairlead.interfaces.statusline.child import Child

BEFORE, AFTER = "--before", "--after"
OTHER_COMMAND_SECONDS = 2.0


def main(arguments: "list[str]") -> None:
    """Print the line and end the process."""
    print_line(arguments)
    # Skip the interpreter's shutdown, which takes time: no output is left to flush.
    os._exit(0)


def print_line(arguments: "list[str]", folder: str = "") -> None:
    """Read one message and print one line; print nothing when the message cannot be read.

    `folder` is used when the host names none (default: the current folder).
    """
    line = _or_empty(lambda: _combined_line(arguments, folder))
    content = line.encode("utf-8", "replace")
    try:
        while content:
            content = content[os.write(1, content) :]
    except OSError:
        pass


def start_command(python: str, arguments: "list[str]") -> "list[str]":
    """The argument list that starts the line fastest: an isolated interpreter."""
    start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")
    return [python, "-I", "-S", "-B", "-X", "utf8", start, *arguments]


def _or_empty(part: "Callable[[], str]") -> str:
    try:
        return part()
    except (Exception, KeyboardInterrupt):  # noqa: BLE001  # a fault must not reach the host
        return ""


def _combined_line(arguments: "list[str]", folder: str) -> str:
    message = read_message()
    if message is None:
        return ""
    other_command = _start_other(arguments, message)  # first, so that both work at the same time
    text = message.decode("utf-8", "replace")
    default_folder = folder or _or_empty(os.getcwd)  # the folder may have been deleted
    is_alone = other_command is None
    line = _or_empty(lambda: line_of(text, default_folder, os.environ, is_alone=is_alone))
    if other_command is None:
        return line
    other = (other_command.output() or "").strip("\r\n")
    if not other:
        return _or_empty(lambda: line_of(text, default_folder, os.environ))
    lines = (other, line) if arguments[0] == BEFORE else (line, other)
    return DIVIDER.join(text for text in lines if text)


def _start_other(arguments: "list[str]", message: bytes) -> "Child | None":
    """Start the user's own status line command, if one is given."""
    if len(arguments) < 2 or arguments[0] not in (BEFORE, AFTER):
        return None
    from fairlead.interfaces.statusline.child import Child

    try:
        return Child(arguments[1:], limit_seconds=OTHER_COMMAND_SECONDS, feed=message)
    except OSError:
        return None
