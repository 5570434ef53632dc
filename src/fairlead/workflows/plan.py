"""`phase plan`: research, patterns, plans, and a checker until the plans pass or a person decides.

The next step is decided from the job's folder. The workflow ends in one of three ways: with plans
that passed, with plans that a person accepted as they are, or with plans that are marked as
failed, which `phase execute` refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairlead.core.ids import stream_words
from fairlead.core.values import dataclass, replace
from fairlead.jobs.context import JobSetup
from fairlead.jobs.model import FIX, JobStatus
from fairlead.jobs.paths import plan_path
from fairlead.jobs.prompts import listed, word
from fairlead.plans.check import require_verify_commands
from fairlead.plans.documents import CHECK, nodes_of, read_plan
from fairlead.plans.errors import NoVerifyCommand, PlanCycle, PlanTwice
from fairlead.plans.model import PlanDocument
from fairlead.plans.waves import schedule
from fairlead.project.derive.inventory import Proof
from fairlead.text import frontmatter
from fairlead.text.document import Document
from fairlead.workflows.artefacts import mark_rehearsed
from fairlead.workflows.context_document import read_context
from fairlead.workflows.errors import ArtefactFault, PlansThere
from fairlead.workflows.phase_documents import NewPlanFile, PhaseDocuments, PhaseSubject
from fairlead.workflows.plan_rules import (
    ABANDON,
    BLOCKER,
    KEEP,
    PROCEED,
    PlanIssue,
    PlanRound,
    PlanRoundFacts,
    PlanStep,
    RequiredCoverage,
    has_blocker,
    issues_of,
    next_step,
    read_issues,
    read_objections,
)
from fairlead.workflows.questions import PendingQuestion, WorkflowContext, answer_to, digest_of
from fairlead.workflows.role_calls import (
    Reply,
    RoleAnswer,
    RoleCalls,
    RoleRequest,
    WorkflowPreview,
    call_preview,
    document,
)
from fairlead.workflows.roles import role
from fairlead.workflows.service import JobPurpose, WorkflowEnd, WorkflowReport, Workflows

_TYPICAL_PLANS = 12_000  # characters of plans that do not exist yet
_TYPICAL_RESEARCH = 4000

IssueReader = Callable[[Mapping[str, object]], tuple[PlanIssue, ...]]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a person wants of planning."""

    research: bool = True
    is_new_research: bool = False  # research again although there is some
    patterns: bool = True
    check: bool = True
    critic: bool = False  # review plans that passed the checker
    replan: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """The plans of one round."""

    plans: tuple[PlanDocument, ...]
    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        """All plans in one text, for prompts."""
        return "\n\n".join(self.texts)


class PhasePlanning:
    """Plans the phases of one project."""

    def __init__(self, jobs: Workflows, documents: PhaseDocuments) -> None:
        self._jobs = jobs
        self._documents = documents

    def preview(
        self,
        number: str,
        options: PlanOptions,
        models: Mapping[str, str],
        *,
        is_rehearsed: bool = False,
    ) -> WorkflowPreview:
        """Show the calls of one round; raise if the phase has open plans."""
        frontmatter.prepare()
        subject = self._documents.subject(number)
        resumes = self._jobs.unfinished(_purpose(subject), is_rehearsed=is_rehearsed)
        open_plans = [
            plan.id for plan in subject.plans if plan.proof is Proof.NONE and not plan.is_superseded
        ]
        if open_plans and not options.replan and not resumes:
            there = PlansThere(subject.id.short, tuple(open_plans))
            if any(plan.is_rehearsed for plan in subject.plans) and not is_rehearsed:
                again = f"fairlead phase plan {subject.id.short} --replan"
                there.hint = f"they come from a rehearsal; plan again: {again}"
            raise there
        ask = PlanRequests(subject, options, self._jobs.clock.now().strftime("%Y-%m-%d"))
        typical = "x" * _TYPICAL_PLANS
        requests = [ask.research()] if ask.wants_research else []
        requests += [ask.patterns("x" * _TYPICAL_RESEARCH)] if ask.wants_patterns else []
        requests.append(ask.plan(1, None, (), ""))
        requests += [ask.check(1, typical)] if options.check else []
        requests += [ask.critic(1, typical)] if options.check and options.critic else []
        return WorkflowPreview(
            tuple(call_preview(request, models) for request in requests),
            resumes,
            subject.id.short,
            subject.name,
            subject.goal,
            subject.details.requirements,
            subject.folder,
            tuple(sorted(subject.artefacts)),
        )

    def carry_out(self, number: str, options: PlanOptions, setup: JobSetup) -> WorkflowReport:
        """Plan a phase, or resume its planning."""
        frontmatter.prepare()

        def work(context: WorkflowContext) -> WorkflowEnd:
            subject = self._documents.subject(number)
            requests = PlanRequests(subject, options, context.job.started_at[:10])
            return _PlanRun(context, requests, self._documents).run()

        return self._jobs.run(_purpose(self._documents.subject(number)), setup, work)


