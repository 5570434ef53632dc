"""The page of `fairlead job show`, the same for every kind of job.

A page is a list of lines, so it is the same in a pipe, in a terminal and in a picture. It begins
with the status, the command that the job needs and what it lacked; then come votes, gates and
calls, whichever the job has, and its questions.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fairlead.council.model import CouncilJob
from fairlead.council.report import CouncilReport, NextStep, SeatRow
from fairlead.council.seats import VETO_SEATS
from fairlead.council.tally import ItemAnswer, OpenItem
from fairlead.interfaces.cli.output import (
    Cells,
    Line,
    Styled,
    counted,
    cut,
    diff_lines,
    first_line,
    job_command_lines,
    quoted_lines,
    table_lines,
)
from fairlead.jobs.ledger import PaidCall
from fairlead.jobs.model import JobStatus
from fairlead.jobs.service import JobReport
from fairlead.project.open_jobs import JobState, OpenJob
from fairlead.project.state.gate_rules import GateStatus

Lines = list[Line]

_STATUS_STYLES = {
    "DONE": "green",
    "APPROVED": "green",
    "BLOCKED": "yellow",
    "INTERRUPTED": "yellow",
    "FAILED": "red",
}
_VOTE_MARKS = {
    "APPROVE": ("✓", "green"),
    "REVISE": ("↻", "yellow"),
    "VETO": ("✗", "red"),
    "planned": ("✓", "green"),
    "waiting": ("·", "dim"),
}
_ABSENT_MARK = ("∅", "red")
_BUSY = (GateStatus.EXECUTING, GateStatus.VERIFYING, GateStatus.REVIEWING)
_IDLE = {
    JobState.WAITS: "WAITING",
    JobState.INTERRUPTED: "INTERRUPTED",
    JobState.OPEN: "OPEN",
    JobState.ENDED: "STOPPED",
    JobState.RUNNING: "",
}
_TAIL_LINES = 6  # of stdout and of stderr
_LISTED_EVENTS = 14
_MIN_WIDTH = 40
_MIN_REASON_WIDTH = 16


def job_page(
    report: JobReport | CouncilReport, present: OpenJob | None = None, width: int = 100
) -> Lines:
    """The page of a job. `present` is its state at this moment; without it, its record is shown."""
    width = max(width, _MIN_WIDTH)
    job = report.job
    lines: Lines = [_head(report, present), *(job_command_lines(present) if present else ())]
    lines += [(Styled(f"  ! degraded: {reason}", "yellow"),) for reason in _lacks(report)]
    if isinstance(report, JobReport) and report.fault:
        lines.append((Styled(f"  ! {report.fault}", "yellow"),))
    if isinstance(report, JobReport) and report.trusted_verify_runs:
        runs = counted(report.trusted_verify_runs, "verify run")
        note = f"  ! {runs} on merged code took place on workers, whose results were trusted"
        lines.append((Styled(note, "yellow"),))
    if job.is_rehearsed:
        note = "  ! rehearsed: no model was asked, and nothing of it counts"
        lines.append((Styled(note, "yellow"),))
    if isinstance(report, CouncilReport):
        lines += _council_lines(report, width)
        lines += _section("Asked of a person", _question_lines(report))
        lines += _section("Where it is", _places(report.job))
        lines += _section("What happened", _timeline(report, width))
        return lines + _section("What you can do", _next_steps(report, present))
    lines += _section("Tasks", _gate_lines(report, present))
    lines += _section("Calls", _call_lines(report))
    lines += _section("Cost of each call", _paid_lines(report))
    return lines + _section("Asked of a person", _question_lines(report))


def _lacks(report: JobReport | CouncilReport) -> tuple[str, ...]:
    """What the job had to do without."""
    return report.degraded if isinstance(report, CouncilReport) else report.job.degraded


def _gate_lines(report: JobReport, present: OpenJob | None) -> Lines:
    # Nobody works on a task whose job has no process, whatever step its gate has recorded.
    idle = "" if report.job.is_open else "STOPPED"
    if present and report.job.is_open and not present.is_running:
        idle = _IDLE[present.state]
    rows = [
        (
            f"  {gate.task}",
            idle if idle and gate.gate.status in _BUSY else str(gate.gate.status),
            counted(len(gate.runs), "run"),
            gate.name,
            first_line(gate.note),
        )
        for gate in report.gates
    ]
    remarks = [(f"  {gate.task}: {each}",) for gate in report.gates for each in gate.concerns]
    return [*table_lines(rows), *remarks]


def _call_lines(report: JobReport) -> Lines:
    return table_lines(
        [
            (
                f"  {call.key}",
                call.status,
                call.role,
                f"{call.tokens:,} tokens",
                first_line(call.note),
            )
            for call in report.calls
        ]
    )


def _paid_lines(report: JobReport) -> Lines:
    rows = [
        (
            f"  {call.call}",
            call.kind,
            call.agent,
            call.model or "-",
            *_spent(call),
            call.verdict,
        )
        for call in report.paid
    ]
    if len(rows) > 1:
        rows.append(_total(report.paid))
    return table_lines(rows)


def _spent(call: PaidCall) -> tuple[str, str, str]:
    """The time, tokens and cost of a call; a call without a report has none that is known."""
    if call.is_estimated and not call.tokens:
        return "-", "-", "unknown"
    return f"{call.seconds:,.1f} s", f"{call.tokens:,} tokens", f"${call.cost_usd:.2f}"


def _total(paid: Sequence[PaidCall]) -> tuple[str, str, str, str, str, str, str, str]:
    seconds = sum(call.seconds for call in paid)
    tokens, usd = sum(call.tokens for call in paid), sum(call.cost_usd for call in paid)
    return ("  all", "", "", "", f"{seconds:,.1f} s", f"{tokens:,} tokens", f"${usd:.2f}", "")


def _question_lines(report: JobReport | CouncilReport) -> Lines:
    lines: Lines = []
    for question in report.questions:
        waiting = (f"waits: {question.command(report.job.id, report.questions)}", *question.below)
        waiting = waiting if report.job.is_open else ("not answered",)
        lines += quoted_lines(Styled("  ? ", "yellow"), question.text)
        answer = (question.answer,) if question.answer else waiting
        lines += [(f"    {line}",) for line in answer]
    return lines


def _council_lines(report: CouncilReport, width: int) -> Lines:
    """The request, votes and open items of a council."""
    job = report.job
    lines = _wrapped("  ", job.request, width)
    lines += _ending(job, width)
    lines += _section(report.seats_title, _seat_lines(report.seats, width) if report.seats else [])
    count = len(report.open)
    lines += _section(
        counted(count, "open item") if count else "",
        _open_items(report.open, report.answers, width),
    )
    count = len(report.settled)
    settled = f"{counted(count, 'item')} settled on the way" if count else ""
    lines += _section(settled, _bullets(_settled_items(report), width))
    lines += _section("Not taken from the plans", _bullets(report.dissent, width))
    rulings = [f"{ruling.id}: {ruling.text}" for ruling in job.rulings]
    return lines + _section("Rulings", _bullets(rulings, width))


def plan_changes(plans: Sequence[str]) -> Lines:
    """The differences between the versions of a council's plan."""
    lines: Lines = []
    for version, (old, new) in enumerate(pairwise(plans), 1):
        lines.append((Styled(f"version {version} → version {version + 1}", "bold"),))
        lines += diff_lines("master_plan.md", old, new) or [("  no difference",)]
    if lines:
        return lines
    return [("there is only one version of the plan" if plans else "there is no plan yet",)]


