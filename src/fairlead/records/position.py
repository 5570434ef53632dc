"""The position in STATE.md: which phase and which plan of it, as recorded and as it should be.

The line keeps its form: padding, words behind the numbers, the labels of older templates.
"""

import re
from collections.abc import Collection

from fairlead.errors import UnknownPhase
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Phase, Plan, Stage
from fairlead.model.standing import Standing
from fairlead.model.status import NEGATED, SIGNS, Status, normalise
from fairlead.records.digest import Words, field_of, padded, plan_line, position_line
from fairlead.records.recorded import phase_in, position_section
from fairlead.text.document import Document
from fairlead.text.scalars import is_null
from fairlead.values import replace

WAITS_FOR_VERIFICATION = "Phase complete — ready for verification"
_DONE = r"(?:completed?|done|executed|finished)\b"
_END = rf"{_DONE}[{SIGNS})!.]*\Z"
_COUNT = re.compile(
    r"(?P<at>\d{1,6})(?P<of>\s+of\s+|\s*/\s*)(?P<total>\d{1,6}(?!\d)|\?)(?P<rest>.*)\Z",
    re.IGNORECASE,
)
# Behind a count: what it counts instead of plans, or that it counts those of a wave only.
_OF_OTHERS = re.compile(
    rf"[\s(]*(?:(?!{_DONE})\w+\s+){{0,2}}(?:(?:sub)?tasks?|steps?|requirements?|tests?|phases)\b"
    r"|(?!.*\b(?:current|this) phase\b).*\bwaves?\b",
    re.IGNORECASE,
)
_SAYS_DONE = re.compile(rf"{NEGATED}\b{_DONE}", re.IGNORECASE)
_ONLY_DONE = re.compile(
    rf"(?:[{SIGNS}(:;,.—–-]|\b(?:all|plans?|are|in|the|this|current|phase)\b)*{_DONE}",
    re.IGNORECASE,
)
_ALL_DONE = re.compile(rf"[{SIGNS}]*(?:all (?:\d+ )?plans )?(?:are )?{_END}", re.IGNORECASE)
_ONE_DONE = re.compile(
    rf"(?:plan )?(?P<plan>\d[\w.]*-\d+|0\d+)[{SIGNS}(:—–-]+{_END}", re.IGNORECASE
)
_UNSET = re.compile(r"(?:not started|none|tbd|[—–-]|0|\?|\[.*\]|)\Z", re.IGNORECASE)


def active_phase(document: Document) -> PhaseId | None:
    """The phase that a command is working on, as the frontmatter says."""
    value = document.value("active_phase")
    return phase_in(value) if isinstance(value, str) and not is_null(value) else None


def may_be_active(active: PhaseId, status: str, standing: Standing) -> bool:
    """Whether work on a phase can be going on: it is unfinished, or it is being verified.

    A pause covers what was going on.
    """
    here = next((each for each in standing.scope.phases if each.id == active), None)
    if here is None:
        return False
    may_verify = normalise(status) in (Status.VERIFYING, Status.PAUSED)
    return (may_verify and here.stage is Stage.COMPLETE) or not here.is_complete(standing.policy)


def settled(standing: Standing) -> Standing:
    """The same project, saying so while the phase behind it waits to be verified."""
    if standing.next.action != "verify-phase" or standing.current is None:
        return standing
    return replace(standing, words=WAITS_FOR_VERIFICATION, status=Status.VERIFYING)


def with_active(document: Document, phase: str) -> Document:
    """The document with a phase in flight: nothing is recommended while something runs."""
    document = document.set_front(("active_phase",), phase, after="status")
    document = document.set_front(("next_action",), None, after="active_phase")
    return document.set_front(("next_phases",), None, after="next_action")


def is_paused(document: Document) -> bool:
    """Whether the project is paused."""
    value = document.value("paused_at")
    return isinstance(value, str) and not is_null(value) and bool(value.strip())


def phase_of(standing: Standing, phase: str) -> Phase:
    """The phase of the scope with this number, however it is spelled."""
    wanted = PhaseId.parse(phase)
    for each in standing.scope.phases:
        if each.id == wanted:
            return each
    raise UnknownPhase(wanted.short, [each.id.short for each in standing.scope.phases])


def plan_words(document: Document, standing: Standing) -> Words:
    """The position inside the phase, in the form that it has there."""
    words: Words = {}
    field = field_of(document, "Plan")
    if field:
        words["Plan"] = _plan_value(field.value, standing)
    place = plan_numbers(standing)
    for name, number in (("Current Plan", place[0]), ("Total Plans in Phase", place[1])):
        field = field_of(document, name)
        if field and (field.value.isdigit() or _UNSET.match(field.value)):
            words[name] = padded(number or "0", field.value)
    held = document.shown_front.get("current_plan")
    if not is_null(held) and str(held).rpartition("-")[2].lstrip("0") != place[0]:
        words["current_plan"] = place[0] or None
    return words


