"""`fairlead planning approve`: acceptance cases 25 to 31 of the Plan Phase, and related cases."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead.planphase.documents import read_exec, read_plan
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


class PlanFolder:
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
            "planning", "approve", *options, cwd=self.folder, env=self.environment
        )

    def run(self, *words: str) -> Outcome:
        return self._fairlead(*words, cwd=self.folder, env=self.environment)

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": self.path, "FAIRLEAD_NOW": "2026-01-02T04:00:00Z"}

    @property
    def issues(self) -> list[str]:
        return [module.issue for module in read_plan(self.plan.read_text("utf-8")).modules]

    @property
    def is_approved(self) -> bool:
        return read_plan(self.plan.read_text("utf-8")).is_approved


@pytest.fixture
def planning(fairlead: Fairlead, tmp_path: Path) -> PlanFolder:
    return PlanFolder(fairlead, tmp_path)


@pytest.fixture
def child_planning(installed: Fairlead, tmp_path: Path) -> PlanFolder:
    """The same with the installed program, because its gh kills the process that started it."""
    return PlanFolder(installed, tmp_path)


def of(done: Outcome) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(done.stdout)
    assert document.get("exit_code", 0) == done.exit_code
    return document


def test_case_25_a_ready_plan_gets_issues_an_exec_file_and_a_seal(planning: PlanFolder) -> None:
    before = planning.plan.read_text("utf-8")

    done = planning.approve("--json")

    assert done.exit_code == 0, done.stderr
    plan, execution = (
        read_plan(planning.plan.read_text("utf-8")),
        read_exec(planning.exec.read_text("utf-8")),
    )
    assert planning.issues == ["#41", "#42", "#43"]
    assert (plan.status, plan.is_complete) == ("approved", True)
    assert plan.approved_hash == of(done)["approved_hash"] != ""
    assert (execution.plan_id, execution.status) == (PLAN_ID, "ready")
    assert [(module.id, module.status, module.issue) for module in execution.modules] == [
        (module_id(name), "pending", f"#{41 + at}") for at, name in enumerate(MODULES)
    ]
    assert planning.run("exec", "status").exit_code == 0
    after = planning.plan.read_text("utf-8")
    kept = [line for line in before.splitlines() if line in after.splitlines()]
    assert len(before.splitlines()) - len(kept) == 5  # three numbers, the status, the flag


def test_a_plan_that_is_ready_but_not_reviewed_is_not_approved(planning: PlanFolder) -> None:
    planning.plan.write_text(plan_text(status="drafting"), "utf-8")

    refused = planning.approve()

    assert refused.exit_code == 4
    assert "approve is not possible: the plan is drafting" in refused.stderr
    assert not planning.is_approved
    assert planning.run("planning", "review").exit_code == 0
    assert planning.approve().exit_code == 0
    assert planning.is_approved


def test_case_26_an_approval_that_failed_at_the_second_issue_resumes_there(
    planning: PlanFolder,
) -> None:
    planning.gh.has("fails-at 2")
    failed = planning.approve("--json")

    assert failed.exit_code == 5
    assert "HTTP 502" in of(failed)["error"]["message"]
    hint = of(failed)["error"]["hint"]
    assert hint.index("auth-core") < hint.index("user-management")
    assert (planning.issues, planning.is_approved, planning.exec.exists()) == (
        ["#41", "", ""],
        False,
        False,
    )

    planning.gh.has("")
    assert planning.approve().exit_code == 0
    assert (planning.issues, len(planning.gh.issues()), planning.is_approved) == (
        ["#41", "#42", "#43"],
        3,
        True,
    )


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("not-logged-in", "gh is not logged in"),
        ("hangs", "did not answer in time"),
        ("hangs-at-create", "did not answer in time"),
        ("odd-list", "'<html>'"),
        ("silent", "'done'"),
    ],
)
def test_case_27_a_failing_gh_is_reported_with_its_error_and_nothing_is_sealed(
    planning: PlanFolder, fault: str, message: str
) -> None:
    (planning.folder / ".planning").mkdir()
    (planning.folder / ".planning" / "config.json").write_text(QUICK, "utf-8")
    planning.gh.has(fault)
    done = planning.approve()

    assert (done.exit_code, planning.is_approved, planning.exec.exists()) == (5, False, False)
    assert message in done.stderr

    planning.gh.has("")
    assert planning.approve().exit_code == 0
    assert len(planning.gh.issues()) == len(MODULES)


def test_case_27_a_missing_gh_is_reported_with_the_skip_option(planning: PlanFolder) -> None:
    planning.path = "/nowhere"
    done = planning.approve()

    assert (done.exit_code, planning.is_approved) == (5, False)
    assert "gh is not on PATH" in done.stderr
    assert "--skip-issues" in done.stderr


def test_case_27_an_unknown_label_is_omitted_and_reported(planning: PlanFolder) -> None:
    planning.gh.has("no-label priority-high")
    done = planning.approve("--json")

    assert (done.exit_code, planning.issues) == (0, ["#41", "#42", "#43"])
    assert of(done)["notes"] == ["the repository has no label priority-high; it was left out"]
    assert "no label priority-high" in done.stderr


def test_case_28_a_kill_before_the_issue_number_is_stored_creates_no_second_issue(
    child_planning: PlanFolder,
) -> None:
    child_planning.gh.has("kills-its-parent")
    assert child_planning.approve().exit_code == -9
    assert (child_planning.issues, len(child_planning.gh.issues())) == (["", "", ""], 1)

    child_planning.gh.has("")
    done = child_planning.approve("--json")

    assert (done.exit_code, child_planning.issues) == (0, ["#41", "#42", "#43"])
    assert [issue["made"] for issue in of(done)["issues"]] == ["found", "now", "now"]
    assert len(child_planning.gh.issues()) == 3


def test_case_28_approval_waits_for_an_issue_that_is_being_created(
    child_planning: PlanFolder,
) -> None:
    """The first gh survives the killed approval and creates its issue a second later."""
    child_planning.gh.has("late")
    assert child_planning.approve().exit_code == -9

    child_planning.gh.has("")
    done = child_planning.approve("--json")

    assert (done.exit_code, len(child_planning.gh.issues())) == (0, 3)
    assert [issue["made"] for issue in of(done)["issues"]] == ["found", "now", "now"]


def test_case_28_the_intent_is_on_disk_before_gh_runs(planning: PlanFolder) -> None:
    planning.gh.has("fails-at 1")
    assert planning.approve().exit_code == 5
    assert "making_issue: auth-core" in planning.plan.read_text("utf-8")

    planning.gh.has("")
    done = planning.approve()

    assert "an earlier run stopped before the issue of auth-core" in done.stderr
    assert "making_issue" not in planning.plan.read_text("utf-8")


def test_case_29_a_dry_run_calls_no_gh_and_writes_nothing(planning: PlanFolder) -> None:
    before = read_tree(planning.folder)
    done = planning.approve("--dry-run")

    assert done.exit_code == 0
    assert (read_tree(planning.folder), planning.gh.calls()) == (before, [])
    assert all(name in done.stdout for name in MODULES)


def test_case_30_skipping_issues_records_a_waiver_and_calls_no_gh(planning: PlanFolder) -> None:
    done = planning.approve("--skip-issues", "--json")

    plan = read_plan(planning.plan.read_text("utf-8"))
    assert (done.exit_code, planning.gh.calls(), plan.is_approved) == (0, [], True)
    assert plan.issues_waived == "2026-01-02T04:00:00+00:00"
    assert {issue["made"] for issue in of(done)["issues"]} == {"waived"}


def test_case_31_an_approved_plan_is_not_approved_again(planning: PlanFolder) -> None:
    assert planning.approve().exit_code == 0
    assert planning.run("exec", "register", "human", "ada").exit_code == 0
    before = documents(read_tree(planning.folder))

    again = planning.approve("--json")

    assert (again.exit_code, of(again)["error"]["code"]) == (4, "already-approved")
    assert documents(read_tree(planning.folder)) == before


def test_a_later_edit_voids_the_approval_and_status_shows_it(planning: PlanFolder) -> None:
    assert planning.approve().exit_code == 0
    text = planning.plan.read_text("utf-8")
    planning.plan.write_text(text.replace("Auth Core works", "Auth Core shines"), "utf-8")

    again = planning.approve()

    assert again.exit_code == 4
    assert "marked as approved, but the plan changed after its approval" in again.stderr


@pytest.mark.parametrize("document", [PLAN, REQUIREMENTS])
def test_all_missing_parts_are_listed_and_nothing_is_written(
    planning: PlanFolder, document: str
) -> None:
    text = plan_text().replace('acceptance_criteria: "Auth Core works"', 'acceptance_criteria: ""')
    text = text.replace('    status: "complete"', '    status: "pending"')
    text = text.replace("exit_criteria:\n", 'exit_criteria:\n  - "Legal has agreed"\n')
    planning.plan.write_text(text, "utf-8")
    if document == REQUIREMENTS:
        (planning.folder / REQUIREMENTS).write_text("\n", "utf-8")
    before = read_tree(planning.folder)

    done = planning.approve()

    assert (done.exit_code, read_tree(planning.folder), planning.gh.calls()) == (6, before, [])
    missing = ["'auth-core' has no acceptance criteria", "'Functional Requirements' is pending"]
    missing += ["Legal has agreed: "]
    missing += ["USER_REQUIREMENTS.md is empty"] if document == REQUIREMENTS else []
    assert [text for text in missing if text not in done.stderr] == []


def test_the_exec_file_of_another_plan_is_refused_before_gh_runs(planning: PlanFolder) -> None:
    assert planning.approve().exit_code == 0
    planning.plan.write_text(plan_text(plan="plan-20260203-000000"), "utf-8")
    asked = len(planning.gh.calls())

    done = planning.approve()

    assert (done.exit_code, len(planning.gh.calls())) == (4, asked)
    assert f"belongs to {PLAN_ID}" in done.stderr


def test_approving_again_keeps_the_work_and_adds_new_modules(planning: PlanFolder) -> None:
    assert planning.approve().exit_code == 0
    assert planning.run("exec", "complete", "auth-core").exit_code == 0
    text = plan_text((*MODULES[:2], "Search"))
    for number, name in enumerate(MODULES[:2], 41):
        old = f'"{name} works"\n    github_issue: null'
        text = text.replace(old, f'"{name} works"\n    github_issue: "#{number}"')
    planning.plan.write_text(text, "utf-8")

    done = planning.approve()

    execution = read_exec(planning.exec.read_text("utf-8"))
    assert done.exit_code == 0, done.stderr
    assert [(module.id, module.status, module.issue) for module in execution.modules] == [
        ("auth-core", "complete", "#41"),
        ("user-management", "pending", "#42"),
        ("audit-log", "pending", "#43"),
        ("search", "pending", "#44"),
    ]
    assert "audit-log is no longer in the plan" in done.stderr


def test_approved_modules_become_phases_once(planning: PlanFolder, fairlead: Fairlead) -> None:
    assert fairlead("init", "Sample", "--yes", cwd=planning.folder).exit_code == 0

    first = planning.approve("--to-roadmap", "--json")
    roadmap = (planning.folder / ".planning" / "ROADMAP.md").read_text("utf-8")
    again = planning.approve("--to-roadmap", "--json")

    assert (first.exit_code, again.exit_code) == (0, 0), first.stderr + again.stderr
    assert (of(first)["phases_added"], of(again)["phases_added"]) == (list(MODULES), [])
    assert (planning.folder / ".planning" / "ROADMAP.md").read_text("utf-8") == roadmap
    names = [phase["name"] for phase in of(planning.run("phase", "list", "--json"))["phases"]]
    assert names[-3:] == list(MODULES)


def test_a_module_with_any_name_becomes_one_phase(planning: PlanFolder, fairlead: Fairlead) -> None:
    assert fairlead("init", "Sample", "--yes", cwd=planning.folder).exit_code == 0
    text = plan_text(("One", "Two")).replace('name: "Two"', 'name: "One"')
    planning.plan.write_text(text.replace('name: "One"', 'name: "a [b](c) `d`"', 1), "utf-8")
    assert planning.approve("--skip-issues", "--to-roadmap").exit_code == 0

    again = planning.approve("--to-roadmap", "--json")

    assert (again.exit_code, of(again)["phases_added"]) == (0, [])
    modules = read_exec(planning.exec.read_text("utf-8")).modules
    assert [module.phase for module in modules] == ["2", "3"]


def test_without_a_project_there_is_no_roadmap_to_add_to(planning: PlanFolder) -> None:
    done = planning.approve("--to-roadmap", "--skip-issues")

    assert (done.exit_code, planning.is_approved) == (2, False)


def test_a_name_with_markup_survives_approval(planning: PlanFolder) -> None:
    name = "a --- b # 'q' $(x) `y` status: approved 🚀 -- -x"
    planning.plan.write_text(
        plan_text((name,)).replace(f'id: "{module_id(name)}"', 'id: "a-b"'), "utf-8"
    )

    assert planning.approve().exit_code == 0
    assert planning.gh.issues()[0]["title"] == f"[Module] {name}"
    assert read_exec(planning.exec.read_text("utf-8")).modules[0].name == name
