"""The headline of a project in the status line: milestone, bar, and one of four views.

An active phase comes first, because a recommendation would mislead while somebody works. Then the
next action, then a complete milestone, then the recorded status. The bar appears only if STATE.md
records a percentage and names a milestone. The texts come from files; the status line removes
control characters. No `re` and no dataclasses: the status line must start fast.
"""

from fairlead.project.derive.meter import cells

ACTIVE = "active"
NEXT = "next"
COMPLETE = "complete"
DEFAULT = "default"

NO_WORKSTREAM = "no active workstream"
STALE_COMMITS = 20  # fewer commits since STATE.md was written are not reported

_UNNAMED = "milestone"  # the placeholder of the template
_LONGEST_WORD = 16
_WORD_BREAKS = "—–-"

# Complete status texts and their short forms.
_SHORT = {
    "paused": "PAUSED",
    "stopped": "PAUSED",
    "executing": "executing",
    "in progress": "executing",
    "ready to execute": "executing",
    "planning": "planning",
    "ready to plan": "planning",
    "planning complete": "planning",
    "discussing": "discussing",
    "verifying": "verifying",
    "phase complete — ready for verification": "verifying",
    "completed": "completed",
    "complete": "completed",
    "done": "completed",
    "phase complete": "completed",
    "all phases complete": "completed",
    "milestone complete": "completed",
}
# The same for texts of three words; `*` matches any word.
_SHORT_PATTERNS = {
    ("executing", "phase", "*"): "executing",
    ("planning", "phase", "*"): "planning",
    ("verifying", "phase", "*"): "verifying",
    ("phase", "*", "complete"): "completed",
    ("*", "milestone", "complete"): "completed",
}
_TICKS = "✓✔✅☑"


class Headline:
    """The position that STATE.md records; empty where it says nothing.

    Numbers are the digits in the file.
    """

    __slots__ = (
        "active_phase", "completed_phases", "milestone", "milestone_name", "next_action", "next_phases",
        "percent", "phase", "phase_name", "phase_total", "state_head", "status", "total_phases",
    )  # fmt: skip

    def __init__(self) -> None:
        self.status = ""
        self.milestone = ""
        self.milestone_name = ""
        self.active_phase = ""
        self.next_action = ""
        self.next_phases: tuple[str, ...] = ()
        self.percent = ""
        self.completed_phases = ""
        self.total_phases = ""
        self.phase = ""  # of the body's `Phase: 3 of 5 (Name)`
        self.phase_total = ""
        self.phase_name = ""
        self.state_head = ""  # the commit at which STATE.md was written


def view_of(headline: Headline) -> str:
    """The first view that applies."""
    if headline.active_phase:
        return ACTIVE
    if headline.next_action and headline.next_phases:
        return NEXT
    return COMPLETE if is_complete(headline) else DEFAULT


def is_complete(headline: Headline) -> bool:
    """Whether the recorded numbers say that the milestone is complete; 0 of 0 is not."""
    if _number(headline.percent) == 100:
        return True
    total = _number(headline.total_phases)
    return total > 0 and _number(headline.completed_phases) == total


def full_text(headline: Headline, remark: str = "") -> str:
    """The full headline: milestone with its bar, the view, then a remark."""
    parts = [_milestone(headline)]
    view = view_of(headline)
    if view == ACTIVE:
        parts.append(_spaced("Phase", headline.active_phase, headline.status))
    elif view == NEXT:
        parts.append(_next(headline))
    elif view == COMPLETE:
        parts.append("milestone complete")
    else:
        parts += [headline.status, _position(headline)]
    return _joined([*parts, remark])


def compact_text(headline: Headline, remark: str = "") -> str:
    """The short headline: no name, no bar, one word for the status."""
    phase = headline.active_phase or headline.phase
    place = f"P{phase}/{headline.phase_total}" if headline.phase_total else f"P{phase}"
    parts = [headline.milestone, place if phase else ""]
    word = short_status(headline.status)
    if not headline.active_phase and is_complete(headline):
        parts.append("complete")
    elif word:
        parts.append(word)
    elif headline.next_action and not phase:
        parts.append(_next(headline))
    return _joined([*parts, remark])


def stale_text(commits: int) -> str:
    """A remark on the commits since STATE.md was written, if there are many."""
    return f"state ~{commits} commits back" if commits >= STALE_COMMITS else ""


def short_status(status: str) -> str:
    """A status as one word: its short form, or the first word of the text."""
    words = status.lower().split()
    key = " ".join(words)
    if key in _SHORT:
        return _SHORT[key]
    if len(words) == 3:
        for pattern, name in _SHORT_PATTERNS.items():
            if all(want in ("*", word) for want, word in zip(pattern, words, strict=True)):
                return name
    if key[:-1].rstrip() == "complete" and key[-1] in _TICKS:
        return "completed"
    text = status.strip()
    for mark in _WORD_BREAKS:
        text = text.replace(mark, " ")
    return text.split()[0][:_LONGEST_WORD] if text[:1].strip() else ""


def _milestone(headline: Headline) -> str:
    if not headline.milestone and not headline.milestone_name:
        return ""
    name = "" if headline.milestone_name == _UNNAMED else headline.milestone_name
    return _spaced(headline.milestone, name, _bar(headline.percent))


def _bar(digits: str) -> str:
    if not digits:
        return ""
    percent = int(min(_number(digits), 100))
    return f"[{cells(percent)}] {percent}%"


def _next(headline: Headline) -> str:
    return _spaced("next", headline.next_action, "/".join(headline.next_phases))


def _position(headline: Headline) -> str:
    if not headline.phase:
        return ""
    place = f"{headline.phase}/{headline.phase_total}"
    return f"{headline.phase_name} ({place})" if headline.phase_name else f"ph {place}"


def _number(digits: str) -> float:
    """The digits as a float, because `int` refuses thousands of digits."""
    return float(digits) if digits else -1.0


def _spaced(*words: str) -> str:
    return " ".join(word for word in words if word)


def _joined(parts: "list[str]") -> str:
    return " · ".join(part for part in parts if part)
