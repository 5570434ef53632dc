"""Judging: what the end of a call or of a verify command means for the gate of a task.

Everything here is pure. A report of an agent is a claim and never evidence: a claim of success only
sends the task on to its verify command. A success of a test runner that ran no test counts as a
failure. A blocked task is read for the task or file it waits for.
"""

import re
import signal
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import unified_diff

from fairlead.agents.model import CallResult, EndKind
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.execution.answers import Malformed, Result, Verdict
from fairlead.execution.undeclared import ExtraFiles
from fairlead.jobs.ledger import EntryKind, LedgerEntry
from fairlead.jobs.model import FIX, OTHER, TaskGate
from fairlead.plans.documents import nodes_of
from fairlead.plans.errors import PlanCycle
from fairlead.plans.model import CommandResult, PlanDocument, Task, task_id
from fairlead.plans.waves import PlanNode, normal_path, schedule
from fairlead.project.state.edits import TaskOutcome
from fairlead.project.state.gate_rules import (
    Escalate,
    FailureClass,
    Gate,
    GateEvent,
    GateStatus,
    Retry,
    advance,
    next_after_failure,
    next_after_interruption,
)
from fairlead.store import layout
from fairlead.text.inline import file_name
from fairlead.text.printable import visible
from fairlead.vcs.model import FileChange, MergeConflict

_TASK_ID = lazy_pattern(
    r"\b([0-9]{2,6}[A-Z]?(?:\.[0-9]+)*-[0-9]{2,4})(?:-|:task-|-task-)([0-9]{1,4})\b"
)
_TASK_NAME = lazy_pattern(r"\btask\s+([0-9]{1,4})\b", re.IGNORECASE)
_WORD_BREAK = lazy_pattern(r"[\s`'\"(),;:<>]+")
# How much of a merge conflict a question shows: files, lines of each file, characters of a line.
_CONFLICT_FILES, CONFLICT_LINES, _CONFLICT_WIDTH = 3, 24, 200
_LONGEST_BLOCKER = 10_000  # characters of an agent's report that are searched


# -- calls and commands --------------------------------------------------------------------


def with_attempt_begun(
    task_gate: TaskGate, task: Task, answer: str, work: str, attempts: int
) -> TaskGate:
    """The gate after the next attempt began, taking into account what a person answered.

    `work` is the last commit of the plan: a task that is done again builds on it. A gate that
    starts anew has this number of attempts.
    """
    gate = task_gate.gate
    match gate.status:
        case None:
            event = GateEvent.START
        case _ if task_gate.is_passed or not task_gate.is_of(task.digest):
            # A person rejected the work at a checkpoint, or the plan has a different task now.
            base = work or task_gate.stands_on
            task_gate = replace(task_gate, name=task.name, stands_on=base, note="", waits_for=())
            gate, event = Gate(), GateEvent.START
        case GateStatus.EXECUTING if task_gate.was_refused:
            return task_gate  # the service refused the call: the same attempt continues
        case GateStatus.EXECUTING:
            if isinstance(next_after_interruption(gate), Escalate):
                gate = advance(gate, GateEvent.ABANDONED, task=task_gate.task)
                event = GateEvent.FIX if answer.startswith(FIX) else GateEvent.RESTART
            else:
                event = GateEvent.INTERRUPTED
        case GateStatus.BLOCKED if task_gate.question:
            event = GateEvent.UNBLOCKED  # a question uses no attempt
        case GateStatus.BLOCKED:
            event = GateEvent.FIX if answer else GateEvent.UNBLOCKED
        case _ if isinstance(next_after_failure(gate), Retry):
            event = GateEvent.RETRY
        case _:
            event = GateEvent.FIX if answer.startswith(FIX) else GateEvent.RESTART
    has_guidance = answer.startswith(FIX)
    guidance = answer.removeprefix(FIX).strip() if has_guidance else task_gate.guidance
    if task_gate.question and answer:
        given = answer.removeprefix(OTHER).strip()
        guidance = f"You asked: {task_gate.question}\nThe answer is: {given}"
    gate = advance(gate, event, task=task.name, attempts=attempts)
    return replace(task_gate, gate=gate, guidance=guidance, digest=task.digest)


