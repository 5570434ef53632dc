"""Review of a phase by a model, in the role of the verifier, after the rules have run.

The review can only add findings and questions: what the model calls verified is not read, so a
failed check stays failed. A reported gap is a finding if it names a file that exists; otherwise
it becomes a question for a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.jobs.context import JobSetup
from fairlead.jobs.model import JobStatus
from fairlead.verification.errors import VerifierFault
from fairlead.verification.model import HumanItem, RuleFinding, VerificationResult
from fairlead.verification.phase_reader import PhaseToVerify
from fairlead.verification.source_files import SourceFiles
from fairlead.workflows.artefacts import any_line, read_answer
from fairlead.workflows.questions import WorkflowContext
from fairlead.workflows.role_calls import RoleCalls, RoleRequest
from fairlead.workflows.roles import role
from fairlead.workflows.service import JobPurpose, WorkflowEnd, Workflows

_PLACE = lazy_pattern(r"`?([\w@./()\[\]-]+\.\w+)(?::(\d+))?`?")
Additions = tuple[tuple[RuleFinding, ...], tuple[HumanItem, ...]]
Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class ReportedGap:
    """A gap in the answer of the verifier."""

    truth: str = ""
    reason: str = ""
    path: str = ""
    missing: Any = None  # a list or a text


@dataclass(frozen=True, slots=True)
class ReportedTruth:
    """A truth in the answer of the verifier."""

    truth: str = ""
    status: str = ""
    evidence: str = ""


class ModelReview:
    """Asks a model to review a phase."""

    def __init__(self, jobs: Workflows, setup: JobSetup, workstream: str = "") -> None:
        self._jobs = jobs
        self._setup = setup
        self._workstream = workstream

    def ask(
        self, target: PhaseToVerify, result: VerificationResult, sources: SourceFiles
    ) -> Additions:
        """Return what the verifier adds to the result of the rules."""
        number = target.phase.id.short
        command = f"fairlead phase verify {number}"
        purpose = JobPurpose("verify", number, command, workstream=self._workstream)
        added: list[Additions] = []

        def work(context: WorkflowContext) -> WorkflowEnd:
            ask = RoleRequest(
                role("verifier"), "verify", _prompt_parts(target, result), {"phase": number}
            )
            reply = RoleCalls(context).call(ask, lambda answer: _additions(answer.fields, sources))
            if reply.value is None:
                return WorkflowEnd(JobStatus.FAILED, reply.note)
            added.append(reply.value)
            note, lead = f"{len(reply.value[0])} gaps added", target.phase.id.padded
            return WorkflowEnd(note=note, message=f"docs({lead}): the record of the verifier")

        report = self._jobs.run(purpose, self._setup, work)
        if not added:
            raise VerifierFault(number, report.job.note)
        return added[0]


def _prompt_parts(target: PhaseToVerify, result: VerificationResult) -> dict[str, str]:
    findings = [f"{each.place} {each.rule}: {each.why}" for each in result.findings]
    findings += [f"{each.state}: {each.kind} {each.what} {each.evidence}" for each in result.checks]
    haves = [plan.must_haves for plan in target.plans]
    truths = [f"- {truth}" for have in haves for truth in have.truths]
    files = [f"- file {each.path}: {each.provides}" for have in haves for each in have.artifacts]
    return {
        "goal": target.goal or target.phase.name,
        "criteria": "\n".join(f"- {criterion}" for criterion in target.criteria),
        "must-haves": "\n".join(truths + files),
        "findings": "\n".join(findings),
        "summaries": "\n\n".join(text for _, text in target.summaries.values()),
    }


def _additions(answer: Mapping[str, object], sources: SourceFiles) -> Additions:
    """Turn an answer into findings and questions.

    A field of the wrong type becomes text or stays empty, so that no reported gap is lost; only
    entries that are not maps are ignored.
    """
    findings: list[RuleFinding] = []
    questions: list[HumanItem] = []
    for gap in _entries(ReportedGap, answer.get("gaps")):
        items = gap.missing if isinstance(gap.missing, list) else [gap.missing or ""]
        missing = "; ".join(map(str, items))
        cure = missing or gap.truth
        path, line = _existing_place(f"{gap.path} {gap.reason} {missing}", sources)
        if path and gap.truth:
            subject = gap.truth[:80]
            findings.append(
                RuleFinding("verifier", path, line, gap.reason or gap.truth, cure, subject)
            )
        elif gap.truth:
            why = f"the verifier doubts it: {gap.reason}"
            questions.append(HumanItem(gap.truth, cure, why))
    for truth in _entries(ReportedTruth, answer.get("truths")):
        if truth.status.lower() == "human" and truth.truth:
            why = truth.evidence or "the verifier leaves it to a person"
            questions.append(HumanItem(truth.truth, truth.truth, why))
    return tuple(findings), tuple(questions)


def _entries(kind: type[Entry], value: object) -> Iterator[Entry]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield read_answer(kind, item, any_line)


def _existing_place(text: str, sources: SourceFiles) -> tuple[str, int]:
    """Return the first file in a text that exists, and its line."""
    for match in _PLACE.finditer(text):
        path = match[1].removeprefix("./")
        if path in sources.texts:
            return path, int(match[2] or 1)
    return "", 0
