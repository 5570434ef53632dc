"""Comparing the planning documents of a project with its files.

This is what `check` shows and `doctor` repairs. Every call scans the disk again; nothing is written.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.inventory import Inventory
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.scan import scan
from fairlead.project.derive.scope import Certainty
from fairlead.project.health.compare_roadmap import roadmap_findings, roadmap_notes
from fairlead.project.health.compare_state import (
    disk_findings,
    reference_notes,
    state_findings,
    unread_findings,
)
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.health.frontmatter_repair import second_block
from fairlead.project.health.state_statements import statement_findings
from fairlead.project.paths import is_handover_name
from fairlead.project.state.header import require_front_in_place
from fairlead.project.state.session import resume_file
from fairlead.store import layout
from fairlead.store.errors import NotAFile
from fairlead.store.reader import Reader
from fairlead.text.document import Document
from fairlead.text.lines import place_of

SECOND_FRONTMATTER = "second-frontmatter"


InventoryView = Callable[[Inventory], Inventory]


@dataclass(frozen=True, slots=True)
class DocumentComparison:
    """The derived position of a project, and the findings in its documents."""

    inventory: Inventory
    position: Position
    findings: tuple[Finding, ...]

    @property
    def drift(self) -> tuple[Finding, ...]:
        """The findings in which a document is wrong; notes are left out."""
        return tuple(finding for finding in self.findings if finding.is_drift)


def memories_of(reader: Reader, named: str = "") -> tuple[str, ...]:
    """The workstreams that `check` compares, first the one that a command works on.

    Where the project's own memory is meant (""), those of its workstreams are compared as well.
    """
    chosen = reader.workstream(named)
    if chosen:
        return (chosen,)
    streams = reader.streams()
    has_own = any(reader.peek(path) for path in (layout.STATE, layout.ROADMAP))
    return ("", *streams) if has_own or not streams else streams


def compare_project(
    reader: Reader, workstream: str = "", counted: InventoryView = lambda inventory: inventory
) -> DocumentComparison:
    """Derive the position and compare the documents with it; `counted` says what counts."""
    unchecked = reader.unchecked()
    inventory = counted(
        scan(reader.folder, workstream=workstream, cache=reader.cache, unchecked=unchecked)
    )
    position = position_of(inventory)
    findings = [*unread_findings(inventory)]
    documents = layout.documents_of(workstream)
    for path in documents:
        findings += malformed(reader, path, inventory)
    if inventory.fault:  # without the settings it is unknown which numbers are right
        findings.append(_malformed(inventory.fault))
    else:
        texts = {path: _text(reader, path) for path in (*documents[:2], documents[3])}
        texts[documents[2]] = _description(reader, documents[2])
        resume = resume_file(Document(texts[documents[0]] or ""))
        if _is_in_planning(resume):
            texts.setdefault(resume, "" if reader.exists(resume) else None)
        findings += differences(inventory, position, documents, texts)
    findings += _scope_note(position, documents)
    findings += disk_findings(position, inventory)
    # Two readings of the scope may hold the same line.
    return DocumentComparison(inventory, position, tuple(dict.fromkeys(findings)))


def _scope_note(position: Position, documents: tuple[str, ...]) -> Iterator[Finding]:
    """One note about a scope that is not certain; numbers that depend on it are not compared."""
    scope = position.scope
    if scope.certainty is Certainty.CERTAIN:
        return
    if scope.certainty is Certainty.UNVERIFIABLE:
        why = "the documents claim finished work that left no files; its numbers cannot be checked"
    else:
        why = "; ".join(scope.doubts) or "two milestones claim the same phase folder"
    place = documents[1], 0, f"scope ({scope.words})"
    yield Finding(FindingKind.SCOPE, *place, why, "", is_drift=False, is_repairable=False)


def _counted_by_lf(findings: Iterator[Finding], document: Document, path: str) -> Iterator[Finding]:
    """The findings with lines as git and editors count them: a lone CR ends none."""
    if document.text.count("\r") == document.text.count("\r\n"):
        yield from findings
        return
    for finding in findings:
        at = finding.line - 1
        if at < 0 or finding.path != path:  # it may be about another document
            yield finding
        else:
            number, _ = place_of(document.text, document.lines[at].start)
            yield replace(finding, line=number)


def differences(
    inventory: Inventory,
    position: Position,
    documents: tuple[str, ...],
    texts: Mapping[str, str | None],
) -> Iterator[Finding]:
    """The findings in STATE.md, ROADMAP.md and REQUIREMENTS.md."""
    state, roadmap, _, requirements = documents
    text = texts.get(state)
    if text is not None:
        yield from _state(Document(text), state, position, inventory)
        yield from reference_notes(Document(text), state, texts, position)
    text = texts.get(roadmap)
    if text is not None:
        notes = roadmap_notes(inventory.roadmap, roadmap)
        found = chain(roadmap_findings(position, roadmap), notes)
        yield from _counted_by_lf(found, Document(text), roadmap)
    text = texts.get(requirements)
    if text is not None:
        from fairlead.project.health.compare_requirements import requirement_findings

        yield from requirement_findings(Document(text), position, inventory, requirements)


def _state(
    document: Document, path: str, position: Position, inventory: Inventory
) -> Iterator[Finding]:
    """The findings in STATE.md; a line that a field accounts for is reported once."""
    found = set()
    for finding in state_findings(document, path, position, inventory):
        found.add(finding.line)
        yield finding
    for finding in _counted_by_lf(statement_findings(document, path, position), document, path):
        if finding.line not in found:
            yield finding


def _is_in_planning(path: str) -> bool:
    """Whether a text is a handover or the path of a file of the project's memory.

    Any other text may be a person's words, or a place that is not in this repository.
    """
    is_below = path.startswith(f"{layout.PLANNING}/") and ".." not in path.split("/")
    return is_handover_name(path) or (is_below and not any(map(str.isspace, path)))


def _text(reader: Reader, path: str) -> str | None:
    loaded = reader.load_for_display(path)
    return loaded.text if loaded else None


def _description(reader: Reader, path: str) -> str | None:
    """The text of PROJECT.md. A link in its place is reported as malformed and is not read."""
    try:
        return _text(reader, path)
    except NotAFile:
        return None


def _malformed(problem: DocumentError) -> Finding:
    return Finding(
        FindingKind.DOCUMENT, problem.path, problem.line, problem.code, problem.message, ""
    )


def malformed(reader: Reader, path: str, inventory: Inventory) -> list[Finding]:
    """The finding about a document that is missing or cannot be edited safely."""
    try:
        loaded = reader.load_if_present(path)
        if loaded is None:
            is_required = path.endswith((layout.STATE_NAME, layout.ROADMAP_NAME))
            # A project that consists of workstreams has its documents in each of them.
            is_elsewhere = inventory.workstreams and not inventory.folders
            if not is_required or is_elsewhere:
                return []
            return [Finding(FindingKind.MISSING, path, 0, "document", "it does not exist", "")]
        document = Document(loaded.text)
        document.require_writable()
        if path.endswith(layout.STATE_NAME):
            require_front_in_place(document.require_text())
    except DocumentError as problem:
        return [_malformed(problem.located(path))]
    line = second_block(loaded.text)
    if line:
        message = "there is a second frontmatter below the first"
        return [Finding(FindingKind.DOCUMENT, path, line, SECOND_FRONTMATTER, message, "")]
    return []
