"""The status line as a host calls it: a process, JSON on stdin, one line, exit code 0."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.interfaces.statusline.entry import start_command
from fairlead.interfaces.statusline.git import read_status
from fairlead.interfaces.statusline.line import last_command, line_of
from fairlead.text.printable import is_unseen
from tests.support.corpus import corpus_projects
from tests.support.hook import environment_at
from tests.support.line_cases import Case, cases, without_colors
from tests.support.payloads import payloads

EXECUTING = "---\nmilestone: v2.0\nstatus: executing\n---\n"


class Shown(NamedTuple):
    """Exit code and output of the process."""

    code: int
    line: str
    errors: str


class Place:
    """A project called `work`, with a fresh home beside it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "work"
        self.project.mkdir()
        self.home = folder / "home"
        self.environment = environment_at(self.home)

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def message(self, **more: Any) -> str:
        """The message of the host about this project."""
        workspace = {"current_dir": str(self.project)}
        message = {"model": {"display_name": "Opus"}, "workspace": workspace} | more
        return json.dumps(message)

    def shown(self, *arguments: str, message: str | None = None, **more: Any) -> Shown:
        """Run the status line."""
        message = self.message(**more) if message is None else message
        done = subprocess.run(
            start_command(sys.executable, list(arguments)),
            input=message.encode("utf-8", "surrogatepass"),
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            timeout=900,
        )
        return Shown(done.returncode, done.stdout.decode(), done.stderr.decode())

    def line(self, *arguments: str, **more: Any) -> str:
        """The line without colours, after checking exit code and stderr."""
        code, line, errors = self.shown(*arguments, **more)
        assert (code, errors) == (0, "")
        return without_colors(line)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# --- the cases -------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.line}: {case.title}")
def test_a_case_shows_the_documented_line(case: Case, tmp_path: Path):
    project = case.build(tmp_path)
    done = subprocess.run(
        start_command(sys.executable, []),
        input=case.message(project).encode(),
        cwd=project,
        env=environment_at(tmp_path / "home"),
        capture_output=True,
        timeout=900,
    )

    assert case.seen(done.stdout.decode()) == case.expected
    assert (done.returncode, done.stderr) == (0, b"")


# --- real projects ---------------------------------------------------------------------


def test_real_projects_show_the_lines_that_were_recorded_for_them(place: Place):
    differing = []
    for project in corpus_projects():
        recorded = json.loads((project / "oracle" / "statusline.json").read_text("utf-8"))["text"]
        workspace = {"current_dir": str(project)}
        message = place.message(workspace=workspace, context_window={"remaining_percentage": 80})
        line = line_of(message, "/", place.environment)
        if line != recorded:
            differing.append((recorded, line))

    assert differing == []


# --- the current task of the agent -------------------------------------------------------


def a_todo(folder: Path, content: object) -> None:
    (folder / "todos").mkdir(parents=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "todos" / "s1-agent-s1.json").write_text(text, "utf-8")


def test_the_current_task_replaces_the_state(place: Place):
    place.write(".planning/STATE.md", EXECUTING)
    todos = [
        {"status": "completed", "activeForm": "Cutting sails"},
        {"status": "in_progress", "activeForm": "Splicing ropes"},
        {"status": "in_progress", "activeForm": "Tarring"},
    ]
    a_todo(place.home / ".claude", todos)

    line = place.shown(session_id="s1").line

    assert line == "\x1b[2mOpus\x1b[0m │ \x1b[1mSplicing ropes\x1b[0m │ \x1b[2mwork\x1b[0m"


def test_the_folder_of_the_host_can_be_configured(place: Place, tmp_path: Path):
    a_todo(tmp_path / "host", [{"status": "in_progress", "activeForm": "Splicing ropes"}])
    place.environment["CLAUDE_CONFIG_DIR"] = str(tmp_path / "host")

    assert place.line(session_id="s1") == "Opus │ Splicing ropes │ work"


