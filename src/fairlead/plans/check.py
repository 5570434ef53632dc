"""Checks a plan before it is executed, and reports each fault with its line.

An error prevents execution; a warning is probably a mistake of the author. Nothing here reads the
disk. Only `unlandable_files` asks git, because a declared file that git ignores would be lost:
an agent works in a worktree, and only files that git takes from there reach the project.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import count

from fairlead.core.ids import is_name
from fairlead.core.patterns import lazy_pattern
from fairlead.plans.errors import NoVerifyCommand
from fairlead.plans.model import PlanDocument, PlanFinding, Severity, Task, TaskKind
from fairlead.plans.waves import normal_path
from fairlead.project.derive.inventory import PhaseFolder
from fairlead.store import layout
from fairlead.vcs.ports import Workspace

MAX_TASKS, MAX_FILES = 3, 9
_CHECKPOINT_PARTS = {
    TaskKind.HUMAN_VERIFY: ("what-built", "how-to-verify", "resume-signal"),
    TaskKind.DECISION: ("decision", "context", "options", "resume-signal"),
    TaskKind.HUMAN_ACTION: ("action", "instructions", "resume-signal"),
}
_NO_CHECK = lazy_pattern(
    r"(?:(?:echo|cat|true|printf|exit 0)\b|:(?=\s|\Z))[^&|;]*\Z"
    r"|.*(?:\|\||;)\s*(?:true|:|echo\b[^&|;]*|exit 0)\s*\Z"
    r"|(?:test|\[)\s+(\S+)\s+(?:-eq|=|==)\s+\1\s*\]?\s*\Z",
    re.DOTALL,
)
_ABSENCE_CHECK = lazy_pattern(
    r"!\s*(?:e|f|r)?grep\s+(?:-[\w-]+\s+)*(?:\"([^\"]{3,200})\"|'([^']{3,200})')"
)


def validate(plan: PlanDocument) -> tuple[PlanFinding, ...]:
    """Return every fault of a plan, sorted by line."""
    findings = [*plan.notes, *_plan_faults(plan)]
    for at, task in enumerate(plan.tasks):
        before = plan.tasks[at - 1] if at else None
        faults = _checkpoint_faults(task) if task.kind.is_checkpoint else _task_faults(task, before)
        findings += [PlanFinding(severity, what, task.line) for severity, what in faults]
        findings += [PlanFinding(*fault, task.line) for fault in _contradictions(plan, task)]
    return tuple(sorted(findings, key=lambda finding: finding.line))


def require_verify_commands(plan: PlanDocument) -> None:
    """Raise if a new plan has a task that no command verifies: it could never be executed."""
    tasks = (task for task in plan.tasks if not task.kind.is_checkpoint)
    missing = tuple(task.name for task in tasks if not task.verify.strip())
    if missing:
        raise NoVerifyCommand(plan.id, missing)


def execution_faults(
    plans: Iterable[PlanDocument], command_fault: Callable[[str], str], *, is_rehearsed: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the reasons why plans cannot be executed, and warnings, as `path:line: text`."""
    lines: dict[Severity, list[str]] = {each: [] for each in Severity}
    faults, plans = lines[Severity.ERROR], tuple(plans)
    for plan in plans:
        for each in validate(plan):
            lines[each.severity].append(f"{plan.path}:{each.line}: {each.what}")
    for plan in plans:
        if plan.is_rehearsed and not is_rehearsed:
            faults.append(f"{plan.path}:1: it was written by a rehearsal and does not count")
        for task in plan.tasks:
            place = f"{plan.path}:{task.line}"
            if task.kind.is_checkpoint:
                continue
            if not task.verify:
                faults.append(f"{place}: task {task.number} has no verify command")
            elif fault := command_fault(task.verify):
                faults.append(f"{place}: {fault}")
    return tuple(faults), tuple(lines[Severity.WARNING])


