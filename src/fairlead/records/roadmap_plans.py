"""The plans of a phase in ROADMAP.md: how many, in which waves, and which of them are done.

The list stands below the line `**Plans**` and is ours: it is written anew as a whole. Whatever
else the phase's section holds stays as it is.
"""

import re
from collections.abc import Mapping, Sequence

from fairlead.model.ids import PhaseId
from fairlead.records.roadmap_lines import Sheet, own_lines, read_sheet
from fairlead.text.document import Document
from fairlead.text.fields import find_field
from fairlead.text.inline import one_line
from fairlead.text.outline import Line
from fairlead.values import dataclass

_WAVE = re.compile(r"\s*\*\*Wave \d+\*\*.*")
_BULLET = re.compile(r"\s*[-*+]\s+\[[ xX]\]\s+[*`\[]*(?P<plan>[\w.]+-\d+).*")


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One plan of the list."""

    id: str
    brief: str  # empty: as the roadmap has it already
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
    field_line, region_end, held = found
    ending = document.ending
    done = sum(each.is_done for each in plans)
    noun = "plan" if len(plans) == 1 else "plans"
    count = f"{done}/{len(plans)} {noun} complete" if done else f"{len(plans)} {noun}"
    block = [f"**Plans**: {count}", "", "Plans:", *_lines(plans, held)]
    text = document.text
    new = text[: field_line.start] + ending.join(block) + text[region_end:]
    return document.replaced(new)


def _place(sheet: Sheet, phase: PhaseId, milestone: str) -> tuple[Line, int, dict[str, str]] | None:
    """The line `Plans`, where the list below it ends, and its entries by plan."""
    for mention in sheet.mentions:
        if mention.id != phase or mention.milestone != milestone or not mention.section:
            continue
        lines = [line for _, line in own_lines(sheet, mention.section)]
        field = find_field(lines, "Plans")
        if field is None:
            continue
        at = next(at for at, line in enumerate(lines) if line.start <= field.start <= line.end)
        end = lines[at].end
        held: dict[str, str] = {}
        for line in lines[at + 1 :]:
            text = line.text.strip()
            bullet = _BULLET.fullmatch(line.text)
            if bullet:
                held[bullet["plan"]] = text
            if text == "Plans:" or bullet or _WAVE.fullmatch(line.text):
                end = line.end
            elif text:
                break
        return lines[at], end, held
    return None


def _lines(plans: Sequence[PlanLine], held: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for wave in sorted({each.wave for each in plans}):
        after = f" *(blocked on Wave {wave - 1} completion)*" if wave > 1 else ""
        lines.append(f"**Wave {wave}**{after}")
        for each in plans:
            if each.wave == wave:
                box = "x" if each.is_done else " "
                told = f" — {one_line(each.brief)}" if each.brief else ""
                is_kept = not each.brief and each.id in held
                line = held[each.id] if is_kept else f"- [{box}] {each.id}-PLAN.md{told}"
                lines.append(line)
    return lines
