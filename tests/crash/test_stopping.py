"""A user stops a run at a terminal: ^C once, ^C twice, a closed window. No process is left."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.agents import HOSTILE
from tests.support.execution import PlanText
from tests.support.killing import PATIENCE_SECONDS, a_world, processes_of, result_of, steps_of
from tests.support.programs import fairlead, scratch_environment

CTRL_C = b"\x03"


@pytest.fixture
def world(installed_command: Path, tmp_path: Path) -> Path:
    """A project whose agent hangs and has children outside its session."""
    place = a_world(tmp_path / "world")
    settings = place / "config/fairlead/config.json"
    working = settings.read_text()
    argv = [sys.executable, str(HOSTILE), "hang_with_daemons"]
    agents = {"stub": {"argv": argv, "stream": "claude"}}
    settings.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}))
    (place / "working.json").write_text(working)
    return place


class TerminalRun:
    """A terminal with a run in it."""

    def __init__(self, world: Path) -> None:
        self._world = world
        self.master, slave = pty.openpty()
        command = fairlead().command(world / "project", "phase", "execute", "1", "--approve")
        environment = scratch_environment(world) | {"XDG_CONFIG_HOME": str(world / "config")}
        environment |= {"XDG_STATE_HOME": str(world / "state")}
        del environment["FAIRLEAD_NOW"]
        self.run = subprocess.Popen(
            ["setsid", "--ctty", *command.words],
            cwd=command.folder,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)

    def wait_for_agents(self) -> None:
        """Wait until an agent runs; a waiting supervisor has no call yet."""
        self.until(lambda: any(map(has_call, self.left)))

    @property
    def left(self) -> list[int]:
        """The running processes of the job."""
        project = self._world / "project"
        jobs = project.glob(".planning/jobs/*")
        return [number for job in jobs for number in processes_of(project, job.name)]

    def shows(self, text: str) -> None:
        """Read until the screen has shown a text."""
        shown = bytearray()

        def look() -> bool:
            if select.select([self.master], [], [], 0.1)[0]:
                shown.extend(os.read(self.master, 65536))
            return text.encode() in shown

        self.until(look)

    def ended(self) -> int:
        """The exit code; read the remaining output, as a terminal does."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while self.run.poll() is None and time.monotonic() < limit:
            try:
                if select.select([self.master], [], [], 0.1)[0]:
                    os.read(self.master, 65536)
            except OSError:
                break
        return self.run.wait(timeout=PATIENCE_SECONDS)

    def until(self, look: Callable[[], bool]) -> None:
        """Wait until a condition is true."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while not look():
            assert time.monotonic() < limit


def has_call(number: int) -> bool:
    """Whether a process belongs to a call."""
    try:
        return b"FAIRLEAD_CALL=" in Path(f"/proc/{number}/environ").read_bytes()
    except OSError:
        return False


@contextmanager
def terminal_in(world: Path) -> Iterator[TerminalRun]:
    """A terminal whose run always ends with the test."""
    terminal = TerminalRun(world)
    try:
        yield terminal
    finally:
        if terminal.run.poll() is None:
            terminal.run.kill()
            terminal.run.wait()


def goes_on(world: Path) -> None:
    """The same command completes the phase with an agent that works."""
    settings = world / "config/fairlead/config.json"
    settings.write_text((world / "working.json").read_text())
    steps_of(world)
    found = result_of(world)
    assert (found.status, len(found.merges), found.left) == ("DONE", 3, 0)


@pytest.mark.walk
def test_f45_an_interrupt_pressed_twice_ends_everything_at_once_and_the_state_is_saved(
    world: Path,
) -> None:
    with terminal_in(world) as terminal:
        terminal.wait_for_agents()
        os.write(terminal.master, CTRL_C)
        terminal.shows("again")
        assert terminal.left
        os.write(terminal.master, CTRL_C)
        assert terminal.ended() == 6
        assert terminal.left == []
        os.close(terminal.master)
    goes_on(world)


@pytest.mark.walk
def test_f45_an_interrupt_pressed_twice_ends_a_verify_command_at_once(
    installed_command: Path, tmp_path: Path
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    line = f"touch {begun}; test -f {go} || setsid sleep 600"
    world = a_world(tmp_path / "world", [PlanText("01-02", [("a.txt", line)])])
    with terminal_in(world) as terminal:
        terminal.until(begun.exists)
        os.write(terminal.master, CTRL_C)
        terminal.shows("again")
        os.write(terminal.master, CTRL_C)
        assert terminal.ended() == 6
        assert terminal.left == []
        os.close(terminal.master)
    go.touch()
    steps_of(world)
    found = result_of(world)
    assert (found.status, found.calls, found.left) == ("DONE", 2, 0)


@pytest.mark.walk
def test_f45_a_closed_terminal_ends_everything_and_the_state_is_saved(world: Path) -> None:
    with terminal_in(world) as terminal:
        terminal.wait_for_agents()
        os.close(terminal.master)
        assert terminal.run.wait(timeout=PATIENCE_SECONDS) != 0
        assert terminal.left == []
    goes_on(world)
