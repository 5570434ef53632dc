"""The first version of every document of a new project.

A template is text with `{{name}}` places; every value that came from a person passes through
`one_line`, so that a title can never become a heading, a key or a table cell.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from fairlead.model.ids import PhaseId, slug
from fairlead.records.attributes import registered
from fairlead.records.roadmap_edit import NewPhase, details_of
from fairlead.store import layout
from fairlead.store.templates import template
from fairlead.text.emit import scalar_text
from fairlead.text.inline import one_line, plain_text, table_cell
from fairlead.values import dataclass

_UNDECIDED = "Not decided yet."


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a person says of a project at its beginning."""

    title: str
    dialect: str = "gsd"
    first_phase: str = ""  # empty: the roadmap begins without phases
    core_value: str = ""
    is_merged: bool = False  # git is told that our driver merges the documents

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that the project begins with."""
        if not self.first_phase:
            return (layout.PHASES,)
        name = slug(self.first_phase) or "phase"
        return (layout.PHASES, f"{layout.PHASES}/01-{name}")


def first_documents(project: NewProject, now: datetime) -> dict[str, str]:
    """Every document of the new project, by path."""
    values = values_of(project, now)
    attributes = {layout.ATTRIBUTES: registered("")} if project.is_merged else {}
    return {
        **attributes,
        layout.PROJECT: filled("PROJECT.md", values),
        layout.REQUIREMENTS: filled("REQUIREMENTS.md", values),
        layout.ROADMAP: filled("ROADMAP.md", values),
        layout.CONFIG: filled("config.json", values),
        layout.STATE: filled(f"STATE.{project.dialect}.md", values),
    }


def fresh_requirements(title: str, core_value: str, now: datetime) -> str:
    """The requirements of a new milestone."""
    values = values_of(NewProject(title or "Project", core_value=core_value), now)
    return filled("REQUIREMENTS.md", values)


def roadmap_with(title: str, phases: Sequence[NewPhase]) -> str:
    """A roadmap that lists these phases."""
    return filled("ROADMAP.md", {"title": one_line(title, "the title"), **_roadmap_values(phases)})


def filled(name: str, values: Mapping[str, str]) -> str:
    """One pass over the template: a value that looks like a place is not filled again."""
    head, *places = template(name).split("{{")
    filled = head
    for place in places:
        key, _, rest = place.partition("}}")
        filled += values[key] + rest
    return filled


def values_of(project: NewProject, now: datetime) -> dict[str, str]:
    """What the places of the templates are filled with."""
    title = one_line(project.title, "the title")
    phase = one_line(project.first_phase, "the name of the phase") if project.first_phase else ""
    return {
        "title": title,
        "title:yaml": scalar_text(plain_text(title)),
        "core_value": one_line(project.core_value, "the core value")
        if project.core_value
        else _UNDECIDED,
        "today": now.strftime("%Y-%m-%d"),
        "now": now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z",
        "total_phases": "1" if phase else "0",
        "next_action": "discuss-phase" if phase else "null",
        "next_phases": '["1"]' if phase else "null",
        "focus": f"Phase 1 — {phase}" if phase else "Roadmap",
        "position": f"1 of 1 ({phase})" if phase else "Not started",
        "status": "Ready to plan" if phase else "Planning",
        **_roadmap_values([NewPhase(PhaseId.parse("1"), phase)] if phase else []),
    }


def _roadmap_values(phases: Sequence[NewPhase]) -> dict[str, str]:
    if not phases:
        return {"phase_list": "No phases yet.", "phase_details": "No phases yet.", "phase_rows": ""}
    return {
        "phase_list": "\n".join(
            f"- [ ] **Phase {each.id.short}: {each.title}** - {each.purpose}" for each in phases
        ),
        "phase_details": "\n\n".join("\n".join(details_of(each)) for each in phases),
        "phase_rows": "".join(
            f"| {each.id.short}. {table_cell(each.title)} | 0/TBD | Not started | - |\n"
            for each in phases
        ),
    }
