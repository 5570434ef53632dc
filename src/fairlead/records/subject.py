"""What an inspection is about: plans, summaries, files, commands that ran, and a person's words."""

from collections.abc import Mapping

from fairlead.model.plan import PlanSheet
from fairlead.model.ran import Ran
from fairlead.model.verification import Finding, HumanItem, Override
from fairlead.records import claims, usage
from fairlead.values import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """A verify command of a plan, and what came of it; None: it was not run."""

    plan: str
    task: int
    line: str
    ran: Ran | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything an inspection needs."""

    sheets: tuple[PlanSheet, ...]
    summaries: Mapping[str, tuple[str, str]]  # plan -> path and text
    project: usage.Project
    known: claims.Known
    odd: Mapping[str, str] = field(default_factory=dict)  # links and special files: what they are
    commands: tuple[Command, ...] = ()
    criteria: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()  # that the roadmap gives to the phase
    items: tuple[HumanItem, ...] = ()  # what a person has to look at, known beforehand
    issues: tuple[Finding, ...] = ()  # what a person has found
    overrides: tuple[Override, ...] = ()
    answered: tuple[str, ...] = ()  # tests that a person has passed
