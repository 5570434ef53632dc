"""Exchange objects with another repository, for calls that run on other machines.

Git runs in a private bare folder of ours, so that nothing an agent wrote into a repository's
settings or hooks is used; only the objects are those of the repository itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import timedelta

from fairlead.core.patterns import lazy_pattern
from fairlead.core.process import ExitKind, ProcessLimits, environment_of, program, run, search_path
from fairlead.core.values import replace
from fairlead.store.digests import entries_of
from fairlead.store.files import make_private_folders
from fairlead.vcs.errors import BadRemote, GitFault

_PASSED_VARIABLES = (
    *("HOME", "TMPDIR", "USER", "LOGNAME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND"),
    *("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
_FIXED_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "LC_ALL": "C.UTF-8",
}
_OPTIONS = ("core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false")
_LIMITS = ProcessLimits(wall=timedelta(minutes=10), output_bytes=64 << 20)
_HELPER = lazy_pattern(r"[A-Za-z0-9+.-]*::")  # names a program that git starts
_DELETED_TOGETHER = 1000  # refs in one command
_LONGEST_LINE = 100_000  # characters of their names, before the last one
_TEMPORARY = ("tmp_pack_", "tmp_obj_")
_NO_REF = "refs/fairlead/none"
_KEPT = "refs/kept"  # what we have, so that git fetches and checks only what is new


class RemoteRepository:
    """A repository on another machine, and the object store that exchanges with it."""

    def __init__(self, url: str, private: str, objects: str) -> None:
        if not url or url.startswith("-") or _HELPER.match(url) or "\n" in url:
            raise BadRemote(url)
        self.url = url
        self._folder = private
        self._objects = objects
        self._program = program("git")
        make_private_folders(private)
        if not os.path.exists(os.path.join(private, "HEAD")):
            self._git("init", "--quiet", "--bare", private)

    def _lost(self) -> list[str]:
        """Our refs whose objects somebody pruned: with one of them, every fetch fails."""
        listed = self._git("for-each-ref", "--format=%(objectname) %(refname)")
        words = ("cat-file", "--batch-check=%(objecttype) %(rest)")
        found = self._git(*words, stdin=listed.encode())
        pairs = zip(listed.splitlines(), found.splitlines(), strict=True)
        return [ref.split(" ")[1] for ref, each in pairs if each.endswith(" missing")]

    def answers(self) -> bool:
        """Whether the repository there can be read now."""
        try:
            self._git("ls-remote", "--quiet", "--", self.url, _NO_REF)
        except GitFault:
            return False
        return True

    def push(self, objects: Mapping[str, str]) -> None:
        """Create refs there; a ref that already points elsewhere is an error."""
        self._git("push", "--quiet", "--no-verify", "--", self.url, *_refspecs(objects))

    def keep(self, name: str, commit: str) -> None:
        """Remember a commit that we have, in place of the last one of this name.

        Without one, the first fetch would get the whole history again.
        """
        self._git("update-ref", f"{_KEPT}/{name}", commit, may_fail=True)

    def fetch(self, *names: str, largest: int = 0) -> None:
        """Get the objects of refs, and the refs themselves until `forget`.

        With `largest`, no file that git writes for them may have more bytes, and an object that
        git itself would not write is an error.
        """
        try:
            self._fetch([f"+{name}:{name}" for name in names], largest)
        except GitFault:
            if largest:
                self._remove_cut_off(largest)
            raise

    def _remove_cut_off(self, size: int) -> None:
        """Remove the temporary files that git could not finish: with the limit, they fill a disk.

        Those of another fetch that still runs are smaller, or will never be finished either.
        """
        folders = [
            each.path for each in entries_of(self._objects) if each.is_dir(follow_symlinks=False)
        ]
        for each in [entry for folder in folders for entry in entries_of(folder)]:
            if each.name.startswith(_TEMPORARY):
                _remove_of_size(each.path, size)

    def fetch_objects(self, *names: str) -> None:
        """Get only the objects of refs."""
        self._fetch(names)

    def _fetch(self, specs: Iterable[str], largest: int = 0) -> None:
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        words = ("fetch", *options, "--", self.url, *specs)
        try:
            self._git(*words, largest=largest)
        except GitFault:
            if not (lost := self._lost()):
                raise
            self.forget(lost)
            self._git(*words, largest=largest)

    def delete(self, names: Iterable[str]) -> None:
        """Delete refs there that exist; a ref that is gone already is no problem."""
        some: list[str] = []
        for name in (*names, ""):
            length = sum(map(len, some))
            if some and (not name or len(some) == _DELETED_TOGETHER or length > _LONGEST_LINE):
                self._git("push", "--quiet", "--no-verify", "--", self.url, *some, may_fail=True)
                some = []
            some.append(f":{name}")

    def fetched(self, prefix: str) -> tuple[str, ...]:
        """The fetched refs below a prefix that were not forgotten."""
        return tuple(self._git("for-each-ref", "--format=%(refname)", prefix).split())

    def forget(self, names: Iterable[str]) -> None:
        """Delete fetched refs here: git looks at each one in every fetch."""
        if deletions := "".join(f"delete {name}\n" for name in names):
            self._git("update-ref", "--no-deref", "--stdin", stdin=deletions.encode())

    def list(self, prefix: str) -> dict[str, str]:
        """The refs there below a prefix, and their objects."""
        listed = self._git("ls-remote", "--quiet", "--", self.url, f"{prefix}*")
        pairs = (line.split("\t", 1) for line in listed.splitlines() if "\t" in line)
        # Git also lists refs/heads/refs/fairlead/… for refs/fairlead/.
        return {name: object_id for object_id, name in pairs if name.startswith(prefix)}

    def object_of(self, name: str) -> str:
        """The object of a fetched ref; empty if there is none."""
        return self._git("rev-parse", "--verify", "--quiet", name, may_fail=True).strip()

    def commit_at(self, name: str) -> tuple[str, str, tuple[str, ...]]:
        """The commit of a fetched ref, its tree and its parents; empty if it holds no commit."""
        shown = self._git("rev-list", "--no-walk", "--format=%H %T %P", name, "--", may_fail=True)
        words = shown.split("\n", 1)[-1].split()
        return (words[0], words[1], tuple(words[2:])) if words else ("", "", ())

    def store(self, text: str) -> str:
        """Store a text as an object."""
        content = text.encode("utf-8", "replace")
        return self._git("hash-object", "-w", "--stdin", stdin=content).strip()

    def text(self, object_id: str) -> str:
        """A stored text."""
        return self._git("cat-file", "blob", object_id)

    def _git(
        self, *words: str, stdin: bytes = b"", may_fail: bool = False, largest: int = 0
    ) -> str:
        strict = ("fetch.fsckObjects=true",) if largest else ()
        options = [word for pair in (*_OPTIONS, *strict) for word in ("-c", pair)]
        variables = {**_FIXED_VARIABLES, "GIT_OBJECT_DIRECTORY": self._objects}
        variables |= {} if words[0] == "init" else {"GIT_DIR": self._folder}
        result = run(
            [self._program, *options, *words],
            folder=self._folder,
            environment=environment_of(_PASSED_VARIABLES, PATH=search_path(), **variables),
            limits=replace(_LIMITS, file_bytes=largest),
            stdin=stdin,
        )
        if result.ended is not ExitKind.EXITED:
            raise GitFault(words[0], f"ended by its limits ({result.ended})")
        if result.code != 0 and not may_fail:
            raise GitFault(words[0], result.errors.decode("utf-8", "replace").strip()[-500:])
        return os.fsdecode(result.output)


def _remove_of_size(path: str, size: int) -> None:
    with suppress(FileNotFoundError):
        if os.lstat(path).st_size == size:
            os.unlink(path)


def _refspecs(objects: Mapping[str, str]) -> list[str]:
    return [f"{object_id}:{name}" for name, object_id in objects.items()]
