"""Reading a council job: what its stored answers mean, and the record that follows from them.

Nothing is remembered that raw memory does not hold: whoever reads the answers again comes to the
same plans, the same ballots and the same sums.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fairlead.model.budget import Spent
from fairlead.model.calls import Call
from fairlead.model.council_job import (
    AnswerStatus,
    Ballot,
    CouncilJob,
    Item,
    MasterPlanRecord,
    Pm,
    SeatPlan,
    Usage,
    Verify,
    Vote,
    with_ballot,
)
from fairlead.model.council_snapshot import CallFacts
from fairlead.model.seats import NAMES, degenerate, degraded, tokens_of, valid_seats
from fairlead.model.tally import Review, blocking_count, open_items
from fairlead.records import ballot as ballots
from fairlead.records.answer_parts import unwrapped
from fairlead.records.brief import (
    failed_checks,
    new_brief,
    read_audit,
    read_refined,
    read_research,
    read_verify,
)
from fairlead.records.master_plan import MasterPlan, faults_of, read_master_plan
from fairlead.records.raw_answer import digest
from fairlead.store import layout_council as names
from fairlead.values import replace

if TYPE_CHECKING:
    from fairlead.engine.council_site import CouncilSite

_LETTERS = "ABCDEF"


class Reading:
    """One council job, as its files say."""

    def __init__(self, site: CouncilSite, record: CouncilJob | None = None) -> None:
        self.terms = site.terms
        self.folder = site.files.folder
        self.record = record or site.job.load()
        self._job = site.job
        said = site.job.answers()
        self._stopped = {key: said.pop(key) for key in [*said] if names.is_stopped(key)}
        self._calls = said

    @property
    def calls(self) -> dict[str, Call]:
        """Everything that was said, by its key."""
        return self._calls

    def text(self, key: str) -> str:
        """What was said to a call; nothing if nobody answered."""
        call = self._calls.get(key)
        return call.text if call else ""

    # -- the PM ----------------------------------------------------------------------------

    def pm_text(self, name: str, cycle: int) -> str:
        """What a pass said, in the last cycle up to this one; `request` is the person's own."""
        if name == "request":
            return self.record.request
        found = self._pass(name, cycle)
        return found.text if found else ""

    def _pass(self, name: str, cycle: int) -> Call | None:
        keys = [names.pm_key(name, each) for each in range(cycle, 0, -1)]
        return next((self._calls[key] for key in keys if self.text(key)), None)

    def verified(self, cycle: int) -> Verify:
        """The checks of a cycle: ours, and those that the PM's own verify found to fail."""
        texts = [self.pm_text(name, cycle) for name in names.PASSES[:3]]
        call = self._calls.get(names.pm_key("verify", cycle))
        settled = [each.id for each in self.record.rulings]
        ours = failed_checks(
            read_refined(texts[0]),
            read_audit(texts[1]),
            read_research(texts[2]),
            new_brief(*texts),
            settled,
        )
        said = read_verify(call.text, call.nonce) if call and call.is_ok else Verify()
        cut = [
            f"the {name} pass was cut off at its limit"
            for name in names.PASSES[:3]
            if (found := self._pass(name, cycle)) and found.is_cut
        ]
        faults = tuple(dict.fromkeys((*cut, *ours, *said.failed_checks)))
        return Verify(not faults and said.ok, faults)

    @cached_property
    def cycle(self) -> int:
        """The cycle that the PM is in."""
        return 2 if names.pm_key("research", 2) in self._calls else 1

    @cached_property
    def brief(self) -> str:
        """The frozen brief, as the passes made it; before that, nothing.

        Its file is for people: who changes it does not change what anybody is asked.
        """
        is_frozen = self.record.pm.sha256 or self._job.text(names.BRIEF)
        return self.new_brief() if is_frozen else ""

    def new_brief(self) -> str:
        """The brief that the passes make."""
        return new_brief(*(self.pm_text(name, self.cycle) for name in names.PASSES[:3]))

    # -- plans -----------------------------------------------------------------------------

    @cached_property
    def plans(self) -> dict[str, SeatPlan]:
        """What each seat planned that has answered."""
        found = {}
        for seat in NAMES:
            calls = [self._calls.get(names.seat_key(0, seat, each)) for each in (2, 1)]
            usable = [each for each in calls if each and each.is_ok and not degenerate(each.text)]
            call = next((each for each in (*usable, *calls) if each), None)
            if call is not None:
                found[seat] = _seat_plan(call)
        return found

    @cached_property
    def letters(self) -> dict[str, str]:
        """Which seat wrote the plan of which letter: shuffled, and always alike for one brief."""
        mixed = sorted(valid_seats(self.plans), key=lambda each: digest(digest(self.brief) + each))
        return dict(zip(_LETTERS, mixed, strict=False))

    def plan_of(self, seat: str) -> str:
        """The plan of a seat; nothing if it has none that counts."""
        return self.plans[seat].text if seat in valid_seats(self.plans) else ""

    # -- the master plan -------------------------------------------------------------------

    def master_plan(self, version: int) -> str:
        """A version of the plan, as it was synthesised; nothing before it is put to the vote.

        Every ballot binds to this text, whatever becomes of the files that show it.
        """
        is_published = 0 < version <= self.record.review_round
        return plan_text(self.synthesised(version).text) if is_published else ""

    def parsed(self, version: int) -> MasterPlan:
        """A version of the plan, by its parts."""
        return read_master_plan(self.master_plan(version))

    def synthesis(self, version: int, attempt: int) -> CallFacts:
        """What an answer of the synthesiser is worth as a plan."""
        call = self._calls[names.synthesis_key(version, attempt)]
        if not call.is_ok:
            return CallFacts(False, faults=call.tries)
        text = plan_text(call.text)
        wanted = [each.id for each in read_refined(self.pm_text("refined", 1)).requirements]
        items = [each.item.id for each in open_items(self.history, version - 1)]
        faults = faults_of(read_master_plan(text), wanted, items)
        if call.is_cut:
            faults = ("the plan was cut off at its limit: be shorter", *faults)
        return CallFacts(True, call.is_cut, faults, digest(text))

    def synthesised(self, version: int) -> Call:
        """The answer that a version of the plan was made from: the repaired one if there is one."""
        second = self._calls.get(names.synthesis_key(version, 2))
        return second or self._calls[names.synthesis_key(version, 1)]

    def new_plan(self, version: int) -> tuple[str, MasterPlanRecord]:
        """A version of the plan, and what is recorded of it."""
        call = self.synthesised(version)
        text = plan_text(call.text)
        return text, MasterPlanRecord(
            names.MASTER_PLAN,
            version,
            digest(text),
            tokens_of(text),
            call.model,
            call.family,
            self.letters,
        )

    def open_items(self, round_: int) -> str:
        """The blocking items that a round left open, as the synthesiser gets them."""
        lines = []
        for each in open_items(self.history, round_) if round_ else ():
            item = each.item
            weight = f"{item.category}, {item.severity}" if item.severity else item.category
            fix = f" | {item.fix}" if item.fix else ""
            lines.append(f"{item.id} [{weight}] {item.where}: {item.why}{fix}")
        return "\n".join(lines)

    # -- ballots ---------------------------------------------------------------------------

    @cached_property
    def history(self) -> tuple[Ballot, ...]:
        """Every ballot, in the order in which each became final."""
        job = replace(self.record, council_votes=(), cumulative_votes=())
        for round_ in range(1, self.record.review_round + 1):
            job = replace(job, council_votes=())
            for ballot in self._cast(round_, job.cumulative_votes):
                job = with_ballot(job, ballot, job.updated_at)
        return job.cumulative_votes

    def _cast(self, round_: int, before: tuple[Ballot, ...]) -> list[Ballot]:
        """The ballots of a round: first ones, then those of seats that were asked again."""
        known = ballots.known_items(before, round_)
        found = []
        for seat in NAMES:
            held = self._read(round_, seat, known)
            if held is not None:
                found.append((held[0].at, self._ballot(round_, seat, *held)))
        found.sort(key=lambda each: each[0])
        again = []
        for seat in NAMES:
            call = self._calls.get(names.seat_key(round_, seat, 3))
            if call is not None:
                reading = self._said(call, seat, round_, known)
                again.append((call.at, replace(self._ballot(round_, seat, call, reading), retry=1)))
        again.sort(key=lambda each: each[0])
        return [ballot for _, ballot in (*found, *again)]

    def _read(
        self, round_: int, seat: str, known: tuple[Item, ...]
    ) -> tuple[Call, ballots.Reading] | None:
        """What a seat says, and where; None: it owes its ballot, or a readable form of it."""
        first = self._calls.get(names.seat_key(round_, seat))
        if first is None:
            return None
        said = self._said(first, seat, round_, known)
        second = self._calls.get(names.seat_key(round_, seat, 2))
        if said.fault and first.is_ok and second is None:
            return None
        is_answered = second is not None and second.is_ok
        again = self._said(second, seat, round_, known) if second and is_answered else None
        kept = ballots.settled(said, again)
        return first if kept is said or second is None else second, kept

    def _said(self, call: Call, seat: str, round_: int, known: tuple[Item, ...]) -> ballots.Reading:
        if not call.is_ok:
            note = "; ".join(call.tries)
            return ballots.Reading(Vote.ABSTAIN, status=AnswerStatus.ABSENT, note=note)
        places = self.parsed(round_).places
        return ballots.read_ballot(call.text, ballots.Asked(seat, call.nonce, places, known))

    def ballot_key(self, round_: int, seat: str) -> str:
        """The answer that became the ballot of a seat; empty if there is none."""
        mine = [each for each in self.history if (each.round, each.seat) == (round_, seat)]
        return next((each.raw.removesuffix(".md") for each in mine if each.final), "")

    def ballot_faults(self, round_: int, seat: str) -> tuple[str, ...]:
        """Why the first ballot of a seat has to be put right; nothing if it need not."""
        call = self._calls.get(names.seat_key(round_, seat))
        if call is None or not call.is_ok:
            return ()
        known = ballots.known_items(self.history, round_)
        fault = self._said(call, seat, round_, known).fault
        return (fault,) if fault else ()

    def _ballot(self, round_: int, seat: str, call: Call, said: ballots.Reading) -> Ballot:
        return Ballot(
            round_,
            seat,
            said.vote,
            digest(self.master_plan(round_)),
            said.blocking,
            said.advisory,
            said.status,
            call.model,
            call.family,
            call.tokens_in,
            call.tokens_out,
            call.cost_usd,
            call.ms,
            raw=f"{call.key}.md",
            note=said.note,
        )

    @property
    def review(self) -> Review | None:
        """What is counted in this round."""
        round_ = self.record.review_round
        if not round_:
            return None
        before = [each for each in self.history if each.round == round_ - 1]
        return Review(
            tuple(each for each in self.history if each.round == round_),
            round_,
            digest(self.master_plan(round_)),
            self.parsed(round_).places,
            self.record.max_review_rounds,
            blocking_count(before) if round_ > 1 else None,
            digest(self.master_plan(round_ - 1)) if round_ > 1 else "",
            self.record.allow_absent,
        )

    # -- the record ------------------------------------------------------------------------

    def derived(self) -> CouncilJob:
        """The record, with everything that follows from what was said."""
        record = self.record
        now = [each for each in self.history if each.round == record.review_round and each.final]
        spent = self.usage
        return replace(
            record,
            pm=self._pm(),
            council_plans=self.plans,
            council_votes=tuple(now) if record.review_round else (),
            cumulative_votes=self.history,
            usage=replace(spent, cap_usd=self.terms.caps.run_usd or None),
            degraded=degraded(self.plans, now if len(now) == len(NAMES) else ()),
            inputs=self._inputs(),
        )

    def _pm(self) -> Pm:
        paths = {
            name: f"{names.pm_key(name, cycle)}.md"
            for name in names.PASSES
            for cycle in (1, 2)
            if names.pm_key(name, cycle) in self._calls
        }
        verify = self._calls.get(names.pm_key("verify", self.cycle))
        return Pm(
            self.cycle,
            paths.get("refined", ""),
            paths.get("audit", ""),
            paths.get("research", ""),
            self.verified(self.cycle) if verify and verify.is_ok else None,
            names.BRIEF if self.brief else "",
            digest(self.brief) if self.brief else "",
        )

    @property
    def usage(self) -> Usage:
        """What was spent, by stage and by who was asked."""
        held, seats = Usage(), dict[str, Spent]()
        taken = [
            (names.stage_of(key), names.who_of(key), call.spent)
            for key, call in sorted({**self._calls, **self._stopped}.items())
        ]
        if self.record.exec.spent.tokens:
            taken.append(("execution", "host", self.record.exec.spent))
        for stage, who, spent in taken:
            held = held.with_spent(stage, spent)
            seats[who] = seats.get(who, Spent()) + spent
        return replace(held, by_seat=seats)

    def _inputs(self) -> dict[str, str]:
        stages: dict[str, list[str]] = {}
        for key in sorted(self._calls):
            stages.setdefault(names.stage_of(key), []).append(self._calls[key].input_sha256)
        return {stage: digest("".join(held)) for stage, held in stages.items()}


def plan_text(answer: str) -> str:
    """A plan as it is kept: without the fence around all of it, ending with one line end."""
    return unwrapped(answer).strip() + "\n"


def _seat_plan(call: Call) -> SeatPlan:
    why = degenerate(call.text) if call.is_ok else "; ".join(call.tries)
    status = AnswerStatus.OK if call.is_ok else AnswerStatus.ABSENT
    if call.is_ok and why:
        status = AnswerStatus.DEGENERATE
    return SeatPlan(
        call.text,
        f"{call.key}.md",
        digest(call.text),
        call.tokens_out or tokens_of(call.text),
        call.is_cut,
        call.model,
        call.family,
        status,
        call.cost_usd,
        call.ms,
        why,
    )
