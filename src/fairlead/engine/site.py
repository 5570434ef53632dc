"""The site: everything that the actions of a job are performed with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Protocol

from fairlead.engine.fanout import Precedence, Signal, Turn
from fairlead.engine.ports import Agent, Clock, Recall, Workspace
from fairlead.engine.purse import Purse
from fairlead.errors import BranchGone
from fairlead.model.agent_events import AgentEvent
from fairlead.model.job import Job, Question
from fairlead.model.plan import PlanSheet, Task, task_id
from fairlead.model.ran import Ran
from fairlead.store.approvals import Answers
from fairlead.store.digests import Derived, digest_of
from fairlead.store.files import Files
from fairlead.store.jobs import JobFiles
from fairlead.values import dataclass, field


class Commands(Protocol):
    """Runs the verify commands of approved plans."""

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ran:
        """Run a command line as it stands in its plan. Ends early once it is not wanted."""
        ...


@dataclass(frozen=True, slots=True)
class GateLimits:
    """How long each step of a gate may take."""

    executor: timedelta = timedelta(minutes=5)
    verify: timedelta = timedelta(minutes=2)
    architect: timedelta = timedelta(minutes=3)
    idle: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened, for whoever watches."""

    kind: str
    subject: str
    text: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Site:
    """Where a job works, and with whom."""

    job: Job
    files: Files
    jobs: JobFiles
    workspace: Workspace
    executor: Agent
    architect: Agent
    commands: Commands
    clock: Clock
    sheets: Mapping[str, PlanSheet]
    purse: Purse
    answers: Answers  # the person's own record of them
    private: str  # the person's own folder for this job: worktrees and raw output
    new_nonce: Callable[[], str]
    report: Callable[[Happening], None]
    watch: Callable[[str, AgentEvent], None]
    recall: Recall  # what a call came to whose run was killed
    limits: GateLimits = field(default_factory=GateLimits)
    turn: Turn = field(default_factory=Turn)  # to write into the repository
    placing: Turn = field(default_factory=Turn)  # to make or remove a worktree
    calling: Precedence = field(default_factory=Precedence)  # agents begin before work lands
    is_over: Signal = field(default_factory=Signal)  # everything is to end now
    moved: dict[str, str] = field(default_factory=dict)  # refs of ours, and where we left each
    attempts: set[str] = field(default_factory=set)  # branches that agents at work may move
    guarded: tuple[str, ...] = ()  # files outside git that no agent may change
    digests: Derived[str] = field(default_factory=lambda: Derived(digest_of))  # of proofs
    proven: frozenset[str] = frozenset()  # plans that had their summary before, by any name
    approved: frozenset[str] = frozenset()  # digests of plans, from the person's own record
    keeps_documents: bool = True  # whether .planning is committed
    needs_tests: bool = True  # a test run without a test proves nothing
    title: str = ""

    def found(self, task: str) -> tuple[PlanSheet, Task]:
        """A task by its id, with its plan."""
        for sheet in self.sheets.values():
            for each in sheet.tasks:
                if task_id(sheet.id, each.number) == task:
                    return sheet, sheet.worked(each.number) or each
        raise KeyError(task)

    def head(self) -> str:
        """Where the branch is that work lands on; nothing can go on when it is gone."""
        found = self.workspace.commit_of(f"refs/heads/{self.job.target}")
        if not found:
            raise BranchGone(self.job.target, self.job.id)
        return found

    def questions(self) -> tuple[Question, ...]:
        """Every question that was asked, with the answers that people gave."""
        return self.answers.believed(self.job, self.jobs.load_questions())

    def ended(self, branch: str) -> None:
        """The branch of an attempt is an agent's own no more: where it is now, it stays."""
        with self.turn:
            if self.job.is_git:
                self.moved_to(branch, self.workspace.commit_of(f"refs/heads/{branch}"))
            self.attempts.discard(branch)

    def moved_to(self, branch: str, commit: str) -> None:
        """Whoever looks for what others moved knows this as our doing."""
        self.moved[f"refs/heads/{branch}"] = commit

    def tell(self, kind: str, subject: str, text: str = "", **facts: object) -> None:
        """Write a line in the journal, and show it to whoever watches."""
        at = self.clock.now().isoformat()
        self.jobs.tell({"at": at, "kind": kind, "subject": subject, "text": text, **facts})
        self.report(Happening(kind, subject, text, facts))
