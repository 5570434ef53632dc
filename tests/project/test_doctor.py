"""The doctor repairs every finding once and changes nothing else."""

import difflib
import re
from pathlib import Path

import pytest

from fairlead.core.errors import BlockedError
from fairlead.project.derive.scope import Certainty
from fairlead.project.errors import DerivedValue
from fairlead.project.events import Events
from fairlead.project.health.check import DocumentComparison, compare_project
from fairlead.project.health.doctor import ClaimPolicy, Doctor, RepairMethod
from fairlead.project.health.findings import FindingKind
from fairlead.store.files import Files, WriteOutcome
from tests.support.peculiar import (
    ARCHIVED,
    BASE,
    CLAIMS,
    CLAIMS_OF_ARCHIVED,
    CONFLICT,
    DRIFT,
    STATE,
    UNEXPLAINED,
    WITHOUT_FILES,
    put,
    roadmap,
    state,
)
from tests.support.peculiar import Files as Texts
from tests.support.times import NOON
from tests.support.trees import read_tree

LIFETIME = "Total plans completed"


class Still:
    def now(self):
        return NOON


def doctor_of(folder: Path) -> Doctor:
    return Doctor(Files(str(folder)), Still())


def comparison(folder: Path) -> DocumentComparison:
    return compare_project(Files(str(folder)))


def kinds(folder: Path) -> list[str]:
    return [str(finding.kind) for finding in comparison(folder).drift]


def documents(folder: Path) -> dict[str, bytes]:
    return {name: text for name, text in read_tree(folder).items() if ".fairlead" not in name}


def changed_lines(outcome: WriteOutcome) -> set[tuple[str, int]]:
    """The old lines that an outcome replaced or removed."""
    lines = set()
    for change in outcome.changes:
        old, new = (change.old or "").splitlines(), change.new.splitlines()
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for tag, first, last, _, _ in matcher.get_opcodes():
            if tag != "equal":
                lines |= {(change.path, line + 1) for line in range(first, last)}
    return lines


def test_a_correct_project_has_no_finding_and_no_file_is_created(tmp_path):
    put(tmp_path, BASE)
    before = read_tree(tmp_path)

    assert kinds(tmp_path) == []
    assert doctor_of(tmp_path).fix(ClaimPolicy.CORRECT).changes == ()
    assert read_tree(tmp_path) == before


@pytest.mark.parametrize("name", DRIFT)
def test_every_kind_of_drift_is_found_with_its_code(tmp_path, name):
    put(tmp_path, DRIFT[name])

    assert name.split()[0] in kinds(tmp_path)


@pytest.mark.parametrize("name", DRIFT)
def test_after_the_repair_the_finding_is_gone_and_fix_and_sync_change_nothing(tmp_path, name):
    put(tmp_path, DRIFT[name])
    doctor = doctor_of(tmp_path)

    doctor.fix(create=True)
    repaired = documents(tmp_path)

    assert kinds(tmp_path) == []
    assert doctor.fix().changes == ()
    assert documents(tmp_path) == repaired
    changes = Events(Files(str(tmp_path)), Still()).sync(dry_run=True).changes
    # A lifetime figure is no statement about the files, but an event may write it.
    rows = [((each.old or "").splitlines(), (each.new or "").splitlines()) for each in changes]
    assert [
        new for old, lines in rows for new in lines if new not in old and LIFETIME not in new
    ] == []


