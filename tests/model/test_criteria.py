"""Exit criteria are judged by what the file and the disk say, and by nothing else."""

import pytest

from fairlead.model.criteria import (
    Facts,
    Result,
    command_hash,
    content_hash,
    evaluate,
    unfilled,
    unready,
)
from fairlead.model.planning import (
    DEFAULT_CRITERIA,
    Confirmation,
    Criterion,
    Module,
    Plan,
    Section,
)


def a_plan(*criteria: Criterion, **fields: object) -> Plan:
    plan = Plan("plan-1", "drafting", "Goal")
    plan.requirements_file = "NEEDS.md"
    plan.sections = (Section("One", "complete"),)
    plan.modules = (Module("a", "A", "planned", "high", "It works", "#1"),)
    plan.criteria = criteria or tuple(Criterion(text) for text in DEFAULT_CRITERIA)
    plan.content = "content"
    for name, value in fields.items():
        setattr(plan, name, value)
    return plan


def facts(**fields: object) -> Facts:
    found = Facts()
    found.requirements = "# Needs\n\n## One\n\nText.\n"
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def states(plan: Plan, found: Facts | None = None) -> list[str]:
    return [each.state for each in evaluate(plan, found or facts())]


BARE = Module("a", "A", "planned", "high", " ", "")
NEW = Module("b", "B", "planned", "low", "x", "")


@pytest.mark.parametrize(
    ("at", "state", "fields"),
    [
        (0, "met", {}),
        (0, "unmet", {"sections": ()}),
        (0, "unmet", {"sections": (Section("One", "pending"),)}),
        (0, "unmet", {"sections": (Section("Two", "complete"),)}),
        (1, "met", {}),
        (1, "unmet", {"modules": ()}),
        (1, "unmet", {"modules": (BARE,)}),
        (2, "met", {}),
        (2, "unmet", {"modules": ()}),
        (2, "unmet", {"modules": (NEW,)}),
        (2, "met", {"modules": (NEW,), "issues_waived": "2026-01-01"}),
        (2, "unmet", {"modules": (), "issues_waived": "2026-01-01"}),
        (3, "unmet", {}),
        (3, "unmet", {"status": "approved"}),
        (3, "met", {"is_complete": True}),
        (3, "stale", {"is_complete": True, "approved_hash": "sha256:other"}),
    ],
)
def test_a_default_criterion_is_judged_by_code(at, state, fields):
    judged = evaluate(a_plan(**fields), facts())[at]

    assert (judged.state, bool(judged.command)) == (state, state != "met")
    assert judged.evidence


@pytest.mark.parametrize("text", ["user approved  the PLAN", "User approved the plan"])
def test_a_default_is_known_by_its_text_wherever_it_stands(text):
    assert states(a_plan(Criterion("Mine"), Criterion(text), is_complete=True)) == ["unmet", "met"]


def test_the_requirements_criterion_may_name_the_file_of_the_plan():
    assert states(a_plan(Criterion("NEEDS.md complete"))) == ["met"]


def test_approval_holds_for_one_content_only():
    plan = a_plan(is_complete=True)
    plan.approved_hash = content_hash(plan, facts().requirements)
    assert states(plan)[3] == "met"

    plan.content += " "
    assert states(plan)[3] == "stale"


def test_approval_holds_for_one_requirements_document_only():
    plan = a_plan(is_complete=True)
    plan.approved_hash = content_hash(plan, facts().requirements)

    assert states(plan, facts(requirements="# Needs\n\n## One\n\nOther.\n"))[3] == "stale"


@pytest.mark.parametrize(
    ("confirmed", "state"),
    [((), "unmet"), (("Mine", True), "met"), (("Mine", False), "stale"), (("My", True), "unmet")],
)
def test_a_text_is_met_by_a_person_who_saw_this_content(confirmed, state):
    plan = a_plan(Criterion("Mine"))
    if confirmed:
        text, is_current = confirmed
        content = content_hash(plan, facts().requirements) if is_current else "sha256:old"
        plan.confirmations = (Confirmation(text, content, "then"),)

    assert states(plan) == [state]


@pytest.mark.parametrize(
    ("fault", "state"), [("", "met"), ("does not exist", "unmet"), ("is empty", "unmet")]
)
def test_a_file_is_met_when_it_holds_something(fault, state):
    assert states(a_plan(Criterion("x", file="a.md")), facts(faults={"a.md": fault})) == [state]


def test_a_file_that_nobody_looked_at_is_unmet():
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
def test_a_command_is_met_by_its_last_recorded_result_alone(is_allowed, code, head, state):
    plan = a_plan(Criterion("x", command=COMMAND))
    name = command_hash(COMMAND)
    content = content_hash(plan, facts().requirements)
    results = {} if code is None else {name: Result(code, "then", head, content)}
    found = facts(head="abc", allowed={name: "then"} if is_allowed else {}, results=results)

    assert states(plan, found) == [state]


def test_a_command_for_another_content_of_the_plan_is_stale():
    name = command_hash(COMMAND)
    found = facts(allowed={name: "t"}, results={name: Result(0, "then", "", "sha256:old")})

    assert states(a_plan(Criterion("x", command=COMMAND)), found) == ["stale"]


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
def test_a_requirements_document_has_text_under_each_heading(text, faults):
    assert unfilled(text, ("One", "Two")) == faults


def test_everything_that_is_not_ready_is_told_at_once():
    plan = a_plan(sections=(Section("One", "pending"), Section("Two", "complete")), modules=(BARE,))

    assert unready(plan, facts()) == [
        "NEEDS.md has no heading 'Two'",
        "requirement 'One' is pending",
        "module 'a' has no acceptance criteria",
    ]
