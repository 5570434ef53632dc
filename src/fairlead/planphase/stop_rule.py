"""Decides whether an agent may stop, from the state of the plan and the event of the host.

The first matching row of the table decides; the last row matches everything. An unmet plan blocks
only the session that owns it, a limited number of times. A person can always stop the agent: by
interrupting it, or by releasing the plan. Pure; `hold` stores the counts.
"""

# The work that is left.
NO_WORK, MET, UNREADABLE, OPEN, WAITING = "none", "met", "unreadable", "open", "waiting"
WORK = (NO_WORK, MET, UNREADABLE, OPEN, WAITING)

# The owner of the plan, seen from this session. A plan without owner goes to the first session.
OWN_SESSION, OTHER_SESSION, RELEASED = "ours", "theirs", "released"
HOLDERS = (OWN_SESSION, OTHER_SESSION, RELEASED)

# How often this session was blocked while nothing changed.
BELOW, REACHED, UNCOUNTED = "below", "reached", "uncounted"
COUNTS = (BELOW, REACHED, UNCOUNTED)

# The event of the host.
STOP, STOP_AGAIN = "stop", "stop-again"
INTERRUPTED, API_ERROR = "interrupted", "api-error"
SUBAGENT, OTHER = "subagent", "other"
EVENTS = (STOP, STOP_AGAIN, INTERRUPTED, API_ERROR, SUBAGENT, OTHER)

# The verdict.
BLOCK = "block"
SILENT = "silent"  # allow, without output
NOTIFY = "tell"  # allow, with one line on stderr: another session owns the plan
GIVE_WAY = "give-way"  # allow, and tell the person that the plan is still open
VERDICTS = (BLOCK, SILENT, NOTIFY, GIVE_WAY)

# A blocked host continues until it is interrupted (Codex), or until eight blocks in a row without
# a tool call (Claude Code). So Fairlead counts the blocks and gives way earlier.
MOST_BLOCKS = {OPEN: 5, WAITING: 1}
MOST_IN_ALL = 40  # even if the plan changes in between
OWNER_TIMEOUT_SECONDS = 12 * 60 * 60.0  # an owner not seen for this long is gone

ANY = None
TABLE = (
    # work        holder    count      event        verdict
    (ANY, ANY, ANY, OTHER, SILENT),
    (ANY, ANY, ANY, SUBAGENT, SILENT),
    (NO_WORK, ANY, ANY, ANY, SILENT),
    (MET, ANY, ANY, ANY, SILENT),
    (UNREADABLE, ANY, ANY, ANY, NOTIFY),
    (ANY, OTHER_SESSION, ANY, ANY, NOTIFY),
    (ANY, RELEASED, ANY, ANY, NOTIFY),
    (ANY, ANY, ANY, INTERRUPTED, GIVE_WAY),
    (ANY, ANY, ANY, API_ERROR, GIVE_WAY),
    (ANY, ANY, REACHED, ANY, GIVE_WAY),
    (ANY, ANY, UNCOUNTED, STOP_AGAIN, GIVE_WAY),
    (ANY, ANY, ANY, ANY, BLOCK),
)


def decide(work: str, holder: str, count: str, event: str) -> str:
    """Return the verdict for one state and one event."""
    situation = (work, holder, count, event)
    for *row, verdict in TABLE:
        if all(cell in (ANY, value) for cell, value in zip(row, situation, strict=True)):
            return str(verdict)
    raise AssertionError(situation)


class Hold:
    """The session that a plan keeps from stopping, and how often it was blocked. Immutable."""

    __slots__ = ("blocks", "owner", "plan", "state", "total")

    def __init__(
        self, plan: str, owner: str = "", *, blocks: int = 0, total: int = 0, state: str = ""
    ) -> None:
        self.plan = plan  # the hold of another plan does not count
        self.owner = owner  # empty: the next session becomes the owner
        self.blocks = blocks  # since the state last changed
        self.total = total
        self.state = state  # fingerprint of the work for which `blocks` counts

    def holder(self, session: str) -> str:
        """Return whether a session owns the plan."""
        return OWN_SESSION if self.owner in ("", session) else OTHER_SESSION

    def count(self, work: str, state: str) -> str:
        """Return whether the owner was blocked as often as the limits allow."""
        blocks = self.blocks if state == self.state else 0
        is_enough = blocks >= MOST_BLOCKS.get(work, 0) or self.total >= MOST_IN_ALL
        return REACHED if is_enough else BELOW

    def claimed(self, session: str) -> "Hold":
        """Make the session the owner of a plan without owner, and count from zero."""
        return self if self.owner else Hold(self.plan, session)

    def counted(self, state: str) -> "Hold":
        """Count one more block."""
        blocks = self.blocks if state == self.state else 0
        return Hold(self.plan, self.owner, blocks=blocks + 1, total=self.total + 1, state=state)

    def left(self, session: str) -> "Hold":
        """End the session; the next one may become the owner."""
        return Hold(self.plan) if self.owner == session else self