@pytest.mark.parametrize(
    ("old", "own"),
    [
        ("Status: In progress", "Status: Waiting for Bob"),
        ("Status: In progress", "Status: Executing Phase 2"),
        ("Status: In progress", "Status: Ready to execute"),
        ("Status: In progress", "Status: Phase 1 complete"),
        ("Status: In progress", "Status: Milestone v0.9 complete"),
        ("Status: In progress", "Status: All plans complete but one"),
        ("Status: In progress", "Status: 67% complete"),
        ("status: executing", "status: with Bob"),
        ("Phase: 2 of 2 (Search)", "Phase: Milestone closeout"),
        ("Phase: 2 of 2 (Search)", "Phase: 02 (search) — EXECUTING"),
        ("Phase: 2 of 2 (Search)", "Phase: 02 of 02 (Search)"),
        ("Phase: 2 of 2 (Search)", "Phase: **2** of **2** (Search)"),
        ("Phase: 2 of 2 (Search)", "Phase: 2 (Search) — not complete"),
        ("Phase: 2 of 2 (Search)", "Phase: 2 — step 1 done"),
        ("Phase: 2 of 2 (Search)\nPlan: 2 of 2 in", "Phase: Closeout\nPlan: Complete\nWorks in"),
        ("Phase: 2 of 2 (Search)", "Phase: 2/2 — Search"),
        ("Phase: 2 of 2 (Search)", "Phase: 2/3 in parallel"),
        ("Phase: 2 of 2 (Search)", "Current Phase: 2\nCurrent Phase Name: Find\nTotal Phases: 02"),
        ("## Current Position", f"Total Phases: {'9' * 5000}\n\n## Current Position"),
        ("Plan: 2 of 2 in current phase", "Plan: 02 of 02"),
        ("Plan: 2 of 2 in current phase", "Current Plan: 02\nTotal Plans in Phase: 02"),
        ("Plan: 2 of 2 in current phase", "Plan: 02-02, with Bob"),
        ("Plan: 2 of 2 in current phase", "Plan: 02-01 complete"),
        ("Plan: 2 of 2 in current phase", "Plan: 1 of 2 complete (the index)"),
        *(
            ("Plan: 2 of 2 in current phase", f"Plan: {words}")
            for words in (
                "1 of 2 complete in current phase",
                "1 of 2 completed in this phase",
                "1 of 2 in current phase — COMPLETE",
                "1 of 2 ✅ complete",
                "1 of 2 plans are done, more to come",
                "2 of 2 in current phase, 02-01 done",
                "2 of 2 in current phase, not done yet",
                "4/10 tasks complete",
                "3 of 8 unit tests done",
                "1/1 (wave 1) complete",
                "1/1 complete (wave 1)",
                f"{'9' * 5000} of 2 complete",
                f"1 of {'9' * 5000}",
            )
        ),
        ("Plan: 2 of 2 in current phase", "Plan: 1/2"),
        ("Plan: 2 of 2 in current phase", "Plan: 2/2"),
        ("current_phase: 02", "current_phase: 02\ncurrent_phase_name: search\ncurrent_plan: 02-02"),
        ("plans completed: 2", "plans completed: 30 from v0.9"),
    ],
)
def test_a_person_s_words_and_equivalent_texts_are_no_finding_and_stay(tmp_path, old, own):
    put(tmp_path, state((old, own)))

    assert kinds(tmp_path) == []
    assert doctor_of(tmp_path).fix(ClaimPolicy.CORRECT).changes == ()
    assert Events(Files(str(tmp_path)), Still()).sync(dry_run=True).changes == ()


def test_a_pause_that_a_person_wrote_stays_and_is_copied_to_the_frontmatter(tmp_path):
    # A status in the frontmatter that contradicts the body is reported, and a sync writes it.
    put(tmp_path, state(("Status: In progress", "Status: Paused")))

    (found,) = comparison(tmp_path).drift
    outcome = doctor_of(tmp_path).fix()

    assert (found.kind, found.what, found.true) == (FindingKind.STATUS, "status", "paused")
    assert changed_lines(outcome) == {(found.path, found.line)}
    assert "\nStatus: Paused\n" in (tmp_path / found.path).read_text()
    assert kinds(tmp_path) == []
    assert Events(Files(str(tmp_path)), Still()).sync(dry_run=True).changes == ()


SHIPPED = ("## Accumulated Context", "## Shipped\n\n### v0.9\n\n- Total phases: 13\n\n## Context")


@pytest.mark.parametrize(
    "change",
    [
        SHIPPED,
        ("## Current Position", "## Shipped\n\n**Total Phases:** 13\n\n## Current Position"),
        ("## Current Position", "## Where we are\n\nTotal Phases: 13\n"),
    ],
)
def test_a_phase_count_outside_the_position_belongs_to_a_person(tmp_path, change):
    put(tmp_path, state(change))
    events = Events(Files(str(tmp_path)), Still())

    assert kinds(tmp_path) == []
    assert events.sync(dry_run=True).changes == ()
    events.set_value("Total Phases", "14")
    assert re.search(r"Total [Pp]hases:(\*\*)? 14\n", (tmp_path / ".planning/STATE.md").read_text())


