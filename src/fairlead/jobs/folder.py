"""The folder of a job: its record, gates, questions, calls, answers, documents and events.

The folder is the complete state of the job, so resuming means reading it again. Each job has its
own staging folder and lock: writing a gate never waits for the documents of the project. A raw
answer is written once and never changed. No decision reads the event journal. Where a job has
proofs (`jobs.proofs`), its record, answers and requests count as they are there: the files in the
folder only show them, and one that differs is moved to `replaced` and written again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

from fairlead.agents.secrets import value_without_secrets
from fairlead.core.errors import DocumentError, MalformedRecord
from fairlead.core.serialization import plain, revived
from fairlead.core.values import replace
from fairlead.jobs.baseline import Baselines
from fairlead.jobs.errors import OtherJob, RecordEdited, UnknownJob
from fairlead.jobs.model import EXECUTE, CallRecord, Job, JobRecord, Question, TaskGate
from fairlead.jobs.paths import (
    ANSWER_FOLDERS,
    ANSWER_ROUNDS,
    CALLS,
    EVENTS,
    GATES,
    JOB_RECORD,
    JOBS,
    OUTPUT_LOG,
    QUESTIONS,
    REPLACED,
    job_path,
)
from fairlead.jobs.proofs import Proofs, ProvenText, text_digest
from fairlead.jobs.raw_answers import RawAnswer, answer_file, read_answer
from fairlead.store.confined import Root, components, storage_error
from fairlead.store.digests import DerivedCache, signatures_in
from fairlead.store.files import Edit, Files
from fairlead.store.journal import Journal
from fairlead.store.lock import RUN_WAITS
from fairlead.store.reader import Reader
from fairlead.store.staging import STAGING_NAME

VERSION = 1
_DOCUMENTS = (".md", ".json", ".jsonl")
_FOLDERS = (GATES, QUESTIONS, CALLS, REPLACED)
Record = TypeVar("Record", bound=JobRecord)


def job_ids(reader: Reader) -> tuple[str, ...]:
    """Every job that has a record, the newest last."""
    known: tuple[str, ...] | None = reader.cache.current(JOBS) if reader.cache else None
    if known is not None:
        return known
    found = tuple(name for name in reader.names(JOBS) if _has_record(reader, name))
    return reader.cache.value(JOBS, None, lambda: found) if reader.cache else found


def _has_record(reader: Reader, name: str) -> bool:
    with suppress(DocumentError):  # anything can lie among the jobs: a link or a pipe is no job
        return reader.exists(job_path(name, JOB_RECORD))
    return False


def proven_records(
    reader: Reader, record: type[Record], folder_of: Callable[[str], JobFolder]
) -> Iterator[Record]:
    """The records of one class as their jobs saved them; others and damaged ones are skipped."""
    for job in job_ids(reader):
        with suppress(DocumentError):
            loaded = folder_of(job).find(record)
            if loaded is not None:
                yield loaded


def records_of(
    reader: Reader, record: type[Record], ids: Iterable[str] | None = None
) -> Iterator[Record]:
    """The readable records of one class; other kinds and damaged records are skipped.

    The files are believed: only for figures and views.
    """
    for job in job_ids(reader) if ids is None else ids:
        path = f"{reader.folder}/{job_path(job, JOB_RECORD)}"
        # A list of all jobs has read it already, into the class for its kind.
        known = reader.cache.current((JobRecord, path)) if reader.cache else None
        if known is not None:
            if isinstance(known, record):
                yield known
            continue
        make = JobFolder(reader.folder, job, is_read_only=True).find
        with suppress(DocumentError):
            if reader.cache:
                loaded = reader.cache.of_file(record, path, lambda: make(record))  # noqa: B023
            else:
                loaded = make(record)
            if loaded is not None:
                yield loaded


def passed_tasks(reader: Reader, plan: str) -> set[int]:
    """The numbers of the tasks of a plan that passed their gate in its last run."""
    for job in records_of(reader, Job, reversed(job_ids(reader))):
        if job.plans and plan not in job.plans:
            continue
        gates: tuple[TaskGate, ...] = ()
        with suppress(DocumentError):
            gates = JobFolder(reader.folder, job.id, is_read_only=True).load_gates()
        own = [gate for gate in gates if gate.plan == plan]
        if own and not job.is_rehearsed:
            return {gate.number for gate in own if gate.gate.is_complete}
    return set()


class JobFolder:
    """The files of one job, of any kind."""

    def __init__(
        self,
        folder: str,
        job: str,
        *,
        wait_seconds: float = RUN_WAITS,
        is_read_only: bool = False,
        baselines: Baselines | None = None,
        proofs: Proofs | None = None,
    ) -> None:
        self.job = job
        self.folder = folder
        self.baselines = baselines or Baselines()
        self._proofs = proofs
        self._own: ProvenText | None = None  # the record, if this process runs the job
        self._edits: list[str] = []  # records that something else wrote, as they are kept
        self._home = job_path(job)
        self._files = Files(
            folder,
            staging=f"{self._home}/{STAGING_NAME}",
            wait_seconds=wait_seconds,
            is_read_only=is_read_only,
        )
        self._gates = DerivedCache(self._gate)
        self._answers: dict[str, RawAnswer] = {}  # a stored answer never changes
        self._last: tuple[str, JobRecord | None] = ("", None)  # most loads find the same text

    # -- the record ------------------------------------------------------------------------

    def create(self, record: JobRecord, command: str) -> None:
        """Write the first record of a job; a name that is taken is refused."""
        text = record_text(plain(record))
        if self._proofs is not None:
            self._files.require_writable(command)
            self._proofs.clear()
            self._prove(JOB_RECORD, text)
        self._files.create_all({self._path(JOB_RECORD): text}, command=command)

    def begin_again(self, record: JobRecord) -> None:
        """Write the record of a job that had no proofs, as the first of its proofs."""
        assert self._proofs is not None
        self._prove(JOB_RECORD, record_text(plain(record)))
        self._save(JOB_RECORD, plain(record))

    def save_record(self, record: JobRecord) -> None:
        """Write the record of the job as it is now."""
        proven = self._proof(JOB_RECORD)
        # A council without proofs begins again; any other job is proven from now on.
        if self._proofs is None or (proven is None and not isinstance(record, Job)):
            self._save(JOB_RECORD, plain(record))
            return
        path, text = self._path(JOB_RECORD), record_text(plain(record))
        self._prove(JOB_RECORD, text)
        if proven is None:
            self._save(JOB_RECORD, plain(record))
            return
        if self._shown(JOB_RECORD) is None:  # not even a document
            self._edits += filter(None, [self.set_aside(JOB_RECORD)])
        edited: list[str] = []

        def edit(old: str) -> str:
            edited[:] = [old] if old and proven.is_foreign(old) else []
            return text

        if self._own is not None:
            self._own = ProvenText(text, text_digest(self._own.text))
        self.note_write(path, text)
        self._files.update(path, edit, command=f"job {self.job}", may_create=True)
        self._edits += [self.keep_replaced(JOB_RECORD, old) for old in edited]

    def own_record(self) -> None:
        """Believe only this object's writes of the record from now on: its process runs the job.

        An agent that finds the proof on disk could end the job with it.
        """
        self._own = self._proof(JOB_RECORD)

    def load(self, record: type[Record]) -> Record:
        """The record, read into this class; a job of another kind is refused."""
        loaded = self.find(record)
        if loaded is None:
            raise OtherJob(self.job, self.kind())
        return loaded

    def find(self, record: type[Record]) -> Record | None:
        """The record, read into this class; None: the job is of another kind."""
        text, content = self._record()
        return self._read(record, text, content) if record.holds(_kind_of(content)) else None

    def load_by_kind(self, class_of: Callable[[str], type[Record]]) -> Record:
        """The record, read into the class for its kind. The file is read once."""
        text, content = self._record()
        return self._read(class_of(_kind_of(content)), text, content)

    def saved_by_kind(self, class_of: Callable[[str], type[Record]]) -> Record | None:
        """The record as the job saved it; None: no process of this user saved it."""
        proven = self._proof(JOB_RECORD)
        if proven is None:
            return None
        content = content_of(self._path(JOB_RECORD), proven.text)
        return self._read(class_of(_kind_of(content)), proven.text, content)

    def refuse_edited(self) -> None:
        """Refuse a record that was changed outside the job, and write the recorded one again.

        What the agents of a killed run changed is found by the tamper check, which asks a person.
        """
        is_killed = next(self.baselines.left(), None) is not None
        if not is_killed and (edited := self.restore_record()):
            status = self._record()[1].get("status")
            raise RecordEdited(self._path(JOB_RECORD), str(status), edited)

    def _read(self, record: type[Record], text: str, content: dict[str, object]) -> Record:
        if text != self._last[0] or not isinstance(self._last[1], record):
            path, found = self._path(JOB_RECORD), revived(record, content, self._path(JOB_RECORD))
            if found.id != self.job:
                raise MalformedRecord(path, f"the id {self.job}", found.id)
            self._last = text, found
        loaded = self._last[1]
        assert isinstance(loaded, record)
        return loaded

    def kind(self) -> str:
        """The kind of the job."""
        return _kind_of(self._record()[1])

    def _record(self) -> tuple[str, dict[str, object]]:
        path, proven = self._path(JOB_RECORD), self._proof(JOB_RECORD)
        if proven is not None:
            return proven.text, content_of(path, proven.text)
        loaded = self._files.load_if_present(path)
        if loaded is None:
            raise UnknownJob(self.job, job_ids(self._files))
        return loaded.text, content_of(path, loaded.text)

    @property
    def is_proven(self) -> bool:
        """Whether a process of this user wrote the record; older versions kept no proof."""
        return self._proof(JOB_RECORD) is not None

    @property
    def is_edited(self) -> bool:
        """Whether something else than a process of the job wrote the file of the record."""
        proven = self._proof(JOB_RECORD)
        return proven is not None and proven.is_foreign(self._shown(JOB_RECORD) or "")

    @property
    def is_behind(self) -> bool:
        """Whether the job was killed after it proved its record and before it wrote the file."""
        proven, shown = self._proof(JOB_RECORD), self._shown(JOB_RECORD)
        return proven is not None and shown != proven.text and not self.is_edited

    def restore_record(self) -> str:
        """Write the file of the record again as it was saved; where an edited one is now.

        An edit that a write of the job has replaced since is reported as well, once.
        """
        proven = self._proof(JOB_RECORD)
        if proven is not None and self._shown(JOB_RECORD) != proven.text:
            if self.is_edited:
                self._edits.append(self.set_aside(JOB_RECORD) or self._path(JOB_RECORD))
            self._save(JOB_RECORD, content_of(self._path(JOB_RECORD), proven.text))
        found, self._edits = ", ".join(self._edits), []
        return found

    # -- gates, questions, calls -----------------------------------------------------------

    def save_gate(self, gate: TaskGate) -> None:
        """Write a task as it is now."""
        self._save(f"{GATES}/{gate.task}.json", value_without_secrets(plain(gate)))

    def load_gates(self) -> tuple[TaskGate, ...]:
        """Every task that has begun."""
        files = signatures_in(self._files.folder, self._path(GATES))
        gates = self._gates.all_of({path: files[path] for path in files if path.endswith(".json")})
        return tuple(gate for gate in gates.values() if gate is not None)

    def load_gate(self, task: str) -> TaskGate | None:
        """One task; None: it has not begun."""
        return self._gate(self._path(f"{GATES}/{task}.json"))

    def _gate(self, path: str) -> TaskGate | None:
        loaded = self._files.load_if_present(path)
        return revived(TaskGate, content_of(path, loaded.text), path) if loaded else None

    def save_question(self, question: Question) -> None:
        """Write a question, or its answer."""
        self._save(f"{QUESTIONS}/{question.id}.json", value_without_secrets(plain(question)))

    def load_questions(self) -> tuple[Question, ...]:
        """Every question that was asked, the oldest first."""
        asked = [revived(Question, each, path) for path, each in self._all(QUESTIONS)]
        return tuple(sorted(asked, key=lambda each: (each.asked_at, each.id)))

    def save_call(self, call: CallRecord) -> None:
        """Write a call of a role as it is now."""
        self._save(f"{CALLS}/{call.key}.json", value_without_secrets(plain(call)))

    def load_calls(self) -> tuple[CallRecord, ...]:
        """Every call of a role, in the order in which they began."""
        calls = [revived(CallRecord, each, path) for path, each in self._all(CALLS)]
        return tuple(sorted(calls, key=lambda each: (each.started_at, each.key)))

    def load_call(self, key: str) -> CallRecord | None:
        """One call by its key; None: it was not made."""
        path = self._path(f"{CALLS}/{key}.json")
        loaded = self._files.load_if_present(path)
        return revived(CallRecord, content_of(path, loaded.text), path) if loaded else None

    # -- raw answers -----------------------------------------------------------------------

    def store_answer(self, answer: RawAnswer) -> RawAnswer:
        """Store an answer that a call of this job received; an earlier one to the call stays."""
        kept = self.answer(answer.key)
        if kept is None:
            text = answer_file(answer)
            assert self._proofs is not None, "an answer without a proof would never count"
            self._prove(_proof_of(answer.key), text)
            kept = self._answers[answer.key] = read_answer(answer.key, text)
        with suppress(DocumentError):  # it counts; the next run makes its file
            self._show_answer(kept)
        return kept

    def answer(self, key: str) -> RawAnswer | None:
        """A stored answer; a file that merely exists is none."""
        if key not in self._answers:
            proven = self._proof(_proof_of(key))
            if proven is None:
                return None
            self._answers[key] = replace(read_answer(key, proven.text), key=key)
        return self._answers[key]

    def answers(self) -> dict[str, RawAnswer]:
        """Every stored answer, by its key."""
        names = self._proofs.names() if self._proofs is not None else ()
        keys = (_key_of(name) for name in names if name.endswith(".md"))
        stored = ((key, self.answer(key)) for key in keys)
        return {key: answer for key, answer in stored if answer is not None}

    def show_answers(self) -> tuple[str, ...]:
        """Make the files of the answers agree with the proofs; the files that were moved away."""
        answers = self.answers()
        strangers = [key for key in self._answer_keys() if key not in answers]
        moved = [f"{key}.md" for key in strangers if self.set_aside(f"{key}.md")]
        return (*moved, *(f"{key}.md" for key, each in answers.items() if self._show_answer(each)))

    def _show_answer(self, answer: RawAnswer) -> str:
        """Write the file of an answer; where anything else is now that had its name."""
        name, text = f"{answer.key}.md", answer_file(answer)
        if self._shown(name) == text:
            return ""
        aside = self.set_aside(name)
        self.save_documents({name: text})
        return aside

    def _answer_keys(self) -> Iterator[str]:
        rounds = self._files.names(self._path(ANSWER_ROUNDS))
        for folder in (*ANSWER_FOLDERS, *(f"{ANSWER_ROUNDS}/{name}" for name in rounds)):
            for name in self._files.names(self._path(folder)):
                if name.endswith(".md"):
                    yield f"{folder}/{name.removesuffix('.md')}"

    # -- documents and events --------------------------------------------------------------

    def save_documents(self, documents: Mapping[str, str]) -> None:
        """Write documents of the job in one step; the same text again changes nothing."""
        edits = {self._path(name): _always(text) for name, text in documents.items()}
        self._files.update_all(edits, command=f"job {self.job}", may_create=True)

    def document(self, name: str) -> str:
        """The text of a document of the job; empty if there is none."""
        loaded = self._files.load_if_present(self._path(name))
        return loaded.text if loaded else ""

    def document_bytes(self, name: str) -> bytes:
        """The bytes of a document of the job; empty if there is none."""
        return self._files.content(self._path(name)) or b""

    def save_decision(self, name: str, content: Mapping[str, object]) -> None:
        """Write down what a person decided, as a JSON document of the job."""
        text = record_text(content)
        assert self._proofs is not None, "a decision without a proof would never count"
        self._prove(name, text)
        if self._shown(name) != text:
            self.set_aside(name)
            self.save_documents({name: text})

    def decision(self, name: str) -> dict[str, object]:
        """What a person decided; empty if there is nothing. A file that merely exists is nothing."""
        proven = self._proof(name)
        return content_of(self._path(name), proven.text) if proven else {}

    def _prove(self, name: str, text: str) -> None:
        """Write a proof; an agent may not, even one that runs our own command."""
        assert self._proofs is not None
        self._files.require_writable(f"job {self.job}")
        self._proofs.save(name, text)

    def _proof(self, name: str) -> ProvenText | None:
        if name == JOB_RECORD and self._own is not None:
            return self._own
        return self._proofs.find(name) if self._proofs is not None else None

    def _shown(self, name: str) -> str | None:
        """The text of a document as it lies in the folder; None if no document has this name."""
        loaded = self._files.peek(self._path(name))
        return loaded.text if loaded else None

    def set_aside(self, name: str) -> str:
        """Move whatever has the name of a document to `replaced`; where it is now, or nothing.

        A folder on the way that is none is moved instead: an agent may leave a link or a pipe.
        """
        home = self._home
        parts = components(name)
        with Root(self.folder) as root:
            for at, part in enumerate(parts):
                found = root.stat(f"{home}/{part}")
                if found is None:
                    return ""
                if at == len(parts) - 1 or not stat.S_ISDIR(found.st_mode):
                    break
                home = f"{home}/{part}"
            kept = root.stat(self._path(REPLACED))
            token = os.urandom(4).hex()
            where = REPLACED if kept is None or stat.S_ISDIR(kept.st_mode) else f"moved-{token}"
            source, target = root.folder(home), root.kept_folder(self._path(where))
            assert source is not None
            with source, target:
                try:
                    source.move(part, target, f"{token}-{part}")
                except FileNotFoundError:  # another call of the job has just moved it
                    return ""
                except OSError as error:
                    raise storage_error(f"{home}/{part}", error) from error
                target.sync()
        return self._path(f"{where}/{token}-{part}")

    def keep_replaced(self, path: str, text: str) -> str:
        """Keep a document as it was before the job replaced it; the path of the copy."""
        mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
        kept = self._path(f"{REPLACED}/{mark}-{path.rpartition('/')[2]}")
        self._files.update(kept, lambda _: text, command=f"job {self.job}", may_create=True)
        return kept

    def append_event(self, event: dict[str, object]) -> None:
        """Add a line to the journal of the job."""
        line = json.dumps(event, sort_keys=True, default=str) + "\n"
        path = self._path(EVENTS)
        # Not durable: the journal is for people, and syncing each line would slow every step.
        journal = Journal(self._files.folder, path, is_durable=False)
        try:
            journal.append(lambda _: line, command=f"job {self.job}")
        except DocumentError:  # not a file: no decision reads it, so it must not stop the job
            self.set_aside(EVENTS)
            with suppress(DocumentError):
                journal.append(lambda _: line, command=f"job {self.job}")

    def open_output(self) -> int:
        """Open the file for the output of a job in the background; the caller closes it."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        with Root(self.folder) as root, root.kept_folder(self._home) as home:
            found = home.stat(OUTPUT_LOG)
            if found is not None and not stat.S_ISREG(found.st_mode):
                self.set_aside(OUTPUT_LOG)  # a pipe without a reader would stop the job
            try:
                return os.open(OUTPUT_LOG, flags | os.O_CLOEXEC, 0o600, dir_fd=home.fd)
            except OSError as error:
                raise storage_error(self._path(OUTPUT_LOG), error) from error

    def output_path(self) -> str:
        """The file with the output of a job in the background; empty: it has none."""
        path = self._path(OUTPUT_LOG)
        return path if self._is_file(path) else ""

    # -- paths -----------------------------------------------------------------------------

    def paths(self, plan: str = "") -> tuple[str, ...]:
        """Every document of the job: all are committed, so that the job can be checked later.

        With a plan, the gates of other plans are left out.
        """
        names = [name for name in self._files.names(self._home) if name.endswith(_DOCUMENTS)]
        for folder in _FOLDERS:
            lead = f"{plan}-" if plan and folder == GATES else ""
            inside = self._files.names(self._path(folder))
            names += [f"{folder}/{name}" for name in inside if name.startswith(lead)]
        names += [f"{key}.md" for key in self._answer_keys()]
        return tuple(path for name in names if self._is_file(path := self._path(name)))

    def _is_file(self, path: str) -> bool:
        with Root(self.folder) as root:
            found = root.stat(path)
        return found is not None and stat.S_ISREG(found.st_mode)

    def complete_interrupted(self) -> None:
        """Complete a step that a killed command left in the folder of the job."""
        self._files.complete_interrupted()

    def own_paths(self) -> tuple[str, ...]:
        """The absolute paths of the files that only the run writes; people add their answers.

        The gates are not among them: `gate_files` lists those of every job.
        """
        questions = self._files.names(self._path(QUESTIONS))
        names = [JOB_RECORD, *(f"{QUESTIONS}/{name}" for name in questions)]
        return tuple(f"{self.folder}/{self._path(name)}" for name in names)

    def question_place(self, question: Question) -> str:
        """The absolute path of a question."""
        return f"{self.folder}/{self._path(f'{QUESTIONS}/{question.id}.json')}"

    def note_write(self, path: str, text: str) -> None:
        """Remember that the run itself writes this text, so that the tamper check accepts it."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        self.baselines.wrote(f"{self.folder}/{path}", digest)

    def _path(self, name: str) -> str:
        return f"{self._home}/{name}"

    def _all(self, folder: str) -> Iterator[tuple[str, object]]:
        for name in self._files.names(self._path(folder)):
            path = self._path(f"{folder}/{name}")
            loaded = self._files.load_if_present(path) if name.endswith(".json") else None
            if loaded is not None:
                yield path, content_of(path, loaded.text)

    def _save(self, name: str, content: Mapping[str, object]) -> None:
        text, path = record_text(content), self._path(name)
        self.note_write(path, text)
        self._files.update(path, lambda _: text, command=f"job {self.job}", may_create=True)


def record_text(content: Mapping[str, object]) -> str:
    """The text of a JSON document of a job."""
    return json.dumps({"version": VERSION, **content}, ensure_ascii=False, indent=2) + "\n"


def content_of(path: str, text: str) -> dict[str, object]:
    """The content of a JSON document of a job; anything else is refused with its place."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        at = {"line": error.lineno, "column": error.colno}
        raise MalformedRecord(path, "JSON", error.msg, **at) from None
    except (ValueError, RecursionError) as error:  # an overlong number, or too deep a nesting
        raise MalformedRecord(path, "JSON", str(error)) from None
    if not isinstance(content, dict):
        raise MalformedRecord(path, "a map", content)
    if content.get("version", VERSION) != VERSION:
        raise MalformedRecord(path, f"version {VERSION}", content.get("version"))
    return content


def _kind_of(content: Mapping[str, object]) -> str:
    return str(content.get("kind") or EXECUTE)


def _proof_of(key: str) -> str:
    """The name of an answer among the proofs, which have no folders."""
    return f"{key.replace('/', '~')}.md"


def _key_of(proof: str) -> str:
    return proof.removesuffix(".md").replace("~", "/")


def _always(text: str) -> Edit:
    return lambda _: text
