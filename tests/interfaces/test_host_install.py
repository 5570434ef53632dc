"""Installing in a host and uninstalling restores every byte of the user's files."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairlead.core.errors import ConflictError, DocumentError, FairleadError
from fairlead.interfaces.install.errors import SettingsOverwritten
from fairlead.interfaces.install.hosts import (
    CLAUDE,
    CODEX,
    EVENTS,
    GEMINI,
    HOSTS,
    OPENCODE,
    PROJECT,
    USER,
    StartCommands,
    host_plan,
)
from fairlead.interfaces.install.receipt import RECEIPT
from fairlead.interfaces.install.service import HOST_STAGING, HostInstaller
from tests.support.host_settings import (
    COMMENTED,
    MEMORIES,
    REFUSED,
    SETTINGS,
    TOML,
    TOML_REFUSED,
)
from tests.support.plan_files import put
from tests.support.projects import TickingClock

COMMANDS = StartCommands(
    ("/x/fairlead",),
    {name: ("/x/fairlead", "hook", name) for _, name, _ in EVENTS},
    ("/x/fairlead", "statusline"),
)
# Each file of a user that is edited, by the host and its path below the home folder.
PLACES = {
    "settings": (CLAUDE, ".claude/settings.json"),
    "servers": (CLAUDE, ".claude.json"),
    "config": (CODEX, ".codex/config.toml"),
    "opencode": (OPENCODE, ".config/opencode/opencode.json"),
    "gemini": (GEMINI, ".gemini/settings.json"),
    "memory": (CLAUDE, ".claude/CLAUDE.md"),
    "agents": (CODEX, ".codex/AGENTS.md"),
}
JSON = {**SETTINGS, **{f"commented: {name}": text for name, text in COMMENTED.items()}}
CASES = [
    *(("settings", text, name) for name, text in SETTINGS.items()),
    *(("servers", text, f"servers: {name}") for name, text in list(SETTINGS.items())[::6]),
    *(("opencode", text, f"opencode: {name}") for name, text in list(JSON.items())[3::5]),
    *(("opencode", text, f"opencode: {name}") for name, text in COMMENTED.items()),
    *(("gemini", text, f"gemini: {name}") for name, text in COMMENTED.items()),
    *(("config", text, name) for name, text in TOML.items()),
    *(("memory", text, name) for name, text in MEMORIES.items()),
    *(("agents", text, f"agents {name}") for name, text in list(MEMORIES.items())[::3]),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG_DIR", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def installer(host: str, *, scope: str = USER, project: str = "/", only: str = "") -> HostInstaller:
    """The installer of a host, or of one of its files, which is much faster."""
    plan = host_plan(host, scope, project, COMMANDS).plan
    if only:
        plan = replace(plan, files=tuple(file for file in plan.files if file.path == only))
        assert len(plan.files) == 1
    return HostInstaller(plan, TickingClock())


def tree(folder: Path) -> dict[str, bytes | str]:
    """Everything below a folder: the content of files, the target of links."""
    return {
        path.relative_to(folder).as_posix(): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else "folder"
        for path in folder.rglob("*")
    }


def test_there_are_at_least_sixty_settings_files():
    assert len(CASES) >= 60


@pytest.mark.parametrize(("place", "text"), [case[:2] for case in CASES], ids=[c[2] for c in CASES])
def test_uninstalling_restores_a_file_byte_for_byte(home: Path, place: str, text: str):
    host, path = PLACES[place]
    put(home, path, text)
    before = tree(home)
    ours = installer(host, only=str(home / path))

    ours.install()
    assert (home / path).read_bytes() != text.encode()
    assert ours.install().changes == ()
    ours.uninstall()

    assert tree(home) == before


@pytest.mark.parametrize(("place", "text"), [case[:2] for case in CASES], ids=[c[2] for c in CASES])
def test_without_a_receipt_a_second_round_ends_where_it_began(home: Path, place: str, text: str):
    host, path = PLACES[place]
    put(home, path, text)
    ours = installer(host, only=str(home / path))
    ours.install()
    for receipt in home.rglob(f"*{RECEIPT}"):
        receipt.unlink()

    ours.uninstall()
    left = (home / path).read_bytes()
    ours.install()
    ours.uninstall()

    assert b"fairlead" not in left.replace(text.encode(), b"").lower()
    assert (home / path).read_bytes() == left


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_what_an_interrupted_command_left_goes_with_the_next(home: Path, command: str):
    put(home, ".claude/settings.json", '{"model": "opus"}\n')
    ours = installer("claude", only=str(home / ".claude/settings.json"))
    if command == "install":
        ours.install()
    before = tree(home)
    put(Path(ours._plan.home), f"{HOST_STAGING}/removed/x-settings.json", "{}\n")
    put(Path(ours._plan.home), f"{HOST_STAGING}/.gitignore", "*\n")

    getattr(ours, command)(dry_run=True)
    assert tree(home) != before
    getattr(ours, command)()

    assert tree(home) == before


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("has_files", [True, False])
def test_a_whole_installation_leaves_nothing_behind(home: Path, host: str, has_files: bool):
    if has_files:
        put(home, ".claude/settings.json", '{"model": "opus"}\n')
        put(home, ".claude/skills/mine/SKILL.md", "mine\n")
        put(home, ".codex/config.toml", 'model = "x"\n')
        put(home, ".config/opencode/opencode.jsonc", '{"share": "disabled"} // MINE\n')
        put(home, ".gemini/GEMINI.md", "Use tabs.\n")
    before = tree(home)
    ours = installer(host)

    done = ours.install()
    assert len(done.changes) >= 12
    assert not list(home.rglob(HOST_STAGING))
    assert ours.install().changes == ()
    ours.uninstall()

    assert tree(home) == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_project_gets_files_without_paths_of_this_machine(home: Path, tmp_path: Path, host: str):
    project = tmp_path / "project"
    put(project, "README.md", "# Mine\n")
    before = tree(project)
    ours = installer(host, scope=PROJECT, project=str(project))

    ours.install()
    assert str(tmp_path).encode() not in b"".join(
        content for content in tree(project).values() if isinstance(content, bytes)
    )
    ours.uninstall()

    assert tree(project) == before
    assert tree(home) == {}


@pytest.mark.parametrize("is_folder", [True, False])
def test_links_of_the_user_are_followed_and_stay_links(home: Path, is_folder: bool):
    put(home, "dotfiles/claude/settings.json", '{"model": "opus"}\n')
    put(home, "dotfiles/claude/CLAUDE.md", "Use tabs.\n")
    if is_folder:
        (home / ".claude").symlink_to("dotfiles/claude")
    else:
        (home / ".claude").mkdir()
        (home / ".claude/settings.json").symlink_to("../dotfiles/claude/settings.json")
        (home / ".claude/CLAUDE.md").symlink_to(home / "dotfiles/claude/CLAUDE.md")
    before = tree(home)
    ours = installer(CLAUDE)

    ours.install()
    assert b"hooks" in (home / "dotfiles/claude/settings.json").read_bytes()
    assert {
        path for path, kind in before.items() if isinstance(kind, str) and kind != "folder"
    } == {path for path in before if (home / path).is_symlink()}
    ours.uninstall()

    assert tree(home) == before


def test_a_link_in_a_project_is_refused(home: Path, tmp_path: Path):
    project = tmp_path / "project"
    target = put(home, "outside.json", "{}\n")
    (project / ".claude").mkdir(parents=True)
    (project / ".claude/settings.json").symlink_to(target)

    with pytest.raises(FairleadError):
        installer(CLAUDE, scope=PROJECT, project=str(project)).install()

    assert target.read_text("utf-8") == "{}\n"


def test_what_a_host_wrote_meanwhile_stays(home: Path):
    put(home, ".codex/config.toml", 'model = "x"\n')
    put(home, ".claude.json", '{"numStartups": 1}\n')
    for host in (CODEX, CLAUDE):
        installer(host).install()
    config, servers = home / ".codex/config.toml", home / ".claude.json"
    trust = '\n[projects."/work"]\ntrust_level = "trusted"\n'
    config.write_text(config.read_text("utf-8") + trust, "utf-8")
    servers.write_text(servers.read_text("utf-8").replace('s": 1', 's": 2'), "utf-8")

    for host in (CODEX, CLAUDE):
        installer(host).uninstall()

    assert config.read_text("utf-8") == f'model = "x"\n{trust}'
    assert servers.read_text("utf-8") == '{"numStartups": 2}\n'


def test_lines_that_a_host_moved_into_our_block_stay(home: Path):
    installer(CODEX).install()
    config = home / ".codex/config.toml"
    moved = '[projects."/work"]\ntrust_level = "trusted"\n'
    text = config.read_text("utf-8").replace("# fairlead:end", f"{moved}# fairlead:end")
    config.write_text(text, "utf-8")

    installer(CODEX).uninstall()

    assert config.read_text("utf-8") == moved


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_refused_settings_are_left_unchanged(home: Path, text: str):
    put(home, ".claude/settings.json", text)

    with pytest.raises(DocumentError, match=r"settings\.json"):
        installer(CLAUDE).install()

    assert tree(home) == {".claude": "folder", ".claude/settings.json": text.encode()}


@pytest.mark.parametrize("text", TOML_REFUSED.values(), ids=TOML_REFUSED)
def test_refused_toml_is_left_unchanged(home: Path, text: str):
    put(home, ".codex/config.toml", text)

    with pytest.raises((DocumentError, ConflictError), match=r"config\.toml"):
        installer(CODEX).install()

    assert tree(home) == {".codex": "folder", ".codex/config.toml": text.encode()}


def test_bytes_that_are_not_text_are_refused(home: Path):
    put(home, ".claude/settings.json", b'{"a": "\xff"}')

    with pytest.raises(DocumentError):
        installer(CLAUDE).install()

    assert (home / ".claude/settings.json").read_bytes() == b'{"a": "\xff"}'


def test_a_settings_file_keeps_its_permissions(home: Path):
    place = put(home, ".claude/settings.json", "{}\n")
    place.chmod(0o600)

    installer(CLAUDE).install()

    assert place.stat().st_mode & 0o777 == 0o600


def test_a_skill_of_the_user_with_our_name_is_not_replaced(home: Path):
    put(home, ".claude/skills/fairlead-status/SKILL.md", "mine\n")

    with pytest.raises(ConflictError, match="fairlead-status"):
        installer(CLAUDE).install()

    assert list(tree(home).values()).count(b"mine\n") == 1


def test_a_skill_that_was_changed_since_is_kept_with_a_note(home: Path):
    installer(CLAUDE).install()
    skill = home / ".claude/skills/fairlead-status/SKILL.md"
    skill.write_text(skill.read_text("utf-8") + "And more.\n", "utf-8")

    done = installer(CLAUDE).uninstall()

    assert [note for note in done.notes if "fairlead-status" in note]
    assert [path for path, kind in tree(home).items() if kind != "folder"] == [
        ".claude/skills/fairlead-status/SKILL.md"
    ]


def test_uninstalling_nothing_creates_nothing(home: Path):
    for host in HOSTS:
        assert installer(host).uninstall().changes == ()

    assert tree(home) == {}


def test_a_receipt_of_an_earlier_version_restores_the_settings(home: Path):
    text = '{"model": "opus"}\n'
    put(home, ".claude/settings.json", text)
    only = installer(CLAUDE, only=str(home / ".claude/settings.json"))
    only.install()
    receipt = home / f".claude/settings.json{RECEIPT}"
    row = json.loads(receipt.read_text("utf-8"))["files"]["settings.json"]
    row.pop("kind")
    receipt.write_text(json.dumps({"about": "x", **row}), "utf-8")

    installer(CLAUDE).uninstall()

    assert tree(home) == {".claude": "folder", ".claude/settings.json": text.encode()}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"after": 1, "undo": 5}', '{"files": [1]}'])
def test_the_entries_are_removed_without_a_usable_receipt(home: Path, text: str):
    put(home, ".claude/settings.json", '{"model": "opus"}')
    installer(CLAUDE).install()
    put(home, f".claude/settings.json{RECEIPT}", text)

    installer(CLAUDE).uninstall()

    assert (home / ".claude/settings.json").read_text("utf-8") == '{"model": "opus"}'
    assert not list(home.rglob("fairlead-*"))


def test_the_receipt_contains_only_what_was_replaced(home: Path):
    text = '{"env": {"SECRET": "hush"}, "statusLine": {"type": "command", "command": "mine"}}'
    put(home, ".claude/settings.json", text)

    installer(CLAUDE).install()

    assert "hush" not in (home / f".claude/settings.json{RECEIPT}").read_text("utf-8")


@pytest.mark.parametrize(("place", "edit"), [
    ("settings", lambda text: text.replace("{", '{"theirs": 1,', 1)),
    ("settings", lambda text: text.rstrip().removesuffix("}").rstrip() + ',\n  "theirs": 1\n}\n'),
    ("config", lambda text: 'theirs = 1\n' + text),
    ("memory", lambda text: text + "\nTheirs.\n"),
])  # fmt: skip
@pytest.mark.parametrize("keeps_ours", [True, False])
def test_another_program_that_writes_right_after_us_is_a_conflict_only_if_it_took_ours_away(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    edit: Callable[[str], str],
    keeps_ours: bool,
) -> None:
    host, name = PLACES[place]
    before = {"settings": '{\n  "a": 1\n}\n', "config": "a = 1\n", "memory": "Mine.\n"}[place]
    path = put(home, name, before)
    written = HostInstaller._write

    def write(self: HostInstaller, changes: list[Any], command: str) -> None:
        written(self, changes, command)
        if any(change.path == str(path) for change in changes):
            path.write_text(edit(path.read_text("utf-8") if keeps_ours else before), "utf-8")

    monkeypatch.setattr(HostInstaller, "_write", write)
    install = installer(host, only=str(path))
    if keeps_ours:
        install.install()
    else:
        with pytest.raises(SettingsOverwritten):
            install.install()
    assert "heirs" in path.read_text("utf-8")
