"""`fairlead planning approve`: acceptance cases 25 to 31 of the Plan Phase, and what they imply."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead.records.exec_read import read_exec
from fairlead.records.plan_read import read_plan
from tests.conftest import Fairlead, Outcome
from tests.support.approvals import (
    EXEC,
    MODULES,
    PLAN,
    PLAN_ID,
    REQUIREMENTS,
    module_id,
    plan_text,
    put_plan,
)
from tests.support.gh import ScriptedGh
from tests.support.trees import documents, read_tree

QUICK = '{"fairlead": {"github_seconds": 1}}'


class Desk:
    """A plan that is ready, and a scripted gh."""

    def __init__(self, fairlead: Fairlead, folder: Path) -> None:
        self._fairlead = fairlead
        self.folder = folder / "project"
        self.plan = put_plan(self.folder)
        self.exec = self.folder / EXEC
        self.gh = ScriptedGh.put(folder / "gh")
        self.path = self.gh.path

    def approve(self, *options: str) -> Outcome:
        return self._fairlead(
            "planning", "approve", *options, cwd=self.folder, env=self.surroundings
        )

    def run(self, *words: str) -> Outcome:
        return self._fairlead(*words, cwd=self.folder, env=self.surroundings)

    @property
    def surroundings(self) -> dict[str, str]:
        return {"PATH": self.path, "FAIRLEAD_NOW": "2026-01-02T04:00:00Z"}

    @property
    def issues(self) -> list[str]:
        return [module.issue for module in read_plan(self.plan.read_text("utf-8")).modules]

    @property
    def is_approved(self) -> bool:
        return read_plan(self.plan.read_text("utf-8")).is_approved


@pytest.fixture
def desk(fairlead: Fairlead, tmp_path: Path) -> Desk:
    return Desk(fairlead, tmp_path)


def of(done: Outcome) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.get("exit_code", 0) == done.exit_code
    return found


def test_case_25_a_ready_plan_gets_issues_an_exec_file_and_a_seal(desk: Desk) -> None:
    before = desk.plan.read_text("utf-8")

    done = desk.approve("--json")

    assert done.exit_code == 0, done.stderr
    plan, execution = (
        read_plan(desk.plan.read_text("utf-8")),
        read_exec(desk.exec.read_text("utf-8")),
    )
    assert desk.issues == ["#41", "#42", "#43"]
    assert (plan.status, plan.is_complete) == ("approved", True)
    assert plan.approved_hash == of(done)["approved_hash"] != ""
    assert (execution.plan_id, execution.status) == (PLAN_ID, "ready")
    assert [(each.id, each.status, each.issue) for each in execution.modules] == [
        (module_id(name), "pending", f"#{41 + at}") for at, name in enumerate(MODULES)
    ]
    assert desk.run("exec", "status").exit_code == 0
    after = desk.plan.read_text("utf-8")
    kept = [line for line in before.splitlines() if line in after.splitlines()]
    assert len(before.splitlines()) - len(kept) == 5  # three numbers, the status, the flag


def test_case_25_a_plan_that_is_ready_but_not_reviewed_is_approved_too(desk: Desk) -> None:
    desk.plan.write_text(plan_text(status="drafting"), "utf-8")

    assert desk.approve().exit_code == 0
    assert desk.is_approved


def test_case_26_what_failed_at_the_second_issue_goes_on_there(desk: Desk) -> None:
    desk.gh.has("fails-at 2")
    failed = desk.approve("--json")

    assert failed.exit_code == 5
    assert "HTTP 502" in of(failed)["error"]["message"]
    assert "issues made: auth-core; still without: user-management" in of(failed)["error"]["hint"]
    assert (desk.issues, desk.is_approved, desk.exec.exists()) == (["#41", "", ""], False, False)

    desk.gh.has("")
    assert desk.approve().exit_code == 0
    assert (desk.issues, len(desk.gh.issues()), desk.is_approved) == (
        ["#41", "#42", "#43"],
        3,
        True,
    )


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("not-logged-in", "gh is not logged in"),
        ("hangs", "did not answer in time"),
        ("hangs-at-create", "did not answer in time"),
        ("odd-list", "'<html>' is not understood"),
        ("silent", "'done' is not understood"),
    ],
)
def test_case_27_a_gh_that_fails_is_named_with_its_cause_and_nothing_is_sealed(
    desk: Desk, fault: str, said: str
) -> None:
    (desk.folder / ".planning").mkdir()
    (desk.folder / ".planning" / "config.json").write_text(QUICK, "utf-8")
    desk.gh.has(fault)
    done = desk.approve()

    assert (done.exit_code, desk.is_approved, desk.exec.exists()) == (5, False, False)
    assert said in done.stderr

    desk.gh.has("")
    assert desk.approve().exit_code == 0
    assert len(desk.gh.issues()) == len(MODULES)


def test_case_27_a_missing_gh_is_named_with_the_way_without_it(desk: Desk) -> None:
    desk.path = "/nowhere"
    done = desk.approve()

    assert (done.exit_code, desk.is_approved) == (5, False)
    assert "gh is not on PATH" in done.stderr
    assert "--skip-issues" in done.stderr


def test_case_27_an_unknown_label_is_left_out_and_told(desk: Desk) -> None:
    desk.gh.has("no-label priority-high")
    done = desk.approve("--json")

    assert (done.exit_code, desk.issues) == (0, ["#41", "#42", "#43"])
    assert of(done)["notes"] == ["the repository has no label priority-high; it was left out"]
    assert "no label priority-high" in done.stderr


def test_case_28_a_kill_between_the_issue_and_its_number_makes_no_second_issue(desk: Desk) -> None:
    desk.gh.has("kills-its-parent")
    assert desk.approve().exit_code == -9
    assert (desk.issues, len(desk.gh.issues())) == (["", "", ""], 1)

    desk.gh.has("")
    done = desk.approve("--json")

    assert (done.exit_code, desk.issues) == (0, ["#41", "#42", "#43"])
    assert [each["made"] for each in of(done)["issues"]] == ["found", "now", "now"]
    assert len(desk.gh.issues()) == 3


def test_case_28_an_issue_that_is_still_on_its_way_is_waited_for(desk: Desk) -> None:
    """The first gh lives on and makes its issue a second after the approval was killed."""
    desk.gh.has("late")
    assert desk.approve().exit_code == -9

    desk.gh.has("")
    done = desk.approve("--json")

    assert (done.exit_code, len(desk.gh.issues())) == (0, 3)
    assert [each["made"] for each in of(done)["issues"]] == ["found", "now", "now"]


def test_case_28_the_intent_is_on_disk_before_gh_is_asked(desk: Desk) -> None:
    desk.gh.has("fails-at 1")
    assert desk.approve().exit_code == 5
    assert "making_issue: auth-core" in desk.plan.read_text("utf-8")

    desk.gh.has("")
    done = desk.approve()

    assert "an earlier run stopped before the issue of auth-core was made" in done.stderr
    assert "making_issue" not in desk.plan.read_text("utf-8")


def test_case_29_a_dry_run_asks_nobody_and_writes_nothing(desk: Desk) -> None:
    before = read_tree(desk.folder)
    done = desk.approve("--dry-run")

    assert done.exit_code == 0
    assert (read_tree(desk.folder), desk.gh.calls()) == (before, [])
    assert all(name in done.stdout for name in MODULES)


def test_case_30_without_issues_the_waiver_is_recorded_and_nobody_is_asked(desk: Desk) -> None:
    done = desk.approve("--skip-issues", "--json")

    plan = read_plan(desk.plan.read_text("utf-8"))
    assert (done.exit_code, desk.gh.calls(), plan.is_approved) == (0, [], True)
    assert plan.issues_waived == "2026-01-02T04:00:00+00:00"
    assert {each["made"] for each in of(done)["issues"]} == {"waived"}


def test_case_31_an_approved_plan_is_not_approved_again(desk: Desk) -> None:
    assert desk.approve().exit_code == 0
    assert desk.run("exec", "register", "human", "ada").exit_code == 0
    before = documents(read_tree(desk.folder))

    again = desk.approve("--json")

    assert (again.exit_code, of(again)["error"]["code"]) == (4, "already-approved")
    assert documents(read_tree(desk.folder)) == before


def test_a_later_edit_voids_the_approval_visibly(desk: Desk) -> None:
    assert desk.approve().exit_code == 0
    text = desk.plan.read_text("utf-8")
    desk.plan.write_text(text.replace("Auth Core works", "Auth Core shines"), "utf-8")

    again = desk.approve()

    assert again.exit_code == 4
    assert "changed since, which voids the approval" in again.stderr


@pytest.mark.parametrize("document", [PLAN, REQUIREMENTS])
def test_everything_that_is_missing_is_listed_at_once_and_nothing_is_written(
    desk: Desk, document: str
) -> None:
    text = plan_text().replace('acceptance_criteria: "Auth Core works"', 'acceptance_criteria: ""')
    text = text.replace('    status: "complete"', '    status: "pending"')
    text = text.replace("exit_criteria:\n", 'exit_criteria:\n  - "Legal has agreed"\n')
    desk.plan.write_text(text, "utf-8")
    if document == REQUIREMENTS:
        (desk.folder / REQUIREMENTS).write_text("\n", "utf-8")
    before = read_tree(desk.folder)

    done = desk.approve()

    assert (done.exit_code, read_tree(desk.folder), desk.gh.calls()) == (6, before, [])
    wanted = ["'auth-core' has no acceptance criteria", "'Functional Requirements' is pending"]
    wanted += ["Legal has agreed: a person has to confirm it"]
    wanted += ["USER_REQUIREMENTS.md is empty"] if document == REQUIREMENTS else []
    assert [each for each in wanted if each not in done.stderr] == []


def test_the_exec_file_of_another_plan_is_refused_before_anybody_is_asked(desk: Desk) -> None:
    assert desk.approve().exit_code == 0
    desk.plan.write_text(plan_text(plan="plan-20260203-000000"), "utf-8")
    asked = len(desk.gh.calls())

    done = desk.approve()

    assert (done.exit_code, len(desk.gh.calls())) == (4, asked)
    assert f"belongs to {PLAN_ID}" in done.stderr


def test_a_plan_approved_again_keeps_the_work_and_adds_what_is_new(desk: Desk) -> None:
    assert desk.approve().exit_code == 0
    assert desk.run("exec", "complete", "auth-core").exit_code == 0
    text = plan_text((*MODULES[:2], "Search"))
    for number, name in enumerate(MODULES[:2], 41):
        old = f'"{name} works"\n    github_issue: null'
        text = text.replace(old, f'"{name} works"\n    github_issue: "#{number}"')
    desk.plan.write_text(text, "utf-8")

    done = desk.approve()

    execution = read_exec(desk.exec.read_text("utf-8"))
    assert done.exit_code == 0, done.stderr
    assert [(each.id, each.status, each.issue) for each in execution.modules] == [
        ("auth-core", "complete", "#41"),
        ("user-management", "pending", "#42"),
        ("audit-log", "pending", "#43"),
        ("search", "pending", "#44"),
    ]
    assert "audit-log is no longer in the plan" in done.stderr


def test_approved_modules_become_phases_once(desk: Desk, fairlead: Fairlead) -> None:
    assert fairlead("init", "Sample", "--yes", cwd=desk.folder).exit_code == 0

    first = desk.approve("--to-roadmap", "--json")
    roadmap = (desk.folder / ".planning" / "ROADMAP.md").read_text("utf-8")
    again = desk.approve("--to-roadmap", "--json")

    assert (first.exit_code, again.exit_code) == (0, 0), first.stderr + again.stderr
    assert (of(first)["phases_added"], of(again)["phases_added"]) == (list(MODULES), [])
    assert (desk.folder / ".planning" / "ROADMAP.md").read_text("utf-8") == roadmap
    names = [each["name"] for each in of(desk.run("phase", "list", "--json"))["phases"]]
    assert names[-3:] == list(MODULES)


def test_a_module_becomes_a_phase_once_whatever_its_name_looks_like(
    desk: Desk, fairlead: Fairlead
) -> None:
    assert fairlead("init", "Sample", "--yes", cwd=desk.folder).exit_code == 0
    text = plan_text(("One", "Two")).replace('name: "Two"', 'name: "One"')
    desk.plan.write_text(text.replace('name: "One"', 'name: "a [b](c) `d`"', 1), "utf-8")
    assert desk.approve("--skip-issues", "--to-roadmap").exit_code == 0

    again = desk.approve("--to-roadmap", "--json")

    assert (again.exit_code, of(again)["phases_added"]) == (0, [])
    modules = read_exec(desk.exec.read_text("utf-8")).modules
    assert [module.phase for module in modules] == ["2", "3"]


def test_without_a_project_there_is_no_roadmap_to_add_to(desk: Desk) -> None:
    done = desk.approve("--to-roadmap", "--skip-issues")

    assert (done.exit_code, desk.is_approved) == (2, False)


def test_a_name_full_of_marks_comes_back_as_itself(desk: Desk) -> None:
    name = "a --- b # 'q' $(x) `y` status: approved 🚀 -- -x"
    desk.plan.write_text(
        plan_text((name,)).replace(f'id: "{module_id(name)}"', 'id: "a-b"'), "utf-8"
    )

    assert desk.approve().exit_code == 0
    assert desk.gh.issues()[0]["title"] == f"[Module] {name}"
    assert read_exec(desk.exec.read_text("utf-8")).modules[0].name == name
