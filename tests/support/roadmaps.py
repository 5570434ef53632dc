"""Sample roadmaps in every known form, and inventories built from literals."""

from fairlead.core.ids import PhaseId
from fairlead.project.derive.inventory import (
    Completion,
    Inventory,
    PhaseFolder,
    Plan,
    Proof,
    Verification,
)
from fairlead.project.roadmap.documents import read_roadmap
from fairlead.project.roadmap.model import Roadmap
from fairlead.text.document import Document

LIST_AND_DETAILS = """\
# Roadmap: Sample

## Overview

From nothing to something.

## Phases

- [x] **Phase 1: Foundation** - the base (completed 2026-01-02)
- [ ] **Phase 2: Search** - find things
- [ ] **Phase 2.1: Hotfix (INSERTED)** - mend it

## Phase Details

### Phase 1: Foundation

**Goal**: A base to stand on
**Depends on**: Nothing (first phase)
**Requirements**: [AUTH-01, AUTH-02]
**Success Criteria** (what must be TRUE):

  1. It builds
  2. It runs
     on every machine

**Plans**: 2/2 plans complete

Plans:

- [x] 01-01-PLAN.md — the skeleton
- [x] 01-02: the flesh

### Phase 2: Search

**Goal:** People find things
**Depends on:** Phase 1
**Requirements:** FIND-01
**Plans:** TBD

### Phase 2.1: Hotfix (INSERTED)

**Goal**: Mend it

## Progress

| Phase | Plans Complete | Status | Completed |
|-------|----------------|--------|-----------|
| 1. Foundation | 2/2 | Complete | 2026-01-02 |
| 2. Search | 0/TBD | Not started | - |
| 2.1. Hotfix | 0/TBD | Not started | - |
"""

GROUPED = """\
# Roadmap: Sample

## Milestones

- ✅ **v1.0 MVP** - Phases 1-2 (shipped 2026-01-05)
- 🚧 **v1.1 Security** - Phases 3-4 (in progress)
- 📋 **v2.0 Scale** - Phases 5-6 (planned)

## Phases

<details>
<summary>✅ v1.0 MVP (Phases 1-2) - SHIPPED 2026-01-05</summary>

- [x] Phase 1: Foundation (3/3 plans) — completed 2026-01-02
- [x] Phase 2: Search (2/2 plans) — completed 2026-01-05

</details>

### 🚧 v1.1 Security (In Progress)

- [ ] **Phase 3: Locks** - gates
- [ ] **Phase 4: Keys** - for the gates

### 📋 v2.0 Scale (Planned)

- [ ] **Phase 5: Shards** - more
- [ ] **Phase 6: Caches** - faster

## Progress

| Phase | Milestone | Plans Complete | Status | Completed |
|---|---|---|---|---|
| 1. Foundation | v1.0 | 3/3 | Complete | 2026-01-02 |
| 2. Search | v1.0 | 2/2 | Complete | 2026-01-05 |
| 3. Locks | v1.1 | 0/2 | Not started | - |
| 4. Keys | v1.1 | 0/0 | Not started | - |
"""

BULLETS_ONLY = """\
# Roadmap

## Phases

- [x] **Phase 1: One** - a
- [ ] **Phase 2: Two** - b
- [ ] **Phase 3: Three** - c
- [ ] **Phase 4: Four** - d
"""

TABLE_ONLY = """\
# Roadmap

| Phase | Name | Status |
|-------|------|--------|
| 1 | One | Complete |
| 2 | Two | Pending |
| 3 | Three | Pending |
| 4 | Four | Pending |
"""

HEADINGS_ONLY = """\
# Roadmap

## Phase 1: One

**Goal**: a

## Phase 2: Two

**Goal**: b
"""

COLLAPSED_HEADINGS = """\
# Roadmap

## Phases

<details>
<summary>🚧 v0.5.0 (Phases 1-2) — IN PROGRESS</summary>

### Phase 1: One

**Plans**: 1 plans

### Phase 2: Two

**Plans**: TBD

</details>

## Progress

| Phase | Milestone | Plans Complete | Status | Completed |
|---|---|---|---|---|
| 1. One | v0.5.0 | 1/1 | Complete | 2026-04-27 |
| 2. Two | v0.5.0 | 0/1 | Not started | - |
"""

RUSSIAN = """\
# Roadmap — Тур v1.1 Onboarding

## Фазы

### Фаза 1 — Верификация

**Goal**: a

### Фаза 2 — Карточка

**Goal**: b
"""

SHAPES = {
    "list and details": LIST_AND_DETAILS,
    "grouped by milestone": GROUPED,
    "bullets only": BULLETS_ONLY,
    "table only": TABLE_ONLY,
    "headings only": HEADINGS_ONLY,
    "collapsed headings": COLLAPSED_HEADINGS,
    "another language": RUSSIAN,
}


def roadmap(text: str) -> Roadmap:
    """The parsed roadmap of a text."""
    return read_roadmap(Document(text))


def numbers(text: str) -> list[str]:
    """The phase numbers of a roadmap, in document order."""
    return [phase.id.short for phase in roadmap(text).phases]


def a_folder(
    number: str,
    plans: int = 0,
    done: int = 0,
    *,
    verified: str = "",
    milestone: str = "",
    superseded: int = 0,
) -> PhaseFolder:
    """A phase folder with this many plans and complete plans."""
    phase = PhaseId.parse(number)
    path = f".planning/phases/{phase.padded}-part"
    all_plans = [_plan(path, phase, at, done >= at) for at in range(1, plans + 1)]
    all_plans += [
        Plan(f"{phase.padded}-s{at}", f"{path}/s{at}-PLAN.md", "", Proof.NONE, True, 1)
        for at in range(superseded)
    ]
    verification = Verification(f"{path}/VERIFICATION.md", verified, False) if verified else None
    return PhaseFolder(
        phase, "part", path, milestone, tuple(all_plans), (), verification, False, False
    )


def an_inventory(
    text: str,
    *folders: PhaseFolder,
    milestone: str = "",
    policy: Completion = Completion.SUMMARISED,
    archived: tuple[PhaseFolder, ...] = (),
) -> Inventory:
    """An inventory from the text of a roadmap and literal folders."""
    return Inventory(folders, archived, roadmap(text), milestone, policy)


def _plan(path: str, phase: PhaseId, at: int, is_done: bool) -> Plan:
    stem = f"{path}/{phase.padded}-{at:02d}"
    summary = f"{stem}-SUMMARY.md" if is_done else ""
    proof = Proof.COMPLETE if is_done else Proof.NONE
    return Plan(f"{phase.padded}-{at:02d}", f"{stem}-PLAN.md", summary, proof, False, 2)
