"""`job show` of a council job: what happened, who dissented, and what one can do next.

The first line has the status and the count; what the council lacked stands above all content. A
page is lines of our own parts, so that it is the same in a pipe, in a terminal and in a picture.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fairlead.engine.council_report import CouncilReport, SeatRow
from fairlead.interfaces.cli.show import Cells, Part, Styled, counted, diff_lines, first_line, rows
from fairlead.model.council_job import CouncilJob
from fairlead.model.job import JobStatus
from fairlead.model.seats import VETO_SEATS
from fairlead.model.tally import Answered, OpenItem

Lines = list[Sequence[Part]]

_STATUS = {JobStatus.DONE: "green", JobStatus.APPROVED: "green", JobStatus.BLOCKED: "yellow"}
_MARKS = {
    "APPROVE": ("✓", "green"),
    "REVISE": ("↻", "yellow"),
    "VETO": ("✗", "red"),
    "planned": ("✓", "green"),
    "waiting": ("·", "dim"),
}
_ABSENT = ("∅", "red")
_TAIL = 6  # lines of each stream
_MOMENTS = 14
_NARROWEST = 40


def council_page(found: CouncilReport, width: int = 100) -> Lines:
    """The whole page."""
    width = max(width, _NARROWEST)
    job = found.job
    lines: Lines = [_head(found)]
    lines += [(Styled(f"  ! degraded: {each}", "yellow"),) for each in found.degraded]
    rehearsed = "  ! rehearsed: no model was asked, and this approves nothing"
    lines += [(Styled(rehearsed, "yellow"),)] if job.is_rehearsed else []
    lines += _wrapped("  ", job.request, width)
    lines += _ending(job, width)
    lines += _section(found.seats_title, _seats(found.seats, width)) if found.seats else []
    lines += _section(_open_title(found), _open(found.open, found.answers, width))
    lines += _section(_settled_title(found), _bullets(_settled(found), width))
    lines += _section("Not taken from the plans", _bullets(found.dissent, width))
    lines += _section(
        "Rulings", _bullets([f"{each.id}: {each.text}" for each in job.rulings], width)
    )
    lines += _section("Asked of a person", _bullets(_questions(found), width))
    lines += _section("Where it is", _places(job))
    lines += _section("What happened", _timeline(found, width))
    return lines + _section("What you can do", _steps(found))


def council_changes(plans: Sequence[str]) -> Lines:
    """What each version of the plan changed."""
    lines: Lines = []
    for at, (old, new) in enumerate(pairwise(plans), 1):
        lines.append((Styled(f"version {at} → version {at + 1}", "bold"),))
        lines += diff_lines("master_plan.md", old, new) or [("  no difference",)]
    return lines or [
        ("there is one version of the plan so far" if plans else "there is no plan yet",)
    ]


def _head(found: CouncilReport) -> Sequence[Part]:
    job = found.job
    style = _STATUS.get(job.status, "red" if job.status is JobStatus.FAILED else "bold")
    code = (job.blocker_reason or job.exec.reason or "").partition(":")[0]
    why = f"  {code}" if job.ended_at and code else ""
    return (
        Styled(job.id, "bold"),
        "  ",
        Styled(str(job.status) + why, style),
        f"  {found.headline}",
    )


def _ending(job: CouncilJob, width: int) -> Lines:
    """Why a job is over, if it is; a veto stays visible whatever came of it."""
    lines: Lines = []
    reason = job.blocker_reason or ""
    if job.status is JobStatus.BLOCKED and job.veto is None:
        told = reason.partition(": ")[2] or reason
        lines += _section("Why it is blocked", _wrapped("  ", told.partition("\n")[0], width))
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
    ran = job.exec
    words = {
        "partial": f"{ran.plans - ran.summaries} of {ran.plans} plans have no summary",
        "timeout": "it was not finished in time",
        "no_summary": "it ended as if all were well, and no plan has a summary",
        "exec_failed": "it ended with an error, and no plan has a summary",
        "exit_nonzero_with_summary": "every plan has a summary, and it ended with an error all the same",
        "cancelled": "a person ended it",
    }
    told = words.get(ran.reason or "", ran.reason or "nobody knows why")
    ended = f" (exit code {ran.exit_code})" if ran.exit_code is not None else ""
    lines = _wrapped(
        "  ", f"{told}{ended}. What was committed stays; nothing was taken back.", width
    )
    for name, tail in (("output", ran.stdout_tail), ("errors", ran.stderr_tail)):
        last = tail.rstrip("\n").splitlines()[-_TAIL:]
        lines += [(Styled(f"  last {name}:", "dim"),)] if last else []
        lines += [(Styled(f"  │ {_cut(line, width - 4)}", "dim"),) for line in last]
    return lines


def _seats(seats: Sequence[SeatRow], width: int) -> Lines:
    table: list[Cells] = []
    for each in seats:
        mark, style = _MARKS.get(each.said, _ABSENT)
        time = f"{each.ms / 1000:.1f} s" if each.ms else ""
        tokens = f"{each.tokens:,} tokens" if each.tokens else ""
        cost = f"${each.cost_usd:.2f}" if each.cost_usd else ""
        head = Styled(f"  {mark} {each.said}", style)
        table.append((head, each.seat, each.model or "-", time, tokens, cost, each.reason))
    plain = max(len("".join(map(str, line[:-2]))) for line in _texts(rows(table)))
    room = max(width - plain, 16)
    lines = rows([(*cells[:-1], _cut(str(cells[-1]), room)) for cells in table])
    return [_stripped(line) for line in lines]


def _stripped(line: Sequence[Part]) -> Sequence[Part]:
    """A row without the empty cells at its end."""
    last = max((at for at, text in enumerate(_texts([line])[0]) if text.strip()), default=-1)
    return line[: last + 1]


def _texts(lines: Iterable[Sequence[Part]]) -> list[list[str]]:
    return [[part if isinstance(part, str) else part.text for part in line] for line in lines]


def _open_title(found: CouncilReport) -> str:
    count = len(found.open)
    return f"{counted(count, 'open item')}" if count else ""


def _settled_title(found: CouncilReport) -> str:
    return f"{counted(len(found.settled), 'item')} settled on the way" if found.settled else ""


def _settled(found: CouncilReport) -> list[str]:
    said = {each.id: _answer(each) for each in found.answers}
    return [
        f"{each.item.id} ({', '.join(each.seats)}): {each.item.why}"
        + (f"; {said[each.item.id]}" if each.item.id in said else "")
        for each in found.settled
    ]


def _answer(answer: Answered) -> str:
    return f"{'changed' if answer.is_changed else 'declined'}: {answer.reason}"


def _open(items: Sequence[OpenItem], answers: Sequence[Answered], width: int) -> Lines:
    """Each open item with both sides: its seats, and the synthesiser."""
    said = {each.id: each for each in answers}
    lines: Lines = []
    for each in items:
        item, answer = each.item, said.get(each.item.id)
        age = "new" if each.age == 1 else f"for {each.age} rounds"
        kind = f"{item.category}, {item.severity}" if item.severity else str(item.category)
        head = f"  {item.where or 'the plan'} [{kind}] {age}"
        lines.append((Styled(f"  {item.id}", "bold"), Styled(head, "dim")))
        fix = f" Fix: {item.fix}" if item.fix else ""
        lines += _wrapped("      ", f"{', '.join(each.seats)}: {item.why}.{fix}", width)
        told = _answer(answer) if answer else "has not answered yet"
        lines += _wrapped("      ", f"synthesiser: {told}", width)
    return lines


def _questions(found: CouncilReport) -> list[str]:
    return [f"{each.text}: {each.answer or 'no answer yet'}" for each in found.questions]


def _places(job: CouncilJob) -> Lines:
    usage, plan = job.usage, job.master_plan
    table: list[Cells] = [("  record", f".planning/jobs/{job.id}/")]
    if plan is not None:
        told = f"{plan.path}, version {plan.version}, {plan.tokens:,} tokens, {plan.sha256[:12]}"
        table.append(("  plan", told))
    if plan is not None and plan.version > 1:
        table.append(("  changes", Styled(f"fairlead job show {job.id} --diff", "cyan")))
    if job.parent_job_id:
        table.append(("  tried again after", job.parent_job_id))
    if usage.total_tokens:
        cap = f" of at most ${usage.cap_usd:.2f}" if usage.cap_usd else ""
        by = ", ".join(f"{name} ${spent.usd:.2f}" for name, spent in usage.by_stage.items())
        table.append(
            ("  cost", f"${usage.total_cost_usd:.2f}{cap}, {usage.total_tokens:,} tokens ({by})")
        )
    return rows(table)


def _timeline(found: CouncilReport, width: int) -> Lines:
    shown = found.timeline[-_MOMENTS:]
    left = len(found.timeline) - len(shown)
    lines: Lines = [(Styled(f"  {left} earlier moments are left out", "dim"),)] if left else []
    for each in shown:
        told = f"  {first_line(each.text) or each.kind}"
        told = f"  {each.kind}{told[1:]}" if each.kind == "reused" else told
        lines.append((Styled(f"  {each.at[11:19]}", "dim"), _cut(told, width - 12)))
    return lines


def _steps(found: CouncilReport) -> Lines:
    lines: Lines = []
    for at, each in enumerate(found.next, 1):
        lines.append((f"  {at}. {each.what}",))
        lines += [(Styled(f"     {command}", "cyan"),) for command in each.commands]
    return lines


def _section(title: str, lines: Lines, style: str = "bold") -> Lines:
    return [("",), (Styled(title, style),), *lines] if title and lines else []


def _bullets(texts: Iterable[str], width: int) -> Lines:
    return [line for text in texts for line in _wrapped("  - ", text, width)]


def _wrapped(lead: str, text: str, width: int) -> Lines:
    told = " ".join(text.split())
    folded = textwrap.wrap(told, width, initial_indent=lead, subsequent_indent=" " * len(lead))
    return [(line,) for line in folded]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
