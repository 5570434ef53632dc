"""Rules of planning a phase: what is wrong with a set of plans, and which step comes next.

Issues come from Fairlead's own rules, the plan checker and the critic. A round is better than the
one before if it has fewer issues of form or, with none left, fewer blockers of the checker. A
round that is not better is a stall: another one would cost the same and change nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from fairlead.core.values import dataclass
from fairlead.jobs.model import FIX
from fairlead.plans.check import validate
from fairlead.plans.documents import nodes_of
from fairlead.plans.errors import PlanCycle, PlanTwice
from fairlead.plans.model import PlanDocument, Severity
from fairlead.plans.waves import schedule
from fairlead.workflows.artefacts import any_line, read_answer
from fairlead.workflows.context_document import ContextDecision, uncovered_decisions
from fairlead.workflows.errors import ArtefactFault

BLOCKER, WARNING, INFO = "blocker", "warning", "info"
TOO_MANY_TASKS = 5  # a plan of so many tasks has to be divided
MAX_REVISIONS = 3
KEEP, PROCEED, ABANDON = "keep", "proceed", "abandon"


# -- issues --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanIssue:
    """One thing that is wrong with a plan."""

    plan: str
    severity: str
    what: str
    fix: str = ""
    dimension: str = ""

    def __str__(self) -> str:
        fix = f" — {self.fix}" if self.fix else ""
        return f"[{self.severity}] {self.plan or 'the phase'}: {self.what}{fix}"


@dataclass(frozen=True, slots=True)
class RequiredCoverage:
    """What the plans of a phase have to cover."""

    requirements: tuple[str, ...] = ()
    decisions: tuple[ContextDecision, ...] = ()
    done: tuple[str, ...] = ()  # plans of the phase that stay


@dataclass(frozen=True, slots=True)
class ReportedIssue:
    """An issue in the answer of the plan checker."""

    severity: str
    description: str
    plan: str
    task: str
    fix_hint: str
    dimension: str


@dataclass(frozen=True, slots=True)
class ReportedObjection:
    """An objection in the answer of the critic."""

    severity: str
    objection: str
    where: str
    task: str
    settled_by: str


def has_blocker(issues: Sequence[PlanIssue]) -> bool:
    """Whether one of the issues blocks the plans."""
    return any(issue.severity == BLOCKER for issue in issues)


def read_issues(answer: Mapping[str, object], path: str = "plan-checker") -> tuple[PlanIssue, ...]:
    """Read the answer of the plan checker; refuse one that contradicts itself."""
    verdict, entries = _verdict(answer, ("PASSED", "ISSUES"), "issues", path)
    issues = []
    for entry in entries:
        reported = read_answer(ReportedIssue, entry if isinstance(entry, dict) else {}, any_line)
        issue = PlanIssue(
            _place(reported.plan, reported.task),
            reported.severity.lower(),
            reported.description,
            reported.fix_hint,
            reported.dimension,
        )
        issues.append(_checked(issue, path))
    if verdict == "PASSED" and has_blocker(issues):
        raise ArtefactFault("the verdict is PASSED, but there is a blocker").located(path)
    if verdict == "ISSUES" and not issues:
        raise ArtefactFault("the verdict is ISSUES, but there are none").located(path)
    return tuple(issues)


def read_objections(answer: Mapping[str, object], path: str = "critic") -> tuple[PlanIssue, ...]:
    """Read the answer of the critic; refuse one that contradicts itself."""
    verdict, entries = _verdict(answer, ("SOUND", "DOUBTFUL"), "objections", path)
    issues = []
    for entry in entries:
        if isinstance(entry, dict):
            said = read_answer(ReportedObjection, entry, any_line)
            place, severity = _place(said.where, said.task), said.severity.lower()
            issue = PlanIssue(place, severity, said.objection, said.settled_by, "critic")
            issues.append(_checked(issue, path))
    if verdict == "SOUND" and has_blocker(issues):
        raise ArtefactFault("the verdict is SOUND, but there is a blocker").located(path)
    return tuple(issues)


def _verdict(
    answer: Mapping[str, object], verdicts: tuple[str, str], key: str, path: str
) -> tuple[str, list[object]]:
    verdict, entries = any_line(answer.get("verdict")).upper(), answer.get(key)
    if verdict not in verdicts or not isinstance(entries, list):
        what = f"expected a verdict {' or '.join(verdicts)}, and a list of {key}"
        raise ArtefactFault(what).located(path)
    return verdict, entries


def _place(plan: str, task: str) -> str:
    return f"{plan} task {task}".strip() if task else plan


def _checked(issue: PlanIssue, path: str) -> PlanIssue:
    if issue.severity not in (BLOCKER, WARNING, INFO) or not issue.what:
        raise ArtefactFault("an issue needs a severity and a description").located(path)
    return issue


def issues_of(
    plans: Sequence[PlanDocument], texts: Sequence[str], coverage: RequiredCoverage
) -> tuple[PlanIssue, ...]:
    """Every issue that Fairlead's own rules find; a blocker would stop the gates."""
    return (
        *_form_issues(plans),
        *_order_issues(plans, coverage),
        *_coverage_issues(plans, texts, coverage),
    )


