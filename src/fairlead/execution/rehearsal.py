"""Rehearsals: scripted agents do the same work in a private copy of the project.

Every project has at most one copy, in which one rehearsed command goes on after the other. It is
made again when the documents of the project have changed since. With --here a rehearsal works in
the project itself, and only beside nothing real; what was there before is kept, so that it can be
taken back. Nothing a rehearsal writes counts as a proof.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from fairlead.core.errors import FairleadError
from fairlead.core.values import dataclass, replace
from fairlead.execution.errors import NotRehearsed, RehearsalBusy, RehearsalMixed
from fairlead.jobs.approvals import approve_plans, approved_plans
from fairlead.jobs.paths import runs_path
from fairlead.project.derive.inventory import Inventory, PhaseFolder, Plan, Proof, Verification
from fairlead.project.derive.scan import scan
from fairlead.store.files import Files, make_private_folders
from fairlead.store.layout import (
    PLANNING,
    REHEARSALS,
    STATE,
    has_project,
    nearest_folder,
    project_key,
)
from fairlead.store.reader import Reader
from fairlead.store.staging import STAGING
from fairlead.text.fast_frontmatter import read_front
from fairlead.vcs.errors import TreeDirty

KEPT = 8  # copies of different projects, including the new one
_HERE = "here-"  # the folder with what was there before a rehearsal in the project itself
_ORIGIN, _BEFORE, _DISCARDED = "origin.json", "before", "discarded"
_LEFT_OUT = (".git", "node_modules", ".venv", "__pycache__")  # of a project without git
# Rewritten by hooks and by commands that change nothing else, or written by jobs.
_NOT_COMPARED = (STATE, STAGING, f"{PLANNING}/jobs", f"{PLANNING}/ledger")


class Copies(Protocol):
    """Makes private copies of projects, one for each name."""

    def find(self, name: str) -> str:
        """The folder of a project in its copy; empty: there is none."""
        ...

    def origin(self, name: str) -> str:
        """What was recorded when the copy was made."""
        ...

    def new(self, folder: str, name: str, origin: str) -> str:
        """Make a copy of a project, and return its folder."""
        ...

    def old(self, kept: int) -> tuple[str, ...]:
        """Every copy except those used last."""
        ...

    def remove(self, place: str, more: Iterable[str]) -> None:
        """Remove a copy, and other folders that belong to it."""
        ...


class Repository(Protocol):
    """The part of git that taking back a rehearsal in the project needs."""

    is_git: bool

    def branch(self) -> str:
        """The branch that is checked out; empty without git."""
        ...

    def commit_of(self, name: str) -> str:
        """The commit that a name stands for; empty if there is none."""
        ...

    def dirty_paths(self, left_out: str) -> tuple[str, ...]:
        """The changed paths outside a folder."""
        ...

    def messages_since(self, base: str) -> Mapping[str, str]:
        """The messages of the commits after a commit, by their ids, the newest first."""
        ...

    def restore_folder(self, path: str) -> None:
        """Make the files below a folder those of the last commit."""
        ...

    def restore_ref(self, name: str, wanted: str, expected: str) -> None:
        """Move a branch back, and the files of the working tree with it."""
        ...

    def branches(self, prefix: str) -> tuple[str, ...]:
        """The branches whose names begin like this."""
        ...


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The copy in which a project is rehearsed."""

    folder: str
    project: str
    started_at: str
    is_outdated: bool  # the documents of the project have changed since


@dataclass(frozen=True, slots=True)
class DiscardedRehearsal:
    """What the end of a rehearsal deleted and took back."""

    folder: str = ""  # the copy; empty: there was none
    is_taken_back: bool = False  # a rehearsal in the project itself
    kept: str = ""  # the documents of that one
    commits: tuple[str, ...] = ()  # taken off the branch


