"""Recorded against derived: every difference between the documents and the files."""

import re
from collections.abc import Iterator

from fairlead.model.divergence import Finding, Kind
from fairlead.model.inventory import Folder, Inventory, Listed, Phase, Proof
from fairlead.model.recorded import COUNTERS, Recorded
from fairlead.model.standing import Standing
from fairlead.model.status import Status, is_default, normalise

_CELL = re.compile(r"\s*(?P<done>[0-9]+)\s*/\s*(?P<total>[0-9]+)\s*\Z")


def state_findings(
    recorded: Recorded, standing: Standing, inventory: Inventory
) -> Iterator[Finding]:
    """What STATE.md says and the files do not."""
    yield from _counters(recorded, standing)
    yield from _percents(recorded, standing)
    yield from _plans_completed(recorded, standing, inventory)
    yield from _position(recorded, standing)
    yield from _status(recorded, standing)
    named = recorded.milestone
    if named and standing.scope.milestone and named.value != standing.scope.milestone:
        yield Finding(
            Kind.MILESTONE,
            recorded.path,
            named.line,
            "milestone",
            named.value,
            standing.scope.milestone,
        )


def roadmap_findings(standing: Standing, path: str) -> Iterator[Finding]:
    """What ROADMAP.md says of the phases in scope and the files do not."""
    for phase in standing.scope.phases:
        if phase.listed:
            yield from _listed(phase, phase.listed, standing, path)


def disk_findings(standing: Standing, inventory: Inventory) -> Iterator[Finding]:
    """What is odd on disk itself; nothing recorded is wrong because of it."""
    for folder in inventory.folders:
        yield from _folder(folder)
    for double in standing.scope.duplicates:
        number = double.id.short if double.id else ""
        yield Finding(
            Kind.DUPLICATE,
            double.path,
            0,
            f"phase {number}",
            "another folder has this number",
            "",
            is_drift=False,
        )


def missing_summaries(standing: Standing) -> tuple[str, ...]:
    """The plans of the scope that no summary proves."""
    return tuple(
        plan.path
        for phase in standing.scope.phases
        if phase.folder
        for plan in phase.folder.live_plans
        if not plan.is_complete
    )


def _counters(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    for name in COUNTERS:
        said = recorded.counters.get(name)
        true = getattr(standing.progress, name)
        if said is None or said.value == true:
            continue
        claims = name.startswith("completed") and said.value > true
        kind = Kind.CLAIM if claims else Kind.COUNTER
        because = missing_summaries(standing) if claims else (standing.scope.words,)
        yield Finding(
            kind, recorded.path, said.line, f"progress.{name}", str(said.value), str(true), because
        )


def _percents(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    true = standing.progress.percent
    shown = standing.progress.plans_percent if recorded.is_by_plans else true
    for said, what, right in (
        (recorded.percent, "progress.percent", true),
        (recorded.bar, "Progress", shown),
    ):
        if said is None or said.value == right:
            continue
        kind = Kind.CLAIM if said.value > right else Kind.PERCENT
        because = missing_summaries(standing) if said.value > right else (standing.scope.words,)
        yield Finding(kind, recorded.path, said.line, what, f"{said.value}%", f"{right}%", because)


def _plans_completed(
    recorded: Recorded, standing: Standing, inventory: Inventory
) -> Iterator[Finding]:
    said = recorded.plans_completed
    if said is None:
        return
    active = _completed(inventory.folders)
    fitting = {standing.progress.completed_plans, active, active + _completed(inventory.archived)}
    if said.value not in fitting:
        claims = said.value > max(fitting)
        kind = Kind.CLAIM if claims else Kind.COUNTER
        true = standing.progress.completed_plans
        because = missing_summaries(standing) if claims else ()
        yield Finding(
            kind,
            recorded.path,
            said.line,
            "Total plans completed",
            str(said.value),
            str(true),
            because,
        )


def _completed(folders: tuple[Folder, ...]) -> int:
    return sum(plan.is_complete for folder in folders for plan in folder.live_plans)


def _position(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    """A phase that is complete, or not there at all, is no position."""
    if recorded.phase is None or not standing.scope.phases:
        return
    here = next((phase for phase in standing.scope.phases if phase.id == recorded.phase), None)
    if here is not None and not here.is_complete(standing.policy):
        return
    if here is not None and standing.current is None and here.id == standing.scope.phases[-1].id:
        return  # the last phase of a finished milestone
    true = f"phase {standing.current.id.short}" if standing.current else "every phase is complete"
    said = f"phase {recorded.phase.short}"
    because = (here.folder.path,) if here and here.folder else ()
    yield Finding(Kind.POSITION, recorded.path, recorded.phase_line, "Phase", said, true, because)


def _status(recorded: Recorded, standing: Standing) -> Iterator[Finding]:
    for said, what in ((recorded.front_status, "status"), (recorded.status, "Status")):
        if said is None or (what == "Status" and not is_default(said.value)):
            continue
        claims_done = (
            normalise(said.value) is Status.COMPLETED and "phase" not in said.value.lower()
        )
        if claims_done and not standing.is_complete and standing.scope.phases:
            yield Finding(
                Kind.CLAIM,
                recorded.path,
                said.line,
                what,
                said.value,
                str(standing.status),
                missing_summaries(standing),
            )
        elif standing.is_complete and normalise(said.value) in (Status.EXECUTING, Status.PLANNING):
            yield Finding(
                Kind.STATUS, recorded.path, said.line, what, said.value, str(Status.COMPLETED)
            )


def _listed(phase: Phase, listed: Listed, standing: Standing, path: str) -> Iterator[Finding]:
    is_done = phase.is_complete(standing.policy)
    what = f"phase {phase.id.short}"
    paths = (phase.folder.path,) if phase.folder else ()
    if listed.is_checked is not None and listed.is_checked != is_done:
        kind = Kind.CLAIM if listed.is_checked else Kind.BOX
        said = "ticked" if listed.is_checked else "open"
        because = _unproven(phase) if listed.is_checked else paths
        yield Finding(
            kind,
            path,
            listed.line,
            f"{what} box",
            said,
            "complete" if is_done else phase.stage.value,
            because,
        )
    match = _CELL.match(listed.plans_cell)
    if match and phase.folder:
        done = sum(plan.is_complete for plan in phase.folder.live_plans)
        total = len(phase.folder.live_plans)
        if total and (int(match["done"]), int(match["total"])) != (done, total):
            kind = Kind.CLAIM if int(match["done"]) > done else Kind.ROW
            yield Finding(
                kind,
                path,
                listed.line,
                f"{what} plans",
                listed.plans_cell,
                f"{done}/{total}",
                _unproven(phase) or paths,
            )


def _unproven(phase: Phase) -> tuple[str, ...]:
    plans = phase.folder.live_plans if phase.folder else ()
    return tuple(plan.path for plan in plans if not plan.is_complete)


def _folder(folder: Folder) -> Iterator[Finding]:
    for orphan in folder.orphans:
        yield Finding(
            Kind.ORPHAN,
            orphan,
            0,
            "summary",
            "no plan belongs to it; it is not counted",
            "",
            is_drift=False,
        )
    odd = {
        Proof.EMPTY: (Kind.EMPTY, "is empty and proves nothing"),
        Proof.FAILED: (Kind.SELF_CHECK, "says that its own self-check failed"),
        Proof.BLOCKED: (Kind.SELF_CHECK, "says that the plan was blocked"),
    }
    for plan in folder.plans:
        if plan.proof in odd and plan.summary:
            kind, why = odd[plan.proof]
            yield Finding(kind, plan.summary, 0, "summary", why, "", is_drift=False)
