"""Reads the plan file and the exec file into values, or raises an error that names field and line.

Files of older tools are accepted: dumped without quotes, with `in-progress`. A value of the wrong
type or form is an error, never a guess. Reading is separate from
`plan_edits` and `exec_edits` because the stop hook loads this module and must start fast.
"""

from fairlead.planphase.model import (
    DEFAULT_CRITERIA,
    EXEC_MODULE_STATUSES,
    EXEC_STATUSES,
    IN_PROGRESS,
    MEDIUM,
    MODULE_STATUSES,
    OTHER_SPELLING,
    PENDING,
    PLAN_STATUSES,
    PLANNED,
    PRIORITIES,
    READY,
    SECTION_STATUSES,
    Assignment,
    Confirmation,
    Criterion,
    ExecFile,
    ExecModule,
    Module,
    PlanFile,
    RequirementSection,
)
from fairlead.planphase.paths import PLAN_REQUIREMENTS
from fairlead.text.fast_frontmatter import find_block
from fairlead.text.lines import split_lines
from fairlead.text.yaml_scalars import Plain, is_null
from fairlead.text.yaml_subset import read_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, TypeVar

    T = TypeVar("T")
    Tree = dict[str, object]
    Path = tuple[str | int, ...]  # to a field: keys and item numbers

FAIRLEAD_KEY = "fairlead"  # holds the fields that older tools do not have

# Fields that change between approval and completion, so an approval does not cover them.
_UNBOUND = ("status", "plan_phase_complete", "requirements_complete", "goal_locked", FAIRLEAD_KEY)
_UNBOUND_IN_MODULE = ("status", "github_issue", "github_issue_url")
_TRUE = ("true", "yes", "on")
_FALSE = ("false", "no", "off")
_CHECK_FORMS = '{file: PATH} or {command: ["program", "argument"]}'


def read_plan(text: str) -> PlanFile:
    """Read a plan file, or raise a `DocumentError` that names the field and the line."""
    tree, reader = read_frontmatter(text)
    reader.word(tree, ("phase",), ("planning",), default="planning")
    plan = PlanFile(
        reader.plan_id(tree),
        reader.word(tree, ("status",), PLAN_STATUSES),
        reader.text(tree, ("goal",)),
    )
    plan.created_at = reader.date(tree, ("created_at",))
    plan.is_goal_locked = reader.flag(tree, ("goal_locked",), default=True)
    plan.requirements_file = reader.text(tree, ("requirements_file",), default=PLAN_REQUIREMENTS)
    reader.flag(tree, ("requirements_complete",), default=False)
    plan.sections = reader.items(tree, ("requirements_sections",), reader.section)
    plan.modules = reader.items(tree, ("modules",), reader.module)
    plan.is_complete = reader.flag(tree, ("plan_phase_complete",), default=False)
    plan.criteria = reader.items(tree, ("exit_criteria",), reader.criterion)
    if "exit_criteria" not in tree:
        plan.criteria = tuple(Criterion(text) for text in DEFAULT_CRITERIA)
    reader.fairlead_fields(tree, plan)
    reader.refuse_duplicates([module.id for module in plan.modules], "modules", "id")
    reader.refuse_duplicates(
        [section.name for section in plan.sections], "requirements_sections", "name"
    )
    plan.content = canonical(bound(tree))
    return plan


def read_exec(text: str) -> ExecFile:
    """Read an exec file, or raise a `DocumentError` that names the field and the line."""
    tree, reader = read_frontmatter(text)
    reader.word(tree, ("phase",), ("orchestration",), default="orchestration")
    execution = ExecFile(reader.plan_id(tree), reader.word(tree, ("status",), EXEC_STATUSES, READY))
    execution.current = reader.optional(tree, ("current_module",))
    execution.modules = reader.items(tree, ("modules_status",), reader.exec_module)
    reader.refuse_duplicates([module.id for module in execution.modules], "modules_status", "id")
    agents = reader.mapping(tree.get("registered_agents", {}), ("registered_agents",))
    execution.ai_agents = reader.agent_names(agents, "ai_agents", "agent_id")
    execution.human_developers = reader.agent_names(agents, "human_developers", "github_username")
    execution.assignments = reader.items(tree, ("active_assignments",), reader.assignment)
    completed, total, is_all = (
        reader.optional(tree, (key,))
        for key in ("modules_completed", "modules_total", "all_modules_complete")
    )
    execution.recorded = (completed, total, is_all.lower())
    if reader.flag(tree, ("verification_mode",), default=False):
        left = reader.optional(tree, ("verification_loops_remaining",))
        execution.verifications_left = int(left) if left.isascii() and left.isdigit() else 0
    return execution


