"""`new`: an idea becomes a project: questions, research in four directions, requirements, roadmap.

Nothing is written into the project's memory before everything is there; then all documents are
made in one step. Until then the job's folder holds what was asked and answered.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairlead.engine.codebase import map_documents, mapped
from fairlead.engine.new_asks import (
    product_ask,
    research_ask,
    roadmap_ask,
    synthesis_ask,
    vision_ask,
)
from fairlead.engine.plan_asks import Receipt, receipt
from fairlead.engine.role_calls import Given, RoleCalls, document
from fairlead.engine.role_jobs import Errand, Outcome, RoleJobs, RoleReport
from fairlead.engine.role_site import Company, RoleSite, Wish, asked, digest_of
from fairlead.engine.templates import NewProject, filled, values_of
from fairlead.errors import NoIdea, ProjectExists
from fairlead.model.budget import Spent
from fairlead.model.ids import slug
from fairlead.model.job import CHANGE, OTHER, JobStatus, Question, QuestionKind
from fairlead.records.artefacts import rehearsed
from fairlead.records.codebase import CodeMap, told
from fairlead.records.config import update_setting
from fairlead.records.product import Product, Vision, new_project, read_product, read_vision
from fairlead.records.requirements_sheet import new_requirements, read_requirements, require_mapped
from fairlead.records.roadmap_check import RoadmapPhase, whole_roadmap
from fairlead.records.state import moment
from fairlead.store import layout, layout_daily
from fairlead.store.files import Draft, Edit
from fairlead.store.intent import Places
from fairlead.store.layout_roles import DIMENSIONS, research_path
from fairlead.text import front
from fairlead.values import dataclass, replace

COMMAND = "fairlead new"
ERRAND = Errand("new", "", COMMAND)
MOST_CHANGES = 3  # of requirements or roadmap, by a person
_LONGEST = 1500  # characters of a question
_RESEARCH = tuple(map(research_path, (*DIMENSIONS, "SUMMARY")))
_MADE = (layout.PROJECT, layout.REQUIREMENTS, layout.ROADMAP, layout.STATE, *_RESEARCH)


@dataclass(frozen=True, slots=True)
class NewPreview:
    """What making a project would mean."""

    receipts: tuple[Receipt, ...]
    resumes: str

    @property
    def estimate(self) -> Spent:
        """Of all roles, each asked once."""
        return sum((each.estimate for each in self.receipts), Spent())


@dataclass(frozen=True, slots=True)
class _Found:
    """What the roles have found out so far."""

    vision: Vision
    answers: str
    research: Mapping[str, str]


class NewProjects:
    """Makes a project in one folder."""

    def __init__(self, jobs: RoleJobs, granularity: str = "standard") -> None:
        self._jobs = jobs
        self._granularity = granularity

    def preview(
        self, idea: str, models: Mapping[str, str], *, is_rehearsed: bool = False
    ) -> NewPreview:
        """Look at what would be asked, of whom, and what stands in the way."""
        front.prepare()
        resumes = self._jobs.unfinished(ERRAND, is_rehearsed=is_rehearsed)
        there = [path for path in _MADE if self._jobs.files.exists(path)]
        if there and not resumes:  # said before anybody is paid
            raise ProjectExists(there[0])
        if not idea and not resumes:
            raise NoIdea
        rough = "x" * 3000
        asks = [
            vision_ask(idea),
            *(research_ask(each, idea, rough) for each in DIMENSIONS),
            synthesis_ask(dict.fromkeys(DIMENSIONS, rough), ""),
            product_ask(idea, "", rough, "", "", 1),
            roadmap_ask("", rough, rough, self._granularity, "", 1),
        ]
        return NewPreview(tuple(receipt(each, models) for each in asks), resumes)

    def carry_out(self, idea: str, company: Company) -> RoleReport:
        """Make the project, or go on with it."""
        front.prepare()
        return self._jobs.run(ERRAND, company, lambda site: self._made(site, _idea(site, idea)))

    def _made(self, site: RoleSite, idea: str) -> Outcome:
        calls = RoleCalls(site)
        idea = _beside_code(idea, mapped(self._jobs.files))
        understood = calls.call(vision_ask(idea), lambda given: read_vision(given.answer))
        if understood.value is None:
            return _failed("pm", understood.note)
        vision = understood.value
        answers = _answers(site, vision)
        brief = f"{vision.title}: {vision.what}\nCore value: {vision.core_value}"
        brief = _beside_code(brief, mapped(self._jobs.files))
        research = self._researched(site, calls, brief, answers)
        if isinstance(research, Outcome):
            return research
        today = site.job.started_at[:10]
        summary = calls.call(synthesis_ask(research, today), document("SUMMARY", "SUMMARY.md"))
        if summary.value is None:
            return _failed("research-synthesizer", summary.note)
        found = _Found(vision, answers, {**research, "SUMMARY": summary.value})
        return self._agreed(site, calls, idea, found)

    def _researched(
        self, site: RoleSite, calls: RoleCalls, brief: str, answers: str
    ) -> dict[str, str] | Outcome:
        """What each direction gave; one that gave nothing is gone without, if that is wanted."""
        asks = {each: research_ask(each, brief, answers) for each in DIMENSIONS}
        said = {each.subject: each.answer for each in site.jobs.load_questions()}
        if said.get("research") == "continue":  # who did not answer is not paid again
            kept = {call.key for call in site.jobs.load_calls() if call.is_ok}
            asks = {each: ask for each, ask in asks.items() if ask.key in kept}
        replies = calls.all([(ask, document(each, f"{each}.md")) for each, ask in asks.items()])
        found = {
            each: reply.value
            for each, reply in zip(asks, replies, strict=True)
            if reply.value is not None
        }
        missing = [each for each in DIMENSIONS if each not in found]
        text = f"there is no research of {', '.join(missing)}: go on without it?"
        wish = Wish("research", text, ("continue", "stop"), "continue")
        if missing and asked(site, wish) == "stop":
            notes = (reply.note for reply in replies if reply.note)
            return Outcome(JobStatus.FAILED, f"project-researcher: {next(notes, text)}")
        return found

    def _agreed(self, site: RoleSite, calls: RoleCalls, idea: str, found: _Found) -> Outcome:
        """Requirements and a roadmap that a person agrees with, and then all documents."""
        summary = found.research["SUMMARY"]
        change, before = "", ""
        for number in range(1, MOST_CHANGES + 2):
            ask = product_ask(idea, found.answers, summary, before, change, number)
            wanted = calls.call(ask, lambda given: read_product(given.answer, found.vision.title))
            if wanted.value is None:
                return _failed("pm", wanted.note)
            sheet = wanted.value.requirements
            before = "\n".join(f"{each.id}: {each.text}" for each in sheet.now)
            shown = f"{len(sheet.now)} requirements for v1, {len(sheet.later)} for later: {before}"
            change = _approved(site, f"requirements-{number}", shown)
            if not change:
                return self._mapped(site, calls, found, wanted.value)
        return _failed("pm", "the requirements were changed too often")

    def _mapped(self, site: RoleSite, calls: RoleCalls, found: _Found, product: Product) -> Outcome:
        today = site.job.started_at[:10]
        title = found.vision.title
        project = new_project(title, product, today)
        ids = [each.id for each in product.requirements.now]
        listed = "\n".join(f"{each.id}: {each.text}" for each in product.requirements.now)
        change = ""
        for number in range(1, MOST_CHANGES + 2):
            ask = roadmap_ask(
                title, f"{project}\n{listed}", found.research["SUMMARY"], self._granularity,
                change, number,
            )  # fmt: skip
            reply = calls.call(ask, lambda given: _roadmap(given, ids))
            if reply.value is None:
                return _failed("roadmapper", reply.note)
            text, phases = reply.value
            shown = "; ".join(f"{each.id.short}. {each.name}: {each.goal}" for each in phases)
            change = _approved(site, f"roadmap-{number}", f"{len(phases)} phases: {shown}")
            if not change:
                texts = self._documents(site, found, product, project, text, phases)
                return self._written(site, texts, phases, title)
        return _failed("roadmapper", "the roadmap was changed too often")

    def _documents(
        self,
        site: RoleSite,
        found: _Found,
        product: Product,
        project: str,
        roadmap: str,
        phases: tuple[RoadmapPhase, ...],
    ) -> dict[str, str]:
        """Every document of the project, by path."""
        now = self._jobs.clock.now()
        home = {each: phase.id.short for phase in phases for each in phase.requirements}
        sheet = new_requirements(product.requirements, home, site.job.started_at[:10])
        require_mapped(read_requirements(layout.REQUIREMENTS, sheet), layout.REQUIREMENTS)
        values = values_of(
            NewProject(
                found.vision.title, first_phase=phases[0].name, core_value=product.core_value
            ),
            now,
        )
        count = len(phases)
        more = {"total_phases": str(count), "position": f"1 of {count} ({phases[0].name})"}
        texts = {
            layout.PROJECT: project,
            layout.REQUIREMENTS: sheet,
            layout.ROADMAP: roadmap,
            **{research_path(each): text for each, text in found.research.items()},
        }
        if site.job.is_rehearsed:
            texts = {path: rehearsed(text) for path, text in texts.items()}
        return {
            **texts,
            **map_documents(mapped(self._jobs.files), now),
            layout.CONFIG: filled("config.json", values),
            layout.STATE: filled("STATE.gsd.md", {**values, **more}),
        }

    def _written(
        self, site: RoleSite, texts: Mapping[str, str], phases: tuple[RoadmapPhase, ...], title: str
    ) -> Outcome:
        first = f"{layout.PHASES}/{phases[0].id.padded}-{slug(phases[0].name) or 'phase'}"

        def decide() -> Draft:
            edits: dict[str, Edit] = {path: _creating(path, text) for path, text in texts.items()}
            # Settings may be there before the project is.
            config = texts[layout.CONFIG]
            edits[layout.CONFIG] = lambda old: _config(old or config, self._granularity)
            return Draft(edits, Places(folders=(layout.PHASES, first)), frozenset(edits))

        written = self._jobs.files.carry_out(decide, command=COMMAND, may_create=True)
        note = f"{title}: {len(phases)} phases"
        message = f"docs: the beginning of {title}"
        return Outcome(JobStatus.DONE, note, tuple(sorted(written.paths)), message)


def _idea(site: RoleSite, idea: str) -> str:
    """The idea, as it is given now or was given when the job began."""
    question = Question("choice-idea", QuestionKind.CHOICE, "idea", "what is to be made?")
    held = next((each for each in site.jobs.load_questions() if each.id == question.id), question)
    if idea and idea != held.answer:
        now = moment(site.clock.now())
        held = replace(held, answer=idea, asked_at=held.asked_at or now, answered_at=now)
        site.jobs.save_question(held)
    return held.answer


def _beside_code(text: str, code: CodeMap) -> str:
    """What is wanted, and what is there already: a project may begin in the middle of its code."""
    return f"{text}\n\nThis code is there already:\n{told(code)}" if code.is_code else text


def _answers(site: RoleSite, vision: Vision) -> str:
    lines = []
    for number, topic in enumerate(vision.topics, 1):
        options = (*topic.options, f"{OTHER} your words")
        wish = Wish(f"topic-{number}", topic.question, options, topic.options[0])
        answer = asked(site, wish).removeprefix(OTHER).strip()
        lines.append(f"{topic.question} {answer}")
    return "\n".join(lines)


def _approved(site: RoleSite, subject: str, told: str) -> str:
    """Empty if a person agrees; else what is to be changed."""
    shown = told if len(told) <= _LONGEST else f"{told[:_LONGEST]} …"
    options = ("agree", f"{CHANGE} what to change")
    answer = asked(site, Wish(subject, f"{shown} Agree?", options, "agree", about=digest_of(told)))
    return answer.removeprefix(CHANGE).strip() if answer.startswith(CHANGE) else ""


def _roadmap(given: Given, ids: list[str]) -> tuple[str, tuple[RoadmapPhase, ...]]:
    text = given.documents.get("ROADMAP.md", "")
    return text, whole_roadmap("ROADMAP.md", text, ids, 1)


def _config(text: str, granularity: str) -> str:
    """The settings of the project; what only other tools do is switched off by name."""
    text = update_setting(text, "granularity", granularity)
    for key in ("workflow.nyquist_validation", "workflow.ai_integration_phase"):
        text = update_setting(text, key, value=False)
    return text


def _creating(path: str, text: str) -> Edit:
    def edit(old: str) -> str:
        is_kept = path == layout.STATE or path.startswith(f"{layout_daily.CODEBASE}/")
        if old and old != text and not is_kept:
            raise ProjectExists(path)
        return old or text

    return edit


def _failed(role: str, note: str) -> Outcome:
    note = f"{role}: {note or 'gave nothing'}"
    return Outcome(JobStatus.FAILED, note, is_over=False)  # what others gave is not lost
