"""Performance metrics in STATE.md: one row a plan, and what follows from the rows.

Totals count from the rows where these hold everything that was ever recorded; where a project
began without rows, its totals are carried on from what stands there. Only lines that hold a
figure or a placeholder are written, so that what a person says of a number stays.
"""

import re
from datetime import datetime, timedelta

from fairlead.model.duration import duration_in, in_hours, in_minutes, parse_duration, trend_of
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Folder, Inventory, Plan
from fairlead.model.progress import completed_in
from fairlead.model.standing import Standing
from fairlead.records.entries import at_end, below, last_held
from fairlead.records.recorded import COUNT, phase_in
from fairlead.records.state import stamped
from fairlead.text.document import Document
from fairlead.text.inline import one_line, table_cell
from fairlead.text.outline import Section
from fairlead.text.tables import Cell, Table, append_row, set_cell, tables_of
from fairlead.values import dataclass, replace

SECTION = "Performance Metrics"
_PLAN = re.compile(r"Phase\s+(?P<phase>\S+)\s+P(?P<plan>\d+)\Z", re.IGNORECASE)
_NUMBER = re.compile(r"(?:\A|[^\w.])[Pp]?([0-9]+)\Z")  # not of `01.1` nor of `login-v2`
_NAMED = re.compile(r"Phase\s+(?P<phase>\S+)\s+(?P<plan>\S.*)\Z", re.IGNORECASE)
_EMPTY = re.compile(r"(?:|-|—|–|n/a|tbd|\[.*\])\Z", re.IGNORECASE)
_TREND = re.compile(
    r"(?:improving|stable|degrading|declining)\b|(?:|-|—|n/a|\[.*\])\Z", re.IGNORECASE
)
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
        """The plan as its row names it: `Phase 2 P03`; by its own name if it has no number."""
        number = _NUMBER.search(self.plan)
        named = f"P{number[1].zfill(2)}" if number else one_line(self.plan, "the plan")
        return f"Phase {PhaseId.parse(self.phase).short} {named}"

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of its row."""
        return (
            self.name,
            one_line(self.duration, "the duration"),
            "-" if self.tasks is None else f"{self.tasks} tasks",
            "-" if self.files is None else f"{self.files} files",
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of plans before and after this one was recorded."""

    before: dict[str, timedelta]
    after: dict[str, timedelta]


def record_metric(
    document: Document, metric: Metric, standing: Standing, inventory: Inventory, now: datetime
) -> Document:
    """Record what a plan took; the same plan again corrects its row."""
    document.require_writable()
    parse_duration(metric.duration)
    before = _durations(document)
    changed = _with_row(document, metric)
    rows = _Rows(before, _durations(changed))
    changed = _with_velocity(changed, rows)
    changed = with_plans_completed(changed, standing, inventory)
    changed = _with_phase(changed, metric, rows, standing)
    changed = _with_trend(changed, tuple(rows.after.values()))
    return stamped(changed, now) if changed.text != document.text else document


def add_time(
    document: Document, metric: Metric, standing: Standing, inventory: Inventory, now: datetime
) -> Document:
    """Add what a task took to the time of its plan."""
    took = parse_duration(metric.duration)
    rows = _durations(document).items()
    held = next((each for name, each in rows if _same_plan(name, metric.name)), timedelta())
    seconds = round((held + took).total_seconds())
    whole = replace(metric, duration=f"{seconds // 60}m{seconds % 60}s")
    return record_metric(document, whole, standing, inventory, now)


def has_row(document: Document, metric: Metric) -> bool:
    """Whether the plan has its row, or the document keeps none."""
    if document.section(SECTION) is None:
        return True
    return any(_same_plan(name, metric.name) for name in _durations(document))


def with_plans_completed(document: Document, standing: Standing, inventory: Inventory) -> Document:
    """The document with the count of completed plans, of the milestone or of all, as it counts."""
    field = document.field("Total plans completed", document.section(SECTION))
    match = COUNT.match(field.value) if field else None
    if not field or not (match or _EMPTY.match(field.value)):
        return document
    said = int(match[0]) if match else 0
    active = completed_in(inventory.folders)
    known = (standing.progress.completed_plans, active, active + completed_in(inventory.archived))
    true = min((each for each in known if each >= said), default=known[0])
    rest = field.value[match.end() :] if match else ""
    return document.set_field(field, f"{true}{rest}")


# --- rows of plans -----------------------------------------------------------------------


def _with_row(document: Document, metric: Metric) -> Document:
    table = _plan_table(document)
    if table is None:
        return _with_table(document, metric)
    for row in table.rows:
        if _same_plan(row[0].text, metric.name):
            for cell, value in reversed(tuple(zip(row, metric.cells, strict=False))[1:]):
                document = document.replaced(set_cell(document.text, cell, value))
            return document
    cells = metric.cells[: len(table.header)]
    return document.replaced(append_row(document.text, table, cells, document.ending))


def _with_table(document: Document, metric: Metric) -> Document:
    row = "| " + " | ".join(table_cell(cell) for cell in metric.cells) + " |"
    rows = document.ending.join((_HEADER, _RULE, row))
    section = document.section(SECTION)
    if section is None:
        return document.replaced(at_end(document, f"## {SECTION}", "**Per-Plan Metrics:**", rows))
    last = last_held(document, section)
    return document.replaced(below(document, last, "**Per-Plan Metrics:**", rows))


