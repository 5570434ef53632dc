"""Derived values and how they are written into STATE.md: counters, position, status, next step.

All of them come from one `Position` and are written in one edit, so they cannot contradict each
other. Only fields that the document already has are corrected. A correct value is not rewritten,
a line keeps its form (padding, words after the numbers, labels of older templates), and text
that a person wrote stays.
"""

import re
from collections.abc import Collection

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import replace
from fairlead.project.derive.inventory import Phase, Plan, Stage
from fairlead.project.derive.position import Position
from fairlead.project.derive.progress import Progress
from fairlead.project.errors import UnknownPhase
from fairlead.project.state.bars import redrawn
from fairlead.project.state.fields import PROGRESS, STATE_FIELDS, FieldTable, Source
from fairlead.project.state.recorded import (
    PHASE,
    body_field,
    overall_field,
    phase_in,
    position_section,
    progress_field,
)
from fairlead.project.status_words import NEGATED, SIGNS, Status, is_default, normalise
from fairlead.text.document import Document
from fairlead.text.fields import Field
from fairlead.text.outline import Splice, spliced
from fairlead.text.yaml_emit import Value, scalar_text
from fairlead.text.yaml_scalars import Plain, is_null

# New texts by field: a label as it is written in the body, or a frontmatter key in lower case.
FieldTexts = dict[str, str | list[str] | None]
WAITS_FOR_VERIFICATION = "Phase complete — ready for verification"
_MOST_DIGITS = 6  # a longer number is not a count of phases
# `3 of 5 (Name) complete`: a word after the phase and its name that says how far it is.
_MARKED = lazy_pattern(
    rf"{PHASE}(?:\W+of\W+[0-9]+)?(?P<name>.*?)\W(?P<mark>completed?|done|(?P<verified>verified))"
    rf"(?:\s*\((?P<behind>[^()]*)\))?[{SIGNS}!.]*\Z",
    re.IGNORECASE,
)
_PHASE_OF = lazy_pattern(rf"{PHASE}\**(?P<of>(?i:\s+of\s+)|\s*/\s*)\**(?P<total>[0-9]+)\b")
_DONE = r"(?:completed?|done|executed|finished)\b"
_END = rf"{_DONE}[{SIGNS})!.]*\Z"
_PLAN_COUNT = lazy_pattern(
    r"(?P<at>\d{1,6})(?P<of>\s+of\s+|\s*/\s*)(?P<total>\d{1,6}(?!\d)|\?)(?P<rest>.*)\Z",
    re.IGNORECASE,
)
# After a count: what is counted instead of plans, or that only the plans of a wave are.
_COUNTS_OTHERS = lazy_pattern(
    rf"[\s(]*(?:(?!{_DONE})\w+\s+){{0,2}}(?:(?:sub)?tasks?|steps?|requirements?|tests?|phases)\b"
    r"|(?!.*\b(?:current|this) phase\b).*\bwaves?\b",
    re.IGNORECASE,
)
_SAYS_DONE = lazy_pattern(rf"{NEGATED}\b{_DONE}", re.IGNORECASE)
_ONLY_DONE = lazy_pattern(
    rf"(?:[{SIGNS}(:;,.—–-]|\b(?:all|plans?|are|in|the|this|current|phase)\b)*{_DONE}",
    re.IGNORECASE,
)
_ALL_DONE = lazy_pattern(rf"[{SIGNS}]*(?:all (?:\d+ )?plans )?(?:are )?{_END}", re.IGNORECASE)
_ONE_DONE = lazy_pattern(
    rf"(?:plan )?(?P<plan>\d[\w.]*-\d+|0\d+)[{SIGNS}(:—–-]+{_END}", re.IGNORECASE
)
_BELOW_KEY = lazy_pattern(r"^next_phases:[ \t]*\r?\n", re.MULTILINE)
_UNSET = lazy_pattern(r"(?:not started|none|tbd|[—–-]|0|\?|\[.*\]|)\Z", re.IGNORECASE)


# --- writing ---------------------------------------------------------------------------------


