"""What every test stands on: a scratch home, an empty environment, and the installed command.

No test can see or change the settings of the person who runs it, and none inherits what a
host agent left in the environment.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import hypothesis
import pytest

pytest_plugins = ["tests.support.skips"]

ROOT = Path(__file__).resolve().parents[1]

# Shared machines stall now and then; a stall is not a fault of the code under test.
hypothesis.settings.register_profile("house", deadline=None, print_blob=True)
hypothesis.settings.load_profile("house")

FOREIGN = (
    "ANTHROPIC",
    "CLAUDE",
    "CODEX",
    "FAIRLEAD",
    "_FAIRLEAD",
    "GEMINI",
    "GIT_",
    "GSD",
    "OPENAI",
    "OPENCODE",
    "XDG_",
)
TERMINAL = ("CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two tiers that a quick run leaves out."""
    parser.addoption("--long", action="store_true", help="run the long tier too")
    parser.addoption("--live", action="store_true", help="run tests that ask real agents too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, not skip: a skip means that this machine lacks something."""
    left_out = [tier for tier in ("long", "live") if not config.getoption(f"--{tier}")]
    unwanted = [item for item in items if any(item.get_closest_marker(tier) for tier in left_out)]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)
        items[:] = [item for item in items if item not in set(unwanted)]


@pytest.fixture(scope="session")
def _scratch_homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    return _numbered(tmp_path_factory.mktemp("homes"))


@pytest.fixture(autouse=True)
def scratch_home(_scratch_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of this test alone. Only the folder itself exists."""
    home = next(_scratch_homes)
    for name in os.environ:
        if name.startswith(FOREIGN) or name in TERMINAL:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for kind in ("config", "data", "state", "cache"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(home / f".{kind}"))
    # git looks neither at the person's nor at the machine's settings.
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TERM", "dumb")
    return home


class Outcome(NamedTuple):
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str


class Fairlead(Protocol):
    """The installed command, run as a child with an argument list."""

    def __call__(
        self,
        *arguments: str,
        cwd: Path | None = None,
        input: str = "",  # noqa: A002  # the name that subprocess has
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run it to its end."""


@pytest.fixture(scope="session")
def installed_command() -> Path:
    """The command beside this interpreter, refused when it is older than the tree."""
    command = Path(sys.executable).parent / "fairlead"
    differing = _differing_from_tree(command)
    if differing:
        pytest.fail(f"the installed command is not this tree ({differing}); run: make env")
    return command


@pytest.fixture
def fairlead(installed_command: Path, scratch_home: Path, tmp_path: Path) -> Fairlead:
    """Run the installed command in `tmp_path`, or in the folder given."""

    def run(
        *arguments: str,
        cwd: Path | None = None,
        input: str = "",  # noqa: A002
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        done = subprocess.run(
            [str(installed_command), *arguments],
            cwd=cwd or tmp_path,
            env={**os.environ, **(env or {})},
            input=input.encode(),
            capture_output=True,
            timeout=60,
        )
        # Decoded here, since text mode would hide line endings.
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def _differing_from_tree(command: Path) -> str:
    """The first file in which the installed package is not the tree's, or nothing."""
    if not command.is_file():
        return "it is missing"
    tree = ROOT / "src"
    libraries = [Path(entry) for entry in sys.path if entry.endswith("site-packages")]
    package = next((path for path in libraries if (path / "fairlead").is_dir()), None)
    if package is None:
        return "the package is missing"
    for source in sorted((tree / "fairlead").rglob("*")):
        name = source.relative_to(tree)
        if source.is_dir() or "__pycache__" in name.parts:
            continue
        copy = package / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            return str(name)
    return ""


def _numbered(folder: Path) -> Iterator[Path]:
    # pytest's own numbering reads the folder each time, which adds up over thousands of tests.
    number = 0
    while True:
        number += 1
        home = folder / str(number)
        home.mkdir()
        yield home
