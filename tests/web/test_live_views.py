"""The board keeps what it derived: an update reads only what changed and shows what is there."""

import json
import shutil
import sys
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest

from fairlead.app import App
from fairlead.interfaces.web import pages
from fairlead.store import listing
from fairlead.store.digests import FileCache
from fairlead.views.board import plan_cards
from fairlead.views.questions import answer_to
from tests.support.big_project import big_project
from tests.web.arena import serving
from tests.web.endurance import (
    Served,
    cached_app,
    edit_plan,
    faults_after_changes,
    faults_of_a_crowd,
    finish_plan,
    shown,
)

_LATER = 10**9  # nanoseconds: files count as settled at once


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return big_project(tmp_path / "project", 12, plans=4)


@pytest.mark.parametrize("seed", [1])
def test_after_random_changes_the_board_equals_a_fresh_status(project: Path, seed: int) -> None:
    assert faults_after_changes(project, seed, 15) == []


def test_a_cache_that_looks_at_nothing_differs_after_a_change(project: Path) -> None:
    """Planted fault: no new round ever begins."""

    class Blind(FileCache):
        def next_round(self) -> None:
            pass

    assert faults_after_changes(project, 1, 10, Blind(time.time_ns))


def test_pages_and_followers_are_served_at_once(project: Path) -> None:
    assert faults_of_a_crowd(project, 4) == []


def test_a_plan_with_a_fault_is_shown_with_it(project: Path) -> None:
    [index] = App(str(project)).roadmaps.all_plans(["12"])
    faults = [each for each in index.plans[0].faults if each.severity == "error"]
    assert faults
    with serving(Served(project), header_seconds=10) as arena:
        page = arena.get("/p/project/plans?phase=12")
    assert page.status == 200
    assert escape(faults[0].what) in page.text


def test_a_follower_that_hears_of_no_change_is_found(project: Path) -> None:
    """Planted fault: nothing changes, so no second event comes."""
    found = faults_of_a_crowd(project, 1, change=lambda _: None, seconds=3)
    assert [fault for fault in found if "follower" in fault]


def test_the_comparison_finds_a_cache_that_looks_at_nothing(project: Path) -> None:
    """Planted fault: no new round begins, so the files are not looked at again."""
    cache = FileCache(time.time_ns)
    before = shown(cached_app(project, cache))
    edit_plan(next((project / ".planning/phases").glob("01-*")))
    assert shown(cached_app(project, cache)) == before
    assert shown(App(str(project))) != before


def test_an_update_reads_only_the_folder_that_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = FileCache(lambda: time.time_ns() + _LATER)
    app = cached_app(project, cache)
    answer_to(app, "status")
    read: list[str] = []
    beginnings = listing.beginnings_of

    def counted(folder: Any, names: Any, limit: int) -> Any:
        read.extend(names := list(names))
        return beginnings(folder, names, limit)

    monkeypatch.setattr("fairlead.project.derive.scan.beginnings_of", counted)
    cache.next_round()
    answer_to(app, "status")
    assert not read
    [phase] = (project / ".planning/phases").glob("09-*")
    assert finish_plan(phase) == "finish 09-01-PLAN.md"
    cache.next_round()
    answer_to(app, "status")
    assert read
    assert {name[:2] for name in read} == {"09"}


def test_an_update_costs_at_most_a_fifth_of_a_full_derivation(tmp_path: Path) -> None:
    """Function calls, not seconds: they do not depend on what else the machine does."""
    project = big_project(tmp_path / "project", 60)
    cache = FileCache(lambda: time.time_ns() + _LATER)

    def derived() -> int:
        cache.next_round()
        return _calls(lambda: shown_once(cached_app(project, cache)))

    finish_plan(project / ".planning/phases/40-part")  # both derivations contain a repair
    full = derived()
    phase = project / ".planning/phases/50-part"
    finish_plan(phase)
    assert derived() * 5 <= full


def shown_once(app: App) -> None:
    pages.now_page(app, {"base": ""})
    plan_cards(app)


def _calls(work: Callable[[], object]) -> int:
    count = 0

    def count_call(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_values_of_deleted_files_are_dropped(project: Path) -> None:
    cache = FileCache(lambda: time.time_ns() + _LATER)
    answer_to(cached_app(project, cache), "status")
    size = len(cache._kept)
    shutil.rmtree(project / ".planning/phases/12-part")
    for _ in range(101):
        cache.next_round()
        answer_to(cached_app(project, cache), "status")
    assert len(cache._kept) < size


def test_a_large_project_fits_on_the_pages(tmp_path: Path) -> None:
    project = big_project(tmp_path / "project", 400, plans=2)
    app = cached_app(project, FileCache(time.time_ns))
    now = pages.now_page(app, {"base": ""})
    assert len(now["phases"]) == 60
    assert any(phase.number == now["status"].phase for phase in now["phases"])
    plans = pages.plans_page(app, {"base": ""})
    assert plans["is_window"]
    assert plans["shown"] <= 300
    assert plans["total"] == 800
    assert json.dumps(plans["columns"], default=str).count("201-01") >= 1
