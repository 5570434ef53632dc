"""Counts the CPU seconds of a run, so that growth of the suite shows.

Every run ends with the CPU time by folder below `tests`, children included. `--cpu N` also lists
the N most expensive files and tests, with all cases of a test as one. A fixture of the session
counts for the test that was first to ask for it; time outside tests (imports, collection) is listed
as `start`. Processes that outlive their test are not counted.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

_OUTSIDE = "start"
_SECONDS = pytest.StashKey[defaultdict[str, float]]()
_WORKER_KEY = "cpu_seconds"


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many expensive files and tests to name."""
    parser.addoption("--cpu", type=int, default=0, metavar="N", help="list N expensive tests")


def pytest_configure(config: pytest.Config) -> None:
    """Start counting."""
    config.stash[_SECONDS] = defaultdict(float)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Count what one test costs, with its fixtures and its children."""
    before = used_seconds()
    try:
        return (yield)
    finally:
        item.config.stash[_SECONDS][item.nodeid] += used_seconds() - before


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Add what this process used outside tests; a worker hands its figures to the main process."""
    config = session.config
    seconds = config.stash[_SECONDS]
    # The main process of a run with workers has workers as children: they are not counted twice.
    has_workers = bool(config.getoption("numprocesses", None)) and not _is_worker(config)
    seconds[_OUTSIDE] += used_seconds(children=not has_workers) - (
        0 if has_workers else sum(seconds.values())
    )
    if _is_worker(config):
        config.workeroutput[_WORKER_KEY] = dict(seconds)  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the figures of a worker that has ended."""
    figures = getattr(node, "workeroutput", {}).get(_WORKER_KEY, {})
    for name, spent in figures.items():
        node.config.stash[_SECONDS][name] += spent


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """One line by folder, and the expensive files and tests if they are asked for."""
    seconds = config.stash[_SECONDS]
    spent_by_folder = ", ".join(f"{name} {spent:.0f}" for name, spent in by_folder(seconds))
    terminalreporter.line(f"CPU seconds: {sum(seconds.values()):.0f} = {spent_by_folder}")
    count = config.getoption("--cpu")
    for name, spent in (*by_file(seconds)[:count], *by_test(seconds)[:count]):
        terminalreporter.line(f"{spent:8.2f} s {name}")


def used_seconds(*, children: bool = True) -> float:
    """User and system time of this process, and of its children that have ended."""
    times = os.times()
    own = times.user + times.system
    return own + times.children_user + times.children_system if children else own


def by_folder(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    """The seconds by folder below `tests`, the largest first."""
    return _grouped(seconds, lambda test: (test.split("::")[0].split("/")[1:] or [_OUTSIDE])[0])


def by_file(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    """The seconds by file, the largest first."""
    return _grouped(seconds, lambda test: test.split("::")[0])


def by_test(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    """The seconds by test, the largest first; the cases of a test count together."""
    return _grouped(seconds, lambda test: test.split("[")[0])


def _grouped(
    seconds: Mapping[str, float], group_of: Callable[[str], str]
) -> list[tuple[str, float]]:
    groups: defaultdict[str, float] = defaultdict(float)
    for name, spent in seconds.items():
        groups[group_of(name)] += spent
    return sorted(groups.items(), key=lambda each: -each[1])


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workeroutput")
