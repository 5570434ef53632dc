"""`job watch` shows a job of another process: a live table, plain lines, or JSON lines.

The jobs are the stored ones: one of each kind, interrupted in the middle of its work.
"""

import io
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pyte
import pytest
from rich.console import Console

from fairlead.agents.model import AgentText, ToolStarted
from fairlead.app import App
from fairlead.interfaces.cli.job_watch import WatchScreen
from fairlead.jobs.activity import ActivityLog, activities
from fairlead.jobs.service import JournalEntry
from tests.conftest import Fairlead
from tests.golden.worlds import JOBS

COLUMNS = 100
ROWS = {
    "council": ("pm", "architect", "advocate"),
    "phase-execute": ("01-02", "01-03"),
    "new": ("questions",),
    "phase-plan": ("research",),
    "quick": ("plan",),
}


class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 11, 17, 12, tzinfo=UTC)


def a_stored_job(kind: str, tmp_path: Path) -> tuple[Path, str]:
    folder = tmp_path / "project"
    shutil.copytree(JOBS / kind / "project", folder)
    job = next((folder / ".planning" / "jobs").iterdir()).name
    return folder, job


def watched(folder: Path, job: str, *more: JournalEntry) -> list[str]:
    """What is on the screen when the watched job is shown with more entries in its journal."""
    app, output = App(str(folder)), io.StringIO()
    console = Console(file=output, width=COLUMNS, height=30, force_terminal=True)
    screen = WatchScreen(app, app.jobs.record(job), console)
    for entries in app.jobs.follow(job):
        screen.show((*entries, *more))
    screen.end(app.jobs.present(app.jobs.record(job)).status)
    screen.close()
    assert "\x1b]" not in output.getvalue()
    terminal = pyte.Screen(COLUMNS, 30)
    terminal.set_mode(pyte.modes.LNM)
    pyte.Stream(terminal).feed(output.getvalue())
    return [line.rstrip() for line in terminal.display if line.strip()]


@pytest.mark.parametrize("kind", ROWS)
def test_every_kind_of_job_has_a_table_whose_header_follows_the_state(
    kind: str, tmp_path: Path
) -> None:
    folder, job = a_stored_job(kind, tmp_path)
    lines = watched(folder, job)
    assert lines[0].startswith("INTERRUPTED · ")
    rows = {line.split()[0] for line in lines[2:]} | {line.split()[1] for line in lines[2:]}
    assert [name for name in ROWS[kind] if name not in rows] == []
    assert not any("raw/" in line or "{" in line for line in lines)


def test_the_time_is_that_of_the_journal_and_not_of_the_watcher(tmp_path: Path) -> None:
    folder, job = a_stored_job("council", tmp_path)
    seconds = int(watched(folder, job)[0].split(" · ")[1].removesuffix(" s"))
    assert seconds < 60  # the job ran for a few seconds, long ago


def test_a_hostile_journal_changes_neither_table_nor_terminal(tmp_path: Path) -> None:
    folder, job = a_stored_job("council", tmp_path)
    hostile = "\x1b]0;owned\x07\x1b[2J" + "long " * 60
    entry = JournalEntry(job, "no time", "call", hostile, hostile, {"role": hostile})
    journal = folder / ".planning/jobs" / job / "events.jsonl"
    journal.write_text(journal.read_text("utf-8") + "[" * 200_000 + "\n", "utf-8")
    lines = watched(folder, job, entry)
    assert lines[0].startswith("INTERRUPTED")
    assert all(len(line) <= COLUMNS for line in lines)


def test_a_pipe_gets_readable_lines_and_the_next_command(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    folder, job = a_stored_job("phase-execute", tmp_path)
    journal = folder / ".planning/jobs" / job / "events.jsonl"
    text = 'Done.\n\n```json\n{\n "nonce": "abc"\n}\n```\n'
    event = {"at": "2026-11-17T20:00:00+00:00", "kind": "note", "subject": "01-01", "text": text}
    journal.write_text(journal.read_text("utf-8") + json.dumps(event) + "\n", "utf-8")
    done = fairlead("-C", str(folder), "job", "watch")
    assert done.exit_code == 6
    *_, last, status, command = done.stdout.splitlines()
    assert last == "2026-11-17T20:00:00  01-01          note  Done."
    assert status == f"INTERRUPTED  {job}"
    assert command.endswith("continue it with: fairlead phase execute 01 --rehearse --here")


def test_programs_get_one_json_document_per_event(tmp_path: Path, fairlead: Fairlead) -> None:
    folder, job = a_stored_job("council", tmp_path)
    done = fairlead("-C", str(folder), "job", "watch", "--events")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {event["job"] for event in events} == {job}
    assert [event["kind"] for event in events][:3] == ["moved", "estimate", "call"]
    journal = (folder / ".planning/jobs" / job / "events.jsonl").read_text("utf-8")
    assert [event["at"] for event in events] == [
        json.loads(line)["at"] for line in journal.splitlines()
    ]


def test_what_agents_do_reaches_a_watcher_at_most_once_a_second(tmp_path: Path) -> None:
    log = ActivityLog(str(tmp_path / "private"), Noon())
    log.note("01-01-01", ToolStarted("1", "Write", "notes.md"))
    log.note("01-01-01", AgentText("Too early to be written."))
    [activity] = activities(str(tmp_path / "private"))
    assert (activity.subject, activity.text) == ("01-01-01", "Write notes.md")
    assert activity.at == Noon().now().timestamp()
    assert (tmp_path / "private/activity.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', '{"a": ["x", "y"]}', "[" * 99_999])
def test_a_damaged_file_of_activities_shows_nothing(content: str, tmp_path: Path) -> None:
    (tmp_path / "activity.json").write_text(content, "utf-8")
    assert activities(str(tmp_path)) == ()
