"""Whether another hook of Fairlead answers the same event, so that each event is answered once.

Hooks can be registered by a plugin, in the project's settings and in the user's own. The user's
own hook answers, then the project's, then the plugin's. A hook that Codex does not
trust does not run, so it does not count.
"""

from __future__ import annotations

import os

from fairlead.core.errors import DocumentError
from fairlead.core.host_commands import is_fairlead_command
from fairlead.core.user_folders import (
    CLAUDE_LOCAL_SETTINGS,
    CLAUDE_SETTINGS,
    CODEX_CONFIG,
    CODEX_HOOKS,
    host_folder,
)
from fairlead.interfaces.hooks.message import HookMessage
from fairlead.text.fast_json import read_fast_json

_LIMIT = 1024 * 1024


def is_answered_elsewhere(source: str, message: HookMessage) -> bool:
    """Whether a hook with precedence over this one is registered for the event."""
    host, _, kind = source.partition("-")
    return any(_has_hook(path, message.event, host) for path in _settings(host, kind, message))


def _settings(host: str, kind: str, message: HookMessage) -> list[str]:
    if host == "codex":
        return [os.path.join(host_folder("codex"), CODEX_HOOKS)]
    user = os.path.join(host_folder("claude"), CLAUDE_SETTINGS)
    start = os.environ.get("CLAUDE_PROJECT_DIR") or message.folder
    local = os.path.join(start, ".claude", CLAUDE_LOCAL_SETTINGS)
    shared = os.path.join(start, ".claude", CLAUDE_SETTINGS)
    return [user, local, shared] if kind == "plugin" else [user, local]


def _has_hook(path: str, event: str, host: str) -> bool:
    try:
        settings = read_fast_json(_text(path).removeprefix("\ufeff"))
    except (OSError, DocumentError):
        return False
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    groups = hooks.get(event) if isinstance(hooks, dict) else None
    is_there = any(map(_runs_fairlead, groups if isinstance(groups, list) else ()))
    return is_there and (host != "codex" or _is_trusted(path))


def _runs_fairlead(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return any(
        is_fairlead_command(hook.get("command"), hook.get("args"))
        for hook in (hooks if isinstance(hooks, list) else ())
        if isinstance(hook, dict)
    )


def _is_trusted(path: str) -> bool:
    try:
        return f'"{path}:' in _text(os.path.join(host_folder("codex"), CODEX_CONFIG))
    except OSError:
        return False


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(_LIMIT)
