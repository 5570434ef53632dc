"""`new`: create a project from an idea: questions, research, requirements, roadmap.

Nothing is written to `.planning` before everything is known; then one transaction creates all
documents. Until then the answers are in the job's folder.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairlead.core.ids import slug
from fairlead.core.values import dataclass, replace
from fairlead.jobs.context import JobSetup
from fairlead.jobs.model import CHANGE, OTHER, JobStatus, Question, QuestionKind
from fairlead.jobs.paths import DIMENSIONS, research_path
from fairlead.jobs.prompts import word
from fairlead.project.errors import ProjectExists
from fairlead.project.first_documents import NewProject, filled, values_of
from fairlead.project.paths import PHASES
from fairlead.store import layout
from fairlead.store.configuration import update_setting
from fairlead.store.files import ChangeSet, Edit
from fairlead.store.intent import TreeChanges
from fairlead.text import frontmatter
from fairlead.workflows import paths
from fairlead.workflows.artefacts import mark_rehearsed
from fairlead.workflows.codebase import map_code, map_documents, summary_of
from fairlead.workflows.errors import NoIdea
from fairlead.workflows.new_documents import (
    Product,
    RoadmapPhase,
    Vision,
    new_project,
    new_requirements,
    read_new_roadmap,
    read_product,
    read_requirements,
    read_vision,
    require_mapped,
)
from fairlead.workflows.questions import PendingQuestion, WorkflowContext, answer_to, digest_of
from fairlead.workflows.role_calls import (
    RoleAnswer,
    RoleCalls,
    RoleRequest,
    WorkflowPreview,
    call_preview,
    document,
)
from fairlead.workflows.roles import role
from fairlead.workflows.service import JobPurpose, WorkflowEnd, WorkflowReport, Workflows

COMMAND = "fairlead new"
PURPOSE = JobPurpose("new", "", COMMAND)
MAX_CHANGES = 3  # how often a person may change requirements or roadmap
_MAX_SHOWN = 1500  # characters of a question
_TYPICAL_LENGTH = 3000  # characters of a document that does not exist yet
_RESEARCH = tuple(map(research_path, (*DIMENSIONS, "SUMMARY")))
_CREATED = (layout.PROJECT, layout.REQUIREMENTS, layout.ROADMAP, layout.STATE, *_RESEARCH)

# For each direction of research: the question, and the headings of the document.
_DIMENSION_PROMPTS: Mapping[str, tuple[str, str]] = {
    "STACK": (
        "What should it be built with, and what not? Languages, libraries, versions, tools.",
        (
            "    # Technology Stack\n\n    ## Recommended Stack\n    Each with version, purpose and"
            " reason.\n\n    ## Alternatives Considered\n    And why not."
        ),
    ),
    "FEATURES": (
        "What do users expect of such a product, what sets it apart, what should be left out?",
        (
            "    # Feature Landscape\n\n    ## Table Stakes\n    What users miss if it is absent.\n\n"
            "    ## Differentiators\n    What is valued though not expected.\n\n    ## Anti-Features\n"
            "    What not to build, and why."
        ),
    ),
    "ARCHITECTURE": (
        "How are such systems divided, which parts communicate, what has to be built first?",
        (
            "    # Architecture Patterns\n\n    ## Recommended Architecture\n    Parts, boundaries,"
            " data flow, build order.\n\n    ## Patterns to Follow\n    And those to avoid."
        ),
    ),
    "PITFALLS": (
        "What goes wrong in such projects, what are the early signs, how is it prevented?",
        (
            "    # Domain Pitfalls\n\n    ## Critical Pitfalls\n    Those that cost a rewrite: what, why,"
            " prevention, in which phase.\n\n    ## Moderate Pitfalls\n    Those that cost time."
        ),
    ),
}
_PHASE_COUNTS = {
    "coarse": "Make three to five phases, fewer for a small project.",
    "standard": "Make five to eight phases, fewer for a small project.",
    "fine": "Make eight to twelve phases, fewer for a small project.",
}


@dataclass(frozen=True, slots=True)
class _Findings:
    """What is known before requirements are written."""

    vision: Vision
    answers: str
    research: Mapping[str, str]


class NewProjects:
    """Creates a project in one folder."""

    def __init__(self, jobs: Workflows, granularity: str = "standard") -> None:
        self._jobs = jobs
        self._granularity = granularity

    def preview(
        self, idea: str, models: Mapping[str, str], *, is_rehearsed: bool = False
    ) -> WorkflowPreview:
        """Show which roles would be asked; raise if there is a project or no idea."""
        frontmatter.prepare()
        resumes = self._jobs.unfinished(PURPOSE, is_rehearsed=is_rehearsed)
        existing = [path for path in _CREATED if self._jobs.files.exists(path)]
        if existing and not resumes:  # before anything is spent
            raise ProjectExists(existing[0])
        if not idea and not resumes:
            raise NoIdea
        typical = "x" * _TYPICAL_LENGTH
        requests = [
            _vision_request(idea),
            *(_research_request(dimension, idea, typical) for dimension in DIMENSIONS),
            _synthesis_request(dict.fromkeys(DIMENSIONS, typical), ""),
            _product_request(idea, "", typical, "", "", 1),
            self._roadmap_request("", typical, typical, "", 1),
        ]
        return WorkflowPreview(tuple(call_preview(each, models) for each in requests), resumes)

    def carry_out(self, idea: str, setup: JobSetup) -> WorkflowReport:
        """Create the project, or resume an unfinished run."""
        frontmatter.prepare()
        return self._jobs.run(
            PURPOSE, setup, lambda context: self._create(context, _remembered_idea(context, idea))
        )

    def _create(self, context: WorkflowContext, idea: str) -> WorkflowEnd:
        calls = RoleCalls(context)
        idea = self._with_code(idea)
        understood = calls.call(_vision_request(idea), lambda answer: read_vision(answer.fields))
        if understood.value is None:
            return _failed("pm", understood.note)
        vision = understood.value
        answers = _topic_answers(context, vision)
        brief = f"{vision.title}: {vision.what_this_is}\nCore value: {vision.core_value}"
        research = self._research(context, calls, self._with_code(brief), answers)
        if isinstance(research, WorkflowEnd):
            return research
        request = _synthesis_request(research, context.job.started_at[:10])
        summary = calls.call(request, document("SUMMARY", "SUMMARY.md"))
        if summary.value is None:
            return _failed("research-synthesizer", summary.note)
        findings = _Findings(vision, answers, {**research, "SUMMARY": summary.value})
        return self._agree_requirements(context, calls, idea, findings)

    def _with_code(self, text: str) -> str:
        """Add a summary of the existing code: a project may begin in the middle of it."""
        code = map_code(self._jobs.files)
        return f"{text}\n\nThis code exists already:\n{summary_of(code)}" if code.is_code else text

    def _research(
        self, context: WorkflowContext, calls: RoleCalls, brief: str, answers: str
    ) -> dict[str, str] | WorkflowEnd:
        """Research every direction; a person may continue without one that failed."""
        requests = {each: _research_request(each, brief, answers) for each in DIMENSIONS}
        given = {each.subject: each.answer for each in context.folder.load_questions()}
        if given.get("research") == "continue":  # a role that failed is not paid again
            recorded = {call.key for call in context.folder.load_calls() if call.is_ok}
            requests = {each: ask for each, ask in requests.items() if ask.key in recorded}
        replies = calls.all(
            [(request, document(each, f"{each}.md")) for each, request in requests.items()]
        )
        research = {
            dimension: reply.value
            for dimension, reply in zip(requests, replies, strict=True)
            if reply.value is not None
        }
        missing = [dimension for dimension in DIMENSIONS if dimension not in research]
        text = f"there is no research on {', '.join(missing)}: continue without it?"
        pending = PendingQuestion("research", text, ("continue", "stop"), "continue")
        if missing and answer_to(context, pending) == "stop":
            notes = (reply.note for reply in replies if reply.note)
            return WorkflowEnd(JobStatus.FAILED, f"project-researcher: {next(notes, text)}")
        return research

    def _agree_requirements(
        self, context: WorkflowContext, calls: RoleCalls, idea: str, findings: _Findings
    ) -> WorkflowEnd:
        """Ask for requirements until a person agrees, then continue with the roadmap."""
        change, before = "", ""
        for number in range(1, MAX_CHANGES + 2):
            request = _product_request(
                idea, findings.answers, findings.research["SUMMARY"], before, change, number
            )
            reply = calls.call(
                request, lambda answer: read_product(answer.fields, findings.vision.title)
            )
            if reply.value is None:
                return _failed("pm", reply.note)
            requirements = reply.value.requirements
            before = "\n".join(f"{each.id}: {each.text}" for each in requirements.now)
            counts = f"{len(requirements.now)} requirements for v1, {len(requirements.later)}"
            change = _requested_change(
                context, f"requirements-{number}", f"{counts} for later: {before}"
            )
            if not change:
                return self._agree_roadmap(context, calls, findings, reply.value)
        return _failed("pm", "the requirements were changed too often")

    def _agree_roadmap(
        self, context: WorkflowContext, calls: RoleCalls, findings: _Findings, product: Product
    ) -> WorkflowEnd:
        """Ask for a roadmap until a person agrees, then write all documents."""
        title = findings.vision.title
        project = new_project(title, product, context.job.started_at[:10])
        now = product.requirements.now
        ids = [each.id for each in now]
        listed = "\n".join(f"{each.id}: {each.text}" for each in now)
        change = ""
        for number in range(1, MAX_CHANGES + 2):
            request = self._roadmap_request(
                title, f"{project}\n{listed}", findings.research["SUMMARY"], change, number
            )
            reply = calls.call(request, lambda answer: _read_roadmap(answer, ids))
            if reply.value is None:
                return _failed("roadmapper", reply.note)
            roadmap, phases = reply.value
            shown = "; ".join(f"{each.id.short}. {each.name}: {each.goal}" for each in phases)
            change = _requested_change(
                context, f"roadmap-{number}", f"{len(phases)} phases: {shown}"
            )
            if not change:
                texts = {layout.PROJECT: project, layout.ROADMAP: roadmap}
                return self._write(
                    title, phases, self._documents(context, findings, product, texts, phases)
                )
        return _failed("roadmapper", "the roadmap was changed too often")

    def _roadmap_request(
        self, title: str, project: str, summary: str, change: str, number: int
    ) -> RoleRequest:
        words = {
            "title": word(title),
            "milestone": "v1.0",
            "first": "1",
            "granularity": _PHASE_COUNTS.get(self._granularity, _PHASE_COUNTS["standard"]),
        }
        pieces = {"project": project, "research": summary}
        if change:
            pieces["change"] = change
        key = f"roadmap-{number}"
        return RoleRequest(role("roadmapper"), key, pieces, words, ("ROADMAP.md",))

    def _documents(
        self,
        context: WorkflowContext,
        findings: _Findings,
        product: Product,
        agreed: Mapping[str, str],
        phases: tuple[RoadmapPhase, ...],
    ) -> dict[str, str]:
        """Every document of the project by path."""
        now = self._jobs.clock.now()
        phase_of = {each: phase.id.short for phase in phases for each in phase.requirements}
        today = context.job.started_at[:10]
        requirements = new_requirements(product.requirements, phase_of, today)
        require_mapped(read_requirements(layout.REQUIREMENTS, requirements), layout.REQUIREMENTS)
        project = NewProject(
            findings.vision.title,
            first_phase=phases[0].name,
            core_value=product.answer.core_value,
        )
        values = values_of(project, now)
        count = len(phases)
        more = {"total_phases": str(count), "position": f"1 of {count} ({phases[0].name})"}
        texts = {
            **agreed,
            layout.REQUIREMENTS: requirements,
            **{research_path(each): text for each, text in findings.research.items()},
        }
        if context.job.is_rehearsed:
            texts = {path: mark_rehearsed(text) for path, text in texts.items()}
        return {
            **texts,
            **map_documents(map_code(self._jobs.files), now),
            layout.CONFIG: filled("config.json", values),
            layout.STATE: filled("STATE.gsd.md", {**values, **more}),
        }

    def _write(
        self, title: str, phases: tuple[RoadmapPhase, ...], texts: Mapping[str, str]
    ) -> WorkflowEnd:
        first = f"{PHASES}/{phases[0].id.padded}-{slug(phases[0].name) or 'phase'}"

        def decide() -> ChangeSet:
            edits: dict[str, Edit] = {path: _creation(path, text) for path, text in texts.items()}
            # The user may have made settings before the project existed.
            config = texts[layout.CONFIG]
            edits[layout.CONFIG] = lambda old: _configuration(old or config, self._granularity)
            return ChangeSet(edits, TreeChanges(folders=(PHASES, first)), frozenset(edits))

        written = self._jobs.files.carry_out(decide, command=COMMAND, may_create=True)
        note = f"{title}: {len(phases)} phases"
        message = f"docs: the beginning of {title}"
        return WorkflowEnd(JobStatus.DONE, note, tuple(sorted(written.paths)), message)


def _vision_request(idea: str) -> RoleRequest:
    return RoleRequest(role("pm"), "questions", {"idea": idea})


def _research_request(dimension: str, brief: str, answers: str) -> RoleRequest:
    question, form = _DIMENSION_PROMPTS[dimension]
    words = {"dimension": dimension, "question": question, "form": form}
    pieces = {"project": brief, "answers": answers}
    key = f"research-{dimension.lower()}"
    return RoleRequest(role("project-researcher"), key, pieces, words, (f"{dimension}.md",))


def _synthesis_request(research: Mapping[str, str], today: str) -> RoleRequest:
    pieces = {name.lower(): text for name, text in research.items()}
    synthesizer = role("research-synthesizer")
    return RoleRequest(synthesizer, "synthesis", pieces, {"today": today}, ("SUMMARY.md",))


def _product_request(
    idea: str, answers: str, summary: str, before: str, change: str, number: int
) -> RoleRequest:
    pieces = {"idea": idea, "answers": answers, "research": summary}
    if change:
        pieces |= {"earlier": before, "change": change}
    return RoleRequest(role("pm"), f"requirements-{number}", pieces, prompt="pm-requirements")


def _remembered_idea(context: WorkflowContext, idea: str) -> str:
    """The idea as given now, or as given when the job began."""
    empty = Question("choice-idea", QuestionKind.CHOICE, "idea", "what is to be made?")
    stored = context.folder.load_questions()
    question = next((each for each in stored if each.id == empty.id), empty)
    if idea and idea != question.answer:
        now = context.now()
        asked_at = question.asked_at or now
        question = replace(question, answer=idea, asked_at=asked_at, answered_at=now)
        context.folder.save_question(question)
    return question.answer


def _topic_answers(context: WorkflowContext, vision: Vision) -> str:
    lines = []
    for number, topic in enumerate(vision.questions, 1):
        options = (*topic.options, f"{OTHER} your words")
        pending = PendingQuestion(f"topic-{number}", topic.question, options, topic.options[0])
        answer = answer_to(context, pending).removeprefix(OTHER).strip()
        lines.append(f"{topic.question} {answer}")
    return "\n".join(lines)


def _requested_change(context: WorkflowContext, subject: str, text: str) -> str:
    """What a person wants changed; empty if they agree."""
    shown = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]} …"
    options = ("agree", f"{CHANGE} what to change")
    pending = PendingQuestion(subject, f"{shown} Agree?", options, "agree", about=digest_of(text))
    answer = answer_to(context, pending)
    return answer.removeprefix(CHANGE).strip() if answer.startswith(CHANGE) else ""


def _read_roadmap(answer: RoleAnswer, ids: list[str]) -> tuple[str, tuple[RoadmapPhase, ...]]:
    text = answer.documents.get("ROADMAP.md", "")
    return text, read_new_roadmap("ROADMAP.md", text, ids, 1)


def _configuration(text: str, granularity: str) -> str:
    """The settings, with features that only other tools have switched off by name."""
    text = update_setting(text, "granularity", granularity)
    for key in ("workflow.nyquist_validation", "workflow.ai_integration_phase"):
        text = update_setting(text, key, value=False)
    return text


def _creation(path: str, text: str) -> Edit:
    """Create a document; an existing STATE.md or code map stays, any other one is refused."""

    def edit(old: str) -> str:
        may_exist = path == layout.STATE or path.startswith(f"{paths.CODEBASE}/")
        if old and old != text and not may_exist:
            raise ProjectExists(path)
        return old or text

    return edit


def _failed(role_name: str, note: str) -> WorkflowEnd:
    # The job stays open, so that the answers of the other roles are used when it resumes.
    return WorkflowEnd(JobStatus.FAILED, f"{role_name}: {note or 'no answer'}", is_over=False)