def test_a_row_with_a_count_of_thousands_of_digits_is_a_claim(tmp_path):
    put(tmp_path, roadmap(("1/2 | In Progress | -", f"{'9' * 5000}/2 | In Progress | -")))

    assert kinds(tmp_path) == [str(FindingKind.CLAIM)]
    doctor_of(tmp_path).fix(ClaimPolicy.CORRECT)
    assert kinds(tmp_path) == []


def test_a_phase_count_may_include_all_milestones(tmp_path):
    before = {
        f"milestones/v0.9-phases/01-start/01-01-{kind}.md": "# It\n" for kind in ("PLAN", "SUMMARY")
    }
    put(tmp_path, {**state(("Phase: 2 of 2", "Total Phases: 6\nPhase: 2 of 2")), **before})

    assert kinds(tmp_path) == []


def test_an_overall_progress_may_include_a_milestone_of_one_line(tmp_path):
    milestones = "- ✅ **v0.9 MVP** — Phases 1-4 (shipped)\n- 🚧 **v1.0 First** — Phases 5-6\n"
    overall = "**Overall Progress:** [████████░░] 83% (5/6 phases)"
    put(
        tmp_path,
        {
            "STATE.md": STATE.replace("02", "06")
            .replace("Phase: 2 of 2", "Phase: 6 of 6")
            .replace("## Performance", f"{overall}\n\n## Performance"),
            "ROADMAP.md": f"# Roadmap\n\n## Milestones\n\n{milestones}\n## Phases\n\n"
            "- [x] **Phase 5: Login** - who\n- [ ] **Phase 6: Search** - what\n",
            **{
                path.replace("/01-", "/05-").replace("/02-", "/06-"): text
                for path, text in BASE.items()
                if path.startswith("phases")
            },
        },
    )

    assert kinds(tmp_path) == []
    assert Events(Files(str(tmp_path)), Still()).sync(dry_run=True).changes == ()


@pytest.mark.parametrize(
    ("focus", "found"),
    [
        ("v0.9 MVP", ["position-differs"]),
        ("v0.9 — MVP", ["position-differs"]),
        ("v0.9", ["position-differs"]),
        ("v0.9 shipped, v1.0 comes next", []),
        ("v0.9 完成", []),
    ],
)
def test_a_focus_on_a_shipped_milestone_is_judged_only_as_name_and_title(tmp_path, focus, found):
    shipped = "## Milestones\n\n- ✅ **v0.9 MVP** — Phases 8-9 (shipped)\n"
    running = "- 🚧 **v1.0 First** — Phases 1-2\n\n"
    text = BASE["ROADMAP.md"].replace("## 🚧 v1.0", f"{shipped}{running}## 🚧 v1.0", 1)
    named = f"# Project State\n\n**Current focus:** {focus}\n"
    put(tmp_path, {**state(("# Project State\n", named)), "ROADMAP.md": text})

    assert kinds(tmp_path) == found


@pytest.mark.parametrize("old", ["# Project State", "## Current Position"])
def test_the_phase_count_of_the_position_is_compared_and_repaired(tmp_path, old):
    put(tmp_path, state((old, f"{old}\n\nTotal Phases: 5\n"), SHIPPED))
    events = Events(Files(str(tmp_path)), Still())

    assert kinds(tmp_path) == ["counter-differs"]
    with pytest.raises(DerivedValue):
        events.set_value("Total Phases", "6")
    events.set_value("Total Phases", "2")
    assert kinds(tmp_path) == []


@pytest.mark.parametrize(
    ("said", "true"),
    [
        ("0 of 2 complete in current phase", "1 of 2 complete in current phase"),
        ("0/2 in current phase — DONE", "1/2 in current phase — DONE"),
        ("1 of 3 plans executed ✅", "1 of 2 plans executed ✅"),
        ("1 of 2 in current phase (wave 1)", "2 of 2 in current phase (wave 1)"),
        ("1 of 2, tests next", "2 of 2, tests next"),
    ],
)
def test_a_plan_count_keeps_its_meaning_and_names_its_phase(tmp_path, said, true):
    put(tmp_path, state(("2 of 2 in current phase", said)))

    (finding,) = comparison(tmp_path).drift

    assert (finding.what, finding.true) == ("Plan", true)
    assert finding.because == (".planning/phases/02-search",)
    doctor_of(tmp_path).fix()
    assert kinds(tmp_path) == []


