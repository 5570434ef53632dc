"""Divergence: what STATE.md and ROADMAP.md say against what the files prove.

Every difference names the place that says it, what it says, what is true, and the files that
prove it. A claim of more than the files prove is a matter for a person: the work may be done
and only its summary missing.
"""

from enum import StrEnum

from fairlead.values import dataclass


class Kind(StrEnum):
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
    ORPHAN = "summary-without-plan"
    ARCHIVED = "archived-unproven"
    DUPLICATE = "phase-number-twice"
    DOCUMENT = "document-malformed"
    MISSING = "document-missing"
    EMPTY = "summary-empty"
    SELF_CHECK = "self-check-failed"
    REHEARSED = "rehearsed-summary"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference."""

    kind: Kind
    path: str
    line: int  # 0: the whole file
    what: str  # the field or entry, e.g. progress.percent
    said: str
    true: str
    because: tuple[str, ...] = ()  # files that prove it, or that are missing
    is_drift: bool = True  # False: worth knowing, but nothing recorded is wrong

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        told = f" says {self.said}, the files say {self.true}" if self.true else f": {self.said}"
        return f"{place}: {self.what}{told}"
