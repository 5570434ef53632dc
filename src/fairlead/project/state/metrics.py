"""Performance metrics in STATE.md: one row per plan, and the totals computed from the rows.

Every total is the sum of the recorded durations: of the rows in STATE.md and of those that pruning
moved to the archive, never of rounded text. A total that the project had before its first row
becomes a row of its own, `Earlier plans (6)`. The time of an open plan counts as time spent; the
plan itself counts once it is complete. Only lines with a figure or a placeholder are written, so a
person's remark on a number stays.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from fairlead.core.duration import duration_in, in_hours, in_minutes, parse_duration, trend_of
from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, field, replace
from fairlead.project.derive.inventory import Inventory, Phase, PhaseFolder, Plan
from fairlead.project.derive.position import Position
from fairlead.project.derive.progress import completed_in
from fairlead.project.state.documents import stamped
from fairlead.project.state.entries import at_end, below, last_filled_line
from fairlead.project.state.recorded import COUNT, phase_in, plan_label
from fairlead.text.document import Document
from fairlead.text.inline import one_line, table_cell
from fairlead.text.outline import Section
from fairlead.text.tables import Cell, Table, append_row, set_cell, tables_of

SECTION = "Performance Metrics"
_PLAN = lazy_pattern(r"Phase\s+(?P<phase>\S+)\s+P(?P<plan>\d+)\Z", re.IGNORECASE)
_NAMED = lazy_pattern(r"Phase\s+(?P<phase>\S+)\s+(?P<plan>\S.*)\Z", re.IGNORECASE)
_EMPTY = lazy_pattern(r"(?:|-|—|–|n/a|tbd|\[.*\])\Z", re.IGNORECASE)
_TREND = lazy_pattern(
    r"(?:improving|stable|degrading|declining)\b|(?:|-|—|n/a|\[.*\])\Z", re.IGNORECASE
)
# A row that pruning moved to the archive, where it became an entry of a list.
_ARCHIVED = lazy_pattern(
    r"^[-*+]?[ \t]*\|[ \t]*(Phase\s+\S+\s+P\d+)[ \t]*\|([^|\r\n]*)\|", re.IGNORECASE | re.MULTILINE
)
_EARLIER = lazy_pattern(r"Earlier plans \(([0-9]{1,6})\)\Z")
_SPENT, _MEAN = "Total execution time", "Average duration"
_UNKNOWN = "-"
_ROUNDING = timedelta(minutes=3)  # of a total in tenths of an hour
_HEADER = "| Plan | Duration | Tasks | Files |"
_RULE = "|------|----------|-------|-------|"


@dataclass(frozen=True, slots=True)
class Metric:
    """What one plan took."""

    phase: str
    plan: str
    duration: str
    tasks: int | None = None
    files: int | None = None

    @property
    def name(self) -> str:
        """The name of its row: `Phase 2 P03`, or the plan's own name if it has no number."""
        named = plan_label(one_line(self.plan, "the plan"))
        return f"Phase {PhaseId.parse(self.phase).short} {named}"

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of its row."""
        return (
            self.name,
            one_line(self.duration, "the duration"),
            _UNKNOWN if self.tasks is None else f"{self.tasks} tasks",
            _UNKNOWN if self.files is None else f"{self.files} files",
        )


@dataclass(frozen=True, slots=True)
class Recorded:
    """The durations of plans that left STATE.md, and what is needed to tell open plans."""

    position: Position
    inventory: Inventory
    archived: Mapping[str, timedelta] = field(default_factory=dict)  # by the name of the row

    @property
    def open_rows(self) -> frozenset[str]:
        """The names that the rows of open plans have."""
        return frozenset(
            Metric(folder.id.short, plan.id, "").name
            for folder in self.inventory.folders
            if folder.id
            for plan in folder.live_plans
            if not plan.is_complete
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """The durations by plan, before and after a metric was recorded."""

    before: dict[str, timedelta]
    after: dict[str, timedelta]
    open: frozenset[str]

    @property
    def completed(self) -> dict[str, timedelta]:
        """The durations of complete plans."""
        return {name: took for name, took in self.after.items() if name not in self.open}


def record_metric(
    document: Document, metric: Metric, recorded: Recorded, now: datetime
) -> Document:
    """Record what a plan took; a second call corrects the row."""
    document.require_writable()
    parse_duration(metric.duration)
    before = {**recorded.archived, **durations_of(document)}
    changed = _with_row(_with_earlier(document, before), metric.name, metric.cells)
    changed = _with_totals(changed, before, recorded, phase=metric.phase)
    return stamped(changed, now) if changed.text != document.text else document


def add_time(document: Document, metric: Metric, recorded: Recorded, now: datetime) -> Document:
    """Add the duration of a task to the time of its plan."""
    rows = {**recorded.archived, **durations_of(document)}
    took = parse_duration(metric.duration) + rows.get(metric.name, timedelta())
    minutes, seconds = divmod(round(took.total_seconds(), 3), 60)
    total = replace(metric, duration=f"{minutes:.0f}m{round(seconds, 3):g}s")
    return record_metric(document, total, recorded, now)


def with_velocity(document: Document, recorded: Recorded) -> Document:
    """The document with its totals and the number of completed plans."""
    before = {**recorded.archived, **durations_of(document)}
    if not before:
        return with_plans_completed(document, recorded.position, recorded.inventory)
    return _with_totals(document, before, recorded)


def has_row(document: Document, metric: Metric, recorded: Recorded) -> bool:
    """Whether the plan has a row here or in the archive, or the document records no metrics."""
    if document.section(SECTION) is None:
        return True
    return metric.name in recorded.archived or metric.name in durations_of(document)


def archived_durations(archive: str) -> dict[str, timedelta]:
    """The duration of each plan whose row was moved to the archive."""
    rows = ((_row_name(row[1]), duration_in(row[2])) for row in _ARCHIVED.finditer(archive))
    return {name: took for name, took in rows if took is not None}


def with_plans_completed(document: Document, position: Position, inventory: Inventory) -> Document:
    """The document with the number of completed plans, in the scope that it counted before."""
    field = document.field("Total plans completed", document.section(SECTION))
    match = COUNT.match(field.value) if field else None
    if not field or not (match or _EMPTY.match(field.value)):
        return document
    recorded = int(match[0]) if match else 0
    active = completed_in(inventory.folders)
    # Of the milestone, of all active folders, or of the archive too: the nearest that is not less.
    counts = (position.progress.completed_plans, active, active + completed_in(inventory.archived))
    true = min((count for count in counts if count >= recorded), default=counts[0])
    rest = field.value[match.end() :] if match else ""
    return document.set_field(field, f"{true}{rest}")


# --- rows of plans -----------------------------------------------------------------------


def _with_row(document: Document, name: str, cells: tuple[str, ...]) -> Document:
    table = _plan_table(document)
    if table is None:
        return _with_table(document, cells)
    row = next((row for row in table.rows if _row_name(row[0].text) == name), None)
    if row is not None:
        known = [pair for pair in zip(row, cells, strict=False) if pair[1] != _UNKNOWN]
        for cell, value in reversed(known[1:]):
            document = document.replaced(set_cell(document.text, cell, value))
        return document
    fitting = cells[: len(table.header)]
    return document.replaced(append_row(document.text, table, fitting, document.ending))


def _with_table(document: Document, cells: tuple[str, ...]) -> Document:
    row = "| " + " | ".join(table_cell(cell) for cell in cells) + " |"
    rows = document.ending.join((_HEADER, _RULE, row))
    section = document.section(SECTION)
    if section is None:
        return document.replaced(at_end(document, f"## {SECTION}", "**Per-Plan Metrics:**", rows))
    last = last_filled_line(document, section)
    return document.replaced(below(document, last, "**Per-Plan Metrics:**", rows))


def _with_earlier(document: Document, rows: Mapping[str, timedelta]) -> Document:
    """The document with a row for the time that it counted before its first row."""
    section = document.section(SECTION)
    spent, mean = (document.field(name, section) for name in (_SPENT, _MEAN))
    total, average = (duration_in(each.value) if each else None for each in (spent, mean))
    rest = (total or timedelta()) - _sum(rows)
    if rest <= (_ROUNDING if rows else timedelta()):
        return document
    count = round(total / average) - len(rows) if total and average else 0
    minutes = f"{round(rest.total_seconds() / 60, 1):g}m"
    name = f"Earlier plans ({max(count, 0)})"
    return _with_row(document, name, (name, minutes, _UNKNOWN, _UNKNOWN))


def _plan_table(document: Document) -> Table | None:
    return next((table for table in _tables(document) if _is_by_plan(table)), None)


def _is_by_plan(table: Table) -> bool:
    titles = [cell.text.strip("*").casefold() for cell in table.header]
    return titles[:2] == ["plan", "duration"]


def durations_of(document: Document) -> dict[str, timedelta]:
    """The duration of each row, by its name and in order, from every table of the section.

    A plan without a number is recognised only in the table that lists nothing but plans.
    """
    durations: dict[str, timedelta] = {}
    for table in _tables(document):
        at = max(table.column("Duration"), 1)
        forms = (_NAMED, _EARLIER) if _is_by_plan(table) else (_PLAN,)
        for row in table.rows:
            took = duration_in(row[at].text) if len(row) > at else None
            if took is not None and any(form.match(row[0].text) for form in forms):
                durations[_row_name(row[0].text)] = took
    return durations


def _row_name(written: str) -> str:
    """The name of a row in the spelling that a metric has."""
    match = _PLAN.match(written)
    phase = phase_in(match["phase"]) if match else None
    return f"Phase {phase.short} P{int(match['plan']):02d}" if match and phase else written


# --- totals ---------------------------------------------------------------


def _with_totals(
    document: Document, before: dict[str, timedelta], recorded: Recorded, phase: str = ""
) -> Document:
    """The document with every total that follows from its rows, and a row for this phase."""
    after = {**recorded.archived, **durations_of(document)}
    rows = _Rows(before, after, recorded.open_rows)
    changed = with_plans_completed(document, recorded.position, recorded.inventory)
    changed = _with_velocity(changed, rows)
    phases = {match["phase"] for name in after if (match := _NAMED.match(name))}
    timed = phase_in(phase)
    for each in sorted(phases):
        is_new = timed is not None and phase_in(each) == timed
        changed = _with_phase(changed, each, rows, recorded.position, is_new=is_new)
    completed = (took for name, took in rows.completed.items() if not _EARLIER.match(name))
    return _with_trend(changed, tuple(completed))


def _with_velocity(document: Document, rows: _Rows) -> Document:
    spent = document.field(_SPENT, document.section(SECTION))
    if spent and _is_figure(spent.value):
        document = document.set_field(spent, in_hours(_sum(rows.after)))
    mean = document.field(_MEAN, document.section(SECTION))
    count = sum(_plans_in(name) for name in rows.completed)
    if mean and _is_figure(mean.value):
        average = in_minutes(_sum(rows.completed) / count) if count else _UNKNOWN
        document = document.set_field(mean, average)
    return document


def _plans_in(row: str) -> int:
    """The number of plans that a row stands for."""
    earlier = _EARLIER.match(row)
    return int(earlier[1]) if earlier else 1


def _is_figure(text: str) -> bool:
    return bool(_EMPTY.match(text)) or duration_in(text) is not None


def _with_phase(
    document: Document, name: str, rows: _Rows, position: Position, *, is_new: bool
) -> Document:
    table = next((each for each in _tables(document) if _is_by_phase(each)), None)
    phase = phase_in(name)
    if table is None or phase is None:
        return document
    row = next((each for each in table.rows if phase_in(each[0].text) == phase), None)
    blank = next((each for each in table.rows if all(_EMPTY.match(c.text) for c in each)), None)
    if row is None and not is_new:
        return document
    here = next((each for each in position.scope.phases if each.id == phase), None)
    old = duration_in(row[table.column("Total")].text) if row else None
    values = _phase_values(rows, phase, old, here)
    title = f"{phase.short}. {here.name}" if here and here.name else phase.short
    if row is None and blank is None:
        cells = (title, *(values.get(cell.text.casefold(), "-") for cell in table.header[1:]))
        return document.replaced(append_row(document.text, table, cells, document.ending))
    if row is None:
        values["phase"] = title
    total = len(_live(here.folder)) if here else 0
    return _with_cells(document, table, row or blank or (), values, total=total)


def _phase_values(
    rows: _Rows, phase: PhaseId, old: timedelta | None, here: Phase | None
) -> dict[str, str]:
    """The cells of a phase: its complete plans, the time spent, and the time per complete plan."""
    before, after, completed = (
        _of_phase(each, phase) for each in (rows.before, rows.after, rows.completed)
    )
    done = sum(plan.is_complete for plan in _live(here.folder)) if here else len(completed)
    if old and old > _sum(before) + timedelta(minutes=1):
        # The phase has time from before its first row, which only this cell records.
        total = old + _sum(after) - _sum(before)
        average = in_minutes(total / done) if done else _UNKNOWN
        return {"plans": str(done), "total": _exact_minutes(total), "avg/plan": average}
    average = in_minutes(_sum(completed) / len(completed)) if completed else _UNKNOWN
    return {"plans": str(done), "total": in_minutes(_sum(after)), "avg/plan": average}


def _exact_minutes(duration: timedelta) -> str:
    return f"{round(duration.total_seconds() / 60, 2):g} min"


def _with_cells(
    document: Document, table: Table, row: tuple[Cell, ...], values: dict[str, str], *, total: int
) -> Document:
    # From the right, so that the offsets of the cells still to be written stay valid.
    for at in reversed(range(min(len(row), len(table.header)))):
        value = values.get(table.header[at].text.strip("*").casefold())
        cell = row[at]
        if value is None:
            continue
        match = re.match(r"\d+/\d+", cell.text)
        if match:
            value = f"{value}/{total}" + cell.text[match.end() :]
        elif not (_EMPTY.match(cell.text) or cell.text.isdigit() or duration_in(cell.text)):
            continue
        document = document.replaced(set_cell(document.text, cell, value))
    return document


def _with_trend(document: Document, durations: tuple[timedelta, ...]) -> Document:
    section = document.section(SECTION)
    last = document.field("Last 5 plans", section)
    if last:
        latest = ", ".join(in_minutes(duration) for duration in durations[-5:])
        document = document.set_field(last, latest or _UNKNOWN)
    trend = document.field("Trend", document.section(SECTION))
    if trend and _TREND.match(trend.value):
        document = document.set_field(trend, trend_of(durations))
    return document


def _of_phase(rows: Mapping[str, timedelta], phase: PhaseId) -> dict[str, timedelta]:
    return {
        name: took
        for name, took in rows.items()
        if (match := _NAMED.match(name)) and phase_in(match["phase"]) == phase
    }


def _sum(rows: Mapping[str, timedelta]) -> timedelta:
    return sum(rows.values(), timedelta())


def _is_by_phase(table: Table) -> bool:
    return table.column("Phase") == 0 and table.column("Total") > 0


def _tables(document: Document) -> tuple[Table, ...]:
    section: Section | None = document.section(SECTION)
    return tables_of(document.section_lines(section)) if section else ()


def _live(folder: PhaseFolder | None) -> tuple[Plan, ...]:
    return folder.live_plans if folder else ()