def _plan_table(document: Document) -> Table | None:
    return next((table for table in _tables(document) if _is_by_plan(table)), None)


def _is_by_plan(table: Table) -> bool:
    titles = [cell.text.strip("*").casefold() for cell in table.header]
    return titles[:2] == ["plan", "duration"]


def _durations(document: Document) -> dict[str, timedelta]:
    """What each plan took, in the order of the rows, wherever the section lists plans.

    A plan without a number is known by its row only where every row is a plan.
    """
    found: dict[str, timedelta] = {}
    for table in _tables(document):
        at = max(table.column("Duration"), 1)
        form = _NAMED if _is_by_plan(table) else _PLAN
        for row in table.rows:
            took = duration_in(row[at].text) if len(row) > at else None
            if form.match(row[0].text) and took is not None:
                found[row[0].text] = took
    return found


def _same_plan(written: str, name: str) -> bool:
    one, other = _PLAN.match(written), _PLAN.match(name)
    if not one or not other:
        return written == name
    first, second = phase_in(one["phase"]), phase_in(other["phase"])
    return first == second and int(one["plan"]) == int(other["plan"])


# --- what follows from them ---------------------------------------------------------------


def _with_velocity(document: Document, rows: _Rows) -> Document:
    section = document.section(SECTION)
    spent = document.field("Total execution time", section)
    mean = document.field("Average duration", section)
    old_total = duration_in(spent.value) if spent else None
    old_mean = duration_in(mean.value) if mean else None
    counted = len(rows.before)
    if old_total and old_mean and old_mean.total_seconds() > 0:
        counted = round(old_total / old_mean)
    total, count = _sum(rows.after), len(rows.after)
    if counted > len(rows.before) and old_total:
        total = old_total + _sum(rows.after) - _sum(rows.before)
        count = counted + len(rows.after) - len(rows.before)
    if spent and (old_total is not None or _EMPTY.match(spent.value)):
        document = document.set_field(spent, in_hours(total))
    mean = document.field("Average duration", document.section(SECTION))
    if mean and (old_mean is not None or _EMPTY.match(mean.value)):
        document = document.set_field(mean, in_minutes(total / count))
    return document


def _with_phase(document: Document, metric: Metric, rows: _Rows, standing: Standing) -> Document:
    table = next((each for each in _tables(document) if _is_by_phase(each)), None)
    if table is None:
        return document
    phase = PhaseId.parse(metric.phase)
    here = next((each for each in standing.scope.phases if each.id == phase), None)
    done = sum(plan.is_complete for plan in _live(here.folder)) if here else 0
    row = next((each for each in table.rows if phase_in(each[0].text) == phase), None)
    blank = next((each for each in table.rows if all(_EMPTY.match(c.text) for c in each)), None)
    old = duration_in(row[table.column("Total")].text) if row else None
    total, count = _phase_total(rows, phase, old)
    values = {
        "plans": str(max(done, count)),
        "total": in_minutes(total),
        "avg/plan": in_minutes(total / max(done, count)),
    }
    if row is None and blank is None:
        name = here.name if here else ""
        first = f"{phase.short}. {name}" if name else phase.short
        cells = (first, *(values.get(cell.text.casefold(), "-") for cell in table.header[1:]))
        return document.replaced(append_row(document.text, table, cells, document.ending))
    target = row or blank or ()
    if row is None:
        name = here.name if here else ""
        values["phase"] = f"{phase.short}. {name}" if name else phase.short
    return _with_cells(
        document, table, target, values, total=len(_live(here.folder)) if here else 0
    )


def _with_cells(
    document: Document, table: Table, row: tuple[Cell, ...], values: dict[str, str], *, total: int
) -> Document:
    # From the right, so that the places of the cells still to be written hold.
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
        told = ", ".join(in_minutes(each) for each in durations[-5:])
        document = document.set_field(last, told)
    trend = document.field("Trend", document.section(SECTION))
    if trend and _TREND.match(trend.value):
        document = document.set_field(trend, trend_of(durations))
    return document


def _phase_total(rows: _Rows, phase: PhaseId, old: timedelta | None) -> tuple[timedelta, int]:
    before, after = (_of_phase(each, phase) for each in (rows.before, rows.after))
    if old and old > _sum(before) + timedelta(minutes=1):
        return old + _sum(after) - _sum(before), len(after)
    return _sum(after), len(after)


def _of_phase(rows: dict[str, timedelta], phase: PhaseId) -> dict[str, timedelta]:
    return {
        name: took
        for name, took in rows.items()
        if (match := _NAMED.match(name)) and phase_in(match["phase"]) == phase
    }


def _sum(rows: dict[str, timedelta]) -> timedelta:
    return sum(rows.values(), timedelta())


def _is_by_phase(table: Table) -> bool:
    return table.column("Phase") == 0 and table.column("Total") > 0


def _tables(document: Document) -> tuple[Table, ...]:
    section: Section | None = document.section(SECTION)
    return tables_of(document.section_lines(section)) if section else ()


def _live(folder: Folder | None) -> tuple[Plan, ...]:
    return folder.live_plans if folder else ()
