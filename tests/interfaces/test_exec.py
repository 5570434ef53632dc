"""`fairlead exec`: acceptance cases 8, 39 and 40, one row per check of the older tools."""

import json
from pathlib import Path

import pytest

from fairlead.app import App
from fairlead.planphase.documents import read_exec
from fairlead.planphase.exec_edits import assigned, registered
from fairlead.text.document import Document
from tests.conftest import Fairlead, Outcome
from tests.support.approvals import EXEC, exec_text, put_plan

NOW = "2026-01-02T04:00:00+00:00"


class Work:
    """An approved plan."""

    def __init__(self, fairlead: Fairlead, folder: Path) -> None:
        self._fairlead = fairlead
        self.folder = folder
        self.file = folder / EXEC
        put_plan(folder)
        self.file.write_text(exec_text(), "utf-8")

    def __call__(self, words: str, *more: str) -> Outcome:
        return self._fairlead("exec", *words.split(), *more, cwd=self.folder)

    def begun(self) -> "Work":
        document = Document(self.file.read_text("utf-8"))
        document = registered("human", "ada", "", registered("ai", "bot", "s1", document, NOW), NOW)
        self.file.write_text(assigned("auth-core", "bot", document, NOW).text, "utf-8")
        return self

    def statuses(self) -> list[str]:
        return [module.status for module in read_exec(self.file.read_text("utf-8")).modules]


@pytest.fixture
def work(fairlead: Fairlead, tmp_path: Path) -> Work:
    return Work(fairlead, tmp_path)


REFUSALS = [
    ("register ai other", 2, "--session"),
    ("register ai bot --session s2", 4, "AI agent 'bot': it is already registered"),
    ("register human ada", 4, "human developer 'ada': it is already registered"),
    ("assign nothing bot", 2, "no module 'nothing'"),
    ("assign user-management nobody", 2, "'nobody'"),
    ("assign auth-core ada", 4, "module auth-core: it is assigned, so it is not available"),
    ("reassign nothing --to ada --reason r", 2, "no module 'nothing'"),
    (
        "reassign user-management --to ada --reason r",
        4,
        "module user-management: it is not assigned",
    ),
    ("reassign auth-core --to bot --reason r", 4, "already assigned to bot"),
    ("reassign auth-core --to nobody --reason r", 2, "'nobody'"),
    ("reassign auth-core --to ada", 2, "--reason"),
    ("modify auth-core", 2, "nothing to change was named"),
    ("modify nothing --priority low", 2, "no module 'nothing'"),
    ("modify user-management --status in_progress", 4, "it is not assigned"),
    ("complete nothing", 2, "no module 'nothing'"),
]


@pytest.mark.parametrize(("words", "code", "message"), REFUSALS)
def test_case_39_an_impossible_change_is_refused_and_changes_nothing(
    work: Work, words: str, code: int, message: str
) -> None:
    work.begun()
    before = work.file.read_bytes()

    done = work(words)

    assert (done.exit_code, work.file.read_bytes()) == (code, before)
    assert message in done.stderr


