"""The exec file, read: modules, agents and assignments with their kinds, or an error with its line.

Files of the older tools are read as they are. The stop hook reads by this, so nothing slow is
imported; `exec_file` edits.
"""

from fairlead.model.execution import (
    EXEC_STATUSES,
    MODULE_STATUSES,
    READY,
    Assignment,
    ExecModule,
    Execution,
)
from fairlead.model.planning import MEDIUM, PENDING, PRIORITIES
from fairlead.records.plan_read import FieldReader, open_front


def read_exec(text: str) -> Execution:
    """Read an exec file, or raise a `DocumentError` that names the field and the line."""
    tree, reader = open_front(text)
    reader.word(tree, ("phase",), ("orchestration",), default="orchestration")
    found = Execution(
        reader.text(tree, ("plan_id",)), reader.word(tree, ("status",), EXEC_STATUSES, READY)
    )
    found.current = reader.optional(tree, ("current_module",))
    found.modules = reader.items(
        tree, ("modules_status",), lambda value, path: _module(reader, value, path)
    )
    reader.refuse_twins([module.id for module in found.modules], "modules_status", "id")
    agents = reader.mapping(tree.get("registered_agents", {}), ("registered_agents",))
    found.ai_agents = _names(reader, agents, "ai_agents", "agent_id")
    found.human_developers = _names(reader, agents, "human_developers", "github_username")
    found.assignments = reader.items(
        tree, ("active_assignments",), lambda value, path: _assignment(reader, value, path)
    )
    completed, total, every = (
        reader.optional(tree, (key,))
        for key in ("modules_completed", "modules_total", "all_modules_complete")
    )
    found.recorded = (completed, total, every.lower())
    if reader.flag(tree, ("verification_mode",), default=False):
        left = reader.optional(tree, ("verification_loops_remaining",))
        found.verifications_left = int(left) if left.isascii() and left.isdigit() else 0
    return found


def _module(reader: FieldReader, value: object, path: "tuple[str | int, ...]") -> ExecModule:
    tree = reader.mapping(value, path)
    module = ExecModule(
        reader.text(tree, (*path, "id")),
        reader.text(tree, (*path, "name"), str(tree.get("id"))),
        reader.word(tree, (*path, "status"), MODULE_STATUSES, PENDING),
    )
    module.agent = reader.optional(tree, (*path, "assigned_to"))
    module.criteria = reader.criteria(tree, (*path, "acceptance_criteria"))
    module.issue = reader.optional(tree, (*path, "github_issue"))
    module.phase = reader.optional(tree, (*path, "phase"))
    module.pr = reader.optional(tree, (*path, "pr"))
    module.priority = reader.word(tree, (*path, "priority"), PRIORITIES, MEDIUM)
    return module


def _assignment(reader: FieldReader, value: object, path: "tuple[str | int, ...]") -> Assignment:
    tree = reader.mapping(value, path)
    words = (reader.text(tree, (*path, key)) for key in ("agent", "module"))
    more = (reader.optional(tree, (*path, key)) for key in ("status", "task_uuid"))
    return Assignment(*words, *more)


def _names(
    reader: FieldReader, agents: "dict[str, object]", key: str, field: str
) -> "tuple[str, ...]":
    place = ("registered_agents", key)
    return reader.items(
        agents, place, lambda value, path: reader.text(reader.mapping(value, path), (*path, field))
    )