def read_frontmatter(text: str) -> "tuple[Tree, FieldReader]":
    """Parse the frontmatter; return it as a tree, with a reader for its fields."""
    block = find_block(text)
    if block is None:
        from fairlead.planphase.errors import PlanField

        raise PlanField("the frontmatter", "is missing", line=1, wanted="a first line `---`")
    inner = text[block.start : block.end]
    tree = read_tree(inner, block.first_line)
    if not tree:
        from fairlead.planphase.errors import PlanField

        raise PlanField("the frontmatter", "is empty", line=1)
    return tree, FieldReader(inner, block.first_line)


def bound(tree: "Tree") -> "Tree":
    """Return the part of the frontmatter that an approval covers."""
    kept: Tree = {key: tree[key] for key in tree if key not in _UNBOUND}
    modules = tree.get("modules")
    if isinstance(modules, list):
        kept["modules"] = [
            {key: module[key] for key in module if key not in _UNBOUND_IN_MODULE}
            if isinstance(module, dict)
            else module
            for module in modules
        ]
    return kept


def canonical(tree: object) -> str:
    """Return one text per tree: equal for every spelling of it, different for any other tree."""
    if isinstance(tree, dict):
        pairs = "".join(canonical(key) + canonical(tree[key]) for key in sorted(tree))
        return f"m{len(tree)}:{pairs},"
    if isinstance(tree, list):
        return f"l{len(tree)}:{''.join(canonical(item) for item in tree)},"
    return "n," if is_null(tree) else f"t{len(str(tree))}:{tree},"