def test_case_39_without_an_exec_file_every_command_says_so(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    for words in ("status", "register human ada", "assign a b", "complete a"):
        done = fairlead("exec", *words.split(), cwd=tmp_path)
        assert (words, done.exit_code) == (words, 2)
        assert "not in the Orchestration Phase" in done.stderr


def test_case_39_an_unreadable_file_is_named_and_left_unchanged(work: Work) -> None:
    work.file.write_text("# Orchestration Phase State\n\nPlan ID: plan-1\n", "utf-8")
    before = work.file.read_bytes()

    for words in ("status", "register human ada"):
        done = work(words)
        assert (done.exit_code, work.file.read_bytes()) == (3, before)
        assert f"{EXEC}:1" in done.stderr


def test_case_39_reassigning_a_module_keeps_its_history(work: Work) -> None:
    work.begun()
    assert work("modify auth-core --status in_progress").exit_code == 0
    assert work("reassign auth-core --to ada --reason", "bot is away").exit_code == 0
    assert work("complete auth-core --pr 17").exit_code == 0

    execution = read_exec(work.file.read_text("utf-8"))
    assert [(assignment.agent, assignment.status) for assignment in execution.assignments] == [
        ("bot", "reassigned"),
        ("ada", "complete"),
    ]
    assert len({assignment.task for assignment in execution.assignments}) == 2
    assert (execution.modules[0].status, execution.modules[0].pr) == ("complete", "17")
    assert "reason: bot is away" in work.file.read_text("utf-8")


def test_case_39_a_complete_module_is_neither_modified_nor_reassigned(work: Work) -> None:
    work.begun()
    assert work("complete auth-core").exit_code == 0

    for words in ("modify auth-core --priority low", "reassign auth-core --to ada --reason r"):
        done = work(words)
        assert (done.exit_code, "it is complete" in done.stderr) == (4, True)


def test_case_8_medium_is_a_priority_like_any_other(work: Work) -> None:
    assert work("modify auth-core --priority medium").exit_code == 0
    assert read_exec(work.file.read_text("utf-8")).modules[0].priority == "medium"


def test_case_40_counts_are_derived_from_the_modules(work: Work) -> None:
    text = work.file.read_text("utf-8").replace("modules_completed: 0", "modules_completed: 3")
    text = text.replace("all_modules_complete: false", "all_modules_complete: true")
    work.file.write_text(text, "utf-8")

    document = json.loads(work("status --json").stdout)

    assert (document["modules_completed"], document["modules_total"]) == (0, 3)
    assert document["all_modules_complete"] is False
    assert "records 3/3 modules, its modules say 0/3" in document["drift"]


def test_the_counts_and_the_status_follow_the_modules(work: Work) -> None:
    work.begun()
    for name in ("auth-core", "user-management", "audit-log"):
        assert work(f"complete {name}").exit_code == 0

    text = work.file.read_text("utf-8")
    assert "modules_completed: 3\nmodules_total: 3\nall_modules_complete: true" in text
    assert "status: complete\nstarted_at" in text
    assert work("complete auth-core").stdout == "auth-core is already complete\n"


def test_an_edit_changes_only_its_own_lines(work: Work) -> None:
    text = work.file.read_text("utf-8").replace("status: ready", "status: 'ready' # mine\nown: [1]")
    work.file.write_bytes((text + "\r\nodd  \n").encode())
    before = work.file.read_bytes().splitlines(keepends=True)

    assert work("modify audit-log --name", 'a "b" # c').exit_code == 0

    after = work.file.read_bytes().splitlines(keepends=True)
    different = [new for old, new in zip(before, after, strict=True) if old != new]
    assert different == [b'    name: "a \\"b\\" # c"\n']


def test_the_other_spelling_of_in_progress_is_read_and_kept(work: Work) -> None:
    text = work.begun().file.read_text("utf-8")
    work.file.write_text(text.replace("status: assigned", "status: in-progress"), "utf-8")

    assert work("modify auth-core --priority low").exit_code == 0
    assert work.statuses()[0] == "in_progress"
    assert "status: in-progress" in work.file.read_text("utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [("", "0/3 modules complete"), ("# nothing\n", "its file cannot be read")],
)
def test_the_project_status_also_counts_the_modules(work: Work, damage: str, message: str) -> None:
    (work.folder / ".planning").mkdir()
    (work.folder / ".planning" / "STATE.md").write_text("# Project State\n", "utf-8")
    work.file.write_text(damage or work.file.read_text("utf-8"), "utf-8")

    reported = App(str(work.folder)).overview.status()

    assert message in reported.exec_phase


def test_a_dry_run_shows_the_change_and_writes_nothing(work: Work) -> None:
    before = work.file.read_bytes()
    done = work("complete auth-core --dry-run")

    assert (done.exit_code, work.file.read_bytes()) == (0, before)
    assert "+modules_completed: 1" in done.stdout