# Phase 1 has a plan under way, phases 2 and 3 are not begun; the position is elsewhere.
AHEAD = {
    "STATE.md": """\
---
status: executing
active_phase: null
next_action: execute-phase
next_phases: ["1"]
---

# State

## Current Position

Phase: 3 of 3 (Ship)
Plan: 1 of 1 in current phase
Status: Ready to execute
""",
    "ROADMAP.md": "".join(
        f"- [ ] **Phase {number}: {name}** - it\n"
        for number, name in enumerate(("Login", "Search", "Ship"), 1)
    ),
    "phases/01-login/01-01-PLAN.md": "# Plan\n",
}


def test_a_position_without_evidence_is_wrong_and_the_lines_beside_it_are_not(tmp_path):
    put(tmp_path, AHEAD)

    doctor_of(tmp_path).fix()
    text = (tmp_path / ".planning/STATE.md").read_text()

    assert text == AHEAD["STATE.md"].replace("3 of 3 (Ship)", "1 of 3 (Login)")
    assert kinds(tmp_path) == []


@pytest.mark.parametrize(
    "spoken_for",
    [
        {"phases/03-ship/03-01-PLAN.md": "# Plan\n"},
        {"phases/03-ship/03-01-SUMMARY.md": "# Summary\n\nDone.\n"},
        {"phases/03-ship/03-CONTEXT.md": "# Context\n"},
        {"phases/02-search/02-01-PLAN.md": "# Plan\n", "phases/02-search/02-01-SUMMARY.md": "ok\n"},
        {"STATE.md": AHEAD["STATE.md"].replace("active_phase: null", 'active_phase: "3"')},
        {"STATE.md": "# State\n\n## Current Position\n\nPhase: 3 of 3 (Ship)\nStatus: Planning\n"},
    ],
    ids=["plan", "summary", "context", "the phase before", "active phase", "status"],
)
def test_a_position_out_of_order_stays_if_there_is_evidence_for_it(tmp_path, spoken_for):
    put(tmp_path, {**AHEAD, **spoken_for})

    doctor_of(tmp_path).fix()

    assert "Phase: 3 of 3 (Ship)" in (tmp_path / ".planning/STATE.md").read_text()
    assert kinds(tmp_path) == []


@pytest.mark.parametrize("step", ["discussion_started", "planning_started"])
@pytest.mark.parametrize("has_front", [True, False])
def test_starting_a_later_phase_is_no_drift(tmp_path, step, has_front):
    text = AHEAD["STATE.md"].replace("3 of 3 (Ship)", "1 of 3 (Login)")
    put(tmp_path, {**AHEAD, "STATE.md": text if has_front else text.partition("---\n\n")[2]})
    doctor_of(tmp_path).fix()

    getattr(Events(Files(str(tmp_path)), Still()), step)("3")

    assert "Phase: 3 of 3 (Ship)" in (tmp_path / ".planning/STATE.md").read_text()
    assert kinds(tmp_path) == []


@pytest.mark.parametrize("name", [name for name in DRIFT if not name.startswith("document")])
def test_a_repair_changes_only_lines_that_a_finding_names(tmp_path, name):
    put(tmp_path, DRIFT[name])
    wrong = {(finding.path, finding.line) for finding in comparison(tmp_path).drift}

    outcome = doctor_of(tmp_path).fix()

    assert changed_lines(outcome) <= wrong


@pytest.mark.parametrize("name", DRIFT)
def test_a_finding_names_its_line(tmp_path, name):
    put(tmp_path, DRIFT[name])

    for finding in comparison(tmp_path).drift:
        if finding.line and finding.true and finding.kind is not FindingKind.DOCUMENT:
            line = (tmp_path / finding.path).read_text().splitlines()[finding.line - 1]
            words = finding.what.split()
            assert words[0].split(".")[-1].lower() in line.lower() or words[1] in line


SECOND = (
    "\n## Current Position\n\nPhase: 9 of 9 (Gone)\nStatus: Complete\nProgress: [██████████] 100%\n"
)


