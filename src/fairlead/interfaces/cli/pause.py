"""`fairlead pause` and `fairlead resume`: the work is put down, and taken up again."""

from collections.abc import Sequence

import click

from fairlead.engine.pausing import Left
from fairlead.interfaces.cli.options import stream_changes
from fairlead.interfaces.cli.show import Manner, Part, Styled, boxed, report, report_change, warn
from fairlead.records.pause import Found
from fairlead.wiring import App
from fairlead.wiring_daily import pausing, uncommitted

_SHOWN = 3  # of each kind; the rest is counted
_WIDEST = 72


@click.command(epilog='Example: fairlead pause "The reader works, its tests do not yet"')
@click.argument("text", default="")
@stream_changes
def pause(app: App, manner: Manner, *, text: str) -> None:
    """Write down what is open, where, and what comes next, and pause the project.

    The hand-over stands in .planning/HANDOFF.json, that of a workstream in its own folder, and,
    for people, in a page beside the plans.
    """
    made = pausing(app).pause(text, uncommitted(app), dry_run=manner.dry_run)
    told = f"Paused at {made.pause.place}. Go on with: fairlead resume"
    report_change(made.outcome, manner, told, "Paused already", pause=made.pause, page=made.page)


@click.command(epilog="Example: fairlead resume --dry-run")
@stream_changes
def resume(app: App, manner: Manner) -> None:
    """Show what an earlier session left, end the pause, and say the next command.

    Reads the hand-over of any tool, jobs that wait or were interrupted, and plans without a
    summary. Our own hand-over is put away once the pause has ended; pages of others stay.
    """
    taken = pausing(app).go_on(dry_run=manner.dry_run)
    for notice in taken.outcome.notices:
        warn(str(notice))
    left, moves = taken.left, taken.outcome.places.moves
    lines = boxed("Where it stopped", _lines(left))
    lines += [(Styled(f"  {move.source} → {move.target}", "dim"),) for move in moves]
    if manner.dry_run:
        lines.append(("Nothing was written.",))
    content = {
        "left": left,
        "next": left.next,
        "changed": list(taken.outcome.paths),
        "moved": [{"from": move.source, "to": move.target} for move in moves],
        "dry_run": manner.dry_run,
    }
    report(content, lines, as_json=manner.as_json)


def _lines(left: Left) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = []
    if left.is_empty:
        lines.append(("Nothing was paused or left behind.",))
    if left.paused_at:
        lines.append((Styled("paused  ", "dim"), left.paused_at))
    if left.question:
        lines.append((Styled("asks    ", "yellow"), left.question))
    for job in left.jobs[:_SHOWN]:
        lines.append((Styled("job     ", "yellow"), f"{job.id}  {job.state}  {job.told}".rstrip()))
    for each in (*left.handoffs, *left.pages)[: 2 * _SHOWN]:
        lines += _told(each)
    for path in left.plans[:_SHOWN]:
        lines.append((Styled("open    ", "dim"), path))
    hidden = len(left.plans) - _SHOWN
    if hidden > 0:
        lines.append((Styled("        ", "dim"), f"and {hidden} more plans without a summary"))
    lines.append((Styled("next    ", "cyan"), Styled(left.next.command, "bold")))
    lines.append(("        ", Styled(left.next.reason, "dim")))
    return lines


def _told(found: Found) -> list[Sequence[Part]]:
    owner = "" if found.is_ours or found.is_gate else "  (not ours)"
    lines: list[Sequence[Part]] = [(Styled("left    ", "dim"), found.path, owner)]
    lines += [("        ", _cut(each)) for each in (found.place, found.note) if each]
    lines += [("        to do: ", _cut(each)) for each in found.open[:_SHOWN]]
    if found.next_action:
        lines.append(("        then: ", _cut(found.next_action)))
    return lines


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
