"""What an agent is asked to do, and what it may take for it."""

from datetime import timedelta
from enum import StrEnum

from fairlead.values import dataclass, field


class Role(StrEnum):
    """What an agent is asked to be."""

    EXECUTOR = "executor"
    ARCHITECT = "architect"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call of an agent may take."""

    wall: timedelta = timedelta(minutes=5)
    first_event: timedelta = timedelta(minutes=2)  # until the first sign of life
    idle: timedelta = timedelta(minutes=2)  # between two signs of life
    after_end: timedelta = timedelta(seconds=10)  # a program that has finished may linger so long
    output_bytes: int = 64 << 20  # of each stream, kept; what comes after is counted


@dataclass(frozen=True, slots=True)
class Order:
    """One call of an agent."""

    role: str  # a Role, or a name of the caller's
    prompt: str
    folder: str  # the worktree
    raw: str  # private folder for the prompt and the raw output; made if it is not there
    job: str = ""  # carried by every process of the call, so that `reap` finds them
    session: str = ""  # a uuid, for programs that let one choose
    model: str = ""  # empty: the program's own choice
    is_read_only: bool = False
    max_tokens: int = 0  # of a plain model's answer; 0: its own choice
    limits: Limits = field(default_factory=Limits)
    environment: tuple[str, ...] = ()  # names of further variables it may see
    tools: tuple[
        str, ...
    ] = ()  # those of its role, where a program lets one choose; empty: its own
