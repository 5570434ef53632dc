"""Errors of the command line itself."""

from __future__ import annotations

from fairlead.core.errors import ConflictError, StorageError, UsageError


class NothingNamed(UsageError, code="nothing-named"):
    """The command names nothing to change."""

    options: tuple[str, ...]
    message = "nothing to change was named"
    hint = "give one of: {options}"


class BrokenProgram(StorageError, code="broken-program"):
    """A part of Fairlead cannot be loaded: the disk fails, or the installation is incomplete."""

    part: str
    why: str
    message = "{part} cannot be loaded: {why}"
    hint = "check the disk, install Fairlead again, then: fairlead status"


class OwnFault(StorageError, code="own-fault"):
    """A bug in Fairlead; the lines above the message show where."""

    problem: BaseException
    hint = "acknowledged changes are safe: fairlead status; please report the lines above"

    def _message(self) -> str:
        text = " ".join(f"{type(self.problem).__name__}: {self.problem}".split())
        return f"this is a bug in Fairlead: {text}"


class OutputExists(ConflictError, code="output-exists"):
    """The output file exists, and Fairlead did not make it."""

    output: str
    message = "{output} exists, and Fairlead did not make it"
    hint = "choose another file, or replace it with --force"
