"""Creates and edits the exec file; each function makes one change and touches no other byte.

Every edit takes its own arguments first, then the document and the time, so that a caller can
bind the arguments with `partial`. The counts of the file follow from its modules in the same
write. An assignment that has ended stays in the file as history.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import NoReturn

from fairlead.core.errors import UsageError
from fairlead.planphase.documents import read_exec
from fairlead.planphase.errors import PartProtected, UnknownAgent, UnknownPart
from fairlead.planphase.model import (
    AI,
    ASSIGNED,
    BLOCKED,
    COMPLETE,
    ENDED_ASSIGNMENTS,
    EXECUTING,
    FREE,
    IN_PROGRESS,
    IN_REVIEW,
    PENDING,
    READY,
    ExecFile,
    ExecModule,
    Module,
    PlanFile,
)
from fairlead.planphase.plan_edits import PartEdit, spelled
from fairlead.text.document import Document
from fairlead.text.yaml_emit import Value, block_lines

_MODULES = "modules_status"
_BODY = """
# Orchestration Phase: {plan}

The plan file records what was decided; this file records the progress of each module.

## Instructions

1. Show the progress: `fairlead exec status`
2. Register an agent: `fairlead exec register ai NAME --session SESSION`
3. Assign a module: `fairlead exec assign MODULE NAME`
4. Complete a module: `fairlead exec complete MODULE`
"""


def new_exec(plan: PlanFile, plan_file: str) -> str:
    """Return the exec file of a plan that was just approved: its modules, none assigned."""
    front: dict[str, Value] = {
        "phase": "orchestration",
        "plan_id": plan.plan_id,
        "status": READY,
        "started_at": None,
        "plan_file": plan_file,
        "requirements_file": plan.requirements_file,
        "current_module": None,
        _MODULES: [_entry(module) for module in plan.modules],
        "registered_agents": {"ai_agents": [], "human_developers": []},
        "active_assignments": [],
        "modules_completed": 0,
        "modules_total": len(plan.modules),
        "all_modules_complete": False,
        "verification_mode": False,
        "verification_loops_remaining": 0,
    }
    lines = ["---", *block_lines(front, 0), "---"]
    return "\n".join(lines) + "\n" + _BODY.format(plan=plan.plan_id)


def synchronized(document: Document, plan: PlanFile) -> tuple[Document, tuple[str, ...]]:
    """Update an existing exec file after its plan was approved again, and return notes.

    Recorded work stays. A module that the plan no longer has is reported, never removed.
    """
    existing = {
        module.id: (at, module) for at, module in enumerate(read_exec(document.text).modules)
    }
    for module in plan.modules:
        if module.id not in existing:
            document = document.append_front((_MODULES,), _entry(module))
            continue
        at, before = existing[module.id]
        for key, old, new in (
            ("name", before.name, module.name),
            ("github_issue", before.issue, module.issue),
            ("acceptance_criteria", before.criteria, module.criteria),
            ("priority", before.priority, module.priority),
        ):
            if new and old != new:
                document = document.set_front((_MODULES, at, key), new)
    planned = {module.id for module in plan.modules}
    notes = tuple(
        f"module {name} is no longer in the plan; its work stays recorded"
        for name in existing
        if name not in planned
    )
    return _with_counts(document), notes


def registered(kind: str, agent: str, session: str, document: Document, _: str) -> Document:
    """Register an AI agent or a person, so that modules can be assigned to it."""
    execution = read_exec(document.text)
    is_ai = kind == AI
    if is_ai and not session:
        raise UsageError.saying("AI agents need --session", "name it: --session NAME")
    if agent in (execution.ai_agents if is_ai else execution.human_developers):
        raise PartProtected(
            "register",
            f"{'AI agent' if is_ai else 'human developer'} {agent!r}",
            "it is already registered",
            "list the agents: fairlead exec status",
        )
    entry: dict[str, Value] = {"agent_id": agent, "session_name": session}
    if not is_ai:
        entry = {"github_username": agent}
    path = ("registered_agents", "ai_agents" if is_ai else "human_developers")
    return document.append_front(path, {**entry, "assigned_by_user": True})


def assigned(name: str, agent: str, document: Document, now: str) -> Document:
    """Assign a free module to an agent."""
    execution = read_exec(document.text)
    at, module = _find(execution, name)
    if module.status not in FREE:
        hint = f"reassign it: fairlead exec reassign {module.id} --to NAME --reason TEXT"
        _refuse("assign", module, f"it is {module.status}, so it is not available", hint)
    if module.agent:
        _refuse(
            "assign",
            module,
            f"it is already assigned to {module.agent}",
            "see: fairlead exec status",
        )
    return _with_assignment(document, execution, at, agent, now)


def reassigned(name: str, agent: str, reason: str, document: Document, now: str) -> Document:
    """Assign a module to another agent and keep the record of the first assignment."""
    execution = read_exec(document.text)
    at, module = _find(execution, name)
    if module.status == COMPLETE:
        _refuse("reassign", module, "it is complete", "nothing was changed")
    if not module.agent:
        hint = f"assign it: fairlead exec assign {module.id} {agent}"
        _refuse("reassign", module, "it is not assigned", hint)
    if module.agent == agent:
        _refuse("reassign", module, f"it is already assigned to {agent}", "nothing was changed")
    _require_agent(execution, agent)
    document = _with_assignment_ended(
        document, execution, module, {"status": "reassigned", "reason": reason}
    )
    return _with_assignment(document, execution, at, agent, now)


def with_phase(document: Document, name: str, phase: str) -> Document:
    """Record which roadmap phase a module became."""
    at, _ = _find(read_exec(document.text), name)
    return document.set_front((_MODULES, at, "phase"), phase)


def modified(name: str, edit: PartEdit, document: Document, _: str) -> Document:
    """Change the given fields of a module."""
    execution = read_exec(document.text)
    at, module = _find(execution, name)
    if module.status == COMPLETE:
        _refuse("modify", module, "it is complete", "nothing was changed")
    if edit.status and not module.agent:
        hint = f"assign it: fairlead exec assign {module.id} NAME"
        _refuse("modify", module, "it is not assigned", hint)
    for key, value in (
        ("name", edit.name),
        ("acceptance_criteria", edit.criteria),
        ("priority", edit.priority),
    ):
        if value is not None:
            document = document.set_front((_MODULES, at, key), value)
    if edit.status and edit.status != module.status:
        word = spelled(edit.status, document)
        document = document.set_front((_MODULES, at, "status"), word)
        if edit.status == IN_PROGRESS:
            document = document.set_front(("current_module",), module.id)
    return _with_counts(document)


def completed(name: str, pr: str, document: Document, now: str) -> Document:
    """Mark a module as complete and end its assignment."""
    execution = read_exec(document.text)
    at, module = _find(execution, name)
    if module.status == COMPLETE:
        return document
    if module.status == BLOCKED:
        hint = f"resume it: fairlead exec modify {module.id} --status in_progress"
        _refuse("complete", module, "it is blocked", hint)
    document = document.set_front((_MODULES, at, "status"), COMPLETE)
    if pr:
        document = document.set_front((_MODULES, at, "pr"), pr)
    if execution.current == module.id:
        document = document.set_front(("current_module",), None)
    return _with_counts(
        _with_assignment_ended(
            document, execution, module, {"status": COMPLETE, "completed_at": now}
        )
    )


def _entry(module: Module) -> dict[str, Value]:
    return {
        "id": module.id,
        "name": module.name,
        "status": COMPLETE if module.status == COMPLETE else PENDING,
        "assigned_to": None,
        "github_issue": module.issue or None,
        "pr": None,
        "verification_loops": 0,
        "priority": module.priority,
        "acceptance_criteria": module.criteria,
    }


def _find(execution: ExecFile, name: str) -> tuple[int, ExecModule]:
    module = execution.module(name)
    if module is None:
        raise UnknownPart("module", name, tuple(module.id for module in execution.modules))
    return execution.modules.index(module), module


def _require_agent(execution: ExecFile, agent: str) -> str:
    kind = execution.kind_of(agent)
    if not kind:
        raise UnknownAgent(agent, (*execution.ai_agents, *execution.human_developers))
    return kind


def _refuse(verb: str, module: ExecModule, reason: str, hint: str) -> NoReturn:
    raise PartProtected(verb, f"module {module.id}", reason, hint)


def _with_assignment(
    document: Document, execution: ExecFile, at: int, agent: str, now: str
) -> Document:
    kind = _require_agent(execution, agent)
    module = execution.modules[at]
    # The store may apply an edit twice, so the id is derived from the act instead of random.
    seed = f"{execution.plan_id} {module.id} {agent} {now} {len(execution.assignments)}"
    record: dict[str, Value] = {
        "agent": agent,
        "agent_type": kind,
        "module": module.id,
        "github_issue": module.issue or None,
        "task_uuid": f"task-{sha256(seed.encode()).hexdigest()[:12]}",
        "status": IN_REVIEW,
        "assigned_at": now,
        "instruction_verification": {
            "status": "awaiting_repetition",
            "repetition_received": False,
            "repetition_correct": False,
            "questions_asked": 0,
            "questions_answered": 0,
            "authorized_at": None,
        },
        "progress_polling": {
            "last_poll": None,
            "poll_count": 0,
            "poll_history": [],
            "next_poll_due": None,
        },
    }
    document = document.append_front(("active_assignments",), record)
    document = document.set_front((_MODULES, at, "assigned_to"), agent)
    document = document.set_front((_MODULES, at, "status"), ASSIGNED)
    if execution.status == READY:
        document = document.set_front(("status",), EXECUTING)
        document = document.set_front(("started_at",), now)
    return _with_counts(document)


def _with_assignment_ended(
    document: Document, execution: ExecFile, module: ExecModule, fields: Mapping[str, str]
) -> Document:
    """Write the final fields into the active assignment of a module."""
    for at, assignment in enumerate(execution.assignments):
        if assignment.module == module.id and assignment.status not in ENDED_ASSIGNMENTS:
            for key, value in fields.items():
                document = document.set_front(("active_assignments", at, key), value)
    return document


def _with_counts(document: Document) -> Document:
    """Write the counts of the modules, and the status that follows from them."""
    execution = read_exec(document.text)
    done, total, is_all = execution.counts
    document = document.set_front(("modules_completed",), done)
    document = document.set_front(("modules_total",), total)
    document = document.set_front(("all_modules_complete",), is_all)
    if is_all and not execution.verifications_left:
        return document.set_front(("status",), COMPLETE)
    if not is_all and execution.status == COMPLETE:
        return document.set_front(("status",), EXECUTING)
    return document
