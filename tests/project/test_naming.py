"""Names of phase folders, plans and summaries in every known form."""

import pytest

from fairlead.core.ids import PhaseId
from fairlead.project.naming import (
    folder_for,
    folder_name,
    is_plan,
    is_summary,
    paired,
    phase_number,
    plan_id,
    summary_path,
)

THREE = PhaseId.parse("03")


@pytest.mark.parametrize(
    ("name", "number", "slug"),
    [
        ("03-feed", "3", "feed"),
        ("3-feed", "3", "feed"),
        ("004.5-hot", "4.5", "hot"),
        ("04.10-later", "4.10", "later"),
        ("12A-x", "12A", "x"),
        ("12a-x", "12A", "x"),
        ("CTRX-15-api", "15", "api"),
        ("A1-02-x", "2", "x"),
        ("CK.02-03-three", "3", "three"),
        ("phase-1", "1", ""),
        ("Phase 1", "1", ""),
        ("p1-start", "1", "start"),
        ("05-2024-review", "5", "2024-review"),
        ("02-3d-viewer", "2", "3d-viewer"),
        ("105.1-fix", "105.1", "fix"),
        ("07", "7", ""),
    ],
)
def test_a_folder_s_name_gives_its_number_and_its_slug(name: str, number: str, slug: str) -> None:
    read = folder_name(name)
    assert read.id is not None
    assert (read.id.short, read.slug) == (number, slug)


@pytest.mark.parametrize(
    "name", ["foundation", "第一阶段", "oauth-2-login", "sprint-3-cleanup", "v1.0"]
)
def test_a_folder_without_a_number_is_its_own_slug(name: str) -> None:
    assert folder_name(name) == folder_name(name).__class__(None, name)


@pytest.mark.parametrize(
    "name",
    [
        "03-02-PLAN.md",
        "03-PLAN.md",
        "03.1-02-PLAN.md",
        "03.1-PLAN.md",
        "PLAN.md",
        "03-login-PLAN.md",
        "03-02-login-PLAN.md",
        "03-PLAN-02.md",
        "PLAN-03-02.md",
        "PLAN-02-login.md",
        "03-P02-PLAN.md",
        "06-gap-fixes-PLAN.md",
        "12A-01-PLAN.md",
    ],
)
def test_a_plan_in_every_form_is_a_plan(name: str) -> None:
    assert is_plan(name)
    assert not is_summary(name)


@pytest.mark.parametrize(
    "name",
    [
        "03-02-PLAN-CHECK.md",
        "03-PLAN-CHECK.md",
        "03-PLAN-REVIEW.md",
        "03-PLAN-OUTLINE.md",
        "03-02-PLAN.pre-bounce.md",
        "04-golden-test-plan.md",
        "03-CONTEXT.md",
        "03-RESEARCH.md",
        "03-02-SUMMARY.md",
        "03-02-PLAN-SUMMARY.md",
        "PHASE-2-PLANNING-SUMMARY.md",
        "PLAN.txt",
        "03-PLANNING.md",
    ],
)
def test_a_name_that_only_resembles_a_plan_is_none(name: str) -> None:
    assert not is_plan(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("03-02-SUMMARY.md", True),
        ("SUMMARY.md", True),
        ("SUMMARY-02.md", True),
        ("03-02-GAP-SUMMARY.md", True),
        ("03-02-PLAN-SUMMARY.md", True),
        ("v1-MILESTONE-SUMMARY.md", False),
        ("PHASE-2-PLANNING-SUMMARY.md", False),
        ("summary.md", False),
        ("03-02-summary.md", True),
        ("03-02-login-summary.md", True),
        ("03-02-summary.txt", False),
        ("03-executive-summary.md", False),
        ("research-summary.md", False),
    ],
)
def test_other_kinds_of_summaries_are_not_plan_summaries(name: str, expected: bool) -> None:
    assert is_summary(name) is expected


@pytest.mark.parametrize(
    ("plan", "summary"),
    [
        ("CK.02-03-01-PLAN.md", "CK.02-03-01-SUMMARY.md"),
        ("CK.02-03-01-PLAN.md", "03-01-SUMMARY.md"),
        ("03-02-PLAN.md", "03-02-SUMMARY.md"),
        ("03-02-PLAN.md", "03-02-PLAN-SUMMARY.md"),
        ("03-02-PLAN.md", "3-02-SUMMARY.md"),
        ("03-02-PLAN.md", "03-2-SUMMARY.md"),
        ("03-02-PLAN.md", "03-post-feed-02-SUMMARY.md"),
        ("03-02-PLAN.md", "03-02-GAP-SUMMARY.md"),
        ("03-02-login-PLAN.md", "03-02-SUMMARY.md"),
        ("03-02-PLAN.md", "03-02-login-SUMMARY.md"),
        ("03-PLAN-02.md", "03-02-SUMMARY.md"),
        ("PLAN-03-02.md", "03-02-SUMMARY.md"),
        ("03-P02-PLAN.md", "03-P02-SUMMARY.md"),
        ("03-P02-PLAN.md", "03-02-SUMMARY.md"),
        ("PLAN-02-login.md", "SUMMARY-02-login.md"),
        ("PLAN.md", "SUMMARY.md"),
        ("PLAN.md", "PLAN-SUMMARY.md"),
        ("03-PLAN.md", "03-SUMMARY.md"),
        ("03-login-PLAN.md", "03-login-SUMMARY.md"),
        ("03-PLAN.md", "SUMMARY.md"),
        ("01-02-plan.md", "01-02-SUMMARY.md"),
        ("03-02-plan.md", "03-02-summary.md"),
        ("03-02-plan.md", "3-2-summary.md"),
        ("03-02-login-plan.md", "03-02-summary.md"),
        ("03-02-PLAN.md", "03-02-summary.md"),
    ],
)
def test_a_plan_finds_its_summary_in_every_form(plan: str, summary: str) -> None:
    assert paired([plan], [summary], THREE) == ({plan: summary}, ())


