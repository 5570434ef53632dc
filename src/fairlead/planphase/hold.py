"""Stores which session a plan keeps from stopping, and how often it was blocked.

A small private file in the staging folder. It is not synced to disk: losing it only restarts the
count. A lock on the staging folder protects it, because the hook must not wait for the project
lock that long writers take.
"""

from __future__ import annotations

import fcntl
import stat
import time

from fairlead.core.errors import DocumentError, FairleadError
from fairlead.planphase.paths import HOLD
from fairlead.planphase.stop_rule import OWNER_TIMEOUT_SECONDS, Hold
from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.staging import open_staging, replace_small_file, staging_of, writing_name
from fairlead.text.fast_json import json_string, read_fast_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LIMIT = 16 * 1024
_LOCK_TIMEOUT_SECONDS = 1.0
_POLL_SECONDS = 0.005


def load_hold(folder: str, new: Hold, now: float) -> Hold:
    """Return the hold of a plan; `new` if there is none or it cannot be read.

    If `new` names no plan, because its file cannot be read, the hold of any plan counts.
    """
    try:
        with Root(folder) as root:
            staging = root.folder(staging_of(folder))
        if staging is None:
            return new
        with staging:
            return _read(staging, new, now)
    except (OSError, FairleadError):
        return new


def update_hold(folder: str, new: Hold, now: float, change: Callable[[Hold], Hold]) -> bool:
    """Change the hold of a plan; return False if it cannot be locked or written."""
    try:
        with Root(folder) as root, open_staging(root, staging_of(folder)) as staging:
            if not _locked(staging):
                return False
            _clear_place(staging)
            _write(staging, change(_read(staging, new, now)))
            return True
    except (OSError, FairleadError):
        return False


def _locked(staging: ConfinedFolder) -> bool:
    """Take the lock; closing the folder releases it."""
    deadline = time.monotonic() + _LOCK_TIMEOUT_SECONDS
    while True:
        try:
            fcntl.flock(staging.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


def _clear_place(staging: ConfinedFolder) -> None:
    """Move anything but a file away, so that the count works: without it, every stop is held."""
    status = staging.stat(HOLD)
    if status is not None and not stat.S_ISREG(status.st_mode):
        staging.move(HOLD, staging, f"{HOLD}-{writing_name()}")


def _read(staging: ConfinedFolder, new: Hold, now: float) -> Hold:
    """Read the hold of this plan; an owner not seen for long does not count."""
    status = staging.stat(HOLD)
    try:
        content = staging.read(HOLD, _LIMIT) if status else None
        if status is None or content is None:
            return new
        fields = read_fast_json(content.decode("utf-8", "replace"))
    except DocumentError:
        return new
    plan = _text(fields.get("plan")) if isinstance(fields, dict) else ""
    if not isinstance(fields, dict) or plan != (new.plan or plan):
        return new
    if now - status.st_mtime > OWNER_TIMEOUT_SECONDS:
        return Hold(new.plan)
    return Hold(
        plan,
        _text(fields.get("owner")),
        blocks=_number(fields.get("blocks")),
        total=_number(fields.get("total")),
        state=_text(fields.get("state")),
    )


def _write(staging: ConfinedFolder, hold: Hold) -> None:
    plan, owner, state = map(json_string, (hold.plan, hold.owner, hold.state))
    content = f'"plan": {plan}, "owner": {owner}, "state": {state}, "blocks": {hold.blocks}'
    replace_small_file(staging, HOLD, f'{{{content}, "total": {hold.total}}}\n'.encode())


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
