"""Verifies a phase against its plans, by rules and by the verify commands of the plans.

The commands run in the project folder, and only if a person approved the plans by their digest.
The result is written to VERIFICATION.md, with plans that close the gaps. Only code decides the
status: a model that reviews the phase can add findings and questions, and remove nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import timedelta

from fairlead.core.clock import Clock
from fairlead.core.values import dataclass, replace
from fairlead.execution.errors import PlansNotApproved
from fairlead.jobs.approvals import approve_plans
from fairlead.jobs.roster import Commands
from fairlead.plans.check import require_verify_commands
from fairlead.plans.documents import new_plan
from fairlead.plans.model import PlanDocument
from fairlead.project.derive.inventory import Phase, Plan, Proof, Verification
from fairlead.project.derive.phase_files import summaries_digest
from fairlead.project.events import Events
from fairlead.project.health.compare_roadmap import roadmap_findings
from fairlead.project.health.repair import repaired_roadmap
from fairlead.project.phases import PhaseChange, PhaseEdit, Phases, require_complete
from fairlead.project.service import Change, ProjectSnapshot, edit_of
from fairlead.project.state import edits as state_edits
from fairlead.project.state.digest import phase_in_scope
from fairlead.project.state.documents import moment
from fairlead.store import layout
from fairlead.store.files import ChangeSet, Edit, Files
from fairlead.store.files import WriteOutcome as Written
from fairlead.text.document import Document
from fairlead.text.inline import file_name
from fairlead.vcs.ports import Workspace
from fairlead.verification.documents import VerificationDocument, new_verification
from fairlead.verification.errors import NoFinding
from fairlead.verification.gaps import Gap, gaps_of, patch_plans
from fairlead.verification.inspection import Evidence, inspect_phase
from fairlead.verification.model import (
    HumanItem,
    Override,
    RuleFinding,
    VerificationResult,
    VerificationStatus,
    VerifyCommand,
    is_alike,
)
from fairlead.verification.phase_reader import (
    GitHistory,
    PhaseReader,
    PhaseToVerify,
    questions_of_hidden_changes,
    questions_of_summaries,
)
from fairlead.verification.source_files import SourceFiles, load_sources
from fairlead.verification.usage import SourceIndex

_DONE = (Proof.COMPLETE, Proof.REHEARSED)
_NAMED = 5  # files in a note


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The result of a verification and the files that were written."""

    target: PhaseToVerify
    result: VerificationResult
    gaps: tuple[Gap, ...]
    written: Written
    plans: tuple[str, ...] = ()  # patch plans
    notes: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # files that differ from the previous verification

    @property
    def status(self) -> str:
        """The status as text."""
        return str(self.result.outcome)


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """Options of a verification."""

    accept: tuple[Override, ...] = ()
    runs_commands: bool = True
    makes_plans: bool = True
    limit: timedelta = timedelta(minutes=15)  # of one command
    agent: str = ""  # the name of the agent that reviews the phase as well
    keeps_documents: bool = False  # commit the documents that are written


ModelReviewer = Callable[
    [PhaseToVerify, VerificationResult, SourceFiles],
    tuple[tuple[RuleFinding, ...], tuple[HumanItem, ...]],
]


