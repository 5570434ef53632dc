"""`fairlead planning`: the Plan Phase, from a goal to a plan that can be approved."""

import shlex
import sys
from collections.abc import Sequence
from functools import partial

import click

from fairlead.engine.planning import Beginning, requirements_text
from fairlead.engine.planning_report import CriterionReport, PlanReport, markdown_of
from fairlead.errors import EmptyText, NeedsPerson, NothingNamed, PlanExists
from fairlead.interfaces.cli.options import Verbs, changes, shows
from fairlead.interfaces.cli.show import (
    Manner,
    Part,
    Screen,
    Styled,
    diff_lines,
    report,
    report_change,
    rows,
)
from fairlead.model.planning import IN_PROGRESS, MODULE_STATUSES, OTHER_SPELLING, PRIORITIES
from fairlead.records import plan_file
from fairlead.records.plan_file import Wanted
from fairlead.records.plan_read import read_plan
from fairlead.store import layout
from fairlead.store.files import Outcome, looking_again
from fairlead.text.emit import Value
from fairlead.wiring import App

# Verbs that stand in rooms of their own: the name, and `module:command`.
_ROOMS = {"approve": "fairlead.interfaces.cli.planning_approve:approve"}
_MARKS = {"met": ("✓", "green"), "unmet": ("·", "yellow"), "stale": ("!", "red")}
_STEPS = {"complete": ("✓", "green"), IN_PROGRESS: ("◐", "yellow")}

_kind = click.argument("kind", type=click.Choice(["module", "requirement", "criterion"]))
_criteria = click.option("-c", "--criteria", metavar="TEXT", help="When the module is done.")
_priority = click.option("-p", "--priority", type=click.Choice(PRIORITIES), help="Of a module.")


@click.group(cls=Verbs, rooms=_ROOMS)
def planning() -> None:
    """Plan a goal: requirements, modules, and exit criteria that code decides."""


@planning.command(epilog='Example: fairlead planning start "Build a REST API"')
@click.argument("goal", required=False)
@click.option(
    "--requirements",
    default=layout.PLAN_REQUIREMENTS,
    metavar="FILE",
    show_default=True,
    help="The requirements document.",
)
@click.option(
    "--session",
    default="",
    envvar=["CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID"],
    metavar="ID",
    help="The host's session that the stop hook holds [default: the one that asks].",
)
@click.option("--no-ignore", is_flag=True, help="Leave .gitignore alone.")
@changes
def start(
    app: App, manner: Manner, *, goal: str | None, requirements: str, session: str, no_ignore: bool
) -> None:
    """Begin a Plan Phase. Where one is active, it is left alone.

    The plan file is kept out of git: the entry that .gitignore gets is shown before it is made.
    """
    if goal is None:
        raise EmptyText("the goal", "is required")
    beginning = Beginning(goal, requirements, session, not no_ignore)
    if not (manner.dry_run or manner.as_json):
        try:
            _show_ignored(app.planning.start(beginning, dry_run=True)[1])
        except PlanExists:
            pass  # refused below, after an interrupted start has been completed under the lock
    plan_id, outcome = app.planning.start(beginning, dry_run=manner.dry_run)
    done = f"Plan Phase {plan_id} has begun. Next: fairlead planning status"
    report_change(outcome, manner, done, plan_id=plan_id)


@planning.command(epilog="Example: fairlead planning status -v")
@click.option("-v", "--verbose", is_flag=True, help="Show the modules' acceptance criteria too.")
@shows
def status(app: App, *, verbose: bool, as_json: bool) -> None:
    """Show the plan, and for each exit criterion its evidence or what would satisfy it."""
    found = app.planning.report()
    report(found, _lines(found, verbose=verbose), as_json=as_json)


@planning.command(epilog='Example: fairlead planning add module "Auth Core" -c "JWT works" -p high')
@_kind
@click.argument("name")
@_criteria
@_priority
@click.option("--file", metavar="PATH", help="A criterion's check: this file holds text.")
@click.option("--command", metavar="LINE", help="A criterion's check: this command succeeds.")
@changes
def add(app: App, manner: Manner, *, kind: str, name: str, **given: str | None) -> None:
    """Add a module, a section of the requirements, or an exit criterion."""
    parts = ("criteria", "priority")
    _refuse_others(kind, given, module=parts, requirement=parts, criterion=("file", "command"))
    wanted = Wanted(criteria=given["criteria"], priority=given["priority"])
    change = {
        "module": partial(plan_file.add_module, name=name, wanted=wanted),
        "requirement": partial(plan_file.add_section, name=name, wanted=wanted),
        "criterion": partial(plan_file.add_criterion, text=name, check=_check(given)),
    }[kind]
    outcome = app.planning.change(f"add {kind}", change, dry_run=manner.dry_run)
    identifier = read_plan(outcome.changes[0].new).modules[-1].id if kind == "module" else name
    report_change(outcome, manner, f"Added {kind} {identifier}", "", id=identifier, name=name)


