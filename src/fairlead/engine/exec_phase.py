"""The Orchestration Phase: who works on which module, and what has come of it."""

from __future__ import annotations

from collections.abc import Callable

from fairlead.engine.ports import Clock
from fairlead.errors import Located, NoDocument, NoExecPhase, NoProject
from fairlead.model.execution import ExecModule, Execution
from fairlead.records.exec_read import read_exec
from fairlead.store import layout
from fairlead.store.files import Files, Outcome
from fairlead.text import front
from fairlead.text.document import Document
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class ModuleReport:
    """One module and who has it."""

    id: str
    name: str
    status: str
    priority: str
    assigned_to: str
    github_issue: str
    pr: str
    phase: str
    acceptance_criteria: str


@dataclass(frozen=True, slots=True)
class ExecReport:
    """Where the modules stand, counted from themselves."""

    plan_id: str
    status: str
    current_module: str
    modules: tuple[ModuleReport, ...]
    ai_agents: tuple[str, ...]
    human_developers: tuple[str, ...]
    modules_completed: int
    modules_total: int
    all_modules_complete: bool
    drift: str  # what the file records otherwise; empty when it agrees


class ExecPhase:
    """Records what becomes of the modules of an approved plan."""

    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    def status(self) -> ExecReport:
        """Where the modules stand."""
        loaded = self._files.load_if_present(layout.EXEC_FILE)
        if loaded is None:
            raise NoExecPhase(layout.EXEC_FILE)
        with Located(layout.EXEC_FILE):
            return _report(read_exec(loaded.text))

    def change(
        self, verb: str, change: Callable[[Document, str], Document], *, dry_run: bool = False
    ) -> Outcome:
        """Make one change of `records.exec_file`, at the present time."""
        front.prepare()
        now = self._clock.now().isoformat(timespec="seconds")
        try:
            return self._files.update(
                layout.EXEC_FILE,
                lambda text: change(Document(text), now).text,
                command=f"exec {verb}",
                dry_run=dry_run,
            )
        except (NoDocument, NoProject):
            # Asked only now: a killed approval may have decided on the file, and not yet put it there.
            raise NoExecPhase(layout.EXEC_FILE) from None


def _report(found: Execution) -> ExecReport:
    modules = tuple(_module(module) for module in found.modules)
    plan, status, current = found.plan_id, found.status, found.current
    ai, human = found.ai_agents, found.human_developers
    done, total, is_all = found.counts
    return ExecReport(plan, status, current, modules, ai, human, done, total, is_all, found.drift)


def _module(each: ExecModule) -> ModuleReport:
    work = (each.agent, each.issue, each.pr, each.phase)
    return ModuleReport(each.id, each.name, each.status, each.priority, *work, each.criteria)
