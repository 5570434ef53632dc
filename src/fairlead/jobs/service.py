"""The jobs of a project: list, show, follow, answer and cancel them.

Everything that differs between kinds of jobs is in `JobKinds`; this module knows no kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from heapq import merge
from typing import TYPE_CHECKING, Any

from fairlead.agents.secrets import without_secrets
from fairlead.core.clock import Clock
from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass, field, replace
from fairlead.jobs.approvals import Answers
from fairlead.jobs.errors import EditedRecordNotice, NoQuestion, PersonDecides, UnknownJob
from fairlead.jobs.folder import JobFolder, job_ids
from fairlead.jobs.kinds import JobAccess, JobKinds
from fairlead.jobs.ledger import PaidCall, paid_calls, trusted_runs
from fairlead.jobs.loop import end_elsewhere, is_running
from fairlead.jobs.model import (
    ABORT_ANSWER,
    ENDED,
    EXECUTE,
    IN_WORDS,
    OVERRIDE,
    PERSON,
    SKIP_VERIFY,
    CallRecord,
    Job,
    JobRecord,
    JobStatus,
    Question,
    TaskGate,
    skip_kind,
)
from fairlead.jobs.paths import (
    EVENTS,
    JOB_RECORD,
    job_path,
    lock_of,
    private_folder,
    run_lock,
)
from fairlead.jobs.proofs import Proofs, proofs_of
from fairlead.project.open_jobs import JobState, OpenJob
from fairlead.project.state.documents import moment
from fairlead.store.files import Files
from fairlead.text.inline import one_line, plain_text

if TYPE_CHECKING:
    from fairlead.jobs.activity import Activity

# In these statuses no process is needed: a new job has not begun, an approved plan waits.
_NEEDS_NO_PROCESS = (*ENDED, JobStatus.NEW, JobStatus.APPROVED)
_JOURNAL_KEYS = ("at", "kind", "subject", "text")


@dataclass(frozen=True, slots=True)
class JobReport:
    """What `job show` shows of an execution or a workflow."""

    job: Job
    gates: tuple[TaskGate, ...]
    questions: tuple[Question, ...]
    calls: tuple[CallRecord, ...] = ()  # of roles
    paid: tuple[PaidCall, ...] = ()  # every call, as the ledgers record it
    fault: str = ""  # of the file of its record
    trusted_verify_runs: int = 0  # on merged code, and on workers


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A line of the journal of a job."""

    job: str
    at: str
    kind: str
    subject: str
    text: str
    facts: Mapping[str, object] = field(default_factory=dict)


