"""Blockers that results of tasks record, and which of them a later result resolves.

Such an entry starts with the place of its task, `[Phase 2 P03]: Task 1: why`. A result removes an
entry of exactly its own place and task, and only if it is a single line: anything else is another
task's or a person's. A task that no plan is known for has the place `[Phase 2 task]`.
"""

from collections import Counter
from typing import NamedTuple

from fairlead.core.ids import PhaseId
from fairlead.project.state.documents import blocker_lists
from fairlead.project.state.entries import entries_of, lines_of_entry, with_entry, without_entry
from fairlead.project.state.fields import BLOCKERS
from fairlead.project.state.recorded import plan_label
from fairlead.text.document import Document
from fairlead.text.inline import one_line


class TaskOrigin(NamedTuple):
    """The place of a task: its phase and plan as far as they are known, and its name."""

    phase: str
    plan: str
    task: str

    def entry(self, reason: str) -> str:
        """The blocker of this task with this reason.

        The name is bold if the reason has a colon: otherwise it would end at the last one.
        """
        why, name = one_line(reason, "the reason"), one_line(self.task, "the task")
        return f"[{self._place}]: " + (f"**{name}**: {why}" if ": " in why else f"{name}: {why}")

    def owns(self, entry: str) -> bool:
        """Whether an entry is a blocker of this task."""
        name = one_line(self.task, "the task")
        place, _, rest = entry.partition("]: ")
        if place != f"[{self._place}":
            return False
        return rest.startswith(f"**{name}**: ") or rest.rpartition(": ")[0] == name

    @property
    def _place(self) -> str:
        plan = one_line(self.plan, "the plan") if self.plan else ""
        if not self.phase:
            return f"Plan {plan}" if plan else "Task"
        return f"Phase {PhaseId.parse(self.phase).short} {plan_label(plan) if plan else 'task'}"


def with_blocker_of(document: Document, origin: TaskOrigin, reason: str) -> Document:
    """The document with this reason as the only blocker of a task."""
    entry = origin.entry(reason)
    if any(item.text == entry for item in entries_of(document, BLOCKERS)):
        return document
    return with_entry(without_blockers_of(document, origin), BLOCKERS, entry)


def without_blockers_of(document: Document, origin: TaskOrigin) -> Document:
    """The document without the blockers that earlier results of a task recorded."""
    while True:
        items = entries_of(document, BLOCKERS)
        own = (item for item in items if origin.owns(item.text))
        item = next((item for item in own if item.start >= item.last.start), None)
        if item is None:
            return document
        document = without_entry(document, BLOCKERS, item)


def resolved_between(before: Document, after: Document) -> tuple[str, ...]:
    """The lines of the blockers that a change removed."""
    if before.text == after.text:
        return ()
    was, now = (
        Counter(lines_of_entry(document, item) for item in blocker_lists(document))
        for document in (before, after)
    )
    return tuple((was - now).elements())
