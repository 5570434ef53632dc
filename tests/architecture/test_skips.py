"""Skips are named and counted: a run with CI set fails when there are more than allowed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = """
import pytest

def test_that_runs():
    pass

def test_that_needs_a_tracer():
    pytest.skip("strace is not installed")
"""


def a_run(folder: Path, *, allowed: int, environment: dict[str, str], workers: int):
    (folder / "tests").mkdir()
    (folder / "tests" / "skips.txt").write_text(f"# why\n{allowed}\n", "utf-8")
    (folder / "test_sample.py").write_text(SAMPLE, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    # Only the plugins that matter here: the others take longer to import than the test to run.
    words = ["-p", "tests.support.skips", *(["-p", "xdist", "-n", str(workers)] if workers else [])]
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "CI": ""}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        env={**os.environ, **alone, **environment},
        capture_output=True,
        text=True,
        timeout=900,
    )


def test_a_skipped_test_is_named_with_its_reason(tmp_path: Path):
    run = a_run(tmp_path, allowed=1, environment={}, workers=0)

    assert "test_that_needs_a_tracer: strace is not installed" in run.stdout


@pytest.mark.parametrize(
    ("allowed", "environment", "workers", "exit_code"),
    [(1, {"CI": "1"}, 0, 0), (0, {"CI": "1"}, 0, 1), (0, {"CI": "1"}, 1, 1), (0, {}, 0, 0)],
)
def test_more_skips_than_allowed_fail_in_ci_only(
    allowed, environment, workers, exit_code, tmp_path: Path
):
    run = a_run(tmp_path, allowed=allowed, environment=environment, workers=workers)

    assert run.returncode == exit_code, run.stdout + run.stderr