@dataclass(frozen=True, slots=True)
class _Origin:
    """What is recorded of the project when its rehearsal begins."""

    project: str
    started_at: str
    memory: str  # a digest of its documents
    branch: str = ""  # of a rehearsal in the project itself, like the next one
    head: str = ""

    def text(self) -> str:
        return json.dumps({"version": 1, **{name: getattr(self, name) for name in _FIELDS}})


_FIELDS = ("project", "started_at", "memory", "branch", "head")


class Rehearsals:
    """The rehearsals of one user."""

    def __init__(
        self,
        state: Files,
        copies: Copies,
        workspace_of: Callable[[str], Repository],
        now: Callable[[], str],
        running_job: Callable[[str], str],  # in a folder; empty: nothing runs there
    ) -> None:
        self._state = state
        self._copies = copies
        self._workspace_of = workspace_of
        self._now = now
        self._running_job = running_job

    def find(self, project: str) -> Rehearsal | None:
        """The rehearsal of a project; None: there is none."""
        name = project_key(project)
        folder = self._copies.find(name)
        if not folder:
            return None
        origin = _read_origin(self._copies.origin(name), project)
        is_outdated = origin.memory != memory_digest(project)
        return Rehearsal(folder, project, origin.started_at, is_outdated)

    def contains(self, folder: str) -> bool:
        """Whether a folder lies in the copy of a rehearsal."""
        above = os.path.realpath(os.path.join(self._state.folder, REHEARSALS))
        return folder.startswith(above + os.sep)

    def project_at(self, folder: str) -> str:
        """What a rehearsal here is about: the project, a rehearsed folder, or this very folder."""
        found = nearest_folder(folder, has_project)
        above = folder
        while not found and not self._copies.find(project_key(above)):
            if above == os.path.dirname(above):
                return folder
            above = os.path.dirname(above)
        return found or above

    def open(self, project: str) -> tuple[str, bool]:
        """The copy to go on in, and whether it replaces one of the project's older documents."""
        found = self.find(project)
        if found is not None and found.is_outdated:
            self.discard(found)
        place = found.folder if found and not found.is_outdated else self._new(project)
        # A plan that the user approves in the project is approved in its rehearsal as well.
        approved = approved_plans(self._state, project) - approved_plans(self._state, place)
        if approved:
            approve_plans(self._state, place, tuple(sorted(approved)))
        return place, bool(found and found.is_outdated)

    def discard(self, rehearsal: Rehearsal) -> None:
        """Delete the copy, with everything that belongs to it."""
        if job := self._running_job(rehearsal.folder):
            raise RehearsalBusy(job, rehearsal.folder)
        self._remove(rehearsal.folder)

    def _new(self, project: str) -> str:
        for old in self._copies.old(KEPT - 1):
            try:
                if not self._running_job(old):
                    self._remove(old)
            except FairleadError:
                continue  # it cannot be read: the next rehearsal tries again
        origin = _Origin(project, self._now(), memory_digest(project))
        return self._copies.new(project, project_key(project), origin.text())

    def _remove(self, folder: str) -> None:
        runs = os.path.join(self._state.folder, os.path.dirname(runs_path(folder, "")))
        self._copies.remove(folder, (runs,))

    # -- in the project itself -------------------------------------------------------------

    def begin_here(self, folder: str, workstream: str = "") -> None:
        """Refuse to rehearse beside anything real; keep what is there before the first rehearsal."""
        project = nearest_folder(folder, has_project) or folder
        require_rehearsable(Reader(project), workstream)
        place = self._here(project)
        if os.path.isdir(place):
            return
        workspace = self._workspace_of(project)
        origin = _Origin(
            project,
            self._now(),
            memory_digest(project),
            workspace.branch(),
            workspace.commit_of("HEAD") if workspace.is_git else "",
        )
        new = f"{place}.new"  # renamed when complete: a killed command leaves nothing half kept
        shutil.rmtree(new, ignore_errors=True)
        make_private_folders(new)
        _copy_entries(project, os.path.join(new, _BEFORE), _entries(project, workspace))
        with open(os.path.join(new, _ORIGIN), "w", encoding="utf-8") as file:
            file.write(origin.text())
        os.rename(new, place)

    def began_here(self, project: str) -> str:
        """When a rehearsal in the project itself began; empty: there is none."""
        origin = self._here_origin(project)
        return origin.started_at if origin else ""

    def end(self, project: str, *, dry_run: bool = False) -> DiscardedRehearsal:
        """Take back a rehearsal in the project itself, and delete the copy."""
        done = DiscardedRehearsal()
        if self.began_here(project):
            kept, commits = self._take_back(project, dry_run=dry_run)
            done = replace(done, is_taken_back=True, kept=kept, commits=commits)
        found = self.find(project)
        if found is not None and not dry_run:
            self.discard(found)
        return replace(done, folder=found.folder if found else "")

    def _take_back(self, project: str, *, dry_run: bool) -> tuple[str, tuple[str, ...]]:
        """Undo a rehearsal in the project itself.

        Returns where its documents are kept now, and the commits that are gone from the branch.
        Refused if anything else was committed on top of it, or is changed and not committed.
        """
        origin, workspace = self._here_origin(project), self._workspace_of(project)
        assert origin is not None, "began_here says whether there is one"
        if job := self._running_job(project):
            raise RehearsalBusy(job, project)
        jobs = _rehearsed_jobs(project)
        commits = _rehearsed_commits(workspace, origin, jobs)
        place = self._here(project)
        kept = os.path.join(f"{place}-taken-back", _DISCARDED)
        if dry_run:
            return kept, commits
        shutil.rmtree(os.path.dirname(kept), ignore_errors=True)
        now = _entries(project, workspace)
        _copy_entries(project, os.path.join(place, _DISCARDED), now)
        if commits:
            workspace.restore_folder(PLANNING)  # its changes are kept, and would be in the way
            try:
                head = workspace.commit_of("HEAD")
                workspace.restore_ref(f"refs/heads/{origin.branch}", origin.head, head)
            except FairleadError:
                _replace_entries(project, os.path.join(place, _DISCARDED), now)
                raise
        _replace_entries(project, os.path.join(place, _BEFORE), now)
        for job in jobs:
            for branch in workspace.branches(f"fairlead/{job}/"):
                name = f"refs/heads/{branch}"
                workspace.restore_ref(name, "", workspace.commit_of(name))
        os.rename(place, os.path.dirname(kept))
        return kept, commits

    def _here(self, project: str) -> str:
        return os.path.join(self._state.folder, REHEARSALS, _HERE + project_key(project))

    def _here_origin(self, project: str) -> _Origin | None:
        try:
            with open(os.path.join(self._here(project), _ORIGIN), encoding="utf-8") as file:
                return _read_origin(file.read(), project)
        except FileNotFoundError:
            return None


