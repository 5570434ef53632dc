"""The guide to workflows lists every question with its policy, or says that a person answers."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / "src" / "fairlead" / "workflows"
GUIDE = ROOT / "docs" / "guides" / "workflows.md"
PERSON = "only a person may answer"
# The beginning of a question's row in the guide, by module and first argument.
ROWS = {
    ("new", "f'topic-{number}'"): "`new`: each question",
    ("new", "'research'"): "`new`: research in a direction failed",
    ("new", "subject"): "`new`: requirements, roadmap",
    ("discuss", "name"): "`phase discuss`: each area",
    ("plan", "'context'"): "`phase plan`: the phase was not discussed",
    ("plan", "key"): "`phase plan`: no research",
    ("plan", "f'round-{number}'"): "`phase plan`: plans that do not pass",
    ("quick", "'commands'"): "`phase plan`, `phase execute`",
    ("debug", "f'rounds-{number}'"): "`debug`: the cause is not known",
    ("debug", "'verified'"): "`debug`: the command that proves the fix",
    ("role_calls", "request.key"): "any: a call beyond the budget",
}


def questions() -> dict[tuple[str, str], bool]:
    """Every question in the workflows, and whether a policy answers it."""
    has_policy = {}
    for path in sorted(WORKFLOWS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "PendingQuestion":
                has_policy[path.stem, ast.unparse(node.args[0])] = len(node.args) > 3 or any(
                    keyword.arg == "policy" for keyword in node.keywords
                )
    return has_policy


def test_the_table_lists_every_question_and_no_other() -> None:
    assert set(questions()) == set(ROWS)


@pytest.mark.parametrize(("place", "has_policy"), questions().items(), ids=str)
def test_a_question_without_a_policy_is_left_to_a_person(
    place: tuple[str, str], has_policy: bool
) -> None:
    rows = [line for line in GUIDE.read_text("utf-8").splitlines() if line.startswith("| ")]
    row = next(line for line in rows if line.startswith(f"| {ROWS[place]}"))
    assert (PERSON in row) is not has_policy
