"""Explanations: which files led to a value, and when they were last changed."""

from dataclasses import dataclass
from datetime import UTC, datetime

from fairlead.engine.evidence import evidence_of
from fairlead.engine.truth import Truth
from fairlead.errors import UnknownPhase, UnknownPlan
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Phase, Plan, Proof
from fairlead.store.load import Reader

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

    path: str
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

    def __init__(self, truth: Truth, reader: Reader) -> None:
        self._truth = truth
        self._reader = reader

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
        return Explanation("progress", value, rule, tuple(self._plans(standing.scope.phases)))

    def phase(self, number: str) -> Explanation:
        """Why a phase is where it is."""
        phase = self._phase(number)
        evidence = list(self._plans((phase,)))
        if phase.listed:
            box = {True: "its box is ticked", False: "its box is open", None: "it has no box"}
            evidence.insert(
                0, self._seen(f"ROADMAP line {phase.listed.line}", box[phase.listed.is_checked], "")
            )
        folder = phase.folder
        if folder and folder.verification:
            state = f"verification: {folder.verification.status or 'no status'}"
            stale = ", stale" if folder.verification.is_stale else ""
            evidence.append(self._seen(folder.verification.path, state + stale))
        rule = "a phase is complete when it has plans and every plan that is not superseded is complete"
        return Explanation(
            f"phase {phase.id.short}", f"{phase.name}: {phase.stage}", rule, tuple(evidence)
        )

    def status(self) -> Explanation:
        """Why the status is what it is."""
        standing = self._truth.standing
        current = standing.current
        value = f"{standing.status} ({standing.words})"
        if current is None:
            rule = (
                "every phase of the scope is complete"
                if standing.scope.phases
                else "there are no phases"
            )
            return Explanation("status", value, rule, ())
        rule = (
            f"phase {current.id.short} is the first that is not complete, and it is {current.stage}"
        )
        return Explanation("status", value, rule, tuple(self._plans((current,))))

    def next(self) -> Explanation:
        """Why this is to be done next."""
        ahead = self._truth.standing.next
        status = self.status()
        return Explanation("next", ahead.command, ahead.reason, status.evidence)

    def plan(self, name: str) -> Explanation:
        """Why a plan is open or complete."""
        for phase in self._truth.standing.scope.phases:
            for plan in phase.folder.plans if phase.folder else ():
                if plan.id == name or plan.path.rpartition("/")[2].startswith(f"{name}-"):
                    proven = [Evidence(*each) for each in evidence_of(self._reader, plan.id)]
                    evidence = (*self._plan(plan), *proven)
                    return Explanation(f"plan {plan.id}", _PROOFS[plan.proof], _PLAN_RULE, evidence)
        raise UnknownPlan(name)

    def _phase(self, number: str) -> Phase:
        wanted = PhaseId.parse(number)
        phases = self._truth.standing.scope.phases
        found = next((phase for phase in phases if phase.id == wanted), None)
        if found is None:
            raise UnknownPhase(number, [phase.id.short for phase in phases])
        return found

    def _plans(self, phases: tuple[Phase, ...]) -> list[Evidence]:
        found: list[Evidence] = []
        for phase in phases:
            for plan in phase.folder.plans if phase.folder else ():
                found += self._plan(plan)
            found += [
                self._seen(path, "not counted: no plan belongs to it")
                for path in (phase.folder.orphans if phase.folder else ())
            ]
        return found

    def _plan(self, plan: Plan) -> list[Evidence]:
        if plan.is_superseded:
            return [self._seen(plan.path, "not counted: superseded")]
        shown = plan.summary or plan.path
        return [self._seen(shown, f"plan {plan.id}: {_PROOFS[plan.proof]}")]

    def _seen(self, path: str, means: str, changed: str | None = None) -> Evidence:
        if changed is None:
            stamp = self._reader.changed_at(path)
            changed = (
                datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%d %H:%M:%SZ") if stamp else ""
            )
        return Evidence(path, changed, means)
