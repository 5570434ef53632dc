"""What the pages show: for each page, the objects of `views` that its template gets.

Nothing is derived here. A page that needs a number asks for the object that `--json` prints.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fairlead.app import App
from fairlead.core.errors import DocumentError, FairleadError
from fairlead.council.report import CouncilReport, plan_versions
from fairlead.council.seats import SEAT_NAMES
from fairlead.interfaces.web.errors import NoPage
from fairlead.jobs.ledger import EntryKind, LedgerEntry, check, read_ledger
from fairlead.jobs.paths import ledger_path
from fairlead.report.formats import svg
from fairlead.report.html import rendered
from fairlead.report.model import GraphNode
from fairlead.report.service import Graphs
from fairlead.store.reader import Reader
from fairlead.text.document import Document
from fairlead.views.check import check_view
from fairlead.views.documents import document_view, folder_view
from fairlead.views.roadmap import milestones_view, plans_view, roadmap_view
from fairlead.views.status import next_view, status_view

_MOST_PLANS = 400  # on one page; the filter finds the others
_COLUMNS = ("waiting", "ready", "running", "blocked", "done")


def now_page(app: App, _: Mapping[str, str]) -> dict[str, Any]:
    """Progress, what runs, what waits, what failed, and drift."""
    status = status_view(app)
    jobs = app.jobs
    present = [(record, jobs.present(record)) for record in jobs.all()]
    failed = [pair for pair in present if str(pair[0].status) in ("FAILED", "BLOCKED")][-3:]
    return {
        "status": status,
        "next": next_view(app, status),
        "running": [_running(app, record, state) for record, state in present if state.is_running],
        "waiting": [
            {"job": job, "question": question, "command": command}
            for job, question, command in jobs.waiting()
        ],
        "interrupted": [state for _, state in present if state.state == "interrupted"],
        "failed": [state for _, state in reversed(failed)],
        "repair": _repair(app) if status.drift else "",
    }


def _running(app: App, record: Any, state: Any) -> dict[str, Any]:
    report = app.jobs.report(record.id)
    gates = [gate for gate in getattr(report, "gates", ()) if gate.gate.is_open]
    paid = getattr(report, "paid", ())
    cost = sum(call.cost_usd for call in paid)
    return {"job": state, "record": record, "gates": gates, "cost": cost, "last": paid[-1:]}


def _repair(app: App) -> str:
    """The repair of drift as a diff; empty if a person has to decide."""
    from difflib import unified_diff

    try:
        outcome = app.doctor.fix(None, dry_run=True)
    except FairleadError:
        return ""
    lines: list[str] = []
    for change in outcome.changes:
        old, new = (change.old or "").splitlines(), change.new.splitlines()
        lines += unified_diff(old, new, change.path, change.path, lineterm="", n=2)
    return "\n".join(lines)


def roadmap_page(app: App, place: Mapping[str, str]) -> dict[str, Any]:
    """Milestones as a timeline, phases and plans as a graph."""
    base = place["base"]

    def link(node: GraphNode) -> str:
        if node.document.endswith(".md"):
            return f"{base}/plans/{node.id}"
        return f"{base}/phases/{node.id.removeprefix('phase ')}"

    return {
        "roadmap": roadmap_view(app),
        "milestones": milestones_view(app.roadmaps.milestones())["milestones"],
        "graph": svg(Graphs(app).roadmap(), link=link),
    }


def phase_page(app: App, place: Mapping[str, str]) -> dict[str, Any]:
    """One phase: goal, plans in waves, documents."""
    number, base = place["number"], place["base"]
    details = app.roadmaps.details(number)
    graph = Graphs(app).phase(number)
    return {
        "details": details,
        "plans": plans_view(app, number),
        "graph": svg(graph, link=lambda node: f"{base}/plans/{node.id}") if graph.nodes else "",
    }


def plans_page(app: App, place: Mapping[str, str]) -> dict[str, Any]:
    """Every plan of the milestone by its state."""
    wanted, phase = place.get("q", "").casefold(), place.get("phase", "")
    gates = _open_gates(app)
    columns: dict[str, list[dict[str, Any]]] = {name: [] for name in _COLUMNS}
    shown = total = 0
    for index in app.roadmaps.all_plans():
        for entry in index.plans:
            total += 1
            text = f"{entry.id} {entry.objective} {' '.join(entry.files_modified)}".casefold()
            if (phase and index.phase != phase) or (wanted and wanted not in text):
                continue
            shown += 1
            if shown > _MOST_PLANS:
                continue
            here = gates.get(entry.id, [])
            columns[_column(entry, index, here)].append({"plan": entry, "gates": here})
    return {
        "columns": columns,
        "shown": min(shown, _MOST_PLANS),
        "found": shown,
        "total": total,
        "q": place.get("q", ""),
        "phase": phase,
        "phases": [each.number for each in roadmap_view(app).phases],
    }


def _column(entry: Any, index: Any, gates: list[Any]) -> str:
    if entry.has_summary and not entry.halted:
        return "done"
    if gates:
        return "running"
    if entry.halted or entry.blocked_by or any(fault.severity == "error" for fault in entry.faults):
        return "blocked"
    return "ready" if entry.id in index.runnable else "waiting"


def _open_gates(app: App) -> dict[str, list[Any]]:
    """The gates of open jobs, by plan."""
    gates: dict[str, list[Any]] = defaultdict(list)
    for job in app.jobs.open_jobs():
        for gate in getattr(app.jobs.report(job.id), "gates", ()):
            gates[gate.plan].append(gate)
    return gates


def plan_page(app: App, place: Mapping[str, str]) -> dict[str, Any]:
    """One plan with its evidence."""
    name = place["plan"]
    index, entry = _plan(app, name)
    details = app.roadmaps.details(index.phase)
    summary = next((plan.summary for plan in details.plans if plan.id == entry.id), "")
    path = ledger_path(entry.id, app.step[2])
    reader = Reader(app.place)
    fault = ""
    entries: tuple[LedgerEntry, ...] = ()
    try:
        loaded = reader.load_if_present(path)
        entries = read_ledger(loaded.text) if loaded else ()
    except DocumentError as error:
        fault = error.message
    gates = [gate for job in _jobs_of(app, index.phase) for gate in job.gates if gate.plan == name]
    return {
        "plan": entry,
        "phase": details.phase,
        "document": rendered(_text(reader, entry.path)),
        "summary": rendered(_text(reader, summary)) if summary else "",
        "ledger": path,
        "fault": fault,
        "entries": entries,
        "gates": gates,
        "diff": _diff(app, entries),
        "checked": place.get("checked", ""),
    }


def _plan(app: App, name: str) -> Any:
    for index in app.roadmaps.all_plans():
        for entry in index.plans:
            if entry.id == name:
                return index, entry
    raise NoPage(f"plan {name}")


def _jobs_of(app: App, phase: str) -> list[Any]:
    records = [record for record in app.jobs.all() if record.phase == phase]
    reports = [app.jobs.report(record.id) for record in records]
    return [report for report in reports if hasattr(report, "gates")]


def _text(reader: Reader, path: str) -> str:
    try:
        loaded = reader.load_for_display(path)
    except DocumentError:
        return ""
    return loaded.text if loaded else ""


def _diff(app: App, entries: tuple[LedgerEntry, ...]) -> list[Any]:
    from fairlead.report.service import landed_lines

    merges = [entry for entry in entries if entry.kind is EntryKind.MERGE]
    return [line for entry in merges for line in landed_lines(app.workspace, entry)]


def recheck(app: App, plan: str) -> str:
    """Check the ledger of a plan again; what is wrong, or that nothing is."""
    _, entry = _plan(app, plan)
    loaded = Reader(app.place).load_if_present(ledger_path(entry.id, app.step[2]))
    if loaded is None:
        return "there is no ledger"
    faults = check(loaded.text)
    return "; ".join(f"line {each.line}: {each.what}" for each in faults) or "unchanged"


def jobs_page(app: App, _: Mapping[str, str]) -> dict[str, Any]:
    """Every job, the newest first."""
    jobs = app.jobs
    return {
        "jobs": [(record, jobs.present(record)) for record in reversed(jobs.all())],
        "damaged": [str(problem) for problem in jobs.damaged()],
    }


def job_page(app: App, place: Mapping[str, str]) -> dict[str, Any]:
    """One job: stages, votes, gates, questions and cost."""
    record = app.jobs.record(place["job"])
    report = app.jobs.report(record.id)
    common = {
        "record": record,
        "present": app.jobs.present(record),
        "report": report,
        "questions": app.jobs.questions(record),
        "graph": _job_graph(app, record.id, place["base"]),
    }
    if isinstance(report, CouncilReport):
        return {**common, "is_council": True, **_council(app, report)}
    return {**common, "is_council": False, "cost": _cost_rows(report.paid)}


def _job_graph(app: App, job: str, base: str) -> str:
    def link(node: GraphNode) -> str:
        return f"{base}/plans/{node.id}" if node.document else ""

    try:
        return svg(Graphs(app).job(job), link=link)
    except FairleadError:
        return ""


def _council(app: App, report: CouncilReport) -> dict[str, Any]:
    from difflib import unified_diff
    from itertools import pairwise

    job = report.job
    rounds = sorted({ballot.round for ballot in job.cumulative_votes})
    votes = {(ballot.seat, ballot.round): ballot for ballot in job.cumulative_votes if ballot.final}
    plans = plan_versions(app.jobs, job)
    diffs = [
        "\n".join(
            unified_diff(old.splitlines(), new.splitlines(), f"v{at}", f"v{at + 1}", lineterm="")
        )
        for at, (old, new) in enumerate(pairwise(plans), 1)
    ]
    rows = [
        (stage, "", spent.tokens, spent.usd, 0.0) for stage, spent in job.usage.by_stage.items()
    ]
    return {
        "rounds": rounds,
        "votes": votes,
        "seats": SEAT_NAMES,
        "plan": rendered(plans[-1]) if plans else "",
        "diffs": diffs,
        "cost": rows,
    }


def _cost_rows(paid: Any) -> list[tuple[str, str, int, float, float]]:
    groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for call in paid:
        groups[call.kind, f"{call.agent} {call.model}".strip()].append(call)
    return [
        (
            kind,
            agent,
            sum(call.tokens for call in calls),
            sum(call.cost_usd for call in calls),
            sum(call.seconds for call in calls),
        )
        for (kind, agent), calls in sorted(groups.items())
    ]


def memory_page(app: App, _: Mapping[str, str]) -> dict[str, Any]:
    """Decisions, blockers, todos, sessions and velocity."""
    status = status_view(app)
    return {
        "status": status,
        "todos": app.captures.pending(),
        "sessions": app.sessions.offers(),
        "velocity": _section(app, "Performance Metrics"),
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


def documents_page(app: App, place: Mapping[str, str]) -> dict[str, Any]:
    """A folder of .planning, or one document."""
    path = place.get("path", "")
    if path.endswith(".md"):
        found = document_view(app, path)
        return {"path": path, "text": rendered(found.text), "is_cut": found.is_cut}
    return {"path": path, "folder": folder_view(app, path.strip("/")), "text": ""}


def check_page(app: App, _: Mapping[str, str]) -> dict[str, Any]:
    """What `check` finds."""
    return {"check": check_view(app.overview.comparisons())}
