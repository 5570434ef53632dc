"""Journals: what was acknowledged stays, a torn last line goes, nothing else is touched."""

import os
import resource
from pathlib import Path

import pytest

from fairlead.core.errors import FairleadError, StorageError
from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.errors import NotAFile
from fairlead.store.journal import Journal
from fairlead.text.errors import UnwritableValue

PATH = ".planning/ledger/04-02.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".planning").mkdir()
    return tmp_path


def put(project: Path, line: str) -> str:
    return Journal(str(project), PATH).append(lambda _: line, command="test")


def test_lines_are_appended_after_the_last_one(project: Path) -> None:
    seen: list[str] = []
    for number in range(3):

        def line(last: str, number: int = number) -> str:
            seen.append(last)
            return f"{number}\n"

        Journal(str(project), PATH).append(line, command="test")

    assert seen == ["", "0\n", "1\n"]
    assert (project / PATH).read_text() == "0\n1\n2\n"


@pytest.mark.parametrize("torn", ["", "to", "x" * 200_000])
@pytest.mark.parametrize("whole", ["", "a\n", "a\n" + "b" * 150_000 + "\n"])
def test_an_incomplete_last_line_is_removed_before_the_next_append(
    project: Path, whole: str, torn: str
) -> None:
    put(project, "first\n")
    (project / PATH).write_text(whole + torn)
    put(project, "new\n")

    assert (project / PATH).read_text() == whole + "new\n"


@pytest.mark.parametrize("line", ["", "a", "a\nb\n", "x" * 1_100_000 + "\n"])
def test_an_entry_that_is_not_one_line_is_refused(project: Path, line: str) -> None:
    put(project, "first\n")
    with pytest.raises(UnwritableValue):
        put(project, line)

    assert (project / PATH).read_text() == "first\n"


def test_a_link_is_not_followed(project: Path) -> None:
    (project / "target").write_text("mine")
    (project / ".planning/ledger").mkdir()
    (project / PATH).symlink_to(project / "target")
    with pytest.raises(NotAFile):
        put(project, "a\n")

    assert (project / "target").read_text() == "mine"


def test_a_file_with_a_second_name_is_refused(project: Path) -> None:
    put(project, "first\n")
    os.link(project / PATH, project / "twin")
    with pytest.raises(NotAFile):
        put(project, "a\n")


@pytest.mark.parametrize("path", ["../out.jsonl", ".planning/../../out.jsonl"])
def test_a_path_out_of_the_project_is_refused(project: Path, path: str) -> None:
    with pytest.raises(FairleadError):
        Journal(str(project), path).append(lambda _: "a\n", command="test")


def test_a_line_that_does_not_fit_leaves_the_journal_as_it_was(project: Path) -> None:
    put(project, "first\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        with pytest.raises(StorageError):
            put(project, "x" * 1000 + "\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert (project / PATH).read_text() == "first\n"


@pytest.mark.parametrize("kind", ["link", "pipe", "hard link"])
def test_a_journal_replaced_after_the_first_look_is_refused(project: Path, kind: str) -> None:
    put(project, "first\n")
    journal = project / PATH

    class Replaced(ConfinedFolder):
        """A folder in which another process replaces the journal once it has been looked at."""

        def stat(self, name: str) -> os.stat_result | None:
            found = super().stat(name)
            other = project / "other"
            if not other.exists():
                other.write_text("other\n")
                journal.unlink()
                {
                    "link": lambda: journal.symlink_to(other),
                    "pipe": lambda: os.mkfifo(journal),
                    "hard link": lambda: journal.hardlink_to(other),
                }[kind]()
            return found

    class Watched(Journal):
        def _home(self, root: Root) -> ConfinedFolder:
            home = super()._home(root)
            return Replaced(home.fd, home.path)

    with pytest.raises(NotAFile):
        Watched(str(project), PATH).append(lambda _: "new\n", command="test")

    assert (project / "other").read_text() == "other\n"
