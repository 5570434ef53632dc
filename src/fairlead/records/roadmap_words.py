"""The words of a status cell in ROADMAP.md, as far as we know them; a person's own stay theirs."""

import re

from fairlead.model.status import Status, normalise

ROW_DONE = "Complete"
ROW_BEGUN = "In progress"
# They say nothing, and so nothing wrong of an open phase.
_SILENT = ("", "-", "—", "–", "tbd", "🚧", "📋")
_OPEN = ("todo", "to do", "not started", "pending", "planned", "planning")
_BEGUN = (
    *("in progress", "in-progress", "in_progress", "active", "executing"),
    *("partial", "wip", "work in progress", "ongoing"),
)
_DONE = ("finished", "shipped", "closed", "100%", "✓", "✔", "✅", "☑")
# Signs and pictures around a word; a question mark or a strike says something about it.
_SIGNS = r"[\s*_\u2190-\u2bff\u200d\ufe0f\U0001f000-\U0001faff]+"
_EDGES = re.compile(rf"\A{_SIGNS}|{_SIGNS}\Z")
_COUNTS = re.compile(r"\s*\(\s*[0-9]+\s*(?:/\s*[0-9]+(?:\s+plans?)?|%)\s*\)\Z", re.IGNORECASE)
_VERIFIED = re.compile(r"(?:(?:completed?|done)\W*(?:(?:and|&)\W*)?)?verified\b")


def says_verified(status: str) -> bool:
    """Whether it claims that the phase was verified."""
    return bool(_VERIFIED.match(_word(status)))


def says_done(status: str) -> bool:
    """Whether it claims that the phase is complete, or more."""
    is_complete = normalise(status) is Status.COMPLETED or says_verified(status)
    return is_complete or _word(status) in _DONE


def says_unfinished(status: str) -> bool:
    """Whether it says less than that the phase is complete, or nothing at all."""
    return _word(status) in (*_SILENT, *_OPEN, *_BEGUN)


def says_unbegun(status: str) -> bool:
    """Whether it says that no plan of the phase is done."""
    return _word(status) in _OPEN


def says_begun(status: str) -> bool:
    """Whether it says that the phase is worked on."""
    return _word(status) in _BEGUN


def is_silent(status: str) -> bool:
    """Whether it says nothing."""
    return _word(status) in _SILENT


def _word(status: str) -> str:
    """The words alone, without signs and counts around them; signs that stand alone are kept."""
    words = _COUNTS.sub("", _EDGES.sub("", status))
    return words.casefold() or status.strip("*_ \ufe0f")
