"""Events in any order leave documents that are true; the long tier takes two thousand such walks."""

from pathlib import Path

import pytest

from fairlead.interfaces.cli import main
from fairlead.records import tasks
from tests.support import walks


@pytest.mark.parametrize("number", range(12))
def test_no_event_of_a_walk_leaves_an_untruth(number: int) -> None:
    assert walks.try_walk(7, number) == ""


def test_a_planted_untruth_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that forgets the position of the phase it belongs to, as it once did."""
    monkeypatch.setattr(tasks, "untrue_words", lambda *_: {})
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
