"""The door of the hooks: stdin to stdout, always exit 0, never a traceback, never a wait.

Exit code 2 would block the host, so nothing that goes wrong here may become one: whatever it is
costs one line on stderr, and the host goes on.
"""

import os

from fairlead.interfaces.hooks.told import Answer, Told
from fairlead.store.message import read_message
from fairlead.text.quickjson import quick_json_string
from fairlead.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# A message carries the agent's last words, however many they were.
_INPUT_LIMIT = 16 * 1024 * 1024
_LONGEST_COMPLAINT = 400


def run(hook: "Callable[[Told], Answer]") -> None:
    """Read one message, and tell the host what the hook answers."""
    try:
        message = read_message(_INPUT_LIMIT)
        late = Answer(note="the host's message did not end")
        answer = late if message is None else hook(Told(message))
    except (Exception, KeyboardInterrupt) as problem:  # noqa: BLE001  # the one place: the host goes on
        answer = Answer(note=str(problem) or type(problem).__name__)
    if answer.members:
        pairs = ", ".join(f"{quick_json_string(key)}: {value}" for key, value in answer.members)
        _write(1, f"{{{pairs}}}\n")
    if answer.note:
        line = " ".join(visible(answer.note).split())
        _write(2, f"fairlead: {line[:_LONGEST_COMPLAINT]}\n")


def _write(stream: int, text: str) -> None:
    content = text.encode("utf-8", "replace")
    try:
        while content:
            content = content[os.write(stream, content) :]
    except OSError:
        pass
