"""Stopping: whether an agent may stop, decided from the plan's state and the host's event alone.

The table is read from top to bottom and its first fitting row decides; the last row fits all that
is left. An unmet plan holds only the session that owns it, a bounded number of times, and every
way out of it is said aloud. A person can always stop: by interrupting, or by releasing the plan.
"""

# What there is to do.
NO_WORK, MET, UNREADABLE, OPEN, WAITING = "none", "met", "unreadable", "open", "waiting"
WORK = (NO_WORK, MET, UNREADABLE, OPEN, WAITING)

# Whose plan it is; one that is nobody's belongs to the session that meets it.
OURS, THEIRS, RELEASED = "ours", "theirs", "released"
HOLDERS = (OURS, THEIRS, RELEASED)

# How often this session was held while nothing changed.
BELOW, REACHED, UNCOUNTED = "below", "reached", "uncounted"
COUNTS = (BELOW, REACHED, UNCOUNTED)

# What the host says.
STOP, STOP_AGAIN = "stop", "stop-again"
INTERRUPTED, API_ERROR = "interrupted", "api-error"
SUBAGENT, OTHER = "subagent", "other"
EVENTS = (STOP, STOP_AGAIN, INTERRUPTED, API_ERROR, SUBAGENT, OTHER)

# What follows.
BLOCK = "block"
SILENT = "silent"  # nothing is held back, so nothing is said
TELL = "tell"  # one line on stderr: this session is not the one that is held
GIVE_WAY = "give-way"  # the turn ends, and the person is told that the plan is open
VERDICTS = (BLOCK, SILENT, TELL, GIVE_WAY)

# Both hosts go on until somebody stops them: Codex for ever, Claude Code after eight blocks
# without a tool call between them. So we count, and give way before they would.
MOST_BLOCKS = {OPEN: 5, WAITING: 1}
MOST_IN_ALL = 40  # however often the plan changes in between
GONE_SECONDS = 12 * 60 * 60.0  # an owner that has not been met for so long has died

ANY = None
TABLE = (
    # work        holder    count      event        verdict
    (ANY, ANY, ANY, OTHER, SILENT),
    (ANY, ANY, ANY, SUBAGENT, SILENT),
    (NO_WORK, ANY, ANY, ANY, SILENT),
    (MET, ANY, ANY, ANY, SILENT),
    (UNREADABLE, ANY, ANY, ANY, TELL),
    (ANY, THEIRS, ANY, ANY, TELL),
    (ANY, RELEASED, ANY, ANY, TELL),
    (ANY, ANY, ANY, INTERRUPTED, GIVE_WAY),
    (ANY, ANY, ANY, API_ERROR, GIVE_WAY),
    (ANY, ANY, REACHED, ANY, GIVE_WAY),
    (ANY, ANY, UNCOUNTED, STOP_AGAIN, GIVE_WAY),
    (ANY, ANY, ANY, ANY, BLOCK),
)


def decide(work: str, holder: str, count: str, event: str) -> str:
    """The verdict for one state and one event."""
    facts = (work, holder, count, event)
    for *row, verdict in TABLE:
        if all(wanted in (ANY, fact) for wanted, fact in zip(row, facts, strict=True)):
            return str(verdict)
    raise AssertionError(facts)


class Hold:
    """Which session a plan holds, and how often it has; a value, never changed."""

    __slots__ = ("blocks", "owner", "plan", "state", "total")

    def __init__(
        self, plan: str, owner: str = "", *, blocks: int = 0, total: int = 0, state: str = ""
    ) -> None:
        self.plan = plan  # another plan's hold says nothing about this one
        self.owner = owner  # empty: the next session that meets the plan
        self.blocks = blocks  # since the state last changed
        self.total = total
        self.state = state  # a fingerprint of what the blocks were counted for

    def holder(self, session: str) -> str:
        """Whose plan it is, seen from a session."""
        return OURS if self.owner in ("", session) else THEIRS

    def count(self, work: str, state: str) -> str:
        """Whether the owner was held often enough."""
        blocks = self.blocks if state == self.state else 0
        is_enough = blocks >= MOST_BLOCKS.get(work, 0) or self.total >= MOST_IN_ALL
        return REACHED if is_enough else BELOW

    def claimed(self, session: str) -> "Hold":
        """The session takes a plan that is nobody's; its blocks are its own."""
        return self if self.owner else Hold(self.plan, session)

    def counted(self, state: str) -> "Hold":
        """The owner is held once more."""
        blocks = self.blocks if state == self.state else 0
        return Hold(self.plan, self.owner, blocks=blocks + 1, total=self.total + 1, state=state)

    def left(self, session: str) -> "Hold":
        """The session ends; the plan is for the next one."""
        return Hold(self.plan) if self.owner == session else self
