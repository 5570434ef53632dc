"""Ask one question: retry where that may help, then ask the substitutes.

A respondent is an agent with a model. Failures that may pass by themselves are retried after a
pause; a refused key or an unpaid bill is not. When no respondent answers, the result is `absent`:
a value for the caller to count, never an exception. A question takes at most the time limit of
every try plus the pauses, and ends as soon as it is not wanted any more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from fairlead.agents.budget import Prices
from fairlead.agents.model import (
    AgentCall,
    AgentEvent,
    CallLimits,
    CallResult,
    CallSource,
    EndKind,
    ModelRetried,
)
from fairlead.core.values import dataclass

if TYPE_CHECKING:
    from fairlead.agents.ports import Agent

LONGEST_PAUSE = 60.0  # seconds, even if a service asks for more
_PAUSE_STEP = 1.0  # seconds between two looks at whether the answer is still wanted
_RETRIED = (EndKind.RATE_LIMITED, EndKind.OVERLOADED, EndKind.TIMEOUT, EndKind.IDLE)


@dataclass(frozen=True, slots=True)
class Respondent:
    """An agent with a model, to which a question can be put."""

    agent: Agent
    model: str  # empty: the agent chooses
    family: str


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question."""

    role: str
    prompt: str
    folder: str  # where it may read
    raw: str  # start of the names of private folders, one per try: RAW-1, RAW-2
    job: str
    max_tokens: (
        int  # asked of plain models; 0: no limit. A longer answer is for the caller to judge
    )
    wall: timedelta  # time limit of one try
    id: str = ""  # start of the ids of the calls, one per try
    source: CallSource | None = None


@dataclass(frozen=True, slots=True)
class AskAttempt:
    """One call and its result."""

    model: str
    family: str
    status: EndKind
    error: str
    ms: int
    tokens_in: int
    tokens_out: int
    cost_usd: float  # as the program reports it, else computed with our prices


class Presence(StrEnum):
    """Whether a respondent has answered."""

    OK = "ok"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class AskResult:
    """The answer to a question, with every attempt it took."""

    status: Presence
    text: str = ""
    respondent: Respondent | None = None  # the one that answered
    is_cut: bool = False
    tries: tuple[AskAttempt, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether there is an answer."""
        return self.status is Presence.OK

    @property
    def error(self) -> str:
        """Why there is no answer: the error of the last attempt."""
        last = self.tries[-1] if self.tries and not self.is_ok else None
        return f"{last.status}: {last.error}" if last else ""

    @property
    def tokens_in(self) -> int:
        """The sum of all attempts."""
        return sum(attempt.tokens_in for attempt in self.tries)

    @property
    def tokens_out(self) -> int:
        """The sum of all attempts."""
        return sum(attempt.tokens_out for attempt in self.tries)

    @property
    def cost_usd(self) -> float:
        """The sum of all attempts."""
        return sum(attempt.cost_usd for attempt in self.tries)

    @property
    def ms(self) -> int:
        """The sum of all attempts, without the pauses."""
        return sum(attempt.ms for attempt in self.tries)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is repeated, and how it can be ended."""

    pause: Callable[[float], object]
    is_wanted: Callable[[], bool]
    watch: Callable[[AgentEvent], None]
    retries: int = 2
    retried: Collection[EndKind] = _RETRIED  # failures that may pass by themselves


def ask(
    inquiry: Inquiry,
    respondents: Sequence[Respondent],
    *,
    pause: Callable[[float], object],
    is_wanted: Callable[[], bool] = lambda: True,
    watch: Callable[[AgentEvent], None] = lambda _: None,
    retries: int = 2,
) -> AskResult:
    """Ask the first respondent and, while there is no answer, the next ones."""
    calls = call_until(
        respondents,
        lambda respondent, number: call_of(inquiry, respondent, number),
        RetryPolicy(pause, is_wanted, watch, retries),
        lambda ending: _judged(ending).kind is EndKind.OK,
    )
    tries = tuple(_attempt(respondent, _judged(ending)) for respondent, ending in calls)
    if not tries or tries[-1].status is not EndKind.OK:
        return AskResult(Presence.ABSENT, tries=tries)
    respondent, ending = calls[-1]
    return AskResult(Presence.OK, ending.text, respondent, ending.is_cut, tries)


def call_until(
    respondents: Sequence[Respondent],
    call_for: Callable[[Respondent, int], AgentCall],
    policy: RetryPolicy,
    is_enough: Callable[[CallResult], bool],
) -> tuple[tuple[Respondent, CallResult], ...]:
    """Call respondents in order until a result is enough; every call with its result."""
    calls: list[tuple[Respondent, CallResult]] = []
    for respondent in respondents:
        for again in range(policy.retries + 1):
            if not policy.is_wanted():
                return tuple(calls)
            call = call_for(respondent, len(calls))
            ending = respondent.agent.start(call, policy.watch, policy.is_wanted)
            calls.append((respondent, ending))
            if is_enough(ending):
                return tuple(calls)
            if ending.kind not in policy.retried or again == policy.retries:
                break
            delay = _delay(ending, again)
            policy.watch(ModelRetried(again + 1, delay, ending.kind))
            _wait(delay, policy.pause, policy.is_wanted)
    return tuple(calls)


def call_of(inquiry: Inquiry, respondent: Respondent, number: int = 0) -> AgentCall:
    """The call that puts a question to a respondent, after so many others."""
    wall = inquiry.wall
    return AgentCall(
        role=inquiry.role,
        prompt=inquiry.prompt,
        folder=inquiry.folder,
        raw=f"{inquiry.raw}-{number + 1}",
        job=inquiry.job,
        model=respondent.model,
        is_read_only=True,
        max_tokens=inquiry.max_tokens,
        # A model may think for long without output, so only the wall limit ends a call.
        limits=CallLimits(wall=wall, first_event=wall, idle=wall),
        id=f"{inquiry.id}-{number + 1}" if inquiry.id else "",
        source=inquiry.source,
    )


def _judged(ending: CallResult) -> CallResult:
    """The result, where success without any text counts as a failure."""
    if ending.kind is EndKind.OK and not ending.text.strip():
        return CallResult(
            EndKind.INVALID_OUTPUT,
            usage=ending.usage,
            cost_usd=ending.cost_usd,
            model=ending.model,
            error="it said nothing",
            seconds=ending.seconds,
        )
    return ending


def _attempt(respondent: Respondent, ending: CallResult) -> AskAttempt:
    usage, cost = ending.usage, ending.cost_usd
    if cost is None:  # calls without a price would never reach a budget
        cost = Prices().cost(usage.tokens_in, usage.tokens_out, usage.tokens_cached)
    return AskAttempt(
        model=ending.model or respondent.model,
        family=respondent.family,
        status=ending.kind,
        error=ending.error,
        ms=round(ending.seconds * 1000),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost_usd=cost,
    )


def _delay(ending: CallResult, again: int) -> float:
    requested = ending.retry_after
    return min(float(2**again) if requested is None else max(requested, 0.0), LONGEST_PAUSE)


def _wait(seconds: float, pause: Callable[[float], object], is_wanted: Callable[[], bool]) -> None:
    while seconds > 0 and is_wanted():
        pause(min(seconds, _PAUSE_STEP))
        seconds -= _PAUSE_STEP
