"""Where the project stands, and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.core.ids import stream_words
from fairlead.core.values import dataclass
from fairlead.project.derive.position import Next
from fairlead.project.health.findings import FindingKind
from fairlead.project.open_jobs import OpenJob
from fairlead.project.overview import StatusReport

if TYPE_CHECKING:
    from fairlead.app import App

_LISTED_REASONS = 3


@dataclass(frozen=True, slots=True)
class WaitingView:
    """A question that waits for a person, and the command that answers it."""

    job: str  # empty: the project itself waits
    question: str
    details: tuple[str, ...]
    options: tuple[str, ...]
    command: str

    @property
    def below(self) -> tuple[str, ...]:
        """The lines below the question: the details and the possible answers."""
        return (*self.details, *(f"answer: {each}" for each in self.options))


@dataclass(frozen=True, slots=True)
class NextView:
    """The position, the next command, and what waits."""

    where: str
    next: Next
    phase: str
    plan: str
    paused_at: str
    active_phase: str
    jobs: tuple[OpenJob, ...]
    waiting: tuple[WaitingView, ...]


def status_view(app: App, workstream: str = "") -> StatusReport:
    """Position, progress and open points of the project."""
    return app.overview.status(workstream)


def next_view(app: App, status: StatusReport, workstream: str = "") -> NextView:
    """The position, the next command, and the questions that wait for an answer."""
    waiting = [
        WaitingView(
            job, question.text.partition("\n")[0], question.details, question.options, command
        )
        for job, question, command in app.jobs.waiting()
    ]
    if status.question:
        first_line = status.question.partition("\n")[0]
        command = f"fairlead state wait{stream_words(workstream)} --clear"
        waiting.insert(0, WaitingView("", first_line, (), (), command))
    return NextView(
        where=position(status),
        next=status.next,
        phase=status.phase,
        plan=status.plan,
        paused_at=status.paused_at,
        active_phase=status.active_phase,
        jobs=tuple(status.jobs),
        waiting=tuple(waiting),
    )


def position(status: StatusReport) -> str:
    """One sentence: the phase in progress, or else the current phase and plan."""
    if not status.phases:
        is_new = status.progress.is_verifiable
        return "There are no phases yet." if is_new else "The documents list no phase with files."
    if not status.phase:
        archived = [note for note in status.notes if note.code == FindingKind.ARCHIVED]
        reasons = "; ".join(f"{note.what}: {note.said}" for note in archived[:_LISTED_REASONS])
        if archived:
            return f"Milestone {status.milestone} is archived; {reasons}"
    active = next((each for each in status.phases if each.number == status.active_phase), None)
    if active and active.number != status.phase:
        return f"Phase {active.number} ({active.name}): {status.recorded_status}"
    if not status.phase:
        return "Every phase is complete."
    plan = f", plan {status.plan} is open" if status.plan else ""
    return f"Phase {status.phase} ({status.phase_name}): {status.status_words}{plan}"
