"""Exit criteria are judged by evidence from the plan file and the disk."""

import pytest

from fairlead.planphase.criteria import (
    CheckResult,
    Facts,
    command_hash,
    confirmation_hash,
    content_hash,
    evaluate,
    heading_faults,
    review_blockers,
)
from fairlead.planphase.model import (
    DEFAULT_CRITERIA,
    Confirmation,
    Criterion,
    Module,
    PlanFile,
    RequirementSection,
)


def a_plan(*criteria: Criterion, **fields: object) -> PlanFile:
    plan = PlanFile("plan-1", "drafting", "Goal")
    plan.requirements_file = "NEEDS.md"
    plan.sections = (RequirementSection("One", "complete"),)
    plan.modules = (Module("a", "A", "planned", "high", "It works", "#1"),)
    plan.criteria = criteria or tuple(Criterion(text) for text in DEFAULT_CRITERIA)
    plan.content = "content"
    for name, value in fields.items():
        setattr(plan, name, value)
    return plan


def facts(**fields: object) -> Facts:
    evidence = Facts()
    evidence.requirements = "# Needs\n\n## One\n\nText.\n"
    for name, value in fields.items():
        setattr(evidence, name, value)
    return evidence


def states(plan: PlanFile, evidence: Facts | None = None) -> list[str]:
    return [judgement.state for judgement in evaluate(plan, evidence or facts())]


def recorded(plan: PlanFile) -> dict[str, str]:
    """The record of a statement about this content of a plan."""
    return {content_hash(plan, facts().requirements): "then"}


BARE = Module("a", "A", "planned", "high", " ", "")
NEW = Module("b", "B", "planned", "low", "x", "")


@pytest.mark.parametrize(
    ("at", "state", "fields"),
    [
        (0, "met", {}),
        (0, "unmet", {"sections": ()}),
        (0, "unmet", {"sections": (RequirementSection("One", "pending"),)}),
        (0, "unmet", {"sections": (RequirementSection("Two", "complete"),)}),
        (1, "met", {}),
        (1, "unmet", {"modules": ()}),
        (1, "unmet", {"modules": (BARE,)}),
        (2, "met", {}),
        (2, "unmet", {"modules": ()}),
        (2, "unmet", {"modules": (NEW,)}),
        (2, "unmet", {"modules": (NEW,), "issues_waived": "2026-01-01"}),  # nobody said so
        (2, "unmet", {"modules": (), "issues_waived": "2026-01-01"}),
        (3, "unmet", {}),
        (3, "unmet", {"status": "approved"}),
        (3, "unmet", {"is_complete": True}),
        (3, "stale", {"is_complete": True, "approved_hash": "sha256:other"}),
    ],
)
def test_a_default_criterion_is_judged_from_the_plan(at, state, fields):
    judgement = evaluate(a_plan(**fields), facts())[at]

    assert (judgement.state, bool(judgement.command)) == (state, state != "met")
    assert judgement.evidence


@pytest.mark.parametrize("text", ["user approved  the PLAN", "User approved the plan"])
def test_a_default_criterion_is_recognised_by_its_text(text):
    plan = a_plan(Criterion("Mine"), Criterion(text), is_complete=True, status="approved")
    assert states(plan, facts(approved=recorded(plan))) == ["unmet", "met"]


def test_a_recorded_waiver_replaces_the_issues():
    plan = a_plan(modules=(NEW,), issues_waived="2026-01-01")
    assert states(plan, facts(waived=recorded(plan)))[2] == "met"


@pytest.mark.parametrize("fields", [{"is_complete": True}, {"status": "approved"}])
def test_half_an_approval_is_none(fields):
    plan = a_plan(**fields)
    assert states(plan, facts(approved=recorded(plan)))[3] == "unmet"


def test_the_requirements_criterion_may_name_the_file_of_the_plan():
    assert states(a_plan(Criterion("NEEDS.md complete"))) == ["met"]


def test_an_approval_is_stale_for_another_content():
    plan = a_plan(is_complete=True, status="approved")
    plan.approved_hash = content_hash(plan, facts().requirements)
    evidence = facts(approved=recorded(plan))
    assert states(plan, evidence)[3] == "met"

    plan.content += " "
    assert states(plan, evidence)[3] == "stale"


