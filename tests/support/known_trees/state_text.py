"""STATE.md and MILESTONES.md of a known project, as the tools write them."""

from dataclasses import dataclass, replace
from random import Random

from tests.support.known_trees.model import (
    Counts,
    KnownMilestone,
    KnownPhase,
    KnownProject,
    Line,
    Lines,
    MilestoneState,
)
from tests.support.known_trees.roadmap_text import plain

CORE_VALUE = "Every parcel has exactly one owner."
# Sentences of a person. They look like statements about progress, and nobody may judge or edit them.
SENTENCES = (
    "- [Phase 1]: 3 of 9 plans would have been enough",
    "- Phase 2 felt 80% done on Friday, then the schema changed",
    "- Keep 14 plans in mind for v9.9; Phase: 3 of 4 is where it hurt",
    "- Status: nobody knows, ask again after the demo",
)


@dataclass(frozen=True, slots=True)
class StateStyle:
    """How STATE.md was written and kept."""

    has_frontmatter: bool
    is_default_milestone: bool  # `v1.0` and `milestone`, which the reference tool writes
    counts_verified_only: bool  # a finished phase counts once it is verified
    bar: str
    has_second_counters: bool
    has_second_focus: bool
    has_table: bool  # a table of the milestone's phases
    is_fenced: bool  # the bar is in a code fence
    focus_form: str


def draw_state_style(random: Random) -> StateStyle:
    """A style that is right in every form."""
    return StateStyle(
        has_frontmatter=random.random() < 0.85,
        is_default_milestone=random.random() < 0.12,
        counts_verified_only=random.random() < 0.2,
        bar=random.choice(("█░", "█░", "#.", "wide")),
        has_second_counters=random.random() < 0.25,
        has_second_focus=random.random() < 0.15,
        has_table=random.random() < 0.2,
        is_fenced=random.random() < 0.1,
        focus_form=random.choice(("Phase {number} — {name}", "Phase {number}: {name}")),
    )


def recorded_counts(milestone: KnownMilestone, style: StateStyle) -> Counts:
    """The numbers that STATE.md states truthfully."""
    true = milestone.counts
    if not style.counts_verified_only or milestone.state is MilestoneState.SHIPPED:
        return true
    verified = sum(each.is_complete and each.is_verified for each in milestone.phases)
    return Counts(verified, true.total_phases, true.completed_plans, true.total_plans)


def state_lines(random: Random, project: KnownProject, style: StateStyle) -> Lines:
    """The whole document."""
    lines: Lines = []
    if style.has_frontmatter:
        lines += _frontmatter(project, style)
    lines += [
        *plain("# Project State", ""),
        *([_focus(project, style), *plain("")] if style.has_second_focus else []),
        *plain("## Project Reference", ""),
        *plain("See: .planning/PROJECT.md (updated 2026-03-01)", ""),
        *plain(f"**Core value:** {CORE_VALUE}"),
        _focus(project, style),
        *plain(""),
        *_position(random, project, style),
        *(_phase_table(project) if style.has_table else []),
        *_metrics(random, project),
        *plain("## Accumulated Context", "", "### Decisions", ""),
        *plain(*random.sample(SENTENCES, 2), "", "### Pending Todos", "", "None yet.", ""),
        *plain("### Blockers/Concerns", "", "None yet.", "", "## Session Continuity", ""),
        *plain("Last session: 2026-03-02", f"Stopped at: {_stopped(project)}", "Resume file: None"),
    ]
    return lines


def _frontmatter(project: KnownProject, style: StateStyle) -> Lines:
    now = project.current
    counts = recorded_counts(now, style)
    lines = plain("---", "gsd_state_version: 1.0")
    shipped = [each for each in project.milestones if each.state is MilestoneState.SHIPPED]
    old = shipped[0].name if shipped and shipped[0] is not now else ""
    if style.is_default_milestone and project.is_listed and now.name != "v1.0":
        # The default proves nothing. Whether it is called wrong is left to other tests.
        lines += [Line("milestone: v1.0", is_neutral=True)]
        lines += [Line("milestone_name: milestone", is_neutral=True)]
    else:
        false = f"milestone: {_quoted(old)}" if old and project.is_listed else ""
        lines.append(Line(f"milestone: {_quoted(now.name)}", false))
        lines += plain(f"milestone_name: {now.title or now.name}")
    lines += plain(f"status: {_status(project)}", f"stopped_at: {_stopped(project)}")
    lines += plain('last_updated: "2026-03-02T10:00:00.000Z"', "last_activity: 2026-03-02")
    lines += [*plain("progress:"), *_counters(project, counts), *plain("---", "")]
    return lines


