"""A council of real clients: two agent programs and an OpenAI-compatible server, all on loopback."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fairlead.agents.scripted import council as scripted_council
from tests.support.councils import GOAL, a_world, events_of, record_of, run
from tests.support.killing import processes_of
from tests.support.model_server import USAGE, Fault, ModelServer, Request, Turn
from tests.support.models import KEY, VARIABLE, files_below
from tests.support.programs import fairlead
from tests.support.real_agents import MODELS, carrying_out, surroundings_of
from tests.support.repositories import a_repository, git

pytestmark = pytest.mark.walk

PATIENCE_SECONDS = 600
AGENTS = {"architect": "claude", "security": "codex"}  # the other seats are plain models


def advising(request: Request) -> Turn:
    """A model that answers a council, and otherwise does its task."""
    reply = next(filter(None, map(scripted_council.answer, request.texts)), "")
    # The plan already contains what a seat would ask for, so one round is enough.
    reply = reply.replace("its verify command fails", "its verify fails; a revert takes it back")
    return Turn(reply) if reply else carrying_out(request)


def a_council(server: ModelServer) -> dict[str, object]:
    """User settings that seat these agents."""
    local = {"kind": "openai", "base_url": f"{server.url}/v1", "key_env": VARIABLE}
    priced = {**local, "model": "llama3", "usd_in": 0.5, "usd_out": 2}
    seats = {seat: f"{name}:{MODELS[name]}" for seat, name in AGENTS.items()}
    plain = dict.fromkeys(("builder", "skeptic", "operator", "advocate"), "local")
    council = {"pm": "local", "synthesiser": "local", "seats": {**seats, **plain}}
    return {"agent": "claude", "models": {"local": priced}, "council": council}


def the_command(project: Path, environment: dict[str, str], *words: str):
    return subprocess.run(
        [*fairlead().words, *words],
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def test_a_council_of_real_clients_merges_work_for_a_goal(tmp_path: Path) -> None:
    project = tmp_path / "project"
    a_repository(project, {"README.md": "a harbour\n"})
    with (
        ModelServer(advising) as agents,
        ModelServer(advising, has_asides=False) as models,
    ):
        environment = surroundings_of(tmp_path / "home", agents, *AGENTS.values())
        environment |= {VARIABLE: KEY}
        del environment["FAIRLEAD_NOW"]
        settings = Path(environment["XDG_CONFIG_HOME"]) / "fairlead" / "config.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"fairlead": a_council(models)}))
        assert the_command(project, environment, "init", "Harbour", "--yes").returncode == 0
        git(project, "add", "-A")
        git(project, "commit", "-qm", "the project")
        done = the_command(project, environment, "run", GOAL, "--approve", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    document = json.loads(done.stdout)
    assert (document["status"], set(document["votes"].values()), document["degraded"]) == (
        "DONE",
        {"APPROVE"},
        [],
    )
    record: dict[str, Any] = json.loads(
        (project / ".planning/jobs" / document["job"] / "job.json").read_text()
    )
    asked = {
        council_vote["seat"]: (council_vote["model"], council_vote["family"])
        for council_vote in record["council_votes"]
    }
    assert asked["architect"] == (MODELS["claude"], "claude")
    assert asked["builder"] == ("llama3", "llama")
    assert {"notes/goal.md", "notes/checks.md"} < set(git(project, "ls-files").splitlines())
    assert git(project, "status", "--porcelain", "--", ":!.planning") == ""
    assert processes_of(project, document["job"]) == []
    written = {**files_below(project), **files_below(tmp_path / "home")}
    assert [name for name, content in written.items() if KEY.encode() in content] == []
    assert KEY not in done.stdout + done.stderr


def test_a_council_survives_every_failure_of_a_provider(tmp_path: Path) -> None:
    faults = {
        "architect": Turn(status=429, retry_after_seconds=1),
        "builder": Turn(status=529),
        "skeptic": Turn("half a plan", fault=Fault.RESET_LATE),
        "advocate": Turn(fault=Fault.PAGE),
    }

    def failing_first(request: Request) -> Turn:
        reply = request.conversation
        seat = next((name for name in faults if f"You hold the {name} seat" in reply), "")
        return faults.pop(seat, None) or advising(request)

    with ModelServer(failing_first, has_asides=False) as server:
        local = {"kind": "openai", "base_url": f"{server.url}/v1", "model": "llama3"}
        seats = {"seats": dict.fromkeys(faults, "local")}
        world = a_world(tmp_path, {"models": {"local": local}, "council": seats})
        done = run(world, "run", GOAL, "--json")
        document, record = json.loads(done.stdout), record_of(world)

    assert (done.returncode, document["status"]) == (6, "APPROVED"), done.stdout + done.stderr
    absent = [event for event in events_of(world) if event["kind"] == "absent"]
    assert [each["text"].partition(":")[0] for each in absent] == ["raw/r0/advocate"]
    assert {council_vote["vote"] for council_vote in record["council_votes"]} == {"APPROVE"}
    retried = len(server.requests) - 4 * (1 + record["review_round"])
    assert (retried, len(faults)) == (3, 0)  # an HTML page instead of an answer is not retried
    [skeptic] = [event for event in events_of(world) if event["text"] == "raw/r0/skeptic"][1:]
    assert skeptic["tokens"] > sum(USAGE)  # includes the lost half
    assert record["usage"]["total_cost_usd"] > 0
