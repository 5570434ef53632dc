"""One hook call: read the host's JSON message from stdin, print the hook's JSON response.

Claude Code and Codex send the same keys. `session_id`, `cwd` and `hook_event_name` are required;
any other key may be missing or have an unexpected type, and unknown keys are ignored. A message
that cannot be parsed counts as no event. The exit code is always 0, because exit code 2 would
block the host.
"""

import os

from fairlead.core.errors import DocumentError
from fairlead.core.stdin_message import read_message
from fairlead.planphase.stop_rule import API_ERROR, INTERRUPTED, OTHER, STOP, STOP_AGAIN, SUBAGENT
from fairlead.text.fast_json import json_string, read_fast_json
from fairlead.text.printable import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# The message of a Stop event contains the agent's last message, which can be long.
_INPUT_LIMIT = 16 * 1024 * 1024
_NOTE_LIMIT = 400

_STOP_EVENTS = ("Stop", "AfterAgent")  # the second one is the name in Gemini CLI

# How Claude Code begins the last message of a turn that did not end normally.
_INTERRUPTED_PREFIX = "[Request interrupted"
_API_ERROR_PREFIX = "API Error"


class HookMessage:
    """One message from the host. Missing values are empty strings."""

    __slots__ = ("event", "folder", "session", "source", "stop")

    def __init__(self, content: bytes) -> None:
        try:
            value = read_fast_json(content.decode("utf-8", "replace"))
        except DocumentError:
            value = None
        members = value if isinstance(value, dict) else {}
        self.event = _text(members.get("hook_event_name"))
        self.session = _text(members.get("session_id"))
        self.folder = _text(members.get("cwd"))
        self.source = _text(
            members.get("source") or members.get("reason") or members.get("trigger")
        )
        self.stop = _stop_kind(members) if self.is_complete else OTHER

    @property
    def is_complete(self) -> bool:
        """Whether the event, the session and the folder are given."""
        return bool(self.event and self.session and self.folder and "\0" not in self.folder)


class HookResponse:
    """The response of a hook: members of a JSON object for the host, and a line for stderr."""

    __slots__ = ("members", "note")

    def __init__(self, members: "tuple[tuple[str, str], ...]" = (), note: str = "") -> None:
        self.members = members  # the values are already encoded as JSON
        self.note = note


def run(hook: "Callable[[HookMessage], HookResponse]") -> None:
    """Read one message, call the hook and print its response."""
    try:
        content = read_message(_INPUT_LIMIT)
        if content is None:
            response = HookResponse(note="the message from the host is incomplete or too long")
        else:
            response = hook(HookMessage(content))
    except (Exception, KeyboardInterrupt) as problem:  # noqa: BLE001  # a hook must not stop its host
        response = HookResponse(note=str(problem) or type(problem).__name__)
    if response.members:
        pairs = ", ".join(f"{json_string(key)}: {value}" for key, value in response.members)
        _write(1, f"{{{pairs}}}\n")
    if response.note:
        line = " ".join(visible(response.note).split())
        _write(2, f"fairlead: {line[:_NOTE_LIMIT]}\n")


def _stop_kind(members: "dict[str, object]") -> str:
    """The row of the stop rule that applies to this message."""
    event = members.get("hook_event_name")
    # An agent id marks a message of a subagent, whatever its event.
    if event == "SubagentStop" or members.get("agent_id"):
        return SUBAGENT
    if event not in _STOP_EVENTS:
        return OTHER
    last_message = _text(members.get("last_assistant_message")).lstrip()
    if last_message.startswith(_INTERRUPTED_PREFIX):
        return INTERRUPTED
    if last_message.startswith(_API_ERROR_PREFIX):
        return API_ERROR
    return STOP_AGAIN if members.get("stop_hook_active") is True else STOP


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _write(descriptor: int, text: str) -> None:
    content = text.encode("utf-8", "replace")
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    except OSError:
        pass  # the host has closed the pipe, so the response has no reader
