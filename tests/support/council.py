"""Builders of council jobs, in one place."""

from fairlead.agents.budget import Cost
from fairlead.council.model import (
    Ballot,
    BriefCheck,
    Category,
    CouncilJob,
    CouncilUsage,
    ExecutionRecord,
    Item,
    MasterPlanRecord,
    PmRecord,
    Ruling,
    SeatPlan,
    Veto,
    Vote,
)
from fairlead.jobs.model import JobStatus

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
        pm=PmRecord(
            1, "pm/refined.md", "pm/audit.md", "pm/research.md", BriefCheck(True), "brief.md", SHA
        ),
        council_plans={"architect": SeatPlan("Summary …", "raw/r0/architect.md", SHA, 5120)},
        master_plan=MasterPlanRecord("master_plan.md", 2, SHA, 7900, letters={"A": "skeptic"}),
        review_round=2,
        council_votes=(revise, *ballots),
        cumulative_votes=(revise, *ballots),
        veto=Veto("security", 1, "step 4", "why", "high"),
        exec=ExecutionRecord(1, 4711, NOW, NOW, 0, plans=3, summaries=3, session_id="s"),
        usage=CouncilUsage(cap_usd=2.5).with_spent("planning", Cost(1200, 0.4)),
        degraded=("one model family: claude",),
        rulings=(Ruling("security-1", "mask it", NOW),),
        voices={"security": ("claude", "codex")},
        inputs={"planning": SHA},
    )


REFINED = """\
## Goal
People sign in with a passkey.

## Scope
- in: sign-in and sign-out
- out: passwords

## Constraints
- no new service

## Requirements
- R1: a person can sign in
  - criterion: `pytest tests/test_sign_in.py` passes
  - criterion: a wrong key is refused with 401
- R2: a session ends after a day
  - criterion: a request with a session of 25 hours is refused

## Open questions
- Q1: which colour has the button
"""
AUDIT = """\
## What exists
- app/server.py: the routes
- `app/store.py:12`: keeps sessions

## Touched
- app/server.py: two routes more

## Risks
- app/store.py: old sessions have no date

## Conflicts
None

## Gaps
- G1: which browsers are used
- G2: how long a session may live
"""
RESEARCH = """\
## Answers
- G1: all since 2023 | source: analytics | confidence: high
- G2: accepted risk | a day is what the person asked for

## Findings
- the library is maintained | source: its changelog | confidence: medium
"""
STEP = """\
#### Step {id}: {title}
- files: {files}
- action: write it
- verify: `pytest tests/test_{id}.py`
- done: step {id} works
- requirements: {requirements}
"""


def a_step(name: str, files: str = "", requirements: str = "R1", title: str = "a part") -> str:
    """The text of one step."""
    return STEP.format(
        id=name, title=title, files=files or f"app/{name}.py", requirements=requirements
    )


def a_master_plan(*waves: tuple[str, ...], answers: str = "", goal: str = "Passkeys.") -> str:
    """The text of a master plan: the steps of each wave, and the answers of a revision."""
    chosen = waves or ((a_step("1"), a_step("2", requirements="R1, R2")), (a_step("3"),))
    steps = "\n".join(f"### Wave {at}\n\n" + "\n".join(wave) for at, wave in enumerate(chosen, 1))
    rows = f"\n## Answers\n| id | answer | reason |\n|---|---|---|\n{answers}\n" if answers else ""
    return f"""\
# Master plan: sign in with a passkey

## Goal
{goal}

## Requirements
| id | requirement | steps |
|---|---|---|
| R1 | a person can sign in | 1, 2 |
| R2 | a session ends after a day | 2 |

## Decisions
- a library | rejected: our own code | from: A, C

## Steps

{steps}
## Tests
- every route, by `pytest`

## Risks
- old sessions | answer: they end at once

## Dissent
- a service of its own | from: B | why: the brief rules it out
{rows}"""
