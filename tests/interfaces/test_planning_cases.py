"""The acceptance cases of the Plan Phase, by their numbers, through the command line."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from fairlead.interfaces.cli.main import run
from fairlead.planphase.documents import read_plan
from tests.conftest import Fairlead
from tests.support.plans import (
    FRESH,
    GENERATIONS,
    HOSTILE,
    PLAN,
    SECTIONS,
    requirements,
    write_plan,
)

MODULE = {"id", "name", "status", "priority", "acceptance_criteria", "github_issue"}


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str


class Folder:
    """A folder in which planning commands are run."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self._capsys = capsys

    def __call__(self, *words: str) -> CommandResult:
        code = run(["-C", str(self.path), "planning", *words])
        result = self._capsys.readouterr()
        assert "Traceback" not in result.err
        return CommandResult(code, result.out, result.err)

    def status(self) -> dict[str, Any]:
        result = self("status", "--json")
        assert result.code == 0, result.err
        return json.loads(result.out)

    @property
    def text(self) -> str:
        return (self.path / PLAN).read_bytes().decode()

    def write(self, text: str | bytes) -> None:
        write_plan(self.path, text)

    def make_ready(self) -> None:
        """Meet every criterion except issues and approval."""
        (self.path / "USER_REQUIREMENTS.md").write_text(requirements(*SECTIONS), "utf-8")
        for name in SECTIONS:
            assert self("modify", "requirement", name, "--status", "complete").code == 0
        assert self("add", "module", "Auth Core", "-c", "JWT works").code == 0


@pytest.fixture
def empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Folder:
    return Folder(tmp_path, capsys)


@pytest.fixture
def plan(empty: Folder) -> Folder:
    assert empty("start", "Build it").code == 0
    return empty


# --- starting ----------------------------------------------------------------------------


def test_case_01_start_writes_every_field_and_a_body_with_the_goal(empty: Folder):
    result = empty("start", "Build a REST API")

    front = yaml.safe_load(empty.text.split("---\n")[1])
    assert result.code == 0
    assert re.fullmatch(r"plan-\d{8}-\d{6}", front.pop("plan_id"))
    assert front.pop("created_at").endswith("+00:00")
    assert front == {
        "phase": "planning",
        "status": "drafting",
        "goal": "Build a REST API",
        "goal_locked": True,
        "requirements_file": "USER_REQUIREMENTS.md",
        "requirements_complete": False,
        "requirements_sections": [{"name": name, "status": "pending"} for name in SECTIONS],
        "modules": [],
        "plan_phase_complete": False,
        "exit_criteria": [
            "USER_REQUIREMENTS.md complete",
            "All modules defined with acceptance criteria",
            "GitHub Issues created for all modules",
            "User approved the plan",
        ],
    }
    assert "\n## Goal\n\nBuild a REST API\n" in empty.text


def test_start_keeps_the_plan_out_of_git_and_shows_the_entry_first(empty: Folder):
    result = empty("start", "G")

    assert (empty.path / ".gitignore").read_text() == ".claude/orchestrator-*.local.md\n"
    assert "+.claude/orchestrator-*.local.md" in result.err


def test_start_keeps_a_git_ignore_that_covers_the_plan(empty: Folder):
    (empty.path / ".gitignore").write_bytes(b"/.claude/\r\nx")
    empty("start", "G")

    assert (empty.path / ".gitignore").read_bytes() == b"/.claude/\r\nx"


def test_case_02_start_refuses_to_overwrite(plan: Folder):
    before = plan.text
    result = plan("start", "H")

    assert (result.code, plan.text) == (4, before)
    assert "already active" in result.err


@pytest.mark.parametrize(
    ("goal", "why"), [((), "the goal is required"), (("",), "cannot be empty"), (("  ",), "empty")]
)
def test_case_03_start_needs_a_goal(empty: Folder, goal: tuple[str, ...], why: str):
    result = empty("start", *goal)

    assert (result.code, (empty.path / PLAN).exists()) == (2, False)
    assert why in result.err


# --- adding and modifying -------------------------------------------------------------------------------


def test_case_04_a_module_gets_its_id_from_its_name(plan: Folder):
    assert plan("add", "module", "OAuth2 Handler", "-c", "X", "-p", "high").code == 0
    (module,) = plan.status()["modules"]

    assert module == {
        "id": "oauth2-handler",
        "name": "OAuth2 Handler",
        "status": "planned",
        "priority": "high",
        "acceptance_criteria": "X",
        "github_issue": None,
    }


