"""The status page: lines built from one `StatusReport`.

`status` prints the whole page, `next` its position and next step. The page is the same in a pipe
and in a terminal, except that a terminal also gets a bar for each phase, and lines that fit. A
command is never cut: the terminal wraps it, and it can still be copied.
"""

from fairlead.interfaces.cli.output import (
    Cells,
    Line,
    Part,
    Styled,
    counted,
    cut,
    fitted_line,
    line_width,
    table_lines,
    with_workstream,
)
from fairlead.project.derive.progress import bar
from fairlead.project.overview import PhaseStatusReport, StatusReport
from fairlead.views.status import position

ANSWER_COMMAND = "fairlead state wait --clear"
LISTED_ENTRIES = 3  # decisions, blockers and differences; the rest is counted

_MARKS = {
    "verified": ("✓", "green"),
    "complete": ("✓", "green"),
    "partial": ("◐", "yellow"),
    "planned": ("○", "cyan"),
}
_LISTED_PHASES = 12
_BAR_WIDTH = 12
_PHASE_COLUMNS = 54  # the width of a phase's row without its name
_NAME_WIDTH = 12  # at least


def status_page(report: StatusReport, *, show_all: bool, width: int | None = None) -> list[Line]:
    """The whole page; `width` is the width of the terminal, None for a pipe."""
    phases = _listed_phases(report, show_all=show_all)
    head: list[Line] = [
        (Styled(report.title or "(no title)", "bold"), *_milestone(report)),
        _progress_line(report),
        (),
        *_phase_lines(report, phases, width),
        (Styled(position(report), "bold"),),
    ]
    return [
        *_fitted(head, width),
        *_next_lines(report, width),
        *job_lines(report, width),
        *_fitted(_remarks(report), width),
    ]


def next_line(report: StatusReport) -> Line:
    """The next command with its reason."""
    return Styled(report.next.command, "bold"), Styled(f"   {report.next.reason}", "dim")


def _next_lines(report: StatusReport, width: int | None) -> list[Line]:
    label = Styled("next  ", "dim")
    command, reason = next_line(report)
    if _fits((label, command, reason), width):
        return [(label, command, reason)]
    return [(label, command), *_fitted([("   ", reason)], width)]


def job_lines(report: StatusReport, width: int | None = None) -> list[Line]:
    """The jobs that are not over, each with its command unless the next step shows it already."""
    lines: list[Line] = []
    for job in report.jobs[:LISTED_ENTRIES]:
        style = "green" if job.is_running else "yellow"
        note = f"  {job.note}" if job.note else ""
        command = "" if job.command == report.next.command else f"   {job.command}"
        line = (Styled("job  ", "dim"), job.id, Styled(f"  {job.words}", style), note)
        shown = Styled(command, "dim")
        if _fits((*line, shown), width):
            lines.append((*line, shown))
        else:
            lines += [*_fitted([line], width), *([("  ", shown)] if command else [])]
    return lines


def _fits(line: Line, width: int | None) -> bool:
    return width is None or line_width(line) <= width


def _fitted(lines: list[Line], width: int | None) -> list[Line]:
    return lines if width is None else [fitted_line(line, width) for line in lines]


def paused_lines(report: StatusReport) -> list[Line]:
    """Where the project is paused, if it is."""
    if not report.paused_at:
        return []
    command = Styled(f"   {with_workstream('fairlead resume')}", "dim")
    return [(Styled("paused  ", "yellow"), report.paused_at, command)]


def _milestone(report: StatusReport) -> Line:
    name = f"{report.milestone} {report.milestone_name}".strip()
    workstream = f"  workstream {report.workstream}" if report.workstream else ""
    return (Styled(f"  {name}{workstream}", "dim"),) if name or workstream else ()


def _progress_line(report: StatusReport) -> Line:
    progress = report.progress
    if progress.total_phases is None and progress.total_plans is None and progress.percent is None:
        return ("Progress is unknown: no document counts it, and no file proves any.",)
    counts = (
        [f"[{bar(progress.percent)}] {progress.percent}% "] if progress.percent is not None else []
    )
    numbers = [
        f"{_number(progress.completed_plans)}/{_number(progress.total_plans)} plans",
        f"{_number(progress.completed_phases)}/{_number(progress.total_phases)} phases",
    ]
    if progress.total_tasks:
        numbers.append(f"{progress.completed_tasks}/{progress.total_tasks} tasks")
    claimed = "" if progress.is_verifiable else "; as the documents claim, no file proves it"
    return (
        " ".join([*counts, " · ".join(numbers)]),
        Styled(f"  ({progress.scope}{claimed})", "dim"),
    )


