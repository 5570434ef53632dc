"""What attempts leave behind: worktrees, branches, and work that has not landed.

Failed attempts and work that has not landed stay on their branches. Everything else is removed,
and a removal that was interrupted is completed by repeating it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairlead.core.values import dataclass
from fairlead.project.state.gate_rules import GateStatus
from fairlead.store import layout
from fairlead.text.inline import file_name

if TYPE_CHECKING:
    from fairlead.jobs.folder import JobFolder
    from fairlead.jobs.model import Job, Run, TaskGate
    from fairlead.vcs.ports import Workspace


@dataclass(frozen=True, slots=True)
class PartialWork:
    """Work of a job that has not landed."""

    task: str
    branch: str
    folder: str  # the worktree; empty: it is gone, or there is no git
    files: tuple[str, ...]


def partial_work(
    workspace: Workspace, job: Job, folder: JobFolder, private: str
) -> tuple[PartialWork, ...]:
    """What the last attempt of each task left, with its branch and the files that it changed."""
    found = []
    target = workspace.commit_of(f"refs/heads/{job.target}") if job.target else ""
    for gate in folder.load_gates() if target else ():
        run = gate.runs[-1] if gate.runs else None
        if run is None or (run.commit and workspace.is_ancestor(run.commit, target)):
            continue
        place = f"{private}/worktrees/{run.branch.rpartition('/')[2]}"
        has_place = os.path.isdir(place)
        tip = run.commit or workspace.commit_of(f"refs/heads/{run.branch}")
        if not run.commit and has_place:  # the attempt was killed: its files are not committed
            tip = workspace.tree_of(place, run.base, layout.PLANNING).full or tip
        changes = workspace.changes(run.base, tip) if tip else ()
        files = tuple(file_name(each.path) for each in changes)
        if files:
            found.append(PartialWork(gate.task, run.branch, place if has_place else "", files))
    return tuple(found)


def remove_worktrees(
    workspace: Workspace,
    job: Job,
    gates: Iterable[TaskGate],
    private: str,
    *,
    is_over: bool,
    reuses: bool = False,
) -> None:
    """Remove worktrees and branches of tasks that are not needed.

    Failed attempts and work that has not landed stay; once the job is over, only as branches.
    With `reuses` the next attempts of this process get the worktrees.
    """
    if not job.target:
        return  # without git there are no worktrees
    places, kept, spare = {}, set(), {}
    runs = [(gate, run) for gate in gates for run in gate.runs]
    unmerged = _unmerged(workspace, job, (run.branch for _, run in runs))
    for gate, run in runs:
        is_last = run is gate.runs[-1]
        is_passed = gate.gate.status is GateStatus.APPROVED
        if is_last and not is_passed and not is_over:
            continue  # a person may want to look at the failed attempt
        name = run.branch.rpartition("/")[2]
        places[f"{private}/worktrees/{name}"] = run.branch
        is_built_on = is_last and is_passed
        if not is_built_on or (run.branch in unmerged and not _has_landed(workspace, job, run)):
            kept.add(run.branch)
        if is_over or not is_built_on:
            spare[run.branch] = run
    # Commits uncommitted files of each worktree to its branch before it removes the worktree.
    workspace.put_away(places, frozenset(kept), reuses=reuses)
    # Of the branches that were kept, those without any change of their own go as well.
    unmerged = _unmerged(workspace, job, kept) if kept else frozenset()
    unchanged = {each for each, run in spare.items() if each in kept and _is_empty(workspace, run)}
    removed = (kept - unmerged) | unchanged
    places = {place: name for place, name in places.items() if name in removed}
    workspace.put_away(places, frozenset(), reuses=reuses)


def _unmerged(workspace: Workspace, job: Job, branches: Iterable[str]) -> frozenset[str]:
    """The branches with commits that the target lacks; all of them if there is no target."""
    if not workspace.commit_of(f"refs/heads/{job.target}"):
        return frozenset(branches)
    return workspace.unmerged(f"fairlead/{job.id}/", job.target)


def _is_empty(workspace: Workspace, run: Run) -> bool:
    """Whether an attempt changed nothing, and its agent made no commits either."""
    if not run.commit or workspace.commit_of(f"refs/heads/{run.branch}") != run.commit:
        return False
    return workspace.tree_id(run.commit) == workspace.tree_id(run.base)


def _has_landed(workspace: Workspace, job: Job, run: Run) -> bool:
    """Whether the target has the files of the branch, even if the agent's own commits differ."""
    names = (run.branch, job.target)
    tip, target = (workspace.commit_of(f"refs/heads/{name}") for name in names)
    is_merged = workspace.is_ancestor(run.commit, target)
    return is_merged and workspace.tree_id(tip) == workspace.tree_id(run.commit)
