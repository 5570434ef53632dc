"""The stored hold: one owner among many sessions, and robust against foreign files."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fairlead.planphase.hold import load_hold, update_hold
from fairlead.planphase.stop_rule import OWNER_TIMEOUT_SECONDS, Hold
from tests.support.plan_files import PLAN, plan_text, put

NEW = Hold("p")
FILE = ".claude/.fairlead/hold.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path, PLAN, plan_text())
    return tmp_path


def claim(project: Path, session: str, now: float = 0.0) -> bool:
    return update_hold(str(project), NEW, now, lambda hold: hold.claimed(session))


def owner(project: Path, now: float = 0.0) -> str:
    return load_hold(str(project), NEW, now).owner


def test_the_counts_are_stored(project: Path):
    def change(hold: Hold) -> Hold:
        return hold.claimed('a "b"\n').counted("x")

    assert [update_hold(str(project), NEW, 0.0, change) for _ in range(3)] == [True] * 3
    hold = load_hold(str(project), NEW, 0.0)
    assert (hold.owner, hold.blocks, hold.total, hold.state) == ('a "b"\n', 3, 3, "x")


def test_one_of_sixteen_concurrent_sessions_owns_the_plan(project: Path):
    names = [f"s{number}" for number in range(16)]
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda name: claim(project, name), names))
    first = owner(project)

    # On a slow machine a session may time out waiting for the lock; then it is not the owner.
    assert first in [name for name, was_done in zip(names, done, strict=True) if was_done]
    claim(project, "late")
    assert owner(project) == first


def test_the_file_is_private_and_ignored_by_git(project: Path):
    claim(project, "s")

    assert stat.S_IMODE((project / FILE).stat().st_mode) == 0o600
    assert (project / FILE).with_name(".gitignore").read_text("utf-8") == "*\n"


def test_an_owner_not_seen_for_long_does_not_count(project: Path):
    claim(project, "s")
    then = (project / FILE).stat().st_mtime

    assert owner(project, then + OWNER_TIMEOUT_SECONDS - 5) == "s"
    assert owner(project, then + OWNER_TIMEOUT_SECONDS + 5) == ""


def test_reading_creates_nothing(project: Path):
    assert owner(project) == ""
    assert not (project / FILE).parent.exists()


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_foreign_file_in_the_place_of_the_hold_is_moved_away_unchanged(project: Path, kind: str):
    place = project / FILE
    target = put(project, "target", "theirs")
    place.parent.mkdir()
    if kind == "link":
        place.symlink_to(target)
    else:
        (place.mkdir if kind == "folder" else lambda: os.mkfifo(place))()

    assert owner(project) == ""
    assert claim(project, "s")
    assert owner(project) == "s"
    assert target.read_text("utf-8") == "theirs"
    assert [each.name for each in place.parent.iterdir() if each.name.startswith("hold.json-")]


def test_a_file_in_the_place_of_the_staging_folder_is_not_changed(project: Path):
    put(project, ".claude/.fairlead", "theirs")

    assert not claim(project, "s")
    assert owner(project) == ""
    assert (project / ".claude/.fairlead").read_text("utf-8") == "theirs"
