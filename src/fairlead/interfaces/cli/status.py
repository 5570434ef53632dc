"""`fairlead status` and `fairlead next`: where the project stands, and what to do now."""

from collections.abc import Sequence

import click

from fairlead.engine.reports import PhaseReport, StatusReport
from fairlead.interfaces.cli.options import json_option, with_app, workstream_option
from fairlead.interfaces.cli.show import (
    Cells,
    Part,
    Styled,
    counted,
    draw,
    first_line,
    in_stream,
    is_terminal,
    report,
    rows,
)
from fairlead.model.divergence import Kind
from fairlead.model.progress import bar
from fairlead.wiring import App

_SHOWN = 3  # decisions and differences; the rest is counted
_MARKS = {
    "verified": ("✓", "green"),
    "complete": ("✓", "green"),
    "partial": ("◐", "yellow"),
    "planned": ("○", "cyan"),
}
_MOST_PHASES = 12
_ALL_COMPLETE = "Every phase is complete."
_ANSWERED = "fairlead state wait --clear"


@click.command(epilog="Example: fairlead status --json")
@click.option("--all", "show_all", is_flag=True, help="Show every phase of the milestone.")
@workstream_option
@json_option
@with_app
def status(app: App, *, show_all: bool, workstream: str, as_json: bool) -> None:
    """Show where the project stands, derived from its files."""
    found = app.overview.status(workstream)
    if as_json or not is_terminal():
        report(found, _lines(found, show_all=show_all), as_json=as_json)
        return
    from fairlead.interfaces.cli.view import status_view

    shown = _shown_phases(found, show_all=show_all)
    draw(status_view(found, shown, _where(found), _remarks(found)))


@click.command("next", epilog="Example: fairlead next")
@workstream_option
@json_option
@with_app
def next_step(app: App, *, workstream: str, as_json: bool) -> None:
    """Say in one answer where you are and what to do now."""
    found = app.overview.status(workstream)
    where = _where(found)
    waiting = app.jobs.waiting()
    if found.question:
        from fairlead.model.job import Question, QuestionKind  # `status` does without

        asked = Question("", QuestionKind.DECISION, found.phase, found.question)
        waiting = (("", asked, in_stream(_ANSWERED)), *waiting)
    content = {
        "where": where,
        "next": found.next,
        "phase": found.phase,
        "plan": found.plan,
        "paused_at": found.paused_at,
        "waiting": [
            {
                "job": job,
                "question": first_line(asked.text),
                "details": list(asked.details),
                "options": list(asked.options),
                "command": line,
            }
            for job, asked, line in waiting
        ],
    }
    lines: list[Sequence[Part]] = [(where,), _next(found), *_held_up(found)]
    for _, asked, command in waiting[:_SHOWN]:
        lines.append((Styled("waits  ", "yellow"), first_line(asked.text)))
        lines += [(f"       {line}",) for line in (command, *asked.below)]
    report(content, lines, as_json=as_json)


def _lines(found: StatusReport, *, show_all: bool) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = [
        (Styled(found.title or "(no title)", "bold"), *_milestone(found))
    ]
    progress = found.progress
    tasks = (
        f" · {progress.completed_tasks}/{progress.total_tasks} tasks"
        if progress.total_tasks
        else ""
    )
    lines += [
        (
            f"[{bar(progress.percent)}] {progress.percent}%  ",
            f"{progress.completed_plans}/{progress.total_plans} plans · ",
            f"{progress.completed_phases}/{progress.total_phases} phases{tasks}",
            Styled(f"  ({progress.scope})", "dim"),
        ),
        (),
        *_phase_rows(found, show_all=show_all),
        (_where(found),),
        (
            Styled("next  ", "dim"),
            Styled(found.next.command, "bold"),
            Styled(f"   {found.next.reason}", "dim"),
        ),
    ]
    return [*lines, *_remarks(found)]


def _milestone(found: StatusReport) -> tuple[Part, ...]:
    named = f"{found.milestone} {found.milestone_name}".strip()
    stream = f"  workstream {found.workstream}" if found.workstream else ""
    return (Styled(f"  {named}{stream}", "dim"),) if named or stream else ()


def _next(found: StatusReport) -> tuple[Part, ...]:
    return Styled(found.next.command, "bold"), Styled(f"   {found.next.reason}", "dim")


