"""A private git folder: our own git calls read nothing that an agent can have written.

Git reads its settings, attributes and hooks from files that every process of the user can change,
and several of them name programs that git starts. `TrustedSettings` are the settings as they were
before any agent of this process started. `PrivateFolder` is a git folder outside the repository
with these settings, and with links to the objects and refs of the repository. A driver whose
program lies inside the project is left out, because an agent can change that program.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import uuid
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress

from fairlead.core.concurrency import Mutex
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass

_LARGEST = 4 << 20  # bytes of a file with attributes or patterns
_INFO = ("attributes", "exclude", "sparse-checkout")  # in git's own `info` folder
_LINKS = ("objects", "refs", "packed-refs", "logs", "reftable", "shallow", "lfs", "rr-cache")
_LEFT_OUT = lazy_pattern(
    r"(?:include|includeif|alias|gpg|trailer|core\.(?:worktree|bare|attributesfile|excludesfile|"
    r"fsmonitor|hookspath|pager|editor|splitindex|untrackedcache)|extensions\.worktreeconfig"
    r")(?:\.|$)"
)
_DRIVER = lazy_pattern(r"(?P<driver>(?:filter|merge|diff)\..+)\.(?P<what>[^.]+)", re.DOTALL)
_STARTS_PROGRAM = ("clean", "smudge", "process", "driver", "textconv", "command")
_WORD_BREAK = lazy_pattern(r"[\s;|&()<>'\"`=$]+")
_PREFIX = "fairlead-git-"
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\b": "\\b"}


@dataclass(frozen=True, slots=True)
class TrustedSettings:
    """The settings of git at one moment, from every file that git reads."""

    entries: tuple[tuple[str, str | None], ...]  # a key without a value is true
    files: frozenset[str]  # the absolute paths of the files they come from
    contents: Mapping[str, bytes]  # attributes and patterns, by their name in the private folder
    left_out: tuple[str, ...] = ()  # drivers whose program lies inside the project
    hooks: str = ""  # the folder with the user's own hooks, if it is not git's

    def value(self, key: str) -> str:
        """The last value of a key; empty if it is not set."""
        return next((value or "" for name, value in reversed(self.entries) if name == key), "")

    @property
    def text(self) -> str:
        """The settings as a configuration file."""
        return "".join(_lines(key, value) for key, value in self.entries)


def read_settings(listed: str, common: str, folders: Iterable[str]) -> TrustedSettings:
    """The settings in the output of `git config --list --show-origin -z`.

    `folders` are those that an agent may change: the project and its repository.
    """
    fields = listed.split("\0")
    files, entries = set(), []
    for origin, entry in zip(fields[::2], fields[1::2], strict=False):
        if origin.startswith("file:"):
            files.add(os.path.join(os.path.dirname(common), origin.removeprefix("file:")))
        key, separator, value = entry.partition("\n")
        entries.append((key, value if separator else None))
    inside = tuple(os.path.realpath(folder) for folder in folders)
    unsafe = {
        match["driver"]
        for key, value in entries
        if (match := _DRIVER.fullmatch(key))
        and match["what"] in _STARTS_PROGRAM
        and _names_file_in(value or "", inside)
    }
    kept = tuple(
        (key, value)
        for key, value in entries
        if not _LEFT_OUT.match(key)
        and not ((match := _DRIVER.fullmatch(key)) and match["driver"] in unsafe)
    )
    personal = {"attributes": "core.attributesfile", "ignore": "core.excludesfile"}
    values = dict(entries)
    contents = {f"info/{name}": _content(os.path.join(common, "info", name)) for name in _INFO}
    for name, key in personal.items():
        path = os.path.expanduser(values.get(key) or os.path.join(personal_folder(), name))
        files.add(path)
        contents[name] = _content(path)
    hooks = os.path.expanduser(values.get("core.hookspath") or "")
    return TrustedSettings(kept, frozenset(files), contents, tuple(sorted(unsafe)), hooks)


def personal_folder() -> str:
    """The folder with the user's own settings of git."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "git")


def _names_file_in(command: str, folders: tuple[str, ...]) -> bool:
    """Whether a command line names a file inside one of these folders."""
    for word in _WORD_BREAK.split(command):
        if os.path.isabs(word):
            path = os.path.realpath(word) + os.sep
            if any(path.startswith(folder + os.sep) for folder in folders):
                return True
        elif "/" in word or "." in word:  # a plain word is a program on the search path
            if any(os.path.isfile(os.path.join(folder, word)) for folder in folders):
                return True
    return False


