"""Performing for a council: one call, or one move, from the disk to the disk.

A call is announced before it is made and its answer stored before anything is made of it. A move
writes what belongs to it first and the record last: found half done, it is simply done again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.engine.asking import Answer, Inquiry, ask
from fairlead.engine.bridge import Bridge
from fairlead.engine.council_prompts import BALLOT, SEAT, SYNTHESIS, Asked, asked
from fairlead.engine.council_reading import Reading
from fairlead.engine.council_site import PM
from fairlead.engine.council_survey import estimates
from fairlead.model.calls import Call
from fairlead.model.council import Blocker
from fairlead.model.council_job import CouncilJob, Veto, Vote, moved
from fairlead.model.council_snapshot import TOUCHED, CouncilAct, CouncilAction
from fairlead.model.job import JobStatus
from fairlead.model.seats import NAMES, degenerate
from fairlead.model.tally import both_sides, open_items, tally
from fairlead.records import ballot as ballots
from fairlead.records.raw_answer import storable
from fairlead.records.state import moment
from fairlead.store import layout_council as names
from fairlead.values import dataclass, replace

if TYPE_CHECKING:
    from fairlead.engine.council_site import CouncilSite

_STAGES = {
    JobStatus.PM_RUNNING: (PM, 4),
    JobStatus.COUNCIL_PLANNING: (SEAT, len(NAMES)),
    JobStatus.SYNTHESIZING: (SYNTHESIS, 1),
    JobStatus.COUNCIL_REVIEWING: (BALLOT, len(NAMES)),
}
_COUNTED = ("", Blocker.PREFLIGHT, Blocker.DEADLOCK_ROUNDS, Blocker.DEADLOCK_STALL, Blocker.VETO)


@dataclass(frozen=True, slots=True)
class Asking:
    """One way in which a question was put."""

    nonce: str
    input_sha256: str
    characters: int


class CouncilPerformer:
    """Performs the actions of one council job."""

    def __init__(self, site: CouncilSite, folder: str) -> None:
        self._site = site
        self._folder = folder  # where those who are asked may read

    def perform(self, action: CouncilAction) -> None:
        """Do one thing."""
        if action.act is CouncilAct.ASK:
            self._ask(action.subject)
        else:
            self._move(action)

    # -- calls -----------------------------------------------------------------------------

    def _ask(self, key: str) -> None:
        site = self._site
        reading = Reading(site)
        question = asked(reading, key)
        input_ = question.identity
        if earlier := self._earlier(reading, key, input_):
            kept = site.job.keep(earlier)
            site.tell("reused", question.who, f"{key} of {kept.reused_from}", role=question.role)
            return
        nonce = site.new_nonce()
        text = question.text(nonce)
        voices = site.table.voices[question.who]
        voices = voices[question.skipped :] or voices
        site.tell(
            "call",
            question.who,
            key,
            role=question.role,
            model=voices[0].model or voices[0].agent.name,
            characters=len(text),
            left_out=len(question.left_out),
        )
        before = site.guard()
        answer = ask(
            Inquiry(
                role=question.role,
                prompt=text,
                folder=self._folder,
                raw=f"{site.private}/raw/{key.replace('/', '-')}",
                job=site.mark,
                max_tokens=question.max_tokens,
                wall=question.wall,
            ),
            voices,
            pause=site.table.pause,
            is_wanted=lambda: site.is_wanted,
            watch=lambda event: site.watcher.watch(question.who, event),
            retries=question.retries,
        )
        asking = Asking(nonce, input_, len(text))
        if answer.is_ok or site.is_wanted:
            self._keep(key, question, answer, asking)
        elif answer.tokens_in + answer.tokens_out:
            # Nobody is absent because a person stopped the run; what it took is counted.
            site.job.keep(self._call(names.stopped_key(key, nonce), question, answer, asking))
        if changed := sorted(name for name, _ in before.items() ^ site.guard().items()):
            self._touched(question.who, tuple(dict.fromkeys(changed)))

    def _touched(self, who: str, changed: tuple[str, ...]) -> None:
        """Nobody who is asked has any business there: the job ends, and a person looks at it."""
        told = f"while {who} was asked, this was changed: {', '.join(changed)}"
        self._site.tell("touched", who, told)
        if not self._site.job.wish()[0]:
            self._site.job.leave_wish(TOUCHED, told)

    def _call(self, key: str, question: Asked, answer: Answer, asking: Asking) -> Call:
        last = answer.tries[-1] if answer.tries else None
        text, is_cut = storable(answer.text)
        return Call(
            key=key,
            role=question.role,
            status=str(answer.status),
            text=text,
            at=moment(self._site.clock.now()),
            model=last.model if last else "",
            family=last.family if last else "",
            nonce=asking.nonce,
            input_sha256=asking.input_sha256,
            characters=asking.characters,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            cost_usd=answer.cost_usd,
            ms=answer.ms,
            is_cut=is_cut or answer.is_cut,
            tries=tuple(
                storable(f"{each.model}: {each.status} {each.error}")[0].strip()
                for each in answer.tries
            ),
        )

    def _keep(self, key: str, question: Asked, answer: Answer, asking: Asking) -> None:
        kept = self._site.job.keep(self._call(key, question, answer, asking))
        verdict = self._verdict(kept) if question.role == BALLOT else ""
        told = f"{key} {verdict}".rstrip() if kept.is_ok else f"{key}: {'; '.join(kept.tries)}"
        self._site.tell(
            "answered" if kept.is_ok else "absent",
            question.who,
            told,
            role=question.role,
            model=kept.model,
            tokens=kept.tokens_in + kept.tokens_out,
            ms=kept.ms,
            cost_usd=kept.cost_usd,
            verdict=verdict,
        )

    def _earlier(self, reading: Reading, key: str, input_: str) -> Call | None:
        """What a job that this one is a retry of was told when it asked exactly this."""
        places = reading.parsed(names.number_of(key)).places
        for parent in self._site.parents:
            found = parent.answer(key)
            is_same = found is not None and found.input_sha256 == input_
            if found and is_same and _is_reusable(found, parent.load(), places):
                return replace(found, reused_from=found.reused_from or parent.job)
        return None

    # -- moves -----------------------------------------------------------------------------

    def _move(self, action: CouncilAction) -> None:
        site = self._site
        target = JobStatus(action.subject)
        record = Reading(site).derived()
        match target:
            case JobStatus.RESEARCH_DONE:
                site.job.put({names.BRIEF: Reading(site).new_brief()})
            case JobStatus.COUNCIL_REVIEWING:
                record = self._published(record)
            case JobStatus.BLOCKED:
                record, action = self._explained(record, action)
            case JobStatus.EXECUTING:
                record = Bridge(site).bridged(record)
            case JobStatus.DONE | JobStatus.FAILED:
                record = Bridge(site).closed(record, action.note)
            case _:
                pass
        now = moment(site.clock.now())
        record = moved(record, target, action.guard, now, action.note)
        site.job.save(Reading(site, record).derived())
        why = record.note or action.note
        told = f"{target}: {why}" if why else str(target)
        site.tell("moved", record.job_id, told, status=str(target), guard=str(action.guard))
        self._announce(target)

    def _announce(self, status: JobStatus) -> None:
        """Say what a stage will probably take, before it begins."""
        role, calls = _STAGES.get(status, ("", 0))
        if not role:
            return
        each = estimates(self._site, Reading(self._site))[role]
        tokens, usd = each.tokens * calls, each.usd * calls
        told = f"{calls} calls, about {tokens:,} tokens, ${usd:.2f}"
        self._site.tell("estimate", str(status), told, tokens=tokens, usd=round(usd, 4))

    def _published(self, record: CouncilJob) -> CouncilJob:
        """The synthesis becomes the master plan of the next round; every version stays."""
        version = record.review_round + 1
        text, plan = Reading(self._site).new_plan(version)
        self._site.job.put({names.plan_version(version): text, names.MASTER_PLAN: text})
        return replace(record, master_plan=plan)

    def _explained(
        self, record: CouncilJob, action: CouncilAction
    ) -> tuple[CouncilJob, CouncilAction]:
        """A job that ends here says who stopped it, and what both sides say of what is open."""
        reading = Reading(self._site)
        if action.guard == Blocker.OPERATOR_VETO:
            veto = Veto("operator", record.review_round, "", action.note)
            return replace(record, veto=veto), action
        review = reading.review
        if action.guard == Blocker.VETO and review:
            return replace(record, veto=tally(review).veto), action
        if review is None or not str(action.guard).startswith("deadlock"):
            return record, action
        round_ = record.review_round
        if action.guard == Blocker.DEADLOCK_SAME_PLAN:
            round_ -= 1  # nobody was asked: what is open is what was open before
        items = open_items(reading.history, round_)
        sides = both_sides(
            items, {each.id: each for each in reading.parsed(record.review_round).answers}
        )
        return record, replace(action, note=f"{action.note}\n{sides}" if items else action.note)

    def _verdict(self, call: Call) -> str:
        """What a ballot says, for whoever looks on."""
        held = [each for each in Reading(self._site).history if each.raw == f"{call.key}.md"]
        return str(held[-1].vote) if held else "unreadable"


def _is_reusable(call: Call, given_to: CouncilJob, places: tuple[str, ...]) -> bool:
    """Whether an answer that another job was given serves this one as well.

    From a stage that led on, every answer does, and every silence: only then a retry comes to
    the same plan and the same ballots. What has led to nothing is asked for anew.
    """
    code = (given_to.blocker_reason or "").partition(":")[0]
    number = names.number_of(call.key)
    match names.stage_of(call.key):
        case "pm":
            return bool(given_to.pm.sha256) or (call.is_ok and code != Blocker.PM_VERIFY)
        case "planning":
            is_over = given_to.master_plan is not None or code == Blocker.SYNTHESIS_FAILED
            return is_over or (call.is_ok and not degenerate(call.text))
        case "synthesis":
            is_over = given_to.review_round >= number
            return is_over or (call.is_ok and code != Blocker.SYNTHESIS_FAILED)
        case _:
            asked = ballots.Asked("", call.nonce, places)
            is_vote = call.is_ok and ballots.read_ballot(call.text, asked).vote is not Vote.ABSTAIN
            return is_vote or given_to.review_round > number or code in _COUNTED
