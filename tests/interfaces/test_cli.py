"""The command line as people and scripts use it: documents, output, exit codes, streams."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.core.errors import StorageError
from fairlead.interfaces.cli import config as config_command
from fairlead.interfaces.cli import init as init_command
from fairlead.interfaces.cli import main
from fairlead.store.errors import LaterFault, NoProject
from tests.conftest import Fairlead

STATE = ".planning/STATE.md"
NOW = {"FAIRLEAD_NOW": "2026-06-01T12:00:00Z"}


@pytest.fixture
def project(fairlead: Fairlead, tmp_path: Path) -> Path:
    assert fairlead("init", "Ticket tracker", "--yes", env=NOW).exit_code == 0
    return tmp_path


def tree_of(folder: Path) -> dict[str, bytes]:
    """Every file except the staging folder, where the lock names its last holder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): path.read_bytes() for path in files if ".fairlead" not in path.parts}


def test_init_creates_every_document_and_names_the_next_command(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    made = fairlead("init", "Ticket tracker", "--yes")
    assert made.exit_code == 0
    assert "Next: fairlead status" in made.stdout
    names = {path.name for path in (tmp_path / ".planning").iterdir()}
    assert names == {
        "STATE.md",
        "PROJECT.md",
        "REQUIREMENTS.md",
        "ROADMAP.md",
        "config.json",
        "phases",
        ".fairlead",
    }
    assert (tmp_path / ".planning/phases/01-foundation").is_dir()
    assert (tmp_path / ".planning/.fairlead/.gitignore").read_text() == "*\n"


def test_init_refuses_a_folder_that_has_a_project(fairlead: Fairlead, project: Path) -> None:
    before = tree_of(project)
    again = fairlead("init", "Other", "--yes")
    assert again.exit_code == 4
    assert "exists already" in again.stderr
    assert tree_of(project) == before


def test_init_without_yes_asks_nothing_outside_a_terminal(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    assert fairlead("init", "Quiet").exit_code == 0
    assert "No phases yet." in (tmp_path / ".planning/ROADMAP.md").read_text()
    assert list((tmp_path / ".planning/phases").iterdir()) == []


def test_init_in_the_ultraplan_dialect_has_a_bar_of_twenty_cells(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    assert fairlead("init", "Wide", "--yes", "--dialect", "ultraplan").exit_code == 0
    assert "Progress: [" + "░" * 20 + "] 0%" in (tmp_path / STATE).read_text()


@pytest.mark.parametrize(
    "title",
    [
        'Say "hi": now',
        "--- x",
        "# heading",
        "{{now}}",
        "a | b",
        "status: approved",
        "$(touch x)",
        "🚀 café",
        "<!-- x",
    ],
)
def test_a_title_with_any_text_changes_nothing_else(
    fairlead: Fairlead, tmp_path: Path, title: str
) -> None:
    assert fairlead("init", "--yes", "--", title, env=NOW).exit_code == 0
    shown = json.loads(fairlead("status", "--json").stdout)
    assert (shown["recorded_status"], shown["drift"]) == ("Ready to plan", [])
    assert title in (shown["title"], shown["milestone_name"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("init", "T", "--yes"),
        ("state", "add-decision", "--phase", "1", "--summary", "x"),
        ("config", "set", "fairlead.color", "never"),
    ],
)
def test_a_dry_run_changes_nothing(
    fairlead: Fairlead, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    if arguments[0] != "init":
        fairlead("init", "T", "--yes")
    before = tree_of(tmp_path)
    shown = fairlead(*arguments, "--dry-run")
    assert (shown.exit_code, tree_of(tmp_path)) == (0, before)
    assert "Nothing was written." in shown.stdout


def test_a_decision_adds_one_line(fairlead: Fairlead, project: Path) -> None:
    before = (project / STATE).read_text()
    added = fairlead(
        "state", "add-decision", "--phase", "1", "--summary", "Store times in UTC", env=NOW
    )
    assert added.exit_code == 0
    entry = "- [Phase 1]: Store times in UTC"
    assert (project / STATE).read_text() == before.replace(
        "### Decisions\n\nNone yet.", f"### Decisions\n\n{entry}"
    )


def test_a_decision_keeps_line_endings_file_mode_and_bom(fairlead: Fairlead, project: Path) -> None:
    state = project / STATE
    before = b"\xef\xbb\xbf" + state.read_bytes().replace(b"\n", b"\r\n")
    state.write_bytes(before)
    state.chmod(0o640)
    assert (
        fairlead("state", "add-decision", "--phase", "1", "--summary", "x", env=NOW).exit_code == 0
    )
    after = state.read_bytes()
    assert after == before.replace(
        b"Decisions\r\n\r\nNone yet.", b"Decisions\r\n\r\n- [Phase 1]: x"
    )
    assert stat.S_IMODE(state.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        (b"---\nstatus: a: b\n---\n", "frontmatter-syntax", ":2:"),
        (b"---\na: 1\na: 2\n---\n", "frontmatter-syntax", ":3:1"),
        (b"---\na: &x 1\n---\n", "frontmatter-syntax", ":2:4"),
        (b"---\na: 1\n", "unclosed-frontmatter", ":1:1"),
        (b"# S\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "conflict-markers", ":2:1"),
        (b"# S\n\n## D\xe9cisions\n", "undecodable", ":3:5"),
        (b"\xff\xfe#\x00", "undecodable", ":1:1"),
        (b"x" * (256 * 1024 + 1), "too-large", ":1:1"),
    ],
)
def test_damaged_input_is_refused_with_its_position_and_left_unchanged(
    fairlead: Fairlead, project: Path, content: bytes, code: str, place: str
) -> None:
    (project / STATE).write_bytes(content)
    refused = fairlead("state", "add-decision", "--phase", "1", "--summary", "x", "--json")
    document = json.loads(refused.stdout)
    assert (
        refused.exit_code,
        document["exit_code"],
        document["ok"],
        document["error"]["code"],
    ) == (
        3,
        3,
        False,
        code,
    )
    assert f"STATE.md{place}" in refused.stderr
    assert (project / STATE).read_bytes() == content
    shown = fairlead("status")
    assert shown.exit_code == 0
    assert "STATE.md" in shown.stdout
    assert fairlead("check").exit_code == 1


def test_a_link_or_pipe_in_place_of_a_document_is_never_followed(
    fairlead: Fairlead, project: Path
) -> None:
    outside = project / "secret"
    outside.write_text("## Decisions\n")
    (project / STATE).unlink()
    (project / STATE).symlink_to(outside)
    refused = fairlead("state", "add-decision", "--phase", "1", "--summary", "x")
    assert refused.exit_code == 3
    assert "symbolic link" in refused.stderr
    assert outside.read_text() == "## Decisions\n"
    (project / STATE).unlink()
    os.mkfifo(project / STATE)
    assert fairlead("state", "add-decision", "--phase", "1", "--summary", "x").exit_code == 3
    assert fairlead("status").exit_code == 3


def test_resolved_blockers_are_counted_separately(fairlead: Fairlead, project: Path) -> None:
    assert "resolved" not in fairlead("status").stdout
    for text in ("RESOLVED: the host", "~~the key~~"):
        assert fairlead("state", "add-blocker", "--text", text).exit_code == 0
    assert "blockers  0 (2 resolved)\n" in fairlead("status").stdout
    assert fairlead("state", "add-blocker", "--text", "the licence").exit_code == 0
    assert "blockers  1 (2 resolved)\n  - the licence\n" in fairlead("status").stdout
    shown = json.loads(fairlead("status", "--json").stdout)
    assert shown["blockers"] == ["the licence"]
    assert shown["resolved_blockers"] == ["RESOLVED: the host", "~~the key~~"]


def test_commands_work_from_any_folder_below(fairlead: Fairlead, project: Path) -> None:
    deep = project / "src" / "deep"
    deep.mkdir(parents=True)
    assert "Ticket tracker" in fairlead("status", cwd=deep).stdout
    assert "Ticket tracker" in fairlead("-C", str(deep), "status", cwd=Path("/")).stdout


def test_outside_a_project_the_next_command_is_named(fairlead: Fairlead) -> None:
    lost = fairlead("status")
    assert lost.exit_code == 2
    assert "fairlead init" in lost.stderr


def test_reading_commands_change_no_byte(fairlead: Fairlead, project: Path) -> None:
    before = tree_of(project)
    for arguments in (
        ("status",),
        ("status", "--json"),
        ("config", "list"),
        ("config", "get", "mode"),
    ):
        assert fairlead(*arguments).exit_code == 0
    assert tree_of(project) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("nope",),
        ("status", "--nope"),
        ("state", "add-decision"),
        ("config", "get", "no.such"),
        ("state", "add-decision", "--phase", "x", "--summary", "y"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_hint(
    fairlead: Fairlead, project: Path, arguments: tuple[str, ...]
) -> None:
    wrong = fairlead(*arguments)
    assert wrong.exit_code == 2
    assert "→" in wrong.stderr


def test_config_shows_the_origin_of_each_value(fairlead: Fairlead, project: Path) -> None:
    assert fairlead("config", "set", "fairlead.lock_wait_seconds", "5", "--user").exit_code == 0
    assert fairlead("config", "set", "fairlead.color", "never").exit_code == 0
    listed = json.loads(fairlead("config", "list", "--json").stdout)
    origins = {entry["key"]: (entry["value"], entry["origin"]) for entry in listed["settings"]}
    assert origins["fairlead.lock_wait_seconds"] == (5, "user")
    assert origins["fairlead.color"] == ("never", "project")
    assert origins["fairlead.dialect"] == ("gsd", "default")
    assert origins["mode"] == ("interactive", "project")
    assert fairlead("config", "get", "fairlead.lock_wait_seconds").stdout == "5\n"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fairlead.lock_wait_seconds", "0"),
        ("fairlead.color", "red"),
        ("fairlead.colour", "auto"),
        ("fairlead.shared_disk", "1"),
    ],
)
def test_config_refuses_invalid_values(
    fairlead: Fairlead, project: Path, key: str, value: str
) -> None:
    before = tree_of(project)
    assert fairlead("config", "set", key, value).exit_code == 2
    assert tree_of(project) == before


def test_a_broken_settings_file_is_reported_and_status_still_works(
    fairlead: Fairlead, project: Path
) -> None:
    (project / ".planning/config.json").write_text('{"mode": 1,}')
    shown = fairlead("status")
    assert shown.exit_code == 0
    assert "config.json:1:11" in shown.stderr
    assert fairlead("config", "list").exit_code == 3
    assert fairlead("config", "set", "mode", "yolo").exit_code == 3
    assert (project / ".planning/config.json").read_text() == '{"mode": 1,}'


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(fairlead: Fairlead, shell: str) -> None:
    script = fairlead("completion", shell)
    assert script.exit_code == 0
    assert "_FAIRLEAD_COMPLETE" in script.stdout


def test_completion_answers_the_shell(installed: Fairlead) -> None:
    asked = installed(
        env={"_FAIRLEAD_COMPLETE": "bash_complete", "COMP_WORDS": "fairlead co", "COMP_CWORD": "1"}
    )
    assert asked.stdout.split() == ["plain,completion", "plain,config"]


def test_a_result_that_cannot_be_printed_is_an_error(
    installed_command: Path, project: Path
) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [installed_command, "status"],
            cwd=project,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 7
    assert b"standard output" in done.stderr


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_a_closed_standard_stream_changes_no_document(
    installed_command: Path, project: Path, closed: tuple[int, ...]
) -> None:
    words = [str(installed_command), "state", "add-decision", "--phase", "1", "--summary", "Ours"]
    start = f"import os; [os.close(fd) for fd in {closed}]; os.execv({words[0]!r}, {words!r})"
    done = subprocess.run([sys.executable, "-c", start], cwd=project, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "- [Phase 1]: Ours\n" in (project / STATE).read_text("utf-8")


@pytest.mark.parametrize(("words", "code"), [(("config", "list"), 0), (("check",), 1)])
def test_a_closed_pipe_does_not_change_the_exit_code(
    installed_command: Path, project: Path, words: tuple[str, ...], code: int
) -> None:
    (project / STATE).unlink()
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([installed_command, *words], cwd=project, stdout=writing, stderr=-1)
    os.close(writing)
    assert (done.returncode, done.stderr) == (code, b"")


def test_a_relative_folder_for_settings_is_ignored(fairlead: Fairlead, scratch_home: Path) -> None:
    words = ("config", "set", "--user", "fairlead.color", "never")
    assert fairlead(*words, env={"XDG_CONFIG_HOME": "relative"}).exit_code == 0
    assert (scratch_home / ".config/fairlead/config.json").is_file()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("statusline.show_git", "true"),
        ("statusline.state_format", "compact"),
        ("statusline.context_position", "front"),
        ("fairlead.completion", "verified"),
        ("fairlead.state_lines", "80"),
    ],
)
def test_every_setting_that_is_read_is_listed_by_config(
    fairlead: Fairlead, tmp_path: Path, key: str, value: str
) -> None:
    fairlead("init", "Demo", "--yes")
    assert key in fairlead("config", "list").stdout
    assert fairlead("config", "set", key, "nonsense").exit_code == 2
    assert fairlead("config", "set", key, value).exit_code == 0

    assert fairlead("config", "get", key).stdout.strip() == value


def test_a_setting_of_another_tool_is_shown_and_not_validated(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    fairlead("init", "Demo", "--yes")
    config = tmp_path / ".planning" / "config.json"
    config.write_text('{"statusline": {"show_git": "yes"}}', "utf-8")
    shown = fairlead("config", "get", "statusline.show_git")

    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, "yes\n", "")


def test_a_module_that_cannot_be_imported_is_named(installed: Fairlead, project: Path) -> None:
    (project / "lost").mkdir()
    (project / "lost/yaml.py").write_text("import nothing_of_that_name\n")
    words = ("state", "add-decision", "--phase", "1", "--summary", "Use SQLite", "--json")
    refused = installed(*words, env={"PYTHONPATH": str(project / "lost")})
    assert refused.exit_code == 7
    assert json.loads(refused.stdout)["error"]["code"] == "broken-program"
    assert "nothing_of_that_name cannot be loaded" in refused.stderr


def test_a_bug_has_its_own_exit_code_and_a_traceback(installed: Fairlead, project: Path) -> None:
    (project / "odd").mkdir()
    (project / "odd/yaml.py").write_text("raise ValueError('half\\x1b[2Jdone')\n")
    words = ("state", "add-decision", "--phase", "1", "--summary", "Use SQLite", "--json")
    refused = installed(*words, env={"PYTHONPATH": str(project / "odd")})
    assert refused.exit_code == 7
    assert json.loads(refused.stdout)["error"]["code"] == "own-fault"
    assert "Traceback" in refused.stderr
    assert "yaml.py" in refused.stderr
    assert "\x1b" not in refused.stderr + refused.stdout


@pytest.mark.parametrize("group", [("milestone",), ("job",), ("phase",)])
def test_a_group_without_a_command_shows_its_help(
    fairlead: Fairlead, group: tuple[str, ...]
) -> None:
    alone = fairlead(*group)
    assert (alone.exit_code, alone.stdout) == (2, "")
    assert alone.stderr == fairlead(*group, "--help").stdout


def test_the_choices_of_a_missing_argument_are_one_readable_line(fairlead: Fairlead) -> None:
    wrong = fairlead("explain")
    assert "Choose from: progress, scope, phase, plan, status, next\n" in wrong.stderr


def test_a_linked_worktree_gets_no_second_project(
    fairlead: Fairlead, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tree = tmp_path_factory.mktemp("linked") / "tree"
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    for more in (["init", "-q"], ["commit", "-qm1", "--allow-empty"], ["worktree", "add", tree]):
        subprocess.run([*words, *more], cwd=project, check=True, capture_output=True)
    refused = fairlead("init", "Other", "--yes", cwd=tree)
    assert refused.exit_code == 4
    assert f"{project}/.planning exists already" in refused.stderr


def test_a_project_inside_another_reports_the_outer_one(fairlead: Fairlead, project: Path) -> None:
    (project / "below").mkdir()
    made = fairlead("init", "Other", "--yes", cwd=project / "below")
    assert made.exit_code == 0
    assert f"{project} has a project, too" in made.stderr


@pytest.mark.parametrize("folder", ["absent", ".planning/STATE.md"])
def test_a_missing_folder_given_with_capital_c_is_named(
    fairlead: Fairlead, project: Path, folder: str
) -> None:
    refused = fairlead("-C", folder, "init", "Other", "--yes")
    assert refused.exit_code == 2
    assert folder in refused.stderr


def test_a_missing_state_names_the_command_that_creates_it(
    fairlead: Fairlead, project: Path
) -> None:
    (project / STATE).unlink()
    refused = fairlead("state", "add-decision", "--phase", "1", "--summary", "Ours")
    assert refused.exit_code == 2
    assert "fairlead doctor --fix --create" in refused.stderr
    assert fairlead("doctor", "--fix", "--create").exit_code == 0
    assert (project / STATE).is_file()


def test_a_linked_project_description_does_not_hide_the_status(
    fairlead: Fairlead, project: Path
) -> None:
    description = project / ".planning/PROJECT.md"
    description.rename(project / "elsewhere.md")
    description.symlink_to(project / "elsewhere.md")
    assert json.loads(fairlead("status", "--json").stdout)["title"] == "Ticket tracker"


def test_the_frontmatter_keeps_the_title_as_given(fairlead: Fairlead, tmp_path: Path) -> None:
    fairlead("init", "Maps <b>", "--yes", env=NOW)
    assert json.loads(fairlead("status", "--json").stdout)["milestone_name"] == "Maps <b>"


@pytest.mark.parametrize("fault", [OSError(5, "Input/output error", "x"), ImportError("no x")])
def test_an_error_after_a_write_does_not_say_that_nothing_was_changed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: Exception,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(init_command, "report_change", fails)
        assert main.run(["init", "X", "--yes", "--json"]) == StorageError.exit_code
    assert (tmp_path / ".planning/STATE.md").exists()
    assert json.loads(capsys.readouterr().out)["error"]["code"] == LaterFault.code

    with monkeypatch.context() as patch:
        patch.setattr(config_command, "report_change", fails)
        words = ["config", "set", "mode", "yolo", "--dry-run", "--json"]
        assert main.run(words) == StorageError.exit_code
    assert json.loads(capsys.readouterr().out)["error"]["code"] != LaterFault.code


def test_an_error_while_a_hint_is_improved_does_not_replace_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(text: str) -> str:
        raise OSError(30, "Read-only file system", text)

    monkeypatch.setattr("fairlead.interfaces.cli.options.with_workstream", fail)
    assert main.run(["-C", str(tmp_path), "state", "resume", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == NoProject.code
