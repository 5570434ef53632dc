"""REQUIREMENTS.md as a whole: what is wanted, by category, and which phase delivers it."""

import re
from collections.abc import Iterator, Mapping

from fairlead.errors import ArtefactFault, Located
from fairlead.records.artefacts import read_artefact
from fairlead.records.requirements import boxes_of, traces_of
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text, table_cell
from fairlead.values import dataclass

ID = re.compile(r"[A-Z][A-Z0-9]*-[0-9]{1,4}")
_TEXT = re.compile(r"[*`\[\s]*[A-Z][A-Z0-9-]*-[0-9]+[*`\]\s]*[:：]?[*\s]*(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that is wanted."""

    id: str
    text: str
    category: str = ""
    is_done: bool = False
    phases: tuple[str, ...] = ()  # as the table traces it


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a milestone has to deliver, what comes later, and what does not."""

    title: str
    core_value: str = ""
    now: tuple[Requirement, ...] = ()
    later: tuple[Requirement, ...] = ()
    out: tuple[tuple[str, str], ...] = ()  # feature and reason


def read_requirements(path: str, text: str) -> Requirements:
    """Read the requirements that have a box, with the phases of their rows."""
    artefact = read_artefact(path, text)
    with Located(path):
        document = Document(text)
        traced: dict[str, tuple[str, ...]] = {}
        for trace in traces_of(document):
            phases = tuple(str(each.short) for each in trace.phases)
            traced[trace.requirement] = (*traced.get(trace.requirement, ()), *phases)
        core = document.field("Core Value")
        return Requirements(
            artefact.title.partition(":")[2].strip() or artefact.title,
            core.value if core else "",
            tuple(_wanted(document, traced)),
        )


def require_mapped(sheet: Requirements, path: str) -> None:
    """Refuse an id twice, or one that has no phase or several."""
    seen: set[str] = set()
    for each in sheet.now:
        if each.id in seen:
            raise ArtefactFault(f"{each.id} stands twice").located(path)
        seen.add(each.id)
        if len(set(each.phases)) != 1:
            told = ", ".join(each.phases) or "none"
            raise ArtefactFault(f"{each.id} has to have one phase, it has {told}").located(path)


def new_requirements(sheet: Requirements, phases: Mapping[str, str], today: str) -> str:
    """The text of requirements that do not exist yet, each traced to its phase."""
    lines = [
        f"# Requirements: {one_line(sheet.title)}",
        "",
        f"**Defined:** {today}",
        f"**Core Value:** {one_line(sheet.core_value or 'Not decided yet.')}",
        "",
        "## v1 Requirements",
        "",
        *_listed(sheet.now, "- [ ] "),
        "## v2 Requirements",
        "",
        *_listed(sheet.later, "- "),
        "## Out of Scope",
        "",
        "| Feature | Reason |",
        "|---------|--------|",
        *(f"| {table_cell(name)} | {table_cell(why)} |" for name, why in sheet.out),
        "",
        "## Traceability",
        "",
        "| Requirement | Phase | Status |",
        "|-------------|-------|--------|",
        *(
            f"| {each.id} | {f'Phase {phases[each.id]}' if each.id in phases else '-'} | Pending |"
            for each in sheet.now
        ),
        "",
        "**Coverage:**",
        f"- v1 requirements: {len(sheet.now)} total",
        f"- Mapped to phases: {sum(each.id in phases for each in sheet.now)}",
        f"- Unmapped: {sum(each.id not in phases for each in sheet.now)}",
        "",
        "---",
        f"*Requirements defined: {today}*",
        f"*Last updated: {today} after initial definition*",
        "",
    ]
    return "\n".join(lines)


def _listed(wanted: tuple[Requirement, ...], bullet: str) -> Iterator[str]:
    category = None
    for each in wanted:
        if each.category != category:
            yield from ("",) if category is not None else ()
            category = each.category
            yield from (f"### {one_line(category or 'General')}", "")
        yield f"{bullet}**{each.id}**: {one_line(each.text)}"
    yield from ("",) if wanted else ("None yet.", "")


def _wanted(document: Document, traced: Mapping[str, tuple[str, ...]]) -> Iterator[Requirement]:
    headings = {
        document.lines[section.heading].start: section.title
        for section in document.sections
        if section.level in (3, 4)
    }
    for box in boxes_of(document):
        above = [start for start in headings if start < box.item.start]
        category = headings[max(above)] if above else ""
        found = _TEXT.match(box.item.text)
        text = plain_text(found["text"].strip()) if found else ""
        phases = traced.get(box.requirement, ())
        yield Requirement(box.requirement, text, category, box.item.is_checked, phases)