def _held_up(found: StatusReport) -> list[Sequence[Part]]:
    if not found.paused_at:
        return []
    way = Styled(f"   {in_stream('fairlead resume')}", "dim")
    return [(Styled("paused  ", "yellow"), found.paused_at, way)]


def _where(found: StatusReport) -> str:
    if not found.phases:
        return "There are no phases yet."
    if not found.phase:
        left = [each for each in found.notes if each.code == Kind.ARCHIVED]
        told = "; ".join(f"{each.what}: {each.said}" for each in left[:_SHOWN])
        return f"Milestone {found.milestone} is archived; {told}" if left else _ALL_COMPLETE
    plan = f", plan {found.plan} is open" if found.plan else ""
    return f"Phase {found.phase} ({found.phase_name}): {found.status_words}{plan}"


def _phase_rows(found: StatusReport, *, show_all: bool) -> list[Sequence[Part]]:
    phases = _shown_phases(found, show_all=show_all)
    hidden = len(found.phases) - len(phases)
    shown = rows([_cells(phase) for phase in phases])
    if hidden:
        way = in_stream("fairlead status --all")
        shown.append((Styled(f"  … and {hidden} more phases: {way}", "dim"),))
    return [*shown, ()] if shown else []


def _shown_phases(found: StatusReport, *, show_all: bool) -> tuple[PhaseReport, ...]:
    """Every phase, or a dozen around the current one."""
    phases = found.phases
    if show_all or len(phases) <= _MOST_PHASES:
        return phases
    last = len(phases) - 1
    here = next((at for at, each in enumerate(phases) if each.number == found.phase), last)
    start = max(0, min(here - 3, len(phases) - _MOST_PHASES))
    return phases[start : start + _MOST_PHASES]


def _cells(phase: PhaseReport) -> Cells:
    mark, style = _MARKS.get(phase.stage, ("·", "dim"))
    plans = f"{phase.completed_plans}/{phase.total_plans}" if phase.total_plans else "-"
    verified = f"verification {phase.verification}" if phase.verification else ""
    return (
        Styled(f"  {mark}", style),
        phase.number,
        phase.name,
        plans,
        Styled(phase.stage.replace("_", " "), "dim"),
        Styled(verified, "dim"),
    )


def _remarks(found: StatusReport) -> list[Sequence[Part]]:
    lines = _held_up(found)
    if found.question:
        lines.append(
            (
                Styled("waits  ", "yellow"),
                found.question,
                Styled(f"   {in_stream(_ANSWERED)}", "dim"),
            )
        )
    resolved = len(found.resolved_blockers)
    lines += _listed("blockers", found.blockers, f" ({resolved} resolved)" if resolved else "")
    lines += _listed("decisions", found.decisions)
    if found.pending_todos:
        lines.append((Styled("todos  ", "dim"), f"{len(found.pending_todos)} pending"))
    if found.continue_files:
        lines.append((Styled("resume  ", "dim"), ", ".join(found.continue_files)))
    if found.plan_phase:
        way = Styled("   fairlead planning status", "dim")
        lines.append((Styled("plan phase  ", "dim"), found.plan_phase, way))
    if found.exec_phase:
        way = Styled("   fairlead exec status", "dim")
        lines.append((Styled("exec phase  ", "dim"), found.exec_phase, way))
    if found.workstreams and not found.workstream:
        names = ", ".join(found.workstreams)
        lines.append(
            (Styled("workstreams  ", "dim"), names, Styled("   --ws NAME shows one", "dim"))
        )
    if found.drift:
        lines.append(
            (
                Styled(counted(len(found.drift), "difference"), "yellow"),
                f" between the documents and the files: {in_stream('fairlead check')}",
            )
        )
        lines += [(Styled("  ! ", "yellow"), each.message) for each in found.drift[:_SHOWN]]
    return lines


def _listed(name: str, entries: tuple[str, ...], beside: str = "") -> list[Sequence[Part]]:
    """How many there are, and the latest of them."""
    if not entries and not beside:
        return []
    count = (Styled(f"{name}  ", "dim"), str(len(entries)), Styled(beside, "dim"))
    return [count, *((Styled("  - ", "dim"), text) for text in entries[-_SHOWN:])]
