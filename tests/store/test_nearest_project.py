"""What a status line looks at: the nearest files, within limits, whatever stands in their place."""

import os
from pathlib import Path

import pytest

from fairlead.store import layout
from fairlead.store.nearest_project import (
    TRANSCRIPT_TAIL,
    folders_above,
    nearest_project,
    newest_todo,
    transcript_tail,
)

HOME = "/nowhere"


def planned(folder: Path, **files: str) -> Path:
    """A folder with a planning folder that holds these files."""
    planning = folder / layout.PLANNING
    planning.mkdir(parents=True, exist_ok=True)
    names = {"state": layout.STATE_NAME, "config": layout.CONFIG_NAME}
    for kind, text in files.items():
        (planning / names[kind]).write_text(text, "utf-8")
    return folder


def test_the_nearest_state_wins(tmp_path: Path):
    planned(tmp_path, state="outer")
    inner = planned(tmp_path / "a" / "b", state="inner")

    found = nearest_project(str(inner / "c"), HOME)

    assert (found.state, found.project) == ("inner", str(inner))


def test_state_and_settings_are_searched_independently(tmp_path: Path):
    planned(tmp_path, state="state", config="outer")
    inner = planned(tmp_path / "a", config="inner")

    found = nearest_project(str(inner), HOME)

    assert (found.state, found.config) == ("state", "inner")


@pytest.mark.parametrize(("depth", "is_found"), [(9, True), (10, False)])
def test_ten_folders_are_searched(depth: int, is_found: bool, tmp_path: Path):
    planned(tmp_path, state="state")
    deep = tmp_path.joinpath(*["x"] * depth)
    deep.mkdir(parents=True)

    assert (nearest_project(str(deep), HOME).state == "state") == is_found


@pytest.mark.parametrize(("home", "is_found"), [("a", False), (".", True)])
def test_folders_above_the_home_folder_are_not_searched(home: str, is_found: bool, tmp_path: Path):
    planned(tmp_path, state="state")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)

    found = nearest_project(str(inner), os.path.normpath(tmp_path / home))

    assert (found.state == "state") == is_found


@pytest.mark.parametrize(
    ("folder", "above"),
    [
        ("/", ["/"]),
        ("", ["/"]),
        ("/a/b", ["/a/b", "/a", "/"]),
        ("/a/b///", ["/a/b", "/a", "/"]),
        ("/home/me/a", ["/home/me/a", "/home/me"]),
        ("/home/me", ["/home/me"]),
    ],
)
def test_folders_go_upwards_to_the_top_or_to_the_home_folder(folder: str, above: list[str]):
    assert folders_above(folder, "/home/me") == above


def make_nothing(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    other = path.with_name("elsewhere")
    other.write_text("secret", "utf-8")
    path.symlink_to(other)


def make_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [make_nothing, make_folder, make_pipe, make_link, make_loop])
@pytest.mark.parametrize("name", [layout.STATE_NAME, layout.CONFIG_NAME])
def test_only_regular_files_are_read(make, name: str, tmp_path: Path):
    planned(tmp_path)
    make(tmp_path / layout.PLANNING / name)

    found = nearest_project(str(tmp_path), str(tmp_path))

    assert (found.state, found.config or "") == (None, "")


@pytest.mark.parametrize("make", [make_pipe, make_loop, Path.touch])
def test_a_planning_path_that_is_not_a_folder_is_skipped(make, tmp_path: Path):
    planned(tmp_path, state="outer")
    (tmp_path / "a").mkdir()
    make(tmp_path / "a" / layout.PLANNING)

    assert nearest_project(str(tmp_path / "a"), HOME).state == "outer"


def test_settings_that_cannot_be_read_hide_those_above(tmp_path: Path):
    planned(tmp_path, config="outer")
    inner = planned(tmp_path / "a")
    make_pipe(inner / layout.PLANNING / layout.CONFIG_NAME)

    assert nearest_project(str(inner), HOME).config == ""


