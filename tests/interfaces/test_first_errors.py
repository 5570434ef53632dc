"""The four errors that newcomers meet first: each names one command that helps, and it works."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from fairlead.interfaces.cli import main
from tests.conftest import Fairlead
from tests.golden.samples import PLAN

NOT_LOGGED_IN = """#!/bin/sh
key="$(dirname "$0")/key"
case "$*" in
"auth login") echo secret > "$key"; exit 0;;
*--version*) echo 2.1.0;;
*--help*) echo --output-format --permission-mode --setting-sources --strict-mcp-config --settings;;
*) if test -f "$key"; then
     echo called >> "$key"
     echo '{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"done"}'
     exit 0
   fi
   echo '{"type":"result","subtype":"success","is_error":true,"session_id":"s",'\\
'"result":"Invalid API key · Please run /login"}'
   exit 1;;
esac
"""


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(fairlead: Fairlead, tmp_path: Path) -> Path:
    """A repository with one phase that can be executed."""
    git(tmp_path, "init", "-q", "-b", "main")
    assert fairlead("init", "Shop", "--yes").exit_code == 0
    plan = PLAN.format(phase="01-foundation", plan="01", file="a.txt")
    (tmp_path / ".planning/phases/01-foundation/01-01-PLAN.md").write_text(plan)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Start")
    return tmp_path


def failed(fairlead: Fairlead, *words: str, **env: str) -> dict[str, str]:
    done = fairlead(*words, "--json", env=env)
    assert done.exit_code != 0
    error = json.loads(done.stdout)["error"]
    assert isinstance(error, dict)
    return error


def test_no_project(fairlead: Fairlead) -> None:
    error = failed(fairlead, "status")
    assert error["code"] == "no-project"
    command = error["hint"].partition(": ")[2]
    assert fairlead(*shlex.split(command)[1:]).exit_code == 0
    assert fairlead("status").exit_code == 0


def test_no_agent(fairlead: Fairlead, project: Path) -> None:
    error = failed(fairlead, "phase", "execute", "1", "--approve", PATH="/usr/bin:/bin")
    assert error["code"] == "no-agent"
    command = error["hint"].rpartition(": ")[2]
    assert command == "fairlead phase execute 1 --approve --rehearse"
    # The whole rehearsal takes half a minute; its preview needs the same parts.
    assert fairlead(*shlex.split(command)[1:], "--dry-run").exit_code == 0


def put_claude(folder: Path) -> dict[str, str]:
    """A Claude Code that is not logged in, until its login command is run."""
    programs = folder.parent / f"{folder.name}-bin"
    programs.mkdir()
    program = programs / "claude"
    program.write_text(NOT_LOGGED_IN)
    program.chmod(0o755)
    return {"PATH": f"{programs}:/usr/bin:/bin"}


def test_a_dirty_tree(fairlead: Fairlead, project: Path) -> None:
    env = put_claude(project)
    (project / "notes.txt").write_text("mine\n")
    error = failed(fairlead, "phase", "execute", "1", "--approve", **env)
    assert error["code"] == "tree-dirty"
    command = shlex.split(error["hint"].partition("run: ")[2])
    assert command[:2] == ["git", "stash"]
    git(project, *command[1:])
    assert not (project / "notes.txt").exists()
    done = fairlead("phase", "execute", "1", "--approve", env=env)
    assert "uncommitted" not in done.stderr


def test_not_logged_in(fairlead: Fairlead, project: Path) -> None:
    env = put_claude(project)
    key = project.parent / f"{project.name}-bin" / "key"
    done = fairlead("phase", "execute", "1", "--approve", env=env)
    assert done.exit_code in (5, 6)
    assert "traceback" not in done.stderr.lower()
    [command] = set(re.findall(r"claude auth \w+", done.stdout + done.stderr))
    program = shutil.which("claude", path=env["PATH"])
    assert program is not None
    subprocess.run([program, *shlex.split(command)[1:]], check=True)
    answer = re.search(r"fairlead (job answer \S+ \"retry\")", done.stdout + done.stderr)
    assert answer is not None
    assert fairlead(*shlex.split(answer[1]), env=env).exit_code == 0
    fairlead("phase", "execute", "1", "--approve", env=env)
    assert "called" in key.read_text()
    [gate] = json.loads(fairlead("job", "show", "--json", env=env).stdout)["gates"]
    assert gate["note"]
    assert command not in gate["note"]


def test_the_list_of_agents_names_the_login_that_is_missing(
    fairlead: Fairlead, project: Path
) -> None:
    programs = put_claude(project)
    shown = fairlead("doctor", "agents", env=programs).stdout
    assert "! claude" in shown
    assert "not logged in; log in with: claude auth login" in shown
    document = json.loads(fairlead("doctor", "agents", "--json", env=programs).stdout)
    assert document["logins"]["claude"] == "not logged in"


def test_without_a_project_the_list_of_agents_names_a_rehearsal_that_works(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    error = failed(fairlead, "doctor", "agents", PATH="/usr/bin:/bin")
    assert error["code"] == "no-agent"
    command = error["hint"].rpartition(": ")[2]
    assert fairlead(*shlex.split(command)[1:], "--dry-run").exit_code == 0


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("new", "A shop", "--auto"), "fairlead new 'A shop' --auto"),
        (("phase", "discuss", "1", "--agent", "claude"), "fairlead phase discuss 1 --agent=claude"),
        (("quick", "Greet people"), "fairlead quick 'Greet people'"),
    ],
)
def test_after_the_login_the_same_command_is_named(
    fairlead: Fairlead, tmp_path: Path, words: tuple[str, ...], command: str
) -> None:
    env = put_claude(tmp_path)
    claude = Path(env["PATH"].partition(":")[0]) / "claude"
    answer = """auth\\ status*) echo '{"loggedIn": false}'; exit 1;;"""
    claude.write_text(NOT_LOGGED_IN.replace('"auth login")', f'{answer}\n"auth login")'))
    if words[0] != "new":
        assert fairlead("init", "Shop", "--yes").exit_code == 0
    error = failed(fairlead, *words, **env)
    assert (error["code"], error["hint"].rpartition("; then: ")[2]) == ("agent-refused", command)


def test_an_interrupted_rehearsal_or_a_command_without_a_project_names_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["new", "A shop"], ["phase", "discuss", "1", "--rehearse"]):
        main._name_next_command(words)
        assert capsys.readouterr().err.endswith(
            f"continue with: {shlex.join(['fairlead', *words])}\n"
        )
