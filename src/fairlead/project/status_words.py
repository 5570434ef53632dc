"""Status words: the texts that people and tools write, and the lifecycle stages they stand for.

A word matches at the start of a word and not after a negation, so "incomplete" is not complete
and "not done" is not done. Paused wins, then the order of the table below.
"""

import re
from enum import StrEnum


class Status(StrEnum):
    """The lifecycle stages of a project, as the frontmatter spells them."""

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

# Texts that a command may replace; any other text is a person's and stays.
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
_DEFAULT_FORMS = (  # a string, compiled on first use, which is rare
    r"(?i)(executing|planning|verifying) phase\s+\S+|phase\s+\S+\s+complete"
    r"|phase complete.*"
)
# Signs that may surround "done" without changing its meaning.
SIGNS = r"\s*✓✔✅☑🎉🚀\ufe0f"
# "All done" and nothing else: further words or a version may limit what is done.
_ALL_DONE = (
    rf"(?i)[{SIGNS}]*(?:(?:all (?:phases|work)|(?:the )?(?:milestone|project)|everything|100\s?%) )?"
    rf"(?:is |are )?(?:completed?|done|finished|shipped)[{SIGNS}!.]*"
)

_AWAITS_MILESTONE = (
    r"(?i)(?:archived\W+)?(?:awaiting|planning|ready (?:for|to (?:start|plan|define)))"
    r" (?:the )?(?:next|new|v?[0-9][\w.]*) milestone\b"
)


def normalise(text: str, *, paused_at: str = "") -> Status:
    """The lifecycle stage of a written status."""
    if paused_at:
        return Status.PAUSED
    lowered = " ".join(text.lower().replace("_", " ").split())
    for status, words in _WORDS:
        for word in words:
            if word in lowered and re.search(rf"{NEGATED}\b{word}", lowered):
                return status
    return Status.UNKNOWN


def leading_stage(text: str) -> Status | None:
    """The stage that a status begins with; None if it begins with other words, or is over."""
    lowered = " ".join(text.lower().replace("_", " ").split())
    for status, words in _WORDS:
        is_first = status is not Status.COMPLETED and lowered.startswith(words)
        if is_first and " complete" not in lowered:
            return status
    return None


def is_default(text: str) -> bool:
    """Whether a command wrote this status, so that another command may replace it."""
    value = text.strip().replace("_", " ")
    if not value or value.lower() in _DEFAULTS or says_all_done(value):
        return True
    return bool(re.fullmatch(_DEFAULT_FORMS, value))


def says_all_done(text: str) -> bool:
    """Whether a text says that all is done, and nothing else."""
    return bool(re.fullmatch(_ALL_DONE, " ".join(text.replace("_", " ").split())))


def awaits_milestone(text: str) -> bool:
    """Whether a status says that the next milestone is to begin: `Awaiting next milestone`."""
    return bool(re.match(_AWAITS_MILESTONE, " ".join(text.replace("_", " ").split())))