class FieldReader:
    """Reads typed fields from a tree and finds the line of a field that is wrong."""

    __slots__ = ("_first_line", "_inner")

    def __init__(self, inner: str, first_line: int) -> None:
        self._inner = inner
        self._first_line = first_line

    # -- types --------------------------------------------------------------------------

    def text(self, tree: "Tree", path: "Path", default: "str | None" = None) -> str:
        """Read a text that is not empty. An unquoted number or date counts as text."""
        value = tree.get(str(path[-1]), default)
        if value is None:
            self.refuse(path, "is missing", "text")
        if isinstance(value, str) and not is_null(value) and (value.strip() or default == ""):
            return str(value)
        return self.refuse(path, f"is {_kind(value)}", "text")

    def word(
        self, tree: "Tree", path: "Path", allowed: "tuple[str, ...]", default: "str | None" = None
    ) -> str:
        """Read one of the allowed words, in the spelling of `model`."""
        value = self.text(tree, path, default)
        word = IN_PROGRESS if value == OTHER_SPELLING else value
        if word not in allowed:
            self.refuse(path, f"is {value[:60]!r}", ", ".join(allowed))
        return word

    def flag(self, tree: "Tree", path: "Path", *, default: bool) -> bool:
        """Read an unquoted true or false."""
        value = tree.get(str(path[-1]), Plain("true" if default else "false"))
        if isinstance(value, Plain) and value.lower() in _TRUE + _FALSE:
            return value.lower() in _TRUE
        return self.refuse(path, f"is {_kind(value)}", "true or false, without quotes")

    def items(
        self, tree: "Tree", path: "Path", read: "Callable[[object, Path], T]"
    ) -> "tuple[T, ...]":
        """Read a list with `read` for each item; an absent list is empty."""
        value = tree.get(str(path[-1]), [])
        if not isinstance(value, list):
            return self.refuse(path, f"is {_kind(value)}", "a list, such as []")
        return tuple(read(item, (*path, at)) for at, item in enumerate(value))

    def mapping(self, value: object, path: "Path") -> "Tree":
        """Require a mapping."""
        if isinstance(value, dict):
            return value
        return self.refuse(path, f"is {_kind(value)}", "keys and values")

    def optional(self, tree: "Tree", path: "Path") -> str:
        """Read a text that may be absent, null or empty."""
        value = tree.get(str(path[-1]))
        if is_null(value):
            return ""
        if isinstance(value, str):
            return str(value)
        return self.refuse(path, f"is {_kind(value)}", "text or null")

    # -- forms --------------------------------------------------------------------------

    def plan_id(self, tree: "Tree") -> str:
        """Read the id of a plan: the moment in which it began."""
        value = self.text(tree, ("plan_id",))
        prefix, _, rest = value.partition("-")
        day, _, time = rest.partition("-")
        date = f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}"
        if prefix != "plan" or (len(day), len(time)) != (8, 6) or not _is_moment(date):
            self.refuse(("plan_id",), f"is {value[:60]!r}", "plan-YYYYMMDD-HHMMSS")
        return value

    def date(self, tree: "Tree", path: "Path") -> str:
        """Read a date and time that may be absent."""
        value = self.text(tree, path, default="")
        if value and not _is_moment(value):
            self.refuse(path, f"is {value[:60]!r}", "a date such as 2026-01-09T14:30:22+00:00")
        return value

    def module_id(self, tree: "Tree", path: "Path") -> str:
        """Read the id of a module: lower-case letters and digits, with single hyphens."""
        value = self.text(tree, path)
        if not all(part.isascii() and part.isalnum() for part in value.split("-")) or (
            value != value.lower()
        ):
            self.refuse(path, f"is {value[:60]!r}", "lower-case letters, digits, single hyphens")
        return value

    def issue(self, tree: "Tree", path: "Path") -> str:
        """Read the number of a GitHub issue that may be absent."""
        value = self.optional(tree, path)
        number = value.removeprefix("#")
        is_number = number.isascii() and number.isdigit() and number[0] != "0"
        if value and not (value.startswith("#") and is_number):
            self.refuse(path, f"is {value[:60]!r}", 'an issue number such as "#42"')
        return value

    # -- parts of both files ------------------------------------------------------------

    def section(self, value: object, path: "Path") -> RequirementSection:
        """Read a requirement section."""
        tree = self.mapping(value, path)
        status = self.word(tree, (*path, "status"), SECTION_STATUSES, "pending")
        return RequirementSection(self.text(tree, (*path, "name")), status)

    def module(self, value: object, path: "Path") -> Module:
        """Read a module of the plan file."""
        tree = self.mapping(value, path)
        return Module(
            self.module_id(tree, (*path, "id")),
            self.text(tree, (*path, "name"), str(tree.get("id"))),
            self.word(tree, (*path, "status"), MODULE_STATUSES, PLANNED),
            self.word(tree, (*path, "priority"), PRIORITIES, MEDIUM),
            self.criteria(tree, (*path, "acceptance_criteria")),
            self.issue(tree, (*path, "github_issue")),
        )

    def exec_module(self, value: object, path: "Path") -> ExecModule:
        """Read a module of the exec file."""
        tree = self.mapping(value, path)
        module = ExecModule(
            self.module_id(tree, (*path, "id")),
            self.text(tree, (*path, "name"), str(tree.get("id"))),
            self.word(tree, (*path, "status"), EXEC_MODULE_STATUSES, PENDING),
        )
        module.agent = self.optional(tree, (*path, "assigned_to"))
        module.criteria = self.criteria(tree, (*path, "acceptance_criteria"))
        module.issue = self.issue(tree, (*path, "github_issue"))
        module.phase = self.optional(tree, (*path, "phase"))
        module.pr = self.optional(tree, (*path, "pr"))
        module.priority = self.word(tree, (*path, "priority"), PRIORITIES, MEDIUM)
        return module

    def criteria(self, tree: "Tree", path: "Path") -> str:
        """Read acceptance criteria: a text, or a list that becomes one line per item."""
        value = tree.get(str(path[-1]))
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return "\n".join(str(item) for item in value if not is_null(item))
        return self.optional(tree, path)

    def criterion(self, value: object, path: "Path") -> Criterion:
        """Read an exit criterion: a text, or a text with a check."""
        if isinstance(value, str):
            return Criterion(self.text({"": value}, (*path, "")))
        tree = self.mapping(value, path)
        text = self.text(tree, (*path, "text"))
        if "check" not in tree:
            return Criterion(text)
        path = (*path, "check")
        check = self.mapping(tree["check"], path)
        if set(check) == {"file"}:
            return Criterion(text, file=self.text(check, (*path, "file")))
        if set(check) != {"command"} or not isinstance(check["command"], list):
            self.refuse(path, "is neither a file nor a command", _CHECK_FORMS)
        words = self.items(check, (*path, "command"), self._argument)
        if not words or not words[0]:
            self.refuse(path, "names no program", _CHECK_FORMS)
        return Criterion(text, command=words)

    def assignment(self, value: object, path: "Path") -> Assignment:
        """Read an assignment of the exec file."""
        tree = self.mapping(value, path)
        required = (self.text(tree, (*path, key)) for key in ("agent", "module"))
        optional = (self.optional(tree, (*path, key)) for key in ("status", "task_uuid"))
        return Assignment(*required, *optional)

    def agent_names(self, agents: "Tree", key: str, field: str) -> "tuple[str, ...]":
        """Read the names of the registered agents of one kind."""
        return self.items(
            agents,
            ("registered_agents", key),
            lambda value, path: self.text(self.mapping(value, path), (*path, field)),
        )

    def fairlead_fields(self, tree: "Tree", plan: PlanFile) -> None:
        """Read the fields below the key `fairlead` into the plan."""
        fields = self.mapping(tree.get(FAIRLEAD_KEY, {}), (FAIRLEAD_KEY,))
        plan.approved_hash = self.optional(fields, (FAIRLEAD_KEY, "approved_hash"))
        plan.issues_waived = self.optional(fields, (FAIRLEAD_KEY, "issues_waived"))
        plan.owner = self.optional(fields, (FAIRLEAD_KEY, "session"))
        plan.released = self.optional(fields, (FAIRLEAD_KEY, "released"))
        plan.confirmations = self.items(fields, (FAIRLEAD_KEY, "confirmed"), self._confirmation)

    def refuse_duplicates(self, names: "list[str]", field: str, key: str) -> None:
        """Refuse two parts with one name: a command could not tell which one is meant."""
        seen: set[str] = set()
        for at, name in enumerate(names):
            if name in seen:
                self.refuse((field, at, key), f"{name[:60]!r} is used twice", f"another {key}")
            seen.add(name)

    def refuse(self, path: "Path", why: str, wanted: str) -> "NoReturn":
        """Raise an error with the field, its line, and the value it expects."""
        field = ".".join(str(step) for step in path if step != "")
        from fairlead.planphase.errors import PlanField

        raise PlanField(field, why, line=self._line(path), wanted=wanted)

    def _argument(self, value: object, path: "Path") -> str:
        if isinstance(value, str):
            return str(value)
        return self.refuse(path, "is not text", _CHECK_FORMS)

    def _confirmation(self, value: object, path: "Path") -> Confirmation:
        tree = self.mapping(value, path)
        return Confirmation(*(self.text(tree, (*path, key)) for key in ("criterion", "hash", "at")))

    def _line(self, path: "Path") -> int:
        """Return the line of a field, or of the innermost list or map that can be located."""
        lines = split_lines(self._inner)
        at = located = 0
        for step in path:
            at = _line_below(lines, at, step)
            if at < 0:
                break
            located = at
            if isinstance(step, int):
                lines[at] = lines[at].replace("-", " ", 1)  # the first key is on the same line
            else:
                at += 1
        return self._first_line + located


