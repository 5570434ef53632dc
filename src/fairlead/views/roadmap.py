"""Milestones, phases and plans, with the state that the files prove."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairlead.app import App
    from fairlead.plans.roadmap_report import (
        MilestoneReport,
        PhaseDetails,
        PhaseReport,
        RoadmapReport,
    )
    from fairlead.plans.service import PlanIndex
    from fairlead.project.milestones import MilestoneChange
    from fairlead.project.phases import PhaseChange


def roadmap_view(app: App) -> RoadmapReport:
    """The roadmap with milestones and phases."""
    return app.roadmaps.report()


def phases_view(phases: tuple[PhaseReport, ...], *, archived: bool) -> dict[str, Any]:
    """The phases of the milestone, or of closed milestones."""
    return {"phases": list(phases), "archived": archived}


def phase_view(app: App, number: str) -> PhaseDetails:
    """One phase: plans and summaries, verification, files."""
    return app.roadmaps.details(number)


def plans_view(app: App, number: str) -> PlanIndex:
    """The plans of a phase in waves, with state and faults."""
    return app.roadmaps.plans(number)


def section_view(details: PhaseDetails) -> dict[str, Any]:
    """The section of one phase in the roadmap."""
    phase = details.phase
    return {
        "number": phase.number,
        "name": phase.name,
        "goal": phase.goal,
        "depends_on": phase.depends_on,
        "requirements": details.requirements,
        "success_criteria": details.success_criteria,
        "risk": details.risk,
        "line": phase.line,
        "section": details.section,
    }


def milestones_view(milestones: tuple[MilestoneReport, ...]) -> dict[str, Any]:
    """Every milestone in the roadmap and in the archive."""
    return {"milestones": list(milestones)}


def opened_milestone_members(
    change: MilestoneChange, name: str, closed: Sequence[MilestoneChange]
) -> dict[str, Any]:
    """What opening a milestone adds to the files it wrote."""
    archived = [previous.version for previous in closed]
    return {"milestone": change.version, "name": name, "archived": archived}


def closed_milestone_members(change: MilestoneChange) -> dict[str, Any]:
    """What closing a milestone adds to the files it wrote."""
    return {"milestone": change.version, "phases": change.phases, "plans": change.plans}


def phase_change_members(change: PhaseChange) -> dict[str, Any]:
    """What a change of the phases adds to the files it wrote."""
    return {
        "phase": change.phase,
        "name": change.name,
        "folder": change.folder,
        "notes": list(change.notes),
    }