def executor_outcome(
    ending: CallResult, result: Result | Malformed, fault: str = ""
) -> tuple[GateEvent, str]:
    """What the end of an executor means for its gate, and why.

    `fault` is what is wrong with the files it left: a claim of success does not count then.
    """
    match ending.kind:
        case EndKind.TIMEOUT | EndKind.IDLE:
            return GateEvent.TIMEOUT, ending.error or f"the executor was stopped: {ending.kind}"
        case EndKind.AUTH:
            return GateEvent.PERMISSION_DENIED, ending.error or "the agent is not logged in"
        case EndKind.OK:
            pass
        case _:
            return GateEvent.EXECUTOR_FAILURE, ending.error or f"the agent ended: {ending.kind}"
    if isinstance(result, Malformed):
        begins = f"; the reply begins:\n{result.head}" if result.head else ""
        return GateEvent.MALFORMED, f"{result.reason}{begins}"
    match result.status:
        case TaskOutcome.SUCCESS if fault:
            return GateEvent.EXECUTOR_FAILURE, fault
        case TaskOutcome.SUCCESS:
            return GateEvent.EXECUTOR_SUCCESS, ""
        case TaskOutcome.BLOCKED:
            return GateEvent.EXECUTOR_BLOCKED, result.error
        case TaskOutcome.FAILURE:
            is_verify = result.failure is FailureClass.VERIFY  # the executor reports this itself
            event = GateEvent.VERIFY_FAILED if is_verify else GateEvent.EXECUTOR_FAILURE
            return event, result.error


def concerns_of(
    result: Result | Malformed, extras: ExtraFiles, *, has_planning_changes: bool
) -> tuple[str, ...]:
    """Remarks on an attempt for its reviewer and for the summary."""
    planning = f"changes below {layout.PLANNING} stay on the branch and do not land"
    concerns = [*extras.remarks, *((planning,) if has_planning_changes else ())]
    if isinstance(result, Result):
        concerns += [*result.concerns, *result.warnings]
    return tuple(concerns)


def verify_outcome(
    result: CommandResult, task: Task, *, needs_tests: bool
) -> tuple[GateEvent, str]:
    """What the end of a verify command means for its gate, and why."""
    if result.is_timeout:
        return GateEvent.TIMEOUT, f"`{task.verify}` did not end in time"
    if result.exit_code == 0 and not result.problem:
        empty = ran_no_test(result.tail) if needs_tests else ""
        if empty:
            return GateEvent.VERIFY_FAILED, f"`{task.verify}` succeeded without a test: {empty}"
        return GateEvent.VERIFY_PASSED, ""
    problem = result.problem or f"`{task.verify}` ended with {_exit_text(result.exit_code)}"
    return GateEvent.VERIFY_FAILED, f"{problem}\n{result.tail}".strip()


def _exit_text(code: int) -> str:
    """An exit code, with the signal if there was one: a shell reports its child's as 128 + n."""
    number = -code if code < 0 else code - 128
    names = {int(each): each.name for each in signal.Signals}
    return f"{code}, by signal {names[number]}" if number in names else str(code)


def review_outcome(ending: CallResult, verdict: Verdict | Malformed) -> tuple[GateEvent, str]:
    """What the end of an architect means for its gate; a malformed verdict never approves."""
    match ending.kind:
        case EndKind.TIMEOUT | EndKind.IDLE:
            return GateEvent.TIMEOUT, ending.error or "the architect was stopped"
        case EndKind.AUTH:
            return GateEvent.PERMISSION_DENIED, ending.error or "the agent is not logged in"
        case EndKind.OK:
            pass
        case _:
            return GateEvent.MALFORMED, ending.error or f"the architect ended: {ending.kind}"
    if isinstance(verdict, Malformed):
        return GateEvent.MALFORMED, verdict.reason
    return (GateEvent.APPROVED, "") if verdict.approved else (GateEvent.REJECTED, verdict.feedback)


def review_pieces(
    task: Task,
    changes: Iterable[FileChange],
    entries: Iterable[LedgerEntry],
    extras: ExtraFiles,
) -> dict[str, str]:
    """The pieces of an attempt that the architect's prompt shows."""
    tails = {entry.kind: entry.tail for entry in entries}
    undeclared = (*extras.reviewed, *extras.asked, *extras.left_out)
    marks = dict.fromkeys(undeclared, " (not declared by the plan)")
    marks |= dict.fromkeys(extras.in_verify, " (not declared by the plan; verify uses it)")
    return {
        "task": task.source,
        "changes": "\n".join(
            f"{change.kind} {file_name(change.path)}{marks.get(change.path, '')}"
            for change in changes
        ),
        "evidence": tails.get(EntryKind.EXECUTE, ""),
        "verify": task.verify,
        "tail": tails.get(EntryKind.VERIFY, ""),
    }