def _is_moment(text: str) -> bool:
    """Whether a text is an ISO 8601 date with a time. `datetime` is too slow for the hook."""
    day, _, rest = text.replace(" ", "T", 1).partition("T")
    time, zone = rest, ""
    for sign in ("Z", "+", "-"):
        head, found, tail = rest.partition(sign)
        if found:
            time, zone = head, tail
            break
    seconds, _, fraction = time.partition(".")
    numbers = (*day.split("-"), *seconds.split(":"))
    widths = [len(number) for number in numbers]
    if widths not in ([4, 2, 2, 2, 2], [4, 2, 2, 2, 2, 2]):
        return False
    digits = "".join((*numbers, fraction, zone.replace(":", "")))
    if not (digits.isascii() and digits.isdigit()) or len(zone) > len("00:00"):
        return False
    highest = (9999, 12, 31, 23, 59, 60)
    lowest = (1, 1, 1, 0, 0, 0)
    return all(
        low <= int(number) <= high
        for low, number, high in zip(lowest, numbers, highest, strict=False)
    )


def _line_below(lines: "list[str]", start: int, step: "str | int") -> int:
    """Return the line of a key or an item in the block that begins at `start`; -1: not found."""
    indent = count = -1
    for at in range(start, len(lines)):
        text = lines[at].strip()
        line_indent = len(lines[at]) - len(lines[at].lstrip(" "))
        if not text or text.startswith("#") or (line_indent > indent >= 0):
            continue
        if indent < 0:
            indent = line_indent
        is_item = text == "-" or text.startswith("- ")
        if line_indent < indent or (isinstance(step, int) and not is_item):
            return -1
        count += is_item
        if step == count or (not is_item and text.startswith((f"{step}:", f'"{step}":'))):
            return at
    return -1


def _kind(value: object) -> str:
    if is_null(value):
        return "null"
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    return "empty" if not str(value).strip() else f"the text {str(value)[:60]!r}"
