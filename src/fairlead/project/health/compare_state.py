"""STATE.md compared with the files, and notes about unusual files.

A recorded number above the proven one is a claim while something in scope is unproven; once
everything is complete, it merely counts other phases. The numbers of the progress block belong
together: if one of them is a claim, all of them are left to a person.
"""

import re
from collections.abc import Iterator, Mapping

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import replace
from fairlead.project.derive.inventory import Inventory, Phase, PhaseFolder, Proof, Stage
from fairlead.project.derive.position import Position
from fairlead.project.derive.progress import Progress, folder_counts, progress_of, ratios_of
from fairlead.project.derive.scope import Certainty, claimed_plans
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.naming import summary_path
from fairlead.project.roadmap.milestone_lines import key_of
from fairlead.project.state.activity import differing_words, is_position_form
from fairlead.project.state.bars import find_bar, redrawn, right_percent
from fairlead.project.state.contradictions import (
    contradicted_fields,
    display_text,
    placing_field,
    recorded_text,
)
from fairlead.project.state.digest import (
    FieldTexts,
    claimed_done,
    has_possible_total,
    overstates_phase,
    recorded_phase_id,
    unproven_plans,
)
from fairlead.project.state.header import header_note, is_writable
from fairlead.project.state.recorded import (
    COUNTERS,
    LIFECYCLE,
    RecordedState,
    body_field,
    front_line,
    further_positions,
    phase_in,
    states_position,
)
from fairlead.project.state.session import resume_file
from fairlead.project.status_words import Status, normalise, says_all_done
from fairlead.store import layout
from fairlead.text.document import Document
from fairlead.text.lines import place_of
from fairlead.text.outline import Section

UNREAD_FOLDER = "folder"
_BEFORE_THE_FIRST = ("not started", "defining requirements")
_NO_PLAN = ("n/a", "none", "(none)", "tbd")
_STROKE = lazy_pattern(r"\s*/\s*(?=[0-9])")
# `2 of 3 — Search — VERIFIED`, a form of older versions.
_NAMED_FORM = lazy_pattern(r"(?:Phase )?[0-9][\w.]*(?: of [0-9]+)?(?: — [^\d—]{1,40}){1,2}\Z")
_EXECUTION = lazy_pattern(r"\b(?:executing|ready to execute)\b", re.IGNORECASE)
_PLAN_COUNTS = lazy_pattern(r"\W*(?P<done>[0-9]{1,4}) of (?P<total>[0-9]{1,4}|\?)")
_COUNTED = lazy_pattern(
    r"\b(?P<done>[0-9]{1,4})\s*(?:/|of)\s*(?P<total>[0-9]{1,4})\s+(?P<unit>plans|phases)\b"
)
_PLANNED_TOTAL = lazy_pattern(r"(?:\A|/)\s*([0-9]{1,4})(?:\s+plans?\b|\s*\Z)")
_SAYS_COMPLETE = lazy_pattern(r"(?i)(?<!in)\bcomplete")
_PHASE_DONE = lazy_pattern(r"(?i)phase(?: [0-9][\w.]*)? complete\b")
_ONE_PHASE = lazy_pattern(r"(?i)\bphase\b")
_LOOKED_FOR = (
    "it states none that is understood; looked for: `Phase:` below `## Current Position`, "
    "`Current Phase:`, or `current_phase` in the frontmatter"
)
_NAMES_PHASE = ("Phase", "current_phase", "current_phase_name", "Current focus")
_KINDS = {
    "status": FindingKind.STATUS,
    "Status": FindingKind.STATUS,
    "Total Phases": FindingKind.COUNTER,
    **dict.fromkeys(LIFECYCLE, FindingKind.LIFECYCLE),
}


def state_findings(
    document: Document, path: str, position: Position, inventory: Inventory
) -> Iterator[Finding]:
    """The findings in STATE.md."""
    recorded = RecordedState(document, path)
    if position.scope.certainty is Certainty.CERTAIN:
        yield from _numbers(recorded, position)
        yield from _texts(document, path, position)
    if len({reading.milestone for reading in position.scope.readings}) == 1:
        yield from _milestone(recorded, position, inventory)
    for name, said in recorded.repeated:
        why = f"{said.value!r} is recorded there too"
        yield Finding(FindingKind.TWICE, recorded.path, said.line, name, why, "")
    why = header_note(document)
    if why and is_writable(document):
        yield _note(FindingKind.STATUS, path, "frontmatter", why)
    if not states_position(document):
        yield _note(FindingKind.UNREAD, path, "position", _LOOKED_FOR)
    for section in further_positions(document):
        why = "an earlier section has this name, and only that one is read"
        yield Finding(
            FindingKind.SECTION, path, _heading(document, section), section.title, why, ""
        )


