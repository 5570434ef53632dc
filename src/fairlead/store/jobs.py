"""Jobs on disk: a folder a job, a file a gate, and nothing that has to be remembered elsewhere.

Each job has a desk and a lock of its own, so that writing a gate never waits for the project's
documents. The journal is for people; nobody decides from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fairlead.errors import DocumentError, MalformedRecord, OtherJob, UnknownJob
from fairlead.model.job import COUNCIL, Job, Question, TaskGate
from fairlead.model.plain import plain, revived
from fairlead.store import layout
from fairlead.store.digests import Derived, marks_in
from fairlead.store.files import Files
from fairlead.store.journal import Journal
from fairlead.store.layout_roles import CALLS, REPLACED
from fairlead.store.load import Reader
from fairlead.store.lock import RUN_WAITS
from fairlead.store.witness import Witness

if TYPE_CHECKING:
    from fairlead.model.council_job import CouncilJob
    from fairlead.model.roles import Call

VERSION = 1


def job_ids(reader: Reader) -> tuple[str, ...]:
    """Every job that has a record, the newest last."""
    names = reader.names(layout.JOBS)
    return tuple(each for each in names if reader.exists(layout.job_path(each, layout.JOB_RECORD)))


def job_records(
    reader: Files, ids: Iterable[str] | None = None
) -> Iterator[Job | CouncilJob | DocumentError]:
    """The records of jobs; of one that is damaged what is wrong, so that it hides no other."""
    for job in job_ids(reader) if ids is None else ids:
        try:
            yield JobFiles(reader.folder, job, is_read_only=True).load_record()
        except DocumentError as problem:
            yield problem


class JobFiles:
    """The files of one job."""

    def __init__(
        self,
        folder: str,
        job: str,
        *,
        wait_seconds: float = RUN_WAITS,
        is_read_only: bool = False,
        witness: Witness | None = None,
    ) -> None:
        self.job = job
        self.witness = witness or Witness()
        self._home = layout.job_path(job)
        self._files = Files(
            folder,
            desk=f"{self._home}/{layout.DESK_NAME}",
            wait_seconds=wait_seconds,
            is_read_only=is_read_only,
        )
        self._gates = Derived(self._gate)

    def save_job(self, job: Job | CouncilJob) -> None:
        """The record of the job as it is now."""
        self._save(layout.JOB_RECORD, plain(job))

    def load_job(self) -> Job:
        """The record of a job that carries out a phase; a council's is refused."""
        held = self.load_record()
        if not isinstance(held, Job):
            raise OtherJob(self.job, held.kind)
        return held

    def load_council(self) -> CouncilJob:
        """The record of a council job; any other is refused."""
        held = self.load_record()
        if isinstance(held, Job):
            raise OtherJob(self.job, held.kind)
        return held

    def load_record(self) -> Job | CouncilJob:
        """The record of the job, of whichever kind it is."""
        path = f"{self._home}/{layout.JOB_RECORD}"
        loaded = self._files.load_if_present(path)
        if loaded is None:
            raise UnknownJob(self.job, job_ids(self._files))
        content = content_of(path, loaded.text)
        if content.get("kind") == COUNCIL:
            from fairlead.model.council_job import CouncilJob

            return revived(CouncilJob, content, path)
        return revived(Job, content, path)

    def save_gate(self, gate: TaskGate) -> None:
        """A task as it is now."""
        self._save(f"{layout.GATES}/{gate.task}.json", plain(gate))

    def load_gates(self) -> tuple[TaskGate, ...]:
        """Every task that has begun."""
        found = marks_in(self._files.folder, f"{self._home}/{layout.GATES}").items()
        gates = (self._gates.of(path, marks) for path, marks in found if path.endswith(".json"))
        return tuple(gate for gate in gates if gate is not None)

    def load_gate(self, task: str) -> TaskGate | None:
        """One task; None: it has not begun."""
        return self._gate(f"{self._home}/{layout.GATES}/{task}.json")

    def _gate(self, path: str) -> TaskGate | None:
        loaded = self._files.load_if_present(path)
        return revived(TaskGate, content_of(path, loaded.text), path) if loaded else None

    def save_question(self, question: Question) -> None:
        """A question, or its answer."""
        self._save(f"{layout.QUESTIONS}/{question.id}.json", plain(question))

    def load_questions(self) -> tuple[Question, ...]:
        """Every question that was asked, the oldest first."""
        held = [revived(Question, each, path) for path, each in self._all(layout.QUESTIONS)]
        return tuple(sorted(held, key=lambda each: (each.asked_at, each.id)))

    def save_call(self, call: Call) -> None:
        """A call of a role as it is now."""
        self._save(f"{CALLS}/{call.key}.json", plain(call))

    def load_calls(self) -> tuple[Call, ...]:
        """Every call of a role, in the order in which they began."""
        from fairlead.model.roles import Call

        held = [revived(Call, each, path) for path, each in self._all(CALLS)]
        return tuple(sorted(held, key=lambda each: (each.started_at, each.key)))

    def load_call(self, key: str) -> Call | None:
        """One call by its key; None: it was not made."""
        from fairlead.model.roles import Call

        path = f"{self._home}/{CALLS}/{key}.json"
        loaded = self._files.load_if_present(path)
        return revived(Call, content_of(path, loaded.text), path) if loaded else None

    def keep(self, path: str, text: str) -> str:
        """A document as it was before the job replaced it; the path of the copy."""
        mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
        kept = f"{self._home}/{REPLACED}/{mark}-{path.rpartition('/')[2]}"
        self._files.update(kept, lambda _: text, command=f"job {self.job}", may_create=True)
        return kept

    def tell(self, event: dict[str, object]) -> None:
        """A line in the journal of the job."""
        line = json.dumps(event, sort_keys=True, default=str) + "\n"
        path = f"{self._home}/{layout.EVENTS}"
        journal = Journal(self._files.folder, path, is_durable=False)  # nobody decides from it
        journal.append(lambda _: line, command=f"job {self.job}")

    def paths(self) -> tuple[str, ...]:
        """Every document of the job."""
        found = [layout.JOB_RECORD, layout.EVENTS]
        for folder in (layout.GATES, layout.QUESTIONS, CALLS, REPLACED):
            found += [f"{folder}/{name}" for name in self._files.names(f"{self._home}/{folder}")]
        return tuple(path for each in found if self._files.exists(path := f"{self._home}/{each}"))

    def wrote(self, path: str, text: str) -> None:
        """Whoever looks for what others changed knows this as our doing."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        self.witness.wrote(f"{self._files.folder}/{path}", digest)

    def own_paths(self) -> tuple[str, ...]:
        """What only the run writes, as places on the disk; people add their answers."""
        found = [layout.JOB_RECORD]
        for folder in (layout.GATES, layout.QUESTIONS):
            found += [f"{folder}/{name}" for name in self._files.names(f"{self._home}/{folder}")]
        return tuple(f"{self._files.folder}/{self._home}/{each}" for each in found)

    def question_place(self, question: Question) -> str:
        """Where a question is on the disk."""
        return f"{self._files.folder}/{self._home}/{layout.QUESTIONS}/{question.id}.json"

    def _all(self, folder: str) -> Iterable[tuple[str, object]]:
        for name in self._files.names(f"{self._home}/{folder}"):
            path = f"{self._home}/{folder}/{name}"
            loaded = self._files.load_if_present(path) if name.endswith(".json") else None
            if loaded is not None:
                yield path, content_of(path, loaded.text)

    def _save(self, name: str, content: dict[str, object]) -> None:
        text = json.dumps({"version": VERSION, **content}, ensure_ascii=False, indent=2) + "\n"
        path = f"{self._home}/{name}"
        self.wrote(path, text)
        self._files.update(path, lambda _: text, command=f"job {self.job}", may_create=True)


def content_of(path: str, text: str) -> dict[str, object]:
    """What a record of ours holds; anything else is refused with its place."""
    try:
        held = json.loads(text)
    except json.JSONDecodeError as error:
        at = {"line": error.lineno, "column": error.colno}
        raise MalformedRecord(path, "JSON", error.msg, **at) from None
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond all measure
        raise MalformedRecord(path, "JSON", str(error)) from None
    if not isinstance(held, dict):
        raise MalformedRecord(path, "a map", held)
    if held.get("version", VERSION) != VERSION:
        raise MalformedRecord(path, f"version {VERSION}", held.get("version"))
    return held
