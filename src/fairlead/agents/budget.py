"""Budgets: estimate the cost of a call, and decide whether it is within the caps.

There are caps for one run and for one day, in tokens and in money; 0 means no cap. A call is
refused before it is made if its estimate, together with running calls and what the ledger says was
spent, exceeds a cap. The estimate follows from the size of the prompt and, as soon as there are
some, from the actual cost of earlier calls of the same role.
"""

from collections.abc import Mapping, Sequence

from fairlead.core.values import dataclass, replace

CHARACTERS_A_TOKEN = 4
# Tokens per token of the prompt, before anything was measured: an agent reads its prompt many times.
FIRST_FACTOR = {
    "executor": 12.0,
    "architect": 6.0,
    "pm": 4.0,
    "seat": 4.0,
    "synthesis": 1.5,
    "ballot": 2.0,  # the prompt is most of it
}
OTHER_FACTOR = 8.0
OUTPUT_SHARE = 0.1
_ENOUGH = 3  # measured calls that replace the default factor
_MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens."""

    tokens_in: float = 3.0
    tokens_out: float = 15.0
    tokens_cached: float = 0.3

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """The price of tokens; `tokens_cached` of the tokens read came from a cache."""
        cached = min(tokens_cached, tokens_in)
        read = (tokens_in - cached) * self.tokens_in + cached * self.tokens_cached
        return (read + tokens_out * self.tokens_out) / _MICRO


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens and money. The money is computed for programs that do not report it."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.tokens + other.tokens, self.usd + other.usd)


@dataclass(frozen=True, slots=True)
class Caps:
    """The highest spending allowed; 0: no limit."""

    run_tokens: int = 2_000_000
    run_usd: float = 20.0
    day_tokens: int = 0
    day_usd: float = 100.0

    def __str__(self) -> str:
        return f"{_cap(self.run_tokens, self.run_usd)} a run, {_cap(self.day_tokens, self.day_usd)} a day"

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> "Caps":
        """The caps in the settings, which are given by full key."""
        caps = {name: settings.get(f"fairlead.budget.{name}") for name in cls.__slots__}
        return cls(**{key: value for key, value in caps.items() if isinstance(value, int | float)})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Actual:
    """The actual cost of a call."""

    role: str
    prompt_characters: int
    spent: Cost

    @property
    def factor(self) -> float:
        """Tokens per token of the prompt."""
        return self.spent.tokens * CHARACTERS_A_TOKEN / max(self.prompt_characters, 1)


@dataclass(frozen=True, slots=True)
class Comparison:
    """An estimate and the actual cost."""

    estimate: Cost
    actual: Cost

    def __str__(self) -> str:
        actual = f"{self.actual.tokens:,} tokens, ${self.actual.usd:.2f}"
        if not self.estimate.tokens:
            return f"{actual} (no estimate)"
        share = self.actual.tokens / self.estimate.tokens
        return (
            f"{actual}; estimated {self.estimate.tokens:,}, ${self.estimate.usd:.2f} ({share:.0%})"
        )


def estimate(
    role: str, prompt_characters: int, past: Sequence[Actual] = (), prices: Prices | None = None
) -> Cost:
    """The probable cost of a call."""
    prices = prices or Prices()
    measured = [actual for actual in past if actual.role == role and actual.spent.tokens]
    prompt = prompt_characters / CHARACTERS_A_TOKEN
    if len(measured) < _ENOUGH:
        tokens = round(prompt * FIRST_FACTOR.get(role, OTHER_FACTOR))
        out = round(tokens * OUTPUT_SHARE)
        return Cost(tokens, prices.cost(tokens - out, out))
    from statistics import median

    tokens = round(prompt * median(actual.factor for actual in measured))
    price = median(actual.spent.usd / actual.spent.tokens for actual in measured)
    return Cost(tokens, tokens * price)


def unmeasured(role: str, prompt_characters: int, answer_characters: int) -> tuple[int, int]:
    """The tokens that a call probably read and wrote, estimated from sizes alone."""
    read = prompt_characters / CHARACTERS_A_TOKEN * FIRST_FACTOR.get(role, OTHER_FACTOR)
    return round(read), round(answer_characters / CHARACTERS_A_TOKEN)


def rough_caps_note(agent: str, caps: Caps, *, reports_tokens: bool) -> str:
    """A warning that caps hold only roughly for an agent that does not report its price."""
    rough = replace(caps, run_tokens=0, day_tokens=0) if reports_tokens else caps
    if rough == Caps(0, 0, 0, 0):
        return ""
    missing = "no price: it is computed from the tokens"
    if not reports_tokens:
        missing = "neither tokens nor price: both are estimated from the sizes of prompt and answer"
    return f"{agent} reports {missing}, so these limits hold only roughly: {rough}"


def _cap(tokens: int, usd: float) -> str:
    parts = (f"{tokens:,} tokens" * bool(tokens), f"${usd:.2f}" * bool(usd))
    return " and ".join(filter(None, parts)) or "any amount"


def may_spend(planned: Cost, run: Cost, day: Cost, caps: Caps) -> str:
    """Empty if it may be spent, else a sentence with the cap that forbids it."""
    for name, spent, tokens, usd in (
        ("this run", run, caps.run_tokens, caps.run_usd),
        ("today", day, caps.day_tokens, caps.day_usd),
    ):
        total = spent + planned
        if tokens and total.tokens > tokens:
            return f"{name} would take {total.tokens:,} tokens, the limit is {tokens:,}"
        if usd and total.usd > usd:
            return f"{name} would cost ${total.usd:.2f}, the limit is ${usd:.2f}"
    return ""


def cap_of(why: str) -> str:
    """The name in the settings of the cap in such a sentence."""
    span = "day" if why.startswith("today") else "run"
    return f"{span}_usd" if " would cost " in why else f"{span}_tokens"
