"""Errors of the document store: paths, locks, writes and settings files."""

from __future__ import annotations

from fairlead.core.errors import ConflictError, DocumentError, StorageError, UsageError


class NoProject(UsageError, code="no-project"):
    """There is no `.planning` folder here or above."""

    start: object
    message = "no .planning folder in {start} or any folder above it"
    hint = 'create one: fairlead init "Title" --yes'


class PathOutside(UsageError, code="path-outside"):
    """A path leaves the project, or is not portable."""

    path: object
    why: str
    message = "path '{path}' {why}"
    hint = "name a file inside the project"


class NoDocument(UsageError, code="no-document"):
    """The project does not have this document yet."""

    path: object
    remedy: str
    message = "{path} does not exist"
    hint = "{remedy}"


class UnknownWorkstream(UsageError, code="unknown-workstream"):
    """The project has no such workstream."""

    name: object
    known: tuple[str, ...]
    message = "there is no workstream {name}"
    hint = "known workstreams: {known}"


class OnlyPersonal(UsageError, code="only-personal"):
    """A setting is read only from the user's own file, not from a project's."""

    key: str
    message = "{key} is read only from your own settings, not from a project's"
    hint = "add --user: fairlead config set --user {key} VALUE"


class TooLarge(DocumentError, code="too-large"):
    """A file is larger than the limit of its kind."""

    size: int
    limit: int
    message = "is {size:,} bytes, the limit is {limit:,}"
    hint = "move old entries to another file; nothing was changed"
    line = column = 1


class NotAFile(DocumentError, code="not-a-file"):
    """A link, folder, pipe or device is where a regular file must be."""

    place: object
    kind: str
    wanted = "a regular file"
    message = "is {kind}, not {self.wanted}"
    hint = "links and special files are never followed; replace it with {self.wanted}"

    def _message(self) -> str:
        self.path = str(self.place)
        return super()._message()


class NotAFolder(NotAFile, code="not-a-folder"):
    """A link or a file is where a folder must be."""

    wanted = "a folder"


class Undecodable(DocumentError, code="undecodable"):
    """A document contains bytes that are not UTF-8."""

    byte: int
    message = "byte 0x{byte:02x} is not UTF-8"
    hint = "save the file as UTF-8; nothing was changed"


class WrongSetting(DocumentError, code="wrong-setting"):
    """A settings file contains an unknown setting or a wrong value."""

    fault: UsageError
    message = "{fault}"
    hint = "{fault.hint}"


class InsideAttempt(ConflictError, code="inside-attempt"):
    """An agent tried to write project memory from inside its attempt."""

    command: object
    message = "{command}: an agent can only read the project memory during its attempt"
    hint = "put it into the answer of the task; Fairlead records it"


class FileExists(ConflictError, code="file-exists"):
    """A file to be created exists already."""

    path: object
    message = "{path} exists already"
    hint = "move it away, then run the command again; nothing was changed"


class LockBusy(ConflictError, code="lock-busy"):
    """Another command has the project's lock and did not finish in time."""

    waited_seconds: float
    holder: str
    hint = (
        "run the command again when it has finished; a lock is never taken from a running process"
    )

    def _message(self) -> str:
        holder = self.holder or "another process"
        return f"waited {self.waited_seconds:g} s for the project's lock; held by {holder}"


class ChangedMeanwhile(ConflictError, code="changed-meanwhile"):
    """Another program kept changing the file while it was being written."""

    path: object
    ours: str = ""
    message = "{path} was changed by another program while it was being written"

    def _hint(self) -> str:
        ours = f", and ours is saved as {self.ours}" if self.ours else ""
        return f"the other program's version was kept{ours}; run the command again"


class NewerRecord(ConflictError, code="newer-record"):
    """A newer version of Fairlead left a step half done, and only it can complete the step."""

    path: object
    version: int
    message = "{path} has version {version}, which this program does not know"
    hint = "run the command with the newer version of Fairlead; nothing was changed"


class SessionHeld(ConflictError, code="session-held"):
    """A session is running in another process."""

    session: str
    message = "session {session} is running in another process"
    hint = "use another session: --session NAME"


class NothingToUndo(ConflictError, code="nothing-to-undo"):
    """There is no command that can be undone."""

    why: str
    message = "nothing to undo: {why}"
    hint = "older versions are in git"


class OverlapsLater(ConflictError, code="overlaps-later"):
    """A later command changed the same files, so an older one cannot be undone alone."""

    number: int
    path: object
    later: int
    command: str
    message = "{path} was changed again by entry {later} ({command})"
    hint = "undo that one first: fairlead undo {later}"


class ChangedSince(ConflictError, code="changed-since"):
    """A document changed after the command, so undoing the command would lose that change."""

    path: object
    command: str
    message = "{path} was changed after the command to undo ({command})"
    hint = "nothing was changed; take the older version from git if you want it"


class DiskFull(StorageError, code="disk-full"):
    """The disk has no space or quota left."""

    path: object
    why: str
    message = "{path}: {why}"
    hint = "free some space; nothing was changed"


class ReadOnly(StorageError, code="read-only"):
    """There is no permission to write here."""

    path: object
    why: str
    message = "{path}: {why}"
    hint = "check the permissions; nothing was changed"


class DiskFault(StorageError, code="disk-fault"):
    """The file system failed before the new version was in place."""

    path: object
    why: str
    message = "{path}: {why}"
    hint = "check the disk; nothing was changed"


class NotConfirmed(StorageError, code="not-confirmed"):
    """The new version is in place, but the disk did not confirm that it is durable."""

    path: object
    why: str
    message = "{path} was written, but the disk did not confirm it: {why}"
    hint = "check the disk, then look at the file before you run the command again"


class StepInterrupted(NotConfirmed, code="step-interrupted"):
    """A disk error stopped a step that writes several documents."""

    path: tuple[str, ...]
    message = "writing {path} was interrupted: {why}"
    hint = "do not run the command again: the next command that writes completes this step"


class NoLocks(StorageError, code="no-locks"):
    """The file system has no locks, as on some network shares."""

    path: object
    why: str
    may_allow: bool = False
    message = "{path}: this file system has no locks ({why})"

    def _hint(self) -> str:
        hint = "keep the project on a local disk; commands that only read work here"
        if not self.may_allow:
            return hint
        allow = "fairlead config set --user fairlead.shared_disk true"
        return f"{hint}; if only this machine writes: {allow}"


class LaterFault(StorageError, code="later-fault"):
    """The disk or the installation failed after the command had written something."""

    path: object
    why: str
    message = "{path}: {why}, after something was written"
    hint = "what was written is complete and stays; look at it: fairlead status"


class OutputFault(StorageError, code="output-fault"):
    """The result could not be printed; the command itself has been carried out."""

    why: str
    message = "standard output: {why}"
    hint = "the command was carried out; check with: fairlead status"
