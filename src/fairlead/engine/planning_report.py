"""The Plan Phase in the form that every door shows alike, and its summary as Markdown."""

from fairlead.model.criteria import Facts, content_hash, evaluate, unready
from fairlead.model.planning import COMPLETE, Plan
from fairlead.text.visible import visible
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class SectionReport:
    """A section of the requirements."""

    name: str
    status: str


@dataclass(frozen=True, slots=True)
class ModuleReport:
    """A module, with the names that its file has."""

    id: str
    name: str
    status: str
    priority: str
    acceptance_criteria: str
    github_issue: str | None


@dataclass(frozen=True, slots=True)
class CriterionReport:
    """An exit criterion, judged."""

    number: int
    text: str
    state: str  # met, unmet or stale
    evidence: str
    command: str  # what would satisfy it; empty when it is met


@dataclass(frozen=True, slots=True)
class PlanReport:
    """A plan and how far it is."""

    plan_id: str
    status: str
    is_approved: bool
    goal: str
    goal_locked: bool
    created_at: str
    requirements_file: str
    requirements_sections: tuple[SectionReport, ...]
    modules: tuple[ModuleReport, ...]
    exit_criteria: tuple[CriterionReport, ...]
    open_criteria: int
    unready: tuple[str, ...]  # what keeps it from being approved
    hash: str  # of all that an approval binds
    session: str
    released: str


def report_of(plan: Plan, facts: Facts) -> PlanReport:
    """A plan as one report."""
    judged = evaluate(plan, facts)
    return PlanReport(
        plan_id=plan.plan_id,
        status=plan.status,
        is_approved=plan.is_approved,
        goal=plan.goal,
        goal_locked=plan.is_goal_locked,
        created_at=plan.created_at,
        requirements_file=plan.requirements_file,
        requirements_sections=tuple(
            SectionReport(each.name, each.status) for each in plan.sections
        ),
        modules=tuple(
            ModuleReport(
                each.id, each.name, each.status, each.priority, each.criteria, each.issue or None
            )
            for each in plan.modules
        ),
        exit_criteria=tuple(
            CriterionReport(number, each.criterion.text, each.state, each.evidence, each.command)
            for number, each in enumerate(judged, 1)
        ),
        open_criteria=sum(not each.is_met for each in judged),
        unready=tuple(unready(plan, facts)),
        hash=content_hash(plan, facts.requirements),
        session=plan.owner,
        released=plan.released,
    )


def markdown_of(report: PlanReport) -> list[str]:
    """The plan as a page for people, line by line."""
    lines = [
        f"# Plan {_prose(report.plan_id)}",
        "",
        f"Status: {report.status}. Created: {_prose(report.created_at)}.",
        "",
        "## Goal",
        "",
        *(f"> {visible(line)}".rstrip() for line in report.goal.splitlines()),
        "",
        "## Requirements",
        "",
        *(
            f"- [{'x' if each.status == COMPLETE else ' '}] {_prose(each.name)}"
            for each in report.requirements_sections
        ),
        "",
        "## Modules",
        "",
        "| id | name | priority | status | issue | acceptance criteria |",
        "|---|---|---|---|---|---|",
    ]
    for module in report.modules:
        cells = (module.id, module.name, module.priority, module.status)
        more = (module.github_issue or "–", module.acceptance_criteria)
        lines.append(f"| {' | '.join(map(_cell, (*cells, *more)))} |")
    lines += ["", "## Exit criteria", ""]
    for each in report.exit_criteria:
        mark = "x" if each.state == "met" else " "
        lines.append(f"- [{mark}] {_prose(each.text)} ({_prose(each.evidence)})")
    return lines


def _prose(text: str) -> str:
    return visible(" ".join(text.split())).replace("<", "&lt;")


def _cell(text: str) -> str:
    parts = [_prose(line).replace("\\", "\\\\").replace("|", "\\|") for line in text.splitlines()]
    return "<br>".join(parts)
