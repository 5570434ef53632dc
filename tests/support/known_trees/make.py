"""Makes the project of a seed on disk: documents, files, what was removed and what was planted."""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from tests.support.known_trees.draw import draw_project
from tests.support.known_trees.model import (
    Counts,
    KnownMilestone,
    KnownPhase,
    KnownProject,
    Lines,
    MilestoneState,
    Place,
    Spoiling,
)
from tests.support.known_trees.roadmap_text import draw_style, roadmap_lines
from tests.support.known_trees.state_text import (
    CORE_VALUE,
    StateStyle,
    draw_state_style,
    milestones_text,
    recorded_counts,
    state_lines,
)

PLANNING = ".planning"
_SAME_TIME = 1_770_000_000  # so that no file is newer than another
_PLAN = """---
phase: {phase}
plan: "{plan}"
type: execute
wave: 1
depends_on: []
files_modified: [a.py]
autonomous: true
---

<tasks>
<task type="auto">
  <name>Task 1: write it</name>
</task>
</tasks>
"""
_SUMMARY = """---
phase: {phase}
plan: "{plan}"
completed: 2026-02-03
---

# Phase {phase} Plan {plan}: Summary

Written and tried.

## Self-Check: PASSED
"""


@dataclass(frozen=True, slots=True)
class KnownTree:
    """A project on disk, what is true about it and what was done to it."""

    folder: Path
    project: KnownProject
    spoiling: Spoiling
    counts: Counts  # by the files that are left, which is the truth unless summaries were removed
    claimed: Counts | None  # the numbers in STATE.md, if it states them
    planted: frozenset[tuple[str, int]]  # path and line of every false statement
    neutral: frozenset[tuple[str, int]]

    @property
    def current(self) -> KnownMilestone:
        """The milestone that the project is at."""
        return self.project.current


def make_tree(folder: Path, seed: int, number: int, spoiling: Spoiling | None = None) -> KnownTree:
    """Write the tree of a seed and a number into a folder."""
    name = f"{seed}/{number}"
    project = draw_project(Random(name))
    spoiling = spoiling or Random(f"{name}/spoiling").choice([Spoiling.NOTHING] * 8 + [*Spoiling])
    if not _applies(project, spoiling):
        spoiling = Spoiling.NOTHING
    return _Writer(folder, name, project, spoiling).write()


def _applies(project: KnownProject, spoiling: Spoiling) -> bool:
    counts = project.current.counts
    if spoiling in (Spoiling.RANGES, Spoiling.MARKS, Spoiling.SECTIONS):
        return project.is_listed and len(project.milestones) > 1
    if spoiling is Spoiling.FRESHNESS:
        states = [each.state for each in project.milestones]
        return states[-2:] == [MilestoneState.SHIPPED, MilestoneState.RUNNING]
    if spoiling is Spoiling.FOLDERS:
        return counts.completed_plans > 0
    if spoiling is Spoiling.SOME_FOLDERS:
        return counts.completed_phases > 1
    if spoiling is Spoiling.SUMMARIES:
        return not project.is_between and counts.completed_plans > 0
    return True


