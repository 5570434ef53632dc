"""The documents of a new project: PROJECT.md, REQUIREMENTS.md and ROADMAP.md.

The product manager answers in JSON; PROJECT.md and REQUIREMENTS.md are written from the answer.
The roadmapper writes ROADMAP.md, which must be complete here: every requirement in exactly one
phase, every phase with all its fields. A roadmap written by a person is read more leniently
elsewhere, in `project.roadmap`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from fairlead.core.errors import Located
from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.requirements import boxes_of, traces_of
from fairlead.project.roadmap.documents import read_roadmap
from fairlead.project.roadmap.model import ListedPhase
from fairlead.project.roadmap.phase_details import phase_section_of
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text, table_cell
from fairlead.workflows.artefacts import read_answer, read_artefact
from fairlead.workflows.errors import ArtefactFault

MAX_QUESTIONS = 5
MAX_CRITERIA = 5
_REQUIREMENT_ID = lazy_pattern(r"[A-Z][A-Z0-9]*-[0-9]{1,4}")
_TEXT = lazy_pattern(r"[*`\[\s]*[A-Z][A-Z0-9-]*-[0-9]+[*`\]\s]*[:：]?[*\s]*(?P<text>.*)")
_PHASE_NUMBERS = lazy_pattern(
    r"(?i)\bphases?\s+((?:\d+(?:\.\d+)*)(?:\s*(?:,|and|&)\s*\d+(?:\.\d+)*)*)"
)
_RISK = lazy_pattern(r"(?:LOW|MEDIUM|HIGH)\b")
_BACKLOG = 999


# -- answers of the product manager --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Topic:
    """A question whose answer changes what is built; the best guess comes first."""

    topic: str
    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vision:
    """How the product manager understands an idea."""

    title: str
    what_this_is: str
    core_value: str
    questions: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestedRequirement:
    """A requirement in the answer."""

    id: str
    text: str
    when: str  # v1 or v2
    category: str


@dataclass(frozen=True, slots=True)
class ExcludedFeature:
    """A feature that is out of scope."""

    feature: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProductConstraint:
    """Something that limits how the product is built."""

    type: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class ProductDecision:
    """A decision that is already made."""

    decision: str
    rationale: str


@dataclass(frozen=True, slots=True)
class ProductAnswer:
    """The product as the product manager describes it."""

    what_this_is: str
    core_value: str
    requirements: tuple[RequestedRequirement, ...]
    out_of_scope: tuple[ExcludedFeature, ...]
    context: tuple[str, ...]
    constraints: tuple[ProductConstraint, ...]
    decisions: tuple[ProductDecision, ...]


@dataclass(frozen=True, slots=True)
class ProductRequirement:
    """One requirement."""

    id: str
    text: str
    category: str = ""
    is_done: bool = False
    phases: tuple[str, ...] = ()  # from the traceability table


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements of a milestone, those for later, and what is out of scope."""

    title: str
    core_value: str = ""
    now: tuple[ProductRequirement, ...] = ()
    later: tuple[ProductRequirement, ...] = ()
    out: tuple[tuple[str, str], ...] = ()  # feature and reason


@dataclass(frozen=True, slots=True)
class Product:
    """The checked answer, with its requirements sorted by category."""

    answer: ProductAnswer
    requirements: Requirements


def read_vision(answer: Mapping[str, object]) -> Vision:
    """Read how an idea is understood, and which questions are open."""
    vision = read_answer(Vision, answer)
    if not (vision.title and vision.what_this_is and vision.core_value):
        raise ArtefactFault("title, what_this_is and core_value are required")
    is_complete = all(each.topic and each.question and each.options for each in vision.questions)
    if len(vision.questions) > MAX_QUESTIONS or not is_complete:
        what = f"expected at most {MAX_QUESTIONS} questions, each with topic, question and options"
        raise ArtefactFault(what)
    return vision


def read_product(answer: Mapping[str, object], title: str) -> Product:
    """Read the product; refuse missing fields and duplicate ids."""
    product = read_answer(ProductAnswer, answer)
    ids = []
    for each in product.requirements:
        is_valid = _REQUIREMENT_ID.fullmatch(each.id) and each.text
        if not is_valid or each.when.lower() not in ("v1", "v2"):
            what = f"a requirement needs an id such as AUTH-01, a text, and v1 or v2: {each.id}"
            raise ArtefactFault(what)
        ids.append(each.id)
    duplicates = sorted({each for each in ids if ids.count(each) > 1})
    if duplicates:
        raise ArtefactFault(f"duplicate requirements: {', '.join(duplicates)}")
    now, later = (_by_category(product, when) for when in ("v1", "v2"))
    if not now:
        raise ArtefactFault("no requirement is for v1")
    if not (product.core_value and product.what_this_is):
        raise ArtefactFault("what_this_is and core_value are required")
    out = ((each.feature, each.reason or "-") for each in product.out_of_scope if each.feature)
    return Product(product, Requirements(title, product.core_value, now, later, tuple(out)))


