"""Turns an approved master plan into a phase with plans, and has the phase executed.

The phase and all its documents are made in one write that names the hash of the plan. An
interrupted bridge, or a retry with the same plan, finds that phase instead of making another. The
phase is executed by an execution job or by the host's own command, as one process that is never
started twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from fairlead.agents.budget import Cost, Prices
from fairlead.agents.model import AgentCall, AgentEvent, CallLimits, CallResult, EndKind
from fairlead.core.ids import PhaseId
from fairlead.core.values import replace
from fairlead.council import paths as names
from fairlead.council.decide import ExecutionEnd
from fairlead.council.errors import PlanTampered
from fairlead.council.master_plan import MasterPlan, read_master_plan, split_into_plans
from fairlead.council.model import CouncilJob, ExecutionRecord
from fairlead.council.seats import HOST
from fairlead.execution.errors import NothingToExecute
from fairlead.jobs.calls import CallRecorder, RecordedAgent
from fairlead.jobs.context import Cancellation, JobSetup
from fairlead.jobs.folder import proven_records
from fairlead.jobs.model import EXECUTE, Job, JobStatus
from fairlead.jobs.raw_answers import RawAnswer
from fairlead.plans.check import require_verify_commands
from fairlead.plans.documents import new_plan, read_plan
from fairlead.project.derive.inventory import PhaseFolder, Proof
from fairlead.project.derive.scan import scan
from fairlead.project.naming import folder_for
from fairlead.project.paths import PHASES
from fairlead.project.phases import Phases
from fairlead.project.state.documents import moment
from fairlead.store import layout
from fairlead.store.files import Edit
from fairlead.text.fast_frontmatter import read_front
from fairlead.text.inline import file_name
from fairlead.workflows.artefacts import Parts, unwrapped

if TYPE_CHECKING:
    from fairlead.council.context import CouncilContext
    from fairlead.execution.service import Execution

_TAIL = 2000  # characters of output that the record keeps
_STALL = timedelta(minutes=10)  # of silence before a warning
_SHA = "master_plan_sha256"  # in CONTEXT.md: the plan that a phase was made from


class ExecutionBridge:
    """Carries one approved council job over to execution."""

    def __init__(self, context: CouncilContext) -> None:
        self._context = context
        self._files = context.files
        self._workspace = context.workspace

    # -- before ----------------------------------------------------------------------------

    def preflight_faults(self, record: CouncilJob) -> tuple[str, ...]:
        """List the reasons against executing."""
        faults = []
        if not self._is_intact(record):
            faults.append(f"{names.MASTER_PLAN} is not the plan that was approved")
        if not self._has_hash(names.BRIEF, record.pm.sha256):
            faults.append(f"{names.BRIEF} is not the brief that the plan was made for")
        if self._workspace.is_git:
            if not self._workspace.branch():
                faults.append("HEAD is detached: work lands on a branch")
            elif dirty := self._workspace.dirty_paths(layout.PLANNING):
                paths = ", ".join(map(file_name, dirty[:5]))
                faults.append(f"the tree has changes that are not committed: {paths}")
        if not self._files.exists(layout.ROADMAP):
            faults.append(f"{layout.ROADMAP} is missing, so there is no place for a phase")
        if self._context.council.bridge == HOST:
            if not self._workspace.is_git:
                faults.append("the host bridge needs a git repository")
            execution = self._context.execution
            faults += execution.host_faults if execution else ("no host agent is known",)
        return tuple(faults)

    def _is_intact(self, record: CouncilJob) -> bool:
        plan = record.master_plan
        return plan is not None and self._has_hash(names.MASTER_PLAN, plan.sha256)

    def _has_hash(self, name: str, sha256: str) -> bool:
        content = self._context.folder.document_bytes(name)
        return hashlib.sha256(content).hexdigest() == sha256

    def with_phase(self, record: CouncilJob) -> CouncilJob:
        """Return the job with its phase, which is made unless an earlier run made it."""
        assert record.master_plan is not None
        folder = self._phase_made_for(record)
        if folder is None:
            self._make_phase(record)
            folder = self._phase_made_for(record)
        assert folder is not None, "the phase was made just now"
        self._commit(record, folder, "the plan that the council approved")
        context, now = self._context, self._context.clock.now()
        is_hosted = context.council.bridge == HOST
        earlier = _execution_jobs(self._proven_jobs(), str(folder.id))
        execution = replace(
            record.exec,
            attempt=record.exec.attempt + 1,
            started_at=moment(now),
            deadline=moment(now + context.council.host_wall) if is_hosted else None,
            plans=len(folder.live_plans),
            base=self._workspace.commit_of("HEAD") if self._workspace.is_git else "",
            earlier=tuple(job.id for job in earlier),
        )
        return replace(record, phase=str(folder.id), exec=execution)

    def _phase_made_for(self, record: CouncilJob) -> PhaseFolder | None:
        """Return the phase that was made from the plan of this job or, for a retry, of its parent.

        The hash in CONTEXT.md alone proves nothing: a seat that has read the plan can compute it.
        So the plans must be the ones that this plan leads to, unless a parent's record names the
        phase: there, an execution may have added to them.
        """
        assert record.master_plan is not None
        sha256 = record.master_plan.sha256
        known = {parent.load(CouncilJob).phase for parent in self._context.parents}
        for folder in scan(self._files.folder).folders:
            loaded = self._files.peek(_context_path(folder))
            if loaded is None or read_front(loaded.text).get(_SHA) != sha256:
                continue
            if str(folder.id) in known - {""} or self._has_own_plans(record, folder):
                return folder
        return None

    def _has_own_plans(self, record: CouncilJob, folder: PhaseFolder) -> bool:
        if folder.id is None:
            return False
        plan = read_master_plan(self._context.folder.document(names.MASTER_PLAN))
        slug = folder.path.rpartition("/")[2]
        made = self._documents(record, plan, folder.id, slug)
        is_plan = "-PLAN.md"
        expected = {name: text for name, text in made.items() if name.endswith(is_plan)}
        present = [name for name in self._files.names(folder.path) if name.endswith(is_plan)]
        texts = {name: self._files.peek(f"{folder.path}/{name}") for name in present}
        return expected == {name: loaded.text for name, loaded in texts.items() if loaded}

    def _make_phase(self, record: CouncilJob) -> None:
        plan = read_master_plan(self._context.folder.document(names.MASTER_PLAN))

        def documents(number: PhaseId) -> dict[str, Edit]:
            siblings = [other.path.rpartition("/")[2] for other in scan(self._files.folder).folders]
            slug = folder_for(number, plan.title, siblings)
            texts = self._documents(record, plan, number, slug)
            return {f"{PHASES}/{slug}/{name}": _always(text) for name, text in texts.items()}

        goal = " ".join(plan.goal.split())
        phases = Phases(self._files, self._context.clock)
        change = phases.add(plan.title, goal=goal, also=documents)
        self._context.tell("bridged", record.job_id, change.folder, phase=change.phase)

    def _documents(
        self, record: CouncilJob, plan: MasterPlan, number: PhaseId, slug: str
    ) -> dict[str, str]:
        """Return CONTEXT, RESEARCH and the plans of the phase, by file name."""
        folder, prefix = self._context.folder, number.padded
        sha256 = record.master_plan.sha256 if record.master_plan else ""
        mark = "rehearsed: true\n" if record.is_rehearsed else ""
        head = f"---\nphase: {slug}\njob: {record.job_id}\n{_SHA}: {sha256}\n{mark}---\n\n"
        parts = Parts(folder.document(names.MASTER_PLAN))
        documents = {
            f"{prefix}-CONTEXT.md": head + _context_text(record, plan, parts),
            f"{prefix}-RESEARCH.md": head + _research_text(folder.answers()),
        }
        for document in split_into_plans(plan, prefix, slug):
            require_verify_commands(document)
            text = new_plan(document).replace("must_haves:", f"{mark}must_haves:", 1)
            documents[f"{document.id}-PLAN.md"] = text
        return documents

    def commit_record(self) -> None:
        """Commit the record of a job whose execution is over."""
        record = self._context.folder.load(CouncilJob)
        folder = self._phase_folder(record)
        if folder and record.status in (JobStatus.DONE, JobStatus.FAILED):
            self._commit(record, folder, f"record the council job, {record.status}")

    def _commit(self, record: CouncilJob, folder: PhaseFolder, what: str) -> None:
        """Commit the documents of the phase and of the job; without changes, nothing happens."""
        execution = self._context.execution
        is_wanted = execution is not None and execution.options.keeps_documents
        if not self._workspace.is_git or not is_wanted:
            return
        self._context.folder.show_answers()  # what no call gave is not committed as an answer
        inside = [f"{folder.path}/{name}" for name in self._files.names(folder.path)]
        own = self._context.folder.paths()
        paths = [layout.STATE, layout.ROADMAP, layout.REQUIREMENTS, *inside, *own]
        present = [path for path in paths if self._files.exists(path)]
        message = f"docs(phase-{folder.id}): {what}\n\nJob: {record.job_id}\n"
        self._workspace.commit_paths(present, message)

    # -- execution -------------------------------------------------------------------------

    def execute(self, execution: Execution) -> None:
        """Execute the phase, or resume it; `execution_end` reads the result from disk."""
        record = self._context.folder.load(CouncilJob)
        if not self._is_intact(record):
            raise PlanTampered(record.job_id)
        if _is_hosted(record):
            self._execute_by_host(record)
        else:
            self._execute_by_job(execution, record)

    def _execute_by_job(self, execution: Execution, record: CouncilJob) -> None:
        context, plan = self._context, self._context.execution
        assert plan is not None
        is_rehearsed = record.is_rehearsed
        try:
            preview = execution.preview(record.phase, is_rehearsed=is_rehearsed)
        except NothingToExecute:
            return  # every plan has its summary
        if context.may_run_commands:
            execution.approve(preview)
            preview = execution.preview(record.phase, is_rehearsed=is_rehearsed)
        cancellation = Cancellation(context.stop, context.over)
        setup = JobSetup(plan.roster, plan.options, plan.events(), cancellation)
        execution.carry_out(preview, setup)

    def _execute_by_host(self, record: CouncilJob) -> None:
        context = self._context
        assert context.execution is not None
        assert context.execution.host is not None
        if record.exec.session_id:
            return  # it was started before; its end is classified from the files
        # The session is recorded before the process starts, so that it is never started twice.
        session = context.new_token()
        record = replace(record, exec=replace(record.exec, session_id=session))
        context.folder.save_record(record)
        command = context.council.host_command.replace("{phase}", record.phase)
        context.tell("host", record.job_id, command, phase=record.phase)
        wall, stall = context.council.host_wall, _StallWarning(context)
        host = RecordedAgent(context, context.execution.host, HOST, CallRecorder())
        result = host.start(
            AgentCall(
                role=HOST,
                prompt=command,
                folder=self._files.folder,
                raw=f"{context.private}/exec",
                job=context.process_mark,
                session=session,
                limits=CallLimits(wall=wall, first_event=wall, idle=wall),
            ),
            stall.note_event,
            stall.is_wanted,
        )
        context.folder.save_record(replace(record, exec=_with_host_result(record.exec, result)))

    # -- after -----------------------------------------------------------------------------

    def execution_end(self, record: CouncilJob) -> ExecutionEnd | None:
        """Return the facts about an execution that is over; None: it is running or waiting."""
        folder = self._phase_folder(record)
        if folder is None:
            return None
        if _is_hosted(record):
            return self._host_end(record, folder) if record.exec.session_id else None
        plans, summaries = len(folder.live_plans), self._summary_count(record, folder)
        job = self._execution_job(record)
        if job is None:  # not begun, or not needed because every plan has its summary
            unproven = [Proof.NONE, Proof.EMPTY]
            unproven += [] if record.is_rehearsed else [Proof.REHEARSED]
            is_left = any(plan.proof in unproven for plan in folder.live_plans)
            return None if is_left else ExecutionEnd(plans, summaries, 0)
        if job.status not in (JobStatus.DONE, JobStatus.FAILED):
            return None
        return ExecutionEnd(plans, summaries, 0 if job.status is JobStatus.DONE else 1)

    def _host_end(self, record: CouncilJob, folder: PhaseFolder) -> ExecutionEnd:
        execution = record.exec
        head = self._workspace.commit_of("HEAD")
        changed = {change.path for change in self._workspace.changes(execution.base, head)}
        plans = [
            read_plan(plan.path, self._files.load(plan.path).text) for plan in folder.live_plans
        ]
        return ExecutionEnd(
            len(plans),
            self._summary_count(record, folder),
            execution.exit_code,
            timed_out=execution.timed_out,
            is_error=execution.is_error,
            committed=sum(bool(changed.intersection(plan.files)) for plan in plans),
            is_clean=not self._workspace.dirty_paths(layout.PLANNING),
        )

    def _execution_job(self, record: CouncilJob) -> Job | None:
        return execution_of(record, self._proven_jobs())

    def _proven_jobs(self) -> Iterator[Job]:
        return proven_records(self._files, Job, self._context.environment.folder)

    def with_result(self, record: CouncilJob, warning: str) -> CouncilJob:
        """Return the job with the result of its execution."""
        folder = self._phase_folder(record)
        job = self._execution_job(record)
        if job and job.status in (JobStatus.EXECUTING, JobStatus.BLOCKED):
            self._end_execution(job)  # a retry starts a new one, with all its attempts
        execution = replace(
            record.exec,
            warning=warning,
            job=job.id if job and not _is_hosted(record) else "",
            plans=len(folder.live_plans) if folder else 0,
            summaries=self._summary_count(record, folder) if folder else 0,
        )
        return replace(record, exec=execution)

    def _end_execution(self, job: Job) -> None:
        note = f"ended with {self._context.folder.job}"
        ended = replace(job, status=JobStatus.FAILED, ended_at=self._context.now(), note=note)
        self._context.environment.folder(job.id).save_record(ended)

    def _phase_folder(self, record: CouncilJob) -> PhaseFolder | None:
        folders = scan(self._files.folder).folders
        return next((folder for folder in folders if str(folder.id) == record.phase), None)

    def _summary_count(self, record: CouncilJob, folder: PhaseFolder) -> int:
        """Count the valid summaries that are newer than the phase."""
        proven = (Proof.COMPLETE, Proof.REHEARSED) if record.is_rehearsed else (Proof.COMPLETE,)
        since = self._files.changed_at(_context_path(folder))
        return sum(
            plan.proof in proven and self._files.changed_at(plan.summary) >= since
            for plan in folder.live_plans
        )


def execution_of(record: CouncilJob, jobs: Iterable[Job]) -> Job | None:
    """Return the newest execution job that was started for a council job."""
    if not record.phase:
        return None
    started = [
        job for job in _execution_jobs(jobs, record.phase) if job.id not in record.exec.earlier
    ]
    return started[-1] if started else None


def _execution_jobs(jobs: Iterable[Job], phase: str) -> list[Job]:
    return [job for job in jobs if (job.kind, job.phase) == (EXECUTE, phase)]


class _StallWarning:
    """Warns once when a host has been silent for long; the host goes on."""

    def __init__(self, context: CouncilContext) -> None:
        self._context = context
        self._last_event = context.clock.now()
        self._has_warned = False

    def note_event(self, _event: AgentEvent) -> None:
        """Restart the wait."""
        self._last_event, self._has_warned = self._context.clock.now(), False

    def is_wanted(self) -> bool:
        """Whether the host should go on; the supervisor of the process polls this."""
        if not self._has_warned and self._context.clock.now() - self._last_event >= _STALL:
            self._has_warned = True
            minutes = _STALL.seconds // 60
            text = f"no sign of life for {minutes} minutes; it goes on"
            self._context.tell("stall", HOST, text)
        return not self._context.over.is_set


def _is_hosted(record: CouncilJob) -> bool:
    """Whether the host executes the plan: as the execution began, not as the settings are now."""
    return record.exec.deadline is not None


def _with_host_result(execution: ExecutionRecord, result: CallResult) -> ExecutionRecord:
    used, cost = result.usage, result.cost_usd
    if cost is None:
        cost = Prices().cost(used.tokens_in, used.tokens_out)
    return replace(
        execution,
        exit_code=result.exit_code,
        timed_out=result.kind in (EndKind.TIMEOUT, EndKind.IDLE),
        is_error=result.kind is not EndKind.OK or not (result.text or used.tokens_out),
        spent=Cost(used.tokens_in + used.tokens_out, cost),
        stdout_tail=result.text[-_TAIL:],
        stderr_tail=result.error[-_TAIL:],
    )


def _context_text(record: CouncilJob, plan: MasterPlan, parts: Parts) -> str:
    lines = [f"# {plan.title}: context", "", f"Goal: {plan.goal}", ""]
    for title in ("Decisions", "Dissent", "Risks"):
        lines += [f"## {title}", "", parts.prose(title.casefold()) or "None", ""]
    lists = {
        "Rulings": [f"{ruling.id}: {ruling.text}" for ruling in record.rulings],
        "Degraded": record.degraded,
    }
    for title, items in lists.items():
        lines += [f"## {title}", "", *(f"- {item}" for item in items), ""] if items else []
    return "\n".join(lines)


def _research_text(calls: Mapping[str, RawAnswer]) -> str:
    texts = []
    for name in ("audit", "research"):
        keys = [names.pm_key(name, cycle) for cycle in (2, 1)]
        answers = [calls[key].text for key in keys if key in calls]
        texts += [f"# {name.capitalize()}\n\n{unwrapped(text).strip()}" for text in answers[:1]]
    return "\n\n".join(texts) + "\n"


def _context_path(folder: PhaseFolder) -> str:
    prefix = folder.id.padded if folder.id else ""
    return f"{folder.path}/{prefix}-CONTEXT.md"


def _always(text: str) -> Edit:
    return lambda _: text
