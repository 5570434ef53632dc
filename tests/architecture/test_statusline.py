"""The status line starts fast: it imports an allow-list of modules, and only from our rooms."""

import ast
import shutil
import sys
from pathlib import Path

import pytest

from fairlead.interfaces.statusline.__main__ import ROOMS
from tests.support.imports import imported

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "fairlead"
START = Path("interfaces/statusline/__main__.py")
SAID = (
    b'{"session_id": "s", "model": {"display_name": "Opus"}, "context_window":'
    b' {"remaining_percentage": 60}}'
)

# What every start needs. A module more is a decision: each costs about a fiftieth of the
# interpreter's own start, and `json`, `re`, `typing` or `dataclasses` cost as much as all of it.
OURS = {
    "fairlead.faults",
    "fairlead.interfaces.statusline.door",
    "fairlead.interfaces.statusline.line",
    "fairlead.interfaces.statusline.told",
    "fairlead.model.meter",
    "fairlead.model.scene",
    "fairlead.records.headline",
    "fairlead.store.confine",
    "fairlead.store.glance",
    "fairlead.store.layout",
    "fairlead.store.message",
    "fairlead.text.cursor",
    "fairlead.text.lines",
    "fairlead.text.quick",
    "fairlead.text.quickjson",
    "fairlead.text.scalars",
    "fairlead.text.subset",
    "fairlead.text.visible",
}
STANDARD = {
    "__future__", "_collections_abc", "_stat", "errno", "gc", "genericpath", "os", "posixpath",
    "select", "stat",
}  # fmt: skip
# What asking for more costs on top.
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


def test_only_an_allow_list_of_modules_is_isolated(project: Path):
    assert imported_by_line(PACKAGE, project) - OURS - STANDARD == set()


def test_the_allow_list_names_nothing_that_is_not_needed(project: Path):
    assert OURS - imported_by_line(PACKAGE, project) == set()


def test_git_costs_two_modules_more(project: Path):
    (project / ".planning" / "config.json").write_text('{"statusline": {"show_git": true}}')

    assert imported_by_line(PACKAGE, project) - OURS - STANDARD == FOR_GIT


def test_a_planted_import_is_found(project: Path, tmp_path: Path):
    package = tmp_path / "fairlead"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    told = package / "interfaces" / "statusline" / "told.py"
    told.write_text(told.read_text("utf-8") + "\nimport json\n", "utf-8")

    assert "json" in imported_by_line(package, project) - OURS - STANDARD


def test_a_module_of_an_installed_package_cannot_be_isolated(project: Path, tmp_path: Path):
    package = tmp_path / "library" / "fairlead"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package.parent / "planted.py").write_text("raise SystemExit(7)", "utf-8")
    told = package / "interfaces" / "statusline" / "told.py"
    attempt = "try:\n    import planted\nexcept ImportError:\n    pass\n"
    told.write_text(told.read_text("utf-8") + attempt, "utf-8")

    assert imported_by_line(package, project)


@pytest.mark.parametrize("room", ROOMS)
def test_the_rooms_it_passes_by_hold_no_code(room: str):
    folder = PACKAGE.joinpath(*room.split("."))
    tree = ast.parse((folder / "__init__.py").read_text("utf-8"))
    code = [
        statement
        for statement in tree.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]

    # The package itself names its version and its public names, which no line shows.
    assert code == [] or room == ""
