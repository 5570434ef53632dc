"""The plan file, read: every field of the Plan Phase with its kind, or an error with its line.

Files of the older tools are read as they are: redumped without quotes, with the other spelling
of `in_progress`, with issue numbers as numbers. What is of the wrong kind is named, never
guessed. The stop hook reads plans by this, so nothing slow is imported; `plan_file` edits.
"""

from fairlead.faults import PlanField
from fairlead.model.planning import (
    DEFAULT_CRITERIA,
    IN_PROGRESS,
    MEDIUM,
    MODULE_STATUSES,
    OTHER_SPELLING,
    PLAN_STATUSES,
    PLANNED,
    PRIORITIES,
    SECTION_STATUSES,
    Confirmation,
    Criterion,
    Module,
    Plan,
    Section,
)
from fairlead.text.lines import split_lines
from fairlead.text.quick import find_block
from fairlead.text.scalars import Plain, is_null
from fairlead.text.subset import read_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, TypeVar

    T = TypeVar("T")
    Tree = dict[str, object]
    Path = tuple[str | int, ...]  # to a field: keys, and numbers of items

OURS = "fairlead"  # the key below which stands what the older tools do not know
DOCUMENT = "USER_REQUIREMENTS.md"

# What an approval does not bind: flags and statuses that the way of a plan changes, and our own.
_UNBOUND = ("status", "plan_phase_complete", "requirements_complete", "goal_locked", OURS)
_UNBOUND_IN_MODULE = ("status", "github_issue", "github_issue_url")
_TRUE = ("true", "yes", "on")
_FALSE = ("false", "no", "off")


def read_plan(text: str) -> Plan:
    """Read a plan file, or raise a `DocumentError` that names the field and the line."""
    tree, reader = open_front(text)
    reader.word(tree, ("phase",), ("planning",), default="planning")
    plan = Plan(
        reader.text(tree, ("plan_id",)),
        reader.word(tree, ("status",), PLAN_STATUSES),
        reader.text(tree, ("goal",)),
    )
    plan.created_at = reader.text(tree, ("created_at",), default="")
    plan.is_goal_locked = reader.flag(tree, ("goal_locked",), default=True)
    plan.requirements_file = reader.text(tree, ("requirements_file",), default=DOCUMENT)
    reader.flag(tree, ("requirements_complete",), default=False)
    plan.sections = reader.items(tree, ("requirements_sections",), reader.section)
    plan.modules = reader.items(tree, ("modules",), reader.module)
    plan.is_complete = reader.flag(tree, ("plan_phase_complete",), default=False)
    plan.criteria = reader.items(tree, ("exit_criteria",), reader.criterion)
    if "exit_criteria" not in tree:
        plan.criteria = tuple(Criterion(text) for text in DEFAULT_CRITERIA)
    reader.ours(tree, plan)
    reader.refuse_twins([module.id for module in plan.modules], "modules", "id")
    reader.refuse_twins(
        [section.name for section in plan.sections], "requirements_sections", "name"
    )
    plan.content = canonical(bound(tree))
    return plan


def open_front(text: str) -> "tuple[Tree, FieldReader]":
    """The frontmatter as a tree, and a reader of its fields. The exec file is read so too."""
    block = find_block(text)
    if block is None:
        raise PlanField("the frontmatter", "is missing", line=1, wanted="a first line `---`")
    inner = text[block.start : block.end]
    tree = read_tree(inner, block.first_line)
    if not tree:
        raise PlanField("the frontmatter", "is empty", line=1)
    return tree, FieldReader(inner, block.first_line)


def bound(tree: "Tree") -> "Tree":
    """The part of the frontmatter that an approval binds."""
    kept: Tree = {key: tree[key] for key in tree if key not in _UNBOUND}
    modules = tree.get("modules")
    if isinstance(modules, list):
        kept["modules"] = [
            {key: each[key] for key in each if key not in _UNBOUND_IN_MODULE}
            if isinstance(each, dict)
            else each
            for each in modules
        ]
    return kept


