"""Edits the JSON settings of a host agent: adds hooks, status line and MCP server, or removes them.

Knows no disk. The user's hooks stay, and the user's status line is kept: Fairlead's line runs it
and shows its output first. `receipt` makes removing exact; without a receipt, the commands that
run Fairlead are found and removed one by one.
"""

import shlex

from fairlead.core.host_commands import command_words, is_fairlead_command
from fairlead.core.host_names import PRODUCT
from fairlead.core.values import dataclass
from fairlead.interfaces.install.errors import NameTaken
from fairlead.text.errors import JsonSyntax
from fairlead.text.json_edit import (
    Json,
    JsonNode,
    append_json,
    read_json,
    remove_json,
    set_json,
)

EMPTY = "{\n}\n"  # two lines, so that added keys get their own lines
HOOKS, STATUS_LINE = "hooks", "statusLine"
SERVER_KEYS = ("mcpServers", "mcp")  # where hosts list their MCP servers

_BLANK = "\ufeff \t\r\n"
_BEFORE = "--before"
_SHELL = ("/bin/sh", "-c")  # the host runs a status line command in a shell


@dataclass(frozen=True, slots=True)
class HookEntry:
    """One hook to add: the event, its command and its time limit in the unit of the host."""

    event: str
    words: tuple[str, ...]
    timeout: int
    name: str = ""  # for hosts that show one


@dataclass(frozen=True, slots=True)
class SettingsEntries:
    """What to add to a settings file."""

    hooks: tuple[HookEntry, ...] = ()
    has_arguments: bool = False  # the host takes an argument list; otherwise a shell command
    status_line: tuple[str, ...] = ()  # empty: none
    server: tuple[str, Json] | None = None  # the key of the servers, and the entry of ours
    allows_comments: bool = False  # the host reads JSON with comments


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """Every intermediate text, because a receipt records each edit as one splice."""

    texts: tuple[str, ...]
    note: str = ""  # why the status line was not added

    @property
    def text(self) -> str:
        """The settings with the entries."""
        return self.texts[-1]


def with_entries(text: str, entries: SettingsEntries) -> SettingsEdit:
    """Add the entries to settings that have none of ours."""
    texts = [text]
    comments = entries.allows_comments
    if text.strip(_BLANK) in ("", "{}"):
        texts.append(EMPTY)
    _require_object(texts[-1], comments=comments)
    for hook in entries.hooks:
        group: Json = {"hooks": [_hook_json(hook, has_arguments=entries.has_arguments)]}
        path = (HOOKS, hook.event)
        texts.append(append_json(texts[-1], path, group, comments=comments))
    if entries.server:
        key, value = entries.server
        if _value_at(texts[-1], (key, PRODUCT), comments=comments) is not None:
            raise NameTaken("", f"{key}.{PRODUCT}")
        texts.append(set_json(texts[-1], (key, PRODUCT), value, comments=comments))
    after, note = _with_status_line(texts[-1], entries.status_line)
    return SettingsEdit((*texts, after), note)


def without_entries(text: str, *, comments: bool = False) -> str:
    """Remove every command that runs Fairlead, and lists and objects that become empty."""
    if not text.strip(_BLANK):
        return text
    hooks = _require_object(text, comments=comments).get(HOOKS)
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        edited = text
        # From the end, so that removing a group does not move those that follow.
        for index in reversed(range(len(groups) if isinstance(groups, list) else 0)):
            edited = _without_hooks(edited, event, index, comments=comments)
        if edited != text:
            edited = _without_if_empty(edited, (HOOKS, event), comments=comments)
            text = _without_if_empty(edited, (HOOKS,), comments=comments)
    for key in SERVER_KEYS:
        server = _value_at(text, (key, PRODUCT), comments=comments)
        if isinstance(server, dict) and is_fairlead_command(
            server.get("command"), server.get("args")
        ):
            text = remove_json(text, (key, PRODUCT), comments=comments)
            text = _without_if_empty(text, (key,), comments=comments)
    return _without_status_line(text, comments=comments)


def has_entries(text: str, *, comments: bool = False) -> bool:
    """Whether a settings file runs Fairlead."""
    return without_entries(text, comments=comments) != text


def is_blank(text: str) -> bool:
    """Whether settings say nothing."""
    return "".join(text.strip(_BLANK).split()) in ("", "{}")


def status_line_of(text: str | None) -> str:
    """The command of the status line; empty if there is none."""
    settings = _require_object(text) if text and text.strip(_BLANK) else {}
    line = settings.get(STATUS_LINE)
    command = line.get("command") if isinstance(line, dict) else None
    return command if isinstance(command, str) else ""


def _hook_json(hook: HookEntry, *, has_arguments: bool) -> Json:
    name: dict[str, Json] = {"name": hook.name} if hook.name else {}
    timeout: dict[str, Json] = {"timeout": hook.timeout}
    if has_arguments:
        program, *arguments = hook.words
        return {"type": "command", "command": program, "args": [*arguments], **timeout}
    return {"type": "command", **name, "command": shlex.join(hook.words), **timeout}


def _with_status_line(text: str, words: tuple[str, ...]) -> tuple[str, str]:
    if not words:
        return text, ""
    if STATUS_LINE not in _require_object(text):
        line: Json = {"type": "command", "command": shlex.join(words)}
        return set_json(text, (STATUS_LINE,), line), ""
    user_command = status_line_of(text)
    if not user_command:
        return text, "the existing status line is not a command, so it was left unchanged"
    combined = shlex.join((*words, _BEFORE, *_SHELL, user_command))
    return set_json(text, (STATUS_LINE, "command"), combined), ""


def _without_status_line(text: str, *, comments: bool) -> str:
    line = _require_object(text, comments=comments).get(STATUS_LINE)
    command = line.get("command") if isinstance(line, dict) else None
    if not isinstance(command, str) or not is_fairlead_command(command):
        return text
    words = command_words(command)
    user_command = words[-1] if tuple(words[-4:-1]) == (_BEFORE, *_SHELL) else ""
    if user_command:
        return set_json(text, (STATUS_LINE, "command"), user_command, comments=comments)
    return remove_json(text, (STATUS_LINE,), comments=comments)


def _without_hooks(text: str, event: str, group: int, *, comments: bool) -> str:
    path = (HOOKS, event, group, "hooks")
    hooks = _value_at(text, path, comments=comments)
    if not isinstance(hooks, list):
        return text
    indexes = [
        index
        for index, hook in enumerate(hooks)
        if isinstance(hook, dict) and is_fairlead_command(hook.get("command"), hook.get("args"))
    ]
    if indexes and len(indexes) == len(hooks):
        return remove_json(text, path[:-1], comments=comments)
    for index in reversed(indexes):
        text = remove_json(text, (*path, index), comments=comments)
    return text


def _without_if_empty(text: str, path: tuple[str, ...], *, comments: bool) -> str:
    node: JsonNode | None = read_json(text, comments=comments)
    for key in path:
        node = node.child(key) if node else None
    if node is None or node.value not in ([], {}):
        return text
    has_comment = bool(text[node.start + 1 : node.end - 1].strip())  # which is the user's
    return text if has_comment else remove_json(text, path, comments=comments)


def _value_at(text: str, path: tuple[str | int, ...], *, comments: bool) -> object:
    value: object = read_json(text, comments=comments).value
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            return None
    return value


def _require_object(text: str, *, comments: bool = False) -> dict[str, Json]:
    value = read_json(text, comments=comments).value
    if not isinstance(value, dict):
        raise JsonSyntax("a settings file must contain one object", line=1, column=1)
    return value
