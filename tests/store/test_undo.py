"""Undo: the last event is taken back exactly, once, and that can be taken back too."""

import json

import pytest

from fairlead.store import undo as last
from fairlead.store.errors import ChangedSince, NothingToUndo, OverlapsLater
from fairlead.store.files import ChangeSet, Files
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import KEEPING, LAST, STAGING
from tests.support.staging import PROJECT, STATE, a_project, append, leftovers, staging_area
from tests.support.trees import read_tree


def documents(folder):
    return {name: text for name, text in read_tree(folder).items() if ".fairlead" not in name}


def a_step(folder, **options):
    """Two documents changed, one made, a folder made, and a file moved, in one event."""
    draft = ChangeSet(
        {STATE: append("s"), PROJECT: append("p"), ".planning/NEW.md": append("n")},
        TreeChanges(
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


def test_undo_restores_every_byte(project):
    before = documents(project)
    a_step(project)

    command, _ = Files(str(project)).undo()

    assert command == "a step"
    present = documents(project)
    present.pop(".planning/kept", None)  # a folder that a move made stays, empty
    assert present == before


def test_undoing_twice_changes_nothing(project):
    a_step(project)
    after = documents(project)
    files = Files(str(project))

    files.undo()
    files.undo()

    assert documents(project) == after


def test_only_the_last_command_is_undone(project):
    files = Files(str(project))
    files.update(STATE, append("first"), command="one")
    files.update(STATE, append("second"), command="two")

    files.undo()

    assert (project / STATE).read_text() == "one\nfirst\n"


def test_an_update_that_changes_nothing_is_not_recorded(project):
    files = Files(str(project))
    files.update(STATE, append("first"), command="one")
    files.update(STATE, lambda text: text, command="two")

    assert files.undo()[0] == "one"


@pytest.mark.parametrize("path", [STATE, PROJECT, ".planning/NEW.md"])
def test_undo_refuses_and_names_a_document_that_was_changed_since(project, path):
    a_step(project)
    (project / path).write_text("somebody's\n")
    before = documents(project)

    with pytest.raises(ChangedSince) as refused:
        Files(str(project)).undo()

    assert path in str(refused.value)
    assert refused.value.exit_code == 4
    assert documents(project) == before


def test_undo_refuses_to_remove_a_folder_that_was_filled_since(project):
    a_step(project)
    (project / ".planning/phases/03-new/notes.md").write_text("mine\n")

    with pytest.raises(ChangedSince):
        Files(str(project)).undo()


def test_without_a_record_there_is_nothing_to_undo(project):
    with pytest.raises(NothingToUndo):
        Files(str(project)).undo()


def test_a_dry_run_undoes_nothing(project):
    a_step(project)
    before = read_tree(project)

    command, outcome = Files(str(project)).undo(dry_run=True)

    assert command == "a step"
    assert set(outcome.paths) == {STATE, PROJECT}
    assert read_tree(project) == before


@pytest.mark.parametrize("content", ["", "{", '{"version": 9}', '{"version": 1}'])
def test_an_unreadable_record_cannot_be_undone(project, content):
    a_step(project)
    (project / STAGING / LAST).write_text(content)

    with pytest.raises(NothingToUndo):
        Files(str(project)).undo()


def test_a_planted_record_reaches_no_file_outside(project):
    a_step(project)
    path = project / STAGING / LAST
    record = json.loads(path.read_text())
    record["documents"][0]["path"] = "../outside.md"
    path.write_text(json.dumps(record))

    with pytest.raises(NothingToUndo):
        Files(str(project)).undo()


def test_the_record_of_a_killed_command_counts_only_if_its_changes_happened(project):
    files = Files(str(project))
    files.update(STATE, append("first"), command="one")
    staging = project / STAGING
    record = json.loads((staging / LAST).read_text())
    record["command"] = "killed"
    happened = json.dumps(record)
    record["documents"][0]["new_sha256"] = "0" * 64
    for content, expected in ((happened, "killed"), (json.dumps(record), "killed")):
        (staging / KEEPING).write_text(content)
        with staging_area(project) as (root, opened):
            last.recover(root, opened)
            assert last.load(opened).command == expected

    assert leftovers(project) == []


def wrote(project, command, *paths):
    """One command that appends a line to documents."""
    edits = {path: append(command) for path in paths}
    Files(str(project)).update_all(edits, command=command)


def test_an_older_command_is_undone_by_its_number_or_its_name(project):
    wrote(project, "state one", STATE)
    wrote(project, "roadmap two", PROJECT)
    files = Files(str(project))
    assert [(entry.number, entry.command) for entry in files.undo_history()] == [
        (1, "state one"),
        (2, "roadmap two"),
    ]
    assert files.undo("1", dry_run=True)[0] == "state one"
    assert files.undo("state")[0] == "state one"
    texts = documents(project)
    assert (texts[STATE], "roadmap two" in str(texts[PROJECT])) == (b"one\n", True)
    assert [entry.command for entry in files.undo_history()][-1] == "undo"
    assert files.undo("roadmap two")[0] == "roadmap two"
    for which in ("9", "nothing"):
        with pytest.raises(NothingToUndo):
            files.undo(which)


def test_an_older_command_is_kept_if_a_later_one_changed_the_same_file(project):
    wrote(project, "first", STATE, PROJECT)
    wrote(project, "second", PROJECT)
    before = documents(project)
    with pytest.raises(OverlapsLater) as refused:
        Files(str(project)).undo("1")
    assert (refused.value.later, refused.value.path) == (2, PROJECT)
    assert refused.value.hint == "undo that one first: fairlead undo 2"
    assert documents(project) == before


def test_commands_on_the_same_file_are_undone_one_after_the_other(project):
    for command in ("first", "second", "third"):
        wrote(project, command, STATE, PROJECT)
    files = Files(str(project))
    for which, in_the_way in (("1", 3), ("3", 0), ("1", 2), ("2", 0), ("1", 0)):
        if not in_the_way:
            files.undo(which)
            continue
        with pytest.raises(OverlapsLater) as refused:
            files.undo(which)
        assert refused.value.later == in_the_way, "undoing this one works"


def test_the_command_that_is_named_works_where_a_third_one_is_in_its_way(project):
    wrote(project, "first", STATE)
    wrote(project, "second", STATE, PROJECT)
    wrote(project, "third", PROJECT)
    files = Files(str(project))
    with pytest.raises(OverlapsLater) as refused:
        files.undo("1")
    for number in (refused.value.later, 2, 1):
        files.undo(str(number))


def test_what_a_hook_wrote_is_undone_only_by_its_number(project):
    wrote(project, "state one", STATE)
    wrote(project, "hook session-end", PROJECT)
    files = Files(str(project))
    assert [entry.origin for entry in files.undo_history()] == ["command", "hook"]
    assert files.undo(dry_run=True)[0] == "state one"
    with pytest.raises(NothingToUndo):
        files.undo("hook")
    assert files.undo("2")[0] == "hook session-end"
    assert files.undo()[0] == "undo", "which restores it"

    wrote(project, "state two", STATE)
    wrote(project, "hook session-end", STATE)
    with pytest.raises(OverlapsLater):
        files.undo()


def test_the_history_has_a_limit_and_numbers_stay(project):
    for number in range(1, last.KEPT + 6):
        wrote(project, f"state {number}", STATE)
    history = Files(str(project)).undo_history()
    assert len(history) == last.KEPT
    assert [entry.command for entry in history] == [f"state {each.number}" for each in history]
    assert history[-1].number == last.KEPT + 5


def test_a_command_killed_between_the_two_renames_loses_no_record(project):
    wrote(project, "state one", STATE)
    wrote(project, "state two", PROJECT)
    staging = project / STAGING
    (staging / LAST).rename(staging / KEEPING)  # the record before it is history already
    wrote(project, "state three", PROJECT)
    history = Files(str(project)).undo_history()
    assert [(entry.number, entry.command) for entry in history] == [
        (1, "state one"),
        (2, "state two"),
        (3, "state three"),
    ]
