"""Findings: differences between the planning documents and the files.

A finding names its place, the recorded value, the derived value and the files behind it. A claim
of more than the files prove is left to a person: the work may be done and only its summary
missing. To add a kind of finding, add it here and to the advice in `doctor.py`.
"""

from enum import StrEnum

from fairlead.core.values import dataclass


class FindingKind(StrEnum):
    """The stable code of a finding."""

    COUNTER = "counter-differs"
    PERCENT = "percent-differs"
    CLAIM = "claim-unproven"
    POSITION = "position-differs"
    STATUS = "status-differs"
    MILESTONE = "milestone-differs"
    TWICE = "field-twice"
    SECTION = "section-twice"
    BOX = "roadmap-box-differs"
    ROW = "roadmap-row-differs"
    LIFECYCLE = "lifecycle-differs"
    TRACE = "requirement-phase-unknown"
    UNMAPPED = "requirement-unmapped"
    NO_PHASES = "roadmap-without-phases"
    UNREAD = "position-not-understood"
    SCOPE = "scope-not-certain"
    ORPHAN = "summary-without-plan"
    ARCHIVED = "archived-unproven"
    DUPLICATE = "phase-number-twice"
    DOCUMENT = "document-malformed"
    MISSING = "document-missing"
    EMPTY = "summary-empty"
    SELF_CHECK = "self-check-failed"
    REHEARSED = "rehearsed-summary"
    UNCHECKED = "summary-unchecked"


class StatementVerdict(StrEnum):
    """What the files say about a statement."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between a document and the files."""

    kind: FindingKind
    path: str
    line: int  # 0: the whole file
    what: str  # the field or entry, e.g. progress.percent
    said: str  # the recorded value, or a description if there is no derived one
    true: str  # the derived value; empty if there is none
    because: tuple[str, ...] = ()  # files or `path:line` that prove it, or files that are missing
    is_drift: bool = True  # False: a note; nothing recorded is wrong
    is_repairable: bool = True  # False: the line is not in a form that `doctor` writes

    @property
    def verdict(self) -> StatementVerdict:
        """A difference refutes a statement; a note says that it cannot be checked."""
        return StatementVerdict.REFUTED if self.is_drift else StatementVerdict.UNVERIFIABLE

    @property
    def _authority(self) -> str:
        """What states the derived value: another line, or the files."""
        path, _, line = self.because[0].rpartition(":") if len(self.because) == 1 else ("", "", "")
        if not path or not line.isdecimal():
            return "the files say"
        return f"line {line} says" if path == self.path else f"{path}:{line} says"

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        text = (
            f" says {self.said}, {self._authority} {self.true}" if self.true else f": {self.said}"
        )
        return f"{place}: {self.what}{text}"
