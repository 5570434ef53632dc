"""`fairlead state`: the commands for sessions, gates and handovers, pauses and questions."""

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import workstream_change_command
from fairlead.interfaces.cli.output import (
    Line,
    OutputOptions,
    Styled,
    report,
    report_change,
    warn,
)
from fairlead.project.handoff import DECISION, HandoverOffer, WaitingQuestion
from fairlead.project.sessions import ResumeResult
from fairlead.project.state.gate import MAIN_SESSION, OpenTask
from fairlead.project.state.gate_rules import Gate, GateEvent, SkipKind
from fairlead.project.state.session import Stop
from fairlead.store.files import reading_back
from fairlead.views.memory import answered_view, handovers_view, taken_over_view

_LISTED_STEPS = 5

_session_option = click.option(
    "--session",
    default=MAIN_SESSION,
    envvar="FAIRLEAD_SESSION",
    show_default=True,
    metavar="NAME",
    help="Name of this session, if several run at once.",
)


@click.command(
    "record-session",
    epilog='Example: fairlead state record-session --stopped-at "Phase 3, plan 2 complete"',
)
@click.option("--stopped-at", default="", metavar="TEXT", help="What was done last, in one line.")
@click.option("--resume-file", default="", metavar="PATH", help="File to resume from.")
@_session_option
@workstream_change_command
def record_session(
    app: App, output: OutputOptions, *, stopped_at: str, resume_file: str, session: str
) -> None:
    """Record the end of a session in STATE.md."""
    stop = Stop(stopped_at, resume_file)
    outcome = app.sessions.ended(stop, session=session, dry_run=output.dry_run)
    report_change(outcome, output, "Recorded the session", "The session is already recorded")


