"""Budgets: what a call will probably cost, and whether it may be made.

A cap holds for one run and for one day, in tokens and in money; 0 switches one off. A call is
refused before it is made, when its estimate would go beyond a cap together with those of the calls
under way; what is spent already is told from the ledger. An estimate comes from the size of the
prompt and, once there are any, from what calls of the same role really took.
"""

from collections.abc import Mapping, Sequence

from fairlead.values import dataclass, replace

CHARACTERS_A_TOKEN = 4
# Before anything was measured: an agent reads its prompt many times over while it works.
FIRST_FACTOR = {
    "executor": 12.0,
    "architect": 6.0,
    "pm": 4.0,
    "seat": 4.0,
    "synthesis": 1.5,
    "ballot": 2.0,  # most of it is in the prompt
}
OTHER_FACTOR = 8.0
OUTPUT_SHARE = 0.1
_ENOUGH = 3  # actuals that count for more than a rule of thumb
_MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens."""

    tokens_in: float = 3.0
    tokens_out: float = 15.0
    tokens_cached: float = 0.3

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """What these tokens cost; some of those that were read came from a cache."""
        cached = min(tokens_cached, tokens_in)
        read = (tokens_in - cached) * self.tokens_in + cached * self.tokens_cached
        return (read + tokens_out * self.tokens_out) / _MICRO


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and money; where a program does not tell its price, the money is computed."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.tokens + other.tokens, self.usd + other.usd)


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that may be spent; 0: no limit."""

    run_tokens: int = 2_000_000
    run_usd: float = 20.0
    day_tokens: int = 0
    day_usd: float = 100.0

    def __str__(self) -> str:
        return f"{_cap(self.run_tokens, self.run_usd)} a run, {_cap(self.day_tokens, self.day_usd)} a day"

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> "Caps":
        """The caps that the settings say, by their full names."""
        held = {name: settings.get(f"fairlead.budget.{name}") for name in cls.__slots__}
        return cls(**{key: value for key, value in held.items() if isinstance(value, int | float)})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Actual:
    """What a call of a role really took."""

    role: str
    prompt_characters: int
    spent: Spent

    @property
    def factor(self) -> float:
        """How many tokens each token of the prompt led to."""
        return self.spent.tokens * CHARACTERS_A_TOKEN / max(self.prompt_characters, 1)


@dataclass(frozen=True, slots=True)
class Comparison:
    """An estimate beside what it became."""

    estimate: Spent
    actual: Spent

    def __str__(self) -> str:
        told = f"{self.actual.tokens:,} tokens, ${self.actual.usd:.2f}"
        if not self.estimate.tokens:
            return f"{told} (no estimate)"
        share = self.actual.tokens / self.estimate.tokens
        return f"{told}; estimated {self.estimate.tokens:,}, ${self.estimate.usd:.2f} ({share:.0%})"


def estimate(
    role: str, prompt_characters: int, past: Sequence[Actual] = (), prices: Prices | None = None
) -> Spent:
    """What a call will probably take."""
    prices = prices or Prices()
    mine = [actual for actual in past if actual.role == role and actual.spent.tokens]
    prompt = prompt_characters / CHARACTERS_A_TOKEN
    if len(mine) < _ENOUGH:
        tokens = round(prompt * FIRST_FACTOR.get(role, OTHER_FACTOR))
        out = round(tokens * OUTPUT_SHARE)
        return Spent(tokens, prices.cost(tokens - out, out))
    from statistics import median

    tokens = round(prompt * median(actual.factor for actual in mine))
    price = median(actual.spent.usd / actual.spent.tokens for actual in mine)
    return Spent(tokens, tokens * price)


def unmeasured(role: str, prompt_characters: int, answer_characters: int) -> tuple[int, int]:
    """The tokens that a call probably read and wrote which tells neither: by sizes alone."""
    read = prompt_characters / CHARACTERS_A_TOKEN * FIRST_FACTOR.get(role, OTHER_FACTOR)
    return round(read), round(answer_characters / CHARACTERS_A_TOKEN)


def loose_limits(agent: str, caps: Caps, *, tells_tokens: bool) -> str:
    """What to know of an agent that does not tell its price: which limits are held by a guess."""
    held = replace(caps, run_tokens=0, day_tokens=0) if tells_tokens else caps
    if held == Caps(0, 0, 0, 0):
        return ""
    untold = "no price: it is computed from its tokens"
    if not tells_tokens:
        untold = "neither tokens nor price: they are estimated from the sizes of prompt and answer"
    return f"{agent} tells {untold}, so that these limits hold only roughly: {held}"


def _cap(tokens: int, usd: float) -> str:
    told = (f"{tokens:,} tokens" * bool(tokens), f"${usd:.2f}" * bool(usd))
    return " and ".join(filter(None, told)) or "any amount"


def may_spend(planned: Spent, run: Spent, day: Spent, caps: Caps) -> str:
    """Empty if it may be spent, else the sentence that says which cap is in the way."""
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
    """Which cap such a sentence speaks of, by its name in the settings."""
    span = "day" if why.startswith("today") else "run"
    return f"{span}_usd" if " would cost " in why else f"{span}_tokens"
