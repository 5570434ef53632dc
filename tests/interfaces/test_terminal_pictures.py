"""Sparklines and waves: their bars, their columns, and terminals that cannot show them."""

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.interfaces.cli.output import Line
from fairlead.interfaces.cli.terminal_pictures import (
    is_showable,
    sparkline,
    trend_lines,
    wave_lines,
)
from fairlead.views.trends import DaySpending, PlanDuration, TrendView
from tests.conftest import Fairlead
from tests.seeds.conftest import SeedProject

TRENDS = TrendView(
    (PlanDuration("Phase 1 P01", 5.0), PlanDuration("Phase 1 P02", 10.0)),
    (DaySpending("2026-06-01", 0.5, 100), DaySpending("2026-06-02", 0.25, 50)),
)


def plain_text(lines: list[Line]) -> str:
    return "\n".join(
        "".join(part if isinstance(part, str) else part.text for part in line).rstrip()
        for line in lines
    )


@pytest.fixture
def project(tmp_path: Path, fairlead: Fairlead) -> SeedProject:
    made = SeedProject(tmp_path, fairlead)
    made.run("init", "Demo", "--yes")
    made.plan(1, 1)
    return made


def test_the_highest_value_has_the_highest_bar():
    assert sparkline([0, 1, 2, 7]) == "▁▂▃█"
    assert sparkline([0, 1, 2, 7], plain=True) == ".:-@"
    assert sparkline([]) == ""
    assert sparkline([0, 0]) == "▁▁"


@given(st.lists(st.floats(0, 1e12)), st.booleans())
def test_a_sparkline_keeps_the_order_of_values(values: list[float], plain: bool):
    bars = sparkline(values, plain=plain)
    shown = values[-len(bars) :] if bars else []
    order = ".:-=+*#@" if plain else "▁▂▃▄▅▆▇█"
    heights = [order.index(bar) for bar in bars]
    assert all(
        heights[left] <= heights[right]
        for left in range(len(shown))
        for right in range(len(shown))
        if shown[left] <= shown[right]
    )


def test_trends_have_their_figures():
    text = plain_text(trend_lines(TRENDS))
    assert "velocity  ▅█  2 plans, 7.5 min on average; last 10.0 min" in text
    assert "cost      █▅  $0.75 on 2 days; $0.25 on 2026-06-02" in text
    assert "yet" in plain_text(trend_lines(TrendView((), ())))


def test_without_utf_8_the_pictures_are_plain():
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), "ascii")):
        assert not is_showable("▁")
        assert plain_text(trend_lines(TRENDS)).isascii()
        text = plain_text(wave_lines([["01-01", "01-02"], ["01-03"]], {"01-01"}))
    assert text == "  wave 1        wave 2\n  01-01 x  -->  01-03\n  01-02"


def test_waves_are_columns_and_finished_plans_are_marked():
    text = plain_text(wave_lines([["01-01", "01-02"], ["01-03"], ["01-04"]], {"01-01"}))
    assert text == (
        "  wave 1        wave 2       wave 3\n  01-01 ✓  ──▶  01-03   ──▶  01-04\n  01-02"
    )


def test_waves_that_do_not_fit_are_rows():
    waves = [[f"01-{number:02}"] for number in range(1, 31)]
    lines = wave_lines(waves, ())
    assert len(lines) == 30
    assert plain_text(lines[:1]) == "  wave 1   01-01"
    assert wave_lines([], ()) == []


def test_status_wide_shows_recorded_durations(project: SeedProject):
    project.run("state", "record-metric", "--phase", "1", "--plan", "1", "--duration", "7 min")
    assert "1 plan, 7.0 min" in project.run("status", "--wide")
    shown = project.json("status", "--wide")
    assert shown["trends"]["plans"] == [{"plan": "Phase 1 P01", "minutes": 7.0}]
    assert shown["progress"] == project.json("status")["progress"]
    assert "trends" not in project.json("status")
