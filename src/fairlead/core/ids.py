"""Identifiers with types: parsed once, compared by their parts.

A phase number is never a float: 4.10 comes after 4.9 and is not 4.1. Leading zeros and case do
not distinguish two phases, but the spelling in the document is the one that is shown.
"""

from functools import lru_cache

from fairlead.core.errors import MalformedId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, field

_MOST_DIGITS = 6
_LONGEST_NAME = 120  # bytes
_NOT_IN_SLUG = lazy_pattern(r"[^a-z0-9]+")
_NAME = lazy_pattern(r"\w[\w.-]*\Z")
_PHASE = lazy_pattern(r"(?:[A-Z][A-Z0-9_]*-)?([0-9]{1,6})([A-Za-z]?)((?:\.[0-9]{1,6})*)\Z")


@dataclass(frozen=True, slots=True, order=True)
class PhaseId:
    """The number of a phase: 3, 4.5, 4.10, 12A."""

    number: int
    letter: str
    decimals: tuple[int, ...]
    text: str = field(compare=False)  # as it was written

    @staticmethod
    @lru_cache(4096)  # every phase is mentioned in many places
    def parse(text: str) -> "PhaseId":
        """Read a phase number, with or without leading zeros or a project prefix."""
        if text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS:
            return PhaseId(int(text), "", (), text)
        match = _PHASE.match(text.strip())
        if not match:
            raise MalformedId("phase", text, "3, 4.5, 4.10 or 12A")
        decimals = tuple(map(int, match[3].split(".")[1:])) if match[3] else ()
        return PhaseId(int(match[1]), match[2].upper(), decimals, text.strip())

    @property
    def short(self) -> str:
        """Without leading zeros: 4.5."""
        return f"{self.number}{self.letter}{self._tail}"

    @property
    def padded(self) -> str:
        """As in folder names: 04.5."""
        return f"{self.number:02d}{self.letter}{self._tail}"

    @property
    def _tail(self) -> str:
        return "".join(f".{part}" for part in self.decimals) if self.decimals else ""

    def __hash__(self) -> int:
        return self.number  # sufficient, and computed very often

    def __str__(self) -> str:
        return self.text


def is_name(text: str) -> bool:
    """Whether a text can be part of the name of a branch, of a file and of a session.

    Git refuses `..` and names that end like its lock files. A file name has at most 255 bytes,
    and files of a plan add words to the plan's name.
    """
    is_plain = bool(_NAME.match(text)) and ".." not in text
    return is_plain and not text.endswith((".", ".lock")) and len(text.encode()) <= _LONGEST_NAME


@lru_cache(4096)  # the names of phases are compared in many places
def slug(text: str) -> str:
    """Lower-case ASCII letters and digits; everything else becomes single hyphens."""
    return _NOT_IN_SLUG.sub("-", text.lower()).strip("-")


def stream_words(workstream: str) -> str:
    """The option `--ws NAME` for a command line, quoted for a shell; empty without a workstream."""
    if not workstream:
        return ""
    import shlex

    return f" --ws {shlex.quote(workstream)}"
