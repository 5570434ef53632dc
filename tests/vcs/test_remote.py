"""Exchange with a shared repository: only what is new is fetched, and no ref is left behind."""

import os
from pathlib import Path

import pytest

from fairlead.vcs.errors import BadRemote, GitFault
from fairlead.vcs.remote import RemoteRepository
from tests.support.repositories import a_repository, git, written

HISTORY = 120  # objects: git unpacks fewer than a hundred, and would fetch all of these as a pack
OUT = "refs/fairlead/p/j/out/c/1"


class Exchange:
    """A project, the shared repository, and a worker's repository that pushes there."""

    def __init__(self, folder: Path) -> None:
        self.project = a_repository(folder / "project", {"a.txt": "a\n"})
        for at in range(HISTORY // 3):
            written(self.project / "a.txt", f"{at}\n")
            git(self.project, "commit", "-q", "-a", "-m", f"{at}")
        self.base = git(self.project, "rev-parse", "HEAD")
        self.shared, self.worker = folder / "shared.git", folder / "worker"
        git(folder, "clone", "-q", "--bare", str(self.project), str(self.shared))
        git(folder, "clone", "-q", str(self.shared), str(self.worker))
        git(self.worker, "config", "user.name", "Worker")
        git(self.worker, "config", "user.email", "worker@example.org")
        objects = str(self.project / ".git/objects")
        self.remote = RemoteRepository(str(self.shared), str(folder / "exchange"), objects)
        self.private = folder / "exchange"

    def pushed(self, name: str, content: bytes) -> str:
        """A commit after the base with one more file, at a ref of the shared repository."""
        git(self.worker, "checkout", "-q", "--detach", self.base)
        (self.worker / "new.txt").write_bytes(content)
        git(self.worker, "add", "new.txt")
        git(self.worker, "commit", "-q", "-m", "new")
        commit = git(self.worker, "rev-parse", "HEAD")
        git(self.worker, "push", "-q", "origin", f"{commit}:{name}")
        return commit

    @property
    def packs(self) -> list[Path]:
        """The packs of the project."""
        return list((self.project / ".git/objects/pack").glob("*.pack"))


@pytest.fixture
def exchange(tmp_path: Path) -> Exchange:
    return Exchange(tmp_path)


@pytest.mark.parametrize("is_kept", [True, False])
def test_only_what_is_new_is_fetched_after_a_commit_was_kept(
    exchange: Exchange, is_kept: bool
) -> None:
    commit = exchange.pushed(OUT, b"new\n")
    if is_kept:
        exchange.remote.keep("base", exchange.base)

    exchange.remote.fetch(OUT)

    assert exchange.remote.commit_at(OUT)[0] == commit
    assert bool(exchange.packs) is not is_kept  # the whole history comes as one pack


def test_a_fetched_ref_can_be_forgotten_twice(exchange: Exchange) -> None:
    exchange.pushed(OUT, b"new\n")
    exchange.remote.fetch(OUT)
    assert exchange.remote.fetched("refs/fairlead/p/") == (OUT,)

    for _ in range(2):
        exchange.remote.forget([OUT])

    assert exchange.remote.fetched("refs/fairlead/p/") == ()
    assert exchange.remote.commit_at(OUT) == ("", "", ())


def test_objects_alone_leave_no_ref(exchange: Exchange) -> None:
    commit = exchange.pushed(OUT, b"new\n")

    exchange.remote.fetch_objects(OUT)

    assert git(exchange.project, "cat-file", "-t", commit) == "commit"
    assert exchange.remote.fetched("refs/") == ()


def test_refs_whose_objects_were_pruned_are_no_problem(exchange: Exchange) -> None:
    exchange.pushed(OUT, b"new\n")
    exchange.remote.fetch(OUT)  # a coordinator that was killed leaves this ref
    exchange.remote.keep("base", exchange.remote.object_of(OUT))
    git(exchange.project, "gc", "--quiet", "--prune=now")
    other = OUT.replace("/c/", "/d/")
    commit = exchange.pushed(other, b"other\n")

    exchange.remote.fetch(other)
    exchange.remote.fetch(OUT)

    assert exchange.remote.commit_at(other)[0] == commit
    assert exchange.remote.commit_at(OUT)[2] == (exchange.base,)
    exchange.remote.forget(exchange.remote.fetched("refs/fairlead/"))


def test_objects_larger_than_the_limit_are_not_fetched(exchange: Exchange) -> None:
    exchange.remote.keep("base", exchange.base)
    exchange.pushed(OUT, os.urandom(300_000))

    with pytest.raises(GitFault):
        exchange.remote.fetch(OUT, largest=200_000)
    left = (exchange.project / ".git/objects").rglob("tmp_*")
    assert max((path.stat().st_size for path in left), default=0) < 200_000
    exchange.remote.fetch(OUT, largest=400_000)

    assert exchange.remote.commit_at(OUT)[2] == (exchange.base,)


def test_an_object_that_git_would_not_write_is_not_fetched(exchange: Exchange) -> None:
    exchange.remote.keep("base", exchange.base)
    tree = git(exchange.worker, "rev-parse", f"{exchange.base}^{{tree}}")
    written(exchange.worker / "commit", f"tree {tree}\nparent {exchange.base}\n\nby nobody\n")
    words = ("-t", "commit", "-w", "--literally", "commit")
    commit = git(exchange.worker, "hash-object", *words)
    git(exchange.worker, "push", "-q", "origin", f"{commit}:{OUT}")

    with pytest.raises(GitFault, match="missingAuthor"):
        exchange.remote.fetch(OUT, largest=1 << 20)


def test_only_refs_below_the_prefix_are_listed(exchange: Exchange) -> None:
    commit = exchange.pushed(OUT, b"new\n")
    exchange.pushed(f"refs/heads/{OUT}", b"of somebody else\n")

    assert exchange.remote.list("refs/fairlead/p/") == {OUT: commit}


def test_refs_whose_names_are_too_long_for_one_command_are_deleted(exchange: Exchange) -> None:
    long = "/".join(["n" * 200] * 15)
    names = [f"refs/fairlead/p/{at}/{long}" for at in range(900)]
    listed = "".join(f"create {name} {exchange.base}\n" for name in names)
    packed = "".join(f"{exchange.base} {name}\n" for name in sorted(names))
    assert len(listed) > 2 << 20  # more than the system accepts as arguments
    written(exchange.shared / "packed-refs", f"# pack-refs with: sorted\n{packed}")

    exchange.remote.delete([*names, "refs/fairlead/p/gone"])

    assert exchange.remote.list("refs/fairlead/p/") == {}


def test_a_text_with_half_a_character_can_be_stored(exchange: Exchange) -> None:
    assert exchange.remote.text(exchange.remote.store("a \ud800")) == "a ?"


@pytest.mark.parametrize("url", ["ext::sh -c true", "::x", "a+b.c-d::x", "--upload-pack=x", ""])
def test_an_address_that_starts_a_program_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadRemote):
        RemoteRepository(url, str(tmp_path / "private"), str(tmp_path))


def test_an_address_with_two_colons_elsewhere_is_allowed(tmp_path: Path) -> None:
    assert RemoteRepository("ssh://[::1]/a.git", str(tmp_path / "private"), str(tmp_path)).url
