"""A document is old or new, and whatever somebody else saved in between is kept."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.core.errors import FairleadError
from fairlead.store import atomic
from fairlead.store.atomic import DocumentChanged, DocumentLocation, open_location
from fairlead.store.confined import ConfinedFolder
from fairlead.store.errors import NotAFile, NotConfirmed
from fairlead.store.rename import Renamer, prepare
from fairlead.store.staging import RESCUED, STAGING, writing_name
from tests.support.staging import (
    STATE,
    Interrupted,
    a_project,
    a_renamer_that_cannot,
    leftovers,
    limited_file_size,
    rescued,
    staging_area,
    state_of,
)

OLD, NEW, THEIRS, LATER = b"old\n", b"new\n", b"theirs\n", b"later\n"

both_ways = pytest.mark.parametrize(
    "renamer", [prepare(), a_renamer_that_cannot()], ids=["exchange", "rename"]
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return a_project(tmp_path, STATE="old\n")


def in_place(path: Path, content: bytes) -> None:
    """Save as most editors and tools do."""
    path.write_bytes(content)


def by_rename(path: Path, content: bytes) -> None:
    """Save as careful editors do."""
    beside = path.with_name("editor-file")
    beside.write_bytes(content)
    beside.replace(path)


Save = Callable[[Path, bytes], None]
either_style = pytest.mark.parametrize("save", [in_place, by_rename])


@both_ways
def test_a_document_is_replaced(project: Path, renamer: Renamer) -> None:
    with staging_area(project, renamer) as (root, staging), open_location(root, STATE) as place:
        atomic.write(staging, place, OLD, NEW)
    assert state_of(project) == NEW
    assert leftovers(project) == []


@both_ways
def test_a_document_is_created(tmp_path: Path, renamer: Renamer) -> None:
    a_project(tmp_path)
    with staging_area(tmp_path, renamer) as (root, staging), open_location(root, STATE) as place:
        atomic.write(staging, place, None, NEW)
    assert state_of(tmp_path) == NEW
    assert leftovers(tmp_path) == []


def test_writing_the_same_content_writes_nothing(project: Path) -> None:
    before = (project / STATE).stat()
    with staging_area(project) as (root, staging), open_location(root, STATE) as place:
        atomic.write(staging, place, OLD, OLD)
    after = (project / STATE).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664, 0o755, 0o400])
def test_the_mode_is_kept(project: Path, mode: int) -> None:
    (project / STATE).chmod(mode)
    with staging_area(project) as (root, staging), open_location(root, STATE) as place:
        atomic.write(staging, place, OLD, NEW)
    assert stat.S_IMODE((project / STATE).stat().st_mode) == mode


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_document_gets_the_mode_of_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    a_project(tmp_path)
    earlier = os.umask(umask)
    try:
        with staging_area(tmp_path) as (root, staging), open_location(root, STATE) as place:
            atomic.write(staging, place, None, NEW)
    finally:
        os.umask(earlier)
    assert stat.S_IMODE((tmp_path / STATE).stat().st_mode) == mode


def test_a_hard_link_is_refused(project: Path) -> None:
    (project / "second").hardlink_to(project / STATE)
    with (
        staging_area(project) as (root, staging),
        open_location(root, STATE) as place,
        pytest.raises(NotAFile, match="hard links"),
    ):
        atomic.write(staging, place, OLD, NEW)
    assert (project / "second").read_bytes() == OLD
    assert leftovers(project) == []


def test_a_linked_document_is_refused_and_its_target_kept(project: Path) -> None:
    (project / "outside").write_bytes(OLD)
    (project / STATE).unlink()
    (project / STATE).symlink_to(project / "outside")
    with (
        staging_area(project) as (root, staging),
        open_location(root, STATE) as place,
        pytest.raises(NotAFile, match="a symbolic link"),
    ):
        atomic.write(staging, place, OLD, NEW)
    assert (project / "outside").read_bytes() == OLD
    assert (project / STATE).is_symlink()


def test_an_error_while_staging_changes_nothing(project: Path) -> None:
    limit = 4096
    with (
        staging_area(project) as (root, staging),
        open_location(root, STATE) as place,
        limited_file_size(limit),
        pytest.raises(FairleadError, match="File too large"),
    ):
        atomic.write(staging, place, OLD, b"x" * (limit + 1))
    assert state_of(project) == OLD
    assert leftovers(project) == []


@both_ways
@either_style
def test_an_edit_before_the_exchange_is_kept(project: Path, renamer: Renamer, save: Save) -> None:
    with staging_area(project, renamer) as (root, staging), open_location(root, STATE) as place:
        staged = atomic.stage(staging, place, OLD, NEW)
        save(project / STATE, THEIRS)
        with pytest.raises(DocumentChanged):
            atomic.exchange(staging, staged, place, OLD, NEW)
    assert state_of(project) == THEIRS


@either_style
def test_an_edit_in_the_last_instant_comes_back_to_its_place(project: Path, save: Save) -> None:
    renamer = Interrupted(lambda: save(project / STATE, THEIRS))
    with staging_area(project, renamer) as (root, staging), open_location(root, STATE) as place:
        with pytest.raises(DocumentChanged):
            atomic.write(staging, place, OLD, NEW)
        assert staging.notices == []
    assert state_of(project) == THEIRS
    assert leftovers(project) == []


@either_style
def test_a_second_edit_over_our_version_keeps_the_place_and_the_first_is_rescued(
    project: Path, save: Save
) -> None:
    renamer = Interrupted(
        lambda: save(project / STATE, THEIRS), lambda: save(project / STATE, LATER)
    )
    with staging_area(project, renamer) as (root, staging), open_location(root, STATE) as place:
        with pytest.raises(DocumentChanged):
            atomic.write(staging, place, OLD, NEW)
        assert len(staging.notices) == 1
    assert state_of(project) == LATER
    assert rescued(project) == [THEIRS]
    assert leftovers(project) == []


def test_a_document_removed_in_the_last_instant_counts_as_changed(project: Path) -> None:
    renamer = Interrupted((project / STATE).unlink)
    with (
        staging_area(project, renamer) as (root, staging),
        open_location(root, STATE) as place,
        pytest.raises(DocumentChanged),
    ):
        atomic.write(staging, place, OLD, NEW)
    assert not (project / STATE).exists()
    assert leftovers(project) == []


def test_an_edit_that_cannot_be_rescued_stays_in_the_staging_folder(project: Path) -> None:
    renamer = Interrupted(lambda: by_rename(project / STATE, THEIRS), (project / STATE).unlink)
    with staging_area(project, renamer) as (root, staging), open_location(root, STATE) as place:
        (project / STAGING / RESCUED).symlink_to("elsewhere")
        with pytest.raises(NotConfirmed):
            atomic.write(staging, place, OLD, NEW)
    (left,) = leftovers(project)
    assert (project / STAGING / left).read_bytes() == THEIRS


def test_an_edit_whose_document_is_then_removed_is_rescued(project: Path) -> None:
    renamer = Interrupted(lambda: by_rename(project / STATE, THEIRS), (project / STATE).unlink)
    with (
        staging_area(project, renamer) as (root, staging),
        open_location(root, STATE) as place,
        pytest.raises(DocumentChanged),
    ):
        atomic.write(staging, place, OLD, NEW)
    assert rescued(project) == [THEIRS]


def test_a_link_put_there_in_the_last_instant_comes_back(project: Path) -> None:
    def plant() -> None:
        (project / STATE).unlink()
        (project / STATE).symlink_to("elsewhere")

    with (
        staging_area(project, Interrupted(plant)) as (root, staging),
        open_location(root, STATE) as place,
        pytest.raises(DocumentChanged),
    ):
        atomic.write(staging, place, OLD, NEW)
    assert os.readlink(project / STATE) == "elsewhere"


def test_a_document_created_in_the_last_instant_is_kept(tmp_path: Path) -> None:
    a_project(tmp_path)
    renamer = Interrupted(lambda: in_place(tmp_path / STATE, THEIRS))
    with (
        staging_area(tmp_path, renamer) as (root, staging),
        open_location(root, STATE) as place,
        pytest.raises(DocumentChanged),
    ):
        atomic.write(staging, place, None, NEW)
    assert state_of(tmp_path) == THEIRS
    assert leftovers(tmp_path) == []


def test_the_version_of_a_program_that_is_still_writing_is_put_back(project: Path) -> None:
    with (project / STATE).open("r+b") as editor:
        with (
            staging_area(project) as (root, staging),
            open_location(root, STATE) as place,
            pytest.raises(DocumentChanged),
        ):
            atomic.write(staging, place, OLD, NEW)
        editor.write(THEIRS)
    assert state_of(project) == THEIRS


def test_a_write_that_is_not_confirmed_says_so() -> None:
    pipe, other_end = os.pipe()
    os.close(other_end)
    with (
        DocumentLocation(ConfinedFolder(pipe, ".planning"), "STATE.md") as place,
        pytest.raises(NotConfirmed, match=r"STATE\.md was written, but the disk did not"),
    ):
        atomic.confirm(place)


class TestLeftovers:
    """What killed commands leave on the staging folder, and what the next one does with it."""

    def collected(self, project: Path) -> list[object]:
        with staging_area(project) as (_, staging):
            atomic.collect(staging)
            return list(staging.notices)

    def test_a_half_written_file_is_removed(self, project: Path) -> None:
        with staging_area(project) as (_, staging):
            os.close(staging.folder.create(writing_name(), 0o600))
        assert self.collected(project) == []
        assert leftovers(project) == []

    def test_a_version_that_was_never_exchanged_is_removed(self, project: Path) -> None:
        with staging_area(project) as (root, staging), open_location(root, STATE) as place:
            atomic.stage(staging, place, OLD, NEW)
        assert self.collected(project) == []
        assert leftovers(project) == []
        assert state_of(project) == OLD

    def test_an_old_version_that_was_exchanged_is_removed(self, project: Path) -> None:
        with staging_area(project) as (root, staging), open_location(root, STATE) as place:
            staged = atomic.stage(staging, place, OLD, NEW)
            atomic.exchange(staging, staged, place, OLD, NEW)
        assert self.collected(project) == []
        assert leftovers(project) == []
        assert state_of(project) == NEW

    def test_an_edit_of_somebody_else_is_rescued_and_reported(self, project: Path) -> None:
        self.exchange_and_die(project, lambda: by_rename(project / STATE, THEIRS))
        (notice,) = self.collected(project)
        assert "STATE.md" in str(notice)
        assert rescued(project) == [THEIRS]
        assert leftovers(project) == []

    def test_a_link_of_somebody_else_is_rescued_unfollowed(self, project: Path) -> None:
        self.exchange_and_die(
            project, (project / STATE).unlink, lambda: (project / STATE).symlink_to("x")
        )
        assert len(self.collected(project)) == 1
        shelf = project / STAGING / RESCUED
        assert [os.readlink(path) for path in shelf.iterdir()] == ["x"]

    @pytest.mark.parametrize("name", [b"x-", b"x-a.b.c", b"x-\xff\x1b.a.b.c", b"x-.."])
    def test_a_planted_name_is_put_aside(self, project: Path, name: bytes) -> None:
        with staging_area(project):
            pass
        (project / STAGING / os.fsdecode(name)).write_bytes(b"planted")
        assert len(self.collected(project)) == 1
        assert leftovers(project) == []

    def exchange_and_die(self, project: Path, *acts: Callable[[], object]) -> None:
        with staging_area(project) as (root, staging), open_location(root, STATE) as place:
            staged = atomic.stage(staging, place, OLD, NEW)
            for act in acts:
                act()
            staging.renamer.swap(staging.folder, staged, place.folder, place.name)
