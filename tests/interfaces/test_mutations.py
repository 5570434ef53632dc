"""Commands on a sample of damaged documents of real projects; `make prove` tries 200,000."""

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
    originals = sources(tmp_path)
    problems = [what for number in range(COUNT) if (what := try_mutation(originals, 7, number))]
    assert problems == []
    record_quick(
        "mutations",
        "a damaged document gives a clear message and a true exit code, and nothing is lost",
        {"mutations": COUNT, "found": 0},
    )


@pytest.mark.parametrize(
    ("after", "is_refused", "problems"),
    [
        (b"# State\n", True, f"{STATE} was changed"),
        (BEFORE[STATE], False, "success, and the entry is not there"),
        (f"# State\n\n- {ENTRY}\n".encode(), False, "the line b'## Decisions' is gone"),
    ],
)
def test_losses_false_successes_and_broken_refusals_are_detected(
    after: bytes, is_refused: bool, problems: str
) -> None:
    assert problems in judged(BEFORE, {STATE: after}, "add-decision", is_refused=is_refused)


def test_a_rewrite_of_unreadable_text_is_detected() -> None:
    latin = {STATE: b"caf\xe9\n"}
    problems = judged(latin, {STATE: f"caf?\n{ENTRY}\n".encode()}, "sync", is_refused=False)
    assert problems == [f"{STATE} cannot be represented, and was rewritten"]
