"""What a person can do on a board, in the browser or the terminal. Each action calls the service
that the command line calls.

A board offers an action only where it is possible, but the service decides: it refuses what is not,
and its message is shown. Jobs are started and continued in the background.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import unified_diff
from typing import NamedTuple

from fairlead.app import App
from fairlead.core.errors import FairleadError, UsageError
from fairlead.jobs.detached import JOB_KINDS, RESUME, JobRequest
from fairlead.jobs.model import COUNCIL, EXECUTE
from fairlead.project.state.documents import Decision
from fairlead.project.todos import new_todo
from fairlead.text.inline import one_line
from fairlead.views.evidence import recheck_view

Form = Mapping[str, str]
# A new project is begun in its own folder, by the command line.
STARTED_KINDS = tuple(kind for kind in JOB_KINDS if kind != "new")


class StartedJob(NamedTuple):
    """A job that began, and the project in which it works: a rehearsal has a copy."""

    said: str
    job: str
    folder: str


def _field(form: Form, name: str, what: str) -> str:
    text = form.get(name, "").strip()
    if not text:
        raise UsageError.saying(f"{what} is missing", "fill in the field and send it again")
    return text


def answer(app: App, form: Form) -> str:
    """Answer a question of a job: accept, reject, choose or explain."""
    job = _field(form, "job", "the job")
    text, option = form.get("text", "").strip(), form.get("option", "").strip()
    if option.endswith(":") and text:
        text = f"{option} {text}"
    text = text or option
    if not text:
        raise UsageError.saying("the answer is missing", "choose one or write one")
    answered = app.jobs.answer(job, text, form.get("question", ""))
    return f"Answered {answered.id}. {_continued(app, job)}"


def _continued(app: App, job: str) -> str:
    """Continue a job that only waited for this answer, unless its process still runs."""
    record = app.jobs.record(job)
    if app.jobs.is_running(record) or app.jobs.present(record).state == "waits":
        return ""
    return f"Continue the job with: {record.command}"


def resume(app: App, form: Form) -> StartedJob:
    """Continue a job that was interrupted or answered, in the background."""
    record = app.jobs.record(_field(form, "job", "the job"))
    kind = {COUNCIL: RESUME, EXECUTE: "execute"}.get(record.kind, record.kind)
    subject = record.id if record.kind == COUNCIL else record.phase
    is_rehearsed = record.is_rehearsed
    begun = app.start_job(
        JobRequest(
            kind,
            subject,
            is_rehearsed=is_rehearsed,
            is_here=is_rehearsed,
            workstream=record.workstream,
        )
    )
    return StartedJob(f"{begun.job} goes on in the background", begun.job, begun.folder)


def start(app: App, form: Form) -> StartedJob:
    """Start a job in the background. Commands of plans are approved in the terminal."""
    request = JobRequest(
        _field(form, "kind", "the kind of job"),
        one_line(_field(form, "subject", "the goal or the phase"), "the goal"),
        is_rehearsed=form.get("rehearse") == "yes",
    )
    begun = app.start_job(request)
    return StartedJob(f"Started {begun.job} in the background", begun.job, begun.folder)


def cancel(app: App, form: Form) -> str:
    """End a job."""
    job = _field(form, "job", "the job")
    ended = app.jobs.cancel(job)
    return f"{ended.id} is {ended.status}"


def veto(app: App, form: Form) -> str:
    """Stop a council for good."""
    why = one_line(_field(form, "why", "the reason"), "the reason")
    stopped = app.council.stop(_field(form, "job", "the job"), "veto", why)
    app.jobs.end_calls(stopped)
    return f"{stopped.id} is {stopped.status}"


def rule(app: App, form: Form) -> str:
    """Decide an open item of a blocked council."""
    text = one_line(_field(form, "text", "the ruling"), "the ruling")
    job = _field(form, "job", "the job")
    ruling = app.council.rule(job, _field(form, "item", "the item"), text)
    return f"Recorded the ruling on {ruling.id}. Next: retry {job}"


def retry(app: App, form: Form) -> str:
    """Make a new job from a council that failed or is blocked."""
    child = app.council.retry(_field(form, "job", "the job"), form.get("request", "").strip())
    return f"Created {child}. Continue it on its page, or with: fairlead run --job {child}"


def resolve_blocker(app: App, form: Form) -> str:
    """Resolve a blocker."""
    app.events.blocker_resolved(_field(form, "text", "the blocker"))
    return "The blocker is resolved and archived"


def capture(app: App, form: Form) -> str:
    """Record an idea."""
    entry = app.captures.todo(new_todo(_field(form, "text", "the idea")))
    return f"Recorded: {entry.title}"


def decide(app: App, form: Form) -> str:
    """Record a decision."""
    text = _field(form, "text", "the decision")
    app.memory.add_decision(Decision(form.get("phase", "").strip() or "0", text))
    return "The decision is recorded"


def repair_diff(app: App) -> str:
    """The repair of drift as a diff; empty if a person has to decide."""
    try:
        outcome = app.doctor.fix(None, dry_run=True)
    except FairleadError:
        return ""
    lines: list[str] = []
    for change in outcome.changes:
        old, new = (change.old or "").splitlines(), change.new.splitlines()
        lines += unified_diff(old, new, change.path, change.path, lineterm="", n=2)
    return "\n".join(lines)


def repair(app: App, _: Form) -> str:
    """Apply the repair that `repair_diff` shows."""
    outcome = app.doctor.fix(None)
    return f"Repaired {', '.join(outcome.paths)}" if outcome.paths else "Nothing to repair"


def recheck(app: App, form: Form) -> str:
    """Check the evidence of a plan again."""
    found = recheck_view(app, _field(form, "plan", "the plan"))
    if not found.entries:
        return f"{found.plan} has no ledger yet"
    return "; ".join(found.faults) or f"{found.entries} entries of {found.ledger} are unchanged"


ACTIONS: Mapping[str, Callable[[App, Form], str | StartedJob]] = {
    "answer": answer,
    "resume": resume,
    "start": start,
    "cancel": cancel,
    "veto": veto,
    "rule": rule,
    "retry": retry,
    "resolve-blocker": resolve_blocker,
    "capture": capture,
    "decide": decide,
    "repair": repair,
    "recheck": recheck,
}