@click.command(
    epilog='Example: fairlead state gate start --task "Task 3: Create the reader" --phase 3'
)
@click.argument("event", type=click.Choice([str(event) for event in GateEvent]))
@click.option("--task", default="", metavar="NAME", help="Task name; required by start.")
@click.option("--phase", default="", metavar="N", help="Phase of the task.")
@click.option("--plan", default="", metavar="ID", help="Plan of the task, such as 03-01.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is blocked, failed or skipped.")
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in SkipKind]),
    help="What to skip: the task (it stays undone), its verification, or the whole gate (forced).",
)
@_session_option
@workstream_change_command
def gate(
    app: App,
    output: OutputOptions,
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

    The handover for the next session is written together with the step. Events that are not
    possible in the current state of the gate are refused. After `skip --kind verify` or `skip
    --kind forced`, which need --reason, the task counts as done.
    """
    if kind and event != str(GateEvent.SKIP):
        raise click.UsageError("--kind is for the event skip")
    if kind in (SkipKind.VERIFY, SkipKind.FORCED) and not reason.strip():
        raise click.UsageError(f"--kind {kind} needs --reason, which is recorded with the task")
    attempts = int(str(app.value("fairlead.execution.attempts")))
    initial_gate = Gate(skip_kind=SkipKind(kind) if kind else None, max_attempts=attempts)
    step = OpenTask(task, phase, plan, session, initial_gate, note=reason)
    outcome = app.sessions.gate(GateEvent(event), step, dry_run=output.dry_run)
    with reading_back(outcome.paths):
        recorded = None if output.dry_run else app.sessions.task(session)
    status = str(recorded.gate.status) if recorded else "as below"
    report_change(outcome, output, f"The gate is {status}", f"The gate is already {status}")


@click.command(epilog='Example: fairlead state pause --at "Before the migration"')
@click.option("--at", required=True, metavar="TEXT", help="Where the project is paused.")
@workstream_change_command
def pause(app: App, output: OutputOptions, *, at: str) -> None:
    """Record only that the project is paused. `fairlead pause` also writes the handover."""
    outcome = app.events.paused(at, dry_run=output.dry_run)
    report_change(outcome, output, f"Paused: {at}", f"Already paused: {at}")


@click.command(epilog="Example: fairlead state resume --show")
@click.option("--show", is_flag=True, help="Only show what can be resumed.")
@click.option("--fresh", is_flag=True, help="Set the handover aside and start again.")
@click.option("--file", default="", metavar="PATH", help="Handover to use.")
@_session_option
@workstream_change_command
def resume(
    app: App, output: OutputOptions, *, show: bool, fresh: bool, file: str, session: str
) -> None:
    """End a pause, and take over one handover. `fairlead resume` shows all of them first.

    The handover stays until this session records a step of its own. With --fresh it is moved
    aside under a name with the time, and its task counts as not started.
    """
    if show:
        offers = app.sessions.offers()
        report(handovers_view(offers), _offer_lines(offers), as_json=output.as_json)
        return
    resumed = app.sessions.resume(file=file, session=session, fresh=fresh, dry_run=output.dry_run)
    _report_resumed(resumed, output, fresh=fresh)


@click.command(
    epilog='Example: fairlead state wait --question "Which database?" --option A --option B'
)
@click.option("--question", default="", metavar="TEXT", help="Question for a person.")
@click.option(
    "--option", "options", multiple=True, metavar="TEXT", help="Possible answer; repeatable."
)
@click.option(
    "--kind", default=DECISION, show_default=True, metavar="WORD", help="Kind of question."
)
@click.option("--phase", default="", metavar="N", help="Phase that waits.")
@click.option("--clear", is_flag=True, help="Remove the question: it is answered.")
@workstream_change_command
def wait(
    app: App,
    output: OutputOptions,
    *,
    question: str,
    options: tuple[str, ...],
    kind: str,
    phase: str,
    clear: bool,
) -> None:
    """Record that the project waits for a person, or with --clear that it no longer does."""
    if clear == bool(question):
        raise click.UsageError("give either --question or --clear")
    if clear:
        outcome = app.events.answered(dry_run=output.dry_run)
        content = answered_view(outcome, dry_run=output.dry_run)
        text = "Removed the question" if content["changed"] else "No question is waiting"
        report(content, [(text,)], as_json=output.as_json)
        return
    outcome = app.events.waiting(
        WaitingQuestion(question, options, phase, kind), dry_run=output.dry_run
    )
    report_change(outcome, output, f"Waiting: {question}", f"Already waiting: {question}")


def _report_resumed(resumed: ResumeResult, output: OutputOptions, *, fresh: bool) -> None:
    for notice in resumed.outcome.notices:
        warn(str(notice))
    moves = resumed.outcome.places.moves
    lines: list[Line] = []
    if resumed.chosen is None:
        has_changed = resumed.outcome.changes or moves
        lines.append(("The project is resumed" if has_changed else "Nothing to resume",))
    elif fresh:
        lines.append((Styled("✓ ", "green"), f"Set aside: {resumed.chosen.path}"))
        lines += [(Styled(f"  {move.target}", "dim"),) for move in moves]
    else:
        chosen = tuple(offer for offer in resumed.offers if offer.handover == resumed.chosen)
        lines += _offer_lines(chosen)
    if output.dry_run:
        lines.append(("Nothing was written.",))
    content = taken_over_view(resumed, dry_run=output.dry_run)
    report(content, lines, as_json=output.as_json)


def _offer_lines(offers: tuple[HandoverOffer, ...]) -> list[Line]:
    if not offers:
        return [("There is no handover to resume",)]
    lines: list[Line] = []
    for offer in offers:
        handover = offer.handover
        state = "running" if offer.is_live else "left behind"
        if offer.is_stale:
            state = "stale: its work is done"
        lines.append((Styled(handover.path, "bold"), f"  {state}"))
        if handover.task.name:
            gate = handover.task.gate
            status = gate.status or "not started"
            lines.append((f"  {handover.task.name}: {status}, attempt {gate.attempt}",))
        lines += [(f"  {step}",) for step in handover.next_steps[:_LISTED_STEPS]]
    return lines
