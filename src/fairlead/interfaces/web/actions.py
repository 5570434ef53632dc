"""What a person can do on the board. Each action calls the service that the command line calls.

The board shows a form only where the action is possible, but the service decides: it refuses what
is not, and its message is shown. Jobs are continued in the background.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairlead.app import App
from fairlead.core.errors import UsageError
from fairlead.interfaces.web.pages import recheck
from fairlead.jobs.model import COUNCIL
from fairlead.project.state.documents import Decision
from fairlead.project.todos import new_todo
from fairlead.text.inline import one_line

Form = Mapping[str, str]


def _field(form: Form, name: str, what: str) -> str:
    text = form.get(name, "").strip()
    if not text:
        raise UsageError.saying(f"{what} is missing", "fill in the field and send it again")
    return text


def answer(app: App, form: Form) -> str:
    """Answer a question of a job."""
    job = _field(form, "job", "the job")
    text = form.get("text", "").strip() or form.get("option", "").strip()
    prefix = form.get("option", "").strip()
    if prefix.endswith(":") and form.get("text", "").strip():
        text = f"{prefix} {form['text'].strip()}"
    if not text:
        raise UsageError.saying("the answer is missing", "choose one or write one")
    answered = app.jobs.answer(job, text, form.get("question", ""))
    return f"Answered {answered.id}. Continue the job with: {app.jobs.record(job).command}"


def cancel(app: App, form: Form) -> str:
    """End a job."""
    job = _field(form, "job", "the job")
    if app.jobs.record(job).kind == COUNCIL:
        stopped = app.council.stop(job, "cancel", "")
        return f"{stopped.id} is {stopped.status}"
    ended = app.jobs.cancel(job)
    return f"{ended.id} is {ended.status}"


def veto(app: App, form: Form) -> str:
    """Stop a council for good."""
    why = one_line(_field(form, "why", "the reason"), "the reason")
    stopped = app.council.stop(_field(form, "job", "the job"), "veto", why)
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
    return f"Created {child}. Start it with: fairlead run --job {child}"


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


def repair(app: App, _: Form) -> str:
    """Apply the repair that the board shows."""
    outcome = app.doctor.fix(None)
    return f"Repaired {', '.join(outcome.paths)}" if outcome.paths else "Nothing to repair"


def recheck_plan(app: App, form: Form) -> str:
    """Check the evidence of a plan again."""
    plan = _field(form, "plan", "the plan")
    return f"The evidence of {plan}: {recheck(app, plan)}"


ACTIONS: Mapping[str, Callable[[App, Form], str]] = {
    "answer": answer,
    "cancel": cancel,
    "veto": veto,
    "rule": rule,
    "retry": retry,
    "resolve-blocker": resolve_blocker,
    "capture": capture,
    "decide": decide,
    "repair": repair,
    "recheck": recheck_plan,
}
