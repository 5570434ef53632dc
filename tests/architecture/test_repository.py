"""The repository around the code: pins, the wheel's dependencies, and forbidden names."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PINS = sorted((ROOT / "requirements").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# In two halves, so that this file does not find itself.
ADDRESSES = re.compile(
    "|".join(["pypi" + r"\.org", "files\\." + "pythonhosted", "registry\\." + "npmjs"])
)
PIN = re.compile(r"^[a-z0-9][a-z0-9.-]*==\S+( ; [^\\]+)? \\$")


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def requirements(path: Path) -> list[str]:
    """The lines of a pin file, each with its hashes."""
    lines = path.read_text("utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if line and line[0] not in " #"]
    return [
        "\n".join(lines[start:end])
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def names(lines: list[str]) -> set[str]:
    found = (re.match(r"[A-Za-z0-9._-]+", line) for line in lines)
    return {match.group().lower() for match in found if match}


def test_the_core_depends_on_three_packages():
    assert names(PROJECT["dependencies"]) == {"click", "pyyaml", "rich"}


def test_the_pinned_runtime_is_what_the_package_asks_for():
    asked = (ROOT / "requirements" / "runtime.in").read_text("utf-8").splitlines()

    assert names(asked) == names(PROJECT["dependencies"])


def test_the_extra_all_has_every_other_extra_but_the_development_server():
    extras = PROJECT["optional-dependencies"]

    left = [name for name in extras if name not in ("all", "cluster-dev")]
    assert extras["all"] == [f"fairlead[{name}]" for name in left]


@pytest.mark.parametrize("extra", sorted({*PROJECT["optional-dependencies"]} - {"all"}))
def test_the_pinned_packages_are_what_the_extra_asks_for(extra: str):
    lines = (ROOT / "requirements" / f"{extra}.in").read_text("utf-8").splitlines()
    asked = [line for line in lines if not line.startswith("-c ")]

    assert names(asked) == names(PROJECT["optional-dependencies"][extra])


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.name)
def test_every_requirement_is_pinned_with_hashes(path: Path):
    loose = [
        entry
        for entry in requirements(path)
        if not PIN.match(entry.splitlines()[0]) or "--hash=sha256:" not in entry
    ]

    assert loose == []


def test_a_loose_requirement_is_found(tmp_path: Path):
    pins = tmp_path / "test.txt"
    pins.write_text("click==8.1 \\\n    --hash=sha256:00\nrich>=13\n", "utf-8")

    assert requirements(pins)[1] == "rich>=13"
    assert not PIN.match("rich>=13")


def test_the_test_tools_run_beside_the_pinned_runtime_packages():
    runtime = {
        entry.splitlines()[0] for entry in requirements(ROOT / "requirements" / "runtime.txt")
    }
    tools = {entry.splitlines()[0] for entry in requirements(ROOT / "requirements" / "test.txt")}
    shared = names(list(runtime)) & names(list(tools))

    assert names(list(runtime - tools)) & shared == set()


def test_no_file_names_a_package_registry():
    assert [path for path in tracked() if ADDRESSES.search(text_of(path))] == []


def test_the_licence_goes_with_the_package():
    assert PROJECT["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text("utf-8").startswith("MIT License")


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