def test_case_05_an_equal_id_is_refused(plan: Folder):
    plan("add", "module", "OAuth2 Handler")
    before = plan.text
    result = plan("add", "module", "OAuth2_Handler")

    assert (result.code, plan.text) == (4, before)
    assert "'oauth2-handler' already exists" in result.err


def test_case_06_a_requirement_is_added_once(plan: Folder):
    assert plan("add", "requirement", "Safety").code == 0
    assert plan("add", "requirement", "Safety").code == 4


def test_a_requirement_keeps_the_criteria_and_the_priority_it_is_given(plan: Folder):
    assert plan("add", "requirement", "Safety", "-c", "No fire", "-p", "high").code == 0

    sections = yaml.safe_load(plan.text.split("---\n")[1])["requirements_sections"]
    assert sections[-1] == {
        "name": "Safety",
        "status": "pending",
        "priority": "high",
        "acceptance_criteria": "No fire",
    }


def test_case_07_modify_changes_only_what_was_named(plan: Folder):
    plan("add", "module", "A", "-p", "high", "-c", "one")
    plan("modify", "module", "a", "--criteria", "two")

    (module,) = plan.status()["modules"]
    assert (module["priority"], module["acceptance_criteria"]) == ("high", "two")


def test_case_08_the_default_priority_can_be_set(plan: Folder):
    plan("add", "module", "A", "-p", "high")
    plan("modify", "module", "a", "--priority", "medium")

    assert plan.status()["modules"][0]["priority"] == "medium"


def test_case_09_repeating_the_status_does_not_open_a_complete_module(plan: Folder):
    plan("add", "module", "A", "-c", "one")
    plan("modify", "module", "a", "--status", "complete")
    result = plan("modify", "module", "a", "--status", "complete", "--criteria", "Z")

    assert result.code == 4
    assert plan.status()["modules"][0]["acceptance_criteria"] == "one"


@pytest.mark.parametrize("text", HOSTILE)
def test_case_10_a_goal_round_trips_and_changes_nothing_else(empty: Folder, text: str):
    assert empty("start", "--", text).code == 0
    assert empty("add", "module", "A").code == 0

    report = empty.status()
    assert (report["goal"], report["status"], len(report["modules"])) == (text, "drafting", 1)
    assert not (empty.path / "planted").exists()
    assert yaml.safe_load(re.split(r"(?m)^---$", empty.text)[1])["goal"] == text


@pytest.mark.parametrize("text", HOSTILE)
def test_case_11_criteria_and_names_round_trip(plan: Folder, text: str):
    assert plan("add", "module", "-c", text, "--", f"A{text}").code == 0
    assert plan("add", "module", "Other").code == 0
    assert plan("add", "requirement", "--", text).code == 0

    report = plan.status()
    assert [module["name"] for module in report["modules"]] == [f"A{text}", "Other"]
    assert report["modules"][0]["acceptance_criteria"] == text
    assert report["requirements_sections"][-1]["name"] == text
    assert report["status"] == "drafting"


def test_case_12_only_the_bytes_of_the_named_field_change(empty: Folder):
    odd = FRESH.replace("\n", "\r\n").replace(
        "# Module Breakdown",
        "x-nested: {a: [1, {b: c}]}   # mine\r\nnotes: |\r\n  ---\r\n  status: approved\r\n# Breakdown",
    )
    odd = (
        odd.replace('priority: "high"', "priority:    'high'   # why")
        + "\r\n---\r\n  tail  \r\n\r\n"
    )
    empty.write(odd)

    assert empty("modify", "module", "auth-core", "-p", "low").code == 0
    assert empty.text == odd.replace("'high'", "'low'")


@pytest.mark.parametrize("name", ["日本語モジュール", "!!!", "Ω"])
def test_case_13_a_name_without_letters_gets_an_id_of_its_own(plan: Folder, name: str):
    plan("add", "module", "First")
    assert plan("add", "module", name).code == 0
    assert plan("add", "module", f"{name} {name}").code == 0

    assert [module["id"] for module in plan.status()["modules"]] == [
        "first",
        "module-2",
        "module-3",
    ]


