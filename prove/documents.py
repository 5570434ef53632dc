"""A million generated and mutated documents, read, edited and checked by one oracle."""

from random import Random

from prove.numbered import NumberedProof
from tests.support.documents import examine, generated, mutated
from tests.support.plans import a_mutated_plan, examine_plan

TEXT = ("src/fairlead/text", "src/fairlead/project/state/documents.py")


def try_document(seed: int, number: int) -> str:
    """Make a document from the seed and its number, and examine it."""
    random = Random(f"{seed}/{number}")  # noqa: S311
    text = generated(random)
    if random.random() < 0.6:
        text = mutated(text, random)
    return "; ".join(examine(text, random).faults)


def try_plan(seed: int, number: int) -> str:
    """Damage a plan file, then read, judge and edit it."""
    random = Random(f"plan {seed}/{number}")  # noqa: S311
    return "; ".join(examine_plan(a_mutated_plan(random), random))


DOCUMENTS = (
    NumberedProof(
        name="plans",
        claim="a damaged plan file is edited as asked and in nothing else, or refused with its line",
        unit="plan files",
        count=100_000,
        try_number=try_plan,
        covers=(
            *TEXT,
            "src/fairlead/planphase/documents.py",
            "src/fairlead/planphase/plan_edits.py",
        ),
    ),
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
