"""Seed 001, one test per statement of statements.txt: the Plan Phase file."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairlead.interfaces.hooks.message import HookMessage
from fairlead.interfaces.hooks.stop import stop_response
from tests.conftest import Fairlead, Outcome
from tests.support.gh import ScriptedGh
from tests.support.plan_files import message

SECTIONS = ("Functional Requirements", "Non-Functional Requirements", "Architecture Design")
CRITERIA = (
    "USER_REQUIREMENTS.md complete",
    "All modules defined with acceptance criteria",
    "GitHub Issues created for all modules",
    "User approved the plan",
)
PLAN_ID = re.compile(r"plan-\d{8}-\d{6}")


class PlanProject:
    """A folder with a Plan Phase, used through the command line, and a scripted `gh`."""

    def __init__(self, folder: Path, fairlead: Fairlead) -> None:
        self.folder = folder
        self.file = folder / ".claude/orchestrator-plan-phase.local.md"
        self.exec_file = folder / ".claude/orchestrator-exec-phase.local.md"
        self.gh = ScriptedGh.put(folder.parent / "gh")
        self._fairlead = fairlead

    def call(self, *words: str) -> Outcome:
        """Run a planning command."""
        return self._fairlead("planning", *words, cwd=self.folder, env={"PATH": self.gh.path})

    def run(self, *words: str) -> str:
        """Run a planning command that succeeds."""
        outcome = self.call(*words)
        assert outcome.exit_code == 0, outcome.stderr
        return outcome.stdout

    def refuses(self, *words: str) -> str:
        """Run a planning command that is refused, and that changes nothing."""
        before = self.text
        outcome = self.call(*words)
        assert outcome.exit_code in (2, 3, 4, 6), outcome
        assert self.text == before
        return outcome.stderr

    @property
    def text(self) -> str:
        return self.file.read_text("utf-8")

    @text.setter
    def text(self, text: str) -> None:
        self.file.write_text(text, "utf-8")

    @property
    def body(self) -> str:
        return self.text.split("\n---\n", 1)[1]

    def field(self, name: str) -> Any:
        """A field of the frontmatter, as a plain YAML reader sees it."""
        return yaml.safe_load(self.text.split("---\n")[1])[name]

    def edit(self, old: str, new: str) -> None:
        """Edit the file by hand."""
        assert old in self.text
        self.text = self.text.replace(old, new, 1)

    def make_ready(self) -> None:
        """Complete everything that a review needs."""
        self.run("add", "module", "Auth Core", "--criteria", "Support JWT")
        for section in SECTIONS:
            self.run("modify", "requirement", section, "--status", "complete")
        lines = "".join(f"## {section}\n\nIt works.\n\n" for section in SECTIONS)
        (self.folder / "USER_REQUIREMENTS.md").write_text(f"# Requirements\n\n{lines}", "utf-8")

    def approve(self) -> None:
        """Review and approve the plan."""
        self.make_ready()
        self.run("review")
        self.run("approve")

    @property
    def is_held(self) -> bool:
        """Whether the stop hook keeps the session at work because of the plan itself."""
        response = stop_response(HookMessage(message(self.folder)), dict(os.environ))
        members = {key: json.loads(value) for key, value in response.members}
        # After the approval the modules hold the session until they are complete.
        is_about_modules = "The work on plan" in members.get("reason", "")
        return members.get("decision") == "block" and not is_about_modules


@pytest.fixture
def plan(tmp_path: Path, fairlead: Fairlead) -> PlanProject:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / ".git").mkdir()  # only a folder in git needs an ignore rule
    project = PlanProject(folder, fairlead)
    project.run("start", "Build a REST API")
    return project


# --- location and purpose ----------------------------------------------------------------------


def test_001_01_the_file_is_in_the_claude_folder(plan: PlanProject) -> None:
    assert plan.file.is_file()


def test_001_02_it_holds_the_state_of_the_plan_phase(plan: PlanProject) -> None:
    shown = json.loads(plan.run("status", "--json"))
    assert (shown["plan_id"], shown["status"]) == (plan.field("plan_id"), "drafting")


def test_001_03_it_stores_requirements_and_modules(plan: PlanProject) -> None:
    plan.run("add", "module", "Auth Core", "--criteria", "Support JWT")
    plan.run("add", "requirement", "Security")
    assert [module["name"] for module in plan.field("modules")] == ["Auth Core"]
    assert plan.field("requirements_sections")[-1]["name"] == "Security"


@pytest.mark.parametrize(
    "words",
    [
        ("add", "module", "API"),
        ("modify", "module", "auth-core", "--priority", "low"),
        ("remove", "module", "auth-core"),
    ],
)
def test_001_04_every_planning_command_works_on_it(
    plan: PlanProject, words: tuple[str, ...]
) -> None:
    plan.run("add", "module", "Auth Core", "--criteria", "Support JWT")
    before = plan.text
    plan.run(*words)
    assert plan.text != before


def test_001_05_it_lets_the_stop_hook_enforce_the_plan(plan: PlanProject) -> None:
    assert plan.is_held
    plan.approve()
    assert not plan.is_held


def test_001_06_it_is_ignored_by_git(plan: PlanProject) -> None:
    assert ".claude/orchestrator-*.local.md" in (plan.folder / ".gitignore").read_text("utf-8")


def test_001_07_it_is_markdown_with_yaml_frontmatter(plan: PlanProject) -> None:
    assert plan.text.startswith("---\n")
    assert plan.field("phase") == "planning"
    assert plan.body.lstrip().startswith("# Plan Phase: ")


def test_001_08_its_body_has_a_summary_and_instructions(plan: PlanProject) -> None:
    assert "Build a REST API" in plan.body
    assert "## Instructions" in plan.body


# --- the twelve fields -------------------------------------------------------------------------


def test_001_09_phase_is_planning(plan: PlanProject) -> None:
    assert plan.field("phase") == "planning"
    plan.edit('phase: "planning"', 'phase: "cooking"')
    plan.refuses("add", "module", "API")


@pytest.mark.parametrize("value", ["plan-2026-01", "my-plan", "plan-20260109-1430", ""])
def test_001_10_plan_id_has_date_and_time(plan: PlanProject, value: str) -> None:
    assert PLAN_ID.fullmatch(plan.field("plan_id"))
    plan.edit(f'plan_id: "{plan.field("plan_id")}"', f'plan_id: "{value}"')
    plan.refuses("add", "module", "API")


@pytest.mark.parametrize("value", ["done", "DRAFTING", ""])
def test_001_11_status_is_one_of_three(plan: PlanProject, value: str) -> None:
    plan.edit('status: "drafting"', f'status: "{value}"')
    plan.refuses("add", "module", "API")


@pytest.mark.parametrize("value", ["yesterday", "2026-13-45"])
def test_001_12_created_at_is_an_iso_date(plan: PlanProject, value: str) -> None:
    plan.edit(f'created_at: "{plan.field("created_at")}"', f'created_at: "{value}"')
    plan.refuses("add", "module", "API")


def test_001_13_goal_is_not_empty(plan: PlanProject) -> None:
    plan.edit('goal: "Build a REST API"', 'goal: ""')
    plan.refuses("add", "module", "API")


def test_001_14_goal_locked_is_a_boolean(plan: PlanProject) -> None:
    assert plan.field("goal_locked") is True
    plan.refuses("modify", "goal", "Another goal")
    plan.edit("goal_locked: true", "goal_locked: maybe")
    plan.refuses("add", "module", "API")


def test_001_15_requirements_file_is_a_path_with_a_default(plan: PlanProject) -> None:
    assert plan.field("requirements_file") == "USER_REQUIREMENTS.md"


def test_001_16_requirements_complete_is_a_boolean(plan: PlanProject) -> None:
    assert plan.field("requirements_complete") is False
    plan.edit("requirements_complete: false", "requirements_complete: nearly")
    plan.refuses("add", "module", "API")


def test_001_17_requirements_sections_is_a_list(plan: PlanProject) -> None:
    assert [section["name"] for section in plan.field("requirements_sections")] == [*SECTIONS]


def test_001_18_modules_is_a_list(plan: PlanProject) -> None:
    assert plan.field("modules") == []
    plan.edit("modules: []", 'modules: "none"')
    plan.refuses("add", "module", "API")


def test_001_19_plan_phase_complete_is_a_boolean(plan: PlanProject) -> None:
    assert plan.field("plan_phase_complete") is False
    plan.edit("plan_phase_complete: false", "plan_phase_complete: soon")
    plan.refuses("add", "module", "API")


def test_001_20_exit_criteria_is_a_list(plan: PlanProject) -> None:
    assert plan.field("exit_criteria") == [*CRITERIA]


# --- transitions -------------------------------------------------------------------------------


def test_001_21_a_plan_goes_from_drafting_over_reviewing_to_approved(plan: PlanProject) -> None:
    seen = [plan.field("status")]
    plan.make_ready()
    plan.run("review")
    seen.append(plan.field("status"))
    plan.run("approve")
    assert [*seen, plan.field("status")] == ["drafting", "reviewing", "approved"]


def test_001_22_the_review_is_not_skipped(plan: PlanProject) -> None:
    """Ruling "drafting → reviewing → approved": approve follows review."""
    plan.make_ready()
    assert "review" in plan.refuses("approve")


def test_001_23_an_edit_moves_back_to_drafting(plan: PlanProject) -> None:
    """Ruling "drafting → reviewing → approved": an edit moves back to drafting."""
    plan.make_ready()
    plan.run("review")
    plan.run("modify", "module", "auth-core", "--priority", "low")
    assert plan.field("status") == "drafting"


# --- requirement sections ----------------------------------------------------------------------


def test_001_24_a_section_has_a_name_and_a_status(plan: PlanProject) -> None:
    plan.run("add", "requirement", "Security")
    assert plan.field("requirements_sections")[-1] == {"name": "Security", "status": "pending"}
    plan.edit('name: "Functional Requirements"', 'other: "Functional Requirements"')
    plan.refuses("add", "module", "API")


@pytest.mark.parametrize("status", ["pending", "in_progress", "complete"])
def test_001_25_a_section_is_pending_in_progress_or_complete(
    plan: PlanProject, status: str
) -> None:
    plan.run("modify", "requirement", SECTIONS[0], "--status", "in_progress")
    plan.run("modify", "requirement", SECTIONS[0], "--status", status)
    assert plan.field("requirements_sections")[0]["status"] == status


def test_001_26_no_other_status_of_a_section_is_read(plan: PlanProject) -> None:
    plan.edit('status: "pending"', 'status: "half"')
    plan.refuses("add", "module", "API")


def test_001_27_both_spellings_of_in_progress_are_read(plan: PlanProject) -> None:
    """Ruling "`in_progress` or `in-progress`": both are read, the file's spelling is kept."""
    plan.edit('status: "pending"', 'status: "in-progress"')
    plan.run("add", "module", "API")
    assert plan.field("requirements_sections")[0]["status"] == "in-progress"


