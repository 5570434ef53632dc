"""From an idea to an archived milestone: each step is named by the one before, and seen by all."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.hook import MODULES, NODE
from tests.support.journey import Journey, a_journey
from tests.support.model_server import ModelServer
from tests.support.real_agents import MODELS, surroundings_of
from tests.support.repositories import git
from tests.support.scripted_model import by_script

TOOL = MODULES / "@opengsd" / "gsd-core" / "gsd-core" / "bin" / "gsd-tools.cjs"
IDEA = "A desk for tickets"
STEPS = {
    "discuss": ("discussing", "--auto"),
    "plan": ("planning", "--auto"),
    "execute": ("executing", "--approve"),
    "verify": ("verifying", "--approve"),
}


def stands(journey: Journey) -> tuple[object, ...]:
    """What the lifecycle fields say between two steps."""
    held = journey.front
    phases = held["next_phases"]
    return held["active_phase"], held["next_action"], phases


def a_phase_is_carried_out(journey: Journey, number: str) -> None:
    """Discuss, plan, execute, verify: state, status line and `next` go with each of them."""
    for verb, (word, agreed) in STEPS.items():
        assert journey.next == f"fairlead phase {verb} {number}"
        assert stands(journey) == ("null", f"{verb}-phase", [number])
        assert f"next {verb}-phase {number}" in journey.line
        journey.do("phase", verb, number, agreed, asks=verb != "verify")
        if journey.is_noting and verb != "verify":  # which asks nobody by itself
            assert journey.seen() == [(word, number)]


def said_by_the_reference_tool(journey: Journey, *words: str) -> dict[str, Any]:
    """What a verb of the reference tool says of the project."""
    home = journey.folder.parent / "reference-home"
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        [str(NODE), str(TOOL), "query", *words],
        cwd=journey.folder,
        env={"PATH": journey.environment["PATH"], "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    held: dict[str, Any] = json.loads(done.stdout)
    return held


def require_sound(journey: Journey) -> None:
    """Our own check and the reference tool's own validation have nothing to say."""
    checked = journey.run("check")
    assert checked.returncode == 0, checked.stdout
    if not TOOL.is_file():
        return  # it is installed by tools/reference-tool, and only where that is possible
    assert said_by_the_reference_tool(journey, "validate", "consistency")["passed"] is True
    health = said_by_the_reference_tool(journey, "validate", "health")
    # W010: the reference tool's own agents are not installed in this home.
    assert (health["errors"], {each["code"] for each in health["warnings"]}) == ([], {"W010"})


def require_verified(journey: Journey) -> None:
    """The reference tool reads the roadmap, the plans and the verifications as we meant them."""
    if not TOOL.is_file():
        return
    analysed = said_by_the_reference_tool(journey, "roadmap", "analyze")
    assert [each["disk_status"] for each in analysed["phases"]] == ["complete", "complete"]
    for folder in sorted((journey.folder / ".planning/phases").iterdir()):
        place = folder.relative_to(journey.folder).as_posix()
        status = said_by_the_reference_tool(journey, "verification.status", place)
        assert status["status"] == "passed"
        index = said_by_the_reference_tool(journey, "phase-plan-index", folder.name[:2])
        assert (bool(index["plans"]), index["incomplete"]) == (True, [])


def carried_out(journey: Journey) -> None:
    """The whole way."""
    journey.do("new", IDEA, "--auto", "--granularity", "coarse", asks=True)
    require_sound(journey)
    journey.seen()
    for number in ("1", "2"):
        a_phase_is_carried_out(journey, number)
        require_sound(journey)
    assert journey.next == "fairlead milestone complete v1.0"
    assert "milestone complete" in journey.line
    require_verified(journey)
    journey.do("milestone", "complete", "v1.0")
    require_sound(journey)
    assert journey.next.startswith("fairlead milestone new")
    assert "ticket" in (journey.folder / ".planning/PROJECT.md").read_text("utf-8").casefold()
    merged = git(journey.folder, "log", "--format=%s", "--grep=^merge(").splitlines()
    assert len(merged) == 3


def test_an_idea_becomes_a_verified_and_archived_milestone(tmp_path: Path) -> None:
    carried_out(a_journey(tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_real_agent_program_goes_the_same_way(name: str, tmp_path: Path) -> None:
    journey = a_journey(tmp_path)
    journey.is_noting = False
    with ModelServer(by_script) as server:
        environment = surroundings_of(tmp_path / "home", server, name)
        del environment["FAIRLEAD_NOW"]
        journey.environment = environment
        journey.more = ("--agent", name, "--model", MODELS[name])
        carried_out(journey)
