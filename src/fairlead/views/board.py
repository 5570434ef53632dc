"""What a board shows that is open all day: what needs a person, every plan by its state, jobs."""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING

from fairlead.core.values import dataclass
from fairlead.project.open_jobs import JobState, OpenJob
from fairlead.views.status import status_view

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairlead.app import App
    from fairlead.jobs.model import JobRecord, Question, TaskGate
    from fairlead.plans.service import PlanEntry, PlanIndex
    from fairlead.project.overview import StatusReport

_LISTED_FAILURES = 3


class PlanState(StrEnum):
    """The column of a board in which a plan stands."""

    WAITING = "waiting"
    READY = "ready"
    STARTED = "started"  # by a job that no process runs now
    RUNNING = "running"
    BLOCKED = "blocked"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class PlanCard:
    """A plan with its state and the gates of open jobs that work on it."""

    phase: str
    plan: PlanEntry
    state: PlanState
    gates: tuple[TaskGate, ...]


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """A job that runs, waits for a person, was interrupted or failed."""

    job: OpenJob
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class BoardView:
    """Everything a board shows, read at one moment."""

    status: StatusReport
    attention: tuple[AttentionItem, ...]
    plans: tuple[PlanCard, ...]
    jobs: tuple[tuple[JobRecord, OpenJob], ...]  # the newest first
    damaged: tuple[str, ...]


def board_view(app: App, workstream: str = "") -> BoardView:
    """The status, what needs a person, the plans of the scope and all jobs."""
    jobs = app.jobs
    present = tuple((record, jobs.present(record)) for record in reversed(jobs.all()))
    return BoardView(
        status=status_view(app, workstream),
        attention=attention_view(app, tuple(job for _, job in present)),
        plans=plan_cards(app),
        jobs=present,
        damaged=tuple(str(problem) for problem in jobs.damaged()),
    )


def attention_view(app: App, jobs: tuple[OpenJob, ...]) -> tuple[AttentionItem, ...]:
    """Open questions first, then what runs, was interrupted or failed; `jobs`: newest first."""
    by_id = {job.id: job for job in jobs}
    asked = [
        AttentionItem(by_id[job], question)
        for job, question, _ in app.jobs.waiting()
        if job in by_id
    ]
    named = {item.job.id for item in asked}
    others = [job for job in jobs if job.id not in named and job.state is not JobState.ENDED]
    failed = [job for job in jobs if job.state is JobState.ENDED and job.status != "DONE"]
    order = [JobState.WAITS, JobState.RUNNING, JobState.INTERRUPTED, JobState.OPEN]
    others.sort(key=lambda job: order.index(job.state))
    return (*asked, *map(AttentionItem, [*others, *failed[:_LISTED_FAILURES]]))


def plan_cards(app: App, phases: Collection[str] | None = None) -> tuple[PlanCard, ...]:
    """Every plan of the current scope, or of some phases of it, with its state."""
    gates: dict[str, list[TaskGate]] = defaultdict(list)
    running = set()
    for job in app.jobs.open_jobs():
        for gate in getattr(app.jobs.report(job.id), "gates", ()):
            gates[gate.plan].append(gate)
            if job.is_running:
                running.add(gate.plan)
    begun = {plan: PlanState.RUNNING if plan in running else PlanState.STARTED for plan in gates}
    return tuple(
        PlanCard(
            index.phase,
            plan,
            _state(plan, index, begun.get(plan.id)),
            tuple(gates.get(plan.id, ())),
        )
        for index in app.roadmaps.all_plans(phases)
        for plan in index.plans
    )


def _state(plan: PlanEntry, index: PlanIndex, begun: PlanState | None) -> PlanState:
    if plan.has_summary and not plan.halted:
        return PlanState.DONE
    if begun:
        return begun
    if plan.halted or plan.blocked_by or any(each.severity == "error" for each in plan.faults):
        return PlanState.BLOCKED
    return PlanState.READY if plan.id in index.runnable else PlanState.WAITING
