"""The board keeps what it derived: an update reads only what changed and shows what is there."""

import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.app import App
from fairlead.interfaces.web import pages
from fairlead.store import listing
from fairlead.store.digests import FileCache
from fairlead.views.board import plan_cards
from fairlead.views.document import document, json_text
from fairlead.views.questions import answer_to
from tests.support.big_project import big_project

_LATER = 10**9  # nanoseconds: files count as settled at once


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return big_project(tmp_path / "project", 12, plans=4)


def cached_app(folder: Path, cache: FileCache) -> App:
    app = App(str(folder))
    app.cache = cache
    return app


def shown(app: App) -> dict[str, str]:
    """What a board shows, as the text that `--json` prints."""
    found = {name: answer_to(app, name) for name in ("status", "roadmap", "jobs")}
    found["plans"] = {"plans": plan_cards(app)}
    return {name: json_text(document(value)) for name, value in found.items()}


def changes(project: Path, rng: random.Random) -> Iterator[str]:
    """Random changes of a person, an editor or a run; the name of each."""
    phases = sorted((project / ".planning/phases").iterdir())
    kinds: tuple[Callable[[Path], str], ...] = (_finish, _take_back, _edit, _add, _drop, _rename)
    while True:
        yield rng.choice(kinds)(rng.choice(phases))


def _finish(phase: Path) -> str:
    for plan in sorted(phase.glob("*-PLAN.md")):
        summary = plan.with_name(plan.name.replace("PLAN", "SUMMARY"))
        if not summary.exists():
            summary.write_text("---\nphase: x\n---\n\n# Summary\n\n## Self-Check: PASSED\n")
            return f"finish {plan.name}"
    return "nothing"


def _take_back(phase: Path) -> str:
    for summary in sorted(phase.glob("*-SUMMARY.md")):
        summary.unlink()
        return f"take back {summary.name}"
    return "nothing"


def _edit(phase: Path) -> str:
    for plan in sorted(phase.glob("*-PLAN.md"))[:1]:
        # The same length and, in a quick test, the same moment: only the content differs.
        old, new = (" work.", " wait.") if " work." in plan.read_text() else (" wait.", " work.")
        plan.write_text(plan.read_text().replace(old, new))
        return f"edit {plan.name}"
    return "nothing"


def _add(phase: Path) -> str:
    number, plans = phase.name.partition("-")[0], sorted(phase.glob("*-PLAN.md"))
    if not plans or len(plans) > 9:
        return "nothing"
    new = phase / f"{number}-{len(plans) + 20}-PLAN.md"
    shutil.copy(plans[0], new)
    return f"add {new.name}"


def _drop(phase: Path) -> str:
    for plan in sorted(phase.glob("*-2?-PLAN.md")):
        plan.unlink()
        return f"drop {plan.name}"
    return "nothing"


def _rename(phase: Path) -> str:
    state = phase.parents[1] / "STATE.md"
    state.write_text(state.read_text() + "\n")
    return "touch STATE.md"


@pytest.mark.parametrize("seed", [1])
def test_after_random_changes_the_board_equals_a_fresh_status(project: Path, seed: int) -> None:
    rng, cache = random.Random(seed), FileCache(time.time_ns)
    steps = changes(project, rng)
    for _ in range(40):
        what = next(steps)
        cache.next_round()
        assert shown(cached_app(project, cache)) == shown(App(str(project))), what


def test_the_comparison_finds_a_cache_that_looks_at_nothing(project: Path) -> None:
    """Planted fault: no new round begins, so the files are not looked at again."""
    cache = FileCache(time.time_ns)
    before = shown(cached_app(project, cache))
    _edit(next((project / ".planning/phases").glob("01-*")))
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
    assert _finish(phase) == "finish 09-01-PLAN.md"
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

    _finish(project / ".planning/phases/40-part")  # both derivations contain a repair
    full = derived()
    phase = project / ".planning/phases/50-part"
    _finish(phase)
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
