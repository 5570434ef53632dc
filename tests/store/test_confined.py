"""Nothing outside the root is read or written, whatever a path says and whatever is planted."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fairlead.core.errors import DocumentError, FairleadError, StorageError
from fairlead.store.confined import Root, components
from fairlead.store.errors import NotAFile, NotAFolder, PathOutside, TooLarge
from tests.support.programs import ROOT

LIMIT = 100
SECRET = b"outside"

NASTY = st.sampled_from(
    [
        "..",
        ".",
        "",
        "a",
        "secret",
        "inside",
        "%2e%2e",
        "..\\",
        "~",
        "con",
        "\x00",
        "\x1b",
        "\udcff",
        "…",
    ]
)
PATHS = st.lists(NASTY | st.text(max_size=8), min_size=1, max_size=6).map("/".join)


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """A root with one file, beside a secret that nobody may reach."""
    (tmp_path / "secret").write_bytes(SECRET)
    root = tmp_path / "root"
    (root / "inside").mkdir(parents=True)
    (root / "inside" / "a").write_bytes(b"inside")
    return root


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/etc/passwd",
        ".",
        "..",
        "../secret",
        "inside/../../secret",
        "inside/..",
        "inside//a",
        "inside/",
        "./inside",
        "a\x00b",
        "a\nb",
        "a\x1b[2Jb",
        "a\x7f",
        "a\x85b",
        "..\\secret",
        "inside\\a",
        "a.",
        "a ",
        "a./b",
        "CON",
        "con.txt",
        "inside/Nul",
        "com1.md",
        "LPT¹",
        "aux .md",
        "x" * 256,
        "ä" * 128,
        "\udcff",
    ],
)
def test_a_path_that_could_leave_or_is_not_portable_is_refused(path: str) -> None:
    with pytest.raises(PathOutside):
        components(path)


@pytest.mark.parametrize(
    "path",
    ["a", ".planning/STATE.md", "phases/01-größe/01-01-PLAN.md", "x" * 255, "...a", "console"],
)
def test_an_ordinary_path_is_its_components(path: str) -> None:
    assert "/".join(components(path)) == path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(path=PATHS)
@example(path="../secret")
@example(path="inside/../../secret")
def test_no_path_reads_the_file_beside_the_root(yard: Path, path: str) -> None:
    with Root(str(yard)) as root:
        try:
            content = root.read(path, LIMIT)
        except FairleadError:
            return
    assert content in (None, b"inside")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(path=PATHS)
def test_no_path_makes_a_folder_beside_the_root(yard: Path, path: str) -> None:
    with Root(str(yard)) as root:
        try:
            root.make_folder(path).close()
        except FairleadError:
            pass
    assert sorted(os.listdir(yard.parent)) == ["root", "secret"]


def test_a_link_is_not_followed_to_read(yard: Path) -> None:
    (yard / "link").symlink_to("../secret")
    with Root(str(yard)) as root, pytest.raises(NotAFile, match="a symbolic link"):
        root.read("link", LIMIT)


def test_a_link_that_stays_inside_is_not_followed_either(yard: Path) -> None:
    (yard / "link").symlink_to("inside/a")
    with Root(str(yard)) as root, pytest.raises(NotAFile, match="a symbolic link"):
        root.read_start("link", LIMIT)


def test_a_linked_folder_is_not_entered(yard: Path) -> None:
    (yard / "link").symlink_to("..", target_is_directory=True)
    with Root(str(yard)) as root, pytest.raises(NotAFolder, match="a symbolic link, not a folder"):
        root.read("link/secret", LIMIT)


def test_nothing_is_made_behind_a_linked_folder(yard: Path) -> None:
    (yard / "link").symlink_to("..", target_is_directory=True)
    with Root(str(yard)) as root, pytest.raises(NotAFolder):
        root.make_folder("link/made")
    assert not (yard.parent / "made").exists()


def test_a_file_is_not_a_folder(yard: Path) -> None:
    with Root(str(yard)) as root, pytest.raises(NotAFolder, match="a file, not a folder"):
        root.read("inside/a/b", LIMIT)


def test_a_folder_is_not_a_file(yard: Path) -> None:
    with Root(str(yard)) as root, pytest.raises(NotAFile, match="a folder"):
        root.read("inside", LIMIT)


def test_a_pipe_is_refused_without_waiting(yard: Path) -> None:
    os.mkfifo(yard / "pipe")
    with Root(str(yard)) as root, pytest.raises(NotAFile, match="a pipe"):
        root.read("pipe", LIMIT)


def test_a_device_is_refused() -> None:
    with Root("/dev") as root, pytest.raises(NotAFile, match="a device"):
        root.read("zero", LIMIT)


def test_a_socket_is_refused(yard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(yard)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with Root(str(yard)) as root, pytest.raises(NotAFile, match="a socket"):
            root.read("socket", LIMIT)


def test_a_file_of_exactly_the_limit_is_read(yard: Path) -> None:
    (yard / "full").write_bytes(b"x" * LIMIT)
    with Root(str(yard)) as root:
        assert root.read("full", LIMIT) == b"x" * LIMIT


def test_a_file_above_the_limit_is_refused_with_its_place(yard: Path) -> None:
    (yard / "over").write_bytes(b"x" * (LIMIT + 1))
    with Root(str(yard)) as root, pytest.raises(TooLarge) as refused:
        root.read("over", LIMIT)
    assert str(refused.value) == "over:1:1: is 101 bytes, the limit is 100"


def test_a_huge_file_is_refused_unread(yard: Path) -> None:
    with (yard / "giant").open("wb") as giant:
        giant.truncate(1 << 40)
    with Root(str(yard)) as root, pytest.raises(TooLarge):
        root.read("giant", LIMIT)


def test_the_start_of_a_huge_file_can_be_read_for_display(yard: Path) -> None:
    with (yard / "giant").open("wb") as giant:
        giant.write(b"start")
        giant.truncate(1 << 40)
    with Root(str(yard)) as root:
        assert root.read_start("giant", 5) == b"start"


@pytest.mark.parametrize("path", ["missing", "missing/missing", "inside/missing"])
def test_a_missing_path_is_none(yard: Path, path: str) -> None:
    with Root(str(yard)) as root:
        answers = (
            root.read(path, LIMIT),
            root.read_start(path, LIMIT),
            root.stat(path),
            root.names(path),
            root.folder(path),
        )
    assert answers == (None, None, None, None, None)


def test_the_names_in_a_folder_are_sorted(yard: Path) -> None:
    for name in "cab":
        (yard / "inside" / name).touch()
    with Root(str(yard)) as root:
        assert root.names("inside") == ["a", "b", "c"]


def test_folders_are_made_where_they_are_missing(yard: Path) -> None:
    with Root(str(yard)) as root:
        root.make_folder("inside/b/c").close()
        root.make_folder("inside/b/c").close()
    assert (yard / "inside" / "b" / "c").is_dir()


def test_a_root_that_is_a_file_is_an_error_of_storage(yard: Path) -> None:
    with pytest.raises(StorageError):
        Root(str(yard / "inside" / "a"))


def test_a_root_that_is_missing_is_file_not_found(yard: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Root(str(yard / "nowhere"))


def test_every_descriptor_is_closed_whatever_happens(yard: Path) -> None:
    (yard / "link").symlink_to("..")
    os.mkfifo(yard / "pipe")
    (yard / "over").write_bytes(b"x" * (LIMIT + 1))
    before = open_descriptors()
    with Root(str(yard)) as root:
        for path in (
            "inside/a",
            "link",
            "link/secret",
            "pipe",
            "over",
            "none/x",
            "inside/a/b",
            "..",
        ):
            for act in (root.stat, root.names, lambda path: root.read(path, LIMIT)):
                try:
                    act(path)
                except FairleadError:
                    pass
    assert open_descriptors() == before


def test_a_folder_swapped_for_a_link_again_and_again_never_leads_outside(tmp_path: Path) -> None:
    outside, root_folder = tmp_path / "outside", tmp_path / "root"
    (root_folder / "inner").mkdir(parents=True)
    (root_folder / "inner" / "file").write_bytes(b"inside")
    outside.mkdir()
    (outside / "file").write_bytes(SECRET)
    (root_folder / "link").symlink_to(outside, target_is_directory=True)
    rounds = 5_000
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(root_folder / "inner", root_folder / "aside")
            os.rename(root_folder / "link", root_folder / "inner")
            os.rename(root_folder / "inner", root_folder / "link")
            os.rename(root_folder / "aside", root_folder / "inner")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = set()
    try:
        with Root(str(root_folder)) as root:
            for _ in range(rounds):
                try:
                    seen.add(root.read("inner/file", LIMIT))
                except DocumentError:
                    seen.add(None)
    finally:
        done.set()
        swapper.join()
    assert seen <= {b"inside", None}


def test_the_status_lines_reader_imports_nothing_slow() -> None:
    code = "import sys; import fairlead.store.confined; print(*sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    costly = {"dataclasses", "enum", "re", "json", "pathlib", "typing", "contextlib", "functools"}
    assert not costly & set(answer.stdout.split())