def _read_origin(text: str, project: str) -> _Origin:
    """What was recorded; older copies have no record, so they count as outdated."""
    try:
        found = json.loads(text)
        return _Origin(**{name: found[name] for name in _FIELDS})
    except (ValueError, KeyError, TypeError):
        return _Origin(project, "", "")


def _rehearsed_jobs(project: str) -> tuple[str, ...]:
    from fairlead.jobs.folder import JobFolder, job_ids

    names = []
    for name in job_ids(Reader(project)):
        text = JobFolder(project, name, is_read_only=True).document("job.json")
        try:
            is_rehearsed = json.loads(text).get("is_rehearsed") is True
        except (ValueError, AttributeError):
            continue
        names += [name] if is_rehearsed else []
    return tuple(names)


def _rehearsed_commits(
    workspace: Repository, origin: _Origin, jobs: Iterable[str]
) -> tuple[str, ...]:
    """The commits since the rehearsal began; refused unless its jobs made all of them."""
    if not origin.head or workspace.commit_of("HEAD") == origin.head:
        return ()
    if workspace.branch() != origin.branch:
        raise RehearsalMixed(f"the branch is not {origin.branch}, on which it began")
    if dirty := workspace.dirty_paths(PLANNING):
        raise TreeDirty(dirty, PLANNING)
    commits = workspace.messages_since(origin.head)
    marks = {f"Job: {job}" for job in jobs}
    for commit, message in commits.items():
        if marks.isdisjoint(message.splitlines()):
            subject = message.partition("\n")[0]
            raise RehearsalMixed(f"commit {commit[:10]} is not its own: {subject}")
    return tuple(commits)


