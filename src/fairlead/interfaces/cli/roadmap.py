"""`fairlead roadmap`: milestones and phases, with the state that the files prove."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import (
    app_workstream_option,
    query_command,
    workstream_change_command,
)
from fairlead.interfaces.cli.output import (
    Cells,
    Line,
    OutputOptions,
    Part,
    Styled,
    report,
    report_change,
    table_lines,
    warn,
    with_workstream,
)
from fairlead.views.roadmap import phase_view, roadmap_view, section_view

if TYPE_CHECKING:
    from fairlead.plans.roadmap_report import PhaseDetails, PhaseReport, RoadmapReport
    from fairlead.plans.service import PlanEntry, PlanIndex

_STAGE_STYLES = {"verified": "green", "complete": "green", "partial": "yellow", "planned": "cyan"}


@click.group(cls=LazyGroup)
def roadmap() -> None:
    """Read and update ROADMAP.md, for scripts. People use `status` and `phase`."""


@roadmap.command("show", epilog="Example: fairlead roadmap show")
@app_workstream_option
@query_command
def show_roadmap(app: App, *, as_json: bool) -> None:
    """Show milestones and phases, with the state that the files prove."""
    _report_roadmap(app, as_json=as_json)


@roadmap.command("analyze", epilog="Example: fairlead roadmap analyze --json")
@app_workstream_option
@query_command
def analyze(app: App, *, as_json: bool) -> None:
    """Same as `show`, under the name that scripts for older tools use."""
    _report_roadmap(app, as_json=as_json)


def _report_roadmap(app: App, *, as_json: bool) -> None:
    roadmap_report = roadmap_view(app)
    report(roadmap_report, _roadmap_lines(roadmap_report), as_json=as_json)


@roadmap.command("phase", epilog="Example: fairlead roadmap phase 3")
@click.argument("number", metavar="N")
@app_workstream_option
@query_command
def show_section(app: App, *, number: str, as_json: bool) -> None:
    """Show the section of one phase in the roadmap, with goal and success criteria."""
    details = phase_view(app, number)
    phase = details.phase
    lines: list[Line] = [(line,) for line in details.section.splitlines()]
    if not lines:
        lines = [(f"Phase {phase.number} is not in the roadmap; its folder is {phase.folder}",)]
    report(section_view(details), lines, as_json=as_json)


@roadmap.command("update-progress", epilog="Example: fairlead roadmap update-progress 3")
@click.argument("number", metavar="[N]", required=False, default="")
@workstream_change_command
def update_progress(app: App, output: OutputOptions, *, number: str) -> None:
    """Update check boxes, plan counts and progress rows to what the files prove.

    Marks that claim more than the files prove are left unchanged and listed.
    """
    change = app.phases.update_progress(number, dry_run=output.dry_run)
    for note in change.notes:
        warn(f"{note}, which no summary proves")
    report_change(
        change.outcome,
        output,
        done="The roadmap now matches the files",
        unchanged="The roadmap already matches the files",
        claims=list(change.notes),
    )


def phase_table(phases: Sequence[PhaseReport], current: str = "") -> list[Line]:
    """Phases in aligned columns."""
    if not phases:
        return [("no phases",)]
    titles = ("", "phase", "stage", "plans", "name")
    table: list[Cells] = [tuple(Styled(title, "dim") for title in titles)]
    for phase in phases:
        box = ("☑" if phase.roadmap_complete else "☐") if phase.has_box else " "
        number = Styled(phase.number, "bold") if phase.number == current else phase.number
        stage = Styled(phase.stage, _STAGE_STYLES.get(phase.stage, "dim"))
        counts = f"{phase.summary_count}/{phase.plan_count}" if phase.plan_count else "-"
        table.append((box, number, stage, counts, phase.name))
    return table_lines(table)


def details_lines(details: PhaseDetails) -> list[Line]:
    """One phase with its plans and summaries."""
    phase = details.phase
    title = f"Phase {phase.number}: {phase.name}" if phase.name else f"Phase {phase.number}"
    facts = [
        ("milestone", phase.milestone),
        ("goal", phase.goal),
        ("depends on", phase.depends_on),
        ("risk", details.risk),
        ("stage", phase.stage),
        ("plans", f"{phase.summary_count} of {phase.plan_count} complete"),
        ("verification", phase.verification or "none"),
        ("folder", phase.folder or "none"),
    ]
    lines: list[Line] = [(Styled(title, "bold"),)]
    lines += [(Styled(f"  {name:<14}", "dim"), value) for name, value in facts if value]
    table: list[Cells] = []
    for plan in details.plans:
        proof = "superseded" if plan.is_superseded else plan.proof
        style = "green" if proof == "complete" else "yellow"
        table.append((f"  {plan.id}", Styled(proof, style), plan.summary or plan.path))
    lines += table_lines(table)
    lines += [(Styled("  without a plan: ", "yellow"), path) for path in details.orphan_summaries]
    return lines


def _roadmap_lines(roadmap_report: RoadmapReport) -> list[Line]:
    table: list[Cells] = []
    for milestone in roadmap_report.milestones:
        state = "shipped" if milestone.is_closed else "current" if milestone.is_current else "open"
        table.append((Styled(milestone.version, "bold"), Styled(state, "dim"), milestone.name))
    lines = table_lines(table)
    if lines:
        lines.append(("",))
    lines += phase_table(roadmap_report.phases, roadmap_report.current_phase)
    counts = f"{roadmap_report.completed_phases}/{roadmap_report.phase_count} phases"
    plans = f"{roadmap_report.total_summaries}/{roadmap_report.total_plans} plans"
    lines.append(("",))
    lines.append(
        (
            f"{roadmap_report.progress_percent}%  {counts}, {plans}",
            Styled(f"  ({roadmap_report.scope})", "dim"),
        )
    )
    return lines


def plan_lines(index: PlanIndex) -> list[Line]:
    """The plans of a phase in a table, and their faults below it."""
    if not index.plans:
        command = with_workstream(f"fairlead phase plan {index.phase}")
        return [(f"Phase {index.phase} has no plans. Next: {command}",)]
    table: list[Cells] = [("PLAN", "WAVE", "TASKS", "NEEDS", "STATE")]
    table += [
        (
            plan.id,
            str(plan.wave),
            str(plan.task_count),
            ", ".join(plan.depends_on) or "-",
            _plan_state(plan, index),
        )
        for plan in sorted(index.plans, key=lambda plan: plan.wave)
    ]
    lines = table_lines(table)
    lines += [(Styled(warning, "yellow"),) for warning in index.warnings]
    for plan in index.plans:
        for fault in plan.faults:
            style = "red" if fault.severity == "error" else "dim"
            text = f"{plan.path}:{fault.line}: {fault.severity}: {fault.what}"
            lines.append((Styled(text, style),))
    return lines


def _plan_state(entry: PlanEntry, index: PlanIndex) -> Part:
    if entry.halted:
        return Styled("halted", "red")
    if entry.has_summary:
        return Styled("done", "green")
    if entry.id in index.runnable:
        return Styled("can run", "cyan")
    if entry.blocked_by:
        return Styled(f"blocked by {', '.join(entry.blocked_by)}", "red")
    if any(fault.severity == "error" for fault in entry.faults):
        return Styled("cannot run", "red")
    return "waits"
