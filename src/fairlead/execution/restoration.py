"""Restoration: puts back what an agent changed, as it was before the agent started.

What the agent left is stored as well, so that a person can still accept it: the acceptance binds
the digests that were recorded with the question. A file that somebody changed again since is left
as it is.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from fairlead.core.errors import FairleadError
from fairlead.core.values import replace
from fairlead.execution.decide import ABORT, ACCEPT, REJECT
from fairlead.jobs.guarded_proofs import is_proof
from fairlead.jobs.paths import APPROVED, JOBS, LEDGER, REPLACED, job_path
from fairlead.project.state.gate_rules import GateEvent, GateStatus, advance
from fairlead.store import layout
from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.digests import digest_of
from fairlead.store.staging import writing_name
from fairlead.vcs.refs import is_odd

if TYPE_CHECKING:
    from fairlead.jobs.baseline import TouchedFiles
    from fairlead.jobs.folder import JobFolder
    from fairlead.jobs.model import Question
    from fairlead.vcs.ports import Workspace

_EXECUTABLE = "+x"  # at the end of the digest of an executable file
_LARGEST = 16 << 20  # bytes of a file that can be restored
_FAILURES = {
    GateStatus.EXECUTING: GateEvent.EXECUTOR_FAILURE,
    GateStatus.VERIFYING: GateEvent.VERIFY_FAILED,
    GateStatus.REVIEWING: GateEvent.MALFORMED,
}


class Restoration:
    """Restores what the agents of one job changed."""

    def __init__(self, folder: JobFolder, workspace: Workspace) -> None:
        self._folder = folder
        self._baselines = folder.baselines
        self._workspace = workspace

    def keep_contents(self, digests: Mapping[str, str]) -> None:
        """Store the contents of guarded files; one that changes meanwhile is left out."""
        kept = self._baselines.kept  # nearly every content is stored after the first call
        for name, digest in [pair for pair in digests.items() if pair[1] not in kept]:
            plain = digest.removesuffix(_EXECUTABLE)
            if plain in kept or is_ref(name) or not _is_digest(plain):
                continue
            content = _content(self._workspace.path_of(name))
            if content is not None and hashlib.sha256(content).hexdigest() == plain:
                self._baselines.keep_content(plain, content)

    def may_wait(self, name: str) -> bool:
        """Whether a person may have made a change: then it stays until the person answers."""
        is_document = name.startswith(f"{self._folder.folder}/{layout.PLANNING}/")
        inside = name.removeprefix(f"{self._folder.folder}/")
        is_record = inside.startswith((f"{JOBS}/", f"{LEDGER}/"))
        is_approvals = f"/{APPROVED}/" in name and not is_document
        is_plan_or_setting = is_document and not is_proof(name) and not is_record
        return is_ref(name) or is_approvals or is_plan_or_setting

    def restored_at_once(self, touched: TouchedFiles) -> list[str]:
        """The names that no person changes; also what no person puts in the place of a ref."""
        odd = {name for name, state in touched.after.items() if is_ref(name) and is_odd(state)}
        names = sorted({*touched.before, *touched.after})
        return [name for name in names if name in odd or not self.may_wait(name)]

    def settle(self, questions: Iterable[Question], *, is_over: bool = False) -> list[str]:
        """Carry out the answers about touched files; what could not be restored, as lines.

        If the job is over, questions without an answer count as aborted.
        """
        answers = {each.id: each.answer for each in questions}
        problems: list[str] = []
        for touched in self._baselines.touched():
            answer = answers.get(touched.question, "") or (ABORT if is_over else "")
            if answer == ACCEPT:
                problems += self._put_back(touched)
            elif answer in (REJECT, ABORT):
                problems += self.restore(touched, sorted({*touched.before, *touched.after}))
                self._fail_attempt(touched)
            else:
                continue
            self._baselines.forget_touched(touched.question)
        return problems

    def restore(self, touched: TouchedFiles, names: Iterable[str]) -> list[str]:
        """Put names back as they were; those that cannot be, as lines."""
        return [
            problem
            for name in names
            if (
                problem := self._set(
                    name, touched.after.get(name, ""), touched.before.get(name, "")
                )
            )
        ]

    def _put_back(self, touched: TouchedFiles) -> list[str]:
        """Give what a person accepted the content that the agent wrote."""
        problems = []
        for name in sorted({*touched.before, *touched.after}):
            before, after = touched.before.get(name, ""), touched.after.get(name, "")
            if not self.may_wait(name) and (problem := self._set(name, before, after)):
                problems.append(problem)
            self._baselines.wrote(name, after)
        return problems

    def _set(self, name: str, expected: str, wanted: str) -> str:
        """Change a name from one recorded state to another; why that cannot be done."""
        now = self._state(name)
        if now == wanted:
            return ""
        if now != expected:
            return f"{name} was changed again since, and is left as it is"
        try:
            if is_ref(name):
                self._workspace.restore_ref(name, wanted, expected)
            else:
                self._write(self._workspace.path_of(name), wanted)
        except (FairleadError, OSError) as error:
            return f"{name} could not be restored: {error}"
        return ""

    def _state(self, name: str) -> str:
        if is_ref(name) or name.startswith(".git/"):
            return self._workspace.guard().get(name, "")
        return self._workspace.guard().get(name, "") or digest_of(name)

    def _write(self, path: str, wanted: str) -> None:
        """Write a stored content, or remove the file; below the project no link is followed."""
        project = self._folder.folder
        is_inside = path.startswith(f"{project}/")
        home, inside = (project, path[len(project) + 1 :]) if is_inside else os.path.split(path)
        content = self._baselines.content(wanted.removesuffix(_EXECUTABLE)) if wanted else None
        if wanted and content is None:
            raise OSError("its content was not stored")
        above, _, name = inside.rpartition("/")
        if content is not None:
            os.makedirs(home, exist_ok=True)
        with Root(home) as root:
            if content is not None and above:
                root.make_folder(above).close()
            folder = root.parent(inside)
        if folder is None:
            return
        with folder, suppress(FileNotFoundError):
            if content is None:
                self._remove(folder, name, path)
            else:
                _replace(folder, name, content, is_executable=wanted.endswith(_EXECUTABLE))
            folder.sync()

    def _remove(self, folder: ConfinedFolder, name: str, path: str) -> None:
        """Remove a file; a folder in its place is moved to what the job replaced."""
        found = folder.stat(name)
        if found is None or not stat.S_ISDIR(found.st_mode):
            folder.remove(name)
            return
        mark = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
        with Root(self._folder.folder) as root:
            kept = root.kept_folder(job_path(self._folder.job, REPLACED))
        with kept:
            folder.move(name, kept, f"{mark}-{os.urandom(4).hex()}-{name}")
            kept.sync()

    def _fail_attempt(self, touched: TouchedFiles) -> None:
        """Count the attempt during which something was touched as failed."""
        gate = self._folder.load_gate(touched.task)
        event = _FAILURES.get(gate.gate.status) if gate and gate.gate.status else None
        if gate is None or event is None:
            return
        names = ", ".join(sorted({*touched.before, *touched.after}))
        note = f"it changed what no agent may change: {names}"
        failed = advance(gate.gate, event, task=gate.name, summary=note)
        self._folder.save_gate(replace(gate, gate=failed, note=note))


def _replace(folder: ConfinedFolder, name: str, content: bytes, *, is_executable: bool) -> None:
    new = writing_name()
    with open(folder.create(new, 0o755 if is_executable else 0o644), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    folder.move(new, folder, name)


def is_ref(name: str) -> bool:
    """Whether a guarded name is a ref or HEAD instead of a file."""
    return name == "HEAD" or name.startswith("refs/")


def _is_digest(text: str) -> bool:
    return len(text) == 64 and text.isalnum()


def _content(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError:
        return None
    return content if len(content) <= _LARGEST else None
