"""Which model a role gets: one resolution for executions, workflows and the council.

    model_of("executor", settings, "claude")

The model that a command names comes first. Then follow `model_overrides.ROLE`, `models.KIND`,
`fairlead.model` and the tier that `model_profile` gives the role. Only Claude has models for the
tiers; for other agents `fairlead.tier.*` names them. An empty result means that the agent chooses.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Tier(StrEnum):
    """The kind of model that a role needs."""

    STRONG = "strong"
    BALANCED = "balanced"
    FAST = "fast"


class ModelNeed(NamedTuple):
    """What a role needs of its model."""

    tier: Tier
    kind: str  # `models.<kind>` in config.json sets its model


_SEAT = "seat"
MODEL_NEEDS = {
    "planner": ModelNeed(Tier.STRONG, "planning"),
    "plan-checker": ModelNeed(Tier.BALANCED, "verification"),
    "phase-researcher": ModelNeed(Tier.BALANCED, "research"),
    "pattern-mapper": ModelNeed(Tier.BALANCED, "planning"),
    "executor": ModelNeed(Tier.BALANCED, "execution"),
    "verifier": ModelNeed(Tier.BALANCED, "verification"),
    "project-researcher": ModelNeed(Tier.BALANCED, "research"),
    "research-synthesizer": ModelNeed(Tier.FAST, "research"),
    "roadmapper": ModelNeed(Tier.BALANCED, "planning"),
    "assumptions-analyzer": ModelNeed(Tier.BALANCED, "discuss"),
    "advisor-researcher": ModelNeed(Tier.BALANCED, "research"),
    "debugger": ModelNeed(Tier.STRONG, "execution"),
    "architect": ModelNeed(Tier.STRONG, "verification"),
    "critic": ModelNeed(Tier.STRONG, "verification"),
    "pm": ModelNeed(Tier.STRONG, "planning"),
    # Of the council; a seat's own override is `model_overrides.NAME-seat`.
    "synthesiser": ModelNeed(Tier.STRONG, "planning"),
    _SEAT: ModelNeed(Tier.BALANCED, "planning"),
}
# The profiles in config.json that change tiers; `adaptive` and `balanced` change none.
_PROFILES: Mapping[str, Mapping[Tier, Tier]] = {
    "quality": {Tier.BALANCED: Tier.STRONG, Tier.FAST: Tier.BALANCED},
    "budget": {Tier.STRONG: Tier.BALANCED, Tier.BALANCED: Tier.FAST},
}
_CLAUDE = {Tier.STRONG: "opus", Tier.BALANCED: "sonnet", Tier.FAST: "haiku"}
_INHERIT = "inherit"


def model_of(role: str, settings: Mapping[str, object], agent: str, named: str = "") -> str:
    """The model of a role; `named` is the one that the command line asks for."""
    if named:
        return named
    need = MODEL_NEEDS[_SEAT if role.endswith(f"-{_SEAT}") else role]
    keys = (
        f"model_overrides.{role}",
        f"model_overrides.gsd-{role}",
        f"models.{need.kind}",
        "fairlead.model",
    )
    for key in keys:
        chosen = settings.get(key)
        if isinstance(chosen, str) and chosen:
            return _model_name(chosen, settings, agent)
    profile = str(settings.get("model_profile", ""))
    if profile == _INHERIT:
        return ""
    return _model_name(_PROFILES.get(profile, {}).get(need.tier, need.tier), settings, agent)


def _model_name(chosen: str, settings: Mapping[str, object], agent: str) -> str:
    """The model for a tier or a Claude alias; any other name is returned unchanged."""
    if chosen == _INHERIT:
        return ""
    tiers = {name: tier for tier, name in _CLAUDE.items()} | {str(tier): tier for tier in Tier}
    tier = tiers.get(chosen)
    if tier is None:
        return chosen
    model = settings.get(f"fairlead.tier.{tier}")
    return str(model) if model else _CLAUDE[tier] if agent == "claude" else ""