class Verifier:
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
        self._reader = PhaseReader(files, state, command_fault, workstream)
        self._history = GitHistory(workspace)
        self._workstream = workstream

    # -- preparing -------------------------------------------------------------------------

    def load(self, number: str, *, is_rehearsed: bool = False) -> PhaseToVerify:
        """Load a phase: its plans and summaries, and the commands that would run."""
        return self._reader.load(number, is_rehearsed=is_rehearsed)

    def approve(self, target: PhaseToVerify) -> None:
        """Record that a person allows the commands of these plans, by the digests of the plans."""
        digests = tuple(plan.digest for plan in target.plans)
        approve_plans(self._state, self._files.folder, digests)

    # -- verifying -------------------------------------------------------------------------

    def preview(self, target: PhaseToVerify, options: VerifyOptions) -> VerificationReport:
        """Apply the rules only; run and write nothing."""
        sources = self._load_sources(target)
        result = inspect_phase(self._evidence(target, options, sources, target.commands))
        changed = self._changed(target, sources)
        return VerificationReport(
            target, result, gaps_of(result, target.phase.id.padded), Written(()), changed=changed
        )

    def verify(
        self, target: PhaseToVerify, options: VerifyOptions, review: ModelReviewer | None = None
    ) -> VerificationReport:
        """Run the commands, check everything, and write the result."""
        if target.commands and options.runs_commands and not target.is_approved:
            raise PlansNotApproved(
                target.phase.id.short, tuple(each.line for each in target.commands), verb="verify"
            )
        is_open = any(plan.proof not in _DONE for plan in target.folder.live_plans)
        takes_time = review is not None or (options.runs_commands and bool(target.commands))
        if not takes_time or is_open or target.is_rehearsed or not self._has_state:
            return self._verified(target, options, review)
        number = target.phase.id.short
        Events(self._files, self._clock, self._workstream).verification_started(number)
        report = None
        try:
            report = self._verified(target, options, review)
        finally:
            if report is None:  # STATE.md must not say that the verification is still running
                VerdictRecorder(self._files, self._clock, self._workstream).abandon(number)
        return report

    # -- steps -----------------------------------------------------------------------------

    def _verified(
        self, target: PhaseToVerify, options: VerifyOptions, review: ModelReviewer | None
    ) -> VerificationReport:
        # Before the commands, which change files as well.
        hidden = questions_of_hidden_changes(self._workspace.hidden_changes(layout.PLANNING))
        commands, notes = self._run_commands(target, options)
        sources = self._load_sources(target)
        evidence = self._evidence(target, options, sources, commands)
        evidence = replace(evidence, questions=(*evidence.questions, *hidden))
        result = inspect_phase(evidence)
        if review is not None:
            findings, questions = review(target, result, sources)
            evidence = replace(
                evidence,
                issues=(*evidence.issues, *findings),
                questions=(*evidence.questions, *questions),
            )
            result = inspect_phase(evidence)
        _require_matching(options.accept, result)
        return self._record(target, options, result, sources, (*notes, *_limit_note(sources)))

    def _run_commands(
        self, target: PhaseToVerify, options: VerifyOptions
    ) -> tuple[tuple[VerifyCommand, ...], tuple[str, ...]]:
        if not options.runs_commands:
            return target.commands, ()
        before = set(self._workspace.dirty_paths(layout.PLANNING))
        uncommitted = before & self._history.committed_files() if before else before
        lines = dict.fromkeys(command.line for command in target.commands)
        results = {
            line: self._commands.run(line, self._files.folder, options.limit) for line in lines
        }
        changed = set(self._workspace.dirty_paths(layout.PLANNING)) - before
        if changed:
            changed &= self._history.committed_files()
        notes = [
            f"{text}: {', '.join(map(file_name, sorted(paths)[:_NAMED]))}"
            for text, paths in (
                ("judged with changes that are not committed", uncommitted),
                ("the commands changed committed files", changed),
            )
            if paths
        ]
        commands = (replace(each, result=results[each.line]) for each in target.commands)
        return tuple(commands), tuple(notes)

    def _load_sources(self, target: PhaseToVerify) -> SourceFiles:
        wanted = {
            path.removeprefix("./")
            for plan in target.plans
            for path in (
                *plan.files,
                *(each.path for each in plan.must_haves.artifacts),
                *(path for task in plan.tasks for path in task.files),
                *(end for link in plan.must_haves.links for end in (link.from_, link.to)),
            )
        }
        plain = (path for path in wanted if path and not set("*{}<> ") & set(path))
        return load_sources(self._files.folder, plain)

    def _evidence(
        self,
        target: PhaseToVerify,
        options: VerifyOptions,
        sources: SourceFiles,
        commands: tuple[VerifyCommand, ...],
    ) -> Evidence:
        answered, open_tests, issues = self._reader.uat_results(target)
        lines = [task.verify for plan in target.plans for task in plan.tasks]
        overrides = target.previous.overrides if target.previous else ()
        return Evidence(
            plans=target.plans,
            summaries=target.summaries,
            sources=SourceIndex(sources.texts, lines),
            repository=self._history.facts(sources),
            special_files=sources.special_files,
            commands=commands,
            criteria=target.criteria,
            requirements=target.requirements,
            questions=(*target.questions, *open_tests, *questions_of_summaries(target)),
            issues=issues,
            overrides=_joined(overrides, options.accept),
            answered=answered,
        )

    # -- writing ---------------------------------------------------------------------------

    def _record(
        self,
        target: PhaseToVerify,
        options: VerifyOptions,
        result: VerificationResult,
        sources: SourceFiles,
        notes: tuple[str, ...],
    ) -> VerificationReport:
        gaps = gaps_of(result, target.phase.id.padded)
        plans = self._patch_plans(target, gaps) if options.makes_plans else ()
        planned = {id_ for plan in plans for id_ in plan.gap_ids}
        unplanned = [gap.id for gap in gaps if gap.id not in planned and options.makes_plans]
        if unplanned:
            notes += (f"no plan closes {', '.join(unplanned)}: no command can verify it",)
        home = target.folder.path
        texts = {f"{home}/{plan.id}-PLAN.md": self._plan_text(target, plan) for plan in plans}
        document = replace(
            self._document(target, options, result, sources),
            plans=tuple(path.rpartition("/")[2] for path in texts),
        )
        is_passed = result.outcome is VerificationStatus.PASSED
        activity = {
            VerificationStatus.GAPS: f"verification found {len(gaps)} gap{'s' * (len(gaps) != 1)}",
            VerificationStatus.HUMAN: "verification waits for a person",
            VerificationStatus.PASSED: "verified",
        }[result.outcome]
        verdict = PhaseVerdict(
            target.path,
            "rehearsed" if target.is_rehearsed and is_passed else str(result.outcome),
            {**texts, target.path: new_verification(document)},
            tuple(
                Plan(p.id, f"{home}/{p.id}-PLAN.md", "", Proof.NONE, False, len(p.tasks))
                for p in plans
            ),
            "" if target.is_rehearsed else activity,
        )
        change = VerdictRecorder(self._files, self._clock, self._workstream).record(
            target.phase.id.short, verdict
        )
        if options.keeps_documents and self._workspace.is_git and not target.is_rehearsed:
            message = f"docs({target.phase.id.padded}): {activity}\n"
            self._workspace.commit_paths(change.outcome.paths, message)
        return VerificationReport(
            target, result, gaps, change.outcome, tuple(texts), (*notes, *change.notes)
        )

    def _patch_plans(
        self, target: PhaseToVerify, gaps: tuple[Gap, ...]
    ) -> tuple[PlanDocument, ...]:
        first = max((plan.number for plan in target.plans), default=0)
        taken = max((plan.number for plan in target.folder.plans), default=0)
        plans = {plan.id: plan for plan in target.plans}
        folder = target.folder.path.rpartition("/")[2]
        number = max(first, taken) + 1
        return patch_plans(gaps, plans, folder, target.phase.id.padded, number)

    def _plan_text(self, target: PhaseToVerify, plan: PlanDocument) -> str:
        require_verify_commands(plan)
        text = new_plan(plan)
        return text.replace("---\n", "---\nrehearsed: true\n", 1) if target.is_rehearsed else text

    def _document(
        self,
        target: PhaseToVerify,
        options: VerifyOptions,
        result: VerificationResult,
        sources: SourceFiles,
    ) -> VerificationDocument:
        inputs = {path: _digest(sources.texts[path]) for path in sorted(_inputs(target, sources))}
        return VerificationDocument(
            phase=target.folder.path.rpartition("/")[2],
            number=target.phase.id.padded,
            name=target.phase.name or target.folder.slug,
            goal=target.goal,
            result=result,
            at=moment(self._clock.now()),
            previous=target.previous,
            summaries=summaries_digest(self._summary_contents(target)),
            inputs=tuple(inputs.items()),
            commit=self._workspace.commit_of("HEAD") if self._workspace.is_git else "",
            agent=options.agent,
            is_rehearsed=target.is_rehearsed,
        )

    def _summary_contents(self, target: PhaseToVerify) -> dict[str, bytes]:
        lead = f"{target.folder.path}/"
        paths = [plan.summary for plan in target.folder.plans if plan.summary]
        names = {path.removeprefix(lead): path for path in paths}
        return {n: self._files.content(p) or b"" for n, p in names.items() if "/" not in n}

    def _changed(self, target: PhaseToVerify, sources: SourceFiles) -> tuple[str, ...]:
        inputs = target.previous.inputs if target.previous else ()
        return tuple(
            path for path, digest in inputs if _digest(sources.texts.get(path, "")) != digest
        )

    @property
    def _has_state(self) -> bool:
        return self._files.exists(layout.documents_of(self._workstream)[0])


