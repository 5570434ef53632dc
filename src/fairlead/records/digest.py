"""The digest: derived values written into STATE.md, all of them together.

Frontmatter percent, body bar and counters come from one progress and are written in one edit,
so that they can never tell two stories. Only what stands there is corrected; a value that is
right already is not touched, and what a person wrote is not replaced.
"""

import re

from fairlead.model.inventory import Phase, Stage
from fairlead.model.progress import Progress
from fairlead.model.recorded import COUNTERS
from fairlead.model.standing import Standing
from fairlead.model.status import SIGNS, Status, is_default, normalise
from fairlead.records.bars import redrawn
from fairlead.records.recorded import (
    PHASE,
    overall_field,
    phase_in,
    position_section,
    progress_field,
)
from fairlead.text.document import Document
from fairlead.text.emit import Value, scalar_text
from fairlead.text.fields import Field, find_field
from fairlead.text.outline import Line
from fairlead.text.scalars import Plain, is_null
from fairlead.text.splice import Splice, spliced

# What places say: the labels of fields as people write them, keys of the frontmatter in lower case.
Words = dict[str, str | list[str] | None]
_IN_POSITION = ("Phase", "Current Phase", "Plan", "Status")
_DIGITS = 6  # of a number that can be one of phases
# A word behind the phase and its name that says how far it has come.
_MARKED = re.compile(
    rf"{PHASE}(?:\W+of\W+[0-9]+)?(?P<name>.*?)\W(?P<mark>completed?|done|(?P<verified>verified))"
    rf"(?:\s*\((?P<behind>[^()]*)\))?[{SIGNS}!.]*\Z",
    re.IGNORECASE,
)
_OF = re.compile(rf"{PHASE}\**(?P<of>(?i:\s+of\s+)|\s*/\s*)\**(?P<total>[0-9]+)\b")


def with_progress(document: Document, standing: Standing) -> Document:
    """The document with every number it states as the files prove it."""
    progress = standing.progress
    held = document.value("progress")
    if isinstance(held, dict):
        for name in (*COUNTERS, "percent"):
            if name in held:
                document = _stating(document, ("progress", name), getattr(progress, name))
    document = _redrawn(document, progress_field(document), progress)
    # Of several milestones, the overall progress may count those that are over, too.
    return (
        _redrawn(document, overall_field(document), progress)
        if standing.scope.is_whole
        else document
    )


def _redrawn(document: Document, field: Field | None, progress: Progress) -> Document:
    """Not as a new value: blanks in a bar are cells, and the words beside it are not ours."""
    if field is None:
        return document
    line = Splice(field.start, field.end, redrawn(field.value, progress))
    return document.replaced(spliced(document.text, [line]))


def position_words(document: Document, standing: Standing) -> Words:
    """The position, where it names a phase that is not the current one, with all that goes with it."""
    words = _counted_phases(document, standing)
    current = standing.current
    field, other = field_of(document, "Phase"), field_of(document, "Current Phase")
    if field and current and phase_in(field.value) == current.id:
        words["Phase"] = _counted_line(field.value, standing)
    elif field:
        words["Phase"] = position_line(standing)
        words["Plan"] = plan_line(standing)
    if other and phase_in(other.value) != (current.id if current else None):
        words["Current Phase"] = current.id.short if current else position_line(standing)
        words["Current Phase Name"] = (current.name if current else "") or "—"
    elif current and _names_another(document, standing):
        words["Current Phase Name"] = current.name or "—"
    return words | _front_position(document, current)


def _counted_line(line: str, standing: Standing) -> str:
    """A line that names the right phase, with as many phases as there are.

    A finished phase does not run, and an unfinished one is not complete.
    """
    current = standing.current
    counted = _OF.match(line)
    if current is None:
        return line
    is_over = current.is_complete(standing.policy)
    if (is_over and line.endswith("EXECUTING")) or marks_too_much(line, current):
        return position_line(standing)
    if counted is None:
        return line
    rest = line[counted.end() :]
    if "/" in counted["of"] and not is_name_of(rest.strip(" *—–:()-") or current.name, current):
        return line  # it may name two phases
    total = padded(str(_of(standing)), counted["total"])
    return f"{line[: counted.start('total')]}{total}{rest}"


def marks_too_much(line: str, phase: Phase) -> bool:
    """Whether it says behind a phase, and nothing but its name, that it is further than it is."""
    match = _MARKED.match(line)
    if match is None or is_name_of(match["mark"], phase):
        return False
    if match["verified"]:
        is_proven = phase.stage is Stage.VERIFIED
    else:
        is_proven = phase.stage in (Stage.COMPLETE, Stage.VERIFIED)
    name = re.sub(rf"\A[{SIGNS}(:—–-]+|[{SIGNS}):—–-]+\Z", "", match["name"])
    words = (name, match["behind"] or "")
    return not is_proven and all(not each or is_name_of(each, phase) for each in words)


def _counted_phases(document: Document, standing: Standing) -> Words:
    """The number of phases, where it is none that they can be counted to."""
    field = field_of(document, "Total Phases")
    total = standing.progress.total_phases
    # Of several milestones, it may count those that are over, too.
    if not field or not total or not standing.scope.is_whole:
        return {}
    if not field.value.isdecimal() or len(field.value) > _DIGITS:
        return {}
    is_right = int(field.value) in (total, _of(standing))
    return {} if is_right else {"Total Phases": padded(str(total), field.value)}


