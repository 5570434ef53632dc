"""Percentages and bars, from literal counts."""

import pytest

from fairlead.project.derive.progress import Progress, bar, bar_rounded_down


@pytest.mark.parametrize(
    ("plans", "phases", "percent"),
    [
        ((47, 84), (10, 17), 56),
        ((0, 0), (0, 0), 0),
        ((0, 0), (0, 3), 0),
        ((199, 200), (1, 1), 99),
        ((200, 200), (1, 1), 100),
        ((13, 39), (1, 3), 33),
        ((20, 39), (1, 3), 33),
        ((26, 39), (2, 3), 67),
        ((39, 39), (3, 3), 100),
        ((5, 5), (1, 2), 50),
        ((1, 2), (0, 1), 0),
        ((1, 8), (1, 1), 13),
        ((5, 5), (0, 0), 0),
    ],
)
def test_percent_is_the_lesser_ratio_and_100_only_when_all_is_done(
    plans: tuple[int, int], phases: tuple[int, int], percent: int
) -> None:
    assert Progress(phases[1], phases[0], plans[1], plans[0]).percent == percent


@pytest.mark.parametrize(
    ("done", "total", "percent", "cells"),
    [
        (0, 7, 0, 0),
        (1, 21, 4, 0),
        (1, 10, 10, 2),
        (29, 100, 29, 5),
        (29, 50, 58, 11),
        (57, 100, 57, 11),
        (58, 100, 58, 11),
        (1, 3, 33, 6),
        (2, 3, 66, 13),
        (22, 28, 78, 15),
        (19, 20, 95, 19),
        (99, 100, 99, 19),
        (20, 20, 100, 20),
        (0, 0, 0, 0),
    ],
)
def test_the_ultraplan_dialect_counts_plans_in_whole_steps(
    done: int, total: int, percent: int, cells: int
) -> None:
    progress = Progress(1, 0, total, done)
    assert progress.plans_percent == percent
    assert bar_rounded_down(progress.plans_percent) == "#" * cells + "░" * (20 - cells)


@pytest.mark.parametrize(
    ("percent", "full"), [(0, 0), (4, 0), (5, 1), (56, 6), (94, 9), (99, 9), (100, 10), (140, 10)]
)
def test_the_last_cell_of_a_bar_fills_only_at_100(percent: int, full: int) -> None:
    assert bar(percent) == "█" * full + "░" * (10 - full)
