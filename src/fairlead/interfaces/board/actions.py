"""What a person can do on the terminal board, through the services of the command line.

Each action gets an application of its own and returns one sentence. The service refuses what is
not possible, and the board shows its message.
"""

from __future__ import annotations

from fairlead.app import App
from fairlead.jobs.model import COUNCIL
from fairlead.project.todos import new_todo


def answer(app: App, job: str, question: str, text: str) -> str:
    """Answer a question of a job."""
    answered = app.jobs.answer(job, text, question)
    return f"Answered {answered.id}. Continue the job with: {app.jobs.record(job).command}"


def cancel(app: App, job: str) -> str:
    """End a job."""
    if app.jobs.record(job).kind != COUNCIL:
        ended = app.jobs.cancel(job)
        return f"{ended.id} is {ended.status}"
    stopped = app.council.stop(job, "cancel", "")
    if stopped.ended_at:
        return f"{stopped.id} is {stopped.status}"
    return f"{stopped.id} is running; it ends after the next answer"


def retry(app: App, job: str) -> str:
    """Make a new job from a council that failed or is blocked."""
    child = app.council.retry(job, "")
    return f"Created {child}. Start it with: fairlead run --job {child}"


def capture(app: App, text: str) -> str:
    """Record an idea."""
    return f"Recorded: {app.captures.todo(new_todo(text)).title}"
