"""Recorded against derived: every difference between STATE.md and the files, and odd files.

More than the files prove is a claim as long as something in scope is unproven; when all of it is
complete, a greater number only counts other phases. The numbers of the progress block stand or
fall together: with one claim among them all of them are left to a person.
"""

import re
from collections.abc import Iterator

from fairlead.model.divergence import Finding, Kind
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Folder, Inventory, Phase, Proof
from fairlead.model.progress import Progress, completed_in
from fairlead.model.recorded import COUNTERS, LIFECYCLE, Recorded
from fairlead.model.standing import Standing
from fairlead.model.status import Status, normalise, says_all_done
from fairlead.records.bars import find_bar, redrawn, right_percent
from fairlead.records.digest import field_of, marks_too_much
from fairlead.records.naming import summary_path
from fairlead.records.position import done_said, recorded_id, unproven_plans
from fairlead.records.recorded import (
    front_line,
    further_positions,
    phase_in,
    read_recorded,
    states_position,
)
from fairlead.records.truths import shown, told, untrue_words
from fairlead.text.document import Document
from fairlead.text.lines import place_of
from fairlead.values import replace

UNREAD_FOLDER = "folder"
_ONE_PHASE = re.compile(r"(?i)\bphase\b")
_LOOKED_FOR = (
    "it states none that is understood; looked for: `Phase:` below `## Current Position`, "
    "`Current Phase:`, or `current_phase` in the frontmatter"
)
_KINDS = {
    "status": Kind.STATUS,
    "Status": Kind.STATUS,
    "Total Phases": Kind.COUNTER,
    **dict.fromkeys(LIFECYCLE, Kind.LIFECYCLE),
}


def state_findings(
    document: Document, path: str, standing: Standing, inventory: Inventory
) -> Iterator[Finding]:
    """What STATE.md says and the files do not."""
    recorded = read_recorded(document, path)
    yield from _numbers(recorded, standing)
    yield from _plans_completed(recorded, standing, inventory)
    yield from _words(document, path, standing)
    yield from _milestone(recorded, standing)
    for name, said in recorded.again:
        why = f"{said.value!r} stands there as well"
        yield Finding(Kind.TWICE, recorded.path, said.line, name, why, "")
    if not states_position(document):
        yield _odd(Kind.UNREAD, path, "position", _LOOKED_FOR)
    for section in further_positions(document):
        why = "a section of this name stands above, and only that one is read"
        yield Finding(Kind.SECTION, path, section.heading + 1, section.title, why, "")


def unread_findings(inventory: Inventory) -> Iterator[Finding]:
    """Folders that were not looked into: whatever they hold is missing in every number."""
    for path in inventory.unread:
        yield _odd(
            Kind.DOCUMENT, path, UNREAD_FOLDER, "is a link or a file, and is never looked into"
        )


def disk_findings(standing: Standing, inventory: Inventory) -> Iterator[Finding]:
    """What is odd on disk itself; nothing recorded is wrong because of it."""
    for folder in inventory.folders:
        yield from _folder(folder)
    for double in standing.scope.duplicates:
        what = f"phase {double.id.short if double.id else ''}"
        yield _odd(Kind.DUPLICATE, double.path, what, "another folder has this number")
    for phase in standing.scope.phases if standing.is_over else ():
        if phase.folder and not phase.is_complete(standing.policy):
            what, because = f"phase {phase.id.short}", unproven(phase)
            odd = _odd(Kind.ARCHIVED, phase.folder.path, what, _left_open(phase.folder))
            yield replace(odd, because=because)


def unproven(phase: Phase) -> tuple[str, ...]:
    """What is missing for a phase to be complete: its summaries, its verification or all of it."""
    if phase.folder is None:
        return (f"phase {phase.id.short} has no folder",)
    plans = phase.folder.live_plans
    missing = tuple(summary_path(plan.path) for plan in plans if not plan.is_complete)
    if missing:
        return missing
    why = "no plans" if not plans else "no verification that passed"
    return (f"{phase.folder.path} has {why}",)


