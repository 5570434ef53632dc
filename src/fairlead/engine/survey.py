"""Surveying: the disk as a snapshot. The only way from what was done to what is decided next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from fairlead.engine.decide import ABORT, APPROVED
from fairlead.engine.prompting import template
from fairlead.model.budget import Actual, Caps, Spent, estimate
from fairlead.model.inventory import Proof
from fairlead.model.job import FIX, Job, TaskGate, last_work
from fairlead.model.plan import PlanSheet, Task, TaskKind, task_id
from fairlead.model.snapshot import PlanFacts, Snapshot, TaskFacts
from fairlead.records.naming import summary_path
from fairlead.records.phase_files import summary_head
from fairlead.records.plan_sheet import digest_of, nodes_of
from fairlead.records.state import moment
from fairlead.store.digests import Derived, Marks, marks_in
from fairlead.values import replace

if TYPE_CHECKING:
    from fairlead.engine.site import Site

_TEMPLATES = {"executor": ("executor", "result"), "architect": ("architect", "verdict")}
_OPTION = re.compile(r'<option\b[^>]*\bid="([^"]+)"[^>]*>?(.*?)(?=<option\b|\Z)', re.DOTALL)
_PART = re.compile(r"<(name|pros|cons)>(.*?)</\1>", re.DOTALL)


class Survey:
    """Looks at one job again and again; a file that is the same is not read again."""

    def __init__(self, site: Site, caps: Caps) -> None:
        self._site = site
        self._caps = caps
        past = site.purse.actuals(is_rehearsed=site.job.is_rehearsed)
        needs = {node.id: node for node in nodes_of(site.sheets.values())}
        self._plans = tuple(
            PlanFacts(
                id=sheet.id,
                depends_on=needs[sheet.id].depends_on,
                files=needs[sheet.id].files,
                tasks=tuple(_task(sheet, each) for each in sheet.tasks),
                estimate=estimate_of(sheet, past),
                is_approved=False,
                is_merged=False,
                is_summarised=False,
            )
            for sheet in site.sheets.values()
        )
        self._digests = Derived(lambda path: _digest(site.files.content(path)))
        self._proofs = Derived(lambda path: _proof(site.files.content(path)))

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> Snapshot:
        """Look at the job as it is on disk now."""
        site = self._site
        job = site.jobs.load_job()
        gates = site.jobs.load_gates()
        now = moment(site.clock.now())
        spent, today = site.purse.spent(job, now[:10])
        return Snapshot(
            job=job,
            plans=self._facts(job, gates),
            gates=gates,
            questions=site.questions(),
            running=running,
            now=now,
            spent=spent,
            spent_today=today,
            caps=self._caps,
            is_stopping=is_stopping,
        )

    def _facts(self, job: Job, gates: tuple[TaskGate, ...]) -> tuple[PlanFacts, ...]:
        site = self._site
        approved = {each.plan: each.sha256 for each in job.approvals}
        head = site.workspace.commit_of(f"refs/heads/{job.target}") if job.is_git else ""
        mine: dict[str, dict[int, TaskGate]] = {}
        for gate in gates:
            mine.setdefault(gate.plan, {})[gate.number] = gate
        folders = {sheet.path.rpartition("/")[0] for sheet in site.sheets.values()}
        marks: dict[str, Marks] = {}
        for folder in folders:
            marks |= marks_in(site.files.folder, folder)
        found = []
        for facts, sheet in zip(self._plans, site.sheets.values(), strict=True):
            proof = self._proof(sheet, job, marks)
            is_done = proof is not Proof.EMPTY
            found.append(
                replace(
                    facts,
                    is_approved=self._is_approved(sheet, approved, marks),
                    is_merged=is_done or _is_merged(site, sheet, mine.get(sheet.id, {}), head),
                    is_summarised=is_done,
                    is_sound=proof not in (Proof.FAILED, Proof.BLOCKED),
                    is_chosen=not job.plans or sheet.id in job.plans,
                )
            )
        return tuple(found)

    def _proof(self, sheet: PlanSheet, job: Job, marks: Mapping[str, Marks]) -> Proof:
        """What its record says; none is as an empty one, and so is a rehearsed one for real."""
        if sheet.id in self._site.proven:
            return Proof.COMPLETE
        path = summary_path(sheet.path)
        proof = self._proofs.of(path, marks[path]) if path in marks else Proof.EMPTY
        is_nothing = proof is Proof.REHEARSED and not job.is_rehearsed
        return Proof.EMPTY if is_nothing else proof

    def _is_approved(
        self, sheet: PlanSheet, approved: Mapping[str, str], marks: Mapping[str, Marks]
    ) -> bool:
        """Its text is still what a person approved; a plan that is carried out may not change."""
        digest = self._digests.of(sheet.path, marks.get(sheet.path, ()))
        return digest == approved.get(sheet.id) == sheet.digest and digest in self._site.approved


def _digest(content: bytes | None) -> str:
    return digest_of((content or b"").decode("utf-8", "surrogateescape"))


def _proof(content: bytes | None) -> Proof:
    return Proof.EMPTY if content is None else summary_head(content).proof


def _is_merged(site: Site, sheet: PlanSheet, mine: Mapping[int, TaskGate], head: str) -> bool:
    held = {each.number: mine[each.number] for each in sheet.tasks if each.number in mine}
    wanted = {each.number: each.digest for each in sheet.tasks if not each.kind.is_checkpoint}
    if any(number not in held or not held[number].passes(wanted[number]) for number in wanted):
        return False
    work = last_work(held.values())
    # A plan that changed nothing has nothing to merge.
    return not work or site.workspace.is_ancestor(work, head)


def _task(sheet: PlanSheet, task: Task) -> TaskFacts:
    options = _choices(task) if task.kind is TaskKind.DECISION else {}
    asked = {
        "checkpoint:human-verify": ("what-built", "how-to-verify"),
        "checkpoint:decision": ("decision", "context"),
        "checkpoint:human-action": ("action", "instructions"),
    }.get(task.kind, ())
    return TaskFacts(
        id=task_id(sheet.id, task.number),
        number=task.number,
        name=task.name,
        kind=task.kind,
        question=" — ".join(" ".join(said.split()) for tag in asked if (said := task.part(tag))),
        options=_answers(sheet, task) or tuple(options),
        details=tuple(f"{name}: {told}" for name, told in options.items() if told),
        digest=task.digest,
    )


def _answers(sheet: PlanSheet, task: Task) -> tuple[str, ...]:
    """What a person can say to a checkpoint that is no decision."""
    if task.kind is TaskKind.HUMAN_VERIFY:
        mend = (f"{FIX} what is wrong",) if sheet.worked(task.number) else ()
        return (APPROVED, ABORT, *mend)
    return ("done", ABORT) if task.kind is TaskKind.HUMAN_ACTION else ()


def _choices(task: Task) -> dict[str, str]:
    """The options of a decision, each with its name and what speaks for and against it."""
    found = {}
    for name, inside in _OPTION.findall(task.part("options")):
        parts = {tag: " ".join(text.split()) for tag, text in _PART.findall(inside)}
        leads = {"name": "", "pros": "for it: ", "cons": "against it: "}
        found[name] = "; ".join(
            f"{lead}{parts[tag]}" for tag, lead in leads.items() if tag in parts
        )
    return found


def estimate_of(sheet: PlanSheet, past: Sequence[Actual], role: str = "executor") -> Spent:
    """What a call for a plan will probably take, by its longest task and what calls took before."""
    longest = max((len(task.source) for task in sheet.tasks), default=0)
    ours = sum(len(template(name)) for name in _TEMPLATES[role])
    return estimate(role, longest + len(sheet.objective) + ours, past)


def estimate_of_all(sheets: Iterable[PlanSheet], past: Sequence[Actual]) -> Spent:
    """What plans will probably take in all, if every task passes at once."""
    calls = (
        estimate_of(sheet, past, role)
        for sheet in sheets
        for task in sheet.tasks
        for role in ("executor", "architect")
        if not task.kind.is_checkpoint
    )
    return sum(calls, Spent())
