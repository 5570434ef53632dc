"""The Plan Phase of a folder: confirming, releasing, voiding, taking back, and where it stands."""

import json
import os
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairlead.adapters.checks import ProcessChecker
from fairlead.engine.overview import Overview
from fairlead.engine.planning import Beginning, Planning
from fairlead.errors import CheckFailed, NeedsPerson, NoPlanPhase, PartProtected
from fairlead.model.criteria import command_hash
from fairlead.records import plan_file
from fairlead.records.plan_file import Wanted
from fairlead.store import layout
from fairlead.store.files import Files
from fairlead.store.load import Reader
from fairlead.text.document import Document
from fairlead.wiring import App
from tests.support.plans import FRESH, PLAN, SECTIONS, requirements, write_plan


class StoppedClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 9, 14, 30, 22, tzinfo=UTC)


class Rehearsed:
    """A checker that says what it is told, and remembers what it was asked."""

    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.asked: list[tuple[str, ...]] = []

    def run(self, command: tuple[str, ...], folder: str) -> tuple[int, str]:
        self.asked.append(command)
        return self.code, "said"


def planning_in(folder: Path, checker: Rehearsed | None = None) -> Planning:
    desk = layout.desk_of(str(folder))
    private = Files(str(folder.parent / "private"), desk=layout.USER_DESK)
    return Planning(Files(str(folder), desk=desk), private, StoppedClock(), checker or Rehearsed())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    write_plan(tmp_path / "work", FRESH)
    return tmp_path / "work"


def with_criterion(folder: Path, text: str, **check: object) -> Planning:
    planning = planning_in(folder)
    planning.change("add", lambda held: plan_file.add_criterion(held, text, check or None))  # type: ignore[arg-type]
    return planning


MAKE = command_hash(("make", "test"))


def state(planning: Planning, at: int = 4) -> str:
    return planning.report().exit_criteria[at].state


def test_a_text_is_confirmed_by_a_person_and_only_for_this_content(folder: Path):
    planning = with_criterion(folder, "Ana agrees")
    with pytest.raises(NeedsPerson):
        planning.confirm("5", is_said=False)

    planning.confirm("Ana agrees", is_said=True)
    assert state(planning) == "met"
    assert planning.confirm("5", is_said=True).paths == ()

    (folder / "USER_REQUIREMENTS.md").write_text("else", "utf-8")
    assert state(planning) == "stale"
    planning.confirm("5", is_said=True)
    assert state(planning) == "met"


@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_what_the_files_decide_cannot_be_confirmed(folder: Path, number: str):
    with pytest.raises(PartProtected):
        planning_in(folder).confirm(number, is_said=True)


def test_a_command_is_run_only_when_its_hash_was_allowed(folder: Path):
    with_criterion(folder, "It runs", command=["make", "test"])
    checker = Rehearsed()
    planning = planning_in(folder, checker)
    with pytest.raises(NeedsPerson) as asked:
        planning.confirm("5", is_said=False)
    assert checker.asked == []

    allow = asked.value.hint.rpartition(" ")[2]
    planning.confirm("5", is_said=False, allow=allow)
    planning.confirm("5", is_said=False)

    assert checker.asked == [("make", "test")] * 2
    assert state(planning) == "met"


@pytest.mark.parametrize("allow", ["", "sha256:", "sha256:0123456789ab"])
def test_neither_another_hash_nor_a_mere_yes_allows_a_command(folder: Path, allow: str):
    planning = with_criterion(folder, "It runs", command=["make", "test"])

    with pytest.raises(NeedsPerson):
        planning.confirm("5", is_said=True, allow=allow)


def test_a_command_that_was_changed_has_to_be_allowed_anew(folder: Path):
    planning = with_criterion(folder, "It runs", command=["make", "test"])
    planning.confirm("5", is_said=False, allow=MAKE)
    path = folder / PLAN
    path.write_text(path.read_text("utf-8").replace("[make, test]", "[make, clean]"), "utf-8")

    assert state(planning) == "unmet"
    with pytest.raises(NeedsPerson, match="make clean"):
        planning.confirm("5", is_said=False)