def test_001_28_a_new_plan_has_three_sections(plan: PlanProject) -> None:
    found = [(each["name"], each["status"]) for each in plan.field("requirements_sections")]
    assert found == [(section, "pending") for section in SECTIONS]


# --- modules -----------------------------------------------------------------------------------


def module_of(plan: PlanProject) -> dict[str, Any]:
    [module] = plan.field("modules")
    assert isinstance(module, dict)
    return module


def test_001_29_a_module_has_id_name_status_and_priority(plan: PlanProject) -> None:
    plan.run("add", "module", "Auth Core")
    module = module_of(plan)
    found = [module[key] for key in ("id", "name", "status", "priority")]
    assert found == ["auth-core", "Auth Core", "planned", "medium"]


@pytest.mark.parametrize("key", ["id", "name"])
def test_001_30_a_module_without_a_name_or_an_id_is_refused(plan: PlanProject, key: str) -> None:
    plan.run("add", "module", "Auth Core")
    plan.text = re.sub(rf"(?m)^(  [- ] ){key}:", rf"\1other_{key}:", plan.text)
    plan.refuses("add", "module", "API")


@pytest.mark.parametrize("value", ["Mod_One", "mod one", "-mod", ""])
def test_001_31_a_module_id_is_in_kebab_case(plan: PlanProject, value: str) -> None:
    plan.run("add", "module", "Auth Core")
    plan.text = re.sub(r"(?m)^(  - )id: .*$", rf'\1id: "{value}"', plan.text)
    plan.refuses("add", "module", "API")


