"""Status words: what people and tools write, and the few canonical values behind them.

A word counts at the beginning of a word and not after a negation, so "incomplete" is not
complete and "not done" is not done. Paused wins over everything, then the order below.
"""

import re
from enum import StrEnum


class Status(StrEnum):
    """The canonical lifecycle stages of a project."""

    DISCUSSING = "discussing"
    PLANNING = "planning"
    EXECUTING = "executing"
    VERIFYING = "verifying"
    COMPLETED = "completed"
    PAUSED = "paused"
    UNKNOWN = "unknown"


_WORDS = (
    (Status.PAUSED, ("paused", "stopped")),
    (Status.DISCUSSING, ("discussing",)),
    (Status.PLANNING, ("planning", "ready to plan")),
    (Status.EXECUTING, ("executing", "in progress", "ready to execute")),
    (Status.VERIFYING, ("verif",)),
    (Status.COMPLETED, ("complete", "done")),
)
NEGATED = r"(?<!\bnot )(?<!\bnever )(?<!\bnot yet )(?<!\bun)(?<!\bin)"

# Values that a command may replace; anything else was written by a person and is kept.
_DEFAULTS = frozenset(
    (
        "ready to execute",
        "phase complete — ready for verification",
        "ready to plan",
        "defining requirements",
        "planning complete",
        "executing",
        "in progress",
        "planning",
        "verifying",
        "discussing",
        "active",
        "paused",
        "unknown",
    )
)
_DEFAULT_FORMS = (  # compiled when it is first asked for: nearly never
    r"(?i)(executing|planning|verifying) phase\s+\S+|phase\s+\S+\s+complete"
    r"|phase complete.*"
)
# What may stand around words that say something is done, and does not take it back.
SIGNS = r"\s*✓✔✅☑🎉🚀\ufe0f"
# Nothing but that all is done. What goes on in other words, or names a version, may be true of less.
_ALL_DONE = (
    rf"(?i)[{SIGNS}]*(?:(?:all (?:phases|work)|(?:the )?(?:milestone|project)|everything|100\s?%) )?"
    rf"(?:is |are )?(?:completed?|done|finished|shipped)[{SIGNS}!.]*"
)


def normalise(text: str, *, paused_at: str = "") -> Status:
    """The canonical status behind a written one."""
    if paused_at:
        return Status.PAUSED
    lowered = " ".join(text.lower().replace("_", " ").split())
    for status, words in _WORDS:
        for word in words:
            if word in lowered and re.search(rf"{NEGATED}\b{word}", lowered):
                return status
    return Status.UNKNOWN


def is_default(text: str) -> bool:
    """Whether a status is one that a command wrote, and another may replace."""
    value = text.strip().replace("_", " ")
    if not value or value.lower() in _DEFAULTS or says_all_done(value):
        return True
    return bool(re.fullmatch(_DEFAULT_FORMS, value))


def says_all_done(text: str) -> bool:
    """Whether it says that all is done, and nothing else."""
    return bool(re.fullmatch(_ALL_DONE, " ".join(text.replace("_", " ").split())))
