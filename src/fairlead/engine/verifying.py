"""Verifying: a phase held against its own plans, by rules and by its approved commands.

The commands run in the project itself, as they stand in plans that a person approved by their
digest. What was found is written as VERIFICATION.md, gaps with plans that patch them; only code
decides the outcome, and an agent that is asked as well can add to it and take nothing away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta

from fairlead.engine.events import Events
from fairlead.engine.ports import Clock, Workspace
from fairlead.engine.site import Commands
from fairlead.engine.verdicts import Judged, Verdicts
from fairlead.engine.verify_case import Case, Cases, History, judgments
from fairlead.errors import (
    NoFinding,
    PlansNotApproved,
)
from fairlead.model.inventory import Plan, Proof
from fairlead.model.plan import PlanSheet
from fairlead.model.verification import Finding, HumanItem, Outcome, Override, Verified
from fairlead.records.inspection import inspected
from fairlead.records.patch_plan import patch_plans
from fairlead.records.phase_files import summaries_digest
from fairlead.records.plan_sheet import new_plan
from fairlead.records.state import moment
from fairlead.records.subject import Command, Subject
from fairlead.records.usage import Project
from fairlead.records.verification import (
    Gap,
    Sheet,
    gaps_of,
    new_verification,
)
from fairlead.store import layout
from fairlead.store.approvals import approve_plans
from fairlead.store.files import Files
from fairlead.store.files import Outcome as Written
from fairlead.store.source_tree import SourceTree, load_sources
from fairlead.text.inline import file_name
from fairlead.values import dataclass, replace

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_DONE = (Proof.COMPLETE, Proof.REHEARSED)


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification came to."""

    case: Case
    found: Verified
    gaps: tuple[Gap, ...]
    written: Written
    plans: tuple[str, ...] = ()  # patch plans
    notes: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # files that differ from the verification before

    @property
    def status(self) -> str:
        """The outcome in one word."""
        return str(self.found.outcome)


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a phase is to be verified."""

    accept: tuple[Override, ...] = ()
    runs_commands: bool = True
    makes_plans: bool = True
    limit: timedelta = timedelta(minutes=5)  # of one command
    agent: str = ""  # the name of who looked as well
    keeps_documents: bool = False  # whether what is written is committed


Ask = Callable[[Case, Verified, SourceTree], tuple[tuple[Finding, ...], tuple[HumanItem, ...]]]


class Verifying:
    """Verifies the phases of one project."""

    def __init__(
        self,
        files: Files,
        state: Files,
        clock: Clock,
        workspace: Workspace,
        commands: Commands,
        command_fault: Callable[[str], str],
        workstream: str = "",
    ) -> None:
        self._files = files
        self._state = state
        self._clock = clock
        self._workspace = workspace
        self._commands = commands
        self._cases = Cases(files, state, command_fault, workstream)
        self._history = History(workspace)
        self._workstream = workstream

    # -- before ----------------------------------------------------------------------------

    def case(self, number: str, *, is_rehearsed: bool = False) -> Case:
        """Look at a phase: its plans and summaries, and the commands that would run."""
        return self._cases.case(number, is_rehearsed=is_rehearsed)

    def approve(self, case: Case) -> None:
        """Remember that a person agreed to run the commands of these plans, as they stand."""
        digests = tuple(sheet.digest for sheet in case.sheets)
        approve_plans(self._state, self._files.folder, digests)

    # -- looking ---------------------------------------------------------------------------

    def looked(self, case: Case, wishes: Wishes) -> Report:
        """What the rules alone say; nothing is run and nothing is written."""
        tree = self._tree(case)
        found = inspected(self._subject(case, wishes, tree, case.commands))
        changed = self._changed(case, tree)
        return Report(
            case, found, gaps_of(found, case.phase.id.padded), Written(()), changed=changed
        )

    def verify(self, case: Case, wishes: Wishes, ask: Ask | None = None) -> Report:
        """Run the commands, check everything, and write down what it came to."""
        if case.commands and wishes.runs_commands and not case.is_approved:
            raise PlansNotApproved(
                case.phase.id.short, tuple(each.line for each in case.commands), verb="verify"
            )
        is_open = any(plan.proof not in _DONE for plan in case.folder.live_plans)
        takes_time = ask is not None or (wishes.runs_commands and bool(case.commands))
        if not takes_time or is_open or case.is_rehearsed or not self._has_state:
            return self._verified(case, wishes, ask)
        number = case.phase.id.short
        Events(self._files, self._clock, self._workstream).verification_started(number)
        done = None
        try:
            done = self._verified(case, wishes, ask)
        finally:
            if done is None:  # the state must not say that somebody is still at it
                Verdicts(self._files, self._clock, self._workstream).left(number)
        return done

    # -- the parts -------------------------------------------------------------------------

    def _verified(self, case: Case, wishes: Wishes, ask: Ask | None) -> Report:
        commands, notes = self._ran(case, wishes)
        tree = self._tree(case)
        subject = self._subject(case, wishes, tree, commands)
        found = inspected(subject)
        if ask is not None:
            findings, items = ask(case, found, tree)
            found = inspected(
                replace(
                    subject,
                    issues=(*subject.issues, *findings),
                    items=(*subject.items, *items),
                )
            )
        _require_known(wishes.accept, found)
        return self._recorded(case, wishes, found, tree, (*notes, *_cut(tree)))

    def _ran(self, case: Case, wishes: Wishes) -> tuple[tuple[Command, ...], tuple[str, ...]]:
        if not wishes.runs_commands:
            return case.commands, ()
        before = set(self._workspace.dirty_paths(layout.PLANNING))
        done = {}
        for each in case.commands:
            if each.line not in done:
                done[each.line] = self._commands.run(each.line, self._files.folder, wishes.limit)
        after = set(self._workspace.dirty_paths(layout.PLANNING)) - before
        after &= self._history.kept() if after else after
        changed = ", ".join(map(file_name, sorted(after)[:5]))
        notes = (f"the commands left changes behind: {changed}",) if after else ()
        return tuple(replace(each, ran=done[each.line]) for each in case.commands), notes

    def _tree(self, case: Case) -> SourceTree:
        wanted = {
            path.removeprefix("./")
            for sheet in case.sheets
            for path in (
                *sheet.files,
                *(each.path for each in sheet.must_haves.artifacts),
                *(path for task in sheet.tasks for path in task.files),
                *(end for link in sheet.must_haves.links for end in (link.from_, link.to)),
            )
        }
        plain = (path for path in wanted if path and not set("*{}<> ") & set(path))
        return load_sources(self._files.folder, plain)

    def _subject(
        self, case: Case, wishes: Wishes, tree: SourceTree, commands: tuple[Command, ...]
    ) -> Subject:
        answered, trials, issues = self._cases.trials(case)
        lines = [task.verify for sheet in case.sheets for task in sheet.tasks]
        kept = case.before.overrides if case.before else ()
        return Subject(
            sheets=case.sheets,
            summaries=case.summaries,
            project=Project(tree.texts, lines),
            known=self._history.known(tree),
            odd=tree.odd,
            commands=commands,
            criteria=case.criteria,
            requirements=case.requirements,
            items=(*case.prose, *trials, *judgments(case)),
            issues=issues,
            overrides=_joined(kept, wishes.accept),
            answered=answered,
        )

    # -- writing ---------------------------------------------------------------------------

    def _recorded(
        self, case: Case, wishes: Wishes, found: Verified, tree: SourceTree, notes: tuple[str, ...]
    ) -> Report:
        gaps = gaps_of(found, case.phase.id.padded)
        plans = self._patches(case, gaps) if wishes.makes_plans else ()
        home = case.folder.path
        texts = {f"{home}/{plan.id}-PLAN.md": self._plan_text(case, plan) for plan in plans}
        sheet = self._sheet(case, wishes, found, tree)
        sheet = replace(sheet, plans=tuple(each.rpartition("/")[2] for each in texts))
        is_passed = found.outcome is Outcome.PASSED
        told = {
            Outcome.GAPS: f"verification found {len(gaps)} gap{'s' * (len(gaps) != 1)}",
            Outcome.HUMAN: "verification waits for a person",
            Outcome.PASSED: "verified",
        }[found.outcome]
        judged = Judged(
            case.path,
            "rehearsed" if case.is_rehearsed and is_passed else str(found.outcome),
            {**texts, case.path: new_verification(sheet)},
            tuple(
                Plan(p.id, f"{home}/{p.id}-PLAN.md", "", Proof.NONE, False, len(p.tasks))
                for p in plans
            ),
            "" if case.is_rehearsed else told,
        )
        change = Verdicts(self._files, self._clock, self._workstream).record(
            case.phase.id.short, judged
        )
        if wishes.keeps_documents and self._workspace.is_git and not case.is_rehearsed:
            message = f"docs({case.phase.id.padded}): {told}\n"
            self._workspace.commit_paths(change.outcome.paths, message)
        return Report(case, found, gaps, change.outcome, tuple(texts), (*notes, *change.notes))

    def _patches(self, case: Case, gaps: tuple[Gap, ...]) -> tuple[PlanSheet, ...]:
        first = max((sheet.number for sheet in case.sheets), default=0)
        taken = max((plan.number for plan in case.folder.plans), default=0)
        sheets = {sheet.id: sheet for sheet in case.sheets}
        folder = case.folder.path.rpartition("/")[2]
        made = patch_plans(gaps, sheets, folder, max(first, taken) + 1)
        lead = case.phase.id.padded
        return tuple(replace(each, id=f"{lead}-{each.number:02d}") for each in made)

    def _plan_text(self, case: Case, plan: PlanSheet) -> str:
        text = new_plan(plan)
        return text.replace("---\n", "---\nrehearsed: true\n", 1) if case.is_rehearsed else text

    def _sheet(self, case: Case, wishes: Wishes, found: Verified, tree: SourceTree) -> Sheet:
        inputs = {path: _digest(tree.texts[path]) for path in sorted(_inputs(case, tree))}
        return Sheet(
            phase=case.folder.path.rpartition("/")[2],
            number=case.phase.id.padded,
            name=case.phase.name or case.folder.slug,
            goal=case.goal,
            verified=found,
            at=moment(self._clock.now()),
            before=case.before,
            summaries=summaries_digest(self._contents(case)),
            inputs=tuple(inputs.items()),
            commit=self._workspace.commit_of("HEAD") if self._workspace.is_git else "",
            agent=wishes.agent,
            is_rehearsed=case.is_rehearsed,
        )

    def _contents(self, case: Case) -> dict[str, bytes]:
        lead = f"{case.folder.path}/"
        paths = [plan.summary for plan in case.folder.plans if plan.summary]
        names = {path.removeprefix(lead): path for path in paths}
        return {n: self._files.content(p) or b"" for n, p in names.items() if "/" not in n}

    def _changed(self, case: Case, tree: SourceTree) -> tuple[str, ...]:
        before = dict(case.before.inputs) if case.before else {}
        return tuple(
            path for path, held in before.items() if _digest(tree.texts.get(path, "")) != held
        )

    @property
    def _has_state(self) -> bool:
        return self._files.exists(layout.documents_of(self._workstream)[0])


def _joined(kept: tuple[Override, ...], new: tuple[Override, ...]) -> tuple[Override, ...]:
    return tuple({each.what.casefold(): each for each in (*kept, *new)}.values())


def _require_known(accept: tuple[Override, ...], found: Verified) -> None:
    """Refuse to accept what nobody found: a word that fits nothing would be forgotten unseen."""
    from fairlead.model.verification import is_alike

    keys = {each.key for each in found.findings}
    texts = [each.what for each in found.checks] + [each.test for each in found.human]
    for each in accept:
        is_key = any(each.what.casefold() == key.casefold() for key in keys)
        if not is_key and not any(is_alike(each.what, text) for text in texts):
            raise NoFinding(each.what, tuple(sorted(keys)))


def _inputs(case: Case, tree: SourceTree) -> set[str]:
    named = {
        path.removeprefix("./")
        for sheet in case.sheets
        for path in (*sheet.files, *(each.path for each in sheet.must_haves.artifacts))
    }
    return named & set(tree.texts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _cut(tree: SourceTree) -> tuple[str, ...]:
    return ("the project has more files than are looked at",) if tree.is_cut else ()
