"""Patch plans: every gap that a command can verify gets a plan that can be executed."""

import pytest

from fairlead.plans.check import execution_faults
from fairlead.plans.documents import new_plan, read_plan
from fairlead.plans.model import PlanDocument, Task
from fairlead.verification.gaps import Gap, patch_plans


def a_task(number: int, file: str, verify: str) -> Task:
    return Task(number, f"Task {number}: Do it", files=(file,), action="do it", verify=verify)


PLAN = PlanDocument(
    id="01-01",
    phase="01-work",
    number=1,
    tasks=(a_task(1, "other.py", "pytest -q other"), a_task(2, "calc.py", "pytest -q calc")),
)


@pytest.mark.parametrize(
    ("gap", "plans", "verify"),
    [
        (Gap("G-01-1", "t", "r", "calc.py", plan="01-01"), [PLAN], "pytest -q calc"),
        # A model that reviews names no plan, only a file, or nothing at all.
        (Gap("G-01-1", "t", "r", "calc.py", rule="verifier"), [PLAN], "pytest -q calc"),
        (Gap("G-01-1", "t", "r", "new.py", rule="verifier"), [PLAN], "pytest -q other"),
        (Gap("G-01-1", "t", "r", rule="verifier"), [PLAN], "pytest -q other"),
        (Gap("G-01-1", "t", "r", "a file.py", rule="verifier"), [], "test -s 'a file.py'"),
    ],
)
def test_a_patch_plan_has_a_verify_command_and_can_be_executed(
    gap: Gap, plans: list[PlanDocument], verify: str
) -> None:
    (patch,) = patch_plans([gap], {plan.id: plan for plan in plans}, "01-work", "01", 2)
    read = read_plan(".planning/phases/01-work/01-02-PLAN.md", new_plan(patch))
    assert [task.verify for task in read.tasks] == [verify]
    assert execution_faults([read], lambda _: "", is_rehearsed=False)[0] == ()


def test_a_gap_that_no_command_can_verify_gets_no_plan() -> None:
    assert patch_plans([Gap("G-01-1", "it is calm", "it is not")], {}, "01-work", "01", 2) == ()


def test_a_patch_plan_for_a_failed_command_may_change_the_files_that_the_command_verifies() -> None:
    gap = Gap("G-01-1", "t", "r", rule="command-failed", plan="01-01", subject="pytest -q calc")
    (patch,) = patch_plans([gap], {PLAN.id: PLAN}, "01-work", "01", 2)
    assert patch.files == ("calc.py",)
    assert [task.files for task in patch.tasks] == [("calc.py",)]
