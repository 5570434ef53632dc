"""Scope: which phases a number counts. One definition, and it can be said in words.

The phases of the current milestone: those the roadmap lists under it or under none, and the
active folders that no other milestone claims. Archived milestones are counted apart, except
when the project stands in one.
"""

from collections.abc import Iterable

from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Folder, Inventory, Listed, Milestone, Phase
from fairlead.values import dataclass

_SENTINELS = (0, 999)  # before the first milestone, and the backlog


@dataclass(frozen=True, slots=True)
class Scope:
    """The phases that count, and where they come from."""

    milestone: str  # version; empty when the project has none
    milestone_name: str
    is_archived: bool
    phases: tuple[Phase, ...]
    duplicates: tuple[Folder, ...] = ()  # folders with a number that another one has
    is_whole: bool = False  # nothing speaks of another milestone: every number can mean only this

    @property
    def words(self) -> str:
        """The scope for people: `milestone v1.0, phases 1-4`."""
        parts = [f"milestone {self.milestone}" if self.milestone else "all phases"]
        if self.is_archived:
            parts[0] += " (archived)"
        if self.phases:
            first, last = self.phases[0].id.short, self.phases[-1].id.short
            parts.append(f"phase {first}" if first == last else f"phases {first}-{last}")
        return ", ".join(parts)


def scope_of(inventory: Inventory) -> Scope:
    """The scope of the current milestone."""
    current = current_milestone(inventory)
    listed = [
        phase for phase in inventory.roadmap.phases if is_counted(phase.id) and not phase.is_retired
    ]
    version = current.version if current else inventory.milestone
    inside, elsewhere = _split(listed, version, inventory.roadmap.milestones)
    folders = [folder for folder in inventory.folders if folder.id and is_counted(folder.id)]
    retired = {phase.id for phase in inventory.roadmap.phases if phase.is_retired}
    elsewhere -= {phase.id for phase in inside}
    # An unlisted folder before the milestone's first phase is what an earlier one left behind.
    first = _first(inside, elsewhere) if version else None
    foreign = elsewhere | retired
    folders = [
        folder
        for folder in folders
        if folder.id and folder.id not in foreign and (first is None or folder.id >= first)
    ]
    name = current.name if current else ""
    is_closed = current is not None and current.is_closed
    if not folders and (is_closed or not _any_open(inside)):
        archived = [
            folder for folder in inventory.archived if folder.milestone == version and folder.id
        ]
        if archived:
            held = {folder.id for folder in archived}
            known = [
                phase
                for phase in inventory.roadmap.phases
                if phase.milestone == version and phase.id in held
            ]
            phases, doubles = _merged(known, archived)
            return Scope(version, name, is_archived=True, phases=phases, duplicates=doubles)
    phases, doubles = _merged(inside, folders)
    return Scope(
        version,
        name,
        is_archived=False,
        phases=phases,
        duplicates=doubles,
        is_whole=not elsewhere and _is_alone(version, phases, inventory),
    )


def _is_alone(version: str, phases: tuple[Phase, ...], inventory: Inventory) -> bool:
    """Whether there is no sign of another milestone; of an early one, a line may be all that is left."""
    is_other_named = any(each.version != version for each in inventory.roadmap.milestones)
    begins_later = bool(phases) and phases[0].id.number > 1
    return not (inventory.archived or is_other_named or begins_later)


def current_milestone(inventory: Inventory) -> Milestone | None:
    """The milestone that STATE.md names, else the one the roadmap marks, else the only open one.

    A milestone that STATE.md still names, though the roadmap has closed it and marks another,
    is what an update forgot.
    """
    milestones = inventory.roadmap.milestones
    marked = next((each for each in milestones if each.is_marked_open and not each.is_closed), None)
    named = next((each for each in milestones if each.version == inventory.milestone), None)
    if named and not (named.is_closed and marked):
        return named
    if inventory.milestone and not named:
        return None
    still_open = [each for each in milestones if not each.is_closed]
    if marked or len(still_open) == 1:
        return marked or still_open[0]
    return _last_archived(inventory) if not still_open else None


def _last_archived(inventory: Inventory) -> Milestone | None:
    """Where a project stands that has nothing but closed milestones, and names none of them."""
    archived = {folder.milestone for folder in inventory.archived}
    closed = [each for each in inventory.roadmap.milestones if each.version in archived]
    last = max((each.id for each in inventory.roadmap.phases), default=None)
    is_ahead = any(folder.id and (last is None or folder.id > last) for folder in inventory.folders)
    return closed[-1] if closed and not is_ahead else None


def _first(inside: list[Listed], elsewhere: set[PhaseId]) -> PhaseId | None:
    """Where a milestone begins: with its first phase, or while it has none, after all others."""
    if inside:
        return min(phase.id for phase in inside)
    return max(elsewhere, default=None)


def _split(
    listed: list[Listed], version: str, milestones: tuple[Milestone, ...]
) -> tuple[list[Listed], set[PhaseId]]:
    """The listed phases of this milestone, and the numbers that only others have."""
    closed = {each.version for each in milestones if each.is_closed}
    known = {phase.milestone for phase in listed if phase.milestone}
    inside: list[Listed] = []
    others: set[PhaseId] = set()
    for phase in listed:
        is_inside = (
            phase.milestone in (version, "") if version in known else phase.milestone not in closed
        )
        if is_inside:
            inside.append(phase)
        else:
            others.add(phase.id)
    return inside, others


def _merged(
    listed: Iterable[Listed], folders: Iterable[Folder]
) -> tuple[tuple[Phase, ...], tuple[Folder, ...]]:
    by_id: dict[PhaseId, Phase] = {}
    for entry in listed:
        by_id.setdefault(entry.id, Phase(entry.id, entry.name, entry, None))
    doubles = []
    for folder in sorted(folders, key=lambda each: each.path):
        assert folder.id is not None
        known = by_id.get(folder.id)
        if known is None:
            by_id[folder.id] = Phase(folder.id, folder.slug.replace("-", " "), None, folder)
        elif known.folder is None:
            by_id[folder.id] = Phase(known.id, known.name, known.listed, folder)
        else:
            doubles.append(folder)
    return tuple(by_id[key] for key in sorted(by_id)), tuple(doubles)


def _any_open(listed: list[Listed]) -> bool:
    return any(not phase.is_checked for phase in listed)


def is_counted(phase: PhaseId) -> bool:
    """Whether a number is that of a phase: 0 and 999 stand for what is no part of a milestone."""
    return phase.number not in _SENTINELS
