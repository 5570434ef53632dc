"""`fairlead demo`: a goal becomes merged commits, and the picture in the README shows it truly."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from fairlead.interfaces.cli.demo import GOAL, NEXT_COMMANDS
from fairlead.interfaces.cli.run_story import RunStory
from fairlead.jobs.context import JobEvent
from fairlead.plans.service import PlanIndex
from tests.conftest import Fairlead
from tools.pictures import RECORD, recorded

MOST_LINES = 80


def no_plans(phase: str) -> PlanIndex:
    return PlanIndex(phase, (), {"1": ("02-01",)}, (), (), False, ())


def lines_of(*events: JobEvent) -> list[str]:
    lines: list[str] = []
    story = RunStory(
        lambda line: lines.append("".join(p if isinstance(p, str) else p.text for p in line)),
        no_plans,
    )
    for event in events:
        story.report(event)
    return [" ".join(line.split()) for line in lines]


def test_the_story_counts_votes_and_names_those_who_disagree() -> None:
    votes = [
        JobEvent("answered", seat, "", {"role": "ballot", "verdict": verdict})
        for seat, verdict in (
            ("architect", "APPROVE"),
            ("security", "VETO"),
            ("builder", "APPROVE"),
        )
    ]
    assert lines_of(*votes, JobEvent("moved", "j_1", "BLOCKED")) == [
        "round 1 2 approve, 1 veto (security)"
    ]


def test_the_story_has_one_line_for_each_attempt() -> None:
    task = "02-01-01"
    assert lines_of(
        JobEvent("started", "execute-02", "", {"phase": "02"}),
        JobEvent("executing", task, "", {"attempt": 1}),
        JobEvent("executor-success", task),
        JobEvent("verify-failed", task, "`make` ended with 2\n```\nTraceback\n```"),
        JobEvent("executing", task, "", {"attempt": 2}),
        JobEvent("executor-success", task),
        JobEvent("verify-passed", task),
        JobEvent("approved", task),
        JobEvent("merged", "02-01", "abc1234", {"branch": "main"}),
    ) == [
        "wave 1 02-01",
        "try 1 execute ✓ verify ✗ `make` ended with 2",
        "try 2 execute ✓ verify ✓ review ✓",
        "merged abc1234 into main",
    ]


def test_the_record_of_the_demo_tells_the_whole_way() -> None:
    lines = ["".join(text for text, _ in line) for line in json.loads(RECORD.read_text("utf-8"))]
    assert len(lines) <= MOST_LINES
    for part in (GOAL, "council", "round 1", "wave 1", "verify ✗", "merged", "git log"):
        assert any(part in line for line in lines), part
    assert [line.split("  ")[1] for line in lines[-3:]] == [command for command, _ in NEXT_COMMANDS]


def _without_hash(line: Sequence[Sequence[str]]) -> str:
    return re.sub(r"\b[0-9a-f]{7}\b", "commit", "".join(text for text, _ in line))


@pytest.mark.walk
def test_the_demo_shows_what_its_record_says(fairlead: Fairlead, tmp_path: Path) -> None:
    picture = tmp_path / "demo.svg"
    done = fairlead("demo", "--svg", str(picture))
    assert done.exit_code == 0, done.stderr
    record = json.loads(RECORD.read_text("utf-8"))
    shown = recorded([(line,) for line in done.stdout.splitlines()])
    # The commits of plans that run side by side may come in another order.
    assert sorted(map(_without_hash, shown)) == sorted(map(_without_hash, record))
    assert picture.read_text("utf-8").startswith("<svg")


@pytest.mark.walk
def test_the_demo_merges_commits_and_leaves_the_home_alone(
    fairlead: Fairlead, scratch_home: Path
) -> None:
    before = sorted(path for path in scratch_home.rglob("*") if "state" in path.parts)
    document = json.loads(fairlead("demo", "--json").stdout)
    assert document["status"] == "DONE"
    log = ("git", "-C", document["folder"], "log", "--merges", "--format=%s")
    subjects = subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(subjects) == 2
    assert sorted(path for path in scratch_home.rglob("*") if "state" in path.parts) == before
