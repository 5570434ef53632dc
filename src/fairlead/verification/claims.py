"""Rules for summaries that claim too much: files, commits, tasks, their own self-check.

Pure: `RepositoryFacts` answers what exists on disk and in git.
"""

import re
from collections.abc import Iterator

from fairlead.core.patterns import lazy_pattern
from fairlead.plans.model import PlanDocument
from fairlead.plans.tasks import task_number
from fairlead.project.summary import Summary, fault_of, read_summary
from fairlead.verification.model import RepositoryFacts, RuleFinding

_LISTED_PATH = lazy_pattern(r"^\s*(?:[-*]|\d+\.)\s+(?:\*\*)?`([^`\n]+)`")
_PATH = lazy_pattern(
    r"(?![/~.]*/)[\w@.()\[\]-]+(?:/[\w@.()\[\]-]+)*\.[A-Za-z][\w]{0,9}\Z|(?:[\w@.-]+/)+[\w@.-]+\Z"
)
_FILES_HEAD = lazy_pattern(
    r"^#+\s+.*\bfiles?\b.*(?:created|modified|changed)|^#+\s+(?:key )?files\b", re.IGNORECASE
)
_COMMIT = lazy_pattern(r"`([0-9a-f]{7,40})`")
_COMMITS_HEAD = lazy_pattern(r"^#+\s+.*\bcommits?\b", re.IGNORECASE)
_TASKS = lazy_pattern(
    r"\btasks?\b\W{1,4}(\d{1,3})\s*(?:/|of)\s*(\d{1,3})\b|\b(\d{1,3})\s*(?:/|of)\s*(\d{1,3})\s+tasks?\b",
    re.IGNORECASE,
)


Fault = tuple[str, int, str, str, str]  # rule, line, why, cure, subject


def findings_of(
    path: str, text: str, plan: PlanDocument, repository: RepositoryFacts
) -> list[RuleFinding]:
    """Return every claim of a summary that is wrong."""
    summary = read_summary(text)
    faults = [
        *_status_faults(text, summary, plan),
        *_task_faults(text, summary, plan),
        *_file_faults(text, summary, plan, repository),
        *_commit_faults(text, summary, plan, repository),
    ]
    findings = [
        RuleFinding(rule, path, line, why, cure, subject, plan=plan.id)
        for rule, line, why, cure, subject in faults
    ]
    return list({finding.key: finding for finding in findings}.values())


def _status_faults(text: str, summary: Summary, plan: PlanDocument) -> Iterator[Fault]:
    if fault := fault_of(text, plan.id):
        yield "summary-fault", 1, f"the summary {fault}", "finish the plan and its summary", ""
    if summary.status not in ("complete", "completed", "done", "passed"):
        yield "summary-fault", 1, f"the summary says {summary.status}", "finish the plan", ""


def _task_faults(text: str, summary: Summary, plan: PlanDocument) -> Iterator[Fault]:
    rule = "summary-tasks"
    if plan.task_count and summary.actuals.tasks > plan.task_count:
        why = f"it claims {summary.actuals.tasks} tasks, the plan has {plan.task_count}"
        yield rule, 1, why, "correct the number of tasks", ""
    for at, line in _prose(text):
        if match := _TASKS.search(line):
            done, total = (int(number) for number in match.groups() if number)
            if done < total:
                why = f"it says that {done} of {total} tasks are done"
                yield rule, at, why, "finish the other tasks", ""
    if not plan.tasks or len(summary.commits) <= len(plan.tasks):
        return
    numbers = {task.number for task in plan.tasks} | {task_number(task.name) for task in plan.tasks}
    for name, _ in summary.commits:
        number = task_number(name)
        if number is not None and number not in numbers:
            why = f"it reports {name}, which the plan does not have"
            yield rule, 1, why, "describe the tasks of the plan", name


def _file_faults(
    text: str, summary: Summary, plan: PlanDocument, repository: RepositoryFacts
) -> Iterator[Fault]:
    lines = dict.fromkeys((*summary.created, *summary.modified), 1)
    for at, line in _section(text, _FILES_HEAD):
        match = _LISTED_PATH.match(line)
        if match and not re.search(r"delet|remov|renam", line, re.IGNORECASE):
            if _PATH.match(match[1].strip()):
                lines.setdefault(match[1].strip(), at)
    for name, at in lines.items():
        path = name.split(" ")[0].strip("`").removeprefix("./").rstrip("/")
        if not _PATH.match(path) or set("*{}<>") & set(path) or path in plan.deleted:
            continue
        if not repository.has_file(path):
            why = f"it names {path}, which does not exist"
            yield "summary-file", at, why, "create it, or correct the summary", path
        elif not repository.is_committed(path):
            yield "not-committed", at, f"it names {path}, which is in no commit", "commit it", path


def _commit_faults(
    text: str, summary: Summary, plan: PlanDocument, repository: RepositoryFacts
) -> Iterator[Fault]:
    if repository.has_commit is None:
        return
    rule, cure = "summary-commit", "name the commits that contain the work"
    lines = {commit: 1 for _, commit in summary.commits if commit != "-"}
    for at, line in _section(text, _COMMITS_HEAD):
        lines |= {commit: at for commit in _COMMIT.findall(line) if not commit.isdigit()}
    missing = [commit for commit in lines if not repository.has_commit(commit)]
    for commit in missing:
        yield rule, lines[commit], f"commit {commit} does not exist", cure, commit
    declared = {
        path.removeprefix("./")
        for path in (*plan.files, *(path for task in plan.tasks for path in task.files))
    }
    if lines and declared and not missing:
        touched = frozenset(path for commit in lines for path in repository.files_of_commit(commit))
        if touched and not any(_meets(path, touched) for path in declared):
            why = f"none of its commits touches a file of the plan: {', '.join([*lines][:3])}"
            yield rule, 1, why, cure, "elsewhere"


def _meets(path: str, touched: frozenset[str]) -> bool:
    if "*" in path or path.endswith("/"):
        prefix = path.partition("*")[0]
        return any(name.startswith(prefix) for name in touched)
    return path in touched or any(name.startswith(f"{path}/") for name in touched)


def _prose(text: str) -> Iterator[tuple[int, str]]:
    is_fenced = False
    for at, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield at, line


def _section(text: str, head: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    is_inside = False
    for at, line in _prose(text):
        if line.startswith("#"):
            is_inside = bool(head.match(line))
        elif is_inside:
            yield at, line
