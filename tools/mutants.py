"""Measure with seeded mutants whether the tests catch faults.

    tools/mutants.py list --package store --tree . --count 200 --seed 1 --output store.json
    tools/mutants.py list --package store --tree OLD --match NEW --map MODULES --output store.json
    tools/mutants.py run store.json --side old --output result.json

A mutant is a function with one small fault: a flipped comparison, a negated condition, a dropped
call. It is killed if a test fails or hangs, and it survives otherwise. `list` chooses mutants by a
seeded hash. With `--match` it chooses only mutants that exist in both trees, so that the tests of
two versions can be compared although names and modules changed between them: a mutant is
identified by its operator, the shape of its statement and function without names and prose, and
its number among equal ones. `--map` names a file with lines "old.module new.module" as a hint.

`run` must use the Python environment of the tree. It collects the tests once, notes in one
baseline run which functions each test calls, and then forks one process per mutant, which
replaces the code of one function and runs the tests that call it. Tests in child processes do not
see the mutation; tests that run the installed command are left out. Results and baseline are
kept in files: a second run continues, also with a higher limit of seconds. Delete both files when
the tests change. Mutants can write anywhere their paths lead, so use a disposable copy of the tree.
"""

import argparse
import ast
import contextlib
import functools
import gc
import hashlib
import importlib
import inspect
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import TypedDict

import pytest

ROOT = str(Path(__file__).resolve().parents[1])
sys.path.insert(0, ROOT)  # for use as a script
from tools.mutations import (  # noqa: E402
    Mutant,
    choose,
    functions_of,
    lines_of,
    mutated_codes,
    outer_functions,
    pairs_of,
)

sys.path.remove(ROOT)  # the tests to run are those of another tree

# Folders of tests that start processes, check the repository, or contain no tests of the package.
SKIPPED_TESTS = {"architecture", "conformance", "corpus", "crash", "prove", "support", "tools"}
INSTALLED_COMMAND = {"installed_command"}  # fixtures that run the installed command
CASES = 8  # of one parametrised test; the others are left out
SECONDS_PER_MUTANT = 8.0  # of processor time; more tests than that are not run for one mutant
PATIENCE = 20.0  # seconds that a test may take beyond five times its usual processor time

KILLED = ("killed", "timeout")
FILE_SIZE = 1 << 30  # a mutant in an endless loop must not fill the disk


# Running the tests


class Baseline(TypedDict):
    """What one test does without a mutant."""

    seconds: float  # of processor time, its children included
    calls: list[str]  # "file:first line" of each function


class Outcome(TypedDict):
    """What the tests said about a mutant."""

    outcome: str  # killed, timeout, survived or uncovered
    tests: int
    left: int  # tests that were not run because of the limit
    limit: float  # seconds of tests for this mutant
    test: str  # the one that failed
    seconds: float


