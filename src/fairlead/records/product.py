"""A product before it is built: what it is, what is asked, what is wanted; and PROJECT.md of it."""

from collections.abc import Iterable, Mapping, Sequence

from fairlead.errors import ArtefactFault
from fairlead.records.advice import maps, said, texts
from fairlead.records.requirements_sheet import ID, Requirement, Requirements
from fairlead.text.inline import one_line, table_cell
from fairlead.values import dataclass

MOST_QUESTIONS = 5


@dataclass(frozen=True, slots=True)
class Topic:
    """A question whose answer changes what is built; the best guess stands first."""

    name: str
    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vision:
    """An idea as it was understood."""

    title: str
    what: str
    core_value: str
    topics: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class Product:
    """What is to be built."""

    what: str
    core_value: str
    requirements: Requirements
    context: tuple[str, ...] = ()
    constraints: tuple[tuple[str, str, str], ...] = ()  # type, what, why
    decisions: tuple[tuple[str, str], ...] = ()  # decision and rationale


def read_vision(answer: Mapping[str, object]) -> Vision:
    """How an idea was understood, and what is asked about it."""
    topics = tuple(
        Topic(said(each, "topic"), said(each, "question"), texts(each, "options"))
        for each in maps(answer, "questions")
    )
    title, what, core = (said(answer, key) for key in ("title", "what_this_is", "core_value"))
    vision = Vision(title, what, core, topics)
    if not (vision.title and vision.what and vision.core_value):
        raise ArtefactFault("it takes a title, what_this_is and a core_value")
    if len(topics) > MOST_QUESTIONS or any(
        not (each.name and each.question and each.options) for each in topics
    ):
        what = f"it takes at most {MOST_QUESTIONS} questions, each with a topic and options"
        raise ArtefactFault(what)
    return vision


def read_product(answer: Mapping[str, object], title: str) -> Product:
    """What is wanted, with ids that nobody has twice."""
    wanted = [_requirement(each) for each in maps(answer, "requirements")]
    names = [each.id for each, _ in wanted]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ArtefactFault(f"{', '.join(twice)} stands twice among the requirements")
    now = tuple(each for each, when in wanted if when == "v1")
    if not now:
        raise ArtefactFault("no requirement is for v1")
    core, what = said(answer, "core_value"), said(answer, "what_this_is")
    if not (core and what):
        raise ArtefactFault("it takes what_this_is and a core_value")
    out = [(said(each, "feature"), said(each, "reason")) for each in maps(answer, "out_of_scope")]
    later = tuple(each for each, when in wanted if when == "v2")
    return Product(
        what,
        core,
        Requirements(title, core, _by_category(now), _by_category(later), _full(out)),
        texts(answer, "context"),
        tuple(
            (said(each, "type") or "Other", told, said(each, "why"))
            for each in maps(answer, "constraints")
            if (told := said(each, "what"))
        ),
        _full(
            (said(each, "decision"), said(each, "rationale")) for each in maps(answer, "decisions")
        ),
    )


def new_project(title: str, product: Product, today: str) -> str:
    """The text of PROJECT.md."""
    sheet = product.requirements
    return "\n".join(
        (
            f"# {one_line(title)}",
            "",
            "## What This Is",
            "",
            one_line(product.what),
            "",
            "## Core Value",
            "",
            one_line(product.core_value),
            "",
            "## Requirements",
            "",
            "### Validated",
            "",
            "None yet.",
            "",
            "### Active",
            "",
            *(f"- [ ] {each.id}: {one_line(each.text)}" for each in sheet.now),
            "",
            "### Out of Scope",
            "",
            *(
                [f"- {one_line(name)} — {one_line(why)}" for name, why in sheet.out]
                or ["None yet."]
            ),
            "",
            "## Context",
            "",
            *([f"- {one_line(each)}" for each in product.context] or ["Nothing yet."]),
            "",
            "## Constraints",
            "",
            *(_constraints(product.constraints) or ["None yet."]),
            "",
            "## Key Decisions",
            "",
            "| Decision | Rationale | Outcome |",
            "|----------|-----------|---------|",
            *(f"| {table_cell(a)} | {table_cell(b)} | — Pending |" for a, b in product.decisions),
            "",
            "---",
            f"*Last updated: {today} after initialization*",
            "",
        )
    )


def _constraints(held: Sequence[tuple[str, str, str]]) -> list[str]:
    return [
        f"- **{one_line(kind)}**: {one_line(what)}" + (f" — {one_line(why)}" if why else "")
        for kind, what, why in held
    ]


def _requirement(held: Mapping[str, object]) -> tuple[Requirement, str]:
    name, text, when = said(held, "id"), said(held, "text"), said(held, "when").lower()
    if not ID.fullmatch(name) or not text or when not in ("v1", "v2"):
        raise ArtefactFault(
            f"a requirement takes an id such as AUTH-01, a text, and v1 or v2: {name}"
        )
    return Requirement(name, text, said(held, "category") or name.partition("-")[0]), when


def _by_category(held: tuple[Requirement, ...]) -> tuple[Requirement, ...]:
    order = list(dict.fromkeys(each.category for each in held))
    return tuple(sorted(held, key=lambda each: order.index(each.category)))


def _full(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((first, second or "-") for first, second in pairs if first)
