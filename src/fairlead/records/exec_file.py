"""The exec file, made and edited: one function a change, and no byte beside it.

Each change takes what is known, then the document and the time, and returns another document, so
that whoever asks for it can bind the first part. The counts follow from the modules in the
same write; nobody sets them. An assignment that is over stays in the file as history.
"""

from collections.abc import Mapping
from hashlib import sha256

from fairlead.errors import PartProtected, UnknownAgent, UnknownPart, UsageError
from fairlead.model import execution
from fairlead.model.execution import AI, ExecModule, Execution
from fairlead.model.planning import COMPLETE, IN_PROGRESS, PENDING, Plan
from fairlead.records.exec_read import read_exec
from fairlead.records.plan_file import Wanted, spelled
from fairlead.text.document import Document
from fairlead.text.emit import Value, block_lines

_MODULES = "modules_status"
_BODY = """
# Orchestration Phase: {plan}

The plan stays as the record of what was decided; this file says what has become of it.

## Instructions

1. See where it stands: `fairlead exec status`
2. Say who works here: `fairlead exec register ai NAME --session SESSION`
3. Give a module to somebody: `fairlead exec assign MODULE NAME`
4. Say that a module is done: `fairlead exec complete MODULE`
"""


def new_exec(plan: Plan, plan_file: str) -> str:
    """The exec file of a plan that was just approved: its modules, and nobody at work yet."""
    front: dict[str, Value] = {
        "phase": "orchestration",
        "plan_id": plan.plan_id,
        "status": execution.READY,
        "started_at": None,
        "plan_file": plan_file,
        "requirements_file": plan.requirements_file,
        "current_module": None,
        _MODULES: [_entry(module.id, plan) for module in plan.modules],
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


def in_step(document: Document, plan: Plan) -> tuple[Document, tuple[str, ...]]:
    """An exec file that was there already, with what a plan says after it was approved again.

    Work that was done stays; what the plan no longer has is named, never removed.
    """
    held = read_exec(document.text)
    known = {module.id: (at, module) for at, module in enumerate(held.modules)}
    for module in plan.modules:
        if module.id not in known:
            document = document.append_front((_MODULES,), _entry(module.id, plan))
            continue
        at, before = known[module.id]
        for key, old, new in (
            ("name", before.name, module.name),
            ("github_issue", before.issue, module.issue),
            ("acceptance_criteria", before.criteria, module.criteria),
            ("priority", before.priority, module.priority),
        ):
            if new and old != new:
                document = document.set_front((_MODULES, at, key), new)
    planned = {module.id for module in plan.modules}
    gone = [each for each in known if each not in planned]
    notes = tuple(
        f"module {each} is no longer in the plan; its work stays recorded" for each in gone
    )
    return _counted(document), notes


def registered(kind: str, agent: str, session: str, document: Document, _: str) -> Document:
    """An agent or a person more who may be given modules."""
    held = read_exec(document.text)
    known = held.ai_agents if kind == AI else held.human_developers
    if kind == AI and not session:
        raise UsageError("--session is required for AI agents", hint="name it: --session NAME")
    if agent in known:
        who = "AI agent" if kind == AI else "human developer"
        way = "see who works here: fairlead exec status"
        raise PartProtected("register", f"{who} {agent!r}", "it is already registered", way)
    entry: dict[str, Value] = {"agent_id": agent, "session_name": session}
    if kind != AI:
        entry = {"github_username": agent}
    place = ("registered_agents", "ai_agents" if kind == AI else "human_developers")
    return document.append_front(place, {**entry, "assigned_by_user": True})


def assigned(name: str, agent: str, document: Document, now: str) -> Document:
    """A free module, given to somebody."""
    held = read_exec(document.text)
    at, module = _found(held, name)
    if module.status not in execution.FREE:
        way = f"give it to another: fairlead exec reassign {module.id} --to NAME --reason TEXT"
        module.refuse("assign", f"it is {module.status}, so it is not available", way)
    if module.agent:
        module.refuse(
            "assign", f"it is already assigned to {module.agent}", "see: fairlead exec status"
        )
    return _given(document, held, at, agent, now)


def reassigned(name: str, agent: str, reason: str, document: Document, now: str) -> Document:
    """A module, taken from one and given to another; the first one's record stays."""
    held = read_exec(document.text)
    at, module = _found(held, name)
    if module.status == COMPLETE:
        module.refuse("reassign", "it is complete", "nothing was changed")
    if not module.agent:
        way = f"assign it: fairlead exec assign {module.id} {agent}"
        module.refuse("reassign", "it is not assigned", way)
    if module.agent == agent:
        module.refuse("reassign", f"{agent} has it already", "nothing was changed")
    _require_agent(held, agent)
    document = _ended(document, held, module, {"status": "reassigned", "reason": reason})
    return _given(document, held, at, agent, now)


def with_phase(document: Document, name: str, phase: str) -> Document:
    """A module that became a phase of the roadmap."""
    at, _ = _found(read_exec(document.text), name)
    return document.set_front((_MODULES, at, "phase"), phase)


def modified(name: str, wanted: Wanted, document: Document, _: str) -> Document:
    """What was named of a module, and nothing else."""
    held = read_exec(document.text)
    at, module = _found(held, name)
    if module.status == COMPLETE:
        module.refuse("modify", "it is complete", "nothing was changed")
    if wanted.status and not module.agent:
        way = f"assign it: fairlead exec assign {module.id} NAME"
        module.refuse("modify", "nobody works on it", way)
    for key, value in (
        ("name", wanted.name),
        ("acceptance_criteria", wanted.criteria),
        ("priority", wanted.priority),
    ):
        if value is not None:
            document = document.set_front((_MODULES, at, key), value)
    if wanted.status and wanted.status != module.status:
        word = spelled(wanted.status, document)
        document = document.set_front((_MODULES, at, "status"), word)
        if wanted.status == IN_PROGRESS:
            document = document.set_front(("current_module",), module.id)
    return _counted(document)


def completed(name: str, pr: str, document: Document, now: str) -> Document:
    """A module that somebody says is done."""
    held = read_exec(document.text)
    at, module = _found(held, name)
    if module.status == COMPLETE:
        return document
    if module.status == execution.BLOCKED:
        way = f"take it up again: fairlead exec modify {module.id} --status in_progress"
        module.refuse("complete", "it is blocked", way)
    document = document.set_front((_MODULES, at, "status"), COMPLETE)
    if pr:
        document = document.set_front((_MODULES, at, "pr"), pr)
    if held.current == module.id:
        document = document.set_front(("current_module",), None)
    return _counted(_ended(document, held, module, {"status": COMPLETE, "completed_at": now}))


def _entry(module_id: str, plan: Plan) -> dict[str, Value]:
    module = next(each for each in plan.modules if each.id == module_id)
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


def _found(held: Execution, name: str) -> tuple[int, ExecModule]:
    module = held.module(name)
    if module is None:
        raise UnknownPart("module", name, tuple(each.id for each in held.modules))
    return held.modules.index(module), module


def _require_agent(held: Execution, agent: str) -> str:
    kind = held.kind_of(agent)
    if not kind:
        raise UnknownAgent(agent, (*held.ai_agents, *held.human_developers))
    return kind


def _given(document: Document, held: Execution, at: int, agent: str, now: str) -> Document:
    kind = _require_agent(held, agent)
    module = held.modules[at]
    # The same for the same act, so that an edit which is made again is the same edit.
    seed = f"{held.plan_id} {module.id} {agent} {now} {len(held.assignments)}"
    record: dict[str, Value] = {
        "agent": agent,
        "agent_type": kind,
        "module": module.id,
        "github_issue": module.issue or None,
        "task_uuid": f"task-{sha256(seed.encode()).hexdigest()[:12]}",
        "status": execution.IN_REVIEW,
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
    document = document.set_front((_MODULES, at, "status"), execution.ASSIGNED)
    if held.status == execution.READY:
        document = document.set_front(("status",), execution.EXECUTING)
        document = document.set_front(("started_at",), now)
    return _counted(document)


def _ended(
    document: Document, held: Execution, module: ExecModule, told: Mapping[str, str]
) -> Document:
    """The living assignment of a module, ended and kept."""
    for at, each in enumerate(held.assignments):
        if each.module == module.id and each.status not in execution.OVER:
            for key, value in told.items():
                document = document.set_front(("active_assignments", at, key), value)
    return document


def _counted(document: Document) -> Document:
    """The counts, and the status that follows from them."""
    held = read_exec(document.text)
    done, total, is_all = held.counts
    document = document.set_front(("modules_completed",), done)
    document = document.set_front(("modules_total",), total)
    document = document.set_front(("all_modules_complete",), is_all)
    if is_all and not held.verifications_left:
        return document.set_front(("status",), COMPLETE)
    if not is_all and held.status == COMPLETE:
        return document.set_front(("status",), execution.EXECUTING)
    return document