def with_progress(
    document: Document, position: Position, fields: FieldTable = STATE_FIELDS
) -> Document:
    """The document with its counters, percentage and bars as the files prove them."""
    progress = position.progress
    recorded = document.value(PROGRESS)
    if isinstance(recorded, dict):
        for key in fields.keys(Source.COUNTS):
            name = key.removeprefix(f"{PROGRESS}.")
            if name in recorded:
                document = _with_value(document, (PROGRESS, name), getattr(progress, name))
    document = _with_bar(document, progress_field(document), progress)
    if not position.scope.is_whole:
        return document  # the overall bar may also count milestones outside this scope
    return _with_bar(document, overall_field(document), progress)


def with_status(document: Document, position: Position) -> Document:
    """The document with the status of an event, except where a person wrote one."""
    field = body_field(document, "Status")
    is_free = not field or is_default(field.value)
    if field and is_free:
        document = document.set_field(field, position.words)
    if "status" in document.shown_front:
        document = _with_value(document, ("status",), str(position.status))
    return document


def with_next_step(document: Document, position: Position, *, active: str = "") -> Document:
    """The document with the fields of the next step, if it has frontmatter."""
    if document.block is None:
        return document
    after = "status"
    for key, value in next_step_fields(position, active).items():
        document = _with_value(document, (key,), value, after)
        after = key
    return document


def with_active(document: Document, phase: str) -> Document:
    """The document with a phase in progress; no next step is recommended meanwhile."""
    document = document.set_front(("active_phase",), phase, after="status")
    document = document.set_front(("next_action",), None, after="active_phase")
    return _with_key(document, ("next_phases",), None, after="next_action")


def with_fields(document: Document, texts: FieldTexts) -> Document:
    """The document with new texts in these fields, as far as it has them."""
    for name, value in texts.items():
        if name.islower():
            document = _with_key(document, (name,), value, after="next_action")
        elif field := body_field(document, name):
            document = document.set_field(field, str(value))
    return document


def with_fresh_position(
    document: Document, position: Position, touched: Collection[PhaseId]
) -> Document:
    """The document with a new position line, if the line names a removed or renumbered phase."""
    field = document.field("Phase", position_section(document))
    if field is None or phase_in(field.value) not in touched:
        return document
    return document.set_field(field, position_line(position))


def is_recorded_as(recorded: object, value: Value) -> bool:
    """Whether a frontmatter key is written exactly as this value would be."""
    if isinstance(value, list) and isinstance(recorded, list):
        return len(recorded) == len(value) and all(map(is_recorded_as, recorded, value))
    if not isinstance(value, str | int | None):
        return recorded == value
    if not isinstance(recorded, str):
        return False
    is_plain = isinstance(recorded, Plain)
    if isinstance(value, str) and not is_plain:
        return recorded == value
    return is_plain and recorded == scalar_text(value)


def _with_value(
    document: Document, path: tuple[str, ...], value: Value, after: str = ""
) -> Document:
    # Editing frontmatter parses it several times, so an unchanged value is not set again.
    if is_recorded_as(document.value(*path), value):
        return document
    return _with_key(document, path, value, after)


def _with_key(document: Document, path: tuple[str, ...], value: Value, after: str) -> Document:
    """Set a key; a list of next phases in lines of its own becomes one beside its key.

    The status line of the reference tool reads the short form more reliably.
    """
    if path == ("next_phases",) and _BELOW_KEY.search(document.text):
        document = document.remove_front(path)
    return document.set_front(path, value, after=after)


def _with_bar(document: Document, field: Field | None, progress: Progress) -> Document:
    # Not through `set_field`: blanks inside a bar are cells and must not be normalised.
    if field is None:
        return document
    line = Splice(field.start, field.end, redrawn(field.value, progress))
    return document.replaced(spliced(document.text, [line]))


# --- position ----------------------------------------------------------------------------------


def position_fields(document: Document, position: Position) -> FieldTexts:
    """New texts for the fields of the position that name another phase than the current one."""
    texts = _total_phases(document, position)
    current = position.current
    field, other = body_field(document, "Phase"), body_field(document, "Current Phase")
    if field and current and phase_in(field.value) == current.id:
        texts["Phase"] = _corrected_line(field.value, position)
    elif field:
        texts["Phase"] = position_line(position)
        texts["Plan"] = plan_line(position)
    if other and phase_in(other.value) != (current.id if current else None):
        texts["Current Phase"] = current.id.short if current else position_line(position)
        texts["Current Phase Name"] = (current.name if current else "") or "—"
    elif current and _names_another_phase(document, position):
        texts["Current Phase Name"] = current.name or "—"
    return texts | _frontmatter_position(document, current)


