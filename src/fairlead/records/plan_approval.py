"""The plan file on its way to approval: the intent to make an issue, its number, the seal.

Each is one write. The intent stands in the file before anything is asked of GitHub, so that a
run which died in between can be told from one that never began; the seal comes last of all.
"""

from fairlead.errors import PlanApproved, UnknownPart
from fairlead.model import planning
from fairlead.model.planning import Plan
from fairlead.records.plan_read import OURS, read_plan
from fairlead.text.document import Document

_MAKING = "making_issue"


def intent_in(document: Document) -> str:
    """The module whose issue was being made when somebody last wrote; empty: none."""
    return str(document.value(OURS, _MAKING) or "")


def with_intent(document: Document, module: str) -> Document:
    """Say for which module an issue is about to be made."""
    _place(document, module)
    return document.set_front((OURS, _MAKING), module)


def with_issue(document: Document, module: str, number: int) -> Document:
    """Write the number of a module's issue back."""
    return document.set_front(("modules", _place(document, module), "github_issue"), f"#{number}")


def sealed(document: Document, content: str, now: str, *, is_waived: bool) -> Document:
    """Approve: status, flag and the hash of what was approved."""
    plan = read_plan(document.text)
    # A plan that is ready may be approved from drafting: review asks for nothing else.
    status = plan.status
    if status == planning.DRAFTING:
        status = planning.next_status(status, planning.REVIEW)
    document = document.set_front(("status",), planning.next_status(status, planning.APPROVE))
    document = document.set_front(("requirements_complete",), True, after="requirements_file")
    document = document.set_front(("plan_phase_complete",), True)
    document = document.set_front((OURS, "approved_hash"), content)
    document = document.set_front((OURS, "approved_at"), now)
    if is_waived:
        document = document.set_front((OURS, "issues_waived"), now)
    elif plan.issues_waived:
        document = document.remove_front((OURS, "issues_waived"))
    return document.remove_front((OURS, _MAKING))


def without_issue(plan: Plan) -> tuple[planning.Module, ...]:
    """The modules that no issue stands for."""
    return tuple(module for module in plan.modules if not module.issue)


def _place(document: Document, name: str) -> int:
    plan = read_plan(document.text)
    if plan.is_approved:
        raise PlanApproved(plan.plan_id)
    for at, module in enumerate(plan.modules):
        if module.id == name:
            return at
    raise UnknownPart("module", name, tuple(module.id for module in plan.modules))
