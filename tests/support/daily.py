"""Quick tasks and debug sessions in a test: a project in git, and one agent that plays every role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.adapters.commands import Shell, command_fault
from fairlead.engine.debugging import Debugging
from fairlead.engine.fanout import Signal
from fairlead.engine.quick import Hands, Quick, QuickExecution
from fairlead.engine.site import GateLimits
from fairlead.engine.undertaking import Crew, Terms, Watcher
from fairlead.model.agent_orders import Order
from fairlead.model.budget import Caps
from fairlead.wiring import workspace_of
from tests.support.execution import a_plan, a_project, does_it
from tests.support.roles import Answer, Play, Player, Stage, writes

APPROVES: Mapping[str, object] = {"verdict": "APPROVED", "confidence": "high"}


def quick_plan(*paths: str, verify: str = "") -> str:
    """A plan of one task a path."""
    text = a_plan("01-01", *paths).text
    return (
        text.replace(f"<verify>test -f {paths[0]}</verify>", f"<verify>{verify}</verify>")
        if (verify)
        else text
    )


def plays(plan: str, **more: Play) -> dict[str, Play]:
    """A planner that writes this plan, an executor that does it, a reviewer that agrees."""

    def planner(order: Order, call: int) -> Answer:
        name = next(word for word in order.prompt.split("`") if word.endswith("-PLAN.md"))
        return writes(name.rpartition("/")[2], plan)(order, call)

    return {
        "planner": planner,
        "executor": lambda order, call: _named(order, does_it(order, call)),
        "architect": lambda order, _: _named(order, APPROVES),
        **more,
    }


def _named(order: Order, answer: Mapping[str, object]) -> Mapping[str, object]:
    told = order.prompt.rpartition('"task_name": "')[2].partition('"')[0]
    return {"task_name": told, **answer}


@dataclass(slots=True)
class Workshop:
    """A project with quick tasks in it."""

    stage: Stage
    stop: Signal = field(default_factory=Signal)

    @property
    def quick(self) -> Quick:
        """The quick tasks of the project."""
        jobs = self.stage.jobs
        workspace = workspace_of(str(self.stage.project))
        execution = QuickExecution(
            jobs.files, jobs.state, jobs.clock, workspace, self.stage.fresh, command_fault
        )
        return Quick(jobs.files, jobs, execution)

    @property
    def debugging(self) -> Debugging:
        """The debug sessions of the project."""
        quick = self.quick
        return Debugging(self.stage.jobs.files, self.stage.jobs, quick)

    def hands(self, *, is_approved: bool = True) -> Hands:
        """The one agent does everything."""
        agent = self.stage.agent
        crew = Crew(agent, agent, Shell(), lambda _: 0)
        terms = Terms(Caps(), GateLimits(), is_rehearsed=self.stage.is_rehearsed)
        return Hands(crew, terms, Watcher(), self.stop, self.stage.over, is_approved)


def a_workshop(folder: Path, played: Mapping[str, Play], *, is_auto: bool = True) -> Workshop:
    """A project in git whose agent plays these roles."""
    project = a_project(folder / "project", a_plan("01-01", "a.txt"))
    return Workshop(Stage(project, Player(played), is_auto=is_auto))
