"""Baselines: what the tamper check needs to know if a run is killed during a call.

Before each call the digests of everything the agent may not change are stored outside the
repository, and the contents once for each digest, so that they can be restored. Digests are
removed once the call has been checked; what was touched is stored until a person has answered and
the answer was carried out. The call itself is stored until the ledger has it, and every write of
the run is listed. Nothing here is synced to disk: a kill loses nothing that was written, but a
power loss may. Each baseline therefore names its boot.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass
from fairlead.store import layout
from fairlead.store.confined import ConfinedFolder, Root, close_quietly, storage_error
from fairlead.store.files import make_private_folders
from fairlead.store.staging import writing_name

_BASELINE, _CALL, _TOUCHED, _WRITTEN = ".json", ".call", ".touched", "written.jsonl"
_CONTENTS = "contents"  # a folder: the contents of guarded files, by digest
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE = 0o600
_BOOT = "/proc/sys/kernel/random/boot_id"


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a run saw before a call whose end it did not see."""

    task: str
    place: str  # the absolute path of this baseline
    plan: str = ""
    digests: Mapping[str, str] | None = None  # None: the file was damaged
    is_of_this_boot: bool = True


@dataclass(frozen=True, slots=True)
class TouchedFiles:
    """What an agent changed, as it was before and after, by the question about it."""

    question: str
    task: str
    before: Mapping[str, str]  # digests by name; a name that is missing did not exist
    after: Mapping[str, str]


class Baselines:
    """The baselines of one job; without a folder they live as long as the process."""

    def __init__(self, folder: str = "") -> None:
        self.folder = folder
        self._written: set[tuple[str, str]] = set()
        self.kept: set[str] = set()  # digests of contents that this process stored

    def begin(self) -> None:
        """Remove the baselines of earlier runs, which were checked, and start a new list of writes."""
        make_private_folders(self.folder)
        with self._inside() as folder:
            for name in folder.names():
                if not name.endswith((_CALL, _TOUCHED)) and name != _CONTENTS:
                    folder.remove(name)
            close_quietly(folder.create(_WRITTEN, _PRIVATE))

    def wrote(self, place: str, digest: str) -> None:
        """Remember that the run is about to write this."""
        self._written.add((place, digest))
        # Without the folder the run has not begun: it calls no agent, so nothing needs a list.
        with suppress(FileNotFoundError), self._inside() as folder:
            fd = os.open(_WRITTEN, _APPEND, dir_fd=folder.fd)
            with open(fd, "ab") as file:
                file.write(json.dumps((place, digest)).encode() + b"\n")

    def has_written(self, place: str, digest: str) -> bool:
        """Whether the run, or the killed one before it, wrote this there."""
        return (place, digest) in self._written

    def load_writes(self) -> None:
        """Load the list of what other processes of this job wrote."""
        with suppress(FileNotFoundError), self._inside() as folder:
            self._written.update(_lines(_content(folder, _WRITTEN)))

    def saw(self, task: str, plan: str, digests: Mapping[str, str]) -> None:
        """Store the digests before a call."""
        content = {"plan": plan, "boot": _boot(), "digests": dict(digests)}
        self._keep(f"{task}{_BASELINE}", json.dumps(content))

    def judged(self, task: str) -> None:
        """Remove the baseline of a call that was checked."""
        self._forget(f"{task}{_BASELINE}")

    def calls(self, task: str, text: str) -> None:
        """Store a call that is about to be made, as the ledger will need it."""
        self._keep(f"{task}{_CALL}", text)

    def recorded(self, task: str) -> None:
        """Remove a call that the ledger has."""
        self._forget(f"{task}{_CALL}")

    def unrecorded(self) -> dict[str, str]:
        """The calls that a killed run could not record, by task."""
        with suppress(FileNotFoundError), self._inside() as folder:
            return {
                name.removesuffix(_CALL): _content(folder, name).decode("utf-8", "replace")
                for name in folder.names()
                if name.endswith(_CALL)
            }
        return {}

    def left(self) -> Iterator[Baseline]:
        """The baselines that a killed run left; also loads the list of its writes."""
        with suppress(FileNotFoundError), self._inside() as folder:
            self._written.update(_lines(_content(folder, _WRITTEN)))
            for name in folder.names():
                if name.endswith(_BASELINE):
                    place = f"{self.folder}/{name}"
                    yield _baseline(name.removesuffix(_BASELINE), place, _content(folder, name))

    # -- what was touched ------------------------------------------------------------------

    def keep_content(self, digest: str, content: bytes) -> None:
        """Store a content once, so that a file can be restored."""
        if digest in self.kept or not self.folder:
            return
        with (
            self._inside() as folder,
            folder.folder(_CONTENTS) or folder.make(_CONTENTS) as contents,
        ):
            if contents.stat(digest) is None:
                new = writing_name()
                with open(contents.create(new, _PRIVATE), "wb") as file:
                    file.write(content)
                contents.move(new, contents, digest)
        self.kept.add(digest)

    def content(self, digest: str) -> bytes | None:
        """A stored content; None if it is missing or was changed."""
        with suppress(FileNotFoundError), self._inside() as folder:
            contents = folder.folder(_CONTENTS)
            if contents is not None:
                with contents:
                    content = _content(contents, digest)
                if hashlib.sha256(content).hexdigest() == digest:
                    return content
        return None

    def remember_touched(self, touched: TouchedFiles) -> None:
        """Store what an agent changed until a person's answer is carried out."""
        stored = {"task": touched.task, "before": {**touched.before}, "after": {**touched.after}}
        self._keep(f"{touched.question}{_TOUCHED}", json.dumps(stored))

    def touched(self) -> tuple[TouchedFiles, ...]:
        """What agents changed and no answer settled yet."""
        with suppress(FileNotFoundError), self._inside() as folder:
            names = [name for name in folder.names() if name.endswith(_TOUCHED)]
            stored = [(name.removesuffix(_TOUCHED), _content(folder, name)) for name in names]
            return tuple(each for name, text in stored if (each := _touched(name, text)))
        return ()

    def forget_touched(self, question: str) -> None:
        """Remove what an answer settled."""
        self._forget(f"{question}{_TOUCHED}")

    def forget_all(self) -> None:
        """Remove every baseline of a job that is over, and the stored contents."""
        with suppress(FileNotFoundError), self._inside() as folder:
            for name in folder.names():
                if name.endswith(_BASELINE):
                    folder.remove(name)

    def _keep(self, name: str, text: str) -> None:
        with self._inside() as folder:
            new = writing_name()
            with open(folder.create(new, _PRIVATE), "wb") as file:
                file.write(text.encode())
            folder.move(new, folder, name)  # a half-written file never has this name

    def _forget(self, name: str) -> None:
        with suppress(FileNotFoundError), self._inside() as folder:
            folder.remove(name)

    @contextmanager
    def _inside(self) -> Iterator[ConfinedFolder]:
        try:
            with Root(self.folder) as root:
                folder = root.parent(_WRITTEN)
            assert folder is not None  # the root is there
            with folder:
                yield folder
        except FileNotFoundError:
            raise
        except OSError as error:
            raise storage_error(self.folder, error) from error


