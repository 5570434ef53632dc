"""Folders and files that move in a step arrive completely, whenever the step is interrupted."""

import json
import os
from pathlib import Path

import pytest

from fairlead.errors import FileExists, NotAFile
from fairlead.store import intent, layout, moves
from fairlead.store.atomic import Changed
from fairlead.store.files import Draft, Files
from fairlead.store.intent import Places, Step, Version
from fairlead.store.moves import Move
from fairlead.store.notice import Completed, NotMoved
from tests.support.desks import (
    STATE,
    a_desk,
    a_project,
    a_renamer_that_cannot,
    leftovers,
    names,
    rescued,
    state_of,
)

PHASES = ".planning/phases"
ARCHIVE = ".planning/milestones/v1.0-phases"
VERSIONS = (Version(STATE, b"state\n", b"new state\n"),)
MOVES = (
    Move(f"{PHASES}/01-a", f"{ARCHIVE}/01-a"),
    Move(f"{PHASES}/02-b", f"{ARCHIVE}/02-b"),
)
FOLDERS = (".planning/phases/03-c",)
PLACES = Places(MOVES, FOLDERS)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two phase folders, each with a plan."""
    a_project(tmp_path, STATE="state\n")
    for name in ("01-a", "02-b"):
        folder = tmp_path / PHASES / name
        folder.mkdir(parents=True)
        (folder / "PLAN.md").write_text(name)
    return tmp_path


def committed(project: Path, places: Places = PLACES) -> Step:
    with a_desk(project) as (root, desk):
        return intent.commit(root, desk, "step", VERSIONS, places)


def recovered(project: Path) -> list[object]:
    with a_desk(project) as (root, desk):
        intent.recover(root, desk)
        return list(desk.notices)


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
    record = json.loads((project / layout.DESK / layout.INTENT).read_text())
    assert record["version"] == 2
    assert record["places"]["moves"][0] == {"source": MOVES[0].source, "target": MOVES[0].target}
    assert record["places"]["folders"] == list(FOLDERS)


def test_a_completed_step_has_moved_written_and_made_everything(project: Path) -> None:
    step = committed(project)
    with a_desk(project) as (root, desk):
        assert intent.complete(root, desk, step) == ()
        intent.close(desk)
    assert archived(project) == ["01-a", "02-b"]
    assert names(project / PHASES) == ["03-c"]
    assert state_of(project) == b"new state\n"
    assert leftovers(project) == []


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_step_interrupted_between_two_moves_is_completed(project: Path, done: int) -> None:
    committed(project)
    with a_desk(project) as (root, desk):
        moves.make_all(root, desk, MOVES[:done])
    told = recovered(project)
    assert archived(project) == ["01-a", "02-b"]
    assert names(project / PHASES) == ["03-c"]
    assert state_of(project) == b"new state\n"
    assert isinstance(told[0], Completed)
    assert leftovers(project) == []


def test_a_completed_step_whose_record_stayed_moves_nothing_again(project: Path) -> None:
    step = committed(project)
    with a_desk(project) as (root, desk):
        intent.complete(root, desk, step)
    (project / PHASES / "01-a").mkdir()
    assert recovered(project) == []
    assert names(project / PHASES) == ["01-a", "03-c"]


CHAIN = (
    Move(f"{PHASES}/02-b", f"{PHASES}/01-b"),
    Move(f"{PHASES}/03-b", f"{PHASES}/02-b"),
    Move(f"{PHASES}/02-b/03-01-PLAN.md", f"{PHASES}/02-b/02-01-PLAN.md"),
)


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_a_place_that_one_move_leaves_may_be_taken_by_the_next(tmp_path: Path, done: int) -> None:
    project = a_project(tmp_path, STATE="state\n")
    for number in ("02", "03"):
        (project / PHASES / f"{number}-b").mkdir(parents=True)
        (project / PHASES / f"{number}-b" / f"{number}-01-PLAN.md").write_text(number)
    committed(project, Places(CHAIN))
    with a_desk(project) as (root, desk):
        moves.make_all(root, desk, CHAIN[:done])
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
def test_the_way_back_is_found_from_everywhere(tmp_path: Path, done: int) -> None:
    project = a_project(tmp_path, STATE="state\n")
    for number in ("01", "02"):
        (project / PHASES / f"{number}-b").mkdir(parents=True)
        (project / PHASES / f"{number}-b" / "02-01-PLAN.md").write_text(number)
    committed(project, Places(BACK))
    for move in BACK[:done]:
        (project / move.source).rename(project / move.target)
    told = recovered(project)
    assert not [each for each in told if isinstance(each, NotMoved)]
    found = {
        path.relative_to(project / PHASES).as_posix(): path.read_text()
        for path in (project / PHASES).glob("*/*")
    }
    assert found == {"02-b/02-01-PLAN.md": "01", "03-b/03-01-PLAN.md": "02"}


def test_a_source_that_somebody_took_away_is_told(project: Path) -> None:
    committed(project)
    (project / PHASES / "01-a").rename(project / "mine")
    assert NotMoved(MOVES[0].source, MOVES[0].target) in recovered(project)
    assert (project / ARCHIVE / "02-b" / "PLAN.md").exists()


def test_a_target_that_is_there_is_refused_before_anything_happens(project: Path) -> None:
    (project / ARCHIVE / "02-b").mkdir(parents=True)
    with pytest.raises(FileExists):
        committed(project)
    assert names(project / PHASES) == ["01-a", "02-b"]
    assert leftovers(project) == []


def test_a_target_that_somebody_makes_afterwards_is_never_replaced(project: Path) -> None:
    committed(project)
    taken = project / ARCHIVE / "01-a"
    taken.mkdir(parents=True)
    (taken / "theirs").write_text("theirs")
    recovered(project)
    assert (taken / "theirs").read_text() == "theirs"
    assert (project / PHASES / "01-a" / "PLAN.md").read_text() == "01-a"
    assert (project / ARCHIVE / "02-b" / "PLAN.md").exists()


def test_a_source_that_is_gone_before_the_record_is_decided_anew(project: Path) -> None:
    (project / PHASES / "01-a" / "PLAN.md").unlink()
    (project / PHASES / "01-a").rmdir()
    with pytest.raises(Changed):
        committed(project)


def test_a_link_is_never_moved(project: Path) -> None:
    (project / PHASES / "09-link").symlink_to(project / PHASES / "01-a")
    with pytest.raises(NotAFile):
        committed(project, Places((Move(f"{PHASES}/09-link", f"{ARCHIVE}/09-link"),)))


def test_a_system_without_exclusive_renames_moves_folders_too(project: Path) -> None:
    with a_desk(project, a_renamer_that_cannot()) as (root, desk):
        step = intent.commit(root, desk, "step", VERSIONS, PLACES)
        intent.complete(root, desk, step)
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
def test_a_record_that_came_with_a_clone_moves_nothing_outside(
    project: Path, source: str, target: str
) -> None:
    (project / "src").mkdir()
    committed(project)
    record = project / layout.DESK / layout.INTENT
    content = json.loads(record.read_text())
    content["places"]["moves"] = [{"source": source, "target": target}]
    record.write_text(json.dumps(content))
    recovered(project)
    assert (project / "src").is_dir()
    assert names(project / PHASES) == ["01-a", "02-b"]
    assert len(rescued(project)) >= 1


def test_what_is_decided_is_decided_again_when_a_document_changes(project: Path) -> None:
    seen: list[bytes] = []

    def decide() -> Draft:
        seen.append(state_of(project))
        if len(seen) == 1:
            (project / STATE).write_text("theirs\n")
        folder = f"{PHASES}/{len(seen):02d}-made"
        return Draft({STATE: lambda text: text + "ours\n"}, Places(folders=(folder,)))

    outcome = Files(str(project)).carry_out(decide, command="step")
    assert state_of(project) == b"theirs\nours\n"
    assert outcome.places.folders == (f"{PHASES}/{len(seen):02d}-made",)


def test_a_dry_run_moves_and_makes_nothing(project: Path) -> None:
    before = sorted(str(path) for path in project.rglob("*"))
    outcome = Files(str(project)).carry_out(
        lambda: Draft({STATE: lambda text: text + "x"}, PLACES), command="step", dry_run=True
    )
    assert outcome.places == PLACES
    assert sorted(str(path) for path in project.rglob("*")) == before


def test_the_moved_folder_keeps_its_times_and_rights(project: Path) -> None:
    plan = project / PHASES / "01-a" / "PLAN.md"
    plan.chmod(0o640)
    os.utime(plan, (1_700_000_000, 1_700_000_000))
    Files(str(project)).carry_out(lambda: Draft({}, Places(MOVES)), command="step")
    found = (project / ARCHIVE / "01-a" / "PLAN.md").stat()
    assert (found.st_mode & 0o777, int(found.st_mtime)) == (0o640, 1_700_000_000)
