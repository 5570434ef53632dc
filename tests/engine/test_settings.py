"""Settings: a wrong value has a place, and no value takes others with it."""

import fcntl
import time
from pathlib import Path

import pytest

from fairlead.engine.settings import Place, Settings
from fairlead.errors import (
    DocumentError,
    JsonSyntax,
    LockBusy,
    SettingValue,
    UnknownSetting,
    UsageError,
    WrongSetting,
)
from fairlead.model.config import Origin
from fairlead.store import layout

CONFIG = ".planning/config.json"


def settings(folder: Path, text: str | None) -> Settings:
    (folder / ".planning").mkdir()
    if text is not None:
        (folder / CONFIG).write_text(text)
    mine = Place(str(folder / "mine"), layout.USER_CONFIG, layout.USER_DESK)
    return Settings(mine, Place(str(folder), layout.CONFIG))


@pytest.mark.parametrize("key", ["workflow", "fairlead", "others", "others.deep", "", "a..b", "."])
def test_a_key_that_holds_others_or_is_no_key_takes_no_value(tmp_path: Path, key: str) -> None:
    text = '{"workflow": {"verifier": true}, "others": {"deep": {"x": 1}}, "fairlead": {}}'
    with pytest.raises(UsageError) as refusal:
        settings(tmp_path, text).set(key, 5, Origin.PROJECT)
    assert isinstance(refusal.value, SettingValue | UnknownSetting)
    assert (tmp_path / CONFIG).read_text() == text


def test_a_wrong_value_in_a_file_is_refused_with_its_place(tmp_path: Path) -> None:
    held = settings(tmp_path, '{"fairlead": {\n  "lock_wait_seconds": "x"}}')
    with pytest.raises(WrongSetting) as refusal:
        held.all()
    assert str(refusal.value).startswith(f"{tmp_path / CONFIG}:2:24: fairlead.lock_wait_seconds")


def test_a_wrong_value_hides_no_other_and_can_be_corrected(tmp_path: Path) -> None:
    held = settings(tmp_path, '{"fairlead": {"lock_wait_seconds": "x"}}')
    assert held.get("fairlead.color").value == "auto"
    held.set("fairlead.lock_wait_seconds", 5, Origin.PROJECT)
    assert held.get("fairlead.lock_wait_seconds").value == 5


def test_a_setting_that_is_not_there_is_answered_with_one_like_it(tmp_path: Path) -> None:
    with pytest.raises(UnknownSetting) as refusal:
        settings(tmp_path, None).get("fairlead.lock_wait_second")
    assert "fairlead.lock_wait_seconds" in refusal.value.hint


def test_an_emptied_file_is_not_a_new_one(tmp_path: Path) -> None:
    with pytest.raises(JsonSyntax):
        settings(tmp_path, "").set("fairlead.color", "never", Origin.PROJECT)
    assert (tmp_path / CONFIG).read_text() == ""


def test_the_persons_own_file_is_named_in_full(tmp_path: Path) -> None:
    held = settings(tmp_path, None)
    file = tmp_path / "mine" / layout.USER_CONFIG
    assert held.set("fairlead.color", "never", Origin.USER).paths == (str(file),)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DocumentError) as refusal:
        held.set("fairlead.color", "auto", Origin.USER)
    assert str(refusal.value).startswith(f"{file}: ")


def test_setting_waits_as_long_as_the_settings_say(tmp_path: Path) -> None:
    held = settings(tmp_path, '{"fairlead": {"lock_wait_seconds": 1}}')
    held.set("fairlead.color", "never", Origin.PROJECT)
    began = time.monotonic()
    with (tmp_path / layout.DESK / layout.LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LockBusy):
            held.set("fairlead.color", "auto", Origin.PROJECT)
    assert time.monotonic() - began < 9  # the default of a writer that nobody told
