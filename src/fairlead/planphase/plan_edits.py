"""Edits the plan file; each function makes one change and touches no other byte.

Approval takes several writes: the module whose issue is about to be created, the number of each
issue, and last the approval itself. The first is on disk before GitHub is asked for anything, so
that a run which was killed in between can be recognised.
"""

from collections.abc import Mapping
from typing import NoReturn

from fairlead.core.ids import slug
from fairlead.core.values import dataclass
from fairlead.planphase import model
from fairlead.planphase.documents import FAIRLEAD_KEY, read_plan
from fairlead.planphase.errors import (
    EmptyText,
    PartExists,
    PartProtected,
    PlanApproved,
    UnknownPart,
    WrongWord,
)
from fairlead.planphase.model import (
    COMPLETE,
    IN_PROGRESS,
    OTHER_SPELLING,
    Module,
    PlanFile,
    RequirementSection,
)
from fairlead.text.document import Document
from fairlead.text.printable import visible
from fairlead.text.yaml_emit import Value

_PENDING_ISSUE = "making_issue"
_PROTECTED = (IN_PROGRESS, COMPLETE)


@dataclass(frozen=True, slots=True)
class PartEdit:
    """New values for a module, a requirement section or the goal; None leaves a field as it is."""

    name: str | None = None
    criteria: str | None = None
    status: str | None = None
    priority: str | None = None


# --- approval ----------------------------------------------------------------------------


def pending_issue_module(document: Document) -> str:
    """Return the module whose issue was being created at the last write; empty: none."""
    return str(document.value(FAIRLEAD_KEY, _PENDING_ISSUE) or "")


def with_pending_issue(document: Document, module: str) -> Document:
    """Record that the issue of a module is about to be created."""
    _module_at(_editable(document), module)
    return document.set_front((FAIRLEAD_KEY, _PENDING_ISSUE), module)


def with_issue(document: Document, module: str, number: int) -> Document:
    """Record the number of a module's issue."""
    at, _ = _module_at(_editable(document), module)
    return document.set_front(("modules", at, "github_issue"), f"#{number}")


def with_approval(document: Document, content: str, now: str, *, is_waived: bool) -> Document:
    """Approve the plan: set status, flag and the hash of the approved content."""
    plan = read_plan(document.text)
    status = model.next_status(plan.status, model.APPROVE)
    document = document.set_front(("status",), status)
    document = document.set_front(("requirements_complete",), True, after="requirements_file")
    document = document.set_front(("plan_phase_complete",), True)
    document = document.set_front((FAIRLEAD_KEY, "approved_hash"), content)
    document = document.set_front((FAIRLEAD_KEY, "approved_at"), now)
    if is_waived:
        document = document.set_front((FAIRLEAD_KEY, "issues_waived"), now)
    elif plan.issues_waived:
        document = document.remove_front((FAIRLEAD_KEY, "issues_waived"))
    return document.remove_front((FAIRLEAD_KEY, _PENDING_ISSUE))


def modules_without_issue(plan: PlanFile) -> tuple[Module, ...]:
    """Return the modules that have no issue."""
    return tuple(module for module in plan.modules if not module.issue)


# --- adding ------------------------------------------------------------------------------


def add_module(document: Document, name: str, edit: PartEdit) -> Document:
    """Append a module."""
    plan = _editable(document)
    identifier = module_id(name, plan)
    if any(module.id == identifier for module in plan.modules):
        raise PartExists("module", identifier)
    module: dict[str, Value] = {
        "id": identifier,
        "name": _required(name, "the name"),
        "status": model.PLANNED,
        "priority": edit.priority or model.MEDIUM,
        "acceptance_criteria": edit.criteria or "",
        "github_issue": None,
    }
    return _edited(document.append_front(("modules",), module), document, plan)


def module_id(name: str, plan: PlanFile) -> str:
    """Derive a module id from its name; `module-N` if the name has no ASCII letter or digit."""
    if identifier := slug(name):
        return identifier
    taken = {module.id for module in plan.modules}
    number = len(plan.modules) + 1
    while f"module-{number}" in taken:
        number += 1
    return f"module-{number}"


def add_section(document: Document, name: str, edit: PartEdit | None = None) -> Document:
    """Append a requirement section, with criteria and priority if they are given."""
    plan = _editable(document)
    if any(section.name == name for section in plan.sections):
        raise PartExists("requirement", name)
    entry: dict[str, Value] = {"name": _required(name, "the name"), "status": model.PENDING}
    if edit and edit.priority:
        entry["priority"] = edit.priority
    if edit and edit.criteria:
        entry["acceptance_criteria"] = edit.criteria
    return _edited(document.append_front(("requirements_sections",), entry), document, plan)