@pytest.mark.parametrize(
    "todos",
    [
        [],
        [{"status": "pending", "activeForm": "Splicing"}],
        [{"status": "in_progress"}],
        [{"status": "in_progress", "activeForm": 7}],
        [None, "x"],
        {"status": "in_progress"},
    ],
)
def test_without_a_current_task_the_state_is_shown(place: Place, todos: object):
    place.write(".planning/STATE.md", EXECUTING)
    a_todo(place.home / ".claude", todos)

    assert place.line(session_id="s1") == "Opus │ v2.0 · executing │ work"


def test_a_damaged_todo_list_hides_only_the_task(place: Place):
    place.write(".planning/STATE.md", EXECUTING)
    a_todo(place.home / ".claude", '[{"status": "in_')

    assert place.line(session_id="s1") == "Opus │ v2.0 · executing │ work"


# --- the last command ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("transcript", "name"),
    [
        ("", ""),
        ("<command-name>/gsd-plan-phase</command-name>", "gsd-plan-phase"),
        ("<command-name>/a</command-name> <command-name>/plug:b</command-name>", "plug:b"),
        ("<command-name> c </command-name> and <command-name>/never closed", "c"),
        ("no opening</command-name>", ""),
        ("<command-name></command-name>", ""),
        ("<command-name>/two words</command-name>", ""),
        ('<command-name>/a\\"b</command-name>', ""),
        ("<command-name>/<b></command-name>", ""),
        (f"<command-name>/{'x' * 80}</command-name>", "x" * 80),
        (f"<command-name>/{'x' * 81}</command-name>", ""),
    ],
)
def test_the_last_command_is_a_plain_name(transcript: str, name: str):
    assert last_command(transcript) == name


def test_the_last_command_is_shown_when_asked_for(place: Place, tmp_path: Path):
    place.write(".planning/config.json", '{"statusline": {"show_last_command": true}}')
    transcript = tmp_path / "t.jsonl"
    transcript.write_text('{"text": "<command-name>/gsd-next</command-name>"}\n', "utf-8")

    line = place.line(transcript_path=str(transcript), context_window={"remaining_percentage": 60})

    assert line == "Opus │ work ████░░░░░░ 48% │ last: /gsd-next"


def test_the_last_command_is_hidden_by_default(place: Place, tmp_path: Path):
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("<command-name>/gsd-next</command-name>", "utf-8")

    assert place.line(transcript_path=str(transcript)) == "Opus │ work"


# --- git -------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
    words = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(place: Place) -> Path:
    git(place.project, "init", "-q", "-b", "main")
    git(place.project, "commit", "-q", "--allow-empty", "-m", "first")
    place.write(".planning/config.json", '{"statusline": {"show_git": true}}')
    place.write(".git/info/exclude", ".planning/\n")
    return place.project


def test_a_clean_branch_has_a_tick(place: Place, repository: Path):
    line = place.shown().line

    assert line.endswith("\x1b[2mwork\x1b[0m │ \x1b[2mmain\x1b[0m\x1b[32m✓\x1b[0m")


def test_changes_and_commits_are_counted(place: Place, repository: Path):
    for name in ("a", "b", "c"):
        place.write(name, name)
    git(repository, "add", "a", "b")
    place.write("a", "changed")

    assert place.line() == "Opus │ work │ main+2~1?1"


def test_outside_a_repository_nothing_is_shown(place: Place):
    place.write(".planning/config.json", '{"statusline": {"show_git": true}}')
    place.environment["GIT_CEILING_DIRECTORIES"] = str(place.project.parent)

    assert place.line() == "Opus │ work"


def test_without_git_nothing_is_shown(place: Place, repository: Path):
    place.environment["PATH"] = str(place.home)

    assert place.line() == "Opus │ work"


def test_a_slow_git_is_not_waited_for(place: Place, repository: Path):
    slow = place.home / "git"
    slow.write_text("#!/bin/sh\nsleep 60 & sleep 60\n", "utf-8")
    slow.chmod(0o755)
    place.environment["PATH"] = f"{place.home}:/usr/bin:/bin"

    assert place.line() == "Opus │ work"


