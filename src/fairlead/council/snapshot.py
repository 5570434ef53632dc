"""Reads the state of a council job from disk into the snapshot that `decide` works on."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from fairlead.agents.budget import CHARACTERS_A_TOKEN, Actual, Cost, estimate
from fairlead.council import paths as names
from fairlead.council.answers import CouncilAnswers
from fairlead.council.bridge import ExecutionBridge
from fairlead.council.brief import audit_faults
from fairlead.council.decide import CallFacts, CouncilSnapshot
from fairlead.council.folder import council_ids, stop_request
from fairlead.council.model import CouncilJob
from fairlead.council.seats import BALLOT, HOST, PM, SEAT, SEAT_NAMES, SYNTHESIS, length_fault
from fairlead.jobs.folder import records_of
from fairlead.jobs.ledger import Spending
from fairlead.jobs.model import JobStatus

if TYPE_CHECKING:
    from fairlead.council.context import CouncilContext

STAGE_CALLS = {PM: len(names.PASSES), SEAT: len(SEAT_NAMES), SYNTHESIS: 1, BALLOT: len(SEAT_NAMES)}
_TEMPLATE_CHARACTERS = 2500  # of a prompt without its pieces


def council_snapshot(
    context: CouncilContext, running: tuple[str, ...], *, is_stopping: bool
) -> CouncilSnapshot:
    """Read the job as it is on disk now."""
    answers = CouncilAnswers(context)
    record = answers.derived()
    is_approved = record.status is JobStatus.APPROVED
    is_executing = record.status is JobStatus.EXECUTING
    bridge = ExecutionBridge(context)
    return CouncilSnapshot(
        job=record,
        calls={key: _facts(answers, key) for key in answers.calls},
        verified=tuple(
            answers.verified(cycle)
            for cycle in (1, 2)
            if names.pm_key("verify", cycle) in answers.calls
        ),
        review=answers.review,
        spent=Cost(record.usage.total_tokens, record.usage.total_cost_usd),
        spent_today=_spent_today(context),
        estimates=estimates(context, answers),
        caps=context.options.caps,
        min_families=context.council.min_families,
        stop_request=stop_request(context.folder),
        preflight=bridge.preflight_faults(record)
        if is_approved and context.may_run_commands
        else (),
        may_execute=context.may_run_commands,
        ended=bridge.execution_end(record) if is_executing else None,
        completion=context.council.completion,
        running=running,
        is_stopping=is_stopping,
    )


def watched_council(record: CouncilJob) -> CouncilSnapshot:
    """As much of a job as a process sees that does not run it."""
    usage = record.usage
    return CouncilSnapshot(record, {}, spent=Cost(usage.total_tokens, usage.total_cost_usd))


def _facts(answers: CouncilAnswers, key: str) -> CallFacts:
    call = answers.calls[key]
    name, _, attempt = key.rpartition("/")[2].partition(".")
    if not call.is_ok:
        return CallFacts(False, faults=call.tries)
    match names.stage_of(key):
        case "pm" if name == "audit":
            faults = audit_faults(call.text, partial(_is_in, answers.folder))
            return CallFacts(True, call.is_cut, faults)
        case "planning":
            fault = length_fault(call.text, answers.options.plan_tokens)
            return CallFacts(True, call.is_cut, (fault,) if fault else ())
        case "synthesis":
            return answers.synthesis(names.number_of(key), int(attempt or 1))
        case "review" if not attempt:
            faults = answers.ballot_faults(names.number_of(key), name)
            return CallFacts(True, call.is_cut, faults)
        case _:
            return CallFacts(True, call.is_cut)


def _is_in(folder: str, path: str) -> bool:
    return not os.path.isabs(path) and os.path.lexists(os.path.join(folder, path))


def estimates(context: CouncilContext, answers: CouncilAnswers) -> dict[str, Cost]:
    """Estimate the cost of one call, by the role of the call."""
    past = [Actual(call.role, call.characters, call.spent) for call in answers.calls.values()]
    plan = context.council.plan_tokens * CHARACTERS_A_TOKEN // 2  # few plans reach the limit
    brief = len(answers.brief) or plan
    plans = [len(seat_plan.text) or plan for seat_plan in answers.plans.values()]
    sizes = {
        PM: len(answers.record.request) + plan,
        SEAT: brief,
        SYNTHESIS: brief + sum(plans or [plan] * len(SEAT_NAMES)),
        BALLOT: brief + 2 * plan,
    }
    costs = {
        role: estimate(role, size + _TEMPLATE_CHARACTERS, past) for role, size in sizes.items()
    }
    version = answers.record.review_round
    if context.council.bridge == HOST and (text := answers.master_plan(version)):
        # Only for the host: an execution job checks its own spending.
        step = estimate("executor", len(text))
        costs[HOST] = sum((step for _ in answers.parsed(version).steps), Cost())
    return costs


def _spent_today(context: CouncilContext) -> Cost:
    """Sum up today's spending of all jobs: councils by their records, others by their ledgers."""
    today, is_rehearsed = context.now()[:10], context.options.is_rehearsed
    total = Spending(context.files).today(today, is_rehearsed=is_rehearsed)
    others = [job for job in council_ids(context.files) if job != context.folder.job]
    for record in (context.folder.load(CouncilJob), *records_of(context.files, CouncilJob, others)):
        if record.is_rehearsed == is_rehearsed and record.updated_at[:10] == today:
            total = total + Cost(record.usage.total_tokens, record.usage.total_cost_usd)
    return total
