"""Numbers for phases: the next one, one in between, and others when one is taken out.

A number that an open milestone or an active folder has is never given again.
"""

from fairlead.errors import NotRenumbered
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Inventory
from fairlead.model.scope import is_counted
from fairlead.model.standing import Standing
from fairlead.values import replace


def next_number(inventory: Inventory, standing: Standing) -> PhaseId:
    """The first free whole number after the last phase of the milestone."""
    taken = {phase.number for phase in taken_numbers(inventory)}
    mine = [phase.id.number for phase in standing.scope.phases if not standing.scope.is_archived]
    if not mine:
        # Numbers go on from one milestone to the next.
        mine = [each.number for each in _ever(inventory)]
    number = max(mine, default=0) + 1
    while number in taken or not is_counted(PhaseId.parse(str(number))):
        number += 1
    return PhaseId.parse(str(number))


def decimal_after(phase: PhaseId, taken: set[PhaseId]) -> PhaseId:
    """The next free decimal: after 4 comes 4.1; after 4.1 comes 4.2, or 4.1.1 if there is one."""
    if phase.decimals:
        sibling = replace(phase, decimals=(*phase.decimals[:-1], phase.decimals[-1] + 1))
        if sibling not in taken:
            return PhaseId.parse(sibling.short)
    depth = len(phase.decimals)
    used = [
        each.decimals[depth]
        for each in taken
        if (each.number, each.letter, each.decimals[:depth])
        == (phase.number, phase.letter, phase.decimals)
        and len(each.decimals) > depth
    ]
    return PhaseId.parse(f"{phase.short}.{max(used, default=0) + 1}")


def shifted(standing: Standing, gone: PhaseId) -> dict[PhaseId, PhaseId]:
    """The numbers that phases get when one of them is removed."""
    mine = [phase.id for phase in standing.scope.phases if phase.id != gone]
    depth = len(gone.decimals)
    lead = (gone.number, gone.letter, *gone.decimals)
    hanging = tuple(
        each.short
        for each in mine
        if (each.number, each.letter, *each.decimals)[: len(lead)] == lead
        or (not depth and each.number == gone.number)
    )
    if hanging:
        raise NotRenumbered(gone.short, hanging)
    if not depth:
        later = [each for each in mine if each.number > gone.number]
        return {each: PhaseId.parse(replace(each, number=each.number - 1).short) for each in later}
    numbers = {}
    for each in mine:
        head, last = each.decimals[: depth - 1], each.decimals[depth - 1 : depth]
        is_sibling = (each.number, each.letter, head) == (
            gone.number,
            gone.letter,
            gone.decimals[:-1],
        )
        if is_sibling and last and last[0] > gone.decimals[-1]:
            decimals = (*head, last[0] - 1, *each.decimals[depth:])
            numbers[each] = PhaseId.parse(replace(each, decimals=decimals).short)
    return numbers


def taken_numbers(inventory: Inventory) -> set[PhaseId]:
    """The numbers that a new phase cannot have: those of open milestones and of active folders."""
    closed = {each.version for each in inventory.roadmap.milestones if each.is_closed}
    listed = {each.id for each in inventory.roadmap.phases if each.milestone not in closed}
    return {
        each
        for each in listed | {folder.id for folder in inventory.folders if folder.id}
        if is_counted(each)
    }


def _ever(inventory: Inventory) -> set[PhaseId]:
    """Every number that was ever given."""
    listed = {each.id for each in inventory.roadmap.phases}
    folders = (*inventory.folders, *inventory.archived)
    return {
        each for each in listed | {folder.id for folder in folders if folder.id} if is_counted(each)
    }
