"""The bar of ten cells, the usable part of a context window, and short token counts."""

import pytest

from fairlead.project.derive.meter import (
    cells,
    level_of,
    reserved_percent,
    short_count,
    used_percent,
)


@pytest.mark.parametrize(("percent", "filled"), [(0, 0), (9, 0), (10, 1), (99, 9), (100, 10)])
def test_only_full_tenths_are_filled(percent: int, filled: int):
    assert cells(percent) == "█" * filled + "░" * (10 - filled)


@pytest.mark.parametrize(
    ("remaining", "used"),
    [(100, 0), (90, 12), (60, 48), (58, 50), (50, 60), (45, 66), (33, 80), (16.5, 100), (0, 100)],
)
def test_the_meter_is_full_when_the_host_compacts(remaining: float, used: int):
    assert used_percent(remaining, reserved_percent(0, 0)) == used


@pytest.mark.parametrize(
    ("tokens", "window", "reserved"),
    [(0, 200_000, 16.5), (-5, 0, 16.5), (100_000, 200_000, 50), (500_000, 0, 50), (9, 3, 0)],
)
def test_the_point_of_compaction_can_be_configured(tokens: int, window: float, reserved: float):
    assert reserved_percent(tokens, window) == reserved


@pytest.mark.parametrize("remaining", [-50, 0, 100, 250])
def test_used_stays_between_0_and_100(remaining: float):
    assert 0 <= used_percent(remaining, 16.5) <= 100


def test_a_completely_reserved_window_is_full():
    assert used_percent(100, 100) == 100


@pytest.mark.parametrize(
    ("used", "level"),
    [(0, "calm"), (49, "calm"), (50, "filling"), (64, "filling"), (65, "high"), (79, "high"), (80, "full")],
)  # fmt: skip
def test_the_level_rises_at_50_65_and_80(used: int, level: str):
    assert level_of(used) == level


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        (1, "1"),
        (999, "999"),
        (1000, "1k"),
        (1499, "1k"),
        (1500, "2k"),
        (156_342, "156k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_250_000, "1.3M"),
        (1_450_000, "1.4M"),
        (12_345_678, "12.3M"),
    ],
)
def test_a_count_is_shown_in_a_few_characters(tokens: int, shown: str):
    assert short_count(tokens) == shown
