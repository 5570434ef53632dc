"""Todos and notes: ideas that must not get lost, one small file each.

A todo has a title, an area and the problem in the words it came in; STATE.md lists the pending
ones by the name of their file, so that the line goes when the file does.
"""

import re
from collections.abc import Iterable
from datetime import datetime

from fairlead.records.entries import Listing, entries_of, with_entry, without_entry
from fairlead.records.state import moment, stamped
from fairlead.text.document import Document
from fairlead.text.emit import block_lines
from fairlead.text.inline import one_line, plain_text
from fairlead.values import dataclass

TODOS = Listing(("Pending Todos", "Todos"), "Pending Todos")
GENERAL = "general"
_LONGEST_TITLE = 80
_AREAS = {
    "testing": "test tests testing pytest jest fixture coverage flaky",
    "docs": "docs doc readme documentation changelog guide typo",
    "database": "database sql migration schema query table postgres sqlite index",
    "auth": "auth login logout password token session oauth permission",
    "api": "api endpoint route http request response rest graphql server",
    "ui": "ui button page screen layout css style component modal form",
    "planning": "planning roadmap milestone phase requirement",
    "tooling": "build ci lint tooling deploy docker release script dependency",
}
_STOP = frozenset(
    "the and for with that this from into have has are was not but all any add".split()
)


@dataclass(frozen=True, slots=True)
class Todo:
    """A todo as its file tells it."""

    path: str
    title: str
    area: str = GENERAL
    created: str = ""
    problem: str = ""
    files: tuple[str, ...] = ()
    resolves_phase: str = ""


def new_todo(text: str, *, area: str = "", files: Iterable[str] = (), phase: str = "") -> Todo:
    """A todo from the words it came in; an area that is not told is guessed from them."""
    line = one_line(text, "the text")
    title = line if len(line) <= _LONGEST_TITLE else line[:_LONGEST_TITLE].rpartition(" ")[0]
    named = tuple(one_line(each, "a file") for each in files)
    return Todo("", title, area or area_of(line, named), "", text.strip(), named, phase)


def todo_text(todo: Todo, now: datetime) -> str:
    """The file of a new todo."""
    front: dict[str, str | list[str]] = {
        "created": moment(now),
        "title": plain_text(todo.title),
        "area": one_line(todo.area, "the area"),
        "severity": "normal",
        "files": list(todo.files),
    }
    if todo.resolves_phase:
        front["resolves_phase"] = todo.resolves_phase
    body = ("## Problem", "", _prose(todo.problem), "", "## Solution", "", "TBD", "")
    return "\n".join(("---", *block_lines(front, 0), "---", "", *body))


def read_todo(path: str, text: str) -> Todo:
    """Read a todo of anybody; what it does not say is empty."""
    document = Document(text)
    front = document.shown_front
    section = document.section("Problem", "Goal")
    lines = document.section_lines(section, own=True) if section else ()
    problem = next((line.text.strip() for line in lines if line.text.strip()), "")
    files = front.get("files")
    named = path.rpartition("/")[2].removesuffix(".md")
    return Todo(
        path=path,
        title=str(front.get("title") or document.title or named),
        area=str(front.get("area") or front.get("theme") or GENERAL),
        created=str(front.get("created") or ""),
        problem=problem,
        files=tuple(map(str, files)) if isinstance(files, list) else (),
        resolves_phase=str(front.get("resolves_phase") or ""),
    )


def note_text(text: str, now: datetime) -> str:
    """The file of a note."""
    front = block_lines({"date": f"{now:%Y-%m-%d}", "promoted": False}, 0)
    return "\n".join(("---", *front, "---", "", _prose(text), ""))


def area_of(text: str, files: tuple[str, ...] = ()) -> str:
    """The area that a text speaks of most; the first folder of a file where no word tells."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    scores = {area: len(words & set(known.split())) for area, known in _AREAS.items()}
    best = max(scores, key=lambda area: scores[area])
    if scores[best]:
        return best
    folders = [each.split("/")[-2] for each in files if "/" in each]
    return folders[0] if folders else GENERAL


def is_same(one: Todo, other: Todo) -> bool:
    """Whether two todos say the same: their titles share four of five words that matter."""
    mine, theirs = _keywords(one.title), _keywords(other.title)
    if not (mine and theirs):
        return one.title.casefold() == other.title.casefold()
    return 5 * len(mine & theirs) >= 4 * len(mine | theirs)


def with_todo(document: Document, todo: Todo, now: datetime) -> Document:
    """STATE.md with a pending todo more."""
    document.require_writable()
    entry = f"[{one_line(todo.area)}] {one_line(todo.title)} ({_name(todo.path)})"
    changed = with_entry(document, TODOS, entry)
    return stamped(changed, now) if changed is not document else document


def without_todos(document: Document, paths: Iterable[str]) -> Document:
    """STATE.md without the lines of todos that are no longer pending."""
    for name in map(_name, paths):
        for item in entries_of(document, TODOS):
            if name in item.text:
                document = without_entry(document, TODOS, item)
                break
    return document


def with_backlog(document: Document, number: str, title: str) -> Document:
    """ROADMAP.md with an idea more that has no milestone yet."""
    from fairlead.records.entries import at_end, below, last_held

    document.require_writable()
    entry = (
        f"### Phase {number}: {one_line(title, 'the text')} (BACKLOG)",
        "**Goal:** Captured for later planning",
        "**Requirements**: TBD",
        "**Plans:** 0 plans",
    )
    section = document.section("Backlog", levels=range(2, 3))
    if section is None:
        return document.replaced(at_end(document, "## Backlog", *entry))
    return document.replaced(below(document, last_held(document, section, own=False), *entry))


def _prose(text: str) -> str:
    """Paragraphs that stay paragraphs, whatever sign they begin with."""
    lines = [one_line(each) for each in text.split("\n\n") if each.strip()]
    return "\n\n".join(f"\\{line}" if line[0] in "#>-*+|`~=" else line for line in lines)


def _keywords(title: str) -> frozenset[str]:
    words = re.findall(r"\w+", title.casefold())
    return frozenset(word for word in words if len(word) > 2 and word not in _STOP)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
