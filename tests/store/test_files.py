"""The one writer: what it changes is durable, what others change in between is kept."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from fairlead.project.paths import PHASES
from fairlead.store import intent, layout
from fairlead.store.atomic import Completed, Rescued
from fairlead.store.errors import (
    ChangedMeanwhile,
    FileExists,
    LockBusy,
    NoDocument,
    NoProject,
    NotAFile,
    NotAFolder,
    PathOutside,
    TooLarge,
    Undecodable,
)
from fairlead.store.files import Files
from fairlead.store.intent import ContentChange
from fairlead.store.lock import Lock
from fairlead.store.staging import STAGING, USER_STAGING
from fairlead.text.errors import ConflictMarkers, UnwritableValue
from tests.support.programs import ROOT
from tests.support.staging import (
    PROJECT,
    STATE,
    a_project,
    append,
    leftovers,
    names,
    rescued,
    staging_area,
    state_of,
)

WRITER = """
import sys
from fairlead.store.files import Files
files = Files(sys.argv[1], wait_seconds=60)
for number in range(int(sys.argv[3])):
    line = f"- {sys.argv[2]}-{number}\\n"
    files.update(".planning/STATE.md", lambda text: text + line, command="test")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return a_project(tmp_path / "project", STATE="state\n", PROJECT="project\n")


@pytest.fixture
def files(project: Path) -> Files:
    return Files(str(project), wait_seconds=0.2)


class TestLoading:
    """Reading takes no lock, makes no file, and tells exactly what is wrong."""

    def test_a_document_is_its_text(self, project: Path, files: Files) -> None:
        (project / STATE).write_bytes("\ufeffä\r\nb\rc\n\x00".encode())
        assert files.load(STATE).text == "\ufeffä\r\nb\rc\n\x00"

    def test_reading_leaves_the_project_as_it_is(self, project: Path, files: Files) -> None:
        files.load(STATE)
        files.load_for_display(STATE)
        files.exists(STATE)
        assert names(project / ".planning") == ["PROJECT.md", "STATE.md"]

    def test_a_missing_document_names_the_next_command(self, files: Files) -> None:
        with pytest.raises(NoDocument) as missing:
            files.load(layout.ROADMAP)
        assert "fairlead doctor --fix" in missing.value.hint

    def test_a_missing_folder_has_no_documents(self, tmp_path: Path) -> None:
        assert Files(str(tmp_path / "nowhere")).load_if_present(STATE) is None

    @pytest.mark.parametrize(
        ("content", "place"),
        [
            (b"\xff", "1:1"),
            (b"ok\nk\xc3\xb6nig \xe4\n", "2:7"),
            (b"a\r\nb\rc\n\xc3", "4:1"),
            (b"\xed\xa0\x80", "1:1"),
        ],
    )
    def test_bytes_that_are_not_text_are_refused_with_their_position(
        self, project: Path, files: Files, content: bytes, place: str
    ) -> None:
        (project / STATE).write_bytes(content)
        with pytest.raises(Undecodable) as refused:
            files.load(STATE)
        assert str(refused.value).startswith(f"{STATE}:{place}: ")

    def test_for_display_bytes_that_are_not_text_are_kept(
        self, project: Path, files: Files
    ) -> None:
        (project / STATE).write_bytes(b"a\xffb\n")
        loaded = files.load_for_display(STATE)
        assert loaded
        assert loaded.text == "a\udcffb\n"

    def test_for_display_a_huge_file_is_cut_at_a_line(self, project: Path, files: Files) -> None:
        (project / STATE).write_bytes(b"0123456\n" * 40_000)
        loaded = files.load_for_display(STATE)
        assert loaded
        assert loaded.is_cut
        assert len(loaded.text) <= layout.STATE_LIMIT
        assert loaded.text.endswith("0123456")

    def test_a_huge_file_is_refused(self, project: Path, files: Files) -> None:
        (project / STATE).write_bytes(b"x" * (layout.STATE_LIMIT + 1))
        with pytest.raises(TooLarge):
            files.load(STATE)


