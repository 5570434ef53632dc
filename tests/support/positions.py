"""Inventories and positions from literals: phases with their numbers of plans."""

from fairlead.core.ids import PhaseId, slug
from fairlead.project.derive.inventory import (
    Completion,
    Inventory,
    PhaseFolder,
    Plan,
    Proof,
    Verification,
)
from fairlead.project.derive.position import Position, position_of
from fairlead.project.roadmap.model import ListedPhase, Roadmap


def an_inventory(
    *phases: tuple[str, str, int, int],
    policy: Completion = Completion.SUMMARISED,
    verified: tuple[str, ...] = (),
) -> Inventory:
    """Phases as (number, name, complete plans, all plans)."""
    return Inventory(
        folders=tuple(
            _folder(number, name, done, total, is_verified=number in verified)
            for number, name, done, total in phases
        ),
        archived=(),
        roadmap=Roadmap(
            phases=tuple(
                ListedPhase(PhaseId.parse(number), name, "", at + 1)
                for at, (number, name, _, _) in enumerate(phases)
            )
        ),
        milestone="",
        policy=policy,
    )


def a_position(*phases: tuple[str, str, int, int], **more: object) -> Position:
    """The derived position of a project with these phases."""
    return position_of(an_inventory(*phases, **more))  # type: ignore[arg-type]


def _folder(number: str, name: str, done: int, total: int, *, is_verified: bool) -> PhaseFolder:
    phase = PhaseId.parse(number)
    folder = f".planning/phases/{phase.padded}-{slug(name)}"
    plans = tuple(
        Plan(
            id=f"{phase.padded}-{at:02d}",
            path=f"{folder}/{phase.padded}-{at:02d}-PLAN.md",
            summary=f"{folder}/{phase.padded}-{at:02d}-SUMMARY.md" if at <= done else "",
            proof=Proof.COMPLETE if at <= done else Proof.NONE,
            is_superseded=False,
            tasks=2,
        )
        for at in range(1, total + 1)
    )
    verification = (
        Verification(f"{folder}/VERIFICATION.md", "passed", False) if is_verified else None
    )
    return PhaseFolder(
        id=phase,
        slug=slug(name),
        path=folder,
        milestone="",
        plans=plans,
        orphans=(),
        verification=verification,
        has_context=False,
        has_research=False,
    )
