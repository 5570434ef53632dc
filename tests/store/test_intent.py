"""A step of several files is completed by whoever comes next, however often it is interrupted."""

import json
from pathlib import Path

import pytest

from fairlead.core.errors import FairleadError
from fairlead.store import atomic, intent
from fairlead.store.atomic import Completed, DocumentChanged
from fairlead.store.errors import NewerRecord
from fairlead.store.intent import CommittedStep, ContentChange
from fairlead.store.staging import INTENT, STAGING
from tests.support.staging import (
    PROJECT,
    STATE,
    Interrupted,
    a_project,
    leftovers,
    limited_file_size,
    rescued,
    staging_area,
    state_of,
)

FRESH = ".planning/phases/01-a/01-01-PLAN.md"
THEIRS = b"theirs\n"

VERSIONS = (
    ContentChange(STATE, b"state\n", b"new state\n"),
    ContentChange(PROJECT, b"project\n", b"new project\n"),
    ContentChange(FRESH, None, b"new plan\n"),
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in which the step has not begun."""
    return a_project(tmp_path, STATE="state\n", PROJECT="project\n")


def committed(project: Path) -> CommittedStep:
    with staging_area(project) as (root, staging):
        return intent.commit(root, staging, "step", VERSIONS)


def recovered(project: Path) -> list[object]:
    with staging_area(project) as (root, staging):
        intent.recover(root, staging)
        return list(staging.notices)


def contents(project: Path) -> list[bytes | None]:
    files = [project / version.path for version in VERSIONS]
    return [file.read_bytes() if file.exists() else None for file in files]


OLD = [version.old for version in VERSIONS]
NEW = [version.new for version in VERSIONS]


def test_before_the_record_nothing_has_changed(project: Path) -> None:
    committed(project)
    assert contents(project) == OLD


def test_the_record_names_every_file_with_its_versions(project: Path) -> None:
    committed(project)
    record = json.loads((project / STAGING / INTENT).read_text())
    assert (record["version"], record["command"]) == (1, "step")
    assert [entry["path"] for entry in record["entries"]] == [STATE, PROJECT, FRESH]
    assert record["entries"][2]["old_sha256"] is None


def test_a_completed_step_leaves_nothing_behind(project: Path) -> None:
    with staging_area(project) as (root, staging):
        step = intent.commit(root, staging, "step", VERSIONS)
        assert intent.complete(root, staging, step) == ()
        intent.close(staging)
    assert contents(project) == NEW
    assert leftovers(project) == []


@pytest.mark.parametrize("published", [0, 1, 2, 3])
def test_a_step_interrupted_after_any_file_is_completed(project: Path, published: int) -> None:
    step = committed(project)
    with staging_area(project) as (root, staging):
        intent.complete(root, staging, CommittedStep(step.command, step.entries[:published]))
    recovered(project)
    assert contents(project) == NEW
    assert leftovers(project) == []


def test_completing_says_so(project: Path) -> None:
    committed(project)
    assert recovered(project) == [Completed("step", tuple(sorted((STATE, PROJECT, FRESH))))]


def test_a_completed_step_whose_record_stayed_gives_no_notice(project: Path) -> None:
    step = committed(project)
    with staging_area(project) as (root, staging):
        intent.complete(root, staging, step)
    assert recovered(project) == []
    assert leftovers(project) == []


def test_an_exchange_whose_old_version_was_not_cleared_is_complete(project: Path) -> None:
    step = committed(project)
    with staging_area(project) as (root, staging), atomic.open_location(root, STATE) as place:
        atomic.exchange(staging, step.entries[0].stage, place, b"state\n", b"new state\n")
    recovered(project)
    assert contents(project) == NEW
    assert rescued(project) == []


class Killed(BaseException):
    """Ends a recovery as a kill would: nothing of ours catches it."""


def die() -> None:
    raise Killed


@pytest.mark.parametrize("published", [0, 1, 2])
def test_a_recovery_that_is_itself_interrupted_is_completed(project: Path, published: int) -> None:
    committed(project)
    acts = [lambda: None] * published + [die]
    with staging_area(project, Interrupted(*acts)) as (root, staging), pytest.raises(Killed):
        intent.recover(root, staging)
    recovered(project)
    assert contents(project) == NEW
    assert leftovers(project) == []


def test_a_file_changed_before_the_commit_point_stops_the_step(project: Path) -> None:
    (project / STATE).write_bytes(THEIRS)
    with pytest.raises(DocumentChanged):
        committed(project)
    assert contents(project) == [THEIRS, *OLD[1:]]
    assert leftovers(project) == []


def test_a_file_changed_after_the_commit_point_is_kept_and_ours_is_rescued(project: Path) -> None:
    committed(project)
    (project / STATE).write_bytes(THEIRS)
    notices = recovered(project)
    assert contents(project) == [THEIRS, *NEW[1:]]
    assert rescued(project) == [b"new state\n"]
    assert len(notices) == 2


def test_a_file_created_after_the_commit_point_is_kept(project: Path) -> None:
    committed(project)
    (project / FRESH).write_bytes(THEIRS)
    recovered(project)
    assert contents(project) == [*NEW[:2], THEIRS]
    assert rescued(project) == [b"new plan\n"]


def test_a_link_planted_after_the_commit_point_is_not_written_through(project: Path) -> None:
    committed(project)
    outside = project / "outside"
    outside.write_bytes(b"state\n")
    (project / STATE).unlink()
    (project / STATE).symlink_to(outside)
    recovered(project)
    assert outside.read_bytes() == b"state\n"
    assert rescued(project) == [b"new state\n"]


def test_a_folder_swapped_for_a_link_after_the_commit_point_is_not_entered(project: Path) -> None:
    committed(project)
    (project / "outside").mkdir()
    (project / FRESH).parent.rmdir()
    (project / FRESH).parent.symlink_to(project / "outside", target_is_directory=True)
    recovered(project)
    assert list((project / "outside").iterdir()) == []
    assert rescued(project) == [b"new plan\n"]
    assert leftovers(project) == []


def test_an_edit_after_publishing_is_not_undone(project: Path) -> None:
    step = committed(project)
    with staging_area(project) as (root, staging):
        intent.complete(root, staging, step)
    (project / STATE).write_bytes(b"state\n")  # somebody takes it back
    recovered(project)
    assert state_of(project) == b"state\n"


def test_a_folder_removed_after_publishing_does_not_come_back(project: Path) -> None:
    step = committed(project)
    with staging_area(project) as (root, staging):
        intent.complete(root, staging, step)
    (project / FRESH).unlink()
    (project / FRESH).parent.rmdir()
    recovered(project)
    assert not (project / FRESH).parent.exists()


def test_an_error_before_the_commit_point_changes_nothing(project: Path) -> None:
    big = ContentChange(PROJECT, b"project\n", b"x" * 10_000)
    with (
        staging_area(project) as (root, staging),
        limited_file_size(5_000),
        pytest.raises(FairleadError),
    ):
        intent.commit(root, staging, "step", (VERSIONS[0], big))
    assert contents(project) == OLD
    assert leftovers(project) == []


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"{",
        b"\xff",
        b"null",
        b"[]",
        b"7",
        b'{"version": 0, "command": "", "entries": []}',
        b'{"version": "2", "command": "", "entries": []}',
        b'{"version": 1, "command": "", "entries": [{}]}',
        b'{"version": 1, "command": "", "entries": [null]}',
        b'{"version": 1, "command": ""}',
        b"[" * 100_000,
    ],
)
def test_an_invalid_record_is_rescued(project: Path, record: bytes) -> None:
    with staging_area(project):
        (project / STAGING / INTENT).write_bytes(record)
    assert len(recovered(project)) == 1
    assert contents(project) == OLD
    assert rescued(project) == [record]
    assert leftovers(project) == []


def test_a_record_of_a_newer_release_is_refused_and_kept(project: Path) -> None:
    committed(project)
    record = project / STAGING / INTENT
    record.write_text(
        record.read_text().replace('"version": 1', f'"version": {intent.VERSION + 1}')
    )
    before = leftovers(project)
    with pytest.raises(NewerRecord):
        recovered(project)
    assert leftovers(project) == before
    assert contents(project) == OLD


@pytest.mark.parametrize(
    "path",
    [".git/hooks/post-checkout", "../outside", "/etc/x", ".planning/.fairlead/lock", "README.md"],
)
def test_a_planted_record_reaches_nothing_but_documents(project: Path, path: str) -> None:
    (project / ".git" / "hooks").mkdir(parents=True)
    committed(project)
    record = project / STAGING / INTENT
    record.write_text(record.read_text().replace(FRESH, path))
    recovered(project)
    assert contents(project) == OLD
    assert not (project / path).exists()


@pytest.mark.parametrize("stage", ["../STATE.md", "lock", "x-/../../STATE.md", "x-..\\\\a"])
def test_a_planted_record_takes_versions_only_from_the_staging_folder(
    project: Path, stage: str
) -> None:
    step = committed(project)
    record = project / STAGING / INTENT
    record.write_text(record.read_text().replace(step.entries[0].stage, stage))
    recovered(project)
    assert contents(project) == OLD
