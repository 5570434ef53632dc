"""The terminal board: what it shows, its keys, and that hostile text stays text."""

import asyncio
import importlib
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Static, TabbedContent

from fairlead.app import App
from fairlead.core.serialization import plain
from fairlead.council.model import ExecutionRecord
from fairlead.interfaces.board.app import TerminalBoard
from fairlead.interfaces.board.dialogs import ConfirmDialog, PageDialog, TextDialog
from fairlead.interfaces.cli.board import new_board
from fairlead.jobs.folder import JobFolder, record_text
from fairlead.jobs.model import Job, JobStatus, Question, QuestionKind
from fairlead.views.actions import STARTED_KINDS
from fairlead.views.board import BoardView, board_view
from tests.conftest import Fairlead
from tests.report.test_formats import HOSTILE
from tests.seeds.conftest import SeedProject
from tests.support.council_scenes import SCENES

TestStep = Callable[[TerminalBoard, Pilot[None]], Awaitable[None]]
SIZE = (100, 30)
_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def project(tmp_path: Path, fairlead: Fairlead) -> SeedProject:
    folder = tmp_path / "project"
    folder.mkdir()
    made = SeedProject(folder, fairlead)
    made.run("init", "Demo", "--yes")
    made.plan(1, 1)
    made.plan(1, 2)
    made.summary(1, 1)
    made.run("state", "sync")
    return made


def ask(project: SeedProject, text: str, *options: str, job: str = "new-1") -> None:
    """A job that waits for an answer."""
    folder = JobFolder(str(project.folder), job)
    folder.save_record(Job(job, "", JobStatus.BLOCKED, "2026-06-01T00:00:00Z", "", kind="new"))
    folder.save_question(Question("choice-a", QuestionKind.CHOICE, "a", text, options))


