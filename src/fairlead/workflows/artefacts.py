"""Reads what roles produce: JSON answers by a declared shape, Markdown documents by their sections.

Each artefact has one row that names its sections, each JSON answer one dataclass. The readers
check that the parts are present; what they mean is checked by the workflow that asked. A document
that cannot be read at all is refused with its line, whatever its kind.
"""

import re
import typing
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from fairlead.core.errors import Located
from fairlead.core.patterns import lazy_pattern
from fairlead.core.serialization import convert
from fairlead.core.values import dataclass, names_of
from fairlead.plans.model import PlanFinding, Severity
from fairlead.text.document import Document, conflict_line
from fairlead.text.errors import ConflictMarkers
from fairlead.text.lists import items_of
from fairlead.text.outline import Line, Section, lines_of, sections_of
from fairlead.workflows.errors import ArtefactFault

Value = TypeVar("Value")


# -- documents -----------------------------------------------------------------------------------


class ArtefactKind(NamedTuple):
    """The sections of a document. A title may be longer: "Summary (short)" is a "Summary"."""

    required: tuple[str, ...]
    expected: tuple[str, ...]  # a good document has them; without them it is still accepted


ARTEFACTS = {
    "PROJECT": ArtefactKind(
        ("What This Is", "Core Value"), ("Requirements", "Context", "Constraints", "Key Decisions")
    ),
    "RESEARCH": ArtefactKind(
        ("Summary", "Common Pitfalls"),
        ("Standard Stack", "Architecture Patterns", "Don't Hand-Roll", "Sources"),
    ),
    "PATTERNS": ArtefactKind(("File Classification",), ("Pattern Assignments", "Shared Patterns")),
    "STACK": ArtefactKind(("Recommended Stack",), ("Alternatives Considered", "Sources")),
    "FEATURES": ArtefactKind(("Table Stakes",), ("Differentiators", "Anti-Features", "Sources")),
    "ARCHITECTURE": ArtefactKind(("Recommended Architecture",), ("Patterns to Follow", "Sources")),
    "PITFALLS": ArtefactKind(("Critical Pitfalls",), ("Moderate Pitfalls", "Sources")),
    "SUMMARY": ArtefactKind(
        ("Executive Summary", "Key Findings", "Implications for Roadmap"),
        ("Confidence Assessment", "Sources"),
    ),
}
_MIN_WORDS = 3  # of a section: a placeholder such as "TBD" is no content
_REHEARSED = "<!-- rehearsed: true -->"


@dataclass(frozen=True, slots=True)
class Artefact:
    """A document: its title, and its sections with their texts."""

    path: str
    title: str
    sections: tuple[tuple[str, int, str], ...]  # title, line, text
    is_rehearsed: bool = False

    def part(self, title: str) -> str:
        """The text of the first section whose title begins like this; empty if there is none."""
        return next((text for name, _, text in self.sections if _is_titled(name, title)), "")


def read_artefact(path: str, text: str) -> Artefact:
    """Read a document; refuse one that is empty or has conflict markers."""
    with Located(path):
        line = conflict_line(text)
        if line:
            raise ConflictMarkers(line=line)
        document = Document(text).require_text()
        # Reading the body raises if the frontmatter is never closed.
        assert document.block is None or document.block.body
        sections = tuple(
            (section.title, section.heading + 1, _section_text(document, section))
            for section in document.sections
            if section.level in (2, 3)
        )
        return Artefact(path, document.title, sections, text.rstrip().endswith(_REHEARSED))


def faults_of(kind: str, artefact: Artefact) -> tuple[PlanFinding, ...]:
    """The sections that a document of this kind lacks or leaves empty."""
    faults = []
    for titles, severity in zip(ARTEFACTS[kind], (Severity.ERROR, Severity.WARNING), strict=True):
        for title in titles:
            matching = [entry for entry in artefact.sections if _is_titled(entry[0], title)]
            if not matching:
                faults.append(PlanFinding(severity, f"there is no section {title!r}", 1))
            elif all(len(text.split()) < _MIN_WORDS for _, _, text in matching):
                what = f"the section {title!r} says nothing"
                faults.append(PlanFinding(severity, what, matching[0][1]))
    return tuple(faults)


def read_required(kind: str, path: str, text: str) -> Artefact:
    """Read a document of this kind; refuse it without its required sections."""
    artefact = read_artefact(path, text)
    for fault in faults_of(kind, artefact):
        if fault.severity is Severity.ERROR:
            raise ArtefactFault(fault.what, line=fault.line).located(path)
    return artefact


def mark_rehearsed(text: str) -> str:
    """Add the mark of a rehearsal, which gates of real work refuse."""
    return f"{text.rstrip()}\n\n{_REHEARSED}\n"


def _section_text(document: Document, section: Section) -> str:
    return "\n".join(line.text for line in document.section_lines(section)).strip()


def _is_titled(name: str, title: str) -> bool:
    return name.casefold().replace("’", "'").startswith(title.casefold())


# -- JSON answers --------------------------------------------------------------------------------


def scalar_line(value: object) -> str:
    """A text or a number in one line; empty for anything else."""
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def any_line(value: object) -> str:
    """Any value in one line; empty for null and other empty values."""
    return " ".join(str(value or "").split())


