"""What the host says on stdin: the model, the folder, the session and its context window.

Every key may be missing or of another kind; then it says nothing. Only JSON that cannot be
read at all, or a folder that is no text, makes an answer impossible.
"""

from fairlead.text.quickjson import read_quick_json

DEFAULT_MODEL = "Claude"

_CONTEXT_WORDS = ("context", "ctx")
_USAGE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


class Host:
    """One message of the host."""

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


def host_of(message: str, folder: str) -> Host:
    """Read one message. Raises `JsonSyntax` or ValueError for what cannot be answered."""
    told = read_quick_json(message)
    if told is None:
        raise ValueError("the host says nothing")
    return Host(told, folder)


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
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]
