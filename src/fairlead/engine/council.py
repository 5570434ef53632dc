"""The council as people meet it: begun, carried on, vetoed, ruled, tried again, ended.

Whoever carries a job on holds its lock; a second start is refused. What a person wants of a job
that runs elsewhere is left as a wish, and is obeyed by the one who runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from fairlead.engine.bridge import Bridge
from fairlead.engine.council_decide import decide_council
from fairlead.engine.council_perform import CouncilPerformer
from fairlead.engine.council_prompts import BALLOT, SEAT, SYNTHESIS, asked
from fairlead.engine.council_reading import Reading
from fairlead.engine.council_site import (
    PM,
    CouncilSite,
    CouncilTerms,
    Meeting,
    Table,
)
from fairlead.engine.council_survey import council_survey, estimates
from fairlead.engine.execution import Execution
from fairlead.engine.run import carry_on
from fairlead.errors import (
    JobNotOver,
    JobTransition,
    NothingToRule,
    NotRetried,
    RunBusy,
    UnknownJob,
)
from fairlead.model.budget import Caps, Spent
from fairlead.model.council import TERMINAL, next_statuses
from fairlead.model.council_job import CouncilJob, Ruling
from fairlead.model.council_snapshot import CouncilAct, CouncilAction
from fairlead.model.job import Job, JobStatus
from fairlead.model.seats import NAMES
from fairlead.model.tally import open_items
from fairlead.records.brief import open_checks
from fairlead.records.master_plan import read_master_plan
from fairlead.records.secrets import without_secrets
from fairlead.records.state import moment
from fairlead.store import layout
from fairlead.store import layout_council as names
from fairlead.store.council import CouncilFiles, council_ids, new_job_id
from fairlead.store.digests import digests_of
from fairlead.store.jobs import JobFiles, job_ids, job_records
from fairlead.store.layout_council import STARTING, run_lock
from fairlead.store.running import is_running
from fairlead.store.session import SessionLock
from fairlead.text import front
from fairlead.values import dataclass, replace

if TYPE_CHECKING:
    from fairlead.engine.asking import Voice
    from fairlead.engine.ports import Clock, Workspace
    from fairlead.engine.role_site import Scratch
    from fairlead.store.files import Files

_START_SECONDS = 30.0
_LAST_COMMIT = "a clean copy of the last commit, without jobs and without what is not committed"
_FILES = "a private copy of the files, without .planning: the project has no git"
_STAGES = (
    ("pm", PM, 4),
    ("planning", SEAT, len(NAMES)),
    ("synthesis", SYNTHESIS, 1),
    ("review", BALLOT, len(NAMES)),
)


class Council:
    """The council jobs of one project."""

    def __init__(
        self,
        files: Files,
        state: Files,
        clock: Clock,
        workspace: Workspace,
        scratch: Scratch,
        fresh: Callable[[], str],
        execution: Execution,
    ) -> None:
        self._files = files
        self._state = state
        self._clock = clock
        self._workspace = workspace
        self._scratch = scratch
        self._fresh = fresh
        self._execution = execution

    # -- beginning -------------------------------------------------------------------------

    def begin(self, request: str, table: Table, terms: CouncilTerms) -> str:
        """The job for a request: the unfinished one that has it already, else a new one."""
        request, _ = without_secrets(request)  # git keeps it
        with SessionLock(self._files.folder, STARTING, wait_seconds=_START_SECONDS):
            for held in job_records(self._files, reversed(council_ids(self._files))):
                if not isinstance(held, CouncilJob) or held.status in TERMINAL:
                    continue
                if (held.request, held.is_rehearsed) == (request, terms.is_rehearsed):
                    return held.job_id
            return self._create(request, terms, _names(table))

    def retry(self, job: str, request: str = "") -> str:
        """A child of a job that is over: the same questions keep their answers, rulings hold."""
        self._require_council(job)
        parent = self.files_of(job)
        held = parent.load()
        if held.status not in TERMINAL or held.status is JobStatus.DONE:
            raise JobNotOver(job, str(held.status))
        with SessionLock(self._files.folder, STARTING, wait_seconds=_START_SECONDS):
            rulings = {each.id: each for each in (*held.rulings, *parent.rulings())}
            terms = CouncilTerms(
                rounds=held.max_review_rounds,
                allow_absent=held.allow_absent,
                is_rehearsed=held.is_rehearsed,
            )
            wanted, _ = without_secrets(request or held.request)
            return self._create(wanted, terms, held.voices, job, tuple(rulings.values()))

    def _require_council(self, job: str) -> None:
        """Refuse a job of the engine with what it needs: an answer, or its own command."""
        if job not in job_ids(self._files):
            return
        files = JobFiles(self._files.folder, job, is_read_only=True)
        held = files.load_record()
        if isinstance(held, Job):
            asked = [each for each in files.load_questions() if held.is_open and not each.answer]
            command = "fairlead next" if held.status is JobStatus.DONE else held.command
            command = asked[0].command(job, asked) if asked else command
            raise NotRetried(job, str(held.status), command)

    def _create(
        self,
        request: str,
        terms: CouncilTerms,
        voices: Mapping[str, tuple[str, ...]],
        parent: str = "",
        rulings: tuple[Ruling, ...] = (),
    ) -> str:
        now = self._clock.now()
        job = new_job_id(self._files, f"{now:%Y%m%d}")
        record = CouncilJob(
            job,
            moment(now),
            request,
            parent_job_id=parent or None,
            updated_at=moment(now),
            status_since=moment(now),
            max_review_rounds=terms.rounds,
            allow_absent=terms.allow_absent,
            is_rehearsed=terms.is_rehearsed,
            voices=dict(voices),
            rulings=rulings,
        )
        self._files_named(job).create(record)
        return job

    # -- carrying on -----------------------------------------------------------------------

    def carry_on(self, job: str, meeting: Meeting) -> CouncilJob:
        """Carry a job on until it is over, or waits for a person."""
        front.prepare()
        files = self.files_of(job)
        with files.alone(f"run {job}"):
            site = self._site(files, meeting)
            was_over = files.load().status in TERMINAL
            meeting.table.reap(site.mark)
            self._scratch.remove(_desk(site))  # what a killed run left, wherever the job is now
            self._loop(site, meeting)
            if files.load().status is JobStatus.EXECUTING and not meeting.stop.is_given:
                Bridge(site).execute(self._execution, meeting)
                self._loop(site, meeting)
            if not was_over:
                Bridge(site).kept()
            return files.load()

    def _loop(self, site: CouncilSite, meeting: Meeting) -> None:
        status = site.job.load().status
        if status in TERMINAL:
            return
        is_asking = status not in (JobStatus.APPROVED, JobStatus.EXECUTING)
        is_asking = is_asking and not site.job.wish()[0]
        if is_asking:
            self._scratch.make(_desk(site))
        try:
            carry_on(_Work(site, _desk(site)), meeting.stop, meeting.over)
        finally:
            if is_asking:
                self._scratch.remove(_desk(site))

    def _site(
        self, files: CouncilFiles, meeting: Meeting, record: CouncilJob | None = None
    ) -> CouncilSite:
        record = record or files.load()
        mark = layout.runs_path(self._files.folder, files.job)
        return CouncilSite(
            files=self._files,
            job=files,
            parents=tuple(self._parents(record)),
            table=meeting.table,
            terms=replace(
                meeting.terms,
                rounds=record.max_review_rounds,
                allow_absent=record.allow_absent,
                is_rehearsed=record.is_rehearsed,
            ),
            clock=self._clock,
            workspace=self._workspace,
            private=f"{self._state.folder}/{mark}",
            mark=mark,
            new_nonce=self._fresh,
            watcher=meeting.watcher,
            is_over=meeting.over,
            may_execute=meeting.may_execute,
            guard=lambda: {**self._scratch.guard(), **digests_of(meeting.terms.guarded)},
            hands=meeting.hands,
        )

    def _parents(self, record: CouncilJob) -> Iterator[CouncilFiles]:
        """The jobs that this one is a retry of; one that a person deleted ends the line."""
        known = set(council_ids(self._files))
        while (above := record.parent_job_id or "") in known:
            known.remove(above)
            files = self._files_named(above)
            yield files
            record = files.load()

    # -- looking ---------------------------------------------------------------------------

    def preview(self, request: str, job: str, table: Table, terms: CouncilTerms) -> CouncilPreview:
        """Who would be asked, what it would take, and exactly what each would receive."""
        files = self.files_of(job) if job else self._files_named("preview")
        meeting = Meeting(table, terms)
        record = files.load() if job else CouncilJob("preview", "", request)
        site = self._site(files, meeting, record)
        reading = Reading(site, record)
        each = estimates(site, reading)
        families = {voices[0].family for role, voices in table.voices.items() if role in NAMES}
        told = (
            (f"all seats are of one model family: {families.pop()}",) if len(families) == 1 else ()
        )
        keys = (
            *(names.pm_key(name, 1) for name in names.PASSES),
            *(names.seat_key(0, seat) for seat in NAMES),
            names.synthesis_key(record.review_round + 1),
            *(names.seat_key(max(record.review_round, 1), seat) for seat in NAMES),
        )
        return CouncilPreview(
            tuple(_named(role, voices) for role, voices in table.voices.items()),
            told,
            terms.caps,
            tuple(
                (stage, calls, Spent(each[role].tokens * calls, each[role].usd * calls))
                for stage, role, calls in _STAGES
            ),
            tuple(_received(reading, key) for key in keys if key not in reading.calls),
            _LAST_COMMIT if self._workspace.is_git else _FILES,
        )

    def commands(self, job: str) -> tuple[tuple[str, str], ...]:
        """The commands that an approved plan would run, by step."""
        plan = read_master_plan(self.files_of(job).text(names.MASTER_PLAN))
        return tuple((f"step {step.id}", step.verify) for step in plan.steps)

    def files_of(self, job: str) -> CouncilFiles:
        """The files of a job; a name that no job has is refused before it becomes a path."""
        known = council_ids(self._files)
        if job not in known:
            raise UnknownJob(job, known)
        return self._files_named(job)

    def _files_named(self, job: str) -> CouncilFiles:
        return CouncilFiles(self._files.folder, job, is_read_only=self._files.is_read_only)

    # -- people ----------------------------------------------------------------------------

    def rule(self, job: str, item: str, text: str) -> Ruling:
        """Decide an open item of a job that is blocked; the next try takes it as given."""
        files = self.files_of(job)
        held = files.load()
        if held.status is not JobStatus.BLOCKED:
            raise JobNotOver(job, str(held.status))
        known = {
            each.item.id: f"{each.item.where}: {each.item.why}".removeprefix(": ")
            for each in open_items(held.cumulative_votes, held.voted_round)
        }
        known |= open_checks(held.pm.verify)
        if item not in known:
            raise NothingToRule(job, item, tuple(known))
        ruling = Ruling(item, without_secrets(text)[0], moment(self._clock.now()), known[item])
        files.save_ruling(ruling)
        return ruling

    def wish(self, job: str, wish: str, why: str) -> CouncilJob:
        """Veto or cancel a job: at once, or by the one who carries it on."""
        files = self.files_of(job)
        held = files.load()
        is_busy = is_running(self._files.folder, run_lock(job))
        if held.status in TERMINAL or (held.status is JobStatus.EXECUTING and wish == "veto"):
            raise JobTransition(held.status, JobStatus.BLOCKED, next_statuses(held.status), wish)
        if held.status is JobStatus.EXECUTING and is_busy:
            raise RunBusy("by another process; press ^C there first")
        files.leave_wish(wish, without_secrets(why)[0])  # git keeps it
        if not is_busy:
            self.carry_on(job, Meeting(Table({}, lambda _: None, lambda _: 0)))
        return files.load()


@dataclass(frozen=True, slots=True)
class Named:
    """A role, and who speaks for it."""

    role: str
    model: str
    family: str
    fallback: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """What somebody would receive, to the letter; only the nonce will differ."""

    key: str
    who: str
    text: str
    left_out: tuple[str, ...]  # secrets, by kind and line


@dataclass(frozen=True, slots=True)
class CouncilPreview:
    """What a run would mean."""

    roster: tuple[Named, ...]
    degraded: tuple[str, ...]
    caps: Caps
    stages: tuple[tuple[str, int, Spent], ...]  # of one round, without repairs
    receives: tuple[Received, ...]
    reads: str  # what those who are asked can look at


class _Work:
    """A council job as the loop sees it."""

    def __init__(self, site: CouncilSite, folder: str) -> None:
        self._site = site
        self._performer = CouncilPerformer(site, folder)

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> tuple[CouncilAction, ...]:
        snapshot = council_survey(self._site, running, is_stopping=is_stopping)
        if snapshot.job != self._site.job.load():
            self._site.job.save(snapshot.job)  # ballot by ballot, so that a crash loses none
        self._site.watcher.looked(snapshot)
        return decide_council(snapshot)

    def perform(self, action: CouncilAction) -> None:
        self._performer.perform(action)

    def is_long(self, action: CouncilAction) -> bool:
        return action.act is CouncilAct.ASK


def _desk(site: CouncilSite) -> str:
    """The clean copy of the project that those who are asked read in."""
    return f"{site.private}/worktrees/council"


def _named(role: str, voices: Sequence[Voice]) -> Named:
    main, *others = (f"{each.agent.name}:{each.model}".rstrip(":") for each in voices)
    return Named(role, main, voices[0].family, tuple(others))


def _received(reading: Reading, key: str) -> Received:
    question = asked(reading, key)
    left_out = tuple(f"{each.kind}, line {each.line}" for each in question.left_out)
    return Received(key, question.who, question.text("(nonce)"), left_out)


def _names(table: Table) -> dict[str, tuple[str, ...]]:
    return {
        role: tuple(f"{each.agent.name}:{each.model}".rstrip(":") for each in voices)
        for role, voices in table.voices.items()
    }
