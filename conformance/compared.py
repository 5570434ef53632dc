"""The compared values: one of ours and one of the reference tool's for each question.

Numbers are derived under both completion policies: the reference tool's (a phase is complete when
its verification passed) and the older one (when every plan has its summary), independent of the
project's own policy, so that only real differences show.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.counted import text_of
from conformance.lines import Ask
from fairlead.core.errors import MalformedId
from fairlead.core.ids import PhaseId
from fairlead.interfaces.statusline.line import line_of
from fairlead.project.derive.inventory import Completion, Inventory
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.scan import scan
from fairlead.project.state.recorded import body_field, phase_in
from fairlead.text.document import Document

Value = int | str | None | tuple[str, ...]
_CURRENT = ("planned", "partial")
_NEXT = ("empty", "no_directory", "discussed", "researched")
_SAID = '{"model": {"display_name": "Model"}, "workspace": {"current_dir": "%s"}}'


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question and both answers."""

    field: str
    ours: Value
    theirs: Value

    @property
    def is_equal(self) -> bool:
        """Whether both answers agree."""
        return self.ours == self.theirs


@dataclass(frozen=True, slots=True)
class Tree:
    """A project as both tools see it."""

    folder: Path
    inventory: Inventory
    position: Position
    state_text: str
    roadmap_text: str
    theirs: dict[str, Any]
    ask_line: Ask  # the other tool's line for another STATE.md in the same place

    def answer(self, command: str, *keys: str) -> Any:
        """A value of one of the other tool's answers; None if there is none."""
        value: Any = self.theirs.get(command)
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value


def look(folder: Path, theirs: dict[str, Any], ask_line: Ask = lambda _: "") -> Tree:
    """Read a project with our own code."""
    inventory = replace(scan(str(folder)), policy=Completion.VERIFIED)
    state = text_of(folder / ".planning" / "STATE.md")
    return Tree(
        folder,
        inventory,
        position_of(inventory),
        state,
        text_of(folder / ".planning" / "ROADMAP.md"),
        theirs,
        ask_line,
    )


def comparisons(tree: Tree) -> list[Comparison]:
    """Every question with both answers."""
    ours, progress = tree.position, tree.position.progress
    summarised = position_of(replace(tree.inventory, policy=Completion.SUMMARISED)).progress
    answer = tree.answer
    rows = [
        Comparison("plans", progress.total_plans, answer("progress", "total_plans")),
        Comparison(
            "plans completed", progress.completed_plans, answer("progress", "total_summaries")
        ),
        Comparison(
            "plans percent",
            plans_percent(progress.completed_plans, progress.total_plans),
            answer("progress", "percent"),
        ),
        Comparison("phases", progress.total_phases, answer("stats", "phases_total")),
        Comparison(
            "phases completed", progress.completed_phases, answer("stats", "phases_completed")
        ),
        Comparison("phases summarised", summarised.completed_phases, len(summarised_there(tree))),
        Comparison("percent", progress.percent, _number(answer("state", "progress", "percent"))),
        Comparison("position", _position(tree), key_of(answer("state", "current_phase"))),
        Comparison(
            "current phase", _first(ours, _CURRENT), key_of(answer("roadmap", "current_phase"))
        ),
        Comparison("next phase", _first(ours, _NEXT), key_of(answer("roadmap", "next_phase"))),
        Comparison(
            "folders", our_folders(tree), tuple(sorted(answer("phases", "directories") or ()))
        ),
        Comparison("roadmap", our_roadmap(tree), _roadmap(tree)),
        Comparison("line", our_line(tree.folder), answer("line")),
    ]
    listed = {key_of(each.get("number")): each for each in answer("roadmap", "phases") or ()}
    for phase in ours.scope.phases:
        theirs = listed.get(phase.id.short)
        if theirs is None or phase.listed is None:
            continue
        plans = phase.folder.live_plans if phase.folder else ()
        done = sum(plan.is_complete for plan in plans)
        name = f"phase {phase.id.short}"
        rows += [
            Comparison(f"{name} plans", len(plans), theirs.get("plan_count")),
            Comparison(f"{name} summaries", done, theirs.get("summary_count")),
            Comparison(f"{name} stage", _stage(phase.stage.value), theirs.get("disk_status")),
        ]
    return rows