def _by_category(product: ProductAnswer, when: str) -> tuple[ProductRequirement, ...]:
    chosen = [
        ProductRequirement(each.id, each.text, each.category or each.id.partition("-")[0])
        for each in product.requirements
        if each.when.lower() == when
    ]
    order = list(dict.fromkeys(each.category for each in chosen))
    return tuple(sorted(chosen, key=lambda each: order.index(each.category)))


# -- PROJECT.md ----------------------------------------------------------------------------------


def new_project(title: str, product: Product, today: str) -> str:
    """The text of PROJECT.md."""
    answer, requirements = product.answer, product.requirements
    active = [f"- [ ] {each.id}: {one_line(each.text)}" for each in requirements.now]
    out = [f"- {one_line(name)} — {one_line(why)}" for name, why in requirements.out]
    constraints = [
        f"- **{one_line(each.type or 'Other')}**: {one_line(each.what)}"
        + (f" — {one_line(each.why)}" if each.why else "")
        for each in answer.constraints
        if each.what
    ]
    decisions = [
        f"| {table_cell(each.decision)} | {table_cell(each.rationale or '-')} | — Pending |"
        for each in answer.decisions
        if each.decision
    ]
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        (f"# {one_line(title)}", ()),
        ("## What This Is", (one_line(answer.what_this_is),)),
        ("## Core Value", (one_line(answer.core_value),)),
        ("## Requirements", ()),
        ("### Validated", ("None yet.",)),
        ("### Active", active),
        ("### Out of Scope", out or ("None yet.",)),
        ("## Context", [f"- {one_line(each)}" for each in answer.context] or ("Nothing yet.",)),
        ("## Constraints", constraints or ("None yet.",)),
        (
            "## Key Decisions",
            (
                "| Decision | Rationale | Outcome |",
                "|----------|-----------|---------|",
                *decisions,
            ),
        ),
    )
    lines = []
    for heading, body in sections:
        lines += [heading, "", *body, *([""] if body else [])]
    return "\n".join((*lines, "---", f"*Last updated: {today} after initialization*", ""))


# -- REQUIREMENTS.md -----------------------------------------------------------------------------


def new_requirements(requirements: Requirements, phases: Mapping[str, str], today: str) -> str:
    """The text of a new REQUIREMENTS.md, with the phase of each requirement."""
    now = requirements.now
    lines = [
        f"# Requirements: {one_line(requirements.title)}",
        "",
        f"**Defined:** {today}",
        f"**Core Value:** {one_line(requirements.core_value or 'Not decided yet.')}",
        "",
        "## v1 Requirements",
        "",
        *_requirement_lines(now, "- [ ] "),
        "## v2 Requirements",
        "",
        *_requirement_lines(requirements.later, "- "),
        "## Out of Scope",
        "",
        "| Feature | Reason |",
        "|---------|--------|",
        *(f"| {table_cell(name)} | {table_cell(why)} |" for name, why in requirements.out),
        "",
        "## Traceability",
        "",
        "| Requirement | Phase | Status |",
        "|-------------|-------|--------|",
        *(
            f"| {each.id} | {f'Phase {phases[each.id]}' if each.id in phases else '-'} | Pending |"
            for each in now
        ),
        "",
        "**Coverage:**",
        f"- v1 requirements: {len(now)} total",
        f"- Mapped to phases: {sum(each.id in phases for each in now)}",
        f"- Unmapped: {sum(each.id not in phases for each in now)}",
        "",
        "---",
        f"*Requirements defined: {today}*",
        f"*Last updated: {today} after initial definition*",
        "",
    ]
    return "\n".join(lines)


def read_requirements(path: str, text: str) -> Requirements:
    """Read the requirements that have a checkbox, with the phases of their rows."""
    artefact = read_artefact(path, text)
    with Located(path):
        document = Document(text)
        phases: dict[str, tuple[str, ...]] = {}
        for trace in traces_of(document):
            more = tuple(str(phase.short) for phase in trace.phases)
            phases[trace.requirement] = (*phases.get(trace.requirement, ()), *more)
        core_value = document.field("Core Value")
        return Requirements(
            artefact.title.partition(":")[2].strip() or artefact.title,
            core_value.value if core_value else "",
            tuple(_listed_requirements(document, phases)),
        )


