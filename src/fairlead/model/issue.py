"""An issue that stands for a module: its title, its text, its labels, and its marker.

The marker is the first line of the text and names plan and module exactly, so that an issue
which a killed approval left behind is found again. Only the first line counts: whatever a person
wrote into a criterion stands below it and can never be taken for the marker of another module.
"""

import json
from collections.abc import Iterable

from fairlead.values import dataclass

_MARK = "<!-- fairlead "
_LONGEST_TITLE = 256  # that GitHub takes


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue to be made."""

    title: str
    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeIssue:
    """An issue that was made, and what had to be left out."""

    number: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What an issue is about."""

    plan: str
    module: str
    name: str
    priority: str
    criteria: str
    requirements: str  # the file that the plan keeps its requirements in


def marker_of(plan: str, module: str) -> str:
    """The line by which the issue of a module is known."""
    return f"{_MARK}{json.dumps({'plan': plan, 'module': module})} -->"


def marker_in(text: str) -> str:
    """The marker of an issue's text; empty if it has none."""
    first = text.partition("\n")[0].rstrip("\r ")
    return first if first.startswith(_MARK) else ""


def issue_of(subject: Subject) -> Issue:
    """The issue that stands for a module."""
    name = " ".join(subject.name.split())
    lines = (
        marker_of(subject.plan, subject.module),
        f"## Module: {name}",
        "",
        "### Description",
        f"Implementation of the {name} module as part of plan {subject.plan}.",
        "",
        "### Acceptance Criteria",
        *_boxes(subject.criteria),
        "",
        "### Priority",
        subject.priority,
        "",
        "### Related",
        f"- Plan ID: {subject.plan}",
        f"- Module ID: {subject.module}",
        f"- Requirements: {subject.requirements}",
        "",
    )
    labels = ("module", f"priority-{subject.priority}", "status-todo")
    return Issue(f"[Module] {name}"[:_LONGEST_TITLE], "\n".join(lines), labels)


def _boxes(criteria: str) -> Iterable[str]:
    """One box for the criterion; further lines of it stay inside its item."""
    first, *rest = criteria.splitlines() or [""]
    return (f"- [ ] {first}", *(f"  {line}".rstrip() for line in rest))
