"""The graphs of a project: phases, waves and the stages of a council."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fairlead.plans.roadmap_report import PhaseReport
from fairlead.report.graph import council_graph, phase_needs
from fairlead.report.model import NodeState
from tests.conftest import Fairlead
from tests.seeds.conftest import SeedProject
from tests.support.council_scenes import approved, vetoed


def a_phase(number: str, depends_on: str) -> PhaseReport:
    return PhaseReport(
        number=number,
        name="",
        milestone="",
        goal="",
        depends_on=depends_on,
        stage="empty",
        disk_status="empty",
        is_complete=False,
        plan_count=0,
        summary_count=0,
        has_context=False,
        has_research=False,
        verification="",
        roadmap_complete=False,
        has_box=False,
        folder="",
        line=0,
    )


@pytest.mark.parametrize(
    ("said", "needs"),
    [
        ("Phase 1", ("1",)),
        ("Phases 1 and 2", ("1", "2")),
        ("", ("2",)),  # nothing is said: the phase before it
        ("Nothing (first phase)", ()),
        ("None", ()),
        ("Phase 9", ("2",)),  # not in scope
        ("Phase 3", ("2",)),  # itself
    ],
)
def test_a_phase_depends_on_what_the_roadmap_says(said: str, needs: tuple[str, ...]) -> None:
    phases = [a_phase("1", ""), a_phase("2", "Phase 1"), a_phase("3", said)]
    assert phase_needs(phases)["3"] == needs


@pytest.fixture
def project(tmp_path: Path, fairlead: Fairlead) -> SeedProject:
    made = SeedProject(tmp_path, fairlead)
    made.run("init", "Demo", "--yes")
    made.run("phase", "add", "API")
    for number in (1, 2):
        made.plan(1, number)
    made.summary(1, 1)
    return made


def test_the_roadmap_shows_phases_and_plans_with_their_state(project: SeedProject) -> None:
    graph = project.json("graph")
    states = {node["id"]: node["state"] for node in graph["nodes"]}
    assert states == {
        "phase 1": "ready",
        "01-01": "done",
        "01-02": "ready",
        "phase 2": "waiting",
    }
    edges = {(edge["from"], edge["to"]) for edge in graph["edges"]}
    assert {("phase 1", "01-01"), ("01-02", "phase 2")} <= edges


def test_a_phase_is_written_to_a_file_in_the_format_of_its_name(project: SeedProject) -> None:
    project.run("graph", "--phase", "1", "-o", "waves.svg")
    picture = ET.parse(project.folder / "waves.svg").getroot()  # noqa: S314
    assert picture.tag.endswith("svg")
    project.run("graph", "--phase", "1", "-o", "waves.mmd")
    assert "flowchart LR" in (project.folder / "waves.mmd").read_text("utf-8")


def test_a_file_of_somebody_else_is_not_replaced(project: SeedProject) -> None:
    mine = project.folder / "mine.svg"
    mine.write_text("mine", "utf-8")
    error = project.json("graph", "-o", "mine.svg")
    assert (error["exit_code"], error["error"]["code"]) == (4, "output-exists")
    assert mine.read_text("utf-8") == "mine"
    project.run("graph", "-o", "mine.svg", "--force")
    project.run("graph", "-o", "mine.svg")  # its own file needs no permission
    assert mine.read_text("utf-8").startswith("<!-- made by fairlead -->")


def test_a_council_shows_its_seats_and_where_it_stands() -> None:
    done = council_graph(approved().job, is_running=False)
    assert sum(node.id.startswith("seat ") for node in done.nodes) == 6
    stopped = {node.id: node.state for node in council_graph(vetoed().job, is_running=False).nodes}
    assert stopped["council_reviewing"] is NodeState.BLOCKED
    assert stopped["executing"] is NodeState.WAITING


def test_a_roadmap_that_is_not_utf_8_is_an_error(project: SeedProject) -> None:
    roadmap = project.path("ROADMAP.md")
    roadmap.write_bytes(roadmap.read_bytes() + b"\xff\xfe\n")
    code, message = project.fails("graph")
    assert code == 3
    assert "ROADMAP.md" in message


def test_a_roadmap_without_phases_says_so(tmp_path: Path, fairlead: Fairlead) -> None:
    project = SeedProject(tmp_path, fairlead)
    (tmp_path / ".planning").mkdir()
    (tmp_path / ".planning/ROADMAP.md").write_text("# Roadmap\n", "utf-8")
    assert "No phases" in project.run("graph", "--format", "mermaid")
