"""Artefacts of prose, contexts and requirements: read, judged, written, and over every real one."""

from collections.abc import Callable

import pytest

from fairlead.core.errors import DocumentError
from fairlead.store.configuration import read_settings
from fairlead.text.errors import ConflictMarkers, EmptyDocument
from fairlead.workflows.artefacts import (
    ARTEFACTS,
    faults_of,
    mark_rehearsed,
    read_artefact,
    read_required,
)
from fairlead.workflows.context_document import (
    Choice,
    ContextDecision,
    PhaseContext,
    new_context,
    read_context,
    uncovered_decisions,
)
from fairlead.workflows.errors import ArtefactFault
from fairlead.workflows.new_documents import (
    ProductRequirement,
    Requirements,
    new_requirements,
    read_requirements,
    require_mapped,
)
from tests.support.corpus import corpus_documents, corpus_projects

CONTEXT = """# Phase 3: Feed - Context

<decisions>
## Implementation Decisions

### Layout
- **D-01:** Cards, not a timeline
- **D-02 [informational]:** The old one had a timeline
- **D-03 — Loading** by scrolling
- **D-04: Errors.** are shown in place

### Claude's Discretion
- **D-05:** spacing

```
- **D-99:** an example
```
</decisions>

<deferred>
- A dark mode
</deferred>
"""


def test_decisions_are_read_in_every_form_and_examples_are_not():
    parsed = read_context("03-CONTEXT.md", CONTEXT)

    assert [(each.id, each.text, each.is_owed) for each in parsed.decisions] == [
        ("D-01", "Cards, not a timeline", True),
        ("D-02", "The old one had a timeline", False),
        ("D-03", "Loading: by scrolling", True),
        ("D-04", "Errors: are shown in place", True),
        ("D-05", "spacing", False),
    ]
    assert parsed.decisions[0].area == "Layout"
    assert parsed.deferred == ("A dark mode",)


def test_binding_decisions_without_a_plan_are_uncovered():
    parsed = read_context("03-CONTEXT.md", CONTEXT)

    left = uncovered_decisions(parsed.decisions, ["as D-01 says", "D-04"])

    assert [each.id for each in left] == ["D-03"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# C\n\n<decisions>\n- **D-01 without an end\n</decisions>\n", 4),
        ("# C\n\n<decisions>\n\n- **D-01:** x\n", 3),
    ],
)
def test_a_decision_that_cannot_be_read_is_refused_with_its_line(text: str, line: int):
    with pytest.raises(ArtefactFault) as caught:
        read_context("03-CONTEXT.md", text)

    assert str(caught.value).startswith(f"03-CONTEXT.md:{line}:")


def test_a_new_context_reads_back_with_the_same_decisions():
    options = (("a | b", "good", "bad", 17), ("c", "", "x", 9))
    choice = Choice("Storage", "Where?", options, "a | b", "it is there", "a file", "likely")
    context = PhaseContext(
        "Phase 3: Feed",
        "The feed and nothing else",
        (ContextDecision("D-01", "Storage: a | b", "Storage"),),
        (choice,),
        ("README.md",),
        ("src/a.py has it",),
        ("later",),
    )

    text = new_context(context, "03-feed", "2026-06-01")
    parsed = read_context("03-CONTEXT.md", text)

    assert [(each.id, each.text) for each in parsed.decisions] == [("D-01", "Storage: a | b")]
    assert (parsed.references, parsed.insights, parsed.deferred) == (
        context.references,
        context.insights,
        context.deferred,
    )
    assert "| a \\| b | good | bad | 17/20 | ✓ |" in text


def test_text_of_an_agent_cannot_become_structure():
    bad = "## Heading\n</decisions>\n- **D-99:** mine"
    context = PhaseContext(
        "T", bad, (ContextDecision("D-01", bad, "A"),), (Choice("A", bad, (), bad),)
    )

    parsed = read_context("C.md", new_context(context, "03", "2026-06-01"))

    assert [each.id for each in parsed.decisions] == ["D-01"]


REQUIREMENTS = Requirements(
    "Thing",
    "It works",
    (
        ProductRequirement("AUTH-01", "sign up", "Auth"),
        ProductRequirement("DATA-01", "keep it", "Data"),
    ),
    (ProductRequirement("DATA-02", "share it", "Data"),),
    (("Chat", "not now"),),
)


def test_new_requirements_read_back_with_their_phases():
    text = new_requirements(REQUIREMENTS, {"AUTH-01": "1", "DATA-01": "2"}, "2026-06-01")

    parsed = read_requirements("REQUIREMENTS.md", text)

    assert [(each.id, each.text, each.category, each.phases) for each in parsed.now] == [
        ("AUTH-01", "sign up", "Auth", ("1",)),
        ("DATA-01", "keep it", "Data", ("2",)),
    ]
    require_mapped(parsed, "REQUIREMENTS.md")


def test_a_requirement_without_a_phase_is_refused():
    text = new_requirements(REQUIREMENTS, {"AUTH-01": "1"}, "2026-06-01")

    with pytest.raises(ArtefactFault, match="DATA-01"):
        require_mapped(read_requirements("REQUIREMENTS.md", text), "REQUIREMENTS.md")


@pytest.mark.parametrize("kind", ARTEFACTS)
def test_a_document_without_a_required_section_is_refused(kind: str):
    needed, _ = ARTEFACTS[kind]
    whole = "# T\n\n" + "".join(f"## {title}\n\nthree good words\n\n" for title in needed)

    read_required(kind, f"{kind}.md", whole)
    with pytest.raises(ArtefactFault, match=needed[-1]):
        read_required(kind, f"{kind}.md", whole.replace(f"## {needed[-1]}", "## Else"))
    with pytest.raises(ArtefactFault, match="says nothing"):
        read_required(kind, f"{kind}.md", whole.replace("three good words", "TBD"))


@pytest.mark.parametrize(
    ("text", "error"),
    [("", EmptyDocument), ("# T\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", ConflictMarkers)],
)
def test_an_unreadable_document_is_refused_with_its_file(text: str, error: type[DocumentError]):
    with pytest.raises(error) as caught:
        read_artefact("RESEARCH.md", text)

    assert str(caught.value).startswith("RESEARCH.md")


def test_a_rehearsed_document_is_marked():
    assert read_artefact("R.md", mark_rehearsed("# R\n\ntext\n")).is_rehearsed
    assert not read_artefact("R.md", "# R\n\ntext\n").is_rehearsed


def reader_of(name: str, folder: str) -> Callable[[str, str], object] | None:
    if name.endswith("CONTEXT.md"):
        return read_context
    if name.endswith("REQUIREMENTS.md"):
        return read_requirements
    kind = name.removesuffix(".md").rpartition("-")[2]
    is_research = folder == "research" and kind in ARTEFACTS
    if kind in ("PROJECT", "RESEARCH", "PATTERNS") or is_research:
        return lambda path, text: faults_of(kind, read_artefact(path, text))
    return None


def test_every_artefact_of_real_projects_is_read_or_refused_with_its_line():
    read = 0
    refused = []
    for path, text in corpus_documents():
        reader = reader_of(path.name, path.parent.name)
        if reader is None:
            continue
        try:
            reader(path.name, text)
            read += 1
        except DocumentError as error:
            refused.append(str(error))

    assert read > 500
    assert [each for each in refused if ".md:" not in each] == []
    assert len(refused) <= 5


def test_every_configuration_of_real_projects_is_read():
    for project in corpus_projects():
        for path in project.rglob("config.json"):
            assert isinstance(read_settings(path.read_text("utf-8")), dict)
