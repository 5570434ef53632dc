"""Plan and exec files, and the messages of a host, for tests of the stop hook."""

import json
from pathlib import Path

from fairlead.planphase.criteria import content_hash
from fairlead.planphase.documents import read_plan
from fairlead.planphase.facts import facts_of, state_folder_of
from fairlead.planphase.person_record import PersonRecord
from fairlead.store.files import Files
from fairlead.store.staging import USER_STAGING

PLAN = ".claude/orchestrator-plan-phase.local.md"
EXEC = ".claude/orchestrator-exec-phase.local.md"
PLAN_ID = "plan-20260109-143022"

CRITERIA = (
    "USER_REQUIREMENTS.md complete",
    "All modules defined with acceptance criteria",
    "GitHub Issues created for all modules",
    "User approved the plan",
)
MODULE = """\
  - id: "auth-core"
    name: "Auth Core"
    status: "planned"
    priority: "high"
    github_issue: "#1"
    acceptance_criteria: "Tokens work"
"""


def plan_text(
    *,
    status: str = "drafting",
    complete: bool = False,
    section: str = "pending",
    modules: str = "",
    criteria: tuple[str, ...] = CRITERIA,
    more: str = "",
) -> str:
    """The text of a plan file."""
    listed = f"modules:\n{modules}" if modules else "modules: []\n"
    items = "".join(f"  - {json.dumps(text)}\n" for text in criteria)
    return (
        f'---\nphase: "planning"\nplan_id: "{PLAN_ID}"\nstatus: "{status}"\ngoal: "Build it"\n'
        f'requirements_sections:\n  - name: "Functional Requirements"\n    status: "{section}"\n'
        f"{listed}plan_phase_complete: {str(complete).lower()}\nexit_criteria:\n{items}{more}"
        "---\n\n# Plan\n\n---\nstatus: approved\n"
    )


def stated(folder: Path, home: Path, *kinds: str) -> None:
    """Record a person's statements about the plan of a folder, as the commands do."""
    state = Files(state_folder_of({"HOME": str(home)}), staging=USER_STAGING)
    plan = read_plan((folder / PLAN).read_text("utf-8"))
    content = content_hash(plan, facts_of(str(folder), plan, state.folder).requirements)
    PersonRecord(state, str(folder)).state(kinds, content, "2026-01-09T14:30:22+00:00", "test")


def exec_text(*statuses: str, counts: str = "") -> str:
    """The text of an exec file with one module per status."""
    modules = "".join(
        f'  - id: "module-{number}"\n    name: "M"\n    status: "{status}"\n'
        for number, status in enumerate(statuses, 1)
    )
    listed = f"modules_status:\n{modules}" if modules else "modules_status: []\n"
    return f'---\nphase: "orchestration"\nplan_id: "{PLAN_ID}"\nstatus: "executing"\n{counts}{listed}---\n'


def put(folder: Path, path: str, text: str | bytes) -> Path:
    """Write a file into a folder."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def message(folder: Path, *, session: str = "s1", event: str = "Stop", **more: object) -> bytes:
    """The message that a host sends on standard input."""
    fields = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **more}
    return json.dumps(fields).encode()
