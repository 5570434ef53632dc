"""What the status line is told: by the host on stdin, and by the project's settings.

Every key may be missing or of another kind; then it says nothing. Only JSON that cannot be
read at all, or a folder that is no text, makes an answer impossible.
"""

from fairlead.faults import JsonSyntax
from fairlead.text.quickjson import read_quick_json

DEFAULT_MODEL = "Claude"

_CONTEXT_WORDS = ("context", "ctx")
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class Host:
    """One message of the host: the model, the folder, the session and its context window."""

    __slots__ = ("folder", "model", "remaining", "session", "tokens", "transcript", "window")

    def __init__(self, message: object, folder: str) -> None:
        told = _object(message)
        window = _object(told.get("context_window"))
        model = _object(told.get("model")).get("display_name")
        here = _object(told.get("workspace")).get("current_dir")
        if here and not isinstance(here, str):
            raise ValueError("the folder is no text")
        self.model = short_model(_text(model) or DEFAULT_MODEL)
        self.folder = _text(here) or folder
        self.session = _text(told.get("session_id"))
        self.transcript = _text(told.get("transcript_path"))
        self.remaining = _number(window.get("remaining_percentage"))
        self.window = _number(window.get("total_tokens")) or 0
        usage = _object(window.get("current_usage"))
        self.tokens = sum(_number(usage.get(name)) or 0 for name in _USAGE)


class Options:
    """The settings below `statusline`, each nested or as one dotted key; off unless set."""

    __slots__ = ("_held",)

    def __init__(self, config: str) -> None:
        # Mostly there are none, and then the file need not be read to its end.
        may_matter = "statusline" in config or "\\u" in config
        self._held = read_if_json(config) if may_matter else None

    @property
    def has_context_in_front(self) -> bool:
        """Whether the context meter stands behind the model instead of behind the folder."""
        return self._value("statusline.context_position") == "front"

    @property
    def is_compact(self) -> bool:
        """Whether the state is shown in few characters."""
        return self._value("statusline.state_format") == "compact"

    @property
    def shows_git(self) -> bool:
        """Whether the branch and its work are shown."""
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
        """Whether an old STATE.md is pointed out.

        Commits in nested repositories do not move the outer one, so there its age would lie.
        """
        nested = self._value("planning.sub_repos") or self._value("sub_repos")
        has_nested = isinstance(nested, list) and bool(nested)
        return self._value("statusline.show_state_freshness") is True and not has_nested

    def _value(self, path: str) -> object:
        held = self._held
        if isinstance(held, dict) and path in held:
            return held[path]
        for name in path.split("."):
            if not isinstance(held, dict):
                return None
            held = held.get(name)
        return held


def host_of(message: str, folder: str) -> Host:
    """Read one message. Raises `JsonSyntax` or ValueError for what cannot be answered."""
    told = read_quick_json(message)
    if told is None:
        raise ValueError("the host says nothing")
    return Host(told, folder)


def read_if_json(text: str) -> object:
    """The value of a text that is JSON; None for any other."""
    try:
        return read_quick_json(text)
    except JsonSyntax:
        return None


def short_model(name: str) -> str:
    """The model's name with ` (1M context)` at its end cut to ` (1M)`."""
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
    # A bool is an int to Python and no number to anybody else.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
