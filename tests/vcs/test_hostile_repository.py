"""Our own git runs nothing that an agent could have written, and keeps the user's own filters."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.vcs.git import Git
from tests.support.repositories import a_repository, git, written

Plant = Callable[[Path, Path, Path], object]


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A program that leaves a trace when it runs."""
    program = tmp_path / "evil"
    written(program, f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    program.chmod(0o755)
    return program


def a_main_tree(tmp_path: Path) -> Path:
    """A repository with a populated submodule `lib` and an attempt's worktree `place`."""
    inner = a_repository(tmp_path / "inner", {"s": "inner\n"})
    main = a_repository(tmp_path / "main", {"README.md": "a\n", "b.txt": "b\n"})
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    git(main, "commit", "-qm", "a submodule")
    return main


def _filter(folder: Path, canary: Path) -> None:
    git(folder, "config", "filter.e.clean", str(canary))
    git(folder, "config", "filter.e.smudge", str(canary))


def _submodule(main: Path, place: Path, canary: Path) -> None:
    """The agent fills the submodule of its worktree with a repository of its own."""
    for lib in (place / "lib", main / "lib"):
        if not (lib / ".git").exists():
            git(lib, "init", "-q")
            git(lib, "fetch", "-q", str(main / "lib"))
            git(lib, "checkout", "-q", "FETCH_HEAD")
        _filter(lib, canary)
        info = Path(git(lib, "rev-parse", "--absolute-git-dir")) / "info/attributes"
        written(info, "* filter=e\n")
        git(lib, "config", "core.fsmonitor", str(canary))
        os.utime(lib / "s", (1, 1))


def _repository_filter(main: Path, place: Path, canary: Path) -> None:
    _filter(main, canary)
    written(main / ".git/info/attributes", "* filter=e diff=e merge=e\n")
    git(main, "config", "diff.e.textconv", str(canary))
    git(main, "config", "diff.e.command", str(canary))
    git(main, "config", "merge.e.driver", str(canary))


def _included(main: Path, place: Path, canary: Path) -> None:
    written(main.parent / "more", f'[filter "e"]\n\tclean = {canary}\n\tsmudge = {canary}\n')
    git(main, "config", "include.path", str(main.parent / "more"))
    written(place / ".gitattributes", "* filter=e\n")
    written(main / ".git/info/attributes", "* filter=e\n")


def _worktree_settings(main: Path, place: Path, canary: Path) -> None:
    git(main, "config", "core.repositoryFormatVersion", "1")
    git(main, "config", "extensions.worktreeConfig", "true")
    for name in ("core.fsmonitor", "core.editor", "core.sshCommand", "diff.external"):
        git(place, "config", "--worktree", name, str(canary))
    git(place, "config", "--worktree", "filter.e.clean", str(canary))
    written(place / ".gitattributes", "* filter=e\n")


def _personal(main: Path, place: Path, canary: Path) -> None:
    home = Path(os.environ["HOME"])
    written(home / ".gitconfig", f'[filter "e"]\n\tclean = {canary}\n\tprocess = {canary}\n')
    written(home / ".config/git/attributes", "* filter=e\n")


def _hooks(main: Path, place: Path, canary: Path) -> None:
    for name in (
        "post-checkout",
        "pre-commit",
        "reference-transaction",
        "post-merge",
        "post-commit",
        "post-index-change",
    ):
        (main / ".git/hooks").mkdir(exist_ok=True)
        (main / ".git/hooks" / name).symlink_to(canary)
    git(main, "config", "core.hooksPath", str(main / ".git/hooks"))


def _lazy_fetch(main: Path, place: Path, canary: Path) -> None:
    git(main, "config", "core.repositoryFormatVersion", "1")
    git(main, "config", "extensions.partialClone", "evil")
    git(main, "config", "remote.evil.url", str(main.parent / "inner"))
    git(main, "config", "remote.evil.promisor", "true")
    git(main, "config", "remote.evil.uploadpack", str(canary))


def _alias_and_signing(main: Path, place: Path, canary: Path) -> None:
    git(main, "config", "alias.status", f"!{canary}")
    git(main, "config", "commit.gpgSign", "true")
    git(main, "config", "gpg.program", str(canary))
    git(main, "config", "core.alternateRefsCommand", str(canary))
    git(main, "config", "core.pager", str(canary))


PLANTS: list[Plant] = [
    _submodule,
    _repository_filter,
    _included,
    _worktree_settings,
    _personal,
    _hooks,
    _lazy_fetch,
    _alias_and_signing,
]


def everything(workspace: Git, main: Path, place: str) -> None:
    """What a run does after an agent's call."""
    base = workspace.commit_of("HEAD")
    tree = workspace.tree_of(place, base, ".planning", ("b.txt",))
    assert not tree.fault
    commit = workspace.keep(tree, base, "fairlead/j/a1", "kept\n")
    workspace.at_commit(place, commit)
    assert workspace.is_at(place, commit)
    workspace.changes(base, commit)
    workspace.patch(base, commit, ("b.txt",))
    workspace.dirty_paths(".planning")
    workspace.ignored(("b.txt",))
    workspace.commit_of("nothing-of-this-name")
    workspace.is_ancestor("0" * 40, base)
    merged = workspace.merged(base, commit, "merge\n")
    workspace.land("main", base, merged.commit, ".planning")
    written(main / "note.md", "a note\n")
    assert workspace.commit_paths(["note.md"], "a note")
    workspace.put_away({place: "fairlead/j/a1"}, frozenset())


@pytest.mark.parametrize("plant", PLANTS)
def test_our_git_runs_no_program_that_an_agent_named(
    tmp_path: Path, canary: Path, plant: Plant
) -> None:
    main, place = a_main_tree(tmp_path), tmp_path / "trees/a1"
    workspace = Git(str(main))
    workspace.prepare(str(place), workspace.commit_of("HEAD"), "fairlead/j/a1")
    written(place / "b.txt", "changed\n")
    plant(main, place, canary)
    for path in (main / "README.md", place / "README.md"):
        os.utime(path, (1, 1))  # git has to read them again
    (tmp_path / "ran").unlink(missing_ok=True)
    everything(workspace, main, str(place))
    assert not (tmp_path / "ran").exists()
    assert (main / "b.txt").read_text() == "changed\n"


def test_filters_from_before_the_agent_still_work(tmp_path: Path) -> None:
    main, place = a_main_tree(tmp_path), tmp_path / "trees/a1"
    git(main, "config", "filter.up.clean", "tr a-z A-Z")
    git(main, "config", "filter.up.smudge", "tr A-Z a-z")
    written(main / ".git/info/attributes", "*.txt filter=up\n")
    workspace = Git(str(main))
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(place), base, "fairlead/j/a1")
    written(place / "b.txt", "changed\n")
    tree = workspace.tree_of(str(place), base, ".planning")
    assert git(main, "cat-file", "blob", f"{tree.id}:b.txt") == "CHANGED"
    commit = workspace.keep(tree, base, "fairlead/j/a1", "kept\n")
    workspace.at_commit(str(place), commit)
    assert (place / "b.txt").read_text() == "changed\n"