@planning.command(epilog="Example: fairlead planning modify module auth-core --priority critical")
@click.argument("kind", type=click.Choice(["module", "requirement", "goal"]))
@click.argument("name")
@_criteria
@_priority
@click.option(
    "-s", "--status", type=click.Choice([*MODULE_STATUSES, OTHER_SPELLING]), help="How far it is."
)
@click.option("-n", "--new-name", "--name", "new_name", metavar="TEXT", help="Another name.")
@click.option("--unlock", is_flag=True, help="Change the goal although it is locked.")
@changes
def modify(
    app: App, manner: Manner, *, kind: str, name: str, unlock: bool, **given: str | None
) -> None:
    """Change what is named of a module, a section or the goal, and nothing else.

    A module is named by its id. For the goal, NAME is the new text.
    """
    _refuse_others(kind, given, module=tuple(given), requirement=("new_name", "status"))
    word = IN_PROGRESS if given["status"] == OTHER_SPELLING else given["status"]
    wanted = Wanted(given["new_name"], given["criteria"], word, given["priority"])
    if kind != "goal" and wanted == Wanted():
        raise NothingNamed(("--criteria", "--priority", "--status", "--new-name"))
    change = {
        "module": partial(plan_file.modify_module, name=name, wanted=wanted),
        "requirement": partial(plan_file.modify_section, name=name, wanted=wanted),
        "goal": partial(plan_file.modify_goal, goal=name, is_unlocked=unlock),
    }[kind]
    outcome = app.planning.change(f"modify {kind}", change, dry_run=manner.dry_run)
    part = "the goal" if kind == "goal" else f"{kind} {name}"
    report_change(outcome, manner, f"Changed {part}", f"{part} is so already")


@planning.command(epilog="Example: fairlead planning remove module auth-core")
@_kind
@click.argument("name")
@click.option("-f", "--force", is_flag=True, help="Also when work or an issue hangs on it.")
@changes
def remove(app: App, manner: Manner, *, kind: str, name: str, force: bool) -> None:
    """Remove a module, a section of the requirements, or an exit criterion by its number."""
    change = {
        "module": partial(plan_file.remove_module, name=name, force=force),
        "requirement": partial(plan_file.remove_section, name=name, force=force),
        "criterion": partial(plan_file.remove_criterion, name=name),
    }[kind]
    outcome = app.planning.change(f"remove {kind}", change, dry_run=manner.dry_run)
    report_change(outcome, manner, f"Removed {kind} {name}")


@planning.command(epilog="Example: fairlead planning review")
@changes
def review(app: App, manner: Manner) -> None:
    """Say that the plan is complete. Exit code 6 tells everything that is still open."""
    done = "The plan is being reviewed. Next: fairlead planning approve"
    outcome = app.planning.review(dry_run=manner.dry_run)
    report_change(outcome, manner, done, "The plan is being reviewed already.")


@planning.command(epilog="Example: fairlead planning reset --confirm")
@click.option("--confirm", is_flag=True, required=True, help="Say that you mean it.")
@click.option("--no-backup", is_flag=True, help="Keep no copy beside; `fairlead undo` still works.")
@click.option("--reopen", is_flag=True, help="Keep the plan, void its approval, go on drafting.")
@changes
def reset(app: App, manner: Manner, *, confirm: bool, no_backup: bool, reopen: bool) -> None:
    """Put the plan aside as a backup, with the file of its execution; or open it again."""
    if not confirm:
        raise click.UsageError("a plan is put aside only with --confirm")
    if reopen:
        outcome = app.planning.reopen(dry_run=manner.dry_run)
        done, unchanged = "The plan is open again.", "The plan is open already."
    else:
        outcome = app.planning.reset(has_backup=not no_backup, dry_run=manner.dry_run)
        done, unchanged = "The plan was put aside.", "There is no plan, and nothing to put aside."
    report_change(outcome, manner, done, unchanged)


@planning.command(epilog="Example: fairlead planning export > plan.md")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json", "requirements"]),
    default="markdown",
    show_default=True,
    help="The plan as a page or as JSON, or an empty requirements document for it.",
)
@shows
def export(app: App, *, form: str, as_json: bool) -> None:
    """Print the plan, for other people and programs."""
    found = app.planning.report()
    lines = markdown_of(found)
    if form == "requirements":
        names = tuple(section.name for section in found.requirements_sections)
        lines = requirements_text(names).splitlines()
    report(found, [(line,) for line in lines], as_json=as_json or form == "json")


