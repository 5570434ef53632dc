"""Every attack of the table is detected or refused. `make test` tries a seeded sample."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.attacks.catalog import Attacker
from tests.attacks.page import PAGE, page_text
from tests.attacks.table import ATTACKS
from tests.attacks.trial import fault_of

LEAST = 80


def test_an_attack_is_detected_or_refused(attack: str, tmp_path: Path) -> None:
    assert fault_of(attack, tmp_path / "arena") == ""


def test_an_attack_succeeds_if_its_defence_is_switched_off(
    weakness: str, attack: str, tmp_path: Path
) -> None:
    assert fault_of(attack, tmp_path / "arena", weakness) == ""


def test_the_table_has_enough_attacks_of_every_attacker() -> None:
    assert len(ATTACKS) >= LEAST
    assert {row.attacker for row in ATTACKS.values()} == {*Attacker}


def test_the_page_lists_every_attack() -> None:
    assert PAGE.read_text("utf-8") == page_text(), "run: make docs"


def test_a_fault_of_the_suite_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def succeeds(_: object) -> None:
        raise AssertionError("it landed")

    monkeypatch.setitem(ATTACKS, "tag", replace(ATTACKS["tag"], carry_out=succeeds))
    assert fault_of("tag", tmp_path / "arena") == "tag: it landed"