def test_a_filter_whose_program_lies_in_the_project_is_left_out(tmp_path: Path) -> None:
    main = a_main_tree(tmp_path)
    written(main / "tools/clean.sh", "cat\n")
    git(main, "config", "filter.own.clean", "sh tools/clean.sh")
    git(main, "config", "filter.lfs.clean", "git-lfs clean -- %f")
    settings = Git(str(main)).settings
    assert settings.left_out == ("filter.own",)
    assert settings.value("filter.lfs.clean") == "git-lfs clean -- %f"


def test_git_is_not_taken_from_inside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, canary: Path
) -> None:
    main = a_main_tree(tmp_path)
    (main / "bin").mkdir()
    (main / "bin/git").symlink_to(canary)
    monkeypatch.setenv("PATH", f"{main}/bin{os.pathsep}{os.environ['PATH']}")
    workspace = Git(str(main))
    workspace.dirty_paths(".planning")
    assert not (tmp_path / "ran").exists()


def test_a_submodule_stays_as_it_is_in_the_base(tmp_path: Path) -> None:
    main, place = a_main_tree(tmp_path), tmp_path / "trees/a1"
    workspace = Git(str(main))
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(place), base, "fairlead/j/a1")
    git(place / "lib", "init", "-q")
    git(place / "lib", "config", "user.email", "a@example.org")
    git(place / "lib", "config", "user.name", "A")
    git(place / "lib", "commit", "-q", "--allow-empty", "-m", "other")
    written(place / "b.txt", "changed\n")
    tree = workspace.tree_of(str(place), base, ".planning")
    assert [each.path for each in workspace.changes(base, tree.id)] == ["b.txt"]


def test_a_changed_private_folder_is_made_again(tmp_path: Path, canary: Path) -> None:
    main = a_main_tree(tmp_path)
    workspace = Git(str(main))
    workspace.dirty_paths(".planning")
    assert workspace._private is not None
    folder = Path(workspace._private.path)
    with (folder / "config").open("a") as file:
        file.write(f'[filter "e"]\n\tclean = {canary}\n')
    written(folder / "info/attributes", "* filter=e\n")
    os.utime(main / "README.md", (1, 1))
    workspace.dirty_paths(".planning")
    assert not (tmp_path / "ran").exists()
    assert "filter" not in (Path(workspace._private.path) / "config").read_text()


@pytest.mark.parametrize(
    "touch",
    [
        lambda main: git(main / "lib", "config", "core.fsmonitor", "evil"),
        lambda main: written(main / ".git/modules/lib/hooks/post-checkout", "#!/bin/sh\n"),
        lambda main: written(main.parent / "more", "[core]\n\tpager = evil\n"),
        lambda main: (main / ".git/hooks/old").chmod(0o755),
    ],
    ids=["submodule-settings", "submodule-hook", "included-file", "executable-hook"],
)
def test_the_guard_covers_every_file_that_can_name_a_program(
    tmp_path: Path, touch: Callable[[Path], object]
) -> None:
    main = a_main_tree(tmp_path)
    written(tmp_path / "more", "[core]\n\tabbrev = 10\n")
    git(main, "config", "include.path", str(tmp_path / "more"))
    written(main / ".git/hooks/old", "#!/bin/sh\n")
    (main / ".git/hooks/old").chmod(0o644)
    workspace = Git(str(main))
    before = workspace.guard()
    touch(main)
    assert workspace.guard() != before
