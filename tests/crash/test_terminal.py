"""Five hundred hostile texts: no control character of theirs reaches a terminal."""

import random
from pathlib import Path

import pytest

from tests.conftest import Sample
from tests.support.figures import record_quick
from tests.support.payloads import COUNT, payloads
from tests.support.programs import ROOT, Program, fairlead, interpreter, run
from tests.support.screens import PLACES, look_at_all, plant, tagged
from tests.support.subjects import product_subjects
from tests.support.terminal import faults_in, run_on_terminal
from tests.support.trees import put_tree

TEXTS_TRIED = 60
PRINTER = ROOT / "tests" / "support" / "planted_printer.py"


@pytest.fixture
def source(installed_command: Path, tmp_path: Path) -> Path:
    """Prepared folders with a new project."""
    product_subjects()["add-decision"].prepare(tmp_path / "source")
    return tmp_path / "source"


def test_no_control_character_from_a_file_reaches_the_terminal(
    source: Path, tmp_path: Path, sample: Sample
) -> None:
    texts = list(enumerate(payloads()))
    random.Random(500).shuffle(texts)  # so that every place gets every family
    texts = sample(texts, TEXTS_TRIED)
    look = look_at_all(fairlead(), source, tmp_path, texts)
    assert look.findings == ()
    assert look.shown >= {number for number, _ in texts}
    record_quick(
        "terminal",
        "hostile texts in every place of a project, shown by every command",
        {"texts shown": len(texts), "outputs": look.outputs, "found": 0},
    )


def test_there_are_five_hundred_different_hostile_texts() -> None:
    assert len(set(payloads())) == COUNT


def test_a_careless_printer_is_found_by_every_single_text() -> None:
    missed = [
        payload
        for number, payload in enumerate(payloads())
        if not faults_in(b"title: " + tagged(number, payload) + b"\n")
    ]
    assert missed == []


def test_a_careless_printer_is_found_on_a_real_terminal(source: Path, tmp_path: Path) -> None:
    folder = plant(
        put_tree(source, tmp_path / "w"), [(number, payloads()[40]) for number in range(PLACES)]
    )
    command = Program((interpreter(), "-I", "-S", str(PRINTER))).command(folder)
    _, output = run_on_terminal(command)
    assert faults_in(output, is_terminal=True)
    assert faults_in(run(command).output)


def test_plain_text_and_our_own_colours_are_not_findings() -> None:
    assert faults_in("✓ [█████░░░░░] 50% — fine\n".encode()) == []
    assert faults_in(b"\x1b[1mbold\x1b[0m \x1b[32mgreen\x1b[0m\n", is_terminal=True) == []
