"""Every question of a workflow stands in the one table of policies, and says who may answer it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "src" / "fairlead" / "engine"
GUIDE = ROOT / "docs" / "guides" / "workflows.md"
PERSON = "only a person may answer"
# By module and first argument: how the row of the question begins.
ROWS = {
    ("new_project", "f'topic-{number}'"): "`new`: each question",
    ("new_project", "'research'"): "`new`: research in a direction failed",
    ("new_project", "subject"): "`new`: requirements, roadmap",
    ("phase_discuss", "subject"): "`phase discuss`: each area",
    ("phase_plan", "'context'"): "`phase plan`: the phase was not discussed",
    ("phase_plan", "key"): "`phase plan`: no research",
    ("phase_plan", "f'round-{number}'"): "`phase plan`: plans that do not pass",
    ("quick", "'commands'"): "`phase plan`, `phase execute`",
    ("debugging", "f'rounds-{number}'"): "`debug`: the cause is not known",
    ("debugging", "'verified'"): "`debug`: the command that proves the fix",
    ("role_calls", "ask.key"): "any: a call beyond the budget",
}


def questions() -> dict[tuple[str, str], bool]:
    """Where a question is made, and whether a policy answers it."""
    found = {}
    for path in sorted(ENGINE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            is_wish = isinstance(node, ast.Call) and ast.unparse(node.func) == "Wish"
            if is_wish and isinstance(node, ast.Call):
                has_policy = len(node.args) > 3 or any(k.arg == "policy" for k in node.keywords)
                found[path.stem, ast.unparse(node.args[0])] = has_policy
    return found


def test_the_table_knows_every_question_and_no_other() -> None:
    assert set(questions()) == set(ROWS)


@pytest.mark.parametrize(("place", "has_policy"), questions().items(), ids=str)
def test_a_question_without_a_policy_is_left_to_a_person(
    place: tuple[str, str], has_policy: bool
) -> None:
    rows = [line for line in GUIDE.read_text("utf-8").splitlines() if line.startswith("| ")]
    row = next(line for line in rows if line.startswith(f"| {ROWS[place]}"))
    assert (PERSON in row) is not has_policy
