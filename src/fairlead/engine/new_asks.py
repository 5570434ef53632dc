"""What making a project asks of each role: pure text."""

from __future__ import annotations

from collections.abc import Mapping

from fairlead.engine.prompting import word
from fairlead.engine.role_calls import Ask
from fairlead.model.roles import role

# By direction: what is asked, and the form of the document.
DIMENSION_FORMS: Mapping[str, tuple[str, str]] = {
    "STACK": (
        "What should it be built with, and what not? Languages, libraries, versions, tools.",
        (
            "    # Technology Stack\n\n    ## Recommended Stack\n    Each with version, purpose and"
            " reason.\n\n    ## Alternatives Considered\n    And why not."
        ),
    ),
    "FEATURES": (
        "What do people expect of such a thing, what sets one apart, what should be left out?",
        (
            "    # Feature Landscape\n\n    ## Table Stakes\n    What is missed when it is missing.\n\n"
            "    ## Differentiators\n    What is valued though not expected.\n\n    ## Anti-Features\n"
            "    What not to build, and why."
        ),
    ),
    "ARCHITECTURE": (
        "How are such systems divided, what talks to what, what has to be built first?",
        (
            "    # Architecture Patterns\n\n    ## Recommended Architecture\n    Parts, boundaries, flow"
            " of data, order of building.\n\n    ## Patterns to Follow\n    And those to avoid."
        ),
    ),
    "PITFALLS": (
        "What goes wrong with such projects, how does one notice early, how is it prevented?",
        (
            "    # Domain Pitfalls\n\n    ## Critical Pitfalls\n    Those that cost a rewrite: what, why,"
            " prevention, in which phase.\n\n    ## Moderate Pitfalls\n    Those that cost time."
        ),
    ),
}
_GRANULARITY = {
    "coarse": "Make three to five phases, fewer where little is to be done.",
    "standard": "Make five to eight phases, fewer where little is to be done.",
    "fine": "Make eight to twelve phases, fewer where little is to be done.",
}


def vision_ask(idea: str) -> Ask:
    """How the idea is understood, and what has to be asked."""
    return Ask(role("pm"), "questions", {"idea": idea})


def research_ask(dimension: str, brief: str, answers: str) -> Ask:
    """One direction of research."""
    question, form = DIMENSION_FORMS[dimension]
    words = {"dimension": dimension, "question": question, "form": form}
    pieces = {"project": brief, "answers": answers}
    outputs = (f"{dimension}.md",)
    return Ask(role("project-researcher"), f"research-{dimension.lower()}", pieces, words, outputs)


def synthesis_ask(research: Mapping[str, str], today: str) -> Ask:
    """The four put together."""
    pieces = {name.lower(): text for name, text in research.items()}
    outputs = ("SUMMARY.md",)
    return Ask(role("research-synthesizer"), "synthesis", pieces, {"today": today}, outputs)


def product_ask(
    idea: str, answers: str, summary: str, before: str, change: str, number: int
) -> Ask:
    """Requirements, or a changed version of them."""
    pieces = {"idea": idea, "answers": answers, "research": summary}
    if change:
        pieces |= {"earlier": before, "change": change}
    return Ask(role("pm"), f"requirements-{number}", pieces, prompt="pm-requirements")


def roadmap_ask(
    title: str, project: str, summary: str, granularity: str, change: str, number: int
) -> Ask:
    """Phases, or another version of them."""
    words = {
        "title": word(title),
        "milestone": "v1.0",
        "first": "1",
        "granularity": _GRANULARITY.get(granularity, _GRANULARITY["standard"]),
    }
    pieces = {"project": project, "research": summary}
    if change:
        pieces["change"] = change
    return Ask(role("roadmapper"), f"roadmap-{number}", pieces, words, ("ROADMAP.md",))
