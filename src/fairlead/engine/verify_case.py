"""Cases: a phase that is to be verified, as its files tell of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from fairlead.engine.ports import Workspace
from fairlead.errors import FairleadError, NoPlans, PlansOpen
from fairlead.model.inventory import Folder, Phase, Proof
from fairlead.model.plan import PlanSheet
from fairlead.model.standing import standing_of
from fairlead.model.verification import Finding, HumanItem
from fairlead.records import claims, naming
from fairlead.records.keys import text_of
from fairlead.records.plan_sheet import read_plan
from fairlead.records.position import phase_of
from fairlead.records.roadmap_read import told_of
from fairlead.records.subject import Command
from fairlead.records.uat import Trial, read_uat
from fairlead.records.verification import Record, read_verification
from fairlead.store import layout
from fairlead.store.approvals import approved_plans
from fairlead.store.files import Files
from fairlead.store.scan import scan
from fairlead.store.source_tree import SourceTree
from fairlead.text import front
from fairlead.text.document import Document
from fairlead.values import dataclass

# What stands in a roadmap before anybody has written a criterion there.
_UNDECIDED = re.compile(
    r"\W*(?:not decided yet|tb[ad]|todo|none(?: yet)?|to be (?:determined|defined|decided))\W*|\[[^\]]*\]",
    re.IGNORECASE,
)
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@dataclass(frozen=True, slots=True)
class Case:
    """A phase that is to be verified, as it stands."""

    phase: Phase
    folder: Folder
    sheets: tuple[PlanSheet, ...]
    summaries: dict[str, tuple[str, str]]
    commands: tuple[Command, ...]
    prose: tuple[HumanItem, ...]  # what plans ask a person to see
    is_approved: bool
    criteria: tuple[str, ...]
    requirements: tuple[str, ...]
    goal: str
    before: Record | None
    path: str  # of VERIFICATION.md
    is_rehearsed: bool = False


class Cases:
    """Reads the cases of one project."""

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

    def case(self, number: str, *, is_rehearsed: bool = False) -> Case:
        """Look at a phase: its plans and summaries, and the commands that would run."""
        front.prepare()
        inventory = scan(self._files.folder, workstream=self._workstream)
        phase = phase_of(standing_of(inventory), number)
        folder = phase.folder
        if folder is None or not folder.live_plans:
            raise NoPlans(phase.id.short)
        missing = [plan for plan in folder.live_plans if plan.proof is Proof.NONE]
        if not is_rehearsed:
            missing += [plan for plan in folder.live_plans if plan.proof is Proof.REHEARSED]
        if missing:
            raise PlansOpen(phase.id.short, tuple(plan.path.rpartition("/")[2] for plan in missing))
        sheets = tuple(read_plan(p.path, self._files.load(p.path).text) for p in folder.live_plans)
        summaries = {
            plan.id: (plan.summary, self._text(plan.summary)) for plan in folder.live_plans
        }
        commands, prose = self._asked(sheets)
        told = self._told(phase)
        held = folder.verification
        path = held.path if held else f"{folder.path}/{phase.id.padded}-VERIFICATION.md"
        needed = {sheet.digest for sheet in sheets if any(c.plan == sheet.id for c in commands)}
        return Case(
            phase, folder, sheets, summaries, commands, prose,
            is_approved=needed <= approved_plans(self._state, self._files.folder),
            criteria=told[0], requirements=told[1], goal=told[2],
            before=read_verification(path, self._text(path)) if held else None,
            path=path, is_rehearsed=is_rehearsed,
        )  # fmt: skip

    def trials(
        self, case: Case
    ) -> tuple[tuple[str, ...], tuple[HumanItem, ...], tuple[Finding, ...]]:
        """What a person has tried: passed, still to be tried, and found wrong."""
        names = [n for n in self._files.names(case.folder.path) if naming.is_artefact(n, "UAT")]
        paths = [f"{case.folder.path}/{name}" for name in names]
        tried = [(p, each) for p in paths for each in read_uat(p, self._text(p)).trials]
        answered = [(each.name, each.expected) for _, each in tried if each.result == "pass"]
        waiting = [
            HumanItem(each.name, each.expected or each.name, f"{path} waits for it")
            for path, each in tried
            if each.result not in ("pass", "issue", "skipped")
        ]
        issues = [_issue(path, each) for path, each in tried if each.result == "issue"]
        said = tuple(text for pair in answered for text in pair if text)
        return said, tuple(waiting), tuple(issues)

    def _asked(
        self, sheets: tuple[PlanSheet, ...]
    ) -> tuple[tuple[Command, ...], tuple[HumanItem, ...]]:
        """The commands of the plans, and what is no command but a request to a person."""
        commands: list[Command] = []
        items: list[HumanItem] = []
        for sheet in sheets:
            prose = []
            for task in sheet.tasks:
                name = f"{sheet.id} task {task.number}"
                check = task.part("human-check")
                if check:
                    items.append(HumanItem(check, task.done or check, f"{name} asks for it"))
                if not task.verify or task.kind.is_checkpoint:
                    continue
                if task.is_automated or not self._command_fault(task.verify):
                    commands.append(Command(sheet.id, task.number, task.verify))
                else:
                    prose.append(HumanItem(task.verify, task.done, f"{name} names no command"))
            if not any(each.plan == sheet.id for each in commands):
                items += prose
            items += [
                HumanItem(each, f"this must not be: {each}", "only a person can judge it")
                for each in sheet.must_haves.judged
            ]
        return tuple(commands), tuple(items)

    def _told(self, phase: Phase) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        path = layout.documents_of(self._workstream)[1]
        loaded = self._files.load_if_present(path)
        goal = phase.listed.goal if phase.listed else ""
        if loaded is None or phase.listed is None:
            return (), (), goal
        told = told_of(Document(loaded.text), phase.id, phase.listed.milestone)
        decided = tuple(each for each in told.success_criteria if not _UNDECIDED.fullmatch(each))
        return decided, told.requirements, goal

    def _text(self, path: str) -> str:
        loaded = self._files.load_for_display(path) if path else None
        return loaded.text if loaded else ""


class History:
    """What git knows of files and commits."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def kept(self) -> frozenset[str]:
        """The files of the last commit."""
        return self._touched(_EMPTY_TREE, "HEAD")

    def known(self, tree: SourceTree) -> claims.Known:
        """What there is, for whoever holds claims against it."""
        git = self._workspace
        if not git.is_git:
            return claims.Known(tree.has, lambda _: True, None, lambda _: frozenset())
        kept = self.kept()

        def is_kept(path: str) -> bool:
            lead = f"{path}/"
            is_there = path in kept or any(each.startswith(lead) for each in kept)
            return not kept or is_there or _is_ignored(git, path)

        def touched(commit: str) -> frozenset[str]:
            parent = git.commit_of(f"{commit}^") or _EMPTY_TREE
            return self._touched(parent, commit)

        return claims.Known(tree.has, is_kept, lambda name: bool(git.commit_of(name)), touched)

    def _touched(self, base: str, commit: str) -> frozenset[str]:
        try:
            return frozenset(each.path for each in self._workspace.changes(base, commit))
        except FairleadError:
            return frozenset()  # a repository of another form: git cannot tell


def judgments(case: Case) -> Iterator[HumanItem]:
    """What summaries themselves leave to a person."""
    for path, text in case.summaries.values():
        held = Document(text).shown_front.get("coverage")
        entries = (
            [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []
        )
        for each in entries:
            what = text_of(each, "description")
            if what and text_of(each, "human_judgment") == "true":
                yield HumanItem(what, what, f"{path.rpartition('/')[2]} leaves it to a person")


def _issue(path: str, trial: Trial) -> Finding:
    why = trial.reported or trial.expected or trial.name
    cure = f"let it do: {trial.expected or trial.name}"
    return Finding("uat-issue", path, trial.line, why, cure, trial.name)


def _is_ignored(git: Workspace, path: str) -> bool:
    asked = getattr(git, "is_ignored", None)
    return bool(asked and asked(path))