def task_message(document: PlanDocument, task: Task, job: str) -> str:
    """The commit message of a task."""
    plan, kind = document.id, "test" if document.kind == "tdd" else "feat"
    title = " ".join((task.name.partition(":")[2].strip() or task.name).split())[:72]
    return f"{kind}({plan}): {title}\n\nPlan: {plan}\nTask: {task.number}\nJob: {job}\n"


# -- blocked tasks -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WaitsForTask:
    """The blocked task needs another task first."""

    on: str


@dataclass(frozen=True, slots=True)
class UnknownBlocker:
    """A person has to decide about the blocked task."""

    reason: str


def with_blocker_analysed(
    blocked: TaskGate, documents: Iterable[PlanDocument], others: Iterable[TaskGate]
) -> TaskGate:
    """The gate of a blocked task with the task it waits for, or the reason to ask a person."""
    plans = tuple(documents)
    gates = {gate.task: gate for gate in others}
    edges = task_edges(plans, {node.id: node.depends_on for node in nodes_of(plans)})
    for gate in gates.values():
        edges[gate.task] = (*edges.get(gate.task, ()), *gate.waits_for)
    digests = {task_id(plan.id, task.number): task.digest for plan in plans for task in plan.tasks}
    passed = [task for task, gate in gates.items() if gate.passes(digests.get(task, ""))]
    cause = analyse_blocker(blocked.task, blocked.note, plans, passed, edges)
    if isinstance(cause, WaitsForTask):
        return replace(blocked, waits_for=(*blocked.waits_for, cause.on))
    return replace(blocked, waits_for=(), note=cause.reason)


def analyse_blocker(
    blocked: str,
    blocker: str,
    plans: Sequence[PlanDocument],
    approved: Collection[str],
    edges: Mapping[str, tuple[str, ...]],
) -> WaitsForTask | UnknownBlocker:
    """What a blocked task waits for, according to its report; `edges` are the known waits.

    A task or file that the report names comes first, unless that would close a cycle. If the named
    task is approved already, its work should be present: the state is inconsistent.
    """
    order = [task_id(plan.id, task.number) for plan in plans for task in plan.tasks]
    needed = _named_task(blocked, blocker[:_LONGEST_BLOCKER], plans, order)
    if needed is None:
        return UnknownBlocker(
            f"{blocked} is blocked and names no task or file of a plan: {blocker[:200]}"
        )
    if needed in approved:
        return UnknownBlocker(f"state inconsistent: {blocked} lacks the approved work of {needed}")
    nodes = [
        PlanNode(name, (*edges.get(name, ()), *((needed,) if name == blocked else ())))
        for name in order
    ]
    try:
        schedule(nodes)
    except PlanCycle as cycle:
        return UnknownBlocker(cycle.message)
    return WaitsForTask(needed)


