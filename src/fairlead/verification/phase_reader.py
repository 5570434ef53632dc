"""Loads a phase for verification: plans, summaries, commands, criteria, and its history in git.

Everything is read here, so that `inspection` can stay pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from fairlead.core.errors import FairleadError
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.jobs.approvals import approved_plans
from fairlead.plans.documents import read_plan
from fairlead.plans.model import PlanDocument
from fairlead.project import naming
from fairlead.project.derive.inventory import Phase, PhaseFolder, Proof
from fairlead.project.derive.position import position_of
from fairlead.project.derive.scan import scan
from fairlead.project.errors import NoPlans, PlansOpen
from fairlead.project.roadmap.phase_details import phase_section_of
from fairlead.project.state.digest import phase_in_scope
from fairlead.store import layout
from fairlead.store.files import Files
from fairlead.text import frontmatter
from fairlead.text.document import Document
from fairlead.text.frontmatter_values import text_of
from fairlead.text.inline import file_name
from fairlead.vcs.ports import Workspace
from fairlead.verification.documents import (
    SavedVerification,
    UatTest,
    read_uat,
    read_verification,
)
from fairlead.verification.model import HumanItem, RepositoryFacts, RuleFinding, VerifyCommand
from fairlead.verification.source_files import SourceFiles

# Texts that a roadmap template has in the place of a criterion.
_UNDECIDED = lazy_pattern(
    r"\W*(?:not decided yet|tb[ad]|todo|none(?: yet)?|to be (?:determined|defined|decided))\W*|\[[^\]]*\]",
    re.IGNORECASE,
)
_NAMED = 5  # files in a question
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@dataclass(frozen=True, slots=True)
class PhaseToVerify:
    """A phase with everything that its verification reads from the project."""

    phase: Phase
    folder: PhaseFolder
    plans: tuple[PlanDocument, ...]
    summaries: dict[str, tuple[str, str]]  # plan -> path and text
    commands: tuple[VerifyCommand, ...]
    questions: tuple[HumanItem, ...]  # that the plans leave to a person
    is_approved: bool
    criteria: tuple[str, ...]
    requirements: tuple[str, ...]
    goal: str
    previous: SavedVerification | None
    path: str  # of VERIFICATION.md
    is_rehearsed: bool = False


class PhaseReader:
    """Loads the phases of one project."""

    def __init__(
        self,
        files: Files,
        state: Files,
        command_fault: Callable[[str], str],
        workstream: str,
    ) -> None:
        self._files = files
        self._state = state
        self._command_fault = command_fault
        self._workstream = workstream

    def load(self, number: str, *, is_rehearsed: bool = False) -> PhaseToVerify:
        """Load a phase; raise if it has no plans, or plans without a valid summary."""
        frontmatter.prepare()
        unchecked = self._files.unchecked()
        inventory = scan(self._files.folder, workstream=self._workstream, unchecked=unchecked)
        phase = phase_in_scope(position_of(inventory), number)
        folder = phase.folder
        if folder is None or not folder.live_plans:
            raise NoPlans(phase.id.short)
        missing = [plan for plan in folder.live_plans if plan.proof is Proof.NONE]
        if not is_rehearsed:
            missing += [plan for plan in folder.live_plans if plan.proof is Proof.REHEARSED]
        if missing:
            raise PlansOpen.of(phase.id.short, missing)
        plans = tuple(read_plan(p.path, self._files.load(p.path).text) for p in folder.live_plans)
        summaries = {
            plan.id: (plan.summary, self._text(plan.summary)) for plan in folder.live_plans
        }
        commands, questions = self._commands_and_questions(plans)
        criteria, requirements, goal = self._roadmap_goals(phase)
        existing = folder.verification
        path = existing.path if existing else f"{folder.path}/{phase.id.padded}-VERIFICATION.md"
        with_commands = {command.plan for command in commands}
        needed = {plan.digest for plan in plans if plan.id in with_commands}
        return PhaseToVerify(
            phase, folder, plans, summaries, commands, questions,
            is_approved=needed <= approved_plans(self._state, self._files.folder),
            criteria=criteria, requirements=requirements, goal=goal,
            previous=read_verification(path, self._text(path)) if existing else None,
            path=path, is_rehearsed=is_rehearsed,
        )  # fmt: skip

    def uat_results(
        self, target: PhaseToVerify
    ) -> tuple[tuple[str, ...], tuple[HumanItem, ...], tuple[RuleFinding, ...]]:
        """Read the UAT files: texts of passed tests, open questions, reported issues."""
        names = [n for n in self._files.names(target.folder.path) if naming.is_artefact(n, "UAT")]
        paths = [f"{target.folder.path}/{name}" for name in names]
        tests = [(path, test) for path in paths for test in read_uat(path, self._text(path)).tests]
        passed = [test for _, test in tests if test.result == "pass"]
        waiting = [
            HumanItem(test.name, test.expected or test.name, f"{path} waits for it")
            for path, test in tests
            if test.result not in ("pass", "issue", "skipped")
        ]
        issues = [_issue(path, test) for path, test in tests if test.result == "issue"]
        answered = tuple(text for test in passed for text in (test.name, test.expected) if text)
        return answered, tuple(waiting), tuple(issues)

    def _commands_and_questions(
        self, plans: tuple[PlanDocument, ...]
    ) -> tuple[tuple[VerifyCommand, ...], tuple[HumanItem, ...]]:
        """Return the verify commands of the plans, and the requests to a person."""
        commands: list[VerifyCommand] = []
        items: list[HumanItem] = []
        for plan in plans:
            requests = []
            for task in plan.tasks:
                name = f"{plan.id} task {task.number}"
                check = task.part("human-check")
                if check:
                    items.append(HumanItem(check, task.done or check, f"{name} asks for it"))
                if not task.verify or task.kind.is_checkpoint:
                    continue
                if task.is_automated or not self._command_fault(task.verify):
                    commands.append(VerifyCommand(plan.id, task.number, task.verify))
                else:
                    requests.append(HumanItem(task.verify, task.done, f"{name} names no command"))
            if not any(command.plan == plan.id for command in commands):
                items += requests
            items += [
                HumanItem(each, f"this must not be: {each}", "only a person can judge it")
                for each in plan.must_haves.judged
            ]
        return tuple(commands), tuple(items)

    def _roadmap_goals(self, phase: Phase) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        path = layout.documents_of(self._workstream)[1]
        loaded = self._files.load_if_present(path)
        goal = phase.listed.goal if phase.listed else ""
        if loaded is None or phase.listed is None:
            return (), (), goal
        section = phase_section_of(Document(loaded.text), phase.id, phase.listed.milestone)
        decided = tuple(text for text in section.success_criteria if not _UNDECIDED.fullmatch(text))
        return decided, section.requirements, goal

    def _text(self, path: str) -> str:
        loaded = self._files.load_for_display(path) if path else None
        return loaded.text if loaded else ""


class GitHistory:
    """Files and commits in git."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def committed_files(self) -> frozenset[str]:
        """Return the files of the last commit."""
        return self._changed_files(_EMPTY_TREE, "HEAD")

    def facts(self, sources: SourceFiles) -> RepositoryFacts:
        """Return the facts that claims of summaries are compared with."""
        git = self._workspace
        if not git.is_git:
            return RepositoryFacts(sources.has, lambda _: True, None, lambda _: frozenset())
        committed = self.committed_files()

        def is_committed(path: str) -> bool:
            lead = f"{path}/"
            is_listed = path in committed or any(name.startswith(lead) for name in committed)
            # Without any committed file, git could not be read.
            return not committed or is_listed or _is_ignored(git, path)

        def files_of_commit(commit: str) -> frozenset[str]:
            parent = git.commit_of(f"{commit}^") or _EMPTY_TREE
            return self._changed_files(parent, commit)

        return RepositoryFacts(
            sources.has, is_committed, lambda name: bool(git.commit_of(name)), files_of_commit
        )

    def _changed_files(self, base: str, commit: str) -> frozenset[str]:
        try:
            return frozenset(each.path for each in self._workspace.changes(base, commit))
        except FairleadError:
            return frozenset()  # a shallow clone, for example


