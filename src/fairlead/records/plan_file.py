"""The plan file, edited: one function a change, and no byte beside it.

Every function takes the document and returns another; what the change may not touch is refused
before. An edit of what an approval binds moves a plan that is being reviewed back to drafting,
and takes back the release of its session, in the same write. `plan_read` reads.
"""

from collections.abc import Mapping

from fairlead.errors import (
    EmptyText,
    PartExists,
    PartProtected,
    PlanApproved,
    UnknownPart,
    WrongWord,
)
from fairlead.model import planning
from fairlead.model.ids import slug
from fairlead.model.planning import COMPLETE, IN_PROGRESS, OTHER_SPELLING, Module, Plan, Section
from fairlead.records.plan_read import OURS, read_plan
from fairlead.text.document import Document
from fairlead.text.emit import Value
from fairlead.text.visible import visible
from fairlead.values import dataclass

_PROTECTED = (IN_PROGRESS, COMPLETE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be changed of a module, a section or the goal; None: it stays."""

    name: str | None = None
    criteria: str | None = None
    status: str | None = None
    priority: str | None = None


def add_module(document: Document, name: str, wanted: Wanted) -> Document:
    """Append a module."""
    plan = _open(document)
    identifier = module_id(name, plan)
    if any(module.id == identifier for module in plan.modules):
        raise PartExists("module", identifier)
    module: dict[str, Value] = {
        "id": identifier,
        "name": _filled(name, "the name"),
        "status": planning.PLANNED,
        "priority": wanted.priority or planning.MEDIUM,
        "acceptance_criteria": wanted.criteria or "",
        "github_issue": None,
    }
    return _edited(document.append_front(("modules",), module), document, plan)


def module_id(name: str, plan: Plan) -> str:
    """The id that a name gets; `module-N` where it has no ASCII letter or digit."""
    found = slug(name)
    number = len(plan.modules) + 1
    taken = {module.id for module in plan.modules}
    while not found or (found.startswith("module-") and not slug(name) and found in taken):
        found = f"module-{number}"
        number += 1
    return found


def add_section(document: Document, name: str, wanted: Wanted | None = None) -> Document:
    """Append a section of the requirements; it keeps criteria and a priority if it is given some."""
    plan = _open(document)
    if any(section.name == name for section in plan.sections):
        raise PartExists("requirement", name)
    entry: dict[str, Value] = {"name": _filled(name, "the name"), "status": planning.PENDING}
    if wanted and wanted.priority:
        entry["priority"] = wanted.priority
    if wanted and wanted.criteria:
        entry["acceptance_criteria"] = wanted.criteria
    return _edited(document.append_front(("requirements_sections",), entry), document, plan)


def add_criterion(document: Document, text: str, check: Mapping[str, Value] | None) -> Document:
    """Append an exit criterion: a text, or one with a check."""
    plan = _open(document)
    if any(criterion.text == text for criterion in plan.criteria):
        raise PartExists("criterion", text)
    filled = _filled(text, "the criterion")
    entry: Value = {"text": filled, "check": check} if check else filled
    listed = document
    if "exit_criteria" not in document.shown_front:
        listed = document.set_front(("exit_criteria",), list(planning.DEFAULT_CRITERIA))
    return _edited(listed.append_front(("exit_criteria",), entry), document, plan)


def modify_module(document: Document, name: str, wanted: Wanted) -> Document:
    """Change what was named of a module, and nothing else."""
    plan = _open(document)
    at, module = _module(plan, name)
    if module.status in _PROTECTED and (wanted.name, wanted.criteria) != (None, None):
        way = f"set it back first: fairlead planning modify module {module.id} --status planned"
        raise PartProtected("modify", f"module {module.id}", f"it is {module.status}", way)
    changed = document
    for key, value in (
        ("name", None if wanted.name is None else _filled(wanted.name, "the name")),
        ("acceptance_criteria", wanted.criteria),
        ("priority", wanted.priority),
    ):
        if value is not None:
            changed = changed.set_front(("modules", at, key), value)
    if wanted.status is not None and wanted.status != module.status:
        changed = changed.set_front(("modules", at, "status"), spelled(wanted.status, document))
    return _edited(changed, document, plan)


def modify_section(document: Document, name: str, wanted: Wanted) -> Document:
    """Change the name or the status of a section; what follows for the document is kept in step."""
    plan = _open(document)
    at, section = _section(plan, name)
    if wanted.status == planning.PLANNED:
        raise WrongWord("the status of a requirement", wanted.status, planning.SECTION_STATUSES)
    changed = document
    if wanted.name is not None and wanted.name != section.name:
        if any(each.name == wanted.name for each in plan.sections):
            raise PartExists("requirement", wanted.name)
        changed = changed.set_front(
            ("requirements_sections", at, "name"), _filled(wanted.name, "the name")
        )
    if wanted.status is not None and wanted.status != section.status:
        word = spelled(wanted.status, document)
        changed = changed.set_front(("requirements_sections", at, "status"), word)
    return _edited(changed, document, plan)


def modify_goal(document: Document, goal: str, *, is_unlocked: bool) -> Document:
    """Change the goal. While it is locked, only for somebody who says so."""
    plan = _open(document)
    if plan.is_goal_locked and not is_unlocked:
        way = "say that you mean it: fairlead planning modify goal TEXT --unlock"
        raise PartProtected("modify", "the goal", "it is locked", way)
    changed = document.set_front(("goal",), _filled(goal, "the goal"))
    return _edited(_with_goal_in_body(changed, plan.goal, goal), document, plan)


def remove_module(document: Document, name: str, *, force: bool) -> Document:
    """Remove a module that nobody works on, and that no issue stands for."""
    plan = _open(document)
    at, module = _module(plan, name)
    if not force and module.status in _PROTECTED:
        _refuse_removal(f"module {module.id}", f"it is {module.status}")
    if not force and module.issue:
        _refuse_removal(f"module {module.id}", f"issue {module.issue} stands for it")
    return _edited(document.remove_front(("modules", at)), document, plan)


def remove_section(document: Document, name: str, *, force: bool) -> Document:
    """Remove a section that nobody has begun."""
    plan = _open(document)
    at, section = _section(plan, name)
    if not force and section.status != planning.PENDING:
        _refuse_removal(f"requirement {section.name!r}", f"it is {section.status}")
    return _edited(document.remove_front(("requirements_sections", at)), document, plan)


def remove_criterion(document: Document, name: str) -> Document:
    """Remove an exit criterion by its number or its text."""
    plan = _open(document)
    return _edited(
        document.remove_front(("exit_criteria", criterion_at(plan, name))), document, plan
    )


def confirmed(document: Document, number: int, content: str, now: str) -> Document:
    """Record a person's word that a criterion is met by this content of the plan."""
    plan = _open(document)
    text = plan.criteria[number].text
    for at, each in enumerate(plan.confirmations):
        if each.text == text:
            place = (OURS, "confirmed", at)
            if each.hash == content:
                return document
            return document.set_front((*place, "hash"), content).set_front((*place, "at"), now)
    entry: Value = {"criterion": text, "hash": content, "at": now}
    return document.append_front((OURS, "confirmed"), entry)


def released(document: Document, now: str) -> Document:
    """Let the session go that the plan holds."""
    read_plan(document.text)
    return document.set_front((OURS, "released"), now)


def reviewed(document: Document) -> Document:
    """Say that the plan is complete and to be looked at."""
    status = planning.next_status(_open(document).status, planning.REVIEW)
    return document.set_front(("status",), status)


def reopened(document: Document) -> Document:
    """Void an approval and go back to drafting; modules and issue numbers stay."""
    plan = read_plan(document.text)
    status = planning.next_status(plan.status, planning.REOPEN)
    changed = document.set_front(("status",), status).remove_front((OURS, "approved_hash"))
    return changed.set_front(("plan_phase_complete",), False) if plan.is_complete else changed


def criterion_at(plan: Plan, name: str) -> int:
    """The index of a criterion, by its number counted from 1 or by its text."""
    texts = tuple(criterion.text for criterion in plan.criteria)
    if name in texts:
        return texts.index(name)
    if name.isascii() and name.isdigit() and 1 <= int(name[:9]) <= len(texts):
        return int(name) - 1
    raise UnknownPart("criterion", name, tuple(f"{at} {text}" for at, text in enumerate(texts, 1)))


def _with_goal_in_body(document: Document, old: str, new: str) -> Document:
    """Put another goal in the body, where the body still shows the old one."""
    section = document.section("Goal")
    lines = document.section_lines(section, own=True) if section else ()
    start = lines[0].start if lines else 0
    held = document.text[start : lines[-1].end] if lines else ""
    shown = goal_in_body(old).replace("\n", document.ending)
    if held.strip() != shown:
        return document
    at = start + held.index(shown)
    put = goal_in_body(new).replace("\n", document.ending)
    return document.replaced(document.text[:at] + put + document.text[at + len(shown) :])


def goal_in_body(goal: str) -> str:
    """A goal as prose; one that could be taken for structure stands in a quotation."""
    lines = goal.splitlines() or [""]
    is_prose = (
        len(lines) == 1 and goal[:1].isalnum() and "<" not in goal and goal == visible(goal.strip())
    )
    return goal if is_prose else "\n".join(f"> {visible(line)}".rstrip() for line in lines)


def _open(document: Document) -> Plan:
    """The plan, if it may be changed."""
    plan = read_plan(document.text)
    if plan.is_approved:
        raise PlanApproved(plan.plan_id)
    return plan


def _edited(document: Document, before: Document, plan: Plan) -> Document:
    """What follows from an edit: the flag of the requirements, the status, the release."""
    if document.text == before.text:
        return document
    statuses = [section.status for section in read_plan(document.text).sections]
    if statuses != [section.status for section in plan.sections]:
        is_complete = bool(statuses) and all(status == COMPLETE for status in statuses)
        document = document.set_front(
            ("requirements_complete",), is_complete, after="requirements_file"
        )
    if plan.released:
        document = document.remove_front((OURS, "released"))
    return document.set_front(("status",), planning.next_status(plan.status, planning.EDIT))


def _module(plan: Plan, name: str) -> tuple[int, Module]:
    module = plan.module(name)
    if module is None:
        raise UnknownPart("module", name, tuple(each.id for each in plan.modules))
    return plan.modules.index(module), module


def _section(plan: Plan, name: str) -> tuple[int, Section]:
    for at, section in enumerate(plan.sections):
        if section.name == name:
            return at, section
    raise UnknownPart("requirement", name, tuple(each.name for each in plan.sections))


def spelled(status: str, document: Document) -> str:
    """A status in the spelling that this file has."""
    if status != IN_PROGRESS:
        return status
    shown = str(document.shown_front)
    has_other = OTHER_SPELLING in shown and IN_PROGRESS not in shown
    return OTHER_SPELLING if has_other else IN_PROGRESS


def _filled(text: str, what: str) -> str:
    if not text.strip():
        raise EmptyText(what)
    return text


def _refuse_removal(part: str, why: str) -> None:
    raise PartProtected("remove", part, why, "remove it anyway with --force")
