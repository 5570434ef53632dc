"""`fairlead exec`: acceptance cases 8, 39 and 40, one row a check of the older tools."""

import json
from pathlib import Path

import pytest

from fairlead.engine.overview import Overview
from fairlead.records.exec_file import assigned, registered
from fairlead.records.exec_read import read_exec
from fairlead.store.load import Reader
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
        held = Document(self.file.read_text("utf-8"))
        held = registered("human", "ada", "", registered("ai", "bot", "s1", held, NOW), NOW)
        self.file.write_text(assigned("auth-core", "bot", held, NOW).text, "utf-8")
        return self

    def statuses(self) -> list[str]:
        return [each.status for each in read_exec(self.file.read_text("utf-8")).modules]


@pytest.fixture
def work(fairlead: Fairlead, tmp_path: Path) -> Work:
    return Work(fairlead, tmp_path)


REFUSALS = [
    ("register ai other", 2, "--session is required for AI agents"),
    ("register ai bot --session s2", 4, "AI agent 'bot': it is already registered"),
    ("register human ada", 4, "human developer 'ada': it is already registered"),
    ("assign nothing bot", 2, "no module 'nothing'"),
    ("assign user-management nobody", 2, "nobody is registered as 'nobody'"),
    ("assign auth-core ada", 4, "module auth-core: it is assigned, so it is not available"),
    ("reassign nothing --to ada --reason r", 2, "no module 'nothing'"),
    (
        "reassign user-management --to ada --reason r",
        4,
        "module user-management: it is not assigned",
    ),
    ("reassign auth-core --to bot --reason r", 4, "bot has it already"),
    ("reassign auth-core --to nobody --reason r", 2, "nobody is registered as 'nobody'"),
    ("reassign auth-core --to ada", 2, "--reason"),
    ("modify auth-core", 2, "nothing to change was named"),
    ("modify nothing --priority low", 2, "no module 'nothing'"),
    ("modify user-management --status in_progress", 4, "nobody works on it"),
    ("complete nothing", 2, "no module 'nothing'"),
]


@pytest.mark.parametrize(("words", "code", "said"), REFUSALS)
def test_case_39_what_cannot_be_done_is_refused_in_words_and_changes_nothing(
    work: Work, words: str, code: int, said: str
) -> None:
    work.begun()
    before = work.file.read_bytes()

    done = work(words)

    assert (done.exit_code, work.file.read_bytes()) == (code, before)
    assert said in done.stderr


def test_case_39_without_an_exec_file_every_command_says_so(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    for words in ("status", "register human ada", "assign a b", "complete a"):
        done = fairlead("exec", *words.split(), cwd=tmp_path)
        assert (words, done.exit_code) == (words, 2)
        assert "not in the Orchestration Phase" in done.stderr


def test_case_39_a_file_that_cannot_be_read_is_named_and_kept(work: Work) -> None:
    work.file.write_text("# Orchestration Phase State\n\nPlan ID: plan-1\n", "utf-8")
    before = work.file.read_bytes()

    for words in ("status", "register human ada"):
        done = work(words)
        assert (done.exit_code, work.file.read_bytes()) == (3, before)
        assert f"{EXEC}:1" in done.stderr


def test_case_39_a_module_goes_from_hand_to_hand_and_its_history_stays(work: Work) -> None:
    work.begun()
    assert work("modify auth-core --status in_progress").exit_code == 0
    assert work("reassign auth-core --to ada --reason", "bot is away").exit_code == 0
    assert work("complete auth-core --pr 17").exit_code == 0

    found = read_exec(work.file.read_text("utf-8"))
    assert [(each.agent, each.status) for each in found.assignments] == [
        ("bot", "reassigned"),
        ("ada", "complete"),
    ]
    assert len({each.task for each in found.assignments}) == 2
    assert (found.modules[0].status, found.modules[0].pr) == ("complete", "17")
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


def test_case_40_counts_come_from_the_modules_whatever_the_file_records(work: Work) -> None:
    text = work.file.read_text("utf-8").replace("modules_completed: 0", "modules_completed: 3")
    text = text.replace("all_modules_complete: false", "all_modules_complete: true")
    work.file.write_text(text, "utf-8")

    found = json.loads(work("status --json").stdout)

    assert (found["modules_completed"], found["modules_total"]) == (0, 3)
    assert found["all_modules_complete"] is False
    assert "records 3/3 modules, its modules say 0/3" in found["drift"]


def test_the_counts_and_the_status_follow_the_modules(work: Work) -> None:
    work.begun()
    for name in ("auth-core", "user-management", "audit-log"):
        assert work(f"complete {name}").exit_code == 0

    text = work.file.read_text("utf-8")
    assert "modules_completed: 3\nmodules_total: 3\nall_modules_complete: true" in text
    assert "status: complete\nstarted_at" in text
    assert work("complete auth-core").stdout == "auth-core is complete already\n"


def test_an_edit_touches_its_own_lines_alone(work: Work) -> None:
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
    ("damage", "said"), [("", "0/3 modules complete"), ("# nothing\n", "its file cannot be read")]
)
def test_the_project_status_counts_the_modules_too(work: Work, damage: str, said: str) -> None:
    (work.folder / ".planning").mkdir()
    (work.folder / ".planning" / "STATE.md").write_text("# Project State\n", "utf-8")
    work.file.write_text(damage or work.file.read_text("utf-8"), "utf-8")

    reported = Overview(Reader(str(work.folder))).status()

    assert said in reported.exec_phase


def test_a_dry_run_shows_the_change_and_writes_nothing(work: Work) -> None:
    before = work.file.read_bytes()
    done = work("complete auth-core --dry-run")

    assert (done.exit_code, work.file.read_bytes()) == (0, before)
    assert "+modules_completed: 1" in done.stdout
