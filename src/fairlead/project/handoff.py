"""Files for the next session: the handover of a gate, and WAITING.json.

A process that dies writes nothing, so the handover is written ahead, at every step of a gate. A
handover with our version and a session is ours; any other file of that name is only shown.
WAITING.json says that the project waits for a person's answer.
"""

import json
from collections.abc import Callable, Iterable
from datetime import datetime

from fairlead.core.values import dataclass
from fairlead.project.derive.inventory import Phase, PhaseFolder
from fairlead.project.derive.position import Position
from fairlead.project.derive.scope import Scope
from fairlead.project.paths import (
    CONTINUE_NAME,
    PHASES_NAME,
    ULTRAPLAN,
    ULTRAPLAN_CONTINUE,
    is_handover_name,
)
from fairlead.project.state.documents import moment
from fairlead.project.state.gate import OpenTask, task_from_keys, task_keys
from fairlead.project.state.gate_rules import GateStatus
from fairlead.project.state.recorded import phase_in, plan_label
from fairlead.store.layout import PLANNING, planning_of
from fairlead.store.lock import is_session_running
from fairlead.store.reader import Reader
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.text.yaml_emit import block_lines
from fairlead.text.yaml_scalars import is_null

VERSION = "1"
_STATE_ONLY = ("session", "status", "last_step_at")  # keys that only STATE.md has
_NEXT_STEPS = {
    GateStatus.EXECUTING: "Run {task} again, from step 1, as the same attempt",
    GateStatus.VERIFYING: "Run the verify command of {task} again",
    GateStatus.REVIEWING: "Ask the architect about {task} again",
    GateStatus.FAILED: "Retry {task}, or skip it",
    GateStatus.BLOCKED: "Do what {task} waits for, then unblock it",
}


@dataclass(frozen=True, slots=True)
class Handover:
    """A handover file."""

    path: str
    session: str  # empty: another tool wrote it
    task: OpenTask
    resumed_by: str
    last_updated: str
    reason: str
    next_steps: tuple[str, ...]

    @property
    def is_ours(self) -> bool:
        """Whether Fairlead wrote it."""
        return bool(self.session)

    @property
    def is_open(self) -> bool:
        """Whether its gate was still open."""
        return self.task.gate.status not in (None, GateStatus.APPROVED, GateStatus.SKIPPED)


def read_handover(path: str, text: str) -> Handover:
    """Read a handover, whichever tool wrote it."""
    document = Document(text)
    front = {key: value for key, value in document.shown_front.items() if not is_null(value)}
    is_ours = str(front.get("version", "")) == VERSION and "session" in front
    keys: dict[str, object] = {**front, "name": front.get("task_name") or front.get("task", "")}
    section = document.section("Next steps", "Remaining work", "Next action")
    lines = document.section_lines(section) if section else ()
    return Handover(
        path=path,
        session=str(front["session"]) if is_ours else "",
        task=task_from_keys(keys),
        resumed_by=str(front.get("resumed_by", "")),
        last_updated=str(front.get("last_updated", "")),
        reason=str(front.get("reason", "")),
        next_steps=tuple(line.text.strip() for line in lines if line.text.strip()),
    )


def is_stale(handover: Handover, position: Position, folders: Iterable[PhaseFolder] = ()) -> bool:
    """Whether nothing is left to resume: the gate, the plan or the phase of a handover is done.

    A phase of a shipped milestone is done, and so is a plan that another one supersedes. A
    handover whose place is not known is never stale.
    """
    task = handover.task
    if handover.is_ours and task.gate.status in (GateStatus.APPROVED, GateStatus.SKIPPED):
        return True
    phase = _phase_of(handover, position.scope)
    if phase is None:  # perhaps a folder that belongs to no milestone
        home = handover.path.rpartition("/")[0]
        return any(folder.path == home and folder.is_implemented for folder in folders)
    plans = phase.folder.plans if phase.folder else ()
    labels = {plan_label(plan.id) for plan in plans if plan.is_complete or plan.is_superseded}
    if task.plan and plan_label(task.plan) in labels:
        return True
    return phase.is_complete(position.policy) or position.scope.is_shipped(phase)


