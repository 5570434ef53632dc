"""Rules for summaries that say more than there is: files, commits, tasks, their own self-check.

Nothing here looks at the disk or at git: what exists is told by the caller.
"""

import re
from collections.abc import Callable, Iterator

from fairlead.model.plan import PlanSheet
from fairlead.model.verification import Finding
from fairlead.records.plan_tasks import task_number
from fairlead.records.summary import Summary, fault_of, read_summary
from fairlead.values import dataclass

_LISTED = re.compile(r"^\s*(?:[-*]|\d+\.)\s+(?:\*\*)?`([^`\n]+)`")
_PATH = re.compile(
    r"(?![/~.]*/)[\w@.()\[\]-]+(?:/[\w@.()\[\]-]+)*\.[A-Za-z][\w]{0,9}\Z|(?:[\w@.-]+/)+[\w@.-]+\Z"
)
_FILES_HEAD = re.compile(
    r"^#+\s+.*\bfiles?\b.*(?:created|modified|changed)|^#+\s+(?:key )?files\b", re.IGNORECASE
)
_COMMIT = re.compile(r"`([0-9a-f]{7,40})`")
_COMMITS_HEAD = re.compile(r"^#+\s+.*\bcommits?\b", re.IGNORECASE)
_TASKS = re.compile(
    r"\btasks?\b\W{1,4}(\d{1,3})\s*(?:/|of)\s*(\d{1,3})\b|\b(\d{1,3})\s*(?:/|of)\s*(\d{1,3})\s+tasks?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Known:
    """What there is."""

    has_file: Callable[[str], bool]
    is_kept: Callable[[str], bool]  # a file is part of a commit
    has_commit: Callable[[str], bool] | None  # None: there is no git
    touched: Callable[[str], frozenset[str]]  # what a commit changed


def findings_of(path: str, text: str, sheet: PlanSheet, known: Known) -> list[Finding]:
    """Every claim of a summary that does not hold."""
    summary = read_summary(text)
    found = [
        Finding(rule, path, line, why, cure, subject, plan=sheet.id)
        for rule, line, why, cure, subject in (
            *_own_words(text, summary, sheet),
            *_files(text, summary, sheet, known),
            *(_commits(text, summary, sheet, known) if known.has_commit else ()),
        )
    ]
    return list({each.key: each for each in found}.values())


Row = tuple[str, int, str, str, str]


def _own_words(text: str, summary: Summary, sheet: PlanSheet) -> Iterator[Row]:
    fault = fault_of(text, sheet.id)
    if fault:
        yield (
            "summary-fault",
            1,
            f"the summary {fault}",
            "finish the plan, and write its summary",
            "",
        )
    if summary.status not in ("complete", "completed", "done", "passed"):
        yield "summary-fault", 1, f"the summary says {summary.status}", "finish the plan", ""
    wanted = len([task for task in sheet.tasks if not task.kind.is_checkpoint]) or sheet.task_count
    if wanted and summary.actuals.tasks > sheet.task_count:
        why = f"it claims {summary.actuals.tasks} tasks, the plan has {sheet.task_count}"
        yield "summary-tasks", 1, why, "count the tasks that were done", ""
    for at, line in _prose(text):
        if match := _TASKS.search(line):
            done, total = (int(each) for each in match.groups() if each)
            if done < total:
                yield (
                    "summary-tasks",
                    at,
                    f"it says that {done} of {total} tasks are done",
                    "do the others",
                    "",
                )
    numbers = {task.number for task in sheet.tasks} | {
        task_number(task.name) for task in sheet.tasks
    }
    for name, _ in summary.commits:
        number = task_number(name)
        if (
            sheet.tasks
            and number is not None
            and number not in numbers
            and len(summary.commits) > len(sheet.tasks)
        ):
            yield (
                "summary-tasks",
                1,
                f"it tells of {name}, which the plan does not have",
                "tell what was done",
                name,
            )


def _files(text: str, summary: Summary, sheet: PlanSheet, known: Known) -> Iterator[Row]:
    gone = set(sheet.deleted)
    named = dict.fromkeys((*summary.created, *summary.modified))
    lines = dict.fromkeys(named, 1)
    for at, line in _section(text, _FILES_HEAD):
        match = _LISTED.match(line)
        if (
            match
            and _PATH.match(match[1].strip())
            and not re.search(r"delet|remov|renam", line, re.IGNORECASE)
        ):
            lines.setdefault(match[1].strip(), at)
    for path, at in lines.items():
        plain = path.split(" ")[0].strip("`").removeprefix("./").rstrip("/")
        if (
            not plain
            or plain in gone
            or any(mark in plain for mark in "*{}<>")
            or not _PATH.match(plain)
        ):
            continue
        if not known.has_file(plain):
            yield (
                "summary-file",
                at,
                f"it names {plain}, which does not exist",
                "make it, or say what was made",
                plain,
            )
        elif not known.is_kept(plain):
            yield (
                "not-committed",
                at,
                f"it names {plain}, which is in no commit",
                "commit it",
                plain,
            )


def _commits(text: str, summary: Summary, sheet: PlanSheet, known: Known) -> Iterator[Row]:
    assert known.has_commit is not None
    named = {commit: 1 for _, commit in summary.commits if commit != "-"}
    for at, line in _section(text, _COMMITS_HEAD):
        named |= {each: at for each in _COMMIT.findall(line) if not each.isdigit()}
    real = []
    for commit, at in named.items():
        if known.has_commit(commit):
            real.append(commit)
        else:
            yield (
                "summary-commit",
                at,
                f"commit {commit} does not exist",
                "name the commits that hold the work",
                commit,
            )
    declared = {
        path.removeprefix("./")
        for path in (*sheet.files, *(f for task in sheet.tasks for f in task.files))
    }
    if real and declared and len(real) == len(named):
        touched = frozenset(path for commit in real for path in known.touched(commit))
        if touched and not any(_meets(path, touched) for path in declared):
            why = f"none of its commits touches a file of the plan: {', '.join(real[:3])}"
            yield "summary-commit", 1, why, "name the commits that hold the work", "elsewhere"


def _meets(path: str, touched: frozenset[str]) -> bool:
    if "*" in path or path.endswith("/"):
        lead = path.partition("*")[0]
        return any(each.startswith(lead) for each in touched)
    return path in touched or any(each.startswith(f"{path}/") for each in touched)


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