@pytest.mark.parametrize("folder", ["/no/such/folder", "relative", "a\0b", "a\ud800b", "x" * 9_000])
def test_a_folder_that_cannot_be_opened_counts_as_empty(folder: str):
    assert nearest_project(folder, HOME).state is None


def test_only_the_beginning_of_a_huge_state_is_read(tmp_path: Path):
    planned(tmp_path, state="x" * (layout.STATE_LIMIT + 5))

    assert nearest_project(str(tmp_path), HOME).state == "x" * layout.STATE_LIMIT


def test_bytes_that_are_not_utf_8_are_marked(tmp_path: Path):
    planned(tmp_path)
    (tmp_path / layout.STATE).write_bytes(b"caf\xe9 \xff")

    assert nearest_project(str(tmp_path), HOME).state == "caf\ufffd \ufffd"


def test_workstream_folders_count_as_a_project(tmp_path: Path):
    (tmp_path / layout.PLANNING / layout.WORKSTREAMS_NAME / "one").mkdir(parents=True)

    found = nearest_project(str(tmp_path), HOME)

    assert (found.has_workstreams, found.project) == (True, str(tmp_path))


def test_files_in_the_workstreams_folder_do_not_count(tmp_path: Path):
    streams = tmp_path / layout.PLANNING / layout.WORKSTREAMS_NAME
    streams.mkdir(parents=True)
    (streams / "notes.md").touch()

    assert not nearest_project(str(tmp_path), HOME).has_workstreams


def test_a_state_hides_the_workstreams_beside_it(tmp_path: Path):
    planned(tmp_path, state="state")
    (tmp_path / layout.PLANNING / layout.WORKSTREAMS_NAME / "one").mkdir(parents=True)

    found = nearest_project(str(tmp_path), HOME)

    assert (found.state, found.has_workstreams) == ("state", False)


def a_todo(folder: Path, name: str, text: str, *, age: int) -> None:
    todos = folder / "todos"
    todos.mkdir(exist_ok=True)
    (todos / name).write_text(text, "utf-8")
    os.utime(todos / name, (1_000_000 - age, 1_000_000 - age))


def test_the_newest_todo_of_the_session_is_read(tmp_path: Path):
    a_todo(tmp_path, "s1-agent-a.json", "old", age=9)
    a_todo(tmp_path, "s1-agent-b.json", "new", age=5)
    a_todo(tmp_path, "s2-agent-c.json", "another session", age=1)
    a_todo(tmp_path, "s1-other.json", "another kind", age=1)
    a_todo(tmp_path, "s1-agent-d.txt", "another kind", age=1)

    assert newest_todo(str(tmp_path), "s1") == "new"


@pytest.mark.parametrize("make", [make_folder, make_pipe, make_loop])
def test_a_todo_that_is_no_file_is_not_read(make, tmp_path: Path):
    (tmp_path / "todos").mkdir()
    make(tmp_path / "todos" / "s1-agent-a.json")

    assert newest_todo(str(tmp_path), "s1") == ""


def test_without_todos_there_is_none(tmp_path: Path):
    assert newest_todo(str(tmp_path), "s1") == newest_todo(str(tmp_path / "x"), "s1") == ""


def test_the_end_of_a_transcript_is_read(tmp_path: Path):
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("a" * 10 + "b" * TRANSCRIPT_TAIL, "utf-8")

    assert transcript_tail(str(transcript)) == "b" * TRANSCRIPT_TAIL


@pytest.mark.parametrize("make", [make_nothing, make_folder, make_pipe, make_link])
def test_a_transcript_that_is_no_file_is_empty(make, tmp_path: Path):
    make(tmp_path / "t.jsonl")

    assert transcript_tail(str(tmp_path / "t.jsonl")) == ""


@pytest.mark.parametrize("path", ["", "t.jsonl", "/", "/no/such/file", "a\0b"])
def test_a_transcript_without_a_file_is_empty(path: str):
    assert transcript_tail(path) == ""
