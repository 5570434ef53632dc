"""A merged roadmap in which both sides gave one number to a phase of their own.

Both entries are kept, and nobody but a person can say which of them gets another number: so it
is a conflict, although no line of one side stands in the way of the other.
"""

from collections.abc import Iterable

from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Listed
from fairlead.records.merge import Conflict
from fairlead.records.roadmap import names_of, read_roadmap
from fairlead.text.document import Document


def shared_numbers(sides: Iterable[str], merged: str) -> tuple[Conflict, ...]:
    """The numbers that stand for two phases in the merge, and did on no side."""
    known = {key for side in sides for key in _clashes(side)}
    return tuple(
        Conflict(f"phase {phase.id.short} ({names_of(phase)})", phase.clashes[1].line)
        for key, phase in _clashes(merged).items()
        if key not in known
    )


def _clashes(text: str) -> dict[tuple[str, PhaseId], Listed]:
    found = read_roadmap(Document(text)).phases
    return {(phase.milestone, phase.id): phase for phase in found if phase.clashes}
