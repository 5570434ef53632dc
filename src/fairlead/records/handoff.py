"""The hand-over file: what the next session needs when this one dies.

A process that dies writes nothing, so the file is written ahead, at every step of a gate. It is
ours when it says which session it belongs to; any other file of the same name was written by
somebody else and is only shown.
"""

from datetime import datetime

from fairlead.model.lifecycle import GateStatus
from fairlead.records.gate import OpenTask, task_from, task_keys
from fairlead.records.state import moment
from fairlead.text.document import Document
from fairlead.text.emit import block_lines
from fairlead.text.inline import one_line
from fairlead.text.scalars import is_null
from fairlead.values import dataclass

VERSION = "1"
_NOT_HERE = ("session", "status", "last_step_at")
_AGAIN = {
    GateStatus.EXECUTING: "Run {task} again, from step 1, as the same attempt",
    GateStatus.VERIFYING: "Run the verify command of {task} again",
    GateStatus.REVIEWING: "Ask the architect about {task} again",
    GateStatus.FAILED: "Retry {task}, or skip it",
    GateStatus.BLOCKED: "Do what {task} waits for, then unblock it",
}


@dataclass(frozen=True, slots=True)
class Handover:
    """A hand-over as it was found."""

    path: str
    session: str  # empty: it is not ours
    task: OpenTask
    resumed_by: str
    last_updated: str
    reason: str
    next_steps: tuple[str, ...]

    @property
    def is_ours(self) -> bool:
        """Whether this program wrote it."""
        return bool(self.session)

    @property
    def is_open(self) -> bool:
        """Whether the gate it tells of was still open."""
        return self.task.gate.status not in (None, GateStatus.APPROVED, GateStatus.SKIPPED)


def read_handover(path: str, text: str) -> Handover:
    """Read a hand-over of anybody."""
    document = Document(text)
    front = {key: value for key, value in document.shown_front.items() if not is_null(value)}
    is_ours = str(front.get("version", "")) == VERSION and "session" in front
    held: dict[str, object] = {**front, "name": front.get("task_name") or front.get("task", "")}
    section = document.section("Next steps", "Remaining work", "Next action")
    lines = document.section_lines(section) if section else ()
    return Handover(
        path=path,
        session=str(front["session"]) if is_ours else "",
        task=task_from(held),
        resumed_by=str(front.get("resumed_by", "")),
        last_updated=str(front.get("last_updated", "")),
        reason=str(front.get("reason", "")),
        next_steps=tuple(line.text.strip() for line in lines if line.text.strip()),
    )


def written_ahead(task: OpenTask, now: datetime, *, notes: tuple[str, ...] = ()) -> str:
    """The hand-over for where a task is now."""
    keys = task_keys(task, now)
    name = one_line(task.name, "the task")
    front = {
        "version": 1,
        "session": task.session,
        "phase": keys.pop("phase"),
        "plan": keys.pop("plan"),
        "task_name": keys.pop("name"),
        **{key: value for key, value in keys.items() if key not in _NOT_HERE},
        "reason": "written ahead",
        "last_updated": moment(now),
    }
    gate = task.gate
    place = f" ({one_line(task.plan)})" if task.plan else ""
    partial = [
        f"- executor: {gate.executor}",
        f"- verify: {gate.verify}",
        f"- architect: {gate.architect}",
        *(f"- {one_line(note)}" for note in notes),
    ]
    if task.note:
        partial.append(f"- note: {one_line(task.note)}")
    lines = [
        "---",
        *block_lines(front, 0),
        "---",
        "",
        "## Last executed task",
        "",
        f"{name}{place}",
        "",
        "## Partial results",
        "",
        *partial,
        "",
        "## Next steps",
        "",
        f"1. {_next(task, name)}",
        "",
    ]
    return "\n".join(lines)


def marked_resumed(text: str, session: str, now: datetime) -> str:
    """The hand-over, saying who goes on with it; it is removed when that has succeeded."""
    document = Document(text).set_front(("resumed_by",), session)
    return document.set_front(("resumed_at",), moment(now)).text


def _next(task: OpenTask, name: str) -> str:
    status = task.gate.status
    if status is None or status not in _AGAIN:
        return "Go on with the next task"
    return _AGAIN[status].format(task=name)
