"""`fairlead exec`: the modules of an approved plan, and the agents assigned to them."""

from collections.abc import Callable
from functools import partial

import click

from fairlead.app import App
from fairlead.interfaces.cli.errors import NothingNamed
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import change_command, query_command
from fairlead.interfaces.cli.output import (
    Line,
    OutputOptions,
    Styled,
    report,
    report_change,
    table_lines,
)
from fairlead.planphase import exec_edits
from fairlead.planphase.errors import EmptyText
from fairlead.planphase.model import AI, HUMAN, PRIORITIES, SETTABLE
from fairlead.planphase.plan_edits import PartEdit
from fairlead.planphase.report import ExecReport
from fairlead.text.document import Document
from fairlead.views.planning import exec_phase_view

_STATUS_STYLES = {"complete": "green", "blocked": "red", "in_progress": "cyan", "assigned": "cyan"}


@click.group("exec", cls=LazyGroup)
def exec_group() -> None:
    """Assign the modules of an approved plan, and record results."""


@exec_group.command(epilog="Example: fairlead exec status --json")
@query_command
def status(app: App, *, as_json: bool) -> None:
    """Show every module and its state."""
    plan_report = exec_phase_view(app)
    report(plan_report, _lines(plan_report), as_json=as_json)


@exec_group.command(epilog="Example: fairlead exec register ai worker-1 --session s1")
@click.argument("kind", type=click.Choice((AI, HUMAN)))
@click.argument("agent", metavar="ID")
@click.option("--session", default="", metavar="NAME", help="Session of an AI agent.")
@change_command
def register(app: App, output: OutputOptions, *, kind: str, agent: str, session: str) -> None:
    """Register an agent or a developer, so that modules can be assigned to them."""
    _require(agent, "the id")
    edit = partial(exec_edits.registered, kind, agent, session)
    _change(app, output, "register", edit, agent, f"registered ({kind})")


@exec_group.command(epilog="Example: fairlead exec assign auth-core worker-1")
@click.argument("module")
@click.argument("agent")
@change_command
def assign(app: App, output: OutputOptions, *, module: str, agent: str) -> None:
    """Assign an unassigned module to a registered agent."""
    edit = partial(exec_edits.assigned, module, agent)
    _change(app, output, "assign", edit, module, f"assigned to {agent}")


@exec_group.command(
    epilog='Example: fairlead exec reassign auth-core --to worker-2 --reason "worker-1 is away"'
)
@click.argument("module")
@click.option("--to", "agent", required=True, metavar="ID", help="New agent.")
@click.option("--reason", required=True, metavar="TEXT", help="Reason, which is recorded.")
@change_command
def reassign(app: App, output: OutputOptions, *, module: str, agent: str, reason: str) -> None:
    """Reassign a module. The record of the first assignment is kept."""
    _require(reason, "the reason")
    edit = partial(exec_edits.reassigned, module, agent, reason)
    _change(app, output, "reassign", edit, module, f"reassigned to {agent}")


@exec_group.command(epilog="Example: fairlead exec modify auth-core --status in_progress")
@click.argument("module")
@click.option("--name", metavar="TEXT", help="New name; the id stays.")
@click.option("--criteria", metavar="TEXT", help="New acceptance criteria.")
@click.option("--priority", type=click.Choice(PRIORITIES), help="New priority.")
@click.option("--status", type=click.Choice(SETTABLE), help="New status.")
@change_command
def modify(app: App, output: OutputOptions, *, module: str, **given: str | None) -> None:
    """Change the given values of a module that is not complete."""
    part = PartEdit(**given)
    if part == PartEdit():
        raise NothingNamed(("--name", "--criteria", "--priority", "--status"))
    for key in ("name", "criteria"):
        _require("-" if given[key] is None else str(given[key]), f"the {key}")
    _change(app, output, "modify", partial(exec_edits.modified, module, part), module, "changed")


@exec_group.command(epilog="Example: fairlead exec complete auth-core --pr 17")
@click.argument("module")
@click.option("--pr", default="", metavar="TEXT", help="Pull request with the work.")
@change_command
def complete(app: App, output: OutputOptions, *, module: str, pr: str) -> None:
    """Record that a module is complete."""
    _change(app, output, "complete", partial(exec_edits.completed, module, pr), module, "complete")


def _change(
    app: App,
    output: OutputOptions,
    command: str,
    edit: Callable[[Document, str], Document],
    subject: str,
    state: str,
) -> None:
    outcome = app.exec_phase.change(command, edit, dry_run=output.dry_run)
    report_change(outcome, output, f"{subject} is {state}", f"{subject} is already {state}")


def _require(text: str, field: str) -> None:
    if not text.strip():
        raise EmptyText(field)


def _lines(plan_report: ExecReport) -> list[Line]:
    lines: list[Line] = [
        (Styled(plan_report.plan_id, "bold"), f"  {plan_report.status}"),
        (f"Modules: {plan_report.modules_completed}/{plan_report.modules_total} complete",),
    ]
    lines += table_lines(
        [
            (
                "  " + module.id,
                module.name,
                Styled(module.status, _STATUS_STYLES.get(module.status, "dim")),
                module.priority,
                module.assigned_to or "-",
                module.github_issue or "-",
            )
            for module in plan_report.modules
        ]
    )
    agents = (*plan_report.ai_agents, *plan_report.human_developers)
    lines.append((f"Agents: {', '.join(agents) or 'none'}",))
    if plan_report.drift:
        lines.append((Styled(f"note: {plan_report.drift}", "yellow"),))
    unassigned = [
        module.id for module in plan_report.modules if module.status in ("pending", "planned")
    ]
    if plan_report.all_modules_complete:
        lines.append(("Every module is complete.",))
    elif unassigned:
        lines.append((f"Next: fairlead exec assign {unassigned[0]} AGENT",))
    return lines
