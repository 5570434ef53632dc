"""Evidence for the scope: the milestones, and which phases belong to each, with its source.

The sources, strongest first: the milestone list of ROADMAP.md with its ranges; archives; a milestone
column or heading; MILESTONES.md. A phase without evidence belongs to no milestone. Numbers may
restart, so a phase is identified by its milestone and its number.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from fairlead.core.ids import PhaseId, slug
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.inventory import Inventory, Phase, PhaseFolder, ScopeSource
from fairlead.project.roadmap.milestone_lines import key_of
from fairlead.project.roadmap.model import ListedPhase, Milestone, PhaseRange, is_counted

_LONGEST_RANGE = 400


class MilestoneState(StrEnum):
    """How far a milestone is, according to the documents."""

    SHIPPED = "shipped"
    RUNNING = "running"
    OPEN = "open"  # planned, or not marked at all
    PARKED = "parked"


class MilestoneMark(NamedTuple):
    """A line that calls a milestone planned or in progress."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class MilestoneRecord:
    """A milestone and the evidence for it."""

    name: str
    title: str
    state: MilestoneState
    ranges: tuple[PhaseRange, ...]
    shipped: str  # the date; empty if unknown
    source: ScopeSource  # the place that names it
    closing: ScopeSource | None = None  # the place that closes it
    is_listed: bool = True  # ROADMAP.md names it
    is_in_list: bool = False  # in its list of milestones
    marks: tuple[MilestoneMark, ...] = ()  # lines that say it is not finished
    phase_count: int = 0  # as a document counts them; 0: none does

    @property
    def key(self) -> str:
        """Its name for comparisons."""
        return key_of(self.name)

    @property
    def is_closed(self) -> bool:
        """Whether it is over."""
        return self.state is MilestoneState.SHIPPED

    def has(self, phase: PhaseId) -> bool:
        """Whether its ranges contain a phase."""
        return any(each.contains(phase) for each in self.ranges)


class Attribution(NamedTuple):
    """A phase, the milestone it belongs to, and the place that says so."""

    phase: PhaseId
    milestone: str  # empty: none
    source: ScopeSource


