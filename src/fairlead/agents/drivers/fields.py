"""Reading the JSON lines of agents: typed fields, open tool calls, and HTTP status codes.

A field that is missing or of another type reads as empty, and an event that is not known becomes
`OtherEvent`: programs change from week to week, and a new field must not end a run. Errors are
recognised by typed fields and by the program's own messages, never by what a model wrote.
"""

from collections.abc import Iterator, Mapping

from fairlead.agents.model import AgentEvent, EndKind, FileChanged, ToolFinished, ToolStarted

Line = Mapping[str, object]

SUBJECT_LENGTH = 200
MOST_CALLS = 1000  # a stream may open calls without end; only so many are remembered
_WRITERS = {"Edit", "Write", "MultiEdit", "NotebookEdit", "write_file", "replace", "write", "edit"}
_PATH_FIELDS = ("file_path", "filePath", "absolute_path", "notebook_path", "path")


class StreamMemory:
    """What a format has to remember between lines."""

    def __init__(self) -> None:
        self.session = ""
        self.tools: dict[str, tuple[str, str]] = {}  # open calls: tool, and the file it writes
        self.message = ""  # the message whose tokens were counted last
        self.fault: EndKind | None = None  # of the main thread's last message
        self.has_answer = False  # some message of a model has cost tokens
        self.denied: set[str] = set()  # calls already reported as denied

    def open(self, call: str, tool: str, values: Line) -> ToolStarted:
        """Remember a tool call that has begun."""
        path = next((value for name in _PATH_FIELDS if (value := word(values, name))), "")
        if len(self.tools) < MOST_CALLS:
            self.tools[call] = (tool, path if tool in _WRITERS else "")
        subject = path or word(values, "command") or word(values, "cmd") or word(values, "pattern")
        return ToolStarted(call, tool, subject[:SUBJECT_LENGTH])

    def close(self, call: str, *, is_error: bool) -> Iterator[AgentEvent]:
        """The events of a tool call that has its result."""
        tool, path = self.tools.pop(call, ("", ""))
        yield ToolFinished(call, tool, is_error)
        if path and not is_error:
            yield FileChanged(path)


def fault_of_status(status: int) -> EndKind:
    """What the HTTP status of a model service means for the call."""
    if status in (401, 402, 403):
        return EndKind.AUTH
    if status == 429:
        return EndKind.RATE_LIMITED
    return EndKind.OVERLOADED if status in (408, 500, 502, 503, 504, 529) else EndKind.FAILED


def word(line: Line, *path: str) -> str:
    """The text at a path, or nothing."""
    value = _at(line, path)
    if not isinstance(value, str):
        return ""
    # A program may cut its text inside a surrogate pair; half a pair cannot be written to a file.
    return value.encode("utf-8", "replace").decode("utf-8")


def number(line: Line, *path: str) -> float:
    """The number at a path; 0 if there is none, or one that is negative or not finite."""
    value = _at(line, path)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1e15 else 0  # type: ignore[operator,return-value]


def count(line: Line, *path: str) -> int:
    """The whole number at a path, or 0."""
    return int(number(line, *path))


def table(line: Line, *path: str) -> Line:
    """The object at a path, or an empty one."""
    value = _at(line, path)
    return value if isinstance(value, Mapping) else {}


def rows(line: Line, *path: str) -> list[Line]:
    """The objects of the list at a path."""
    value = _at(line, path)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _at(value: object, path: tuple[str, ...]) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