def _quoted(name: str) -> str:
    return f'"{name}"' if name[0].isdigit() else name


def _counters(project: KnownProject, counts: Counts) -> Lines:
    verified = sum(each.is_complete and each.is_verified for each in project.current.phases)
    # Who does not count plans whose file is gone is right, too.
    gone = sum(each.form == "gone" and each.is_complete for each in project.current.phases)
    wrong = {
        "total_phases": counts.total_phases + 3,
        "completed_phases": verified - 1,
        "total_plans": counts.total_plans - gone - 1,
        "completed_plans": counts.completed_plans - gone - 1 if counts.completed_plans else 1,
        "percent": wrong_percent(project),
    }
    if not counts.total_plans:  # a claim without any plan cannot be checked
        wrong |= {"completed_plans": -1, "percent": -1}
    least = 1 if project.is_between else 0  # zeros are right between milestones
    lines = []
    for key, number in wrong.items():
        false = f"  {key}: {number}" if number >= least else ""
        lines.append(Line(f"  {key}: {getattr(counts, key)}", false))
    return lines


def wrong_percent(project: KnownProject) -> int:
    """A percentage that no reading of the files gives."""
    counts = [project.current.counts, *(each.counts for each in project.milestones)]
    counts.append(
        Counts(
            sum(each.completed_phases for each in counts[1:]),
            sum(each.total_phases for each in counts[1:]),
            sum(each.completed_plans for each in counts[1:]),
            sum(each.total_plans for each in counts[1:]),
        )
    )
    taken = {0, 100}
    for each in counts:
        for done in range(each.completed_phases + 1):
            taken |= _near(done, each.total_phases)
        taken |= _near(each.completed_plans, each.total_plans)
    return next(each for each in (43, 57, 71, 29, 37, 83, 13, *range(100)) if each not in taken)


def _near(done: int, total: int) -> set[int]:
    percent = 100 * done // total if total else 0
    return {percent, percent + 1}


def _status(project: KnownProject) -> str:
    current = project.current.current
    if project.is_between or current is None:
        return "completed"
    return "executing" if current.plans else "planning"


def _focus(project: KnownProject, style: StateStyle) -> Line:
    now = project.current
    if project.is_between:
        return Line("**Current focus:** Planning next milestone")
    phase = _at(now)
    past = _past(now)
    false = _filled(style.focus_form, past) if past else ""
    true = _filled(style.focus_form, phase)
    return Line(f"**Current focus:** {true}", f"**Current focus:** {false}" if false else "")


def _filled(form: str, phase: KnownPhase) -> str:
    return form.format(number=phase.number, name=phase.name)


def _at(milestone: KnownMilestone) -> KnownPhase:
    """The phase that the project is at: the first open one, else the last one."""
    return milestone.current or milestone.phases[-1]


def _past(milestone: KnownMilestone) -> KnownPhase | None:
    """A phase that is verified and followed by another verified one, so it cannot be current."""
    verified = [each for each in milestone.phases if each.is_complete and each.is_verified]
    return verified[0] if len(verified) > 1 else None


def _position(random: Random, project: KnownProject, style: StateStyle) -> Lines:
    now, counts = project.current, recorded_counts(project.current, style)
    lines = plain("## Current Position", "")
    if project.is_between:
        lines += plain(f"Phase: Milestone {now.name} complete", "Plan: —")
        lines += plain("Status: Awaiting next milestone")
    else:
        lines += _phase_lines(random, project)
    lines += plain("Last activity: 2026-03-02 — Worked on it", "")
    wrong_one = wrong_percent(project)
    true, false = (_bar(percent, style.bar) for percent in (counts.percent, wrong_one))
    bar = Line(f"Progress: {true}", f"Progress: {false}" if counts.total_plans else "")
    lines += [*plain("```"), bar, *plain("```")] if style.is_fenced else [bar]
    if style.has_second_counters:
        lines += [*plain(""), *_second_counters(project, counts)]
    return [*lines, *plain("")]


