"""Entries: the lists that STATE.md keeps in its sections, one event a line.

A new entry follows the last one with its bullet, takes the place of a placeholder such as
"None yet.", or opens a section of its own. A placeholder is a whole line: the same words inside
a sentence are a person's.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from fairlead.errors import NoPlace
from fairlead.text.document import Document
from fairlead.text.lists import Item, items_of
from fairlead.text.outline import Line, Section, insert_after

CONTEXT = "Accumulated Context"
PLACEHOLDERS = frozenset(
    (
        "none yet.",
        "none yet",
        "none.",
        "none",
        "no decisions yet.",
        "no decisions yet",
        "no blockers.",
        "no blockers",
        "no blockers yet.",
        "no blockers yet",
    )
)
NOTHING = "None."
# The usual titles of these lists in the languages whose word for a phase the roadmap is read by.
DECISIONS_ABROAD = (
    *("Decisiones", "Decisões", "Décisions", "Decisioni", "Entscheidungen", "Решения", "Decyzje"),
    *("Rozhodnutí", "决策", "决定", "決策", "決定", "결정"),
)
BLOCKERS_ABROAD = (
    *("Bloqueos", "Bloqueios", "Impedimentos", "Blocages", "Blocchi", "Hindernisse", "Блокеры"),
    *("Blokady", "Blokery", "Překážky", "阻塞", "阻碍", "障碍", "ブロッカー", "블로커"),
)
# What titles hold under which they are told.
DECISION_WORDS = ("decision", *DECISIONS_ABROAD)
BLOCKER_WORDS = ("blocker", "concern", *BLOCKERS_ABROAD)
_LEAD = r"(?:\[Phase [^\]]*\]:?\s*)?(?:\*\*)?"
_STRIKE = r"~~(?:(?!~~).)+~~"
_TICK = r"[✅☑]\ufe0f?"
# Three marks. The word in front or behind a dash, not behind the hyphen of another word; all struck
# out, with nothing behind it but a remark of the same sense; one tick, in front or at the end.
_SAYS = re.compile(
    rf"(?:{_LEAD}\[?|.*(?:[—–:(\[]|\s-{{1,2}})\s*(?:\*\*)?)(?:{_TICK}\s*)?RESOLVED\b(?!\?)"
)
_STRUCK = re.compile(
    rf"{_LEAD}(?:{_STRIKE}[\s*—–:;,(✅☑\ufe0f-]*)+(?:\Z|(?i:resolved|fixed|done)\b(?!\?))"
)
_TICKED = re.compile(rf"{_LEAD}{_TICK}[^✅☑]*\Z|[^✅☑]*{_TICK}\s*\Z")
_RESOLVED_CELL = re.compile(rf"(?:{_TICK}|[\s*])*resolved[\s*.]*(?:{_TICK})?", re.IGNORECASE)
# What takes such a mark back, or a part of it. An open blocker must not be hidden; a resolved one
# that is shown does no harm.
_DOUBT = re.compile(
    r"[❌✗✘✖☐⏳⚠🚧🔴🟡]|n['’]t\b|\b(?:still|partial(?:ly)?|partly|not|cannot|yet|but|only"
    r"|remain(?:s|ing)?|pending|until|till|once|except|unless|open|reopened|incomplete|unresolved)\b",
    re.IGNORECASE,
)


class Listing(NamedTuple):
    """A list that STATE.md keeps: the titles it is known by, and the one a new section gets."""

    titles: tuple[str, ...]
    heading: str


def section_of(document: Document, listing: Listing) -> Section | None:
    """Where the list stands."""
    return document.section(*listing.titles)


def entries_of(document: Document, listing: Listing, *, own: bool = False) -> tuple[Item, ...]:
    """The entries of the list, without what is nested below them; a placeholder is none.

    With `own` without those of the sections inside it, which are groups of a person's making.
    """
    section = section_of(document, listing)
    if not section:
        return ()
    items = outermost(items_of(document.section_lines(section, own=own)))
    return tuple(item for item in items if not is_placeholder(item.text))


def outermost(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items of a list that are not nested in others: below one, and not left of its text."""
    found: list[Item] = []
    for item in items:
        above = found[-1] if found else None
        within = above is not None and item.start <= above.last.end
        if above is None or not within or item.column <= above.column + len(above.bullet):
            found.append(item)
    return tuple(found)


def with_entry(document: Document, listing: Listing, entry: str) -> Document:
    """The document with one more entry; one that stands there word for word is not added again."""
    if any(item.text == entry for item in entries_of(document, listing)):
        return document
    items = entries_of(document, listing, own=True)
    section = section_of(document, listing)
    if items:
        line = f"{_bullet(items[-1])}{entry}"
        text = insert_after(document.text, items[-1].last, line, document.ending)
    elif section:
        text = _first_entry(document, section, f"- {entry}")
    else:
        text = _with_section(document, listing.heading, f"- {entry}")
    changed = document.replaced(text)
    if not _shows(changed, listing, entry):
        raise NoPlace(
            f"an entry below {listing.heading}: the code or comment that begins here has no end",
            line=_last_open(document),
        )
    return changed


