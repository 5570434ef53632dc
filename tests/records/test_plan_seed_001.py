"""Every row of the tables of the Plan Phase's format, each a named case.

The rows of approval stand with the approval; those of the commands with the acceptance cases.
"""

import pytest

from fairlead.errors import PlanField, PlanTransition
from fairlead.model import planning
from fairlead.model.planning import next_status
from fairlead.records import plan_file
from fairlead.records.plan_file import Wanted
from fairlead.records.plan_read import read_plan
from fairlead.text.document import Document
from tests.support.plans import FRESH, REDUMPED


def field(text, name):
    """What the reader makes of one field, as text."""
    plan = read_plan(text)
    return {
        "phase": "planning",  # the only value: any other is refused
        "plan_id": plan.plan_id,
        "status": plan.status,
        "created_at": plan.created_at,
        "goal": plan.goal,
        "goal_locked": plan.is_goal_locked,
        "requirements_file": plan.requirements_file,
        "requirements_complete": all(each.status == "complete" for each in plan.sections),
        "requirements_sections": [each.name for each in plan.sections],
        "modules": [each.id for each in plan.modules],
        "plan_phase_complete": plan.is_complete,
        "exit_criteria": [each.text for each in plan.criteria],
    }[name]


FIELDS = {
    "phase": ("planning", 'phase: "planning"', 'phase: "orchestration"'),
    "plan_id": ("plan-20260109-143022", 'plan_id: "plan-20260109-143022"', "plan_id:"),
    "status": ("drafting", 'status: "drafting"', 'status: "complete"'),
    "created_at": (
        "2026-01-09T14:30:22.535810+00:00",
        'created_at: "2026-01-09T14:30:22.535810+00:00"',
        "created_at: [2026]",
    ),
    "goal": (
        "Build a REST API for user management",
        'goal: "Build a REST API for user management"',
        'goal: " "',
    ),
    "goal_locked": (True, "goal_locked: true", "goal_locked: maybe"),
    "requirements_file": (
        "USER_REQUIREMENTS.md",
        'requirements_file: "USER_REQUIREMENTS.md"',
        "requirements_file: {}",
    ),
    "requirements_complete": (False, "requirements_complete: false", "requirements_complete: 0"),
    "requirements_sections": (
        list(planning.DEFAULT_SECTIONS),
        "requirements_sections:\n",
        "requirements_sections: x\nold:\n",
    ),
    "modules": (["auth-core", "user-mgmt"], "modules:\n", "modules: 1\nold:\n"),
    "plan_phase_complete": (
        False,
        "plan_phase_complete: false",
        'plan_phase_complete: "false"',
    ),
    "exit_criteria": (
        list(planning.DEFAULT_CRITERIA),
        "exit_criteria:\n",
        "exit_criteria: all\nold:\n",
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_4_3_a_field_is_read(name):
    assert field(FRESH, name) == FIELDS[name][0]


@pytest.mark.parametrize("name", FIELDS)
def test_4_3_a_field_of_another_kind_is_refused_by_name_and_line(name):
    _, right, wrong = FIELDS[name]
    assert right in FRESH

    with pytest.raises(PlanField) as caught:
        read_plan(FRESH.replace(right, wrong, 1))
    assert (caught.value.field, caught.value.line) == (
        name,
        FRESH[: FRESH.index(right)].count("\n") + 1,
    )


@pytest.mark.parametrize("status", ["drafting", "reviewing", "approved"])
def test_4_3_each_status_is_read(status):
    assert read_plan(FRESH.replace('"drafting"', f'"{status}"')).status == status


@pytest.mark.parametrize(
    ("status", "event", "after"),
    [
        ("drafting", "edit", "drafting"),
        ("drafting", "review", "reviewing"),
        ("drafting", "approve", None),
        ("reviewing", "edit", "drafting"),
        ("reviewing", "review", "reviewing"),
        ("reviewing", "approve", "approved"),
        ("approved", "edit", None),
        ("approved", "review", None),
        ("approved", "approve", None),
        ("drafting", "reset --reopen", "drafting"),
        ("reviewing", "reset --reopen", "drafting"),
        ("approved", "reset --reopen", "drafting"),
    ],
)
def test_4_3_every_transition_is_a_row_and_no_other_is_taken(status, event, after):
    if after:
        assert next_status(status, event) == after
        return
    with pytest.raises(PlanTransition, match=f"{status} cannot take {event}"):
        next_status(status, event)


@pytest.mark.parametrize(
    ("spelled", "status"),
    [
        ("pending", "pending"),
        ("in_progress", "in_progress"),
        ("in-progress", "in_progress"),
        ("complete", "complete"),
    ],
)
def test_4_4_each_status_of_a_section_is_read_and_set(spelled, status):
    text = FRESH.replace('status: "pending"', f'status: "{spelled}"', 1)
    assert read_plan(text).sections[0].status == status

    document = Document(FRESH.replace("in_progress", spelled))
    changed = plan_file.modify_section(document, "Architecture Design", Wanted(status=status))
    held = read_plan(changed.text).sections[2].status
    assert held == status


@pytest.mark.parametrize("key", ["name", "status"])
def test_4_4_a_section_has_both_fields(key):
    broken = FRESH.replace('name: "Functional Requirements"', "name: []", 1)
    broken = broken if key == "name" else FRESH.replace('status: "pending"', "status: []", 1)

    with pytest.raises(PlanField, match=rf"requirements_sections\.0\.{key} is a list"):
        read_plan(broken)


MODULE_FIELDS = {
    "id": ('id: "auth-core"', lambda module: module.id, "auth-core"),
    "name": ('name: "Auth Core"', lambda module: module.name, "Auth Core"),
    "status": ('status: "planned"', lambda module: module.status, "planned"),
    "priority": ('priority: "high"', lambda module: module.priority, "high"),
    "acceptance_criteria": (
        'acceptance_criteria: "Support JWT token authentication"',
        lambda module: module.criteria,
        "Support JWT token authentication",
    ),
    "github_issue": ("github_issue: null", lambda module: module.issue, ""),
}


@pytest.mark.parametrize("key", MODULE_FIELDS)
def test_4_5_a_field_of_a_module_is_read(key):
    _, read, value = MODULE_FIELDS[key]

    assert read(read_plan(FRESH).modules[0]) == value


@pytest.mark.parametrize("key", MODULE_FIELDS)
def test_4_5_a_field_of_a_module_of_another_kind_is_refused_with_its_line(key):
    written = MODULE_FIELDS[key][0]
    with pytest.raises(PlanField) as caught:
        read_plan(FRESH.replace(written, f"{key}: {{a: b}}", 1))

    assert caught.value.field == f"modules.0.{key}"
    assert caught.value.line == FRESH[: FRESH.index(written)].count("\n") + 1


def test_4_5_the_line_is_right_in_a_list_that_is_not_indented():
    with pytest.raises(PlanField) as caught:
        read_plan(REDUMPED.replace("priority: medium", "priority: none"))

    line = REDUMPED[: REDUMPED.index("priority: medium")].count("\n") + 1
    assert (caught.value.field, caught.value.line) == ("modules.1.priority", line)


@pytest.mark.parametrize("status", ["planned", "pending", "in_progress", "complete"])
def test_4_5_each_status_of_a_module_is_set(status):
    changed = plan_file.modify_module(Document(FRESH), "auth-core", Wanted(status=status))

    assert read_plan(changed.text).modules[0].status == status


@pytest.mark.parametrize("priority", ["critical", "high", "medium", "low"])
def test_4_5_each_priority_is_set(priority):
    changed = plan_file.modify_module(Document(FRESH), "auth-core", Wanted(priority=priority))

    assert read_plan(changed.text).modules[0].priority == priority


def test_4_5_medium_is_the_default_priority():
    changed = plan_file.add_module(Document(FRESH), "New", Wanted())

    assert read_plan(changed.text).modules[-1].priority == "medium"


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("OAuth2 Handler", "oauth2-handler"),
        ("UPPER", "upper"),
        ("a  _ b", "a-b"),
        ("--edge--", "edge"),
        ("Café Zoë", "caf-zo"),
        ("日本語", "module-3"),
        ("...", "module-3"),
    ],
)
def test_4_5_an_id_follows_from_the_name(name, identifier):
    assert plan_file.module_id(name, read_plan(FRESH)) == identifier


