"""Settings: a wrong value has a place, and no value takes others with it."""

import fcntl
from pathlib import Path

import pytest

from fairlead.core.errors import DocumentError, SettingValue, UnknownSetting, UsageError
from fairlead.core.settings import Origin
from fairlead.store import layout
from fairlead.store.configuration import Settings, SettingsFile
from fairlead.store.errors import LockBusy, WrongSetting
from fairlead.store.staging import LOCK, STAGING, USER_STAGING
from fairlead.text.errors import JsonSyntax

CONFIG = ".planning/config.json"


def settings(folder: Path, text: str | None) -> Settings:
    (folder / ".planning").mkdir()
    if text is not None:
        (folder / CONFIG).write_text(text)
    mine = SettingsFile(str(folder / "mine"), layout.USER_CONFIG, USER_STAGING)
    return Settings(mine, SettingsFile(str(folder), layout.CONFIG))


@pytest.mark.parametrize("key", ["workflow", "fairlead", "others", "others.deep", "", "a..b", "."])
def test_a_key_that_contains_settings_or_is_unknown_takes_no_value(
    tmp_path: Path, key: str
) -> None:
    text = '{"workflow": {"verifier": true}, "others": {"deep": {"x": 1}}, "fairlead": {}}'
    with pytest.raises(UsageError) as refusal:
        settings(tmp_path, text).set(key, 5, Origin.PROJECT)
    assert isinstance(refusal.value, SettingValue | UnknownSetting)
    assert (tmp_path / CONFIG).read_text() == text


def test_a_wrong_value_in_a_file_is_refused_with_its_position(tmp_path: Path) -> None:
    current = settings(tmp_path, '{"fairlead": {\n  "lock_wait_seconds": "x"}}')
    with pytest.raises(WrongSetting) as refusal:
        current.all()
    assert str(refusal.value).startswith(f"{tmp_path / CONFIG}:2:24: fairlead.lock_wait_seconds")


def test_a_wrong_value_hides_no_other_and_can_be_corrected(tmp_path: Path) -> None:
    current = settings(tmp_path, '{"fairlead": {"lock_wait_seconds": "x"}}')
    assert current.get("fairlead.color").value == "auto"
    current.set("fairlead.lock_wait_seconds", 5, Origin.PROJECT)
    assert current.get("fairlead.lock_wait_seconds").value == 5


def test_an_unknown_setting_suggests_a_similar_one(tmp_path: Path) -> None:
    with pytest.raises(UnknownSetting) as refusal:
        settings(tmp_path, None).get("fairlead.lock_wait_second")
    assert "fairlead.lock_wait_seconds" in refusal.value.hint


def test_an_emptied_settings_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JsonSyntax):
        settings(tmp_path, "").set("fairlead.color", "never", Origin.PROJECT)
    assert (tmp_path / CONFIG).read_text() == ""


def test_the_users_file_is_named_with_its_full_path(tmp_path: Path) -> None:
    current = settings(tmp_path, None)
    file = tmp_path / "mine" / layout.USER_CONFIG
    assert current.set("fairlead.color", "never", Origin.USER).paths == (str(file),)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DocumentError) as refusal:
        current.set("fairlead.color", "auto", Origin.USER)
    assert str(refusal.value).startswith(f"{file}: ")


def test_setting_waits_as_long_as_the_settings_say(tmp_path: Path) -> None:
    current = settings(tmp_path, '{"fairlead": {"lock_wait_seconds": 1}}')
    current.set("fairlead.color", "never", Origin.PROJECT)
    with (tmp_path / STAGING / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LockBusy) as refused:
            current.set("fairlead.color", "auto", Origin.PROJECT)
    assert refused.value.waited_seconds == 1


def test_a_value_that_is_unset_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    text = '{\n  "mode": "yolo",\n  "others": {"x": 1}\n}\n'
    current = settings(tmp_path, text)
    current.set("fairlead.council.rounds", 5, Origin.PROJECT)
    current.set("fairlead.color", "never", Origin.PROJECT)
    current.unset("fairlead.color", Origin.PROJECT)
    assert current.get("fairlead.council.rounds").value == 5
    current.unset("fairlead.council.rounds", Origin.PROJECT)
    assert (tmp_path / CONFIG).read_text() == text
    assert current.get("fairlead.council.rounds").origin is Origin.DEFAULT


@pytest.mark.parametrize("key", ["nothing", "fairlead.no_such", "others", "fairlead"])
def test_only_a_single_value_can_be_unset(tmp_path: Path, key: str) -> None:
    text = '{"others": {"x": 1}, "fairlead": {"color": "never"}}'
    with pytest.raises(UsageError) as refusal:
        settings(tmp_path, text).unset(key, Origin.PROJECT)
    assert isinstance(refusal.value, SettingValue | UnknownSetting)
    assert (tmp_path / CONFIG).read_text() == text


def test_unsetting_what_is_not_set_changes_nothing(tmp_path: Path) -> None:
    current = settings(tmp_path, '{"fairlead": {"color": "never"}}')
    assert not current.unset("fairlead.slots", Origin.PROJECT).changes