def test_001_32_acceptance_criteria_are_recommended(plan: PlanProject) -> None:
    plan.run("add", "module", "Auth Core")
    assert "acceptance criteria" in plan.run("status")
    plan.run("modify", "module", "auth-core", "--criteria", "Support JWT")
    assert module_of(plan)["acceptance_criteria"] == "Support JWT"


def test_001_33_a_github_issue_is_null_or_a_number_with_its_sign(plan: PlanProject) -> None:
    plan.run("add", "module", "Auth Core")
    assert module_of(plan)["github_issue"] is None
    plan.edit("github_issue: null", 'github_issue: "#42"')
    plan.run("add", "module", "API")


@pytest.mark.parametrize("value", ["42", '"soon"', '"#"', '"#4x"'])
def test_001_34_any_other_github_issue_is_refused(plan: PlanProject, value: str) -> None:
    plan.run("add", "module", "Auth Core")
    plan.edit("github_issue: null", f"github_issue: {value}")
    plan.refuses("add", "module", "API")


@pytest.mark.parametrize("status", ["planned", "pending", "in_progress", "complete"])
def test_001_35_a_module_has_one_of_four_statuses(plan: PlanProject, status: str) -> None:
    plan.run("add", "module", "Auth Core")
    plan.run("modify", "module", "auth-core", "--status", "in_progress")
    plan.run("modify", "module", "auth-core", "--status", status)
    assert module_of(plan)["status"] == status


