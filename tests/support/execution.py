"""A project with plans to execute, and fake agents that a test controls.

The agents run in the process of the test. They implement the port, read their prompt like any
agent and answer in the requested block. Real agent programs are tested in tests/agents.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fairlead.agents.budget import Caps
from fairlead.agents.model import AgentCall, AgentEvent, CallResult, CallSource, EndKind, TokenUsage
from fairlead.agents.ports import Recall
from fairlead.core.clock import Clock
from fairlead.core.concurrency import OneTimeEvent
from fairlead.core.values import replace
from fairlead.council.service import Council, council_kind
from fairlead.execution.commands import Shell, command_fault
from fairlead.execution.model import ExecutionReport
from fairlead.execution.service import Execution, execution_kind
from fairlead.jobs.context import (
    Cancellation,
    EventSink,
    JobEnvironment,
    JobSetup,
    Observer,
    RunOptions,
)
from fairlead.jobs.kinds import JobKinds
from fairlead.jobs.model import COUNCIL, EXECUTE, shares_of
from fairlead.jobs.roster import Commands, Roster, execution_roster
from fairlead.jobs.service import Jobs
from fairlead.plans.model import CommandResult
from fairlead.store.files import Files
from fairlead.store.staging import USER_STAGING
from fairlead.vcs.copies import ScratchFolders, workspace_of
from fairlead.vcs.ports import Workspace
from tests.support.repositories import a_repository, git, written

_NONCE = re.compile(r'"nonce": "([^"]+)"')
_NAME = re.compile(r'"task_name": "([^"]+)"')
_FILE_TEST = re.compile(r"test -f ([\w./-]+)")
_FILES = re.compile(r"^\| *<files>(.*?)</files>", re.MULTILINE)

LOOK = (
    '<task type="checkpoint:human-verify" gate="blocking">\n<what-built>A page</what-built>\n'
    "<how-to-verify>Open it</how-to-verify>\n<resume-signal>Say so</resume-signal>\n</task>\n"
)


@dataclass(frozen=True, slots=True)
class PlanText:
    """A plan as a test writes it."""

    id: str
    tasks: Sequence[tuple[str, str]]  # file, verify command
    depends_on: Sequence[str] = ()
    files: Sequence[str] = ()
    extra: str = ""  # further tasks, as XML

    @property
    def text(self) -> str:
        """The text of PLAN.md."""
        phase, _, number = self.id.partition("-")
        files = [*(path for path, _ in self.tasks), *self.files]
        listed = ", ".join(files)
        depends = ", ".join(f'"{each}"' for each in self.depends_on)
        tasks = "\n".join(
            f'<task type="auto">\n  <name>Task {at}: make {path}</name>\n  <files>{path}</files>\n'
            f"  <action>Write {path}.</action>\n  <verify>{verify}</verify>\n"
            f"  <done>{path} exists</done>\n</task>"
            for at, (path, verify) in enumerate(self.tasks, 1)
        )
        autonomous = "false" if self.extra else "true"
        return (
            f"---\nphase: {phase}-work\nplan: {number}\ntype: execute\nwave: 1\n"
            f"depends_on: [{depends}]\nfiles_modified: [{listed}]\nautonomous: {autonomous}\n"
            "must_haves:\n  truths: []\n---\n\n"
            f"<objective>\nMake {listed}.\n</objective>\n\n<tasks>\n{tasks}\n{self.extra}</tasks>\n"
        )


def a_plan(id_: str, *paths: str, depends_on: Sequence[str] = (), extra: str = "") -> PlanText:
    """A plan that creates files; each verify command checks that its file exists."""
    return PlanText(id_, [(path, f"test -f {path}") for path in paths], depends_on, extra=extra)


def a_project(folder: Path, *plans: PlanText, is_git: bool = True) -> Path:
    """A project of one phase with these plans, committed."""
    files = {
        ".planning/STATE.md": "---\ngsd_state_version: '1.0'\nstatus: executing\n---\n\n# State\n\n"
        "## Current Position\n\nPhase: 1 of 1 (Work)\nPlan: 1 of 1 in current phase\n"
        "Status: Ready to execute\n\n## Accumulated Context\n\n### Blockers/Concerns\n\nNone yet.\n",
        ".planning/ROADMAP.md": "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Work**\n\n"
        "## Phase Details\n\n### Phase 1: Work\n**Goal**: It works\n",
        "README.md": "a project\n",
        **{f".planning/phases/01-work/{each.id}-PLAN.md": each.text for each in plans},
    }
    if is_git:
        return a_repository(folder, files)
    for name, text in files.items():
        written(folder / name, text)
    return folder


Act = Callable[[AgentCall, int], Mapping[str, object] | CallResult]


def succeeds(order: AgentCall, call: int) -> Mapping[str, object]:
    """An executor that writes its files, an architect that approves."""
    if order.is_read_only:
        return {"verdict": "APPROVED", "confidence": "high"}
    for path in listed_files(order):
        written(Path(order.folder) / path, f"made {path}\n")
    return {"status": "success", "done_criteria_met": True, "evidence": "made", "error": None}


def listed_files(order: AgentCall) -> list[str]:
    """The files that the task in a prompt lists."""
    match = _FILES.search(order.prompt)
    return [path.strip() for path in match[1].split(",")] if match else []


@dataclass(slots=True)
class FakeAgent:
    """An agent whose answers a test chooses; it remembers every call."""

    act: Act = succeeds
    name: str = "fake"
    orders: list[AgentCall] = field(default_factory=list)

    def start(
        self,
        order: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        """See the port."""
        self.orders.append(order)
        same = [each for each in self.orders if task_of(each) == task_of(order)]
        mine = [each for each in same if each.is_read_only == order.is_read_only]
        answer = self.act(order, len(mine))
        if isinstance(answer, CallResult):
            return answer
        return CallResult(
            EndKind.OK, block(order.prompt, answer), usage=TokenUsage(1000, 0, 100), exit_code=0
        )


def task_of(order: AgentCall) -> str:
    """The name of the task that a call is about."""
    match = _NAME.search(order.prompt)
    assert match
    return match[1]


def block(prompt: str, answer: Mapping[str, object]) -> str:
    """An answer in the block that the prompt asked for."""
    nonce, name = _NONCE.search(prompt), _NAME.search(prompt)
    assert nonce
    assert name
    fields = {"nonce": nonce[1], "task_name": name[1], **answer}
    return f"It is done.\n\n```json\n{json.dumps(fields)}\n```\n"


class SteppingClock:
    """A clock that moves on with each reading; large steps skip the waits before retries."""

    def __init__(self, step_seconds: float = 1) -> None:
        self.at = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
        self._step = timedelta(seconds=step_seconds)

    def now(self) -> datetime:
        """One step after the last reading."""
        self.at += self._step
        return self.at


class QuickCommands:
    """Runs `test -f FILE` in this process, since a shell takes 30 ms, and other commands with it."""

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
        source: CallSource | None = None,
    ) -> CommandResult:
        """See the port."""
        match = _FILE_TEST.fullmatch(line)
        if not match:
            return Shell().run(line, folder, limit, is_wanted, source)
        exit_code = 0 if (Path(folder) / match[1]).is_file() else 1
        return CommandResult(exit_code, 0.0, hashlib.sha256().hexdigest(), "")


@dataclass(slots=True)
class ExecutionTrial:
    """A project, and everything that a job in it needs, with defaults for tests."""

    project: Path
    agent: FakeAgent = field(default_factory=FakeAgent)
    clock: SteppingClock = field(default_factory=SteppingClock)
    slots: int = 2
    shares: str = ""
    caps: Caps = field(default_factory=Caps)
    names: int = 0
    branching: str = ""
    workstream: str = ""
    phase: str = "1"
    happened: list[str] = field(default_factory=list)
    commands: Commands = field(default_factory=QuickCommands)
    recall: Recall = lambda _name, _role, _raw: None
    models: tuple[str, str] = ("", "")
    options: RunOptions = field(default_factory=RunOptions)
    observe: Observer | None = None

    @property
    def execution(self) -> Execution:
        """The execution service of the project."""
        environment = environment_of(self.project, self.state, self.clock, self._new_token)
        if self.observe:
            environment = replace(environment, observe=self.observe)
        return Execution(
            environment,
            command_fault,
            branching=self.branching,
            setup=self.options.setup,
        ).within(self.workstream)

    def run(
        self, stop: OneTimeEvent | None = None, over: OneTimeEvent | None = None
    ) -> ExecutionReport:
        """Approve the plans of the phase and execute them."""
        execution = self.execution
        execution.approve(execution.preview(self.phase))
        roster = replace(
            execution_roster(self.agent, self.agent, self.commands, self.models),
            recall=self.recall,
        )
        roster = self.placed(roster)
        shares = shares_of(self.shares)
        options = replace(self.options, caps=self.caps, slots=self.slots, shares=shares)
        sink = EventSink(lambda event: self.happened.append(f"{event.subject} {event.kind}"))
        cancellation = Cancellation(stop or OneTimeEvent(), over or OneTimeEvent())
        setup = JobSetup(roster, options, sink, cancellation)
        return execution.carry_out(execution.preview(self.phase), setup)

    def placed(self, roster: Roster) -> Roster:
        """The roster where its agents run: here, or on the worker of a test of the cluster."""
        return roster

    @property
    def state(self) -> Files:
        """The user's own state folder."""
        return Files(str(self.project.parent / "state"), staging=USER_STAGING)

    @property
    def jobs(self) -> Jobs:
        """The jobs of the project."""
        return jobs_of(Files(str(self.project)), self.state, self.clock)

    def answer(self, text: str) -> None:
        """Answer the one open question of the newest job."""
        self.jobs.answer(self.jobs.report("").job.id, text, "")

    def cancel(self) -> None:
        """End the newest job."""
        self.jobs.cancel(self.jobs.report("").job.id)

    def _new_token(self) -> str:
        self.names += 1
        return f"{self.names:08d}-nonce-for-this-call"


def environment_of(
    project: Path, state: Files, clock: Clock, new_token: Callable[[], str]
) -> JobEnvironment:
    """The environment of the jobs of a project."""
    workspace = workspace_of(str(project))
    scratch = ScratchFolders(workspace)
    return JobEnvironment(Files(str(project)), state, clock, workspace, scratch, new_token)


def jobs_of(
    files: Files,
    state: Files,
    clock: Clock,
    *,
    workspace: Workspace | None = None,
    keeps_documents: bool = True,
    pause: Callable[[], None] = lambda: None,
) -> Jobs:
    """The jobs of a project: executions, workflows, and councils that no test cancels."""

    def no_council() -> Council:
        raise AssertionError("no test here cancels a council")

    work = execution_kind(lambda: workspace or workspace_of(files.folder), lambda: keeps_documents)
    kinds = JobKinds({EXECUTE: lambda: work, COUNCIL: lambda: council_kind(no_council)})
    return Jobs(files, state, clock, pause, kinds)


def commits_of(project: Path) -> list[str]:
    """The subjects of all commits, the newest first."""
    return git(project, "log", "--format=%s").splitlines()