def test_the_index_is_not_written(place: Place, repository: Path):
    place.write("a", "a")
    git(repository, "add", "a")
    os.utime(repository / "a", (1, 1))
    before = (repository / ".git" / "index").read_bytes()
    place.line()

    assert (repository / ".git" / "index").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", ("", 0, 0, 0, 0, 0)),
        ("# branch.oid abc\n# branch.head main\n", ("main", 0, 0, 0, 0, 0)),
        ("# branch.head (detached)\n", ("(detached)", 0, 0, 0, 0, 0)),
        ("# branch.head m\n# branch.ab +2 -3\n", ("m", 0, 0, 0, 2, 3)),
        ("# branch.head m\n1 M. N...\n1 .M N...\n2 RM N...\n", ("m", 2, 2, 0, 0, 0)),
        ("# branch.head m\nu UU N...\n? a\n? b\n! c\n", ("m", 0, 1, 2, 0, 0)),
        ("# branch.head m\n# branch.ab x\n", ("m", 0, 0, 0, 0, 0)),
    ],
)
def test_the_output_of_git_status_is_counted(text: str, counts: tuple[object, ...]):
    branch = read_status(text)

    assert (
        branch.name, branch.staged, branch.unstaged, branch.untracked, branch.ahead, branch.behind
    ) == counts  # fmt: skip


# --- the age of STATE.md --------------------------------------------------------------


def aged(place: Place, repository: Path, commits: int, **settings: object) -> str:
    """The line for a STATE.md that is some commits old."""
    head = git(repository, "rev-parse", "--short", "HEAD")
    for at in range(commits):
        git(repository, "commit", "-q", "--allow-empty", "-m", str(at))
    place.write(".planning/STATE.md", f"---\nstatus: executing\nstate_head: {head}\n---\n")
    config = {"statusline": {"show_state_freshness": True}, **settings}
    place.write(".planning/config.json", json.dumps(config))
    return place.line()


@pytest.mark.parametrize(("commits", "remark"), [(19, ""), (20, " · state ~20 commits back")])
def test_an_outdated_state_is_marked(place: Place, repository: Path, commits: int, remark: str):
    assert aged(place, repository, commits) == f"Opus │ executing{remark} │ work"


def test_the_age_is_hidden_with_nested_repositories(place: Place, repository: Path):
    line = aged(place, repository, 20, planning={"sub_repos": ["a"]})

    assert line == "Opus │ executing │ work"


@pytest.mark.parametrize("head", ["--all", "0" * 40, "zz", "null", "HEAD"])
def test_an_unknown_commit_shows_no_age(place: Place, repository: Path, head: str):
    place.write(".planning/STATE.md", f"---\nstatus: executing\nstate_head: {head}\n---\n")
    place.write(".planning/config.json", '{"statusline": {"show_state_freshness": true}}')

    assert place.line() == "Opus │ executing │ work"


def test_a_commit_outside_the_history_shows_no_age(place: Place, repository: Path):
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "commit", "-q", "--allow-empty", "-m", "another beginning")
    orphan = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "main")
    place.write(".planning/STATE.md", f"---\nstate_head: {orphan}\n---\n")
    for at in range(20):
        git(repository, "commit", "-q", "--allow-empty", "-m", str(at))
    place.write(".planning/config.json", '{"statusline": {"show_state_freshness": true}}')

    assert place.line() == "Opus │ work"


# --- workstreams -----------------------------------------------------------------------


def test_the_active_workstream_is_shown(place: Place):
    place.write(".planning/workstreams/alpha/STATE.md", EXECUTING)
    place.write(".planning/active-workstream", "alpha\n")

    assert place.line() == "Opus │ v2.0 · executing │ work"


def test_a_missing_active_workstream_is_reported(place: Place):
    place.write(".planning/workstreams/alpha/STATE.md", EXECUTING)

    assert place.line() == "Opus │ no active workstream │ work"


def test_an_active_workstream_without_a_state_shows_nothing(place: Place):
    place.write(".planning/workstreams/alpha/PROJECT.md", "x")
    place.write(".planning/active-workstream", "alpha\n")

    assert place.line() == "Opus │ work"


