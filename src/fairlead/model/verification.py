"""Verification as values: what was checked, what was found, what only a person can tell.

The outcome is counted here and nowhere else: one blocking finding or one check that failed makes
gaps, one thing that nobody has looked at makes it a person's turn, and nothing checked is never
a pass.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from fairlead.values import dataclass


class Outcome(StrEnum):
    """What a verification comes to."""

    PASSED = "passed"
    GAPS = "gaps_found"
    HUMAN = "human_needed"


class State(StrEnum):
    """What became of one check."""

    VERIFIED = "verified"
    FAILED = "failed"
    UNCERTAIN = "uncertain"  # nothing that ran or stands there tells
    OVERRIDDEN = "overridden"  # a person accepted it, with a reason


class Kind(StrEnum):
    """What is checked."""

    TRUTH = "truth"
    CRITERION = "criterion"  # of the roadmap
    ARTIFACT = "artifact"
    LINK = "link"
    COMMAND = "command"
    REQUIREMENT = "requirement"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was said to be."""

    rule: str
    path: str
    line: int
    why: str
    cure: str  # what would satisfy the rule
    subject: str = ""  # the name of the function, the test, the link; it survives a moved line
    is_blocking: bool = True
    plan: str = ""

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def key(self) -> str:
        """What a person names to accept it, and what stays when lines move."""
        return " ".join(part for part in (self.rule, self.path, self.subject) if part)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must be so, and the evidence for it."""

    kind: Kind
    what: str
    state: State
    evidence: str = ""  # file:line, a command with its exit code, a commit
    plan: str = ""
    detail: str = ""  # why it failed, or what is missing
    path: str = ""


@dataclass(frozen=True, slots=True)
class HumanItem:
    """Something only a person can tell."""

    test: str
    expected: str
    why: str


@dataclass(frozen=True, slots=True)
class Override:
    """What a person accepted as it is."""

    what: str
    reason: str
    by: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """A verification of one phase."""

    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()
    human: tuple[HumanItem, ...] = ()
    overrides: tuple[Override, ...] = ()
    accepted: tuple[str, ...] = ()  # what of the above a person's word covers

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that stand in the way."""
        return tuple(
            each for each in self.findings if each.is_blocking and each.key not in self.accepted
        )

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(each for each in self.checks if each.state is State.FAILED)

    @property
    def waiting(self) -> tuple[HumanItem, ...]:
        """What no person has answered yet."""
        return tuple(each for each in self.human if each.test not in self.accepted)

    @property
    def outcome(self) -> Outcome:
        """What it comes to. Zero checks are no pass."""
        if self.blocking or self.failed:
            return Outcome.GAPS
        is_open = any(each.state is State.UNCERTAIN for each in self.checks)
        return Outcome.HUMAN if self.waiting or is_open or not self.checks else Outcome.PASSED

    @property
    def score(self) -> tuple[int, int]:
        """The truths and criteria that hold, and all of them."""
        wanted = [each for each in self.checks if each.kind in (Kind.TRUTH, Kind.CRITERION)]
        wanted = wanted or list(self.checks)
        held = [each for each in wanted if each.state in (State.VERIFIED, State.OVERRIDDEN)]
        return len(held), len(wanted)


_WORD = re.compile(r"[a-z0-9]+")
_EMPTY = frozenset(
    "the a an and or of to in on for with is are be by as it its that this can must when from at "
    "all any each has have not no via into their they user users after before new".split()
)


def tokens(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, in their plain form."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).lower()
    return frozenset(_stem(word) for word in _WORD.findall(spaced) if word not in _EMPTY)


def is_alike(one: str, other: str, *, least: float = 0.8) -> bool:
    """Whether two sentences say the same: most words of the one stand in the other."""
    first, second = tokens(one), tokens(other)
    shared = len(first & second)
    smaller = min(len(first), len(second))
    return bool(smaller) and (first == second or (smaller > 2 and shared >= least * smaller))


def share_of(text: str, words: Iterable[str]) -> float:
    """How much of a sentence is spoken of: 0 to 1."""
    wanted = tokens(text)
    return len(wanted.intersection(words)) / len(wanted) if wanted else 0.0


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
