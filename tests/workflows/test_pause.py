"""Pausing: what is open is on disk before the session ends, and nothing of it gets lost."""

import json
from pathlib import Path

import pytest

from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import Job, JobStatus
from fairlead.project.overview import Overview
from fairlead.project.state.gate import OpenTask
from fairlead.project.state.gate_rules import GateEvent
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from fairlead.workflows.pause import Pausing
from tests.support.execution import a_plan
from tests.support.projects import Project, TickingClock
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
    content = json.loads((project.folder / HANDOFF).read_text("utf-8"))
    assert (content["phase"], content["plan"], content["status"]) == ("1", "01-01", "paused")
    assert content["remaining_tasks"][0]["status"] == "not_started"
    assert [each["description"] for each in content["blockers"]] == ["no key"]
    assert content["uncommitted_files"] == ["src/a.py"]
    assert content["next_action"] == "fairlead phase execute 1"
    assert "fairlead phase execute 1" in (project.folder / PAGE).read_text("utf-8")
    assert (f"Resume file: {PAGE}" in project.state, "status: paused" in project.state) == (
        True,
        True,
    )


def test_a_pause_shows_a_file_name_that_is_not_text(project: Project) -> None:
    project.pausing.pause("halfway", ("caf\udce9.txt",))
    content = json.loads((project.folder / HANDOFF).read_text("utf-8"))
    assert content["uncommitted_files"] == [r"caf\udce9.txt"]


def test_resuming_restores_the_state_and_stages_the_files_of_the_pause(project: Project) -> None:
    project.pausing.pause("halfway", ())
    paused = {path: (project.folder / path).read_bytes() for path in (HANDOFF, PAGE)}
    resumed = project.pausing.end_pause()
    assert resumed.left.next.command == "fairlead phase execute 1"
    assert not any((project.folder / path).exists() for path in paused)
    kept = [(project.folder / move.target).read_bytes() for move in resumed.outcome.places.moves]
    assert sorted(kept) == sorted(paused.values())
    assert "status: paused" not in project.state
    assert "Resume file: None" in project.state


def test_a_second_pause_without_a_note_keeps_the_first_note(project: Project) -> None:
    project.pausing.pause("the reader works", ())
    project.pausing.pause("", ())
    assert "the reader works" in project.pausing.open_work().paused_at
    project.pausing.pause("and its tests too", ())
    assert "the reader works" not in project.pausing.open_work().paused_at


def test_each_workstream_keeps_its_own_pause(project: Project) -> None:
    files, clock = Files(str(project.folder)), TickingClock()
    for name in ("alpha", "beta"):
        home = project.planning / "workstreams" / name
        home.mkdir(parents=True)
        (home / "STATE.md").write_text(STATE, "utf-8")
    alpha, beta = (Pausing(files, clock, name) for name in ("alpha", "beta"))
    project.pausing.pause("of the project", ())
    alpha.pause("of alpha", ())
    beta.pause("of beta", ())
    before = project.snapshot()

    resumed = alpha.end_pause()

    assert [each.note for each in resumed.left.handoffs] == ["of alpha"]
    gone = sorted(before.keys() - project.snapshot().keys())
    assert [path.rpartition("/")[0] for path in gone] == [".planning/workstreams/alpha"] * 2
    assert [each.note for each in beta.open_work().handoffs] == ["of beta"]
    assert [each.note for each in project.pausing.open_work().handoffs] == ["of the project"]


def of_an_older_version(workstream: str) -> str:
    """A pause of a workstream as it stood in the project's own folder once."""
    content = {
        "writer": "fairlead",
        "phase_dir": f".planning/workstreams/{workstream}/phases/01-core",
        "context_notes": f"of {workstream}",
    }
    return json.dumps(content)


def test_a_pause_of_a_workstream_in_the_project_folder_belongs_to_the_workstream(
    project: Project,
) -> None:
    for name in ("api", "web"):
        put(project, f".planning/workstreams/{name}/STATE.md", STATE)
    api, web = (
        Pausing(Files(str(project.folder)), TickingClock(), name) for name in ("api", "web")
    )
    put(project, HANDOFF, of_an_older_version("api"))
    assert project.pausing.open_work().handoffs == web.open_work().handoffs == ()

    project.pausing.pause("of the project", ())
    assert (project.folder / HANDOFF).read_text("utf-8") == of_an_older_version("api")
    assert [each.note for each in project.pausing.end_pause().left.handoffs] == ["of the project"]

    resumed = api.end_pause()
    assert [each.note for each in resumed.left.handoffs] == ["of api"]
    (move,) = resumed.outcome.places.moves
    assert (project.folder / move.target).read_text("utf-8") == of_an_older_version("api")


