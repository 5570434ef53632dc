"""Folders and files that move in a step arrive completely, whenever the step is interrupted."""

import json
import os
from pathlib import Path

import pytest

from fairlead.store import intent, moves
from fairlead.store.atomic import Completed, DocumentChanged, NotMoved
from fairlead.store.errors import FileExists, NotAFile
from fairlead.store.files import ChangeSet, Files
from fairlead.store.intent import CommittedStep, ContentChange, TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import INTENT, STAGING
from tests.support.staging import (
    STATE,
    a_project,
    a_renamer_that_cannot,
    leftovers,
    names,
    rescued,
    staging_area,
    state_of,
)

PHASES = ".planning/phases"
ARCHIVE = ".planning/milestones/v1.0-phases"
VERSIONS = (ContentChange(STATE, b"state\n", b"new state\n"),)
MOVES = (
    Move(f"{PHASES}/01-a", f"{ARCHIVE}/01-a"),
    Move(f"{PHASES}/02-b", f"{ARCHIVE}/02-b"),
)
FOLDERS = (".planning/phases/03-c",)
PLACES = TreeChanges(MOVES, FOLDERS)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two phase folders, each with a plan."""
    a_project(tmp_path, STATE="state\n")
    for name in ("01-a", "02-b"):
        folder = tmp_path / PHASES / name
        folder.mkdir(parents=True)
        (folder / "PLAN.md").write_text(name)
    return tmp_path


def committed(project: Path, places: TreeChanges = PLACES) -> CommittedStep:
    with staging_area(project) as (root, staging):
        return intent.commit(root, staging, "step", VERSIONS, places)


def recovered(project: Path) -> list[object]:
    with staging_area(project) as (root, staging):
        intent.recover(root, staging)
        return list(staging.notices)


def archived(project: Path) -> list[str]:
    return [path.read_text() for path in sorted((project / ARCHIVE).glob("*/PLAN.md"))]


def test_before_the_record_nothing_has_moved(project: Path) -> None:
    committed(project)
    assert names(project / PHASES) == ["01-a", "02-b"]
    assert not (project / ARCHIVE).exists()


def test_the_record_names_moves_and_folders_and_a_version_that_older_programs_refuse(
    project: Path,
) -> None:
    committed(project)
    record = json.loads((project / STAGING / INTENT).read_text())
    assert record["version"] == 2
    assert record["places"]["moves"][0] == {"source": MOVES[0].source, "target": MOVES[0].target}
    assert record["places"]["folders"] == list(FOLDERS)


def test_a_completed_step_has_moved_written_and_made_everything(project: Path) -> None:
    step = committed(project)
    with staging_area(project) as (root, staging):
        assert intent.complete(root, staging, step) == ()
        intent.close(staging)
    assert archived(project) == ["01-a", "02-b"]
    assert names(project / PHASES) == ["03-c"]
    assert state_of(project) == b"new state\n"
    assert leftovers(project) == []


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_step_interrupted_between_two_moves_is_completed(project: Path, done: int) -> None:
    committed(project)
    with staging_area(project) as (root, staging):
        moves.make_all(root, staging, MOVES[:done])
    notices = recovered(project)
    assert archived(project) == ["01-a", "02-b"]
    assert names(project / PHASES) == ["03-c"]
    assert state_of(project) == b"new state\n"
    assert isinstance(notices[0], Completed)
    assert leftovers(project) == []


def test_a_completed_step_whose_record_stayed_moves_nothing_again(project: Path) -> None:
    step = committed(project)
    with staging_area(project) as (root, staging):
        intent.complete(root, staging, step)
    (project / PHASES / "01-a").mkdir()
    assert recovered(project) == []
    assert names(project / PHASES) == ["01-a", "03-c"]


CHAIN = (
    Move(f"{PHASES}/02-b", f"{PHASES}/01-b"),
    Move(f"{PHASES}/03-b", f"{PHASES}/02-b"),
    Move(f"{PHASES}/02-b/03-01-PLAN.md", f"{PHASES}/02-b/02-01-PLAN.md"),
)


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_a_move_may_take_the_name_that_an_earlier_move_left(tmp_path: Path, done: int) -> None:
    project = a_project(tmp_path, STATE="state\n")
    for number in ("02", "03"):
        (project / PHASES / f"{number}-b").mkdir(parents=True)
        (project / PHASES / f"{number}-b" / f"{number}-01-PLAN.md").write_text(number)
    committed(project, TreeChanges(CHAIN))
    with staging_area(project) as (root, staging):
        moves.make_all(root, staging, CHAIN[:done])
    recovered(project)
    found = {
        path.relative_to(project / PHASES).as_posix(): path.read_text()
        for path in (project / PHASES).glob("*/*")
    }
    assert found == {"01-b/02-01-PLAN.md": "02", "02-b/02-01-PLAN.md": "03"}


BACK = (
    Move(f"{PHASES}/02-b/02-01-PLAN.md", f"{PHASES}/02-b/03-01-PLAN.md"),
    Move(f"{PHASES}/02-b", f"{PHASES}/03-b"),
    Move(f"{PHASES}/01-b", f"{PHASES}/02-b"),
)


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_a_chain_of_moves_is_completed_after_any_number_of_them(tmp_path: Path, done: int) -> None:
    project = a_project(tmp_path, STATE="state\n")
    for number in ("01", "02"):
        (project / PHASES / f"{number}-b").mkdir(parents=True)
        (project / PHASES / f"{number}-b" / "02-01-PLAN.md").write_text(number)
    committed(project, TreeChanges(BACK))
    for move in BACK[:done]:
        (project / move.source).rename(project / move.target)
    notices = recovered(project)
    assert not [each for each in notices if isinstance(each, NotMoved)]
    found = {
        path.relative_to(project / PHASES).as_posix(): path.read_text()
        for path in (project / PHASES).glob("*/*")
    }
    assert found == {"02-b/02-01-PLAN.md": "01", "03-b/03-01-PLAN.md": "02"}


def test_a_source_that_disappeared_gives_a_notice(project: Path) -> None:
    committed(project)
    (project / PHASES / "01-a").rename(project / "mine")
    assert NotMoved(MOVES[0].source, MOVES[0].target) in recovered(project)
    assert (project / ARCHIVE / "02-b" / "PLAN.md").exists()


def test_an_existing_target_is_refused_before_anything_happens(project: Path) -> None:
    (project / ARCHIVE / "02-b").mkdir(parents=True)
    with pytest.raises(FileExists):
        committed(project)
    assert names(project / PHASES) == ["01-a", "02-b"]
    assert leftovers(project) == []


def test_a_target_that_another_program_creates_is_never_replaced(project: Path) -> None:
    committed(project)
    taken = project / ARCHIVE / "01-a"
    taken.mkdir(parents=True)
    (taken / "theirs").write_text("theirs")
    recovered(project)
    assert (taken / "theirs").read_text() == "theirs"
    assert (project / PHASES / "01-a" / "PLAN.md").read_text() == "01-a"
    assert (project / ARCHIVE / "02-b" / "PLAN.md").exists()


def test_a_missing_source_before_the_record_makes_the_writer_decide_again(project: Path) -> None:
    (project / PHASES / "01-a" / "PLAN.md").unlink()
    (project / PHASES / "01-a").rmdir()
    with pytest.raises(DocumentChanged):
        committed(project)


def test_a_link_is_never_moved(project: Path) -> None:
    (project / PHASES / "09-link").symlink_to(project / PHASES / "01-a")
    with pytest.raises(NotAFile):
        committed(project, TreeChanges((Move(f"{PHASES}/09-link", f"{ARCHIVE}/09-link"),)))


def test_a_system_without_exclusive_renames_moves_folders_too(project: Path) -> None:
    with staging_area(project, a_renamer_that_cannot()) as (root, staging):
        step = intent.commit(root, staging, "step", VERSIONS, PLACES)
        intent.complete(root, staging, step)
    assert archived(project) == ["01-a", "02-b"]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("src", ".planning/phases/src"),
        (".planning/phases/01-a", "elsewhere"),
        (".planning/phases/01-a", ".planning/../../outside"),
        (".planning/.fairlead/lock", ".planning/lock"),
        (".planning/phases/01-a", ".planning/.fairlead/intent.json"),
        (".planning", ".planning/x"),
    ],
)
def test_a_record_from_a_clone_moves_nothing_outside(
    project: Path, source: str, target: str
) -> None:
    (project / "src").mkdir()
    committed(project)
    record = project / STAGING / INTENT
    content = json.loads(record.read_text())
    content["places"]["moves"] = [{"source": source, "target": target}]
    record.write_text(json.dumps(content))
    recovered(project)
    assert (project / "src").is_dir()
    assert names(project / PHASES) == ["01-a", "02-b"]
    assert len(rescued(project)) >= 1


def test_a_change_set_is_decided_again_when_a_document_changes(project: Path) -> None:
    seen: list[bytes] = []

    def decide() -> ChangeSet:
        seen.append(state_of(project))
        if len(seen) == 1:
            (project / STATE).write_text("theirs\n")
        folder = f"{PHASES}/{len(seen):02d}-made"
        return ChangeSet({STATE: lambda text: text + "ours\n"}, TreeChanges(folders=(folder,)))

    outcome = Files(str(project)).carry_out(decide, command="step")
    assert state_of(project) == b"theirs\nours\n"
    assert outcome.places.folders == (f"{PHASES}/{len(seen):02d}-made",)


def test_a_dry_run_moves_and_creates_nothing(project: Path) -> None:
    before = sorted(str(path) for path in project.rglob("*"))
    outcome = Files(str(project)).carry_out(
        lambda: ChangeSet({STATE: lambda text: text + "x"}, PLACES), command="step", dry_run=True
    )
    assert outcome.places == PLACES
    assert sorted(str(path) for path in project.rglob("*")) == before


def test_a_moved_folder_keeps_its_times_and_permissions(project: Path) -> None:
    plan = project / PHASES / "01-a" / "PLAN.md"
    plan.chmod(0o640)
    os.utime(plan, (1_700_000_000, 1_700_000_000))
    Files(str(project)).carry_out(lambda: ChangeSet({}, TreeChanges(MOVES)), command="step")
    found = (project / ARCHIVE / "01-a" / "PLAN.md").stat()
    assert (found.st_mode & 0o777, int(found.st_mtime)) == (0o640, 1_700_000_000)
