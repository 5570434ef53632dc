"""Jobs in the background: they outlive their caller, and are followed, ended and continued."""

import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import click
import pytest

from fairlead.app import App
from fairlead.core.errors import FairleadError, UsageError
from fairlead.interfaces.cli.detached import command_words
from fairlead.interfaces.cli.main import cli
from fairlead.jobs.detached import JOB_KINDS, JobRequest, start_detached
from fairlead.jobs.errors import NotBegun
from tests.conftest import ROOT, Fairlead
from tests.support.execution import a_plan
from tests.support.killing import a_world, processes_of

HANGS = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one plan, whose agents are processes."""
    world = a_world(tmp_path, (a_plan("01-02", "a.txt"),))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(world / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(world / "state"))
    return world / "project"


def let_agents_hang(project: Path) -> None:
    settings = project.parent / "config/fairlead/config.json"
    agents = {"stub": {"argv": HANGS, "stream": "text"}}
    settings.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}))


def started(fairlead: Fairlead, project: Path, *words: str) -> dict[str, Any]:
    """Start phase 1 in the background, and return what the command reports."""
    done = fairlead("phase", "execute", "1", "--detach", "--json", *words, cwd=project)
    assert done.exit_code == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 900
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)


def test_a_job_in_the_background_is_followed_to_its_end(fairlead: Fairlead, project: Path) -> None:
    begun = started(fairlead, project, "--approve")
    job = begun["job"]
    assert (begun["folder"], begun["detached"]) == (str(project), True)
    assert begun["watch"] == f"fairlead job watch {job}"

    watched = fairlead("job", "watch", job, cwd=project)
    assert watched.exit_code == 0, watched.stdout
    assert f"DONE  {job}" in watched.stdout
    assert (project / "a.txt").is_file()
    log = project / begun["output"]
    assert log.stat().st_mode & 0o777 == 0o600
    wait_for_end(begun["pid"])  # its last lines follow after the job has ended
    assert "merged" in log.read_text()
    assert "DONE" in log.read_text()
    assert "output" in fairlead("job", "show", job, cwd=project).stdout


def test_a_finished_run_names_the_next_command(fairlead: Fairlead, project: Path) -> None:
    done = fairlead("phase", "execute", "1", "--approve", cwd=project)
    assert done.exit_code == 0, done.stdout + done.stderr
    following = json.loads(fairlead("next", "--json", cwd=project).stdout)["next"]["command"]
    assert f"  next     {following}" in done.stdout.splitlines()


def test_commands_without_an_approval_are_refused_before_a_job_begins(
    fairlead: Fairlead, project: Path
) -> None:
    done = fairlead("phase", "execute", "1", "--detach", "--json", cwd=project)
    assert (done.exit_code, json.loads(done.stdout)["error"]["code"]) == (6, "plans-not-approved")
    assert not (project / ".planning/jobs").exists()


def test_what_the_process_in_the_background_refuses_is_the_error_of_the_command(
    fairlead: Fairlead, project: Path
) -> None:
    for agent, code in (("nobody", 2), ("", 4)):
        if not agent:
            (project / "README.md").write_text("not committed\n")
        here = fairlead("phase", "execute", "1", "--approve", f"--agent={agent}", cwd=project)
        words = ("phase", "execute", "1", "--approve", f"--agent={agent}", "--detach")
        there = fairlead(*words, cwd=project)
        assert (there.exit_code, there.stderr) == (here.exit_code, here.stderr)
        assert there.exit_code == code


def test_a_command_that_begins_no_job_is_reported(project: Path) -> None:
    with pytest.raises(NotBegun):
        start_detached(str(project), ["status"])
    with pytest.raises(NotBegun, match="no such option"):
        start_detached(str(project), ["phase", "execute", "--nonsense"])


def test_cancelling_ends_the_process_and_its_agents(fairlead: Fairlead, project: Path) -> None:
    let_agents_hang(project)
    begun = started(fairlead, project, "--approve")
    assert fairlead("job", "cancel", begun["job"], cwd=project).exit_code == 0
    watched = fairlead("job", "watch", begun["job"], cwd=project)
    assert watched.exit_code == 5
    assert processes_of(project, begun["job"]) == []


def test_a_killed_process_leaves_an_interrupted_job_that_can_be_continued(
    fairlead: Fairlead, project: Path
) -> None:
    let_agents_hang(project)
    begun = started(fairlead, project, "--approve")
    os.kill(begun["pid"], signal.SIGKILL)

    watched = fairlead("job", "watch", begun["job"], cwd=project)
    assert watched.exit_code == 6
    assert "continue it with: fairlead phase execute 01" in watched.stdout
    [shown] = json.loads(fairlead("job", "list", "--json", cwd=project).stdout)["jobs"]
    assert (shown["status"], shown["command"]) == ("INTERRUPTED", "fairlead phase execute 01")

    a_working_agent = [sys.executable, "-m", "fairlead.agents.scripted.program"]
    agents = {"stub": {"argv": a_working_agent, "stream": "claude"}}
    settings = project.parent / "config/fairlead/config.json"
    settings.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}))
    again = started(fairlead, project)
    assert again["job"] == begun["job"]
    assert fairlead("job", "watch", cwd=project).exit_code == 0


def test_a_closed_terminal_does_not_end_the_job(fairlead: Fairlead, project: Path) -> None:
    terminal, other = pty.openpty()
    code = (
        "import os, sys, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
        "from fairlead.interfaces.cli.main import main; main()"
    )
    words = ("phase", "execute", "1", "--approve", "--detach", "--json")
    settings = termios.tcgetattr(other)
    settings[1] &= ~termios.OPOST  # line ends as they are written
    termios.tcsetattr(other, termios.TCSANOW, settings)
    with subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=other,
        stdout=other,
        stderr=other,
    ) as child:
        os.close(other)
        shown = b""
        while b"\n}" not in shown:
            shown += os.read(terminal, 4096)
        begun = json.loads(shown)
        os.close(terminal)  # the kernel sends SIGHUP to everything of this terminal
    assert child.returncode in (0, -signal.SIGHUP)
    session = os.getsid(begun["pid"]) if is_alive(begun["pid"]) else begun["pid"]
    assert session == begun["pid"]
    assert fairlead("job", "watch", begun["job"], cwd=project).exit_code == 0


def test_a_service_starts_the_same_job(fairlead: Fairlead, project: Path) -> None:
    app = App(str(project))
    with pytest.raises(FairleadError) as refused:
        app.start_job(JobRequest("execute", "1"))
    assert (refused.value.code, refused.value.exit_code) == ("plans-not-approved", 6)

    begun = app.start_job(JobRequest("execute", "1", is_approved=True))
    assert fairlead("job", "watch", begun.job, cwd=project).exit_code == 0
    with pytest.raises(UsageError):
        app.start_job(JobRequest("nothing", "1"))


@pytest.mark.parametrize("kind", JOB_KINDS)
def test_the_command_line_accepts_what_a_request_asks_for(kind: str) -> None:
    request = JobRequest(kind, "-x", "codex", is_auto=True, is_approved=True, is_rehearsed=True)
    words = list(request.words())
    context, rest = cli.make_context("fairlead", ["-C", ".", *words]), words
    while isinstance(context.command, click.Group):
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    assert "-x" in context.params.values()
    assert context.params["agent"] == "codex"


@pytest.mark.parametrize(
    ("line", "repeated"),
    [
        (
            "phase plan 2 --no-research --critic --ws=b --detach --json",
            "phase plan --ws=b --no-research --critic -- 2",
        ),
        (
            "phase execute 1 --slots 3 --rehearse --events",
            "phase execute --slots=3 --rehearse -- 1",
        ),
        ("run -- --odd", "run -- --odd"),
    ],
)
def test_the_command_line_is_repeated_as_it_was_given(line: str, repeated: str) -> None:
    rest = line.split()
    context = cli.make_context("fairlead", ["-C", ".", *rest])
    while isinstance(context.command, click.Group):
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    assert command_words(context) == repeated.split()
