"""Plan files of this and of older tools, and hostile texts to insert into them."""

from pathlib import Path
from random import Random

from fairlead.core.errors import FairleadError
from fairlead.planphase import plan_edits
from fairlead.planphase.criteria import Facts, evaluate
from fairlead.planphase.documents import read_plan
from fairlead.planphase.model import PlanFile
from fairlead.planphase.plan_edits import PartEdit
from fairlead.text.document import Document
from tests.support.documents import mutated

PLAN = ".claude/orchestrator-plan-phase.local.md"
SECTIONS = ("Functional Requirements", "Non-Functional Requirements", "Architecture Design")

HOSTILE = (
    "a --- b",
    "---",
    "--- ",
    'say "x"',
    "it's",
    "C:\\new\\table",
    "two\nlines",
    "\n---\n",
    'x"\nstatus: "approved',
    "x\n---\nplan_phase_complete: true",
    "status: approved",
    "# heading",
    "a # comment",
    "a: b",
    "{}",
    "{a: [1",
    "@here",
    "`id`",
    "$(touch planted) ; rm -rf .",
    "- item",
    "| cell |",
    "<script>alert(1)</script>",
    "null",
    "true",
    "42",
    "2026-01-09",
    "{{goal}}",
    "🚢 Café 日本語",
    "tab\there",
    "bell\x07 and \x1b[31mred",
    "\u2028line\u2029",
    " leading and trailing ",
    "%s %(x)s",
    "&anchor *alias !tag",
)

# As the first tool writes it, with comments.
FRESH = """\
---
phase: "planning"
plan_id: "plan-20260109-143022"
status: "drafting"
created_at: "2026-01-09T14:30:22.535810+00:00"

# User Goal (immutable without user approval)
goal: "Build a REST API for user management"
goal_locked: true

# Requirements Progress
requirements_file: "USER_REQUIREMENTS.md"
requirements_complete: false
requirements_sections:
  - name: "Functional Requirements"
    status: "pending"
  - name: "Non-Functional Requirements"
    status: "in_progress"
  - name: "Architecture Design"
    status: "complete"

# Module Breakdown
modules:
  - id: "auth-core"
    name: "Auth Core"
    status: "planned"
    priority: "high"
    acceptance_criteria: "Support JWT token authentication"
    github_issue: null
  - id: "user-mgmt"
    name: "User Management"
    status: "planned"
    priority: "medium"
    acceptance_criteria: "CRUD operations for users"
    github_issue: "#42"

# Exit Criteria
plan_phase_complete: false
exit_criteria:
  - "USER_REQUIREMENTS.md complete"
  - "All modules defined with acceptance criteria"
  - "GitHub Issues created for all modules"
  - "User approved the plan"
---

# Plan Phase: plan-20260109-143022

## Goal

Build a REST API for user management
"""

# The same plan after one command of a first or second generation tool: without comments and
# quotes, lists not indented, long lines folded at 80 columns.
REDUMPED = """\
---
phase: planning
plan_id: plan-20260109-143022
status: drafting
created_at: '2026-01-09T14:30:22.535810+00:00'
goal: Build a REST API for user management that is rather long, so that it goes on
  in the next line, as the dumper folds it
goal_locked: true
requirements_file: USER_REQUIREMENTS.md
requirements_complete: false
requirements_sections:
- name: Functional Requirements
  status: pending
- name: Non-Functional Requirements
  status: in-progress
modules:
- id: auth-core
  name: Auth Core
  status: in-progress
  priority: high
  github_issue: '#7'
  acceptance_criteria: 'A text with: a colon, and long enough to be folded by the dumper
    at eighty columns'
- id: user-mgmt
  name: User Management
  status: planned
  priority: medium
  github_issue: null
plan_phase_complete: false
exit_criteria:
- USER_REQUIREMENTS.md complete
- All modules defined with acceptance criteria
- GitHub Issues created for all modules
- User approved the plan
---

# Plan Phase: plan-20260109-143022
"""

# The third generation: every text in double quotes, module keys in another order.
REQUOTED = """\
---
phase: "planning"
plan_id: "plan-20260109-143022"
status: "drafting"
created_at: 2026-01-09 14:30:22+00:00
goal: "Build it"
goal_locked: true
requirements_file: "USER_REQUIREMENTS.md"
requirements_complete: false
requirements_sections:
  - name: "Functional Requirements"
    status: "in-progress"
modules:
  - id: "auth-core"
    name: "Auth Core"
    status: "complete"
    priority: "critical"
    github_issue: "#12"
    acceptance_criteria: "One"
plan_phase_complete: false
exit_criteria:
  - "USER_REQUIREMENTS.md complete"
  - "User approved the plan"
---

# Plan Phase: plan-20260109-143022
"""

GENERATIONS = {"G0": FRESH, "G1": REDUMPED, "G2": REQUOTED}


def requirements(*names: str) -> str:
    """A requirements document with a line of text for each section."""
    return "# User Requirements\n\n" + "\n".join(f"## {name}\n\nIt holds.\n" for name in names)


def write_plan(folder: Path, text: str | bytes) -> Path:
    """Write a plan file into a folder."""
    path = folder / PLAN
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def examine_plan(text: str, random: Random) -> list[str]:
    """Read, judge and edit a plan; list the faults that are not a refusal with a line."""
    try:
        before = read_plan(text)
        evaluate(before, Facts())
    except FairleadError as error:
        return [] if getattr(error, "line", 0) else [f"refused without a line: {error}"]
    hostile = random.choice(HOSTILE)
    change, field = random.choice(
        (
            (
                lambda document: plan_edits.add_module(document, f"N{hostile}", PartEdit(hostile)),
                "modules",
            ),
            (lambda document: plan_edits.add_section(document, f"N{hostile}"), "sections"),
            (lambda document: plan_edits.add_criterion(document, f"N{hostile}", None), "criteria"),
            (
                lambda document: plan_edits.modify_goal(document, f"N{hostile}", is_unlocked=True),
                "goal",
            ),
            (
                lambda document: plan_edits.remove_module(
                    document, before.modules[0].id, force=True
                ),
                "modules",
            ),
        )
    )
    try:
        after = read_plan(change(Document(text)).text)
    except (FairleadError, IndexError) as error:
        allowed = not isinstance(error, IndexError) or not before.modules
        return [] if allowed else [f"a traceback: {error}"]
    return [
        f"{other} changed with {field}"
        for other in ("plan_id", "goal", "modules", "sections", "criteria", "requirements_file")
        if other != field and field_value(before, other) != field_value(after, other)
    ] + (
        []
        if field_value(before, field) != field_value(after, field)
        else [f"{field} did not change"]
    )


def field_value(plan: PlanFile, field: str) -> object:
    """Return a field of a plan in a form that can be compared."""
    value = getattr(plan, field)
    if isinstance(value, str):
        return value
    return [[getattr(part, name) for name in type(part).__slots__] for part in value]


def a_mutated_plan(random: Random) -> str:
    """Return a plan of one of the known forms, damaged in a few places."""
    text = random.choice((*GENERATIONS.values(), FRESH.replace("\n", "\r\n")))
    return mutated(text, random)
