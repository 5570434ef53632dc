"""Performs one action of a council job: one call, or one change of status.

A call is announced before it is made, and its answer is stored before it is used. A change of
status writes its documents first and the record last: if it is interrupted, it is done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairlead.agents.ask import AskAttempt, AskResult, Inquiry, Respondent, ask, call_of
from fairlead.agents.errors import AgentRefused
from fairlead.agents.model import CallResult, EndKind
from fairlead.agents.ports import Agent
from fairlead.agents.secrets import without_secrets
from fairlead.core.values import replace
from fairlead.council import ballot as ballots
from fairlead.council import paths as names
from fairlead.council.answers import CouncilAnswers
from fairlead.council.bridge import ExecutionBridge
from fairlead.council.decide import TAMPERED, CouncilAct, CouncilAction
from fairlead.council.folder import leave_stop_request, stop_request
from fairlead.council.model import Blocker, CouncilJob, Veto, Vote, with_status
from fairlead.council.prompts import CouncilPrompt, council_prompt
from fairlead.council.seats import BALLOT, PM, SEAT, SYNTHESIS, length_fault, plan_fault
from fairlead.council.snapshot import STAGE_CALLS, estimates
from fairlead.council.tally import both_sides, open_items, tally
from fairlead.jobs.calls import CallLedger, CallRecorder, OpenNonces, recorded
from fairlead.jobs.ledger import EntryKind
from fairlead.jobs.model import JobStatus
from fairlead.jobs.paths import JOBS
from fairlead.jobs.raw_answers import RawAnswer, storable
from fairlead.jobs.roster import login_of

if TYPE_CHECKING:
    from fairlead.council.context import CouncilContext

_STAGE_ROLES = {
    JobStatus.PM_RUNNING: PM,
    JobStatus.COUNCIL_PLANNING: SEAT,
    JobStatus.SYNTHESIZING: SYNTHESIS,
    JobStatus.COUNCIL_REVIEWING: BALLOT,
}
_TRY_CHARACTERS = 4000  # of an error message; the log of the call has all of it
# Blockers of jobs whose last round was counted; empty: not blocked.
_COUNTED = ("", Blocker.PREFLIGHT, Blocker.DEADLOCK_ROUNDS, Blocker.DEADLOCK_STALL, Blocker.VETO)


class CouncilPerformer:
    """Performs the actions of one council job."""

    def __init__(self, context: CouncilContext) -> None:
        self._context = context

    def perform(self, action: CouncilAction) -> None:
        """Perform one action."""
        if action.act is CouncilAct.ASK:
            self._ask(action.subject)
        else:
            self._move(action)

    # -- calls -----------------------------------------------------------------------------

    def _ask(self, key: str) -> None:
        context = self._context
        answers = CouncilAnswers(context)
        question = council_prompt(answers, key)
        if earlier := self._reusable_answer(answers, key, question.identity):
            kept = context.folder.store_answer(earlier)
            context.tell("reused", question.who, f"{key} of {kept.reused_from}", role=question.role)
            return
        respondents = context.roster.respondents[question.who]
        respondents = respondents[question.skipped :] or respondents
        nonce = self._nonce(key, question, respondents[0])
        inquiry = self._inquiry(key, question, nonce)
        text = inquiry.prompt
        context.tell(
            "call",
            question.who,
            key,
            role=question.role,
            model=respondents[0].model or respondents[0].agent.name,
            characters=len(text),
            left_out=len(question.left_out),
        )
        with context.turn:
            context.scratch.make(inquiry.folder)
        before = context.guarded()
        context.proofs.begin()
        result = ask(
            inquiry,
            recorded(context, respondents, question.who, self._recorder(key)),
            pause=context.roster.pause,
            is_wanted=lambda: context.is_wanted,
            retries=question.retries,
        )
        with context.turn:
            context.scratch.remove(inquiry.folder)
        self._require_login(question, respondents, result)
        answer = replace(
            self._answer(key, question, result),
            nonce=nonce,
            input_sha256=question.identity,
            characters=len(text),
        )
        if result.is_ok or context.is_wanted:
            self._store(answer, question)
        elif result.tokens_in + result.tokens_out:
            # A call that a person stopped is no absence of the seat, but its cost counts.
            context.folder.store_answer(replace(answer, key=names.stopped_key(key, nonce)))
        changed = {path for path, _ in before.items() ^ context.guarded().items()}
        if touched := [*sorted(changed), *context.proofs.put_aside()]:
            self.stop_tampered(f"{question.who} was asked", touched)

    def _inquiry(self, key: str, question: CouncilPrompt, nonce: str) -> Inquiry:
        context, name = self._context, key.replace("/", "-")
        return Inquiry(
            role=question.role,
            prompt=question.text(nonce),
            folder=context.scratch_folder(key),
            raw=f"{context.private}/raw/{name}",
            job=context.process_mark,
            max_tokens=question.max_tokens,
            wall=question.wall,
            id=f"{name}-{nonce[:8]}",
            source=context.source(left_out=(JOBS,)),
        )

    def _nonce(self, key: str, question: CouncilPrompt, respondent: Respondent) -> str:
        """The nonce of a new call, or of the one that a killed run left on a worker.

        With the same nonce the call has the same id and the same input: it is continued, and not
        paid twice. A call whose input has changed since is given up, with unknown cost.
        """
        context, finder = self._context, self._context.roster.calls
        if finder is None:
            return context.new_token()
        nonces = OpenNonces(context.private)
        if nonce := nonces.get(key):
            call = call_of(self._inquiry(key, question, nonce), respondent)
            call = replace(call, prompt=without_secrets(call.prompt)[0])
            if finder.matches(respondent.agent.name, call):
                return nonce
            if finder.has(call.id, call.job):
                ledger, name = CallLedger(context), respondent.agent.name
                entry = ledger.entry(EntryKind.CALL, key, 1, name)
                ledger.record_lost("", replace(entry, call=call.id), 1)
        nonce = context.new_token()
        nonces.keep(key, nonce)
        return nonce

    def _recorder(self, key: str) -> CallRecorder:
        """Records attempts that were lost with their machine; an answer records itself."""
        ledger = CallLedger(self._context)

        def ended(agent: Agent, result: CallResult) -> None:
            entry = ledger.entry(EntryKind.CALL, key, 1, agent.name)
            ledger.record_lost("", replace(entry, call=result.call), result.lost)

        return CallRecorder(ended=ended)

    def _require_login(
        self, question: CouncilPrompt, respondents: Sequence[Respondent], result: AskResult
    ) -> None:
        """Stop before anything is paid if no agent of the PM is logged in; the job can go on later.

        The PM is asked first. A seat whose agent is refused has stand-ins, and may be absent.
        """
        refused = [each for each in result.tries if each.status is EndKind.AUTH]
        if question.who != PM or result.is_ok or not refused or len(refused) < len(result.tries):
            return
        agent = respondents[0].agent
        command = self._context.job.command
        raise AgentRefused(agent.name, refused[0].error, login_of(agent), command)

    def stop_tampered(self, when: str, changed: list[str]) -> None:
        """End the job: no role may change these files, and a person has to look at them."""
        text = f"while {when}, this was changed: {', '.join(changed)}"
        self._context.tell("touched", when.partition(" ")[0], text)
        if not stop_request(self._context.folder)[0]:
            leave_stop_request(self._context.folder, TAMPERED, text)

    def _answer(self, key: str, question: CouncilPrompt, result: AskResult) -> RawAnswer:
        last = result.tries[-1] if result.tries else None
        text, is_cut = storable(result.text)
        lost = (f"{len(result.text)} characters received, {len(text)} kept",) if is_cut else ()
        return RawAnswer(
            key=key,
            role=question.role,
            status=str(result.status),
            text=text,
            at=self._context.now(),
            model=last.model if last else "",
            family=last.family if last else "",
            tokens_in=result.tokens_in,
            tokens_out=result.tokens_out,
            cost_usd=result.cost_usd,
            ms=result.ms,
            is_cut=is_cut or result.is_cut,
            tries=(*(_attempt_line(attempt) for attempt in result.tries), *lost),
        )

    def _store(self, answer: RawAnswer, question: CouncilPrompt) -> None:
        kept = self._context.folder.store_answer(answer)
        verdict = self._verdict(kept) if question.role == BALLOT else ""
        text = f"{kept.key} {verdict}".rstrip()
        self._context.tell(
            "answered" if kept.is_ok else "absent",
            question.who,
            text if kept.is_ok else f"{kept.key}: {'; '.join(kept.tries)}",
            role=question.role,
            model=kept.model,
            tokens=kept.tokens_in + kept.tokens_out,
            ms=kept.ms,
            cost_usd=kept.cost_usd,
            verdict=verdict,
        )

    def _verdict(self, answer: RawAnswer) -> str:
        history = CouncilAnswers(self._context).history
        votes = [ballot.vote for ballot in history if ballot.raw == f"{answer.key}.md"]
        return str(votes[-1]) if votes else "unreadable"

    def _reusable_answer(
        self, answers: CouncilAnswers, key: str, identity: str
    ) -> RawAnswer | None:
        """Return the answer that a parent job got to exactly this prompt."""
        places = answers.parsed(names.number_of(key)).places
        for parent in self._context.parents:
            answer = parent.answer(key)
            if answer is None or answer.input_sha256 != identity:
                continue
            if _is_reusable(answer, parent.load(CouncilJob), places):
                return replace(answer, reused_from=answer.reused_from or parent.job)
        return None

    # -- changes of status -----------------------------------------------------------------

    def _move(self, action: CouncilAction) -> None:
        context = self._context
        target = JobStatus(action.subject)
        answers = CouncilAnswers(context)
        record = answers.derived()
        match target:
            case JobStatus.RESEARCH_DONE:
                context.folder.save_documents({names.BRIEF: answers.new_brief()})
            case JobStatus.COUNCIL_REVIEWING:
                record = self._publish_plan(answers, record)
            case JobStatus.BLOCKED:
                record, action = _explained(answers, record, action)
            case JobStatus.EXECUTING:
                record = ExecutionBridge(context).with_phase(record)
            case JobStatus.DONE | JobStatus.FAILED:
                record = ExecutionBridge(context).with_result(record, action.note)
            case _:
                pass
        record = with_status(record, target, action.guard, context.now(), action.note)
        context.folder.save_record(CouncilAnswers(context, record).derived())
        why = record.note or action.note
        text = f"{target}: {why}" if why else str(target)
        context.tell("moved", record.job_id, text, status=str(target), guard=str(action.guard))
        if role := _STAGE_ROLES.get(target):
            self._announce_estimate(target, role)

    def _announce_estimate(self, status: JobStatus, role: str) -> None:
        """Report the probable cost of a stage before it begins."""
        cost, calls = (
            estimates(self._context, CouncilAnswers(self._context))[role],
            STAGE_CALLS[role],
        )
        tokens, usd = cost.tokens * calls, cost.usd * calls
        text = f"{calls} calls, about {tokens:,} tokens, ${usd:.2f}"
        self._context.tell("estimate", str(status), text, tokens=tokens, usd=round(usd, 4))

    def _publish_plan(self, answers: CouncilAnswers, record: CouncilJob) -> CouncilJob:
        """Write the synthesised plan as the next version of the master plan."""
        version = record.review_round + 1
        text, plan = answers.new_plan(version)
        self._context.folder.save_documents(
            {names.plan_version(version): text, names.MASTER_PLAN: text}
        )
        return replace(record, master_plan=plan)


def _attempt_line(attempt: AskAttempt) -> str:
    text = f"{attempt.model}: {attempt.status} {attempt.error}"
    return storable(text)[0][:_TRY_CHARACTERS].strip()


def _explained(
    answers: CouncilAnswers, record: CouncilJob, action: CouncilAction
) -> tuple[CouncilJob, CouncilAction]:
    """Add the veto to the record of a blocked job, or both sides of a deadlock to the reason."""
    if action.guard == Blocker.OPERATOR_VETO:
        return replace(record, veto=Veto("operator", record.review_round, "", action.note)), action
    review = answers.review
    if action.guard == Blocker.VETO and review:
        return replace(record, veto=tally(review).veto), action
    if review is None or not str(action.guard).startswith("deadlock"):
        return record, action
    # No seat votes on an unchanged plan: the open items are those of the round before.
    is_same = action.guard == Blocker.DEADLOCK_SAME_PLAN
    items = open_items(answers.history, record.review_round - is_same)
    if not items:
        return record, action
    replies = {reply.id: reply for reply in answers.parsed(record.review_round).answers}
    return record, replace(action, note=f"{action.note}\n{both_sides(items, replies)}")


def _is_reusable(answer: RawAnswer, parent: CouncilJob, places: tuple[str, ...]) -> bool:
    """Whether an answer that a parent job got serves its retry as well.

    Of a stage that the parent completed, every answer is reused, and every absence: only then does
    the retry come to the same plan and the same ballots. Of the stage at which the parent ended,
    only usable answers are.
    """
    code = (parent.blocker_reason or "").partition(":")[0]
    number = names.number_of(answer.key)
    match names.stage_of(answer.key):
        case "pm":
            return bool(parent.pm.sha256) or (answer.is_ok and code != Blocker.PM_VERIFY)
        case "planning":
            is_over = parent.master_plan is not None or code == Blocker.SYNTHESIS_FAILED
            is_usable = not plan_fault(answer.text) and not length_fault(answer.text)
            return is_over or (answer.is_ok and is_usable)
        case "synthesis":
            is_over = parent.review_round >= number
            return is_over or (answer.is_ok and code != Blocker.SYNTHESIS_FAILED)
        case _:
            request = ballots.BallotRequest("", answer.nonce, places)
            is_over = parent.review_round > number or code in _COUNTED
            return is_over or (
                answer.is_ok and ballots.read_ballot(answer.text, request).vote is not Vote.ABSTAIN
            )
