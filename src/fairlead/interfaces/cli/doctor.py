"""`fairlead doctor`: every finding with its repair, and the repair itself."""

import sys
from collections.abc import Sequence

import click

from fairlead.engine.doctor import Claims, Means, Repair
from fairlead.engine.reports import finding_report
from fairlead.interfaces.cli.check import agreement
from fairlead.interfaces.cli.options import (
    Verbs,
    dry_run_option,
    json_option,
    with_app,
    workstream_option,
)
from fairlead.interfaces.cli.show import Part, Styled, counted, diff_lines, in_stream, report, warn
from fairlead.model.divergence import Kind
from fairlead.model.ids import stream_words
from fairlead.store.files import Outcome, looking_again
from fairlead.wiring import App

_UNREPAIRED = 3


@click.group(
    cls=Verbs,
    rooms={"agents": "fairlead.interfaces.cli.doctor_agents:agents"},
    invoke_without_command=True,
    epilog="Example: fairlead doctor --fix --claims correct",
)
@click.option("--fix", is_flag=True, help="Repair all but claims that no file proves.")
@click.option(
    "--claims",
    type=click.Choice([str(each) for each in Claims]),
    help="With --fix: correct unproven claims, or record the missing summaries.",
)
@click.option("--yes", is_flag=True, help="In a terminal, repair without asking.")
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
    yes: bool,
    workstream: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Show every finding with its repair; with --fix, repair.

    A claim of more than the files prove needs --claims: `correct` writes what the files prove,
    `reconstruct` records a summary for each plan that the claim covers. Replaced text goes to
    STATE-ARCHIVE.md, and `fairlead undo` takes the repair back. Exit code 3 with --fix: a
    document is malformed in a way that needs a person.
    """
    if context.invoked_subcommand:
        return 0
    if claims and not fix:
        raise click.UsageError("--claims needs --fix")
    chosen = Claims(claims) if claims else None
    repairs = app.doctor.repairs(workstream)
    for each in app.overview.beside(workstream):
        if drift := app.overview.truth(each).drift:
            told = counted(len(drift), "difference")
            warn(f"workstream {each} has {told}: fairlead doctor{stream_words(each)}")
    if not fix:
        _show_findings(repairs, as_json=as_json)
        return 0
    for told in _unread(repairs):  # before anything is written that follows without it
        warn(told)
    asks = not (yes or as_json or dry_run) and sys.stdin.isatty() and sys.stdout.isatty()
    outcome = app.doctor.fix(chosen, workstream=workstream, dry_run=dry_run or asks)
    if asks and outcome.changes:
        report({}, _diff(outcome), as_json=False)
        if not click.confirm("Write this?"):
            return 0
        outcome = app.doctor.fix(chosen, workstream=workstream)
    with looking_again(() if dry_run else outcome.paths):
        left = repairs if dry_run else app.doctor.repairs(workstream)
        _show_outcome(outcome, left, as_json=as_json, dry_run=dry_run, shows_diff=not asks)
    is_stuck = any(
        each.finding.is_drift and each.means is Means.PERSON and not dry_run for each in left
    )
    return _UNREPAIRED if is_stuck else 0


def _show_findings(repairs: tuple[Repair, ...], *, as_json: bool) -> None:
    drift = [each for each in repairs if each.finding.is_drift]
    lines: list[Sequence[Part]] = []
    for each in repairs:
        lines += _finding_lines(each)
    if not drift:
        told = agreement(finding_report(each.finding) for each in repairs)
        lines.append((Styled("✓ ", "green"), f"{told}."))
    else:
        fixable = sum(each.means is Means.FIX for each in drift)
        claims = sum(each.means is Means.CLAIMS for each in drift)
        lines.append((f"{len(drift)} to repair: {fixable} with --fix, {claims} with --claims.",))
    report({"findings": _content(repairs), "is_clean": not drift}, lines, as_json=as_json)


def _show_outcome(
    outcome: Outcome, left: tuple[Repair, ...], *, as_json: bool, dry_run: bool, shows_diff: bool
) -> None:
    for notice in outcome.notices:
        warn(str(notice))
    open_drift = [each for each in left if each.finding.is_drift]
    lines: list[Sequence[Part]] = _diff(outcome) if shows_diff else []
    if not outcome.changes:
        lines.append(("Nothing to repair.",))
    elif dry_run:
        lines.append(("Nothing was written. This would change.",))
    else:
        lines.append((Styled("✓ ", "green"), f"Repaired: {', '.join(outcome.paths)}"))
    if not dry_run:
        for each in open_drift:
            lines += _finding_lines(each)
        claims = sum(each.means is Means.CLAIMS for each in open_drift)
        if claims:
            told = "a person decides: --fix --claims correct"
            if any(str(Claims.RECONSTRUCT) in each.how for each in open_drift):
                told += ", or --fix --claims reconstruct"
            lines.append((f"{counted(claims, 'claim')} left; {told}",))
    content = {
        "changed": list(outcome.paths),
        "dry_run": dry_run,
        "notices": [*_unread(left), *(str(notice) for notice in outcome.notices)],
        "left": [] if dry_run else _content(tuple(open_drift)),
    }
    report(content, lines, as_json=as_json)


def _unread(repairs: tuple[Repair, ...]) -> list[str]:
    """What was not looked into, so that no number speaks of it."""
    findings = [each.finding for each in repairs]
    return [str(each) for each in findings if each.kind is Kind.DOCUMENT and not each.is_drift]


def _diff(outcome: Outcome) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = []
    for change in outcome.changes:
        lines += diff_lines(change.path, change.old, change.new)
    return lines


def _finding_lines(repair: Repair) -> list[Sequence[Part]]:
    finding = repair.finding
    style = "yellow" if finding.is_drift else "dim"
    return [
        (str(finding), Styled(f"  [{finding.kind}]", style)),
        (Styled(f"    → {in_stream(repair.how)}", "dim"),),
    ]


def _content(repairs: tuple[Repair, ...]) -> list[dict[str, object]]:
    return [
        {
            "finding": finding_report(each.finding),
            "means": str(each.means),
            "repair": in_stream(each.how),
        }
        for each in repairs
    ]
