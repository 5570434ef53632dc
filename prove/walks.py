"""Two thousand walks through a project: after no event does a document say what is not so."""

from prove.numbered import NumberedProof
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
)
