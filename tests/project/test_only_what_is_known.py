"""Small projects whose documents say more, less or something else than the files prove."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.core.clock import Clock
from fairlead.project.derive.scope import Certainty
from fairlead.project.errors import UnknownPhase
from fairlead.project.events import Events
from fairlead.project.health.check import DocumentComparison, compare_project
from fairlead.project.health.doctor import Doctor, RepairMethod
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.memory import Memory
from fairlead.project.overview import Overview
from fairlead.project.roadmap.row_status import line_says_done
from fairlead.project.state.documents import Decision
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from fairlead.views.status import position
from tests.support.projects import TickingClock

CLOCK: Clock = TickingClock()
DONE = "# Summary\n\nDone.\n"
STATE = """---
gsd_state_version: '1.0'
status: executing
---

# State

**Current focus:** {focus}

## Current Position

Phase: 1 of 2 (Login)
Plan: 1 of 1 in current phase
Status: Ready to execute
"""
ROADMAP = "# Roadmap\n\n- [ ] **Phase 1: Login**\n- [ ] **Phase 2: Search**\n"
BASE = {"ROADMAP.md": ROADMAP, "phases/01-login/01-01-PLAN.md": "x"}


def planning(folder: Path, files: Mapping[str, str]) -> Files:
    """A project with these files below `.planning`."""
    for name, text in files.items():
        path = folder / ".planning" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return Files(str(folder))


def checked(files: Files) -> DocumentComparison:
    return compare_project(Reader(files.folder))


def wrong(files: Files) -> list[str]:
    return [finding.what for finding in checked(files).drift]


# -- the focus and what PROJECT.md states ---------------------------------------------------------


@pytest.mark.parametrize("focus", ["Phase 2 — Search", "Phase 2", "Phase 9 — Ghost"])
def test_a_focus_beside_the_position_is_wrong_and_repaired(tmp_path: Path, focus: str) -> None:
    files = planning(tmp_path, {**BASE, "STATE.md": STATE.format(focus=focus)})
    assert wrong(files) == ["Current focus"]
    Doctor(files, CLOCK).fix()
    assert files.load(".planning/STATE.md").text == STATE.format(focus="Phase 1 — Login")


def focus_finding(files: Files) -> Finding:
    [found] = [each for each in checked(files).drift if each.what == "Current focus"]
    return found


def test_a_focus_that_contradicts_the_position_line_names_that_line(tmp_path: Path) -> None:
    text = STATE.format(focus="Phase 9 — Ghost")
    plans = {**BASE, "phases/02-search/02-01-PLAN.md": "x"}
    by_files = focus_finding(planning(tmp_path / "files", {**plans, "STATE.md": text}))
    moved = text.replace("Phase: 1 of 2 (Login)", "Phase: 2 of 2 (Search)")
    by_line = focus_finding(planning(tmp_path / "line", {**plans, "STATE.md": moved}))
    line = moved.split("\n").index("Phase: 2 of 2 (Search)") + 1

    assert (by_files.true, by_line.true) == ("Phase 1 — Login", "Phase 2 — Search")
    assert by_line.because == (f".planning/STATE.md:{line}",)
    assert "the files say" in str(by_files)
    assert f"line {line} says" in str(by_line)
    assert "the files say" not in str(by_line)


def test_a_focus_that_contradicts_the_active_phase_names_its_line(tmp_path: Path) -> None:
    text = STATE.format(focus="Phase 9 — Ghost").replace(
        "status: executing", 'status: executing\nactive_phase: "2"'
    )
    plans = {**BASE, "phases/02-search/02-01-PLAN.md": "x"}
    files = planning(tmp_path, {**plans, "STATE.md": text})

    assert focus_finding(files).because == (".planning/STATE.md:4",)


def test_a_document_that_another_one_contradicts_names_its_line() -> None:
    place = ".planning/STATE.md", 3, "milestone", "v1.0", "v1.1"
    by_document = Finding(FindingKind.MILESTONE, *place, (".planning/ROADMAP.md:7",))
    by_files = Finding(FindingKind.MILESTONE, *place, ("milestone v1.1, phases 3-4",))

    assert ".planning/ROADMAP.md:7 says v1.1" in str(by_document)
    assert "the files say v1.1" in str(by_files)


@pytest.mark.parametrize("focus", ["Phase 1 — Login", "Phase 1", "Faster logins", "None"])
def test_a_focus_that_is_right_or_of_a_person_stays(tmp_path: Path, focus: str) -> None:
    files = planning(tmp_path, {**BASE, "STATE.md": STATE.format(focus=focus)})
    assert wrong(files) == []


@pytest.mark.parametrize(
    "stated", ["## Current Focus\n\nShip it.\n", "**Current focus:** Ship it."]
)
def test_the_focus_of_a_person_follows_the_project_document(tmp_path: Path, stated: str) -> None:
    project = {"PROJECT.md": f"# Demo\n\n{stated}\n"}
    files = planning(tmp_path, {**BASE, **project, "STATE.md": STATE.format(focus="Wait")})
    notes = [each for each in checked(files).findings if not each.is_drift]
    assert [note.what for note in notes] == ["Current focus"]
    Events(files, CLOCK).sync()
    assert "**Current focus:** Ship it." in files.load(".planning/STATE.md").text
    assert "Current focus: Wait" in files.load(".planning/STATE-ARCHIVE.md").text


# -- frontmatter that no reader finds -------------------------------------------------------------


def test_a_state_with_misplaced_frontmatter_is_not_repaired_beside_it(tmp_path: Path) -> None:
    text = "# note\n" + STATE.format(focus="Phase 1").replace("Ready to execute", "Complete")
    files = planning(tmp_path, {**BASE, "STATE.md": text})
    doctor = Doctor(files, CLOCK)
    doctor.fix()
    assert files.load(".planning/STATE.md").text == text
    assert all(each.means is RepairMethod.PERSON for each in doctor.left() if each.finding.is_drift)
    assert not any("next event" in str(finding) for finding in checked(files).findings)


# -- phases that do not exist ---------------------------------------------------------------------


def test_a_decision_after_the_last_phase_is_refused(tmp_path: Path) -> None:
    files = planning(tmp_path, {**BASE, "STATE.md": STATE.format(focus="Phase 1")})
    before = files.load(".planning/STATE.md").text
    with pytest.raises(UnknownPhase):
        Memory(files, CLOCK).add_decision(Decision("99", "UTC", ""))
    assert files.load(".planning/STATE.md").text == before


def test_a_decision_of_a_phase_that_has_no_folder_is_recorded(tmp_path: Path) -> None:
    backlog = ROADMAP + "\n### Phase 999.1: Later (BACKLOG)\n"
    state = (
        STATE.format(focus="Phase 1") + "\n## Accumulated Context\n\n### Decisions\n\nNone yet.\n"
    )
    files = planning(tmp_path, {**BASE, "ROADMAP.md": backlog, "STATE.md": state})
    Memory(files, CLOCK).add_decision(Decision("2", "Store UTC", ""))
    assert "Store UTC" in files.load(".planning/STATE.md").text
    with pytest.raises(UnknownPhase):
        Memory(files, CLOCK).add_decision(Decision("99", "UTC", ""))


# -- verification and the next step ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "action"),
    [("passed", "complete-milestone"), ("complete", "complete-milestone"),
     ("Approved", "complete-milestone"), ("human_needed", "verify-phase"),
     ("incomplete", "verify-phase")],
)  # fmt: skip
def test_a_verification_passed_if_its_word_says_so(tmp_path: Path, word: str, action: str) -> None:
    files = planning(
        tmp_path,
        {
            "ROADMAP.md": "# Roadmap\n\n- [ ] **Phase 1: Login**\n",
            "phases/01-login/01-01-PLAN.md": "x",
            "phases/01-login/01-01-SUMMARY.md": DONE,
            "phases/01-login/01-VERIFICATION.md": f"---\nstatus: {word}\n---\n",
        },
    )
    assert checked(files).position.next.action == action


@pytest.mark.parametrize("status", ["Awaiting v1.6 milestone start", "Planning next milestone"])
def test_documents_that_await_a_milestone_are_followed(tmp_path: Path, status: str) -> None:
    state = (
        "---\nmilestone: v1.5\nstatus: closeout\nprogress:\n  total_phases: 5\n"
        f"  completed_phases: 5\n---\n\n## Current Position\n\nPhase: 20\nStatus: {status}\n"
    )
    files = planning(tmp_path, {"STATE.md": state})
    position = checked(files).position
    assert position.scope.certainty is Certainty.UNVERIFIABLE
    assert (position.next.action, position.current) == ("new-milestone", None)


# -- scope ----------------------------------------------------------------------------------------

SHIPPED = "# Roadmap\n\n## Milestones\n\n- ✅ **v1.0 One** — Phases 1-{last} (shipped 2026-01-02)\n"
ARCHIVED = {
    f"milestones/v1.0-phases/0{number}-part/0{number}-01-{kind}.md": DONE
    for number in (1, 2)
    for kind in ("PLAN", "SUMMARY")
}


@pytest.mark.parametrize(("last", "certainty"), [(2, "certain"), (3, "uncertain")])
def test_a_phase_of_a_shipped_range_without_any_trace_is_a_doubt(
    tmp_path: Path, last: int, certainty: str
) -> None:
    files = planning(tmp_path, {"ROADMAP.md": SHIPPED.format(last=last), **ARCHIVED})
    scope = checked(files).position.scope
    assert scope.certainty == certainty
    assert [len(reading.phases) for reading in scope.readings] == [2, 3][: last - 1]


def test_ticked_phases_of_a_flat_list_are_those_of_the_smallest_archive(tmp_path: Path) -> None:
    boxes = "".join(f"- [x] **Phase {number}: Part**\n" for number in (1, 2, 3))
    marks = "- ✅ **v1.0** (shipped 2026-01-02)\n- ✅ **v1.1** (shipped 2026-02-03)\n"
    later = {name.replace("v1.0", "v1.1"): text for name, text in ARCHIVED.items()}
    own = {f"milestones/v1.1-phases/03-part/03-01-{kind}.md": DONE for kind in ("PLAN", "SUMMARY")}
    roadmap = f"# Roadmap\n\n## Milestones\n\n{marks}\n## Phases\n\n{boxes}"
    files = planning(tmp_path, {"ROADMAP.md": roadmap, **ARCHIVED, **later, **own})
    scope = checked(files).position.scope
    assert (scope.milestone, scope.certainty) == ("v1.1", Certainty.CERTAIN)
    assert [phase.id.short for phase in scope.phases] == ["3"]


def test_ticked_plans_without_files_are_unverifiable(tmp_path: Path) -> None:
    plans = "\n### Phase 1: Login\n\nPlans:\n\n- [x] 01-01-PLAN.md — it\n- [ ] 01-02-PLAN.md — it\n"
    files = planning(tmp_path, {"ROADMAP.md": ROADMAP + plans})
    assert checked(files).position.scope.certainty is Certainty.UNVERIFIABLE


def test_plans_that_no_document_counts_are_not_zero(tmp_path: Path) -> None:
    roadmap = SHIPPED.format(last=2) + "\n- [x] **Phase 1: Login**\n- [x] **Phase 2: Search**\n"
    status = Overview(Reader(planning(tmp_path, {"ROADMAP.md": roadmap}).folder)).status()
    assert status.progress.is_verifiable is False
    assert (status.progress.completed_phases, status.progress.total_plans) == (2, None)


def test_a_roadmap_in_which_no_phase_is_recognised_leaves_the_progress_open(tmp_path: Path) -> None:
    roadmap = "# Roadmap\n\n## Done\n\n- [x] **M1**: Login\n\n## Open\n\n- [ ] **M2**: Search\n"
    state = "# State\n\n## Current Position\n\nStatus: M1 complete, working on M2\n"
    files = planning(tmp_path, {"ROADMAP.md": roadmap, "STATE.md": state})
    status = Overview(Reader(files.folder)).status()
    assert status.progress.is_verifiable is False
    assert (status.progress.total_phases, status.progress.percent) == (None, None)
    assert "no phases yet" not in position(status)


# -- percentages ----------------------------------------------------------------------------------


BAR = "# State\n\n## Current Position\n\nPhase: 2 of 2\nProgress: [#####.....] 50%\n"


def test_a_percentage_that_counts_a_claimed_phase_is_left_to_a_person(tmp_path: Path) -> None:
    claimed = ROADMAP.replace("- [ ] **Phase 1", "- [x] **Phase 1")
    files = planning(tmp_path, {**BASE, "ROADMAP.md": claimed, "STATE.md": BAR,
                                "phases/02-search/02-01-PLAN.md": "x",
                                "phases/02-search/02-01-SUMMARY.md": DONE,
                                "phases/02-search/02-02-PLAN.md": "x"})  # fmt: skip
    found = [each.kind for each in checked(files).drift if each.what == "Progress"]
    assert found == [FindingKind.CLAIM]
    Doctor(files, CLOCK).fix()
    assert "50%" in files.load(".planning/STATE.md").text


@pytest.mark.parametrize(("percent", "is_wrong"), [(25, False), (75, True)])
def test_without_a_roadmap_only_a_higher_percentage_is_wrong(
    tmp_path: Path, percent: int, *, is_wrong: bool
) -> None:
    state = f"# State\n\n## Current Position\n\nPhase: 2\nProgress: [#####.....] {percent}%\n"
    files = planning(tmp_path, {"STATE.md": state, "phases/01-a/01-01-PLAN.md": "x",
                                "phases/01-a/01-01-SUMMARY.md": DONE,
                                "phases/02-b/02-01-PLAN.md": "x"})  # fmt: skip
    assert ("Progress" in wrong(files)) is is_wrong


def test_a_bar_in_a_fence_is_compared_while_phases_have_no_folder(tmp_path: Path) -> None:
    state = STATE.format(focus="Phase 1") + "\n```\nProgress: [####......] 43%\n```\n"
    assert wrong(planning(tmp_path, {**BASE, "STATE.md": state})) == ["Progress"]


def test_a_line_that_two_milestones_hold_is_reported_once(tmp_path: Path) -> None:
    marks = "- 🚧 **v1.0 One** (in progress)\n- 🚧 **v1.1 Two** (in progress)\n"
    plans = "\n### Phase 1: Login\n\nPlans:\n\n- [ ] 01-01-PLAN.md — it\n"
    roadmap = f"# Roadmap\n\n## Milestones\n\n{marks}\n## Phases\n{ROADMAP[9:]}{plans}"
    summary = {"phases/01-login/01-01-SUMMARY.md": DONE}
    findings = checked(planning(tmp_path, {**BASE, "ROADMAP.md": roadmap, **summary})).findings
    assert "plan 01-01 box" in [finding.what for finding in findings]
    assert len(findings) == len({*findings})


def test_a_position_after_a_phase_whose_plans_are_ticked_is_a_claim(tmp_path: Path) -> None:
    plans = "\n### Phase 1: Login\n\nPlans:\n\n- [x] 01-01-PLAN.md — it\n"
    state = STATE.format(focus="Phase 2 — Search").replace("1 of 2 (Login)", "2 of 2 (Search)")
    state = state.replace("Plan: 1 of 1 in current phase", "Plan: Not started")
    files = planning(tmp_path, {**BASE, "ROADMAP.md": ROADMAP + plans, "STATE.md": state})
    Doctor(files, CLOCK).fix()
    assert "Phase: 2 of 2 (Search)" in files.load(".planning/STATE.md").text


@pytest.mark.parametrize(("folder", "certainty"), [("04-old", "uncertain"), ("", "certain")])
def test_without_a_roadmap_a_folder_that_was_passed_over_is_a_doubt(
    tmp_path: Path, folder: str, certainty: str
) -> None:
    here = {f"phases/06-here/06-01-{kind}.md": DONE for kind in ("PLAN", "SUMMARY")}
    passed = {f"phases/{folder}/04-01-PLAN.md": "x"} if folder else {}
    state = {"STATE.md": "# State\n\n## Current Position\n\nPhase: 6\n"}
    scope = checked(planning(tmp_path, {**here, **passed, **state})).position.scope
    assert scope.certainty == certainty


def test_a_phase_that_only_the_position_calls_complete_is_a_doubt(tmp_path: Path) -> None:
    state = STATE.format(focus="Phase 2").replace("1 of 2 (Login)", "02 (search) — COMPLETE")
    summary = {"phases/01-login/01-01-SUMMARY.md": DONE}
    files = planning(tmp_path, {**BASE, **summary, "STATE.md": state})
    assert checked(files).position.scope.certainty is Certainty.UNCERTAIN


# -- what the whole project, or another tool, may say ---------------------------------------------

_TWO = """# Roadmap

