"""Explanations: the rule behind a value, and the files it was computed from.

`explain` shows them for the progress, a phase, a plan, the status and the next action.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import groupby

from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass
from fairlead.project.derive.inventory import Completion, Phase, PhaseFolder, Plan, Proof, Stage
from fairlead.project.errors import UnknownPhase, UnknownPlan
from fairlead.project.health.check import DocumentComparison
from fairlead.project.naming import folder_name, is_artefact
from fairlead.store.reader import Reader

_PLAN_RULE = "a plan is complete when its summary exists, is not empty and does not say otherwise"
_PROOFS = {
    Proof.NONE: "open: it has no summary",
    Proof.EMPTY: "open: its summary is empty",
    Proof.BLOCKED: "open: its summary says blocked",
    Proof.FAILED: "open: its summary says that the self-check failed",
    Proof.REHEARSED: "open: its summary comes from a rehearsal",
    Proof.UNCHECKED: "open: its summary appeared while an agent worked, and nobody has checked it",
    Proof.COMPLETE: "complete",
}

# The ledger entries of a plan, each as place, time and meaning; `jobs` provides the real one.
LedgerReader = Callable[[Reader, str, str], Iterable[tuple[str, str, str]]]


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """One file and its meaning for the value."""

    path: str  # with a line number if only that line matters
    changed: str  # UTC; empty if the file does not exist
    means: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A value, the rule behind it, and the files it was computed from."""

    what: str
    value: str
    rule: str
    evidence: tuple[FileEvidence, ...]


