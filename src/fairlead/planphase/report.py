"""The reports of the Plan Phase: the values that every interface shows, and the Markdown summary.

Field names are the keys of the JSON output, so they do not change.
"""

from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass
from fairlead.planphase.criteria import Facts, approval_of, content_hash, evaluate, review_blockers
from fairlead.planphase.documents import read_exec, read_plan
from fairlead.planphase.model import COMPLETE, ExecFile, PlanFile
from fairlead.text.printable import visible

_UNREADABLE = "its file cannot be read"


@dataclass(frozen=True, slots=True)
class SectionReport:
    """A requirement section."""

    name: str
    status: str


@dataclass(frozen=True, slots=True)
class PlanModuleReport:
    """A module of the plan file."""

    id: str
    name: str
    status: str
    priority: str
    acceptance_criteria: str
    github_issue: str | None


@dataclass(frozen=True, slots=True)
class CriterionReport:
    """An exit criterion with its state."""

    number: int
    text: str
    state: str  # met, unmet or stale
    evidence: str
    command: str  # that would satisfy it; empty when it is met


@dataclass(frozen=True, slots=True)
class PlanPhaseReport:
    """A plan and its progress."""

    plan_id: str
    status: str
    is_approved: bool
    goal: str
    goal_locked: bool
    created_at: str
    requirements_file: str
    requirements_sections: tuple[SectionReport, ...]
    modules: tuple[PlanModuleReport, ...]
    exit_criteria: tuple[CriterionReport, ...]
    open_criteria: int
    unready: tuple[str, ...]  # everything that keeps it from being reviewed
    hash: str  # of everything that an approval covers
    session: str
    released: str


@dataclass(frozen=True, slots=True)
class ExecModuleReport:
    """A module of the exec file and its agent."""

    id: str
    name: str
    status: str
    priority: str
    assigned_to: str
    github_issue: str
    pr: str
    phase: str
    acceptance_criteria: str


@dataclass(frozen=True, slots=True)
class ExecReport:
    """The progress of the modules."""

    plan_id: str
    status: str
    current_module: str
    modules: tuple[ExecModuleReport, ...]
    ai_agents: tuple[str, ...]
    human_developers: tuple[str, ...]
    modules_completed: int
    modules_total: int
    all_modules_complete: bool
    drift: str  # how the recorded counts differ from the modules; empty when they agree


def report_of(plan: PlanFile, facts: Facts) -> PlanPhaseReport:
    """Report a plan with the state of each criterion."""
    judgements = evaluate(plan, facts)
    return PlanPhaseReport(
        plan_id=plan.plan_id,
        status=plan.status,
        is_approved=approval_of(plan, facts).is_met,
        goal=plan.goal,
        goal_locked=plan.is_goal_locked,
        created_at=plan.created_at,
        requirements_file=plan.requirements_file,
        requirements_sections=tuple(
            SectionReport(each.name, each.status) for each in plan.sections
        ),
        modules=tuple(
            PlanModuleReport(
                each.id, each.name, each.status, each.priority, each.criteria, each.issue or None
            )
            for each in plan.modules
        ),
        exit_criteria=tuple(
            CriterionReport(number, each.criterion.text, each.state, each.evidence, each.command)
            for number, each in enumerate(judgements, 1)
        ),
        open_criteria=sum(not each.is_met for each in judgements),
        unready=tuple(review_blockers(plan, facts)),
        hash=content_hash(plan, facts.requirements),
        session=plan.owner,
        released=plan.released,
    )


def exec_report_of(execution: ExecFile) -> ExecReport:
    """Report an exec file, with counts taken from its modules."""
    completed, total, is_all = execution.counts
    return ExecReport(
        plan_id=execution.plan_id,
        status=execution.status,
        current_module=execution.current,
        modules=tuple(
            ExecModuleReport(
                id=module.id,
                name=module.name,
                status=module.status,
                priority=module.priority,
                assigned_to=module.agent,
                github_issue=module.issue,
                pr=module.pr,
                phase=module.phase,
                acceptance_criteria=module.criteria,
            )
            for module in execution.modules
        ),
        ai_agents=execution.ai_agents,
        human_developers=execution.human_developers,
        modules_completed=completed,
        modules_total=total,
        all_modules_complete=is_all,
        drift=execution.drift,
    )


def markdown_of(report: PlanPhaseReport) -> list[str]:
    """Return the plan as lines of Markdown."""
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


def plan_phase_line(text: str) -> str:
    """Describe the plan in one line for `fairlead status`; empty once it is approved."""
    try:
        plan = read_plan(text)
    except DocumentError:
        return _UNREADABLE
    return "" if plan.is_approved else f"{plan.plan_id} is {plan.status}"


def exec_phase_line(text: str) -> str:
    """Describe the modules of an approved plan in one line for `fairlead status`."""
    try:
        execution = read_exec(text)
    except DocumentError:
        return _UNREADABLE
    completed, total, _ = execution.counts
    return f"{execution.plan_id}: {completed}/{total} modules complete"
