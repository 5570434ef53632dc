"""Statements in STATE.md beside its fields: tables, bars, commands, second copies of a line.

Only forms that Fairlead or the reference tool writes are read, wherever they stand, code fences
included. A person's sentence is never judged. Every statement is about a numbered phase or a named
milestone, so it depends on the files of that phase and not on the current milestone.
"""

import re
from collections.abc import Iterator

from fairlead.core.ids import slug
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import replace
from fairlead.project.derive.evidence import MilestoneRecord, MilestoneState
from fairlead.project.derive.inventory import Phase, Stage
from fairlead.project.derive.position import Position
from fairlead.project.derive.progress import progress_of
from fairlead.project.derive.scope import Certainty, Scope
from fairlead.project.derive.state_claims import phase_named
from fairlead.project.health.compare_state import may_count, possible_percents
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.roadmap.entries import parse_entries
from fairlead.project.roadmap.milestone_lines import bare_ranges, key_of, name_in
from fairlead.project.roadmap.row_status import (
    ROW_DONE,
    ROW_IN_PROGRESS,
    says_done,
    says_not_started,
)
from fairlead.project.state.recorded import position_section
from fairlead.text.document import Document
from fairlead.text.tables import tables_of

_COMMAND = lazy_pattern(
    r"[\s>*-]*(?:Next action|Next|Resume|Next step)\W{1,6}/\w+[-:](?P<verb>discuss|plan|execute)-phase\s+"
    r"(?P<phase>[0-9][0-9.]*)",
    re.IGNORECASE,
)
_STOPPED = lazy_pattern(
    r"[\s>*-]*Stopped at\W{1,5}Phase (?P<phase>[0-9][0-9.]*) context gathered\W*\Z"
)
_BAR = lazy_pattern(
    r"\s*(?P<label>[^:|\[\]]*?)\s*:?\s*[\[|](?P<cells>[█░▓▒#=.\-_ ▌]{5,40})[\]|]"
    r"\s*(?P<percent>[0-9]{1,3})\s*%(?P<rest>.*)\Z"
)
_COUNTED = lazy_pattern(
    r"(?P<done>[0-9]{1,6})\s*/\s*(?P<total>[0-9]{1,6}) (?P<kind>plans|phases)\b"
)
_PHASE_LABEL = lazy_pattern(r"\W*Phase\s+(?P<phase>[0-9][0-9.]*)\W*\Z", re.IGNORECASE)
_FOCUS = lazy_pattern(
    r"\s*(?:[-*]\s+)?\*{0,2}(?P<label>Current focus|Current State|Status)\*{0,2}:\*{0,2}\s*(?P<value>.+)",
    re.IGNORECASE,
)
_COUNTER = lazy_pattern(
    r"\s*(?:[-*]\s+)?\*{0,2}(?P<kind>Phases|Plans) (?:complete|completed|done)\*{0,2}:\*{0,2}\s*"
    r"(?P<done>[0-9]{1,6})\s*(?:/|of)\s*(?P<total>[0-9]{1,6})\s*\Z",
    re.IGNORECASE,
)
_NOT_BEGUN = (
    "not started",
    "ready",
    "ready to plan",
    "ready to execute",
    "planned",
    "pending",
    "todo",
)
_AT_WORK = lazy_pattern(
    r"\W*(?:ready to (?:plan|execute|discuss)|executing|planning|in progress)\b", re.IGNORECASE
)
_WORK_ON = lazy_pattern(
    r"\W*(?:executing|planning|discussing|ready to (?:plan|execute)) phase (?P<phase>[0-9][0-9.]*)\W*\Z",
    re.IGNORECASE,
)
_MILESTONE_IN_PROGRESS = lazy_pattern(r"\W*(?P<name>\S+)\s+in progress\b", re.IGNORECASE)
_PLACEHOLDER_LABELS = ("", "progress", "overall", "overall progress")


def statement_findings(document: Document, path: str, position: Position) -> Iterator[Finding]:
    """The refuted statements of STATE.md outside its fields; a person corrects them."""
    for finding in _statements(document, path, position):
        yield replace(finding, is_repairable=False)


def _statements(document: Document, path: str, position: Position) -> Iterator[Finding]:
    scope = position.scope
    yield from _phase_rows(document, path, scope)
    yield from _milestone_rows(document, path, position)
    section = position_section(document)
    fields = range(section.first, section.last + 1) if section else ()
    for number, line in enumerate(document.lines, 1):
        text = line.text
        if "/" in text and (command := _COMMAND.match(text)):
            yield from _done_phase(scope, command["phase"], path, number, "next action", text)
        elif "Stopped at" in text and (stopped := _STOPPED.match(text)):
            yield from _done_phase(scope, stopped["phase"], path, number, "stopped at", text)
        elif "%" in text and (bar := _BAR.match(text)):
            yield from _bar(bar, path, number, position, is_prose=line.is_prose)
        elif line.is_prose and (counter := _COUNTER.match(text)):
            yield from _counter(counter, path, number, position)
        elif line.is_prose and (focus := _FOCUS.match(text)):
            is_focus = focus["label"].casefold() == "current focus"
            if not is_focus and number in fields:
                continue  # the position is compared field by field
            yield from _focus(focus["value"], path, number, position, is_focus=is_focus)


