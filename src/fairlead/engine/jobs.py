"""Jobs as people meet them: shown, followed, answered, ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from fairlead.engine.closing import give_up, keep, last_words, record_of, tidy
from fairlead.engine.council_report import CouncilReport, council_report
from fairlead.engine.events import Events
from fairlead.engine.ports import Clock, Workspace
from fairlead.engine.sessions import Sessions
from fairlead.errors import DocumentError, NoQuestion, UnknownJob
from fairlead.model.council import TERMINAL
from fairlead.model.council_job import CouncilJob
from fairlead.model.job import IN_WORDS, Job, JobStatus, Question, TaskGate
from fairlead.model.policy import OVERRIDE, SKIP_VERIFY, skip_kind
from fairlead.model.roles import Call
from fairlead.records.secrets import without_secrets
from fairlead.records.state import moment
from fairlead.store import layout
from fairlead.store.approvals import Answers
from fairlead.store.council import CouncilFiles
from fairlead.store.files import Files
from fairlead.store.jobs import JobFiles, job_ids, job_records
from fairlead.store.layout_council import plan_version, run_lock
from fairlead.store.layout_roles import lock_of
from fairlead.store.running import is_running, the_only_run
from fairlead.text.inline import one_line, plain_text
from fairlead.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job with all that belongs to it."""

    job: Job
    gates: tuple[TaskGate, ...]
    questions: tuple[Question, ...]
    calls: tuple[Call, ...] = ()  # of roles


