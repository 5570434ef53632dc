"""What is wrong with a plan before anybody carries it out, with the line of each fault.

An error is something that the gate cannot work with; a warning is something that its author
probably did not mean. Nothing here looks at the disk: whether a file exists is not asked.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import count

from fairlead.model.ids import is_name
from fairlead.model.inventory import Folder
from fairlead.model.plan import Finding, PlanSheet, Severity, Task, TaskKind

MOST_TASKS, MOST_FILES = 3, 9
_NEEDED = {
    TaskKind.HUMAN_VERIFY: ("what-built", "how-to-verify", "resume-signal"),
    TaskKind.DECISION: ("decision", "context", "options", "resume-signal"),
    TaskKind.HUMAN_ACTION: ("action", "instructions", "resume-signal"),
}
_NO_CHECK = re.compile(
    r"(?:(?:echo|cat|true|printf|exit 0)\b|:(?=\s|\Z))[^&|;]*\Z"
    r"|.*(?:\|\||;)\s*(?:true|:|echo\b[^&|;]*|exit 0)\s*\Z"
    r"|(?:test|\[)\s+(\S+)\s+(?:-eq|=|==)\s+\1\s*\]?\s*\Z",
    re.DOTALL,
)
_ABSENT = re.compile(r"!\s*(?:e|f|r)?grep\s+(?:-[\w-]+\s+)*(?:\"([^\"]{3,200})\"|'([^']{3,200})')")


def validate(sheet: PlanSheet) -> tuple[Finding, ...]:
    """Every fault of a plan, by line."""
    found = [*sheet.notes, *_of_plan(sheet)]
    for at, task in enumerate(sheet.tasks):
        before = sheet.tasks[at - 1] if at else None
        of_task = _of_checkpoint(task) if task.kind.is_checkpoint else _of_task(task, before)
        found += [Finding(severity, what, task.line) for severity, what in of_task]
        found += [Finding(*echo, task.line) for echo in _echoes(sheet, task)]
    return tuple(sorted(found, key=lambda finding: finding.line))


def told(sheets: Iterable[PlanSheet], severity: Severity) -> tuple[str, ...]:
    """The faults of some plans, each with its place."""
    return tuple(
        f"{sheet.path}:{each.line}: {each.what}"
        for sheet in sheets
        for each in validate(sheet)
        if each.severity is severity
    )


def faults_told(
    sheets: Iterable[PlanSheet], command_fault: Callable[[str], str], *, is_rehearsed: bool
) -> tuple[str, ...]:
    """Why some plans cannot be carried out here, each with its place."""
    sheets = tuple(sheets)
    found = [*told(sheets, Severity.ERROR)]
    for sheet in sheets:
        if sheet.is_rehearsed and not is_rehearsed:
            found.append(f"{sheet.path}:1: it was made by a rehearsal and does not count")
        for task in sheet.tasks:
            place = f"{sheet.path}:{task.line}"
            if task.kind.is_checkpoint:
                continue
            if not task.verify:
                found.append(f"{place}: task {task.number} has no verify command")
            elif fault := command_fault(task.verify):
                found.append(f"{place}: {fault}")
    return tuple(found)


def name_faults(folder: Folder, beside: Callable[[], Iterable[Folder]]) -> tuple[str, ...]:
    """Which plans of a phase cannot be told apart by their names, and what to call each.

    A plan gives its name to a branch, a gate and a ledger. One that begins with its phase is the
    only one of its name; of others, the phases beside it may have the same.
    """
    lead = folder.id.padded if folder.id else ""
    plans = folder.live_plans
    own = [plan.id.casefold() for plan in plans]
    is_alone = all(f"{plan.id}-".startswith(f"{lead}-") for plan in plans)
    others = () if is_alone else (each for each in beside() if each.path != folder.path)
    there = {plan.id.casefold() for other in others for plan in other.live_plans}
    free = (f"{lead}-{at:02d}" for at in count(1) if f"{lead}-{at:02d}".casefold() not in own)
    faults = []
    for at, plan in enumerate(plans):
        if own[at] in own[:at]:
            why = f"this phase has two plans called {plan.id}"
        elif plan.is_complete:
            continue
        elif not is_name(plan.id):
            why = "a branch cannot have its name"
        elif plan.id.casefold() in there:
            why = f"another phase has a plan called {plan.id} as well"
        else:
            continue
        faults.append(f"{plan.path}: {why}; call it {next(free)}-PLAN.md")
    return tuple(faults)


def cannot_fail(line: str) -> bool:
    """Whether a command succeeds whatever the code is like: it proves nothing."""
    return bool(_NO_CHECK.match(line.strip()))


def _of_plan(sheet: PlanSheet) -> Iterator[Finding]:
    if sheet.check == "failed":
        phase = sheet.id.rpartition("-")[0].lstrip("0") or "N"
        again = f"plan it again: fairlead phase plan {phase} --replan"
        yield Finding(Severity.ERROR, f"the plan failed its check; {again}", 1)
    if sheet.check == "accepted":
        yield Finding(Severity.WARNING, "its check found blockers, and a person accepted it", 1)
    if not sheet.tasks:
        why = "its tasks are headings, which are only counted" if sheet.task_count else "no tasks"
        yield Finding(Severity.ERROR, f"the plan cannot be carried out: {why}", 1)
    if sheet.kind not in ("execute", "tdd"):
        yield Finding(Severity.WARNING, f"type {sheet.kind!r} is read as execute", 1)
    if sheet.has_checkpoints and sheet.autonomous:
        line = next(task.line for task in sheet.tasks if task.kind.is_checkpoint)
        yield Finding(Severity.ERROR, "a checkpoint in a plan that says autonomous: true", line)
    if sheet.wave is not None and sheet.wave > 1 and not sheet.depends_on:
        yield Finding(Severity.WARNING, f"wave {sheet.wave} without depends_on", 1)
    if len(sheet.tasks) > MOST_TASKS:
        yield Finding(Severity.WARNING, f"{len(sheet.tasks)} tasks, {MOST_TASKS} are enough", 1)
    if len(sheet.files) > MOST_FILES:
        yield Finding(Severity.WARNING, f"{len(sheet.files)} files, {MOST_FILES} are enough", 1)
    if sheet.tasks and not sheet.files and not any(task.files for task in sheet.tasks):
        yield Finding(Severity.WARNING, "no file is declared, so every change is undeclared", 1)


def _of_task(task: Task, before: Task | None) -> Iterator[tuple[Severity, str]]:
    name = f"task {task.number}"
    if not task.name:
        yield Severity.ERROR, f"{name} has no name"
    if not task.action:
        yield Severity.ERROR, f"{name} has no action"
    lacking = [part for part in ("files", "verify", "done") if not getattr(task, part)]
    if lacking:
        yield Severity.WARNING, f"{name} has no {', no '.join(lacking)}"
    if task.verify and cannot_fail(task.verify):
        yield Severity.WARNING, f"the verify command of {name} cannot fail: {task.verify[:60]}"
    if task.verify.upper().startswith("MISSING"):
        yield Severity.ERROR, f"the verify command of {name} is missing"
    one_way = re.search(r"<reversibility\s+rating\s*=\s*[\"']one-way", task.source)
    if one_way and (before is None or before.kind is not TaskKind.DECISION):
        yield Severity.WARNING, f"{name} cannot be taken back and no decision comes before it"


def _of_checkpoint(task: Task) -> Iterator[tuple[Severity, str]]:
    lacking = [tag for tag in _NEEDED[task.kind] if not task.part(tag)]
    if lacking:
        yield Severity.ERROR, f"{task.kind} has no {', no '.join(lacking)}"


def _echoes(sheet: PlanSheet, task: Task) -> Iterator[tuple[Severity, str]]:
    """A verify command that wants a text absent which the plan itself wants written."""
    for one, other in _ABSENT.findall(task.verify):
        text = one or other
        if any(text == artifact.contains for artifact in sheet.must_haves.artifacts):
            yield Severity.ERROR, f"verify wants {text!r} absent, must_haves want it there"
        elif any(f'contains "{text}"' in criterion for criterion in task.criteria):
            yield Severity.ERROR, f"verify wants {text!r} absent, the criteria want it there"
