"""A pause written down: HANDOFF.json for programs, and a page beside it for people.

Both say what is open, where, and which command comes next. The form is the one that other tools
read; files of other tools are read as far as they tell something, whatever else they hold.
"""

import json
from datetime import datetime

from fairlead.model.plain import plain
from fairlead.records.state import moment
from fairlead.text.document import Document
from fairlead.text.emit import block_lines
from fairlead.values import dataclass

WRITER = "fairlead"  # a file that names another writer is somebody else's
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Work:
    """A task of the plan that is open, and how far it is."""

    id: int
    name: str
    status: str  # done, in_progress or not_started
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """What the next session has to know."""

    note: str
    next_command: str
    phase: str = ""
    phase_name: str = ""
    phase_dir: str = ""
    plan: str = ""
    tasks: tuple[Work, ...] = ()
    blockers: tuple[str, ...] = ()
    questions: tuple[tuple[str, str], ...] = ()  # what a person is asked, and where to answer
    decisions: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where the project is, in a few words."""
        phase = f"Phase {self.phase}" if self.phase else "no phase"
        return f"{phase}, plan {self.plan}" if self.plan else phase


@dataclass(frozen=True, slots=True)
class Found:
    """A pause that somebody wrote down, as far as it can be read."""

    path: str
    is_ours: bool  # a pause of ours, which goes when it is resumed
    place: str = ""
    next_action: str = ""
    note: str = ""
    at: str = ""
    open: tuple[str, ...] = ()  # what was left to do
    is_read: bool = True
    phase_dir: str = ""  # of the phase that it was written in
    is_gate: bool = False  # the hand-over of a gate, which goes with the gate's next step


def handoff_text(pause: Pause, now: datetime) -> str:
    """The pause for programs."""
    at = next((each.id for each in pause.tasks if each.status != "done"), 0)
    content = {
        "version": "1.0",
        "writer": WRITER,
        "timestamp": moment(now),
        "phase": pause.phase or None,
        "phase_name": pause.phase_name or None,
        "phase_dir": pause.phase_dir or None,
        "plan": pause.plan or None,
        "task": at,
        "total_tasks": len(pause.tasks),
        "status": "paused",
        "completed_tasks": [plain(each) for each in pause.tasks if each.status == "done"],
        "remaining_tasks": [
            {"id": each.id, "name": each.name, "status": each.status}
            for each in pause.tasks
            if each.status != "done"
        ],
        "blockers": [
            {"description": each, "type": "technical", "workaround": ""} for each in pause.blockers
        ],
        "async_jobs": list(pause.jobs),
        "human_actions_pending": [
            {"action": asked, "context": where, "blocking": True}
            for asked, where in pause.questions
        ],
        "decisions": [
            {"decision": each, "rationale": "", "phase": pause.phase} for each in pause.decisions
        ],
        "uncommitted_files": list(pause.uncommitted),
        "next_action": pause.next_command,
        "context_notes": pause.note,
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def page_text(pause: Pause, now: datetime) -> str:
    """The pause for people."""
    at = next((each.id for each in pause.tasks if each.status != "done"), 0)
    front: dict[str, str | int] = {
        "context": "phase" if pause.phase else "default",
        "phase": pause.phase or "none",
        "task": at,
        "total_tasks": len(pause.tasks),
        "status": "paused",
        "last_updated": moment(now),
        "writer": WRITER,
    }
    done = [each for each in pause.tasks if each.status == "done"]
    left = [each for each in pause.tasks if each.status != "done"]
    parts = (
        ("current_state", [f"{pause.place}: {pause.note}"]),
        ("completed_work", [f"- Task {each.id}: {each.name}" for each in done]),
        ("remaining_work", [f"- Task {each.id}: {each.name} ({each.status})" for each in left]),
        ("decisions_made", [f"- {each}" for each in pause.decisions]),
        ("blockers", [f"- {each}" for each in (*pause.blockers, *map(": ".join, pause.questions))]),
        ("context", [f"- not committed: {each}" for each in pause.uncommitted]),
        ("next_action", [pause.next_command]),
    )
    lines = ["---", *block_lines(front, 0), "---", ""]
    for tag, held in parts:
        lines += [f"<{tag}>", *(held or ["None."]), f"</{tag}>", ""]
    return "\n".join(lines)


def read_handoff(path: str, text: str) -> Found:
    """Read a pause of anybody; what is not JSON is only named."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict):
        return Found(path, is_ours=False, note="cannot be read as JSON", is_read=False)
    left = held.get("remaining_tasks")
    tasks = left if isinstance(left, list) else []
    names = [each.get("name") for each in tasks if isinstance(each, dict)]
    phase, plan = (_said(held.get(key)) for key in ("phase", "plan"))
    return Found(
        path=path,
        is_ours=held.get("writer") == WRITER,
        place=", ".join(
            word for word in (phase and f"Phase {phase}", plan and f"plan {plan}") if word
        ),
        next_action=_said(held.get("next_action")),
        note=_said(held.get("context_notes")),
        at=_said(held.get("timestamp")),
        open=tuple(_said(each) for each in names),
        phase_dir=_said(held.get("phase_dir")),
    )


def read_page(path: str, text: str) -> Found:
    """Read a page of anybody: its frontmatter, and the part that says what comes next."""
    document = Document(text)
    front = document.shown_front
    section = document.section("Next steps", "Next action", "Next Action")
    after = text.partition("<next_action>")[2].partition("</next_action>")[0]
    if not after.strip() and section:
        after = "\n".join(line.text for line in document.section_lines(section))
    steps = [line.strip() for line in after.splitlines() if line.strip()]
    return Found(
        path=path,
        is_ours=front.get("writer") == WRITER,
        place=f"Phase {_said(front['phase'])}" if _said(front.get("phase")) else "",
        next_action=_said(steps[0]) if steps else "",
        at=_said(front.get("last_updated")),
        is_gate="session" in front,
    )


def _said(value: object) -> str:
    """A value of a foreign file as one short line; control characters are gone."""
    if value in (None, 0, "", "null"):
        return ""
    seen = "".join(mark if mark.isprintable() else " " for mark in str(value))
    return " ".join(seen.split())[:_LONGEST]