class _Writer:
    def __init__(self, folder: Path, name: str, project: KnownProject, spoiling: Spoiling) -> None:
        self.folder, self.name, self.project, self.spoiling = folder, name, project, spoiling
        # Each part has its own random numbers, so that a new form in one changes no other.
        self.random = Random(f"{name}/files")
        self.style = draw_state_style(Random(f"{name}/state style"))
        self.planted: set[tuple[str, int]] = set()
        self.neutral: set[tuple[str, int]] = set()
        self.lacking: set[str] = set()  # phases of the current milestone without a folder
        self.open: dict[str, int] = {}  # summaries that were removed, by phase

    def write(self) -> KnownTree:
        self._spoil()
        for each in self.project.milestones:
            self._milestone(each)
        self._oddments()
        self._documents()
        for path in sorted(self.folder.rglob("*")):
            os.utime(path, (_SAME_TIME, _SAME_TIME))
        return KnownTree(
            folder=self.folder,
            project=self.project,
            spoiling=self.spoiling,
            counts=self._counts(),
            claimed=self._claimed(),
            planted=frozenset(self.planted),
            neutral=frozenset(self.neutral),
        )

    def _spoil(self) -> None:
        phases = self.project.current.phases
        done = [each.number for each in phases if each.is_complete]
        if self.spoiling is Spoiling.FOLDERS:
            self.lacking = {each.number for each in phases}
        elif self.spoiling is Spoiling.SOME_FOLDERS:
            self.lacking = set(self.random.sample(done, self.random.randint(1, len(done) - 1)))
        elif self.spoiling is Spoiling.SUMMARIES:
            phase = self.random.choice([each for each in phases if each.done])
            self.open = {phase.number: self.random.randint(1, phase.done)}

    # -- files ---------------------------------------------------------------------------

    def _milestone(self, milestone: KnownMilestone) -> None:
        shipped = self._shipped()
        first, last = (shipped[0].name, shipped[-1].name) if shipped else ("", "")
        place = milestone.place.value.format(name=milestone.name, first=first, last=last)
        is_root = milestone.place is not Place.PHASES and self.random.random() < 0.6
        home = "" if is_root else self.project.home
        if milestone.place is Place.MILESTONES and self.random.random() < 0.7:
            text = f"# Milestone {milestone.label}\n\nShipped {milestone.shipped_on}.\n"
            self._write(f"{home}milestones/{milestone.name}-ROADMAP.md", text)
        is_current = milestone is self.project.current
        if milestone.has_earlier:
            for each in shipped[: shipped.index(milestone)]:
                for phase in each.phases:
                    self._phase(f"{home}{place}/{phase.folder}", phase, is_current=False)
        for phase in milestone.phases:
            if is_current and phase.number in self.lacking:
                continue
            self._phase(f"{home}{place}/{phase.folder}", phase, is_current=is_current)
            if milestone.has_leftovers:
                copy = f"{self.project.home}phases/{phase.folder}"
                self._phase(copy, phase, is_current=is_current)

    def _shipped(self) -> list[KnownMilestone]:
        return [each for each in self.project.milestones if each.state is MilestoneState.SHIPPED]

    def _phase(self, home: str, phase: KnownPhase, *, is_current: bool) -> None:
        if not phase.has_folder:
            return
        if not phase.plans:
            self._write(f"{home}/{phase.padded}-CONTEXT.md", "# Context\n")
            return
        inside = f"{home}/plans" if phase.form == "nested" else home
        removed = self.open.get(phase.number, 0) if is_current else 0
        for index in range(1, phase.plans + 1):
            values = {"phase": phase.folder, "plan": f"{index:02d}"}
            is_gone = phase.form == "gone" and index == 1 and phase.is_verified and not removed
            if not is_gone:
                self._write(f"{inside}/{phase.plan_name(index)}", _PLAN.format(**values))
            if index <= phase.done - removed:
                self._write(f"{inside}/{phase.summary_name(index)}", _SUMMARY.format(**values))
        if phase.is_verified and not removed:
            text = f"---\nphase: {phase.folder}\nstatus: passed\n---\n\n# Verification\n"
            self._write(f"{home}/{phase.padded}-VERIFICATION.md", text)

    def _oddments(self) -> None:
        """What lies around in real projects and belongs to no milestone."""
        home = self.project.home
        if self.random.random() < 0.15:
            self._write(f"{home}phases/999.1-dark-mode/999.1-CONTEXT.md", "# Context\n")
        # Without a roadmap nothing tells a spike from a phase.
        if self.random.random() < 0.1 and self.spoiling is not Spoiling.ROADMAP:
            self._write(f"{home}phases/88-spike/88-01-PLAN.md", _PLAN.format(phase="88", plan="01"))
        first = self.project.milestones[0]
        is_known = self.spoiling is not Spoiling.ROADMAP  # which phases the new roadmap lists
        if not self.project.is_listed and first.phases[0].number != "1" and is_known:
            # Work of an earlier roadmap that was replaced and never archived.
            for number in range(1, int(first.phases[0].number)):
                old = KnownPhase(str(number), "Old Work", 2, 2, is_verified=True)
                self._phase(f"{home}phases/{old.folder}", old, is_current=False)
        if self.random.random() < 0.3:
            self._write("config.json", json.dumps({"mode": "yolo", "granularity": "standard"}))
        if self.random.random() < 0.2:
            self._write("quick/001-typo/001-PLAN.md", "# Quick task\n")
        (self.folder / PLANNING / home / "phases").mkdir(parents=True, exist_ok=True)

    # -- documents -----------------------------------------------------------------------

    def _documents(self) -> None:
        home = self.project.home
        project, random = self.project, Random(f"{self.name}/documents")
        self._write("PROJECT.md", f"# {project.title}\n\n## Core Value\n\n{CORE_VALUE}\n")
        is_stale = self.spoiling is Spoiling.FRESHNESS
        if self._shipped() and (is_stale or random.random() < 0.7):
            text = milestones_text(random, project, is_complete=is_stale)
            self._write("MILESTONES.md", text)
        if project.workstream:
            self._write("active-workstream", project.workstream)
            self._other_workstream()
        style = draw_style(Random(f"{self.name}/roadmap style"), project, self.spoiling)
        roadmap = roadmap_lines(Random(f"{self.name}/roadmap"), project, style)
        state = state_lines(Random(f"{self.name}/state"), project, self.style)
        if self.spoiling is Spoiling.NOTHING and random.random() < 0.5:
            roadmap, state = self._plant(random, roadmap), self._plant(random, state)
        if self.spoiling is not Spoiling.ROADMAP:
            self._document(f"{home}ROADMAP.md", roadmap)
        if self.spoiling is not Spoiling.STATE:
            self._document(f"{home}STATE.md", state)

    def _plant(self, random: Random, lines: Lines) -> Lines:
        at = [index for index, line in enumerate(lines) if line.false]
        chosen = set(random.sample(at, min(len(at), random.randint(0, 3))))
        # A total contradicts its rows, and a plan its phase, as soon as one of them is false.
        false_starts = {lines[index].text.partition(" ")[0] for index in chosen}
        planted = []
        for index, line in enumerate(lines):
            depends = line.depends_on in false_starts and line.depends_on
            if index in chosen and not depends:
                planted.append(replace(line, text=line.false))
            else:
                text = line.false if index in chosen else line.text
                is_neutral = line.is_neutral or bool(depends)
                planted.append(replace(line, text=text, false="", is_neutral=is_neutral))
        return planted

    def _document(self, name: str, lines: Lines) -> None:
        is_planted = any(line.text == line.false for line in lines)
        for index, line in enumerate(lines, 1):
            place = (f"{PLANNING}/{name}", index)
            if is_planted and line.false and line.text == line.false:
                self.planted.add(place)
            if line.is_neutral:
                self.neutral.add(place)
        end = "\r\n" if self.random.random() < 0.05 else "\n"
        self._write(name, end.join([*(line.text for line in lines), ""]))

    def _other_workstream(self) -> None:
        """A second workstream with the same numbers and other work."""
        phase = KnownPhase("1", "Other Lane", 2, 1)
        other = KnownMilestone("v9.0", "Other", MilestoneState.RUNNING, "", (phase,))
        project = KnownProject("Other", (other,), restarts=False, is_listed=True, workstream="zz")
        self._phase("workstreams/zz/phases/01-other-lane", phase, is_current=False)
        style = draw_style(Random(0), project, Spoiling.NOTHING)
        for name, lines in (
            ("ROADMAP.md", roadmap_lines(Random(0), project, style)),
            ("STATE.md", state_lines(Random(0), project, _PLAIN_STYLE)),
        ):
            self._write(f"workstreams/zz/{name}", "\n".join([*(each.text for each in lines), ""]))

    def _counts(self) -> Counts:
        phases = [
            replace(each, done=each.done - self.open.get(each.number, 0))
            for each in self.project.current.phases
            # Without a roadmap and counters, a phase without a folder has left no trace.
            if each.has_folder or self.spoiling is not Spoiling.ROADMAP or self._claimed()
        ]
        return replace(self.project.current, phases=tuple(phases)).counts

    def _claimed(self) -> Counts | None:
        if self.spoiling is Spoiling.STATE or not self.style.has_frontmatter:
            return None
        return recorded_counts(self.project.current, self.style)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / PLANNING / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


_PLAIN_STYLE = StateStyle(
    has_frontmatter=True,
    is_default_milestone=False,
    counts_verified_only=False,
    bar="█░",
    has_second_counters=False,
    has_second_focus=False,
    has_table=False,
    is_fenced=False,
    focus_form="Phase {number} — {name}",
)
