"""Handwritten projects, each with one peculiarity of real projects.

A project is a dict of files below `.planning`. In `BASE` every document is right: phase 1 is
complete, and phase 2 has one of two plans done. A clean clone tests all of them.
"""

from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, str]

STATE = """\
---
gsd_state_version: '1.0'
milestone: v1.0
milestone_name: First
current_phase: 02
status: executing
progress:
  total_phases: 2
  completed_phases: 1
  total_plans: 3
  completed_plans: 2
  percent: 50
last_updated: "2026-05-01T00:00:00.000Z"
owner: Ada # a person's key
---

# Project State

## Current Position

Phase: 2 of 2 (Search)
Plan: 2 of 2 in current phase
Status: In progress
Last activity: 2026-05-01 — Plan 02-01 done

Progress: [█████░░░░░] 50%

## Performance Metrics

- Total plans completed: 2

## Accumulated Context

### Decisions

- [Phase 1]: Keep it small
"""

ROADMAP = """\
# Roadmap: Demo

## 🚧 v1.0 First

- [x] **Phase 1: Login** - who is there
- [ ] **Phase 2: Search** - what is there

### Phase 1: Login

**Goal**: People get in
**Plans:** 1/1 plans complete

- [x] 01-01-PLAN.md — the form

### Phase 2: Search

**Goal**: People find it
**Plans:** 1/2 plans executed

- [x] 02-01-PLAN.md — the index
- [ ] 02-02-PLAN.md — the page

## Progress

| Phase | Milestone | Plans Complete | Status | Completed |
|-------|-----------|----------------|--------|-----------|
| 1. Login | v1.0 | 1/1 | Complete | 2026-04-01 |
| 2. Search | v1.0 | 1/2 | In Progress | - |
"""

BASE: dict[str, str] = {
    "STATE.md": STATE,
    "ROADMAP.md": ROADMAP,
    "phases/01-login/01-01-PLAN.md": "# Plan\n",
    "phases/01-login/01-01-SUMMARY.md": "# Summary\n\nDone.\n",
    "phases/02-search/02-01-PLAN.md": "# Plan\n",
    "phases/02-search/02-01-SUMMARY.md": "# Summary\n\nDone.\n",
    "phases/02-search/02-02-PLAN.md": "# Plan\n",
}
SECOND_SUMMARY = {"phases/02-search/02-02-SUMMARY.md": "# Summary\n\nDone.\n"}
# A finished phase may be called open until it is verified.
SECOND_VERIFIED = {
    "phases/02-search/02-VERIFICATION.md": "---\nstatus: passed\n---\n\n# Verified\n"
}