def test_an_approval_is_stale_for_other_requirements():
    plan = a_plan(is_complete=True)
    plan.approved_hash = content_hash(plan, facts().requirements)

    assert states(plan, facts(requirements="# Needs\n\n## One\n\nOther.\n"))[3] == "stale"


@pytest.mark.parametrize(
    ("confirmed", "state"),
    [((), "unmet"), (("Mine", True), "met"), (("Mine", False), "stale"), (("My", True), "unmet")],
)
def test_a_statement_is_met_by_a_confirmation_of_this_content(confirmed, state):
    plan = a_plan(Criterion("Mine"))
    if confirmed:
        text, is_current = confirmed
        content = content_hash(plan, facts().requirements) if is_current else "sha256:old"
        plan.confirmations = (Confirmation(text, content, "then"),)
        assert states(plan) == ["unmet"]  # the file alone proves nothing
        evidence = facts(confirmed={confirmation_hash(text, content): "then"})
        assert states(plan, evidence) == [state]
    else:
        assert states(plan) == [state]


@pytest.mark.parametrize(
    ("fault", "state"), [("", "met"), ("does not exist", "unmet"), ("is empty", "unmet")]
)
def test_a_file_criterion_is_met_by_a_file_without_fault(fault, state):
    assert states(a_plan(Criterion("x", file="a.md")), facts(faults={"a.md": fault})) == [state]


def test_a_file_criterion_without_evidence_is_unmet():
    assert states(a_plan(Criterion("x", file="a.md"))) == ["unmet"]


COMMAND = ("make", "test")


@pytest.mark.parametrize(
    ("is_allowed", "code", "head", "state"),
    [
        (True, 0, "abc", "met"),
        (True, 1, "abc", "unmet"),
        (True, 0, "old", "stale"),
        (True, None, "abc", "unmet"),
        (False, 0, "abc", "unmet"),
    ],
)
def test_a_command_criterion_is_met_by_its_last_allowed_result(is_allowed, code, head, state):
    plan = a_plan(Criterion("x", command=COMMAND))
    name = command_hash(COMMAND)
    content = content_hash(plan, facts().requirements)
    results = {} if code is None else {name: CheckResult(code, "then", head, content)}
    evidence = facts(head="abc", allowed={name: "then"} if is_allowed else {}, results=results)

    assert states(plan, evidence) == [state]


def test_a_result_for_another_content_of_the_plan_is_stale():
    name = command_hash(COMMAND)
    evidence = facts(allowed={name: "t"}, results={name: CheckResult(0, "then", "", "sha256:old")})

    assert states(a_plan(Criterion("x", command=COMMAND)), evidence) == ["stale"]


@pytest.mark.parametrize("other", [("make", "tests"), ("make test",), ("make",), ("m", "aketest")])
def test_another_command_has_another_hash(other):
    assert command_hash(COMMAND) != command_hash(other)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("## One\ntext\n## Two\ntext\n", []),
        ("# one\n\n### deeper\n\ntext\n# TWO #\nx", []),
        ("## One\n## Two\n", ["has no text under 'One', 'Two'"]),
        ("One\ntext\n## Two\nx", ["has no heading 'One'"]),
        ("```\n## One\n```\n## Two\nx", ["has no heading 'One'"]),
        ("## One\n<!--\n text\n-->\n## Two\nx", ["has no text under 'One'"]),
        ("##One\nx\n## Two\nx", ["has no heading 'One'"]),
        ("", ["has no heading 'One', 'Two'"]),
    ],
)
def test_a_requirements_document_needs_text_under_each_heading(text, faults):
    assert heading_faults(text, ("One", "Two")) == faults


def test_all_blockers_are_reported_at_once():
    plan = a_plan(
        sections=(RequirementSection("One", "pending"), RequirementSection("Two", "complete")),
        modules=(BARE,),
    )

    assert review_blockers(plan, facts()) == [
        "NEEDS.md has no heading 'Two'",
        "requirement 'One' is pending",
        "module 'a' has no acceptance criteria",
    ]
