"""Pausing: what is open is on disk before the session ends, and nothing of it gets lost."""

import json
from pathlib import Path

import pytest

from fairlead.engine.pausing import Pausing
from fairlead.model.job import Job, JobStatus
from fairlead.model.lifecycle import GateEvent
from fairlead.records.gate import OpenTask
from fairlead.store.files import Files
from fairlead.store.jobs import JobFiles
from tests.support.execution import a_plan
from tests.support.projects import Project, ToldClock
from tests.support.states import STATE

HANDOFF = ".planning/HANDOFF.json"
PAGE = ".planning/phases/01-core/.continue-here.md"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.plan("1", 1)
    return project


def put(project: Project, path: str, text: str) -> None:
    place = project.folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")


def test_a_pause_says_what_is_open_where_and_what_comes_next(project: Project) -> None:
    put(project, ".planning/phases/01-core/01-01-PLAN.md", a_plan("01-01", "a.txt").text)
    project.events.blocker_added("no key")
    project.events.blocker_added("RESOLVED: no host")
    project.pausing.pause("halfway", ("src/a.py",))
    held = json.loads((project.folder / HANDOFF).read_text("utf-8"))
    assert (held["phase"], held["plan"], held["status"]) == ("1", "01-01", "paused")
    assert held["remaining_tasks"][0]["status"] == "not_started"
    assert [each["description"] for each in held["blockers"]] == ["no key"]
    assert held["uncommitted_files"] == ["src/a.py"]
    assert held["next_action"] == "fairlead phase execute 1"
    assert "fairlead phase execute 1" in (project.folder / PAGE).read_text("utf-8")
    assert (f"Resume file: {PAGE}" in project.state, "status: paused" in project.state) == (
        True,
        True,
    )


def test_a_pause_shows_a_name_that_is_no_text(project: Project) -> None:
    project.pausing.pause("halfway", ("caf\udce9.txt",))
    held = json.loads((project.folder / HANDOFF).read_text("utf-8"))
    assert held["uncommitted_files"] == [r"caf\udce9.txt"]


def test_resuming_gives_the_state_back_and_puts_our_files_on_the_shelf(project: Project) -> None:
    project.pausing.pause("halfway", ())
    paused = {path: (project.folder / path).read_bytes() for path in (HANDOFF, PAGE)}
    taken = project.pausing.go_on()
    assert taken.left.next.command == "fairlead phase execute 1"
    assert not any((project.folder / path).exists() for path in paused)
    kept = [(project.folder / move.target).read_bytes() for move in taken.outcome.places.moves]
    assert sorted(kept) == sorted(paused.values())
    assert "status: paused" not in project.state
    assert "Resume file: None" in project.state


def test_a_second_pause_without_words_keeps_those_of_the_first(project: Project) -> None:
    project.pausing.pause("the reader works", ())
    project.pausing.pause("", ())
    assert "the reader works" in project.pausing.left().paused_at
    project.pausing.pause("and its tests too", ())
    assert "the reader works" not in project.pausing.left().paused_at


def test_each_workstream_keeps_its_own_pause(project: Project) -> None:
    files, clock = Files(str(project.folder)), ToldClock()
    for name in ("alpha", "beta"):
        home = project.planning / "workstreams" / name
        home.mkdir(parents=True)
        (home / "STATE.md").write_text(STATE, "utf-8")
    alpha, beta = (Pausing(files, clock, name) for name in ("alpha", "beta"))
    project.pausing.pause("of the project", ())
    alpha.pause("of alpha", ())
    beta.pause("of beta", ())
    before = project.snapshot()

    taken = alpha.go_on()

    assert [each.note for each in taken.left.handoffs] == ["of alpha"]
    gone = sorted(before.keys() - project.snapshot().keys())
    assert [path.rpartition("/")[0] for path in gone] == [".planning/workstreams/alpha"] * 2
    assert [each.note for each in beta.left().handoffs] == ["of beta"]
    assert [each.note for each in project.pausing.left().handoffs] == ["of the project"]


def of_an_older_version(workstream: str) -> str:
    """A pause of a workstream as it stood in the project's own folder once."""
    held = {
        "writer": "fairlead",
        "phase_dir": f".planning/workstreams/{workstream}/phases/01-core",
        "context_notes": f"of {workstream}",
    }
    return json.dumps(held)


