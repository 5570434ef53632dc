"""What a host tells a hook, and is told: JSON of the same shape in Claude Code and Codex.

`session_id`, `cwd` and `hook_event_name` are needed; every other key may be missing or of another
kind, and keys that nobody knows yet are passed over. What cannot be read is no event at all.
"""

from fairlead.faults import JsonSyntax
from fairlead.model.stopping import API_ERROR, INTERRUPTED, OTHER, STOP, STOP_AGAIN, SUBAGENT
from fairlead.text.quickjson import read_quick_json

# How the host words it when a turn ended in another way than by the agent's own choice.
_INTERRUPTED = "[Request interrupted"
_API_ERROR = "API Error"


class Told:
    """One message of the host; empty where it says nothing."""

    __slots__ = ("event", "folder", "session", "source", "stop")

    def __init__(self, message: bytes) -> None:
        try:
            held = read_quick_json(message.decode("utf-8", "replace"))
        except JsonSyntax:
            held = None
        told = held if isinstance(held, dict) else {}
        self.event = _text(told.get("hook_event_name"))
        self.session = _text(told.get("session_id"))
        self.folder = _text(told.get("cwd"))
        self.source = _text(told.get("source") or told.get("reason") or told.get("trigger"))
        self.stop = _stop(told) if self.is_complete else OTHER

    @property
    def is_complete(self) -> bool:
        """Whether it says who, where and what; without a session nobody can be held."""
        return bool(self.event and self.session and self.folder and "\0" not in self.folder)


class Answer:
    """What a hook says: members of one JSON object for the host, and a line for its log."""

    __slots__ = ("members", "note")

    def __init__(self, members: "tuple[tuple[str, str], ...]" = (), note: str = "") -> None:
        self.members = members  # each value is JSON already
        self.note = note


def _stop(told: "dict[str, object]") -> str:
    """Which row of the table it asks for."""
    event = told.get("hook_event_name")
    if event == "SubagentStop" or told.get("agent_id"):
        return SUBAGENT
    if event != "Stop":
        return OTHER
    last = _text(told.get("last_assistant_message")).lstrip()
    if last.startswith(_INTERRUPTED):
        return INTERRUPTED
    if last.startswith(_API_ERROR):
        return API_ERROR
    return STOP_AGAIN if told.get("stop_hook_active") is True else STOP


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
