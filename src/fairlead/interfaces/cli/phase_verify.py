"""`fairlead phase verify`: check a phase against its plans, by rules and by its commands."""

from __future__ import annotations

import getpass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from fairlead.app import App
from fairlead.core.errors import BlockedError
from fairlead.interfaces.cli.agent_command import (
    approve_option,
    auto_option,
    confirm_commands,
    here_option,
    project_app,
    rehearse_option,
)
from fairlead.interfaces.cli.options import (
    app_workstream_option,
    dry_run_option,
    json_option,
    with_app,
)
from fairlead.interfaces.cli.output import (
    Line,
    Styled,
    counted,
    report,
    shown_command,
    table_lines,
    warn,
    with_workstream,
)
from fairlead.views.health import verification_view

if TYPE_CHECKING:
    from fairlead.verification.phase_reader import PhaseToVerify
    from fairlead.verification.service import VerificationReport

_STATUS_STYLES = {"passed": "green", "gaps_found": "red", "human_needed": "yellow"}


@click.command("verify", epilog="Example: fairlead phase verify 3 --approve")
@click.argument("number", metavar="N")
@click.option("--agent", default="", metavar="NAME", help="Also let this agent review: claude, …")
@click.option("--model", default="", metavar="NAME", help="Model for the agent.")
@approve_option
@auto_option
@click.option("--no-commands", is_flag=True, help="Run no commands; a person has to check them.")
@click.option("--no-plans", is_flag=True, help="Write no plans that close gaps.")
@click.option("--accept", multiple=True, metavar="WHAT", help="Accept this finding; repeatable.")
@click.option("--reason", default="", metavar="TEXT", help="Reason for accepting it.")
@click.option("--by", default="", metavar="NAME", help="Who accepts it [default: your user name].")
@click.option("--minutes", type=click.IntRange(1, 480), default=None,
              help="Time limit of one command [default: fairlead.verify_minutes].")  # fmt: skip