def _names_another(document: Document, standing: Standing) -> bool:
    """Whether the name beside the number is that of another phase; a person's own may be either's."""
    field = field_of(document, "Current Phase Name")
    named = [each for each in standing.scope.phases if field and is_name_of(field.value, each)]
    return bool(named) and standing.current not in named


def padded(number: str, held: str) -> str:
    """A number as wide as the one that stands there, if that has a zero in front."""
    return number.zfill(len(held)) if held.startswith("0") else number


def with_status(document: Document, standing: Standing) -> Document:
    """The document with the status of an event; what a person wrote keeps its own place only."""
    field = field_of(document, "Status")
    is_free = not field or is_default(field.value)
    if field and is_free:
        document = document.set_field(field, standing.words)
    held = document.shown_front.get("status")
    if "status" in document.shown_front and (is_free or is_stage(str(held))):
        document = _stating(document, ("status",), str(standing.status))
    return document


def is_stage(text: str) -> bool:
    """Whether the frontmatter's status is a stage of ours, in whatever form, or says nothing."""
    return is_default(text) or text == "null" or normalise(text) is not Status.UNKNOWN


def field_of(document: Document, name: str) -> Field | None:
    """A field of the position in its section, any other one wherever it stands.

    The number of phases is also one of the position: elsewhere it is that of a shipped milestone.
    """
    section = position_section(document)
    if name != "Total Phases":
        return document.field(name, section if name in _IN_POSITION else None)
    found = document.field(name, section) if section else None
    return found or find_field(_above_sections(document), name)


def _above_sections(document: Document) -> tuple[Line, ...]:
    """The lines above the first section."""
    first = next((each.heading for each in document.sections if each.level > 1), None)
    return document.lines[:first]


def with_words(document: Document, words: Words) -> Document:
    """The document with other words in these places: keys of the frontmatter, fields of the body."""
    for name, value in words.items():
        if name.islower():
            document = document.set_front((name,), value)
        elif field := field_of(document, name):
            document = document.set_field(field, str(value))
    return document


def _front_position(document: Document, current: Phase | None) -> Words:
    """The frontmatter's position; `03` and `3` are one phase, and the spelling stays."""
    words: Words = {}
    front = document.shown_front
    held, name = front.get("current_phase"), front.get("current_phase_name")
    if not is_null(held) and phase_in(str(held)) != (current.id if current else None):
        words["current_phase"] = current.id.short if current else None
    if not is_null(name) and not (current and is_name_of(str(name), current)):
        words["current_phase_name"] = (current.name or None) if current else None
    return words


def is_name_of(name: str, phase: Phase) -> bool:
    """Whether it is the phase's name, as the roadmap or as its folder writes it."""
    slug = phase.folder.slug if phase.folder else ""
    return name.casefold() in (phase.name.casefold(), slug.casefold())


def with_next(document: Document, standing: Standing, *, active: str = "") -> Document:
    """The document with the lifecycle fields for the status line, where it has frontmatter."""
    if document.block is None:
        return document
    after = "status"
    for key, value in lifecycle_of(standing, active).items():
        document = _stating(document, (key,), value, after)
        after = key
    return document


def lifecycle_of(standing: Standing, active: str = "") -> Words:
    """The lifecycle fields: what runs, or else what comes next."""
    ahead = standing.next
    named = ahead.action.endswith("-phase") and not active
    return {
        "active_phase": active or None,
        "next_action": ahead.action if named else None,
        "next_phases": [ahead.phase] if named else None,
    }


def position_line(standing: Standing) -> str:
    """`4 of 9 (Observability)`, or that the milestone is complete."""
    if not standing.scope.phases:
        return "Not started (defining requirements)"
    if standing.current is None:
        return (
            f"Milestone {standing.scope.milestone} complete"
            if standing.scope.milestone
            else "All phases complete"
        )
    return f"{standing.current.id.short} of {_of(standing)}{_name(standing.current)}"


def plan_line(standing: Standing) -> str:
    """`2 of 5 in current phase`, or that nothing has begun."""
    if standing.is_complete:
        return "All plans complete"
    if standing.is_over:
        return f"{standing.progress.completed_plans} of {standing.progress.total_plans} complete"
    folder = standing.current.folder if standing.current else None
    plans = folder.live_plans if folder else ()
    if not plans:
        return "Not started"
    done = sum(plan.is_complete for plan in plans)
    return f"{min(done + 1, len(plans))} of {len(plans)} in current phase"


def _of(standing: Standing) -> int:
    """The number of phases; of a milestone that begins with phase 22, the number of its last."""
    return max(standing.progress.total_phases, standing.scope.phases[-1].id.number)


def _name(phase: Phase) -> str:
    return f" ({phase.name})" if phase.name else ""


def is_said(held: object, value: Value) -> bool:
    """Whether a key says this already; what is not plainly the same is written."""
    if isinstance(value, list) and isinstance(held, list):
        return len(held) == len(value) and all(map(is_said, held, value))
    if not isinstance(value, str | int | None):
        return held == value
    if not isinstance(held, str):
        return False
    is_plain = isinstance(held, Plain)
    if isinstance(value, str) and not is_plain:
        return held == value
    return is_plain and held == scalar_text(value)


def _stating(document: Document, path: tuple[str, ...], value: Value, after: str = "") -> Document:
    """The document with a value of the frontmatter; what stands there already costs no edit."""
    if is_said(document.value(*path), value):
        return document
    return document.set_front(path, value, after=after)
