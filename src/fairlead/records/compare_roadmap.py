"""ROADMAP.md against the files: boxes of phases and plans, rows of the progress table, counts.

Only the phases in scope are held against their folders; archived milestones are history.
"""

import re
from collections.abc import Iterator

from fairlead.model.divergence import Finding, Kind
from fairlead.model.inventory import Listed, Phase, Plan, Roadmap, Stage
from fairlead.model.progress import folder_counts
from fairlead.model.standing import Standing
from fairlead.records.compare import unproven
from fairlead.records.keys import count
from fairlead.records.roadmap import names_of
from fairlead.records.roadmap_words import (
    ROW_BEGUN,
    ROW_DONE,
    says_begun,
    says_done,
    says_unbegun,
    says_unfinished,
    says_verified,
)
from fairlead.values import replace

_CELL = re.compile(r"\s*(?P<done>[0-9]+)\s*/\s*(?P<total>[0-9]+|TBD|\?)", re.IGNORECASE)
_ROW_WORDS = {
    Stage.NO_FOLDER: "Not started",
    Stage.EMPTY: "Not started",
    Stage.DISCUSSED: "Not started",
    Stage.RESEARCHED: "Not started",
    Stage.PLANNED: "Planned",
    Stage.PARTIAL: ROW_BEGUN,
    Stage.COMPLETE: ROW_BEGUN,  # its plans are done, but it does not count as complete yet
    Stage.VERIFIED: ROW_BEGUN,
}


def roadmap_findings(standing: Standing, path: str) -> Iterator[Finding]:
    """What ROADMAP.md says of the phases in scope and the files do not."""
    for phase in standing.scope.phases:
        if phase.listed:
            yield from _clashes(phase.listed, path)
            yield from _boxes(phase, phase.listed, standing, path)
            yield from _row(phase, phase.listed, standing, path)
            yield from _counts(phase, phase.listed, path)
            yield from _plan_boxes(phase, phase.listed, path)


def roadmap_notes(roadmap: Roadmap, path: str) -> Iterator[Finding]:
    """What is worth knowing of ROADMAP.md itself; nothing in it is wrong because of it."""
    if roadmap.unread_line:
        why = "it has text, and no phase is recognised in it"
        place = path, roadmap.unread_line, "roadmap"
        yield Finding(Kind.NO_PHASES, *place, why, "", is_drift=False)


def _clashes(listed: Listed, path: str) -> Iterator[Finding]:
    """Only one of the phases can be counted, and nothing tells which of them is meant."""
    if listed.clashes:
        said = f"{names_of(listed)} have one number"
        places = tuple(f"{path}:{each.line}: {each.text}" for each in listed.clashes)
        what = f"phase {listed.id.short}"
        yield Finding(Kind.DUPLICATE, path, listed.clashes[1].line, what, said, "", places)


def _boxes(phase: Phase, listed: Listed, standing: Standing, path: str) -> Iterator[Finding]:
    is_done = phase.is_complete(standing.policy)
    true = "complete" if is_done else _open_words(phase)
    for box in listed.boxes:
        if box.is_checked == is_done:
            continue
        kind, said = (Kind.CLAIM, "ticked") if box.is_checked else (Kind.BOX, "open")
        because = unproven(phase) if box.is_checked else _paths(phase)
        yield Finding(kind, path, box.line, f"phase {phase.id.short} box", said, true, because)


def _row(phase: Phase, listed: Listed, standing: Standing, path: str) -> Iterator[Finding]:
    """A row is one statement: with a claim in one cell all of them are left to a person."""
    found = list(_cells(phase, listed, standing, path))
    claims = any(finding.kind is Kind.CLAIM for finding in found)
    for finding in found:
        yield replace(finding, kind=Kind.CLAIM, because=unproven(phase)) if claims else finding


def _cells(phase: Phase, listed: Listed, standing: Standing, path: str) -> Iterator[Finding]:
    what = f"phase {phase.id.short}"
    if not listed.row_line:
        return
    yield from _count(phase, listed.plans_cell, path, listed.row_line, f"{what} plans")
    right = _right_status(listed.status, phase, is_done=phase.is_complete(standing.policy))
    told = path, listed.row_line, f"{what} status", listed.status, right
    if right and says_done(listed.status):
        yield Finding(Kind.CLAIM, *told, unproven(phase))
    elif right:
        yield Finding(Kind.ROW, *told, _paths(phase))


def _right_status(said: str, phase: Phase, *, is_done: bool) -> str:
    """The word that the files ask for where another contradicts them; empty where none does."""
    true = ROW_DONE if is_done else _ROW_WORDS[phase.stage]
    if says_done(said):
        is_proven = phase.stage is Stage.VERIFIED if says_verified(said) else is_done
        return "" if is_proven else true
    if is_done:
        return true if said and says_unfinished(said) else ""
    is_behind = says_unbegun(said) and true == ROW_BEGUN
    is_ahead = says_begun(said) and phase.stage is Stage.NO_FOLDER
    return true if is_behind or is_ahead else ""


def _counts(phase: Phase, listed: Listed, path: str) -> Iterator[Finding]:
    for mark in listed.counts:
        yield from _count(phase, mark.text, path, mark.line, f"phase {phase.id.short} count")


def _count(phase: Phase, said: str, path: str, line: int, what: str) -> Iterator[Finding]:
    right = right_counts(said, phase)
    if right:
        kind = _count_kind(said, phase)
        because = unproven(phase) if kind is Kind.CLAIM else _paths(phase)
        yield Finding(kind, path, line, what, said, right, because)


def _plan_boxes(phase: Phase, listed: Listed, path: str) -> Iterator[Finding]:
    by_name: dict[str, Plan] = {}
    for plan in phase.folder.live_plans if phase.folder else ():
        name = plan.path.rpartition("/")[2].removesuffix(".md")
        by_name[name] = by_name[plan.id] = plan
    for box in listed.plan_boxes:
        named = by_name.get(box.text)
        if named is None or named.is_complete == box.is_checked:
            continue
        told = path, box.line, f"plan {named.id} box"
        because = (named.summary or named.path,)
        if box.is_checked:
            yield Finding(Kind.CLAIM, *told, "ticked", "open", because)
        else:
            yield Finding(Kind.BOX, *told, "open", "complete", because)


def right_counts(said: str, phase: Phase) -> str:
    """`2/3` as the files have it, where another count is said; empty where it is right."""
    match = _CELL.match(said)
    done, total = folder_counts(phase.folder) if phase.folder else (0, 0)
    if not match or (match["done"] == str(done) and total == 0):
        return ""
    # Without plans on disk the planned number is all that is known.
    whole = str(total) if total else match["total"]
    return "" if (match["done"], match["total"]) == (str(done), whole) else f"{done}/{whole}"


def _count_kind(said: str, phase: Phase) -> Kind:
    match = _CELL.match(said)
    if not match or (phase.folder and phase.folder.is_implemented):
        return Kind.ROW
    done = folder_counts(phase.folder)[0] if phase.folder else 0
    return Kind.CLAIM if count(match["done"]) > done else Kind.ROW


def _open_words(phase: Phase) -> str:
    is_unverified = phase.stage in (Stage.COMPLETE, Stage.VERIFIED)
    return "not verified" if is_unverified else phase.stage.value.replace("_", " ")


def _paths(phase: Phase) -> tuple[str, ...]:
    return (phase.folder.path,) if phase.folder else ()