def on_board(
    project: SeedProject, *steps: TestStep, follows: bool = False, size: tuple[int, int] = SIZE
) -> None:
    """Start the board, wait for its first reading, and do the steps."""
    board = new_board(str(project.folder), follows=follows)

    async def run() -> None:
        async with board.run_test(size=size) as pilot:
            await until(lambda: board.readings > 0)
            await pilot.pause()
            for step in steps:
                await step(board, pilot)

    asyncio.run(run())


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something; two minutes are the limit of a test that hangs."""
    async with asyncio.timeout(120):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def shown(board: TerminalBoard) -> str:
    """The characters on the screen."""
    screen = board.screen
    width = screen.size.width
    lines = [
        "".join(segment.text for segment in line) for line in screen._compositor.render_strips()
    ]
    return "\n".join(line[:width].rstrip() for line in lines)


def rows_of(board: TerminalBoard, table: str) -> list[str]:
    found = board.query_one(f"#{table}", DataTable)
    return [" ".join(str(cell) for cell in found.get_row_at(at)) for at in range(found.row_count)]


def pressing(*keys: str) -> TestStep:
    async def press(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        await pilot.pause()

    return press


def test_now_shows_the_page_of_status(project: SeedProject) -> None:
    async def look(board: TerminalBoard, _: Pilot[None]) -> None:
        page = shown(board)
        assert "Demo" in page
        assert project.json("status")["next"]["command"] in page
        assert "1/2 plans" in page

    on_board(project, look)


def test_keys_go_to_the_tabs_and_show_plans_by_state(project: SeedProject) -> None:
    async def look(board: TerminalBoard, _: Pilot[None]) -> None:
        assert board.query_one(TabbedContent).active == "plans"
        assert [row.split()[:2] for row in rows_of(board, "plan-table")] == [
            ["ready", "01-02"],
            ["done", "01-01"],
        ]
        await until(lambda: "01-02" in str(board.query_one("#plan-detail", Static).visual))

    on_board(project, pressing("2"), look)


def test_the_filter_finds_plans_and_ends_with_escape(project: SeedProject) -> None:
    async def look(board: TerminalBoard, pilot: Pilot[None]) -> None:
        assert len(rows_of(board, "plan-table")) == 1
        await pilot.press("escape")
        await pilot.pause()
        assert len(rows_of(board, "plan-table")) == 2
        assert not board.query_one("#filter", Input).display

    on_board(project, pressing("slash", *"done"), look)


def test_enter_opens_the_document_of_a_plan(project: SeedProject) -> None:
    async def look(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await until(lambda: isinstance(board.screen, PageDialog))
        await pilot.pause()
        assert "<objective>" in shown(board)
        await pilot.press("escape")
        assert not isinstance(board.screen, PageDialog)

    on_board(project, pressing("2", "enter"), look)


def test_a_question_is_answered_in_place(project: SeedProject) -> None:
    ask(project, "Which store?", "SQLite", "other: your words")

    async def choose(board: TerminalBoard, pilot: Pilot[None]) -> None:
        assert "Which store?" in shown(board)
        await pilot.press("a")
        await until(lambda: isinstance(board.screen, TextDialog))
        await pilot.press("enter")
        await until(lambda: board.readings > 1)

    on_board(project, choose)
    [question] = project.json("job", "show", "new-1")["questions"]
    assert question["answer"] == "SQLite"


def test_an_option_with_a_colon_continues_in_the_field(project: SeedProject) -> None:
    ask(project, "Which store?", "SQLite", "other: your words")

    async def write(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("a")
        await until(lambda: isinstance(board.screen, TextDialog))
        await pilot.pause()
        await pilot.press("down", "enter")
        await until(lambda: board.screen.query_one(Input).value == "other: ")
        await pilot.press(*"files", "enter")
        await until(lambda: board.readings > 1)

    on_board(project, write)
    assert project.json("job", "show", "new-1")["questions"][0]["answer"] == "other: files"


def test_a_refused_answer_is_explained_and_recorded_nowhere(project: SeedProject) -> None:
    ask(project, "Which store?", "SQLite")

    async def write(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("a")
        await until(lambda: isinstance(board.screen, TextDialog))
        await pilot.press("tab", *"Redis", "enter")
        await until(lambda: bool(board._notifications))
        [note] = board._notifications
        assert "is not one of" in note.message
        assert note.severity == "warning"

    on_board(project, write)
    assert not project.json("job", "show", "new-1")["questions"][0]["answer"]


@pytest.mark.parametrize(("key", "status"), [("y", "FAILED"), ("n", "BLOCKED")])
def test_a_job_is_cancelled_only_after_yes(project: SeedProject, key: str, status: str) -> None:
    ask(project, "Which store?", "SQLite")

    async def cancel(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("3", "c")
        await until(lambda: len(board.screen_stack) == 2)
        await pilot.press(key)
        await until(lambda: len(board.screen_stack) == 1)
        if key == "y":
            await until(lambda: board.readings > 1)

    on_board(project, cancel)
    assert project.json("job", "list")["jobs"][0]["status"].replace("WAITING", "BLOCKED") == status


def test_an_idea_is_recorded(project: SeedProject) -> None:
    async def note(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("n")
        await until(lambda: isinstance(board.screen, TextDialog))
        await pilot.press(*"A lamp", "enter")
        await until(lambda: board.readings > 1)

    on_board(project, note)
    assert [todo["title"] for todo in project.json("capture", "--list")["todos"]] == ["A lamp"]


def test_only_a_council_can_be_retried_and_the_service_says_so(project: SeedProject) -> None:
    ask(project, "Which store?", "SQLite")

    async def retry(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("r")
        await until(lambda: bool(board._notifications))
        assert next(iter(board._notifications)).severity == "warning"

    on_board(project, retry)


async def in_dialog(board: TerminalBoard, pilot: Pilot[None], kind: type, *keys: str) -> None:
    """Wait for a dialog of this class that the keys can reach, and press them."""
    await until(lambda: isinstance(board.screen, kind) and board.screen.is_mounted)
    await pilot.pause()
    await pilot.press(*keys)
    await pilot.pause()


def saved_council(project: SeedProject, scene: str, **changes: object) -> str:
    """A council job of a scene of the tests."""
    record = {**plain(SCENES[scene]().job), "job_id": "j_20260412_0001", **changes}
    home = project.folder / ".planning/jobs/j_20260412_0001"
    home.mkdir(parents=True)
    (home / "job.json").write_text(record_text(record), "utf-8")
    return home.name


@pytest.mark.parametrize("key", ["y", "n"])
def test_drift_is_repaired_after_its_diff_and_yes(project: SeedProject, key: str) -> None:
    right = project.state
    project.state = right.replace("completed_plans: 1", "completed_plans: 0")
    wrong = project.state
    assert wrong != right

    async def repair(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("d")
        await until(lambda: isinstance(board.screen, ConfirmDialog))
        await pilot.pause()
        assert "+  completed_plans: 1" in shown(board)
        await pilot.press(key)
        await until(lambda: len(board.screen_stack) == 1)
        if key == "y":
            await until(lambda: board.readings > 1)

    on_board(project, repair)
    assert "completed_plans: 1" in project.state if key == "y" else project.state == wrong


def test_a_council_is_vetoed_with_a_reason_and_yes(project: SeedProject) -> None:
    changes = {"status": "SYNTHESIZING", "exec": plain(ExecutionRecord()), "blocker_reason": None}
    job = saved_council(project, "failed", **changes)

    async def veto(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("3", "v")
        await in_dialog(board, pilot, TextDialog, *"Too dear", "enter")
        await in_dialog(board, pilot, ConfirmDialog, "y")
        await until(lambda: board.readings > 1)

    on_board(project, veto)
    shown_job = project.json("job", "show", job)
    assert shown_job["job"]["status"] == "BLOCKED"
    assert "Too dear" in json.dumps(shown_job)


def test_an_objection_is_ruled_on(project: SeedProject) -> None:
    job = saved_council(project, "deadlocked")
    said: list[str] = []

    async def rule(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("3", "u")
        await in_dialog(board, pilot, TextDialog, "enter")
        await in_dialog(board, pilot, TextDialog, *"Mask it", "enter")
        await in_dialog(board, pilot, ConfirmDialog, "y")
        await until(lambda: bool(board._notifications))
        said.extend(note.message for note in board._notifications)

    on_board(project, rule)
    assert "ruling" in said[0]
    rulings = [path.read_text() for path in (project.folder / ".planning/jobs" / job).rglob("*")
               if path.is_file() and "Mask it" in path.read_text()]  # fmt: skip
    assert rulings


def test_a_job_is_started_with_the_answers_of_its_dialogs(project: SeedProject) -> None:
    """The phase does not exist, so that the service refuses and no process starts."""

    async def start(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("s")
        at = STARTED_KINDS.index("execute")
        await in_dialog(board, pilot, TextDialog, *["down"] * at, "enter")
        await in_dialog(board, pilot, TextDialog, *"99", "enter")
        await in_dialog(board, pilot, TextDialog, "down", "enter")
        await until(lambda: isinstance(board.screen, ConfirmDialog))
        await pilot.pause()
        assert "execute" in shown(board)
        assert "no model is asked" in shown(board)
        await pilot.press("y")
        await until(lambda: bool(board._notifications))
        [note] = board._notifications
        assert note.severity == "warning"
        assert "99" in note.message

    on_board(project, start)
    assert project.json("job", "list")["jobs"] == []


def test_a_key_is_offered_only_where_its_action_is_possible(project: SeedProject) -> None:
    saved_council(project, "deadlocked")

    async def look(board: TerminalBoard, pilot: Pilot[None]) -> None:
        await pilot.press("3")
        await pilot.pause()
        offered = {name for name in ("resume", "veto", "rule", "repair", "start")
                   if board.check_action(name, ())}  # fmt: skip
        assert offered == {"rule", "start", "repair"}  # the roadmap of the project has drifted

    on_board(project, look)


def test_without_a_chosen_job_the_keys_change_nothing(project: SeedProject) -> None:
    async def press(board: TerminalBoard, pilot: Pilot[None]) -> None:
        for key in "acr":
            await pilot.press(key)
            await pilot.pause()
        assert len(board._notifications) == 3
        assert len(board.screen_stack) == 1

    on_board(project, press)


def test_it_follows_the_files(project: SeedProject) -> None:
    async def change(board: TerminalBoard, _: Pilot[None]) -> None:
        ask(project, "Which store?", "SQLite")
        await until(lambda: "Which store?" in shown(board))

    on_board(project, change, follows=True)


def test_a_reading_with_known_files_is_that_of_a_new_board(project: SeedProject) -> None:
    seen: list[BoardView | None] = []

    async def change(board: TerminalBoard, _: Pilot[None]) -> None:
        project.summary(1, 2)
        ask(project, "Which store?", "SQLite")
        await board.read()
        seen.append(board.view)

    on_board(project, change)
    assert seen == [board_view(App(str(project.folder)))]


def test_a_broken_document_is_named_and_the_board_stays(project: SeedProject) -> None:
    good = project.path("ROADMAP.md").read_bytes()

    async def breaks(board: TerminalBoard, pilot: Pilot[None]) -> None:
        project.path("ROADMAP.md").write_bytes(b"\xff\xfe broken")
        (project.folder / ".planning/jobs").mkdir(exist_ok=True)
        await pilot.press("f5")
        await until(lambda: board.readings > 1)
        await pilot.pause()
        assert "ROADMAP.md:1: undecodable" in shown(board)
        project.path("ROADMAP.md").write_bytes(good)
        await pilot.press("f5")
        await until(lambda: board.readings > 2)
        await pilot.pause()
        assert "undecodable" not in shown(board)
        assert "Demo" in shown(board)

    on_board(project, breaks)


def test_hostile_text_stays_text(project: SeedProject) -> None:
    texts = (*HOSTILE, "[bold red]x[/] [@click=app.quit]y[/]", "[/nothing]")
    project.state = project.state.replace("None yet.", f"- {texts[0]}").replace("Demo", "[red]x")
    roadmap = project.path("ROADMAP.md")
    roadmap.write_text(roadmap.read_text("utf-8").replace("Foundation", "[/x] \x1b[31m"), "utf-8")
    for number, text in enumerate(texts, 2):
        project.plan(1, number)
        [path] = project.path("phases").glob(f"01-*/01-{number:02}-PLAN.md")
        path.write_text(path.read_text("utf-8").replace("Make it.", text), "utf-8")
        ask(project, text, text, "other: your words", job=f"new-{number}")
    pages: list[str] = []

    async def look(board: TerminalBoard, pilot: Pilot[None]) -> None:
        for tab, opens, count in (("1", "a", len(texts)), ("2", "enter", 2), ("3", "enter", 2)):
            await pilot.press(tab)
            await pilot.pause()
            pages.append(shown(board))
            for _ in range(count):
                await pilot.press(opens)
                await until(lambda: len(board.screen_stack) == 2)
                await pilot.pause()
                pages.append(shown(board))
                await pilot.press("escape", "down")

    on_board(project, look, size=(100, 50))
    assert not [page for page in pages if _UNSAFE.search(page)]
    assert len(set(pages)) == 3 + len(texts) + 2 + 2
    for text in texts:
        seen = re.split(r"[\x00-\x1f\u202e]", text.strip())[0][:20]
        assert any(seen in page for page in pages), text


def test_a_planted_control_character_is_found(
    project: SeedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("fairlead.interfaces.board.text")
    monkeypatch.setattr(module, "visible", lambda text, **_: text)
    ask(project, "a\u202eb", "SQLite")

    async def look(board: TerminalBoard, _: Pilot[None]) -> None:
        assert _UNSAFE.search(shown(board))

    on_board(project, look)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("size", [(80, 24), (40, 12), (200, 60)])
def test_it_fits_every_terminal(project: SeedProject, size: tuple[int, int]) -> None:
    async def look(board: TerminalBoard, pilot: Pilot[None]) -> None:
        for key in "123":
            await pilot.press(key)
            await pilot.pause()
        assert board.size == size

    on_board(project, look, size=size)


def test_without_a_terminal_it_says_what_to_use(project: SeedProject) -> None:
    code, message = project.fails("board")
    assert code == 2
    assert "needs a terminal" in message


def test_without_its_packages_it_names_the_extra(
    project: SeedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlead.interfaces.cli.board._PACKAGES", ("textual", "no_such_package"))
    code, message = project.fails("board")
    assert code == 5
    assert "pip install 'fairlead[board]'" in message
