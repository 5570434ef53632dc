"""Whole council jobs: killed at pairs of steps, and rehearsed with real processes and killed."""

import random
import shutil
from pathlib import Path

from fairlead.council.seats import SEAT_NAMES
from prove.executions import ExecutionProof
from tests.support import council_child as child
from tests.support.council_runs import CouncilProject, a_council
from tests.support.councils import a_run, a_world, calls, killed_after, outcome_of, stored

PAIRS, JOBS = 300, 100
_STEPS = 65  # that a whole job tells
REHEARSED = ("--rehearse", "--here")


def killed_once(place: Path, _: random.Random) -> str:
    """Killed after the step that the case is numbered for."""
    return _killed(place, (int(place.name.rpartition("-")[2]) % _STEPS + 1,))


def killed_twice(place: Path, chance: random.Random) -> str:
    """Killed, resumed, killed, resumed to the end: what an undisturbed job comes to."""
    first = chance.randrange(1, _STEPS)
    return _killed(place, (first, chance.randrange(1, max(2, _STEPS - first))))


def _killed(place: Path, points: tuple[int, ...]) -> str:
    start = a_council(place / "fresh").project
    whole = CouncilProject(shutil.copytree(start, place / "whole/project", symlinks=True))
    whole.run(may_execute=True)
    council = CouncilProject(shutil.copytree(start, place / "killed/project", symlinks=True))
    for point in points:
        child.killed_after(council.project, point)
    before = set(council.service.folder(child.JOB).answers())
    council.run(child.JOB, may_execute=True)
    twice = before & {each.text for each in council.events if each.kind == "call"}
    if twice:
        return f"asked twice: {sorted(twice)}"
    wanted, found = child.outcome_of(whole), child.outcome_of(council)
    return "" if found == wanted else f"{found} instead of {wanted}"


def rehearsed(place: Path, chance: random.Random) -> str:
    """The installed command with real processes, killed at least twice."""
    world = a_world(place)
    for _ in range(chance.randint(2, 4)):
        killed_after(world, chance.randint(1, 30), *REHEARSED)
    before, made = stored(world), len(calls(world))
    done = a_run(world, *REHEARSED)
    if done.returncode:
        return f"exit {done.returncode}: {(done.stderr or done.stdout)[-300:]}"
    twice = before.intersection(calls(world)[made:])
    found = outcome_of(world)
    is_right = (found.status, found.left, len(found.merges), found.phases) == ("DONE", 0, 2, 2)
    votes = [vote for round_, _, vote, _ in found.ballots if round_ == 2]
    if twice or not is_right or votes != ["APPROVE"] * len(SEAT_NAMES):
        return f"asked twice: {sorted(twice)}; {found}"
    return ""


COUNCIL_JOBS = (
    ExecutionProof(
        "councils killed once",
        "a council job that is killed at any step ends with the same ballots and the same work, "
        "and no stored answer is asked for again",
        "jobs",
        _STEPS,
        killed_once,
    ),
    ExecutionProof(
        "councils killed in pairs",
        "a council job that is killed at any two steps ends with the same ballots and the same "
        "work, and no stored answer is asked for again",
        "jobs",
        PAIRS,
        killed_twice,
        workers=2,  # mostly one process at a time
    ),
    ExecutionProof(
        "rehearsed councils",
        "a rehearsed council job that is killed at least twice has one outcome, no process left "
        "and nobody asked twice",
        "jobs",
        JOBS,
        rehearsed,
    ),
)
