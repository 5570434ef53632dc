"""JSON settings of a host agent: entries are added and removed, and nothing else changes."""

import json
import re
import shlex

import pytest

from fairlead.core.errors import DocumentError
from fairlead.core.host_commands import is_fairlead_command
from fairlead.interfaces.install.errors import NameTaken
from fairlead.interfaces.install.host_settings import (
    HookEntry,
    SettingsEntries,
    has_entries,
    status_line_of,
    with_entries,
    without_entries,
)
from fairlead.text.json_edit import Json, read_json
from tests.support.host_settings import COMMENTED, REFUSED, SETTINGS

LINE = ("/x/python", "-I", "/lib/fairlead/interfaces/statusline/__main__.py")
HOOKS = (
    HookEntry("Stop", ("/x/python", "-c", "code", "/lib/fairlead/interfaces/hooks"), 10),
    HookEntry("SessionEnd", ("/x/bin/fairlead", "hook", "session-end"), 5),
)
SERVER: tuple[str, Json] = ("mcpServers", {"command": "/x/bin/fairlead", "args": ["mcp"]})
WANTED = SettingsEntries(HOOKS, has_arguments=True, status_line=LINE, server=SERVER)
COMMENTS = SettingsEntries(HOOKS, server=SERVER, allows_comments=True)


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_every_existing_value_is_kept(text: str):
    before = json.loads(text.lstrip("\ufeff").strip() or "{}")
    after = json.loads(with_entries(text, WANTED).text.lstrip("\ufeff"))

    hooks = before.pop("hooks", {})
    line = before.pop("statusLine", None)
    assert {key: after[key] for key in before} == before
    assert all(after["hooks"][event][: len(entries)] == entries for event, entries in hooks.items())
    if isinstance(line, dict) and "command" in line:
        assert after["statusLine"] == {**line, "command": after["statusLine"]["command"]}
        assert shlex.split(after["statusLine"]["command"])[-1] == line["command"]


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_after_an_edit_only_our_entries_are_removed(text: str):
    done = with_entries(text, WANTED)
    edited = done.text.replace("{", '{"edited": {"by": "a person"},', 1)

    assert has_entries(edited)
    rest = json.loads(without_entries(edited).lstrip("\ufeff"))

    expected = json.loads(text.lstrip("\ufeff").strip() or "{}")
    hooks = {event: entries for event, entries in expected.pop("hooks", {}).items() if entries}
    assert rest.pop("hooks", {}) == hooks
    assert rest == {"edited": {"by": "a person"}, **expected}


@pytest.mark.parametrize("text", COMMENTED.values(), ids=COMMENTED)
def test_comments_stay_when_entries_are_added_and_removed(text: str):
    before = read_json(text, comments=True).value
    added = with_entries(text, COMMENTS).text
    after = read_json(added, comments=True).value
    rest = without_entries(added, comments=True)

    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert {key: after[key] for key in before if key != "hooks"} == {
        key: value for key, value in before.items() if key != "hooks"
    }
    comments = re.findall(r"[A-Z]{3,}", text)  # every word of the comments is in capitals
    assert re.findall(r"[A-Z]{3,}", added) == comments
    assert re.findall(r"[A-Z]{3,}", rest) == comments
    left = read_json(rest, comments=True).value
    assert isinstance(left, dict)
    assert left.get("hooks", {}) in (before.get("hooks", {}), {})
    assert "mcpServers" not in left


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_ambiguous_json_is_refused(text: str):
    with pytest.raises(DocumentError):
        with_entries(text, WANTED)


def test_a_server_of_the_same_name_is_not_replaced():
    with pytest.raises(NameTaken):
        with_entries('{"mcpServers": {"fairlead": {"command": "other"}}}', WANTED)


def test_a_status_line_of_another_kind_stays_with_a_note():
    done = with_entries('{"statusLine": {"type": "other"}}', WANTED)

    assert done.note
    assert json.loads(done.text)["statusLine"] == {"type": "other"}


def test_the_users_status_line_is_shown_first():
    done = with_entries(SETTINGS["a status line"], WANTED)

    words = shlex.split(status_line_of(done.text))
    assert words == [*LINE, "--before", "/bin/sh", "-c", "~/bin/my line | head -1"]


def test_codex_gets_a_shell_command():
    wanted = SettingsEntries((HookEntry("Stop", ("/a b/fairlead", "hook", "stop"), 10),))

    entry = json.loads(with_entries("", wanted).text)["hooks"]["Stop"][0]["hooks"][0]

    assert entry == {"type": "command", "command": "'/a b/fairlead' hook stop", "timeout": 10}


@pytest.mark.parametrize(
    ("command", "arguments", "ours"),
    [
        ("fairlead hook stop", None, True),
        ("/a/bin/fairlead", ["hook", "stop"], True),
        ("/p/python -m fairlead hook stop", None, True),
        ("/p/python", ["-c", "x", "/lib/fairlead/interfaces/hooks"], True),
        ("fairlead statusline", None, True),
        ("fairlead", ["mcp"], True),
        (["/a/fairlead", "mcp"], None, True),
        ("fairlead status", None, False),
        ("my-fairlead hook stop", None, False),
        ("echo fairlead hook", None, False),
        ("it's broken", None, False),
        (5, None, False),
        ([], None, False),
        ("", None, False),
    ],
)
def test_our_commands_are_recognised(command: object, arguments: object, ours: bool):
    assert is_fairlead_command(command, arguments) is ours