def test_case_13_an_empty_name_is_refused(plan: Folder):
    assert plan("add", "module", "").code == 2
    assert plan.status()["modules"] == []


BAD = {
    "empty": (b"", "frontmatter is missing"),
    "no frontmatter": (b"# Plan\n", "frontmatter is missing"),
    "unclosed": (b"---\nphase: planning\n", "closed"),
    "empty frontmatter": (b"---\n---\n", "frontmatter is empty"),
    "tab indent": (b"---\ngoal: g\nmodules:\n\t- id: a\n---\n", "tab"),
    "unclosed quote": (b'---\ngoal: "g\n---\n', "closed"),
    "a list": (b"---\n- a\n---\n", ":2:"),
    "a scalar": (b"---\njust text\n---\n", ":2:"),
    "null modules": (
        FRESH.partition("modules:")[0].encode() + b"modules:\n---\n",
        "modules is null",
    ),
    "a map of modules": (
        FRESH.partition("modules:")[0].encode() + b"modules: {a: b}\n---\n",
        "a map",
    ),
    "modules as text": (
        FRESH.partition("modules:")[0].encode() + b"modules: many\n---\n",
        "'many'",
    ),
    "modules of text": (
        FRESH.partition("modules:")[0].encode() + b"modules: [a]\n---\n",
        "modules.0",
    ),
    "a module without id": (
        FRESH.replace('id: "auth-core"', 'nid: "x"').encode(),
        "modules.0.id is missing",
    ),
    "two modules of one id": (FRESH.replace("user-mgmt", "auth-core").encode(), "is used twice"),
    "a tag": (FRESH.replace('goal: "', 'goal: !!python/object:os.system "').encode(), ":8:"),
    "four dashes": (b"----\ngoal: g\n----\n", "frontmatter is missing"),
    "not UTF-8": (FRESH.encode() + b"\xff", "UTF-8"),
    "a merge conflict": (
        FRESH.replace("goal_locked: true", "<<<<<<< a\ngoal_locked: true").encode(),
        ":9:",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_case_14_a_bad_file_is_reported_and_left_unchanged(empty: Folder, name: str):
    content, cause = BAD[name]
    empty.write(content)

    for words in (("add", "module", "X"), ("status",), ("review",), ("release",)):
        result = empty(*words)
        assert result.code == 3, (words, result)
        assert PLAN in result.err
        assert cause in result.err
    assert (empty.path / PLAN).read_bytes() == content


@pytest.mark.parametrize(
    "text",
    [
        FRESH.replace("\n", "\r\n"),
        "\ufeff" + FRESH,
        re.sub(r"(?s)# Module Breakdown.*?# Exit", "# Exit", FRESH),
    ],
)
def test_case_14_line_endings_a_bom_and_missing_modules_are_accepted(empty: Folder, text: str):
    empty.write(text)

    assert empty("add", "module", "New").code == 0
    assert empty.status()["modules"][-1]["id"] == "new"


# --- concurrency ------------------------------------------------------------------------


def _at_once(commands: list[tuple[str, ...]], fairlead: Fairlead) -> list[int]:
    with ThreadPoolExecutor(len(commands)) as pool:
        return [done.exit_code for done in pool.map(lambda words: fairlead(*words), commands)]


def test_case_15_adds_at_once_are_all_kept(plan: Folder, installed: Fairlead):
    words: list[tuple[str, ...]] = [
        ("planning", "add", "module", f"Part {number}") for number in range(8)
    ]

    assert _at_once(words, installed) == [0] * 8
    assert {module["id"] for module in plan.status()["modules"]} == {f"part-{n}" for n in range(8)}


def test_case_16_of_four_starts_at_once_exactly_one_succeeds(empty: Folder, installed: Fairlead):
    codes = _at_once([("planning", "start", f"Goal {number}") for number in range(4)], installed)

    assert sorted(codes) == [0] + [4] * 3
    assert empty.status()["goal"] == f"Goal {codes.index(0)}"


# --- protection ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["in_progress", "complete"])
def test_case_18_a_module_that_is_worked_on_is_removed_only_by_force(plan: Folder, status: str):
    plan("add", "module", "A")
    plan("modify", "module", "a", "--status", status)

    assert plan("remove", "module", "a").code == 4
    assert plan("remove", "module", "a", "--force").code == 0
    assert plan.status()["modules"] == []


def test_case_18_a_module_with_an_issue_is_removed_only_by_force(empty: Folder):
    empty.write(FRESH)

    result = empty("remove", "module", "user-mgmt")
    assert (result.code, "#42" in result.err) == (4, True)
    assert empty("remove", "module", "user-mgmt", "--force").code == 0


def test_case_18_a_requirement_that_was_begun_is_removed_only_by_force(empty: Folder):
    empty.write(FRESH)

    assert empty("remove", "requirement", SECTIONS[1]).code == 4
    assert empty("remove", "requirement", SECTIONS[1], "-f").code == 0


@pytest.mark.parametrize("word", ["in_progress", "in-progress"])
def test_case_19_both_spellings_protect_a_module_and_are_kept(empty: Folder, word: str):
    empty.write(FRESH.replace('status: "planned"', f'status: "{word}"', 1))

    assert empty("remove", "module", "auth-core").code == 4
    assert empty("modify", "module", "auth-core", "-p", "low").code == 0
    assert f'status: "{word}"' in empty.text


APPROVED = FRESH.replace('status: "drafting"', 'status: "approved"').replace(
    "plan_phase_complete: false", "plan_phase_complete: true"
)


@pytest.mark.parametrize(
    "words",
    [
        ("add", "module", "X"),
        ("add", "requirement", "X"),
        ("modify", "module", "auth-core", "-p", "low"),
        ("modify", "goal", "X", "--unlock"),
        ("remove", "module", "auth-core"),
        ("review",),
    ],
)
def test_case_20_an_approved_plan_is_read_only_with_a_hint_to_reopen_it(
    empty: Folder, words: tuple[str, ...]
):
    empty.write(APPROVED)
    result = empty(*words)

    assert (result.code, empty.text) == (4, APPROVED)
    assert "reset --reopen" in result.err


def test_case_20_a_plan_that_an_older_tool_approved_is_read_only_too(empty: Folder):
    empty.write(FRESH.replace("plan_phase_complete: false", "plan_phase_complete: true"))

    assert empty("add", "module", "X").code == 4
    assert empty("review").code == 4


def test_an_approved_plan_is_opened_again_with_its_modules(empty: Folder):
    empty.write(APPROVED)

    assert empty("reset", "--reopen", "--confirm").code == 0
    assert empty.text == FRESH


# --- criteria ----------------------------------------------------------------------------


def test_case_21_without_issues_and_approval_two_criteria_are_met(plan: Folder):
    plan.make_ready()
    report = plan.status()

    assert [exit_criterion["state"] for exit_criterion in report["exit_criteria"]] == [
        "met",
        "met",
        "unmet",
        "unmet",
    ]
    assert all(exit_criterion["command"] for exit_criterion in report["exit_criteria"][2:])


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("plan_phase_complete: false", 'plan_phase_complete: "false"', "plan_phase_complete"),
        ('goal: "Build a REST API for user management"', "goal: [1]", "goal"),
        ('    status: "pending"', "    status: null", "requirements_sections.0.status"),
        ('priority: "high"', "priority: 1", "modules.0.priority"),
        ('"User approved the plan"', "[a]", "exit_criteria.3"),
    ],
)
def test_case_22_a_wrong_kind_is_named_with_its_field_and_line(
    empty: Folder, old: str, new: str, field: str
):
    text = FRESH.replace(old, new, 1)
    empty.write(text)
    result = empty("status", "-v")

    line = text[: text.index(new)].count("\n") + 1 + new.startswith(" ") * 0
    assert result.code == 3
    assert f"{PLAN}:{line}:1: {field} is" in result.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Support JWT token authentication"', "null"),
        ('"Support JWT token authentication"', "[one, two]"),
        ('goal: "Build a REST API for user management"', "goal: 42"),
    ],
)
def test_case_22_other_kinds_of_text_are_read(empty: Folder, old: str, new: str):
    empty.write(FRESH.replace(old, new, 1))

    assert empty("status", "-v").code == 0
    assert empty.status()["is_approved"] is False


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (None, "does not exist"),
        ("", "is empty"),
        (" \n\n", "is empty"),
        (requirements(*SECTIONS[:2]), f"no heading {SECTIONS[2]!r}"),
        (requirements(*SECTIONS) + "## More\n", ""),
        (requirements(*SECTIONS).replace("It holds.", "<!-- later\n -->", 1), "no text under"),
    ],
)
def test_case_23_the_requirements_document_is_judged_by_its_text(
    plan: Folder, document: str | None, why: str
):
    plan.make_ready()
    path = plan.path / "USER_REQUIREMENTS.md"
    path.unlink() if document is None else path.write_text(document, "utf-8")
    result = plan("review")

    assert result.code == (6 if why else 0)
    assert why in result.err