class ScopeEvidence:
    """Everything that speaks for a milestone of one project."""

    def __init__(self, inventory: Inventory, roadmap: str) -> None:
        self.inventory = inventory
        self.roadmap = roadmap  # its path
        self._sizes = Counter(each.milestone for each in inventory.archived)
        self.milestones = tuple(self._records())
        self._by_key = {each.key: each for each in self.milestones}
        self.listed = [
            phase
            for phase in inventory.roadmap.phases
            if is_counted(phase.id) and not phase.is_retired
        ]
        self._owners = {id(phase): self._owner(phase) for phase in self.listed}
        self._listed_by_id: dict[PhaseId, list[ListedPhase]] = {}
        for phase in self.listed:
            self._listed_by_id.setdefault(phase.id, []).append(phase)
        self.retired = {phase.id for phase in inventory.roadmap.phases if phase.is_retired}
        self.doubtful: list[PhaseFolder] = []  # folders that two milestones claim
        self._folder_owners = {
            folder.path: self._folder_owner(folder) for folder in inventory.folders
        }

    # -- milestones --------------------------------------------------------------------------

    def milestone(self, name: str) -> MilestoneRecord | None:
        """The milestone with this name."""
        return self._by_key.get(key_of(name)) if name else None

    def _records(self) -> Iterator[MilestoneRecord]:
        """The milestones in order: those that only MILESTONES.md or an archive has come first."""
        inventory = self.inventory
        closing = {key_of(source.text): source for source in inventory.closed}
        shipped = {key_of(each.version): each for each in inventory.shipped}
        listed = {key_of(each.version) for each in inventory.roadmap.milestones}
        for each in reversed(inventory.shipped):
            if key_of(each.version) not in listed:
                yield self._record(each, closing, shipped, inventory.shipped_path)
        for source in inventory.closed:
            key = key_of(source.text)
            if key not in listed and key not in shipped:
                bare = Milestone(source.text, "", is_closed=True, is_marked_open=False, line=0)
                yield self._record(bare, closing, shipped, source.path)
        for each in inventory.roadmap.milestones:
            yield self._record(each, closing, shipped, self.roadmap)

    def _record(
        self,
        milestone: Milestone,
        closing: dict[str, ScopeSource],
        shipped: dict[str, Milestone],
        path: str,
    ) -> MilestoneRecord:
        key = key_of(milestone.version)
        entry = shipped.get(key)
        source = ScopeSource(path, milestone.line, milestone.version)
        closed_by = closing.get(key)
        if closed_by is None and entry is not None and entry.is_closed:
            closed_by = ScopeSource(self.inventory.shipped_path, entry.line, "shipped")
        if milestone.is_closed:
            closed_by = source
        if milestone.is_parked:
            state, closed_by = MilestoneState.PARKED, None
        elif closed_by:
            state = MilestoneState.SHIPPED
        else:
            is_running = milestone.is_marked_open
            state = MilestoneState.RUNNING if is_running else MilestoneState.OPEN
        return MilestoneRecord(
            name=milestone.version,
            title=milestone.name,
            state=state,
            ranges=milestone.ranges or (entry.ranges if entry else ()),
            shipped=milestone.shipped or (entry.shipped if entry else ""),
            phase_count=(entry.phase_count if entry else 0) or milestone.phase_count,
            source=source,
            closing=closed_by,
            is_listed=path == self.roadmap,
            is_in_list=milestone.is_in_list and path == self.roadmap,
            marks=(
                *(MilestoneMark(path, each.line, each.text) for each in milestone.marks),
                *self._shipped_marks(entry if path == self.roadmap else None),
            ),
        )

    def _shipped_marks(self, entry: Milestone | None) -> Iterator[MilestoneMark]:
        for mark in entry.marks if entry else ():
            yield MilestoneMark(self.inventory.shipped_path, mark.line, mark.text)

    # -- phases ------------------------------------------------------------------------------

    def attributions(self) -> Iterator[Attribution]:
        """Every listed phase and every folder with its milestone, in the order of the documents."""
        for phase in self.listed:
            source = ScopeSource(self.roadmap, phase.row_line or phase.line, phase.name)
            record = self.milestone(self._owners[id(phase)])
            in_range = record is not None and record.has(phase.id) and not phase.column
            yield Attribution(
                phase.id, self._owners[id(phase)], record.source if record and in_range else source
            )
        named = {phase.id for phase in self.listed}
        for folder in (*self.inventory.folders, *self.inventory.archived):
            if folder.id and is_counted(folder.id) and (folder.milestone or folder.id not in named):
                owner = folder.milestone or self._folder_owners.get(folder.path, "")
                yield Attribution(folder.id, owner, ScopeSource(folder.path, 0, folder.slug))

    def _claimants(self, phase: PhaseId) -> list[MilestoneRecord]:
        return [each for each in self.milestones if each.has(phase)]

    def _owner(self, phase: ListedPhase) -> str:
        """The milestone of a listed phase: its column, a range, or the heading around it."""
        if phase.column and self.milestone(phase.column):
            return phase.column
        around = self.milestone(phase.milestone)
        if around and around.has(phase.id):
            return around.name
        claimants = self._claimants(phase.id)
        if around and not (around.ranges and (around.is_closed or claimants)):
            return around.name
        if around is None and len(claimants) > 1:
            still_open = [each for each in claimants if not each.is_closed]
            return (still_open or claimants)[-1].name
        return claimants[-1].name if claimants else self._archive_of(phase)

    def owner_of(self, phase: PhaseId) -> MilestoneRecord | None:
        """The only milestone under which the roadmap lists a phase with this number."""
        owners = {self._owners[id(each)] for each in self._listed_by_id.get(phase, ())}
        return self.milestone(owners.pop()) if len(owners) == 1 else None

    def _archive_of(self, phase: ListedPhase) -> str:
        """The milestone whose archive has this phase; empty if no archive is the smallest one."""
        name = phase.id, "" if phase.clashes else slug(phase.name)
        homes = {
            each.milestone
            for each in self.inventory.archived
            if (each.id, slug(each.slug)) == name
            and (each.plans or each.orphans)
            and self.milestone(each.milestone)
        }
        least = min((self._sizes[home] for home in homes), default=0)
        smallest = [home for home in homes if self._sizes[home] == least]
        return smallest[0] if len(smallest) == 1 else ""

    def is_loose(self, phase: ListedPhase) -> bool:
        """Whether nothing says which milestone a listed phase belongs to."""
        return not self._owners[id(phase)] and not self.milestone(phase.milestone)

    def listed_of(self, record: MilestoneRecord) -> list[ListedPhase]:
        """The listed phases of a milestone."""
        return [each for each in self.listed if key_of(self._owners[id(each)]) == record.key]

    def _folder_owner(self, folder: PhaseFolder) -> str:
        """The milestone of an active folder; empty if nothing says."""
        if folder.id is None or not is_counted(folder.id):
            return ""
        named = {self._owners[id(each)]: each for each in self._listed_by_id.get(folder.id, ())}
        if not named and folder.id.decimals:
            whole = PhaseId.parse(str(folder.id.number))
            named = {self._owners[id(each)]: each for each in self._listed_by_id.get(whole, ())}
        names = dict.fromkeys([*named, *(each.name for each in self._claimants(folder.id))])
        names.pop("", None)
        if len(names) < 2:
            return next(iter(names), "")
        words = slug(folder.slug)
        same = [name for name, each in named.items() if words and slug(each.name) == words]
        if len(same) == 1:
            return same[0]
        archived = {
            key_of(each.milestone) for each in self.inventory.archived if each.id == folder.id
        }
        left = [name for name in names if key_of(name) not in archived]
        still_open = [name for name in left if not self._by_key[key_of(name)].is_closed]
        if len(left) > 1 and named and not same:
            self.doubtful.append(folder)
        return (still_open or left or list(names))[-1]

    def folders_of(
        self, record: MilestoneRecord | None, listed: Iterable[ListedPhase]
    ) -> list[PhaseFolder]:
        """The folders of a milestone, those to count first."""
        ids = {each.id for each in listed}
        active = [
            folder
            for folder in self.inventory.folders
            if folder.id and self._is_active_member(folder, record, ids)
        ]
        active += self._named_folders(listed)
        if record is None:
            return active
        archived = [
            each
            for each in self.inventory.archived
            if each.id and is_counted(each.id) and self._is_archived_member(each, record, ids)
        ]
        return archived + active if record.is_closed else active + archived

    def _is_active_member(
        self, folder: PhaseFolder, record: MilestoneRecord | None, ids: set[PhaseId]
    ) -> bool:
        assert folder.id is not None
        if folder.id in self.retired or not is_counted(folder.id):
            return False
        owner = self._folder_owners[folder.path]
        if owner:
            return record is not None and key_of(owner) == record.key
        if folder.id in ids or (folder.id.decimals and PhaseId.parse(str(folder.id.number)) in ids):
            return True
        if self.is_single and not self.listed:
            return True
        if not self.inventory.has_roadmap and (record is None or not record.is_closed):
            names = {(each.id, each.slug) for each in self.inventory.archived}
            return (folder.id, folder.slug) not in names
        return bool(ids) and self._is_appended(folder.id)

    def _is_appended(self, phase: PhaseId) -> bool:
        """Whether a phase follows the roadmap's last one, and STATE.md has reached it.

        A folder before the first listed phase is older than the roadmap, and one that nothing
        mentions may be an idea.
        """
        reached = self.inventory.claims.phase
        last = max(each.id for each in self.listed)
        return reached is not None and last < phase <= reached

    def _is_archived_member(
        self, folder: PhaseFolder, record: MilestoneRecord, ids: set[PhaseId]
    ) -> bool:
        assert folder.id is not None
        if not (folder.milestone or record.ranges):
            return folder.id in ids  # an archive of all milestones, and nothing says which
        if key_of(folder.milestone) == record.key:
            return record.has(folder.id) if record.ranges else self._is_smallest_archive(folder)
        known = self.milestone(folder.milestone)
        is_own = known is None or not known.ranges or not known.has(folder.id)
        return is_own and record.has(folder.id) and len(self._claimants(folder.id)) == 1

    def _is_smallest_archive(self, folder: PhaseFolder) -> bool:
        """Whether no smaller archive has this phase: an archive may repeat the earlier ones."""
        name = folder.id, folder.slug
        homes = {each.milestone for each in self.inventory.archived if (each.id, each.slug) == name}
        return self._sizes[folder.milestone] == min(self._sizes[home] for home in homes)

    def _named_folders(self, listed: Iterable[ListedPhase]) -> Iterator[PhaseFolder]:
        """The folders without a number whose name is that of a listed phase."""
        by_slug = {slug(each.name): each for each in listed if slug(each.name)}
        numbered = {folder.id for folder in self.inventory.folders}
        for folder in self.inventory.folders:
            phase = by_slug.get(slug(folder.slug)) if folder.id is None else None
            if phase and phase.id not in numbered:
                yield replace(folder, id=phase.id)

    def unowned(self) -> Iterator[Phase]:
        """The listed phases of no milestone, each with the active folder of its number."""
        folders = {
            folder.id: folder
            for folder in self.inventory.folders
            if folder.id and not self._folder_owners[folder.path]
        }
        for phase in self.listed:
            if not self._owners[id(phase)] and not self.is_loose(phase):
                yield Phase(phase.id, phase.name, phase, folders.get(phase.id))

    @property
    def is_single(self) -> bool:
        """Whether there is no sign of more than one milestone."""
        return len(self.milestones) <= 1 and not self.inventory.archived


def range_phases(record: MilestoneRecord) -> Iterator[Phase]:
    """The phases of a milestone that is known from its range only."""
    for each in record.ranges:
        numbers = range(
            each.first.number, min(each.last.number, each.first.number + _LONGEST_RANGE) + 1
        )
        for number in numbers if not each.first.decimals else ():
            phase = PhaseId.parse(str(number))
            yield Phase(phase, "", None, None)
