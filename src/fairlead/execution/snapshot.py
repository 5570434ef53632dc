"""Reading a snapshot: the disk as the values that `decide` sees.

This is the only way from what was done to what is decided next. A file that has not changed since
the last look is not read again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from fairlead.agents.budget import Actual, Cost, estimate
from fairlead.agents.secrets import value_without_secrets, without_secrets
from fairlead.core.patterns import lazy_pattern
from fairlead.execution.decide import ABORT, APPROVED
from fairlead.execution.model import PlanFacts, Snapshot, TaskFacts
from fairlead.jobs.model import FIX, Job, TaskGate, last_work
from fairlead.jobs.prompts import template
from fairlead.plans.documents import digest_of, nodes_of
from fairlead.plans.model import PlanDocument, Task, TaskKind, task_id
from fairlead.project.derive.inventory import Proof
from fairlead.project.derive.phase_files import summary_head
from fairlead.project.naming import summary_path
from fairlead.store.digests import DerivedCache, FileSignature, is_settled, signatures_in

if TYPE_CHECKING:
    from fairlead.execution.context import ExecutionContext

_TEMPLATES = {"executor": ("executor", "result"), "architect": ("architect", "verdict")}
_OPTION = lazy_pattern(r'<option\b[^>]*\bid="([^"]+)"[^>]*>?(.*?)(?=<option\b|\Z)', re.DOTALL)
_OPTION_PART = lazy_pattern(r"<(name|pros|cons)>(.*?)</\1>", re.DOTALL)
_QUESTION_TAGS = {
    TaskKind.HUMAN_VERIFY: ("what-built", "how-to-verify"),
    TaskKind.DECISION: ("decision", "context"),
    TaskKind.HUMAN_ACTION: ("action", "instructions"),
}


class SnapshotReader:
    """Reads snapshots of one job."""

    def __init__(self, context: ExecutionContext) -> None:
        self._context = context
        past = context.spending.actuals(is_rehearsed=context.job.is_rehearsed)
        self._plans = plan_facts(tuple(context.plans.values()), past)
        self._digests = DerivedCache(lambda path: _digest(context.files.content(path)))
        self._proofs = DerivedCache(lambda path: _proof(context.files.content(path)))
        documents = context.plans.values()
        self._summaries = {document.id: summary_path(document.path) for document in documents}
        paths = ((each, self._summaries[each.id]) for each in documents)
        self._owners = {path: each.id for each, own in paths for path in (each.path, own)}
        # What the last look saw, so that this one only examines what differs.
        self._seen: dict[str, FileSignature] = {}
        self._common: object = None  # what the facts of every plan depend on
        self._unsettled: set[str] = set()  # plans whose files may change again unnoticed
        self._open: set[str] = set()  # plans with gates and without a summary
        self._done: set[str] = set()

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> Snapshot:
        """The job as it is on disk now."""
        context = self._context
        job = context.folder.load(Job)
        gates = context.folder.load_gates()
        now = context.now()
        spent, today = context.spending.spent(job, now[:10])
        return Snapshot(
            job=job,
            plans=self._plan_facts(job, gates),
            gates=gates,
            questions=context.questions(),
            running=running,
            now=now,
            spent=spent,
            spent_today=today,
            caps=context.options.caps,
            is_stopping=is_stopping,
        )

    def _plan_facts(self, job: Job, gates: tuple[TaskGate, ...]) -> tuple[PlanFacts, ...]:
        context = self._context
        approved = {approval.plan: approval.sha256 for approval in job.approvals}
        head = context.workspace.commit_of(f"refs/heads/{job.target}") if job.is_git else ""
        gates_of: dict[str, dict[int, TaskGate]] = {}
        for gate in gates:
            gates_of.setdefault(gate.plan, {})[gate.number] = gate
        signatures: dict[str, FileSignature] = {}
        for folder in {plan.path.rpartition("/")[0] for plan in context.plans.values()}:
            signatures |= signatures_in(context.files.folder, folder)
        chosen = frozenset(job.plans or context.plans)
        outdated = self._outdated(signatures, gates_of, (approved, chosen, job.is_rehearsed))
        if not outdated:
            return self._plans
        plans = []
        for facts, document in zip(self._plans, context.plans.values(), strict=True):
            if document.id not in outdated:
                plans.append(facts)
                continue
            proof = self._proof(document, job, signatures)
            is_done, own = proof is not Proof.EMPTY, gates_of.get(document.id, {})
            present = (
                self._is_approved(document, approved, signatures),
                is_done or _is_merged(context, document, own, head),
                is_done,
                proof not in (Proof.FAILED, Proof.BLOCKED),
                document.id in chosen,
            )
            (self._done.add if is_done else self._done.discard)(document.id)
            plans.append(facts if present == facts.present else facts.with_present(*present))
        self._plans = tuple(plans)
        return self._plans

    def _outdated(
        self,
        signatures: dict[str, FileSignature],
        begun: Mapping[str, object],
        common: object,
    ) -> Collection[str]:
        """The plans whose facts may differ from those of the last look.

        Facts follow from the plan and its summary, and while a plan is open also from its gates
        and the target branch. A file that was written just now is looked at again, as in the caches.
        """
        if common != self._common:
            self._common, self._seen, self._done = common, {}, set()
            outdated = set(self._context.plans)
        else:
            differing = {path for path, _ in signatures.items() ^ self._seen.items()}
            outdated = {self._owners[path] for path in differing if path in self._owners}
        open_now = set(begun).difference(self._done)
        outdated |= self._unsettled | self._open | open_now
        self._seen, self._open = signatures, open_now
        self._unsettled = {
            plan
            for plan in outdated.intersection(self._summaries)
            if not all(
                is_settled(signatures.get(path, ()))
                for path in (self._context.plans[plan].path, self._summaries[plan])
            )
        }
        return outdated

    def _proof(
        self, document: PlanDocument, job: Job, signatures: Mapping[str, FileSignature]
    ) -> Proof:
        """What the summary of a plan proves; a rehearsed summary proves nothing to a real job."""
        if document.id in self._context.proven:
            return Proof.COMPLETE
        path = self._summaries[document.id]
        proof = self._proofs.of(path, signatures[path]) if path in signatures else Proof.EMPTY
        is_foreign = proof is Proof.REHEARSED and not job.is_rehearsed
        return Proof.EMPTY if is_foreign else proof

    def _is_approved(
        self,
        document: PlanDocument,
        approved: Mapping[str, str],
        signatures: Mapping[str, FileSignature],
    ) -> bool:
        """Whether a person approved exactly the text that is on disk and that this run has read."""
        digest = self._digests.of(document.path, signatures.get(document.path, ()))
        is_same = digest == approved.get(document.id) == document.digest
        return is_same and digest in self._context.approved


def _digest(content: bytes | None) -> str:
    return digest_of((content or b"").decode("utf-8", "surrogateescape"))


def _proof(content: bytes | None) -> Proof:
    return Proof.EMPTY if content is None else summary_head(content).proof


def _is_merged(
    context: ExecutionContext, document: PlanDocument, gates: Mapping[int, TaskGate], head: str
) -> bool:
    """Whether every task of a plan has passed and the target branch has their work."""
    for task in document.tasks:
        gate = gates.get(task.number)
        if not task.kind.is_checkpoint and not (gate and gate.passes(task.digest)):
            return False
    work = last_work(gates[task.number] for task in document.tasks if task.number in gates)
    # A plan that changed nothing has nothing to merge.
    return not work or context.workspace.is_ancestor(work, head)


def plan_facts(documents: Sequence[PlanDocument], past: Sequence[Actual]) -> tuple[PlanFacts, ...]:
    """Plans as `decide` sees them, before anything is known of their work."""
    nodes = {node.id: node for node in nodes_of(documents)}
    return tuple(
        PlanFacts(
            id=document.id,
            depends_on=nodes[document.id].depends_on,
            files=nodes[document.id].files,
            tasks=tuple(_task_facts(document, task) for task in document.tasks),
            estimate=estimate_of(document, past),
            is_approved=False,
            is_merged=False,
            is_summarised=False,
        )
        for document in documents
    )


def _task_facts(document: PlanDocument, task: Task) -> TaskFacts:
    options = _decision_options(task) if task.kind is TaskKind.DECISION else {}
    parts = (" ".join(task.part(tag).split()) for tag in _QUESTION_TAGS.get(task.kind, ()))
    return TaskFacts(
        id=task_id(document.id, task.number),
        number=task.number,
        name=task.name,
        kind=task.kind,
        # Filtered like the stored question, with which `decide` compares them.
        question=without_secrets(" — ".join(filter(None, parts)))[0],
        options=_checkpoint_options(document, task) or tuple(options),
        details=value_without_secrets(
            tuple(f"{name}: {details}" for name, details in options.items() if details)
        ),
        digest=task.digest,
    )


def _checkpoint_options(document: PlanDocument, task: Task) -> tuple[str, ...]:
    """The possible answers to a checkpoint that is not a decision."""
    if task.kind is TaskKind.HUMAN_VERIFY:
        # There must be a task before the checkpoint whose work can be corrected.
        fix = (f"{FIX} what is wrong",) if document.task_for(task.number) else ()
        return (APPROVED, ABORT, *fix)
    return ("done", ABORT) if task.kind is TaskKind.HUMAN_ACTION else ()


def _decision_options(task: Task) -> dict[str, str]:
    """The options of a decision, each with its name, pros and cons in one line."""
    options = {}
    for option, inside in _OPTION.findall(task.part("options")):
        parts = {tag: " ".join(text.split()) for tag, text in _OPTION_PART.findall(inside)}
        leads = {"name": "", "pros": "for it: ", "cons": "against it: "}
        shown = (f"{lead}{parts[tag]}" for tag, lead in leads.items() if tag in parts)
        options[option] = "; ".join(shown)
    return options


def estimate_of(document: PlanDocument, past: Sequence[Actual], role: str = "executor") -> Cost:
    """The estimated cost of one call for a plan: by its longest task, and by earlier calls."""
    longest = max((len(task.source) for task in document.tasks), default=0)
    fixed = sum(len(template(name)) for name in _TEMPLATES[role])
    return estimate(role, longest + len(document.objective) + fixed, past)


def estimate_of_all(documents: Iterable[PlanDocument], past: Sequence[Actual]) -> Cost:
    """The estimated cost of plans if every task passes at its first attempt."""
    total = Cost()
    for document in documents:
        calls = sum(not task.kind.is_checkpoint for task in document.tasks)
        for role in ("executor", "architect") if calls else ():
            total = sum([estimate_of(document, past, role)] * calls, total)
    return total
