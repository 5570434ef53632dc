"""A project with plans to carry out, and agents that do what a test tells them.

The agents here live in the test's own process: they fulfil the port, read their prompt as any agent
does, and answer in the agreed block. Programs that are agents are tried in tests/adapters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fairlead.adapters.commands import Shell, command_fault
from fairlead.engine.execution import Execution
from fairlead.engine.fanout import Signal
from fairlead.engine.jobs import Jobs
from fairlead.engine.ports import Recall
from fairlead.engine.site import Commands, GateLimits
from fairlead.engine.undertaking import Crew, Report, Terms, Watcher
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.budget import Caps
from fairlead.model.job import shares_of
from fairlead.store import layout
from fairlead.store.files import Files
from fairlead.wiring import workspace_of
from tests.support.repositories import a_repository, git, written

_NONCE = re.compile(r'"nonce": "([^"]+)"')
_NAME = re.compile(r'"task_name": "([^"]+)"')
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
    extra: str = ""  # further tasks, as they stand

    @property
    def text(self) -> str:
        """PLAN.md."""
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
    """A plan that makes some files, each verified by its being there."""
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


Act = Callable[[Order, int], Mapping[str, object] | Ending]


def does_it(order: Order, call: int) -> Mapping[str, object]:
    """An executor that writes its files, an architect that approves."""
    if order.is_read_only:
        return {"verdict": "APPROVED", "confidence": "high"}
    for path in wanted_files(order):
        written(Path(order.folder) / path, f"made {path}\n")
    return {"status": "success", "done_criteria_met": True, "evidence": "made", "error": None}


def wanted_files(order: Order) -> list[str]:
    """The files that the task of an order lists."""
    found = _FILES.search(order.prompt)
    return [each.strip() for each in found[1].split(",")] if found else []


@dataclass(slots=True)
class Told:
    """An agent that does what it is told, and remembers every order."""

    act: Act = does_it
    name: str = "told"
    orders: list[Order] = field(default_factory=list)

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """See the port."""
        self.orders.append(order)
        same = [each for each in self.orders if task_of(each) == task_of(order)]
        mine = [each for each in same if each.is_read_only == order.is_read_only]
        answer = self.act(order, len(mine))
        if isinstance(answer, Ending):
            return answer
        return Ending(
            EndKind.OK, block(order.prompt, answer), usage=Usage(1000, 0, 100), exit_code=0
        )


def task_of(order: Order) -> str:
    """The name of the task that an order is about."""
    found = _NAME.search(order.prompt)
    assert found
    return found[1]


def block(prompt: str, answer: Mapping[str, object]) -> str:
    """An answer in the block that the prompt asked for."""
    nonce, name = _NONCE.search(prompt), _NAME.search(prompt)
    assert nonce
    assert name
    held = {"nonce": nonce[1], "task_name": name[1], **answer}
    return f"It is done.\n\n```json\n{json.dumps(held)}\n```\n"


class Ticking:
    """A clock that moves whenever somebody looks; in large steps, nobody has to wait for a retry."""

    def __init__(self, step_seconds: float = 1) -> None:
        self.at = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
        self._step = timedelta(seconds=step_seconds)

    def now(self) -> datetime:
        """A step after the last time."""
        self.at += self._step
        return self.at


@dataclass(slots=True)
class Works:
    """A project, and everything that a job in it needs."""

    project: Path
    agent: Told = field(default_factory=Told)
    clock: Ticking = field(default_factory=Ticking)
    slots: int = 2
    shares: str = ""
    caps: Caps = field(default_factory=Caps)
    names: int = 0
    branching: str = ""
    workstream: str = ""
    phase: str = "1"
    happened: list[str] = field(default_factory=list)
    commands: Commands = field(default_factory=Shell)
    recall: Recall = lambda _name, _role, _raw: None

    @property
    def execution(self) -> Execution:
        """The engine over the project."""
        return Execution(
            Files(str(self.project)),
            self.state,
            self.clock,
            workspace_of(str(self.project)),
            self._fresh,
            command_fault,
            branching=self.branching,
        ).within(self.workstream)

    def run(self, stop: Signal | None = None, over: Signal | None = None) -> Report:
        """Approve what is there and carry it out."""
        execution = self.execution
        execution.approve(execution.preview(self.phase))
        crew = Crew(self.agent, self.agent, self.commands, lambda _: 0, recall=self.recall)
        terms = Terms(self.caps, GateLimits(), slots=self.slots, shares=shares_of(self.shares))
        watcher = Watcher(lambda each: self.happened.append(f"{each.subject} {each.kind}"))
        return execution.carry_out(
            execution.preview(self.phase), crew, terms, watcher, stop or Signal(), over or Signal()
        )

    @property
    def state(self) -> Files:
        """What the person's own folder remembers."""
        return Files(str(self.project.parent / "state"), desk=layout.USER_DESK)

    @property
    def jobs(self) -> Jobs:
        """Its jobs, as a person meets them."""
        return Jobs(Files(str(self.project)), self.state, self.clock, lambda: None)

    def answer(self, text: str) -> None:
        """Answer the one open question of the newest job."""
        self.jobs.answer(self.jobs.one("").job.id, text, "")

    def cancel(self) -> None:
        """End the newest job."""
        workspace = workspace_of(str(self.project))
        self.jobs.cancel(self.jobs.one("").job.id, workspace, keeps_documents=True)

    def _fresh(self) -> str:
        self.names += 1
        return f"{self.names:08d}-nonce-for-this-call"


def commits_of(project: Path) -> list[str]:
    """The subjects of all commits, the newest first."""
    return git(project, "log", "--format=%s").splitlines()