def test_a_pause_of_a_workstream_in_the_folder_of_the_project_is_still_its_own(
    project: Project,
) -> None:
    for name in ("api", "web"):
        put(project, f".planning/workstreams/{name}/STATE.md", STATE)
    api, web = (Pausing(Files(str(project.folder)), ToldClock(), name) for name in ("api", "web"))
    put(project, HANDOFF, of_an_older_version("api"))
    assert project.pausing.left().handoffs == web.left().handoffs == ()

    project.pausing.pause("of the project", ())
    assert (project.folder / HANDOFF).read_text("utf-8") == of_an_older_version("api")
    assert [each.note for each in project.pausing.go_on().left.handoffs] == ["of the project"]

    taken = api.go_on()
    assert [each.note for each in taken.left.handoffs] == ["of api"]
    (move,) = taken.outcome.places.moves
    assert (project.folder / move.target).read_text("utf-8") == of_an_older_version("api")


@pytest.mark.parametrize("name", ["gone", "..", "a b"])
def test_a_pause_of_a_workstream_that_is_gone_is_shown_and_not_written_over(
    project: Project, name: str
) -> None:
    put(project, HANDOFF, of_an_older_version(name))
    project.pausing.pause("", ())
    assert (project.folder / HANDOFF).read_text("utf-8") == of_an_older_version(name)
    assert f"of {name}" in [each.note for each in project.pausing.left().handoffs]


def test_a_look_at_what_was_left_changes_nothing(project: Project) -> None:
    project.pausing.pause("", ())
    before = project.snapshot()
    project.pausing.go_on(dry_run=True)
    assert project.snapshot() == before


def test_what_another_tool_left_is_never_written_over(project: Project) -> None:
    foreign = {HANDOFF: '{"version": "1.0", "next_action": "call Bob"}', PAGE: "# Mine\n\nnotes\n"}
    for path, text in foreign.items():
        put(project, path, text)
    project.pausing.pause("ours", ())
    assert {path: (project.folder / path).read_text("utf-8") for path in foreign} == foreign
    left = project.pausing.left()
    assert {"call Bob", "fairlead phase execute 1"} <= {each.next_action for each in left.handoffs}


def test_a_page_of_somebody_else_stays_when_the_pause_ends(project: Project) -> None:
    put(project, PAGE, "---\nphase: 1\n---\n\n<next_action>\nread the log\n</next_action>\n")
    taken = project.pausing.go_on()
    assert [each.next_action for each in taken.left.pages] == ["read the log"]
    assert (project.folder / PAGE).exists()


@pytest.mark.parametrize(
    "path",
    [
        ".planning/.continue-here.md",
        ".planning/.continue-here-agent-2.md",
        ".planning/phases/02-api/.continue-here.md",
        ".planning/spikes/.continue-here.md",
        ".ultraplan/state/continue.md",
        ".continue-here.md",
    ],
)
def test_a_hand_over_is_found_wherever_somebody_writes_one(project: Project, path: str) -> None:
    put(project, path, "# Here\n")
    assert path in [each.path for each in project.pausing.left().pages]


def test_pages_of_finished_phases_are_not_shown(project: Project) -> None:
    project.summary("1", 1)
    put(project, PAGE, "# Old\n")
    assert project.pausing.left().pages == ()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"remaining_tasks": 3, "phase": {}}', "[" * 9999])
def test_a_hand_over_that_cannot_be_read_is_named_and_stays(project: Project, text: str) -> None:
    put(project, HANDOFF, text)
    taken = project.pausing.go_on()
    assert [each.path for each in taken.left.handoffs] == [HANDOFF]
    is_object = text.startswith('{"')
    assert (project.folder / HANDOFF).exists() is not is_object


def test_a_gate_that_is_open_keeps_its_hand_over(project: Project) -> None:
    project.sessions.gate(GateEvent("start"), OpenTask("Task 1", "1", "01-01", "main"))
    project.pausing.pause("", ())
    project.pausing.go_on()
    assert (project.planning / ".continue-here.md").exists()
    assert "Resume file: .planning/.continue-here.md\n" in project.state


def test_a_workflow_that_has_ended_is_not_what_comes_next(project: Project) -> None:
    job = Job(
        "plan-01-x", "01", JobStatus.BLOCKED, "2026-05-30T10:00:00Z", "claude",
        ended_at="2026-05-30T11:00:00Z", kind="plan", begun_by="fairlead phase plan 1",
    )  # fmt: skip
    JobFiles(str(project.folder), job.id).save_job(job)

    assert project.pausing.left().jobs == ()