@pytest.mark.parametrize("after", ["", "\n## Session\n\nStopped at: here\n"])
def test_a_second_position_section_is_moved_to_the_archive(tmp_path, after):
    put(tmp_path, {**BASE, "STATE.md": BASE["STATE.md"] + SECOND + after})

    (finding,) = comparison(tmp_path).drift
    doctor_of(tmp_path).fix()
    written = documents(tmp_path)

    assert (finding.kind, finding.line) == (FindingKind.SECTION, BASE["STATE.md"].count("\n") + 2)
    assert written[".planning/STATE.md"].decode() == BASE["STATE.md"] + after
    assert all(
        line in written[".planning/STATE-ARCHIVE.md"].decode()
        for line in SECOND.split("\n")
        if line
    )
    assert kinds(tmp_path) == []
    assert doctor_of(tmp_path).fix().changes == ()


@pytest.mark.parametrize("more", ["\nAda was here.\n", "\n### Decisions\n\n- Keep it\n"])
def test_a_second_position_section_with_other_content_is_left_to_a_person(tmp_path, more):
    put(tmp_path, {**BASE, "STATE.md": BASE["STATE.md"] + SECOND + more})

    outcome = doctor_of(tmp_path).fix()
    (repair,) = doctor_of(tmp_path).repairs()

    assert outcome.changes == ()
    assert (repair.finding.kind, repair.means) == (FindingKind.SECTION, RepairMethod.PERSON)


def test_an_overall_bar_may_include_another_milestone(tmp_path):
    bars = ("[█████░░░░░] 50%", "[█████░░░░░] 50%\nOverall progress: [████████░░] 75%")
    before = {"milestones/v0.9-phases/01-start/01-01-PLAN.md": "# Plan\n"}
    put(tmp_path, {**state(bars), **before})

    assert kinds(tmp_path) == []
    assert doctor_of(tmp_path).fix(ClaimPolicy.CORRECT).changes == ()


@pytest.mark.parametrize("label", ["Progreso: ", "**進捗**： ", "- ", ""])
def test_a_single_bar_is_compared_whatever_its_label(tmp_path, label):
    text = f"# Estado\n\n## Posición\n\nFase 1: [██████████] 100%\n{label}[██████░░░░] 60% ya\n"
    put(tmp_path, {**BASE, "STATE.md": text})

    (finding,) = comparison(tmp_path).drift
    doctor_of(tmp_path).fix(ClaimPolicy.CORRECT)

    assert (finding.what, finding.line, finding.said, finding.true) == ("Progress", 6, "60%", "50%")
    assert (tmp_path / ".planning/STATE.md").read_text() == text.replace(
        "[██████░░░░] 60%", "[█████░░░░░] 50%"
    )


def test_several_bars_without_the_label_are_not_compared(tmp_path):
    text = "# Estado\n\nProgreso: [██████░░░░] 60%\n\nCobertura: [████████░░] 80%\n"
    put(tmp_path, {**BASE, "STATE.md": text})

    assert comparison(tmp_path).drift == ()
    assert doctor_of(tmp_path).fix(ClaimPolicy.CORRECT).changes == ()


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_not_repaired_without_a_policy(tmp_path, name):
    put(tmp_path, CLAIMS[name])
    before = documents(tmp_path)

    outcome = doctor_of(tmp_path).fix()

    assert outcome.changes == ()
    assert set(kinds(tmp_path)) == {"claim-unproven"}
    assert documents(tmp_path) == before


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_names_the_missing_summary(tmp_path, name):
    put(tmp_path, CLAIMS[name])

    for finding in comparison(tmp_path).drift:
        assert any("02-02" in path for path in finding.because)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_corrected_claim_has_the_proven_value(tmp_path, name):
    put(tmp_path, CLAIMS[name])
    doctor = doctor_of(tmp_path)

    doctor.fix(ClaimPolicy.CORRECT)

    assert kinds(tmp_path) == []
    assert comparison(tmp_path).position.progress.completed_plans == 2
    assert doctor.fix(ClaimPolicy.CORRECT).changes == ()


def test_state_follows_the_roadmap_when_its_claim_is_corrected(tmp_path):
    put(
        tmp_path,
        {
            "ROADMAP.md": "# R\n\n- [x] **Phase 1: A**\n- [ ] **Phase 2: B**\n",
            "STATE.md": "---\ngsd_state_version: '1.0'\nstatus: planning\n---\n\n"
            "## Current Position\n\nPhase: 2 of 2 (B)\nPlan: Not started\nStatus: Ready to plan\n",
            "phases/01-a/01-01-PLAN.md": "x",
        },
    )

    doctor_of(tmp_path).fix(ClaimPolicy.CORRECT)

    assert kinds(tmp_path) == []
    assert "Phase: 1 of 2 (A)" in (tmp_path / ".planning/STATE.md").read_text()


