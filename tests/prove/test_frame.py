"""`make prove` stops and resumes, counts every case once, and writes its page from figures."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from prove.frame import Progress, Tally, Trial, run_proof, shares
from prove.numbered import BATCH, NumberedProof
from prove.page import FIGURES, PAGE, page_of
from prove.table import proofs
from tests.support.figures import read_json

NOTHING_LEFT = float("inf")


def no_multiple_of_700(seed: int, number: int) -> str:
    """A claim that is wrong now and then."""
    return f"{number} is one" if number and number % 700 == 0 else ""


@pytest.fixture
def toy() -> NumberedProof:
    """A proof that takes no time."""
    return NumberedProof(
        "toy",
        "no number is a multiple of 700",
        "numbers",
        3 * BATCH,
        no_multiple_of_700,
        ("Makefile",),
    )


def test_a_second_call_goes_on_where_the_first_stopped(toy: NumberedProof, tmp_path: Path) -> None:
    output: list[str] = []
    first = Progress(1, tmp_path)
    assert not run_proof(toy, first, 1, time.monotonic() - 1, tmp_path, output.append)
    row = first.row(toy)
    row |= {"done": [f"1|0|{BATCH}"], "tried": BATCH}
    first.save()
    second = Progress(1, tmp_path)
    assert run_proof(toy, second, 1, NOTHING_LEFT, tmp_path, output.append)
    assert second.row(toy)["tried"] == 3 * BATCH
    assert "toy: 1 of 3 cases were done before" in output


def test_what_is_found_is_said_and_kept(toy: NumberedProof, tmp_path: Path) -> None:
    output: list[str] = []
    progress = Progress(1, tmp_path)
    run_proof(toy, progress, 1, NOTHING_LEFT, tmp_path, output.append)
    findings = Progress(1, tmp_path).row(toy)["findings"]
    assert isinstance(findings, list)
    assert sorted(findings) == [f"seed 1, number {n}: {n} is one" for n in (1400, 2100, 2800, 700)]
    assert sum("FOUND" in line for line in output) == len(findings)


def test_figures_about_other_source_are_forgotten(toy: NumberedProof, tmp_path: Path) -> None:
    progress = Progress(1, tmp_path)
    progress.row(toy).update(source="other", tried=5)
    assert progress.row(toy)["tried"] == 0


def test_two_runs_keep_each_others_rows(toy: NumberedProof, tmp_path: Path) -> None:
    one, other = Progress(1, tmp_path), Progress(1, tmp_path)
    one.row(toy)["tried"] = 1
    one.save()
    other.row(NumberedProof("other", "", "", 0, no_multiple_of_700, ("Makefile",)))["tried"] = 2
    other.save()
    assert set(read_json(one.path)) == {"toy", "other"}


def test_every_proof_gets_an_equal_part_of_the_time(toy: NumberedProof) -> None:
    start = time.monotonic()
    parts = [until - start for _, until in shares([toy, toy], 100)]
    assert parts == pytest.approx([50, 100], abs=1)


def test_proofs_have_names_of_their_own() -> None:
    names = [proof.name for proof in proofs()]
    assert len(set(names)) == len(names)


def test_the_page_of_proofs_is_what_its_figures_say() -> None:
    if FIGURES.exists():
        assert PAGE.read_text("utf-8") == page_of(read_json(FIGURES))


def test_a_partial_result_says_how_far_it_came() -> None:
    row = {
        "claim": "c",
        "unit": "kills",
        "tried": 5,
        "cases": 10,
        "done": 5,
        "complete": False,
        "found": 0,
        "seconds": 1.0,
        "date": "2026-01-01",
        "source": "abc",
        "figures": {"s the slowest": 2.5},
    }
    page = page_of({"long": {"kill": row}})
    assert "| kill | c; 2.5 s the slowest | 5 kills (5 of 10 cases) | 0 |" in page


@dataclass(frozen=True, slots=True)
class _WithResource:
    """A proof whose cases need something that is open."""

    marker: str
    name: str = "resource"
    claim: str = "the resource is open"
    unit: str = "looks"
    covers: tuple[str, ...] = ("Makefile",)
    workers: int = 1

    def why_not(self) -> str:
        return ""

    def cases(self, seed: int, scratch: Path) -> list[str]:
        del scratch
        return [f"{seed}:{number}" for number in range(3)]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        del scratch
        closed = Path(self.marker)

        def trial(case: str) -> Tally:
            return Tally(1, (f"{case}: closed",) if closed.exists() else ())

        try:
            yield trial
        finally:
            closed.touch()


def test_the_resources_of_a_proof_are_open_until_its_last_case(tmp_path: Path) -> None:
    output: list[str] = []
    proof, progress = _WithResource(str(tmp_path / "closed")), Progress(1, tmp_path)

    assert run_proof(proof, progress, 1, NOTHING_LEFT, tmp_path, output.append)

    assert progress.row(proof)["findings"] == []
    assert (tmp_path / "closed").exists()  # and then they are closed
