"""Verify commands: what they say is told as it is, and nothing of them is left when they are over."""

import hashlib
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.adapters import commands, keeper
from fairlead.adapters.commands import Shell, command_fault
from fairlead.adapters.supervision import Keepers
from fairlead.model.ran import Ran
from tests.support.agents import soon
from tests.support.programs import ROOT

LIMIT = timedelta(seconds=60)


def ran(folder: Path, line: str, limit: timedelta = LIMIT) -> Ran:
    return Shell().run(line, str(folder), limit)


def is_left(number: str) -> bool:
    return keeper.mark_of(int(number)) is not None


def test_both_streams_are_told_with_their_digest_and_the_exit_code(tmp_path: Path) -> None:
    found = ran(tmp_path, "echo wrong >&2; echo right; exit 3")

    assert (found.exit_code, found.tail) == (3, "right\nwrong\n")
    assert found.sha256 == hashlib.sha256(b"right\nwrong\n").hexdigest()
    assert (found.is_timeout, found.is_stopped, found.problem) == (False, False, "")


def test_a_command_has_nothing_to_read(tmp_path: Path) -> None:
    assert (ran(tmp_path, "cat").exit_code, ran(tmp_path, "cat").tail) == (0, "")


def test_a_command_that_says_too_much_is_ended_and_cut(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(commands, "_MOST", 1000)

    found = ran(tmp_path, "yes >&2")

    assert (found.problem, len(found.tail)) == ("it said more than 16 MB", 1000)
    assert found.exit_code != 0


def test_a_folder_that_has_gone_is_told_and_no_crash(tmp_path: Path) -> None:
    found = ran(tmp_path / "gone", "true && true")

    assert (found.exit_code, found.problem) == (
        127,
        "/bin/sh cannot be started: No such file or directory",
    )


def test_a_command_makes_files_as_a_person_would(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        ran(tmp_path, "umask; : > made")
    finally:
        os.umask(before)

    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("line", ["sleep 600 & echo $!", "setsid sleep 600 & echo $!"])
def test_what_a_command_put_into_the_background_ends_with_it(line: str, tmp_path: Path) -> None:
    found = ran(tmp_path, line)

    assert found.exit_code == 0
    assert not is_left(found.tail)


def test_a_command_over_its_limit_is_ended_with_what_left_its_session(tmp_path: Path) -> None:
    found = ran(tmp_path, "setsid sleep 600 & echo $!; sleep 600", timedelta(seconds=0.5))

    assert (found.is_timeout, found.is_stopped) == (True, False)
    assert not is_left(found.tail)


def test_a_command_that_is_no_longer_wanted_is_stopped_at_once(tmp_path: Path) -> None:
    line = f"echo $$ > {tmp_path}/number; sleep 600"
    number = tmp_path / "number"

    found = Shell().run(
        line, str(tmp_path), LIMIT, lambda: not (number.exists() and number.read_text())
    )

    assert (found.is_stopped, found.is_timeout) == (True, False)
    assert found.seconds < LIMIT.total_seconds()
    assert not is_left(number.read_text())


def test_a_command_takes_a_keeper_that_waits_and_carries_the_mark_of_its_job(
    tmp_path: Path,
) -> None:
    keepers = Keepers()
    with keepers.waiting("verifying"):
        (first,) = keeper.carrying(keeper.JOB, "verifying")

        found = Shell(keepers).run(f"echo $PPID ${keeper.JOB}", str(tmp_path), LIMIT)

        assert found.tail.split() == [str(first[0]), "verifying"]
        assert list(keeper.carrying(keeper.JOB, "verifying")) == []  # the next call starts more


def test_when_we_are_killed_a_command_ends_too(tmp_path: Path) -> None:
    program = """if True:
        import sys; from datetime import timedelta
        from fairlead.adapters.commands import Shell, command_fault
        from fairlead.adapters.supervision import Keepers
        keepers = Keepers()
        with keepers.waiting("killed-verify"):
            line = f"setsid sleep 600 & echo $! > {sys.argv[1]}/made; sleep 600"
            Shell(keepers).run(line, sys.argv[1], timedelta(minutes=5))
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    run = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], env=environment)
    made = tmp_path / "made"
    try:
        assert soon(lambda: made.exists() and bool(made.read_text().strip()))
    finally:
        run.kill()
        run.wait()

    assert soon(lambda: not is_left(made.read_text()))
    assert soon(lambda: not list(keeper.carrying(keeper.JOB, "killed-verify")))


@pytest.mark.parametrize(
    "line",
    [
        "ls; test -f a",
        "true;test -f a",
        "ls|grep a",
        "ls&&test -f a",
        "{ test -f a; }",
        "(cd a && ls)",
        "! grep a b",
        "$(which test) -f a",
        "FOO=1 ls",
        "FOO=${foo:-a b} ls",
        "PATH=tools made-here",
        "f() { true; }; f",
        "# why\ntest -f a",
        "cat <<END\nit's\nEND",
        "case a in a) true;; esac",
        "if test -f a; then true; fi",
        "> a ls",
        "set -eu; ls",
        "./made-later",
        'bash -c "set -o pipefail; ls | cat"',
        "nosuch-program -q || ls",
        "2>/dev/null ls",
        "0<a cat",
        '"$(which test)" -f a',
        "'/opt/some tools/made-later' --check a",
    ],
)
def test_a_line_that_the_shell_can_run_has_no_fault(line: str) -> None:
    assert command_fault(line) == ""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Open the page (in a browser)", "Open"),
        ("nosuch-program; ls", "nosuch-program"),
        ("FOO=1 nosuch-program", "nosuch-program"),
        ("- look", "-"),
        ("`npm test` passes", "`npm"),
        ("$ npm test", "$"),
        ("**All** tests pass; look", "**All**"),
        ("'User pages' load", "'User"),
    ],
)
def test_a_line_that_begins_with_no_program_is_told_with_its_name(line: str, name: str) -> None:
    assert command_fault(line) == f"there is no program {name!r} to verify with"


@pytest.mark.parametrize("line", ["ls &&", "don't look", "set -o no-such-option; ls"])
def test_a_line_that_the_shell_refuses_is_told_with_its_words(line: str) -> None:
    assert command_fault(line).startswith("the verify command cannot be run: /bin/sh: ")


def test_nothing_is_run_to_find_a_fault(tmp_path: Path) -> None:
    command_fault(f"touch {tmp_path}/a; set -- $(touch {tmp_path}/b)")

    assert list(tmp_path.iterdir()) == []