{first}

### Phase 1: Login
### Phase 2: Search

{second}

### Phase 3: Share
### Phase 4: Stats
"""
_PLACES = {
    "phases/01-login/01-01-PLAN.md": "x",
    "phases/01-login/01-01-SUMMARY.md": DONE,
    "phases/02-search/02-01-PLAN.md": "x",
    "phases/02-search/02-01-SUMMARY.md": DONE,
    "phases/03-share/03-01-PLAN.md": "x",
    "phases/03-share/03-01-SUMMARY.md": DONE,
}
_BAR = """---
gsd_state_version: '1.0'
status: planning
---

# State

## Current Position

Phase: 4 of 4 (Stats)
Plan: Not started
Status: Ready to plan
Progress: {bar}
"""


@pytest.mark.parametrize(
    ("bar", "findings"),
    [("[█████░░░░░] 50%", []), ("[████████░░] 75%", []), ("[██████░░░░] 60%", ["Progress"])],
    ids=["of the milestone", "of the whole project", "of neither"],
)
def test_a_bar_may_show_the_milestone_or_the_whole_project(
    tmp_path: Path, bar: str, findings: list[str]
) -> None:
    roadmap = _TWO.format(first="## v1.0 Base ✅", second="## v1.1 Growth 🚧")
    files = planning(tmp_path, {**_PLACES, "ROADMAP.md": roadmap, "STATE.md": _BAR.format(bar=bar)})
    assert wrong(files) == findings


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("### Milestone v1: Base (done, archived)", "### Milestone v2: Growth (current)"),
        ("## ✅ v1 Base (Phases 1-2)", "## 🚧 v2 Growth (Phases 3-4)"),
    ],
    ids=["after the word for a milestone", "beside a range"],
)
def test_a_version_may_be_a_whole_number(tmp_path: Path, first: str, second: str) -> None:
    files = planning(tmp_path, {**_PLACES, "ROADMAP.md": _TWO.format(first=first, second=second)})
    scope = checked(files).position.scope

    assert scope.certainty is Certainty.CERTAIN
    assert (scope.milestone, scope.milestone_name) == ("v2", "Growth")
    assert [phase.id.short for phase in scope.phases] == ["3", "4"]


# -- `**Status:**` below a phase of the roadmap ---------------------------------------------------


@pytest.mark.parametrize(
    ("text", "is_done"),
    [
        ("Complete", True),
        ("✅ **Complete**", True),
        ("COMPLETE (v2.0 released)", True),
        ("Done 2026-05-06 (branch x) — all merged", True),
        ("Completed on 2026-06-24. More words.", True),
        ("Verified.", True),
        ("Planning complete → Ready for execution", False),
        ("Not complete", False),
        ("Incomplete", False),
        ("Complete when the tests pass", False),
        ("Done, except for the tests", False),
        ("Completed locally on 2026-06-28; integration pending", False),
        ("1 of 3 plans complete", False),
        ("", False),
    ],
)
def test_a_status_line_calls_a_phase_finished_in_a_bare_or_dated_form(
    text: str, is_done: bool
) -> None:
    assert line_says_done(text) == is_done


DETAILED = (
    "# Roadmap\n\n### Phase 1: Login\n\n**Goal:** x\n**Status:** {status}\n\n"
    "### Phase 2: Search\n\n**Goal:** y\n"
)
STATUS_LINE = 6


def in_roadmap(files: Files) -> list[Finding]:
    return [each for each in checked(files).drift if each.path.endswith("ROADMAP.md")]


@pytest.mark.parametrize(("status", "current"), [("Complete (2026-05-06)", "2"), ("Planned", "1")])
def test_a_phase_that_its_status_line_calls_finished_is_passed_over(
    tmp_path: Path, status: str, current: str
) -> None:
    files = planning(tmp_path, {"ROADMAP.md": DETAILED.format(status=status)})
    at = checked(files).position.current
    assert at is not None
    assert at.id.short == current


def test_a_status_line_that_no_summary_proves_is_a_claim_and_stays(tmp_path: Path) -> None:
    plan = "phases/01-login/01-01-PLAN.md"
    roadmap = DETAILED.format(status="Complete (2026-05-06)")
    files = planning(tmp_path, {"ROADMAP.md": roadmap, plan: "x"})
    [claim] = in_roadmap(files)
    assert (claim.kind, claim.line) == (FindingKind.CLAIM, STATUS_LINE)
    assert claim.because == (".planning/phases/01-login/01-01-SUMMARY.md",)
    Doctor(files, CLOCK).fix()
    assert files.load(".planning/ROADMAP.md").text == roadmap

    planning(tmp_path, {plan.replace("PLAN", "SUMMARY"): DONE})
    assert in_roadmap(files) == []


# -- forms of projects that the rules were not written for ----------------------------------------


def test_a_heading_names_the_current_milestone_beside_the_history(tmp_path: Path) -> None:
    roadmap = """# Roadmap

