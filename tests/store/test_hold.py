"""The hold: one owner among many sessions, and no harm from whatever stands in its place."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fairlead.model.stopping import GONE_SECONDS, Hold
from fairlead.store.hold import load_hold, update_hold
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


def test_what_was_counted_is_there_the_next_time(project: Path):
    def change(hold: Hold) -> Hold:
        return hold.claimed('a "b"\n').counted("x")

    assert [update_hold(str(project), NEW, 0.0, change) for _ in range(3)] == [True] * 3
    held = load_hold(str(project), NEW, 0.0)
    assert (held.owner, held.blocks, held.total, held.state) == ('a "b"\n', 3, 3, "x")


def test_of_sixteen_sessions_at_once_one_owns_the_plan(project: Path):
    names = [f"s{number}" for number in range(16)]
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda name: claim(project, name), names))
    first = owner(project)

    # On a machine that stalls, somebody may give up waiting; they do not own it then.
    assert first in [name for name, was_done in zip(names, done, strict=True) if was_done]
    claim(project, "late")
    assert owner(project) == first


def test_the_file_is_the_persons_own_and_git_does_not_see_it(project: Path):
    claim(project, "s")

    assert stat.S_IMODE((project / FILE).stat().st_mode) == 0o600
    assert (project / FILE).with_name(".gitignore").read_text("utf-8") == "*\n"


def test_an_owner_that_was_not_met_for_long_is_none(project: Path):
    claim(project, "s")
    then = (project / FILE).stat().st_mtime

    assert owner(project, then + GONE_SECONDS - 5) == "s"
    assert owner(project, then + GONE_SECONDS + 5) == ""


def test_looking_makes_nothing(project: Path):
    assert owner(project) == ""
    assert not (project / FILE).parent.exists()


@pytest.mark.parametrize("kind", ["link", "folder", "desk is a file"])
def test_what_is_no_file_of_ours_is_left_alone(project: Path, kind: str):
    place = project / FILE
    target = put(project, "target", "theirs")
    if kind == "desk is a file":
        put(project, ".claude/.fairlead", "theirs")
    else:
        place.parent.mkdir()
        (place.mkdir if kind == "folder" else lambda: os.symlink(target, place))()

    assert not claim(project, "s")
    assert owner(project) == ""
    assert target.read_text("utf-8") == "theirs"
