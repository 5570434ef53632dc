"""Every statement in statements.txt has one test, and every test has its statement."""

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROW = re.compile(r"(?P<id>\d{3}-\d{2,3})  (?P<words>[a-z0-9 ]+?)(?:  \[(?P<ruling>.+)\])?")


def statements(text: str) -> dict[str, str]:
    """The ruling of each statement, by the name of its test; empty: no ruling overrides it."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            row = ROW.fullmatch(line)
            assert row, f"not a statement: {line}"
            name = "test_" + re.sub(r"\W", "_", f"{row['id']} {row['words']}")
            assert name not in found, f"listed twice: {line}"
            found[name] = row["ruling"] or ""
    return found


def seed_tests(sources: Mapping[str, str]) -> dict[str, str]:
    """The docstring of each test, by its name; a test must be in the file of its seed."""
    found: dict[str, str] = {}
    for file, source in sources.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert node.name not in found, f"defined twice: {node.name}"
                seed = file.removeprefix("test_seed_").removesuffix(".py")
                assert node.name.startswith(f"test_{seed}_"), f"{node.name} is in {file}"
                found[node.name] = ast.get_docstring(node) or ""
    return found


def faults(listed: Mapping[str, str], tests: Mapping[str, str]) -> list[str]:
    """What differs between the list and the tests."""
    missing = [f"no test: {name}" for name in listed if name not in tests]
    unlisted = [f"no statement: {name}" for name in tests if name not in listed]
    unnamed = [
        f"does not name its ruling: {name}"
        for name, ruling in listed.items()
        if ruling and f'Ruling "{ruling}"' not in tests.get(name, f'Ruling "{ruling}"')
    ]
    return missing + unlisted + unnamed


def the_list() -> str:
    return (HERE / "statements.txt").read_text("utf-8")


def the_tests() -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(HERE.glob("test_seed_*.py"))}


def test_every_statement_has_a_test_and_every_test_a_statement() -> None:
    assert faults(statements(the_list()), seed_tests(the_tests())) == []


def test_the_statements_are_listed_in_the_order_of_their_ids() -> None:
    names = [*statements(the_list())]
    ids = [name.split("_")[1:3] for name in names]
    assert ids == sorted(ids)
    assert len({*map(tuple, ids)}) == len(ids)


PLANTED: Sequence[tuple[str, str, str]] = [
    ("no test", "000-99  the moon is full\n", ""),
    ("no statement", "", "def test_000_98_the_sun_shines() -> None: ...\n"),
    (
        "does not name its ruling",
        "000-97  it rains  [Rain]\n",
        'def test_000_97_it_rains() -> None:\n    """Nothing."""\n',
    ),
]


@pytest.mark.parametrize(("fault", "row", "test"), PLANTED, ids=[row[0] for row in PLANTED])
def test_a_planted_difference_is_found(fault: str, row: str, test: str) -> None:
    sources = the_tests()
    sources["test_seed_000.py"] += test
    [found] = faults(statements(the_list() + row), seed_tests(sources))
    assert found.startswith(fault)


def test_a_test_that_is_taken_away_is_found() -> None:
    sources = the_tests()
    gone = "test_000_01_the_state_file_is_in_the_planning_folder"
    sources["test_seed_000.py"] = sources["test_seed_000.py"].replace(gone, f"no_{gone}")
    assert faults(statements(the_list()), seed_tests(sources)) == [f"no test: {gone}"]