def read_answer(
    kind: type[Value], answer: object, line: Callable[[object], str] = scalar_line
) -> Value:
    """Convert an answer to its declared shape, or raise `ArtefactFault`.

    Models write a number or null where a text belongs, and leave lists out. That is accepted:
    `line` makes the value of every text field, an absent list is empty, and blank items of a list
    of texts are skipped. An entry of another shape is refused, so that the role is asked again.
    """
    value, mismatches = convert(kind, _with_defaults(kind, answer, line))
    if value is None:
        raise ArtefactFault("; ".join(map(str, mismatches)))
    return value


def require_fields(what: str, entry: object, *names: str) -> None:
    """Refuse an entry in which one of these text fields is empty."""
    for name in names:
        if not getattr(entry, name):
            raise ArtefactFault(f"{what} has no {name}")


def _with_defaults(kind: Any, value: object, line: Callable[[object], str]) -> object:
    if kind is str:
        return line(value)
    if typing.get_origin(kind) is tuple:
        item_kind = typing.get_args(kind)[0]
        items = value if isinstance(value, list) else []
        if item_kind is str:
            return [line(item) for item in items if isinstance(item, str) and item.strip()]
        return [_with_defaults(item_kind, item, line) for item in items]
    if names_of(kind) and isinstance(value, dict):
        kinds = typing.get_type_hints(kind)
        return {name: _with_defaults(kinds[name], value.get(name), line) for name in names_of(kind)}
    return value


# -- Markdown answers ----------------------------------------------------------------------------

# An entry of a list is `- R1 [mark]: text | key: value | key: value`; only the text is required.
# Fences and comments hold examples and are skipped, unless one fence contains the whole answer,
# which models often do.
_WRAPPED = lazy_pattern(r"\A\s*(`{3,}|~{3,})(?:markdown|md)?[ \t]*\r?\n(.*)\r?\n\1\s*\Z", re.DOTALL)
ID = r"[A-Za-z][A-Za-z_]{0,14}-?[0-9]{1,3}(?:\.[0-9]{1,3})?"
_ENTRY = lazy_pattern(
    rf"(?:[*_`]{{0,3}}(?P<id>{ID})[*_`]{{0,3}})?"
    r"\s*(?:\[(?P<mark>[\w ,-]{1,40})\])?\s*[*_`]{0,3}:\s*[*_`]{0,3}\s*"
)
_FIELD = lazy_pattern(r"\s*([a-z][a-z ]{1,20}):\s*(.*)\Z", re.DOTALL)
_NONE = lazy_pattern(  # but "None of the routes is checked" is an entry
    r"\W*(?:(?:none|nothing|n/a)(?:\W*|\s*[.,:;(–—-].{0,80}|\s+(?:found|identified|known|open)\b.{0,40})"
    r"|no (?:\w+ )?(?:conflict|gap|risk|question|finding)s?\b.{0,40}|)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list."""

    text: str
    id: str = ""
    mark: str = ""
    more: tuple[str, ...] = ()  # the pieces behind each further bar
    indent: int = 0
    source: str = ""  # the entry as written

    def field(self, name: str) -> str:
        """The value of `| name: value`; empty if there is none."""
        for piece in self.more:
            match = _FIELD.match(piece)
            if match and match[1] == name:
                return match[2].strip()
        return ""


class Parts:
    """An answer by its headings."""

    def __init__(self, text: str) -> None:
        self.text = unwrapped(text)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Every line of the answer."""
        return lines_of(self.text, is_answer=True)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Every section of the answer."""
        return sections_of(self.lines)

    def section(self, title: str) -> Section | None:
        """A section by its title, of level 3 at most; the case does not matter."""
        for section in self.sections:
            name = section.title.strip("*_ :").casefold()
            if section.level <= 3 and name == title.casefold():
                return section
        return None

    def under(self, title: str) -> tuple[Line, ...]:
        """The lines of a section."""
        section = self.section(title)
        return self.lines[section.first : section.last] if section else ()

    def prose(self, title: str) -> str:
        """The text of a section."""
        return "\n".join(line.text for line in self.under(title)).strip()

    def entries(self, title: str) -> tuple[Entry, ...]:
        """The entries of a section, without those that say "none"."""
        return entries_of(self.under(title))


def unwrapped(text: str) -> str:
    """An answer without the fence around all of it."""
    match = _WRAPPED.match(text)
    is_single = match is not None and not re.search(rf"^{match[1]}", match[2], re.MULTILINE)
    return match[2] if match and is_single else text


def entries_of(lines: tuple[Line, ...]) -> tuple[Entry, ...]:
    """The bullets among these lines as entries, each with its continuation lines."""
    items = items_of(lines)
    starts = {item.start for item in items}
    entries = []
    for item in items:
        pieces = [item.text]
        for line in lines:
            if line.start <= item.start or line.start > item.last.start or not line.is_prose:
                continue
            if any(line.start <= start <= line.end for start in starts):
                break  # a nested bullet begins
            pieces.append(line.text.strip())
        text = " ".join(pieces).strip()
        if not _NONE.fullmatch(text):
            entries.append(_entry(text, item.indent))
    return tuple(entries)


def _entry(text: str, indent: int) -> Entry:
    head, *more = (piece.strip() for piece in re.split(r"(?<!\\)\s\|\s", text))
    match = _ENTRY.match(head)
    if match is None or not (match["id"] or match["mark"]):
        return Entry(head, more=tuple(more), indent=indent, source=text)
    rest = head[match.end() :]
    return Entry(rest, match["id"] or "", match["mark"] or "", tuple(more), indent, text)
