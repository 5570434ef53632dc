"""`fairlead planning`: the Plan Phase, from a goal to an approved plan."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.interfaces.cli.errors import NothingNamed
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import change_command, query_command
from fairlead.interfaces.cli.output import (
    Line,
    OutputOptions,
    OutputStream,
    Styled,
    diff_lines,
    is_interactive,
    report,
    report_change,
    table_lines,
    warn,
)
from fairlead.planphase import plan_edits
from fairlead.planphase.errors import AlreadyApproved, EmptyText, NeedsPerson, PlanExists
from fairlead.planphase.model import IN_PROGRESS, MODULE_STATUSES, OTHER_SPELLING, PRIORITIES
from fairlead.planphase.paths import EXEC_FILE, GIT_IGNORE, PLAN_FILE, PLAN_REQUIREMENTS
from fairlead.planphase.plan_edits import PartEdit
from fairlead.planphase.report import CriterionReport, PlanPhaseReport, markdown_of
from fairlead.planphase.service import PlanStart, requirements_text
from fairlead.store.files import WriteOutcome, reading_back
from fairlead.text.yaml_emit import Value
from fairlead.views.planning import (
    added_part_members,
    approval_view,
    judged_members,
    plan_phase_view,
)

if TYPE_CHECKING:
    from fairlead.planphase.approval import ApprovalReport

_CRITERION_MARKS = {"met": ("✓", "green"), "unmet": ("·", "yellow"), "stale": ("!", "red")}
_STATUS_MARKS = {"complete": ("✓", "green"), IN_PROGRESS: ("◐", "yellow")}
_ISSUE_NOTES = {
    "now": "",
    "found": "created by an earlier run",
    "before": "already had one",
    "waived": "no issue, waived",
    "would": "an issue would be created",
}

_kind = click.argument("kind", type=click.Choice(["module", "requirement", "criterion"]))
_criteria = click.option(
    "-c", "--criteria", metavar="TEXT", help="Acceptance criteria of the module."
)
_priority = click.option(
    "-p", "--priority", type=click.Choice(PRIORITIES), help="Priority of the module."
)


@click.group(cls=LazyGroup)
def planning() -> None:
    """Plan a goal with modules and checked exit criteria."""


@planning.command(epilog='Example: fairlead planning start "Build a REST API"')
@click.argument("goal", required=False)
@click.option(
    "--requirements",
    default=PLAN_REQUIREMENTS,
    metavar="FILE",
    show_default=True,
    help="Requirements document.",
)
@click.option(
    "--session",
    default="",
    envvar=["CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID"],
    metavar="ID",
    help="Host session that the stop hook keeps at work [default: the first one to stop].",
)
@click.option("--no-ignore", is_flag=True, help="Do not edit .gitignore.")
@change_command
def start(
    app: App,
    output: OutputOptions,
    *,
    goal: str | None,
    requirements: str,
    session: str,
    no_ignore: bool,
) -> None:
    """Begin a Plan Phase. Fails if one is active, and leaves that one unchanged.

    The plan file is kept out of git: the entry for .gitignore is shown before it is written.
    """
    if goal is None:
        raise EmptyText("the goal", "is required")
    plan_start = PlanStart(goal, requirements, session, not no_ignore)
    if not (output.dry_run or output.as_json):
        try:
            _show_ignore_entry(app.planning.start(plan_start, dry_run=True)[1])
        except PlanExists:
            pass  # refused below, after an interrupted start has been completed under the lock
    plan_id, outcome = app.planning.start(plan_start, dry_run=output.dry_run)
    done = f"Plan Phase {plan_id} has begun. Next: fairlead planning status"
    report_change(outcome, output, done, plan_id=plan_id)


@planning.command(epilog="Example: fairlead planning status -v")
@click.option("-v", "--verbose", is_flag=True, help="Also show the modules' acceptance criteria.")
@query_command
def status(app: App, *, verbose: bool, as_json: bool) -> None:
    """Show the plan, with evidence or the next command for each exit criterion."""
    plan_report = plan_phase_view(app)
    report(plan_report, _plan_lines(plan_report, verbose=verbose), as_json=as_json)


@planning.command(epilog='Example: fairlead planning add module "Auth Core" -c "JWT works" -p high')
@_kind
@click.argument("name")
@_criteria
@_priority
@click.option("--file", metavar="PATH", help="Check of a criterion: this file is not empty.")
@click.option("--command", metavar="LINE", help="Check of a criterion: this command succeeds.")
@change_command
def add(app: App, output: OutputOptions, *, kind: str, name: str, **given: str | None) -> None:
    """Add a module, a section of the requirements, or an exit criterion."""
    parts = ("criteria", "priority")
    _refuse_others(kind, given, module=parts, requirement=parts, criterion=("file", "command"))
    edit = PartEdit(criteria=given["criteria"], priority=given["priority"])
    change = {
        "module": partial(plan_edits.add_module, name=name, edit=edit),
        "requirement": partial(plan_edits.add_section, name=name, edit=edit),
        "criterion": partial(plan_edits.add_criterion, text=name, check=_check(given)),
    }[kind]
    outcome = app.planning.change(f"add {kind}", change, dry_run=output.dry_run)
    added = added_part_members(outcome, name, is_module=kind == "module")
    report_change(outcome, output, f"Added {kind} {added['id']}", **added)


@planning.command(epilog="Example: fairlead planning modify module auth-core --priority critical")
@click.argument("kind", type=click.Choice(["module", "requirement", "goal"]))
@click.argument("name")
@_criteria
@_priority
@click.option(
    "-s", "--status", type=click.Choice([*MODULE_STATUSES, OTHER_SPELLING]), help="New status."
)
@click.option("-n", "--new-name", "--name", "new_name", metavar="TEXT", help="New name.")
@click.option("--unlock", is_flag=True, help="Change the goal even if it is locked.")
@change_command
def modify(
    app: App, output: OutputOptions, *, kind: str, name: str, unlock: bool, **given: str | None
) -> None:
    """Change the given values of a module, a section or the goal.

    For a module, NAME is its id. For the goal, NAME is the new text.
    """
    _refuse_others(kind, given, module=tuple(given), requirement=("new_name", "status"))
    new_status = IN_PROGRESS if given["status"] == OTHER_SPELLING else given["status"]
    edit = PartEdit(given["new_name"], given["criteria"], new_status, given["priority"])
    if kind != "goal" and edit == PartEdit():
        raise NothingNamed(("--criteria", "--priority", "--status", "--new-name"))
    change = {
        "module": partial(plan_edits.modify_module, name=name, edit=edit),
        "requirement": partial(plan_edits.modify_section, name=name, edit=edit),
        "goal": partial(plan_edits.modify_goal, goal=name, is_unlocked=unlock),
    }[kind]
    outcome = app.planning.change(f"modify {kind}", change, dry_run=output.dry_run)
    subject = "the goal" if kind == "goal" else f"{kind} {name}"
    report_change(outcome, output, f"Changed {subject}", f"No change: {subject} is already so")


@planning.command(epilog="Example: fairlead planning remove module auth-core")
@_kind
@click.argument("name")
@click.option("-f", "--force", is_flag=True, help="Remove it even if it has work or an issue.")
@change_command
def remove(app: App, output: OutputOptions, *, kind: str, name: str, force: bool) -> None:
    """Remove a module, a section of the requirements, or an exit criterion by its number."""
    change = {
        "module": partial(plan_edits.remove_module, name=name, force=force),
        "requirement": partial(plan_edits.remove_section, name=name, force=force),
        "criterion": partial(plan_edits.remove_criterion, name=name),
    }[kind]
    outcome = app.planning.change(f"remove {kind}", change, dry_run=output.dry_run)
    report_change(outcome, output, f"Removed {kind} {name}")


@planning.command(epilog="Example: fairlead planning review")
@change_command
def review(app: App, output: OutputOptions) -> None:
    """Submit the plan for review. Exit code 6: exit criteria are open, and are listed."""
    done = "The plan is in review. Next: fairlead planning approve"
    outcome = app.planning.review(dry_run=output.dry_run)
    report_change(outcome, output, done, "The plan is already in review.")


@planning.command(epilog="Example: fairlead planning reset --confirm")
@click.option("--confirm", is_flag=True, required=True, help="Confirm the reset.")
@click.option("--no-backup", is_flag=True, help="Keep no backup; `fairlead undo` still works.")
@click.option("--reopen", is_flag=True, help="Keep the plan, but revoke its approval.")
@change_command
def reset(app: App, output: OutputOptions, *, confirm: bool, no_backup: bool, reopen: bool) -> None:
    """Move the plan and its exec file to a backup, or make it editable again with --reopen."""
    if not confirm:
        raise click.UsageError("a reset needs --confirm")
    if reopen:
        outcome = app.planning.reopen(dry_run=output.dry_run)
        done, unchanged = "The plan is open again.", "The plan is already open."
    else:
        outcome = app.planning.reset(has_backup=not no_backup, dry_run=output.dry_run)
        done, unchanged = "The plan is reset.", "There is no plan to reset."
    report_change(outcome, output, done, unchanged)


@planning.command(epilog="Example: fairlead planning export > plan.md")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json", "requirements"]),
    default="markdown",
    show_default=True,
    help="Print the plan as a page or as JSON, or an empty requirements document for it.",
)
@query_command
def export(app: App, *, form: str, as_json: bool) -> None:
    """Print the plan for other people and programs."""
    plan_report = plan_phase_view(app)
    lines = markdown_of(plan_report)
    if form == "requirements":
        names = tuple(section.name for section in plan_report.requirements_sections)
        lines = requirements_text(names).splitlines()
    report(plan_report, [(line,) for line in lines], as_json=as_json or form == "json")


@planning.command(epilog="Example: fairlead planning confirm 5 --yes")
@click.argument("criterion")
@click.option("--yes", is_flag=True, help="Confirm a criterion that only a person can judge.")
@click.option("--allow", default="", metavar="HASH", help="Allow the command with this hash.")
@change_command
def confirm(app: App, output: OutputOptions, *, criterion: str, yes: bool, allow: str) -> None:
    """Confirm an exit criterion by its number or text, or run the command it names.

    A command runs only if you allow its hash, for at most 10 minutes and without a shell. Its
    result is valid until the plan or the checked-out commit changes.
    """
    try:
        outcome = app.planning.confirm(criterion, is_said=yes, allow=allow, dry_run=output.dry_run)
    except NeedsPerson as question:
        if output.as_json or output.dry_run or not is_interactive():
            raise
        OutputStream(sys.stdout).line(str(question))
        if not click.confirm("Do you confirm this?", default=False):
            raise
        outcome = app.planning.confirm(criterion, is_said=True, allow=question.proof)
    # The result of a command is stored in the user's own folder, which `paths` does not list.
    written = outcome.paths or (f"checks: the result of {criterion}",)
    with reading_back(() if output.dry_run else written):
        judged = app.planning.criterion(criterion)
    done = f"{judged.criterion.text}: {judged.evidence}"
    report_change(outcome, output, done, done, **judged_members(judged))


@planning.command(epilog="Example: fairlead planning release")
@change_command
def release(app: App, output: OutputOptions) -> None:
    """Let the session stop although its plan is open. Applies until the plan changes."""
    outcome = app.planning.release(dry_run=output.dry_run)
    report_change(outcome, output, "The stop hook now lets the session stop.")


@planning.command(epilog="Example: fairlead planning approve --dry-run")
@click.option("--skip-issues", is_flag=True, help="Create no GitHub issues, and record that.")
@click.option("--to-roadmap", is_flag=True, help="Add the modules to ROADMAP.md as phases.")
@change_command
def approve(app: App, output: OutputOptions, *, skip_issues: bool, to_roadmap: bool) -> None:
    """Approve the plan: create an issue per module and the exec file, and seal the plan.

    If something is not ready, all of it is listed and nothing is written. Running the command
    again continues an interrupted approval and creates no issue twice. --to-roadmap also works
    on a plan that is already approved.
    """
    approved, is_late = None, False
    if to_roadmap:
        app.approval.require_roadmap()
    try:
        approved = app.approval.approve(skip_issues=skip_issues, dry_run=output.dry_run)
    except AlreadyApproved as error:
        if not to_roadmap or error.fault:
            raise
        is_late = True
    with reading_back(approved.outcome.paths if approved else ()):
        phases = app.approval.to_roadmap(dry_run=output.dry_run) if to_roadmap else ()
    lines: list[Line] = []
    if approved:
        for note in (*approved.notes, *map(str, approved.outcome.notices)):
            warn(note)
        lines += _approval_lines(approved, dry_run=output.dry_run)
    verb = "would be added" if output.dry_run else "added"
    lines += [(f"  phase {verb}: {name}",) for name in phases]
    if is_late and not phases:
        lines.append(("The roadmap already has every module",))
    if not output.dry_run:
        lines.append(("Next: fairlead exec status",))
    content = approval_view(approved, phases, dry_run=output.dry_run)
    report(content, lines, as_json=output.as_json)


def _approval_lines(approved: ApprovalReport, *, dry_run: bool) -> list[Line]:
    head = "Nothing was written. This would be approved:" if dry_run else "Plan approved:"
    lines: list[Line] = [(Styled("" if dry_run else "✓ ", "green"), f"{head} {approved.plan_id}")]
    lines += table_lines(
        [
            (
                f"  {issue.github_issue or '-'}",
                f"{issue.name} ({issue.id})",
                issue.priority,
                _ISSUE_NOTES[issue.made],
            )
            for issue in approved.issues
        ]
    )
    if dry_run:
        lines.append((f"  {EXEC_FILE} would be created, {PLAN_FILE} sealed",))
    return lines


def _show_ignore_entry(planned: WriteOutcome) -> None:
    for change in planned.changes:
        if change.path == GIT_IGNORE:
            for line in diff_lines(change.path, change.old, change.new):
                OutputStream(sys.stderr).line(*line)


def _check(given: dict[str, str | None]) -> dict[str, Value] | None:
    path, line = given["file"], given["command"]
    if path is not None and line is not None:
        raise click.UsageError("a criterion has one check: give --file or --command")
    if path is None and line is None:
        return None
    try:
        words = shlex.split(line or "")
    except ValueError as problem:
        raise click.UsageError(f"--command: {problem}") from None
    if not (path or words):
        raise EmptyText("the check")
    return {"file": path} if path else {"command": words}


def _refuse_others(kind: str, given: dict[str, str | None], **accepted: tuple[str, ...]) -> None:
    """Refuse options that do not apply to this kind, instead of ignoring them."""
    for name, value in given.items():
        if value is not None and name not in accepted.get(kind, ()):
            raise click.UsageError(f"--{name.replace('_', '-')} is not for a {kind}")


def _plan_lines(plan_report: PlanPhaseReport, *, verbose: bool) -> list[Line]:
    met = len(plan_report.exit_criteria) - plan_report.open_criteria
    lines: list[Line] = [
        (Styled(plan_report.plan_id, "bold"), f"  {plan_report.status}"),
        (Styled("goal  ", "dim"), plan_report.goal),
        (),
        (Styled(f"requirements in {plan_report.requirements_file}", "dim"),),
        *table_lines(
            [
                (_status_mark(section.status), section.name, section.status)
                for section in plan_report.requirements_sections
            ]
        ),
        (Styled(f"modules ({len(plan_report.modules)})", "dim"),),
    ]
    cells = [
        (
            _status_mark(module.status),
            module.id,
            module.name,
            module.priority,
            module.status,
            module.github_issue or "",
        )
        for module in plan_report.modules
    ]
    for module, line in zip(plan_report.modules, table_lines(cells), strict=True):
        lines.append(line)
        if verbose:
            criteria = module.acceptance_criteria.splitlines() or ["(no criteria)"]
            lines += [(Styled(f"       {text}", "dim"),) for text in criteria]
    lines.append((Styled(f"exit criteria ({met} of {len(plan_report.exit_criteria)} met)", "dim"),))
    for criterion in plan_report.exit_criteria:
        lines += _criterion_lines(criterion)
    if plan_report.released:
        lines.append((Styled("released  ", "dim"), plan_report.released))
    return lines


def _status_mark(status: str) -> Styled:
    mark, style = _STATUS_MARKS.get(status, ("○", "cyan"))
    return Styled(f"  {mark}", style)


def _criterion_lines(criterion: CriterionReport) -> list[Line]:
    mark, style = _CRITERION_MARKS[criterion.state]
    lines: list[Line] = [
        (Styled(f"  {mark} ", style), f"{criterion.number} {criterion.text}"),
        (Styled(f"      {criterion.evidence}", "dim"),),
    ]
    if criterion.command:
        lines.append((Styled("      → ", "dim"), Styled(criterion.command, "bold")))
    return lines