def test_case_23_another_requirements_file_is_the_one_that_counts(empty: Folder):
    (empty.path / "docs").mkdir()
    (empty.path / "docs" / "needs.md").write_text(requirements(*SECTIONS), "utf-8")
    assert empty("start", "G", "--requirements", "docs/needs.md").code == 0
    for name in SECTIONS:
        empty("modify", "requirement", name, "--status", "complete")

    first = empty.status()["exit_criteria"][0]
    assert (first["text"], first["state"]) == ("docs/needs.md complete", "met")


def test_case_23_a_requirements_file_outside_the_folder_is_not_read(empty: Folder):
    empty.write(FRESH.replace('file: "USER', 'file: "../USER'))

    assert "contains '..'" in empty.status()["exit_criteria"][0]["evidence"]


def test_case_24_all_open_criteria_are_listed_and_nothing_is_written(plan: Folder):
    plan("add", "module", "Bare")
    before = plan.text
    result = plan("review")

    assert (result.code, plan.text) == (6, before)
    for fault in ("no text under", "'Functional Requirements' is pending", "module 'bare' has no"):
        assert fault in result.err


def test_case_24_a_plan_without_modules_is_not_ready(plan: Folder):
    assert "no modules are defined" in plan("review").err


# --- reset and older files ----------------------------------------------------------------------------


