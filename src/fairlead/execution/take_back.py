"""Taking back landed work: one new commit reverts the merges of a plan or of a phase.

History is never rewritten. The new commit is computed without a checkout, so a conflict changes
nothing. The summaries of the plans are moved away first: a plan must not count as done while its
work is being taken out.
"""

from __future__ import annotations

from collections.abc import Callable

from fairlead.core.clock import Clock
from fairlead.core.errors import FairleadError
from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.execution.errors import NothingLanded, RevertConflict
from fairlead.jobs.loop import the_only_run
from fairlead.project.derive.scan import scan
from fairlead.project.service import ProjectSnapshot
from fairlead.store.files import ChangeSet, Files
from fairlead.store.intent import TreeChanges
from fairlead.store.layout import PLANNING
from fairlead.store.moves import Move
from fairlead.store.staging import removed_path
from fairlead.vcs.errors import TreeDirty
from fairlead.vcs.ports import Workspace

_MERGE = lazy_pattern(r"merge\((\S+)\): ")
_REVERTS = "Reverts: "


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What taking back a plan or a phase reverted."""

    subject: str  # plan 01-02, or phase 1
    plans: tuple[str, ...]
    merges: tuple[str, ...]  # the commits that were reverted, the newest first
    commit: str  # the new one; empty: it was a preview
    files: tuple[str, ...]  # changed by it
    summaries: tuple[str, ...]  # moved away


class LandedWork:
    """The work that Fairlead has merged into the branch of one project."""

    def __init__(
        self,
        files: Files,
        clock: Clock,
        workspace: Workspace,
        sync: Callable[[], object],  # makes STATE.md follow the files
        workstream: str = "",
    ) -> None:
        self._files = files
        self._clock = clock
        self._workspace = workspace
        self._sync = sync
        self._workstream = workstream

    def take_back(self, *, plan: str = "", phase: str = "", dry_run: bool = False) -> TakenBack:
        """Revert the merges of a plan or of all plans of a phase."""
        with the_only_run(self._files.folder, "undo"):
            subject = f"plan {plan}" if plan else f"phase {phase}"
            merges = self._merges(plan, phase)
            if not merges:
                raise NothingLanded(subject)
            if dirty := self._workspace.dirty_paths(PLANNING):
                raise TreeDirty(dirty, PLANNING)
            plans = tuple(dict.fromkeys(merges.values()))
            message = f"revert: {subject}\n\n" + "".join(f"{_REVERTS}{each}\n" for each in merges)
            head = self._workspace.commit_of("HEAD")
            result = self._workspace.reverted(tuple(merges), message)
            if not result.commit:
                raise RevertConflict(subject, tuple(clash.path for clash in result.clashes))
            files = tuple(each.path for each in self._workspace.changes(head, result.commit))
            moves = self._summary_moves(plans)
            summaries = tuple(move.source for move in moves)
            if not dry_run:
                self._apply(subject, head, result.commit, moves)
            commit = "" if dry_run else result.commit
            return TakenBack(subject, plans, tuple(merges), commit, files, summaries)

    def _apply(self, subject: str, head: str, commit: str, moves: tuple[Move, ...]) -> None:
        command = f"undo {subject}"
        if moves:
            draft = ChangeSet({}, TreeChanges(moves=moves))
            self._files.carry_out(lambda: draft, command=command)
        try:
            self._workspace.land(self._workspace.branch(), head, commit, PLANNING)
        except FairleadError:
            if moves:
                self._files.undo(command)
            raise
        self._sync()

    def _merges(self, plan: str, phase: str) -> dict[str, str]:
        """The merges of these plans that are still in the branch, the newest first, by commit."""
        wanted = PhaseId.parse(phase) if phase else None
        found: dict[str, str] = {}
        reverted: set[str] = set()
        for commit, message in self._workspace.first_parents().items():
            lines = message.splitlines()
            reverted |= {line.removeprefix(_REVERTS) for line in lines if line.startswith(_REVERTS)}
            match = _MERGE.match(message)
            name = match[1] if match and f"Plan: {match[1]}" in lines else ""
            is_wanted = name == plan if plan else _phase_of(name) == wanted
            if name and is_wanted and commit not in reverted:
                found[commit] = name
        return found

    def _summary_moves(self, plans: tuple[str, ...]) -> tuple[Move, ...]:
        stamp = ProjectSnapshot(self._files, self._clock.now()).stamp
        inventory = scan(self._files.folder, workstream=self._workstream)
        found = (plan for folder in inventory.folders for plan in folder.plans)
        return tuple(
            Move(plan.summary, removed_path(plan.summary, stamp))
            for plan in found
            if plan.id in plans and plan.summary
        )


def _phase_of(plan: str) -> PhaseId | None:
    try:
        return PhaseId.parse(plan.rpartition("-")[0])
    except FairleadError:
        return None
