"""Reading ROADMAP.md: its entries combined into phases and milestones.

A phase that appears in several places (checklist, details, progress table) is one phase. The same
number under another milestone is another phase.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.roadmap.entries import (
    WORD,
    PhaseEntry,
    RoadmapEntries,
    is_placeholder,
    own_lines,
    parse_entries,
)
from fairlead.project.roadmap.milestone_lines import EntryForm, combined
from fairlead.project.roadmap.model import ListedPhase, Roadmap, RoadmapMark
from fairlead.text.document import Document
from fairlead.text.inline import plain_text
from fairlead.text.outline import Line

_LIKE_A_PHASE = (  # rarely needed, so compiled on first use
    rf"(?i)[\s#>*_~+\[\]-]*(?:{WORD}\**[0-9]{{1,6}}\b(?![-–—][0-9])|第[一二三四五六七八九十0-9]+)"
)
_DETAIL = lazy_pattern(
    r"\s*(?:- )?\*\*(Goal|Depends on|Requirements|Plans|Status)(?::\*\*|\*\*:)\s*(.*)",
    re.IGNORECASE,
)
_PLAN_BULLET = lazy_pattern(r"[*`\[]*(?P<plan>[\w.-]+?)(?:\.md)?(?=[*`\]:\s]|\Z)")
_COUNTS = lazy_pattern(
    r"\s*(?:(?:[0-9]+\s*/\s*)?[0-9]+\s+plans?\b"
    r"|[0-9]+\s*/\s*[0-9]+\s+(?:complete|executed)|(?:[0-9]+\s*/\s*)?[0-9]+\s*\Z)",
    re.IGNORECASE,
)
_BARE_COUNTS = lazy_pattern(r"[0-9]+/[0-9]+ plans (?:executed|complete)\b")
_BULLET_COUNTS = lazy_pattern(r"\(([0-9]+/[0-9]+ plans?)\)", re.IGNORECASE)


def read_roadmap(document: Document) -> Roadmap:
    """Read the roadmap; missing facts stay empty."""
    return roadmap_of(parse_entries(document))


def roadmap_of(entries: RoadmapEntries) -> Roadmap:
    """The phases and milestones that the entries describe."""
    phases: dict[tuple[str, PhaseId], list[PhaseEntry]] = {}
    for entry in entries.phases:
        phases.setdefault((entry.milestone, entry.id), []).append(entry)
    listed = tuple(_listed(entries, phases) for phases in phases.values())
    milestones = combined(entries.milestones)
    if listed:
        return Roadmap(listed, milestones)
    has_ticks = any(item.is_checked for item in entries.bullets.values())
    return Roadmap((), milestones, _unread_line(entries), has_ticks)


def _unread_line(entries: RoadmapEntries) -> int:
    """The first line that may be an unrecognised phase; 0 if there is clearly none."""
    lines = [
        (number, line.text)
        for number, line in enumerate(entries.document.lines, 1)
        if line.is_prose and line.text.strip() and not line.text.startswith("# ")
    ]
    if any(is_placeholder(text) for _, text in lines):
        return 0
    alike = next((number for number, text in lines if re.match(_LIKE_A_PHASE, text)), 0)
    # With milestones and no phases, all phases may be archived.
    return alike or (lines[0][0] if lines and not entries.milestones else 0)


@dataclass(slots=True)
class _Details:
    """The facts below the headings of a phase: its goal, its plans and their boxes."""

    fields: dict[str, str]
    counts: list[RoadmapMark]
    plan_boxes: list[RoadmapMark]
    statuses: list[RoadmapMark]


def _listed(entries: RoadmapEntries, phases: list[PhaseEntry]) -> ListedPhase:
    """One phase, combined from all its entries."""
    first = phases[0]
    details = _Details({}, [], [], [])
    boxes: list[RoadmapMark] = []
    status = plans = column = ""
    row_line = 0
    for entry in phases:
        if entry.is_checked is not None:
            boxes.append(RoadmapMark(entry.line, entry.id.text, entry.is_checked))
        details.counts += _counts_beside(entry)
        if entry.section or entry.item:
            _read_details(entries, entry, details)
        if entry.row:
            owner = entry.row.cell("milestone")
            column = entry.milestone if owner and owner.text else column
            cells = entry.row.cell("status"), entry.row.cell("plans")
            status = cells[0].text if cells[0] else status
            plans = cells[1].text if cells[1] else plans
            row_line = entry.line if any(cells) else row_line
    return ListedPhase(
        id=first.id,
        name=next((each.name for each in phases if each.name), ""),
        milestone=first.milestone,
        line=first.line,
        goal=details.fields.get("goal", ""),
        depends_on=details.fields.get("depends on", ""),
        requirements=details.fields.get("requirements", ""),
        is_checked=boxes[-1].is_checked if boxes else None,
        is_retired=any(each.is_retired for each in phases),
        status=status,
        plans_cell=plans,
        row_line=row_line,
        boxes=tuple(boxes),
        plan_boxes=tuple(details.plan_boxes),
        counts=tuple(details.counts),
        clashes=clashes_in(entries, phases),
        column=column,
        statuses=tuple(details.statuses),
    )


def names_of(phase: ListedPhase) -> str:
    """The different names of one phase number, as text: `Beta and Alpha`."""
    names = dict.fromkeys(mark.text for mark in phase.clashes)
    return " and ".join(names)


def _counts_beside(entry: PhaseEntry) -> tuple[RoadmapMark, ...]:
    """The counts of a bullet such as `- [ ] Phase 3: Search (0/2 plans)`."""
    match = _BULLET_COUNTS.search(entry.item.text) if entry.item else None
    return (RoadmapMark(entry.line, match[1]),) if match else ()


def _read_details(entries: RoadmapEntries, entry: PhaseEntry, details: _Details) -> None:
    lines = own_lines(entries, entry.section) if entry.section else _below(entries, entry)
    for number, line in lines:
        item = entries.bullets.get(number)
        if item and item.box >= 0:
            plan = _PLAN_BULLET.match(item.text)
            if plan:
                details.plan_boxes.append(RoadmapMark(number, plan["plan"], item.is_checked))
            continue
        if not line.is_prose:
            continue
        text = line.text
        match = _DETAIL.match(text) if "**" in text else None
        if not match and " plans " not in text:
            continue
        counted = _COUNTS.match(match[2]) if match else _BARE_COUNTS.match(text)
        name = match[1].lower() if match else "plans"
        if counted and name == "plans":
            details.counts.append(RoadmapMark(number, counted[0]))
        elif match and name == "status":
            details.statuses.append(RoadmapMark(number, match[2].strip()))
        elif match and name != "plans":
            details.fields.setdefault(name, plain_text(match[2].strip()))


def _below(entries: RoadmapEntries, entry: PhaseEntry) -> Iterator[tuple[int, Line]]:
    """The lines that are indented below the bullet of a phase."""
    assert entry.item
    for at in range(entry.line, len(entries.document.lines)):
        line = entries.document.lines[at]
        indent = len(line.text) - len(line.text.lstrip())
        if not line.text.strip() or indent <= entry.item.indent:
            return
        yield at + 1, line


_BELOW_ALL = 7  # levels of headings
_ENDING = lazy_pattern(r"\s*\([^()]*\)\s*\Z")


def clashes_in(entries: RoadmapEntries, phases: list[PhaseEntry]) -> tuple[RoadmapMark, ...]:
    """The places that give one number to phases with different names."""
    if len({entry.form for entry in phases}) == len(phases):
        return ()
    if len({entry.name for entry in phases}) == 1:
        return ()
    marks: dict[int, RoadmapMark] = {}
    for group in _neighbours(entries, phases):
        if _names_differ(entry.name for entry in group):
            marks |= {entry.line: RoadmapMark(entry.line, entry.name) for entry in group}
    return tuple(marks[line] for line in sorted(marks))


def _neighbours(entries: RoadmapEntries, phases: list[PhaseEntry]) -> Iterator[list[PhaseEntry]]:
    groups: dict[tuple[EntryForm, int, int, bool], list[PhaseEntry]] = {}
    named = [each for each in phases if each.name and not each.is_retired]
    has_only_bullets = all(each.form is EntryForm.BULLET for each in phases)
    for entry in named:
        # A bullet without a box may be a remark about a phase described elsewhere.
        if entry.item and entry.is_checked is None and not has_only_bullets:
            continue
        groups.setdefault(_place(entries, entry), []).append(entry)
    yield from (group for group in groups.values() if len(group) > 1)


def _place(entries: RoadmapEntries, entry: PhaseEntry) -> tuple[EntryForm, int, int, bool]:
    """A key that neighbouring entries share: the table, or the heading above and the depth."""
    if entry.row:
        return entry.form, entry.row.table.header[0].start, 0, False
    depth = entry.section.level if entry.section else _BELOW_ALL
    sections = entries.document.sections
    at = bisect_left(sections, entry.line - 1, key=lambda each: each.heading) - 1
    while at >= 0 and sections[at].level >= depth:
        at -= 1
    indent = entry.item.indent if entry.item else depth
    return entry.form, at, indent, entry.is_checked is None


def _names_differ(names: Iterable[str]) -> bool:
    names_as_words: list[list[str]] = []
    for name in names:
        words = re.findall(r"\w+", _ENDING.sub("", name).casefold())
        if words:
            names_as_words.append(words)
    return any(
        one[: len(other)] != other and other[: len(one)] != one
        for at, one in enumerate(names_as_words)
        for other in names_as_words[at + 1 :]
    )
