"""Fixtures that every test may use: a scratch home, a clean environment, and the command.

No test can read or change the settings of the person who runs it, and none inherits the
environment of a host agent. `fairlead` runs a command in process; `installed` runs the installed
program as a child and is only for tests about processes, signals, terminals and packaging.
"""

import atexit
import gc
import io
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import hypothesis
import pytest

pytest_plugins = [
    "tests.support.cases",
    "tests.support.cpu_time",
    "tests.support.measured",
    "tests.support.skips",
]

ROOT = Path(__file__).resolve().parents[1]


def _memory_folder() -> Path | None:
    """A file system in memory with enough space: the tests write and sync many small files."""
    folder = Path("/dev/shm")
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        return None
    facts = os.statvfs(folder)
    is_large = facts.f_bavail * facts.f_frsize >= _SPACE
    return folder if is_large and not facts.f_flag & os.ST_NOEXEC else None


def _remove(folder: str, owner: int) -> None:
    """Remove the folder of a run at its end, but not at the end of a fork of it."""
    if os.getpid() == owner:
        # Not shutil: some tests make more folders in each other than it can follow.
        subprocess.run(["rm", "-rf", folder], check=False)


_SPACE = 4 * 1024**3
if "TMPDIR" not in os.environ:
    # Before pytest makes its folders, and for all children. The folder is of this run alone: what
    # a killed run left behind, and what another one does at the same time, must not matter.
    _own = tempfile.mkdtemp(prefix="fl-", dir=_memory_folder())
    os.environ["TMPDIR"] = tempfile.tempdir = _own
    atexit.register(_remove, _own, os.getpid())

# Compiled tests are kept, also where the environment forbids it: compiling them anew takes longer
# than importing them, in every worker.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Collecting makes no garbage, and a test makes little: looking for it more often costs 5 %.
gc.disable()
gc.set_threshold(20_000, 20, 50)

# Shared machines stall now and then; a stall is not a fault of the code under test.
hypothesis.settings.register_profile("fairlead", deadline=None, print_blob=True)
hypothesis.settings.register_profile(
    "long", hypothesis.settings.get_profile("fairlead"), max_examples=400
)
hypothesis.settings.load_profile("fairlead")

Case = TypeVar("Case")

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
    """Options for the parts that a quick run leaves out."""
    parser.addoption("--long", action="store_true", help="run the long tier and whole sweeps too")
    parser.addoption("--live", action="store_true", help="run tests that call real agents too")
    parser.addoption("--walks", action="store_true", help="run the walks, and nothing else")
    parser.addoption("--update-golden", action="store_true", help="rewrite golden transcripts")
    parser.addoption("--seed", type=int, default=0, help="seed for the samples of sweeps")


def pytest_configure(config: pytest.Config) -> None:
    """Try more examples of each property in the long tier."""
    if config.getoption("--long"):
        hypothesis.settings.load_profile("long")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file that contains only walks for another run: some import large libraries."""
    if config.getoption("--walks") or collection_path.suffix != ".py":
        return None
    return True if _ONLY_WALKS in collection_path.read_bytes() else None


_ONLY_WALKS = b"\npytestmark = pytest.mark.walk\n"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, not skip: a skip means that this machine lacks something."""
    left_out = {tier for tier in ("long", "live") if not config.getoption(f"--{tier}")}
    walks = config.getoption("--walks")

    def is_wanted(item: pytest.Item) -> bool:
        names = {marker.name for marker in item.iter_markers()}
        return ("walk" in names) == walks and not names & left_out

    wanted = [item for item in items if is_wanted(item)]
    unwanted = {*items}.difference(wanted)
    if not config.getoption("--long"):
        unwanted.update(cases_left_out(wanted, config.getoption("--seed")))
    if unwanted:
        config.hook.pytest_deselected(items=[item for item in items if item in unwanted])
        items[:] = [item for item in items if item not in unwanted]


def cases_left_out(items: Sequence[pytest.Item], seed: int) -> list[pytest.Item]:
    """The cases of each sweep that this run does not try; the same ones in every worker."""
    sweeps: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sweep"):
            sweeps.setdefault(item.nodeid.split("[")[0], []).append(item)
    left_out: list[pytest.Item] = []
    for name, cases in sweeps.items():
        marker = cases[0].get_closest_marker("sweep")
        count = marker.args[0] if marker else len(cases)
        left_out += random.Random(f"{seed}:{name}").sample(cases, max(0, len(cases) - count))
    return left_out


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Thousands of collected tests stay until the end: the garbage collector need not look."""
    gc.collect()
    gc.freeze()
    gc.enable()


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


class Sample(Protocol):
    """Chooses the cases of a sweep that this run tries."""

    def __call__(self, cases: Sequence[Case], count: int) -> list[Case]:
        """At most `count` cases in their order; all of them with --long."""


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Sample:
    """A seeded sample of a large sweep: the same cases in every run with the same --seed."""
    config = request.config

    def choose(cases: Sequence[Case], count: int) -> list[Case]:
        if config.getoption("--long") or len(cases) <= count:
            return list(cases)
        numbers = random.Random(f"{config.getoption('--seed')}:{request.node.nodeid}")
        return [cases[at] for at in sorted(numbers.sample(range(len(cases)), count))]

    return choose


class Outcome(NamedTuple):
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str


class Fairlead(Protocol):
    """Runs one command to its end and returns what it wrote."""

    def __call__(
        self,
        *arguments: str,
        cwd: Path | None = None,
        input: str = "",  # noqa: A002  # the name that subprocess uses
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run the command in `cwd`, by default the test's own folder."""


@pytest.fixture
def fairlead(scratch_home: Path, tmp_path: Path) -> Fairlead:
    """Run a command in this process, in `tmp_path` or in the folder given."""

    def run(
        *arguments: str,
        cwd: Path | None = None,
        input: str = "",  # noqa: A002
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        return run_in_process(arguments, cwd or tmp_path, input, env or {})

    return run


def run_in_process(
    arguments: Sequence[str], folder: Path, text: str, env: Mapping[str, str]
) -> Outcome:
    """Run one command with streams, folder and variables of its own, then restore them."""
    from fairlead.interfaces.cli import main

    here = os.getcwd()
    # No translation of line endings, as when the output of a child is read as bytes.
    out, err = (
        io.TextIOWrapper(
            io.BytesIO(), "utf-8", errors="surrogateescape", newline="", write_through=True
        )
        for _ in range(2)
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        os.chdir(folder)
        try:
            code = main.run(list(arguments))
        finally:
            os.chdir(here)
    return Outcome(code, *(_written(stream) for stream in (out, err)))


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@pytest.fixture(scope="session")
def installed_command() -> Path:
    """The command beside this interpreter; the test fails if it is older than the tree."""
    command = Path(sys.executable).parent / "fairlead"
    differing = _differing_from_tree(command)
    if differing:
        pytest.fail(f"the installed command is not this tree ({differing}); run: make env")
    return command


@pytest.fixture
def installed(installed_command: Path, scratch_home: Path, tmp_path: Path) -> Fairlead:
    """Run the installed program as a child, in `tmp_path` or in the folder given."""

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
            timeout=900,
        )
        # Decoded here, since text mode would hide line endings.
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def _differing_from_tree(command: Path) -> str:
    """The first file in which the installed package differs from the tree, or nothing."""
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
