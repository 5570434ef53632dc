"""Two thousand random walks through a project: the documents stay true after every event."""

from prove.numbered import NumberedProof
from tests.support.book_walks import try_book_walk
from tests.support.run_walks import try_killed_run, try_run_walk
from tests.support.walks import try_walk

WALKS = (
    NumberedProof(
        name="walks",
        claim="after every event of a walk of forty, in any order, the documents say what the "
        "files say, and a refused event has changed nothing",
        unit="walks",
        count=2_000,
        try_number=try_walk,
        batch=20,
    ),
    NumberedProof(
        name="book walks",
        claim="after every event of a walk with parallel plans and equal task names, blockers, "
        "velocity, position and the active phase are those of books kept apart from the product",
        unit="walks",
        count=500,
        try_number=try_book_walk,
        batch=10,
    ),
    NumberedProof(
        name="run walks",
        claim="after runs whose tasks of equal names succeed, fail or are blocked, and which are "
        "stopped, broken or rehearsed, blockers, counts, position and the active phase are those "
        "of the books",
        unit="walks",
        count=200,
        try_number=try_run_walk,
        batch=10,
    ),
    NumberedProof(
        name="killed runs",
        claim="a run that is killed before any action after its first landing is continued by its "
        "command, and STATE.md then matches the books",
        unit="runs",
        count=100,
        try_number=try_killed_run,
        batch=5,
    ),
)
