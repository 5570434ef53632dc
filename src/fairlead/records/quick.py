"""Quick tasks: a small piece of work outside of the roadmap, with a plan and a row in STATE.md.

Its name is the day and the two-second block of the day, in the form that other tools use; the row
follows whatever columns the table has.
"""

from datetime import datetime

from fairlead.errors import NotQuick
from fairlead.model.plan import PlanSheet, Severity
from fairlead.records.activity import with_activity
from fairlead.records.entries import CONTEXT, at_end, below, last_held
from fairlead.records.plan_check import cannot_fail, validate
from fairlead.records.state import stamped
from fairlead.text.document import Document
from fairlead.text.emit import Value, block_lines
from fairlead.text.inline import one_line, table_cell
from fairlead.text.tables import append_row, tables_of
from fairlead.values import dataclass

TITLES = ("Quick Tasks Completed", "Quick Tasks")
_COLUMNS = ("#", "Description", "Date", "Commit", "Directory")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Repair:
    """A change that was thought out already: what a plan of one task is made of."""

    title: str
    action: str
    files: tuple[str, ...]
    verify: str
    done: str


def quick_id(now: datetime) -> str:
    """`260516-0k3`: the day, and the two-second block of the day in base 36."""
    block = (now.hour * 3600 + now.minute * 60 + now.second) // 2
    digits = ""
    for _ in range(3):
        block, rest = divmod(block, 36)
        digits = _DIGITS[rest] + digits
    return f"{now:%y%m%d}-{digits}"


def require_quick(sheet: PlanSheet) -> PlanSheet:
    """Refuse a plan that is more, or less, than one task with a command that proves it."""
    faults = [
        f"line {each.line}: {each.what}"
        for each in validate(sheet)
        if each.severity is Severity.ERROR
    ]
    if len(sheet.tasks) != 1:
        faults.append(f"it has {len(sheet.tasks)} tasks, and a quick task is one")
    for task in sheet.tasks:
        if task.kind.is_checkpoint:
            faults.append("it asks a person, which a quick task does not")
        elif not task.verify:
            faults.append("its task has no verify command")
        elif cannot_fail(task.verify):
            faults.append(f"its verify command cannot fail: {task.verify}")
        if not task.files:
            faults.append("its task names no files")
    if faults:
        raise NotQuick("; ".join(faults))
    return sheet


def repair_plan(name: str, repair: Repair) -> str:
    """A plan of one task for a change that was thought out already."""
    front: dict[str, Value] = {
        "phase": name,
        "plan": 1,
        "type": "execute",
        "wave": 1,
        "depends_on": [],
        "files_modified": list(repair.files),
        "autonomous": True,
        "requirements": [],
        "must_haves": {"truths": [one_line(repair.done, "what is true then")]},
    }
    title, action, done = (one_line(each) for each in (repair.title, repair.action, repair.done))
    verify = repair.verify.strip()
    if not repair.files:
        raise NotQuick("it names no files")
    if not verify or not verify.isprintable() or "</" in verify:
        raise NotQuick("its verify command is no single line")
    return "\n".join(
        (
            "---",
            *block_lines(front, 0),
            "---",
            "",
            "<objective>",
            title,
            "</objective>",
            "",
            "<tasks>",
            '<task type="auto">',
            f"  <name>Task 1: {title[:60]}</name>",
            f"  <files>{', '.join(repair.files)}</files>",
            f"  <action>{action}</action>",
            f"  <verify><automated>{verify}</automated></verify>",
            f"  <done>{done}</done>",
            "</task>",
            "</tasks>",
            "",
        )
    )


def with_quick_row(
    document: Document, name: str, folder: str, text: str, commit: str, now: datetime
) -> Document:
    """STATE.md with the row of a quick task that is done; one that is there is not added again."""
    document.require_writable()
    title = one_line(text, "the text")
    values = {
        "#": name,
        "description": title,
        "quick task": title,
        "date": f"{now:%Y-%m-%d}",
        "commit": commit[:7] or "-",
        "status": "Verified",
        "directory": f"[{folder}](./quick/{folder}/)",
    }
    section = document.section(*TITLES)
    tables = tables_of(document.section_lines(section)) if section else ()
    if tables:
        if any(name in cell.text for row in tables[0].rows for cell in row):
            return document
        cells = [values.get(each.text.strip("*").casefold()) or "-" for each in tables[0].header]
        document = document.replaced(append_row(document.text, tables[0], cells, document.ending))
    else:
        document = document.replaced(
            _with_table(document, [values[each.casefold()] for each in _COLUMNS])
        )
    return stamped(with_activity(document, f"Completed quick task {name}: {title}", now), now)


def _with_table(document: Document, cells: list[str]) -> str:
    ending = document.ending
    rows = (_COLUMNS, tuple("-" * max(3, len(each)) for each in _COLUMNS), cells)
    table = ending.join(f"| {' | '.join(map(table_cell, each))} |" for each in rows)
    section, context = document.section(*TITLES), document.section(CONTEXT)
    if section:
        return below(document, last_held(document, section), table)
    if context:
        heading = f"{'#' * (context.level + 1)} {TITLES[0]}"
        return below(document, last_held(document, context, own=False), heading, table)
    return at_end(document, f"## {TITLES[0]}", table)
