"""From an idea to an archived milestone: each command names the next, and all agree on the state."""

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

pytestmark = pytest.mark.walk

TOOL = MODULES / "@opengsd" / "gsd-core" / "gsd-core" / "bin" / "gsd-tools.cjs"
IDEA = "A tracker for tickets"
STEPS = {
    "discuss": ("discussing", "--auto"),
    "plan": ("planning", "--auto"),
    "execute": ("executing", "--approve"),
    "verify": ("verifying", "--approve"),
}


def stands(journey: Journey) -> tuple[object, ...]:
    """The lifecycle fields of STATE.md between two steps."""
    values = journey.front
    phases = values["next_phases"]
    return values["active_phase"], values["next_action"], phases


def carry_out_phase(journey: Journey, number: str) -> None:
    """Discuss, plan, execute and verify; STATE.md, status line and `next` agree after each."""
    for verb, (word, agreed) in STEPS.items():
        assert journey.next == f"fairlead phase {verb} {number}"
        assert stands(journey) == ("null", f"{verb}-phase", [number])
        assert f"next {verb}-phase {number}" in journey.line
        journey.do("phase", verb, number, agreed, asks=verb != "verify")
        if journey.is_noting and verb != "verify":  # verify asks no question by itself
            assert journey.seen() == [(word, number)]


def reference_output(journey: Journey, *words: str) -> dict[str, Any]:
    """The output of a command of the reference tool."""
    home = journey.folder.parent / "reference-home"
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        [str(NODE), str(TOOL), "query", *words],
        cwd=journey.folder,
        env={"PATH": journey.environment["PATH"], "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def require_no_findings(journey: Journey) -> None:
    """`fairlead check` and the validation of the reference tool report nothing."""
    checked = journey.run("check")
    assert checked.returncode == 0, checked.stdout
    if not TOOL.is_file():
        return  # installed by tools/reference-tool, where possible
    assert reference_output(journey, "validate", "consistency")["passed"] is True
    health = reference_output(journey, "validate", "health")
    # W010: the reference tool's own agents are not installed in this home.
    assert (health["errors"], {warning["code"] for warning in health["warnings"]}) == ([], {"W010"})


def require_verified(journey: Journey) -> None:
    """The reference tool reads roadmap, plans and verifications as intended."""
    if not TOOL.is_file():
        return
    analysed = reference_output(journey, "roadmap", "analyze")
    assert [phase["disk_status"] for phase in analysed["phases"]] == ["complete", "complete"]
    for folder in sorted((journey.folder / ".planning/phases").iterdir()):
        place = folder.relative_to(journey.folder).as_posix()
        status = reference_output(journey, "verification.status", place)
        assert status["status"] == "passed"
        index = reference_output(journey, "phase-plan-index", folder.name[:2])
        assert (bool(index["plans"]), index["incomplete"]) == (True, [])


def carried_out(journey: Journey) -> None:
    """Run every step, from the idea to the archived milestone."""
    journey.do("new", IDEA, "--auto", "--granularity", "coarse", asks=True)
    require_no_findings(journey)
    journey.seen()
    for number in ("1", "2"):
        carry_out_phase(journey, number)
        require_no_findings(journey)
    assert journey.next == "fairlead milestone complete v1.0"
    assert "milestone complete" in journey.line
    require_verified(journey)
    journey.do("milestone", "complete", "v1.0")
    require_no_findings(journey)
    assert journey.next.startswith("fairlead milestone new")
    assert "ticket" in (journey.folder / ".planning/PROJECT.md").read_text("utf-8").casefold()
    merged = git(journey.folder, "log", "--format=%s", "--grep=^merge(").splitlines()
    assert len(merged) == 3


def test_an_idea_becomes_a_verified_and_archived_milestone(tmp_path: Path) -> None:
    carried_out(a_journey(tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_real_agent_program_takes_the_same_path(name: str, tmp_path: Path) -> None:
    journey = a_journey(tmp_path)
    journey.is_noting = False
    with ModelServer(by_script) as server:
        environment = surroundings_of(tmp_path / "home", server, name)
        del environment["FAIRLEAD_NOW"]
        journey.environment = environment
        journey.more = ("--agent", name, "--model", MODELS[name])
        carried_out(journey)
