"""The boxes of a plan's tasks, `- [x] Task 2: …`: read, ticked and unticked.

A module of its own, because `status` needs the boxes and nothing else of a plan.
"""

import re
from collections.abc import Collection

from fairlead.core.patterns import lazy_pattern
from fairlead.text.document import Document

_TASK_BOX = (
    r"(?P<begin>[ \t]*[-*][ \t]+\[)(?P<mark>[ xX])(?P<rest>\][ \t]+(?:\*\*)?Task (?P<number>[0-9]{1,4})\b"
    r"[^\r\n]*?)(?: \(completed [0-9]{4}-[0-9]{2}-[0-9]{2}\))?[ \t]*"
)
_BOX = lazy_pattern(_TASK_BOX + r"\Z", re.IGNORECASE)
_ANY_BOX = lazy_pattern(rf"^{_TASK_BOX}(?=\r?$)", re.IGNORECASE | re.MULTILINE)


def with_tasks_done(document: Document, numbers: Collection[int], date: str) -> Document:
    """Tick the boxes of these tasks; a plan without boxes is not changed."""
    text = document.text
    for line in reversed(document.lines):  # backward, so that earlier offsets stay valid
        match = _BOX.match(line.text) if line.is_prose else None
        if match and match["mark"] == " " and int(match["number"]) in numbers:
            ticked = f"{match['begin']}x{match['rest']} (completed {date})"
            text = text[: line.start] + ticked + text[line.end :]
    return document.replaced(text)


def ticked_tasks(text: str) -> set[int]:
    """The numbers of the tasks whose box in a plan is ticked."""
    if "[x]" not in text and "[X]" not in text:
        return set()  # most plans; the pattern is not even compiled
    boxes = _ANY_BOX.finditer(text)
    return {int(box["number"]) for box in boxes if box["mark"] != " "}


def without_ticks(text: str) -> str:
    """The text of a plan with every box unticked."""
    return _ANY_BOX.sub(r"\g<begin> \g<rest>", text)
