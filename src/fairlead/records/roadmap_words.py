"""The words of a status cell in ROADMAP.md, as far as we know them; a person's own stay theirs."""

import re

from fairlead.model.status import Status, normalise

ROW_DONE = "Complete"
ROW_BEGUN = "In progress"
_SILENT = ("", "-", "—", "–", "tbd")  # they say nothing, and so nothing wrong of an open phase
_OPEN = ("todo", "not started", "pending", "planned", "planning")
_BEGUN = ("in progress", "in-progress", "in_progress", "active", "executing")
_VERIFIED = re.compile(r"(?:(?:completed?|done)\W*(?:(?:and|&)\W*)?)?verified\b")


def says_verified(status: str) -> bool:
    """Whether it claims that the phase was verified."""
    return bool(_VERIFIED.match(_word(status)))


def says_done(status: str) -> bool:
    """Whether it claims that the phase is complete, or more."""
    return normalise(status) is Status.COMPLETED or says_verified(status)


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
    return status.strip("*_✅🚧📋 ").casefold()
