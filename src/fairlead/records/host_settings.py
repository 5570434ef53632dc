"""Settings of a host agent: our hooks and status line put in, and taken out again.

Every edit is one splice, and the receipt holds them all, so that taking out is putting back: byte
for byte while nobody else touched the file, and otherwise only what is ours. The hooks and the
status line that a person had stay; ours goes on calling theirs.
"""

import json
import shlex
from collections.abc import Mapping
from hashlib import sha256
from itertools import pairwise

from fairlead.errors import JsonSyntax
from fairlead.text.jsontext import Json, append_json, read_json, remove_json, set_json
from fairlead.values import dataclass

EMPTY = "{\n}\n"  # over two lines, so that what is put in gets lines of its own
HOOKS, STATUS_LINE = "hooks", "statusLine"

_BLANK = "\ufeff \t\r\n"
_STARTS = ("/fairlead/interfaces/hooks", "/fairlead/interfaces/statusline/__main__.py")
_VERBS = (["hook"], ["statusline"])
_BEFORE = "--before"
_SHELL = ("/bin/sh", "-c")  # how the host itself starts a status line


@dataclass(frozen=True, slots=True)
class Handler:
    """One hook of ours."""

    event: str
    words: tuple[str, ...]
    timeout_seconds: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to stand in a settings file."""

    handlers: tuple[Handler, ...]
    has_arguments: bool  # the host takes an argument list; otherwise one text for its shell
    status_line: tuple[str, ...] = ()  # empty: none


@dataclass(frozen=True, slots=True)
class Installed:
    """A settings file with ours in it, and the receipt that takes it out again."""

    text: str
    receipt: str
    keeps: str = ""  # why there is no status line of ours


def installed(text: str | None, receipt: str | None, wanted: Wanted) -> Installed:
    """Put ours in. What an earlier version of us put in is taken out first."""
    before = text or ""
    if has_ours(before):
        before = taken_out(before, receipt)
    texts = [before]
    if before.strip(_BLANK) in ("", "{}"):
        texts.append(EMPTY)
    _require_object(texts[-1])
    for handler in wanted.handlers:
        entry: Json = {"hooks": [_entry(handler, has_arguments=wanted.has_arguments)]}
        texts.append(append_json(texts[-1], (HOOKS, handler.event), entry))
    line, keeps = _with_status_line(texts[-1], wanted.status_line)
    texts.append(line)
    return Installed(line, _receipt(texts, was_there=text is not None), keeps)


def taken_out(text: str, receipt: str | None) -> str:
    """The file without us."""
    told = _read_receipt(receipt)
    if told.get("after") == _hash(text):
        before = _undone(text, told.get("undo"))
        if told.get("before") == _hash(before):
            return before
    return _without_ours(text)


def was_there(receipt: str | None) -> bool:
    """Whether the settings file was there before us."""
    return _read_receipt(receipt).get("was_there") is not False


def has_ours(text: str) -> bool:
    """Whether anything of ours stands in a settings file."""
    return bool(text.strip(_BLANK)) and _without_ours(text) != text


def status_line_of(text: str | None) -> str:
    """The command of the status line; empty where there is none."""
    held = _require_object(text) if text and text.strip(_BLANK) else {}
    line = held.get(STATUS_LINE)
    command = line.get("command") if isinstance(line, dict) else None
    return command if isinstance(command, str) else ""


def is_ours(command: object, arguments: object = None) -> bool:
    """Whether a command starts this program, as a list of arguments or as a text for a shell."""
    if not isinstance(command, str):
        return False
    words = _words(command, arguments)
    if any(word.endswith(_STARTS) for word in words):
        return True
    program = words[0].rpartition("/")[2] if words else ""
    if words[1:3] == ["-m", "fairlead"]:
        program, words = "fairlead", words[2:]
    return program == "fairlead" and words[1:2] in _VERBS


def _words(command: str, arguments: object = None) -> list[str]:
    if isinstance(arguments, list):
        return [command, *map(str, arguments)]
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _entry(handler: Handler, *, has_arguments: bool) -> Json:
    timeout: dict[str, Json] = {"timeout": handler.timeout_seconds}
    if has_arguments:
        program, *arguments = handler.words
        return {"type": "command", "command": program, "args": [*arguments], **timeout}
    return {"type": "command", "command": shlex.join(handler.words), **timeout}


def _with_status_line(text: str, words: tuple[str, ...]) -> tuple[str, str]:
    if not words:
        return text, ""
    held = _require_object(text)
    if STATUS_LINE not in held:
        line: Json = {"type": "command", "command": shlex.join(words)}
        return set_json(text, (STATUS_LINE,), line), ""
    theirs = status_line_of(text)
    if not theirs:
        return text, "the status line there is of another kind, and stays as it is"
    composed = shlex.join((*words, _BEFORE, *_SHELL, theirs))
    return set_json(text, (STATUS_LINE, "command"), composed), ""


def _without_ours(text: str) -> str:
    """Take out what starts this program; lists and objects that hold nothing then go too."""
    hooks = _require_object(text).get(HOOKS)
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        rest = text
        for at in reversed(range(len(groups) if isinstance(groups, list) else 0)):
            rest = _without_handlers(rest, event, at)
        if rest != text:
            text = _pruned(_pruned(rest, (HOOKS, event)), (HOOKS,))
    command = status_line_of(text)
    if not is_ours(command):
        return text
    words = _words(command)
    theirs = words[-1] if tuple(words[-4:-1]) == (_BEFORE, *_SHELL) else ""
    if theirs:
        return set_json(text, (STATUS_LINE, "command"), theirs)
    return remove_json(text, (STATUS_LINE,))


def _without_handlers(text: str, event: str, group: int) -> str:
    path = (HOOKS, event, group, "hooks")
    handlers = _held(text, path)
    if not isinstance(handlers, list):
        return text
    ours = [
        at
        for at, each in enumerate(handlers)
        if isinstance(each, dict) and is_ours(each.get("command"), each.get("args"))
    ]
    if ours and len(ours) == len(handlers):
        return remove_json(text, path[:-1])
    for at in reversed(ours):
        text = remove_json(text, (*path, at))
    return text


def _pruned(text: str, path: tuple[str, ...]) -> str:
    return text if _held(text, path) not in ([], {}) else remove_json(text, path)


def _held(text: str, path: tuple[str | int, ...]) -> object:
    held: object = read_json(text).value
    for part in path:
        if isinstance(held, dict) and isinstance(part, str):
            held = held.get(part)
        elif isinstance(held, list) and isinstance(part, int):
            held = held[part]
        else:
            return None
    return held


def _require_object(text: str) -> dict[str, Json]:
    held = read_json(text).value
    if not isinstance(held, dict):
        raise JsonSyntax("a settings file holds one object", line=1, column=1)
    return held


def _receipt(texts: list[str], *, was_there: bool) -> str:
    undo = [_splice(old, new) for old, new in pairwise(texts) if old != new]
    told = {
        "about": "What fairlead put into the file beside this one; fairlead uninstall needs it.",
        "was_there": was_there,
        "before": _hash(texts[0]),
        "after": _hash(texts[-1]),
        "undo": undo,
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def _splice(old: str, new: str) -> tuple[int, int, str]:
    """Where the new text differs, how much of it to take out, and what stood there."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    rest = 0
    while rest < min(len(old), len(new)) - start and old[-1 - rest] == new[-1 - rest]:
        rest += 1
    return start, len(new) - rest - start, old[start : len(old) - rest]


def _undone(text: str, undo: object) -> str:
    try:
        for start, length, old in reversed(undo) if isinstance(undo, list) else ():
            text = text[:start] + old + text[start + length :]
    except (TypeError, ValueError):
        return ""  # a person's hand was in the receipt: it proves nothing then
    return text


def _read_receipt(receipt: str | None) -> Mapping[str, object]:
    try:
        told = json.loads(receipt or "{}")
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