def _plan_value(held: str, standing: Standing) -> str:
    """What the line of the plan should say; where it may be true, what it says."""
    line, plans = plan_line(standing), plans_of(standing)
    count, now = _count(held), _count(line)
    if count and "/" in count["of"] and not plans:
        return held  # what it counts cannot be told
    done = _done(plans)
    is_too_much = bool(unproven_plans(held, plans)) or (plans and done_said(held, plans) > done)
    if count and now and not is_too_much:
        is_of_done = plans and (
            _counts_done(count, plans) or ("/" in count["of"] and int(count["at"]) == done)
        )
        return _counted(count, str(done) if is_of_done else now["at"], now["total"])
    is_unset = _UNSET.match(held) and line != "Not started"
    return line if count or is_unset or is_too_much else held


def _count(line: str) -> re.Match[str] | None:
    """The count of plans that a line begins with; None where it counts something else."""
    count = _COUNT.match(line)
    return count if count and not _OF_OTHERS.match(count["rest"]) else None


def _counts_done(count: re.Match[str], plans: tuple[Plan, ...]) -> bool:
    """Whether a count is one of done plans, and not of the plan that comes now."""
    if not _SAYS_DONE.search(count["rest"]):
        return False
    # Behind other words it may be said of something else: `2 of 3 in current phase, 02-01 done`.
    return bool(_ONLY_DONE.match(count["rest"])) or int(count["at"]) != _now(plans)


def _counted(count: re.Match[str], at: str, total: str) -> str:
    """A count with other numbers, in the form that it has."""
    numbers = padded(at, count["at"]), padded(total, count["total"])
    return f"{count['of'].join(numbers)}{count['rest']}"


def unproven_plans(line: str, plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """The open plans of a phase that a line says are done."""
    one = _ONE_DONE.match(line)
    if _ALL_DONE.match(line) or done_said(line, plans) == len(plans):
        named = plans
    elif one:
        named = tuple(
            each for each in plans if one["plan"] in (each.id, each.id.rpartition("-")[2])
        )
    else:
        named = ()
    return tuple(each for each in named if not each.is_complete)


def done_said(line: str, plans: tuple[Plan, ...]) -> int:
    """How many plans a count says are done; 0 where it counts something else."""
    count = _count(line)
    return int(count["at"]) if count and _counts_done(count, plans) else 0


def _done(plans: tuple[Plan, ...]) -> int:
    return sum(plan.is_complete for plan in plans)


def _now(plans: tuple[Plan, ...]) -> int:
    """The number of the plan that comes now; the last one stays when all are done."""
    return min(_done(plans) + 1, len(plans))


def with_fresh_position(
    document: Document, standing: Standing, touched: Collection[PhaseId]
) -> Document:
    """The document with the whole position anew, if it names a phase that was taken out or renamed."""
    field = document.field("Phase", position_section(document))
    if field is None or phase_in(field.value) not in touched:
        return document
    return document.set_field(field, position_line(standing))


def plan_numbers(standing: Standing) -> tuple[str, str]:
    """Which plan of the current phase comes now, and of how many; empty where there are none."""
    plans = plans_of(standing)
    return (str(_now(plans)), str(len(plans))) if plans else ("", "")


def plans_of(here: Standing) -> tuple[Plan, ...]:
    """The live plans of the current phase."""
    folder = here.current.folder if here.current else None
    return folder.live_plans if folder else ()


def recorded_id(document: Document) -> PhaseId | None:
    """The phase that the position names, under the label of either template."""
    field = field_of(document, "Phase") or field_of(document, "Current Phase")
    value = field.value if field else document.value("current_phase")
    return phase_in(value) if isinstance(value, str) else None


def recorded_phase(document: Document, standing: Standing) -> str:
    """The phase that is worked on: as recorded, else as the files say."""
    found = active_phase(document) or recorded_id(document)
    if found is not None:
        return found.short
    return standing.current.id.short if standing.current else ""


def recorded_plan(document: Document) -> int:
    """The number of the plan that STATE.md says is being worked on; 1 where it says none."""
    for field in (
        document.field("Plan", position_section(document)),
        document.field("Current Plan"),
    ):
        match = re.match(r"\d{1,6}", field.value) if field else None
        if match:
            return max(int(match[0]), 1)
    return 1