def baselines_of_jobs(runs: str, name: str) -> Iterator[Baselines]:
    """The baselines of every job of a project, below the folder of all jobs."""
    with suppress(FileNotFoundError):
        for job in sorted(os.listdir(runs)):
            yield Baselines(f"{runs}/{job}/{name}")


def _content(folder: ConfinedFolder, name: str) -> bytes:
    """The content of a file; empty if it is no regular file, or too long."""
    try:
        return folder.read(name, layout.LEDGER_LIMIT) or b""
    except DocumentError:
        return b""


def _lines(content: bytes) -> Iterator[tuple[str, str]]:
    for line in content.splitlines():
        with suppress(ValueError, TypeError, RecursionError):
            place, digest = json.loads(line)
            yield str(place), str(digest)


def _baseline(task: str, place: str, content: bytes) -> Baseline:
    try:
        stored = json.loads(content)
        digests = {str(name): str(each) for name, each in stored["digests"].items()}
        is_same = str(stored["boot"]) == _boot()
        return Baseline(task, place, str(stored["plan"]), digests, is_same)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Baseline(task, place)


def _touched(question: str, text: bytes) -> TouchedFiles | None:
    try:
        stored = json.loads(text)
        before, after = (
            {str(name): str(digest) for name, digest in stored[key].items()}
            for key in ("before", "after")
        )
        return TouchedFiles(question, str(stored["task"]), before, after)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _boot() -> str:
    try:
        with open(_BOOT, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
