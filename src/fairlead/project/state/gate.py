"""The gate in STATE.md: `current_task`, the one task whose gate is shown there.

Only our own keys are set, one by one, so comments and foreign keys in the map survive.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, field
from fairlead.project.errors import GateOpen
from fairlead.project.state.digest import is_recorded_as
from fairlead.project.state.documents import moment, stamped
from fairlead.project.state.gate_rules import (
    Failure,
    Gate,
    GateEvent,
    GateStatus,
    SkipKind,
    advance,
)
from fairlead.project.state.header import with_front
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.text.yaml_emit import Value, scalar_text
from fairlead.text.yaml_scalars import Plain, is_null

KEY = "current_task"
_MAP = lazy_pattern(rf"^{KEY}:[ \t]*\r?\n(?:[ \t]+\S.*(?:\n|\Z))+", re.MULTILINE)
MAIN_SESSION = "main"
_TASK_STATUS: dict[GateStatus | None, str] = {
    GateStatus.APPROVED: "complete",
    GateStatus.BLOCKED: "blocked",
    GateStatus.SKIPPED: "skipped",
}
_SKIPPED = {SkipKind.VERIFY: "complete (unverified)", SkipKind.FORCED: "complete (forced)"}
_RARE = (
    "skip_kind",
    "interruptions",
    "forgiven_failures",
    "session",
    "note",
)  # written only when they have a value


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task and its gate, as a file records them."""

    name: str = ""
    phase: str = ""
    plan: str = ""
    session: str = MAIN_SESSION
    gate: Gate = field(default_factory=Gate)
    started_at: str = ""
    note: str = ""  # why it was blocked or skipped


def read_task(document: Document) -> OpenTask | None:
    """The task that STATE.md shows."""
    keys = document.value(KEY)
    return task_from_keys(keys) if isinstance(keys, dict) else None


def task_from_keys(keys: dict[str, object]) -> OpenTask:
    """Read a task from a map."""
    recorded = keys.get("previous_failures")
    failures = [str(failure) for failure in recorded] if isinstance(recorded, list) else []
    skip = _text(keys, "skip_kind")
    return OpenTask(
        name=_text(keys, "name"),
        phase=_text(keys, "phase"),
        plan=_text(keys, "plan"),
        session=_text(keys, "session") or MAIN_SESSION,
        gate=Gate(
            status=_status(_text(keys, "gate_status")),
            step=_number(keys, "gate_step", 0),
            executor=_text(keys, "executor_status") or "pending",
            verify=_text(keys, "verify_status") or "pending",
            architect=_text(keys, "architect_status") or "pending",
            attempt=_number(keys, "attempt", 1),
            max_attempts=_number(keys, "max_attempts", Gate().max_attempts),
            failures=tuple(Failure.read(text, at) for at, text in enumerate(failures, 1)),
            forgiven=_number(keys, "forgiven_failures", 0),
            interruptions=_number(keys, "interruptions", 0),
            skip_kind=SkipKind(skip) if skip in tuple(SkipKind) else None,
        ),
        started_at=_text(keys, "started_at"),
        note=_text(keys, "note"),
    )


def task_keys(task: OpenTask, now: datetime) -> dict[str, Value]:
    """A task as a map, in reading order."""
    gate = task.gate
    keys: dict[str, Value] = {
        "name": task.name,
        "phase": task.phase or None,
        "plan": task.plan or None,
        "status": _status_word(gate),
        "gate_status": str(gate.status) if gate.status else None,
        "gate_step": gate.step,
        "executor_status": gate.executor,
        "verify_status": gate.verify,
        "architect_status": gate.architect,
        "started_at": task.started_at or None,
        "last_step_at": moment(now),
        "attempt": gate.attempt,
        "max_attempts": gate.max_attempts,
        "previous_failures": [str(failure) for failure in gate.failures],
    }
    rare: dict[str, Value] = {
        "skip_kind": str(gate.skip_kind) if gate.skip_kind else None,
        "interruptions": gate.interruptions,
        "forgiven_failures": gate.forgiven,
        "session": task.session if task.session != MAIN_SESSION else None,
        "note": task.note,
    }
    return keys | {key: value for key, value in rare.items() if value}


