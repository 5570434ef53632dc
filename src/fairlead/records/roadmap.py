"""ROADMAP.md in every shape: headings, bullets, tables, milestones, collapsed blocks.

A phase that is mentioned in several places (checklist, details, progress table) is one phase;
the same number under another milestone is another phase.
"""

import re
from dataclasses import replace

from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Listed, Mark, Milestone, Roadmap
from fairlead.records.roadmap_lines import Marker, Mention, Sheet, own_lines, read_sheet
from fairlead.text.document import Document
from fairlead.text.inline import plain_text
from fairlead.text.outline import Line

_DETAIL = re.compile(r"\s*\*\*(Goal|Depends on|Plans)(?::\*\*|\*\*:)\s*(.*)", re.IGNORECASE)
_PLAN_BULLET = re.compile(r"[*`\[]*(?P<plan>[\w.-]+?)(?:\.md)?(?=[*`\]:\s]|\Z)")
_COUNTS = re.compile(r"[0-9]+\s*/\s*[0-9]+\s+plans?\b", re.IGNORECASE)
_BULLET_COUNTS = re.compile(r"\(([0-9]+/[0-9]+ plans?)\)", re.IGNORECASE)
_TAIL = re.compile(r"\s*\((?:Shipped|Phases?|In Progress|completed)[^)]*\).*\Z", re.IGNORECASE)


def read_roadmap(document: Document) -> Roadmap:
    """Read the roadmap; what it does not say stays empty."""
    return roadmap_of(read_sheet(document))


def roadmap_of(sheet: Sheet) -> Roadmap:
    """The phases and milestones behind the mentions."""
    phases: dict[tuple[str, PhaseId], Listed] = {}
    for mention in sheet.mentions:
        key = (mention.milestone, mention.id)
        held = phases.get(key) or Listed(mention.id, "", mention.milestone, mention.line)
        listed = _with_mention(held, mention)
        phases[key] = _with_details(listed, sheet, mention) if mention.section else listed
    return Roadmap(tuple(phases.values()), _milestones(sheet.markers))


def _with_mention(held: Listed, mention: Mention) -> Listed:
    is_checked = mention.is_checked
    boxes = () if is_checked is None else (Mark(mention.line, mention.id.text, is_checked),)
    listed = replace(
        held,
        name=held.name or mention.name,
        is_checked=held.is_checked if is_checked is None else is_checked,
        is_retired=held.is_retired or mention.is_retired,
        boxes=held.boxes + boxes,
        counts=held.counts + _counts_beside(mention),
    )
    if mention.row is None:
        return listed
    status, plans = mention.row.cell("status"), mention.row.cell("plans")
    return replace(
        listed,
        status=status.text if status else listed.status,
        plans_cell=plans.text if plans else listed.plans_cell,
        row_line=mention.line if status or plans else listed.row_line,
    )


def _counts_beside(mention: Mention) -> tuple[Mark, ...]:
    """The counts of a bullet such as `- [ ] Phase 3: Search (0/2 plans)`."""
    found = _BULLET_COUNTS.search(mention.item.text) if mention.item else None
    return (Mark(mention.line, found[1]),) if found else ()


def _with_details(listed: Listed, sheet: Sheet, mention: Mention) -> Listed:
    """What stands below the heading of a phase: its goal, its plans and their boxes."""
    assert mention.section is not None
    counts: list[Mark] = []
    plan_boxes: list[Mark] = []
    told: dict[str, str] = {}
    for number, line in own_lines(sheet, mention.section):
        item = sheet.bullets.get(number)
        if item and item.box >= 0:
            plan = _PLAN_BULLET.match(item.text)
            if plan:
                plan_boxes.append(Mark(number, plan["plan"], item.is_checked))
        elif line.is_prose:
            _detail(line, number, told, counts)
    return replace(
        listed,
        goal=listed.goal or told.get("goal", ""),
        depends_on=listed.depends_on or told.get("depends on", ""),
        counts=(*listed.counts, *counts),
        plan_boxes=(*listed.plan_boxes, *plan_boxes),
    )


def _detail(line: Line, number: int, told: dict[str, str], counts: list[Mark]) -> None:
    match = _DETAIL.match(line.text) if "**" in line.text else None
    if not match:
        return
    name, value = match[1].lower(), match[2].strip()
    if name != "plans":
        told.setdefault(name, plain_text(value))
    elif counted := _COUNTS.match(value):
        counts.append(Mark(number, counted[0]))


def _milestones(markers: tuple[Marker, ...]) -> tuple[Milestone, ...]:
    found: dict[str, Milestone] = {}
    for marker in markers:
        is_open, is_closed = marker.is_open, marker.is_closed
        held = found.get(marker.version)
        name = milestone_name(marker)
        if held is None:
            found[marker.version] = Milestone(marker.version, name, is_closed, is_open, marker.line)
            continue
        found[marker.version] = replace(
            held,
            name=held.name or name,
            is_closed=held.is_closed or is_closed,
            is_marked_open=held.is_marked_open or is_open,
        )
    return tuple(found.values())


def milestone_name(marker: Marker) -> str:
    """What a milestone is called, without its version, its phases and how it stands."""
    name = marker.title.partition(marker.version)[2].strip(" —–:-*|")
    name = _TAIL.sub("", name)
    return plain_text(name.split(" — ")[0].split(" - ")[0].strip(" ✅📋🚧🔄"))
