"""The Plan Phase: the plan with its exit criteria, its approval, and the modules after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairlead.planphase.documents import read_plan
from fairlead.planphase.paths import EXEC_FILE
from fairlead.views.document import fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairlead.app import App
    from fairlead.planphase.approval import ApprovalReport
    from fairlead.planphase.criteria import Judgement
    from fairlead.planphase.report import ExecReport, PlanPhaseReport
    from fairlead.store.files import WriteOutcome


def plan_phase_view(app: App) -> PlanPhaseReport:
    """The plan, with evidence or the next command for each exit criterion."""
    return app.planning.report()


def exec_phase_view(app: App) -> ExecReport:
    """The modules of an approved plan, and who works on them."""
    return app.exec_phase.status()


def added_part_members(outcome: WriteOutcome, name: str, *, is_module: bool) -> dict[str, Any]:
    """What adding a part of a plan adds to the files it wrote: a module gets an id."""
    identifier = read_plan(outcome.changes[0].new).modules[-1].id if is_module else name
    return {"id": identifier, "name": name}


def judged_members(judged: Judgement) -> dict[str, Any]:
    """What confirming an exit criterion adds to the files it wrote."""
    return {"state": judged.state, "evidence": judged.evidence}


def approval_view(
    approved: ApprovalReport | None, phases: Sequence[str], *, dry_run: bool
) -> dict[str, Any]:
    """What an approval made; None: the plan was approved before."""
    content: dict[str, Any] = {"phases_added": list(phases), "dry_run": dry_run}
    if approved:
        content |= fields(approved, "plan_id", "goal", "approved_hash", "issues", "notes")
        content |= {"changed": approved.outcome.paths, "exec_file": EXEC_FILE}
    return content