class Jobs:
    """The jobs of one project, of every kind."""

    def __init__(
        self,
        files: Files,
        state: Files,
        clock: Clock,
        pause: Callable[[], None],
        kinds: JobKinds,
        *,
        is_copy: bool = False,  # the copy of a rehearsal
        end_calls: Callable[[tuple[str, ...]], None] = lambda _: None,
    ) -> None:
        self.files = files
        self.state = state
        self.clock = clock
        self._answers = Answers(state, files.folder)
        self._pause = pause
        self._kinds = kinds
        self._is_copy = is_copy
        self._end_calls = end_calls  # of jobs, by their ids: those that run on other machines

    # -- reading ---------------------------------------------------------------------------

    def records(self) -> Iterator[JobRecord]:
        """Every record that can be read, in the order of the folders."""
        for _, record in self._saved():
            if not isinstance(record, DocumentError):
                yield record

    def all(self) -> tuple[JobRecord, ...]:
        """Every job whose record can be read, the newest last."""
        return tuple(sorted(self.records(), key=lambda record: record.started_at))

    def damaged(self) -> tuple[DocumentError, ...]:
        """What is wrong with the records that cannot be read, or were changed outside their jobs."""
        found: list[DocumentError] = []
        for job, record in zip(job_ids(self.files), self._kinds.records(self.files), strict=True):
            if isinstance(record, DocumentError):
                found.append(record)
            elif self._folder(job).is_edited:
                found.append(EditedRecordNotice(path=job_path(job, JOB_RECORD)))
        return tuple(found)

    def unsettled(self) -> tuple[OpenJob, ...]:
        """The jobs that a person has to know of: those that are not over, and damaged ones."""
        return (*self._damaged_jobs(), *self.open_jobs())

    def _damaged_jobs(self) -> tuple[OpenJob, ...]:
        """The jobs without any record that can be read: runs are refused until a person acts."""
        command = "fairlead job list"
        command = rehearsal_command(command) if self._is_copy else command
        return tuple(
            OpenJob(
                id=job,
                kind="",
                phase="",
                status="DAMAGED",
                state=JobState.DAMAGED,
                is_running=False,
                note="",
                command=command,
            )
            for job, record in self._saved()
            if isinstance(record, DocumentError)
        )

    def record(self, job: str) -> JobRecord:
        """The record of a job; without a name, of the newest."""
        return self._kinds.load(self.folder(job or self._newest()))

    def _saved(self) -> tuple[tuple[str, JobRecord | DocumentError], ...]:
        """Every job with its record; a server looks once per round."""
        cache, ids = self.files.cache, job_ids(self.files)
        if cache is None:
            return tuple((job, self._as_saved(job)) for job in ids)
        found: tuple[tuple[str, JobRecord | DocumentError], ...]
        found = cache.current(JobRecord) or cache.value(
            JobRecord, None, lambda: tuple((job, self._as_saved(job)) for job in ids)
        )
        return found

    def _as_saved(self, job: str) -> JobRecord | DocumentError:
        """A record as its run saved it: an agent, or anybody, may have changed the file.

        The next run of the job refuses the changed file by name and restores it.
        """
        cache, proofs = self.files.cache, self._proofs(job)
        make = partial(self._kinds.load_saved, self._folder(job))
        saved = cache.of_file(Proofs, proofs.path(JOB_RECORD), make) if cache else make()
        return saved or next(self._kinds.records(self.files, (job,)))

    def report(self, job: str) -> Any:
        """A job with everything that belongs to it, as its kind reports it."""
        record = self.record(job)
        return self._kinds.of(record.kind).report(self, record)

    def is_running(self, record: JobRecord) -> bool:
        """Whether a process runs the job now."""
        return is_running(self.files.folder, self._kinds.of(record.kind).lock(record))

    def present(self, record: JobRecord) -> OpenJob:
        """A job as it stands at this moment."""
        is_running = self.is_running(record)
        # The executions of a council are looked for only if somebody may be asked.
        job = self._kinds.of(record.kind).asking_job(self, record) if record.is_open else ""
        questions = self._questions_of(record, job)
        asked = [question for question in questions if not question.answer]
        command, note, status = record.command, record.note, str(record.status)
        if asked:
            state, command = JobState.WAITS, asked[0].command(record.id, asked)
            note = asked[0].text
        elif is_running:
            state, command = JobState.RUNNING, f"fairlead job watch {record.id}"
        elif not record.is_open:
            state, command = JobState.ENDED, ""
        elif record.status is JobStatus.APPROVED:
            state, command = JobState.WAITS, f"{command} --approve"
            note = "the commands of its plan need an approval"
        elif record.status in _NEEDS_NO_PROCESS:
            state = JobState.OPEN
            if _first_line(note) in {_first_line(question.text) for question in questions}:
                note = "every question is answered"
        else:
            state = JobState.INTERRUPTED
        if not is_running and record.status not in _NEEDS_NO_PROCESS:
            status = "WAITING" if asked else "INTERRUPTED"
        return OpenJob(
            id=record.id,
            kind=record.kind,
            phase=record.phase,
            status=status,
            state=state,
            is_running=is_running,
            note=_first_line(note),
            command=rehearsal_command(command) if self._is_copy else command,
            is_rehearsed=record.is_rehearsed,
            workstream=record.workstream,
        )

    def open_jobs(self) -> tuple[OpenJob, ...]:
        """The jobs that are not over. A council stands for the job that executes its plan."""
        records = [record for record in self.all() if record.is_open]
        asking = [(each.id, self._kinds.of(each.kind).asking_job(self, each)) for each in records]
        parts = {part for job, part in asking if part != job}
        return tuple(self.present(record) for record in records if record.id not in parts)

    def open_ids(self) -> tuple[str, ...]:
        """The ids of all jobs that are not over, councils included."""
        return tuple(record.id for record in self.all() if record.is_open)

    def running_job(self) -> str:
        """A job that a process runs now; empty: there is none."""
        return next((record.id for record in self.records() if self.is_running(record)), "")

    def _questions_of(self, record: JobRecord, job: str) -> tuple[Question, ...]:
        """The questions in the folder of a job, for the record that they keep open."""
        try:
            return self.own_questions(job) if record.is_open and job else ()
        except DocumentError:  # a damaged question must not hide the other jobs
            return ()

    def waiting(self) -> tuple[tuple[str, Question, str], ...]:
        """The open questions of all jobs: job, question, and the command that answers it."""
        waiting = []
        for record in self.records():
            questions = self._questions_of(record, record.id)
            asked = [question for question in questions if not question.answer]
            waiting += [(record.id, each, each.command(record.id, asked)) for each in asked]
        if self._is_copy:
            waiting = [(job, each, rehearsal_command(line)) for job, each, line in waiting]
        return tuple(waiting)

    def questions(self, record: JobRecord) -> tuple[Question, ...]:
        """The questions that people answer under the name of a job, with valid answers."""
        job = self._kinds.of(record.kind).asking_job(self, record)
        return self.own_questions(job) if job else ()

    def own_questions(self, job: str) -> tuple[Question, ...]:
        """The questions in the folder of a job, with valid answers."""
        folder = self.folder(job)
        return self._answers.believed(self._kinds.load(folder), folder.load_questions())

    def folder(self, job: str) -> JobFolder:
        """The folder of a job; a name that no job has is refused before it becomes a path."""
        ids = job_ids(self.files)
        if job not in ids:
            raise UnknownJob(job, ids)
        return self._folder(job)

    def _folder(self, job: str) -> JobFolder:
        is_read_only = self.files.is_read_only
        proofs = self._proofs(job)
        return JobFolder(self.files.folder, job, is_read_only=is_read_only, proofs=proofs)

    def _proofs(self, job: str) -> Proofs:
        return proofs_of(self.state.folder, self.files.folder, job)

    def follow(self, job: str) -> Iterator[tuple[JournalEntry, ...]]:
        """The new entries of a job's journal at each look, until no process runs the job.

        Those of the job that executes the plan of a council are among those of the council.
        """
        name = job or self._newest()
        shown: dict[str, int] = {}
        while True:
            # Check this before reading: a run that ends in between has written its last line.
            record = self.record(name)
            is_over = not self.is_running(record)
            found: list[list[JournalEntry]] = []
            part = self._kinds.of(record.kind).asking_job(self, record)
            for each in dict.fromkeys((name, part or name)):
                loaded = self.files.load_for_display(job_path(each, EVENTS))
                lines = loaded.text.splitlines() if loaded else []
                found.append([_journal_entry(each, line) for line in lines[shown.get(each, 0) :]])
                shown[each] = len(lines)
            entries = tuple(merge(*found, key=lambda entry: entry.at))
            yield entries
            # Another job for the same purpose may hold the lock of one that has ended.
            if is_over or (record.status in ENDED and not entries):
                return
            self._pause()

    def activities(self, job: str) -> tuple[Activity, ...]:
        """What the agents of a job, and of the job that executes its plan, did last."""
        from fairlead.jobs.activity import activities

        record = self.record(job)
        part = self._kinds.of(record.kind).asking_job(self, record)
        folders = [
            private_folder(self.state.folder, self.files.folder, each)
            for each in dict.fromkeys((record.id, part or record.id))
        ]
        return tuple(activity for folder in folders for activity in activities(folder))

    # -- answering and cancelling ----------------------------------------------------------

    def answer(self, job: str, answer: str, question: str, by: str = PERSON) -> Question:
        """Answer a question; an answer that is not among its options is refused.

        Anybody but a person may only answer a question about facts.
        """
        record = self.record(job)
        job = self._kinds.of(record.kind).asking_job(self, record) or job
        record = self.record(job)
        if not record.is_open:
            raise NoQuestion(job, f"it has ended ({record.status}) and needs no answer")
        text = plain_text(one_line(answer, "the answer"))  # options are plain text too
        asked = self._open_question(job, question, text)
        if asked.options and not _is_among(text, asked.options):
            raise NoQuestion(job, f"{text!r} is not one of: {', '.join(asked.options)}")
        if by != PERSON and not asked.asks_for_fact(text):
            raise PersonDecides(job, asked.command(job, self.own_questions(job)))
        kept = without_secrets(text)[0]  # the answer is committed
        now = moment(self.clock.now())
        answered = replace(asked, answer=kept, answered_at=now, by=by)
        self._answers.remember(job, answered)
        self.folder(job).save_question(answered)
        self._kinds.of(record.kind).answered(self, record)
        return answered

    def _open_question(self, job: str, name: str, answer: str) -> Question:
        """The one open question of a job, or the open question of this name.

        An answer that ends the job needs no name, if every open question takes it.
        """
        unanswered = [each for each in self.own_questions(job) if not each.answer]
        if name:
            unanswered = [each for each in unanswered if each.id == name]
        if not unanswered:
            raise NoQuestion(job, "there is no open question" + (f" {name}" if name else ""))
        ends_job = answer == ABORT_ANSWER and all(answer in each.options for each in unanswered)
        if len(unanswered) > 1 and not ends_job:
            names = ", ".join(each.id for each in unanswered)
            raise NoQuestion(job, f"several questions are open, name one with --question: {names}")
        return unanswered[0]

    def end_run(self, record: JobRecord) -> None:
        """End the run of a job in another process; see `kinds.JobAccess`."""
        if self.is_running(record):
            private = private_folder(self.state.folder, self.files.folder, record.id)
            end_elsewhere(private, lambda: self.is_running(record), self._pause)

    def cancel(self, job: str) -> JobRecord:
        """End a job; its work so far stays where it is."""
        self.files.require_writable("job cancel")  # before its process gets the request to end
        record = self.record(job)
        ended = self._kinds.of(record.kind).cancel(self, record)
        self.end_calls(ended)
        return ended

    def end_calls(self, record: JobRecord) -> None:
        """End the calls on workers of a job that no process runs any more."""
        part = self._kinds.of(record.kind).asking_job(self, record)
        if record.is_on_cluster and not self.is_running(record):
            self._end_calls(tuple(dict.fromkeys((record.id, part or record.id))))

    def _newest(self) -> str:
        records = self.all()
        if not records:
            raise UnknownJob("", ())
        return records[-1].id


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def rehearsal_command(command: str) -> str:
    """A command about a job in the copy of a rehearsal, as it is typed in the project itself."""
    if command.startswith("fairlead job "):
        return f"{command} --rehearsal"
    command = command.removesuffix(" --here")
    is_marked = not command or "--rehearse" in command.split()
    return command if is_marked else f"{command} --rehearse"


