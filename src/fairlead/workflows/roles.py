"""The roles: tools, inputs, output, model and limits of each, as one table.

A role is a row; its prompt is a file of the same name. `jobs.role_models` chooses the model of a
role, `role_roster` the agents that play all roles.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from functools import partial

from fairlead.agents.ask import Respondent
from fairlead.core.values import dataclass
from fairlead.jobs.context import AgentChoice
from fairlead.jobs.role_models import MODEL_NEEDS, ModelNeed, model_of
from fairlead.jobs.roster import AgentDirectory, Roster

READING = ("Read", "Glob", "Grep")
LOOKING = (*READING, "Bash")
SEARCHING = (*LOOKING, "WebSearch", "WebFetch")
WRITING = (*LOOKING, "Write", "Edit")


class Shape(StrEnum):
    """What a role returns."""

    DOCUMENT = "document"  # documents in the output folder, or in the answer
    ANSWER = "answer"  # one JSON block with the nonce
    WORK = "work"  # changes in a worktree, through the gate


@dataclass(frozen=True, slots=True)
class Role:
    """One role."""

    name: str
    title: str
    asked_by: str  # command
    tools: tuple[str, ...]
    reads: tuple[str, ...]  # artefacts
    output: str  # artefact; empty if it only answers
    shape: Shape
    wall: timedelta = timedelta(minutes=10)
    prompt_tokens: int = 24_000  # limit of its prompt
    runs_commands: bool = False  # the project's test and build commands

    @property
    def prompt(self) -> str:
        """The name of its prompt file."""
        return self.name

    @property
    def model_need(self) -> ModelNeed:
        """What it needs of its model."""
        return MODEL_NEEDS[self.name]

    @property
    def is_read_only(self) -> bool:
        """Whether it changes no files."""
        return self.shape is Shape.ANSWER and not self.runs_commands


_MINUTES_5, _MINUTES_15 = timedelta(minutes=5), timedelta(minutes=15)
_PLANNING = ("STATE", "ROADMAP", "REQUIREMENTS")
ROLES = (
    Role(
        "planner", "planner", "phase plan", WRITING, (*_PLANNING, "PROJECT", "CONTEXT", "RESEARCH",
        "PATTERNS"), "PLAN", Shape.DOCUMENT, _MINUTES_15, 40_000,
    ),
    Role(
        "plan-checker", "plan checker", "phase plan", LOOKING, ("PLAN", "ROADMAP", "REQUIREMENTS",
        "CONTEXT", "RESEARCH"), "", Shape.ANSWER, prompt_tokens=40_000,
    ),
    Role(
        "phase-researcher", "phase researcher", "phase plan", (*SEARCHING, "Write"), ("CONTEXT",
        "REQUIREMENTS", "STATE", "ROADMAP"), "RESEARCH", Shape.DOCUMENT,
    ),
    Role(
        "pattern-mapper", "pattern mapper", "phase plan", (*LOOKING, "Write"), ("CONTEXT",
        "RESEARCH"), "PATTERNS", Shape.DOCUMENT, _MINUTES_5,
    ),
    Role(
        "executor", "executor", "phase execute", WRITING, ("PLAN", "PROJECT", "STATE"), "SUMMARY",
        Shape.WORK, timedelta(minutes=30), runs_commands=True,
    ),
    Role(
        "verifier", "verifier", "phase verify", LOOKING, ("PLAN", "SUMMARY", "REQUIREMENTS",
        "ROADMAP"), "VERIFICATION", Shape.ANSWER, prompt_tokens=32_000,
    ),
    Role(
        "project-researcher", "project researcher", "new", (*SEARCHING, "Write"), ("PROJECT",),
        "research/STACK, FEATURES, ARCHITECTURE, PITFALLS", Shape.DOCUMENT,
    ),
    Role(
        "research-synthesizer", "research synthesiser", "new", (*READING, "Write"), ("research/*",),
        "research/SUMMARY", Shape.DOCUMENT, _MINUTES_5, 32_000,
    ),
    Role(
        "roadmapper", "roadmapper", "new", (*LOOKING, "Write"), ("PROJECT", "REQUIREMENTS",
        "research/SUMMARY"), "ROADMAP", Shape.DOCUMENT,
    ),
    Role(
        "assumptions-analyzer", "assumptions analyser", "phase discuss", LOOKING, ("PROJECT",
        "ROADMAP", "REQUIREMENTS", "CONTEXT"), "CONTEXT (assumptions)", Shape.ANSWER,
    ),
    Role(
        "advisor-researcher", "advisor", "phase discuss", SEARCHING,
        ("ROADMAP", "CONTEXT (assumptions)"), "CONTEXT (decision)", Shape.ANSWER, _MINUTES_5,
    ),
    Role(
        "debugger", "debugger", "debug", WRITING, ("debug file",), "debug file", Shape.ANSWER,
        _MINUTES_15, runs_commands=True,
    ),
    Role(
        "architect", "architect", "phase execute", LOOKING, ("PLAN",), "", Shape.ANSWER, _MINUTES_15,
    ),
    Role(
        "critic", "critic", "phase plan", READING, ("PLAN", "ROADMAP", "CONTEXT"), "", Shape.ANSWER,
        _MINUTES_5, 32_000,
    ),
    Role(
        "pm", "product manager", "new", LOOKING, ("PROJECT", "research/*"), "PROJECT, REQUIREMENTS",
        Shape.ANSWER, prompt_tokens=32_000,
    ),
)  # fmt: skip


def role(name: str) -> Role:
    """A role by its name."""
    return next(role for role in ROLES if role.name == name)


def role_models(settings: Mapping[str, object], choice: AgentChoice) -> dict[str, str]:
    """The model of each role according to the settings, without looking for an agent."""
    if choice.is_rehearsed:
        return {}
    agent = choice.agent or str(settings["fairlead.agent"]).removeprefix("auto") or "claude"
    return {role.name: model_of(role.name, settings, agent, choice.model) for role in ROLES}


def role_roster(directory: AgentDirectory, choice: AgentChoice) -> Roster:
    """One agent for all roles, each with its own model, and the fallback agents."""
    from fairlead.agents import registry, supervisor
    from fairlead.agents.supervision import reap

    values = directory.values
    agent = directory.agent(choice.agent, is_rehearsed=choice.is_rehearsed)
    named = choice.model or registry.own_model(agent)
    names = "" if choice.is_rehearsed else str(values["fairlead.fallback"])
    respondents = {
        role.name: (
            Respondent(agent, model_of(role.name, values, agent.name, named), ""),
            *directory.respondents(names, role.name),
        )
        for role in ROLES
    }
    return Roster(respondents, reap=partial(reap, supervisor.JOB))