def position_line(position: Position) -> str:
    """`4 of 9 (Observability)`, or that the milestone is complete."""
    if not position.scope.phases:
        return "Not started (defining requirements)"
    current = position.current
    if current is None:
        version = position.scope.milestone
        return f"Milestone {version} complete" if version else "All phases complete"
    name = f" ({current.name})" if current.name else ""
    return f"{current.id.short} of {_last_number(position)}{name}"


def overstates_phase(line: str, phase: Phase) -> bool:
    """Whether a line names a phase, nothing but its name, and more progress than it has made."""
    match = _MARKED.match(line)
    if match is None or is_name_of(match["mark"], phase):
        return False
    if match["verified"]:
        is_proven = phase.stage is Stage.VERIFIED
    else:
        is_proven = phase.stage in (Stage.COMPLETE, Stage.VERIFIED)
    name = re.sub(rf"\A[{SIGNS}(:—–-]+|[{SIGNS}):—–-]+\Z", "", match["name"])
    words = (name, match["behind"] or "")
    return not is_proven and all(not text or is_name_of(text, phase) for text in words)


def is_name_of(name: str, phase: Phase) -> bool:
    """Whether this is the name of the phase, as the roadmap or as its folder spells it."""
    slug = phase.folder.slug if phase.folder else ""
    return name.casefold() in (phase.name.casefold(), slug.casefold())


def padded(number: str, recorded: str) -> str:
    """A number with as many digits as the recorded one, if that has a leading zero."""
    return number.zfill(len(recorded)) if recorded.startswith("0") else number


def phase_in_scope(position: Position, phase: str) -> Phase:
    """The phase of the scope with this number, in any spelling."""
    number = PhaseId.parse(phase)
    for candidate in position.scope.phases:
        if candidate.id == number:
            return candidate
    raise UnknownPhase(number.short, [candidate.id.short for candidate in position.scope.phases])


def _corrected_line(line: str, position: Position) -> str:
    """A line that names the right phase, with the right number of phases."""
    current = position.current
    if current is None:
        return line
    is_over = current.is_complete(position.policy)
    if (is_over and line.endswith("EXECUTING")) or overstates_phase(line, current):
        return position_line(position)
    counted = _PHASE_OF.match(line)
    if counted is None or not position.scope.phases:
        return line  # without a scope the number of phases is not known
    rest = line[counted.end() :]
    if "/" in counted["of"] and not is_name_of(rest.strip(" *—–:()-") or current.name, current):
        return line  # `3/4` may name two phases
    total = padded(str(_last_number(position)), counted["total"])
    return f"{line[: counted.start('total')]}{total}{rest}"


def has_possible_total(line: str, right: str, position: Position) -> bool:
    """Whether a line differs from the right one in its total, which may count in another way.

    It may be the number of phases, of whole phases, or the last number of the project.
    """
    found, other = _PHASE_OF.match(line), _PHASE_OF.match(right)
    phases = position.scope.phases
    if not (found and other and phases) or line[found.end() :] != right[other.end() :]:
        return False
    whole = sum(not phase.id.decimals for phase in phases)
    last = max(phase.id.number for phase in (*phases, *position.scope.elsewhere))
    possible = map(str, (len(phases), whole, phases[-1].id.number, last))
    is_same = line[: found.start("total")] == right[: other.start("total")]
    return is_same and found["total"].lstrip("0") in possible


def _total_phases(document: Document, position: Position) -> FieldTexts:
    """A new `Total Phases`, if the recorded one is no number that the phases can give."""
    field = body_field(document, "Total Phases")
    total = position.progress.total_phases
    # Outside a single milestone the number may also count milestones that are over.
    if not field or not total or not position.scope.is_whole:
        return {}
    if not field.value.isdecimal() or len(field.value) > _MOST_DIGITS:
        return {}
    is_right = int(field.value) in (total, _last_number(position))
    return {} if is_right else {"Total Phases": padded(str(total), field.value)}


