"""The format of the plan file: every row of the tables of seed 001 is a named test case.

The numbers in the names are sections of the seed. The cases of approval and of the commands are
in `tests/interfaces`.
"""

from random import Random

import pytest

from fairlead.planphase import model, plan_edits
from fairlead.planphase.documents import read_plan
from fairlead.planphase.errors import PlanField, PlanTransition
from fairlead.planphase.model import next_status
from fairlead.planphase.plan_edits import PartEdit
from fairlead.text.document import Document
from tests.support.plans import FRESH, REDUMPED, a_mutated_plan, examine_plan


def field(text, name):
    """Read one field."""
    plan = read_plan(text)
    return {
        "phase": "planning",  # the only value: any other is refused
        "plan_id": plan.plan_id,
        "status": plan.status,
        "created_at": plan.created_at,
        "goal": plan.goal,
        "goal_locked": plan.is_goal_locked,
        "requirements_file": plan.requirements_file,
        "requirements_complete": all(section.status == "complete" for section in plan.sections),
        "requirements_sections": [section.name for section in plan.sections],
        "modules": [module.id for module in plan.modules],
        "plan_phase_complete": plan.is_complete,
        "exit_criteria": [criterion.text for criterion in plan.criteria],
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
        list(model.DEFAULT_SECTIONS),
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
        list(model.DEFAULT_CRITERIA),
        "exit_criteria:\n",
        "exit_criteria: all\nold:\n",
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_4_3_a_field_is_read(name):
    assert field(FRESH, name) == FIELDS[name][0]


@pytest.mark.parametrize("name", FIELDS)
def test_4_3_a_field_of_the_wrong_type_is_refused_with_name_and_line(name):
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
def test_4_3_only_the_listed_transitions_are_allowed(status, event, after):
    if after:
        assert next_status(status, event) == after
        return
    with pytest.raises(PlanTransition, match=f"{event} is not possible: the plan is {status}"):
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
    changed = plan_edits.modify_section(document, "Architecture Design", PartEdit(status=status))
    assert read_plan(changed.text).sections[2].status == status


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
def test_4_5_a_module_field_of_the_wrong_type_is_refused_with_its_line(key):
    written = MODULE_FIELDS[key][0]
    with pytest.raises(PlanField) as caught:
        read_plan(FRESH.replace(written, f"{key}: {{a: b}}", 1))

    assert caught.value.field == f"modules.0.{key}"
    assert caught.value.line == FRESH[: FRESH.index(written)].count("\n") + 1


def test_4_5_the_line_is_right_in_an_unindented_list():
    with pytest.raises(PlanField) as caught:
        read_plan(REDUMPED.replace("priority: medium", "priority: none"))

    line = REDUMPED[: REDUMPED.index("priority: medium")].count("\n") + 1
    assert (caught.value.field, caught.value.line) == ("modules.1.priority", line)


@pytest.mark.parametrize("status", ["planned", "pending", "in_progress", "complete"])
def test_4_5_each_status_of_a_module_is_set(status):
    changed = plan_edits.modify_module(Document(FRESH), "auth-core", PartEdit(status=status))

    assert read_plan(changed.text).modules[0].status == status


@pytest.mark.parametrize("priority", ["critical", "high", "medium", "low"])
def test_4_5_each_priority_is_set(priority):
    changed = plan_edits.modify_module(Document(FRESH), "auth-core", PartEdit(priority=priority))

    assert read_plan(changed.text).modules[0].priority == priority


def test_4_5_medium_is_the_default_priority():
    changed = plan_edits.add_module(Document(FRESH), "New", PartEdit())

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
def test_4_5_an_id_is_derived_from_the_name(name, identifier):
    assert plan_edits.module_id(name, read_plan(FRESH)) == identifier


@pytest.mark.parametrize("at", range(4))
def test_4_6_each_default_criterion_is_read_from_the_file(at):
    text = model.DEFAULT_CRITERIA[at]

    assert read_plan(FRESH).criteria[at].text == text
    kept = [
        criterion.text for criterion in read_plan(FRESH.replace(f'  - "{text}"\n', "")).criteria
    ]
    assert text not in kept


def test_4_7_only_a_line_of_its_own_ends_the_frontmatter():
    text = FRESH.replace("Support JWT", "a --- b").replace("# Exit Criteria", "# --- no fence")

    assert read_plan(text).modules[0].criteria.startswith("a --- b")


@pytest.mark.parametrize(
    "change",
    [
        lambda document: plan_edits.add_section(document, "More"),
        lambda document: plan_edits.add_module(document, "More", PartEdit()),
        lambda document: plan_edits.modify_module(document, "auth-core", PartEdit(criteria="x")),
        lambda document: plan_edits.remove_module(document, "auth-core", force=False),
    ],
)
def test_4_8_an_update_preserves_the_body(change):
    body = "\n---\n\n# Body \n\n status: approved\n\n\n"
    changed = change(Document(FRESH + body))

    assert changed.text.endswith(FRESH.rpartition("---\n")[2] + body)


@pytest.mark.parametrize("status", ["drafting", "reviewing"])
def test_an_edit_moves_a_reviewed_plan_back_to_drafting(status):
    document = Document(FRESH.replace('"drafting"', f'"{status}"'))
    changed = plan_edits.modify_module(document, "auth-core", PartEdit(priority="low"))
    same = plan_edits.modify_module(document, "auth-core", PartEdit(priority="high"))

    assert read_plan(changed.text).status == "drafting"
    assert same.text == document.text


def test_completing_the_last_section_completes_the_requirements_and_back():
    document = Document(FRESH)
    for name in model.DEFAULT_SECTIONS:
        document = plan_edits.modify_section(document, name, PartEdit(status="complete"))
    assert "requirements_complete: true" in document.text

    document = plan_edits.add_section(document, "More")
    assert "requirements_complete: false" in document.text


def test_a_damaged_plan_is_read_and_edited_correctly_or_refused_with_a_line():
    random = Random(4)
    faults = [fault for _ in range(400) for fault in examine_plan(a_mutated_plan(random), random)]

    assert faults == []


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("plan-20260109-143022", "plan-2026-01", "plan_id"),
        ("plan-20260109-143022", "plan-20261309-143022", "plan_id"),
        ("plan-20260109-143022", "plan-20260109-143022-1", "plan_id"),
        ("plan-20260109-143022", "plan-２０260109-143022", "plan_id"),
        ("2026-01-09T14:30:22.535810+00:00", "yesterday", "created_at"),
        ("2026-01-09T14:30:22.535810+00:00", "2026-01-09", "created_at"),
        ("2026-01-09T14:30:22.535810+00:00", "2026-13-09T14:30:22Z", "created_at"),
        ('id: "auth-core"', 'id: "Mod_One"', "modules.0.id"),
        ('id: "auth-core"', 'id: "auth--core"', "modules.0.id"),
        ('id: "auth-core"', 'id: "-auth"', "modules.0.id"),
        ('id: "auth-core"', 'id: "../auth"', "modules.0.id"),
        ("github_issue: null", "github_issue: 42", "modules.0.github_issue"),
        ("github_issue: null", 'github_issue: "soon"', "modules.0.github_issue"),
        ("github_issue: null", 'github_issue: "#0"', "modules.0.github_issue"),
        ("github_issue: null", 'github_issue: "#4 2"', "modules.0.github_issue"),
        ("github_issue: null", 'github_issue: "#"', "modules.0.github_issue"),
    ],
)
def test_an_id_a_date_or_an_issue_number_of_another_form_is_refused(old, new, field):
    assert old in FRESH
    with pytest.raises(PlanField) as caught:
        read_plan(FRESH.replace(old, new, 1))
    assert caught.value.field == field


@pytest.mark.parametrize(
    "moment",
    [
        "2026-01-09T14:30:22Z",
        "2026-01-09 14:30:22+01:00",
        "2026-01-09T14:30",
        "2026-12-31T23:59:60Z",
    ],
)
def test_a_date_in_another_form_of_iso_8601_is_read(moment):
    assert read_plan(FRESH.replace("2026-01-09T14:30:22.535810+00:00", moment)).created_at == moment
