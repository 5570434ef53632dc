"""Recorded against derived: every difference between STATE.md and the files, and odd files.

More than the files prove is a claim as long as something in scope is unproven; when all of it is
complete, a greater number only counts other phases. The numbers of the progress block stand or
fall together: with one claim among them all of them are left to a person.
"""

from collections.abc import Iterator
from dataclasses import replace

from fairlead.model.divergence import Finding, Kind
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Folder, Inventory, Phase, Proof
from fairlead.model.progress import Progress, completed_in
from fairlead.model.recorded import COUNTERS, Recorded, SaidText
from fairlead.model.standing import Standing
from fairlead.model.status import Status, is_default, normalise
from fairlead.records.bars import find_bar, redrawn, right_percent
from fairlead.records.digest import lifecycle_of, plan_line, position_line
from fairlead.records.naming import summary_name
from fairlead.records.position import may_be_active
from fairlead.records.recorded import phase_in


def state_findings(
    recorded: Recorded, standing: Standing, inventory: Inventory
) -> Iterator[Finding]:
    """What STATE.md says and the files do not."""
    yield from _numbers(recorded, standing)
    yield from _plans_completed(recorded, standing, inventory)
    yield from _position(recorded, standing)
    yield from _status(recorded, standing)
    yield from _milestone(recorded, standing)
    yield from _lifecycle(recorded, standing)
    for name, said in recorded.again:
        why = f"{said.value!r} stands there as well"
        yield Finding(Kind.TWICE, recorded.path, said.line, name, why, "")


def disk_findings(standing: Standing, inventory: Inventory) -> Iterator[Finding]:
    """What is odd on disk itself; nothing recorded is wrong because of it."""
    for folder in inventory.folders:
        yield from _folder(folder)
    for double in standing.scope.duplicates:
        what = f"phase {double.id.short if double.id else ''}"
        yield _odd(Kind.DUPLICATE, double.path, what, "another folder has this number")


def unproven(phase: Phase) -> tuple[str, ...]:
    """What is missing for a phase to be complete: its summaries, its verification or all of it."""
    if phase.folder is None:
        return (f"phase {phase.id.short} has no folder",)
    plans = phase.folder.live_plans
    missing = tuple(_summary_of(plan.path) for plan in plans if not plan.is_complete)
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
    bar = recorded.bar
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


def _position(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    """A phase that is complete, or not there at all, is no position; and there is only one."""
    if not recorded.phases or not standing.scope.phases:
        return
    here = recorded.phases[0].value
    is_right = _may_be_here(here, standing)
    true = f"phase {here.short}" if is_right else _true_position(standing)
    is_wrong = False
    for said in recorded.phases:
        if is_right and said.value == here:
            continue
        is_wrong = True
        because = _folder_of(said.value, standing)
        place = recorded.path, said.line, said.what
        yield Finding(Kind.POSITION, *place, f"phase {said.value.short}", true, because)
    if is_wrong:
        yield from _beside_the_position(recorded, standing)


def _beside_the_position(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    """The plan and the name that went with a position which is no longer right."""
    wrong = {said.what for said in recorded.phases if not _may_be_here(said.value, standing)}
    plan, name = recorded.plan, recorded.phase_name
    if plan and wrong & {"Phase", "Current Phase"} and plan.value != plan_line(standing):
        place = recorded.path, plan.line, "Plan"
        yield Finding(Kind.POSITION, *place, plan.value, plan_line(standing))
    current = standing.current.name if standing.current else ""
    if name and "current_phase" in wrong and name.value != current:
        place = recorded.path, name.line, "current_phase_name"
        yield Finding(Kind.POSITION, *place, name.value, current or "none")


def _may_be_here(phase: PhaseId, standing: Standing) -> bool:
    here = next((each for each in standing.scope.phases if each.id == phase), None)
    if here is None:
        return False
    if not here.is_complete(standing.policy):
        return True
    # The last phase of a finished milestone.
    return standing.current is None and here.id == standing.scope.phases[-1].id


def _true_position(standing: Standing) -> str:
    return f"phase {standing.current.id.short}" if standing.current else position_line(standing)


def _folder_of(phase: PhaseId, standing: Standing) -> tuple[str, ...]:
    here = next((each for each in standing.scope.phases if each.id == phase), None)
    return (here.folder.path,) if here and here.folder else ()


def _status(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    for said, what in ((recorded.front_status, "status"), (recorded.status, "Status")):
        if said is None or (what == "Status" and not is_default(said.value)):
            continue
        status = normalise(said.value)
        claims_done = status is Status.COMPLETED and "phase" not in said.value.lower()
        true = str(standing.status) if what == "status" else standing.words
        told = recorded.path, said.line, what, said.value, true
        if claims_done and not standing.is_complete and standing.scope.phases:
            yield Finding(Kind.CLAIM, *told, all_unproven(standing))
        elif standing.is_complete and status in (Status.EXECUTING, Status.PLANNING):
            yield Finding(Kind.STATUS, *told, (standing.scope.words,))


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


def _lifecycle(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    """Work that is said to go on, or to come next, on a phase that is finished or not there."""
    held = recorded.lifecycle
    active = phase_in(held["active_phase"].value) if "active_phase" in held else None
    status = recorded.front_status.value if recorded.front_status else ""
    if active is not None and may_be_active(active, status, standing):
        return
    if active is None and not _is_next_wrong(held, standing):
        return
    because = _folder_of(active, standing) if active else ()
    for name, value in lifecycle_of(standing).items():
        true = ", ".join(value) if isinstance(value, list) else value or "null"
        if name in held and held[name].value != true:
            said = held[name]
            yield Finding(Kind.LIFECYCLE, recorded.path, said.line, name, said.value, true, because)


def _is_next_wrong(held: dict[str, SaidText], standing: Standing) -> bool:
    action = held["next_action"].value if "next_action" in held else ""
    named = held["next_phases"].value.split(", ") if "next_phases" in held else []
    phases = [phase for each in named if (phase := phase_in(each)) is not None]
    status = "verifying" if action == "verify-phase" else ""
    return not all(may_be_active(each, status, standing) for each in phases)


def _summary_of(plan: str) -> str:
    folder, _, name = plan.rpartition("/")
    return f"{folder}/{summary_name(name)}"


def _folder(folder: Folder) -> Iterator[Finding]:
    for orphan in folder.orphans:
        yield _odd(Kind.ORPHAN, orphan, "summary", "no plan belongs to it; it is not counted")
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


def _odd(kind: Kind, path: str, what: str, why: str) -> Finding:
    return Finding(kind, path, 0, what, why, "", is_drift=False)