# --- damaged input -----------------------------------------------------------------


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_link_outside(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def random_bytes(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 16)


def ten_megabytes(path: Path) -> None:
    path.write_bytes(b"---\n" + b"key: value\n" * 1_000_000)


def merge_markers(path: Path) -> None:
    path.write_text(
        "---\n<<<<<<< ours\nmilestone: v1\n=======\nmilestone: v2\n>>>>>>> theirs\n---\n"
    )


def nul_bytes(path: Path) -> None:
    path.write_bytes(b"---\nmilestone: v1\0\n---\n")


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (Path.touch, "Opus │ work"),
        (Path.mkdir, "Opus │ work"),
        (a_pipe, "Opus │ work"),
        (a_link_outside, "Opus │ work"),
        (random_bytes, "Opus │ work"),
        (ten_megabytes, "Opus │ work"),
        (merge_markers, "Opus │ v2 │ work"),
        (nul_bytes, "Opus │ v1\\x00 │ work"),
    ],
)
def test_a_damaged_state_hides_only_the_state(
    place: Place, damage: Callable[[Path], None], line: str
):
    (place.project / ".planning").mkdir()
    damage(place.project / ".planning" / "STATE.md")

    assert place.line() == line


@pytest.mark.parametrize("message", ["", "{", "null", "\ud800", "[" * 100_000, '{"a": ' * 65, "\0"])
def test_input_that_cannot_be_read_shows_nothing(place: Place, message: str):
    assert place.shown(message=message) == Shown(0, "", "")


def test_too_much_input_shows_nothing(place: Place):
    assert place.shown(message=place.message(filler="x" * (1024 * 1024))) == Shown(0, "", "")


def test_input_that_never_ends_is_not_waited_for(place: Place):
    reading, writing = os.pipe()
    try:
        os.write(writing, place.message().encode())
        done = subprocess.run(
            start_command(sys.executable, []), stdin=reading, capture_output=True, timeout=900
        )
    finally:
        os.close(reading)
        os.close(writing)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_closed_input_shows_nothing(place: Place):
    words = start_command(sys.executable, [])
    close = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *words]

    done = subprocess.run(close, cwd=place.project, capture_output=True, timeout=900)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_closed_output_is_no_error(place: Place):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            start_command(sys.executable, []),
            input=place.message().encode(),
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=900,
        )
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_deleted_folder_is_still_named(place: Place):
    message = json.dumps({"workspace": {"current_dir": str(place.project / "gone")}})

    assert without_colors(place.shown(message=message).line) == "Claude │ gone"


