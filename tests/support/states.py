"""STATE.md texts for tests, and comparisons of two of them."""

STATE = """\
---
gsd_state_version: '1.0'
milestone: v1.0
milestone_name: Demo
status: planning
active_phase: null
next_action: plan-phase
next_phases: ["1"]
progress:
  total_phases: 3
  completed_phases: 0
  total_plans: 0
  completed_plans: 0
  percent: 0
last_updated: "2026-05-01T00:00:00.000Z"
last_activity: 2026-05-01
stopped_at: Project initialized
# a person's comment
tags: [x, "y: z"]
nested:
  deep:
    deeper: kept
---

# Project State

## Project Reference

See: .planning/PROJECT.md (updated 2026-05-01)

**Core value:** It works
**Current focus:** Phase 1 — Core

## Current Position

Phase: 1 of 3 (Core)
Plan: Not started
Status: Ready to plan
Last activity: 2026-05-01

Progress: [░░░░░░░░░░] 0%

## Performance Metrics

**Velocity:**

- Total plans completed: 0
- Average duration: -
- Total execution time: 0.0 hours

**By Phase:**

| Phase | Plans | Total | Avg/Plan |
|-------|-------|-------|----------|
| - | - | - | - |

**Recent Trend:**

- Last 5 plans: -
- Trend: Stable

*Updated after each plan completion*

## Accumulated Context

### Decisions

None yet.

### Pending Todos

None yet.

### Blockers/Concerns

None yet.

## Session Continuity

Last session: 2026-05-01
Stopped at: Project initialized
Resume file: None
"""

ULTRAPLAN = STATE.replace("[░░░░░░░░░░]", "[░░░░░░░░░░░░░░░░░░░░]")


def changed_lines(before: str, after: str) -> list[str]:
    """The lines that only the new text has, in order."""
    old_lines = before.splitlines()
    return [line for line in after.splitlines() if line not in old_lines]


def lost_lines(before: str, after: str) -> list[str]:
    """The lines that only the old text has."""
    new_lines = after.splitlines()
    return [line for line in before.splitlines() if line not in new_lines]