def _purpose(subject: PhaseSubject) -> JobPurpose:
    command = f"fairlead phase plan {subject.id.short}"
    return JobPurpose("plan", subject.padded, command, workstream=subject.workstream)


# -- requests ------------------------------------------------------------------------------------


class PlanRequests:
    """What planning a phase asks of each role."""

    def __init__(self, subject: PhaseSubject, options: PlanOptions, today: str) -> None:
        self.subject = subject
        self.options = options
        text = subject.artefact("CONTEXT")
        decisions = read_context(subject.path("CONTEXT"), text).decisions if text else ()
        stay = [
            plan for plan in subject.plans if plan.is_superseded or plan.proof is not Proof.NONE
        ]
        done = [plan for plan in stay if not plan.is_superseded]
        self.first = max((plan.number for plan in stay), default=0) + 1
        # Executed plans already cover a part of the phase, so the others need not cover all of it.
        requirements = subject.details.requirements
        self.coverage = (
            RequiredCoverage(done=tuple(plan.id for plan in done))
            if done
            else RequiredCoverage(requirements, decisions)
        )
        self._words = {
            "phase": subject.id.short,
            "padded": subject.padded,
            "name": word(subject.name),
            "folder": word(subject.folder.rpartition("/")[2]),
            "today": today,
            "example": requirements[0] if requirements else "REQ-01",
        }
        self._pieces = {
            "project": subject.project,
            "phase": subject.section_text,
            "requirements": subject.requirements_text,
            "state": subject.state,
            "context": text,
        }

    @property
    def wants_research(self) -> bool:
        """Whether research is wanted and missing."""
        is_missing = self.options.is_new_research or not self.subject.artefact("RESEARCH")
        return self.options.research and is_missing

    @property
    def wants_patterns(self) -> bool:
        """Whether a pattern map is wanted and missing."""
        return self.options.patterns and not self.subject.artefact("PATTERNS")

    def research(self) -> RoleRequest:
        """For the phase researcher."""
        researcher = role("phase-researcher")
        return RoleRequest(researcher, "research", self._pieces, self._words, ("RESEARCH.md",))

    def patterns(self, research: str) -> RoleRequest:
        """For the pattern mapper."""
        pieces = {key: self._pieces[key] for key in ("phase", "context")} | {"research": research}
        mapper = role("pattern-mapper")
        return RoleRequest(mapper, "patterns", pieces, self._words, ("PATTERNS.md",))

    def plan(
        self, number: int, before: Draft | None, issues: tuple[PlanIssue, ...], guidance: str
    ) -> RoleRequest:
        """For the planner in one round, with the issues of the round before."""
        pieces = {
            **self._pieces,
            "research": self.subject.artefact("RESEARCH"),
            "patterns": self.subject.artefact("PATTERNS"),
        }
        if self.first > 1:
            pieces["numbering"] = f"plans 1 to {self.first - 1} exist; begin with {self.first}"
        verification = self.subject.artefact("VERIFICATION")
        if Document(verification).value("status") == "gaps_found":
            pieces["gaps"] = verification
        if before:
            pieces["plans"] = before.text
            pieces["faults"] = listed([str(issue) for issue in issues])
        if guidance:
            pieces["guidance"] = guidance
        words = {**self._words, "round": str(number)}
        outputs = (f"{self.subject.padded}-*-PLAN.md",)
        return RoleRequest(role("planner"), f"plan-{number}", pieces, words, outputs)

    def check(self, number: int, plans: str) -> RoleRequest:
        """For the plan checker."""
        pieces = {**self._pieces, "research": self.subject.artefact("RESEARCH"), "plans": plans}
        words = {**self._words, "round": str(number)}
        return RoleRequest(role("plan-checker"), f"check-{number}", pieces, words)

    def critic(self, number: int, plans: str) -> RoleRequest:
        """For the critic, who reviews plans that passed the checker."""
        pieces = {**self._pieces, "plans": plans}
        words = {"subject": f"the plans of phase {self.subject.id.short}, round {number}"}
        return RoleRequest(role("critic"), f"critic-{number}", pieces, words)

    def read_draft(self, answer: RoleAnswer) -> Draft:
        """Read the plans; raise with file and line if one is misnumbered or cannot be read."""
        documents = sorted(answer.documents.items())
        plans = []
        for number, (name, text) in enumerate(documents, self.first):
            path = plan_path(self.subject.folder, self.subject.padded, number)
            if path.rpartition("/")[2] != name:
                what = f"plans must be numbered from {self.first} without gaps: {name}"
                raise ArtefactFault(what).located(name)
            plans.append(read_plan(path, text))
        return Draft(tuple(plans), tuple(text for _, text in documents))


