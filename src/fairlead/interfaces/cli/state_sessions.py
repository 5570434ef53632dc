"""`fairlead state`: sessions, gates and their hand-overs, pauses and questions."""

from collections.abc import Sequence

import click

from fairlead.engine.sessions import Offer, Resumed
from fairlead.interfaces.cli.options import dry_run_option, json_option, stream_option, with_app
from fairlead.interfaces.cli.show import Part, Styled, report, report_change, warn
from fairlead.model.lifecycle import GateEvent
from fairlead.records.gate import MAIN_SESSION, OpenTask
from fairlead.records.session import Stop
from fairlead.records.waiting import DECISION, Question
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
@dry_run_option
@stream_option
@json_option
@with_app
def record_session(
    app: App, *, stopped_at: str, resume_file: str, session: str, dry_run: bool, as_json: bool
) -> None:
    """Record the end of a session in STATE.md."""
    stop = Stop(stopped_at, resume_file)
    report_change(
        app.sessions.ended(stop, session=session, dry_run=dry_run),
        done="The session is recorded",
        unchanged="The session is recorded already",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command(
    epilog='Example: fairlead state gate start --task "Task 3: Create the reader" --phase 3'
)
@click.argument("event", type=click.Choice([str(each) for each in GateEvent]))
@click.option("--task", default="", metavar="NAME", help="The task; needed to start one.")
@click.option("--phase", default="", metavar="N", help="The phase of the task.")
@click.option("--plan", default="", metavar="ID", help="The plan of the task, such as 03-01.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is blocked, failed or skipped.")
@session_option
@dry_run_option
@stream_option
@json_option
@with_app
def gate(
    app: App,
    *,
    event: str,
    task: str,
    phase: str,
    plan: str,
    reason: str,
    session: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Record a step of a task's gate: execute, verify, review.

    The hand-over for the next session is written in the same step. An event that the gate
    cannot take is refused.
    """
    told = OpenTask(task, phase, plan, session, note=reason)
    outcome = app.sessions.gate(GateEvent(event), told, dry_run=dry_run)
    held = app.sessions.task(session)
    status = str(held.gate.status) if held and not dry_run else "as below"
    report_change(
        outcome,
        done=f"The gate is {status}",
        unchanged=f"The gate is {status} already",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command(epilog='Example: fairlead state pause --at "Before the migration"')
@click.option("--at", required=True, metavar="TEXT", help="Where the project is paused.")
@dry_run_option
@stream_option
@json_option
@with_app
def pause(app: App, *, at: str, dry_run: bool, as_json: bool) -> None:
    """Record that the project is paused."""
    report_change(
        app.events.paused(at, dry_run=dry_run),
        done=f"Paused: {at}",
        unchanged=f"Paused already: {at}",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command(epilog="Example: fairlead state resume --show")
@click.option("--show", is_flag=True, help="Only show what can be resumed.")
@click.option("--fresh", is_flag=True, help="Put the hand-over aside and begin anew.")
@click.option("--file", default="", metavar="PATH", help="The hand-over that is meant.")
@session_option
@dry_run_option
@stream_option
@json_option
@with_app
def resume(
    app: App,
    *,
    show: bool,
    fresh: bool,
    file: str,
    session: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Go on: end a pause, and take over what an earlier session left.

    The hand-over stays until this session has recorded a step of its own. With --fresh it is
    moved aside, with the time in its name, and its task counts as not started.
    """
    if show:
        offers = app.sessions.offers()
        report({"handovers": [_told(each) for each in offers]}, _lines(offers), as_json=as_json)
        return
    act = app.sessions.start_fresh if fresh else app.sessions.resume
    _report(
        act(file=file, session=session, dry_run=dry_run),
        fresh=fresh,
        dry_run=dry_run,
        as_json=as_json,
    )


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
@dry_run_option
@stream_option
@json_option
@with_app
def wait(
    app: App,
    *,
    question: str,
    options: tuple[str, ...],
    kind: str,
    phase: str,
    clear: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Signal that the project waits for a person, or with --clear that it no longer does."""
    if clear == bool(question):
        raise click.UsageError("give either --question or --clear")
    if clear:
        outcome = app.events.answered(dry_run=dry_run)
        is_done = bool(outcome.places.moves)
        told = "Nothing waits any more" if is_done else "Nothing waits already"
        moved = [move.source for move in outcome.places.moves]
        report({"changed": moved, "dry_run": dry_run}, [(told,)], as_json=as_json)
        return
    report_change(
        app.events.waiting(Question(question, options, phase, kind), dry_run=dry_run),
        done=f"Waiting: {question}",
        unchanged=f"Waiting already: {question}",
        as_json=as_json,
        dry_run=dry_run,
    )


def _report(resumed: Resumed, *, fresh: bool, dry_run: bool, as_json: bool) -> None:
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
    if dry_run:
        lines.append(("Nothing was written.",))
    content = {
        "changed": list(resumed.outcome.paths),
        "moved": [{"from": move.source, "to": move.target} for move in moves],
        "dry_run": dry_run,
        "handover": resumed.chosen,
    }
    report(content, lines, as_json=as_json)


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