@pytest.mark.parametrize("name", CLAIMS)
def test_a_reconstructed_summary_proves_the_claim_and_names_its_source(tmp_path, name):
    put(tmp_path, CLAIMS[name])
    doctor = doctor_of(tmp_path)

    doctor.fix(ClaimPolicy.RECONSTRUCT)
    text = (tmp_path / ".planning/phases/02-search/02-02-SUMMARY.md").read_text()

    assert kinds(tmp_path) == []
    assert comparison(tmp_path).position.progress.completed_plans == 3
    assert "reconstructed: true" in text
    assert "status: complete" in text
    assert "claimed_by: .planning/" in text.replace('"', "")
    assert doctor.fix(ClaimPolicy.RECONSTRUCT).changes == ()


def test_open_phases_of_an_archived_milestone_are_noted_and_are_no_drift(tmp_path):
    put(tmp_path, ARCHIVED)

    found = comparison(tmp_path)
    (note,) = found.findings

    assert found.drift == ()
    assert (note.kind, note.what) == (FindingKind.ARCHIVED, "phase 2")
    assert "02-02" in note.said
    assert note.because == (".planning/milestones/v1.0-phases/02-search/02-02-SUMMARY.md",)
    assert not found.position.is_complete


@pytest.mark.parametrize("name", CLAIMS_OF_ARCHIVED)
def test_a_claim_about_an_archived_milestone_is_left_to_a_person(tmp_path, name):
    put(tmp_path, CLAIMS_OF_ARCHIVED[name])
    doctor = doctor_of(tmp_path)

    assert doctor.fix().changes == ()
    assert set(kinds(tmp_path)) == {"claim-unproven"}

    doctor.fix(ClaimPolicy.CORRECT)

    assert kinds(tmp_path) == []
    assert documents(tmp_path)[".planning/STATE.md"].decode() == ARCHIVED["STATE.md"]


@pytest.mark.parametrize("name", CLAIMS_OF_ARCHIVED)
def test_the_missing_summary_of_an_archived_plan_can_be_reconstructed(tmp_path, name):
    put(tmp_path, CLAIMS_OF_ARCHIVED[name])

    doctor_of(tmp_path).fix(ClaimPolicy.RECONSTRUCT)

    assert kinds(tmp_path) == []
    assert comparison(tmp_path).position.is_complete


@pytest.mark.parametrize("name", UNEXPLAINED)
def test_a_claim_that_missing_summaries_do_not_explain_is_refused(tmp_path, name):
    put(tmp_path, UNEXPLAINED[name])
    before = documents(tmp_path)

    with pytest.raises(BlockedError) as refused:
        doctor_of(tmp_path).fix(ClaimPolicy.RECONSTRUCT)

    assert refused.value.code == "claim-unexplained"
    assert documents(tmp_path) == before


def test_complete_plans_of_the_recorded_phase_are_no_claim(tmp_path):
    put(
        tmp_path,
        state(("2 of 2 (Search)", "1 of 2 (Login)"), ("2 of 2 in current phase", "01-01 complete")),
    )

    assert set(kinds(tmp_path)) == {"position-differs"}


def test_a_claim_about_one_phase_covers_no_plan_of_another(tmp_path):
    put(
        tmp_path,
        {
            **roadmap(("### Phase 2", "- [ ] **Phase 3: Ship** - it\n\n### Phase 2")),
            **CLAIMS["the position, 2 (Search) — COMPLETE"],
            "phases/03-ship/03-01-PLAN.md": "# Plan\n",
        },
    )

    doctor_of(tmp_path).fix(ClaimPolicy.RECONSTRUCT)

    assert comparison(tmp_path).position.progress.completed_plans == 3
    assert not (tmp_path / ".planning/phases/03-ship/03-01-SUMMARY.md").exists()


def test_a_failed_summary_is_never_overruled(tmp_path):
    failed = {"phases/02-search/02-02-SUMMARY.md": "# Summary\n\n## Self-Check: FAILED\n"}
    put(tmp_path, {**CLAIMS["the box of a phase"], **failed})

    with pytest.raises(BlockedError):
        doctor_of(tmp_path).fix(ClaimPolicy.RECONSTRUCT)


