"""Two thousand random walks through a project: the documents stay true after every event."""

from prove.numbered import NumberedProof
from tests.support.book_walks import try_book_walk
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
)