def _changed(text: str, changes: tuple[tuple[str, str], ...]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def state(*changes: tuple[str, str]) -> Files:
    """The base project with lines of STATE.md changed."""
    return {**BASE, "STATE.md": _changed(STATE, changes)}


def roadmap(*changes: tuple[str, str]) -> Files:
    """The base project with lines of ROADMAP.md changed."""
    return {**BASE, "ROADMAP.md": _changed(ROADMAP, changes)}


REQUIREMENTS = """\
# Requirements: Demo

## v1 Requirements

- [x] **AUTH-01**: People sign in
- [ ] **FIND-01**: People search
- [ ] **FIND-02**: People filter

## Out of Scope

- [ ] **FIND-09**: People guess

## Traceability

| Requirement | Phase | Status |
|-------------|-------|--------|
| AUTH-01 | Phase 1 | Complete |
| FIND-01 | Phase 2 | Pending |
| FIND-02 | Phase 2 | Pending |
"""


def requirements(*changes: tuple[str, str], asked: str = "FIND-01, FIND-02") -> Files:
    """The base project with REQUIREMENTS.md, in which lines may be changed."""
    roadmap_text = ROADMAP.replace("**Plans:** 1/2", f"**Requirements**: {asked}\n**Plans:** 1/2")
    return {**BASE, "ROADMAP.md": roadmap_text, "REQUIREMENTS.md": _changed(REQUIREMENTS, changes)}


def lifecycle(active: str, action: str, phases: str) -> Files:
    """The base project with the fields of the status line."""
    keys = f"active_phase: {active}\nnext_action: {action}\nnext_phases: {phases}"
    return state(("status: executing", f"status: executing\n{keys}"))


# Documents that disagree with the files, by the code of the finding.
DRIFT: dict[str, Files] = {
    "counter-differs": state(("completed_plans: 2", "completed_plans: 1")),
    "counter-differs in thousands of digits": state(
        ("total_plans: 3", f"total_plans: {'9' * 5000}")
    ),
    "counter-differs in the number of phases": state(
        ("Phase: 2 of 2 (Search)", "**Current Phase:** 2\n**Total Phases:** 05")
    ),
    "percent-differs": state(("percent: 50", "percent: 40")),
    "percent-differs in the bar": state(("[█████░░░░░] 50%", "[####------] 40% (1/3 plans)")),
    "percent-differs in 20 cells": state(("[█████░░░░░] 50%", "[##░░░░░░░░░░░░░░░░░░] 10%")),
    "percent-differs in a second bar": state(
        ("Progress: [█████░░░░░] 50%", "Progress: 50%\nOverall progress: [██████████] 100%")
    ),
    "percent-differs without a number": state(("[█████░░░░░] 50%", "[__________]")),
    "position-differs": state(
        ("Phase: 2 of 2 (Search)", "Phase: 1 of 2 (Login)"),
        ("2 of 2 in current phase", "1 of 1, waiting for Bob"),
    ),
    "position-differs with its plan": state(
        ("Phase: 2 of 2 (Search)", "Phase: 1 of 2 (Login)"),
        ("current_phase: 02", "current_phase: 01\ncurrent_plan: 1"),
    ),
    "position-differs in the frontmatter": state(("current_phase: 02", "current_phase: 1")),
    "status-differs": {
        **BASE,
        **SECOND_SUMMARY,
        **SECOND_VERIFIED,
        "STATE.md": STATE,
    },
    "status-differs in a word that says nothing": state(("status: executing", "status: unknown")),
    "status-differs beside a person's line": state(
        ("status: executing", "status: paused"), ("Status: In progress", "Status: Waiting for Bob")
    ),
    "status-differs on a finished phase": state(
        ("Status: In progress", "Status: Executing Phase 1")
    ),
    "position-differs in the plan": state(("2 of 2 in current", "1 of 2 in current")),
    "position-differs in the focus": state(
        ("## Current Position", "**Current focus:** Phase 1 — Login\n\n## Current Position")
    ),
    "position-differs in the focus beside a stage that is over": state(
        ("status: executing", "status: verifying"),
        ("## Current Position", "**Current focus:** Phase 1 — Login\n\n## Current Position"),
    ),
    "position-differs in the total behind a stroke": state(("2 of 2 (Search)", "2/3 — Search")),
    "position-differs in bold numbers": state(("2 of 2 (Search)", "**2** of **3** (Search)")),
    "position-differs in the name": state(
        ("Phase: 2 of 2 (Search)", "Current Phase: 2\nCurrent Phase Name: Login")
    ),
    "position-differs before the work": state(("Phase: 2 of 2 (Search)", "Phase: Not started")),
    "milestone-differs": {
        **BASE,
        "STATE.md": STATE.replace("milestone: v1.0", "milestone: v0.9"),
        "ROADMAP.md": ROADMAP.replace("## 🚧", "## ✅ v0.9 Before (Shipped)\n\n## 🚧"),
    },
    "lifecycle-differs on a finished phase": lifecycle('"1"', "null", "null"),
    "lifecycle-differs on an unknown phase": lifecycle('"7"', "null", "null"),
    "lifecycle-differs in what comes next": lifecycle("null", "execute-phase", '["1"]'),
    "lifecycle-differs without what comes next": lifecycle("null", "null", "null"),
    "lifecycle-differs beside a status that goes too": {
        **state(
            ("status: executing", 'status: verifying\nactive_phase: "2"\nnext_action: null'),
            ("Status: In progress", "Status: Executing Phase 2"),
        ),
        **SECOND_SUMMARY,
        **SECOND_VERIFIED,
    },
    "requirement-phase-unknown": requirements(("FIND-02 | Phase 2", "FIND-02 | Phase 12")),
    "field-twice": state(("Status: In progress", "Status: In progress\nPhase: 1 of 9 (Old)")),
    "field-twice with one value": state(
        ("Progress: [█████░░░░░] 50%", "Progress: [████░░░░░░] 40%\nProgress: [████░░░░░░] 40%")
    ),
    "roadmap-box-differs": roadmap(("- [x] **Phase 1", "- [ ] **Phase 1")),
    "roadmap-box-differs of a plan": roadmap(("- [x] 02-01", "- [ ] 02-01")),
    "roadmap-row-differs": roadmap(("| 1/2 | In Progress", "| 0/TBD | In Progress")),
    "roadmap-row-differs in its status": roadmap(
        ("1/1 | Complete | 2026-04-01", "1/1 | Planned | -")
    ),
    "roadmap-row-differs on a phase that has begun": roadmap(("| In Progress", "| Not started")),
    "roadmap-row-differs in its count and its status": roadmap(
        ("| 1/2 | In Progress", "| 0/2 | **Planned**")
    ),
    "roadmap-row-differs on a phase without a folder": roadmap(
        (
            "1/2 | In Progress | -",
            "1/2 | In Progress | - |\n| 3. Feed | v1.0 | 0/TBD | Executing | -",
        ),
        ("### Phase 2: Search", "- [ ] **Phase 3: Feed** - what is new\n\n### Phase 2: Search"),
    ),
    "roadmap-row-differs beside a box": roadmap(("what is there", "what is there (0/2 plans)")),
    "roadmap-row-differs in the details": roadmap(("1/2 plans executed", "0/2 plans executed")),
    "document-malformed with an unquoted value": state(
        ("owner: Ada # a person's key", "owner: Ada: the first")
    ),
    "document-malformed with a second block": state(
        (
            "---\n\n# Project",
            "---\n\n---\nstatus: planning\nprogress:\n  percent: 3\n---\n\n# Project",
        )
    ),
    "document-malformed without an end": state(("---\n\n# Project", "\n# Project")),
    "document-missing": {path: text for path, text in BASE.items() if path != "STATE.md"},
}

# Documents that claim more than the files prove.
CLAIMS: dict[str, Files] = {
    "the counters": state(
        ("completed_plans: 2", "completed_plans: 3"), ("percent: 50", "percent: 100")
    ),
    "the status": state(("status: executing", "status: completed")),
    **{
        f"the status, {words}": state(("Status: In progress", f"Status: {words}"))
        for words in (
            "Milestone complete",
            "All phases complete",
            "✅ Complete",
            "**Shipped**",
            "100% complete",
        )
    },
    "the status of the frontmatter in other words": state(("executing", "shipped")),
    **{
        f"the position, {words}": state(("2 of 2 (Search)", words))
        for words in (
            "2 (Search) — COMPLETE",
            "2 COMPLETE (Search)",
            "02 of 02 — search — ✅ Done",
            "Milestone complete",
        )
    },
    **{
        f"the plan, {words}": state(("2 of 2 in current phase", words))
        for words in (
            "All plans complete",
            "Complete",
            "02-02 complete",
            "02 (done)",
            "2/2 complete",
            "2 of 2 in current phase — ✅ COMPLETE",
            "2 of 2 complete, tests pass",
        )
    },
    "the bar alone": {
        **BASE,
        "STATE.md": "# State\n\n## Current Position\n\nPhase: 2\nProgress: ▓▓▓▓▓▓▓▓▓▓ 100%\n",
    },
    "the box of a phase": roadmap(("- [ ] **Phase 2", "- [x] **Phase 2")),
    "the box of a plan": roadmap(("- [ ] 02-02", "- [x] 02-02")),
    "the row": roadmap(("1/2 | In Progress | -", "2/2 | Complete | 2026-05-02")),
}
UNEXPLAINED: dict[str, Files] = {
    "a position that says verified": state(("2 of 2 (Search)", "2 (Search) — VERIFIED")),
    "more plans of the phase than there are": state(("2 of 2 in current phase", "3 of 4 complete")),
    "more plans than there are": state(("completed_plans: 2", "completed_plans: 45")),
    "a row that says verified": roadmap(("1/2 | In Progress", "1/2 | Verified")),
    "a row that says done and verified": roadmap(("1/2 | In Progress", "1/2 | ✅ Done & verified")),
    "a row that says verified of a finished phase": roadmap(("1/1 | Complete", "1/1 | Verified")),
}
# A phase is called finished and left neither a plan nor a summary.
WITHOUT_FILES = roadmap(
    ("### Phase 2: Search", "- [x] **Phase 3: Ghost** - not here\n\n### Phase 2: Search")
)
# A milestone that was closed by hand while one of its plans was open; its documents are right.
ARCHIVED: dict[str, str] = {
    "STATE.md": """\
---
milestone: v1.0
status: completed
progress:
  total_phases: 2
  completed_phases: 1
  total_plans: 3
  completed_plans: 2
  percent: 50
---

# Project State

## Current Position

Phase: Milestone v1.0 complete
Plan: 2 of 3 complete
Status: Complete

Progress: [█████░░░░░] 50%
""",
    "ROADMAP.md": """\
# Roadmap: Demo

<details>
<summary>✅ v1.0 First (Phases 1-2) — SHIPPED 2026-05-01</summary>

- [x] Phase 1: Login
- [ ] Phase 2: Search

</details>
""",
    **{f"milestones/v1.0-{path}": text for path, text in BASE.items() if path.startswith("phases")},
}


def archived(*changes: tuple[str, str]) -> Files:
    """The archived milestone with lines of STATE.md changed."""
    return {**ARCHIVED, "STATE.md": _changed(ARCHIVED["STATE.md"], changes)}


CLAIMS_OF_ARCHIVED: dict[str, Files] = {
    "the counters": archived(
        ("completed_phases: 1", "completed_phases: 2"), ("percent: 50", "percent: 100")
    ),
    "the position": archived(("Milestone v1.0 complete", "All phases complete")),
    "the plans": archived(("2 of 3 complete", "All plans complete")),
    "the box of a phase": {
        **ARCHIVED,
        "ROADMAP.md": ARCHIVED["ROADMAP.md"].replace("- [ ] Phase 2", "- [x] Phase 2"),
    },
}
CONFLICT = state(
    ("status: executing", "<<<<<<< HEAD\nstatus: executing\n=======\nstatus: planning\n>>>>>>> x")
)


def put(folder: Path, files: Files) -> Path:
    """Write a project into a folder."""
    for name, text in files.items():
        path = folder / ".planning" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder
