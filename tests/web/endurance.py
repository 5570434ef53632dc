"""How the board stands long use: thousands of changes, and many pages and followers at once.

`make test` runs a small sample, `make prove` the whole (`prove/boards.py`).
"""

from __future__ import annotations

import gc
import random
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import NamedTuple

from fairlead.app import App
from fairlead.interfaces.web import pages
from fairlead.interfaces.web.server import GC_THRESHOLD
from fairlead.store.digests import FileCache
from fairlead.views.board import plan_cards
from fairlead.views.document import document, json_text
from fairlead.views.questions import answer_to
from tests.web.arena import BoardArena, serving

_SECONDS = 120.0  # until a page or an event counts as lost


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
    kinds: tuple[Callable[[Path], str], ...] = (
        finish_plan,
        _take_back,
        edit_plan,
        _add,
        _drop,
        _rename,
    )
    while True:
        yield rng.choice(kinds)(rng.choice(phases))


def finish_plan(phase: Path) -> str:
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


def edit_plan(phase: Path) -> str:
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
    # A blank line more or less: a project that grows would need more memory without a leak.
    state = phase.parents[1] / "STATE.md"
    text = state.read_text()
    state.write_text(text.removesuffix("\n") if text.endswith("\n\n") else f"{text}\n")
    return "touch STATE.md"


def faults_after_changes(
    project: Path, seed: int, count: int, cache: FileCache | None = None
) -> list[str]:
    """The changes after which the board differs from a fresh derivation."""
    cache = cache or FileCache(time.time_ns)
    steps = changes(project, random.Random(seed))
    found = []
    for number in range(count):
        what = next(steps)
        cache.next_round()
        if shown(cached_app(project, cache)) != shown(App(str(project))):
            found.append(f"seed {seed}, change {number}: {what}")
    return found


def growth_of_memory(project: Path, seed: int, first: int, last: int) -> float:
    """By how much memory grows between two numbers of updates, as a share."""
    with _collecting_like_the_server():
        return _growth(project, seed, first, last)


@contextmanager
def _collecting_like_the_server() -> Iterator[None]:
    """Tests collect no garbage while they run, so freed objects would count as growth."""
    before, was_enabled = gc.get_threshold(), gc.isenabled()
    gc.set_threshold(GC_THRESHOLD)
    gc.enable()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not was_enabled:
            gc.disable()


def _growth(project: Path, seed: int, first: int, last: int) -> float:
    cache, steps = FileCache(time.time_ns), changes(project, random.Random(seed))
    sizes = []
    for number in range(1, last + 1):
        next(steps)
        cache.next_round()
        app = cached_app(project, cache)
        pages.now_page(app, {"base": ""})
        plan_cards(app)
        if number in (first, last):
            gc.collect()
            sizes.append(int(Path("/proc/self/statm").read_text("ascii").split()[1]))
    return sizes[1] / sizes[0] - 1


class Served(NamedTuple):
    """A project to serve."""

    folder: Path


def faults_of_a_crowd(
    project: Path,
    count: int,
    change: Callable[[BoardArena], object] = lambda arena: arena.post(),
    seconds: float = _SECONDS,
) -> list[str]:
    """What goes wrong with so many pages and so many followers of one board at once."""
    connected = Barrier(count + 1)
    with (
        serving(Served(project), header_seconds=10) as arena,
        ThreadPoolExecutor(2 * count) as pool,
    ):
        name = arena.get("/").headers.get("location", "")
        followers = [pool.submit(_followed, arena, name, connected, seconds) for _ in range(count)]
        try:
            connected.wait(seconds)
        except BrokenBarrierError:
            return ["follower: not every one was connected"]
        visitors = [pool.submit(lambda: arena.get(f"{name}/plans").status) for _ in range(count)]
        change(arena)
        found = [f"page: status {each.result()}" for each in visitors if each.result() != 200]
        return found + [each.result() for each in followers if each.result()]


def _followed(arena: BoardArena, name: str, connected: Barrier, seconds: float) -> str:
    """Follow the board until it tells of a change; what went wrong."""
    with socket.create_connection(("127.0.0.1", arena.port), seconds) as client:
        client.sendall(arena.request("GET", f"{name}/events"))
        data = b""
        is_told = False
        until = time.monotonic() + seconds  # the server also sends signs of life
        try:
            while data.count(b"event: changed") < 2:
                if time.monotonic() > until:
                    return "follower: no event came"
                part = client.recv(65536)
                if not part:
                    return "follower: the server closed the connection"
                data += part
                if b"event: changed" in data and not is_told:
                    is_told = True
                    connected.wait(seconds)
        except (TimeoutError, BrokenBarrierError):
            return "follower: no event came"
    return ""
