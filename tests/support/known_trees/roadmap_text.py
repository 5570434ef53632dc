"""ROADMAP.md of a known project, in the forms that real projects use."""

from dataclasses import dataclass, replace
from random import Random

from tests.support.known_trees.model import (
    KnownMilestone,
    KnownPhase,
    KnownProject,
    Line,
    Lines,
    MilestoneState,
    Spoiling,
)

SHIPPED, RUNNING, PARKED = MilestoneState.SHIPPED, MilestoneState.RUNNING, MilestoneState.PARKED

_MARKS = {"shipped": "✅ ", "running": "🚧 ", "parked": "⏸ ", "planned": "📋 "}
_BOXES = {"shipped": "[x] ", "running": "[ ] ", "parked": "⏸ ", "planned": "[ ] "}
_ENDS = {"running": "in progress", "parked": "parked", "planned": "planned"}


@dataclass(frozen=True, slots=True)
class RoadmapStyle:
    """How one person writes a roadmap."""

    marks: str  # sign, box or none; the words in parentheses are always there
    dash: str  # in ranges
    list_form: str  # bullets or table
    section_form: str  # details, heading or none, for shipped milestones
    table_form: str  # column, plain, ranges or none
    box_form: str
    has_status_lines: bool
    has_ranges: bool = True
    has_states: bool = True
    has_sections: bool = True
    has_appended: bool = False  # the last phase was added later, and the list was not changed
    is_stale: bool = False  # the list still calls the milestone before the running one running


def draw_style(random: Random, project: KnownProject, spoiling: Spoiling) -> RoadmapStyle:
    """A style that states what the spoiling leaves."""
    has_sections = spoiling is not Spoiling.SECTIONS
    has_ranges = spoiling not in (Spoiling.RANGES, Spoiling.SECTIONS)
    section_form = random.choice(("details", "details", "heading", "none"))
    if spoiling is Spoiling.RANGES:
        section_form = random.choice(("details", "heading"))
    tables: tuple[str, ...] = ("column", "column", "plain", "none")
    if project.restarts or not has_sections:
        tables = ("none",) if not has_sections else ("column", "none")
    table_form = random.choice(tables)
    return RoadmapStyle(
        marks=random.choice(("sign", "sign", "sign", "box", "none")),
        dash=random.choice(("-", "–")),
        list_form=random.choice(("bullets", "bullets", "bullets", "table")),
        section_form=section_form if has_sections else "none",
        table_form=table_form,
        box_form=random.choice(("bold", "plans")),
        has_status_lines=random.random() < 0.2,
        has_ranges=has_ranges,
        has_states=spoiling is not Spoiling.MARKS,
        has_sections=has_sections,
        has_appended=table_form == "column" and random.random() < 0.15,
        is_stale=spoiling is Spoiling.FRESHNESS,
    )


def roadmap_lines(random: Random, project: KnownProject, style: RoadmapStyle) -> Lines:
    """The whole document."""
    lines: Lines = [
        *plain(f"# Roadmap: {project.title}", "", "## Overview", ""),
        # A person's sentence about numbers. It states no fact that a tool keeps.
        *plain("We ship in small steps: 2 of 3 phases first, the other 40% when it rains.", ""),
    ]
    if project.is_listed:
        lines += [*plain("## Milestones", ""), *_list(project, style), *plain("")]
    lines += plain("## Phases", "")
    for each in project.milestones:
        if each.state in (PARKED, MilestoneState.PLANNED) and not style.has_sections:
            continue
        lines += _section(random, project, each, style)
    if not project.is_between:
        lines += plain("## Phase Details", "")
        for phase in project.current.phases:
            lines += _details(random, phase, style)
    lines += _table(random, project, style)
    if random.random() < 0.15:
        lines += plain(
            *("## Backlog", "", "### Phase 999.1: Dark Mode (BACKLOG)", ""),
            *("**Goal:** Captured for future planning", "**Plans:** 0 plans", ""),
        )
    return lines


def plain(*texts: str) -> Lines:
    """Lines that no tool could write falsely."""
    return [Line(text) for text in texts]


