"""The status line starts fast: it imports only listed modules, all from this package."""

import ast
import shutil
import sys
from pathlib import Path

import pytest

from fairlead.interfaces.statusline.__main__ import PACKAGES
from tests.support.imports import imported

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "fairlead"
START = Path("interfaces/statusline/__main__.py")
SAID = (
    b'{"session_id": "s", "model": {"display_name": "Opus"}, "context_window":'
    b' {"remaining_percentage": 60}}'
)

# The modules every start needs. Adding one is a decision: each costs about a fiftieth of the
# interpreter's own start, and `json`, `re`, `typing` or `dataclasses` cost as much as all of it.
OURS = {
    "fairlead.core.errors",
    "fairlead.interfaces.statusline.entry",
    "fairlead.interfaces.statusline.line",
    "fairlead.interfaces.statusline.options",
    "fairlead.project.derive.meter",
    "fairlead.project.derive.headline",
    "fairlead.project.state.headline",
    "fairlead.store.confined",
    "fairlead.store.nearest_project",
    "fairlead.store.layout",
    "fairlead.core.stdin_message",
    "fairlead.text.yaml_subset",
    "fairlead.text.lines",
    "fairlead.text.fast_frontmatter",
    "fairlead.text.fast_json",
    "fairlead.text.yaml_scalars",
    "fairlead.text.printable",
}
STANDARD = {
    "__future__", "_collections_abc", "_stat", "errno", "gc", "genericpath", "os", "posixpath",
    "select", "stat",
}  # fmt: skip
# Imported in addition when git is shown.
FOR_GIT = {"fairlead.interfaces.statusline.child", "fairlead.interfaces.statusline.git"}


def isolated(*words: object, cwd: Path) -> set[str]:
    """The modules that an isolated interpreter imports."""
    command = [sys.executable, "-I", "-S", "-B", *map(str, words)]
    return imported(command, SAID, {"HOME": str(cwd), "PATH": "/usr/bin:/bin"}, cwd)


def imported_by_line(package: Path, project: Path) -> set[str]:
    bare = isolated("-c", "pass", cwd=project)
    return isolated(package / START, cwd=project) - bare - {"imported package"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    planning = tmp_path / "work" / ".planning"
    planning.mkdir(parents=True)
    (planning / "STATE.md").write_text("---\nstatus: executing\n---\nPhase: 1 of 2\n", "utf-8")
    return planning.parent


def test_only_an_allow_list_of_modules_is_imported(project: Path):
    assert imported_by_line(PACKAGE, project) - OURS - STANDARD == set()


def test_the_allow_list_names_nothing_that_is_not_needed(project: Path):
    assert OURS - imported_by_line(PACKAGE, project) == set()


def test_git_costs_two_modules_more(project: Path):
    (project / ".planning" / "config.json").write_text('{"statusline": {"show_git": true}}')

    assert imported_by_line(PACKAGE, project) - OURS - STANDARD == FOR_GIT


def test_a_planted_import_is_found(project: Path, tmp_path: Path):
    package = tmp_path / "fairlead"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    options = package / "interfaces" / "statusline" / "options.py"
    options.write_text(options.read_text("utf-8") + "\nimport json\n", "utf-8")

    assert "json" in imported_by_line(package, project) - OURS - STANDARD


def test_a_module_of_an_installed_package_cannot_be_imported(project: Path, tmp_path: Path):
    package = tmp_path / "library" / "fairlead"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package.parent / "planted.py").write_text("raise SystemExit(7)", "utf-8")
    options = package / "interfaces" / "statusline" / "options.py"
    attempt = "try:\n    import planted\nexcept ImportError:\n    pass\n"
    options.write_text(options.read_text("utf-8") + attempt, "utf-8")

    assert imported_by_line(package, project)


@pytest.mark.parametrize("package_name", PACKAGES)
def test_the_packages_it_replaces_contain_no_code(package_name: str):
    folder = PACKAGE.joinpath(*package_name.split("."))
    tree = ast.parse((folder / "__init__.py").read_text("utf-8"))
    code = [
        statement
        for statement in tree.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]

    # The package itself defines its version and its public names, which no line shows.
    assert code == [] or package_name == ""
