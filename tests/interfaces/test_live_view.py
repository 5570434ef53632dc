"""The live table on an emulated terminal, and plain lines in a pipe."""

import gc
import io
import re
from contextlib import suppress

import pyte
import pytest
from rich.console import Console

from fairlead.agents.budget import Cost as Sum
from fairlead.agents.model import AgentText, TokenUsage, ToolStarted, UsageReported
from fairlead.interfaces.cli.agent_command import interruptible, question_lines
from fairlead.interfaces.cli.live_view import (
    ExecutionTable,
    ProgressLines,
    SilentView,
    WorkflowTable,
)
from fairlead.jobs.activity import readable
from fairlead.jobs.context import JobEvent
from fairlead.project.state.gate_rules import GateEvent
from tests.execution.test_decide import a_gate, a_plan, a_snapshot

HOSTILE = "\x1b]0;owned\x07\x1b[2J[bold]x[/bold] \u202e" + "long " * 60
PASSED = (
    GateEvent.START,
    GateEvent.EXECUTOR_SUCCESS,
    GateEvent.VERIFY_PASSED,
    GateEvent.APPROVED,
)


def shown(columns: int, plans: int = 3, rows: int = 24) -> list[str]:
    """The lines on the screen after a job with hostile events."""
    output = io.StringIO()
    console = Console(file=output, width=columns, height=rows, force_terminal=True)
    live = ExecutionTable(console)
    chain = [a_plan("01-01"), a_plan("01-02", "01-01")]
    more = [a_plan(f"01-{at:02d}") for at in range(3, plans + 1)]
    facts = a_snapshot(*chain, *more, spent=Sum(12_345, 0.5))
    live.looked(facts)
    live.report(JobEvent("executing", "01-01-01", "", {"gate": "EXECUTING", "attempt": 1}))
    live.watch("01-01-01", UsageReported(TokenUsage(400, 0, 50)))
    live.watch(
        "01-01-01", UsageReported(TokenUsage(900, 0, 100), 0.2, is_total=True)
    )  # the total includes that step
    live.report(JobEvent("executing", "01-01-01", "", {"gate": "EXECUTING", "attempt": 2}))
    live.watch("01-01-01", ToolStarted("1", "Write", HOSTILE))
    live.watch("01-01-01", UsageReported(TokenUsage(100, 0, 0), 0.05))
    live.watch("01-01-01", AgentText(HOSTILE))
    live.report(JobEvent("note", "01-01", HOSTILE))
    live.looked(a_snapshot(*facts.plans, gates=(a_gate("01-01", *PASSED),), spent=facts.spent))
    live.close()
    assert "\x1b]" not in output.getvalue()
    assert "\x1b[2J" not in output.getvalue()
    screen = pyte.Screen(columns, rows)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(output.getvalue())
    return [line.rstrip() for line in screen.display if line.strip()]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_has_one_line_per_plan_and_never_wraps(columns: int) -> None:
    head, titles, *rows, last = shown(columns)

    assert re.match(
        r"EXECUTING · Phase 01 · 0/3 plans · \d+ s · 12,345 tokens · \$0\.50 · about", head
    )
    assert titles.split()[:4] == ["wave", "plan", "tasks", "step"]
    assert [line.split()[:3] for line in rows] == [
        ["1", "01-01", "1/1"],
        ["1", "01-03", "0/1"],
        ["2", "01-02", "0/1"],
    ]
    assert "execute 1, try 2" in rows[0]
    assert rows[0].endswith("1,100  $0.25")
    assert last.startswith("01-01 note ")


def test_on_a_low_screen_the_plans_in_progress_come_first() -> None:
    rows = shown(80, plans=60, rows=12)

    assert len(rows) <= 12
    assert any("01-01" in line for line in rows[2:])


def test_piped_lines_carry_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    ProgressLines().report(JobEvent("verify-failed", "01-01-01", "it ended with 1\nand more"))

    printed = capsys.readouterr().out
    assert re.fullmatch(r"\d\d:\d\d:\d\d  01-01-01       verify-failed  it ended with 1\n", printed)