def range_of(milestone: KnownMilestone, style: RoadmapStyle) -> str:
    """The range of phases, as in a milestone list: `Phase 4` or `Phases 4-6, 5.1`."""
    whole = [each.number for each in milestone.phases if "." not in each.number]
    decimals = [each.number for each in milestone.phases if "." in each.number]
    dash = style.dash
    if style.has_appended and milestone.state is RUNNING and len(whole) > 1 and not decimals:
        whole.pop()
    first, last = whole[0], whole[-1]
    spread = first if first == last else f"{first}{dash}{last}"
    # Half of the people who insert a phase name it in the list.
    named = [spread, *(decimals if int(first) % 2 else [])]
    return f"{'Phase' if named == [first] else 'Phases'} {', '.join(named)}"


def _list(project: KnownProject, style: RoadmapStyle) -> Lines:
    is_whole = style.has_ranges and style.has_states and not style.is_stale
    if style.list_form == "table" and is_whole:
        rows = ["| Milestone | Phases | Status | Shipped |", "|---|---|---|---|"]
        for each in project.milestones:
            spread = range_of(each, style).partition(" ")[2]
            word = {"shipped": "Shipped", "running": "In progress"}.get(each.state, each.state)
            date = each.shipped_on if each.state is SHIPPED else "-"
            rows.append(f"| {each.label} | {spread} | {word.capitalize()} | {date} |")
        return plain(*rows)
    lines = []
    listed = project.milestones
    if style.is_stale:
        before = project.milestones[-2]
        listed = (*project.milestones[:-2], replace(before, state=RUNNING))
    for each in listed:
        marks = {"sign": _MARKS, "box": _BOXES, "none": {}}[style.marks]
        mark = marks.get(each.state, "") if style.has_states else ""
        end = f"shipped {each.shipped_on}" if each.state is SHIPPED else _ENDS[each.state]
        spread = f" — {range_of(each, style)}" if style.has_ranges else ""
        suffix = f" ({end})" if style.has_states else ""
        lines.append(f"- {mark}**{each.label}**{spread}{suffix}")
    future = ["- 📋 **v9.0+** — Future enhancements (planned)"] if project.has_future else []
    return [
        *(Line(text, is_neutral=style.is_stale and text == lines[-1]) for text in lines),
        *plain(*(future if style.has_states else [])),
    ]


def _section(
    random: Random, project: KnownProject, milestone: KnownMilestone, style: RoadmapStyle
) -> Lines:
    boxes = [line for phase in milestone.phases for line in _box(random, milestone, phase, style)]
    if not project.is_listed or not style.has_sections:
        return [*boxes, *plain("")]
    spread = f" ({range_of(milestone, style)})" if style.has_ranges else ""
    if milestone.state is not SHIPPED:
        mark = _MARKS[milestone.state] if style.has_states else ""
        end = f" ({_ENDS[milestone.state].title()})" if style.has_states else ""
        title = f"### {mark}{milestone.label}{spread if style.is_stale else end or spread}"
        return [
            *plain(title, "", "**Milestone Goal:** It carries the load.", ""),
            *boxes,
            *plain(""),
        ]
    if style.section_form == "none":
        return []
    end = f" — SHIPPED {milestone.shipped_on}" if style.has_states else ""
    mark = "✅ " if style.has_states else ""
    if style.section_form == "details":
        head = ("<details>", f"<summary>{mark}{milestone.label}{spread}{end}</summary>", "")
        return [*plain(*head), *boxes, *plain("", "</details>", "")]
    return [*plain(f"### {mark}{milestone.label}{spread}{end}", ""), *boxes, *plain("")]


