"""Plan and exec files as a stop hook meets them."""

import json
from pathlib import Path

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
    """A plan file."""
    listed = f"modules:\n{modules}" if modules else "modules: []\n"
    wanted = "".join(f"  - {json.dumps(each)}\n" for each in criteria)
    return (
        f'---\nphase: "planning"\nplan_id: "{PLAN_ID}"\nstatus: "{status}"\ngoal: "Build it"\n'
        f'requirements_sections:\n  - name: "Functional Requirements"\n    status: "{section}"\n'
        f"{listed}plan_phase_complete: {str(complete).lower()}\nexit_criteria:\n{wanted}{more}"
        "---\n\n# Plan\n\n---\nstatus: approved\n"
    )


def exec_text(*statuses: str, counts: str = "") -> str:
    """An exec file with a module of each status."""
    modules = "".join(
        f'  - id: "module-{number}"\n    name: "M"\n    status: "{status}"\n'
        for number, status in enumerate(statuses, 1)
    )
    listed = f"modules_status:\n{modules}" if modules else "modules_status: []\n"
    return f'---\nphase: "orchestration"\nplan_id: "{PLAN_ID}"\nstatus: "executing"\n{counts}{listed}---\n'


def put(folder: Path, path: str, text: str | bytes) -> Path:
    """Write a file below a folder."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def message(folder: Path, *, session: str = "s1", event: str = "Stop", **more: object) -> bytes:
    """What the host says."""
    told = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **more}
    return json.dumps(told).encode()
