"""Operations of the Plan Phase: confirm, release, approve, reset, undo."""

import json
import os
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairlead.app import App
from fairlead.planphase import plan_edits
from fairlead.planphase.criteria import command_hash
from fairlead.planphase.errors import CheckFailed, NeedsPerson, NoPlanPhase, PartProtected
from fairlead.planphase.paths import EXEC_FILE
from fairlead.planphase.person_record import PersonRecord
from fairlead.planphase.plan_edits import PartEdit
from fairlead.planphase.service import Planning, PlanStart, ProcessChecker
from fairlead.store.files import Files
from fairlead.store.staging import INTENT, PLAN_STAGING, USER_STAGING, staging_of
from fairlead.text.document import Document
from tests.support.plans import FRESH, PLAN, SECTIONS, requirements, write_plan


class StoppedClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 9, 14, 30, 22, tzinfo=UTC)


class FakeChecker:
    """Returns a given exit code and records the commands it ran."""

    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.commands: list[tuple[str, ...]] = []

    def run(self, command: tuple[str, ...], folder: str) -> tuple[int, str]:
        self.commands.append(command)
        return self.code, "last line"


def planning_in(folder: Path, checker: FakeChecker | None = None) -> Planning:
    staging = staging_of(str(folder))
    private = Files(str(folder.parent / "private"), staging=USER_STAGING, is_private=True)
    return Planning(
        Files(str(folder), staging=staging), private, StoppedClock(), checker or FakeChecker()
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    write_plan(tmp_path / "work", FRESH)
    return tmp_path / "work"


def with_criterion(folder: Path, text: str, **check: object) -> Planning:
    planning = planning_in(folder)
    planning.change("add", lambda document: plan_edits.add_criterion(document, text, check or None))  # type: ignore[arg-type]
    return planning


MAKE = command_hash(("make", "test"))


def state(planning: Planning, at: int = 4) -> str:
    return planning.report().exit_criteria[at].state


def test_a_confirmation_is_valid_for_one_content_of_the_plan(folder: Path):
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


@pytest.mark.parametrize("edit", ["confirmed", "released"])
def test_a_statement_is_recorded_only_when_the_plan_can_hold_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, edit: str
):
    planning = with_criterion(folder, "Ana agrees")

    def fail(*_: object) -> Document:
        raise NoPlanPhase(PLAN)

    monkeypatch.setattr(plan_edits, edit, fail)
    stated = {
        "confirmed": lambda: planning.confirm("5", is_said=True),
        "released": planning.release,
    }
    with pytest.raises(NoPlanPhase):
        stated[edit]()
    assert not list((folder.parent / "private").rglob("*.json"))


@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_a_default_criterion_cannot_be_confirmed(folder: Path, number: str):
    with pytest.raises(PartProtected):
        planning_in(folder).confirm(number, is_said=True)


def test_a_command_runs_only_after_its_hash_was_allowed(folder: Path):
    with_criterion(folder, "It runs", command=["make", "test"])
    checker = FakeChecker()
    planning = planning_in(folder, checker)
    with pytest.raises(NeedsPerson) as asked:
        planning.confirm("5", is_said=False)
    assert checker.commands == []

    allow = asked.value.hint.rpartition(" ")[2]
    planning.confirm("5", is_said=False, allow=allow)
    planning.confirm("5", is_said=False)

    assert checker.commands == [("make", "test")] * 2
    assert state(planning) == "met"


@pytest.mark.parametrize("allow", ["", "sha256:", "sha256:0123456789ab"])
def test_another_hash_or_a_plain_yes_does_not_allow_a_command(folder: Path, allow: str):
    planning = with_criterion(folder, "It runs", command=["make", "test"])

    with pytest.raises(NeedsPerson):
        planning.confirm("5", is_said=True, allow=allow)


def test_a_changed_command_must_be_allowed_again(folder: Path):
    planning = with_criterion(folder, "It runs", command=["make", "test"])
    planning.confirm("5", is_said=False, allow=MAKE)
    path = folder / PLAN
    path.write_text(path.read_text("utf-8").replace("[make, test]", "[make, clean]"), "utf-8")

    assert state(planning) == "unmet"
    with pytest.raises(NeedsPerson, match="make clean"):
        planning.confirm("5", is_said=False)


def test_a_failed_command_is_recorded_and_raised(folder: Path):
    with_criterion(folder, "It runs", command=["make", "test"])
    planning = planning_in(folder, FakeChecker(code=3))
    with pytest.raises(CheckFailed, match="make test exited with 3: last line"):
        planning.confirm("5", is_said=False, allow=MAKE)

    assert "exited with 3" in planning.report().exit_criteria[4].evidence


def test_allowed_commands_are_stored_privately_outside_the_folder(folder: Path):
    planning = with_criterion(folder, "It runs", command=["make", "test"])
    before = (folder / PLAN).read_bytes()
    planning.confirm("5", is_said=False, allow=MAKE)

    (record,) = (folder.parent / "private" / "checks").iterdir()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(record.parent.parent.stat().st_mode) == 0o700
    assert json.loads(record.read_text("utf-8"))["project"] == str(folder)
    assert (folder / PLAN).read_bytes() == before


def test_a_result_for_another_commit_is_stale(folder: Path):
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q", str(folder)], check=True)
    planning = with_criterion(folder, "It runs", command=["make", "test"])
    planning.confirm("5", is_said=False, allow=MAKE)
    assert state(planning) == "met"

    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=folder, check=True)
    assert state(planning) == "stale"


def test_a_command_runs_in_the_folder_without_a_shell(folder: Path):
    assert ProcessChecker().run(("touch", "$(id)"), str(folder)) == (0, "")
    assert (folder / "$(id)").exists()


