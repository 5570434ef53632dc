"""Prints what tests measured but do not require: seconds of a busy machine prove nothing.

A test hands over a sentence with `record_property(MEASURED, sentence)`.
"""

import pytest

MEASURED = "measured"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the sentences of every test that ran."""
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        for name, sentence in getattr(report, "user_properties", ()):
            if name == MEASURED and report.when == "call":
                terminalreporter.line(f"measured: {sentence}")