def _names_another_phase(document: Document, position: Position) -> bool:
    """Whether `Current Phase Name` is the name of another phase; other text is a person's."""
    field = body_field(document, "Current Phase Name")
    named = [phase for phase in position.scope.phases if field and is_name_of(field.value, phase)]
    return bool(named) and position.current not in named


def _frontmatter_position(document: Document, current: Phase | None) -> FieldTexts:
    """New frontmatter values for the position; `03` and `3` are the same phase and stay."""
    texts: FieldTexts = {}
    front = document.shown_front
    number, name = front.get("current_phase"), front.get("current_phase_name")
    if not is_null(number) and phase_in(str(number)) != (current.id if current else None):
        texts["current_phase"] = current.id.short if current else None
    if not is_null(name) and not (current and is_name_of(str(name), current)):
        texts["current_phase_name"] = (current.name or None) if current else None
    return texts


def _last_number(position: Position) -> int:
    """The number of phases, or of the last phase if the milestone starts at, say, phase 22."""
    numbers = [phase.id.number for phase in position.scope.phases[-1:]]
    return max(position.progress.total_phases, *numbers) if numbers else 0


# --- plans -------------------------------------------------------------------------------------


def plan_fields(document: Document, position: Position) -> FieldTexts:
    """New texts for the plan inside the phase, in the form that each field has."""
    texts: FieldTexts = {}
    field = body_field(document, "Plan")
    if field:
        texts["Plan"] = _corrected_plan(field.value, position)
    number, total = plan_numbers(position)
    for label, value in (("Current Plan", number), ("Total Plans in Phase", total)):
        field = body_field(document, label)
        if field and (field.value.isdigit() or _UNSET.match(field.value)):
            texts[label] = padded(value or "0", field.value)
    recorded = document.shown_front.get("current_plan")
    if not is_null(recorded) and str(recorded).rpartition("-")[2].lstrip("0") != number:
        texts["current_plan"] = number or None
    return texts


def plan_line(position: Position) -> str:
    """`2 of 5 in current phase`, or that nothing has started."""
    if position.is_complete:
        return "All plans complete"
    if position.is_over:
        return f"{position.progress.completed_plans} of {position.progress.total_plans} complete"
    number, total = plan_numbers(position)
    return f"{number} of {total} in current phase" if number else "Not started"


def plan_numbers(position: Position) -> tuple[str, str]:
    """The number of the next plan of the current phase and their total; empty without plans."""
    plans = live_plans_of(position)
    return (str(_next_plan(plans)), str(len(plans))) if plans else ("", "")


def live_plans_of(position: Position) -> tuple[Plan, ...]:
    """The live plans of the current phase."""
    folder = position.current.folder if position.current else None
    return folder.live_plans if folder else ()


