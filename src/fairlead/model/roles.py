"""Roles: who is asked what, with which tools, for which artefact, within which limits.

A role is a row: a prompt file, the shape of its answer, and what it may take. What comes back is
read from the disk first and from the answer second; whether it is good is never for the role to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any

from fairlead.values import dataclass, field

READING = ("Read", "Glob", "Grep")
LOOKING = (*READING, "Bash")
SEARCHING = (*LOOKING, "WebSearch", "WebFetch")
WRITING = (*LOOKING, "Write", "Edit")


class Tier(StrEnum):
    """How able a model a role needs."""

    STRONG = "strong"
    BALANCED = "balanced"
    FAST = "fast"


class Shape(StrEnum):
    """What a role gives back."""

    DOCUMENT = "document"  # documents in the output folder, or in the answer
    ANSWER = "answer"  # one block with the nonce
    WORK = "work"  # changes in a worktree, through the gate


@dataclass(frozen=True, slots=True)
class Role:
    """One role."""

    name: str
    title: str
    asked_by: str  # the command
    tools: tuple[str, ...]
    tier: Tier
    kind: str  # which of `models.<kind>` in config.json routes it
    reads: tuple[str, ...]  # artefacts
    output: str  # artefact; empty: it only answers
    shape: Shape
    wall: timedelta = timedelta(minutes=10)
    prompt_tokens: int = 24_000  # the most that its prompt may have

    @property
    def prompt(self) -> str:
        """The name of its prompt file."""
        return self.name

    @property
    def is_read_only(self) -> bool:
        """Whether it has no business changing files."""
        return self.shape is Shape.ANSWER


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a role, as the job's folder keeps it: its intent first, then what came of it."""

    key: str  # research, plan-2: names the call in its job
    role: str
    digest: str  # of everything it was asked; another question is another call
    started_at: str
    status: str = "asked"  # ok, failed or blocked when it has ended
    agent: str = ""
    model: str = ""
    ended_at: str = ""
    tries: int = 0
    documents: tuple[tuple[str, str], ...] = ()  # name and text
    answer: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    left_out: tuple[str, ...] = ()  # what the secret filter kept out of the prompt
    prompt_characters: int = 0
    tokens: int = 0
    usd: float = 0.0

    @property
    def is_ok(self) -> bool:
        """Whether it gave what was asked for."""
        return self.status == "ok"


