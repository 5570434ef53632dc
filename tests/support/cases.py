"""Runs the cases of a parametrised test as one test, because setting up each takes longer.

Only in a run with workers, such as `make test`, and only where every argument of the test is a
parameter, so that no fixture is shared. All cases are tried under the name of the first, and each
that fails is named. Without workers every case is a test of its own, as usual.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

_ALONE = {"sweep", "skip", "skipif", "xfail", "usefixtures"}  # markers about single cases


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Replace the cases of each suitable test with one test, at the place of the first case."""
    if not hasattr(config, "workerinput"):
        return
    families: defaultdict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and has_only_parameters(item):
            families[item.nodeid.partition("[")[0]].append(item)
    merged = {id(case) for cases in families.values() for case in cases[1:]}
    for cases in families.values():
        if len(cases) > 1:
            merge(cases)
    items[:] = [item for item in items if id(item) not in merged]


def has_only_parameters(item: pytest.Function) -> bool:
    """Whether a case needs nothing but its parameters."""
    if not hasattr(item, "callspec") or hasattr(item.obj, "hypothesis"):
        return False
    markers = list(item.iter_markers())
    if any(mark.name in _ALONE or mark.kwargs.get("indirect") for mark in markers):
        return False
    # A parametrised fixture is a parameter too, but not one of the test's own.
    own = {
        name for mark in markers if mark.name == "parametrize" for name in names_of(mark.args[0])
    }
    return own == set(item.callspec.params) == set(item._fixtureinfo.argnames)


def names_of(names: str | Sequence[str]) -> list[str]:
    """The names of parameters, which a marker has as a list or as one text."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def merge(cases: list[pytest.Function]) -> None:
    """Make the first case try all of them."""
    first = cases[0]
    test = first.obj
    calls = [(case.name, dict(case.callspec.params)) for case in cases]

    def try_all(**_: object) -> None:
        try_each(test, calls)

    first.obj = try_all


def try_each(
    test: Callable[..., object], calls: Iterable[tuple[str, Mapping[str, object]]]
) -> None:
    """Call the test with the parameters of every case; raise all failures together."""
    failures: list[Exception] = []
    skipped: list[BaseException] = []
    tried = 0
    for name, parameters in calls:
        tried += 1
        try:
            test(**parameters)
        except pytest.skip.Exception as skip:
            skipped.append(skip)
        except (Exception, pytest.fail.Exception) as problem:  # noqa: BLE001
            failure = problem if isinstance(problem, Exception) else AssertionError(str(problem))
            failure.add_note(f"in the case {name}")
            failures.append(failure)
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {tried} cases fail", failures)
    if skipped:
        raise skipped[0]
