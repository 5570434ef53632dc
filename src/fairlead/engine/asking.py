"""Asking: one question to one voice, again where that may help, then to its stand-ins.

A voice is an agent with a model. What may pass by itself is asked again after a pause; a key that
is refused or a bill that is open is not. When nobody has answered, the answer is `absent`: a value
for the caller to count, never an exception. The whole takes at most the limit of each try and the
pauses between them, and ends as soon as it is not wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Retried
from fairlead.model.agent_orders import Limits, Order
from fairlead.model.budget import CHARACTERS_A_TOKEN, Prices
from fairlead.values import dataclass

if TYPE_CHECKING:
    from fairlead.engine.ports import Agent

LONGEST_PAUSE = 60.0  # seconds, whatever a service asks for
_SLICE = 1.0  # seconds until one notices that nobody waits any more
_AGAIN = (EndKind.RATE_LIMITED, EndKind.OVERLOADED, EndKind.TIMEOUT, EndKind.IDLE)


@dataclass(frozen=True, slots=True)
class Voice:
    """Somebody who can be asked."""

    agent: Agent
    model: str  # empty: the agent's own choice
    family: str


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question."""

    role: str
    prompt: str
    folder: str  # where it may read
    raw: str  # of private folders, one a try: RAW-1, RAW-2
    job: str
    max_tokens: int  # of the answer; 0: no cap
    wall: timedelta  # of one try


@dataclass(frozen=True, slots=True)
class Try:
    """One call, and what came of it."""

    model: str
    family: str
    status: EndKind
    error: str
    ms: int
    tokens_in: int
    tokens_out: int
    cost_usd: float  # as the program tells it, else at our own prices


class Presence(StrEnum):
    """Whether anybody has answered."""

    OK = "ok"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question, with everything it took."""

    status: Presence
    text: str = ""
    voice: Voice | None = None  # who has answered
    is_cut: bool = False
    tries: tuple[Try, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether somebody has answered."""
        return self.status is Presence.OK

    @property
    def error(self) -> str:
        """Why nobody has: what the last one who was asked said."""
        last = self.tries[-1] if self.tries and not self.is_ok else None
        return f"{last.status}: {last.error}" if last else ""

    @property
    def tokens_in(self) -> int:
        """Of all tries."""
        return sum(each.tokens_in for each in self.tries)

    @property
    def tokens_out(self) -> int:
        """Of all tries."""
        return sum(each.tokens_out for each in self.tries)

    @property
    def cost_usd(self) -> float:
        """Of all tries."""
        return sum(each.cost_usd for each in self.tries)

    @property
    def ms(self) -> int:
        """Of all tries, without the pauses."""
        return sum(each.ms for each in self.tries)


def ask(
    inquiry: Inquiry,
    voices: Sequence[Voice],
    *,
    pause: Callable[[float], object],
    is_wanted: Callable[[], bool] = lambda: True,
    watch: Callable[[AgentEvent], None] = lambda _: None,
    retries: int = 2,
) -> Answer:
    """Ask the first voice and, while nobody answers, the next ones."""
    patience = Patience(pause, is_wanted, watch, retries)
    made = started(
        voices,
        lambda voice, number: _order(inquiry, voice, number),
        patience,
        lambda ending: _judged(ending).kind is EndKind.OK,
    )
    tries = tuple(_try(voice, _judged(ending)) for voice, ending in made)
    if not tries or tries[-1].status is not EndKind.OK:
        return Answer(Presence.ABSENT, tries=tries)
    voice, ending = made[-1]
    text, is_cut = _capped(ending, inquiry.max_tokens)
    return Answer(Presence.OK, text, voice, is_cut, tries)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one goes on asking, and who may end it."""

    pause: Callable[[float], object]
    is_wanted: Callable[[], bool]
    watch: Callable[[AgentEvent], None]
    retries: int = 2
    passing: Collection[EndKind] = _AGAIN  # what may go well a little later


def started(
    voices: Sequence[Voice],
    order: Callable[[Voice, int], Order],
    patience: Patience,
    is_enough: Callable[[Ending], bool],
) -> tuple[tuple[Voice, Ending], ...]:
    """Every call that was made, with whom and how it ended; the last one may be enough."""
    made: list[tuple[Voice, Ending]] = []
    for voice in voices:
        for again in range(patience.retries + 1):
            if not patience.is_wanted():
                return tuple(made)
            asked = order(voice, len(made))
            ending = voice.agent.start(asked, patience.watch, patience.is_wanted)
            made.append((voice, ending))
            if is_enough(ending):
                return tuple(made)
            if ending.kind not in patience.passing or again == patience.retries:
                break
            delay = _delay(ending, again)
            patience.watch(Retried(again + 1, delay, ending.kind))
            _wait(delay, patience.pause, patience.is_wanted)
    return tuple(made)


def _order(inquiry: Inquiry, voice: Voice, number: int) -> Order:
    wall = inquiry.wall
    return Order(
        role=inquiry.role,
        prompt=inquiry.prompt,
        folder=inquiry.folder,
        raw=f"{inquiry.raw}-{number + 1}",
        job=inquiry.job,
        model=voice.model,
        is_read_only=True,
        max_tokens=inquiry.max_tokens,
        # A model may think for long without a word: here the wall limit alone ends a call.
        limits=Limits(wall=wall, first_event=wall, idle=wall),
    )


def _judged(ending: Ending) -> Ending:
    """Saying well that one has nothing to say is no answer."""
    if ending.kind is EndKind.OK and not ending.text.strip():
        return Ending(
            EndKind.INVALID_OUTPUT,
            usage=ending.usage,
            cost_usd=ending.cost_usd,
            model=ending.model,
            error="it said nothing",
            seconds=ending.seconds,
        )
    return ending


def _capped(ending: Ending, cap: int) -> tuple[str, bool]:
    """The answer within its cap, and whether that cut it.

    Only plain models take a cap. An agent's program that is given one goes on in a next message
    and calls that its answer, or ends with an error, so it gets none and is cut here.
    """
    length = cap * CHARACTERS_A_TOKEN
    used = 0 if ending.is_estimated else ending.usage.tokens_out  # a guess cuts nothing
    if not cap or used <= cap or len(ending.text) <= length:
        return ending.text, ending.is_cut
    return ending.text[:length], True


def _try(voice: Voice, ending: Ending) -> Try:
    usage, cost = ending.usage, ending.cost_usd
    if cost is None:  # a call without a price would never reach a cap
        cost = Prices().cost(usage.tokens_in, usage.tokens_out, usage.tokens_cached)
    return Try(
        model=ending.model or voice.model,
        family=voice.family,
        status=ending.kind,
        error=ending.error,
        ms=round(ending.seconds * 1000),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost_usd=cost,
    )


def _delay(ending: Ending, again: int) -> float:
    told = ending.retry_after
    return min(float(2**again) if told is None else max(told, 0.0), LONGEST_PAUSE)


def _wait(seconds: float, pause: Callable[[float], object], is_wanted: Callable[[], bool]) -> None:
    while seconds > 0 and is_wanted():
        pause(min(seconds, _SLICE))
        seconds -= _SLICE
