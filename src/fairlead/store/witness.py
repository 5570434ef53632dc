"""What a run has seen and written, kept outside the repository: the run after a kill knows it too.

Before each call of an agent it is written down how everything was that is none of its business; that
goes when the call has been judged. So is the call itself, until it is recorded. Nothing here waits for
the disk, since a kill loses nothing that was written. A loss of power may, so what is left tells in
which boot it was seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from fairlead.errors import DocumentError
from fairlead.store import layout
from fairlead.store.confine import Folder, Root, fault, let_go
from fairlead.values import dataclass

_SIGHTING, _CALL, _WRITTEN = ".json", ".call", "written.jsonl"
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE = 0o600
_BOOT = "/proc/sys/kernel/random/boot_id"


@dataclass(frozen=True, slots=True)
class Sighting:
    """How things were before a call of which nobody knows how it ended."""

    task: str
    place: str  # on the disk
    plan: str = ""
    digests: Mapping[str, str] | None = None  # None: somebody made it unreadable
    is_of_this_boot: bool = True


class Witness:
    """Remembers for one job; without a folder, for as long as the process lives."""

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self._written: set[tuple[str, str]] = set()

    def begin(self) -> None:
        """Nothing is left to be judged: from now on it is kept what we see and write."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        with self._inside() as folder:
            for name in folder.names():
                if not name.endswith(_CALL):
                    folder.remove(name)
            let_go(folder.create(_WRITTEN, _PRIVATE))

    def wrote(self, place: str, digest: str) -> None:
        """We are about to write this."""
        self._written.add((place, digest))
        # Who has not begun keeps nothing: no agent of it is called.
        with suppress(FileNotFoundError), self._inside() as folder:
            fd = os.open(_WRITTEN, _APPEND, dir_fd=folder.fd)
            with open(fd, "ab") as file:
                file.write(json.dumps((place, digest)).encode() + b"\n")

    def has_written(self, place: str, digest: str) -> bool:
        """Whether we ever wrote this there."""
        return (place, digest) in self._written

    def saw(self, task: str, plan: str, digests: Mapping[str, str]) -> None:
        """Things are like this, and an agent is about to be called."""
        held = {"plan": plan, "boot": _boot(), "digests": dict(digests)}
        self._keep(f"{task}{_SIGHTING}", json.dumps(held))

    def judged(self, task: str) -> None:
        """The call has ended, and what it did is known."""
        self._forget(f"{task}{_SIGHTING}")

    def calls(self, task: str, told: str) -> None:
        """An agent is about to be called, which is to be recorded with this."""
        self._keep(f"{task}{_CALL}", told)

    def recorded(self, task: str) -> None:
        """The call stands where it is counted."""
        self._forget(f"{task}{_CALL}")

    def unrecorded(self) -> dict[str, str]:
        """By task, the calls of a run that was killed before it could record them."""
        with suppress(FileNotFoundError), self._inside() as folder:
            return {
                name.removesuffix(_CALL): _content(folder, name).decode("utf-8", "replace")
                for name in folder.names()
                if name.endswith(_CALL)
            }
        return {}

    def left(self) -> Iterator[Sighting]:
        """What a run that was killed had seen; and what it wrote is known as ours again."""
        with suppress(FileNotFoundError), self._inside() as folder:
            self._written.update(_lines(_content(folder, _WRITTEN)))
            for name in folder.names():
                if name.endswith(_SIGHTING):
                    place = f"{self._folder}/{name}"
                    yield _sighting(name.removesuffix(_SIGHTING), place, _content(folder, name))

    def _keep(self, name: str, text: str) -> None:
        with self._inside() as folder:
            new = layout.writing_name()
            with open(folder.create(new, _PRIVATE), "wb") as file:
                file.write(text.encode())
            folder.move(new, folder, name)  # half of it is nothing

    def _forget(self, name: str) -> None:
        with suppress(FileNotFoundError), self._inside() as folder:
            folder.remove(name)

    @contextmanager
    def _inside(self) -> Iterator[Folder]:
        try:
            with Root(self._folder) as root:
                folder = root.parent(_WRITTEN)
            assert folder is not None  # the root is there
            with folder:
                yield folder
        except FileNotFoundError:
            raise
        except OSError as error:
            raise fault(self._folder, error) from error


def witnesses(runs: str, name: str) -> Iterator[Witness]:
    """What every job of a project remembers, below the folder of them all."""
    with suppress(FileNotFoundError):
        for job in sorted(os.listdir(runs)):
            yield Witness(f"{runs}/{job}/{name}")


def _content(folder: Folder, name: str) -> bytes:
    """A file in there; what is no file, or too long, has nothing to say."""
    try:
        return folder.read(name, layout.LEDGER_LIMIT) or b""
    except DocumentError:
        return b""


def _lines(content: bytes) -> Iterator[tuple[str, str]]:
    for line in content.splitlines():
        with suppress(ValueError, TypeError, RecursionError):
            place, digest = json.loads(line)
            yield str(place), str(digest)


def _sighting(task: str, place: str, content: bytes) -> Sighting:
    try:
        held = json.loads(content)
        digests = {str(name): str(each) for name, each in held["digests"].items()}
        is_same = str(held["boot"]) == _boot()
        return Sighting(task, place, str(held["plan"]), digests, is_same)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Sighting(task, place)


def _boot() -> str:
    try:
        with open(_BOOT, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
