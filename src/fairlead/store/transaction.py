"""Transactions: what the holder of the lock does to turn edits into durable documents.

One document is exchanged; several become a step with a record. When somebody else changes a
document in between, the edit is applied to their version, until it holds or the limit is
reached. After the commit point of a step there is no way back, so a document whose edit then
no longer applies keeps their version, and ours is kept beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairlead.errors import (
    ChangedMeanwhile,
    FairleadError,
    NotConfirmed,
    StepInterrupted,
    StorageError,
)
from fairlead.store import atomic, intent, last, layout
from fairlead.store.atomic import Changed, Desk, Place, place_of
from fairlead.store.confine import Root, leaf
from fairlead.store.intent import Places, Step, Version
from fairlead.values import dataclass, field

# The new content of a document, from what is there; None: there is no file.
Rewrite = Callable[[bytes | None], bytes]
Rewrites = Mapping[str, Rewrite]

_MOST_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, decided from what is there now."""

    rewrites: Rewrites
    places: Places = field(default_factory=Places)


class Transaction:
    """One writer's turn at the desk. It begins by recovering what a killed one left."""

    def __init__(self, root: Root, desk: Desk, command: str) -> None:
        self._root = root
        self._desk = desk
        self._command = command
        step = intent.recover(root, desk)
        last.recover(root, desk)
        self.recovered = frozenset(step.paths) if step else frozenset()
        self._hide_desk_from_git()

    def run(self, rewrites: Rewrites, folders: tuple[str, ...] = ()) -> tuple[Version, ...]:
        """Write what is different, durably, and return it. Empty folders may go with it."""
        return self.carry_out(lambda: Plan(rewrites, Places(folders=self._missing(folders))))[0]

    def carry_out(self, decide: Callable[[], Plan]) -> tuple[tuple[Version, ...], Places]:
        """Decide, move and write, durably; decide anew when somebody changed something."""
        changed = ""
        for _ in range(_MOST_ATTEMPTS):
            plan = decide()
            versions = versions_of(self._read, plan.rewrites)
            try:
                return self._write(versions, plan), plan.places
            except Changed as error:
                changed = error.path
        raise ChangedMeanwhile(changed)

    def undo(self) -> tuple[str, tuple[Version, ...], Places]:
        """Take the last event back. What this replaces is kept like that of any other event."""
        event = last.load(self._desk)

        def decide() -> Plan:
            texts, places = last.reverse(self._root, event, self._desk.folder.path)
            return Plan(last.rewrites_of(texts, event), places)

        return (event.command, *self.carry_out(decide))

    def _missing(self, folders: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(folder for folder in folders if self._root.stat(folder) is None)

    def _write(self, versions: tuple[Version, ...], plan: Plan) -> tuple[Version, ...]:
        """Write it, and keep what it replaces for whoever wants to take it back."""
        if not versions and not plan.places:
            return versions
        places = Places(plan.places.moves, self._missing(plan.places.folders))
        try:
            last.keep(self._desk, self._command, versions, places)
            written = self._publish(versions, plan)
            if written != versions:
                last.keep(self._desk, self._command, written, places)
        except NotConfirmed:
            raise  # it may have happened: the next writer looks
        except (Changed, FairleadError):
            last.forget(self._desk)
            raise
        last.settle(self._desk)
        return written

    def _publish(self, versions: tuple[Version, ...], plan: Plan) -> tuple[Version, ...]:
        if len(versions) > 1 or plan.places:
            step = intent.commit(self._root, self._desk, self._command, versions, plan.places)
            try:
                again = self._complete(step, plan.rewrites)
            except StorageError as error:
                raise StepInterrupted(step.paths, str(error)) from error
            return tuple(again.get(version.path, version) for version in versions)
        for version in versions:
            with place_of(self._root, version.path) as place:
                atomic.write(self._desk, place, version.old, version.new)
        return versions

    def _complete(self, step: Step, rewrites: Rewrites) -> dict[str, Version]:
        """Publish a step, and return what became of documents that changed meanwhile."""
        again: dict[str, Version] = {}
        theirs: dict[str, str] = {}  # and where ours is kept instead
        for entry in intent.complete(self._root, self._desk, step):
            try:
                for version in self._again(entry.path, rewrites):
                    again[version.path] = version
                self._desk.remove(entry.stage)
            except StorageError:
                raise
            except FairleadError:
                theirs[entry.path] = self._desk.rescue(entry.stage, leaf(entry.path))
        intent.close(self._desk)
        if theirs:
            raise ChangedMeanwhile(", ".join(theirs), ", ".join(filter(None, theirs.values())))
        return again

    def _again(self, path: str, rewrites: Rewrites) -> tuple[Version, ...]:
        """Apply the edit of one document to what somebody else made of it."""
        for _ in range(_MOST_ATTEMPTS):
            versions = versions_of(self._read, {path: rewrites[path]})
            try:
                return self._publish(versions, Plan({}))
            except Changed:
                continue
        raise ChangedMeanwhile(path)

    def _read(self, path: str) -> bytes | None:
        return self._root.read(path, layout.limit_of(path))

    def _hide_desk_from_git(self) -> None:
        if self._desk.folder.stat(layout.IGNORE) is None:
            place = Place(self._desk.folder, layout.IGNORE)
            atomic.write(self._desk, place, None, layout.IGNORE_ALL)


def versions_of(read: Callable[[str], bytes | None], rewrites: Rewrites) -> tuple[Version, ...]:
    """The documents that the rewrites would change, before and after."""
    versions = []
    for path, rewrite in rewrites.items():
        old = read(path)
        new = rewrite(old)
        if new != old:
            versions.append(Version(path, old, new))
    return tuple(versions)