def wrong_answers(each: Comparison) -> list[Comparison]:
    """Our answer changed by one, unless that equals the other tool's answer."""
    ours = each.ours
    wrong: list[Value] = []
    if isinstance(ours, int):
        wrong = [ours + 1, ours - 1]
    elif isinstance(ours, tuple):
        wrong = [(*ours, "77"), ours[1:]] if ours else [("77",)]
    elif each.field.endswith(" stage"):
        wrong = [*{"planned", "partial", "complete", "empty"} - {ours}]
    else:
        wrong = ["77" if ours is None else f"{ours}7", None]
    return [replace(each, ours=value) for value in wrong if value not in (each.theirs, ours)]


def key_of(value: object) -> str | None:
    """A phase number without leading zeros and project code; None if there is none."""
    if value is None:
        return None
    try:
        return PhaseId.parse(str(value)).short
    except MalformedId:
        return str(value)


def our_folders(tree: Tree) -> tuple[str, ...]:
    """The folders of the phases in scope."""
    scope = tree.position.scope
    folders = [phase.folder for phase in scope.phases if phase.folder and not scope.is_archived]
    return tuple(sorted(folder.path.rpartition("/")[2] for folder in folders))


def our_roadmap(tree: Tree) -> tuple[str, ...]:
    """The phases in scope that the roadmap lists."""
    return tuple(phase.id.short for phase in tree.position.scope.phases if phase.listed)


def our_line(folder: Path) -> str:
    """Our status line for a project, without context around it."""
    return line_of(_SAID % folder, "/", {"HOME": "/nonexistent"})


def summarised_there(tree: Tree) -> set[str]:
    """The phases in which, by the other tool's scan, every plan has a summary."""
    known = tree.answer("folders") or {}
    names = [name for name in tree.answer("phases", "directories") or () if name in known]
    return {str(key_of(known[name]["key"])) for name in names if known[name]["has_all_summaries"]}


def plans_percent(done: int, total: int) -> int:
    """The percentage of plans, rounded half up; 0 if there are none."""
    return (200 * done + total) // (2 * total) if total else 0


def _roadmap(tree: Tree) -> tuple[str, ...]:
    numbers = [each.get("number") for each in tree.answer("roadmap", "phases") or ()]
    known = [PhaseId.parse(str(number)) for number in numbers if _is_phase(number)]
    return tuple(phase.short for phase in sorted(known))


def _is_phase(number: object) -> bool:
    try:
        PhaseId.parse(str(number))
    except MalformedId:
        return False
    return True


def _position(tree: Tree) -> str | None:
    """The phase that STATE.md names; its frontmatter comes first, as in the other tool."""
    document = Document(tree.state_text)
    fields = [body_field(document, name) for name in ("Phase", "Current Phase")]
    said = [document.shown_front.get("current_phase"), *(each.value for each in fields if each)]
    named = [phase for each in said if (phase := phase_in(str(each)))]
    return named[0].short if named else None


def _first(position: Position, stages: tuple[str, ...]) -> str | None:
    """The first listed phase at one of these stages: the other tool's current and next phase."""
    for phase in position.scope.phases:
        if phase.listed and _stage(phase.stage.value) in stages:
            return phase.id.short
    return None


def _stage(stage: str) -> str:
    """A stage in the other tool's terms: without verification it is `partial` there."""
    return {"verified": "complete", "complete": "partial"}.get(stage, stage)


def _number(value: object) -> int | None:
    return int(float(str(value))) if value is not None else None


def percent_of(numbers: Iterable[int], *, is_strict: bool = False) -> int:
    """The smaller ratio; a ratio of nothing is 0 if `is_strict`, and 100 otherwise."""
    done, plans, completed, phases = numbers
    parts = [(done, plans), (completed, phases)]
    if is_strict:
        is_all = 0 < plans == done and 0 < phases == completed
        return 100 if is_all else min(99, *(plans_percent(*part) for part in parts))
    return min(100, *(plans_percent(*part) for part in parts if part[1]), 100)
