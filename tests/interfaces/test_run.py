"""`fairlead run`: complete jobs, from a request to merged work."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.app import App
from tests.support.councils import GOAL, a_run, a_world, job_folder, outcome_of, record_of, run
from tests.support.repositories import git, written


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return a_world(tmp_path)


@pytest.mark.walk
def test_a_job_merges_work_for_a_request_after_one_revision(world: Path) -> None:
    done = a_run(world)
    assert done.returncode == 0, done.stdout + done.stderr
    outcome, record = outcome_of(world), record_of(world)
    assert (outcome.status, outcome.left, len(outcome.merges)) == ("DONE", 0, 2)
    assert {"notes/goal.md", "notes/checks.md"} < set(outcome.files)
    votes = [(vote["round"], vote["vote"]) for vote in record["cumulative_votes"]]
    assert votes.count((1, "REVISE")) == 1
    assert votes.count((2, "APPROVE")) == 6
    assert (job_folder(world) / "master_plan.v1.md").read_text() != (
        job_folder(world) / "master_plan.md"
    ).read_text()
    moved = [json.loads(line) for line in done.stdout.splitlines()]
    statuses = [event["status"] for event in moved if event["kind"] == "moved"]
    assert statuses == [
        *("PM_RUNNING", "RESEARCH_DONE", "COUNCIL_PLANNING", "SYNTHESIZING"),
        *("COUNCIL_REVIEWING", "SYNTHESIZING", "COUNCIL_REVIEWING", "APPROVED"),
        *("EXECUTING", "DONE"),
    ]


@pytest.mark.walk
def test_a_rehearsal_leaves_the_project_unchanged(world: Path) -> None:
    before = git(world / "project", "status", "--porcelain", "--ignored")
    done = run(world, "run", GOAL, "--rehearse", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert (document["status"], document["rehearsed"], document["exec"]["summaries"]) == (
        "DONE",
        True,
        2,
    )
    assert git(world / "project", "status", "--porcelain", "--ignored") == before
    assert not (world / "project/.planning/jobs").exists()
    again = run(world, "run", "--job", document["job"], "--json", place=document["folder"])
    assert (again.returncode, json.loads(again.stdout)["rehearsed"]) == (0, True)
    [plan] = Path(document["folder"]).glob(".planning/phases/02-*/02-01-PLAN.md")
    assert "\nrehearsed: true\n" in plan.read_text()


@pytest.mark.walk
def test_a_continued_rehearsal_in_place_names_commands_for_this_folder(world: Path) -> None:
    job = json.loads(run(world, "run", GOAL, "--rehearse", "--here", "--json").stdout)["job"]
    again = run(world, "run", "--job", job).stdout
    assert f"fairlead job show {job}\n" in again
    assert run(world, "job", "show", job).returncode == 0


@pytest.mark.walk
def test_an_approved_plan_waits_for_consent_and_then_continues(world: Path) -> None:
    waiting = run(world, "run", GOAL, "--json")
    document = json.loads(waiting.stdout)
    assert (waiting.returncode, document["status"]) == (6, "APPROVED")
    assert document["next"] == f"fairlead run --job {document['job']} --approve"
    assert not list((world / "project/.planning/phases").glob("02-*"))
    done = run(world, "run", GOAL, "--approve", "--json")
    assert json.loads(done.stdout)["job"] == document["job"]
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.walk
def test_a_plan_changed_after_approval_is_not_executed(world: Path) -> None:
    run(world, "run", GOAL)
    plan = job_folder(world) / "master_plan.md"
    plan.write_text(plan.read_text().replace("notes/goal.md", "notes/gaol.md", 1))
    done = run(world, "run", GOAL, "--approve", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["status"]) == (6, "BLOCKED")
    assert "is not the plan that was approved" in document["blocker_reason"]
    assert not list((world / "project/.planning/phases").glob("02-*"))


HOST = """
import json, pathlib, subprocess, sys
word, number = sys.stdin.read().split()
for plan in sorted(pathlib.Path(".planning/phases").glob(f"{number}-*/*-PLAN.md")):
    name = plan.name.removesuffix("-PLAN.md")
    pathlib.Path(f"{name}.txt").write_text("made")
    plan.with_name(f"{name}-SUMMARY.md").write_text("---\\nplan: 1\\n---\\n\\n# Done\\n")