def add_criterion(document: Document, text: str, check: Mapping[str, Value] | None) -> Document:
    """Append an exit criterion: a text, optionally with a check."""
    plan = _editable(document)
    if any(criterion.text == text for criterion in plan.criteria):
        raise PartExists("criterion", text)
    text = _required(text, "the criterion")
    entry: Value = {"text": text, "check": check} if check else text
    listed = document
    if "exit_criteria" not in document.shown_front:
        # Without the key the defaults apply; write them, so that the new one comes on top.
        listed = document.set_front(("exit_criteria",), list(model.DEFAULT_CRITERIA))
    return _edited(listed.append_front(("exit_criteria",), entry), document, plan)


# --- modifying ---------------------------------------------------------------------------


def modify_module(document: Document, name: str, edit: PartEdit) -> Document:
    """Change the given fields of a module."""
    plan = _editable(document)
    at, module = _module_at(plan, name)
    if module.status in _PROTECTED and (edit.name, edit.criteria) != (None, None):
        hint = f"set it back first: fairlead planning modify module {module.id} --status planned"
        raise PartProtected("modify", f"module {module.id}", f"it is {module.status}", hint)
    changed = document
    for key, value in (
        ("name", None if edit.name is None else _required(edit.name, "the name")),
        ("acceptance_criteria", edit.criteria),
        ("priority", edit.priority),
    ):
        if value is not None:
            changed = changed.set_front(("modules", at, key), value)
    if edit.status is not None and edit.status != module.status:
        changed = changed.set_front(("modules", at, "status"), spelled(edit.status, document))
    return _edited(changed, document, plan)


def modify_section(document: Document, name: str, edit: PartEdit) -> Document:
    """Change the name or the status of a requirement section."""
    plan = _editable(document)
    at, section = _section_at(plan, name)
    if edit.status == model.PLANNED:
        raise WrongWord("the status of a requirement", edit.status, model.SECTION_STATUSES)
    changed = document
    if edit.name is not None and edit.name != section.name:
        if any(other.name == edit.name for other in plan.sections):
            raise PartExists("requirement", edit.name)
        changed = changed.set_front(
            ("requirements_sections", at, "name"), _required(edit.name, "the name")
        )
    if edit.status is not None and edit.status != section.status:
        word = spelled(edit.status, document)
        changed = changed.set_front(("requirements_sections", at, "status"), word)
    return _edited(changed, document, plan)


def modify_goal(document: Document, goal: str, *, is_unlocked: bool) -> Document:
    """Change the goal; a locked goal needs `is_unlocked`."""
    plan = _editable(document)
    if plan.is_goal_locked and not is_unlocked:
        hint = "unlock it: fairlead planning modify goal TEXT --unlock"
        raise PartProtected("modify", "the goal", "it is locked", hint)
    changed = document.set_front(("goal",), _required(goal, "the goal"))
    return _edited(_with_goal_in_body(changed, plan.goal, goal), document, plan)


# --- removing ----------------------------------------------------------------------------


def remove_module(document: Document, name: str, *, force: bool) -> Document:
    """Remove a module that has not begun and has no issue, or any module with `force`."""
    plan = _editable(document)
    at, module = _module_at(plan, name)
    if not force and module.status in _PROTECTED:
        _refuse_removal(f"module {module.id}", f"it is {module.status}")
    if not force and module.issue:
        _refuse_removal(f"module {module.id}", f"it has issue {module.issue}")
    return _edited(document.remove_front(("modules", at)), document, plan)


def remove_section(document: Document, name: str, *, force: bool) -> Document:
    """Remove a requirement section that has not begun, or any section with `force`."""
    plan = _editable(document)
    at, section = _section_at(plan, name)
    if not force and section.status != model.PENDING:
        _refuse_removal(f"requirement {section.name!r}", f"it is {section.status}")
    return _edited(document.remove_front(("requirements_sections", at)), document, plan)


def remove_criterion(document: Document, name: str) -> Document:
    """Remove an exit criterion by its number or its text."""
    plan = _editable(document)
    return _edited(
        document.remove_front(("exit_criteria", criterion_at(plan, name))), document, plan
    )


# --- statuses ----------------------------------------------------------------------------


