"""One number for two phases: what a merge of two additions leaves behind.

The list, the details and the table may each call a phase differently, and a remark may begin with
its number. So only neighbours are held against each other: headings side by side, bullets of one
list, rows of one table. A name that goes on where another ends is the same name.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from fairlead.model.inventory import Mark
from fairlead.records.roadmap_lines import Form, Mention, Sheet

_BELOW_ALL = 7  # levels of headings
_ENDING = re.compile(r"\s*\([^()]*\)\s*\Z")


def clashes_in(sheet: Sheet, mentions: list[Mention]) -> tuple[Mark, ...]:
    """The places that give the number of these mentions to phases of different names."""
    if len({mention.form for mention in mentions}) == len(mentions):
        return ()
    if len({mention.name for mention in mentions}) == 1:
        return ()
    found: dict[int, Mark] = {}
    for group in _neighbours(sheet, mentions):
        if _names_differ(mention.name for mention in group):
            found |= {each.line: Mark(each.line, each.name) for each in group}
    return tuple(found[line] for line in sorted(found))


def _neighbours(sheet: Sheet, mentions: list[Mention]) -> Iterator[list[Mention]]:
    groups: dict[tuple[Form, int, int, bool], list[Mention]] = {}
    told = [each for each in mentions if each.name and not each.is_retired]
    has_only_bullets = all(each.form is Form.BULLET for each in mentions)
    for mention in told:
        # A bullet without a box may be a remark on a phase that is told elsewhere.
        if mention.item and mention.is_checked is None and not has_only_bullets:
            continue
        groups.setdefault(_place(sheet, mention), []).append(mention)
    yield from (group for group in groups.values() if len(group) > 1)


def _place(sheet: Sheet, mention: Mention) -> tuple[Form, int, int, bool]:
    """What neighbours have in common: the table, or the heading above and the depth below it."""
    if mention.row:
        return mention.form, mention.row.table.header[0].start, 0, False
    depth = mention.section.level if mention.section else _BELOW_ALL
    sections = sheet.document.sections
    at = bisect_left(sections, mention.line - 1, key=lambda each: each.heading) - 1
    while at >= 0 and sections[at].level >= depth:
        at -= 1
    indent = mention.item.indent if mention.item else depth
    return mention.form, at, indent, mention.is_checked is None


def _names_differ(names: Iterable[str]) -> bool:
    kept: list[list[str]] = []
    for name in names:
        words = re.findall(r"\w+", _ENDING.sub("", name).casefold())
        if words:
            kept.append(words)
    return any(
        one[: len(other)] != other and other[: len(one)] != one
        for at, one in enumerate(kept)
        for other in kept[at + 1 :]
    )