def reference_notes(
    document: Document, path: str, texts: Mapping[str, str | None], position: Position
) -> Iterator[Finding]:
    """Notes about what STATE.md takes from other files: core value, focus and handover.

    A difference is a note: other words may mean the same, and a handover may have been used up.
    """
    resume = resume_file(document)
    if resume in texts and texts[resume] is None:
        yield _note_at(document, path, "Resume file", f"{resume} does not exist")
    project = texts.get(layout.PROJECT)
    stated = differing_words(document, Document(project), position) if project else ()
    for label, _, words in stated:
        yield _note_at(document, path, label, f"{layout.PROJECT} says {words!r}")


def _note_at(document: Document, path: str, name: str, why: str) -> Finding:
    return replace(_note(FindingKind.POSITION, path, name, why), line=_line(document, name))


def _heading(document: Document, section: Section) -> int:
    return place_of(document.text, document.lines[section.heading].start)[0]


def unread_findings(inventory: Inventory) -> Iterator[Finding]:
    """Folders that were not read; their content is missing from every number."""
    for path in inventory.unread:
        yield _note(
            FindingKind.DOCUMENT,
            path,
            UNREAD_FOLDER,
            "is a link or a file, and is never read",
        )


def disk_findings(position: Position, inventory: Inventory) -> Iterator[Finding]:
    """Notes about unusual files; they make no document wrong."""
    counted = {
        plan.summary
        for phase in position.scope.phases
        for plan in (phase.folder.plans if phase.folder else ())
    }
    for folder in inventory.folders:
        for note in _folder(folder):
            if note.kind is not FindingKind.ORPHAN or note.path not in counted:
                yield note
    for duplicate in position.scope.duplicates:
        what = f"phase {duplicate.id.short if duplicate.id else ''}"
        yield _note(FindingKind.DUPLICATE, duplicate.path, what, "another folder has this number")
    for phase in position.scope.phases if position.is_over else ():
        if phase.folder and not phase.is_complete(position.policy):
            what, because = f"phase {phase.id.short}", unproven(phase)
            note = _note(FindingKind.ARCHIVED, phase.folder.path, what, _open_reason(phase.folder))
            yield replace(note, because=because)


def unproven(phase: Phase) -> tuple[str, ...]:
    """What a phase lacks to be complete: its folder, its plans, summaries or a verification."""
    if phase.folder is None:
        return (f"phase {phase.id.short} has no folder",)
    plans = phase.folder.live_plans
    missing = tuple(summary_path(plan.path) for plan in plans if not plan.is_complete)
    if missing:
        return missing
    why = "no plans" if not plans else "no passed verification"
    return (f"{phase.folder.path} has {why}",)


def all_unproven(position: Position) -> tuple[str, ...]:
    """What the phases in scope lack to be complete."""
    phases = position.scope.phases
    if not phases:
        return ("no phase is in scope",)
    return tuple(
        each
        for phase in phases
        if not phase.is_complete(position.policy)
        for each in unproven(phase)
    )


def _numbers(recorded: RecordedState, position: Position) -> Iterator[Finding]:
    findings = [*_counters(recorded, position), *_percents(recorded, position)]
    has_claim = any(finding.kind is FindingKind.CLAIM for finding in findings)
    missing = all_unproven(position) if has_claim else ()
    for finding in findings:
        yield replace(finding, kind=FindingKind.CLAIM, because=missing) if has_claim else finding


def _counters(recorded: RecordedState, position: Position) -> Iterator[Finding]:
    because = (position.scope.words,)
    for name in COUNTERS:
        entry = recorded.counters.get(name)
        true = getattr(position.progress, name)
        if entry is None or entry.value == true or may_count(name, entry.value, position):
            continue
        claims = name.startswith("completed") and entry.value > true and not position.is_complete
        kind = FindingKind.CLAIM if claims else FindingKind.COUNTER
        place = recorded.path, entry.line, f"progress.{name}"
        yield Finding(kind, *place, str(entry.value), str(true), because)