## Current Milestone: v1.1 Hardening

- [x] **Phase 3: Limits**
- [ ] **Phase 4: Backups**

## v1.0 History (Phases 1-2)

### Phase 1: Base
### Phase 2: Mail
"""
    state = "# State\n\n## Current Position\n\nPhase: 4 of 4 (Backups)\nStatus: In progress\n\n"
    state += "Progress: v1.0: 100% (2/2) | v1.1: 50% (1/2 phases)\n"
    numbers = ("01-base/01", "02-mail/02", "03-limits/03", "04-backups/04")
    work = {f"phases/{each}-01-PLAN.md": "x" for each in numbers}
    work |= {f"phases/{each}-01-SUMMARY.md": DONE for each in numbers[:3]}
    files = planning(tmp_path, {"ROADMAP.md": roadmap, "STATE.md": state, **work})
    report = Overview(files).status()

    assert (report.scope.milestone, report.scope.certainty) == ("v1.1", Certainty.CERTAIN)
    assert report.phase == "4"
    assert wrong(files) == []


def test_a_shipped_milestone_may_be_called_the_current_one(tmp_path: Path) -> None:
    roadmap = (
        "# Roadmap\n\n## Current Milestone: v1.0 Base — SHIPPED 2026-02-01\n\n- [x] Phase 1: A\n"
    )
    work = {"phases/01-a/01-01-PLAN.md": "x", "phases/01-a/01-01-SUMMARY.md": DONE}
    report = Overview(planning(tmp_path, {"ROADMAP.md": roadmap, **work})).status()
    assert report.next.action == "new-milestone"


@pytest.mark.parametrize("sign", ["🚀", "🗺️", "◆"])
def test_any_sign_may_stand_before_the_word_milestone(tmp_path: Path, sign: str) -> None:
    roadmap = f"# Roadmap\n\n## {sign} Milestone 1: Base ✅\n\n### Phase 1: A\n\n"
    roadmap += f"## {sign} Milestone 2: More\n\n### Phase 2: B\n"
    work = {"phases/01-a/01-01-PLAN.md": "x", "phases/01-a/01-01-SUMMARY.md": DONE}
    report = Overview(planning(tmp_path, {"ROADMAP.md": roadmap, **work})).status()
    assert (report.scope.milestone, report.progress.total_phases) == ("Milestone 2", 1)


HALF = {
    "phases/01-login/01-01-PLAN.md": "x",
    "phases/01-login/01-01-SUMMARY.md": DONE,
    "phases/01-login/01-02-PLAN.md": "x",
}


def test_a_count_of_open_plans_contradicts_the_box_of_its_phase(tmp_path: Path) -> None:
    roadmap = "# Roadmap\n\n- [x] **Phase 1: Login**\n\n### Phase 1: Login\n**Plans:** {}\n"
    for counts, action in (("1/2 plans executed", "execute-phase"), ("2 plans", "verify-phase")):
        text = roadmap.format(counts)
        files = planning(tmp_path, {**HALF, "ROADMAP.md": text, "STATE.md": STATE})
        assert Overview(files).status().next.action == action


def test_a_count_without_the_word_plans_is_compared(tmp_path: Path) -> None:
    roadmap = "# Roadmap\n\n### Phase 1: Login\n**Plans**: 0/2 complete\n"
    assert "phase 1 count" in wrong(planning(tmp_path, {**HALF, "ROADMAP.md": roadmap}))


def test_a_status_line_cannot_say_that_begun_work_is_not_started(tmp_path: Path) -> None:
    roadmap = "# Roadmap\n\n### Phase 1: Login\n**Status:** Not started\n"
    assert "phase 1 status line" in wrong(planning(tmp_path, {**HALF, "ROADMAP.md": roadmap}))


@pytest.mark.parametrize("status", ["⏭️ Skipped", "Deferred to v2", "Cancelled"])
def test_a_phase_that_is_put_aside_is_passed_over(tmp_path: Path, status: str) -> None:
    roadmap = f"""# Roadmap

