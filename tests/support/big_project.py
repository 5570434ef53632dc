"""Large projects for tests of growth and for benchmarks: any number of phases, ten plans each.

Half of the phases are finished and verified, and the documents say so. Files have the size of real
plans and summaries, and the roadmap names every phase three times.
"""

from pathlib import Path

_PLAN = """---
phase: {phase:02d}-part
plan: {plan:02d}
type: execute
wave: 1
depends_on: []
files_modified: [src/part_{phase}_{plan}.py]
autonomous: true
---

<objective>
Make part {phase}.{plan} work.
</objective>

<tasks>
<task type="auto">
  <name>Task 1: write it</name>
</task>
<task type="auto">
  <name>Task 2: test it</name>
</task>
</tasks>
"""
_SUMMARY = """---
phase: {phase:02d}-part
plan: {plan:02d}
duration: 12min
completed: 2026-01-15
---

# Phase {phase} Plan {plan}: Summary

Part {phase}.{plan} works.

## Self-Check: PASSED
"""
_VERIFICATION = (
    "---\nphase: {phase:02d}-part\nverified: 2026-01-16\nstatus: passed\n---\n\nAll true.\n"
)
_STATE = """---
gsd_state_version: '1.0'
milestone: v1.0
status: executing
progress:
  total_phases: {phases}
  completed_phases: {done}
  total_plans: {plans}
  completed_plans: {done_plans}
  percent: {percent}
last_updated: "2026-01-16T10:00:00.000Z"
---

# Project State

## Current Position

Phase: {current} of {highest} (Part {current})
Plan: 1 of {each}
Status: In progress
Last activity: 2026-01-16 — Phase {last} complete

Progress: [{bar}] {percent}%
"""


def big_project(folder: Path, phases: int, plans: int = 10) -> Path:
    """Make a project with this many phases; the first half is finished."""
    planning = folder / ".planning"
    home = planning / "phases"
    home.mkdir(parents=True)
    numbers = _numbers(phases)
    done = numbers[: phases // 2]
    for phase in numbers:
        inside = home / f"{phase:02d}-part"
        inside.mkdir()
        is_done = phase in done
        for plan in range(1, plans + 1):
            _write(inside / f"{phase:02d}-{plan:02d}-PLAN.md", _PLAN, phase, plan)
            if is_done:
                _write(inside / f"{phase:02d}-{plan:02d}-SUMMARY.md", _SUMMARY, phase, plan)
        if is_done:
            _write(inside / f"{phase:02d}-VERIFICATION.md", _VERIFICATION, phase, 0)
    (planning / "ROADMAP.md").write_text(_roadmap(numbers, done, plans), "utf-8")
    (planning / "STATE.md").write_text(_state(numbers, done, plans), "utf-8")
    (planning / "config.json").write_text("{}\n", "utf-8")
    return folder


def _numbers(phases: int) -> list[int]:
    """Phase numbers without 999, which stands for the backlog."""
    return [number for number in range(1, phases + 2) if number != 999][:phases]


def _write(path: Path, template: str, phase: int, plan: int) -> None:
    path.write_text(template.format(phase=phase, plan=plan), "utf-8")


def _state(numbers: list[int], done: list[int], plans: int) -> str:
    percent = 100 * len(done) // len(numbers)
    return _STATE.format(
        phases=len(numbers),
        done=len(done),
        plans=len(numbers) * plans,
        done_plans=len(done) * plans,
        percent=percent,
        bar="█" * (percent // 10) + "░" * (10 - percent // 10),
        current=numbers[len(done)],
        highest=numbers[-1],
        last=done[-1] if done else 0,
        each=plans,
    )


def _roadmap(numbers: list[int], done: list[int], plans: int) -> str:
    bullets = [
        f"- [{'x' if number in done else ' '}] **Phase {number}: Part {number}** - work"
        for number in numbers
    ]
    details = [
        f"### Phase {number}: Part {number}\n\n**Goal**: Part {number} works\n"
        f"**Depends on**: Phase {number - 1}\n**Plans**: {plans} plans\n"
        for number in numbers
    ]
    rows = [
        f"| {number}. Part {number} | {plans}/{plans} | Complete | 2026-01-16 |"
        if number in done
        else f"| {number}. Part {number} | 0/{plans} | Not started | - |"
        for number in numbers
    ]
    table = ["| Phase | Plans Complete | Status | Completed |", "|---|---|---|---|", *rows]
    parts = ("# Roadmap: Big", "## Phases", "\n".join(bullets), "## Phase Details")
    return "\n\n".join((*parts, *details, "## Progress", "\n".join(table))) + "\n"