def _percents(recorded: RecordedState, position: Position) -> Iterator[Finding]:
    progress = position.progress
    because = (position.scope.words,)
    said = recorded.percent
    if said and said.value not in possible_percents(position):
        kind = _percent_kind(said.value, recorded, position)
        place = recorded.path, said.line, "progress.percent"
        yield Finding(kind, *place, f"{said.value}%", f"{progress.percent}%", because)
    for bar in (recorded.bar, recorded.overall if position.scope.is_whole else None):
        parsed = find_bar(bar.value) if bar else None
        if bar and parsed and (right := redrawn(bar.value, progress)) != bar.value:
            percent = right_percent(parsed, progress)
            possible = possible_percents(position)
            possible |= _other_percents(bar.value, position, is_alone=said is None)
            if any(parsed.tells(each) for each in possible - {percent}):
                continue
            place = recorded.path, bar.line, "Progress"
            if parsed.tells(percent):
                yield Finding(FindingKind.PERCENT, *place, bar.value, right, because)
            else:
                kind = _percent_kind(parsed.shown, recorded, position)
                yield Finding(kind, *place, f"{parsed.shown}%", f"{percent}%", because)


def _unverified(position: Position) -> int:
    """Finished phases that wait for their verification; a document may still count them as open."""
    return sum(position.scope.is_awaiting(phase) for phase in position.scope.phases)


def may_count(name: str, value: int, position: Position) -> bool:
    """Whether a counter may stand although the files give another number.

    Zeros between milestones, finished phases not yet verified, plans that the roadmap lists and
    nobody has written yet, and plans whose file is gone may be counted either way.
    """
    scope = position.scope
    if scope.is_closed and value == 0:
        return True
    if name == "total_plans" and value == sum(map(planned_plans, scope.phases)):
        return True
    if name.endswith("_plans") and value == getattr(position.progress, name) - lost_plans(position):
        return True
    done = position.progress.completed_phases
    return name == "completed_phases" and done - _unverified(position) <= value <= done


def lost_plans(position: Position) -> int:
    """The plans that count although only their summary is left."""
    folders = [phase.folder for phase in position.scope.phases if phase.folder]
    return sum(plan.path == plan.summary for folder in folders for plan in folder.live_plans)


def planned_plans(phase: Phase) -> int:
    """The number of plans of a phase: on disk, else as the roadmap lists or counts them."""
    if phase.folder and phase.folder.plans:
        return len(phase.folder.live_plans)
    listed = phase.listed
    if listed is None:
        return 0
    counts = (listed.plans_cell, *(mark.text for mark in listed.counts))
    totals = [int(found[1]) for text in counts if (found := _PLANNED_TOTAL.search(text))]
    return max(len(listed.plan_boxes), *totals, 0)


def possible_percents(position: Position) -> set[int]:
    """The percentages that may stand."""
    progress = position.progress
    counts = range(progress.completed_phases - _unverified(position), progress.completed_phases + 1)
    percents = {replace(progress, completed_phases=count).percent for count in counts}
    if position.scope.is_closed:
        return percents | {0}
    is_listed = any(phase.listed for phase in position.scope.phases)
    # Without a roadmap, nobody knows which phases are still to come.
    return percents if is_listed else percents | {*range(progress.percent)}


def _other_percents(text: str, position: Position, *, is_alone: bool) -> set[int]:
    """What a bar of the body may show besides the percentage of the milestone.

    All milestones together; the ratio of counts beside it, if these are right: `40% (2/5 plans)`.
    Without a percentage in the frontmatter (older versions of the reference tool have none there)
    also plans alone or phases alone.
    """
    scope, progress = position.scope, position.progress
    parts = [scope.phases, *([(*scope.elsewhere, *scope.phases)] if scope.elsewhere else [])]
    numbers = [progress_of(phases, position.policy) for phases in parts]
    plans = {(each.completed_plans, each.total_plans) for each in numbers}
    phases = {(each.completed_phases, each.total_phases) for each in numbers}
    percents = {each.percent for each in numbers[1:]}
    counted = _COUNTED.search(text)
    if counted:
        planned = {(progress.completed_plans, sum(map(planned_plans, scope.phases)))}
        here = position.current.folder if position.current else None
        planned |= {folder_counts(here)} if here else set()
        right = plans | planned if counted["unit"] == "plans" else phases
        percents |= ratios_of(right & {(int(counted["done"]), int(counted["total"]))})
    return percents | ratios_of(plans | phases) if is_alone else percents


