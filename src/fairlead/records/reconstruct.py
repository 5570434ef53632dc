"""Missing summaries, recorded after the fact: which plans a claim covers, and the file for each.

A plan is covered when the roadmap names it or its phase as done, or when the claimed number is
exactly what all missing summaries together would prove. What a summary itself says (failed,
blocked) is never overruled.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from fairlead.model.divergence import Finding, Kind
from fairlead.model.inventory import Folder, Inventory, Phase, Plan, Proof
from fairlead.model.standing import Standing
from fairlead.records.naming import summary_path
from fairlead.text.emit import scalar_text
from fairlead.values import dataclass, replace

_TOLD = ("status", "Status", "Phase", "Plan")  # their claims name all that is missing
_UNPROVEN = (Proof.NONE, Proof.EMPTY)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A plan without proof, and the place that says it is done."""

    plan: Plan
    by: str  # ROADMAP.md:44
    said: str

    @property
    def path(self) -> str:
        """Where its summary belongs."""
        return self.plan.summary or summary_path(self.plan.path)


def claimed_plans(standing: Standing, findings: Iterable[Finding]) -> tuple[Claimed, ...]:
    """The plans without proof that the claims among these findings cover."""
    claims = [finding for finding in findings if finding.kind is Kind.CLAIM]
    covered: dict[str, Claimed] = {}
    for phase in standing.scope.phases:
        for claim in claims:
            for plan in _named(phase, claim):
                covered.setdefault(plan.path, _claimed(plan, claim))
    missing = [plan for phase in standing.scope.phases for plan in _missing(phase)]
    for claim in claims:
        if _counts_all(claim, standing, len(missing)):
            for plan in missing:
                covered.setdefault(plan.path, _claimed(plan, claim))
    return tuple(covered[path] for path in sorted(covered))


def with_proof(inventory: Inventory, claimed: Iterable[Claimed]) -> Inventory:
    """The inventory as it will be when these summaries are there."""
    paths = {each.plan.path: each.path for each in claimed}
    return replace(
        inventory,
        folders=tuple(_proven(folder, paths) for folder in inventory.folders),
        archived=tuple(_proven(folder, paths) for folder in inventory.archived),
    )


def summary_text(claimed: Claimed, claimed_at: str, now: datetime) -> str:
    """The summary of a plan whose work was claimed without one."""
    when = claimed_at or "a time that is not recorded"
    lines = (
        "---",
        f"plan: {scalar_text(claimed.plan.id, quote=chr(34))}",
        "status: complete",
        "reconstructed: true",
        f"claimed_by: {scalar_text(claimed.by)}",
        f"claimed_at: {scalar_text(claimed_at) if claimed_at else 'null'}",
        f"reconstructed_at: {now:%Y-%m-%d}",
        "---",
        "",
        f"# Plan {claimed.plan.id}: Summary",
        "",
        f"This summary was reconstructed. {claimed.by} said `{claimed.said}` ({when}) while no",
        "summary was there; nothing else proves what was done.",
        "",
    )
    return "\n".join(lines)


def _named(phase: Phase, claim: Finding) -> Iterator[Plan]:
    whole = (f"phase {phase.id.short} box", f"phase {phase.id.short} status")
    for plan in _missing(phase):
        is_told = claim.what in _TOLD and summary_path(plan.path) in claim.because
        if is_told or claim.what in whole or claim.what == f"plan {plan.id} box":
            yield plan
    counts = (f"phase {phase.id.short} plans", f"phase {phase.id.short} count")
    if claim.what in counts and phase.folder:
        done = claim.said.partition("/")[0].strip()
        if done == str(len(phase.folder.live_plans)):
            yield from _missing(phase)


def _counts_all(claim: Finding, standing: Standing, missing: int) -> bool:
    """Whether the claimed number is the one that all missing summaries would prove."""
    proven = standing.progress.completed_plans
    match claim.what:
        case "progress.completed_plans" | "Total plans completed":
            return claim.said == str(proven + missing)
        case "progress.percent" | "Progress":
            return claim.said == "100%" and missing > 0
        case _:
            return False


def _missing(phase: Phase) -> Iterator[Plan]:
    for plan in phase.folder.live_plans if phase.folder else ():
        if plan.proof in _UNPROVEN:
            yield plan


def _claimed(plan: Plan, claim: Finding) -> Claimed:
    return Claimed(plan, f"{claim.path}:{claim.line}", f"{claim.what} {claim.said}")


def _proven(folder: Folder, paths: dict[str, str]) -> Folder:
    plans = tuple(
        plan._replace(proof=Proof.COMPLETE, summary=paths[plan.path])
        if plan.path in paths
        else plan
        for plan in folder.plans
    )
    proven = replace(folder, plans=plans)
    verification = folder.verification
    if verification and proven.is_implemented and not folder.is_implemented:
        # It was stale because a plan was open. A reconstructed summary carries no later date.
        return replace(proven, verification=verification._replace(is_stale=False))
    return proven
