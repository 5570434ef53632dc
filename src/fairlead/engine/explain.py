"""Explanations: which files led to a value, and when they were last changed."""

from datetime import UTC, datetime

from fairlead.engine.evidence import evidence_of
from fairlead.engine.truth import Truth
from fairlead.errors import UnknownPhase, UnknownPlan
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Completion, Folder, Phase, Plan, Proof, Stage
from fairlead.records.naming import folder_name, is_artefact
from fairlead.store.load import Reader
from fairlead.values import dataclass

_PLAN_RULE = "a plan is complete when its summary exists, is not empty and does not say otherwise"
_PROOFS = {
    Proof.NONE: "open: no summary belongs to it",
    Proof.EMPTY: "open: its summary is empty",
    Proof.BLOCKED: "open: its summary says blocked",
    Proof.FAILED: "open: its summary says that the self-check failed",
    Proof.REHEARSED: "open: its summary comes from a rehearsal",
    Proof.COMPLETE: "complete",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One file and what it counts for."""

    path: str  # with the line where only one counts
    changed: str  # UTC; empty if the file is not there
    means: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A value, the rule behind it, and the files that led to it."""

    what: str
    value: str
    rule: str
    evidence: tuple[Evidence, ...]


class Explainer:
    """Explains one truth."""

    def __init__(self, truth: Truth, reader: Reader, roadmap: str) -> None:
        self._truth = truth
        self._reader = reader
        self._roadmap = roadmap  # its path

    def progress(self) -> Explanation:
        """Why the percentage is what it is."""
        standing = self._truth.standing
        progress = standing.progress
        value = (
            f"{progress.percent}% · {progress.completed_plans}/{progress.total_plans} plans, "
            f"{progress.completed_phases}/{progress.total_phases} phases, "
            f"{progress.completed_tasks}/{progress.total_tasks} tasks ({standing.scope.words})"
        )
        rule = (
            "the lesser of completed plans / plans and completed phases / phases, rounded half up, "
            f"and 100 only when all is done; a phase counts when it is {standing.policy}"
        )
        return Explanation("progress", value, rule, self._counted())

    def phase(self, number: str) -> Explanation:
        """Why a phase is where it is."""
        phase = self._phase(number)
        value = f"{phase.name}: {phase.stage}"
        if phase.stage is Stage.COMPLETE and not phase.is_complete(self._policy):
            value += ", and not counted: no verification passed"
        needed = ", and its verification passed" if self._is_strict else ""
        rule = f"a phase is complete when it has plans and every plan that is not superseded is{needed}"
        return Explanation(f"phase {phase.id.short}", value, rule, self._files(phase))

    def status(self) -> Explanation:
        """Why the status is what it is."""
        standing = self._truth.standing
        current = standing.current
        value = f"{standing.status} ({standing.words})"
        if current is not None:
            rule = f"phase {current.id.short} is the first that is not complete: {current.stage}"
            return Explanation("status", value, rule, self._files(current))
        if standing.scope.is_archived:
            done = f"{standing.progress.completed_phases} of {standing.progress.total_phases}"
            rule = f"milestone {standing.scope.milestone} is archived, {done} phases are complete"
        else:
            has_phases = bool(standing.scope.phases)
            rule = "every phase of the scope is complete" if has_phases else "there are no phases"
        return Explanation("status", value, rule, self._counted())

    def next(self) -> Explanation:
        """Why this is to be done next."""
        ahead = self._truth.standing.next
        evidence = self._files(self._phase(ahead.phase)) if ahead.phase else self._counted()
        return Explanation("next", ahead.command, ahead.reason, evidence)

    def plan(self, name: str) -> Explanation:
        """Why a plan is open or complete."""
        for phase in self._truth.standing.scope.phases:
            for plan in phase.folder.plans if phase.folder else ():
                if plan.id == name or plan.path.rpartition("/")[2].startswith(f"{name}-"):
                    stream = self._truth.inventory.workstream
                    told = evidence_of(self._reader, plan.id, stream)
                    evidence = (*self._plan(plan), *(Evidence(*each) for each in told))
                    return Explanation(f"plan {plan.id}", _PROOFS[plan.proof], _PLAN_RULE, evidence)
        raise UnknownPlan(name)

    def _phase(self, number: str) -> Phase:
        wanted = PhaseId.parse(number)
        phases = self._truth.standing.scope.phases
        found = next((phase for phase in phases if phase.id == wanted), None)
        if found is None:
            raise UnknownPhase(number, [phase.id.short for phase in phases])
        return found

    @property
    def _policy(self) -> Completion:
        return self._truth.standing.policy

    @property
    def _is_strict(self) -> bool:
        return self._policy is Completion.VERIFIED

    def _counted(self) -> tuple[Evidence, ...]:
        """What every number comes from: plans, the verifications that count, and empty phases."""
        phases = self._truth.standing.scope.phases
        if not phases:
            return (self._seen(self._roadmap, "it lists no phase"),)
        found: list[Evidence] = []
        for phase in phases:
            plans = self._plans(phase.folder) if phase.folder else []
            verified = self._verified(phase) if plans and self._is_strict else []
            found += [*plans, *verified] or [*self._listed(phase), *self._unread(phase)]
        return tuple(found)

    def _files(self, phase: Phase) -> tuple[Evidence, ...]:
        """Everything that tells how far one phase has come."""
        folder = phase.folder
        if folder is None:
            return (*self._listed(phase), *self._unread(phase))
        artefacts = [
            self._seen(f"{folder.path}/{name}", f"phase {phase.id.short}: {word}")
            for kind, word in (("CONTEXT", "discussed"), ("RESEARCH", "researched"))
            for name in self._reader.names(folder.path)
            if is_artefact(name, kind)
        ]
        plans = self._plans(folder)
        return (*self._listed(phase), *artefacts, *plans, *self._verified(phase))

    def _listed(self, phase: Phase) -> list[Evidence]:
        if phase.listed is None:
            return []
        box = {True: "its box is ticked", False: "its box is open", None: "it has no box"}
        means = f"phase {phase.id.short}: {box[phase.listed.is_checked]}"
        return [self._seen(self._roadmap, means, phase.listed.line)]

    def _unread(self, phase: Phase) -> list[Evidence]:
        """What may hold a phase that has no folder, and was not looked into."""
        means = f"phase {phase.id.short}: not looked into, since it is a link or a file"
        return [
            self._seen(path, means)
            for path in self._truth.inventory.unread
            if not phase.folder and folder_name(path.rpartition("/")[2]).id in (None, phase.id)
        ]

    def _verified(self, phase: Phase) -> list[Evidence]:
        folder = phase.folder
        if folder is None or not folder.live_plans:
            return []
        lead, found = f"phase {phase.id.short}: ", folder.verification
        if found is None:
            return [self._seen(folder.path, f"{lead}no verification")]
        stale = ", stale" if found.is_stale else ""
        return [self._seen(found.path, f"{lead}verification {found.status or 'no status'}{stale}")]

    def _plans(self, folder: Folder) -> list[Evidence]:
        found = [each for plan in folder.plans for each in self._plan(plan)]
        lost = "not counted: no plan belongs to it"
        return found + [self._seen(path, lost) for path in folder.orphans]

    def _plan(self, plan: Plan) -> list[Evidence]:
        if plan.is_superseded:
            return [self._seen(plan.path, "not counted: superseded")]
        shown = plan.summary or plan.path
        return [self._seen(shown, f"plan {plan.id}: {_PROOFS[plan.proof]}")]

    def _seen(self, path: str, means: str, line: int = 0) -> Evidence:
        stamp = self._reader.changed_at(path)
        changed = datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%d %H:%M:%SZ") if stamp else ""
        return Evidence(f"{path}:{line}" if line else path, changed, means)
