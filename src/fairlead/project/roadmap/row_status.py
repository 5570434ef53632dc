"""The status words in the progress table of ROADMAP.md.

`project.status_words` reads the status in STATE.md; a table cell has more forms, such as emoji and
counts. To accept another word in the table, add it to one of the tuples below.
"""

import re

from fairlead.core.patterns import lazy_pattern
from fairlead.project.status_words import Status, normalise

ROW_DONE = "Complete"
ROW_IN_PROGRESS = "In progress"
# Cells without a statement; they contradict nothing.
_NO_STATEMENT = ("", "-", "—", "–", "tbd", "🚧", "📋")
_OPEN = ("todo", "to do", "not started", "pending", "planned", "planning")
_IN_PROGRESS = (
    *("in progress", "in-progress", "in_progress", "active", "executing"),
    *("partial", "wip", "work in progress", "ongoing"),
)
_PUT_ASIDE = lazy_pattern(
    r"(?:skipped|deferred|postponed|parked|on hold|cancell?ed|dropped|descoped|superseded)\b"
)
_DONE = ("finished", "shipped", "closed", "100%", "✓", "✔", "✅", "☑")
# Signs and emoji around a word; a question mark or strike-through is part of the statement.
_SIGNS = r"[\s*_\u2190-\u2bff\u200d\ufe0f\U0001f000-\U0001faff]+"
_EDGES = lazy_pattern(rf"\A{_SIGNS}|{_SIGNS}\Z")
_COUNTS = lazy_pattern(r"\s*\(\s*[0-9]+\s*(?:/\s*[0-9]+(?:\s+plans?)?|%)\s*\)\Z", re.IGNORECASE)
_VERIFIED = lazy_pattern(r"(?:(?:completed?|done)\W*(?:(?:and|&)\W*)?)?verified\b")

# `Complete`, `✅ Done (2/2 plans)`, `Completed on 2026-05-06`; other words may limit what is done.
_DONE_LINE = lazy_pattern(
    r"\W*(?:completed?|done|finished|shipped|verified)[\s*_]*"
    r"(?:\W?\Z|\(|(?:on )?[0-9]{4}-[0-9]{2}-[0-9]{2}\b)",
    re.IGNORECASE,
)


def line_says_done(text: str) -> bool:
    """Whether a line `**Status:**` calls a phase finished, in a form without further words."""
    return bool(_DONE_LINE.match(text))


def says_verified(status: str) -> bool:
    """Whether the cell claims that the phase was verified."""
    return bool(_VERIFIED.match(_word(status)))


def says_done(status: str) -> bool:
    """Whether the cell claims that the phase is complete or verified."""
    is_complete = normalise(status) is Status.COMPLETED or says_verified(status)
    return is_complete or _word(status) in _DONE


def says_unfinished(status: str) -> bool:
    """Whether the cell claims less than a complete phase, or nothing."""
    return _word(status) in (*_NO_STATEMENT, *_OPEN, *_IN_PROGRESS)


def says_not_started(status: str) -> bool:
    """Whether the cell says that the phase has not started."""
    return _word(status) in _OPEN


def says_in_progress(status: str) -> bool:
    """Whether the cell says that the phase is in progress."""
    return _word(status) in _IN_PROGRESS


def says_put_aside(status: str) -> bool:
    """Whether the cell says that the phase is not going to be done, or not now."""
    return bool(_PUT_ASIDE.match(_word(status)))


def is_blank(status: str) -> bool:
    """Whether the cell makes no statement."""
    return _word(status) in _NO_STATEMENT


def _word(status: str) -> str:
    """The words without signs and counts around them; a cell of signs alone stays as it is."""
    ends = status[:1] + status[-1:]
    if ends.isascii() and ends.isalpha():
        return status.casefold()
    words = _COUNTS.sub("", _EDGES.sub("", status))
    return words.casefold() or status.strip("*_ \ufe0f")
