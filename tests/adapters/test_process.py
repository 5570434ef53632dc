"""Child processes: limits that hold, groups that end, and nothing passed on by accident."""

import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.adapters.process import Ended, Finished, Limits, program, run, surroundings
from fairlead.errors import NoProgram, NotStarted

PYTHON = os.path.realpath(sys.executable)
SOON = Limits(timedelta(seconds=0.3), output_bytes=1000, grace=timedelta(seconds=0.2))
LATER = Limits(timedelta(seconds=30), output_bytes=10_000_000)


def told(
    script: str,
    folder: Path,
    *,
    limits: Limits = LATER,
    stdin: bytes = b"",
    held: tuple[int, ...] = (),
) -> Finished:
    words = [PYTHON, "-IS", "-c", script]
    return run(words, folder=str(folder), environment={}, limits=limits, stdin=stdin, held=held)


def test_a_child_gets_its_input_and_gives_both_streams_and_its_code(tmp_path: Path):
    text = os.urandom(300_000).hex().encode()
    script = (
        "import sys; t = sys.stdin.read(); sys.stdout.write(t); sys.stderr.write('x'); sys.exit(7)"
    )

    done = told(script, tmp_path, stdin=text)

    assert done == Finished(Ended.EXITED, 7, text, b"x")


def test_a_child_that_does_not_read_its_input_is_no_fault(tmp_path: Path):
    done = told("print(1)", tmp_path, stdin=b"x" * 10_000_000)

    assert (done.ended, done.output) == (Ended.EXITED, b"1\n")


def test_a_child_that_takes_too_long_is_ended(tmp_path: Path):
    done = told("import time; time.sleep(60)", tmp_path, limits=SOON)

    assert (done.ended, done.code < 0) == (Ended.TIMED_OUT, True)


def test_a_child_that_closes_its_streams_and_goes_on_is_ended(tmp_path: Path):
    done = told("import os, time; os.close(1); os.close(2); time.sleep(60)", tmp_path, limits=SOON)

    assert done.ended is Ended.TIMED_OUT


def test_a_child_that_does_not_want_to_end_is_ended(tmp_path: Path):
    script = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"

    done = told(script, tmp_path, limits=SOON)

    assert (done.ended, done.code, done.output) == (Ended.TIMED_OUT, -9, b"1\n")


def test_a_child_that_talks_too_much_is_ended_and_cut(tmp_path: Path):
    done = told(
        "while True: print('x' * 999)", tmp_path, limits=Limits(timedelta(seconds=30), 1000)
    )

    assert (done.ended, len(done.output)) == (Ended.TOO_MUCH, 1000)


@pytest.mark.parametrize("ends", ["", "time.sleep(60)"])
def test_what_a_child_started_ends_with_it(tmp_path: Path, ends: str):
    """A pipe that only the grandchild holds open says when it is gone."""
    reading, writing = os.pipe()
    sleeper = "[sys.executable, '-IS', '-c', 'import time; time.sleep(60)']"
    script = (
        f"import subprocess, sys, time\nsubprocess.Popen({sleeper}, pass_fds=[{writing}])\n"
        f"print(1, flush=True)\n{ends}"
    )

    done = told(script, tmp_path, limits=SOON, held=(writing,))
    os.close(writing)

    assert done.output == b"1\n"
    assert os.read(reading, 1) == b""  # would never return if it lived
    os.close(reading)


def test_a_child_sees_only_the_environment_it_is_given(tmp_path: Path):
    done = told("import os; print(sorted(os.environ))", tmp_path)

    assert b"HOME" not in done.output


def test_only_named_variables_are_passed_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WANTED", "1")
    monkeypatch.setenv("SECRET", "2")

    assert surroundings(["WANTED", "ABSENT"], OURS="3") == {"WANTED": "1", "OURS": "3"}


def test_a_program_in_the_folder_one_stands_in_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "trap").write_text("#!/bin/sh\n")
    (tmp_path / "trap").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ":.:" + str(tmp_path / "empty"))

    with pytest.raises(NoProgram):
        program("trap")


def test_a_file_that_is_no_program_is_refused(tmp_path: Path):
    place = tmp_path / "broken"
    place.write_bytes(b"\0")
    place.chmod(0o755)

    with pytest.raises(NotStarted):
        run([str(place)], folder=str(tmp_path), environment={}, limits=LATER)
