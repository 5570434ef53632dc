"""Plan files that are ready for approval, and the exec files that follow."""

from collections.abc import Sequence
from pathlib import Path

from fairlead.planphase.documents import read_plan
from fairlead.planphase.exec_edits import new_exec

PLAN_ID = "plan-20260102-030405"
PLAN = ".claude/orchestrator-plan-phase.local.md"
EXEC = ".claude/orchestrator-exec-phase.local.md"
REQUIREMENTS = "USER_REQUIREMENTS.md"
MODULES = ("Auth Core", "User Management", "Audit Log")

_HEAD = """---
phase: "planning"
plan_id: "{plan}"
status: "{status}"
created_at: "2026-01-02T03:04:05+00:00"

# User Goal (immutable without user approval)
goal: "Build a REST API for user management"
goal_locked: true

requirements_file: "USER_REQUIREMENTS.md"
requirements_complete: true
requirements_sections:
  - name: "Functional Requirements"
    status: "complete"

# Module Breakdown
modules:{modules}

plan_phase_complete: false
exit_criteria:
  - "USER_REQUIREMENTS.md complete"
  - "All modules defined with acceptance criteria"
  - "GitHub Issues created for all modules"
  - "User approved the plan"
{more}---

# Plan Phase: {plan}

A body with --- in it and plan_phase_complete: false
"""
_MODULE = """
  - id: "{id}"
    name: "{name}"
    status: "planned"
    priority: "high"  # a person's comment
    acceptance_criteria: "{name} works"
    github_issue: null"""


def plan_text(
    names: Sequence[str] = MODULES,
    *,
    status: str = "reviewing",
    more: str = "",
    plan: str = PLAN_ID,
) -> str:
    """A plan file that meets every criterion of an approval."""
    modules = "".join(_MODULE.format(id=module_id(name), name=name) for name in names) or " []"
    return _HEAD.format(plan=plan, status=status, modules=modules, more=more)


def exec_text() -> str:
    """The exec file of that plan, right after its approval."""
    return new_exec(read_plan(plan_text()), PLAN)


def module_id(name: str) -> str:
    """The id of a sample module."""
    return name.lower().replace(" ", "-")


def put_plan(folder: Path, text: str = "") -> Path:
    """Write a plan that is ready for approval; return the path of the plan file."""
    (folder / ".claude").mkdir(parents=True)
    (folder / REQUIREMENTS).write_text("# R\n\n## Functional Requirements\n\nIt works.\n", "utf-8")
    plan = folder / PLAN
    plan.write_text(text or plan_text(), "utf-8")
    return plan
