"""What is wrong with the plans of a phase, taken together: found by rule, or said by a checker."""

from collections.abc import Iterator, Mapping, Sequence

from fairlead.errors import ArtefactFault, PlanCycle, PlanTwice
from fairlead.model.plan import PlanSheet, Severity
from fairlead.model.waves import schedule
from fairlead.records.context import Decision, uncovered
from fairlead.records.plan_check import validate
from fairlead.records.plan_sheet import nodes_of
from fairlead.values import dataclass

BLOCKER, WARNING, INFO = "blocker", "warning", "info"
MOST_TASKS = 5  # from here on a plan is too large for one sitting


@dataclass(frozen=True, slots=True)
class Issue:
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
class Wanted:
    """What the plans of a phase have to cover."""

    requirements: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    done: tuple[str, ...] = ()  # plans of the phase that stand already


def issues_of(
    sheets: Sequence[PlanSheet], texts: Sequence[str], wanted: Wanted
) -> tuple[Issue, ...]:
    """Everything that our own rules find; blockers are what no gate could work with."""
    return (
        *_of_each(sheets),
        *_of_order(sheets, wanted),
        *_of_coverage(sheets, texts, wanted),
    )


def read_issues(answer: Mapping[str, object], path: str = "plan-checker") -> tuple[Issue, ...]:
    """What a checker says; an answer that contradicts itself is refused."""
    verdict = str(answer.get("verdict", "")).strip().upper()
    given = answer.get("issues")
    if verdict not in ("PASSED", "ISSUES") or not isinstance(given, list):
        raise ArtefactFault("it takes a verdict PASSED or ISSUES, and a list of issues").located(
            path
        )
    found = tuple(_issue(each, path) for each in given)
    is_blocked = any(each.severity == BLOCKER for each in found)
    if verdict == "PASSED" and is_blocked:
        raise ArtefactFault("it passes the plans and names a blocker").located(path)
    if verdict == "ISSUES" and not found:
        raise ArtefactFault("it finds issues and names none").located(path)
    return found


def read_objections(answer: Mapping[str, object], path: str = "critic") -> tuple[Issue, ...]:
    """What a critic says, as issues; an answer that contradicts itself is refused."""
    verdict = str(answer.get("verdict", "")).strip().upper()
    given = answer.get("objections")
    if verdict not in ("SOUND", "DOUBTFUL") or not isinstance(given, list):
        what = "it takes a verdict SOUND or DOUBTFUL, and a list of objections"
        raise ArtefactFault(what).located(path)
    keys = {"description": "objection", "fix_hint": "settled_by", "plan": "where"}
    named = [
        {**each, **{key: each.get(other) for key, other in keys.items()}, "dimension": "critic"}
        for each in given
        if isinstance(each, dict)
    ]
    found = tuple(_issue(each, path) for each in named)
    if verdict == "SOUND" and any(each.severity == BLOCKER for each in found):
        raise ArtefactFault("it calls the plans sound and names a blocker").located(path)
    return found


def _issue(held: object, path: str) -> Issue:
    told = held if isinstance(held, dict) else {}
    severity = str(told.get("severity", "")).strip().lower()
    what = " ".join(str(told.get("description", "")).split())
    if severity not in (BLOCKER, WARNING, INFO) or not what:
        raise ArtefactFault("an issue takes a severity and a description").located(path)
    task = f" task {told['task']}" if told.get("task") else ""
    return Issue(
        f"{told.get('plan', '')}{task}".strip(),
        severity,
        what,
        " ".join(str(told.get("fix_hint") or "").split()),
        str(told.get("dimension", "")),
    )


def _of_each(sheets: Sequence[PlanSheet]) -> Iterator[Issue]:
    for sheet in sheets:
        for fault in validate(sheet):
            severity = BLOCKER if fault.severity is Severity.ERROR else WARNING
            yield Issue(sheet.id, severity, f"line {fault.line}: {fault.what}", dimension="form")
        if len(sheet.tasks) >= MOST_TASKS:
            yield Issue(sheet.id, BLOCKER, f"{len(sheet.tasks)} tasks", "divide it", "scope")
        for task in sheet.tasks:
            if not task.kind.is_checkpoint and not task.verify:
                yield Issue(sheet.id, BLOCKER, f"task {task.number} has no verify command")
        if not sheet.must_haves.truths:
            yield Issue(sheet.id, BLOCKER, "must_haves name no truth", dimension="must_haves")


def _of_order(sheets: Sequence[PlanSheet], wanted: Wanted) -> Iterator[Issue]:
    try:
        order = schedule(nodes_of(sheets))
    except (PlanCycle, PlanTwice) as error:
        yield Issue("", BLOCKER, str(error), error.hint, "dependencies")
        return
    known = {*(sheet.id for sheet in sheets), *wanted.done}
    for node in order.nodes:
        for need in node.depends_on:
            if need not in known:
                what = f"it depends on {need}, which is no plan of this phase"
                yield Issue(node.id, BLOCKER, what, dimension="dependencies")


def _of_coverage(
    sheets: Sequence[PlanSheet], texts: Sequence[str], wanted: Wanted
) -> Iterator[Issue]:
    named = {each for sheet in sheets for each in sheet.requirements}
    for each in wanted.requirements:
        if each not in named:
            yield Issue("", BLOCKER, f"no plan has requirement {each}", dimension="requirements")
    for sheet in sheets:
        if wanted.requirements and not sheet.requirements:
            yield Issue(sheet.id, WARNING, "it names no requirement", dimension="requirements")
        for each in sheet.requirements:
            if wanted.requirements and each not in wanted.requirements:
                what = f"{each} is no requirement of this phase"
                yield Issue(sheet.id, WARNING, what, dimension="requirements")
    for decision in uncovered(wanted.decisions, texts):
        what = f"no plan carries out {decision.id}: {decision.text[:80]}"
        yield Issue("", BLOCKER, what, dimension="context")
