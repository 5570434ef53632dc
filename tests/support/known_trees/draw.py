"""Draws a truth: milestones, phases, plans, names and where the folders are."""

from dataclasses import replace
from random import Random

from tests.support.known_trees.model import (
    KnownMilestone,
    KnownPhase,
    KnownProject,
    MilestoneState,
    Place,
)

_THINGS = (
    "Login",
    "Search",
    "Export",
    "Billing",
    "Profile",
    "Alerts",
    "Sync",
    "Report",
    "Import",
    "Audit",
    "Cache",
    "Queue",
    "Editor",
    "Charts",
    "Themes",
    "Backup",
)
_KINDS = ("Core", "Polish", "Wiring", "Cleanup", "API", "Views", "Rules", "Storage", "Tests")
_TITLES = ("MVP", "Daily Use", "Hardening", "Team Features", "Gap Closure", "Speed & Size")
_WORDS = ("harbour-lights", "first-light", "open-water", "safe-return", "long-haul", "deep-keel")
_FORMS = ("plain",) * 14 + ("named", "single", "phase", "unpadded", "gone", "nested")
_SHIPPED_PLACES = (Place.MILESTONES,) * 4 + (Place.ARCHIVES, Place.ARCHIVE)


def draw_project(random: Random) -> KnownProject:
    """One project; the same random numbers give the same one."""
    count = random.choice([1, 1, 2, 3, 3, 4, 5, 6])
    restarts = count > 1 and random.random() < 0.25
    names = _names(random, count)
    states = _states(random, count)
    milestones: list[KnownMilestone] = []
    is_listed = count > 1 or random.random() < 0.5
    start = 1 if is_listed or random.random() < 0.7 else random.randint(2, 6)
    for name, state in zip(names, states, strict=True):
        if restarts:
            start = 1
        elif milestones and random.random() < 0.15:
            start += random.randint(1, 3)  # a reserved gap
        phases = _phases(random, state, start)
        if restarts and state in (MilestoneState.PARKED, MilestoneState.PLANNED):
            # Its folders would have the numbers of the running milestone's.
            phases = [KnownPhase(each.number, each.name, 0, 0, has_folder=False) for each in phases]
        start = int(phases[-1].number.partition(".")[0]) + 1
        milestones.append(_milestone(random, name, state, phases, len(milestones)))
    placed = _placed(random, milestones, restarts=restarts)
    return KnownProject(
        title=f"{random.choice(_THINGS)} {random.choice(_KINDS)}",
        milestones=tuple(placed),
        restarts=restarts,
        is_listed=is_listed,
        has_future=is_listed and random.random() < 0.15,
        workstream=random.choice(("import-lane", "hooks")) if random.random() < 0.12 else "",
    )


def _names(random: Random, count: int) -> list[str]:
    if random.random() < 0.12:
        return random.sample(_WORDS, count)
    prefix = "" if random.random() < 0.12 else "v"
    major, minor, names = random.choice([0, 1, 1, 1, 4]), 0, []
    for _ in range(count):
        names.append(f"{prefix}{major}.{minor}")
        if random.random() < 0.3:
            major, minor = major + 1, 0
        else:
            minor += 1
    if count > 2 and random.random() < 0.15:  # the highest version is not the newest
        names[-1], names[-2] = names[-2], names[-1]
    return names


def _states(random: Random, count: int) -> list[MilestoneState]:
    running = MilestoneState.RUNNING
    states = [MilestoneState.SHIPPED] * count
    if count == 1 or random.random() < 0.65:
        states[-1] = running
        if count > 2 and random.random() < 0.2:
            states[-2:] = [running, MilestoneState.PLANNED]
    if count > 2 and random.random() < 0.2:
        at = random.randrange(1, count - 1)
        if states[at] is MilestoneState.SHIPPED:
            states[at] = MilestoneState.PARKED
    return states


def _milestone(
    random: Random, name: str, state: MilestoneState, phases: list[KnownPhase], at: int
) -> KnownMilestone:
    is_word = name in _WORDS
    return KnownMilestone(
        name=name,
        title="" if is_word else random.choice(_TITLES),
        state=state,
        shipped_on=f"2026-0{at + 1}-{random.randint(10, 28)}",
        phases=tuple(phases),
    )


def _phases(random: Random, state: MilestoneState, start: int) -> list[KnownPhase]:
    count = random.randint(1, 5)
    numbers = [str(start + each) for each in range(count)]
    if random.random() < 0.15:
        at = random.randrange(count)
        numbers.insert(at + 1, f"{numbers[at]}.1")
    names = random.sample([f"{one} {two}" for one in _THINGS for two in _KINDS], len(numbers))
    if state is MilestoneState.SHIPPED:
        complete = len(numbers)
    elif state is MilestoneState.RUNNING:
        complete = random.randint(0, len(numbers))
    else:
        complete = 0
    phases = []
    for at, (number, name) in enumerate(zip(numbers, names, strict=True)):
        if at < complete:
            phases.append(_complete(random, number, name, is_last=at == complete - 1))
        elif at == complete and state is not MilestoneState.PLANNED:
            phases.append(_open(random, number, name))
            if phases[-1].done and at:
                # Work that has gone on leaves no phase behind that waits for its verification.
                phases[-2] = replace(phases[-2], is_verified=True)
        else:
            phases.append(KnownPhase(number, name, 0, 0, has_folder=random.random() < 0.15))
    return phases


def _complete(random: Random, number: str, name: str, *, is_last: bool) -> KnownPhase:
    form = random.choice(_FORMS)
    plans = 1 if form in ("single", "phase") else random.randint(1, 4)
    # A phase before the last one is verified, as the workflow of the reference tool does it.
    is_verified = not is_last or form == "gone" or random.random() < 0.6
    return KnownPhase(number, name, plans, plans, is_verified, form)


def _open(random: Random, number: str, name: str) -> KnownPhase:
    plans = random.choice([0, 1, 2, 3, 4])
    done = random.randint(0, max(0, plans - 1))
    return KnownPhase(number, name, plans, done, has_folder=bool(plans) or random.random() < 0.5)


def _placed(
    random: Random, milestones: list[KnownMilestone], *, restarts: bool
) -> list[KnownMilestone]:
    placed = []
    form = "apart" if restarts else random.choice(("apart",) * 6 + ("flat", "joined", "never"))
    for each in milestones:
        place, has_leftovers = Place.PHASES, False
        has_earlier = False
        if each.state is MilestoneState.SHIPPED and form != "never":
            whole = {"flat": Place.FLAT, "joined": Place.JOINED}
            place = whole.get(form) or random.choice(_SHIPPED_PLACES)
            has_leftovers = not restarts and random.random() < 0.1
            has_earlier = form == "apart" and not restarts and random.random() < 0.1
        placed.append(
            replace(each, place=place, has_leftovers=has_leftovers, has_earlier=has_earlier)
        )
    return placed