def _head(report: JobReport | CouncilReport, present: OpenJob | None) -> Line:
    job = report.job
    reason, headline = "", present.note if present else first_line(job.note)
    if isinstance(report, CouncilReport):
        record = report.job
        code = (record.blocker_reason or record.exec.reason or "").partition(":")[0]
        reason, headline = f"  {code}" if job.ended_at and code else "", report.headline
    status = present.status if present else str(job.status)
    style = _STATUS_STYLES.get(status, "bold")
    return Styled(job.id, "bold"), "  ", Styled(status + reason, style), f"  {headline}"


def _ending(job: CouncilJob, width: int) -> Lines:
    """Why the job is blocked or failed. A veto is shown even if the job went on."""
    lines: Lines = []
    if job.status is JobStatus.BLOCKED and job.veto is None:
        reason = job.blocker_reason or ""
        text = reason.partition(": ")[2] or reason
        lines += _section("Why it is blocked", _wrapped("  ", first_line(text), width))
    if job.veto is not None:
        veto = job.veto
        where = f"{veto.where}, {veto.severity}" if veto.severity else veto.where
        title = f"Veto of the {veto.by} seat" if veto.by in VETO_SEATS else "Veto of a person"
        title += f" ({where}, round {veto.round})" if where else ""
        lines += _section(title, _wrapped("  ", veto.why, width), "red")
    if job.status is JobStatus.FAILED:
        lines += _section("Why it failed", _failure(job, width))
    return lines


