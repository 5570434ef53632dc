"""Summaries and verifications that appear while a role or a council seat works.

They prove nothing unless a run wrote them. What something else wrote is moved to the folder of the
job, and the version from before the call is written again. Executions have a tamper check of their
own, which asks a person about more than proofs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from fairlead.core.concurrency import Mutex
from fairlead.jobs.baseline import baselines_of_jobs
from fairlead.jobs.paths import GATES, JOBS, LEDGER, REPLACED, SEEN, job_path, private_folder
from fairlead.project.naming import is_artefact, is_plan, is_summary, is_verification
from fairlead.store import layout
from fairlead.store.confined import Root
from fairlead.store.digests import (
    FileSignature,
    digest_of,
    digests_of,
    entries_of,
    file_signature,
    signatures_of,
)
from fairlead.store.staging import STAGING, writing_name

_UNSURE_NS = 2_000_000_000  # between two clocks, and while a baseline is made
_DEEPEST = 8  # folders below the planning folder
_LARGEST = 1 << 20  # bytes of a document that can be written again


@lru_cache(1 << 14)
def _is_guarded(name: str) -> bool:
    return is_proof(name) or is_plan(name) or is_artefact(name, "UAT")


def is_proof(name: str) -> bool:
    """Whether a file would be read as a summary or a verification."""
    last = name.rpartition("/")[2]
    return is_summary(last) or is_verification(last)


def planning_documents(project: str) -> dict[str, FileSignature]:
    """Everything in the planning folder that has the name of a plan, a proof or a person's tests.

    Folders and links count as well: they could hide a file or be replaced by one later.
    """
    top = f"{project}/{layout.PLANNING}"
    left_out = {f"{project}/{JOBS}", f"{project}/{LEDGER}", f"{project}/{STAGING}"}
    folders = [(top, 0)]
    guarded: list[os.DirEntry[str]] = []
    while folders:
        folder, depth = folders.pop()
        listed = [entry for entry in entries_of(folder) if entry.path not in left_out]
        if depth < _DEEPEST:
            inner = (entry for entry in listed if entry.is_dir(follow_symlinks=False))
            folders += [(entry.path, depth + 1) for entry in inner]
        guarded += [entry for entry in listed if _is_guarded(entry.name)]
    return signatures_of(guarded)


def gate_files(project: str) -> dict[str, FileSignature]:
    """The gates of every job: only the run of the job writes them, and the next run reads them."""
    found: dict[str, FileSignature] = {}
    for job in entries_of(f"{project}/{JOBS}"):
        found |= signatures_of(entries_of(f"{job.path}/{GATES}"))
    return found


def unchecked_proofs(project: str, state: str) -> frozenset[str]:
    """The summaries and verifications that appeared during calls which nobody has checked yet.

    Paths from the project's folder. Their run was killed, or is still going on. `state` is the
    user's state folder.
    """
    found = set[str]()
    for baselines in baselines_of_jobs(
        os.path.dirname(private_folder(state, project, "job")), SEEN
    ):
        for baseline in baselines.left():
            if baseline.digests is None or not baseline.is_of_this_boot:
                continue
            # The change time of a file cannot be set, so older files need not be read.
            since = (file_signature(baseline.place) or (0,))[-1] - _UNSURE_NS
            documents = planning_documents(project).items()
            places = [path for path, each in documents if is_proof(path) and each[-1] >= since]
            found |= {
                path.removeprefix(f"{project}/")
                for path, digest in digests_of(places).items()
                if baseline.digests.get(path) != digest and not baselines.has_written(path, digest)
            }
    return frozenset(found)


class GuardedProofs:
    """The proofs of a project, and the gates of its jobs, as they are before the calls of a job.

    Calls that run at the same time share what was there before the first of them. Otherwise one
    call would restore what another one forged.
    """

    def __init__(self, project: str, job: str, runs: str) -> None:
        self._project, self._job = project, job
        self._runs = runs  # the private folder of all jobs
        self._turn, self._calls = Mutex(), 0
        self._before: dict[str, FileSignature] = {}
        self._contents: dict[str, bytes | None] = {}

    def begin(self) -> None:
        """Remember the proofs: a call begins."""
        with self._turn:
            if not self._calls:
                self._before = dict(self._signatures())
                self._contents = {path: _content(path) for path in self._before}
            self._calls += 1

    def put_aside(self) -> list[str]:
        """Put aside what appeared or changed since, unless a run wrote it; the names of that.

        The call is over.
        """
        with self._turn:
            self._calls -= 1
            now = dict(self._signatures())
            changed = [
                path
                for path in sorted({*self._before, *now})
                if self._before.get(path) != now.get(path) and not self._is_written(path)
            ]
            found = [path for path in changed if self._restore(path)]
        return [path.removeprefix(f"{self._project}/") for path in found]

    def _signatures(self) -> Iterator[tuple[str, FileSignature]]:
        documents = planning_documents(self._project).items()
        yield from (each for each in documents if is_proof(each[0]))
        yield from gate_files(self._project).items()

    def _is_written(self, path: str) -> bool:
        digest = digest_of(path)
        for baselines in baselines_of_jobs(self._runs, SEEN):
            baselines.load_writes()
            if baselines.has_written(path, digest):
                return True
        return False

    def _restore(self, path: str) -> bool:
        """Give a path its content from before the call; False: it has that content."""
        content = self._contents.get(path)
        if content is not None and content == _content(path):
            return False
        inside = path.removeprefix(f"{self._project}/")
        name = inside.rpartition("/")[2]
        with Root(self._project) as root:
            above = inside.removesuffix(f"/{name}")
            folder = root.parent(inside) if content is None else root.make_folder(above)
            kept = root.kept_folder(job_path(self._job, REPLACED))
        if folder is None:
            return True
        with folder, kept:
            with suppress(FileNotFoundError):  # another call of the job has just moved it
                folder.move(name, kept, f"{os.urandom(4).hex()}-{name}")
            if content is not None:
                new = writing_name()
                with open(folder.create(new, 0o644), "wb") as file:
                    file.write(content)
                folder.move(new, folder, name)
            kept.sync()
            folder.sync()
        return True


def _content(path: str) -> bytes | None:
    """The content of a regular file; None of anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError:
        return None
    return content if len(content) <= _LARGEST else None
