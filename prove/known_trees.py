"""Generated projects with a known truth, and repairs of real ones."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prove.frame import Tally, Trial
from prove.numbered import NumberedProof
from tests.support.corpus import real_projects
from tests.support.figures import PRODUCT
from tests.support.known_trees.judge import try_real, try_tree


@dataclass(frozen=True, slots=True)
class RealProjectsProof:
    """A claim about every real project beside the repository. Cases are numbers, not names."""

    name: str = "real repairs"
    claim: str = (
        "a repair of a real project changes only lines that check reports, makes no statement false, "
        "invents no file, leaves what it says it leaves, changes nothing when repeated, and undo "
        "restores every byte"
    )
    unit: str = "projects"
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2

    def why_not(self) -> str:
        """Why it cannot run here; empty if it can."""
        return "" if real_projects() else "the real projects are not beside this repository"

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Every project by its number."""
        del seed, scratch
        return [str(number) for number in range(len(real_projects()))]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """Nothing to prepare."""
        del scratch
        yield try_number_of_project


def try_number_of_project(case: str) -> Tally:
    """Repair one project."""
    fault = try_real(real_projects()[int(case)])
    return Tally(1, (f"project {case}: {fault}",) if fault else ())


KNOWN_TREES = (
    NumberedProof(
        name="known trees",
        claim="where the evidence is intact, status is certain and right and check reports exactly "
        "the false lines; where evidence was removed, no other number is stated; a repair changes "
        "false lines only, a second one nothing, and undo restores every byte",
        unit="projects",
        count=2_000,
        try_number=try_tree,
        batch=20,
    ),
    RealProjectsProof(),
)