@pytest.mark.parametrize("at", range(4))
def test_4_6_each_default_criterion_is_read_from_the_file(at):
    text = planning.DEFAULT_CRITERIA[at]

    assert read_plan(FRESH).criteria[at].text == text
    kept = [each.text for each in read_plan(FRESH.replace(f'  - "{text}"\n', "")).criteria]
    assert text not in kept


def test_4_7_a_fence_is_only_a_line_of_its_own():
    text = FRESH.replace("Support JWT", "a --- b").replace("# Exit Criteria", "# --- no fence")

    assert read_plan(text).modules[0].criteria.startswith("a --- b")


@pytest.mark.parametrize(
    "change",
    [
        lambda document: plan_file.add_section(document, "More"),
        lambda document: plan_file.add_module(document, "More", Wanted()),
        lambda document: plan_file.modify_module(document, "auth-core", Wanted(criteria="x")),
        lambda document: plan_file.remove_module(document, "auth-core", force=False),
    ],
)
def test_4_8_an_update_preserves_the_body(change):
    body = "\n---\n\n# Body \n\n status: approved\n\n\n"
    changed = change(Document(FRESH + body))

    assert changed.text.endswith(FRESH.rpartition("---\n")[2] + body)


@pytest.mark.parametrize("status", ["drafting", "reviewing"])
def test_an_edit_moves_a_reviewed_plan_back_to_drafting(status):
    document = Document(FRESH.replace('"drafting"', f'"{status}"'))
    changed = plan_file.modify_module(document, "auth-core", Wanted(priority="low"))
    same = plan_file.modify_module(document, "auth-core", Wanted(priority="high"))

    assert read_plan(changed.text).status == "drafting"
    assert same.text == document.text


def test_completing_the_last_section_completes_the_requirements_and_back():
    document = Document(FRESH)
    for name in planning.DEFAULT_SECTIONS:
        document = plan_file.modify_section(document, name, Wanted(status="complete"))
    assert "requirements_complete: true" in document.text

    document = plan_file.add_section(document, "More")
    assert "requirements_complete: false" in document.text
