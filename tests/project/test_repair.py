"""Repairs of bars and malformed frontmatter, and what they leave alone."""

import pytest

from fairlead.project.derive.progress import Progress
from fairlead.project.health.frontmatter_repair import repaired_frontmatter, second_block
from fairlead.project.state.archive import archived
from fairlead.project.state.bars import redrawn
from fairlead.project.state.digest import with_progress
from fairlead.text.document import Document
from tests.support.positions import a_position
from tests.support.times import NOON

NOTHING = Progress(total_phases=4, completed_phases=0, total_plans=8, completed_plans=0)
HALF = Progress(total_phases=4, completed_phases=2, total_plans=8, completed_plans=4)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[██░░░░░░░░] 20%", "[█████░░░░░] 50%"),
        ("[##########] 100%", "[#####░░░░░] 50%"),
        ("[##--------] 20%", "[#####-----] 50%"),
        ("[#.........]", "[#####.....]"),
        ("▓▓▓▓▓▓▓▓▓▓ 100%", "▓▓▓▓▓░░░░░ 50%"),
        ("[░░░░░░░░░░░░░░░░░░░░] 0%", "[##########░░░░░░░░░░] 50%"),
        ("12.5%", "50%"),
        ("30% (3/8 plans complete)", "50% (4/8 plans complete)"),
        ("[____________] 0% (0/4 phases complete)", "[██████______] 50% (2/4 phases complete)"),
        ("100% (3/3 plans complete in phase 2)", "50% (3/3 plans complete in phase 2)"),
        ("[████░░░░░░] 50%", "[████░░░░░░] 50%"),
        ("going well", "going well"),
        ("[==        ] 20%", "[=====     ] 50%"),
        ("[---       ] 30%", "[-----     ] 50%"),
        ("[██████████] 50%", "[█████░░░░░] 50%"),
        ("[=====>----] 100%", "[====>-----] 50%"),
        ("[███▓▓▓░░░░] 50%", "[███▓▓▓░░░░] 50%"),
        ("[--] 50%", "[--] 50%"),
        ("[----------] 50%", "[----------] 50%"),
        ("[████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒] 20%", "[██████████▒▒▒▒▒▒▒▒▒▒] 50%"),
        ("2/8 plans (25%)", "4/8 plans (50%)"),
        ("[██░░░░░░░░] 25% — 2 of 8 plans", "[█████░░░░░] 50% — 4 of 8 plans"),
        ("50% (phase 2: 1 of 3 plans)", "50% (phase 2: 1 of 3 plans)"),
        ("50% (1 of 3 plans of phase 2)", "50% (1 of 3 plans of phase 2)"),
        ("50% (Phase 2, 1/3 plans)", "50% (Phase 2, 1/3 plans)"),
        ("50% — Phase 2: Auth (1/3 plans complete)", "50% — Phase 2: Auth (1/3 plans complete)"),
        ("20% | Phase 2 | 1/3 plans", "50% | Phase 2 | 1/3 plans"),
        ("50% (wave 1, 1/3 plans)", "50% (wave 1, 1/3 plans)"),
        ("50% (this phase: 1/3 plans)", "50% (this phase: 1/3 plans)"),
        ("50% (1/4 phases, 1/8 plans)", "50% (2/4 phases, 4/8 plans)"),
        ("1/4 phase 50%, 1/8 plans", "2/4 phase 50%, 4/8 plans"),
        ("50% (1.5/3 phases)", "50% (1.5/3 phases)"),
        ("[▒▒▒▒▒░░░░░]", "[▒▒▒▒▒░░░░░]"),
        ("[▒▒░░░░░░░░]", "[▒▒▒▒▒░░░░░]"),
    ],
)
def test_a_progress_line_keeps_its_style_and_gets_the_right_number(before, after):
    assert redrawn(before, HALF) == after