def test_a_merge_conflict_is_never_resolved(tmp_path):
    put(tmp_path, CONFLICT)
    before = documents(tmp_path)
    doctor = doctor_of(tmp_path)

    repairs = {each.finding.kind: each for each in doctor.repairs()}
    doctor.fix(ClaimPolicy.CORRECT)

    assert repairs[FindingKind.DOCUMENT].means is RepairMethod.PERSON
    assert "both sides" in repairs[FindingKind.DOCUMENT].how
    assert documents(tmp_path) == before


def test_replaced_words_of_a_person_are_archived_in_the_same_step(tmp_path):
    put(tmp_path, DRIFT["position-differs"])

    outcome = doctor_of(tmp_path).fix()
    archive = (tmp_path / ".planning/STATE-ARCHIVE.md").read_text()

    assert ".planning/STATE-ARCHIVE.md" in outcome.paths
    assert "1 of 1, waiting for Bob" in archive
    assert f"## {NOON:%Y-%m-%d}: replaced by doctor" in archive


def test_a_second_frontmatter_is_kept_in_the_archive(tmp_path):
    put(tmp_path, DRIFT["document-malformed with a second block"])

    doctor_of(tmp_path).fix()

    assert "  percent: 3" in (tmp_path / ".planning/STATE-ARCHIVE.md").read_text()


def test_a_dry_run_shows_every_change_and_writes_nothing(tmp_path):
    put(tmp_path, DRIFT["position-differs"])
    before = read_tree(tmp_path)

    outcome = doctor_of(tmp_path).fix(dry_run=True)

    assert outcome.changes
    assert read_tree(tmp_path) == before


def test_every_finding_has_a_described_repair(tmp_path):
    odd = {
        "phases/02-search/02-02-SUMMARY.md": "",
        "phases/02-search/02-07-SUMMARY.md": "# Orphan\n",
        "phases/02-other/02-01-PLAN.md": "# Plan\n",
    }
    texts: Texts = {**DRIFT["position-differs"], **odd}
    put(tmp_path, texts)

    assert all(each.how for each in doctor_of(tmp_path).repairs())


def test_a_finished_phase_without_files_makes_the_scope_uncertain_and_is_no_claim(tmp_path):
    put(tmp_path, WITHOUT_FILES)

    scope = comparison(tmp_path).position.scope

    assert scope.certainty is Certainty.UNCERTAIN
    assert "phase 3 box" not in [each.what for each in comparison(tmp_path).drift]


def test_a_recreated_roadmap_lists_the_phases_that_have_folders(tmp_path):
    texts = {name: text for name, text in BASE.items() if name != "ROADMAP.md"}
    put(tmp_path, {**texts, "phases/03.1-hot-fix/03.1-01-PLAN.md": "# Plan\n"})

    doctor_of(tmp_path).fix()
    assert not (tmp_path / ".planning/ROADMAP.md").exists()
    doctor_of(tmp_path).fix(create=True)

    phases = comparison(tmp_path).position.scope.phases
    listed = [each.listed for each in phases if each.listed]
    shown = [(each.id.short, each.name, each.is_checked) for each in listed]
    assert shown == [("1", "login", True), ("2", "search", False), ("3.1", "hot fix", False)]
    assert kinds(tmp_path) == []
    assert doctor_of(tmp_path).fix().changes == ()


@pytest.mark.parametrize(
    "words",
    [
        "Waiting for Bob",
        "Not started with the page",
        "Deferred",
        "Verifying",
        "Unverified",
        "To be verified",
        "Blocked",
        "-",
        "",
        "executing",
        "🟡 In progress (1/2)",
        "Finished?",
        "~~Shipped~~",
        "🟢",
    ],
)
def test_a_vague_status_or_one_in_a_person_s_words_is_no_finding(tmp_path, words):
    put(tmp_path, roadmap(("1/2 | In Progress", f"1/2 | {words}")))

    assert kinds(tmp_path) == []


@pytest.mark.parametrize(
    "words",
    ["🟡 In progress", "⏳ Pending", "⬜ Not Started", "In Progress (1/2)", "Partial", "**WIP**"],
)
def test_a_status_cell_behind_a_finished_phase_is_found(tmp_path, words):
    put(tmp_path, roadmap(("1/1 | Complete", f"1/1 | {words}")))

    assert kinds(tmp_path) == ["roadmap-row-differs"]


