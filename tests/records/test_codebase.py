"""The map of a code base: counted from names and manifests, and nothing made up."""

import pytest

from fairlead.records.codebase import code_map, pages, told

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
def test_a_manifest_says_what_is_depended_on(path: str, text: str, names: tuple[str, ...]) -> None:
    assert code_map((path,), {path: text}).packages == names


def test_documents_alone_are_no_code() -> None:
    found = code_map(("README.md", "docs/a.md"), {})
    assert (found.is_code, told(found)) == (False, "There is no code yet.")


def test_the_pages_have_the_names_that_others_read() -> None:
    made = pages(code_map(PATHS, {}), "2026-06-01")
    assert sorted(made) == ["STACK.md", "STRUCTURE.md", "TESTING.md"]
    assert "- Python: 3 files" in made["STACK.md"]
    assert "`tests/test_core.py`" in made["TESTING.md"]
