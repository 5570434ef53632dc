"""The rounds of planning: plan, look for faults, revise; until the plans pass, stall or the cap is met.

Pure: what was made and found is given, the next step comes out. A round is better than the one
before when fewer faults of form are left or, with none left, fewer blockers of the checker. One
that is not better is a stall: asking again would cost the same and bring the same.
"""

from enum import StrEnum

from fairlead.model.job import FIX
from fairlead.values import dataclass

MOST_REVISIONS = 3
KEEP, PROCEED, ABANDON = "keep", "proceed", "abandon"


class PlanStep(StrEnum):
    """What comes next."""

    RESEARCH = "research"
    PATTERNS = "patterns"
    PLAN = "plan"  # the first round, or one more
    CHECK = "check"
    ASK = "ask"  # a person: the plans do not pass, and another round would not help
    WRITE = "write"  # they pass, or a person wants them as they are
    WRITE_MARKED = "write-marked"  # they do not pass, and say so
    ABANDON = "abandon"


@dataclass(frozen=True, slots=True)
class Round:
    """One version of the plans, and what is wrong with it."""

    faults: int  # that our own rules found
    blockers: int | None = None  # that the checker found; None: not asked
    answer: str = ""  # what a person said about this round

    @property
    def score(self) -> tuple[int, float]:
        """Smaller is better; what was not checked may hold anything."""
        return self.faults, float("inf") if self.blockers is None else self.blockers


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """Where planning stands."""

    wants_research: bool = False  # and there is none yet
    wants_patterns: bool = False
    wants_check: bool = True
    rounds: tuple[Round, ...] = ()

    @property
    def is_stalled(self) -> bool:
        """Whether the last revision was not better than what it revised."""
        return len(self.rounds) > 1 and self.rounds[-1].score >= self.rounds[-2].score

    @property
    def revisions(self) -> int:
        """How often the plans were revised since a person last said how."""
        told = [at for at, each in enumerate(self.rounds) if each.answer.startswith(FIX)]
        return len(self.rounds) - 1 - (told[-1] + 1 if told else 0)


def next_step(facts: PlanFacts) -> PlanStep:
    """What to do now."""
    if facts.wants_research:
        return PlanStep.RESEARCH
    if facts.wants_patterns:
        return PlanStep.PATTERNS
    if not facts.rounds:
        return PlanStep.PLAN
    last = facts.rounds[-1]
    if not last.faults:
        if facts.wants_check and last.blockers is None:
            return PlanStep.CHECK
        if not last.blockers:
            return PlanStep.WRITE
    if last.answer:
        return _answered(last.answer)
    if facts.is_stalled or facts.revisions >= MOST_REVISIONS:
        return PlanStep.ASK
    return PlanStep.PLAN


def _answered(answer: str) -> PlanStep:
    if answer.startswith(FIX):
        return PlanStep.PLAN
    return {PROCEED: PlanStep.WRITE, KEEP: PlanStep.WRITE_MARKED}.get(answer, PlanStep.ABANDON)