def _box(
    random: Random, milestone: KnownMilestone, phase: KnownPhase, style: RoadmapStyle
) -> Lines:
    is_shipped = milestone.state is SHIPPED
    # A finished phase that is not verified may stay open in the roadmap.
    is_ticked = phase.is_complete and (is_shipped or phase.is_verified or random.random() < 0.5)
    end = ""
    if style.box_form == "plans" and phase.plans:
        end = f" ({phase.done}/{phase.plans} plans)"
    if is_ticked:
        end += " — completed 2026-02-03"
    name = (
        f"**Phase {phase.number}: {phase.name}**"
        if style.box_form == "bold"
        else (f"Phase {phase.number}: {phase.name}")
    )
    text = f"- [{'x' if is_ticked else ' '}] {name}{end}"
    false = ""
    if is_ticked and phase.is_verified and not is_shipped:
        false = f"- [ ] {name}"
    elif phase.plans and not phase.is_complete:
        false = f"- [x] {name} — completed 2026-02-03"
    return [Line(text, false)]


def _details(random: Random, phase: KnownPhase, style: RoadmapStyle) -> Lines:
    lines = plain(f"### Phase {phase.number}: {phase.name}", "", "**Goal**: It works", "")
    lines += plain("**Depends on**: Nothing", "")
    if style.has_status_lines:
        lines += [_status_line(phase), *plain("")]
    if not phase.plans:
        return [*lines, *plain("**Plans**: TBD", "")]
    if random.random() < 0.5:
        false = f"**Plans**: {phase.plans - 1} plans" if phase.plans > 1 else ""
        lines.append(Line(f"**Plans**: {phase.plans} plans", false))
    else:
        false = f"**Plans**: {phase.done - 1}/{phase.plans} plans executed" if phase.done else ""
        lines.append(Line(f"**Plans**: {phase.done}/{phase.plans} plans executed", false))
    lines += plain("", "Plans:", "")
    for index in range(1, phase.plans + 1):
        is_done = index <= phase.done
        name = phase.plan_name(index)
        true, false = (f"- [{mark}] {name} — step {index}" for mark in ("x ", " x")[not is_done])
        # A plan whose file has no number cannot be matched with certainty.
        lines.append(Line(true, false if phase.has_numbered_plans else ""))
    return [*lines, *plain("")]


def _status_line(phase: KnownPhase) -> Line:
    if phase.is_complete:
        false = "**Status**: Not started" if phase.is_verified else ""
        return Line("**Status**: Complete", false)
    return Line("**Status**: In progress" if phase.done else "**Status**: Not started")


def _table(random: Random, project: KnownProject, style: RoadmapStyle) -> Lines:
    if style.table_form == "none":
        return []
    has_column = style.table_form == "column"
    head = ["Phase", *(["Milestone"] * has_column), "Plans Complete", "Status", "Completed"]
    lines = plain("## Progress", "", _row(head), _row(["---"] * len(head)))
    for milestone in project.milestones:
        for phase in milestone.phases:
            name = f"{phase.number}. {phase.name}"
            cells = [name, *([milestone.name] * has_column)]
            lines.append(_table_line(random, milestone, phase, cells))
    if random.random() < 0.15:
        done, total = (
            sum(getattr(each.counts, key) for each in project.milestones)
            for key in ("completed_plans", "total_plans")
        )
        form = _row(["**Total**", *([""] * has_column), f"{{}}/{total}", "", ""])
        false = form.format(done - 1) if done else ""
        lines.append(Line(form.format(done), false, depends_on="|"))
    return [*lines, *plain("")]


def _table_line(
    random: Random, milestone: KnownMilestone, phase: KnownPhase, cells: list[str]
) -> Line:
    if phase.is_complete:
        true = [f"{phase.done}/{phase.plans}", "Complete", "2026-02-03"]
        false = [f"{phase.done - 1}/{phase.plans}", "In Progress", "-"]
        if milestone.state is not SHIPPED and not phase.is_verified and random.random() < 0.5:
            true[1:] = ["In Progress", "-"]
        return Line(_row([*cells, *true]), _row([*cells, *false]))
    count = f"{phase.done}/{phase.plans}" if phase.plans else "0/TBD"
    word = "In Progress" if phase.done else "Not started"
    false_count = f"{phase.done - 1}/{phase.plans}" if phase.done else ""
    false_row = _row([*cells, false_count, word, "-"]) if false_count else ""
    return Line(_row([*cells, count, word, "-"]), false_row)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
