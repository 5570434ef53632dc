"""A million generated and mutated documents, read and edited against the one oracle."""

from random import Random

from prove.numbered import NumberedProof
from tests.support.documents import examine, generated, mutated

TEXT = ("src/fairlead/text", "src/fairlead/records/state.py")


def try_document(seed: int, number: int) -> str:
    """Make a document from the seed and its number, and examine it."""
    random = Random(f"{seed}/{number}")  # noqa: S311
    text = generated(random)
    if random.random() < 0.6:
        text = mutated(text, random)
    return "; ".join(examine(text, random).faults)


DOCUMENTS = (
    NumberedProof(
        name="documents",
        claim="every text comes back byte for byte, both readers agree, and an edit changes its "
        "own span or is refused with its place",
        unit="documents",
        count=1_000_000,
        try_number=try_document,
        covers=TEXT,
    ),
)