def _entries(project: str, workspace: Repository) -> list[str]:
    """The names that a rehearsal in the project may change beside what git keeps."""
    if workspace.is_git:
        return [PLANNING] if os.path.isdir(os.path.join(project, PLANNING)) else []
    return [name for name in os.listdir(project) if name not in _LEFT_OUT]


def _copy_entries(source: str, target: str, names: Iterable[str]) -> None:
    make_private_folders(target)
    for name in names:
        place, copy = os.path.join(source, name), os.path.join(target, name)
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.copytree(place, copy, symlinks=True)
        else:
            shutil.copy2(place, copy, follow_symlinks=False)


def _replace_entries(project: str, source: str, names: Iterable[str]) -> None:
    """Put back what was kept, in place of these names."""
    for name in names:
        place = os.path.join(project, name)
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place)
        elif os.path.lexists(place):
            os.unlink(place)
    for name in os.listdir(source):
        place = os.path.join(project, name)
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place)  # the last commit put it there
    _copy_entries(source, project, os.listdir(source))


def memory_digest(project: str) -> str:
    """A digest of the documents of a project, without those that change while nothing happens."""
    left_out = tuple(os.path.join(project, path) for path in _NOT_COMPARED)
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(os.path.join(project, PLANNING)):
        folders[:] = sorted(name for name in folders if os.path.join(folder, name) not in left_out)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if path in left_out:
                continue
            digest.update(os.fsencode(os.path.relpath(path, project)) + b"\0")
            digest.update(_content_digest(path))
    return digest.hexdigest()


def _content_digest(path: str) -> bytes:
    if os.path.islink(path):
        return os.fsencode(os.readlink(path))
    if not os.path.isfile(path):  # a pipe would never end
        return b""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def require_rehearsable(reader: Reader, workstream: str) -> None:
    """Raise if the project has a plan or a summary that no rehearsal wrote."""
    inventory = scan(reader.folder, workstream=workstream)
    for folder in (*inventory.folders, *inventory.archived):
        paths = [path for plan in folder.plans for path in (plan.path, plan.summary) if path]
        for path in (*paths, *folder.orphans):
            loaded = reader.load_for_display(path)
            if loaded is not None and read_front(loaded.text).get("rehearsed") != "true":
                raise NotRehearsed(path)


def as_rehearsed(reader: Reader, inventory: Inventory) -> Inventory:
    """The inventory of a rehearsal: what it made counts, as it would in a real project."""
    folders = tuple(_as_rehearsed(reader, folder) for folder in inventory.folders)
    return replace(inventory, folders=folders)


def _as_rehearsed(reader: Reader, folder: PhaseFolder) -> PhaseFolder:
    plans = tuple(_counted(plan) for plan in folder.plans)
    verified = folder.verification
    if verified is not None and verified.status == Proof.REHEARSED:
        loaded = reader.load_for_display(verified.path)
        status = str(read_front(loaded.text).get("status", "")) if loaded else ""
        is_open = any(not plan.is_complete for plan in plans if not plan.is_superseded)
        verified = Verification(verified.path, status, is_open)
    return replace(folder, plans=plans, verification=verified)


def _counted(plan: Plan) -> Plan:
    proof = Proof.COMPLETE if plan.proof is Proof.REHEARSED else plan.proof
    return plan._replace(proof=proof, is_rehearsed=False)
