"""The Orchestration Phase: who works on which module, and what has come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fairlead.engine.ports import Clock
from fairlead.errors import DocumentError, NoDocument, NoExecPhase, NoProject
from fairlead.model.execution import ExecModule, Execution
from fairlead.records import exec_file
from fairlead.records.exec_file import Wanted
from fairlead.records.exec_read import read_exec
from fairlead.store import layout
from fairlead.store.files import Files, Outcome
from fairlead.store.load import Reader
from fairlead.text import front
from fairlead.text.document import Document


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
        found = exec_report(self._files)
        if found is None:
            raise NoExecPhase(layout.EXEC_FILE)
        return found

    def register(self, kind: str, agent: str, session: str, *, dry_run: bool = False) -> Outcome:
        """Somebody who may be given modules."""
        return self._changed(
            "exec register",
            lambda held: exec_file.registered(held, kind, agent, session),
            dry_run=dry_run,
        )

    def assign(self, module: str, agent: str, *, dry_run: bool = False) -> Outcome:
        """Give a free module to somebody."""
        now = self._now()
        return self._changed(
            "exec assign",
            lambda held: exec_file.assigned(held, module, agent, now),
            dry_run=dry_run,
        )

    def reassign(self, module: str, agent: str, reason: str, *, dry_run: bool = False) -> Outcome:
        """Take a module from one and give it to another."""
        now = self._now()
        return self._changed(
            "exec reassign",
            lambda held: exec_file.reassigned(held, module, agent, reason, now),
            dry_run=dry_run,
        )

    def modify(self, module: str, wanted: Wanted, *, dry_run: bool = False) -> Outcome:
        """Change what was named of a module."""
        return self._changed(
            "exec modify", lambda held: exec_file.modified(held, module, wanted), dry_run=dry_run
        )

    def complete(self, module: str, pr: str = "", *, dry_run: bool = False) -> Outcome:
        """Say that a module is done."""
        now = self._now()
        return self._changed(
            "exec complete",
            lambda held: exec_file.completed(held, module, pr, now),
            dry_run=dry_run,
        )

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="seconds")

    def _changed(
        self, command: str, change: Callable[[Document], Document], *, dry_run: bool
    ) -> Outcome:
        front.prepare()
        try:
            return self._files.update(
                layout.EXEC_FILE,
                lambda text: change(Document(text)).text,
                command=command,
                dry_run=dry_run,
            )
        except (NoDocument, NoProject):
            # Asked only now: a killed approval may have decided on the file, and not yet put it there.
            raise NoExecPhase(layout.EXEC_FILE) from None


def exec_report(reader: Reader) -> ExecReport | None:
    """Where the modules stand; None without an exec file."""
    loaded = reader.load_if_present(layout.EXEC_FILE)
    if loaded is None:
        return None
    try:
        found = read_exec(loaded.text)
    except DocumentError as error:
        raise error.located(layout.EXEC_FILE) from None
    return _report(found)


def _report(found: Execution) -> ExecReport:
    completed, total, is_all = found.counts
    return ExecReport(
        found.plan_id,
        found.status,
        found.current,
        tuple(_module(module) for module in found.modules),
        found.ai_agents,
        found.human_developers,
        completed,
        total,
        is_all,
        found.drift,
    )


def _module(module: ExecModule) -> ModuleReport:
    return ModuleReport(
        module.id,
        module.name,
        module.status,
        module.priority,
        module.agent,
        module.issue,
        module.pr,
        module.phase,
        module.criteria,
    )
