"""STATE-ARCHIVE.md: where replaced and retired text of STATE.md is kept, newest at the end."""

from collections.abc import Sequence
from datetime import datetime

from fairlead.text.lines import common_ending

_TITLE = "# State Archive"


def archived(text: str, entries: Sequence[str], why: str, now: datetime) -> str:
    """The archive with these lines below a dated heading of their own."""
    if not entries:
        return text
    head = text.rstrip("\r\n") or _TITLE
    lines = (head, "", f"## {now:%Y-%m-%d}: {why}", "", *entries, "")
    return (common_ending(text) if text else "\n").join(lines)
