"""Generate docs/pictures, or with --check list the pictures that are out of date.

    tools/pictures.py             write the pictures
    tools/pictures.py --check     list those that are out of date
    tools/pictures.py --record    run the demo, and keep what it shows for its picture

Pictures of `job show` are drawn from the scenes in the tests, those of `status`, `check` and
`graph` from a sample project. The picture of the demo is drawn from
a record of `fairlead demo`, in which times, hashes and ids are replaced; a test runs the demo and
compares it with the record.
"""

import asyncio
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import click
from textual.widgets import Static

from fairlead.interfaces.cli.board import new_board
from fairlead.interfaces.cli.demo import DemoPage, demo, run_demo
from fairlead.interfaces.cli.job_page import job_page, plan_changes
from fairlead.interfaces.cli.output import Part, Styled
from fairlead.interfaces.cli.picture import picture
from tests.golden.worlds import environment, restore
from tests.support.council_scenes import ANSWERED, PLAN, SCENES
from tools.sample_project import check_lines, graph_picture, make_sample, status_lines

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
_VARYING = (
    (re.compile(r"\S*/fairlead-demo-\w+/"), "…/fairlead-demo/"),
    (re.compile(r"\bj_\d{8}_\d{4}\b"), "j_20260601_0001"),
    (re.compile(r"\bafter \d+ s\b"), "after 20 s"),
)
RECORD = Path(__file__).resolve().parents[1] / "tests" / "golden" / "demo.json"


def pictures() -> Mapping[str, str]:
    """Every picture by its name."""
    shown = {
        f"council-{name}": picture(f"council-{name}", "fairlead job show", job_page(scene()))
        for name, scene in SCENES.items()
    }
    changes = plan_changes((PLAN, ANSWERED))
    story = [[Styled(*part) for part in line] for line in json.loads(RECORD.read_text("utf-8"))]
    return {
        **shown,
        "council-diff": picture("council-diff", "fairlead job show --diff", changes),
        "demo": picture("demo", "fairlead demo", story),
        "board": board_picture(),
        **sample_pictures(),
    }


@cache
def sample_pictures() -> Mapping[str, str]:
    """What `status` and `check` show in a small project."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "harbour"
        shown = status_lines(make_sample(folder))
        return {
            "graph": graph_picture(folder),
            "status": picture("status", "fairlead status", shown),
            "check": picture("check", "fairlead check", check_lines(folder)),
        }


@cache
def board_picture() -> str:
    """The terminal board on a project with a council that was interrupted."""
    with tempfile.TemporaryDirectory() as scratch:
        world = Path(scratch) / "world"
        folder = restore("council", world)
        before = dict(os.environ)
        os.environ.update(environment(world))
        os.environ.pop("NO_COLOR", None)
        try:
            drawn = asyncio.run(_screen(str(folder), "3"))
        finally:
            os.environ.clear()
            os.environ.update(before)
    # The fonts of the export would be loaded from elsewhere.
    drawn = re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r"<!-- .*? -->\s*", "", drawn, flags=re.DOTALL)
    return drawn.replace("Fira Code, monospace", "ui-monospace, monospace") + "\n"


async def _screen(folder: str, *keys: str) -> str:
    board = new_board(folder, follows=False)
    async with board.run_test(size=(104, 30)) as pilot:
        for key in keys:
            await pilot.press(key)
        detail = board.query_one("#job-detail", Static)
        before, drawn = "", ""
        # The detail and the keys at the bottom are drawn some time after the key was pressed.
        while not (str(detail.visual) and board.query("FooterKey") and drawn == before != ""):
            await asyncio.sleep(0.1)
            await pilot.pause()
            before, drawn = drawn, board.export_screenshot(title="fairlead board", simplify=True)
        return drawn


def recorded(lines: Iterable[Sequence[Part]]) -> list[list[tuple[str, str]]]:
    """Lines of the demo as its record has them: without what differs from run to run."""
    hashes: dict[str, str] = {}

    def stable(match: re.Match[str]) -> str:
        made_up = hashlib.sha256(str(len(hashes)).encode()).hexdigest()
        # A long and a short form of one hash stay forms of one hash.
        return hashes.setdefault(match[0][:7], made_up)[: len(match[0])]

    def plain(text: str) -> str:
        for pattern, name in _VARYING:
            text = pattern.sub(name, text)
        return re.sub(r"\b(?=[a-f]*[0-9])[0-9a-f]{7,10}\b", stable, text)

    styled = [
        [part if isinstance(part, Styled) else Styled(part, "") for part in line] for line in lines
    ]
    return [[(plain(part.text), part.style) for part in line] for line in styled]


def stale(folder: Path) -> Iterator[str]:
    """The names of pictures that are out of date."""
    wanted = {f"{name}.svg": text for name, text in pictures().items()}
    for name in sorted({*wanted, *(path.name for path in folder.glob("*.svg"))}):
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != wanted.get(name):
            yield name


def main() -> int:
    """Write the pictures, or with --check compare them."""
    if "--record" in sys.argv[1:]:
        page = DemoPage(is_shown=True)
        with click.Context(demo):  # jobs ask it for their options
            run_demo(page)
        lines = [json.dumps(line, ensure_ascii=False) for line in recorded(page.lines)]
        RECORD.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    if "--check" in sys.argv[1:]:
        names = list(stale(PICTURES))
        for name in names:
            print(f"docs/pictures/{name} is out of date; run: make docs")
        return 1 if names else 0
    PICTURES.mkdir(exist_ok=True)
    for name in stale(PICTURES):
        text = pictures().get(name.removesuffix(".svg"))
        path = PICTURES / name
        if text is None:
            path.unlink()
        else:
            path.write_text(text, "utf-8")
        print(f"wrote docs/pictures/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
