"""The bridge: an approved master plan becomes a phase with plans, and the phase is carried out.

The phase and all its documents are made in one step that names the plan's hash, so that a bridge
that was interrupted, or a retry with the same plan, finds it instead of making another. Either
our own engine carries the phase out, or the host's own command does, in one process that is
never started twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from fairlead.engine.phases import Phases
from fairlead.errors import NothingToExecute, PlanTampered
from fairlead.model.agent_events import AgentEvent, Ending, EndKind
from fairlead.model.agent_orders import Limits, Order
from fairlead.model.budget import Prices, Spent
from fairlead.model.calls import Call
from fairlead.model.council_job import CouncilJob, Exec
from fairlead.model.ending import Ended
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Folder, Proof
from fairlead.model.job import Job, JobStatus
from fairlead.records.answer_parts import Parts, unwrapped
from fairlead.records.master_plan import MasterPlan, read_master_plan, split
from fairlead.records.naming import folder_for
from fairlead.records.plan_sheet import new_plan, read_plan
from fairlead.records.state import moment
from fairlead.store import layout
from fairlead.store import layout_council as names
from fairlead.store.files import Edit
from fairlead.store.jobs import JobFiles, job_records
from fairlead.store.scan import scan
from fairlead.text.inline import file_name
from fairlead.text.quick import read_front
from fairlead.values import replace

if TYPE_CHECKING:
    from fairlead.engine.council_site import CouncilSite, Meeting
    from fairlead.engine.execution import Execution

HOST = "host"
_TAIL = 2000  # characters of a program's last words
_STALL = timedelta(minutes=10)  # of silence, until it is said
_SHA = "master_plan_sha256"  # in CONTEXT.md: which plan a phase was made from


class Bridge:
    """Carries one approved job over to execution."""

    def __init__(self, site: CouncilSite) -> None:
        self._site = site

    # -- before ----------------------------------------------------------------------------

    def faults(self, record: CouncilJob) -> tuple[str, ...]:
        """What stands against executing, in so many words."""
        site = self._site
        found = []
        if not self._is_intact(record):
            found.append(f"{names.MASTER_PLAN} is not the plan that was approved")
        if not self._is(names.BRIEF, record.pm.sha256):
            found.append(f"{names.BRIEF} is not the brief that the plan was made for")
        if site.workspace.is_git:
            if not site.workspace.branch():
                found.append("HEAD is detached: work lands on a branch")
            elif dirty := site.workspace.dirty_paths(layout.PLANNING):
                named = ", ".join(map(file_name, dirty[:5]))
                found.append(f"the tree has changes that are not committed: {named}")
        if not site.files.exists(layout.ROADMAP):
            found.append(f"{layout.ROADMAP} is missing, so there is no place for a phase")
        if site.terms.bridge == HOST:
            if not site.workspace.is_git:
                found.append("the host bridge needs a git repository")
            found += site.hands.host_faults if site.hands else ("no host agent is known",)
        return tuple(found)

    def _is_intact(self, record: CouncilJob) -> bool:
        plan = record.master_plan
        return plan is not None and self._is(names.MASTER_PLAN, plan.sha256)

    def _is(self, name: str, sha256: str) -> bool:
        return hashlib.sha256(self._site.job.content(name)).hexdigest() == sha256

    def bridged(self, record: CouncilJob) -> CouncilJob:
        """The job with its phase: found if it was made before, else made now."""
        site = self._site
        plan = record.master_plan
        assert plan is not None
        folder = self._made_from(plan.sha256)
        if folder is None:
            self._make(record)
            folder = self._made_from(plan.sha256)
        assert folder is not None, "the step that makes the phase was just done"
        self._commit(record, folder, "the plan that the council approved")
        now = site.clock.now()
        held = replace(
            record.exec,
            attempt=record.exec.attempt + 1,
            started_at=moment(now),
            deadline=moment(now + site.terms.host_wall) if site.terms.bridge == HOST else None,
            plans=len(folder.live_plans),
            base=site.workspace.commit_of("HEAD") if site.workspace.is_git else "",
            earlier=tuple(each.id for each in self._engine_jobs(str(folder.id))),
        )
        return replace(record, phase=str(folder.id), exec=held)

    def _made_from(self, sha256: str) -> Folder | None:
        for folder in scan(self._site.files.folder).folders:
            loaded = self._site.files.load_for_display(_context_path(folder))
            if loaded is not None and read_front(loaded.text).get(_SHA) == sha256:
                return folder
        return None

    def _make(self, record: CouncilJob) -> None:
        site = self._site
        plan = read_master_plan(site.job.text(names.MASTER_PLAN))
        name = plan.title

        def documents(number: PhaseId) -> dict[str, Edit]:
            siblings = [each.path.rpartition("/")[2] for each in scan(site.files.folder).folders]
            slug = folder_for(number, name, siblings)
            home = f"{layout.PHASES}/{slug}"
            texts = self._documents(record, plan, number, slug)
            return {f"{home}/{key}": _always(text) for key, text in texts.items()}

        change = Phases(site.files, site.clock).add(
            name, goal=" ".join(plan.goal.split()), also=documents
        )
        site.tell("bridged", record.job_id, change.folder, phase=change.phase)

    def _documents(
        self, record: CouncilJob, plan: MasterPlan, number: PhaseId, slug: str
    ) -> dict[str, str]:
        """CONTEXT, RESEARCH and the plans of the phase, by their names in its folder."""
        sha256 = record.master_plan.sha256 if record.master_plan else ""
        lead = number.padded
        mark = "rehearsed: true\n" if record.is_rehearsed else ""
        head = f"---\nphase: {slug}\njob: {record.job_id}\n{_SHA}: {sha256}\n{mark}---\n\n"
        parts = Parts(self._site.job.text(names.MASTER_PLAN))
        research = self._site.job.answers()
        found = {
            f"{lead}-CONTEXT.md": head + _context(record, plan, parts),
            f"{lead}-RESEARCH.md": head + _research(research),
        }
        for sheet in split(plan, lead, slug).sheets:
            text = new_plan(sheet)
            if record.is_rehearsed:
                text = text.replace("must_haves:", "rehearsed: true\nmust_haves:", 1)
            found[f"{sheet.id}-PLAN.md"] = text
        return found

    def kept(self) -> None:
        """The record of a job that was carried out, as it ended and whole, kept by git."""
        record = self._site.job.load()
        folder = self._folder(record)
        if folder and record.status in (JobStatus.DONE, JobStatus.FAILED):
            self._commit(record, folder, f"the record of its council, which is {record.status}")

    def _commit(self, record: CouncilJob, folder: Folder, what: str) -> None:
        """The documents of the phase and the job; a second time there is nothing to keep."""
        site = self._site
        if not site.workspace.is_git or site.hands is None or not site.hands.terms.keeps_documents:
            return
        inside = [f"{folder.path}/{name}" for name in site.files.names(folder.path)]
        paths = [layout.STATE, layout.ROADMAP, layout.REQUIREMENTS, *inside, *site.job.paths()]
        present = [path for path in paths if site.files.exists(path)]
        message = f"docs(phase-{folder.id}): {what}\n\nJob: {record.job_id}\n"
        site.workspace.commit_paths(present, message)

    # -- carrying out ----------------------------------------------------------------------

    def execute(self, execution: Execution, meeting: Meeting) -> None:
        """Carry the phase out, or go on with it; what came of it is read from the disk."""
        record = self._site.job.load()
        if not self._is_intact(record):
            raise PlanTampered(record.job_id)
        if _is_hosted(record):
            self._by_host(record)
        else:
            self._by_engine(execution, meeting, record)

    def _by_engine(self, execution: Execution, meeting: Meeting, record: CouncilJob) -> None:
        hands = self._site.hands
        assert hands is not None
        is_rehearsed = record.is_rehearsed
        try:
            preview = execution.preview(record.phase, is_rehearsed=is_rehearsed)
        except NothingToExecute:
            return  # no plan is left to carry out, which says how it ended
        if meeting.may_execute:
            execution.approve(preview)
            preview = execution.preview(record.phase, is_rehearsed=is_rehearsed)
        execution.carry_out(
            preview, hands.crew, hands.terms, meeting.executing(), meeting.stop, meeting.over
        )

    def _by_host(self, record: CouncilJob) -> None:
        """One process, once: a second start finds it begun and leaves it to be classified."""
        site = self._site
        hands = site.hands
        assert hands is not None
        assert hands.host is not None
        if record.exec.session_id:
            return
        session = site.new_nonce()
        begun = replace(record, exec=replace(record.exec, session_id=session))
        site.job.save(begun)  # intent before effect: whoever finds this never starts another
        command = site.terms.host_command.replace("{phase}", record.phase)
        site.tell("host", record.job_id, command, phase=record.phase)
        wall, quiet = site.terms.host_wall, _Quiet(site)
        ending = hands.host.start(
            Order(
                role=HOST,
                prompt=command,
                folder=site.files.folder,
                raw=f"{site.private}/exec",
                job=site.mark,
                session=session,
                limits=Limits(wall=wall, first_event=wall, idle=wall),
            ),
            quiet.heard,
            quiet.is_wanted,
        )
        site.job.save(replace(begun, exec=_told(begun.exec, ending)))

    # -- after -----------------------------------------------------------------------------

    def ended(self, record: CouncilJob) -> Ended | None:
        """What is known of the execution once it is over; None: it goes on, or waits."""
        folder = self._folder(record)
        if folder is None:
            return None
        summaries = self._summaries(record, folder)
        plans = len(folder.live_plans)
        if _is_hosted(record):
            if not record.exec.session_id:
                return None
            return self._by_host_ended(record, folder, summaries)
        inner = self.engine_job(record)
        if inner is None:  # then nobody was needed, or it has not begun
            unmade = (Proof.NONE, Proof.EMPTY, *(() if record.is_rehearsed else (Proof.REHEARSED,)))
            is_left = any(plan.proof in unmade for plan in folder.live_plans)
            return None if is_left else Ended(plans, summaries, 0)
        if inner.status not in (JobStatus.DONE, JobStatus.FAILED):
            return None
        return Ended(plans, summaries, 0 if inner.status is JobStatus.DONE else 1)

    def _by_host_ended(self, record: CouncilJob, folder: Folder, summaries: int) -> Ended:
        held, site = record.exec, self._site
        head = site.workspace.commit_of("HEAD")
        changed = {each.path for each in site.workspace.changes(held.base, head)}
        sheets = [
            read_plan(plan.path, site.files.load(plan.path).text) for plan in folder.live_plans
        ]
        return Ended(
            len(sheets),
            summaries,
            held.exit_code,
            timed_out=held.timed_out,
            is_error=held.is_error,
            committed=sum(bool(changed.intersection(sheet.files)) for sheet in sheets),
            is_clean=not site.workspace.dirty_paths(layout.PLANNING),
        )

    def engine_job(self, record: CouncilJob) -> Job | None:
        """The newest job of our engine that was begun for this one."""
        mine = [
            each for each in self._engine_jobs(record.phase) if each.id not in record.exec.earlier
        ]
        return mine[-1] if mine else None

    def _engine_jobs(self, phase: str) -> list[Job]:
        held = [each for each in job_records(self._site.files) if isinstance(each, Job)]
        return [each for each in held if (each.kind, each.phase) == ("execute", phase)]

    def closed(self, record: CouncilJob, warning: str) -> CouncilJob:
        """The job with what its execution came to."""
        folder = self._folder(record)
        inner = self.engine_job(record)
        if inner and inner.status in (JobStatus.EXECUTING, JobStatus.BLOCKED):
            self._end(inner)  # a retry begins it anew, with fresh attempts
        held = replace(
            record.exec,
            warning=warning,
            job=inner.id if inner and not _is_hosted(record) else "",
            plans=len(folder.live_plans) if folder else 0,
            summaries=self._summaries(record, folder) if folder else 0,
        )
        return replace(record, exec=held)

    def _end(self, inner: Job) -> None:
        now = moment(self._site.clock.now())
        note = f"ended with {self._site.job.job}"
        over = replace(inner, status=JobStatus.FAILED, ended_at=now, note=note)
        JobFiles(self._site.files.folder, inner.id).save_job(over)

    def _folder(self, record: CouncilJob) -> Folder | None:
        found = scan(self._site.files.folder).folders
        return next((each for each in found if str(each.id) == record.phase), None)

    def _summaries(self, record: CouncilJob, folder: Folder) -> int:
        """The sound summaries that are newer than the phase itself."""
        files = self._site.files
        proven = (Proof.COMPLETE, Proof.REHEARSED) if record.is_rehearsed else (Proof.COMPLETE,)
        since = files.changed_at(_context_path(folder))
        return sum(
            plan.proof in proven and files.changed_at(plan.summary) >= since
            for plan in folder.live_plans
        )


class _Quiet:
    """Tells when a host has given no sign of life for long: a warning, not a stop."""

    def __init__(self, site: CouncilSite) -> None:
        self._site = site
        self._since = site.clock.now()
        self._is_told = False

    def heard(self, event: AgentEvent) -> None:
        """A sign of life."""
        self._since, self._is_told = self._site.clock.now(), False
        self._site.watcher.watch(HOST, event)

    def is_wanted(self) -> bool:
        """Whether it should go on; who watches a process asks again and again."""
        if not self._is_told and self._site.clock.now() - self._since >= _STALL:
            self._is_told = True
            minutes = _STALL.seconds // 60
            self._site.tell("stall", HOST, f"no sign of life for {minutes} minutes; it goes on")
        return not self._site.is_over.is_given


def _is_hosted(record: CouncilJob) -> bool:
    """Whether the host carries it out: as it was begun, whatever the settings say now."""
    return record.exec.deadline is not None


def _told(held: Exec, ending: Ending) -> Exec:
    used, cost = ending.usage, ending.cost_usd
    if cost is None:
        cost = Prices().cost(used.tokens_in, used.tokens_out)
    return replace(
        held,
        exit_code=ending.exit_code,
        timed_out=ending.kind in (EndKind.TIMEOUT, EndKind.IDLE),
        is_error=ending.kind is not EndKind.OK or not (ending.text or ending.usage.tokens_out),
        spent=Spent(used.tokens_in + used.tokens_out, cost),
        stdout_tail=ending.text[-_TAIL:],
        stderr_tail=ending.error[-_TAIL:],
    )


def _context(record: CouncilJob, plan: MasterPlan, parts: Parts) -> str:
    told = [f"# {plan.title}: context", "", f"Goal: {plan.goal}", ""]
    for title in ("Decisions", "Dissent", "Risks"):
        told += [f"## {title}", "", parts.prose(title.casefold()) or "None", ""]
    if record.rulings:
        told += ["## Rulings", "", *(f"- {each.id}: {each.text}" for each in record.rulings), ""]
    if record.degraded:
        told += ["## Degraded", "", *(f"- {each}" for each in record.degraded), ""]
    return "\n".join(told)


def _research(calls: Mapping[str, Call]) -> str:
    keys = [names.pm_key(name, cycle) for name in ("audit", "research") for cycle in (2, 1)]
    found: dict[str, str] = {}
    for key in keys:
        title = key.partition("/")[2].partition(".")[0]
        if key in calls and title not in found:
            found[title] = unwrapped(calls[key].text).strip()
    return "\n\n".join(f"# {title.capitalize()}\n\n{text}" for title, text in found.items()) + "\n"


def _context_path(folder: Folder) -> str:
    lead = folder.id.padded if folder.id else ""
    return f"{folder.path}/{lead}-CONTEXT.md"


def _always(text: str) -> Edit:
    return lambda _: text
