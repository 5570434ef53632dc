"""Captures: an idea becomes a todo, a note or a backlog entry before it is forgotten.

The file and the line in STATE.md or ROADMAP.md are one step. A todo that says what a pending
one says already is refused with the name of that one, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable

from fairlead.engine.look import Look, Steps, editing
from fairlead.errors import NoTodo, SameTodo, UnknownPhase
from fairlead.model.ids import PhaseId
from fairlead.records.todo import (
    Todo,
    is_same,
    note_text,
    read_todo,
    todo_text,
    with_backlog,
    with_todo,
    without_todos,
)
from fairlead.store import layout, layout_daily
from fairlead.store.files import Draft, Outcome
from fairlead.store.intent import Places
from fairlead.store.moves import Move
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.values import dataclass, replace

_BACKLOG = 999


@dataclass(frozen=True, slots=True)
class Captured:
    """What was kept, and where."""

    outcome: Outcome
    path: str
    title: str
    area: str = ""


class Captures(Steps):
    """Keeps the ideas of one project."""

    def pending(self) -> tuple[Todo, ...]:
        """Every pending todo, the oldest name first; reading changes nothing."""
        home = self._home(layout_daily.TODOS)
        found = []
        for name in self._files.names(home):
            path = f"{home}/{name}"
            loaded = self._files.load_for_display(path) if name.endswith(".md") else None
            if loaded:
                found.append(read_todo(loaded.path, loaded.text))
        return tuple(found)

    def todo(self, todo: Todo, *, again: bool = False, dry_run: bool = False) -> Captured:
        """A todo more, and its line in STATE.md."""
        wanted = PhaseId.parse(todo.resolves_phase) if todo.resolves_phase else None

        def decide(look: Look) -> tuple[Draft, str]:
            if wanted and wanted not in (known := look.inventory.known):
                raise UnknownPhase(wanted.short, [each.short for each in sorted(known)])
            same = [each for each in self.pending() if is_same(each, todo)]
            if same and not again:
                raise SameTodo(same[0].path, same[0].title)
            path = self._free(layout_daily.TODOS, look, todo.title, "todo")
            text = todo_text(todo, look.now)
            held = self._state(look, lambda it, at: with_todo(it, replace(todo, path=path), at.now))
            edits = {path: lambda _: text, **held.edits}
            return Draft(edits, may_create=held.may_create | {path}), path

        return self._kept("capture", decide, todo.title, todo.area, dry_run=dry_run)

    def note(self, text: str, *, dry_run: bool = False) -> Captured:
        """A note, which nobody counts."""
        title = one_line(text, "the text")

        def decide(look: Look) -> tuple[Draft, str]:
            path = self._free(layout_daily.NOTES, look, title, "note")
            told = note_text(text, look.now)
            return Draft({path: lambda _: told}, may_create=frozenset((path,))), path

        return self._kept("capture --note", decide, title, "", dry_run=dry_run)

    def backlog(self, text: str, *, dry_run: bool = False) -> Captured:
        """An idea for a later milestone: an entry of the roadmap, and a folder."""
        title = one_line(text, "the text")
        roadmap = layout.documents_of(self._workstream)[1]

        def decide(look: Look) -> tuple[Draft, str]:
            numbers = look.inventory.known
            used = [
                each.decimals[0] for each in numbers if each.number == _BACKLOG and each.decimals
            ]
            number = f"{_BACKLOG}.{max(used, default=0) + 1}"
            folder = layout_daily.backlog_folder(self._workstream, number, title)
            keep = f"{folder}/{layout_daily.KEEP}"
            edits = {
                roadmap: editing(lambda held: with_backlog(held, number, title)),
                keep: lambda text: text,
            }
            return Draft(edits, Places(folders=(folder,)), frozenset((keep,))), folder

        return self._kept("capture --backlog", decide, title, "", dry_run=dry_run)

    def done(self, name: str, *, dry_run: bool = False) -> Captured:
        """A todo is done: its file goes to the completed ones, its line goes."""
        titles: list[str] = []

        def decide(look: Look) -> tuple[Draft, str]:
            pending = self.pending()
            stems = {each: each.path.rpartition("/")[2].removesuffix(".md") for each in pending}
            wanted = name.rpartition("/")[2].removesuffix(".md")
            found = [each for each in pending if stems[each] == wanted]
            found = found or [each for each in pending if wanted and wanted in stems[each]]
            if len(found) != 1:
                raise NoTodo(name, tuple(stems.values()))
            source = found[0].path
            titles.append(found[0].title)
            target = f"{self._home(layout_daily.DONE_TODOS)}/{source.rpartition('/')[2]}"
            held = self._state(look, lambda it, _: without_todos(it, (source,)))
            places = Places(moves=(Move(source, target),))
            return Draft(held.edits, places, held.may_create), target

        kept = self._kept("capture --done", decide, "", "", dry_run=dry_run)
        return replace(kept, title=titles[-1])

    def _state(self, look: Look, change: Callable[[Document, Look], Document]) -> Draft:
        return look.draft(change) if self._files.exists(look.state_path) else Draft({})

    def _home(self, path: str) -> str:
        return layout_daily.in_planning(self._workstream, path)

    def _free(self, home: str, look: Look, title: str, otherwise: str) -> str:
        """A name that nobody has: the date and the first words, with a number if need be."""
        stem = f"{self._home(home)}/{look.now:%Y-%m-%d}-{layout_daily.short_slug(title, otherwise)}"
        number = 1
        while self._files.exists(path := f"{stem}{f'-{number}' if number > 1 else ''}.md"):
            number += 1
        return path

    def _kept(
        self,
        command: str,
        decide: Callable[[Look], tuple[Draft, str]],
        title: str,
        area: str,
        *,
        dry_run: bool,
    ) -> Captured:
        paths: list[str] = []

        def draft(look: Look) -> Draft:
            made, path = decide(look)
            paths.append(path)
            return made

        outcome = self._step(command, draft, dry_run=dry_run)
        return Captured(outcome, paths[-1], title, area)
