"""Lists in STATE.md: sections with one entry per line.

A new entry follows the last one with the same bullet, replaces a placeholder such as "None yet.",
or opens a new section. A placeholder is a whole line; the same words inside a sentence are text.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from fairlead.core.patterns import lazy_pattern
from fairlead.text.document import Document
from fairlead.text.errors import NoPlace
from fairlead.text.lists import ListItem, items_of
from fairlead.text.outline import Line, Section, Splice, insert_after, lines_of, spliced

CONTEXT = "Accumulated Context"
Titles = tuple[str, ...]  # the titles that a list may have; a new section gets the first
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
_LEAD = r"(?:\[Phase [^\]]*\]:?\s*)?(?:\*\*)?"
_STRIKE = r"~~(?:(?!~~).)+~~"
_TICKS = "✅☑"
_TICK = rf"[{_TICKS}]\ufe0f?"
# Three marks of a resolved blocker: the word RESOLVED at the start or after a dash; the whole entry
# struck out, followed at most by a remark such as "fixed"; one tick at the start or the end.
_SAYS = lazy_pattern(
    rf"(?:{_LEAD}\[?|.*(?:[—–:(\[]|\s-{{1,2}})\s*(?:\*\*)?)(?:{_TICK}\s*)?RESOLVED\b(?!\?)"
)
_STRUCK = lazy_pattern(
    rf"{_LEAD}(?:{_STRIKE}[\s*—–:;,(✅☑\ufe0f-]*)+(?:\Z|(?i:resolved|fixed|done)\b(?!\?))"
)
_TICKED = lazy_pattern(rf"{_LEAD}{_TICK}[^{_TICKS}]*\Z|[^{_TICKS}]*{_TICK}\s*\Z")
_RESOLVED_CELL = lazy_pattern(rf"(?:{_TICK}|[\s*])*resolved[\s*.]*(?:{_TICK})?", re.IGNORECASE)
# Words that limit such a mark. Hiding an open blocker is worse than showing a resolved one, so in
# doubt a blocker counts as open.
_DOUBT = lazy_pattern(
    r"[❌✗✘✖☐⏳⚠🚧🔴🟡]|n['’]t\b|\b(?:still|partial(?:ly)?|partly|not|cannot|yet|but|only"
    r"|remain(?:s|ing)?|pending|until|till|once|except|unless|open|reopened|incomplete|unresolved)\b",
    re.IGNORECASE,
)


def section_of(document: Document, titles: Titles) -> Section | None:
    """The section of a list."""
    return document.section(*titles)


def entries_of(document: Document, titles: Titles, *, own: bool = False) -> tuple[ListItem, ...]:
    """The entries of a list, without nested ones and placeholders.

    With `own`, the entries of sections inside the list are left out: a person grouped them.
    """
    section = section_of(document, titles)
    if not section:
        return ()
    items = outermost(items_of(document.section_lines(section, own=own)))
    return tuple(item for item in items if not is_placeholder(item.text))


def outermost(items: tuple[ListItem, ...]) -> tuple[ListItem, ...]:
    """The items that are not nested in another one."""
    found: list[ListItem] = []
    for item in items:
        above = found[-1] if found else None
        within = above is not None and item.start <= above.last.end
        if above is None or not within or item.column <= above.column + len(above.bullet):
            found.append(item)
    return tuple(found)


def with_entry(document: Document, titles: Titles, entry: str) -> Document:
    """The document with one more entry, unless the list already has the same text."""
    if any(item.text == entry for item in entries_of(document, titles)):
        return document
    items = entries_of(document, titles, own=True)
    section = section_of(document, titles)
    if items:
        line = f"{_bullet(items[-1])}{entry}"
        text = insert_after(document.text, items[-1].last, line, document.ending)
    elif section:
        text = _first_entry(document, section, f"- {entry}")
    else:
        text = _with_section(document, titles[0], f"- {entry}")
    changed = document.replaced(text)
    if not _shows(changed, titles, entry):
        raise NoPlace(
            f"an entry under {titles[0]}: the code block or comment that starts here has no end",
            line=_last_open(document),
        )
    return changed


def _shows(document: Document, titles: Titles, entry: str) -> bool:
    """Whether every reader sees the entry, also one for whom an unclosed block hides the rest."""
    section = section_of(document, titles)
    lines = _strict_lines(document)[section.first : section.last] if section else ()
    return any(line.is_prose and entry in line.text for line in lines)


def _strict_lines(document: Document) -> tuple[Line, ...]:
    block = document.block
    return lines_of(document.text, block.body if block else 0, is_answer=True)


def _last_open(document: Document) -> int:
    """The number of the line after the last prose line, where an unclosed block starts."""
    lines = _strict_lines(document)
    prose = (at for at in range(len(lines), 0, -1) if lines[at - 1].is_prose)
    return min(next(prose, 0) + 1, max(len(lines), 1))


def without_entry(document: Document, titles: Titles, item: ListItem) -> Document:
    """The document without an entry and its nested lines; an emptied list gets a placeholder."""
    return without_entries(document, titles, [item], len(document.lines))[0]


def without_entries(
    document: Document, titles: Titles, items: Sequence[ListItem], lines: int
) -> tuple[Document, tuple[str, ...]]:
    """The document without the first of these entries, and the lines of those that left it.

    Entries leave until the document has that many lines less. An emptied list gets a placeholder.
    """
    starts = [line.start for line in document.lines]
    splices: list[Splice] = []
    removed = 0
    for item in items:
        first = bisect_right(starts, item.start) - 1
        if removed >= lines or (splices and starts[first] < splices[-1].end):
            continue
        splices.append(Splice(starts[first], item.last.next, ""))
        removed += bisect_right(starts, item.last.start) - first
    gone = tuple(document.text[each.start : each.end].rstrip("\r\n") for each in splices)
    changed = document.replaced(spliced(document.text, splices))
    section = section_of(changed, titles) if splices else None
    if section and not any(line.text.strip() for line in changed.section_lines(section, own=False)):
        last, start = items[0].last, splices[0].start
        filler = Splice(start, start, NOTHING + document.text[last.end : last.next])
        changed = changed.replaced(spliced(changed.text, [filler]))
    return changed, gone


def lines_of_entry(document: Document, item: ListItem) -> str:
    """All lines of an entry, without the last line break."""
    first = next(line for line in document.lines if line.start <= item.start <= line.end)
    return document.text[first.start : item.last.end]


def is_placeholder(text: str) -> bool:
    """Whether a line only says that a list is empty."""
    return text.strip(" \t*_").casefold() in PLACEHOLDERS


def is_resolved(document: Document, item: ListItem) -> bool:
    """Whether a blocker is marked as resolved, without words that limit the mark."""
    if item.is_checked:
        return True
    text = item.text
    is_marked = (
        ("RESOLVED" in text and _SAYS.match(text))
        or ("~~" in text and _STRUCK.match(text))
        or (any(tick in text for tick in _TICKS) and _TICKED.match(text))
    )
    return bool(is_marked) and not _is_doubtful(lines_of_entry(document, item))


def is_row_resolved(cells: Sequence[str]) -> bool:
    """The same for a table row, where a tick alone may belong to its column only."""
    row = " — ".join(cells)
    says = any(_SAYS.match(cell) or _RESOLVED_CELL.fullmatch(cell) for cell in cells)
    return not _is_doubtful(row) and (says or bool(_STRUCK.match(row)))


def _is_doubtful(text: str) -> bool:
    """Whether a text limits a mark; struck-out words do not count."""
    return bool(_DOUBT.search(re.sub(_STRIKE, "", text)))


def below(document: Document, last: Line, *paragraphs: str) -> str:
    """The text with paragraphs after a line, separated by blank lines."""
    text, at = document.text, last.next
    # The ending of the line above: after a lone CR, an LF would turn two endings into one CR LF.
    ending = text[last.end : last.next] or document.ending
    broken = "" if last.next > last.end else ending
    added = broken + "".join(ending + paragraph + ending for paragraph in paragraphs)
    following = next((line for line in document.lines if line.start >= at), None)
    if following and following.text.strip():
        added += ending
    return text[:at] + added + text[at:]


def at_end(document: Document, *paragraphs: str) -> str:
    """The text with paragraphs at its end."""
    filled = [line for line in document.lines if line.text.strip()]
    if filled:
        return below(document, filled[-1], *paragraphs)
    gap = document.ending * 2
    return document.text + gap.join(paragraphs) + document.ending


def last_filled_line(document: Document, section: Section, *, own: bool = True) -> Line:
    """The last non-blank line of a section, or its heading."""
    filled = [line for line in document.section_lines(section, own=own) if line.text.strip()]
    return filled[-1] if filled else document.lines[section.heading]


def _bullet(sibling: ListItem) -> str:
    mark = sibling.bullet if sibling.bullet in "-*+" else "-"
    return " " * sibling.indent + mark + " "


def _first_entry(document: Document, section: Section, entry: str) -> str:
    """Replace the placeholder by the entry, or append the entry to the section."""
    for line in document.section_lines(section, own=True):
        if line.is_prose and is_placeholder(line.text.strip().removeprefix("- ")):
            return document.text[: line.start] + entry + document.text[line.end :]
    return below(document, last_filled_line(document, section), entry)


def _with_section(document: Document, heading: str, entry: str) -> str:
    """The text with a new section, inside the accumulated context or at the end."""
    context = document.section(CONTEXT)
    if context:
        title = "#" * (context.level + 1) + " " + heading
        return below(document, last_filled_line(document, context), title, entry)
    return at_end(document, "## " + heading, entry)