@pytest.mark.parametrize("priority", ["critical", "high", "medium", "low"])
def test_001_36_a_module_has_one_of_four_priorities(plan: PlanProject, priority: str) -> None:
    plan.run("add", "module", "Auth Core", "--priority", priority)
    assert module_of(plan)["priority"] == priority


def test_001_37_any_other_priority_is_refused(plan: PlanProject) -> None:
    plan.refuses("add", "module", "Auth Core", "--priority", "urgent")


def test_001_38_the_default_priority_is_medium(plan: PlanProject) -> None:
    plan.run("add", "module", "Auth Core")
    assert module_of(plan)["priority"] == "medium"


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("OAuth2 Handler", "oauth2-handler"),
        ("AUTH", "auth"),
        ("a_b.c", "a-b-c"),
        ("--A & B--", "a-b"),
    ],
)
def test_001_39_an_id_is_the_name_in_lower_case_with_hyphens(
    plan: PlanProject, name: str, id_: str
) -> None:
    plan.run("add", "module", "--", name)
    assert module_of(plan)["id"] == id_


# --- exit criteria -----------------------------------------------------------------------------


def test_001_40_a_new_plan_has_four_exit_criteria(plan: PlanProject) -> None:
    assert plan.field("exit_criteria") == [*CRITERIA]


def test_001_41_the_status_shows_every_exit_criterion(plan: PlanProject) -> None:
    page = plan.run("status")
    assert [text for text in CRITERIA if text not in page] == []


def test_001_42_the_stop_hook_goes_by_the_exit_criteria(plan: PlanProject) -> None:
    """Ruling "Exit criteria are prose": all of them are read from the file."""
    plan.approve()
    assert not plan.is_held
    plan.edit(f'  - "{CRITERIA[3]}"', f'  - "{CRITERIA[3]}"\n  - "A person has seen it"')
    assert plan.is_held


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plan_phase_complete: false", "plan_phase_complete: true"),
        ('status: "drafting"', 'status: "approved"'),
    ],
)
def test_001_43_an_edited_field_does_not_release_the_session(
    plan: PlanProject, old: str, new: str
) -> None:
    plan.edit(old, new)
    assert plan.is_held


# --- reading -----------------------------------------------------------------------------------


def test_001_44_without_a_file_there_is_no_plan(plan: PlanProject) -> None:
    plan.file.unlink()
    assert plan.call("status").exit_code != 0
    assert not plan.is_held


