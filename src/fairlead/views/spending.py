"""What jobs cost and how long they took, grouped for tables and charts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from fairlead.core.values import dataclass
from fairlead.council.report import CouncilReport

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairlead.jobs.ledger import PaidCall

_DAY = len("2026-01-01")


@dataclass(frozen=True, slots=True)
class SpendingRow:
    """The calls of one group."""

    step: str  # a stage of a council, or the step of a task
    agent: str
    model: str
    calls: int
    tokens: int
    cost_usd: float
    seconds: float


def spending_rows(report: Any) -> tuple[SpendingRow, ...]:
    """The cost and the time of a job by step, agent and model."""
    if isinstance(report, CouncilReport):
        return _council_rows(report)
    return grouped_calls(getattr(report, "paid", ()))


def grouped_calls(paid: Iterable[PaidCall]) -> tuple[SpendingRow, ...]:
    """Calls by step, agent and model."""
    groups: dict[tuple[str, str, str], list[PaidCall]] = defaultdict(list)
    for call in paid:
        groups[call.kind, call.agent, call.model].append(call)
    return tuple(
        SpendingRow(
            *group,
            len(calls),
            sum(call.tokens for call in calls),
            sum(call.cost_usd for call in calls),
            sum(call.seconds for call in calls),
        )
        for group, calls in sorted(groups.items())
    )


def _council_rows(report: CouncilReport) -> tuple[SpendingRow, ...]:
    """A council counts its cost by stage; its seats record the time of each answer."""
    job = report.job
    spent: dict[str, float] = defaultdict(float)
    asked: dict[str, int] = defaultdict(int)
    for stage, answers in (
        ("planning", tuple(job.council_plans.values())),
        ("review", job.cumulative_votes),
    ):
        spent[stage] += sum(answer.ms for answer in answers) / 1000
        asked[stage] += len(answers)
    return tuple(
        SpendingRow(stage, "", "", asked[stage], cost.tokens, cost.usd, spent[stage])
        for stage, cost in job.usage.by_stage.items()
    )
