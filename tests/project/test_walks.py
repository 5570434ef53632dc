"""Events in any order leave documents that are true; the long tier takes two thousand such walks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.interfaces.cli import main
from fairlead.project import service
from fairlead.project.state import blockers, digest, edits, metrics
from tests.support import walks
from tests.support.book_walks import try_book_walk
from tests.support.run_walks import try_killed_run, try_run_walk


@pytest.mark.sweep(3)
@pytest.mark.parametrize("number", range(12))
def test_no_event_of_a_walk_leaves_a_contradiction(number: int) -> None:
    assert walks.try_walk(7, number) == ""


def test_a_planted_contradiction_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that forgets the position of the phase it belongs to, as it once did."""
    monkeypatch.setattr(edits, "contradicted_fields", lambda *_: {})
    found = (walks.try_walk(7, number) for number in range(40))
    assert any(".planning/STATE.md" in each and "the files say" in each for each in found)


def test_a_planted_change_by_a_refusal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    done = main.run

    def careless(words: list[str]) -> int:
        code = done(words)
        if words[0] == "phase" and code:
            Path(".planning/STATE.md").write_text("gone", "utf-8")
        return code

    monkeypatch.setattr(walks, "run", careless)
    found = (walks.try_walk(7, number) for number in range(12))
    assert any("was refused with" in each for each in found)


# --- walks with books ----------------------------------------------------------------------------


@pytest.mark.sweep(2)
@pytest.mark.parametrize("number", range(6))
def test_state_matches_the_books_of_a_walk_with_parallel_plans(number: int) -> None:
    assert try_book_walk(11, number) == ""


def _plans_are_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(blockers, "plan_label", lambda _: "P01")


def _done_plans_are_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(digest, "_next_plan", lambda plans: min(digest._done(plans) + 1, len(plans)))


def _open_plans_count_as_complete(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(metrics.Recorded, "open_rows", property(lambda _: frozenset()))


def _resolved_blockers_are_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(service, "resolved_between", lambda *_: ())


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (_plans_are_ignored, "blockers: "),
        (_done_plans_are_counted, "Plan: "),
        (_open_plans_count_as_complete, "average: "),
        (_resolved_blockers_are_dropped, "is in neither file"),
    ],
)
def test_the_books_find_a_planted_fault(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], said: str
) -> None:
    plant(monkeypatch)

    assert any(said in try_book_walk(11, number) for number in range(20))


# --- walks of runs -------------------------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize("number", range(6))
def test_state_matches_the_books_after_runs_that_fail_stop_break_or_are_rehearsed(
    number: int,
) -> None:
    assert try_run_walk(3, number) == ""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("number", range(4))
def test_state_matches_the_books_after_a_killed_run_was_continued(number: int) -> None:
    assert try_killed_run(3, number) == ""


def _phases_stay_active(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(digest, "with_next_step", lambda state, _: state)


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (_plans_are_ignored, "plans with a blocker: "),
        (_phases_stay_active, "active_phase: "),
    ],
)
def test_the_books_find_a_fault_planted_into_runs(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], said: str
) -> None:
    plant(monkeypatch)

    assert any(said in try_run_walk(3, number) for number in range(6))
