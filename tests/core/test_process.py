"""Child processes: limits that hold, groups that end, and nothing passed on by accident."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.core.errors import NoProgram, NotStarted
from fairlead.core.process import (
    ExitKind,
    ProcessLimits,
    ProcessResult,
    _OutputReader,
    environment_of,
    program,
    run,
)
from fairlead.core.values import replace

PYTHON = os.path.realpath(sys.executable)
SOON = ProcessLimits(timedelta(seconds=0.3), output_bytes=1000, grace=timedelta(seconds=0.2))
LATER = ProcessLimits(timedelta(seconds=30), output_bytes=10_000_000)


def run_python(
    script: str,
    folder: Path,
    *,
    limits: ProcessLimits = LATER,
    stdin: bytes = b"",
    inherited: tuple[int, ...] = (),
) -> ProcessResult:
    words = [PYTHON, "-IS", "-c", script]
    return run(
        words, folder=str(folder), environment={}, limits=limits, stdin=stdin, inherited=inherited
    )


def test_a_child_gets_its_input_and_returns_both_streams_and_its_code(tmp_path: Path):
    text = os.urandom(300_000).hex().encode()
    script = (
        "import sys; t = sys.stdin.read(); sys.stdout.write(t); sys.stderr.write('x'); sys.exit(7)"
    )

    result = run_python(script, tmp_path, stdin=text)

    assert result == ProcessResult(ExitKind.EXITED, 7, text, b"x")


def test_a_child_need_not_read_its_input(tmp_path: Path):
    result = run_python("print(1)", tmp_path, stdin=b"x" * 10_000_000)

    assert (result.ended, result.output) == (ExitKind.EXITED, b"1\n")


def run_until_it_speaks(
    script: str, folder: Path, *, inherited: tuple[int, ...] = ()
) -> ProcessResult:
    """Run with a short limit, and with a longer one where a busy machine needs it to start."""
    result = run_python(script, folder, limits=SOON, inherited=inherited)
    for seconds in (2, 10, 60):
        if not result.output:
            limits = replace(SOON, wall=timedelta(seconds=seconds))
            result = run_python(script, folder, limits=limits, inherited=inherited)
    return result


def test_a_child_is_ended_at_its_time_limit(tmp_path: Path):
    result = run_python("import time; time.sleep(60)", tmp_path, limits=SOON)

    assert (result.ended, result.code < 0) == (ExitKind.TIMED_OUT, True)


def test_a_child_that_closes_its_streams_is_ended_at_its_time_limit(tmp_path: Path):
    result = run_python(
        "import os, time; os.close(1); os.close(2); time.sleep(60)", tmp_path, limits=SOON
    )

    assert result.ended is ExitKind.TIMED_OUT


def test_a_child_that_ignores_sigterm_is_killed(tmp_path: Path):
    script = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"

    result = run_until_it_speaks(script, tmp_path)

    assert (result.ended, result.code, result.output) == (ExitKind.TIMED_OUT, -9, b"1\n")


def test_a_child_that_writes_too_much_is_ended(tmp_path: Path):
    result = run_python(
        "while True: print('x' * 999)", tmp_path, limits=ProcessLimits(timedelta(seconds=30), 1000)
    )

    assert (result.ended, len(result.output)) == (ExitKind.TOO_MUCH, 1000)


@pytest.mark.parametrize("ends", ["", "time.sleep(60)"])
def test_processes_of_a_child_end_with_it(tmp_path: Path, ends: str):
    """A pipe that only the grandchild holds open says when it is gone."""
    reading, writing = os.pipe()
    sleeper = "[sys.executable, '-IS', '-c', 'import time; time.sleep(60)']"
    script = (
        f"import subprocess, sys, time\nsubprocess.Popen({sleeper}, pass_fds=[{writing}])\n"
        f"print(1, flush=True)\n{ends}"
    )

    result = run_until_it_speaks(script, tmp_path, inherited=(writing,))
    os.close(writing)

    assert result.output == b"1\n"
    assert os.read(reading, 1) == b""  # would never return if it lived
    os.close(reading)


def test_a_child_sees_only_the_environment_it_is_given(tmp_path: Path):
    result = run_python("import os; print(sorted(os.environ))", tmp_path)

    assert b"HOME" not in result.output


def test_only_named_variables_are_passed_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WANTED", "1")
    monkeypatch.setenv("SECRET", "2")

    assert environment_of(["WANTED", "ABSENT"], OURS="3") == {"WANTED": "1", "OURS": "3"}


def test_a_program_in_the_current_folder_is_not_found(
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


def test_output_of_a_child_that_ends_between_two_looks_is_read() -> None:
    class EndsWhenAsked(subprocess.Popen[bytes]):
        """Writes and ends at the moment it is asked whether it has ended."""

        def poll(self) -> int | None:
            if self.stdin and not self.stdin.closed:
                self.stdin.close()
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            return super().poll()

    pipe = subprocess.PIPE
    with EndsWhenAsked(
        ["sh", "-c", "cat; echo said"], stdin=pipe, stdout=pipe, stderr=pipe
    ) as child:
        reader = _OutputReader(child, LATER)
        assert reader.read_to_end() is ExitKind.EXITED
        assert reader.output_of(child.stdout) == b"said\n"
