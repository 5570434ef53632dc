"""A sample of damaged documents of real projects; the long tier tries 200,000."""

from pathlib import Path

import pytest

from tests.support.figures import record_quick
from tests.support.mutations import ENTRY, judged, private_home, sources, try_mutation

COUNT = 100
STATE = ".planning/STATE.md"
BEFORE = {STATE: b"# State\n\n## Decisions\n\nNone yet.\n\n## Notes\n\nmine\n"}


def test_a_damaged_document_gives_a_message_and_nothing_is_lost(
    installed_command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    private_home(tmp_path)
    held = sources(tmp_path)
    found = [what for number in range(COUNT) if (what := try_mutation(held, 7, number))]
    assert found == []
    record_quick(
        "mutations",
        "a damaged document gives a clear message and a true exit code, and nothing is lost",
        {"mutations": COUNT, "found": 0},
    )


@pytest.mark.parametrize(
    ("after", "is_refused", "found"),
    [
        (b"# State\n", True, f"{STATE} was changed"),
        (BEFORE[STATE], False, "success, and the entry is not there"),
        (f"# State\n\n- {ENTRY}\n".encode(), False, "the line b'## Decisions' is gone"),
    ],
)
def test_a_loss_a_false_success_and_a_broken_refusal_are_found(
    after: bytes, is_refused: bool, found: str
) -> None:
    assert found in judged(BEFORE, {STATE: after}, "add-decision", is_refused=is_refused)


def test_a_rewrite_of_what_cannot_be_represented_is_found() -> None:
    latin = {STATE: b"caf\xe9\n"}
    found = judged(latin, {STATE: f"caf?\n{ENTRY}\n".encode()}, "sync", is_refused=False)
    assert found == [f"{STATE} cannot be represented, and was rewritten"]