def _second_counters(project: KnownProject, counts: Counts) -> Lines:
    form = "**Phases Complete:** {}/" + str(counts.total_phases)
    verified = sum(each.is_complete and each.is_verified for each in project.current.phases)
    has_false = verified > project.is_between  # zero is right between milestones
    return [
        Line(form.format(counts.completed_phases), form.format(verified - 1) if has_false else "")
    ]


def _phase_table(project: KnownProject) -> Lines:
    lines = plain("## Phase Overview", "", "| Phase | Name | Plans | Status |", "|---|---|---|---|")
    for each in project.current.phases:
        row = f"| {each.number} | {each.name} | {each.plans or 'TBD'} | "
        if each.is_complete:
            false = f"{row}Not started |" if each.is_verified else ""
            lines.append(Line(f"{row}Complete |", false))
        else:
            lines.append(Line(f"{row}{'In progress' if each.done else 'Not started'} |"))
    return [*lines, *plain("")]


def _phase_lines(random: Random, project: KnownProject) -> Lines:
    now = project.current
    phase, past = _at(now), _past(now)
    last = str(len(now.phases)) if project.restarts else now.phases[-1].number
    # With an inserted phase, the last number and the number of phases differ: nothing is stated.
    of = "" if any("." in each.number for each in now.phases) else f" of {last}"
    word = "EXECUTING" if phase.plans and not phase.is_complete else "COMPLETE"
    if random.random() < 0.5 or not phase.plans:
        form = "Phase: {each.number}" + of + " ({each.name})"
    else:
        form = "Phase: {each.padded} ({each.slug}) — " + word
    is_stale = past is not None and not form.endswith("COMPLETE")
    false = form.format(each=past) if is_stale else ""
    lines = [Line(form.format(each=phase), false)]
    if phase.is_complete:
        rest = plain(f"Plan: {phase.plans} of {phase.plans}", "Status: Phase complete")
    elif phase.plans:
        less = phase.plans - 1
        wrong = f"Plan: {min(phase.done + 1, less)} of {less}" if less else ""
        rest = [Line(f"Plan: {phase.done + 1} of {phase.plans}", wrong)]
        if random.random() < 0.2:
            wrong = f"Total Plans in Phase: {less}" if less else ""
            rest.append(Line(f"Total Plans in Phase: {phase.plans}", wrong))
        rest += plain(f"Status: Executing Phase {phase.number}")
    else:
        rest = plain("Plan: Not started", "Status: Ready to plan")
    return lines + [replace(each, depends_on="Phase:") for each in rest]


def _bar(percent: int, form: str) -> str:
    full, empty = ("█", "░") if form == "wide" else tuple(form)
    cells = 20 if form == "wide" else 10
    filled = percent * cells // 100
    return f"[{full * filled}{empty * (cells - filled)}] {percent}%"


def _stopped(project: KnownProject) -> str:
    done = [each for each in project.current.phases if each.done]
    if not done:
        return "Roadmap created"
    return f"Completed {done[-1].plan_name(done[-1].done)}"


def _metrics(random: Random, project: KnownProject) -> Lines:
    # A lifetime figure with an unknown start: no file refutes it.
    total = random.randint(0, 90)
    lines = plain("## Performance Metrics", "", "**Velocity:**", "")
    lines += plain(f"- Total plans completed: {total}", "- Average duration: 6 min", "")
    done = [each for each in project.current.phases if each.is_complete]
    if done and random.random() < 0.5:
        lines += plain(
            "**By Phase:**", "", "| Phase | Plans | Total | Avg/Plan |", "|---|---|---|---|"
        )
        lines += plain(
            *(f"| {each.number} | {each.plans} | {6 * each.plans} min | 6 min |" for each in done)
        )
        lines += plain("")
    return lines


def milestones_text(random: Random, project: KnownProject, *, is_complete: bool) -> str:
    """MILESTONES.md: what was shipped, the newest first. The newest may be missing."""
    shipped = [each for each in project.milestones if each.state is MilestoneState.SHIPPED]
    may_lag = len(shipped) > 1 and not project.is_between and not is_complete
    if may_lag and random.random() < 0.15:
        shipped = shipped[:-1]
    texts = ["# Milestones\n"]
    for each in reversed(shipped):
        counts = each.counts
        texts.append(
            f"## {each.label} (Shipped: {each.shipped_on})\n\n**Phases completed:** "
            f"{counts.total_phases} phases, {counts.total_plans} plans\n\n---\n"
        )
    return "\n".join(texts)
