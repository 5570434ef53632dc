"""The installation: the complete package, compiled, with an interpreter that is new enough."""

import importlib.util
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OLD_PYTHON = "#!/bin/sh\nexit 1\n"
NEW_PYTHON = "#!/bin/sh\nexit 0\n"


def a_program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(text, "utf-8")
    program.chmod(0o755)
    return program


def found_python(path: Path, *named: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", ROOT / "tools" / "find-python", *named],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
    )


def test_the_installed_package_is_this_tree(installed_command: Path):
    assert installed_command.is_file()


def test_the_installed_package_is_compiled():
    package = Path(sysconfig.get_path("purelib")) / "fairlead"
    modules = [str(path) for path in package.rglob("*.py")]

    assert modules
    assert [
        path for path in modules if not Path(importlib.util.cache_from_source(path)).is_file()
    ] == []


def test_the_first_interpreter_that_is_new_enough_is_taken(tmp_path: Path):
    a_program(tmp_path / "bin", "python3", OLD_PYTHON)
    newer = a_program(tmp_path / "bin", "python3.12", NEW_PYTHON)

    assert found_python(tmp_path / "bin").stdout.strip() == str(newer)


def test_an_old_interpreter_is_refused_by_name(tmp_path: Path):
    old = a_program(tmp_path / "bin", "python3.9", OLD_PYTHON)

    run = found_python(tmp_path / "bin", str(old))

    assert run.returncode == 1
    assert "older than Python 3.11" in run.stderr


def test_a_machine_without_python_is_told_what_to_do(tmp_path: Path):
    run = found_python(tmp_path)

    assert run.returncode == 1
    assert "make env PYTHON=" in run.stderr


@pytest.mark.long
def test_wheel_and_source_are_complete_and_install_with_pip_uv_and_pipx():
    run = subprocess.run(["make", "check-install"], cwd=ROOT, capture_output=True, text=True)

    assert run.stdout.count(": works\n") == 5, run.stdout + run.stderr
    assert ": complete\n" in run.stdout