class TestUpdating:
    """One document."""

    def test_an_edit_is_written(self, project: Path, files: Files) -> None:
        outcome = files.update(STATE, append("more"), command="test")
        assert state_of(project) == b"state\nmore\n"
        assert outcome.paths == (STATE,)
        assert leftovers(project) == []

    def test_every_byte_outside_the_edit_survives(self, project: Path, files: Files) -> None:
        (project / STATE).write_bytes("\ufeffä\r\nb\rc\x00".encode())
        files.update(STATE, append("!"), command="test")
        assert state_of(project) == "\ufeffä\r\nb\rc\x00!\n".encode()

    def test_an_edit_that_changes_nothing_writes_nothing(self, project: Path, files: Files) -> None:
        before = (project / STATE).stat()
        outcome = files.update(STATE, lambda text: text, command="test")
        assert outcome.changes == ()
        assert (project / STATE).stat().st_ino == before.st_ino

    def test_a_dry_run_shows_the_change_and_writes_nothing(
        self, project: Path, files: Files
    ) -> None:
        (change,) = files.update(STATE, append("more"), command="test", dry_run=True).changes
        assert (change.path, change.old, change.new) == (STATE, "state\n", "state\nmore\n")
        assert state_of(project) == b"state\n"
        assert names(project / ".planning") == ["PROJECT.md", "STATE.md"]

    def test_a_missing_document_is_refused(self, project: Path, files: Files) -> None:
        with pytest.raises(NoDocument):
            files.update(layout.ROADMAP, append("more"), command="test")
        assert names(project / ".planning") == ["PROJECT.md", "STATE.md"]

    def test_a_document_that_may_be_created_starts_empty(self, project: Path, files: Files) -> None:
        outcome = files.update(
            layout.CONFIG, lambda text: text + "{}\n", command="test", may_create=True
        )
        assert (project / layout.CONFIG).read_bytes() == b"{}\n"
        assert outcome.changes[0].old is None

    def test_without_a_project_nothing_is_created(self, tmp_path: Path) -> None:
        with pytest.raises(NoDocument):
            Files(str(tmp_path)).update(STATE, append("more"), command="test")
        assert names(tmp_path) == []

    def test_an_error_of_the_edit_gets_the_path_and_changes_nothing(
        self, project: Path, files: Files
    ) -> None:
        def refuse(text: str) -> str:
            raise ConflictMarkers(line=7)

        with pytest.raises(ConflictMarkers) as refused:
            files.update(STATE, refuse, command="test")
        assert str(refused.value).startswith(f"{STATE}:7:1: ")
        assert state_of(project) == b"state\n"
        files.update(STATE, append("free again"), command="test")

    def test_a_result_above_the_limit_is_refused(self, project: Path, files: Files) -> None:
        with pytest.raises(TooLarge):
            files.update(STATE, append("x" * layout.STATE_LIMIT), command="test")
        assert state_of(project) == b"state\n"

    def test_a_result_that_is_not_text_is_refused(self, project: Path, files: Files) -> None:
        with pytest.raises(UnwritableValue):
            files.update(STATE, append("\udcff"), command="test")
        assert state_of(project) == b"state\n"

    @pytest.mark.parametrize(
        "path", ["README.md", "../x", ".git/config", ".planning/.fairlead/lock"]
    )
    def test_a_path_that_is_not_a_document_is_refused(self, files: Files, path: str) -> None:
        with pytest.raises(PathOutside):
            files.update(path, append("more"), command="test", may_create=True)

    def test_a_pipe_is_refused_without_waiting(self, project: Path, files: Files) -> None:
        os.mkfifo(project / layout.ROADMAP)
        with pytest.raises(NotAFile, match="a pipe"):
            files.update(layout.ROADMAP, append("more"), command="test")

    def test_a_linked_planning_folder_is_refused(self, project: Path, files: Files) -> None:
        (project / ".planning").rename(project / "elsewhere")
        (project / ".planning").symlink_to("elsewhere", target_is_directory=True)
        with pytest.raises(NotAFolder):
            files.update(STATE, append("more"), command="test")
        assert names(project / "elsewhere") == ["PROJECT.md", "STATE.md"]

    def test_a_linked_staging_folder_is_refused(self, project: Path, files: Files) -> None:
        (project / "elsewhere").mkdir()
        (project / STAGING).symlink_to(project / "elsewhere", target_is_directory=True)
        with pytest.raises(NotAFolder):
            files.update(STATE, append("more"), command="test")
        assert names(project / "elsewhere") == []

    def test_the_staging_folder_hides_itself_from_git(self, project: Path, files: Files) -> None:
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)
        files.update(STATE, append("more"), command="test")
        answer = subprocess.run(
            ["git", "status", "--porcelain", "-uall"], cwd=project, check=True, capture_output=True
        )
        assert b".fairlead" not in answer.stdout

    def test_a_busy_lock_is_named_and_nothing_changes(self, project: Path, files: Files) -> None:
        with (
            staging_area(project) as (_, staging),
            Lock(staging.folder, wait_seconds=0, command="other"),
        ):
            with pytest.raises(LockBusy, match="other"):
                files.update(STATE, append("more"), command="test")
        assert state_of(project) == b"state\n"

    def test_a_settings_folder_has_its_own_staging_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "config" / "fairlead"
        settings = Files(str(folder), staging=USER_STAGING)
        settings.update(layout.USER_CONFIG, append("{}"), command="test", may_create=True)
        assert names(folder) == [".fairlead", "config.json"]


