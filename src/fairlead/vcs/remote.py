"""Exchange objects with another repository, for calls that run on other machines.

Git runs in a private bare folder of ours, so that nothing an agent wrote into a repository's
settings or hooks is used; only the objects are those of the repository itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import timedelta

from fairlead.core.process import ExitKind, ProcessLimits, environment_of, program, run, search_path
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
_DELETED_TOGETHER = 1000  # refs in one command


class RemoteRepository:
    """A repository on another machine, and the object store that exchanges with it."""

    def __init__(self, url: str, private: str, objects: str) -> None:
        if not url or url.startswith("-") or "::" in url or "\n" in url:
            raise BadRemote(url)
        self.url = url
        self._folder = private
        self._objects = objects
        self._program = program("git")
        make_private_folders(private)
        if not os.path.exists(os.path.join(private, "HEAD")):
            self._git("init", "--quiet", "--bare", private)

    def push(self, objects: Mapping[str, str]) -> None:
        """Create refs there; a ref that already points elsewhere is an error."""
        self._git("push", "--quiet", "--no-verify", "--", self.url, *_refspecs(objects))

    def fetch(self, *names: str) -> None:
        """Get the objects of refs; their names are kept in our private folder."""
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        specs = [f"+{name}:{name}" for name in names]
        self._git("fetch", *options, "--", self.url, *specs)

    def delete(self, names: Iterable[str]) -> None:
        """Delete refs there that exist; a ref that is gone already is no problem."""
        specs = [f":{name}" for name in names]
        for at in range(0, len(specs), _DELETED_TOGETHER):
            some = specs[at : at + _DELETED_TOGETHER]
            self._git("push", "--quiet", "--no-verify", "--", self.url, *some, may_fail=True)

    def list(self, prefix: str) -> dict[str, str]:
        """The refs there below a prefix, and their objects."""
        listed = self._git("ls-remote", "--quiet", "--", self.url, f"{prefix}*")
        pairs = (line.split("\t", 1) for line in listed.splitlines() if "\t" in line)
        return {name: object_id for object_id, name in pairs}

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
        content = text.encode("utf-8", "surrogateescape")
        return self._git("hash-object", "-w", "--stdin", stdin=content).strip()

    def text(self, object_id: str) -> str:
        """A stored text."""
        return self._git("cat-file", "blob", object_id)

    def _git(self, *words: str, stdin: bytes = b"", may_fail: bool = False) -> str:
        options = [word for pair in _OPTIONS for word in ("-c", pair)]
        variables = {**_FIXED_VARIABLES, "GIT_OBJECT_DIRECTORY": self._objects}
        variables |= {} if words[0] == "init" else {"GIT_DIR": self._folder}
        result = run(
            [self._program, *options, *words],
            folder=self._folder,
            environment=environment_of(_PASSED_VARIABLES, PATH=search_path(), **variables),
            limits=_LIMITS,
            stdin=stdin,
        )
        if result.ended is not ExitKind.EXITED:
            raise GitFault(words[0], f"ended by its limits ({result.ended})")
        if result.code != 0 and not may_fail:
            raise GitFault(words[0], result.errors.decode("utf-8", "replace").strip()[-500:])
        return os.fsdecode(result.output)


def _refspecs(objects: Mapping[str, str]) -> list[str]:
    return [f"{object_id}:{name}" for name, object_id in objects.items()]
