"""The kinds of stored jobs: the command that was interrupted, and when."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One stored job."""

    argv: tuple[str, ...]  # started, killed, and started again
    events: int  # after so many lines of --events it was killed
    status: str = "DONE"  # of its job after it was resumed
    has_project: bool = True
    has_plans: bool = False
    has_agent: bool = False


REHEARSED = ("--rehearse", "--here")
KINDS = {
    "phase-execute": Kind(
        ("phase", "execute", "1", "--slots", "1", "--approve", *REHEARSED), 8, has_plans=True
    ),
    "quick": Kind(("quick", "Add a note", "--approve", "--auto"), 6, has_agent=True),
    "council": Kind(("run", "Lamps follow the tide", "--approve", *REHEARSED), 28),
    "phase-plan": Kind(("phase", "plan", "1", "--auto", *REHEARSED), 6),
    "new": Kind(("new", "A log of every lamp", "--auto", *REHEARSED), 6, has_project=False),
}
