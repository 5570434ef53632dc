"""Derives everything from the stored answers of a council job: plans, ballots, usage, record.

The answers are the only memory of a job. Reading them again gives the same plans, the same
ballots and the same sums, so that a run can be killed at any moment.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fairlead.agents.budget import Cost
from fairlead.core.values import replace
from fairlead.council import ballot as ballots
from fairlead.council import paths as names
from fairlead.council.brief import (
    failed_checks,
    new_brief,
    read_audit,
    read_refined,
    read_research,
    read_verify,
)
from fairlead.council.decide import CallFacts
from fairlead.council.master_plan import MasterPlan, faults_of, read_master_plan
from fairlead.council.model import (
    AnswerStatus,
    Ballot,
    BriefCheck,
    CouncilJob,
    CouncilUsage,
    Item,
    MasterPlanRecord,
    PmRecord,
    SeatPlan,
    Vote,
    with_ballot,
)
from fairlead.council.seats import (
    SEAT_NAMES,
    degradations,
    length_fault,
    plan_fault,
    tokens_of,
    valid_seats,
)
from fairlead.council.tally import Review, blocking_count, open_items
from fairlead.jobs.raw_answers import RawAnswer, digest
from fairlead.workflows.artefacts import unwrapped

if TYPE_CHECKING:
    from fairlead.council.context import CouncilContext

_LETTERS = "ABCDEF"
_BRIEF_PASSES = names.PASSES[:3]  # the verify pass is not part of the brief


class CouncilAnswers:
    """The stored answers of one council job and what follows from them."""

    def __init__(self, context: CouncilContext, record: CouncilJob | None = None) -> None:
        self.options = context.council
        self.caps = context.options.caps
        self.folder = context.files.folder
        self.record = record or context.folder.load(CouncilJob)
        self._job = context.folder
        self._is_proven = context.folder.is_proven
        stored = context.folder.answers()
        self.calls = {key: call for key, call in stored.items() if not names.is_stopped(key)}
        self._spent = {key: call.spent for key, call in sorted(stored.items())}

    def text(self, key: str) -> str:
        """Return the text of an answer; empty if there is none."""
        call = self.calls.get(key)
        return call.text if call else ""

    # -- the PM ----------------------------------------------------------------------------

    def pm_text(self, name: str, cycle: int) -> str:
        """Return the text of a pass, of this cycle or else of the one before."""
        if name == "request":
            return self.record.request
        answer = self._pass(name, cycle)
        return answer.text if answer else ""

    def _pass(self, name: str, cycle: int) -> RawAnswer | None:
        keys = [names.pm_key(name, number) for number in range(cycle, 0, -1)]
        return next((self.calls[key] for key in keys if self.text(key)), None)

    def verified(self, cycle: int) -> BriefCheck:
        """Check the brief of a cycle; the PM's own verify pass can only add faults."""
        refined, audit, research = (self.pm_text(name, cycle) for name in _BRIEF_PASSES)
        call = self.calls.get(names.pm_key("verify", cycle))
        own_check = read_verify(call.text, call.nonce) if call and call.is_ok else BriefCheck()
        failed = failed_checks(
            read_refined(refined),
            read_audit(audit),
            read_research(research),
            new_brief(refined, audit, research),
            [ruling.id for ruling in self.record.rulings],
        )
        cut = [
            f"the {name} pass was cut off at its limit"
            for name in _BRIEF_PASSES
            if (answer := self._pass(name, cycle)) and answer.is_cut
        ]
        faults = tuple(dict.fromkeys((*cut, *failed, *own_check.failed_checks)))
        return BriefCheck(not faults and own_check.ok, faults)

    @cached_property
    def cycle(self) -> int:
        """The current cycle of the PM."""
        return 2 if names.pm_key("research", 2) in self.calls else 1

    @cached_property
    def brief(self) -> str:
        """The frozen brief; empty before it is frozen.

        It comes from the stored passes. The file is for people: editing it does not change what
        the seats are asked.
        """
        is_frozen = self.record.pm.sha256 or self._job.document(names.BRIEF)
        return self.new_brief() if is_frozen else ""

    def new_brief(self) -> str:
        """Return the brief that the passes make."""
        return new_brief(*(self.pm_text(name, self.cycle) for name in _BRIEF_PASSES))

    # -- plans -----------------------------------------------------------------------------

    @cached_property
    def plans(self) -> dict[str, SeatPlan]:
        """The plan of each seat that has answered; a usable second answer replaces the first."""
        plans = {}
        for seat in SEAT_NAMES:
            keys = [names.seat_key(0, seat, attempt) for attempt in (2, 1)]
            limit = self.options.plan_tokens
            answers = [_seat_plan(self.calls[key], limit) for key in keys if key in self.calls]
            usable = [plan for plan in answers if plan.status is AnswerStatus.OK]
            if answers:
                plans[seat] = (*usable, *answers)[0]
        return plans

    @cached_property
    def letters(self) -> dict[str, str]:
        """The seat behind each letter: shuffled, but always alike for the same brief."""
        brief = digest(self.brief)
        shuffled = sorted(valid_seats(self.plans), key=lambda seat: digest(brief + seat))
        return dict(zip(_LETTERS, shuffled, strict=False))

    def plan_of(self, seat: str) -> str:
        """Return the plan of a seat; empty if it has none that counts."""
        return self.plans[seat].text if seat in valid_seats(self.plans) else ""

    # -- the master plan -------------------------------------------------------------------

    def master_plan(self, version: int) -> str:
        """Return a version of the master plan; empty before it is put to the vote.

        It comes from the synthesiser's answer, not from the files that show it: every ballot
        binds to the hash of this text.
        """
        is_published = 0 < version <= self.record.review_round and self._is_proven
        return plan_text(self.synthesised(version).text) if is_published else ""

    def parsed(self, version: int) -> MasterPlan:
        """Return a version of the master plan by its parts."""
        return read_master_plan(self.master_plan(version))

    def synthesis(self, version: int, attempt: int) -> CallFacts:
        """Check an answer of the synthesiser as a master plan."""
        call = self.calls[names.synthesis_key(version, attempt)]
        refined = read_refined(self.pm_text("refined", 1))
        requirements = [required.id for required in refined.requirements]
        open_ids = [entry.item.id for entry in open_items(self.history, version - 1)]
        plan = read_master_plan(plan_text(call.text))
        faults = faults_of(plan, requirements, open_ids)
        if call.is_cut:
            faults = ("the plan was cut off at its limit: be shorter", *faults)
        return CallFacts(True, call.is_cut, faults)

    def synthesised(self, version: int) -> RawAnswer:
        """Return the answer that became a version of the plan: the repaired one if there is one."""
        second = self.calls.get(names.synthesis_key(version, 2))
        return second or self.calls[names.synthesis_key(version, 1)]

    def new_plan(self, version: int) -> tuple[str, MasterPlanRecord]:
        """Return the text of a version of the plan, and its record."""
        call = self.synthesised(version)
        text = plan_text(call.text)
        return text, MasterPlanRecord(
            path=names.MASTER_PLAN,
            version=version,
            sha256=digest(text),
            tokens=tokens_of(text),
            model=call.model,
            family=call.family,
            letters=self.letters,
        )

    def open_items_text(self, round_: int) -> str:
        """List the blocking items that a round left open, for the synthesiser."""
        lines = []
        for entry in open_items(self.history, round_):
            item = entry.item
            label = f"{item.category}, {item.severity}" if item.severity else item.category
            fix = f" | {item.fix}" if item.fix else ""
            lines.append(f"{item.id} [{label}] {item.where}: {item.why}{fix}")
        return "\n".join(lines)

    # -- ballots ---------------------------------------------------------------------------

    @cached_property
    def history(self) -> tuple[Ballot, ...]:
        """Every ballot, in the order in which each became final."""
        job = replace(self.record, council_votes=(), cumulative_votes=())
        for round_ in range(1, self.record.review_round + 1):
            job = replace(job, council_votes=())
            for ballot in self._round_ballots(round_, job.cumulative_votes):
                job = with_ballot(job, ballot, job.updated_at)
        return job.cumulative_votes

    def _round_ballots(self, round_: int, before: tuple[Ballot, ...]) -> list[Ballot]:
        """List the ballots of a round: first those of all seats, then those asked for again."""
        known = ballots.known_items(before, round_)
        first, again = [], []
        for seat in SEAT_NAMES:
            if counted := self._counted(round_, seat, known):
                call, reading = counted
                first.append((call.at, self._ballot(round_, seat, call, reading)))
            if reasked := self.calls.get(names.seat_key(round_, seat, 3)):
                reading = self._reading(reasked, seat, round_, known)
                ballot = self._ballot(round_, seat, reasked, reading)
                again.append((reasked.at, replace(ballot, retry=1)))
        by_time = [sorted(cast, key=lambda entry: entry[0]) for cast in (first, again)]
        return [ballot for cast in by_time for _, ballot in cast]

    def _counted(
        self, round_: int, seat: str, known: tuple[Item, ...]
    ) -> tuple[RawAnswer, ballots.BallotReading] | None:
        """Return the answer that counts and its reading; None: the seat still has to answer."""
        first = self.calls.get(names.seat_key(round_, seat))
        if first is None:
            return None
        reading = self._reading(first, seat, round_, known)
        repair = self.calls.get(names.seat_key(round_, seat, 2))
        if repair is None:
            return None if reading.fault and first.is_ok else (first, reading)
        repaired = self._reading(repair, seat, round_, known) if repair.is_ok else None
        kept = ballots.after_repair(reading, repaired)
        return first if kept is reading else repair, kept

    def _reading(
        self, call: RawAnswer, seat: str, round_: int, known: tuple[Item, ...]
    ) -> ballots.BallotReading:
        if not call.is_ok:
            note = "; ".join(call.tries)
            return ballots.BallotReading(Vote.ABSTAIN, status=AnswerStatus.ABSENT, note=note)
        places = self.parsed(round_).places
        request = ballots.BallotRequest(seat, call.nonce, places, known)
        return ballots.read_ballot(call.text, request)

    def ballot_key(self, round_: int, seat: str) -> str:
        """Return the key of the answer that became a seat's ballot; empty if there is none."""
        for ballot in self.history:
            if (ballot.round, ballot.seat, ballot.final) == (round_, seat, True):
                return ballot.raw.removesuffix(".md")
        return ""

    def ballot_faults(self, round_: int, seat: str) -> tuple[str, ...]:
        """Say why the first ballot of a seat needs a repair; empty if it does not."""
        call = self.calls.get(names.seat_key(round_, seat))
        if call is None or not call.is_ok:
            return ()
        known = ballots.known_items(self.history, round_)
        fault = self._reading(call, seat, round_, known).fault
        return (fault,) if fault else ()

    def _ballot(
        self, round_: int, seat: str, call: RawAnswer, reading: ballots.BallotReading
    ) -> Ballot:
        return Ballot(
            round=round_,
            seat=seat,
            vote=reading.vote,
            plan_sha256=digest(self.master_plan(round_)),
            blocking=reading.blocking,
            advisory=reading.advisory,
            status=reading.status,
            model=call.model,
            family=call.family,
            tokens_in=call.tokens_in,
            tokens_out=call.tokens_out,
            cost_usd=call.cost_usd,
            ms=call.ms,
            raw=f"{call.key}.md",
            note=reading.note,
        )

    @property
    def review(self) -> Review | None:
        """The input for the tally of the current round; None before the first one."""
        round_ = self.record.review_round
        if not round_ or not self._is_proven:
            return None
        review = Review(
            tuple(ballot for ballot in self.history if ballot.round == round_),
            round_,
            digest(self.master_plan(round_)),
            self.parsed(round_).places,
            self.record.max_review_rounds,
            allow_absent=self.record.allow_absent,
        )
        if round_ == 1:
            return review
        before = [ballot for ballot in self.history if ballot.round == round_ - 1]
        last_sha256 = digest(self.master_plan(round_ - 1))
        return replace(review, open_before=blocking_count(before), last_sha256=last_sha256)

    # -- the record ------------------------------------------------------------------------

    def derived(self) -> CouncilJob:
        """Return the record with everything that follows from the answers."""
        record = self.record
        if not self._is_proven:
            return record  # of an older version; it only ends, and stays what it was
        votes = tuple(
            ballot
            for ballot in self.history
            if ballot.round == record.review_round and ballot.final
        )
        return replace(
            record,
            pm=self._pm_record(),
            council_plans=self.plans,
            council_votes=votes,
            cumulative_votes=self.history,
            usage=self._usage(),
            degraded=degradations(self.plans, votes),
            inputs=self._inputs(),
        )

    def _pm_record(self) -> PmRecord:
        paths = {
            name: f"{key}.md"
            for name in names.PASSES
            for cycle in (1, 2)
            if (key := names.pm_key(name, cycle)) in self.calls
        }
        verify = self.calls.get(names.pm_key("verify", self.cycle))
        return PmRecord(
            cycle=self.cycle,
            refined=paths.get("refined", ""),
            audit=paths.get("audit", ""),
            research=paths.get("research", ""),
            verify=self.verified(self.cycle) if verify and verify.is_ok else None,
            brief=names.BRIEF if self.brief else "",
            sha256=digest(self.brief) if self.brief else "",
        )

    def _usage(self) -> CouncilUsage:
        """Sum up what was spent, by stage and by role; stopped calls count too."""
        spending = [
            (names.stage_of(key), names.role_of(key), spent) for key, spent in self._spent.items()
        ]
        if self.record.exec.spent.tokens:
            spending.append(("execution", "host", self.record.exec.spent))
        usage, by_role = CouncilUsage(cap_usd=self.caps.run_usd or None), dict[str, Cost]()
        for stage, role, spent in spending:
            usage = usage.with_spent(stage, spent)
            by_role[role] = by_role.get(role, Cost()) + spent
        return replace(usage, by_seat=by_role)

    def _inputs(self) -> dict[str, str]:
        hashes: dict[str, str] = {}
        for key in sorted(self.calls):
            stage = names.stage_of(key)
            hashes[stage] = hashes.get(stage, "") + self.calls[key].input_sha256
        return {stage: digest(joined) for stage, joined in hashes.items()}


def plan_text(answer: str) -> str:
    """Return a plan as it is stored: without a fence around all of it, ending in one newline."""
    return unwrapped(answer).strip() + "\n"


def _seat_plan(call: RawAnswer, limit: int) -> SeatPlan:
    too_long = length_fault(call.text, limit) if call.is_ok else ""
    fault = too_long or (plan_fault(call.text) if call.is_ok else "; ".join(call.tries))
    status = AnswerStatus.DEGENERATE if fault else AnswerStatus.OK
    if too_long or not call.is_ok:
        status = AnswerStatus.ABSENT
    return SeatPlan(
        text="" if fault else call.text,
        raw=f"{call.key}.md",
        sha256=digest(call.text),
        tokens=call.tokens_out or tokens_of(call.text),
        truncated=call.is_cut,
        model=call.model,
        family=call.family,
        status=status,
        cost_usd=call.cost_usd,
        ms=call.ms,
        note=fault,
    )
