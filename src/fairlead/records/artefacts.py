"""Artefacts of prose: PROJECT, RESEARCH, PATTERNS and the project's research, by their sections.

Nobody derives a number from these; a reader needs to know that the parts are there which its
next reader looks for. What cannot be read at all is refused with its line, whatever the kind.
"""

from fairlead.errors import ArtefactFault, ConflictMarkers, Located
from fairlead.model.plan import Finding, Severity
from fairlead.text.conflicts import conflict_line
from fairlead.text.document import Document
from fairlead.values import dataclass

# What must be there, and what a good one has besides. A title may go on: "Summary (short)".
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "PROJECT": (
        ("What This Is", "Core Value"),
        ("Requirements", "Context", "Constraints", "Key Decisions"),
    ),
    "RESEARCH": (
        ("Summary", "Common Pitfalls"),
        ("Standard Stack", "Architecture Patterns", "Don't Hand-Roll", "Sources"),
    ),
    "PATTERNS": (("File Classification",), ("Pattern Assignments", "Shared Patterns")),
    "STACK": (("Recommended Stack",), ("Alternatives Considered", "Sources")),
    "FEATURES": (("Table Stakes",), ("Differentiators", "Anti-Features", "Sources")),
    "ARCHITECTURE": (("Recommended Architecture",), ("Patterns to Follow", "Sources")),
    "PITFALLS": (("Critical Pitfalls",), ("Moderate Pitfalls", "Sources")),
    "SUMMARY": (
        ("Executive Summary", "Key Findings", "Implications for Roadmap"),
        ("Confidence Assessment", "Sources"),
    ),
}
_LEAST_WORDS = 3  # in a section: a heading alone is no finding
_REHEARSED = "<!-- rehearsed: true -->"


@dataclass(frozen=True, slots=True)
class Artefact:
    """A document of prose: its title, and its sections with what stands in them."""

    path: str
    title: str
    sections: tuple[tuple[str, int, str], ...]  # title, line, text
    is_rehearsed: bool = False

    def part(self, title: str) -> str:
        """The text of the first section whose title begins like this; empty without one."""
        return next((text for name, _, text in self.sections if _is_called(name, title)), "")


def read_artefact(path: str, text: str) -> Artefact:
    """Read a document; one that is empty, or was merged halfway, is refused with its line."""
    with Located(path):
        line = conflict_line(text)
        if line:
            raise ConflictMarkers(line=line)
        document = Document(text).require_text()
        assert document.block is None or document.block.body  # raises where it is never closed
        sections = tuple(
            (
                section.title,
                section.heading + 1,
                "\n".join(line.text for line in document.section_lines(section)).strip(),
            )
            for section in document.sections
            if section.level in (2, 3)
        )
        rehearsed = text.rstrip().endswith(_REHEARSED)
        return Artefact(path, document.title, sections, rehearsed)


def faults_of(kind: str, artefact: Artefact) -> tuple[Finding, ...]:
    """What a document of this kind lacks."""
    needed, wished = PARTS[kind]
    found = []
    for titles, severity in ((needed, Severity.ERROR), (wished, Severity.WARNING)):
        for title in titles:
            there = [each for each in artefact.sections if _is_called(each[0], title)]
            if not there:
                found.append(Finding(severity, f"there is no section {title!r}", 1))
            elif all(len(text.split()) < _LEAST_WORDS for _, _, text in there):
                found.append(Finding(severity, f"the section {title!r} says nothing", there[0][1]))
    return tuple(found)


def required(kind: str, path: str, text: str) -> Artefact:
    """The document, if it has everything that one of its kind must have."""
    artefact = read_artefact(path, text)
    for fault in faults_of(kind, artefact):
        if fault.severity is Severity.ERROR:
            raise ArtefactFault(fault.what, line=fault.line).located(path)
    return artefact


def rehearsed(text: str) -> str:
    """The document with the mark of a rehearsal, which no real gate takes for its own."""
    return f"{text.rstrip()}\n\n{_REHEARSED}\n"


def _is_called(name: str, wanted: str) -> bool:
    plain = name.casefold().replace("’", "'")
    return plain.startswith(wanted.casefold())