def test_001_45_a_file_without_an_opening_delimiter_is_not_a_plan(plan: PlanProject) -> None:
    plan.text = f"# note\n{plan.text}"
    plan.refuses("add", "module", "API")


def test_001_46_an_unclosed_frontmatter_is_refused(plan: PlanProject) -> None:
    plan.text = plan.text.split("\n---\n", 1)[0] + "\n"
    plan.refuses("add", "module", "API")


def test_001_47_the_frontmatter_ends_at_a_line_of_three_dashes(plan: PlanProject) -> None:
    """Ruling "Frontmatter ends at the first `---` anywhere": only a line that is exactly that."""
    plan.edit('goal: "Build a REST API"', 'goal: "Build --- a REST API"')
    plan.run("add", "module", "API")
    assert json.loads(plan.run("status", "--json"))["goal"] == "Build --- a REST API"


def test_001_48_invalid_yaml_is_refused_with_its_place(plan: PlanProject) -> None:
    plan.edit('goal: "Build a REST API"', 'goal: "Build')
    assert re.search(r"local\.md:\d+", plan.refuses("add", "module", "API"))


# --- lifecycle ---------------------------------------------------------------------------------


def test_001_49_a_second_start_is_refused(plan: PlanProject) -> None:
    plan.refuses("start", "Something else")


def test_001_50_the_plan_id_comes_from_the_time(plan: PlanProject) -> None:
    day = plan.field("created_at")[:10].replace("-", "")
    assert plan.field("plan_id").startswith(f"plan-{day}-")


def test_001_51_a_new_plan_is_a_draft_with_defaults(plan: PlanProject) -> None:
    names = ("status", "goal_locked", "requirements_complete", "modules", "plan_phase_complete")
    assert [plan.field(name) for name in names] == ["drafting", True, False, [], False]


def test_001_52_an_update_preserves_the_body(plan: PlanProject) -> None:
    plan.text += "\nA note of a person.\n"
    before = plan.body
    plan.run("add", "module", "Auth Core")
    plan.run("modify", "requirement", SECTIONS[0], "--status", "complete")
    assert plan.body == before


def test_001_53_an_update_changes_only_its_part(plan: PlanProject) -> None:
    before = plan.text
    plan.run("modify", "requirement", SECTIONS[1], "--status", "complete")
    changed = [
        (old, new)
        for old, new in zip(before.splitlines(), plan.text.splitlines(), strict=True)
        if old != new
    ]
    assert changed == [('    status: "pending"', '    status: "complete"')]


def test_001_54_approval_validates_the_exit_criteria(plan: PlanProject) -> None:
    plan.make_ready()
    plan.run("review")
    (plan.folder / "USER_REQUIREMENTS.md").unlink()
    assert "USER_REQUIREMENTS.md" in plan.refuses("approve")
    assert plan.gh.issues() == []


def test_001_55_approval_creates_an_issue_per_module(plan: PlanProject) -> None:
    plan.approve()
    assert len(plan.gh.issues()) == 1


def test_001_56_approval_stores_the_issue_of_each_module(plan: PlanProject) -> None:
    plan.approve()
    assert re.fullmatch(r"#\d+", module_of(plan)["github_issue"])


def test_001_57_approval_sets_the_status(plan: PlanProject) -> None:
    plan.approve()
    assert plan.field("status") == "approved"


def test_001_58_approval_completes_the_plan_phase(plan: PlanProject) -> None:
    plan.approve()
    assert plan.field("plan_phase_complete") is True


def test_001_59_approval_creates_the_file_of_the_execution(plan: PlanProject) -> None:
    plan.approve()
    assert plan.exec_file.is_file()


def test_001_60_the_file_of_the_execution_refers_to_the_plan(plan: PlanProject) -> None:
    plan.approve()
    assert plan.field("plan_id") in plan.exec_file.read_text("utf-8")


def test_001_61_the_plan_stays_as_a_record_after_its_approval(plan: PlanProject) -> None:
    plan.approve()
    assert plan.file.is_file()
    assert plan.run("status")
