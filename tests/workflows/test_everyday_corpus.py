"""Everyday files of real projects: read as far as they tell something, and never a crash."""

from fairlead.store.errors import NoDocument
from fairlead.store.files import Files
from fairlead.text.document import Document
from fairlead.workflows.capture import Captures
from fairlead.workflows.debug import OPEN_STATUSES, read_session
from fairlead.workflows.pause import Pausing, read_handoff
from tests.support.corpus import corpus_projects
from tests.support.projects import TickingClock


def test_pauses_of_any_tool_in_real_projects_are_read() -> None:
    pages = handoffs = 0
    for project in corpus_projects():
        files = Files(str(project))
        try:
            left = Pausing(files, TickingClock(), files.workstream("")).open_work()
        except NoDocument:
            continue
        assert left.next.command
        pages += len(left.pages)
        handoffs += len(left.handoffs)
    assert (pages > 0, handoffs > 0) == (True, True)


def test_every_todo_of_a_real_project_has_a_title_and_an_area() -> None:
    todos = [
        todo
        for project in corpus_projects()
        for todo in Captures(Files(str(project)), TickingClock()).pending()
    ]
    assert todos
    assert all(todo.title and todo.area for todo in todos)


def test_every_debug_session_of_a_real_project_has_a_trigger() -> None:
    sessions = [
        read_session(path.as_posix(), path.read_text("utf-8"))
        for project in corpus_projects()
        for path in sorted(project.glob(".planning/debug/**/*.md"))
        if path.name != "knowledge-base.md"
    ]
    assert sessions
    assert all(each.trigger and each.status != "unknown" for each in sessions)
    assert any(each.is_open for each in sessions if each.status in OPEN_STATUSES)


def test_every_hand_over_of_a_real_project_names_the_next_action() -> None:
    found = [
        read_handoff(path.as_posix(), path.read_text("utf-8"))
        for project in corpus_projects()
        for path in project.glob(".planning/**/HANDOFF.json")
    ]
    assert found
    assert all(each.is_read and each.next_action for each in found)


def test_a_state_of_a_real_project_has_at_most_one_quick_table() -> None:
    from fairlead.text.tables import tables_of
    from fairlead.workflows.quick import QUICK_TITLES

    for project in corpus_projects():
        for path in project.glob(".planning/**/STATE.md"):
            document = Document(path.read_text("utf-8", "replace"))
            section = document.section(*QUICK_TITLES)
            tables = tables_of(document.section_lines(section)) if section else ()
            assert len(tables) <= 1