def after_event(
    recorded: OpenTask | None, event: GateEvent, given: OpenTask, now: datetime
) -> OpenTask:
    """The task after an event; values given with the event replace recorded ones."""
    before = recorded or OpenTask(session=given.session)
    name = one_line(given.name, "the task") if given.name else before.name
    if event is GateEvent.START:
        is_unfinished = before.gate.is_open or before.gate.status is GateStatus.BLOCKED
        if is_unfinished and name != before.name:
            raise GateOpen(before.name, str(before.gate.status))
        # A closed gate does not say which task starts.
        one_line(name if given.name or is_unfinished else "", "the task")
        gate = before.gate if name == before.name else Gate()
        gate = advance(gate, event, task=name, attempts=given.gate.max_attempts)
        return OpenTask(name, given.phase, given.plan, given.session, gate, moment(now), given.note)
    if before.gate.status is not None and name != before.name:
        raise GateOpen(before.name, str(before.gate.status))
    gate = advance(
        before.gate,
        event,
        task=name,
        summary=given.note,
        skip=given.gate.skip_kind or SkipKind.TASK,
        attempts=given.gate.max_attempts,
    )
    return OpenTask(
        before.name,
        given.phase or before.phase,
        given.plan or before.plan,
        before.session,
        gate,
        before.started_at,
        given.note,
    )


def with_task(document: Document, task: OpenTask, now: datetime) -> Document:
    """STATE.md showing this task."""
    document = with_front(document)
    keys = task_keys(task, now)
    recorded = document.value(KEY)
    if not isinstance(recorded, dict):
        return stamped(document.set_front((KEY,), keys), now)
    document = _with_simple_keys(document, recorded, keys)
    for key, value in keys.items():
        if not is_recorded_as(document.value(KEY, key), value):
            document = document.set_front((KEY, key), value)
    for key in _RARE:
        if key not in keys and key in recorded:
            document = document.remove_front((KEY, key))
    return stamped(document, now)


def _with_simple_keys(
    document: Document, recorded: dict[str, object], keys: Mapping[str, Value]
) -> Document:
    """The document with every key that fills its own line, set in one edit.

    Setting a key parses the frontmatter several times, and a gate changes six keys per step. The
    result is parsed once; if it is not what was meant, the document is returned unchanged.
    """
    found = _MAP.search(document.text)
    if found is None or document.block is None or found.end() > document.block.end:
        return document
    block = found[0]
    expected = dict(recorded)
    for key, value in keys.items():
        old = recorded.get(key)
        if (
            not isinstance(value, str | int)
            or not isinstance(old, str)
            or is_recorded_as(old, value)
        ):
            continue
        is_quoted = isinstance(value, str) and not isinstance(old, Plain)
        text = scalar_text(value, quote='"' if is_quoted else "")
        if not is_quoted and text != str(value):
            continue  # would need quotes that the line does not have
        form = r'"[^"\\\r\n]*"' if is_quoted else r"[\w.:+-]+"
        line = re.compile(rf"^(  {key}: ){form}(?=\r?\n(?:  )?\S|\r?\n?\Z)", re.MULTILINE)
        block, count = line.subn(lambda found, text=text: found[1] + text, block)  # type: ignore[misc]
        expected |= {key: value if is_quoted else text} if count == 1 else {}
    changed = document.replaced(
        document.text[: found.start()] + block + document.text[found.end() :]
    )
    return changed if changed.value(KEY) == expected else document


def without_open_task(document: Document, session: str, now: datetime) -> Document:
    """STATE.md without the unfinished task of a session, which then counts as not started."""
    shown = read_task(document)
    closed = (None, GateStatus.APPROVED, GateStatus.SKIPPED)
    if shown is None or shown.session != session or shown.gate.status in closed:
        return document
    return stamped(document.remove_front((KEY,)), now)


def _status_word(gate: Gate) -> str:
    if gate.skip_kind in _SKIPPED:
        return _SKIPPED[gate.skip_kind]
    return _TASK_STATUS.get(gate.status, "in_progress")


def _status(text: str) -> GateStatus | None:
    return GateStatus(text.upper()) if text.upper() in tuple(GateStatus) else None


def _text(keys: dict[str, object], key: str) -> str:
    value = keys.get(key)
    return value if isinstance(value, str) and not is_null(value) else ""


def _number(keys: dict[str, object], key: str, default: int) -> int:
    value = str(keys.get(key) or "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else default