@rehearse_option
@here_option
@app_workstream_option
@dry_run_option
@json_option
@with_app
def verify_phase(app: App, *, number: str, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Check that a phase does what its plans promise, and record the result with evidence.

    Compares must-haves, success criteria, declared files and summaries with the code, and runs
    the verify commands of the plans. A passed phase is completed, gaps get plans that close them,
    and questions that only a person can answer wait. Exit code 0 if it passed, otherwise 6.
    """
    from fairlead.verification.service import VerifyOptions

    is_rehearsed = options["rehearse"]
    if options["accept"] and not options["reason"].strip():
        raise click.UsageError("--accept needs --reason, which is recorded")
    app = project_app(app, rehearse=is_rehearsed, here=options["here"], dry_run=dry_run)
    verify_options = VerifyOptions(
        accept=_overrides(app, options),
        runs_commands=not options["no_commands"],
        makes_plans=not options["no_plans"],
        limit=_limit(app, options["minutes"]),
        agent="scripted" if is_rehearsed else options["agent"],
        keeps_documents=not dry_run and app.keeps_documents,
    )
    verifier = app.verifier
    target = verifier.load(number, is_rehearsed=is_rehearsed)
    if dry_run:
        preview = verifier.preview(target, verify_options)
        content = verification_view(preview, dry_run=True)
        report(content, _preview_lines(preview), as_json=as_json)
        return 0
    may_ask = not (as_json or options["auto"])
    if options["approve"] or (may_ask and _is_confirmed(target)):
        verifier.approve(target)
        target = verifier.load(number, is_rehearsed=is_rehearsed)
    review = None
    if options["agent"] or is_rehearsed:
        from fairlead.jobs.context import AgentChoice, Cancellation, EventSink

        choice = AgentChoice(options["agent"], options["model"], is_rehearsed=is_rehearsed)
        review = app.model_review(app.workflow_setup(choice, EventSink(), Cancellation()))
    done = verifier.verify(target, verify_options, review)
    for note in done.notes:
        warn(note)
    is_passed = done.status == "passed"
    content = verification_view(done, dry_run=False)
    report(content, _lines(done), as_json=as_json)
    return 0 if is_passed else BlockedError.exit_code


def _limit(app: App, minutes: int | None) -> timedelta:
    return timedelta(minutes=minutes or int(str(app.values["fairlead.verify_minutes"])))


def _overrides(app: App, options: dict[str, Any]) -> tuple[Any, ...]:
    from fairlead.project.state.documents import moment
    from fairlead.verification.model import Override

    by = options["by"] or _user()
    at = moment(app.clock.now())
    return tuple(
        Override(what.strip(), options["reason"].strip(), by, at) for what in options["accept"]
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "somebody"


def _is_confirmed(target: PhaseToVerify) -> bool:
    if target.is_approved or not target.commands:
        return False
    return confirm_commands(_command_lines(target), "Run these commands?", as_json=False)


def _command_lines(target: PhaseToVerify) -> list[Line]:
    lines: list[Line] = [(Styled("These commands would run:", "bold"),)]
    return lines + table_lines(
        [
            (f"  {command.plan} task {command.task}", shown_command(command.line))
            for command in target.commands
        ]
    )


def _preview_lines(preview: VerificationReport) -> list[Line]:
    target = preview.target
    lines: list[Line] = [
        (Styled(f"Phase {target.phase.id.short}: {target.phase.name}", "bold"),),
        *(_command_lines(target) if target.commands else [("No plan has a verify command.",)]),
        *_findings(preview),
    ]
    if preview.changed:
        changed = ", ".join(preview.changed[:6])
        lines.append((f"changed since the last verification: {changed}",))
    state = "approved" if target.is_approved else "not approved; allow them with --approve"
    if target.commands:
        lines.append((f"commands: {state}",))
    lines.append(("Nothing was run or written.",))
    return lines


def _lines(done: VerificationReport) -> list[Line]:
    target, result = done.target, done.result
    verified, total = result.score
    number = target.phase.id.short
    lines: list[Line] = [
        (
            Styled(done.status, _STATUS_STYLES[done.status]),
            f"  phase {number}: {target.phase.name}, {verified} of {total} must-haves verified",
        ),
        *_findings(done),
    ]
    for at, item in enumerate(result.waiting, 1):
        lines.append((Styled(f"  ? {at}. ", "yellow"), f"{item.test}  ({item.why})"))
    lines += [
        (f"  accepted  {override.what}: {override.reason} ({override.by})",)
        for override in result.overrides
    ]
    lines.append((f"  record    {target.path}",))
    lines += [(f"  plan      {plan}",) for plan in done.plans]
    lines.append((with_workstream(_next(done, number)),))
    return lines


def _next(done: VerificationReport, number: str) -> str:
    match done.status:
        case "passed" if done.target.is_rehearsed:
            return "Rehearsal: nothing counts. Where it stands: fairlead rehearsal show"
        case "passed":
            return f"Phase {number} is complete. Next: fairlead next"
        case "gaps_found" if done.plans:
            return f"{counted(len(done.gaps), 'gap')}. Next: fairlead phase execute {number}"
        case "gaps_found":
            return f"{counted(len(done.gaps), 'gap')}. Close them, then: fairlead phase verify {number}"
        case _:
            accept = f'fairlead phase verify {number} --accept "WHAT" --reason "what you saw"'
            return f"A person has to check this. Then: {accept}"


def _findings(done: VerificationReport) -> list[Line]:
    lines: list[Line] = []
    for each in done.result.findings:
        is_accepted = each.key in done.result.accepted
        mark = (
            Styled("  ✗ ", "red")
            if each.is_blocking and not is_accepted
            else Styled("  ⚠ ", "yellow")
        )
        place = f"{each.place}: " if each.place else ""
        lines.append((mark, f"{place}{each.why}  [{each.rule}]"))
        if each.is_blocking and not is_accepted:
            lines.append((Styled(f"      to fix: {each.cure}; to accept: {each.key!r}", "dim"),))
    return lines