def test_a_file_criterion_is_met_by_a_file_with_content(folder: Path):
    planning = with_criterion(folder, "Designed", file="docs/design.md")
    assert state(planning) == "unmet"

    (folder / "docs").mkdir()
    (folder / "docs" / "design.md").write_text(" \n", "utf-8")
    assert "is empty" in planning.report().exit_criteria[4].evidence

    (folder / "docs" / "design.md").write_text("x", "utf-8")
    assert state(planning) == "met"


def test_a_release_lasts_until_the_plan_changes(folder: Path):
    planning = planning_in(folder)
    planning.release()
    assert planning.report().released == "2026-01-09T14:30:22+00:00"

    planning.change("modify", lambda document: plan_edits.add_section(document, "More"))
    assert planning.report().released == ""


def approved(folder: Path) -> Planning:
    """Write status, flag and hash as an approval does."""
    (folder / "USER_REQUIREMENTS.md").write_text(requirements(*SECTIONS), "utf-8")
    planning = planning_in(folder)
    content = planning.report().hash

    def change(document: Document) -> Document:
        marked = document.set_front(("status",), "approved")
        marked = marked.set_front(("plan_phase_complete",), True)
        return marked.set_front(("fairlead", "approved_hash"), content)

    planning.change("approve", change)
    assert state(planning, 3) == "unmet"  # the file alone proves nothing
    private = Files(str(folder.parent / "private"), staging=USER_STAGING)
    PersonRecord(private, str(folder)).state(("approved",), content, "2026-01-09", "approve")
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
def test_an_edit_after_approval_makes_the_approval_stale(folder: Path, old: str, new: str):
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
def test_fields_that_an_approval_does_not_cover_may_change(folder: Path, old: str, new: str):
    planning = approved(folder)
    path = folder / PLAN
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")

    assert state(planning, 3) == "met"


def test_a_project_provides_the_lock(tmp_path: Path):
    (tmp_path / ".planning").mkdir()
    planning_in(tmp_path).start(PlanStart("G"))

    assert (tmp_path / ".planning" / ".fairlead" / "lock").exists()
    assert not (tmp_path / ".claude" / ".fairlead").exists()


def test_without_a_project_the_lock_is_beside_the_plan(tmp_path: Path):
    planning_in(tmp_path).start(PlanStart("G"))

    assert (tmp_path / ".claude" / ".fairlead" / "lock").exists()
    assert not (tmp_path / ".planning").exists()


def test_a_plan_is_found_from_a_subfolder(folder: Path):
    (folder / "a" / "b").mkdir(parents=True)

    assert App(str(folder / "a" / "b")).planning.plan().plan_id == "plan-20260109-143022"


def test_a_plan_started_in_a_subfolder_belongs_to_the_project(tmp_path: Path):
    (tmp_path / ".planning").mkdir()
    (tmp_path / "a").mkdir()

    assert App(str(tmp_path / "a")).plan_home == str(tmp_path)


def test_an_edit_can_be_undone_without_a_project(folder: Path):
    planning_in(folder).change(
        "add", lambda document: plan_edits.add_module(document, "X", PartEdit())
    )
    command, _ = App(str(folder)).undo_files.undo()

    assert (command, (folder / PLAN).read_text("utf-8")) == ("planning add", FRESH)


def test_undoing_a_reset_restores_both_files(folder: Path):
    (folder / EXEC_FILE).write_text("exec\n", "utf-8")
    planning_in(folder).reset(has_backup=False)
    assert sorted(os.listdir(folder / ".claude")) == [".fairlead"]

    App(str(folder)).undo_files.undo()
    assert (folder / PLAN).read_text("utf-8") == FRESH
    assert (folder / EXEC_FILE).read_text("utf-8") == "exec\n"


def test_a_reset_moves_an_unreadable_plan_away(folder: Path):
    write_plan(folder, b"\xff")
    planning_in(folder).reset(has_backup=True)

    with pytest.raises(NoPlanPhase):
        planning_in(folder).plan()


def test_two_backups_in_one_second_get_two_names(folder: Path):
    planning_in(folder).reset(has_backup=True)
    write_plan(folder, FRESH)
    planning_in(folder).reset(has_backup=True)

    assert len(list((folder / ".claude").glob("*.local.md"))) == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (FRESH, "plan-20260109-143022 is drafting"),
        (FRESH.replace("plan_phase_complete: false", "plan_phase_complete: true"), ""),
        ("broken", "its file cannot be read"),
    ],
)
def test_the_status_of_a_project_mentions_an_open_plan(folder: Path, text: str, line: str):
    write_plan(folder, text)
    (folder / ".planning").mkdir()

    assert App(str(folder)).overview.status().plan_phase == line


def test_a_changed_goal_is_changed_in_the_body_too(folder: Path):
    changed = plan_edits.modify_goal(Document(FRESH), "Another\n---\ngoal", is_unlocked=True)

    assert changed.text.endswith("## Goal\n\n> Another\n> ---\n> goal\n")


def test_a_body_without_a_goal_is_not_changed():
    bare = FRESH.partition("## Goal")[0] + "## Goal"
    changed = plan_edits.modify_goal(Document(bare), "Another", is_unlocked=True)

    assert changed.text.endswith("\n## Goal")


def test_an_interrupted_step_keeps_its_staging_folder_when_a_project_appears(folder: Path):
    (folder / PLAN_STAGING).mkdir()
    (folder / PLAN_STAGING / INTENT).write_text("{}", "utf-8")
    (folder / ".planning").mkdir()

    assert staging_of(str(folder)) == PLAN_STAGING
