"""ROADMAP.md is read in every form; lines that only resemble a phase do not count."""

import pytest

from fairlead.project.roadmap.documents import read_roadmap
from fairlead.project.roadmap.milestone_lines import ranges_in
from fairlead.project.roadmap.phase_details import phase_section_of
from fairlead.text.document import Document
from tests.support.roadmaps import (
    BULLETS_ONLY,
    COLLAPSED_HEADINGS,
    GROUPED,
    HEADINGS_ONLY,
    LIST_AND_DETAILS,
    RUSSIAN,
    SHAPES,
    TABLE_ONLY,
    numbers,
    roadmap,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LIST_AND_DETAILS, ["1", "2", "2.1"]),
        (GROUPED, ["1", "2", "3", "4", "5", "6"]),
        (BULLETS_ONLY, ["1", "2", "3", "4"]),
        (TABLE_ONLY, ["1", "2", "3", "4"]),
        (HEADINGS_ONLY, ["1", "2"]),
        (COLLAPSED_HEADINGS, ["1", "2"]),
        (RUSSIAN, ["1", "2"]),
    ],
    ids=list(SHAPES),
)
def test_every_shape_gives_its_phases_once(text: str, expected: list[str]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_line_endings_do_not_matter(text: str) -> None:
    assert roadmap(text.replace("\n", "\r\n")) == roadmap(text)


@pytest.mark.parametrize(
    "extra",
    [
        "```\n### Phase 9: Example\n- [ ] **Phase 9: Example**\n```\n",
        "~~~markdown\n## Phase 9: Example\n~~~\n",
        "<!-- ### Phase 9: Example -->\n",
        "<!--\n### Phase 9: Example\n- [ ] **Phase 9: Example** - x\n-->\n",
        "Write it as `### Phase 9: Example`.\n",
        "Phase 9: not a heading, only a sentence.\n",
        "### Phases 9-12: an outlook\n",
        "### Phase 9–12: an outlook\n",
        "- Phase 9 depends on what phase 2 finds out\n",
        "- See phase 9 of the other project\n",
        "| Milestone | Phase 9 |\n|---|---|\n| v1.0 | x |\n",
    ],
    ids=[
        "fence",
        "tilde fence",
        "comment on a line",
        "comment over lines",
        "inline code",
        "sentence",
        "range",
        "range with a dash",
        "sentence in a list",
        "mention in a list",
        "table about something else",
    ],
)
def test_defect_21_and_issue_875_issue_1588_issue_3569_what_only_looks_like_a_phase_does_not_count(
    extra: str,
) -> None:
    assert numbers(f"{LIST_AND_DETAILS}\n{extra}") == ["1", "2", "2.1"]


def test_defect_21_a_heading_that_stands_twice_is_one_phase() -> None:
    assert numbers(LIST_AND_DETAILS + "\n### Phase 2: Search\n\nAgain.\n") == ["1", "2", "2.1"]


@pytest.mark.parametrize(
    ("line", "number", "name"),
    [
        ("### Phase 4.5: Hotfix", "4.5", "Hotfix"),
        ("### Phase 4.10: Later", "4.10", "Later"),
        ("### Phase 12A: Variant", "12A", "Variant"),
        ("### Phase 03: Padded", "3", "Padded"),
        ("### Phase CK-03: Coded", "3", "Coded"),
        ("## Phase 3: Second level", "3", "Second level"),
        ("#### Phase 3: Fourth level", "3", "Fourth level"),
        ("### Phase 3 (INSERTED): Before the colon", "3", "Before the colon"),
        ("### Phase 3: After it (INSERTED)", "3", "After it"),
        ("### [v1.0] Phase 3: Tagged", "3", "Tagged"),
        ("### ✅ Phase 3: Signed ✅", "3", "Signed"),
        ("### Phase 3 — A dash", "3", "A dash"),
        ("### Phase 3 - A hyphen", "3", "A hyphen"),
        ("### Phase 3", "3", ""),
        ("### **Phase 3: Bold**", "3", "Bold"),
        ("### Phase 3: A (b) c", "3", "A (b) c"),
        ("### Fase 3: Italiana", "3", "Italiana"),
        ("### Фаза 3 — Русская", "3", "Русская"),
        ("### 阶段 3：中文", "3", "中文"),
        ("### フェーズ3: 日本語", "3", "日本語"),
        ("- [ ] **Phase 3: Bullet** - text", "3", "Bullet"),
        ("- [x] Phase 3: Plain (3/3 plans) — completed 2026-02-26", "3", "Plain"),
        ("* [ ] **Phase 3: Star** — text", "3", "Star"),
        ("- **Phase 3: No box** - text", "3", "No box"),
        ("- Phase 3: Bare", "3", "Bare"),
        ("- [x] **Phase 3** - Name outside", "3", "Name outside"),
        ("- [~] **Phase 3: Half** (deferred) - text", "3", "Half"),
        ("- ✅ **Phase 3: Signed** - text", "3", "Signed"),
        ("- [ ] [Phase 3: Linked](phases/03/) - text", "3", "Linked"),
        ("- [ ] **Phase 3: With - hyphen** - text", "3", "With - hyphen"),
        ("### Phase 3: [WIP] Login", "3", "[WIP] Login"),
        ("### Phase 3: Ship [BLOCKED]", "3", "Ship [BLOCKED]"),
        ("### Phase 3: [In] and [Out]", "3", "[In] and [Out]"),
        ("### Phase 3: [Bracketed]", "3", "Bracketed"),
        ("### Phase 3: From [in](a.md) to [out](b.md)", "3", "From in to out"),
        ("### [Phase 3: Linked](a.md)", "3", "Linked"),
        ("### **Phase 3**: Half bold", "3", "Half bold"),
        ("- [ ] [**Phase 3**: Linked and bold](a.md)", "3", "Linked and bold"),
        ("-\t[ ] Phase 3: After a tab", "3", "After a tab"),
        ("## 第3阶段：中文", "3", "中文"),
        ("- [ ] 第 3 阶段: 中文", "3", "中文"),
        ("### 제3단계: 한국어", "3", "한국어"),
    ],
)
def test_a_line_in_every_form_names_its_phase(line: str, number: str, name: str) -> None:
    (phase,) = roadmap(f"# Roadmap\n\n## Phases\n\n{line}\n").phases
    assert (phase.id.short, phase.name) == (number, name)


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("| Phase | Plans Complete | Status | Completed |", "| 3. Name | 1/2 | In progress | - |"),
        ("| Phase | Name | Status |", "| 3 | Name | Pending |"),
        ("| Phase # | Name | Plans |", "| 03 | Name | 2 |"),
        ("| # | Phase | Status |", "| 3 | Name | Pending |"),
        ("| **Phase** | Milestone | Plans | Status |", "| **3. Name** | v1.0 | 1/2 | x |"),
        ("| Phase | Status |", "| Phase 3: Name | Pending |"),
        ("| Phase | Status |", "| [3. Name](x.md) | Pending |"),
    ],
)
def test_a_row_of_every_table_names_its_phase(head: str, row: str) -> None:
    rule = "|" + "---|" * (head.count("|") - 1)
    (phase,) = roadmap(f"# Roadmap\n\n{head}\n{rule}\n{row}\n").phases
    assert (phase.id.short, phase.name) == ("3", "Name")


