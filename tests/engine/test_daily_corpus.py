"""Everyday files of real projects: read as far as they tell something, and never a crash."""

from fairlead.engine.captures import Captures
from fairlead.engine.pausing import Pausing
from fairlead.errors import NoDocument
from fairlead.records.debug_file import OPEN, read_session
from fairlead.records.pause import read_handoff
from fairlead.store.files import Files
from fairlead.text.document import Document
from tests.support.corpus import corpus_projects
from tests.support.projects import ToldClock


def test_what_any_tool_left_in_a_real_project_can_be_shown() -> None:
    pages = handoffs = 0
    for project in corpus_projects():
        files = Files(str(project))
        try:
            left = Pausing(files, ToldClock(), files.workstream("")).left()
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
        for todo in Captures(Files(str(project)), ToldClock()).pending()
    ]
    assert todos
    assert all(todo.title and todo.area for todo in todos)


def test_every_debug_session_of_a_real_project_says_what_began_it() -> None:
    sessions = [
        read_session(path.as_posix(), path.read_text("utf-8"))
        for project in corpus_projects()
        for path in sorted(project.glob(".planning/debug/**/*.md"))
        if path.name != "knowledge-base.md"
    ]
    assert sessions
    assert all(each.trigger and each.status != "unknown" for each in sessions)
    assert any(each.is_open for each in sessions if each.status in OPEN)


def test_every_hand_over_of_a_real_project_names_what_comes_next() -> None:
    found = [
        read_handoff(path.as_posix(), path.read_text("utf-8"))
        for project in corpus_projects()
        for path in project.glob(".planning/**/HANDOFF.json")
    ]
    assert found
    assert all(each.is_read and each.next_action for each in found)


def test_no_quick_table_of_a_real_project_is_taken_for_another() -> None:
    from fairlead.records.quick import TITLES
    from fairlead.text.tables import tables_of

    for project in corpus_projects():
        for path in project.glob(".planning/**/STATE.md"):
            document = Document(path.read_text("utf-8", "replace"))
            section = document.section(*TITLES)
            tables = tables_of(document.section_lines(section)) if section else ()
            assert len(tables) <= 1