def all_unproven(standing: Standing) -> tuple[str, ...]:
    """What is missing for the whole scope to be complete."""
    phases = standing.scope.phases
    if not phases:
        return ("no phase is in scope",)
    return tuple(
        each
        for phase in phases
        if not phase.is_complete(standing.policy)
        for each in unproven(phase)
    )


def _numbers(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    found = [*_counters(recorded, standing), *_percents(recorded, standing)]
    claims = any(finding.kind is Kind.CLAIM for finding in found)
    missing = all_unproven(standing) if claims else ()
    for finding in found:
        yield replace(finding, kind=Kind.CLAIM, because=missing) if claims else finding


def _counters(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    because = (standing.scope.words,)
    for name in COUNTERS:
        said = recorded.counters.get(name)
        true = getattr(standing.progress, name)
        if said is None or said.value == true:
            continue
        claims = name.startswith("completed") and said.value > true and not standing.is_complete
        kind = Kind.CLAIM if claims else Kind.COUNTER
        place = recorded.path, said.line, f"progress.{name}"
        yield Finding(kind, *place, str(said.value), str(true), because)


def _percents(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    progress = standing.progress
    because = (standing.scope.words,)
    said = recorded.percent
    if said and said.value != progress.percent:
        kind = _percent_kind(said.value, recorded, standing)
        place = recorded.path, said.line, "progress.percent"
        yield Finding(kind, *place, f"{said.value}%", f"{progress.percent}%", because)
    for bar in (recorded.bar, recorded.overall if standing.scope.is_whole else None):
        found = find_bar(bar.value) if bar else None
        if bar and found and (right := redrawn(bar.value, progress)) != bar.value:
            percent = right_percent(found, progress)
            place = recorded.path, bar.line, "Progress"
            if found.tells(percent):
                yield Finding(Kind.PERCENT, *place, bar.value, right, because)
            else:
                kind = _percent_kind(found.shown, recorded, standing)
                yield Finding(kind, *place, f"{found.shown}%", f"{percent}%", because)


def _percent_kind(said: int, recorded: Recorded, standing: Standing) -> Kind:
    """A percentage beside counters that are right is a miscalculation, not a claim."""
    progress = standing.progress
    counted = recorded.counters.get("completed_plans")
    if standing.is_complete or (counted and counted.value == progress.completed_plans):
        return Kind.PERCENT
    return Kind.CLAIM if said > _most(progress) else Kind.PERCENT


def _most(progress: Progress) -> int:
    """The most that any way of counting gives."""
    plans = -(-100 * progress.completed_plans // max(progress.total_plans, 1))
    phases = -(-100 * progress.completed_phases // max(progress.total_phases, 1))
    return max(plans, phases)


def _plans_completed(
    recorded: Recorded, standing: Standing, inventory: Inventory
) -> Iterator[Finding]:
    said = recorded.plans_completed
    if said is None:
        return
    active = completed_in(inventory.folders)
    fitting = {standing.progress.completed_plans, active, active + completed_in(inventory.archived)}
    if said.value in fitting:
        return
    place = recorded.path, said.line, "Total plans completed"
    values = str(said.value), str(standing.progress.completed_plans)
    if said.value > max(fitting) and not standing.is_complete:
        yield Finding(Kind.CLAIM, *place, *values, all_unproven(standing))
    else:
        yield Finding(Kind.COUNTER, *place, *values, (standing.scope.words,))


def _words(document: Document, path: str, standing: Standing) -> Iterator[Finding]:
    """Words that cannot be true: of the position, the status and what comes next."""
    for name, value in untrue_words(document, standing).items():
        said = told(document, name) or ""
        place = path, _line(document, name), name, said, shown(value)
        missing = _missing(document, name, said, standing)
        if missing:
            yield Finding(Kind.CLAIM, *place, missing)
        else:
            yield Finding(
                _KINDS.get(name, Kind.POSITION), *place, _because(document, name, said, standing)
            )


def _missing(document: Document, name: str, said: str, standing: Standing) -> tuple[str, ...]:
    """What is missing of that which it says is done; empty where it claims nothing."""
    named = _phase(phase_in(said), standing) if name == "Phase" else None
    if named:
        return unproven(named) if marks_too_much(said, named) else ()
    # Where no phase is worked on, the plans are those of the milestone.
    if name == "Plan" and not standing.is_over:
        here = _phase(recorded_id(document), standing) or standing.current
        return _missing_plans(said, here.folder) if here and here.folder else ()
    return all_unproven(standing) if _claims_all(name, said, standing) else ()


def _missing_plans(said: str, folder: Folder) -> tuple[str, ...]:
    missing = unproven_plans(said, folder.live_plans)
    if not missing and done_said(said, folder.live_plans) > folder.completed:
        return (folder.path,)  # which of its plans are meant cannot be told
    return tuple(summary_path(plan.path) for plan in missing)


def _claims_all(name: str, said: str, standing: Standing) -> bool:
    """Whether it says that all is done, and not only a phase, although not all is."""
    if not standing.scope.phases or standing.is_complete:
        return False
    if name not in ("status", "Status", "Phase", "Plan"):
        return False
    is_done = says_all_done(said) or normalise(said) is Status.COMPLETED
    return is_done and not _ONE_PHASE.search(said)


def _because(document: Document, name: str, said: str, standing: Standing) -> tuple[str, ...]:
    """The folder of the phase that is meant; the number of a plan, or of all phases, names none."""
    if "plan" in name.casefold():
        here = _open_phase(document, standing)
    else:
        here = None if name == "Total Phases" else _phase(phase_in(said), standing)
    return (here.folder.path,) if here and here.folder else (standing.scope.words,)


def _open_phase(document: Document, standing: Standing) -> Phase | None:
    """The phase of the position, unless that is finished or not there; then the current one."""
    here = _phase(recorded_id(document), standing)
    return here if here and not here.is_complete(standing.policy) else standing.current


def _phase(named: PhaseId | None, standing: Standing) -> Phase | None:
    return next((each for each in standing.scope.phases if each.id == named), None)


def _line(document: Document, name: str) -> int:
    field = None if name.islower() else field_of(document, name)
    return place_of(document.text, field.start)[0] if field else front_line(document, name)


def _milestone(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    named, scope = recorded.milestone, standing.scope
    if not named or not scope.milestone or named.value == scope.milestone:
        return
    place = recorded.path, named.line, "milestone"
    yield Finding(Kind.MILESTONE, *place, named.value, scope.milestone)
    name = recorded.milestone_name
    if name and scope.milestone_name and name.value != scope.milestone_name:
        place = recorded.path, name.line, "milestone_name"
        yield Finding(Kind.MILESTONE, *place, name.value, scope.milestone_name)


def _folder(folder: Folder) -> Iterator[Finding]:
    for orphan in folder.orphans:
        yield _odd(Kind.ORPHAN, orphan, "summary", "no plan belongs to it; it is not counted")
    for path in folder.unread:
        yield _odd(Kind.DOCUMENT, path, "file", "is a link or a special file, and is never read")
    odd = {
        Proof.EMPTY: (Kind.EMPTY, "is empty and proves nothing"),
        Proof.FAILED: (Kind.SELF_CHECK, "says that its own self-check failed"),
        Proof.BLOCKED: (Kind.SELF_CHECK, "says that the plan was blocked"),
        Proof.REHEARSED: (Kind.REHEARSED, "was made by a rehearsal and proves nothing"),
    }
    for plan in folder.plans:
        if plan.proof in odd and plan.summary:
            kind, why = odd[plan.proof]
            yield _odd(kind, plan.summary, "summary", why)


def _left_open(folder: Folder) -> str:
    still_open = [plan.id for plan in folder.live_plans if not plan.is_complete]
    if still_open:
        word = "plan" if len(still_open) == 1 else "plans"
        return f"no summary proves {word} {', '.join(still_open)}"
    return "no verification of it passed" if folder.live_plans else "it has no plans"


def _odd(kind: Kind, path: str, what: str, why: str) -> Finding:
    return Finding(kind, path, 0, what, why, "", is_drift=False)
