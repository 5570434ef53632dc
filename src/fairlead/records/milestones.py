"""MILESTONES.md: what was shipped, newest first."""

from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.text.splice import Splice, block_after, spliced
from fairlead.values import dataclass

_TITLE = "# Milestones"


@dataclass(frozen=True, slots=True)
class Shipped:
    """A milestone at its end."""

    version: str
    name: str
    date: str
    phases: str  # `1-4`
    phase_count: int
    plan_count: int
    task_count: int
    accomplishments: tuple[str, ...] = ()
    unverified: int = 0  # phases whose verification has not passed
    override: str = ""  # why it was closed with open phases; empty if none was

    @property
    def heading(self) -> str:
        """The heading of its entry."""
        name = f" {one_line(self.name, 'the name')}" if self.name else ""
        return f"## {self.version}{name} (Shipped: {self.date})"

    @property
    def lines(self) -> tuple[str, ...]:
        """Its whole entry."""
        counts = ", ".join(
            f"{count} {word}{'' if count == 1 else 's'}"
            for count, word in (
                (self.phase_count, "phase"),
                (self.plan_count, "plan"),
                (self.task_count, "task"),
            )
        )
        lines = [self.heading, "", f"**Phases completed:** {self.phases} ({counts})"]
        if self.accomplishments:
            lines += ["", "**Key accomplishments:**", ""]
            lines += [f"- {one_line(each, 'the accomplishment')}" for each in self.accomplishments]
        kind = "override_closeout" if self.override or self.unverified else "verified_closeout"
        lines += ["", f"**Closeout:** {kind}"]
        if self.unverified:
            lines.append(f"**Known verification overrides:** {self.unverified}")
        if self.override:
            lines += ["", "### Known Gaps", "", f"- {one_line(self.override, 'the reason')}"]
        return (*lines, "", "---")


def with_shipped(document: Document, shipped: Shipped) -> Document:
    """Record a milestone above the older ones; one that is recorded already stays as it is."""
    document.require_writable()
    if is_recorded(document, shipped.version):
        return document
    ending = document.ending
    if not document.text.strip():
        return document.replaced(ending.join((_TITLE, "", *shipped.lines, "")))
    first = next((each for each in document.sections if each.level == 2), None)
    if first:
        start = document.lines[first.heading].start
        entry = Splice(start, start, ending.join((*shipped.lines, "", "")))
    else:
        last = [line for line in document.lines if line.text.strip()][-1]
        entry = block_after(last, shipped.lines, ending)
    return document.replaced(spliced(document.text, [entry]))


def is_recorded(document: Document, version: str) -> bool:
    """Whether a milestone has its entry."""
    wanted = version.casefold()
    return any(
        section.level == 2 and wanted in section.title.casefold().split()
        for section in document.sections
    )
