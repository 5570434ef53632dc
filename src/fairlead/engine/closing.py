"""Closing: what the documents of a project say once nobody carries a job on, and what git keeps of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairlead.model.lifecycle import GateStatus
from fairlead.store import layout

if TYPE_CHECKING:
    from fairlead.engine.ports import Workspace
    from fairlead.engine.sessions import Sessions
    from fairlead.model.job import Job, Run
    from fairlead.store.files import Files
    from fairlead.store.jobs import JobFiles


def give_up(jobs: JobFiles, sessions: Sessions) -> None:
    """Nobody is at the tasks of a job any more: STATE.md shows none of them as open."""
    begun: dict[str, list[str]] = {}
    for gate in jobs.load_gates():
        begun.setdefault(gate.plan, []).append(gate.name)
    for plan, tasks in begun.items():
        sessions.given_up(plan, tasks)


def record_of(job: Job, jobs: JobFiles, files: Files, plans: Iterable[str]) -> list[str]:
    """The documents that tell of a job: the project's own, the job's, and the evidence of plans."""
    state, roadmap, _, requirements = layout.documents_of(job.workstream)
    ledgers = (layout.ledger_path(plan, job.workstream) for plan in plans)
    held = (state, roadmap, requirements, *jobs.paths(), *ledgers)
    return [path for path in held if files.exists(path)]


def keep(workspace: Workspace, job: Job, paths: Iterable[str], message: str) -> str:
    """Commit documents where the branch of a job is checked out; nothing anywhere else."""
    if workspace.branch() != job.target:
        return ""
    return workspace.commit_paths(tuple(paths), f"{message}\n\nJob: {job.id}\n")


def last_words(job: Job) -> str:
    """The message of the commit that keeps the record of a job which has ended."""
    work = "phase" if job.listed else job.kind
    return f"docs({work}-{job.phase}): the record of its execution"


def tidy(workspace: Workspace, job: Job, jobs: JobFiles, private: str, *, is_over: bool) -> None:
    """Worktrees and branches that nobody needs go; failed attempts and what has not landed stay.

    Once the job is over they stay as branches alone.
    """
    if not job.target:
        return  # it worked in place
    places, kept, spare = {}, set(), {}
    runs = [(gate, run) for gate in jobs.load_gates() for run in gate.runs]
    loose = _loose(workspace, job, (run.branch for _, run in runs))
    for gate, run in runs:
        is_last = run is gate.runs[-1]
        is_passed = gate.gate.status is GateStatus.APPROVED
        if is_last and not is_passed and not is_over:
            continue  # somebody may want to look at it
        name = run.branch.rpartition("/")[2]
        places[f"{private}/worktrees/{name}"] = run.branch
        is_built_on = is_last and is_passed
        if not is_built_on or (run.branch in loose and not _has_landed(workspace, job, run)):
            kept.add(run.branch)
        if is_over or not is_built_on:
            spare[run.branch] = run
    workspace.put_away(places, frozenset(kept))
    # What was left in the worktrees is on their branches now; of the rest, nothing is to be kept.
    loose = _loose(workspace, job, kept) if kept else frozenset()
    idle = {each for each, run in spare.items() if each in kept and _is_empty(workspace, run)}
    empty = {place: name for place, name in places.items() if name in (kept - loose) | idle}
    workspace.put_away(empty, frozenset())


def _loose(workspace: Workspace, job: Job, branches: Iterable[str]) -> frozenset[str]:
    """The branches of a job that hold what its target does not; all, if there is no target any more."""
    if not workspace.commit_of(f"refs/heads/{job.target}"):
        return frozenset(branches)
    return workspace.unmerged(f"fairlead/{job.id}/", job.target)


def _is_empty(workspace: Workspace, run: Run) -> bool:
    """Whether an attempt ended without any change, and its agent made no commits either."""
    if not run.commit or workspace.commit_of(f"refs/heads/{run.branch}") != run.commit:
        return False
    return workspace.tree_id(run.commit) == workspace.tree_id(run.base)


def _has_landed(workspace: Workspace, job: Job, run: Run) -> bool:
    """Whether the branch holds nothing but what the target has, if in commits of the agent's."""
    names = (run.branch, job.target)
    tip, target = (workspace.commit_of(f"refs/heads/{each}") for each in names)
    is_part = workspace.is_ancestor(run.commit, target)
    return is_part and workspace.tree_id(tip) == workspace.tree_id(run.commit)
