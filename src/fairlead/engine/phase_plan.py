"""`phase plan`: research, patterns, plans, and a checker until they pass or a person decides.

The next step is decided from what the job's folder holds, and the loop ends in one of three ways:
plans that passed, plans that a person took as they are, or plans that carry the mark which
`phase execute` refuses. There is no fourth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairlead.engine.phase_documents import PhaseDocuments, PlanDocument, Subject
from fairlead.engine.plan_asks import Draft, PlanAsks, Receipt, Wishes, receipt
from fairlead.engine.role_calls import Ask, Given, Reply, RoleCalls, document
from fairlead.engine.role_jobs import Errand, Outcome, RoleJobs, RoleReport
from fairlead.engine.role_site import Company, RoleSite, Wish, asked, digest_of
from fairlead.errors import PlansThere
from fairlead.model.budget import Spent
from fairlead.model.ids import stream_words
from fairlead.model.inventory import Proof
from fairlead.model.job import FIX, JobStatus
from fairlead.model.plan_rounds import (
    ABANDON,
    KEEP,
    PROCEED,
    PlanFacts,
    PlanStep,
    Round,
    next_step,
)
from fairlead.model.waves import schedule
from fairlead.records.artefacts import rehearsed
from fairlead.records.plan_faults import BLOCKER, Issue, issues_of, read_issues, read_objections
from fairlead.records.plan_sheet import CHECK, nodes_of
from fairlead.text import front
from fairlead.text.document import Document
from fairlead.values import dataclass, replace

_ROUGH_PLANS = 12_000  # characters that plans will probably have, before there are any

Reading = Callable[[Mapping[str, object]], tuple[Issue, ...]]


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """What planning a phase would mean."""

    phase: str
    name: str
    goal: str
    requirements: tuple[str, ...]
    folder: str
    has: tuple[str, ...]  # artefacts that are there
    receipts: tuple[Receipt, ...]
    resumes: str

    @property
    def estimate(self) -> Spent:
        """Of one round; each revision asks the last two roles again."""
        return sum((each.estimate for each in self.receipts), Spent())


class PhasePlanning:
    """Plans the phases of one project."""

    def __init__(self, jobs: RoleJobs, documents: PhaseDocuments) -> None:
        self._jobs = jobs
        self._documents = documents

    def preview(
        self, number: str, wishes: Wishes, models: Mapping[str, str], *, is_rehearsed: bool = False
    ) -> PlanPreview:
        """Look at what would be asked, of whom, and what stands in the way."""
        front.prepare()
        subject = self._documents.subject(number)
        resumes = self._jobs.unfinished(errand(subject), is_rehearsed=is_rehearsed)
        open_plans = [
            each.id for each in subject.plans if each.proof is Proof.NONE and not each.is_superseded
        ]
        if open_plans and not wishes.replan and not resumes:
            raise PlansThere(subject.id.short, tuple(open_plans))
        planning = PlanAsks(subject, wishes, self._jobs.clock.now().strftime("%Y-%m-%d"))
        rough = "x" * _ROUGH_PLANS
        asks = [planning.research_ask()] if planning.wants_research else []
        asks += [planning.patterns_ask("x" * 4000)] if planning.wants_patterns else []
        asks.append(planning.plan_ask(1, None, (), ""))
        asks += [planning.check_ask(1, rough)] if wishes.check else []
        asks += [planning.critic_ask(1, rough)] if wishes.check and wishes.critic else []
        return PlanPreview(
            subject.id.short,
            subject.name,
            subject.goal,
            subject.told.requirements,
            subject.folder,
            tuple(sorted(subject.artefacts or {})),
            tuple(receipt(each, models) for each in asks),
            resumes,
        )

    def carry_out(self, number: str, wishes: Wishes, company: Company) -> RoleReport:
        """Plan a phase, or go on with it."""
        front.prepare()
        subject = self._documents.subject(number)

        def work(site: RoleSite) -> Outcome:
            planning = PlanAsks(self._documents.subject(number), wishes, site.job.started_at[:10])
            return _Run(site, planning, self._documents).until_it_ends()

        return self._jobs.run(errand(subject), company, work)


def errand(subject: Subject) -> Errand:
    """What planning a phase is, as a job."""
    command = f"fairlead phase plan {subject.id.short}"
    return Errand("plan", subject.padded, command, workstream=subject.workstream)


@dataclass(slots=True)
class _State:
    """What the rounds have come to, as the calls tell it."""

    drafts: list[Draft]
    issues: list[tuple[Issue, ...]]  # of each round, ours and the checker's
    rounds: list[Round]


class _Run:
    """One run over the steps; it holds nothing that the job's folder does not."""

    def __init__(self, site: RoleSite, planning: PlanAsks, documents: PhaseDocuments) -> None:
        self._site = site
        self._planning = planning
        self._documents = documents
        self._calls = RoleCalls(site)
        # What a person goes without is not asked for again when the job goes on.
        said = site.jobs.load_questions()
        self._skipped = {each.subject for each in said if each.answer == "continue"}
        if planning.wishes.is_new_research:
            self._skipped.discard("research")
        self._written: list[str] = []
        self._kept = ""  # where that is which was there before

    def until_it_ends(self) -> Outcome:
        subject = self._planning.subject
        if not subject.artefact("CONTEXT"):
            wish = Wish(
                "context",
                f"phase {subject.id.short} was not discussed: plan it all the same?",
                ("continue", "stop"),
                policy="continue",
            )
            if asked(self._site, wish) == "stop":
                told = f"fairlead phase discuss {subject.id.short}"
                told += stream_words(subject.workstream)
                return Outcome(JobStatus.FAILED, f"discuss it first: {told}")
        return self._documents.worked_on(subject, "plan", self._until_a_step_ends_it)

    def _until_a_step_ends_it(self) -> Outcome:
        while (outcome := self._stepped()) is None:
            pass
        return outcome

    def _stepped(self) -> Outcome | None:
        state = self._state()
        step = next_step(
            PlanFacts(
                self._planning.wants_research and "research" not in self._skipped,
                self._planning.wants_patterns and "patterns" not in self._skipped,
                self._planning.wishes.check,
                tuple(state.rounds),
            )
        )
        match step:
            case PlanStep.RESEARCH:
                return self._artefact("RESEARCH", self._planning.research_ask())
            case PlanStep.PATTERNS:
                research = self._planning.subject.artefact("RESEARCH")
                return self._artefact("PATTERNS", self._planning.patterns_ask(research))
            case PlanStep.PLAN:
                return _failure(self._plan(state))
            case PlanStep.CHECK:
                return _failure(self._check(state))
            case PlanStep.ASK:
                self._ask(state)
                return None
            case PlanStep.WRITE:
                answer = state.rounds[-1].answer
                return self._write(state, "accepted" if answer == PROCEED else "")
            case PlanStep.WRITE_MARKED:
                return self._write(state, "failed")
            case PlanStep.ABANDON:
                return Outcome(JobStatus.FAILED, "abandoned by a person; nothing was written")

    # -- where it stands -------------------------------------------------------------------

    def _state(self) -> _State:
        """The rounds as the recorded calls tell them; a call whose question changed is none."""
        state = _State([], [], [])
        said = self._site.jobs.load_questions()
        answers = {(each.subject, each.about): each.answer for each in said}
        while True:
            number = len(state.rounds) + 1
            call = self._site.jobs.load_call(f"plan-{number}")
            if (
                call is None
                or not call.is_ok
                or not self._is_same(self._ask_of(state), call.digest)
            ):
                return state
            draft = self._planning.read_draft(Given(dict(call.documents), call.answer))
            found = issues_of(draft.sheets, draft.texts, self._planning.wanted)
            faults = sum(each.severity == BLOCKER for each in found)
            told = None if faults else self._checked(number, "\n\n".join(draft.texts))
            found = (*found, *(told or ()))
            blockers = None if told is None else sum(each.severity == BLOCKER for each in told)
            state.drafts.append(draft)
            state.issues.append(found)
            answer = answers.get((f"round-{number}", digest_of(*draft.texts)), "")
            state.rounds.append(Round(faults, blockers, answer))

    def _checked(self, number: int, plans: str) -> tuple[Issue, ...] | None:
        """What checker and critic found in a round; None: one of them has not spoken yet."""
        found = self._spoken(self._planning.check_ask(number, plans), read_issues)
        is_passed = found is not None and not any(each.severity == BLOCKER for each in found)
        if not is_passed or not self._planning.wishes.critic:
            return found
        more = self._spoken(self._planning.critic_ask(number, plans), read_objections)
        return None if more is None or found is None else (*found, *more)

    def _spoken(self, ask: Ask, read: Reading) -> tuple[Issue, ...] | None:
        call = self._site.jobs.load_call(ask.key)
        is_there = call is not None and call.is_ok and self._calls.digest(ask) == call.digest
        return read(call.answer) if call is not None and is_there else None

    def _ask_of(self, state: _State) -> Ask:
        before = state.drafts[-1] if state.drafts else None
        issues = state.issues[-1] if state.issues else ()
        said = state.rounds[-1].answer if state.rounds else ""
        guidance = said.removeprefix(FIX).strip() if said.startswith(FIX) else ""
        return self._planning.plan_ask(len(state.rounds) + 1, before, issues, guidance)

    def _is_same(self, ask: Ask, digest: str) -> bool:
        return self._calls.digest(ask) == digest

    # -- steps -----------------------------------------------------------------------------

    def _artefact(self, kind: str, ask: Ask) -> Outcome | None:
        reply = self._calls.call(ask, document(kind, ask.outputs[0]))
        if reply.value is None:
            return self._without(kind, ask.key, reply)
        text = rehearsed(reply.value) if self._site.job.is_rehearsed else reply.value
        subject = self._planning.subject
        told = f"Phase {subject.id.short} {kind.lower()} complete"
        path = subject.path(kind)
        self._kept += self._site.put_aside({path: subject.artefact(kind)}, {path: text})
        self._written += self._documents.write_artefact(subject, kind, text, told).paths
        held = {**(subject.artefacts or {}), kind: text}
        changed = replace(subject, artefacts=held)
        wishes = replace(self._planning.wishes, is_new_research=False)
        self._planning = PlanAsks(changed, wishes, self._site.job.started_at[:10])
        return None

    def _without(self, kind: str, key: str, reply: Reply[str]) -> Outcome | None:
        """The artefact could not be had: planning goes on without, if that is wanted."""
        wish = Wish(
            key,
            f"there is no {kind}: {reply.note or 'no reason given'}. Plan without it?",
            ("continue", "stop"),
            policy="continue",
        )
        if asked(self._site, wish) == "stop":
            return Outcome(JobStatus.FAILED, reply.note)
        self._skipped.add(key)
        return None

    def _plan(self, state: _State) -> Reply[Draft]:
        return self._calls.call(self._ask_of(state), self._planning.read_draft)

    def _check(self, state: _State) -> Reply[tuple[Issue, ...]]:
        number, plans = len(state.rounds), "\n\n".join(state.drafts[-1].texts)
        ask = self._planning.check_ask(number, plans)
        if self._spoken(ask, read_issues) is None:
            return self._calls.call(ask, lambda given: read_issues(given.answer))
        ask = self._planning.critic_ask(number, plans)
        return self._calls.call(ask, lambda given: read_objections(given.answer))

    def _ask(self, state: _State) -> None:
        number = len(state.rounds)
        blockers = [str(each) for each in state.issues[-1] if each.severity == BLOCKER]
        facts = PlanFacts(rounds=tuple(state.rounds))
        why = "another round brought nothing" if facts.is_stalled else f"{number} rounds were made"
        text = f"the plans do not pass and {why}: {'; '.join(blockers[:3])}"
        options = (KEEP, PROCEED, ABANDON, f"{FIX} what to do")
        about = digest_of(*state.drafts[-1].texts)
        asked(self._site, Wish(f"round-{number}", text, options, policy=KEEP, about=about))

    def _write(self, state: _State, mark: str) -> Outcome:
        draft, subject = state.drafts[-1], self._planning.subject
        waves = schedule(nodes_of(draft.sheets)).wave_of()
        plans = [
            PlanDocument(
                sheet.id,
                sheet.path,
                self._final(text, waves[sheet.id], mark),
                " ".join(sheet.objective.split())[:100] or sheet.id,
                waves[sheet.id],
            )
            for sheet, text in zip(draft.sheets, draft.texts, strict=True)
        ]
        known = {each.path for each in subject.plans}  # what came since then is not ours to replace
        there = self._documents.texts(each.path for each in plans)
        before = {path: text if path in known else "" for path, text in there.items()}
        self._kept += self._site.put_aside(before, {each.path: each.text for each in plans})
        is_fit = mark != "failed"
        self._written += self._documents.write_plans(subject, plans, before, is_fit=is_fit).paths
        written = tuple(dict.fromkeys(self._written))
        message = f"docs({subject.padded}): plans of phase {subject.id.short}"
        warnings = [each for each in state.issues[-1] if each.severity != BLOCKER]
        note = f"plans: {len(plans)}, waves: {max(waves.values())}, rounds: {len(state.rounds)}"
        if warnings:
            note += f"; {len(warnings)} remarks, the first: {warnings[0]}"
        if mark == "failed":
            blockers = [each for each in state.issues[-1] if each.severity == BLOCKER]
            note = f"the plans failed their check and cannot be executed: {blockers[0]}"
            return Outcome(JobStatus.BLOCKED, note + self._kept, written, message)
        return Outcome(JobStatus.DONE, note + self._kept, written, message)

    def _final(self, text: str, wave: int, mark: str) -> str:
        document = Document(text).set_front(("wave",), wave)
        if mark:
            document = document.set_front((CHECK,), mark)
        if self._site.job.is_rehearsed:
            document = document.set_front(("rehearsed",), True)
        return document.text


def _failure(reply: Reply[Draft] | Reply[tuple[Issue, ...]]) -> Outcome | None:
    """The end of the workflow, if a role it cannot do without gave nothing."""
    if reply.value is not None:
        return None
    status = JobStatus.BLOCKED if reply.call.status == "blocked" else JobStatus.FAILED
    note = f"{reply.call.role}: {reply.note or 'gave nothing'}"
    return Outcome(status, note, is_over=False)  # what others gave is not lost
