"""Answers about what is not decided yet: areas with their assumptions, and options with scores.

Read strictly: a role that leaves a part out is asked again, and nothing is filled in for it.
"""

from collections.abc import Mapping

from fairlead.errors import ArtefactFault
from fairlead.values import dataclass

MOST_AREAS = 5
SCORES = ("fit", "simplicity", "risk", "reversibility")
_BEST = 5


@dataclass(frozen=True, slots=True)
class Area:
    """Something that has to be decided, and what would be done without a decision."""

    name: str
    question: str
    assumption: str
    why: str = ""
    if_wrong: str = ""
    confidence: str = ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a phase takes for granted."""

    boundary: str
    areas: tuple[Area, ...]
    insights: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """One way of doing it."""

    name: str
    pros: str
    cons: str
    score: int  # of twenty


@dataclass(frozen=True, slots=True)
class Advice:
    """The ways of doing one thing, the best first, and the one that is recommended."""

    options: tuple[Option, ...]
    recommended: str
    rationale: str


def read_analysis(answer: Mapping[str, object]) -> Analysis:
    """What the analyser found; raises where a part is missing."""
    areas = tuple(
        Area(
            *(_text(each, key, "an area") for key in ("name", "question", "assumption")),
            *(said(each, key) for key in ("why", "if_wrong", "confidence")),
        )
        for each in maps(answer, "areas")
    )
    if not areas or len(areas) > MOST_AREAS:
        raise ArtefactFault(f"it takes one to {MOST_AREAS} areas, there are {len(areas)}")
    if len({each.name.casefold() for each in areas}) < len(areas):
        raise ArtefactFault("two areas have the same name")
    return Analysis(
        said(answer, "boundary"),
        areas,
        *(texts(answer, key) for key in ("insights", "references", "deferred")),
    )


def read_advice(answer: Mapping[str, object]) -> Advice:
    """What an advisor says; raises where options, scores or the recommendation do not fit."""
    options = tuple(
        Option(
            _text(each, "name", "an option"), said(each, "pros"), said(each, "cons"), _score(each)
        )
        for each in maps(answer, "options")
    )
    names = [each.name for each in options]
    recommended = said(answer, "recommended")
    if len(options) < 2 or len(set(names)) < len(names):
        raise ArtefactFault("it takes two options or more, each with a name of its own")
    if recommended not in names:
        raise ArtefactFault(f"{recommended!r} is recommended and is no option")
    best = sorted(options, key=lambda each: (each.name != recommended, -each.score))
    return Advice(tuple(best), recommended, said(answer, "rationale"))


def said(held: Mapping[str, object], key: str) -> str:
    """A text in one line; empty for none."""
    value = held.get(key)
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def texts(held: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A list of texts, each in one line."""
    value = held.get(key)
    given = value if isinstance(value, list) else []
    return tuple(" ".join(each.split()) for each in given if isinstance(each, str) and each.strip())


def maps(held: Mapping[str, object], key: str) -> tuple[Mapping[str, object], ...]:
    """A list of maps; raises where anything else stands."""
    value = held.get(key)
    given = value if isinstance(value, list) else []
    if not all(isinstance(each, dict) for each in given):
        raise ArtefactFault(f"{key} is a list of maps")
    return tuple(given)


def _text(held: Mapping[str, object], key: str, what: str) -> str:
    found = said(held, key)
    if not found:
        raise ArtefactFault(f"{what} has no {key}")
    return found


def _score(held: Mapping[str, object]) -> int:
    scores = held.get("scores")
    given = [scores.get(key) for key in SCORES] if isinstance(scores, dict) else []
    numbers = [each for each in given if isinstance(each, int) and 1 <= each <= _BEST]
    if len(numbers) != len(SCORES):
        told = ", ".join(SCORES)
        raise ArtefactFault(f"an option has scores from 1 to {_BEST} for {told}")
    return sum(numbers)
