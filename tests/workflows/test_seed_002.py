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

from fairlead.interfaces.cli.main import run
from fairlead.store.files import Files
from fairlead.workflows.discuss import PhaseDiscussion
from fairlead.workflows.new import NewProjects
from fairlead.workflows.phase_documents import PhaseDocuments
from fairlead.workflows.plan import PhasePlanning, PlanOptions
from fairlead.workflows.roles import Shape, role
from tests.support.execution import ExecutionTrial
from tests.support.hook import MODULES, NODE, environment_at
from tests.support.repositories import a_repository, git
from tests.support.roles import Player, Stage, writes
from tests.workflows import test_discuss as talk
from tests.workflows import test_new as beginning
from tests.workflows import test_plan as plans

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
        log = git(self.project, "log", "--reverse", "--format=%B", "--", path)
        found = re.search(r"^Job: ([a-z]+)-", log, re.MULTILINE)
        return found[1] if found else ""

    def prompts(self, name: str) -> list[str]:
        return [order.prompt for order in self.agent.asked(name)]


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Journey:
    folder = tmp_path_factory.mktemp("journey")
    project = a_repository(folder / "project", {"README.md": "a project\n"})
    text = plans.plan(requirements="TRACKER-01", more="D-01").replace("01-work", "01-p1")
    agent = Player(
        {
            "pm": beginning.product_manager,
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
    NewProjects(stage.jobs).carry_out("a tracker", stage.setup)
    PhaseDiscussion(stage.jobs, documents).carry_out("1", stage.setup)
    PhasePlanning(stage.jobs, documents).carry_out("1", PlanOptions(), stage.setup)
    ExecutionTrial(project).run()
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
def test_each_artefact_is_written_by_its_command(
    journey: Journey, path: str, made_by: str, says: str
):
    assert says in journey.text(path)
    assert journey.made_by(path) == made_by


def test_the_verification_has_a_status(journey: Journey):
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
def test_each_role_is_asked_by_its_command_and_receives_its_inputs(
    journey: Journey, name: str, asked_by: str, output: str, pieces: str
):
    content = role(name)

    assert (content.asked_by, content.output.startswith(output)) == (asked_by, True)
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
def test_the_other_roles_are_in_the_table(name: str, asked_by: str, output: str, shape: Shape):
    content = role(name)

    assert (content.asked_by, content.output, content.shape) == (asked_by, output, shape)


def test_four_project_researchers_work_in_four_directions(journey: Journey):
    directions = {
        re.findall(r"^Role: project-researcher · (\w+)", each, re.MULTILINE)[0]
        for each in journey.prompts("project-researcher")
    }

    assert directions == {"STACK", "FEATURES", "ARCHITECTURE", "PITFALLS"}


# -- the reference tool -----------------------------------------------------------------------


def reference_answer(journey: Journey, home: Path, *words: str) -> dict[str, Any]:
    """What a command of the reference tool says of the project."""
    if not NODE.is_file() or not TOOL.is_file():
        pytest.skip("the reference tool is not installed; run: tools/reference-tool")
    done = subprocess.run(
        [str(NODE), str(TOOL), *words],
        cwd=journey.project,
        env=environment_at(home),
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_reference_tool_reads_our_roadmap(journey: Journey, tmp_path: Path):
    content = reference_answer(journey, tmp_path, "roadmap", "analyze")
    first = reference_answer(journey, tmp_path, "roadmap", "get-phase", "1")

    assert [(each["number"], each["goal"]) for each in content["phases"]] == [
        ("1", "it works"),
        ("2", "it works"),
    ]
    assert content["phases"][0]["has_context"]
    assert content["phases"][0]["has_research"]
    assert first["success_criteria"] == ["It works"]


def test_the_reference_tool_reads_our_plans(journey: Journey, tmp_path: Path):
    index = reference_answer(journey, tmp_path, "phase-plan-index", "1")
    path = f"{PHASE}/01-01-PLAN.md"
    structure = reference_answer(journey, tmp_path, "verify", "plan-structure", path)
    front = reference_answer(journey, tmp_path, "frontmatter", "validate", path, "--schema", "plan")

    assert [(each["id"], each["wave"]) for each in index["plans"]] == [("01-01", 1)]
    assert (structure["valid"], structure["errors"], front["valid"]) == (True, [], True)


def test_the_reference_tool_finds_every_decision_in_our_plans(journey: Journey, tmp_path: Path):
    context = f"{PHASE}/01-CONTEXT.md"

    content = reference_answer(journey, tmp_path, "check", "decision-coverage-plan", PHASE, context)

    assert (content["passed"], content["skipped"], content["total"]) == (True, False, 1)


def test_the_reference_tool_reads_our_verification(journey: Journey, tmp_path: Path):
    text = journey.text(f"{PHASE}/01-VERIFICATION.md")
    path = f"{PHASE}/01-VERIFICATION.md"

    content = reference_answer(
        journey, tmp_path, "frontmatter", "validate", path, "--schema", "verification"
    )
    status = reference_answer(journey, tmp_path, "frontmatter", "get", path)["status"]

    assert content["valid"]
    assert f"status: {status}" in text


def test_the_validation_of_the_reference_tool_finds_no_error(journey: Journey, tmp_path: Path):
    consistency = reference_answer(journey, tmp_path, "validate", "consistency")
    health = reference_answer(journey, tmp_path, "validate", "health")

    assert consistency["passed"]
    assert health["errors"] == []