def _phase_of(handover: Handover, scope: Scope) -> Phase | None:
    """The phase of a handover: by its folder, else by its number in the current milestone."""
    folder, number = handover.path.rpartition("/")[0], phase_in(handover.task.phase)
    phases = (*scope.phases, *scope.elsewhere)
    placed = (each for each in phases if each.folder and each.folder.path == folder)
    numbered = (each for each in scope.phases if each.id == number)
    return next(placed, None) or next(numbered, None)


def handover_text(task: OpenTask, now: datetime) -> str:
    """The handover for the current step of a task."""
    keys = task_keys(task, now)
    name = one_line(task.name, "the task")
    front = {
        "version": 1,
        "session": task.session,
        "phase": keys.pop("phase"),
        "plan": keys.pop("plan"),
        "task_name": keys.pop("name"),
        **{key: value for key, value in keys.items() if key not in _STATE_ONLY},
        "reason": "written ahead",
        "last_updated": moment(now),
    }
    gate = task.gate
    place = f" ({one_line(task.plan)})" if task.plan else ""
    partial = [
        f"- executor: {gate.executor}",
        f"- verify: {gate.verify}",
        f"- architect: {gate.architect}",
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
    """The handover with the session that continues it."""
    document = Document(text).set_front(("resumed_by",), session)
    return document.set_front(("resumed_at",), moment(now)).text


def _next(task: OpenTask, name: str) -> str:
    status = task.gate.status
    if status is None or status not in _NEXT_STEPS:
        return "Continue with the next task"
    return _NEXT_STEPS[status].format(task=name)


@dataclass(frozen=True, slots=True)
class HandoverOffer:
    """A handover file, whether its session is still running, and whether its work is done."""

    handover: Handover
    is_live: bool
    is_stale: bool = False


def handover_offers(
    reader: Reader,
    workstream: str,
    names: Callable[[str], Iterable[str]] | None = None,
    position: Position | None = None,
    folders: Iterable[PhaseFolder] = (),
) -> tuple[HandoverOffer, ...]:
    """All handovers of a project; `names` lists a folder.

    Without the position of the project, none of them is called stale.
    """
    offers = []
    for path in handover_paths(workstream, names or reader.names):
        loaded = reader.peek(path)
        if loaded:
            handover = read_handover(path, loaded.text)
            session = session_name(handover.session, workstream_of(path, workstream))
            is_live = handover.is_ours and is_session_running(reader.folder, session)
            stale = bool(position and not is_live and is_stale(handover, position, folders))
            offers.append(HandoverOffer(handover, is_live, stale))
    return tuple(offers)


def session_name(session: str, workstream: str) -> str:
    """The name of a session's lock; two workstreams may have sessions of the same name."""
    return f"{session}@{workstream}" if workstream else session


def workstream_of(path: str, workstream: str) -> str:
    """The workstream if the handover is in its folder; empty: it belongs to the project."""
    return workstream if path.startswith(f"{planning_of(workstream)}/") else ""


_BEGINNINGS = (CONTINUE_NAME, ULTRAPLAN_CONTINUE)  # a folder may have thousands of other files


def handover_paths(workstream: str, names: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """The handovers of a workstream, its phases, the project and the ultraplan dialect."""
    home = planning_of(workstream)
    phases = f"{home}/{PHASES_NAME}"
    folders = [PLANNING, home, ULTRAPLAN, *(f"{phases}/{name}" for name in sorted(names(phases)))]
    return tuple(
        path
        for folder in dict.fromkeys(folders)
        for name in sorted(each for each in names(folder) if each.startswith(_BEGINNINGS))
        if is_handover_name(path := f"{folder}/{name}")
    )


DECISION = "decision_point"


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """A question that the project waits on."""

    question: str
    options: tuple[str, ...] = ()
    phase: str = ""
    kind: str = DECISION


def waiting_text(question: WaitingQuestion, now: datetime) -> str:
    """The text of WAITING.json."""
    content = {
        "status": "waiting",
        "type": one_line(question.kind, "the kind"),
        "question": one_line(question.question, "the question"),
        "options": [one_line(option, "an option") for option in question.options],
        "since": moment(now),
        "phase": question.phase or None,
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def same_question(text: str, question: WaitingQuestion) -> bool:
    """Whether WAITING.json asks this question already."""
    return question_of(text) == one_line(question.question)


def question_of(text: str) -> str:
    """The question in WAITING.json; empty if the file cannot be read."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return str(content.get("question") or "") if isinstance(content, dict) else ""
