"""Each row of the tables of artefacts and agents: who makes it, where, from what, and who can read it.

One small project goes from an idea to its verification, with roles played in this process; then
its files are looked at, by us and by the reference tool.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fairlead.engine.new_project import NewProjects
from fairlead.engine.phase_discuss import PhaseDiscussion
from fairlead.engine.phase_documents import PhaseDocuments
from fairlead.engine.phase_plan import PhasePlanning
from fairlead.engine.plan_asks import Wishes
from fairlead.interfaces.cli.main import run
from fairlead.model.roles import Shape, role
from fairlead.store.files import Files
from tests.engine import test_new_project as beginning
from tests.engine import test_phase_discuss as talk
from tests.engine import test_phase_plan as plans
from tests.support.execution import Works
from tests.support.hook import MODULES, NODE, environment_at
from tests.support.repositories import a_repository, git
from tests.support.roles import Player, Stage, writes

TOOL = MODULES / "@opengsd" / "gsd-core" / "gsd-core" / "bin" / "gsd-tools.cjs"
PHASE = ".planning/phases/01-p1"


@dataclass(frozen=True)
class Journey:
    """A project that went all the way, and who was asked what on it."""

    project: Path
    agent: Player

    def text(self, path: str) -> str:
        return (self.project / path).read_text("utf-8")

    def made_by(self, path: str) -> str:
        """The kind of the job whose commit brought a file first."""
        told = git(self.project, "log", "--reverse", "--format=%B", "--", path)
        found = re.search(r"^Job: ([a-z]+)-", told, re.MULTILINE)
        return found[1] if found else ""

    def prompts(self, name: str) -> list[str]:
        return [order.prompt for order in self.agent.asked(name)]


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Journey:
    folder = tmp_path_factory.mktemp("journey")
    project = a_repository(folder / "project", {"README.md": "a project\n"})
    text = plans.plan(requirements="DESK-01", more="D-01").replace("01-work", "01-p1")
    agent = Player(
        {
            "pm": beginning.wishes,
            "project-researcher": beginning.researches,
            "research-synthesizer": beginning.researches,
            "roadmapper": beginning.maps(beginning.GOOD),
            "assumptions-analyzer": talk.analyses("Storage"),
            "advisor-researcher": talk.advises,
            "phase-researcher": writes("RESEARCH.md", plans.RESEARCH),
            "pattern-mapper": writes("PATTERNS.md", plans.PATTERNS),
            "planner": plans.plans(text),
            "plan-checker": plans.checks([plans.issue("warning", "a longer name")]),
        }
    )
    stage = Stage(project, agent)
    documents = PhaseDocuments(Files(str(project)), stage.clock)
    NewProjects(stage.jobs).carry_out("a desk", stage.company)
    PhaseDiscussion(stage.jobs, documents).carry_out("1", stage.company)
    PhasePlanning(stage.jobs, documents).carry_out("1", Wishes(), stage.company)
    Works(project).run()
    environment = {**os.environ}
    os.environ.update(environment_at(folder / "home"))
    try:
        run(["-C", str(project), "phase", "verify", "1", "--approve", "--no-plans"])
    finally:
        os.environ.clear()
        os.environ.update(environment)
    return Journey(project, agent)


@pytest.mark.parametrize(
    ("path", "made_by", "says"),
    [
        (".planning/PROJECT.md", "new", "## Core Value"),
        (".planning/REQUIREMENTS.md", "new", "| FIND-01 | Phase 2 | Pending |"),
        (".planning/ROADMAP.md", "new", "**Risk**: LOW"),
        (".planning/STATE.md", "new", "next_phases:"),
        (".planning/config.json", "new", '"model_profile"'),
        (
            f"{PHASE}/01-CONTEXT.md",
            "discuss",
            "*Assumed:* as before (likely); if that is wrong: more work",
        ),
        (f"{PHASE}/01-RESEARCH.md", "plan", "## Common Pitfalls"),
        (f"{PHASE}/01-PATTERNS.md", "plan", "## File Classification"),
        (f"{PHASE}/01-01-PLAN.md", "plan", "wave: 1"),
        (f"{PHASE}/01-01-SUMMARY.md", "execute", "thing1.txt"),
    ],
)
def test_an_artefact_is_made_by_its_command_at_its_place(
    journey: Journey, path: str, made_by: str, says: str
):
    assert says in journey.text(path)
    assert journey.made_by(path) == made_by


def test_the_verification_says_what_was_met(journey: Journey):
    text = journey.text(f"{PHASE}/01-VERIFICATION.md")

    assert re.search(r"^status: (passed|gaps_found|human_needed)$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "asked_by", "output", "pieces"),
    [
        (
            "planner",
            "phase plan",
            "PLAN",
            "project phase requirements state context research patterns",
        ),
        ("plan-checker", "phase plan", "", "phase requirements context research plans"),
        ("phase-researcher", "phase plan", "RESEARCH", "project phase requirements state context"),
        ("pattern-mapper", "phase plan", "PATTERNS", "phase context research"),
        ("project-researcher", "new", "research/", "project answers"),
        ("roadmapper", "new", "ROADMAP", "project research"),
        ("assumptions-analyzer", "phase discuss", "CONTEXT", "project phase requirements"),
        ("advisor-researcher", "phase discuss", "CONTEXT", "area phase requirements"),
    ],
)
def test_an_agent_is_asked_by_its_command_and_given_what_it_reads(
    journey: Journey, name: str, asked_by: str, output: str, pieces: str
):
    held = role(name)

    assert (held.asked_by, held.output.startswith(output)) == (asked_by, True)
    asked = journey.prompts(name)
    assert asked
    for piece in pieces.split():
        assert re.search(rf"^\[\[{piece} ", asked[0], re.MULTILINE), piece


@pytest.mark.parametrize(
    ("name", "asked_by", "output", "shape"),
    [
        ("executor", "phase execute", "SUMMARY", Shape.WORK),
        ("verifier", "phase verify", "VERIFICATION", Shape.ANSWER),
        ("debugger", "debug", "debug file", Shape.ANSWER),
        ("architect", "phase execute", "", Shape.ANSWER),
        ("critic", "phase plan", "", Shape.ANSWER),
        ("pm", "new", "PROJECT, REQUIREMENTS", Shape.ANSWER),
    ],
)
def test_the_other_agents_have_their_row(name: str, asked_by: str, output: str, shape: Shape):
    held = role(name)

    assert (held.asked_by, held.output, held.shape) == (asked_by, output, shape)


def test_four_project_researchers_look_in_four_directions(journey: Journey):
    directions = {
        re.findall(r"^Role: project-researcher · (\w+)", each, re.MULTILINE)[0]
        for each in journey.prompts("project-researcher")
    }

    assert directions == {"STACK", "FEATURES", "ARCHITECTURE", "PITFALLS"}


# -- the reference tool -----------------------------------------------------------------------


def told(journey: Journey, home: Path, *words: str) -> dict[str, Any]:
    """What a command of the reference tool says of the project."""
    if not NODE.is_file() or not TOOL.is_file():
        pytest.skip("the reference tool is not installed; run: tools/reference-tool")
    done = subprocess.run(
        [str(NODE), str(TOOL), *words],
        cwd=journey.project,
        env=environment_at(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_reference_tool_reads_our_roadmap(journey: Journey, tmp_path: Path):
    held = told(journey, tmp_path, "roadmap", "analyze")
    first = told(journey, tmp_path, "roadmap", "get-phase", "1")

    assert [(each["number"], each["goal"]) for each in held["phases"]] == [
        ("1", "it works"),
        ("2", "it works"),
    ]
    assert held["phases"][0]["has_context"]
    assert held["phases"][0]["has_research"]
    assert first["success_criteria"] == ["It works"]


def test_the_reference_tool_reads_our_plans(journey: Journey, tmp_path: Path):
    index = told(journey, tmp_path, "phase-plan-index", "1")
    path = f"{PHASE}/01-01-PLAN.md"
    structure = told(journey, tmp_path, "verify", "plan-structure", path)
    front = told(journey, tmp_path, "frontmatter", "validate", path, "--schema", "plan")

    assert [(each["id"], each["wave"]) for each in index["plans"]] == [("01-01", 1)]
    assert (structure["valid"], structure["errors"], front["valid"]) == (True, [], True)


def test_the_reference_tool_finds_every_decision_in_our_plans(journey: Journey, tmp_path: Path):
    context = f"{PHASE}/01-CONTEXT.md"

    held = told(journey, tmp_path, "check", "decision-coverage-plan", PHASE, context)

    assert (held["passed"], held["skipped"], held["total"]) == (True, False, 1)


def test_the_reference_tool_reads_our_verification(journey: Journey, tmp_path: Path):
    text = journey.text(f"{PHASE}/01-VERIFICATION.md")
    path = f"{PHASE}/01-VERIFICATION.md"

    held = told(journey, tmp_path, "frontmatter", "validate", path, "--schema", "verification")
    status = told(journey, tmp_path, "frontmatter", "get", path)["status"]

    assert held["valid"]
    assert f"status: {status}" in text


def test_the_reference_tools_own_validation_finds_no_error(journey: Journey, tmp_path: Path):
    consistency = told(journey, tmp_path, "validate", "consistency")
    health = told(journey, tmp_path, "validate", "health")

    assert consistency["passed"]
    assert health["errors"] == []
