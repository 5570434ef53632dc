"""Git as a workspace: attempts apart from each other, and landings that can be repeated."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairlead.core.process import ExitKind, ProcessResult
from fairlead.vcs import refs
from fairlead.vcs.errors import GitFault, GitTooOld, LandingBlocked
from fairlead.vcs.git import Git
from tests.support.repositories import a_repository, commands_of_git, git, written

IGNORED = ".planning"


@pytest.fixture(params=["files", "tables"])
def main(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    repository = a_repository(tmp_path / "main", {"a.txt": "one\n", "b.txt": "two\n"})
    if request.param == "tables":
        keep_refs_in_tables(repository)
    return repository


def keep_refs_in_tables(repository: Path) -> None:
    """As git 3 does. An older git knows no tables; then their folder alone makes us ask it."""
    words = ["git", "refs", "migrate", "--ref-format=reftable"]
    subprocess.run(words, cwd=repository, check=False, capture_output=True)
    (repository / ".git/reftable").mkdir(exist_ok=True)


def main_of(place: Path) -> Path:
    return place.parent.parent / "main"


def an_attempt(workspace: Git, place: Path, files: dict[str, str], branch: str) -> str:
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(place), base, branch)
    for name, text in files.items():
        written(place / name, text)
    return workspace.keep(
        workspace.tree_of(str(place), base, IGNORED), base, branch, "feat(01-01): it"
    )


def test_an_attempt_gets_its_own_clean_worktree(main: Path, tmp_path: Path) -> None:
    workspace = Git(str(main))
    commit = an_attempt(workspace, tmp_path / "w" / "a1", {"c.txt": "new\n"}, "fairlead/j/a1")
    assert not (main / "c.txt").exists()
    assert [(each.path, each.kind) for each in workspace.changes("HEAD", commit)] == [
        ("c.txt", "A")
    ]


def test_the_branch_contains_commits_of_the_agent(main: Path, tmp_path: Path) -> None:
    workspace, place = Git(str(main)), tmp_path / "w" / "a1"
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(place), base, "fairlead/j/a1")
    written(place / "own.txt", "by the agent\n")
    git(place, "add", "own.txt")
    git(place, "commit", "-qm", "its own")
    theirs = git(place, "rev-parse", "HEAD")
    written(place / "left.txt", "left behind\n")
    commit = workspace.keep(
        workspace.tree_of(str(place), base, IGNORED), base, "fairlead/j/a1", "feat: it"
    )
    assert workspace.is_ancestor(theirs, "fairlead/j/a1")
    assert git(main, "rev-list", "--count", f"{base}..{commit}") == "1"
    assert {each.path for each in workspace.changes(base, commit)} == {"own.txt", "left.txt"}


def _files_of(place: Path) -> dict[str, str]:
    paths = (path for path in place.rglob("*") if path.name != ".git" and not path.is_dir())
    return {str(path.relative_to(place)): path.read_text() for path in paths}


def _as_it_is(place: Path) -> None:
    """The agent changes nothing."""


def _littered(place: Path) -> None:
    written(place / ".gitignore", "*.pyc\n")
    written(place / "b.pyc", "planted\n")
    git(place, "init", "-q", "nested")
    os.mkfifo(place / "pipe")
    written(place / "a.txt", "six\n")
    os.utime(place / "a.txt", ns=(1, 1))
    git(place, "update-index", "--skip-worktree", "b.txt")
    (place / "b.txt").unlink()
    place.chmod(0o755)


def _linked(place: Path) -> None:
    place.rename(place.with_name("moved"))
    place.symlink_to(place.with_name("moved"))


def _locked(place: Path) -> None:
    (place / "d").chmod(0o500)
    written(place / "a.txt", "six\n")


def _cut_off(place: Path) -> None:
    (place / ".git").unlink()


@pytest.mark.parametrize("leave", [_as_it_is, _littered, _linked, _locked, _cut_off])
def test_the_worktree_of_landed_work_is_reused_as_if_it_were_new(
    main: Path, tmp_path: Path, leave: Callable[[Path], None]
) -> None:
    written(main / "d/e.txt", "three\n")
    git(main, "add", "--all")
    git(main, "commit", "-qm", "more")
    workspace, first, second = Git(str(main)), tmp_path / "w/a1", tmp_path / "w/a2"
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(first), base, "fairlead/j/a1")
    seen = (first / "b.txt").stat()
    leave(first)
    workspace.put_away({str(first): "fairlead/j/a1"}, frozenset(), reuses=True)
    git(main, "rm", "-q", "d/e.txt")
    written(main / "a.txt", "four\n")
    git(main, "commit", "-qam", "next")
    workspace.prepare(str(second), workspace.commit_of("HEAD"), "fairlead/j/a2")
    assert _files_of(second) == {"a.txt": "four\n", "b.txt": "two\n"}
    assert {path.name for path in second.iterdir()} == {".git", "a.txt", "b.txt"}
    assert git(second, "status", "--porcelain", "--branch") == "## fairlead/j/a2"
    assert not os.path.lexists(first)
    if refs.is_readable(str(main / ".git")):
        assert stat.S_IMODE(second.stat().st_mode) == 0o700
        assert leave is not _as_it_is or (second / "b.txt").stat().st_ino == seen.st_ino
    if leave is _linked:
        assert _files_of(first.with_name("moved"))
    workspace.put_away({str(second): "fairlead/j/a2"}, frozenset(), reuses=True)
    workspace.put_away({str(second): "fairlead/j/a2"}, frozenset())
    assert not second.exists()
    assert git(main, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert git(main, "branch", "--format=%(refname:short)") == "main"


def test_a_ref_lock_of_a_killed_git_is_removed(main: Path, tmp_path: Path) -> None:
    branch = "fairlead/j/a1"
    tables = main / ".git/reftable"
    lock = tables / "tables.list" if tables.exists() else main / f".git/refs/heads/{branch}"
    workspace, place = Git(str(main)), tmp_path / "w" / "a1"
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(place), base, branch)
    written(place / "c.txt", "new\n")
    written(lock.with_name(f"{lock.name}.lock"), "")
    commit = workspace.keep(workspace.tree_of(str(place), base, IGNORED), base, branch, "feat: it")
    assert workspace.commit_of(f"refs/heads/{branch}") == commit
    assert not lock.with_name(f"{lock.name}.lock").exists()


def test_a_worktree_without_an_index_is_still_saved(main: Path, tmp_path: Path) -> None:
    workspace, place = Git(str(main)), tmp_path / "w" / "a1"
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(place), base, "fairlead/j/a1")
    (main / ".git/worktrees/a1/index").unlink()
    written(place / "left.txt", "left behind\n")
    tree = workspace.tree_of(str(place), base, IGNORED)
    assert [each.path for each in workspace.changes(base, tree.id)] == ["left.txt"]


def test_a_conflicting_merge_reports_both_sides_and_changes_nothing(
    main: Path, tmp_path: Path
) -> None:
    workspace = Git(str(main))
    commit = an_attempt(workspace, tmp_path / "w" / "a1", {"a.txt": "theirs\n"}, "fairlead/j/a1")
    written(main / "a.txt", "ours\n")
    git(main, "commit", "-qam", "ours")
    before = git(main, "rev-parse", "HEAD")
    merged = workspace.merged(before, commit, "merge")
    assert merged.commit == ""
    assert [(each.path, each.ours, each.theirs) for each in merged.clashes] == [
        ("a.txt", "ours\n", "theirs\n")
    ]
    assert git(main, "status", "--porcelain") == ""
    assert git(main, "rev-parse", "HEAD") == before


def test_a_merge_into_an_unknown_commit_is_an_error(main: Path) -> None:
    workspace = Git(str(main))
    with pytest.raises(GitFault, match="merge-tree"):
        workspace.merged("", workspace.commit_of("HEAD"), "merge")


def test_landing_moves_branch_and_files_and_can_be_repeated(main: Path, tmp_path: Path) -> None:
    workspace = Git(str(main))
    commit = an_attempt(workspace, tmp_path / "w" / "a1", {"c.txt": "new\n"}, "fairlead/j/a1")
    old = workspace.commit_of("HEAD")
    new = workspace.merged(old, commit, "merge").commit
    workspace.land("main", old, new, IGNORED)
    workspace.land("main", old, new, IGNORED)
    assert (main / "c.txt").read_text() == "new\n"
    assert git(main, "rev-parse", "HEAD") == new
    assert git(main, "status", "--porcelain") == ""


@pytest.mark.parametrize("half", [{"c.txt": "new\n"}, {"a.txt": "changed\n"}, {}])
def test_a_killed_landing_is_completed(main: Path, tmp_path: Path, half: dict[str, str]) -> None:
    workspace = Git(str(main))
    made = {"c.txt": "new\n", "a.txt": "changed\n", "deep/er/d.txt": "d\n"}
    commit = an_attempt(workspace, tmp_path / "w" / "a1", made, "fairlead/j/a1")
    old = workspace.commit_of("HEAD")
    new = workspace.merged(old, commit, "merge").commit
    for name, text in (half or {"deep/er/d.txt": "d\n"}).items():
        written(main / name, text)
    (main / ".git" / "index.lock").touch()  # of a git that was killed
    workspace.land("main", old, new, IGNORED)
    assert git(main, "rev-parse", "HEAD") == new
    assert git(main, "status", "--porcelain") == ""


def test_a_change_of_the_user_stops_the_landing(main: Path, tmp_path: Path) -> None:
    workspace = Git(str(main))
    commit = an_attempt(workspace, tmp_path / "w" / "a1", {"a.txt": "changed\n"}, "fairlead/j/a1")
    old = workspace.commit_of("HEAD")
    new = workspace.merged(old, commit, "merge").commit
    written(main / "a.txt", "a person is writing\n")
    with pytest.raises(LandingBlocked):
        workspace.land("main", old, new, IGNORED)
    assert (main / "a.txt").read_text() == "a person is writing\n"
    assert git(main, "rev-parse", "HEAD") == old


@pytest.mark.parametrize(
    ("touch", "named"),
    [
        (lambda place: git(place, "branch", "extra"), "refs/heads/extra"),
        (lambda place: git(place, "config", "core.pager", "evil"), ".git/config"),
        (
            lambda place: written(main_of(place) / ".git/hooks/pre-commit", "x"),
            ".git/hooks/pre-commit",
        ),
        (lambda place: git(main_of(place), "symbolic-ref", "HEAD", "refs/heads/x"), "HEAD"),
    ],
)
def test_the_guard_covers_refs_configuration_hooks_and_head(
    main: Path, tmp_path: Path, touch, named
) -> None:
    workspace, place = Git(str(main)), tmp_path / "w" / "a1"
    workspace.prepare(str(place), "HEAD", "fairlead/j/a1")
    before = workspace.guard()
    touch(place)
    after = workspace.guard()
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == {named}


def test_hooks_and_filters_of_a_repository_are_not_run_by_our_git(
    main: Path, tmp_path: Path
) -> None:
    hook = main / ".git/hooks/post-checkout"
    written(hook, f"#!/bin/sh\ntouch {tmp_path}/canary\n")
    hook.chmod(0o755)
    an_attempt(Git(str(main)), tmp_path / "w" / "a1", {"c.txt": "new\n"}, "fairlead/j/a1")
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("command", ["add", "commit"])
def test_a_document_that_is_replaced_while_git_reads_it_is_read_again(
    main: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    run = Git._run
    failed: list[tuple[str, ...]] = []

    def replaced(self: Git, *words: str, **options: Any) -> ProcessResult:
        if words[0] == command and len(failed) < 2:
            failed.append(words)
            why = b"error: short read while indexing .planning/STATE.md"
            return ProcessResult(ExitKind.EXITED, 128, b"", why)
        return run(self, *words, **options)

    workspace = Git(str(main))
    written(main / ".planning/STATE.md", "state\n")
    monkeypatch.setattr(Git, "_run", replaced)
    assert workspace.commit_paths([".planning/STATE.md"], "docs: state")
    assert len(failed) == 2


def test_documents_are_committed_without_staged_changes_of_the_user(main: Path) -> None:
    workspace = Git(str(main))
    written(main / ".planning/STATE.md", "state\n")
    written(main / "b.txt", "staged by a person\n")
    git(main, "add", "b.txt")
    made = workspace.commit_paths([".planning/STATE.md"], "docs: state")
    assert git(main, "show", "--name-only", "--format=", made) == ".planning/STATE.md"
    assert git(main, "diff", "--cached", "--name-only") == "b.txt"
    assert workspace.commit_paths([".planning/STATE.md"], "docs: again") == ""


def test_without_an_identity_commits_carry_fairleads_name(main: Path, tmp_path: Path) -> None:
    git(main, "config", "--unset", "user.name")
    workspace = Git(str(main))
    commit = an_attempt(workspace, tmp_path / "w" / "a1", {"c.txt": "new\n"}, "fairlead/j/a1")
    assert workspace.uses_own_identity
    assert git(main, "show", "-s", "--format=%an", commit) == "Fairlead"


def test_an_old_git_is_refused(main: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which("git")
    old = tmp_path / "bin" / "git"
    written(
        old,
        f'#!/bin/sh\ncase "$*" in *--version*) echo git version 2.30.2;; *) exec {real} "$@";; esac\n',
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    with pytest.raises(GitTooOld, match=r"2\.30"):
        Git(str(main)).require_recent()


def test_ancestry_is_asked_once_for_a_growing_branch(
    main: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Git(str(main))
    commits = [_committed(main, number) for number in range(5)]
    assert all(workspace.is_ancestor(each, commits[-1]) for each in commits)
    newest = _committed(main, 5)
    asked = commands_of_git(monkeypatch)
    assert all(workspace.is_ancestor(each, newest) for each in commits)
    assert len(asked) == 1


def test_commits_that_wait_for_a_branch_are_looked_up_together(
    main: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Git(str(main))
    waiting = [
        an_attempt(
            workspace, tmp_path / "w" / f"a{each}", {f"{each}.txt": "x\n"}, f"fairlead/j/a{each}"
        )
        for each in range(4)
    ]
    old = workspace.commit_of("HEAD")
    assert not any(workspace.is_ancestor(each, old) for each in waiting)
    elsewhere = Git(str(main))
    landed = elsewhere.merged(old, waiting[0], "merge").commit
    new = elsewhere.merged(landed, waiting[1], "merge").commit
    asked = commands_of_git(monkeypatch)
    assert [workspace.is_ancestor(each, new) for each in waiting] == [True, True, False, False]
    assert len(asked) == 1
    assert not any(workspace.is_ancestor(each, old) for each in waiting[:2])
    assert [workspace.is_ancestor(each, new) for each in waiting] == [True, True, False, False]


def test_a_branch_that_was_reset_does_not_contain_its_old_commits(main: Path) -> None:
    workspace = Git(str(main))
    base = workspace.commit_of("HEAD")
    first = _committed(main, 0)
    second = _committed(main, 1)
    assert workspace.is_ancestor(first, second)
    git(main, "reset", "-q", "--hard", base)
    other = _committed(main, 2)
    assert not workspace.is_ancestor(first, other)
    assert workspace.is_ancestor(base, other)


@pytest.mark.parametrize(
    "said", ["refs/heads/../../stray", "{stray}", "stray", "refs/heads/a\0b", "refs/" + "x" * 5000]
)
def test_a_head_that_names_no_ref_has_no_commit(main: Path, said: str) -> None:
    """It lies where an agent can write: nothing outside of the refs is read by it."""
    written(main / ".git/stray", "1" * 40)
    written(main / ".git/HEAD", f"ref: {said.format(stray=main / '.git/stray')}\n")
    assert refs.head_of(str(main / ".git"), str(main / ".git")) == ""


def _committed(main: Path, number: int) -> str:
    written(main / f"more-{number}.txt", "more\n")
    git(main, "add", "-A")
    git(main, "commit", "-qm", f"more {number}")
    return Git(str(main)).commit_of("HEAD")
