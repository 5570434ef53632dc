"""ROADMAP.md in every shape: headings, bullets, tables, milestones, collapsed blocks.

What stands in a fence or a comment is an example and does not count. A phase that is mentioned
in several places (checklist, details, progress table) is one phase; the same number under
another milestone is another phase.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fairlead.errors import MalformedId
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Listed, Mark, Milestone, Roadmap
from fairlead.text.document import Document
from fairlead.text.inline import plain_text
from fairlead.text.lists import items_of
from fairlead.text.outline import Line
from fairlead.text.tables import Table, cells_of, tables_of

_ID = r"(?P<id>(?:[A-Z][A-Z0-9_]*-)?[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)"
_PHASE_HEADING = re.compile(
    rf"(?:\[[^\]]*\]\s*)?(?P<strike>~~)?(?:\*\*)?\s*(?:[^\w\s~*]+\s*)?Phase\s+{_ID}\b(?:\s*\([^)]*\))?\s*(?:[:—–]|\s-\s|\Z)\s*(?P<name>.*)\Z",
    re.IGNORECASE,
)
_PHASE_BULLET = re.compile(
    rf"(?P<strike>~~)?\s*(?:[^\w\s~*\[]+\s*)?(?:\*\*)?(?P<strike2>~~)?\[?Phase\s+{_ID}\b\s*(?:\([^)]*\))?\s*(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\bv[0-9]+(?:\.[0-9]+)+\b", re.IGNORECASE)
_CLOSED = re.compile(r"\b(CLOSED|ARCHIVED|ABANDONED|SHIPPED|FAILED)\b|✅|🗄", re.IGNORECASE)
_OPEN = re.compile(r"\b(STARTED|ACTIVE|WIP)\b|in progress|🚧|🔄", re.IGNORECASE)
_GOAL = re.compile(r"\s*\*\*(Goal|Depends on|Plans)(?::\*\*|\*\*:)\s*(.*)", re.IGNORECASE)
_PLAN_BULLET = re.compile(r"[*`\[]*(?P<plan>[\w.-]+?)(?:\.md)?(?=[*`\]:\s]|\Z)")
_COUNTS = re.compile(r"[0-9]+\s*/\s*[0-9]+\s+plans?\b", re.IGNORECASE)
_CELL_ID = re.compile(rf"(?:\*\*)?(?:Phase\s+)?{_ID}(?:[.:)]|\b)\s*(?P<name>.*)\Z", re.IGNORECASE)
_ENDING = re.compile(r"\s*\((?:completed|shipped|done)[^)]*\)\s*\Z|\s*[✅✓✔☑]+\s*\Z", re.IGNORECASE)


@dataclass(slots=True)
class _Gathered:
    """The mentions of one phase, put together while the document is read."""

    listed: Listed
    order: int
    details: bool = False
    lines: list[int] = field(default_factory=list)


def read_roadmap(document: Document) -> Roadmap:
    """Read the roadmap; what it does not say stays empty."""
    reader = _Reader(document)
    reader.run()
    phases = tuple(
        each.listed for each in sorted(reader.phases.values(), key=lambda each: each.order)
    )
    return Roadmap(_assigned(phases), tuple(reader.milestones))


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.milestones: list[Milestone] = []
        self.phases: dict[tuple[str, PhaseId], _Gathered] = {}
        self.milestone = ""
        self.milestone_level = 0
        self.outer = ""  # the milestone around a collapsed block
        self.open_phase: tuple[str, PhaseId] | None = None

    def run(self) -> None:
        headings = {section.heading: section for section in self.document.sections}
        boxes = {item.start: item for item in items_of(self.document.lines)}
        lines = self.document.lines
        by_line = {}
        for item in boxes.values():
            by_line[_line_index(lines, item.start)] = item
        for at, line in enumerate(lines):
            if not line.is_prose:
                continue
            if at in headings:
                self.heading(headings[at].level, headings[at].title, at + 1)
            elif line.text.lstrip().lower().startswith(("<details", "</details", "<summary")):
                self.collapsed(line.text, at + 1)
            elif at in by_line:
                self.bullet(
                    by_line[at].text,
                    by_line[at].is_checked if by_line[at].box >= 0 else None,
                    at + 1,
                )
            elif self.open_phase and (match := _GOAL.match(line.text)):
                self.detail(match[1].lower(), match[2].strip(), at + 1)
        for table in tables_of(lines):
            self.table(table, _line_index(lines, table.header[0].start) + 1)

    # -- what a line can be --------------------------------------------------------------

    def heading(self, level: int, title: str, line: int) -> None:
        match = _PHASE_HEADING.match(title) if 2 <= level <= 5 else None
        if match:
            name = _clean(match["name"])
            key = self.mention(match["id"], name, line, is_retired=bool(match["strike"]))
            self.open_phase = key
            if key:
                self.phases[key].details = True
            return
        self.open_phase = None
        version = _VERSION.search(title)
        if version and level <= 3:
            self.milestone, self.milestone_level = version[0], level
            self.add_milestone(title, version, line)
        elif level <= self.milestone_level:
            # `## Phases` or `## Progress` after a milestone belongs to all of them.
            self.milestone, self.milestone_level = "", 0

    def collapsed(self, text: str, line: int) -> None:
        lowered = text.lower()
        if "</details" in lowered:
            self.milestone, self.outer = self.outer, ""
            return
        if "<details" in lowered:
            self.outer = self.milestone
        version = _VERSION.search(text) if "<summary" in lowered else None
        if version:
            self.milestone = version[0]
            self.add_milestone(
                _without_tags(text), _VERSION.search(_without_tags(text)) or version, line
            )

    def bullet(self, text: str, is_checked: bool | None, line: int) -> None:
        match = _PHASE_BULLET.match(text)
        if match:
            name = _bullet_name(match["rest"])
            if name is not None:
                retired = bool(match["strike"] or match["strike2"])
                self.mention(match["id"], name, line, is_checked=is_checked, is_retired=retired)
            return
        plan = _PLAN_BULLET.match(text) if self.open_phase and is_checked is not None else None
        if plan and self.open_phase:
            held = self.phases[self.open_phase]
            mark = Mark(line, plan["plan"], bool(is_checked))
            held.listed = replace(held.listed, plan_boxes=(*held.listed.plan_boxes, mark))
        version = _VERSION.search(text[:80])
        if version and "**" in text[: version.start() + 2]:
            self.add_milestone(
                text.replace("*", ""), _VERSION.search(text.replace("*", "")) or version, line
            )

    def detail(self, name: str, value: str, line: int) -> None:
        assert self.open_phase is not None
        gathered = self.phases[self.open_phase]
        if name == "goal" and not gathered.listed.goal:
            gathered.listed = replace(gathered.listed, goal=plain_text(value))
        elif name == "depends on" and not gathered.listed.depends_on:
            gathered.listed = replace(gathered.listed, depends_on=plain_text(value))
        elif name == "plans" and (counted := _COUNTS.match(value)):
            counts = (*gathered.listed.counts, Mark(line, counted[0]))
            gathered.listed = replace(gathered.listed, counts=counts)

    def table(self, table: Table, line: int) -> None:
        titles = [cell.text.strip("*").casefold() for cell in table.header]
        if not titles or not titles[0].startswith("phase") or len(titles) < 2:
            return
        name_at = next(
            (at for at, title in enumerate(titles) if title in ("name", "phase name")), -1
        )
        plans_at = next((at for at, title in enumerate(titles) if title.startswith("plans")), -1)
        status_at = titles.index("status") if "status" in titles else -1
        version_at = titles.index("milestone") if "milestone" in titles else -1
        if name_at < 0 and plans_at < 0 and status_at < 0:
            return
        for offset, row in enumerate(table.rows):
            match = _CELL_ID.match(row[0].text) if len(row) == len(titles) else None
            if not match:
                continue
            name = row[name_at].text if name_at >= 0 else match["name"]
            version = _VERSION.search(row[version_at].text) if version_at >= 0 else None
            key = self.mention(
                match["id"],
                _clean(name),
                line + 2 + offset,
                milestone=version[0] if version else None,
                in_table=True,
            )
            if key:
                held = self.phases[key]
                held.listed = replace(
                    held.listed,
                    status=row[status_at].text if status_at >= 0 else held.listed.status,
                    plans_cell=row[plans_at].text if plans_at >= 0 else held.listed.plans_cell,
                    row_line=line + 2 + offset
                    if max(plans_at, status_at) >= 0
                    else held.listed.row_line,
                )

    # -- putting together ----------------------------------------------------------------

    def mention(
        self,
        number: str,
        name: str,
        line: int,
        *,
        is_checked: bool | None = None,
        is_retired: bool = False,
        milestone: str | None = None,
        in_table: bool = False,
    ) -> tuple[str, PhaseId] | None:
        try:
            phase = PhaseId.parse(number)
        except MalformedId:
            return None
        version = self.milestone if milestone is None else milestone
        if in_table and milestone is None:
            version = self.only_home(phase)
        key = (version, phase)
        held = self.phases.get(key)
        boxes = () if is_checked is None else (Mark(line, number, is_checked),)
        if held is None:
            listed = Listed(
                phase,
                name,
                version,
                line,
                is_checked=is_checked,
                is_retired=is_retired,
                boxes=boxes,
            )
            self.phases[key] = _Gathered(listed, len(self.phases))
            return key
        held.listed = replace(
            held.listed,
            name=held.listed.name or name,
            is_checked=held.listed.is_checked if is_checked is None else is_checked,
            is_retired=held.listed.is_retired or is_retired,
            boxes=held.listed.boxes + boxes,
        )
        return key

    def only_home(self, phase: PhaseId) -> str:
        """Where a row of a table that names no milestone belongs."""
        homes = [version for version, each in self.phases if each == phase]
        return homes[-1] if homes else ""

    def add_milestone(
        self, title: str, version: re.Match[str], line: int, *, is_checked: bool | None = None
    ) -> None:
        is_open = bool(_OPEN.search(title)) and not is_checked
        closed = bool(is_checked) or (bool(_CLOSED.search(title)) and not is_open)
        name = title[version.end() :].strip(" —–:-*|")
        name = re.sub(
            r"\s*\((?:Shipped|Phases?|In Progress|completed)[^)]*\).*\Z",
            "",
            name,
            flags=re.IGNORECASE,
        )
        name = name.split(" — ")[0].split(" - ")[0].strip(" ✅📋🚧🔄")
        known = next(
            (at for at, each in enumerate(self.milestones) if each.version == version[0]), -1
        )
        entry = Milestone(version[0], plain_text(name), closed, is_open, line)
        if known < 0:
            self.milestones.append(entry)
            return
        held = self.milestones[known]
        self.milestones[known] = replace(
            held,
            name=held.name or entry.name,
            is_closed=held.is_closed or closed,
            is_marked_open=held.is_marked_open or is_open,
        )


def _assigned(phases: tuple[Listed, ...]) -> tuple[Listed, ...]:
    """Fold a mention outside all milestones into the one milestone that has this phase."""
    homes: dict[PhaseId, list[Listed]] = {}
    for phase in phases:
        if phase.milestone:
            homes.setdefault(phase.id, []).append(phase)
    loose = {phase.id: phase for phase in phases if not phase.milestone}
    result = []
    for phase in phases:
        inside = homes.get(phase.id, [])
        if not phase.milestone and len(inside) == 1:
            continue
        extra = loose.get(phase.id) if phase.milestone and len(inside) == 1 else None
        result.append(_folded(phase, extra) if extra else phase)
    return tuple(result)


def _folded(phase: Listed, extra: Listed) -> Listed:
    return replace(
        phase,
        name=phase.name or extra.name,
        goal=phase.goal or extra.goal,
        depends_on=phase.depends_on or extra.depends_on,
        is_checked=phase.is_checked if phase.is_checked is not None else extra.is_checked,
        is_retired=phase.is_retired or extra.is_retired,
        status=phase.status or extra.status,
        plans_cell=phase.plans_cell or extra.plans_cell,
        row_line=phase.row_line or extra.row_line,
        boxes=phase.boxes + extra.boxes,
        plan_boxes=phase.plan_boxes + extra.plan_boxes,
        counts=phase.counts + extra.counts,
    )


def _bullet_name(rest: str) -> str | None:
    """The name after `Phase 3`: `: Name** - text`; None when it is a sentence about the phase."""
    match = re.match(r"(?:\*\*)?\s*(?:[:—–]|\s-\s|-\s)\s*(?P<name>.*)\Z", rest)
    if not match:
        return "" if not rest.strip(" *~)]") else None
    name = match["name"]
    bold = name.find("**")
    return _clean(name[:bold] if bold >= 0 else re.split(r"\s[-—–]\s", name, maxsplit=1)[0])


def _clean(name: str) -> str:
    name = name.replace("~~", "").replace("**", "").strip()
    name = re.sub(r"\]\([^)]*\)", "", name).strip("[] ")
    while (shorter := _ENDING.sub("", name)) != name:
        name = shorter
    return plain_text(name.removesuffix("(INSERTED)").strip())


def _without_tags(text: str) -> str:
    return re.sub(r"<[^>]*>", "", text).strip()


def _line_index(lines: tuple[Line, ...], offset: int) -> int:
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high) // 2
        if lines[middle].next <= offset:
            low = middle + 1
        else:
            high = middle
    return low


def progress_rows(document: Document) -> Iterator[tuple[PhaseId, int]]:
    """The phases of the progress table and the index of their line."""
    for at, line in enumerate(document.lines):
        cells = cells_of(line)
        match = _CELL_ID.match(cells[0].text) if cells else None
        if match:
            yield PhaseId.parse(match["id"]), at
