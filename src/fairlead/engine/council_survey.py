"""Surveying a council job: the disk as a snapshot, the only way from what was said to what is next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.engine.bridge import HOST, Bridge
from fairlead.engine.council_prompts import BALLOT, SEAT, SYNTHESIS
from fairlead.engine.council_reading import Reading
from fairlead.engine.council_site import PM
from fairlead.engine.purse import Purse
from fairlead.model.budget import Actual, Spent, estimate
from fairlead.model.council_job import CouncilJob
from fairlead.model.council_snapshot import CallFacts, CouncilSnapshot
from fairlead.model.job import JobStatus
from fairlead.records.master_plan import read_master_plan
from fairlead.records.state import moment
from fairlead.store import layout_council as names
from fairlead.store.council import council_ids
from fairlead.store.jobs import job_records

if TYPE_CHECKING:
    from fairlead.engine.council_site import CouncilSite

_OWN_WORDS = 2500  # characters of our own in a prompt
_CHARACTERS_A_TOKEN = 4


def council_survey(
    site: CouncilSite, running: tuple[str, ...], *, is_stopping: bool
) -> CouncilSnapshot:
    """Look at the job as it is on disk now."""
    reading = Reading(site)
    record = reading.derived()
    is_approved = record.status is JobStatus.APPROVED
    is_executing = record.status is JobStatus.EXECUTING
    bridge = Bridge(site)
    return CouncilSnapshot(
        job=record,
        calls={key: _facts(reading, key) for key in reading.calls},
        verified=tuple(
            reading.verified(cycle)
            for cycle in (1, 2)
            if names.pm_key("verify", cycle) in reading.calls
        ),
        review=reading.review,
        spent=Spent(record.usage.total_tokens, record.usage.total_cost_usd),
        spent_today=_today(site),
        estimates=estimates(site, reading),
        caps=site.terms.caps,
        min_families=site.terms.min_families,
        wish=site.job.wish(),
        preflight=bridge.faults(record) if is_approved and site.may_execute else (),
        may_execute=site.may_execute,
        ended=bridge.ended(record) if is_executing else None,
        completion=site.terms.completion,
        running=running,
        is_stopping=is_stopping,
    )


def _facts(reading: Reading, key: str) -> CallFacts:
    call = reading.calls[key]
    folder, _, name = key.rpartition("/")
    if not call.is_ok:
        return CallFacts(False, faults=call.tries)
    if folder == names.SYNTHESIS:
        version, _, attempt = name.removeprefix("v").partition(".")
        return reading.synthesis(int(version), int(attempt or 1))
    faults: tuple[str, ...] = ()
    if names.stage_of(key) == "review" and "." not in name:
        faults = reading.ballot_faults(int(folder.rpartition("/r")[2]), name)
    return CallFacts(True, call.is_cut, faults)


def estimates(site: CouncilSite, reading: Reading) -> dict[str, Spent]:
    """What one call will probably take, by what it is for."""
    past = [Actual(call.role, call.characters, call.spent) for call in reading.calls.values()]
    plan = site.terms.plan_tokens * _CHARACTERS_A_TOKEN // 2  # few are as long as they may be
    brief = len(reading.brief) or plan
    sizes = {
        PM: len(reading.record.request) + plan,
        SEAT: brief,
        SYNTHESIS: brief + sum(len(each.text) or plan for each in reading.plans.values()),
        BALLOT: brief + 2 * plan,
    }
    if not reading.plans:
        sizes[SYNTHESIS] = brief + 6 * plan
    found = {role: estimate(role, size + _OWN_WORDS, past) for role, size in sizes.items()}
    if site.terms.bridge == HOST and (text := reading.master_plan(reading.record.review_round)):
        step = estimate("executor", len(text))  # our own engine looks at what it spends itself
        found[HOST] = sum((step for _ in read_master_plan(text).steps), Spent())
    return found


def _today(site: CouncilSite) -> Spent:
    """What all jobs of this day took: those of the engine by their ledgers, councils by records."""
    today = moment(site.clock.now())[:10]
    total = Purse(site.files).today(today, is_rehearsed=site.terms.is_rehearsed)
    others = [each for each in council_ids(site.files) if each != site.job.job]
    for held in (site.job.load(), *job_records(site.files, others)):
        if not isinstance(held, CouncilJob) or held.is_rehearsed != site.terms.is_rehearsed:
            continue
        if held.updated_at[:10] == today:
            total = total + Spent(held.usage.total_tokens, held.usage.total_cost_usd)
    return total
