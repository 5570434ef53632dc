"""The first version of every document of a new project, and the line for .gitattributes.

A template has `{{name}}` placeholders. Every value from a person passes through `one_line`, so a
title can never become a heading, a key or a table cell.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from fairlead.core.ids import PhaseId, slug
from fairlead.core.values import dataclass
from fairlead.project.paths import ATTRIBUTES, PHASES
from fairlead.project.roadmap.edit import NewPhase, details_of
from fairlead.project.templates import template
from fairlead.store import layout
from fairlead.text.inline import one_line, plain_text, table_cell
from fairlead.text.lines import common_ending, split_lines
from fairlead.text.yaml_emit import scalar_text

_UNDECIDED = "Not decided yet."


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a person enters for a new project."""

    title: str
    dialect: str = "gsd"
    first_phase: str = ""  # empty: the roadmap begins without phases
    core_value: str = ""
    is_merged: bool = False  # register the merge driver in .gitattributes

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of a new project."""
        if not self.first_phase:
            return (PHASES,)
        name = slug(self.first_phase) or "phase"
        return (PHASES, f"{PHASES}/01-{name}")


def first_documents(project: NewProject, now: datetime) -> dict[str, str]:
    """Every document of the new project, by path."""
    values = values_of(project, now)
    attributes = {ATTRIBUTES: with_merge_driver("")} if project.is_merged else {}
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
    """Fill a template in one pass, so a value that looks like a placeholder stays as it is."""
    text, *parts = template(name).split("{{")
    for part in parts:
        key, _, rest = part.partition("}}")
        text += values[key] + rest
    return text


def values_of(project: NewProject, now: datetime) -> dict[str, str]:
    """The values of the placeholders."""
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


DRIVER = "fairlead"
ATTRIBUTES_LINE = f"*.md merge={DRIVER}"
# git runs this in its shell. If the command is missing or refuses, git's own text merge follows;
# without it git would keep our side as if theirs did not exist.
_DRIVER_ATTRIBUTES_LINE = (
    "fairlead merge-driver %O %A %B %P; code=$?; [ $code -le 1 ] && exit $code; "
    "git merge-file -L ours -L base -L theirs %A %O %B"
)
GIT_COMMANDS = (
    f"git config merge.{DRIVER}.name 'planning documents, merged entry by entry'",
    f"git config merge.{DRIVER}.driver '{_DRIVER_ATTRIBUTES_LINE}'",
)


def with_merge_driver(text: str) -> str:
    """The file with our line, unless it has it already."""
    if any(line.split() == ATTRIBUTES_LINE.split() for line in split_lines(text)):
        return text
    ending = common_ending(text)
    above = text if not text or text.endswith(("\n", "\r")) else text + ending
    return above + ATTRIBUTES_LINE + ending
