"""Judging: what the end of a call or a command means for the gate. Claims are not evidence."""

import signal
from collections.abc import Iterable

from fairlead.model.agent_events import Ending, EndKind
from fairlead.model.job import FIX, TaskGate
from fairlead.model.lifecycle import (
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
from fairlead.model.plan import PlanSheet, Task, task_id
from fairlead.model.ran import Ran
from fairlead.model.reanalysis import Waits, reanalysed, task_edges
from fairlead.model.waves import Claims
from fairlead.model.workspace import Change
from fairlead.records.ledger import Entry, EntryKind
from fairlead.records.plan_sheet import nodes_of
from fairlead.records.result import Malformed, Result, Verdict
from fairlead.records.runner_reports import ran_no_test
from fairlead.records.tasks import Outcome
from fairlead.store import layout
from fairlead.text.inline import file_name
from fairlead.values import replace


def begun(held: TaskGate, what: Task, answer: str, work: str) -> TaskGate:
    """The gate with an attempt begun; what a person answered is taken into account.

    `work` is what the plan has come to: a task that is done again stands on it.
    """
    gate = held.gate
    match gate.status:
        case None:
            event = GateEvent.START
        case _ if held.is_passed or not held.is_of(what.digest):
            # A checkpoint's, to be mended again; or the task was another one.
            on = work or held.stands_on
            held = replace(held, name=what.name, stands_on=on, note="", waits_for=())
            gate, event = Gate(), GateEvent.START
        case GateStatus.EXECUTING if held.was_refused:
            return held  # nobody has interrupted it
        case GateStatus.EXECUTING:
            if isinstance(next_after_interruption(gate), Escalate):
                gate = advance(gate, GateEvent.ABANDONED, task=held.task)
                event = GateEvent.FIX if answer.startswith(FIX) else GateEvent.RESTART
            else:
                event = GateEvent.INTERRUPTED
        case GateStatus.BLOCKED:
            event = GateEvent.FIX if answer else GateEvent.UNBLOCKED
        case _ if isinstance(next_after_failure(gate), Retry):
            event = GateEvent.RETRY
        case _:
            event = GateEvent.FIX if answer.startswith(FIX) else GateEvent.RESTART
    guidance = answer.removeprefix(FIX).strip() if answer.startswith(FIX) else held.guidance
    gate = advance(gate, event, task=what.name)
    return replace(held, gate=gate, guidance=guidance, digest=what.digest)


def outcome_of(
    ending: Ending, result: Result | Malformed, fault: str = ""
) -> tuple[GateEvent, str]:
    """What an executor's end means for its gate. Its own word is a claim; the gate goes on to check.

    A claim of success is worth nothing if there is a fault in what was left.
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
        return GateEvent.MALFORMED, result.reason
    match result.status:
        case Outcome.SUCCESS if fault:
            return GateEvent.EXECUTOR_FAILURE, fault
        case Outcome.SUCCESS:
            return GateEvent.EXECUTOR_SUCCESS, ""
        case Outcome.BLOCKED:
            return GateEvent.EXECUTOR_BLOCKED, result.error
        case Outcome.FAILURE:
            is_verify = result.failure is FailureClass.VERIFY  # by its own account
            event = GateEvent.VERIFY_FAILED if is_verify else GateEvent.EXECUTOR_FAILURE
            return event, result.error


def concerns_of(
    result: Result | Malformed, changes: tuple[Change, ...], what: Task, *, has_own_files: bool
) -> tuple[str, ...]:
    """What a reviewer and the summary should know of an attempt."""
    declared = Claims()
    declared.add(what.files, "task")
    found = [
        f"{file_name(each.path)} is not among the files of the task"
        for each in changes
        if not declared.clash([each.path])
    ]
    if has_own_files:
        found.append(f"changes below {layout.PLANNING} were kept on the branch and not taken over")
    return (*found, *(result.warnings if isinstance(result, Result) else ()))


def verified(ran: Ran, what: Task, *, needs_tests: bool) -> tuple[GateEvent, str]:
    """What a verify run means for its gate."""
    if ran.is_timeout:
        return GateEvent.TIMEOUT, f"`{what.verify}` did not end in time"
    if ran.exit_code == 0 and not ran.problem:
        empty = ran_no_test(ran.tail) if needs_tests else ""
        if empty:
            return GateEvent.VERIFY_FAILED, f"`{what.verify}` succeeded without a test: {empty}"
        return GateEvent.VERIFY_PASSED, ""
    said = ran.problem or f"`{what.verify}` ended with {_ended(ran.exit_code)}"
    return GateEvent.VERIFY_FAILED, f"{said}\n{ran.tail}".strip()


def _ended(code: int) -> str:
    """An exit code in words; a shell tells the signal of its child as 128 and more."""
    number = -code if code < 0 else code - 128
    known = {int(each): each.name for each in signal.Signals}
    return f"{code}, by signal {known[number]}" if number in known else str(code)


def pieces_to_judge(
    what: Task, changes: Iterable[Change], entries: Iterable[Entry]
) -> dict[str, str]:
    """What an architect is shown of an attempt."""
    told = {each.kind: each.tail for each in entries}
    return {
        "task": what.source,
        "changes": "\n".join(f"{each.kind} {file_name(each.path)}" for each in changes),
        "evidence": told.get(EntryKind.EXECUTE, ""),
        "verify": what.verify,
        "tail": told.get(EntryKind.VERIFY, ""),
    }


def judged(ending: Ending, found: Verdict | Malformed) -> tuple[GateEvent, str]:
    """What an architect's end means for its gate; only a verdict that can be read approves."""
    match ending.kind:
        case EndKind.TIMEOUT | EndKind.IDLE:
            return GateEvent.TIMEOUT, ending.error or "the architect was stopped"
        case EndKind.AUTH:
            return GateEvent.PERMISSION_DENIED, ending.error or "the agent is not logged in"
        case EndKind.OK:
            pass
        case _:
            return GateEvent.MALFORMED, ending.error or f"the architect ended: {ending.kind}"
    if isinstance(found, Malformed):
        return GateEvent.MALFORMED, found.reason
    return (GateEvent.APPROVED, "") if found.approved else (GateEvent.REJECTED, found.feedback)


def task_message(sheet: PlanSheet, task: Task, job: str) -> str:
    """The message of a task's commit."""
    kind = "test" if sheet.kind == "tdd" else "feat"
    title = " ".join((task.name.partition(":")[2].strip() or task.name).split())[:72]
    return f"{kind}({sheet.id}): {title}\n\nPlan: {sheet.id}\nTask: {task.number}\nJob: {job}\n"


def with_call(entry: Entry, ending: Ending) -> Entry:
    """The evidence of a call, with what the call was."""
    return replace(
        entry,
        exit_code=ending.exit_code,
        session=ending.session,
        tokens_in=ending.usage.tokens_in,
        tokens_cached=ending.usage.tokens_cached or None,
        tokens_out=ending.usage.tokens_out,
        estimated=ending.is_estimated or None,
        cost_usd=ending.cost_usd,
        prompt_characters=ending.prompt_characters or None,
        call=ending.call,
    )


def reanalysed_gate(
    held: TaskGate, sheets: Iterable[PlanSheet], others: Iterable[TaskGate]
) -> TaskGate:
    """What a blocked task waits for: another task, or a person who is told why."""
    plans = tuple(sheets)
    gates = {gate.task: gate for gate in others}
    edges = task_edges(plans, {node.id: node.depends_on for node in nodes_of(plans)})
    for gate in gates.values():
        edges[gate.task] = (*edges.get(gate.task, ()), *gate.waits_for)
    now = {task_id(plan.id, each.number): each.digest for plan in plans for each in plan.tasks}
    passed = [task for task, gate in gates.items() if gate.passes(now.get(task, ""))]
    found = reanalysed(held.task, held.note, plans, passed, edges)
    if isinstance(found, Waits):
        return replace(held, waits_for=(*held.waits_for, found.on))
    return replace(held, waits_for=(), note=found.reason)
