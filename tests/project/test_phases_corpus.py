"""Phases of every real project: added, inserted, removed and renumbered, and taken back."""

import shutil
from pathlib import Path

from fairlead.core.errors import ConflictError, DocumentError, UsageError
from fairlead.project.derive.inventory import Inventory
from fairlead.project.derive.position import position_of
from fairlead.project.derive.scan import scan
from fairlead.project.phases import Phases
from fairlead.store import layout
from fairlead.store.files import Files
from tests.conftest import Sample
from tests.project.test_phases import Noon
from tests.support.corpus import corpus_projects
from tests.support.trees import documents, read_tree

REFUSALS = (ConflictError, DocumentError, UsageError)


def copies(folder: Path, sample: Sample) -> list[Path]:
    """Scratch copies of half of the projects; a test with another name tries another half."""
    made = []
    projects = corpus_projects()
    for project in sample(projects, len(projects) // 2):
        target = folder / project.name
        shutil.copytree(project / ".planning", target / ".planning")
        for path in target.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        made.append(target)
    return made


def names(inventory: Inventory) -> dict[tuple[object, str], str]:
    return {(each.id, each.milestone): each.name for each in inventory.roadmap.phases}


def test_a_new_phase_is_found_and_no_other_is_lost(tmp_path: Path, sample: Sample) -> None:
    added = 0
    for project in copies(tmp_path, sample):
        before = scan(str(project))
        try:
            change = Phases(Files(str(project)), Noon()).add("Zebra crossing")
        except REFUSALS:
            continue
        added += 1
        after = scan(str(project))
        found = [each for each in position_of(after).scope.phases if each.name == "Zebra crossing"]
        assert [each.id.short for each in found] == [change.phase], project.name
        known = names(after)
        assert {key: known.get(key) for key in names(before)} == names(before), project.name
        (roadmap,) = [each for each in change.outcome.changes if each.path == layout.ROADMAP]
        old = (roadmap.old or "").splitlines()
        new = iter(roadmap.new.splitlines())
        assert all(line in new for line in old), f"{project.name}: a line was changed or lost"
    assert added >= 5


def test_a_removed_phase_is_gone_and_undo_restores_it(tmp_path: Path, sample: Sample) -> None:
    removed = 0
    for project in copies(tmp_path, sample):
        position = position_of(scan(str(project)))
        if not position.scope.phases:
            continue
        before = documents(read_tree(project))
        first = position.scope.phases[0].id.short
        for renumber in (False, True):
            try:
                phases = Phases(Files(str(project)), Noon())
                phases.remove(first, force=True, renumber=renumber)
            except REFUSALS:
                continue
            removed += 1
            # A range of the milestone list may still name the number.
            phases_left = position_of(scan(str(project))).scope.phases
            left = [each for each in phases_left if each.listed or each.folder]
            assert len(left) == len(position.scope.phases) - 1, project.name
            Files(str(project)).undo()
            assert documents(read_tree(project)) == before, project.name
    assert removed >= 10


def test_progress_that_was_updated_stays_as_it_is(tmp_path: Path, sample: Sample) -> None:
    for project in copies(tmp_path, sample):
        phases = Phases(Files(str(project)), Noon())
        try:
            phases.update_progress()
        except REFUSALS:
            continue
        assert phases.update_progress().outcome.changes == (), project.name
