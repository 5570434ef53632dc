"""`fairlead state`: sessions, gates and their hand-overs, pauses and questions."""

from collections.abc import Sequence

import click

from fairlead.engine.sessions import Offer, Resumed
from fairlead.interfaces.cli.options import stream_changes
from fairlead.interfaces.cli.show import Manner, Part, Styled, report, report_change, warn
from fairlead.model.lifecycle import Gate, GateEvent, SkipKind
from fairlead.records.gate import MAIN_SESSION, OpenTask
from fairlead.records.session import Stop
from fairlead.records.waiting import DECISION, Question
from fairlead.store.files import looking_again
from fairlead.wiring import App

session_option = click.option(
    "--session",
    default=MAIN_SESSION,
    envvar="FAIRLEAD_SESSION",
    show_default=True,
    metavar="NAME",
    help="Which session this is, when there are several at once.",
)


@click.command(
    "record-session",
    epilog='Example: fairlead state record-session --stopped-at "Phase 3, plan 2 complete"',
)
@click.option("--stopped-at", default="", metavar="TEXT", help="What was done last, in one line.")
@click.option("--resume-file", default="", metavar="PATH", help="The file to go on from.")
@session_option
@stream_changes
def record_session(
    app: App, manner: Manner, *, stopped_at: str, resume_file: str, session: str
) -> None:
    """Record the end of a session in STATE.md."""
    stop = Stop(stopped_at, resume_file)
    outcome = app.sessions.ended(stop, session=session, dry_run=manner.dry_run)
    report_change(outcome, manner, "The session is recorded", "The session is recorded already")


@click.command(
    epilog='Example: fairlead state gate start --task "Task 3: Create the reader" --phase 3'
)
@click.argument("event", type=click.Choice([str(each) for each in GateEvent]))
@click.option("--task", default="", metavar="NAME", help="The task; needed to start one.")
@click.option("--phase", default="", metavar="N", help="The phase of the task.")
@click.option("--plan", default="", metavar="ID", help="The plan of the task, such as 03-01.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is blocked, failed or skipped.")
@click.option(
    "--kind",
    type=click.Choice([str(each) for each in SkipKind]),
    help="What is skipped: the task, which then is not done; its verification; or all, by force.",
)
@session_option
@stream_changes
def gate(
    app: App,
    manner: Manner,
    *,
    event: str,
    task: str,
    phase: str,
    plan: str,
    reason: str,
    kind: str | None,
    session: str,
) -> None:
    """Record a step of a task's gate: execute, verify, review.

    The hand-over for the next session is written in the same step. An event that the gate
    cannot take is refused. A task counts as done after `skip --kind verify` or `forced`, which
    need a reason.
    """
    if kind and event != str(GateEvent.SKIP):
        raise click.UsageError("--kind goes with skip")
    if kind in (SkipKind.VERIFY, SkipKind.FORCED) and not reason.strip():
        raise click.UsageError(f"--kind {kind} needs --reason: it stands beside the task")
    skipped = Gate(skip_kind=SkipKind(kind)) if kind else Gate()
    told = OpenTask(task, phase, plan, session, skipped, note=reason)
    outcome = app.sessions.gate(GateEvent(event), told, dry_run=manner.dry_run)
    with looking_again(outcome.paths):
        held = None if manner.dry_run else app.sessions.task(session)
    status = str(held.gate.status) if held else "as below"
    report_change(outcome, manner, f"The gate is {status}", f"The gate is {status} already")


@click.command(epilog='Example: fairlead state pause --at "Before the migration"')
@click.option("--at", required=True, metavar="TEXT", help="Where the project is paused.")
@stream_changes
def pause(app: App, manner: Manner, *, at: str) -> None:
    """Record that the project is paused."""
    outcome = app.events.paused(at, dry_run=manner.dry_run)
    report_change(outcome, manner, f"Paused: {at}", f"Paused already: {at}")


