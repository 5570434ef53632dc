"""`fairlead doctor`: every finding with its repair, the repair itself, and installed agents."""

import click

from fairlead.agents.errors import NoAgentAnswers
from fairlead.app import App
from fairlead.interfaces.cli.check import agreement, wrapped
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app, workstream_option
from fairlead.interfaces.cli.output import (
    Line,
    Styled,
    change_lines,
    counted,
    is_interactive,
    report,
    terminal_width,
    warn,
    with_workstream,
)
from fairlead.project.health.doctor import ClaimPolicy, RepairMethod, RepairProposal
from fairlead.project.overview import finding_report
from fairlead.store.files import WriteOutcome, reading_back
from fairlead.views.health import agents_view, doctor_view, repaired_view, unread_documents

_UNREPAIRED = 3
_MEANS = {
    RepairMethod.FIX: "with fairlead doctor --fix",
    RepairMethod.CLAIMS: "with --fix --claims",
    RepairMethod.CREATE: "with --fix --create",
    RepairMethod.PERSON: "by hand",
}
_INDENT = 6  # of rows that continue a line
# What agents send along with a one-word question, according to public reports.
_ASKING_COST = "about 20,000 tokens each, commonly 0.01 to 0.10 US dollars"


@click.group(
    cls=LazyGroup,
    lazy={
        "hosts": (
            "doctor_hosts:hosts",
            "Show the hosts that have Fairlead, and hooks that they do not trust yet.",
        )
    },
    invoke_without_command=True,
    epilog="Example: fairlead doctor --fix --claims correct",
)
@click.option("--fix", is_flag=True, help="Repair everything except unproven claims.")
@click.option(
    "--claims",
    type=click.Choice([str(choice) for choice in ClaimPolicy]),
    help="With --fix: correct unproven claims, or record the missing summaries.",
)
@click.option("--create", is_flag=True, help="With --fix: write a missing STATE.md or ROADMAP.md.")
@click.option("--yes", is_flag=True, help="Repair without asking for confirmation.")
@workstream_option
@dry_run_option
@json_option
@click.pass_context
@with_app
def doctor(
    app: App,
    context: click.Context,
    *,
    fix: bool,
    claims: str | None,
    create: bool,
    yes: bool,
    workstream: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Show every finding with its repair; with --fix, repair.

    A document that claims more than the files prove needs --claims: `correct` writes what the
    files prove, `reconstruct` records a summary for each plan that the claim covers. Replaced
    text is moved to STATE-ARCHIVE.md, and `fairlead undo` undoes the repair. Exit code 3 with
    --fix: a person has to repair what is left. A line is rewritten only if the files refute it,
    if it has a form that Fairlead writes, and if no other line becomes wrong.
    """
    if context.invoked_subcommand:
        return 0
    if claims and not fix:
        raise click.UsageError("--claims needs --fix")
    if create and not fix:
        raise click.UsageError("--create needs --fix")
    choice = ClaimPolicy(claims) if claims else None
    repairs = app.doctor.all_repairs(workstream)
    if not fix:
        _warn_of_hosts(app)
        _report_findings(repairs, as_json=as_json)
        return 0
    for text in unread_documents(repairs):  # first, because the repair cannot consider them
        warn(text)
    # In a terminal the repair is first computed without writing, shown, and then confirmed.
    asks = not (yes or as_json or dry_run) and is_interactive()
    is_dry = dry_run or asks
    outcome = app.doctor.fix(choice, workstream=workstream, dry_run=is_dry, create=create)
    if asks and outcome.changes:
        report({}, change_lines(outcome), as_json=False)
        if not click.confirm("Write this change?"):
            return 0
        outcome = app.doctor.fix(choice, workstream=workstream, create=create)
    with reading_back(() if dry_run else outcome.paths):
        left = repairs if dry_run else app.doctor.left(workstream)
        _report_outcome(outcome, left, as_json=as_json, dry_run=dry_run, has_shown_diff=asks)
    needs_person = any(
        repair.finding.is_drift and repair.means is RepairMethod.PERSON and not dry_run
        for repair in left
    )
    return _UNREPAIRED if needs_person else 0


@doctor.command(epilog="Example: fairlead doctor agents --ask")
@click.option("--ask", is_flag=True, help="Ask each agent for one word. This uses their models.")
@click.option("--yes", is_flag=True, help="Ask them without asking for confirmation.")
@json_option
@with_app
def agents(app: App, *, ask: bool, yes: bool, as_json: bool) -> None:
    """Show which agents and models are installed, and whether they can be used.

    Searches PATH, but not its relative folders and folders inside the project. With --ask, each
    agent is asked for one word; the probable cost is shown first. Exit code 5: no agent was found,
    or none of those asked has answered.
    """
    from fairlead.agents.discovery import Login

    agents_found = app.agent_discovery.agents()
    installed = [agent for agent in agents_found if agent.path]
    logins = {agent.name: app.agent_discovery.login(agent.name) for agent in installed}
    lines: list[Line] = []
    for agent in agents_found:
        is_ready = not agent.lacks and logins.get(agent.name) != Login.NO
        style = "green" if agent.path and is_ready else "yellow" if agent.path else "dim"
        mark = Styled("✓ " if style == "green" else "! " if agent.path else "· ", style)
        place = agent.path or agent.note or "not found"
        place = f"{agent.model} at {place}" if agent.model and agent.path else place
        lines.append((mark, f"{agent.name:<10} {agent.version:<10} ", place))
        if logins.get(agent.name) == Login.NO:
            command = app.agent_discovery.login_command(agent.name)
            lines.append((Styled(f"    not logged in; log in with: {command}", "yellow"),))
        if agent.lacks:
            options = ", ".join(agent.lacks)
            lines.append((Styled(f"    its help does not list {options}", "yellow"),))
    answers = []
    if ask:
        warn(f"asking {', '.join(agent.name for agent in installed)}: {_ASKING_COST}")
        if is_interactive() and not (yes or as_json) and not click.confirm("Ask them?"):
            return
        answers = [app.agent_discovery.ask(agent.name) for agent in installed]
    for answer in answers:
        ending = answer.ending
        result = (
            "answers" if answer.is_ready else f"does not answer ({ending.kind}): {ending.error}"
        )
        cost = "" if ending.cost_usd is None else f", {ending.cost_usd:.4f} US dollars"
        lines.append((f"{answer.name} {result} ({answer.seconds:.1f} s{cost})",))
    if not ask:
        lines.append((Styled(f"To see whether they answer: --ask ({_ASKING_COST})", "dim"),))
    content = agents_view(agents_found, answers, _ASKING_COST, logins)
    if ask and not any(answer.is_ready for answer in answers):
        raise NoAgentAnswers([f"{a.name} ({a.ending.kind}: {a.ending.error})" for a in answers])
    report(content, lines, as_json=as_json)


def _warn_of_hosts(app: App) -> None:
    """Say which hooks a host does not run yet."""
    from fairlead.interfaces.cli.doctor_hosts import host_statuses

    for status in host_statuses(app):
        for note in status.untrusted:
            warn(note)


def _report_findings(repairs: tuple[RepairProposal, ...], *, as_json: bool) -> None:
    drift = [repair for repair in repairs if repair.finding.is_drift]
    lines = [line for repair in repairs for line in _finding_lines(repair)]
    if not drift:
        text = agreement(finding_report(repair.finding) for repair in repairs)
        lines.append((Styled("✓ ", "green"), f"{text}."))
    else:
        own = [repair for repair in drift if not repair.workstream]
        means = [repair.means for repair in own]
        counts = [f"{means.count(each)} {how}" for each, how in _MEANS.items() if each in means]
        counts += [f"{len(drift) - len(own)} in workstreams"] if len(own) < len(drift) else []
        lines.append((f"{len(drift)} to repair: {', '.join(counts)}.",))
    report(doctor_view(repairs, with_workstream), lines, as_json=as_json)


def _report_outcome(
    outcome: WriteOutcome,
    left: tuple[RepairProposal, ...],
    *,
    as_json: bool,
    dry_run: bool,
    has_shown_diff: bool,
) -> None:
    for notice in outcome.notices:
        warn(str(notice))
    open_drift = [repair for repair in left if repair.finding.is_drift]
    lines: list[Line] = [] if has_shown_diff else change_lines(outcome)
    if not outcome.changes:
        lines.append(("Nothing was repaired." if open_drift else "Nothing to repair.",))
    elif dry_run:
        lines.append(("Nothing was written. This would change.",))
    else:
        lines.append((Styled("✓ ", "green"), f"Repaired: {', '.join(outcome.paths)}"))
    if not dry_run:
        lines += [line for repair in open_drift for line in _finding_lines(repair)]
        claims = sum(
            repair.means is RepairMethod.CLAIMS and not repair.workstream for repair in open_drift
        )
        if claims:
            options = "--fix --claims correct"
            if any(str(ClaimPolicy.RECONSTRUCT) in repair.how for repair in open_drift):
                options += ", or --fix --claims reconstruct"
            lines.append((f"{counted(claims, 'claim')} left; decide with {options}",))
    content = repaired_view(outcome, left, with_workstream, dry_run=dry_run)
    report(content, lines, as_json=as_json)


def _finding_lines(repair: RepairProposal) -> list[Line]:
    finding = repair.finding
    style = "yellow" if finding.is_drift else "dim"
    lines: list[Line] = [
        (str(finding), Styled(f"  [{finding.kind}]", style)),
        (Styled(f"    → {with_workstream(repair.how)}", "dim"),),
    ]
    width = terminal_width()
    if width is None:
        return lines
    return [row for line in lines for row in wrapped(line, width, _INDENT)]
