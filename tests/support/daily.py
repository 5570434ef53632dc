"""Quick tasks and debug sessions for tests: a git project and one agent that plays every role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.agents.model import AgentCall
from fairlead.core.concurrency import OneTimeEvent
from fairlead.execution.commands import command_fault
from fairlead.jobs.context import Cancellation, JobSetup, RunOptions
from fairlead.jobs.roster import execution_roster
from fairlead.workflows.debug import Debugging
from fairlead.workflows.quick import QuickExecution, QuickTasks
from tests.support.execution import QuickCommands, a_plan, a_project, succeeds
from tests.support.roles import Answer, Play, Player, Stage, writes

APPROVES: Mapping[str, object] = {"verdict": "APPROVED", "confidence": "high"}


def quick_plan(*paths: str, verify: str = "") -> str:
    """A plan with one task per path."""
    text = a_plan("01-01", *paths).text
    return (
        text.replace(f"<verify>test -f {paths[0]}</verify>", f"<verify>{verify}</verify>")
        if (verify)
        else text
    )


def plays(plan: str, **more: Play) -> dict[str, Play]:
    """A planner that writes this plan, an executor that follows it, a reviewer that approves."""

    def planner(order: AgentCall, call: int) -> Answer:
        name = next(word for word in order.prompt.split("`") if word.endswith("-PLAN.md"))
        return writes(name.rpartition("/")[2], plan)(order, call)

    return {
        "planner": planner,
        "executor": lambda order, call: _named(order, succeeds(order, call)),
        "architect": lambda order, _: _named(order, APPROVES),
        **more,
    }


def _named(order: AgentCall, answer: Mapping[str, object]) -> Mapping[str, object]:
    name = order.prompt.rpartition('"task_name": "')[2].partition('"')[0]
    return {"task_name": name, **answer}


@dataclass(slots=True)
class QuickProject:
    """A project for quick tasks and debug sessions."""

    stage: Stage
    stop: OneTimeEvent = field(default_factory=OneTimeEvent)

    @property
    def quick(self) -> QuickTasks:
        """The quick tasks of the project."""
        jobs = self.stage.jobs
        return QuickTasks(jobs.files, jobs, QuickExecution(jobs.environment, command_fault))

    @property
    def debugging(self) -> Debugging:
        """The debug sessions of the project."""
        quick = self.quick
        return Debugging(self.stage.jobs.files, self.stage.jobs, quick)

    def execution(self, *, is_approved: bool = True) -> JobSetup:
        """A setup in which one agent does everything."""
        agent = self.stage.agent
        return JobSetup(
            execution_roster(agent, agent, QuickCommands()),
            RunOptions(is_rehearsed=self.stage.is_rehearsed),
            cancellation=Cancellation(self.stop, self.stage.over),
            may_run_commands=is_approved,
        )


def a_quick_project(
    folder: Path, played: Mapping[str, Play], *, is_auto: bool = True
) -> QuickProject:
    """A project in git whose agent plays these roles."""
    project = a_project(folder / "project", a_plan("01-01", "a.txt"))
    return QuickProject(Stage(project, Player(played), is_auto=is_auto))
