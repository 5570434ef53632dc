"""The stop hook starts fast: it imports an allow-list of modules, and only from our rooms."""

import ast
import sys
from pathlib import Path

import pytest

from fairlead.interfaces.hooks.start import ROOMS, start_command
from tests.support.imports import imported
from tests.support.plan_files import PLAN, message, plan_text, put

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "fairlead"

NOWHERE = {"HOME": "/nowhere"}

# What every stop needs where a plan is open. A module more is a decision.
OURS = {
    "fairlead.faults",
    "fairlead.interfaces.hooks.door",
    "fairlead.interfaces.hooks.stop",
    "fairlead.interfaces.hooks.told",
    "fairlead.interfaces.hooks.work",
    "fairlead.model.criteria",
    "fairlead.model.execution",
    "fairlead.model.planning",
    "fairlead.model.stopping",
    "fairlead.records.exec_read",
    "fairlead.records.plan_read",
    "fairlead.store.confine",
    "fairlead.store.desk",
    "fairlead.store.facts",
    "fairlead.store.hold",
    "fairlead.store.layout",
    "fairlead.store.message",
    "fairlead.text.cursor",
    "fairlead.text.lines",
    "fairlead.text.quick",
    "fairlead.text.quickjson",
    "fairlead.text.scalars",
    "fairlead.text.subset",
    "fairlead.text.visible",
    "start",
}
STANDARD = {
    "__future__", "_collections_abc", "_stat", "binascii", "errno", "fcntl", "gc", "genericpath",
    "os", "posixpath", "select", "stat",
}  # fmt: skip


@pytest.fixture
def modules(tmp_path: Path) -> set[str]:
    put(tmp_path, PLAN, plan_text())
    words = start_command(sys.executable)
    bare = imported([*words[:-2], "pass"], b"", NOWHERE)
    return imported(words, message(tmp_path), NOWHERE) - bare - {"imported package"}


def test_only_an_allow_list_of_modules_is_imported(modules: set[str]):
    assert modules - OURS - STANDARD == set()


def test_the_allow_list_names_nothing_that_is_not_needed(modules: set[str]):
    assert OURS - modules == set()


@pytest.mark.parametrize("room", ROOMS)
def test_the_rooms_it_passes_by_hold_no_code(room: str):
    folder = PACKAGE.joinpath(*room.split("."))
    tree = ast.parse((folder / "__init__.py").read_text("utf-8"))
    code = [
        statement
        for statement in tree.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]

    # The package itself names its version and its public names, which no hook needs.
    assert code == [] or room == ""