def require_mapped(requirements: Requirements, path: str) -> None:
    """Refuse a duplicate id, and a requirement that has no phase or several."""
    seen: set[str] = set()
    for each in requirements.now:
        if each.id in seen:
            raise ArtefactFault(f"duplicate requirement {each.id}").located(path)
        seen.add(each.id)
        if len(set(each.phases)) != 1:
            phases = ", ".join(each.phases) or "none"
            raise ArtefactFault(f"{each.id} must have one phase, it has {phases}").located(path)


def _requirement_lines(requirements: tuple[ProductRequirement, ...], bullet: str) -> Iterator[str]:
    category = None
    for each in requirements:
        if each.category != category:
            if category is not None:
                yield ""
            category = each.category
            yield from (f"### {one_line(category or 'General')}", "")
        yield f"{bullet}**{each.id}**: {one_line(each.text)}"
    yield from ("",) if requirements else ("None yet.", "")


def _listed_requirements(
    document: Document, phases: Mapping[str, tuple[str, ...]]
) -> Iterator[ProductRequirement]:
    headings = {
        document.lines[section.heading].start: section.title
        for section in document.sections
        if section.level in (3, 4)
    }
    for box in boxes_of(document):
        above = [start for start in headings if start < box.item.start]
        category = headings[max(above)] if above else ""
        match = _TEXT.match(box.item.text)
        text = plain_text(match["text"].strip()) if match else ""
        box_phases = phases.get(box.requirement, ())
        yield ProductRequirement(box.requirement, text, category, box.item.is_checked, box_phases)


# -- ROADMAP.md ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoadmapPhase:
    """One phase of a complete roadmap."""

    id: PhaseId
    name: str
    goal: str
    requirements: tuple[str, ...]
    criteria: tuple[str, ...]
    risk: str


def read_new_roadmap(
    path: str, text: str, ids: Collection[str], first: int
) -> tuple[RoadmapPhase, ...]:
    """The phases of a roadmap; raise with file and line at the first thing that is missing."""
    read_artefact(path, text)
    with Located(path):
        document = Document(text)
        listed = [each for each in read_roadmap(document).phases if each.id.number != _BACKLOG]
        if not listed:
            raise ArtefactFault("there is no phase")
        phases = tuple(_roadmap_phase(document, each) for each in listed)
        _require_order(listed, first)
        _require_coverage(phases, listed, ids)
        return phases


def _roadmap_phase(document: Document, listed: ListedPhase) -> RoadmapPhase:
    details = phase_section_of(document, listed.id, listed.milestone)
    line = details.line or listed.line
    for what, value in (
        ("a name", listed.name),
        ("a line `- [ ] **Phase N: Name**` in the list", listed.is_checked is not None),
        ("a Goal", listed.goal),
        ("Requirements", details.requirements),
        ("Success Criteria", details.success_criteria),
        ("a Risk of LOW, MEDIUM or HIGH", _RISK.match(details.risk)),
        ("a line Plans", "**Plans**" in details.section),
    ):
        if not value:
            raise ArtefactFault(f"phase {listed.id.short} needs {what}", line=line)
    if len(details.success_criteria) > MAX_CRITERIA:
        what = f"phase {listed.id.short} has more than {MAX_CRITERIA} success criteria"
        raise ArtefactFault(what, line=line)
    return RoadmapPhase(
        listed.id,
        listed.name,
        listed.goal,
        details.requirements,
        details.success_criteria,
        details.risk,
    )


def _require_order(listed: list[ListedPhase], first: int) -> None:
    numbers = [phase.id.short for phase in listed]
    if numbers != [str(first + at) for at in range(len(listed))]:
        what = f"phases must be numbered from {first} without gaps: {', '.join(numbers)}"
        raise ArtefactFault(what, line=listed[0].line)
    for phase in listed:
        texts = _PHASE_NUMBERS.findall(phase.depends_on)
        numbers = [number for text in texts for number in re.findall(r"\d+(?:\.\d+)*", text)]
        later = [number for number in numbers if PhaseId.parse(number) >= phase.id]
        if later:
            what = f"phase {phase.id.short} depends on phase {later[0]}, which is not earlier"
            raise ArtefactFault(what, line=phase.line)


def _require_coverage(
    phases: tuple[RoadmapPhase, ...], listed: list[ListedPhase], ids: Collection[str]
) -> None:
    phase_of: dict[str, str] = {}
    for phase, entry in zip(phases, listed, strict=True):
        for name in phase.requirements:
            if name not in ids:
                raise ArtefactFault(f"{name} is not a requirement", line=entry.line)
            if name in phase_of:
                what = f"{name} is in phase {phase_of[name]} and in phase {phase.id.short}"
                raise ArtefactFault(what, line=entry.line)
            phase_of[name] = phase.id.short
    missing = sorted(name for name in ids if name not in phase_of)
    if missing:
        raise ArtefactFault(f"no phase has {', '.join(missing)}", line=listed[-1].line)