@pytest.mark.parametrize(
    "half",
    [
        *("[█████░░░░░] 50%", "[##########░░░░░░░░░░] 50%", "[██████████░░░░░░░░░░] 50%"),
        *("[#####.....] 50%", "[=====-----] 50%", "[=====     ] 50%", "▓▓▓▓▓░░░░░ 50%"),
    ],
)
def test_an_empty_bar_is_filled_with_its_own_characters(half):
    nothing = redrawn(half, NOTHING)

    assert nothing.endswith(" 0%")
    assert redrawn(nothing, NOTHING) == nothing
    assert redrawn(nothing, HALF) == half


def test_an_arrow_has_no_tip_at_zero():
    assert redrawn("[=====>    ] 60%", NOTHING) == "[          ] 0%"


def test_a_wide_bar_of_blocks_is_not_the_ultraplan_dialect():
    begun = Progress(total_phases=1, completed_phases=0, total_plans=3, completed_plans=2)
    drawn = redrawn("[████████████████████] 100%", begun)

    assert drawn.endswith(" 0%")
    assert redrawn(drawn, begun) == drawn


def test_words_and_blanks_beside_a_bar_stay():
    line = "Progress: [=         ] 10%  see  <notes>\n"
    document = Document(f"## Current Position\n\n{line}")
    position = a_position(("1", "Core", 1, 1), ("2", "API", 0, 1))

    assert with_progress(document, position).text.endswith("[=====     ] 50%  see  <notes>\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("---\na: one: two\nb: 1\n---\n\n# T\n", '---\na: "one: two"\nb: 1\n---\n\n# T\n'),
        ('---\na: say "x": y\n---\n', '---\na: "say \\"x\\": y"\n---\n'),
        ("---\na: 1\nb: 2\n\n# T\n", "---\na: 1\nb: 2\n---\n\n# T\n"),
        ("---\na: 1\nb: 2\n# T\n", "---\na: 1\nb: 2\n---\n# T\n"),
        ("---\na: 1\nb: x: y\n\n# T\n", '---\na: 1\nb: "x: y"\n---\n\n# T\n'),
        ("---\na: 1\nb: 2\n---\n\n---\nb: 3\n---\n# T\n", "---\na: 1\nb: 2\n---\n# T\n"),
    ],
)
def test_frontmatter_with_one_reading_is_repaired(before, after):
    result = repaired_frontmatter(before)

    assert result is not None
    assert result.text == after
    Document(result.text).require_writable()


@pytest.mark.parametrize(
    "text",
    [
        "---\na: 1\n---\n# fine\n",
        "no frontmatter\n",
        "---\nJust a rule and a sentence\n\nText\n",
        "---\nNote: a sentence below a rule\n\nText\n",
        "---\na: 1\nwhat is this\nb: 2\n\n# T\n",
        "---\na: {b: [1, 2\nc: 3\n---\n",
        "---\na: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n---\n",
        "---\na: 1\n---\n\n---\nonly_here: 2\n---\n",
    ],
)
def test_frontmatter_that_needs_a_guess_is_left_alone(text):
    assert repaired_frontmatter(text) is None


def test_an_older_copy_of_the_frontmatter_is_returned_with_the_text():
    result = repaired_frontmatter("---\na: 1\nb: 2\n---\n\n---\nb: 3\n---\n# T\n")

    assert result is not None
    assert result.removed == ("b: 3",)


def test_a_second_frontmatter_is_found_at_its_line():
    assert second_block("---\na: 1\n---\n\n---\nb: 3\n---\n# T\n") == 5


def test_a_sentence_between_two_rules_is_no_frontmatter():
    assert second_block("---\na: 1\n---\n\n---\nA sentence.\n---\n") == 0


def test_the_archive_is_appended_to_and_keeps_its_line_endings():
    first = archived("", ["- one"], "replaced by doctor", NOON)
    grown = archived(first.replace("\n", "\r\n"), ["- two"], "replaced by doctor", NOON)

    assert first == "# State Archive\n\n## 2026-06-01: replaced by doctor\n\n- one\n"
    assert grown.startswith(first.replace("\n", "\r\n").rstrip())
    assert grown.endswith("\r\n- two\r\n")