def _number(count: int | None) -> str:
    return "?" if count is None else str(count)


def _listed_phases(report: StatusReport, *, show_all: bool) -> tuple[PhaseStatusReport, ...]:
    """Every phase, or a dozen around the current one."""
    phases = report.phases
    if show_all or len(phases) <= _LISTED_PHASES:
        return phases
    numbers = [phase.number for phase in phases]
    current = numbers.index(report.phase) if report.phase in numbers else len(phases) - 1
    # Three phases before the current one, unless the list would end early.
    start = max(0, min(current - 3, len(phases) - _LISTED_PHASES))
    return phases[start : start + _LISTED_PHASES]


def _phase_lines(
    report: StatusReport, phases: tuple[PhaseStatusReport, ...], width: int | None
) -> list[Line]:
    if not phases:
        return []
    lines = table_lines([_phase_cells(phase, report.phase, width) for phase in phases])
    hidden = len(report.phases) - len(phases)
    if hidden:
        command = with_workstream("fairlead status --all")
        lines.append((Styled(f"  … and {hidden} more phases: {command}", "dim"),))
    return [*lines, ()]


def _phase_cells(phase: PhaseStatusReport, current: str, width: int | None) -> Cells:
    mark, style = _MARKS.get(phase.stage, ("·", "dim"))
    name = (
        phase.name if width is None else cut(phase.name, max(width - _PHASE_COLUMNS, _NAME_WIDTH))
    )
    is_current = phase.number == current
    verification = f"verification {phase.verification}" if phase.verification else ""
    return (
        Styled(f"  {mark}", style),
        Styled(phase.number, "bold") if is_current else phase.number,
        Styled(name, "bold") if is_current else name,
        *(() if width is None else (_phase_bar(phase),)),
        f"{phase.completed_plans}/{phase.total_plans}" if phase.total_plans else "-",
        Styled(phase.stage, "dim"),
        Styled(verification, "dim"),
    )


def _phase_bar(phase: PhaseStatusReport) -> Part:
    # A phase without plans has an empty bar, not a full one.
    share = phase.completed_plans / phase.total_plans if phase.total_plans else 0
    filled = int(_BAR_WIDTH * share)
    return Styled(
        "━" * filled + "─" * (_BAR_WIDTH - filled), "green" if filled == _BAR_WIDTH else "cyan"
    )


def _remarks(report: StatusReport) -> list[Line]:
    lines = paused_lines(report)
    if report.question:
        answer = Styled(f"   {with_workstream(ANSWER_COMMAND)}", "dim")
        lines.append((Styled("waits  ", "yellow"), report.question, answer))
    resolved = len(report.resolved_blockers)
    lines += _entries("blockers", report.blockers, f" ({resolved} resolved)" if resolved else "")
    lines += _entries("decisions", report.decisions)
    if report.pending_todos:
        lines.append((Styled("todos  ", "dim"), f"{len(report.pending_todos)} pending"))
    if report.continue_files:
        lines.append((Styled("resume  ", "dim"), ", ".join(report.continue_files)))
    for name, text, command in (
        ("plan phase", report.plan_phase, "fairlead planning status"),
        ("exec phase", report.exec_phase, "fairlead exec status"),
    ):
        if text:
            lines.append((Styled(f"{name}  ", "dim"), text, Styled(f"   {command}", "dim")))
    if report.workstreams and not report.workstream:
        names = ", ".join(report.workstreams)
        option = Styled("   show one with --ws NAME", "dim")
        lines.append((Styled("workstreams  ", "dim"), names, option))
    if report.drift:
        count = Styled(counted(len(report.drift), "difference"), "yellow")
        check = with_workstream("fairlead check")
        lines.append((count, f" between the documents and the files: {check}"))
        shown = report.drift[:LISTED_ENTRIES]
        lines += [(Styled("  ! ", "yellow"), finding.message) for finding in shown]
    return lines


def _entries(name: str, entries: tuple[str, ...], note: str = "") -> list[Line]:
    """The number of entries, and the latest of them."""
    if not entries and not note:
        return []
    count = (Styled(f"{name}  ", "dim"), str(len(entries)), Styled(note, "dim"))
    return [count, *((Styled("  - ", "dim"), text) for text in entries[-LISTED_ENTRIES:])]
