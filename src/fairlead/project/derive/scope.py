"""The scope of every number: the current milestone, its phases, and how certain that is.

The milestone that ROADMAP.md marks as running is current; if all are shipped, the last shipped one.
The body of STATE.md decides where the roadmap leaves several, its frontmatter last. If two readings
remain the scope is uncertain; if documents claim finished work that left no files, it is
unverifiable. `evidence` gathers what speaks for each milestone.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial

from fairlead.core.ids import PhaseId, slug
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, field, replace
from fairlead.project.derive.evidence import (
    Attribution,
    MilestoneRecord,
    MilestoneState,
    ScopeEvidence,
    range_phases,
)
from fairlead.project.derive.inventory import Inventory, Phase, PhaseFolder, ScopeSource, Stage
from fairlead.project.derive.progress import progress_of
from fairlead.project.naming import plan_id
from fairlead.project.roadmap.milestone_lines import key_of
from fairlead.project.roadmap.model import ListedPhase, is_counted

_COUNTS = lazy_pattern(r"\s*(?P<done>[0-9]{1,6})\s*/\s*(?P<total>[0-9]{1,6})")
_TOTAL = lazy_pattern(r"/\s*([0-9]{1,6})\b")
__all__ = [
    "Certainty",
    "Scope",
    "ScopeReading",
    "ScopeSource",
    "claimed_plans",
    "is_counted",
    "scope_of",
]


class Certainty(StrEnum):
    """How well the evidence settles the scope."""

    CERTAIN = "certain"
    UNCERTAIN = "uncertain"  # several readings remain
    UNVERIFIABLE = "unverifiable"  # documents claim finished work that left no files


@dataclass(frozen=True, slots=True)
class ScopeReading:
    """One way to read which milestone is current and which phases it has."""

    milestone: str
    phases: tuple[Phase, ...]
    sources: tuple[ScopeSource, ...] = ()
    is_claimed: bool = False  # phases without files count as the documents say
    is_stated: bool = False  # the counts are those of STATE.md


@dataclass(frozen=True, slots=True)
class Scope:
    """The phases that count, and their milestone."""

    milestone: str  # version; empty when the project has none
    milestone_name: str
    is_archived: bool  # its folders are in an archive
    phases: tuple[Phase, ...]
    duplicates: tuple[PhaseFolder, ...] = ()  # folders whose number another folder has
    is_whole: bool = False  # there is no other milestone that a number could mean
    certainty: Certainty = Certainty.CERTAIN
    readings: tuple[ScopeReading, ...] = ()  # the strongest first
    is_closed: bool = False  # the milestone is shipped
    evidence: ScopeEvidence | None = field(default_factory=lambda: None, compare=False)
    doubts: tuple[str, ...] = ()  # why it is not certain
    elsewhere: tuple[Phase, ...] = ()  # the phases of other milestones, and of none
    milestones: tuple[MilestoneRecord, ...] = ()

    @property
    def attributions(self) -> tuple[Attribution, ...]:
        """Every phase with its milestone; only `explain` needs all of them."""
        return tuple(self.evidence.attributions()) if self.evidence else ()

    def phase(self, number: PhaseId) -> Phase | None:
        """The phase with this number: one of the scope, or the only one that has it."""
        inside = next((each for each in self.phases if each.id == number), None)
        if inside:
            return inside
        others = [each for each in self.elsewhere if each.id == number]
        if not others and any(each.has(number) for each in self.milestones):
            return Phase(number, "", None, None)
        return others[0] if len(others) == 1 else None

    def is_awaiting(self, phase: Phase) -> bool:
        """Whether a finished phase waits for its verification: no later phase has finished plans."""
        if self.is_closed or phase.stage is not Stage.COMPLETE:
            return False
        later = (each for each in self.phases if each.id > phase.id)
        return not any(each.folder and each.folder.completed for each in later)

    def settled_by(self, phases: Iterable[Phase]) -> tuple[Phase, ...]:
        """The finished phases that would still be awaiting if these had no finished plans."""
        own = {each.id for each in phases}
        finished = [each.id for each in self.phases if each.folder and each.folder.completed]
        last_other = max((each for each in finished if each not in own), default=None)
        last_own = max((each for each in finished if each in own), default=None)
        return tuple(
            each
            for each in self.phases
            if each.stage is Stage.COMPLETE
            and last_own is not None
            and each.id < last_own
            and (last_other is None or not each.id < last_other)
        )

    def is_shipped(self, phase: Phase) -> bool:
        """Whether every milestone that has this phase is shipped."""
        if phase in self.phases:
            return self.is_closed
        owners = [each for each in self.milestones if each.has(phase.id)]
        return bool(owners) and all(each.is_closed for each in owners)

    @property
    def words(self) -> str:
        """The scope as text: `milestone v1.0, phases 1-4`."""
        parts = [f"milestone {self.milestone}" if self.milestone else "all phases"]
        if self.is_archived:
            parts[0] += " (archived)"
        if self.phases:
            first, last = self.phases[0].id.short, self.phases[-1].id.short
            parts.append(f"phase {first}" if first == last else f"phases {first}-{last}")
        return ", ".join(parts)


def scope_of(inventory: Inventory) -> Scope:
    """The scope of the current milestone."""
    return _Resolver(inventory).scope()


class _Resolver:
    """Resolves the evidence of one project to its scope."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.claims = inventory.claims
        self.state = inventory.state_path
        self.folder_ids = {each.id for each in inventory.folders}
        self.evidence = ScopeEvidence(inventory, inventory.roadmap_path)
        self.doubts: list[str] = []

    def scope(self) -> Scope:
        current, others = self._current()
        scope = self._scope(current)
        readings = [ScopeReading(scope.milestone, scope.phases, self._sources(current, scope))]
        for record in others:
            other = self._scope(record)
            readings.append(
                ScopeReading(other.milestone, other.phases, self._sources(record, other))
            )
        if scope.is_closed and self.claims.is_zero:
            # Between milestones, zeros are as right as the counts of the last milestone.
            place = ScopeSource(self.state, self.claims.milestone_line, "no milestone")
            readings.insert(0, ScopeReading(scope.milestone, (), (place,)))
        unproven = [phase for phase in scope.phases if self._is_unproven(phase, current)]
        mine = {phase.folder.path for phase in scope.phases if phase.folder}
        is_doubtful = any(folder.path in mine for folder in self.evidence.doubtful)
        is_certain = not others and not is_doubtful
        certainty = Certainty.CERTAIN if is_certain else Certainty.UNCERTAIN
        has_files = any(_has_work(phase) for phase in scope.phases)
        for reading, why in self._further(current, scope):
            certainty = Certainty.UNCERTAIN
            readings.append(reading)
            self.doubts.append(why)
        if self._is_foreign(scope):
            certainty = Certainty.UNVERIFIABLE
        elif not has_files and (unproven or self._claims_work(current, scope)):
            certainty = Certainty.UNVERIFIABLE
        elif unproven:
            certainty = Certainty.UNCERTAIN
            readings.append(replace(readings[0], is_claimed=True))
            names = ", ".join(phase.id.short for phase in unproven)
            self.doubts.append(f"the documents call phase {names} finished, and it has no files")
        return replace(
            scope,
            certainty=certainty,
            readings=tuple(readings),
            evidence=self.evidence,
            doubts=tuple(self.doubts),
            elsewhere=tuple(self._elsewhere(current)),
            milestones=self.evidence.milestones,
        )

    def _further(
        self, current: MilestoneRecord | None, scope: Scope
    ) -> Iterator[tuple[ScopeReading, str]]:
        """Further readings of the phases of the current milestone, each with the doubt."""
        flat = self._unattributed(scope)
        if flat:
            yield flat, "ROADMAP.md does not say which phases the shipped milestones had"
        absent = self._absent(current, scope)
        if absent:
            phases = tuple(sorted((*scope.phases, *absent), key=lambda each: each.id))
            sources = self._sources(current, scope)
            names = ", ".join(phase.id.short for phase in absent)
            why = f"the range of {scope.milestone} has phase {names} without a folder"
            yield ScopeReading(scope.milestone, phases, sources, is_claimed=True), why
        if self.inventory.has_roadmap or scope.is_closed:
            return
        # Without a roadmap a phase that has no folder yet is known from STATE.md alone.
        named, place = self.claims.phase, partial(ScopeSource, self.state)
        if self._counts_differ(scope):
            sources = (place(self.claims.milestone_line, "progress"),)
            reading = ScopeReading(scope.milestone, scope.phases, sources, is_stated=True)
            yield reading, "there is no ROADMAP.md, and STATE.md counts other phases"
        if named is None:
            return
        sources = (place(self.claims.position_line, f"phase {named.short}"),)
        # Folders after that phase, and open ones before it, may belong to another milestone.
        policy = self.inventory.policy
        reached = tuple(
            phase
            for phase in scope.phases
            if phase.id == named or (phase.id < named and phase.is_complete(policy))
        )
        if self.claims.total_phases is None and len(reached) < len(scope.phases):
            why = "there is no ROADMAP.md, and STATE.md stands elsewhere than some open folders"
            yield ScopeReading(scope.milestone, reached, sources), why
        elif not flat and not self._counts_differ(scope) and not scope.phase(named):
            phases = (*scope.phases, Phase(named, "", None, None))
            why = f"STATE.md is at phase {named.short}, which has no folder"
            yield ScopeReading(scope.milestone, phases, sources), why

    # -- the current milestone -----------------------------------------------------------------

    def _current(self) -> tuple[MilestoneRecord | None, list[MilestoneRecord]]:
        """The current milestone, and other milestones that may be meant."""
        milestones = self.evidence.milestones
        recorded, is_explicit = self._recorded()
        unfinished = [
            each
            for each in milestones
            if each.state in (MilestoneState.RUNNING, MilestoneState.OPEN)
            and not self._is_overtaken(each)
        ]
        running = [each for each in unfinished if each.state is MilestoneState.RUNNING]
        if not self.inventory.has_roadmap:
            if recorded is None and (self._is_new() or self._is_at_folder()):
                return None, []
            if recorded:
                return recorded, []
        if recorded and recorded.is_closed and not running:
            # What is planned or empty has not begun while STATE.md stands after another milestone.
            unfinished = [each for each in unfinished if not self._is_only_planned(each)]
        if any(each.is_closed for each in milestones):
            # A plan without phases is an idea, not the current milestone.
            unfinished = [each for each in unfinished if running or not self._is_idea(each)]
        candidates = running or unfinished
        if not candidates:
            return self._after_all_shipped(recorded), []
        if recorded in candidates:
            return recorded, []
        chosen = candidates[0]
        if recorded and not recorded.is_closed and recorded in unfinished:
            # STATE.md names a milestone that the roadmap has not marked as running.
            self.doubts.append(f"STATE.md names {recorded.name}, ROADMAP.md marks {chosen.name}")
            return chosen, [recorded]
        if recorded and is_explicit and milestones.index(recorded) > milestones.index(chosen):
            self.doubts.append(f"STATE.md is at {recorded.name}, ROADMAP.md marks {chosen.name}")
            return chosen, [recorded]
        if len(candidates) > 1 and (running or not self._follows(candidates)):
            names = " and ".join(each.name for each in candidates)
            self.doubts.append(f"ROADMAP.md leaves {names} open")
            return chosen, candidates[1:]
        return chosen, []

    def _is_only_planned(self, record: MilestoneRecord) -> bool:
        is_marked = any(mark.text == "planned" for mark in record.marks)
        phases = self._members(record)[0]
        return (is_marked or not phases) and not any(map(_has_work, phases))

    def _is_idea(self, record: MilestoneRecord) -> bool:
        is_marked = any(mark.text == "planned" for mark in record.marks)
        return is_marked and not self._has_own(record)

    def _follows(self, candidates: list[MilestoneRecord]) -> bool:
        """Whether work has begun in the first of several open milestones at most."""
        return not any(
            _has_work(phase) for each in candidates[1:] for phase in self._members(each)[0]
        )

    def _recorded(self) -> tuple[MilestoneRecord | None, bool]:
        """The milestone that STATE.md names, and whether its body does."""
        claims = self.claims
        if claims.phase and not self.evidence.is_single:
            claimants = [each for each in self.evidence.milestones if each.has(claims.phase)]
            owner = claimants[0] if len(claimants) == 1 else None
            owner = owner or (None if claimants else self.evidence.owner_of(claims.phase))
            if owner:
                return owner, True
        for text in (claims.position, claims.focus):
            places = {_place(text, each.name): each for each in self.evidence.milestones}
            places.pop(-1, None)
            if places:
                return places[min(places)], True
        front = self.evidence.milestone(claims.milestone)
        return (None, False) if claims.is_default and front and front.is_closed else (front, False)

    def _after_all_shipped(self, recorded: MilestoneRecord | None) -> MilestoneRecord | None:
        """The milestone after which the project stands, if every milestone is shipped."""
        milestones = self.evidence.milestones
        loose = [each for each in self.evidence.listed if self._is_current_work(each)]
        is_new = self._is_new()
        shipped = [each for each in milestones if each.is_closed or self._is_overtaken(each)]
        if not shipped or (loose and (is_new or not any(each.ranges for each in shipped))):
            is_own = recorded is not None and not self._has_own(recorded)
            return recorded if recorded and (is_own or not recorded.is_closed) else None
        in_list = [each for each in shipped if each.is_in_list]
        listed = in_list or [each for each in shipped if each.is_listed] or shipped
        dates = [each.shipped for each in listed]
        if all(dates) and dates == sorted(dates, reverse=True) and dates[0] != dates[-1]:
            return listed[0]
        if all(dates):
            return max(reversed(listed), key=lambda each: each.shipped)
        return listed[-1]

    def _is_current_work(self, phase: ListedPhase) -> bool:
        """Whether a phase of no milestone may be work of a new one: open, or not archived."""
        is_over = phase.is_called_done and phase.id not in self.folder_ids
        return self.evidence.is_loose(phase) and not is_over

    def _is_new(self) -> bool:
        """Whether STATE.md names a milestone that nothing else knows."""
        name = self.claims.milestone
        is_stated = bool(name) and not self.claims.is_default
        return is_stated and self.evidence.milestone(name) is None

    def _is_at_folder(self) -> bool:
        """Whether STATE.md stands at a phase that no archive has, and active folders are there."""
        archived = {(each.id, each.slug) for each in self.inventory.archived}
        active = [each for each in self.inventory.folders if (each.id, each.slug) not in archived]
        here = self.claims.phase
        if here is None or any(each.id == here for each in active):
            return bool(active) and here is not None
        # The phase has no folder yet. One with its number in an archive has another name.
        position = slug(self.claims.position)
        names = [slug(name) for number, name in archived if number == here]
        return bool(active) and not any(name in position for name in names)

    def _unattributed(self, scope: Scope) -> ScopeReading | None:
        """Another reading, where nothing says which listed phases the shipped milestones had.

        A list that continues the numbers of earlier milestones is the current one. One that
        starts at 1 may hold them all; then the finished phases may be theirs.
        """
        loose = [each for each in self.evidence.listed if self.evidence.is_loose(each)]
        shipped = [each for each in self.evidence.milestones if each.is_closed]
        own = key_of(scope.milestone)
        silent = [each for each in shipped if each.key != own and not self._has_own(each)]
        is_repeated = bool(shipped) and any(each.clashes for each in loose)
        is_flat = bool(loose) or not self.inventory.has_roadmap
        starts_at_one = bool(scope.phases) and scope.phases[0].id.number == 1
        if not (silent and is_flat and starts_at_one) and not is_repeated:
            return None
        if not is_repeated and self.claims.total_phases == len(scope.phases):
            return None
        counted = sum(each.phase_count for each in silent)
        left = scope.phases[counted:] if all(each.phase_count for each in silent) else ()
        if not 0 < len(left) < len(scope.phases):
            policy = self.inventory.policy
            left = tuple(phase for phase in scope.phases if not phase.is_complete(policy))
        if not 0 < len(left) < len(scope.phases):
            left = scope.phases[-1:]
        line = loose[0].line if loose else 0
        place = ScopeSource(self.inventory.roadmap_path, line, "phases of no milestone")
        return ScopeReading(scope.milestone, left, (place,))

    def _has_own(self, record: MilestoneRecord) -> bool:
        """Whether something says which phases a milestone has."""
        is_archived = any(key_of(each.milestone) == record.key for each in self.inventory.archived)
        return is_archived or bool(record.ranges or self.evidence.listed_of(record))

    def _is_overtaken(self, record: MilestoneRecord) -> bool:
        """Whether its mark is stale: a later milestone was shipped, and nothing is open in it.

        A heading whose phases come before those of the last shipped milestone of the list is older
        than the list, whatever is open below it.
        """
        if record.is_closed:
            return False
        milestones = self.evidence.milestones
        at = milestones.index(record)
        shipped = [each for each in milestones if each.is_closed and each.is_listed]
        if not record.is_in_list and record.ranges:
            in_list = [each for each in shipped if each.is_in_list and each.ranges]
            if in_list and record.ranges[-1].last < in_list[-1].ranges[0].first:
                return True
        if not any(each in shipped for each in milestones[at + 1 :]):
            return False
        phases = self._members(record)[0]
        return bool(phases) and all(
            phase.folder and phase.folder.is_implemented for phase in phases
        )

    # -- its phases ----------------------------------------------------------------------------

    def _members(
        self, record: MilestoneRecord | None
    ) -> tuple[tuple[Phase, ...], tuple[PhaseFolder, ...]]:
        """The phases of a milestone, or of none, and folders whose number another folder has."""
        evidence = self.evidence
        loose = [each for each in evidence.listed if evidence.is_loose(each)]
        if record is None:
            listed = loose
        else:
            listed = evidence.listed_of(record)
            if not record.is_closed or not (listed or record.ranges):
                listed = listed + loose
        folders = evidence.folders_of(record, listed)
        if record is not None and record.is_closed and any(each.milestone for each in folders):
            # A shipped milestone is counted from its archive; what was never begun is not in it.
            ids = {each.id for each in folders}
            listed = [each for each in listed if each.id in ids or each.is_called_done]
        phases, doubles = _merged(listed, folders)
        if not phases and record is not None:
            phases = tuple(range_phases(record))
        return phases, doubles

    def _scope(self, record: MilestoneRecord | None) -> Scope:
        """The scope if this milestone is the current one."""
        phases, doubles = self._members(record)
        folders = [phase.folder for phase in phases if phase.folder]
        is_archived = bool(folders) and all(each in self.inventory.archived for each in folders)
        begins_later = bool(phases) and phases[0].id.number > 1
        return Scope(
            milestone=record.name if record else self._fallback_name(),
            milestone_name=record.title if record else "",
            is_archived=is_archived,
            phases=phases,
            duplicates=doubles,
            is_whole=self.evidence.is_single and not begins_later,
            is_closed=record is not None and (record.is_closed or self._is_overtaken(record)),
        )

    def _elsewhere(self, current: MilestoneRecord | None) -> Iterator[Phase]:
        """The phases of the other milestones, and listed phases that belong to none."""
        for record in self.evidence.milestones:
            if current is None or record.key != current.key:
                yield from (each for each in self._members(record)[0] if each.listed or each.folder)
        yield from self.evidence.unowned()

    def _fallback_name(self) -> str:
        name = self.claims.milestone
        known = self.evidence.milestone(name)
        is_default = self.claims.is_default and bool(self.evidence.milestones)
        return "" if is_default or (known and known.is_closed) else name

    def _is_unproven(self, phase: Phase, record: MilestoneRecord | None) -> bool:
        """Whether documents call a phase finished that has neither plans nor summaries."""
        if _has_work(phase):
            return False
        if self.claims.is_phase_done and phase.id == self.claims.phase:
            return True
        listed = phase.listed
        if listed is None or (listed.is_checked is None and not listed.status):
            return record is not None and record.is_closed  # it was shipped with its milestone
        return listed.is_called_done

    def _is_foreign(self, scope: Scope) -> bool:
        """Whether the work lies in a layout that is not understood."""
        inventory = self.inventory
        if any(phase.folder and phase.folder.is_foreign for phase in scope.phases):
            return True
        has_unread = bool(inventory.foreign or inventory.roadmap.has_ticks)
        return has_unread and not (scope.phases or inventory.archived)

    def _absent(self, record: MilestoneRecord | None, scope: Scope) -> tuple[Phase, ...]:
        """The phases in the range of a shipped milestone of which nothing else is left."""
        if record is None or not record.is_closed or not any(map(_has_work, scope.phases)):
            return ()
        known = {each.id for each in scope.phases} | {each.id for each in self.evidence.listed}
        known |= self.evidence.retired
        return tuple(each for each in range_phases(record) if each.id not in known)

    def _counts_differ(self, scope: Scope) -> bool:
        """Whether STATE.md counts other phases and plans than the files."""
        stated = self.claims.total_phases, self.claims.total_plans
        found = progress_of(scope.phases, self.inventory.policy)
        return stated != (found.total_phases, found.total_plans) and None not in stated

    def _claims_work(self, record: MilestoneRecord | None, scope: Scope) -> bool:
        """Whether the documents claim finished work for a scope without files."""
        if record and record.is_closed:
            return True
        named = self._recorded()[0]
        is_about_this = named is None or record is None or named.key == record.key
        is_stated = record is not None and key_of(self.claims.milestone) == record.key
        has_subject = bool(scope.phases) or not self.inventory.has_roadmap or is_stated
        if any(phase.listed and claimed_plans(phase.listed)[0] for phase in scope.phases):
            return True
        return self.claims.claims_work and is_about_this and has_subject

    def _sources(self, record: MilestoneRecord | None, scope: Scope) -> tuple[ScopeSource, ...]:
        if record is None:
            line = self.claims.milestone_line
            if scope.milestone:
                return (ScopeSource(self.state, line, scope.milestone),)
            listed = next((phase.listed for phase in scope.phases if phase.listed), None)
            path = self.inventory.roadmap_path
            return (ScopeSource(path, listed.line if listed else 0, "all phases"),)
        return tuple(each for each in (record.source, record.closing) if each)


