"""The gate in STATE.md: `current_task`, the one task whose gate is shown there.

Only keys that mean something here are set, one by one, so that a comment or a key of somebody
else in the map survives.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from fairlead.errors import GateOpen
from fairlead.model.lifecycle import Failure, Gate, GateEvent, GateStatus, SkipKind, advance
from fairlead.model.status import Status, normalise
from fairlead.records.digest import is_said
from fairlead.records.state import moment, stamped
from fairlead.text.document import Document
from fairlead.text.emit import Value, scalar_text
from fairlead.text.inline import one_line
from fairlead.text.scalars import Plain, is_null
from fairlead.values import dataclass, field

KEY = "current_task"
_MAP = re.compile(rf"^{KEY}:[ \t]*\r?\n(?:[ \t]+\S.*(?:\n|\Z))+", re.MULTILINE)
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
)  # if they say anything


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
    """The task that STATE.md shows; None if it shows none."""
    held = document.value(KEY)
    return task_from(held) if isinstance(held, dict) else None


def task_from(held: dict[str, object]) -> OpenTask:
    """A task from the keys of a map."""
    failures = held.get("previous_failures")
    told = [str(each) for each in failures] if isinstance(failures, list) else []
    skip = _text(held, "skip_kind")
    return OpenTask(
        name=_text(held, "name"),
        phase=_text(held, "phase"),
        plan=_text(held, "plan"),
        session=_text(held, "session") or MAIN_SESSION,
        gate=Gate(
            status=_status(_text(held, "gate_status")),
            step=_number(held, "gate_step", 0),
            executor=_text(held, "executor_status") or "pending",
            verify=_text(held, "verify_status") or "pending",
            architect=_text(held, "architect_status") or "pending",
            attempt=_number(held, "attempt", 1),
            max_attempts=_number(held, "max_attempts", Gate().max_attempts),
            failures=tuple(Failure.read(each, at) for at, each in enumerate(told, 1)),
            forgiven=_number(held, "forgiven_failures", 0),
            interruptions=_number(held, "interruptions", 0),
            skip_kind=SkipKind(skip) if skip in tuple(SkipKind) else None,
        ),
        started_at=_text(held, "started_at"),
        note=_text(held, "note"),
    )


def task_keys(task: OpenTask, now: datetime) -> dict[str, Value]:
    """A task as the keys of a map, in the order in which people read them."""
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


def after_event(held: OpenTask | None, event: GateEvent, told: OpenTask, now: datetime) -> OpenTask:
    """The task after an event; what was told of it now fills what was told before."""
    before = held or OpenTask(session=told.session)
    name = one_line(told.name, "the task") if told.name else before.name
    if event is GateEvent.START:
        is_kept = before.gate.is_open or before.gate.status is GateStatus.BLOCKED
        if is_kept and name != before.name:
            raise GateOpen(before.name, str(before.gate.status))
        one_line(name, "the task")
        gate = advance(before.gate if name == before.name else Gate(), event, task=name)
        return OpenTask(name, told.phase, told.plan, told.session, gate, moment(now), told.note)
    if before.gate.status is not None and name != before.name:
        raise GateOpen(before.name, str(before.gate.status))
    gate = advance(
        before.gate, event, task=name, summary=told.note, skip=told.gate.skip_kind or SkipKind.TASK
    )
    return OpenTask(
        before.name,
        told.phase or before.phase,
        told.plan or before.plan,
        before.session,
        gate,
        before.started_at,
        told.note,
    )


def with_task(document: Document, task: OpenTask, now: datetime) -> Document:
    """STATE.md with this task as the one it shows."""
    document = with_front(document)
    keys = task_keys(task, now)
    if not isinstance(document.value(KEY), dict):
        return stamped(document.set_front((KEY,), keys), now)
    held = document.value(KEY)
    assert isinstance(held, dict)
    document = _with_plain(document, held, keys)
    for key, value in keys.items():
        if not is_said(document.value(KEY, key), value):
            document = document.set_front((KEY, key), value)
    for key in _RARE:
        if key not in keys and key in held:
            document = document.remove_front((KEY, key))
    return stamped(document, now)


def _with_plain(document: Document, held: dict[str, object], keys: Mapping[str, Value]) -> Document:
    """The document with every plain key that stands on a line of its own, set in one go.

    An edit of frontmatter reads all of it several times, and a gate changes half a dozen keys at
    each step. What comes of it is read once: anything unexpected, and nothing was done.
    """
    found = _MAP.search(document.text)
    if found is None or document.block is None or found.end() > document.block.end:
        return document
    block = found[0]
    said = dict(held)
    for key, value in keys.items():
        old = held.get(key)
        if not isinstance(value, str | int) or not isinstance(old, str) or is_said(old, value):
            continue
        is_quoted = isinstance(value, str) and not isinstance(old, Plain)
        text = scalar_text(value, quote='"' if is_quoted else "")
        if not is_quoted and text != str(value):
            continue  # a plain word would have to be quoted
        form = r'"[^"\\\r\n]*"' if is_quoted else r"[\w.:+-]+"
        line = re.compile(rf"^(  {key}: ){form}(?=\r?\n(?:  )?\S|\r?\n?\Z)", re.MULTILINE)
        block, count = line.subn(lambda found, text=text: found[1] + text, block)  # type: ignore[misc]
        said |= {key: value if is_quoted else text} if count == 1 else {}
    changed = document.replaced(
        document.text[: found.start()] + block + document.text[found.end() :]
    )
    return changed if changed.value(KEY) == said else document


def without_open_task(document: Document, session: str, now: datetime) -> Document:
    """STATE.md without the task of a session that was not finished; it has not started."""
    shown = read_task(document)
    closed = (None, GateStatus.APPROVED, GateStatus.SKIPPED)
    if shown is None or shown.session != session or shown.gate.status in closed:
        return document
    return stamped(document.remove_front((KEY,)), now)


def with_front(document: Document) -> Document:
    """The document with frontmatter; one without gets the shortest there is."""
    document.require_writable()
    if document.block is not None:
        return document
    mark = "\ufeff" if document.text.startswith("\ufeff") else ""
    ending = document.ending
    field = document.field("Status", document.section("Current Position"))
    said = normalise(field.value) if field else Status.UNKNOWN
    # Whoever needs frontmatter records a step: where the body does not say which, it is work.
    status = said if said is not Status.UNKNOWN else Status.EXECUTING
    head = ending.join(("---", "gsd_state_version: '1.0'", f"status: {status}", "---", "", ""))
    return document.replaced(mark + head + document.text.removeprefix(mark))


def _status_word(gate: Gate) -> str:
    if gate.skip_kind in _SKIPPED:
        return _SKIPPED[gate.skip_kind]
    return _TASK_STATUS.get(gate.status, "in_progress")


def _status(text: str) -> GateStatus | None:
    return GateStatus(text.upper()) if text.upper() in tuple(GateStatus) else None


def _text(held: dict[str, object], key: str) -> str:
    value = held.get(key)
    return value if isinstance(value, str) and not is_null(value) else ""


def _number(held: dict[str, object], key: str, otherwise: int) -> int:
    value = str(held.get(key) or "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else otherwise
