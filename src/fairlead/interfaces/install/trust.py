"""Which hooks a host does not run yet, because the person has not trusted them.

Only the host writes trust, after asking the person. Here it is read.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from typing import Any

from fairlead.core.user_folders import host_folder

_CLAUDE, _CODEX = "claude", "codex"
_LIMIT = 16 * 1024 * 1024
# The events of our hooks, as Codex spells them in the keys of its trust.
_CODEX_EVENTS = ("stop", "session_start", "pre_compact", "session_end")


def untrusted_hooks(host: str, settings: str) -> tuple[str, ...]:
    """A sentence for the person if the host does not run the hooks in these settings yet."""
    if host != _CODEX or not os.path.lexists(settings):
        return ()
    untrusted = untrusted_codex_events(settings)
    if not untrusted:
        return ()
    return ("Codex runs the hooks after you trust them: start codex and review them",)


def untrusted_codex_events(settings: str) -> tuple[str, ...]:
    """The events whose hooks in this file Codex has no record of trust for."""
    state = _table(_toml(os.path.join(host_folder(_CODEX), "config.toml")), "hooks", "state")
    trusted = {
        key.removeprefix(f"{settings}:").partition(":")[0]
        for key, value in state.items()
        if key.startswith(f"{settings}:") and isinstance(value, Mapping) and "trusted_hash" in value
    }
    return tuple(event for event in _CODEX_EVENTS if event not in trusted)


def is_folder_trusted(folder: str) -> bool | None:
    """Whether Claude Code has been allowed to run hooks in a folder; None: it does not say."""
    home = host_folder(_CLAUDE)
    place = home if os.environ.get("CLAUDE_CONFIG_DIR") else os.path.dirname(home)
    record = _json(os.path.join(place, ".claude.json"))
    if not record:
        return None
    while True:
        accepted = _table(record, "projects", folder).get("hasTrustDialogAccepted")
        if accepted is True:
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above


def _table(value: object, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _toml(path: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_text(path))
    except (OSError, ValueError):
        return {}


def _json(path: str) -> Mapping[str, Any]:
    try:
        value = json.loads(_text(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read(_LIMIT)
