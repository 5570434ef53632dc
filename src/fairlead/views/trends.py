"""How the work went over time: the duration of each plan, and what each day cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.core.values import dataclass
from fairlead.jobs.paths import JOBS, LEDGER
from fairlead.project.paths import archive_of
from fairlead.project.state.metrics import archived_durations, durations_of
from fairlead.store import layout
from fairlead.store.reader import Reader
from fairlead.text.document import Document

if TYPE_CHECKING:
    from fairlead.app import App


@dataclass(frozen=True, slots=True)
class PlanDuration:
    """How long a plan took, as STATE.md or its archive records it."""

    plan: str
    minutes: float


@dataclass(frozen=True, slots=True)
class DaySpending:
    """What agents cost on one day, according to the ledgers."""

    day: str
    cost_usd: float
    tokens: int


@dataclass(frozen=True, slots=True)
class TrendView:
    """Velocity and cost, the oldest first. Rehearsals are left out."""

    plans: tuple[PlanDuration, ...]
    days: tuple[DaySpending, ...]


def trends_view(app: App, workstream: str = "") -> TrendView:
    """The recorded durations of plans, and the cost of every day on which agents were asked."""
    reader = Reader(app.place)
    archive = reader.load_for_display(archive_of(workstream))
    state = reader.load_for_display(layout.documents_of(workstream)[0])
    durations = {
        **(archived_durations(archive.text) if archive else {}),
        **(durations_of(Document(state.text)) if state else {}),
    }
    return TrendView(
        tuple(PlanDuration(name, took.total_seconds() / 60) for name, took in durations.items()),
        _days(app) if reader.names(LEDGER) or reader.names(JOBS) else (),
    )


def _days(app: App) -> tuple[DaySpending, ...]:
    """Executions and workflows by their ledgers, councils by their records."""
    from fairlead.agents.budget import Cost
    from fairlead.council.model import CouncilJob
    from fairlead.jobs.ledger import Spending
    from fairlead.jobs.model import record_as

    spent = Spending(app.step[0]).by_day()
    for record in app.jobs.records():
        council = record_as(CouncilJob, record)
        if council and not council.is_rehearsed:
            day, usage = council.updated_at[:10], council.usage
            cost = Cost(usage.total_tokens, usage.total_cost_usd)
            spent[day] = spent.get(day, Cost()) + cost
    return tuple(DaySpending(day, cost.usd, cost.tokens) for day, cost in sorted(spent.items()))
