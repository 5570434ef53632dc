"""The kinds of jobs: what execution, workflows and council each add to the common mechanism.

A kind is one row. The packages above define their rows, the composition root puts them into one
`JobKinds`, and everything that lists, shows, answers or ends jobs goes through it. This package
therefore imports no kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from fairlead.core.clock import Clock
from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass
from fairlead.jobs.folder import JobFolder, job_ids
from fairlead.jobs.model import EXECUTE, JobRecord, Question
from fairlead.jobs.paths import JOB_RECORD, job_path
from fairlead.store.files import Files
from fairlead.store.reader import Reader

Record = TypeVar("Record", bound=JobRecord)


class JobAccess(Protocol):
    """The part of `jobs.service.Jobs` that a kind may use."""

    files: Files
    state: Files
    clock: Clock

    def folder(self, job: str) -> JobFolder:
        """The folder of a job."""
        ...

    def end_run(self, record: JobRecord) -> None:
        """End the process that runs a job, if there is one; its calls end first."""
        ...

    def own_questions(self, job: str) -> tuple[Question, ...]:
        """The questions in the folder of a job, with valid answers."""
        ...

    def questions(self, record: JobRecord) -> tuple[Question, ...]:
        """The questions that people answer under the name of a job."""
        ...


def _asks_itself(_jobs: JobAccess, job: JobRecord) -> str:
    return job.id


@dataclass(frozen=True, slots=True)
class JobKind(Generic[Record]):
    """One kind of job."""

    record: type[Record]  # the class that job.json is read into
    lock: Callable[[Record], str]  # the lock that its one runner holds
    report: Callable[[JobAccess, Record], Any]  # what `job show` shows
    cancel: Callable[[JobAccess, Record], JobRecord]
    # The job whose questions people answer under this job's name; empty: there is none yet.
    asking_job: Callable[[JobAccess, Record], str] = _asks_itself
    # Carries out an answer that does not wait for the next run.
    answered: Callable[[JobAccess, Record], None] = lambda _jobs, _job: None


class JobKinds:
    """Every kind of job that a project may hold, by the `kind` in its record.

    A row is built when a job of its kind is first met, because building one loads the package
    that owns the kind, and `job list` in a project without such jobs must not pay for that.
    """

    def __init__(self, kinds: Mapping[str, Callable[[], JobKind[Any]]]) -> None:
        self._factories = kinds
        self._kinds: dict[str, JobKind[Any]] = {}

    def of(self, name: str) -> JobKind[Any]:
        """The kind of this name. Records of workflows are read like those of an execution."""
        key = name if name in self._factories else EXECUTE
        if key not in self._kinds:
            self._kinds[key] = self._factories[key]()
        return self._kinds[key]

    def load(self, folder: JobFolder) -> JobRecord:
        """The record in a folder, of whichever kind it is."""
        record: JobRecord = folder.load_by_kind(lambda kind: self.of(kind).record)
        return record

    def load_saved(self, folder: JobFolder) -> JobRecord | None:
        """The record as its job saved it, of whichever kind; None: there is no proof of it."""
        record: JobRecord | None = folder.saved_by_kind(lambda kind: self.of(kind).record)
        return record

    def records(
        self, reader: Reader, ids: Iterable[str] | None = None
    ) -> Iterator[JobRecord | DocumentError]:
        """The records of jobs. A damaged one yields its error, so that it hides no other."""
        for job in job_ids(reader) if ids is None else ids:
            make = partial(self._loaded, reader.folder, job)
            path = f"{reader.folder}/{job_path(job, JOB_RECORD)}"
            yield reader.cache.of_file(JobRecord, path, make) if reader.cache else make()

    def _loaded(self, folder: str, job: str) -> JobRecord | DocumentError:
        try:
            return self.load(JobFolder(folder, job, is_read_only=True))
        except DocumentError as problem:
            return problem
