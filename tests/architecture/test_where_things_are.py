"""The page "Where things are" is true: its paths exist, and three of its changes work.

Each change touches only the files that the page names, in a scratch copy of the tree. Then the
new behaviour is there, and the tests of that package still pass.
"""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "where-things-are.md"
COPIED = ("src", "tests", "pyproject.toml")
NOT_NEEDED = shutil.ignore_patterns("__pycache__", "golden", "corpus", "crash", ".cache")

NEW_AGENT = '''"""Harbour: an agent CLI that prints plain text."""

from fairlead.agents.drivers.driver import Driver
from fairlead.agents.model import AgentCall, Stream


def driver() -> Driver:
    """How Harbour is used."""
    return Driver(name="harbour", programs=("harbour",), stream=Stream.TEXT, arguments=_arguments)


def _arguments(call: AgentCall) -> tuple[str, ...]:
    return ("--batch",)
'''


PROBING = """
found = []
for name, probe in {probes!r}.items():
    try:
        exec(probe, {{}})
    except Exception:
        continue
    found.append(name)
print(found)
"""


class Edit(NamedTuple):
    """A replacement in a file; without a text to replace, the whole of a new file."""

    path: str
    old: str
    new: str


class Change(NamedTuple):
    """One row of the page, applied."""

    edits: tuple[Edit, ...]
    probe: str  # fails before the change and succeeds after it
    tests: str


CHANGES = {
    "a plan file name": Change(
        (Edit("project/naming.py", "[-.])PLAN(?:-", "[-.])(?:PLAN|WORKSHEET)(?:-"),),
        "from fairlead.project.naming import is_plan; assert is_plan('03-02-WORKSHEET.md')",
        "tests/project/test_naming.py",
    ),
    "a status word": Change(
        (Edit("project/status_words.py", '("verif",)', '("verif", "trying out")'),),
        "from fairlead.project.status_words import normalise; "
        "assert normalise('Trying out phase 3').value == 'verifying'",
        "tests/project/test_position.py",
    ),
    "an agent CLI": Change(
        (
            Edit("agents/drivers/harbour.py", "", NEW_AGENT),
            Edit(
                "agents/drivers/catalog.py",
                "gemini, model_service",
                "gemini, harbour, model_service",
            ),
            Edit(
                "agents/drivers/catalog.py",
                '    "agy": antigravity.driver,',
                '    "agy": antigravity.driver,\n    "harbour": harbour.driver,',
            ),
        ),
        "from fairlead.agents.registry import driver_factories; assert 'harbour' in driver_factories()",
        "tests/agents/test_registry.py",
    ),
}


def test_every_path_on_the_page_exists() -> None:
    text = PAGE.read_text("utf-8")
    paths = re.findall(r"`((?:[a-z_]+/)+[A-Za-z_.]*|app\.py)`", text)

    missing = [
        path
        for path in paths
        if not (ROOT / "src" / "fairlead" / path).exists() and not (ROOT / path).exists()
    ]
    assert len(paths) > 20
    assert missing == []


def test_the_page_lists_ten_changes() -> None:
    table = PAGE.read_text("utf-8").partition("|---|---|---|")[2].partition("\n\n")[0]

    assert len(table.strip().splitlines()) == 10


def test_the_changes_touch_only_the_files_on_the_page(tmp_path: Path) -> None:
    """All three in one copy: copying and starting pytest takes longer than the tests."""
    tree = copied_tree(tmp_path)
    assert successful_probes(tree) == []

    for change in CHANGES.values():
        apply(change, tree)

    assert successful_probes(tree) == list(CHANGES)
    tests = [change.tests for change in CHANGES.values()]
    tested = run_in(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def successful_probes(tree: Path) -> list[str]:
    """The changes that are in a tree, by their probes, each of which runs by itself."""
    probes = {name: change.probe for name, change in CHANGES.items()}
    done = run_in(tree, "-c", PROBING.format(probes=probes))
    return [str(name) for name in ast.literal_eval(done.stdout)]


def copied_tree(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=NOT_NEEDED)
        else:
            shutil.copy(source, folder / name)
    return folder


def apply(change: Change, tree: Path) -> None:
    for edit in change.edits:
        path = tree / "src" / "fairlead" / edit.path
        if not edit.old:
            path.write_text(edit.new, "utf-8")
            continue
        text = path.read_text("utf-8")
        assert text.count(edit.old) == 1, edit.path
        path.write_text(text.replace(edit.old, edit.new), "utf-8")


def run_in(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env={"PYTHONPATH": str(tree / "src"), "PATH": "/usr/bin:/bin", "HOME": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
