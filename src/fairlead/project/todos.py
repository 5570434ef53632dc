"""Todos and notes: ideas to keep, one small file each.

A todo has a title, an area and the problem in the words of its author. STATE.md lists the pending
ones by file name, so a line can be removed when its file goes.
"""

import re
from collections.abc import Iterable
from datetime import datetime

from fairlead.core.values import dataclass
from fairlead.project.state.documents import moment, stamped
from fairlead.project.state.entries import entries_of, with_entry, without_entry
from fairlead.project.state.fields import PENDING_TODOS
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text
from fairlead.text.yaml_emit import block_lines

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
_SHORT = 2  # longest word that may be the whole difference between two todos
_STOP = frozenset(
    "the a an and for with that this from into have has are is was but to of in on add".split()
)


@dataclass(frozen=True, slots=True)
class Todo:
    """One todo file."""

    path: str
    title: str
    area: str = GENERAL
    created: str = ""
    problem: str = ""
    files: tuple[str, ...] = ()
    resolves_phase: str = ""


def new_todo(text: str, *, area: str = "", files: Iterable[str] = (), phase: str = "") -> Todo:
    """A todo from a text; without an area, one is guessed from the words."""
    line = one_line(text, "the text")
    title = line if len(line) <= _LONGEST_TITLE else line[:_LONGEST_TITLE].rpartition(" ")[0]
    paths = tuple(one_line(path, "a file") for path in files)
    return Todo("", title, area or area_of(line, paths), "", text.strip(), paths, phase)


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
    """Read a todo of any tool; a missing value is empty."""
    document = Document(text)
    front = document.shown_front
    section = document.section("Problem", "Goal")
    lines = document.section_lines(section, own=True) if section else ()
    problem = next((line.text.strip() for line in lines if line.text.strip()), "")
    files = front.get("files")
    file_name = path.rpartition("/")[2].removesuffix(".md")
    return Todo(
        path=path,
        title=str(front.get("title") or document.title or file_name),
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
    """The area that most words of a text belong to; otherwise the folder of its first file."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    scores = {area: len(words & set(keywords.split())) for area, keywords in _AREAS.items()}
    best = max(scores, key=lambda area: scores[area])
    if scores[best]:
        return best
    folders = [path.split("/")[-2] for path in files if "/" in path]
    return folders[0] if folders else GENERAL


def is_same(one: Todo, other: Todo) -> bool:
    """Whether two todos are duplicates: one has all words of the other, and few more.

    A word in place of another one (MySQL, PostgreSQL) and a number or short word that only one of
    them has (3.11, Go) make another todo: a lost one is worse than two that say the same.
    """
    first, second = _keywords(one.title), _keywords(other.title)
    shared, more = first & second, first ^ second
    is_within = shared in (first, second) and 5 * len(shared) >= 4 * len(shared | more)
    return is_within and all(len(word) > _SHORT and word.isalpha() for word in more)


def with_todo(document: Document, todo: Todo, now: datetime) -> Document:
    """STATE.md with one more pending todo."""
    document.require_writable()
    entry = f"[{one_line(todo.area)}] {one_line(todo.title)} ({todo.path})"
    changed = with_entry(document, PENDING_TODOS, entry)
    return stamped(changed, now) if changed is not document else document


def without_todos(document: Document, paths: Iterable[str]) -> Document:
    """STATE.md without the lines of todos that are no longer pending."""
    for name in map(_name, paths):
        for item in entries_of(document, PENDING_TODOS):
            if name in item.text:
                document = without_entry(document, PENDING_TODOS, item)
                break
    return document


def with_backlog(document: Document, number: str, title: str) -> Document:
    """ROADMAP.md with one more idea that has no milestone yet."""
    from fairlead.project.state.entries import at_end, below, last_filled_line

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
    return document.replaced(
        below(document, last_filled_line(document, section, own=False), *entry)
    )


def _prose(text: str) -> str:
    """The text as paragraphs, escaped where a paragraph starts like other Markdown."""
    lines = [one_line(part) for part in text.split("\n\n") if part.strip()]
    return "\n\n".join(f"\\{line}" if line[0] in "#>-*+|`~=" else line for line in lines)


def _keywords(title: str) -> frozenset[str]:
    # Signs of sentences mean nothing; others (<, $, a minus) distinguish one todo from another.
    words = re.findall(
        r"(?:(?<!\w)-(?=\d))?[\w+#]+(?:[.-][\w+#]+)*|[<>=$%@^~&|*/\\]+", title.casefold()
    )
    return frozenset(word for word in words if word not in _STOP)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
