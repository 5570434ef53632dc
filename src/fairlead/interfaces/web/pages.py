"""What the pages show: for each page, the objects of `views` that its template gets.

Nothing is derived here. A page that needs a number asks for the object that `--json` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fairlead.app import App
from fairlead.core.errors import FairleadError
from fairlead.council.report import CouncilReport
from fairlead.jobs.paths import EVENTS, job_path
from fairlead.project.overview import StatusReport
from fairlead.report.formats import svg
from fairlead.report.graph import milestones_graph
from fairlead.report.html import rendered
from fairlead.report.model import GraphNode
from fairlead.report.service import Graphs, landed_lines
from fairlead.text.document import Document
from fairlead.views.actions import STARTED_KINDS, repair_diff
from fairlead.views.board import PlanState, attention_view, plan_cards
from fairlead.views.cluster import has_cluster
from fairlead.views.council import council_table
from fairlead.views.documents import document_view, folder_view
from fairlead.views.evidence import plan_evidence_view
from fairlead.views.history import state_history_view
from fairlead.views.jobs import event_lines, job_request, job_title
from fairlead.views.questions import answer_to
from fairlead.views.roadmap import milestones_view, plans_view, roadmap_view
from fairlead.views.spending import spending_rows
from fairlead.views.status import next_view, status_view

_MOST_PLANS = 300  # on one page; the filter finds the others
_MOST_PHASES = 60  # in a table; the others are a click away
_MOST_JOBS = 100
_MOST_DRAWN = 120  # phases in the graph; above this it shows milestones and ranges of phases
_EVENTS = 40  # of a job

Place = Mapping[str, str]


def _shared(app: App, name: str, make: Callable[[], Any]) -> Any:
    """A value that all requests of one round share."""
    if app.cache is None:
        return make()
    found = app.cache.current(name)
    return app.cache.value(name, None, make) if found is None else found


def _status(app: App) -> StatusReport:
    status: StatusReport = _shared(app, "status", lambda: status_view(app))
    return status


def _present(app: App) -> list[Any]:
    """Every job with its present state, the newest first."""
    jobs = app.jobs
    found: list[Any] = _shared(
        app, "jobs", lambda: [(each, jobs.present(each)) for each in reversed(jobs.all())]
    )
    return found


def common(app: App) -> dict[str, Any]:
    """What the head of every page shows: how much waits, runs and has drifted."""
    items = _shared(app, "attention", lambda: _attention(app))
    counts = {"waits": 0, "running": 0, "failed": 0}
    for item in items:
        state = "waits" if item.question or item.job.state == "waits" else item.job.state
        key = {"waits": "waits", "running": "running"}.get(str(state), "failed")
        counts[key] += 1
    return {"counts": counts, "has_cluster": _shared(app, "cluster", lambda: has_cluster(app))}


def _attention(app: App) -> Any:
    return attention_view(app, tuple(job for _, job in _present(app)))


def _titles(app: App, jobs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """What each job is about, by its id."""
    try:
        phases = _status(app).phases
    except FairleadError:  # jobs are shown also where the documents cannot be read
        phases = ()
    names = {each.number: each.name for each in phases}
    return {record.id: job_title(record, names) for record, _ in jobs}


def now_page(app: App, _: Place) -> dict[str, Any]:
    """Progress, what runs, what waits, what failed, and drift."""
    status = _status(app)
    items = _shared(app, "attention", lambda: _attention(app))
    running = [item.job for item in items if item.job.is_running]
    named = {job.id for job in running}
    others = [item.job for item in items if item.job.id not in named and not item.question]
    listed = {item.job.id for item in items}
    at = next((at for at, each in enumerate(status.phases) if each.number == status.phase), 0)
    first = max(0, min(at - _MOST_PHASES // 3, len(status.phases) - _MOST_PHASES))
    return {
        "status": status,
        "next": _shared(app, "next", lambda: next_view(app, status)),
        "waiting": [item for item in items if item.question],
        "running": [_running(app, job) for job in dict.fromkeys(running)],
        "others": others,
        "titles": _titles(app, [each for each in _present(app) if each[0].id in listed]),
        "phases": status.phases[first : first + _MOST_PHASES],
        "repair": _shared(app, "repair", lambda: repair_diff(app)) if status.drift else "",
        "kinds": STARTED_KINDS,
    }


def _running(app: App, job: Any) -> dict[str, Any]:
    report = app.jobs.report(job.id)
    gates = [gate for gate in getattr(report, "gates", ()) if gate.gate.is_open]
    if isinstance(report, CouncilReport):
        usage = report.job.usage
        spent = {"usd": usage.total_cost_usd, "tokens": usage.total_tokens, "estimated": False}
        what = report.headline
    else:
        paid = report.paid
        spent = {
            "usd": sum(call.cost_usd for call in paid),
            "tokens": sum(call.tokens for call in paid),
            "estimated": any(call.is_estimated for call in paid),
        }
        what = report.job.subject
    record = report.job
    return {
        "job": job,
        "record": record,
        "gates": gates,
        "spent": spent,
        "what": what,
        "agent": getattr(record, "agent", ""),
        "last": event_lines(_journal(app, job.id), 1),
    }


def roadmap_page(app: App, place: Place) -> dict[str, Any]:
    """Milestones as a timeline, phases and plans as a graph."""
    base = place["base"]

    def link(node: GraphNode) -> str:
        if node.document.endswith(".md"):
            return f"{base}/plans/{node.id}"
        if node.id.startswith("phase "):
            return f"{base}/phases/{node.id.removeprefix('phase ')}"
        return f"{base}/roadmap?from={node.group}#phases" if node.group else ""

    roadmap, milestones = roadmap_view(app), app.roadmaps.milestones()
    is_large = len(roadmap.phases) > _MOST_DRAWN
    graph = milestones_graph(roadmap, milestones) if is_large else Graphs(app).roadmap()
    first = _number(place.get("from", ""))
    return {
        "roadmap": roadmap,
        "phases": roadmap.phases[first : first + _MOST_PHASES],
        "first": first,
        "step": _MOST_PHASES,
        "milestones": milestones_view(milestones)["milestones"],
        "graph": svg(graph, link=link),
        "is_grouped": is_large,
    }


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def phase_page(app: App, place: Place) -> dict[str, Any]:
    """One phase: goal, plans in waves, documents."""
    number, base = place["number"], place["base"]
    details = app.roadmaps.details(number)
    graph = Graphs(app).phase(number)
    return {
        "details": details,
        "plans": plans_view(app, number),
        "graph": svg(graph, link=lambda node: f"{base}/plans/{node.id}") if graph.nodes else "",
    }


def plans_page(app: App, place: Place) -> dict[str, Any]:
    """The plans of the scope by state: those around the current phase, or those that match."""
    wanted, phase = place.get("q", "").strip().casefold(), place.get("phase", "")
    state = place.get("state", "")
    status = _status(app)
    numbers = [each.number for each in status.phases if each.total_plans]
    if phase:
        chosen = [number for number in numbers if number == phase]
    else:
        chosen = numbers if wanted else _around(status, numbers)
    cards = plan_cards(app, chosen)
    found = [
        card
        for card in cards
        if (not wanted or wanted in _words(card)) and (not state or card.state == state)
    ]
    columns: dict[str, list[Any]] = {str(name): [] for name in PlanState}
    for card in found[:_MOST_PLANS]:
        columns[card.state].append(card)
    return {
        "columns": {name: each for name, each in columns.items() if not state or name == state},
        "shown": min(len(found), _MOST_PLANS),
        "found": len(found),
        "total": sum(each.total_plans for each in status.phases),
        "is_window": not (phase or wanted) and len(chosen) < len(numbers),
        "q": place.get("q", ""),
        "phase": phase,
        "state": state,
        "states": [str(each) for each in PlanState],
        "numbers": numbers,
    }


def _around(status: StatusReport, numbers: list[str]) -> list[str]:
    """The phases whose plans fit on a page: the current one, the next ones, then the last done."""
    sizes = {each.number: each.total_plans for each in status.phases}
    at = numbers.index(status.phase) if status.phase in numbers else max(0, len(numbers) - 1)
    chosen: list[str] = []
    left = _MOST_PLANS
    for number in [*numbers[at:], *reversed(numbers[:at])]:
        left -= sizes[number]
        if left < 0 and chosen:
            break
        chosen.append(number)
    return [number for number in numbers if number in set(chosen)]


def _words(card: Any) -> str:
    plan = card.plan
    return f"{plan.id} {plan.objective} {' '.join(plan.files_modified)}".casefold()


def plan_page(app: App, place: Place) -> dict[str, Any]:
    """One plan with its evidence."""
    shown = plan_evidence_view(app, place["plan"])
    lines = [line for entry in shown.merges for line in landed_lines(app.workspace, entry)]
    return {
        "shown": shown,
        "document": rendered(shown.document),
        "tasks": [(task, _parts(task)) for task in shown.tasks],
        "summary": rendered(shown.summary) if shown.summary else "",
        "diff": lines,
    }


def _parts(task: Any) -> list[tuple[str, str]]:
    """The elements of a task as HTML, by the words for their tags."""
    return [
        (tag.replace("-", " ").replace("_", " "), rendered(text))
        for tag, text in task.body
        if tag not in ("name", "files", "verify") and text.strip()
    ]


def jobs_page(app: App, place: Place) -> dict[str, Any]:
    """Every job, the newest first."""
    first, state = _number(place.get("from", "")), place.get("state", "")
    jobs = [each for each in _present(app) if not state or each[1].state == state]
    shown = jobs[first : first + _MOST_JOBS]
    return {
        "jobs": shown,
        "titles": _titles(app, shown),
        "count": len(jobs),
        "first": first,
        "step": _MOST_JOBS,
        "state": state,
        "states": ("waits", "running", "interrupted", "open", "ended"),
        "damaged": [str(problem) for problem in app.jobs.damaged()],
        "kinds": STARTED_KINDS,
    }


def job_page(app: App, place: Place) -> dict[str, Any]:
    """One job: stages, votes, gates, questions, events, cost and time."""
    record = app.jobs.record(place["job"])
    report = app.jobs.report(record.id)
    is_council = isinstance(report, CouncilReport)
    table = council_table(app, report) if isinstance(report, CouncilReport) else None
    present = app.jobs.present(record)
    title = _titles(app, [(record, present)])[record.id]
    return {
        "record": record,
        "title": title,
        "request": job_request(record) or title,
        "present": present,
        "report": report,
        "questions": app.jobs.questions(record),
        "graph": _job_graph(app, record.id, place["base"]),
        "spending": spending_rows(report),
        "events": event_lines(_journal(app, record.id), _EVENTS),
        "is_council": is_council,
        "table": table,
        "plan": rendered(table.plan) if table and table.plan else "",
    }


def _journal(app: App, job: str) -> str:
    loaded = app.jobs.files.peek(job_path(job, EVENTS))
    return loaded.text if loaded else ""


def _job_graph(app: App, job: str, base: str) -> str:
    def link(node: GraphNode) -> str:
        return f"{base}/plans/{node.id}" if node.document else ""

    try:
        return svg(Graphs(app).job(job), link=link)
    except FairleadError:
        return ""


def workers_page(_app: App, _: Place) -> dict[str, Any]:
    """Nothing of the project: the server of the board asks the cluster itself."""
    return {}


def memory_page(app: App, _: Place) -> dict[str, Any]:
    """Decisions, blockers, todos, sessions, velocity, and the history of STATE.md."""
    return {
        "status": _status(app),
        "todos": app.captures.pending(),
        "sessions": app.sessions.offers(),
        "velocity": _section(app, "Performance Metrics"),
        "history": state_history_view(app),
    }


def _section(app: App, title: str) -> str:
    """A section of STATE.md as HTML; empty if there is none."""
    try:
        document = Document(app.events.text())
    except FairleadError:
        return ""
    section = document.section(title)
    if section is None:
        return ""
    return rendered("\n".join(line.text for line in document.section_lines(section)[1:]))


def documents_page(app: App, place: Place) -> dict[str, Any]:
    """A folder of .planning, or one document."""
    path = place.get("path", "")
    if path.endswith(".md"):
        found = document_view(app, path)
        return {"path": path, "text": rendered(found.text), "is_cut": found.is_cut}
    return {"path": path, "folder": folder_view(app, path.strip("/")), "text": ""}


def question_page(app: App, place: Place) -> Any:
    """The object that `--json` prints for the same question."""
    return answer_to(app, place["question"], place.get("name", ""))