class MutantRunner:
    """A pytest plugin that runs mutants instead of the tests that were collected."""

    def __init__(self, tree: Path, mutants: Sequence[Mutant], options: argparse.Namespace) -> None:
        self.tree = tree
        self.mutants = mutants
        self.side: str = options.side
        self.output: Path = options.output
        self.jobs: int = options.jobs
        self.limit: float = options.seconds
        self.cases: int = options.cases
        self.failed = False
        self.skipped = False
        self.recorder = CallRecorder(tree)
        self.live: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        self.items: dict[str, pytest.Item] = {}
        self.baseline: dict[str, Baseline] = {}
        self.results: dict[str, Outcome] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Make property tests repeatable, and do not let them shrink what they find."""
        import hypothesis

        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile(
            "mutants", hypothesis.settings(), derandomize=True, database=None, phases=phases
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        self.failed |= report.failed
        self.skipped |= report.skipped

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        """Note the calls of a fixture for every test that uses it, not only for the first."""
        with self.recorder.fixture(fixturedef):
            return (yield)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the baseline if there is none, then run every mutant that has no result yet."""
        gc.unfreeze()  # frozen objects, such as the functions of the tree, are not listed
        self.items = {item.nodeid: item for item in self._sample(session.items)}
        self._import_package()
        stored = self.output.with_suffix(".baseline.json")
        if not stored.exists():
            stored.write_text(json.dumps(self._take_baseline()))
        self.baseline = json.loads(stored.read_text())
        if self.output.exists():
            self.results = json.loads(self.output.read_text())["mutants"]
        todo = [mutant for mutant in self.mutants if self._is_open(mutant["id"])]
        shares = [todo[number :: self.jobs] for number in range(self.jobs)]
        workers = [Child(functools.partial(self._work, share), output=True) for share in shares]
        for line in lines_from(workers):
            identity, outcome = json.loads(line)
            self.results[identity] = outcome
            self._save()
            print(f"{len(self.results)} {identity} {outcome['outcome']}", flush=True)
        self._save()
        return True

    def _is_open(self, identity: str) -> bool:
        """Whether there is no result, or one that more tests could change."""
        result = self.results.get(identity)
        return not result or (
            result["test"] == "" and result["limit"] < self.limit and result["left"] > 0
        )

    def _sample(self, items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
        """The tests that run in this process, with at most a few cases of each."""
        families: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if not INSTALLED_COMMAND & set(getattr(item, "fixturenames", ())):
                families[item.nodeid.partition("[")[0]].append(item)
        for family in families.values():
            ordered = sorted(family, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())
            yield from ordered[: self.cases]

    def _save(self) -> None:
        counts = summary(self.mutants, self.results)
        text = json.dumps({"side": self.side, "packages": counts, "mutants": self.results})
        self.output.write_text(text + "\n")

    def _import_package(self) -> None:
        """Import the modules of the mutants, and find the functions that use each code object."""
        for mutant in self.mutants:
            path = self.tree / mutant["places"][self.side]["file"]
            parts = path.relative_to(self.tree / "src").with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
        for candidate in gc.get_objects():
            if isinstance(candidate, FunctionType):
                code = candidate.__code__
                key = (code.co_filename, code.co_qualname, code.co_firstlineno)
                self.live[key].append(candidate)

    def _take_baseline(self) -> dict[str, Baseline]:
        """Run every test once and note its calls; leave out the tests that do not pass."""
        items = list(self.items.values())
        size = -(-len(items) // self.jobs)
        shares = [items[start : start + size] for start in range(0, len(items), size)]
        self.recorder.find_caches()
        children = [Child(functools.partial(self._record, share)) for share in shares]
        baseline: dict[str, Baseline] = {}
        for number, line in enumerate(lines_from(children), 1):
            name, has_passed, noted = json.loads(line)
            if has_passed:
                baseline[name] = noted
            elif noted["calls"]:
                print(f"left out, because it does not pass: {name}", flush=True)
            if number % 500 == 0:
                print(f"{number} of {len(items)} tests", flush=True)
        return baseline

    def _record(self, items: Sequence[pytest.Item], send: Callable[[str], None]) -> None:
        for item, following in zip(items, [*items[1:], None], strict=True):
            begin = sum(os.times()[:4])
            with self.recorder.test():
                self._run(item, following)
            seconds = round(sum(os.times()[:4]) - begin, 2)
            noted = Baseline(seconds=max(seconds, 0.01), calls=self.recorder.calls_of(item))
            send(json.dumps([item.nodeid, not (self.failed or self.skipped), noted]))

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        self.failed = self.skipped = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

    def _work(self, mutants: Sequence[Mutant], send: Callable[[str], None]) -> None:
        sound: dict[str, bool] = {}  # by test: whether it passes alone and without a mutant
        for mutant in mutants:
            outcome = self._outcome_of(mutant, sound)
            while outcome["test"] and not sound.get(outcome["test"]):
                # A test that also fails without the mutant proves nothing.
                sound[outcome["test"]] = self._try([outcome["test"]], None)["test"] == ""
                if not sound[outcome["test"]]:
                    outcome = self._outcome_of(mutant, sound)
            send(json.dumps([mutant["id"], outcome]))

    def _outcome_of(self, mutant: Mutant, sound: Mapping[str, bool]) -> Outcome:
        """Run the tests that call the mutated function, as many as the limit allows."""
        before = self.results[mutant["id"]]["tests"] if mutant["id"] in self.results else 0
        total, left, names = 0.0, 0, []
        for name in self._tests_for(mutant):
            if not sound.get(name, True):
                continue
            total += self.baseline[name]["seconds"]
            if total <= self.limit:
                names.append(name)
            else:
                left += 1
        # A run with a higher limit goes on behind the tests that passed before.
        outcome = self._try(names[before:] or names, mutant)
        return {**outcome, "tests": before + outcome["tests"], "left": left}

    def _tests_for(self, mutant: Mutant) -> list[str]:
        """The tests that call the function: one case of each test function first, fast ones first."""
        place = mutant["places"][self.side]
        path = self.tree / place["file"]
        function = dict(outer_functions(ast.parse(path.read_bytes())))[place["function"]]
        calls = {f"{place['file']}:{line}" for line in lines_of(function)}
        costs = sorted(
            (test["seconds"], name)
            for name, test in self.baseline.items()
            if name in self.items and not calls.isdisjoint(test["calls"])
        )
        cases: dict[str, int] = defaultdict(int)
        order = []
        for seconds, name in costs:
            family = name.partition("[")[0]
            cases[family] += 1
            order.append((cases[family], seconds, name))
        return [name for _, _, name in sorted(order)]

    def _try(self, names: Sequence[str], mutant: Mutant | None) -> Outcome:
        """Run tests in a process of their own until one fails."""
        result = Outcome(
            outcome="uncovered", tests=0, left=0, limit=self.limit, test="", seconds=0.0
        )
        if not names:
            return result
        begin = time.monotonic()
        child = Child(functools.partial(self._run_until_one_fails, names, mutant))
        number = 0  # of the test that runs
        line = child.line(2 * PATIENCE)
        result["outcome"] = "invalid"
        while line in {"ready", "test"}:
            number += line == "test"
            seconds = self.baseline[names[max(number - 1, 0)]]["seconds"]
            line = child.line(5 * seconds + PATIENCE)
            # A process that ends without a word was ended by the test.
            ends = {"failed": "killed", "": "killed", None: "timeout"}
            result["outcome"] = ends.get(line, "survived")
        child.end()
        result["tests"] = number
        result["seconds"] = round(time.monotonic() - begin, 2)
        if result["outcome"] in KILLED:
            result["test"] = names[max(number - 1, 0)]
        return result

    def _run_until_one_fails(
        self, names: Sequence[str], mutant: Mutant | None, send: Callable[[str], None]
    ) -> None:
        if mutant:
            self._mutate(mutant)
        send("ready")
        items = [self.items[name] for name in names]
        for item, following in zip(items, [*items[1:], None], strict=True):
            send("test")
            self._run(item, following)
            if self.failed:
                send("failed")
                return
        send("passed")

    def _mutate(self, mutant: Mutant) -> None:
        path = self.tree / mutant["places"][self.side]["file"]
        swapped = 0
        for (name, line), code in mutated_codes(path, mutant["places"][self.side]).items():
            functions = self.live.get((str(path), name, line), [])
            for function in functions:
                if len(function.__code__.co_freevars) == len(code.co_freevars):
                    function.__code__ = code
                    swapped += 1
        if not swapped:
            raise LookupError(f"no function uses the code of {mutant['places'][self.side]}")


class CallRecorder:
    """Notes which functions below a folder are called while a test or a fixture runs."""

    def __init__(self, tree: Path) -> None:
        self.tree = f"{tree}{os.sep}"
        self.codes: set[CodeType] = set()
        self.fixtures: dict[str, set[CodeType]] = defaultdict(set)
        self.is_active = False
        self.caches: list[functools._lru_cache_wrapper[object]] = []

    @contextlib.contextmanager
    def test(self) -> Iterator[None]:
        """Note the calls of a test."""

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                self.codes.add(frame.f_code)

        # What a test finds in a cache counts as a call too, since each mutant starts afresh.
        for cache in self.caches:
            cache.cache_clear()
        self.codes = set()
        self.is_active = True
        threading.setprofile(note)
        sys.setprofile(note)
        yield
        sys.setprofile(None)
        threading.setprofile(None)
        self.is_active = False

    @contextlib.contextmanager
    def fixture(self, fixture: pytest.FixtureDef[object]) -> Iterator[None]:
        """Note the calls of a fixture, for every test that uses it."""
        before, self.codes = self.codes, set()
        yield
        if self.is_active and fixture.scope != "function":
            self.fixtures[fixture.argname] |= self.codes
        self.codes |= before

    def calls_of(self, item: pytest.Item) -> list[str]:
        """The functions that a test and its fixtures called, as "file:first line"."""
        codes = set(self.codes)
        for name in getattr(item, "fixturenames", ()):
            codes |= self.fixtures.get(name, set())
        return sorted(
            f"{code.co_filename.removeprefix(self.tree)}:{code.co_firstlineno}"
            for code in codes
            if code.co_filename.startswith(f"{self.tree}src{os.sep}")
        )

    def find_caches(self) -> None:
        """Find the cached functions of the tree; they are emptied before each test."""
        for candidate in gc.get_objects():
            if isinstance(candidate, functools._lru_cache_wrapper):
                function = inspect.unwrap(candidate)
                code = getattr(function, "__code__", None)
                if code and code.co_filename.startswith(self.tree):
                    self.caches.append(candidate)


class Child:
    """A forked process that sends lines; its scratch files are deleted when it ends."""

    def __init__(self, work: Callable[[Callable[[str], None]], None], output: bool = False) -> None:
        self.scratch = tempfile.mkdtemp(prefix="m")
        self.reader, writer = os.pipe()
        self.received = b""
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            try:
                self._enter(output)
                work(lambda line: _write_line(writer, line))
            except BaseException:  # noqa: BLE001  # the parent sees the end of the pipe
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(writer)

    def _enter(self, output: bool) -> None:
        os.setsid()  # so that the end of this process is the end of its children
        os.close(self.reader)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0,) if output else (0, 1, 2):
            os.dup2(null, number)
        os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = self.scratch
        tempfile.tempdir = self.scratch
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))

    def line(self, seconds: float | None = None) -> str | None:
        """The next line, "" at the end, None if it does not come in time."""
        deadline = time.monotonic() + (seconds or 0)
        while b"\n" not in self.received:
            wait = None if seconds is None else max(deadline - time.monotonic(), 0)
            if not select.select([self.reader], [], [], wait)[0]:
                return None
            received = os.read(self.reader, 65536)
            if not received:
                return ""
            self.received += received
        line, _, self.received = self.received.partition(b"\n")
        return line.decode()

    def end(self) -> None:
        """Kill the process and its children, and delete its files."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.reader)
        shutil.rmtree(self.scratch, ignore_errors=True)


def _write_line(writer: int, line: str) -> None:
    rest = line.encode() + b"\n"
    while rest:
        rest = rest[os.write(writer, rest) :]


def lines_from(children: Sequence[Child]) -> Iterator[str]:
    """The lines of several processes, until all have ended."""
    running = list(children)
    while running:
        waiting = [child.reader for child in running if b"\n" not in child.received]
        ready = select.select(waiting, [], [], 0 if len(waiting) < len(running) else None)[0]
        for child in list(running):
            if child.reader not in ready and b"\n" not in child.received:
                continue
            line = child.line()
            if line:
                yield line
            else:
                child.end()
                running.remove(child)


# The command


def summary(mutants: Iterable[Mutant], results: Mapping[str, Outcome]) -> dict[str, dict[str, int]]:
    """For each package: how many mutants had which outcome."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for mutant in mutants:
        if mutant["id"] in results:
            counts[mutant["package"]][results[mutant["id"]]["outcome"]] += 1
    return counts


