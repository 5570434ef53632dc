"""What a report says: the page of a job or of a phase, built from what the files record.

Each function returns the blocks of one section; a section without blocks is left out. Long texts
are cut from the front, because the end of an output holds its result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from fairlead.core.values import dataclass
from fairlead.council.model import AnswerStatus, CouncilJob
from fairlead.council.report import CouncilReport
from fairlead.council.seats import SEAT_NAMES
from fairlead.jobs.ledger import EntryKind, LedgerEntry
from fairlead.jobs.model import Job, Question, TaskGate
from fairlead.plans.roadmap_report import PhaseDetails
from fairlead.report.model import (
    Block,
    DocumentText,
    Graph,
    PageSection,
    PageTable,
    Paragraph,
    Picture,
    ProgramOutput,
    ReportPage,
)
from fairlead.vcs.model import FileLines

_TAIL = 2_000  # characters of one output
_DOCUMENT = 20_000  # characters of one document
_ROWS = 200
_LINES = ("added", "removed")


@dataclass(frozen=True, slots=True)
class ReportedDocument:
    """A document of the project with its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class PlanEvidence:
    """The ledger of one plan; `fault` says why it cannot be trusted."""

    plan: str
    entries: tuple[LedgerEntry, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """What the report of a job or a phase is made of."""

    phase: PhaseDetails | None = None
    council: CouncilReport | None = None
    jobs: tuple[Job, ...] = ()
    gates: tuple[TaskGate, ...] = ()
    questions: tuple[Question, ...] = ()
    plans: tuple[ReportedDocument, ...] = ()
    summaries: tuple[ReportedDocument, ...] = ()
    verification: ReportedDocument | None = None
    master_plans: tuple[str, ...] = ()  # every version, the first one first
    evidence: tuple[PlanEvidence, ...] = ()
    files: tuple[FileLines, ...] = ()  # what landed, line by line
    graph: Graph | None = None


def job_page(facts: ReportFacts, status: str) -> ReportPage:
    """The report of one job."""
    if facts.council is not None:
        council = facts.council.job
        title = _first_line(council.request) or council.id
        return _page(title, f"{status}: {facts.council.headline}", _council_facts(council), facts)
    [job] = facts.jobs
    asked = job.subject or (f"Phase {job.phase}: {facts.phase.phase.name}" if facts.phase else "")
    return _page(asked or job.id, status, _job_facts(job, facts), facts)


def phase_page(facts: ReportFacts) -> ReportPage:
    """The report of one phase."""
    assert facts.phase is not None
    phase = facts.phase.phase
    rows = (
        ("goal", phase.goal),
        ("milestone", phase.milestone),
        ("plans", f"{phase.summary_count} of {phase.plan_count} complete"),
        ("verification", phase.verification or "none"),
        ("jobs", ", ".join(job.id for job in facts.jobs)),
    )
    title = f"Phase {phase.number}: {phase.name}" if phase.name else f"Phase {phase.number}"
    shown = tuple((name, value) for name, value in rows if value)
    return _page(title, phase.stage, shown, facts)


def _page(
    title: str, status: str, facts: tuple[tuple[str, str], ...], all_facts: ReportFacts
) -> ReportPage:
    sections = (
        PageSection("What was asked", tuple(_asked(all_facts))),
        PageSection("Overview", (Picture(all_facts.graph),) if all_facts.graph else ()),
        PageSection("Votes", tuple(_votes(all_facts.council))),
        PageSection("The plan", tuple(_plan(all_facts))),
        PageSection("Gates", tuple(_gates(all_facts.gates))),
        PageSection("Questions and answers", tuple(_questions(all_facts.questions))),
        PageSection("Evidence", tuple(_evidence(all_facts.evidence))),
        PageSection("Results", tuple(_results(all_facts))),
        PageSection("Changed files", tuple(_files(all_facts.files))),
        PageSection("Cost", tuple(_cost(all_facts))),
    )
    shown = (*facts, *_change_facts(all_facts))
    return ReportPage(title, status, shown, tuple(each for each in sections if each.blocks))


def _change_facts(facts: ReportFacts) -> Iterable[tuple[str, str]]:
    """The extent of the work in two lines, before anybody reads a table."""
    if facts.gates:
        passed = sum(gate.is_passed for gate in facts.gates)
        runs = sum(len(gate.runs) for gate in facts.gates)
        yield "tasks", f"{passed} of {len(facts.gates)} passed their gate, in {runs} runs"
    if facts.files:
        added, removed = (sum(getattr(each, name) for each in facts.files) for name in _LINES)
        yield "changes", f"{len(facts.files)} files, +{added:,} -{removed:,} lines"


def _council_facts(job: CouncilJob) -> tuple[tuple[str, str], ...]:
    usage = job.usage
    rows = (
        ("job", job.id),
        ("started", _time(job.created_at)),
        ("rounds", f"{job.review_round} of at most {job.max_review_rounds}"),
        ("phase", job.phase),
        ("cost", f"${usage.total_cost_usd:.2f}, {usage.total_tokens:,} tokens"),
        ("rehearsed", "yes: no model was asked, and nothing of it counts" * job.is_rehearsed),
    )
    return tuple((name, value) for name, value in rows if value)


def _job_facts(job: Job, facts: ReportFacts) -> tuple[tuple[str, str], ...]:
    entries = _entries(facts)
    tokens = sum(entry.tokens_in + entry.tokens_out for entry in entries)
    usd = sum(entry.cost_usd or 0.0 for entry in entries)
    rows = (
        ("job", job.id),
        ("started", _time(job.started_at)),
        ("ended", _time(job.ended_at)),
        ("agent", job.agent),
        ("branch", job.target),
        ("commit before", job.base[:12]),
        ("cost", f"${usd:.2f}, {tokens:,} tokens" if tokens else ""),
        ("note", _first_line(job.note)),
        ("rehearsed", "yes: no model was asked, and nothing of it counts" * job.is_rehearsed),
    )
    return tuple((name, value) for name, value in rows if value)


def _asked(facts: ReportFacts) -> Iterable[Block]:
    if facts.council is not None:
        yield Paragraph(facts.council.job.request)
        for reason in facts.council.degraded:
            yield Paragraph(f"Degraded: {reason}", is_warning=True)
    elif facts.phase is not None and facts.phase.phase.goal:
        yield Paragraph(facts.phase.phase.goal)
    else:
        for job in facts.jobs:
            if job.subject:
                yield Paragraph(job.subject)
    if facts.phase is not None and facts.phase.success_criteria:
        rows = tuple((text,) for text in facts.phase.success_criteria)
        yield PageTable(("success criterion",), rows)


def _votes(report: CouncilReport | None) -> Iterable[Block]:
    if report is None or not report.job.cumulative_votes:
        return
    job = report.job
    rounds = sorted({ballot.round for ballot in job.cumulative_votes})
    said = {
        (ballot.seat, ballot.round): str(ballot.vote)
        if ballot.status in (AnswerStatus.OK, AnswerStatus.REPAIRED)
        else f"absent ({ballot.status})"
        for ballot in job.cumulative_votes
        if ballot.final
    }
    head = ("seat", "model", *(f"round {number}" for number in rounds))
    models = {ballot.seat: ballot.model for ballot in job.cumulative_votes if ballot.model}
    yield PageTable(
        head,
        tuple(
            (seat, models.get(seat, "-"), *(said.get((seat, each), "-") for each in rounds))
            for seat in SEAT_NAMES
        ),
    )
    if job.veto is not None:
        where = f" ({job.veto.where})" if job.veto.where else ""
        yield Paragraph(f"Veto of {job.veto.by}{where}: {job.veto.why}", is_warning=True)
    answers = {answer.id: answer for answer in report.answers}
    items = [(entry, "open") for entry in report.open]
    items += [(entry, "settled") for entry in report.settled]
    if items:
        rows = []
        for entry, state in items[:_ROWS]:
            answer = answers.get(entry.item.id)
            how = (
                f"{'changed' if answer.is_changed else 'declined'}: {answer.reason}"
                if answer
                else ""
            )
            rows.append((entry.item.id, ", ".join(entry.seats), entry.item.why, state, how))
        yield PageTable(("item", "seats", "objection", "state", "answer"), tuple(rows))


def _plan(facts: ReportFacts) -> Iterable[Block]:
    if facts.master_plans:
        count = len(facts.master_plans)
        title = f"Master plan, version {count} of {count}"
        yield DocumentText(title, _cut_document(facts.master_plans[-1]))
    for document in facts.plans:
        yield DocumentText(document.path, _cut_document(document.text))


def _gates(gates: Sequence[TaskGate]) -> Iterable[Block]:
    rows = tuple(
        (
            gate.task,
            gate.name,
            str(gate.gate.status),
            str(len(gate.runs)),
            _first_line(gate.note),
        )
        for gate in gates[:_ROWS]
    )
    if rows:
        yield PageTable(("task", "name", "state", "runs", "note"), rows, numbers=(3,))
    remarks = [
        (gate.task, kind, text)
        for gate in gates
        for kind, texts in (
            ("decision", gate.decisions),
            ("deviation", gate.deviations),
            ("concern", gate.concerns),
        )
        for text in texts
    ]
    if remarks:
        yield PageTable(("task", "kind", "remark of the agent"), tuple(remarks[:_ROWS]))


def _questions(questions: Sequence[Question]) -> Iterable[Block]:
    rows = tuple(
        (each.subject, _first_line(each.text), each.answer or "not answered", each.by)
        for each in questions[:_ROWS]
    )
    if rows:
        yield PageTable(("about", "question", "answer", "by"), rows)


def _evidence(ledgers: Sequence[PlanEvidence]) -> Iterable[Block]:
    for ledger in ledgers:
        if ledger.fault:
            text = f"The evidence of {ledger.plan} cannot be trusted: {ledger.fault}"
            yield Paragraph(text, is_warning=True)
        shown = [
            entry
            for entry in ledger.entries
            if entry.kind not in (EntryKind.EXECUTE, EntryKind.CALL)
        ]
        if shown:
            rows = tuple(
                (
                    _time(entry.at).removesuffix(" UTC"),
                    entry.task,
                    str(entry.kind),
                    entry.actor,
                    _result(entry),
                    entry.tree[:12],
                )
                for entry in shown[-_ROWS:]
            )
            yield PageTable(("time", "task", "step", "by", "result", "tree"), rows)
        for entry in shown:
            if entry.kind is EntryKind.VERIFY and entry.tail.strip():
                title = f"{entry.task}, attempt {entry.attempt}: {entry.command}"
                yield ProgramOutput(title, _cut_output(entry.tail))


def _result(entry: LedgerEntry) -> str:
    parts = [entry.verdict, entry.note]
    if entry.exit_code is not None:
        parts.insert(0, f"exit {entry.exit_code}")
    if entry.kind is EntryKind.MERGE:
        parts.append(entry.tail[:12])
    return ", ".join(part for part in parts if part)


def _results(facts: ReportFacts) -> Iterable[Block]:
    for document in facts.summaries:
        yield DocumentText(document.path, _cut_document(document.text))
    if facts.verification is not None:
        document = facts.verification
        yield DocumentText(document.path, _cut_document(document.text))


def _files(files: Sequence[FileLines]) -> Iterable[Block]:
    if not files:
        return
    added, removed = sum(each.added for each in files), sum(each.removed for each in files)
    yield Paragraph(f"{len(files)} files, {added:,} lines added, {removed:,} removed")
    rows = tuple((each.path, f"+{each.added}", f"-{each.removed}") for each in files[:_ROWS])
    yield PageTable(("file", "added", "removed"), rows, numbers=(1, 2))
    if len(files) > _ROWS:
        yield Paragraph(f"{len(files) - _ROWS} more files are left out")


def _entries(facts: ReportFacts) -> list[LedgerEntry]:
    jobs = {job.id for job in facts.jobs}
    return [
        entry
        for ledger in facts.evidence
        for entry in ledger.entries
        if not jobs or entry.job in jobs
    ]


def _cost(facts: ReportFacts) -> Iterable[Block]:
    rows: list[tuple[str, ...]] = []
    if facts.council is not None:
        for stage, spent in facts.council.job.usage.by_stage.items():
            rows.append((stage, "", "", "", f"{spent.tokens:,}", f"${spent.usd:.2f}"))
    groups: dict[tuple[str, str, str], list[LedgerEntry]] = defaultdict(list)
    for entry in _entries(facts):
        if entry.tokens_in or entry.tokens_out or entry.cost_usd:
            groups[str(entry.kind), entry.actor, entry.model].append(entry)
    for (kind, actor, model), entries in sorted(groups.items()):
        tokens = sum(entry.tokens_in + entry.tokens_out for entry in entries)
        is_estimated = any(entry.estimated for entry in entries)
        rows.append(
            (
                kind,
                f"{actor} {model}".strip(),
                str(len(entries)),
                f"{sum(entry.seconds for entry in entries):,.1f} s",
                f"{tokens:,}" + " (estimated)" * is_estimated,
                f"${sum(entry.cost_usd or 0.0 for entry in entries):.2f}",
            )
        )
    if rows:
        head = ("step", "agent and model", "calls", "time", "tokens", "cost")
        yield PageTable(head, tuple(rows), numbers=(2, 3, 4, 5))


def _time(written: str) -> str:
    """A recorded time, to the second and for people."""
    return f"{written[:10]} {written[11:19]} UTC" if written[10:11] == "T" else written


def _cut_output(text: str) -> str:
    return text if len(text) <= _TAIL else f"…{text[-_TAIL:]}"


def _cut_document(text: str) -> str:
    if len(text) <= _DOCUMENT:
        return text
    return f"{text[:_DOCUMENT]}\n\n… {len(text) - _DOCUMENT:,} more characters\n"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
