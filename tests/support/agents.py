"""Agents for tests: drivers for small programs, calls in scratch folders, leftover processes."""

import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from fairlead.agents import supervisor
from fairlead.agents.cli_agent import CliAgent
from fairlead.agents.drivers.driver import Driver
from fairlead.agents.model import AgentCall, AgentEvent, CallLimits, CallResult, Stream

HOSTILE = Path(__file__).with_name("hostile.py")
SHORT = CallLimits(
    wall=timedelta(seconds=120),  # shared machines stall; what tests a limit sets its own
    first_event=timedelta(seconds=60),
    idle=timedelta(seconds=60),
    after_end=timedelta(seconds=0.3),
)


@dataclass
class Call:
    """One call of an agent, and the processes it left."""

    ending: CallResult
    job: str
    raw: Path
    events: list[AgentEvent] = field(default_factory=list)

    @property
    def left(self) -> list[supervisor.ProcessMark]:
        return list(supervisor.carrying(supervisor.JOB, self.job))


def hostile(*words: str) -> CliAgent:
    """The agent that misbehaves in one way."""
    row = Driver("hostile", (), Stream.CLAUDE, lambda _: words, program_arguments=(str(HOSTILE),))
    return CliAgent(row, sys.executable)


def an_order(
    folder: Path, *, prompt: str = "do it", limits: CallLimits = SHORT, **more
) -> AgentCall:
    """A call with its own private folder and job."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    raw = folder / "private" / uuid.uuid4().hex
    raw.parent.mkdir(mode=0o700, exist_ok=True)
    return AgentCall(
        "executor", prompt, str(work), str(raw), f"test-{uuid.uuid4().hex}", limits=limits, **more
    )


def called(agent: CliAgent, order: AgentCall, **limits) -> Call:
    """Make a call; limits in seconds."""
    changed = {name: timedelta(seconds=value) for name, value in limits.items()}
    order = replace(order, limits=replace(order.limits, **changed))  # type: ignore[arg-type]
    events: list[AgentEvent] = []
    ending = agent.start(order, events.append)
    return Call(ending, order.job, Path(order.raw), events)


def soon(is_so: Callable[[], bool]) -> bool:
    """Whether a condition becomes true; the limit only ends a test that hangs."""
    limit = time.monotonic() + 300
    while time.monotonic() < limit:
        if is_so():
            return True
        time.sleep(0.01)
    return False
