"""The details of one phase in ROADMAP.md: reading its section and writing its list of plans.

Fairlead owns the list below the `**Plans**` line and rewrites it as a whole. Everything else in the
section of a phase stays as it is.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.requirements import ids_in
from fairlead.project.roadmap.edit import section_end
from fairlead.project.roadmap.entries import RoadmapEntries, own_lines, parse_entries
from fairlead.text.document import Document
from fairlead.text.fields import find_field
from fairlead.text.inline import one_line, plain_text
from fairlead.text.outline import Line

_CRITERIA = lazy_pattern(r"\s*\*\*Success Criteria\*?\*?.*", re.IGNORECASE)
_NUMBERED = lazy_pattern(r"\s*(?:[0-9]{1,3}[.)]|[-*+])\s+(?P<text>.+)")
_WAVE = lazy_pattern(r"\s*\*\*Wave \d+\*\*.*")
_PLAN_BULLET = lazy_pattern(r"\s*[-*+]\s+\[[ xX]\]\s+[*`\[]*(?P<plan>[\w.]+-\d+).*")

PhaseKey = tuple[str, PhaseId]  # the milestone that lists a phase, and its number


@dataclass(frozen=True, slots=True)
class PhaseSection:
    """The section of one phase."""

    line: int  # of its heading, or of its first entry; 0 if it has none
    mode: str
    requirements: tuple[str, ...]
    success_criteria: tuple[str, ...]
    section: str  # the text of the section
    risk: str = ""  # LOW, MEDIUM or HIGH with its reason


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One plan in the list of a phase."""

    id: str
    brief: str  # empty: keep the text the roadmap has
    wave: int
    is_done: bool = False


def phase_section_of(document: Document, phase: PhaseId, milestone: str) -> PhaseSection:
    """Read the section of a phase."""
    entries = parse_entries(document)
    of_phase = [each for each in entries.phases if (each.id, each.milestone) == (phase, milestone)]
    detailed = next((each for each in of_phase if each.section), None)
    if detailed is None or detailed.section is None:
        first = of_phase[0].line if of_phase else 0
        text = document.lines[first - 1].text if first else ""
        return PhaseSection(first, "", (), (), text)
    lines = document.lines[detailed.section.heading : section_end(entries, detailed)]
    fields = {name: find_field(lines, name) for name in ("Requirements", "Mode", "Risk")}
    values = {name: field.value if field else "" for name, field in fields.items()}
    return PhaseSection(
        detailed.line,
        values["Mode"],
        ids_in(values["Requirements"]),
        tuple(_success_criteria(lines)),
        document.text[lines[0].start : lines[-1].end].rstrip(),
        values["Risk"],
    )


def requirements_of(
    document: Document, done: PhaseKey, still_open: Collection[PhaseKey]
) -> frozenset[str]:
    """The requirements of a finished phase that no open phase shares."""
    entries = parse_entries(document)
    requirements: dict[PhaseKey, set[str]] = {}
    for entry in entries.phases:
        if entry.section:
            lines = [line for _, line in own_lines(entries, entry.section)]
            field = find_field(lines, "Requirements")
            ids = requirements.setdefault((entry.milestone, entry.id), set())
            ids.update(ids_in(field.value) if field else ())
    shared = [requirements.get(key, set()) for key in still_open]
    return frozenset(requirements.get(done, set()).difference(*shared))


def _success_criteria(lines: Iterable[Line]) -> list[str]:
    """The list below the label; a continuation line is joined to its entry."""
    criteria: list[str] = []
    is_inside = False
    for line in lines:
        text = line.text
        if _CRITERIA.match(text):
            is_inside = True
        elif is_inside and text.lstrip().startswith(("**", "#", "Plans:", "|", "<")):
            break
        elif is_inside and (match := _NUMBERED.match(text)):
            criteria.append(plain_text(match["text"].strip()))
        elif is_inside and criteria and text.strip():
            criteria[-1] = f"{criteria[-1]} {plain_text(text.strip())}"
    return criteria


def with_plans(
    document: Document, phase: PhaseId, milestone: str, plans: Sequence[PlanLine]
) -> Document:
    """The roadmap with this list of plans; a roadmap without details of the phase stays."""
    document.require_writable()
    place = _plan_list(parse_entries(document), phase, milestone)
    if place is None:
        return document
    start, end, written = place
    done = sum(each.is_done for each in plans)
    noun = "plan" if len(plans) == 1 else "plans"
    count = f"{done}/{len(plans)} {noun} complete" if done else f"{len(plans)} {noun}"
    block = [f"**Plans**: {count}", "", "Plans:", *_plan_lines(plans, written)]
    text = document.text
    return document.replaced(text[:start] + document.ending.join(block) + text[end:])


def _plan_list(
    entries: RoadmapEntries, phase: PhaseId, milestone: str
) -> tuple[int, int, dict[str, str]] | None:
    """Where the plan list of a phase starts and ends, and its bullets by plan."""
    for entry in entries.phases:
        if entry.id != phase or entry.milestone != milestone or not entry.section:
            continue
        lines = [line for _, line in own_lines(entries, entry.section)]
        field = find_field(lines, "Plans")
        if field is None:
            continue
        at = next(at for at, line in enumerate(lines) if line.start <= field.start <= line.end)
        end = lines[at].end
        bullets: dict[str, str] = {}
        for line in lines[at + 1 :]:
            text = line.text.strip()
            bullet = _PLAN_BULLET.fullmatch(line.text)
            if bullet:
                bullets[bullet["plan"]] = text
            if text == "Plans:" or bullet or _WAVE.fullmatch(line.text):
                end = line.end
            elif text:
                break
        return lines[at].start, end, bullets
    return None


def _plan_lines(plans: Sequence[PlanLine], written: Mapping[str, str]) -> list[str]:
    """The bullets of the plans, grouped by wave; a plan without a new brief keeps its bullet."""
    lines: list[str] = []
    for wave in sorted({plan.wave for plan in plans}):
        after = f" *(blocked on Wave {wave - 1} completion)*" if wave > 1 else ""
        lines.append(f"**Wave {wave}**{after}")
        for plan in plans:
            if plan.wave != wave:
                continue
            if not plan.brief and plan.id in written:
                lines.append(written[plan.id])
                continue
            box = "x" if plan.is_done else " "
            brief = f" — {one_line(plan.brief)}" if plan.brief else ""
            lines.append(f"- [{box}] {plan.id}-PLAN.md{brief}")
    return lines
