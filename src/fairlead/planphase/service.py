"""The operations on the plan file (`Planning`) and on the exec file (`ExecPhase`) of one folder.

Every change is one transaction under the project lock, decided from the file as it is then.
Commands of exit criteria run only here, only after a person has allowed their hash, and outside
the lock; their results are stored in that person's private state folder. `approval` is separate
because it talks to GitHub and takes several transactions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from typing import Protocol

from fairlead.core.clock import Clock
from fairlead.core.errors import Located
from fairlead.core.process import ExitKind, ProcessLimits, program, run
from fairlead.core.values import dataclass
from fairlead.planphase import plan_edits
from fairlead.planphase.criteria import (
    Facts,
    Judgement,
    command_hash,
    confirmation_hash,
    content_hash,
    evaluate,
    needs_confirmation,
    review_blockers,
    shell_quoted,
)
from fairlead.planphase.documents import read_exec, read_plan
from fairlead.planphase.errors import (
    CheckFailed,
    EmptyText,
    NeedsPerson,
    NoExecPhase,
    NoPlanPhase,
    PartProtected,
    PlanExists,
    PlanUnready,
)
from fairlead.planphase.facts import facts_of
from fairlead.planphase.model import DEFAULT_SECTIONS, Criterion, PlanFile
from fairlead.planphase.paths import (
    EXEC_FILE,
    GIT_IGNORE,
    PLAN_FILE,
    PLAN_IGNORED,
    PLAN_REQUIREMENTS,
    plan_backup,
)
from fairlead.planphase.person_record import CONFIRMED, RELEASED, PersonRecord
from fairlead.planphase.report import ExecReport, PlanPhaseReport, exec_report_of, report_of
from fairlead.project.first_documents import filled
from fairlead.store import rename
from fairlead.store.errors import ChangedMeanwhile, NoDocument, NoProject
from fairlead.store.files import ChangeSet, Files, WriteOutcome
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import removed_path
from fairlead.text import frontmatter
from fairlead.text.document import Document
from fairlead.text.printable import visible
from fairlead.text.yaml_emit import scalar_text
from fairlead.vcs.errors import NoAnswer

Change = Callable[[Document], Document]

_GITIGNORE_ENTRIES = frozenset(  # any of these covers the files of the Plan Phase
    [PLAN_IGNORED, ".claude", ".claude/", ".claude/*", "*.local.md", ".claude/*.local.md"]
)
_SHORT_HASH = len("sha256:") + 12
_CHECK_LIMITS = ProcessLimits(wall=timedelta(minutes=10), output_bytes=16 << 20)
_LAST_LINE_CHARACTERS = 200


class Checker(Protocol):
    """Runs the command of an exit criterion."""

    def run(self, command: tuple[str, ...], folder: str) -> tuple[int, str]:
        """Return the exit code and the last line of output."""


class ProcessChecker:
    """Runs check commands as child processes.

    They get the person's whole environment, because the person allowed exactly this command.
    """

    def run(self, command: tuple[str, ...], folder: str) -> tuple[int, str]:
        """Return the exit code and the last line of output; raise `NoAnswer` on a timeout."""
        name = command[0] if "/" in command[0] else program(command[0])
        process = run(
            (name, *command[1:]), folder=folder, environment=os.environ, limits=_CHECK_LIMITS
        )
        if process.ended is not ExitKind.EXITED:
            raise NoAnswer(command[0], process.ended.replace("-", " "))
        output = (process.errors.strip() or process.output.strip()).decode("utf-8", "replace")
        return process.code, output.rpartition("\n")[2]


@dataclass(frozen=True, slots=True)
class PlanStart:
    """The arguments of a new plan."""

    goal: str
    requirements: str = PLAN_REQUIREMENTS
    session: str = ""  # of the host; the stop hook blocks only this session
    has_ignore: bool = True  # add the files to .gitignore


class Planning:
    """The plan file of one folder: reading, editing, confirming criteria."""

    def __init__(self, files: Files, private: Files, clock: Clock, checker: Checker) -> None:
        self._files = files
        self._private = private  # the person's state folder, outside the project
        self._clock = clock
        self._checker = checker
        self._record = PersonRecord(private, files.folder)

    # -- reading ----------------------------------------------------------------------------

    def plan(self) -> PlanFile:
        """Read the plan."""
        loaded = self._files.load_if_present(PLAN_FILE)
        if loaded is None:
            raise NoPlanPhase(PLAN_FILE)
        with Located(PLAN_FILE):
            return read_plan(loaded.text)

    def facts(self, plan: PlanFile, *, strict: bool = True) -> Facts:
        """Collect the evidence for the criteria of a plan."""
        return facts_of(self._files.folder, plan, self._private.folder, strict=strict)

    def report(self) -> PlanPhaseReport:
        """Report the plan with the state of each criterion."""
        plan = self.plan()
        return report_of(plan, self.facts(plan, strict=False))

    # -- editing ----------------------------------------------------------------------------

    def start(self, new: PlanStart, *, dry_run: bool = False) -> tuple[str, WriteOutcome]:
        """Create the plan file; of several concurrent calls only one succeeds."""
        now = self._clock.now()
        plan_id = f"plan-{now:%Y%m%d-%H%M%S}"
        text = _first_text(new, plan_id, now)

        def create(_: str) -> str:
            if self._files.exists(PLAN_FILE):
                raise PlanExists(PLAN_FILE)
            return text

        edits: dict[str, Callable[[str], str]] = {PLAN_FILE: create}
        if new.has_ignore:
            edits[GIT_IGNORE] = _with_gitignore_entry
        document = new.requirements
        if document == PLAN_REQUIREMENTS and not self._files.exists(document):
            template = requirements_text(DEFAULT_SECTIONS)
            edits[document] = lambda text: text or template
        frontmatter.prepare()
        outcome = self._files.update_all(
            edits, command="planning start", may_create=True, dry_run=dry_run
        )
        return plan_id, outcome

    def change(self, command: str, change: Change, *, dry_run: bool = False) -> WriteOutcome:
        """Apply one edit of `plan_edits` to the plan file."""
        frontmatter.prepare()
        try:
            return self._files.update(
                PLAN_FILE,
                lambda text: change(Document(text)).text,
                command=f"planning {command}",
                dry_run=dry_run,
            )
        except (NoDocument, NoProject):
            # Checked only now: taking the lock may have completed an interrupted reset.
            raise NoPlanPhase(PLAN_FILE) from None

    def review(self, *, dry_run: bool = False) -> WriteOutcome:
        """Move the plan to review; raise `PlanUnready` with everything that is missing."""

        def change(document: Document) -> Document:
            plan = read_plan(document.text)
            reviewed = plan_edits.reviewed(document)
            faults = review_blockers(plan, self.facts(plan))
            if faults:
                raise PlanUnready(plan.plan_id, tuple(faults))
            return reviewed

        return self.change("review", change, dry_run=dry_run)

    def release(self, *, dry_run: bool = False) -> WriteOutcome:
        """Allow the owning session to stop, until the plan changes."""
        now = _stamp(self._clock.now())

        def change(document: Document) -> Document:
            released = plan_edits.released(document, now)
            if not dry_run:  # last, so that nothing but the write of the plan can fail after it
                plan = read_plan(document.text)
                content = content_hash(plan, self.facts(plan).requirements)
                self._record.state((RELEASED,), content, now, "planning release")
            return released

        return self.change("release", change, dry_run=dry_run)

    def reopen(self, *, dry_run: bool = False) -> WriteOutcome:
        """Withdraw the approval and go back to drafting."""
        return self.change("reset", plan_edits.reopened, dry_run=dry_run)

    def reset(self, *, has_backup: bool, dry_run: bool = False) -> WriteOutcome:
        """Move the plan file and the exec file away, even if they cannot be read."""
        stamp = f"{self._clock.now():%Y%m%d-%H%M%S}"

        def decide() -> ChangeSet:
            paths = [path for path in (PLAN_FILE, EXEC_FILE) if self._files.exists(path)]
            moves = tuple(Move(path, self._free_path(path, stamp, has_backup)) for path in paths)
            return ChangeSet({}, TreeChanges(moves=moves))

        if not decide().places:
            return WriteOutcome(())
        return self._files.carry_out(decide, command="planning reset", dry_run=dry_run)

    def _free_path(self, path: str, stamp: str, has_backup: bool) -> str:
        for number in count(1):
            suffix = stamp if number == 1 else f"{stamp}-{number}"
            backup = plan_backup(path, suffix)
            target = backup if has_backup else removed_path(path, suffix, self._files.staging)
            if not self._files.exists(target):
                return target
        raise AssertionError

    # -- confirming -------------------------------------------------------------------------

    def criterion(self, name: str) -> Judgement:
        """Judge one criterion, given its number or its text."""
        plan = self.plan()
        return evaluate(plan, self.facts(plan))[plan_edits.criterion_at(plan, name)]

    def confirm(
        self, name: str, *, is_said: bool, allow: str = "", dry_run: bool = False
    ) -> WriteOutcome:
        """Satisfy a criterion: by a person's confirmation, or by running its allowed command.

        `is_said` means that a person confirms it; `allow` is the hash of a command they allow.
        """
        judged = self.criterion(name)
        criterion = judged.criterion
        if criterion.command:
            return self._run(criterion, name, allow, dry_run=dry_run)
        if not needs_confirmation(self.plan(), criterion):
            raise PartProtected(
                "confirm",
                repr(criterion.text),
                "files prove it, not a confirmation",
                judged.command,
            )
        if not is_said:
            raise NeedsPerson(
                f"{criterion.text!r} must be confirmed by a person",
                f"fairlead planning confirm {shell_quoted(name)} --yes",
            )
        now = _stamp(self._clock.now())

        plan = self.plan()
        seen = content_hash(plan, self.facts(plan).requirements)

        def change(document: Document) -> Document:
            plan = read_plan(document.text)
            at = plan_edits.criterion_at(plan, criterion.text)
            if content_hash(plan, self.facts(plan).requirements) != seen:
                raise ChangedMeanwhile(PLAN_FILE)
            confirmed = plan_edits.confirmed(document, at, seen, now)
            if not dry_run:  # last, so that nothing but the write of the plan can fail after it
                statement = confirmation_hash(criterion.text, seen)
                self._record.state((CONFIRMED,), statement, now, "planning confirm")
            return confirmed

        return self.change("confirm", change, dry_run=dry_run)

    def _run(self, criterion: Criterion, name: str, allow: str, *, dry_run: bool) -> WriteOutcome:
        plan = self.plan()
        facts = self.facts(plan)
        command = command_hash(criterion.command)
        line = " ".join(map(shell_quoted, criterion.command))
        is_allowed = len(allow) >= _SHORT_HASH and command.startswith(allow)
        if command not in facts.allowed and not is_allowed:
            raise NeedsPerson(
                f"nobody has allowed this command yet: {line}",
                f"fairlead planning confirm {shell_quoted(name)} --allow {command[:_SHORT_HASH]}",
                command,
            )
        if dry_run:
            return WriteOutcome(())
        rename.prepare()  # before the command runs: its effects cannot be undone
        began = _stamp(self._clock.now())
        code, last_line = self._checker.run(criterion.command, self._files.folder)
        result = {
            "command": list(criterion.command),
            "code": code,
            "at": began,
            "head": facts.head,
            "plan": content_hash(plan, facts.requirements),
        }
        self._record.allow(command, began, result)
        if code:
            raise CheckFailed(line, f"exited with {code}", last_line[:_LAST_LINE_CHARACTERS])
        return WriteOutcome(())


class ExecPhase:
    """The exec file of one folder: the progress of the modules of an approved plan."""

    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    def status(self) -> ExecReport:
        """Report the progress of the modules."""
        loaded = self._files.load_if_present(EXEC_FILE)
        if loaded is None:
            raise NoExecPhase(EXEC_FILE)
        with Located(EXEC_FILE):
            return exec_report_of(read_exec(loaded.text))

    def change(
        self, verb: str, change: Callable[[Document, str], Document], *, dry_run: bool = False
    ) -> WriteOutcome:
        """Apply one edit of `exec_edits` to the exec file."""
        frontmatter.prepare()
        now = _stamp(self._clock.now())
        try:
            return self._files.update(
                EXEC_FILE,
                lambda text: change(Document(text), now).text,
                command=f"exec {verb}",
                dry_run=dry_run,
            )
        except (NoDocument, NoProject):
            # Checked only now: taking the lock may have completed a killed approval.
            raise NoExecPhase(EXEC_FILE) from None


def requirements_text(sections: tuple[str, ...]) -> str:
    """Return the template of a requirements document: one heading per section."""
    parts = [
        f"## {name}\n\n<!-- Write the requirements here; comments do not count as text. -->\n"
        for name in sections
    ]
    return "# User Requirements\n\n" + "\n".join(parts)


def _first_text(new: PlanStart, plan_id: str, now: datetime) -> str:
    if not new.goal.strip():
        raise EmptyText("the goal")
    if not new.requirements.strip():
        raise EmptyText("the requirements file")
    session = scalar_text(new.session, quote='"')
    return filled(
        "PLAN.md",
        {
            "plan_id": plan_id,
            "now": now.isoformat(),
            "goal": plan_edits.goal_in_body(new.goal),
            "goal:yaml": scalar_text(new.goal, quote='"'),
            "document": visible(new.requirements),
            "document:yaml": scalar_text(new.requirements, quote='"'),
            "criterion:yaml": scalar_text(f"{new.requirements} complete", quote='"'),
            "session": f"fairlead:\n  session: {session}\n" if new.session else "",
        },
    )


def _with_gitignore_entry(text: str) -> str:
    """Add the files of the Plan Phase to a .gitignore that does not cover them."""
    if _GITIGNORE_ENTRIES & {line.strip().removeprefix("/") for line in text.splitlines()}:
        return text
    ending = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else ending
    return f"{text}{gap}{PLAN_IGNORED}{ending}"


def _stamp(now: datetime) -> str:
    return now.isoformat(timespec="seconds")
