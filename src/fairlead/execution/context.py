"""The context of an execution: what a run needs beyond the context of every job.

It also remembers what this run changed itself, so that the tamper check can tell its changes from
an agent's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairlead.core.concurrency import Latch, Mutex
from fairlead.execution.errors import BranchGone
from fairlead.jobs.context import JobContext, JobEnvironment, JobSetup
from fairlead.jobs.model import Job
from fairlead.plans.model import PlanDocument, Task, task_id
from fairlead.store import layout
from fairlead.store.digests import DerivedCache, digest_of

if TYPE_CHECKING:
    from fairlead.execution.model import ExecutionPreview


class ExecutionContext(JobContext[Job]):
    """Everything one run of an execution works with."""

    def __init__(
        self,
        environment: JobEnvironment,
        job: Job,
        setup: JobSetup,
        preview: ExecutionPreview,
        approved: frozenset[str],
    ) -> None:
        super().__init__(environment, job, setup)
        self.plans: Mapping[str, PlanDocument] = {plan.id: plan for plan in preview.documents}
        self._tasks = {
            task_id(plan.id, task.number): (plan, task)
            for plan in self.plans.values()
            for task in plan.tasks
        }
        self.title = preview.name
        self.approved = approved  # digests of plans, from the user's own record
        # Plans with a summary from before this run, whatever the summary file is called.
        self.proven = frozenset(self.plans).difference(preview.left)
        self.settings_files = (*setup.options.guarded, f"{self.files.folder}/{layout.CONFIG}")
        self.placing = Mutex()  # held while making or removing a worktree
        self.calling = Latch()  # lets a landing wait until new calls have begun
        self.moved: dict[str, str] = {}  # refs that the run moved, and where it left each
        self.attempts: set[str] = set()  # branches that running agents may move
        self.watched: set[str] = set()  # tasks of which a call is running
        self.has_touched = False  # whether an answer about touched files is to be carried out
        self.digests = DerivedCache(digest_of)  # of planning documents and of the job's own files

    def know_target(self) -> None:
        """Remember where the target branch is: if it moves while agents run, a person is asked."""
        if self.job.is_git:
            self.note_move(self.job.target, self.head())

    def task(self, task: str) -> tuple[PlanDocument, Task]:
        """A plan, and its task as an agent does it, by the id of the task."""
        plan, each = self._tasks[task]
        return plan, plan.task_for(each.number) or each

    def task_and_plan(self, subject: str) -> tuple[str, str]:
        """The task and plan of a question's subject, such as 01-02-03.2; of a plan, it twice."""
        name = subject
        while name:
            if name in self._tasks:
                return name, self._tasks[name][0].id
            if name in self.plans:
                return name, name
            name = name.rpartition(".")[0]
        return "", ""

    def head(self) -> str:
        """The commit of the branch that work lands on; raises if the branch is gone."""
        commit = self.workspace.commit_of(f"refs/heads/{self.job.target}")
        if not commit:
            raise BranchGone(self.job.target, self.job.id)
        return commit

    def attempt_ended(self, branch: str) -> None:
        """Note the end of an attempt: from now on its branch may not move."""
        with self.turn:
            if self.job.is_git:
                self.note_move(branch, self.workspace.commit_of(f"refs/heads/{branch}"))
            self.attempts.discard(branch)

    def note_move(self, branch: str, commit: str) -> None:
        """Remember that the run itself moved a branch, so that the tamper check accepts it."""
        self.moved[f"refs/heads/{branch}"] = commit
