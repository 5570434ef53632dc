"""The values of a verification: checks, findings, questions for a person, and the result.

The status is computed only here. A blocking finding or a failed check means gaps; an unanswered
question or an uncertain check means that a person is needed; a phase without checks never passes.
"""

import re
from collections.abc import Callable, Iterable
from enum import StrEnum

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.plans.model import CommandResult


class VerificationStatus(StrEnum):
    """The result of a verification; the value of `status` in VERIFICATION.md."""

    PASSED = "passed"
    GAPS = "gaps_found"
    HUMAN = "human_needed"


class CheckState(StrEnum):
    """The result of one check."""

    VERIFIED = "verified"
    FAILED = "failed"
    UNCERTAIN = "uncertain"  # there is no evidence for or against it
    OVERRIDDEN = "overridden"  # a person accepted it, with a reason


class CheckKind(StrEnum):
    """What a check is about."""

    TRUTH = "truth"
    CRITERION = "criterion"  # a success criterion of the roadmap
    ARTIFACT = "artifact"
    LINK = "link"
    COMMAND = "command"
    REQUIREMENT = "requirement"


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A place where the work is not what the plan or the summary says."""

    rule: str
    path: str
    line: int
    why: str
    cure: str  # a change that would satisfy the rule
    subject: str = ""  # a function, test or link; stable when lines move
    is_blocking: bool = True
    plan: str = ""

    @property
    def place(self) -> str:
        """Return the file, with the line if it is known."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def key(self) -> str:
        """Return the name by which a person accepts the finding; stable when lines move."""
        return " ".join(part for part in (self.rule, self.path, self.subject) if part)


@dataclass(frozen=True, slots=True)
class VerificationCheck:
    """One required property of the phase, and the evidence for it."""

    kind: CheckKind
    what: str
    state: CheckState
    evidence: str = ""  # file:line, a command with its exit code, a commit
    plan: str = ""
    detail: str = ""  # why it failed, or what is missing
    path: str = ""


@dataclass(frozen=True, slots=True)
class HumanItem:
    """A question that only a person can answer."""

    test: str
    expected: str
    why: str


@dataclass(frozen=True, slots=True)
class Override:
    """A finding or check that a person accepted, with the reason."""

    what: str
    reason: str
    by: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class VerifyCommand:
    """A verify command of a plan and its result; None: it has not run."""

    plan: str
    task: int
    line: str
    result: CommandResult | None = None


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """Questions about files and commits, answered from the disk and from git."""

    has_file: Callable[[str], bool]
    is_committed: Callable[[str], bool]
    has_commit: Callable[[str], bool] | None  # None: there is no git
    files_of_commit: Callable[[str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """All checks, findings and questions of one phase."""

    checks: tuple[VerificationCheck, ...] = ()
    findings: tuple[RuleFinding, ...] = ()
    human: tuple[HumanItem, ...] = ()
    overrides: tuple[Override, ...] = ()
    accepted: tuple[str, ...] = ()  # keys and tests that a person has accepted

    @property
    def blocking(self) -> tuple[RuleFinding, ...]:
        """The blocking findings that nobody has accepted."""
        return tuple(
            each for each in self.findings if each.is_blocking and each.key not in self.accepted
        )

    @property
    def failed(self) -> tuple[VerificationCheck, ...]:
        """The checks that failed."""
        return tuple(each for each in self.checks if each.state is CheckState.FAILED)

    @property
    def waiting(self) -> tuple[HumanItem, ...]:
        """The questions that no person has answered."""
        return tuple(each for each in self.human if each.test not in self.accepted)

    @property
    def outcome(self) -> VerificationStatus:
        """The status. Zero checks are no pass."""
        if self.blocking or self.failed:
            return VerificationStatus.GAPS
        is_open = any(each.state is CheckState.UNCERTAIN for each in self.checks)
        return (
            VerificationStatus.HUMAN
            if self.waiting or is_open or not self.checks
            else VerificationStatus.PASSED
        )

    @property
    def score(self) -> tuple[int, int]:
        """The number of truths and criteria that hold, and of all of them."""
        kinds = (CheckKind.TRUTH, CheckKind.CRITERION)
        counted = [check for check in self.checks if check.kind in kinds] or list(self.checks)
        passed = (CheckState.VERIFIED, CheckState.OVERRIDDEN)
        return sum(check.state in passed for check in counted), len(counted)


_WORD = lazy_pattern(r"[a-z0-9]+")
_STOP_WORDS = frozenset(
    "the a an and or of to in on for with is are be by as it its that this can must when from at "
    "all any each has have not no via into their they user users after before new".split()
)


def tokens(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, without stop words."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).lower()
    return frozenset(_stem(word) for word in _WORD.findall(spaced) if word not in _STOP_WORDS)


def is_alike(one: str, other: str, *, least: float = 0.8) -> bool:
    """Whether two sentences mean the same: most words of one are in the other."""
    first, second = tokens(one), tokens(other)
    shared = len(first & second)
    smaller = min(len(first), len(second))
    return bool(smaller) and (first == second or (smaller > 2 and shared >= least * smaller))


def share_of(text: str, words: Iterable[str]) -> float:
    """Return how many of the words of a sentence are among these words: 0 to 1."""
    needed = tokens(text)
    return len(needed.intersection(words)) / len(needed) if needed else 0.0


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
