"""Watching a job: the live table on an emulated terminal, and plain lines when piped."""

import gc
import io
import re

import pyte
import pytest
from rich.console import Console

from fairlead.engine.site import Happening
from fairlead.interfaces.cli.execute import interruptible
from fairlead.interfaces.cli.watching import Lines, Live, Silent
from fairlead.model.agent_events import Said, Spent, ToolStarted, Usage
from fairlead.model.budget import Spent as Sum
from fairlead.model.lifecycle import GateEvent
from tests.engine.test_decide import a_gate, a_plan, a_snapshot

HOSTILE = "\x1b]0;owned\x07\x1b[2J[bold]x[/bold] \u202e" + "long " * 60
PASSED = (
    GateEvent.START,
    GateEvent.EXECUTOR_SUCCESS,
    GateEvent.VERIFY_PASSED,
    GateEvent.APPROVED,
)


def shown(columns: int, plans: int = 3, rows: int = 24) -> list[str]:
    """What stands on the screen after a job that says all sorts of things."""
    output = io.StringIO()
    console = Console(file=output, width=columns, height=rows, force_terminal=True)
    live = Live(console)
    chain = [a_plan("01-01"), a_plan("01-02", "01-01")]
    more = [a_plan(f"01-{at:02d}") for at in range(3, plans + 1)]
    facts = a_snapshot(*chain, *more, spent=Sum(12_345, 0.5))
    live.looked(facts)
    live.report(Happening("executing", "01-01-01", "", {"gate": "EXECUTING", "attempt": 1}))
    live.watch("01-01-01", Spent(Usage(400, 0, 50)))
    live.watch("01-01-01", Spent(Usage(900, 0, 100), 0.2, is_total=True))  # with that step in it
    live.report(Happening("executing", "01-01-01", "", {"gate": "EXECUTING", "attempt": 2}))
    live.watch("01-01-01", ToolStarted("1", "Write", HOSTILE))
    live.watch("01-01-01", Spent(Usage(100, 0, 0), 0.05))
    live.watch("01-01-01", Said(HOSTILE))
    live.report(Happening("note", "01-01", HOSTILE))
    live.looked(a_snapshot(*facts.plans, gates=(a_gate("01-01", *PASSED),), spent=facts.spent))
    live.close()
    assert "\x1b]" not in output.getvalue()
    assert "\x1b[2J" not in output.getvalue()
    screen = pyte.Screen(columns, rows)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(output.getvalue())
    return [line.rstrip() for line in screen.display if line.strip()]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_has_a_line_a_plan_and_never_wraps(columns: int) -> None:
    head, titles, *rows, last = shown(columns)

    assert re.match(r"Phase 01 · 0/3 plans · \d+ s · 12,345 tokens · \$0\.50 · about", head)
    assert titles.split()[:4] == ["wave", "plan", "tasks", "step"]
    assert [line.split()[:3] for line in rows] == [
        ["1", "01-01", "1/1"],
        ["1", "01-03", "0/1"],
        ["2", "01-02", "0/1"],
    ]
    assert "execute 1, try 2" in rows[0]
    assert rows[0].endswith("1,100  $0.25")
    assert last.startswith("01-01 note ")


def test_on_a_low_screen_the_plans_under_way_come_first() -> None:
    rows = shown(80, plans=60, rows=12)

    assert len(rows) <= 12
    assert any("01-01" in line for line in rows[2:])


def test_piped_lines_carry_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    Lines().report(Happening("verify-failed", "01-01-01", "it ended with 1\nand more"))

    said = capsys.readouterr().out
    assert re.fullmatch(r"\d\d:\d\d:\d\d  01-01-01       verify-failed  it ended with 1\n", said)


def test_a_wait_is_told_beside_the_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    Silent().report(Happening("executing", "01-01-01"))
    Silent().report(Happening("waiting", "execute-01", "until 2026-06-01T17:00:00Z"))
    assert capsys.readouterr() == ("", "note: execute-01 waits until 2026-06-01T17:00:00Z\n")


def test_a_long_run_lets_no_garbage_pile_up() -> None:
    before = gc.get_threshold()
    gc.set_threshold(50_000)
    try:
        with interruptible():
            assert gc.get_threshold()[0] < 1000
    finally:
        gc.set_threshold(*before)