def _place(text: str, name: str) -> int:
    """Where a text names a milestone, as a whole word; -1 if it does not."""
    folded, key = text.casefold(), key_of(name)
    at = folded.find(key)
    while at >= 0:
        before, after = folded[:at], folded[at + len(key) :]
        is_start = before[-1:] == "v" or not (before[-1:].isalnum() or before[-1:] == ".")
        is_end = not after[:1].isalnum() and not (after[:1] == "." and after[1:2].isdigit())
        if is_start and is_end:
            return at
        at = folded.find(key, at + 1)
    return -1


def claimed_plans(listed: ListedPhase) -> tuple[int, int]:
    """The finished plans of a phase and all of them, as the roadmap counts or ticks them."""
    for text in (listed.plans_cell, *(each.text for each in listed.counts)):
        match = _COUNTS.match(text)
        if match:
            return int(match["done"]), int(match["total"])
    return sum(box.is_checked for box in listed.plan_boxes), len(listed.plan_boxes)


def _has_work(phase: Phase) -> bool:
    folder = phase.folder
    return folder is not None and bool(folder.plans or folder.orphans)


def _with_lost(folder: PhaseFolder, listed: ListedPhase) -> PhaseFolder:
    if not folder.lost:
        return folder
    named = {plan_id(f"{box.text}.md", folder.id) for box in listed.plan_boxes}
    counts = (listed.plans_cell, *(mark.text for mark in listed.counts))
    totals = {int(found[1]) for text in counts if (found := _TOTAL.search(text))}
    return folder.with_lost(named, totals)


def _parent(folder: PhaseFolder) -> str:
    return folder.path.rpartition("/")[0]


def _merged(
    listed: Sequence[ListedPhase], folders: Iterable[PhaseFolder]
) -> tuple[tuple[Phase, ...], tuple[PhaseFolder, ...]]:
    by_id: dict[PhaseId, Phase] = {}
    for entry in listed:
        by_id.setdefault(entry.id, Phase(entry.id, entry.name, entry, None))
    doubles = []
    # Of two folders with one number, the one with the name of the phase counts.
    names = {entry.id: slug(entry.name) for entry in listed}
    for folder in sorted(
        folders, key=lambda each: not each.id or names.get(each.id) != slug(each.slug)
    ):
        assert folder.id is not None
        phase = by_id.get(folder.id)
        found = _with_lost(folder, phase.listed) if phase and phase.listed else folder.with_lost(())
        if phase is None:
            by_id[folder.id] = Phase(folder.id, folder.slug.replace("-", " "), None, found)
        elif phase.folder is None:
            by_id[folder.id] = Phase(phase.id, phase.name, phase.listed, found)
        elif _parent(folder) == _parent(phase.folder):
            doubles.append(folder)
    return tuple(by_id[key] for key in sorted(by_id)), tuple(doubles)
