"""Builds graphs and reports for one project from what the application and the files say.

A report must open even if parts of its job are damaged: a document that cannot be read is left out,
and a ledger that was changed is shown with its fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.core.errors import AgentError, DocumentError, FairleadError
from fairlead.council.model import CouncilJob
from fairlead.council.report import CouncilReport, plan_versions
from fairlead.jobs.errors import OtherJob
from fairlead.jobs.ledger import EntryKind, LedgerEntry, read_ledger
from fairlead.jobs.model import EXECUTE, Job, record_as
from fairlead.jobs.paths import ledger_path
from fairlead.report.content import (
    PlanEvidence,
    ReportedDocument,
    ReportFacts,
    job_page,
    phase_page,
)
from fairlead.report.graph import (
    council_graph,
    execution_graph,
    roadmap_graph,
    shows_plans,
    waves_graph,
)
from fairlead.store import layout
from fairlead.store.reader import Reader
from fairlead.vcs.git import Git
from fairlead.vcs.in_place import InPlace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairlead.app import App
    from fairlead.jobs.model import JobRecord
    from fairlead.plans.roadmap_report import PhaseDetails
    from fairlead.report.model import Graph, ReportPage
    from fairlead.vcs.model import FileLines


class Graphs:
    """The graphs of the project that an application is for."""

    def __init__(self, app: App) -> None:
        self._app = app

    def roadmap(self) -> Graph:
        """The phases of the current scope, with their plans unless there are too many.

        Refused if ROADMAP.md cannot be read: a picture of a part of it would look complete.
        """
        app = self._app
        Reader(app.place).load_if_present(layout.documents_of(app.step[2])[1])
        report = app.roadmaps.report()
        indexes = self._app.roadmaps.all_plans() if shows_plans(report) else ()
        return roadmap_graph(report, indexes)

    def phase(self, number: str) -> Graph:
        """The plans of a phase in their waves."""
        roadmaps = self._app.roadmaps
        index = roadmaps.plans(number)
        return waves_graph(index, roadmaps.details(number).phase.name)

    def job(self, name: str) -> Graph:
        """The stages of a council, or the plans of an execution."""
        jobs = self._app.jobs
        record = jobs.record(name)
        if council := record_as(CouncilJob, record):
            return council_graph(council, is_running=jobs.is_running(record))
        job = record_as(Job, record)
        if job is None or not job.plans:
            raise OtherJob(record.id, record.kind)
        report = jobs.report(job.id)
        return execution_graph(job, self._app.roadmaps.plans(job.phase), report.gates)


class Reports:
    """The reports of the project that an application is for."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._reader = Reader(app.place)

    def job(self, name: str) -> ReportPage:
        """The report of a job; without a name, of the newest."""
        jobs = self._app.jobs
        record = jobs.record(name)
        report = jobs.report(record.id)
        status = jobs.present(record).status
        if isinstance(report, CouncilReport):
            executions = self._executions(record.phase, record.started_at) if record.phase else ()
            facts = self._facts(record.phase, executions, report)
        else:
            facts = self._facts(record.phase, (report.job,))
        return job_page(facts, status)

    def phase(self, number: str) -> ReportPage:
        """The report of a phase."""
        phase = self._app.roadmaps.details(number).phase.number
        return phase_page(self._facts(phase, self._executions(phase)))

    def _executions(self, phase: str, since: str = "") -> tuple[Job, ...]:
        """The jobs that executed a phase, the oldest first."""
        return tuple(
            job
            for record in self._app.jobs.all()
            if (job := record_as(Job, record))
            and (job.kind, job.phase) == (EXECUTE, phase)
            and job.started_at >= since
        )

    def _facts(
        self, phase: str, jobs: tuple[Job, ...], council: CouncilReport | None = None
    ) -> ReportFacts:
        details = self._details(phase)
        plans = details.plans if details else ()
        named = {plan for job in jobs for plan in job.plans}
        wanted = [plan for plan in plans if not named or plan.id in named]
        reports = [self._app.jobs.report(job.id) for job in jobs]
        evidence = tuple(self._evidence(plan.id, jobs) for plan in wanted)
        questions = council.questions if council else ()
        verification = details.verification_file if details else ""
        return ReportFacts(
            phase=details,
            council=council,
            jobs=jobs,
            gates=tuple(gate for each in reports for gate in each.gates),
            questions=(*questions, *(q for each in reports for q in each.questions)),
            plans=self._documents(plan.path for plan in wanted),
            summaries=self._documents(plan.summary for plan in wanted if plan.summary),
            verification=next(iter(self._documents([verification] if verification else [])), None),
            master_plans=plan_versions(self._app.jobs, council.job) if council else (),
            evidence=tuple(each for each in evidence if each.entries or each.fault),
            files=self._files(evidence),
            graph=self._graph(council.job if council else jobs[-1] if jobs else None, phase),
        )

    def _details(self, phase: str) -> PhaseDetails | None:
        try:
            return self._app.roadmaps.details(phase) if phase else None
        except FairleadError:
            return None  # a quick task has no phase in the roadmap

    def _graph(self, record: JobRecord | None, phase: str) -> Graph | None:
        graphs = Graphs(self._app)
        try:
            return graphs.job(record.id) if record else graphs.phase(phase)
        except FairleadError:
            return None

    def _documents(self, paths: Iterable[str]) -> tuple[ReportedDocument, ...]:
        documents = []
        for path in paths:
            try:
                loaded = self._reader.load_for_display(path)
            except DocumentError:
                continue
            if loaded is not None:
                documents.append(ReportedDocument(path, loaded.text))
        return tuple(documents)

    def _evidence(self, plan: str, jobs: tuple[Job, ...]) -> PlanEvidence:
        workstream = jobs[-1].workstream if jobs else self._app.step[2]
        try:
            loaded = self._reader.load_if_present(ledger_path(plan, workstream))
            entries = read_ledger(loaded.text) if loaded else ()
        except DocumentError as error:
            return PlanEvidence(plan, (), error.message)
        known = {job.id for job in jobs}
        return PlanEvidence(plan, tuple(each for each in entries if not known or each.job in known))

    def _files(self, evidence: Iterable[PlanEvidence]) -> tuple[FileLines, ...]:
        """The lines that the merges of these plans changed."""
        workspace = self._app.workspace
        merges = [
            entry
            for ledger in evidence
            for entry in ledger.entries
            if entry.kind is EntryKind.MERGE
        ]
        total: dict[str, FileLines] = {}
        for entry in merges:
            for each in landed_lines(workspace, entry):
                seen = total.get(each.path)
                added, removed = (seen.added, seen.removed) if seen else (0, 0)
                lines = (each.added + added, each.removed + removed)
                total[each.path] = type(each)(each.path, *lines)
        return tuple(sorted(total.values(), key=lambda each: each.path))


def landed_lines(workspace: Git | InPlace, entry: LedgerEntry) -> tuple[FileLines, ...]:
    """The lines that a merge changed, by its ledger entry; none without git or its commit."""
    if not isinstance(workspace, Git):
        return ()
    # The ledger is in the repository, so its text is checked before it reaches git.
    commit = entry.tail.strip()
    if len(commit) not in (40, 64) or not all(each in "0123456789abcdef" for each in commit):
        return ()
    try:
        parent = workspace.commit_of(f"{commit}^1")
        return workspace.line_counts(parent, commit) if parent else ()
    except AgentError:
        return ()  # the commit is not in this clone
