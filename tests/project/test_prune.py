"""Pruning: STATE.md becomes short, and every entry is in one of the two files."""

from time import perf_counter

import pytest

from fairlead.project.state.archive import TARGET_LINES, kept_in_archive, pruned
from fairlead.project.state.entries import is_resolved
from fairlead.text.document import Document
from fairlead.text.lists import items_of
from tests.support.states import STATE
from tests.support.times import NOON


def long_state(decisions: int = 120, rows: int = 8) -> str:
    entries = "\n".join(
        f"- [Phase {at}]: decision {at}\n  with a reason" for at in range(decisions)
    )
    table = "\n".join(f"| Phase 1 P{at:02d} | 5m | - | - |" for at in range(rows))
    blockers = "- open\n- ~~gone~~ resolved in phase 2\n- [RESOLVED] also gone"
    return (
        STATE.replace("### Decisions\n\nNone yet.", f"### Decisions\n\n{entries}")
        .replace("### Blockers/Concerns\n\nNone yet.", f"### Blockers/Concerns\n\n{blockers}")
        .replace(
            "*Updated after",
            f"| Plan | Duration | Tasks | Files |\n|---|---|---|---|\n{table}\n\n*Updated after",
        )
    )


def test_a_short_document_is_left_alone() -> None:
    assert pruned(Document(STATE), NOON).moved == {}


def test_the_oldest_go_until_the_target_is_reached() -> None:
    text = long_state()
    cut = pruned(Document(text), NOON)

    assert len(cut.document.lines) <= 112  # the five latest decisions stay in any case
    assert cut.moved["Blockers/Concerns"] == (
        "- ~~gone~~ resolved in phase 2",
        "- [RESOLVED] also gone",
    )
    assert cut.moved["Performance Metrics"][0] == "| Phase 1 P00 | 5m | - | - |"
    assert cut.moved["Decisions"][0] == "- [Phase 0]: decision 0\n  with a reason"
    assert "decision 119" in cut.document.text
    assert "- open" in cut.document.text


def test_no_line_is_lost() -> None:
    text = long_state()
    cut = pruned(Document(text), NOON)
    archive = kept_in_archive("", cut.moved, "pruned", NOON)
    kept_lines = set(cut.document.text.splitlines()) | {
        line.removeprefix("- |").removeprefix("|") for line in archive.splitlines()
    }
    kept_lines |= {f"|{line.lstrip('|')}" for line in kept_lines}
    lost = [
        line
        for line in text.splitlines()
        if line not in kept_lines and line not in archive and not line.startswith("last_updated")
    ]

    assert lost == []


def test_no_more_than_needed_is_moved() -> None:
    text = long_state(decisions=6, rows=0)
    cut = pruned(Document(text), NOON, target=len(Document(text).lines) - 1)

    assert cut.moved == {"Blockers/Concerns": ("- ~~gone~~ resolved in phase 2",)}


def test_the_archive_keeps_what_it_has() -> None:
    once = kept_in_archive("# Mine\r\n\r\n- a\r\n", {"Decisions": ("- ab",)}, "pruned", NOON)
    twice = kept_in_archive(once, {"Decisions": ("- a",)}, "pruned", NOON)

    assert twice.startswith("# Mine\r\n\r\n- a\r\n")
    assert twice.splitlines().count("- a") == 2
    assert twice.count("\n") == twice.count("\r\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- Licence is not RESOLVED yet", False),
        ("- ~~AWS~~ GCP has no quota", False),
        ("- Needs ✅ from security", False),
        ("- Wait until it is resolved", False),
        ("- [ ] Sandbox", False),
        ("- [x] Sandbox", True),
        ("- ~~Sandbox~~", True),
        ("- **~~Sandbox~~** — bought", False),
        ("- **~~Sandbox~~** — fixed: bought", True),
        ("- ~~Sandbox is not there~~ (done)", True),
        ("- ~~Sandbox~~, ~~Licence~~", True),
        ("- ~~Sandbox~~ ✅", True),
        ("- [Phase 1]: ~~PHP floor~~ RESOLVED in 01-01", True),
        ("- [RESOLVED] Sandbox", True),
        ("- RESOLVED: Sandbox", True),
        ("- ✅ Sandbox", True),
        ("- Sandbox ✅", True),
        ("- Sandbox — **RESOLVED** in 03-02", True),
        ("- Sandbox (RESOLVED)", True),
        ("- Sandbox - ✅ RESOLVED", True),
        ("- ☑️ Sandbox", True),
        ("- ~~Windows build~~ — still needs testing on Windows", False),
        ("- ~~Velocity gap~~ — partially done: calibration still blocks phase 4", False),
        ("- ~~Velocity gap~~ — done, except for phase 4", False),
        ("- taskNum search — RESOLVED IN DEV, NOT YET IN PRODUCTION", False),
        ("- ~~Redis~~ and Postgres are unreachable from CI, ~~network~~", False),
        ("- NOT-RESOLVED: DNS for mail", False),
        ("- TO-BE-RESOLVED: DNS for mail", False),
        ("- DNS for mail — RESOLVED?", False),
        ("- RESOLVED: DNS for mail, for web it isn’t", False),
        ("- ✅ staging key arrived, ❌ production key still missing", False),
        ("- ✅ staging key arrived, ❌ production key", False),
        ("- Needs approval: staging ✅, prod ❌, docs ✅", False),
        ("- Needs approval: staging ✅, prod, docs ✅", False),
        ("- RESOLVED: Sandbox,\n  as it was planned", True),
        ("- RESOLVED: Sandbox for dev,\n  not for production", False),
        ("- ~~Sandbox~~\n  - production still has none", False),
    ],
)
def test_a_blocker_is_resolved_where_it_is_marked_so_and_not_by_a_word_in_a_sentence(
    text: str, expected: bool
):
    document = Document(f"{text}\n")
    item = items_of(document.lines)[0]

    assert is_resolved(document, item) is expected


def test_pruning_takes_time_in_proportion_to_the_entries() -> None:
    entries = "".join(f"- [Phase 1]: decision {at}\n" for at in range(5_000))
    text = STATE.replace("### Decisions\n\nNone yet.\n", f"### Decisions\n\n{entries}")
    started = perf_counter()
    result = pruned(Document(text), NOON)
    took = perf_counter() - started

    kept = result.document.text.count("- [Phase 1]: decision")

    assert (len(result.document.lines), result.count + kept) == (TARGET_LINES, 5_000)
    assert took < 1