_MINUTES_3, _MINUTES_5 = timedelta(minutes=3), timedelta(minutes=5)
_PLANNING = ("STATE", "ROADMAP", "REQUIREMENTS")
ROLES = (
    Role(
        "planner", "planner", "phase plan", WRITING, Tier.STRONG, "planning",
        (*_PLANNING, "PROJECT", "CONTEXT", "RESEARCH", "PATTERNS"), "PLAN", Shape.DOCUMENT,
        timedelta(minutes=15), 40_000,
    ),
    Role(
        "plan-checker", "plan checker", "phase plan", LOOKING, Tier.BALANCED, "verification",
        ("PLAN", "ROADMAP", "REQUIREMENTS", "CONTEXT", "RESEARCH"), "", Shape.ANSWER,
        prompt_tokens=40_000,
    ),
    Role(
        "phase-researcher", "phase researcher", "phase plan", (*SEARCHING, "Write"),
        Tier.BALANCED, "research", ("CONTEXT", "REQUIREMENTS", "STATE", "ROADMAP"), "RESEARCH",
        Shape.DOCUMENT,
    ),
    Role(
        "pattern-mapper", "pattern mapper", "phase plan", (*LOOKING, "Write"), Tier.BALANCED,
        "planning", ("CONTEXT", "RESEARCH"), "PATTERNS", Shape.DOCUMENT, _MINUTES_5,
    ),
    Role(
        "executor", "executor", "phase execute", WRITING, Tier.BALANCED, "execution",
        ("PLAN", "PROJECT", "STATE"), "SUMMARY", Shape.WORK, _MINUTES_5,
    ),
    Role(
        "verifier", "verifier", "phase verify", LOOKING, Tier.BALANCED, "verification",
        ("PLAN", "SUMMARY", "REQUIREMENTS", "ROADMAP"), "VERIFICATION", Shape.ANSWER,
        prompt_tokens=32_000,
    ),
    Role(
        "project-researcher", "project researcher", "new", (*SEARCHING, "Write"), Tier.BALANCED,
        "research", ("PROJECT",), "research/STACK, FEATURES, ARCHITECTURE, PITFALLS",
        Shape.DOCUMENT,
    ),
    Role(
        "research-synthesizer", "research synthesiser", "new", (*READING, "Write"), Tier.FAST,
        "research", ("research/*",), "research/SUMMARY", Shape.DOCUMENT, _MINUTES_5, 32_000,
    ),
    Role(
        "roadmapper", "roadmapper", "new", (*LOOKING, "Write"), Tier.BALANCED, "planning",
        ("PROJECT", "REQUIREMENTS", "research/SUMMARY"), "ROADMAP", Shape.DOCUMENT,
    ),
    Role(
        "assumptions-analyzer", "assumptions analyser", "phase discuss", LOOKING, Tier.BALANCED,
        "discuss", ("PROJECT", "ROADMAP", "REQUIREMENTS", "CONTEXT"), "CONTEXT (assumptions)",
        Shape.ANSWER,
    ),
    Role(
        "advisor-researcher", "advisor", "phase discuss", SEARCHING, Tier.BALANCED, "research",
        ("ROADMAP", "CONTEXT (assumptions)"), "CONTEXT (decision)", Shape.ANSWER, _MINUTES_5,
    ),
    Role(
        "debugger", "debugger", "debug", WRITING, Tier.STRONG, "execution", ("debug file",),
        "debug file", Shape.ANSWER, timedelta(minutes=15),
    ),
    Role(
        "architect", "architect", "phase execute", LOOKING, Tier.STRONG, "verification",
        ("PLAN",), "", Shape.ANSWER, _MINUTES_3,
    ),
    Role(
        "critic", "critic", "phase plan", READING, Tier.STRONG, "verification",
        ("PLAN", "ROADMAP", "CONTEXT"), "", Shape.ANSWER, _MINUTES_5, 32_000,
    ),
    Role(
        "pm", "product manager", "new", LOOKING, Tier.STRONG, "planning", ("PROJECT", "research/*"),
        "PROJECT, REQUIREMENTS", Shape.ANSWER, prompt_tokens=32_000,
    ),
)  # fmt: skip

# Of the profiles in config.json, what each makes of a need; `adaptive` and `balanced` leave it.
_PROFILES: Mapping[str, Mapping[Tier, Tier]] = {
    "quality": {Tier.BALANCED: Tier.STRONG, Tier.FAST: Tier.BALANCED},
    "budget": {Tier.STRONG: Tier.BALANCED, Tier.BALANCED: Tier.FAST},
}
_CLAUDE = {Tier.STRONG: "opus", Tier.BALANCED: "sonnet", Tier.FAST: "haiku"}
_INHERIT = "inherit"


def role(name: str) -> Role:
    """A role by its name."""
    return next(each for each in ROLES if each.name == name)


def model_for(asked: Role, settings: Mapping[str, object], agent: str) -> str:
    """The model that config.json routes a role to; empty: the agent's own choice.

    The role's own override first, then its kind of work, then the profile. A tier is a name that
    only one family of programs knows; for others `fairlead.tier.*` says what it means.
    """
    overrides = (f"model_overrides.{asked.name}", f"model_overrides.gsd-{asked.name}")
    for key in (*overrides, f"models.{asked.kind}"):
        chosen = settings.get(key)
        if isinstance(chosen, str) and chosen:
            return _named(chosen, settings, agent)
    profile = str(settings.get("model_profile", ""))
    if profile == _INHERIT:
        return ""
    return _named(_PROFILES.get(profile, {}).get(asked.tier, asked.tier), settings, agent)


def _named(chosen: str, settings: Mapping[str, object], agent: str) -> str:
    """The name of a model for a tier in any vocabulary; any other name stays as it is."""
    if chosen == _INHERIT:
        return ""
    words = {
        **{name: tier for tier, name in _CLAUDE.items()},
        **{each.value: each for each in Tier},
    }
    tier = words.get(chosen)
    if tier is None:
        return chosen
    set_ = settings.get(f"fairlead.tier.{tier}")
    return str(set_) if set_ else _CLAUDE[tier] if agent == "claude" else ""