def test_a_failed_command_is_recorded_and_told(folder: Path):
    with_criterion(folder, "It runs", command=["make", "test"])
    planning = planning_in(folder, Rehearsed(code=3))
    with pytest.raises(CheckFailed, match="make test ended with 3: said"):
        planning.confirm("5", is_said=False, allow=MAKE)

    assert "ended with 3" in planning.report().exit_criteria[4].evidence


def test_what_was_allowed_is_private_and_outside_the_folder(folder: Path):
    planning = with_criterion(folder, "It runs", command=["make", "test"])
    before = (folder / PLAN).read_bytes()
    planning.confirm("5", is_said=False, allow=MAKE)

    (record,) = (folder.parent / "private" / "checks").iterdir()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(record.parent.parent.stat().st_mode) == 0o700
    assert json.loads(record.read_text("utf-8"))["project"] == str(folder)
    assert (folder / PLAN).read_bytes() == before


def test_a_command_says_nothing_about_another_commit(folder: Path):
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q", str(folder)], check=True)
    planning = with_criterion(folder, "It runs", command=["make", "test"])
    planning.confirm("5", is_said=False, allow=MAKE)
    assert state(planning) == "met"

    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=folder, check=True)
    assert state(planning) == "stale"


def test_a_real_command_is_run_in_the_folder_without_a_shell(folder: Path):
    assert ProcessChecker().run(("touch", "$(id)"), str(folder)) == (0, "")
    assert (folder / "$(id)").exists()


def test_a_file_decides_a_criterion_by_holding_something(folder: Path):
    planning = with_criterion(folder, "Designed", file="docs/design.md")
    assert state(planning) == "unmet"

    (folder / "docs").mkdir()
    (folder / "docs" / "design.md").write_text(" \n", "utf-8")
    assert "is empty" in planning.report().exit_criteria[4].evidence

    (folder / "docs" / "design.md").write_text("x", "utf-8")
    assert state(planning) == "met"


def test_a_release_holds_until_the_plan_is_changed(folder: Path):
    planning = planning_in(folder)
    planning.release()
    assert planning.report().released == "2026-01-09T14:30:22+00:00"

    planning.change("modify", lambda held: plan_file.add_section(held, "More"))
    assert planning.report().released == ""


def approved(folder: Path) -> Planning:
    """An approval as it is written: status, flag and hash in one."""
    (folder / "USER_REQUIREMENTS.md").write_text(requirements(*SECTIONS), "utf-8")
    planning = planning_in(folder)
    content = planning.report().hash

    def change(held: Document) -> Document:
        marked = held.set_front(("status",), "approved").set_front(("plan_phase_complete",), True)
        return marked.set_front(("fairlead", "approved_hash"), content)

    planning.change("approve", change)
    assert state(planning, 3) == "met"
    return planning


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Build a REST API", "Build another"),
        ('priority: "high"', "priority: low"),
        ("Support JWT token", "Support no token"),
        ('name: "Auth Core"', 'name: "Core"'),
        ('name: "Functional Requirements"', 'name: "Functional"'),
        ('  - "User approved the plan"', '  - "User approved the plan"\n  - "More"'),
        ("plan-20260109-143022", "plan-20260109-143023"),
        ('id: "user-mgmt"', 'depends: x\n    id: "user-mgmt"'),
    ],
)
def test_a_later_edit_voids_the_approval_visibly(folder: Path, old: str, new: str):
    planning = approved(folder)
    path = folder / PLAN
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")

    assert state(planning, 3) == "stale"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('priority: "high"', "priority: high  # a remark"),
        ("# Exit Criteria", "# The exit criteria"),
        ("github_issue: null", 'github_issue: "#41"'),
        ('status: "planned"', "status: complete"),
        ("## Goal", "## The goal"),
    ],
)
def test_what_an_approval_does_not_bind_may_change(folder: Path, old: str, new: str):
    planning = approved(folder)
    path = folder / PLAN
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")

    assert state(planning, 3) == "met"


