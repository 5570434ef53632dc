"""What is compared: one value of ours and one of theirs for each question.

Numbers are derived under the reference tool's completion policy (a phase is complete when its
verification passed), whatever the project's own is, so that only real differences show.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairlead.errors import MalformedId
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Completion, Inventory
from fairlead.model.recorded import Recorded
from fairlead.model.standing import Standing, standing_of
from fairlead.records.recorded import read_recorded
from fairlead.store.scan import scan
from fairlead.text.document import Document

Value = int | str | None | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question and both answers."""

    field: str
    ours: Value
    theirs: Value

    @property
    def is_equal(self) -> bool:
        """Whether both say the same."""
        return self.ours == self.theirs


@dataclass(frozen=True, slots=True)
class Tree:
    """A project as both see it."""

    folder: Path
    inventory: Inventory
    standing: Standing
    recorded: Recorded | None
    state_text: str
    roadmap_text: str
    theirs: dict[str, Any]

    def answer(self, command: str, *keys: str) -> Any:
        """A value of one of their answers; None where there is none."""
        value: Any = self.theirs.get(command)
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value


def look(folder: Path, theirs: dict[str, Any]) -> Tree:
    """Read a project with our own eyes."""
    inventory = replace(scan(str(folder)), policy=Completion.VERIFIED)
    state = _text(folder / ".planning" / "STATE.md")
    return Tree(
        folder,
        inventory,
        standing_of(inventory),
        read_recorded(Document(state), "STATE.md") if state else None,
        state,
        _text(folder / ".planning" / "ROADMAP.md"),
        theirs,
    )


def comparisons(tree: Tree) -> list[Comparison]:
    """Every question with both answers."""
    ours, progress = tree.standing, tree.standing.progress
    found = [
        Comparison("plans", progress.total_plans, tree.answer("progress", "total_plans")),
        Comparison(
            "plans completed", progress.completed_plans, tree.answer("progress", "total_summaries")
        ),
        Comparison("plans percent", _plans_percent(tree), tree.answer("progress", "percent")),
        Comparison("phases", progress.total_phases, tree.answer("stats", "phases_total")),
        Comparison(
            "phases completed", progress.completed_phases, tree.answer("stats", "phases_completed")
        ),
        Comparison(
            "percent", progress.percent, _number(tree.answer("state", "progress", "percent"))
        ),
        Comparison("position", _position(tree), key_of(tree.answer("state", "current_phase"))),
        Comparison(
            "current phase",
            _first(ours, ("planned", "partial")),
            key_of(tree.answer("roadmap", "current_phase")),
        ),
        Comparison(
            "next phase",
            _first(ours, ("empty", "no_directory", "discussed", "researched")),
            key_of(tree.answer("roadmap", "next_phase")),
        ),
        Comparison("folders", our_folders(tree), _folders(tree)),
        Comparison("roadmap", our_roadmap(tree), _roadmap(tree)),
    ]
    listed = {key_of(each.get("number")): each for each in tree.answer("roadmap", "phases") or ()}
    for phase in ours.scope.phases:
        theirs = listed.get(phase.id.short)
        if theirs is None or phase.listed is None:
            continue
        plans = phase.folder.live_plans if phase.folder else ()
        done = sum(plan.is_complete for plan in plans)
        number = phase.id.short
        found += [
            Comparison(f"phase {number} plans", len(plans), theirs.get("plan_count")),
            Comparison(f"phase {number} summaries", done, theirs.get("summary_count")),
            Comparison(
                f"phase {number} stage", _stage(phase.stage.value), theirs.get("disk_status")
            ),
        ]
    return found


def key_of(value: object) -> str | None:
    """A phase number without leading zeros and project code; None where there is none."""
    if value is None:
        return None
    try:
        return PhaseId.parse(str(value)).short
    except MalformedId:
        return str(value)


def our_folders(tree: Tree) -> tuple[str, ...]:
    """The folders of the phases in scope."""
    scope = tree.standing.scope
    folders = [phase.folder for phase in scope.phases if phase.folder and not scope.is_archived]
    return tuple(sorted(folder.path.rpartition("/")[2] for folder in folders))


def our_roadmap(tree: Tree) -> tuple[str, ...]:
    """The phases in scope that the roadmap lists."""
    return tuple(phase.id.short for phase in tree.standing.scope.phases if phase.listed)


def _folders(tree: Tree) -> tuple[str, ...]:
    return tuple(sorted(tree.answer("phases", "directories") or ()))


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


def _plans_percent(tree: Tree) -> int:
    progress = tree.standing.progress
    total = progress.total_plans
    return (200 * progress.completed_plans + total) // (2 * total) if total else 0


def _position(tree: Tree) -> str | None:
    phases = tree.recorded.phases if tree.recorded else ()
    return phases[0].value.short if phases else None


def _first(standing: Standing, stages: tuple[str, ...]) -> str | None:
    """The first listed phase at one of these stages: what they call current and next."""
    for phase in standing.scope.phases:
        if phase.listed and _stage(phase.stage.value) in stages:
            return phase.id.short
    return None


def _stage(stage: str) -> str:
    """A stage in their words: finished and not verified is `partial` under their policy."""
    return {"verified": "complete", "complete": "partial"}.get(stage, stage)


def _number(value: object) -> int | None:
    return int(float(str(value))) if value is not None else None


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""
