"""ROADMAP.md in every shape: headings, bullets, tables, milestones, collapsed blocks.

A phase that is mentioned in several places (checklist, details, progress table) is one phase;
the same number under another milestone is another phase.
"""

import re

from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Listed, Mark, Milestone, Roadmap
from fairlead.records.roadmap_clashes import clashes_in
from fairlead.records.roadmap_lines import WORD, Marker, Mention, Sheet, own_lines, read_sheet
from fairlead.records.roadmap_names import is_placeholder
from fairlead.text.document import Document
from fairlead.text.inline import plain_text
from fairlead.values import dataclass

_LIKE_A_PHASE = (  # compiled when it is first asked for: nearly never
    rf"(?i)[\s#>*_~+\[\]-]*(?:{WORD}\**[0-9]{{1,6}}\b(?![-–—][0-9])|第[一二三四五六七八九十0-9]+)"
)
_DETAIL = re.compile(
    r"\s*\*\*(Goal|Depends on|Requirements|Plans)(?::\*\*|\*\*:)\s*(.*)", re.IGNORECASE
)
_PLAN_BULLET = re.compile(r"[*`\[]*(?P<plan>[\w.-]+?)(?:\.md)?(?=[*`\]:\s]|\Z)")
_COUNTS = re.compile(r"[0-9]+\s*/\s*[0-9]+\s+plans?\b", re.IGNORECASE)
_BULLET_COUNTS = re.compile(r"\(([0-9]+/[0-9]+ plans?)\)", re.IGNORECASE)
_TAIL = re.compile(r"\s*\((?:Shipped|Phases?|In Progress|completed)[^)]*\).*\Z", re.IGNORECASE)


def read_roadmap(document: Document) -> Roadmap:
    """Read the roadmap; what it does not say stays empty."""
    return roadmap_of(read_sheet(document))


def roadmap_of(sheet: Sheet) -> Roadmap:
    """The phases and milestones behind the mentions."""
    phases: dict[tuple[str, PhaseId], list[Mention]] = {}
    for mention in sheet.mentions:
        phases.setdefault((mention.milestone, mention.id), []).append(mention)
    listed = tuple(_listed(sheet, mentions) for mentions in phases.values())
    return Roadmap(listed, _milestones(sheet.markers), 0 if listed else _unread_line(sheet))


def _unread_line(sheet: Sheet) -> int:
    """The first line that may be meant as a phase; 0 where it is plain that there is none."""
    lines = [
        (number, line.text)
        for number, line in enumerate(sheet.document.lines, 1)
        if line.is_prose and line.text.strip() and not line.text.startswith("# ")
    ]
    if any(is_placeholder(text) for _, text in lines):
        return 0
    alike = next((number for number, text in lines if re.match(_LIKE_A_PHASE, text)), 0)
    # Where milestones are named, their phases may all be archived.
    return alike or (lines[0][0] if lines and not sheet.markers else 0)


@dataclass(slots=True)
class _Details:
    """What stands below the headings of a phase: its goal, its plans and their boxes."""

    told: dict[str, str]
    counts: list[Mark]
    plan_boxes: list[Mark]


def _listed(sheet: Sheet, mentions: list[Mention]) -> Listed:
    """One phase, put together from all that mention it."""
    first = mentions[0]
    details = _Details({}, [], [])
    boxes: list[Mark] = []
    status = plans = ""
    row_line = 0
    for mention in mentions:
        if mention.is_checked is not None:
            boxes.append(Mark(mention.line, mention.id.text, mention.is_checked))
        details.counts += _counts_beside(mention)
        if mention.section:
            _read_details(sheet, mention, details)
        if mention.row:
            cells = mention.row.cell("status"), mention.row.cell("plans")
            status = cells[0].text if cells[0] else status
            plans = cells[1].text if cells[1] else plans
            row_line = mention.line if any(cells) else row_line
    return Listed(
        id=first.id,
        name=next((each.name for each in mentions if each.name), ""),
        milestone=first.milestone,
        line=first.line,
        goal=details.told.get("goal", ""),
        depends_on=details.told.get("depends on", ""),
        requirements=details.told.get("requirements", ""),
        is_checked=boxes[-1].is_checked if boxes else None,
        is_retired=any(each.is_retired for each in mentions),
        status=status,
        plans_cell=plans,
        row_line=row_line,
        boxes=tuple(boxes),
        plan_boxes=tuple(details.plan_boxes),
        counts=tuple(details.counts),
        clashes=clashes_in(sheet, mentions),
    )


def names_of(phase: Listed) -> str:
    """The names that a number stands for, in words: `Beta and Alpha`."""
    names = dict.fromkeys(mark.text for mark in phase.clashes)
    return " and ".join(names)


def _counts_beside(mention: Mention) -> tuple[Mark, ...]:
    """The counts of a bullet such as `- [ ] Phase 3: Search (0/2 plans)`."""
    found = _BULLET_COUNTS.search(mention.item.text) if mention.item else None
    return (Mark(mention.line, found[1]),) if found else ()


def _read_details(sheet: Sheet, mention: Mention, details: _Details) -> None:
    assert mention.section is not None
    for number, line in own_lines(sheet, mention.section):
        item = sheet.bullets.get(number)
        if item and item.box >= 0:
            plan = _PLAN_BULLET.match(item.text)
            if plan:
                details.plan_boxes.append(Mark(number, plan["plan"], item.is_checked))
        elif line.is_prose and (match := _DETAIL.match(line.text) if "**" in line.text else None):
            name, value = match[1].lower(), match[2].strip()
            if name != "plans":
                details.told.setdefault(name, plain_text(value))
            elif counted := _COUNTS.match(value):
                details.counts.append(Mark(number, counted[0]))


def _milestones(markers: tuple[Marker, ...]) -> tuple[Milestone, ...]:
    found: dict[str, Milestone] = {}
    for marker in markers:
        is_open, is_closed = marker.is_open, marker.is_closed
        held = found.get(marker.version)
        name = milestone_name(marker)
        if held is None:
            found[marker.version] = Milestone(marker.version, name, is_closed, is_open, marker.line)
            continue
        found[marker.version] = held._replace(
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