def task_edges(
    plans: Sequence[PlanDocument], needs: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """The tasks that each task follows: the one before it, or the last ones of needed plans."""
    last = {plan.id: task_id(plan.id, plan.tasks[-1].number) for plan in plans if plan.tasks}
    edges: dict[str, tuple[str, ...]] = {}
    for plan in plans:
        before = tuple(last[name] for name in needs.get(plan.id, ()) if name in last)
        for task in plan.tasks:
            name = task_id(plan.id, task.number)
            edges[name] = before
            before = (name,)
    return edges


def _named_task(
    blocked: str, blocker: str, plans: Sequence[PlanDocument], order: Sequence[str]
) -> str | None:
    """The task that a report means: by id, by a file it declares, or by its number in the plan."""
    for match in _TASK_ID.finditer(blocker):
        name = task_id(match[1], int(match[2]))
        if name in order and name != blocked:
            return name
    makers = {
        normal_path(path): task_id(plan.id, task.number)
        for plan in plans
        for task in plan.tasks
        for path in task.files
        if task_id(plan.id, task.number) != blocked
    }
    for word in _WORD_BREAK.split(blocker):
        maker = makers.get(normal_path(word.rstrip(".")))
        if maker:
            return maker
    for match in _TASK_NAME.finditer(blocker):
        name = task_id(blocked.rpartition("-")[0], int(match[1]))
        if name in order and name != blocked:
            return name
    return None


# -- test runners --------------------------------------------------------------------------

# Many test runners exit with 0 when there was nothing to run. Only what they report of the
# complete run counts: one empty file among others is normal.
_NO_TESTS = lazy_pattern(
    r"""(?im)^\s*=*\s*(?:
        no\ tests\ ran\b.*                                  # pytest
      | collected\ 0\ items\b.*                             # pytest --exitfirst and plugins
      | ran\ 0\ tests\b.*                                   # unittest
      | 0\ passing\b.*                                      # mocha
      | (?:no\ tests\ found|no\ test\ files?\ found)\b.*    # jest, vitest, playwright
      | tests:\s+0\ total.*                                 # jest
      | 0\ examples,\ 0\ failures.*                         # rspec
      | 0\ runs,\ 0\ assertions\b.*                         # minitest
      | no\ tests\ executed.*                               # phpunit
      | 1\.\.0\b.*                                          # the TAP protocol
      | testing:\ warning:\ no\ tests\ to\ run              # go, for one package
      | \?\s+\S+\s+\[no\ test\ files\]                      # go, for one package
      | running\ 0\ tests                                   # cargo, for one target
    )$""",
    re.VERBOSE,
)
_SOME_TESTS = lazy_pattern(
    r"""(?im)\b[1-9][0-9]*\ (?:passed|failed|passing|failing|tests?\ (?:passed|ok)|examples?)\b
      | ^\s*running\ [1-9][0-9]*\ tests? | ^\s*ran\ [1-9][0-9]*\ tests?
      | ^ok\s+\S+\s+(?:\(cached\)|[0-9.]+s)(?!.*no\ tests) | ^\s*(?:not\ )?ok\ [1-9]
      | ^\s*tests:\s.*[1-9][0-9]*\ total | ^--- (?:PASS|FAIL):""",
    re.VERBOSE,
)
_ALL_SKIPPED = lazy_pattern(
    r"""(?im)^[ \t=]*[1-9][0-9]*\ (?:skipped|deselected|todo)[^\n]*\bin\ [0-9.]+s.*   # pytest
      | ^ok\ \(.*\bskipped=(?P<skipped>[0-9]+).*                                      # unittest
      | ^[ \t]*tests:?[ \t]+(?:[0-9]+\ (?:skipped|todo)[, ]*)+(?:[0-9]+\ total|\([0-9]+\)).*   # jest, vitest
      | ^test\ result:\ ok\.\ 0\ passed;\ 0\ failed;\ [1-9][0-9]*\ ignored.*            # cargo
      | ^\#\ pass\ 0$                                                              # node
    """,
    re.VERBOSE,
)
_TESTS_RUN = lazy_pattern(r"(?im)^ran ([0-9]+) tests?")
_ANY_RESULT = lazy_pattern(r"(?i)\b[1-9][0-9]* (?:passed|passing|failed)\b")


def ran_no_test(output: str) -> str:
    """The line in which a test runner reports that no test ran; empty if any did."""
    skipped = _ALL_SKIPPED.search(output)
    if skipped and not _ANY_RESULT.search(output):
        ran = sum(map(int, _TESTS_RUN.findall(output)))
        if ran <= int(skipped["skipped"] or ran):
            return skipped[0].strip(" =")
    empty = _NO_TESTS.search(output)
    if empty is None or _SOME_TESTS.search(output):
        return ""
    return empty[0].strip(" =")


def conflict_lines(conflicts: tuple[MergeConflict, ...], plan: str) -> tuple[str, ...]:
    """The beginning of a diff between the two sides of each file that does not merge."""
    shown: list[str] = []
    for conflict in conflicts[:_CONFLICT_FILES]:
        ours, theirs = conflict.ours.splitlines(), conflict.theirs.splitlines()
        names = (f"{conflict.path} as it is", f"{conflict.path} of {plan}")
        lines = [*unified_diff(ours, theirs, *names, n=1, lineterm="")]
        shown += [visible(line[:_CONFLICT_WIDTH]) for line in lines[:CONFLICT_LINES]]
        more = len(lines) - CONFLICT_LINES
        shown += [f"and {more} lines more"] if more > 0 else []
    return tuple(shown)
