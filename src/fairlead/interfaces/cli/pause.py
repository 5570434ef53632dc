"""`fairlead pause` and `fairlead resume`: interrupt the work, and continue it later."""

import click

from fairlead.app import App
from fairlead.execution.leftovers import PartialWork
from fairlead.interfaces.cli.options import workstream_change_command
from fairlead.interfaces.cli.output import (
    Line,
    OutputOptions,
    Styled,
    box_lines,
    cut,
    move_lines,
    report,
    report_change,
    terminal_width,
    warn,
    with_workstream,
)
from fairlead.project.open_jobs import OpenJob
from fairlead.views.memory import pause_members, resumed_view
from fairlead.workflows.pause import PausedWork, PauseRecord

_LISTED_ENTRIES = 3  # of each kind; the rest is counted
_LINE_WIDTH = 72
_FRESH = "fairlead resume --fresh"


@click.command(epilog='Example: fairlead pause "The reader works, its tests do not yet"')
@click.argument("text", default="")
@workstream_change_command
def pause(app: App, output: OutputOptions, *, text: str) -> None:
    """Pause the project, and record what is open.

    The handover says what is open, where, and what comes next. It is written to
    .planning/HANDOFF.json (for a workstream to its own folder), and as a readable page to the
    folder of the plans.
    """
    made = app.pausing.pause(text, app.uncommitted(), dry_run=output.dry_run)
    for job in app.jobs.open_jobs():
        if job.is_running:
            warn(f"{job.id} is running and goes on; to end it: fairlead job cancel {job.id}")
    done = f"Paused at {made.pause.place}. To continue: fairlead resume"
    report_change(made.outcome, output, done, "Already paused", **pause_members(made))


@click.command(epilog="Example: fairlead resume --dry-run")
@click.option(
    "--fresh", is_flag=True, help="Give up interrupted jobs and handovers, and start again."
)
@workstream_change_command
def resume(app: App, output: OutputOptions, *, fresh: bool) -> None:
    """Show what an earlier session left, and end the pause.

    Also shows the next command. Reads handovers of any tool, jobs that wait or were interrupted,
    and plans without a summary. Fairlead's own handover is moved away when the pause ends; pages of
    other tools stay. With --fresh, jobs that are not running end, and handovers of open tasks are
    moved aside. The work stays on its branches.
    """
    stopped = [job for job in app.pausing.open_work().jobs if not job.is_running]
    # Read this first: the work of a job that is given up stays on its branches.
    partial = [work for job in stopped for work in app.execution.partial_work(job.id)]
    given_up = _give_up(app, stopped, dry_run=output.dry_run) if fresh else []
    resumed = app.pausing.end_pause(dry_run=output.dry_run)
    for notice in resumed.outcome.notices:
        warn(str(notice))
    left = resumed.left
    shown = [
        *([] if given_up or not left.is_empty else [("Nothing was paused or left behind.",)]),
        *_left_lines(left),
        *_choice_lines(left, partial),
    ]
    lines = [
        *box_lines("Where it stopped", shown, terminal_width()),
        *((Styled("✓ ", "green"), f"Gave up {name}") for name in given_up),
        *move_lines(resumed.outcome),
    ]
    if output.dry_run:
        lines.append(("Nothing was written.",))
    fresh_command = with_workstream(_FRESH) if left.is_resumable else ""
    content = resumed_view(resumed, partial, given_up, fresh_command, dry_run=output.dry_run)
    report(content, lines, as_json=output.as_json)


def _give_up(app: App, jobs: list[OpenJob], *, dry_run: bool) -> list[str]:
    """End these jobs and set the handovers of open tasks aside."""
    for job in () if dry_run else jobs:
        app.jobs.cancel(job.id)
    # Ending a job removes its handovers, so these belong to sessions without a job.
    paths = [
        offer.handover.path
        for offer in app.sessions.offers()
        if offer.handover.is_ours and not offer.is_live
    ]
    for path in paths:
        app.sessions.resume(file=path, fresh=True, dry_run=dry_run)
    return [*(job.id for job in jobs), *paths]


def _choice_lines(left: PausedWork, partial: list[PartialWork]) -> list[Line]:
    """Work that has not landed, and the two ways to go on."""
    lines: list[Line] = []
    for work in partial[:_LISTED_ENTRIES]:
        lines.append((Styled("partial ", "yellow"), f"{work.task} on branch {work.branch}"))
        names = ", ".join(work.files[:_LISTED_ENTRIES])
        hidden = len(work.files) - _LISTED_ENTRIES
        more = f" and {hidden} more" if hidden > 0 else ""
        lines.append((f"        files: {names}{more}",))
    if left.is_resumable:
        lines.append((Styled("or      ", "dim"), Styled(with_workstream(_FRESH), "bold")))
        lines.append(("        ", Styled("start again; the work stays on its branches", "dim")))
    return lines


def _left_lines(left: PausedWork) -> list[Line]:
    lines: list[Line] = []
    if left.paused_at:
        lines.append((Styled("paused  ", "dim"), left.paused_at))
    if left.question:
        lines.append((Styled("asks    ", "yellow"), left.question))
    for job in left.jobs[:_LISTED_ENTRIES]:
        lines.append((Styled("job     ", "yellow"), f"{job.id}  {job.words}  {job.note}".rstrip()))
    for handover in (*left.handoffs, *left.pages)[: 2 * _LISTED_ENTRIES]:
        lines += _handover_lines(handover)
    for path in left.plans[:_LISTED_ENTRIES]:
        lines.append((Styled("open    ", "dim"), path))
    hidden = len(left.plans) - _LISTED_ENTRIES
    if hidden > 0:
        lines.append((Styled("        ", "dim"), f"and {hidden} more plans without a summary"))
    lines.append((Styled("next    ", "cyan"), Styled(left.next.command, "bold")))
    lines.append(("        ", Styled(left.next.reason, "dim")))
    return lines


def _handover_lines(handover: PauseRecord) -> list[Line]:
    owner = "" if handover.is_ours or handover.is_gate else "  (from another tool)"
    texts = [
        *(text for text in (handover.place, handover.note) if text),
        *(f"to do: {item}" for item in handover.open[:_LISTED_ENTRIES]),
        *([f"then: {handover.next_action}"] if handover.next_action else []),
    ]
    lines: list[Line] = [(Styled("left    ", "dim"), handover.path, owner)]
    return lines + [("        ", cut(text, _LINE_WIDTH)) for text in texts]