def test_a_row_with_another_number_of_cells_spoils_only_itself() -> None:
    text = LIST_AND_DETAILS.replace("| 2. Search | 0/TBD |", "| 2. Search | a | b | 0/TBD |")
    rows = {phase.id.short: phase.status for phase in roadmap(text).phases}
    assert rows == {"1": "Complete", "2": "", "2.1": "Not started"}


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] ~~**Phase 2: Search**~~ - dropped",
        "- [ ] **~~Phase 2: Search~~** - dropped",
        "### ~~Phase 2: Search~~",
    ],
)
def test_a_struck_out_phase_is_retired(line: str) -> None:
    listed = {phase.id.short: phase for phase in roadmap(f"{LIST_AND_DETAILS}\n{line}\n").phases}
    assert [number for number, phase in listed.items() if phase.is_retired] == ["2"]


def test_the_entries_of_a_phase_are_combined() -> None:
    first, second, _ = roadmap(LIST_AND_DETAILS).phases
    assert (first.goal, first.depends_on) == ("A base to stand on", "Nothing (first phase)")
    assert (first.is_checked, first.status, first.plans_cell) == (True, "Complete", "2/2")
    assert (second.goal, second.depends_on, second.is_checked) == (
        "People find things",
        "Phase 1",
        False,
    )


def test_phases_belong_to_their_milestones() -> None:
    read = roadmap(GROUPED)
    homes = {phase.id.short: phase.milestone for phase in read.phases}
    assert homes == {"1": "v1.0", "2": "v1.0", "3": "v1.1", "4": "v1.1", "5": "v2.0", "6": "v2.0"}
    assert [(each.version, each.name) for each in read.milestones] == [
        ("v1.0", "MVP"),
        ("v1.1", "Security"),
        ("v2.0", "Scale"),
    ]
    assert [each.is_closed for each in read.milestones] == [True, False, False]
    assert [each.is_marked_open for each in read.milestones] == [False, True, False]


def test_details_after_the_milestones_belong_to_the_one_that_lists_the_phase() -> None:
    text = f"{GROUPED}\n## Phase Details\n\n### Phase 3: Locks\n\n**Goal**: Safe gates\n"
    listed = {phase.id.short: phase for phase in roadmap(text).phases}
    assert (listed["3"].milestone, listed["3"].goal) == ("v1.1", "Safe gates")


