"""Verify commands: their output is recorded, and no process of them survives."""

import hashlib
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.agents import supervisor
from fairlead.agents.supervision import SupervisorPool
from fairlead.core.process import ProcessResult
from fairlead.execution import commands
from fairlead.execution.commands import Shell, command_fault
from fairlead.plans.model import CommandResult
from tests.support.agents import soon
from tests.support.programs import ROOT

LIMIT = timedelta(seconds=60)


def ran(folder: Path, line: str, limit: timedelta = LIMIT) -> CommandResult:
    return Shell().run(line, str(folder), limit)


def is_left(number: str) -> bool:
    return supervisor.mark_of(int(number)) is not None


def test_a_result_contains_both_streams_their_digest_and_the_exit_code(tmp_path: Path) -> None:
    found = ran(tmp_path, "echo wrong >&2; echo right; exit 3")

    assert (found.exit_code, found.tail) == (3, "right\nwrong\n")
    assert found.sha256 == hashlib.sha256(b"right\nwrong\n").hexdigest()
    assert (found.is_timeout, found.is_stopped, found.problem) == (False, False, "")


def test_a_command_leaves_no_bytecode_behind(tmp_path: Path) -> None:
    (tmp_path / "part.py").touch()

    assert ran(tmp_path, f"{sys.executable} -c 'import part'").exit_code == 0
    assert os.listdir(tmp_path) == ["part.py"]


def test_a_command_has_an_empty_standard_input(tmp_path: Path) -> None:
    assert (ran(tmp_path, "cat").exit_code, ran(tmp_path, "cat").tail) == (0, "")


def test_a_command_with_too_much_output_is_ended(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(commands, "_MAX_OUTPUT", 1000)

    found = ran(tmp_path, "yes >&2")

    assert (found.problem, len(found.tail)) == ("it wrote more than 16 MB of output", 1000)
    assert found.exit_code != 0


def test_a_missing_folder_is_reported_as_a_problem(tmp_path: Path) -> None:
    found = ran(tmp_path / "gone", "true && true")

    assert (found.exit_code, found.problem) == (
        127,
        "/bin/sh cannot be started: No such file or directory",
    )


def test_a_command_uses_the_umask_of_the_user(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        ran(tmp_path, "umask; : > made")
    finally:
        os.umask(before)

    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o640


SURE = [
    "test -f a.txt",
    "test -f a.txt && grep -q 'a b' a.txt || exit 1",
    'python3 -m pytest -q tests/test_a.py::test_b 2>&1 | tail -5; echo "so far, so good"',
    "PYTHONPATH=src python3 -c 'import sys; sys.exit(0)' > /dev/null 2>> err.log < in.txt",
    "[ -s a.txt ] && test $HOME = /root",
]
UNSURE = [
    "if true; then a; fi",
    "a && && b",
    "a |",
    "echo 'open",
    "a; do b",
    "echo $(a",
    "( a",
    "a & b",
]


@pytest.mark.parametrize("line", SURE)
def test_a_plain_line_is_known_to_be_correct_without_a_shell(line: str) -> None:
    assert subprocess.run(["/bin/sh", "-n", "-c", line], check=False).returncode == 0
    assert commands._SURE.fullmatch(line)
    assert not commands._RESERVED.search(line)


def test_judging_many_plain_lines_starts_one_shell_for_each_program(monkeypatch) -> None:
    started = []
    original = commands._shell

    def counted(*words: str) -> ProcessResult:
        started.append(words)
        return original(*words)

    monkeypatch.setattr(commands, "_shell", counted)
    assert {command_fault(f"test -s many-{number}.txt") for number in range(200)} == {""}
    assert len(started) <= 1


@pytest.mark.parametrize("line", UNSURE)
def test_only_the_shell_judges_other_lines(line: str) -> None:
    assert not commands._SURE.fullmatch(line) or commands._RESERVED.search(line)


@given(
    st.lists(
        st.sampled_from(
            "a x.py - 'b' && || | ; > 2>&1 < $A do fi case ( ) { } ! & [ ] \\ ' = time in".split()
        ),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from(["", " "]),
)
@settings(max_examples=60, deadline=None)
def test_a_line_that_is_judged_without_a_shell_is_accepted_by_it(
    words: list[str], gap: str
) -> None:
    line = gap.join(words)
    if commands._SURE.fullmatch(line) and not commands._RESERVED.search(line):
        assert subprocess.run(["/bin/sh", "-n", "-c", line], check=False).returncode == 0, line


@pytest.mark.parametrize("line", ["sleep 600 & echo $!", "setsid sleep 600 & echo $!"])
def test_background_processes_end_with_their_command(line: str, tmp_path: Path) -> None:
    found = ran(tmp_path, line)

    assert found.exit_code == 0
    assert not is_left(found.tail)


def test_a_command_over_its_limit_is_ended_with_detached_processes(tmp_path: Path) -> None:
    line = "setsid sleep 600 & echo $!; sleep 600"
    found = ran(tmp_path, line, timedelta(seconds=0.5))
    for seconds in (5, 60):  # a busy machine needs longer to start it
        if not found.tail:
            found = ran(tmp_path, line, timedelta(seconds=seconds))

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


def test_a_command_uses_a_waiting_supervisor_and_carries_the_mark_of_its_job(
    tmp_path: Path,
) -> None:
    supervisors = SupervisorPool()
    with supervisors.waiting("verifying"):
        (first,) = supervisor.carrying(supervisor.JOB, "verifying")

        found = Shell(supervisors).run(f"echo $PPID ${supervisor.JOB}", str(tmp_path), LIMIT)

        assert found.tail.split() == [str(first[0]), "verifying"]
        assert (
            list(supervisor.carrying(supervisor.JOB, "verifying")) == []
        )  # the next call starts more


def test_a_command_ends_when_fairlead_is_killed(tmp_path: Path) -> None:
    program = """if True:
        import sys; from datetime import timedelta
        from fairlead.execution.commands import Shell, command_fault
        from fairlead.agents.supervision import SupervisorPool
        supervisors = SupervisorPool()
        with supervisors.waiting("killed-verify"):
            line = f"setsid sleep 600 & echo $! > {sys.argv[1]}/made; sleep 600"
            Shell(supervisors).run(line, sys.argv[1], timedelta(minutes=5))
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
    assert soon(lambda: not list(supervisor.carrying(supervisor.JOB, "killed-verify")))


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
def test_a_line_without_an_existing_program_is_a_fault_that_names_it(line: str, name: str) -> None:
    assert command_fault(line) == f"there is no program {name!r} to verify with"


@pytest.mark.parametrize("line", ["ls &&", "don't look", "set -o no-such-option; ls"])
def test_a_line_with_a_syntax_error_is_a_fault_that_quotes_the_shell(line: str) -> None:
    assert command_fault(line).startswith("the verify command cannot be run: /bin/sh: ")


def test_finding_a_fault_runs_nothing(tmp_path: Path) -> None:
    command_fault(f"touch {tmp_path}/a; set -- $(touch {tmp_path}/b)")

    assert list(tmp_path.iterdir()) == []
