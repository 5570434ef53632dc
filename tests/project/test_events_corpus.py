"""Events on the STATE.md files of real projects: no line that a person wrote is lost."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.core.errors import FairleadError
from fairlead.project.derive.inventory import Inventory
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.scan import scan
from fairlead.project.state import edits
from fairlead.project.state.activity import displaced_lines
from fairlead.project.state.archive import pruned
from fairlead.project.state.documents import add_blocker, resolve_blocker
from fairlead.project.state.edits import TaskOutcome, TaskResult, task_result
from fairlead.project.state.metrics import Metric, Recorded, record_metric
from fairlead.project.state.session import Stop, paused, record_session
from fairlead.project.status_words import is_default
from fairlead.text.document import Document
from tests.conftest import Sample
from tests.support.corpus import corpus_projects
from tests.support.times import NOON

Event = Callable[[Document, Position, Inventory], Document]

# Lines whose value a command owns: it follows from the files, or the event is about it.
_DERIVED = re.compile(
    r"\s*(?:- |\*\*|\| )*(?:phase|plan|current phase|current phase name|current plan|"
    r"total plans in phase|progress|total plans completed|average duration|"
    r"total execution time|last 5 plans|trend|last session|last date|stopped at|resume file|"
    r"current focus)\b",
    re.IGNORECASE,
)
_FRONT = re.compile(r"\s*[\w-]+:")


def first_phase(position: Position, *, planned: bool = True) -> str:
    for phase in position.scope.phases:
        if not planned or (phase.folder and phase.folder.live_plans):
            return phase.id.short
    return "1"


EVENTS: dict[str, Event] = {
    "planning": lambda state, position, _: edits.planning_started(
        state, position, first_phase(position), NOON
    ),
    "plans-ready": lambda state, position, _: edits.plans_ready(
        state, position, first_phase(position), NOON
    ),
    "begin": lambda state, position, _: edits.execution_started(
        state, position, first_phase(position), NOON
    ),
    "advance": lambda state, position, _: edits.plan_completed(state, position, "", NOON),
    "complete": lambda state, position, _: edits.phase_completed(
        state, position, first_phase(position), NOON
    ),
    "sync": lambda state, position, _: edits.synced(state, position, NOON),
    "success": lambda state, position, _: task_result(
        state, TaskResult("Task 1", TaskOutcome.SUCCESS), position, NOON
    ),
    "failure": lambda state, position, _: task_result(
        state, TaskResult("Task 1", TaskOutcome.FAILURE, reason="boom"), position, NOON
    ),
    "blocker": lambda state, _, __: add_blocker(state, "A new blocker", NOON),
    "resolved": lambda state, _, __: resolve_blocker(
        add_blocker(state, "A new blocker", NOON), "A new blocker", NOON
    ),
    "metric": lambda state, position, all_: record_metric(
        state, Metric(first_phase(position), "1", "12m"), Recorded(position, all_), NOON
    ),
    "session": lambda state, _, __: record_session(state, Stop("here"), NOON),
    "paused": lambda state, _, __: paused(state, "here", NOON),
}


def lost(before: str, after: Document, kept: str) -> list[str]:
    """The lines that are gone and were not a command's to change."""
    kept_lines = set(after.text.splitlines())
    document = Document(before)
    front = document.block.body if document.block else 0
    gone = []
    for line in document.lines:
        text = line.text
        if text.splitlines() == [] or text in kept_lines or text.strip("- ").strip() in kept:
            continue
        if line.start < front and _FRONT.match(text):
            continue
        value = text.partition(":")[2].strip(" *")
        if _DERIVED.match(text) or ("tatus" in text and is_default(value)):
            continue
        if re.match(r"(?:\*\*)?Last activity", text, re.IGNORECASE) or "None" in text:
            continue
        if re.match(r"\|.*\|$", text.strip()):
            continue
        gone.append(text)
    return gone


@pytest.mark.parametrize("name", EVENTS)
def test_no_event_loses_a_line_of_a_real_project(name: str, sample: Sample) -> None:
    faults = []
    projects = corpus_projects()
    for project in sample(projects, len(projects) // 3):
        faults += _faults(project, EVENTS[name])

    assert faults == []


def _faults(project: Path, event: Event) -> list[str]:
    try:
        text = (project / ".planning" / "STATE.md").read_bytes().decode()
        inventory = scan(str(project))
        after = event(Document(text), position_of(inventory), inventory)
    except (OSError, UnicodeDecodeError, FairleadError):
        return []  # not there, not writable, or refused: nothing was changed
    kept = "\n".join(displaced_lines(Document(text), after))
    return [f"{project.name}: {line[:120]}" for line in lost(text, after, kept)]


def test_pruning_a_real_project_keeps_every_line_somewhere() -> None:
    for project in corpus_projects():
        try:
            text = (project / ".planning" / "STATE.md").read_bytes().decode()
            cut = pruned(Document(text), NOON)
        except (OSError, UnicodeDecodeError, FairleadError):
            continue
        archive = "\n".join(entry for entries in cut.moved.values() for entry in entries)
        kept_lines = set(cut.document.text.splitlines()) | set(archive.splitlines())
        gone = [
            line
            for line in text.splitlines()
            if line not in kept_lines and line.strip() not in kept_lines
        ]
        assert [line for line in gone if not line.startswith("last_updated")] == [], project.name
