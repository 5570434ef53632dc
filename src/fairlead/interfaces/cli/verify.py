"""`fairlead phase verify`: a phase held against its plans, by rules and its own commands."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from fairlead.errors import BlockedError
from fairlead.interfaces.cli.options import dry_run_option, json_option, stream_option, with_app
from fairlead.interfaces.cli.show import Part, Styled, counted, in_stream, report, rows, warn
from fairlead.wiring import App

if TYPE_CHECKING:
    from fairlead.engine.verify_case import Case
    from fairlead.engine.verifying import Report

_COLOURS = {"passed": "green", "gaps_found": "red", "human_needed": "yellow"}


@click.command("verify", epilog="Example: fairlead phase verify 3 --approve")
@click.argument("number", metavar="N")
@click.option("--agent", default="", metavar="NAME", help="An agent that looks as well: claude, …")
@click.option("--model", default="", metavar="NAME", help="The model that the agent uses.")
@click.option("--approve", is_flag=True, help="Agree to run the verify commands of the plans.")
@click.option("--no-commands", is_flag=True, help="Run none: each is left to a person instead.")
@click.option("--no-plans", is_flag=True, help="Write no patch plans for gaps.")
@click.option("--accept", multiple=True, metavar="WHAT", help="Accept a finding as it is.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is accepted.")
@click.option("--by", default="", metavar="NAME", help="Who accepts it [default: you].")
@click.option("--minutes", type=click.IntRange(1, 120), default=5, show_default=True,
              help="The limit of one command.")  # fmt: skip
@click.option("--rehearse", is_flag=True, help="With a scripted agent, in a private copy.")
@click.option("--here", is_flag=True, help="Rehearse in the project itself.")
@stream_option
@dry_run_option
@json_option
@with_app
def verify_phase(app: App, *, number: str, dry_run: bool, as_json: bool, **chosen: Any) -> int:
    """Check that a phase is what its plans promised, and record the outcome with its evidence.

    Must-haves, success criteria, declared files and summaries are held against the code, and the
    plans' own verify commands are run. Passed completes the phase; gaps get patch plans; what
    only a person can tell waits. Exit code 0 if it passed, else 6.
    """
    from fairlead.engine.verifying import Wishes
    from fairlead.wiring_roles import Beside, Wanted
    from fairlead.wiring_verify import keeps_documents, second_look, verifying

    is_rehearsed = chosen["rehearse"]
    if chosen["here"] and not is_rehearsed:
        raise click.UsageError("--here belongs to --rehearse")
    if chosen["accept"] and not chosen["reason"].strip():
        raise click.UsageError("--accept needs --reason: it is recorded and shown")
    if is_rehearsed and not chosen["here"] and not dry_run:
        app = app.rehearsal()
    wishes = Wishes(
        accept=_overrides(app, chosen),
        runs_commands=not chosen["no_commands"],
        makes_plans=not chosen["no_plans"],
        limit=timedelta(minutes=chosen["minutes"]),
        agent="scripted" if is_rehearsed else chosen["agent"],
        keeps_documents=not dry_run and keeps_documents(app),
    )
    room = verifying(app)
    case = room.case(number, is_rehearsed=is_rehearsed)
    if dry_run:
        looked = room.looked(case, wishes)
        report({**_told(looked), "dry_run": True}, _preview(looked), as_json=as_json)
        return 0
    if chosen["approve"] or _agrees(case, as_json=as_json):
        room.approve(case)
        case = room.case(number, is_rehearsed=is_rehearsed)
    ask = None
    if chosen["agent"] or is_rehearsed:
        from fairlead.engine.fanout import Signal

        wanted = Wanted(chosen["agent"], chosen["model"], is_rehearsed=is_rehearsed)
        ask = second_look(app, wanted, Beside(Signal()))
    done = room.verify(case, wishes, ask)
    for note in done.notes:
        warn(note)
    is_passed = done.status == "passed"
    told = {**_told(done), "ok": is_passed, "dry_run": False}
    report(told, _lines(done), as_json=as_json)
    return 0 if is_passed else BlockedError.exit_code


def _overrides(app: App, chosen: dict[str, Any]) -> tuple[Any, ...]:
    from fairlead.model.verification import Override
    from fairlead.records.state import moment

    by = chosen["by"] or _user()
    at = moment(app.clock.now())
    return tuple(
        Override(what.strip(), chosen["reason"].strip(), by, at) for what in chosen["accept"]
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "somebody"


def _agrees(case: Case, *, as_json: bool) -> bool:
    """Ask a person, if there is one; the commands are shown first."""
    is_there = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if case.is_approved or not case.commands or not is_there:
        return False
    report({}, _commands(case), as_json=False)
    return click.confirm("Run these commands?", default=False)


def _told(done: Report) -> dict[str, Any]:
    found, case = done.found, done.case
    verified, total = found.score
    return {
        "phase": case.phase.id.short,
        "name": case.phase.name,
        "status": done.status,
        "score": {"verified": verified, "total": total},
        "checks": [
            {
                "kind": str(each.kind),
                "what": each.what,
                "state": str(each.state),
                "evidence": each.evidence,
                "detail": each.detail,
                "plan": each.plan,
            }
            for each in found.checks
        ],
        "findings": [
            {
                "rule": each.rule,
                "key": each.key,
                "path": each.path,
                "line": each.line,
                "why": each.why,
                "cure": each.cure,
                "blocking": each.is_blocking,
                "accepted": each.key in found.accepted,
            }
            for each in found.findings
        ],
        "gaps": [
            {"id": gap.id, "truth": gap.truth, "reason": gap.reason, "path": gap.path}
            for gap in done.gaps
        ],
        "human": [
            {"test": each.test, "expected": each.expected, "why": each.why}
            for each in found.waiting
        ],
        "overrides": list(found.overrides),
        "commands": [{"plan": each.plan, "command": each.line} for each in case.commands],
        "approved": case.is_approved,
        "file": case.path,
        "plans": list(done.plans),
        "changed": list(done.written.paths),
        "changed_since": list(done.changed),
        "rehearsed": case.is_rehearsed,
        "notes": list(done.notes),
    }


def _commands(case: Case) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = [(Styled("These commands would be run:", "bold"),)]
    return lines + rows([(f"  {each.plan} task {each.task}", each.line) for each in case.commands])


def _preview(looked: Report) -> list[Sequence[Part]]:
    case = looked.case
    lines: list[Sequence[Part]] = [
        (Styled(f"Phase {case.phase.id.short}: {case.phase.name}", "bold"),),
        *(_commands(case) if case.commands else [("No plan has a verify command.",)]),
        *_findings(looked),
    ]
    if looked.changed:
        changed = ", ".join(looked.changed[:6])
        lines.append((f"changed since the last verification: {changed}",))
    state = "approved" if case.is_approved else "not approved: add --approve to agree to them"
    if case.commands:
        lines.append((f"commands: {state}",))
    lines.append(("Nothing was run, and nothing was written.",))
    return lines


def _lines(done: Report) -> list[Sequence[Part]]:
    case, found = done.case, done.found
    verified, total = found.score
    number = case.phase.id.short
    lines: list[Sequence[Part]] = [
        (
            Styled(done.status, _COLOURS[done.status]),
            f"  phase {number}: {case.phase.name}, {verified} of {total} must-haves verified",
        ),
        *_findings(done),
    ]
    for at, item in enumerate(found.waiting, 1):
        lines.append((Styled(f"  ? {at}. ", "yellow"), f"{item.test}  ({item.why})"))
    lines += [(f"  accepted  {each.what}: {each.reason} ({each.by})",) for each in found.overrides]
    lines.append((f"  record    {case.path}",))
    lines += [(f"  plan      {each}",) for each in done.plans]
    lines.append((in_stream(_next(done, number)),))
    return lines


def _next(done: Report, number: str) -> str:
    match done.status:
        case "passed" if done.case.is_rehearsed:
            return "rehearsed: nothing of it counts"
        case "passed":
            return f"Phase {number} is complete. Next: fairlead next"
        case "gaps_found" if done.plans:
            return f"{counted(len(done.gaps), 'gap')}. Next: fairlead phase execute {number}"
        case "gaps_found":
            return f"{counted(len(done.gaps), 'gap')}. Close them, then: fairlead phase verify {number}"
        case _:
            accept = f'fairlead phase verify {number} --accept "WHAT" --reason "what you saw"'
            return f"A person has to look. Then: {accept}"


def _findings(done: Report) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = []
    for each in done.found.findings:
        is_accepted = each.key in done.found.accepted
        mark = (
            Styled("  ✗ ", "red")
            if each.is_blocking and not is_accepted
            else Styled("  ⚠ ", "yellow")
        )
        place = f"{each.place}: " if each.place else ""
        lines.append((mark, f"{place}{each.why}  [{each.rule}]"))
        if each.is_blocking and not is_accepted:
            lines.append((Styled(f"      satisfied by: {each.cure}; accept: {each.key!r}", "dim"),))
    return lines
