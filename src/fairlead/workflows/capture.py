"""`capture`: record an idea as a todo, a note or a backlog entry.

The file and its line in STATE.md or ROADMAP.md are written in one step. A todo with the same text
as a pending one is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass, replace
from fairlead.project.errors import UnknownPhase
from fairlead.project.service import ProjectService, ProjectSnapshot, edit_of
from fairlead.project.todos import (
    Todo,
    is_same,
    note_text,
    read_todo,
    todo_text,
    with_backlog,
    with_todo,
    without_todos,
)
from fairlead.store import layout
from fairlead.store.files import ChangeSet, WriteOutcome
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.workflows import paths
from fairlead.workflows.errors import NoTodo, SameTodo

_BACKLOG = 999


@dataclass(frozen=True, slots=True)
class Captured:
    """What was recorded, and where."""

    outcome: WriteOutcome
    path: str
    title: str
    area: str = ""


class Captures(ProjectService):
    """Records the ideas of one project."""

    def pending(self) -> tuple[Todo, ...]:
        """Every pending todo, sorted by file name."""
        folder = self._folder(paths.TODOS)
        todos = []
        for name in self._files.names(folder):
            path = f"{folder}/{name}"
            loaded = self._files.load_for_display(path) if name.endswith(".md") else None
            if loaded:
                todos.append(read_todo(loaded.path, loaded.text))
        return tuple(todos)

    def todo(self, todo: Todo, *, again: bool = False, dry_run: bool = False) -> Captured:
        """Add a todo, and its line in STATE.md."""
        phase = PhaseId.parse(todo.resolves_phase) if todo.resolves_phase else None

        def decide(look: ProjectSnapshot) -> tuple[ChangeSet, str]:
            phases = look.inventory.known
            if phase and phase not in phases:
                raise UnknownPhase(phase.short, [each.short for each in sorted(phases)])
            same = next((each for each in self.pending() if is_same(each, todo)), None)
            if same and not again:
                raise SameTodo(same.path, same.title)
            path = self._free(paths.TODOS, look, todo.title, "todo")
            text = todo_text(todo, look.now)
            entry = replace(todo, path=path)
            state = self._state(look, lambda document, at: with_todo(document, entry, at.now))
            edits = {path: lambda _: text, **state.edits}
            return ChangeSet(edits, may_create=state.may_create | {path}), path

        return self._record("capture", decide, todo.title, todo.area, dry_run=dry_run)

    def note(self, text: str, *, dry_run: bool = False) -> Captured:
        """Add a note, which is not counted as a todo."""
        title = one_line(text, "the text")

        def decide(look: ProjectSnapshot) -> tuple[ChangeSet, str]:
            path = self._free(paths.NOTES, look, title, "note")
            note = note_text(text, look.now)
            return ChangeSet({path: lambda _: note}, may_create=frozenset((path,))), path

        return self._record("capture --note", decide, title, "", dry_run=dry_run)

    def backlog(self, text: str, *, dry_run: bool = False) -> Captured:
        """Add an idea for a later milestone: an entry of the roadmap, and a folder."""
        title = one_line(text, "the text")
        roadmap = layout.documents_of(self._workstream)[1]

        def decide(look: ProjectSnapshot) -> tuple[ChangeSet, str]:
            phases = look.inventory.known
            used = [
                phase.decimals[0] for phase in phases if phase.number == _BACKLOG and phase.decimals
            ]
            number = f"{_BACKLOG}.{max(used, default=0) + 1}"
            folder = paths.backlog_folder(self._workstream, number, title)
            keep = f"{folder}/{paths.KEEP}"
            edits = {
                roadmap: edit_of(lambda document: with_backlog(document, number, title)),
                keep: lambda text: text,
            }
            return ChangeSet(edits, TreeChanges(folders=(folder,)), frozenset((keep,))), folder

        return self._record("capture --backlog", decide, title, "", dry_run=dry_run)

    def done(self, name: str, *, dry_run: bool = False) -> Captured:
        """Complete a todo: move its file to the completed ones, and remove its line."""
        titles: list[str] = []

        def decide(look: ProjectSnapshot) -> tuple[ChangeSet, str]:
            pending = self.pending()
            stems = {todo: _stem(todo.path) for todo in pending}
            stem = _stem(name)
            matches = [todo for todo in pending if stems[todo] == stem]
            matches = matches or [todo for todo in pending if stem and stem in stems[todo]]
            if len(matches) != 1:
                raise NoTodo(name, tuple(stems.values()))
            source = matches[0].path
            titles.append(matches[0].title)
            target = f"{self._folder(paths.DONE_TODOS)}/{source.rpartition('/')[2]}"
            state = self._state(look, lambda document, _: without_todos(document, (source,)))
            places = TreeChanges(moves=(Move(source, target),))
            return ChangeSet(state.edits, places, state.may_create), target

        done = self._record("capture --done", decide, "", "", dry_run=dry_run)
        return replace(done, title=titles[-1])

    def _state(
        self, look: ProjectSnapshot, change: Callable[[Document, ProjectSnapshot], Document]
    ) -> ChangeSet:
        return look.state_change(change) if self._files.exists(look.state_path) else ChangeSet({})

    def _folder(self, path: str) -> str:
        return paths.in_planning(self._workstream, path)

    def _free(self, folder: str, look: ProjectSnapshot, title: str, default: str) -> str:
        """A free path: the date and the first words, with a number if that is taken."""
        stem = f"{self._folder(folder)}/{look.now:%Y-%m-%d}-{paths.short_slug(title, default)}"
        number = 1
        while self._files.exists(path := f"{stem}{f'-{number}' if number > 1 else ''}.md"):
            number += 1
        return path

    def _record(
        self,
        command: str,
        decide: Callable[[ProjectSnapshot], tuple[ChangeSet, str]],
        title: str,
        area: str,
        *,
        dry_run: bool,
    ) -> Captured:
        written: list[str] = []

        def changes(look: ProjectSnapshot) -> ChangeSet:
            change, path = decide(look)
            written.append(path)
            return change

        outcome = self._transact(command, changes, dry_run=dry_run)
        return Captured(outcome, written[-1], title, area)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")
