"""Council jobs in the process of the test, with models that answer as the test says."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.agents.ask import Respondent
from fairlead.agents.budget import Caps
from fairlead.agents.model import AgentCall, AgentEvent, CallResult, EndKind, TokenUsage
from fairlead.agents.scripted.council import answer
from fairlead.app import App
from fairlead.core.concurrency import OneTimeEvent
from fairlead.core.values import replace
from fairlead.council.context import CouncilOptions, CouncilRun, PlanExecution
from fairlead.council.model import CouncilJob
from fairlead.council.seats import PM, SEAT_NAMES, SYNTHESISER
from fairlead.council.service import Council
from fairlead.execution.commands import command_fault
from fairlead.execution.service import Execution
from fairlead.jobs.context import Cancellation, EventSink, JobEvent, JobSetup, RunOptions
from fairlead.jobs.roster import Roster, execution_roster
from fairlead.jobs.service import Jobs
from fairlead.store.files import Files
from fairlead.store.layout import project_key
from fairlead.store.staging import USER_STAGING
from tests.support.execution import FakeAgent, QuickCommands, SteppingClock, environment_of
from tests.support.execution import a_project as a_project_with_plans

GOAL = "Lamps follow the tide"
Says = Callable[[str], str | CallResult]  # from a prompt to an answer, or to how the call ended
_ROLE = re.compile(r"You hold the (\w+) seat|(synthesiser) of a council|(project manager)")


_GARBAGE = "verdict?? APPROVE!! \x1b[2J " + "lorem ipsum " * 40
FAILURES: Mapping[str, CallResult] = {
    "dead": CallResult(EndKind.FAILED, error="exit code 139"),
    "busy": CallResult(EndKind.OVERLOADED, error="529"),
    "slow": CallResult(EndKind.TIMEOUT, error="nothing within 180 s"),
    "unpaid": CallResult(EndKind.AUTH, error="credit balance is too low"),
    "refusing": CallResult(EndKind.OK, "I'm sorry, but I can't help with that."),
    "blind": CallResult(EndKind.OK, "I cannot access the plan file you mention."),
    "garbled": CallResult(EndKind.OK, _GARBAGE),
}


def is_ballot(prompt: str) -> bool:
    """Whether a prompt asks a seat to vote."""
    return "Vote on the master plan" in prompt


def fails(way: str, *, only_ballots: bool = False) -> Says:
    """Fail in one way, in every call or only when asked to vote."""
    return lambda prompt: FAILURES[way] if is_ballot(prompt) or not only_ballots else answer(prompt)


@dataclass(slots=True)
class ScriptedModel:
    """An agent with given answers, which records every prompt."""

    says: Mapping[str, Says] = field(default_factory=dict)  # by seat, pm or synthesiser
    name: str = "model"
    asked: list[tuple[str, str]] = field(default_factory=list)  # role and prompt
    folders: set[str] = field(default_factory=set)  # working folders of the calls

    def start(
        self,
        order: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        """See the port."""
        who = role_of_prompt(order.prompt)
        self.asked.append((who, order.prompt))
        self.folders.add(order.folder)
        reply = self.says.get(who, answer)(order.prompt)
        if isinstance(reply, CallResult):
            return reply
        usage = TokenUsage(len(order.prompt) // 4, 0, len(reply) // 4)
        return CallResult(
            EndKind.OK, reply, usage=usage, cost_usd=0.01, exit_code=0, model=order.model
        )


def role_of_prompt(prompt: str) -> str:
    """Return the role that a prompt is for."""
    found = _ROLE.search(prompt)
    assert found, prompt[:80]
    return found[1] or (SYNTHESISER if found[2] else PM)


@dataclass(slots=True)
class CouncilProject:
    """A project with a council and everything that its jobs need."""

    project: Path
    model: ScriptedModel = field(default_factory=ScriptedModel)
    stand_in: ScriptedModel | None = None
    options: CouncilOptions = field(default_factory=CouncilOptions)
    caps: Caps = field(default_factory=Caps)
    is_rehearsed: bool = False
    clock: SteppingClock = field(default_factory=SteppingClock)
    executor: FakeAgent = field(default_factory=FakeAgent)
    events: list[JobEvent] = field(default_factory=list)
    names: int = 0

    @property
    def service(self) -> Council:
        """The council service of the project."""
        environment = environment_of(self.project, self._state, self.clock, self._fresh)
        return Council(environment, Execution(environment, command_fault))

    @property
    def council_run(self) -> CouncilRun:
        """A run with a full roster of two model families."""
        respondents = {}
        for at, role in enumerate((PM, SYNTHESISER, *SEAT_NAMES)):
            family = ("claude", "gpt")[at % 2]
            others = [Respondent(self.stand_in, "m9", "gemini")] if self.stand_in else []
            respondents[role] = (Respondent(self.model, f"{family}-1", family), *others)
        options = RunOptions(self.caps, is_rehearsed=self.is_rehearsed)
        return CouncilRun(JobSetup(Roster(respondents), options), self.options)

    def begin(self, goal: str = GOAL) -> str:
        """Begin a job for a goal."""
        return self.service.begin(goal, self.council_run)

    def run(
        self,
        job: str = "",
        *,
        may_execute: bool = False,
        stop: OneTimeEvent | None = None,
        over: OneTimeEvent | None = None,
    ) -> CouncilJob:
        """Run a job as far as it goes; without an id, the job for the default goal."""
        roster = execution_roster(self.executor, self.executor, QuickCommands())
        options = RunOptions(is_rehearsed=self.is_rehearsed)
        council_run = self.council_run
        setup = replace(
            council_run.setup,
            events=EventSink(self.events.append),
            cancellation=Cancellation(stop or OneTimeEvent(), over or OneTimeEvent()),
            may_run_commands=may_execute,
        )
        execution = PlanExecution(roster, options, host=self.executor)
        council_run = replace(council_run, setup=setup, execution=execution)
        return self.service.carry_on(job or self.begin(), council_run)

    def kinds(self, kind: str) -> list[str]:
        """List the subjects of the events of a kind."""
        return [each.subject for each in self.events if each.kind == kind]

    @property
    def jobs(self) -> Jobs:
        """The jobs of the project."""
        app = App(str(self.project))
        app.__dict__["state"] = self._state  # instead of the user's own
        return app.jobs

    def page(self, job: CouncilJob) -> str:
        """Return the page of `job show`."""
        from fairlead.interfaces.cli.job_page import job_page

        lines = job_page(self.jobs.report(job.id))
        shown = (
            "".join(part if isinstance(part, str) else part.text for part in line) for line in lines
        )
        return "\n".join(shown)

    @property
    def _state(self) -> Files:
        return Files(str(self.project.parent / "state"), staging=USER_STAGING)

    def _fresh(self) -> str:
        self.names += 1
        return f"{self.names:08d}-nonce-for-this-call"


def a_council(folder: Path, **more: object) -> CouncilProject:
    """Make a council in a new project."""
    return CouncilProject(a_project_with_plans(folder / "project"), **more)  # type: ignore[arg-type]


def copy_of(folder: Path, place: Path) -> Path:
    """Copy a council project with the private state of its jobs; return the project."""
    shutil.copytree(folder, place, symlinks=True)
    project = place / "project"
    old, new = project_key(str(folder / "project")), project_key(str(project))
    (place / "state/runs" / old).rename(place / "state/runs" / new)
    return project


def a_council_without_git(folder: Path, **more: object) -> CouncilProject:
    """Make a council in a project without git, which is faster."""
    planning = folder / "project/.planning"
    planning.mkdir(parents=True)
    (planning / "STATE.md").write_text("# State\n", "utf-8")
    (folder / "project/app.py").write_text("print(1)\n", "utf-8")
    return CouncilProject(folder / "project", **more)  # type: ignore[arg-type]


def faults_of_council(
    folder: Path,
    failed: Collection[str],
    way: str,
    *,
    only_ballots: bool = False,
    allow_absent: int = 0,
) -> list[str]:
    """List what is faults with the end of a council whose seats fail in this way."""
    model = ScriptedModel(dict.fromkeys(failed, fails(way, only_ballots=only_ballots)))
    council = a_council_without_git(
        folder, model=model, options=CouncilOptions(allow_absent=allow_absent)
    )
    job = council.run()
    page = council.page(job)
    # Every seat that answers approves in the end, so that only absent seats can block the job.
    expected = "review_quorum"
    if not failed or (allow_absent and len(failed) == 1 and "security" not in failed):
        expected = "APPROVED"
    elif not only_ballots and (len(failed) > 2 or "security" in failed):
        expected = "planning_quorum"
    ended = job.blocker_reason or str(job.status)
    faults = [] if ended.startswith(expected) else [f"{ended}, not {expected}"]
    counts = f"{6 - len(failed)} of 6 seats " + ("voted" if only_ballots else "planned")
    if failed and counts not in page:
        faults.append(f"the page does not say {counts!r}")
    if failed and "! degraded" not in page.partition("\n\n")[0]:
        faults.append("the page does not say above all that the council was degraded")
    faults += [f"the page does not name {seat}" for seat in failed if seat not in page]
    if "\x1b" in "".join(each.note for each in job.cumulative_votes):
        faults.append("a control character came through")
    return faults
