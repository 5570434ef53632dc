"""The digest: derived values written into STATE.md, all of them together.

Frontmatter percent, body bar and counters come from one progress and are written in one edit,
so that they can never tell two stories. Only what stands there is corrected; a value that is
right already is not touched, and what a person wrote is not replaced.
"""

import re

from fairlead.model.inventory import Phase
from fairlead.model.recorded import COUNTERS
from fairlead.model.standing import Standing
from fairlead.model.status import is_default
from fairlead.records.bars import redrawn
from fairlead.records.recorded import phase_in, position_section
from fairlead.text.document import Document
from fairlead.text.emit import Value, scalar_text
from fairlead.text.scalars import Plain

_OF = re.compile(r"(?P<head>\s*(?:Phase\s+)?\S+\s+of\s+)(?P<total>[0-9]+)\b", re.IGNORECASE)


def with_progress(document: Document, standing: Standing) -> Document:
    """The document with every number it states as the files prove it."""
    progress = standing.progress
    held = document.value("progress")
    if isinstance(held, dict):
        for name in (*COUNTERS, "percent"):
            if name in held:
                document = _stating(document, ("progress", name), getattr(progress, name))
    field = document.field("Progress", position_section(document))
    if field:
        document = document.set_field(field, redrawn(field.value, progress))
    return document


def with_position(document: Document, standing: Standing) -> Document:
    """The document with the position, where it names a phase that is not the current one."""
    position = position_section(document)
    field = document.field("Phase", position)
    current = standing.current
    if field and current and phase_in(field.value) == current.id:
        counted = _OF.match(field.value)
        if counted and counted["total"] != str(_of(standing)):
            value = f"{counted['head']}{_of(standing)}{field.value[counted.end() :]}"
            document = document.set_field(field, value)
    elif field:
        document = document.set_field(field, position_line(standing))
        plan = document.field("Plan", position_section(document))
        if plan:
            document = document.set_field(plan, plan_line(standing))
    return _with_front_position(document, current)


def with_status(document: Document, standing: Standing) -> Document:
    """The document with the derived status, unless a person wrote another one."""
    field = document.field("Status", position_section(document))
    if field and is_default(field.value):
        document = document.set_field(field, standing.words)
    if "status" in document.shown_front and (not field or is_default(field.value)):
        document = _stating(document, ("status",), str(standing.status))
    return document


def _with_front_position(document: Document, current: Phase | None) -> Document:
    """The frontmatter's position; `03` and `3` are one phase, and the spelling stays."""
    front = document.shown_front
    if "current_phase" in front and phase_in(str(front["current_phase"])) != (
        current.id if current else None
    ):
        document = document.set_front(("current_phase",), current.id.short if current else None)
    if "current_phase_name" in front:
        document = document.set_front(("current_phase_name",), current.name if current else None)
    return document


def with_next(document: Document, standing: Standing, *, active: str = "") -> Document:
    """The document with the lifecycle fields for the status line, where it has frontmatter."""
    if document.block is None:
        return document
    after = "status"
    for key, value in lifecycle_of(standing, active).items():
        document = _stating(document, (key,), value, after)
        after = key
    return document


def lifecycle_of(standing: Standing, active: str = "") -> dict[str, str | list[str] | None]:
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
