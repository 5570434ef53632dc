"""The input of the status line: the host's message on stdin, and the project's settings.

A key that is missing or has an unexpected type counts as not given. Only text that is not JSON,
or a folder that is not a string, makes the line impossible.
"""

from fairlead.core.errors import DocumentError
from fairlead.text.fast_json import read_fast_json

DEFAULT_MODEL = "Claude"

_CONTEXT_WORDS = ("context", "ctx")
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class HostMessage:
    """One message from the host: the model, the folder, the session and its context window."""

    __slots__ = ("folder", "model", "remaining", "session", "tokens", "transcript", "window")

    def __init__(self, message: object, folder: str) -> None:
        members = _object(message)
        window = _object(members.get("context_window"))
        model = _object(members.get("model")).get("display_name")
        current = _object(members.get("workspace")).get("current_dir")
        if current and not isinstance(current, str):
            raise ValueError("the folder is not a string")
        self.model = short_model(_text(model) or DEFAULT_MODEL)
        self.folder = _text(current) or folder
        self.session = _text(members.get("session_id"))
        self.transcript = _text(members.get("transcript_path"))
        self.remaining = _number(window.get("remaining_percentage"))
        self.window = _number(window.get("total_tokens")) or 0
        usage = _object(window.get("current_usage"))
        self.tokens = sum(_number(usage.get(name)) or 0 for name in _USAGE)


class Options:
    """The settings under `statusline`, nested or as dotted keys; all are off by default."""

    __slots__ = ("_settings",)

    def __init__(self, config: str) -> None:
        # Most files have no such setting, and then parsing can be skipped.
        may_matter = "statusline" in config or "\\u" in config
        self._settings = read_if_json(config) if may_matter else None

    @property
    def has_context_in_front(self) -> bool:
        """Whether the context meter follows the model instead of the folder."""
        return self._value("statusline.context_position") == "front"

    @property
    def is_compact(self) -> bool:
        """Whether the project state is shortened."""
        return self._value("statusline.state_format") == "compact"

    @property
    def shows_git(self) -> bool:
        """Whether the branch and its changes are shown."""
        return self._value("statusline.show_git") is True

    @property
    def shows_tokens(self) -> bool:
        """Whether the meter also counts tokens."""
        return self._value("statusline.show_context_tokens") is True

    @property
    def shows_last_command(self) -> bool:
        """Whether the last command of the session is shown."""
        return self._value("statusline.show_last_command") is True

    @property
    def shows_freshness(self) -> bool:
        """Whether an outdated STATE.md is reported.

        Commits in nested repositories do not move HEAD of the outer one, so with nested
        repositories the age would be wrong.
        """
        nested = self._value("planning.sub_repos") or self._value("sub_repos")
        has_nested = isinstance(nested, list) and bool(nested)
        return self._value("statusline.show_state_freshness") is True and not has_nested

    def _value(self, path: str) -> object:
        value = self._settings
        if isinstance(value, dict) and path in value:
            return value[path]
        for name in path.split("."):
            if not isinstance(value, dict):
                return None
            value = value.get(name)
        return value


def read_host_message(message: str, folder: str) -> HostMessage:
    """Parse one message. Raises `DocumentError` or ValueError when it cannot be used."""
    value = read_fast_json(message)
    if value is None:
        raise ValueError("the message is empty")
    return HostMessage(value, folder)


def read_if_json(text: str) -> object:
    """The value of a JSON text; None when the text is not JSON."""
    try:
        return read_fast_json(text)
    except DocumentError:
        return None


def short_model(name: str) -> str:
    """The name of a model with a final ` (1M context)` shortened to ` (1M)`."""
    if not name.endswith(")"):
        return name
    inner = name[:-1]
    word = next((word for word in _CONTEXT_WORDS if inner.lower().endswith(word)), "")
    before = inner[: len(inner) - len(word)]
    size = before.rstrip()
    opening = size.find("(", size.rfind(")") + 1)
    if not word or size == before or opening < 0 or opening == len(size) - 1:
        return name
    return f"{size[:opening].rstrip()} ({size[opening + 1 :]})"


def _object(value: object) -> "dict[str, object]":
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> "float | None":
    # In Python a bool is an int, but in JSON it is not a number.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