RESTARTED = """\
# Roadmap

<details>
<summary>✅ v1.0 MVP — SHIPPED 2026-01-05</summary>

- [x] Phase 1: Foundation

</details>

### 🚧 v1.1 Security

- [ ] **Phase 1: Locks** - gates

## Phase Details

### Phase 1: Locks

**Goal**: Safe gates

## Progress

| Phase | Plans Complete | Status | Completed |
|---|---|---|---|
| 1. Foundation | 3/3 | Complete | 2026-01-02 |
| 1. Locks | 0/2 | Not started | - |
"""


def test_numbers_that_restart_are_distinguished_by_their_names() -> None:
    old, new = roadmap(RESTARTED).phases
    assert (old.milestone, old.status, old.goal) == ("v1.0", "Complete", "")
    assert (new.milestone, new.status, new.goal) == ("v1.1", "Not started", "Safe gates")


def test_issue_1591_and_issue_2787_a_collapsed_block_does_not_cut_the_milestone_around_it() -> None:
    text = (
        "# Roadmap\n\n### 🚧 v1.1 Security\n\n- [ ] **Phase 3: Locks**\n\n"
        "<details>\n<summary>notes</summary>\n\ntext\n\n</details>\n\n- [ ] **Phase 4: Keys**\n"
    )
    assert [phase.milestone for phase in roadmap(text).phases] == ["v1.1", "v1.1"]


def test_the_end_of_a_nested_block_restores_the_milestone() -> None:
    text = (
        "# Roadmap\n\n<details>\n<summary>✅ v1.0 MVP</summary>\n\n- [x] Phase 1: A\n\n"
        "<details><summary>plans</summary>\n\n- [x] 01-01\n\n</details>\n\n"
        "- [x] Phase 2: B\n\n</details>\n\n- [ ] Phase 3: C\n"
    )
    assert [phase.milestone for phase in roadmap(text).phases] == ["v1.0", "v1.0", ""]


def test_defect_20_milestones_may_be_bullets_only() -> None:
    text = (
        "# Roadmap\n\n- ✅ **v1.0 One** - shipped\n- 🚧 **v1.1 Two** - Phases 3-4\n\n"
        "### Phase 3: C\n\n### Phase 4: D\n"
    )
    read = roadmap(text)
    assert [(each.version, each.is_marked_open) for each in read.milestones] == [
        ("v1.0", False),
        ("v1.1", True),
    ]
    assert len(read.phases) == 2


def test_a_phase_listed_only_in_a_table_belongs_to_the_milestone_around_the_table() -> None:
    table = "| Phase | Name | Status |\n|---|---|---|\n| 1 | Report | Planned |\n"
    done = "| Phase | Milestone | Status |\n|---|---|---|\n| 1. Login | v1.0 | Complete |\n"
    text = f"## ✅ v1.0 One (Shipped)\n\n## v1.1 Two\n\n{table}\n## Progress\n\n{done}"

    found = {(phase.milestone, phase.id.short) for phase in roadmap(text).phases}
    assert found == {("v1.0", "1"), ("v1.1", "1")}


def test_a_ticked_milestone_is_closed_without_further_words() -> None:
    (milestone,) = roadmap("# Roadmap\n\n- [x] **v1.0 MVP** - Phases 1-4\n").milestones
    assert milestone.is_closed


def test_a_phase_section_has_criteria_and_requirements() -> None:
    phase = roadmap(LIST_AND_DETAILS).phases[0]
    section = phase_section_of(Document(LIST_AND_DETAILS), phase.id, "")
    assert section.success_criteria == ("It builds", "It runs on every machine")
    assert section.requirements == ("AUTH-01", "AUTH-02")
    assert section.section.startswith("### Phase 1: Foundation\n")
    assert section.section.endswith("- [x] 01-02: the flesh")


@pytest.mark.parametrize("text", ["", "# Roadmap\n", "no headings at all\n", "---\n", "\ufeff"])
def test_an_empty_roadmap_has_no_phases(text: str) -> None:
    assert roadmap(text).phases == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Roadmap\n\nFirst this.\n\n**Phase 1: Alone in bold**\n", 5),
        ("# Roadmap\n\n## 第一阶段：登录\n", 3),
        ("# Roadmap\n\n## Login\n\nPeople get in.\n", 3),
        ("# Roadmap\n\n## v1.0 First\n\n**Phase 1: Alone in bold**\n", 5),
        ("# Roadmap\n\n## Phases\n\nNo phases yet.\n", 0),
        ("# Roadmap\n\n## ✅ v1.0 First (Shipped)\n\nSee the archive.\n", 0),
        ("# Roadmap\n", 0),
        (LIST_AND_DETAILS, 0),
    ],
)
def test_a_roadmap_with_text_and_no_phase_names_the_line(text: str, line: int) -> None:
    assert roadmap(text).unread_line == line


