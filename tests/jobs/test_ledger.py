"""The ledger: every changed byte is found, and only a torn last line is accepted."""

import random
from dataclasses import replace

import pytest

from fairlead.agents.budget import Cost
from fairlead.jobs.errors import LedgerBroken
from fairlead.jobs.ledger import (
    GENESIS,
    CallCost,
    EntryKind,
    LedgerEntry,
    appended,
    check,
    head,
    line_of,
    read_ledger,
    spendings,
)

ENTRIES = (
    LedgerEntry(EntryKind.EXECUTE, "04-02-01", 1, "2026-06-01T12:00:00Z", "claude", session="s", tokens_in=9),
    LedgerEntry(EntryKind.VERIFY, "04-02-01", 1, "2026-06-01T12:01:00Z", "fairlead", command="npm test",
          tree="ab" * 20, exit_code=1, seconds=2.5, output_sha256="cd" * 32, tail="1 failed\n\x1b[0mé"),
    LedgerEntry(EntryKind.REVIEW, "04-02-01", 2, "2026-06-01T12:02:00Z", "codex", verdict="APPROVED",
          tokens_out=70, cost_usd=0.12, rehearsed=True),
)  # fmt: skip


def ledger(count: int = 3) -> str:
    text = ""
    for entry in ENTRIES[:count]:
        text += appended(text, entry)
    return text


def test_entries_read_back_as_they_were() -> None:
    assert read_ledger(ledger()) == ENTRIES
    assert not check(ledger())


def test_the_same_entry_is_the_same_line() -> None:
    assert line_of(ENTRIES[1]) == line_of(ENTRIES[1])
    assert line_of(ENTRIES[1]).isascii()
    assert line_of(ENTRIES[1]) != line_of(ENTRIES[1], "1" * 64)


def test_an_entry_follows_the_last_complete_line_of_a_torn_ledger() -> None:
    text = ledger(2)

    assert appended(text + '{"v":1,"ki', ENTRIES[2]) == appended(text, ENTRIES[2])


def test_a_torn_last_line_is_cut_on_reading_and_reported_by_the_check() -> None:
    torn = ledger(2) + ledger()[len(ledger(2)) :][:-9]

    assert read_ledger(torn) == ENTRIES[:2]
    assert [fault.line for fault in check(torn)] == [3]


def test_every_changed_byte_is_found() -> None:
    text = ledger()
    random_ = random.Random(3)
    for at in range(len(text)):
        other = random_.choice([mark for mark in '0a"}{ \n:,x' if mark != text[at]])
        assert check(text[:at] + other + text[at + 1 :]), at


def test_every_removed_byte_is_found() -> None:
    text = ledger()

    assert [at for at in range(0, 900, 7) if not check(text[:at] + text[at + 1 :])] == []


def test_a_removed_moved_or_repeated_line_is_found() -> None:
    first, second, third = ledger().splitlines(keepends=True)

    for lines in ((second, third), (first, third), (second, first, third), (first, first, second)):
        assert check("".join(lines))


def test_missing_entries_at_the_end_are_found_with_the_last_hash() -> None:
    assert not check(ledger(2))
    assert check(ledger(2), ends_with=head(ledger()))
    assert not check(ledger(), ends_with=head(ledger(2)))
    assert (head(""), check("", ends_with=GENESIS)) == (GENESIS, ())


def test_reading_a_changed_ledger_raises_with_the_line() -> None:
    with pytest.raises(LedgerBroken) as caught:
        read_ledger(ledger().replace("npm test", "npm tests"))

    assert caught.value.line == 2


@pytest.mark.parametrize(
    "text",
    ["\n", "{}\n", "[]\n", "x\n", '{"hash":"a","hash":"b"}\n', '{"v":1,"hash":"NaN","x":NaN}\n',
     '{"v":2,"hash":"a"}\n', "[" * 9999 + "\n"],
)  # fmt: skip
def test_a_line_that_is_not_an_entry_is_reported(text: str) -> None:
    assert [fault.line for fault in check(text)] == [1]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "null",
        "7",
        '{"tokens_in": "many"}',
        '{"tokens_in": [1], "at": 3}',
        '{"tokens_in": 1, "cost_usd": {}}',
        "[" * 200_000,
    ],
)
def test_a_line_that_is_not_an_entry_costs_nothing_and_hides_no_other(line: str) -> None:
    sound = '{"at":"2026-06-01T12:00:00Z","cost_usd":0.5,"job":"j","tokens_in":2,"tokens_out":3}'
    counted = spendings(f"{line}\n{sound}\n")
    assert counted == (CallCost("j", "2026-06-01", Cost(5, 0.5), is_rehearsed=False),)


def test_estimated_tokens_count_as_spent_but_not_for_estimates() -> None:
    call = LedgerEntry(EntryKind.EXECUTE, "04-02-01", 1, "2026-06-01T12:00:00Z", "mine", tokens_in=9,
                 prompt_characters=3, verdict="executor-success")  # fmt: skip
    (cost,) = spendings(line_of(call))
    (guessed,) = spendings(line_of(replace(call, estimated=True)))
    assert (guessed.spent, guessed.actual) == (cost.spent, None)
    assert cost.actual is not None


def test_a_reported_price_counts_without_tokens_and_cached_tokens_cost_less() -> None:
    reported = '{"cost_usd":3.5,"job":"j"}'
    read = '{"tokens_cached":900000,"tokens_in":1000000}'
    assert [each.spent.usd for each in spendings(f"{reported}\n{read}\n")] == pytest.approx(
        [3.5, 0.57]
    )
