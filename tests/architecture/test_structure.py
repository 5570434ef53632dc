"""The structure of the source tree; every check is shown to find a planted fault."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.architecture import structure
from tools import sizes

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ROOT / "src" / "fairlead"
FOLDERS = ("tests", "bench", "prove", "conformance", "tools")
TOOLS = [ROOT / "tools", ROOT / "bench", ROOT / "prove"]

Check = Callable[[Path], list[str]]

LONG_MODULE = "x = 1\n" * (sizes.LINES_PER_MODULE + 1)
LONG_FUNCTION = "def f():\n" + "    x = 1\n" * structure.FUNCTION_LINES
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
    (structure.functions_over_the_limit, "plans/model.py", LONG_FUNCTION),
    (structure.functions_too_deep, "plans/model.py", DEEP_FUNCTION),
    (structure.modules_with_a_vague_name, "plans/utils.py", '"""Things."""\n'),
    (structure.modules_with_a_vague_name, "helpers/plan.py", '"""Things."""\n'),
    (structure.modules_without_a_docstring, "plans/model.py", "x = 1\n"),
    (structure.output_elsewhere, "project/memory.py", "print('done')\n"),
    (structure.output_elsewhere, "interfaces/cli/init.py", "import click\nclick.echo('done')\n"),
    (
        structure.output_elsewhere,
        "interfaces/cli/init.py",
        "from click import echo as say\nsay('x')\n",
    ),
    (structure.output_elsewhere, "store/files.py", "import sys\nsys.stderr.write('x')\n"),
    (structure.clocks_and_disks_in_pure_modules, "project/state/fields.py", "text = open('x')\n"),
    (
        structure.clocks_and_disks_in_pure_modules,
        "project/state/events.py",
        "from datetime import datetime\ndef f(): return datetime.now()\n",
    ),
    (
        structure.clocks_and_disks_in_pure_modules,
        "project/state/events.py",
        "import datetime\ndef f(): return datetime.date.today()\n",
    ),
    (structure.retired_names, "store/desk.py", '"""A module."""\n'),
    (structure.retired_names, "store/files.py", "def the_keeper(x): return x\n"),
    (structure.retired_names, "store/files.py", "def f(held): return held\n"),
    (structure.retired_names, "store/files.py", "class PlanDesk:\n    pass\n"),
    (structure.retired_prose, "store/files.py", '"""One house with nine floors."""\n'),
    (structure.code_made_from_text, "text/frontmatter.py", "def f(x): return eval(x)\n"),
    (structure.effects_on_import, "agents/registry.py", "register('claude')\n"),
    (
        structure.effects_on_import,
        "agents/registry.py",
        "def f():\n    global known\n    known = 1\n",
    ),
    (
        structure.patterns_compiled_on_import,
        "plans/model.py",
        "import re\nA = (re.compile('a'),)\n",
    ),
    (
        structure.patterns_compiled_on_import,
        "plans/model.py",
        "import re\ndef f(line, form=re.compile('a')): return form.match(line)\n",
    ),
]
# The list of retired words and its tests.
ALLOWED_PROSE = ("architecture/structure.py", "architecture/test_structure.py")
CHECKS = sorted({check for check, _, _ in FAULTS}, key=lambda check: check.__name__)


@pytest.fixture(autouse=True, scope="module")
def _no_trees_are_left() -> Iterator[None]:
    yield
    structure.forget_trees()


def test_the_product_has_no_structural_fault():
    # One test, so that one process parses the product.
    assert [fault for check in CHECKS for fault in check(PRODUCT)] == []
    assert structure.class_names_with_two_meanings(PRODUCT) == []


def test_tools_keep_the_same_limits():
    checks = (
        structure.functions_over_the_limit,
        structure.functions_too_deep,
        structure.modules_with_a_vague_name,
        structure.modules_without_a_docstring,
        structure.code_made_from_text,
    )

    assert [fault for folder in TOOLS for check in checks for fault in check(folder)] == []


@pytest.mark.parametrize(("check", "module", "text"), FAULTS)
def test_a_planted_fault_is_found(check: Check, module: str, text: str, tmp_path: Path):
    planted = tmp_path / module
    planted.parent.mkdir(parents=True)
    planted.write_text(text, "utf-8")

    faults = check(tmp_path)

    assert len(faults) == 1
    assert faults[0].startswith(module)


def test_branches_of_one_question_are_one_level(tmp_path: Path):
    (tmp_path / "flat.py").write_text(FLAT_FUNCTION, "utf-8")

    assert structure.functions_too_deep(tmp_path) == []


def test_a_function_may_compile_a_pattern(tmp_path: Path):
    text = "import re\nf = lambda line: re.match('a', line)\ndef g(): return re.compile('a')\n"
    (tmp_path / "patterns.py").write_text(text, "utf-8")

    assert structure.patterns_compiled_on_import(tmp_path) == []


def test_output_is_allowed_in_the_module_for_output(tmp_path: Path):
    folder = tmp_path / "interfaces" / "cli"
    folder.mkdir(parents=True)
    (folder / "output.py").write_text("import click\nclick.echo('done')\n", "utf-8")

    assert structure.output_elsewhere(tmp_path) == []


def test_a_class_name_in_two_modules_is_found(tmp_path: Path):
    (tmp_path / "a.py").write_text("class Outcome: pass\n", "utf-8")
    (tmp_path / "b.py").write_text("class Outcome: pass\nclass Other: pass\n", "utf-8")

    assert structure.class_names_with_two_meanings(tmp_path) == [
        "a.py: Outcome is also in ['b.py']"
    ]


def test_retired_words_are_used_nowhere():
    found = [
        line for folder in (*FOLDERS, "docs") for line in structure.retired_prose(ROOT / folder)
    ]

    assert [line for line in found if not line.startswith(ALLOWED_PROSE)] == []


def test_tests_and_tools_use_no_retired_name():
    assert [line for folder in FOLDERS for line in structure.retired_names(ROOT / folder)] == []


def test_a_package_or_module_over_its_limit_is_found(tmp_path: Path):
    package = tmp_path / "plans"
    package.mkdir()
    (package / "long.py").write_text(LONG_MODULE, "utf-8")
    for number in range(sizes.MODULES_PER_PACKAGE):
        (package / f"m{number}.py").write_text("x = 1\n", "utf-8")

    assert [line.partition(":")[0] for line in sizes.problems(tmp_path)] == [
        "plans",
        "plans/long.py",
    ]


def test_a_code_line_is_neither_blank_nor_comment_nor_docstring():
    source = '"""Doc.\n\nMore.\n"""\n\n# why\nx = 1  # what\n\n\ndef f():\n    """Doc."""\n    return x\n'

    assert sizes.code_lines(source) == 3