def replaced(path: Path, content: bytes) -> None:
    beside = path.with_name("editor-file")
    beside.write_bytes(content)
    beside.replace(path)


class TestForeignEdits:
    """Somebody without our lock saves while we write."""

    @pytest.mark.parametrize("save", [Path.write_bytes, replaced])
    def test_the_edit_is_repeated_on_the_version_of_another_program(
        self, project: Path, files: Files, save: Callable[[Path, bytes], object]
    ) -> None:
        calls = []

        def edit(text: str) -> str:
            calls.append(text)
            if len(calls) == 1:
                save(project / STATE, b"theirs\n")
            return text + "ours\n"

        outcome = files.update(STATE, edit, command="test")
        assert state_of(project) == b"theirs\nours\n"
        assert outcome.changes[0].old == "theirs\n"

    def test_a_program_that_never_stops_writing_is_a_conflict(
        self, project: Path, files: Files
    ) -> None:
        def edit(text: str) -> str:
            replaced(project / STATE, text.encode() + b"theirs\n")
            return text + "ours\n"

        with pytest.raises(ChangedMeanwhile):
            files.update(STATE, edit, command="test")
        assert set(state_of(project).splitlines()) == {b"state", b"theirs"}
        assert leftovers(project) == []

    def test_a_document_removed_meanwhile_stays_removed(self, project: Path, files: Files) -> None:
        def edit(text: str) -> str:
            (project / STATE).unlink()
            return text + "ours\n"

        with pytest.raises(NoDocument):
            files.update(STATE, edit, command="test")
        assert not (project / STATE).exists()

    def test_a_step_is_repeated_on_the_version_of_another_program(
        self, project: Path, files: Files
    ) -> None:
        def edit(text: str) -> str:
            if text == "state\n":
                (project / STATE).write_bytes(b"theirs\n")
            return text + "ours\n"

        files.update_all({STATE: edit, PROJECT: append("ours")}, command="test")
        assert state_of(project) == b"theirs\nours\n"
        assert (project / PROJECT).read_bytes() == b"project\nours\n"


class TestSteps:
    """Several documents at once."""

    def test_all_are_written(self, project: Path, files: Files) -> None:
        outcome = files.update_all({STATE: append("a"), PROJECT: append("b")}, command="test")
        assert outcome.paths == (STATE, PROJECT)
        assert (project / PROJECT).read_bytes() == b"project\nb\n"
        assert leftovers(project) == []

    def test_one_refused_edit_stops_all(self, project: Path, files: Files) -> None:
        edits = {STATE: append("a"), layout.ROADMAP: append("b")}
        with pytest.raises(NoDocument):
            files.update_all(edits, command="test")
        assert state_of(project) == b"state\n"

    def test_a_killed_command_is_completed_with_a_notice(self, project: Path, files: Files) -> None:
        self.commit_and_die(project)
        outcome = files.update(STATE, append("next"), command="test")
        assert state_of(project) == b"new state\nnext\n"
        assert (project / PROJECT).read_bytes() == b"new project\n"
        assert outcome.notices == (Completed("killed", (PROJECT, STATE)),)

    def test_notices_survive_an_error(self, project: Path, files: Files) -> None:
        self.commit_and_die(project)
        (project / STATE).write_bytes(b"theirs\n")
        with pytest.raises(NoDocument):
            files.update(layout.ROADMAP, append("next"), command="test")
        assert [type(notice) for notice in files.notices] == [Rescued, Completed]
        assert rescued(project) == [b"new state\n"]

    def commit_and_die(self, project: Path) -> None:
        with staging_area(project) as (root, staging):
            versions = (
                ContentChange(STATE, b"state\n", b"new state\n"),
                ContentChange(PROJECT, b"project\n", b"new project\n"),
            )
            intent.commit(root, staging, "killed", versions)