def _counter(counter: re.Match[str], path: str, line: int, position: Position) -> Iterator[Finding]:
    """A counter of phases or plans that has the total of the current milestone."""
    progress, kind = position.progress, counter["kind"].casefold()
    name = f"completed_{kind}"
    total, done = getattr(progress, f"total_{kind}"), getattr(progress, name)
    said = int(counter["done"])
    if position.scope.certainty is not Certainty.CERTAIN or int(counter["total"]) != total:
        return
    if said != done and not may_count(name, said, position):
        kind_of = FindingKind.CLAIM if said > done else FindingKind.COUNTER
        true = f"{done}/{total}"
        place = path, line, f"{kind} complete"
        yield Finding(kind_of, *place, f"{said}/{total}", true, (position.scope.words,))


def _phase_rows(document: Document, path: str, scope: Scope) -> Iterator[Finding]:
    """Rows of a table of phases that call finished or begun work not begun, or still in work."""
    for entry in parse_entries(document).phases:
        status = entry.row.cell("status") if entry.row else None
        phase = scope.phase(entry.id)
        if status is None or phase is None or says_done(status.text):
            continue
        if phase not in scope.phases and not _has_name(phase, entry.name):
            continue  # numbers restart: another milestone may have a phase with this number
        words = status.text.strip("* ").casefold()
        is_to_come = says_not_started(status.text)
        is_unbegun = words in _NOT_BEGUN or is_to_come
        is_in_work = words in ("executing", "in progress") and phase.stage is Stage.VERIFIED
        is_finished = phase.folder is not None and phase.folder.is_implemented
        what = f"phase {phase.id.short} row"
        place = FindingKind.ROW, path, entry.line, what, status.text
        if (is_unbegun or is_in_work) and (is_finished or _is_shipped_away(phase, scope)):
            yield Finding(*place, ROW_DONE, _proof(phase))
        elif is_to_come and phase.folder and phase.folder.completed:
            yield Finding(*place, ROW_IN_PROGRESS, _proof(phase))


def _has_name(phase: Phase, name: str) -> bool:
    names = (phase.name, phase.folder.slug if phase.folder else "")
    return not name or not any(names) or slug(name) in map(slug, names)


def _is_shipped_away(phase: Phase, scope: Scope) -> bool:
    """Whether a phase without files belongs to a shipped milestone: the documents contradict."""
    has_files = phase.folder is not None and (phase.folder.plans or phase.folder.orphans)
    return not has_files and scope.is_shipped(phase)


def _milestone_rows(document: Document, path: str, position: Position) -> Iterator[Finding]:
    """Rows with a milestone, its phases and its number of plans, compared with the files."""
    ends = [line.next for line in document.lines]
    for table in tables_of(document.lines):
        titles = [cell.text.strip("* ").casefold() for cell in table.header]
        if (
            not titles
            or titles[0] != "milestone"
            or "phases" not in titles
            or "plans" not in titles
        ):
            continue
        for row in table.rows:
            if len(row) != len(titles):
                continue
            ranges = bare_ranges(row[titles.index("phases")].text)
            said = row[titles.index("plans")].text.strip()
            record = _record(position.scope, name_in(row[0].text))
            if not ranges or record is None or not said.isdigit():
                continue
            phases = phases_of(position.scope, record)
            counts = progress_of(phases, position.policy)
            is_whole = bool(phases) and all(phase.folder for phase in phases)
            if is_whole and record.ranges == ranges and int(said) != counts.total_plans:
                line = next(at for at, end in enumerate(ends, 1) if row[0].start < end)
                what, true = f"milestone {record.name} plans", str(counts.total_plans)
                yield Finding(FindingKind.COUNTER, path, line, what, said, true, _places(phases))


def phases_of(scope: Scope, record: MilestoneRecord) -> tuple[Phase, ...]:
    """The phases of a milestone."""
    if key_of(scope.milestone) == record.key:
        return scope.phases
    return tuple(each for each in scope.elsewhere if record.has(each.id))


