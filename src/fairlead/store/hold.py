"""The hold: which session a plan keeps from stopping, and how often it has.

A private file on the desk, small enough to be read and written in no time. Nothing that a person
wrote is in it, and losing it only means that counting begins anew, so it waits for no disk. It is
changed under a lock of its own on the desk's folder, since a hook must not wait for a writer.
"""

from __future__ import annotations

import fcntl
import time

from fairlead.faults import FairleadError, JsonSyntax
from fairlead.model.stopping import GONE_SECONDS, Hold
from fairlead.store import layout
from fairlead.store.confine import Folder, Root
from fairlead.store.desk import open_desk, put
from fairlead.text.quickjson import quick_json_string, read_quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LIMIT = 16 * 1024
_PATIENCE_SECONDS = 1.0
_POLL_SECONDS = 0.005


def load_hold(folder: str, new: Hold, now: float) -> Hold:
    """The hold of a plan; a new one where there is none, or it cannot be read."""
    try:
        with Root(folder) as root:
            desk = root.folder(layout.desk_of(folder))
        if desk is None:
            return new
        with desk:
            return _read(desk, new, now)
    except (OSError, FairleadError):
        return new


def update_hold(folder: str, new: Hold, now: float, change: Callable[[Hold], Hold]) -> bool:
    """Change the hold of a plan; False when that is not possible here or now."""
    try:
        with Root(folder) as root, open_desk(root, layout.desk_of(folder)) as desk:
            if not _locked(desk):
                return False
            _write(desk, change(_read(desk, new, now)))
            return True
    except (OSError, FairleadError):
        return False


def _locked(desk: Folder) -> bool:
    """Take the lock; closing the folder gives it back."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(desk.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


def _read(desk: Folder, new: Hold, now: float) -> Hold:
    """What the file says about this plan. An owner that was not met for long is none."""
    found = desk.stat(layout.HOLD)
    content = desk.read(layout.HOLD, _LIMIT) if found else None
    if found is None or content is None:
        return new
    try:
        told = read_quick_json(content.decode("utf-8", "replace"))
    except JsonSyntax:
        return new
    if not isinstance(told, dict) or told.get("plan") != new.plan:
        return new
    if now - found.st_mtime > GONE_SECONDS:
        return Hold(new.plan)
    return Hold(
        new.plan,
        _text(told.get("owner")),
        blocks=_number(told.get("blocks")),
        total=_number(told.get("total")),
        state=_text(told.get("state")),
    )


def _write(desk: Folder, hold: Hold) -> None:
    plan, owner, state = map(quick_json_string, (hold.plan, hold.owner, hold.state))
    content = f'"plan": {plan}, "owner": {owner}, "state": {state}, "blocks": {hold.blocks}'
    put(desk, layout.HOLD, f'{{{content}, "total": {hold.total}}}\n'.encode())


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