def unproven_plans(line: str, plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """The open plans of a phase that a line calls done."""
    if all(plan.is_complete for plan in plans):
        return ()
    one = _ONE_DONE.match(line)
    if _ALL_DONE.match(line) or claimed_done(line, plans) == len(plans):
        named = plans
    elif one:
        named = tuple(
            plan for plan in plans if one["plan"] in (plan.id, plan.id.rpartition("-")[2])
        )
    else:
        named = ()
    return tuple(plan for plan in named if not plan.is_complete)


def claimed_done(line: str, plans: tuple[Plan, ...]) -> int:
    """The number of plans that a line counts as done; 0 if it counts something else."""
    count = _plan_count(line)
    return int(count["at"]) if count and _counts_done(count, plans) else 0


def _corrected_plan(line: str, position: Position) -> str:
    """The plan line, corrected if it cannot be true, in the form that it has."""
    derived, plans = plan_line(position), live_plans_of(position)
    count, now = _plan_count(line), _plan_count(derived)
    if count and "/" in count["of"] and not plans:
        return line  # without plans nobody can tell what it counts
    done = _done(plans)
    is_overstated = bool(unproven_plans(line, plans)) or (
        plans and claimed_done(line, plans) > done
    )
    if count and now and not is_overstated:
        counts_done = plans and (
            _counts_done(count, plans) or ("/" in count["of"] and int(count["at"]) == done)
        )
        at = padded(str(done) if counts_done else now["at"], count["at"])
        return f"{at}{count['of']}{padded(now['total'], count['total'])}{count['rest']}"
    is_unset = _UNSET.match(line) and derived != "Not started"
    return derived if count or is_unset or is_overstated else line


def _plan_count(line: str) -> re.Match[str] | None:
    """The count of plans at the start of a line; None if it counts something else."""
    count = _PLAN_COUNT.match(line)
    return count if count and not _COUNTS_OTHERS.match(count["rest"]) else None


def _counts_done(count: re.Match[str], plans: tuple[Plan, ...]) -> bool:
    """Whether a count is the number of done plans, and not the number of the next plan."""
    if not _SAYS_DONE.search(count["rest"]):
        return False
    # Later in the line, "done" may be about one plan: `2 of 3 in current phase, 02-01 done`.
    return bool(_ONLY_DONE.match(count["rest"])) or int(count["at"]) != _next_plan(plans)


def _done(plans: tuple[Plan, ...]) -> int:
    return sum(plan.is_complete for plan in plans)


def _next_plan(plans: tuple[Plan, ...]) -> int:
    """The number of the first open plan; of the last one when all are done."""
    still_open = (at for at, plan in enumerate(plans, 1) if not plan.is_complete)
    return next(still_open, len(plans))


# --- status and next step ----------------------------------------------------------------------


def is_replaceable_status(text: str) -> bool:
    """Whether a frontmatter status is a lifecycle stage in some form, or empty."""
    return is_default(text) or text == "null" or normalise(text) is not Status.UNKNOWN


def is_paused(document: Document) -> bool:
    """Whether the project is paused."""
    value = document.value("paused_at")
    return isinstance(value, str) and not is_null(value) and bool(value.strip())


def awaiting_verification(position: Position) -> Position:
    """The same position, with a status that says so while the last phase awaits verification."""
    is_next = position.next.action == "verify-phase"
    if not is_next or position.current is None or position.is_claimed:
        return position
    return replace(position, words=WAITS_FOR_VERIFICATION, status=Status.VERIFYING)


def next_step_fields(position: Position, active: str = "") -> FieldTexts:
    """The phase in progress, or else the recommended next step."""
    ahead = position.next
    is_recommended = ahead.action.endswith("-phase") and not active
    return {
        "active_phase": active or None,
        "next_action": ahead.action if is_recommended else None,
        "next_phases": [ahead.phase] if is_recommended else None,
    }


def active_phase(document: Document) -> PhaseId | None:
    """The phase in progress, as the frontmatter records it."""
    value = document.value("active_phase")
    return phase_in(value) if isinstance(value, str) and not is_null(value) else None


def may_be_active(active: PhaseId, status: str, position: Position) -> bool:
    """Whether a phase can be in progress: it is unfinished, or being verified.

    A paused project may have been paused while verifying.
    """
    phase = next((phase for phase in position.scope.phases if phase.id == active), None)
    if phase is None:
        return False
    may_verify = normalise(status) in (Status.VERIFYING, Status.PAUSED)
    return (may_verify and phase.stage is Stage.COMPLETE) or not phase.is_complete(position.policy)


def recorded_phase_id(document: Document) -> PhaseId | None:
    """The phase that the position names, under the label of either template."""
    field = body_field(document, "Phase") or body_field(document, "Current Phase")
    value = field.value if field else document.value("current_phase")
    return phase_in(value) if isinstance(value, str) else None


def recorded_phase(document: Document, position: Position) -> str:
    """The number of the phase in progress: recorded, or else derived from the files."""
    phase = active_phase(document) or recorded_phase_id(document)
    if phase is not None:
        return phase.short
    return position.current.id.short if position.current else ""


def recorded_plan(document: Document) -> int:
    """The number of the plan in progress; 1 if STATE.md names none."""
    for field in (
        document.field("Plan", position_section(document)),
        document.field("Current Plan"),
    ):
        match = re.match(r"\d{1,6}", field.value) if field else None
        if match:
            return max(int(match[0]), 1)
    return 1
