"""A small project in the middle of its second phase, for pictures of the command line."""

from collections.abc import Iterable
from pathlib import Path

from fairlead.app import App
from fairlead.interfaces.cli.check import advice_of, finding_lines
from fairlead.interfaces.cli.output import Line
from fairlead.interfaces.cli.status_page import status_page
from fairlead.views.check import check_view
from fairlead.views.status import status_view
from tests.conftest import run_in_process
from tests.support.programs import scratch_environment

WIDTH = 100
_EVENTS = (
    ("init", "Harbour lights", "--yes"),
    ("phase", "add", "Tide tables", "--goal", "Lamps follow the tide"),
    ("phase", "add", "Web page", "--goal", "Everyone sees the lamps"),
)
_PLANS = {"01-01": True, "01-02": True, "02-01": True, "02-02": False, "02-03": False}
_NOTES = (
    ("doctor", "--fix"),
    ("state", "add-decision", "--phase", "2", "--summary", "Times are kept in UTC"),
    ("state", "add-blocker", "--phase", "2", "--text", "The tide service has no sandbox"),
)


def make_sample(folder: Path) -> App:
    """Make the project in an empty folder."""
    folder.mkdir()
    _run(folder, _EVENTS)
    for plan, is_complete in _PLANS.items():
        [place] = (folder / ".planning" / "phases").glob(f"{plan[:2]}-*")
        head = f"---\nphase: {plan[:2]}\nplan: {plan[3:]}\n---\n"
        (place / f"{plan}-PLAN.md").write_text(f"{head}# Plan\n", "utf-8")
        if is_complete:
            (place / f"{plan}-SUMMARY.md").write_text(f"{head}# Summary\n\nIt works.\n", "utf-8")
    _run(folder, _NOTES)
    return App(str(folder))


def status_lines(app: App) -> list[Line]:
    """What `fairlead status` shows."""
    return status_page(status_view(app, ""), show_all=False, width=WIDTH)


def check_lines(folder: Path) -> list[Line]:
    """What `fairlead check` shows after somebody changed two lines by hand."""
    _replace(folder / ".planning" / "STATE.md", "  completed_plans: 3\n", "  completed_plans: 2\n")
    _replace(
        folder / ".planning" / "ROADMAP.md", "| 2. Tide tables | 1/3 |", "| 2. Tide tables | 3/3 |"
    )
    app = App(str(folder))
    comparisons = app.overview.comparisons("")
    lines = finding_lines(check_view(comparisons).findings, show_all=False)
    return [*lines, *((advice_of(app, name, each),) for name, each in comparisons.items())]


def graph_picture(folder: Path) -> str:
    """What `fairlead graph` draws."""
    return run_in_process(["graph"], folder, "", scratch_environment(folder.parent)).stdout


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def _run(folder: Path, commands: Iterable[tuple[str, ...]]) -> None:
    for words in commands:
        done = run_in_process(words, folder, "", scratch_environment(folder.parent))
        assert done.exit_code == 0, done.stderr
