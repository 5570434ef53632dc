"""`fairlead exec`: the modules of an approved plan, and who works on them."""

from collections.abc import Callable, Sequence
from functools import partial

import click

from fairlead.engine.exec_phase import ExecReport
from fairlead.errors import EmptyText, NothingNamed
from fairlead.interfaces.cli.options import changes, shows
from fairlead.interfaces.cli.show import Manner, Part, Styled, report, report_change, rows
from fairlead.model.execution import AI, HUMAN, SETTABLE
from fairlead.model.planning import PRIORITIES
from fairlead.records import exec_file
from fairlead.records.plan_file import Wanted
from fairlead.text.document import Document
from fairlead.wiring import App

_STYLES = {"complete": "green", "blocked": "red", "in_progress": "cyan", "assigned": "cyan"}


@click.group("exec")
def execution() -> None:
    """Carry out an approved plan: agents, modules, and what has come of them."""


@execution.command(epilog="Example: fairlead exec status --json")
@shows
def status(app: App, *, as_json: bool) -> None:
    """Show every module, counted from the modules themselves."""
    found = app.exec_phase.status()
    report(found, _lines(found), as_json=as_json)


@execution.command(epilog="Example: fairlead exec register ai worker-1 --session s1")
@click.argument("kind", type=click.Choice((AI, HUMAN)))
@click.argument("agent", metavar="ID")
@click.option("--session", default="", metavar="NAME", help="The session of an AI agent.")
@changes
def register(app: App, manner: Manner, *, kind: str, agent: str, session: str) -> None:
    """Say who may be given modules."""
    _require(agent, "the id")
    edit = partial(exec_file.registered, kind, agent, session)
    _changed(app, manner, "register", edit, f"{agent} is registered ({kind})")


@execution.command(epilog="Example: fairlead exec assign auth-core worker-1")
@click.argument("module")
@click.argument("agent")
@changes
def assign(app: App, manner: Manner, *, module: str, agent: str) -> None:
    """Give a module that nobody has to somebody who is registered."""
    edit = partial(exec_file.assigned, module, agent)
    _changed(app, manner, "assign", edit, f"{module} is assigned to {agent}")


@execution.command(
    epilog='Example: fairlead exec reassign auth-core --to worker-2 --reason "worker-1 is away"'
)
@click.argument("module")
@click.option("--to", "agent", required=True, metavar="ID", help="Who gets it.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is kept with the record.")
@changes
def reassign(app: App, manner: Manner, *, module: str, agent: str, reason: str) -> None:
    """Take a module from one and give it to another. The first one's record is kept."""
    _require(reason, "the reason")
    edit = partial(exec_file.reassigned, module, agent, reason)
    _changed(app, manner, "reassign", edit, f"{module} is reassigned to {agent}")


@execution.command(epilog="Example: fairlead exec modify auth-core --status in_progress")
@click.argument("module")
@click.option("--name", metavar="TEXT", help="Another name; the id stays.")
@click.option("--criteria", metavar="TEXT", help="Other acceptance criteria.")
@click.option("--priority", type=click.Choice(PRIORITIES), help="Another priority.")
@click.option("--status", type=click.Choice(SETTABLE), help="How far the work is.")
@changes
def modify(app: App, manner: Manner, *, module: str, **named: str | None) -> None:
    """Change what is named of a module that is not complete, and nothing else."""
    wanted = Wanted(**named)
    if wanted == Wanted():
        raise NothingNamed(("--name", "--criteria", "--priority", "--status"))
    for key in ("name", "criteria"):
        _require("-" if named[key] is None else str(named[key]), f"the {key}")
    edit = partial(exec_file.modified, module, wanted)
    _changed(app, manner, "modify", edit, f"{module} is changed")


@execution.command(epilog="Example: fairlead exec complete auth-core --pr 17")
@click.argument("module")
@click.option("--pr", default="", metavar="TEXT", help="The pull request that did it.")
@changes
def complete(app: App, manner: Manner, *, module: str, pr: str) -> None:
    """Say that a module is done. The counts follow from the modules."""
    edit = partial(exec_file.completed, module, pr)
    _changed(app, manner, "complete", edit, f"{module} is complete")


def _changed(
    app: App, manner: Manner, verb: str, edit: Callable[[Document, str], Document], done: str
) -> None:
    outcome = app.exec_phase.change(verb, edit, dry_run=manner.dry_run)
    report_change(outcome, manner, done, f"{done} already")


def _require(text: str, what: str) -> None:
    if not text.strip():
        raise EmptyText(what)


def _lines(found: ExecReport) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = [
        (Styled(found.plan_id, "bold"), f"  {found.status}"),
        (f"Modules: {found.modules_completed}/{found.modules_total} complete",),
    ]
    lines += rows(
        [
            (
                "  " + each.id,
                each.name,
                Styled(each.status, _STYLES.get(each.status, "dim")),
                each.priority,
                each.assigned_to or "-",
                each.github_issue or "-",
            )
            for each in found.modules
        ]
    )
    agents = (*found.ai_agents, *found.human_developers)
    lines.append((f"Agents: {', '.join(agents) or 'none'}",))
    if found.drift:
        lines.append((Styled(f"note: {found.drift}", "yellow"),))
    free = next((each.id for each in found.modules if each.status in ("pending", "planned")), "")
    if found.all_modules_complete:
        lines.append(("Every module is complete.",))
    elif free:
        lines.append((f"Next: fairlead exec assign {free} AGENT",))
    return lines