def list_mutants(options: argparse.Namespace) -> None:
    """Write the chosen mutants."""
    modules = {}
    if options.map:
        lines = [line.split() for line in options.map.read_text("utf-8").splitlines()]
        modules = {words[0]: words[1] for words in lines if len(words) == 2 and words[0] != "#"}
    other = options.match or options.tree
    new = functions_of(other, options.package, {})
    old = functions_of(options.tree, options.package, modules) if options.match else new
    pairs = list(pairs_of(old, new))
    everything = choose(options.package, pairs, sys.maxsize, options.seed)
    chosen = everything[: options.count]
    trees = {"old": str(options.tree), "new": str(other)}
    options.output.write_text(json.dumps({"trees": trees, "mutants": chosen}, indent=1) + "\n")
    possible = sum(len(function.mutations) for function in old)
    print(
        f"{options.package}: {len(old)} functions, {len(new)} in the other tree, {len(pairs)} pairs;"
        f" {possible} mutants, {len(everything)} in both trees, {len(chosen)} chosen"
    )


def run_mutants(options: argparse.Namespace) -> None:
    """Run the mutants of the lists with the tests of one side, and print the outcome."""
    lists = [json.loads(path.read_text("utf-8")) for path in options.lists]
    mutants: list[Mutant] = [mutant for each in lists for mutant in each["mutants"]]
    tree = Path(options.tree or lists[0]["trees"][options.side]).resolve()
    options.output = options.output.resolve()
    tests = options.tests or [
        str(path)
        for path in sorted((tree / "tests").iterdir())
        if path.is_dir() and path.name not in SKIPPED_TESTS and any(path.rglob("test_*.py"))
    ]
    os.chdir(tree)
    runner = MutantRunner(tree, mutants, options)
    switches = ["-q", "-s", "-p", "no:cacheprovider", f"--rootdir={tree}"]
    code = pytest.main([*switches, *tests], plugins=[runner])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        sys.exit(f"the tests could not be collected: {code!r}")
    missing = [mutant["id"] for mutant in mutants if mutant["id"] not in runner.results]
    if missing:
        sys.exit(f"{len(missing)} mutants have no result; run the command again")
    for mutant in mutants:
        result = runner.results[mutant["id"]]
        if result["outcome"] not in KILLED:
            place = mutant["places"][options.side]
            print(
                f"{place['file']}:{place['line']}: {mutant['operator']} in {mutant['statement']}"
                f" ({result['outcome']}, {result['tests']} tests)"
            )
    for package, counts in summary(mutants, runner.results).items():
        killed = sum(counts.get(outcome, 0) for outcome in KILLED)
        total = sum(counts.values())
        print(f"{package}: {killed} of {total} killed ({killed / total:.1%}) {dict(counts)}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run one of the two commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    choosing = commands.add_parser("list", help="choose mutants and write them as JSON")
    choosing.add_argument("--package", required=True, help="package below the root package")
    choosing.add_argument("--tree", required=True, type=Path, help="root of the repository")
    choosing.add_argument("--match", type=Path, help="another version of the repository")
    choosing.add_argument("--map", type=Path, help='lines "old.module new.module"')
    choosing.add_argument("--count", type=int, default=200)
    choosing.add_argument("--seed", type=int, default=1)
    choosing.add_argument("--output", required=True, type=Path)
    choosing.set_defaults(command=list_mutants)
    running = commands.add_parser("run", help="run the tests against the mutants of lists")
    running.add_argument("lists", nargs="+", type=Path)
    running.add_argument("--side", choices=["old", "new"], default="new")
    running.add_argument("--tree", type=Path, help="root of the repository (default: as listed)")
    running.add_argument("--output", required=True, type=Path, help="results; continued if present")
    running.add_argument("--jobs", type=int, default=1, help="processes at a time (default: 1)")
    running.add_argument(
        "--seconds", type=float, default=SECONDS_PER_MUTANT, help="of tests for each mutant"
    )
    running.add_argument("--cases", type=int, default=CASES, help="of each parametrised test")
    running.add_argument("--tests", nargs="+", help="folders of tests (default: most)")
    running.set_defaults(command=run_mutants)
    options = parser.parse_args(arguments)
    options.command(options)


if __name__ == "__main__":
    main()
