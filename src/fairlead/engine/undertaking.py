"""An undertaking: what carrying out a phase would mean, who does it under which terms, who looks on,
and what became of it. Values alone, for whoever begins one or shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from fairlead.engine.ports import Agent, Recall
from fairlead.engine.site import Commands, GateLimits, Happening
from fairlead.model.agent_events import AgentEvent
from fairlead.model.budget import Caps, Spent
from fairlead.model.job import Approval, Job, Question, Share
from fairlead.model.plan import PlanSheet
from fairlead.model.snapshot import Snapshot
from fairlead.model.waves import Schedule
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Preview:
    """What carrying out a phase would mean."""

    phase: str
    name: str
    sheets: tuple[PlanSheet, ...]
    order: Schedule
    left: tuple[str, ...]  # the plans without a summary that says they are done
    unsound: tuple[str, ...]  # the summaries that say they are not
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    commands: tuple[tuple[str, str], ...]  # task and line
    is_approved: bool
    resumes: str  # a job that was left unfinished
    estimate: Spent
    spent: tuple[Spent, Spent]  # by that job, and by all today
    branch: str  # that the work lands on
    is_rehearsed: bool = False

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The plans that are left, as they stand."""
        return tuple(Approval(each.id, each.digest) for each in self.sheets if each.id in self.left)


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a job."""

    job: Job
    questions: tuple[Question, ...]
    spent: Spent
    plans: tuple[tuple[str, bool], ...]
    kept_branches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Watcher:
    """Whoever looks on."""

    report: Callable[[Happening], None] = lambda _: None
    watch: Callable[[str, AgentEvent], None] = lambda _task, _event: None
    looked: Callable[[Snapshot], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Crew:
    """Who does the work."""

    executor: Agent
    architect: Agent
    commands: Commands
    reap: Callable[[str], int]  # ends what a dead run of a job left running
    ready: Callable[[str], AbstractContextManager[object]] = nullcontext  # for the calls of a job
    recall: Recall = lambda _name, _role, _raw: None


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms a job runs."""

    caps: Caps
    limits: GateLimits
    slots: int = 2
    shares: tuple[Share, ...] = ()  # of the slots, by kind of agent
    model: str = ""
    is_rehearsed: bool = False
    keeps_documents: bool = True
    needs_tests: bool = True
    guarded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what to know of them when a run begins