@pytest.mark.parametrize("environment", [{}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX", "LANG": "x"}])
def test_the_line_is_utf_8_in_every_environment(place: Place, environment: dict[str, str]):
    place.write(".planning/STATE.md", "---\nmilestone_name: café █\n---\n")
    place.environment = {**environment, "HOME": str(place.home)}

    assert place.line() == "Opus │ café █ │ work"


# --- control characters ---------------------------------------------------------


def test_no_payload_reaches_the_terminal(place: Place):
    state = place.write(".planning/STATE.md", "")
    for payload in payloads():
        state.write_bytes(
            b"---\nmilestone: " + payload.content + b"\nstatus: '" + payload.content + b"'\n---\n"
            b"Phase: 1 of 2 (" + payload.content + b")\n"
        )
        line = without_colors(line_of(place.message(), "/", place.environment))
        assert not [mark for mark in line if is_unseen(mark)], payload


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_no_message_controls_the_terminal(model: str, folder: str):
    message = json.dumps({"model": {"display_name": model}, "workspace": {"current_dir": folder}})

    line = without_colors(line_of(message, "/", {"HOME": "/nowhere"}))

    assert not [mark for mark in line if is_unseen(mark)]


def test_nothing_is_written(place: Place, repository: Path):
    place.write(".planning/STATE.md", EXECUTING)
    a_todo(place.home / ".claude", [])
    top = place.project.parent
    before = {path: path.lstat().st_mtime_ns for path in top.rglob("*")}

    place.line(session_id="s1", context_window={"remaining_percentage": 60})

    assert {path: path.lstat().st_mtime_ns for path in top.rglob("*")} == before


# --- the user's own line ---------------------------------------------------------------


WITHOUT_MILESTONE = "---\nstatus: executing\n---\n"


def a_program(place: Place, script: str) -> str:
    program = place.home / "theirs"
    program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("where", "line"),
    [("--before", "theirs │ executing"), ("--after", "executing │ theirs")],
)
def test_the_users_line_is_shown_next_to_ours(place: Place, where: str, line: str):
    place.write(".planning/STATE.md", WITHOUT_MILESTONE)

    assert place.line(where, a_program(place, "echo theirs")) == line


RECORD = '{\n  "version": 1,\n  "phase": "03",\n  "status": "%s",\n  "kind": "discuss"\n}\n'
ACTIVE = '---\nmilestone: v2.0\nstatus: discussing\nactive_phase: "3"\n---\n'


@pytest.mark.parametrize(
    ("status", "is_held", "shown"),
    [
        ("EXECUTING", False, "interrupted"),
        ("EXECUTING", True, "discussing"),
        ("DONE", False, "discussing"),
    ],
)
def test_an_active_phase_whose_run_is_gone_is_interrupted(
    place: Place, status: str, is_held: bool, shown: str
):
    place.write(".planning/STATE.md", ACTIVE)
    place.write(".planning/jobs/discuss-03-20260601-000000/job.json", RECORD % status)
    lock = place.write(".planning/.fairlead/run-discuss-03", "")
    with open(lock) as file:
        if is_held:
            fcntl.flock(file, fcntl.LOCK_EX)
        assert f"Phase 3 {shown}" in place.shown().line


def test_beside_the_users_line_neither_model_nor_folder_is_repeated(place: Place):
    theirs = a_program(place, "echo 'Opus in work'")
    window = {"remaining_percentage": 80}

    line = place.line("--before", theirs, context_window=window)

    assert line.startswith("Opus in work │ ")
    assert (line.count("Opus"), line.count("work"), line.count("%")) == (1, 1, 1)


def test_the_other_line_gets_its_arguments_and_the_same_message(place: Place):
    program = a_program(place, 'printf "%s-" "$@"; wc -c')
    size = len(place.message().encode())

    assert place.line("--before", program, "a b", "$HOME") == f"a b-$HOME-{size}"


def test_a_message_of_any_size_reaches_the_other_line(place: Place):
    filler = "x" * 500_000

    line = place.line("--before", a_program(place, "wc -c"), filler=filler)

    assert line == f"{len(place.message(filler=filler))}"


def test_the_other_line_keeps_its_colors_and_rows(place: Place):
    program = a_program(place, "printf '\\033[31mred\\033[0m\\nsecond\\n'")
    place.write(".planning/STATE.md", WITHOUT_MILESTONE)

    assert place.shown("--before", program).line.startswith("\x1b[31mred\x1b[0m\nsecond │ ")


@pytest.mark.parametrize(
    "script", ["exit 1", "echo theirs; exit 3", "exec sleep 60", "sleep 60 & sleep 60", "yes", ""]
)
def test_a_failing_other_line_hides_only_itself(place: Place, script: str):
    assert place.line("--before", a_program(place, script)) == "Opus │ work"


def test_another_line_that_ignores_its_input_is_shown(place: Place):
    program = a_program(place, "exec 0<&-; sleep 0.1; echo theirs")

    assert place.line("--before", program, filler="x" * 500_000) == "theirs"


@pytest.mark.parametrize("arguments", [("--before",), ("--before", "/no/such/program"), ("x", "y")])
def test_without_another_line_ours_is_shown_alone(place: Place, arguments: tuple[str, ...]):
    assert place.line(*arguments) == "Opus │ work"


def test_the_other_line_is_shown_when_ours_fails(place: Place):
    shown = place.shown("--before", a_program(place, "echo theirs"), message="{")

    assert shown == Shown(0, "theirs", "")
