"""Scanning every form of folder and file; links are never followed."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.project.derive.inventory import Completion, PhaseFolder, Proof
from fairlead.project.derive.position import position_of
from fairlead.project.derive.scan import scan
from fairlead.project.handoff import handover_paths
from fairlead.project.health.compare_state import disk_findings
from fairlead.store.reader import Reader
from tests.support.big_project import big_project


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / ".planning" / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def phase(folder: Path, *names: str, text: str = "done\n") -> PhaseFolder:
    home = folder / ".planning" / "phases" / "03-feed"
    for name in names:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (found,) = scan(str(folder)).folders
    return found


def test_a_plan_with_its_summary_is_complete(tmp_path: Path) -> None:
    (plan,) = phase(tmp_path, "03-01-PLAN.md", "03-01-SUMMARY.md").plans
    assert (plan.id, plan.proof) == ("03-01", Proof.COMPLETE)
    assert plan.summary == ".planning/phases/03-feed/03-01-SUMMARY.md"


@pytest.mark.parametrize(
    ("summary", "proof"),
    [
        ("", Proof.EMPTY),
        ("  \n\t\n", Proof.EMPTY),
        ("---\nstatus: blocked\n---\n", Proof.BLOCKED),
        ('---\nstatus: "Blocked"\n---\n', Proof.BLOCKED),
        ("---\nstatus: complete\n---\n\n## Self-Check: FAILED\n", Proof.FAILED),
        ("# S\n\n**Self-Check:** FAILED\n", Proof.FAILED),
        ("# S\n\n## Self-Check: PASSED\n\nThe test FAILED before.\n", Proof.COMPLETE),
        ("# S\n\n## Self-Check: Failed\n", Proof.FAILED),
        ("# S\n\n## Self-Check\n\nFAILED: src/a.py is missing\n", Proof.FAILED),
        ("# S\n\n## Self-Check\n\n**❌ Failed**\n", Proof.FAILED),
        ("# S\n\n## Self-Check\n\n✅ PASSED, nothing failed\n", Proof.COMPLETE),
        ("# S\n\n## Self-Check\n\nFiles created:\n\nFAILED once\n", Proof.COMPLETE),
        ("```\n## Self-Check: FAILED\n```\nAll good.\n", Proof.COMPLETE),
        ("## Self-Check: FAILED\n\nMended.\n\n## Self-Check: PASSED\n", Proof.COMPLETE),
        ("## Self-Check: PASSED\n\n## Self-Check: FAILED\n", Proof.FAILED),
        ("The word status: blocked in prose.\n", Proof.COMPLETE),
        ("---\nnested:\n  status: blocked\n---\n", Proof.COMPLETE),
        ("---\nstatus: complete # not blocked\n---\n", Proof.COMPLETE),
    ],
)
def test_a_summary_proves_its_own_result(tmp_path: Path, summary: str, proof: Proof) -> None:
    home = tmp_path / ".planning" / "phases" / "03-feed"
    home.mkdir(parents=True)
    (home / "03-01-PLAN.md").write_text("plan")
    (home / "03-01-SUMMARY.md").write_text(summary)
    assert scan(str(tmp_path)).folders[0].plans[0].proof is proof


@pytest.mark.parametrize(
    ("head", "superseded"),
    [
        ("---\nstatus: superseded\n---\n", True),
        ("---\nstatus: Superseded\n---\n", True),
        ("---\nstatus: open\n---\nThis one is superseded.\n", False),
        ("status: superseded\n", False),
        ("---\nother:\n  status: superseded\n---\n", False),
    ],
)
def test_a_superseded_plan_says_so_in_its_frontmatter(
    tmp_path: Path, head: str, superseded: bool
) -> None:
    (plan,) = phase(tmp_path, "03-01-PLAN.md", text=head).plans
    assert plan.is_superseded is superseded


@pytest.mark.parametrize("size", [16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 300_000])
def test_a_summary_is_read_to_its_end_however_long_it_is(tmp_path: Path, size: int) -> None:
    end = "\n\n## Self-Check: FAILED\n"
    phase(tmp_path, "03-01-PLAN.md")
    (plan,) = phase(tmp_path, "03-01-SUMMARY.md", text="x" * (size - len(end)) + end).plans
    assert plan.proof is Proof.FAILED


def test_plans_in_a_subfolder_count(tmp_path: Path) -> None:
    found = phase(tmp_path, "plans/PLAN-01-x.md", "plans/SUMMARY-01-x.md", "plans/PLAN-02.md")
    assert [(plan.id, plan.proof) for plan in found.plans] == [
        ("03-01", Proof.COMPLETE),
        ("03-02", Proof.NONE),
    ]


def test_a_summary_that_is_a_link_proves_nothing(tmp_path: Path) -> None:
    phase(tmp_path, "03-01-PLAN.md", "real.md")
    home = tmp_path / ".planning" / "phases" / "03-feed"
    (home / "03-01-SUMMARY.md").symlink_to(home / "real.md")
    assert scan(str(tmp_path)).folders[0].plans[0].proof is Proof.NONE


def test_a_plan_that_is_a_link_is_an_open_plan(tmp_path: Path) -> None:
    phase(tmp_path, "03-01-PLAN.md", "03-01-SUMMARY.md")
    home = tmp_path / ".planning" / "phases" / "03-feed"
    (home / "03-02-PLAN.md").symlink_to("/nowhere")
    assert [plan.proof for plan in scan(str(tmp_path)).folders[0].plans] == [
        Proof.COMPLETE,
        Proof.NONE,
    ]


def test_a_plan_or_summary_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    phase(tmp_path, "03-01-PLAN.md")
    home = tmp_path / ".planning" / "phases" / "03-feed"
    (home / "03-02-PLAN.md").symlink_to("/nowhere")
    (home / "notes.md").symlink_to("/nowhere")
    os.mkfifo(home / "03-01-SUMMARY.md")
    found = scan(str(tmp_path))
    reported = [finding.path for finding in disk_findings(position_of(found), found)]
    below = ".planning/phases/03-feed"
    assert reported == [f"{below}/03-01-SUMMARY.md", f"{below}/03-02-PLAN.md"]


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    phase(tmp_path, "03-01-PLAN.md")
    os.mkfifo(tmp_path / ".planning" / "phases" / "03-feed" / "03-01-SUMMARY.md")
    assert scan(str(tmp_path)).folders[0].plans[0].proof is Proof.NONE


def test_a_phase_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    phase(tmp_path, "03-01-PLAN.md")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "04-01-PLAN.md").write_text("x")
    (tmp_path / ".planning" / "phases" / "04-link").symlink_to(outside)
    (tmp_path / ".planning" / "phases" / "notes").symlink_to(outside)
    found = scan(str(tmp_path))
    assert [folder.slug for folder in found.folders] == ["feed"]
    assert found.unread == (".planning/phases/04-link",)


@pytest.mark.parametrize("name", ["phases", "milestones", "milestones/v1.0-phases"])
def test_a_linked_folder_of_phases_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside" / "01-a").mkdir(parents=True)
    place = tmp_path / ".planning" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(tmp_path / "outside")
    found = scan(str(tmp_path))
    assert (found.folders, found.archived, found.unread) == ((), (), (f".planning/{name}",))


def test_a_linked_folder_of_plans_is_named(tmp_path: Path) -> None:
    phase(tmp_path, "03-01-PLAN.md")
    home = tmp_path / ".planning" / "phases" / "03-feed"
    (home / "plans").symlink_to(tmp_path)
    assert scan(str(tmp_path)).folders[0].unread == (".planning/phases/03-feed/plans",)


def test_issue_2348_a_touched_summary_does_not_take_a_verification_back(tmp_path: Path) -> None:
    home = tmp_path / ".planning" / "phases" / "03-feed"
    phase(tmp_path, "03-01-PLAN.md", "03-01-SUMMARY.md")
    (home / "03-VERIFICATION.md").write_text("---\nstatus: passed\n---\n")
    os.utime(home / "03-01-SUMMARY.md", (4_000_000_000, 4_000_000_000))
    verification = scan(str(tmp_path)).folders[0].verification
    assert verification is not None
    assert verification.is_passed


def test_a_verification_with_the_phase_number_wins_over_one_without(
    tmp_path: Path,
) -> None:
    home = tmp_path / ".planning" / "phases" / "01-login"
    home.mkdir(parents=True)
    (home / "VERIFICATION.md").write_text("---\nstatus: human_needed\n---\n")
    (home / "01-VERIFICATION.md").write_text("---\nstatus: passed\n---\n")

    verification = scan(str(tmp_path)).folders[0].verification
    assert verification is not None
    assert verification.status == "passed"


def test_a_phase_without_plans_is_not_complete_though_a_verification_passed(
    tmp_path: Path,
) -> None:
    home = tmp_path / ".planning" / "phases" / "01-login"
    home.mkdir(parents=True)
    (home / "01-VERIFICATION.md").write_text("---\nstatus: passed\n---\n")

    inventory = replace(scan(str(tmp_path)), policy=Completion.VERIFIED)
    assert position_of(inventory).progress.completed_phases == 0


def test_a_plan_finished_after_the_verification_makes_it_stale(tmp_path: Path) -> None:
    home = tmp_path / ".planning" / "phases" / "03-feed"
    phase(tmp_path, "03-01-PLAN.md", "03-01-SUMMARY.md", text="---\ncompleted: 2026-02-02\n---\n")
    (home / "03-VERIFICATION.md").write_text("---\nstatus: passed\nverified: 2026-01-01\n---\n")
    verification = scan(str(tmp_path)).folders[0].verification
    assert verification is not None
    assert verification.is_stale


@pytest.mark.parametrize(
    ("config", "state", "policy"),
    [
        ("{}", "---\nstatus: x\n---\n", Completion.SUMMARISED),
        ("{}", "---\nstate_head: abc\n---\n", Completion.VERIFIED),
        ('{"fairlead": {"completion": "summarised"}}', "---\nstate_head: a\n---\n", Completion.SUMMARISED),
        ('{"fairlead": {"completion": "verified"}}', "", Completion.VERIFIED),
        ("not json", "", Completion.SUMMARISED),
    ],
)  # fmt: skip
def test_the_policy_is_the_setting_or_follows_the_newer_tool(
    tmp_path: Path, config: str, state: str, policy: Completion
) -> None:
    put(tmp_path, config_dot_json=config, STATE_dot_md=state)
    assert scan(str(tmp_path)).policy is policy


def test_a_workstream_inherits_the_policy_of_the_project(tmp_path: Path) -> None:
    put(tmp_path, config_dot_json='{"fairlead": {"completion": "verified"}}')
    put(tmp_path, workstreams__api__STATE_dot_md="# State\n")
    assert scan(str(tmp_path), workstream="api").policy is Completion.VERIFIED


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("milestone: v1.1", "v1.1"),
        ('milestone: "v1.1"', "v1.1"),
        ("milestone: '1.0'", "1.0"),
        ("milestone: 1.0", "1.0"),
        ("milestone: null", ""),
    ],
)
def test_defect_8_a_milestone_may_be_quoted_or_a_number(
    tmp_path: Path, line: str, expected: str
) -> None:
    put(tmp_path, STATE_dot_md=f"---\n{line}\n---\n")
    assert scan(str(tmp_path)).milestone == expected


def test_archived_phases_have_their_milestone(tmp_path: Path) -> None:
    home = tmp_path / ".planning" / "milestones" / "v1.0-phases" / "01-a"
    home.mkdir(parents=True)
    (found,) = scan(str(tmp_path)).archived
    assert (found.milestone, found.slug) == ("v1.0", "a")


def calls_of_deriving(folder: Path) -> int:
    """Count the function calls that deriving the position takes: unlike time, always the same."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        position_of(scan(str(folder)))
    finally:
        sys.setprofile(None)
    return calls


def test_the_work_of_deriving_grows_linearly_with_the_plans(tmp_path: Path) -> None:
    small, large = big_project(tmp_path / "small", 10), big_project(tmp_path / "large", 100)
    progress = position_of(scan(str(large))).progress
    assert (progress.total_plans, progress.completed_plans) == (1000, 500)
    assert calls_of_deriving(large) < 12 * calls_of_deriving(small)


def test_only_markdown_is_a_hand_over(tmp_path: Path) -> None:
    phase(tmp_path, "03-01-PLAN.md", ".continue-here.md.20260101T000000Z", ".continue-here.bak")
    put(tmp_path, STATE_dot_md="")
    for name in (".continue-here-a.md", ".continue-here.md.20260101T000000Z"):
        (tmp_path / ".planning" / name).write_text("x", "utf-8")
    found = handover_paths("", Reader(str(tmp_path)).names)

    assert found == (".planning/.continue-here-a.md",)
