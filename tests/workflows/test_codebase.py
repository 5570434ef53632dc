"""The map of a code base: counted from names and manifests, and nothing made up."""

from pathlib import Path

import pytest

from fairlead.workflows.codebase import code_map, pages, sources_of, summary_of
from tests.support.repositories import written

PATHS = (
    "README.md",
    "package.json",
    "pyproject.toml",
    "src/app/__main__.py",
    "src/app/core.py",
    "tests/test_core.py",
    "web/index.ts",
    "web/index.test.ts",
)


def test_languages_tests_and_entry_points_come_from_the_names() -> None:
    found = code_map(PATHS, {})
    assert found.languages == (("Python", 3), ("TypeScript", 2))
    assert found.tests == ("tests/test_core.py", "web/index.test.ts")
    assert found.entries == ("src/app/__main__.py", "web/index.ts")
    assert found.test_command == "python -m pytest"


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("package.json", '{"dependencies": {"a": "1"}, "devDependencies": {"b": "2"}}', ("a", "b")),
        ("package.json", "{", ()),
        ("package.json", "[" * 5000, ()),
        ("pyproject.toml", 'dependencies = [\n  "click>=8",\n  "rich",\n]\n', ("click", "rich")),
        ("requirements.txt", "# a comment\nhttpx==1\n-r other.txt\n", ("httpx",)),
        ("Cargo.toml", '[dependencies]\nserde = "1"\n[dev]\nx = 1\n', ("serde",)),
        ("go.mod", "module m\nrequire (\n\tgithub.com/a/b v1.0.0\n)\n", ("github.com/a/b",)),
    ],
)
def test_dependencies_are_read_from_manifests(path: str, text: str, names: tuple[str, ...]) -> None:
    assert code_map((path,), {path: text}).packages == names


def test_a_folder_with_documents_only_has_no_code() -> None:
    found = code_map(("README.md", "docs/a.md"), {})
    assert (found.is_code, summary_of(found)) == (False, "There is no code yet.")


def test_the_pages_have_the_names_that_other_tools_read() -> None:
    made = pages(code_map(PATHS, {}), "2026-06-01")
    assert sorted(made) == ["STACK.md", "STRUCTURE.md", "TESTING.md"]
    assert "- Python: 3 files" in made["STACK.md"]
    assert "`tests/test_core.py`" in made["TESTING.md"]


def test_hidden_and_generated_folders_and_links_are_skipped(tmp_path: Path) -> None:
    for path in ("src/a.py", "node_modules/x/y.js", ".venv/b.py", ".github/ci.yml", ".git/config"):
        written(tmp_path / path, "x\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "src/a.py")
    assert sources_of(str(tmp_path)).paths == (".github/ci.yml", "src/a.py")


def test_a_large_folder_is_cut_and_marked(tmp_path: Path) -> None:
    for number in range(5):
        written(tmp_path / f"{number}.py", "x\n")
    found = sources_of(str(tmp_path), limit=3)
    assert (len(found.paths), found.is_cut) == (3, True)