def _joined(old: tuple[Override, ...], new: tuple[Override, ...]) -> tuple[Override, ...]:
    return tuple({each.what.casefold(): each for each in (*old, *new)}.values())


def _require_matching(accept: tuple[Override, ...], result: VerificationResult) -> None:
    """Refuse to accept something that was not result: a typing error would go unnoticed."""
    keys = {each.key for each in result.findings}
    texts = [each.what for each in result.checks] + [each.test for each in result.human]
    for each in accept:
        is_key = any(each.what.casefold() == key.casefold() for key in keys)
        if not is_key and not any(is_alike(each.what, text) for text in texts):
            raise NoFinding(each.what, tuple(sorted(keys)))


def _inputs(target: PhaseToVerify, sources: SourceFiles) -> set[str]:
    named = {
        path.removeprefix("./")
        for plan in target.plans
        for path in (*plan.files, *(each.path for each in plan.must_haves.artifacts))
    }
    return named & set(sources.texts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _limit_note(sources: SourceFiles) -> tuple[str, ...]:
    return ("the project has more files than the verification reads",) if sources.is_cut else ()


@dataclass(frozen=True, slots=True)
class PhaseVerdict:
    """The status of a verification, and everything that is written with it."""

    path: str  # of VERIFICATION.md
    status: str
    texts: Mapping[str, str]  # of the files that are written
    plans: tuple[Plan, ...] = ()  # patch plans among them
    activity: str = ""  # for STATE.md; empty: STATE.md is not changed

    @property
    def is_passed(self) -> bool:
        """Whether the phase is complete."""
        return self.status == "passed"


class VerdictRecorder(Phases):
    """Writes verifications, together with STATE.md and ROADMAP.md."""

    def record(self, phase: str, verdict: PhaseVerdict, *, dry_run: bool = False) -> PhaseChange:
        """Write a verification with its patch plans; one that passed completes the phase."""

        def decide(snapshot: ProjectSnapshot) -> PhaseEdit:
            before = phase_in_scope(snapshot.position, phase)
            assert before.folder is not None
            folder = replace(
                before.folder,
                verification=Verification(verdict.path, verdict.status, is_stale=False),
                plans=(*before.folder.plans, *verdict.plans),
            )
            # The state is derived from the folder as it will be after this write.
            others = (each for each in snapshot.inventory.folders if each.path != folder.path)
            snapshot = snapshot.after(replace(snapshot.inventory, folders=(*others, folder)))
            after = phase_in_scope(snapshot.position, phase)
            if verdict.is_passed:
                require_complete(after, snapshot.position.policy)
                edit = self._completed(snapshot, after, state_edits.phase_verified)
            else:
                edit = self._not_passed(snapshot, after, verdict.activity)
            changes = edit.changes
            texts = {path: (lambda _, text=text: text) for path, text in verdict.texts.items()}
            created = frozenset((*changes.may_create, *texts))
            edits = {**texts, **changes.edits}
            return replace(edit, changes=ChangeSet(edits, changes.places, created))

        return self._carry_out("phase verify", decide, dry_run=dry_run)

    def abandon(self, phase: str) -> PhaseChange:
        """Record that a verification ended without a verdict."""

        def decide(snapshot: ProjectSnapshot) -> PhaseEdit:
            stopped = phase_in_scope(snapshot.position, phase)
            changes = snapshot.state_change(_stopped(stopped, "verification stopped"))
            return _phase_edit(stopped, changes)

        return self._carry_out("phase verify", decide, dry_run=False)

    def _not_passed(self, snapshot: ProjectSnapshot, phase: Phase, activity: str) -> PhaseEdit:
        if not activity or not self._files.exists(snapshot.state_path):
            return _phase_edit(phase, ChangeSet({}))
        changes = snapshot.state_change(_stopped(phase, activity))
        if self._files.exists(self._roadmap):
            edits = {self._roadmap: self._unchecked(snapshot, phase), **changes.edits}
            changes = replace(changes, edits=edits)
        return _phase_edit(phase, changes)

    def _unchecked(self, snapshot: ProjectSnapshot, phase: Phase) -> Edit:
        """Remove the completion marks of this phase from the roadmap; leave other phases alone."""
        prefix = f"phase {phase.id.short} "
        findings = [
            finding
            for finding in roadmap_findings(snapshot.position, self._roadmap)
            if finding.what.startswith(prefix)
        ]
        return edit_of(lambda text: repaired_roadmap(text, findings, self._roadmap).document)


def _phase_edit(phase: Phase, changes: ChangeSet) -> PhaseEdit:
    return PhaseEdit(changes, phase.id, phase.name, phase.folder.path if phase.folder else "")


def _stopped(phase: Phase, activity: str) -> Change:
    def change(state: Document, snapshot: ProjectSnapshot) -> Document:
        number = phase.id.short
        event = f"Phase {number} {activity}"
        return state_edits.step_stopped(state, snapshot.position, number, snapshot.now, event=event)

    return change
