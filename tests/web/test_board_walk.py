"""The board in Chromium: every view and action, at three widths, light and dark, checked with axe.

The screenshots in the documentation come from this walk: `make walks ARGS=tests/web` with
BOARD_PICTURES=1 writes them to docs/pictures, with the digests that the walk compares.
"""

import hashlib
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.browser import LOOKS, browser_modules
from tests.support.programs import ROOT, scratch_environment
from tests.web.stage import NOW, second_project, staged_project

pytestmark = pytest.mark.walk

PICTURES = ROOT / "docs/pictures"
STATIC = ROOT / "src/fairlead/interfaces/web/static"
SHOWN = (
    "now-1440-light",
    "now-390-dark",
    "roadmap-1440-light",
    "council-1440-dark",
)
SECONDS = 900
# What differs from run to run, although the clock is fixed: secrets and hashes.
_VARYING = (
    (r'name="form_secret" value="[^"]*"', "SECRET"),
    (r"\b[0-9a-f]{7,64}\b", "HASH"),
)


class Walk(NamedTuple):
    """What the browser found."""

    looks: list[dict[str, Any]]
    html: dict[str, str]
    acts: dict[str, Any]
    project: Path


def normalised(html: str) -> str:
    """A page without what differs from run to run."""
    for pattern, word in _VARYING:
        html = re.sub(pattern, word, html)
    return html


def digest(html: str) -> str:
    """The digest of a page and of the style sheet that it has."""
    style = (STATIC / "board.css").read_text("utf-8")
    return hashlib.sha256(f"{normalised(html)}\n{style}".encode()).hexdigest()


@pytest.fixture(scope="module")
def walk(installed_command: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    modules = browser_modules()
    folder = tmp_path_factory.mktemp("board")
    project = staged_project(folder)
    environment = {**scratch_environment(folder), "FAIRLEAD_NOW": NOW}
    folders = [str(project), str(second_project(folder))]
    words = [str(installed_command), "serve", *folders, "--port", "0", "--no-open", "--json"]
    server = subprocess.Popen(
        words, cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        text = b""
        while not text.rstrip().endswith(b"\n}"):
            text += server.stdout.readline()
        link = json.loads(text)["url"]
        yield Walk(**_walked(modules, link, project), project=project)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
        if server.stdout is not None:
            server.stdout.close()


def _walked(modules: str, link: str, project: Path) -> dict[str, Any]:
    [waiting] = (project / ".planning/jobs").glob("execute-03-*")
    pictures = bool(os.environ.get("BOARD_PICTURES"))
    asked = {
        "modules": modules,
        "link": link,
        "base": f"{link.partition('/enter')[0]}/p/harbour-lights",
        "other": f"{link.partition('/enter')[0]}/p/tide-tables",
        "looks": LOOKS,
        "shots": str(PICTURES) if pictures else "",
        "shown": SHOWN,
        "album": os.environ.get("BOARD_ALBUM", ""),  # a folder for every page at every width
        "pages": {
            "now": "",
            "roadmap": "/roadmap",
            "phase": "/phases/3",
            "plans": "/plans",
            "plan": "/plans/03-01",
            "workers": "/workers",
            "jobs": "/jobs",
            "council": "/jobs/j_20260412_deadlocked",
            "veto": "/jobs/j_20260412_vetoed",
            "execution": f"/jobs/{waiting.name}",
            "memory": "/memory",
            "documents": "/documents",
            "document": "/documents/STATE.md",
            "error": "/jobs/nothing",
        },
    }
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("walk.mjs"))],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {name: found[name] for name in ("looks", "html", "acts")}


def test_every_view_passes_axe_and_fits(walk: Walk) -> None:
    assert len(walk.looks) == 14 * len(LOOKS)
    found = []
    for look in walk.looks:
        where = f"{look['name']} {look['width']} {look['scheme']}"
        grave = [each for each in look["violations"] if each["impact"] in ("serious", "critical")]
        found += [(where, each["id"], each["nodes"]) for each in grave]
        found += [(where, "too wide by", look["overflow"])] if look["overflow"] > 0 else []
        if look["name"] != "error":  # the browser reports the 404 of a missing job
            found += [(where, "console", each) for each in look["messages"]]
    assert found == []


def test_reading_works_without_scripts(walk: Walk) -> None:
    plain = {name: shown for name, shown in walk.acts.items() if name.startswith("plain ")}
    assert len(plain) == 14
    assert all(plain.values())


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        ("keyboard", "Skip to content #main"),
        ("repair", "Repaired .planning/STATE.md"),
        ("live update", "half a thought"),
        ("capture", "Recorded: A bell"),
        ("resolve", "The blocker is resolved and archived"),
        ("recheck", "are unchanged"),
        ("search", "found 1."),
        ("graph leads to a plan", "Plan 0"),
        ("rule", "Recorded the ruling on"),
        ("retry", "Created j_"),
        ("veto", "is BLOCKED"),
        ("cancel", "is BLOCKED operator_cancel"),
        ("answer", "Answered"),
        ("projects", "harbour-lights tide-tables"),
        ("reject", "Answered touched-1"),
        ("continue", "goes on in the background"),
        ("start", "in the background /p/harbour-lights-2/jobs/"),
        ("ten tabs", "10 live, Recorded: A tenth bell, seen in the first, 1 connection"),
    ],
)
def test_an_action_works(walk: Walk, act: str, expected: str) -> None:
    assert expected in str(walk.acts[act])


def test_the_pictures_show_the_board_as_it_is(walk: Walk) -> None:
    digests = {name: digest(walk.html[name.partition("-")[0]]) for name in SHOWN}
    path = PICTURES / "board-digests.json"
    if os.environ.get("BOARD_PICTURES"):
        path.write_text(json.dumps(digests, indent=2) + "\n", "utf-8")
    assert json.loads(path.read_text("utf-8")) == digests, (
        "the board looks different: BOARD_PICTURES=1 make walks ARGS=tests/web, then look at it"
    )


def test_a_digest_notices_a_changed_page_or_time_and_ignores_a_changed_secret() -> None:
    page = '<p>2026-01-02T03:04:05Z <input name="form_secret" value="a"> 1 running</p>'
    assert digest(page) == digest(page.replace('"a"', '"b"'))
    assert digest(page) != digest(page.replace("03:04", "05:06"))
    assert digest(page) != digest(page.replace("1 running", "2 running"))
