"""Names and counts skipped tests, so that no skip goes unnoticed.

At the end of a run each skipped test is printed with its reason. With `CI` set, the run fails if
there are more of them than `tests/skips.txt` allows: a machine without strace would otherwise look
as green as one that ran the crash sweep.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

ALLOWED = "skips.txt"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the skipped tests, and report if there are too many."""
    skipped = skipped_in(terminalreporter)
    if not skipped:
        return
    terminalreporter.section(f"{len(skipped)} skipped")
    for line in skipped:
        terminalreporter.line(line)
    allowed = allowed_in(config.rootpath)
    if len(skipped) > allowed:
        terminalreporter.line(
            f"{len(skipped)} tests were skipped, tests/{ALLOWED} allows {allowed}"
            + ("" if in_ci() else " (this fails only with CI set)"),
            red=True,
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if more tests were skipped than allowed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput") or not in_ci():
        return
    if len(skipped_in(reporter)) > allowed_in(session.config.rootpath) and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def skipped_in(reporter: pytest.TerminalReporter) -> list[str]:
    """Each skipped test or module with its reason."""
    reports: Iterable[pytest.TestReport] = reporter.stats.get("skipped", [])
    return sorted(f"{report.nodeid}: {_reason(report)}" for report in reports)


def allowed_in(root: Path) -> int:
    """The number in the file; lines that start with # give the reasons."""
    lines = (root / "tests" / ALLOWED).read_text("utf-8").splitlines()
    return next(int(line) for line in lines if line and not line.startswith("#"))


def in_ci() -> bool:
    """Whether this is a CI run, which must not lose tests."""
    return bool(os.environ.get("CI"))


def _reason(report: pytest.TestReport) -> str:
    where_and_why = report.longrepr
    text = where_and_why[2] if isinstance(where_and_why, tuple) else str(where_and_why)
    return text.removeprefix("Skipped: ")