@pytest.mark.parametrize("words", ["Finished", "🚀 Shipped", "Closed", "100%", "✓", "✅", "✔️"])
def test_a_status_cell_ahead_of_an_open_phase_is_a_claim(tmp_path, words):
    put(tmp_path, roadmap(("1/2 | In Progress", f"1/2 | {words}")))

    assert "claim-unproven" in kinds(tmp_path)


@pytest.mark.parametrize("words", ["✅", "Shipped", "Closed", "✅ Done", "Skipped", "🟢"])
def test_synonyms_for_a_finished_phase_are_correct(tmp_path, words):
    put(tmp_path, roadmap(("1/1 | Complete", f"1/1 | {words}")))

    assert kinds(tmp_path) == []


@pytest.mark.parametrize("words", ["Not started", "Planned", "In progress"])
def test_a_status_cell_may_be_vague_about_open_plans(tmp_path, words):
    texts = roadmap(
        ("1/2 plans", "0/2 plans"),
        ("- [x] 02-01", "- [ ] 02-01"),
        ("1/2 | In Progress", f"0/2 | {words}"),
    )
    put(tmp_path, {name: text for name, text in texts.items() if "02-01-SUMMARY" not in name})

    assert not [each for each in comparison(tmp_path).drift if each.path.endswith("ROADMAP.md")]


def test_a_status_cell_is_repaired_with_the_words_that_commands_write(tmp_path):
    put(tmp_path, roadmap(("1/2 | In Progress", "0/2 | Not started")))

    doctor_of(tmp_path).fix()

    text = (tmp_path / ".planning/ROADMAP.md").read_text()
    assert "| 2. Search | v1.0 | 1/2 | In progress | - |" in text


def test_a_finished_phase_keeps_its_date_if_only_its_verification_is_missing(tmp_path):
    put(tmp_path, roadmap(("1/1 | Complete", "1/1 | Verified")))

    doctor_of(tmp_path).fix(ClaimPolicy.CORRECT)

    text = (tmp_path / ".planning/ROADMAP.md").read_text()
    assert "| 1. Login | v1.0 | 1/1 | Complete | 2026-04-01 |" in text
    assert kinds(tmp_path) == []


def test_a_verified_status_is_correct_if_the_verification_passed(tmp_path):
    verified = {"phases/01-login/01-VERIFICATION.md": "---\nstatus: passed\n---\n"}
    put(tmp_path, {**roadmap(("1/1 | Complete", "1/1 | Verified")), **verified})

    assert kinds(tmp_path) == []


def test_a_duplicate_phase_number_is_left_to_a_person_with_both_places(tmp_path):
    line = "- [ ] **Phase 2: Search** - what is there"
    put(tmp_path, roadmap((line, f"{line}\n- [ ] **Phase 2: Feed** - what is new")))
    before = documents(tmp_path)

    doctor_of(tmp_path).fix(ClaimPolicy.CORRECT)
    (repair,) = doctor_of(tmp_path).repairs()

    finding = repair.finding
    assert (finding.kind, finding.line, finding.is_drift) == (FindingKind.DUPLICATE, 7, True)
    assert finding.because == (".planning/ROADMAP.md:6: Search", ".planning/ROADMAP.md:7: Feed")
    assert repair.means is RepairMethod.PERSON
    assert documents(tmp_path) == before


def test_a_roadmap_without_recognised_phases_is_noted_and_is_no_drift(tmp_path):
    put(tmp_path, {"STATE.md": "# State\n", "ROADMAP.md": "# Roadmap\n\n**Phase 1: Login**\n"})

    repairs = doctor_of(tmp_path).repairs()
    (repair,) = [each for each in repairs if each.finding.kind is FindingKind.NO_PHASES]

    assert (repair.finding.kind, repair.finding.line, repair.means) == (
        FindingKind.NO_PHASES,
        3,
        RepairMethod.PERSON,
    )
    assert kinds(tmp_path) == []


def test_line_endings_of_a_repaired_document_survive(tmp_path):
    texts = {name: text.replace("\n", "\r\n") for name, text in DRIFT["percent-differs"].items()}
    put(tmp_path, texts)

    doctor_of(tmp_path).fix()
    state = (tmp_path / ".planning/STATE.md").read_bytes()

    assert kinds(tmp_path) == []
    assert state.count(b"\r\n") == state.count(b"\n")