def _failure(job: CouncilJob, width: int) -> Lines:
    execution = job.exec
    missing = execution.plans - execution.summaries
    reasons = {
        "partial": f"{missing} of {execution.plans} plans have no summary",
        "timeout": "it did not finish in time",
        "no_summary": "it ended without an error, but no plan has a summary",
        "exec_failed": "it ended with an error, and no plan has a summary",
        "exit_nonzero_with_summary": "every plan has a summary, but it ended with an error",
        "cancelled": "it was cancelled",
    }
    reason = reasons.get(execution.reason or "", execution.reason or "the reason is unknown")
    code = f" (exit code {execution.exit_code})" if execution.exit_code is not None else ""
    lines = _wrapped("  ", f"{reason}{code}. Commits are kept; nothing was undone.", width)
    for name, tail in (("output", execution.stdout_tail), ("errors", execution.stderr_tail)):
        last = tail.rstrip("\n").splitlines()[-_TAIL_LINES:]
        lines += [(Styled(f"  last {name}:", "dim"),)] if last else []
        lines += [(Styled(f"  │ {cut(line, width - 4)}", "dim"),) for line in last]
    return lines


def _seat_lines(seats: Sequence[SeatRow], width: int) -> Lines:
    table: list[Cells] = []
    for seat in seats:
        mark, style = _VOTE_MARKS.get(seat.said, _ABSENT_MARK)
        seconds = f"{seat.ms / 1000:.1f} s" if seat.ms else ""
        tokens = f"{seat.tokens:,} tokens" if seat.tokens else ""
        cost = f"${seat.cost_usd:.2f}" if seat.cost_usd else ""
        vote = Styled(f"  {mark} {seat.said}", style)
        table.append((vote, seat.seat, seat.model or "-", seconds, tokens, cost, seat.reason))
    # The reason is the last cell; it gets the width that the other cells leave.
    others = max(len("".join(texts[:-2])) for texts in map(_texts, table_lines(table)))
    reason_width = max(width - others, _MIN_REASON_WIDTH)
    lines = table_lines([(*cells[:-1], cut(str(cells[-1]), reason_width)) for cells in table])
    return [_without_empty_end(line) for line in lines]


def _without_empty_end(line: Line) -> Line:
    filled = [index for index, text in enumerate(_texts(line)) if text.strip()]
    return line[: filled[-1] + 1] if filled else ()


def _texts(line: Line) -> list[str]:
    return [part if isinstance(part, str) else part.text for part in line]