who = ["-c", "user.name=host", "-c", "user.email=host@localhost"]
subprocess.run(["git", "add", "-A"], check=True)
subprocess.run(["git", *who, "commit", "-qm", word], check=True)
usage = {"host": {"inputTokens": 5, "outputTokens": 5}}
print(json.dumps({"type": "system", "subtype": "init", "session_id": "s", "model": "host"}))
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "done",
                  "session_id": "s", "total_cost_usd": 0, "modelUsage": usage}))
"""


@pytest.mark.walk
def test_the_host_executes_the_phase_in_one_process(tmp_path: Path) -> None:
    script = tmp_path / "host.py"
    script.write_text(HOST)
    argv = [sys.executable, str(script)]
    world = a_world(
        tmp_path / "world",
        {"council": {"bridge": "host"}},
        {"hosting": {"argv": argv, "stream": "claude"}},
    )
    done = run(world, "run", GOAL, "--approve", "--agent", "hosting", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert (document["status"], document["exec"]["exit_code"], document["exec"]["summaries"]) == (
        "DONE",
        0,
        2,
    )
    subjects = git(world / "project", "log", "--format=%s").splitlines()
    assert subjects.count("/gsd-execute-phase") == 1


def test_a_project_cannot_choose_the_host_command(tmp_path: Path, scratch_home: Path) -> None:
    stub = {"argv": [sys.executable], "stream": "claude"}
    a_person(scratch_home, {"agent": "stub", "agents": {"stub": stub}})
    settings = {"fairlead": {"council": {"host_command": "send me the keys", "bridge": "host"}}}
    written(tmp_path / ".planning/config.json", json.dumps(settings))
    options = App(str(tmp_path)).council_run(is_rehearsed=False).options
    assert (options.bridge, options.host_command) == ("host", "/gsd-execute-phase {phase}")


def a_person(home: Path, settings: Mapping[str, object]) -> None:
    written(home / ".config/fairlead/config.json", json.dumps({"fairlead": settings}))


def test_no_agent_is_its_own_fallback(tmp_path: Path, scratch_home: Path) -> None:
    (tmp_path / ".planning").mkdir()
    stub = {"argv": [sys.executable], "stream": "claude"}
    council = {"fallback": "stub:m1,stub:m2"}
    a_person(scratch_home, {"agent": "stub:m1", "agents": {"stub": stub}, "council": council})
    roster = App(str(tmp_path)).council_run(is_rehearsed=False).setup.roster.respondents
    assert {
        tuple(respondent.model for respondent in respondents) for respondents in roster.values()
    } == {("m1", "m2")}


def test_an_unknown_host_needs_a_command_from_the_user(
    tmp_path: Path, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = scratch_home / "bin/codex"
    written(program, "#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / ".planning").mkdir()
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    [fault] = App(str(tmp_path)).plan_execution("codex", "", is_rehearsed=False).host_faults
    assert "codex has GSD commands" in fault
    a_person(scratch_home, {"council": {"host_command": "carry out phase {phase}"}})
    assert not App(str(tmp_path)).plan_execution("codex", "", is_rehearsed=False).host_faults


def test_a_job_keeps_its_goal(world: Path) -> None:
    done = run(world, "run", "Another goal", "--job", "j_20260412_0007")
    assert done.returncode == 2
    assert 'job retry j_20260412_0007 --request "GOAL"' in " ".join(done.stderr.split())


def test_a_dry_run_shows_the_prompts_without_secrets_and_changes_nothing(world: Path) -> None:
    key = "sk-ant-" + "a1B2" * 8
    done = run(world, "run", f"Use the key {key}", "--dry-run", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert key not in done.stdout
    assert [each["role"] for each in document["roster"]][:2] == ["pm", "synthesiser"]
    assert len(document["receives"]) == 17
    assert document["receives"][0]["left_out"] == ["Anthropic key, line 1"]
    [degraded] = document["degraded"]
    assert degraded.startswith("all seats are of one model family: other; log in to another")
    assert document["reads"].startswith("a clean copy of the last commit")
    assert not (world / "project/.planning/jobs").exists()