class Explainer:
    """Explains the values of one comparison."""

    def __init__(
        self, comparison: DocumentComparison, reader: Reader, roadmap: str, ledger: LedgerReader
    ) -> None:
        self._comparison = comparison
        self._reader = reader
        self._roadmap = roadmap  # its path
        self._ledger = ledger

    def progress(self) -> Explanation:
        """Explain the percentage."""
        position = self._comparison.position
        progress = position.progress
        value = (
            f"{progress.percent}% · {progress.completed_plans}/{progress.total_plans} plans, "
            f"{progress.completed_phases}/{progress.total_phases} phases, "
            f"{progress.completed_tasks}/{progress.total_tasks} tasks ({position.scope.words})"
        )
        rule = (
            "the lesser of completed plans / plans and completed phases / phases, rounded half up, "
            f"and 100 only when everything is complete; a phase counts when it is {position.policy}"
        )
        return Explanation("progress", value, rule, self._counted())

    def scope(self) -> Explanation:
        """Explain the current milestone: each phase with its milestone and the place that says so."""
        scope = self._comparison.position.scope
        value = f"{scope.words} ({scope.certainty})"
        rule = "; ".join(scope.doubts) or (
            "the milestone that ROADMAP.md marks as running; if all are shipped, the last shipped one"
        )
        evidence = [
            self._evidence(source.path, f"milestone {reading.milestone or 'none'}", source.line)
            for reading in scope.readings
            for source in reading.sources
        ]
        places = groupby(scope.attributions, lambda each: (each.source, each.milestone))
        for (source, milestone), group in places:
            phases = [each.phase.short for each in group]
            named = f"phase{'s' if len(phases) > 1 else ''} {', '.join(phases)}"
            owner = f"milestone {milestone}" if milestone else "none"
            evidence.append(self._evidence(source.path, f"{named}: {owner}", source.line))
        return Explanation("scope", value, rule, tuple(dict.fromkeys(evidence)))

    def phase(self, number: str) -> Explanation:
        """Explain the stage of a phase."""
        phase = self._phase(number)
        value = f"{phase.name}: {phase.stage}"
        if phase.stage is Stage.COMPLETE and not phase.is_complete(self._policy):
            value += ", not counted: no verification passed"
        needed = ", and its verification passed" if self._is_strict else ""
        rule = f"a phase is complete when it has plans and every plan that is not superseded is{needed}"
        return Explanation(f"phase {phase.id.short}", value, rule, self._files(phase))

    def status(self) -> Explanation:
        """Explain the status."""
        position = self._comparison.position
        current = position.current
        value = f"{position.status} ({position.words})"
        if current is not None:
            rule = f"phase {current.id.short} is the first that is not complete: {current.stage}"
            return Explanation("status", value, rule, self._files(current))
        if position.scope.is_archived:
            done = f"{position.progress.completed_phases} of {position.progress.total_phases}"
            rule = f"milestone {position.scope.milestone} is archived, {done} phases are complete"
        else:
            has_phases = bool(position.scope.phases)
            rule = "every phase of the scope is complete" if has_phases else "there are no phases"
        return Explanation("status", value, rule, self._counted())

    def next(self) -> Explanation:
        """Explain the next action."""
        step = self._comparison.position.next
        evidence = self._files(self._phase(step.phase)) if step.phase else self._counted()
        return Explanation("next", step.command, step.reason, evidence)

    def plan(self, name: str) -> Explanation:
        """Explain why a plan is open or complete."""
        for phase in self._comparison.position.scope.phases:
            for plan in phase.folder.plans if phase.folder else ():
                if plan.id == name or plan.path.rpartition("/")[2].startswith(f"{name}-"):
                    stream = self._comparison.inventory.workstream
                    entries = self._ledger(self._reader, plan.id, stream)
                    evidence = (*self._plan(plan), *(FileEvidence(*entry) for entry in entries))
                    return Explanation(f"plan {plan.id}", _PROOFS[plan.proof], _PLAN_RULE, evidence)
        raise UnknownPlan(name)

    def _phase(self, number: str) -> Phase:
        phase_id = PhaseId.parse(number)
        phases = self._comparison.position.scope.phases
        phase = next((phase for phase in phases if phase.id == phase_id), None)
        if phase is None:
            raise UnknownPhase(number, [phase.id.short for phase in phases])
        return phase

    @property
    def _policy(self) -> Completion:
        return self._comparison.position.policy

    @property
    def _is_strict(self) -> bool:
        return self._policy is Completion.VERIFIED

    def _counted(self) -> tuple[FileEvidence, ...]:
        """The files behind every number: plans, verifications that count, and empty phases."""
        phases = self._comparison.position.scope.phases
        if not phases:
            return (self._evidence(self._roadmap, "it lists no phase"),)
        evidence: list[FileEvidence] = []
        for phase in phases:
            plans = self._plans(phase.folder) if phase.folder else []
            verified = self._verified(phase) if plans and self._is_strict else []
            evidence += [*plans, *verified] or [*self._listed(phase), *self._unread(phase)]
        return tuple(evidence)

    def _files(self, phase: Phase) -> tuple[FileEvidence, ...]:
        """The files that determine the stage of a phase."""
        folder = phase.folder
        if folder is None:
            return (*self._listed(phase), *self._unread(phase))
        artefacts = [
            self._evidence(f"{folder.path}/{name}", f"phase {phase.id.short}: {word}")
            for kind, word in (("CONTEXT", "discussed"), ("RESEARCH", "researched"))
            for name in self._reader.names(folder.path)
            if is_artefact(name, kind)
        ]
        plans = self._plans(folder)
        return (*self._listed(phase), *artefacts, *plans, *self._verified(phase))

    def _listed(self, phase: Phase) -> list[FileEvidence]:
        if phase.listed is None:
            return []
        box = {True: "its box is ticked", False: "its box is open", None: "it has no box"}
        means = f"phase {phase.id.short}: {box[phase.listed.is_checked]}"
        return [self._evidence(self._roadmap, means, phase.listed.line)]

    def _unread(self, phase: Phase) -> list[FileEvidence]:
        """Unread paths that may contain the folder of this phase."""
        means = f"phase {phase.id.short}: not read, because it is a link or a file"
        return [
            self._evidence(path, means)
            for path in self._comparison.inventory.unread
            if not phase.folder and folder_name(path.rpartition("/")[2]).id in (None, phase.id)
        ]

    def _verified(self, phase: Phase) -> list[FileEvidence]:
        folder = phase.folder
        if folder is None or not folder.live_plans:
            return []
        lead, verification = f"phase {phase.id.short}: ", folder.verification
        if verification is None:
            return [self._evidence(folder.path, f"{lead}no verification")]
        stale = ", stale" if verification.is_stale else ""
        return [
            self._evidence(
                verification.path, f"{lead}verification {verification.status or 'no status'}{stale}"
            )
        ]

    def _plans(self, folder: PhaseFolder) -> list[FileEvidence]:
        evidence = [each for plan in folder.plans for each in self._plan(plan)]
        lost = "not counted: it has no plan"
        return evidence + [self._evidence(path, lost) for path in folder.orphans]

    def _plan(self, plan: Plan) -> list[FileEvidence]:
        if plan.is_superseded:
            return [self._evidence(plan.path, "not counted: superseded")]
        shown = plan.summary or plan.path
        return [self._evidence(shown, f"plan {plan.id}: {_PROOFS[plan.proof]}")]

    def _evidence(self, path: str, means: str, line: int = 0) -> FileEvidence:
        stamp = self._reader.changed_at(path)
        changed = datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%d %H:%M:%SZ") if stamp else ""
        return FileEvidence(f"{path}:{line}" if line else path, changed, means)