def _open_items(items: Sequence[OpenItem], answers: Sequence[ItemAnswer], width: int) -> Lines:
    """Each open item with the reason of its seats and the answer of the synthesiser."""
    answer_of = {answer.id: _answer_text(answer) for answer in answers}
    lines: Lines = []
    for entry in items:
        item = entry.item
        age = "new" if entry.age == 1 else f"for {entry.age} rounds"
        kind = f"{item.category}, {item.severity}" if item.severity else str(item.category)
        head = f"  {item.where or 'the plan'} [{kind}] {age}"
        lines.append((Styled(f"  {item.id}", "bold"), Styled(head, "dim")))
        fix = f" Fix: {item.fix}" if item.fix else ""
        lines += _wrapped("      ", f"{', '.join(entry.seats)}: {item.why}.{fix}", width)
        answer = answer_of.get(item.id, "has not answered yet")
        lines += _wrapped("      ", f"synthesiser: {answer}", width)
    return lines


def _settled_items(report: CouncilReport) -> list[str]:
    answer_of = {answer.id: f"; {_answer_text(answer)}" for answer in report.answers}
    return [
        f"{entry.item.id} ({', '.join(entry.seats)}): {entry.item.why}"
        + answer_of.get(entry.item.id, "")
        for entry in report.settled
    ]


def _answer_text(answer: ItemAnswer) -> str:
    return f"{'changed' if answer.is_changed else 'declined'}: {answer.reason}"


def _places(job: CouncilJob) -> Lines:
    usage, plan = job.usage, job.master_plan
    table: list[Cells] = [("  record", f".planning/jobs/{job.id}/")]
    if plan is not None:
        version = f"version {plan.version}, {plan.tokens:,} tokens, {plan.sha256[:12]}"
        table.append(("  plan", f"{plan.path}, {version}"))
    if plan is not None and plan.version > 1:
        table.append(("  changes", Styled(f"fairlead job show {job.id} --diff", "cyan")))
    if job.parent_job_id:
        table.append(("  retry of", job.parent_job_id))
    if usage.total_tokens:
        cap = f" of at most ${usage.cap_usd:.2f}" if usage.cap_usd else ""
        stages = ", ".join(f"{name} ${spent.usd:.2f}" for name, spent in usage.by_stage.items())
        total = f"${usage.total_cost_usd:.2f}{cap}, {usage.total_tokens:,} tokens ({stages})"
        table.append(("  cost", total))
    return table_lines(table)


def _timeline(report: CouncilReport, width: int) -> Lines:
    events = report.timeline[-_LISTED_EVENTS:]
    hidden = len(report.timeline) - len(events)
    lines: Lines = [(Styled(f"  {hidden} earlier events are left out", "dim"),)] if hidden else []
    for event in events:
        text = first_line(event.text) or event.kind
        if event.kind == "reused":
            text = f"{event.kind} {text}"
        lines.append((Styled(f"  {event.at[11:19]}", "dim"), cut(f"  {text}", width - 12)))
    return lines


def _next_steps(report: CouncilReport, present: OpenJob | None) -> Lines:
    steps = report.next
    if present and (present.is_running or present.state is JobState.WAITS):
        what = "answer it" if present.state is JobState.WAITS else "follow it"
        # To go on is what the running process does, or what an answer allows.
        others = [step for step in steps if report.job.command not in step.commands]
        steps = (NextStep(what, (present.command,)), *others)
    lines: Lines = []
    for number, step in enumerate(steps, 1):
        lines.append((f"  {number}. {step.what}",))
        lines += [(Styled(f"     {command}", "cyan"),) for command in step.commands]
    return lines


def _section(title: str, lines: Lines, style: str = "bold") -> Lines:
    return [("",), (Styled(title, style),), *lines] if title and lines else []


def _bullets(texts: Iterable[str], width: int) -> Lines:
    return [line for text in texts for line in _wrapped("  - ", text, width)]


def _wrapped(indent: str, text: str, width: int) -> Lines:
    lines = textwrap.wrap(
        " ".join(text.split()), width, initial_indent=indent, subsequent_indent=" " * len(indent)
    )
    return [(line,) for line in lines]
