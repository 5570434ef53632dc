"""The active workstream of a project that has several.

The environment names it, or a pointer file of this session in the folder for temporary files, or
a pointer file of the project, in this order. The pointers are those of GSD, so that both tools
agree. A pointer to a missing workstream is ignored and not repaired, because reading changes
nothing.
"""

import os

from fairlead.store import layout
from fairlead.store.confined import Root
from fairlead.store.nearest_project import UNREADABLE, as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SESSION_POINTERS = "gsd-workstream-sessions"
NAMED_BY = "GSD_WORKSTREAM"

# Environment variables that identify a session, most specific first.
_SESSION_NAMES = (
    "GSD_SESSION_KEY", "CODEX_THREAD_ID", "CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT", "OPENCODE_SESSION_ID", "GEMINI_SESSION_ID", "CURSOR_SESSION_ID",
    "WINDSURF_SESSION_ID", "TERM_SESSION_ID", "WT_SESSION", "TMUX_PANE", "ZELLIJ_SESSION_NAME",
)  # fmt: skip
_TERMINAL_NAMES = ("TTY", "SSH_TTY")
_NAME_MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_POINTER_LIMIT = 4096
_LONGEST_TOKEN = 160


def active_workstream(project: str, environment: "Mapping[str, str]") -> str:
    """The name of the active workstream; "" if it is unknown."""
    named = environment.get(NAMED_BY, "").strip()
    if named:
        return named if _is_name(named) else ""
    name = _session_pointer(project, environment)
    name = name or _read_pointer(project, layout.ACTIVE_WORKSTREAM)
    return name if _is_name(name) and _exists(project, name) else ""


def load_workstream_state(project: str, name: str) -> "str | None":
    """The STATE.md of a workstream up to the size limit, or None."""
    try:
        with Root(project) as root:
            path = f"{layout.planning_of(name)}/{layout.STATE_NAME}"
            content = root.read_start(path, layout.STATE_LIMIT)
    except UNREADABLE:
        return None
    return None if content is None else as_text(content)


def session_key(environment: "Mapping[str, str]") -> str:
    """The identity of this session as a file name; "" if it is unknown."""
    for name in _SESSION_NAMES:
        token = _token(environment.get(name, ""))
        if token:
            return f"{name.lower().replace('_', '-')}-{token}"
    for name in _TERMINAL_NAMES:
        token = _token(environment.get(name, ""))
        if token:
            return f"tty-{token.removeprefix('dev_')}"
    return ""


def session_pointer_path(project: str, key: str) -> str:
    """The pointer file of a session, below the folder for temporary files."""
    from hashlib import sha1  # slow to import, and needed only with workstreams

    planning = os.path.realpath(os.path.join(project, layout.PLANNING))
    digest = sha1(os.fsencode(planning), usedforsecurity=False).hexdigest()
    return f"{SESSION_POINTERS}/{digest[:16]}/{key}"


def _session_pointer(project: str, environment: "Mapping[str, str]") -> str:
    key = session_key(environment)
    if not key:
        return ""
    folder = next(filter(None, map(environment.get, ("TMPDIR", "TMP", "TEMP"))), "/tmp")  # noqa: S108
    return _read_pointer(folder, session_pointer_path(project, key))


def _read_pointer(folder: str, path: str) -> str:
    try:
        with Root(folder) as root:
            content = root.read_start(path, _POINTER_LIMIT)
    except UNREADABLE:
        return ""
    return as_text(content or b"").strip()


def _is_name(name: str) -> bool:
    return (
        name[:1] in tuple(_NAME_MARKS)
        and all(mark in _NAME_MARKS or mark in "._-" for mark in name)
        and ".." not in name
    )


def _exists(project: str, name: str) -> bool:
    try:
        with Root(project) as root:
            return root.stat(layout.planning_of(name)) is not None
    except UNREADABLE:
        return False


def _token(text: str) -> str:
    """A text as part of a file name: each run of other characters becomes an underscore."""
    safe = "".join(mark if mark in _NAME_MARKS or mark in "._-" else " " for mark in text)
    return "_".join(safe.split()).strip("_")[:_LONGEST_TOKEN]
