"""`phase discuss`: find the open decisions of a phase, compare the options, let a person choose.

An analyser names the areas in which something has to be decided. One advisor per area compares
the options, all at the same time. Each area becomes a question with the recommended option first.
The answers are written to CONTEXT.md, from which the phase is planned and its plans are judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlead.core.ids import slug
from fairlead.core.values import dataclass, replace
from fairlead.jobs.context import JobSetup
from fairlead.jobs.model import OTHER, JobStatus
from fairlead.text import frontmatter
from fairlead.workflows.artefacts import mark_rehearsed, read_answer, require_fields
from fairlead.workflows.context_document import (
    Choice,
    ContextDecision,
    PhaseContext,
    new_context,
    read_context,
)
from fairlead.workflows.errors import ArtefactFault, ContextThere
from fairlead.workflows.phase_documents import PhaseDocuments, PhaseSubject
from fairlead.workflows.questions import PendingQuestion, WorkflowContext, answered_question
from fairlead.workflows.role_calls import RoleCalls, RoleRequest, WorkflowPreview, call_preview
from fairlead.workflows.roles import role
from fairlead.workflows.service import JobPurpose, WorkflowEnd, WorkflowReport, Workflows

MAX_AREAS = 5
CRITERIA = ("fit", "simplicity", "risk", "reversibility")
_BEST_SCORE = 5
_USUAL_AREAS = 3  # for the estimate
_MAX_NAME = 60


# -- answers -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Area:
    """Something that has to be decided, and what would be done without a decision."""

    name: str
    question: str
    assumption: str
    why: str = ""
    if_wrong: str = ""
    confidence: str = ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The answer of the analyser."""

    boundary: str
    areas: tuple[Area, ...]
    insights: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AdvisedOption:
    """One way of doing it, with a score for each criterion."""

    name: str
    pros: str
    cons: str
    scores: Any

    @property
    def score(self) -> int:
        """The sum of the scores, 20 at most."""
        return sum(self.scores[criterion] for criterion in CRITERIA)

    @property
    def has_scores(self) -> bool:
        """Whether each criterion has a valid score."""
        scores = self.scores if isinstance(self.scores, dict) else {}
        values = [scores.get(criterion) for criterion in CRITERIA]
        return all(isinstance(value, int) and 1 <= value <= _BEST_SCORE for value in values)


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer of an advisor: the recommended option first, then by score."""

    options: tuple[AdvisedOption, ...]
    recommended: str
    rationale: str


def read_analysis(answer: Mapping[str, object]) -> Analysis:
    """Read the answer of the analyser; raise if a part is missing."""
    analysis = read_answer(Analysis, answer)
    for area in analysis.areas:
        require_fields("an area", area, "name", "question", "assumption")
    count = len(analysis.areas)
    if not 1 <= count <= MAX_AREAS:
        raise ArtefactFault(f"expected one to {MAX_AREAS} areas, there are {count}")
    if len({area.name.casefold() for area in analysis.areas}) < count:
        raise ArtefactFault("two areas have the same name")
    return analysis


def read_advice(answer: Mapping[str, object]) -> Advice:
    """Read the answer of an advisor; raise if options, scores and recommendation do not fit."""
    advice = read_answer(Advice, answer)
    names = [option.name for option in advice.options]
    for option in advice.options:
        require_fields("an option", option, "name")
        if not option.has_scores:
            criteria = ", ".join(CRITERIA)
            raise ArtefactFault(f"an option needs scores from 1 to {_BEST_SCORE} for {criteria}")
    if len(names) < 2 or len(set(names)) < len(names):
        raise ArtefactFault("expected two options or more, each with a different name")
    if advice.recommended not in names:
        raise ArtefactFault(f"the recommended {advice.recommended!r} is not an option")
    best = sorted(advice.options, key=lambda each: (each.name != advice.recommended, -each.score))
    return replace(advice, options=tuple(best))


# -- the workflow --------------------------------------------------------------------------------


class PhaseDiscussion:
    """Discusses the phases of one project."""

    def __init__(self, jobs: Workflows, documents: PhaseDocuments) -> None:
        self._jobs = jobs
        self._documents = documents

    def preview(
        self, number: str, models: Mapping[str, str], *, again: bool, is_rehearsed: bool = False
    ) -> WorkflowPreview:
        """Show which roles would be asked; raise if the phase is discussed already."""
        frontmatter.prepare()
        subject = self._documents.subject(number)
        resumes = self._jobs.unfinished(_purpose(subject), is_rehearsed=is_rehearsed)
        if subject.artefact("CONTEXT") and not again and not resumes:
            raise ContextThere(subject.id.short, subject.path("CONTEXT"))
        area = Area("an area", "what has to be decided", "what would be done")
        requests = [_analysis_request(subject)]
        requests += [_advice_request(subject, area, at) for at in range(_USUAL_AREAS)]
        calls = tuple(call_preview(request, models) for request in requests)
        return WorkflowPreview(calls, resumes, subject.id.short, subject.name, subject.goal)

    def carry_out(self, number: str, setup: JobSetup) -> WorkflowReport:
        """Discuss a phase, or resume its discussion."""
        frontmatter.prepare()
        subject = self._documents.subject(number)

        def work(context: WorkflowContext) -> WorkflowEnd:
            return self._documents.run_as_active(
                subject, "discuss", lambda: self._discuss(context, subject)
            )

        return self._jobs.run(_purpose(subject), setup, work)

    def _discuss(self, context: WorkflowContext, subject: PhaseSubject) -> WorkflowEnd:
        calls = RoleCalls(context)
        reply = calls.call(_analysis_request(subject), lambda answer: read_analysis(answer.fields))
        if reply.value is None:
            note = f"assumptions-analyzer: {reply.note}"
            return WorkflowEnd(JobStatus.FAILED, note, is_over=False)
        analysis = reply.value
        advised = calls.all(
            [
                (_advice_request(subject, area, at), lambda answer: read_advice(answer.fields))
                for at, area in enumerate(analysis.areas, 1)
            ]
        )
        choices = [
            _choice(context, name, area, reply.value)
            for name, area, reply in zip(
                _question_names(analysis), analysis.areas, advised, strict=True
            )
        ]
        text = _context_text(context, subject, analysis, choices)
        path = subject.path("CONTEXT")
        kept = context.put_aside({path: subject.artefact("CONTEXT")}, {path: text})
        event = f"Phase {subject.id.short} context gathered"
        written = self._documents.write_artefact(subject, "CONTEXT", text, event, is_last=True)
        message = f"docs({subject.padded}): context of phase {subject.id.short}"
        note = f"{len(choices)} decisions{kept}"
        return WorkflowEnd(JobStatus.DONE, note, written.paths, message)


def _purpose(subject: PhaseSubject) -> JobPurpose:
    command = f"fairlead phase discuss {subject.id.short}"
    return JobPurpose("discuss", subject.padded, command, workstream=subject.workstream)


def _analysis_request(subject: PhaseSubject) -> RoleRequest:
    pieces = {
        "project": subject.project,
        "phase": subject.section_text,
        "requirements": subject.requirements_text,
        "earlier": subject.artefact("CONTEXT"),
    }
    words = {"phase": subject.id.short}
    return RoleRequest(role("assumptions-analyzer"), "assumptions", pieces, words)


def _advice_request(subject: PhaseSubject, area: Area, number: int) -> RoleRequest:
    text = f"{area.name}: {area.question}\nAssumed: {area.assumption}\nBecause: {area.why}"
    pieces = {
        "area": text,
        "phase": subject.details.section,
        "requirements": subject.requirements_text,
    }
    words = {"phase": subject.id.short, "area": str(number)}
    return RoleRequest(role("advisor-researcher"), f"advice-{number}", pieces, words)


def _choice(context: WorkflowContext, name: str, area: Area, advice: Advice | None) -> Choice:
    """Let a person choose for one area, or take the recommendation if a policy answers."""
    if advice is None:  # the advisor failed, so the assumption is the only option
        names: tuple[str, ...] = (area.assumption,)
        text = f"{area.name}: {area.question} Assumed: {area.assumption}"
    else:
        names = tuple(option.name for option in advice.options)
        scores = ", ".join(f"{option.name} {option.score}/20" for option in advice.options)
        text = f"{area.name}: {area.question} ({scores}; recommended: {names[0]})"
    pending = PendingQuestion(name, text, (*names, f"{OTHER} your words"), names[0])
    question = answered_question(context, pending)
    answer = question.answer
    chosen = answer.removeprefix(OTHER).strip() if answer.startswith(OTHER) else answer
    options = advice.options if advice else ()
    return Choice(
        area.name,
        area.question,
        tuple((option.name, option.pros, option.cons, option.score) for option in options),
        chosen,
        advice.rationale if advice and chosen == advice.recommended else area.why,
        area.assumption,
        area.confidence,
        question.by,
        area.if_wrong,
    )


def _question_names(analysis: Analysis) -> list[str]:
    """A distinct question name per area; a name in another script may have an empty slug."""
    names = [f"area-{slug(area.name)[:_MAX_NAME]}" for area in analysis.areas]
    return [
        name if names.count(name) == 1 and name != "area-" else f"{name}-{at}"
        for at, name in enumerate(names, 1)
    ]


def _context_text(
    context: WorkflowContext, subject: PhaseSubject, analysis: Analysis, choices: list[Choice]
) -> str:
    decisions = tuple(
        ContextDecision(f"D-{at:02d}", f"{choice.area}: {choice.chosen}", choice.area)
        for at, choice in enumerate(choices, 1)
    )
    phase_context = PhaseContext(
        f"Phase {subject.id.short}: {subject.name}",
        analysis.boundary,
        decisions,
        tuple(choices),
        analysis.references,
        analysis.insights,
        analysis.deferred,
    )
    folder = subject.folder.rpartition("/")[2]
    text = new_context(phase_context, folder, context.job.started_at[:10])
    read_context(subject.path("CONTEXT"), text)  # raises if an answer broke the document
    return mark_rehearsed(text) if context.job.is_rehearsed else text