def confirmed(document: Document, number: int, content: str, now: str) -> Document:
    """Record a person's confirmation of a criterion for this content of the plan."""
    plan = _editable(document)
    text = plan.criteria[number].text
    for at, confirmation in enumerate(plan.confirmations):
        if confirmation.text == text:
            path = (FAIRLEAD_KEY, "confirmed", at)
            if confirmation.hash == content:
                return document
            return document.set_front((*path, "hash"), content).set_front((*path, "at"), now)
    entry: Value = {"criterion": text, "hash": content, "at": now}
    return document.append_front((FAIRLEAD_KEY, "confirmed"), entry)


def released(document: Document, now: str) -> Document:
    """Allow the session that owns the plan to stop."""
    read_plan(document.text)
    return document.set_front((FAIRLEAD_KEY, "released"), now)


def reviewed(document: Document) -> Document:
    """Move the plan to the status `reviewing`."""
    status = model.next_status(_editable(document).status, model.REVIEW)
    return document.set_front(("status",), status)


def reopened(document: Document) -> Document:
    """Withdraw the approval and go back to drafting; modules and issue numbers stay."""
    plan = read_plan(document.text)
    status = model.next_status(plan.status, model.REOPEN)
    changed = document.set_front(("status",), status).remove_front((FAIRLEAD_KEY, "approved_hash"))
    return changed.set_front(("plan_phase_complete",), False) if plan.is_complete else changed


def criterion_at(plan: PlanFile, name: str) -> int:
    """Return the index of a criterion, given its number (from 1) or its text."""
    texts = tuple(criterion.text for criterion in plan.criteria)
    if name in texts:
        return texts.index(name)
    if name.isascii() and name.isdigit() and 1 <= int(name[:9]) <= len(texts):
        return int(name) - 1
    raise UnknownPart("criterion", name, tuple(f"{at} {text}" for at, text in enumerate(texts, 1)))


def goal_in_body(goal: str) -> str:
    """Return the goal as a paragraph; as a quotation if Markdown could read it as structure."""
    lines = goal.splitlines() or [""]
    is_prose = (
        len(lines) == 1 and goal[:1].isalnum() and "<" not in goal and goal == visible(goal.strip())
    )
    return goal if is_prose else "\n".join(f"> {visible(line)}".rstrip() for line in lines)


def spelled(status: str, document: Document) -> str:
    """Return a status in the spelling that this file uses."""
    if status != IN_PROGRESS:
        return status
    front = str(document.shown_front)
    has_other = OTHER_SPELLING in front and IN_PROGRESS not in front
    return OTHER_SPELLING if has_other else IN_PROGRESS


def _with_goal_in_body(document: Document, old: str, new: str) -> Document:
    """Replace the goal in the body, unless a person has rewritten that section."""
    section = document.section("Goal")
    lines = document.section_lines(section, own=True) if section else ()
    start = lines[0].start if lines else 0
    text = document.text[start : lines[-1].end] if lines else ""
    shown = goal_in_body(old).replace("\n", document.ending)
    if text.strip() != shown:
        return document
    at = start + text.index(shown)
    replacement = goal_in_body(new).replace("\n", document.ending)
    return document.replaced(document.text[:at] + replacement + document.text[at + len(shown) :])


def _editable(document: Document) -> PlanFile:
    """Read the plan; refuse one that is approved."""
    plan = read_plan(document.text)
    if plan.is_approved:
        raise PlanApproved(plan.plan_id)
    return plan


def _edited(document: Document, before: Document, plan: PlanFile) -> Document:
    """Apply the consequences of an edit: requirements flag, status, end of a release."""
    if document.text == before.text:
        return document
    statuses = [section.status for section in read_plan(document.text).sections]
    if statuses != [section.status for section in plan.sections]:
        is_complete = bool(statuses) and all(status == COMPLETE for status in statuses)
        document = document.set_front(
            ("requirements_complete",), is_complete, after="requirements_file"
        )
    if plan.released:
        document = document.remove_front((FAIRLEAD_KEY, "released"))
    return document.set_front(("status",), model.next_status(plan.status, model.EDIT))


def _module_at(plan: PlanFile, name: str) -> tuple[int, Module]:
    module = plan.module(name)
    if module is None:
        raise UnknownPart("module", name, tuple(module.id for module in plan.modules))
    return plan.modules.index(module), module


def _section_at(plan: PlanFile, name: str) -> tuple[int, RequirementSection]:
    for at, section in enumerate(plan.sections):
        if section.name == name:
            return at, section
    raise UnknownPart("requirement", name, tuple(section.name for section in plan.sections))


def _required(text: str, field: str) -> str:
    if not text.strip():
        raise EmptyText(field)
    return text


def _refuse_removal(part: str, reason: str) -> NoReturn:
    raise PartProtected("remove", part, reason, "remove it anyway with --force")