@pytest.mark.parametrize("name", ["gone", "..", "a b"])
def test_a_pause_of_a_removed_workstream_is_shown_and_not_overwritten(
    project: Project, name: str
) -> None:
    put(project, HANDOFF, of_an_older_version(name))
    project.pausing.pause("", ())
    assert (project.folder / HANDOFF).read_text("utf-8") == of_an_older_version(name)
    assert f"of {name}" in [each.note for each in project.pausing.open_work().handoffs]


def test_a_dry_run_of_resume_changes_nothing(project: Project) -> None:
    project.pausing.pause("", ())
    before = project.snapshot()
    project.pausing.end_pause(dry_run=True)
    assert project.snapshot() == before


def test_files_of_another_tool_are_never_overwritten(project: Project) -> None:
    foreign = {HANDOFF: '{"version": "1.0", "next_action": "call Bob"}', PAGE: "# Mine\n\nnotes\n"}
    for path, text in foreign.items():
        put(project, path, text)
    project.pausing.pause("ours", ())
    assert {path: (project.folder / path).read_text("utf-8") for path in foreign} == foreign
    left = project.pausing.open_work()
    assert {"call Bob", "fairlead phase execute 1"} <= {each.next_action for each in left.handoffs}


def test_a_page_of_another_tool_stays_when_the_pause_ends(project: Project) -> None:
    put(project, PAGE, "---\nphase: 1\n---\n\n<next_action>\nread the log\n</next_action>\n")
    resumed = project.pausing.end_pause()
    assert [each.next_action for each in resumed.left.pages] == ["read the log"]
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
def test_a_hand_over_is_found_in_every_known_place(project: Project, path: str) -> None:
    put(project, path, "# Here\n")
    assert path in [each.path for each in project.pausing.open_work().pages]


def test_pages_of_finished_phases_are_not_shown(project: Project) -> None:
    project.summary("1", 1)
    put(project, PAGE, "# Old\n")
    assert project.pausing.open_work().pages == ()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"remaining_tasks": 3, "phase": {}}', "[" * 9999])
def test_an_unreadable_hand_over_is_named_and_stays(project: Project, text: str) -> None:
    put(project, HANDOFF, text)
    resumed = project.pausing.end_pause()
    assert [each.path for each in resumed.left.handoffs] == [HANDOFF]
    is_object = text.startswith('{"')
    assert (project.folder / HANDOFF).exists() is not is_object


def test_an_open_gate_keeps_its_hand_over(project: Project) -> None:
    project.sessions.gate(GateEvent("start"), OpenTask("Task 1", "1", "01-01", "main"))
    project.pausing.pause("", ())
    project.pausing.end_pause()
    assert (project.planning / ".continue-here.md").exists()
    assert "Resume file: .planning/.continue-here.md\n" in project.state


def test_an_ended_workflow_is_not_the_next_step(project: Project) -> None:
    job = Job(
        "plan-01-x", "01", JobStatus.BLOCKED, "2026-05-30T10:00:00Z", "claude",
        ended_at="2026-05-30T11:00:00Z", kind="plan", begun_by="fairlead phase plan 1",
    )  # fmt: skip
    JobFolder(str(project.folder), job.id).save_record(job)

    assert project.pausing.open_work().jobs == ()


# -- handovers whose work is done ----------------------------------------------------------------


def of_plan(plan: str, phase: str = "01-core") -> str:
    return f"---\nphase: {phase}\nplan: {plan}\ntask: 2\n---\n\nHalf of it is done.\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".planning/.continue-here.md", of_plan("01")),
        (".planning/phases/01-core/.continue-here.md", of_plan("01")),
        (".planning/.continue-here-bob.md", of_plan("02")),
        (".planning/.continue-here.md", of_plan("02", "02-api")),
        (".planning/.continue-here.md", "Ask Bob.\n"),
    ],
)
@pytest.mark.parametrize("finished", [(), (1,), (1, 2)])
def test_resume_and_status_agree_about_stale_hand_overs(
    project: Project, path: str, text: str, finished: tuple[int, ...]
) -> None:
    project.plan("1", 2)
    put(project, path, text)
    for number in finished:
        project.summary("1", number)

    shown = [page.path for page in project.pausing.open_work().pages]

    assert tuple(shown) == Overview(Reader(str(project.folder))).status().continue_files
    is_done = (1 in finished and "plan: 01" in text) or (2 in finished and "01-core" in text)
    assert shown == ([] if is_done else [path])


def test_the_page_of_a_pause_is_put_away_although_its_phase_was_finished(project: Project) -> None:
    project.pausing.pause("halfway", ())
    project.summary("1", 1)
    assert project.pausing.open_work().pages == ()
    project.pausing.end_pause()
    assert not (project.folder / PAGE).exists()
