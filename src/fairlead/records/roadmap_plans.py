"""The plans of a phase in ROADMAP.md: how many, in which waves, and which of them are done.

The list stands below the line `**Plans**` and is ours: it is written anew as a whole. Whatever
else the phase's section holds stays as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fairlead.model.ids import PhaseId
from fairlead.records.roadmap_lines import Sheet, own_lines, read_sheet
from fairlead.text.document import Document
from fairlead.text.fields import find_field
from fairlead.text.inline import one_line
from fairlead.text.outline import Line

_WAVE = re.compile(r"\s*\*\*Wave \d+\*\*.*")
_BULLET = re.compile(r"\s*[-*+]\s+\[[ xX]\]\s+[*`\[]*[\w.]+-\d+.*")


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One plan of the list."""

    id: str
    brief: str
    wave: int
    is_done: bool = False


def with_plans(
    document: Document, phase: PhaseId, milestone: str, plans: Sequence[PlanLine]
) -> Document:
    """The roadmap with the plans of a phase; one that has no details of it stays as it is."""
    document.require_writable()
    found = _place(read_sheet(document), phase, milestone)
    if found is None:
        return document
    field_line, region_end = found
    ending = document.ending
    done = sum(each.is_done for each in plans)
    noun = "plan" if len(plans) == 1 else "plans"
    count = f"{done}/{len(plans)} {noun} complete" if done else f"{len(plans)} {noun}"
    block = [f"**Plans**: {count}", "", "Plans:", *_lines(plans)]
    text = document.text
    new = text[: field_line.start] + ending.join(block) + text[region_end:]
    return document.replaced(new)


def _place(sheet: Sheet, phase: PhaseId, milestone: str) -> tuple[Line, int] | None:
    for mention in sheet.mentions:
        if mention.id != phase or mention.milestone != milestone or not mention.section:
            continue
        lines = [line for _, line in own_lines(sheet, mention.section)]
        field = find_field(lines, "Plans")
        if field is None:
            continue
        at = next(at for at, line in enumerate(lines) if line.start <= field.start <= line.end)
        end = lines[at].end
        for line in lines[at + 1 :]:
            text = line.text.strip()
            if text == "Plans:" or _WAVE.fullmatch(line.text) or _BULLET.fullmatch(line.text):
                end = line.end
            elif text:
                break
        return lines[at], end
    return None


def _lines(plans: Sequence[PlanLine]) -> list[str]:
    lines: list[str] = []
    for wave in sorted({each.wave for each in plans}):
        after = f" *(blocked on Wave {wave - 1} completion)*" if wave > 1 else ""
        lines.append(f"**Wave {wave}**{after}")
        for each in plans:
            if each.wave == wave:
                box = "x" if each.is_done else " "
                lines.append(f"- [{box}] {each.id}-PLAN.md — {one_line(each.brief)}")
    return lines
