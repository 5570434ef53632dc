"""Events on the STATE.md files of real projects: no line that a person wrote is lost."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.errors import FairleadError
from fairlead.model.inventory import Inventory
from fairlead.model.standing import Standing, standing_of
from fairlead.model.status import is_default
from fairlead.records import events
from fairlead.records.activity import displaced
from fairlead.records.blockers import add_blocker, resolve_blocker
from fairlead.records.metrics import Metric, record_metric
from fairlead.records.prune import pruned
from fairlead.records.session import Stop, paused, record_session
from fairlead.records.tasks import Outcome, TaskResult, task_result
from fairlead.store.scan import scan
from fairlead.text.document import Document
from tests.support.corpus import corpus_projects
from tests.support.moments import NOON

Event = Callable[[Document, Standing, Inventory], Document]

# Lines whose value a command owns: it follows from the files, or the event is about it.
_DERIVED = re.compile(
    r"\s*(?:- |\*\*|\| )*(?:phase|plan|current phase|current phase name|current plan|"
    r"total plans in phase|progress|total plans completed|average duration|"
    r"total execution time|last 5 plans|trend|last session|last date|stopped at|resume file|"
    r"current focus)\b",
    re.IGNORECASE,
)
_FRONT = re.compile(r"\s*[\w-]+:")


def first_phase(standing: Standing, *, planned: bool = True) -> str:
    for phase in standing.scope.phases:
        if not planned or (phase.folder and phase.folder.live_plans):
            return phase.id.short
    return "1"


EVENTS: dict[str, Event] = {
    "planning": lambda held, at, _: events.planning_started(held, at, first_phase(at), NOON),
    "plans-ready": lambda held, at, _: events.plans_ready(held, at, first_phase(at), NOON),
    "begin": lambda held, at, _: events.execution_started(held, at, first_phase(at), NOON),
    "advance": lambda held, at, _: events.plan_completed(held, at, "", NOON),
    "complete": lambda held, at, _: events.phase_completed(held, at, first_phase(at), NOON),
    "sync": lambda held, at, _: events.synced(held, at, NOON),
    "success": lambda held, at, _: task_result(
        held, TaskResult("Task 1", Outcome.SUCCESS), at, NOON
    ),
    "failure": lambda held, at, _: task_result(
        held, TaskResult("Task 1", Outcome.FAILURE, reason="boom"), at, NOON
    ),
    "blocker": lambda held, _, __: add_blocker(held, "A new blocker", NOON),
    "resolved": lambda held, _, __: resolve_blocker(
        add_blocker(held, "A new blocker", NOON), "A new blocker", NOON
    ),
    "metric": lambda held, at, all_: record_metric(
        held, Metric(first_phase(at), "1", "12m"), at, all_, NOON
    ),
    "session": lambda held, _, __: record_session(held, Stop("here"), NOON),
    "paused": lambda held, _, __: paused(held, "here", NOON),
}


def lost(before: str, after: Document, kept: str) -> list[str]:
    """The lines that are gone and were not a command's to change."""
    held = set(after.text.splitlines())
    document = Document(before)
    front = document.block.body if document.block else 0
    gone = []
    for line in document.lines:
        text = line.text
        if text.splitlines() == [] or text in held or text.strip("- ").strip() in kept:
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
def test_no_event_loses_a_line_of_a_real_project(name: str) -> None:
    faults = []
    for project in corpus_projects():
        faults += _faults(project, EVENTS[name])

    assert faults == []


def _faults(project: Path, event: Event) -> list[str]:
    try:
        text = (project / ".planning" / "STATE.md").read_bytes().decode()
        inventory = scan(str(project))
        after = event(Document(text), standing_of(inventory), inventory)
    except (OSError, UnicodeDecodeError, FairleadError):
        return []  # not there, not writable, or refused: nothing was changed
    kept = "\n".join(displaced(Document(text), after))
    return [f"{project.name}: {line[:120]}" for line in lost(text, after, kept)]


def test_pruning_a_real_project_keeps_every_line_somewhere() -> None:
    for project in corpus_projects():
        try:
            text = (project / ".planning" / "STATE.md").read_bytes().decode()
            cut = pruned(Document(text), NOON)
        except (OSError, UnicodeDecodeError, FairleadError):
            continue
        archive = "\n".join(entry for entries in cut.moved.values() for entry in entries)
        held = set(cut.document.text.splitlines()) | set(archive.splitlines())
        gone = [line for line in text.splitlines() if line not in held and line.strip() not in held]
        assert [line for line in gone if not line.startswith("last_updated")] == [], project.name