def name_faults(
    folder: PhaseFolder, beside: Callable[[], Iterable[PhaseFolder]]
) -> tuple[str, ...]:
    """Return plans whose names are ambiguous or unusable, with a better name for each.

    Branch, gate and ledger are named after the plan. A name that begins with the phase number is
    unique; any other name may occur in another phase, too.
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
            why = "git does not allow a branch of this name"
        elif plan.id.casefold() in there:
            why = f"another phase has a plan called {plan.id} as well"
        else:
            continue
        faults.append(f"{plan.path}: {why}; call it {next(free)}-PLAN.md")
    return tuple(faults)


def cannot_fail(line: str) -> bool:
    """Whether a command always succeeds, so that it proves nothing."""
    return bool(_NO_CHECK.match(line.strip()))


def _plan_faults(plan: PlanDocument) -> Iterator[PlanFinding]:
    if plan.check == "failed":
        phase = plan.id.rpartition("-")[0].lstrip("0") or "N"
        again = f"plan it again: fairlead phase plan {phase} --replan"
        yield PlanFinding(Severity.ERROR, f"the plan failed its check; {again}", 1)
    if plan.check == "accepted":
        yield PlanFinding(Severity.WARNING, "its check found blockers, and a person accepted it", 1)
    if not plan.tasks:
        why = "its tasks are headings, which cannot be executed" if plan.task_count else "no tasks"
        yield PlanFinding(Severity.ERROR, f"the plan cannot be executed: {why}", 1)
    if plan.kind not in ("execute", "tdd"):
        yield PlanFinding(Severity.WARNING, f"type {plan.kind!r} is read as execute", 1)
    if plan.has_checkpoints and plan.autonomous:
        line = next(task.line for task in plan.tasks if task.kind.is_checkpoint)
        yield PlanFinding(Severity.ERROR, "a checkpoint in a plan that says autonomous: true", line)
    if plan.wave is not None and plan.wave > 1 and not plan.depends_on:
        yield PlanFinding(Severity.WARNING, f"wave {plan.wave} without depends_on", 1)
    if len(plan.tasks) > MAX_TASKS:
        yield PlanFinding(Severity.WARNING, f"{len(plan.tasks)} tasks; use at most {MAX_TASKS}", 1)
    if len(plan.files) > MAX_FILES:
        yield PlanFinding(Severity.WARNING, f"{len(plan.files)} files; use at most {MAX_FILES}", 1)
    if plan.tasks and not plan.files and not any(task.files for task in plan.tasks):
        yield PlanFinding(Severity.WARNING, "no file is declared, so every change is undeclared", 1)


def _task_faults(task: Task, before: Task | None) -> Iterator[tuple[Severity, str]]:
    name = f"task {task.number}"
    if not task.name:
        yield Severity.ERROR, f"{name} has no name"
    if not task.action:
        yield Severity.ERROR, f"{name} has no action"
    missing = [part for part in ("files", "verify", "done") if not getattr(task, part)]
    if missing:
        yield Severity.WARNING, f"{name} has no {', no '.join(missing)}"
    if task.verify and cannot_fail(task.verify):
        yield Severity.WARNING, f"the verify command of {name} cannot fail: {task.verify[:60]}"
    if task.verify.upper().startswith("MISSING"):
        yield Severity.ERROR, f"the verify command of {name} is missing"
    one_way = re.search(r"<reversibility\s+rating\s*=\s*[\"']one-way", task.source)
    if one_way and (before is None or before.kind is not TaskKind.DECISION):
        yield Severity.WARNING, f"{name} is irreversible and no decision comes before it"


def _checkpoint_faults(task: Task) -> Iterator[tuple[Severity, str]]:
    missing = [tag for tag in _CHECKPOINT_PARTS[task.kind] if not task.part(tag)]
    if missing:
        yield Severity.ERROR, f"{task.kind} has no {', no '.join(missing)}"


def _contradictions(plan: PlanDocument, task: Task) -> Iterator[tuple[Severity, str]]:
    """Yield contradictions: the verify command forbids a text that the plan requires."""
    for one, other in _ABSENCE_CHECK.findall(task.verify):
        text = one or other
        if any(text == artifact.contains for artifact in plan.must_haves.artifacts):
            yield Severity.ERROR, f"verify forbids {text!r}, must_haves require it"
        elif any(f'contains "{text}"' in criterion for criterion in task.criteria):
            yield Severity.ERROR, f"verify forbids {text!r}, the criteria require it"


_GIT_PATH = "git keeps its own files there and commits none of them; declare another path"
_OUTSIDE = "it is outside the project; use a path relative to the project folder"
_PLANNING_PATH = (
    f"what lies below {layout.PLANNING} never reaches the project; declare another path"
)


def unlandable_files(plans: Iterable[PlanDocument], workspace: Workspace) -> tuple[str, ...]:
    """Return the declared files that could not reach the project, each with plan and reason."""
    places = [(plan, *each) for plan in plans for each in declared_files(plan).items()]
    asked = {path for _, path, _ in places if not _path_fault(path)}
    ignored = workspace.ignored(sorted(asked)) if asked else {}
    faults = []
    for plan, path, line in places:
        why = _path_fault(path)
        if path in ignored:
            why = f"{ignored[path]}; declare another path, or change .gitignore"
        faults += [f"{plan.path}:{line}: {path} could not land: {why}"] if why else []
    return tuple(faults)


def declared_files(plan: PlanDocument) -> dict[str, int]:
    """Return the files of a plan, each with the line of the task that declares it."""
    found = dict.fromkeys(map(normal_path, plan.files), 1)
    for task in reversed(plan.tasks):
        found.update(dict.fromkeys(map(normal_path, task.files), task.line))
    return {path: line for path, line in found.items() if path not in ("", "/")}


def _path_fault(path: str) -> str:
    """Return why a path cannot be declared; empty if it can."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and not parts:
            return _OUTSIDE
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if path.startswith(("/", "~")):
        return _OUTSIDE
    if any(part.casefold() == ".git" for part in parts):
        return _GIT_PATH
    return _PLANNING_PATH if parts[:1] == [layout.PLANNING] else ""