def test_case_32_reset_needs_confirm_and_keeps_a_backup(plan: Folder):
    before = plan.text
    assert plan("reset").code == 2
    assert plan.text == before

    assert plan("reset", "--confirm").code == 0
    (backup,) = (plan.path / ".claude").glob("orchestrator-plan-phase.*.local.md")
    assert backup.read_bytes().decode() == before
    assert plan("status").code == 2
    assert plan("start", "Another").code == 0


def test_case_32_reset_without_backup_leaves_no_copy(plan: Folder):
    assert plan("reset", "--confirm", "--no-backup").code == 0
    assert [path.name for path in (plan.path / ".claude").iterdir()] == [".fairlead"]
    assert plan("reset", "--confirm").code == 0


@pytest.mark.parametrize("has_folder", [True, False])
def test_without_a_plan_nothing_is_changed_or_created(empty: Folder, has_folder: bool):
    if has_folder:
        (empty.path / ".claude").mkdir()
    result = empty("add", "module", "X")

    assert (result.code, "not in a Plan Phase" in result.err) == (2, True)
    assert not list(empty.path.glob(".claude/*"))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_case_38_files_of_every_version_are_read_without_loss(empty: Folder, generation: str):
    text = GENERATIONS[generation]
    empty.write(text)
    frontmatter = yaml.safe_load(text.split("---\n")[1])
    assert empty("add", "module", "New", "-c", "x").code == 0

    report = empty.status()
    assert report["goal"] == frontmatter["goal"]
    assert [set(module) for module in report["modules"]] == [MODULE] * len(report["modules"])
    again = yaml.safe_load(empty.text.split("---\n")[1])
    assert again["modules"].pop()["id"] == "new"
    assert again == frontmatter


@pytest.mark.parametrize("text", HOSTILE)
def test_case_38_any_dumped_text_is_read(text: str):
    long = f"{text} and so on, far beyond the eighty columns at which a dumper folds its lines"
    module = {"id": "a", "name": long, "acceptance_criteria": text}
    data = {
        "plan_id": "plan-20260109-143022",
        "status": "drafting",
        "goal": long,
        "modules": [module],
    }
    if "\u2028" in text:
        return  # refused by both readers, because others treat this character as a line break
    dumped = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    plan = read_plan(f"---\n{dumped}---\n")

    assert (plan.goal, plan.modules[0].name, plan.modules[0].criteria) == (long, long, text)
