"""What a person approved, confirmed, waived, released and allowed, in their private state folder.

The plan file lies in the repository, where an agent can edit any line. A statement of a person
therefore counts only together with its entry in this record. Each entry is the hash of what the
person saw, and when they said it; `facts` reads the record, without this module.
"""

from __future__ import annotations

import json

from fairlead.planphase.paths import checks_name
from fairlead.store.files import Files

APPROVED, CONFIRMED, WAIVED, RELEASED = "approved", "confirmed", "waived", "released"
_ALLOWED, _RESULTS = "allowed", "results"
_KEYS = (APPROVED, CONFIRMED, WAIVED, RELEASED, _ALLOWED, _RESULTS)


class PersonRecord:
    """The record of one project."""

    def __init__(self, private: Files, folder: str) -> None:
        self._private = private
        self._folder = folder

    def state(self, kinds: tuple[str, ...], content: str, now: str, command: str) -> None:
        """Record a person's statements about one content, before they are written anywhere else."""
        self._update({kind: {content: now} for kind in kinds}, command)

    def allow(self, command: str, now: str, result: dict[str, object]) -> None:
        """Record that a person allowed a command, and its result."""
        entries: dict[str, dict[str, object]] = {_RESULTS: {command: result}}
        self._update(entries, "planning confirm", kept={_ALLOWED: {command: now}})

    def _update(
        self,
        entries: dict[str, dict[str, object]] | dict[str, dict[str, str]],
        command: str,
        kept: dict[str, dict[str, str]] | None = None,
    ) -> None:
        def edit(text: str) -> str:
            record = _read(text)
            for kind, new in entries.items():
                record[kind] = {**record.get(kind, {}), **new}
            for kind, old in (kept or {}).items():
                record[kind] = {**old, **record.get(kind, {})}
            content = {"version": 1, "project": self._folder, **record}
            return json.dumps(content, indent=2) + "\n"

        self._private.update(checks_name(self._folder), edit, command=command, may_create=True)


def _read(text: str) -> dict[str, dict[str, object]]:
    """Read the record; an unreadable one is empty, so nothing is allowed or approved."""
    try:
        record = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    return {key: record[key] for key in _KEYS if isinstance(record.get(key), dict)}