def _bar(
    bar: re.Match[str], path: str, line: int, position: Position, *, is_prose: bool
) -> Iterator[Finding]:
    """A bar with the name of a phase or milestone, or one of the project outside the fields."""
    scope, label = position.scope, bar["label"].strip("*- ")
    named = _PHASE_LABEL.match(label)
    phase_id = phase_named(named["phase"]) if named else None
    record = _record(scope, name_in(label)) if not named else None
    phases: tuple[Phase, ...]
    is_own = False  # about the scope, in which a phase may have no folder yet
    if phase_id:
        phase = scope.phase(phase_id)
        phases = (phase,) if phase and phase.folder else ()
    elif record and record.state is not MilestoneState.PARKED:
        phases = phases_of(scope, record)
    elif label.casefold() in _PLACEHOLDER_LABELS and not is_prose:
        # In a fence the line is not a field, but it has the form of one.
        phases = scope.phases if scope.certainty is Certainty.CERTAIN else ()
        is_own = True
    else:
        return
    if not phases or not (is_own or all(phase.folder for phase in phases)):
        return
    counts = progress_of(phases, position.policy)
    counted = _COUNTED.search(bar["rest"])
    percent = int(bar["percent"])
    is_wrong = percent == 0 and counts.completed_plans == counts.total_plans > 0
    if phases == scope.phases and not is_prose:
        is_wrong = percent not in possible_percents(position) | {counts.plans_percent}
    true = f"{counts.completed_plans}/{counts.total_plans} plans"
    if counted:
        done, total = int(counted["done"]), int(counted["total"])
        is_plans = counted["kind"] == "plans"
        if not is_plans:
            true = f"{counts.completed_phases}/{counts.total_phases} phases"
        right = (
            (counts.completed_plans, counts.total_plans)
            if is_plans
            else (counts.completed_phases, counts.total_phases)
        )
        is_wrong = (done, total) != right
    if is_wrong:
        said = f"{bar['percent']}%{bar['rest']}"[:60]
        yield Finding(
            FindingKind.PERCENT, path, line, label or "Progress", said, true, _places(phases)
        )


def _focus(
    value: str, path: str, line: int, position: Position, *, is_focus: bool
) -> Iterator[Finding]:
    """A focus on a phase that is finished, or on a milestone that is shipped while another runs.

    The phase that the files give as the current one, because it awaits verification, is no fault.
    """
    scope = position.scope
    worded = _WORK_ON.match(value)
    is_named = value.lstrip("* ").casefold().startswith("phase")
    phase_id = phase_named(worded["phase"] if worded else value) if worded or is_named else None
    phase = scope.phase(phase_id) if phase_id else None
    tail = re.split(r"[—–]|\s-\s", value)[-1]
    is_finished = phase is not None and phase.stage in (Stage.COMPLETE, Stage.VERIFIED)
    is_at_work = bool(worded or _AT_WORK.match(tail))
    is_certain = scope.certainty is Certainty.CERTAIN
    is_past = phase is not None and phase != position.current and _has_gone_on(phase, scope)
    is_past = is_past and is_certain  # which phase comes after it depends on the scope
    if phase and is_finished and (is_at_work or (is_focus and is_past)):
        what = f"focus on phase {phase.id.short}"
        yield Finding(
            FindingKind.POSITION, path, line, what, tail.strip(), "Complete", _proof(phase)
        )
        return
    started = _MILESTONE_IN_PROGRESS.match(value)
    named = name_in(value[:40])
    record = _record(scope, named) if named and value.lstrip("* ").startswith(named) else None
    if record is None or not record.is_closed:
        return
    # Only a name with its title is a focus: any other words may say that the milestone is over.
    is_title = value.strip("* ").removeprefix(named).strip("—–-: *") in ("", record.title)
    is_elsewhere = not scope.is_closed and key_of(scope.milestone) != record.key
    if started or (is_title and is_elsewhere and is_certain):
        true = f"{record.name} is shipped"
        because = (f"{record.closing.path}:{record.closing.line}",) if record.closing else ()
        yield Finding(FindingKind.POSITION, path, line, "focus", value.strip()[:60], true, because)


def _done_phase(
    scope: Scope, number: str, path: str, line: int, what: str, text: str
) -> Iterator[Finding]:
    """A step of a phase that the files show as finished and verified, or as shipped."""
    phase_id = phase_named(number.rstrip("."))
    phase = scope.phase(phase_id) if phase_id else None
    if phase is None or phase.folder is None or not phase.folder.is_implemented:
        return
    if _is_left(phase, scope):
        said = text.strip("*- ").partition(":")[2].strip("* ")
        true = f"phase {phase.id.short} is complete"
        yield Finding(FindingKind.POSITION, path, line, what, said, true, _proof(phase))


def _is_left(phase: Phase, scope: Scope) -> bool:
    """Whether the work has left a finished phase: it is verified, shipped, or a later one began."""
    is_settled = phase.stage is Stage.VERIFIED or scope.is_shipped(phase)
    return is_settled or _has_gone_on(phase, scope)


def _has_gone_on(phase: Phase, scope: Scope) -> bool:
    """Whether a later phase of the same scope has finished plans."""
    later = [each for each in scope.phases if each.id > phase.id and phase in scope.phases]
    return any(each.folder and each.folder.completed for each in later)


def _record(scope: Scope, name: str) -> MilestoneRecord | None:
    key = key_of(name) if name else ""
    return next((each for each in scope.milestones if key and each.key == key), None)


def _proof(phase: Phase) -> tuple[str, ...]:
    return (phase.folder.path,) if phase.folder else ()


def _places(phases: tuple[Phase, ...]) -> tuple[str, ...]:
    return tuple(phase.folder.path for phase in phases if phase.folder)[:5]