def test_a_wait_is_noted_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    SilentView().report(JobEvent("executing", "01-01-01"))
    SilentView().report(JobEvent("waiting", "execute-01", "until 2026-06-01T17:00:00Z"))
    assert capsys.readouterr() == ("", "note: execute-01 waits until 2026-06-01T17:00:00Z\n")


def test_a_long_run_collects_garbage() -> None:
    before = gc.get_threshold()
    gc.set_threshold(50_000)
    try:
        with interruptible():
            assert gc.get_threshold()[0] < 1000
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'It is carried out.\n\n```json\n{\n "nonce": "n1",\n "status": "success"\n}\n```',
            "It is carried out.",
        ),
        ('{"nonce": "n1", "status": "success"}', ""),
        ("I read the plan.\n<result>\nNow I write it.", "I read the plan. Now I write it."),
        ("```\nan unclosed block", ""),
        ('Two lines\nof prose, with "quotes": kept.', 'Two lines of prose, with "quotes": kept.'),
        ("a < b and c > d", "a < b and c > d"),
    ],
)
def test_a_person_reads_prose_and_not_the_protocol(text: str, expected: str) -> None:
    assert readable(text) == expected


def screen_of(output: io.StringIO, columns: int = 100, rows: int = 24) -> list[str]:
    screen = pyte.Screen(columns, rows)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(output.getvalue())
    return [line.rstrip() for line in screen.display if line.strip()]


def test_the_table_of_a_workflow_follows_its_calls_and_is_paused_for_a_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal shows only the last table
    output = io.StringIO()
    live = WorkflowTable(Console(file=output, width=100, height=24, force_terminal=True))
    live.report(JobEvent("started", "new-1", "fairlead new", {"phase": ""}))
    live.report(JobEvent("call", "research-stack", "project researcher begins"))
    live.watch("research-stack", AgentText('Reading.\n```json\n{"nonce": "n1"}\n```'))
    with live.paused():
        assert screen_of(output) == []
        output.write("? Who is it for\n  1  one person\nwhich [1]: 1\n")
    live.report(JobEvent("called", "research-stack", "", {"status": "ok", "tokens": 851}))
    live.report(JobEvent("finished", "new-1", "2 phases", {"status": "DONE"}))
    live.close()
    *question, head, _, row = screen_of(output)

    assert question == ["? Who is it for", "  1  one person", "which [1]: 1"]
    assert re.match(r"DONE · fairlead new · \d+ s · 851 tokens", head)
    assert row.split()[:2] == ["research-stack", "done"]
    assert "nonce" not in output.getvalue()


def test_an_interrupted_question_is_the_last_thing_on_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    output = io.StringIO()
    live = WorkflowTable(Console(file=output, width=100, height=24, force_terminal=True))
    live.report(JobEvent("started", "new-1", "fairlead new", {"phase": ""}))
    with suppress(KeyboardInterrupt), live.paused():
        output.write("which [1]: ^C")
        raise KeyboardInterrupt
    live.close()
    output.write("note: interrupted")

    assert screen_of(output) == ["which [1]: ^C", "note: interrupted"]


def test_the_header_of_an_execution_follows_the_status() -> None:
    output = io.StringIO()
    live = ExecutionTable(Console(file=output, width=100, height=24, force_terminal=True))
    live.looked(a_snapshot(a_plan("01-01")))
    live.report(JobEvent("moved", "j_1", "DONE"))
    live.close()

    assert screen_of(output)[0].startswith("DONE · Phase 01")


def test_a_long_question_is_broken_at_blanks() -> None:
    text = "Errors: What happens with a wrong value? (the plain way 18/20, the rich way 15/20)"
    rows = question_lines(text, 40)
    texts = ["".join(part if isinstance(part, str) else part.text for part in row) for row in rows]
    assert max(map(len, texts)) <= 40
    assert " ".join(" ".join(texts).split()) == f"? {text}"