def _form_issues(plans: Sequence[PlanDocument]) -> Iterator[PlanIssue]:
    for plan in plans:
        for fault in validate(plan):
            severity = BLOCKER if fault.severity is Severity.ERROR else WARNING
            yield PlanIssue(plan.id, severity, f"line {fault.line}: {fault.what}", dimension="form")
        if len(plan.tasks) >= TOO_MANY_TASKS:
            yield PlanIssue(plan.id, BLOCKER, f"{len(plan.tasks)} tasks", "divide it", "scope")
        for task in plan.tasks:
            if not task.kind.is_checkpoint and not task.verify:
                yield PlanIssue(plan.id, BLOCKER, f"task {task.number} has no verify command")
        if not plan.must_haves.truths:
            yield PlanIssue(plan.id, BLOCKER, "must_haves has no truths", dimension="must_haves")


def _order_issues(plans: Sequence[PlanDocument], coverage: RequiredCoverage) -> Iterator[PlanIssue]:
    try:
        order = schedule(nodes_of(plans))
    except (PlanCycle, PlanTwice) as error:
        yield PlanIssue("", BLOCKER, str(error), error.hint, "dependencies")
        return
    existing = {*(plan.id for plan in plans), *coverage.done}
    for node in order.nodes:
        for need in node.depends_on:
            if need not in existing:
                what = f"it depends on {need}, which is not a plan of this phase"
                yield PlanIssue(node.id, BLOCKER, what, dimension="dependencies")


def _coverage_issues(
    plans: Sequence[PlanDocument], texts: Sequence[str], coverage: RequiredCoverage
) -> Iterator[PlanIssue]:
    required = coverage.requirements
    named = {name for plan in plans for name in plan.requirements}
    for name in required:
        if name not in named:
            yield PlanIssue(
                "", BLOCKER, f"no plan has requirement {name}", dimension="requirements"
            )
    for plan in plans if required else ():
        if not plan.requirements:
            yield PlanIssue(plan.id, WARNING, "it names no requirement", dimension="requirements")
        for name in plan.requirements:
            if name not in required:
                what = f"{name} is not a requirement of this phase"
                yield PlanIssue(plan.id, WARNING, what, dimension="requirements")
    for decision in uncovered_decisions(coverage.decisions, texts):
        what = f"no plan carries out {decision.id}: {decision.text[:80]}"
        yield PlanIssue("", BLOCKER, what, dimension="context")


# -- rounds --------------------------------------------------------------------------------------


class PlanStep(StrEnum):
    """The next step."""

    RESEARCH = "research"
    PATTERNS = "patterns"
    PLAN = "plan"  # the first round, or a revision
    CHECK = "check"
    ASK = "ask"  # the plans do not pass, and another round would not help: ask a person
    WRITE = "write"  # the plans pass, or a person accepts them as they are
    WRITE_MARKED = "write-marked"  # the plans do not pass, and are marked
    ABANDON = "abandon"


@dataclass(frozen=True, slots=True)
class PlanRound:
    """One version of the plans, and what is wrong with it."""

    faults: int  # blockers found by Fairlead's own rules
    blockers: int | None = None  # blockers found by the checker; None if it was not asked
    answer: str = ""  # of a person, about this round

    @property
    def score(self) -> tuple[int, float]:
        """Smaller is better; unchecked plans may contain anything."""
        return self.faults, float("inf") if self.blockers is None else self.blockers


@dataclass(frozen=True, slots=True)
class PlanRoundFacts:
    """The state of planning."""

    wants_research: bool = False  # and there is none yet
    wants_patterns: bool = False
    wants_check: bool = True
    rounds: tuple[PlanRound, ...] = ()

    @property
    def is_stalled(self) -> bool:
        """Whether the last revision is not better than the round before."""
        return len(self.rounds) > 1 and self.rounds[-1].score >= self.rounds[-2].score

    @property
    def revisions(self) -> int:
        """The number of revisions since a person last gave guidance."""
        guided = [at for at, each in enumerate(self.rounds) if each.answer.startswith(FIX)]
        return len(self.rounds) - 1 - (guided[-1] + 1 if guided else 0)


def next_step(facts: PlanRoundFacts) -> PlanStep:
    """The next step of planning."""
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
    if last.answer.startswith(FIX):
        return PlanStep.PLAN
    if last.answer:
        steps = {PROCEED: PlanStep.WRITE, KEEP: PlanStep.WRITE_MARKED}
        return steps.get(last.answer, PlanStep.ABANDON)
    if facts.is_stalled or facts.revisions >= MAX_REVISIONS:
        return PlanStep.ASK
    return PlanStep.PLAN
