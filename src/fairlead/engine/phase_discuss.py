"""`phase discuss`: what a phase takes for granted, the ways to do it, and what a person decides.

One analyser looks for what is open, an advisor for each area compares the ways, all at once; each
area is a question with the recommended way first. The answers become CONTEXT.md, by which the
phase is planned and its plans are judged.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairlead.engine.phase_documents import PhaseDocuments, Subject
from fairlead.engine.plan_asks import Receipt, receipt
from fairlead.engine.role_calls import Ask, RoleCalls
from fairlead.engine.role_jobs import Errand, Outcome, RoleJobs, RoleReport
from fairlead.engine.role_site import Company, RoleSite, Wish, settled
from fairlead.errors import ContextThere
from fairlead.model.budget import Spent
from fairlead.model.ids import slug
from fairlead.model.job import OTHER, JobStatus
from fairlead.model.roles import role
from fairlead.records.advice import Advice, Analysis, Area, read_advice, read_analysis
from fairlead.records.artefacts import rehearsed
from fairlead.records.context import Choice, Context, Decision, new_context, read_context
from fairlead.text import front
from fairlead.values import dataclass

_USUAL_AREAS = 3
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class DiscussPreview:
    """What discussing a phase would mean."""

    phase: str
    name: str
    goal: str
    receipts: tuple[Receipt, ...]
    resumes: str

    @property
    def estimate(self) -> Spent:
        """With as many advisors as there usually are areas."""
        return sum((each.estimate for each in self.receipts), Spent())


class PhaseDiscussion:
    """Discusses the phases of one project."""

    def __init__(self, jobs: RoleJobs, documents: PhaseDocuments) -> None:
        self._jobs = jobs
        self._documents = documents

    def preview(
        self, number: str, models: Mapping[str, str], *, again: bool, is_rehearsed: bool = False
    ) -> DiscussPreview:
        """Look at what would be asked, of whom."""
        front.prepare()
        subject = self._documents.subject(number)
        resumes = self._jobs.unfinished(errand(subject), is_rehearsed=is_rehearsed)
        if subject.artefact("CONTEXT") and not again and not resumes:
            raise ContextThere(subject.id.short, subject.path("CONTEXT"))
        area = Area("an area", "what has to be decided", "what would be done")
        asks = [_analysis_ask(subject)]
        asks += [_advice_ask(subject, area, at) for at in range(_USUAL_AREAS)]
        return DiscussPreview(
            subject.id.short,
            subject.name,
            subject.goal,
            tuple(receipt(each, models) for each in asks),
            resumes,
        )

    def carry_out(self, number: str, company: Company) -> RoleReport:
        """Discuss a phase, or go on with it."""
        front.prepare()
        subject = self._documents.subject(number)

        def work(site: RoleSite) -> Outcome:
            here = self._documents
            return here.worked_on(subject, "discuss", lambda: self._discussed(site, subject))

        return self._jobs.run(errand(subject), company, work)

    def _discussed(self, site: RoleSite, subject: Subject) -> Outcome:
        calls = RoleCalls(site)
        found = calls.call(_analysis_ask(subject), lambda given: read_analysis(given.answer))
        if found.value is None:
            note = f"assumptions-analyzer: {found.note}"
            return Outcome(JobStatus.FAILED, note, is_over=False)
        analysis = found.value
        advised = calls.all(
            [
                (_advice_ask(subject, area, at), lambda given: read_advice(given.answer))
                for at, area in enumerate(analysis.areas, 1)
            ]
        )
        choices = [
            self._chosen(site, name, area, reply.value)
            for name, area, reply in zip(_names(analysis), analysis.areas, advised, strict=True)
        ]
        text = _text(site, subject, analysis, choices)
        told = f"Phase {subject.id.short} context gathered"
        path = subject.path("CONTEXT")
        kept = site.put_aside({path: subject.artefact("CONTEXT")}, {path: text})
        written = self._documents.write_artefact(subject, "CONTEXT", text, told, is_last=True)
        message = f"docs({subject.padded}): context of phase {subject.id.short}"
        note = f"{len(choices)} decisions{kept}"
        return Outcome(JobStatus.DONE, note, written.paths, message)

    def _chosen(self, site: RoleSite, subject: str, area: Area, advice: Advice | None) -> Choice:
        """One area decided: by a person, or by the recommendation where a policy answers."""
        if advice is None:  # nobody could compare: what the analyser assumed is all there is
            names: tuple[str, ...] = (area.assumption,)
            told = f"{area.name}: {area.question} Assumed: {area.assumption}"
        else:
            names = tuple(each.name for each in advice.options)
            scores = ", ".join(f"{each.name} {each.score}/20" for each in advice.options)
            told = f"{area.name}: {area.question} ({scores}; recommended: {names[0]})"
        wish = Wish(subject, told, (*names, f"{OTHER} your words"), names[0])
        held = settled(site, wish)
        answer = held.answer
        chosen = answer.removeprefix(OTHER).strip() if answer.startswith(OTHER) else answer
        options = advice.options if advice else ()
        return Choice(
            area.name,
            area.question,
            tuple((each.name, each.pros, each.cons, each.score) for each in options),
            chosen,
            advice.rationale if advice and chosen == advice.recommended else area.why,
            area.assumption,
            area.confidence,
            held.by,
            area.if_wrong,
        )


def _names(analysis: Analysis) -> list[str]:
    """A name for the question of each area: two areas never share one, whatever their script."""
    names = [f"area-{slug(each.name)[:_LONGEST_NAME]}" for each in analysis.areas]
    return [
        name if names.count(name) == 1 and name != "area-" else f"{name}-{at}"
        for at, name in enumerate(names, 1)
    ]


def errand(subject: Subject) -> Errand:
    """What discussing a phase is, as a job."""
    command = f"fairlead phase discuss {subject.id.short}"
    return Errand("discuss", subject.padded, command, workstream=subject.workstream)


def _analysis_ask(subject: Subject) -> Ask:
    pieces = {**_known(subject), "earlier": subject.artefact("CONTEXT")}
    return Ask(role("assumptions-analyzer"), "assumptions", pieces, {"phase": subject.id.short})


def _advice_ask(subject: Subject, area: Area, number: int) -> Ask:
    told = f"{area.name}: {area.question}\nAssumed: {area.assumption}\nBecause: {area.why}"
    words = {"phase": subject.id.short, "area": str(number)}
    pieces = {"area": told, "phase": subject.told.section, "requirements": _wanted(subject)}
    return Ask(role("advisor-researcher"), f"advice-{number}", pieces, words)


def _known(subject: Subject) -> dict[str, str]:
    phase = subject.told.section or f"Phase {subject.id.short}: {subject.name}"
    return {"project": subject.project, "phase": phase, "requirements": _wanted(subject)}


def _wanted(subject: Subject) -> str:
    return "\n".join(f"{name}: {text}" for name, text in subject.requirements)


def _text(site: RoleSite, subject: Subject, analysis: Analysis, choices: list[Choice]) -> str:
    decisions = tuple(
        Decision(f"D-{at:02d}", f"{each.area}: {each.chosen}", each.area)
        for at, each in enumerate(choices, 1)
    )
    context = Context(
        f"Phase {subject.id.short}: {subject.name}",
        analysis.boundary,
        decisions,
        tuple(choices),
        analysis.references,
        analysis.insights,
        analysis.deferred,
    )
    text = new_context(context, subject.folder.rpartition("/")[2], site.job.started_at[:10])
    read_context(
        subject.path("CONTEXT"), text
    )  # what we wrote has to be readable, whatever was said
    return rehearsed(text) if site.job.is_rehearsed else text
