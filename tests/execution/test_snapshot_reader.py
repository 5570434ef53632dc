"""A reader that has looked before sees the same facts as a new one."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fairlead.agents.budget import Caps, Cost
from fairlead.core.values import replace
from fairlead.execution.snapshot import SnapshotReader
from fairlead.jobs.model import Approval, Job, JobStatus, Run, TaskGate
from fairlead.project.state.gate_rules import GateEvent, advance
from fairlead.store.digests import is_settled, signatures_in
from fairlead.store.files import Files
from tests.support.execution import ExecutionTrial, a_plan, a_project

PHASE = ".planning/phases/01-work"
SUMMARY = "---\nphase: 01-work\nplan: 02\nstatus: complete\n---\n\n# Done\n"


class Project:
    """A project whose gates and branch a test sets; everything else is on disk."""

    def __init__(self, folder: Path) -> None:
        plans = [a_plan(f"01-{at:02d}", f"f{at}.txt") for at in range(1, 4)]
        self.folder = a_project(folder / "project", *plans, is_git=False)
        trial = ExecutionTrial(self.folder)
        documents = {each.id: each for each in trial.execution.preview("1").documents}
        approvals = tuple(Approval(each.id, each.digest) for each in documents.values())
        self.job = Job(
            "execute-01", "1", JobStatus.EXECUTING, "", "fake", "main", approvals=approvals
        )
        self.gates: tuple[TaskGate, ...] = ()
        self.landed = False
        self.context: Any = SimpleNamespace(
            plans=documents,
            files=Files(str(self.folder)),
            folder=SimpleNamespace(load=lambda _: self.job, load_gates=lambda: self.gates),
            workspace=SimpleNamespace(
                commit_of=lambda _: "head", is_ancestor=lambda _, __: self.landed
            ),
            spending=SimpleNamespace(actuals=lambda **_: (), spent=lambda _, __: (Cost(), Cost())),
            options=SimpleNamespace(caps=Caps()),
            questions=lambda: (),
            now=lambda: "2026-06-01T12:00:00Z",
            proven=frozenset(),
            approved=frozenset(each.digest for each in documents.values()),
            job=self.job,
        )

    def path(self, name: str) -> Path:
        """A file of the phase."""
        return self.folder / PHASE / name

    def passes(self) -> None:
        """The only task of the second plan has passed."""
        task = self.context.plans["01-02"].tasks[0]
        gate = TaskGate("01-02-01", "01-02", 1, task.name)
        events = (GateEvent.START, GateEvent.EXECUTOR_SUCCESS, GateEvent.VERIFY_PASSED)
        for event in (*events, GateEvent.APPROVED):
            gate = replace(gate, gate=advance(gate.gate, event, task=task.name, summary=""))
        run = Run(1, 1, "base", "branch", "session", "2026-06-01", commit="commit")
        self.gates = (replace(gate, runs=(run,), digest=task.digest),)

    def settle(self) -> None:
        """Let the files become old enough for the caches."""
        while not all(map(is_settled, signatures_in(str(self.folder), PHASE).values())):
            pass


def lands(project: Project) -> None:
    """The target branch gets the work."""
    project.landed = True


def is_summarised(project: Project) -> None:
    """The plan gets its summary."""
    project.path("01-02-SUMMARY.md").write_text(SUMMARY)


def loses_summary(project: Project) -> None:
    """A person removes the summary."""
    project.path("01-02-SUMMARY.md").unlink()


def is_edited(project: Project) -> None:
    """A person changes another plan."""
    path = project.path("01-03-PLAN.md")
    path.write_text(path.read_text().replace("Write", "Draw"))


def loses_gate(project: Project) -> None:
    """A person starts the task anew."""
    project.gates = ()


def is_unapproved(project: Project) -> None:
    """The record approves fewer plans."""
    project.job = replace(project.job, approvals=project.job.approvals[:1])


STEPS: tuple[Callable[[Project], None], ...] = (
    Project.passes,
    lands,
    is_summarised,
    loses_summary,
    is_edited,
    is_unapproved,
    loses_gate,
)


@pytest.mark.parametrize("settles", [False, True])
def test_each_change_is_seen_by_a_reader_that_has_looked_before(
    tmp_path: Path, settles: bool
) -> None:
    project = Project(tmp_path)
    reader = SnapshotReader(project.context)
    seen = [reader.look((), is_stopping=False).plans]
    for step in STEPS:
        if settles:
            project.settle()
            reader.look((), is_stopping=False)
        step(project)
        found = reader.look((), is_stopping=False).plans
        assert found == SnapshotReader(project.context).look((), is_stopping=False).plans, step
        assert (found != seen[-1]) == (step is not Project.passes), step  # alone, it lands nothing
        seen.append(found)
