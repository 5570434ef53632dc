"""Builders of council jobs, in one place."""

from fairlead.model.budget import Spent
from fairlead.model.council_job import (
    Ballot,
    Category,
    CouncilJob,
    Exec,
    Item,
    MasterPlanRecord,
    Pm,
    Ruling,
    SeatPlan,
    Usage,
    Verify,
    Veto,
    Vote,
)
from fairlead.model.job import JobStatus

NOW = "2026-04-12T09:21:44Z"
SEATS = ("architect", "builder", "skeptic", "security", "operator", "advocate")
SHA = "5f" * 32


def a_full_job(status: JobStatus = JobStatus.COUNCIL_REVIEWING) -> CouncilJob:
    """A job in its second round, with something in every place that a record has."""
    item = Item("security-1", Category.SECURITY, "step 4", "the token is logged", "mask it", "high")
    revise = Ballot(1, "security", Vote.REVISE, SHA, (item,), model="m", family="claude", ms=21400)
    ballots = tuple(Ballot(1, seat, Vote.APPROVE, SHA) for seat in SEATS if seat != "security")
    return CouncilJob(
        "council-20260412-090000",
        "2026-04-12T09:00:00Z",
        "Let people sign in",
        parent_job_id="council-20260411-080000",
        status=status,
        status_since=NOW,
        phase="3",
        pm=Pm(1, "pm/refined.md", "pm/audit.md", "pm/research.md", Verify(True), "brief.md", SHA),
        council_plans={"architect": SeatPlan("Summary …", "raw/r0/architect.md", SHA, 5120)},
        master_plan=MasterPlanRecord("master_plan.md", 2, SHA, 7900, letters={"A": "skeptic"}),
        review_round=2,
        council_votes=(revise, *ballots),
        cumulative_votes=(revise, *ballots),
        veto=Veto("security", 1, "step 4", "why", "high"),
        exec=Exec(1, 4711, NOW, NOW, 0, plans=3, summaries=3, session_id="s"),
        usage=Usage(cap_usd=2.5).with_spent("planning", Spent(1200, 0.4)),
        degraded=("one model family: claude",),
        rulings=(Ruling("security-1", "mask it", NOW),),
        voices={"security": ("claude", "codex")},
        inputs={"planning": SHA},
    )