class TestCreating:
    """A new project."""

    TEXTS: ClassVar = {STATE: "state\n", PROJECT: "project\n", layout.CONFIG: "{}\n"}

    def test_all_documents_are_created_together(self, tmp_path: Path) -> None:
        files = Files(str(tmp_path))
        outcome = files.create_all(self.TEXTS, folders=(PHASES,), command="init")
        assert outcome.paths == tuple(self.TEXTS)
        assert names(tmp_path / ".planning") == [
            ".fairlead",
            "PROJECT.md",
            "STATE.md",
            "config.json",
            "phases",
        ]
        assert leftovers(tmp_path) == []

    def test_one_existing_document_stops_all(self, tmp_path: Path) -> None:
        a_project(tmp_path, PROJECT="mine\n")
        with pytest.raises(FileExists):
            Files(str(tmp_path)).create_all(self.TEXTS, command="init")
        assert (tmp_path / PROJECT).read_bytes() == b"mine\n"
        assert not (tmp_path / STATE).exists()

    def test_a_refusal_leaves_no_trace(self, tmp_path: Path) -> None:
        a_project(tmp_path, PROJECT="mine\n")
        with pytest.raises(FileExists):
            Files(str(tmp_path)).create_all(self.TEXTS, folders=(PHASES,), command="init")
        assert names(tmp_path / ".planning") == ["PROJECT.md"]

    def test_a_missing_project_folder_is_not_created(self, tmp_path: Path) -> None:
        with pytest.raises(NoProject):
            Files(str(tmp_path / "nowhere")).create_all(self.TEXTS, command="init")
        assert names(tmp_path) == []

    def test_a_dry_run_creates_nothing(self, tmp_path: Path) -> None:
        outcome = Files(str(tmp_path)).create_all(self.TEXTS, command="init", dry_run=True)
        assert outcome.paths == tuple(self.TEXTS)
        assert names(tmp_path) == []

    def test_an_empty_planning_folder_left_by_a_kill_is_accepted(self, tmp_path: Path) -> None:
        (tmp_path / STAGING).mkdir(parents=True)
        Files(str(tmp_path)).create_all(self.TEXTS, command="init")
        assert state_of(tmp_path) == b"state\n"

    def test_the_same_command_after_a_kill_completes_its_step(self, tmp_path: Path) -> None:
        a_project(tmp_path)
        with staging_area(tmp_path) as (root, staging):
            versions = tuple(
                ContentChange(path, None, text.encode()) for path, text in self.TEXTS.items()
            )
            intent.commit(root, staging, "init", versions)
        outcome = Files(str(tmp_path)).create_all(self.TEXTS, command="init")
        assert state_of(tmp_path) == b"state\n"
        assert [type(notice) for notice in outcome.notices] == [Completed]

    def test_a_second_project_in_the_same_folder_is_refused(self, tmp_path: Path) -> None:
        files = Files(str(tmp_path))
        files.create_all(self.TEXTS, command="init")
        with pytest.raises(FileExists):
            files.create_all(self.TEXTS, command="init")


def test_many_processes_lose_nothing(project: Path) -> None:
    writers, updates = 8, 10
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(project), str(number), str(updates)],
            env={"PYTHONPATH": str(ROOT / "src")},
        )
        for number in range(writers)
    ]
    assert [process.wait() for process in processes] == [0] * writers
    expected = {f"- {writer}-{number}" for writer in range(writers) for number in range(updates)}
    assert sorted(state_of(project).decode().splitlines()[1:]) == sorted(expected)


def test_a_writer_killed_at_any_time_leaves_a_complete_document(project: Path) -> None:
    acknowledged = 0
    for delay in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(project), str(delay), "1000"],
            env={"PYTHONPATH": str(ROOT / "src")},
        )
        try:
            process.wait(0.15 + delay / 200)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        lines = state_of(project).decode().splitlines()
        assert all(line == "state" or line.startswith("- ") for line in lines)
        assert len(lines) >= acknowledged
        acknowledged = len(lines)
    Files(str(project)).update(STATE, append("end"), command="test")
    assert state_of(project).endswith(b"end\n")
    assert leftovers(project) == []
    assert rescued(project) == []


def test_new_documents_in_the_users_own_folders_are_private(tmp_path: Path) -> None:
    private = Files(str(tmp_path), staging=USER_STAGING)
    shared = Files(str(tmp_path), staging=USER_STAGING, is_private=False)
    private.update("checks/a.json", lambda _: "{}", command="a test", may_create=True)
    shared.update("config.json", lambda _: "{}", command="a test", may_create=True)

    assert (tmp_path / "checks/a.json").stat().st_mode & 0o077 == 0
    assert (tmp_path / "config.json").stat().st_mode & 0o044 == 0o044 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