def canonical(tree: object) -> str:
    """A tree as one text: the same for every spelling of it, and different for any other."""
    if isinstance(tree, dict):
        pairs = "".join(canonical(key) + canonical(tree[key]) for key in sorted(tree))
        return f"m{len(tree)}:{pairs},"
    if isinstance(tree, list):
        return f"l{len(tree)}:{''.join(canonical(item) for item in tree)},"
    return "n," if is_null(tree) else f"t{len(str(tree))}:{tree},"


class FieldReader:
    """Takes fields out of a tree, each with its kind; knows where each stands."""

    __slots__ = ("_first_line", "_inner")

    def __init__(self, inner: str, first_line: int) -> None:
        self._inner = inner
        self._first_line = first_line

    # -- kinds --------------------------------------------------------------------------

    def text(self, tree: "Tree", path: "Path", default: "str | None" = None) -> str:
        """A text with something in it. An unquoted number or date is the text that stands there."""
        value = self._held(tree, path, default)
        if isinstance(value, str) and not is_null(value) and (value.strip() or default == ""):
            return str(value)
        return self.refuse(path, f"is {_kind(value)}", "text")

    def word(
        self, tree: "Tree", path: "Path", allowed: "tuple[str, ...]", default: "str | None" = None
    ) -> str:
        """One of the words that the field knows, in our spelling."""
        value = self.text(tree, path, default)
        found = IN_PROGRESS if value == OTHER_SPELLING else value
        if found not in allowed:
            self.refuse(path, f"is {value[:60]!r}", ", ".join(allowed))
        return found

    def flag(self, tree: "Tree", path: "Path", *, default: bool) -> bool:
        """True or false, unquoted."""
        value = tree.get(str(path[-1]), Plain("true" if default else "false"))
        if isinstance(value, Plain) and value.lower() in _TRUE + _FALSE:
            return value.lower() in _TRUE
        return self.refuse(path, f"is {_kind(value)}", "true or false, without quotes")

    def items(
        self, tree: "Tree", path: "Path", read: "Callable[[object, Path], T]"
    ) -> "tuple[T, ...]":
        """A list, each item read; an absent one is empty."""
        value = tree.get(str(path[-1]), [])
        if not isinstance(value, list):
            return self.refuse(path, f"is {_kind(value)}", "a list, such as []")
        return tuple(read(item, (*path, at)) for at, item in enumerate(value))

    def mapping(self, value: object, path: "Path") -> "Tree":
        """A map of keys and values."""
        if isinstance(value, dict):
            return value
        return self.refuse(path, f"is {_kind(value)}", "keys and values")

    def optional(self, tree: "Tree", path: "Path") -> str:
        """A text that may be absent, null or empty."""
        value = tree.get(str(path[-1]))
        if is_null(value):
            return ""
        if isinstance(value, str):
            return str(value)
        return self.refuse(path, f"is {_kind(value)}", "text or null")

    # -- parts --------------------------------------------------------------------------

    def section(self, value: object, path: "Path") -> Section:
        """One section of the requirements."""
        tree = self.mapping(value, path)
        status = self.word(tree, (*path, "status"), SECTION_STATUSES, "pending")
        return Section(self.text(tree, (*path, "name")), status)

    def module(self, value: object, path: "Path") -> Module:
        """One module."""
        tree = self.mapping(value, path)
        return Module(
            self.text(tree, (*path, "id")),
            self.text(tree, (*path, "name"), str(tree.get("id"))),
            self.word(tree, (*path, "status"), MODULE_STATUSES, PLANNED),
            self.word(tree, (*path, "priority"), PRIORITIES, MEDIUM),
            self.criteria(tree, (*path, "acceptance_criteria")),
            self.optional(tree, (*path, "github_issue")),
        )

    def criteria(self, tree: "Tree", path: "Path") -> str:
        """Acceptance criteria: a text, or several in a list, one a line."""
        value = tree.get(str(path[-1]))
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return "\n".join(str(each) for each in value if not is_null(each))
        return self.optional(tree, path)

    def criterion(self, value: object, path: "Path") -> Criterion:
        """An exit criterion: a text, or a text with a check."""
        if isinstance(value, str):
            return Criterion(self.text({"": value}, (*path, "")))
        tree = self.mapping(value, path)
        text = self.text(tree, (*path, "text"))
        if "check" not in tree:
            return Criterion(text)
        place = (*path, "check")
        check = self.mapping(tree["check"], place)
        if set(check) == {"file"}:
            return Criterion(text, file=self.text(check, (*place, "file")))
        if set(check) != {"command"} or not isinstance(check["command"], list):
            self.refuse(place, "is neither a file nor a command", _CHECKS)
        words = self.items(check, (*place, "command"), self._argument)
        if not words or not words[0]:
            self.refuse(place, "names no program", _CHECKS)
        return Criterion(text, command=words)

    def ours(self, tree: "Tree", plan: Plan) -> None:
        """What stands below our own key."""
        held = self.mapping(tree.get(OURS, {}), (OURS,))
        plan.approved_hash = self.optional(held, (OURS, "approved_hash"))
        plan.issues_waived = self.optional(held, (OURS, "issues_waived"))
        plan.owner = self.optional(held, (OURS, "session"))
        plan.released = self.optional(held, (OURS, "released"))
        plan.confirmations = self.items(held, (OURS, "confirmed"), self._confirmation)

    def refuse_twins(self, names: "list[str]", field: str, key: str) -> None:
        """Two parts of one name: a command could not tell which one is meant."""
        seen: set[str] = set()
        for at, name in enumerate(names):
            if name in seen:
                self.refuse((field, at, key), f"{name[:60]!r} stands twice", f"another {key}")
            seen.add(name)

    def refuse(self, path: "Path", why: str, wanted: str) -> "NoReturn":
        """Name the field, its line, and what it takes."""
        named = ".".join(str(step) for step in path if step != "")
        raise PlanField(named, why, line=self._line(path), wanted=wanted)

    # -- places -------------------------------------------------------------------------

    def _held(self, tree: "Tree", path: "Path", default: "str | None") -> object:
        value = tree.get(str(path[-1]), default)
        return self.refuse(path, "is missing", "text") if value is None else value

    def _argument(self, value: object, path: "Path") -> str:
        return str(value) if isinstance(value, str) else self.refuse(path, "is no text", _CHECKS)

    def _confirmation(self, value: object, path: "Path") -> Confirmation:
        tree = self.mapping(value, path)
        return Confirmation(*(self.text(tree, (*path, key)) for key in ("criterion", "hash", "at")))

    def _line(self, path: "Path") -> int:
        """The line on which a field stands; that of its list or map, where it is written inline."""
        lines = split_lines(self._inner)
        at = found = 0
        for step in path:
            at = _line_below(lines, at, step)
            if at < 0:
                break
            found = at
            if isinstance(step, int):
                lines[at] = lines[at].replace("-", " ", 1)  # its first key shares the line
            else:
                at += 1
        return self._first_line + found


_CHECKS = '{file: PATH} or {command: ["program", "argument"]}'


def _line_below(lines: "list[str]", start: int, step: "str | int") -> int:
    """The line of a key or an item in the block that begins here; -1 when it is not there."""
    indent = count = -1
    for at in range(start, len(lines)):
        text = lines[at].strip()
        here = _indent(lines[at])
        if not text or text.startswith("#") or (here > indent >= 0):
            continue
        if indent < 0:
            indent = here
        is_item = text == "-" or text.startswith("- ")
        if here < indent or (isinstance(step, int) and not is_item):
            return -1
        count += is_item
        if step == count or (not is_item and text.startswith((f"{step}:", f'"{step}":'))):
            return at
    return -1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _kind(value: object) -> str:
    if is_null(value):
        return "null"
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    return "empty" if not str(value).strip() else f"the text {str(value)[:60]!r}"