def test_one_summary_proves_one_plan_only() -> None:
    pairs, orphans = paired(["03-01-PLAN.md", "03-02-PLAN.md"], ["03-02-SUMMARY.md"], THREE)
    assert (pairs, orphans) == ({"03-02-PLAN.md": "03-02-SUMMARY.md"}, ())


def test_a_summary_without_a_plan_is_an_orphan() -> None:
    pairs, orphans = paired(["03-01-PLAN.md", "03-02-PLAN.md"], ["03-07-SUMMARY.md"], THREE)
    assert (pairs, orphans) == ({}, ("03-07-SUMMARY.md",))


def test_lower_case_names_pair_by_number_and_leave_an_orphan() -> None:
    plans = ["03-01-plan.md", "03-02-plan.md"]
    pairs, orphans = paired(plans, ["03-02-summary.md", "03-07-summary.md"], THREE)
    assert (pairs, orphans) == ({"03-02-plan.md": "03-02-summary.md"}, ("03-07-summary.md",))


def test_the_exact_name_wins_over_the_number() -> None:
    names = ["03-02-GAP-SUMMARY.md", "03-02-SUMMARY.md"]
    pairs, orphans = paired(["03-02-PLAN.md"], names, THREE)
    assert (pairs, orphans) == ({"03-02-PLAN.md": "03-02-SUMMARY.md"}, ("03-02-GAP-SUMMARY.md",))


def test_a_lone_summary_of_two_plans_proves_neither() -> None:
    assert paired(["a-PLAN.md", "b-PLAN.md"], ["SUMMARY.md"], THREE)[0] == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("03-02-PLAN.md", "03-02"),
        ("3-2-PLAN.md", "03-02"),
        ("03-02-login-PLAN.md", "03-02"),
        ("PLAN-03-02.md", "03-02"),
        ("03-login-PLAN.md", "03-login"),
        ("PLAN.md", "PLAN"),
    ],
)
def test_a_plan_id_is_its_phase_and_number(name: str, expected: str) -> None:
    assert plan_id(name, THREE) == expected


@pytest.mark.parametrize(
    ("number", "name", "siblings", "expected"),
    [
        ("5", "Post feed", (), "05-post-feed"),
        ("4.1", "Hotfix!", (), "04.1-hotfix"),
        ("5", "Fundação já", (), "05-fundacao-ja"),
        ("5", "基础", (), "05-phase"),
        ("5", "API", ("CK-03-feed", "CK-04-login"), "CK-05-api"),
        ("5", "API", ("CK-03-feed", "04-login"), "05-api"),
        ("5", "../../etc", (), "05-etc"),
    ],
)
def test_a_new_folder_is_named_like_the_others(
    number: str, name: str, siblings: tuple[str, ...], expected: str
) -> None:
    assert folder_for(PhaseId.parse(number), name, siblings) == expected


def test_a_very_long_name_becomes_a_folder_name_of_valid_length() -> None:
    assert len(folder_for(PhaseId.parse("5"), "word " * 100)) < 70


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", "3"), ("03", "3"), ("Phase 3", "3"), ("03-feed", "3"), ("4.5", "4.5"), ("CK-03", "3")],
)
def test_a_short_text_names_a_phase(text: str, expected: str) -> None:
    found = phase_number(text)
    assert found is not None
    assert found.short == expected


@pytest.mark.parametrize("text", ["", "none", "three", "3x4", "v1.0"])
def test_other_texts_name_no_phase(text: str) -> None:
    assert phase_number(text) is None


@pytest.mark.parametrize(
    "plan",
    [
        "03-02-PLAN.md",
        "03-PLAN.md",
        "PLAN.md",
        "PLAN-02.md",
        "03-PLAN-02.md",
        "PLAN-02-login.md",
        "login-PLAN.md",
        "03-02-plan.md",
        "v1-MILESTONE-PLAN.md",
        "03-PLANNING-PLAN.md",
        "notes.PLAN.md",
        "03-02 login-PLAN.md",
    ],
)
def test_a_new_summary_pairs_with_its_plan(plan: str) -> None:
    assert is_plan(plan)
    folder, _, summary = summary_path(f"phases/03-feed/{plan}").rpartition("/")
    assert (folder, is_summary(summary), is_plan(summary)) == ("phases/03-feed", True, False)
    other = "03-09-PLAN.md"
    assert paired([plan, other], [summary], THREE) == ({plan: summary}, ())
