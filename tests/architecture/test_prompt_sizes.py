"""The table of prompt sizes: small, complete, and measured where the reference tool is there."""

import json

import pytest

from fairlead.agents.budget import CHARACTERS_A_TOKEN
from fairlead.workflows.roles import ROLES, Role, Shape
from tools import prompt_sizes


@pytest.mark.parametrize("workflow", prompt_sizes.WORKFLOWS)
def test_our_instructions_are_a_tenth_of_the_reference_tool_s_or_less(workflow: str) -> None:
    row = next(each for each in prompt_sizes.rows() if each[0] == workflow)
    mine, theirs = (int(each.replace(",", "")) for each in row[2:])
    assert mine * 10 <= theirs


def test_every_role_that_a_workflow_asks_stands_in_the_table() -> None:
    used = {name for mine, _ in prompt_sizes.WORKFLOWS.values() for name in mine}
    optional = {"critic"}  # asked only where a setting wants it
    assert {each.name for each in ROLES} - used - optional == set()


def test_the_figures_of_the_reference_tool_are_those_of_its_package() -> None:
    if not prompt_sizes.PACKAGE.exists():
        pytest.skip("the reference tool is not installed; run: tools/reference-tool")
    kept = json.loads(prompt_sizes.SIZES.read_text("utf-8"))
    assert kept == prompt_sizes.measured()


@pytest.mark.parametrize(
    "role", [each for each in ROLES if each.shape is not Shape.WORK], ids=lambda role: role.name
)
def test_a_role_s_own_words_take_a_tenth_of_its_prompt_at_most(role: Role) -> None:
    words = prompt_sizes.ours(role.name) // CHARACTERS_A_TOKEN
    assert words * 10 <= role.prompt_tokens