| Phase | Plans Complete | Status | Completed |
|-------|----------------|--------|-----------|
| 1. Warp | 0/0 | {status} | - |
| 2. Weft | 0/1 | Planned | - |
"""
    work = {"phases/02-weft/02-01-PLAN.md": "x"}
    report = Overview(planning(tmp_path, {"ROADMAP.md": roadmap, **work})).status()
    assert (report.phase, report.next.action) == ("2", "execute-phase")


FOUR = """# Roadmap

- [x] **Phase 1: A**
- [ ] **Phase 2: B**
- [ ] **Phase 2.1: C**
- [ ] **Phase 3: D**
"""


@pytest.mark.parametrize(
    ("line", "is_right"),
    [
        ("Phase: 2 of 3 (B)", True),
        ("Phase: 2 of 4 (B)", True),
        ("Phase: 2 of 5 (B)", False),
        ("Progress: [█████░░░░░] 50%", True),  # one of two plans
        ("Progress: 40%", False),
    ],
)
def test_a_total_and_a_bar_may_count_in_more_than_one_way(
    tmp_path: Path, line: str, is_right: bool
) -> None:
    state = f"# State\n\n## Current Position\n\n{line}\nStatus: Ready to execute\n"
    work = {
        "phases/01-a/01-01-PLAN.md": "x",
        "phases/01-a/01-01-SUMMARY.md": DONE,
        "phases/02-b/02-01-PLAN.md": "x",
    }
    files = planning(tmp_path, {"ROADMAP.md": FOUR, "STATE.md": state, **work})
    assert (wrong(files) == []) == is_right


@pytest.mark.parametrize(
    ("bar", "is_right"),
    [
        ("50% (1/2 plans)", True),
        ("0% (0/1 plans)", True),  # the plans of phase 2
        ("33% (1/3 plans)", True),  # the third one is only listed
        ("25% (1/4 phases)", True),
        ("50%", False),
        ("40% (2/5 plans)", False),
        ("50% (2/4 phases)", False),
    ],
)
def test_a_bar_may_show_the_ratio_of_right_counts_beside_it(
    tmp_path: Path, bar: str, is_right: bool
) -> None:
    front = "---\ngsd_state_version: 1.0\nstatus: executing\nprogress:\n  percent: 25\n---\n\n"
    state = f"{front}## Current Position\n\nPhase: 2 of 4 (B)\n\nProgress: {bar}\n"
    work = {
        "phases/01-a/01-01-PLAN.md": "x",
        "phases/01-a/01-01-SUMMARY.md": DONE,
        "phases/02-b/02-01-PLAN.md": "x",
    }
    roadmap = f"{FOUR}\n### Phase 3: D\n\n- [ ] 03-01: TBD\n"
    files = planning(tmp_path, {"ROADMAP.md": roadmap, "STATE.md": state, **work})
    assert (wrong(files) == []) == is_right


def test_a_position_before_the_first_phase_is_right_until_a_plan_exists(tmp_path: Path) -> None:
    state = "# State\n\n## Current Position\n\nPhase: Not started (defining requirements)\n"
    state += "Plan: —\nStatus: Defining requirements\n"
    files = planning(tmp_path, {"ROADMAP.md": ROADMAP, "STATE.md": state})
    assert wrong(files) == []
    assert "Phase" in wrong(planning(tmp_path, {"phases/01-login/01-01-PLAN.md": "x"}))


@pytest.mark.parametrize(("mark", "found"), [("", []), (" ✅", ["milestone", "milestone_name"])])
def test_the_default_milestone_may_be_the_first_one(
    tmp_path: Path, mark: str, found: list[str]
) -> None:
    roadmap = f"# Roadmap\n\n## Milestone 1: MVP{mark}\n\n### Phase 1: Login\n\n"
    roadmap += "## Milestone 2: More\n\n### Phase 2: Search\n"
    front = "---\ngsd_state_version: 1.0\nmilestone: v1.0\nmilestone_name: milestone\n"
    state = f"{front}status: executing\n---\n\n## Current Position\n\n"
    files = planning(tmp_path, {**HALF, "ROADMAP.md": roadmap, "STATE.md": state})
    named = [each for each in wrong(files) if each.startswith("milestone")]
    assert [each for each in named if " " not in each] == found


@pytest.mark.parametrize(
    ("status", "is_right"), [("⏳ Not started", False), ("In progress", True), ("Ready", True)]
)
def test_a_row_of_state_cannot_call_begun_work_not_started(
    tmp_path: Path, status: str, is_right: bool
) -> None:
    state = "# State\n\n## Current Position\n\nPhase: 1 of 1 (Login)\nStatus: In progress\n\n"
    state += f"## Phases\n\n| Phase | Name | Status |\n|---|---|---|\n| 1 | Login | {status} |\n"
    roadmap = "# Roadmap\n\n### Phase 1: Login\n"
    files = planning(tmp_path, {**HALF, "ROADMAP.md": roadmap, "STATE.md": state})
    assert (wrong(files) == []) == is_right
