"""The questions that every interface answers with the same object.

`--json`, MCP and the web board may phrase and place a question differently. What they return for
it is built here or in the module of its subject, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from fairlead.core.errors import UsageError
from fairlead.views.check import check_view
from fairlead.views.explain import EXPLAINED, explain_view
from fairlead.views.history import state_history_view
from fairlead.views.jobs import job_list_view, job_view
from fairlead.views.memory import handovers_view, todos_view
from fairlead.views.roadmap import (
    milestones_view,
    phase_view,
    phases_view,
    plans_view,
    roadmap_view,
)
from fairlead.views.status import next_view, status_view

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.project.health.explain import Explanation

Asked = Callable[["App", str], Any]


def jobs_question(app: App, _: str = "") -> dict[str, Any]:
    """Every job with its present state."""
    jobs = [(record, app.jobs.present(record)) for record in app.jobs.all()]
    return job_list_view(jobs, app.jobs.damaged())


def job_question(app: App, job: str) -> dict[str, Any]:
    """One job; without a name, the newest."""
    record = app.jobs.record(job)
    return job_view(app.jobs.report(record.id), app.jobs.present(record))


def _explained(what: str, app: App, name: str) -> Explanation:
    return explain_view(app, what, name)


QUESTIONS: Mapping[str, Asked] = {
    "status": lambda app, _: status_view(app),
    "next": lambda app, _: next_view(app, status_view(app)),
    "check": lambda app, _: check_view(app.overview.comparisons()),
    "ledgers": lambda app, _: app.ledgers(),
    "roadmap": lambda app, _: roadmap_view(app),
    "phases": lambda app, _: phases_view(app.roadmaps.phases(), archived=False),
    "phase": phase_view,
    "plans": plans_view,
    "milestones": lambda app, _: milestones_view(app.roadmaps.milestones()),
    "jobs": jobs_question,
    "job": job_question,
    "todos": lambda app, _: todos_view(app.captures.pending()),
    "handovers": lambda app, _: handovers_view(app.sessions.offers()),
    "history": lambda app, _: state_history_view(app),
    **{f"explain-{what}": partial(_explained, what) for what in EXPLAINED},
}


def answer_to(app: App, question: str, name: str = "") -> Any:
    """The object that answers a question; `name` is the phase, the plan or the job it is about."""
    if question not in QUESTIONS:
        raise UsageError.saying(f"there is no question {question}", f"ask: {', '.join(QUESTIONS)}")
    return QUESTIONS[question](app, name)
