"""The stop hook starts fast: it imports only listed modules, all from this package."""

import ast
import sys
from pathlib import Path

import pytest

from fairlead.interfaces.hooks.start import PACKAGES, start_command
from tests.support.imports import imported
from tests.support.plan_files import PLAN, message, plan_text, put

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "fairlead"

NOWHERE = {"HOME": "/nowhere"}

# The modules every stop needs when a plan is open. Adding one is a decision.
OURS = {
    "fairlead.core.errors",
    "fairlead.interfaces.hooks.stop",
    "fairlead.interfaces.hooks.message",
    "fairlead.interfaces.hooks.open_work",
    "fairlead.planphase.criteria",
    "fairlead.planphase.model",
    "fairlead.planphase.paths",
    "fairlead.planphase.stop_rule",
    "fairlead.planphase.documents",
    "fairlead.store.confined",
    "fairlead.store.staging",
    "fairlead.planphase.facts",
    "fairlead.planphase.hold",
    "fairlead.store.layout",
    "fairlead.core.stdin_message",
    "fairlead.text.yaml_subset",
    "fairlead.text.lines",
    "fairlead.text.fast_frontmatter",
    "fairlead.text.fast_json",
    "fairlead.text.yaml_scalars",
    "fairlead.text.printable",
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


@pytest.mark.parametrize("package", PACKAGES)
def test_the_packages_it_replaces_contain_no_code(package: str):
    folder = PACKAGE.joinpath(*package.split("."))
    tree = ast.parse((folder / "__init__.py").read_text("utf-8"))
    code = [
        statement
        for statement in tree.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]

    # The package itself defines its version and its public names, which no hook needs.
    assert code == [] or package == ""