def _lines(key: str, value: str | None) -> str:
    section, _, rest = key.partition(".")
    name, _, part = rest[::-1].partition(".")
    part, name = part[::-1], name[::-1]
    quoted = part.replace("\\", "\\\\").replace('"', '\\"')
    header = f'[{section} "{quoted}"]' if part else f"[{section}]"
    if value is None:
        return f"{header}\n\t{name}\n"
    escaped = "".join(_ESCAPES.get(character, character) for character in value)
    return f'{header}\n\t{name} = "{escaped}"\n'


class PrivateFolder:
    """The private git folder of one repository; made on first use, and again if it was changed."""

    def __init__(self, settings: TrustedSettings, common: str, git_folder: str) -> None:
        self._common, self._git_folder = common, git_folder
        self._made, self._making = "", Mutex()
        own = (
            ("core.bare", "false"),
            ("core.fsmonitor", "false"),
            ("core.untrackedcache", "false"),
            ("core.splitindex", "false"),
            ("core.trustctime", "true"),
            ("core.checkstat", "default"),
        )
        written = "".join(_lines(key, value) for key, value in own)
        self._files = {"config": (settings.text + written).encode("utf-8", "surrogateescape")}
        self._files |= {name: content for name, content in settings.contents.items() if content}
        self._links: dict[str, str] = {}  # to the repository: targets by name

    @property
    def path(self) -> str:
        """The folder, with exactly the trusted settings."""
        with self._making:
            if not self._made or not self._is_unchanged():
                if self._made:
                    shutil.rmtree(self._made, ignore_errors=True)
                self._made = self._make()
            self._copy_head()
        return self._made

    def _copy_head(self) -> None:
        """Name the branch that the project is on; git accepts no link in place of HEAD."""
        for name in ("HEAD", "MERGE_HEAD"):
            head = _content(os.path.join(self._git_folder, name))
            path = os.path.join(self._made, name)
            if not head:
                with suppress(FileNotFoundError):
                    os.unlink(path)
            elif head != _content(path):
                with open(f"{path}.new", "wb") as file:
                    file.write(head)
                os.replace(f"{path}.new", path)

    def file(self, name: str, folder: str) -> str:
        """The path of one of the personal files in the folder, or of the null device."""
        return os.path.join(folder, name) if name in self._files else os.devnull

    def new_index(self) -> str:
        """The path of an index that does not exist yet."""
        return os.path.join(self.path, "indexes", uuid.uuid4().hex)

    def _is_unchanged(self) -> bool:
        made = self._made
        try:
            planted = [
                name
                for name in ("hooks", "config.worktree", "commondir", "modules")
                if os.path.lexists(os.path.join(made, name))
            ]
            info = set(os.listdir(os.path.join(made, "info")))
            expected = {os.path.basename(name) for name in self._files if name.startswith("info/")}
            links = self._links.items()
            return (
                not planted
                and info == expected
                and all(os.readlink(os.path.join(made, name)) == path for name, path in links)
                and all(
                    _content(os.path.join(made, name)) == content
                    for name, content in self._files.items()
                )
            )
        except OSError:
            return False

    def _make(self) -> str:
        _remove_abandoned()
        made = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
        weakref.finalize(self, shutil.rmtree, made, True)
        for name in ("info", "indexes"):
            os.mkdir(os.path.join(made, name), 0o700)
        for name, content in self._files.items():
            with open(os.path.join(made, name), "xb") as file:
                file.write(content)
        targets = {name: os.path.join(self._common, name) for name in _LINKS}
        with os.scandir(self._git_folder) as entries:
            shared = [entry.name for entry in entries if entry.name.startswith("sharedindex.")]
        targets |= {name: os.path.join(self._git_folder, name) for name in shared}
        # The refs may be packed at any time; other missing entries stay missing.
        self._links = {
            name: target
            for name, target in targets.items()
            if name in ("packed-refs", "shallow") or os.path.lexists(target)
        }
        for name, target in self._links.items():
            os.symlink(target, os.path.join(made, name))
        return made


def _remove_abandoned() -> None:
    """Remove private folders whose process was killed."""
    parent = tempfile.gettempdir()
    if not os.path.isdir("/proc/self"):
        return  # nothing tells which processes are gone
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if not entry.name.startswith(_PREFIX):
                continue
            pid = entry.name.removeprefix(_PREFIX).partition("-")[0]
            is_ours = entry.stat(follow_symlinks=False).st_uid == os.getuid()
            if is_ours and pid.isdecimal() and not os.path.exists(f"/proc/{pid}"):
                shutil.rmtree(entry.path, ignore_errors=True)


def _content(path: str) -> bytes:
    """The content of a regular file of sensible size; else nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return b""
        with open(fd, "rb", closefd=False) as file:
            return file.read(_LARGEST)
    finally:
        os.close(fd)
