"""Agents for tests: rows over programs of our own, orders in scratch folders, and who is left."""

import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from fairlead.adapters import keeper
from fairlead.adapters.agent import CliAgent, Row
from fairlead.model.agent_events import AgentEvent, Ending
from fairlead.model.agent_orders import Limits, Order
from fairlead.model.agent_streams import Stream

HOSTILE = Path(__file__).with_name("hostile.py")
SHORT = Limits(
    wall=timedelta(seconds=120),  # shared machines stall; what tests a limit sets its own
    first_event=timedelta(seconds=60),
    idle=timedelta(seconds=60),
    after_end=timedelta(seconds=0.3),
)


@dataclass
class Call:
    """One call of an agent, and what is left of it."""

    ending: Ending
    job: str
    raw: Path
    events: list[AgentEvent] = field(default_factory=list)

    @property
    def left(self) -> list[keeper.Mark]:
        return list(keeper.carrying(keeper.JOB, self.job))


def hostile(*words: str) -> CliAgent:
    """The agent that misbehaves in one way."""
    row = Row("hostile", (), Stream.CLAUDE, lambda _: words, first_words=(str(HOSTILE),))
    return CliAgent(row, sys.executable)


def an_order(folder: Path, *, prompt: str = "do it", limits: Limits = SHORT, **more) -> Order:
    """An order with a private folder and a job of its own."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    raw = folder / "private" / uuid.uuid4().hex
    raw.parent.mkdir(mode=0o700, exist_ok=True)
    return Order(
        "executor", prompt, str(work), str(raw), f"test-{uuid.uuid4().hex}", limits=limits, **more
    )


def called(agent: CliAgent, order: Order, **limits) -> Call:
    """Carry out an order; limits in seconds."""
    changed = {name: timedelta(seconds=value) for name, value in limits.items()}
    order = replace(order, limits=replace(order.limits, **changed))  # type: ignore[arg-type]
    events: list[AgentEvent] = []
    ending = agent.start(order, events.append)
    return Call(ending, order.job, Path(order.raw), events)


def soon(is_so: Callable[[], bool]) -> bool:
    """Whether it comes to be so within some seconds."""
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        if is_so():
            return True
    return False
