"""A quick run tries a sample of each sweep, and a run says what its folders cost."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from tests.conftest import cases_left_out
from tests.support.cpu_time import by_file, by_folder, by_test

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Case:
    """The part of a collected test that decides about samples."""

    nodeid: str
    marker: pytest.Mark | None = None

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marker if name == "sweep" else None


SWEEP = pytest.mark.sweep(3).mark
CASES = [Case(f"tests/a/test_a.py::test_swept[{number}]", SWEEP) for number in range(20)]
OTHERS = [Case(f"tests/a/test_a.py::test_whole[{number}]") for number in range(20)]


def tried(cases: Sequence[Case], seed: int) -> list[Case]:
    left_out = cases_left_out(cast("Sequence[pytest.Item]", cases), seed)
    names = {case.nodeid for case in left_out}
    return [case for case in cases if case.nodeid not in names]


def test_a_sample_of_a_sweep_is_tried_and_every_other_test():
    found = tried([*CASES, *OTHERS], 0)

    assert len([case for case in found if case.marker]) == 3
    assert [case for case in found if case.marker is None] == OTHERS


def test_a_seed_chooses_the_same_cases_everywhere_and_another_seed_chooses_others():
    assert tried(CASES, 0) == tried(CASES, 0)
    assert len({str(tried(CASES, seed)) for seed in range(10)}) > 5


def test_a_sweep_with_fewer_cases_is_tried_whole():
    assert tried(CASES[:2], 0) == CASES[:2]


def test_seconds_are_counted_by_folder_by_file_and_by_test():
    seconds = {
        "tests/a/test_a.py::test_one[1/2]": 1.0,
        "tests/a/test_a.py::test_one[2/2]": 2.0,
        "tests/a/test_b.py::test_two": 4.0,
        "tests/c/test_c.py::test_three": 0.5,
        "start": 3.0,
    }
    assert by_folder(seconds) == [("a", 7.0), ("start", 3.0), ("c", 0.5)]
    assert by_file(seconds)[:2] == [("tests/a/test_b.py", 4.0), ("tests/a/test_a.py", 3.0)]
    assert by_test(seconds)[1] == ("tests/a/test_a.py::test_one", 3.0)


SAMPLE = """
import pytest

@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_even(number):
    assert number % 2 == 0

@pytest.mark.parametrize("number", [1, 2])
def test_with_a_fixture(number, tmp_path):
    pass

@pytest.fixture(params=[1, 2])
def made(request):
    return request.param * 10

def test_with_a_parametrised_fixture(made):
    assert made in (10, 20)

@pytest.mark.parametrize("number", [1, 2])
def test_with_a_skip(number):
    if number == 1:
        pytest.skip("no ones here")
"""


def test_with_workers_the_cases_of_a_test_are_one_test_that_names_those_that_fail(tmp_path: Path):
    (tmp_path / "test_sample.py").write_text(SAMPLE, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    words = ("-q", "-rfs", "-p", "tests.support.cases", "-p", "xdist", "-n", "1")
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}

    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={**os.environ, **alone},
        capture_output=True,
        text=True,
        timeout=900,
    )

    assert "1 failed, 4 passed, 1 skipped" in run.stdout
    assert "2 of 4 cases fail" in run.stdout
    assert [name for name in "1234" if f"in the case test_even[{name}]" in run.stdout] == ["1", "3"]