def test_the_lock_is_the_project_s_where_there_is_one(tmp_path: Path):
    (tmp_path / ".planning").mkdir()
    planning_in(tmp_path).start(Beginning("G"))

    assert (tmp_path / ".planning" / ".fairlead" / "lock").exists()
    assert not (tmp_path / ".claude" / ".fairlead").exists()


def test_without_a_project_the_lock_stands_beside_the_plan(tmp_path: Path):
    planning_in(tmp_path).start(Beginning("G"))

    assert (tmp_path / ".claude" / ".fairlead" / "lock").exists()
    assert not (tmp_path / ".planning").exists()


def test_a_command_below_the_folder_finds_its_plan(folder: Path):
    (folder / "a" / "b").mkdir(parents=True)

    assert App(str(folder / "a" / "b")).planning.plan().plan_id == "plan-20260109-143022"


def test_a_start_below_a_project_belongs_to_it(tmp_path: Path):
    (tmp_path / ".planning").mkdir()
    (tmp_path / "a").mkdir()

    assert App(str(tmp_path / "a")).plan_home == str(tmp_path)


def test_an_event_is_taken_back_where_there_is_no_project(folder: Path):
    planning_in(folder).change("add", lambda held: plan_file.add_module(held, "X", Wanted()))
    command, _ = App(str(folder)).undo(dry_run=False)

    assert (command, (folder / PLAN).read_text("utf-8")) == ("planning add", FRESH)


def test_a_reset_is_taken_back_with_both_files(folder: Path):
    (folder / layout.EXEC_FILE).write_text("exec\n", "utf-8")
    planning_in(folder).reset(has_backup=False)
    assert sorted(os.listdir(folder / ".claude")) == [".fairlead"]

    App(str(folder)).undo(dry_run=False)
    assert (folder / PLAN).read_text("utf-8") == FRESH
    assert (folder / layout.EXEC_FILE).read_text("utf-8") == "exec\n"


def test_a_reset_puts_an_unreadable_plan_aside_too(folder: Path):
    write_plan(folder, b"\xff")
    planning_in(folder).reset(has_backup=True)

    with pytest.raises(NoPlanPhase):
        planning_in(folder).plan()


def test_two_backups_of_one_second_are_two(folder: Path):
    planning_in(folder).reset(has_backup=True)
    write_plan(folder, FRESH)
    planning_in(folder).reset(has_backup=True)

    assert len(list((folder / ".claude").glob("*.local.md"))) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FRESH, "plan-20260109-143022 is drafting"),
        (FRESH.replace("plan_phase_complete: false", "plan_phase_complete: true"), ""),
        ("broken", "its file cannot be read"),
    ],
)
def test_the_status_of_a_project_mentions_an_open_plan(folder: Path, text: str, said: str):
    write_plan(folder, text)
    (folder / ".planning").mkdir()

    assert Overview(Reader(str(folder))).status().plan_phase == said


def test_a_goal_that_is_changed_is_changed_in_the_body_too(folder: Path):
    changed = plan_file.modify_goal(Document(FRESH), "Another\n---\ngoal", is_unlocked=True)

    assert changed.text.endswith("## Goal\n\n> Another\n> ---\n> goal\n")


def test_a_body_without_a_goal_is_left_alone():
    bare = FRESH.partition("## Goal")[0] + "## Goal"
    changed = plan_file.modify_goal(Document(bare), "Another", is_unlocked=True)

    assert changed.text.endswith("\n## Goal")


def test_a_step_that_a_project_overtook_is_completed_where_it_was_begun(folder: Path):
    (folder / layout.PLAN_DESK).mkdir()
    (folder / layout.PLAN_DESK / layout.INTENT).write_text("{}", "utf-8")
    (folder / ".planning").mkdir()

    assert layout.desk_of(str(folder)) == layout.PLAN_DESK
