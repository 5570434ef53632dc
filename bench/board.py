"""Measures the web board on 10,000 plans and 300 jobs: first view, updates, size and memory.

`PYTHONPATH=src:. python -m bench.board` renders the pages in this process and counts CPU seconds,
because other programs on the machine only add to wall time.
"""

import gc
import sys
import tempfile
import time
from pathlib import Path

from fairlead.app import App
from fairlead.core.serialization import plain
from fairlead.interfaces.web import pages
from fairlead.interfaces.web.server import page_templates
from fairlead.jobs.folder import record_text
from fairlead.store.digests import FileCache
from tests.support.big_project import big_project
from tests.support.council_scenes import SCENES

PHASES, JOBS = 1000, 300
GOAL_SECONDS, GOAL_BYTES, GOAL_SHARE, GOAL_GROWTH = 0.5, 300_000, 0.2, 0.05
_WARM, _UPDATES = 20, 80  # the growth of memory is compared between these updates
_PAGE = {
    "base": "/p/big",
    "project": None,
    "projects": (),
    "secret": "s",
    "secret_name": "form_secret",
    "address": "/p/big",
    "query": "",
    "live": True,
    "said": "",
}


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="board-") as scratch:
        project = big_project(Path(scratch) / "project", PHASES)
        _jobs(project)
        cache, template = FileCache(time.time_ns), page_templates().get_template("now.html")

        def view() -> tuple[float, int]:
            before = time.process_time()
            cache.next_round()
            app = App(str(project))
            app.cache = cache
            shown = {**_PAGE, **pages.now_page(app, {"base": ""}), **pages.common(app)}
            size = len(template.render(shown).encode())
            return time.process_time() - before, size

        first, size = view()
        updates = [_changed(project, number, view) for number in range(9)]
        update = sorted(updates)[len(updates) // 2]
        full = min(_full(project) for _ in range(3))
        growth = _growth(project, view)
    rows = (
        ("first view, CPU s", first, GOAL_SECONDS),
        ("first view, bytes", size, GOAL_BYTES),
        ("update, share of a full derivation", update / full, GOAL_SHARE),
        ("growth of memory", growth, GOAL_GROWTH),
    )
    for name, value, goal in rows:
        verdict = "met" if value <= goal else "MISSED"
        sys.stdout.write(f"{name:<38}{value:>12.3f}  goal {goal:g}: {verdict}\n")
    sys.stdout.write(
        f"{'update, CPU s':<38}{update:>12.3f}\n{'all plans, CPU s':<38}{full:>12.3f}\n"
    )
    return 0 if all(value <= goal for _, value, goal in rows) else 1


def _jobs(project: Path) -> None:
    record = plain(SCENES["failed"]().job)
    for number in range(JOBS):
        home = project / f".planning/jobs/j_20260412_{number:04d}"
        home.mkdir(parents=True)
        (home / "job.json").write_text(record_text({**record, "job_id": home.name}), "utf-8")


def _changed(project: Path, number: int, view: object) -> float:
    """The CPU time of the view after one more plan is finished."""
    summary = project / f".planning/phases/700-part/700-{number % 10 + 1:02d}-SUMMARY.md"
    if summary.exists():
        summary.unlink()
    else:
        summary.write_text("---\nphase: x\n---\n\n# Summary\n\n## Self-Check: PASSED\n", "utf-8")
    seconds, _ = view()  # type: ignore[operator]
    return float(seconds)


def _full(project: Path) -> float:
    """The CPU time to derive everything that the board shows: status, plans and jobs."""
    before = time.process_time()
    app = App(str(project))
    pages.now_page(app, {"base": ""})
    app.roadmaps.all_plans()
    return time.process_time() - before


def _growth(project: Path, view: object) -> float:
    sizes = []
    for number in range(_UPDATES):
        _changed(project, number, view)
        if number in (_WARM, _UPDATES - 1):
            gc.collect()
            pages_used = int(Path("/proc/self/statm").read_text("ascii").split()[1])
            sizes.append(pages_used)
    return (sizes[1] - sizes[0]) / sizes[0]


if __name__ == "__main__":
    sys.exit(main())