@planning.command(epilog="Example: fairlead planning confirm 5 --yes")
@click.argument("criterion")
@click.option("--yes", is_flag=True, help="Confirm a text that only a person can judge.")
@click.option("--allow", default="", metavar="HASH", help="Allow the command with this hash.")
@changes
def confirm(app: App, manner: Manner, *, criterion: str, yes: bool, allow: str) -> None:
    """Confirm an exit criterion by its number or text, or run the command that it names.

    A command is run only when you have allowed its hash, for at most 10 minutes and without a
    shell. Its result holds until the plan or the checked-out commit changes.
    """
    try:
        outcome = app.planning.confirm(criterion, is_said=yes, allow=allow, dry_run=manner.dry_run)
    except NeedsPerson as question:
        if manner.as_json or manner.dry_run or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise
        Screen(sys.stdout).line(str(question))
        if not click.confirm("Do you say so?", default=False):
            raise
        outcome = app.planning.confirm(criterion, is_said=True, allow=question.proof)
    # A command's result is in the person's own record, which the outcome does not name.
    written = outcome.paths or (f"checks: the result of {criterion}",)
    with looking_again(() if manner.dry_run else written):
        judged = app.planning.criterion(criterion)
    said = f"{judged.criterion.text}: {judged.evidence}"
    report_change(outcome, manner, said, said, state=judged.state, evidence=judged.evidence)


@planning.command(epilog="Example: fairlead planning release")
@changes
def release(app: App, manner: Manner) -> None:
    """Let the session go that the plan holds. The next change of the plan holds it again."""
    outcome = app.planning.release(dry_run=manner.dry_run)
    report_change(outcome, manner, "The stop hook lets the session go.")


def _show_ignored(planned: Outcome) -> None:
    entries = (each for each in planned.changes if each.path == layout.GIT_IGNORE)
    for change in entries:
        for line in diff_lines(change.path, change.old, change.new):
            Screen(sys.stderr).line(*line)


def _check(given: dict[str, str | None]) -> dict[str, Value] | None:
    path, line = given["file"], given["command"]
    if path is not None and line is not None:
        raise click.UsageError("a criterion has one check: --file or --command")
    if path is None and line is None:
        return None
    try:
        words = shlex.split(line or "")
    except ValueError as problem:
        raise click.UsageError(f"--command: {problem}") from None
    if not (path or words):
        raise EmptyText("the check")
    return {"file": path} if path else {"command": words}


def _refuse_others(kind: str, given: dict[str, str | None], **takes: tuple[str, ...]) -> None:
    """Refuse what was given and is not for this kind: ignoring it would look like doing it."""
    for name, value in given.items():
        if value is not None and name not in takes.get(kind, ()):
            raise click.UsageError(f"--{name.replace('_', '-')} is not for a {kind}")


def _lines(found: PlanReport, *, verbose: bool) -> list[Sequence[Part]]:
    done = len(found.exit_criteria) - found.open_criteria
    lines: list[Sequence[Part]] = [
        (Styled(found.plan_id, "bold"), f"  {found.status}"),
        (Styled("goal  ", "dim"), found.goal),
        (),
        (Styled(f"requirements in {found.requirements_file}", "dim"),),
        *rows(
            [(_step(each.status), each.name, each.status) for each in found.requirements_sections]
        ),
        (Styled(f"modules ({len(found.modules)})", "dim"),),
    ]
    cells = [
        (
            _step(each.status),
            each.id,
            each.name,
            each.priority,
            each.status,
            each.github_issue or "",
        )
        for each in found.modules
    ]
    for each, line in zip(found.modules, rows(cells), strict=True):
        lines.append(line)
        if verbose:
            criteria = each.acceptance_criteria.splitlines() or ["(no criteria)"]
            lines += [(Styled(f"       {text}", "dim"),) for text in criteria]
    lines.append((Styled(f"exit criteria ({done} of {len(found.exit_criteria)} met)", "dim"),))
    for criterion in found.exit_criteria:
        lines += _criterion_lines(criterion)
    if found.released:
        lines.append((Styled("released  ", "dim"), found.released))
    return lines


def _step(status: str) -> Styled:
    mark, style = _STEPS.get(status, ("○", "cyan"))
    return Styled(f"  {mark}", style)


def _criterion_lines(criterion: CriterionReport) -> list[Sequence[Part]]:
    mark, style = _MARKS[criterion.state]
    lines: list[Sequence[Part]] = [
        (Styled(f"  {mark} ", style), f"{criterion.number} {criterion.text}"),
        (Styled(f"      {criterion.evidence}", "dim"),),
    ]
    if criterion.command:
        lines.append((Styled("      → ", "dim"), Styled(criterion.command, "bold")))
    return lines
