"""What test runners say when there was nothing to run, and when there was."""

import pytest

from fairlead.records.runner_reports import ran_no_test


@pytest.mark.parametrize(
    "output",
    [
        "collected 0 items\n\n============ no tests ran in 0.01s ============",
        "\n----------\nRan 0 tests in 0.000s\n\nOK",
        "\n  0 passing (1ms)\n",
        "No tests found, exiting with code 0\n",
        "No test files found, exiting with code 0",
        "Test Suites: 0 total\nTests:       0 total\n",
        "\n0 examples, 0 failures\n",
        "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
        "1..0 # no tests",
        "?   \texample.org/thing\t[no test files]\n",
        "testing: warning: no tests to run\nPASS\nok  \texample.org/thing\t0.002s [no tests to run]",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored",
    ],
)
def test_a_run_without_a_test_is_noticed_in_the_words_of_its_runner(output: str) -> None:
    assert ran_no_test(output)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "all good",
        "12 passed in 0.31s",
        "running 0 tests\n\nrunning 3 tests\ntest result: ok. 3 passed; 0 failed",
        "?   \texample.org/a\t[no test files]\nok  \texample.org/b\t0.004s",
        "?   \texample.org/a\t[no test files]\nok  \texample.org/b\t(cached)",
        "Ran 4 tests in 0.002s\n\nOK",
        "TAP version 13\nok 1 - it works\n1..1",
        "Tests:       2 passed, 2 total",
        "the file says: no tests were needed here",
    ],
)
def test_a_run_with_a_test_or_without_a_runner_is_left_alone(output: str) -> None:
    assert ran_no_test(output) == ""