class Jobs:
    """The jobs of one project."""

    def __init__(self, files: Files, state: Files, clock: Clock, pause: Callable[[], None]) -> None:
        self._files = files
        self._state = state
        self._answers = Answers(state, files.folder)
        self._clock = clock
        self._pause = pause

    def all(self) -> tuple[Job | CouncilJob, ...]:
        """Every job whose record can be read, the newest last."""
        found = [each for each in job_records(self._files) if not isinstance(each, DocumentError)]
        return tuple(sorted(found, key=lambda each: each.started_at))

    def damaged(self) -> tuple[DocumentError, ...]:
        """What is wrong with the records that cannot be read."""
        return tuple(each for each in job_records(self._files) if isinstance(each, DocumentError))

    def waiting(self) -> tuple[tuple[str, Question, str], ...]:
        """What jobs ask of a person: the job, the question, and the command that answers it."""
        found = []
        for held in job_records(self._files):
            if isinstance(held, Job) and held.status is JobStatus.BLOCKED:
                asked = [each for each in self._asked(held.id) if not each.answer]
                found += [(held.id, each, each.command(held.id, asked)) for each in asked]
        return tuple(found)

    def one(self, job: str) -> JobReport:
        """A job by its name; without one, the newest."""
        files = self._job(job or self._newest())
        held = files.load_job()
        # What has ended is shown as it was recorded: nobody acts on it any more.
        questions = self._asked(held.id) if held.is_open else files.load_questions()
        return JobReport(held, files.load_gates(), questions, files.load_calls())

    def record(self, job: str) -> Job | CouncilJob:
        """The record of a job; without a name, of the newest."""
        return self._job(job or self._newest()).load_record()

    def council(self, job: CouncilJob) -> CouncilReport:
        """A council job with all that one wants to know of it."""
        loaded = self._files.load_for_display(layout.job_path(job.id, layout.EVENTS))
        journal = loaded.text if loaded else ""
        rulings = CouncilFiles(self._files.folder, job.id, is_read_only=True).rulings()
        return council_report(job, self.plans_of(job), journal, self.questions_of(job), rulings)

    def plans_of(self, job: CouncilJob) -> tuple[str, ...]:
        """Every version of the master plan, the first one first."""
        found: list[str] = []
        last = job.master_plan.version if job.master_plan else 0
        while len(found) < last:
            path = layout.job_path(job.id, plan_version(len(found) + 1))
            loaded = self._files.load_for_display(path)
            if loaded is None:
                break  # whatever number the record names
            found.append(loaded.text)
        return tuple(found)

    def questions_of(self, job: CouncilJob) -> tuple[Question, ...]:
        """What the execution of a council job asks a person."""
        inner = self.inner(job)
        return self._asked(inner) if inner else ()

    def inner(self, job: CouncilJob) -> str:
        """The engine's job that carries the plan of a council out; nothing before that."""
        engine = [each for each in self.all() if isinstance(each, Job) and each.kind == "execute"]
        mine = [each.id for each in engine if each.phase == job.phase and job.phase]
        found = [each for each in mine if each not in job.exec.earlier]
        return found[-1] if found else ""

    def answer(self, job: str, answer: str, question: str) -> Question:
        """Answer a question; what is not among its options is refused."""
        files = self._job(job)
        held = files.load_record()
        if isinstance(held, CouncilJob):  # its execution asks, under a name of its own
            job = self.inner(held) or job
            files = self._job(job)
            held = files.load_record()
        if isinstance(held, Job) and not held.is_open:
            raise NoQuestion(job, f"it has ended ({held.status}): no answer changes that")
        unanswered = [each for each in self._asked(job) if not each.answer]
        if question:
            unanswered = [each for each in unanswered if each.id == question]
        if not unanswered:
            raise NoQuestion(
                job, "there is no open question" + (f" {question}" if question else "")
            )
        if len(unanswered) > 1:
            names = ", ".join(each.id for each in unanswered)
            raise NoQuestion(job, f"several questions are open, name one with --question: {names}")
        asked = unanswered[0]
        said = plain_text(one_line(answer, "the answer"))  # as an option has it
        if asked.options and not _is_among(said, asked.options):
            raise NoQuestion(job, f"{said!r} is not one of: {', '.join(asked.options)}")
        now = moment(self._clock.now())
        kept = without_secrets(said)[0]  # git keeps it
        told = replace(asked, answer=kept, answered_at=now, by="person")
        self._answers.remember(job, told)
        files.save_question(told)
        return told

    def cancel(self, job: str, workspace: Workspace, *, keeps_documents: bool) -> Job:
        """End a job that is not running."""
        files = self._job(job)
        held = files.load_job()
        lock = lock_of(held.kind, held.phase, held.workstream)
        with the_only_run(self._files.folder, f"job cancel {job}", lock):
            held = files.load_job()
            if not held.is_open:
                return held
            now = moment(self._clock.now())
            ended = replace(held, status=JobStatus.FAILED, ended_at=now, note="ended by a person")
            step = self._files, self._clock, ended.workstream
            give_up(files, Sessions(*step))
            private = layout.private_folder(self._state.folder, self._files.folder, job)
            tidy(workspace, ended, files, private, is_over=True)
            files.save_job(ended)
            told = {"kind": "finished", "subject": job, "text": ended.note, "status": "FAILED"}
            files.tell({"at": now, **told})
            if ended.plans:  # what carries out plans is told of in the project's own documents
                Events(*step).follow(ended.listed)
            if ended.plans and keeps_documents:
                record = record_of(ended, files, self._files, ended.plans)
                keep(workspace, ended, record, last_words(ended))
        return ended

    def follow(self, job: str) -> Iterator[str]:
        """Every line of a job's journal, until the job has ended or nobody carries it on."""
        name = job or self._newest()
        shown = 0
        while True:
            held = self._job(name).load_record()
            lock = (
                run_lock(name)
                if isinstance(held, CouncilJob)
                else lock_of(held.kind, held.phase, held.workstream)
            )
            is_over = not is_running(self._files.folder, lock)
            held = self._job(name).load_record()
            loaded = self._files.load_for_display(layout.job_path(name, layout.EVENTS))
            lines = loaded.text.splitlines() if loaded else []
            for line in lines[shown:]:
                yield _readable(line)
            shown = len(lines)
            if held.status in TERMINAL:
                return
            if is_over:
                yield f"nobody carries {name} on; go on with: {held.command}"
                return
            self._pause()

    def _asked(self, job: str) -> tuple[Question, ...]:
        """The questions of a job, with the answers that count."""
        files = self._job(job)
        held, questions = files.load_record(), files.load_questions()
        return self._answers.believed(held, questions) if isinstance(held, Job) else questions

    def _newest(self) -> str:
        found = self.all()
        if not found:
            raise UnknownJob("", ())
        return found[-1].id

    def _job(self, job: str) -> JobFiles:
        known = job_ids(self._files)
        if job not in known:
            raise UnknownJob(job, known)
        return JobFiles(self._files.folder, job, is_read_only=self._files.is_read_only)


def _is_among(answer: str, options: tuple[str, ...]) -> bool:
    """One of the options, in the words of a person where the option leaves them room."""
    for begin in (*IN_WORDS, SKIP_VERIFY, OVERRIDE):
        if answer.startswith(begin) and any(each.startswith(begin) for each in options):
            said = answer.removeprefix(begin).strip()
            return bool(said) if begin in IN_WORDS else skip_kind(answer) is not None
    return any(answer == each or answer.startswith(f"{each}:") for each in options)


def _readable(line: str) -> str:
    try:
        held = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(held, dict):
        return line
    at, subject, kind, text = (str(held.get(key, "")) for key in ("at", "subject", "kind", "text"))
    return f"{at[:19]}  {subject:<14} {kind}  {text}"
