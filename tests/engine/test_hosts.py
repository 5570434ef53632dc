"""Fifty settings files on a disk: installed, taken out, and every byte is where it was."""

import os
from pathlib import Path

import pytest

from fairlead.engine.hosts import CLAUDE, CODEX, EVENTS, Host, Ways
from fairlead.errors import DocumentError
from fairlead.store import layout
from fairlead.store.files import Files
from tests.support.host_settings import REFUSED, SETTINGS
from tests.support.plan_files import put
from tests.support.projects import ToldClock

NAME = layout.CLAUDE_SETTINGS
WAYS = Ways(
    {name: ("/x/fairlead", "hook", name) for _, name, _ in EVENTS}, ("/x/fairlead", "statusline")
)


def host_in(folder: Path, host: str = CLAUDE, name: str = NAME) -> Host:
    return Host(host, Files(str(folder), desk=layout.HOST_DESK), name, ToldClock())


def files_in(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_settings_come_back_byte_for_byte(tmp_path: Path, text: str):
    put(tmp_path, NAME, text)
    before = files_in(tmp_path)
    host = host_in(tmp_path)

    host.install(WAYS)
    assert files_in(tmp_path) != before
    host.uninstall()

    assert files_in(tmp_path) == before


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_settings_that_are_refused_are_not_touched(tmp_path: Path, text: str):
    put(tmp_path, NAME, text)

    with pytest.raises(DocumentError, match=NAME):
        host_in(tmp_path).install(WAYS)

    assert files_in(tmp_path) == {NAME: text.encode()}
    assert os.listdir(tmp_path) == [NAME]


def test_bytes_that_are_no_text_are_refused(tmp_path: Path):
    put(tmp_path, NAME, b'{"a": "\xff"}')

    with pytest.raises(DocumentError):
        host_in(tmp_path).install(WAYS)

    assert files_in(tmp_path) == {NAME: b'{"a": "\xff"}'}


def test_a_file_of_its_own_permissions_keeps_them(tmp_path: Path):
    place = put(tmp_path, NAME, "{}\n")
    place.chmod(0o600)

    host_in(tmp_path).install(WAYS)

    assert place.stat().st_mode & 0o777 == 0o600


def test_where_nothing_is_installed_nothing_is_made(tmp_path: Path):
    assert host_in(tmp_path).uninstall().outcome.changes == ()
    assert os.listdir(tmp_path) == []


def test_two_settings_files_in_one_folder_keep_apart(tmp_path: Path):
    local = host_in(tmp_path, name=layout.CLAUDE_LOCAL_SETTINGS)
    shared = host_in(tmp_path)
    shared.install(WAYS)
    local.install(WAYS)
    local.uninstall()

    assert set(files_in(tmp_path)) == {NAME, NAME + layout.RECEIPT}
    assert shared.uninstall().outcome.places.moves
    assert files_in(tmp_path) == {}


def test_codex_has_no_status_line_of_ours(tmp_path: Path):
    host_in(tmp_path, CODEX, layout.CODEX_HOOKS).install(WAYS)

    assert b"statusLine" not in files_in(tmp_path)[layout.CODEX_HOOKS]
