"""The benchmark's figures of a command are those of the command, not of the process that measures."""

import sys
from pathlib import Path

from bench.measure import measured

_ALLOCATE = "import sys; b = bytearray(int(sys.argv[1]) << 20); b[::4096] = b[::4096]"


def used_by(folder: Path, megabytes: int) -> int:
    words = (sys.executable, "-I", "-S", "-c", _ALLOCATE, str(megabytes))
    code, sample = measured(words, folder, {})
    assert code == 0
    assert sample.seconds > 0
    return sample.kilobytes


def test_the_memory_of_a_command_is_its_own(tmp_path: Path) -> None:
    ballast = bytearray(150 << 20)  # this process is large
    ballast[::4096] = ballast[::4096]
    small, large = used_by(tmp_path, 1), used_by(tmp_path, 60)
    assert small < 40 << 10
    assert large > small + (50 << 10)


def test_the_exit_code_of_a_command_is_reported(tmp_path: Path) -> None:
    assert measured(("/bin/sh", "-c", "exit 3"), tmp_path, {})[0] == 3
