"""Approval: one issue a module, the exec file, and a seal over what was approved.

It can be killed anywhere and run again. Before an issue is made, the intent is on disk and the
issues that exist have been listed; its number is written the moment it is known. The lock is
held by the `gh` that makes an issue as well: when we die, the next approval waits for it before
it lists, so an issue that is still on its way is never made a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial

from fairlead.engine.phases import Phases
from fairlead.engine.ports import Clock, Tracker
from fairlead.errors import (
    AgentError,
    AlreadyApproved,
    ApprovalRunning,
    ChangedMeanwhile,
    Located,
    NoPlanPhase,
    OtherExecution,
    PlanUnready,
    SessionHeld,
)
from fairlead.model.criteria import content_hash, unapprovable
from fairlead.model.ids import PhaseId
from fairlead.model.issue import Issue, Subject, issue_of, marker_of
from fairlead.model.planning import Module, Plan
from fairlead.records import plan_approval
from fairlead.records.exec_file import in_step, new_exec, with_phase
from fairlead.records.exec_read import read_exec
from fairlead.records.plan_read import read_plan
from fairlead.store import exchange, layout
from fairlead.store.facts import facts_of
from fairlead.store.files import Edit, Files, Outcome, looking_again
from fairlead.store.scan import scan
from fairlead.store.session import SessionLock
from fairlead.text import front
from fairlead.text.document import Document
from fairlead.values import dataclass

_COMMAND = "planning approve"
_LOCK = "approval"
_ALWAYS = datetime.min.replace(year=2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ModuleIssue:
    """A module and its issue."""

    id: str
    name: str
    priority: str
    github_issue: str
    made: str  # "now", "found", "before", "waived"; in a dry run "would"


@dataclass(frozen=True, slots=True)
class Approved:
    """What an approval did, or in a dry run would do."""

    plan_id: str
    goal: str
    approved_hash: str
    issues: tuple[ModuleIssue, ...]
    outcome: Outcome
    notes: tuple[str, ...] = ()


class Approval:
    """Approves the plan of one folder."""

    def __init__(
        self,
        files: Files,
        clock: Clock,
        tracker: Tracker,
        *,
        state_folder: str,
        wait_seconds: float,
    ) -> None:
        self._files = files
        self._clock = clock
        self._tracker = tracker
        self._state_folder = state_folder
        self._wait_seconds = wait_seconds

    def approve(self, *, skip_issues: bool = False, dry_run: bool = False) -> Approved:
        """Validate, make the issues, make the exec file, seal the plan."""
        front.prepare()
        exchange.prepare()  # the lock of approvals is the first of two
        plan, content = self._checked()
        if dry_run:
            made = "waived" if skip_issues else "would"
            issues = tuple(_told(each, "before" if each.issue else made) for each in plan.modules)
            return Approved(plan.plan_id, plan.goal, content, issues, Outcome(()))
        with self._alone() as held:
            plan, content = self._checked()
            told, notes = ({}, ()) if skip_issues else self._make_issues(plan, held)
            outcome, more = self._seal(content, skip_issues=skip_issues)
        with looking_again(outcome.paths):
            plan = self._plan()
        issues = tuple(
            _told(each, told.get(each.id) or ("before" if each.issue else "waived"))
            for each in plan.modules
        )
        return Approved(plan.plan_id, plan.goal, content, issues, outcome, (*notes, *more))

    def require_roadmap(self) -> None:
        """Refuse before anything is done where there is no roadmap to add to."""
        self._files.load(layout.ROADMAP)

    def to_roadmap(self, *, dry_run: bool = False) -> tuple[str, ...]:
        """The modules as phases, each in one step with the record of it, so that it happens once.

        One that the roadmap lists by its name already is left alone.
        """
        known = {each.name.casefold() for each in scan(self._files.folder).roadmap.phases}
        added = []
        for module in self._waiting():
            name = _line(module.name)
            if name.casefold() in known:
                continue

            def record(number: PhaseId, module_id: str = module.id) -> dict[str, Edit]:
                return {layout.EXEC_FILE: partial(_phased, module_id, number.short)}

            Phases(self._files, self._clock).add(
                name, goal=_line(module.criteria), also=None if dry_run else record, dry_run=dry_run
            )
            added.append(name)
        return tuple(added)

    def _waiting(self) -> list[Module]:
        """The modules that are no phase yet. Before a first approval there is no exec file."""
        loaded = self._files.load_if_present(layout.EXEC_FILE)
        modules = read_exec(loaded.text).modules if loaded else ()
        done = {module.id for module in modules if module.phase}
        return [module for module in self._plan().modules if module.id not in done]

    # -- steps ------------------------------------------------------------------------------

    def _checked(self) -> tuple[Plan, str]:
        """The plan and the hash of its content, if it may be approved; all faults at once."""
        plan = self._plan()
        facts = facts_of(self._files.folder, plan, self._state_folder, strict=True)
        content = content_hash(plan, facts.requirements)
        if plan.is_approved:
            is_void = bool(plan.approved_hash) and plan.approved_hash != content
            raise AlreadyApproved(plan.plan_id, is_void=is_void)
        faults = unapprovable(plan, facts)
        if faults:
            raise PlanUnready(plan.plan_id, tuple(faults))
        loaded = self._files.load_if_present(layout.EXEC_FILE)
        if loaded:
            _require_same(loaded.text, plan)
        return plan, content

    def _make_issues(self, plan: Plan, held: int) -> tuple[dict[str, str], tuple[str, ...]]:
        """An issue for each module that has none: where each came from, and what to tell."""
        missing = plan_approval.without_issue(plan)
        begun = plan_approval.intent_in(self._document())
        told: dict[str, str] = {}
        notes: list[str] = []
        try:
            known = self._tracker.marked(_since(plan)) if missing else {}
            for module in missing:
                number = known.get(marker_of(plan.plan_id, module.id))
                if number is None and module.id == begun:
                    notes.append(f"an earlier run stopped before the issue of {module.id} was made")
                if number is None:
                    self._write(partial(_intended, module))
                    made = self._tracker.make(_issue(plan, module), held=held)
                    number = made.number
                    notes += made.notes
                self._write(partial(_numbered, module, number))
                told[module.id] = "found" if marker_of(plan.plan_id, module.id) in known else "now"
        except AgentError as error:
            left = ", ".join(each.id for each in missing if each.id not in told)
            error.hint += f"; issues made: {', '.join(told) or 'none'}; still without: {left}"
            raise
        return told, tuple(dict.fromkeys(notes))

    def _seal(self, content: str, *, skip_issues: bool) -> tuple[Outcome, tuple[str, ...]]:
        """The exec file and the approval, in one step: both or none."""
        now = self._clock.now().isoformat(timespec="seconds")
        notes: list[str] = []

        def make_exec(text: str) -> str:
            plan = self._plan()
            if not text:
                return new_exec(plan, layout.PLAN_FILE)
            _require_same(text, plan)
            document, notes[:] = in_step(Document(text), plan)
            return document.text

        def seal(text: str) -> str:
            plan = read_plan(text)
            facts = facts_of(self._files.folder, plan, self._state_folder, strict=True)
            missing = plan_approval.without_issue(plan)
            if content_hash(plan, facts.requirements) != content or (missing and not skip_issues):
                raise ChangedMeanwhile(layout.PLAN_FILE)
            if plan.is_approved:
                return text  # a killed run had decided it, and this one has just completed that
            is_waived = bool(missing)
            return plan_approval.sealed(Document(text), content, now, is_waived=is_waived).text

        edits = {layout.EXEC_FILE: make_exec, layout.PLAN_FILE: seal}
        outcome = self._files.update_all(edits, command=_COMMAND, may_create=True)
        return outcome, tuple(notes)

    # -- files ------------------------------------------------------------------------------

    def _plan(self) -> Plan:
        document = self._document()
        with Located(layout.PLAN_FILE):
            document.require_writable()
            return read_plan(document.text)

    def _document(self) -> Document:
        loaded = self._files.load_if_present(layout.PLAN_FILE)
        if loaded is None:
            raise NoPlanPhase(layout.PLAN_FILE)
        return Document(loaded.text)

    def _write(self, edit: Edit) -> None:
        self._files.update(layout.PLAN_FILE, edit, command=_COMMAND)

    @contextmanager
    def _alone(self) -> Iterator[int]:
        """The lock of approvals, and the open file by which it is held."""
        folder = self._files.folder
        lock = SessionLock(
            folder, _LOCK, desk=layout.desk_of(folder), wait_seconds=self._wait_seconds
        )
        try:
            lock.__enter__()
        except SessionHeld:
            raise ApprovalRunning from None
        try:
            yield lock.fd
        finally:
            lock.__exit__()


def _intended(module: Module, text: str) -> str:
    return plan_approval.with_intent(Document(text), module.id).text


def _numbered(module: Module, number: int, text: str) -> str:
    return plan_approval.with_issue(Document(text), module.id, number).text


def _phased(module: str, phase: str, text: str) -> str:
    return with_phase(Document(text), module, phase).text


def _issue(plan: Plan, module: Module) -> Issue:
    document = plan.requirements_file
    name, priority, criteria = module.name, module.priority, module.criteria
    return issue_of(Subject(plan.plan_id, module.id, name, priority, criteria, document))


def _told(module: Module, made: str) -> ModuleIssue:
    return ModuleIssue(module.id, module.name, module.priority, module.issue, made)


def _require_same(text: str, plan: Plan) -> None:
    """Refuse an exec file that is another plan's."""
    with Located(layout.EXEC_FILE):
        held = read_exec(text).plan_id
    if held != plan.plan_id:
        raise OtherExecution(layout.EXEC_FILE, held, plan.plan_id)


def _since(plan: Plan) -> datetime:
    """When the plan was made; no issue of it is older."""
    try:
        made = datetime.fromisoformat(plan.created_at)
    except ValueError:
        return _ALWAYS
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def _line(text: str) -> str:
    return " ".join(text.split())