# -- the run -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Progress:
    """The rounds so far, as the recorded calls tell them."""

    drafts: list[Draft]
    issues: list[tuple[PlanIssue, ...]]  # of each round
    rounds: list[PlanRound]


class _PlanRun:
    """One run of the workflow; its only state is in the job's folder."""

    def __init__(
        self, context: WorkflowContext, requests: PlanRequests, documents: PhaseDocuments
    ) -> None:
        self._context = context
        self._requests = requests
        self._documents = documents
        self._calls = RoleCalls(context)
        # An artefact that a person decided to do without is not asked for again.
        questions = context.folder.load_questions()
        self._skipped = {each.subject for each in questions if each.answer == "continue"}
        if requests.options.is_new_research:
            self._skipped.discard("research")
        self._written: list[str] = []
        self._kept = ""  # where replaced documents were moved, for the note

    def run(self) -> WorkflowEnd:
        """Run all steps until one of them ends the workflow."""
        subject = self._requests.subject
        if not subject.artefact("CONTEXT"):
            text = f"phase {subject.id.short} is not discussed: plan it anyway?"
            pending = PendingQuestion("context", text, ("continue", "stop"), policy="continue")
            if answer_to(self._context, pending) == "stop":
                command = f"fairlead phase discuss {subject.id.short}"
                command += stream_words(subject.workstream)
                return WorkflowEnd(JobStatus.FAILED, f"discuss it first: {command}")
        return self._documents.run_as_active(subject, "plan", self._run_steps)

    def _run_steps(self) -> WorkflowEnd:
        while (end := self._run_step()) is None:
            pass
        return end

    def _run_step(self) -> WorkflowEnd | None:
        progress = self._progress()
        requests = self._requests
        step = next_step(
            PlanRoundFacts(
                requests.wants_research and "research" not in self._skipped,
                requests.wants_patterns and "patterns" not in self._skipped,
                requests.options.check,
                tuple(progress.rounds),
            )
        )
        match step:
            case PlanStep.RESEARCH:
                return self._make_artefact("RESEARCH", requests.research())
            case PlanStep.PATTERNS:
                research = requests.subject.artefact("RESEARCH")
                return self._make_artefact("PATTERNS", requests.patterns(research))
            case PlanStep.PLAN:
                request = self._plan_request(progress)
                return _failure(self._calls.call(request, requests.read_draft))
            case PlanStep.CHECK:
                return _failure(self._check(progress))
            case PlanStep.ASK:
                self._ask(progress)
                return None
            case PlanStep.WRITE:
                is_accepted = progress.rounds[-1].answer == PROCEED
                return self._write(progress, "accepted" if is_accepted else "")
            case PlanStep.WRITE_MARKED:
                return self._write(progress, "failed")
            case PlanStep.ABANDON:
                return WorkflowEnd(JobStatus.FAILED, "abandoned by a person; nothing was written")

    # -- progress ----------------------------------------------------------------------------

    def _progress(self) -> _Progress:
        """Read the rounds from the recorded calls, up to the first whose request has changed."""
        progress = _Progress([], [], [])
        questions = self._context.folder.load_questions()
        answers = {(each.subject, each.about): each.answer for each in questions}
        while True:
            number = len(progress.rounds) + 1
            answer = self._recorded(self._plan_request(progress))
            if answer is None:
                return progress
            draft = self._requests.read_draft(answer)
            issues = issues_of(draft.plans, draft.texts, self._requests.coverage)
            faults = sum(issue.severity == BLOCKER for issue in issues)
            checked = None if faults else self._recorded_check(number, draft.text)
            blockers = None
            if checked is not None:
                blockers = sum(issue.severity == BLOCKER for issue in checked)
            progress.drafts.append(draft)
            progress.issues.append((*issues, *(checked or ())))
            given = answers.get((f"round-{number}", digest_of(*draft.texts)), "")
            progress.rounds.append(PlanRound(faults, blockers, given))

    def _recorded(self, request: RoleRequest) -> RoleAnswer | None:
        """The recorded answer to this very request."""
        call = self._context.folder.load_call(request.key)
        if call is None or not call.is_ok or self._calls.digest(request) != call.digest:
            return None
        return RoleAnswer(dict(call.documents), call.answer)

    def _recorded_issues(
        self, request: RoleRequest, read: IssueReader
    ) -> tuple[PlanIssue, ...] | None:
        answer = self._recorded(request)
        return None if answer is None else read(answer.fields)

    def _recorded_check(self, number: int, plans: str) -> tuple[PlanIssue, ...] | None:
        """The issues of checker and critic in a round; None if one of them was not asked yet."""
        issues = self._recorded_issues(self._requests.check(number, plans), read_issues)
        if issues is None or has_blocker(issues) or not self._requests.options.critic:
            return issues
        more = self._recorded_issues(self._requests.critic(number, plans), read_objections)
        return None if more is None else (*issues, *more)

    def _plan_request(self, progress: _Progress) -> RoleRequest:
        before = progress.drafts[-1] if progress.drafts else None
        issues = progress.issues[-1] if progress.issues else ()
        answer = progress.rounds[-1].answer if progress.rounds else ""
        guidance = answer.removeprefix(FIX).strip() if answer.startswith(FIX) else ""
        return self._requests.plan(len(progress.rounds) + 1, before, issues, guidance)

    # -- steps -------------------------------------------------------------------------------

    def _make_artefact(self, kind: str, request: RoleRequest) -> WorkflowEnd | None:
        reply = self._calls.call(request, document(kind, request.outputs[0]))
        if reply.value is None:
            return self._continue_without(kind, request.key, reply.note)
        text = mark_rehearsed(reply.value) if self._context.job.is_rehearsed else reply.value
        subject = self._requests.subject
        path = subject.path(kind)
        self._kept += self._context.put_aside({path: subject.artefact(kind)}, {path: text})
        event = f"Phase {subject.id.short} {kind.lower()} complete"
        self._written += self._documents.write_artefact(subject, kind, text, event).paths
        changed = replace(subject, artefacts={**subject.artefacts, kind: text})
        options = replace(self._requests.options, is_new_research=False)
        self._requests = PlanRequests(changed, options, self._context.job.started_at[:10])
        return None

    def _continue_without(self, kind: str, key: str, note: str) -> WorkflowEnd | None:
        """Ask whether to plan without an artefact that no role delivered."""
        text = f"there is no {kind}: {note or 'no reason given'}. Plan without it?"
        pending = PendingQuestion(key, text, ("continue", "stop"), policy="continue")
        if answer_to(self._context, pending) == "stop":
            return WorkflowEnd(JobStatus.FAILED, note)
        self._skipped.add(key)
        return None

    def _check(self, progress: _Progress) -> Reply[tuple[PlanIssue, ...]]:
        number, plans = len(progress.rounds), progress.drafts[-1].text
        request = self._requests.check(number, plans)
        if self._recorded(request) is None:
            return self._calls.call(request, lambda answer: read_issues(answer.fields))
        request = self._requests.critic(number, plans)
        return self._calls.call(request, lambda answer: read_objections(answer.fields))

    def _ask(self, progress: _Progress) -> None:
        number = len(progress.rounds)
        blockers = [str(issue) for issue in progress.issues[-1] if issue.severity == BLOCKER]
        is_stalled = PlanRoundFacts(rounds=tuple(progress.rounds)).is_stalled
        why = "the last round did not improve them" if is_stalled else f"after {number} rounds"
        text = f"the plans do not pass the check ({why}): {'; '.join(blockers[:3])}"
        options = (KEEP, PROCEED, ABANDON, f"{FIX} what to do")
        about = digest_of(*progress.drafts[-1].texts)
        pending = PendingQuestion(f"round-{number}", text, options, policy=KEEP, about=about)
        answer_to(self._context, pending)

    def _write(self, progress: _Progress, mark: str) -> WorkflowEnd:
        draft, subject = progress.drafts[-1], self._requests.subject
        try:
            waves = schedule(nodes_of(draft.plans)).wave_of()
            for plan in draft.plans:
                require_verify_commands(plan)
        except (PlanCycle, PlanTwice, NoVerifyCommand) as error:
            # Nobody can accept plans that could never be executed: the next run plans anew.
            return WorkflowEnd(JobStatus.FAILED, f"{error}; nothing was written{self._kept}")
        plans = [
            NewPlanFile(
                plan.id,
                plan.path,
                self._final_text(text, waves[plan.id], mark),
                " ".join(plan.objective.split())[:100] or plan.id,
                waves[plan.id],
            )
            for plan, text in zip(draft.plans, draft.texts, strict=True)
        ]
        # Only plans that existed when the run began may be replaced.
        old = {plan.path for plan in subject.plans}
        present = self._documents.texts(plan.path for plan in plans)
        before = {path: text if path in old else "" for path, text in present.items()}
        self._kept += self._context.put_aside(before, {plan.path: plan.text for plan in plans})
        is_fit = mark != "failed"
        self._written += self._documents.write_plans(subject, plans, before, is_fit=is_fit).paths
        issues = progress.issues[-1]
        if is_fit:
            note = f"plans: {len(plans)}, waves: {max(waves.values())}"
            note += f", rounds: {len(progress.rounds)}"
            remarks = [issue for issue in issues if issue.severity != BLOCKER]
            if remarks:
                note += f"; {len(remarks)} remarks, the first: {remarks[0]}"
        else:
            blocker = next(issue for issue in issues if issue.severity == BLOCKER)
            note = f"the plans failed their check and cannot be executed: {blocker}"
        return WorkflowEnd(
            JobStatus.DONE if is_fit else JobStatus.BLOCKED,
            note + self._kept,
            tuple(dict.fromkeys(self._written)),
            f"docs({subject.padded}): plans of phase {subject.id.short}",
        )

    def _final_text(self, text: str, wave: int, mark: str) -> str:
        plan = Document(text).set_front(("wave",), wave)
        if mark:
            plan = plan.set_front((CHECK,), mark)
        if self._context.job.is_rehearsed:
            plan = plan.set_front(("rehearsed",), True)
        return plan.text


def _failure(reply: Reply[Draft] | Reply[tuple[PlanIssue, ...]]) -> WorkflowEnd | None:
    """The end of the workflow if a required role gave no usable answer."""
    if reply.value is not None:
        return None
    status = JobStatus.BLOCKED if reply.call.status == "blocked" else JobStatus.FAILED
    note = f"{reply.call.role}: {reply.note or 'no answer'}"
    # The job stays open, so that the answers of the other roles are used when it resumes.
    return WorkflowEnd(status, note, is_over=False)
