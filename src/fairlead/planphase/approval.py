"""Approves a plan: creates one GitHub issue per module, writes the exec file, records the hash.

It can be killed anywhere and run again. Before an issue is created, the existing issues have been
listed and the intent is on disk; its number is written as soon as it is known. The `gh` process
inherits the lock: if Fairlead dies, the next approval waits for that process before it lists the
issues, so no issue is created twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial

from fairlead.core.clock import Clock
from fairlead.core.errors import AgentError, Located
from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass
from fairlead.planphase import plan_edits
from fairlead.planphase.criteria import approval_blockers, approval_of, content_hash
from fairlead.planphase.documents import read_exec, read_plan
from fairlead.planphase.errors import (
    AlreadyApproved,
    ApprovalRunning,
    NoPlanPhase,
    OtherExecution,
    PlanUnready,
)
from fairlead.planphase.exec_edits import new_exec, synchronized, with_phase
from fairlead.planphase.facts import facts_of
from fairlead.planphase.model import APPROVE, Module, PlanFile, next_status
from fairlead.planphase.paths import EXEC_FILE, PLAN_FILE
from fairlead.planphase.person_record import APPROVED, WAIVED, PersonRecord
from fairlead.project.derive.scan import scan
from fairlead.project.phases import Phases
from fairlead.store import layout, rename
from fairlead.store.errors import ChangedMeanwhile, SessionHeld
from fairlead.store.files import Edit, Files, WriteOutcome, reading_back
from fairlead.store.lock import SessionLock
from fairlead.store.staging import staging_of
from fairlead.text import frontmatter
from fairlead.text.document import Document
from fairlead.vcs.github import IssueSubject, NewIssue, issue_of, marker_of
from fairlead.vcs.ports import Tracker

_COMMAND = "planning approve"
_LOCK = "approval"
_EARLIEST = datetime.min.replace(year=2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ModuleIssue:
    """A module and its issue."""

    id: str
    name: str
    priority: str
    github_issue: str
    made: str  # "now", "found", "before", "waived"; in a dry run "would"


@dataclass(frozen=True, slots=True)
class ApprovalReport:
    """The result of an approval, or of a dry run."""

    plan_id: str
    goal: str
    approved_hash: str
    issues: tuple[ModuleIssue, ...]
    outcome: WriteOutcome
    notes: tuple[str, ...] = ()


class PlanApproval:
    """Approves the plan of one folder."""

    def __init__(
        self,
        files: Files,
        clock: Clock,
        tracker: Tracker,
        *,
        private: Files,
        wait_seconds: float,
    ) -> None:
        self._files = files
        self._clock = clock
        self._tracker = tracker
        self._private = private  # the person's state folder, outside the project
        self._wait_seconds = wait_seconds

    def approve(self, *, skip_issues: bool = False, dry_run: bool = False) -> ApprovalReport:
        """Check the plan, create the issues, then write exec file and approval together."""
        frontmatter.prepare()
        rename.prepare()  # before the first of the two locks is taken
        plan, content = self._checked()
        if dry_run:
            made = "waived" if skip_issues else "would"
            issues = tuple(
                _module_issue(module, "before" if module.issue else made) for module in plan.modules
            )
            return ApprovalReport(plan.plan_id, plan.goal, content, issues, WriteOutcome(()))
        with self._approval_lock() as lock:
            plan, content = self._checked()
            sources, notes = ({}, ()) if skip_issues else self._create_issues(plan, lock)
            outcome, more = self._write_approval(content, skip_issues=skip_issues)
        with reading_back(outcome.paths):
            plan = self._plan()
        issues = tuple(
            _module_issue(
                module, sources.get(module.id) or ("before" if module.issue else "waived")
            )
            for module in plan.modules
        )
        return ApprovalReport(plan.plan_id, plan.goal, content, issues, outcome, (*notes, *more))

    def require_roadmap(self) -> None:
        """Raise if there is no roadmap to add phases to."""
        self._files.load(layout.ROADMAP)

    def to_roadmap(self, *, dry_run: bool = False) -> tuple[str, ...]:
        """Add each module to the roadmap as a phase and return the names that were added.

        One transaction adds the phase and records it in the exec file, so that it happens once.
        A module whose name the roadmap already lists is skipped.
        """
        listed = {phase.name.casefold() for phase in scan(self._files.folder).roadmap.phases}
        added = []
        for module in self._modules_without_phase():
            name = _line(module.name)
            if name.casefold() in listed:
                continue

            def record(number: PhaseId, module_id: str = module.id) -> dict[str, Edit]:
                return {EXEC_FILE: partial(_with_phase, module_id, number.short)}

            Phases(self._files, self._clock).add(
                name, goal=_line(module.criteria), also=None if dry_run else record, dry_run=dry_run
            )
            added.append(name)
        return tuple(added)

    def _modules_without_phase(self) -> list[Module]:
        # A dry run before the first approval has no exec file.
        loaded = self._files.load_if_present(EXEC_FILE)
        modules = read_exec(loaded.text).modules if loaded else ()
        done = {module.id for module in modules if module.phase}
        return [module for module in self._plan().modules if module.id not in done]

    # -- steps ------------------------------------------------------------------------------

    def _checked(self) -> tuple[PlanFile, str]:
        """Read the plan and hash its content; raise with all faults if it cannot be approved."""
        plan = self._plan()
        facts = facts_of(self._files.folder, plan, self._private.folder, strict=True)
        content = content_hash(plan, facts.requirements)
        if plan.is_approved:
            judged = approval_of(plan, facts)
            raise AlreadyApproved(plan.plan_id, fault="" if judged.is_met else judged.evidence)
        faults = approval_blockers(plan, facts)
        if faults:
            raise PlanUnready(plan.plan_id, tuple(faults))
        next_status(plan.status, APPROVE)
        loaded = self._files.load_if_present(EXEC_FILE)
        if loaded:
            _require_same_plan(loaded.text, plan)
        return plan, content

    def _create_issues(self, plan: PlanFile, lock: int) -> tuple[dict[str, str], tuple[str, ...]]:
        """Create the missing issues; return per module `found` or `now`, and notes."""
        missing = plan_edits.modules_without_issue(plan)
        interrupted = plan_edits.pending_issue_module(self._document())
        sources: dict[str, str] = {}
        notes: list[str] = []
        try:
            existing = self._tracker.marked(_created_at(plan)) if missing else {}
            for module in missing:
                marker = marker_of(plan.plan_id, module.id)
                number = existing.get(marker)
                if number is None and module.id == interrupted:
                    notes.append(
                        f"an earlier run stopped before the issue of {module.id} was created"
                    )
                if number is None:
                    self._write(partial(_with_pending_issue, module))
                    issue = self._tracker.make(_new_issue(plan, module), inherited=lock)
                    number = issue.number
                    notes += issue.notes
                self._write(partial(_with_issue, module, number))
                sources[module.id] = "found" if marker in existing else "now"
        except AgentError as error:
            left = ", ".join(module.id for module in missing if module.id not in sources)
            error.hint += f"; issues created: {', '.join(sources) or 'none'}; still missing: {left}"
            raise
        return sources, tuple(dict.fromkeys(notes))

    def _write_approval(
        self, content: str, *, skip_issues: bool
    ) -> tuple[WriteOutcome, tuple[str, ...]]:
        """Write the exec file and the approval in one transaction."""
        now = self._clock.now().isoformat(timespec="seconds")
        notes: list[str] = []

        def make_exec(text: str) -> str:
            plan = self._plan()
            if not text:
                return new_exec(plan, PLAN_FILE)
            _require_same_plan(text, plan)
            document, notes[:] = synchronized(Document(text), plan)
            return document.text

        def approve(text: str) -> str:
            plan = read_plan(text)
            facts = facts_of(self._files.folder, plan, self._private.folder, strict=True)
            missing = plan_edits.modules_without_issue(plan)
            if content_hash(plan, facts.requirements) != content or (missing and not skip_issues):
                raise ChangedMeanwhile(PLAN_FILE)
            if plan.is_approved:
                return text  # taking the lock has just completed the approval of a killed run
            is_waived = bool(missing)
            return plan_edits.with_approval(Document(text), content, now, is_waived=is_waived).text

        kinds = (APPROVED, WAIVED) if skip_issues else (APPROVED,)
        PersonRecord(self._private, self._files.folder).state(kinds, content, now, _COMMAND)
        edits = {EXEC_FILE: make_exec, PLAN_FILE: approve}
        outcome = self._files.update_all(edits, command=_COMMAND, may_create=True)
        return outcome, tuple(notes)

    # -- files ------------------------------------------------------------------------------

    def _plan(self) -> PlanFile:
        document = self._document()
        with Located(PLAN_FILE):
            document.require_writable()
            return read_plan(document.text)

    def _document(self) -> Document:
        loaded = self._files.load_if_present(PLAN_FILE)
        if loaded is None:
            raise NoPlanPhase(PLAN_FILE)
        return Document(loaded.text)

    def _write(self, edit: Edit) -> None:
        self._files.update(PLAN_FILE, edit, command=_COMMAND)

    @contextmanager
    def _approval_lock(self) -> Iterator[int]:
        """Hold the lock of approvals; yield its file descriptor."""
        folder = self._files.folder
        lock = SessionLock(
            folder, _LOCK, staging=staging_of(folder), wait_seconds=self._wait_seconds
        )
        try:
            lock.__enter__()
        except SessionHeld:
            raise ApprovalRunning from None
        try:
            yield lock.fd
        finally:
            lock.__exit__()


def _with_pending_issue(module: Module, text: str) -> str:
    return plan_edits.with_pending_issue(Document(text), module.id).text


def _with_issue(module: Module, number: int, text: str) -> str:
    return plan_edits.with_issue(Document(text), module.id, number).text


def _with_phase(module: str, phase: str, text: str) -> str:
    return with_phase(Document(text), module, phase).text


def _new_issue(plan: PlanFile, module: Module) -> NewIssue:
    document = plan.requirements_file
    name, priority, criteria = module.name, module.priority, module.criteria
    return issue_of(IssueSubject(plan.plan_id, module.id, name, priority, criteria, document))


def _module_issue(module: Module, made: str) -> ModuleIssue:
    return ModuleIssue(module.id, module.name, module.priority, module.issue, made)


def _require_same_plan(text: str, plan: PlanFile) -> None:
    """Refuse the exec file of another plan."""
    with Located(EXEC_FILE):
        plan_id = read_exec(text).plan_id
    if plan_id != plan.plan_id:
        raise OtherExecution(EXEC_FILE, plan_id, plan.plan_id)


def _created_at(plan: PlanFile) -> datetime:
    """Return when the plan was created; none of its issues is older."""
    try:
        made = datetime.fromisoformat(plan.created_at)
    except ValueError:
        return _EARLIEST
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def _line(text: str) -> str:
    return " ".join(text.split())
