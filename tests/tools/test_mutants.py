"""The mutation tool on scratch projects with planted gaps in their tests."""

import json
import subprocess
import sys
from pathlib import Path

from tools import mutants, mutations

ROOT = Path(__file__).resolve().parents[2]

RULES = """\
def is_small(count: int) -> bool:
    return count < 3


def total(counts: list[int]) -> int:
    result = 0
    for count in counts:
        if count == 7:
            continue
        result += count
    return result
"""
RENAMED = '''\
"""The same rules in other words."""


def has_few_items(number_of_items: int) -> bool:
    """A docstring changes nothing."""
    return number_of_items < 3


def new_rule() -> int:
    return 4


def sum_of(values: list[int]) -> int:
    all_of_them: int = 0
    for value in values:
        if value == 7:
            continue
        all_of_them += value
    return all_of_them
'''
# Nothing is asked about 3, the only number for which `<` and `<=` differ.
TESTS = """\
import pytest

from scratch.limits.rules import is_small, total


@pytest.mark.parametrize("count", [1, 2])
def test_a_small_count(count):
    assert is_small(count)


def test_a_large_count():
    assert not is_small(30)


def test_the_total_leaves_out_7():
    assert total([1, 7, 2]) == 3


def test_that_fails_without_a_mutant():
    assert total([]) == 1
"""


def planted_tree(root: Path, rules: str, module: str = "limits/rules") -> Path:
    source = root / "src" / "scratch" / f"{module}.py"
    source.parent.mkdir(parents=True)
    source.write_text(rules, "utf-8")
    (root / "src" / "scratch" / "__init__.py").touch()
    tests = root / "tests" / "limits" / "test_rules.py"
    tests.parent.mkdir(parents=True)
    tests.write_text(TESTS, "utf-8")
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    return root


def listed(tree: Path, *options: str) -> list[mutations.Mutant]:
    output = tree / "list.json"
    arguments = ["list", "--package", "limits", "--tree", str(tree), "--output", str(output)]
    mutants.main([*arguments, *options])
    chosen: list[mutations.Mutant] = json.loads(output.read_text())["mutants"]
    return chosen


def test_a_mutant_survives_where_the_tests_have_a_gap_and_is_killed_elsewhere(tmp_path: Path):
    tree = planted_tree(tmp_path, RULES)
    operators = {mutant["id"]: mutant["operator"] for mutant in listed(tree)}
    result = tmp_path / "result.json"

    command = [sys.executable, str(ROOT / "tools" / "mutants.py"), "run", str(tree / "list.json")]
    done = subprocess.run(
        [*command, "--output", str(result)], capture_output=True, text=True, timeout=900
    )

    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = json.loads(result.read_text())["mutants"]
    survivors = {operators[key] for key in operators if outcomes[key]["outcome"] == "survived"}
    killed = {operators[key] for key in operators if outcomes[key]["outcome"] == "killed"}
    assert "Lt to LtE" in survivors
    assert {"Eq to NotEq", "drop"} <= killed
    assert "src/scratch/limits/rules.py:2: Lt to LtE in return count < 3" in done.stdout
    assert "left out, because it does not pass" in done.stdout


def test_a_mutant_is_found_again_under_another_name(tmp_path: Path):
    old = planted_tree(tmp_path / "old", RULES)
    new = planted_tree(tmp_path / "new", RENAMED, "limits/small/sizes")

    chosen = listed(old, "--match", str(new))

    assert [mutant["id"] for mutant in chosen] == [mutant["id"] for mutant in listed(old)]
    functions = {
        (mutant["places"]["old"]["function"], mutant["places"]["new"]["function"])
        for mutant in chosen
    }
    assert functions == {("is_small", "has_few_items"), ("total", "sum_of")}


def test_a_mutant_that_the_other_tree_lacks_is_not_chosen(tmp_path: Path):
    old = planted_tree(tmp_path / "old", RULES)
    new = planted_tree(tmp_path / "new", RULES.replace("count < 3", "len(str(count)) < 2"))

    operators = {mutant["operator"] for mutant in listed(old, "--match", str(new))}

    assert "Lt to LtE" not in operators
    assert "Eq to NotEq" in operators


def test_the_seed_decides_the_order(tmp_path: Path):
    tree = planted_tree(tmp_path, RULES)

    orders = [
        [mutant["places"]["old"] for mutant in listed(tree, "--seed", seed)]
        for seed in ("1", "1", "2")
    ]

    assert orders[0] == orders[1] != orders[2]