@click.command(epilog="Example: fairlead state resume --show")
@click.option("--show", is_flag=True, help="Only show what can be resumed.")
@click.option("--fresh", is_flag=True, help="Put the hand-over aside and begin anew.")
@click.option("--file", default="", metavar="PATH", help="The hand-over that is meant.")
@session_option
@stream_changes
def resume(app: App, manner: Manner, *, show: bool, fresh: bool, file: str, session: str) -> None:
    """Go on: end a pause, and take over what an earlier session left.

    The hand-over stays until this session has recorded a step of its own. With --fresh it is
    moved aside, with the time in its name, and its task counts as not started.
    """
    if show:
        offers = app.sessions.offers()
        report(
            {"handovers": [_told(each) for each in offers]}, _lines(offers), as_json=manner.as_json
        )
        return
    resumed = app.sessions.resume(file=file, session=session, fresh=fresh, dry_run=manner.dry_run)
    _report(resumed, manner, fresh=fresh)


@click.command(
    epilog='Example: fairlead state wait --question "Which database?" --option A --option B'
)
@click.option("--question", default="", metavar="TEXT", help="What a person has to answer.")
@click.option(
    "--option", "options", multiple=True, metavar="TEXT", help="A possible answer; may be repeated."
)
@click.option(
    "--kind",
    default=DECISION,
    show_default=True,
    metavar="WORD",
    help="What kind of question it is.",
)
@click.option("--phase", default="", metavar="N", help="The phase that waits.")
@click.option("--clear", is_flag=True, help="The question is answered.")
@stream_changes
def wait(
    app: App,
    manner: Manner,
    *,
    question: str,
    options: tuple[str, ...],
    kind: str,
    phase: str,
    clear: bool,
) -> None:
    """Signal that the project waits for a person, or with --clear that it no longer does."""
    if clear == bool(question):
        raise click.UsageError("give either --question or --clear")
    if clear:
        outcome = app.events.answered(dry_run=manner.dry_run)
        is_done = bool(outcome.places.moves)
        told = "Nothing waits any more" if is_done else "Nothing waits already"
        moved = [move.source for move in outcome.places.moves]
        report({"changed": moved, "dry_run": manner.dry_run}, [(told,)], as_json=manner.as_json)
        return
    outcome = app.events.waiting(Question(question, options, phase, kind), dry_run=manner.dry_run)
    report_change(outcome, manner, f"Waiting: {question}", f"Waiting already: {question}")


def _report(resumed: Resumed, manner: Manner, *, fresh: bool) -> None:
    for notice in resumed.outcome.notices:
        warn(str(notice))
    moves = resumed.outcome.places.moves
    lines: list[Sequence[Part]] = []
    if resumed.chosen is None:
        told = "The project goes on" if resumed.outcome.changes or moves else "Nothing to resume"
        lines.append((told,))
    elif fresh:
        lines.append((Styled("✓ ", "green"), f"Put aside: {resumed.chosen.path}"))
        lines += [(Styled(f"  {move.target}", "dim"),) for move in moves]
    else:
        lines += _lines(tuple(each for each in resumed.offers if each.handover == resumed.chosen))
    if manner.dry_run:
        lines.append(("Nothing was written.",))
    content = {
        "changed": list(resumed.outcome.paths),
        "moved": [{"from": move.source, "to": move.target} for move in moves],
        "dry_run": manner.dry_run,
        "handover": resumed.chosen,
    }
    report(content, lines, as_json=manner.as_json)


def _lines(offers: tuple[Offer, ...]) -> list[Sequence[Part]]:
    if not offers:
        return [("There is no hand-over to resume",)]
    lines: list[Sequence[Part]] = []
    for each in offers:
        held = each.handover
        state = "running" if each.is_live else "left behind"
        lines.append((Styled(held.path, "bold"), f"  {state}"))
        if held.task.name:
            status = held.task.gate.status or "not started"
            lines.append((f"  {held.task.name}: {status}, attempt {held.task.gate.attempt}",))
        lines += [(f"  {step}",) for step in held.next_steps[:5]]
    return lines


def _told(offer: Offer) -> dict[str, object]:
    return {"is_live": offer.is_live, "handover": offer.handover}
