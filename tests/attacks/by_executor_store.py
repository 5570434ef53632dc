"""Attacks by the executor on git's objects, and on the folders in which it works."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.app import App
from fairlead.jobs.context import RunOptions
from fairlead.jobs.model import JobStatus
from fairlead.vcs.errors import GitFault
from fairlead.vcs.folders import delete_folder
from tests.attacks.arena import CHECK, OTHER_PHASE, WRONG, Arena, Harm
from tests.attacks.catalog import Attacker, Defence, Expected, attack
from tests.support.execution import a_plan
from tests.support.repositories import git, written

_EXECUTOR = Attacker.EXECUTOR
_PASSES = "exit 0\n"


# -- objects -------------------------------------------------------------------------------


def _forge(arena: Arena, id_: str, kind: str, content: bytes) -> None:
    """Give an object of the repository another content, under its old name."""
    path = arena.main / ".git/objects" / id_[:2] / id_[2:]
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(f"{kind} {len(content)}\0".encode() + content))


def _raw(arena: Arena, id_: str) -> bytes:
    """The content of an object."""
    path = arena.main / ".git/objects" / id_[:2] / id_[2:]
    return zlib.decompress(path.read_bytes()).partition(b"\0")[2]


def _expect_refused(arena: Arena, run: Callable[[], object]) -> None:
    """The run ends with an error that names the object, and nothing landed."""
    try:
        run()
        said = arena.question
        assert arena.report.job.status is not JobStatus.DONE, "DONE"
    except GitFault as error:
        said = str(error)
    assert "changed the object" in said, said
    assert git(arena.main, "rev-parse", "main") == arena.base
    assert not (arena.main / "answer.txt").exists()
    assert (arena.main / "check.sh").read_text() == CHECK


@attack(
    "forged-blob",
    _EXECUTOR,
    "changes the verify script, and the object from which git would restore it",
    Expected.REFUSED,
    Defence.OBJECTS,
)
def forged_blob(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        written(arena.place / "check.sh", _PASSES)
        _forge(arena, git(arena.main, "rev-parse", "main:check.sh"), "blob", _PASSES.encode())

    arena.project()
    _expect_refused(arena, lambda: arena.run(harm, content=WRONG))


@attack(
    "forged-tree",
    _EXECUTOR,
    "changes the verify script and the tree of its base commit, so that no difference is left",
    Expected.REFUSED,
    Defence.OBJECTS,
)
def forged_tree(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        written(arena.place / "check.sh", _PASSES)
        old = bytes.fromhex(git(arena.main, "rev-parse", "main:check.sh"))
        new = bytes.fromhex(git(arena.place, "hash-object", "-w", "check.sh"))
        root = git(arena.main, "rev-parse", "main^{tree}")
        tree = _raw(arena, root)
        _forge(arena, root, "tree", tree.replace(old, new))

    arena.project()
    _expect_refused(arena, lambda: arena.run(harm, content=WRONG))


@attack(
    "forged-commit",
    _EXECUTOR,
    "changes the verify script, and gives its base commit another tree",
    Expected.REFUSED,
    Defence.OBJECTS,
)
def forged_commit(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        written(arena.place / "check.sh", _PASSES)
        git(arena.place, "add", "check.sh")
        tree, old = git(arena.place, "write-tree"), git(arena.main, "rev-parse", "main^{tree}")
        commit = _raw(arena, arena.base)
        _forge(arena, arena.base, "commit", commit.replace(old.encode(), tree.encode()))

    arena.project()
    _expect_refused(arena, lambda: arena.run(harm, content=WRONG))


@attack(
    "reviewer-forges-tree",
    Attacker.REVIEWER,
    "approves after changing the content of the tree object of the work",
    Expected.REFUSED,
    Defence.OBJECTS,
)
def reviewer_forges_tree(arena: Arena) -> None:
    def review(arena: Arena) -> dict[str, object]:
        tip = git(arena.main, "for-each-ref", "--format=%(objectname)", "refs/heads/fairlead/")
        root = git(arena.main, "rev-parse", f"{tip}^{{tree}}")
        old = bytes.fromhex(git(arena.main, "rev-parse", f"{tip}:check.sh"))
        written(arena.folder / "other", _PASSES)
        new = bytes.fromhex(git(arena.main, "hash-object", "-w", str(arena.folder / "other")))
        tree = _raw(arena, root)
        _forge(arena, root, "tree", tree.replace(old, new))
        return {"verdict": "APPROVED", "confidence": "high"}

    arena.project()
    _expect_refused(arena, lambda: arena.run(lambda _: None, review=review))


@attack(
    "forged-blob-for-later",
    _EXECUTOR,
    "changes the object of the verify script and gives up, so that the next attempt starts with it",
    Expected.REFUSED,
    Defence.OBJECTS,
)
def forged_blob_for_later(arena: Arena) -> None:
    result: dict[str, object] = {"status": "failure", "done_criteria_met": False, "error": "no"}

    def harm(arena: Arena) -> None:
        if len(arena.trial.agent.orders) > 1:
            result.clear()
        else:
            _forge(arena, git(arena.main, "rev-parse", "main:check.sh"), "blob", _PASSES.encode())

    arena.project()
    _expect_refused(arena, lambda: arena.run(harm, content=WRONG, result=result))


@attack(
    "forged-commit-graph",
    _EXECUTOR,
    "writes a commit graph that gives its base commit the tree with its own verify script",
    Expected.VERIFY_FAILS,
    Defence.PRIVATE_GIT,
)
def forged_commit_graph(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        written(arena.place / "check.sh", _PASSES)
        git(arena.place, "add", "check.sh")
        new = bytes.fromhex(git(arena.place, "write-tree"))
        old = bytes.fromhex(git(arena.main, "rev-parse", f"{arena.base}^{{tree}}"))
        git(arena.main, "commit-graph", "write", "--reachable")
        path = arena.main / ".git/objects/info/commit-graph"
        content = path.read_bytes()[:-20].replace(old, new)
        path.unlink()
        path.write_bytes(content + hashlib.sha1(content, usedforsecurity=False).digest())

    arena.project()
    arena.run(harm, content=WRONG)
    (arena.main / ".git/objects/info/commit-graph").unlink()  # it would deceive the judge as well
    arena.expect_verify_failure()


# -- folders -------------------------------------------------------------------------------


def _nest(top: Path, name: str) -> None:
    """Make folders in each other, deeper than Python recurses; one name after the other."""
    before = os.open(".", os.O_RDONLY)
    os.chdir(top)
    try:
        for _ in range(1500):
            os.mkdir(name)
            os.chdir(name)
        Path("leaf").write_text("x")
    finally:
        os.fchdir(before)
        os.close(before)


@attack(
    "worktree-as-link",
    _EXECUTOR,
    "replaces its worktree by a link to a folder of the person that has the same .git file",
    Expected.ATTEMPT_FAILS,
    Defence.LINKS,
)
def worktree_as_link(arena: Arena) -> None:
    precious = arena.home / "precious"

    def harm(arena: Arena) -> None:
        written(precious / "letter.txt", "dear\n")
        written(precious / "answer.txt", "mine\n")
        written(precious / ".git", (arena.place / ".git").read_text())
        arena.place.rename(arena.folder / "moved")
        arena.place.symlink_to(precious)

    arena.project()
    arena.run(harm, once=True)
    assert (precious / "letter.txt").read_text() == "dear\n", "a file of the person is gone"
    assert (precious / "answer.txt").read_text() == "mine\n", "a file of the person was changed"
    assert "letter.txt" not in arena.landed


@attack(
    "folder-above-worktree-as-link",
    _EXECUTOR,
    "replaces the folder of all worktrees by a link to a folder of the person",
    Expected.REFUSED,
    Defence.LINKS,
)
def folder_above_worktree_as_link(arena: Arena) -> None:
    precious = arena.home / "precious"

    def harm(arena: Arena) -> None:
        above = arena.place.parent
        written(precious / arena.place.name / "letter.txt", "dear\n")
        written(precious / arena.place.name / ".git", (arena.place / ".git").read_text())
        above.rename(arena.folder / "moved")
        above.symlink_to(precious)

    arena.project()
    with pytest.raises(GitFault, match="is a link"):
        arena.run(harm)
    assert (precious / arena.place.name / "letter.txt").read_text() == "dear\n"
    arena.expect_nothing_landed()


@attack(
    "deep-folders",
    _EXECUTOR,
    "leaves folders nested deeper than a path can be long",
    Expected.LEFT_OUT,
    Defence.CLEAN_TREE,
)
def deep_folders(arena: Arena) -> None:
    arena.project()
    arena.run(lambda arena: _nest(arena.place, "deep"), once=True)
    arena.expect_landed("answer.txt")


@attack(
    "left-locks",
    _EXECUTOR,
    "leaves lock files in every place where git looks for one",
    Expected.NO_EFFECT,
    Defence.PRIVATE_GIT,
)
def left_locks(arena: Arena) -> None:
    names = ("index", "HEAD", "config", "packed-refs", "refs/heads/main", "shallow", "ORIG_HEAD")

    def harm(arena: Arena) -> None:
        for name in names:
            written(arena.main / f".git/{name}.lock", "")

    arena.project()
    arena.run(harm)
    arena.expect_landed("answer.txt")


@attack(
    "linked-phase",
    _EXECUTOR,
    "adds a phase folder that is a link to finished work outside",
    Expected.NO_EFFECT,
    Defence.LINKS,
)
def linked_phase(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        there = arena.folder / "there"
        written(there / "03-01-PLAN.md", a_plan("03-01", "c.txt").text)
        written(there / "03-01-SUMMARY.md", "---\nstatus: complete\n---\n\n# Done\n")
        (arena.main / ".planning/phases/03-link").symlink_to(there)

    arena.project()
    arena.run(harm)
    arena.expect_done(1)


@attack(
    "keep-everything",
    _EXECUTOR,
    "plants an ignored helper in a folder that a pattern in the keep setting would cover",
    Expected.VERIFY_FAILS,
    Defence.CLEAN_TREE,
)
def keep_everything(arena: Arena) -> None:
    arena.project(
        verify="test ! -e build/ok && sh check.sh || test -e build/ok",
        files={".gitignore": "build/\n"},
        options=RunOptions(kept=("*", ".", "..", "/", "b*", "!build")),
    )
    arena.run(lambda arena: written(arena.place / "build/ok", ""), content=WRONG)
    arena.expect_verify_failure()


@attack(
    "other-letter-case",
    _EXECUTOR,
    "leaves files below .GIT, git~1 and .gitmodules, which other systems treat as git's own",
    Expected.LEFT_OUT,
    Defence.UNDECLARED,
)
def other_letter_case(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        written(arena.place / ".GIT/config", "[core]\n")
        written(arena.place / "GIT~1/config", "[core]\n")

    arena.project()
    arena.run(harm, once=True)
    assert [each for each in arena.landed if each != "answer.txt"] == []
    arena.expect_unharmed()


@attack(
    "swapped-phase-folder",
    _EXECUTOR,
    "moves the folder of another phase away and puts a finished one in its place",
    Expected.ASKED,
    Defence.TAMPER_CHECK,
)
def swapped_phase_folder(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        there = arena.folder / "there"
        written(there / "02-01-PLAN.md", a_plan("02-01", "b.txt").text)
        written(there / "02-01-SUMMARY.md", "---\nstatus: complete\n---\n\n# Done\n")
        (arena.main / OTHER_PHASE).rename(arena.folder / "moved")
        (arena.main / OTHER_PHASE).symlink_to(there)

    arena.project()
    arena.run(harm)
    arena.expect_done(0)
    assert "02-01" in arena.question, arena.question


@attack(
    "forged-subtree",
    _EXECUTOR,
    "changes a verify script in a folder, and the folder's tree in the base commit",
    Expected.REFUSED,
    Defence.OBJECTS,
)
def forged_subtree(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        written(arena.place / "tools/run.sh", _PASSES)
        old = bytes.fromhex(git(arena.main, "rev-parse", "main:tools/run.sh"))
        new = bytes.fromhex(git(arena.place, "hash-object", "-w", "tools/run.sh"))
        folder = git(arena.main, "rev-parse", "main:tools")
        _forge(arena, folder, "tree", _raw(arena, folder).replace(old, new))

    arena.project(verify="sh tools/run.sh", files={"tools/run.sh": CHECK})
    _expect_refused(arena, lambda: arena.run(harm, content=WRONG))
    assert (arena.main / "tools/run.sh").read_text() == CHECK


@attack(
    "deep-modules",
    _EXECUTOR,
    "nests folders among git's submodules deeper than Python recurses",
    Expected.NO_EFFECT,
    Defence.READING,
)
def deep_modules(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        (arena.main / ".git/modules").mkdir()
        _nest(arena.main / ".git/modules", "d")

    arena.project()
    try:
        arena.run(harm, once=True)
        arena.expect_landed("answer.txt")
    finally:
        delete_folder(str(arena.main / ".git/modules"))  # pytest could not


@attack(
    "gc-and-prune",
    _EXECUTOR,
    "expires reflogs, collects garbage and prunes worktrees in the middle of its attempt",
    Expected.NO_EFFECT,
    Defence.PRIVATE_GIT,
)
def gc_and_prune(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        git(arena.place, "reflog", "expire", "--expire=now", "--all")
        git(arena.place, "gc", "--quiet", "--prune=now")
        git(arena.place, "worktree", "prune", "--expire=now")

    arena.project()
    arena.run(harm)
    arena.expect_landed("answer.txt")


@attack(
    "private-git-folder",
    _EXECUTOR,
    "adds programs to the settings of the private folder from which Fairlead runs git",
    Expected.NO_EFFECT,
    Defence.PRIVATE_GIT,
)
def private_git_folder(arena: Arena) -> None:
    programs = (
        f"[core]\n\tfsmonitor = {arena.canary}\n\tsshCommand = {arena.canary}\n"
        f'[filter "e"]\n\tclean = {arena.canary}\n\tsmudge = {arena.canary}\n\trequired = true\n'
        f'[merge "e"]\n\tdriver = {arena.canary}\n'
    )

    def harm(arena: Arena) -> None:
        for folder in _private_folders():
            with (folder / "config").open("a") as file:
                file.write(programs)
            (folder / "hooks").mkdir(exist_ok=True)
            for name in ("post-commit", "pre-commit", "reference-transaction", "post-checkout"):
                (folder / "hooks" / name).unlink(missing_ok=True)
                (folder / "hooks" / name).symlink_to(arena.canary)
            for name in ("attributes", "info/attributes"):
                (folder / name).parent.mkdir(exist_ok=True)
                with (folder / name).open("a") as file:
                    file.write("* filter=e merge=e\n")

    arena.project()
    arena.run(harm)
    arena.expect_landed("answer.txt")


def _private_folders() -> list[Path]:
    """The folders of our own git that this process made."""
    return [
        path
        for top in ("/dev/shm", tempfile.gettempdir())
        for path in Path(top).glob(f"fairlead-git-{os.getpid()}-*")
    ]


# -- the person's own folders --------------------------------------------------------------


@attack(
    "planted-personal-step",
    _EXECUTOR,
    "leaves an unfinished step beside the person's own settings, which the next command completes",
    Expected.ASKED,
    Defence.TAMPER_CHECK,
)
def planted_personal_step(arena: Arena) -> None:
    steps = [
        arena.home / ".config/fairlead/.fairlead/intent.json",
        arena.home / ".state/fairlead/.fairlead/intent.json",
    ]

    def harm(_: Arena) -> None:
        for step in steps:
            written(step, "{}")

    guarded = App(str(arena.main)).guarded(str(arena.main))
    arena.project(options=RunOptions(guarded=guarded))
    arena.run(harm)
    arena.expect_asked(*map(str, steps))
    assert not any(step.exists() for step in steps)


# -- the main tree -------------------------------------------------------------------------


def _hidden_in_main_tree(id_: str, what: str) -> Callable[[Harm], Harm]:
    """Add an attack that changes files of the main tree and hides that from `git status`."""

    def add(hide: Harm) -> Harm:
        def harm(arena: Arena) -> None:
            if arena.place != arena.main:
                hide(arena)

        def carry_out(arena: Arena) -> None:
            arena.project()
            arena.run(harm)
            arena.expect_landed("answer.txt")
            assert git(arena.main, "status", "--porcelain", "check.sh") == "", "it is not hidden"
            shown = arena.command("phase", "verify", "1", "--approve")
            assert shown.exit_code == 6, shown
            assert "check.sh: changed, and hidden from git status" in shown.stdout, shown

        attack(id_, _EXECUTOR, what, Expected.ASKED_ABOUT_FILES, Defence.CLEAN_TREE)(carry_out)
        return hide

    return add


@_hidden_in_main_tree(
    "skip-worktree-in-main-tree",
    "replaces the verify script in the main tree and marks it skip-worktree, before phase verify",
)
def skip_worktree_in_main_tree(arena: Arena) -> None:
    written(arena.main / "check.sh", _PASSES)
    git(arena.main, "update-index", "--skip-worktree", "check.sh")


@_hidden_in_main_tree(
    "assume-unchanged-in-main-tree",
    "replaces the verify script in the main tree and marks it assume-unchanged",
)
def assume_unchanged_in_main_tree(arena: Arena) -> None:
    written(arena.main / "check.sh", _PASSES)
    git(arena.main, "update-index", "--assume-unchanged", "check.sh")


@_hidden_in_main_tree(
    "forged-stat-data-in-main-tree",
    "puts the new script's size and times beside the old blob in the index of the main tree",
)
def forged_stat_data_in_main_tree(arena: Arena) -> None:
    blob = git(arena.main, "rev-parse", "HEAD:check.sh")
    written(arena.main / "check.sh", _PASSES)
    os.utime(arena.main / "check.sh", (1, 1))  # git reads young files again
    git(arena.main, "add", "check.sh")
    index = arena.main / ".git/index"
    content, forged = index.read_bytes(), git(arena.main, "hash-object", "check.sh")
    content = content.replace(bytes.fromhex(forged), bytes.fromhex(blob))[:-20]
    index.write_bytes(content + hashlib.sha1(content).digest())  # noqa: S324


@attack(
    "person-tests",
    _EXECUTOR,
    "writes down that a person has looked at the work, where phase verify reads it",
    Expected.ASKED,
    Defence.TAMPER_CHECK,
)
def person_tests(arena: Arena) -> None:
    tests = ".planning/phases/01-work/01-UAT.md"
    text = "---\nstatus: complete\n---\n\n### 1. It is blue\nexpected: it is blue\nresult: pass\n"
    arena.project()
    arena.run(lambda _: written(arena.main / tests, text))
    arena.expect_asked(tests, restored=(tests,))