def questions_of_summaries(target: PhaseToVerify) -> Iterator[HumanItem]:
    """Yield what the summaries leave to a person."""
    for path, text in target.summaries.values():
        coverage = Document(text).shown_front.get("coverage")
        entries = (
            [entry for entry in coverage if isinstance(entry, dict)]
            if isinstance(coverage, list)
            else []
        )
        for each in entries:
            what = text_of(each, "description")
            if what and text_of(each, "human_judgment") == "true":
                yield HumanItem(what, what, f"{path.rpartition('/')[2]} leaves it to a person")


def questions_of_hidden_changes(paths: Sequence[str]) -> Iterator[HumanItem]:
    """Yield what a person has to say about files whose changes git does not show.

    The phase would be judged by them, and no commit has them.
    """
    if paths:
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        names = ", ".join(map(file_name, paths[:_NAMED]))
        yield HumanItem(
            f"{names}{more}: changed, and hidden from git status",
            "these are the files that the phase is to be judged by",
            "git's index hides that they are not as committed; it shows the flags of its files with:"
            " git ls-files -v",
        )


def _issue(path: str, test: UatTest) -> RuleFinding:
    why = test.reported or test.expected or test.name
    cure = f"make it do: {test.expected or test.name}"
    return RuleFinding("uat-issue", path, test.line, why, cure, test.name)


def _is_ignored(git: Workspace, path: str) -> bool:
    asked = getattr(git, "is_ignored", None)
    return bool(asked and asked(path))
