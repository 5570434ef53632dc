"""The shape of the house: sizes, names, silence and purity, each shown to find a planted fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture import shape

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ROOT / "src" / "fairlead"
WORKSHOP = [ROOT / "tools", ROOT / "bench", ROOT / "prove"]

Check = Callable[[Path], list[str]]

LONG_MODULE = "x = 1\n" * (shape.MODULE_LINES + 1)
LONG_FUNCTION = "def f():\n" + "    x = 1\n" * shape.FUNCTION_LINES
DEEP_FUNCTION = """
def f(rows):
    for row in rows:
        if row:
            with row:
                try:
                    return 1
                finally:
                    pass
"""
FLAT_FUNCTION = """
def f(word):
    for letter in word:
        if letter == "a":
            return 1
        elif letter == "b":
            return 2
        elif letter == "c":
            return 3
        else:
            with letter:
                return 4
"""

FAULTS: list[tuple[Check, str, str]] = [
    (shape.modules_over_the_limit, "model/plan.py", LONG_MODULE),
    (shape.functions_over_the_limit, "model/plan.py", LONG_FUNCTION),
    (shape.functions_too_deep, "model/plan.py", DEEP_FUNCTION),
    (shape.modules_without_a_name, "model/utils.py", '"""Things."""\n'),
    (shape.modules_without_a_name, "helpers/plan.py", '"""Things."""\n'),
    (shape.modules_without_a_docstring, "model/plan.py", "x = 1\n"),
    (shape.words_to_people, "engine/memory.py", "print('done')\n"),
    (shape.words_to_people, "interfaces/cli/init.py", "import click\nclick.echo('done')\n"),
    (shape.words_to_people, "interfaces/cli/init.py", "from click import echo as say\nsay('x')\n"),
    (shape.words_to_people, "store/files.py", "import sys\nsys.stderr.write('x')\n"),
    (shape.clocks_and_disks_in_pure_rooms, "records/state.py", "text = open('x')\n"),
    (
        shape.clocks_and_disks_in_pure_rooms,
        "model/events.py",
        "from datetime import datetime\ndef f(): return datetime.now()\n",
    ),
    (
        shape.clocks_and_disks_in_pure_rooms,
        "model/events.py",
        "import datetime\ndef f(): return datetime.date.today()\n",
    ),
    (shape.code_made_from_text, "text/front.py", "def f(x): return eval(x)\n"),
    (shape.deeds_on_import, "adapters/registry.py", "register('claude')\n"),
    (shape.deeds_on_import, "adapters/registry.py", "def f():\n    global known\n    known = 1\n"),
]
CHECKS = sorted({check for check, _, _ in FAULTS}, key=lambda check: check.__name__)


def name_of(value: object) -> str:
    return getattr(value, "__name__", "")


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_the_product_has_no_faults_of_shape(check: Check):
    assert check(PRODUCT) == []


@pytest.mark.parametrize("folder", WORKSHOP, ids=lambda folder: folder.name)
@pytest.mark.parametrize(
    "check",
    [
        shape.modules_over_the_limit,
        shape.functions_over_the_limit,
        shape.functions_too_deep,
        shape.modules_without_a_name,
        shape.modules_without_a_docstring,
        shape.code_made_from_text,
    ],
    ids=name_of,
)
def test_the_workshop_keeps_the_same_limits(check: Check, folder: Path):
    assert check(folder) == []


@pytest.mark.parametrize(("check", "module", "text"), FAULTS)
def test_a_planted_fault_of_shape_is_found(check: Check, module: str, text: str, tmp_path: Path):
    planted = tmp_path / module
    planted.parent.mkdir(parents=True)
    planted.write_text(text, "utf-8")

    faults = check(tmp_path)

    assert len(faults) == 1
    assert faults[0].startswith(module)


def test_branches_of_one_question_are_one_level(tmp_path: Path):
    (tmp_path / "flat.py").write_text(FLAT_FUNCTION, "utf-8")

    assert shape.functions_too_deep(tmp_path) == []


def test_showing_is_allowed_where_things_are_shown(tmp_path: Path):
    door = tmp_path / "interfaces" / "cli"
    door.mkdir(parents=True)
    (door / "show.py").write_text("import click\nclick.echo('done')\n", "utf-8")

    assert shape.words_to_people(tmp_path) == []
