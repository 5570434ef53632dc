"""`fairlead roadmap`: the roadmap as the files prove it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from fairlead.interfaces.cli.options import shows, stream_changes, stream_option
from fairlead.interfaces.cli.show import (
    Cells,
    Manner,
    Part,
    Styled,
    in_stream,
    report,
    report_change,
    rows,
    warn,
)
from fairlead.wiring import App

if TYPE_CHECKING:
    from fairlead.engine.plans import PlanEntry, PlanIndex
    from fairlead.engine.roadmaps import PhaseDetails, RoadmapPhase, RoadmapReport

_COLOURS = {"verified": "green", "complete": "green", "partial": "yellow", "planned": "cyan"}


@click.group()
def roadmap() -> None:
    """Show the roadmap, and bring its marks in step with the files."""


@roadmap.command("show", epilog="Example: fairlead roadmap show")
@stream_option
@shows
def show_roadmap(app: App, *, as_json: bool) -> None:
    """Show milestones and phases, with what the files prove of each."""
    found = app.roadmaps.report()
    report(found, _lines(found), as_json=as_json)


@roadmap.command("analyze", epilog="Example: fairlead roadmap analyze --json")
@stream_option
@shows
def analyze(app: App, *, as_json: bool) -> None:
    """Show the same as `show`: a name that scripts of older tools know."""
    found = app.roadmaps.report()
    report(found, _lines(found), as_json=as_json)


@roadmap.command("phase", epilog="Example: fairlead roadmap phase 3")
@click.argument("number", metavar="N")
@stream_option
@shows
def show_section(app: App, *, number: str, as_json: bool) -> None:
    """Show what the roadmap says of one phase: goal, success criteria and its section."""
    found = app.roadmaps.details(number)
    phase = found.phase
    content = {
        "number": phase.number,
        "name": phase.name,
        "goal": phase.goal,
        "depends_on": phase.depends_on,
        "requirements": found.requirements,
        "success_criteria": found.success_criteria,
        "risk": found.risk,
        "line": phase.line,
        "section": found.section,
    }
    lines: list[Sequence[Part]] = [(line,) for line in found.section.splitlines()]
    if not lines:
        lines = [(f"phase {phase.number} is not in the roadmap; its folder is {phase.folder}",)]
    report(content, lines, as_json=as_json)


@roadmap.command("update-progress", epilog="Example: fairlead roadmap update-progress 3")
@click.argument("number", metavar="[N]", required=False, default="")
@stream_changes
def update_progress(app: App, manner: Manner, *, number: str) -> None:
    """Raise boxes, plan counts and progress rows to what the files prove.

    A mark that claims more than they prove is left as it is, and named.
    """
    change = app.phases.update_progress(number, dry_run=manner.dry_run)
    for note in change.notes:
        warn(f"{note}, which no summary proves")
    report_change(
        change.outcome,
        manner,
        done="The roadmap says what the files prove",
        unchanged="The roadmap says already what the files prove",
        claims=list(change.notes),
    )


def phase_table(phases: Sequence[RoadmapPhase], current: str = "") -> list[Sequence[Part]]:
    """Phases in aligned columns."""
    if not phases:
        return [("no phases",)]
    titles = ("", "phase", "stage", "plans", "name")
    heads = tuple(Styled(title, "dim") for title in titles)
    table: list[Cells] = [heads]
    for phase in phases:
        box = ("☑" if phase.roadmap_complete else "☐") if phase.has_box else " "
        number = Styled(phase.number, "bold") if phase.number == current else phase.number
        stage = Styled(phase.stage, _COLOURS.get(phase.stage, "dim"))
        counts = f"{phase.summary_count}/{phase.plan_count}" if phase.plan_count else "-"
        table.append((box, number, stage, counts, phase.name))
    return rows(table)


def details_lines(found: PhaseDetails) -> list[Sequence[Part]]:
    """One phase with its files."""
    phase = found.phase
    title = f"Phase {phase.number}: {phase.name}" if phase.name else f"Phase {phase.number}"
    facts = [
        ("milestone", phase.milestone),
        ("goal", phase.goal),
        ("depends on", phase.depends_on),
        ("risk", found.risk),
        ("stage", phase.stage),
        ("plans", f"{phase.summary_count} of {phase.plan_count} complete"),
        ("verification", phase.verification or "none"),
        ("folder", phase.folder or "none"),
    ]
    lines: list[Sequence[Part]] = [(Styled(title, "bold"),)]
    lines += [(Styled(f"  {name:<14}", "dim"), value) for name, value in facts if value]
    table: list[Cells] = []
    for plan in found.plans:
        proof = "superseded" if plan.is_superseded else plan.proof
        style = "green" if proof == "complete" else "yellow"
        table.append((f"  {plan.id}", Styled(proof, style), plan.summary or plan.path))
    lines += rows(table)
    lines += [(Styled("  without a plan: ", "yellow"), path) for path in found.orphan_summaries]
    return lines


def _lines(found: RoadmapReport) -> list[Sequence[Part]]:
    table: list[Cells] = []
    for each in found.milestones:
        word = "shipped" if each.is_closed else "current" if each.is_current else "open"
        table.append((Styled(each.version, "bold"), Styled(word, "dim"), each.name))
    lines = rows(table)
    if lines:
        lines.append(("",))
    lines += phase_table(found.phases, found.current_phase)
    counts = f"{found.completed_phases}/{found.phase_count} phases"
    plans = f"{found.total_summaries}/{found.total_plans} plans"
    lines.append(("",))
    lines.append(
        (f"{found.progress_percent}%  {counts}, {plans}", Styled(f"  ({found.scope})", "dim"))
    )
    return lines


def plan_lines(found: PlanIndex) -> list[Sequence[Part]]:
    """The plans of a phase, one a row, with their faults below."""
    if not found.plans:
        way = in_stream(f"fairlead phase plan {found.phase}")
        return [(f"phase {found.phase} has no plans; make them: {way}",)]
    table: list[Cells] = [("PLAN", "WAVE", "TASKS", "NEEDS", "STATE")]
    table += [
        (each.id, str(each.wave), str(each.task_count), ", ".join(each.depends_on) or "-", state)
        for each in sorted(found.plans, key=lambda each: each.wave)
        for state in (_plan_state(each, found),)
    ]
    lines = rows(table)
    lines += [(Styled(warning, "yellow"),) for warning in found.warnings]
    for each in found.plans:
        for fault in each.faults:
            style = "red" if fault.severity == "error" else "dim"
            text = f"{each.path}:{fault.line}: {fault.severity}: {fault.what}"
            lines.append((Styled(text, style),))
    return lines


def _plan_state(entry: PlanEntry, found: PlanIndex) -> Part:
    if entry.halted:
        return Styled("halted", "red")
    if entry.has_summary:
        return Styled("done", "green")
    if entry.id in found.runnable:
        return Styled("can run", "cyan")
    if entry.blocked_by:
        return Styled(f"blocked by {', '.join(entry.blocked_by)}", "red")
    if any(fault.severity == "error" for fault in entry.faults):
        return Styled("cannot run", "red")
    return "waits"
