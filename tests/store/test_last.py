"""Undo: the last event is taken back exactly, once, and that can be taken back too."""

import json

import pytest

from fairlead.errors import ChangedSince, NothingToUndo
from fairlead.store import last, layout
from fairlead.store.files import Draft, Files
from fairlead.store.intent import Places
from fairlead.store.moves import Move
from tests.support.desks import PROJECT, STATE, a_desk, a_project, append, leftovers
from tests.support.trees import read_tree


def documents(folder):
    return {name: text for name, text in read_tree(folder).items() if ".fairlead" not in name}


def a_step(folder, **options):
    """Two documents changed, one made, a folder made, and a file moved, in one event."""
    draft = Draft(
        {STATE: append("s"), PROJECT: append("p"), ".planning/NEW.md": append("n")},
        Places(
            moves=(Move(".planning/OLD.md", ".planning/kept/OLD.md"),),
            folders=(".planning/phases/03-new",),
        ),
        may_create=frozenset({".planning/NEW.md"}),
    )
    return Files(str(folder)).carry_out(lambda: draft, command="a step", **options)


@pytest.fixture
def project(tmp_path):
    a_project(tmp_path, STATE="one\n", PROJECT="two\n", OLD="old\n")
    (tmp_path / ".planning/phases").mkdir()
    return tmp_path


def test_an_event_is_taken_back_to_the_last_byte(project):
    before = documents(project)
    a_step(project)

    command, _ = Files(str(project)).undo()

    assert command == "a step"
    held = documents(project)
    held.pop(".planning/kept", None)  # a folder that a move made stays, empty
    assert held == before


def test_taking_back_twice_changes_nothing(project):
    a_step(project)
    after = documents(project)
    files = Files(str(project))

    files.undo()
    files.undo()

    assert documents(project) == after


def test_only_the_last_event_is_taken_back(project):
    files = Files(str(project))
    files.update(STATE, append("first"), command="one")
    files.update(STATE, append("second"), command="two")

    files.undo()

    assert (project / STATE).read_text() == "one\nfirst\n"


def test_an_update_that_changes_nothing_is_no_event(project):
    files = Files(str(project))
    files.update(STATE, append("first"), command="one")
    files.update(STATE, lambda text: text, command="two")

    assert files.undo()[0] == "one"


@pytest.mark.parametrize("path", [STATE, PROJECT, ".planning/NEW.md"])
def test_a_document_that_was_changed_since_is_named_and_nothing_is_taken_back(project, path):
    a_step(project)
    (project / path).write_text("somebody's\n")
    before = documents(project)

    with pytest.raises(ChangedSince) as refused:
        Files(str(project)).undo()

    assert path in str(refused.value)
    assert refused.value.exit_code == 4
    assert documents(project) == before


def test_a_folder_that_was_filled_since_is_not_taken_away(project):
    a_step(project)
    (project / ".planning/phases/03-new/notes.md").write_text("mine\n")

    with pytest.raises(ChangedSince):
        Files(str(project)).undo()


def test_without_an_event_there_is_nothing_to_take_back(project):
    with pytest.raises(NothingToUndo):
        Files(str(project)).undo()


def test_a_dry_run_takes_nothing_back(project):
    a_step(project)
    before = read_tree(project)

    command, outcome = Files(str(project)).undo(dry_run=True)

    assert command == "a step"
    assert set(outcome.paths) == {STATE, PROJECT}
    assert read_tree(project) == before


@pytest.mark.parametrize("content", ["", "{", '{"version": 9}', '{"version": 1}'])
def test_a_record_that_cannot_be_read_is_no_event(project, content):
    a_step(project)
    (project / layout.DESK / layout.LAST).write_text(content)

    with pytest.raises(NothingToUndo):
        Files(str(project)).undo()


def test_a_record_from_elsewhere_reaches_no_file_outside(project):
    a_step(project)
    path = project / layout.DESK / layout.LAST
    record = json.loads(path.read_text())
    record["documents"][0]["path"] = "../outside.md"
    path.write_text(json.dumps(record))

    with pytest.raises(NothingToUndo):
        Files(str(project)).undo()


def test_the_record_of_a_killed_command_counts_only_if_its_event_happened(project):
    files = Files(str(project))
    files.update(STATE, append("first"), command="one")
    desk = project / layout.DESK
    record = json.loads((desk / layout.LAST).read_text())
    record["command"] = "killed"
    happened = json.dumps(record)
    record["documents"][0]["new_sha256"] = "0" * 64
    for content, expected in ((happened, "killed"), (json.dumps(record), "killed")):
        (desk / layout.KEEPING).write_text(content)
        with a_desk(project) as (root, opened):
            last.recover(root, opened)
            assert last.load(opened).command == expected

    assert leftovers(project) == []