def _percent_kind(percent: int, recorded: RecordedState, position: Position) -> FindingKind:
    """A wrong percentage beside right counters is a miscalculation, not a claim."""
    progress = position.progress
    counted = recorded.counters.get("completed_plans")
    if position.is_complete or (counted and counted.value == progress.completed_plans):
        return FindingKind.PERCENT
    if percent > progress.percent and any(map(_is_claimed, position.scope.phases)):
        return FindingKind.CLAIM  # it may count the phases that the roadmap calls finished
    return FindingKind.CLAIM if percent > _most(progress) else FindingKind.PERCENT


def _most(progress: Progress) -> int:
    """The highest percentage that any way of counting gives."""
    plans = -(-100 * progress.completed_plans // max(progress.total_plans, 1))
    phases = -(-100 * progress.completed_phases // max(progress.total_phases, 1))
    return max(plans, phases)


def _texts(document: Document, path: str, position: Position) -> Iterator[Finding]:
    """Wrong texts about the position, the status and the next action."""
    fields = contradicted_fields(document, position)
    claimed = _claimed_position(document, fields, position)
    moved: tuple[str, ...] | None = None  # what a wrong position line lacks
    stands_apart = _stands_before(document, position)
    placed_by = placing_field(document, position) if fields else ""
    for name, value in fields.items():
        text = recorded_text(document, name) or ""
        missing = _missing(document, name, text, position) or claimed
        follows = name == "Current focus" and moved is not None
        missing = missing or (moved if follows and moved else ())
        may_stand = stands_apart or (not follows and _may_stand(document, name, text, position))
        if name == "Phase" and has_possible_total(text, display_text(value), position):
            may_stand = True
        if not missing and may_stand:
            continue
        moved = missing if name == "Phase" else moved
        is_word = name != "status" or text in list(Status) or document.value(name) is None
        if not missing and not is_word:
            why = f"{text!r} is not one of the words for a status"
            place = path, _line(document, name), name, why, ""
            yield Finding(FindingKind.STATUS, *place, is_drift=False, is_repairable=False)
            continue
        place = path, _line(document, name), name, text, display_text(value)
        plain = _STROKE.sub(" of ", text.replace("*", ""), count=1)
        is_own = name != "Phase" or is_position_form(plain) or bool(_NAMED_FORM.match(plain))
        if missing:
            yield Finding(FindingKind.CLAIM, *place, missing)
        else:
            kind, because = (
                _KINDS.get(name, FindingKind.POSITION),
                _because(document, name, text, position),
            )
            if name in _NAMES_PHASE and placed_by not in ("", name):
                because = (f"{path}:{_line(document, placed_by)}",)
            yield Finding(kind, *place, because, is_repairable=is_own)


def _stands_before(document: Document, position: Position) -> bool:
    """Whether STATE.md still stands at the end of a shipped milestone, and the next has no work."""
    scope, named = position.scope, recorded_phase_id(document)
    if named is None or any(phase.folder and phase.folder.plans for phase in scope.phases):
        return False
    before = [each for each in scope.elsewhere if each.id == named]
    return len(before) == 1 and scope.is_shipped(before[0])


def _claimed_position(
    document: Document, fields: FieldTexts, position: Position
) -> tuple[str, ...]:
    """What the phase lacks that a repair would move to, if the roadmap calls it finished.

    Then the position depends on that claim, and moving it back is a person's decision.
    """
    moved = phase_in(display_text(fields.get("Phase") or fields.get("current_phase") or ""))
    is_moved = moved != recorded_phase_id(document)
    current = (_phase(moved, position) if is_moved else None) or position.current
    return unproven(current) if current and _is_claimed(current) else ()


def _is_claimed(phase: Phase) -> bool:
    """Whether the roadmap calls a phase or all of its plans finished, and the files do not."""
    listed = phase.listed
    if listed is None:
        return False
    done, total = claimed_plans(listed)
    is_called_done = listed.is_called_done or done == total > 0
    return is_called_done and phase.stage not in (Stage.COMPLETE, Stage.VERIFIED)


def _may_stand(document: Document, name: str, text: str, position: Position) -> bool:
    """Whether a text is no statement that the files refute, although a sync would replace it."""
    if "plan" in name.casefold():
        return _may_stand_plan(document, text, position)
    named = phase_in(text.removeprefix("Phase ").removeprefix("Phase"))
    if position.scope.is_closed and named is None:
        # Between milestones a position without a phase and any status are right as they stand.
        return name != "Status" or not says_all_done(text)
    if name in ("Phase", "Status") and text.casefold().startswith(_BEFORE_THE_FIRST):
        return not any(phase.folder and phase.folder.plans for phase in position.scope.phases)
    awaiting = _awaiting(document, position)
    if awaiting is None:
        return name == "Phase" and _is_at_last_work(text, position)
    if _EXECUTION.search(text):
        return False  # nothing of it is left to execute
    is_there = named == awaiting.id or (named is None and name in ("status", "Status"))
    return is_there or name.startswith("current_phase")


def _is_at_last_work(text: str, position: Position) -> bool:
    """Whether a line calls the last phase with finished plans complete, which it is."""
    named = _phase(phase_in(text), position)
    if named is None or not _SAYS_COMPLETE.search(text) or not named.is_complete(position.policy):
        return False
    later = (each for each in position.scope.phases if each.id > named.id)
    return not any(each.folder and each.folder.completed for each in later)


def _may_stand_plan(document: Document, text: str, position: Position) -> bool:
    counts = _PLAN_COUNTS.match(text)
    here = _phase(recorded_phase_id(document), position) or position.current
    if counts is None:
        is_begun = here is not None and here.folder is not None and here.folder.completed > 0
        is_unstated = not any(map(str.isalnum, text)) or text.casefold() in _NO_PLAN
        is_unbegun = text.casefold().startswith("not started") and not is_begun
        return position.scope.is_closed or is_unstated or is_unbegun
    done = int(counts["done"])
    if here is None or here.folder is None or not here.folder.plans:
        planned = planned_plans(here) if here else 0
        return done == 0 or (done <= planned and counts["total"] == str(planned))
    total = len(here.folder.live_plans)
    line = recorded_text(document, "Phase") or ""
    is_there = here == position.current or here == _awaiting(document, position) or position.is_over
    is_there = is_there or _is_at_last_work(line, position)
    return (
        is_there
        and counts["total"] in (str(total), "?")
        and done in (total, 0)
        and (here.folder.is_implemented or done == 0 == here.folder.completed)
    )


def _awaiting(document: Document, position: Position) -> Phase | None:
    """The recorded phase, if its plans are done, nothing verifies it and no later work was done."""
    here = _phase(recorded_phase_id(document), position)
    return here if here and position.scope.is_awaiting(here) else None


def _missing(document: Document, name: str, text: str, position: Position) -> tuple[str, ...]:
    """What is missing for a claimed completion; empty if the text claims none."""
    named = _phase(phase_in(text), position) if name == "Phase" else None
    if named:
        return unproven(named) if overstates_phase(text, named) else ()
    # If all phases are finished, the text is about the plans of the milestone.
    if name == "Plan" and not position.is_over:
        here = _phase(recorded_phase_id(document), position) or position.current
        return _missing_plans(text, here.folder) if here and here.folder else ()
    here = _phase(recorded_phase_id(document), position)
    if name == "Status" and here and _PHASE_DONE.match(text):
        return () if here.stage in (Stage.COMPLETE, Stage.VERIFIED) else unproven(here)
    return all_unproven(position) if _claims_all(name, text, position) else ()


def _missing_plans(text: str, folder: PhaseFolder) -> tuple[str, ...]:
    missing = unproven_plans(text, folder.live_plans)
    counts = _PLAN_COUNTS.match(text)
    plans = folder.live_plans
    if not missing and counts and counts["total"] == str(len(plans)):
        at = int(counts["done"])
        is_ahead = 1 < at <= len(plans) and not plans[at - 1].is_complete
        missing = tuple(plan for plan in plans[: at - 1] if is_ahead and not plan.is_complete)
    if not missing and claimed_done(text, folder.live_plans) > folder.completed:
        return (folder.path,)  # it is unknown which of its plans are meant
    return tuple(summary_path(plan.path) for plan in missing)


def _claims_all(name: str, text: str, position: Position) -> bool:
    """Whether the text says that everything, not only one phase, is done, although it is not."""
    if not position.scope.phases or position.is_complete:
        return False
    if name not in ("status", "Status", "Phase", "Plan"):
        return False
    is_done = says_all_done(text) or normalise(text) is Status.COMPLETED
    return is_done and not _ONE_PHASE.search(text)


def _because(document: Document, name: str, text: str, position: Position) -> tuple[str, ...]:
    """The folder of the phase in question, else the scope."""
    if "plan" in name.casefold():
        here = _open_phase(document, position)
    else:
        here = None if name == "Total Phases" else _phase(phase_in(text), position)
    return (here.folder.path,) if here and here.folder else (position.scope.words,)


def _open_phase(document: Document, position: Position) -> Phase | None:
    """The phase of the recorded position if it is open, else the current one."""
    here = _phase(recorded_phase_id(document), position)
    return here if here and not here.is_complete(position.policy) else position.current


def _phase(named: PhaseId | None, position: Position) -> Phase | None:
    return next((each for each in position.scope.phases if each.id == named), None)


def _line(document: Document, name: str) -> int:
    field = None if name.islower() else body_field(document, name)
    return place_of(document.text, field.start)[0] if field else front_line(document, name)


def _milestone(
    recorded: RecordedState, position: Position, inventory: Inventory
) -> Iterator[Finding]:
    """A milestone of the frontmatter that is over while the roadmap has another one."""
    named, scope = recorded.text("milestone"), position.scope
    if not named or not scope.milestone or key_of(named.value) == key_of(scope.milestone):
        return
    records = {each.key: each for each in scope.milestones}
    known, current = records.get(key_of(named.value)), records.get(key_of(scope.milestone))
    # The template's `v1.0` may mean the first milestone, whatever the roadmap calls it.
    is_stale = inventory.claims.is_default and any(each.is_closed for each in scope.milestones)
    if current is None or not (is_stale or (known and known.is_closed)):
        return  # a name that nothing else knows may be the next milestone
    because = (f"{current.source.path}:{current.source.line}",)
    place = recorded.path, named.line, "milestone"
    yield Finding(FindingKind.MILESTONE, *place, named.value, scope.milestone, because)
    name = recorded.text("milestone_name")
    if name and scope.milestone_name and name.value != scope.milestone_name:
        place = recorded.path, name.line, "milestone_name"
        yield Finding(FindingKind.MILESTONE, *place, name.value, scope.milestone_name, because)


def _folder(folder: PhaseFolder) -> Iterator[Finding]:
    for orphan in folder.orphans:
        yield _note(FindingKind.ORPHAN, orphan, "summary", "it has no plan and is not counted")
    for path in folder.unread:
        yield _note(
            FindingKind.DOCUMENT, path, "file", "is a link or a special file, and is never read"
        )
    notes = {
        Proof.EMPTY: (FindingKind.EMPTY, "is empty and proves nothing"),
        Proof.FAILED: (FindingKind.SELF_CHECK, "says that its self-check failed"),
        Proof.BLOCKED: (FindingKind.SELF_CHECK, "says that the plan was blocked"),
        Proof.REHEARSED: (FindingKind.REHEARSED, "was written by a rehearsal and proves nothing"),
        Proof.UNCHECKED: (
            FindingKind.UNCHECKED,
            "appeared while an agent worked, and proves nothing before the run has checked it",
        ),
    }
    for plan in folder.plans:
        if plan.proof in notes and plan.summary:
            kind, why = notes[plan.proof]
            yield _note(kind, plan.summary, "summary", why)


def _open_reason(folder: PhaseFolder) -> str:
    still_open = [plan.id for plan in folder.live_plans if not plan.is_complete]
    if still_open:
        word = "plan" if len(still_open) == 1 else "plans"
        return f"no summary proves {word} {', '.join(still_open)}"
    return "its verification has not passed" if folder.live_plans else "it has no plans"


def _note(kind: FindingKind, path: str, what: str, why: str) -> Finding:
    return Finding(kind, path, 0, what, why, "", is_drift=False)
