"""Surveying: the disk as a snapshot. The only way from what was done to what is decided next."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fairlead.engine.decide import ABORT, APPROVED
from fairlead.model.budget import Caps, Spent, estimate
from fairlead.model.inventory import Proof
from fairlead.model.job import Job, TaskGate
from fairlead.model.plan import PlanSheet, Task, TaskKind, task_id
from fairlead.model.snapshot import PlanFacts, Snapshot, TaskFacts
from fairlead.records.phase_files import summary_head
from fairlead.records.plan_sheet import nodes_of
from fairlead.records.state import moment
from fairlead.store import layout
from fairlead.store.files import Files

if TYPE_CHECKING:
    from fairlead.engine.site import Site

_PROMPT_CHARACTERS = 3000  # of our own words in a prompt


def survey(site: Site, caps: Caps, running: tuple[str, ...], *, is_stopping: bool) -> Snapshot:
    """Look at the job as it is on disk now."""
    job = site.jobs.load_job()
    gates = site.jobs.load_gates()
    spent, today = site.purse.spent(job, moment(site.clock.now())[:10])
    return Snapshot(
        job=job,
        plans=_plans(site, job, gates),
        gates=gates,
        questions=site.jobs.load_questions(),
        running=running,
        now=moment(site.clock.now()),
        spent=spent,
        spent_today=today,
        caps=caps,
        is_stopping=is_stopping,
    )


def _plans(site: Site, job: Job, gates: tuple[TaskGate, ...]) -> tuple[PlanFacts, ...]:
    approved = {each.plan: each.sha256 for each in job.approvals}
    needs = {node.id: node for node in nodes_of(site.sheets.values())}
    head = site.workspace.commit_of(f"refs/heads/{job.target}") if job.is_git else ""
    facts = []
    for sheet in site.sheets.values():
        node = needs[sheet.id]
        is_summarised = sheet.id in site.proven or has_summary(site.files, sheet.path, job)
        facts.append(
            PlanFacts(
                id=sheet.id,
                depends_on=node.depends_on,
                files=node.files,
                tasks=tuple(_task(sheet, each) for each in sheet.tasks),
                estimate=estimate_of(sheet),
                is_approved=_is_approved(site, sheet, approved),
                is_merged=is_summarised or _is_merged(site, sheet, gates, head),
                is_summarised=is_summarised,
                is_chosen=not job.plans or sheet.id in job.plans,
            )
        )
    return tuple(facts)


def has_summary(files: Files, plan: str, job: Job) -> bool:
    """Whether a plan has its record; an empty one is none, a rehearsed one only in a rehearsal."""
    content = files.content(layout.summary_path(plan))
    if content is None:
        return False
    proof = summary_head(content).proof
    return proof is not Proof.EMPTY and (job.is_rehearsed or proof is not Proof.REHEARSED)


def _is_approved(site: Site, sheet: PlanSheet, approved: Mapping[str, str]) -> bool:
    """Its text is still the one that a person approved; a plan that is carried out may not change."""
    content = site.files.content(sheet.path) or b""
    digest = hashlib.sha256(content).hexdigest()
    return digest == approved.get(sheet.id) == sheet.digest and digest in site.approved


def _is_merged(site: Site, sheet: PlanSheet, gates: Iterable[TaskGate], head: str) -> bool:
    mine = {gate.number: gate for gate in gates if gate.plan == sheet.id}
    wanted = [each.number for each in sheet.tasks if not each.kind.is_checkpoint]
    if any(number not in mine or not mine[number].is_passed for number in wanted):
        return False
    commits = [mine[number].work for number in wanted if mine[number].work]
    # A plan that changed nothing has nothing to merge.
    return not commits or site.workspace.is_ancestor(commits[-1], head)


def _task(sheet: PlanSheet, task: Task) -> TaskFacts:
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
        options=_options(task),
    )


def _options(task: Task) -> tuple[str, ...]:
    """What a person can answer to a checkpoint; anything, if it does not say."""
    if task.kind is TaskKind.HUMAN_VERIFY:
        return (APPROVED, ABORT)
    if task.kind is TaskKind.DECISION:
        return tuple(re.findall(r'<option\b[^>]*\bid="([^"]+)"', task.part("options")))
    return ("done", ABORT)


def estimate_of(sheet: PlanSheet) -> Spent:
    """What one call for a plan will probably take, from the size of its longest task."""
    longest = max((len(task.source) for task in sheet.tasks), default=0)
    return estimate("executor", longest + len(sheet.objective) + _PROMPT_CHARACTERS)