def _shows(document: Document, listing: Listing, entry: str) -> bool:
    section = section_of(document, listing)
    lines = document.section_lines(section, own=False) if section else ()
    return any(line.is_prose and entry in line.text for line in lines)


def _last_open(document: Document) -> int:
    """The number of the line from which on nothing is prose."""
    lines = document.lines
    prose = (at for at in range(len(lines), 0, -1) if lines[at - 1].is_prose)
    return min(next(prose, 0) + 1, max(len(lines), 1))


def without_entry(document: Document, listing: Listing, item: Item) -> Document:
    """The document without one entry and what hangs on it; an emptied list says so."""
    lines = document.lines
    at = next(index for index, line in enumerate(lines) if line.start <= item.start <= line.end)
    text = document.text[: lines[at].start] + document.text[item.last.next :]
    changed = document.replaced(text)
    section = section_of(changed, listing)
    if section and not any(line.text.strip() for line in changed.section_lines(section, own=False)):
        ending = document.text[item.last.end : item.last.next]
        start = lines[at].start
        return changed.replaced(text[:start] + NOTHING + ending + text[start:])
    return changed


def lines_of_entry(document: Document, item: Item) -> str:
    """An entry as it stands there, with all its lines and no line break at the end."""
    first = next(line for line in document.lines if line.start <= item.start <= line.end)
    return document.text[first.start : item.last.end]


def is_placeholder(text: str) -> bool:
    """Whether a whole line only says that there is nothing."""
    return text.strip(" \t*_").casefold() in PLACEHOLDERS


def is_resolved(document: Document, item: Item) -> bool:
    """Whether a blocker says itself that it stands in nobody's way any more; in doubt it does not."""
    if item.is_checked:
        return True
    is_marked = any(mark.match(item.text) for mark in (_SAYS, _STRUCK, _TICKED))
    return is_marked and not _is_doubtful(lines_of_entry(document, item))


def is_row_resolved(cells: Sequence[str]) -> bool:
    """The same of a row of a table, where a tick alone may speak of its own column only."""
    row = " — ".join(cells)
    says = any(_SAYS.match(cell) or _RESOLVED_CELL.fullmatch(cell) for cell in cells)
    return not _is_doubtful(row) and (says or bool(_STRUCK.match(row)))


def _is_doubtful(text: str) -> bool:
    """Whether words that still hold speak against a mark; those that are struck out do not."""
    return bool(_DOUBT.search(re.sub(_STRIKE, "", text)))


def below(document: Document, last: Line, *paragraphs: str) -> str:
    """Paragraphs below a line, with one blank line before each and before what follows."""
    text, at = document.text, last.next
    # The ending of the line above: another one could join it to a single CR LF.
    ending = text[last.end : last.next] or document.ending
    broken = "" if last.next > last.end else ending
    added = broken + "".join(ending + paragraph + ending for paragraph in paragraphs)
    following = next((line for line in document.lines if line.start >= at), None)
    if following and following.text.strip():
        added += ending
    return text[:at] + added + text[at:]


def at_end(document: Document, *paragraphs: str) -> str:
    """Paragraphs at the end of the document."""
    held = [line for line in document.lines if line.text.strip()]
    if held:
        return below(document, held[-1], *paragraphs)
    gap = document.ending * 2
    return document.text + gap.join(paragraphs) + document.ending


def last_held(document: Document, section: Section, *, own: bool = True) -> Line:
    """The last line of a section that is not blank; its heading if there is none."""
    held = [line for line in document.section_lines(section, own=own) if line.text.strip()]
    return held[-1] if held else document.lines[section.heading]


def _bullet(sibling: Item) -> str:
    mark = sibling.bullet if sibling.bullet in "-*+" else "-"
    return " " * sibling.indent + mark + " "


def _first_entry(document: Document, section: Section, entry: str) -> str:
    """Put the entry in the placeholder's place, or below what the section says so far."""
    for line in document.section_lines(section, own=True):
        if line.is_prose and is_placeholder(line.text.strip().removeprefix("- ")):
            return document.text[: line.start] + entry + document.text[line.end :]
    return below(document, last_held(document, section), entry)


def _with_section(document: Document, heading: str, entry: str) -> str:
    """A new section: inside the accumulated context where there is one, else at the end."""
    context = document.section(CONTEXT)
    if context:
        title = "#" * (context.level + 1) + " " + heading
        return below(document, last_held(document, context), title, entry)
    return at_end(document, "## " + heading, entry)