def job_lock(job: Job) -> str:
    """The lock that the process of an execution or a workflow holds, and no other process."""
    is_execution = job.kind == EXECUTE
    return run_lock(job.id) if is_execution else lock_of(job.kind, job.phase, job.workstream)


def job_report(jobs: JobAccess, job: Job) -> JobReport:
    """The report of an execution or a workflow."""
    folder = jobs.folder(job.id)
    # A job that has ended is shown as it was recorded: nothing acts on its answers any more.
    questions = jobs.own_questions(job.id) if job.is_open else folder.load_questions()
    paid = paid_calls(jobs.files, job)
    fault = str(EditedRecordNotice(path=job_path(job.id, JOB_RECORD))) if folder.is_edited else ""
    trusted = trusted_runs(jobs.files, job) if job.is_on_cluster else 0
    calls = folder.load_calls()
    return JobReport(job, folder.load_gates(), questions, calls, paid, fault, trusted)


def _is_among(answer: str, options: tuple[str, ...]) -> bool:
    """Whether an answer is one of the options, or continues one that allows free text."""
    for lead in (*IN_WORDS, SKIP_VERIFY, OVERRIDE):
        if answer.startswith(lead) and any(option.startswith(lead) for option in options):
            words = answer.removeprefix(lead).strip()
            return bool(words) if lead in IN_WORDS else skip_kind(answer) is not None
    return any(answer == option or answer.startswith(f"{option}:") for option in options)


def _journal_entry(job: str, line: str) -> JournalEntry:
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        return JournalEntry(job, "", "note", job, line)
    at, kind, subject, text = (str(members.pop(key, "")) for key in _JOURNAL_KEYS)
    return JournalEntry(job, at, kind, subject, text, members)
