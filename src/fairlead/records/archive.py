"""STATE-ARCHIVE.md: where replaced and retired text of STATE.md is kept, newest at the end.

Whatever is given is written, also when the archive holds the same words already: an entry that
was made twice was there twice.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from fairlead.text.lines import common_ending, split_lines, without_ending

_TITLE = "# State Archive"


def archived(text: str, entries: Sequence[str], why: str, now: datetime) -> str:
    """The archive with these lines below a dated heading of their own."""
    if not entries:
        return text
    head = text.rstrip("\r\n") or _TITLE
    lines = (head, "", f"## {now:%Y-%m-%d}: {why}", "", *entries, "")
    return (common_ending(text) if text else "\n").join(lines)


def kept_in_archive(text: str, moved: Mapping[str, Sequence[str]], why: str, now: datetime) -> str:
    """The archive with these entries at its end, below the section they came from."""
    ending = common_ending(text)
    lines: list[str] = []
    for title, entries in moved.items():
        lines += ["", f"### {title}", "", *(_as_entry(entry, ending) for entry in entries)]
    return archived(text, lines[1:], why, now)


def _as_entry(entry: str, ending: str) -> str:
    joined = ending.join(without_ending(line) for line in split_lines(entry))
    return joined if joined.lstrip().startswith(("-", "*", "+")) else f"- {joined}"