def clashes(text: str) -> list[tuple[str, list[tuple[int, str]]]]:
    found = [(each.id.short, each.clashes) for each in roadmap(text).phases if each.clashes]
    return [(number, [(mark.line, mark.text) for mark in marks]) for number, marks in found]


TABLE = "| Phase | Status |\n|---|---|\n"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (
            "- [ ] **Phase 2: Beta** - x\n- [ ] **Phase 2: Alpha** - x\n",
            [(3, "Beta"), (4, "Alpha")],
        ),
        ("- Phase 2: Beta\n- Phase 2: Alpha\n", [(3, "Beta"), (4, "Alpha")]),
        ("### Phase 2: Beta\n\n**Goal**: x\n\n### Phase 2: Alpha\n", [(3, "Beta"), (7, "Alpha")]),
        (f"{TABLE}| 2. Beta | - |\n| 2. Alpha | - |\n", [(5, "Beta"), (6, "Alpha")]),
        (
            "- [ ] Phase 2: Beta\n- [ ] Phase 2: Alpha\n\n### Phase 2: Beta\n",
            [(3, "Beta"), (4, "Alpha")],
        ),
    ],
    ids=["boxes", "bullets", "headings", "rows", "a list beside one heading"],
)
def test_a_duplicate_number_is_reported_with_both_places(
    text: str, places: list[tuple[int, str]]
) -> None:
    assert clashes(f"# Roadmap\n\n{text}") == [("2", places)]


@pytest.mark.parametrize(
    "text",
    [
        f"- [ ] Phase 2: Authentication\n\n### Phase 2: Auth\n\n{TABLE}| 2. Login | - |\n",
        "- [ ] **Phase 2: Search** - x\n- [x] Phase 2: search (completed 2026-01-01)\n",
        "### Phase 2: Search\n\n### Phase 2: `Search` and Filter\n",
        "### Phase 2: Search (first cut)\n\n### Phase 2: Search (second cut)\n",
        "## List\n\n- [ ] Phase 2: Auth\n\n## Again\n\n- [ ] Phase 2: Signing in\n",
        "## List\n\n### Phase 2: Auth\n\n## Again\n\n### Phase 2: Signing in\n",
        "### Phase 2: Auth\n\n## Risks\n\n- Phase 2: may be slow\n- Phase 2: needs a server\n",
        "## v1.0 A\n\n- [ ] Phase 2: Auth\n\n## v1.1 B\n\n- [ ] Phase 2: Search\n",
        "- [ ] ~~Phase 2: Old~~\n- [ ] Phase 2: New\n",
        f"{TABLE}| 2. Auth | - |\n\n{TABLE}| 2. Sign in | - |\n",
        "- [ ] Phase 2: Auth\n  - [ ] Phase 2: the form\n",
        "- [ ] Phase 2\n- [ ] Phase 2: Auth\n",
    ],
)
def test_a_phase_with_a_different_name_in_another_form_is_one_phase(text: str) -> None:
    assert clashes(f"# Roadmap\n\n{text}") == []


def test_a_box_after_a_tab_is_a_box() -> None:
    (phase,) = roadmap("# Roadmap\n\n-\t[x]\tPhase 1: Login\n").phases
    assert phase.is_checked


def test_phases_in_brackets_are_numbered_by_their_milestone() -> None:
    text = """\
# Roadmap

## [CK.01] v1.0 — Prior ✅

- [x] [CK.01] 02: Decoy

## [CK.02] v2.0 — Current

- [ ] [CK.02] 01: One
- [ ] [CK.02] 01.01: Insert

### [CK.02] 01: One

**Goal**: first
"""
    found = read_roadmap(Document(text)).phases

    assert [(each.id.short, each.name, each.milestone) for each in found] == [
        ("2", "Decoy", "v1.0"),
        ("1", "One", "v2.0"),
        ("1.1", "Insert", "v2.0"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v2 - Phases 5-8, 16 plans (shipped)", "5-8"),
        ("v2 - Phases 1-4 and 16 commits", "1-4"),
        ("v2 - Phases 1-4, 16 планов", "1-4"),
        ("v2 - Phases 1-4, 6 and 7 (shipped)", "1-4 6-6 7-7"),
        ("v2 - Phases 2, 5.1 shipped 2026-01-01", "2-2 5.1-5.1"),
    ],
)
def test_a_counted_noun_after_the_phases_of_a_milestone_is_no_phase(
    text: str, expected: str
) -> None:
    assert " ".join(f"{r.first.short}-{r.last.short}" for r in ranges_in(text)) == expected
