"""Projects as literals: phases with so many plans, so many of them done."""

from fairlead.model.ids import PhaseId, slug
from fairlead.model.inventory import (
    Completion,
    Folder,
    Inventory,
    Listed,
    Plan,
    Proof,
    Roadmap,
    Verification,
)
from fairlead.model.standing import Standing, standing_of


def an_inventory(
    *phases: tuple[str, str, int, int],
    policy: Completion = Completion.SUMMARISED,
    verified: tuple[str, ...] = (),
) -> Inventory:
    """Phases as (number, name, plans done, plans in all)."""
    return Inventory(
        folders=tuple(
            _folder(number, name, done, total, is_verified=number in verified)
            for number, name, done, total in phases
        ),
        archived=(),
        roadmap=Roadmap(
            phases=tuple(
                Listed(PhaseId.parse(number), name, "", at + 1)
                for at, (number, name, _, _) in enumerate(phases)
            )
        ),
        milestone="",
        policy=policy,
    )


def a_standing(*phases: tuple[str, str, int, int], **more: object) -> Standing:
    """Where a project with these phases stands."""
    return standing_of(an_inventory(*phases, **more))  # type: ignore[arg-type]


def _folder(number: str, name: str, done: int, total: int, *, is_verified: bool) -> Folder:
    phase = PhaseId.parse(number)
    home = f".planning/phases/{phase.padded}-{slug(name)}"
    plans = tuple(
        Plan(
            id=f"{phase.padded}-{at:02d}",
            path=f"{home}/{phase.padded}-{at:02d}-PLAN.md",
            summary=f"{home}/{phase.padded}-{at:02d}-SUMMARY.md" if at <= done else "",
            proof=Proof.COMPLETE if at <= done else Proof.NONE,
            is_superseded=False,
            tasks=2,
        )
        for at in range(1, total + 1)
    )
    verification = Verification(f"{home}/VERIFICATION.md", "passed", False) if is_verified else None
    return Folder(
        id=phase,
        slug=slug(name),
        path=home,
        milestone="",
        plans=plans,
        orphans=(),
        verification=verification,
        has_context=False,
        has_research=False,
    )
